//! Work done once for expressions that are evaluated over and over: partial evaluation, and splitting a condition into tests
//! that a selection can make.
//!
//! A judge holds the same few hundred instances of rules against state after state. What the instance is bound to and every
//! fact that follows from it are known before any record is read, so they are put into the tree as constants. The result is a
//! smaller expression, never another one: evaluating it gives what evaluating the original would.

use crate::{Compare, Expr, Path, TestOp, Type, eval::Facts};
use benchwright_base::Value;

/// Specialises an expression (partial evaluation): its first slots are replaced by the values in `at`, and every fact whose
/// arguments are then constants by its value. The result is for the evaluator only: its new constants carry no type, so
/// neither the English nor a solver's model can be made of it.
pub fn specialise(expr: &Expr, at: &[Value], facts: &dyn Facts) -> Expr {
    let mut expr = expr.clone();
    // `visit_mut` goes from the leaves up, so the arguments of a fact are constants by the time the fact is looked at.
    expr.visit_mut(&mut |expr| {
        let value = match expr {
            Expr::Var(slot) => at.get(*slot).cloned(),
            Expr::Fact(fact, list) => {
                let known = |e: &Expr| match e {
                    Expr::Literal(value, _) => Some(value.clone()),
                    _ => None,
                };
                list.iter().map(known).collect::<Option<Vec<Value>>>().map(|list| facts.fact(*fact, &list))
            }
            _ => None,
        };
        if let Some(value) = value {
            *expr = Expr::Literal(value, Type::Null);
        }
    });
    expr
}

/// A test of a field of the row under judgement with a constant: the path to the field, the operator, and the constant, which
/// the tests for null do not have.
pub type FieldTest = (Path, TestOp, Option<Value>);

/// Splits a condition on a row into tests that a selection can make with its indexes, and the part that has to be evaluated
/// row by row, `None` if nothing is left (predicate pushdown). The two together choose the same rows as the condition.
pub fn tests_of(condition: &Expr) -> (Vec<FieldTest>, Option<Expr>) {
    let parts = match condition {
        Expr::And(list) => &list[..],
        one => std::slice::from_ref(one),
    };
    let (mut tests, mut rest) = (Vec::new(), Vec::new());
    for part in parts {
        match test_of(part) {
            Some(test) => tests.push(test),
            None => rest.push(part.clone()),
        }
    }
    let rest = (!rest.is_empty()).then_some(Expr::And(rest));
    (tests, rest)
}

/// A part of a conjunction as a test, if it compares a field of slot 0 with a constant or with null.
fn test_of(part: &Expr) -> Option<FieldTest> {
    let field = |expr: &Expr| match expr {
        Expr::Field(0, path) if !path.is_empty() => Some(path.clone()),
        _ => None,
    };
    match part {
        Expr::Holds(of) => Some((field(of)?, TestOp::Compare(Compare::Eq), Some(Value::Bool(true)))),
        Expr::IsNull(of) => Some((field(of)?, TestOp::IsNull, None)),
        Expr::Not(of) => match &**of {
            Expr::IsNull(of) => Some((field(of)?, TestOp::NotNull, None)),
            // Not so `not f`: it holds where `f` is null, and the test `f = false` would not.
            _ => None,
        },
        Expr::Compare(op, of, with) => match &**with {
            Expr::Literal(value, _) => Some((field(of)?, TestOp::Compare(*op), Some(value.clone()))),
            _ => None,
        },
        _ => None,
    }
}
