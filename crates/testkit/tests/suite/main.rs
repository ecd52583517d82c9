//! The sandbox and the catalogue on all domains: laws, cases, seeds, records and joined worlds, and a family of the tests from making to
//! grading.

mod cases;
mod conditions;
mod handover;
mod holes;
mod joined;
mod laws;
mod loaders;
mod natives;
mod records;
mod sabotage;
mod seeds;
mod wrong_declarations;
