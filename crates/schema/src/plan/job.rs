//! The words of a frame's conditions: the tables of the domain, and beside them the facts and sets of the plan, so that a condition
//! can say that a row belongs to the job. A row or a text becomes a member by the name of its sort, as `order(client_order_ref)`; a
//! date becomes a day by `day(…)`, a quantity whole units by `units(…)`.

use super::{Plan, compile::Broken};
use crate::Domain;
use benchwright_base::{EnumId, FactId, FieldId, RelationId, SetId};
use benchwright_expr::{FactSignature, FieldInfo, Names, Type};

/// What a word with arguments stands for in a condition of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobWord {
    /// A fact of the plan.
    Fact(FactId),
    /// The member of a sort that a row or a text is.
    Member(usize),
    /// The day of a date, counted from the anchor.
    Day,
    /// A quantity as whole units; a broken one is null.
    Units,
}

impl Plan {
    /// What the number of a fact stands for in a condition of the frame: after the facts come the sorts, then days and units.
    pub fn job_word(&self, id: FactId) -> Option<JobWord> {
        let sorts = self.facts.len();
        Some(match id.index() {
            fact if fact < sorts => JobWord::Fact(id),
            sort if sort < sorts + self.sorts.len() => JobWord::Member(sort - sorts),
            word if word == sorts + self.sorts.len() => JobWord::Day,
            word if word == sorts + self.sorts.len() + 1 => JobWord::Units,
            _ => return None,
        })
    }
}

/// The names that a condition of the frame may use.
pub(super) struct JobNames<'c> {
    domain: &'c Domain,
    plan: &'c Plan,
    broken: &'c Broken,
    /// The sorts whose members views know by a text.
    by_text: &'c [usize],
    /// What members of the sorts are called in messages, where rows of a table may have the same name.
    members: Vec<String>,
}

impl<'c> JobNames<'c> {
    pub(super) fn new(domain: &'c Domain, plan: &'c Plan, broken: &'c Broken, by_text: &'c [usize]) -> JobNames<'c> {
        let members = plan.sorts.iter().map(|(name, _)| format!("{name} of the job")).collect();
        JobNames { domain, plan, broken, by_text, members }
    }
}

impl JobNames<'_> {
    /// Members of sorts are rows of no table: their types are numbered after the tables.
    fn ty(&self, ty: Type) -> Type {
        match ty {
            Type::Ref(sort) => self.member(sort.index()),
            other => other,
        }
    }

    fn member(&self, sort: usize) -> Type {
        Type::Ref(RelationId((self.domain.tables.len() + sort) as u16))
    }

    fn sort(&self, relation: RelationId) -> Option<usize> {
        relation.index().checked_sub(self.domain.tables.len())
    }

    fn signature(&self, at: usize, argument: Type, value: Type) -> FactSignature {
        FactSignature { id: FactId(at as u16), arguments: vec![argument], value }
    }
}

impl Names for JobNames<'_> {
    fn relation(&self, name: &str) -> Option<RelationId> {
        self.domain.relation(name)
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        match self.sort(relation) {
            Some(sort) => &self.members[sort],
            None => self.domain.relation_name(relation),
        }
    }
    fn relation_names(&self) -> Vec<&str> {
        self.domain.relation_names()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        if self.sort(relation).is_some() { None } else { Names::field(self.domain, relation, name) }
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        if self.sort(relation).is_some() { "id" } else { self.domain.field_name(relation, field) }
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        if self.sort(relation).is_some() { Vec::new() } else { self.domain.field_names(relation) }
    }
    fn enum_name(&self, id: EnumId) -> &str {
        self.domain.enum_name(id)
    }
    fn enum_words(&self, id: EnumId) -> Vec<&str> {
        self.domain.enum_words(id)
    }
    fn actor(&self) -> Option<RelationId> {
        None
    }
    fn fact(&self, name: &str) -> Option<FactSignature> {
        if self.broken.facts.contains(name) {
            self.broken.touched.set(true);
        }
        if let Some(fact) = self.plan.fact(name) {
            let arguments = fact.arguments.iter().map(|ty| self.ty(*ty)).collect();
            return Some(FactSignature { id: fact.id, arguments, value: self.ty(fact.value) });
        }
        let sorts = self.plan.facts.len();
        if let Some(sort) = self.plan.sort_named(name) {
            let of = match self.plan.sorts[sort].1 {
                Some(table) if !self.by_text.contains(&sort) => Type::Ref(table),
                _ => Type::Text,
            };
            return Some(self.signature(sorts + sort, of, self.member(sort)));
        }
        let words = sorts + self.plan.sorts.len();
        match name {
            "day" => Some(self.signature(words, Type::Date, Type::Int)),
            "units" => Some(self.signature(words + 1, Type::Quantity, Type::Int)),
            _ => None,
        }
    }
    fn fact_names(&self) -> Vec<&str> {
        let sorts = self.plan.sorts.iter().map(|(name, _)| &**name);
        self.plan.fact_names().into_iter().chain(sorts).chain(["day", "units"]).collect()
    }
    fn set(&self, name: &str) -> Option<(SetId, Type)> {
        if self.broken.sets.contains(name) {
            self.broken.touched.set(true);
        }
        self.plan.set(name).map(|(set, ty)| (set, self.ty(ty)))
    }
    fn set_names(&self) -> Vec<&str> {
        self.plan.set_names()
    }
}
