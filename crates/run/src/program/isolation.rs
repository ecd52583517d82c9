//! How a program is kept apart: one trait, and what all ways share. Which way it was stands in the record of a run.
//!
//! Every way has the same duty: when [`Isolation::run`] returns, nothing of the program is running any more. What cannot be
//! shown to have stopped is an error, so that no verdict is reached beside somebody who can still call.

use crate::workspace::{Submission, read_left};
use benchwright_pack::Files;
use std::{
    collections::BTreeMap,
    io::{self, Read, Write as _},
    net::SocketAddr,
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The most bytes that are kept of each stream that a program prints.
const LARGEST_PRINT: usize = 1 << 20;
/// The longest time between two looks whether a program has ended. The first looks come sooner.
const LOOK: Duration = Duration::from_millis(10);
/// The most bytes of the folder in which a program leaves what is to be handed in. More than is read of it, so that it can be told.
pub(super) const SUBMISSION_ROOM: u64 = 8 << 20;
/// How long a sandbox may take until it stands.
const TO_STAND: Duration = Duration::from_secs(60);
/// How long it may take until everything is stopped.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// What a program is run with.
#[derive(Debug)]
pub struct Job<'a> {
    /// The command, as `sh` reads it.
    pub command: &'a str,
    /// What it reads on its standard input.
    pub input: &'a str,
    /// All that it sees of the environment, besides its folder.
    pub variables: &'a BTreeMap<String, String>,
    /// The only address that it reaches.
    pub episode: Option<SocketAddr>,
    /// How long it may take.
    pub most: Duration,
    /// The files that lie in its folder, to read, beside an empty folder for what it hands in. Without them its folder is empty.
    pub files: Option<&'a Files>,
}

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    /// How it ended; nothing when its time was up.
    pub status: Option<ExitStatus>,
    /// What it printed, as far as it is kept.
    pub out: String,
    /// What it printed as errors, as far as it is kept.
    pub err: String,
    /// What it left to be handed in, where it was given files.
    pub submission: Option<Submission>,
    /// The folder of that, which outlives its sandbox.
    pub(super) left: Option<OwnedFd>,
    /// The number of the process that was started for it.
    pub(super) process: u32,
}

impl Ran {
    /// The same, unless the process that stands for the sandbox was ended by a signal, which nobody inside can send.
    pub(super) fn undisturbed(self) -> Result<Ran, Broken> {
        match self.status.and_then(|status| status.signal()) {
            Some(signal) => Err(Broken::Foreign(format!("signal {signal}; {}", last_line(&self.err)))),
            None => Ok(self),
        }
    }

    /// The same with what it left to be handed in. Nothing of the program is running any more.
    pub(super) fn collected(mut self) -> Ran {
        self.submission = self.left.take().map(|left| read_left(Ok(left)));
        self
    }

    /// The same without its first line, which is the sign that the sandbox stood and the program began. A program that never began is not
    /// judged: then it was the sandbox that failed.
    pub(super) fn begun(self, sign: &str) -> Result<Ran, Broken> {
        match self.out.strip_prefix(sign).and_then(|rest| rest.strip_prefix('\n')) {
            Some(rest) => Ok(Ran { out: rest.to_owned(), ..self }),
            None => {
                let how = self.status.map_or_else(|| "its time was up".to_owned(), |status| status.to_string());
                Err(Broken::Sandbox(format!("{how}: {}", last_line(&self.err))))
            }
        }
    }
}

/// Why a program could not be run, or not be stopped. Nothing of this kind is the program's doing, and none is scored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Broken {
    /// The sandbox could not be made.
    #[error("no sandbox: {0}")]
    Sandbox(String),
    /// Somebody else stopped the sandbox.
    #[error("the sandbox was ended by somebody else ({0})")]
    Foreign(String),
    /// What the program left behind could not be stopped.
    #[error("the program could not be stopped: {0}")]
    Unstopped(String),
    /// The episode could not be reached from the sandbox.
    #[error("the episode's server could not be reached: {0}")]
    Server(String),
}

/// The most that a program may take of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Bytes of memory, those of files that it writes among them.
    pub memory: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Bytes that it can write.
    pub disk: u64,
    /// Hundredths of a core.
    pub cpu: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { memory: 2 << 30, processes: 256, disk: 256 << 20, cpu: 100 }
    }
}

/// A way to keep programs apart.
pub trait Isolation: Send + Sync + std::fmt::Debug {
    /// Its name in records: `bubblewrap`, `container` or `none`.
    fn name(&self) -> &'static str;
    /// How tight it is, for the record: what held the bounds, what was visible, what could be reached.
    fn facts(&self) -> BTreeMap<String, String>;
    /// Whether a program has the rights of who runs it.
    fn is_trusting(&self) -> bool {
        false
    }
    /// Runs a program from beginning to end. When it returns, nothing of the program is left.
    fn run(&self, job: &Job<'_>) -> Result<Ran, Broken>;
}

/// How a sandbox is ended from outside, with the process that was started for it. It is called over and over until that has ended.
pub(super) type End<'a> = &'a dyn Fn(&Child);

/// How the folder in which a program leaves what is to be handed in is opened from outside, while its sandbox stands and the program has not
/// begun. What is opened then stays, though the sandbox with all its mounts be gone.
pub(super) type OpenLeft<'a> = &'a dyn Fn(&Child) -> io::Result<OwnedFd>;

/// How a program begins. It says so, which nothing of the program can keep it from; where files are to be handed in it waits for a line, in
/// which time their folder is opened; then it becomes the program.
pub(super) fn begin(job: &Job<'_>) -> &'static str {
    match job.files {
        Some(_) => r#"printf '%s\n' "$0"; read -r go; exec /bin/sh -c "$1""#,
        None => r#"printf '%s\n' "$0"; exec /bin/sh -c "$1""#,
    }
}

/// Starts a command, hands it its input and waits until it has ended, which is brought about when its time is up.
pub(super) fn attend(mut command: Command, job: &Job<'_>, end: End<'_>, open: OpenLeft<'_>) -> Result<Ran, Broken> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let told = format!("{:?}", command.get_program());
    let mut child = command.spawn().map_err(|error| Broken::Sandbox(format!("{told}: {error}")))?;
    let stdin = child.stdin.take();
    let printed = [child.stdout.take().map(Printed::read), child.stderr.take().map(Printed::read)];
    let mut input = job.input.to_owned();
    let left = match (&printed[0], job.files) {
        (Some(out), Some(_)) => {
            input.insert(0, '\n');
            opened(&mut child, out, end, open)?
        }
        _ => None,
    };
    if let Some(mut stdin) = stdin {
        // Whoever does not read it may leave it.
        thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    let ended = wait(&mut child, job.most, &|_| {});
    let status = match ended {
        Ok(Some(status)) => Ok(Some(status)),
        // Its time is up, or nobody knows how it is.
        Ok(None) | Err(_) => {
            end(&child);
            match wait(&mut child, PATIENCE, end) {
                Ok(Some(_)) => ended.map_err(|error| Broken::Sandbox(error.to_string())),
                Ok(None) => {
                    let _ = child.kill();
                    Err(Broken::Unstopped(format!("it was still there after {} seconds", PATIENCE.as_secs())))
                }
                Err(error) => Err(Broken::Unstopped(error.to_string())),
            }
        }
    };
    let [out, err] = printed.map(|printed| printed.map_or_else(String::new, Printed::text));
    Ok(Ran { status: status?, out, err, submission: None, left, process: child.id() })
}

/// Waits until a sandbox stands and opens the folder of what is to be handed in. One that ends without it never begins, which is told later.
fn opened(child: &mut Child, out: &Printed, end: End<'_>, open: OpenLeft<'_>) -> Result<Option<OwnedFd>, Broken> {
    let begun = Instant::now();
    let failed = |error: &dyn std::fmt::Display| Broken::Sandbox(format!("the folder to hand in: {error}"));
    let opened = loop {
        if out.has_line() {
            break open(child).map(Some).map_err(|error| failed(&error));
        }
        match child.try_wait() {
            Ok(None) if begun.elapsed() < TO_STAND => thread::sleep(Duration::from_millis(1)),
            Ok(None) => break Err(failed(&"its sandbox does not stand")),
            Ok(Some(_)) => break Ok(None),
            Err(error) => break Err(failed(&error)),
        }
    };
    if opened.is_err() {
        // Nothing of it is left.
        end(child);
        let _ = wait(child, PATIENCE, end);
    }
    opened
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("it had printed nothing")
}

/// Waits for a process's end; nothing when the time is up. `beside` is called at each look.
fn wait(child: &mut Child, most: Duration, beside: End<'_>) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let passed = begun.elapsed();
        if passed >= most {
            return Ok(None);
        }
        beside(child);
        thread::sleep((passed / 16).clamp(Duration::from_micros(500), LOOK).min(most - passed));
    }
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

    /// Whether a whole line has come.
    fn has_line(&self) -> bool {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).contains(&b'\n')
    }

    /// What was printed. Somebody who holds the stream open is not waited for.
    fn text(self) -> String {
        let begun = Instant::now();
        while !self.reader.is_finished() && begun.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_micros(200));
        }
        let kept = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

/// A name that nobody can know beforehand.
pub(super) fn random_name() -> Result<String, Broken> {
    let mut bytes = [0; 12];
    let mut source =
        std::fs::File::open("/dev/urandom").map_err(|error| Broken::Sandbox(format!("/dev/urandom: {error}")))?;
    source.read_exact(&mut bytes).map_err(|error| Broken::Sandbox(format!("/dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
