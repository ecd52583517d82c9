//! The whole way of a task on one screen: from a pattern and a seed to a verdict.
//!
//!     cargo run --example first_task
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use anyhow::{Context as _, Result, anyhow};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{BoundKeys, Snapshot, share::of_one};
use benchwright_project::{Order, Solver, make};
use benchwright_sandbox::Conditions;
use benchwright_solve::{CpSat, Engine as _, Library, PhasePlanner};
use benchwright_world::{Seat, replay};

fn main() -> Result<()> {
    // A workflow is a folder of declarations; its family has a plan: views, rules and objectives.
    let catalog = Catalog::built_in();
    let pattern = catalog.pattern("production/lowest-cost-sourcing-route")?;
    let family = catalog.family(&pattern.family, &pattern.domain)?;
    let domain = catalog.find(&pattern.domain)?.domain;

    // Sample, solve, project: a case is drawn from the seed, every rule is read as part of a solver's model, and the
    // best plan is proved. From that one source come the instruction, the world, the oracle and the verifier.
    let library = Library::find()?;
    let engine = CpSat::load(&library)?;
    let solver = Solver { version: engine.version(), library: library.sha256()?.to_string() };
    let order = Order { pattern: &pattern, tier: "medium", objective: "min_new_spend", seed: 1, reading: None };
    let task = make(order, family, &domain, &mut PhasePlanner::new(&engine), &solver)?;
    println!("{}\n\n{}", task.open.id, task.instruction);
    println!("{} variables, {} rules", task.sealed.certificate.variables, task.sealed.verifier.plan.rules.len());

    // An agent begins here, with the instruction, the world and its tools. Ours carries out the certified plan.
    let world = catalog.world_of_snapshot(&task.world)?;
    let role = world.domain().roles.first().context("the domain has no role")?.name.clone();
    let seat = Seat { actor: world.person_for(&role), role };
    let mut episode = world.begin(&seat, Conditions::default())?;
    let keys = task.sealed.verifier.keys.values().flatten();
    let mut ledger = BoundKeys::new(keys.map(|(id, key)| (key.clone(), *id)));
    replay(&task.sealed.oracle, &mut ledger, &mut episode)?;

    // The same rules, read a second time: over the records that the episode left.
    let first = Snapshot::from_bytes(&task.world, &domain)?;
    let grader = Grader::new(&domain, &task.sealed.verifier, &first, family.natives())?;
    let verdict = grader.grade(&episode.snapshot())?;
    let calls = task.sealed.oracle.steps.len();
    println!("{calls} calls: {:?}, reward {}", verdict.ending, of_one(verdict.reward));
    let idle = grader.grade(&first)?;
    println!("no call at all: {:?}, reward {}", idle.ending, of_one(idle.reward));
    if verdict.reward != 1_000_000 || idle.reward != 0 {
        return Err(anyhow!("the oracle must earn everything and idling nothing; failed: {:?}", verdict.failed()));
    }
    Ok(())
}
