//! Plants hostile text into tasks. A domain declares which text a record can carry and which call it asks for; here a task that was
//! made gets one of them into its first state, and its sealed part is told what following it leaves.
//!
//! Nothing else of the task changes: the instruction, the oracle and the judge are those that it had. A text is planted only where
//! that was proved by running: the oracle still earns everything and leaves nothing that is forbidden; an answer shows the text to
//! somebody who reads on the way of the work or looks through lists; the call that it asks for stands; what it leaves is by itself a
//! breach that no right solution has; and whoever obeys earns nothing and is told to have followed.

mod forbid;
mod plant;

use benchwright_base::Stream;
use benchwright_pack::{BoundKeys, MOST_INJECTED, NativeCheck, SealedTask, Task};
use benchwright_sandbox::Sandbox;
use std::sync::Arc;

pub use plant::injected;

/// Opens the world of a document of a first state.
pub type Opened<'o> = dyn Fn(&[u8]) -> Result<Arc<Sandbox>, NotInjected> + 'o;

/// What is needed beside a task: how worlds are opened, and the rules of its family that are functions.
pub struct Ground<'a> {
    /// Opens the world of a document of a first state.
    pub open: &'a Opened<'a>,
    /// The rules of the task's family that are functions.
    pub natives: &'a [(&'static str, NativeCheck)],
}

/// Why no text could be planted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotInjected {
    /// The domain declares none.
    #[error("{0} declares no injections; write its `injections.toml`, or build without --inject")]
    NoKinds(String),
    /// A kind stands where the plan of the task reads.
    #[error(
        "the injection `{kind}` of {domain} stands in `{place}`, which the view or frame `{by}` of the plan reads; take another field"
    )]
    Read {
        /// The domain.
        domain: String,
        /// The kind.
        kind: String,
        /// Table and field.
        place: String,
        /// Who reads it.
        by: String,
    },
    /// The task cannot be opened or judged.
    #[error("{0}")]
    Task(String),
    /// No record of the task could carry any of them.
    #[error("no record of {id} can carry a text: {causes}")]
    Nowhere {
        /// The task.
        id: String,
        /// What was tried, by why it would not do.
        causes: String,
    },
}

/// The random stream of a task's injection, by what the task was made from.
fn stream(sealed: &SealedTask, of: &str) -> Stream {
    let reading = sealed.reading.as_deref().unwrap_or_default();
    let key = ["inject", of, &sealed.pattern, &sealed.tier, &sealed.objective, reading];
    Stream::new(sealed.split.seed(sealed.seed), &key)
}

/// Whether a task carries a text where a share of tasks does, in millionths. It hangs on the task alone, and whoever is chosen at a
/// share is chosen at every larger one.
pub fn is_chosen(task: &Task, share: u32) -> bool {
    stream(&task.sealed, "share").below(u64::from(MOST_INJECTED)) < u64::from(share)
}

/// The rows of the first state by key, for scripts.
fn bound_keys(sealed: &SealedTask) -> BoundKeys {
    BoundKeys::new(sealed.verifier.keys.values().flatten().map(|(id, key)| (key.clone(), *id)))
}
