//! A state that is a folder of files, as a document: every file by its path, as text where it is text and in hexadecimal
//! digits where it is not. Equal folders have equal bytes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The largest document that is read, in bytes.
pub const LARGEST_FILES: usize = 256 << 20;
/// The longest path, in bytes.
const LONGEST_PATH: usize = 1_024;

/// The files of a folder, by path: plain names with `/` between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Files(BTreeMap<String, Vec<u8>>);

/// Why files could not be put together or read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// It is too large.
    #[error("the files have {0} bytes; at most {LARGEST_FILES} are read")]
    TooLarge(usize),
    /// It is no document of files.
    #[error("this is not a folder of files: {0}")]
    Malformed(String),
    /// It is of another version.
    #[error("the folder of files is of version {0}; this program reads version {version}", version = Files::VERSION)]
    Version(u32),
    /// A path leads out of the folder, or is not the one way to write it.
    #[error("`{0}` is no path inside a folder: plain names with `/` between them")]
    Path(String),
}

/// The form on disk.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    files: BTreeMap<String, Held>,
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Held {
    Text(String),
    Hex(String),
}

impl Files {
    /// The version that is written.
    pub const VERSION: u32 = 1;

    /// Puts a file into the folder, instead of one of the same path.
    pub fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Result<(), FilesError> {
        let plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['\\', '\0']);
        if path.len() > LONGEST_PATH || !path.split('/').all(plain) {
            return Err(FilesError::Path(path.chars().take(200).collect()));
        }
        self.0.insert(path.to_owned(), bytes.into());
        Ok(())
    }

    /// What a file holds.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(|bytes| &**bytes)
    }

    /// The files in order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, bytes)| (&**path, &**bytes))
    }

    /// The one form of this document; equal folders have equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let held = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => Held::Text(text.to_owned()),
            Err(_) => Held::Hex(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        };
        let files = self.iter().map(|(path, bytes)| (path.to_owned(), held(bytes))).collect();
        // Texts and numbers can always be written.
        serde_json::to_vec(&Written { version: Files::VERSION, files }).unwrap_or_default()
    }

    /// Reads a folder of files.
    pub fn from_bytes(bytes: &[u8]) -> Result<Files, FilesError> {
        if bytes.len() > LARGEST_FILES {
            return Err(FilesError::TooLarge(bytes.len()));
        }
        let Written { version, files } =
            serde_json::from_slice(bytes).map_err(|error| FilesError::Malformed(error.to_string()))?;
        if version != Files::VERSION {
            return Err(FilesError::Version(version));
        }
        let mut read = Files::default();
        for (path, held) in files {
            let bytes = match held {
                Held::Text(text) => text.into_bytes(),
                Held::Hex(digits) => unhex(&digits)
                    .ok_or_else(|| FilesError::Malformed(format!("`{path}` has no pairs of hexadecimal digits")))?,
            };
            read.put(&path, bytes)?;
        }
        Ok(read)
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |letter: &u8| char::from(*letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_reads_back_whatever_its_files_hold() {
        let mut files = Files::default();
        files.put("notes/today.txt", "é\n").unwrap();
        files.put("blob", [0xff, 0x00, 0x7f]).unwrap();
        files.put("empty", "").unwrap();
        let bytes = files.to_bytes();
        assert_eq!(Files::from_bytes(&bytes).unwrap(), files);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"version":1,"files":{"blob":{"hex":"ff007f"},"empty":{"text":""},"notes/today.txt":{"text":"é\n"}}}"#
        );
        assert_eq!(files.get("blob"), Some(&[0xff, 0x00, 0x7f][..]));
        assert_eq!(files.iter().map(|(path, _)| path).collect::<Vec<_>>(), ["blob", "empty", "notes/today.txt"]);
    }

    #[test]
    fn a_path_that_leads_out_of_the_folder_is_refused() {
        for path in ["", "/etc/passwd", "..", "a/../b", "a//b", "a/", "./a", "a\\b", "a\0", &"x".repeat(2_000)] {
            assert!(matches!(Files::default().put(path, ""), Err(FilesError::Path(_))), "{path:?}");
            let text = serde_json::json!({ "version": 1, "files": { path: { "text": "" } } }).to_string();
            assert!(matches!(Files::from_bytes(text.as_bytes()), Err(FilesError::Path(_))), "{path:?}");
        }
    }

    #[test]
    fn what_is_no_folder_of_files_is_refused() {
        for text in [
            "",
            "[]",
            r#"{"version":1}"#,
            r#"{"version":1,"files":{"a":{"hex":"f"}}}"#,
            r#"{"version":1,"files":{"a":{"hex":"zz"}}}"#,
            r#"{"version":1,"files":{},"more":1}"#,
        ] {
            assert!(matches!(Files::from_bytes(text.as_bytes()), Err(FilesError::Malformed(_))), "{text}");
        }
        let other = Files::from_bytes(br#"{"version":2,"files":{}}"#);
        assert!(matches!(other, Err(FilesError::Version(2))));
    }
}
