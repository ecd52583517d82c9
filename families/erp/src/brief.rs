//! The instruction: a brief from a planning manager to a planner who works in the system with tools.
//!
//! It has two kinds of sentences. Those that tell rules come from the plan's `says` and are kept as clauses; what a planner
//! must know besides (the requests, the intake tests, where things stand in the system) comes from `words`. Each has a few
//! phrasings with the same numbers and one key phrase in common, and the task's seed chooses. Dates are written
//! `2032-03-05`, money `$1,234.50` with two decimals always, counts in digits; there is no other number in the text.
//!
//! Requests that are only in the brief stand in a table. Those that are in the system are named with what the system does
//! not hold, which is the customer's limit; their units, customers and needed-by dates are read from the records.

mod outline;
mod values;
mod words;

use super::shop::Shop;
use benchwright_pack::Clause;
use benchwright_project::{Brief, Draw, Placeholder};
use benchwright_schema::plan::{PlanText, RuleText};
use outline::{OUTLINE, Part};
use values::Values;

/// What stands over a brief. The title of the pattern would tell what kind of task it is before a word of it is read.
const HEADINGS: [&str; 4] = [
    "A note on the {item}",
    "The {item}: what is asked of you",
    "For whoever plans the {item}",
    "The {item}, from today on",
];

/// The brief of a case. The plan holds the rules that apply to it.
pub(crate) fn write(draw: &Draw<'_>, shop: &Shop, plan: &PlanText) -> Result<Brief, String> {
    let mut writer = Writer { draw, shop, plan, values: values::values(shop)?, clauses: Vec::new(), told: Vec::new() };
    let words = &draw.pattern.text;
    let mut blocks = vec![format!("# {}", writer.phrase("heading", &HEADINGS)?)];
    blocks.push(writer.phrase("opening", &words.opening)?);
    for heading in OUTLINE {
        let mut section = Vec::new();
        for group in heading.groups {
            section.extend(writer.group(group)?);
        }
        section.extend(writer.rest(heading.families)?);
        if !section.is_empty() {
            blocks.push(format!("## {}", heading.title));
            blocks.extend(section);
        }
    }
    let goals = words.goal.get(&shop.objective);
    let goals = goals.ok_or_else(|| format!("the pattern has no words for the goal {}", shop.objective))?;
    blocks.push("## The goal".to_owned());
    blocks.push(writer.phrase("goal", goals)?);
    blocks.push(writer.phrase("closing", &words.closing)?);
    writer.check_all_told()?;
    Ok(Brief { text: joined(&blocks), clauses: writer.clauses })
}

/// What may stand in braces in words and sentences.
pub(crate) fn placeholders() -> Vec<Placeholder> {
    let placeholder = |name: &'static str| {
        // Whoever reads the text back finds the finished product and day 0 in the opening.
        Placeholder { name, stands_for: None, opens: matches!(name, "code" | "today") }
    };
    values::NAMES.into_iter().map(placeholder).collect()
}

/// Blocks with a blank line between, entries of one list without.
fn joined(blocks: &[String]) -> String {
    let mut text = String::new();
    let mut in_list = false;
    for (at, block) in blocks.iter().enumerate() {
        let entry = block.starts_with("- ");
        if at > 0 {
            text.push_str(if entry && in_list { "\n" } else { "\n\n" });
        }
        text.push_str(block);
        in_list = entry;
    }
    text.push('\n');
    text
}

/// The brief as it grows.
struct Writer<'a> {
    draw: &'a Draw<'a>,
    shop: &'a Shop,
    plan: &'a PlanText,
    values: Values,
    clauses: Vec<Clause>,
    /// The rules that are told already.
    told: Vec<String>,
}

impl Writer<'_> {
    /// One of several phrasings, with its placeholders filled.
    fn phrase(&self, name: &str, phrasings: &[impl AsRef<str>]) -> Result<String, String> {
        let mut stream = self.draw.stream(&format!("phrase/{name}"));
        let chosen = stream.pick(phrasings).ok_or_else(|| format!("`{name}` has no phrasing"))?;
        fill(chosen.as_ref(), &self.values)
    }

    /// The sentences of a group as one entry of a list, or as a paragraph before its tables.
    fn group(&mut self, parts: &[Part]) -> Result<Vec<String>, String> {
        let mut sentences = Vec::new();
        let mut tables = Vec::new();
        for part in parts {
            match part {
                Part::Rule(id) => sentences.extend(self.tell(id)?),
                Part::Say(name) => {
                    let phrasings = words::say(name, self.shop);
                    if !phrasings.is_empty() {
                        sentences.push(self.phrase(name, &phrasings)?);
                    }
                }
                Part::Block(name) => tables.extend(words::block(name, self.shop)?),
            }
        }
        let mut blocks = Vec::new();
        if !sentences.is_empty() {
            let mark = if tables.is_empty() { "- " } else { "" };
            blocks.push(format!("{mark}{}", sentences.join(" ")));
        }
        blocks.extend(tables);
        Ok(blocks)
    }

    /// The rules of some families that no outline names: those a pattern adds.
    fn rest(&mut self, families: &[&str]) -> Result<Vec<String>, String> {
        let named = |id: &str| OUTLINE.iter().flat_map(|heading| heading.groups).any(|parts| names(parts, id));
        let rules = self.plan.rules.iter().filter(|(id, rule)| families.contains(&&*rule.family) && !named(id));
        let ids: Vec<&String> = rules.map(|(id, _)| id).collect();
        let mut lines = Vec::new();
        for id in ids {
            lines.extend(self.tell(id)?.map(|sentence| format!("- {sentence}")));
        }
        Ok(lines)
    }

    /// The sentence of a rule, if the rule applies and has one.
    fn tell(&mut self, id: &str) -> Result<Option<String>, String> {
        let Some(rule) = self.plan.rules.get(id) else { return Ok(None) };
        if rule.says.is_empty() {
            return Ok(None);
        }
        let text = self.phrase(id, &rule.says)?;
        let with = self.plan.rules.iter().filter(|(_, other)| other.told_with.as_deref() == Some(id));
        let tells: Vec<String> = std::iter::once(id.to_owned()).chain(with.map(|(other, _)| other.clone())).collect();
        self.told.extend(tells.iter().cloned());
        self.clauses.push(Clause { tells, text: text.clone() });
        Ok(Some(text))
    }

    /// Every rule must be told once, unless the world tells it.
    fn check_all_told(&self) -> Result<(), String> {
        let times = |id: &String| self.told.iter().filter(|told| *told == id).count();
        let by_world = |rule: &RuleText| rule.told_by.as_deref() == Some("world");
        let wrong = |(id, rule): &(&String, &RuleText)| times(id) != usize::from(!by_world(rule));
        match self.plan.rules.iter().find(wrong) {
            Some((id, _)) => Err(format!("the brief tells {id} {} times", times(id))),
            None => Ok(()),
        }
    }
}

fn names(parts: &[Part], id: &str) -> bool {
    parts.iter().any(|part| matches!(part, Part::Rule(known) if *known == id))
}

/// A text with every `{name}` replaced by what it stands for.
fn fill(text: &str, values: &Values) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| format!("`{text}` has an open brace"))?;
        let value = values.get(name).ok_or_else(|| format!("`{{{name}}}` stands for nothing in `{text}`"))?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests;
