//! The calls of the bench: a committed list of 25 for each domain, as an agent makes them that knows what it is after.

use crate::error::{OrWrong as _, Result};
use serde::{Deserialize, Serialize};

/// The committed list.
const LIST: &str = include_str!("../../data/grid.json");

/// The calls on one task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// The pattern.
    pub(super) pattern: String,
    /// The tier.
    pub(super) tier: String,
    /// The seed.
    pub(super) seed: u64,
    /// The tools with their arguments.
    pub(super) calls: Vec<(String, String)>,
}

/// All of them.
pub(super) fn scripts() -> Result<Vec<Script>> {
    serde_json::from_str(LIST).or_wrong(|| "data/grid.json cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_workshop::{Maker, Workshop};
    use serde_json::{Value as Json, json};

    /// The calls on a task: the grid, then slot by slot two queries, one attribute and the choice, then checks.
    fn calls(domain: &str, sealed: &benchwright_pack::SealedTask) -> Vec<(String, String)> {
        let case = &sealed.case;
        let cols = case["cols"].as_u64().unwrap();
        let rule = |at: &Json| {
            let (field, op, value) = (at["field"].as_u64().unwrap() as usize, at["op"].as_str().unwrap(), &at["value"]);
            let folder = format!("{}/../../domains/{domain}/grid.toml", env!("CARGO_MANIFEST_DIR"));
            let words: toml::Table = std::fs::read_to_string(folder).unwrap().parse().unwrap();
            let list = |name: &str| words[name].as_array().unwrap().clone();
            let (numbers, labels) = (list("number"), list("label"));
            let operator = match op {
                "at_most" => "<=",
                "at_least" => ">=",
                "is_not" => "!=",
                _ => "=",
            };
            match numbers.get(field) {
                Some(number) => (number["field"].as_str().unwrap().to_owned(), operator, value.clone()),
                None => {
                    let label = &labels[field - numbers.len()];
                    let word = label["words"][value.as_u64().unwrap() as usize].as_str().unwrap();
                    (label["field"].as_str().unwrap().to_owned(), operator, json!(word))
                }
            }
        };
        let mut calls = vec![("get_current_grid_state".to_owned(), json!({}))];
        let plan = sealed.certificate.plan["assign"].as_array().unwrap();
        for (slot, cell) in case["open"].as_array().unwrap().iter().enumerate() {
            let cell = cell.as_u64().unwrap();
            let (row, col) = (cell / cols + 1, cell % cols + 1);
            let own = |at: &&Json| at["slot"].as_u64() == Some(slot as u64);
            for condition in case["conditions"].as_array().unwrap().iter().filter(own) {
                let (field, operator, value) = rule(condition);
                let query = json!({ "row": row, "col": col, "field": field, "operator": operator, "value": value });
                calls.push((format!("query_{domain}_candidate_from_attribute"), query));
            }
            let is_own = |(_, item): &(usize, &Json)| item.as_str().unwrap().starts_with(&format!("{}|", slot + 1));
            let items = case["items"].as_array().unwrap().iter().enumerate().filter(is_own);
            let ids: Vec<usize> = items.map(|(at, _)| at + 1).take(6).collect();
            let first = rule(&json!({ "field": 0, "op": "at_most", "value": 0 })).0;
            calls.push((format!("get_{domain}_item_attributes"), json!({ "ids": ids, "field": first })));
            let key = format!("slot/{row}-{col}");
            let chosen = plan.iter().find(|row| row["slot"] == json!(key)).unwrap();
            calls.push(("set_slot".to_owned(), json!({ "row": row, "col": col, "id": chosen["item"] })));
            if slot < 2 {
                calls.push((format!("check_{domain}_slot_constraints"), json!({ "row": row, "col": col })));
            }
        }
        calls.push((format!("check_{domain}_global_constraints"), json!({})));
        calls.push(("done".to_owned(), json!({})));
        calls.into_iter().map(|(tool, arguments)| (tool, arguments.to_string())).collect()
    }

    #[test]
    fn the_committed_list_is_what_an_agent_would_call() {
        let workshop = Workshop::new(benchwright_catalog::Catalog::built_in());
        let mut maker = Maker::new(&workshop);
        let mut all = Vec::new();
        for domain in ["course", "meal", "pc_build", "shopping", "travel", "workforce"] {
            let (pattern, tier) = (format!("grid/{domain}"), "h05-b09".to_owned());
            let (task, _) = maker.make(&pattern, &tier, "fill", 1, None, false).unwrap();
            all.push(Script { pattern, tier, seed: 1, calls: calls(domain, &task.sealed) });
        }
        assert!(all.iter().all(|script| script.calls.len() == 25));
        if std::env::var_os("BENCHWRIGHT_WRITE").is_some() {
            let path = format!("{}/data/grid.json", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(path, format!("{}\n", serde_json::to_string_pretty(&all).unwrap())).unwrap();
            return;
        }
        assert_eq!(scripts().unwrap(), all, "BENCHWRIGHT_WRITE=1 writes the list anew");
    }
}
