//! Loaders refuse what is not theirs, without a panic and within bounds: mutated snapshots, traces and declarations.

use benchwright_base::{Digest, Stream};
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_pack::{Snapshot, Trace};
use benchwright_sandbox::{Conditions, Sandbox};
use benchwright_world::Seat;
use std::{fs, path::Path, sync::Arc};

fn catalog() -> Catalog {
    Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("domains"))
}

/// Changes some bytes: flips, cuts, doubles and swaps pieces.
fn mutate(bytes: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=stream.below(3) {
        let at = stream.below(bytes.len().max(1) as u64) as usize;
        let end = (at + stream.below(40) as usize).min(bytes.len());
        match stream.below(5) {
            0 if at < bytes.len() => bytes[at] = stream.below(256) as u8,
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes.truncate(at),
            _ => {
                let words: [&[u8]; 6] = [b"null", b"-1", b"4294967295", b"\"\"", b"[[[[", b"1e308"];
                bytes.splice(at..end, words[stream.below(6) as usize].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn a_mutated_snapshot_is_refused_or_holds_together() {
    let world = catalog().world("workshop", "small", 1).unwrap();
    let domain = Arc::clone(world.domain());
    let seat = Seat { role: "owner".into(), actor: None };
    let bytes = world.begin(&seat, Conditions::default()).unwrap().snapshot_bytes();
    let mut stream = Stream::new(1, &["mutants"]);
    let (mut refused, mut loaded) = (0, 0);
    for _ in 0..3000 {
        let mutant = mutate(&bytes, &mut stream);
        let Ok(snapshot) = Snapshot::from_bytes(&mutant, &domain) else {
            refused += 1;
            continue;
        };
        match Sandbox::from_snapshot(Arc::clone(&domain), &[], &snapshot) {
            Err(_) => refused += 1,
            Ok(sandbox) => {
                loaded += 1;
                let report = benchwright_testkit::laws::run(&Arc::new(sandbox), 1, 10);
                assert!(report.broken.is_empty(), "{:#?}", report.broken);
            }
        }
    }
    println!("{refused} refused, {loaded} loaded");
    assert!(refused > 1000);
}

#[test]
fn a_snapshot_of_other_declarations_is_refused_with_the_reason() {
    let world = catalog().world("workshop", "small", 1).unwrap();
    let seat = Seat { role: "owner".into(), actor: None };
    let bytes = world.begin(&seat, Conditions::default()).unwrap().snapshot_bytes();
    let digest = world.domain().digest.to_string();
    let text = String::from_utf8(bytes).unwrap();
    let other = text.replace(&digest, &"0".repeat(64));
    let error = Snapshot::from_bytes(other.as_bytes(), world.domain()).unwrap_err().to_string();
    assert!(error.contains("other declarations"), "{error}");
    let newer = text.replacen("{\"snapshot\":1", "{\"snapshot\":2", 1);
    let error = Snapshot::from_bytes(newer.as_bytes(), world.domain()).unwrap_err().to_string();
    assert!(error.contains("version 2"), "{error}");
}

#[test]
fn a_state_names_the_first_state_it_came_from_and_keeps_it_through_a_file() {
    let begin = |world: &Arc<Sandbox>| {
        let seat = Seat { role: "owner".into(), actor: None };
        world.begin(&seat, Conditions::default()).unwrap()
    };
    let world = catalog().world("workshop", "small", 1).unwrap();
    let mut episode = begin(&world);
    let untouched = episode.snapshot_bytes();
    assert_eq!(episode.snapshot().first, None, "a first state names no other");
    episode.call("add_tag", "{\"word\":\"new\"}").unwrap();
    let (bytes, changed) = (episode.snapshot_bytes(), episode.snapshot());
    assert_eq!(changed.first, Some(Digest::of(&untouched)));
    assert_eq!(changed.to_bytes(world.domain()), bytes);
    assert_eq!(Snapshot::from_bytes(&bytes, world.domain()).unwrap(), changed);
    // Who goes on from the file still comes from where the first one began.
    let loaded = Arc::new(Sandbox::from_snapshot(Arc::clone(world.domain()), &[], &changed).unwrap());
    let mut later = begin(&loaded);
    assert_eq!(later.snapshot_bytes(), bytes);
    later.call("add_tag", "{\"word\":\"newer\"}").unwrap();
    assert_eq!(later.snapshot().first, changed.first);
    // A trace of another world is not replayed.
    let other = catalog().world("workshop", "small", 2).unwrap();
    let told = begin(&other).replay(&episode.trace()).unwrap_err().to_string();
    assert!(told.contains("another state"), "{told}");
}

#[test]
fn a_mutated_trace_is_refused_or_replays_without_a_panic() {
    let world = catalog().world("workshop", "small", 1).unwrap();
    let seat = Seat { role: "owner".into(), actor: None };
    let mut episode = world.begin(&seat, Conditions::default()).unwrap();
    for n in 0..20 {
        let _ = episode.call("add_tag", &format!("{{\"word\":\"t{n}\"}}"));
    }
    let bytes = episode.trace().to_bytes();
    let mut stream = Stream::new(2, &["mutants"]);
    for _ in 0..2000 {
        if let Ok(trace) = Trace::from_bytes(&mutate(&bytes, &mut stream)) {
            let _ = episode.replay(&trace);
        }
    }
}

#[test]
fn links_huge_files_and_folders_that_are_no_domain_are_refused() {
    let root = std::env::temp_dir().join(format!("benchwright-loaders-{}", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("domains/workshop");
    let fresh = |name: &str| {
        let folder = root.join(name);
        fs::create_dir_all(&folder).unwrap();
        for entry in fs::read_dir(&source).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
        folder
    };
    let find = |folder: &Path| Catalog::built_in().find(&folder.display().to_string());
    assert!(find(&fresh("workshop")).is_ok());

    let linked = fresh("linked");
    fs::remove_file(linked.join("README.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", linked.join("README.md")).unwrap();
    assert!(
        matches!(find(&linked), Err(CatalogError::Unreadable { why, .. }) if why.contains("links are not followed"))
    );

    let huge = fresh("huge");
    fs::write(huge.join("seed.toml"), "#".repeat(3 << 20)).unwrap();
    assert!(matches!(find(&huge), Err(CatalogError::Unreadable { why, .. }) if why.contains("longer than")));

    let binary = fresh("binary");
    fs::write(binary.join("tools.toml"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(matches!(find(&binary), Err(CatalogError::Unreadable { .. })));

    let empty = root.join("empty");
    fs::create_dir_all(&empty).unwrap();
    assert!(matches!(find(&empty), Err(CatalogError::Unreadable { why, .. }) if why.contains("no domain.toml")));
    assert!(matches!(find(&root.join("nowhere")), Err(CatalogError::Unreadable { .. })));
    fs::remove_dir_all(&root).unwrap();
}
