//! A recorded run as an Inspect log (`.eval`, version 2), which `inspect view` shows: a sample a trial, with its messages, calls and
//! scores. It holds no time of day but the one in the run's name; how long each trial took is what the run measured.

use crate::{
    Dialogue, ExportError,
    dialogue::{CallFacts, RunFacts, TrialFacts},
    zip::Zip,
};
use benchwright_base::DateTime;
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    fs,
    io::BufWriter,
    path::{Path, PathBuf},
};

/// The version of the log's form.
const VERSION: u32 = 2;
/// The scores of a sample: what the judge pays, and whether everything is right.
const REWARD: &str = "reward";
const PASS: &str = "pass";
/// What stands for the right answer: the state of the world is judged, not a text.
const TARGET: &str = "the state that the task asks for";

/// A log that is being written. It gets its name when it is whole.
pub struct InspectLog {
    run: RunFacts,
    path: PathBuf,
    half: PathBuf,
    zip: Zip<BufWriter<fs::File>>,
    eval: Json,
    summaries: Vec<Json>,
    /// Sums of reward and of passes, over the samples that have a verdict.
    sums: (f64, f64, usize),
    tokens: Option<(u64, u64)>,
    /// Microseconds of all trials.
    wall: u64,
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> ExportError {
    let path = path.to_owned();
    move |why| ExportError::Io { path: path.clone(), why }
}

impl InspectLog {
    /// Begins a log of the run of an agent on some tasks.
    pub fn create(path: &Path, run: RunFacts, tasks: &[String]) -> Result<InspectLog, ExportError> {
        if path.exists() {
            return Err(ExportError::AlreadyThere(path.to_owned()));
        }
        let mut half = path.as_os_str().to_owned();
        half.push(".half");
        let half = PathBuf::from(half);
        let file = fs::File::create(&half).map_err(io(&half))?;
        let eval = json!({
            "eval_id": run.digest.get(..22).unwrap_or(&run.digest),
            "run_id": run.name,
            "created": written(run.begun),
            "task": "benchwright",
            "task_id": run.digest,
            "task_version": 0,
            "dataset": { "name": run.name, "samples": tasks.len(), "sample_ids": tasks },
            "model": model(&run.agent),
            "config": { "epochs": run.attempts },
            "packages": { "benchwright": run.version },
            "metadata": { "agent": run.agent, "run": run.name, "plan": run.digest },
        });
        let mut log = InspectLog {
            path: path.to_owned(),
            zip: Zip::new(BufWriter::new(file)),
            half,
            eval,
            summaries: Vec::new(),
            sums: (0.0, 0.0, 0),
            tokens: Some((0, 0)),
            wall: 0,
            run,
        };
        let start = json!({ "version": VERSION, "eval": log.eval, "plan": plan() });
        log.entry("_journal/start.json", &start)?;
        Ok(log)
    }

    fn entry(&mut self, name: &str, document: &Json) -> Result<(), ExportError> {
        self.zip.add(name, document.to_string().as_bytes()).map_err(io(&self.half))
    }

    /// Adds a trial.
    pub fn add(&mut self, trial: &TrialFacts) -> Result<(), ExportError> {
        let (task, epoch) = (&trial.task, trial.attempt);
        let uuid = format!("{}-{epoch}", task.id);
        let seconds = trial.wall as f64 / 1e6;
        self.wall += trial.wall;
        let usage = match (trial.tokens_in, trial.tokens_out) {
            (Some(tokens_in), Some(tokens_out)) => {
                self.tokens = self.tokens.map(|(all_in, all_out)| (all_in + tokens_in, all_out + tokens_out));
                json!({ model(&self.run.agent): usage(tokens_in, tokens_out) })
            }
            _ => {
                self.tokens = None;
                json!({})
            }
        };
        let mut sample = json!({
            "id": task.id, "epoch": epoch, "input": trial.asked, "target": TARGET, "messages": [], "store": {}, "events": [],
            "metadata": {
                "trial": trial.number, "digest": task.digest, "domain": task.domain, "pattern": task.pattern,
                "tier": task.tier, "objective": task.objective, "split": task.split, "canary": task.canary,
            },
            "model_usage": usage, "attachments": {}, "total_time": seconds, "working_time": seconds, "uuid": uuid,
        });
        let mut summary = json!({
            "id": task.id, "epoch": epoch, "input": trial.asked, "target": TARGET, "uuid": uuid, "model_usage": usage,
            "total_time": seconds, "working_time": seconds, "completed": true, "metadata": sample["metadata"],
        });
        match &trial.end {
            Err((cause, detail)) => {
                let message = format!("{cause}: {detail}");
                sample["error"] = json!({ "message": message, "traceback": message, "traceback_ansi": message });
                summary["error"] = message.into();
            }
            Ok(dialogue) => {
                let messages = messages(&uuid, dialogue, &model(&self.run.agent));
                let scores = scores(dialogue);
                summary["message_count"] = messages.len().into();
                summary["scores"] = scores.clone();
                sample["output"] = output(&messages, dialogue, &model(&self.run.agent), trial);
                sample["events"] = self.events(&uuid, dialogue, &scores).into();
                sample["scores"] = scores;
                sample["messages"] = messages.into();
                sample["metadata"]["stop"] = dialogue.stop().into();
                let (reward, pass, count) = self.sums;
                self.sums = (reward + dialogue.judged.share(), pass + f64::from(dialogue.judged.pass), count + 1);
            }
        }
        self.entry(&format!("samples/{}_epoch_{epoch}.json", task.id), &sample)?;
        self.summaries.push(summary);
        Ok(())
    }

    /// What happened, call by call, and the scores at the end.
    fn events(&self, uuid: &str, dialogue: &Dialogue, scores: &Json) -> Vec<Json> {
        let at = written(self.run.begun);
        let tool = |(nth, call): (usize, &CallFacts)| {
            let mut event = json!({
                "event": "tool", "uuid": format!("{uuid}-{}", nth + 1), "timestamp": at, "working_start": 0.0, "type": "function",
                "id": call.id, "function": call.tool, "arguments": call.object(), "result": call.answer, "events": [],
            });
            if let Some(error) = refused(call) {
                event["error"] = error;
            }
            event
        };
        let score = |(name, score): (&String, &Json)| {
            json!({
                "event": "score", "uuid": format!("{uuid}-{name}"), "timestamp": at, "working_start": 0.0, "score": score,
                "target": TARGET, "intermediate": false,
            })
        };
        let scores = scores.as_object().into_iter().flatten().map(score);
        dialogue.calls().enumerate().map(tool).chain(scores).collect()
    }

    /// Ends the log. How many bytes it has.
    pub fn finish(mut self) -> Result<u64, ExportError> {
        let (reward, pass, count) = self.sums;
        let mean = |sum: f64| if count == 0 { 0.0 } else { sum / count as f64 };
        let score = |name: &str, sum: f64| {
            json!({
                "name": name, "scorer": name, "params": {}, "scored_samples": count,
                "metrics": { "mean": { "name": "mean", "value": mean(sum), "params": {} } },
            })
        };
        let used: BTreeMap<String, Json> = self
            .tokens
            .filter(|(tokens_in, tokens_out)| tokens_in + tokens_out > 0)
            .map(|(tokens_in, tokens_out)| (model(&self.run.agent), usage(tokens_in, tokens_out)))
            .into_iter()
            .collect();
        let header = json!({
            "version": VERSION,
            "status": if self.run.is_whole { "success" } else { "cancelled" },
            "eval": self.eval,
            "plan": plan(),
            "results": {
                "total_samples": self.summaries.len(), "completed_samples": count,
                "scores": [score(REWARD, reward), score(PASS, pass)],
            },
            // As if one trial had followed the other: when the last one ended, a run does not keep.
            "stats": {
                "started_at": written(self.run.begun),
                "completed_at": written(DateTime(self.run.begun.0 + self.wall.div_ceil(1_000_000) as i64)),
                "model_usage": used,
            },
        });
        let summaries = Json::Array(std::mem::take(&mut self.summaries));
        self.entry("summaries.json", &summaries)?;
        self.entry("header.json", &header)?;
        self.zip.finish().map_err(io(&self.half))?;
        fs::rename(&self.half, &self.path).map_err(io(&self.path))?;
        Ok(fs::metadata(&self.path).map_err(io(&self.path))?.len())
    }
}

/// A time of day as Inspect writes it.
fn written(time: DateTime) -> String {
    time.to_string().replace('Z', "+00:00")
}

/// The agent as Inspect names models: with somebody who offers it.
fn model(agent: &str) -> String {
    format!("benchwright/{agent}")
}

fn plan() -> Json {
    json!({ "name": "plan", "steps": [], "config": {} })
}

fn usage(tokens_in: u64, tokens_out: u64) -> Json {
    json!({ "input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out })
}

fn refused(call: &CallFacts) -> Option<Json> {
    call.refused.as_ref().map(|_| json!({ "type": "unknown", "message": call.answer }))
}

fn scores(dialogue: &Dialogue) -> Json {
    let judged = &dialogue.judged;
    let why = match (judged.failed.is_empty() && judged.gates.is_empty(), judged.pass) {
        (_, true) => "every check passed".to_owned(),
        (true, false) => "every check passed, and something better was possible".to_owned(),
        (false, false) => format!("failed: {}", [&judged.failed[..], &judged.gates[..]].concat().join(", ")),
    };
    let metadata = json!({ "failed": judged.failed, "gates": judged.gates });
    json!({
        REWARD: { "value": judged.share(), "explanation": why, "metadata": metadata },
        PASS: { "value": f64::from(judged.pass), "explanation": why },
    })
}

fn messages(uuid: &str, dialogue: &Dialogue, model: &str) -> Vec<Json> {
    let mut said: Vec<Json> = Vec::new();
    said.extend(dialogue.system.iter().map(|text| json!({ "role": "system", "content": text })));
    said.push(json!({ "role": "user", "content": dialogue.user, "source": "input" }));
    for turn in &dialogue.turns {
        let mut message = json!({ "role": "assistant", "content": turn.text, "source": "generate", "model": model });
        if !turn.calls.is_empty() {
            let call = |call: &CallFacts| json!({ "id": call.id, "function": call.tool, "arguments": call.object(), "type": "function" });
            message["tool_calls"] = turn.calls.iter().map(call).collect();
        }
        said.push(message);
        for call in &turn.calls {
            let mut message =
                json!({ "role": "tool", "content": call.answer, "tool_call_id": call.id, "function": call.tool });
            if let Some(error) = refused(call) {
                message["error"] = error;
            }
            said.push(message);
        }
    }
    for (nth, message) in said.iter_mut().enumerate() {
        message["id"] = format!("{uuid}-m{}", nth + 1).into();
    }
    said
}

fn output(messages: &[Json], dialogue: &Dialogue, model: &str, trial: &TrialFacts) -> Json {
    let last = messages.iter().rev().find(|message| message["role"] == "assistant");
    let stop = match dialogue.limit.as_deref() {
        None => "stop",
        Some("length" | "tokens") => "max_tokens",
        Some(_) => "unknown",
    };
    let choices: Vec<Json> =
        last.into_iter().map(|message| json!({ "message": message, "stop_reason": stop })).collect();
    let mut output = json!({ "model": model, "choices": choices, "time": trial.wall as f64 / 1e6 });
    if let (Some(tokens_in), Some(tokens_out)) = (trial.tokens_in, trial.tokens_out) {
        output["usage"] = usage(tokens_in, tokens_out);
    }
    output
}
