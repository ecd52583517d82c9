//! The line of a native tool: `native takes … gives … reads … writes …: clause`.

use super::draft::Draft;
use super::types;
use crate::model::{Argument, Cell, Native, Shape};
use crate::text::{Cursor, Faults, MOST_ITEMS, Piece, is_snake, word};
use benchwright_base::{RelationId, TableId};
use benchwright_expr::Type;

const SECTIONS: [&str; 4] = ["takes", "gives", "reads", "writes"];
/// What an argument of a record call can be.
const SHAPES: [&str; 4] = ["new", "vals", "domain", "fields"];

/// Reads what follows `native`.
pub(super) fn read(mut cursor: Cursor<'_>, draft: &Draft, faults: &Faults) -> Option<Native> {
    let mut native = Native {
        takes: Vec::new(),
        gives: Vec::new(),
        many: false,
        json: false,
        reads: Vec::new(),
        writes: Vec::new(),
        clause: String::new(),
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut whole = true;
    while !cursor.eat(":") {
        let here = cursor.here();
        let Some(section) = SECTIONS.into_iter().find(|section| *section == here.text) else {
            let message = format!("expected a part of a native tool or `:`, found {}", word(here.text));
            faults.unknown(here, message, SECTIONS);
            return None;
        };
        cursor.word();
        if seen.contains(&section) {
            faults.at(here, format!("`{section}` is here twice"));
            return None;
        }
        seen.push(section);
        if section == "gives" && cursor.eat_word("json") {
            native.json = true;
            continue;
        }
        if section == "reads" && cursor.eat("*") {
            native.reads = (0..draft.domain.tables.len()).map(|at| RelationId(at as u16)).collect();
            continue;
        }
        native.many |= section == "gives" && cursor.eat_word("many");
        loop {
            match section {
                "reads" | "writes" => {
                    let tables = if section == "reads" { &mut native.reads } else { &mut native.writes };
                    whole &= read_table(&mut cursor, tables, draft, faults)?;
                }
                _ => {
                    let taken = section == "takes";
                    let (argument, name) = match read_argument(&mut cursor, taken, draft, faults)? {
                        (Some(argument), name) => (argument, name),
                        (None, _) => {
                            whole = false;
                            if cursor.eat(",") {
                                continue;
                            }
                            break;
                        }
                    };
                    let known = |known: &Cell| known.name == argument.cell.name;
                    let twice = if taken {
                        native.takes.iter().any(|other| known(&other.cell))
                    } else {
                        native.gives.iter().any(known)
                    };
                    if twice {
                        faults.at(name, format!("{} is here twice", word(name.text)));
                        whole = false;
                    } else if taken {
                        native.takes.push(argument);
                    } else {
                        native.gives.push(argument.cell);
                    }
                }
            }
            let most = native.takes.len().max(native.gives.len());
            if most > MOST_ITEMS {
                faults.at(here, format!("this list has more than {MOST_ITEMS} items"));
                return None;
            }
            if !cursor.eat(",") {
                break;
            }
        }
    }
    let clause = cursor.rest();
    if clause.text.is_empty() {
        faults.at(clause, "a native tool says what it does after `:`");
        return None;
    }
    clause.text.clone_into(&mut native.clause);
    whole.then_some(native)
}

/// One table of a list; `Some(false)` if it is not a table of the domain.
fn read_table(cursor: &mut Cursor<'_>, tables: &mut Vec<TableId>, draft: &Draft, faults: &Faults) -> Option<bool> {
    let here = cursor.here();
    let Some(name) = cursor.word() else {
        faults.at(here, format!("expected a table, found {}", word(here.text)));
        return None;
    };
    let Some(table) = draft.table(name, faults) else { return Some(false) };
    if tables.contains(&table) {
        faults.at(name, format!("{} is here twice", word(name.text)));
        return Some(false);
    }
    tables.push(table);
    Some(true)
}

/// `name: TYPE` with `list of` before the type and `!` after it; the argument is `None` if its type is not there.
fn read_argument<'s>(
    cursor: &mut Cursor<'s>,
    taken: bool,
    draft: &Draft,
    faults: &Faults,
) -> Option<(Option<Argument>, Piece<'s>)> {
    let here = cursor.here();
    let Some(name) = cursor.word() else {
        faults.at(here, format!("expected a name, found {}", word(here.text)));
        return None;
    };
    if !cursor.eat(":") {
        let here = cursor.here();
        let message = format!("expected `:` and a type after {}, found {}", word(name.text), word(here.text));
        faults.at(here, message);
        return None;
    }
    if !is_snake(name.text) {
        faults.at(name, format!("an argument's name is lower case with underscores, not {}", word(name.text)));
        return None;
    }
    let place = cursor.here();
    let list = cursor.eat_word("list");
    if list && !cursor.eat_word("of") {
        faults.at(cursor.here(), "expected `of` after `list`");
        return None;
    }
    if list && !taken {
        faults.with_help(place, "a native tool gives no lists", "write `gives many` for a list of rows");
        return None;
    }
    let shape = read_shape(cursor, draft, faults)?;
    if shape.is_some() && !taken {
        faults.with_help(place, "a native tool gives values", "write `gives json` for an answer of its own form");
        return None;
    }
    let (ty, nullable, bounds, shape) = match shape {
        Some(shape) => (shape.map(|_| Type::Null), false, None, shape.unwrap_or(Shape::Json)),
        None => {
            let written = types::read(cursor, draft, faults)?;
            (written.ty, written.nullable, written.bounds, Shape::Value)
        }
    };
    let here = cursor.here();
    let required = cursor.eat("!");
    if required && !taken {
        faults.at(here, "`!` is for what a tool takes");
        return None;
    }
    let cell = |ty| Cell { name: name.text.to_owned(), ty, nullable, bounds };
    Some((ty.map(|ty| Argument { cell: cell(ty), required, list, shape }), name))
}

/// `Some(None)` for a shape of a table that is not there.
type MaybeShape = Option<Option<Shape>>;

/// Takes `new of t`, `vals of t`, `domain of t`, `fields of t`, `json` or `scalar`, if one is next. `None` means that the rest cannot
/// be read; a fault has been told.
fn read_shape(cursor: &mut Cursor<'_>, draft: &Draft, faults: &Faults) -> Option<MaybeShape> {
    if cursor.eat_word("json") {
        return Some(Some(Some(Shape::Json)));
    }
    if cursor.eat_word("scalar") {
        return Some(Some(Some(Shape::Scalar)));
    }
    let Some(meant) = SHAPES.into_iter().find(|shape| cursor.eat_word(shape)) else { return Some(None) };
    if !cursor.eat_word("of") {
        faults.at(cursor.here(), format!("expected `of` and a table after `{meant}`"));
        return None;
    }
    let here = cursor.here();
    let Some(name) = cursor.word() else {
        faults.at(here, format!("expected a table, found {}", word(here.text)));
        return None;
    };
    let shape = |table| match meant {
        "new" => Shape::New(table),
        "vals" => Shape::Vals(table),
        "domain" => Shape::Domain(table),
        _ => Shape::Fields(table),
    };
    Some(Some(draft.table(name, faults).map(shape)))
}
