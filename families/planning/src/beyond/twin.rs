//! A twin: a case that differs from another in one figure, and whose best plan is another. Who plans by what they have seen before, or by
//! a file that they have read too fast, hands in the other's plan, which fails here or misses the mark.

use super::best::{Best, best};
use crate::{
    dials::figures::{Figure, figures},
    quality,
    records::{Cell, Records},
    workflow::Planning,
};
use benchwright_project::{Case, Discard, Draw};
use benchwright_schema::{
    Domain,
    plan::{Bound, Plan},
};
use benchwright_spec::{NamedRows, Planner};

/// Under this name a case keeps which figure was moved, and what it was. No file tells it.
const WAS: &str = "(was)";
/// How many figures are tried.
const TRIES: usize = 12;
/// What a figure becomes, in percent.
const MOVES: [i64; 6] = [50, 65, 80, 125, 150, 200];

/// A case that differs in one figure from that of these records.
pub(crate) fn moved(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Case, Discard> {
    let Some((ready, solved)) = best(family, draw, domain, planner, records)? else {
        return Err(Discard::Because("unproved".to_owned()));
    };
    let plan = NamedRows::of(&solved.rows, &ready.plan, &ready.bound);
    let mut all = figures(&family.layout, &family.told.moves, records).map_err(Discard::Fault)?;
    let mut stream = draw.stream("moved");
    stream.shuffle(&mut all);
    for figure in all.iter().take(TRIES) {
        let was = figure.get(&family.layout, records);
        let now = was * stream.pick(&MOVES).copied().unwrap_or(100) / 100;
        if now == was || now == 0 {
            continue;
        }
        let mut moved = figure.with(&family.layout, records, now);
        let Some(there) = best(family, draw, domain, planner, &moved)? else { continue };
        if serves(family, draw.tier, &plan, &there) {
            continue;
        }
        let was = figure.was(family, records);
        moved.0.insert(WAS.to_owned(), vec![was]);
        return Ok(family.case(draw, &moved));
    }
    Err(Discard::Because("no figure moves the best plan".to_owned()))
}

/// Whether a plan keeps the rules of a case and passes there.
fn serves(family: &Planning, tier: &str, plan: &NamedRows, (ready, solved): &Best) -> bool {
    let Some(phase) = solved.phases.first() else { return true };
    let Some(anchors) = quality::anchors(tier, family.sign(), phase.value, phase.bound, None) else { return true };
    let worth = worth(plan, &ready.plan, &ready.bound, &ready.case.objective);
    worth.is_some_and(|worth| quality::passes(worth, &anchors, family.sign()))
}

/// What a plan is worth in a case, if it keeps all its rules.
pub(crate) fn worth(named: &NamedRows, plan: &Plan, bound: &Bound, objective: &str) -> Option<i64> {
    named.rows(plan, bound).and_then(|rows| rows.worth(plan, bound, objective))
}

impl Figure {
    fn was(&self, family: &Planning, records: &Records) -> Vec<Cell> {
        let place = [self.table, self.row, self.column].map(|at| Cell::Number(at as i64));
        place.into_iter().chain([Cell::Number(self.get(&family.layout, records))]).collect()
    }
}

impl Records {
    /// The records of the case that this is a twin of.
    pub(crate) fn original(&self, family: &Planning) -> Option<Records> {
        let mut records = self.clone();
        let moved = records.0.remove(WAS)?;
        let numbers: Vec<i64> = moved.first()?.iter().filter_map(Cell::number).collect();
        let [table, row, column, was] = numbers[..] else { return None };
        let figure = Figure { table: table as usize, row: row as usize, column: column as usize };
        Some(figure.with(&family.layout, &records, was))
    }
}
