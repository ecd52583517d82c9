//! What one task gives to the rules of its workflow: the members of each sort, the sets and the facts. [`Bindings`] is the
//! document, with members by key; [`Bound`] is the same with members as numbers, which is what rules are evaluated with.

use super::{Plan, PlanFaults};
use crate::KeyFault;
use benchwright_base::{Date, FactId, SetId, Value};
use benchwright_expr::{Type, eval::Facts};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Unexpected, Visitor},
};
use std::{collections::BTreeMap, fmt};

/// A bound value: a number, or a member of a sort by its key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Binding {
    /// A number: units, days, minutes, cents.
    Number(i64),
    /// A member of a sort, by its key, such as `C-104`.
    Key(String),
}

/// A number is a number and a member is a text, so neither needs a tag.
impl Serialize for Binding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Binding::Number(number) => serializer.serialize_i64(*number),
            Binding::Key(key) => serializer.serialize_str(key),
        }
    }
}

impl<'de> Deserialize<'de> for Binding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Binding, D::Error> {
        struct NumberOrKey;
        impl Visitor<'_> for NumberOrKey {
            type Value = Binding;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or the key of a member")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Binding, E> {
                Ok(Binding::Number(number))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Binding, E> {
                let fits = i64::try_from(number).map(Binding::Number);
                fits.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
            fn visit_str<E: de::Error>(self, key: &str) -> Result<Binding, E> {
                Ok(Binding::Key(key.to_owned()))
            }
            fn visit_string<E: de::Error>(self, key: String) -> Result<Binding, E> {
                Ok(Binding::Key(key))
            }
        }
        deserializer.deserialize_any(NumberOrKey)
    }
}

/// What a task binds: the members of each sort by key, the sets, and the facts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Bindings {
    /// Day 0 as a date, such as `2032-01-19`: days in facts and rules are counted from it.
    pub anchor: String,
    /// The members of each sort, by the key of their row or their text.
    pub members: BTreeMap<String, Vec<String>>,
    /// The members of each set.
    pub sets: BTreeMap<String, Vec<Binding>>,
    /// The facts: arguments joined by `|`, and the value.
    pub facts: BTreeMap<String, BTreeMap<String, Binding>>,
}

impl Bindings {
    /// States a fact whose value is a number: `fact("moq", &["V-7", "PKM-F171"], 20)`.
    pub fn fact(&mut self, name: &str, arguments: &[&str], value: i64) {
        self.state(name, arguments, Binding::Number(value));
    }

    /// States a fact whose value is a member.
    pub fn fact_key(&mut self, name: &str, arguments: &[&str], value: &str) {
        self.state(name, arguments, Binding::Key(value.to_owned()));
    }

    fn state(&mut self, name: &str, arguments: &[&str], value: Binding) {
        self.facts.entry(name.to_owned()).or_default().insert(arguments.join("|"), value);
    }

    /// Makes a set of members.
    pub fn set<'k>(&mut self, name: &str, keys: impl IntoIterator<Item = &'k str>) {
        let keys = keys.into_iter().map(|key| Binding::Key(key.to_owned())).collect();
        self.sets.insert(name.to_owned(), keys);
    }

    /// Makes a set of numbers.
    pub fn numbers(&mut self, name: &str, numbers: impl IntoIterator<Item = i64>) {
        self.sets.insert(name.to_owned(), numbers.into_iter().map(Binding::Number).collect());
    }
}

/// The table of a fact.
#[derive(Clone, Debug)]
pub struct FactTable {
    /// Arguments and value, members by their number from 1.
    pub rows: BTreeMap<Vec<i64>, i64>,
    /// The value where none is stated.
    pub otherwise: Option<i64>,
    /// Whether it is a step function of its last argument.
    pub steps: bool,
    /// The type of its value.
    pub value: Type,
}

impl FactTable {
    /// The value at some arguments.
    pub fn at(&self, arguments: &[i64]) -> Option<i64> {
        let found = if self.steps {
            let (last, fixed) = arguments.split_last()?;
            let from: Vec<i64> = fixed.iter().copied().chain([i64::MIN]).collect();
            let to: Vec<i64> = fixed.iter().copied().chain([*last]).collect();
            self.rows.range(from..=to).next_back().map(|(_, value)| *value)
        } else {
            self.rows.get(arguments).copied()
        };
        found.or(self.otherwise)
    }
}

/// Bindings resolved against a plan.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Day 0, from which days in facts and rules are counted.
    pub anchor: Date,
    /// The keys of each sort's members, in order; a member's number is its place from 1.
    pub members: Vec<Vec<String>>,
    /// The members of each set; a [`SetId`] is a place in this list.
    pub sets: Vec<Vec<Value>>,
    /// The table of each fact; a [`FactId`] is a place in this list.
    pub facts: Vec<FactTable>,
}

impl Bound {
    /// Resolves the keys of a task's bindings to numbers; all faults are told at once.
    pub fn new(plan: &Plan, bindings: &Bindings) -> Result<Bound, PlanFaults> {
        let mut faults = Vec::new();
        let Some(anchor) = Date::parse(&bindings.anchor) else {
            let fault = KeyFault::new(["anchor"], format!("`{}` is no date", bindings.anchor));
            return Err(PlanFaults(vec![fault]));
        };
        let none = Vec::new();
        let members: Vec<Vec<String>> =
            plan.sorts.iter().map(|(name, _)| bindings.members.get(name).unwrap_or(&none).clone()).collect();
        let number = |binding: &Binding, ty: Type| -> Result<i64, String> {
            match (binding, ty) {
                (Binding::Number(n), Type::Int | Type::Money | Type::Bool) => Ok(*n),
                (Binding::Key(key), Type::Ref(sort)) => {
                    let at = members[sort.index()].iter().position(|known| known == key);
                    at.map(|at| at as i64 + 1).ok_or_else(|| format!("`{key}` is no {}", plan.sorts[sort.index()].0))
                }
                (Binding::Key(text), Type::Int | Type::Money) => {
                    text.parse().map_err(|_| format!("`{text}` is no number"))
                }
                (binding, ty) => Err(format!("{binding:?} is no {ty:?}")),
            }
        };
        let mut sets = Vec::new();
        for (name, ty) in &plan.sets {
            let mut set = Vec::new();
            for member in bindings.sets.get(name).into_iter().flatten() {
                match number(member, *ty) {
                    Ok(n) => set.push(as_value(n, *ty)),
                    Err(why) => faults.push(KeyFault::new(["sets", name], why)),
                }
            }
            sets.push(set);
        }
        let mut facts = Vec::new();
        for fact in &plan.facts {
            let mut rows = BTreeMap::new();
            for (arguments, value) in bindings.facts.get(&fact.name).into_iter().flatten() {
                let keys: Vec<&str> = if fact.arguments.is_empty() { vec![] } else { arguments.split('|').collect() };
                if keys.len() != fact.arguments.len() {
                    let message = format!("`{}` takes {} arguments", fact.name, fact.arguments.len());
                    faults.push(KeyFault::new(["facts", &fact.name, arguments], message));
                    continue;
                }
                let at = keys.iter().zip(&fact.arguments).map(|(key, ty)| number(&Binding::Key((*key).into()), *ty));
                match (at.collect::<Result<Vec<i64>, _>>(), number(value, fact.value)) {
                    (Ok(at), Ok(value)) => {
                        rows.insert(at, value);
                    }
                    (Err(why), _) | (_, Err(why)) => {
                        faults.push(KeyFault::new(["facts", &fact.name, arguments], why));
                    }
                }
            }
            facts.push(FactTable { rows, otherwise: fact.otherwise, steps: fact.steps, value: fact.value });
        }
        for name in bindings.facts.keys().filter(|name| !plan.facts.iter().any(|fact| fact.name == **name)) {
            let fault = KeyFault::new(["facts", name], format!("there is no fact `{name}`"));
            faults.push(fault.instead_of(name, plan.facts.iter().map(|fact| &*fact.name)));
        }
        if faults.is_empty() { Ok(Bound { anchor, members, sets, facts }) } else { Err(PlanFaults(faults)) }
    }

    /// The key of a member, or its number if it is none of the task's.
    pub fn key_of(&self, sort: usize, member: u32) -> String {
        let known = (member as usize).checked_sub(1).and_then(|at| self.members[sort].get(at));
        known.cloned().unwrap_or_else(|| format!("?{member}"))
    }

    /// A number or key as a value of a type; `None` where it is none.
    pub fn value(&self, binding: &Binding, ty: Type) -> Option<Value> {
        match (binding, ty) {
            (Binding::Number(n), Type::Int | Type::Money | Type::Bool) => Some(as_value(*n, ty)),
            (Binding::Key(key), Type::Ref(sort)) => self.member(sort.index(), key).map(Value::Ref),
            (Binding::Key(text), Type::Text) => Some(Value::text(&**text)),
            _ => None,
        }
    }

    /// The number of a member.
    pub fn member(&self, sort: usize, key: &str) -> Option<u32> {
        self.members[sort].iter().position(|known| known == key).map(|at| at as u32 + 1)
    }
}

/// A bound number as a value of its type.
pub(crate) fn as_value(number: i64, ty: Type) -> Value {
    match ty {
        Type::Money => Value::Money(number),
        Type::Ref(_) => u32::try_from(number).map_or(Value::Null, Value::Ref),
        Type::Bool => Value::Bool(number != 0),
        _ => Value::Int(number),
    }
}

impl Facts for Bound {
    fn fact(&self, fact: FactId, arguments: &[Value]) -> Value {
        let table = &self.facts[fact.index()];
        let number = |value: &Value| value.as_ref_id().map(i64::from).or(value.as_number());
        let found = match arguments {
            [] => table.at(&[]),
            [a] => number(a).and_then(|a| table.at(&[a])),
            [a, b] => number(a).zip(number(b)).and_then(|(a, b)| table.at(&[a, b])),
            many => many.iter().map(number).collect::<Option<Vec<i64>>>().and_then(|many| table.at(&many)),
        };
        found.map_or(Value::Null, |n| as_value(n, table.value))
    }
    fn member(&self, set: SetId, at: usize) -> Option<Value> {
        self.sets[set.index()].get(at).cloned()
    }
}
