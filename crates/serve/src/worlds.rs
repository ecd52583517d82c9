//! Worlds are opened once and shared by the episodes in them. What a task's files hold is read and checked for every
//! episode; only the world made of them is kept.

use crate::{ServeError, Settings, Start, tools::ToolSet};
use benchwright_base::Digest;
use benchwright_pack::{OpenPart, OpenTask, Store};
use benchwright_world::{Engine, Episode, Filling, World};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// A world with all that its episodes have in common.
pub(crate) struct Opened {
    pub(crate) world: Arc<dyn World>,
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) task: Option<OpenedTask>,
}

impl Opened {
    /// Whether calls wait for something outside this process.
    pub(crate) fn waits(&self) -> bool {
        self.world.waits()
    }
}

/// The open part of a world's task.
pub(crate) struct OpenedTask {
    pub(crate) open: OpenTask,
    pub(crate) instruction: String,
    /// Of all bytes of the open part.
    pub(crate) digest: Digest,
}

/// What a world is made of, and by which engine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    engine: String,
    from: Source,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Task(Digest),
    Filling(Filling),
}

/// The worlds that are kept.
#[derive(Default)]
pub(crate) struct Worlds {
    kept: Mutex<Kept>,
    /// The tools of a domain, all of them or those that are named: its worlds share them.
    tools: Mutex<ToolLists>,
}

/// Lists of tools by the digest of their declarations and the names that were picked.
type ToolLists = BTreeMap<(Digest, Vec<String>), Arc<ToolSet>>;

/// The most lists of tools that are kept.
const MOST_LISTS: usize = 256;

/// Worlds, each with the turn it was last asked for.
#[derive(Default)]
struct Kept {
    turn: u64,
    worlds: BTreeMap<Key, (u64, Arc<Opened>)>,
}

impl Worlds {
    /// The world of a start and a first episode in it.
    pub(crate) fn begin(
        &self,
        settings: &Settings,
        start: &Start,
    ) -> Result<(Arc<Opened>, Box<dyn Episode>), ServeError> {
        match start {
            Start::Task { id, engine } => {
                let engine = settings.engines.find(engine.as_deref())?;
                let part = store(settings)?.open_part(id)?;
                let digest = digest_of(&part.open, &part.instruction, &part.world);
                let opened = self.kept(settings, &**engine, Source::Task(digest), || {
                    check_name(&part.open.domain)?;
                    self.opened(engine.open(&part)?, Some((part, digest)))
                })?;
                let episode = opened.world.begin(None)?;
                Ok((opened, episode))
            }
            Start::Domain { filling, role, engine } => {
                let engine = settings.engines.find(engine.as_deref())?;
                check_name(&filling.domain)?;
                let opened = self.kept(settings, &**engine, Source::Filling(filling.clone()), || {
                    self.opened(engine.fill(filling)?, None)
                })?;
                let episode = opened.world.begin(role.as_deref())?;
                Ok((opened, episode))
            }
        }
    }

    /// The world of a key. It is made outside the lock, so that one that takes long keeps nobody waiting.
    fn kept(
        &self,
        settings: &Settings,
        engine: &dyn Engine,
        from: Source,
        make: impl FnOnce() -> Result<Opened, ServeError>,
    ) -> Result<Arc<Opened>, ServeError> {
        let key = Key { engine: engine.names().first().copied().unwrap_or_default().to_owned(), from };
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let Kept { turn, worlds } = &mut *lock();
            *turn += 1;
            if let Some((used, world)) = worlds.get_mut(&key) {
                *used = *turn;
                return Ok(Arc::clone(world));
            }
        }
        let made = Arc::new(make()?);
        let Kept { turn, worlds } = &mut *lock();
        *turn += 1;
        let (_, world) = worlds.entry(key).or_insert((*turn, made));
        let world = Arc::clone(world);
        while worlds.len() > settings.most_worlds.max(1) {
            let oldest = worlds.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            match oldest {
                Some(oldest) => worlds.remove(&oldest),
                None => break,
            };
        }
        Ok(world)
    }

    fn tools(&self, world: &dyn World, named: &[String]) -> Arc<ToolSet> {
        let mut lists = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (world.about().digest, named.to_vec());
        if lists.len() >= MOST_LISTS && !lists.contains_key(&key) {
            lists.clear();
        }
        Arc::clone(lists.entry(key).or_insert_with(|| Arc::new(ToolSet::new(world.tools(), named))))
    }

    fn opened(&self, world: Arc<dyn World>, task: Option<(OpenPart, Digest)>) -> Result<Opened, ServeError> {
        let Some((OpenPart { open, instruction, .. }, digest)) = task else {
            let tools = self.tools(&*world, &[]);
            return Ok(Opened { world, tools, task: None });
        };
        if world.about().name != open.domain {
            return Err(ServeError::TaskRefused(format!("its world is not of the domain {}", open.domain)));
        }
        let tools = self.tools(&*world, &open.tools);
        if let Some(tool) = open.tools.iter().find(|tool| tools.place(tool).is_none()) {
            return Err(ServeError::TaskRefused(format!("it names a tool `{tool}` that {} has not", open.domain)));
        }
        Ok(Opened { world, tools, task: Some(OpenedTask { open, instruction, digest }) })
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).worlds.len()
    }
}

/// The store of tasks.
pub(crate) fn store(settings: &Settings) -> Result<Store, ServeError> {
    match &settings.tasks {
        Some(root) => Ok(Store::at(root)),
        None => Err(ServeError::NotThere("this server has no folder of tasks".to_owned())),
    }
}

/// The digest of an open part.
pub(crate) fn digest_of(open: &OpenTask, instruction: &str, world: &[u8]) -> Digest {
    // A document of texts and numbers can always be written.
    let open = serde_json::to_vec(open).unwrap_or_default();
    Digest::of_parts([("task.json", &*open), ("instruction.md", instruction.as_bytes()), ("world.json", world)])
}

/// A domain is asked for by its name; a path would read folders that nobody offered.
fn check_name(name: &str) -> Result<(), ServeError> {
    let fits =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, b'_' | b'-' | b'+');
    if !name.is_empty() && name.len() <= 80 && name.bytes().all(fits) {
        return Ok(());
    }
    let short: String = name.chars().take(80).collect();
    Err(ServeError::Asked(format!("`{short}` is no name of a domain")))
}
