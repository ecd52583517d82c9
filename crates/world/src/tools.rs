//! A tool as agents are shown it: name, description, schemas of arguments and answer, and whether it only reads. Every wire
//! lists tools from this, whichever engine serves them.

use benchwright_schema::{Domain, Tool, Verb, arguments_schema, result_schema};
use serde_json::Value as Json;

/// One tool of a world, with all that any wire shows of it.
#[derive(Clone, Debug)]
pub struct ToolLine {
    /// The name that agents call it by.
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
}

impl ToolLine {
    /// The tools of a domain, in its order.
    pub fn all_of(domain: &Domain) -> Vec<ToolLine> {
        let line = |tool: &Tool| ToolLine {
            name: tool.name.clone(),
            description: tool.description.clone(),
            table: tool.table.map(|table| domain.table(table).name.clone()),
            arguments: arguments_schema(domain, tool),
            answer: result_schema(domain, tool),
            reads_only: tool.reads_only(),
            destroys: match tool.verb {
                Verb::Update | Verb::Delete => true,
                Verb::Native => !tool.reads_only(),
                _ => false,
            },
        };
        domain.tools.iter().map(line).collect()
    }
}
