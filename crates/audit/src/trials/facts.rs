//! Facts against what they are facts of, without the family: it writes text, world and facts, and reads them back, so a
//! fault in how it states facts would be on both sides of every comparison.

use crate::Subject;
use benchwright_base::{Date, RelationId, Value};
use benchwright_expr::Type;
use benchwright_schema::plan::{Binding, Bindings};
use std::collections::BTreeSet;

/// Numbers in a line of a table of the instruction that begins with a member, and that are no fact of that member.
pub(super) fn odd_lines(subject: &Subject<'_>) -> Vec<String> {
    let facts = &subject.task.sealed.verifier.bindings;
    let mut odd = Vec::new();
    for line in subject.task.instruction.lines().filter_map(|line| line.strip_prefix('|')) {
        let mut cells = line.split('|').map(str::trim);
        let named = cells.next().unwrap_or_default();
        let Some(key) = facts.members.values().flatten().find(|key| key.split('/').next_back() == Some(named)) else {
            continue;
        };
        let known = stated(facts, &BTreeSet::from([&**key]), &|_| true);
        let wrong = cells.filter(|cell| number(cell, &facts.anchor).is_some_and(|number| !known.contains(&number)));
        odd.extend(wrong.map(|cell| format!("`{cell}` stands in the line of {named}, and is no fact of it")));
    }
    odd
}

/// Numbers in a record that ties two members together, and that are no fact of the two.
pub(super) fn odd_rows(subject: &Subject<'_>) -> Vec<String> {
    let verifier = &subject.task.sealed.verifier;
    let members: BTreeSet<&str> = verifier.bindings.members.values().flatten().map(|key| &**key).collect();
    let mut odd = Vec::new();
    for (at, table) in subject.first.tables.iter().enumerate() {
        let declared = subject.domain.table(RelationId(at as u16));
        for row in &table.rows {
            let key = |(field, value): (&benchwright_schema::Field, &Value)| match (field.ty, value) {
                (Type::Ref(to), Value::Ref(id)) => {
                    let key = verifier.keys.get(&subject.domain.table(to).name)?.get(id)?;
                    members.get(&**key).copied()
                }
                _ => None,
            };
            let tied: BTreeSet<&str> = declared.fields.iter().zip(row).skip(1).filter_map(key).collect();
            // A fact of these two and of a third one says nothing of a record that ties the two.
            let known = match tied.len() {
                2 => stated(&verifier.bindings, &tied, &|argument| {
                    tied.contains(argument) || !members.contains(argument)
                }),
                _ => BTreeSet::new(),
            };
            if known.is_empty() {
                continue;
            }
            for (field, value) in declared.fields.iter().zip(row).skip(1) {
                let number = match value {
                    Value::Int(number) | Value::Money(number) => *number,
                    Value::Quantity(thousandths) => thousandths / 1000,
                    _ => continue,
                };
                if number != 0 && !known.contains(&number) {
                    odd.push(format!("{} of {tied:?} is {number} in the world, which is no fact of them", field.name));
                }
            }
        }
    }
    odd
}

/// What facts say of some members together, and of whatever else they may speak of: their values, and the numbers among their
/// arguments.
fn stated(facts: &Bindings, members: &BTreeSet<&str>, may: &dyn Fn(&str) -> bool) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for (arguments, value) in facts.facts.values().flatten() {
        let arguments: Vec<&str> = arguments.split('|').collect();
        if members.iter().all(|member| arguments.contains(member)) && arguments.iter().all(|argument| may(argument)) {
            found.extend(arguments.iter().filter_map(|argument| argument.parse::<i64>().ok()));
            if let Binding::Number(number) = value {
                found.insert(*number);
            }
        }
    }
    found
}

/// A cell as a number: a count, money in cents, or a date in days from the anchor.
fn number(cell: &str, anchor: &str) -> Option<i64> {
    if let Some(date) = Date::parse(cell) {
        return Some(i64::from(date.0) - i64::from(Date::parse(anchor)?.0));
    }
    let digits = |text: &str| text.replace(',', "").parse::<i64>().ok();
    match cell.strip_prefix('$') {
        Some(money) => money.split_once('.').and_then(|(dollars, cents)| Some(digits(dollars)? * 100 + digits(cents)?)),
        None => digits(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counts_money_and_days() {
        assert_eq!(number("12", "2032-03-01"), Some(12));
        assert_eq!(number("$1,234.50", "2032-03-01"), Some(123_450));
        assert_eq!(number("2032-03-05", "2032-03-01"), Some(4));
        assert_eq!(number("none", "2032-03-01"), None);
        assert_eq!(number("C-104", "2032-03-01"), None);
    }

    #[test]
    fn facts_are_of_all_their_members() {
        let mut facts = Bindings::default();
        facts.fact("lead", &["v/1", "p/1"], 3);
        facts.fact("price", &["v/1", "p/1", "20"], 500);
        facts.fact("lead", &["v/1", "p/2"], 7);
        assert_eq!(stated(&facts, &BTreeSet::from(["v/1", "p/1"]), &|_| true), BTreeSet::from([3, 20, 500]));
        assert_eq!(stated(&facts, &BTreeSet::from(["v/1"]), &|_| true), BTreeSet::from([3, 7, 20, 500]));
    }
}
