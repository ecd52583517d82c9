//! A stream of tasks by the thousand: shards that are made whole or not at all, so that a run that was cut off goes on where
//! it was.

use crate::{Error, Maker, Workshop, events, progress::Work, suites, work::maker::in_suite};
use benchwright_base::Digest;
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_export::{shard_digests, shard_paths, write_shard};
use benchwright_pack::{Suite, SuiteTask, store};
use benchwright_project::Solver;
use nix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Tasks of a shard.
const PER_SHARD: usize = 1_000;
/// From so many tasks on, `new` makes shards.
pub const FROM: u64 = 1_000;
/// What a folder of shards was begun with.
const HEAD: &str = "stream.json";

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

/// Makes the tasks of a suite as shards into a folder, or goes on with it. At the end the folder has the lock file too.
pub fn make(workshop: &Workshop, suite: &Suite, out: &Path) -> Result<Streamed, Error> {
    begin(suite, out)?;
    let shards: Vec<&[SuiteTask]> = suite.tasks.chunks(PER_SHARD).collect();
    let mut open = Vec::new();
    for (at, lines) in shards.iter().enumerate() {
        let [is_open, is_sealed] = shard_paths(out, at).map(|path| path.is_file());
        let is_locked = lock_path(out, at).is_file();
        // What an earlier run was cut off at is made again; the open part is written last.
        if is_open && is_sealed && is_locked {
            check_shard(out, at, lines.len())?;
        } else {
            open.push(at);
        }
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let spent: Mutex<Duration> = Mutex::new(Duration::ZERO);
    let kept = shards.len() - open.len();
    let work = Mutex::new(Work::begin(workshop.progress(), "making shards", kept, shards.len()));
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
                    if let Err(error) = shard(&mut maker, suite, shards[*at], out, *at) {
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
    lock(suite, out, shards.len())?;
    let mut bytes = 0;
    for path in (0..shards.len()).flat_map(|at| shard_paths(out, at)) {
        bytes += fs::metadata(&path).map_err(Error::io(&path))?.len();
    }
    let cpu = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Streamed { tasks: suite.tasks.len(), shards: shards.len(), kept, bytes, cpu })
}

/// The CPU time of this thread.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// A new folder, or one that was begun with the same suite.
fn begin(suite: &Suite, out: &Path) -> Result<(), Error> {
    let first = suite.tasks.first().ok_or(Error::NoTasks)?;
    let solver = suite.solver.as_ref().map(|solver| &*solver.version);
    let head = json!({
        "pattern": first.pattern, "tier": first.tier, "objective": first.objective, "seed": first.seed,
        "count": suite.tasks.len(), "per_shard": PER_SHARD, "proved_by": solver, "canary": suite.canary,
    });
    let head = format!("{head:#}\n");
    let path = out.join(HEAD);
    match fs::read_to_string(&path) {
        Ok(known) if known == head => return Ok(()),
        Ok(_) => {
            return Err(Error::OtherStream(out.to_owned()));
        }
        Err(_) => suites::check_empty(out)?,
    }
    for folder in [out.join("open"), out.join("sealed"), out.join("locks")] {
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    }
    write_whole(&path, head.as_bytes())
}

/// Holds a shard that is there to the digests that were noted when it was made.
fn check_shard(out: &Path, at: usize, count: usize) -> Result<(), Error> {
    let digests: Vec<Digest> = read_lock(&lock_path(out, at))?;
    let [open, _] = shard_paths(out, at);
    let damaged = |why: &str| Error::Damaged { path: open.clone(), why: why.to_owned() };
    match shard_digests(out, at) {
        Ok(found) if found == digests && found.len() == count => Ok(()),
        Ok(_) => Err(damaged("its tasks are not those of its lock")),
        Err(error) => Err(damaged(&error.to_string())),
    }
}

/// The digests of a shard's lock.
fn read_lock(path: &Path) -> Result<Vec<Digest>, Error> {
    let text = fs::read_to_string(path).map_err(Error::io(path))?;
    let read = |line: &str| {
        let bad = || Error::Damaged { path: path.to_owned(), why: format!("`{line}` is no digest") };
        Digest::parse(line).ok_or_else(bad)
    };
    text.lines().map(read).collect()
}

fn lock_path(out: &Path, at: usize) -> PathBuf {
    out.join("locks").join(format!("part-{at:05}.txt"))
}

/// Makes one shard: the digests first, then the shard, so that a shard that is there has its digests.
fn shard(maker: &mut Maker<'_>, suite: &Suite, lines: &[SuiteTask], out: &Path, at: usize) -> Result<(), Error> {
    let begun = Instant::now();
    let mut tasks = Vec::with_capacity(lines.len());
    let mut digests = String::new();
    for line in lines {
        let (task, _) =
            maker.make(&line.pattern, &line.tier, &line.objective, suite.split.seed(line.seed), None, false)?;
        let task = maker.injected(task, suite.inject)?;
        let task = in_suite(task, suite.salt_of(line).as_deref());
        digests.push_str(&format!("{}\n", task.digest()));
        tasks.push(task);
    }
    write_whole(&lock_path(out, at), digests.as_bytes())?;
    write_shard(out, at, tasks)?;
    events::shard(at, lines.len(), begun.elapsed());
    Ok(())
}

/// Writes a file under another name first.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let half = path.with_extension("half");
    fs::write(&half, bytes).map_err(Error::io(&half))?;
    fs::rename(&half, path).map_err(Error::io(path))
}

/// The lock file of all shards.
fn lock(suite: &Suite, out: &Path, shards: usize) -> Result<(), Error> {
    let mut whole = suite.clone();
    let mut lines = whole.tasks.iter_mut();
    for at in 0..shards {
        let path = lock_path(out, at);
        for digest in read_lock(&path)? {
            let too_many = || Error::Damaged { path: path.clone(), why: "it has too many lines".to_owned() };
            lines.next().ok_or_else(too_many)?.digest = Some(digest);
        }
    }
    if lines.next().is_some() {
        return Err(Error::Malformed { path: out.join("locks"), why: "there are too few digests".to_owned() });
    }
    Ok(store::write_suite(&out.join("suite.toml"), &whole)?)
}
