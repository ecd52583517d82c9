//! The tools of a world as every wire shows them: those that a task offers, with their schemas, made once and shared by all
//! episodes of the world.

use benchwright_base::nearest;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_world::ToolLine;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The key of an answer that is no object, where a wire wants one.
const WRAPPED: &str = "result";

/// The tools that the agent of a world may call, in the order of the world.
#[derive(Clone, Debug)]
pub struct ToolSet {
    lines: Vec<ToolLine>,
    /// The same as MCP lists them.
    listed: Vec<rmcp::model::Tool>,
    places: BTreeMap<String, usize>,
    /// The tools that the world has and the task does not offer.
    withheld: BTreeSet<String>,
}

impl ToolSet {
    /// The tools of a world; all of them, or those that a task names.
    pub fn new(all: Vec<ToolLine>, named: &[String]) -> ToolSet {
        let wanted = |tool: &ToolLine| named.is_empty() || named.contains(&tool.name);
        let (lines, others): (Vec<ToolLine>, Vec<ToolLine>) = all.into_iter().partition(wanted);
        let places = lines.iter().enumerate().map(|(at, line)| (line.name.clone(), at)).collect();
        let listed = lines.iter().map(crate::mcp::listed).collect();
        ToolSet { lines, listed, places, withheld: others.into_iter().map(|line| line.name).collect() }
    }

    /// All tools that the agent may call, in the order of the world.
    pub fn lines(&self) -> &[ToolLine] {
        &self.lines
    }

    /// All tools, as MCP lists them.
    pub(crate) fn listed(&self) -> &[rmcp::model::Tool] {
        &self.listed
    }

    /// Where the tool of a name is.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The tool of a name.
    pub fn line(&self, name: &str) -> Option<&ToolLine> {
        self.place(name).and_then(|at| self.lines.get(at))
    }

    /// Whether the world has a tool of that name which the task does not offer.
    pub fn withholds(&self, name: &str) -> bool {
        self.withheld.contains(name)
    }

    /// What whoever calls a tool is told that is not offered.
    pub fn not_offered(&self, name: &str) -> Refusal {
        let near = nearest(name, self.lines.iter().map(|line| &*line.name));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Refusal::new(RefusalCode::NotFound, format!("there is no tool `{name}`{near}"))
    }
}

/// Whether answers of a tool may be something else than an object.
fn is_wrapped(line: &ToolLine) -> bool {
    line.answer.get("type") != Some(&json!("object"))
}

/// The schema of a tool's answer as an object.
pub(crate) fn answer_object(line: &ToolLine) -> Json {
    if !is_wrapped(line) {
        return line.answer.clone();
    }
    json!({ "type": "object", "properties": { WRAPPED: line.answer }, "required": [WRAPPED] })
}

/// An answer of a tool as an object.
pub(crate) fn as_object(line: &ToolLine, answer: Json) -> Json {
    if is_wrapped(line) { json!({ WRAPPED: answer }) } else { answer }
}
