//! What the policy has put right by itself, and what a cell is wanted to be.
//!
//! A rule may have *ways*: where something that is asked for would break the rule, a way says what is done about it, and is told to
//! whoever works there. A way is a list of acts on the row that would break the rule:
//!
//! ```text
//! change case_sla(case = id, stage = running) to stage = paused;
//! make group_member with group = assignment_group, user = assigned_to
//! ```
//!
//! Faults are told by their place in the text, whoever reads it.

use crate::model::{Domain, Shape};
use crate::text::{is_snake, open_characters, word};
use benchwright_base::{FieldId, TableId, nearest};
use benchwright_expr::{Binder, Expr, Fault, GivenType, Names, Path, Scope, Slot, Source, Type};
use benchwright_expr::{check_source, check_truth, check_value};

/// A remedy that the policy has for a row that would break a rule.
#[derive(Clone, Debug)]
pub struct Way {
    /// The sentence that tells it.
    pub says: String,
    /// What is done, for each table that the rule is on.
    pub on: Vec<Remedy>,
}

impl Way {
    /// Calls `each` on every field that it reads of a row, with the table of that row.
    pub fn reads(&self, each: &mut dyn FnMut(TableId, FieldId)) {
        let source = |source: &Source, condition: Option<&Expr>, each: &mut dyn FnMut(TableId, FieldId)| {
            Binder { name: None, source: source.clone(), condition: condition.cloned() }.reads(each);
        };
        let path = |path: &Path, each: &mut dyn FnMut(TableId, FieldId)| {
            path.iter().for_each(|(table, field)| each(*table, *field));
        };
        let rows = |rows: &Which, each: &mut dyn FnMut(TableId, FieldId)| match rows {
            Which::One(expr) => expr.reads(each),
            Which::Those(of, condition) => source(of, condition.as_ref(), each),
        };
        let wanted = |value: &Wanted, each: &mut dyn FnMut(TableId, FieldId)| match value {
            Wanted::Is(expr) => expr.reads(each),
            Wanted::OneOf(list) => list.iter().for_each(|expr| expr.reads(each)),
            Wanted::Extreme { source: of, condition, by, .. } => {
                source(of, condition.as_ref(), each);
                by.reads(each);
            }
            Wanted::Text(parts) | Wanted::Tell(parts) => {
                for part in parts {
                    match part {
                        Said::Slot { shows: Shows::One(expr), .. } => expr.reads(each),
                        Said::Slot { shows: Shows::Each(_, along), .. } => path(along, each),
                        Said::Plain(_) => {}
                    }
                }
            }
        };
        for remedy in &self.on {
            remedy.when.iter().for_each(|when| when.reads(each));
            for act in &remedy.acts {
                match act {
                    Act::Change { rows: which, to, .. } => {
                        rows(which, each);
                        to.iter().for_each(|(_, value)| wanted(value, each));
                    }
                    Act::Make { each: of, with, .. } => {
                        of.iter().for_each(|of| source(of, None, each));
                        with.iter().for_each(|(_, value)| wanted(value, each));
                    }
                    Act::Drop { rows: which, .. } => rows(which, each),
                    Act::Call { with, .. } => {
                        for (_, passed) in with {
                            match passed {
                                Passed::Is(expr) => expr.reads(each),
                                Passed::Each(of, along) => {
                                    source(of, None, each);
                                    path(along, each);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a way does about a row of one table.
#[derive(Clone, Debug)]
pub struct Remedy {
    /// The table of the row.
    pub table: TableId,
    /// Only where this holds of the row.
    pub when: Option<Expr>,
    /// What is done, in order.
    pub acts: Vec<Act>,
}

/// One thing that is done.
#[derive(Clone, Debug)]
pub enum Act {
    /// `change rows to f = e, …`
    Change {
        /// The rows.
        rows: Which,
        /// Their table.
        table: TableId,
        /// What their cells become.
        to: Vec<(FieldId, Wanted)>,
    },
    /// `make t with f = e, …`, or `make t for rows with …` for each of some rows, which are `it`.
    Make {
        /// The table of the new row.
        table: TableId,
        /// The rows that one is made for each of.
        each: Option<Source>,
        /// What its cells are; the others are what the system sets.
        with: Vec<(FieldId, Wanted)>,
    },
    /// `drop rows`
    Drop {
        /// The rows.
        rows: Which,
        /// Their table.
        table: TableId,
    },
    /// `call tool with a = e, …`
    Call {
        /// The tool's place in the domain.
        tool: usize,
        /// The arguments by name.
        with: Vec<(String, Passed)>,
    },
}

/// Which rows an act is about.
#[derive(Clone, PartialEq, Debug)]
pub enum Which {
    /// The one that an expression gives.
    One(Expr),
    /// Those of a source for which a condition on `it` holds.
    Those(Source, Option<Expr>),
}

/// What is passed to a tool.
#[derive(Clone, PartialEq, Debug)]
pub enum Passed {
    /// One value.
    Is(Expr),
    /// A list: what a path reaches from each row of a source.
    Each(Source, Path),
}

/// What a cell is wanted to be.
#[derive(Clone, PartialEq, Debug)]
pub enum Wanted {
    /// Exactly this.
    Is(Expr),
    /// Exactly this text, once its slots are filled in.
    Text(Vec<Said>),
    /// A text in somebody's own words that mentions every slot.
    Tell(Vec<Said>),
    /// One of these.
    OneOf(Vec<Expr>),
    /// The first or last row of some by an order.
    Extreme {
        /// The rows to choose from.
        source: Source,
        /// Those of them for which this holds.
        condition: Option<Expr>,
        /// The order, of `it`.
        by: Expr,
        /// Whether the last one is meant.
        last: bool,
    },
}

/// A piece of a text.
#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    /// Text as it stands.
    Plain(String),
    /// What stands in braces.
    Slot {
        /// As it was written, without its form.
        text: String,
        /// What it shows.
        shows: Shows,
        /// The type of what it shows.
        ty: Type,
        /// How it is written.
        form: Form,
        /// Whether it may be left out: `{name?}`.
        optional: bool,
    },
}

/// What a slot shows.
#[derive(Clone, PartialEq, Debug)]
pub enum Shows {
    /// A value.
    One(Expr),
    /// What a path reaches from each of the rows that a name in scope stands for, by its slot.
    Each(Slot, Path),
}

/// How a slot is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// As its type is.
    #[default]
    Plain,
    /// The day of an instant.
    Date,
    /// The time of an instant.
    Time,
    /// Several, with commas between them and `and` before the last.
    List,
    /// How many there are.
    Count,
}

const FORMS: [(&str, Form); 4] =
    [("date", Form::Date), ("time", Form::Time), ("list", Form::List), ("count", Form::Count)];

impl Form {
    /// Its word behind the colon of a slot; none for the plain one.
    pub fn word(self) -> &'static str {
        FORMS.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }

    /// The form of a word.
    pub fn named(word: &str) -> Option<Form> {
        FORMS.iter().find(|(known, _)| *known == word).map(|(_, form)| *form)
    }
}

/// A result with all faults of a text.
type Checked<T> = Result<T, Vec<Fault>>;

fn fault(offset: usize, message: impl Into<String>, help: Option<String>) -> Vec<Fault> {
    vec![Fault { offset, message: message.into(), help }]
}

/// Moves faults of a part to where the part stands.
fn at<T>(offset: usize, checked: Checked<T>) -> Checked<T> {
    checked.map_err(|faults| faults.into_iter().map(|fault| Fault { offset: fault.offset + offset, ..fault }).collect())
}

/// Where a part of a text begins in it.
fn place(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// A text at the first word of that name outside of brackets and quotes.
pub fn split<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let found = open_characters(text).map(|(at, _)| at).find(|at| {
        text[*at..].starts_with(word)
            && !text[..*at].ends_with(is_name)
            && !text[at + word.len()..].starts_with(is_name)
    })?;
    Some((&text[..found], &text[found + word.len()..]))
}

/// What a cell of a type is wanted to be, as written.
pub fn wanted(text: &str, ty: Type, names: &dyn Names, scope: Scope<'_>) -> Checked<Wanted> {
    let said_after = |form: &str| text.trim_start().strip_prefix(form).filter(|rest| rest.starts_with([' ', '{']));
    for form in ["text", "tell"] {
        let Some(rest) = said_after(form) else { continue };
        if ty != Type::Text {
            return Err(fault(0, format!("only a text can be wanted as `{form}`"), None));
        }
        let rest = rest.trim();
        let parts = at(place(text, rest), said(rest, names, scope))?;
        return Ok(if form == "text" { Wanted::Text(parts) } else { Wanted::Tell(parts) });
    }
    if let Some(rest) = said_after("in") {
        let rest = rest.trim();
        let list = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some(list) = list else { return Err(fault(place(text, rest), "expected `{a, b}` after `in`", None)) };
        let mut values = Vec::new();
        for item in commas(list) {
            values.push(at(place(text, item), check_value(item, names, scope, Some(ty)))?.0);
        }
        return Ok(Wanted::OneOf(values));
    }
    for (form, last) in [("first", false), ("last", true)] {
        let Some(rest) = said_after(form).filter(|rest| split(rest, "by").is_some()) else { continue };
        return at(place(text, rest), extreme(rest, ty, last, names, scope));
    }
    let (expr, _) = check_value(text, names, scope, Some(ty))?;
    Ok(Wanted::Is(expr))
}

fn extreme(text: &str, ty: Type, last: bool, names: &dyn Names, scope: Scope<'_>) -> Checked<Wanted> {
    let (rows, order) = split(text, "by").ok_or_else(|| fault(0, "expected `by` and an order", None))?;
    let (source, condition, relation) = rows_of(rows, names, scope)?;
    if ty != Type::Ref(relation) {
        let message = format!("this is a row of {}", names.relation_name(relation));
        return Err(fault(0, message, None));
    }
    let scope = Scope { it: Some(relation), ..scope };
    let (by, _) = at(place(text, order), check_value(order, names, scope, None))?;
    Ok(Wanted::Extreme { source, condition, by, last })
}

/// `t(…) where p`: a source, the condition on `it`, and the relation.
pub fn rows_of(text: &str, names: &dyn Names, scope: Scope<'_>) -> Checked<(Source, Option<Expr>, TableId)> {
    let (rows, condition) = split(text, "where").map_or((text, None), |(rows, condition)| (rows, Some(condition)));
    let source = at(place(text, rows), check_source(rows.trim_end(), names, scope))?;
    let Source::Rows { relation, .. } = source else {
        return Err(fault(place(text, rows), "expected rows of a table", None));
    };
    let condition = match condition {
        Some(condition) => {
            let scope = Scope { it: Some(relation), ..scope };
            Some(at(place(text, condition), check_truth(condition, names, scope))?)
        }
        None => None,
    };
    Ok((source, condition, relation))
}

/// The parts of a text between commas outside of brackets and quotes.
fn commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in open_characters(text).filter(|(_, c)| *c == ',') {
        parts.push(&text[from..at]);
        from = at + 1;
    }
    parts.push(&text[from..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// A text with slots in braces.
pub fn said(text: &str, names: &dyn Names, scope: Scope<'_>) -> Checked<Vec<Said>> {
    let mut parts = Vec::new();
    let mut faults = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        if open > 0 {
            parts.push(Said::Plain(rest[..open].to_owned()));
        }
        let after = &rest[open + 1..];
        let Some(close) = after.find('}') else {
            return Err(fault(place(text, rest) + open, "this `{` is not closed", None));
        };
        match at(place(text, after), slot(&after[..close], names, scope)) {
            Ok(slot) => parts.push(slot),
            Err(found) => faults.extend(found),
        }
        rest = &after[close + 1..];
    }
    if !rest.is_empty() {
        parts.push(Said::Plain(rest.to_owned()));
    }
    if faults.is_empty() { Ok(parts) } else { Err(faults) }
}

/// What stands in braces: `case.number`, `service.name?`, `evening:date`, `servers.name:list`.
fn slot(text: &str, names: &dyn Names, scope: Scope<'_>) -> Checked<Said> {
    let (whole, form) = text.split_once(':').map_or((text, None), |(whole, form)| (whole, Some(form)));
    let form = match form.map(str::trim) {
        None => Form::Plain,
        Some(name) => match FORMS.iter().find(|(known, _)| *known == name) {
            Some((_, form)) => *form,
            None => {
                let help = nearest(name, FORMS.map(|(known, _)| known)).map(|near| format!("did you mean `{near}`?"));
                return Err(fault(whole.len() + 1, format!("a slot has no form {}", word(name)), help));
            }
        },
    };
    let (of, optional) = whole.strip_suffix('?').map_or((whole, false), |of| (of, true));
    let written = of.trim().to_owned();
    let name = written.split('.').next().unwrap_or_default();
    let base = usize::from(scope.subject.is_some());
    let set = scope.given.iter().position(|given| given.name == name);
    if let Some((nth, relation)) = set.and_then(|nth| match scope.given[nth].is {
        GivenType::Rows(relation) => Some((nth, relation)),
        _ => None,
    }) {
        let path = format!("it{}", &written[name.len()..]);
        let its = Scope { it: Some(relation), ..scope };
        let (expr, ty) = check_value(&path, names, its, None)?;
        let Expr::Field(_, path) = expr else { return Err(fault(0, "expected a field of its rows", None)) };
        if !matches!(form, Form::List | Form::Count) {
            let help = format!("write `{{{written}:list}}` or `{{{name}:count}}`");
            return Err(fault(0, format!("`{name}` stands for several rows"), Some(help)));
        }
        return Ok(Said::Slot { text: written, shows: Shows::Each(base + nth, path), ty, form, optional });
    }
    let (expr, ty) = check_value(of, names, scope, None)?;
    match (form, ty) {
        (Form::Date | Form::Time, Type::DateTime) | (Form::Date, Type::Date) | (Form::Plain, _) => {}
        (form, _) => {
            let name = form.word();
            return Err(fault(0, format!("this cannot be written as `{name}`"), None));
        }
    }
    Ok(Said::Slot { text: written, shows: Shows::One(expr), ty, form, optional })
}

/// The acts of a way, as written after `do`.
pub fn acts(text: &str, domain: &Domain, names: &dyn Names, scope: Scope<'_>) -> Checked<Vec<Act>> {
    let mut acts = Vec::new();
    let mut faults = Vec::new();
    let mut from = 0;
    let ends: Vec<usize> = open_characters(text).filter(|(_, c)| *c == ';').map(|(at, _)| at).collect();
    for end in ends.into_iter().chain([text.len()]) {
        let one = &text[from..end];
        let trimmed = one.trim();
        match at(place(text, trimmed), act(trimmed, domain, names, scope)) {
            Ok(act) => acts.push(act),
            Err(found) => faults.extend(found),
        }
        from = end + 1;
    }
    if faults.is_empty() { Ok(acts) } else { Err(faults) }
}

fn act(text: &str, domain: &Domain, names: &dyn Names, scope: Scope<'_>) -> Checked<Act> {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let start = place(text, rest).min(text.len());
    match verb {
        "change" => {
            let (rows, to) = split(rest, "to").ok_or_else(|| fault(start, "expected `to` after the rows", None))?;
            let (rows, table) = at(place(text, rows), which(rows.trim_end(), names, scope))?;
            let to = at(place(text, to), cells(to, table, domain, names, scope))?;
            Ok(Act::Change { rows, table, to })
        }
        "make" => {
            let (head, with) = split(rest, "with").map_or((rest, None), |(head, with)| (head, Some(with)));
            let (name, each) = split(head, "for").map_or((head, None), |(name, each)| (name, Some(each)));
            let table = names.relation(name.trim());
            let Some(table) = table else {
                let help = nearest(name.trim(), names.relation_names()).map(|near| format!("did you mean `{near}`?"));
                return Err(fault(start, format!("unknown table {}", word(name.trim())), help));
            };
            let (each, it) = match each {
                Some(each) => {
                    let each = each.trim();
                    let (source, condition, relation) = at(place(text, each), rows_of(each, names, scope))?;
                    if condition.is_some() {
                        return Err(fault(place(text, each), "`where` cannot stand here", None));
                    }
                    (Some(source), Some(relation))
                }
                None => (None, scope.it),
            };
            let with = match with {
                Some(with) => at(place(text, with), cells(with, table, domain, names, Scope { it, ..scope }))?,
                None => Vec::new(),
            };
            Ok(Act::Make { table, each, with })
        }
        "drop" => {
            let (rows, table) = at(start, which(rest, names, scope))?;
            Ok(Act::Drop { rows, table })
        }
        "call" => {
            let (name, with) = split(rest, "with").map_or((rest, ""), |(name, with)| (name, with));
            let tool = domain.tool_named(name.trim()).filter(|tool| domain.tools[*tool].native.is_some());
            let Some(tool) = tool else {
                let native = domain.tools.iter().filter(|tool| tool.native.is_some()).map(|tool| &*tool.name);
                let help = nearest(name.trim(), native).map(|near| format!("did you mean `{near}`?"));
                return Err(fault(start, format!("no native tool is called {}", word(name.trim())), help));
            };
            let with = at(place(text, with).min(text.len()), arguments(with, tool, domain, names, scope))?;
            Ok(Act::Call { tool, with })
        }
        _ => {
            let help = "write `change … to …`, `make … with …`, `drop …` or `call … with …`".to_owned();
            Err(fault(0, format!("unknown act {}", word(verb)), Some(help)))
        }
    }
}

/// The rows that an act is about.
fn which(text: &str, names: &dyn Names, scope: Scope<'_>) -> Checked<(Which, TableId)> {
    if text.contains('(') || split(text, "where").is_some() {
        let (source, condition, table) = rows_of(text, names, scope)?;
        return Ok((Which::Those(source, condition), table));
    }
    match check_value(text, names, scope, None)? {
        (expr, Type::Ref(table)) => Ok((Which::One(expr), table)),
        _ => Err(fault(0, "expected a row", None)),
    }
}

/// `f = e, g = e`; a comma ends a value only where another `f =` follows, because texts have commas.
pub fn assignments(text: &str) -> Vec<(&str, &str)> {
    let begins = |part: &str| part.split_once('=').is_some_and(|(name, _)| is_snake(name.trim()));
    let mut list: Vec<(usize, usize)> = Vec::new();
    for part in commas(text) {
        let (from, to) = (place(text, part), place(text, part) + part.len());
        match list.last_mut() {
            Some((_, end)) if !begins(part) => *end = to,
            _ => list.push((from, to)),
        }
    }
    list.into_iter().filter_map(|(from, to)| text[from..to].split_once('=')).collect()
}

fn cells(
    text: &str,
    table: TableId,
    domain: &Domain,
    names: &dyn Names,
    scope: Scope<'_>,
) -> Checked<Vec<(FieldId, Wanted)>> {
    let mut found = Vec::new();
    let mut faults = Vec::new();
    for (name, value) in assignments(text) {
        let Some(info) = names.field(table, name.trim()) else {
            let help = nearest(name.trim(), names.field_names(table)).map(|near| format!("did you mean `{near}`?"));
            let message = format!("unknown field {} of `{}`", word(name.trim()), domain.table(table).name);
            faults.extend(fault(place(text, name), message, help));
            continue;
        };
        match at(place(text, value), wanted(value, info.ty, names, scope)) {
            Ok(value) => found.push((info.id, value)),
            Err(more) => faults.extend(more),
        }
    }
    if found.is_empty() && faults.is_empty() {
        faults = fault(0, "expected `field = value`", None);
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

fn arguments(
    text: &str,
    tool: usize,
    domain: &Domain,
    names: &dyn Names,
    scope: Scope<'_>,
) -> Checked<Vec<(String, Passed)>> {
    let mut found = Vec::new();
    let mut faults = Vec::new();
    for (name, value) in assignments(text) {
        let takes = domain.tools[tool].native.iter().flat_map(|native| &native.takes);
        let known = takes.clone().find(|argument| argument.cell.name == name.trim());
        let Some(argument) = known.filter(|argument| argument.shape == Shape::Value) else {
            let known = takes.map(|argument| &*argument.cell.name);
            let help = nearest(name.trim(), known).map(|near| format!("did you mean `{near}`?"));
            let message = format!("{} takes no value {}", domain.tools[tool].name, word(name.trim()));
            faults.extend(fault(place(text, name), message, help));
            continue;
        };
        let ty = Some(argument.cell.ty);
        match (argument.list, at(place(text, value), check_value(value, names, scope, ty))) {
            (true, Ok((Expr::Lookup { source, path }, _))) => {
                found.push((argument.cell.name.clone(), Passed::Each(*source, path)));
            }
            (_, Ok((expr, _))) => found.push((argument.cell.name.clone(), Passed::Is(expr))),
            (_, Err(more)) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}
