//! Ways through a request as calls: wrong ones, with one step left out, one argument otherwise, one record too many or another reason to
//! decline, and right ones in another order. Where the near-misses of the trial are states that somebody put there, these are
//! what an agent could have done.

use super::{
    RequestSubject, alternates, answers,
    blocked::{self, DECLINE},
    cells::survived,
    done::Done,
    near_miss::Near,
    state::{Key, is_same, json, others, row},
};
use crate::attempts::Attempt;
use benchwright_base::{FieldId, Stream};
use benchwright_grade::FULL;
use benchwright_pack::{
    Ending, Script,
    effects::{CheckKind, ExpectedCell, ExpectedRow, Target},
};
use benchwright_sandbox::Episode;
use benchwright_spec::scenario::Obstacle;
use serde_json::{Value as Json, json as object};
use std::collections::BTreeSet;

/// Other values that are tried of one argument, and other records in the place of one.
const TRIED: usize = 2;
const FRAME: &str = "frame";
const DECLINED: &str = "decline";
const REASON: &str = "reason";

/// A call: its step, its tool, its arguments.
type Call = (usize, String, Json);

/// So many wrong ways, of different checks where there are.
pub(crate) fn wrong_ways(subject: &RequestSubject<'_>, most: usize) -> Result<Vec<Attempt>, String> {
    let mut wrong = Wrong { subject, found: Vec::new() };
    match subject.is_blocked() {
        true => wrong.declined()?,
        false => wrong.done()?,
    }
    // Each task has an order of its own, so that over many every kind is seen.
    Stream::new(0, &["wrong-ways", &subject.task.open.id]).shuffle(&mut wrong.found);
    let mut chosen: Vec<Attempt> = Vec::new();
    let mut kinds: Vec<BTreeSet<String>> = vec![BTreeSet::new(), BTreeSet::new()];
    // First such that differ in the check and in what is wrong, then in the check, then any.
    for round in 0..3 {
        for attempt in &wrong.found {
            let rule = attempt.rule.clone().unwrap_or_default();
            let kind = attempt.what.split(':').next().unwrap_or_default().to_owned();
            let is_new = match round {
                0 => !kinds[0].contains(&rule) && !kinds[1].contains(&kind),
                1 => !kinds[0].contains(&rule),
                _ => !chosen.contains(attempt),
            };
            if chosen.len() < most && is_new {
                kinds[0].insert(rule);
                kinds[1].insert(kind);
                chosen.push(attempt.clone());
            }
        }
    }
    Ok(chosen)
}

/// So many other ways that earn everything: the writes in other orders, updates field by field.
pub(crate) fn right_ways(subject: &RequestSubject<'_>, most: usize) -> Result<Vec<Attempt>, String> {
    let mut found = Vec::new();
    if subject.is_blocked() || most == 0 {
        return Ok(found);
    }
    let done = subject.done()?;
    let each = &mut |what: String, episode: &Episode| {
        let verdict = subject.judged(episode)?;
        if found.len() < most && verdict.ending == Ending::Pass && verdict.reward == FULL {
            found.push(Attempt::of(None, &what, episode.trace()));
        }
        Ok(())
    };
    alternates::other_orders(subject, &done, each)?;
    alternates::split_updates(subject, &done, each)?;
    Ok(found)
}

struct Wrong<'s, 'a> {
    subject: &'s RequestSubject<'a>,
    found: Vec<Attempt>,
}

impl Wrong<'_, '_> {
    /// Keeps what was played, if it fails one of some checks.
    fn keep(&mut self, what: &str, episode: &Episode, expected: &[&str]) -> Result<(), String> {
        let verdict = self.subject.judged(episode)?;
        let failed = verdict.failed();
        let rule = expected.iter().find(|id| failed.contains(*id));
        if let (None, Some(rule)) = (survived(&verdict, expected), rule) {
            self.found.push(Attempt::of(Some(rule), what, episode.trace()));
        }
        Ok(())
    }

    /// Makes calls as far as the world takes them. A refused one is left behind.
    fn play<'c>(&self, calls: impl IntoIterator<Item = &'c Call>) -> Result<Episode, String> {
        let mut episode = self.subject.begin()?;
        for (_, tool, arguments) in calls {
            // What is refused is seen in what is left.
            let _ = episode.call(tool, &arguments.to_string());
        }
        Ok(episode)
    }

    fn done(&mut self) -> Result<(), String> {
        let done = self.subject.done()?;
        self.left_out(&done)?;
        for (wanted, key) in self.subject.effects.expected.iter().zip(&done.rows) {
            if let Some(key) = key {
                self.otherwise(&done, wanted, *key)?;
            }
        }
        self.twice(&done)?;
        self.answered(&done)
    }

    /// Each step that writes left out, and all that are there for one rule.
    fn left_out(&mut self, done: &Done) -> Result<(), String> {
        let (oracle, expected) = (&self.subject.task.sealed.oracle, &self.subject.effects.expected);
        let of_step = |at: usize| {
            let rows = done.step_of.iter().zip(expected).filter(move |(step, _)| **step == Some(at));
            rows.map(|(_, wanted)| &*wanted.of)
        };
        let mut without: Vec<(String, BTreeSet<usize>, Vec<&str>)> = Vec::new();
        for at in (0..oracle.steps.len()).filter(|at| done.steps[*at].writes()) {
            let what = format!("left out: step {} ({})", at + 1, oracle.steps[at].tool());
            let answer = self.subject.effects.answer.iter().filter(|_| oracle.steps[at].model == answers::SUBMIT);
            let expected = of_step(at).chain(answer.map(|answer| &*answer.of)).collect();
            without.push((what, BTreeSet::from([at]), expected));
        }
        let ways = expected.iter().filter(|wanted| wanted.kind == CheckKind::Compliance);
        for id in ways.map(|wanted| &*wanted.of).collect::<BTreeSet<&str>>() {
            let rows = expected.iter().zip(&done.step_of).filter(|(wanted, _)| wanted.of == id);
            without.push((
                format!("shortcut: without what {id} wants"),
                rows.filter_map(|(_, at)| *at).collect(),
                vec![id],
            ));
        }
        for (what, gone, expected) in without {
            let steps = oracle.steps.iter().enumerate().filter(|(at, _)| !gone.contains(at));
            let script = Script { steps: steps.map(|(_, step)| step.clone()).collect(), ..oracle.clone() };
            let (episode, _) = self.subject.play(&script)?;
            if !is_same(&self.subject.domain, &self.subject.first, &episode.snapshot(), &done.state) {
                self.keep(&what, &episode, &expected)?;
            }
        }
        Ok(())
    }

    /// One argument with another value; the change on another record instead, and on another as well.
    fn otherwise(&mut self, done: &Done, wanted: &ExpectedRow, key: Key) -> Result<(), String> {
        let domain = &self.subject.domain;
        let table = domain.table(key.0);
        let of_row = |(at, _, arguments): &&Call| {
            let names = arguments["id"].as_u64() == Some(u64::from(key.1));
            done.steps[*at].writes() && (names || wanted.row == Target::New)
        };
        let calls: Vec<(usize, Call)> = done
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| of_row(call))
            .map(|(at, call)| (at, call.clone()))
            .collect();
        for (at, call) in calls {
            for (name, cell) in
                wanted.cells.iter().filter(|(_, cell)| !matches!(cell, ExpectedCell::Any | ExpectedCell::Prose(_)))
            {
                let Some(field) = table.field_named(name).map(FieldId::index) else { continue };
                let Some(cells) = row(&done.state, key) else { continue };
                if call.2[name] != json(domain, key.0, field, &cells[field]) {
                    continue;
                }
                let is_right = |value: &Json| matches!(cell, ExpectedCell::OneOf(values) if values.contains(value));
                let near = others(domain, &done.state, key, field).into_iter();
                let near = near.map(|value| json(domain, key.0, field, &value)).filter(|value| !is_right(value));
                for value in near.take(TRIED) {
                    let mut calls = done.calls.clone();
                    calls[at].2[name] = value;
                    let episode = self.play(&calls)?;
                    self.keep(&format!("another value: {name} of {}", wanted.at), &episode, &[&wanted.of])?;
                }
            }
            if call.2["id"].as_u64() != Some(u64::from(key.1)) {
                continue;
            }
            for other in Near::of(self.subject, done).neighbours(key).into_iter().take(TRIED) {
                let mut instead = done.calls.clone();
                instead[at].2["id"] = other.into();
                let episode = self.play(&instead)?;
                self.keep(&format!("another record: {} {other}", table.name), &episode, &[&wanted.of])?;
                let mut more = done.calls.clone();
                more.insert(at + 1, (call.0, call.1.clone(), instead[at].2.clone()));
                let episode = self.play(&more)?;
                self.keep(&format!("one record too many: {} {other}", table.name), &episode, &[FRAME])?;
            }
        }
        Ok(())
    }

    /// Each call that makes something, made twice.
    fn twice(&mut self, done: &Done) -> Result<(), String> {
        let makes = |call: &Call| !done.steps[call.0].made.is_empty();
        for at in (0..done.calls.len()).filter(|at| makes(&done.calls[*at])) {
            let mut calls = done.calls.clone();
            calls.insert(at + 1, calls[at].clone());
            let episode = self.play(&calls)?;
            self.keep(&format!("made twice: {}", done.calls[at].1), &episode, &[FRAME])?;
        }
        Ok(())
    }

    /// Another answer than the right one.
    fn answered(&mut self, done: &Done) -> Result<(), String> {
        let Some(answer) = &self.subject.effects.answer else { return Ok(()) };
        let Some(right) = answers::right(self.subject, done, answer) else { return Ok(()) };
        let mut wrong = right.clone();
        if let Some(first) = wrong.first_mut() {
            *first = answers::another(answer.ty, first);
        }
        let mut episode = answers::unanswered(self.subject)?;
        if answers::say(&mut episode, &answer.of, &[wrong.join(", ")]) {
            self.keep("another answer: one value", &episode, &[&answer.of])?;
        }
        Ok(())
    }

    /// Of a request that cannot be carried out: going ahead, and declining for another reason after the same reads.
    fn declined(&mut self) -> Result<(), String> {
        let subject = self.subject;
        let Some(refusal) = &subject.effects.refusal else { return Ok(()) };
        if let Ok(gone) = blocked::gone_ahead(subject) {
            let expected: &[&str] = if gone.diff().changes.is_empty() { &[DECLINED] } else { &[DECLINED, FRAME] };
            self.keep("gone ahead: all the same", &gone, expected)?;
        }
        let done = subject.done()?;
        let Some(at) = done.calls.iter().rposition(|(_, tool, _)| tool == DECLINE) else { return Ok(()) };
        for other in Obstacle::ALL.into_iter().map(Obstacle::word).filter(|other| **other != *refusal.obstacle) {
            let mut calls = done.calls.clone();
            calls[at].2["kind"] = other.into();
            let episode = self.play(&calls)?;
            self.keep(&format!("another kind: {other}"), &episode, &[REASON])?;
        }
        let rules = subject.domain.rules.iter().map(|rule| &rule.id).filter(|id| !refusal.rules.contains(id));
        let mut rules: Vec<&String> = rules.collect();
        Stream::new(0, &["wrong-rules", &subject.task.open.id]).shuffle(&mut rules);
        for other in rules.into_iter().take(TRIED) {
            let mut calls = done.calls.clone();
            calls[at].2 = object!({ "kind": refusal.obstacle, "rule": other });
            let episode = self.play(&calls)?;
            self.keep(&format!("another rule: {other}"), &episode, &[REASON])?;
        }
        Ok(())
    }
}
