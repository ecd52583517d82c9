//! JSON as a tree that remembers what a reader of tables must tell: keys that come twice and what is nested too deep, each with its path.
//! It has a limit of depth and of size.

use crate::{What, fault::Notes};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// How many lists and objects may stand inside each other: documents, each with the list of its lines.
pub(super) const DEPTH: usize = 4;
/// The most letters of a key that a path tells.
const LETTERS: usize = 64;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tree {
    Null,
    Truth(bool),
    Whole(i64),
    /// A whole number of more than 63 bits.
    Large(u64),
    /// Any number with a point or an exponent, or of more than 64 bits.
    Fraction(f64),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
    /// What was nested too deep, and told.
    Cut,
}

impl Tree {
    /// What this is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Tree::Null => "null",
            Tree::Truth(_) => "a truth value",
            Tree::Whole(_) => "a whole number",
            Tree::Large(_) => "a number of more than 63 bits",
            Tree::Fraction(_) => "a number with a fraction or an exponent, or of more than 64 bits",
            Tree::Text(_) => "a text",
            Tree::List(_) => "a list",
            Tree::Object(_) => "an object",
            Tree::Cut => "too deep",
        }
    }
}

/// A step from a list or an object to what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Where something stands.
#[derive(Clone, Default)]
pub(super) struct Path(Vec<Step>);

impl Path {
    pub(super) fn key(&self, key: &str) -> Path {
        self.then(Step::Key(key.chars().take(LETTERS).collect()))
    }

    pub(super) fn index(&self, index: usize) -> Path {
        self.then(Step::Index(index))
    }

    fn then(&self, step: Step) -> Path {
        Path(self.0.iter().cloned().chain([step]).collect())
    }

    /// Notes a fault here: the first key before any list is the table, the first place in a list the row, the key after it the column.
    pub(super) fn tell(&self, notes: &mut Notes, what: What) {
        let row = self.0.iter().position(|step| matches!(step, Step::Index(_)));
        let number = row.and_then(|at| match &self.0[at] {
            Step::Index(index) => Some(index + 1),
            Step::Key(_) => None,
        });
        let key = |step: &Step| match step {
            Step::Key(key) => Some(key.clone()),
            Step::Index(_) => None,
        };
        let sheet = self.0.first().and_then(key);
        let column = row.and_then(|at| self.0.get(at + 1)).and_then(key);
        notes.turn_to(sheet.as_deref());
        notes.tell(number, column.as_deref(), what);
        notes.turn_to(None);
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|step| match step {
            Step::Key(key) => write!(f, ".{key}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

/// Reads a text of at most so many values. What is wrong with its form is noted; what is no JSON ends it.
pub(super) fn parse(text: &str, most: usize, notes: &mut Notes) -> Option<Tree> {
    let mut state = State { notes, left: most, most, too_many: false };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Seed { state: &mut state, path: &Path::default(), depth: 0 }.deserialize(&mut deserializer);
    let read = read.and_then(|tree| deserializer.end().map(|()| tree));
    match read {
        Ok(tree) => Some(tree),
        Err(_) if state.too_many => {
            notes.whole(What::TooMany { of: "values", most });
            None
        }
        Err(error) => {
            notes.whole(What::NotJson(error.to_string()));
            None
        }
    }
}

struct State<'a> {
    notes: &'a mut Notes,
    left: usize,
    most: usize,
    too_many: bool,
}

struct Seed<'a, 'b> {
    state: &'a mut State<'b>,
    path: &'a Path,
    /// How many lists and objects this stands in.
    depth: usize,
}

impl Seed<'_, '_> {
    /// Whether a list or an object may begin here.
    fn is_too_deep(&mut self) -> bool {
        let is_too_deep = self.depth == DEPTH;
        if is_too_deep {
            let what = What::TooDeep { path: self.path.to_string(), most: DEPTH };
            self.path.tell(self.state.notes, what);
        }
        is_too_deep
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        let Some(left) = self.state.left.checked_sub(1) else {
            self.state.too_many = true;
            return Err(D::Error::custom(format_args!("there are more than {} values", self.state.most)));
        };
        self.state.left = left;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Tree, E> {
        Ok(Tree::Truth(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(i64::try_from(number).map_or(Tree::Large(number), Tree::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Fraction(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Tree, A::Error> {
        if self.is_too_deep() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Tree::Cut);
        }
        let mut values = Vec::new();
        loop {
            let path = self.path.index(values.len());
            let seed = Seed { state: &mut *self.state, path: &path, depth: self.depth + 1 };
            match list.next_element_seed(seed)? {
                Some(value) => values.push(value),
                None => return Ok(Tree::List(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Tree, A::Error> {
        if self.is_too_deep() {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Tree::Cut);
        }
        let mut seen = std::collections::BTreeSet::new();
        let mut entries = Vec::new();
        while let Some(key) = object.next_key::<String>()? {
            let path = self.path.key(&key);
            let seed = Seed { state: &mut *self.state, path: &path, depth: self.depth + 1 };
            let value = object.next_value_seed(seed)?;
            if seen.insert(key.clone()) {
                entries.push((key, value));
            } else {
                path.tell(self.state.notes, What::KeyTwice { path: path.to_string() });
            }
        }
        Ok(Tree::Object(entries))
    }
}
