//! The words of a mailbox query: `from:ana -is:unread "signed agreement" larger:10K before:2026-03-01`.

use benchwright_base::{Date, DateTime};

/// What a query is asked about.
pub(crate) struct Mail {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) labels: Vec<String>,
    pub(crate) has_attachment: bool,
    pub(crate) size: i64,
    pub(crate) unread: bool,
    pub(crate) sent_on: DateTime,
}

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
    pub(crate) fn holds(&self, mail: &Mail) -> bool {
        self.0.iter().all(|(wanted, word)| word.holds(mail) == *wanted)
    }
}

impl Word {
    fn holds(&self, mail: &Mail) -> bool {
        match self {
            Word::From(text) => contains(&mail.from, text),
            Word::To(text) => mail.to.iter().any(|address| contains(address, text)),
            Word::Subject(text) => contains(&mail.subject, text),
            Word::Label(name) => mail.labels.iter().any(|label| label.eq_ignore_ascii_case(name)),
            Word::Text(text) => [&mail.from, &mail.subject, &mail.body].iter().any(|field| contains(field, text)),
            Word::HasAttachment => mail.has_attachment,
            Word::Larger(size) => mail.size > *size,
            Word::Before(day) => mail.sent_on < day.midnight(),
            Word::After(day) => mail.sent_on >= day.midnight(),
            Word::Unread => mail.unread,
            Word::Read => !mail.unread,
        }
    }
}

/// Whether a text has a part, in any case.
pub(crate) fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn word(text: &str) -> Option<Word> {
    let Some((name, value)) = text.split_once(':') else { return Some(Word::Text(text.to_owned())) };
    let text = value.to_owned();
    Some(match (name, value) {
        ("from", _) => Word::From(text),
        ("to", _) => Word::To(text),
        ("subject", _) => Word::Subject(text),
        ("label" | "in", _) => Word::Label(text),
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
