//! The same expression over a larger list of relations: every relation and every enumeration moved on by a number.

use crate::tree::{Expr, Fold, Path, Source, Type};
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
        if let Source::Rows { relation, tests } = source {
            *relation = self.relation(*relation);
            for (path, _, values) in tests {
                self.path(path);
                self.all(values);
            }
        }
    }

    fn all(self, list: &mut [Expr]) {
        list.iter_mut().for_each(|expr| self.expr(expr));
    }

    /// An expression moved.
    pub fn expr(self, expr: &mut Expr) {
        match expr {
            Expr::Literal(_, ty) => *ty = self.ty(*ty),
            Expr::Field(_, path) | Expr::Old(path) | Expr::Actor(path) => self.path(path),
            Expr::Var(_)
            | Expr::Now
            | Expr::Today
            | Expr::Truth(_)
            | Expr::Created
            | Expr::Deleted
            | Expr::Changed(_) => {}
            Expr::Add(a, b)
            | Expr::Sub(a, b)
            | Expr::Mul(a, b)
            | Expr::Compare(_, a, b)
            | Expr::Text(_, a, b)
            | Expr::InAncestors(a, b, _)
            | Expr::Implies(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Expr::Span(a, _) | Expr::Holds(a) | Expr::IsNull(a) | Expr::Not(a) => self.expr(a),
            Expr::Call(_, list) | Expr::Fact(_, list) | Expr::And(list) | Expr::Or(list) => self.all(list),
            Expr::In(a, list) => {
                self.expr(a);
                self.all(list);
            }
            Expr::Lookup { source, path } => {
                self.source(source);
                self.path(path);
            }
            Expr::Fold(fold) => self.fold(fold),
        }
    }

    fn fold(self, fold: &mut Fold) {
        for binder in &mut fold.binders {
            self.source(&mut binder.source);
            if let Some(condition) = &mut binder.condition {
                self.expr(condition);
            }
        }
        self.all(&mut fold.body);
        if let Some(outer) = &mut fold.outer {
            self.expr(outer);
        }
    }
}
