//! The documents that outlive an episode: refusals, traces, snapshots and diffs. Each has one canonical form, carries its
//! version, and is read with limits on size and depth.

mod diff;
mod refusal;
mod snapshot;
mod trace;

pub use diff::{Change, Diff, FieldChange};
pub use refusal::{Refusal, RefusalCode};
pub use snapshot::{LARGEST_SNAPSHOT, Snapshot, SnapshotError, SnapshotTable};
pub use trace::{LARGEST_TRACE, Outcome, Trace, TraceCall, TraceError};
