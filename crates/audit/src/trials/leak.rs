//! Nothing that is sealed stands in anything an agent can see: the instruction, the open documents, the list of tools, and
//! what every tool that reads answers.
//!
//! Names are searched for everywhere. Certified values are searched for in texts only, because a price or a count of the
//! world may happen to be the same number. The canary may occur.

use super::reading::read_everything;
use crate::{Finding, Held, Subject};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use benchwright_base::Digest;
use benchwright_files::{Limits, xlsx};
use benchwright_grade::Grader;
use benchwright_pack::{Script, Split, Task};
use benchwright_schema::{arguments_schema, describe, plan::Binding, result_schema};
use benchwright_world::replay;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Certified values below this are too common to tell anything.
const SMALLEST: i64 = 1_000;
/// How a workbook in Base64 begins.
const WORKBOOK: &str = "UEsDB";
/// A text without a space that is at least so long is no word.
const OPAQUE: usize = 64;
/// What a pattern's name is.
const PATTERN: &str = "the name of the pattern";

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    match search(subject) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn search(subject: &Subject<'_>) -> Result<Finding, String> {
    let secrets = Secrets::of(subject);
    let mut faults = Vec::new();
    let open = parsed("task.json", &subject.task.open_bytes())?;
    faults.extend(foreign_key(&open));
    faults.extend(seed_in(&subject.task.open.id, subject.task.sealed.seed));
    let world = parsed("world.json", &subject.task.world)?;
    let mut seen = 0;
    let mut look = |place: &str, document: &Json| {
        let mut texts = Vec::new();
        gather(document, &mut texts);
        seen += texts.len();
        let found = texts.iter().filter_map(|text| secrets.in_text(text));
        faults.extend(found.map(|found| format!("{place}: {found}")));
    };
    look("the instruction", &json!(subject.task.instruction));
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
    let mut episode = subject.begin().map_err(|error| error.to_string())?;
    let answers = read_everything(&mut episode)?;
    let mut telling = Vec::from_iter(telling_key(&open, &secrets).into_iter().chain(telling_key(&world, &secrets)));
    for answer in &answers {
        let document = serde_json::from_str(&answer.text).unwrap_or_else(|_| json!(answer.text));
        look(&format!("an answer of {}", answer.tool), &document);
        telling.extend(telling_key(&document, &secrets).map(|found| format!("an answer of {}: {found}", answer.tool)));
    }
    faults.extend(telling);
    faults.extend(early(subject)?);
    let finding = Finding::of(&faults).count("secrets", secrets.names.len() + secrets.numbers.len());
    Ok(finding.count("answers", answers.len()).count("texts", seen))
}

/// What is there before its stage, of all that comes with one: a file in the folder of a stage that the oracle has not come to yet.
fn early(subject: &Subject<'_>) -> Result<Vec<String>, String> {
    let mut faults = BTreeSet::new();
    if subject.stages() == 1 {
        return Ok(Vec::new());
    }
    let mut episode = subject.begin().map_err(|error| error.to_string())?;
    let mut keys = subject.bound_keys();
    for step in std::iter::once(None).chain(subject.task.sealed.oracle.steps.iter().map(Some)) {
        if let Some(step) = step {
            let script = Script { steps: vec![step.clone()], ..Script::default() };
            replay(&script, &mut keys, &mut episode).map_err(|error| error.to_string())?;
        }
        let list = episode.call("workspace_list", "{}").map_err(|refusal| refusal.to_string())?;
        let list = parsed("the list of files", list.as_bytes())?;
        let now = list["stage"].as_i64().unwrap_or_default();
        for path in list["files"].as_array().into_iter().flatten().filter_map(|file| file["path"].as_str()) {
            let folder = path.strip_prefix("stage-").and_then(|rest| rest.split_once('/'));
            let from = folder.and_then(|(stage, _)| stage.parse::<i64>().ok()).unwrap_or(1);
            if from > now {
                faults.insert(format!("{path} is there at stage {now}"));
            }
        }
    }
    Ok(faults.into_iter().collect())
}

fn parsed(name: &str, bytes: &[u8]) -> Result<Json, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("{name} is not plain JSON: {error}"))
}

/// Every text of a document, keys too.
pub(crate) fn gather<'d>(document: &'d Json, texts: &mut Vec<&'d str>) {
    match document {
        Json::String(text) => texts.push(text),
        Json::Array(list) => list.iter().for_each(|item| gather(item, texts)),
        Json::Object(map) => {
            for (key, value) in map {
                texts.push(key);
                gather(value, texts);
            }
        }
        _ => {}
    }
}

/// A key of the open document that an open document does not have.
fn foreign_key(open: &Json) -> Option<String> {
    let known = ["version", "canary", "id", "domain", "role", "tools", "calls", "instruction", "world", "faults"];
    let Json::Object(map) = open else { return Some("task.json is no object".to_owned()) };
    let foreign = map.keys().find(|key| !known.contains(&key.as_str()));
    foreign.map(|key| format!("task.json has `{key}`, which no open document has"))
}

/// An id that has the seed as one of its parts.
pub(crate) fn seed_in(id: &str, seed: u64) -> Option<String> {
    let told = id.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part.parse() == Ok(seed));
    told.then(|| format!("the id {id} tells the seed"))
}

/// A key that tells how the task was made, with a value that does.
fn telling_key(document: &Json, secrets: &Secrets) -> Option<String> {
    match document {
        Json::Array(list) => list.iter().find_map(|item| telling_key(item, secrets)),
        Json::Object(map) => map.iter().find_map(|(key, value)| {
            let word = value.as_str().map(str::to_lowercase).or_else(|| value.as_u64().map(|n| n.to_string()));
            let tier = matches!(&**key, "tier" | "difficulty") && word.as_deref() == Some(&*secrets.tier);
            let seed = matches!(&**key, "seed" | "attempt") && value.is_number();
            let sealed = matches!(&**key, "oracle" | "verifier" | "certificate" | "optimum" | "pattern" | "objective");
            if tier || seed || (sealed && value.is_object()) {
                return Some(format!("`{key}` says {value}"));
            }
            telling_key(value, secrets)
        }),
        _ => None,
    }
}

/// What must not be seen.
struct Secrets {
    /// Names in code form, and what each is.
    names: BTreeMap<String, &'static str>,
    /// Numbers as they could be written, and what each is.
    numbers: BTreeMap<String, String>,
    tier: String,
    /// Digests that stand in open documents by right.
    open: BTreeSet<String>,
}

impl Secrets {
    fn of(subject: &Subject<'_>) -> Secrets {
        let task = subject.task;
        let sealed = &task.sealed;
        let mut secrets = Secrets {
            names: BTreeMap::new(),
            numbers: BTreeMap::new(),
            tier: sealed.tier.to_lowercase(),
            open: BTreeSet::from([task.open.instruction.clone(), task.open.world.clone()]),
        };
        secrets.open.insert(subject.first.domain_digest.to_string());
        let keys = sealed.verifier.keys.values().flat_map(|rows| rows.values());
        let bound = sealed.oracle.steps.iter().filter_map(|step| step.bind.as_ref());
        for key in keys.chain(bound).filter(|key| key.contains('/')) {
            secrets.name(key, "the key of a record");
        }
        for (id, rule) in &sealed.verifier.plan.rules {
            secrets.name(id, "the id of a rule");
            if rule.code.contains('.') {
                secrets.name(&rule.code, "the code of a rule");
            }
        }
        let objectives = sealed.verifier.plan.objectives.keys();
        for name in objectives.chain([&sealed.objective]).filter(|name| name.contains(['_', '-', '/'])) {
            secrets.name(name, "the name of an objective");
        }
        secrets.name(&sealed.pattern, PATTERN);
        if let Some(slug) = sealed.pattern.split('/').next_back().filter(|slug| slug.contains('-')) {
            secrets.name(slug, PATTERN);
        }
        for digest in [Digest::of(&task.sealed_bytes()).to_string(), task.digest().to_string()] {
            secrets.digest(&digest, "a digest of the sealed part");
        }
        secrets.digest(&sealed.certificate.library, "the solver's library");
        if sealed.seed >= 100_000 {
            secrets.name(&sealed.seed.to_string(), "the seed");
        }
        secrets.certified(task);
        secrets
    }

    fn name(&mut self, name: &str, what: &'static str) {
        self.names.insert(name.to_owned(), what);
    }

    fn digest(&mut self, digest: &str, what: &'static str) {
        let plain = digest.split(':').next_back().unwrap_or(digest);
        if plain.len() >= 16 {
            self.name(plain, what);
        }
    }

    /// The certified values that no fact of the task happens to have.
    fn certified(&mut self, task: &Task) {
        let sealed = &task.sealed;
        let mut known = BTreeSet::new();
        for value in sealed.verifier.bindings.facts.values().flat_map(|facts| facts.values()) {
            if let Binding::Number(number) = value {
                known.insert(*number);
            }
        }
        integers(&sealed.case, &mut known);
        let phases = sealed.certificate.phases.as_array().into_iter().flatten();
        let values = phases.filter_map(|phase| Some((phase["name"].as_str()?, phase["value"].as_i64()?)));
        let names = values.map(|(name, value)| (name.to_owned(), value));
        let best = sealed.verifier.best.iter().map(|value| ("the optimum".to_owned(), *value));
        for (name, value) in names.chain(best).filter(|(_, value)| *value >= SMALLEST && !known.contains(value)) {
            for form in forms(value) {
                self.numbers.insert(form, format!("the certified value of {name}"));
            }
        }
    }

    /// The first secret in a workbook: on its sheets, in their names, or in what is said of it.
    fn in_workbook(&self, token: &str) -> Option<String> {
        let bytes = STANDARD.decode(token).ok();
        let parts = bytes.and_then(|bytes| xlsx::texts("workbook", &bytes, &Limits::default()).ok());
        let Some(parts) = parts else { return Some(format!("`{}…` is no text", &token[..16])) };
        // The addresses by which XML names its vocabularies are everybody's.
        let own = |text: &str| {
            let words = text.split(['"', '<', '>', ' ', '\n']).filter(|word| !word.contains("schemas."));
            words.collect::<Vec<&str>>().join(" ")
        };
        parts.iter().find_map(|(name, text)| self.in_text(&own(text)).map(|found| format!("{name}: {found}")))
    }

    /// The first secret in a text.
    fn in_text(&self, text: &str) -> Option<String> {
        let text = Split::ALL.iter().fold(text.to_owned(), |text, split| text.replace(split.canary(), " "));
        for token in tokens(&text) {
            // A comma groups the digits of a number, and it parts the cells of a table.
            for word in token.split(['=', '+']).chain(token.split(['=', '+', ','])).map(bare).chain([token]) {
                let name = self.names.get(word).map(|what| (*what).to_owned());
                if let Some(what) = name.or_else(|| self.numbers.get(word).cloned()) {
                    return Some(format!("`{word}` is {what}"));
                }
            }
            if token.starts_with(WORKBOOK) {
                match self.in_workbook(token) {
                    Some(found) => return Some(found),
                    None => continue,
                }
            }
            let opaque = token.split(',').map(bare).find(|cell| {
                let mixed =
                    cell.contains(|c: char| c.is_ascii_digit()) && cell.contains(|c: char| c.is_ascii_alphabetic());
                cell.len() >= OPAQUE && mixed && !self.open.iter().any(|digest| digest.ends_with(cell))
            });
            if let Some(opaque) = opaque {
                return Some(format!("`{}…` is no text", &opaque[..16]));
            }
        }
        // The name of the pattern may be part of a longer word.
        let pattern = self.names.iter().filter(|(_, what)| **what == PATTERN).find(|(name, _)| text.contains(&***name));
        if let Some((name, what)) = pattern {
            return Some(format!("`{name}` is {what}"));
        }
        let lower = text.to_lowercase();
        let told = ["tier: ", "tier=", "tier is ", "difficulty: "].iter().any(|lead| {
            lower.split(lead).skip(1).any(|rest| rest.trim_start_matches(['`', '"', '*']).starts_with(&*self.tier))
        });
        if told && !self.tier.is_empty() {
            return Some("the tier is told".to_owned());
        }
        text.contains("{\"$\":").then(|| "a call of the oracle".to_owned())
    }
}

/// Runs of characters that names and numbers consist of.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_-/.,+=".contains(c))).filter(|token| !token.is_empty())
}

/// A word without what stands around it.
fn bare(word: &str) -> &str {
    word.trim_matches(['.', '-', '/', ','])
}

/// Every whole number of a document.
pub(super) fn integers(document: &Json, found: &mut BTreeSet<i64>) {
    match document {
        Json::Number(number) => found.extend(number.as_i64()),
        Json::Array(list) => list.iter().for_each(|item| integers(item, found)),
        Json::Object(map) => map.values().for_each(|item| integers(item, found)),
        _ => {}
    }
}

/// A value as it could be written: as it is, or as money.
fn forms(value: i64) -> Vec<String> {
    let (dollars, cents) = (value / 100, value % 100);
    let grouped = grouped(dollars);
    let mut forms = vec![value.to_string(), format!("{dollars}.{cents:02}"), format!("{grouped}.{cents:02}")];
    if cents == 0 && dollars >= SMALLEST {
        forms.extend([dollars.to_string(), grouped]);
    } else if cents % 10 == 0 {
        forms.push(format!("{dollars}.{}", cents / 10));
    }
    forms
}

fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets {
            names: BTreeMap::new(),
            numbers: BTreeMap::new(),
            tier: "medium".to_owned(),
            open: BTreeSet::from(
                ["sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef".to_owned()],
            ),
        };
        secrets.name("adj/vendor/3", "the key of a record");
        secrets.name("min_new_spend", "the name of an objective");
        for form in forms(276_400) {
            secrets.numbers.insert(form, "the certified value of spend".to_owned());
        }
        secrets
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let secrets = secrets();
        for text in ["adj/vendor/3", "see adj/vendor/3.", "[adj/vendor/3]", "goal=min_new_spend", "key:adj/vendor/3,"] {
            assert!(secrets.in_text(text).is_some(), "{text}");
        }
        // As a cell of a table, of which a row is one long word.
        assert!(secrets.in_text("L1,data/rules.json,adj/vendor/3,R1,higher").is_some());
        assert!(secrets.in_text("L1,key=adj/vendor/3,R1,higher").is_some());
        assert!(secrets.in_text("L1,higher,276400,25\nL2,lower,3,4").is_some());
        let row = "L3,data/rules.json,replacement_energy_limit,,higher,0.01,24960000,and,more";
        assert_eq!(secrets.in_text(row), None, "a row is long, its cells are not");
        assert!(secrets.in_text("(min_new_spend)").is_some());
        assert_eq!(secrets.in_text("adj vendor 3, and a new minimum of spend"), None);
    }

    #[test]
    fn certified_values_are_found_in_every_form() {
        let secrets = secrets();
        for text in ["spend 276400", "$2,764.00", "2764.00 in all.", "2764", "it costs 2,764."] {
            assert!(secrets.in_text(text).is_some(), "{text}");
        }
        assert_eq!(secrets.in_text("2763.00 and 27640 and 12764"), None);
    }

    #[test]
    fn opaque_blobs_are_found_and_open_digests_are_not() {
        let secrets = secrets();
        let blob = "QmFzZTY0IGlzIG5vdCBpc29sYXRpb24gYnV0IHBlb3BsZSBzdGlsbCB1c2UgaXQ0NzExMDgxNQ";
        assert!(secrets.in_text(blob).is_some());
        let digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        assert_eq!(secrets.in_text(digest), None);
        for split in Split::ALL {
            assert_eq!(secrets.in_text(split.canary()), None);
        }
    }

    #[test]
    fn tiers_seeds_and_sealed_keys_are_told_by_their_place() {
        let secrets = secrets();
        assert!(secrets.in_text("Tier: medium").is_some());
        assert_eq!(secrets.in_text("a medium price tier"), None);
        assert!(telling_key(&json!({ "a": [{ "tier": "Medium" }] }), &secrets).is_some());
        assert!(telling_key(&json!({ "seed": 7 }), &secrets).is_some());
        assert!(telling_key(&json!({ "verifier": {} }), &secrets).is_some());
        assert_eq!(
            telling_key(&json!({ "priority": "medium", "properties": { "seed": { "type": "x" } } }), &secrets),
            None
        );
        assert!(foreign_key(&json!({ "id": "x", "oracle": [] })).is_some());
    }
}
