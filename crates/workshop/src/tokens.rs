//! How long a list of tools is for a model: names, descriptions and argument schemas in tokens of `o200k_base`.

use crate::Error;
use benchwright_base::{RelationId, TableId};
use benchwright_schema::{Domain, Tool, arguments_schema};
use serde_json::{Value as Json, json};

/// The vocabulary that is counted in.
pub const ENCODING: &str = "o200k_base";

/// Counts tokens as models of the vocabulary `o200k_base` do.
pub struct Counter(Vocabulary);

#[cfg(feature = "tokens")]
type Vocabulary = tiktoken_rs::CoreBPE;

/// There is none in a program that was built without it.
#[cfg(not(feature = "tokens"))]
enum Vocabulary {}

/// Tools that can be handed to an agent together, and their size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolSet {
    /// What holds them together: `reading`, `writing`, or a table.
    pub name: String,
    /// How many they are.
    pub tools: usize,
    /// Their list in tokens.
    pub tokens: usize,
}

/// The size of a domain's tool list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Size {
    /// How many tools it has.
    pub tools: usize,
    /// The whole list in tokens.
    pub tokens: usize,
    /// Of these, what names, descriptions and argument schemas take by themselves.
    pub names: usize,
    /// Tokens of all descriptions.
    pub descriptions: usize,
    /// Tokens of all schemas of arguments.
    pub arguments: usize,
    /// The longest tool with its tokens.
    pub longest: (String, usize),
    /// The tools that only read, and those that write.
    pub by_effect: Vec<ToolSet>,
    /// The tools about each table; a native tool counts for the first table that it writes, or else reads.
    pub by_table: Vec<ToolSet>,
}

impl Counter {
    /// A counter; reading the vocabulary takes a moment.
    #[cfg(feature = "tokens")]
    pub fn new() -> Result<Counter, Error> {
        tiktoken_rs::o200k_base().map(Counter).map_err(|error| Error::Vocabulary(error.to_string()))
    }

    /// There is no vocabulary in this program.
    #[cfg(not(feature = "tokens"))]
    pub fn new() -> Result<Counter, Error> {
        let why =
            "the program of the wheel comes without it; that of an archive, or built from the sources, counts tokens";
        Err(Error::Vocabulary(why.to_owned()))
    }

    /// The tokens of a text. Nothing in it has a special meaning.
    pub fn count(&self, text: &str) -> usize {
        #[cfg(feature = "tokens")]
        return self.0.encode_ordinary(text).len();
        #[cfg(not(feature = "tokens"))]
        {
            let _ = text;
            match self.0 {}
        }
    }

    /// The size of a domain's list.
    pub fn size(&self, domain: &Domain) -> Size {
        let cards: Vec<Json> = domain.tools.iter().map(|tool| card(domain, tool)).collect();
        let of = |name: &str, is_in: &dyn Fn(&Tool) -> bool| {
            let list: Vec<&Json> =
                domain.tools.iter().zip(&cards).filter(|(tool, _)| is_in(tool)).map(|(_, card)| card).collect();
            ToolSet { name: name.to_owned(), tools: list.len(), tokens: self.count(&json!(list).to_string()) }
        };
        let sum = |text: &dyn Fn(&Json) -> String| cards.iter().map(|card| self.count(&text(card))).sum();
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let lengths = domain.tools.iter().zip(&cards);
        let lengths = lengths.map(|(tool, card)| (tool.name.clone(), self.count(&card.to_string())));
        let all = of("all", &|_| true);
        let tables = domain.tables.iter().enumerate().map(|(nth, table)| {
            let id = RelationId(nth as u16);
            of(&table.name, &|tool| subject(tool) == Some(id))
        });
        Size {
            tools: all.tools,
            tokens: all.tokens,
            names: sum(&|card| text(&card["name"])),
            descriptions: sum(&|card| text(&card["description"])),
            arguments: sum(&|card| card["parameters"].to_string()),
            longest: lengths.max_by_key(|(_, tokens)| *tokens).unwrap_or_default(),
            by_effect: vec![of("reading", &Tool::reads_only), of("writing", &|tool| !tool.reads_only())],
            by_table: tables.filter(|set| set.tools > 0).collect(),
        }
    }
}

/// A tool as a model is told of it.
fn card(domain: &Domain, tool: &Tool) -> Json {
    json!({ "name": tool.name, "description": tool.description, "parameters": arguments_schema(domain, tool) })
}

/// The table that a tool is about.
fn subject(tool: &Tool) -> Option<TableId> {
    let native = || tool.native.as_ref().and_then(|native| native.writes.first().or(native.reads.first()).copied());
    tool.table.or_else(native)
}

impl Size {
    /// The document of `--json`.
    pub fn to_json(&self, domain: &Domain) -> Json {
        let sets = |sets: &[ToolSet]| -> Json {
            sets.iter().map(|set| json!({ "name": set.name, "tools": set.tools, "tokens": set.tokens })).collect()
        };
        json!({
            "name": domain.name,
            "encoding": ENCODING,
            "tools": self.tools,
            "tokens": self.tokens,
            "tokens_per_tool": self.tokens.checked_div(self.tools),
            "names": self.names,
            "descriptions": self.descriptions,
            "arguments": self.arguments,
            "longest": { "tool": self.longest.0, "tokens": self.longest.1 },
            "toolsets": { "by_effect": sets(&self.by_effect), "by_table": sets(&self.by_table) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_catalog::Catalog;

    #[test]
    fn tokens_are_those_of_the_vocabulary() {
        let counter = Counter::new().unwrap();
        assert_eq!(counter.0.encode_ordinary("hello world"), [24912, 2375]);
        assert_eq!(counter.count("<|endoftext|>"), 7, "special words are plain text here");
        assert_eq!(counter.count(""), 0);
    }

    #[test]
    fn every_tool_counts_once_in_each_division() {
        let counter = Counter::new().unwrap();
        let found = Catalog::built_in().find("drive").unwrap();
        let size = counter.size(&found.domain);
        assert_eq!(size.tools, found.domain.tools.len());
        for sets in [&size.by_effect, &size.by_table] {
            assert_eq!(sets.iter().map(|set| set.tools).sum::<usize>(), size.tools);
            assert!(sets.iter().all(|set| set.tokens < size.tokens));
        }
        assert!(size.names + size.descriptions + size.arguments < size.tokens);
        assert!(size.longest.1 > size.tokens / size.tools);
    }
}
