//! Work that is cut off goes on where it stopped, and leaves what it would have left in one go, byte for byte.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_pack::{Split, Store};
use benchwright_workshop::{
    AuditOptions, Cancel, Catalog, Error, RunOptions, Step, Temporary, Workshop, audits::Depth, policy, stream, suites,
};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

const PATTERN: &str = "grid/travel";
const TIER: &str = "h01-b00";

/// One worker, so that it is known what is done after so many steps.
fn workshop() -> Workshop {
    Workshop::new(Catalog::built_in()).with_jobs(Some(1))
}

/// One that is cancelled as soon as so many items of some work are done.
fn cut_off(what: &'static str, after: usize) -> Workshop {
    cut(workshop(), what, after)
}

fn cut(workshop: Workshop, what: &'static str, after: usize) -> Workshop {
    let cancel = Cancel::new();
    let flag = cancel.clone();
    let watch = move |step: &Step<'_>| {
        if step.what == what && step.done >= after {
            flag.cancel();
        }
    };
    workshop.with_progress(watch).with_cancel(cancel)
}

/// One that notes how many items were done when its work began.
fn watched(what: &'static str) -> (Workshop, Arc<Mutex<Vec<usize>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let watch = move |step: &Step<'_>| {
        if step.what == what {
            noted.lock().unwrap().push(step.done);
        }
    };
    (workshop().with_progress(watch), seen)
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_build_that_is_cut_off_goes_on_and_ends_in_the_same_bytes() {
    let folder = Temporary::new().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let once = workshop().make(PATTERN, TIER, 1..6, &whole).unwrap();

    let cut = cut_off("making tasks", 2).make(PATTERN, TIER, 1..6, &parts);
    assert!(matches!(cut, Err(Error::Cancelled)), "{cut:?}");
    let left = files(&parts);
    assert!(left.contains_key("build.unfinished.jsonl"), "{:?}", left.keys());
    assert!(!left.contains_key("suite.toml"), "a part of a suite is no suite");
    // The worker may have made one more before it heard of it.
    let kept = Store::at(&parts).ids().unwrap().len();
    assert!((2..5).contains(&kept), "{kept}");

    // What was being written when a program ended is made anew.
    let sealed = parts.join("sealed");
    fs::create_dir(sealed.join("left-over")).unwrap();
    fs::create_dir(sealed.join(".half-written")).unwrap();

    let other = workshop().make(PATTERN, TIER, 1..7, &parts);
    assert!(matches!(other, Err(Error::Occupied(_))), "another suite is refused: {other:?}");

    let (again, seen) = watched("making tasks");
    let resumed = again.make(PATTERN, TIER, 1..6, &parts).unwrap();
    let first = seen.lock().unwrap().first().copied();
    assert!(first.is_some_and(|first| (2..=kept).contains(&first)), "what was made is kept: {first:?} of {kept}");
    assert_eq!(resumed.made, once.made, "the figures are those of the whole build");
    assert_eq!(files(&parts), files(&whole));
    let over = workshop().make(PATTERN, TIER, 1..6, &parts);
    assert!(matches!(over, Err(Error::Occupied(_))), "a finished build is not taken up: {over:?}");
}

#[test]
fn a_task_that_was_changed_after_it_was_noted_is_made_anew() {
    let folder = Temporary::new().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    workshop().make(PATTERN, TIER, 1..4, &whole).unwrap();
    assert!(cut_off("making tasks", 2).make(PATTERN, TIER, 1..4, &parts).is_err());
    let id = Store::at(&parts).ids().unwrap().remove(0);
    fs::write(parts.join("open").join(&id).join("instruction.md"), "something else").unwrap();
    workshop().make(PATTERN, TIER, 1..4, &parts).unwrap();
    assert_eq!(files(&parts), files(&whole));
}

/// Half of a suite made of one pattern and half of another would be a suite of neither.
#[test]
fn a_build_does_not_go_on_with_a_pattern_that_was_changed() {
    let folder = Temporary::new().unwrap();
    let (own, parts) = (folder.path().join("trip"), folder.path().join("parts"));
    fs::create_dir(&own).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/own_patterns/whole-trip");
    for entry in fs::read_dir(kept).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, own.join(path.file_name().unwrap())).unwrap();
    }
    let own_workshop = || Workshop::new(Catalog::built_in().with_patterns(folder.path())).with_jobs(Some(1));
    let make = |workshop: Workshop| workshop.make("own/trip", "h03-b02", 1..6, &parts);
    let stopped = make(cut(own_workshop(), "making tasks", 2));
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");

    let text = fs::read_to_string(own.join("text.toml")).unwrap();
    fs::write(own.join("text.toml"), text.replace("The whole {plan}", "All of the {plan}")).unwrap();
    let changed = make(own_workshop());
    assert!(matches!(changed, Err(Error::Occupied(_))), "{changed:?}");
    fs::write(own.join("text.toml"), text).unwrap();
    assert_eq!(make(own_workshop()).unwrap().made.len(), 5, "the pattern as it was goes on");
}

#[test]
fn an_audit_that_is_cut_off_goes_on_and_finds_the_same() {
    let folder = Temporary::new().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let trials =
        AuditOptions { trials: ["idle", "oracle", "leak"].map(str::to_owned).to_vec(), ..AuditOptions::default() };
    for place in [&whole, &parts] {
        workshop().make(PATTERN, TIER, 1..5, place).unwrap();
    }
    let once = workshop().audit(&whole, &trials).unwrap();
    assert!(once.is_clean());

    let cut = cut_off("auditing tasks", 2).audit(&parts, &trials);
    assert!(matches!(cut, Err(Error::Cancelled)), "{cut:?}");
    let (again, seen) = watched("auditing tasks");
    let resumed = again.audit(&parts, &trials).unwrap();
    let first = seen.lock().unwrap().first().copied();
    assert!(first.is_some_and(|first| (2..4).contains(&first)), "what was audited is kept: {first:?}");
    assert_eq!(resumed.report.tasks, once.report.tasks);
    assert!(resumed.is_clean());
    assert_eq!(files(&parts), files(&whole));

    // Other trials are other work.
    assert!(cut_off("auditing tasks", 2).audit(&parts, &trials).is_err());
    let (other, seen) = watched("auditing tasks");
    other.audit(&parts, &AuditOptions { trials: vec!["idle".to_owned()], ..AuditOptions::default() }).unwrap();
    assert_eq!(seen.lock().unwrap().first(), Some(&0));
}

#[test]
fn a_run_that_is_cut_off_goes_on_and_every_trial_is_recorded_once() {
    let folder = Temporary::new().unwrap();
    let (tasks, runs) = (folder.path().join("tasks"), folder.path().join("runs"));
    workshop().make(PATTERN, TIER, 1..4, &tasks).unwrap();
    let agents: Vec<_> = ["idle", "oracle"].into_iter().filter_map(policy).collect();
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = workshop().with_cancel(cancel).run(&tasks, &agents, &runs, &RunOptions::default());
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    let ran = workshop().run(&tasks, &agents, &runs, &RunOptions::default()).unwrap();
    assert_eq!(ran.records.len(), 6);
    for reward in ran.rewards() {
        assert_eq!(reward.reward, Ok(f64::from(u8::from(reward.agent == "oracle"))), "{reward:?}");
    }
    let again = workshop().run(&tasks, &agents, &runs, &RunOptions::default()).unwrap();
    assert_eq!((again.fresh, &again.name), (0, &ran.name), "nothing is tried twice");
}

/// A shard that is there and damaged is no shard, and nobody takes it for one.
#[test]
fn a_damaged_shard_is_an_error_that_names_the_file() {
    let folder = Temporary::new().unwrap();
    let out = folder.path().join("shards");
    let catalog = Catalog::built_in();
    let suite = suites::of_pattern(&catalog, PATTERN, TIER, None, Split::Train, 1..4).unwrap();
    stream::make(&workshop(), &suite, &out).unwrap();
    assert_eq!(stream::make(&workshop(), &suite, &out).unwrap().kept, 1, "a whole one is kept");
    let name = |tree: &str| {
        let first = fs::read_dir(out.join(tree)).unwrap().next().unwrap();
        first.unwrap().path()
    };
    let shard = name("sealed");
    let whole = fs::read(&shard).unwrap();
    for at in [8, whole.len() / 2, whole.len() - 3] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(&shard, bytes).unwrap();
        let told = stream::make(&workshop(), &suite, &out).unwrap_err();
        assert!(matches!(&told, Error::Damaged { .. }) && told.to_string().contains("part-000000-"), "{at}: {told}");
    }
    fs::write(&shard, &whole).unwrap();
    fs::write(name("locks"), "").unwrap();
    let told = stream::make(&workshop(), &suite, &out).unwrap_err().to_string();
    assert!(told.contains("its tasks are not those of its lock"), "{told}");
}

#[test]
fn an_audit_of_shards_that_is_cut_off_goes_on_after_its_last_shard() {
    let folder = Temporary::new().unwrap();
    let tasks = folder.path().join("tasks");
    workshop().make(PATTERN, TIER, 1..7, &tasks).unwrap();
    let options = AuditOptions {
        trials: ["idle", "oracle", "leak"].map(str::to_owned).to_vec(),
        depth: Some(Depth::Sample),
        ..AuditOptions::default()
    };
    let shards = |name: &str| {
        let place = folder.path().join(name);
        benchwright_export::parquet(&Store::at(&tasks), &place, 2).unwrap();
        fs::copy(tasks.join("suite.toml"), place.join("suite.toml")).unwrap();
        place
    };
    let (whole, parts) = (shards("whole"), shards("parts"));
    let once = workshop().audit(&whole, &options).unwrap();
    assert!(once.is_clean() && once.report.tasks == 6);

    let cut = cut_off("auditing tasks", 3).audit(&parts, &options);
    assert!(matches!(cut, Err(Error::Cancelled)), "{cut:?}");
    assert!(!parts.join("audit.json").exists());
    let (again, seen) = watched("auditing tasks");
    let resumed = again.audit(&parts, &options).unwrap();
    assert_eq!(seen.lock().unwrap().first(), Some(&2), "the first shard is not audited again");
    assert!(resumed.is_clean());
    assert_eq!(files(&parts), files(&whole), "the record is the same, and no log is left");
    let jobs = Workshop::new(Catalog::built_in()).with_jobs(Some(3)).audit(&parts, &options).unwrap();
    assert_eq!((jobs.report.cells, jobs.report.tasks), (once.report.cells, 6));
}
