//! Making and auditing tasks in worker processes. A solver is native code: if it brings a process down, the task it was at
//! fails by its name and the rest goes on.

pub(crate) mod maker;
pub(crate) mod pool;
pub(crate) mod protocol;
pub(crate) mod temporary;

pub(crate) use maker::Maker;
pub(crate) use protocol::{Answer, AuditRequest, Made, MakeRequest, Request};
pub(crate) use temporary::Temporary;

use crate::progress::Progress;
use benchwright_catalog::Catalog;
use benchwright_pack::{Store, SuiteTask};
use std::{io, path::PathBuf, process::Command};

/// Where domains and patterns come from, in this process and in those it starts.
pub(crate) struct Setting {
    /// The catalogue.
    pub(crate) catalog: Catalog,
    /// The folder of domains, if one was given.
    pub(crate) domains: Option<PathBuf>,
}

impl Setting {
    /// With the domains of a folder, or those of the program.
    pub(crate) fn new(domains: Option<PathBuf>) -> Setting {
        let catalog = match &domains {
            Some(folder) => Catalog::from_folder(folder),
            None => Catalog::built_in(),
        };
        Setting { catalog, domains }
    }

    /// This program again, with the same domains.
    pub(crate) fn program(&self) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        if let Some(folder) = &self.domains {
            command.arg("--domains").arg(folder);
        }
        Ok(command)
    }

    /// The command of a worker.
    pub(crate) fn worker(&self) -> io::Result<Command> {
        let mut command = self.program()?;
        command.arg("worker");
        Ok(command)
    }

    /// Sends every request to one of so many workers. The answers come in the order of the requests.
    pub(crate) fn send(&self, what: &str, requests: &[Request], jobs: Option<usize>) -> Vec<Result<Answer, String>> {
        let progress = Progress::of(what, requests.len());
        pool::run(&|| self.worker(), requests, jobs.unwrap_or_else(usual_jobs), &mut || progress.advance())
    }

    /// Makes tasks into a store.
    pub(crate) fn make_all(
        &self,
        tasks: &[SuiteTask],
        store: &Store,
        jobs: Option<usize>,
    ) -> Vec<Result<Made, Shortfall>> {
        let request = |task: &SuiteTask| {
            Request::Make(MakeRequest {
                pattern: task.pattern.clone(),
                tier: task.tier.clone(),
                objective: task.objective.clone(),
                seed: task.seed,
                out: store.root().to_owned(),
            })
        };
        let requests: Vec<Request> = tasks.iter().map(request).collect();
        let answers = self.send("making tasks", &requests, jobs);
        answers.into_iter().map(made).collect()
    }
}

/// Why a request came to nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shortfall {
    /// What happened.
    pub(crate) why: String,
    /// Whether something that is needed is missing.
    pub(crate) missing: bool,
}

fn made(answer: Result<Answer, String>) -> Result<Made, Shortfall> {
    match answer {
        Ok(Answer::Made(made)) => Ok(made),
        Ok(Answer::Failed(failed)) => Err(Shortfall { why: failed.why, missing: failed.missing }),
        Ok(Answer::Audited(_)) => Err(Shortfall { why: "the worker answered something else".into(), missing: false }),
        Err(why) => Err(Shortfall { why, missing: false }),
    }
}

/// A worker for every core.
fn usual_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
