//! Static pages: an index of a run and a page per trial. They are read from disk, without a script, and hold nothing but text
//! and drawings: every string is escaped, and the content policy allows the one style sheet by its hash and nothing else.

mod index;
pub mod plot;
mod trial;

pub use index::{Index, LARGEST_INDEX, PageLink, index};
pub use trial::{Answer, CallView, TrialView, trial_page};

use crate::text::{cut, steers};
use benchwright_base::Digest;
use benchwright_pack::run::TrialKey;

/// The one style sheet.
const STYLE: &str = include_str!("html/style.css");

/// The longest text that a cell of a table shows.
const LONGEST_CELL: usize = 400;

/// Where the page of a trial stands, seen from the index: a name that depends on the trial alone.
pub fn page_name(key: &TrialKey) -> String {
    let attempt = key.attempt.to_le_bytes();
    let parts = [("task", key.task.as_bytes()), ("agent", key.agent.as_bytes()), ("attempt", &attempt[..])];
    let digest = Digest::of_parts(parts).to_string();
    format!("trials/{}.html", digest.get(..20).unwrap_or(&digest))
}

/// Text as it may stand between tags and inside a quoted attribute. Characters that steer or turn the text are shown as the
/// replacement character; line breaks and tabs stay.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if steers(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A whole page around a body that is escaped already.
fn page(title: &str, body: &str) -> String {
    let hash = base64(&Digest::of(STYLE.as_bytes()).0);
    let title = escape(&cut(title, LONGEST_CELL));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Base64 with padding, as a content policy writes a hash.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// A cell of a table.
enum Cell {
    /// Text, escaped when it is written.
    Text(String),
    /// Text that is set left.
    Left(String),
    /// A number with its interval beside.
    Interval(String, String),
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

/// A table; the first cell of a row is its head.
fn table(caption: &str, heads: &[String], rows: &[Vec<Cell>]) -> String {
    let mut out = format!("<div class=\"wide\"><table><caption>{}</caption>\n<thead><tr>", escape(caption));
    for (at, head) in heads.iter().enumerate() {
        let left = rows.first().and_then(|row| row.get(at)).is_some_and(|cell| matches!(cell, Cell::Left(_)));
        let class = if left { " class=\"left\"" } else { "" };
        out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(&cut(head, LONGEST_CELL))));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let (class, text) = match cell {
                Cell::Text(text) => ("", escape(&cut(text, LONGEST_CELL))),
                Cell::Left(text) => (" class=\"left\"", escape(&cut(text, LONGEST_CELL))),
                Cell::Interval(value, range) => {
                    ("", format!("{} <span class=\"ci\">{}</span>", escape(value), escape(range)))
                }
            };
            let text = text.trim_end();
            out.push_str(&if at == 0 {
                format!("<th scope=\"row\">{text}</th>")
            } else {
                format!("<td{class}>{text}</td>")
            });
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// A list of named facts.
fn facts(facts: &[(&str, String)]) -> String {
    let fact = |(name, value): &(&str, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(&cut(value, LONGEST_CELL)))
    };
    format!("<dl class=\"facts\">{}</dl>\n", facts.iter().map(fact).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn markup_becomes_text_and_nothing_turns_it() {
        assert_eq!(escape("<a b='c\" & \u{1b}\u{202e}\n"), "&lt;a b=&#39;c&quot; &amp; \u{fffd}\u{fffd}\n");
    }
}
