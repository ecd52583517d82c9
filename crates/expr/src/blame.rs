//! For what a rule does not hold, for people who read a verdict: the first element that it fails for, and the two sides of the comparison
//! that is false there. It follows `for`, `and` and `implies` as far as they lead to one comparison, and says less where they do not.

use crate::{Binder, Compare, Expr, Fold, FoldKind, Source, eval::Judge, eval::Records};
use benchwright_base::{RelationId, Value};

/// What is wrong where a rule fails.
#[derive(Clone, PartialEq, Debug)]
pub enum Wrong {
    /// A comparison is false; the values of its sides.
    Sides(Compare, Value, Value),
    /// There is no row of these that is as it must be.
    Missing(RelationId),
    /// There is a row of these, and there must be none.
    Unwanted(RelationId),
    /// No single comparison is to blame.
    Other,
}

/// For what a rule does not hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Blame {
    /// The variables in order: those of the rule's `per`, then those of the quantifiers around the comparison.
    pub binders: Vec<Binder>,
    /// What they are bound to where it fails first.
    pub at: Vec<Value>,
    /// What is wrong there.
    pub wrong: Wrong,
    /// For how many elements it fails.
    pub times: usize,
}

/// For what a rule does not hold in one of its instances; `None` where it holds. The variables of `per` are bound to `at`.
pub fn blame<R: Records>(judge: &Judge<'_, R>, per: &[Binder], at: &[Value], body: &Expr) -> Option<Blame> {
    search(judge, per.to_vec(), at, body, body)
}

/// Looks for a comparison in `part`, where all of `whole` fails.
fn search<R: Records>(
    judge: &Judge<'_, R>,
    mut binders: Vec<Binder>,
    at: &[Value],
    whole: &Expr,
    part: &Expr,
) -> Option<Blame> {
    match part {
        Expr::Fold(fold) if fold.kind == FoldKind::All && fold.base == binders.len() && std::ptr::eq(whole, part) => {
            binders.extend(fold.binders.iter().cloned());
            let body = fold.body.first()?;
            search(judge, binders, at, body, body)
        }
        Expr::And(parts) if std::ptr::eq(whole, part) => {
            parts.iter().find_map(|part| search(judge, binders.clone(), at, part, part))
        }
        Expr::Implies(_, then) => search(judge, binders, at, whole, then),
        _ => {
            let mut found: Option<Blame> = None;
            judge.instances(&binders, &mut |here| {
                if here.at.iter().zip(at).any(|(now, wanted)| now != wanted) || here.holds(whole) {
                    return;
                }
                if let Some(found) = &mut found {
                    found.times += 1;
                    return;
                }
                let wrong = match part {
                    Expr::Compare(op, left, right) => Wrong::Sides(*op, here.value(left), here.value(right)),
                    Expr::Fold(Fold { kind, binders, .. }) => {
                        match (kind, binders.first().map(|first| &first.source)) {
                            (FoldKind::Exists, Some(Source::Rows { relation, .. })) => Wrong::Missing(*relation),
                            (FoldKind::None, Some(Source::Rows { relation, .. })) => Wrong::Unwanted(*relation),
                            _ => Wrong::Other,
                        }
                    }
                    _ => Wrong::Other,
                };
                found = Some(Blame { binders: Vec::new(), at: here.at.to_vec(), wrong, times: 1 });
            });
            found.map(|found| Blame { binders, ..found })
        }
    }
}
