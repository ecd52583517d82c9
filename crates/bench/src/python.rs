//! `bench python`: what crossing into Python costs. The same ERP episode, calls and verdict, in Rust and from Python in turns; then what is
//! Python's alone: an empty call, a fork, two threads, and ten thousand episodes in one batch. Python is `$BENCHWRIGHT_PYTHON`, else
//! `python3`, and must have the package `benchwright`.

use super::measure::{median, nanoseconds};
use crate::error::{Error, OrWrong as _, Result, hold};
use benchwright_workshop::{
    Temporary, carried,
    play::{Offer, Play, Tasks, built_in},
    tasks::Judged,
};
use serde_json::{Value as Json, json};
use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::Instant,
};

/// Episodes from Python for each in Rust, at least.
const LEAST_RATIO: f64 = 0.9;
const MOST_EMPTY_NS: f64 = 100.0;
const MOST_FORK_NS: f64 = 250.0;
const LEAST_STEPS_PER_S: f64 = 100_000.0;
const MOST_BYTES: f64 = 48.0 * 1024.0;
/// How many times as fast two threads of Python are as one, at least.
const LEAST_THREADS: f64 = 1.4;

/// What was measured.
pub(super) struct Figures {
    calls: usize,
    rust_us: f64,
    python_us: f64,
    empty_ns: f64,
    fork_ns: f64,
    threads: f64,
    rust_threads: f64,
    episodes: u32,
    steps_per_s: f64,
    bytes: f64,
}

impl Figures {
    fn ratio(&self) -> f64 {
        self.rust_us / self.python_us
    }

    /// The bars that were missed.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        let bars = [
            ("episodes", self.ratio() >= LEAST_RATIO),
            ("empty call", self.empty_ns <= MOST_EMPTY_NS),
            ("fork", self.fork_ns <= MOST_FORK_NS),
            ("threads", self.threads >= LEAST_THREADS),
            ("steps", self.steps_per_s >= LEAST_STEPS_PER_S),
            ("memory", self.bytes <= MOST_BYTES),
        ];
        bars.iter().filter(|(_, held)| !held).map(|(name, _)| *name).collect()
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let round = |n: f64| (n * 100.0).round() / 100.0;
        json!({
            "calls": self.calls,
            "rust_episode_us": round(self.rust_us),
            "python_episode_us": round(self.python_us),
            "ratio": round(self.ratio()),
            "empty_call_ns": round(self.empty_ns),
            "fork_ns": round(self.fork_ns),
            "two_threads": round(self.threads),
            "rust_two_threads": round(self.rust_threads),
            "batch_episodes": self.episodes,
            "batch_steps_per_s": self.steps_per_s.round(),
            "batch_kib_each": round(self.bytes / 1024.0),
            "missed": self.missed(),
        })
    }

    /// The same for a reader.
    pub(super) fn to_table(&self) -> String {
        format!(
            "an ERP episode of {} calls with its verdict\n  \
             Rust {:.0} us, Python {:.0} us: {:.2} of Rust's speed (at least {LEAST_RATIO})\n  \
             an empty call {:.0} ns (at most {MOST_EMPTY_NS}), a fork {:.0} ns (at most {MOST_FORK_NS})\n  \
             two threads {:.2} times one (at least {LEAST_THREADS}; in Rust {:.2})\n\
             a batch of {} episodes\n  \
             {:.0} steps a second (at least {LEAST_STEPS_PER_S}), {:.1} KiB each (at most {:.0})\n",
            self.calls,
            self.rust_us,
            self.python_us,
            self.ratio(),
            self.empty_ns,
            self.fork_ns,
            self.threads,
            self.rust_threads,
            self.episodes,
            self.steps_per_s,
            self.bytes / 1024.0,
            MOST_BYTES / 1024.0,
        )
    }
}

/// The program of Python, which takes orders by the line.
struct Side {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Side {
    fn start() -> Result<Side> {
        let python = env::var("BENCHWRIGHT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(&python);
        command.args(["-m", "benchwright._bench"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Error::Wrong(format!("{python}: {error}")))?;
        let orders = child.stdin.take().or_wrong(|| "no way in")?;
        let answers = BufReader::new(child.stdout.take().or_wrong(|| "no way out")?);
        Ok(Side { child, orders, answers })
    }

    fn ask(&mut self, order: &Json) -> Result<Json> {
        writeln!(self.orders, "{order}")?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            let needs = "it needs the package benchwright (BENCHWRIGHT_PYTHON names a Python that has it)";
            return Err(Error::Wrong(format!("Python ended: {needs}")));
        }
        Ok(serde_json::from_str(&line)?)
    }

    fn time(&mut self, what: &str, count: u32) -> Result<Json> {
        self.ask(&json!({ "time": what, "count": count }))
    }

    fn number(&mut self, what: &str, count: u32) -> Result<f64> {
        self.time(what, count)?.as_f64().or_wrong(|| "no number")
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It is ours, and its way in is closed with us.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures; a quick run only shows that it works.
pub(super) fn run(quick: bool) -> Result<Figures> {
    let folder = Temporary::new()?;
    let tasks = Tasks::open(built_in(), carried::unpack_demo(folder.path())?, true);
    let id = tasks.ids()?.first().cloned().or_wrong(|| "no task")?;
    let calls = {
        let task = tasks.store().task(&id)?;
        let judged = Judged::open(built_in(), &task)?;
        let mut episode = judged.begin()?;
        benchwright_world::replay(&task.sealed.oracle, &mut judged.bound_keys(), &mut episode)?;
        let made = episode.trace().calls.into_iter();
        made.map(|call| (call.tool, call.arguments)).collect::<Vec<(String, String)>>()
    };
    let task = tasks.task(&id)?;
    let mut own = task.begin(tasks.tools(&task, &Offer::All)?)?;
    let mut side = Side::start()?;
    let reward = side.ask(&json!({ "folder": folder.path(), "task": id, "calls": calls }))?;
    hold!(reward == json!(1.0), "the oracle's calls earn {reward} from Python");

    // The oracle's episode so many times, graded each time.
    let play = |own: &mut Play, count: u32| -> Result<()> {
        for _ in 0..count {
            own.reset();
            for (tool, arguments) in &calls {
                std::hint::black_box(own.call(tool, arguments).is_ok());
            }
            hold!(own.grade()?.reward == 1_000_000, "the oracle's calls do not pass");
        }
        Ok(())
    };
    let (rounds, count) = if quick { (1, 3) } else { (15, 100) };
    let (mut rust, mut python) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        python.push(side.number("episodes", count)? / 1_000.0);
        let spent = nanoseconds(|| play(&mut own, count))?;
        rust.push(spent / f64::from(count) / 1_000.0);
    }
    let (small, threads, episodes) = if quick { (100, 4, 100) } else { (200_000, 400, 10_000) };
    let mut of = |what: &str, count: u32| -> Result<f64> {
        let several: Result<Vec<f64>> = (0..if quick { 1 } else { 5 }).map(|_| side.number(what, count)).collect();
        Ok(several?.into_iter().fold(f64::MAX, f64::min))
    };
    let (empty_ns, fork_ns) = (of("empty", small)?, of("fork", small / 4)?);
    // What two threads gain differs from moment to moment with what else the machine does: in turns with Rust's own, and the median.
    let (mut gained, mut gained_by_rust) = (Vec::new(), Vec::new());
    for _ in 0..if quick { 1 } else { 9 } {
        let both = side.time("threads", threads)?;
        let seconds = |at: usize| both.get(at).and_then(Json::as_f64).or_wrong(|| "no seconds");
        gained.push(seconds(0)? / seconds(1)?);
        let alone = |count: u32| play(&mut task.begin(tasks.tools(&task, &Offer::All)?)?, count);
        let begun = Instant::now();
        alone(threads)?;
        let one = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        thread::scope(|scope| -> Result<()> {
            let half = || scope.spawn(|| alone(threads / 2));
            for half in [half(), half()] {
                half.join().map_err(|_| Error::Wrong("a thread was lost".to_owned()))??;
            }
            Ok(())
        })?;
        gained_by_rust.push(one / begun.elapsed().as_secs_f64());
    }
    let batch = side.time("batch", episodes)?;
    let figure = |at: usize| batch.get(at).and_then(Json::as_f64).or_wrong(|| "no figure");
    hold!(batch.get(2) == Some(&json!(true)), "episodes of the batch did not pass");
    Ok(Figures {
        calls: calls.len(),
        rust_us: median(rust),
        python_us: median(python),
        empty_ns,
        fork_ns,
        threads: median(gained),
        rust_threads: median(gained_by_rust),
        episodes,
        steps_per_s: figure(0)?,
        bytes: figure(1)?,
    })
}
