//! The library under the program, for programs, bindings and workers elsewhere: makes tasks, builds and audits suites, puts agents on
//! tasks, streams shards, gives out episodes and keeps runs.
//!
//! A [`Workshop`] is the door. It knows where domains and patterns come from (a [`Catalog`]), who does the work ([`Workers`]), who is told
//! how far it is ([`Progress`]) and who may stop it ([`Cancel`]). Nothing here prints or asks for arguments. What is cut off, by whatever
//! cause, goes on when it is asked for again in the same folder.
//!
//! ```
//! use benchwright_workshop::{AuditOptions, Cancel, Catalog, RunOptions, Step, Temporary, Workshop, policy};
//!
//! let (folder, cancel) = (Temporary::new()?, Cancel::new());
//! let workshop = Workshop::new(Catalog::built_in())
//!     .with_progress(|step: &Step<'_>| println!("{}: {} of {}", step.what, step.done, step.total))
//!     .with_cancel(cancel.clone());
//!
//! // Two tasks, which are held to what every task must be. Grids need no solver.
//! let tasks = folder.path().join("tasks");
//! workshop.make("grid/travel", "h01-b00", 1..3, &tasks)?;
//! let audit = workshop.audit(&tasks, &AuditOptions { sample: Some(1), ..AuditOptions::without_solver() })?;
//! assert!(audit.is_clean());
//!
//! // Two agents without a model: one does nothing, one carries out the certified plan.
//! let agents: Vec<_> = ["idle", "oracle"].into_iter().filter_map(policy).collect();
//! let ran = workshop.run(&tasks, &agents, &folder.path().join("runs"), &RunOptions::default())?;
//! for reward in ran.rewards() {
//!     assert_eq!(reward.reward, Ok(if reward.agent == "oracle" { 1.0 } else { 0.0 }));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules have the same work with more choices: [`suites`], [`audits`], [`run`], [`stream`], [`host`].

pub mod again;
pub mod audits;
pub mod carried;
pub mod code;
pub mod contest;
pub mod dialogues;
pub mod engines;
mod error;
mod events;
mod facade;
pub mod freedoms;
pub mod host;
mod judge;
pub mod listed;
pub mod nemo;
pub mod own;
pub mod pages;
pub mod play;
mod progress;
pub mod recorded;
pub mod requests;
pub mod rows;
pub mod run;
pub mod runs;
pub mod samples;
pub mod session;
pub mod shared;
pub mod stream;
pub mod suites;
pub mod tasks;
pub mod tokens;
pub mod told;
mod unfinished;
pub mod verify;
pub mod view;
mod work;
pub mod workspaces;
pub mod worlds;

pub use audits::{Audit, AuditOptions};
pub use benchwright_catalog::Catalog;
pub use benchwright_pack::{Suite, run::Limits};
pub use benchwright_run::{Agent, policy};
pub use error::Error;
pub use progress::{Cancel, Progress, Step};
pub use run::{Ran, Reward, RunOptions};
pub use suites::Built;
pub use work::{
    Answer, AttemptsRequest, AuditRequest, Failed, Made, MakeRequest, Maker, Request, Shortfall, Temporary, Workers,
    Workshop, end_with_parent, maker::Engines,
};
