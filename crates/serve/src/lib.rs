//! Serves episodes as a resource over HTTP: a control plane that begins, copies, reads, grades and closes them, and an
//! agent plane with the tools of one episode over MCP, plain JSON, OpenAPI and, where the domain has it, JSON-2.
//!
//! [`Episodes`] is the one implementation; a program calls it directly, [`Server`] over HTTP. Who an agent is and which
//! episode it means is in the URL and the token of every request, never in a session.

mod agent;
mod client;
mod control;
mod episodes;
mod error;
mod gate;
mod mcp;
mod openapi;
mod server;
mod settings;
mod stdio;
mod token;
mod tools;
mod worlds;

pub use episodes::{Created, Graded, Limits, Start, Status};
pub use episodes::{EpisodeId, Episodes};
pub use error::{CallError, ServeError, ServerError};
pub use server::Server;
pub use settings::{Options, Settings};
pub use stdio::{ProxyError, proxy, stdio_proxy};
pub use token::Token;
pub use tools::{ToolLine, ToolSet};
