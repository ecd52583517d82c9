//! Tasks to play in this process, for programs that embed the library and for bindings: episodes that are called, forked, begun again and
//! judged from their live state, with as little between the caller and the world as can be.
//!
//! Tools are offered, refused and described by the same set that a server has, episodes are the sandbox's own, and the judge is the one
//! of a run; it is made once a task, and only where the sealed part was asked for.

use crate::{Error, host::StoreHost, judge::Judge, own};
use benchwright_catalog::Catalog;
use benchwright_pack::{OpenPart, Refusal, Store, Suite, Task, Verdict};
use benchwright_run::{
    Host,
    model::{AgentSpec, ModelSpec, Tools, offer},
};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_serve::ToolSet;
use benchwright_world::ToolLine;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Tasks of a folder.
pub struct Tasks<'c> {
    host: StoreHost<'c>,
    catalog: &'c Catalog,
    is_sealed_read: bool,
    opened: Mutex<BTreeMap<String, Arc<Playable>>>,
}

/// A task to play.
pub struct Playable {
    open: OpenPart,
    sandbox: Arc<Sandbox>,
    tools: Arc<ToolSet>,
    /// What was offered so far of what takes long to find out: by the number of tools that look alike.
    offered: Mutex<BTreeMap<u32, Arc<ToolSet>>>,
    judge: Option<Judge>,
}

/// Which tools an episode is offered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Offer {
    /// All of the task.
    All,
    /// Those that the work needs, and so many others that look alike.
    Oracle(u32),
    /// These.
    Named(Vec<String>),
}

impl Offer {
    /// Reads `all`, `oracle` or `oracle+N`, as they stand behind an agent's name.
    pub fn parse(text: &str) -> Result<Offer, Error> {
        match AgentSpec::parse(&format!("react:model@{text}")) {
            Ok(AgentSpec::Model(ModelSpec { tools: Tools::All, model, .. })) if model == "model" => Ok(Offer::All),
            Ok(AgentSpec::Model(ModelSpec { tools: Tools::Oracle { distractors }, .. })) => {
                Ok(Offer::Oracle(distractors))
            }
            _ => Err(Error::NoSuchTools(text.to_owned())),
        }
    }
}

impl<'c> Tasks<'c> {
    /// The tasks of a folder. Without `is_sealed_read` nothing sealed is looked at: there are no verdicts, and nobody can say which tools
    /// the work needs.
    pub fn open(catalog: &'c Catalog, store: Store, is_sealed_read: bool) -> Tasks<'c> {
        Tasks { host: StoreHost::new(catalog, store), catalog, is_sealed_read, opened: Mutex::default() }
    }

    /// The ids of its tasks, in order.
    pub fn ids(&self) -> Result<Vec<String>, Error> {
        Ok(self.host.store().ids()?)
    }

    /// The lock file of the folder, if it has one.
    pub fn suite(&self) -> Option<Suite> {
        self.host.store().suite().ok()
    }

    /// Where they are.
    pub fn store(&self) -> &Store {
        self.host.store()
    }

    /// A task, opened once.
    pub fn task(&self, id: &str) -> Result<Arc<Playable>, Error> {
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(id) {
            return Ok(Arc::clone(known));
        }
        let (open, sealed) = match self.is_sealed_read {
            true => {
                let task = self.host.store().task(id)?;
                let family = crate::tasks::family_of(self.catalog, &task).map_err(Error::catalog(id))?;
                let natives = family.map_or(&[][..], |family| family.natives());
                let Task { open, instruction, world, sealed } = task;
                (OpenPart { open, instruction, world }, Some((sealed, natives)))
            }
            false => (self.host.store().open_part(id)?, None),
        };
        let sandbox = self.catalog.world_of_snapshot(&open.world).map_err(Error::catalog(id))?;
        let tools = Arc::new(ToolSet::new(ToolLine::all_of(sandbox.domain()), &open.open.tools));
        let judge = match sealed {
            Some((sealed, natives)) => Some(Judge::ready(&sandbox, &open.open, sealed, natives)?),
            None => None,
        };
        let open = OpenPart { world: Vec::new(), ..open };
        let opened = Arc::new(Playable { open, sandbox, tools, offered: Mutex::default(), judge });
        Ok(Arc::clone(lock().entry(id.to_owned()).or_insert(opened)))
    }

    /// The tools of an offer on a task, of those that the task has.
    pub fn tools(&self, task: &Playable, offered: &Offer) -> Result<Arc<ToolSet>, Error> {
        let named = |names: &[String]| Arc::new(ToolSet::new(ToolLine::all_of(task.sandbox.domain()), names));
        match offered {
            Offer::All => Ok(Arc::clone(&task.tools)),
            Offer::Named(names) => match names.iter().find(|name| task.tools.place(name).is_none()) {
                None => Ok(named(names)),
                Some(unknown) => {
                    let refusal = task.tools.not_offered(unknown).message;
                    Err(Error::NoTool { id: task.open.open.id.clone(), refusal })
                }
            },
            Offer::Oracle(distractors) => {
                let mut known = task.offered.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(set) = known.get(distractors) {
                    return Ok(Arc::clone(set));
                }
                let set = named(&self.needed(task, *distractors)?);
                known.insert(*distractors, Arc::clone(&set));
                Ok(set)
            }
        }
    }

    /// The tools that the work needs, and so many others. They are found by working on the task.
    fn needed(&self, task: &Playable, distractors: u32) -> Result<Vec<String>, Error> {
        let id = &task.open.open.id;
        if !self.is_sealed_read {
            return Err(Error::Shut { id: id.clone() });
        }
        let begun = self.host.begin(id).map_err(Error::Host)?;
        let cards = offer(Tools::Oracle { distractors }, &self.host, &task.open, begun.tools());
        let cards = cards.map_err(|error| Error::Offer(error.to_string()))?;
        Ok(cards.into_iter().map(|card| card.name).collect())
    }
}

impl Playable {
    /// What is open of it: its id, role and limits, and the text for the agent.
    pub fn part(&self) -> &OpenPart {
        &self.open
    }

    /// The declarations of its world.
    pub fn domain(&self) -> &Arc<Domain> {
        self.sandbox.domain()
    }

    /// Whether there are verdicts.
    pub fn is_judged(&self) -> bool {
        self.judge.is_some()
    }

    /// An episode at the first state, in the agent's seat, with the task's number of calls.
    pub fn begin(self: &Arc<Playable>, tools: Arc<ToolSet>) -> Result<Play, Error> {
        let seat = self.sandbox.seat_of(&self.open.open);
        let episode = self.sandbox.begin(&seat, Conditions::of(&self.open.open))?;
        Ok(Play { episode, task: Arc::clone(self), tools })
    }
}

/// An episode of a task.
pub struct Play {
    episode: Episode,
    task: Arc<Playable>,
    tools: Arc<ToolSet>,
}

impl Play {
    /// Calls a tool with a JSON object of arguments.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        if self.tools.withholds(tool) {
            return Err(self.tools.not_offered(tool));
        }
        self.episode.call(tool, arguments)
    }

    /// Another episode that stands where this one does. They share everything until one of them writes.
    pub fn fork(&self) -> Play {
        Play { episode: self.episode.fork(), task: Arc::clone(&self.task), tools: Arc::clone(&self.tools) }
    }

    /// Back to the first state.
    pub fn reset(&mut self) {
        self.episode.reset();
    }

    /// The world as it stands.
    pub fn episode(&self) -> &Episode {
        &self.episode
    }

    /// The task that it is of.
    pub fn task(&self) -> &Arc<Playable> {
        &self.task
    }

    /// The tools that it is offered.
    pub fn tools(&self) -> &ToolSet {
        &self.tools
    }

    /// What the judge says of the state as it stands.
    pub fn grade(&self) -> Result<Verdict, Error> {
        let Some(judge) = &self.task.judge else { return Err(Error::Shut { id: self.task.open.open.id.clone() }) };
        Ok(judge.with(|judge| judge.grade_live(&self.episode))?)
    }
}

/// The content that comes with the program, read once.
pub fn built_in() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(Catalog::built_in)
}

/// The content that the tasks of a folder are of: its own, where it brings domains, else that of the program. It is read once for each such
/// folder and kept as long as the process.
pub fn content_of(folder: &Path) -> &'static Catalog {
    static OWN: Mutex<BTreeMap<PathBuf, &'static Catalog>> = Mutex::new(BTreeMap::new());
    let Some(domains) = own::domains_of(folder) else { return built_in() };
    let mut known = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let read = |domains: &PathBuf| -> &'static Catalog { Box::leak(Box::new(Catalog::from_folder(domains))) };
    let content = known.get(&domains).copied().unwrap_or_else(|| read(&domains));
    known.entry(domains).or_insert(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_that_brings_domains_is_read_by_them() {
        let store = crate::work::Temporary::new().unwrap();
        assert!(std::ptr::eq(content_of(store.path()), built_in()));
        let lamps = store.path().join("domains/lamps");
        fs::create_dir_all(&lamps).unwrap();
        fs::write(lamps.join("domain.toml"), "name = \"lamps\"").unwrap();
        fs::write(store.path().join("suite.toml"), "").unwrap();
        assert_eq!(content_of(store.path()).names().unwrap(), ["lamps"]);
        assert!(std::ptr::eq(content_of(store.path()), content_of(store.path())));
    }
}
