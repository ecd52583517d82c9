//! Scripts: calls to be made in order, each as model, method and named arguments. Rows are named by key and earlier answers
//! by name, so that a script says the same on every system of record, whatever ids it gives. The oracle of a task is one.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// One call of a script: what is called, with what, and what its answer is to be known by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The model, such as `sale.order`.
    pub model: String,
    /// The method, such as `create`.
    pub method: String,
    /// Named arguments. `{"$": "key"}` stands for what the key is bound to: the id of a row of the first state by its key, or
    /// what an earlier call answered. `{"$join": ["a", "b"]}` stands for texts joined by a comma and a space.
    pub args: Json,
    /// The key its answer is bound to: the first id of a list, or the field `take` of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<String>,
    /// The field that is taken from the first row of the answer; the last entry where it is a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
    /// The name whose rows the call is made for, one after the other; in its arguments each is `it`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// What is known once the answer is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finds: Vec<Find>,
    /// Why the call is made, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The arguments that nobody asked for, and that a rule wants in a call that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ruled: Vec<String>,
}

/// Something that a script finds out: a name for what it has read so far. The expressions are in the language of domains, over the rows
/// that answers have shown and the names that are known already.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// The name.
    pub name: String,
    /// The rows to choose from, `t(…) where …`, or a value.
    pub of: String,
    /// Which of them.
    pub pick: FindPick,
    /// The order that the first or last are by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How many of the first or last; a single row if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// Which of some rows are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindPick {
    /// The only one.
    The,
    /// All of them.
    All,
    /// From the front of the order.
    First,
    /// From its end.
    Last,
    /// Whichever comes first.
    Any,
    /// It is no row but a value.
    Value,
}

/// A value that a request gives, under a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenFact {
    /// The name.
    pub name: String,
    /// Its type, in the notation of fields.
    #[serde(rename = "type")]
    pub ty: String,
    /// The value, as it is written in snapshots.
    pub value: Json,
}

/// Calls to be made in order, such as an oracle's.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Script {
    /// The calls; a later one may name what an earlier one answered.
    pub steps: Vec<Step>,
    /// Values that the request gives. A script that has some, or that finds something out, is played with nothing but what it has read:
    /// in its arguments `{"$": "case.product"}` stands for an expression over names and rows that answers have shown, and
    /// `{"$text": ["Waits for ", {"$": "incident.number"}]}` for a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<GivenFact>,
    /// Whether it is played so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads: bool,
}

/// What keys are bound to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoundKeys {
    bound: BTreeMap<String, Json>,
}

/// Why a script could not go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScriptError {
    /// A key is bound to nothing.
    #[error("`{0}` is bound to nothing")]
    Unbound(String),
    /// An answer has not what was to be bound.
    #[error("the answer of {call} has no {what}: {answer}")]
    Answer {
        /// The model and method that were called.
        call: String,
        /// What was looked for.
        what: String,
        /// The answer, as JSON.
        answer: String,
    },
}

impl Step {
    /// A call whose answer is not needed.
    pub fn call(model: &str, method: &str, args: Json) -> Step {
        Step {
            model: model.to_owned(),
            method: method.to_owned(),
            args,
            bind: None,
            take: None,
            each: None,
            finds: Vec::new(),
            because: None,
            ruled: Vec::new(),
        }
    }

    /// The same call with its answer bound to a key.
    #[must_use]
    pub fn bind(mut self, key: impl Into<String>) -> Step {
        self.bind = Some(key.into());
        self
    }

    /// The same call, with why it is made.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Step {
        self.because = Some(why.into());
        self
    }

    /// The same call, taking a field of the first row of its answer.
    #[must_use]
    pub fn take(mut self, field: &str) -> Step {
        self.take = Some(field.to_owned());
        self
    }

    /// The name of the tool that this call is; a call without a method is of the tool that is named like the model.
    pub fn tool(&self) -> String {
        if self.method.is_empty() {
            return self.model.clone();
        }
        format!("{}_{}", self.model.replace('.', "_"), self.method)
    }
}

/// What a key is bound to, as an argument.
pub fn at(key: &str) -> Json {
    Json::Object(Map::from_iter([("$".to_owned(), Json::String(key.to_owned()))]))
}

/// Bound texts joined, as an argument.
pub fn joined<'k>(keys: impl IntoIterator<Item = &'k str>) -> Json {
    let keys = keys.into_iter().map(|key| Json::String(key.to_owned())).collect();
    Json::Object(Map::from_iter([("$join".to_owned(), Json::Array(keys))]))
}

impl BoundKeys {
    /// With the ids of the first state's rows by key.
    pub fn new(ids: impl IntoIterator<Item = (String, u32)>) -> BoundKeys {
        BoundKeys { bound: ids.into_iter().map(|(key, id)| (key, Json::from(id))).collect() }
    }

    /// Binds a key to a value; whatever it was bound to before is forgotten.
    pub fn bind(&mut self, key: &str, value: Json) {
        self.bound.insert(key.to_owned(), value);
    }

    /// What a key is bound to.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.bound.get(key)
    }

    /// Arguments with every placeholder filled in.
    pub fn fill(&self, args: &Json) -> Result<Json, ScriptError> {
        let find = |key: &str| self.bound.get(key).cloned().ok_or_else(|| ScriptError::Unbound(key.to_owned()));
        match args {
            Json::Object(map) => match (map.len(), map.get("$"), map.get("$join")) {
                (1, Some(Json::String(key)), _) => find(key),
                (1, _, Some(Json::Array(keys))) => {
                    let mut texts = Vec::new();
                    for key in keys.iter().filter_map(Json::as_str) {
                        texts.push(find(key)?.as_str().unwrap_or_default().to_owned());
                    }
                    Ok(Json::String(texts.join(", ")))
                }
                _ => map.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?))).collect(),
            },
            Json::Array(list) => list.iter().map(|value| self.fill(value)).collect(),
            other => Ok(other.clone()),
        }
    }

    /// Binds what a step's answer holds.
    pub fn note(&mut self, step: &Step, answer: &Json) -> Result<(), ScriptError> {
        let Some(key) = &step.bind else { return Ok(()) };
        let missing = |what: &str| ScriptError::Answer {
            call: format!("{}/{}", step.model, step.method),
            what: what.to_owned(),
            answer: answer.to_string(),
        };
        let first = match answer {
            Json::Array(list) => list.first().ok_or_else(|| missing("entry"))?,
            one => one,
        };
        let taken = match &step.take {
            None => first.clone(),
            Some(field) => match first.get(field).ok_or_else(|| missing(field))? {
                Json::Array(list) => list.last().ok_or_else(|| missing(field))?.clone(),
                one => one.clone(),
            },
        };
        self.bound.insert(key.clone(), taken);
        Ok(())
    }
}
