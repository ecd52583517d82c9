//! What the page of a trial shows: its calls are made again, what was said is put between them, and the judge's figures become words.

use super::{Again, Opened, StoreHost, finished};
use benchwright_base::{TableId, Value, number};
use benchwright_pack::{Change, Refusal, TraceCall};
use benchwright_report::html::{Answer, CallView, Changed, Made, PlanRows, Said, Turn, What};
use benchwright_run::{HostError, Kept};
use benchwright_sandbox::Episode;
use benchwright_schema::{Domain, codec};
use serde_json::Value as Json;
use std::collections::{BTreeMap, VecDeque};

/// The fields that a record is called by, in the order in which they are tried.
const NAMES: [&str; 5] = ["name", "title", "number", "display_name", "subject"];

impl StoreHost<'_> {
    /// What was kept of a trial, made again. `times` are the microseconds of a model's turns, where they were kept.
    pub(crate) fn made(&self, id: &str, kept: &Kept, times: &[u64]) -> Result<Made, HostError> {
        let opened = self.opened(id)?;
        let Again { episode, answers } = opened.replay(&kept.trace)?;
        let verdict = match &kept.verdict {
            Some(verdict) => verdict.clone(),
            // A segment keeps no verdict: it is reached again.
            None => finished(&opened, &episode, 0, false)?.verdict,
        };
        let sealed = &opened.task.sealed;
        let words = opened.judge()?.with(|judge| judge.in_words(&episode, &verdict, &sealed.certificate.plan));
        let words = words.unwrap_or_default();
        let rows = words.rows.into_iter().map(|rows| PlanRows {
            view: rows.view,
            fields: rows.fields,
            certified: rows.certified,
            found: rows.found,
        });
        let mut sentences: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for clause in &sealed.clauses {
            for rule in &clause.tells {
                sentences.entry(rule.clone()).or_default().push(clause.text.clone());
            }
        }
        let calls = kept.trace.calls.iter().zip(answers).map(view).collect();
        Ok(Made {
            instruction: opened.task.instruction.clone(),
            said: said(&kept.transcript, calls, times),
            changes: changes(&opened, &episode),
            plan: rows.collect(),
            phases: words.phases,
            anchors: sealed.verifier.anchors.zip(words.anchors),
            whys: words.whys,
            sentences,
            verdict: Some(verdict),
        })
    }
}

/// A call as it was answered when it was made again.
fn view((call, answer): (&TraceCall, Result<String, Refusal>)) -> CallView {
    let answer = answer.map_or_else(|refusal| Answer::Refused(refusal.to_string()), Answer::Answered);
    CallView { tool: call.tool.clone(), arguments: call.arguments.clone(), answer }
}

/// What was said with the calls between. What the world answered is told as it was answered again; calls that never reached it are told as
/// the transcript has them, and calls that nobody spoke of stand at the end.
fn said(transcript: &[Json], made: Vec<CallView>, times: &[u64]) -> Vec<Said> {
    let text = |line: &Json| line["text"].as_str().unwrap_or_default().to_owned();
    let mut made: VecDeque<CallView> = made.into();
    let (mut out, mut times) = (Vec::new(), times.iter().copied());
    let mut lines = transcript.iter().peekable();
    while let Some(line) = lines.next() {
        match line["role"].as_str() {
            Some("system") => out.push(Said::System(text(line))),
            Some("user") => out.push(Said::User(text(line))),
            Some("assistant") => {
                out.push(Said::Turn(Turn {
                    text: text(line),
                    reasoning: line["reasoning"].as_str().map(str::to_owned),
                    tokens_in: line["tokens_in"].as_u64(),
                    tokens_out: line["tokens_out"].as_u64(),
                    micros: times.next(),
                }));
                for call in line["calls"].as_array().into_iter().flatten() {
                    let told = lines.next_if(|line| line["role"] == "tool");
                    out.push(Said::Call(spoken(call, told, &mut made)));
                }
            }
            Some("program") => {
                let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
                // A program's calls were made while it ran.
                out.extend(made.drain(..).map(Said::Call));
                let (code, signal) = (line["code"].as_i64(), line["signal"].as_i64());
                out.push(Said::Program { code, signal, out: word("out"), err: word("err") });
            }
            _ => {}
        }
    }
    out.extend(made.into_iter().map(Said::Call));
    out
}

/// A call that a model spoke of.
fn spoken(call: &Json, told: Option<&Json>, made: &mut VecDeque<CallView>) -> CallView {
    let word = |key: &str| call[key].as_str().unwrap_or_default();
    let arguments = if word("arguments").trim().is_empty() { "{}" } else { word("arguments") };
    let is_it = |made: &CallView| made.tool == word("name") && made.arguments == arguments;
    if made.front().is_some_and(is_it)
        && let Some(call) = made.pop_front()
    {
        return call;
    }
    let text = told.and_then(|told| told["text"].as_str()).unwrap_or("it was not answered: the trial ended before");
    let is_refused = told.is_none_or(|told| told["refused"] == true);
    let answer = if is_refused { Answer::Refused(refusal(text)) } else { Answer::Answered(text.to_owned()) };
    CallView { tool: word("name").to_owned(), arguments: word("arguments").to_owned(), answer }
}

/// A refusal as a model was told it, in the words in which the world tells its own.
fn refusal(text: &str) -> String {
    let told: Option<Json> = serde_json::from_str(text).ok();
    let told = told.as_ref().map(|told| &told["error"]);
    match told.and_then(|told| told["code"].as_str().zip(told["message"].as_str())) {
        Some((code, message)) => format!("{code}: {message}"),
        None => text.to_owned(),
    }
}

/// Every record that is not as it was, with its fields before and after.
fn changes(opened: &Opened, episode: &Episode) -> Vec<Changed> {
    let domain = &*opened.domain;
    let told = |(table, row, change): &(TableId, u32, Change)| {
        let declared = domain.table(*table);
        let word = |at: usize, value: &Value| shown(domain, episode, *table, at, value);
        let whole = |cells: &[Value], is_new: bool| -> Vec<(String, String, String)> {
            let cells = cells.iter().enumerate().skip(1).filter(|(_, value)| !value.is_null());
            let cell = |(at, value): (usize, &Value)| {
                let (name, value) = (declared.fields[at].name.clone(), word(at, value));
                if is_new { (name, String::new(), value) } else { (name, value, String::new()) }
            };
            cells.map(cell).collect()
        };
        let (what, cells) = match change {
            Change::Added(cells) => (What::Added, whole(cells, true)),
            Change::Removed(cells) => (What::Removed, whole(cells, false)),
            Change::Changed(fields) => {
                let cell = |change: &benchwright_pack::FieldChange| {
                    let at = change.field.index();
                    (declared.fields[at].name.clone(), word(at, &change.old), word(at, &change.new))
                };
                (What::Changed, fields.iter().map(cell).collect())
            }
        };
        Changed { table: declared.name.clone(), record: called(domain, episode, *table, *row), what, cells }
    };
    let changes = episode.diff().changes;
    // Bookkeeping is nobody's work.
    changes.iter().filter(|(table, ..)| !domain.table(*table).log).map(told).collect()
}

/// What a record is called: its number and, where it has one, its name.
fn called(domain: &Domain, episode: &Episode, table: TableId, row: u32) -> String {
    use benchwright_expr::eval::Records as _;
    let declared = domain.table(table);
    let live = episode.live();
    let name = live.row(table, row).and_then(|cells| {
        let field = NAMES.iter().find_map(|name| declared.fields.iter().position(|field| field.name == *name))?;
        match cells.get(field)? {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    });
    match name {
        Some(name) => format!("{row} {name}"),
        None => row.to_string(),
    }
}

/// A value as people read it: money with its cents, a record by its name, a text without quotes.
fn shown(domain: &Domain, episode: &Episode, table: TableId, field: usize, value: &Value) -> String {
    use benchwright_expr::Type;
    let ty = domain.table(table).fields[field].ty;
    match (ty, value) {
        (_, Value::Null) => "–".to_owned(),
        (Type::Ref(other), Value::Ref(row)) => called(domain, episode, other, *row),
        (_, Value::Money(cents)) => {
            let mut out = Vec::new();
            number::write_decimal(&mut out, *cents, number::MONEY_DECIMALS, false);
            String::from_utf8_lossy(&out).into_owned()
        }
        _ => {
            let mut out = Vec::new();
            codec::write_value(&mut out, domain, ty, value);
            match serde_json::from_slice(&out) {
                Ok(Json::String(text)) => text,
                _ => String::from_utf8_lossy(&out).into_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(tool: &str, answer: Answer) -> CallView {
        CallView { tool: tool.to_owned(), arguments: "{}".to_owned(), answer }
    }

    #[test]
    fn what_never_reached_the_world_is_told_as_it_was_said_and_the_rest_as_it_was_answered_again() {
        let transcript = [
            json!({ "role": "user", "text": "do it" }),
            json!({ "role": "assistant", "text": "well", "tokens_out": 7, "reasoning": "hm",
                "calls": [{ "id": "1", "name": "list", "arguments": "" }, { "id": "2", "name": "fly", "arguments": "{" }] }),
            json!({ "role": "tool", "id": "1", "name": "list", "text": "cut", "refused": false }),
            json!({ "role": "tool", "id": "2", "name": "fly", "refused": true,
                "text": json!({ "error": { "code": "not_found", "message": "there is no tool" } }).to_string() }),
        ];
        let made =
            vec![call("list", Answer::Answered("whole".to_owned())), call("more", Answer::Answered("1".to_owned()))];
        let told = said(&transcript, made, &[5]);
        assert_eq!(told.len(), 5);
        assert!(matches!(&told[1], Said::Turn(turn) if turn.micros == Some(5) && turn.tokens_out == Some(7)));
        assert_eq!(told[2], Said::Call(call("list", Answer::Answered("whole".to_owned()))));
        assert!(
            matches!(&told[3], Said::Call(CallView { answer: Answer::Refused(why), .. }) if why == "not_found: there is no tool")
        );
        assert_eq!(told[4], Said::Call(call("more", Answer::Answered("1".to_owned()))));
    }
}
