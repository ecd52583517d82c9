//! The server over its wires, on loopback: lives of episodes, MCP in both eras, and the threats it must withstand.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod common;
mod life;
mod mcp;
mod threats;
