//! Odoo's JSON-2 face on an embedded episode: the same paths, arguments, answers, error shapes and status codes, so that one
//! agent runs unchanged on both engines.

use crate::{Answer, client::error};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::{Domain, Table, field_list};
use serde_json::{Map, Value as Json, json};

/// Calls a tool of an episode with a JSON object of arguments.
pub type CallTool<'c> = dyn FnMut(&str, &str) -> Result<String, Refusal> + 'c;

/// The methods of record calls that every model has.
const RECORD_CALLS: [&str; 8] =
    ["search", "search_read", "search_count", "read", "fields_get", "create", "write", "unlink"];

/// Answers `POST /json/2/<model>/<method>` with a body.
pub fn answer(domain: &Domain, model: &str, method: &str, body: &str, call: &mut CallTool<'_>) -> Answer {
    let arguments = match body.trim() {
        "" => Map::new(),
        text => match serde_json::from_str(text) {
            Ok(Json::Object(arguments)) => arguments,
            // As Odoo does: what is JSON but no object names no argument.
            Ok(_) => Map::new(),
            Err(why) => {
                return error(
                    400,
                    "werkzeug.exceptions.BadRequest",
                    &format!("could not parse the body as json: {why}"),
                );
            }
        },
    };
    if let Some(closed) = closed(domain, model, method) {
        return closed;
    }
    let Some(table) = table_of(domain, model) else { return not_found(&format!("the model '{model}' does not exist")) };
    let face = Face { domain, table };
    match face.dispatch(method, arguments, call) {
        Ok(body) => Answer { status: 200, body },
        Err(Wrong::Refused(refusal)) => {
            let (status, body) = crate::error_body(&refusal);
            Answer { status, body }
        }
        Err(Wrong::Arguments(message)) => error(422, "werkzeug.exceptions.UnprocessableEntity", &message),
        Err(Wrong::NotOffered) => not_allowed(model, method),
    }
}

fn table_of<'d>(domain: &'d Domain, model: &str) -> Option<&'d Table> {
    domain.tables.iter().find(|table| table.odoo.as_deref() == Some(model))
}

fn not_allowed(model: &str, method: &str) -> Answer {
    let message = format!("You are not allowed to call '{method}' on '{model}' records here.");
    error(403, "odoo.exceptions.AccessError", &message)
}

/// The answer to a call that no agent may make, on whichever engine: of a model that the domain has not, of a private
/// method, or of a method that is none of the domain's.
pub fn closed(domain: &Domain, model: &str, method: &str) -> Option<Answer> {
    let Some(table) = table_of(domain, model) else {
        return Some(not_found(&format!("the model '{model}' does not exist")));
    };
    if method.starts_with('_') {
        let message = format!("Private methods (such as '{model}.{method}') cannot be called remotely.");
        return Some(error(403, "odoo.exceptions.AccessError", &message));
    }
    let face = Face { domain, table };
    let reads = matches!(method, "search" | "search_count" | "read") && face.tool("search_read").is_some();
    if face.tool(method).is_some() || reads || method == "fields_get" {
        None
    } else if RECORD_CALLS.contains(&method) {
        Some(not_allowed(model, method))
    } else {
        Some(not_found(&format!("The method '{model}.{method}' does not exist")))
    }
}

fn not_found(message: &str) -> Answer {
    error(404, "werkzeug.exceptions.NotFound", message)
}

/// Why a call has no answer.
enum Wrong {
    Refused(Refusal),
    Arguments(String),
    NotOffered,
}

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Wrong {
        Wrong::Refused(refusal)
    }
}

struct Face<'d> {
    domain: &'d Domain,
    table: &'d Table,
}

impl Face<'_> {
    fn tool(&self, method: &str) -> Option<&benchwright_schema::Tool> {
        let name = format!("{}_{method}", self.table.name);
        self.domain.tools.iter().find(|tool| tool.name == name)
    }

    fn dispatch(
        &self,
        method: &str,
        mut arguments: Map<String, Json>,
        call: &mut CallTool<'_>,
    ) -> Result<String, Wrong> {
        check(method, &arguments)?;
        if let Some(tool) = self.tool(method) {
            let known = tool.native.as_ref().map_or(&[][..], |native| &native.takes);
            // Odoo calls a method of no records where no ids are given.
            if known.iter().any(|argument| argument.cell.name == "ids") && !arguments.contains_key("ids") {
                arguments.insert("ids".to_owned(), json!([]));
            }
            for name in arguments.keys() {
                if !known.iter().any(|argument| argument.cell.name == *name) {
                    return Err(Wrong::Arguments(format!("got an unexpected keyword argument '{name}'")));
                }
            }
            for argument in known.iter().filter(|argument| argument.required) {
                if !arguments.contains_key(&argument.cell.name) {
                    return Err(Wrong::Arguments(format!("missing a required argument: '{}'", argument.cell.name)));
                }
            }
            return Ok(call(&tool.name, &Json::Object(arguments).to_string())?);
        }
        match method {
            "fields_get" => Ok(self.fields_get(&arguments)),
            "search" => {
                let found = self.find(&arguments, json!(["id"]), call)?;
                Ok(Json::Array(found.into_iter().map(|row| row["id"].clone()).collect()).to_string())
            }
            "search_count" => Ok(self.find(&arguments, json!(["id"]), call)?.len().to_string()),
            "read" => self.read(&arguments, call),
            _ => Err(Wrong::NotOffered),
        }
    }

    /// The rows that conditions find, by the model's `search_read`.
    fn find(&self, arguments: &Map<String, Json>, fields: Json, call: &mut CallTool<'_>) -> Result<Vec<Json>, Wrong> {
        let tool = self.tool("search_read").ok_or(Wrong::NotOffered)?;
        let mut passed = arguments.clone();
        passed.insert("fields".to_owned(), fields);
        let answer = call(&tool.name, &Json::Object(passed).to_string())?;
        Ok(serde_json::from_str(&answer).unwrap_or_default())
    }

    fn read(&self, arguments: &Map<String, Json>, call: &mut CallTool<'_>) -> Result<String, Wrong> {
        let ids = arguments.get("ids").cloned().unwrap_or(json!([]));
        let mut passed = Map::new();
        passed.insert("domain".to_owned(), json!([["id", "in", ids]]));
        passed.insert("context".to_owned(), json!({ "active_test": false }));
        let fields = arguments.get("fields").cloned().unwrap_or(json!([]));
        let mut found = self.find(&passed, fields, call)?;
        let place = |row: &Json| ids.as_array().and_then(|ids| ids.iter().position(|id| *id == row["id"]));
        found.sort_by_key(place);
        Ok(Json::Array(found).to_string())
    }

    fn fields_get(&self, arguments: &Map<String, Json>) -> String {
        let asked = |argument: &str, name: &str| match arguments.get(argument).and_then(Json::as_array) {
            Some(list) if !list.is_empty() => list.iter().any(|wanted| *wanted == *name),
            _ => true,
        };
        let list =
            field_list(self.domain, self.table, &|name| asked("allfields", name), &|name| asked("attributes", name));
        String::from_utf8_lossy(&list).into_owned()
    }
}

/// Holds the arguments of record calls to their signatures.
fn check(method: &str, arguments: &Map<String, Json>) -> Result<(), Wrong> {
    let (required, known): (&[&str], &[&str]) = match method {
        "search" => (&["domain"], &["domain", "offset", "limit", "order", "context"]),
        "search_count" => (&["domain"], &["domain", "limit", "context"]),
        "search_read" => (&[], &["domain", "fields", "offset", "limit", "order", "context"]),
        "read" => (&[], &["ids", "fields", "load", "context"]),
        "fields_get" => (&[], &["allfields", "attributes", "context"]),
        "create" => (&["vals_list"], &["vals_list", "context"]),
        "write" => (&["vals"], &["ids", "vals", "context"]),
        "unlink" => (&[], &["ids", "context"]),
        _ => return Ok(()),
    };
    if let Some(name) = required.iter().find(|name| !arguments.contains_key(**name)) {
        return Err(Wrong::Arguments(format!("missing a required argument: '{name}'")));
    }
    if let Some(name) = arguments.keys().find(|name| !known.contains(&&***name)) {
        if method == "search_read" {
            // Odoo hands what it does not know on to a method that does not know it either.
            let message = format!("BaseModel._read_format() got an unexpected keyword argument '{name}'");
            return Err(Wrong::Refused(Refusal::new(RefusalCode::InvalidArgument, message)));
        }
        return Err(Wrong::Arguments(format!("got an unexpected keyword argument '{name}'")));
    }
    Ok(())
}
