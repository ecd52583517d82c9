//! The figures of `bench world`, their targets, and how they are shown.

use serde_json::{Value, json};
use std::fmt::Write;

/// What was measured.
pub(crate) struct Figures {
    pub(super) quick: bool,
    pub(super) episodes_per_s: f64,
    pub(super) sqlite_episodes_per_s: f64,
    pub(super) sqlite_session_episodes_per_s: f64,
    pub(super) reset_ns: f64,
    pub(super) fork_ns: f64,
    pub(super) fork_write_drop_ns: f64,
    pub(super) diff_ns: f64,
    /// Where the system tells how much memory a process has.
    pub(super) live_bytes: Option<f64>,
    pub(super) large_world_call_ratio: f64,
    pub(super) world_load_ms: f64,
    pub(super) large_world_load_ms: f64,
    pub(super) calls_compared: usize,
}

/// What a figure should be.
enum Target {
    None,
    AtLeast(f64),
    AtMost(f64),
}

/// One figure with its key, how it is called, how many decimals it is shown with, and its target.
struct Line {
    key: &'static str,
    called: &'static str,
    value: Option<f64>,
    decimals: usize,
    target: Target,
}

impl Line {
    fn is_missed(&self) -> bool {
        match (&self.target, self.value) {
            (Target::AtLeast(least), Some(value)) => value < *least,
            (Target::AtMost(most), Some(value)) => value > *most,
            _ => false,
        }
    }
}

impl Figures {
    fn lines(&self) -> Vec<Line> {
        let line =
            |key, called, value: f64, decimals, target| Line { key, called, value: Some(value), decimals, target };
        let ratio = self.episodes_per_s / self.sqlite_episodes_per_s;
        let session_ratio = self.episodes_per_s / self.sqlite_session_episodes_per_s;
        vec![
            line("episodes_per_s", "episodes a second, ours", self.episodes_per_s, 0, Target::None),
            line("sqlite_episodes_per_s", "episodes a second, SQLite", self.sqlite_episodes_per_s, 0, Target::None),
            line("ratio", "ours to SQLite (aim: 4)", ratio, 2, Target::AtLeast(3.0)),
            line(
                "sqlite_session_episodes_per_s",
                "episodes a second, SQLite with its session diff",
                self.sqlite_session_episodes_per_s,
                0,
                Target::None,
            ),
            line("session_ratio", "ours to SQLite with its session diff", session_ratio, 2, Target::AtLeast(7.0)),
            line("reset_ns", "reset, ns", self.reset_ns, 1, Target::AtMost(100.0)),
            line("fork_ns", "fork and drop in mid-episode, ns", self.fork_ns, 1, Target::AtMost(100.0)),
            line(
                "fork_write_drop_ns",
                "fork, first update and drop, ns",
                self.fork_write_drop_ns,
                0,
                Target::AtMost(5000.0),
            ),
            line("diff_ns", "exact difference of eight writes, ns", self.diff_ns, 0, Target::None),
            Line {
                key: "live_bytes",
                called: "memory of a live episode with eight writes, bytes",
                value: self.live_bytes,
                decimals: 0,
                target: Target::AtMost(32.0 * 1024.0),
            },
            line(
                "large_world_call_ratio",
                "a call among 100,040 rows to one among 10,004",
                self.large_world_call_ratio,
                2,
                Target::AtMost(2.0),
            ),
            line("world_load_ms", "load of 10,004 rows, ms", self.world_load_ms, 1, Target::None),
            line("large_world_load_ms", "load of 100,040 rows, ms", self.large_world_load_ms, 1, Target::None),
        ]
    }

    /// The keys of the figures that miss their target.
    pub(crate) fn missed(&self) -> Vec<&'static str> {
        self.lines().iter().filter(|line| line.is_missed()).map(|line| line.key).collect()
    }

    /// One object, numbers rounded as in the table; what could not be measured is null.
    pub(crate) fn to_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        for line in self.lines() {
            let scale = 10_f64.powi(line.decimals as i32);
            let value = match line.value {
                None => Value::Null,
                Some(value) if line.decimals == 0 => json!(value.round() as i64),
                Some(value) => json!((value * scale).round() / scale),
            };
            object.insert(line.key.to_owned(), value);
        }
        object.insert("calls_compared".to_owned(), json!(self.calls_compared));
        Value::Object(object)
    }

    /// A table for a person, with the targets beside.
    pub(crate) fn to_table(&self) -> String {
        let mut text = String::new();
        for line in self.lines() {
            let value = line.value.map_or("unknown".to_owned(), |value| format!("{value:.*}", line.decimals));
            let target = match line.target {
                Target::None => String::new(),
                Target::AtLeast(least) => format!("at least {least}"),
                Target::AtMost(most) => format!("at most {most}"),
            };
            let verdict = if line.is_missed() { "missed" } else { "" };
            let row = format!("{:<50} {value:>12}   {target:<14} {verdict}", line.called);
            let _ = writeln!(text, "{}", row.trim_end());
        }
        let _ = writeln!(
            text,
            "{} calls answered alike, byte for byte; CPU time, medians of alternating blocks",
            self.calls_compared
        );
        if self.quick {
            text.push_str("a quick run: too short for the targets to decide\n");
        }
        text
    }
}
