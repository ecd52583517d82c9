//! Where the task of a command line is.

use crate::failure::Failure;
use benchwright_pack::Store;
use std::path::Path;

/// Where a task given on the command line is.
pub(crate) fn locate(task: &Path) -> anyhow::Result<(Store, String)> {
    Store::locate(task).map_err(|error| {
        let next = "the folder of a task, such as DIR/open/ID; `benchwright new` makes some";
        Failure::wrong_use(error, next)
    })
}
