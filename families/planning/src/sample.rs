//! Draws a case: records, then limits that are set around a plan which is known to be possible, then tightened while the best plan
//! gets worse for it.

use crate::{
    beyond::{ask, best, front, over, twin},
    dial::Dial,
    quality,
    reckon::{Per, value},
    records::{Cell, Records},
    stages::told::has_stages,
    told::KnobText,
    weigh::{self, Hurried, Weighed},
    workflow::Planning,
};
use benchwright_base::{Stream, Value};
use benchwright_project::{Case, Discard, Draw, Ready, ready};
use benchwright_schema::Domain;
use benchwright_spec::{Planner, Rows};

/// How much of what the best plan uses is taken away, in percent.
const LESS: i64 = 4;
/// How often the limit of a rule that is missed is tightened.
const TURNS: usize = 4;
/// How often a trap is laid before a draw is given up.
const LAID: usize = 4;

/// A case of a workflow.
pub(crate) fn sample(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
) -> Result<Case, Discard> {
    if let Some(records) = &family.own {
        return given(family, draw, domain, planner, records);
    }
    let dial = Dial::of(draw.tier).map(|(_, dial)| dial);
    // What a dial is turned at is drawn as it would be without it.
    let draw = &Dial::plain(draw);
    let seed = draw.stream("records").below(1 << 53);
    let drawn = (family.filler)(family.layout.domain.clone(), &size(family, draw.tier), seed)?;
    let mut records = Records::of(&family.layout, &drawn).map_err(Discard::Fault)?;
    limit(family, draw, domain, planner, &mut records)?;
    if let Some(dial) = dial {
        let with = (family, family.dials.get(&dial).unwrap_or(family));
        return match dial {
            Dial::Twin => twin::moved(family, draw, domain, planner, &records),
            Dial::Ask => ask::asked(with, draw, domain, planner, &records),
            Dial::Over => over::tightened(with, draw, domain, planner, &records),
            Dial::Front => front::bounded(with, draw, domain, planner, &records),
        };
    }
    let Some(staged) = family.staged.as_deref().filter(|_| has_stages(draw.tier)) else {
        lay(family, draw, domain, planner, &mut records)?;
        return Ok(family.case(draw, &records));
    };
    // What is known at the first stage is a case of its own, and its limits are set as if nothing came after it.
    let mut all = Records::of(&staged.layout, &drawn).map_err(Discard::Fault)?;
    all.0.extend(records.0);
    Ok(staged.case(draw, &all))
}

/// Sets the limits of a case.
fn limit(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &mut Records,
) -> Result<(), Discard> {
    if family.told.knob.is_empty() {
        return Ok(());
    }
    // With every limit loose there is a plan, or the records are at odds with each other.
    let places = knobs(family, records)?;
    for place in &places {
        place.set(records, place.knob.loose);
    }
    let loose = case(family, draw, domain, records)?;
    let candidates = family.candidates_of(&loose)?;
    let witness = planner.some_plan(&loose.plan, &loose.bound, &candidates, draw.objective, None)?;
    let witness = witness.ok_or_else(|| Discard::Because("no plan".to_owned()))?;
    let mut stream = draw.stream("slack");
    for (place, used) in places.iter().zip(used(&places, &loose, &witness)?) {
        place.set(records, place.with_slack(used, &mut stream));
    }
    tighten(family, draw, domain, planner, &places, records)
}

/// Lays the traps that mislead nobody again, otherwise, before the best plan is asked for a whole proof.
fn lay(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &mut Records,
) -> Result<(), Discard> {
    let Some((ready, solved)) = best(family, draw, domain, planner, records)? else {
        return Err(Discard::Because("unproved".to_owned()));
    };
    // The whole proof can only find better, so what misses the mark beside this value misses it then too.
    let value = solved.phases.first().map_or(0, |phase| phase.value);
    let anchors = quality::anchors(draw.tier, family.sign(), value, value, None);
    let anchors = anchors.ok_or_else(|| Discard::Fault("the value is too large to anchor".to_owned()))?;
    let (plan, bound) = (&ready.plan, &ready.bound);
    // Those first that stand as they stand.
    let mut traps = family.traps(&ready.case);
    traps.sort_by_key(|trap| trap.kind.is_drawn());
    for trap in traps {
        for tries in 1.. {
            let case = family.case(draw, records);
            let it = Weighed { tier: draw.tier, case: &case, plan, bound, solved: &solved, anchors };
            let misled = weigh::hurried(family, &it, trap, &family.workspace(&case)?, planner)?;
            if matches!(misled, Hurried::Passes | Hurried::Undecided) && trap.kind.is_drawn() && tries < LAID {
                records.lay_again(&trap.name);
                continue;
            }
            misled.told(trap)?;
            break;
        }
    }
    Ok(())
}

/// The size of a tier's records: one of its own, such as `hard_stages`, where the draws have one, or that of the tier before the hyphen.
fn size(family: &Planning, tier: &str) -> String {
    let sizes = family.layout.domain.seed.as_ref().map_or(&[][..], |seed| &seed.sizes);
    let own = tier.replace('-', "_");
    match sizes.contains(&own) {
        true => own,
        false => tier.split('-').next().unwrap_or_default().to_owned(),
    }
}

/// The case of records that are given: there is one, good or not.
fn given(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Case, Discard> {
    if draw.attempt > 0 {
        let why = "no task comes of these files: the best plan is not proved near enough, or worth too little; fewer rows may help";
        return Err(Discard::Fault(why.to_owned()));
    }
    let ready = case(family, draw, domain, records)?;
    let candidates = family.candidates_of(&ready)?;
    match planner.some_plan(&ready.plan, &ready.bound, &candidates, draw.objective, None)? {
        Some(_) => Ok(ready.case),
        None => Err(Discard::Fault("no plan was found that keeps all rules with these files".to_owned())),
    }
}

/// Puts a case together with its rules.
fn case(family: &Planning, draw: &Draw<'_>, domain: &Domain, records: &Records) -> Result<Ready, Discard> {
    Ok(ready(family, draw.pattern, domain, family.case(draw, records))?)
}

/// A limit: a cell of the records.
struct Place<'k> {
    knob: &'k KnobText,
    table: &'k str,
    row: usize,
    column: usize,
    /// What its variables stand for, by name in order.
    at: Vec<Cell>,
}

impl Place<'_> {
    fn set(&self, records: &mut Records, limit: i64) {
        let cell = records.0.get_mut(self.table).and_then(|rows| rows.get_mut(self.row)?.get_mut(self.column));
        if let Some(cell) = cell {
            *cell = Cell::Number(limit);
        }
    }

    fn get(&self, records: &Records) -> i64 {
        match records.rows(self.table).get(self.row).and_then(|row| row.get(self.column)) {
            Some(Cell::Number(number)) => *number,
            _ => 0,
        }
    }

    /// What is used with something more, or for a lower limit something less.
    fn with_slack(&self, used: i64, stream: &mut Stream) -> i64 {
        let [low, high] = self.knob.slack;
        let percent = low + stream.below((high - low + 1) as u64) as i64;
        self.held(if self.knob.least { used * 100 / percent } else { (used * percent + 99) / 100 })
    }

    /// A limit that makes sense.
    fn held(&self, limit: i64) -> i64 {
        match self.knob.floor {
            None => limit,
            Some(floor) if self.knob.least => limit.min(floor),
            Some(floor) => limit.max(floor),
        }
    }

    /// What is used with less of it, or for a lower limit with more.
    fn tighter(&self, used: i64) -> i64 {
        let step = (used * LESS / 100).max(1);
        self.held(if self.knob.least { used + step } else { used - step })
    }
}

/// The limits of a workflow in its records.
fn knobs<'k>(family: &'k Planning, records: &Records) -> Result<Vec<Place<'k>>, Discard> {
    let mut places = Vec::new();
    for knob in &family.told.knob {
        let fault = || Discard::Fault(format!("the knob `{}` is no column of the records", knob.column));
        let (table, column) = knob.column.split_once('.').ok_or_else(fault)?;
        let table = family.layout.table(table).ok_or_else(fault)?;
        let column = table.columns.iter().position(|known| known.name == column).ok_or_else(fault)?;
        let keys = family.layout.arguments(table);
        for (row, cells) in records.rows(&table.name).iter().enumerate() {
            let at = keys.iter().map(|(key, _)| cells[*key].clone()).collect();
            places.push(Place { knob, table: &table.name, row, column, at });
        }
    }
    Ok(places)
}

/// What a plan uses of every limit.
fn used(places: &[Place<'_>], ready: &Ready, rows: &Rows) -> Result<Vec<i64>, Discard> {
    let records = rows.records(&ready.plan);
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let per = Per::read(place.knob.per.as_deref(), &ready.plan).map_err(Discard::Fault)?;
        let expr = per.expr(&place.knob.uses, &ready.plan, &ready.text).map_err(Discard::Fault)?;
        let at: Vec<Value> = per
            .types
            .iter()
            .zip(&place.at)
            .map(|(ty, cell)| match (ty, cell) {
                (benchwright_expr::Type::Ref(sort), cell) => {
                    ready.bound.member(sort.index(), &cell.key()).map_or(Value::Null, Value::Ref)
                }
                (_, Cell::Number(number)) => Value::Int(*number),
                _ => Value::Null,
            })
            .collect();
        let uses = value(&expr, &at, &ready.bound, &records);
        found.push(uses.ok_or_else(|| Discard::Fault(format!("`{}` has no value", place.knob.uses)))?);
    }
    Ok(found)
}

/// Takes from each limit what the best plan uses of it, and keeps what makes the best plan worse and leaves it proved.
fn tighten(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    places: &[Place<'_>],
    records: &mut Records,
) -> Result<(), Discard> {
    let mut solve = |records: &Records| -> Result<Option<(Ready, i64, Rows)>, Discard> {
        let Some((ready, solved)) = best(family, draw, domain, planner, records)? else { return Ok(None) };
        let phase = solved.phases.first().ok_or_else(|| Discard::Fault("there is no phase".to_owned()))?;
        Ok(Some((ready, phase.value, solved.rows)))
    };
    let Some((mut ready, mut value, mut rows)) = solve(records)? else {
        return Err(Discard::Because("unproved".to_owned()));
    };
    let sign = family.sign();
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|at| draw.stream(&format!("tighten {at}")).below(1 << 32));
    // Of each knob that a rule which is missed is held by, one place comes first, and is turned on while the best plan only moves out of its way.
    let mut first: Vec<usize> = Vec::new();
    for knob in family.told.knob.iter().filter(|knob| family.is_of_headline(&knob.column)) {
        first.extend(order.iter().find(|at| std::ptr::eq(places[**at].knob, knob)));
    }
    order.retain(|at| !first.contains(at));
    let turns = first.iter().map(|at| (*at, TURNS)).chain(order.iter().map(|at| (*at, 1)));
    for (at, turns) in turns.take(family.told.knob.len() * 2) {
        let place = &places[at];
        for turn in 1..=turns {
            let before = place.get(records);
            let uses = used(std::slice::from_ref(place), &ready, &rows)?[0];
            let limit = place.tighter(uses);
            // Some limits are meant to lie far from what a plan uses; what this one uses then gives no tighter limit.
            if turns > 1 && (limit < before) == place.knob.least {
                break;
            }
            place.set(records, limit);
            match solve(records)? {
                Some(found) if found.1 * sign > value * sign => {
                    (ready, value, rows) = found;
                    break;
                }
                Some(found) if turn < turns => (ready, value, rows) = found,
                _ => {
                    place.set(records, before);
                    break;
                }
            }
        }
    }
    Ok(())
}
