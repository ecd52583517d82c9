//! A program outside the repository, on the library alone: makes ten tasks, audits them, runs two agents on them, prints the rewards.
//!
//!     cargo run --manifest-path examples/outside/Cargo.toml

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "libraries of the house print nothing, a program does")]

use benchwright_workshop::{AuditOptions, Catalog, RunOptions, Step, Temporary, Workshop, policy};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Temporary::new()?;
    let (tasks, runs) = (folder.path().join("tasks"), folder.path().join("runs"));
    let workshop = Workshop::new(Catalog::built_in())
        .with_progress(|step: &Step<'_>| eprintln!("{}: {} of {}", step.what, step.done, step.total));

    // Trips with three open slots and two decoys. Grids are proved where they are drawn, so no solver is needed.
    let built = workshop.make("grid/travel", "h03-b02", 1..11, &tasks)?;
    println!("{} tasks made, {} fell short", built.made.len(), built.short.len());

    let audit = workshop.audit(&tasks, &AuditOptions::without_solver())?;
    println!("{} tasks audited, clean: {}", audit.report.tasks, audit.is_clean());

    let agents: Vec<_> = ["idle", "oracle"].into_iter().filter_map(policy).collect();
    let ran = workshop.run(&tasks, &agents, &runs, &RunOptions::default())?;
    for reward in ran.rewards() {
        println!("{:8} {:40} {:?}", reward.agent, reward.task, reward.reward);
    }
    if !audit.is_clean()
        || ran.rewards().any(|reward| reward.reward != Ok(f64::from(u8::from(reward.agent == "oracle"))))
    {
        return Err("the tasks must be clean, the oracle must earn everything and idling nothing".into());
    }
    Ok(())
}
