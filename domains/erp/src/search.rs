//! Conditions on records in prefix notation (`[["state","=","sale"], "|", …]`), and the order of what they find.

use crate::{
    models,
    names::a,
    present::{self, Asked, Held},
    record::Call,
    values,
};
use benchwright_base::{FieldId, Json, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::Refusal;
use benchwright_sandbox::{ArgumentName, Row};
use benchwright_schema::{DerivedKind, Domain};
use std::cmp::Ordering;

/// A condition.
enum Condition<'d> {
    All(Vec<Condition<'d>>),
    Either(Box<[Condition<'d>; 2]>),
    Not(Box<Condition<'d>>),
    Always(bool),
    Leaf(Leaf<'d>),
}

/// `[path, operator, value]`
struct Leaf<'d> {
    path: Vec<(TableId, Asked<'d>)>,
    test: Test,
    /// Whether the test must fail.
    negated: bool,
}

/// What a value is tested for.
enum Test {
    /// Being one of these; the flag says that nothing is among them.
    In(Vec<Value>, bool),
    /// Being a record of one of these names.
    Named(Vec<String>),
    /// Comparison with a value.
    Order(fn(Ordering) -> bool, Value),
    /// Holding a text; `exact` without anything around it.
    Like { pattern: String, any_case: bool, exact: bool },
}

/// The records that a call's `domain` finds, in the order of its `order`, between its `offset` and `limit`.
pub(crate) fn find<'s>(call: &'s Call<'_, '_>, table: TableId) -> Result<Vec<&'s Row>, Refusal> {
    let domain = call.domain();
    let condition = match call.raw(a::domain) {
        None => Condition::All(Vec::new()),
        Some(Json::List(terms)) => read_all(domain, table, terms)?,
        Some(other) => return Err(wrong(format!("wants a list of conditions, got {}", other.kind()))),
    };
    let active = active_field(call, table, &condition);
    let mut rows: Vec<&Row> = Vec::new();
    let mut offer = |row: &'s Row| -> Result<(), Refusal> {
        if active.is_none_or(|field| *row.get(field) == Value::Bool(true)) && holds(call, &condition, row)? {
            rows.push(row);
        }
        Ok(())
    };
    match few(&condition) {
        Some((FieldId::ID, ids)) => {
            for id in ids {
                if let Some(row) = call.find(table, id)? {
                    offer(row)?;
                }
            }
        }
        Some((field, ids)) => {
            for id in ids {
                for row in call.referring(table, field, id)? {
                    offer(row)?;
                }
            }
        }
        None => {
            for row in call.every(table)? {
                offer(row)?;
            }
        }
    }
    sort(call, table, &mut rows)?;
    let count = |argument: ArgumentName| match call.takes(argument) {
        true => call.argument(argument).map(|value| value.as_number().map(|n| n as usize)),
        false => Ok(None),
    };
    let offset = count(a::offset)?.unwrap_or_default();
    // A limit of 0 is none.
    let limit = count(a::limit)?.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    Ok(rows.into_iter().skip(offset).take(limit).collect())
}

fn wrong(message: String) -> Refusal {
    Refusal::argument("domain", message)
}

/// The field by which records out of use are left out, unless the call asks for them.
fn active_field(call: &Call<'_, '_>, table: TableId, condition: &Condition<'_>) -> Option<FieldId> {
    let field = call.domain().table(table).field_named("active")?;
    let asked = call.raw(a::context).and_then(|context| context.get("active_test")) == Some(&Json::Bool(false));
    (!asked && !speaks_of(condition, field)).then_some(field)
}

fn speaks_of(condition: &Condition<'_>, field: FieldId) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().any(|part| speaks_of(part, field)),
        Condition::Either(parts) => parts.iter().any(|part| speaks_of(part, field)),
        Condition::Not(part) => speaks_of(part, field),
        Condition::Always(_) => false,
        Condition::Leaf(leaf) => matches!(&leaf.path[..], [(_, Asked::Cell(id, ..))] if *id == field),
    }
}

/// The field and the ids that narrow a search to few records, if a condition that must hold names them.
fn few(condition: &Condition<'_>) -> Option<(FieldId, Vec<RowId>)> {
    match condition {
        Condition::All(parts) => parts.iter().find_map(few),
        Condition::Leaf(Leaf { path, test: Test::In(values, false), negated: false }) => match &path[..] {
            [(_, Asked::Cell(id, _, Type::Ref(_)))] => {
                let mut ids: Vec<RowId> = values.iter().filter_map(Value::as_ref_id).collect();
                ids.sort_unstable();
                ids.dedup();
                Some((*id, ids))
            }
            _ => None,
        },
        _ => None,
    }
}

// ---------------------------------------------------------------- reading conditions

fn read_all<'d>(domain: &'d Domain, table: TableId, terms: &[Json<'_>]) -> Result<Condition<'d>, Refusal> {
    if terms.len() > 500 {
        return Err(wrong("has more than 500 terms".into()));
    }
    let mut at = 0;
    let mut parts = Vec::new();
    while at < terms.len() {
        parts.push(read_term(domain, table, terms, &mut at)?);
    }
    Ok(Condition::All(parts))
}

fn read_term<'d>(
    domain: &'d Domain,
    table: TableId,
    terms: &[Json<'_>],
    at: &mut usize,
) -> Result<Condition<'d>, Refusal> {
    let Some(term) = terms.get(*at) else {
        return Err(wrong("ends where '&', '|' or '!' wants another condition".into()));
    };
    *at += 1;
    match term {
        Json::Text(sign) if sign == "!" => Ok(Condition::Not(Box::new(read_term(domain, table, terms, at)?))),
        Json::Text(sign) if sign == "&" || sign == "|" => {
            let pair = [read_term(domain, table, terms, at)?, read_term(domain, table, terms, at)?];
            Ok(if sign == "&" { Condition::All(pair.into()) } else { Condition::Either(Box::new(pair)) })
        }
        Json::List(parts) => match &parts[..] {
            [Json::Int(1), Json::Text(op), Json::Int(1)] if op == "=" => Ok(Condition::Always(true)),
            [Json::Int(0), Json::Text(op), Json::Int(1)] if op == "=" => Ok(Condition::Always(false)),
            [Json::Text(path), Json::Text(op), value] => read_leaf(domain, table, path, op, value),
            _ => Err(wrong("has a condition that is not [field, operator, value]".into())),
        },
        _ => Err(wrong("has a term that is neither a condition nor '&', '|' or '!'".into())),
    }
}

fn read_leaf<'d>(
    domain: &'d Domain,
    table: TableId,
    path: &str,
    op: &str,
    value: &Json<'_>,
) -> Result<Condition<'d>, Refusal> {
    let mut steps: Vec<(TableId, Asked<'d>)> = Vec::new();
    let mut at = Some(table);
    for name in path.split('.') {
        let Some(table) = at else { return Err(wrong(format!("has `{path}`, which goes on after a plain value"))) };
        let Some(field) = Asked::named(domain, table, name) else {
            return Err(present::unknown_field(domain, table, name, "domain"));
        };
        at = rows_of(field);
        steps.push((table, field));
        if steps.len() > 8 {
            return Err(wrong(format!("has `{path}`, which is too long")));
        }
    }
    let Some((_, last)) = steps.last() else { return Err(wrong("has a condition without a field".into())) };
    let ty = type_of(*last);
    if op == "=?" && matches!(value, Json::Null | Json::Bool(false)) {
        return Ok(Condition::Always(true));
    }
    let one = |json: &Json<'_>| values::read(domain, ty, json).ok();
    let (test, negated) = match op {
        "=" | "!=" | "<>" | "in" | "not in" | "=?" | "==" => {
            let given = match value {
                Json::List(list) => &list[..],
                other => std::slice::from_ref(other),
            };
            let names: Vec<String> = given.iter().filter_map(as_text).collect();
            let test = if matches!(ty, Type::Ref(_)) && !names.is_empty() {
                Test::Named(names)
            } else {
                let nothing = given.iter().any(|json| matches!(json, Json::Null | Json::Bool(false)));
                Test::In(given.iter().filter_map(one).filter(|value| !value.is_null()).collect(), nothing)
            };
            (test, matches!(op, "!=" | "<>" | "not in"))
        }
        "<" | "<=" | ">" | ">=" => {
            let Some(value) = one(value).filter(|value| !value.is_null()) else {
                return Err(wrong(format!("compares `{path}` with a value of another type")));
            };
            let order: fn(Ordering) -> bool = match op {
                "<" => Ordering::is_lt,
                "<=" => Ordering::is_le,
                ">" => Ordering::is_gt,
                _ => Ordering::is_ge,
            };
            (Test::Order(order, value), false)
        }
        "like" | "ilike" | "not like" | "not ilike" | "=like" | "=ilike" => {
            let Some(pattern) = as_text(value) else { return Err(wrong(format!("wants a text after `{op}`"))) };
            let any_case = op.contains("ilike");
            let pattern = if any_case { pattern.to_lowercase() } else { pattern };
            (Test::Like { pattern, any_case, exact: op.starts_with('=') }, op.starts_with("not"))
        }
        _ => {
            return Err(wrong(format!(
                "has the operator `{op}`; there are =, !=, <, <=, >, >=, in, not in, like, ilike, not like, not ilike, =like, =ilike, =?"
            )));
        }
    };
    Ok(Condition::Leaf(Leaf { path: steps, test, negated }))
}

fn as_text(json: &Json<'_>) -> Option<String> {
    match json {
        Json::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The table of the records that a field leads to.
fn rows_of(field: Asked<'_>) -> Option<TableId> {
    match field {
        Asked::Cell(_, "id", _) => None,
        Asked::Cell(_, _, Type::Ref(table)) => Some(table),
        Asked::Cell(..) | Asked::CellOr(..) => None,
        Asked::Made(derived) => match derived.kind {
            DerivedKind::Value(Type::Ref(table)) => Some(table),
            kind => kind.rows(),
        },
    }
}

/// The type of a field's values; of a list of records, a reference to them.
fn type_of(field: Asked<'_>) -> Type {
    match field {
        Asked::Cell(_, _, ty) | Asked::CellOr(_, _, ty, _) => ty,
        Asked::Made(derived) => match derived.kind {
            DerivedKind::Value(ty) => ty,
            DerivedKind::Rows(table) | DerivedKind::Children { table, .. } | DerivedKind::Linked { table, .. } => {
                Type::Ref(table)
            }
        },
    }
}

// ---------------------------------------------------------------- judging

fn holds(call: &Call<'_, '_>, condition: &Condition<'_>, row: &Row) -> Result<bool, Refusal> {
    Ok(match condition {
        Condition::Always(truth) => *truth,
        Condition::Not(part) => !holds(call, part, row)?,
        Condition::Either(parts) => holds(call, &parts[0], row)? || holds(call, &parts[1], row)?,
        Condition::All(parts) => {
            for part in parts {
                if !holds(call, part, row)? {
                    return Ok(false);
                }
            }
            true
        }
        Condition::Leaf(leaf) => meets(call, &leaf.path, &leaf.test, row)? != leaf.negated,
    })
}

/// Whether a value that the path reaches from a row passes the test.
fn meets(call: &Call<'_, '_>, path: &[(TableId, Asked<'_>)], test: &Test, row: &Row) -> Result<bool, Refusal> {
    let Some(((table, field), rest)) = path.split_first() else { return Ok(false) };
    // The common case without a copy.
    if let (Asked::Cell(id, _, ty), true) = (field, rest.is_empty()) {
        return passes(call, test, row.get(*id), *ty);
    }
    match field.held(call, *table, row)? {
        Held::Value(value, ty) if rest.is_empty() => passes(call, test, &value, ty),
        Held::Value(Value::Ref(id), Type::Ref(to)) => follow(call, to, id, rest, test),
        Held::Value(..) => Ok(matches!(test, Test::In(_, true))),
        Held::Rows(_, ids) if ids.is_empty() => Ok(matches!(test, Test::In(_, true))),
        Held::Rows(to, ids) => {
            for id in ids {
                let found = match rest {
                    [] => passes(call, test, &Value::Ref(id), Type::Ref(to))?,
                    rest => follow(call, to, id, rest, test)?,
                };
                if found {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

fn follow(
    call: &Call<'_, '_>,
    table: TableId,
    id: RowId,
    path: &[(TableId, Asked<'_>)],
    test: &Test,
) -> Result<bool, Refusal> {
    match call.find(table, id)? {
        Some(row) => meets(call, path, test, row),
        None => Ok(matches!(test, Test::In(_, true))),
    }
}

fn passes(call: &Call<'_, '_>, test: &Test, value: &Value, ty: Type) -> Result<bool, Refusal> {
    Ok(match test {
        Test::In(values, nothing) => match value {
            Value::Null => *nothing || values.iter().any(|known| known.as_number() == Some(0)),
            Value::Bool(false) if *nothing => true,
            value if *nothing && value.as_number() == Some(0) => true,
            value => values.contains(value),
        },
        Test::Order(order, with) => !value.is_null() && order(value.cmp(with)),
        Test::Named(_) | Test::Like { .. } => {
            let text = match (value, ty) {
                (Value::Null, _) => return Ok(false),
                (Value::Ref(id), Type::Ref(to)) => match call.find(to, *id)? {
                    Some(row) => present::name(call, to, row)?,
                    None => return Ok(false),
                },
                (value, ty) => benchwright_schema::codec::show_value(call.domain(), ty, value),
            };
            match test {
                Test::Named(names) => names.contains(&text),
                Test::Like { pattern, any_case, exact } => {
                    let text = if *any_case { text.to_lowercase() } else { text };
                    if *exact { matches(&text, pattern) } else { matches(&text, &format!("%{pattern}%")) }
                }
                Test::In(..) | Test::Order(..) => false,
            }
        }
    })
}

/// Whether a text fits a pattern in which `%` stands for anything.
fn matches(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('%');
    let Some(rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut rest = rest;
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

// ---------------------------------------------------------------- order

fn sort(call: &Call<'_, '_>, table: TableId, rows: &mut [&Row]) -> Result<(), Refusal> {
    let domain = call.domain();
    let given = if call.takes(a::order) { call.argument(a::order)? } else { Value::Null };
    let text = given.as_text().filter(|text| !text.trim().is_empty());
    let text = text.unwrap_or_else(|| models::of(domain.table(table)).map_or("id", |model| model.order()));
    let mut keys: Vec<(Asked<'_>, bool)> = Vec::new();
    for part in text.split(',') {
        let mut words = part.split_whitespace();
        let (name, way) = (words.next().unwrap_or_default(), words.next().unwrap_or("asc"));
        let descending = match way.to_ascii_lowercase().as_str() {
            "asc" => false,
            "desc" => true,
            _ => return Err(Refusal::argument("order", format!("wants `asc` or `desc` after a field, not `{way}`"))),
        };
        let Some(field) = Asked::named(domain, table, name) else {
            return Err(present::unknown_field(domain, table, name, "order"));
        };
        keys.push((field, descending));
        if words.next().is_some() || keys.len() > 8 {
            return Err(Refusal::argument("order", "wants fields with commas between, such as `date_order desc, id`"));
        }
    }
    if matches!(&keys[..], [(Asked::Cell(FieldId::ID, ..), false)]) {
        rows.sort_by_key(|row| row.id());
        return Ok(());
    }
    let mut keyed: Vec<(Vec<Value>, &Row)> = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let mut values = Vec::with_capacity(keys.len());
        for (field, _) in &keys {
            values.push(match field.held(call, table, row)? {
                Held::Value(value, _) => value,
                Held::Rows(_, ids) => Value::Int(ids.len() as i64),
            });
        }
        keyed.push((values, row));
    }
    keyed.sort_by(|(a, x), (b, y)| {
        for ((a, b), (_, descending)) in a.iter().zip(b).zip(&keys) {
            // Nothing comes last, or first when descending.
            let order = (a.is_null(), a).cmp(&(b.is_null(), b));
            let order = if *descending { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        x.id().cmp(&y.id())
    });
    for (place, (_, row)) in rows.iter_mut().zip(keyed) {
        *place = row;
    }
    Ok(())
}
