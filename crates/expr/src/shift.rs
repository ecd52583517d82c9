//! The same expression over a larger list of relations: every relation and every enumeration moved on by a number.

use crate::tree::{Expr, Path, Source, Type};
use benchwright_base::{EnumId, RelationId};

/// By how much the places of relations and enumerations move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shift {
    /// Added to every relation.
    pub relations: u16,
    /// Added to every enumeration.
    pub enums: u16,
}

impl Shift {
    /// A relation moved.
    pub fn relation(self, id: RelationId) -> RelationId {
        RelationId(id.0 + self.relations)
    }

    /// A type moved.
    pub fn ty(self, ty: Type) -> Type {
        match ty {
            Type::Enum(id) => Type::Enum(EnumId(id.0 + self.enums)),
            Type::Ref(id) => Type::Ref(self.relation(id)),
            other => other,
        }
    }

    /// A path moved.
    pub fn path(self, path: &mut Path) {
        path.iter_mut().for_each(|(relation, _)| *relation = self.relation(*relation));
    }

    /// What a binder ranges over, moved.
    pub fn source(self, source: &mut Source) {
        self.rows(source);
        if let Source::Rows { tests, .. } = source {
            tests.iter_mut().flat_map(|(_, _, values)| values).for_each(|value| self.expr(value));
        }
    }

    /// The relation of a source and the paths of its tests.
    fn rows(self, source: &mut Source) {
        if let Source::Rows { relation, tests } = source {
            *relation = self.relation(*relation);
            tests.iter_mut().for_each(|(path, _, _)| self.path(path));
        }
    }

    /// An expression moved.
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
