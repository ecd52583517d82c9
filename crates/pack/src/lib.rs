//! The documents that outlive an episode: tasks, suites, scripts, refusals, traces, snapshots, diffs, verdicts, plans and
//! records of runs. Each has one canonical form (equal things have equal bytes), carries its version, and is read with
//! limits on size and depth. No engine stands here: these types are what engines, judges, servers and reports hand each
//! other.
//!
//! ```
//! use benchwright_pack::{BoundKeys, Script, Step, script::at};
//! use serde_json::json;
//!
//! // A script names rows by key, so that it says the same whatever ids a system of record gives.
//! let step = Step::call("sale.order", "create", json!({ "partner_id": at("customer/C-104") })).bind("order/1");
//! let script = Script { steps: vec![step, Step::call("sale.order", "action_confirm", json!({ "ids": [at("order/1")] }))], ..Script::default() };
//!
//! let mut keys = BoundKeys::new([("customer/C-104".to_owned(), 7)]);
//! let first = keys.fill(&script.steps[0].args).expect("the customer is bound");
//! assert_eq!((script.steps[0].tool(), first), ("sale_order_create".to_owned(), json!({ "partner_id": 7 })));
//! keys.note(&script.steps[0], &json!([31])).expect("the answer has an id");
//! assert_eq!(keys.fill(&script.steps[1].args).expect("the order is bound"), json!({ "ids": [31] }));
//! ```

pub mod commitment;
mod delta;
mod diff;
pub mod effects;
mod files;
mod gzip;
mod injection;
mod judge;
mod key;
mod refusal;
pub mod run;
mod scoring;
pub mod script;
pub mod share;
mod snapshot;
mod split;
pub mod store;
pub mod suite;
mod task;
mod trace;
mod tree;
mod verdict;
mod work;

pub use commitment::{Commitment, CommittedTask, Opening, Proof, Refused, Revealed};
pub use delta::{Delta, TableChanges, TableDelta};
pub use diff::{Change, Diff, FieldChange};
pub use effects::Effects;
pub use files::{Files, FilesError, LARGEST_FILES};
pub use gzip::{LARGEST_UNPACKED, deflated, packed, read_packed};
pub use injection::{ForbiddenRow, PlantedInjection};
pub use judge::NativeCheck;
pub use key::{Key, Lot};
pub use refusal::{Refusal, RefusalCode};
pub use run::{RunPlan, TaskLine, TrialKey, TrialRecord};
pub use scoring::{Anchors, Scoring, ScoringError, Weights};
pub use script::{BoundKeys, Find, FindPick, GivenFact, Script, ScriptError, Step};
pub use snapshot::{LARGEST_SNAPSHOT, Snapshot, SnapshotError, SnapshotTable};
pub use split::{Split, TRAINING};
pub use store::{AuditFile, OPEN_TREE, OpenPart, SEALED_TREE, Store, StoreError};
pub use suite::{MOST_INJECTED, SHORTEST_SALT, Suite, SuiteBars, SuiteError, SuiteSolver, SuiteTask};
pub use task::{
    AnswerRows, CANARY, Certificate, Clause, Dial, OpenTask, SEALED_VERSION, SealedTask, TASK_VERSION, Task,
    TaskFaults, Verifier, tier_place,
};
pub use trace::{LARGEST_TRACE, Outcome, Trace, TraceCall, TraceError};
pub use verdict::{Check, CheckStatus, Ending, InjectionVerdict, Instance, PartScore, PhaseScore, Verdict};
pub use work::{AuditPlan, MakePlan, ShardLine, WorkPlan};
