//! Worlds are opened once and shared by the episodes in them. What a task's files hold is read and checked for every
//! episode; only the world made of them is kept.

use crate::{ServeError, Settings, Start, tools::ToolSet};
use benchwright_base::Digest;
use benchwright_pack::{OpenPart, OpenTask, Store};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_world::Seat;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// A world with all that its episodes have in common.
pub(crate) struct World {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) task: Option<OpenedTask>,
}

/// The open part of a world's task.
pub(crate) struct OpenedTask {
    pub(crate) open: OpenTask,
    pub(crate) instruction: String,
    /// Of all bytes of the open part.
    pub(crate) digest: Digest,
}

/// What a world is made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Task(Digest),
    Domain { name: String, size: String, seed: u64 },
}

/// The worlds that are kept.
#[derive(Default)]
pub(crate) struct Worlds {
    kept: Mutex<Kept>,
    /// The tools of a domain, all of them or those that are named: its worlds share them.
    tools: Mutex<ToolLists>,
}

/// Lists of tools by the digest of their domain and the names that were picked.
type ToolLists = BTreeMap<(Digest, Vec<String>), Arc<ToolSet>>;

/// The most lists of tools that are kept.
const MOST_LISTS: usize = 256;

/// Worlds, each with the turn it was last asked for.
#[derive(Default)]
struct Kept {
    turn: u64,
    worlds: BTreeMap<Key, (u64, Arc<World>)>,
}

impl Worlds {
    /// The world of a start and a first episode in it.
    pub(crate) fn begin(&self, settings: &Settings, start: &Start) -> Result<(Arc<World>, Episode), ServeError> {
        match start {
            Start::Task(id) | Start::Odoo(id) => {
                let part = store(settings)?.open_part(id)?;
                let digest = digest_of(&part.open, &part.instruction, &part.world);
                let world = self.kept(settings, Key::Task(digest), || self.open_task(settings, part, digest))?;
                let episode = begin_task(&world)?;
                Ok((world, episode))
            }
            Start::Domain { domain, size, seed, role } => {
                check_name(domain)?;
                let size = match size {
                    Some(size) => size.clone(),
                    None => usual_size(&settings.catalog.find(domain)?.domain),
                };
                let key = Key::Domain { name: domain.clone(), size: size.clone(), seed: *seed };
                let world = self.kept(settings, key, || {
                    let sandbox = settings.catalog.world(domain, &size, *seed)?;
                    Ok(World { tools: self.tools(&sandbox, &[]), sandbox, task: None })
                })?;
                let roles = world.sandbox.domain();
                let usual = || roles.role_named("admin").or(roles.roles.first()).map(|role| role.name.clone());
                let role = role.clone().or_else(usual).unwrap_or_default();
                let seat = Seat { actor: world.sandbox.person_for(&role), role };
                let episode = world.sandbox.begin(&seat, Conditions::default())?;
                Ok((world, episode))
            }
        }
    }

    /// The world of a key. It is made outside the lock, so that one that takes long keeps nobody waiting.
    fn kept(
        &self,
        settings: &Settings,
        key: Key,
        make: impl FnOnce() -> Result<World, ServeError>,
    ) -> Result<Arc<World>, ServeError> {
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

    fn tools(&self, sandbox: &Sandbox, named: &[String]) -> Arc<ToolSet> {
        let mut lists = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (sandbox.domain().digest, named.to_vec());
        if lists.len() >= MOST_LISTS && !lists.contains_key(&key) {
            lists.clear();
        }
        Arc::clone(lists.entry(key).or_insert_with(|| Arc::new(ToolSet::new(sandbox, named))))
    }

    fn open_task(&self, settings: &Settings, part: OpenPart, digest: Digest) -> Result<World, ServeError> {
        let OpenPart { open, instruction, world } = part;
        check_name(&open.domain)?;
        let sandbox = settings.catalog.world_of_snapshot(&world)?;
        if sandbox.domain().name != open.domain {
            return Err(ServeError::TaskRefused(format!("its world is not of the domain {}", open.domain)));
        }
        if let Some(tool) = open.tools.iter().find(|tool| sandbox.domain().tool_named(tool).is_none()) {
            return Err(ServeError::TaskRefused(format!("it names a tool `{tool}` that {} has not", open.domain)));
        }
        let tools = self.tools(&sandbox, &open.tools);
        Ok(World { sandbox, tools, task: Some(OpenedTask { open, instruction, digest }) })
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

/// An episode in the seat of a task's agent. Its calls are counted outside, where those over the limit are counted too.
fn begin_task(world: &World) -> Result<Episode, ServeError> {
    let Some(OpenedTask { open, .. }) = &world.task else { return Err(ServeError::NoTask) };
    let conditions = Conditions { calls: None, ..Conditions::of(open) };
    Ok(world.sandbox.begin(&world.sandbox.seat_of(open), conditions)?)
}

fn usual_size(domain: &benchwright_schema::Domain) -> String {
    let sizes = domain.seed.as_ref().map_or(&[][..], |seed| &seed.sizes);
    sizes.iter().find(|size| *size == "small").or(sizes.first()).map_or("small", |size| size).to_owned()
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
