//! What no record decides is settled before any record is read: an expression that is judged over and over is made smaller
//! once. The walk gives the same for both.

use crate::{Compare, Expr, Path, TestOp, Type, eval::Facts};
use benchwright_base::Value;

/// An expression with what its first slots are bound to, and every fact of what is then known, put in their places. It is
/// for the evaluator: the constants have no types.
pub fn settled(expr: &Expr, at: &[Value], facts: &dyn Facts) -> Expr {
    let mut expr = expr.clone();
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

/// A test of a field of the row under judgement with a constant.
pub type FieldTest = (Path, TestOp, Option<Value>);

/// A condition on a row as tests that a selection can make, and what is left of it.
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
            _ => None,
        },
        Expr::Compare(op, of, with) => match &**with {
            Expr::Literal(value, _) => Some((field(of)?, TestOp::Compare(*op), Some(value.clone()))),
            _ => None,
        },
        _ => None,
    }
}
