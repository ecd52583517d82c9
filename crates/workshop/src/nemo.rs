//! Tasks as the rows that NeMo Gym and verifiers read: what a model is asked, with the tools that it is offered. Nothing sealed is in
//! them; the server behind the wire judges.

use crate::{Error, play::Playable};
use benchwright_serve::{NEMO_RESERVED, ToolSet};
use serde_json::{Value as Json, json};

/// The row of a task with the tools of an offer.
pub fn row(task: &Playable, tools: &ToolSet) -> Result<Json, Error> {
    let part = task.part();
    if let Some(line) = tools.lines().iter().find(|line| NEMO_RESERVED.contains(&&*line.name)) {
        return Err(Error::ReservedTool { id: part.open.id.clone(), tool: line.name.clone() });
    }
    let function = |line: &benchwright_world::ToolLine| {
        json!({
            "type": "function",
            "name": line.name,
            "description": line.description,
            "parameters": line.arguments,
            "strict": false,
        })
    };
    let tools: Vec<Json> = tools.lines().iter().map(function).collect();
    Ok(json!({
        "task": part.open.id,
        "responses_create_params": {
            "input": [{ "role": "user", "content": part.instruction }],
            "tools": tools,
            "parallel_tool_calls": false,
        },
        "canary": part.open.canary,
    }))
}
