//! Makes tasks. A pattern and a seed go in; out comes a task with its four artifacts: the instruction, the first state of
//! the world, the oracle (calls that solve it) and the verifier. All four are projections of one *case*, the business
//! situation that was drawn, so they cannot disagree by accident.
//!
//! What is special to a kind of workflow stands behind the trait [`Family`], with a few optional capabilities. A family may
//! need the best plan of a case, and is handed a planner for it: no solver stands here, and no domain. [`make`] is the one
//! way from a draw to a task.
//!
//! ```
//! use benchwright_project::{Offered, toolset};
//! use std::collections::BTreeSet;
//!
//! // A task may offer less than all tools: those that its oracle uses, and some that look as if they were needed.
//! let tool = |name, table, description| Offered { name, table: Some(table), description };
//! let tools = [
//!     tool("order_create", "order", "Makes an order of a customer."),
//!     tool("order_cancel", "order", "Cancels an order."),
//!     tool("colour_list", "colour", "Lists colours."),
//! ];
//! let used = BTreeSet::from(["order_create".to_owned()]);
//! assert_eq!(toolset(&tools, &used, 1, 7, &["tools"]), ["order_create", "order_cancel"]);
//! ```

mod authoring;
mod capability;
mod family;
mod make;
mod pattern;
mod pattern_folder;
mod scoring;
mod toolset;

pub use authoring::{Authoring, Placeholder};
pub use benchwright_spec::Planner;
pub use benchwright_world::{NotAnswered, ToolAccess, answered};
pub use capability::{
    Breadth, Capability, Eyes, Faults, Heed, Mutation, Mutator, Optimised, OwnFiles, Passage, Players, Proof, Reader,
    Readings,
};
pub use family::{Brief, Case, Discard, Draw, Family, FamilyError, Filler, FirstState, Telling};
pub use make::{
    CALLS, MOST_ATTEMPTS, MakeError, Order, Ready, Solver, id as task_id, make, named, plan_text, ready, salted,
};
pub use pattern::{Pattern, PatternAxis, PatternCell, PatternHead, PatternText};
pub use pattern_folder::PatternFolder;
pub use scoring::{anchored, scoring};
pub use toolset::{Offered, toolset};
