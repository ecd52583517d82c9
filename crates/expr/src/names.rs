//! What the checker must know of the world that an expression speaks of. A schema implements it; so will a plan.

use crate::Type;
use benchwright_base::{EnumId, FactId, FieldId, RelationId, SetId};

/// A field as the checker sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldInfo {
    /// Its place.
    pub id: FieldId,
    /// Its type.
    pub ty: Type,
    /// Whether it can be null.
    pub nullable: bool,
}

/// A fact as the checker sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactSignature {
    /// Its place.
    pub id: FactId,
    /// The types of its arguments.
    pub arguments: Vec<Type>,
    /// The type of its value.
    pub value: Type,
}

/// Names and their meaning. The lists are for "did you mean".
pub trait Names {
    /// A table or view by name.
    fn relation(&self, name: &str) -> Option<RelationId>;
    /// Its name.
    fn relation_name(&self, relation: RelationId) -> &str;
    /// All names of relations.
    fn relation_names(&self) -> Vec<&str>;
    /// A field by name; `id` is one, of type `Ref(relation)`.
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo>;
    /// A field's name.
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str;
    /// All names of a relation's fields.
    fn field_names(&self, relation: RelationId) -> Vec<&str>;
    /// An enumeration's name.
    fn enum_name(&self, id: EnumId) -> &str;
    /// An enumeration's words, in order.
    fn enum_words(&self, id: EnumId) -> Vec<&str>;
    /// The relation of the person who acts, if the world has one.
    fn actor(&self) -> Option<RelationId>;
    /// A fact by name.
    fn fact(&self, _name: &str) -> Option<FactSignature> {
        None
    }
    /// All names of facts.
    fn fact_names(&self) -> Vec<&str> {
        Vec::new()
    }
    /// A finite set by name, with the type of its members.
    fn set(&self, _name: &str) -> Option<(SetId, Type)> {
        None
    }
    /// All names of sets.
    fn set_names(&self) -> Vec<&str> {
        Vec::new()
    }
}
