//! Which expressions can be translated ("lowered") into a solver's model. A solver decides whole numbers and truths, so what
//! depends on text, on the clock, on null or on what a row was before has to stay with the evaluator.

use crate::{Binder, Expr, FoldKind, Function, Source, TestOp};

/// What stands in the way of lowering an expression, in words that a sentence can begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Obstacle(pub &'static str);

/// Whether an expression belongs to the subset that can be lowered to a solver's model; if not, what stands in the way.
///
/// Out are `null`, `old`, `changed`, `created`, `deleted`, `now`, `today`, `actor`, tests on text, `ancestors`, functions
/// of text and dates, lookups, and `min` or `max` of rows without `else`. `not in` is out because it tests for null; `not
/// (x in {…})` is in. Paths over free fields cannot be lowered either, but which fields are free is known only to the
/// solver bridge, which judges them.
pub fn lowerable(expr: &Expr) -> Result<(), Obstacle> {
    let mut obstacle = None;
    expr.visit(&mut |part| {
        if obstacle.is_none() {
            obstacle = stands_in_the_way(part);
        }
    });
    match obstacle {
        Some(obstacle) => Err(Obstacle(obstacle)),
        None => Ok(()),
    }
}

/// Why this node by itself cannot be lowered, in words for a message; `None` if it can.
fn stands_in_the_way(expr: &Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::Literal(value, _) if value.is_null() => "`null`",
        Expr::IsNull(_) => "`null`",
        Expr::And(list) if is_not_in(list) => "`not in`, which tests for null: write `not (… in {…})`",
        Expr::Old(_) => "`old`",
        Expr::Changed(_) => "`changed`",
        Expr::Created => "`created`",
        Expr::Deleted => "`deleted`",
        Expr::Now => "`now`",
        Expr::Today => "`today`",
        Expr::Actor(_) => "`actor`",
        Expr::Text(..) => "a test on text",
        Expr::InAncestors(..) => "`ancestors`",
        Expr::Lookup { .. } => "the lookup of a single row",
        Expr::Call(function, _) => match function {
            Function::Length => "`length`",
            Function::Compact => "`compact`",
            Function::TimeOf => "`time_of`",
            Function::DateOf => "`date_of`",
            Function::MonthOf => "`month_of`",
            Function::YearOf => "`year_of`",
            Function::Weekday | Function::WeekdayWord(_) => "`weekday`",
            Function::Matrix { .. } | Function::Abs | Function::Least | Function::Greatest => return None,
        },
        Expr::Fold(fold) => match (fold.kind, &fold.outer) {
            (FoldKind::Min, None) => "`min` of rows without `else`",
            (FoldKind::Max, None) => "`max` of rows without `else`",
            _ => return fold.binders.iter().find_map(binder),
        },
        _ => return None,
    })
}

/// What stands in the way in the filters of a binder; its condition is visited like any other part.
fn binder(binder: &Binder) -> Option<&'static str> {
    let Source::Rows { tests, .. } = &binder.source else { return None };
    tests.iter().find_map(|(_, op, _)| match op {
        TestOp::IsNull | TestOp::NotNull => Some("`null`"),
        TestOp::Text(_) => Some("a test on text"),
        TestOp::Compare(_) | TestOp::In | TestOp::NotIn => None,
    })
}

/// Whether a conjunction is what the checker makes of `not in`, `x != null and not (x in {…})`. The tree has no node of its
/// own for it, so messages and English recognise it by its form.
pub(crate) fn is_not_in(list: &[Expr]) -> bool {
    let [Expr::Not(there), Expr::Not(found)] = list else { return false };
    match (&**there, &**found) {
        (Expr::IsNull(a), Expr::In(b, _) | Expr::InAncestors(b, ..)) => a == b,
        _ => false,
    }
}
