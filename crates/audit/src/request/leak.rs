//! Nothing that is sealed stands in anything an agent can see, no id of the world stands in the request, and a request that cannot be
//! carried out looks like its twin but for the fact that it declares.

use super::{RequestSubject, finding, words};
use crate::{
    Finding,
    trials::{
        leak::{gather, seed_in},
        reading::read_all,
    },
};
use benchwright_expr::Type;
use benchwright_schema::{arguments_schema, describe, result_schema};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// What an open document has.
const OPEN: [&str; 11] =
    ["version", "canary", "id", "domain", "role", "actor", "tools", "calls", "instruction", "world", "faults"];
/// A text without a space that is at least so long is no word.
const OPAQUE: usize = 64;

/// No sealed token in anything the agent can see.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(search(subject))
}

fn parsed(name: &str, bytes: &[u8]) -> Result<Json, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("{name} is not plain JSON: {error}"))
}

fn search(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let task = subject.task;
    let secrets = secrets(subject);
    let mut faults = Vec::new();
    let open = parsed("task.json", &task.open_bytes())?;
    let foreign = open.as_object().into_iter().flat_map(|map| map.keys()).find(|key| !OPEN.contains(&key.as_str()));
    faults.extend(foreign.map(|key| format!("task.json has `{key}`, which no open document has")));
    faults.extend(seed_in(&task.open.id, task.sealed.seed));
    let world = parsed("world.json", &task.world)?;
    let mut seen = 0;
    let mut look = |place: &str, document: &Json| {
        let mut texts = Vec::new();
        gather(document, &mut texts);
        seen += texts.len();
        let found = texts.iter().filter_map(|text| found(text, &secrets, subject));
        faults.extend(found.take(3).map(|found| format!("{place}: {found}")));
    };
    look("the instruction", &json!(task.instruction));
    look("task.json", &open);
    look("world.json", &world);
    for tool in &subject.domain.tools {
        let described = json!({
            "name": tool.name,
            "description": describe(&subject.domain, tool),
            "arguments": arguments_schema(&subject.domain, tool),
            "result": result_schema(&subject.domain, tool),
        });
        look(&format!("the tool {}", tool.name), &described);
    }
    let mut episode = subject.begin()?;
    let answers = read_all(&mut episode);
    for answer in &answers {
        let document = serde_json::from_str(&answer.text).unwrap_or_else(|_| json!(answer.text));
        look(&format!("an answer of {}", answer.tool), &document);
    }
    faults.extend(ids(subject)?);
    faults.extend(unlike_twin(subject));
    let finding = Finding::of(&faults).count("secrets", secrets.len());
    Ok(finding.count("answers", answers.len()).count("texts", seen))
}

/// Names that only the sealed part has, with what each is.
fn secrets(subject: &RequestSubject<'_>) -> BTreeMap<String, &'static str> {
    let sealed = &subject.task.sealed;
    let mut secrets = BTreeMap::new();
    secrets.insert(sealed.pattern.clone(), "the name of the scenario");
    if let Some((_, own)) = sealed.pattern.rsplit_once('/') {
        secrets.insert(own.to_owned(), "the name of the scenario");
    }
    // One word may stand anywhere, and so may what the policy says itself.
    let variants = subject.scenario.blocked.iter().map(|variant| variant.name.clone());
    let is_own = |name: &String| subject.domain.rules.iter().any(|rule| rule.says.contains(&**name));
    for name in variants.filter(|name| name.contains('-') && !is_own(name)) {
        secrets.insert(name, "the name of a variant");
    }
    if let Some(salt) = &sealed.salt {
        secrets.insert(salt.clone(), "the salt of the suite");
    }
    secrets
}

/// What a text tells that is sealed.
fn found(text: &str, secrets: &BTreeMap<String, &'static str>, subject: &RequestSubject<'_>) -> Option<String> {
    if let Some((name, what)) = secrets.iter().find(|(name, _)| text.contains(&***name)) {
        return Some(format!("`{name}` is {what}"));
    }
    if text.contains("{\"$\"") || text.contains("{\"$text\"") {
        return Some("a call of the oracle".to_owned());
    }
    let open = &subject.task.open;
    let lower = text.to_lowercase();
    let tier = &subject.task.sealed.tier;
    let told = ["tier: ", "tier=", "tier is ", "difficulty: "].iter().any(|lead| {
        lower.split(lead).skip(1).any(|rest| rest.trim_start_matches(['`', '"', '*']).starts_with(&**tier))
    });
    if told && !tier.is_empty() {
        return Some("the tier is told".to_owned());
    }
    let is_opaque = |word: &&str| {
        let has = |test: fn(&char) -> bool| word.chars().any(|c| test(&c));
        word.len() >= OPAQUE
            && has(char::is_ascii_digit)
            && has(char::is_ascii_alphabetic)
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
            && ![&open.world, &open.instruction, &subject.effects.world].iter().any(|digest| digest.ends_with(word))
            && !subject.task.sealed.case["world"].as_str().is_some_and(|digest| digest.ends_with(word))
            && !is_base(subject, word)
    };
    let words = text.split(|c: char| c.is_whitespace() || "\",:()[]{}".contains(c));
    words.into_iter().find(is_opaque).map(|word| format!("`{}…` is no text", &word[..16]))
}

/// Whether a word is the digest of the base that the world names.
fn is_base(subject: &RequestSubject<'_>, word: &str) -> bool {
    benchwright_pack::Delta::from_bytes(&subject.task.world).is_ok_and(|delta| delta.base.ends_with(word))
}

/// Numbers of the request that are ids which the script passes, and come from no slot.
fn ids(subject: &RequestSubject<'_>) -> Result<Vec<String>, String> {
    let mut ids: BTreeSet<u64> = BTreeSet::new();
    for (_, tool, args) in &subject.done()?.calls {
        let Some(tool) = subject.domain.tool_named(tool).map(|tool| &subject.domain.tools[tool]) else { continue };
        for (name, value) in args.as_object().into_iter().flatten() {
            let is_ref = name == "id"
                || tool.table.is_some_and(|table| {
                    let declared = subject.domain.table(table);
                    declared.field_named(name).is_some_and(|field| matches!(declared.field(field).ty, Type::Ref(_)))
                });
            ids.extend(value.as_u64().filter(|_| is_ref));
        }
    }
    let request = subject.request();
    let slots: Vec<String> =
        words::filled(subject).unwrap_or_default().into_iter().map(|filled| filled.shows).collect();
    let in_slots = |number: &str| slots.iter().any(|shows| shows.contains(number) && shows != number);
    let is_bare = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    let words = request.split(|c: char| c.is_whitespace() || "(),;#".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', '!', '?']));
    // The numbers of a list stand at the beginning of a line.
    let of_list = |word: &str| request.lines().any(|line| line.trim_start().starts_with(&format!("{word}. ")));
    let told = words
        .filter(is_bare)
        .filter(|word| word.parse().is_ok_and(|number| ids.contains(&number)) && !in_slots(word) && !of_list(word));
    Ok(told.map(|word| format!("the request has {word}, which is the id of a row")).collect())
}

/// A blocked request that tells more than its twin does.
fn unlike_twin(subject: &RequestSubject<'_>) -> Option<String> {
    let variant = subject.variant().filter(|_| subject.is_blocked())?;
    let twin = subject.twin().ok()?;
    let says_other = variant.seat.is_some()
        || !variant.adds.is_empty()
        || variant.lost.as_ref().is_some_and(|lost| lost.path.is_some());
    if !says_other && twin.instruction != subject.task.instruction {
        return Some("its instruction is another than its twin's, though only the world differs".to_owned());
    }
    let rules_of =
        |text: &str| text.split_once("## Policy").map(|(_, rest)| rest.split("## Request").next().map(str::to_owned));
    if rules_of(&twin.instruction) != rules_of(&subject.task.instruction) {
        return Some("its policy is another than its twin's".to_owned());
    }
    if variant.without.is_empty() && !subject.task.open.tools.is_empty() {
        return Some("it is offered other tools than its twin".to_owned());
    }
    None
}
