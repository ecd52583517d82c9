//! Reads a section into a type without stopping at the first fault. A value of the wrong type is told and read as an empty one.
//! What only the type itself can refuse (a missing key, a text that is no digest) stops the reading, which then begins again with
//! that value taken as empty.

use super::{KeyFault, Section};
use crate::text::{Entry, Kind, Node, word};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
    value::{StrDeserializer, StringDeserializer},
};
use std::{fmt, marker::PhantomData};

/// Reading begins again at most so many times.
const MOST_ROUNDS: usize = 200;

pub(super) fn read<T: DeserializeOwned>(section: &Section<'_>) -> Option<T> {
    for _ in 0..MOST_ROUNDS {
        // A round ends at the first thing that the type itself refuses. That is noted, and the next round reads it as empty and gets
        // further; a round that noted nothing new cannot.
        let told = section.document.wrong.borrow().len();
        match Reader(section.clone()).of(PhantomData::<T>) {
            Ok(value) => return Some(value),
            Err(_) if section.document.wrong.borrow().len() == told => return None,
            Err(_) => {}
        }
    }
    None
}

/// Why a type took no value.
#[derive(Debug)]
enum Refused {
    /// It has no value for a key.
    Missing(&'static str),
    /// In its own words.
    Because(String),
    /// It was told.
    Told,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Missing(key) => write!(f, "`{key}` is missing"),
            Refused::Because(why) => write!(f, "{why}"),
            Refused::Told => write!(f, "it was told"),
        }
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(why: T) -> Refused {
        Refused::Because(why.to_string())
    }
    fn missing_field(field: &'static str) -> Refused {
        Refused::Missing(field)
    }
}

/// A section as a source of values.
struct Reader<'d>(Section<'d>);

impl<'d> Reader<'d> {
    fn is_wrong(&self) -> bool {
        self.0.document.is_wrong(&self.0.path)
    }

    /// A value of a type, which may refuse what was read.
    fn of<'de, T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refused> {
        let result = seed.deserialize(Reader(self.0.clone()));
        self.told(result)
    }

    fn kind(&self) -> &'d Kind<'d> {
        &self.0.node.kind
    }

    /// Tells that another kind of value was expected.
    fn other(&self, expected: &str) {
        let message = format!("expected {expected} for {}", self.0.name());
        self.0.document.tell_once(KeyFault::new(self.0.path.iter().map(|key| &**key), message));
    }

    /// Tells what a type refused.
    fn told<V>(&self, result: Result<V, Refused>) -> Result<V, Refused> {
        let path = || self.0.path.iter().map(|key| &**key);
        match &result {
            Err(Refused::Missing(key)) => {
                // Noted under the key's own path, so that the next round has an empty value for it.
                let fault = KeyFault::new(path(), format!("{} has no `{key}`", self.0.name())).at_key();
                // What was not read may have it.
                if self.0.document.is_toml() {
                    self.0.document.tell(fault);
                }
                let path = path().chain([*key]).map(str::to_owned).collect();
                self.0.document.wrong.borrow_mut().insert(path);
            }
            Err(Refused::Because(why)) => self.0.document.tell_once(KeyFault::new(path(), why.clone())),
            _ => return result,
        }
        Err(Refused::Told)
    }

    fn integer<'de, V: Visitor<'de>>(self, low: i64, high: i64, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::Int(Some(number)) if (low..=high).contains(number) => {
                return visitor.visit_i64(*number);
            }
            Kind::Int(_) if low == 0 => self.other("a whole number that is not negative"),
            Kind::Int(_) => self.other("a smaller whole number"),
            _ => self.other("a whole number"),
        }
        visitor.visit_i64(0)
    }
}

/// Forms that are read alike.
macro_rules! alike {
    ($($name:ident as $other:ident),*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            self.$other(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.is_wrong() {
            return Empty.deserialize_any(visitor);
        }
        match self.kind() {
            Kind::Text(_) | Kind::Instant(_) => self.deserialize_string(visitor),
            Kind::Int(_) => self.deserialize_i64(visitor),
            Kind::Bool(_) => self.deserialize_bool(visitor),
            Kind::Float(_) => self.deserialize_f64(visitor),
            Kind::List(_) => self.deserialize_seq(visitor),
            Kind::Table(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::Text(text) => {
                return visitor.visit_str(text);
            }
            Kind::Instant(text) => {
                return visitor.visit_str(text);
            }
            _ => self.other("text"),
        }
        visitor.visit_str("")
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => visitor.visit_bool(false),
            Kind::Bool(truth) => visitor.visit_bool(*truth),
            _ => {
                self.other("`true` or `false`");
                visitor.visit_bool(false)
            }
        }
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(i8::MIN.into(), i8::MAX.into(), visitor)
    }
    fn deserialize_i16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(i16::MIN.into(), i16::MAX.into(), visitor)
    }
    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(i32::MIN.into(), i32::MAX.into(), visitor)
    }
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(i64::MIN, i64::MAX, visitor)
    }
    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(0, u8::MAX.into(), visitor)
    }
    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(0, u16::MAX.into(), visitor)
    }
    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(0, u32::MAX.into(), visitor)
    }
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.integer(0, i64::MAX, visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => visitor.visit_f64(0.0),
            Kind::Float(Some(number)) => visitor.visit_f64(*number),
            Kind::Int(Some(number)) => visitor.visit_i64(*number),
            _ => {
                self.other("a number");
                visitor.visit_f64(0.0)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.is_wrong() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::List(items) => {
                return visitor.visit_seq(Items { of: &self.0, items, at: 0 });
            }
            _ => self.other("a list"),
        }
        visitor.visit_seq(Empties(0))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::List(items) if items.len() == len => {
                return visitor.visit_seq(Items { of: &self.0, items, at: 0 });
            }
            _ => self.other(&format!("a list of {len}")),
        }
        visitor.visit_seq(Empties(len))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::Table(entries) => {
                return visitor.visit_map(Entries { of: &self.0, entries, fields: None, missing: Vec::new(), at: 0 });
            }
            _ => self.other("a table"),
        }
        visitor.visit_map(EmptyFields(&[], 0))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::Table(entries) => {
                // A key that was told to be missing is read as an empty value.
                let is_told = |field: &str| {
                    let path = self.0.path.iter().cloned().chain([field.to_owned()]).collect::<Vec<_>>();
                    self.0.get(field).is_none() && self.0.document.wrong.borrow().contains(&path)
                };
                let missing = fields.iter().copied().filter(|field| is_told(field)).collect();
                return visitor.visit_map(Entries { of: &self.0, entries, fields: Some(fields), missing, at: 0 });
            }
            _ => self.other("a table"),
        }
        visitor.visit_map(EmptyFields(fields, 0))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.kind() {
            _ if self.is_wrong() => {}
            Kind::Text(text) if variants.contains(&&**text) => {
                return visitor.visit_enum(StrDeserializer::<Refused>::new(text));
            }
            Kind::Text(text) => {
                let message = format!("unknown word {} for {}", word(text), self.0.name());
                let fault = KeyFault::new(self.0.path.iter().map(|key| &**key), message);
                self.0.document.tell_once(fault.instead_of(text, variants.iter().copied()));
            }
            _ => self.other("a word"),
        }
        Empty.deserialize_enum(name, variants, visitor)
    }

    alike! {
        deserialize_str as deserialize_string, deserialize_char as deserialize_string,
        deserialize_identifier as deserialize_string, deserialize_f32 as deserialize_f64,
        deserialize_bytes as deserialize_seq, deserialize_byte_buf as deserialize_seq,
        deserialize_unit as deserialize_any, deserialize_ignored_any as deserialize_any
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_any(visitor)
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_tuple(len, visitor)
    }
}

/// The items of a list.
struct Items<'r, 'd> {
    of: &'r Section<'d>,
    items: &'d [Node<'d>],
    at: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        let Some(node) = self.items.get(self.at) else { return Ok(None) };
        let mut path = self.of.path.clone();
        path.push(self.at.to_string());
        self.at += 1;
        Reader(Section { document: self.of.document, node, path }).of(seed).map(Some)
    }
}

/// The entries of a table; without those that a type does not know, which are told.
struct Entries<'r, 'd> {
    of: &'r Section<'d>,
    entries: &'d [Entry<'d>],
    fields: Option<&'static [&'static str]>,
    missing: Vec<&'static str>,
    at: usize,
}

impl Entries<'_, '_> {
    fn is_known(&self, entry: &Entry<'_>, key: &str) -> bool {
        let Some(fields) = self.fields else { return true };
        let known = fields.contains(&key);
        if !known && !self.of.document.file.is_damaged(entry) {
            let path = self.of.path.iter().map(|key| &**key).chain([key]);
            let fault = KeyFault::new(path, format!("unknown key {}", word(key))).at_key();
            self.of.document.tell_once(fault.instead_of(key, fields.iter().copied()));
        }
        known
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        while let Some(entry) = self.entries.get(self.at) {
            let Kind::Text(key) = &entry.key.kind else { break };
            if self.is_known(entry, key) {
                return seed.deserialize(StringDeserializer::<Refused>::new(key.clone().into_owned())).map(Some);
            }
            self.at += 1;
        }
        match self.missing.last() {
            Some(field) => seed.deserialize(StrDeserializer::<Refused>::new(field)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        let Some(entry) = self.entries.get(self.at) else {
            self.missing.pop();
            return seed.deserialize(Empty);
        };
        self.at += 1;
        let mut path = self.of.path.clone();
        if let Kind::Text(key) = &entry.key.kind {
            path.push(key.clone().into_owned());
        }
        let document = self.of.document;
        if entry.value.entries().is_none() && document.file.is_damaged(entry) {
            document.wrong.borrow_mut().insert(path.clone());
        }
        Reader(Section { document, node: &entry.value, path }).of(seed)
    }
}

/// A value in place of one that was told to be wrong: whatever is asked for, and as little of it as there can be.
struct Empty;

impl<'de> Deserializer<'de> for Empty {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_bool(false)
    }
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_i64(0)
    }
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_f64(0.0)
    }
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_str("")
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_none()
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_seq(Empties(0))
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_seq(Empties(len))
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_seq(Empties(len))
    }
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_map(EmptyFields(&[], 0))
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_map(EmptyFields(fields, 0))
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_enum(StrDeserializer::<Refused>::new(variants.first().copied().unwrap_or_default()))
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_unit()
    }
    alike! {
        deserialize_i8 as deserialize_i64, deserialize_i16 as deserialize_i64, deserialize_i32 as deserialize_i64,
        deserialize_u8 as deserialize_i64, deserialize_u16 as deserialize_i64, deserialize_u32 as deserialize_i64,
        deserialize_u64 as deserialize_i64, deserialize_f32 as deserialize_f64, deserialize_str as deserialize_string,
        deserialize_char as deserialize_string, deserialize_identifier as deserialize_string,
        deserialize_bytes as deserialize_seq, deserialize_byte_buf as deserialize_seq,
        deserialize_unit as deserialize_any, deserialize_ignored_any as deserialize_any
    }
}

/// So many empty values.
struct Empties(usize);

impl<'de> SeqAccess<'de> for Empties {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        let Some(left) = self.0.checked_sub(1) else { return Ok(None) };
        self.0 = left;
        seed.deserialize(Empty).map(Some)
    }
}

/// An empty value for each key of a type.
struct EmptyFields(&'static [&'static str], usize);

impl<'de> MapAccess<'de> for EmptyFields {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        let Some(field) = self.0.get(self.1) else { return Ok(None) };
        self.1 += 1;
        seed.deserialize(StrDeserializer::<Refused>::new(field)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        seed.deserialize(Empty)
    }
}
