//! What can go wrong in the workshop, by what a caller can do about it.

use crate::tasks::TaskError;
use benchwright_catalog::CatalogError;
use benchwright_pack::{LARGEST_SNAPSHOT, Refused, StoreError, SuiteSolver};
use benchwright_project::MakeError;
use benchwright_report::{CompareError, SummaryError};
use benchwright_run::{Flaw, HostError, LedgerError};
use benchwright_solve::EngineError;
use benchwright_world::{WorkspaceError, WorldError};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The most faults of a commitment that are told at once.
const MOST_TOLD: usize = 20;

/// Why work was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A domain, a pattern or a family cannot be had.
    #[error("{error}")]
    Catalog {
        /// What was asked for.
        asked: String,
        /// What stands in the way.
        error: CatalogError,
    },
    /// A store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run's records are not those of its plan.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// The agents of a run cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The system has no randomness to give.
    #[error("no salt could be drawn: {0}")]
    Randomness(String),
    /// The solver is not there or fails.
    #[error(transparent)]
    Solver(#[from] EngineError),
    /// The solver's library cannot be read.
    #[error("the solver's library cannot be read: {0}")]
    Library(io::Error),
    /// What was kept of a solver's answers cannot be read.
    #[error("{}: {why}", .path.display())]
    Answers {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A suite was locked with another solver than the one that is here.
    #[error(
        "the suite was locked with the solver library {} ({}); here is {} ({})",
        .locked.library, .locked.version, .here.library, .here.version
    )]
    OtherSolver {
        /// The one of the lock file.
        locked: SuiteSolver,
        /// The one that is here.
        here: SuiteSolver,
    },
    /// A task could not be made.
    #[error(transparent)]
    Make(#[from] MakeError),
    /// A share of tasks is no share.
    #[error("{0} is no share of tasks; it runs from 0 to 1")]
    Rate(f64),
    /// No hostile text could be planted into a task.
    #[error(transparent)]
    Inject(#[from] benchwright_inject::NotInjected),
    /// A task cannot be played.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A task could not be prepared for its trials.
    #[error(transparent)]
    Subject(#[from] benchwright_audit::SubjectError),
    /// A judge could not be made, or could not judge.
    #[error(transparent)]
    Grade(#[from] benchwright_grade::JudgeError),
    /// A trial has no such name.
    #[error("there is no trial `{0}`")]
    NoTrial(String),
    /// A folder that is to be written holds something else.
    #[error("{} is there already and holds something", .0.display())]
    Occupied(PathBuf),
    /// A folder that is to be written is a file.
    #[error("{} is a file", .0.display())]
    IsFile(PathBuf),
    /// A folder holds the shards of another stream.
    #[error("{} holds another stream", .0.display())]
    OtherStream(PathBuf),
    /// A file is not what this program writes.
    #[error("{}: {why}", .path.display())]
    Malformed {
        /// The file that cannot be read as what it should be.
        path: PathBuf,
        /// What is wrong with it, in a sentence.
        why: String,
    },
    /// A part of a stream is not what was written.
    #[error("{}: {why}", .path.display())]
    Damaged {
        /// The shard, or the list of its digests.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Shards cannot be written.
    #[error(transparent)]
    Export(#[from] benchwright_export::ExportError),
    /// A file or folder cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder that could not be used.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A size or a seed was given for a snapshot.
    #[error("a snapshot is a world as it stands; --size and --seed are for domains")]
    FilledAlready,
    /// A snapshot cannot be read from its file.
    #[error("{file}: {error}")]
    NoSnapshot {
        /// The snapshot file, as it was named.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// A snapshot is too large.
    #[error("{file} has {bytes} bytes; at most {LARGEST_SNAPSHOT} are read")]
    LargeSnapshot {
        /// The snapshot file, as it was named.
        file: String,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A snapshot is of a domain that is not there.
    #[error("{file} is of the domain {domain}, which is not there")]
    ForeignSnapshot {
        /// The snapshot file, as it was named.
        file: String,
        /// The domain that it says it is of.
        domain: String,
    },
    /// A domain has no roles, so nobody can look at its world.
    #[error("{0} has no roles")]
    NoRoles(String),
    /// An episode cannot be begun.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A task cannot be given out, or its verdict cannot be reached.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Tools are named as nobody names them.
    #[error("`{0}` names no tools: all, oracle, oracle+N such as oracle+5, or a list of names")]
    NoSuchTools(String),
    /// A task has no such tool.
    #[error("{id}: {refusal}")]
    NoTool {
        /// The task.
        id: String,
        /// What is wrong with the name.
        refusal: String,
    },
    /// A tool has a name that a wire keeps for itself.
    #[error("{id}: the tool `{tool}` has the name of a path of the wire itself")]
    ReservedTool {
        /// The task.
        id: String,
        /// The tool.
        tool: String,
    },
    /// Which tools the work needs cannot be found out.
    #[error("{0}")]
    Offer(String),
    /// Something needs the sealed part of a task, which is shut.
    #[error("{id}: the sealed part was not opened, so there is no verdict and nobody knows which tools are needed")]
    Shut {
        /// The task.
        id: String,
    },
    /// The ledger of runs fails.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// What is recorded of a run is not as it was written.
    #[error("the records of {run} in {} do not hold together: {}", .path.display(), told(.flaws))]
    Flawed {
        /// The run.
        run: String,
        /// The ledger, or the folder of the run.
        path: PathBuf,
        /// All that is wrong, at least one thing.
        flaws: Vec<Flaw>,
    },
    /// The folder of runs cannot be used.
    #[error("{}: {why}", .path.display())]
    Runs {
        /// The folder of runs.
        path: PathBuf,
        /// What the ledger or the system said.
        why: String,
    },
    /// The server inside cannot be started.
    #[error("episodes cannot be served: {0}")]
    Serve(String),
    /// What was found of a task before cannot be read.
    #[error("{id}: the audit that was stored cannot be read: {why}")]
    StoredAudit {
        /// The id of the task.
        id: String,
        /// What is wrong with what is stored beside it.
        why: String,
    },
    /// What was done on a task cannot be told as it was recorded, or does not come to what it should.
    #[error("{id}: {why}")]
    Row {
        /// The id of the task.
        id: String,
        /// What is wrong.
        why: String,
    },
    /// Rows for training are asked for of a task that is there to measure with.
    #[error("{0} is of the test split: it is there to measure with, and says itself that nobody may train on it")]
    TestSplit(String),
    /// There is no such run.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// The tasks of a run are not where they were.
    #[error("the tasks of the run {0} are not where they were")]
    TasksOfRun(String),
    /// A log is of one agent, and a run has several.
    #[error("the run has {agents}, and a log is of one agent")]
    WhichAgent {
        /// The agents that it has.
        agents: String,
    },
    /// A run of no attempts.
    #[error("no agent would try a task 0 times")]
    NoAttempts,
    /// A folder has no such task.
    #[error("there is no task {0}")]
    NoTask(String),
    /// A domain that tasks are wanted of gives none.
    #[error("{given}: {why}")]
    Unfit {
        /// As it was named.
        given: String,
        /// What it lacks.
        why: String,
    },
    /// A pattern's family knows nothing to do with files.
    #[error("tasks of {0} are not made of files")]
    NoOwnFiles(String),
    /// Somebody's own files are not what a workflow needs.
    #[error("{} cannot be read as the files of a task:\n{}", .folder.display(), .faults.join("\n"))]
    OwnFiles {
        /// Where they are.
        folder: PathBuf,
        /// Everything that is wrong, each with its file, row and column.
        faults: Vec<String>,
    },
    /// A task is worked on with tools alone.
    #[error("the task {0} has no files: it is worked on by calls of its tools")]
    NoFiles(String),
    /// The files of a task cannot be laid out.
    #[error("the task {id}: {error}")]
    Files {
        /// The task.
        id: String,
        /// What stands in the way.
        error: WorkspaceError,
    },
    /// There is no folder with what is to be handed in.
    #[error("{}: {error}", .folder.display())]
    NoSubmission {
        /// Where it was looked for.
        folder: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A folder has no tasks.
    #[error("{} has no tasks", .0.display())]
    NoTasksIn(PathBuf),
    /// A pattern has no such tier.
    #[error("{pattern} has no tier `{tier}`; it has {known}")]
    NoTier {
        /// The pattern.
        pattern: String,
        /// The tier that was asked for.
        tier: String,
        /// Those that there are.
        known: String,
    },
    /// A family has no such clause with two readings.
    #[error("the family {family} has no clause `{clause}` that can be read in two ways; it has {known}")]
    NoClause {
        /// The family.
        family: String,
        /// The clause that was asked for.
        clause: String,
        /// Those that it has.
        known: String,
    },
    /// A pattern has no such objective at a tier.
    #[error("{pattern} has no objective `{objective}` at tier {tier}; it has {known}")]
    NoObjective {
        /// The pattern.
        pattern: String,
        /// The tier.
        tier: String,
        /// The objective that was asked for.
        objective: String,
        /// Those that there are.
        known: String,
    },
    /// So many tasks cannot be made at a time, or with such seeds.
    #[error(
        "{count} tasks from seed {seed}: between 1 and {} can be made at a time, with seeds up to {}",
        crate::suites::MOST_TASKS,
        crate::suites::LARGEST_SEED
    )]
    Count {
        /// How many.
        count: u64,
        /// The first seed.
        seed: u64,
    },
    /// Seeds of a committed suite were to be chosen.
    #[error("the seeds of committed suites come from a key and are never chosen")]
    Uncommitted,
    /// What was committed to, or what was made public of it, is not as it must be.
    #[error("{}", all_told(.0))]
    Refused(Vec<Refused>),
    /// Tokens cannot be counted.
    #[error("the vocabulary cannot be read: {0}")]
    Vocabulary(String),
    /// The library was built without the tasks of the demo.
    #[error("this program was built without suites/demo, so it has no tasks to show")]
    NoDemo,
    /// A suite or stream has no tasks.
    #[error("there are no tasks in it")]
    NoTasks,
    /// The work was cancelled. What was finished is kept.
    #[error("cancelled; what was finished is kept")]
    Cancelled,
    /// An audit that others do must say how deep it goes.
    #[error("an audit that is shared is of all tasks, and says how deep it goes")]
    NoDepth,
    /// Something that the work needs is not here.
    #[error("{0}")]
    Lacking(String),
    /// What is kept elsewhere, or in a folder of shards, cannot be read or written.
    #[error(transparent)]
    Depot(#[from] benchwright_depot::DepotError),
    /// A plan was made with other patterns, domains or another version of this program: what is made of it here would be something else.
    #[error(
        "{run} was planned with other patterns or domains, or by another version of this program than {}",
        env!("CARGO_PKG_VERSION")
    )]
    OtherGround {
        /// The run.
        run: String,
    },
    /// The agents of a plan cannot be had here.
    #[error("{why}")]
    Agents {
        /// The run.
        run: String,
        /// Which, and why.
        why: String,
    },
    /// Some of what is to be done lacks a task.
    #[error("{why}")]
    OtherTasks {
        /// The run.
        run: String,
        /// Which, and what is wrong with it.
        why: String,
    },
    /// A worker answered what was not asked.
    #[error("the worker answered something else")]
    Worker,
    /// A worker that is a thread came to an end at a task.
    #[error("the worker panicked")]
    Panicked,
    /// Some tasks of shards were asked for, which are audited whole.
    #[error("{} holds shards, which are audited whole", .0.display())]
    WholeShards(PathBuf),
}

/// The first flaws, and how many more there are.
fn told(flaws: &[Flaw]) -> String {
    let first: Vec<String> = flaws.iter().take(3).map(ToString::to_string).collect();
    let more = flaws.len().saturating_sub(3);
    first.join("; ") + &if more > 0 { format!("; and {more} more") } else { String::new() }
}

/// All that is wrong, a line each, or the first of very many.
fn all_told(refused: &[Refused]) -> String {
    let mut lines: Vec<String> = refused.iter().take(MOST_TOLD).map(ToString::to_string).collect();
    if refused.len() > MOST_TOLD {
        lines.push(format!("and {} more", refused.len() - MOST_TOLD));
    }
    lines.join("\n")
}

impl Error {
    /// Says what was asked for.
    pub(crate) fn catalog(asked: &str) -> impl FnOnce(CatalogError) -> Error {
        move |error| Error::Catalog { asked: asked.to_owned(), error }
    }

    /// Says which file or folder it is.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::Io { path: path.to_owned(), error }
    }

    /// Whether something is missing that the work needs, such as the solver.
    pub fn is_missing(&self) -> bool {
        let solver =
            matches!(self, Error::Solver(EngineError::NotThere(_)) | Error::Library(_) | Error::OtherSolver { .. });
        solver || matches!(self, Error::Lacking(_))
    }

    /// Whether it is the seed: nobody makes a task of it, now or ever.
    pub fn is_barren(&self) -> bool {
        matches!(self, Error::Make(MakeError::Exhausted { .. } | MakeError::NoTwin { .. }))
    }
}

impl From<benchwright_grade::GradeError> for Error {
    fn from(error: benchwright_grade::GradeError) -> Error {
        Error::Grade(error.into())
    }
}
