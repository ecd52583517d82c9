//! Which way a condition bounds what rows hold: `(sum run() of batches) <= limit()` bounds it from above. Whoever holds a rule against the
//! words of its sentence asks here; where it cannot be told, nothing is said.

use crate::{Compare, Expr, Fold, FoldKind, Function, Source};

/// From which side something is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bounded {
    /// It may not be more.
    Above,
    /// It may not be less.
    Below,
}

/// How rows are bounded by a condition that is one comparison, of which they are one side. Conditions of when it applies are left out.
pub fn bounded(expr: &Expr) -> Option<Bounded> {
    match expr {
        Expr::Implies(_, then) => bounded(then),
        Expr::Fold(Fold { kind: FoldKind::All, body, .. }) => match &body[..] {
            [body] => bounded(body),
            _ => None,
        },
        Expr::Compare(compare, left, right) => {
            let is_above = match compare {
                Compare::Le | Compare::Lt => true,
                Compare::Ge | Compare::Gt => false,
                Compare::Eq | Compare::Ne => return None,
            };
            let (left, right) = (Signs::of(left), Signs::of(right));
            match ((left.plus, right.plus), left.minus || right.minus) {
                ((true, false), false) => Some(if is_above { Bounded::Above } else { Bounded::Below }),
                ((false, true), false) => Some(if is_above { Bounded::Below } else { Bounded::Above }),
                // Of a difference it may be said what is taken or what is left.
                _ => None,
            }
        }
        _ => None,
    }
}

/// With which signs rows stand in a sum.
#[derive(Default)]
struct Signs {
    plus: bool,
    minus: bool,
}

impl Signs {
    fn of(expr: &Expr) -> Signs {
        let mut signs = Signs::default();
        signs.add(expr, true);
        signs
    }

    fn found(&mut self, plus: bool) {
        self.plus |= plus;
        self.minus |= !plus;
    }

    /// Facts count as no less than nothing; one that depends on a row is taken for no row, because the row only chooses among facts.
    fn add(&mut self, expr: &Expr, plus: bool) {
        match expr {
            Expr::Field(..) | Expr::Lookup { .. } => self.found(plus),
            Expr::Add(a, b) | Expr::Mul(a, b) => {
                self.add(a, plus);
                self.add(b, plus);
            }
            Expr::Sub(a, b) => {
                self.add(a, plus);
                self.add(b, !plus);
            }
            Expr::Span(of, _) => self.add(of, plus),
            Expr::Call(Function::Abs, of) => of.iter().for_each(|of| {
                self.add(of, plus);
                self.add(of, !plus);
            }),
            Expr::Call(_, of) => of.iter().for_each(|of| self.add(of, plus)),
            Expr::Fold(fold) => {
                if fold.binders.iter().any(|binder| matches!(binder.source, Source::Rows { .. } | Source::Given(_))) {
                    self.found(plus);
                } else {
                    fold.body.iter().for_each(|of| self.add(of, plus));
                }
            }
            _ => {}
        }
    }
}
