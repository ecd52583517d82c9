//! `bench dials`: what the dials of the grids do, shown with scripted agents of graded ability: steps against open slots, success
//! against decoys, success against failing calls. Nothing is timed; the same program gives the same figures.

mod plots;

pub(super) use plots::all as plots;

use crate::error::{OrWrong as _, Result};
use benchwright_pack::Ending;
use benchwright_project::{NotAnswered, ToolAccess, answered};
use benchwright_sandbox::{Conditions, Episode};
use benchwright_workshop::{Maker, Workshop, tasks::Judged};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Open slots.
const OPEN: [usize; 9] = [1, 3, 5, 7, 9, 12, 15, 18, 20];
/// Decoys.
const DECOYS: [usize; 6] = [0, 2, 5, 9, 14, 20];
/// Failing calls in percent, and the setting they are tried at.
const FAILING: [usize; 6] = [0, 1, 2, 5, 10, 20];
const FAILING_AT: &str = "h05-b00";
/// The agents whose ability rises.
const AGENTS: [&str; 4] = ["filter", "lookahead-1", "lookahead-2", "lookahead-3"];
/// The seed of the first task of a cell; suites have others.
const SEED: u64 = 1_000;

/// How an agent fared in a cell.
#[derive(Clone, Copy, Default)]
pub(super) struct Fared {
    pub(super) tasks: usize,
    pub(super) passed: usize,
    pub(super) steps: usize,
}

impl Fared {
    pub(super) fn rate(&self) -> f64 {
        self.passed as f64 / self.tasks.max(1) as f64
    }

    pub(super) fn mean_steps(&self) -> f64 {
        self.steps as f64 / self.tasks.max(1) as f64
    }

    /// The 95 % interval of the rate, by Wilson.
    pub(super) fn interval(&self) -> (f64, f64) {
        let (n, p, z) = (self.tasks.max(1) as f64, self.rate(), 1.959_964);
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}

/// Cells by agent: (open slots, decoys) or (failing percent, 0).
pub(super) type Cells = BTreeMap<(&'static str, usize, usize), Fared>;

/// What was seen.
pub(super) struct Figures {
    pub(super) cells: Cells,
    pub(super) failing: Cells,
    per_cell: usize,
}

/// Runs it.
pub(super) fn run(workshop: &Workshop, quick: bool) -> Result<Figures> {
    let per_cell = if quick { 6 } else { 200 };
    let domains: Vec<String> =
        workshop.catalog().pattern_names()?.into_iter().filter(|name| name.starts_with("grid/")).collect();
    let mut bench = Bench { workshop, maker: Maker::new(workshop), domains, per_cell };
    let (mut cells, mut failing) = (Cells::new(), Cells::new());
    for open in OPEN {
        for decoys in DECOYS {
            bench.cell(&format!("h{open:02}-b{decoys:02}"), &AGENTS, (open, decoys), &mut cells)?;
        }
    }
    for percent in FAILING {
        bench.cell(&format!("{FAILING_AT}-p{percent:02}"), &["hasty", "filter"], (percent, 0), &mut failing)?;
    }
    Ok(Figures { cells, failing, per_cell })
}

struct Bench<'s> {
    workshop: &'s Workshop,
    maker: Maker<'s>,
    domains: Vec<String>,
    per_cell: usize,
}

impl Bench<'_> {
    fn cell(&mut self, tier: &str, agents: &[&'static str], at: (usize, usize), into: &mut Cells) -> Result<()> {
        for nth in 0..self.per_cell {
            let pattern = self.domains[nth % self.domains.len()].clone();
            let seed = SEED + (nth / self.domains.len()) as u64;
            let (task, _) = self.maker.make(&pattern, tier, "fill", seed, None, false)?;
            let judged = Judged::open(self.workshop.catalog(), &task)?;
            let grader = judged.grader()?;
            let players = judged
                .family
                .and_then(|family| family.players())
                .or_wrong(|| format!("{pattern} has no scripted agents"))?;
            for agent in agents {
                let seat = judged.sandbox.seat_of(&task.open);
                let episode = judged.sandbox.begin(&seat, Conditions::of(&task.open))?;
                let mut hands = Hands { episode, calls: 0 };
                players.play(agent, &task.instruction, &mut hands).or_wrong(|| *agent)?;
                let verdict = grader.grade_live(&hands.episode.live())?;
                let fared = into.entry((*agent, at.0, at.1)).or_default();
                fared.tasks += 1;
                fared.steps += hands.calls;
                fared.passed += usize::from(verdict.ending == Ending::Pass);
            }
        }
        Ok(())
    }
}

/// An agent's hands: every tool, in its seat.
struct Hands {
    episode: Episode,
    calls: usize,
}

impl ToolAccess for Hands {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        self.calls += 1;
        answered(self.episode.call(tool, &arguments.to_string()))
    }
}

impl Figures {
    fn of(&self, agent: &'static str, open: usize, decoys: usize) -> Fared {
        self.cells.get(&(agent, open, decoys)).copied().unwrap_or_default()
    }

    /// The share of the variance of steps over open slots that a line explains, without decoys.
    fn line_fit(&self, agent: &'static str) -> f64 {
        let points: Vec<(f64, f64)> =
            OPEN.iter().map(|open| (*open as f64, self.of(agent, *open, 0).mean_steps())).collect();
        let n = points.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let cross: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let (xx, yy): (f64, f64) =
            (points.iter().map(|p| (p.0 - x).powi(2)).sum(), points.iter().map(|p| (p.1 - y).powi(2)).sum());
        cross * cross / (xx * yy)
    }

    /// What the dials promise and do not keep.
    pub(super) fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for agent in AGENTS {
            let fit = self.line_fit(agent);
            if fit < 0.98 {
                missed.push(format!("{agent}: R² of steps over open slots is {fit:.4}"));
            }
            for open in OPEN {
                let rate = self.of(agent, open, 0).rate();
                if rate < 0.99 {
                    missed.push(format!("{agent}: success at {open} open slots without decoys is {rate:.3}"));
                }
                for pair in DECOYS.windows(2) {
                    let (few, many) = (self.of(agent, open, pair[0]), self.of(agent, open, pair[1]));
                    if many.interval().0 > few.interval().1 {
                        missed.push(format!("{agent}: success at {open} rises from {} to {} decoys", pair[0], pair[1]));
                    }
                }
            }
        }
        for open in OPEN {
            let steps = DECOYS.map(|decoys| self.of("filter", open, decoys).mean_steps());
            let (least, most) =
                (steps.iter().copied().fold(f64::MAX, f64::min), steps.iter().copied().fold(0.0, f64::max));
            if most > least * 1.05 {
                missed.push(format!("the filter's steps at {open} open slots vary from {least:.1} to {most:.1}"));
            }
            for decoys in DECOYS {
                for pair in AGENTS.windows(2) {
                    let (less, more) = (self.of(pair[0], open, decoys), self.of(pair[1], open, decoys));
                    if more.interval().1 < less.interval().0 {
                        missed.push(format!("{} does worse than {} at h{open} b{decoys}", pair[1], pair[0]));
                    }
                }
            }
        }
        missed
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let list = |cells: &Cells, names: [&str; 2]| -> Vec<Json> {
            cells
                .iter()
                .map(|((agent, a, b), fared)| {
                    let (low, high) = fared.interval();
                    json!({ "agent": agent, names[0]: a, names[1]: b, "tasks": fared.tasks, "passed": fared.passed,
                        "success": fared.rate(), "low": low, "high": high, "steps": fared.mean_steps() })
                })
                .collect()
        };
        let fits: BTreeMap<&str, f64> = AGENTS.iter().map(|agent| (*agent, self.line_fit(agent))).collect();
        json!({ "per_cell": self.per_cell, "r2": fits, "cells": list(&self.cells, ["open", "decoys"]),
            "failing": list(&self.failing, ["percent", "-"]), "missed": self.missed() })
    }

    /// The table.
    pub(super) fn to_table(&self) -> String {
        let mut out = format!("dials: success in percent, {} tasks a cell\n", self.per_cell);
        for agent in AGENTS {
            out.push_str(&format!("{agent} (R² of steps {:.4})\n  open \\ decoys", self.line_fit(agent)));
            DECOYS.iter().for_each(|decoys| out.push_str(&format!("{decoys:>7}")));
            for open in OPEN {
                out.push_str(&format!("\n  {open:>13}"));
                for decoys in DECOYS {
                    out.push_str(&format!("{:>7.1}", 100.0 * self.of(agent, open, decoys).rate()));
                }
            }
            out.push('\n');
        }
        out.push_str("failing calls in percent, success of hasty and filter\n");
        for percent in FAILING {
            let rate = |agent| 100.0 * self.failing.get(&(agent, percent, 0)).map_or(0.0, Fared::rate);
            out.push_str(&format!("  {percent:>13}{:>7.1}{:>7.1}\n", rate("hasty"), rate("filter")));
        }
        for missed in self.missed() {
            out.push_str(&format!("missed: {missed}\n"));
        }
        out
    }
}
