//! Calls by somebody who knows what an agent is shown: arguments for a tool, made from nothing but its JSON Schema and the rows
//! that are there.

use benchwright_base::{Date, RowId, Stream};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// How deep objects are filled.
const DEEPEST: usize = 3;

/// What arguments may name: the rows that are there, and the day.
pub trait Ground {
    /// How many rows a table has.
    fn count(&self, table: &str) -> usize;
    /// One of them, in the order of their ids.
    fn row(&self, table: &str, nth: usize) -> Option<RowId>;
    /// The day.
    fn today(&self) -> Date;
}

/// Makes arguments at random from the schema of a tool.
pub struct Maker {
    stream: Stream,
    /// Rows that are named more often than others, by table.
    favoured: BTreeMap<String, Vec<RowId>>,
    /// How many texts were made, so that no two are alike.
    made: u32,
}

impl Maker {
    /// The maker of a key.
    pub fn new(key: &[&str]) -> Maker {
        Maker { stream: Stream::new(0, key), favoured: BTreeMap::new(), made: 0 }
    }

    /// The same maker, which mostly names these rows.
    #[must_use]
    pub fn favouring(mut self, rows: BTreeMap<String, Vec<RowId>>) -> Maker {
        self.favoured = rows;
        self
    }

    /// Its stream, for other choices.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// The arguments of a tool by its schema: what must be given, and some of the rest.
    pub fn arguments(&mut self, schema: &Json, ground: &dyn Ground) -> Json {
        self.object(schema, ground, 0)
    }

    fn object(&mut self, schema: &Json, ground: &dyn Ground, depth: usize) -> Json {
        let Some(properties) = schema["properties"].as_object() else { return json!({}) };
        let required = |name: &str| {
            schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
        };
        let mut object = Map::new();
        for (name, schema) in properties {
            // An object of any form says nothing of what could stand in it.
            let blank = schema["type"] == "object" && !schema["properties"].is_object();
            if required(name) || (!blank && self.stream.chance(1, 3)) {
                object.insert(name.clone(), self.value(schema, name, ground, depth));
            }
        }
        Json::Object(object)
    }

    /// A value by its schema.
    pub fn value(&mut self, schema: &Json, name: &str, ground: &dyn Ground, depth: usize) -> Json {
        if let Some(words) = schema["enum"].as_array() {
            let words: Vec<&Json> = words.iter().filter(|word| word.is_string()).collect();
            return self.stream.pick(&words).map_or(Json::Null, |word| (*word).clone());
        }
        if let Some(commands) = self.commands(schema, ground, depth) {
            return commands;
        }
        match kind(schema) {
            "object" if depth < DEEPEST => self.object(schema, ground, depth + 1),
            "array" if depth < DEEPEST => {
                let count = if schema["items"]["enum"].is_array() { 3 } else { 1 + self.stream.below(2) };
                let mut items: Vec<Json> = Vec::new();
                for _ in 0..count {
                    let item = self.value(&schema["items"], name, ground, depth + 1);
                    if !items.contains(&item) {
                        items.push(item);
                    }
                }
                // Conditions on rows are lists of three; a list that holds nothing finds every row.
                if schema["items"]["type"].is_array() { json!([]) } else { Json::Array(items) }
            }
            "boolean" => json!(self.stream.chance(1, 2)),
            "integer" => match table_of(schema).map(|table| self.row(table, ground)) {
                Some(id) => json!(id),
                None => self.number(schema, 12),
            },
            "number" => self.number(schema, 60),
            "string" => self.text(schema, name, ground),
            "object" => json!({}),
            "array" => json!([]),
            _ => Json::Null,
        }
    }

    /// A new row, or a link to one, where a schema asks for commands on rows.
    fn commands(&mut self, schema: &Json, ground: &dyn Ground, depth: usize) -> Option<Json> {
        let text = schema["description"].as_str()?.strip_prefix("commands on ")?;
        let table = text.split(':').next()?;
        if !schema["items"]["items"]["properties"].is_object() {
            return Some(json!([[6, 0, [self.row(table, ground)]]]));
        }
        if depth >= DEEPEST {
            return Some(json!([]));
        }
        // Their fields are optional, but a line without any is none, so references and quantities are given.
        let fields = &schema["items"]["items"]["properties"];
        let mut row = Map::new();
        for (name, field) in fields.as_object()? {
            let wanted = table_of(field).is_some() || kind(field) == "number";
            let linked = field["description"].as_str().is_some_and(|text| text.starts_with("commands on"));
            if wanted && !linked && (table_of(field).is_none() || name.starts_with("product")) {
                row.insert(name.clone(), self.value(field, name, ground, depth + 1));
            }
        }
        Some(json!([[0, 0, row]]))
    }

    /// The id of some row of a table; 1 if it has none. New rows are likelier than their share.
    fn row(&mut self, table: &str, ground: &dyn Ground) -> RowId {
        let rows = ground.count(table) as u64;
        if rows == 0 {
            return 1;
        }
        if let Some(favoured) = self.favoured.get(table)
            && self.stream.chance(4, 5)
            && let Some(row) = self.stream.pick(favoured)
        {
            return *row;
        }
        let back = if self.stream.chance(1, 3) { self.stream.below(rows.min(6)) } else { self.stream.below(rows) };
        ground.row(table, (rows - 1 - back) as usize).unwrap_or(1)
    }

    fn number(&mut self, schema: &Json, most: i64) -> Json {
        let low = schema["minimum"].as_f64().map_or(0, |low| low.ceil() as i64);
        let high = schema["maximum"].as_f64().map_or(i64::MAX, |high| high.floor() as i64);
        json!(self.stream.between(low, high.min(low.saturating_add(most)).max(low)))
    }

    fn text(&mut self, schema: &Json, name: &str, ground: &dyn Ground) -> Json {
        let said = |key: &str, word: &str| schema[key].as_str().is_some_and(|text| text.starts_with(word));
        let today = ground.today();
        let day = Date(today.0 + self.stream.between(0, 14) as i32);
        if said("description", "YYYY-MM-DD HH") {
            return json!(format!("{day} 12:00:00"));
        }
        if said("format", "date-time") {
            return json!(format!("{day}T12:00:00Z"));
        }
        if said("format", "date") || said("description", "YYYY-MM-DD") {
            return json!(day.to_string());
        }
        if said("format", "time") {
            return json!("12:00:00");
        }
        if said("format", "duration") {
            return json!("P1D");
        }
        if name == "order" || name == "sort" || name == "cursor" {
            return json!("id");
        }
        self.made += 1;
        let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
        let most = schema["maxLength"].as_u64().unwrap_or(200) as usize;
        json!(crate::fitted(format!("{} {}", name.replace('_', " "), self.made), least, most))
    }
}

/// The kind of a schema: its type, or the first of several.
pub fn kind(schema: &Json) -> &str {
    match &schema["type"] {
        Json::String(kind) => kind,
        Json::Array(kinds) => kinds.first().and_then(Json::as_str).unwrap_or_default(),
        _ => "",
    }
}

/// The table whose rows an integer names, as the schema's description says it.
pub fn table_of(schema: &Json) -> Option<&str> {
    let text = schema["description"].as_str()?.strip_prefix("id of ")?;
    Some(text.strip_prefix("a row of ").unwrap_or(text))
}

/// The ids that a tool takes: the table, where its schema has a list `ids` of rows.
pub fn ids_of(schema: &Json) -> Option<&str> {
    table_of(&schema["properties"]["ids"]["items"])
}
