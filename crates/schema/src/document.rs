//! A TOML file that is read into a type, with all its faults at once: unknown keys, missing ones, values of another type. What
//! is found wrong later is said by the key at which it stands ([`KeyFault`]), and the document knows its line and column.
//!
//! So a check needs no file: the rules inside a sealed verifier are compiled by the same code as `plan.toml`, and their faults
//! are told by key.

mod typed;

use crate::text::{Entry, Faults, File, Kind, Node, Piece, word};
use benchwright_base::Diagnostic;
use serde::de::DeserializeOwned;
use std::{cell::RefCell, collections::BTreeSet, fmt};

/// Which end of `key = value` a fault is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Spot {
    /// The key: it is unknown, or stands in the wrong place.
    Key,
    /// The value, or a byte of it if it is a string.
    Value(usize),
}

/// A fault of a document, by its key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyFault {
    /// The keys from the top of the document; an item of a list by its number from 0.
    pub path: Vec<String>,
    /// Which part of the line at that path.
    pub spot: Spot,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do about it, if there is something to say.
    pub help: Option<String>,
}

impl KeyFault {
    /// A fault of a value.
    pub fn new<'k>(path: impl IntoIterator<Item = &'k str>, message: impl Into<String>) -> KeyFault {
        let path = path.into_iter().map(str::to_owned).collect();
        KeyFault { path, spot: Spot::Value(0), message: message.into(), help: None }
    }

    /// The same fault at the key instead of the value.
    #[must_use]
    pub fn at_key(mut self) -> KeyFault {
        self.spot = Spot::Key;
        self
    }

    /// The same fault at a byte of the string.
    #[must_use]
    pub fn at_byte(mut self, byte: usize) -> KeyFault {
        self.spot = Spot::Value(byte);
        self
    }

    /// The same fault with its mend.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> KeyFault {
        self.help = Some(help.into());
        self
    }

    /// The same fault of a word that is not one of some names: the help is the nearest, or all if they are few.
    #[must_use]
    pub fn instead_of<'n>(mut self, wrong: &str, names: impl IntoIterator<Item = &'n str>) -> KeyFault {
        self.help = Faults::default().nearest(wrong, names);
        self
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |key: &str| key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let keys = self.path.iter().map(|key| if is_bare(key) { key.clone() } else { format!("{key:?}") });
        let keys = keys.collect::<Vec<_>>().join(".");
        if !keys.is_empty() {
            write!(f, "{keys}: ")?;
        }
        write!(f, "{}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// A TOML file with the place of everything in it, and the faults found so far.
pub struct Document<'a> {
    file: File<'a>,
    root: Node<'a>,
    faults: Faults,
    /// Values that were told to be wrong, by path. Nothing else is said of them or of what is in them.
    wrong: RefCell<BTreeSet<Vec<String>>>,
}

impl<'a> Document<'a> {
    /// Reads a file. What is not TOML is a fault, and the rest is read as well as it can be.
    pub fn new(path: &'a str, text: &'a str) -> Document<'a> {
        let faults = Faults::default();
        let (file, entries) = File::read(path, text, &faults);
        let root = Node::table(entries, text.len());
        Document { file, root, faults, wrong: RefCell::default() }
    }

    /// The whole document as a section, from which further ones are reached by key.
    pub fn root(&self) -> Section<'_> {
        Section { document: self, node: &self.root, path: Vec::new() }
    }

    /// The whole document as a type; nothing if what is wrong with it leaves no value to go on with.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        self.root().read()
    }

    /// Whether the file is TOML. Names that are missing from one that is not may stand in what could not be read.
    pub fn is_toml(&self) -> bool {
        self.file.errors.is_empty()
    }

    /// Whether no fault was found.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Adds faults that were found in what was read from it.
    pub fn add(&self, faults: impl IntoIterator<Item = KeyFault>) {
        for fault in faults {
            self.root().fault(fault);
        }
    }

    /// Whether the value at a path was told to be wrong and was read as an empty one, so that nothing follows from it.
    pub fn was_told(&self, path: &[&str]) -> bool {
        self.is_wrong(&path.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>())
    }

    /// All faults, by line.
    pub fn into_faults(self) -> Vec<Diagnostic> {
        self.faults.finish()
    }

    /// The entry or item at a path, as far as it is there.
    fn find(&self, path: &[String]) -> (Option<&Entry<'a>>, &Node<'a>, usize) {
        let (mut entry, mut node) = (None, &self.root);
        for (depth, step) in path.iter().enumerate() {
            let next = match &node.kind {
                Kind::Table(entries) => entries
                    .iter()
                    .find(|entry| matches!(&entry.key.kind, Kind::Text(key) if **key == **step))
                    .map(|entry| (Some(entry), &entry.value)),
                Kind::List(items) => step.parse().ok().and_then(|at: usize| items.get(at)).map(|item| (None, item)),
                _ => None,
            };
            match next {
                Some((found, value)) => (entry, node) = (found, value),
                None => return (entry, node, depth),
            }
        }
        (entry, node, path.len())
    }

    fn is_wrong(&self, path: &[String]) -> bool {
        let wrong = self.wrong.borrow();
        (0..=path.len()).any(|depth| wrong.contains(&path[..depth]))
    }

    /// Tells a fault unless something was told there before.
    fn tell(&self, fault: KeyFault) {
        if self.is_wrong(&fault.path) {
            return;
        }
        let (entry, node, depth) = self.find(&fault.path);
        let at = match (fault.spot, entry) {
            (Spot::Value(byte), _) if depth == fault.path.len() && node.entries().is_none() => {
                node.text(&self.file).map_or(node.at, |text: Piece<'_>| text.place(byte))
            }
            (_, Some(entry)) => entry.key.at,
            _ => node.at,
        };
        self.faults.add(&self.file, at, fault.message, fault.help);
    }

    /// Tells a fault and nothing more at its path.
    fn tell_once(&self, fault: KeyFault) {
        let path = fault.path.clone();
        self.tell(fault);
        self.wrong.borrow_mut().insert(path);
    }
}

/// A part of a document.
#[derive(Clone)]
pub struct Section<'d> {
    document: &'d Document<'d>,
    node: &'d Node<'d>,
    path: Vec<String>,
}

impl<'d> Section<'d> {
    /// A table or value in it.
    pub fn get(&self, key: &str) -> Option<Section<'d>> {
        let entry =
            self.node.entries()?.iter().find(|entry| matches!(&entry.key.kind, Kind::Text(k) if **k == *key))?;
        let mut path = self.path.clone();
        path.push(key.to_owned());
        Some(Section { document: self.document, node: &entry.value, path })
    }

    /// It as a whole number, if it is one.
    pub fn number(&self) -> Option<i64> {
        match self.node.kind {
            Kind::Int(number) => number,
            _ => None,
        }
    }

    /// It as text, if it is text.
    pub fn text(&self) -> Option<&'d str> {
        match &self.node.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// It as a type. Every unknown key, missing key and value of another type is told; what was told is read as if it were empty,
    /// so that the rest can be looked at. Nothing is given if a type takes no empty value.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        typed::read(self)
    }

    /// Adds a fault; its path begins here.
    pub fn fault(&self, mut fault: KeyFault) {
        fault.path.splice(0..0, self.path.iter().cloned());
        self.document.tell(fault);
    }

    /// What it is called in a message.
    fn name(&self) -> String {
        match self.path.last() {
            Some(last) if !last.bytes().all(|b| b.is_ascii_digit()) => word(last),
            Some(_) => "this item".to_owned(),
            None => "this file".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
