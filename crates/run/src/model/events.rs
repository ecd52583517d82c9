//! Reads a stream of server-sent events: lines from a blocking reader go in, one JSON document for each event comes out.

use super::error::Fault;
use serde_json::Value as Json;
use std::io::BufRead;

/// Reads events.
pub(super) struct Events<'r> {
    from: &'r mut dyn BufRead,
    /// Turns a failure to read into a fault.
    fault: &'r dyn Fn(std::io::Error) -> Fault,
}

impl<'r> Events<'r> {
    pub(super) fn of(from: &'r mut dyn BufRead, fault: &'r dyn Fn(std::io::Error) -> Fault) -> Events<'r> {
        Events { from, fault }
    }

    /// The next event's document; `None` at the end. An event that is cut by the end is not given: who reads on knows by
    /// what has come whether the stream was whole.
    pub(super) fn next(&mut self) -> Result<Option<Json>, Fault> {
        let mut data = String::new();
        loop {
            let mut line = Vec::new();
            if self.from.read_until(b'\n', &mut line).map_err(self.fault)? == 0 {
                return Ok(None);
            }
            let line = std::str::from_utf8(&line).map_err(|_| Fault::stream("the stream is no text"))?;
            let line = line.trim_end_matches(['\n', '\r']);
            if let Some(more) = line.strip_prefix("data:") {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(more.strip_prefix(' ').unwrap_or(more));
            } else if line.is_empty() && !data.is_empty() {
                if data.trim() == "[DONE]" {
                    return Ok(None);
                }
                let read = serde_json::from_str(&data);
                return read.map(Some).map_err(|error| Fault::stream(format!("an event is no JSON: {error}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Json> {
        let (mut from, mut found) = (text.as_bytes(), Vec::new());
        let fault = |error: std::io::Error| Fault::stream(error.to_string());
        let mut events = Events::of(&mut from, &fault);
        while let Some(event) = events.next().unwrap() {
            found.push(event);
        }
        found
    }

    #[test]
    fn events_are_read_line_by_line_and_a_cut_one_is_not_given() {
        assert_eq!(
            read(": hello\r\nevent: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:2\n\n"),
            [serde_json::json!({"a": 1}), 2.into()]
        );
        assert_eq!(read("data: 1\n\ndata: [DONE]\n\ndata: 2\n\n"), [Json::from(1)]);
        assert_eq!(read("data: 1\n\ndata: {\"a\":"), [Json::from(1)]);
        assert_eq!(read("data: 1\n\ndata: 2\n"), [Json::from(1)]);
    }
}
