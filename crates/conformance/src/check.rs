//! Tasks on a real Odoo: the oracle at full reward, idle at nothing, near-misses refused by name, all by the sealed verifier.

use crate::error::{OrWrong as _, Result};
use benchwright_catalog::Catalog;
use benchwright_grade::{FULL, Grader};
use benchwright_odoo::{OdooWorld, Site, compare};
use benchwright_pack::{CheckStatus, Ending, Script, Snapshot, Store, Task, Verdict, share::of_one};
use benchwright_project::{Case, Mutation};
use benchwright_spec::NamedRows;
use benchwright_workshop::tasks::Judged;
use benchwright_world::{bound_keys, replay};
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// What is to be checked.
pub struct Wanted<'a> {
    /// The folder of tasks.
    pub dir: &'a Path,
    /// Only tasks of these patterns, if any are named.
    pub patterns: &'a [String],
    /// Only these tasks, if any are named.
    pub tasks: &'a [String],
    /// Every task, not one of each pattern.
    pub all: bool,
    /// How many near-misses of each task.
    pub near_misses: usize,
    /// Where a line for each task is kept; a task whose line is there is not run again.
    pub journal: PathBuf,
}

/// What came of it.
#[derive(Default)]
pub struct Summary {
    lines: Vec<Json>,
    /// The tasks that fall short, each with the reason.
    pub failed: Vec<(String, String)>,
}

impl Summary {
    fn add(&mut self, line: Json) {
        let faults: Vec<&str> = line["faults"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        if !faults.is_empty() {
            self.failed.push((line["task"].as_str().unwrap_or_default().to_owned(), faults.join("; ")));
        }
        self.lines.push(line);
    }

    fn sum(&self, key: &str) -> i64 {
        self.lines.iter().filter_map(|line| line[key].as_i64()).sum()
    }

    fn near_misses(&self) -> usize {
        self.lines.iter().filter_map(|line| line["near_misses"].as_array()).map(Vec::len).sum()
    }

    /// The document of what came of it.
    pub fn to_json(&self, site: &Site) -> Json {
        let failed: Vec<Json> = self.failed.iter().map(|(task, why)| json!({ "task": task, "why": why })).collect();
        json!({
            "tasks": self.lines.len(), "passed": self.lines.len() - self.failed.len(), "near_misses": self.near_misses(),
            "differences": self.sum("differences"), "seconds": self.sum("milliseconds") / 1_000,
            "version": site.version, "sha256": site.sha256, "failed": failed,
        })
    }

    /// The same for a reader.
    pub fn to_table(&self, site: &Site) -> String {
        let mut out = format!(
            "{} of {} tasks behave on Odoo {} as they should; {} near-misses; {} s\n",
            self.lines.len() - self.failed.len(),
            self.lines.len(),
            site.version,
            self.near_misses(),
            self.sum("milliseconds") / 1_000
        );
        for (task, why) in &self.failed {
            out.push_str(&format!("{task}: {why}\n"));
        }
        out
    }
}

/// Checks tasks; those with a line in the journal are not run again.
pub fn run(catalog: &Catalog, site: &Site, wanted: &Wanted<'_>) -> Result<Summary> {
    let store = Store::at(wanted.dir);
    let mut known: BTreeMap<String, Json> = BTreeMap::new();
    for line in fs::read_to_string(&wanted.journal).unwrap_or_default().lines() {
        // A line that was cut short is run again.
        if let Ok(line) = serde_json::from_str::<Json>(line) {
            known.insert(line["task"].as_str().unwrap_or_default().to_owned(), line);
        }
    }
    let mut journal = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&wanted.journal)
        .or_wrong(|| format!("{} cannot be written", wanted.journal.display()))?;
    let mut summary = Summary::default();
    let mut patterns: BTreeSet<String> = BTreeSet::new();
    for (turn, id) in store.ids()?.iter().enumerate() {
        if !wanted.tasks.is_empty() && !wanted.tasks.contains(id) {
            continue;
        }
        let task = store.task(id)?;
        let pattern = &task.sealed.pattern;
        if task.open.domain != "erp" || !(wanted.patterns.is_empty() || wanted.patterns.contains(pattern)) {
            continue;
        }
        if !patterns.insert(pattern.clone()) && !wanted.all && wanted.tasks.is_empty() {
            continue;
        }
        let line = match known.remove(id) {
            Some(line) => line,
            None => {
                let begun = Instant::now();
                let mut line = one(catalog, site, &task, wanted.near_misses, turn)
                    .unwrap_or_else(|error| json!({ "faults": [format!("{error}")] }));
                line["task"] = json!(id);
                line["pattern"] = json!(pattern);
                line["milliseconds"] = json!(begun.elapsed().as_millis() as u64);
                writeln!(journal, "{line}")?;
                line
            }
        };
        summary.add(line);
    }
    Ok(summary)
}

/// A near-miss that the embedded ERP refuses by its name.
struct NearMiss {
    rule: String,
    at: Vec<String>,
    script: Script,
}

fn one(catalog: &Catalog, site: &Site, task: &Task, near_misses: usize, turn: usize) -> Result<Json> {
    let judged = Judged::open(catalog, task)?;
    let grader = judged.grader()?;
    let mut faults: Vec<String> = Vec::new();

    let world = OdooWorld::plant(site, Arc::clone(&judged.domain), judged.first.clone())?;
    for difference in world.planted().differences.iter().take(5) {
        faults.push(format!("planted otherwise: {difference:?}"));
    }
    let records = world.planted().records;
    let world = Arc::new(world);

    let idle = grader.grade(&world.begin()?.read()?)?;
    if idle.reward != 0 || idle.ending == Ending::Pass {
        faults.push(format!("idle earns {}", idle.reward));
    }

    let here = judged.play(&task.sealed.oracle)?;
    let there = play(&world, task, &task.sealed.oracle)?;
    let oracle = grader.grade(&there)?;
    if oracle.ending != Ending::Pass || oracle.reward != FULL {
        faults.push(format!("the oracle earns {} and fails {}", oracle.reward, why(&oracle)));
    }
    if grader.rows(&here) != grader.rows(&there) {
        faults.push("the oracle's views are not the embedded ERP's".to_owned());
    }
    let differences = compare(&judged.domain, &judged.first, &here, &there, &|difference| {
        super::known(difference, super::Done::default()).is_some()
    });
    let shown: Vec<String> = differences.iter().take(12).map(|difference| format!("{difference:?}")).collect();

    let mut missed = Vec::new();
    for miss in choose(&judged, &grader, &here, near_misses, turn)? {
        let state = play(&world, task, &miss.script);
        let (named, failed) = match state {
            Ok(state) => {
                let verdict = grader.grade(&state)?;
                let named = verdict.ending == Ending::Fail && verdict.failed().contains(&&*miss.rule);
                (named, verdict.failed().iter().map(|rule| (*rule).to_owned()).collect::<Vec<String>>())
            }
            Err(error) => (false, vec![error.to_string()]),
        };
        if !named {
            faults.push(format!("the near-miss of {} at {:?} gives {failed:?}", miss.rule, miss.at));
        }
        missed.push(json!({ "rule": miss.rule, "at": miss.at, "named": named, "failed": failed }));
    }
    if missed.len() < near_misses.min(3) {
        faults.push(format!("only {} near-misses by calls", missed.len()));
    }
    Ok(json!({
        "records": records,
        "oracle": { "ending": format!("{:?}", oracle.ending), "reward": of_one(oracle.reward), "calls": task.sealed.oracle.steps.len() },
        "idle": { "reward": of_one(idle.reward) }, "near_misses": missed,
        "differences": differences.len(), "shown": shown, "faults": faults,
    }))
}

/// The state that a script leaves on Odoo.
fn play(world: &Arc<OdooWorld>, task: &Task, script: &Script) -> Result<Snapshot> {
    let mut episode = world.begin()?;
    let mut keys = bound_keys(&task.sealed.verifier.keys, &episode);
    replay(script, &mut keys, &mut episode)?;
    Ok(episode.read()?)
}

fn why(verdict: &Verdict) -> String {
    let failed = verdict.checks.iter().filter(|check| check.status == CheckStatus::Fail);
    let said: Vec<String> =
        failed.map(|check| format!("{} {:?} {}", check.rule, check.at, check.why.as_deref().unwrap_or(""))).collect();
    said.join(", ")
}

/// Near-misses of different rules, beginning at another one for each task.
fn choose(
    judged: &Judged<'_>,
    grader: &Grader<'_>,
    oracle: &Snapshot,
    count: usize,
    turn: usize,
) -> Result<Vec<NearMiss>> {
    let sealed = &judged.task.sealed;
    let case =
        Case { objective: sealed.objective.clone(), switches: sealed.switches.clone(), data: sealed.case.clone() };
    let plan: NamedRows = serde_json::from_value(sealed.certificate.plan.clone()).or_wrong(|| "the certified plan")?;
    let verdict = grader.grade(oracle)?;
    let mut rules: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for check in verdict.checks.iter().filter(|check| check.status != CheckStatus::Na) {
        if rules.contains(&*check.rule) {
            continue;
        }
        let Some(mutator) = judged.family.and_then(|family| family.mutator()) else { break };
        let made = mutator.mutate(&case, &plan, &check.rule, &check.at).or_wrong(|| &check.rule)?;
        let Some(Mutation::Script(script)) = made else { continue };
        // What the embedded ERP does not refuse by this name is no near-miss of it.
        let Ok(state) = judged.play(&script) else { continue };
        if grader.grade(&state)?.failed().contains(&&*check.rule) {
            rules.insert(&check.rule);
            found.push(NearMiss { rule: check.rule.clone(), at: check.at.clone(), script });
        }
    }
    let begin = if found.is_empty() { 0 } else { turn * count % found.len() };
    found.rotate_left(begin);
    found.truncate(count);
    Ok(found)
}
