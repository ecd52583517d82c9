//! The whole way in four calls: make tasks, build a suite, audit, run agents. Each is the short form of a module that has more choices.

use crate::{
    Error, Workshop,
    audits::{self, Audit, AuditOptions},
    run::{self, Ran, RunOptions},
    suites::{self, Built},
};
use benchwright_pack::{Split, Store, Suite};
use benchwright_run::Agent;
use std::{ops::Range, path::Path};

impl Workshop {
    /// Makes tasks of a pattern into a folder, one for each seed, with the usual objective of the tier, for tests. If that is
    /// cut off, the same call goes on.
    pub fn make(&self, pattern: &str, tier: &str, seeds: Range<u64>, folder: &Path) -> Result<Built, Error> {
        let mut suite = suites::of_pattern(self.catalog(), pattern, tier, None, Split::default(), seeds)?;
        suite.solver = Some(suites::solver_for(self.catalog(), &suite)?.solver);
        suites::make(self, &suite, &Store::at(folder), false)
    }

    /// Builds a suite into a folder; every task must have the digest of its line. If that is cut off, the same call goes on.
    pub fn build(&self, suite: &Suite, folder: &Path) -> Result<Built, Error> {
        let solver = suites::solver_of(self.catalog(), suite)?.solver;
        suites::make(self, &Suite { solver: Some(solver), ..suite.clone() }, &Store::at(folder), true)
    }

    /// Tries to break the tasks of a folder. What is found is stored beside each task. If that is cut off, the same call goes on.
    pub fn audit(&self, folder: &Path, options: &AuditOptions) -> Result<Audit, Error> {
        audits::folder(self, &Store::at(folder), options)
    }

    /// Puts agents on the tasks of a folder and keeps what came of it under `runs`. The same agents on the same tasks are the same
    /// run: if it was cut off, it goes on; what is recorded is not tried again.
    pub fn run(
        &self,
        tasks: &Path,
        agents: &[Box<dyn Agent + Send>],
        runs: &Path,
        options: &RunOptions,
    ) -> Result<Ran, Error> {
        run::run(self, tasks, agents, runs, options)
    }
}
