//! Cases in which not all limits can be kept: limits are tightened until no plan keeps them, and waiving them gets its prices.

use super::best::{best, outcome};
use crate::{
    dials::{
        figures::figures,
        over::{HIGHER, LOWER, TABLE, is_least, waivable},
    },
    records::{Cell, Records},
    workflow::Planning,
};
use benchwright_project::{Case, Discard, Draw};
use benchwright_schema::Domain;
use benchwright_spec::{Outcome, Planner};

/// How many limits may be waived, at most.
const LIMITS: usize = 12;
/// How many of them are made too tight, at most.
const TIGHT: usize = 4;
/// What is left of these, in percent, until no plan keeps them all.
const LEFT: [i64; 7] = [96, 92, 88, 83, 77, 70, 60];
/// The price of moving a limit by so many percent of it is between so many percent of what the best plan is worth.
const STEP: i64 = 3;
const PRICES: [i64; 2] = [2, 6];

/// A case in which no plan keeps all limits, with what waiving them costs.
pub(crate) fn tightened(
    (family, with): (&Planning, &Planning),
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Case, Discard> {
    let Some((ready, solved)) = best(family, draw, domain, planner, records)? else {
        return Err(Discard::Because("unproved".to_owned()));
    };
    let value = solved.phases.first().map_or(0, |phase| phase.value).abs();
    let columns: Vec<String> = waivable(&family.layout, &family.told, &ready.text).into_iter().cloned().collect();
    let mut limits = figures(&family.layout, &columns, records).map_err(Discard::Fault)?;
    let mut stream = draw.stream("tightened");
    stream.shuffle(&mut limits);
    limits.truncate(LIMITS);
    let tight = TIGHT.min(limits.len());
    let tighter = |left: i64| {
        limits[..tight].iter().fold(records.clone(), |records, figure| {
            let was = figure.get(&family.layout, &records);
            let step = (was.abs() * (100 - left) / 100).max(1);
            let now = if is_least(&family.layout, &family.told, figure) { was + step } else { (was - step).max(0) };
            figure.with(&family.layout, &records, now)
        })
    };
    let mut found = None;
    for left in LEFT {
        let records = tighter(left);
        if matches!(outcome(family, draw, domain, planner, &records)?.1, Outcome::Infeasible) {
            found = Some(records);
            break;
        }
    }
    let Some(mut records) = found else { return Err(Discard::Because("all limits can be kept".to_owned())) };
    let mut rows = Vec::new();
    for figure in &limits {
        let Some([stands, named, row]) = figure.stands((&family.layout, &family.written), &records) else { continue };
        let now = figure.get(&family.layout, &records).abs();
        let step = (now * STEP / 100).max(1);
        let price = (value * stream.between(PRICES[0], PRICES[1]) / 100 / step).max(1);
        let becomes = if is_least(&family.layout, &family.told, figure) { LOWER } else { HIGHER };
        rows.push(([stands, named, row, becomes.to_owned()], price, (now / 2).max(2)));
    }
    rows.sort();
    let cells = (1..).zip(rows).map(|(at, (texts, price, most))| {
        let texts = std::iter::once(format!("L{at}")).chain(texts).map(Cell::Text);
        texts.chain([Cell::Number(price), Cell::Number(most)]).collect()
    });
    let cells = cells.collect();
    records.0.insert(TABLE.to_owned(), cells);
    Ok(with.case(draw, &records))
}
