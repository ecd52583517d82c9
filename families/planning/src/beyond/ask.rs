//! Cases with questions: figures that might have been otherwise, each with what the best plan would be worth then.

use super::best::{best, outcome};
use crate::{
    dials::{
        ask::{REACHED, TABLE},
        figures::{Figure, figures},
    },
    records::{Cell, Records},
    workflow::Planning,
};
use benchwright_project::{Case, Discard, Draw};
use benchwright_schema::Domain;
use benchwright_spec::{Outcome, Planner};

/// How many questions there are.
const QUESTIONS: usize = 3;
/// How many figures are tried for them.
const TRIES: usize = 15;
/// What a figure would be instead, in percent.
const MOVES: [i64; 6] = [60, 75, 90, 110, 130, 150];

/// A case with questions whose answers are proved, and not all what the plan itself is worth.
pub(crate) fn asked(
    (family, with): (&Planning, &Planning),
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Case, Discard> {
    let value = match best(family, draw, domain, planner, records)? {
        Some((_, solved)) => solved.phases.first().map_or(0, |phase| phase.value),
        None => return Err(Discard::Because("unproved".to_owned())),
    };
    let mut all = figures(&family.layout, &family.told.moves, records).map_err(Discard::Fault)?;
    let mut stream = draw.stream("asked");
    stream.shuffle(&mut all);
    let (mut rows, mut answers) = (Vec::new(), Vec::new());
    for figure in all.iter().take(TRIES) {
        let was = figure.get(&family.layout, records);
        let instead = was * stream.pick(&MOVES).copied().unwrap_or(100) / 100;
        let Some([stands, named, row]) =
            figure.stands((&family.layout, &family.written), records).filter(|_| instead != was && instead != 0)
        else {
            continue;
        };
        let moved = figure.with(&family.layout, records, instead);
        let Some(reached) = proved(family, draw, domain, planner, &moved)? else { continue };
        // What changes nothing, or next to nothing, is no question.
        if (reached - value).abs() * 100 <= value.abs() {
            continue;
        }
        let code = format!("Q{}", rows.len() + 1);
        let text = |text: String| Cell::Text(text);
        let instead = figure.written(&family.layout, instead);
        rows.push(vec![text(code.clone()), text(stands), text(named), text(row), text(instead)]);
        answers.push(vec![text(code), Cell::Number(reached)]);
        if rows.len() == QUESTIONS {
            break;
        }
    }
    if rows.len() < QUESTIONS {
        return Err(Discard::Because("too few questions matter".to_owned()));
    }
    let mut records = records.clone();
    records.0.insert(TABLE.to_owned(), rows);
    records.0.insert(REACHED.to_owned(), answers);
    Ok(with.case(draw, &records))
}

/// What the best plan of records is worth, if that is soon proved.
fn proved(
    family: &Planning,
    draw: &Draw<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
    records: &Records,
) -> Result<Option<i64>, Discard> {
    let (_, outcome) = outcome(family, draw, domain, planner, records)?;
    let Outcome::Solved(solved) = outcome else { return Ok(None) };
    Ok(solved.phases.first().filter(|phase| phase.proved).map(|phase| phase.value))
}

/// The figure that a question is about, and what it would be instead.
pub(crate) fn read(family: &Planning, records: &Records, row: &[Cell]) -> Option<(Figure, i64)> {
    let text = |at: usize| match row.get(at) {
        Some(Cell::Text(text)) => Some(&**text),
        _ => None,
    };
    let figure = Figure::at((&family.layout, &family.written), records, [text(1)?, text(2)?, text(3)?])?;
    let instead = figure.number(&family.layout, text(4)?)?;
    Some((figure, instead))
}

/// What is right for every question of a case, solved for anew: by `ask`, which gives what the best plan of records is worth.
pub(crate) fn answered(
    family: &Planning,
    records: &Records,
    ask: &mut dyn FnMut(&Records) -> Result<Option<i64>, Discard>,
) -> Result<Option<Records>, Discard> {
    let mut plain = records.clone();
    plain.0.remove(TABLE);
    plain.0.remove(REACHED);
    let mut answers = Vec::new();
    for row in records.rows(TABLE) {
        let Some((figure, instead)) = read(family, &plain, row) else { return Ok(None) };
        let Some(reached) = ask(&figure.with(&family.layout, &plain, instead))? else { return Ok(None) };
        answers.push(vec![row[0].clone(), Cell::Number(reached)]);
    }
    let mut records = records.clone();
    records.0.insert(REACHED.to_owned(), answers);
    Ok(Some(records))
}
