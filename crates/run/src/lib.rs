//! Puts agents on tasks. A trial is leased from a ledger, played in an episode that a host gives, graded by that host, kept in
//! a folder of its own, and recorded exactly once. What fails without being the agent's fault is an error, never a zero.
//!
//! This crate knows no world and no server: a [`Host`] gives episodes and verdicts. It reads no clock: who calls it says what
//! time it is.

mod agent;
mod drive;
mod events;
mod folder;
mod host;
mod ledger;
pub mod model;
mod policy;
mod program;
mod sqlite;

pub use agent::{Agent, AgentError, Played, Stop};
pub use drive::{Driver, Progress, record_played, run};
pub use folder::{Kept, TrialFolder};
pub use host::{Finished, Host, HostError, Hosted, Reach, Sealed, ToolCard};
pub use ledger::{Claim, Finish, LedgerError, LedgerStore, RunId, Standing};
pub use policy::{POLICIES, policy};
pub use program::{Program, Rights, Surroundings, Users};
pub use sqlite::SqliteLedger;
