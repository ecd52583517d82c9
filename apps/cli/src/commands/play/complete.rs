//! Completion at the prompt: commands, tools, their arguments, and the words an argument takes.

use benchwright_sandbox::Sandbox;
use benchwright_schema::{Domain, arguments_schema};
use benchwright_workshop::session::{Session, help::COMMANDS};
use rustyline::{
    Context, Helper,
    completion::{Completer, Pair},
    highlight::Highlighter,
    hint::Hinter,
    validate::Validator,
};
use serde_json::Value as Json;
use std::sync::Arc;

/// What helps at the prompt.
pub(super) struct Prompter {
    sandbox: Arc<Sandbox>,
}

impl Prompter {
    pub(super) fn new(session: &Session) -> Prompter {
        Prompter { sandbox: Arc::clone(session.sandbox()) }
    }
}

impl Completer for Prompter {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = complete(self.sandbox.domain(), line.get(..at).unwrap_or(line));
        // What is whole is followed by a blank; a `=` by its value.
        let whole = |text: &str| if text.ends_with('=') { text.to_owned() } else { format!("{text} ") };
        Ok((start, found.into_iter().map(|text| Pair { replacement: whole(&text), display: text }).collect()))
    }
}

impl Hinter for Prompter {
    type Hint = String;
}

impl Highlighter for Prompter {}

impl Validator for Prompter {}

impl Helper for Prompter {}

/// Where the word under way begins, and what it can become.
pub(super) fn complete(domain: &Domain, before: &str) -> (usize, Vec<String>) {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &before[start..];
    let tools = || domain.tools.iter().map(|tool| tool.name.clone());
    let begun = |found: Vec<String>| found.into_iter().filter(|text| text.starts_with(word)).collect();
    let mut earlier = before[..start].split_whitespace();
    let mut first = earlier.next();
    if first == Some("call") {
        first = earlier.next();
        if first.is_none() {
            return (start, begun(tools().collect()));
        }
    }
    let Some(first) = first else {
        let commands = COMMANDS.iter().map(|(word, ..)| (*word).to_owned());
        return (start, begun(commands.chain(tools()).collect()));
    };
    match first {
        "help" => return (start, begun(tools().collect())),
        "tools" => return (start, begun(domain.tables.iter().map(|table| table.name.clone()).collect())),
        "diff" => return (start, begun(vec!["last".to_owned()])),
        _ => {}
    }
    let Some(tool) = domain.tool_named(first) else { return (start, Vec::new()) };
    let schema = arguments_schema(domain, &domain.tools[tool]);
    if let Some((name, value)) = word.split_once('=') {
        let start = start + name.len() + 1;
        let words = words(&schema["properties"][name]);
        return (start, words.into_iter().filter(|text| text.starts_with(value)).collect());
    }
    let given: Vec<&str> = earlier.filter_map(|word| word.split_once('=')).map(|(name, _)| name).collect();
    let names = schema["properties"].as_object().into_iter().flat_map(|all| all.keys());
    let free = names.filter(|name| !given.contains(&&***name)).map(|name| format!("{name}="));
    (start, begun(free.collect()))
}

/// The words that an argument takes, if they can be counted.
fn words(schema: &Json) -> Vec<String> {
    let takes = |kind: &str| match &schema["type"] {
        Json::Array(kinds) => kinds.iter().any(|known| known == kind),
        only => only == kind,
    };
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| word.as_str().unwrap_or("null").to_owned()).collect();
    }
    let mut words = Vec::new();
    if takes("boolean") {
        words.extend(["true".to_owned(), "false".to_owned()]);
    }
    if takes("null") {
        words.push("null".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn completed(before: &str) -> (usize, Vec<String>) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/domains");
        let found = benchwright_catalog::Catalog::from_folder(folder).find("shop").unwrap();
        complete(&found.domain, before)
    }

    fn words(before: &str) -> Vec<String> {
        completed(before).1
    }

    #[test]
    fn the_first_word_is_a_command_or_a_tool() {
        assert_eq!(words("wh"), ["whoami"]);
        assert_eq!(words("place"), ["place_order"]);
        assert_eq!(words("help plac"), ["place_order"]);
        assert_eq!(words("call plac"), ["place_order"]);
        assert_eq!(words("diff "), ["last"]);
        assert_eq!(words("tools pro"), ["product"]);
        assert!(words("").len() > 20);
        assert!(words("nothing_of_the_kind a").is_empty());
    }

    #[test]
    fn then_come_arguments_that_are_not_given_yet_and_their_words() {
        assert!(words("find_orders ").contains(&"status=".to_owned()));
        assert_eq!(words("find_orders stat"), ["status="]);
        assert!(words("find_orders status=new stat").is_empty());
        assert_eq!(completed("find_orders status=n"), (19, vec!["new".to_owned()]));
        assert_eq!(words("find_products active=t"), ["true"]);
        assert!(words("find_orders number=").is_empty());
    }
}
