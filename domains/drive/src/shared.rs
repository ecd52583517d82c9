//! What the tools of drives share: the folders above a file, the log of what was done, and lists of rows.

use crate::names::{c, t};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ArgumentName, NativeCall, RowView, WordOf, cell};

/// A file and the folders above it, the file first. A circle ends where it was entered.
pub(crate) fn above(call: &NativeCall<'_, '_>, file: RowId) -> Result<Vec<RowView<t::file>>, Refusal> {
    let mut chain: Vec<RowView<t::file>> = Vec::new();
    let mut at = Some(file);
    while let Some(id) = at {
        if chain.iter().any(|seen| seen.id() == id) {
            break;
        }
        let row = call.row(t::file, id)?;
        at = row.get(c::parent).as_ref_id();
        chain.push(row);
    }
    Ok(chain)
}

/// Writes down what was done with a file.
pub(crate) fn note(
    call: &mut NativeCall<'_, '_>,
    file: RowId,
    actor: RowId,
    kind: impl WordOf<t::activity, c::kind>,
    detail: &str,
) -> Result<(), Refusal> {
    let values = [
        cell(c::file, Value::Ref(file)),
        cell(c::actor, Value::Ref(actor)),
        cell(c::kind, call.word(t::activity, c::kind, kind)),
        cell(c::detail, Value::text(detail)),
    ];
    call.create(t::activity, &values)?;
    Ok(())
}

/// The rows of a list argument.
pub(crate) fn list(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<Vec<RowId>, Refusal> {
    Ok(call.arguments(argument)?.iter().filter_map(Value::as_ref_id).collect())
}
