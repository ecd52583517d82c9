//! A recorded trial as a trajectory in Harbor's interchange format (ATIF 1.8): what was asked, then a step for each message of the agent
//! with its calls and what they were answered. Steps have no time of day, because a run keeps none.

use crate::dialogue::{CallFacts, RunFacts, TrialFacts, Turn};
use serde_json::{Map, Value as Json, json};

/// The version that is written.
pub const ATIF_VERSION: &str = "ATIF-v1.8";

/// The document of a trial.
pub fn atif(run: &RunFacts, trial: &TrialFacts) -> Json {
    let mut steps: Vec<Json> = Vec::new();
    let mut step = |mut step: Json| {
        let mut numbered = Map::from_iter([("step_id".to_owned(), Json::from(steps.len() + 1))]);
        if let Json::Object(rest) = &mut step {
            numbered.append(rest);
        }
        steps.push(Json::Object(numbered));
    };
    let told = trial.end.as_ref().ok();
    if let Some(system) = told.and_then(|told| told.system.as_ref()) {
        step(json!({ "source": "system", "message": system }));
    }
    step(json!({ "source": "user", "message": told.map_or(&trial.asked, |told| &told.user) }));
    for turn in told.iter().flat_map(|told| &told.turns) {
        step(turned(turn));
    }
    let total = steps.len();
    let mut agent = json!({ "name": run.agent, "version": run.version });
    if let Some((_, model)) = run.agent.split_once(':') {
        agent["model_name"] = model.split('@').next().unwrap_or(model).into();
    }
    if let Some(told) = told {
        agent["tool_definitions"] = told.tools.iter().map(|tool| tool.to_function()).collect();
    }
    let mut metrics = Map::new();
    let counts = [("total_prompt_tokens", trial.tokens_in), ("total_completion_tokens", trial.tokens_out)];
    metrics.extend(counts.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count?.into()))));
    if let Some(cost) = trial.cost {
        metrics.insert("total_cost_usd".to_owned(), (cost as f64 / 1e6).into());
    }
    metrics.insert("total_steps".to_owned(), total.into());
    let ended = match &trial.end {
        Ok(told) => json!({
            "reward": told.judged.share(), "pass": told.judged.pass, "failed": told.judged.failed,
            "gates": told.judged.gates, "stop": told.stop(),
        }),
        Err((cause, detail)) => json!({ "error": cause, "detail": detail }),
    };
    metrics.insert("extra".to_owned(), ended);
    let task = &trial.task;
    json!({
        "schema_version": ATIF_VERSION,
        "session_id": run.name,
        "trajectory_id": format!("{}-{:06}", run.name, trial.number),
        "agent": agent,
        "steps": steps,
        "final_metrics": metrics,
        "extra": {
            "task": task.id, "task_digest": task.digest, "attempt": trial.attempt, "domain": task.domain,
            "pattern": task.pattern, "tier": task.tier, "objective": task.objective, "split": task.split,
            "canary": task.canary, "wall_seconds": trial.wall as f64 / 1e6,
        },
    })
}

fn turned(turn: &Turn) -> Json {
    let mut step = json!({ "source": "agent", "message": turn.text });
    if turn.calls.is_empty() {
        return step;
    }
    let call =
        |call: &CallFacts| json!({ "tool_call_id": call.id, "function_name": call.tool, "arguments": call.object() });
    let result = |call: &CallFacts| {
        let mut result = json!({ "source_call_id": call.id, "content": call.answer });
        if let Some(refused) = &call.refused {
            result["extra"] = json!({ "refused": refused });
        }
        result
    };
    step["tool_calls"] = turn.calls.iter().map(call).collect();
    step["observation"] = json!({ "results": turn.calls.iter().map(result).collect::<Vec<Json>>() });
    step
}
