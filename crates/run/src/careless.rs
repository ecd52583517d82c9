//! Agents that know how the work is done and do it badly, each with one vice: the guesses of whoever does not look. What they earn is
//! the floor beside which an agent on requests stands.

use crate::{Hosted, ToolCard, policy::ids};
use benchwright_calls::offered::Maker;
use benchwright_pack::{FindPick, OpenPart, Script, Step};
use benchwright_schema::Domain;
use benchwright_world::seen::{self, Known, Seen};
use serde_json::{Value as Json, json};

/// The tool by which a request is declined.
const DECLINE: &str = "decline_request";
/// The reasons for which one may be.
const OBSTACLES: [&str; 5] = ["policy", "permission", "no_tool", "not_found", "contradiction"];

/// What a careless agent does badly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Vices {
    /// Takes the first row of every answer for what it looks for.
    pub(crate) first_hit: bool,
    /// Does what is asked for, and nothing that the policy adds.
    pub(crate) literal: bool,
    /// Leaves out every argument that need not be given when it writes.
    pub(crate) defaults: bool,
}

/// Carries out a script with vices. What is refused is passed over; what should be declined is not noticed, and nothing is done.
pub(crate) fn play(script: &Script, vices: Vices, domain: &Domain, episode: &mut dyn Hosted) {
    if script.steps.iter().any(|step| step.model == DECLINE) {
        return;
    }
    let Ok(mut seen) = seen::begin(script, domain, domain.now) else { return };
    let cards = episode.tools().to_vec();
    for (at, step) in script.steps.iter().enumerate() {
        let card = cards.iter().find(|card| card.name == step.tool());
        let writes = card.is_some_and(|card| !card.reads_only);
        if vices.literal && writes && step.because.as_ref().is_some_and(|why| why.starts_with("policy ")) {
            continue;
        }
        let mut step = step.clone();
        if let Some(card) = card.filter(|_| writes) {
            let ruled = std::mem::take(&mut step.ruled);
            shorten(&mut step, card, |name| vices.defaults || vices.literal && ruled.iter().any(|known| known == name));
        }
        let finds = match vices.first_hit {
            true => std::mem::take(&mut step.finds),
            false => Vec::new(),
        };
        let mut first = None;
        let mut call = |tool: &str, arguments: &str| {
            let answer = episode.call(tool, arguments)?;
            first = first.or_else(|| first_row(&answer));
            Ok(answer)
        };
        // A refusal is passed over, and so is what cannot be worked out: somebody who does not look does not stop either.
        let _ = seen::step_with(&mut seen, at, &step, &mut call, &mut |_, _, _| ());
        for find in &finds {
            if !hit(&mut seen, domain, &step, find, first) {
                let _ = seen.find(find);
            }
        }
    }
}

/// Takes the first row of an answer for what is looked for among its rows. False where something else is looked for.
fn hit(seen: &mut Seen<'_>, domain: &Domain, step: &Step, find: &benchwright_pack::Find, first: Option<u32>) -> bool {
    let tool = domain.tool_named(&step.tool()).map(|tool| &domain.tools[tool]);
    let Some((table, first)) = tool.and_then(|tool| tool.table).zip(first) else { return false };
    let name = &domain.table(table).name;
    let is_of_answer = find.of.strip_prefix(&**name).is_some_and(|rest| rest.starts_with('('));
    if !is_of_answer || find.pick == FindPick::Value {
        return false;
    }
    let many = find.pick == FindPick::All || find.count.is_some();
    seen.name(&find.name, if many { Known::Rows(table, vec![first]) } else { Known::Row(table, Some(first)) });
    true
}

/// The id of the first row of an answer.
fn first_row(answer: &str) -> Option<u32> {
    let mut found = Vec::new();
    ids(&serde_json::from_str(answer).ok()?, &mut found);
    found.first().copied()
}

/// Leaves out such arguments as a tool does not insist on.
fn shorten(step: &mut Step, card: &ToolCard, is_left_out: impl Fn(&str) -> bool) {
    let required = card.arguments["required"].as_array().cloned().unwrap_or_default();
    if let Json::Object(args) = &mut step.args {
        args.retain(|name, _| !is_left_out(name) || required.iter().any(|known| known.as_str() == Some(name)));
    }
}

/// Declines whatever is asked for, with a reason that comes to mind.
pub(crate) fn decline(task: &OpenPart, episode: &mut dyn Hosted, attempt: u32) {
    let mut maker = Maker::new(&["always-decline", &task.open.id, &attempt.to_string()]);
    let kind = maker.stream().pick(&OBSTACLES).copied().unwrap_or(OBSTACLES[0]);
    let rules: Vec<&str> = task
        .instruction
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once("`: ").map(|(rule, _)| rule))
        .collect();
    let mut args = json!({ "kind": kind });
    match maker.stream().pick(&rules).filter(|_| kind == OBSTACLES[0]) {
        Some(rule) => args["rule"] = (*rule).into(),
        None => args["record"] = "the request".into(),
    }
    // Where nothing can be declined, nothing is done.
    let _ = episode.call(DECLINE, &args.to_string());
}
