//! Harnesses for tests: cases of a domain, random calls that follow its schemas, and the laws every world must keep. Only
//! ever a dev-dependency.

pub mod calls;
pub mod cases;
pub mod laws;
pub mod member;
pub mod schema;
pub mod worlds;
