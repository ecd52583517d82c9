//! The tools of mailboxes that are more than one table operation: mail that goes out and comes in, labels with their history,
//! queries and filters.

mod filters;
mod labels;
mod mail;
mod names;
mod query;
mod sending;

use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ArgumentName, NativeCall, Natives, RowView, WordOf, cell, natives};
use names::{NAMES, c, t};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("search_messages", filters::search_messages),
    ("send_message", sending::send_message),
    ("reply_to_message", sending::reply_to_message),
    ("forward_message", sending::forward_message),
    ("insert_message", sending::insert_message),
    ("import_message", sending::import_message),
    ("trash_message", labels::trash_message),
    ("untrash_message", labels::untrash_message),
    ("delete_message", sending::delete_message),
    ("modify_message_labels", labels::modify_message_labels),
    ("batch_modify_message_labels", labels::batch_modify_message_labels),
    ("batch_delete_messages", sending::batch_delete_messages),
    ("modify_thread_labels", labels::modify_thread_labels),
    ("trash_thread", labels::trash_thread),
    ("untrash_thread", labels::untrash_thread),
    ("delete_thread", sending::delete_thread),
    ("send_draft", sending::send_draft),
    ("apply_filter_to_existing", filters::apply_filter_to_existing),
];

/// Writes a line of history, numbered on from the last one of the mailbox.
fn history(
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
fn list(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<Vec<RowId>, Refusal> {
    Ok(call.arguments(argument)?.iter().filter_map(Value::as_ref_id).collect())
}

/// The texts of a list argument.
fn texts(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<Vec<String>, Refusal> {
    Ok(call.arguments(argument)?.iter().filter_map(|value| value.as_text().map(str::to_owned)).collect())
}
