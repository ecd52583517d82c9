//! Tasks written as Parquet shards read back row by row, and the sealed parts stand apart.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::Digest;
use benchwright_export::{ExportError, parquet};
use benchwright_pack::{
    CANARY, Certificate, OpenTask, SEALED_VERSION, Scoring, Script, SealedTask, Split, Store, Suite, SuiteTask,
    TASK_VERSION, Task, Verifier, Weights,
};
use benchwright_schema::plan::{Bindings, PlanText};
use parquet::{
    file::reader::{FileReader as _, SerializedFileReader},
    record::{Field, Row},
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn place(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("benchwright-parquet-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn task(seed: u64) -> Task {
    let id = format!("shop-{seed}");
    let instruction = format!("Job {seed}: ünïcödé.\n");
    let world = vec![0xff, 0x00, b'w', seed as u8];
    let open = OpenTask {
        version: TASK_VERSION,
        canary: CANARY.to_owned(),
        id: id.clone(),
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
        id,
        family: "erp".to_owned(),
        pattern: "production/a".to_owned(),
        tier: "easy".to_owned(),
        dials: Vec::new(),
        objective: "spend".to_owned(),
        seed,
        split: Split::Test,
        salt: None,
        attempt: 0,
        reading: None,
        switches: Vec::new(),
        case: json!({}),
        clauses: Vec::new(),
        oracle: Script::default(),
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
            keys: BTreeMap::new(),
            objective: "spend".to_owned(),
            best: vec![424_242],
            anchors: None,
            gates: Vec::new(),
            answer: BTreeMap::new(),
        },
        effects: None,
        injection: None,
        certificate: Certificate {
            solver: "s".to_owned(),
            library: "l".to_owned(),
            phases: json!([]),
            plan: json!({}),
            variables: 0,
            constraints: 0,
            discarded: BTreeMap::new(),
            weights: BTreeMap::new(),
        },
    };
    Task { open, instruction, world, sealed }
}

/// A store with tasks whose lock file has another order than their ids.
fn store(root: &Path) -> (Store, Vec<Task>) {
    let store = Store::at(root);
    let tasks: Vec<Task> = [5, 3, 4, 1, 2].map(task).into_iter().collect();
    let line = |task: &Task| SuiteTask {
        pattern: task.sealed.pattern.clone(),
        tier: task.sealed.tier.clone(),
        objective: task.sealed.objective.clone(),
        seed: task.sealed.seed,
        reading: None,
        digest: Some(task.digest()),
        cluster: None,
    };
    for task in &tasks {
        store.write(task).unwrap();
    }
    let suite = Suite {
        name: "five".to_owned(),
        version: 1,
        family: "shop".to_owned(),
        split: Split::Test,
        canary: CANARY.to_owned(),
        salt: None,
        inject: 0,
        bars: benchwright_pack::SuiteBars::default(),
        solver: None,
        unbreakable: std::collections::BTreeMap::new(),
        tasks: tasks.iter().map(line).collect(),
    };
    store.write_suite(&suite).unwrap();
    store.write_audit(&tasks[1], json!({ "idle": 1 })).unwrap();
    (store, tasks)
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn cell(row: &Row, name: &str) -> Option<Vec<u8>> {
    let (_, field) = row.get_column_iter().find(|(known, _)| *known == name).unwrap();
    match field {
        Field::Str(text) => Some(text.clone().into_bytes()),
        Field::Bytes(bytes) => Some(bytes.data().to_vec()),
        Field::Null => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_row_a_task_in_the_order_of_the_lock_file() {
    let (root, out) = (place("tasks"), place("shards"));
    let (store, tasks) = store(&root);
    let summary = parquet(&store, &out, 2).unwrap();
    assert_eq!((summary.tasks, summary.shards), (5, 3));
    let part = |tree: &str, at: usize| out.join(tree).join(format!("part-{at:05}.parquet"));
    let (mut open, mut sealed) = (Vec::new(), Vec::new());
    for at in 0..3 {
        open.extend(rows(&part("open", at)));
        sealed.extend(rows(&part("sealed", at)));
    }
    assert_eq!(open.len(), 5);
    for (at, task) in tasks.iter().enumerate() {
        assert_eq!(cell(&open[at], "id").unwrap(), task.open.id.as_bytes());
        assert_eq!(cell(&open[at], "instruction").unwrap(), task.instruction.as_bytes());
        assert_eq!(cell(&open[at], "world").unwrap(), task.world);
        assert_eq!(cell(&open[at], "task").unwrap(), task.open_bytes());
        assert_eq!(cell(&sealed[at], "id").unwrap(), task.open.id.as_bytes());
        assert_eq!(cell(&sealed[at], "digest").unwrap(), task.digest().to_string().into_bytes());
        assert_eq!(cell(&sealed[at], "sealed").unwrap(), task.sealed_bytes());
        assert_eq!(cell(&sealed[at], "audit").is_some(), at == 1);
    }
    // The same folder gives the same bytes, and what is there already is left alone.
    let again = place("again");
    parquet(&store, &again, 2).unwrap();
    for tree in ["open", "sealed"] {
        let name = format!("{tree}/part-00000.parquet");
        assert_eq!(fs::read(out.join(&name)).unwrap(), fs::read(again.join(&name)).unwrap());
    }
    assert!(matches!(parquet(&store, &out, 2), Err(ExportError::AlreadyThere(_))));
    for path in [root, out, again] {
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn a_task_that_is_not_there_or_was_changed_is_not_exported() {
    let (root, out) = (place("short"), place("none"));
    let (store, _) = store(&root);
    fs::write(root.join("open/shop-3/instruction.md"), "Another job.").unwrap();
    assert!(matches!(parquet(&store, &out, 2), Err(ExportError::Store(_))));
    fs::remove_dir_all(root.join("open/shop-3")).unwrap();
    assert!(matches!(parquet(&store, &out, 2), Err(ExportError::Store(_))));
    assert!(!out.exists());
    fs::remove_dir_all(root).unwrap();
}
