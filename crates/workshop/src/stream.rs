//! A stream of tasks by the thousand: shards that are made whole or not at all, so that a run that was cut off goes on where
//! it was. A shard's name has the digest of its tasks' digests in it: whoever makes it gives it the same name, and what is under a name is
//! never another shard.

use crate::{Error, Maker, Shortfall, Temporary, Workshop, events, progress::Work, suites, work::maker::in_suite};
use benchwright_base::Digest;
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_depot::Depot;
use benchwright_export::{ShardTask, shard, shard_tasks};
use benchwright_pack::{
    Store, Suite, SuiteTask, Task,
    store::{OPEN_TREE, SEALED_TREE, SUITE_FILE},
    suite::LARGEST_SUITE,
};
use benchwright_project::Solver;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Tasks of a shard.
pub(crate) const PER_SHARD: usize = 1_000;
/// From so many tasks on, `new` makes shards.
pub const FROM: u64 = 1_000;
/// What a folder of shards was begun with.
pub(crate) const HEAD: &str = "stream.json";
/// The tree of the digests of each shard's tasks.
pub(crate) const LOCKS: &str = "locks";
/// The largest part of a shard that is read, in bytes.
pub(crate) const LARGEST_SHARD: usize = 1 << 30;
/// The largest lock of a shard that is read, in bytes.
pub(crate) const LARGEST_LOCK: usize = 16 << 20;

/// Whether tasks of a pattern can be streamed: nothing but its family is asked for them.
pub fn can(catalog: &Catalog, pattern: &str) -> Result<bool, CatalogError> {
    if catalog.is_scenario(pattern) {
        return Ok(false);
    }
    let pattern = catalog.pattern(pattern)?;
    Ok(Solver::not_asked(catalog.family(&pattern.family, &pattern.domain)?).is_some())
}

/// How much a stream has made.
#[derive(Clone, Copy, Debug)]
pub struct Streamed {
    /// Tasks of the whole stream, those made before included.
    pub tasks: usize,
    /// Shards of the whole stream, those made before included.
    pub shards: usize,
    /// Shards that were there already.
    pub kept: usize,
    /// Bytes of all shards.
    pub bytes: u64,
    /// CPU time of what was made.
    pub cpu: Duration,
}

impl Streamed {
    /// Tasks that were made this time.
    pub fn made(&self) -> usize {
        self.tasks.saturating_sub(self.kept * PER_SHARD)
    }
}

/// A shard, before it is kept.
pub(crate) struct Shard {
    pub(crate) name: String,
    parts: [Vec<u8>; 2],
    /// A line for each line of the suite: the digest of its task, or why there is none.
    lock: String,
}

/// The name of a shard's file in a tree.
fn file_of(tree: &str, name: &str) -> String {
    let end = if tree == LOCKS { "txt" } else { "parquet" };
    format!("{tree}/{name}.{end}")
}

impl Shard {
    /// The shard of a number, from 0, of what became of its lines.
    pub(crate) fn of(at: usize, made: Vec<Result<Task, String>>) -> Result<Shard, Error> {
        let (mut lock, mut tasks) = (String::new(), Vec::with_capacity(made.len()));
        for made in made {
            match made {
                Ok(task) => {
                    lock.push_str(&format!("{}\n", task.digest()));
                    tasks.push(task);
                }
                Err(why) => lock.push_str(&format!("- {}\n", why.replace('\n', " "))),
            }
        }
        let digest = Digest::of(lock.as_bytes()).to_string();
        Ok(Shard { name: format!("part-{at:06}-{}", &digest[..16]), parts: shard(tasks)?, lock })
    }

    /// Keeps it. The open part is kept last: a shard of which it is there is there altogether.
    pub(crate) fn keep(&self, to: &Depot) -> Result<(), Error> {
        let [open, sealed] = &self.parts;
        for (tree, bytes) in [(LOCKS, self.lock.as_bytes()), (SEALED_TREE, sealed), (OPEN_TREE, open)] {
            to.put(&file_of(tree, &self.name), bytes)?;
        }
        Ok(())
    }

    /// The digest of all of its bytes.
    pub(crate) fn digest(&self) -> Digest {
        let [open, sealed] = &self.parts;
        Digest::of_parts([(OPEN_TREE, &**open), (SEALED_TREE, sealed), (LOCKS, self.lock.as_bytes())])
    }
}

/// The names of the shards that are there altogether, by their numbers.
pub(crate) fn shards_in(depot: &Depot) -> Result<BTreeMap<usize, String>, Error> {
    let names = |tree: &str, end: &str| -> Result<Vec<String>, Error> {
        let names = depot.names(tree)?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(end)).map(str::to_owned).collect())
    };
    let beside = |tree, end| names(tree, end).map(BTreeSet::from_iter);
    let (sealed, locks): (BTreeSet<String>, BTreeSet<String>) =
        (beside(SEALED_TREE, ".parquet")?, beside(LOCKS, ".txt")?);
    let mut found = BTreeMap::new();
    for name in names(OPEN_TREE, ".parquet")? {
        let number = name.strip_prefix("part-").and_then(|rest| rest.split('-').next()?.parse().ok());
        if let Some(number) = number.filter(|_| sealed.contains(&name) && locks.contains(&name)) {
            found.insert(number, name);
        }
    }
    Ok(found)
}

/// Makes the tasks of a suite as shards into a folder, or goes on with it. At the end the folder has the lock file too.
pub fn make(workshop: &Workshop, suite: &Suite, out: &Path) -> Result<Streamed, Error> {
    begin(suite, out)?;
    let depot = Depot::folder(out);
    let lines: Vec<&[SuiteTask]> = suite.tasks.chunks(PER_SHARD).collect();
    // What an earlier run was cut off at is made again.
    let there = shards_in(&depot)?;
    let mut open = Vec::new();
    for (at, lines) in lines.iter().enumerate() {
        match there.get(&at) {
            Some(name) => check_shard(&depot, name, lines.len())?,
            None => open.push(at),
        }
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let spent: Mutex<Duration> = Mutex::new(Duration::ZERO);
    let kept = lines.len() - open.len();
    let work = Mutex::new(Work::begin(workshop.progress(), "making shards", kept, lines.len()));
    let told = |tell: &dyn Fn(&mut Work<'_>, &str), at: usize| {
        tell(&mut work.lock().unwrap_or_else(PoisonError::into_inner), &format!("part {at}"));
    };
    std::thread::scope(|scope| {
        for _ in 0..workshop.jobs().clamp(1, open.len().max(1)) {
            scope.spawn(|| {
                let mut maker = Maker::new(workshop);
                let begun = cpu();
                while !workshop.cancel().is_cancelled() {
                    let Some(at) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    told(&|work, item| work.begun(item), *at);
                    let made = made_here(&mut maker, suite, lines[*at], *at);
                    if let Err(error) = made.and_then(|shard| shard.keep(&depot)) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        break;
                    }
                    told(&|work, item| work.done(item), *at);
                }
                *spent.lock().unwrap_or_else(PoisonError::into_inner) += cpu().saturating_sub(begun);
            });
        }
    });
    drop(work);
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    if workshop.cancel().is_cancelled() {
        return Err(Error::Cancelled);
    }
    let names: Vec<String> = shards_in(&depot)?.into_values().collect();
    lock(suite, &depot, &names)?;
    let mut bytes = 0;
    for name in &names {
        for path in [OPEN_TREE, SEALED_TREE].map(|tree| out.join(file_of(tree, name))) {
            bytes += fs::metadata(&path).map_err(Error::io(&path))?.len();
        }
    }
    let cpu = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Streamed { tasks: suite.tasks.len(), shards: lines.len(), kept, bytes, cpu })
}

/// The CPU time of this thread.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// What a folder of shards is begun with.
pub(crate) fn head(suite: &Suite, per_shard: usize) -> Result<String, Error> {
    let first = suite.tasks.first().ok_or(Error::NoTasks)?;
    let solver = suite.solver.as_ref().map(|solver| &*solver.version);
    let head = json!({
        "pattern": first.pattern, "tier": first.tier, "objective": first.objective, "seed": first.seed,
        "count": suite.tasks.len(), "per_shard": per_shard, "proved_by": solver, "canary": suite.canary,
    });
    Ok(format!("{head:#}\n"))
}

/// A new folder, or one that was begun with the same suite.
fn begin(suite: &Suite, out: &Path) -> Result<(), Error> {
    let head = head(suite, PER_SHARD)?;
    match fs::read_to_string(out.join(HEAD)) {
        Ok(known) if known == head => return Ok(()),
        Ok(_) => {
            return Err(Error::OtherStream(out.to_owned()));
        }
        Err(_) => suites::check_empty(out)?,
    }
    Ok(Depot::folder(out).put(HEAD, head.as_bytes())?)
}

/// Holds a shard that is there to the digests that were noted when it was made.
fn check_shard(depot: &Depot, name: &str, count: usize) -> Result<(), Error> {
    let damaged =
        |why: &str| Error::Damaged { path: depot.place(&file_of(OPEN_TREE, name)).into(), why: why.to_owned() };
    let digests = read_lock(depot, name)?.into_iter().collect::<Result<Vec<Digest>, String>>();
    match (read_shard(depot, name), digests) {
        (Ok(found), Ok(digests))
            if found.iter().map(|task| task.digest).eq(digests.iter().copied()) && found.len() == count =>
        {
            Ok(())
        }
        (Err(error), _) => Err(damaged(&error.to_string())),
        _ => Err(damaged("its tasks are not those of its lock")),
    }
}

/// The digests of all tasks that shards were locked with; nothing where they have no locks.
pub(crate) fn locked(depot: &Depot) -> Result<Option<BTreeSet<Digest>>, Error> {
    let locks = depot.names(LOCKS)?;
    if locks.is_empty() {
        return Ok(None);
    }
    let (mut digests, mut lines) = (BTreeSet::new(), 0);
    for name in locks.iter().filter_map(|name| name.strip_suffix(".txt")) {
        let became = read_lock(depot, name)?;
        lines += became.len();
        digests.extend(became.into_iter().filter_map(Result::ok));
    }
    let bad = |why: String| Error::Malformed { path: depot.place(HEAD).into(), why };
    let head: Json = serde_json::from_slice(&depot.get(HEAD, LARGEST_LOCK)?).map_err(|error| bad(error.to_string()))?;
    if head["count"] != lines {
        let why = format!("there are the digests of {lines} tasks; the stream has {}", head["count"]);
        return Err(Error::Damaged { path: depot.place(LOCKS).into(), why });
    }
    Ok(Some(digests))
}

/// The tasks of a shard, each held to its digest, and where it stands.
pub(crate) fn read_shard(depot: &Depot, name: &str) -> Result<Vec<ShardTask>, Error> {
    let files = [OPEN_TREE, SEALED_TREE].map(|tree| file_of(tree, name));
    let [open, sealed] = files.each_ref().map(|file| PathBuf::from(depot.place(file)));
    let bytes = [depot.get(&files[0], LARGEST_SHARD)?, depot.get(&files[1], LARGEST_SHARD)?];
    Ok(shard_tasks([&open, &sealed], bytes)?)
}

/// The names of the shards of a folder, in order.
pub(crate) fn names_in(depot: &Depot) -> Result<Vec<String>, Error> {
    let names = depot.names(OPEN_TREE)?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(".parquet")).map(str::to_owned).collect())
}

/// What became of each line of a shard: the digest of its task, or why there is none. The lock must be the one that the shard is named for.
pub(crate) fn read_lock(depot: &Depot, name: &str) -> Result<Vec<Result<Digest, String>>, Error> {
    let file = file_of(LOCKS, name);
    let bad = |why: String| Error::Damaged { path: depot.place(&file).into(), why };
    let text = String::from_utf8(depot.get(&file, LARGEST_LOCK)?).map_err(|error| bad(error.to_string()))?;
    if !name.ends_with(&Digest::of(text.as_bytes()).to_string()[..16]) {
        return Err(bad(format!("its tasks are not those of its lock: {name} is the name of another one")));
    }
    let read = |line: &str| match line.strip_prefix("- ") {
        Some(why) => Ok(Err(why.to_owned())),
        None => Digest::parse(line).map(Ok).ok_or_else(|| bad(format!("`{line}` is no digest"))),
    };
    text.lines().map(read).collect()
}

/// Makes one shard in this thread. Every line must give a task.
fn made_here(maker: &mut Maker<'_>, suite: &Suite, lines: &[SuiteTask], at: usize) -> Result<Shard, Error> {
    let begun = Instant::now();
    let tasks = lines.iter().map(|line| Ok(Ok(task_of(maker, suite, line)?))).collect::<Result<Vec<_>, Error>>()?;
    let shard = Shard::of(at, tasks)?;
    events::shard(at, lines.len(), begun.elapsed());
    Ok(shard)
}

/// The task of a line, made by this thread.
pub(crate) fn task_of(maker: &mut Maker<'_>, suite: &Suite, line: &SuiteTask) -> Result<Task, Error> {
    let (seed, reading) = (suite.split.seed(line.seed), line.reading.as_deref());
    let (task, _) = maker.make(&line.pattern, &line.tier, &line.objective, seed, reading, false)?;
    let task = maker.injected(task, suite.inject)?;
    Ok(in_suite(task, suite.salt_of(line).as_deref()))
}

/// The tasks of lines, made by worker processes: a solver that brings one down fails its own line.
pub(crate) fn tasks_of(
    workshop: &Workshop,
    suite: &Suite,
    lines: &[&SuiteTask],
) -> Result<Vec<Result<Task, String>>, Error> {
    let folder = Temporary::new().map_err(Error::io(&std::env::temp_dir()))?;
    let store = Store::at(folder.path());
    let mut tasks = Vec::new();
    for made in workshop.make_all(suite, lines, &store, 0, &mut |_, _| ()) {
        tasks.push(match made {
            Some(Ok(made)) => Ok(store.unlocked_task(&made.id)?),
            Some(Err(Shortfall { why, missing: true, .. })) => return Err(Error::Lacking(why)),
            Some(Err(short)) => Err(short.why),
            None => return Err(Error::Cancelled),
        });
    }
    Ok(tasks)
}

/// Writes the lock file of all shards, where it is not larger than what is read. Also the lines that have no task, and why.
pub(crate) fn lock(suite: &Suite, depot: &Depot, names: &[String]) -> Result<(Suite, Vec<(SuiteTask, String)>), Error> {
    let (mut short, mut tasks) = (Vec::new(), Vec::with_capacity(suite.tasks.len()));
    let mut lines = suite.tasks.iter();
    for name in names {
        for became in read_lock(depot, name)? {
            let path = || depot.place(&file_of(LOCKS, name)).into();
            let too_many = || Error::Damaged { path: path(), why: "it has too many lines".to_owned() };
            let line = lines.next().ok_or_else(too_many)?;
            match became {
                Ok(digest) => tasks.push(SuiteTask { digest: Some(digest), ..line.clone() }),
                Err(why) => short.push((line.clone(), why)),
            }
        }
    }
    if lines.next().is_some() {
        return Err(Error::Malformed { path: depot.place(LOCKS).into(), why: "there are too few digests".to_owned() });
    }
    let locked = Suite { tasks, ..suite.clone() };
    let text = locked.to_toml();
    if text.len() <= LARGEST_SUITE {
        depot.put(SUITE_FILE, text.as_bytes())?;
    }
    Ok((locked, short))
}
