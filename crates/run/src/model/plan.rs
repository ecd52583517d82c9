//! Puts a certified plan into words, for the kind of agent that is given it to carry out.

use crate::{Sealed, ToolCard};
use serde_json::Value as Json;
use std::{collections::BTreeMap, fmt::Write as _};

/// The calls of the oracle as a numbered list: the tool, what it is for, and its arguments.
///
/// It reveals everything that was to be found out: which records to make with which vendors, quantities, dates and prices, in
/// which order, and the ids of the rows that the calls name. What is left to the agent is to carry it out, with the ids of
/// new records taken from the answers. Rules, bounds and the value of the plan are not told.
pub fn told_plan(sealed: &Sealed, tools: &[ToolCard]) -> String {
    let mut steps_by_key: BTreeMap<&str, (usize, Option<&str>)> = BTreeMap::new();
    let mut told = String::new();
    for (n, step) in sealed.oracle.steps.iter().enumerate() {
        let tool = step.tool();
        let purpose = tools.iter().find(|card| card.name == tool).map_or("", |card| first_sentence(&card.description));
        let mut line = format!("{}. {tool}", n + 1);
        if let Some(each) = &step.each {
            let _ = write!(line, ", once for each of <{each}>");
        }
        match &step.because {
            Some(why) => {
                let _ = write!(line, ": {why}");
            }
            None if !purpose.is_empty() => {
                let _ = write!(line, ": {purpose}");
            }
            None => {}
        }
        line.push_str("\n   ");
        say(&step.args, &sealed.ids, &steps_by_key, &mut line);
        told.push_str(&line);
        told.push('\n');
        if let Some(key) = &step.bind {
            steps_by_key.insert(key, (n + 1, step.take.as_deref()));
        }
    }
    told
}

/// The first sentence of a description.
pub(super) fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Arguments for a reader: rows by name and id, new records by the step that makes them.
fn say(value: &Json, ids: &BTreeMap<String, u32>, made: &BTreeMap<&str, (usize, Option<&str>)>, out: &mut String) {
    let name = |key: &str| match (made.get(key), ids.get(key)) {
        (Some((step, None)), _) => format!("<the id from step {step}>"),
        (Some((step, Some(field))), _) => format!("<the {field} from step {step}>"),
        (None, Some(id)) => format!("{id} (= {})", key.replace('/', " ")),
        (None, None) => format!("<{}>", key.replace('/', " ")),
    };
    match value {
        Json::Object(map) => match (map.len(), map.get("$"), map.get("$join")) {
            (1, Some(Json::String(key)), _) => out.push_str(&name(key)),
            (1, _, Some(Json::Array(keys))) => {
                let names: Vec<String> = keys.iter().filter_map(Json::as_str).map(name).collect();
                let _ = write!(out, "\"{}\"", names.join(", "));
            }
            (1, None, None) if map.contains_key("$text") => {
                out.push('"');
                for part in map["$text"].as_array().into_iter().flatten() {
                    match part {
                        Json::String(text) => out.push_str(text),
                        other => say(other, ids, made, out),
                    }
                }
                out.push('"');
            }
            _ => {
                out.push('{');
                for (n, (key, value)) in map.iter().enumerate() {
                    let _ = write!(out, "{}{key}: ", if n == 0 { "" } else { ", " });
                    say(value, ids, made, out);
                }
                out.push('}');
            }
        },
        Json::Array(list) => {
            out.push('[');
            for (n, value) in list.iter().enumerate() {
                out.push_str(if n == 0 { "" } else { ", " });
                say(value, ids, made, out);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_pack::{Script, Step, script};
    use serde_json::json;

    #[test]
    fn a_plan_names_rows_and_what_earlier_steps_made() {
        let order = json!({ "vals_list": [{ "partner_id": script::at("customer/C-1"), "units": 3 }] });
        let steps = vec![
            Step::call("sale.order", "create", order).bind("order/1"),
            Step::call("sale.order", "read", json!({ "ids": [script::at("order/1")] }))
                .bind("order/1/name")
                .take("name"),
            Step::call("purchase.order", "create", json!({ "origin": script::joined(["order/1/name"]) })),
        ];
        let ids = BTreeMap::from([("customer/C-1".to_owned(), 12)]);
        let card = ToolCard {
            name: "sale_order_create".to_owned(),
            description: "Makes sales orders. Refused unless the customer is known.".to_owned(),
            arguments: json!({}),
            reads_only: false,
            table: None,
        };
        let told =
            told_plan(&Sealed { oracle: Script { steps, ..Script::default() }, ids, needs: Vec::new() }, &[card]);
        let expected = "\
1. sale_order_create: Makes sales orders.
   {vals_list: [{partner_id: 12 (= customer C-1), units: 3}]}
2. sale_order_read
   {ids: [<the id from step 1>]}
3. purchase_order_create
   {origin: \"<the name from step 2>\"}
";
        assert_eq!(told, expected);
    }
}
