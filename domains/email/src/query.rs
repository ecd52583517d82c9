//! The words of a mailbox query: `from:ana -is:unread "signed agreement" larger:10K before:2026-03-01`.

use super::mail::Mail;
use crate::names::c;
use benchwright_base::{Date, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::columns;

/// A query: every word must hold.
pub(crate) struct Query(Vec<(bool, Word)>);

enum Word {
    From(String),
    To(String),
    Subject(String),
    Label(String),
    Text(String),
    HasAttachment,
    Larger(i64),
    Before(Date),
    After(Date),
    Unread,
    Read,
}

impl Query {
    /// Reads a query; the error is the word that cannot be read.
    pub(crate) fn read(text: &str) -> Result<Query, String> {
        let mut words = Vec::new();
        for piece in pieces(text) {
            let (wanted, rest) = match piece.strip_prefix('-') {
                Some(rest) if !rest.is_empty() => (false, rest),
                _ => (true, &*piece),
            };
            words.push((wanted, word(rest).ok_or_else(|| piece.clone())?));
        }
        Ok(Query(words))
    }

    /// Whether a message meets every word.
    pub(crate) fn holds(&self, mail: &Mail<'_, '_, '_>) -> Result<bool, Refusal> {
        for (wanted, word) in &self.0 {
            if word.holds(mail)? != *wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Word {
    fn holds(&self, mail: &Mail<'_, '_, '_>) -> Result<bool, Refusal> {
        Ok(match self {
            Word::From(text) => mail.has(c::from_address, text),
            Word::To(text) => mail.goes_to(text)?,
            Word::Subject(text) => mail.has(c::subject, text),
            Word::Label(name) => mail.is_labelled(name)?,
            Word::Text(text) => columns![from_address, subject, body].iter().any(|column| mail.has(*column, text)),
            Word::HasAttachment => mail.has_attachment()?,
            Word::Larger(size) => mail.size() > *size,
            Word::Before(day) => mail.sent_on() < day.midnight(),
            Word::After(day) => mail.sent_on() >= day.midnight(),
            Word::Unread => mail.is(c::unread, &Value::Bool(true)),
            Word::Read => !mail.is(c::unread, &Value::Bool(true)),
        })
    }
}

fn word(text: &str) -> Option<Word> {
    let Some((name, value)) = text.split_once(':') else { return Some(Word::Text(text.to_lowercase())) };
    let text = value.to_lowercase();
    Some(match (name, value) {
        ("from", _) => Word::From(text),
        ("to", _) => Word::To(text),
        ("subject", _) => Word::Subject(text),
        ("label" | "in", name) => Word::Label(name.to_owned()),
        ("has", "attachment") => Word::HasAttachment,
        ("is", "unread") => Word::Unread,
        ("is", "read") => Word::Read,
        ("larger", size) => Word::Larger(bytes(size)?),
        ("before", day) => Word::Before(Date::parse(&day.replace('/', "-"))?),
        ("after", day) => Word::After(Date::parse(&day.replace('/', "-"))?),
        _ => return None,
    })
}

/// `500`, `10K` or `2M`.
fn bytes(text: &str) -> Option<i64> {
    let (number, unit) = match text.strip_suffix(['K', 'k']) {
        Some(number) => (number, 1_000),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |number| (number, 1_000_000)),
    };
    number.parse::<i64>().ok().filter(|number| (0..=1_000_000_000).contains(number)).map(|number| number * unit)
}

/// Splits at spaces; quotes keep words together and fall away.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut piece, mut quoted) = (String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => pieces.push(std::mem::take(&mut piece)),
            c => piece.push(c),
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
