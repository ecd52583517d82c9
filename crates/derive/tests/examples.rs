//! The three laws of scenarios, on the examples: what the derived calls leave passes, doing nothing earns nothing, and a cell outside of
//! the expectation breaks the frame. Every blocked variant is declined for its reason and for no other.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use benchwright_base::{FieldId, Value};
use benchwright_catalog::Catalog;
use benchwright_derive::{Derived, NoBase, SIZE, derive, derive_blocked};
use benchwright_grade::EffectsGrader;
use benchwright_pack::{Ending, Verdict};
use benchwright_project::Discard;
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_spec::scenario::{self, Scenario};
use benchwright_world::seen;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

const EXAMPLES: [&str; 3] = ["csm/article-and-engineer", "itsm/schedule-the-change", "hybrid/our-outage-their-case"];
/// Seeds of each example.
const SEEDS: u64 = 4;
/// Draws of each seed.
const ATTEMPTS: u32 = 150;

struct Example {
    name: String,
    scenario: Scenario,
    found: benchwright_catalog::Found,
    bases: Mutex<BTreeMap<u64, Arc<Sandbox>>>,
}

impl Example {
    fn open(name: &str) -> Example {
        let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../patterns").join(name);
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let files: BTreeMap<String, String> =
            ["scenario.toml", "words.toml"].iter().map(|file| ((*file).to_owned(), read(file))).collect();
        let found = Catalog::built_in().find(&scenario::domain_name(&files).unwrap()).unwrap();
        let scenario = scenario::read(&files, &found.domain).unwrap_or_else(|faults| {
            let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{name}: {}", told.join("\n"))
        });
        Example { name: name.to_owned(), scenario, found, bases: Mutex::default() }
    }

    fn base(&self, seed: u64) -> Result<Arc<Sandbox>, NoBase> {
        let mut bases = self.bases.lock().unwrap();
        if let Some(known) = bases.get(&seed) {
            return Ok(Arc::clone(known));
        }
        let made = Sandbox::seeded(Arc::clone(&self.found.domain), self.found.natives, SIZE, seed);
        let made = Arc::new(made.map_err(|error| NoBase(error.to_string()))?);
        bases.insert(seed, Arc::clone(&made));
        Ok(made)
    }

    /// The first draw of a seed that makes a task, of a variant or of none.
    fn draw(&self, variant: Option<&str>, seed: u64) -> Derived {
        let mut causes: BTreeMap<String, usize> = BTreeMap::new();
        for attempt in 0..ATTEMPTS {
            let base = |seed: u64| self.base(seed);
            let made = match variant {
                None => derive(&self.name, &self.scenario, "medium", seed, attempt, &base),
                Some(variant) => derive_blocked(&self.name, &self.scenario, variant, "medium", seed, attempt, &base),
            };
            match made {
                Ok(derived) => return derived,
                Err(Discard::Because(cause)) => *causes.entry(cause).or_default() += 1,
                Err(other) => panic!("{} seed {seed}: {other}", self.name),
            }
        }
        panic!("{} {variant:?} seed {seed}: every draw was thrown away: {causes:?}", self.name)
    }
}

fn begin(derived: &Derived) -> Episode {
    derived.world.begin(&derived.seat, Conditions::default()).unwrap()
}

fn judged(derived: &Derived, episode: &Episode) -> Verdict {
    let grader = EffectsGrader::new(Arc::clone(&derived.world), &derived.effects, &derived.seat).unwrap();
    let live = grader.grade_live(episode).unwrap();
    assert_eq!(live, grader.grade(&episode.snapshot()).unwrap(), "a snapshot is judged like the state it is of");
    live
}

fn played(derived: &Derived) -> Episode {
    let mut episode = begin(derived);
    seen::play(&derived.oracle, &mut episode).unwrap();
    episode
}

#[test]
fn what_the_derived_calls_leave_passes_and_nothing_else_does() {
    for name in EXAMPLES {
        let example = Example::open(name);
        for seed in 1..=SEEDS {
            let derived = example.draw(None, seed);
            let episode = played(&derived);
            let verdict = judged(&derived, &episode);
            assert_eq!(
                (verdict.ending, verdict.reward),
                (Ending::Pass, 1_000_000),
                "{name} {seed}: {:?}",
                verdict.failed()
            );
            let idle = judged(&derived, &begin(&derived));
            assert_eq!((idle.ending, idle.reward), (Ending::Fail, 0), "{name} {seed}");
        }
    }
}

#[test]
fn every_expected_row_that_is_left_out_is_named() {
    for name in EXAMPLES {
        let example = Example::open(name);
        let derived = example.draw(None, 1);
        let writes = |at: &usize| {
            let tool = derived.world.domain().tool_named(&derived.oracle.steps[*at].tool()).unwrap();
            !derived.world.domain().tools[tool].reads_only()
        };
        for left_out in (0..derived.oracle.steps.len()).filter(writes) {
            let mut script = derived.oracle.clone();
            script.steps.remove(left_out);
            let mut episode = begin(&derived);
            // A later call may miss what was left out; what was done until then is judged all the same.
            let _ = seen::play(&script, &mut episode);
            let verdict = judged(&derived, &episode);
            assert_eq!(verdict.ending, Ending::Fail, "{name} without step {left_out}");
            assert!(verdict.reward <= 250_000, "{name} without step {left_out} earns {}", verdict.reward);
        }
    }
}

#[test]
fn a_cell_outside_of_the_expectation_breaks_the_frame() {
    let example = Example::open(EXAMPLES[0]);
    let derived = example.draw(None, 2);
    let domain = derived.world.domain();
    let episode = played(&derived);
    let expected: Vec<(String, u32)> = derived
        .effects
        .expected
        .iter()
        .filter_map(|row| match row.row {
            benchwright_pack::effects::Target::Id(id) => Some((row.table.clone(), id)),
            _ => None,
        })
        .collect();
    let mut tried = 0;
    for (at, table) in domain.tables.iter().enumerate() {
        if table.log || table.once {
            continue;
        }
        let id = benchwright_base::RelationId(at as u16);
        let Some(row) =
            episode.rows(id).map(|row| row.id()).find(|row| !expected.contains(&(table.name.clone(), *row)))
        else {
            continue;
        };
        let field = table
            .fields
            .iter()
            .position(|field| field.stamp.is_none() && !field.log && field.ty == benchwright_expr::Type::Bool);
        let Some(field) = field.map(|field| FieldId(field as u16)) else { continue };
        let mut snapshot = episode.snapshot();
        let cells = snapshot.tables[at].rows.iter_mut().find(|cells| cells[0] == Value::Ref(row)).unwrap();
        let flipped = cells[field.index()] != Value::Bool(true);
        cells[field.index()] = Value::Bool(flipped);
        let grader = EffectsGrader::new(Arc::clone(&derived.world), &derived.effects, &derived.seat).unwrap();
        let verdict = grader.grade(&snapshot).unwrap();
        assert!(verdict.failed().contains(&"frame"), "{}.{}", table.name, table.field(field).name);
        assert_eq!(verdict.reward, 0);
        tried += 1;
    }
    assert!(tried >= 8, "only {tried} tables were tried");
}

#[test]
fn every_blocked_variant_is_declined_for_its_reason_and_no_other() {
    for name in EXAMPLES {
        let example = Example::open(name);
        for variant in &example.scenario.blocked {
            for seed in 1..=2 {
                let derived = example.draw(Some(&variant.name), seed);
                let verdict = judged(&derived, &played(&derived));
                assert_eq!(verdict.ending, Ending::Pass, "{name} {}: {:?}", variant.name, verdict.failed());
                let refusal = derived.effects.refusal.as_ref().unwrap();
                assert_eq!(refusal.obstacle, variant.obstacle.word());
                for other in scenario::Obstacle::ALL.into_iter().filter(|other| *other != variant.obstacle) {
                    let mut script = derived.oracle.clone();
                    script.steps[0].args["kind"] = other.word().into();
                    let mut episode = begin(&derived);
                    seen::play(&script, &mut episode).unwrap();
                    assert_eq!(
                        judged(&derived, &episode).reward,
                        0,
                        "{name} {}: declined as {}",
                        variant.name,
                        other.word()
                    );
                }
                assert_eq!(judged(&derived, &begin(&derived)).reward, 0, "{name} {}: nothing said", variant.name);
                // Whoever names everything gives no reason.
                let tables: Vec<&str> =
                    derived.world.domain().tables.iter().map(|table| table.own_name()).take(12).collect();
                let known: Vec<&str> = refusal.records.iter().map(|record| &**record).collect();
                let mut script = derived.oracle.clone();
                let all: String = [tables, known].concat().join(", ").chars().rev().take(200).collect();
                script.steps[0].args = serde_json::json!({
                    "kind": refusal.obstacle,
                    "record": all.chars().rev().collect::<String>(),
                });
                let mut episode = begin(&derived);
                seen::play(&script, &mut episode).unwrap();
                assert_eq!(judged(&derived, &episode).reward, 0, "{name} {}: everything named", variant.name);
            }
        }
    }
}

#[test]
fn carrying_out_the_twin_in_a_blocked_world_passes_nowhere() {
    for name in EXAMPLES {
        let example = Example::open(name);
        for variant in &example.scenario.blocked {
            let blocked = example.draw(Some(&variant.name), 1);
            let twin = example.draw(None, 1);
            let mut episode = begin(&blocked);
            let _ = seen::play(&twin.oracle, &mut episode);
            let verdict = judged(&blocked, &episode);
            assert_ne!(verdict.ending, Ending::Pass, "{name} {}", variant.name);
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_task() {
    let (one, other) = (Example::open(EXAMPLES[2]), Example::open(EXAMPLES[2]));
    let (a, b) = (one.draw(None, 3), other.draw(None, 3));
    assert_eq!(a.instruction, b.instruction);
    assert_eq!(serde_json::to_string(&a.oracle).unwrap(), serde_json::to_string(&b.oracle).unwrap());
    assert_eq!(a.effects, b.effects);
    assert_eq!(a.world.origin(), b.world.origin());
}

/// Every scenario of a group makes a task that passes, and each of its blocked variants is one in some draw of a few.
fn every_scenario_of(groups: &[&str]) {
    let names = Catalog::built_in().scenario_names().unwrap();
    let is_of = |name: &&String| groups.iter().any(|group| name.starts_with(&format!("{group}/")));
    let names: Vec<&String> = names.iter().filter(is_of).collect();
    assert!(names.len() >= 18 * groups.len(), "{groups:?} has {} scenarios", names.len());
    let mut found = Vec::new();
    for name in names {
        let example = Example::open(name);
        let derived = example.draw(None, 1);
        let verdict = judged(&derived, &played(&derived));
        if (verdict.ending, verdict.reward) != (Ending::Pass, 1_000_000) {
            found.push(format!("{name}: {:?}", verdict.failed()));
        }
        for variant in &example.scenario.blocked {
            let derived = example.draw(Some(&variant.name), 1);
            let verdict = judged(&derived, &played(&derived));
            if verdict.ending != Ending::Pass {
                found.push(format!("{name} {}: {:?}", variant.name, verdict.failed()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_scenario_of_service_desks_makes_a_task_and_each_of_its_variants() {
    every_scenario_of(&["csm", "itsm"]);
}

#[test]
fn every_scenario_of_people_makes_a_task_and_each_of_its_variants() {
    every_scenario_of(&["hr"]);
}

#[test]
fn every_scenario_of_offices_makes_a_task_and_each_of_its_variants() {
    every_scenario_of(&["teams", "calendar", "email", "drive"]);
}

#[test]
fn every_joined_scenario_makes_a_task_and_each_of_its_variants() {
    every_scenario_of(&["hybrid"]);
}
