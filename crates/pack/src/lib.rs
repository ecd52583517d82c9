//! The documents that outlive an episode: refusals, traces, snapshots, folders of files and diffs. Each has one canonical
//! form, carries its version, and is read with limits on size and depth.

mod diff;
mod files;
mod judge;
mod refusal;
pub mod run;
pub mod script;
mod snapshot;
pub mod store;
pub mod suite;
mod task;
mod trace;
mod verdict;

pub use diff::{Change, Diff, FieldChange};
pub use files::{Files, FilesError, LARGEST_FILES};
pub use judge::NativeCheck;
pub use refusal::{Refusal, RefusalCode};
pub use run::{RunPlan, TaskLine, TrialKey, TrialRecord};
pub use script::{Ledger, Script, ScriptError, Step};
pub use snapshot::{LARGEST_SNAPSHOT, Snapshot, SnapshotError, SnapshotTable};
pub use store::{AuditFile, OPEN_TREE, OpenPart, SEALED_TREE, Store, StoreError};
pub use suite::{Suite, SuiteError, SuiteSolver, SuiteTask};
pub use task::{
    CANARY, Certificate, Clause, OpenTask, SEALED_VERSION, SealedTask, TASK_VERSION, Task, TaskFaults, Verifier,
};
pub use trace::{LARGEST_TRACE, Outcome, Trace, TraceCall, TraceError};
pub use verdict::{Check, CheckStatus, Ending, Instance, PhaseScore, Verdict};
