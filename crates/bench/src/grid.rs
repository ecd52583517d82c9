//! `bench grid`: whole episodes (reset, 25 calls, grade) in the sandbox and on plain structs, in turns, in CPU time; and how
//! long making a task takes over all settings. Before anything is timed, every answer is compared byte by byte.

mod plain;
mod script;

use super::measure::{median, nanoseconds};
use crate::error::{Error, OrWrong as _, Result, wrong};
use benchwright_grade::Grader;
use benchwright_pack::{Ending, Task};
use benchwright_sandbox::{Conditions, Episode};
use benchwright_workshop::{Maker, Workshop, tasks::Judged};
use plain::Plain;
use script::Script;
use serde_json::{Value as Json, json};
use std::hint::black_box;

/// The least number of episodes a second on one core, and the least share of the baseline's.
const LEAST: (f64, f64) = (15_000.0, 0.40);
/// The most milliseconds of making a task in the median, and the most that the 99th percentile is above it.
const MOST: (f64, f64) = (100.0, 5.0);

/// What was measured.
pub(super) struct Figures {
    episodes_per_s: f64,
    plain_episodes_per_s: f64,
    /// The middle of the ratios of neighbouring rounds: a machine that is slower for a while is so for both.
    ratio: f64,
    grade_us: f64,
    calls: usize,
    tasks: usize,
    settings: usize,
    median_ms: f64,
    p99_ms: f64,
    worst_ms: f64,
}

impl Figures {
    /// What falls short.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        let all = [
            ("episodes", self.episodes_per_s < LEAST.0),
            ("ratio", self.ratio < LEAST.1),
            ("generation", self.median_ms > MOST.0),
            ("slowest tasks", self.p99_ms > MOST.1 * self.median_ms),
        ];
        all.into_iter().filter(|(_, missed)| *missed).map(|(what, _)| what).collect()
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let round = |n: f64, places: f64| (n * places).round() / places;
        json!({
            "episodes_per_s": self.episodes_per_s.round(),
            "plain_episodes_per_s": self.plain_episodes_per_s.round(),
            "ratio": round(self.ratio, 1e3),
            "calls": self.calls,
            "grade_us": round(self.grade_us, 100.0),
            "tasks": self.tasks,
            "generate": {
                "settings": self.settings,
                "median_ms": round(self.median_ms, 1e3),
                "p99_ms": round(self.p99_ms, 1e3),
                "worst_ms": round(self.worst_ms, 1e3),
                "p99_to_median": round(self.p99_ms / self.median_ms, 100.0),
            },
            "missed": self.missed(),
        })
    }

    /// The table.
    pub(super) fn to_table(&self) -> String {
        format!(
            "grid: reset, {} calls and grade on {} tasks\n  {:>9.0} episodes a second on one core (at least {:.0})\n  {:>9.0} on plain structs with the same answers; ratio {:.2} (at least {:.2})\n  {:>9.2} us of it is the grade\n  {:>9.2} ms CPU to make a task in the median of {} (at most {:.0}), 99th percentile {:.2}, worst {:.2}\n",
            self.calls,
            self.tasks,
            self.episodes_per_s,
            LEAST.0,
            self.plain_episodes_per_s,
            self.ratio,
            LEAST.1,
            self.grade_us,
            self.median_ms,
            self.settings,
            MOST.0,
            self.p99_ms,
            self.worst_ms,
        )
    }
}

/// Runs it.
pub(super) fn run(workshop: &Workshop, quick: bool) -> Result<Figures> {
    let (rounds, passes) = if quick { (3, 20) } else { (151, 20) };
    let scripts = script::scripts()?;
    let mut maker = Maker::new(workshop);
    let mut made: Vec<Task> = Vec::new();
    for script in &scripts {
        made.push(maker.make(&script.pattern, &script.tier, "fill", script.seed, None, false)?.0);
    }
    let judged: Vec<Judged<'_>> =
        made.iter().map(|task| Judged::open(workshop.catalog(), task)).collect::<Result<_, _>>()?;
    let graders: Vec<Grader<'_>> = judged.iter().map(|judged| Ok(judged.grader()?)).collect::<Result<_>>()?;
    let plains: Vec<Plain> =
        judged.iter().map(|judged| Plain::of(&judged.domain, &judged.first)).collect::<Result<_>>()?;
    let mut episodes: Vec<Episode> = Vec::new();
    for judged in &judged {
        // The budget of calls is counted, as it is for an agent.
        let open = &judged.task.open;
        episodes.push(judged.sandbox.begin(&judged.sandbox.seat_of(open), Conditions::of(open))?);
    }
    let calls = compare(&scripts, &mut episodes, &graders, &plains)?;

    let count = (passes * scripts.len()) as f64;
    let (mut ours, mut bare, mut grades) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let spent = nanoseconds(|| {
            for _ in 0..passes {
                for ((script, episode), grader) in scripts.iter().zip(&mut episodes).zip(&graders) {
                    our_episode(script, episode, grader)?;
                }
            }
            Ok(())
        })?;
        ours.push(count / (spent / 1e9));
        let spent = nanoseconds(|| {
            for _ in 0..passes {
                for (script, plain) in scripts.iter().zip(&plains) {
                    let mut played = plain.begin();
                    for (tool, arguments) in &script.calls {
                        black_box(plain.call(&mut played, tool, arguments)?);
                    }
                    black_box(plain.passes(&played));
                }
            }
            Ok(())
        })?;
        bare.push(count / (spent / 1e9));
        let spent = nanoseconds(|| {
            for _ in 0..passes {
                for (episode, grader) in episodes.iter().zip(&graders) {
                    black_box(grader.grade_live(&episode.live())?);
                }
            }
            Ok(())
        })?;
        grades.push(spent / count / 1e3);
    }
    let ratio = median(ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect());
    let times = generation(workshop, &mut maker, quick)?;
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize] / 1e6;
    Ok(Figures {
        episodes_per_s: median(ours),
        plain_episodes_per_s: median(bare),
        ratio,
        grade_us: median(grades),
        calls,
        tasks: scripts.len(),
        settings: times.len(),
        median_ms: at(0.5),
        p99_ms: at(0.99),
        worst_ms: at(1.0),
    })
}

/// Reset, calls, hash and grade; the trace is kept until the next reset.
fn our_episode(script: &Script, episode: &mut Episode, grader: &Grader<'_>) -> Result<()> {
    episode.reset();
    for (tool, arguments) in &script.calls {
        black_box(
            episode.call(tool, arguments).map_err(|refusal| Error::Wrong(format!("{tool} was refused: {refusal}")))?,
        );
    }
    black_box(episode.state_hash());
    black_box(grader.grade_live(&episode.live())?);
    Ok(())
}

/// Compares every answer, and both verdicts. Returns how many calls an episode has.
fn compare(scripts: &[Script], episodes: &mut [Episode], graders: &[Grader<'_>], plains: &[Plain]) -> Result<usize> {
    for (((script, episode), grader), plain) in scripts.iter().zip(episodes).zip(graders).zip(plains) {
        episode.reset();
        let mut played = plain.begin();
        for (tool, arguments) in &script.calls {
            let ours = episode
                .call(tool, arguments)
                .map_err(|refusal| Error::Wrong(format!("{tool} was refused: {refusal}")))?;
            let theirs = plain.call(&mut played, tool, arguments).or_wrong(|| format!("{tool} {arguments}"))?;
            if ours.as_bytes() != theirs {
                let theirs = String::from_utf8_lossy(&theirs);
                wrong!("{tool} {arguments} is answered\n  {ours}\nby the sandbox and\n  {theirs}\nby plain structs");
            }
        }
        let verdict = grader.grade_live(&episode.live())?;
        if verdict != grader.grade(&episode.snapshot())? {
            wrong!("a live state and its snapshot get different verdicts");
        }
        if (verdict.ending == Ending::Pass) != plain.passes(&played) || verdict.ending != Ending::Pass {
            wrong!("{}: the verdict is {:?}", script.pattern, verdict.ending);
        }
        if episode.trace().calls.len() != script.calls.len() {
            wrong!("the trace has lost calls");
        }
    }
    scripts.first().map(|script| script.calls.len()).or_wrong(|| "data/grid.json is empty")
}

/// CPU nanoseconds of making one task of every setting of every grid, in order of size.
fn generation(workshop: &Workshop, maker: &mut Maker<'_>, quick: bool) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for name in workshop.catalog().pattern_names()?.into_iter().filter(|name| name.starts_with("grid/")) {
        let pattern = workshop.catalog().pattern(&name)?;
        let step = if quick { 9 } else { 1 };
        for cell in pattern.head.cells.iter().step_by(step) {
            times.push(nanoseconds(|| {
                black_box(maker.make(&name, &cell.tier, "fill", 7, None, false)?.0.digest());
                Ok(())
            })?);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}
