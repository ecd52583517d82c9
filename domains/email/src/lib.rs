//! The tools of mailboxes that are more than one table operation: mail that goes out and comes in, labels with their history,
//! queries and filters.

mod filters;
mod labels;
mod mail;
mod names;
mod query;
mod sending;
mod shared;

use benchwright_sandbox::{Natives, natives};
use names::NAMES;

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
