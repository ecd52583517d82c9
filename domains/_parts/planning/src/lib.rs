//! The tools of a planner's desk: files to read, forms to hand in, stages to pass. They know nothing of what is planned; a document is held to
//! the declaration of its form ([`form`]) and to nothing else.

mod answer;
pub mod form;
mod forms;
mod names;
mod stage;
mod submit;
mod workspace;

use benchwright_sandbox::{Natives, natives};
use names::NAMES;

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("workspace_list", workspace::workspace_list),
    ("workspace_read", workspace::workspace_read),
    ("workspace_rows", workspace::workspace_rows),
    ("form_check", submit::form_check),
    ("form_submit", submit::form_submit),
    ("form_show", submit::form_show),
    ("stage_next", submit::stage_next),
];

#[cfg(test)]
mod tests;
