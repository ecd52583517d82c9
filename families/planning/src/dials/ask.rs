//! Questions beside the plan: what the best plan would be worth if one figure were otherwise. What is right was solved for, once for each
//! question, and is sealed as a fact that no file tells; whoever answers has to plan again.

use super::added::{Added, fields, phrasings};
use crate::{dial::ANSWERS, records::Records, told::CandidatesText};
use benchwright_schema::{
    Domain,
    plan::{PlanText, RuleText, SlackText, ViewText},
};
use std::collections::BTreeMap;

/// The form of the answers.
const FORM: &str = ANSWERS;
/// The table of the questions.
pub(crate) const TABLE: &str = "question";
/// The fact that is the right answer. Under this name a case keeps it too.
pub(crate) const REACHED: &str = "reached";
/// The rule by which answers are judged.
pub(crate) const RULE: &str = "planning/answers";

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
        candidates: Some((
            FORM,
            CandidatesText {
                per: Some("q in questions".to_owned()),
                fields: fields([("question", "q"), ("value", "reached(q)")]),
                must: false,
            },
        )),
        form: Some((
            FORM,
            "one row for each question",
            &[
                ("question", "the question, as in questions.csv"),
                (
                    "value",
                    "what the best plan would be worth by the measure above, in hundredths of the currency's unit",
                ),
            ],
        )),
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

/// The answers that a case keeps, by question.
pub(crate) fn kept(records: &Records) -> BTreeMap<String, i64> {
    let rows = records.rows(REACHED).iter();
    rows.filter_map(|row| Some((row.first()?.key(), row.get(1)?.number()?))).collect()
}
