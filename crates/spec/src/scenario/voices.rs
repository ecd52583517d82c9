//! Reads how people ask, and holds every voice to what it must tell, at every tier.

use super::{
    Member, Scenario,
    document::{Ordered, ScenarioText, TIERS, tell},
    tiers,
    words::{self, WordPart},
};
use benchwright_schema::{Document, Domain, KeyFault};
use serde::Deserialize;
use std::borrow::Cow;

/// The fewest voices.
const FEWEST_VOICES: usize = 3;

/// `words.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordsText {
    ask: Ordered<String>,
}

/// Reads the voices into a scenario, and what blocked variants add.
pub(super) fn read(
    scenario: &mut Scenario,
    said: &WordsText,
    text: &ScenarioText,
    domain: &Domain,
    words: &Document<'_>,
    matter: &Document<'_>,
) {
    let needed = words::told(scenario, domain);
    let optional = optional(scenario, domain);
    let mut voices = Vec::new();
    {
        let names = scenario.names();
        for (voice, request) in &said.ask.0 {
            match words::request(request.trim_end(), &names, domain) {
                Ok(parts) => {
                    for message in words::check(&parts, &needed, &optional, domain) {
                        words.add([KeyFault::new(["ask", voice], message)]);
                    }
                    voices.push((voice.clone(), parts));
                }
                Err(faults) => tell(words, &["ask", voice], faults),
            }
        }
    }
    if said.ask.0.len() < FEWEST_VOICES {
        words.add([KeyFault::new(["ask"], format!("there are at least {FEWEST_VOICES} voices")).at_key()]);
    }
    scenario.voices = voices;
    for tier in TIERS {
        let Cow::Owned(at) = scenario.at(tier) else { continue };
        let (needed, optional) = (words::told(&at, domain), self::optional(&at, domain));
        for (voice, message) in tiers::faults(scenario, tier) {
            words.add([KeyFault::new(["ask", &voice], message)]);
        }
        for (voice, parts) in &at.voices {
            for message in words::check(parts, &needed, &optional, domain) {
                words.add([KeyFault::new(["ask", voice], format!("in the tier {tier}: {message}"))]);
            }
        }
    }
    let mut adds: Vec<(usize, Vec<WordPart>)> = Vec::new();
    for (at, blocked) in scenario.blocked.iter().enumerate() {
        let written = text.blocked.0.iter().find(|(name, _)| *name == blocked.name);
        let Some(more) = written.and_then(|(_, blocked)| blocked.adds.as_ref()) else { continue };
        let mut wider = scenario.clone();
        wider.clauses.clone_from(&blocked.clauses);
        let names = scenario.names();
        match words::request(more.trim_end(), &names, domain) {
            Ok(parts) => {
                let mut needed: Vec<String> = blocked.clauses.iter().flat_map(words::clause_spans).collect();
                needed.extend(blocked.ensure.iter().map(|ensure| ensure.id.clone()));
                for message in words::check(&parts, &needed, &[], domain) {
                    matter.add([KeyFault::new(["blocked", &blocked.name, "adds"], message)]);
                }
                adds.push((at, parts));
            }
            Err(faults) => tell(matter, &["blocked", &blocked.name, "adds"], faults),
        }
    }
    for (at, parts) in adds {
        scenario.blocked[at].adds = parts;
    }
}

/// Spans that may stand in a request though nothing needs them: how a member is found.
fn optional(scenario: &Scenario, domain: &Domain) -> Vec<String> {
    let mut optional = Vec::new();
    let found = |(at, member): &(usize, &Member)| !member.is_drawn() && !scenario.idle.contains(at);
    for (_, member) in scenario.cast.iter().enumerate().filter(found) {
        optional.push(format!("{}.by", member.name));
        optional.push(format!("{}.where", member.name));
        optional.push(member.name.clone());
        let needed = words::conditions(member, domain);
        optional.extend(needed.into_iter().map(|condition| format!("{}.{condition}", member.name)));
    }
    optional
}
