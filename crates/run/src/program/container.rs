//! Programs kept apart by Podman: each in a container of its own from an image that is named, in a network with nothing but its episode.
//!
//! A container's processes are not children of who asked for it, so a watcher stands beside: it reads from a pipe that only this process
//! holds, and removes the container when the pipe is closed, whatever closed it.

use super::{
    isolation::{Bounds, Broken, Isolation, Job, Ran, SUBMISSION_ROOM, attend, begin, random_name},
    network,
    view::{FOLDER, View},
};
use crate::workspace::{Shown, open_path};
use benchwright_world::workspace::SUBMISSION;
use std::{
    collections::BTreeMap,
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Waits for the end of its input, then removes a container.
const WATCH: &str = r#"cat > /dev/null; exec podman rm --force --ignore --time 0 "$0" > /dev/null 2>&1"#;

/// Programs kept apart by containers.
#[derive(Debug)]
pub struct Container {
    image: String,
    seen: Vec<PathBuf>,
    view: View,
    bounds: Bounds,
}

impl Container {
    /// Podman's version, where it can be had.
    pub fn look() -> Result<String, Broken> {
        let asked = Command::new("podman").arg("--version").stdin(Stdio::null()).output();
        let version = asked.map_err(|error| Broken::Sandbox(format!("podman: {error}")))?;
        if !version.status.success() {
            return Err(Broken::Sandbox(format!("podman: {}", String::from_utf8_lossy(&version.stderr).trim())));
        }
        Ok(String::from_utf8_lossy(&version.stdout).trim().to_owned())
    }

    /// Containers of an image that is here, with what is named of the machine.
    pub fn new(image: &str, view: View, bounds: Bounds) -> Result<Container, Broken> {
        Container::look()?;
        let mut asked = Command::new("podman");
        asked.args(["image", "inspect", "--format", "{{.Id}}", image]).stdin(Stdio::null());
        let found = asked.output().map_err(|error| Broken::Sandbox(format!("podman: {error}")))?;
        if !found.status.success() {
            return Err(Broken::Sandbox(String::from_utf8_lossy(&found.stderr).trim().to_owned()));
        }
        // By its id, so that all trials of a run have the same.
        let image = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        Ok(Container { image, seen: view.named(), view, bounds })
    }

    fn command(&self, job: &Job<'_>, name: &str, network: &str, files: &[(PathBuf, String)]) -> Command {
        let Bounds { memory, processes, disk, cpu } = self.bounds;
        let mut command = Command::new("podman");
        command.args(["run", "--rm", "--interactive", "--pull", "never", "--name", name, "--network", network]);
        command.args([
            "--read-only",
            "--read-only-tmpfs=false",
            "--tmpfs",
            &format!("{FOLDER}:rw,size={disk},mode=1777"),
        ]);
        command.args(["--memory", &memory.to_string(), "--memory-swap", &memory.to_string()]);
        command.args(["--pids-limit", &processes.to_string(), "--cpus", &format!("{}.{:02}", cpu / 100, cpu % 100)]);
        command.args(["--cap-drop", "all", "--security-opt", "no-new-privileges", "--user", "65534:65534"]);
        command.args(["--hostname", "agent", "--workdir", FOLDER]);
        for path in &self.seen {
            command.arg("--volume").arg(format!("{0}:{0}:ro", path.display()));
        }
        for folder in &self.view.hidden_folders {
            command.arg("--tmpfs").arg(format!("{}:ro,size=4096,mode=0", folder.display()));
        }
        for file in &self.view.hidden_files {
            command.arg("--volume").arg(format!("/dev/null:{}:ro", file.display()));
        }
        for (file, name) in files {
            command.arg("--volume").arg(format!("{}:{FOLDER}/{name}:ro", file.display()));
        }
        if job.files.is_some() {
            command.arg("--tmpfs").arg(format!("{FOLDER}/{SUBMISSION}:rw,size={SUBMISSION_ROOM},mode=1777"));
        }
        // Values stand in the environment of podman, not in its command line, which everybody can read.
        for (variable, value) in job.variables {
            command.env(variable, value);
            if variable != "PATH" {
                command.args(["--env", variable]);
            }
        }
        command.args([
            "--env",
            &format!("HOME={FOLDER}"),
            "--env",
            &format!("TMPDIR={FOLDER}"),
            "--env",
            "LANG=C.UTF-8",
        ]);
        command.args([&*self.image, "/bin/sh", "-c", begin(job), name, job.command]);
        command
    }
}

impl Isolation for Container {
    fn name(&self) -> &'static str {
        "container"
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let Bounds { memory, processes, disk, cpu } = self.bounds;
        let seen: Vec<String> = self.seen.iter().map(|path| path.display().to_string()).collect();
        [
            ("bounds", format!("memory {memory}, processes {processes}, disk {disk}, cpu {cpu}%")),
            ("held-by", "podman".to_owned()),
            ("image", self.image.clone()),
            ("network", "episode".to_owned()),
            ("user", "own".to_owned()),
            ("visible", ["image".to_owned()].into_iter().chain(seen).collect::<Vec<_>>().join(",")),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    fn run(&self, job: &Job<'_>) -> Result<Ran, Broken> {
        let name = format!("benchwright-{}", random_name()?);
        let no_files = |error: io::Error| Broken::Sandbox(format!("its files cannot be laid out: {error}"));
        let shown = job.files.map(|files| Shown::new(&name, files)).transpose().map_err(no_files)?;
        let files = shown.as_ref().map_or_else(|| Ok(Vec::new()), Shown::tops).map_err(no_files)?;
        let watcher = Command::new("/bin/sh")
            .args(["-c", WATCH, &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut watcher = watcher.map_err(|error| Broken::Sandbox(error.to_string()))?;
        let ran = network::apart(job.episode, || {
            let thread = fs::read_link("/proc/thread-self").map_err(|error| Broken::Sandbox(error.to_string()))?;
            let command = self.command(job, &name, &format!("ns:/proc/{}/ns/net", thread.display()), &files);
            attend(command, job, &|_| remove(&name), &|_| open_left(&name))
        });
        // The pipe is closed, and the container gone when the watcher has ended.
        drop(watcher.stdin.take());
        let watched = watcher.wait();
        if !watched.as_ref().is_ok_and(|status| status.success()) {
            return Err(Broken::Unstopped(format!("container {name}")));
        }
        Ok(ran?.undisturbed()?.begun(&name)?.collected())
    }
}

/// The folder of what is handed in, as the first process of a container sees it.
fn open_left(name: &str) -> io::Result<OwnedFd> {
    let mut asked = Command::new("podman");
    asked.args(["container", "inspect", "--format", "{{.State.Pid}}", name]).stdin(Stdio::null());
    let told = String::from_utf8_lossy(&asked.output()?.stdout).trim().to_owned();
    let first: u32 = told.parse().map_err(|_| io::Error::other(format!("podman tells no process of {name}")))?;
    open_path(Path::new(&format!("/proc/{first}/root{FOLDER}/{SUBMISSION}")))
}

fn remove(name: &str) {
    let mut removal = Command::new("podman");
    removal.args(["rm", "--force", "--ignore", "--time", "0", name]);
    let _ = removal.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
