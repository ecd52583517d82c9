//! The instruction, taken apart by its tables and key phrases. Nothing here knows how the text was made; the phrases by which rules
//! and goals are known are declared beside them in `plan.toml`, where those who write texts see them.

use super::super::{
    case::PLAN,
    shop::{Billing, Clauses, Deposit, NeverBought, Screen, Source},
};
use super::{
    clauses,
    figures::{bracketed, dates, decimal, is_code, money, named_codes, number_between, only, only_money, percents},
    notes::span,
};
use benchwright_base::Date;
use benchwright_schema::plan::RuleText;

/// What the instruction says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Told {
    /// Day 0.
    pub(super) today: Date,
    /// The objective, by name.
    pub(super) objective: &'static str,
    /// The codes of the finished products, ascending.
    pub(super) items: Vec<String>,
    /// Whether the company is closed on some days, which system parameters name.
    pub(super) closes: bool,
    /// The requests, in the order of the text.
    pub(super) requests: Vec<Request>,
    /// How they are screened.
    pub(super) screen: Option<Screen>,
    /// How orders are billed.
    pub(super) billing: Option<Billing>,
    /// The lowest margin, in hundredths of a percent.
    pub(super) margin: Option<i64>,
    /// The budget, in cents.
    pub(super) budget: Option<i64>,
    /// The items that are never bought, and the reason where one is given.
    pub(super) never_bought: Vec<(String, Option<NeverBought>)>,
    /// Whether the text says that the item is not built.
    pub(super) never_built: bool,
    /// The suppliers and centres whose documents can no longer happen.
    pub(super) broken: Vec<String>,
    /// The suppliers that may not be used again.
    pub(super) withdrawn: Vec<String>,
    /// The centres that are down, with the first and the last day.
    pub(super) down: Vec<(String, Date, Date)>,
    /// Whether records are around that do not belong to the job.
    pub(super) apart: bool,
    /// How clauses are put that can be put in two ways.
    pub(super) clauses: Clauses,
}

/// A request of a customer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Request {
    /// Its reference.
    pub(super) reference: String,
    /// The most that the customer pays before tax.
    pub(super) limit: Option<i64>,
    /// Where it stands.
    pub(super) source: Source,
    /// What the text says of it, where the system does not.
    pub(super) listed: Option<Listed>,
}

/// A request that is only in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    /// The customer's name.
    pub(super) name: String,
    /// The customer's reference.
    pub(super) customer: String,
    /// The items, and how many of each.
    pub(super) lines: Vec<(String, i64)>,
    /// The day it is needed by.
    pub(super) due: Date,
}

/// The phrases by which a rule is known, as `plan.toml` declares them; what stands for something else is left out.
fn known_by(rule: &str) -> Vec<&'static str> {
    PLAN.rules.get(rule).map_or_else(Vec::new, RuleText::known_by)
}

/// A table, or a line of references, with the paragraph above it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Table<'a> {
    lead: &'a str,
    head: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

/// Reads an instruction.
pub(super) fn read(text: &str) -> Result<Told, String> {
    let sentences = sentences(text);
    let opening: Vec<&str> = text.lines().take_while(|line| !line.starts_with("## ")).collect();
    let opening = opening.join("\n");
    let today = today(&opening, &sentences)?;
    let tables = tables(text)?;
    let is_told = |keeps: &[String]| !keeps.is_empty() && keeps.iter().all(|phrase| text.contains(&**phrase));
    let objectives = PLAN.objectives.iter().filter(|(_, objective)| is_told(&objective.keeps));
    let objectives = objectives.map(|(name, _)| &**name).collect();
    let mut codes = named_codes(&opening);
    codes.sort_unstable();
    codes.dedup();
    let told = Told {
        today,
        objective: only(objectives, "known goal", "the instruction")?,
        items: codes.into_iter().map(str::to_owned).collect(),
        closes: closes(&sentences)?,
        requests: requests(&tables)?,
        screen: screen(&tables, &sentences, today)?,
        billing: billing(&sentences)?,
        margin: margin(&sentences)?,
        budget: one(&sentences, &known_by("erp/budget"))?.map(only_money).transpose()?,
        never_bought: never_bought(&sentences)?,
        never_built: one(&sentences, &known_by("erp/never-made"))?.is_some(),
        broken: coded(one(&sentences, &known_by("erp/broken-documents"))?)?,
        withdrawn: coded(one(&sentences, &known_by("erp/eligible-supplier"))?)?,
        down: down(&sentences)?,
        apart: one(&sentences, &known_by("erp/adjacent-records"))?.is_some(),
        clauses: clauses::read(text, is_neutral(&tables), tables.iter().any(|table| table.has("Limit")))?,
    };
    if told.items.is_empty() {
        return Err(format!("there is no product code in: {}", opening.trim()));
    }
    if told.requests.is_empty() {
        return Err("the instruction lists no request".to_owned());
    }
    Ok(told)
}

/// Whether there are closed days: what names them and what follows from them are told together, or not at all.
fn closes(sentences: &[&str]) -> Result<bool, String> {
    let named = one(sentences, &["planning.closed_weekdays", "planning.closed_dates", "closed"])?;
    let received = one(sentences, &known_by("erp/receipt-open"))?;
    let every_day = one(sentences, &["all calendar days count"])?.or(one(sentences, &["All calendar days count"])?);
    match (named, received, every_day) {
        (Some(_), Some(_), None) => Ok(true),
        (None, None, Some(_)) => Ok(false),
        _ => Err("which days count is told by halves, twice or not at all".to_owned()),
    }
}

/// The sentences outside of tables.
fn sentences(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['|', '#']) && !line.is_empty());
    lines.flat_map(|line| line.strip_prefix("- ").unwrap_or(line).split(". ")).collect()
}

/// The sentence with all of these phrases; two of them are one too many.
fn one<'a>(sentences: &[&'a str], phrases: &[&str]) -> Result<Option<&'a str>, String> {
    let mut found = sentences.iter().filter(|sentence| phrases.iter().all(|phrase| sentence.contains(phrase)));
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => Err(format!("two sentences say the same: {first} / {second}")),
        (first, _) => Ok(first.copied()),
    }
}

/// Day 0: the one date of the opening, which the sentence about calendar days repeats.
fn today(opening: &str, sentences: &[&str]) -> Result<Date, String> {
    let today = only(dates(opening), "date", opening.trim())?;
    let of_plan: Vec<Date> =
        sentences.iter().filter(|text| text.contains("oday")).flat_map(|text| dates(text)).collect();
    let other = of_plan.into_iter().find(|date| *date != today);
    match other {
        Some(other) => Err(format!("today is {today} in one place and {other} in another")),
        None => Ok(today),
    }
}

/// Every table, and every paragraph that only lists references, each with the paragraph above it.
fn tables(text: &str) -> Result<Vec<Table<'_>>, String> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let mut lead = "";
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            let words: Vec<&str> = line.split(", ").collect();
            if words.iter().all(|word| is_code(word)) {
                let rows = words.into_iter().map(|word| vec![word]).collect();
                tables.push(Table { lead, head: vec!["Reference"], rows });
            } else if !line.is_empty() {
                lead = line;
            }
            continue;
        };
        let cells: Vec<&str> = row.strip_suffix('|').unwrap_or(row).split('|').map(str::trim).collect();
        match tables.last_mut().filter(|_| inside) {
            None => tables.push(Table { lead, head: cells, rows: Vec::new() }),
            Some(_) if cells.iter().all(|cell| cell.bytes().all(|byte| matches!(byte, b'-' | b':'))) => {}
            Some(table) if cells.len() == table.head.len() => table.rows.push(cells),
            Some(_) => return Err(format!("a row does not fit its table: {line}")),
        }
        inside = true;
    }
    Ok(tables)
}

impl Table<'_> {
    fn has(&self, column: &str) -> bool {
        self.head.contains(&column)
    }

    /// The cell of a row under a heading.
    fn cell<'a>(&self, row: &[&'a str], column: &str) -> Result<&'a str, String> {
        let at = self.head.iter().position(|head| *head == column);
        let cell = at.and_then(|at| row.get(at)).copied().filter(|cell| !cell.is_empty());
        cell.ok_or_else(|| format!("the row {} has nothing under {column}", row.join(" | ")))
    }
}

fn requests(tables: &[Table<'_>]) -> Result<Vec<Request>, String> {
    let mut requests: Vec<Request> = Vec::new();
    for table in tables.iter().filter(|table| table.has("Reference")) {
        let source = source(table.lead)?;
        if table.has("Customer ref") != (source == Source::Brief) {
            return Err(format!("a list of requests does not hold what is said of it: {}", table.lead));
        }
        for row in &table.rows {
            let reference = table.cell(row, "Reference")?;
            let listed = if source == Source::Brief { Some(listed(table, row)?) } else { None };
            let head = ["Pre-tax limit", "Limit"].into_iter().find(|head| table.has(head));
            let limit = head.map(|head| limit(table.cell(row, head)?)).transpose()?.flatten();
            if let Some(known) = requests.iter_mut().find(|known| known.reference == reference) {
                let same = known.limit == limit;
                let more = known.listed.as_mut().zip(listed).filter(|_| same);
                if !more.is_some_and(|(known, more)| known.join(more)) {
                    return Err(format!("the request {reference} is listed twice, and not as lines of one"));
                }
                continue;
            }
            requests.push(Request { reference: reference.to_owned(), limit, source, listed });
        }
    }
    Ok(requests)
}

impl Listed {
    /// Takes up another line of the same request, if it is one.
    fn join(&mut self, more: Listed) -> bool {
        let same = (&self.name, &self.customer, self.due) == (&more.name, &more.customer, more.due);
        let fresh = more.lines.iter().all(|(item, _)| self.lines.iter().all(|(known, _)| known != item));
        if same && fresh {
            self.lines.extend(more.lines);
        }
        same && fresh
    }
}

/// Where the requests of a list stand, by what is said above it.
fn source(lead: &str) -> Result<Source, String> {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lead.contains(phrase));
    let known = [
        (Source::Draft, says(&["draft quotation"])),
        (Source::Confirmed, says(&["confirmed in the system"])),
        (Source::Brief, says(&["not in the system yet", "one is in the system yet"])),
    ];
    only(known.iter().filter(|(_, said)| *said).map(|(source, _)| *source).collect(), "place of these requests", lead)
}

fn listed(table: &Table<'_>, row: &[&str]) -> Result<Listed, String> {
    let cell = |column| table.cell(row, column);
    let (units, due) = (cell("Units")?, cell("Needed by")?);
    Ok(Listed {
        name: cell("Customer")?.to_owned(),
        customer: cell("Customer ref")?.to_owned(),
        lines: vec![(
            cell("Item")?.to_owned(),
            decimal(units, 0).ok_or_else(|| format!("{units} is no number of units"))?,
        )],
        due: Date::parse(due).ok_or_else(|| format!("{due} is no date"))?,
    })
}

fn limit(cell: &str) -> Result<Option<i64>, String> {
    match cell {
        "none" => Ok(None),
        cell => money(cell).map(Some).ok_or_else(|| format!("{cell} is no amount of money")),
    }
}

/// Whether a test is one of notice.
fn is_notice(test: &str) -> bool {
    (test.contains("needed by") && test.contains("or later"))
        || test.contains("needed-by date lies beyond the bound of")
}

/// Whether a test is one of money.
fn is_money(test: &str) -> bool {
    ["limit is at least its list value", "limit lies beyond the bound of its list value"]
        .iter()
        .any(|phrase| test.contains(phrase))
}

/// Whether the tests of intake say nothing of a value exactly on the bound.
fn is_neutral(tables: &[Table<'_>]) -> bool {
    let tests = tables.iter().filter(|table| table.has("Test")).flat_map(|table| &table.rows);
    tests.flatten().any(|cell| cell.contains(" lie between ") || cell.contains(" lies beyond the bound of "))
}

/// The intake rules: a table of tests, all of which a request must pass.
fn screen(tables: &[Table<'_>], sentences: &[&str], today: Date) -> Result<Option<Screen>, String> {
    let found: Vec<&Table<'_>> = tables.iter().filter(|table| table.has("Test")).collect();
    let Some(first) = found.first() else {
        let rules = sentences.iter().find(|sentence| sentence.contains("intake rules"));
        return rules.map_or(Ok(None), |rules| Err(format!("there are intake rules, but no table of them: {rules}")));
    };
    only(found.clone(), "table of tests", "the instruction")?;
    one(sentences, &["passes all of these tests"])?
        .or(one(sentences, &["pass all of these tests"])?)
        .ok_or("nothing says that a request must pass all tests")?;
    let mut screen = Screen { window: None, lead: None, limit: false };
    for row in &first.rows {
        let test = first.cell(row, "A request passes when")?;
        let fault = || format!("a test is not understood or stands twice: {test}");
        let window = number_between(test, "at least ", " and at most ").zip(number_between(test, "at most ", " units"));
        let between = number_between(test, "its units lie between ", " and ")
            .zip(test.rsplit_once(" and ").and_then(|(_, high)| decimal(high, 0)));
        let window = window.or(between);
        if window.is_some() && screen.window.is_none() {
            screen.window = window;
        } else if is_notice(test) && screen.lead.is_none() {
            let date = only(dates(test), "date", test)?;
            let days = i64::from(date.0 - today.0);
            let said = number_between(test, "which is ", " days from today").ok_or_else(fault)?;
            if said != days {
                return Err(format!("{date} is {days} days from today, but the test says: {test}"));
            }
            screen.lead = Some(days);
        } else if is_money(test) && !screen.limit {
            screen.limit = true;
        } else {
            return Err(fault());
        }
    }
    Ok(Some(screen))
}

fn billing(sentences: &[&str]) -> Result<Option<Billing>, String> {
    let deposit = deposit(sentences)?;
    let Some(terms) = one(sentences, &known_by("erp/order-terms"))? else {
        return deposit.map_or(Ok(None), |_| Err("there is a deposit, but no payment terms".to_owned()));
    };
    let days = match number_between(terms, "payment terms are ", " days") {
        Some(days) => days,
        None if terms.contains("payment terms are immediate payment") => 0,
        None => return Err(format!("the payment terms are not understood: {terms}")),
    };
    Ok(Some(Billing { days, deposit }))
}

fn deposit(sentences: &[&str]) -> Result<Option<Deposit>, String> {
    let amount = one(sentences, &known_by("erp/deposit-invoice"))?;
    let from = one(sentences, &["or more is billed in two steps"])?;
    let (amount, from) = match (amount, from) {
        (None, None) => return Ok(None),
        (Some(amount), Some(from)) => (amount, only_money(from)?),
        (Some(said), None) | (None, Some(said)) => return Err(format!("only half of the deposit is told: {said}")),
    };
    let shares = percents(amount);
    if shares.is_empty() {
        return Ok(Some(Deposit { from, fixed: Some(only_money(amount)?), percent: None }));
    }
    let share = only(shares, "share", amount)?;
    if share % 100 != 0 {
        return Err(format!("the deposit is no whole percentage: {amount}"));
    }
    Ok(Some(Deposit { from, fixed: None, percent: Some(share / 100) }))
}

/// What spending leaves of the list-price value.
fn margin(sentences: &[&str]) -> Result<Option<i64>, String> {
    let said = one(sentences, &known_by("erp/margin"))?;
    said.map(|said| Ok(10_000 - only(percents(said), "share", said)?)).transpose()
}

/// The codes that a sentence has in brackets; there must be some.
fn coded(sentence: Option<&str>) -> Result<Vec<String>, String> {
    let Some(sentence) = sentence else { return Ok(Vec::new()) };
    let codes: Vec<String> = bracketed(sentence).into_iter().map(str::to_owned).collect();
    if codes.is_empty() { Err(format!("no name in brackets in: {sentence}")) } else { Ok(codes) }
}

/// The entries of a sentence that ends in a list: `…: one; another (B-2), with a reason.`
fn entries(sentence: &str) -> Result<Vec<(&str, &str)>, String> {
    let (_, list) = sentence.split_once(": ").ok_or_else(|| format!("no list in: {sentence}"))?;
    list.split("; ").map(|entry| Ok((only(bracketed(entry), "name in brackets", entry)?, entry))).collect()
}

fn never_bought(sentences: &[&str]) -> Result<Vec<(String, Option<NeverBought>)>, String> {
    let Some(said) = one(sentences, &known_by("erp/never-bought"))? else { return Ok(Vec::new()) };
    let reasons = [
        ("company policy", NeverBought::Policy),
        ("no buying route", NeverBought::Design),
        ("no supplier offers", NeverBought::Market),
    ];
    let read = |(code, entry): (&str, &str)| {
        let reason = reasons.iter().find(|(phrase, _)| entry.contains(phrase)).map(|(_, reason)| *reason);
        if reason.is_none() && entry.contains("which") {
            return Err(format!("the reason is not understood: {entry}"));
        }
        Ok((code.to_owned(), reason))
    };
    entries(said)?.into_iter().map(read).collect()
}

fn down(sentences: &[&str]) -> Result<Vec<(String, Date, Date)>, String> {
    let Some(said) = one(sentences, &known_by("erp/centre-down"))? else { return Ok(Vec::new()) };
    let read = |(code, entry): (&str, &str)| span(entry).map(|(from, to)| (code.to_owned(), from, to));
    entries(said)?.into_iter().map(read).collect()
}
