//! Users for programs, each for one at a time on the whole machine: a lock for each, which the kernel takes back from whoever dies.

use super::isolation::Broken;
use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// The first user that an agent runs as, in the range that systems set aside for users who come and go.
const FIRST: u32 = 61_184;
/// How many of them there are, which is how many programs run at a time.
const COUNT: u32 = 1_024;
/// Where their locks are: only root can make this folder.
const LOCKS: &str = "/run/benchwright";

/// Where users are taken from.
#[derive(Debug)]
pub(super) struct Users {
    locks: PathBuf,
}

/// A user whom nobody else has, until it is dropped.
#[derive(Debug)]
pub(super) struct User {
    pub(super) number: u32,
    /// The lock, which is held for as long as the file is open.
    _lock: File,
}

impl Users {
    /// The users of this machine.
    pub(super) fn of_machine() -> io::Result<Users> {
        Users::at(Path::new(LOCKS))
    }

    fn at(locks: &Path) -> io::Result<Users> {
        match DirBuilder::new().mode(0o700).create(locks) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let about = fs::symlink_metadata(locks)?;
        if !about.is_dir() || about.uid() != nix::unistd::geteuid().as_raw() || about.mode() & 0o022 != 0 {
            return Err(io::Error::other(format!("{} is not a folder of ours alone", locks.display())));
        }
        Ok(Users { locks: locks.to_owned() })
    }

    /// A user that is free.
    pub(super) fn take(&self) -> Result<User, Broken> {
        // Each process begins elsewhere, so that two seldom ask for the same.
        let begin = std::process::id() % COUNT;
        for step in 0..COUNT {
            let number = FIRST + (begin + step) % COUNT;
            let path = self.locks.join(format!("{number}.lock"));
            let opened = File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
            let lock = opened.map_err(|error| Broken::Sandbox(format!("{}: {error}", path.display())))?;
            match lock.try_lock() {
                Ok(()) => return Ok(User { number, _lock: lock }),
                Err(fs::TryLockError::WouldBlock) => {}
                Err(fs::TryLockError::Error(error)) => {
                    return Err(Broken::Sandbox(format!("{}: {error}", path.display())));
                }
            }
        }
        Err(Broken::Sandbox("no user is free for the program".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_who_ask_at_once_never_get_the_same_user() {
        let folder = std::env::temp_dir().join(format!("benchwright-users-{}", std::process::id()));
        // Two runs are two places to take from, with one set of locks.
        let (one, other) = (Users::at(&folder).unwrap(), Users::at(&folder).unwrap());
        let first = one.take().unwrap();
        let second = other.take().unwrap();
        let third = one.take().unwrap();
        assert!(first.number != second.number && second.number != third.number && first.number != third.number);
        let again = first.number;
        drop(first);
        assert_eq!(other.take().unwrap().number, again, "one that was given back is free");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        let folder = std::env::temp_dir().join(format!("benchwright-users-link-{}", std::process::id()));
        let _ = fs::remove_file(&folder);
        std::os::unix::fs::symlink("/tmp", &folder).unwrap();
        assert!(Users::at(&folder).is_err());
        fs::remove_file(folder).unwrap();
    }
}
