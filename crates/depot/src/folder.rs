//! A folder's files as objects. What is put is written under a name that begins with a dot, synced, and renamed; then the folder is synced. So
//! a name has all bytes of one `put` or none, whatever ends the process. Links below the folder are not followed.

use crate::{DepotError, Objects, check_name, name::check_folder, place_of};
use nix::fcntl::OFlag;
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// What a link is told.
const LINK: &str = "it is a link or no plain file; put the file itself there";
/// How the name of a draft ends, which begins with a dot.
const DRAFT: &str = ".draft";
/// The number of the next draft of this process.
static NEXT_DRAFT: AtomicU64 = AtomicU64::new(1);

/// The files below a folder.
pub struct Folder {
    root: PathBuf,
    /// The folders whose own names are synced.
    made: Mutex<BTreeSet<PathBuf>>,
}

impl Folder {
    /// The files below this folder, which need not be there yet.
    pub fn at(root: impl Into<PathBuf>) -> Folder {
        Folder { root: root.into(), made: Mutex::default() }
    }

    fn failed(&self, name: &str, why: impl ToString) -> DepotError {
        DepotError::Failed { place: place_of(&self.place(), name), why: why.to_string() }
    }

    fn missing(&self, name: &str) -> DepotError {
        DepotError::Missing { place: place_of(&self.place(), name) }
    }

    /// What is at a path; nothing where there is nothing. A folder on the way that is a link is refused.
    fn about(&self, name: &str) -> Result<Option<fs::Metadata>, DepotError> {
        let mut path = self.root.clone();
        let mut about = None;
        for part in name.split('/') {
            path.push(part);
            if about.as_ref().is_some_and(fs::Metadata::is_symlink) {
                return Err(self.failed(name, LINK));
            }
            about = match fs::symlink_metadata(&path) {
                Ok(about) => Some(about),
                Err(why) if is_absent(&why) => return Ok(None),
                Err(why) => return Err(self.failed(name, why)),
            };
        }
        Ok(about)
    }

    /// Makes a folder and those above it, and syncs their names, once in this process.
    fn make(&self, folder: &Path) -> io::Result<()> {
        if self.made.lock().unwrap_or_else(PoisonError::into_inner).contains(folder) {
            return Ok(());
        }
        let above = match folder.parent() {
            Some(above) if !above.as_os_str().is_empty() => above,
            _ => Path::new("."),
        };
        match fs::create_dir(folder) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => {
                self.make(above)?;
                fs::create_dir(folder).or_else(ignore_there)?;
            }
            made => made.or_else(ignore_there)?,
        }
        match fs::File::open(above).and_then(|above| above.sync_all()) {
            // Whoever may not read the folder above did not make this one in it.
            Err(why) if why.kind() != io::ErrorKind::PermissionDenied => return Err(why),
            _ => {}
        }
        sweep(folder)?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
        Ok(())
    }

    /// A new file that nobody lists, in a folder that is made if it is not there.
    fn draft(&self, folder: &Path) -> io::Result<(PathBuf, fs::File)> {
        loop {
            self.make(folder)?;
            let number = NEXT_DRAFT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".{}-{number}{DRAFT}", std::process::id()));
            match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
                // A process of this number on another machine, or before this one, has it.
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                // Somebody removed the folder.
                Err(why) if why.kind() == io::ErrorKind::NotFound => {
                    let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
                    made.retain(|known| !folder.starts_with(known));
                }
                draft => {
                    let file = draft?;
                    // Where files cannot be locked, a sweep may take it, and it is written again.
                    let _ = file.try_lock();
                    return Ok((path, file));
                }
            }
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.root);
        loop {
            let (draft, mut file) = self.draft(folder)?;
            let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&draft, path));
            match written {
                Ok(()) => return fs::File::open(folder)?.sync_all(),
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                Err(why) => {
                    // What went wrong first is told.
                    let _ = fs::remove_file(&draft);
                    return Err(why);
                }
            }
        }
    }

    /// Adds the names below a folder, which begin with its own.
    fn list(&self, folder: &Path, own: &str, names: &mut Vec<String>) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(why) if is_absent(&why) => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let file = entry.file_name();
            let Some(name) = file.to_str().filter(|name| check_name(name).is_ok()) else { continue };
            let name = format!("{own}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.list(&entry.path(), &format!("{name}/"), names)?;
            } else if kind.is_file() {
                names.push(name);
            } else {
                return Err(io::Error::other(format!("{name}: {LINK}")));
            }
        }
        Ok(())
    }
}

impl Objects for Folder {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), DepotError> {
        check_name(name)?;
        match self.about(name)? {
            Some(about) if !about.is_file() => Err(self.failed(name, LINK)),
            _ => self.write(&self.root.join(name), bytes).map_err(|why| self.failed(name, why)),
        }
    }

    fn get(&self, name: &str, most: usize) -> Result<Vec<u8>, DepotError> {
        check_name(name)?;
        let too_large = || DepotError::TooLarge { place: place_of(&self.place(), name), most };
        let about = self.about(name)?.filter(|about| !about.is_dir()).ok_or_else(|| self.missing(name))?;
        if !about.is_file() {
            return Err(self.failed(name, LINK));
        }
        if about.len() > most as u64 {
            return Err(too_large());
        }
        let open = fs::OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(self.root.join(name));
        let file = match open {
            Err(why) if is_absent(&why) => return Err(self.missing(name)),
            open => open.map_err(|why| self.failed(name, why))?,
        };
        let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|why| self.failed(name, why))?;
        if bytes.len() > most { Err(too_large()) } else { Ok(bytes) }
    }

    fn names(&self, under: &str) -> Result<Vec<String>, DepotError> {
        check_folder(under)?;
        let mut folder = self.root.clone();
        if !under.is_empty() {
            match self.about(under)? {
                None => return Ok(Vec::new()),
                Some(about) if about.is_symlink() => return Err(self.failed(under, LINK)),
                Some(_) => folder.push(under),
            }
        }
        let mut names = Vec::new();
        self.list(&folder, "", &mut names).map_err(|why| self.failed(under, why))?;
        names.sort();
        Ok(names)
    }

    fn remove(&self, name: &str) -> Result<(), DepotError> {
        check_name(name)?;
        match self.about(name)? {
            Some(about) if !about.is_dir() => {}
            _ => return Ok(()),
        }
        match fs::remove_file(self.root.join(name)) {
            Err(why) if !is_absent(&why) => Err(self.failed(name, why)),
            _ => Ok(()),
        }
    }

    fn has(&self, name: &str) -> Result<bool, DepotError> {
        check_name(name)?;
        match self.about(name)? {
            Some(about) if about.is_file() => Ok(true),
            Some(about) if !about.is_dir() => Err(self.failed(name, LINK)),
            _ => Ok(false),
        }
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }
}

/// Removes the drafts of processes that ended before they could; whoever still writes one holds its lock.
fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_draft = name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(DRAFT));
        if is_draft
            && entry.file_type()?.is_file()
            && let Ok(file) = fs::File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // Somebody else may have swept it.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Whether there is nothing at a path, or a file where a folder of it would be.
fn is_absent(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn ignore_there(why: io::Error) -> io::Result<()> {
    if why.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(why) }
}
