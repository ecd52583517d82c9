//! The live episodes of a program: begun from a task or a domain, copied, called, read, graded and closed. This is all that
//! the server does, without HTTP: a program that runs agents in its own process calls it directly. Each episode is behind a
//! lock of its own, so that agents do not wait for each other.

use crate::{
    CallError, ServeError, Settings, Token,
    account::{self, Account, Total},
    crowd::Share,
    events::{self, Clock},
    token::{Lock, hex, random},
    tools::ToolSet,
    worlds::{Opened, Worlds, digest_of, store},
};
use benchwright_base::Digest;
use benchwright_grade::TaskJudge;
use benchwright_pack::{Diff, LARGEST_TRACE, Trace, Verdict};
use benchwright_world::{Episode, FaceAnswer, Filling, Workspace, WorldState};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    str::FromStr,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The most bytes of tools and arguments that an episode keeps. A trace of more, with its escapes, could not be read back.
const LARGEST_CALLS: usize = LARGEST_TRACE / 4;
/// How many closed episodes are remembered, so that their agents are told so.
const CLOSED_KEPT: usize = 65_536;

/// The id of an episode. It is drawn at random, so that nobody counts up to another's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpisodeId([u8; 16]);

impl EpisodeId {
    /// What tells it from others without a comparison of all its bytes; never 0.
    pub(crate) fn number(self) -> u64 {
        self.0.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte)).max(1)
    }
}

impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for EpisodeId {
    type Err = ServeError;

    fn from_str(text: &str) -> Result<EpisodeId, ServeError> {
        let digits = text.as_bytes();
        let fits = |digit: &u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit);
        if digits.len() != 32 || !digits.iter().all(fits) {
            return Err(ServeError::NoEpisode);
        }
        let mut id = [0; 16];
        for (byte, pair) in id.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| ServeError::NoEpisode)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ServeError::NoEpisode)?;
        }
        Ok(EpisodeId(id))
    }
}

/// What an episode begins from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// A task of the store.
    Task {
        /// The task, by its id.
        id: String,
        /// The engine, by one of its words; with none, the usual one.
        engine: Option<String>,
    },
    /// A domain's own world.
    Domain {
        /// The domain and how it is filled.
        filling: Filling,
        /// The role of the agent; with none, the usual one.
        role: Option<String>,
        /// The engine, by one of its words; with none, the usual one.
        engine: Option<String>,
    },
}

impl Start {
    /// A task of the store on the usual engine.
    pub fn task(id: impl Into<String>) -> Start {
        Start::Task { id: id.into(), engine: None }
    }

    /// A domain's own world on the usual engine, in the usual role.
    pub fn domain(domain: &str, size: &str, seed: u64) -> Start {
        let filling = Filling { domain: domain.to_owned(), size: Some(size.to_owned()), seed };
        Start::Domain { filling, role: None, engine: None }
    }
}

/// What an episode may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most calls, refused ones too.
    pub calls: u32,
    /// The time without a call after which it is closed.
    pub idle: Duration,
}

/// What whoever began an episode is told of it.
#[derive(Clone, Debug)]
pub struct Created {
    /// The id by which its addresses name it.
    pub id: EpisodeId,
    /// The token of its agent.
    pub token: Token,
    /// What it may cost.
    pub limits: Limits,
    /// The instruction, if it has a task.
    pub instruction: Option<String>,
}

/// How an episode stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// The id of its task; nothing where it is a domain's own world.
    pub task: Option<String>,
    /// The name of its domain.
    pub domain: String,
    /// The role of its agent.
    pub role: String,
    /// What it may cost.
    pub limits: Limits,
    /// The calls that were made, refused ones too.
    pub calls_used: u32,
    /// The calls that were made after the last that was allowed. The world was not asked.
    pub calls_over: u32,
    /// The time since it was last used.
    pub idle: Duration,
    /// The hash of its state, where its engine has one at hand.
    pub state: Option<String>,
}

/// A verdict, and what it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graded {
    /// What the judge said.
    pub verdict: Verdict,
    /// The digest of the whole task, open and sealed.
    pub task: Digest,
    /// What tells the state that was judged from others: its hash, or the digest of its bytes.
    pub state: String,
}

/// Whose a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Agent(EpisodeId),
    Nobody,
}

/// An episode that lives.
struct Slot {
    world: Arc<Opened>,
    lock: Lock,
    limit: u32,
    /// Milliseconds since the first.
    last_used: AtomicU64,
    /// What the connections of its agent have in common.
    share: Arc<Share>,
    /// Nothing once it is closed.
    running: Mutex<Option<Running>>,
}

struct Running {
    episode: Box<dyn Episode>,
    spent: Spent,
    account: Account,
}

impl Running {
    /// What it holds of this process's memory, in bytes.
    fn held(&self) -> u64 {
        account::held(self.episode.size(), self.spent.bytes)
    }
}

/// What an episode has cost so far.
#[derive(Clone, Copy, Default)]
struct Spent {
    calls: u32,
    over: u32,
    bytes: usize,
}

impl Spent {
    /// Counts a call, if one is left.
    fn spend(&mut self, limit: u32, bytes: usize) -> Result<(), CallError> {
        let full = self.bytes.saturating_add(bytes) > LARGEST_CALLS;
        if self.calls >= limit || full {
            self.over = self.over.saturating_add(1);
            return Err(if full { CallError::TraceFull(LARGEST_CALLS) } else { CallError::CallsExhausted(limit) });
        }
        self.calls += 1;
        Ok(())
    }
}

#[derive(Default)]
struct Slots {
    live: BTreeMap<EpisodeId, Arc<Slot>>,
    closed: BTreeMap<EpisodeId, Lock>,
    order: VecDeque<EpisodeId>,
}

/// The live episodes of a program.
pub struct Episodes {
    settings: Settings,
    worlds: Worlds,
    slots: RwLock<Slots>,
    held: Total,
    began: Instant,
}

impl Episodes {
    /// A program's episodes, of which there are none yet.
    pub fn new(settings: Settings) -> Episodes {
        let (worlds, slots, held) = Default::default();
        Episodes { settings, worlds, slots, held, began: Instant::now() }
    }

    /// What they were told.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Begins an episode. The files of a task are checked each time.
    pub fn create(&self, start: &Start) -> Result<Created, ServeError> {
        self.check_room(&self.read())?;
        let (world, episode) = self.worlds.begin(&self.settings, start)?;
        let limit = world.task.as_ref().map_or(self.settings.calls, |task| task.open.calls);
        let running = Running { episode, spent: Spent::default(), account: Account::new(&self.held) };
        self.insert(world, limit, running, None)
    }

    /// A copy that goes its own way from here, with a token of its own.
    pub fn fork(&self, id: EpisodeId) -> Result<Created, ServeError> {
        let slot = self.used(id)?;
        let copy = slot.with(id, |running| {
            let (episode, held) = (running.episode.fork()?, running.held());
            let account = running.account.fork(held);
            Ok::<_, ServeError>(Running { episode, spent: running.spent, account })
        })??;
        self.insert(Arc::clone(&slot.world), slot.limit, copy, Some(id))
    }

    fn insert(
        &self,
        world: Arc<Opened>,
        limit: u32,
        running: Running,
        copy_of: Option<EpisodeId>,
    ) -> Result<Created, ServeError> {
        let id = EpisodeId(random()?);
        let token = Token::draw(&format!("{id}."))?;
        let limits = Limits { calls: limit, idle: self.settings.idle };
        let instruction = world.task.as_ref().map(|task| task.instruction.clone());
        let last_used = AtomicU64::new(self.now());
        let (share, running) = (Arc::default(), Mutex::new(Some(running)));
        let slot = Arc::new(Slot { world, lock: token.lock(), limit, last_used, share, running });
        {
            let mut slots = self.write();
            self.check_room(&slots)?;
            slots.live.insert(id, Arc::clone(&slot));
        }
        let task = slot.world.task.as_ref().map(|task| &*task.open.id);
        events::begun(id, task, slot.world.world.about().name, copy_of);
        Ok(Created { id, token, limits, instruction })
    }

    fn check_room(&self, slots: &Slots) -> Result<(), ServeError> {
        let live = slots.live.len();
        if live >= self.settings.most_episodes {
            return Err(ServeError::TooMany(live));
        }
        if self.is_full() { Err(self.full()) } else { Ok(()) }
    }

    /// Whether all episodes together hold as much as they may.
    fn is_full(&self) -> bool {
        self.held() >= self.settings.most_memory
    }

    fn full(&self) -> ServeError {
        ServeError::MemoryFull(self.held() >> 20)
    }

    /// Whether there is room for what a call may write: in the episode itself, and in all together, where only those that hold more than
    /// their part have to stop.
    fn check_growth(&self, running: &Running, reads_only: impl FnOnce() -> bool) -> Result<(), CallError> {
        let most = self.settings.most_rows;
        let is_over = running.episode.size().grown() >= most;
        if !(is_over || self.is_full()) || reads_only() {
            return Ok(());
        }
        let part = || self.settings.most_memory / (self.len().max(1) as u64);
        match is_over {
            true => Err(CallError::RowsExhausted(most)),
            false if running.held() > part() => Err(self.full().into()),
            false => Ok(()),
        }
    }

    /// What all episodes hold of this process's memory, in bytes, as far as it can be told from their rows and calls.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// About how many bytes a document of an episode's state or of its calls has.
    pub(crate) fn document_bytes(&self, id: EpisodeId) -> Result<u64, ServeError> {
        self.slot(id)?.with(id, |running| {
            let size = running.episode.size();
            account::held(benchwright_world::Size { first: 0, ..size }, running.spent.bytes)
        })
    }

    /// What the connections of an episode's agent have in common.
    pub(crate) fn share(&self, id: EpisodeId) -> Result<Arc<Share>, ServeError> {
        Ok(Arc::clone(&self.slot(id)?.share))
    }

    /// Calls a tool with a JSON object of arguments. Every call counts, whether or not there is such a tool.
    pub fn call(&self, id: EpisodeId, tool: &str, arguments: &str) -> Result<String, CallError> {
        let [tool, arguments] = &[tool, arguments].map(|text| self.settings.keep_out.clean(text));
        let slot = self.used(id)?;
        let clock = Clock::of_call();
        let answer = slot.with(id, |running| {
            let bytes = tool.len() + arguments.len();
            running.spent.spend(slot.limit, bytes)?;
            if slot.world.tools.withholds(tool) {
                return Err(CallError::Refused(slot.world.tools.not_offered(tool)));
            }
            self.check_growth(running, || slot.world.tools.line(tool).is_none_or(|line| line.reads_only))?;
            running.spent.bytes += bytes;
            let answer = running.episode.call(tool, arguments);
            let held = running.held();
            running.account.tell(held);
            Ok(answer?)
        });
        let answer = answer.unwrap_or_else(|error| Err(error.into()));
        clock.called(id, || slot.world.tools.line(tool).map(|line| &*line.name), &answer);
        answer
    }

    /// Makes a call in the engine's own words.
    pub(crate) fn speak(&self, id: EpisodeId, words: &[&str], body: &str) -> Result<FaceAnswer, CallError> {
        let clean = |text| self.settings.keep_out.clean(text);
        let cleaned: Vec<_> = words.iter().map(|word| clean(word)).collect();
        let (words, body): (Vec<&str>, _) = (cleaned.iter().map(|word| &**word).collect(), clean(body));
        let slot = self.used(id)?;
        let clock = Clock::of_call();
        let answer = slot.with(id, |running| {
            let bytes = words.iter().map(|word| word.len()).sum::<usize>() + body.len();
            running.spent.spend(slot.limit, bytes)?;
            running.spent.bytes += bytes;
            Ok(running.episode.speak(&words, &body).map_err(ServeError::from)?)
        });
        let answer = answer.unwrap_or_else(|error| Err(error.into()));
        clock.called(id, || None, &answer);
        answer
    }

    /// The state as it stands.
    pub fn state(&self, id: EpisodeId) -> Result<WorldState, ServeError> {
        Ok(self.used(id)?.with(id, |running| running.episode.state())??)
    }

    /// The files of its world at the present stage; nothing where it has none.
    pub fn workspace(&self, id: EpisodeId) -> Result<Option<Workspace>, ServeError> {
        let slot = self.used(id)?;
        let Some(domain) = slot.world.world.domain().filter(|domain| Workspace::is_in(domain)) else { return Ok(None) };
        match slot.with(id, |running| running.episode.state())?? {
            WorldState::Records(state) => Ok(Workspace::of(domain, &state)),
            WorldState::Files(_) => Ok(None),
        }
    }

    /// The state as the canonical bytes of its document.
    pub fn state_bytes(&self, id: EpisodeId) -> Result<Vec<u8>, ServeError> {
        Ok(self.used(id)?.with(id, |running| running.episode.state_bytes())??)
    }

    /// The calls that the world was asked for, in order.
    pub fn trace(&self, id: EpisodeId) -> Result<Trace, ServeError> {
        Ok(self.used(id)?.with(id, |running| running.episode.trace())??)
    }

    /// What differs from the first state.
    pub fn diff(&self, id: EpisodeId) -> Result<Diff, ServeError> {
        Ok(self.used(id)?.with(id, |running| running.episode.diff())??)
    }

    /// How an episode stands. To ask is no use of it.
    pub fn status(&self, id: EpisodeId) -> Result<Status, ServeError> {
        let slot = self.slot(id)?;
        let idle = self.now().saturating_sub(slot.last_used.load(Ordering::Relaxed));
        slot.with(id, |running| Status {
            task: slot.world.task.as_ref().map(|task| task.open.id.clone()),
            domain: slot.world.world.about().name.to_owned(),
            role: running.episode.role().to_owned(),
            limits: Limits { calls: slot.limit, idle: self.settings.idle },
            calls_used: running.spent.calls,
            calls_over: running.spent.over,
            idle: Duration::from_millis(idle),
            state: running.episode.state_hash().map(Trace::hash),
        })
    }

    /// The tools of an episode.
    pub fn tools(&self, id: EpisodeId) -> Result<Arc<ToolSet>, ServeError> {
        Ok(Arc::clone(&self.slot(id)?.world.tools))
    }

    /// The world of an episode.
    pub(crate) fn world(&self, id: EpisodeId) -> Result<Arc<Opened>, ServeError> {
        Ok(Arc::clone(&self.slot(id)?.world))
    }

    /// Judges the state as it stands. The task is read anew, held to its digests and to the lock file of its folder, and must
    /// be the one that the episode began from.
    pub fn grade(&self, id: EpisodeId) -> Result<Graded, ServeError> {
        let clock = Clock::of_grading();
        let graded = self.judge(id);
        clock.graded(id, &graded);
        graded
    }

    fn judge(&self, id: EpisodeId) -> Result<Graded, ServeError> {
        let slot = self.used(id)?;
        if !self.settings.may_read_sealed {
            return Err(ServeError::SealedNotReadable);
        }
        let Some(began) = &slot.world.task else { return Err(ServeError::NoTask) };
        // Both are of one moment: no call comes between them.
        let (last, hash) = slot.with(id, |running| (running.episode.state(), running.episode.state_hash()))?;
        let (last, domain) = match (last?, slot.world.world.domain()) {
            (WorldState::Records(last), Some(domain)) => (last, domain),
            (other, _) => return Err(ServeError::NoJudge(other.kind())),
        };
        let task = store(&self.settings)?.task(&began.open.id)?;
        if digest_of(&task.open, &task.instruction, &task.world) != began.digest {
            return Err(ServeError::TaskChanged(began.open.id.clone()));
        }
        let catalog = &self.settings.catalog;
        let natives = match &task.sealed.effects {
            Some(_) => &[][..],
            None => catalog.family(&task.sealed.family, &domain.name)?.natives(),
        };
        let (sandbox, first) = catalog.first_state(&task.world)?;
        let seat = sandbox.seat_of(&task.open);
        let verdict = TaskJudge::of(&task.sealed, domain, &first, natives, &sandbox, &seat)?.grade(&last)?;
        let state = hash.map_or_else(|| Digest::of(&last.to_bytes(domain)).to_string(), Trace::hash);
        Ok(Graded { verdict, task: task.digest(), state })
    }

    /// Ends an episode and frees what it holds.
    pub fn close(&self, id: EpisodeId) -> Result<(), ServeError> {
        Ok(self.end(id)?.map_or(Ok(()), |episode| episode.close())?)
    }

    /// Ends an episode and hands it over as it stood: nobody calls it any more. One that broke is gone.
    pub fn end(&self, id: EpisodeId) -> Result<Option<Box<dyn Episode>>, ServeError> {
        let slot = {
            let mut slots = self.write();
            slots.find(id)?;
            slots.take(id)
        };
        events::ended(id);
        Ok(slot.and_then(|slot| slot.end()))
    }

    /// Closes the episodes that were idle for too long, and says how many.
    pub fn reap(&self) -> usize {
        let idle = u64::try_from(self.settings.idle.as_millis()).unwrap_or(u64::MAX);
        let ended: Vec<Arc<Slot>> = {
            // Whoever finds an episode marks it used under the same lock, so none is closed that was just asked for.
            let mut slots = self.write();
            let now = self.now();
            let old = |slot: &Slot| now.saturating_sub(slot.last_used.load(Ordering::Relaxed)) >= idle;
            let ids: Vec<EpisodeId> = slots.live.iter().filter(|(_, slot)| old(slot)).map(|(id, _)| *id).collect();
            ids.into_iter().filter_map(|id| slots.take(id)).collect()
        };
        for episode in ended.iter().filter_map(|slot| slot.end()) {
            // Whether its engine could clean up is nobody's concern any more.
            let _ = episode.close();
        }
        events::reaped(ended.len());
        ended.len()
    }

    /// How many episodes live, begun and not yet ended.
    pub fn len(&self) -> usize {
        self.read().live.len()
    }

    /// Whether no episode lives.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many worlds are kept for further episodes.
    pub fn worlds(&self) -> usize {
        self.worlds.len()
    }

    /// Whose a token is. An agent's token tells its episode, so one comparison is enough.
    pub(crate) fn owner(&self, token: &str) -> Owner {
        let Some(Ok(id)) = token.split_once('.').map(|(id, _)| id.parse::<EpisodeId>()) else { return Owner::Nobody };
        let lock = {
            let slots = self.read();
            slots.live.get(&id).map(|slot| slot.lock).or_else(|| slots.closed.get(&id).copied())
        };
        if lock.is_some_and(|lock| lock.opens(token)) { Owner::Agent(id) } else { Owner::Nobody }
    }

    /// Whether calls of an episode that lives wait for something outside this process.
    pub(crate) fn waits(&self, id: EpisodeId) -> Result<bool, ServeError> {
        Ok(self.read().find(id)?.world.waits())
    }

    fn slot(&self, id: EpisodeId) -> Result<Arc<Slot>, ServeError> {
        self.read().find(id).map(Arc::clone)
    }

    /// The slot of an episode, which is used from now.
    fn used(&self, id: EpisodeId) -> Result<Arc<Slot>, ServeError> {
        let slots = self.read();
        let slot = slots.find(id)?;
        slot.last_used.store(self.now(), Ordering::Relaxed);
        Ok(Arc::clone(slot))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    // No code runs under these locks that can leave the maps half-changed.
    fn read(&self) -> RwLockReadGuard<'_, Slots> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Slots> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn find(&self, id: EpisodeId) -> Result<&Arc<Slot>, ServeError> {
        let missing = || if self.closed.contains_key(&id) { ServeError::Closed(id) } else { ServeError::NoEpisode };
        self.live.get(&id).ok_or_else(missing)
    }

    /// Takes an episode out, and remembers that it was there.
    fn take(&mut self, id: EpisodeId) -> Option<Arc<Slot>> {
        let slot = self.live.remove(&id)?;
        self.closed.insert(id, slot.lock);
        self.order.push_back(id);
        if self.order.len() > CLOSED_KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.closed.remove(&oldest);
        }
        Some(slot)
    }
}

impl Slot {
    /// Works on the running episode, one caller at a time.
    fn with<R>(&self, id: EpisodeId, work: impl FnOnce(&mut Running) -> R) -> Result<R, ServeError> {
        // A call that panicked may have left a state half-made: nothing is read from it or done in it any more.
        let mut running = self.running.lock().map_err(|_| ServeError::Broken)?;
        running.as_mut().map(work).ok_or(ServeError::Closed(id))
    }

    /// Takes the state out, even while somebody still holds the slot. What a call left half-made is dropped.
    fn end(&self) -> Option<Box<dyn Episode>> {
        let is_whole = !self.running.is_poisoned();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.take().filter(|_| is_whole).map(|running| running.episode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csm(idle: Duration) -> (Episodes, Created) {
        let episodes = Episodes::new(Settings { idle, ..Settings::default() });
        let created = episodes.create(&Start::domain("csm", "small", 1)).unwrap();
        (episodes, created)
    }

    #[test]
    fn what_is_reaped_is_freed() {
        let (episodes, first) = csm(Duration::ZERO);
        let world = episodes.world(first.id).unwrap();
        for _ in 0..100 {
            episodes.fork(first.id).unwrap();
        }
        assert_eq!(Arc::strong_count(&world), 1 + 1 + 101, "here, in the worlds kept, and in each slot");
        assert_eq!(episodes.reap(), 101);
        assert_eq!(Arc::strong_count(&world), 2);
        assert!(episodes.is_empty());
        let slots = episodes.read();
        assert_eq!((slots.closed.len(), slots.order.len()), (101, 101));
    }

    #[test]
    fn only_so_many_closed_ones_are_remembered() {
        let (episodes, first) = csm(Duration::from_secs(60));
        let slot = episodes.slot(first.id).unwrap();
        let mut slots = episodes.write();
        for at in 0..CLOSED_KEPT as u64 + 10 {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&at.to_be_bytes());
            slots.live.insert(EpisodeId(id), Arc::clone(&slot));
            slots.take(EpisodeId(id)).unwrap();
        }
        assert_eq!((slots.closed.len(), slots.order.len()), (CLOSED_KEPT, CLOSED_KEPT));
        assert!(matches!(slots.find(EpisodeId([0; 16])), Err(ServeError::NoEpisode)));
    }

    #[test]
    fn an_episode_whose_call_stopped_half_way_is_not_used_any_more() {
        let (episodes, first) = csm(Duration::from_secs(60));
        let slot = episodes.slot(first.id).unwrap();
        let stopped = std::thread::spawn(move || slot.with(first.id, |_| panic!("as a test"))).join();
        assert!(stopped.is_err());
        assert!(matches!(episodes.state(first.id), Err(ServeError::Broken)));
        assert!(matches!(episodes.call(first.id, "list_users", "{}"), Err(CallError::Serve(ServeError::Broken))));
        assert!(matches!(episodes.fork(first.id), Err(ServeError::Broken)));
        episodes.close(first.id).unwrap();
        assert!(episodes.is_empty(), "its slot is free");
    }

    #[test]
    fn a_task_that_names_its_tools_offers_no_others() {
        let (episodes, first) = csm(Duration::from_secs(60));
        let world = episodes.world(first.id).unwrap();
        let tools = Arc::new(ToolSet::new(world.world.tools(), &["list_users".to_owned()]));
        assert_eq!(tools.lines().len(), 1);
        let narrow = Opened { world: Arc::clone(&world.world), tools, task: None };
        let account = Account::new(&episodes.held);
        let running = Running { episode: world.world.begin(None).unwrap(), spent: Spent::default(), account };
        let created = episodes.insert(Arc::new(narrow), 10, running, None).unwrap();
        assert!(episodes.call(created.id, "list_users", "{}").is_ok());
        let before = episodes.status(created.id).unwrap();
        let group = r#"{"name":"new","type":"support"}"#;
        let refused = episodes.call(created.id, "add_new_user_group", group).unwrap_err();
        assert_eq!((refused.word(), refused.status()), ("not_found", 404));
        let after = episodes.status(created.id).unwrap();
        assert_eq!((after.state, after.calls_used), (before.state, before.calls_used + 1));
    }
}
