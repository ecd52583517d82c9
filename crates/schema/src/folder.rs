//! The files of a domain folder as text, wherever they came from: the disk, or the program itself.

use std::collections::BTreeMap;

/// The files of one folder by their path in it, with `/` between parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Folder {
    /// The folder's own name, which must be the domain's.
    pub name: String,
    /// Path to text.
    pub files: BTreeMap<String, String>,
}

impl Folder {
    /// The largest file that is read, in bytes.
    pub const LARGEST_FILE: usize = 1 << 20;
    /// The most that all files of a folder may hold, in bytes.
    pub const LARGEST_FOLDER: usize = 8 << 20;

    /// A folder of these files.
    pub fn new(name: impl Into<String>, files: impl IntoIterator<Item = (String, String)>) -> Folder {
        Folder { name: name.into(), files: files.into_iter().collect() }
    }

    /// A file's text.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|text| &**text)
    }
}
