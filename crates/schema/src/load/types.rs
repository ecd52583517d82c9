//! The notation of types: `int(0..10)?`, `-> account`, `Priority`. Fields of tables, arguments of native tools and the
//! values they give share it.

use super::draft::Draft;
use crate::text::{Cursor, Faults, Piece, word};
use benchwright_base::{EnumId, number};
use benchwright_expr::Type;

/// The words for types that are always there.
pub(super) const SCALARS: [(&str, Type); 9] = [
    ("bool", Type::Bool),
    ("int", Type::Int),
    ("money", Type::Money),
    ("quantity", Type::Quantity),
    ("text", Type::Text),
    ("date", Type::Date),
    ("datetime", Type::DateTime),
    ("time", Type::Time),
    ("duration", Type::Duration),
];

/// A type as written.
pub(super) struct Written {
    /// The type; `None` if it names something that is not there or is broken.
    pub(super) ty: Option<Type>,
    /// Whether it ends in `?`.
    pub(super) nullable: bool,
    /// What stands in parentheses after it.
    pub(super) bounds: Option<(i64, i64)>,
}

/// Reads a type. `None` means that the rest cannot be read either; a fault has been told.
pub(super) fn read(cursor: &mut Cursor<'_>, draft: &Draft, faults: &Faults) -> Option<Written> {
    let ty = if cursor.eat("->") {
        let here = cursor.here();
        let Some(name) = cursor.word() else {
            faults.at(here, format!("expected a table after `->`, found {}", word(here.text)));
            return None;
        };
        draft.table(name, faults).map(Type::Ref)
    } else {
        let here = cursor.here();
        let Some(name) = cursor.word() else {
            faults.at(here, format!("expected a type, found {}", word(here.text)));
            return None;
        };
        named(name, draft, faults)
    };
    let mut written = Written { ty, nullable: false, bounds: None };
    let here = cursor.here();
    if cursor.eat("(") {
        let Some(bounds) = cursor.until(')') else {
            faults.at(here, "this `(` is not closed");
            return None;
        };
        match ty {
            Some(Type::Int | Type::Money | Type::Quantity | Type::Text) => {
                written.bounds = read_bounds(bounds, ty, faults);
                if written.bounds.is_none() {
                    written.ty = None;
                }
            }
            Some(_) => {
                faults.with_help(here, "this type has no bounds", "only int, money, quantity and text have them");
                written.ty = None;
            }
            None => {}
        }
    }
    written.nullable = cursor.eat("?");
    Some(written)
}

fn named(name: Piece<'_>, draft: &Draft, faults: &Faults) -> Option<Type> {
    if let Some((_, ty)) = SCALARS.iter().find(|(word, _)| *word == name.text) {
        return Some(*ty);
    }
    let enums = &draft.domain.enums;
    if let Some(at) = enums.iter().position(|known| known.name == name.text) {
        let id = EnumId(at as u16);
        return (!draft.broken_enums.contains(&id)).then_some(Type::Enum(id));
    }
    if draft.domain.table_named(name.text).is_some() {
        let mend = format!("a reference is written `-> {}`", name.text);
        faults.with_help(name, format!("{} is a table, not a type", word(name.text)), mend);
        return None;
    }
    if draft.lost_enums {
        return None;
    }
    let names = SCALARS.iter().map(|(word, _)| *word).chain(enums.iter().map(|known| &*known.name));
    faults.unknown(name, format!("unknown type {}", word(name.text)), names);
    None
}

/// Reads `1..`, `..5` or `0..10`, in the smallest unit of the type.
fn read_bounds(text: Piece<'_>, ty: Option<Type>, faults: &Faults) -> Option<(i64, i64)> {
    let decimals = match ty {
        Some(Type::Money) => number::MONEY_DECIMALS,
        Some(Type::Quantity) => number::QUANTITY_DECIMALS,
        _ => 0,
    };
    let Some((low, high)) = text.text.split_once("..") else {
        faults.with_help(text, "expected bounds", "write `(1..)`, `(..5)` or `(0..10)`");
        return None;
    };
    let lowest = if ty == Some(Type::Text) { 0 } else { i64::MIN };
    let end = |part: &str, open: i64| match part.trim() {
        "" => Some(open),
        part => number::parse_decimal(part, decimals),
    };
    match (end(low, lowest), end(high, i64::MAX)) {
        (Some(low), Some(high)) if low > high => faults.at(text, "the low bound is above the high one"),
        (Some(low), Some(_)) if low < lowest => faults.at(text, "a text has no negative length"),
        (Some(low), Some(high)) => return Some((low, high)),
        _ => faults.at(text, format!("{} are not bounds of this type", word(text.text))),
    }
    None
}
