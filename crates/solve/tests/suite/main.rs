//! The engines against brute force and each other, the law of the two readings, plans whose best value is known, and the messages
//! that are written by hand.

mod certificate;
mod core;
mod engines;
mod golden;
mod law;
mod models;
mod portfolio;
mod proto;
mod support;
