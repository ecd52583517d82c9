//! Renumbering for joined domains: when the tables of one domain are appended to those of another, every relation and every
//! enumeration that its expressions name moves on by the number of those before it.

use crate::tree::{Expr, Path, Source, Type};
use benchwright_base::{EnumId, RelationId};

/// By how much relations and enumerations are renumbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shift {
    /// Added to the number of every relation.
    pub relations: u16,
    /// Added to the number of every enumeration.
    pub enums: u16,
    /// So many relations, the first ones, are the same in all that is joined and keep their numbers.
    pub kept_relations: u16,
    /// So many enumerations likewise.
    pub kept_enums: u16,
}

impl Shift {
    /// The number of a relation in the joined list.
    pub fn relation(self, id: RelationId) -> RelationId {
        if id.0 < self.kept_relations { id } else { RelationId(id.0 + self.relations) }
    }

    /// A type with the relation or enumeration inside it renumbered.
    pub fn ty(self, ty: Type) -> Type {
        match ty {
            Type::Enum(id) if id.0 >= self.kept_enums => Type::Enum(EnumId(id.0 + self.enums)),
            Type::Ref(id) => Type::Ref(self.relation(id)),
            other => other,
        }
    }

    /// Renumbers the relations along a path; fields are counted within their relation and stay.
    pub fn path(self, path: &mut Path) {
        path.iter_mut().for_each(|(relation, _)| *relation = self.relation(*relation));
    }

    /// Renumbers what a binder ranges over, the values of its tests included.
    pub fn source(self, source: &mut Source) {
        self.rows(source);
        if let Source::Rows { tests, .. } = source {
            tests.iter_mut().flat_map(|(_, _, values)| values).for_each(|value| self.expr(value));
        }
    }

    /// The same without the values, which [`Shift::expr`] reaches by itself and must not move twice.
    fn rows(self, source: &mut Source) {
        if let Source::Rows { relation, tests } = source {
            *relation = self.relation(*relation);
            tests.iter_mut().for_each(|(path, _, _)| self.path(path));
        }
    }

    /// Renumbers a whole expression in place.
    pub fn expr(self, expr: &mut Expr) {
        expr.visit_mut(&mut |expr| match expr {
            Expr::Literal(_, ty) => *ty = self.ty(*ty),
            Expr::Field(_, path) | Expr::Old(path) | Expr::Actor(path) => self.path(path),
            Expr::Lookup { source, path } => {
                self.rows(source);
                self.path(path);
            }
            Expr::Fold(fold) => fold.binders.iter_mut().for_each(|binder| self.rows(&mut binder.source)),
            _ => {}
        });
    }
}
