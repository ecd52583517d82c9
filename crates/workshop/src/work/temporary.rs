//! A folder that goes when it is no longer needed.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder of its own below the system's folder for such things.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes a new, empty folder among the temporary files of the system.
    pub fn new() -> io::Result<Temporary> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("benchwright-{}-{number}", std::process::id()));
            // What is made in it may be sealed.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Temporary(path)),
            }
        }
    }

    /// The path of the folder, which is gone once this is dropped.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = fs::remove_dir_all(&self.0);
    }
}
