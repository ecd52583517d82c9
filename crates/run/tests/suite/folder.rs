//! Fresh folders for tests.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// An empty folder of a name that no other test has.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
