//! What the checker must be told of the world that an expression speaks of: which relations, fields, enumerations, facts and
//! sets there are, and of which types. A domain implements it for its tables, the rules of a workflow for their views.

use crate::Type;
use benchwright_base::{EnumId, FactId, FieldId, RelationId, SetId};

/// A field as the checker sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldInfo {
    /// The number that the checked tree will carry in place of the name.
    pub id: FieldId,
    /// The type that the field is compared and computed with.
    pub ty: Type,
    /// Whether a row may lack a value. The checker does not ask; tools and generators do.
    pub nullable: bool,
}

/// A fact as the checker sees it: the signature of a function such as `moq(vendor, product)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactSignature {
    /// The number that the checked tree will carry in place of the name.
    pub id: FactId,
    /// The types of its arguments, in order; a call must have as many.
    pub arguments: Vec<Type>,
    /// The type of what it gives. A fact is total: it has a value for all arguments of these types.
    pub value: Type,
}

/// Names and their meaning. The methods that list names are only for "did you mean".
pub trait Names {
    /// A table or view by name.
    fn relation(&self, name: &str) -> Option<RelationId>;
    /// The name of a relation that [`Names::relation`] gave, for messages.
    fn relation_name(&self, relation: RelationId) -> &str;
    /// The names of all relations.
    fn relation_names(&self) -> Vec<&str>;
    /// A field by name; `id` is one, of type `Ref(relation)`.
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo>;
    /// The name of a field that [`Names::field`] gave, for messages.
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str;
    /// The names of all fields of a relation, `id` included.
    fn field_names(&self, relation: RelationId) -> Vec<&str>;
    /// The name of an enumeration, for messages.
    fn enum_name(&self, id: EnumId) -> &str;
    /// The words of an enumeration; a word's place in this list is its [`benchwright_base::Value::Enum`].
    fn enum_words(&self, id: EnumId) -> Vec<&str>;
    /// The relation of the person who acts, for `actor`; `None` makes every use of that word a fault.
    fn actor(&self) -> Option<RelationId>;
    /// A fact by name. Domains have none, so there is an answer for them.
    fn fact(&self, _name: &str) -> Option<FactSignature> {
        None
    }
    /// The names of all facts.
    fn fact_names(&self) -> Vec<&str> {
        Vec::new()
    }
    /// A finite set by name, with the type of its members. Domains have none.
    fn set(&self, _name: &str) -> Option<(SetId, Type)> {
        None
    }
    /// The names of all sets.
    fn set_names(&self) -> Vec<&str> {
        Vec::new()
    }
}
