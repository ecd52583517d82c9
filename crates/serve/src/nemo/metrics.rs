//! What NeMo Gym asks of a resources server when rollouts are over: for each number of the verified rows its mean, largest, smallest,
//! median and spread, for each task and over all.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Keys that belong to the client.
const OWN: &str = "_ng_";
const TASK: &str = "_ng_task_index";
const ROLLOUT: &str = "_ng_rollout_index";

#[derive(Deserialize)]
struct Asked {
    verify_responses: Vec<Map<String, Json>>,
}

/// The numbers of a rollout, by name.
type Numbers = BTreeMap<String, f64>;

/// The answer to a list of verified rows.
pub(super) fn of(body: &[u8]) -> Result<Json, String> {
    let Asked { verify_responses: rows } =
        serde_json::from_slice(body).map_err(|error| format!("the body has no `verify_responses`: {error}"))?;
    let mut tasks: BTreeMap<u64, BTreeMap<u64, Numbers>> = BTreeMap::new();
    for row in &rows {
        let index = |key| row.get(key).and_then(Json::as_u64).unwrap_or_default();
        let (task, rollout) = (index(TASK), index(ROLLOUT));
        if tasks.entry(task).or_default().insert(rollout, numbers(row)).is_some() {
            return Err(format!("rollout {rollout} of task {task} is there twice"));
        }
    }
    let groups: Vec<Json> = tasks.iter().map(|(task, rollouts)| group(*task, rollouts)).collect();
    let all = figures(tasks.values().flat_map(BTreeMap::values));
    let key: Map<String, Json> = all.iter().filter(|(name, _)| name.starts_with("mean/")).map(own).collect();
    Ok(json!({ "group_level_metrics": groups, "agent_metrics": all, "key_metrics": key }))
}

fn own((name, value): (&String, &Json)) -> (String, Json) {
    (name.clone(), value.clone())
}

/// The numbers of a row, and those of how much a model was used.
fn numbers(row: &Map<String, Json>) -> Numbers {
    let usage = row.get("response").and_then(|response| response.get("usage")).and_then(Json::as_object);
    let all = row.iter().chain(usage.into_iter().flatten()).filter(|(name, _)| !name.starts_with(OWN));
    all.filter_map(|(name, value)| {
        let number = value.as_f64().or_else(|| value.as_bool().map(|is| f64::from(u8::from(is))))?;
        Some((name.clone(), number))
    })
    .collect()
}

fn group(task: u64, rollouts: &BTreeMap<u64, Numbers>) -> Json {
    let infos: Vec<Json> = rollouts
        .iter()
        .map(|(rollout, numbers)| {
            let mut info = json!({ "rollout_id": format!("{task}:{rollout}"), TASK: task, ROLLOUT: rollout });
            for (name, number) in numbers {
                info[name] = (*number).into();
            }
            info
        })
        .collect();
    let mut told = figures(rollouts.values());
    let count = rollouts.len();
    for (name, value) in [
        (TASK, json!(task)),
        ("sample", json!({ "agent_ref": { "name": "agent" } })),
        ("num_rollouts", json!(count)),
        ("expected_num_rollouts", json!(count)),
        ("missing_num_rollouts", json!(0)),
        ("reward_profile_completion_pct", json!(100.0)),
        ("rollout_infos", json!(infos)),
    ] {
        told.insert(name.to_owned(), value);
    }
    Json::Object(told)
}

/// The figures of each number that some rollout has.
fn figures<'n>(rollouts: impl Iterator<Item = &'n Numbers> + Clone) -> Map<String, Json> {
    let names: BTreeSet<&String> = rollouts.clone().flat_map(BTreeMap::keys).collect();
    let mut told = Map::new();
    for name in names {
        let mut values: Vec<f64> = rollouts.clone().filter_map(|numbers| numbers.get(name).copied()).collect();
        values.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (values.first().copied(), values.last().copied()) else { continue };
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let spread = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        for (word, figure) in [("mean", mean), ("max", most), ("min", least), ("median", median), ("std", spread)] {
            told.insert(format!("{word}/{name}"), figure.into());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_for_each_task_and_over_all() {
        let body = br#"{"verify_responses": [
            {"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "passed": true, "task": "a"},
            {"_ng_task_index": 0, "_ng_rollout_index": 1, "reward": 0.0, "passed": false, "task": "a"},
            {"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 1.0, "passed": true, "response": {"usage": {"input_tokens": 7}}}
        ]}"#;
        let told = of(body).unwrap();
        assert_eq!(told["group_level_metrics"][0]["mean/reward"], 0.5);
        assert_eq!(told["group_level_metrics"][0]["rollout_infos"][1]["rollout_id"], "0:1");
        assert_eq!(told["agent_metrics"]["max/input_tokens"], 7.0);
        assert_eq!(told["key_metrics"]["mean/passed"], 2.0 / 3.0);
        assert!(told["key_metrics"].get("std/passed").is_none() && told["agent_metrics"].get("mean/task").is_none());
        let empty = of(br#"{"verify_responses": []}"#).unwrap();
        assert_eq!(empty, json!({ "group_level_metrics": [], "agent_metrics": {}, "key_metrics": {} }));
    }

    #[test]
    fn a_rollout_that_is_there_twice_is_refused() {
        let twice = br#"{"verify_responses": [{"reward": 1.0}, {"reward": 0.0}]}"#;
        assert!(of(twice).unwrap_err().contains("twice"));
        assert!(of(b"[]").is_err());
    }
}
