//! Small random models, and their points by brute force.

use benchwright_base::Stream;
use benchwright_solve::{Constraint, Interval, Limits, Lin, Lit, Model, Range, Var, satisfied};

/// Limits that no small model reaches.
pub(crate) fn limits() -> Limits {
    Limits { work: 60.0, linearization: 1, fixed_search: false }
}

/// A small random model.
pub(crate) fn random_model(stream: &mut Stream) -> Model {
    let mut model = Model::default();
    for _ in 0..stream.between(1, 3) {
        let low = stream.between(-4, 4);
        let mut domain = vec![(low, low + stream.between(0, 4))];
        if stream.chance(1, 3) {
            let next = domain[0].1 + stream.between(2, 4);
            domain.push((next, next + stream.between(0, 2)));
        }
        model.vars.push(domain);
    }
    for _ in 0..stream.between(1, 4) {
        model.lit();
    }
    for _ in 0..stream.between(1, 5) {
        let constraint = random_constraint(stream, &model);
        model.constraints.push(constraint);
    }
    if stream.chance(3, 4) {
        model.minimise = Some(random_lin(stream, &model));
    }
    if stream.chance(1, 4) {
        let var = stream.below(model.vars.len() as u64) as Var;
        model.hint.push((var, stream.between(-6, 6)));
    }
    model
}

/// A random constraint over the variables of a model.
pub(crate) fn random_constraint(stream: &mut Stream, model: &Model) -> Constraint {
    match stream.below(8) {
        0..4 => Constraint::Linear {
            of: random_lin(stream, model),
            within: random_range(stream),
            when: random_lits(stream, model, 2),
        },
        4 => Constraint::Or(random_lits(stream, model, 3)),
        5 | 6 => {
            let of = (0..stream.between(1, 3)).map(|_| random_lin(stream, model)).collect();
            Constraint::Max { target: wide_target(stream, model), of }
        }
        _ => {
            let other = random_lin(stream, model);
            let factor = if stream.chance(3, 4) {
                random_lits(stream, model, 3).first().map_or(Lin::constant(2), |lit| Lin::lit(*lit).times(3))
            } else {
                random_lin(stream, model)
            };
            Constraint::Product { target: wide_target(stream, model), of: [other, factor] }
        }
    }
}

/// An expression that is likely to meet a maximum or a product.
fn wide_target(stream: &mut Stream, model: &Model) -> Lin {
    Lin::sum(model.vars.iter().enumerate().map(|(var, _)| Lin::var(var as Var).times(stream.between(-2, 2))))
        .plus(&Lin::constant(stream.between(-2, 2)))
}

fn random_lin(stream: &mut Stream, model: &Model) -> Lin {
    let parts: Vec<Lin> = (0..stream.between(0, 3))
        .map(|_| Lin::var(stream.below(model.vars.len() as u64) as Var).times(stream.between(-3, 3)))
        .collect();
    Lin::sum(parts).plus(&Lin::constant(stream.between(-5, 5)))
}

fn random_range(stream: &mut Stream) -> Range {
    let low = stream.between(-8, 4);
    match stream.below(6) {
        0 => vec![(i64::MIN, low + 4)],
        1 => vec![(low, i64::MAX)],
        2 => vec![(low, low)],
        3 => vec![(low, low + 1), (low + 4, low + 7)],
        4 => vec![(i64::MIN, low), (low + 2, low + 2), (low + 5, i64::MAX)],
        _ => vec![(low, low + stream.between(0, 9))],
    }
}

fn random_lits(stream: &mut Stream, model: &Model, most: i64) -> Vec<Lit> {
    let is_literal = |var: &Var| matches!(*model.vars[*var as usize], [(0, 1)]);
    let literals: Vec<Var> = (0..model.vars.len() as Var).filter(is_literal).collect();
    (0..stream.between(0, most))
        .filter_map(|_| Some(Lit { var: *stream.pick(&literals)?, yes: stream.chance(1, 2) }))
        .collect()
}

/// Every point of a small model, in order.
pub(crate) fn points(model: &Model) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for domain in &model.vars {
        let values: Vec<i64> = domain.iter().flat_map(|(low, high)| *low..=*high).collect();
        points = points.iter().flat_map(|point| values.iter().map(|value| [&**point, &[*value]].concat())).collect();
    }
    points.retain(|point| satisfied(model, point));
    points
}

/// A small random model of intervals, which is feasible more often than not.
pub(crate) fn random_intervals(stream: &mut Stream) -> Model {
    let mut model = Model::default();
    let mut intervals = Vec::new();
    for _ in 0..stream.between(2, 4) {
        let low = stream.between(-2, 3);
        let mut start = Lin::var(model.var(low, low + stream.between(0, 4)));
        if stream.chance(1, 3) {
            // A start of two variables, one of which is another's start.
            start = start.plus(&Lin::var(0).times(stream.between(-1, 1))).plus(&Lin::constant(1));
        }
        let used = stream.chance(2, 3).then(|| model.lit()).map(|lit| if stream.chance(1, 4) { !lit } else { lit });
        intervals.push(Interval { start, size: stream.between(1, 4), used });
    }
    for _ in 0..stream.between(1, 2) {
        let of: Vec<Interval> = intervals.iter().filter(|_| stream.chance(4, 5)).cloned().collect();
        model.constraints.push(if stream.chance(1, 2) {
            Constraint::NoOverlap(of)
        } else {
            let loads = of.iter().map(|_| stream.between(0, 4)).collect();
            Constraint::Cumulative { intervals: of, loads, limit: stream.between(1, 6) }
        });
    }
    // Without a reason to be there, all that can be left out would be.
    let worth = intervals.iter().filter_map(|it| it.used).map(|used| Lin::lit(used).times(stream.between(-9, 1)));
    let late = intervals.iter().map(|interval| interval.start.clone());
    model.minimise = Some(Lin::sum(worth.chain(late)));
    model
}
