//! An outsider to the ERP family: it is handed an instruction and tools that read, as any agent is, and says what the task is and
//! how good the best plan can be. The audit holds what it says against what the family certified.
//!
//! It shares nothing with those who make tasks: not the case that was drawn, not the facts, not the candidate rows, not a rule's
//! expression and not a sentence. What it knows of the trade is written here a second time, on purpose: whatever both ways get
//! wrong in the same manner, two people have to get wrong. `cargo xtask layers` holds what it may see: the values of `base`, the
//! tools of `world`, and the plain model of `solve`.
//!
//! Three steps, one folder or file each: `read` makes a job of text and records, `model` makes an optimisation problem of the
//! job and solves it phase by phase, and `statement` puts both into plain words, with a few plans of which `proposals` says whether
//! they keep the rules.

mod job;
mod lost;
mod model;
mod proposals;
mod read;
mod said;
mod statement;

pub use lost::Lost;
pub use proposals::{Proposal, Row};
pub use said::Said;
pub use statement::Statement;

use benchwright_solve::Engine;
use benchwright_world::ToolAccess;

/// Reads a task and solves it.
pub fn state(text: &str, access: &mut dyn ToolAccess, engine: &dyn Engine) -> Result<Statement, Lost> {
    let job = read::job(text, access)?;
    let best = model::best(&job, engine)?;
    Ok(Statement { proposals: proposals::of(&job, &best), ..statement::of(&job, &best) })
}
