//! The server over its wires, on loopback: lives of episodes on more than one engine, MCP in both eras, what the control
//! plane tells, and the threats it must withstand.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod common;
mod control;
mod crowd;
mod engines;
mod files;
mod folder;
mod life;
mod mcp;
mod nemo;
mod one;
mod threats;
