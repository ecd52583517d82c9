//! Folders that the program is run in, and what it said.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

/// A folder that goes with the test.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("benchwright-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Writes a domain folder, or any other folder of files.
    pub(crate) fn folder(&self, name: &str, files: &[(&str, &str)]) {
        fs::create_dir_all(self.0.join(name)).unwrap();
        for (file, text) in files {
            fs::write(self.0.join(name).join(file), text).unwrap();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One task of a folder with those that come with the program, so that a test is short.
pub(crate) fn first_task(folder: &Path) -> String {
    let open = fs::read_dir(folder.join("demo/open")).unwrap();
    open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).min().unwrap()
}

/// All that a program said, on either stream.
pub(crate) fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}
