//! Tasks whose worlds have files, for who has nothing but a folder: the workspace laid out, and what was left in a folder handed in and graded.

use crate::{Error, host::StoreHost, suites::check_empty};
use benchwright_catalog::Catalog;
use benchwright_pack::{Store, Verdict};
use benchwright_run::workspace::{Note, hand_in_stages, lay_out, read_stages};
use benchwright_world::Workspace;
use std::{fs, path::Path};

/// What a folder that was handed in earns.
#[derive(Clone, PartialEq, Debug)]
pub struct Submitted {
    /// What the judge said of the state that it led to.
    pub verdict: Verdict,
    /// What came of each file.
    pub notes: Vec<Note>,
}

impl Submitted {
    /// The files that were not handed in, each with what was said of it.
    pub fn refused(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notes.iter().filter_map(|note| Some((&*note.file, note.refused.as_deref()?)))
    }
}

/// Lays out the workspace of a task, as it is at its first stage, in a folder that is not there or empty, and says how many files it has. Only
/// the open part is read.
pub fn lay_out_task(catalog: &Catalog, store: &Store, id: &str, folder: &Path) -> Result<usize, Error> {
    let part = store.open_part(id)?;
    let (world, first) = catalog.first_state(&part.world).map_err(Error::catalog(&part.open.domain))?;
    let desk = Workspace::of(world.domain(), &first).ok_or_else(|| Error::NoFiles(id.to_owned()))?;
    let files = desk.laid_out(&part.instruction).map_err(|error| Error::Files { id: id.to_owned(), error })?;
    check_empty(folder)?;
    fs::create_dir_all(folder).and_then(|()| lay_out(folder, &files, 0o644)).map_err(Error::io(folder))?;
    Ok(files.iter().count())
}

/// Hands in what a folder holds, as an agent of the task would, and grades what it leads to. What is refused is told, and the verdict is on the
/// rest.
pub fn submitted(catalog: &Catalog, store: Store, id: &str, folder: &Path) -> Result<Submitted, Error> {
    let unread = |error| Error::NoSubmission { folder: folder.to_owned(), error };
    let host = StoreHost::new(catalog, store);
    let desk = host.for_person(id)?;
    let mut episode = desk.begin()?;
    if !Workspace::is_in(episode.domain()) {
        return Err(Error::NoFiles(id.to_owned()));
    }
    let stages = read_stages(folder).map_err(unread)?;
    let notes = hand_in_stages(&stages, &mut |tool, arguments| episode.call(tool, arguments));
    Ok(Submitted { verdict: desk.finished(&episode)?.verdict, notes })
}
