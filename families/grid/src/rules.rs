//! The rules of a domain's grids, made from its words, and the facts that a case binds. A rule is an expression over the view
//! `assign`: the solver reads it over all candidates, the judge over what stands in the open slots at the end.

use super::{
    board::{Board, Op},
    search::given,
    words::{Measure, RuleWords, Words},
};
use benchwright_schema::plan::{Bindings, FrameText, FreeText, ObjectiveText, PartText, PlanText, RuleText, ViewText};
use std::collections::BTreeMap;

/// Day 0; nothing in a grid has a date.
const ANCHOR: &str = "2032-01-05";
/// Every open slot is filled.
pub(crate) const FILLED: &str = "grid/every-slot-filled";
/// The grid was handed in.
pub(crate) const HANDED_IN: &str = "grid/handed-in";
/// Nothing else changed.
pub(crate) const UNCHANGED: &str = "grid/rest-unchanged";

/// The id of the rule for conditions of one kind.
pub(crate) fn condition_rule(field: &str, op: Op) -> String {
    format!("grid/slot-{}-{}", field.replace('_', "-"), op.word().replace('_', "-"))
}

/// The switch that brings such a rule in.
fn switch(field: &str, op: Op) -> String {
    format!("{field}_{}", op.word())
}

/// The key of an open slot.
pub(crate) fn slot_key((row, col): (usize, usize)) -> String {
    format!("slot/{row}-{col}")
}

/// The key of a label.
pub(crate) fn label_key(field: &str, word: &str) -> String {
    format!("label/{field}/{word}")
}

/// The switches of a case: the kinds of conditions it has.
pub(crate) fn switches(words: &Words, board: &Board) -> Vec<String> {
    let fields: Vec<&str> = words.fields().collect();
    let mut found: Vec<String> = board.conditions.iter().map(|c| switch(fields[c.field], c.op)).collect();
    found.sort();
    found.dedup();
    found
}

/// The plan of a domain.
pub(crate) fn plan(words: &Words) -> PlanText {
    let mut plan = PlanText::default();
    for (name, table) in [("slot", "slot"), ("label", "label")] {
        plan.sorts.insert(name.to_owned(), table.to_owned());
    }
    plan.sets.insert("slots".to_owned(), "slot".to_owned());
    plan.sets.insert("lines".to_owned(), "int".to_owned());
    plan.sets.insert("places".to_owned(), "int".to_owned());
    plan.views.insert("assign".to_owned(), assign(words));
    let sent = ViewText {
        from: "board".to_owned(),
        only: Some("done".to_owned()),
        within: Vec::new(),
        key: Vec::new(),
        fields: BTreeMap::from([("rows".to_owned(), "int: rows".to_owned())]),
    };
    plan.views.insert("sent".to_owned(), sent);
    for rule in &words.rule {
        requirement(rule, &mut plan);
    }
    for (place, field) in words.fields().enumerate() {
        let is_label = words.label_at(place).is_some();
        for (op, _) in Op::ALL.into_iter().filter(|(op, _)| matches!(op, Op::Is | Op::IsNot) == is_label) {
            condition(field, op, &mut plan);
        }
    }
    let filled = RuleText {
        code: "GRID.FILLED".to_owned(),
        family: "fill".to_owned(),
        per: Some("s in slots".to_owned()),
        require: Some("(count assign(slot = s)) >= 1".to_owned()),
        ..RuleText::default()
    };
    plan.rules.insert(FILLED.to_owned(), filled);
    let handed_in = RuleText {
        code: "GRID.DONE".to_owned(),
        family: "fill".to_owned(),
        require: Some("exists sent()".to_owned()),
        state_only: true,
        ..RuleText::default()
    };
    plan.rules.insert(HANDED_IN.to_owned(), handed_in);
    let unchanged =
        RuleText { code: "GRID.FRAME".to_owned(), family: "frame".to_owned(), frame: true, ..RuleText::default() };
    plan.rules.insert(UNCHANGED.to_owned(), unchanged);
    plan.objectives.insert("fill".to_owned(), ObjectiveText { phases: Vec::new(), keeps: Vec::new() });
    // There is one way to fill a grid, so every slot is right or wrong.
    let slots = PartText { rows: Some("assign".to_owned()), share: 100, ..PartText::default() };
    plan.parts.insert("slot".to_owned(), slots);
    // Handing in and asking are no work; only what is placed is.
    let fields = |list: &[(&str, &str)]| -> BTreeMap<String, Vec<String>> {
        list.iter().map(|(table, field)| ((*table).to_owned(), vec![(*field).to_owned()])).collect()
    };
    plan.frame = FrameText {
        change: fields(&[("slot", "item")]),
        ignore: fields(&[("meter", "left"), ("board", "done")]),
        apart: Some("given/".to_owned()),
        rule: UNCHANGED.to_owned(),
        ..FrameText::default()
    };
    let asked = FreeText::Because("asking costs questions and earns nothing".to_owned());
    plan.free = BTreeMap::from([("meter".to_owned(), BTreeMap::from([("left".to_owned(), asked)]))]);
    plan
}

fn assign(words: &Words) -> ViewText {
    let mut fields = BTreeMap::from([
        ("slot".to_owned(), "slot: id".to_owned()),
        ("row".to_owned(), "int: row".to_owned()),
        ("item".to_owned(), "int: item.number".to_owned()),
    ]);
    for (place, field) in words.fields().enumerate() {
        let sort = if words.label_at(place).is_some() { "label" } else { "int" };
        fields.insert(field.to_owned(), format!("{sort}: item.{field}"));
    }
    ViewText {
        from: "slot".to_owned(),
        // What is no candidate of a slot does not fill it, whatever its numbers are.
        only: Some("hidden and item != null and item.candidate_of = id".to_owned()),
        within: vec!["slot".to_owned()],
        key: vec!["slot".to_owned()],
        fields,
    }
}

/// What a requirement's facts and sets are called.
fn names(rule: &RuleWords) -> (String, String) {
    let kind = match rule.measure {
        Measure::TotalAtMost => "most",
        Measure::TotalAtLeast => "least",
        Measure::RowAtMost => "line",
        Measure::WordAtMost => "word",
        Measure::ManyAtMost => "many",
    };
    (format!("given_{kind}_{}", rule.of), format!("bound_{kind}_{}", rule.of))
}

fn requirement(rule: &RuleWords, plan: &mut PlanText) {
    let (given, bound) = names(rule);
    let of = &rule.of;
    let (signature, per, require) = match rule.measure {
        Measure::TotalAtMost => ("(): int", None, format!("{given}() + (sum assign() of {of}) <= {bound}()")),
        Measure::TotalAtLeast => ("(): int", None, format!("{given}() + (sum assign() of {of}) >= {bound}()")),
        Measure::RowAtMost => (
            "(int): int",
            Some("r in lines".to_owned()),
            format!("{given}(r) + (sum assign(row = r) of {of}) <= {bound}(r)"),
        ),
        Measure::WordAtMost => {
            plan.sets.insert(format!("words_{of}"), "label".to_owned());
            let require = format!("{given}(w) + (count assign({of} = w)) <= {bound}(w)");
            ("(label): int", Some(format!("w in words_{of}")), require)
        }
        Measure::ManyAtMost => {
            plan.facts.insert(format!("from_{of}"), "(): int".to_owned());
            ("(): int", None, format!("{given}() + (count assign({of} >= from_{of}())) <= {bound}()"))
        }
    };
    plan.facts.insert(given, signature.to_owned());
    plan.facts.insert(bound, signature.to_owned());
    let text = RuleText {
        code: format!("GRID.{}", rule.of.to_uppercase()),
        family: "requirement".to_owned(),
        per,
        require: Some(require),
        says: rule.says.clone(),
        ..RuleText::default()
    };
    plan.rules.insert(rule.id(), text);
}

fn condition(field: &str, op: Op, plan: &mut PlanText) {
    let switch = switch(field, op);
    let compare = match op {
        Op::AtMost => "<=",
        Op::AtLeast => ">=",
        Op::Exactly | Op::Is => "=",
        Op::IsNot => "!=",
    };
    let value = if matches!(op, Op::Is | Op::IsNot) { "label" } else { "int" };
    plan.sets.insert(format!("slots_{switch}"), "slot".to_owned());
    plan.facts.insert(format!("slot_{switch}"), format!("(slot): {value}"));
    let text = RuleText {
        code: format!("SLOT.{}", switch.to_uppercase()),
        family: "condition".to_owned(),
        needs: vec![switch.clone()],
        per: Some(format!("s in slots_{switch}")),
        require: Some(format!("all assign(slot = s) it.{field} {compare} slot_{switch}(s)")),
        ..RuleText::default()
    };
    plan.rules.insert(condition_rule(field, op), text);
}

/// The facts of a case.
pub(crate) fn bindings(words: &Words, board: &Board) -> Bindings {
    let mut facts = Bindings { anchor: ANCHOR.to_owned(), ..Bindings::default() };
    let slots: Vec<String> = board.open.iter().map(|cell| slot_key(board.place(*cell))).collect();
    let keys = |label: &super::words::LabelField| -> Vec<String> {
        label.words.iter().map(|word| label_key(&label.field, word)).collect()
    };
    facts.members.insert("slot".to_owned(), slots.clone());
    facts.members.insert("label".to_owned(), words.label.iter().flat_map(keys).collect());
    facts.set("slots", slots.iter().map(|key| &**key));
    facts.numbers("lines", 1..=board.rows as i64);
    facts.numbers("places", 1..=board.cols as i64);
    for limit in &board.limits {
        let Some(rule) = words.rule.get(limit.rule) else { continue };
        let (given_name, bound_name) = names(rule);
        let at = match rule.measure {
            Measure::RowAtMost => vec![(limit.at + 1).to_string()],
            Measure::WordAtMost => {
                let label = words.label.iter().find(|label| label.field == rule.of);
                let word = label.and_then(|label| label.words.get(limit.at));
                word.map(|word| label_key(&rule.of, word)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let at: Vec<&str> = at.iter().map(|at| &**at).collect();
        facts.fact(&given_name, &at, given(words, board, limit));
        facts.fact(&bound_name, &at, limit.bound);
        if let Some(least) = rule.least {
            facts.fact(&format!("from_{}", rule.of), &[], least);
        }
        if rule.measure == Measure::WordAtMost
            && let Some(label) = words.label.iter().find(|label| label.field == rule.of)
        {
            let keys = keys(label);
            facts.set(&format!("words_{}", rule.of), keys.iter().map(|key| &**key));
        }
    }
    let fields: Vec<&str> = words.fields().collect();
    let mut asked: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for condition in &board.conditions {
        let (field, slot) = (fields[condition.field], &*slots[condition.slot]);
        let switch = switch(field, condition.op);
        match words.label_at(condition.field).and_then(|label| label.words.get(condition.value as usize)) {
            Some(word) => facts.fact_key(&format!("slot_{switch}"), &[slot], &label_key(field, word)),
            None => facts.fact(&format!("slot_{switch}"), &[slot], condition.value),
        }
        asked.entry(format!("slots_{switch}")).or_default().push(slot);
    }
    for (set, slots) in asked {
        facts.set(&set, slots);
    }
    facts
}
