//! Where what is large is kept: files by name, in a folder or as objects somewhere else. Whoever writes and reads them asks a `Depot` and need
//! not know which. What is there under a name is whole: the bytes of one `put`, never a part of them.
//!
//! It is synchronous and knows no service: `Objects` is implemented here for folders, and by others for what they talk to.

use std::{fmt, path::PathBuf, sync::Arc};

mod contract;
mod folder;
mod name;

pub use contract::{Broken, contract, contract_but_for_folders};
pub use folder::Folder;
pub use name::check_name;

/// Why something could not be kept, found or removed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DepotError {
    /// There is nothing of that name.
    #[error("{place} is not there")]
    Missing {
        /// Where it was looked for.
        place: String,
    },
    /// There is more than is read.
    #[error("{place} has more than {most} bytes")]
    TooLarge {
        /// What is too large.
        place: String,
        /// The most that is read.
        most: usize,
    },
    /// This names nothing that could be kept.
    #[error(
        "`{0}` is no name in a depot: small letters, digits, `-`, `_` and `.`, with `/` between folders, and no part of it begins with a dot"
    )]
    Name(String),
    /// The disk or the service failed, or a permission is missing.
    #[error("{place}: {why}")]
    Failed {
        /// What was asked for.
        place: String,
        /// What came of it, and where it can be said, what to do.
        why: String,
    },
}

/// Files by name, somewhere. Names are relative, with `/` between folders; `check_name` says which there are. Several threads and processes
/// may use one place at once, and of two that put the same name one wins whole.
pub trait Objects: Send + Sync {
    /// Keeps bytes under a name, in place of what was there. They are there for good when it returns.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), DepotError>;

    /// The bytes under a name, if they are at most so many.
    fn get(&self, name: &str, most: usize) -> Result<Vec<u8>, DepotError>;

    /// All names below a folder and the folders in it, in order, relative to it; below everything if it is empty. Where there is no such
    /// folder there are none, and what has a name that `check_name` refuses is not among them.
    fn names(&self, under: &str) -> Result<Vec<String>, DepotError>;

    /// Removes what is under a name. Nothing there is fine.
    fn remove(&self, name: &str) -> Result<(), DepotError>;

    /// Whether there is something under a name.
    fn has(&self, name: &str) -> Result<bool, DepotError>;

    /// Where all of it is, for messages.
    fn place(&self) -> String;
}

/// Files by name below one folder of some `Objects`. A copy is of the same files.
#[derive(Clone)]
pub struct Depot {
    objects: Arc<dyn Objects>,
    /// The path, if the objects are the files of a folder.
    root: Option<PathBuf>,
    prefix: String,
}

impl Depot {
    /// The files of a folder, which need not be there yet.
    pub fn folder(path: impl Into<PathBuf>) -> Depot {
        let path = path.into();
        Depot { root: Some(path.clone()), ..Depot::of(Arc::new(Folder::at(path))) }
    }

    /// Objects of any kind.
    pub fn of(objects: Arc<dyn Objects>) -> Depot {
        Depot { objects, root: None, prefix: String::new() }
    }

    /// What is below a folder of it. A name that is none is refused once it is used.
    pub fn within(&self, name: &str) -> Depot {
        Depot { prefix: self.full(name), ..self.clone() }
    }

    /// Keeps bytes under a name, in place of what was there. They are there for good when it returns.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), DepotError> {
        self.objects.put(&self.file(name)?, bytes)
    }

    /// The bytes under a name, if they are at most so many.
    pub fn get(&self, name: &str, most: usize) -> Result<Vec<u8>, DepotError> {
        self.objects.get(&self.file(name)?, most)
    }

    /// All names below a folder and the folders in it, in order, relative to it; below everything if it is empty.
    pub fn names(&self, under: &str) -> Result<Vec<String>, DepotError> {
        self.objects.names(&self.full(under))
    }

    /// Removes what is under a name. Nothing there is fine.
    pub fn remove(&self, name: &str) -> Result<(), DepotError> {
        self.objects.remove(&self.file(name)?)
    }

    /// Whether there is something under a name.
    pub fn has(&self, name: &str) -> Result<bool, DepotError> {
        self.objects.has(&self.file(name)?)
    }

    /// Where the file of a name is, for messages; where all of it is if the name is empty.
    pub fn place(&self, name: &str) -> String {
        place_of(&self.objects.place(), &self.full(name))
    }

    /// Its folder, if it is one on this machine.
    pub fn local(&self) -> Option<PathBuf> {
        let root = self.root.clone()?;
        match &*self.prefix {
            "" => Some(root),
            prefix => check_name(prefix).ok().map(|()| root.join(prefix)),
        }
    }

    /// A name from the root of the objects on.
    fn full(&self, name: &str) -> String {
        match (&*self.prefix, name) {
            (prefix, "") => prefix.to_owned(),
            ("", name) => name.to_owned(),
            (prefix, name) => format!("{prefix}/{name}"),
        }
    }

    /// The full name of a file: an empty one would be that of the folder.
    fn file(&self, name: &str) -> Result<String, DepotError> {
        check_name(name)?;
        Ok(self.full(name))
    }
}

impl fmt::Debug for Depot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Depot").field(&self.place("")).finish()
    }
}

/// Where a name is, for messages.
fn place_of(root: &str, name: &str) -> String {
    match name {
        "" => root.to_owned(),
        name => format!("{}/{name}", root.trim_end_matches('/')),
    }
}
