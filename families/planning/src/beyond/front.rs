//! Cases of options: bounds on the second measure, each of which makes the best plan another one and a worse one.

use super::best::best;
use crate::{
    dials::front::{AXIS, TABLE},
    reckon::{Per, value},
    records::{Cell, Records},
    workflow::Planning,
};
use benchwright_project::{Case, Discard, Draw, Ready};
use benchwright_schema::{
    Domain,
    plan::{Bound, Plan},
};
use benchwright_spec::{Planner, Rows};
use std::collections::BTreeSet;

/// The bounds that are tried, in percent of what the best plan has of the second measure.
const LEFT: [i64; 12] = [99, 98, 96, 94, 91, 88, 84, 79, 73, 66, 58, 45];
/// How many options have a bound.
const BOUNDED: usize = 2;
/// By how much of its worth, in thousandths, a plan is worse than that of the option before.
const WORSE: i64 = 4;

/// What a plan has of the second measure.
fn second(family: &Planning, ready: &Ready, rows: &Rows) -> Result<i64, Discard> {
    let told = family.told.front.as_ref().ok_or_else(|| Discard::Fault("there is no second measure".to_owned()))?;
    let nothing = Per::read(None, &ready.plan).map_err(Discard::Fault)?;
    let expr = nothing.expr(&told.of, &ready.plan, &ready.text).map_err(Discard::Fault)?;
    let found = value(&expr, &[], &ready.bound, &rows.records(&ready.plan));
    found.ok_or_else(|| Discard::Fault(format!("`{}` has no value", told.of)))
}

/// The records with options that have these bounds.
fn with_bounds(records: &Records, bounds: &[i64]) -> Records {
    let mut records = records.clone();
    let rows = (1..).zip(bounds).map(|(number, bound)| vec![Cell::Number(number), Cell::Number(*bound)]);
    records.0.insert(TABLE.to_owned(), rows.collect());
    records
}

/// A case of several options, in which each bound makes the best plan another one and a worse one.
pub(crate) fn bounded(
    (family, with): (&Planning, &Planning),
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Case, Discard> {
    let Some((ready, solved)) = best(family, draw, domain, planner, records)? else {
        return Err(Discard::Because("unproved".to_owned()));
    };
    let sign = family.sign();
    let mut value = solved.phases.first().map_or(0, |phase| phase.value);
    let uses = second(family, &ready, &solved.rows)?;
    let mut bounds = vec![0];
    for left in LEFT {
        let bound = uses * left / 100;
        if bound < 1 || bounds.len() > BOUNDED {
            break;
        }
        let Some((_, solved)) = best(with, draw, domain, planner, &with_bounds(records, &[bound]))? else { break };
        let reached = solved.phases.first().map_or(0, |phase| phase.value);
        if (reached - value) * sign * 1_000 > value.abs() * WORSE {
            value = reached;
            bounds.push(bound);
        }
    }
    if bounds.len() <= BOUNDED {
        return Err(Discard::Because("the second measure hardly matters".to_owned()));
    }
    Ok(with.case(draw, &with_bounds(records, &bounds)))
}

/// Whether no two options of a plan have the same rows.
pub(crate) fn are_different(plan: &Plan, bound: &Bound, rows: &Rows) -> bool {
    let options = plan.sets.iter().position(|(name, _)| name == AXIS.set).map_or(0, |set| bound.sets[set].len());
    let mut seen = BTreeSet::new();
    for option in 1..=options as i64 {
        let mut of_it = Vec::new();
        for (view, rows) in plan.views.iter().zip(&rows.0) {
            let Some(at) = view.field_named(AXIS.field) else { continue };
            let mut rest: Vec<Vec<i64>> = rows.iter().filter(|row| row[at] == option).cloned().collect();
            rest.iter_mut().for_each(|row| _ = row.remove(at));
            rest.sort();
            of_it.push(rest);
        }
        seen.insert(of_it);
    }
    seen.len() == options
}
