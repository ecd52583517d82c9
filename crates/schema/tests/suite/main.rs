//! What the loader takes, what it refuses and how it says so, and the schemas that it derives.

mod changes;
mod common;
mod good;
mod inventory;
mod mutations;
mod plans;
mod records;
mod schemas;
mod wrong;
