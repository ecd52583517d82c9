//! A rule taken apart: its conjuncts, each comparison into the sides on which it can be broken, each filter of an `exists` into its
//! tests. A side is again an expression, which holds exactly where a state breaks the rule there.

use benchwright_expr::{Compare, Expr, Fold, FoldKind, Source, Type};
use benchwright_schema::plan::Plan;
use std::collections::BTreeSet;

/// One side of one conjunct.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// The number of the conjunct, with the numbers of those it stands in before it.
    pub(crate) conjunct: String,
    /// On which side it is broken, in a word.
    pub(crate) word: &'static str,
    /// Holds where it is broken there.
    pub(crate) broken: Expr,
}

/// The sides of a rule's condition.
pub(crate) fn sides(plan: &Plan, condition: &Expr) -> Vec<Side> {
    split(plan, condition, "")
}

fn not(expr: &Expr) -> Expr {
    Expr::Not(Box::new(expr.clone()))
}

fn one(conjunct: &str, word: &'static str, broken: Expr) -> Vec<Side> {
    let conjunct = if conjunct.is_empty() { "1".to_owned() } else { conjunct.to_owned() };
    vec![Side { conjunct, word, broken }]
}

fn split(plan: &Plan, condition: &Expr, at: &str) -> Vec<Side> {
    match condition {
        Expr::And(parts) => {
            let number = |nth: usize| if at.is_empty() { (nth + 1).to_string() } else { format!("{at}.{}", nth + 1) };
            parts.iter().enumerate().flat_map(|(nth, part)| split(plan, part, &number(nth))).collect()
        }
        Expr::Implies(first, then) => {
            wrapped(split(plan, then, at), |broken| Expr::And(vec![(**first).clone(), broken]))
        }
        Expr::Fold(fold) if fold.kind == FoldKind::All && fold.body.len() == 1 => {
            wrapped(split(plan, &fold.body[0], at), |broken| {
                Expr::Fold(Fold { kind: FoldKind::Exists, body: vec![broken], ..fold.clone() })
            })
        }
        Expr::Fold(fold) if fold.kind == FoldKind::Exists => exists(condition, fold, at),
        Expr::Fold(fold) if fold.kind == FoldKind::None => one(at, "some", not(condition)),
        Expr::Compare(op, a, b) => compared(plan, condition, *op, a, b, at),
        Expr::In(..) | Expr::Holds(_) | Expr::IsNull(_) | Expr::Text(..) => one(at, "another", not(condition)),
        Expr::Not(inner) => one(at, "another", (**inner).clone()),
        other => one(at, "otherwise", not(other)),
    }
}

fn wrapped(sides: Vec<Side>, wrap: impl Fn(Expr) -> Expr) -> Vec<Side> {
    sides.into_iter().map(|side| Side { broken: wrap(side.broken), ..side }).collect()
}

/// There is none; or there is one but for a single test.
fn exists(condition: &Expr, fold: &Fold, at: &str) -> Vec<Side> {
    let mut sides = one(at, "none", not(condition));
    let [binder] = &fold.binders[..] else { return sides };
    let Source::Rows { tests, .. } = &binder.source else { return sides };
    if tests.len() < 2 {
        return sides;
    }
    for nth in 0..tests.len() {
        let mut other = fold.clone();
        if let Source::Rows { tests, .. } = &mut other.binders[0].source {
            tests.remove(nth);
        }
        let broken = Expr::And(vec![not(condition), Expr::Fold(other)]);
        let conjunct = if at.is_empty() { "1".to_owned() } else { at.to_owned() };
        sides.push(Side { conjunct: format!("{conjunct}/{}", nth + 1), word: "another", broken });
    }
    sides
}

fn compared(plan: &Plan, condition: &Expr, op: Compare, a: &Expr, b: &Expr, at: &str) -> Vec<Side> {
    let is = |op: Compare| Expr::Compare(op, Box::new(a.clone()), Box::new(b.clone()));
    match op {
        Compare::Eq if is_ordered(plan, a) && is_ordered(plan, b) => {
            let mut sides = one(at, "below", is(Compare::Lt));
            sides.extend(one(at, "above", is(Compare::Gt)));
            sides
        }
        Compare::Eq => one(at, "another", not(condition)),
        Compare::Ne => one(at, "same", is(Compare::Eq)),
        Compare::Le => one(at, "above", is(Compare::Gt)),
        Compare::Lt => one(at, "above", is(Compare::Ge)),
        Compare::Ge => one(at, "below", is(Compare::Lt)),
        Compare::Gt => one(at, "below", is(Compare::Le)),
    }
}

/// Whether what an expression comes to has an order.
fn is_ordered(plan: &Plan, expr: &Expr) -> bool {
    let ty = match expr {
        Expr::Literal(_, ty) => Some(*ty),
        Expr::Fact(fact, _) => plan.facts.get(fact.index()).map(|fact| fact.value),
        Expr::Field(_, path) => path.last().and_then(|(relation, field)| {
            let view = plan.view_of(*relation)?;
            plan.views[view].fields.get(field.index()).map(|field| field.ty)
        }),
        Expr::Var(_) => None,
        _ => Some(Type::Int),
    };
    ty.is_some_and(|ty| !matches!(ty, Type::Ref(_) | Type::Text | Type::Enum(_) | Type::Bool | Type::Null))
}

/// The views that an expression reads.
pub(crate) fn views_of(plan: &Plan, expr: &Expr) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut note = |source: &Source| {
        if let Source::Rows { relation, .. } = source {
            found.extend(plan.view_of(*relation));
        }
    };
    expr.visit(&mut |part| match part {
        Expr::Fold(fold) => fold.binders.iter().for_each(|binder| note(&binder.source)),
        Expr::Lookup { source, .. } => note(source),
        _ => {}
    });
    found
}
