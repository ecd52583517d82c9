//! Plants and drawn values: how cells are made.

use super::cast::{fault, moved};
use super::{Generator, Plant, Planted};
use benchwright_base::{FieldId, TableId, Value, date::DAY, nearest};
use benchwright_expr::{Expr, Fault, Given, Names, Scope, Type, check_value};
use benchwright_schema::{
    Domain,
    ways::{self, Said},
};

type Checked<T> = Result<T, Vec<Fault>>;

/// The words that begin a way to make a cell.
const FORMS: [&str; 8] = ["=", "text", "one of", "between", "from", "any", "parent", "null"];

fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with([' ', '{'])).map(str::trim)
}

fn place(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// Reads how a cell of a type is made.
pub(super) fn cell(text: &str, ty: Type, names: &dyn Names, scope: Scope<'_>) -> Checked<Generator> {
    let trimmed = text.trim();
    let start = place(text, trimmed);
    if let Some(value) = trimmed.strip_prefix('=') {
        let at = place(text, value);
        return Ok(Generator::Is(check_value(value, names, scope, Some(ty)).map_err(|faults| moved(at, faults))?.0));
    }
    match trimmed {
        "parent" => return Ok(Generator::Parent),
        "null" => return Ok(Generator::Null),
        _ => {}
    }
    let within = |part: &str, faults: Vec<Fault>| moved(place(text, part), faults);
    if let Some(rest) = after(trimmed, "text") {
        if ty != Type::Text {
            return Err(moved(start, fault("only a text can be made so", None)));
        }
        return Ok(Generator::Text(template(rest, names, scope).map_err(|faults| within(rest, faults))?));
    }
    if let Some(rest) = after(trimmed, "one of") {
        return one_of(rest, ty, names).map_err(|faults| within(rest, faults));
    }
    if let Some(rest) = after(trimmed, "between") {
        return between(rest).map_err(|faults| within(rest, faults));
    }
    if let Some(rest) = after(trimmed, "from") {
        return instant(rest, ty, names, scope).map_err(|faults| within(rest, faults));
    }
    if let Some(rest) = after(trimmed, "any") {
        return any(rest, ty, names, scope).map_err(|faults| within(rest, faults));
    }
    let word = trimmed.split_whitespace().next().unwrap_or_default();
    let help = nearest(word, FORMS).map(|near| format!("did you mean `{near}`?"));
    Err(moved(start, fault(format!("unknown way to make a value: `{word}`"), help)))
}

/// Reads a value that the request says and the task's stream draws; nothing if it does not begin as one. Its type follows from how it
/// is written: `one of customer_case.priority: high, critical` names the field whose words are meant.
pub(super) fn drawn(
    text: &str,
    names: &dyn Names,
    scope: Scope<'_>,
    domain: &Domain,
) -> Option<Checked<(Generator, Type)>> {
    let within = |part: &str, faults: Vec<Fault>| moved(place(text, part), faults);
    if let Some(rest) = after(text, "text") {
        let parts = template(rest, names, scope).map_err(|faults| within(rest, faults));
        return Some(parts.map(|parts| (Generator::Text(parts), Type::Text)));
    }
    if let Some(rest) = after(text, "one of") {
        // An address has a colon too, and so may a text in quotes.
        let named = rest.split_once(':').filter(|(field, list)| !list.starts_with("//") && !field.contains('\''));
        let (ty, list) = match named {
            Some((field, list)) => match field_type(field.trim(), domain, names) {
                Ok(ty) => (ty, list),
                Err(faults) => return Some(Err(within(field, faults))),
            },
            None => {
                let whole = rest.split(',').all(|item| item.trim().parse::<i64>().is_ok());
                (if whole { Type::Int } else { Type::Text }, rest)
            }
        };
        return Some(one_of(list, ty, names).map(|made| (made, ty)).map_err(|faults| within(list, faults)));
    }
    if let Some(rest) = after(text, "between") {
        return Some(between(rest).map(|made| (made, Type::Int)).map_err(|faults| within(rest, faults)));
    }
    if let Some(rest) = after(text, "from") {
        let has_time = rest.split_once(" to ").is_some_and(|(first, _)| first.contains('T') || first.contains("now"));
        let ty = if has_time { Type::DateTime } else { Type::Date };
        let made = instant(rest, ty, names, scope).map_err(|faults| within(rest, faults));
        return Some(made.map(|made| (made, ty)));
    }
    None
}

/// The type of a field that is named as `table.field`.
fn field_type(text: &str, domain: &Domain, names: &dyn Names) -> Checked<Type> {
    let named = text.rsplit_once('.').and_then(|(table, field)| {
        let table = names.relation(table)?;
        names.field(table, field)
    });
    match named {
        Some(field) => Ok(field.ty),
        None => {
            let tables = domain.tables.iter().map(|table| &*table.name);
            let help = nearest(text.split('.').next().unwrap_or_default(), tables);
            Err(fault(format!("no field is called `{text}`"), help.map(|near| format!("did you mean `{near}.…`?"))))
        }
    }
}

/// A text in which `{#}` is the number of the row.
fn template(text: &str, names: &dyn Names, scope: Scope<'_>) -> Checked<Vec<Said>> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (before, next) = rest.split_once("{#}").map_or((rest, None), |(before, next)| (before, Some(next)));
        if !before.is_empty() {
            parts.extend(ways::said(before, names, scope).map_err(|faults| moved(place(text, before), faults))?);
        }
        let Some(next) = next else { return Ok(parts) };
        // The number is told by an empty slot of its own.
        parts.push(Said::Plain(NUMBER.to_owned()));
        rest = next;
    }
}

/// Stands for the number of a row in a planted text.
pub const NUMBER: &str = "\u{1}";

fn one_of(text: &str, ty: Type, names: &dyn Names) -> Checked<Generator> {
    let mut values = Vec::new();
    let mut quoted = false;
    let outside = |c: char| {
        quoted ^= c == '\'';
        c == ',' && !quoted
    };
    for item in text.split(outside) {
        let trimmed = item.trim();
        let (word, weight) = match trimmed.rsplit_once(' ') {
            Some((word, weight)) if weight.parse::<u32>().is_ok() => (word.trim(), weight.parse().unwrap_or(1)),
            _ => (trimmed, 1),
        };
        let value = match ty {
            Type::Text => Value::text(within_quotes(word).unwrap_or(word)),
            _ => match check_value(word, names, Scope::default(), Some(ty)) {
                Ok((Expr::Literal(value, _), _)) => value,
                Ok(_) => return Err(moved(place(text, item), fault("expected a constant", None))),
                Err(faults) => return Err(moved(place(text, item), faults)),
            },
        };
        values.push((value, weight));
    }
    Ok(Generator::OneOf(values))
}

/// What stands in single quotes, if all of a text does.
fn within_quotes(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// `3 and 9 step 2`
fn between(text: &str) -> Checked<Generator> {
    let (range, step) =
        text.split_once(" step ").map_or((text, Some(1)), |(range, step)| (range, step.trim().parse().ok()));
    let ends = range.split_once(" and ").and_then(|(low, high)| low.trim().parse().ok().zip(high.trim().parse().ok()));
    match (ends, step) {
        (Some((low, high)), Some(step)) if low <= high && step > 0 => Ok(Generator::Between(low, high, step)),
        _ => Err(fault("expected numbers such as `3 and 9` or `10 and 90 step 10`", None)),
    }
}

/// `E to E step 24 hours`
fn instant(text: &str, ty: Type, names: &dyn Names, scope: Scope<'_>) -> Checked<Generator> {
    let bad = || fault("expected `from … to … step 24 hours`", None);
    let (from, rest) = ways::split(text, "to").ok_or_else(bad)?;
    let (to, step) = ways::split(rest, "step").map_or((rest, None), |(to, step)| (to, Some(step)));
    let step = match step {
        None => DAY,
        Some(step) => match check_value(step, names, Scope::default(), Some(Type::Duration)) {
            Ok((Expr::Span(count, unit), _)) => match (&*count, unit) {
                (Expr::Literal(Value::Int(count), _), benchwright_expr::Unit::Days) => count * DAY,
                (Expr::Literal(Value::Int(count), _), benchwright_expr::Unit::Hours) => count * 3600,
                (Expr::Literal(Value::Int(count), _), benchwright_expr::Unit::Minutes) => count * 60,
                _ => return Err(bad()),
            },
            _ => return Err(bad()),
        },
    };
    let value = |part: &str| {
        let checked = check_value(part, names, scope, Some(ty));
        checked.map(|(expr, _)| expr).map_err(|faults| moved(place(text, part), faults))
    };
    Ok(Generator::Instant(value(from)?, value(to)?, step))
}

/// `t(…).path where P`
fn any(text: &str, ty: Type, names: &dyn Names, scope: Scope<'_>) -> Checked<Generator> {
    let (head, condition) = ways::split(text, "where").map_or((text, None), |(a, b)| (a, Some(b)));
    let head = head.trim();
    let (rows, path) = match head.rfind(')') {
        Some(close) => (&head[..=close], head[close + 1..].strip_prefix('.')),
        None => (head, None),
    };
    let rows_text = match condition {
        Some(_) => format!("{rows} where{}", condition.unwrap_or_default()),
        None => rows.to_owned(),
    };
    let (source, condition, relation) = ways::rows_of(&rows_text, names, scope)?;
    let its = Scope { it: Some(relation), ..Scope::default() };
    let path = match path {
        None => Vec::new(),
        Some(path) => match check_value(&format!("it.{path}"), names, its, None) {
            Ok((Expr::Field(_, path), _)) => path,
            Ok(_) => return Err(fault("expected a field", None)),
            Err(faults) => return Err(faults),
        },
    };
    let _ = ty;
    Ok(Generator::Any(source, condition, path))
}

/// What a plant says besides its cells.
pub(super) struct PlantText<'t> {
    pub(super) table: Option<&'t str>,
    pub(super) each: Option<&'t str>,
    pub(super) change: Option<&'t str>,
    pub(super) double: Option<&'t str>,
    pub(super) tiers: Vec<String>,
    pub(super) count: Option<(u32, u32)>,
    pub(super) cells: Vec<(&'t str, &'t str)>,
}

/// Reads a plant. Faults come with the key that they are at.
pub(super) fn plant(
    text: &PlantText<'_>,
    given: &[Given<'_>],
    domain: &Domain,
    names: &dyn Names,
) -> Result<Plant, Vec<(String, Vec<Fault>)>> {
    let scope = Scope { given, ..Scope::default() };
    let at = |key: &str| {
        let key = key.to_owned();
        move |faults: Vec<Fault>| vec![(key, faults)]
    };
    let (act, table, it): (Planted, TableId, Option<TableId>) = match (text.table, text.change, text.double) {
        (Some(name), None, None) => {
            let Some(table) = names.relation(name) else {
                let help = nearest(name, names.relation_names()).map(|near| format!("did you mean `{near}`?"));
                return Err(at("table")(fault(format!("unknown table `{name}`"), help)));
            };
            match text.each {
                None => (Planted::Rows(None), table, None),
                Some(each) => {
                    let (source, condition, relation) = ways::rows_of(each, names, scope).map_err(at("each"))?;
                    (Planted::Rows(Some((source, condition))), table, Some(relation))
                }
            }
        }
        (None, Some(rows), None) if !rows.contains('(') => {
            let meant = super::cast::meant(rows, given, names).map_err(at("change"))?;
            if !meant.path.is_empty() {
                return Err(at("change")(fault("expected a member of the cast, or rows of a table", None)));
            }
            (Planted::ChangeMember(meant.slot), meant.table, None)
        }
        (None, Some(rows), None) => {
            let (source, condition, relation) = ways::rows_of(rows, names, scope).map_err(at("change"))?;
            (Planted::Change(source, condition), relation, None)
        }
        (None, None, Some(member)) => {
            let meant = super::cast::meant(member, given, names).map_err(at("double"))?;
            (Planted::Double(meant.slot), meant.table, None)
        }
        _ => {
            let message = "a plant has one of `table`, `change` and `double`";
            return Err(vec![(String::new(), fault(message, None))]);
        }
    };
    let mut cells: Vec<(FieldId, Generator)> = Vec::new();
    let mut faults = Vec::new();
    for (name, value) in &text.cells {
        let Some(field) = names.field(table, name).filter(|field| field.id != FieldId::ID) else {
            let help = nearest(name, names.field_names(table)).map(|near| format!("did you mean `{near}`?"));
            let message = format!("`{}` has no field `{name}`", domain.table(table).name);
            faults.push(((*name).to_owned(), fault(message, help)));
            continue;
        };
        let scope = Scope { subject: Some(table), given, it };
        match cell(value, field.ty, names, scope) {
            Ok(made) => cells.push((field.id, made)),
            Err(found) => faults.push(((*name).to_owned(), found)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Plant { act, table, cells, tiers: text.tiers.clone(), count: text.count })
}
