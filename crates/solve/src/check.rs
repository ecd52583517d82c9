//! The exact reading of a model: whether a point satisfies it, in whole numbers of any size. Both engines are held to it.

use crate::{Constraint, Interval, Lin, Lit, Model, Var, range};

/// What a point breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violated {
    /// It has another number of values than the model has variables.
    Length,
    /// The domain of this variable.
    Domain(Var),
    /// The constraint at this place.
    Constraint(usize),
}

/// Whether the point satisfies every domain and every constraint.
pub fn satisfied(model: &Model, point: &[i64]) -> bool {
    first_violated(model, point).is_none()
}

/// The first thing that the point breaks. A constraint that cannot be computed counts as broken.
pub fn first_violated(model: &Model, point: &[i64]) -> Option<Violated> {
    if point.len() != model.vars.len() {
        return Some(Violated::Length);
    }
    let outside = model.vars.iter().zip(point).position(|(domain, value)| !range::contains(domain, i128::from(*value)));
    if let Some(var) = outside {
        return Some(Violated::Domain(var as Var));
    }
    let broken = model.constraints.iter().position(|constraint| holds(constraint, point) != Some(true));
    broken.map(Violated::Constraint)
}

/// Whether a constraint holds at a point; none if it names a variable that is not there or its numbers are too large.
fn holds(constraint: &Constraint, point: &[i64]) -> Option<bool> {
    match constraint {
        Constraint::Linear { of, within, when } => {
            for lit in when {
                if !is_true(*lit, point)? {
                    return Some(true);
                }
            }
            Some(range::contains(within, value(of, point)?))
        }
        Constraint::Or(lits) => {
            let mut any = false;
            for lit in lits {
                any |= is_true(*lit, point)?;
            }
            Some(any)
        }
        Constraint::Max { target, of } => {
            let values: Option<Vec<i128>> = of.iter().map(|lin| value(lin, point)).collect();
            Some(values?.into_iter().max() == Some(value(target, point)?))
        }
        Constraint::Product { target, of: [a, b] } => {
            Some(value(a, point)?.checked_mul(value(b, point)?)? == value(target, point)?)
        }
        Constraint::NoOverlap(intervals) => {
            let mut there: Vec<(i128, i128)> = Vec::with_capacity(intervals.len());
            for interval in intervals {
                there.extend(ends_of(interval, point)?);
            }
            there.sort_unstable();
            Some(there.windows(2).all(|pair| pair[0].1 <= pair[1].0))
        }
        Constraint::Cumulative { intervals, loads, limit } => {
            let mut there = Vec::with_capacity(intervals.len());
            for (interval, load) in intervals.iter().zip(loads) {
                there.extend(ends_of(interval, point)?.map(|ends| (ends, i128::from(*load))));
            }
            // The load grows only where an interval starts, so it is enough to look there.
            let load_at = |time: i128| -> i128 {
                there.iter().filter(|((start, end), _)| *start <= time && time < *end).map(|(_, load)| load).sum()
            };
            Some(there.iter().all(|((start, _), _)| load_at(*start) <= i128::from(*limit)))
        }
    }
}

/// Where an interval begins and ends, if it is there.
fn ends_of(interval: &Interval, point: &[i64]) -> Option<Option<(i128, i128)>> {
    if let Some(used) = interval.used
        && !is_true(used, point)?
    {
        return Some(None);
    }
    let start = value(&interval.start, point)?;
    Some(Some((start, start.checked_add(i128::from(interval.size))?)))
}

fn is_true(lit: Lit, point: &[i64]) -> Option<bool> {
    match point.get(lit.var as usize)? {
        0 => Some(!lit.yes),
        1 => Some(lit.yes),
        _ => None,
    }
}

/// The exact value of an expression.
pub(crate) fn value(lin: &Lin, point: &[i64]) -> Option<i128> {
    lin.terms.iter().try_fold(i128::from(lin.constant), |sum, (var, k)| {
        sum.checked_add(i128::from(*k) * i128::from(*point.get(*var as usize)?))
    })
}

/// No expression of a model may reach beyond this, on either side and on the way; engines compute in 64 bits.
pub(crate) const FARTHEST: i128 = 1 << 60;

/// The least and the greatest value of an expression of a model without fault.
pub(crate) fn reach(model: &Model, lin: &Lin) -> (i64, i64) {
    let (low, high) =
        lin.terms.iter().fold((i128::from(lin.constant), i128::from(lin.constant)), |(low, high), term| {
            let (a, b) = ends(model, *term);
            (low.saturating_add(a.min(b)), high.saturating_add(a.max(b)))
        });
    let clamp = |value: i128| value.clamp(-FARTHEST, FARTHEST) as i64;
    (clamp(low), clamp(high))
}

fn ends(model: &Model, (var, k): (Var, i64)) -> (i128, i128) {
    let (a, b) = model.bounds(var);
    (i128::from(k) * i128::from(a), i128::from(k) * i128::from(b))
}

/// The largest that the sizes of the constant and all terms can add up to. A factor of nothing counts too: it is a number
/// that is computed with.
pub(crate) fn size(model: &Model, lin: &Lin) -> i128 {
    lin.terms.iter().fold(i128::from(lin.constant).abs(), |sum, term| {
        let (a, b) = ends(model, *term);
        sum.saturating_add(a.abs().max(b.abs()).max(i128::from(term.1).abs()))
    })
}

/// What is wrong with a model, before any engine sees it.
pub(crate) fn fault(model: &Model) -> Option<String> {
    for (var, domain) in model.vars.iter().enumerate() {
        let values = range::tidy(domain);
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Some(format!("variable {var} has an empty domain"));
        };
        if i128::from(first.0) < -FARTHEST || i128::from(last.1) > FARTHEST {
            return Some(format!("variable {var} has an open or too large domain"));
        }
        if model.bounds(var as Var) != (first.0, last.1) {
            return Some(format!("the domain of variable {var} is not ascending"));
        }
    }
    for (at, constraint) in model.constraints.iter().enumerate() {
        let wrong = match constraint {
            Constraint::Linear { of, when, .. } => fault_of(model, of).or_else(|| fault_of_lits(model, when)),
            Constraint::Or(lits) => fault_of_lits(model, lits),
            Constraint::Max { of, .. } if of.is_empty() => Some("is the maximum of nothing".to_owned()),
            Constraint::Max { target, of } => {
                fault_of(model, target).or_else(|| of.iter().find_map(|lin| fault_of(model, lin)))
            }
            Constraint::Product { target, of: [a, b] } => [target, a, b]
                .into_iter()
                .find_map(|lin| fault_of(model, lin))
                .or_else(|| (size(model, a) * size(model, b) > FARTHEST).then(|| "has too large a product".to_owned())),
            Constraint::NoOverlap(intervals) => fault_of_intervals(model, intervals),
            Constraint::Cumulative { intervals, loads, limit } => {
                let total = loads.iter().fold(i128::from(*limit), |sum, load| sum.saturating_add(i128::from(*load)));
                if intervals.len() != loads.len() {
                    Some("has another number of loads than of intervals".to_owned())
                } else if *limit < 0 || loads.iter().any(|load| *load < 0) {
                    Some("has a load or a limit below 0".to_owned())
                } else if total > FARTHEST {
                    Some("has too large loads".to_owned())
                } else {
                    fault_of_intervals(model, intervals)
                }
            }
        };
        if let Some(wrong) = wrong {
            return Some(format!("constraint {at} {wrong}"));
        }
    }
    let objective = model.minimise.as_ref().and_then(|lin| fault_of(model, lin));
    if let Some(wrong) = objective {
        return Some(format!("the objective {wrong}"));
    }
    let stray = model.hint.iter().find(|(var, _)| *var as usize >= model.vars.len());
    stray.map(|(var, _)| format!("the hint names variable {var}, which is not there"))
}

fn fault_of(model: &Model, lin: &Lin) -> Option<String> {
    if let Some((var, _)) = lin.terms.iter().find(|(var, _)| *var as usize >= model.vars.len()) {
        return Some(format!("names variable {var}, which is not there"));
    }
    (size(model, lin) > FARTHEST).then(|| "has too large values".to_owned())
}

fn fault_of_intervals(model: &Model, intervals: &[Interval]) -> Option<String> {
    intervals.iter().find_map(|interval| {
        if interval.size < 1 || i128::from(interval.size) > FARTHEST {
            return Some(format!("has an interval of the size {}", interval.size));
        }
        let fault = fault_of(model, &interval.end()).or_else(|| fault_of(model, &interval.start));
        fault.or_else(|| fault_of_lits(model, interval.used.as_slice()))
    })
}

fn fault_of_lits(model: &Model, lits: &[Lit]) -> Option<String> {
    lits.iter().find_map(|lit| {
        if lit.var as usize >= model.vars.len() {
            return Some(format!("names variable {}, which is not there", lit.var));
        }
        let (low, high) = model.bounds(lit.var);
        (low < 0 || high > 1).then(|| format!("has the literal {}, whose domain is not 0..1", lit.var))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> (Model, Lit) {
        let mut model = Model::default();
        model.vars.push(vec![(0, 3), (6, 9)]);
        model.var(-5, 5);
        let lit = model.lit();
        (model, lit)
    }

    #[test]
    fn a_point_is_held_to_length_domains_and_each_constraint_in_turn() {
        let (mut model, lit) = model();
        assert_eq!(first_violated(&model, &[0, 0]), Some(Violated::Length));
        assert_eq!(first_violated(&model, &[4, 0, 0]), Some(Violated::Domain(0)));
        let difference = Lin::var(0).minus(&Lin::var(1));
        model.constraints = vec![
            Constraint::Linear { of: difference.clone(), within: vec![(i64::MIN, 0), (5, i64::MAX)], when: vec![lit] },
            Constraint::Or(vec![lit, !lit]),
            Constraint::Max { target: Lin::var(0), of: vec![Lin::constant(2), Lin::var(1)] },
            Constraint::Product { target: difference, of: [Lin::var(1), Lin::lit(lit)] },
        ];
        assert_eq!(first_violated(&model, &[2, 0, 1]), Some(Violated::Constraint(0)));
        assert_eq!(first_violated(&model, &[3, 4, 1]), Some(Violated::Constraint(2)));
        assert_eq!(first_violated(&model, &[3, 3, 1]), Some(Violated::Constraint(3)));
        assert!(satisfied(&model, &[3, 3, 0]) && satisfied(&model, &[2, 2, 0]));
    }

    #[test]
    fn intervals_may_touch_and_count_only_where_they_are_there() {
        let (mut model, lit) = model();
        let intervals = vec![
            Interval { start: Lin::var(0), size: 2, used: None },
            Interval { start: Lin::var(1), size: 3, used: Some(lit) },
        ];
        model.constraints = vec![Constraint::NoOverlap(intervals.clone())];
        assert!(satisfied(&model, &[3, 0, 1]) && satisfied(&model, &[3, 5, 1]) && satisfied(&model, &[3, 2, 0]));
        assert!(!satisfied(&model, &[3, 1, 1]) && !satisfied(&model, &[3, 4, 1]));
        let limited = |limit| Constraint::Cumulative { intervals: intervals.clone(), loads: vec![2, 3], limit };
        model.constraints = vec![limited(4)];
        assert!(satisfied(&model, &[3, 5, 1]) && satisfied(&model, &[3, 4, 0]) && !satisfied(&model, &[3, 4, 1]));
        model.constraints = vec![limited(5)];
        assert!(satisfied(&model, &[3, 4, 1]));
        model.constraints = vec![limited(2)];
        assert!(!satisfied(&model, &[3, 5, 1]), "one alone weighs too much");
    }

    #[test]
    fn numbers_beyond_64_bits_are_added_exactly() {
        let sum = Lin { terms: vec![(0, i64::MAX), (1, i64::MAX)], constant: 0 };
        let constraints = vec![Constraint::Linear { of: sum, within: vec![(i64::MIN, 0)], when: vec![] }];
        let model = Model { vars: vec![vec![(i64::MAX, i64::MAX)]; 2], constraints, ..Model::default() };
        assert!(!satisfied(&model, &[i64::MAX, i64::MAX]));
    }

    #[test]
    fn faults_of_a_model_are_named() {
        let says = |change: &dyn Fn(&mut Model, Lit), wanted: &str| {
            let (mut model, lit) = model();
            change(&mut model, lit);
            let found = fault(&model).unwrap_or_default();
            assert!(found.contains(wanted), "{found:?} lacks {wanted:?}");
        };
        assert_eq!(fault(&model().0), None);
        says(&|m, _| m.vars[1].clear(), "variable 1 has an empty domain");
        says(&|m, _| m.vars[1] = vec![(0, i64::MAX)], "too large domain");
        says(&|m, _| m.vars[1] = vec![(5, 6), (0, 1)], "ascending");
        says(&|m, _| m.constraints.push(Constraint::Or(vec![Lit { var: 1, yes: true }])), "not 0..1");
        says(&|m, _| m.constraints.push(Constraint::Or(vec![Lit { var: 7, yes: true }])), "variable 7");
        says(&|m, _| m.constraints.push(Constraint::Max { target: Lin::var(0), of: vec![] }), "maximum of nothing");
        says(&|m, _| m.minimise = Some(Lin { terms: vec![(0, i64::MAX)], constant: 0 }), "the objective has too large");
        let vast = Lin { terms: vec![(0, 1 << 40)], constant: 0 };
        let product = Constraint::Product { target: Lin::var(1), of: [vast.clone(), vast] };
        says(&move |m, _| m.constraints.push(product.clone()), "too large a product");
        says(&|m, _| m.hint.push((9, 0)), "hint names variable 9");
        let interval = |size| Interval { start: Lin::var(1), size, used: None };
        says(&|m, _| m.constraints.push(Constraint::NoOverlap(vec![interval(0)])), "an interval of the size 0");
        let loads = |loads: Vec<i64>| Constraint::Cumulative { intervals: vec![interval(2)], loads, limit: 3 };
        says(&|m, _| m.constraints.push(loads(vec![])), "another number of loads");
        says(&|m, _| m.constraints.push(loads(vec![-1])), "below 0");
    }
}
