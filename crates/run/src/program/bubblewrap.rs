//! Programs kept apart by bubblewrap: mounts, processes, network and names of their own, a user who owns nothing, and nothing to gain.
//!
//! Two sandboxes stand in one another. The outer one makes the mounts while it still may. Its first process waits for the inner one and ends
//! with it; the kernel then kills everything that the program left, and only when that is done does the outer one end. The inner one takes away
//! the last right that a user without rights has: to make namespaces.

use super::{
    cgroup::{Group, Holder},
    filter::{self, Filter},
    isolation::{Bounds, Broken, Isolation, Job, Ran, SUBMISSION_ROOM, attend, begin, random_name},
    network,
    users::{User, Users},
    view::{FOLDER, View},
};
use crate::workspace::{Shown, open_path};
use benchwright_world::workspace::SUBMISSION;
use nix::{
    sched::{CloneFlags, unshare},
    sys::signal::{Signal, kill},
    unistd::{Pid, getegid, geteuid},
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Child, Command},
};

/// What is asked of the system: bubblewrap itself, and two tools of util-linux, which every Debian has.
const NEEDED: [&str; 3] = ["bwrap", "setpriv", "prlimit"];
/// Where they are looked for. The operator's PATH may lead anywhere.
const PLACES: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"];
/// Enters the control groups that are named up to `--`, opens the filter of calls, and becomes the rest.
const ENTER: &str =
    r#"exec 9< "$0" || exit 125; while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@""#;
/// The first process of a sandbox. It is of the same user as the process outside that it dies with: a process of another would not be told.
const FIRST: &str = r#""$@"; exit $?"#;

/// Programs kept apart by bubblewrap.
#[derive(Debug)]
pub struct Bubblewrap {
    tools: [PathBuf; NEEDED.len()],
    view: View,
    bounds: Bounds,
    holder: Holder,
    filter: Filter,
    /// Users for programs; nothing for who cannot give others' rights, whose programs are nobody in a namespace of users.
    users: Option<Users>,
}

impl Bubblewrap {
    /// Its version, where it can be had.
    pub fn look() -> Result<String, Broken> {
        let tools = find()?;
        let version =
            Command::new(&tools[0]).arg("--version").output().map_err(|error| Broken::Sandbox(error.to_string()))?;
        Ok(String::from_utf8_lossy(&version.stdout).trim().to_owned())
    }

    /// Sandboxes in which programs see what a view shows. It has to be called before the process has a second thread: who is not root becomes
    /// root in a namespace of users, which is what mounts and networks of one's own need.
    pub fn new(view: View, bounds: Bounds) -> Result<Bubblewrap, Broken> {
        let tools = find()?;
        let users = if geteuid().is_root() {
            Some(Users::of_machine().map_err(|error| Broken::Sandbox(error.to_string()))?)
        } else {
            enter_users().map_err(|error| Broken::Sandbox(format!("no namespace of users: {error}")))?;
            None
        };
        Ok(Bubblewrap { tools, view, bounds, holder: Holder::find(), filter: Filter::new()?, users })
    }

    /// The whole command line.
    fn command(
        &self,
        job: &Job<'_>,
        sign: &str,
        user: Option<&User>,
        group: Option<&Group>,
        files: &[(PathBuf, String)],
    ) -> Command {
        let [bwrap, setpriv, prlimit] = &self.tools;
        let mut line: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| line.extend(words.iter().map(OsString::from));
        let path = |path: &Path| path.to_string_lossy().into_owned();
        add(&["/bin/sh", "-c", ENTER, &self.filter.path()]);
        for door in group.iter().flat_map(|group| group.doors()) {
            add(&[&path(&door)]);
        }
        add(&["--", &path(bwrap), "--seccomp", "9"]);
        add(&["--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "agent"]);
        add(&["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        // What is seen may lie in the folder, so that is made first.
        add(&["--perms", "1777", "--size", &self.bounds.disk.to_string(), "--tmpfs", FOLDER, "--chdir", FOLDER]);
        let mut folders: Vec<&Path> = vec![Path::new(FOLDER)];
        for seen in &self.view.seen {
            // Folders on the way are there to be passed through.
            for above in seen.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev().skip(1) {
                if !folders.contains(&above) && !self.view.seen.iter().any(|other| above.starts_with(other)) {
                    add(&["--perms", "0755", "--dir", &path(above)]);
                    folders.push(above);
                }
            }
            add(&["--ro-bind", &path(seen), &path(seen)]);
        }
        for (link, target) in &self.view.links {
            add(&["--symlink", &path(target), &path(link)]);
        }
        for folder in &self.view.hidden_folders {
            add(&["--perms", "0000", "--size", "4096", "--tmpfs", &path(folder), "--remount-ro", &path(folder)]);
        }
        for file in &self.view.hidden_files {
            add(&["--ro-bind", "/dev/null", &path(file)]);
        }
        for (file, name) in files {
            add(&["--ro-bind", &path(file), &format!("{FOLDER}/{name}")]);
        }
        if job.files.is_some() {
            let (room, folder) = (SUBMISSION_ROOM.to_string(), format!("{FOLDER}/{SUBMISSION}"));
            // A mount of its own: nothing can be put into its place.
            add(&["--perms", "1777", "--size", &room, "--tmpfs", &folder]);
        }
        add(&["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]);
        add(&["--remount-ro", "/"]);
        match user {
            Some(user) => {
                let number = user.number.to_string();
                add(&["--cap-drop", "ALL"]);
                for right in ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"] {
                    add(&["--cap-add", right]);
                }
                add(&["--", "/bin/sh", "-c", FIRST, "sh", &path(setpriv), "--reuid", &number, "--regid", &number]);
                add(&["--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]);
            }
            None => add(&["--unshare-user", "--uid", "65534", "--gid", "65534", "--", "/bin/sh", "-c", FIRST, "sh"]),
        }
        add(&[&path(prlimit), "--core=0", "--nofile=1024"]);
        if group.is_none() {
            add(&[&format!("--as={}", self.bounds.memory), &format!("--nproc={}", self.bounds.processes)]);
        }
        add(&[
            "--",
            &path(bwrap),
            "--unshare-user",
            "--disable-userns",
            "--bind",
            "/",
            "/",
            "--dev-bind",
            "/dev",
            "/dev",
        ]);
        add(&["--", "/bin/sh", "-c", begin(job), sign, job.command]);
        let mut words = line.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir("/").env_clear().envs(job.variables);
        command.env("HOME", FOLDER).env("TMPDIR", FOLDER).env("LANG", "C.UTF-8");
        command
    }
}

impl Isolation for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let user = if self.users.is_some() { "own" } else { "namespace" };
        let Bounds { memory, processes, disk, cpu } = self.bounds;
        let bounds = format!("memory {memory}, processes {processes}, disk {disk}, cpu {cpu}%");
        [
            ("bounds", bounds),
            ("calls-refused", filter::REFUSED.to_owned()),
            ("held-by", self.holder.name().to_owned()),
            ("network", "episode".to_owned()),
            ("user", user.to_owned()),
            ("visible", self.view.told()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }

    fn run(&self, job: &Job<'_>) -> Result<Ran, Broken> {
        let sign = random_name()?;
        let user = self.users.as_ref().map(Users::take).transpose()?;
        let group = self.holder.group(&sign, &self.bounds)?;
        let no_files = |error: io::Error| Broken::Sandbox(format!("its files cannot be laid out: {error}"));
        let shown = job.files.map(|files| Shown::new(&sign, files)).transpose().map_err(no_files)?;
        let files = shown.as_ref().map_or_else(|| Ok(Vec::new()), Shown::tops).map_err(no_files)?;
        let command = self.command(job, &sign, user.as_ref(), group.as_ref(), &files);
        let ran = network::apart(job.episode, || attend(command, job, &kill_first, &open_left))?;
        // Whoever takes all the memory of its group may have the kernel end any process in it, the sandbox's own too: that is its doing.
        let ran = match &group {
            Some(group) if group.ran_out() => {
                group.emptied()?;
                ran
            }
            _ => ran.undisturbed()?,
        };
        Ok(ran.begun(&sign)?.collected())
    }
}

/// Kills the first process of a sandbox, and by that all of it. The outer process ends when the kernel is done.
fn kill_first(outer: &Child) {
    for first in first_of(outer) {
        let _ = kill(Pid::from_raw(first), Signal::SIGKILL);
    }
}

/// The first process of a sandbox, by the process that stands for it outside.
fn first_of(outer: &Child) -> Vec<i32> {
    let number = outer.id();
    let listed = fs::read_to_string(format!("/proc/{number}/task/{number}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The folder of what is handed in, as the first process sees it.
fn open_left(outer: &Child) -> io::Result<OwnedFd> {
    let first = first_of(outer).into_iter().next().ok_or_else(|| io::Error::other("the sandbox has ended"))?;
    open_path(Path::new(&format!("/proc/{first}/root{FOLDER}/{SUBMISSION}")))
}

fn find() -> Result<[PathBuf; NEEDED.len()], Broken> {
    let place = |name: &str| {
        let places = PLACES.iter().map(|place| Path::new(place).join(name));
        let is_program = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
        };
        places.into_iter().find(is_program).ok_or_else(|| Broken::Sandbox(format!("there is no {name}")))
    };
    let [bwrap, setpriv, prlimit] = NEEDED;
    Ok([place(bwrap)?, place(setpriv)?, place(prlimit)?])
}

/// Becomes root in a namespace of users in which there is nobody else.
fn enter_users() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}
