//! Harnesses for tests: runs the cases of a domain, makes random calls that follow its schemas, and checks the laws that
//! every world must keep. Only ever a dev-dependency.

pub mod cases;
pub mod handover;
mod here;
pub mod laws;
pub mod member;
mod planting;
pub mod schema;
pub mod worlds;
