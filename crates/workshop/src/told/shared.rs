//! What was made of a plan that many worked on.

use crate::{shared::MadeShared, suites::named};
use serde_json::{Value as Json, json};

/// The document of `new --json` and `build --json` with a ledger.
pub fn to_json(made: &MadeShared) -> Json {
    let short: Vec<_> = made.short.iter().map(|(line, why)| json!({ "task": named(line), "why": why })).collect();
    json!({ "name": made.name, "tasks": made.tasks, "shards": made.shards, "short": short })
}

/// The same in sentences.
pub fn to_text(made: &MadeShared) -> String {
    let MadeShared { name, tasks, shards, short } = made;
    let mut told = format!("{name}: {tasks} tasks in {shards} shards, {} fall short\n", short.len());
    told.extend(short.iter().map(|(line, why)| format!("{}: {why}\n", named(line))));
    told
}
