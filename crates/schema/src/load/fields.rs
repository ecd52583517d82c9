//! The notation of a field: `TYPE[(bounds)][?] [modifiers…] [= default]`, and what each part of it means.

use super::draft::Draft;
use super::types;
use crate::model::{Field, Key, Stamp};
use crate::text::{Cursor, Faults, Piece, word};
use benchwright_base::{FieldId, TableId, Time, Value};
use benchwright_expr::Type;

const MODIFIERS: [&str; 8] = ["unique", "server", "owned", "secret", "sole", "prose", "log", "="];

/// What a field's string says about things that need the other fields to be known.
pub(super) struct Declared<'s> {
    whole: Piece<'s>,
    unique: Option<Option<Piece<'s>>>,
    sole: Option<Piece<'s>>,
    server: Option<Server<'s>>,
    equals: Option<Piece<'s>>,
}

/// How the world sets it, as written.
#[derive(Clone, Copy)]
enum Server<'s> {
    Bare,
    Template(Piece<'s>),
    OnCreate(Piece<'s>),
    OnWrite(Piece<'s>),
    When(Piece<'s>),
    Actor(Piece<'s>),
}

/// Reads a field's string: its type, which is set at once, and the rest, which waits.
pub(super) fn read<'s>(
    text: Piece<'s>,
    table: TableId,
    id: FieldId,
    draft: &mut Draft,
    faults: &Faults,
) -> Option<Declared<'s>> {
    let mut cursor = Cursor::new(text);
    let written = types::read(&mut cursor, draft, faults)?;
    let mut found = Declared { whole: text, unique: None, sole: None, server: None, equals: None };
    let (mut owned, mut secret, mut prose, mut log) = (false, false, false, false);
    while !cursor.is_done() {
        let here = cursor.here();
        let twice = match here.text {
            "unique" => found.unique.is_some(),
            "server" => found.server.is_some(),
            "owned" => owned,
            "secret" => secret,
            "prose" => prose,
            "log" => log,
            "sole" => found.sole.is_some(),
            _ => false,
        };
        if twice {
            faults.at(here, format!("{} is here twice", word(here.text)));
            return None;
        }
        if cursor.eat("=") {
            found.equals = Some(cursor.rest());
            break;
        } else if cursor.eat_word("unique") {
            let within = cursor.eat_word("in");
            let field = if within { Some(cursor.word().or_else(|| missing(cursor.here(), faults))?) } else { None };
            found.unique = Some(field);
        } else if cursor.eat_word("sole") {
            if !cursor.eat_word("in") {
                faults.at(cursor.here(), "expected `in` and a field after `sole`");
                return None;
            }
            found.sole = Some(cursor.word().or_else(|| missing(cursor.here(), faults))?);
        } else if cursor.eat_word("owned") {
            owned = true;
            if !matches!(written.ty, Some(Type::Ref(_)) | None) {
                faults.at(here, "only a reference can be `owned`");
                return None;
            }
        } else if cursor.eat_word("secret") {
            secret = true;
        } else if cursor.eat_word("log") {
            log = true;
        } else if cursor.eat_word("prose") {
            prose = true;
            if !matches!(written.ty, Some(Type::Text) | None) {
                faults.at(here, "only a text can be `prose`");
                return None;
            }
        } else if cursor.eat_word("server") {
            found.server = Some(read_server(&mut cursor, faults)?);
            if matches!(found.server, Some(Server::When(_))) {
                break;
            }
        } else {
            let message = format!("expected a modifier or `= default`, found {}", word(here.text));
            faults.unknown(here, message, MODIFIERS);
            return None;
        }
    }
    let ty = written.ty?;
    if found.sole.is_some() && ty != Type::Bool {
        faults.at(text, "only a bool can be `sole`");
        return None;
    }
    let field = &mut draft.domain.tables[table.index()].fields[id.index()];
    *field =
        Field { ty, nullable: written.nullable, bounds: written.bounds, owned, secret, prose, log, ..field.clone() };
    Some(found)
}

fn missing<'s>(here: Piece<'s>, faults: &Faults) -> Option<Piece<'s>> {
    faults.at(here, format!("expected a field after `in`, found {}", word(here.text)));
    None
}

fn read_server<'s>(cursor: &mut Cursor<'s>, faults: &Faults) -> Option<Server<'s>> {
    let here = cursor.here();
    if cursor.eat("'") {
        let Some(template) = cursor.until('\'') else {
            faults.at(here, "this quote is not closed");
            return None;
        };
        return Some(Server::Template(template));
    }
    if cursor.eat_word("when") {
        return Some(Server::When(cursor.rest()));
    }
    if cursor.eat_word("actor") {
        return Some(Server::Actor(here));
    }
    if cursor.eat_word("on") {
        let moment = cursor.here();
        if cursor.eat_word("create") {
            return Some(Server::OnCreate(here));
        }
        if cursor.eat_word("write") {
            return Some(Server::OnWrite(here));
        }
        let message = format!("expected `create` or `write` after `server on`, found {}", word(moment.text));
        faults.unknown(moment, message, ["create", "write"]);
        return None;
    }
    Some(Server::Bare)
}

/// Resolves what waited. `None` means that the field is broken; a fault has been told, now or before.
pub(super) fn finish(
    found: &Declared<'_>,
    table: TableId,
    id: FieldId,
    draft: &mut Draft,
    faults: &Faults,
) -> Option<()> {
    let mut whole = true;
    if let Some(within) = found.unique {
        let parent = match within {
            Some(name) => draft.field(table, name, faults).map(Some),
            None => Some(None),
        };
        match (parent, within) {
            (Some(Some(parent)), Some(name)) if parent == id => {
                faults.at(name, "a field cannot be unique in itself");
                whole = false;
            }
            (Some(parent), _) => {
                let fields = parent.into_iter().chain([id]).collect();
                draft.domain.tables[table.index()].keys.push(Key { fields });
            }
            (None, _) => whole = false,
        }
    }
    if let Some(name) = found.sole {
        match draft.field(table, name, faults) {
            Some(parent) if matches!(draft.domain.table(table).field(parent).ty, Type::Ref(_)) => {
                draft.domain.tables[table.index()].fields[id.index()].sole_in = Some(parent);
            }
            Some(_) => {
                faults.at(name, format!("{} is not a reference", word(name.text)));
                whole = false;
            }
            None => whole = false,
        }
    }
    let field = draft.domain.table(table).field(id).clone();
    let (stamp, default) = match (found.server, found.equals) {
        (None, None) => (None, None),
        (None, Some(text)) => (None, Some(default(&field, text, draft, faults)?)),
        (Some(server), equals) => {
            let unique = found.unique.is_some();
            let (stamp, default) = stamp(server, equals, &field, unique, (table, found.whole), draft, faults)?;
            (Some(stamp), default)
        }
    };
    let field = &mut draft.domain.tables[table.index()].fields[id.index()];
    field.stamp = stamp;
    // A default of null is what a field without one gets anyway.
    field.default = default.filter(|value| !value.is_null());
    whole.then_some(())
}

fn default(field: &Field, text: Piece<'_>, draft: &Draft, faults: &Faults) -> Option<Value> {
    if matches!(field.ty, Type::Ref(_)) && text.text != "null" {
        faults.at(text, "a reference has no default but `null`");
        return None;
    }
    if text.text.is_empty() {
        faults.at(text, "expected a default after `=`");
        return None;
    }
    draft.value(&field.name, field.ty, field.nullable, field.bounds, text, faults)
}

/// How the world sets a field, and with what default.
fn stamp(
    server: Server<'_>,
    equals: Option<Piece<'_>>,
    field: &Field,
    unique: bool,
    (table, whole): (TableId, Piece<'_>),
    draft: &Draft,
    faults: &Faults,
) -> Option<(Stamp, Option<Value>)> {
    let is_clock = matches!(field.ty, Type::Date | Type::DateTime);
    let only = |place: Piece<'_>, what: &str| {
        faults.at(place, format!("this needs {what}, and `{}` is {}", field.name, draft.type_name(field.ty)));
        None
    };
    if let (Some(equals), false) = (equals, matches!(server, Server::Bare)) {
        faults.with_help(equals, "the world sets this field already", "leave out `=` and what follows");
        return None;
    }
    match server {
        Server::Template(text) if field.ty != Type::Text => only(text, "a text"),
        Server::Template(text) => match template(text.text) {
            Some(stamp) => Some((stamp, None)),
            None => {
                let mend = "write it like `'CS#######'`: one run of `#`, at most eighteen";
                faults.with_help(text, format!("{} is not a template for numbers", word(text.text)), mend);
                None
            }
        },
        Server::OnCreate(_) if is_clock => Some((Stamp::OnCreate, None)),
        Server::OnWrite(_) if is_clock => Some((Stamp::OnWrite, None)),
        Server::OnCreate(text) | Server::OnWrite(text) => only(text, "a date or datetime"),
        Server::When(text) if !is_clock => only(text, "a date or datetime"),
        Server::When(text) if !field.nullable => {
            faults.with_help(text, format!("`{}` cannot be null", field.name), "put `?` after its type");
            None
        }
        Server::When(text) => Some((Stamp::When(draft.truth(text, table, faults)?), None)),
        Server::Actor(text) => match (draft.domain.actor, field.ty) {
            (Some(actor), Type::Ref(to)) if actor == to => Some((Stamp::Actor, None)),
            (Some(actor), _) => only(text, &format!("a reference to `{}`", draft.domain.table(actor).name)),
            (None, _) if draft.broken_actor => None,
            (None, _) => {
                faults.with_help(text, "this domain has nobody who acts", "name the table in domain.toml as `actor`");
                None
            }
        },
        Server::Bare => match equals {
            Some(text) => keep_or_compute(text, field, table, draft, faults),
            None => bare(field, unique, table, whole, draft, faults),
        },
    }
}

fn keep_or_compute(
    text: Piece<'_>,
    field: &Field,
    table: TableId,
    draft: &Draft,
    faults: &Faults,
) -> Option<(Stamp, Option<Value>)> {
    let is_literal = match field.ty {
        // Any words are a text; to be one here they stand in quotes.
        Type::Text => {
            text.text.len() > 1 && text.text.starts_with('\'') && text.text[1..].find('\'') == Some(text.text.len() - 2)
        }
        ty => draft.literal(ty, text.text).is_some(),
    };
    if is_literal || text.text == "null" || text.text.is_empty() {
        return Some((Stamp::Keep, Some(default(field, text, draft, faults)?)));
    }
    Some((Stamp::Computed(draft.computed(text, table, field.ty, faults)?), None))
}

/// What `server` alone means.
fn bare(
    field: &Field,
    unique: bool,
    table: TableId,
    whole: Piece<'_>,
    draft: &Draft,
    faults: &Faults,
) -> Option<(Stamp, Option<Value>)> {
    let least = |lowest: i64| field.bounds.map_or(lowest, |(low, high)| lowest.clamp(low, high));
    let value = match field.ty {
        Type::Text if unique => {
            let initials = draft.domain.table(table).name.split('_').filter_map(|part| part.chars().next());
            let prefix = initials.collect::<String>().to_ascii_uppercase();
            return Some((Stamp::Number { prefix, digits: 7, suffix: String::new() }, None));
        }
        _ if field.nullable => return Some((Stamp::Keep, None)),
        Type::Date | Type::DateTime => return Some((Stamp::OnCreate, None)),
        Type::Ref(_) => {
            let mend = "write `server actor`, `server = <expression>`, or put `?` after its type";
            faults.with_help(whole, format!("the world has no value for `{}`", field.name), mend);
            return None;
        }
        Type::Text if field.bounds.is_some_and(|(low, _)| low > 0) => {
            let mend = "write `server = '…'`";
            faults.with_help(whole, format!("the world has no value for `{}`", field.name), mend);
            return None;
        }
        Type::Text => Value::text(""),
        Type::Bool => Value::Bool(false),
        Type::Int => Value::Int(least(0)),
        Type::Money => Value::Money(least(0)),
        Type::Quantity => Value::Quantity(least(0)),
        Type::Duration => Value::Duration(0),
        Type::Time => Value::Time(Time(0)),
        Type::Enum(_) => Value::Enum(0),
        Type::Months | Type::Null => Value::Null,
    };
    Some((Stamp::Keep, Some(value)))
}

/// Reads `CS#######`.
fn template(text: &str) -> Option<Stamp> {
    let start = text.find('#')?;
    let digits = text[start..].bytes().take_while(|b| *b == b'#').count();
    let suffix = &text[start + digits..];
    let fits = digits <= 18 && !suffix.contains('#') && text.len() <= 64 && !text.chars().any(char::is_control);
    fits.then(|| Stamp::Number { prefix: text[..start].to_owned(), digits, suffix: suffix.to_owned() })
}
