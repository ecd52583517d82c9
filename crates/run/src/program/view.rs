//! What a program can see of the machine: the system's own files and what is named, to read only; never this program, tasks or runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The only folder that a program can write to, empty when it begins.
pub(super) const FOLDER: &str = "/tmp";
/// The system's files, as far as they are there.
const SYSTEM: [&str; 4] = ["/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl"];
/// What is a link into `/usr` on most systems, and a folder on others.
const TOP: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Who has one of these can make any public task again, with its oracle.
const OURS: [&str; 2] = ["benchwright", "_benchwright"];

/// What a program sees.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Files and folders that it sees at their own place, to read.
    pub(super) seen: Vec<PathBuf>,
    /// Links at the top, with what they lead to.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Folders below those that are hidden.
    pub(super) hidden_folders: Vec<PathBuf>,
    /// Files below those that are hidden.
    pub(super) hidden_files: Vec<PathBuf>,
    /// What was named, for the record.
    named: Vec<PathBuf>,
}

/// Why something cannot be shown to a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ViewError {
    /// It is not there.
    #[error("{0}: {1}")]
    Missing(PathBuf, String),
    /// It would cover the program's own folder.
    #[error("{0} holds {FOLDER}, which is the program's own folder inside; name what it needs of it")]
    Whole(PathBuf),
    /// It belongs to what no program may see.
    #[error("{0} belongs to {1}, which no program may see")]
    Kept(PathBuf, PathBuf),
}

impl View {
    /// The system's files and those that are named. `kept` is what is never shown: where it lies inside of what is, it is hidden.
    pub fn new(named: &[PathBuf], kept: &[PathBuf]) -> Result<View, ViewError> {
        let kept: Vec<PathBuf> = kept.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let mut view = View::default();
        view.seen.extend(SYSTEM.map(PathBuf::from).into_iter().filter(|path| path.exists()));
        for top in TOP.map(PathBuf::from) {
            match fs::read_link(&top) {
                Ok(target) => view.links.push((top, target)),
                Err(_) if top.is_dir() => view.seen.push(top),
                Err(_) => {}
            }
        }
        for path in named {
            let real = path.canonicalize().map_err(|error| ViewError::Missing(path.clone(), error.to_string()))?;
            if let Some(kept) = kept.iter().find(|kept| real.starts_with(kept)) {
                return Err(ViewError::Kept(path.clone(), kept.clone()));
            }
            if Path::new(FOLDER).starts_with(&real) {
                return Err(ViewError::Whole(path.clone()));
            }
            view.named.push(real.clone());
            view.seen.push(real);
        }
        for path in view.seen.clone() {
            for kept in kept.iter().filter(|kept| kept.starts_with(&path)) {
                view.hide(kept);
            }
            view.hide_ours(&path);
        }
        Ok(view)
    }

    /// For the record.
    pub(super) fn told(&self) -> String {
        let named = self.named.iter().map(|path| path.display().to_string());
        ["system".to_owned()].into_iter().chain(named).collect::<Vec<_>>().join(",")
    }

    /// What was named.
    pub(super) fn named(&self) -> Vec<PathBuf> {
        self.named.clone()
    }

    fn hide(&mut self, path: &Path) {
        let hidden = if path.is_dir() { &mut self.hidden_folders } else { &mut self.hidden_files };
        if !hidden.iter().any(|known| known == path) {
            hidden.push(path.to_owned());
        }
    }

    /// Hides this program, its module and the files that they are handed out in, wherever they are.
    fn hide_ours(&mut self, top: &Path) {
        let mut folders = vec![top.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    folders.push(entry.path());
                    continue;
                }
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let is_ours = OURS.iter().any(|ours| {
                    name.strip_prefix(ours).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
                });
                // A link leads to a file, which is hidden itself if it is visible.
                if is_ours && kind.is_file() {
                    self.hide(&entry.path());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_hidden_inside_of_what_is_named_and_refused_outside() {
        let root = std::env::temp_dir().join(format!("benchwright-view-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for file in [
            "agent/main.py",
            "agent/bin/benchwright",
            "agent/lib/_benchwright.abi3.so",
            "agent/benchwright-0.1.0-cp310-abi3-manylinux_2_17_x86_64.whl",
            "agent/runs/ledger.sqlite",
            "tasks/sealed/x",
        ] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let root = root.canonicalize().unwrap();
        let kept = [root.join("agent/runs"), root.join("tasks")];
        let view = View::new(&[root.join("agent")], &kept).unwrap();
        assert!(view.seen.contains(&root.join("agent")));
        assert!(view.hidden_folders.contains(&root.join("agent/runs")));
        let wheel = "agent/benchwright-0.1.0-cp310-abi3-manylinux_2_17_x86_64.whl";
        for file in ["agent/bin/benchwright", "agent/lib/_benchwright.abi3.so", wheel] {
            assert!(view.hidden_files.contains(&root.join(file)), "{file}");
        }
        for inside in ["tasks", "tasks/sealed"] {
            assert!(matches!(View::new(&[root.join(inside)], &kept), Err(ViewError::Kept(..))), "{inside}");
        }
        assert!(matches!(View::new(&["/".into()], &kept), Err(ViewError::Whole(_))));
        assert!(matches!(View::new(&[root.join("none")], &kept), Err(ViewError::Missing(..))));
        fs::remove_dir_all(root).unwrap();
    }
}
