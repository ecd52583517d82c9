//! The schemas of one tool of every verb.

use crate::common::{self, golden};
use benchwright_schema::{Verb, arguments_schema, load, result_schema};
use std::collections::BTreeMap;

#[test]
fn every_verb_has_its_schemas() {
    let shop = load(&common::shop()).unwrap();
    let mut firsts = BTreeMap::new();
    for tool in &shop.tools {
        firsts.entry(tool.verb).or_insert(tool);
    }
    assert_eq!(firsts.len(), Verb::ALL.len());
    for (verb, tool) in firsts {
        let both = serde_json::json!({
            "tool": tool.name,
            "arguments": arguments_schema(&shop, tool),
            "result": result_schema(&shop, tool),
        });
        golden(&format!("{}.json", verb.word()), &format!("{}\n", serde_json::to_string_pretty(&both).unwrap()));
    }
}
