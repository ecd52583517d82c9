//! An agent outside: any command that is given the address of an episode, its token, and the instruction on standard input.
//!
//! It runs in a sandbox, of which there is one for each trial, and sees of the environment only what is named. What it prints is kept
//! as text and never read as a result, and how it ends decides nothing: what it left of the episode is graded. What is not its doing (a sandbox
//! that fails, a signal from outside, a server that takes no connection) is an error, and none of it is in a program's power.

mod bare;
mod bubblewrap;
mod cgroup;
mod container;
mod filter;
mod isolation;
mod network;
mod users;
mod view;

pub use self::{
    bare::Bare,
    bubblewrap::Bubblewrap,
    container::Container,
    isolation::{Bounds, Broken, Isolation, Job, Ran},
    view::{View, ViewError},
};

use crate::{
    Agent, AgentError, Host, Hosted, Played, Reach, Stop,
    model::Redactor,
    workspace::{Note, Submission, hand_in},
};
use benchwright_pack::{Files, OpenPart, run::Limits};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, net::SocketAddr, os::unix::process::ExitStatusExt as _, sync::Arc, time::Duration};

/// The most characters of what a failed program printed last that a record tells.
const TOLD: usize = 2_000;

/// The flag of a descriptor that is closed when another program is started.
const CLOSED_AT_START: u32 = 0o2_000_000;

/// What programs are run with.
#[derive(Debug)]
pub struct Surroundings {
    /// How they are kept apart.
    pub isolation: Box<dyn Isolation>,
    /// What they see of the environment, besides what every one is given.
    pub variables: BTreeMap<String, String>,
}

impl Surroundings {
    /// Whether the sandbox can be had and the first word of a command is something in it, found out without running the command.
    pub fn try_out(&self, command: &str) -> Result<(), Broken> {
        let word = command.split_whitespace().next().unwrap_or_default();
        let is_plain =
            !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+".contains(letter));
        let look = if is_plain { format!("command -v {word}") } else { "true".to_owned() };
        let most = Duration::from_secs(30);
        let job = Job { command: &look, input: "", variables: &self.variables, episode: None, most, files: None };
        let ran = self.isolation.run(&job)?;
        if ran.status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        Err(Broken::Sandbox(format!("{word} is not found inside")))
    }
}

/// An agent outside: a command line that is started for each trial.
#[derive(Debug)]
pub struct Program {
    name: String,
    command: String,
    around: Arc<Surroundings>,
}

impl Program {
    /// An agent. `name` is its name in records; the command is read by `sh`.
    pub fn new(name: &str, command: &str, around: Arc<Surroundings>) -> Program {
        Program { name: name.to_owned(), command: command.to_owned(), around }
    }

    /// Runs the command once. What it left to be handed in comes beside what it did.
    fn work(
        &self,
        task: &OpenPart,
        reach: &Reach,
        limits: &Limits,
        files: Option<&Files>,
    ) -> Result<(Played, Option<Submission>), AgentError> {
        let mut variables = self.around.variables.clone();
        variables.insert("BENCHWRIGHT_MCP_URL".to_owned(), reach.mcp.clone());
        variables.insert("BENCHWRIGHT_TOOLS_URL".to_owned(), reach.tools.clone());
        variables.insert("BENCHWRIGHT_TOKEN".to_owned(), reach.token.clone());
        if let Some(base) = reach.tools.strip_suffix("/tools").filter(|_| files.is_some()) {
            variables.insert("BENCHWRIGHT_FILES_URL".to_owned(), format!("{base}/files"));
        }
        let job = Job {
            command: &self.command,
            input: &task.instruction,
            variables: &variables,
            episode: Some(address(reach)?),
            most: Duration::from_secs(u64::from(limits.seconds)),
            files,
        };
        let redactor = self.redactor(reach);
        let isolation = &self.around.isolation;
        let Ran { status, out, err, submission, .. } =
            isolation.run(&job).map_err(|broken| failed(&broken, &redactor))?;
        let (out, err) = (redactor.text(&out), redactor.text(&err));
        let ended = status.filter(|status| !status.success()).map(|status| format!("{status}: {}", tail(err.trim())));
        let line = json!({
            "role": "program",
            "code": status.and_then(|status| status.code()),
            "signal": status.and_then(|status| status.signal()),
            "out": out,
            "err": err,
        });
        let stop = if status.is_some() { Stop::Done } else { Stop::Limit("time".to_owned()) };
        let trusted = isolation.is_trusting();
        Ok((Played { transcript: vec![line], trusted, failed: ended, ..Played::plainly(stop) }, submission))
    }

    /// What takes out of texts what the program was handed in secret.
    fn redactor(&self, reach: &Reach) -> Redactor {
        let passed = self.around.variables.iter().filter(|(name, _)| *name != "PATH");
        Redactor::new(passed.map(|(_, value)| value.clone()).chain([reach.token.clone()]))
    }

    /// Hands in what the program left in its folder, unless it handed in something itself at this stage, and tells what came of it.
    fn hand_in(
        &self,
        left: &Submission,
        episode: &mut dyn Hosted,
        redactor: &Redactor,
    ) -> Result<Option<Json>, AgentError> {
        let desk = episode.workspace()?;
        if desk.is_none_or(|desk| !desk.handed.is_empty()) || (left.sheets.is_empty() && left.refused.is_empty()) {
            return Ok(None);
        }
        let notes = hand_in(left, &mut |tool, arguments| episode.call(tool, arguments));
        let told =
            |note: Note| Note { file: redactor.text(&note.file), refused: note.refused.map(|why| redactor.text(&why)) };
        Ok(Some(json!(notes.into_iter().map(told).collect::<Vec<Note>>())))
    }
}

impl Agent for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let names: Vec<&str> = self.around.variables.keys().map(|name| &**name).collect();
        let mut settings = self.around.isolation.facts();
        settings.insert("isolation".to_owned(), self.around.isolation.name().to_owned());
        settings.insert("variables".to_owned(), names.join(","));
        settings
    }

    fn play(
        &self,
        _: &dyn Host,
        task: &OpenPart,
        episode: &mut dyn Hosted,
        _: u32,
        limits: &Limits,
    ) -> Result<Played, AgentError> {
        let reach = episode
            .reach()
            .ok_or_else(|| AgentError { cause: "runner".to_owned(), detail: "the episode is not served".to_owned() })?;
        let desk = episode.workspace()?;
        let broken = |detail: String| AgentError { cause: "runner".to_owned(), detail };
        let files = desk.map(|desk| desk.laid_out(&task.instruction)).transpose();
        let files = files.map_err(|error| broken(error.to_string()))?;
        let worked = self.work(task, &reach, limits, files.as_ref());
        if let Some(lost) = episode.lost() {
            return Err(lost.into());
        }
        let (mut played, left) = worked?;
        let notes = match left {
            Some(left) => self.hand_in(&left, episode, &self.redactor(&reach))?,
            None => None,
        };
        if let (Some(notes), Some(line)) = (notes, played.transcript.first_mut()) {
            line["submission"] = notes;
        }
        match episode.lost() {
            Some(lost) => Err(lost.into()),
            None => Ok(played),
        }
    }
}

/// Closes whatever this process was handed beside its three streams, so that no program inherits it. What is opened from then on is closed
/// in every program that is started.
pub fn close_inherited() {
    let listed = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // What came through the start of this process is what is not closed at the start of another.
    let is_inherited = |number: &i32| {
        let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap_or_default();
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        *number > 2 && flags.is_some_and(|flags| flags & CLOSED_AT_START == 0)
    };
    for number in numbers.into_iter().filter(is_inherited) {
        let _ = nix::unistd::close(number);
    }
}

/// The address of an episode, which has to be one of this machine: a sandbox has no other network.
fn address(reach: &Reach) -> Result<SocketAddr, AgentError> {
    let place = reach.tools.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    let address = place.and_then(|place| place.replace("localhost", "127.0.0.1").parse::<SocketAddr>().ok());
    address.filter(|address| address.ip().is_loopback()).ok_or_else(|| AgentError {
        cause: "runner".to_owned(),
        detail: format!(
            "{} is not at a loopback address, and a program reaches no other; forward a port to it",
            reach.tools
        ),
    })
}

/// What was no doing of the program's: its kind, and what is told.
fn failed(broken: &Broken, redactor: &Redactor) -> AgentError {
    let cause = match broken {
        Broken::Sandbox(_) => "sandbox",
        Broken::Foreign(_) => "signal",
        Broken::Unstopped(_) => "unstopped",
        Broken::Server(_) => "server",
    };
    AgentError { cause: cause.to_owned(), detail: redactor.text(&broken.to_string()) }
}

/// The end of what was printed, where the reason stands.
fn tail(text: &str) -> String {
    let too_many = text.chars().count().saturating_sub(TOLD);
    let kept: String = text.chars().skip(too_many).collect();
    if too_many > 0 { format!("… {kept}") } else { kept }
}
