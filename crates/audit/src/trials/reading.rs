//! Reads a world with every tool that cannot change it, as an agent would who looks at everything: for the trials that
//! search what can be seen.

use crate::ground::Here;
use benchwright_calls::offered::{Maker, ids_of};
use benchwright_sandbox::{Episode, Row};
use benchwright_schema::{Domain, Table, Tool, Verb, arguments_schema, codec::write_value};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// The most pages that are read of one list.
const PAGES: usize = 200;
/// The most rows that are asked for one by one.
const SINGLE: usize = 5;
/// The most tries at that, where most arguments are refused.
const TRIES: usize = 200;
/// The rows that are asked for at a time.
const AT_ONCE: usize = 200;

/// What a tool answered.
pub(crate) struct Answer {
    /// The tool.
    pub(crate) tool: String,
    /// The answer.
    pub(crate) text: String,
}

/// Calls every tool that only reads: lists to their last page, records by all their ids, the rest with arguments that fit.
/// A tool that does not answer at all is named in the error.
pub(super) fn read_everything(episode: &mut Episode) -> Result<Vec<Answer>, String> {
    let domain = Arc::clone(episode.sandbox().domain());
    let mut reader = Reader { episode, domain: &domain, answers: Vec::new(), refusal: String::new() };
    for tool in domain.tools.iter().filter(|tool| tool.reads_only()) {
        let before = reader.answers.len();
        reader.read(tool);
        if reader.answers.len() == before {
            return Err(format!("{} answers nothing: {}", tool.name, reader.refusal));
        }
    }
    Ok(reader.answers)
}

/// The same for a seat that may not read everything: what answers nothing is left out.
pub(crate) fn read_all(episode: &mut Episode) -> Vec<Answer> {
    let domain = Arc::clone(episode.sandbox().domain());
    let mut reader = Reader { episode, domain: &domain, answers: Vec::new(), refusal: String::new() };
    domain.tools.iter().filter(|tool| tool.reads_only()).for_each(|tool| reader.read(tool));
    reader.answers
}

struct Reader<'e> {
    episode: &'e mut Episode,
    domain: &'e Domain,
    answers: Vec<Answer>,
    refusal: String,
}

impl Reader<'_> {
    fn ask(&mut self, tool: &Tool, arguments: &Json) -> Option<Json> {
        match self.episode.call(&tool.name, &arguments.to_string()) {
            Ok(text) => {
                let json = serde_json::from_str(&text).ok();
                self.answers.push(Answer { tool: tool.name.clone(), text });
                json
            }
            Err(refusal) => {
                self.refusal = refusal.to_string();
                None
            }
        }
    }

    fn read(&mut self, tool: &Tool) {
        let schema = arguments_schema(self.domain, tool);
        if let Some(table) = ids_of(&schema).and_then(|table| self.domain.table_named(table)) {
            let ids: Vec<u32> = self.episode.rows(table).map(|row| row.id()).collect();
            // A table without rows is read all the same.
            let ids = if ids.is_empty() { vec![1] } else { ids };
            for ids in ids.chunks(AT_ONCE) {
                self.ask(tool, &json!({ "ids": ids }));
            }
            return;
        }
        if schema["required"].as_array().is_none_or(Vec::is_empty) {
            return self.list(tool, &schema);
        }
        let rows = match (tool.verb, tool.table) {
            (Verb::Get, Some(table)) => self.episode.table_len(table).min(SINGLE),
            _ => SINGLE,
        };
        // A record that is found by a text is found by that of a record that is there.
        if let (Verb::Get, Some(table)) = (tool.verb, tool.table) {
            let own: Vec<Json> = self
                .episode
                .rows(table)
                .take(SINGLE)
                .filter_map(|row| self.named(self.domain.table(table), &schema, row))
                .collect();
            let before = self.answers.len();
            for arguments in own {
                self.ask(tool, &arguments);
            }
            if self.answers.len() > before {
                return;
            }
        }
        // So is what code finds by a text: that of a record of a table it reads, or the name of such a table.
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let by_text = required.clone().all(|name| schema["properties"][name]["type"] == "string");
        if let Some(native) = tool.native.as_ref().filter(|_| by_text) {
            let before = self.answers.len();
            for table in &native.reads {
                let declared = self.domain.table(*table);
                let rows = self.episode.rows(*table).take(AT_ONCE).filter_map(|row| self.named(declared, &schema, row));
                let own: Vec<Json> = rows.chain(table_named(&declared.name, &schema)).collect();
                for arguments in own {
                    self.ask(tool, &arguments);
                }
            }
            if self.answers.len() > before {
                return;
            }
        }
        let mut maker = Maker::new(&["read", &tool.name]);
        let mut answered = 0;
        for tried in 0..TRIES {
            let arguments = maker.arguments(&schema, &Here(self.episode));
            answered += usize::from(self.ask(tool, &arguments).is_some());
            if tried + 1 >= rows.max(1) && answered > 0 {
                break;
            }
        }
    }

    /// The arguments that name a row: what its own fields say. `None` where an argument is no field.
    fn named(&self, declared: &Table, schema: &Json, row: &Row) -> Option<Json> {
        let mut arguments = Map::new();
        for name in schema["required"].as_array()?.iter().filter_map(Json::as_str) {
            let field = declared.field_named(name)?;
            let mut value = Vec::new();
            write_value(&mut value, self.domain, declared.field(field).ty, row.get(field));
            arguments.insert(name.to_owned(), serde_json::from_slice(&value).ok()?);
        }
        Some(Json::Object(arguments))
    }

    /// A list from its first to its last page.
    fn list(&mut self, tool: &Tool, schema: &Json) {
        let mut answer = self.ask(tool, &json!({}));
        let has = |name: &str| schema["properties"][name].is_object();
        if answer.is_none() && has("limit") && has("offset") {
            // Too large for one answer.
            for page in 0..PAGES {
                let arguments = json!({ "offset": page * AT_ONCE, "limit": AT_ONCE });
                match self.ask(tool, &arguments) {
                    Some(Json::Array(rows)) if rows.len() == AT_ONCE => {}
                    _ => return,
                }
            }
        }
        for _ in 0..PAGES {
            let Some(cursor) = answer.as_ref().and_then(|answer| answer["next_cursor"].as_str()) else { return };
            answer = self.ask(tool, &json!({ "cursor": cursor }));
        }
    }
}

/// The arguments by which a table is asked for by its name, with nothing in their lists. `None` where more than one text must be given.
fn table_named(name: &str, schema: &Json) -> Option<Json> {
    let required: Vec<&str> = schema["required"].as_array()?.iter().filter_map(Json::as_str).collect();
    let [one] = required[..] else { return None };
    let mut arguments = Map::from_iter([(one.to_owned(), json!(name))]);
    for (name, property) in schema["properties"].as_object()? {
        if property["type"] == "array" {
            arguments.insert(name.clone(), json!([]));
        }
    }
    (schema["properties"][one]["type"] == "string").then_some(Json::Object(arguments))
}
