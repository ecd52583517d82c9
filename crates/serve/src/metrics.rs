//! What a server counts of itself, as Prometheus reads it: requests and their times by plane, refusals by their word, connections and
//! why they were closed, live episodes, and the limits. It is told on the control plane alone: how busy others are is nothing for an
//! agent. No id, token, task or tool stands in it.
//!
//! A request that is answered costs three additions to numbers that all threads share, and no lock.

use crate::{
    Episodes,
    crowd::{Crowd, Why},
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A part of the server with routes of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plane {
    /// Who begins, reads and grades episodes.
    Control,
    /// Who plays them.
    Agent,
    /// The wire of NeMo Gym.
    Nemo,
}

const PLANES: [(Plane, &str); 3] = [(Plane::Control, "control"), (Plane::Agent, "agent"), (Plane::Nemo, "nemo")];
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
const WHYS: [(Why, &str); 4] =
    [(Why::Head, "head_too_slow"), (Why::Answer, "answer_not_read"), (Why::Rest, "idle"), (Why::Evicted, "gave_way")];
/// The upper ends of the buckets of times, in microseconds, and as they are written.
const BUCKETS: [(u64, &str); 12] = [
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (10_000_000, "10"),
];

/// A refusal, as an answer carries it to whoever counts.
#[derive(Clone, Copy)]
pub(crate) struct Refused(pub(crate) &'static str);

#[derive(Default)]
struct OfPlane {
    answered: [AtomicU64; CLASSES.len()],
    /// One more for what took longer than all.
    times: [AtomicU64; BUCKETS.len() + 1],
    micros: AtomicU64,
}

/// What is counted.
#[derive(Default)]
pub(crate) struct Metrics {
    planes: [OfPlane; PLANES.len()],
    closed: [AtomicU64; WHYS.len()],
    not_accepted: AtomicU64,
    turned_away: AtomicU64,
    refused: RwLock<BTreeMap<&'static str, AtomicU64>>,
}

fn add(to: &AtomicU64, more: u64) {
    to.fetch_add(more, Ordering::Relaxed);
}

fn read(number: &AtomicU64) -> u64 {
    number.load(Ordering::Relaxed)
}

impl Metrics {
    /// A request was answered.
    pub(crate) fn answered(&self, plane: Plane, status: u16, took: Duration) {
        let of = &self.planes[plane as usize];
        let class = usize::from(status / 100).clamp(2, 5) - 2;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        add(&of.answered[class], 1);
        add(&of.times[BUCKETS.partition_point(|(end, _)| *end < micros)], 1);
        add(&of.micros, micros);
    }

    /// Something was refused.
    pub(crate) fn refused(&self, word: &'static str) {
        if let Some(count) = self.refused.read().unwrap_or_else(PoisonError::into_inner).get(word) {
            return add(count, 1);
        }
        let mut refused = self.refused.write().unwrap_or_else(PoisonError::into_inner);
        add(refused.entry(word).or_default(), 1);
    }

    /// A connection was closed that its client had not closed.
    pub(crate) fn closed(&self, why: Why) {
        add(&self.closed[why as usize], 1);
    }

    /// A connection could not be taken yet, or for so long that somebody was not heard.
    pub(crate) fn not_accepted(&self, for_long: bool) {
        add(&self.not_accepted, 1);
        add(&self.turned_away, u64::from(for_long));
    }

    /// How often nobody could connect for long.
    pub(crate) fn all_turned_away(&self) -> u64 {
        read(&self.turned_away)
    }
}

/// A text of Prometheus in the making.
struct Text(String);

impl Text {
    fn about(&mut self, name: &str, kind: &str, about: &str) {
        // Writing into a string does not fail.
        let _ = write!(self.0, "# HELP benchwright_{name} {about}\n# TYPE benchwright_{name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "benchwright_{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, about: &str, value: impl std::fmt::Display) {
        self.about(name, kind, about);
        self.line(name, &[], value);
    }
}

/// All that is counted, and the limits, as text.
pub(crate) fn text(crowd: &Crowd, episodes: &Episodes) -> String {
    let (metrics, limits, settings) = (crowd.metrics(), crowd.limits(), episodes.settings());
    let mut out = Text(String::new());
    out.about("requests_total", "counter", "Requests that were answered.");
    for ((_, plane), of) in PLANES.iter().zip(&metrics.planes) {
        for (class, count) in CLASSES.iter().zip(&of.answered) {
            out.line("requests_total", &[("plane", plane), ("status", class)], read(count));
        }
    }
    out.about("request_seconds", "histogram", "From a request's head to its answer.");
    for ((_, plane), of) in PLANES.iter().zip(&metrics.planes) {
        let mut so_far = 0;
        for (end, count) in BUCKETS.iter().map(|(_, end)| *end).chain(["+Inf"]).zip(&of.times) {
            so_far += read(count);
            out.line("request_seconds_bucket", &[("plane", plane), ("le", end)], so_far);
        }
        out.line("request_seconds_sum", &[("plane", plane)], read(&of.micros) as f64 / 1e6);
        out.line("request_seconds_count", &[("plane", plane)], so_far);
    }
    out.about("refusals_total", "counter", "What was refused, by the word of the error.");
    for (word, count) in metrics.refused.read().unwrap_or_else(PoisonError::into_inner).iter() {
        out.line("refusals_total", &[("kind", word)], read(count));
    }
    let (strangers, known) = crowd.connections();
    out.about("connections", "gauge", "Open connections: of strangers, and those that have shown a token.");
    out.line("connections", &[("of", "strangers")], strangers);
    out.line("connections", &[("of", "known")], known);
    out.about("connections_closed_total", "counter", "Connections that the server closed.");
    for ((_, why), count) in WHYS.iter().zip(&metrics.closed) {
        out.line("connections_closed_total", &[("why", why)], read(count));
    }
    let failed = "Connections that could not be taken at once, for want of open files.";
    out.one("connections_not_accepted_total", "counter", failed, read(&metrics.not_accepted));
    let away = "Those that could not be taken although it was tried for a second.";
    out.one("connections_turned_away_total", "counter", away, metrics.all_turned_away());
    out.one("episodes", "gauge", "Episodes that live.", episodes.len());
    out.one("episodes_held_bytes", "gauge", "What they hold, estimated from rows and calls.", episodes.held());
    out.one("bodies_held_bytes", "gauge", "Bytes of bodies that are being read.", crowd.body_bytes());
    out.about("limit", "gauge", "The limits, in pieces, bytes or seconds.");
    let limits: [(&str, f64); 17] = [
        ("connections", limits.connections as f64),
        ("connections_of_strangers", limits.strangers as f64),
        ("connections_of_one_token", limits.of_one_token as f64),
        ("head_seconds", limits.head.as_secs_f64()),
        ("body_seconds", limits.body.as_secs_f64()),
        ("answer_seconds", limits.answer.as_secs_f64()),
        ("idle_seconds", limits.rest.as_secs_f64()),
        ("bodies_bytes", limits.bodies as f64),
        ("bodies_bytes_of_one_token", limits.bodies_of_one_token as f64),
        ("room_seconds", limits.room.as_secs_f64()),
        ("documents_bytes", limits.documents as f64),
        ("episodes", settings.most_episodes as f64),
        ("episodes_bytes", settings.most_memory as f64),
        ("episode_rows", settings.most_rows as f64),
        ("episode_calls", f64::from(settings.calls)),
        ("episode_idle_seconds", settings.idle.as_secs_f64()),
        ("worlds", settings.most_worlds as f64),
    ];
    for (name, limit) in limits {
        out.line("limit", &[("of", name)], limit);
    }
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_in_the_order_of_what_they_name() {
        assert!(PLANES.iter().enumerate().all(|(at, (plane, _))| *plane as usize == at));
        assert!(WHYS.iter().enumerate().all(|(at, (why, _))| *why as usize == at));
        assert!(BUCKETS.iter().all(|(micros, text)| text.parse::<f64>().unwrap() == *micros as f64 / 1e6));
    }

    #[test]
    fn a_time_on_the_end_of_a_bucket_is_in_it() {
        let metrics = Metrics::default();
        for micros in [0, 100, 101, 10_000_000, 10_000_001] {
            metrics.answered(Plane::Agent, 200, Duration::from_micros(micros));
        }
        let times: Vec<u64> = metrics.planes[1].times.iter().map(read).collect();
        assert_eq!((times[0], times[1], times[11], times[12]), (2, 1, 1, 1));
        metrics.answered(Plane::Agent, 503, Duration::ZERO);
        assert_eq!(read(&metrics.planes[1].answered[3]), 1);
    }
}
