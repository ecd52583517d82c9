//! No sandbox at all: a program with the rights of who runs it, for whoever trusts it. The record says so.

use super::isolation::{Broken, Isolation, Job, Ran, attend, random_name};
use crate::workspace::{lay_out, open_path, read_left};
use benchwright_world::workspace::SUBMISSION;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use std::{
    collections::BTreeMap,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    process::{Command, Stdio},
};

/// Says that it has begun and becomes the program, in a session without a terminal.
const BEGIN: &str = r#"printf '%s\n' "$0"; [ -z "$2" ] || read -r go; exec setsid /bin/sh -c "$1""#;

/// No sandbox.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare;

impl Isolation for Bare {
    fn name(&self) -> &'static str {
        "none"
    }

    fn facts(&self) -> BTreeMap<String, String> {
        [("network", "all"), ("visible", "all")].map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    fn is_trusting(&self) -> bool {
        true
    }

    fn run(&self, job: &Job<'_>) -> Result<Ran, Broken> {
        let sign = random_name()?;
        let folder = std::env::temp_dir().join(format!("benchwright-agent-{sign}"));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| Broken::Sandbox(format!("{}: {error}", folder.display())))?;
        if let Some(files) = job.files {
            let laid = lay_out(&folder, files, 0o444);
            laid.map_err(|error| Broken::Sandbox(format!("its files cannot be laid out: {error}")))?;
        }
        let submission = folder.join(SUBMISSION);
        let mut command = Command::new("/bin/sh");
        let waits = if job.files.is_some() { "waits" } else { "" };
        command.args(["-c", BEGIN, &sign, job.command, waits]).current_dir(&folder).env_clear().envs(job.variables);
        command.env("HOME", &folder).env("TMPDIR", &folder).env("LANG", "C.UTF-8");
        let mut ran = attend(command, job, &|program| kill_session(program.id()), &|_| open_path(&submission));
        if let Ok(ran) = &mut ran {
            kill_session(ran.process);
            // A program may have put another folder into its place, so that it is looked for where it belongs.
            ran.submission = ran.left.take().map(|_| read_left(open_path(&submission)));
        }
        // A tree can be too deep for a function that calls itself. Links in it are not followed.
        let mut removal = Command::new("rm");
        removal.args(["-rf", "--"]).arg(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = removal.status();
        ran?.undisturbed()?.begun(&sign)
    }
}

/// Kills the program and all that stayed in its group.
fn kill_session(program: u32) {
    if let Ok(number) = i32::try_from(program) {
        let _ = killpg(Pid::from_raw(number), Signal::SIGKILL);
    }
}
