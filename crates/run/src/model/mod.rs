//! Agents that are led by a model behind an HTTP interface.
//!
//! [`Model`] asks one model in one of three dialects and tries again what passes. [`ModelAgent`] puts it on a task. What a
//! server fails to do is an [`AgentError`](crate::AgentError) with its cause; what the model does badly is answered and goes on.

mod agent;
mod chat;
mod client;
mod error;
mod events;
mod gate;
mod messages;
mod offer;
mod plan;
mod responses;
mod secret;
mod spec;
mod talk;

pub use agent::ModelAgent;
pub use client::{Asked, Dialect, Model, ModelOptions, Prices, Retry, Sleeper};
pub use error::{Cause, ModelError};
pub use gate::{Gate, Permit};
pub use offer::offer;
pub use plan::told_plan;
pub use secret::{Redactor, Secret};
pub use spec::{AgentSpec, ModelSpec, SpecError, Tools, Way};
pub use talk::{ArgumentsError, Finish, Message, Reply, ToolCall};
