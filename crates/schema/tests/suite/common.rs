//! Folders on disk as the loader takes them.

use benchwright_base::Diagnostic;
use benchwright_schema::Folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A path below `tests`.
pub(crate) fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(below)
}

/// The files of a folder, not of folders in it.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let entry = entry.expect("the entry can be read");
        if entry.file_type().expect("the entry has a type").is_file() {
            let name = entry.file_name().into_string().expect("the name is UTF-8");
            files.insert(name, std::fs::read_to_string(entry.path()).expect("the file is UTF-8"));
        }
    }
    files
}

/// The good domain.
pub(crate) fn shop() -> Folder {
    Folder::new("shop", files(&path("good/shop")))
}

/// Faults as they are shown.
pub(crate) fn shown(faults: &[Diagnostic]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

/// Compares with a file below `tests/golden`; `BENCHWRIGHT_UPDATE=1` writes it instead.
pub(crate) fn golden(name: &str, found: &str) {
    compare(&path("golden").join(name), found);
}

/// Compares with a file; `BENCHWRIGHT_UPDATE=1` writes it instead.
pub(crate) fn compare(file: &Path, found: &str) {
    if std::env::var_os("BENCHWRIGHT_UPDATE").is_some() {
        return std::fs::write(file, found).expect("the file can be written");
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    assert_eq!(found, expected, "{} differs; BENCHWRIGHT_UPDATE=1 rewrites it", file.display());
}
