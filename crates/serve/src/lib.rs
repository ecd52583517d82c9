//! Serves episodes as a resource over HTTP: a control plane that begins, copies, reads, grades and closes them, and an
//! agent plane with the tools of one episode over MCP, plain JSON, OpenAPI and the faces that the program brings.
//!
//! | control token | |
//! |---|---|
//! | `GET /tasks` | the ids of the tasks, in pages |
//! | `POST /episodes` | begins one: `{"task": ID}`, or `{"domain": NAME}` with `size`, `seed` and `role`; on another engine with `"engine": WORD` |
//! | `GET /episodes` | how many live |
//! | `GET`, `DELETE /episodes/{id}` | how it stands; ends it |
//! | `POST /episodes/{id}/fork` | a copy with a token of its own |
//! | `GET /episodes/{id}/snapshot`, `/trace` | the state; the calls |
//! | `POST /episodes/{id}/grade` | the verdict on the state as it stands |
//! | `GET /metrics` | requests, times, refusals, connections and limits, as Prometheus reads them |
//!
//! | the episode's token | |
//! |---|---|
//! | `POST /episodes/{id}/mcp` | MCP, both eras |
//! | `POST /episodes/{id}/tools/{name}` | a call in plain JSON |
//! | `GET /episodes/{id}/openapi.json` | the tools |
//! | `GET /episodes/{id}/files`, `/files/{path}` | the files of the present stage, where the world has files |
//! | `POST /episodes/{id}/` and a face's path | the same in the words of another system |
//!
//! `GET /health` and `GET /openapi.json`, the description of the control plane, need no token. Every error is `{"error": {"code", "message"}}`; those of a face have its own form.
//!
//! Which engines there are is for the program to say: they come as a table in [`Settings`], and so do faces. Nothing here
//! knows what keeps an episode's state.
//!
//! [`Episodes`] is the one implementation; a program calls it directly, [`Server`] over HTTP. Who an agent is and which
//! episode it means is in the URL and the token of every request, never in a session.
//!
//! ```
//! use benchwright_serve::{Episodes, Settings, Start};
//!
//! let episodes = Episodes::new(Settings::default());
//! let begun = episodes.create(&Start::domain("csm", "small", 1)).expect("there is such a world");
//! let users = episodes.call(begun.id, "list_users", r#"{"limit":1}"#).expect("it is a tool of csm");
//! assert!(users.contains("email"));
//! let refused = episodes.call(begun.id, "list_user", "{}").expect_err("there is no such tool");
//! assert_eq!((refused.word(), refused.status()), ("not_found", 404));
//!
//! let status = episodes.status(begun.id).expect("it lives");
//! assert_eq!((status.calls_used, status.domain.as_str()), (2, "csm"));
//! episodes.close(begun.id).expect("it lives");
//! assert!(episodes.is_empty());
//! ```

mod account;
mod agent;
mod client;
mod control;
mod crowd;
mod episodes;
mod error;
mod events;
mod faces;
mod files;
mod gate;
mod mcp;
mod metrics;
mod nemo;
mod one;
mod openapi;
mod server;
mod settings;
mod shown;
mod stdio;
mod token;
mod tools;
mod worlds;

pub use episodes::{Created, Graded, Limits, Start, Status};
pub use episodes::{EpisodeId, Episodes};
pub use error::{CallError, ServeError, ServerError};
pub use nemo::NEMO_RESERVED;
pub use one::{Collected, ONE_PORT, ONE_SOCKET, One, OneOptions, Starter, collect, read_collected, ready};
pub use server::Server;
pub use settings::{CrowdLimits, KeepOut, Options, Settings};
pub use shown::{Answer, Shown};
pub use stdio::{ProxyError, proxy, stdio_proxy};
pub use token::Token;
pub use tools::ToolSet;
