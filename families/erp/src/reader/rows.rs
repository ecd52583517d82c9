//! Records as tools answer them: pages put together, fields taken out with a word on what is wrong with them.

use super::figures::decimal;
use benchwright_base::Date;
use benchwright_project::ToolAccess;
use serde_json::{Map, Value as Json, json};

/// Records that are asked for at a time.
const PAGE: usize = 100;

/// A record.
pub(super) struct Row {
    model: String,
    fields: Map<String, Json>,
}

/// Finds all records of a model that meet the conditions, in the order of their ids.
pub(super) fn find(
    access: &mut dyn ToolAccess,
    model: &str,
    conditions: Json,
    fields: &[&str],
) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let page = json!({
            "domain": conditions, "fields": fields, "order": "id", "offset": rows.len(), "limit": PAGE
        });
        let answer = access.ask(&format!("{model}_search_read"), page)?;
        let Json::Array(page) = answer else { return Err(format!("{model}: the answer is no list")) };
        let count = page.len();
        for row in page {
            let Json::Object(fields) = row else { return Err(format!("{model}: an answer holds what is no record")) };
            let row = Row { model: model.to_owned(), fields };
            if rows.last().map(Row::id).transpose()? >= Some(row.id()?) {
                return Err(format!("{model}: the pages overlap"));
            }
            rows.push(row);
        }
        if count < PAGE {
            return Ok(rows);
        }
    }
}

/// Finds the one record that meets the conditions.
pub(super) fn find_one(
    access: &mut dyn ToolAccess,
    model: &str,
    conditions: Json,
    fields: &[&str],
) -> Result<Row, String> {
    let mut rows = find(access, model, conditions.clone(), fields)?;
    match (rows.pop(), rows.len()) {
        (Some(row), 0) => Ok(row),
        (_, more) => Err(format!("{model}: {} records instead of one meet {conditions}", more + usize::from(more > 0))),
    }
}

impl Row {
    fn wrong(&self, field: &str, what: &str) -> String {
        let id = self.fields.get("id").map_or_else(String::new, Json::to_string);
        let value = self.fields.get(field).map_or_else(|| "nothing".to_owned(), Json::to_string);
        format!("{model} {id}: {field} is {value}, not {what}", model = self.model)
    }

    /// The id.
    pub(super) fn id(&self) -> Result<i64, String> {
        self.fields.get("id").and_then(Json::as_i64).ok_or_else(|| self.wrong("id", "an id"))
    }

    /// A text that may be missing.
    pub(super) fn text(&self, field: &str) -> Result<Option<&str>, String> {
        match self.fields.get(field) {
            Some(Json::String(text)) => Ok(Some(text)),
            Some(Json::Bool(false)) => Ok(None),
            _ => Err(self.wrong(field, "a text")),
        }
    }

    /// A text that must be there.
    pub(super) fn needed(&self, field: &str) -> Result<String, String> {
        self.text(field)?.map(str::to_owned).ok_or_else(|| self.wrong(field, "a text"))
    }

    /// The id of the record that a field points to.
    pub(super) fn link(&self, field: &str) -> Result<i64, String> {
        let id = self.fields.get(field).and_then(|pair| pair.get(0)).and_then(Json::as_i64);
        id.ok_or_else(|| self.wrong(field, "a link"))
    }

    /// The ids of the records that a field points to.
    pub(super) fn links(&self, field: &str) -> Result<Vec<i64>, String> {
        let ids = self.fields.get(field).and_then(Json::as_array);
        let ids = ids.and_then(|ids| ids.iter().map(Json::as_i64).collect::<Option<Vec<i64>>>());
        ids.ok_or_else(|| self.wrong(field, "a list of ids"))
    }

    fn number(&self, field: &str, places: u32, what: &str) -> Result<i64, String> {
        let number = self.fields.get(field).filter(|value| value.is_number()).map(Json::to_string);
        number.and_then(|number| decimal(&number, places)).ok_or_else(|| self.wrong(field, what))
    }

    /// A whole number.
    pub(super) fn whole(&self, field: &str) -> Result<i64, String> {
        self.number(field, 0, "a whole number")
    }

    /// An amount of money in cents.
    pub(super) fn cents(&self, field: &str) -> Result<i64, String> {
        self.number(field, 2, "an amount of money")
    }

    /// The day of an instant, counted from `today`.
    pub(super) fn day(&self, field: &str, today: Date) -> Result<i64, String> {
        let instant = self.text(field)?;
        let date = instant.and_then(|instant| Date::parse(instant.split([' ', 'T']).next()?));
        date.map(|date| i64::from(date.0 - today.0)).ok_or_else(|| self.wrong(field, "a day"))
    }

    /// Refuses a field that is not as it should be.
    pub(super) fn must(&self, field: &str, value: &Json) -> Result<(), String> {
        let same = match (self.fields.get(field), value) {
            (Some(found), value) if value.is_number() => found.is_number() && self.whole(field).ok() == value.as_i64(),
            (found, value) => found == Some(value),
        };
        if same { Ok(()) } else { Err(self.wrong(field, &value.to_string())) }
    }
}
