//! TOML whose every value knows its place. A file is read into entries, values and pieces of strings, and each of them can
//! tell the line and column at which it stands, which is what the faults of a loader point at.

use benchwright_base::{Diagnostic, nearest};
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Faults beyond this many are counted, not shown: a file of junk must not cost more than a file of sense.
const MOST_FAULTS: usize = 500;
/// Beyond this many faults no nearest name is looked for.
const MOST_HELP: usize = 100;
/// Lists that are written in one string have at most so many items.
pub(crate) const MOST_ITEMS: usize = 512;
/// Longer words are cut in messages and never taken for a misspelling.
const LONGEST_WORD: usize = 64;

/// A file of the folder.
pub(crate) struct File<'a> {
    /// Its path.
    pub(crate) path: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
    /// Where the text is not TOML, in order.
    pub(crate) errors: Vec<usize>,
}

/// A key or a value of a file.
pub(crate) struct Node<'a> {
    /// Where it begins.
    pub(crate) at: usize,
    /// The byte after the last one of the piece.
    end: usize,
    /// What it is.
    pub(crate) kind: Kind<'a>,
}

/// What a value is.
pub(crate) enum Kind<'a> {
    /// A string, without its quotes and escapes.
    Text(Cow<'a, str>),
    /// A whole number, if it is not too large.
    Int(Option<i64>),
    /// A date or an instant as written.
    Instant(String),
    /// A list of values, each with its place.
    List(Vec<Node<'a>>),
    /// A table, in the order of the file.
    Table(Vec<Entry<'a>>),
    /// The word `true` or `false`.
    Bool(bool),
    /// A number with a fraction, if it can be one.
    Float(Option<f64>),
}

/// A key with its value.
pub(crate) struct Entry<'a> {
    /// The key, always a string.
    pub(crate) key: Node<'a>,
    /// The value.
    pub(crate) value: Node<'a>,
}

impl<'a> Entry<'a> {
    /// The key as a piece of text.
    pub(crate) fn name<'s>(&'s self, file: &'s File<'s>) -> Piece<'s> {
        let text = match &self.key.kind {
            Kind::Text(text) => &**text,
            _ => "",
        };
        Piece { file, at: self.key.at, text, offset: 0 }
    }
}

impl<'a> Node<'a> {
    /// A whole file as a table.
    pub(crate) fn table(entries: Vec<Entry<'a>>, end: usize) -> Node<'a> {
        Node { at: 0, end, kind: Kind::Table(entries) }
    }

    /// The string as a piece of text, if it is one.
    pub(crate) fn text<'s>(&'s self, file: &'s File<'s>) -> Option<Piece<'s>> {
        match &self.kind {
            Kind::Text(text) => Some(Piece { file, at: self.at, text, offset: 0 }),
            _ => None,
        }
    }

    /// The entries, if it is a table.
    pub(crate) fn entries(&self) -> Option<&[Entry<'a>]> {
        match &self.kind {
            Kind::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// A place to point at.
    pub(crate) fn piece<'s>(&'s self, file: &'s File<'s>) -> Piece<'s> {
        self.text(file).unwrap_or(Piece { file, at: self.at, text: "", offset: 0 })
    }
}

impl<'a> File<'a> {
    /// Reads a file; what is not TOML goes to `faults`, and the rest is read as well as it can be.
    pub(crate) fn read(path: &'a str, text: &'a str, faults: &Faults) -> (File<'a>, Vec<Entry<'a>>) {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut file = File { path, text, lines, errors: Vec::new() };
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut errors: Vec<(usize, String)> = errors
            .iter()
            .map(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()))
            .collect();
        errors.sort();
        let mut told = None;
        for (at, message) in errors {
            let line = file.line(at);
            // One slip of the pen often gives several errors on its line; the first says it.
            if told != Some(line) {
                faults.add(&file, at, printable(message.trim_end_matches('.'), 200), None);
            }
            told = Some(line);
            file.errors.push(at);
        }
        (file, entries(document.into_inner()))
    }

    /// The line of an offset, from 0.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// Whether the text is not TOML somewhere on the lines of an entry.
    pub(crate) fn is_damaged(&self, entry: &Entry<'_>) -> bool {
        let (first, last) = (self.line(entry.key.at), self.line(entry.key.at.max(entry.value.end)));
        let start = self.lines.get(first).copied().unwrap_or(0);
        let end = self.lines.get(last + 1).copied().unwrap_or(usize::MAX);
        self.has_error(start, end)
    }

    /// Whether the text is not TOML somewhere between two offsets.
    pub(crate) fn has_error(&self, start: usize, end: usize) -> bool {
        self.errors.get(self.errors.partition_point(|at| *at < start)).is_some_and(|at| *at < end)
    }
}

fn entries(table: DeTable<'_>) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key: Node { at: key.span().start, end: key.span().end, kind: Kind::Text(key.into_inner()) },
            value: node(value.span(), value.into_inner()),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key.at);
    entries
}

fn node(span: Range<usize>, value: DeValue<'_>) -> Node<'_> {
    let kind = match value {
        DeValue::String(text) => Kind::Text(text),
        DeValue::Integer(number) => Kind::Int(i64::from_str_radix(number.as_str(), number.radix()).ok()),
        DeValue::Datetime(instant) => Kind::Instant(instant.to_string()),
        DeValue::Array(list) => Kind::List(list.into_iter().map(|item| node(item.span(), item.into_inner())).collect()),
        DeValue::Table(table) => Kind::Table(entries(table)),
        DeValue::Boolean(truth) => Kind::Bool(truth),
        DeValue::Float(number) => Kind::Float(number.as_str().parse().ok()),
    };
    Node { at: span.start, end: span.end, kind }
}

/// A piece of a string of a file.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'s> {
    /// The file.
    pub(crate) file: &'s File<'s>,
    /// Where the string begins in the file, with its quote.
    at: usize,
    /// The piece, as read.
    pub(crate) text: &'s str,
    /// Where it begins in the string as read.
    offset: usize,
}

impl<'s> Piece<'s> {
    /// From one byte to another, without blanks at the ends. Bounds that are none give the end.
    pub(crate) fn sub(self, from: usize, to: usize) -> Piece<'s> {
        let text = self.text.get(from..to.max(from)).unwrap_or("");
        Piece { text, offset: self.offset + from.min(self.text.len()), ..self }.trim()
    }

    /// From a byte to the end, without blanks at the ends.
    pub(crate) fn from(self, from: usize) -> Piece<'s> {
        self.sub(from, self.text.len())
    }

    fn trim(self) -> Piece<'s> {
        let start = self.text.trim_start();
        let offset = self.offset + self.text.len() - start.len();
        Piece { text: start.trim_end(), offset, ..self }
    }

    /// Its parts between commas that stand outside quotes, braces and parentheses.
    pub(crate) fn commas(self) -> Vec<Piece<'s>> {
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, _) in open_characters(self.text).filter(|(_, c)| *c == ',') {
            parts.push(self.sub(from, at));
            from = at + 1;
        }
        parts.push(self.from(from));
        parts
    }

    /// Its parts between commas, or a fault if they are more than anybody means.
    pub(crate) fn items(self, faults: &Faults) -> Vec<Piece<'s>> {
        let parts = self.commas();
        if parts.len() > MOST_ITEMS {
            faults.at(self, format!("this list has more than {MOST_ITEMS} items"));
            return Vec::new();
        }
        parts
    }

    /// Where one of some words stands outside quotes and parentheses, for every such place.
    pub(crate) fn words_at(self, words: &[&str]) -> Vec<(usize, usize)> {
        let open: Vec<usize> = open_characters(self.text).map(|(at, _)| at).collect();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut found = Vec::new();
        let mut last = None;
        for (nth, &at) in open.iter().enumerate() {
            let here = self.text[at..].chars().next();
            if last.is_some_and(is_word) || !here.is_some_and(is_word) {
                last = here;
                continue;
            }
            last = here;
            let end = open[nth..]
                .iter()
                .find(|at| !self.text[**at..].starts_with(is_word))
                .copied()
                .unwrap_or(self.text.len());
            if words.contains(&&self.text[at..end]) {
                found.push((at, end));
            }
        }
        found
    }

    /// The place in the file of a byte of it.
    pub(crate) fn place(self, byte: usize) -> usize {
        raw_place(self.file.text, self.at, self.offset + byte)
    }
}

/// The characters outside quotes, parentheses and braces.
pub(crate) fn open_characters(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut depth = 0_usize;
    let mut quoted = false;
    text.char_indices().filter(move |(_, c)| {
        match c {
            '\'' => quoted = !quoted,
            '(' | '{' if !quoted => depth += 1,
            ')' | '}' if !quoted => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        !quoted && depth == 0 && *c != '\''
    })
}

/// Where a byte of a string as read stands in the file, past the quotes and escapes of the string as written.
fn raw_place(file: &str, at: usize, offset: usize) -> usize {
    let raw = file.get(at..).unwrap_or("");
    let (open, escapes) = match raw {
        _ if raw.starts_with("\"\"\"") => (3, true),
        _ if raw.starts_with("'''") => (3, false),
        _ if raw.starts_with('"') => (1, true),
        _ if raw.starts_with('\'') => (1, false),
        _ => (0, false),
    };
    let mut place = open;
    if open == 3 {
        place += ["\r\n", "\n"].iter().find(|end| raw[open..].starts_with(**end)).map_or(0, |end| end.len());
    }
    let mut read = 0;
    while read < offset {
        let mut rest = raw.get(place..).unwrap_or("").chars();
        let Some(first) = rest.next() else { break };
        if !escapes || first != '\\' {
            place += first.len_utf8();
            read += first.len_utf8();
            continue;
        }
        let digits = match rest.next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(c) if c.is_whitespace() => {
                let after = raw.get(place + 1..).unwrap_or("");
                place += 1 + after.len() - after.trim_start().len();
                continue;
            }
            Some(c) => {
                place += 1 + c.len_utf8();
                read += 1;
                continue;
            }
            None => break,
        };
        let code = raw.get(place + 2..place + 2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        place += 2 + digits;
        read += code.and_then(char::from_u32).map_or(1, char::len_utf8);
    }
    (at + place).min(file.len())
}

/// All faults found so far.
#[derive(Default)]
pub(crate) struct Faults {
    list: RefCell<Vec<Diagnostic>>,
    left_off: RefCell<usize>,
}

impl Faults {
    /// A fault at an offset of a file.
    pub(crate) fn add(&self, file: &File<'_>, at: usize, message: impl Into<String>, help: Option<String>) {
        let line = file.line(at);
        let start = file.lines.get(line).copied().unwrap_or(0);
        let column = file.text.get(start..at).map_or(0, |before| before.chars().count());
        self.push(Diagnostic {
            file: file.path.to_owned(),
            line: line as u32 + 1,
            column: column as u32 + 1,
            message: message.into(),
            help,
        });
    }

    /// A fault as it stands.
    pub(crate) fn push(&self, fault: Diagnostic) {
        let mut list = self.list.borrow_mut();
        if list.len() >= MOST_FAULTS {
            *self.left_off.borrow_mut() += 1;
        } else if !list.contains(&fault) {
            list.push(fault);
        }
    }

    /// A fault at the beginning of a piece.
    pub(crate) fn at(&self, piece: Piece<'_>, message: impl Into<String>) {
        self.add_at(piece, 0, message, None);
    }

    /// A fault at a byte of a piece, whose place is looked for only if the fault will be shown.
    fn add_at(&self, piece: Piece<'_>, byte: usize, message: impl Into<String>, help: Option<String>) {
        if self.list.borrow().len() >= MOST_FAULTS {
            *self.left_off.borrow_mut() += 1;
        } else {
            self.add(piece.file, piece.place(byte), message, help);
        }
    }

    /// A fault with its mend.
    pub(crate) fn with_help(&self, piece: Piece<'_>, message: impl Into<String>, help: impl Into<String>) {
        self.add_at(piece, 0, message, Some(help.into()));
    }

    /// A word that is not one of some names; the help is the nearest of them, or all if they are few.
    pub(crate) fn unknown<'n>(
        &self,
        piece: Piece<'_>,
        message: impl Into<String>,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        let help = self.nearest(piece.text, names);
        self.add_at(piece, 0, message, help);
    }

    /// The nearest name as help.
    pub(crate) fn nearest<'n>(&self, word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
        if self.list.borrow().len() > MOST_HELP || word.len() > LONGEST_WORD {
            return None;
        }
        let names: Vec<&str> = names.into_iter().filter(|name| name.len() <= LONGEST_WORD).collect();
        if let Some(name) = nearest(word, names.iter().copied()) {
            return Some(format!("did you mean `{name}`?"));
        }
        (1..=12).contains(&names.len()).then(|| format!("there is {}", list(&names)))
    }

    /// Faults of the expression language, at their places in a piece.
    pub(crate) fn expression(&self, piece: Piece<'_>, faults: Vec<benchwright_expr::Fault>) {
        for fault in faults {
            self.add_at(piece, fault.offset.min(piece.text.len()), fault.message, fault.help);
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.borrow().is_empty()
    }

    /// All of them, by file and line.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut list = self.list.into_inner();
        list.sort();
        let left_off = self.left_off.into_inner();
        if let Some(last) = list.last().cloned().filter(|_| left_off > 0) {
            list.push(Diagnostic { message: format!("and {left_off} more faults"), help: None, ..last });
        }
        list
    }
}

/// Names as they stand in a sentence.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A word of a file as it stands in a message: cut if it is long, and without control characters.
pub(crate) fn word(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { format!("`{}`", printable(text, LONGEST_WORD)) }
}

fn printable(text: &str, most: usize) -> String {
    // Marks that turn the direction of writing would let a name pass for another.
    let is_hidden = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown: String = text.chars().take(most).map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// A name as it was probably meant: in lower case, with underscores.
pub(crate) fn as_snake(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', ' '], "_")
}

/// Lower case with underscores, not too long.
pub(crate) fn is_snake(name: &str) -> bool {
    name.len() <= LONGEST_WORD
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Lower case with hyphens, not too long.
pub(crate) fn is_kebab(name: &str) -> bool {
    name.len() <= LONGEST_WORD
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Words begun with capitals and written together, not too long.
pub(crate) fn is_camel(name: &str) -> bool {
    name.len() <= LONGEST_WORD
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Reads a piece from left to right.
pub(crate) struct Cursor<'s> {
    piece: Piece<'s>,
    at: usize,
}

impl<'s> Cursor<'s> {
    /// At the beginning of a piece.
    pub(crate) fn new(piece: Piece<'s>) -> Cursor<'s> {
        Cursor { piece, at: 0 }
    }

    fn left(&self) -> &'s str {
        self.piece.text.get(self.at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        let left = self.left();
        self.at += left.len() - left.trim_start().len();
    }

    /// Whether nothing is left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.blanks();
        self.left().is_empty()
    }

    /// What is left.
    pub(crate) fn rest(&self) -> Piece<'s> {
        self.piece.from(self.at)
    }

    /// The next word or sign, to point at; it is not taken.
    pub(crate) fn here(&mut self) -> Piece<'s> {
        self.blanks();
        let left = self.left();
        let end = left.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(left.len());
        let end = if end == 0 { left.chars().next().map_or(0, char::len_utf8) } else { end };
        self.piece.sub(self.at, self.at + end)
    }

    /// Takes a sign if it is next.
    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = self.left().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Takes a word if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.here();
        let found = here.text == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Takes the next word, of letters, digits and underscores.
    pub(crate) fn word(&mut self) -> Option<Piece<'s>> {
        let here = self.here();
        if !here.text.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        self.at += here.text.len();
        Some(here)
    }

    /// Takes everything up to a sign, and the sign.
    pub(crate) fn until(&mut self, sign: char) -> Option<Piece<'s>> {
        let end = self.at + self.left().find(sign)?;
        let piece = self.piece.sub(self.at, end);
        self.at = end + sign.len_utf8();
        Some(piece)
    }
}
