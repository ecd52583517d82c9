//! Where the task of a command line is.

use crate::failure::Failure;
use benchwright_pack::Store;
use std::path::Path;

const NEXT: &str = "the folder of a task, such as DIR/open/ID; `benchwright new` makes some";

/// Where a task given on the command line is.
pub(crate) fn locate(task: &Path) -> anyhow::Result<(Store, String)> {
    Store::locate(task).map_err(|error| Failure::wrong_use(error, NEXT))
}

/// The same, or the one task of a folder that has no other.
pub(crate) fn locate_only(task: &Path) -> anyhow::Result<(Store, String)> {
    Store::locate_only(task).map_err(|error| Failure::wrong_use(error, NEXT))
}
