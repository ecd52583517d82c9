//! What came of the work as commands tell it: documents for programs, tables for people.

pub mod audit;
pub mod build;
pub mod grade;
pub mod patterns;
pub mod run;
pub mod shared;
pub mod stream;
