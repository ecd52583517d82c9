//! Records as tools answer them, page by page, with fields taken out or a word on what is wrong with them.

use super::phrase::fixed;
use benchwright_base::Date;
use benchwright_world::ToolAccess;
use serde_json::{Value as Json, json};

/// Records that are asked for at a time.
const PAGE: usize = 200;

/// A record of a model.
#[derive(Clone, Debug)]
pub(super) struct Record {
    model: &'static str,
    fields: Json,
}

/// All records of a model that meet some conditions, by id.
pub(super) fn all(
    access: &mut dyn ToolAccess,
    model: &'static str,
    conditions: &Json,
    fields: &[&str],
) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    loop {
        let page = json!({
            "domain": conditions, "fields": fields, "order": "id", "offset": records.len(), "limit": PAGE,
        });
        let answer = access.ask(&format!("{model}_search_read"), page)?;
        let found = answer.as_array().ok_or_else(|| format!("{model}: the answer is no list"))?;
        records.extend(found.iter().map(|fields| Record { model, fields: fields.clone() }));
        if found.len() < PAGE {
            return Ok(records);
        }
    }
}

/// The one record that meets some conditions.
pub(super) fn one(
    access: &mut dyn ToolAccess,
    model: &'static str,
    conditions: &Json,
    fields: &[&str],
) -> Result<Record, String> {
    let found = all(access, model, conditions, fields)?;
    let count = found.len();
    let mut found = found.into_iter();
    match (found.next(), count) {
        (Some(record), 1) => Ok(record),
        _ => Err(format!("{count} records of {model} instead of one meet {conditions}")),
    }
}

impl Record {
    fn odd(&self, field: &str) -> String {
        format!("{} {}: {field} is {}", self.model, self.fields["id"], self.fields[field])
    }

    pub(super) fn id(&self) -> Result<i64, String> {
        self.fields["id"].as_i64().ok_or_else(|| self.odd("id"))
    }

    /// A text; an empty field is an empty text.
    pub(super) fn text(&self, field: &str) -> Result<&str, String> {
        match &self.fields[field] {
            Json::String(text) => Ok(text),
            Json::Bool(false) => Ok(""),
            _ => Err(self.odd(field)),
        }
    }

    /// A text that is not empty.
    pub(super) fn name(&self, field: &str) -> Result<String, String> {
        let text = self.text(field)?;
        if text.is_empty() { Err(self.odd(field)) } else { Ok(text.to_owned()) }
    }

    /// The record that a field leads to.
    pub(super) fn link(&self, field: &str) -> Result<i64, String> {
        self.fields[field][0].as_i64().ok_or_else(|| self.odd(field))
    }

    /// The records that a field leads to.
    pub(super) fn links(&self, field: &str) -> Result<Vec<i64>, String> {
        let ids = self.fields[field].as_array().ok_or_else(|| self.odd(field))?;
        ids.iter().map(|id| id.as_i64().ok_or_else(|| self.odd(field))).collect()
    }

    fn number(&self, field: &str, decimals: usize) -> Result<i64, String> {
        let value = &self.fields[field];
        let number = value.is_number().then(|| fixed(&value.to_string(), decimals)).flatten();
        number.ok_or_else(|| self.odd(field))
    }

    /// A number of units, days or minutes.
    pub(super) fn whole(&self, field: &str) -> Result<i64, String> {
        self.number(field, 0)
    }

    /// Money, in cents.
    pub(super) fn cents(&self, field: &str) -> Result<i64, String> {
        self.number(field, 2)
    }

    /// A day, counted from today.
    pub(super) fn day(&self, field: &str, today: Date) -> Result<i64, String> {
        let text = self.text(field)?;
        let date = text.get(..10).and_then(Date::parse).ok_or_else(|| self.odd(field))?;
        Ok(i64::from(date.0) - i64::from(today.0))
    }

    /// Whether a field has a value.
    pub(super) fn is(&self, field: &str, value: &Json) -> bool {
        match (&self.fields[field], value) {
            (Json::Number(found), Json::Number(wanted)) => found.as_f64() == wanted.as_f64(),
            (found, wanted) => found == wanted,
        }
    }

    /// Refuses a record whose field does not have the value that alone is understood.
    pub(super) fn must(&self, field: &str, value: &Json) -> Result<(), String> {
        if self.is(field, value) { Ok(()) } else { Err(format!("{}, not {value}", self.odd(field))) }
    }
}
