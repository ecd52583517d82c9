//! Declarations as they are written in a domain folder: types, fields, access.

use benchwright_base::number;
use benchwright_expr::{Type, english};
use benchwright_schema::{Action, Domain, Field, Grant, Role, Stamp, Table, codec};

/// A type with bounds, such as `text(1..80)?` or `-> account`.
pub fn type_of(domain: &Domain, ty: Type, nullable: bool, bounds: Option<(i64, i64)>) -> String {
    let name = match ty {
        Type::Bool => "bool".to_owned(),
        Type::Int => "int".to_owned(),
        Type::Money => "money".to_owned(),
        Type::Quantity => "quantity".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Date => "date".to_owned(),
        Type::DateTime => "datetime".to_owned(),
        Type::Time => "time".to_owned(),
        Type::Duration => "duration".to_owned(),
        Type::Months => "months".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Enum(id) => domain.enums[id.index()].name.clone(),
        Type::Ref(table) => format!("-> {}", domain.table(table).name),
    };
    let bounds = bounds.map(|(low, high)| {
        let open = if ty == Type::Text { 0 } else { i64::MIN };
        let low = if low == open { String::new() } else { scaled(ty, low) };
        let high = if high == i64::MAX { String::new() } else { scaled(ty, high) };
        format!("({low}..{high})")
    });
    format!("{name}{}{}", bounds.unwrap_or_default(), if nullable { "?" } else { "" })
}

fn scaled(ty: Type, number: i64) -> String {
    let decimals = match ty {
        Type::Money => number::MONEY_DECIMALS,
        Type::Quantity => number::QUANTITY_DECIMALS,
        _ => 0,
    };
    let mut out = Vec::new();
    number::write_decimal(&mut out, number, decimals, true);
    String::from_utf8_lossy(&out).into_owned()
}

/// All that is said of a field.
pub fn field(domain: &Domain, table: &Table, field: &Field) -> String {
    let mut parts = vec![type_of(domain, field.ty, field.nullable, field.bounds)];
    let own = table.field_named(&field.name);
    for key in &table.keys {
        match &key.fields[..] {
            [only] if Some(*only) == own => parts.push("unique".to_owned()),
            [within @ .., last] if Some(*last) == own => {
                let within: Vec<&str> = within.iter().map(|field| &*table.field(*field).name).collect();
                parts.push(format!("unique in {}", within.join(", ")));
            }
            _ => {}
        }
    }
    for (is_so, word) in [(field.owned, "owned"), (field.secret, "secret")] {
        if is_so {
            parts.push(word.to_owned());
        }
    }
    if let Some(sole) = field.sole_in {
        parts.push(format!("sole in {}", table.field(sole).name));
    }
    match &field.stamp {
        None => {}
        Some(Stamp::Keep) => parts.push("server".to_owned()),
        Some(Stamp::Number { prefix, digits, suffix }) => {
            parts.push(format!("server '{prefix}{}{suffix}'", "#".repeat(*digits)));
        }
        Some(Stamp::OnCreate) => parts.push("server on create".to_owned()),
        Some(Stamp::OnWrite) => parts.push("server on write".to_owned()),
        Some(Stamp::Actor) => parts.push("server actor".to_owned()),
        Some(Stamp::When(condition)) => parts.push(format!("server when {}", english(condition, domain))),
        Some(Stamp::Computed(value)) => parts.push(format!("server = {}", english(value, domain))),
    }
    if let Some(default) = &field.default {
        parts.push(format!("= {}", codec::show_value(domain, field.ty, default)));
    }
    if let Some(lifecycle) = own.and_then(|own| table.lifecycle(own))
        && let Type::Enum(id) = field.ty
    {
        let words = &domain.enums[id.index()].words;
        let named = |list: &[u16]| list.iter().map(|word| &*words[*word as usize]).collect::<Vec<_>>().join(" | ");
        let moves = words.iter().zip(&lifecycle.next).filter(|(_, next)| !next.is_empty());
        let moves: Vec<String> = moves.map(|(from, next)| format!("{from} -> {}", named(next))).collect();
        parts.push(format!("({})", moves.join(", ")));
    }
    parts.join(" ")
}

/// What a role may do, one line for each set of tables: `read, create on order where …`.
pub fn access(domain: &Domain, role: &Role) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for (table, access) in domain.tables.iter().zip(&role.access) {
        let mut by_condition: Vec<(Option<String>, Vec<Action>)> = Vec::new();
        for grant in &access.grants {
            // What holds for all rows need not be said again for some.
            let is_free = |other: &Grant| other.action == grant.action && other.condition.is_none();
            if grant.condition.is_some() && access.grants.iter().any(is_free) {
                continue;
            }
            let condition = grant.condition.as_ref().map(|condition| english(condition, domain));
            match by_condition.iter_mut().find(|(known, _)| *known == condition) {
                Some((_, actions)) => actions.push(grant.action),
                None => by_condition.push((condition, vec![grant.action])),
            }
        }
        for (condition, actions) in by_condition {
            let line =
                format!("{}\u{0}{}", words(&actions), condition.map_or(String::new(), |c| format!(" where {c}")));
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, tables)) => tables.push(&table.name),
                None => lines.push((line, vec![&table.name])),
            }
        }
    }
    let shown = lines.iter().map(|(line, tables)| {
        let tables = if tables.len() == domain.tables.len() { "*".to_owned() } else { tables.join(", ") };
        let (words, condition) = line.split_once('\u{0}').unwrap_or((line, ""));
        format!("{words} on {tables}{condition}")
    });
    shown.collect()
}

fn words(actions: &[Action]) -> String {
    let has = |action: Action| actions.contains(&action);
    let write = [Action::Create, Action::Update, Action::Delete];
    if has(Action::Read) && has(Action::Reveal) && write.into_iter().all(has) {
        return "any".to_owned();
    }
    let mut words = Vec::new();
    if has(Action::Read) {
        words.push("read");
    }
    if write.into_iter().all(has) {
        words.push("write");
    } else {
        let named = [(Action::Create, "create"), (Action::Update, "update"), (Action::Delete, "delete")];
        words.extend(named.iter().filter(|(action, _)| has(*action)).map(|(_, word)| *word));
    }
    if has(Action::Reveal) {
        words.push("reveal");
    }
    words.join(", ")
}
