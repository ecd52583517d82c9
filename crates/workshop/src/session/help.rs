//! What the prompt says about itself and about a tool.

use benchwright_report::layout::{columns, cut, length, paragraph};
use benchwright_schema::{Domain, Tool, Verb, arguments_schema, result_schema};
use serde_json::Value as Json;

/// The commands of the prompt: word, what follows it, what it does.
pub const COMMANDS: [(&str, &str, &str); 14] = [
    ("help", "[TOOL]", "this, or what a tool takes and gives"),
    ("tools", "[WORD]", "all tools, or those about something"),
    ("call", "TOOL …", "calls a tool, even one with the name of a command"),
    ("whoami", "", "who you are and what you may do"),
    ("diff", "[last]", "what has changed since the start, or by the last call"),
    ("rules", "", "which rules the run breaks so far, and by which rows"),
    ("task", "", "what the task asks for, where there is one"),
    ("checks", "", "how the task's checks stand now"),
    ("undo", "", "takes the last call back"),
    ("reset", "", "back to the start"),
    ("trace", "", "the calls so far"),
    ("save", "FILE", "writes the state; `benchwright play FILE` opens it again"),
    ("now", "", "what the clock says"),
    ("quit", "", "leaves, without saving"),
];

/// What can be typed.
pub(super) fn general(width: usize) -> String {
    let mut out = String::from("A call is a tool and its arguments:\n");
    out.push_str("  TOOL name=value name=\"with blanks\" name=[1, 2]\n  TOOL {\"name\": \"value\"}\n\n");
    let rows =
        COMMANDS.map(|(word, follows, does)| vec![format!("{word} {follows}").trim().to_owned(), does.to_owned()]);
    out.push_str(&columns(&rows, &[], 2));
    out.push('\n');
    out.push_str(&paragraph("", "Tab completes tools, arguments and the words an argument takes.", width));
    out
}

/// The tools, or those about a word.
pub(super) fn tools(domain: &Domain, word: &str, without_code: &[&str], width: usize) -> String {
    let word = word.to_lowercase();
    // Beyond the first sentence a description speaks of rules, which are about other things too.
    let about = |tool: &&Tool| {
        let first = tool.description.split_once(". ").map_or(&*tool.description, |(first, _)| first);
        tool.name.contains(&word) || first.to_lowercase().contains(&word)
    };
    let found: Vec<&Tool> = domain.tools.iter().filter(about).collect();
    if found.is_empty() {
        return format!("no tool is about `{word}`; `tools` lists all {}\n", domain.tools.len());
    }
    let longest = found.iter().map(|tool| length(&tool.name)).max().unwrap_or_default();
    let room = width.saturating_sub(longest + 2).max(20);
    let mut out = String::new();
    for tool in found {
        let missing = if without_code.contains(&&*tool.name) { "(no code here) " } else { "" };
        let line = cut(&format!("{missing}{}", tool.description), room);
        out.push_str(&format!("{:longest$}  {line}\n", tool.name));
    }
    out
}

/// What a tool does, takes and gives, with an example.
pub(super) fn tool(domain: &Domain, tool: &Tool, width: usize) -> String {
    let mut out = paragraph("", &tool.description, width);
    let schema = arguments_schema(domain, tool);
    let empty = serde_json::Map::new();
    let arguments = schema["properties"].as_object().unwrap_or(&empty);
    if arguments.is_empty() {
        out.push_str("\nIt takes no arguments.\n");
    } else {
        out.push_str("\nArguments (! must be given)\n");
        let is_required = |name: &str| required(&schema).any(|known| known == name);
        let marked = |name: &str| format!("{name}{}", if is_required(name) { "!" } else { "" });
        let longest = arguments.keys().map(|name| length(&marked(name))).max().unwrap_or_default();
        for (name, about) in arguments {
            let first = format!("  {:longest$}  ", marked(name));
            // All the ways to sort would hide the rest.
            let about = if name == "sort" { "a field, or -field for descending".to_owned() } else { kind(about) };
            out.push_str(&paragraph(&first, &about, width));
        }
    }
    let result = result_schema(domain, tool);
    let row = &result["properties"]["rows"]["items"];
    let (what, gives) = if row.is_object() { ("Each row gives", row) } else { ("Gives", &result) };
    let names: Vec<&str> = gives["properties"].as_object().unwrap_or(&empty).keys().map(|name| &**name).collect();
    // A tool that answers in a form of its own says in its description what that is.
    if !names.is_empty() {
        out.push('\n');
        out.push_str(&paragraph("", &format!("{what} {}.", names.join(", ")), width));
    }
    out.push_str(&format!("\nFor example: {}\n", example(domain, tool)));
    out
}

fn required(schema: &Json) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
}

/// What a schema asks for, in words.
fn kind(schema: &Json) -> String {
    let kinds = match &schema["type"] {
        Json::String(kind) => kind.clone(),
        Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" or "),
        _ => String::new(),
    };
    let mut out = match &schema["enum"] {
        Json::Array(words) => words.iter().map(|word| word.as_str().unwrap_or("null")).collect::<Vec<_>>().join(" | "),
        _ => match schema["format"].as_str() {
            Some(format) => kinds.replace("string", format),
            None => kinds,
        },
    };
    if schema["type"] == "array" {
        let items = &schema["items"];
        out = match items["properties"].as_object() {
            Some(fields) => {
                let is_required = |name: &str| required(items).any(|known| known == name);
                let marked = |name: &String| format!("{name}{}", if is_required(name) { "!" } else { "" });
                format!("list of {{{}}}", fields.keys().map(marked).collect::<Vec<_>>().join(", "))
            }
            None => format!("list of {}", kind(items)),
        };
    }
    let mut notes = Vec::new();
    if let Some(text) = schema["description"].as_str() {
        notes.push(text.to_owned());
    }
    for (key, word) in [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minLength", "no shorter than"),
        ("maxLength", "no longer than"),
    ] {
        // That an id is at least 1 goes without saying.
        let is_id = key == "minimum" && schema["description"].as_str().is_some_and(|text| text.starts_with("id of"));
        if !schema[key].is_null() && !is_id {
            notes.push(format!("{word} {}", schema[key]));
        }
    }
    if let Some(default) = schema.get("default") {
        notes.push(format!("default {}", default.as_str().map_or_else(|| default.to_string(), str::to_owned)));
    }
    if notes.is_empty() { out } else { format!("{out}; {}", notes.join(", ")) }
}

/// A call of a tool with what it must have, and one argument more where it must have nothing.
pub(super) fn example(domain: &Domain, tool: &Tool) -> String {
    let schema = arguments_schema(domain, tool);
    let mut given: Vec<&str> = required(&schema).collect();
    let wants = match tool.verb {
        Verb::Update => tool.set.iter().find(|setting| setting.fixed.is_none()),
        _ => None,
    };
    if let (Some(setting), Some(table)) = (wants, tool.table) {
        let name = &*domain.table(table).field(setting.field).name;
        if !given.contains(&name) {
            given.push(name);
        }
    }
    if given.is_empty() {
        let all = || schema["properties"].as_object().into_iter().flatten().filter(|(name, _)| *name != "sort");
        let words = all().find(|(_, about)| about["enum"].is_array() || about["type"] == "boolean");
        given.extend(
            words
                .or_else(|| all().find(|(name, _)| *name == "limit"))
                .or_else(|| all().next())
                .map(|(name, _)| &**name),
        );
    }
    let mut out = tool.name.clone();
    for name in given {
        let about = &schema["properties"][name];
        // What holds objects is written as JSON from the outside in: there a word needs its quotes.
        let is_nested = about["properties"].is_object() || about["items"]["properties"].is_object();
        let value = if is_nested { sample_json(about).to_string() } else { sample(about) };
        out.push_str(&format!(" {name}={value}"));
    }
    out
}

/// The most fields of an object in an example that has none it must have.
const FIELDS_SHOWN: usize = 2;

/// A value of a schema as JSON: objects with what they must have, or else with their first fields.
fn sample_json(schema: &Json) -> Json {
    if let Some(fields) = schema["properties"].as_object() {
        let needed: Vec<&str> = required(schema).collect();
        let names = fields.keys().map(|name| &**name);
        let shown: Vec<&str> = match needed.is_empty() {
            true => names.take(FIELDS_SHOWN).collect(),
            false => names.filter(|name| needed.contains(name)).collect(),
        };
        return shown.into_iter().map(|name| (name.to_owned(), sample_json(&fields[name]))).collect();
    }
    if schema["items"].is_object() {
        return Json::Array(vec![sample_json(&schema["items"])]);
    }
    let text = sample(schema);
    serde_json::from_str(&text).unwrap_or(Json::String(text))
}

/// A value of a schema, as it is typed.
fn sample(schema: &Json) -> String {
    let is = |kind: &str| match &schema["type"] {
        Json::Array(kinds) => kinds.iter().any(|known| known == kind),
        only => only == kind,
    };
    if let Some(word) = schema["enum"].get(0).and_then(Json::as_str) {
        return word.to_owned();
    }
    match schema["format"].as_str() {
        Some("date") => return "2026-03-02".to_owned(),
        Some("date-time") => return "2026-03-02T09:30:00Z".to_owned(),
        Some("time") => return "09:30".to_owned(),
        Some("duration") => return "PT30M".to_owned(),
        _ => {}
    }
    if is("integer") || is("number") {
        return schema.get("minimum").filter(|least| **least != 0).map_or_else(|| "5".to_owned(), Json::to_string);
    }
    if is("boolean") {
        return "true".to_owned();
    }
    if is("array") {
        return format!("[{}]", sample(&schema["items"]));
    }
    "\"some text\"".to_owned()
}
