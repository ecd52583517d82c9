//! What a judge sees of a state, in words for people: why checks fail, the rows that a plan came to beside those of the certified one, and
//! the values of the objective, money as money and days as dates. No verdict depends on it.

use crate::{Grader, frame::Framed};
use benchwright_base::{Date, RelationId, Value, number};
use benchwright_expr::{Binder, Blame, Compare, Source, Type, Wrong, blame, eval::Judge};
use benchwright_pack::{AnswerRows, CheckStatus, PhaseScore, Verdict};
use benchwright_schema::plan::{Body, Cast, ViewField, ViewRows};
use benchwright_world::Terminal;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The set whose members families count from the anchor, as dates are.
const DAYS: &str = "days";
/// The most fields of a row by which it is called.
const FIELDS: usize = 4;

/// A state in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InWords {
    /// Why checks fail, by rule and what they are about.
    pub whys: BTreeMap<(String, Vec<String>), String>,
    /// The rows of the plan, view by view.
    pub rows: Vec<RowsInWords>,
    /// For each phase of the objective what the state is worth, and what is certified.
    pub phases: Vec<(Option<String>, String)>,
    /// The values by which quality is told, where it is: what is proved, what passes, what is worth nothing.
    pub anchors: Option<[String; 3]>,
}

/// The rows of a view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowsInWords {
    /// The view.
    pub view: String,
    /// The names of its fields.
    pub fields: Vec<String>,
    /// The rows of the certified plan.
    pub certified: Vec<Vec<String>>,
    /// The rows of the state.
    pub found: Vec<Vec<String>>,
}

/// An amount with its cents, in groups of three digits.
fn money(cents: i64) -> String {
    let mut text = Vec::new();
    number::write_decimal(&mut text, cents, number::MONEY_DECIMALS, false);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (sign, text) = text.strip_prefix('-').map_or(("", &*text), |rest| ("-", rest));
    let (whole, cents) = text.split_once('.').unwrap_or((text, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}.{cents}")
}

/// A value that names no member.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("nothing".to_owned()),
        Value::Money(cents) => Some(money(*cents)),
        Value::Int(n) => Some(n.to_string()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Text(text) => Some(text.to_string()),
        Value::Date(date) => Some(date.to_string()),
        _ => None,
    }
}

/// What a comparison wants.
fn wanted(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "exactly",
        Compare::Ne => "anything but",
        Compare::Lt => "less than",
        Compare::Le => "at most",
        Compare::Gt => "more than",
        Compare::Ge => "at least",
    }
}

impl Grader<'_> {
    /// A state that was judged, in words. `certified` is the certified plan as it stands in the certificate.
    pub fn in_words<'s>(&self, last: &impl Terminal<'s>, verdict: &Verdict, certified: &Json) -> InWords {
        let rows = self.views(last);
        let mut judge = Judge::new(&rows, last.now());
        judge.facts = &self.bound;
        let mut whys = BTreeMap::new();
        for (rule, ready) in self.plan.rules.iter().zip(&self.rules) {
            let Body::Expr(body) = &rule.body else { continue };
            self.check(rule, ready, &judge, &rows, &Framed::default(), &mut |check, at| {
                if check.status == CheckStatus::Fail
                    && let Some(blamed) = blame(&judge, &rule.per, at, body)
                    && let Some(why) = self.why(&rows, at.len(), &blamed)
                {
                    whys.insert((check.rule.clone(), check.at.clone()), why);
                }
            });
        }
        let anchors = self.verifier.anchors.as_ref();
        let is_money = self.phases_are_money(&judge);
        let phase = |(phase, money): (&PhaseScore, &bool)| {
            (phase.value.map(|value| amount(value, *money)), amount(phase.best, *money))
        };
        InWords {
            whys,
            rows: self.rows_in_words(&rows, certified),
            phases: verdict.phases.iter().zip(&is_money).map(phase).collect(),
            anchors: anchors.map(|anchors| {
                let is_money = is_money.first().copied().unwrap_or_default();
                [anchors.full, anchors.half, anchors.none].map(|value| amount(value, is_money))
            }),
        }
    }

    fn phases_are_money(&self, judge: &Judge<'_, ViewRows>) -> Vec<bool> {
        let phases = self.plan.objectives.get(&self.verifier.objective).map_or(&[][..], |phases| phases);
        phases.iter().map(|phase| matches!(judge.value(&phase.of), Value::Money(_))).collect()
    }

    /// Why a rule fails; the first variables are those of its `per`, which the check names anyway.
    fn why(&self, rows: &ViewRows, named: usize, blamed: &Blame) -> Option<String> {
        let about = blamed.binders.iter().zip(&blamed.at).skip(named);
        let about: Vec<String> = about.map(|(binder, value)| self.called(rows, binder, value)).collect();
        let sides = match &blamed.wrong {
            Wrong::Sides(op, left, right) => plain(left)
                .zip(plain(right))
                .map(|(left, right)| format!("{left} was found, where {} {right} is wanted", wanted(*op))),
            Wrong::Missing(view) => self.view(*view).map(|view| format!("there is no `{view}` that is as it must be")),
            Wrong::Unwanted(view) => self.view(*view).map(|view| format!("there is a `{view}` that must not be")),
            Wrong::Other => None,
        };
        let more = match (blamed.times, about.is_empty()) {
            (1, _) | (_, true) => String::new(),
            (2, false) => ", and so once more".to_owned(),
            (times, false) => format!(", and so {} times more", times - 1),
        };
        match (about.is_empty(), sides) {
            (true, sides) => sides,
            (false, Some(sides)) => Some(format!("{}: {sides}{more}", about.join(", "))),
            (false, None) => Some(format!("not so for {}{more}", about.join(", "))),
        }
    }

    fn view(&self, relation: RelationId) -> Option<&str> {
        let view = relation.index().checked_sub(self.plan.sorts.len())?;
        self.plan.views.get(view).map(|view| &*view.name)
    }

    /// What a variable is bound to.
    fn called(&self, rows: &ViewRows, binder: &Binder, value: &Value) -> String {
        match (&binder.source, value) {
            (Source::Set(set), value) => {
                let (name, ty) = &self.plan.sets[set.index()];
                match (ty, value) {
                    (Type::Ref(sort), Value::Ref(member)) => {
                        short(&self.bound.key_of(sort.index(), *member)).to_owned()
                    }
                    (_, Value::Int(day)) if name == DAYS => self.day(*day),
                    (_, value) => format!("{name} {}", plain(value).unwrap_or_default()),
                }
            }
            (Source::Rows { relation, .. }, Value::Ref(row)) => {
                let view = relation.index().checked_sub(self.plan.sorts.len());
                let known = view.and_then(|view| {
                    let row = rows.views.get(view)?.get((*row as usize).checked_sub(1)?)?;
                    Some((self.plan.views.get(view)?, row))
                });
                let Some((view, row)) = known else { return format!("record {row}") };
                let cells = view.fields.iter().zip(row).filter(|(_, value)| !value.is_null()).take(FIELDS);
                let cells: Vec<String> =
                    cells.map(|(field, value)| format!("{} {}", field.name, self.word(field, value))).collect();
                format!("{} ({})", view.name, cells.join(", "))
            }
            (_, value) => plain(value).unwrap_or_default(),
        }
    }

    fn day(&self, day: i64) -> String {
        self.bound.anchor.add_days(day).map_or_else(|| format!("day {day}"), |date: Date| date.to_string())
    }

    /// A cell of a view.
    fn word(&self, field: &ViewField, value: &Value) -> String {
        match (field.ty, field.cast, value) {
            (_, Cast::Day, Value::Int(day)) => self.day(*day),
            (Type::Ref(sort), _, Value::Ref(member)) => short(&self.bound.key_of(sort.index(), *member)).to_owned(),
            (_, _, Value::Null) => String::new(),
            (.., value) => plain(value).unwrap_or_else(|| format!("{value:?}")),
        }
    }

    /// The rows of the plan beside the certified ones. Views that neither the certified plan nor anybody has written to are left out.
    fn rows_in_words(&self, rows: &ViewRows, certified: &Json) -> Vec<RowsInWords> {
        let Ok(certified) = serde_json::from_value::<AnswerRows>(certified.clone()) else { return Vec::new() };
        let first = self.rows(self.first);
        let views = self.plan.views.iter().enumerate().filter_map(|(at, view)| {
            let known = certified.get(&view.name).map_or(&[][..], |rows| rows);
            let is_new = first.views[at].is_empty() && !rows.views[at].is_empty();
            // A view that is only read has the same fields under other conditions, so what was certified decides.
            if known.is_empty() && !(is_new && self.is_decided(at)) {
                return None;
            }
            let cell = |row: &BTreeMap<String, _>, field: &ViewField| {
                let binding = row.get(&field.name)?;
                Some(self.bound.value(binding, field.ty).map_or_else(String::new, |value| self.word(field, &value)))
            };
            let fields: Vec<usize> = match known.first() {
                Some(row) => (0..view.fields.len()).filter(|at| row.contains_key(&view.fields[*at].name)).collect(),
                None => (0..view.fields.len()).collect(),
            };
            let told = |row: &BTreeMap<String, _>| {
                fields.iter().map(|at| cell(row, &view.fields[*at]).unwrap_or_default()).collect()
            };
            let found = |row: &Vec<Value>| fields.iter().map(|at| self.word(&view.fields[*at], &row[*at])).collect();
            Some(RowsInWords {
                view: view.name.clone(),
                fields: fields.iter().map(|at| view.fields[*at].name.clone()).collect(),
                certified: known.iter().map(told).collect(),
                found: rows.views[at].iter().map(found).collect(),
            })
        });
        views.collect()
    }

    /// Whether a solver decides on the rows of a view.
    fn is_decided(&self, view: usize) -> bool {
        let relation = self.plan.relation_of(view);
        let mut is_read = false;
        for rule in self.plan.rules.iter().filter(|rule| rule.lowered) {
            if let Body::Expr(body) = &rule.body {
                body.reads(&mut |read, _| is_read |= read == relation);
            }
        }
        is_read
    }
}

/// A value of the objective.
fn amount(value: i64, is_money: bool) -> String {
    if is_money { money(value) } else { value.to_string() }
}

/// A key without the name of its sort.
fn short(key: &str) -> &str {
    key.split_once('/').map_or(key, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::money;

    #[test]
    fn money_has_cents_and_groups_of_three() {
        let all = [0, 5, 123_456, -1_234_567_890, 100_000].map(money);
        assert_eq!(all, ["0.00", "0.05", "1,234.56", "-12,345,678.90", "1,000.00"]);
    }
}
