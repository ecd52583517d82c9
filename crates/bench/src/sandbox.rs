//! `bench sandbox`: what it costs to keep a program apart. A program that does nothing, started and stopped in each isolation in turns with a bare
//! process; then many sandboxes at once, each with a process that wants to stay behind. A container is measured where podman is here and
//! `$BENCHWRIGHT_IMAGE` names an image.

use crate::error::{Error, Result, hold};
use benchwright_run::{Bounds, Bubblewrap, Container, Isolation, Job, View};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    env, fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The most milliseconds that a trial in bubblewrap may take beyond its program, in the median.
const MOST_MS: f64 = 60.0;
/// How many sandboxes stand at once.
const AT_ONCE: usize = 200;
/// What a process is told to wait that wants to stay behind: a number that nobody else waits.
const STAY: &str = "86399.731";

/// What was measured.
pub(super) struct Figures {
    bare: Spread,
    ways: Vec<(&'static str, Spread)>,
    at_once: usize,
    at_once_s: f64,
    failed: usize,
    left: usize,
}

/// Milliseconds, in order.
struct Spread(Vec<f64>);

impl Spread {
    fn at(&self, share: f64) -> f64 {
        let place = ((self.0.len().max(1) - 1) as f64 * share).round() as usize;
        self.0.get(place).copied().unwrap_or_default()
    }

    fn to_json(&self) -> Json {
        let round = |ms: f64| (ms * 100.0).round() / 100.0;
        json!({ "p50_ms": round(self.at(0.5)), "p95_ms": round(self.at(0.95)) })
    }
}

impl Figures {
    /// The bars that were missed.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        let is_quick = self.ways.iter().all(|(way, spread)| *way != "bubblewrap" || spread.at(0.5) <= MOST_MS);
        let bars = [("bubblewrap", is_quick), ("at once", self.failed == 0), ("left behind", self.left == 0)];
        bars.iter().filter(|(_, held)| !held).map(|(name, _)| *name).collect()
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let ways: BTreeMap<&str, Json> = self.ways.iter().map(|(way, spread)| (*way, spread.to_json())).collect();
        json!({
            "bare": self.bare.to_json(), "ways": ways,
            "at_once": {
                "sandboxes": self.at_once, "seconds": (self.at_once_s * 100.0).round() / 100.0,
                "failed": self.failed, "left": self.left,
            },
            "missed": self.missed(),
        })
    }

    /// The same for a reader.
    pub(super) fn to_table(&self) -> String {
        let line = |name: &str, spread: &Spread| {
            format!("  {name:<12} {:>7.1} ms, {:.1} ms at the 95th percentile\n", spread.at(0.5), spread.at(0.95))
        };
        let mut out = "a program that does nothing, started and stopped\n".to_owned();
        out.push_str(&line("bare", &self.bare));
        for (way, spread) in &self.ways {
            out.push_str(&line(way, spread));
        }
        out.push_str(&format!(
            "{} sandboxes of bubblewrap at once (a trial at most {MOST_MS} ms)\n  {:.1} s, {} failed, {} processes left behind\n",
            self.at_once, self.at_once_s, self.failed, self.left
        ));
        out
    }
}

/// Measures.
pub(super) fn run(quick: bool) -> Result<Figures> {
    let view = || View::new(&[], &[]).map_err(|error| Error::Wrong(error.to_string()));
    let wrong = |broken: benchwright_run::Broken| Error::Wrong(broken.to_string());
    let bubblewrap = Bubblewrap::new(view()?, Bounds::default()).map_err(wrong)?;
    let image = env::var("BENCHWRIGHT_IMAGE").ok().filter(|_| Container::look().is_ok());
    let container = image.map(|image| Container::new(&image, view()?, Bounds::default()).map_err(wrong)).transpose()?;
    let mut ways: Vec<(&dyn Isolation, Vec<f64>)> = vec![(&bubblewrap, Vec::new())];
    ways.extend(container.as_ref().map(|container| (container as &dyn Isolation, Vec::new())));
    let mut bare = Vec::new();
    for _ in 0..if quick { 3 } else { 50 } {
        bare.push(timed(bare_process)?);
        for (way, taken) in &mut ways {
            taken.push(timed(|| trial(*way, "true"))?);
        }
    }
    let spread = |mut taken: Vec<f64>| {
        taken.sort_by(f64::total_cmp);
        Spread(taken)
    };
    let at_once = if quick { 8 } else { AT_ONCE };
    let begun = Instant::now();
    let command = format!("(setsid sleep {STAY} &) ; sleep 0.2");
    let failed = thread::scope(|scope| {
        let all: Vec<_> = (0..at_once).map(|_| scope.spawn(|| trial(&bubblewrap, &command))).collect();
        all.into_iter().map(|one| one.join()).filter(|ended| !matches!(ended, Ok(Ok(())))).count()
    });
    let at_once_s = begun.elapsed().as_secs_f64();
    Ok(Figures {
        bare: spread(bare),
        ways: ways.into_iter().map(|(way, taken)| (way.name(), spread(taken))).collect(),
        at_once,
        at_once_s,
        failed,
        left: left(),
    })
}

fn timed(run: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    run()?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

fn bare_process() -> Result<()> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "true"]).stdin(Stdio::null()).stdout(Stdio::null());
    hold!(command.status()?.success(), "true is not true");
    Ok(())
}

fn trial(way: &dyn Isolation, command: &str) -> Result<()> {
    let path = env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    let variables = BTreeMap::from([("PATH".to_owned(), path)]);
    let most = Duration::from_secs(60);
    // An address for the episode, at which nobody listens: the network is made as in a trial.
    let episode = Some(std::net::SocketAddr::from(([127, 0, 0, 1], 9)));
    let ran = way.run(&Job { command, input: "", variables: &variables, episode, most, files: None });
    let ran = ran.map_err(|broken| Error::Wrong(broken.to_string()))?;
    hold!(ran.status.is_some_and(|status| status.success()), "{}", ran.err);
    Ok(())
}

/// Processes that stayed behind.
fn left() -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stays = |line: Vec<u8>| line.split(|byte| *byte == 0).any(|word| word == STAY.as_bytes());
    entries.filter(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(stays)).count()
}
