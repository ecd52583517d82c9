//! What goes to stdout. A reader that has gone is an error here, not a panic.

use std::io::{self, IsTerminal as _, Write as _};

/// Writes data to stdout.
pub(crate) fn data(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a JSON document to stdout.
pub(crate) fn json(value: &serde_json::Value) -> io::Result<()> {
    data(&format!("{value:#}\n"))
}

/// Writes a JSON document or a text to stdout, whichever was asked for.
pub(crate) fn either(
    is_json: bool,
    of: impl FnOnce() -> serde_json::Value,
    text: impl FnOnce() -> String,
) -> io::Result<()> {
    if is_json { json(&of()) } else { data(&text()) }
}

/// How many columns there are to write in, as far as the environment says.
pub(crate) fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.filter(|columns| (20..=1000).contains(columns)).unwrap_or(100)
}

/// Whether stdout takes colours.
pub(crate) fn has_colour() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
