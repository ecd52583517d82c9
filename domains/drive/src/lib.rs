//! The tools of drives that are more than one table operation: files that move and are copied with what is allowed on them, who can
//! reach what, labels with their fields, approvals and the trash.

mod access;
mod files;
mod marks;
mod names;

use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ArgumentName, NativeCall, Natives, RowView, WordOf, cell, natives};
use names::{NAMES, c, t};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("get_about", files::get_about),
    ("copy_files", files::copy_files),
    ("move_files", files::move_files),
    ("empty_trash", files::empty_trash),
    ("generate_ids", files::generate_ids),
    ("export_file", files::export_file),
    ("download_file", files::download_file),
    ("list_folder_tree", files::list_folder_tree),
    ("get_path", files::get_path),
    ("transfer_ownership", access::transfer_ownership),
    ("check_effective_access", access::check_effective_access),
    ("list_files_shared_with", access::list_files_shared_with),
    ("resolve_access_proposal", access::resolve_access_proposal),
    ("answer_approval", marks::answer_approval),
    ("restore_revision", files::restore_revision),
    ("create_reply", marks::create_reply),
    ("modify_files_labels", marks::modify_labels),
    ("get_start_page_token", marks::get_start_page_token),
    ("get_storage_quota", files::get_storage_quota),
];

/// A file and the folders above it, the file first. A circle ends where it was entered.
fn above(call: &NativeCall<'_, '_>, file: RowId) -> Result<Vec<RowView<t::file>>, Refusal> {
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
fn note(
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
fn list(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<Vec<RowId>, Refusal> {
    Ok(call.arguments(argument)?.iter().filter_map(Value::as_ref_id).collect())
}
