//! Too much is wanted: no plan keeps all limits, which is proved, and some of them can be waived, each at its price for a unit. The best
//! plan waives as little as it has to, where that costs least. A limit that may be waived is a knob; in every rule that speaks of it stands
//! the limit with what is waived of it.

use super::{
    added::{Added, fields, phrasings},
    figures::Figure,
};
use crate::{
    dial::WAIVERS,
    layout::{Kind, Layout},
    records::{Cell, Records},
    tokens::{has_word, with_calls},
    told::{CandidatesText, Told},
    written::Written,
};
use benchwright_schema::plan::{Binding, Bindings, PlanText, RuleText, Sense, ViewText};

/// The form of what is waived.
pub(crate) const FORM: &str = WAIVERS;
/// The table of the limits that may be.
pub(crate) const TABLE: &str = "limit";
/// The rule of the form.
pub(crate) const RULE: &str = "planning/waivers";
/// What a limit becomes that is waived.
pub(crate) const HIGHER: &str = "higher";
pub(crate) const LOWER: &str = "lower";

/// What tasks with waivers have besides.
pub(super) fn added() -> Added {
    Added {
        data: "[limit]\ncode = \"text(1..8) unique\"\nstands = \"text(1..120)\"\nnamed = \"text(1..60)\"\nfor_row = \"text(0..60)\"\nbecomes = \"text(1..8)\"\nwaiver_price = \"money\"\nwaiver_most = \"int(1..)\"\n",
        table: TABLE,
        path: "data/limits.csv",
        says: "the limits that may be waived, each at its price",
        columns: &[
            ("code", "limit", "the limit"),
            ("stands", "file", "the file in which it stands"),
            ("named", "column", "its column there"),
            ("for_row", "row", "its row, by what tells rows apart; blank where there is one"),
            ("becomes", "becomes", "whether a unit that is waived makes it one higher or one lower"),
            ("waiver_price", "price", "price of waiving it by one unit"),
            ("waiver_most", "most", "the most units by which it may be waived"),
        ],
        candidates: Some((
            FORM,
            CandidatesText {
                per: Some("l in limits".to_owned()),
                fields: fields([("limit", "l"), ("amount", "1 .. waiver_most(l)")]),
                must: false,
            },
        )),
        form: Some((
            FORM,
            "one row for each limit that is waived",
            &[("limit", "the limit, as in limits.csv"), ("amount", "by how many units it is waived")],
        )),
    }
}

/// The columns of knobs whose limits can be waived: whole numbers of which rules speak, and nothing else does. Bundles are made of what
/// their rules allow, which no waiver may change.
pub(crate) fn waivable<'t>(layout: &Layout, told: &'t Told, plan: &PlanText) -> Vec<&'t String> {
    let rules = plan.rules.values().flat_map(|rule| [&rule.per, &rule.applies]).flatten();
    let phases = plan.objectives.values().flat_map(|objective| &objective.phases).map(|phase| &phase.of);
    let computed = told.computed.iter().flat_map(|fact| fact.per.iter().chain([&fact.is]));
    let rows = told.candidates.values().flat_map(|rows| rows.per.iter().chain(rows.fields.values()));
    let elsewhere: Vec<String> =
        rules.chain(phases).chain(computed).chain(rows).map(|text| plan.spelled_out(text)).collect();
    let is_plain = |fact: &str| !elsewhere.iter().any(|text| has_word(text, fact));
    let is_whole = |column: &str| {
        let (table, name) = column.split_once('.')?;
        let known = layout.table(table)?.columns.iter().find(|known| known.name == name)?;
        Some(known.kind == Kind::Int)
    };
    let knobs = told.knob.iter().filter(|_| told.bundle.is_empty()).map(|knob| &knob.column);
    knobs.filter(|column| is_plain(fact(column)) && is_whole(column) == Some(true)).collect()
}

/// The column of a knob as a fact.
pub(crate) fn fact(column: &str) -> &str {
    column.split_once('.').map_or(column, |(_, fact)| fact)
}

/// The fact that says which limit stands for which place of another fact.
fn waived(fact: &str) -> String {
    format!("{fact}_waived")
}

/// Puts what is waived beside every limit, and its price into the objective.
pub(super) fn rules(layout: &Layout, told: &mut Told, plan: &mut PlanText) -> Result<(), String> {
    let columns: Vec<String> = waivable(layout, told, plan).into_iter().cloned().collect();
    if columns.is_empty() {
        return Err("a tier with the dial `over` needs a knob whose limit only rules speak of".to_owned());
    }
    for column in &columns {
        let name = fact(column);
        let table = column.split_once('.').and_then(|(table, _)| layout.table(table));
        let table = table.ok_or_else(|| format!("the knob `{column}` is no column of the records"))?;
        let arguments: Vec<String> =
            layout.arguments(table).into_iter().map(|(_, argument)| format!(", {}", argument.name())).collect();
        plan.facts.insert(waived(name), format!("({TABLE}{}): int else 0", arguments.concat()));
        let least = told.knob.iter().any(|knob| knob.column == *column && knob.least);
        let sign = if least { "-" } else { "+" };
        let put = |arguments: &str| {
            let comma = if arguments.trim().is_empty() { "" } else { ", " };
            format!(
                "({name}({arguments}) {sign} (sum waived in limits where {}(waived{comma}{arguments}) = 1 of (sum {FORM}(limit = waived) of amount)))",
                waived(name)
            )
        };
        let lets = plan.clone();
        for rule in plan.rules.values_mut() {
            let Some(text) = &mut rule.require else { continue };
            let spelled = lets.spelled_out(text);
            if has_word(&spelled, name) {
                *text = with_calls(&spelled, name, &put);
                // What was a bound on what is planned is now one on what is waived too.
                rule.words.get_or_insert_with(|| "its limit may be waived".to_owned());
            }
        }
    }
    for phase in plan.objectives.values_mut().flat_map(|objective| &mut objective.phases) {
        let sign = if phase.sense == Some(Sense::Max) { "-" } else { "+" };
        phase.of = format!("({}) {sign} (sum {FORM}() of waiver_price(limit) * amount)", phase.of);
    }
    let prices = match plan.objectives.values().flat_map(|objective| &objective.phases).any(|phase| phase.sign() < 0) {
        true => "The prices of all waivers are taken off.",
        false => "The prices of all waivers are added to it.",
    };
    for goal in &mut told.brief.goal {
        *goal = format!("{goal} {prices}");
    }
    let view = ViewText {
        from: FORM.to_owned(),
        only: None,
        within: Vec::new(),
        key: vec!["limit".to_owned()],
        fields: fields([("limit", "limit: limit"), ("amount", "int: amount")]),
    };
    plan.views.insert(FORM.to_owned(), view);
    let says = [
        "There is no plan that keeps all limits. Those of limits.csv, and no others, may be waived: each unit that is waived of a limit makes it one higher or one lower, as limits.csv says, and costs its price; no limit is waived by more units than its most.",
        "Not every limit can be kept. A limit that stands in limits.csv, and only such a limit, may be waived unit by unit, up to its most and each unit for its price; with every unit it is one higher, or one lower, whichever limits.csv says.",
    ];
    let rule = RuleText {
        code: "WAIVERS".to_owned(),
        family: "waivers".to_owned(),
        require: Some(format!("for w in {FORM}(): w.amount <= waiver_most(w.limit)")),
        says: phrasings(says),
        words: Some("it tells of limits on either side".to_owned()),
        ..RuleText::default()
    };
    plan.rules.insert(RULE.to_owned(), rule);
    Ok(())
}

/// Whether a limit is a lower one.
pub(crate) fn is_least(layout: &Layout, told: &Told, figure: &Figure) -> bool {
    let column = figure.column(layout);
    told.knob.iter().any(|knob| knob.column == column && knob.least)
}

/// Says which limit stands for which place of a fact.
pub(crate) fn bind(
    (layout, told, written): (&Layout, &Told, &Written),
    records: &Records,
    bound: &mut Bindings,
) -> Result<(), String> {
    for row in records.rows(TABLE) {
        let texts: Vec<String> = row.iter().take(5).map(Cell::key).collect();
        let [code, stands, named, at, becomes] = &texts[..] else { continue };
        let figure = Figure::at((layout, written), records, [stands, named, at]);
        let figure = figure.ok_or_else(|| format!("the limit `{code}` stands nowhere"))?;
        let way = if is_least(layout, told, &figure) { LOWER } else { HIGHER };
        if becomes != way {
            return Err(format!("the limit `{code}` does not become {becomes} when it is waived"));
        }
        let (fact, at) = figure.fact(layout, records);
        let at = if at.is_empty() { code.clone() } else { format!("{code}|{at}") };
        bound.facts.entry(waived(&fact)).or_default().insert(at, Binding::Number(1));
    }
    Ok(())
}
