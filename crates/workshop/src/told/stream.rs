//! What was streamed.

use crate::stream::Streamed;
use serde_json::{Value as Json, json};

/// The document of `new --json` for shards.
pub fn to_json(streamed: &Streamed) -> Json {
    let made = streamed.made();
    let cpu = streamed.cpu.as_secs_f64();
    json!({
        "tasks": streamed.tasks,
        "shards": streamed.shards,
        "kept_shards": streamed.kept,
        "bytes": streamed.bytes,
        "bytes_per_task": streamed.bytes / streamed.tasks.max(1) as u64,
        "cpu_s": (cpu * 1000.0).round() / 1000.0,
        "tasks_per_cpu_s": if made == 0 { Json::Null } else { json!((made as f64 / cpu).round()) },
    })
}

/// The same in a sentence.
pub fn to_text(streamed: &Streamed) -> String {
    let rate = streamed.made() as f64 / streamed.cpu.as_secs_f64().max(1e-9);
    format!(
        "{} tasks in {} shards, of which {} were there already; {} bytes a task, {rate:.0} tasks a second on one core\n",
        streamed.tasks,
        streamed.shards,
        streamed.kept,
        streamed.bytes / streamed.tasks.max(1) as u64,
    )
}
