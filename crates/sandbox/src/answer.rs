//! Writes rows as the JSON of an answer. Fields that the caller's role may not see are left out, and values of referenced
//! rows that the tool shows (`user.name`) are read along.

use crate::{access::Actor, compiled::Compiled, row::Row, state::State};
use benchwright_base::{TableId, Value, json, number};
use benchwright_schema::{Action, Shown, codec};

/// The most rows on a page.
pub(crate) const LARGEST_PAGE: i64 = 200;
/// The rows on a page when nothing is said.
pub(crate) const USUAL_PAGE: i64 = 50;
/// A page ends early once it has this many bytes.
pub(crate) const LARGEST_ANSWER: usize = 256 << 10;

/// Writes all cells of a row.
fn write_cells(out: &mut Vec<u8>, compiled: &Compiled, table: TableId, cells: &[Value], hide: bool) {
    let (declared, labels) = (compiled.domain.table(table), &compiled.tables[table.index()].labels);
    for ((field, label), value) in declared.fields.iter().zip(labels).zip(cells) {
        if hide && field.secret {
            continue;
        }
        out.extend_from_slice(label);
        codec::write_value(out, &compiled.domain, field.ty, value);
    }
    out.push(b'}');
}

/// The JSON of a whole row, secret fields and all, kept with the row.
pub(crate) fn whole_row<'r>(compiled: &Compiled, table: TableId, row: &'r Row) -> &'r [u8] {
    row.json(|out, cells| write_cells(out, compiled, table, cells, false))
}

/// Writes a row as the actor may see it, with shown values.
pub(crate) fn write_row(
    out: &mut Vec<u8>,
    actor: &Actor<'_>,
    state: &State,
    table: TableId,
    row: &Row,
    show: &[Shown],
) {
    if actor.reveals(state, table, row) {
        out.extend_from_slice(whole_row(actor.compiled, table, row));
    } else {
        write_cells(out, actor.compiled, table, row.cells(), true);
    }
    write_shown(out, actor, state, row, show);
}

/// Writes a row that was just written: its JSON is not kept, because most such rows are not read again.
pub(crate) fn write_new_row(
    out: &mut Vec<u8>,
    actor: &Actor<'_>,
    state: &State,
    table: TableId,
    row: &Row,
    show: &[Shown],
) {
    write_cells(out, actor.compiled, table, row.cells(), !actor.reveals(state, table, row));
    write_shown(out, actor, state, row, show);
}

fn write_shown(out: &mut Vec<u8>, actor: &Actor<'_>, state: &State, row: &Row, show: &[Shown]) {
    for shown in show {
        if let Some(value) = shown_value(actor, state, row, shown) {
            open_again(out);
            json::write_text(out, &shown.name);
            out.push(b':');
            codec::write_value(out, &actor.compiled.domain, shown.ty, &value);
            out.push(b'}');
        }
    }
}

/// Takes the closing brace off an object, so that more can follow.
pub(crate) fn open_again(out: &mut Vec<u8>) {
    out.pop();
    out.push(b',');
}

/// What a path reaches, if the actor may see every row on the way; null where the path ends early.
fn shown_value(actor: &Actor<'_>, state: &State, row: &Row, shown: &Shown) -> Option<Value> {
    let ((_, last), steps) = shown.path.split_last()?;
    let mut at: Option<&Row> = Some(row);
    for (step, (_, field)) in steps.iter().enumerate() {
        let table = shown.path[step + 1].0;
        actor.require(table, Action::Read).ok()?;
        at = at.and_then(|row| row.get(*field).as_ref_id()).and_then(|id| state.get(table, id)).map(|row| &**row);
        if let Some(row) = at
            && !actor.may(state, table, Action::Read, row)
        {
            return None;
        }
    }
    let table = shown.path.last()?.0;
    if actor.compiled.domain.table(table).field(*last).secret && !at.is_some_and(|row| actor.reveals(state, table, row))
    {
        return None;
    }
    Some(at.map_or(Value::Null, |row| row.get(*last).clone()))
}

/// Writes `"key":number` after a comma or an opening brace.
pub(crate) fn write_count(out: &mut Vec<u8>, key: &str, count: usize) {
    json::write_text(out, key);
    out.push(b':');
    number::write_int(out, count as i64);
}
