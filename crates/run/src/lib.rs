//! Puts agents on tasks and records what came of it. A *trial* is one attempt of one agent at one task: it is leased from a
//! ledger, played in an episode that a host gives, graded by that host, kept in a folder of its own, and recorded exactly
//! once, also when workers die or wake up late. What fails without being the agent's fault is an error with a cause, never
//! a zero.
//!
//! This crate knows no world and no server: a [`Host`] gives episodes and verdicts. It reads no clock: who calls it says
//! what time it is.
//!
//! ```
//! use benchwright_pack::{RunPlan, run::{Limits, RUN_VERSION, TaskLine}};
//! use benchwright_run::{LedgerStore as _, SqliteLedger, model::AgentSpec};
//!
//! assert_eq!(AgentSpec::parse("react:some-model@oracle+5").expect("it is an agent").name(), "react:some-model@oracle+5");
//! assert!(AgentSpec::parse("gredy").is_err());
//!
//! // One task, one agent, two attempts: two trials, each given to one worker only.
//! let task = TaskLine {
//!     id: "erp-1".to_owned(), digest: "00".to_owned(), domain: "erp".to_owned(), pattern: "a/b".to_owned(),
//!     tier: "easy".to_owned(), objective: "cost".to_owned(), cluster: "a/b".to_owned(), problem: None, horizon: 3,
//!     pair: None, obstacle: None, dials: Default::default(), parameters: Default::default(),
//! };
//! let plan = RunPlan {
//!     version: RUN_VERSION, tasks: vec![task], agents: vec!["idle".to_owned()], settings: Default::default(),
//!     attempts: 2, limits: Limits::default(),
//! };
//! let ledger = SqliteLedger::open_file(":memory:".as_ref(), Box::new(|| 0)).expect("SQLite is built in");
//! let (run, is_new) = ledger.open("first", &plan, false).expect("it is written down");
//! assert!(is_new);
//! let worker = ledger.join(run, 30_000).expect("it is written down");
//! let first = ledger.claim(worker, 1).expect("it can be read").expect("there is a trial");
//! let second = ledger.claim(worker, 9).expect("it can be read").expect("there is another");
//! assert_eq!((first.trials[0].number, second.trials[0].number), (1, 2));
//! assert!(ledger.claim(worker, 1).expect("it can be read").is_none(), "both are held");
//! ```

mod agent;
mod careless;
mod chain;
mod crew;
mod documents;
mod drive;
mod events;
pub mod folder;
mod host;
mod ledger;
pub mod model;
mod numbers;
mod policy;
mod postgres;
mod program;
mod segment;
mod sqlite;
pub mod workspace;

pub use self::postgres::PostgresLedger;
pub use agent::{Agent, AgentError, Played, Stop};
pub use chain::{Chain, Flaw, SegmentLink};
pub use crew::{Craft, Crew, LONGEST_HOLD};
pub use drive::{Driver, Keeping, Progress, is_still, record_played, run, sweep};
pub use folder::{Kept, TrialFolder};
pub use host::{Finished, Host, HostError, Hosted, Left, Reach, Sealed, ToolCard};
pub use ledger::{Claim, Clock, Ended, Finish, Lease, LedgerError, LedgerStore, RunId, Standing, WorkerId};
pub use numbers::Numbers;
pub use policy::{POLICIES, policy};
pub use program::{
    Bare, Bounds, Broken, Bubblewrap, Container, Isolation, Job, Program, Ran, Surroundings, View, ViewError,
    close_inherited,
};
pub use segment::{Segment, Segments};
pub use sqlite::SqliteLedger;
