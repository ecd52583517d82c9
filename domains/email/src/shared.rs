//! What the tools of mailboxes share: the history of a mailbox, and lists of rows and texts.

use crate::names::{c, t};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ArgumentName, NativeCall, RowView, WordOf, cell};

/// Writes a line of history, numbered on from the last one of the mailbox.
pub(crate) fn history(
    call: &mut NativeCall<'_, '_>,
    user: RowId,
    kind: impl WordOf<t::history_record, c::kind>,
    message: Option<RowId>,
    label: Option<RowId>,
) -> Result<(), Refusal> {
    let lines = call.rows(t::history_record, &[cell(c::user, Value::Ref(user))])?;
    let number =
        |line: &RowView<t::history_record>| if let Value::Int(number) = line.get(c::number) { number } else { 0 };
    let last = lines.iter().map(number).max().unwrap_or(0);
    let values = [
        cell(c::user, Value::Ref(user)),
        cell(c::message, message.map_or(Value::Null, Value::Ref)),
        cell(c::label, label.map_or(Value::Null, Value::Ref)),
        cell(c::kind, call.word(t::history_record, c::kind, kind)),
        cell(c::number, Value::Int(last + 1)),
    ];
    call.create(t::history_record, &values)?;
    Ok(())
}

/// The rows of a list argument.
pub(crate) fn list(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<Vec<RowId>, Refusal> {
    Ok(call.arguments(argument)?.iter().filter_map(Value::as_ref_id).collect())
}

/// The texts of a list argument.
pub(crate) fn texts(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<Vec<String>, Refusal> {
    Ok(call.arguments(argument)?.iter().filter_map(|value| value.as_text().map(str::to_owned)).collect())
}
