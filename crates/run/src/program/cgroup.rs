//! Bounds on what a program takes of the machine, held by the kernel's control groups, of either version. Where neither can be had, the
//! limits of a process stand in, and the record says so.

use super::isolation::{Bounds, Broken, PATIENCE};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// Where control groups are mounted.
const MOUNTED: &str = "/sys/fs/cgroup";
/// How groups are named: this, the number of the process that made it, and a random part.
const NAME: &str = "benchwright-";

/// What holds the bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// Control groups of the second version: the folder in which groups are made.
    Second(PathBuf),
    /// Control groups of the first version: the folders of the three controllers, in which groups are made.
    First(Vec<(Controller, PathBuf)>),
    /// The limits of a process.
    Limits,
}

/// A controller of the first version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Controller {
    Processes,
    Memory,
    Cpu,
}

impl Controller {
    const ALL: [Controller; 3] = [Controller::Processes, Controller::Memory, Controller::Cpu];

    fn word(self) -> &'static str {
        match self {
            Controller::Processes => "pids",
            Controller::Memory => "memory",
            Controller::Cpu => "cpu",
        }
    }
}

impl Holder {
    /// What can be had here. Empty groups that were left by processes which are no more are removed.
    pub(super) fn find() -> Holder {
        Holder::find_at(Path::new(MOUNTED), &fs::read_to_string("/proc/self/cgroup").unwrap_or_default())
    }

    fn find_at(mounted: &Path, ours: &str) -> Holder {
        let found = Holder::second(mounted, ours).or_else(|| Holder::first(mounted, ours)).unwrap_or(Holder::Limits);
        for folder in found.folders() {
            sweep(&folder);
        }
        found
    }

    /// A name for the record.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Holder::Second(_) => "cgroup-v2",
            Holder::First(_) => "cgroup-v1",
            Holder::Limits => "rlimit",
        }
    }

    fn folders(&self) -> Vec<PathBuf> {
        match self {
            Holder::Second(folder) => vec![folder.clone()],
            Holder::First(folders) => folders.iter().map(|(_, folder)| folder.clone()).collect(),
            Holder::Limits => Vec::new(),
        }
    }

    fn second(mounted: &Path, ours: &str) -> Option<Holder> {
        let place = ours.lines().find_map(|line| line.strip_prefix("0::"))?;
        let folder = mounted.join(place.trim_start_matches('/'));
        let offers = |file: &str| {
            let words = fs::read_to_string(folder.join(file)).unwrap_or_default();
            ["memory", "pids"].iter().all(|wanted| words.split_whitespace().any(|word| word == *wanted))
        };
        if !offers("cgroup.controllers") {
            return None;
        }
        if !offers("cgroup.subtree_control") {
            // A group with processes of its own cannot hand controllers on, but for the first of all. Whoever delegates one knows that.
            fs::write(folder.join("cgroup.subtree_control"), "+memory +pids").ok()?;
            let _ = fs::write(folder.join("cgroup.subtree_control"), "+cpu");
        }
        is_ours(&folder).then_some(Holder::Second(folder))
    }

    fn first(mounted: &Path, ours: &str) -> Option<Holder> {
        let folder = |controller: Controller| {
            let named = |line: &str| {
                let mut parts = line.splitn(3, ':').skip(1);
                let is_it = parts.next()?.split(',').any(|word| word == controller.word());
                parts.next().filter(|_| is_it).map(str::to_owned)
            };
            let place = ours.lines().find_map(named)?;
            let root = mounted.join(controller.word());
            // In a container the path may be one that is not mounted; then the root is ours.
            let inner = root.join(place.trim_start_matches('/'));
            let folder = if inner.is_dir() { inner } else { root };
            is_ours(&folder).then_some((controller, folder))
        };
        Controller::ALL.into_iter().map(folder).collect::<Option<Vec<_>>>().map(Holder::First)
    }

    /// A group for a program; nothing where the limits of a process stand in.
    pub(super) fn group(&self, name: &str, bounds: &Bounds) -> Result<Option<Group>, Broken> {
        let name = format!("{NAME}{}-{name}", std::process::id());
        let mut group = Group { folders: Vec::new() };
        let failed = |path: &Path, error: io::Error| Broken::Sandbox(format!("{}: {error}", path.display()));
        let mut make = |folder: &Path, settings: &[(&str, String)]| {
            let folder = folder.join(&name);
            fs::create_dir(&folder).map_err(|error| failed(&folder, error))?;
            group.folders.push(folder.clone());
            for (file, value) in settings {
                let path = folder.join(file);
                // What is there is set; a machine without swap has no limit on swap.
                if path.exists() {
                    fs::write(&path, value).map_err(|error| failed(&path, error))?;
                }
            }
            Ok(())
        };
        match self {
            Holder::Limits => return Ok(None),
            Holder::Second(folder) => make(
                folder,
                &[
                    ("pids.max", bounds.processes.to_string()),
                    ("memory.max", bounds.memory.to_string()),
                    ("memory.swap.max", "0".to_owned()),
                    ("cpu.max", format!("{} 100000", bounds.cpu * 1000)),
                ],
            )?,
            Holder::First(folders) => {
                for (controller, folder) in folders {
                    match controller {
                        Controller::Processes => make(folder, &[("pids.max", bounds.processes.to_string())])?,
                        Controller::Memory => make(
                            folder,
                            &[
                                ("memory.limit_in_bytes", bounds.memory.to_string()),
                                ("memory.memsw.limit_in_bytes", bounds.memory.to_string()),
                            ],
                        )?,
                        Controller::Cpu => make(
                            folder,
                            &[
                                ("cpu.cfs_period_us", "100000".to_owned()),
                                ("cpu.cfs_quota_us", (bounds.cpu * 1000).to_string()),
                            ],
                        )?,
                    }
                }
            }
        }
        Ok(Some(group))
    }
}

/// Whether groups can be made in a folder.
fn is_ours(folder: &Path) -> bool {
    let probe = folder.join(format!("{NAME}{}-probe", std::process::id()));
    let made = fs::create_dir(&probe).is_ok();
    made && fs::remove_dir(&probe).is_ok()
}

/// Removes groups of processes that are no more, and kills what was left in them.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let maker = name.strip_prefix(NAME).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if maker.is_some_and(|maker| !Path::new("/proc").join(maker.to_string()).exists()) {
            let group = Group { folders: vec![entry.path()] };
            for left in group.processes() {
                let _ = kill(Pid::from_raw(left), Signal::SIGKILL);
            }
        }
    }
}

/// A control group, of one folder or, in the first version, of one for each controller. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// The files into which a process writes 0 to enter.
    pub(super) fn doors(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    /// Whether a process in it was ended because there was no more memory for it.
    pub(super) fn ran_out(&self) -> bool {
        let files =
            self.folders.iter().flat_map(|folder| [folder.join("memory.events"), folder.join("memory.oom_control")]);
        let counted = |text: String| {
            let counts = text.lines().filter_map(|line| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok());
            counts.sum::<u64>() > 0
        };
        files.filter_map(|file| fs::read_to_string(file).ok()).any(counted)
    }

    /// Waits until nothing is in it.
    pub(super) fn emptied(&self) -> Result<(), Broken> {
        let begun = Instant::now();
        while let Some(left) = self.processes().first() {
            if begun.elapsed() > PATIENCE {
                return Err(Broken::Unstopped(format!("the process {left} is still there")));
            }
            let _ = kill(Pid::from_raw(*left), Signal::SIGKILL);
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// The processes in it.
    fn processes(&self) -> Vec<i32> {
        let listed = self.doors().into_iter().filter_map(|door| fs::read_to_string(door).ok());
        listed.flat_map(|text| text.lines().filter_map(|line| line.trim().parse().ok()).collect::<Vec<_>>()).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // A process that has just ended is counted for a moment longer.
            for _ in 0..200 {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        thread::sleep(Duration::from_millis(1))
                    }
                    _ => break,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a mount of control groups.
    fn mount(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("benchwright-cgroup-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_second_version_is_taken_where_it_hands_on_memory_and_processes() {
        let files = [("mine/cgroup.controllers", "cpu memory pids"), ("mine/cgroup.subtree_control", "memory pids")];
        let root = mount("second", &files);
        let found = Holder::find_at(&root, "0::/mine\n");
        assert_eq!(found, Holder::Second(root.join("mine")));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn who_ran_out_of_memory_is_known_by_what_the_kernel_counts() {
        let root = mount(
            "ran-out",
            &[
                ("second/memory.events", "low 0\noom 4\noom_kill 0\n"),
                ("first/memory.oom_control", "under_oom 0\noom_kill 3\n"),
            ],
        );
        let group = |folder: &str| std::mem::ManuallyDrop::new(Group { folders: vec![root.join(folder)] });
        assert!(!group("second").ran_out() && group("first").ran_out());
        fs::write(root.join("second/memory.events"), "oom 4\noom_kill 1\n").unwrap();
        assert!(group("second").ran_out());
        assert!(!group("none").ran_out());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn without_a_controller_that_is_needed_the_limits_of_a_process_stand_in() {
        let root = mount("neither", &[("mine/cgroup.controllers", "hugetlb"), ("pids/tasks", "")]);
        assert_eq!(Holder::find_at(&root, "1:pids:/\n0::/mine\n"), Holder::Limits);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_first_version_is_three_folders_each_at_its_own_place() {
        let root = mount("first", &[("pids/tasks", ""), ("memory/inner/tasks", ""), ("cpu/tasks", "")]);
        let ours = "8:pids:/\n4:memory:/inner\n1:cpu,cpuacct:/not/mounted\n";
        let Holder::First(folders) = Holder::find_at(&root, ours) else { panic!("not the first version") };
        let places: Vec<PathBuf> = folders.into_iter().map(|(_, folder)| folder).collect();
        assert_eq!(places, [root.join("pids"), root.join("memory/inner"), root.join("cpu")]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn groups_of_processes_that_are_no_more_are_swept_and_others_are_left() {
        let root = mount(
            "swept",
            &[("mine/cgroup.controllers", "memory pids"), ("mine/cgroup.subtree_control", "memory pids")],
        );
        // No process has a number as large as this.
        let (dead, alive) = (format!("{NAME}99999999-a"), format!("{NAME}{}-a", std::process::id()));
        for name in [&dead, &alive] {
            fs::create_dir(root.join("mine").join(name)).unwrap();
        }
        Holder::find_at(&root, "0::/mine\n");
        assert!(!root.join("mine").join(&dead).exists());
        assert!(root.join("mine").join(&alive).exists());
        fs::remove_dir_all(root).unwrap();
    }
}
