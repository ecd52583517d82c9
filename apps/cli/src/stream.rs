//! A stream of tasks by the thousand: shards that are made whole or not at all, so that a run that was cut off goes on where
//! it was.

use crate::{
    failure::Failure,
    progress::Progress,
    suites, tasks,
    work::{Maker, Setting},
};
use anyhow::{Context as _, anyhow};
use benchwright_base::Digest;
use benchwright_export::{shard_paths, write_shard};
use benchwright_pack::{Suite, SuiteTask, store};
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value as Json, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Tasks of a shard.
const PER_SHARD: usize = 1_000;
/// From so many tasks on, `new` makes shards.
pub(crate) const FROM: u64 = 1_000;
/// What a folder of shards was begun with.
const HEAD: &str = "stream.json";

/// What was made.
pub(crate) struct Streamed {
    tasks: usize,
    shards: usize,
    /// Shards that were there already.
    kept: usize,
    bytes: u64,
    cpu: Duration,
}

/// Makes the tasks of a suite as shards into a folder, or goes on with it. At the end the folder has the lock file too.
pub(crate) fn make(setting: &Setting, suite: &Suite, out: &Path, jobs: Option<usize>) -> anyhow::Result<Streamed> {
    begin(suite, out)?;
    let shards: Vec<&[SuiteTask]> = suite.tasks.chunks(PER_SHARD).collect();
    let done = |at: usize| shard_paths(out, at)[0].is_file() && lock_path(out, at).is_file();
    let open: Vec<usize> = (0..shards.len()).filter(|at| !done(*at)).collect();
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let spent: Mutex<Duration> = Mutex::new(Duration::ZERO);
    let progress = Progress::of("making shards", open.len());
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, open.len().max(1)) {
            scope.spawn(|| {
                let mut maker = Maker::new(setting);
                let begun = cpu();
                while let Some(at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = shard(&mut maker, shards[*at], out, *at) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        break;
                    }
                    progress.advance();
                }
                *spent.lock().unwrap_or_else(PoisonError::into_inner) += cpu().saturating_sub(begun);
            });
        }
    });
    drop(progress);
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    lock(suite, out, shards.len())?;
    let mut bytes = 0;
    for path in (0..shards.len()).flat_map(|at| shard_paths(out, at)) {
        bytes += fs::metadata(&path).with_context(|| path.display().to_string())?.len();
    }
    let cpu = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Streamed { tasks: suite.tasks.len(), shards: shards.len(), kept: shards.len() - open.len(), bytes, cpu })
}

/// The CPU time of this thread.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// A new folder, or one that was begun with the same suite.
fn begin(suite: &Suite, out: &Path) -> anyhow::Result<()> {
    let first = suite.tasks.first().context("a stream has at least one task")?;
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
            let message = format!("{} holds another stream", out.display());
            return Err(Failure::wrong_use(message, "another folder with -o, or the same line as before"));
        }
        Err(_) => suites::check_empty(out)?,
    }
    for folder in [out.join("open"), out.join("sealed"), out.join("locks")] {
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    write_whole(&path, head.as_bytes())
}

fn lock_path(out: &Path, at: usize) -> PathBuf {
    out.join("locks").join(format!("part-{at:05}.txt"))
}

/// Makes one shard: the digests first, then the shard, so that a shard that is there has its digests.
fn shard(maker: &mut Maker<'_>, lines: &[SuiteTask], out: &Path, at: usize) -> anyhow::Result<()> {
    let mut tasks = Vec::with_capacity(lines.len());
    let mut digests = String::new();
    for line in lines {
        let (task, _) = maker.make(&line.pattern, &line.tier, &line.objective, line.seed, false)?;
        digests.push_str(&format!("{}\n", task.digest()));
        tasks.push(task);
    }
    write_whole(&lock_path(out, at), digests.as_bytes())?;
    write_shard(out, at, tasks)?;
    Ok(())
}

/// Writes a file under another name first.
fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let half = path.with_extension("half");
    fs::write(&half, bytes).with_context(|| half.display().to_string())?;
    fs::rename(&half, path).with_context(|| path.display().to_string())
}

/// The lock file of all shards.
fn lock(suite: &Suite, out: &Path, shards: usize) -> anyhow::Result<()> {
    let mut whole = suite.clone();
    let mut lines = whole.tasks.iter_mut();
    for at in 0..shards {
        let path = lock_path(out, at);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for digest in text.lines() {
            let digest = Digest::parse(digest).ok_or_else(|| anyhow!("{}: `{digest}` is no digest", path.display()))?;
            lines.next().with_context(|| format!("{} has too many lines", path.display()))?.digest = Some(digest);
        }
    }
    if lines.next().is_some() {
        return Err(anyhow!("{} has too few digests", out.join("locks").display()));
    }
    store::write_suite(&out.join("suite.toml"), &whole).map_err(tasks::of_store)
}

impl Streamed {
    /// The document of `--json`.
    pub(crate) fn to_json(&self) -> Json {
        let made = self.made();
        let cpu = self.cpu.as_secs_f64();
        json!({
            "tasks": self.tasks,
            "shards": self.shards,
            "kept_shards": self.kept,
            "bytes": self.bytes,
            "bytes_per_task": self.bytes / self.tasks.max(1) as u64,
            "cpu_s": (cpu * 1000.0).round() / 1000.0,
            "tasks_per_cpu_s": if made == 0 { Json::Null } else { json!((made as f64 / cpu).round()) },
        })
    }

    fn made(&self) -> usize {
        self.tasks.saturating_sub(self.kept * PER_SHARD)
    }

    /// The same in a sentence.
    pub(crate) fn to_text(&self) -> String {
        let rate = self.made() as f64 / self.cpu.as_secs_f64().max(1e-9);
        format!(
            "{} tasks in {} shards, of which {} were there already; {} bytes a task, {rate:.0} tasks a second on one core\n",
            self.tasks,
            self.shards,
            self.kept,
            self.bytes / self.tasks.max(1) as u64,
        )
    }
}
