//! The rules of a workflow: what a solution must keep and what it should make small, declared in a family's `plan.toml`. A
//! rule speaks of *views* (records under names of the workflow, such as `buy`, whatever the system of record calls them),
//! of *facts* (numbers that each task gives, such as `moq(vendor, product)`) and of *sets*; objectives are expressions over
//! the same.
//!
//! ```toml
//! [rules."erp/min-order-quantity"]
//! code    = "SUP.MOQ"
//! applies = "exists buy()"
//! require = "for b in buy: b.qty >= moq(b.vendor, b.product)"
//! says    = ["Respect each supplier's smallest order."]
//! ```
//!
//! The same rules are read twice: by a solver over rows that could be bought, and by a judge over the records that an agent
//! left. On disk they have one form, the text ([`PlanText`]), so that a sealed verifier carries its rules in the words they
//! were written in; [`Plan::compile`] resolves it against a domain.

mod bound;
mod check;
mod compile;
mod frame;
mod job;
mod lets;
mod parts;
mod rows;
mod slack;
mod text;
mod words;

pub use bound::{Binding, Bindings, Bound, FactTable};
pub use frame::{Held, TableFrame};
pub use job::JobWord;
pub use rows::ViewRows;
pub use text::{
    FrameText, FreeText, ObjectiveText, PartText, PhaseText, PlanText, RuleText, Sense, SlackText, ViewText, VoidText,
};
pub use words::{contradiction, side};

use crate::KeyFault;
use benchwright_base::{EnumId, FactId, FieldId, RelationId, SetId, TableId};
use benchwright_expr::{Binder, Expr, FactSignature, FieldInfo, Names, Type};
use std::{collections::BTreeMap, fmt};

/// How a value of the system of record is read into a field of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// The value itself.
    Plain,
    /// A date or an instant as days from the anchor.
    Day,
    /// A quantity as whole units; a broken one is null.
    Units,
    /// An enum word or a text as text.
    Word,
    /// A row or a text as a member of a sort.
    Member,
}

/// A field of a view.
#[derive(Clone, Debug)]
pub struct ViewField {
    /// The name that rules know it by.
    pub name: String,
    /// Its type in rules.
    pub ty: Type,
    /// How it is read from the system of record.
    pub cast: Cast,
    /// What is read: an expression over a row of the view's table.
    pub reads: Expr,
}

/// A view: records that rules speak of.
#[derive(Clone, Debug)]
pub struct View {
    /// The name that rules know its rows by, such as `buy`.
    pub name: String,
    /// The table its rows come from.
    pub from: TableId,
    /// Which rows of the table belong to it; all of them if nothing is said.
    pub only: Option<Expr>,
    /// The fields that must be members of their sort, or the row is none of ours.
    pub within: Vec<usize>,
    /// The fields in which no two rows can be alike, whatever anybody writes.
    pub key: Vec<usize>,
    /// Its fields, by name.
    pub fields: Vec<ViewField>,
}

impl View {
    /// The place of a field.
    pub fn field_named(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// A fact as declared.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The name that expressions call it by, such as `moq` in `moq(vendor, product)`.
    pub name: String,
    /// The types of its arguments.
    pub arguments: Vec<Type>,
    /// The type of its value.
    pub value: Type,
    /// Its value where none is stated.
    pub otherwise: Option<i64>,
    /// Whether it is a step function of its last argument: the value stated at the greatest step not above it.
    pub steps: bool,
}

/// What judges a rule.
#[derive(Clone, Debug)]
pub enum Body {
    /// An expression over views, facts and sets.
    Expr(Expr),
    /// A function of the judge, by name.
    Native(String),
    /// The frame: what nobody was asked to change.
    Frame,
}

/// A rule of a plan.
#[derive(Clone, Debug)]
pub struct PlanRule {
    /// The key of the rule in `plan.toml`, by which verdicts name it.
    pub id: String,
    /// What it was written as.
    pub text: RuleText,
    /// The variables that split it into instances.
    pub per: Vec<Binder>,
    /// What must hold of each instance.
    pub body: Body,
    /// When an instance counts at all.
    pub applies: Option<Expr>,
    /// Whether a solver reads it too.
    pub lowered: bool,
}

/// One thing to make small.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What it was written as.
    pub text: PhaseText,
    /// The quantity that is to be small.
    pub of: Expr,
}

/// A dominant field: one that has one best value whatever else is decided (`settled` in `plan.toml`).
#[derive(Clone, Debug)]
pub struct Dominant {
    /// The view, by its place in [`Plan::views`].
    pub view: usize,
    /// The field, by its place in [`View::fields`].
    pub field: usize,
    /// The value, in terms of the row.
    pub at: Expr,
}

/// The parts of a job that have one name.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name.
    pub name: String,
    /// What they weigh together, in percent.
    pub share: i64,
    /// What is counted.
    pub counts: PartCounts,
}

/// What is counted of a part.
#[derive(Clone, Debug)]
pub enum PartCounts {
    /// Checks, which count only together.
    Checks {
        /// The sort for each of whose members there is a part; without one there is a single part.
        per: Option<usize>,
        /// The rules, by their place in [`Plan::rules`], with the place of the variable that names the member. A rule without one
        /// belongs to every part.
        rules: Vec<(usize, Option<usize>)>,
    },
    /// Rows of a view, by its place in [`Plan::views`].
    Rows(usize),
}

/// The rules of a family with every name resolved: what [`PlanText`] is compiled to.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The sorts, by name, with the table of their rows; one without a table has members that are known by a text.
    pub sorts: Vec<(String, Option<TableId>)>,
    /// The sets, by name, with the type of their members.
    pub sets: Vec<(String, Type)>,
    /// The facts, by name.
    pub facts: Vec<Fact>,
    /// The views, by name.
    pub views: Vec<View>,
    /// The rules, by id.
    pub rules: Vec<PlanRule>,
    /// The objectives: ordered phases, by name.
    pub objectives: BTreeMap<String, Vec<Phase>>,
    /// Unscored phases that choose one plan among equals.
    pub ties: Vec<Expr>,
    /// Dominant fields, each given those before it.
    pub dominant: Vec<Dominant>,
    /// The parts of the job.
    pub parts: Vec<Part>,
    /// What may change, and who answers for the rest.
    pub frame: FrameText,
    /// The frame's conditions, and what is held, free and stamped, for each table of the domain in its order.
    pub tables: Vec<TableFrame>,
}

/// Everything that is wrong with a plan, by key: a plan inside a verifier stands in no file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct PlanFaults(pub Vec<KeyFault>);

impl fmt::Display for PlanFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.0.iter().enumerate() {
            write!(f, "{}{fault}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Plan {
    /// The relation of a view.
    pub fn relation_of(&self, view: usize) -> RelationId {
        RelationId((self.sorts.len() + view) as u16)
    }

    /// The view of a relation.
    pub fn view_of(&self, relation: RelationId) -> Option<usize> {
        relation.index().checked_sub(self.sorts.len()).filter(|view| *view < self.views.len())
    }

    /// A view by its name.
    pub fn view_named(&self, name: &str) -> Option<usize> {
        self.views.iter().position(|view| view.name == name)
    }

    /// A sort by its name.
    pub fn sort_named(&self, name: &str) -> Option<usize> {
        self.sorts.iter().position(|(known, _)| known == name)
    }

    fn type_named(&self, name: &str) -> Option<(Type, Cast)> {
        Some(match name {
            "int" => (Type::Int, Cast::Plain),
            "day" => (Type::Int, Cast::Day),
            "units" => (Type::Int, Cast::Units),
            "money" => (Type::Money, Cast::Plain),
            "text" => (Type::Text, Cast::Word),
            "bool" => (Type::Bool, Cast::Plain),
            sort => (Type::Ref(RelationId(self.sort_named(sort)? as u16)), Cast::Member),
        })
    }
}

impl Names for Plan {
    fn relation(&self, name: &str) -> Option<RelationId> {
        self.view_named(name).map(|view| self.relation_of(view))
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        match self.view_of(relation) {
            Some(view) => &self.views[view].name,
            None => &self.sorts[relation.index()].0,
        }
    }
    fn relation_names(&self) -> Vec<&str> {
        self.views.iter().map(|view| &*view.name).collect()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        if name == "id" {
            return Some(FieldInfo { id: FieldId::ID, ty: Type::Ref(relation), nullable: false });
        }
        let view = &self.views[self.view_of(relation)?];
        let at = view.field_named(name)?;
        Some(FieldInfo { id: FieldId(at as u16 + 1), ty: view.fields[at].ty, nullable: false })
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        match (self.view_of(relation), field.index().checked_sub(1)) {
            (Some(view), Some(at)) => &self.views[view].fields[at].name,
            _ => "id",
        }
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        let fields = self.view_of(relation).map_or(&[][..], |view| &self.views[view].fields);
        fields.iter().map(|field| &*field.name).collect()
    }
    fn enum_name(&self, _: EnumId) -> &str {
        ""
    }
    fn enum_words(&self, _: EnumId) -> Vec<&str> {
        Vec::new()
    }
    fn actor(&self) -> Option<RelationId> {
        None
    }
    fn fact(&self, name: &str) -> Option<FactSignature> {
        let at = self.facts.iter().position(|fact| fact.name == name)?;
        let fact = &self.facts[at];
        Some(FactSignature { id: FactId(at as u16), arguments: fact.arguments.clone(), value: fact.value })
    }
    fn fact_names(&self) -> Vec<&str> {
        self.facts.iter().map(|fact| &*fact.name).collect()
    }
    fn set(&self, name: &str) -> Option<(SetId, Type)> {
        let at = self.sets.iter().position(|(known, _)| known == name)?;
        Some((SetId(at as u16), self.sets[at].1))
    }
    fn set_names(&self) -> Vec<&str> {
        self.sets.iter().map(|(name, _)| &**name).collect()
    }
}
