//! Making and auditing tasks, by workers: processes of a program, or threads of this one. A solver is native code: if it
//! brings a process down, the task it was at fails by its name and the rest goes on; a thread takes all others with it.

pub(crate) mod maker;
pub(crate) mod pool;
mod protocol;
mod temporary;
mod watched;

pub use maker::Maker;
pub use protocol::{Answer, AttemptsRequest, AuditRequest, Failed, Made, MakeRequest, Request};
pub use temporary::Temporary;

use crate::{
    Cancel, Progress,
    progress::{Silent, Work},
};
use benchwright_catalog::Catalog;
use benchwright_pack::{Store, Suite, SuiteTask};
use pool::{Event, Remote};
use std::{
    ffi::OsString,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

/// Who does the work.
#[derive(Clone, Debug, Default)]
pub enum Workers {
    /// Threads of this process.
    #[default]
    Threads,
    /// Processes, each started with these words: a program and its arguments. It answers every [`Request`] on a line of its
    /// standard input with an [`Answer`] on a line of its standard output, as [`Maker::answer`] gives it.
    Processes {
        /// The program that is started for each worker.
        program: PathBuf,
        /// What it is started with.
        arguments: Vec<OsString>,
    },
}

/// Makes, audits and runs tasks. It knows where domains and patterns come from, who does the work, and who is told how far it
/// is.
#[derive(Clone)]
pub struct Workshop {
    catalog: Catalog,
    workers: Workers,
    jobs: Option<usize>,
    progress: Arc<dyn Progress>,
    cancel: Cancel,
}

impl Workshop {
    /// With the domains and patterns of a catalogue, in threads of this process, one for each core.
    pub fn new(catalog: Catalog) -> Workshop {
        Workshop { catalog, workers: Workers::Threads, jobs: None, progress: Arc::new(Silent), cancel: Cancel::new() }
    }

    /// Lets others do the work.
    #[must_use]
    pub fn with_workers(self, workers: Workers) -> Workshop {
        Workshop { workers, ..self }
    }

    /// So many workers at a time; without a number, one for each core.
    #[must_use]
    pub fn with_jobs(self, jobs: Option<usize>) -> Workshop {
        Workshop { jobs, ..self }
    }

    /// Tells how far the work is.
    #[must_use]
    pub fn with_progress(self, progress: impl Progress + 'static) -> Workshop {
        Workshop { progress: Arc::new(progress), ..self }
    }

    /// Tells nobody how far the work is.
    #[must_use]
    pub(crate) fn quiet(self) -> Workshop {
        Workshop { progress: Arc::new(Silent), ..self }
    }

    /// Stops between two items when the flag is set.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Workshop {
        Workshop { cancel, ..self }
    }

    /// Where domains and patterns come from.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Who does the work.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// How many workers there are at a time.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    pub(crate) fn progress(&self) -> &dyn Progress {
        &*self.progress
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Hands every request to a worker. The answers come in the order of the requests; one that was not begun before the work
    /// was cancelled has none. `seen` gets each answer as it comes.
    pub(crate) fn ask(
        &self,
        what: &str,
        requests: &[Request],
        kept: usize,
        seen: &mut dyn FnMut(usize, &Result<Answer, String>),
    ) -> Vec<Option<Result<Answer, String>>> {
        let mut work = Work::begin(self.progress(), what, kept, kept + requests.len());
        let told = &mut |event: Event<'_, Answer>| match event {
            Event::Begun(at) => work.begun(&requests[at].to_string()),
            Event::Answered(at, answer) => {
                seen(at, answer);
                work.done(&requests[at].to_string());
            }
        };
        match &self.workers {
            Workers::Threads => {
                let ask = |maker: &mut Maker<'_>, request: &Request| {
                    catch_unwind(AssertUnwindSafe(|| maker.answer(request))).map_err(|_| {
                        // What it was at may be half done.
                        maker.forget();
                        "the worker panicked".to_owned()
                    })
                };
                pool::run(requests, self.jobs(), &self.cancel, &|| Maker::new(self), &ask, told)
            }
            Workers::Processes { program, arguments } => {
                let start = || started_with(program, arguments);
                let ask = |remote: &mut Remote, request: &Request| remote.ask(&start, request);
                pool::run(requests, self.jobs(), &self.cancel, &Remote::default, &ask, told)
            }
        }
    }

    /// Makes tasks into a store, besides so many that are made already. A task that was not begun before the work was cancelled is
    /// `None`. `seen` gets each that was made, as it comes.
    pub(crate) fn make_all(
        &self,
        suite: &Suite,
        tasks: &[&SuiteTask],
        store: &Store,
        kept: usize,
        seen: &mut dyn FnMut(usize, &Made),
    ) -> Vec<Option<Result<Made, Shortfall>>> {
        let request = |task: &&SuiteTask| {
            Request::Make(MakeRequest {
                pattern: task.pattern.clone(),
                tier: task.tier.clone(),
                objective: task.objective.clone(),
                seed: suite.split.seed(task.seed),
                reading: task.reading.clone(),
                salt: suite.salt_of(task),
                inject: suite.inject,
                out: store.root().to_owned(),
            })
        };
        let requests: Vec<Request> = tasks.iter().map(request).collect();
        let answers = self.ask("making tasks", &requests, kept, &mut |at, answer| {
            if let Ok(Answer::Made(made)) = answer {
                seen(at, made);
            }
        });
        answers.into_iter().map(|answer| answer.map(made)).collect()
    }
}

/// A worker that is a process, as it is started.
fn started_with(program: &Path, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Why a task was not made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortfall {
    /// What happened, in a sentence.
    pub why: String,
    /// Whether something that is needed is missing.
    pub missing: bool,
    /// Whether it is the seed: nobody makes a task of it, now or ever.
    pub barren: bool,
}

fn made(answer: Result<Answer, String>) -> Result<Made, Shortfall> {
    match answer {
        Ok(Answer::Made(made)) => Ok(made),
        Ok(Answer::Failed(failed)) => {
            Err(Shortfall { why: failed.why, missing: failed.missing, barren: failed.barren })
        }
        Ok(Answer::Audited(_) | Answer::Attempts(_)) => {
            Err(Shortfall { why: "the worker answered something else".into(), missing: false, barren: false })
        }
        Err(why) => Err(Shortfall { why, missing: false, barren: false }),
    }
}

/// Ends this process once the one that started it is gone: nobody would read what a long search finds.
pub fn end_with_parent() {
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    std::process::exit(1);
}
