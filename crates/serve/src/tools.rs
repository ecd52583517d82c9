//! The tools of a world as every wire shows them.

use benchwright_sandbox::Sandbox;
use benchwright_schema::{Tool, Verb, arguments_schema, result_schema};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The key of an answer that is no object, where a wire wants one.
pub(crate) const WRAPPED: &str = "result";

/// One tool.
#[derive(Clone, Debug)]
pub struct ToolLine {
    /// Its name.
    pub name: String,
    /// One line for the agent.
    pub description: String,
    /// The table it is about, if it is about one.
    pub table: Option<String>,
    /// The JSON Schema of its arguments: an object.
    pub arguments: Json,
    /// The JSON Schema of its answer.
    pub answer: Json,
    /// Whether no call of it changes the world.
    pub reads_only: bool,
    /// Whether a call of it may change or take away what is there.
    pub destroys: bool,
    /// Whether its answer may be something else than an object.
    pub is_wrapped: bool,
}

/// The tools that the agent of a world may call, in the order of the domain.
#[derive(Clone, Debug)]
pub struct ToolSet {
    lines: Vec<ToolLine>,
    /// The same as MCP lists them.
    listed: Vec<rmcp::model::Tool>,
    places: BTreeMap<String, usize>,
    /// The models of Odoo that the domain's tables stand for.
    models: BTreeSet<String>,
}

impl ToolSet {
    /// The tools of a sandbox; all of them, or those that a task names.
    pub(crate) fn new(sandbox: &Sandbox, named: &[String]) -> ToolSet {
        let domain = sandbox.domain();
        let wanted = |tool: &&Tool| named.is_empty() || named.contains(&tool.name);
        let line = |tool: &Tool| {
            let answer = result_schema(domain, tool);
            ToolLine {
                name: tool.name.clone(),
                description: tool.description.clone(),
                table: tool.table.map(|table| domain.table(table).name.clone()),
                arguments: arguments_schema(domain, tool),
                is_wrapped: answer.get("type") != Some(&json!("object")),
                answer,
                reads_only: tool.reads_only(),
                destroys: match tool.verb {
                    Verb::Update | Verb::Delete => true,
                    Verb::Native => !tool.reads_only(),
                    _ => false,
                },
            }
        };
        let lines: Vec<ToolLine> = domain.tools.iter().filter(wanted).map(line).collect();
        let places = lines.iter().enumerate().map(|(at, line)| (line.name.clone(), at)).collect();
        let models = domain.tables.iter().filter_map(|table| table.odoo.clone()).collect();
        let listed = lines.iter().map(crate::mcp::listed).collect();
        ToolSet { lines, listed, places, models }
    }

    /// All tools.
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

    /// Whether there are models of Odoo.
    pub fn has_models(&self) -> bool {
        !self.models.is_empty()
    }

    /// The tool that a method of a model is, whether or not it is there.
    pub fn tool_of(&self, model: &str, method: &str) -> Option<String> {
        self.models.contains(model).then(|| format!("{}_{method}", model.replace('.', "_")))
    }
}

impl ToolLine {
    /// The schema of the answer as an object.
    pub(crate) fn answer_object(&self) -> Json {
        if !self.is_wrapped {
            return self.answer.clone();
        }
        json!({ "type": "object", "properties": { WRAPPED: self.answer }, "required": [WRAPPED] })
    }

    /// An answer as an object.
    pub(crate) fn as_object(&self, answer: Json) -> Json {
        if self.is_wrapped { json!({ WRAPPED: answer }) } else { answer }
    }
}
