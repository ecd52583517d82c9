//! Questions beside the plan: what the best plan would be worth if one figure were otherwise. What is right was solved for, once for each
//! question, and is sealed as a fact that no file tells; whoever answers has to plan again.

use super::{Added, Figure, best, fields, figures, outcome, phrasings};
use crate::{
    records::{Cell, Records},
    told::CandidatesText,
    workflow::Planning,
};
use benchwright_project::{Case, Discard, Draw};
use benchwright_schema::{
    Domain,
    plan::{PlanText, RuleText, SlackText, ViewText},
};
use benchwright_spec::{Outcome, Planner};
use std::collections::BTreeMap;

/// The form of the answers.
pub(crate) const FORM: &str = "answers";
/// The table of the questions.
pub(crate) const TABLE: &str = "question";
/// The fact that is the right answer. Under this name a case keeps it too.
pub(crate) const REACHED: &str = "reached";
/// The rule by which answers are judged.
pub(crate) const RULE: &str = "planning/answers";
/// How many questions there are.
const QUESTIONS: usize = 3;
/// How many figures are tried for them.
const TRIES: usize = 15;
/// What a figure would be instead, in percent.
const MOVES: [i64; 6] = [60, 75, 90, 110, 130, 150];

/// What tasks with questions have besides.
pub(super) fn added() -> Added {
    Added {
        data: "[question]\ncode = \"text(1..8) unique\"\nstands = \"text(1..120)\"\nnamed = \"text(1..60)\"\nfor_row = \"text(0..60)\"\ninstead = \"text(1..24)\"\n",
        table: TABLE,
        path: "data/questions.csv",
        says: "figures that might have been otherwise, each a question",
        columns: &[
            ("code", "question", "the question"),
            ("stands", "file", "the file in which the figure stands"),
            ("named", "column", "its column there"),
            ("for_row", "row", "its row, by what tells rows apart; blank where there is one"),
            ("instead", "instead", "what the figure would be instead, in the usual unit"),
        ],
        candidates: (
            FORM,
            CandidatesText {
                per: Some("q in questions".to_owned()),
                fields: fields([("question", "q"), ("value", "reached(q)")]),
                must: false,
            },
        ),
        form: (
            FORM,
            "one row for each question",
            &[
                ("question", "the question, as in questions.csv"),
                (
                    "value",
                    "what the best plan would be worth by the measure above, in hundredths of the currency's unit",
                ),
            ],
        ),
    }
}

/// The rule by which answers are judged, with its view.
pub(super) fn rules(plan: &mut PlanText, _: &Domain) {
    plan.facts.insert(REACHED.to_owned(), "(question): int else 0".to_owned());
    let view = ViewText {
        from: FORM.to_owned(),
        only: None,
        within: Vec::new(),
        key: vec!["question".to_owned()],
        fields: fields([("question", "question: question"), ("value", "int: value")]),
    };
    plan.views.insert(FORM.to_owned(), view);
    let says = [
        "Every question of questions.csv is answered once: what the best plan would be worth if that one figure were the one that is given instead, and all others as they are, to within one half of a percent.",
        "Each question in questions.csv has one answer, which is the worth of the best plan for the figure that is given instead of the one in the file, all else being as it is; half a percent more or less is near enough.",
    ];
    let rule = RuleText {
        code: "ANSWERS".to_owned(),
        family: "answers".to_owned(),
        per: Some("q in questions".to_owned()),
        require: Some(format!(
            "(count {FORM}(question = q)) = 1 and 200 * abs((sum {FORM}(question = q) of value) - {REACHED}(q)) <= abs({REACHED}(q))"
        )),
        says: phrasings(says),
        words: Some("an answer may be off on either side".to_owned()),
        ..RuleText::default()
    };
    plan.rules.insert(RULE.to_owned(), rule);
    let room = SlackText { below: Some(RULE.to_owned()), above: Some(RULE.to_owned()), ..SlackText::default() };
    plan.slack.entry(FORM.to_owned()).or_default().insert("value".to_owned(), room);
}

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
    let mut all = figures(family, &family.told.moves, records).map_err(Discard::Fault)?;
    let mut stream = draw.stream("asked");
    stream.shuffle(&mut all);
    let (mut rows, mut answers) = (Vec::new(), Vec::new());
    for figure in all.iter().take(TRIES) {
        let was = figure.get(family, records);
        let instead = was * stream.pick(&MOVES).copied().unwrap_or(100) / 100;
        let Some([stands, named, row]) = figure.stands(family, records).filter(|_| instead != was && instead != 0)
        else {
            continue;
        };
        let moved = figure.with(family, records, instead);
        let Some(reached) = proved(family, draw, domain, planner, &moved)? else { continue };
        // What changes nothing, or next to nothing, is no question.
        if (reached - value).abs() * 100 <= value.abs() {
            continue;
        }
        let code = format!("Q{}", rows.len() + 1);
        let text = |text: String| Cell::Text(text);
        let instead = figure.written(family, instead);
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
    let figure = Figure::at(family, records, [text(1)?, text(2)?, text(3)?])?;
    let instead = figure.number(family, text(4)?)?;
    Some((figure, instead))
}

/// The answers that a case keeps, by question.
pub(crate) fn kept(records: &Records) -> BTreeMap<String, i64> {
    let rows = records.rows(REACHED).iter();
    rows.filter_map(|row| Some((row.first()?.key(), row.get(1)?.number()?))).collect()
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
        let Some(reached) = ask(&figure.with(family, &plain, instead))? else { return Ok(None) };
        answers.push(vec![row[0].clone(), Cell::Number(reached)]);
    }
    let mut records = records.clone();
    records.0.insert(REACHED.to_owned(), answers);
    Ok(Some(records))
}
