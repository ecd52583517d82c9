//! The engines against brute force and each other, the law of the two readings, and the messages that are written by hand.

mod core;
mod engines;
mod law;
mod models;
mod proto;
mod support;
