//! The script knows nothing that an agent could not know: it holds no id, and every literal in it stands in the instruction, in the
//! domain's own words or in its defaults. All else it finds in answers.

use super::{RequestSubject, finding};
use crate::{Finding, Held};
use benchwright_base::{Date, DateTime, Value, date::MONTHS};
use benchwright_expr::Type;
use benchwright_schema::{Tool, codec};
use serde_json::Value as Json;
use std::collections::BTreeSet;

const NUMBERS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Every literal of the script is known to whoever has the instruction and the domain's declarations.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(all(subject))
}

/// What is known before anything is read.
struct Book<'s, 'a> {
    subject: &'s RequestSubject<'a>,
    /// The instruction in lower case, underscores as blanks.
    text: String,
    /// Words of the domain: of enumerations, names of tables and fields, defaults.
    words: BTreeSet<String>,
    /// Every number in the instruction and in the domain's rules.
    numbers: BTreeSet<String>,
    literals: usize,
    faults: Vec<String>,
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace('_', " ")
}

/// How people write a number in words.
fn spelled(number: usize) -> Vec<String> {
    let mut words: Vec<String> = NUMBERS.get(number).map(|word| (*word).to_owned()).into_iter().collect();
    if let (Some(ten), true) = (TENS.get(number / 10), (20..100).contains(&number)) {
        match number % 10 {
            0 => words.push((*ten).to_owned()),
            one => words.extend([format!("{ten}-{}", NUMBERS[one]), format!("{ten} {}", NUMBERS[one])]),
        }
    }
    let more: &[&str] = match number {
        1 => &["once"],
        2 => &["twice"],
        7 => &["week"],
        12 => &["dozen"],
        14 => &["fortnight", "two weeks"],
        15 => &["quarter of an hour"],
        21 => &["three weeks"],
        24 => &["day"],
        28 => &["four weeks"],
        30 => &["half an hour"],
        45 => &["three quarters of an hour"],
        60 => &["hour"],
        _ => &[],
    };
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words
}

fn numbers_of(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.trim_start_matches('0').to_owned()).collect()
}

impl<'s, 'a> Book<'s, 'a> {
    fn of(subject: &'s RequestSubject<'a>) -> Book<'s, 'a> {
        let domain = &subject.domain;
        let mut words: BTreeSet<String> = BTreeSet::new();
        let mut numbers = numbers_of(&subject.task.instruction);
        for known in &domain.enums {
            words.extend(known.words.iter().map(|word| plain(word)));
        }
        for table in &domain.tables {
            words.extend([plain(&table.name), plain(table.own_name())]);
            for field in &table.fields {
                words.insert(plain(&field.name));
                if let Some(default) = &field.default {
                    let shown = codec::show_value(domain, field.ty, default);
                    numbers.extend(numbers_of(&shown));
                    words.insert(plain(&shown));
                }
            }
        }
        words.extend(domain.rules.iter().map(|rule| plain(&rule.id)));
        words.extend(subject.scenario.cast.iter().map(|member| plain(&member.name)));
        words.extend(subject.effects.answer.iter().map(|answer| plain(&answer.of)));
        let rules = domain.rules.iter().flat_map(|rule| numbers_of(&rule.require));
        numbers.extend(rules);
        let text = plain(&subject.task.instruction);
        Book { subject, text, words, numbers, literals: 0, faults: Vec::new() }
    }

    fn knows_number(&self, number: &str) -> bool {
        let words = number.parse().map(spelled).unwrap_or_default();
        let number = number.trim_start_matches('0');
        number.is_empty() || self.numbers.contains(number) || words.iter().any(|word| self.text.contains(&**word))
    }

    fn knows_day(&self, day: Date) -> bool {
        let (year, month, date) = day.civil();
        let name = MONTHS[(month as usize).saturating_sub(1).min(11)].to_lowercase();
        let forms = [
            day.to_string(),
            format!("{date} {name} {year}"),
            format!("{name} {date}, {year}"),
            format!("{date:02}.{month:02}.{year}"),
        ];
        forms.iter().any(|form| self.text.contains(form.as_str()))
    }

    /// Whether a text is known: it stands in the instruction, or is a word of the domain, or a day that is told.
    fn knows(&self, text: &str) -> bool {
        let lower = plain(text.trim());
        if lower.is_empty() || self.text.contains(&lower) || self.words.contains(&lower) {
            return true;
        }
        if let Some(at) = DateTime::parse(text) {
            return self.knows_day(at.date()) && self.text.contains(&at.time().to_string()[..5]);
        }
        Date::parse(text).is_some_and(|day| self.knows_day(day))
    }

    fn literal(&mut self, place: &str, text: &str) {
        self.literals += 1;
        if !self.knows(text) {
            self.faults.push(format!("{place}: `{text}` is said nowhere"));
        }
    }

    /// The literals of an expression: quoted texts, and numbers that stand alone.
    fn expression(&mut self, place: &str, text: &str) {
        for (at, part) in text.split('\'').enumerate() {
            if at % 2 == 1 {
                self.literal(place, part);
                continue;
            }
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            for word in part.split(|c: char| !is_name(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            {
                self.literals += 1;
                if !word.split('.').all(|part| self.knows_number(part)) {
                    self.faults.push(format!("{place}: the number {word} of `{text}` is said nowhere"));
                }
            }
        }
    }

    /// The figures of a text.
    fn figures(&mut self, place: &str, text: &str) {
        for number in numbers_of(text) {
            self.literals += 1;
            if !self.knows_number(&number) {
                self.faults.push(format!("{place}: the text `{text}` has a number of its own"));
            }
        }
    }

    /// Whether a text stands in some cell of the world.
    fn is_there(&self, text: &str) -> bool {
        let cells = self.subject.first.tables.iter().flat_map(|table| table.rows.iter().flatten());
        cells.filter_map(Value::as_text).any(|known| known == text)
    }

    fn argument(&mut self, place: &str, tool: &Tool, name: &str, value: &Json) {
        match value {
            Json::Object(map) => {
                if let (1, Some(Json::Array(parts))) = (map.len(), map.get("$show")) {
                    // An expression and its form, or a set, a form and the expression for each of its rows.
                    let at = if parts.len() > 2 { 2 } else { 0 };
                    parts.get(at).and_then(Json::as_str).into_iter().for_each(|text| self.expression(place, text));
                    return;
                }
                match (map.len(), map.get("$"), map.get("$text"), map.get("$each").or(map.get("$list"))) {
                    (1, Some(Json::String(text)), _, _) => self.expression(place, text),
                    (1, _, Some(Json::Array(parts)), _) => {
                        for part in parts {
                            match part {
                                // Words are the writer's own; figures are not.
                                Json::String(text) => {
                                    for number in numbers_of(text) {
                                        self.literals += 1;
                                        if !self.knows_number(&number) {
                                            self.faults
                                                .push(format!("{place}: the text `{text}` has a number of its own"));
                                        }
                                    }
                                }
                                other => self.argument(place, tool, name, other),
                            }
                        }
                    }
                    (1, _, _, Some(Json::Array(parts))) => {
                        for part in parts.iter().skip(1) {
                            match part {
                                Json::String(text) => self.expression(place, text),
                                row => self.argument(place, tool, name, row),
                            }
                        }
                    }
                    _ => map.iter().for_each(|(key, value)| self.argument(place, tool, key, value)),
                }
            }
            Json::Array(list) => list.iter().for_each(|value| self.argument(place, tool, name, value)),
            // Of a text in the writer's own words only figures could come from nowhere.
            Json::String(text) if is_prose(self.subject, tool, name) => self.figures(place, text),
            // Why a request is declined is read in the world, like all else.
            Json::String(text) if name == "record" && self.is_there(text) => {}
            Json::String(text) => self.literal(place, text),
            // How long a page is concerns nobody.
            Json::Number(_) if matches!(name, "limit" | "offset") => {}
            Json::Number(number) => {
                self.literals += 1;
                let text = number.to_string();
                if is_id(self.subject, tool, name) {
                    self.faults.push(format!("{place}: `{name}` is the id {number}, which only an answer gives"));
                } else if !text.split('.').all(|part| self.knows_number(part.trim_start_matches('-'))) {
                    self.faults.push(format!("{place}: {number} is said nowhere"));
                }
            }
            Json::Bool(_) | Json::Null => {}
        }
    }
}

/// Whether an argument of a tool is a text in the writer's own words.
fn is_prose(subject: &RequestSubject<'_>, tool: &Tool, name: &str) -> bool {
    if let Some(native) = &tool.native {
        let argument = native.takes.iter().find(|argument| argument.cell.name == name);
        return argument.is_some_and(|argument| argument.cell.ty == Type::Text);
    }
    let children = tool.with.iter().map(|child| child.table);
    tool.table.into_iter().chain(children).any(|table| {
        let declared = subject.domain.table(table);
        declared.field_named(name).is_some_and(|field| declared.field(field).prose)
    })
}

/// Whether an argument of a tool is a reference to a row.
fn is_id(subject: &RequestSubject<'_>, tool: &Tool, name: &str) -> bool {
    if name == "id" || name == "ids" {
        return true;
    }
    if let Some(native) = &tool.native {
        let argument = native.takes.iter().find(|argument| argument.cell.name == name);
        return argument.is_some_and(|argument| matches!(argument.cell.ty, Type::Ref(_)));
    }
    let children = tool.with.iter().map(|child| child.table);
    tool.table.into_iter().chain(children).any(|table| {
        let declared = subject.domain.table(table);
        declared.field_named(name).is_some_and(|field| matches!(declared.field(field).ty, Type::Ref(_)))
    })
}

fn all(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let script = &subject.task.sealed.oracle;
    let domain = &subject.domain;
    let mut book = Book::of(subject);
    if !script.reads {
        book.faults.push("the script is played with keys that no answer gave".to_owned());
    }
    for fact in &script.given {
        let place = format!("the given {}", fact.name);
        match &fact.value {
            Json::String(text) => book.literal(&place, text),
            Json::Number(number) => {
                let text = number.to_string();
                let is_told = book.knows_number(&text) || (fact.ty == "money" && book.text.contains(&text));
                if !is_told {
                    book.faults.push(format!("{place}: {number} is said nowhere"));
                }
            }
            _ => {}
        }
    }
    for (at, step) in script.steps.iter().enumerate() {
        let name = step.tool();
        let place = format!("step {} ({name})", at + 1);
        let Some(tool) = domain.tool_named(&name).map(|tool| &domain.tools[tool]) else {
            book.faults.push(format!("{place}: there is no such tool"));
            continue;
        };
        for (argument, value) in step.args.as_object().into_iter().flatten() {
            book.argument(&place, tool, argument, value);
        }
        for find in &step.finds {
            book.expression(&place, &find.of);
            find.by.iter().for_each(|by| book.expression(&place, by));
        }
    }
    // With names found from answers alone it runs to its end.
    let (_, ended) = subject.play(script)?;
    if let Err(error) = ended {
        return Ok(Finding::new(Held::Failed(error.to_string())));
    }
    let finding = Finding::of(&book.faults).count("literals", book.literals);
    Ok(finding.count("steps", script.steps.len()))
}
