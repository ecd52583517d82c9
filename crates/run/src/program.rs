//! An agent outside: any command that is given the address of an episode, its token, and the instruction on standard input.
//!
//! It runs as a user of its own, in a process group of its own and an empty folder, and sees of the environment only what is
//! named. What it prints is kept as text and never read as a result. When it ends or its time is up, all that it left
//! running is stopped before anything is graded.

use crate::{Agent, AgentError, Host, Hosted, Played, Reach, Stop, model::Redactor};
use benchwright_pack::{OpenPart, run::Limits};
use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read, Write as _},
    os::unix::{
        fs::{DirBuilderExt as _, MetadataExt as _, chown},
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// The first user that an agent runs as, in the range that systems set aside for users who come and go.
const FIRST_USER: u32 = 61_184;
/// How many of them there are, which is how many programs run at a time.
const USERS: u32 = 256;
/// The most bytes that are kept of each stream that a program prints.
const LARGEST_PRINT: usize = 1 << 20;
/// How often it is looked whether a program has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How long it may take until everything is stopped.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most characters of what a failed program printed last that an error tells.
const TOLD: usize = 2_000;

/// Whose rights programs have.
#[derive(Debug)]
pub enum Rights {
    /// Each those of a user of its own, who owns nothing else.
    Apart(Users),
    /// Those of who runs them. The record says so.
    Trusted,
}

/// Users for programs, each for one at a time.
#[derive(Debug, Default)]
pub struct Users {
    taken: Mutex<BTreeSet<u32>>,
}

impl Users {
    fn take(&self) -> Option<u32> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free =
            (FIRST_USER..FIRST_USER + USERS).find(|user| !taken.contains(user) && processes_of(*user).is_empty());
        free.filter(|user| taken.insert(*user))
    }

    fn give_back(&self, user: u32) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&user);
    }
}

/// What programs are run with.
#[derive(Debug)]
pub struct Surroundings {
    /// Whose rights they have.
    pub rights: Rights,
    /// Where their folders are made.
    pub scratch: PathBuf,
    /// What they see of the environment, besides what every one is given.
    pub variables: BTreeMap<String, String>,
}

/// An agent outside: a command line that is started for each trial.
#[derive(Debug)]
pub struct Program {
    name: String,
    command: String,
    around: Arc<Surroundings>,
}

/// Folders are numbered.
static NEXT_FOLDER: AtomicU64 = AtomicU64::new(0);

impl Program {
    /// An agent. `name` is its name in records; the command is read by `sh`.
    pub fn new(name: &str, command: &str, around: Arc<Surroundings>) -> Program {
        Program { name: name.to_owned(), command: command.to_owned(), around }
    }

    /// Runs the command once.
    fn work(
        &self,
        folder: &Path,
        user: Option<u32>,
        task: &OpenPart,
        reach: &Reach,
        limits: &Limits,
    ) -> Result<Played, AgentError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &self.command]).current_dir(folder).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_clear().envs(&self.around.variables);
        command.env("HOME", folder).env("TMPDIR", folder).env("LANG", "C.UTF-8");
        command.env("BENCHWRIGHT_MCP_URL", &reach.mcp).env("BENCHWRIGHT_TOOLS_URL", &reach.tools);
        command.env("BENCHWRIGHT_TOKEN", &reach.token);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().map_err(|error| runner(format!("{}: {error}", self.name)))?;
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
        let instruction = task.instruction.clone();
        if let Some(mut stdin) = child.stdin.take() {
            // Whoever does not read it may leave it.
            thread::spawn(move || stdin.write_all(instruction.as_bytes()));
        }
        let printed = [child.stdout.take().map(Printed::read), child.stderr.take().map(Printed::read)];
        let ended = wait(&mut child, Duration::from_secs(u64::from(limits.seconds)));
        let stopped = stop_all(&mut child, group, user);
        let [out, err] = printed.map(|printed| printed.map_or_else(String::new, |printed| printed.text()));
        stopped?;
        let passed = self.around.variables.iter().filter(|(name, _)| *name != "PATH");
        let secrets = passed.map(|(_, value)| value.clone()).chain([reach.token.clone()]);
        let redactor = Redactor::new(secrets);
        let ended = ended.map_err(|error| runner(format!("{}: {error}", self.name)))?;
        let (out, err) = (redactor.text(&out), redactor.text(&err));
        let failed = ended.filter(|status| !status.success()).map(|status| format!("{status}: {}", tail(err.trim())));
        let line = json!({
            "role": "program",
            "code": ended.and_then(|status| status.code()),
            "signal": ended.and_then(|status| status.signal()),
            "out": out,
            "err": err,
        });
        let stop = if ended.is_some() { Stop::Done } else { Stop::Limit("time".to_owned()) };
        Ok(Played { transcript: vec![line], trusted: user.is_none(), failed, ..Played::plainly(stop) })
    }
}

impl Agent for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let names: Vec<&str> = self.around.variables.keys().map(|name| &**name).collect();
        let rights = if matches!(self.around.rights, Rights::Trusted) { "trusted" } else { "apart" };
        [("rights", rights.to_owned()), ("variables", names.join(","))]
            .map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .collect()
    }

    fn play(
        &self,
        _: &dyn Host,
        task: &OpenPart,
        episode: &mut dyn Hosted,
        _: u32,
        limits: &Limits,
    ) -> Result<Played, AgentError> {
        let reach = episode.reach().ok_or_else(|| runner("the episode is not served".to_owned()))?;
        let user = match &self.around.rights {
            Rights::Trusted => None,
            Rights::Apart(users) => {
                Some(users.take().ok_or_else(|| runner("no user is free for the program".to_owned()))?)
            }
        };
        let made = make_folder(&self.around.scratch, user);
        let played = match &made {
            Ok(folder) => self.work(folder, user, task, &reach, limits),
            Err(error) => Err(runner(format!("no folder for the program: {error}"))),
        };
        if let Ok(folder) = &made {
            // Nothing in it is ever read; links in it are not followed.
            let _ = fs::remove_dir_all(folder);
        }
        if let (Rights::Apart(users), Some(user)) = (&self.around.rights, user) {
            users.give_back(user);
        }
        match episode.lost() {
            Some(lost) => Err(lost.into()),
            None => played,
        }
    }
}

fn runner(detail: String) -> AgentError {
    AgentError { cause: "runner".to_owned(), detail }
}

/// The end of what was printed, where the reason stands.
fn tail(text: &str) -> String {
    let too_many = text.chars().count().saturating_sub(TOLD);
    let kept: String = text.chars().skip(too_many).collect();
    if too_many > 0 { format!("… {kept}") } else { kept }
}

/// An empty folder that only the program may enter.
fn make_folder(scratch: &Path, user: Option<u32>) -> io::Result<PathBuf> {
    let number = NEXT_FOLDER.fetch_add(1, Ordering::Relaxed);
    let folder = scratch.join(format!("benchwright-agent-{}-{number}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    if user.is_some() {
        chown(&folder, user, user)?;
    }
    Ok(folder)
}

/// Waits for the program's end; nothing when its time is up.
fn wait(child: &mut Child, most: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= most {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// Stops everything that a program left running: its group, and all that its user has.
fn stop_all(child: &mut Child, group: Pid, user: Option<u32>) -> Result<(), AgentError> {
    let failed = |why: String| runner(format!("the program could not be stopped: {why}"));
    match killpg(group, Signal::SIGKILL) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => return Err(failed(error.to_string())),
    }
    child.wait().map_err(|error| failed(error.to_string()))?;
    let Some(user) = user else { return Ok(()) };
    let begun = Instant::now();
    while !processes_of(user).is_empty() {
        // One signal reaches all of a user's processes at once, so that none can outrun it.
        let mut all = Command::new("/bin/sh");
        all.args(["-c", "kill -KILL -1"]).uid(user).gid(user).current_dir("/").env_clear();
        all.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        all.status().map_err(|error| failed(error.to_string()))?;
        if begun.elapsed() > PATIENCE {
            return Err(failed(format!("user {user} still has processes")));
        }
        thread::sleep(LOOK);
    }
    Ok(())
}

/// The processes of a user that are not over.
fn processes_of(user: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.metadata().is_ok_and(|about| about.uid() == user));
    let number = ours.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    let is_over = |number: &u32| {
        // The state stands behind the name, which is in brackets and may hold anything.
        let about = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        about.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
    };
    number.filter(|number| !is_over(number)).collect()
}

/// What a program prints on one stream, as far as it is kept.
struct Printed {
    text: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
}

impl Printed {
    fn read(mut stream: impl Read + Send + 'static) -> Printed {
        let text: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut part = [0; 8 << 10];
            while let Ok(count @ 1..) = stream.read(&mut part) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                // The rest is read and dropped, so that nobody waits for room.
                let room = LARGEST_PRINT.saturating_sub(kept.len()).min(count);
                kept.extend_from_slice(&part[..room]);
            }
        });
        Printed { text, reader }
    }

    /// What was printed. Somebody who holds the stream open is not waited for.
    fn text(self) -> String {
        let begun = Instant::now();
        while !self.reader.is_finished() && begun.elapsed() < Duration::from_secs(1) {
            thread::sleep(LOOK);
        }
        let kept = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}
