//! Tasks written to a folder read back, and whatever was changed in between is refused.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::Digest;
use benchwright_pack::{
    CANARY, Certificate, Clause, OpenTask, SEALED_VERSION, Scoring, Script, SealedTask, Split, Step, Store, StoreError,
    Suite, SuiteSolver, SuiteTask, TASK_VERSION, Task, Verifier, Weights,
};
use benchwright_schema::plan::{Bindings, PlanText};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A folder that goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("benchwright-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Place(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn task(id: &str, seed: u64) -> Task {
    let instruction = format!("# A job\n\nPlease do what has to be done, number {seed}.\n");
    let world = b"{\"snapshot\":1,\"domain\":\"shop\"}\n".to_vec();
    let open = OpenTask {
        version: TASK_VERSION,
        canary: CANARY.to_owned(),
        id: id.to_owned(),
        domain: "shop".to_owned(),
        role: "clerk".to_owned(),
        actor: None,
        tools: Vec::new(),
        calls: 100,
        instruction: Digest::of(instruction.as_bytes()).to_string(),
        world: Digest::of(&world).to_string(),
        faults: None,
    };
    let sealed = SealedTask {
        version: SEALED_VERSION,
        canary: CANARY.to_owned(),
        id: id.to_owned(),
        family: "erp".to_owned(),
        pattern: "production/a".to_owned(),
        tier: "easy".to_owned(),
        dials: Vec::new(),
        objective: "spend".to_owned(),
        seed,
        split: Split::Test,
        salt: None,
        attempt: 2,
        reading: None,
        switches: vec!["margin".to_owned()],
        case: json!({ "z": 1, "a": [1, 2, { "b": null }] }),
        clauses: vec![Clause { tells: vec!["shop/one".to_owned()], text: "One.".to_owned() }],
        oracle: Script {
            steps: vec![Step::call("sale.order", "create", json!({ "x": "ü" })).bind("order/1")],
            ..Script::default()
        },
        verifier: Verifier {
            version: Verifier::VERSION,
            world: open.world.clone(),
            scoring: Scoring {
                trace_family: None,
                weights: Weights { constraints: 25, objective: 60, trace: 15 },
                broken_percent: 25,
                paper_bar_percent: 99,
            },
            plan: PlanText::default(),
            bindings: Bindings::default(),
            keys: BTreeMap::from([("order".to_owned(), BTreeMap::from([(7, "order/7".to_owned())]))]),
            objective: "spend".to_owned(),
            best: vec![1200],
            anchors: None,
            gates: Vec::new(),
            answer: BTreeMap::new(),
        },
        effects: None,
        injection: None,
        certificate: Certificate {
            solver: "CP-SAT".to_owned(),
            library: Digest::of(b"library").to_string(),
            phases: json!([]),
            plan: json!({}),
            variables: 3,
            constraints: 4,
            discarded: BTreeMap::from([("D1".to_owned(), 2)]),
            weights: BTreeMap::new(),
        },
    };
    Task { open, instruction, world, sealed }
}

fn suite(tasks: &[&Task]) -> Suite {
    let line = |task: &&Task| SuiteTask {
        pattern: task.sealed.pattern.clone(),
        tier: task.sealed.tier.clone(),
        objective: task.sealed.objective.clone(),
        seed: task.sealed.seed,
        reading: None,
        digest: Some(task.digest()),
        cluster: None,
    };
    Suite {
        name: "two".to_owned(),
        version: 1,
        family: "shop".to_owned(),
        split: Split::Test,
        canary: CANARY.to_owned(),
        salt: None,
        inject: 0,
        bars: benchwright_pack::SuiteBars::default(),
        solver: Some(SuiteSolver { version: "9".to_owned(), library: Digest::of(b"library").to_string() }),
        unbreakable: std::collections::BTreeMap::new(),
        tasks: tasks.iter().map(line).collect(),
    }
}

/// A store with two tasks and its lock file.
fn filled(place: &Place) -> (Store, Task) {
    let store = Store::at(&place.0);
    let (one, two) = (task("shop-1", 1), task("shop-2", 2));
    store.write(&one).unwrap();
    store.write(&two).unwrap();
    store.write_suite(&suite(&[&two, &one])).unwrap();
    (store, one)
}

#[test]
fn a_task_reads_back_with_its_digest() {
    let place = Place::new("round-trip");
    let (store, one) = filled(&place);
    assert_eq!(store.ids().unwrap(), ["shop-1", "shop-2"]);
    let read = store.task("shop-1").unwrap();
    assert_eq!(read, one);
    assert_eq!(read.digest(), one.digest());
    assert_eq!(store.open_part("shop-1").unwrap().instruction, one.instruction);
    assert!(matches!(store.write(&one), Err(StoreError::AlreadyThere(_))));
    // The open tree holds nothing of the sealed one.
    let mut names: Vec<String> = list(&place.0.join("open/shop-1"));
    names.sort();
    assert_eq!(names, ["instruction.md", "task.json", "world.json"]);
    assert_eq!(list(&place.0.join("sealed/shop-1")), ["sealed.json"]);
}

fn list(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn an_audit_stands_beside_its_task_and_falls_with_it() {
    let place = Place::new("audit");
    let (store, one) = filled(&place);
    assert_eq!(store.audit(&one).unwrap(), None);
    store.write_audit(&one, json!({ "idle": { "held": "passed" } })).unwrap();
    assert_eq!(store.audit(&one).unwrap().unwrap().trials["idle"]["held"], "passed");
    // It does not touch the digest, and is of no other task.
    assert_eq!(store.task("shop-1").unwrap().digest(), one.digest());
    let other = Task { instruction: "Another.".to_owned(), ..one };
    assert_eq!(store.audit(&other).unwrap(), None);
}

#[test]
fn a_task_is_found_by_either_path() {
    let place = Place::new("locate");
    let (_, _) = filled(&place);
    for path in [place.0.join("open/shop-1"), place.0.join("shop-1")] {
        let (store, id) = Store::locate(&path).unwrap();
        assert_eq!((store.task(&id).unwrap().open.id, &*id), ("shop-1".to_owned(), "shop-1"));
    }
    assert!(matches!(Store::locate(&place.0.join("shop-9")), Err(StoreError::Missing(_))));
    assert!(matches!(Store::locate(&place.0.join("open/..")), Err(StoreError::Name(_))));
}

/// Changes one file of a fresh store and says what reading the task says.
fn after(name: &str, change: impl Fn(&Path)) -> StoreError {
    let place = Place::new(name);
    let (store, _) = filled(&place);
    change(&place.0);
    store.task("shop-1").unwrap_err()
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn what_was_changed_is_refused() {
    let error = after("instruction", |root| edit(&root.join("open/shop-1/instruction.md"), "Please", "Never"));
    assert!(matches!(&error, StoreError::Digest(path) if path.ends_with("instruction.md")), "{error}");
    let error = after("world", |root| edit(&root.join("open/shop-1/world.json"), "shop", "shep"));
    assert!(matches!(&error, StoreError::Digest(path) if path.ends_with("world.json")), "{error}");
    // A change that leaves both digests of the open part as they are is caught by the lock file.
    let error = after("limit", |root| edit(&root.join("open/shop-1/task.json"), "\"calls\": 100", "\"calls\": 900"));
    assert!(matches!(&error, StoreError::Digest(_)), "{error}");
    let error = after("best", |root| edit(&root.join("sealed/shop-1/sealed.json"), "1200", "1300"));
    assert!(matches!(&error, StoreError::Digest(path) if path.ends_with("sealed/shop-1")), "{error}");
    // So is another form of the same document, and a field that nobody reads.
    let error = after("form", |root| edit(&root.join("sealed/shop-1/sealed.json"), "{\n", "{ \n"));
    assert!(matches!(&error, StoreError::Digest(path) if path.ends_with("sealed.json")), "{error}");
    let error = after("field", |root| edit(&root.join("open/shop-1/task.json"), "{\n", "{\n  \"hint\": 1,\n"));
    assert!(matches!(&error, StoreError::Digest(path) if path.ends_with("task.json")), "{error}");
}

#[test]
fn what_is_missing_or_too_many_is_refused() {
    let error = after("missing", |root| fs::remove_file(root.join("open/shop-1/world.json")).unwrap());
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    let error = after("unsealed", |root| fs::remove_dir_all(root.join("sealed/shop-1")).unwrap());
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    let copied = |root: &Path| {
        fs::copy(root.join("sealed/shop-1/sealed.json"), root.join("open/shop-1/sealed.json")).unwrap();
    };
    let error = after("leaked", copied);
    assert!(matches!(error, StoreError::Stranger(_)), "{error}");
    // A weakened verifier whose lock was taken away with it is no task either.
    let error = after("no-lock", |root| {
        edit(&root.join("sealed/shop-1/sealed.json"), "1200", "1300");
        fs::remove_file(root.join("suite.toml")).unwrap();
    });
    assert!(matches!(&error, StoreError::NoLock(path) if path.ends_with("suite.toml")), "{error}");
    let error = after("unlocked", |root| edit(&root.join("suite.toml"), "seed = 1\n", "seed = 3\n"));
    assert!(matches!(error, StoreError::NotLocked { .. }), "{error}");
    let error = after("other-id", |root| {
        fs::remove_dir_all(root.join("open/shop-1")).unwrap();
        fs::rename(root.join("open/shop-2"), root.join("open/shop-1")).unwrap();
    });
    assert!(matches!(error, StoreError::Malformed { .. }), "{error}");
}

#[test]
fn another_version_and_nonsense_are_refused() {
    let error = after("version", |root| edit(&root.join("open/shop-1/task.json"), "\"version\": 1", "\"version\": 2"));
    assert!(matches!(error, StoreError::Version { version: 2, .. }), "{error}");
    let error = after("sealed-version", |root| {
        edit(&root.join("sealed/shop-1/sealed.json"), "{\n  \"version\": 2", "{\n  \"version\": 1");
    });
    assert!(matches!(error, StoreError::Version { version: 1, reads: 2, .. }), "{error}");
    assert!(error.to_string().ends_with("sealed.json is of version 1; this program reads version 2"), "{error}");
    // A verifier of the version before this one has other fields, and is told by its version all the same.
    let error = after("verifier", |root| {
        let file = root.join("sealed/shop-1/sealed.json");
        edit(&file, "\"verifier\": {\n    \"version\": 3", "\"verifier\": {\n    \"version\": 2");
        edit(&file, "\"scoring\"", "\"weights\"");
    });
    assert!(matches!(error, StoreError::VerifierVersion { version: 2, .. }), "{error}");
    assert!(error.to_string().contains("version 2") && error.to_string().contains("version 3"), "{error}");
    let error = after("nonsense", |root| fs::write(root.join("sealed/shop-1/sealed.json"), "[[[[").unwrap());
    assert!(matches!(error, StoreError::Malformed { .. }), "{error}");
    let error = after("lock", |root| edit(&root.join("suite.toml"), "format = 1", "format = 7"));
    assert!(matches!(error, StoreError::Suite { .. }), "{error}");
    let error = after("large", |root| fs::write(root.join("open/shop-1/task.json"), vec![b' '; 2 << 20]).unwrap());
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
}

#[test]
fn names_and_links_lead_nowhere_else() {
    let place = Place::new("names");
    let (store, one) = filled(&place);
    for name in ["..", ".", "", "a/b", "../shop-1", "Shop-1", "-x", "a\0b", &"x".repeat(100)] {
        assert!(matches!(store.task(name), Err(StoreError::Name(_))), "{name:?}");
        let named = Task { open: OpenTask { id: name.to_owned(), ..one.open.clone() }, ..one.clone() };
        assert!(matches!(store.write(&named), Err(StoreError::Name(_))), "{name:?}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let linked = |root: &Path| {
            fs::rename(root.join("open/shop-1/world.json"), root.join("elsewhere.json")).unwrap();
            symlink(root.join("elsewhere.json"), root.join("open/shop-1/world.json")).unwrap();
        };
        let error = after("link", linked);
        assert!(matches!(error, StoreError::Link(_)), "{error}");
        let linked = |root: &Path| {
            fs::rename(root.join("sealed"), root.join("elsewhere")).unwrap();
            symlink(root.join("elsewhere"), root.join("sealed")).unwrap();
        };
        let error = after("linked-tree", linked);
        assert!(matches!(error, StoreError::Link(_)), "{error}");
    }
}
