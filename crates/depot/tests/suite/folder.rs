//! A folder keeps what `Objects` promise, and what only a folder can break.

use benchwright_depot::{Depot, DepotError, Folder, Objects as _, contract};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// A folder of a test, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("benchwright-depot-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// All files below a folder, drafts too.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn a_folder_keeps_the_contract() {
    let scratch = Scratch::new("contract");
    let root = scratch.0.join("not/there/yet");
    contract(&Folder::at(&root)).unwrap();
    assert_eq!(files(&root), [""; 0].map(PathBuf::from), "drafts are left");
}

#[test]
fn what_is_within_is_below() {
    let scratch = Scratch::new("within");
    let all = Depot::folder(&scratch.0);
    let run = all.within("run");
    let segments = run.within("segments");
    segments.put("00000001-1.trials.parquet", b"rows").unwrap();
    assert_eq!(all.names("").unwrap(), ["run/segments/00000001-1.trials.parquet"]);
    assert_eq!(run.names("segments").unwrap(), ["00000001-1.trials.parquet"]);
    assert_eq!(segments.get("00000001-1.trials.parquet", 4).unwrap(), b"rows");
    assert_eq!(segments.local(), Some(scratch.0.join("run/segments")));
    assert_eq!(segments.place("a"), scratch.0.join("run/segments/a").display().to_string());
    assert_eq!(Depot::of(std::sync::Arc::new(Folder::at(&scratch.0))).local(), None);

    // The name of the folder is none of a file in it, and no way leads out of it.
    assert_eq!(segments.has(""), Err(DepotError::Name(String::new())));
    let outside = segments.within("../..");
    assert!(matches!(outside.names(""), Err(DepotError::Name(_))));
    assert!(matches!(outside.put("a", b""), Err(DepotError::Name(_))));
    assert_eq!(outside.local(), None);
}

#[test]
fn drafts_and_strangers_are_not_listed() {
    let scratch = Scratch::new("drafts");
    let folder = Folder::at(&scratch.0);
    folder.put("a/kept", b"kept").unwrap();
    let id = std::process::id();
    for draft in (0..4_000).map(|number| scratch.0.join(format!("a/.{id}-{number}.draft"))) {
        fs::write(draft, b"of a process of this number elsewhere").unwrap();
    }
    fs::write(scratch.0.join("a/README"), b"somebody else's").unwrap();
    folder.put("a/second", b"second").unwrap();
    assert_eq!(folder.names("").unwrap(), ["a/kept", "a/second"]);
    assert_eq!(folder.get("a/second", 10).unwrap(), b"second");
}

#[test]
fn what_a_killed_process_left_is_swept_and_what_another_writes_is_not() {
    let scratch = Scratch::new("swept");
    let (left, written, other) =
        (scratch.0.join(".1-1.draft"), scratch.0.join(".2-1.draft"), scratch.0.join(".hidden"));
    fs::write(&left, b"left").unwrap();
    fs::write(&other, b"other").unwrap();
    let writes = fs::File::create(&written).unwrap();
    writes.lock().unwrap();
    Folder::at(&scratch.0).put("kept", b"kept").unwrap();
    assert!(!left.exists() && written.exists() && other.exists());
    drop(writes);
    Folder::at(&scratch.0).put("kept", b"again").unwrap();
    assert!(!written.exists() && other.exists());
}

#[test]
fn links_are_refused() {
    let scratch = Scratch::new("links");
    let (root, outside) = (scratch.0.join("root"), scratch.0.join("outside"));
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret"), b"secret").unwrap();
    let folder = Folder::at(&root);
    folder.put("plain", b"plain").unwrap();
    symlink(&outside, root.join("way")).unwrap();
    symlink(outside.join("secret"), root.join("file")).unwrap();
    let is_link = |error: DepotError| matches!(&error, DepotError::Failed { why, .. } if why.contains("link"));
    for name in ["way/secret", "file"] {
        assert!(is_link(folder.get(name, 100).unwrap_err()), "{name}");
        assert!(is_link(folder.put(name, b"new").unwrap_err()), "{name}");
        assert!(is_link(folder.has(name).unwrap_err()), "{name}");
    }
    assert!(is_link(folder.remove("way/secret").unwrap_err()));
    assert!(is_link(folder.names("").unwrap_err()));
    assert!(is_link(folder.names("way").unwrap_err()));
    assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");

    // A link itself can be removed; what it leads to stays.
    folder.remove("file").unwrap();
    folder.remove("way").unwrap();
    assert_eq!(folder.names("").unwrap(), ["plain"]);
    assert_eq!(files(&outside), [outside.join("secret")]);
}

#[test]
fn a_folder_that_somebody_removed_is_made_again() {
    let scratch = Scratch::new("removed");
    let folder = Folder::at(scratch.0.join("root"));
    folder.put("a/b/c", b"1").unwrap();
    fs::remove_dir_all(scratch.0.join("root")).unwrap();
    folder.put("a/b/c", b"2").unwrap();
    assert_eq!(folder.get("a/b/c", 1).unwrap(), b"2");
}

#[test]
fn what_cannot_be_written_is_told_with_its_place() {
    let scratch = Scratch::new("told");
    let folder = Folder::at(&scratch.0);
    folder.put("file", b"").unwrap();
    let error = folder.put("file/below", b"").unwrap_err();
    assert!(matches!(&error, DepotError::Failed { place, .. } if place.ends_with("file/below")), "{error}");
    fs::create_dir(scratch.0.join("folder")).unwrap();
    assert!(matches!(folder.put("folder", b""), Err(DepotError::Failed { .. })));
    let missing = folder.get("folder", 10).unwrap_err().to_string();
    assert!(missing.ends_with("folder is not there"), "{missing}");
    assert_eq!(files(&scratch.0), [scratch.0.join("file")]);
}
