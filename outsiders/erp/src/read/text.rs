//! The instruction: its requests, tests, limits, terms and goal. What it must say in words, because plans depend on it, stands in
//! `needed`.

use super::{
    phrase::{bracketed, count, dates, fixed, gaps, money},
    readings,
    tables::{Row, Table, tables},
};
use crate::job::{Amount, Billing, Deposit, Goal, Intake, Listed, Place, Told, ToldRequest};
use benchwright_base::Date;
use std::collections::BTreeSet;

/// Reads an instruction.
pub(super) fn read(text: &str) -> Result<Told, String> {
    let sentences = sentences(text);
    let today = today(text)?;
    let tables = tables(text)?;
    Ok(Told {
        today,
        goal: goal(text)?,
        requests: requests(&tables, today)?,
        intake: intake(&tables, today)?,
        share: share(&sentences)?,
        budget: budget(&sentences)?,
        billing: billing(text)?,
        never_bought: codes_where(&sentences, &["never bought"]),
        broken: codes_where(&sentences, &["can no longer happen"]),
        withdrawn: codes_where(&sentences, &["may not be used again"]),
        readings: readings::read(text)?,
        closes: text.contains("planning.closed_weekdays") && text.contains("planning.closed_dates"),
    })
}

/// The sentences outside of tables and headings.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['|', '#']));
    lines.flat_map(|line| line.trim_start_matches("- ").split(". ")).filter(|sentence| !sentence.is_empty()).collect()
}

/// The codes in brackets in all sentences that have these words.
pub(super) fn codes_where(sentences: &[&str], words: &[&str]) -> BTreeSet<String> {
    let told = sentences.iter().filter(|sentence| words.iter().all(|word| sentence.contains(word)));
    told.flat_map(|sentence| bracketed(sentence)).map(str::to_owned).collect()
}

/// The date of the opening, which every other sentence about today repeats.
fn today(text: &str) -> Result<Date, String> {
    let opening = text.split("\n## ").next().unwrap_or_default();
    let [today] = dates(opening)[..] else { return Err("the opening does not tell one date".to_owned()) };
    let repeated = sentences(text).into_iter().filter(|sentence| sentence.contains("oday is ")).flat_map(dates);
    let other = repeated.into_iter().find(|date| *date != today);
    other.map_or(Ok(today), |other| Err(format!("today is {today} here and {other} there")))
}

fn goal(text: &str) -> Result<Goal, String> {
    let known = [
        ("any plan that keeps every rule", Goal::Anything),
        ("lowest new spending", Goal::Spending),
        ("fewest suppliers", Goal::Suppliers),
        ("fewest work-centre minutes", Goal::Minutes),
        ("smallest change to the existing plan", Goal::Change),
    ];
    let told: Vec<Goal> = known.iter().filter(|(words, _)| text.contains(words)).map(|(_, goal)| *goal).collect();
    match told[..] {
        [goal @ (Goal::Anything | Goal::Spending)] => Ok(goal),
        [goal] if text.contains("mong those") => Ok(goal),
        [goal] => Err(format!("{goal:?}: nothing is said on equally good plans")),
        _ => Err(format!("there is not one goal: {told:?}")),
    }
}

fn requests(tables: &[Table<'_>], today: Date) -> Result<Vec<ToldRequest>, String> {
    let mut requests: Vec<ToldRequest> = Vec::new();
    for table in tables.iter().filter(|table| table.has("Reference")) {
        let place = place(table)?;
        for row in table.rows() {
            let reference = row.cell("Reference")?.to_owned();
            let head = ["Pre-tax limit", "Limit"].into_iter().find(|head| table.has(head));
            let limit = match head.map(|head| row.cell(head)).transpose()? {
                None | Some("none") => None,
                Some(cell) => Some(money(cell).ok_or_else(|| format!("{reference}: {cell} is no money"))?),
            };
            let listed = (place == Place::Listed).then(|| listed(&row, today)).transpose()?;
            let known = requests.iter_mut().find(|known| known.reference == reference);
            match (known, listed) {
                (None, listed) => requests.push(ToldRequest { reference, place, limit, listed }),
                // A further line of the same request.
                (Some(ToldRequest { listed: Some(known), .. }), Some(more))
                    if (&known.customer, known.due) == (&more.customer, more.due) =>
                {
                    known.lines.extend(more.lines);
                }
                _ => return Err(format!("{reference} stands in two places")),
            }
        }
    }
    if requests.is_empty() { Err("nobody asks for anything".to_owned()) } else { Ok(requests) }
}

fn place(table: &Table<'_>) -> Result<Place, String> {
    let says = |words: &str| table.above.contains(words);
    match (says("draft quotation"), says("confirmed in the system"), says("in the system yet"), table.has("Units")) {
        (true, false, false, false) => Ok(Place::Draft),
        (false, true, false, false) => Ok(Place::Standing),
        (false, false, true, true) => Ok(Place::Listed),
        _ => Err(format!("where do these requests stand? {}", table.above)),
    }
}

fn listed(row: &Row<'_, '_>, today: Date) -> Result<Listed, String> {
    let (units, due) = (row.cell("Units")?, row.cell("Needed by")?);
    let units = count(units).ok_or_else(|| format!("{units} is no number of units"))?;
    let due = Date::parse(due).ok_or_else(|| format!("{due} is no date"))?;
    Ok(Listed {
        customer: row.cell("Customer ref")?.to_owned(),
        lines: vec![(row.cell("Item")?.to_owned(), units)],
        due: i64::from(due.0) - i64::from(today.0),
    })
}

/// The tests of the intake table.
fn intake(tables: &[Table<'_>], today: Date) -> Result<Intake, String> {
    let mut intake = Intake::default();
    for row in tables.iter().filter(|table| table.has("Test")).flat_map(Table::rows) {
        // The test is one sentence, or what is measured, the bound, and which side of it passes.
        let test = match row.cell("A request passes when") {
            Ok(test) => test.to_owned(),
            Err(_) => [row.cell("What is measured")?, row.cell("Bound")?, row.cell("Passes")?].join(", "),
        };
        let test = &*test;
        let odd = || format!("a test is not understood: {test}");
        let bounds = gaps("at least {} and at most {} units", test)
            .or(gaps("its units lie between {} and {}", test))
            .or(gaps("units in all, {} and {}, between them", test));
        let notice = gaps("needed by {} or later, which is {} days from today or more", test)
            .or(gaps("needed-by date lies beyond the bound of {}, which is {} days from today", test));
        let later = gaps("needed-by date, {}, later", test).and_then(|words| Date::parse(words[0]));
        if let Some(bounds) = bounds {
            intake.units = Some((count(bounds[0]).ok_or_else(odd)?, count(bounds[1]).ok_or_else(odd)?));
        } else if let Some(words) = notice {
            let date = Date::parse(words[0]).ok_or_else(odd)?;
            let days = i64::from(date.0) - i64::from(today.0);
            if count(words[1]) != Some(days) {
                return Err(odd());
            }
            intake.notice = Some(days);
        } else if let Some(date) = later {
            intake.notice = Some(i64::from(date.0) - i64::from(today.0));
        } else if MONEY_TESTS.iter().any(|words| test.contains(words)) {
            intake.money = true;
        } else {
            return Err(odd());
        }
    }
    Ok(intake)
}

/// How a customer's limit is held against the value of what it asks for.
const MONEY_TESTS: &[&str] = &[
    "limit is at least its list value",
    "limit lies beyond the bound of its list value",
    "limit, list value, units times list price, more",
];

fn share(sentences: &[&str]) -> Result<Option<i64>, String> {
    let told = sentences.iter().filter(|sentence| sentence.contains("opening stock cannot cover"));
    let shares = told.map(|sentence| {
        let found = gaps("may not exceed {} percent of ", sentence).and_then(|words| fixed(words[0], 2));
        found.ok_or_else(|| format!("a share is not understood: {sentence}"))
    });
    at_most_one(shares.collect::<Result<_, _>>()?, "share of list value")
}

fn budget(sentences: &[&str]) -> Result<Option<i64>, String> {
    let told = sentences.iter().filter(|sentence| sentence.contains("budget for this plan"));
    let amounts = told.map(|sentence| {
        let words = sentence.split_whitespace().map(|word| word.trim_end_matches([',', ':', '.', ';']));
        let amounts: Vec<i64> = words.filter_map(money).collect();
        at_most_one(amounts, "amount")?.ok_or_else(|| format!("a budget without an amount: {sentence}"))
    });
    at_most_one(amounts.collect::<Result<_, String>>()?, "budget")
}

fn at_most_one(found: Vec<i64>, what: &str) -> Result<Option<i64>, String> {
    match found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(format!("there is more than one {what}")),
    }
}

fn billing(text: &str) -> Result<Option<Billing>, String> {
    let days = gaps("payment terms are {} days", text).and_then(|words| count(words[0]));
    let days = days.or(text.contains("payment terms are immediate payment").then_some(0));
    let from = gaps("worth {} or more is billed in two steps", text).and_then(|words| money(words[0]));
    let cents = gaps("eposit is {} per order", text).and_then(|words| money(words[0]));
    let percent = gaps("eposit is {} percent of the order's value", text).and_then(|words| count(words[0]));
    let amount = cents.map(Amount::Cents).or(percent.map(Amount::Percent));
    match (days, from, amount) {
        (None, None, None) => Ok(None),
        (Some(days), None, None) => Ok(Some(Billing { days, deposit: None })),
        (Some(days), Some(from), Some(amount)) => Ok(Some(Billing { days, deposit: Some(Deposit { from, amount }) })),
        _ => Err("billing is told by half".to_owned()),
    }
}
