//! The tools of drives that are more than one table operation: files that move and are copied with what is allowed on them, who can
//! reach what, labels with their fields, approvals and the trash.

mod access;
mod files;
mod marks;
mod names;
mod shared;

use benchwright_sandbox::{Natives, natives};
use names::NAMES;

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
