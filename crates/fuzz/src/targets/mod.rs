//! One file for each reader.

pub(crate) mod arguments;
pub(crate) mod domain;
pub(crate) mod expression;
pub(crate) mod ledger;
pub(crate) mod pack;
pub(crate) mod pattern;
pub(crate) mod snapshot;
pub(crate) mod suite;
pub(crate) mod trace;
