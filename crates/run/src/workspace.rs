//! A workspace as a folder: it is laid out for whoever works with files, and what they left to be handed in is read back and handed in by
//! the tools of the episode, form by form.
//!
//! What is read was left by somebody who may wish us ill. Nothing is opened before it is known to be a plain file, no link is followed,
//! nothing is waited for, and no more is read than the limits allow, whatever the system says of its size.

mod hand_in;
mod read;

pub use hand_in::{Call, Note, SUBMIT, hand_in, hand_in_stages};
pub use read::{Sheet, Submission, read_folder, read_stages};

pub(crate) use read::{open_path, read_left};

use benchwright_pack::Files;
use benchwright_world::workspace::SUBMISSION;
use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// Lays files out in a folder that is there, with the empty folder that is handed in. Others may read them, whatever is usual here.
pub fn lay_out(folder: &Path, files: &Files, mode: u32) -> io::Result<()> {
    for (path, bytes) in files.iter() {
        let path = folder.join(path);
        make_folders(folder, path.parent().unwrap_or(folder))?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        file.write_all(bytes)?;
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    make_folders(folder, &folder.join(SUBMISSION))
}

/// Makes a folder and those above it, up to one that is there.
fn make_folders(root: &Path, folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|above| above.starts_with(root) && !above.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Files in a folder of their own that only this user finds, from which a sandbox shows them. The folder goes with this.
#[derive(Debug)]
pub(crate) struct Shown {
    folder: PathBuf,
}

impl Shown {
    /// Lays files out under a name that nobody knows beforehand.
    pub(crate) fn new(name: &str, files: &Files) -> io::Result<Shown> {
        let folder = std::env::temp_dir().join(format!("benchwright-files-{name}"));
        fs::create_dir(&folder)?;
        let shown = Shown { folder };
        fs::set_permissions(&shown.folder, Permissions::from_mode(0o700))?;
        lay_out(&shown.folder, files, 0o444)?;
        Ok(shown)
    }

    /// What stands at the top of it, but for the folder that is handed in, which every sandbox makes itself.
    pub(crate) fn tops(&self) -> io::Result<Vec<(PathBuf, String)>> {
        let mut tops = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != SUBMISSION {
                tops.push((entry.path(), name));
            }
        }
        tops.sort();
        Ok(tops)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // All of it is ours. What cannot be removed is found by whoever tidies the folder for what is temporary.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
