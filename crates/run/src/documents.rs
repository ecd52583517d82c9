//! Documents that fit forms and mean nothing: what an agent hands in at a planner's desk who does not think. Codes are some that stand in
//! the files, numbers lie within the bounds of their column, and no two rows have the same key.

use crate::Hosted;
use benchwright_base::Stream;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// How many documents are written. A desk takes fewer; the others are only checked.
const DOCUMENTS: u64 = 200;
/// One of so many is handed in.
const HANDED_IN: u64 = 5;
/// The most rows of a document.
const MOST_ROWS: u64 = 60;
/// Numbers are drawn this far from the least that a column takes.
const REACH: i64 = 40;

/// Hands in documents, if the episode has forms; whether it has some.
pub(crate) fn hand_in(episode: &mut dyn Hosted, stream: &mut Stream) -> bool {
    let ask = |episode: &mut dyn Hosted, tool: &str, arguments: Json| -> Option<Json> {
        serde_json::from_str(&episode.call(tool, &arguments.to_string()).ok()?).ok()
    };
    if !episode.tools().iter().any(|tool| tool.name == "form_submit") {
        return false;
    }
    let Some(desk) = ask(episode, "workspace_list", json!({})) else { return true };
    let mut codes = BTreeSet::new();
    for path in desk["files"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str()) {
        let Some(read) = ask(episode, "workspace_rows", json!({ "path": path })) else { continue };
        let rows = read["rows"].as_array().into_iter().flatten().filter_map(Json::as_object);
        let cells = rows.flat_map(|row| row.values()).filter_map(Json::as_str);
        codes.extend(cells.filter(|cell| !cell.is_empty() && cell.parse::<f64>().is_err()).map(str::to_owned));
    }
    let codes: Vec<String> = codes.into_iter().collect();
    let forms: Vec<&Json> = desk["forms"].as_array().into_iter().flatten().collect();
    for number in 0..DOCUMENTS {
        let Some(form) = stream.pick(&forms).copied() else { break };
        let rows = document(form, &codes, stream);
        let tool = if number % HANDED_IN == 0 { "form_submit" } else { "form_check" };
        let _ = ask(episode, tool, json!({ "form": form["form"], "rows": rows }));
    }
    true
}

fn document(form: &Json, codes: &[String], stream: &mut Stream) -> Vec<Json> {
    let columns: Vec<&Json> = form["columns"].as_array().into_iter().flatten().collect();
    let keys: Vec<Vec<&str>> = form["unique"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|key| key.as_array().into_iter().flatten().filter_map(Json::as_str).collect())
        .collect();
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for _ in 0..=stream.below(MOST_ROWS) {
        let mut row = serde_json::Map::new();
        for column in &columns {
            let Some(name) = column["name"].as_str() else { continue };
            let cell = match column["type"].as_str() {
                Some("int" | "money" | "quantity") => {
                    let low = column["min"].as_i64().unwrap_or_default();
                    let high = column["max"].as_i64().unwrap_or(low + REACH).min(low + REACH);
                    json!(low + stream.below((high - low + 1) as u64) as i64)
                }
                Some("bool") => json!(stream.chance(1, 2)),
                _ => json!(stream.pick(codes).cloned().unwrap_or_default()),
            };
            row.insert(name.to_owned(), cell);
        }
        let of = |key: &Vec<&str>| format!("{key:?}{:?}", key.iter().map(|name| &row[*name]).collect::<Vec<_>>());
        let found: Vec<String> = keys.iter().map(of).collect();
        if found.iter().all(|key| !seen.contains(key)) {
            seen.extend(found);
            rows.push(Json::Object(row));
        }
    }
    rows
}
