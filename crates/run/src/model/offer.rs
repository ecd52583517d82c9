//! Which tools a model is offered where it is not offered all: those that the oracle uses, those that read what it needs to
//! know, and a number of others that look alike.

use super::spec::Tools;
use crate::{AgentError, Host, Hosted, ToolCard};
use benchwright_calls::offered::ids_of;
use benchwright_pack::OpenPart;
use benchwright_project::{Family, FamilyError, NotAnswered, Offered, ToolAccess, answered, toolset};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The tools by which a request is ended in words.
const REPLIES: [&str; 2] = ["decline_request", "submit_answer"];

/// The tools of a setting, in the order of the list; the same for every agent and attempt, so that agents can be compared.
///
/// The tools of the oracle are those that its calls use and, because a certified plan reads hardly anything, those with which
/// the closed-book reader finds all that is to be known, where the family has one. To them come all that read their tables. Whether a
/// request can be carried out must not show in them: one that cannot has the tools of its twin, and each can be declined and answered.
pub fn offer(tools: Tools, host: &dyn Host, task: &OpenPart, all: &[ToolCard]) -> Result<Vec<ToolCard>, AgentError> {
    let allowed = |card: &&ToolCard| task.open.tools.is_empty() || task.open.tools.contains(&card.name);
    let all: Vec<&ToolCard> = all.iter().filter(allowed).collect();
    let Tools::Oracle { distractors } = tools else { return Ok(all.into_iter().cloned().collect()) };
    let sealed = host.sealed(&task.open.id)?;
    let mut used: BTreeSet<String> = sealed.oracle.steps.iter().map(|step| step.tool()).collect();
    used.extend(sealed.needs);
    used.extend(REPLIES.map(str::to_owned));
    if let Some(reader) = host.family(&task.open.id).ok().and_then(Family::reader) {
        // In an episode of its own: what it reads is not counted as the agent's.
        let mut access = Noting { episode: &mut *host.begin(&task.open.id)?, asked: BTreeSet::new() };
        let read =
            reader.read_back(&task.instruction, &mut access).and_then(|case| reader.addresses(&case, &mut access));
        let unread = |error: FamilyError| AgentError { cause: "task".to_owned(), detail: error.to_string() };
        read.map_err(unread)?;
        used.append(&mut access.asked);
    }
    let tables = tables(&all);
    let table = |card: &ToolCard| tables.iter().find(|table| is_about(card, table)).copied();
    let about: BTreeSet<&str> =
        all.iter().filter(|card| used.contains(&card.name)).filter_map(|card| table(card)).collect();
    let reads = |card: &&&ToolCard| card.reads_only && table(card).is_some_and(|table| about.contains(table));
    used.extend(all.iter().filter(reads).map(|card| card.name.clone()));
    let offered: Vec<Offered<'_>> = all
        .iter()
        .map(|card| Offered { name: &card.name, table: table(card), description: &card.description })
        .collect();
    let names = toolset(&offered, &used, distractors as usize, 0, &["toolset", &task.open.id]);
    Ok(all.into_iter().filter(|card| names.contains(&card.name)).cloned().collect())
}

/// The tables that cards speak of, longest name first: those they are about, and those whose rows they take.
fn tables<'c>(all: &[&'c ToolCard]) -> Vec<&'c str> {
    let named = all.iter().flat_map(|card| [card.table.as_deref(), ids_of(&card.arguments)]).flatten();
    let mut tables: Vec<&str> = named.collect::<BTreeSet<&str>>().into_iter().collect();
    tables.sort_by_key(|table| std::cmp::Reverse(table.len()));
    tables
}

/// Whether a tool is about a table: as its card says, or by its name, which begins with the table's where a card does not say.
fn is_about(card: &ToolCard, table: &str) -> bool {
    let by_name = || card.name.strip_prefix(table).is_some_and(|rest| rest.starts_with('_'));
    card.table.as_deref().map_or_else(by_name, |known| known == table)
}

/// Tool access that notes what is asked. Nothing has to be kept from whoever asks: the episode is thrown away, and in some worlds reading
/// costs something that is counted.
struct Noting<'e> {
    episode: &'e mut dyn Hosted,
    asked: BTreeSet<String>,
}

impl ToolAccess for Noting<'_> {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        if !self.episode.tools().iter().any(|known| known.name == tool) {
            return Err(NotAnswered(format!("there is no tool `{tool}`")));
        }
        self.asked.insert(tool.to_owned());
        answered(self.episode.call(tool, &arguments.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_without_a_table_is_about_the_longest_that_its_name_begins_with() {
        let card = |name: &str, table: Option<&str>, takes: Option<&str>| ToolCard {
            name: name.to_owned(),
            description: String::new(),
            arguments: takes.map_or(json!({}), |table| {
                let ids = json!({ "items": { "description": format!("id of {table}") } });
                json!({ "properties": { "ids": ids } })
            }),
            reads_only: true,
            table: table.map(str::to_owned),
        };
        let cards = [
            card("sale_order_read", None, Some("sale_order")),
            card("sale_order_line_write", None, Some("sale_order_line")),
            card("sale_order_line_search_read", None, None),
            card("find_thing", Some("thing"), None),
            card("weather", None, None),
        ];
        let cards: Vec<&ToolCard> = cards.iter().collect();
        let tables = tables(&cards);
        let about = |card: &&ToolCard| tables.iter().find(|table| is_about(card, table)).copied();
        let found: Vec<Option<&str>> = cards.iter().map(about).collect();
        let (order, line) = (Some("sale_order"), Some("sale_order_line"));
        assert_eq!(found, [order, line, line, Some("thing"), None]);
    }
}
