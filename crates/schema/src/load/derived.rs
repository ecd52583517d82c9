//! The notation of what can be read of a row but is no cell of it: `many t by f`, `many t through l by f, g`,
//! `many t derived` and `TYPE derived`.

use super::draft::Draft;
use super::types;
use crate::model::DerivedKind;
use crate::text::{Cursor, Faults, Piece, word};
use benchwright_base::{FieldId, TableId};
use benchwright_expr::Type;

/// Reads it; `None` if a fault was told, now or before.
pub(super) fn read(text: Piece<'_>, table: TableId, draft: &Draft, faults: &Faults) -> Option<DerivedKind> {
    let mut cursor = Cursor::new(text);
    if !cursor.eat_word("many") {
        let written = types::read(&mut cursor, draft, faults)?;
        cursor.eat_word("derived");
        ended(&mut cursor, faults)?;
        return written.ty.map(DerivedKind::Value);
    }
    let name = named(&mut cursor, "a table", faults)?;
    let rows = draft.table(name, faults)?;
    let here = cursor.here();
    let kind = if cursor.eat_word("derived") {
        DerivedKind::Rows(rows)
    } else if cursor.eat_word("by") {
        DerivedKind::Children { table: rows, field: reference(&mut cursor, rows, table, draft, faults)? }
    } else if cursor.eat_word("through") {
        let name = named(&mut cursor, "a table", faults)?;
        let link = draft.table(name, faults)?;
        if !cursor.eat_word("by") {
            faults.at(cursor.here(), "expected `by` and the two fields of the joint");
            return None;
        }
        let from = reference(&mut cursor, link, table, draft, faults)?;
        if !cursor.eat(",") {
            faults.at(cursor.here(), "expected a comma and the field that refers to the other row");
            return None;
        }
        let to = reference(&mut cursor, link, rows, draft, faults)?;
        DerivedKind::Linked { table: rows, link, from, to }
    } else {
        faults.unknown(here, format!("expected a way to the rows, found {}", word(here.text)), WAYS);
        return None;
    };
    ended(&mut cursor, faults)?;
    Some(kind)
}

const WAYS: [&str; 3] = ["by", "through", "derived"];

fn named<'s>(cursor: &mut Cursor<'s>, what: &str, faults: &Faults) -> Option<Piece<'s>> {
    let here = cursor.here();
    let name = cursor.word();
    if name.is_none() {
        faults.at(here, format!("expected {what}, found {}", word(here.text)));
    }
    name
}

/// A field of a table that refers to another one.
fn reference(cursor: &mut Cursor<'_>, of: TableId, to: TableId, draft: &Draft, faults: &Faults) -> Option<FieldId> {
    let name = named(cursor, "a field", faults)?;
    let field = draft.field(of, name, faults)?;
    let ty = draft.domain.table(of).field(field).ty;
    if ty != Type::Ref(to) {
        let wanted = draft.type_name(Type::Ref(to));
        faults.at(name, format!("{} is {}, not {wanted}", word(name.text), draft.type_name(ty)));
        return None;
    }
    Some(field)
}

fn ended(cursor: &mut Cursor<'_>, faults: &Faults) -> Option<()> {
    if cursor.is_done() {
        return Some(());
    }
    let here = cursor.here();
    faults.at(here, format!("expected nothing more, found {}", word(here.text)));
    None
}
