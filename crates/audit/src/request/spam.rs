//! Agents that do not work: random calls, always declining, and saying back everything that there is. They never pass and earn at most
//! a quarter.

use super::{RequestSubject, answers, blocked, finding};
use crate::{Finding, ground::Here};
use benchwright_calls::offered::Maker;
use benchwright_grade::FULL;
use benchwright_pack::Ending;
use benchwright_sandbox::Episode;
use benchwright_schema::arguments_schema;
use benchwright_spec::scenario::Obstacle;

/// Runs of random calls.
const RUNS: usize = 3;
/// Calls of a run, and after how many of them it is judged each time.
const CALLS: (usize, usize) = (160, 40);
/// The most that they may earn.
const MOST: i64 = FULL / 4;
/// The longest reason that a decline takes.
const LONGEST: usize = 200;
/// Whoever gives so many reasons gives none.
const FEWEST: usize = 5;
/// The longest value of an answer.
const LONGEST_VALUE: usize = 4_000;

/// Random calls, always declining and saying everything never pass.
pub(crate) fn run(subject: &RequestSubject<'_>) -> Finding {
    finding(all(subject))
}

struct Spam<'s, 'a> {
    subject: &'s RequestSubject<'a>,
    calls: usize,
    accepted: usize,
    highest: i64,
    faults: Vec<String>,
}

impl Spam<'_, '_> {
    fn judge(&mut self, what: &str, episode: &Episode) -> Result<(), String> {
        let verdict = self.subject.judged(episode)?;
        self.highest = self.highest.max(verdict.reward);
        if verdict.ending != Ending::Fail || verdict.reward > MOST {
            self.faults.push(format!("{what}: {:?}, reward {}", verdict.ending, verdict.reward));
        }
        Ok(())
    }

    fn random(&mut self, run: usize) -> Result<(), String> {
        let subject = self.subject;
        let domain = &subject.domain;
        let mut episode = subject.begin()?;
        let mut maker = Maker::new(&["spam", &subject.task.open.id, &run.to_string()]);
        // Whoever declines or answers by chance is looked at below.
        let is_lever = |tool: &&benchwright_schema::Tool| {
            !tool.reads_only()
                && subject.offers(&tool.name)
                && !tool.table.is_some_and(|table| domain.table(table).once)
        };
        let levers: Vec<_> =
            domain.tools.iter().filter(is_lever).map(|tool| (tool, arguments_schema(domain, tool))).collect();
        for call in 1..=CALLS.0 {
            let Some((tool, schema)) = maker.stream().pick(&levers) else { break };
            let arguments = maker.arguments(schema, &Here(&episode));
            self.calls += 1;
            self.accepted += usize::from(episode.call(&tool.name, &arguments.to_string()).is_ok());
            if call % CALLS.1 == 0 {
                self.judge(&format!("random run {run} after {call} calls"), &episode)?;
            }
        }
        Ok(())
    }

    /// Declines with each kind, without a reason and with every reason that fits into one.
    fn decline(&mut self) -> Result<(), String> {
        let subject = self.subject;
        let domain = &subject.domain;
        let rules: Vec<&str> = domain.rules.iter().map(|rule| &*rule.id).collect();
        let names: Vec<&str> = domain.tables.iter().map(|table| table.own_name()).collect();
        let (rules, names) = (chunks(&rules), chunks(&names));
        for kind in Obstacle::ALL.into_iter().map(Obstacle::word) {
            let mut episode = subject.begin()?;
            blocked::decline(&mut episode, kind, None, None);
            self.judge(&format!("declined as {kind}"), &episode)?;
            for reason in &rules {
                let mut episode = subject.begin()?;
                if blocked::decline(&mut episode, kind, Some(reason), None) {
                    self.judge(&format!("declined as {kind} for all of `{reason}`"), &episode)?;
                }
            }
            for reason in &names {
                let mut episode = subject.begin()?;
                if blocked::decline(&mut episode, kind, None, Some(reason)) {
                    self.judge(&format!("declined as {kind} for all of `{reason}`"), &episode)?;
                }
            }
        }
        Ok(())
    }

    /// Answers with every text that is unique in some table.
    fn answer(&mut self) -> Result<(), String> {
        let subject = self.subject;
        let Some(answer) = &subject.effects.answer else { return Ok(()) };
        let done = answers::unanswered(subject)?;
        let mut texts: Vec<String> = Vec::new();
        for (at, table) in subject.domain.tables.iter().enumerate() {
            for key in table.keys.iter().filter(|key| key.fields.len() == 1) {
                let rows = done.rows(benchwright_base::RelationId(at as u16));
                texts.extend(rows.filter_map(|row| row.get(key.fields[0]).as_text().map(str::to_owned)));
            }
        }
        let mut all = String::new();
        for text in &texts {
            if all.len() + text.len() + 2 > LONGEST_VALUE {
                break;
            }
            all.push_str(text);
            all.push_str(", ");
        }
        for (what, values) in [("in one value", vec![all]), ("one by one", texts.iter().take(400).cloned().collect())] {
            let mut episode = subject.begin()?;
            if answers::say(&mut episode, &answer.of, &values) {
                self.judge(&format!("every key is answered {what}"), &episode)?;
            }
            // After the work too: the answer alone is then what is missing.
            let mut episode = done.fork();
            if answers::say(&mut episode, &answer.of, &values) {
                self.judge(&format!("the work is done and every key is answered {what}"), &episode)?;
            }
        }
        Ok(())
    }
}

/// Texts put together as long as they fit.
fn chunks(texts: &[&str]) -> Vec<String> {
    let mut chunks = vec![String::new()];
    for text in texts {
        let is_full = chunks.last().is_some_and(|last| last.len() + text.len() + 2 > LONGEST);
        if is_full {
            chunks.push(String::new());
        }
        if let Some(last) = chunks.last_mut() {
            if !last.is_empty() {
                last.push_str(", ");
            }
            last.push_str(text);
        }
    }
    // Who names two or three may mean one of them.
    chunks.retain(|chunk| chunk.matches(", ").count() >= FEWEST);
    chunks
}

fn all(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut spam = Spam { subject, calls: 0, accepted: 0, highest: 0, faults: Vec::new() };
    for run in 0..RUNS {
        spam.random(run)?;
    }
    spam.decline()?;
    spam.answer()?;
    let Spam { calls, accepted, highest, faults, .. } = spam;
    let finding = Finding::of(&faults).count("calls", calls).count("accepted", accepted);
    Ok(finding.count("highest reward", highest as usize))
}
