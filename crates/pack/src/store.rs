//! Tasks as directories: `open/<id>/` is what an agent's machine may have, `sealed/<id>/` what only a judge has. The two
//! stand in trees of their own. Whatever is not as it should be is refused: another version, a file that is missing or too
//! many, a digest that differs, a name that leads elsewhere, a link.

use crate::{
    OpenTask, SEALED_VERSION, SealedTask, Split, Suite, SuiteError, TASK_VERSION, Task, Verifier, suite::LARGEST_SUITE,
};
use benchwright_base::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// The tree of open parts.
pub const OPEN_TREE: &str = "open";
/// The tree of sealed parts.
pub const SEALED_TREE: &str = "sealed";
/// The lock file of what is in the folder.
pub const SUITE_FILE: &str = "suite.toml";

const TASK_FILE: &str = "task.json";
const INSTRUCTION_FILE: &str = "instruction.md";
const WORLD_FILE: &str = "world.json";
const SEALED_FILE: &str = "sealed.json";
const AUDIT_FILE: &str = "audit.json";

/// The files of an open part, each with the most bytes that are read.
const OPEN_FILES: [(&str, usize); 3] = [(TASK_FILE, 1 << 20), (INSTRUCTION_FILE, 4 << 20), (WORLD_FILE, 256 << 20)];
/// The files of a sealed part. The audit need not be there.
const SEALED_FILES: [(&str, usize); 2] = [(SEALED_FILE, 128 << 20), (AUDIT_FILE, 64 << 20)];
/// The longest id.
const LONGEST_ID: usize = 80;

/// Why a task could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An id is no plain name.
    #[error("`{0}` is no id of a task: small letters, digits and hyphens, at most {LONGEST_ID}")]
    Name(String),
    /// A file or folder is missing.
    #[error("{} is not there", .0.display())]
    Missing(PathBuf),
    /// Something stands where it does not belong.
    #[error("{} does not belong there", .0.display())]
    Stranger(PathBuf),
    /// A link, or something else that is neither file nor folder.
    #[error("{} is a link or no plain file; put the file itself there", .0.display())]
    Link(PathBuf),
    /// A file is too large.
    #[error("{} has more than {most} bytes", .path.display())]
    TooLarge {
        /// The file that is too large.
        path: PathBuf,
        /// The most that is read.
        most: usize,
    },
    /// A packed file holds too much.
    #[error("{} unpacks to more than {most} bytes, which is its limit", .path.display())]
    Unpacked {
        /// The packed file.
        path: PathBuf,
        /// The most that it is unpacked to.
        most: usize,
    },
    /// A document cannot be read.
    #[error("{}: {why}", .path.display())]
    Malformed {
        /// The file that cannot be read.
        path: PathBuf,
        /// What is wrong with it, in a sentence.
        why: String,
    },
    /// A document is of another version.
    #[error("{} is of version {version}; this program reads version {reads}", .path.display())]
    Version {
        /// The file of another version.
        path: PathBuf,
        /// The version that it says it is of.
        version: u64,
        /// The version that is read.
        reads: u32,
    },
    /// A verifier is of another version.
    #[error(
        "the verifier in {} is of version {version}; this program judges by version {reads}: build the task again",
        .path.display(), reads = Verifier::VERSION
    )]
    VerifierVersion {
        /// The file.
        path: PathBuf,
        /// The verifier's version.
        version: u64,
    },
    /// What was read is not what was written.
    #[error("{} was changed after it was made: its digest differs", .0.display())]
    Digest(PathBuf),
    /// There is a task of that id.
    #[error("{} is there already", .0.display())]
    AlreadyThere(PathBuf),
    /// The lock file cannot be read.
    #[error("{}: {why}", .path.display())]
    Suite {
        /// The lock file.
        path: PathBuf,
        /// All faults of the lock file.
        why: SuiteError,
    },
    /// A folder of whole tasks has no lock file, so that nothing says which tasks they are.
    #[error("{} is not there: nothing says that the tasks beside it are those that were made", .0.display())]
    NoLock(PathBuf),
    /// The lock file does not name a task that is in the folder.
    #[error("{} does not name the task {id}", .path.display())]
    NotLocked {
        /// The lock file of the folder.
        path: PathBuf,
        /// The id of the task that it does not name.
        id: String,
    },
    /// The disk failed, or a permission is missing.
    #[error("{}: {why}", .path.display())]
    Io {
        /// The file or folder that was asked for.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
}

/// The open part of a task, as an agent's machine has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenPart {
    /// The document `task.json`: role, tools, limits, digests.
    pub open: OpenTask,
    /// The text that the agent is given (`instruction.md`).
    pub instruction: String,
    /// The first state, as the bytes of a snapshot.
    pub world: Vec<u8>,
}

/// What an audit found on a task, beside the digest of the task it was run on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditFile {
    /// The version of this document.
    pub version: u32,
    /// The line by which leaked text is found.
    pub canary: String,
    /// The digest of the task.
    pub task: String,
    /// The findings, by trial.
    pub trials: Json,
}

impl AuditFile {
    /// The bytes of `audit.json`.
    pub fn to_bytes(&self) -> Vec<u8> {
        canonical(self)
    }
}

/// A folder of tasks.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Whether its tasks are held to its lock file.
    is_locked: bool,
}

impl Store {
    /// The store in a folder, which need not be there yet.
    pub fn at(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into(), is_locked: true }
    }

    /// The same, where the tasks are held to digests by somebody else, as those of shards are. A lock file that is there still counts.
    pub fn held_elsewhere(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into(), is_locked: false }
    }

    /// Where a task is, from the folder of its open part (`DIR/open/ID`) or from `DIR/ID`.
    pub fn locate(task: &Path) -> Result<(Store, String), StoreError> {
        let Some(id) = task.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return Err(StoreError::Name(task.display().to_string()));
        };
        check_name(&id)?;
        let above = task.parent().unwrap_or(Path::new(""));
        let root = match above.file_name() {
            Some(name) if name == OPEN_TREE => above.parent().unwrap_or(Path::new("")),
            _ => above,
        };
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        if !root.join(OPEN_TREE).join(&id).is_dir() {
            return Err(StoreError::Missing(root.join(OPEN_TREE).join(&id)));
        }
        Ok((Store::at(root), id))
    }

    /// The same, or the one task of a folder that has no other.
    pub fn locate_only(place: &Path) -> Result<(Store, String), StoreError> {
        if !place.join(OPEN_TREE).is_dir() {
            return Store::locate(place);
        }
        let store = Store::at(place);
        match &mut *store.ids()? {
            [only] => Ok((store, std::mem::take(only))),
            _ => Err(StoreError::Missing(place.join(OPEN_TREE).join("ID"))),
        }
    }

    /// The folder in which the trees `open` and `sealed` stand.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The ids of the tasks whose open part is here, in order.
    pub fn ids(&self) -> Result<Vec<String>, StoreError> {
        let tree = self.root.join(OPEN_TREE);
        plain_folder(&tree)?;
        let mut ids = Vec::new();
        for entry in fs::read_dir(&tree).map_err(|why| io_error(&tree, why))? {
            let entry = entry.map_err(|why| io_error(&tree, why))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // What was being written when the program ended.
            if name.starts_with('.') {
                continue;
            }
            check_name(&name)?;
            ids.push(name);
        }
        ids.sort();
        Ok(ids)
    }

    /// Writes a task that is not there yet. What is found under its name later is whole.
    pub fn write(&self, task: &Task) -> Result<(), StoreError> {
        let id = &task.open.id;
        self.write_sealed(id, &task.sealed_bytes())?;
        self.write_open(id, &task.open_bytes(), task.instruction.as_bytes(), &task.world)
    }

    /// Writes the open part of a task that is not there yet, as the bytes of its files. They are held to their digests where they are read.
    pub fn write_open(&self, id: &str, open: &[u8], instruction: &[u8], world: &[u8]) -> Result<(), StoreError> {
        self.write_part(OPEN_TREE, id, &[(TASK_FILE, open), (INSTRUCTION_FILE, instruction), (WORLD_FILE, world)])
    }

    /// Writes the sealed part of a task that is not there yet, as the bytes of its file.
    pub fn write_sealed(&self, id: &str, sealed: &[u8]) -> Result<(), StoreError> {
        self.write_part(SEALED_TREE, id, &[(SEALED_FILE, sealed)])
    }

    /// Takes away every task but these, and what was being written when a program ended.
    pub fn retain(&self, kept: &dyn Fn(&str) -> bool) -> Result<(), StoreError> {
        for tree in [OPEN_TREE, SEALED_TREE].map(|tree| self.root.join(tree)) {
            if fs::symlink_metadata(&tree).is_err() {
                continue;
            }
            plain_folder(&tree)?;
            for entry in fs::read_dir(&tree).map_err(|why| io_error(&tree, why))? {
                let path = entry.map_err(|why| io_error(&tree, why))?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if !kept(&name) {
                    fs::remove_dir_all(&path).map_err(|why| io_error(&path, why))?;
                }
            }
        }
        Ok(())
    }

    fn write_part(&self, tree: &str, id: &str, files: &[(&str, &[u8])]) -> Result<(), StoreError> {
        check_name(id)?;
        let tree = self.root.join(tree);
        let (place, draft) = (tree.join(id), tree.join(format!(".{id}")));
        if fs::symlink_metadata(&place).is_ok() {
            return Err(StoreError::AlreadyThere(place));
        }
        if fs::symlink_metadata(&tree).is_err() {
            // What is sealed is for its owner's eyes.
            let mode = if tree.ends_with(SEALED_TREE) { 0o700 } else { 0o777 };
            fs::DirBuilder::new().recursive(true).mode(mode).create(&tree).map_err(|why| io_error(&tree, why))?;
        }
        fs::create_dir_all(&draft).map_err(|why| io_error(&draft, why))?;
        for (name, bytes) in files {
            let path = draft.join(name);
            fs::write(&path, bytes).map_err(|why| io_error(&path, why))?;
        }
        fs::rename(&draft, &place).map_err(|why| io_error(&place, why))
    }

    /// Reads the open part of a task.
    pub fn open_part(&self, id: &str) -> Result<OpenPart, StoreError> {
        let folder = self.folder(OPEN_TREE, id, &OPEN_FILES)?;
        let mut parts = Vec::new();
        for (name, most) in OPEN_FILES {
            parts.push(read_file(&folder.join(name), most)?);
        }
        let (Some(world), Some(instruction), Some(open)) = (parts.pop(), parts.pop(), parts.pop()) else {
            return Err(StoreError::Missing(folder));
        };
        open_of(&folder, id, &open, instruction, world)
    }

    /// Reads a whole task. It must be in the folder's lock file and have its digest: a verifier is worth no more than what says whose
    /// it is, so a lock file that is gone is an error.
    pub fn task(&self, id: &str) -> Result<Task, StoreError> {
        let task = self.unlocked_task(id)?;
        let path = self.root.join(SUITE_FILE);
        match fs::symlink_metadata(&path).is_ok() {
            true => self.check_lock(&self.suite()?, &task)?,
            false if self.is_locked => return Err(StoreError::NoLock(path)),
            false => {}
        }
        Ok(task)
    }

    /// Reads a whole task that no lock file names yet.
    pub fn unlocked_task(&self, id: &str) -> Result<Task, StoreError> {
        let part = self.open_part(id)?;
        let path = self.folder(SEALED_TREE, id, &SEALED_FILES)?.join(SEALED_FILE);
        let bytes = read_file(&path, SEALED_FILES[0].1)?;
        whole(part, path, &bytes)
    }

    /// Holds a task to the line of a lock file.
    fn check_lock(&self, suite: &Suite, task: &Task) -> Result<(), StoreError> {
        let sealed = &task.sealed;
        let reading = sealed.reading.as_deref();
        let line = suite.line(&sealed.pattern, &sealed.tier, &sealed.objective, sealed.seed, reading);
        let line = line.filter(|_| suite.split == sealed.split);
        let Some(digest) = line.and_then(|line| line.digest) else {
            return Err(StoreError::NotLocked { path: self.root.join(SUITE_FILE), id: task.open.id.clone() });
        };
        if digest != task.digest() {
            return Err(StoreError::Digest(self.root.join(SEALED_TREE).join(&task.open.id)));
        }
        Ok(())
    }

    /// The lock file of the folder.
    pub fn suite(&self) -> Result<Suite, StoreError> {
        read_suite(&self.root.join(SUITE_FILE))
    }

    /// Writes the lock file of the folder, instead of one that is there.
    pub fn write_suite(&self, suite: &Suite) -> Result<(), StoreError> {
        fs::create_dir_all(&self.root).map_err(|why| io_error(&self.root, why))?;
        write_suite(&self.root.join(SUITE_FILE), suite)
    }

    /// The audit of a task, if there is one of it as it stands.
    pub fn audit(&self, task: &Task) -> Result<Option<AuditFile>, StoreError> {
        let path = self.root.join(SEALED_TREE).join(&task.open.id).join(AUDIT_FILE);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let audit: AuditFile = versioned(&path, &read_file(&path, SEALED_FILES[1].1)?, TASK_VERSION)?;
        Ok((audit.task == task.digest().to_string()).then_some(audit))
    }

    /// Writes the audit of a task beside it, instead of one that is there.
    pub fn write_audit(&self, task: &Task, trials: Json) -> Result<(), StoreError> {
        check_name(&task.open.id)?;
        let folder = self.root.join(SEALED_TREE).join(&task.open.id);
        plain_folder(&folder)?;
        let audit = AuditFile {
            version: TASK_VERSION,
            canary: task.sealed.canary.clone(),
            task: task.digest().to_string(),
            trials,
        };
        replace(&folder.join(AUDIT_FILE), &canonical(&audit), 0o666)
    }

    /// The folder of a part that holds what it may and nothing else.
    fn folder(&self, tree: &str, id: &str, files: &[(&str, usize)]) -> Result<PathBuf, StoreError> {
        check_name(id)?;
        let tree = self.root.join(tree);
        plain_folder(&tree)?;
        let folder = tree.join(id);
        plain_folder(&folder)?;
        for entry in fs::read_dir(&folder).map_err(|why| io_error(&folder, why))? {
            let entry = entry.map_err(|why| io_error(&folder, why))?;
            if !files.iter().any(|(name, _)| entry.file_name() == *name) {
                return Err(StoreError::Stranger(entry.path()));
            }
        }
        Ok(folder)
    }
}

/// A task from the bytes of its files, as they stand elsewhere than in a store, such as in a row of the shard at `place`. It is held to
/// all but a lock file.
pub fn task_of(
    place: &Path,
    id: &str,
    open: &[u8],
    instruction: Vec<u8>,
    world: Vec<u8>,
    sealed: &[u8],
) -> Result<Task, StoreError> {
    check_name(id)?;
    let place = place.join(id);
    whole(open_of(&place, id, open, instruction, world)?, place.join(SEALED_FILE), sealed)
}

/// The open part of a task from the bytes of its files.
fn open_of(folder: &Path, id: &str, open: &[u8], instruction: Vec<u8>, world: Vec<u8>) -> Result<OpenPart, StoreError> {
    let path = folder.join(TASK_FILE);
    let open: OpenTask = document(&path, open, TASK_VERSION)?;
    for (name, bytes, digest) in
        [(INSTRUCTION_FILE, &instruction, &open.instruction), (WORLD_FILE, &world, &open.world)]
    {
        if Digest::of(bytes).to_string() != *digest {
            return Err(StoreError::Digest(folder.join(name)));
        }
    }
    if open.id != id {
        return Err(StoreError::Malformed { path, why: format!("it is of the task {}", open.id) });
    }
    let instruction = String::from_utf8(instruction)
        .map_err(|error| StoreError::Malformed { path: folder.join(INSTRUCTION_FILE), why: error.to_string() })?;
    Ok(OpenPart { open, instruction, world })
}

/// A whole task from its open part and the bytes of its sealed one.
fn whole(part: OpenPart, path: PathBuf, bytes: &[u8]) -> Result<Task, StoreError> {
    let OpenPart { open, instruction, world } = part;
    check_verifier(&path, bytes)?;
    let sealed: SealedTask = document(&path, bytes, SEALED_VERSION)?;
    if sealed.id != open.id {
        return Err(StoreError::Malformed { path, why: format!("it is of the task {}", sealed.id) });
    }
    // A first state that is told by what was planted is held to its digest where it is opened.
    if sealed.effects.is_none() && sealed.verifier.world != open.world {
        return Err(StoreError::Malformed { path, why: "its verifier is of another first state".to_owned() });
    }
    Ok(Task { open, instruction, world, sealed })
}

/// Reads a lock file.
pub fn read_suite(path: &Path) -> Result<Suite, StoreError> {
    let bytes = read_file(path, LARGEST_SUITE)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| StoreError::Malformed { path: path.to_owned(), why: error.to_string() })?;
    Suite::from_toml(&path.display().to_string(), &text).map_err(|why| StoreError::Suite { path: path.to_owned(), why })
}

/// Writes a lock file, instead of one that is there. One with secret seeds is for its owner's eyes.
pub fn write_suite(path: &Path, suite: &Suite) -> Result<(), StoreError> {
    let mode = if suite.split == Split::Committed { 0o600 } else { 0o666 };
    replace(path, suite.to_toml().as_bytes(), mode)
}

/// Writes a file that is not there yet, or that says the same already.
pub fn write_once(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_err() {
        return replace(path, bytes, 0o666);
    }
    match read_file(path, bytes.len()) {
        Ok(there) if there == bytes => Ok(()),
        Ok(_) | Err(StoreError::TooLarge { .. }) => Err(StoreError::AlreadyThere(path.to_owned())),
        Err(error) => Err(error),
    }
}

/// Writes a file whole or not at all. Its mode is this one, less what the process masks.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let draft = path.with_file_name(format!(".{name}.new"));
    // One that was left behind may have another mode.
    let _ = fs::remove_file(&draft);
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft);
    made.and_then(|mut file| file.write_all(bytes)).map_err(|why| io_error(&draft, why))?;
    fs::rename(&draft, path).map_err(|why| io_error(path, why))
}

fn check_name(id: &str) -> Result<(), StoreError> {
    let fits = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    let good = !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(fits) && !id.starts_with('-');
    if good { Ok(()) } else { Err(StoreError::Name(id.chars().take(200).collect())) }
}

fn io_error(path: &Path, why: io::Error) -> StoreError {
    match why.kind() {
        io::ErrorKind::NotFound => StoreError::Missing(path.to_owned()),
        _ => StoreError::Io { path: path.to_owned(), why },
    }
}

fn plain_folder(path: &Path) -> Result<(), StoreError> {
    let about = fs::symlink_metadata(path).map_err(|why| io_error(path, why))?;
    if about.is_dir() { Ok(()) } else { Err(StoreError::Link(path.to_owned())) }
}

/// Reads a file that is no link, no further than it may be long.
pub fn read_file(path: &Path, most: usize) -> Result<Vec<u8>, StoreError> {
    use io::Read as _;
    let about = fs::symlink_metadata(path).map_err(|why| io_error(path, why))?;
    if !about.is_file() {
        return Err(StoreError::Link(path.to_owned()));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|why| io_error(path, why))?;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|why| io_error(path, why))?;
    if bytes.len() > most {
        return Err(StoreError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// Only the version, which is looked at before anything else.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// The same of the verifier inside a sealed part. Whatever else is wrong is told by those who read the whole.
#[derive(Deserialize)]
struct SealedHead {
    version: u64,
    verifier: Head,
}

fn check_verifier(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    match serde_json::from_slice(bytes) {
        Ok(SealedHead { version, verifier }) if version == u64::from(SEALED_VERSION) => match verifier.version {
            known if known == u64::from(Verifier::VERSION) => Ok(()),
            version => Err(StoreError::VerifierVersion { path: path.to_owned(), version }),
        },
        _ => Ok(()),
    }
}

fn versioned<T: for<'de> Deserialize<'de>>(path: &Path, bytes: &[u8], reads: u32) -> Result<T, StoreError> {
    let malformed = |error: serde_json::Error| StoreError::Malformed { path: path.to_owned(), why: error.to_string() };
    let Head { version } = serde_json::from_slice(bytes).map_err(malformed)?;
    if version != u64::from(reads) {
        return Err(StoreError::Version { path: path.to_owned(), version, reads });
    }
    serde_json::from_slice(bytes).map_err(malformed)
}

/// A document in its one form: what the type does not hold, or a byte out of place, is a change.
pub(crate) fn document<T: for<'de> Deserialize<'de> + Serialize>(
    path: &Path,
    bytes: &[u8],
    reads: u32,
) -> Result<T, StoreError> {
    let read: T = versioned(path, bytes, reads)?;
    if canonical(&read) == bytes { Ok(read) } else { Err(StoreError::Digest(path.to_owned())) }
}

fn canonical(document: &impl Serialize) -> Vec<u8> {
    crate::task::pretty(document)
}
