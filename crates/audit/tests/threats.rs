//! Threats to a task that is handed out, each as a test on the tasks that come with the program.

use benchwright_audit::{Held, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_pack::{Snapshot, Store};
use benchwright_sandbox::Sandbox;
use benchwright_solve::{Answer, Engine, EngineError, Limits, Model};
use benchwright_world::Seat;
use std::{fs, path::Path, sync::Arc};

/// No trial here asks a solver.
struct NoEngine;

impl Engine for NoEngine {
    fn version(&self) -> String {
        "none".to_owned()
    }
    fn solve(&self, _: &Model, _: &Limits) -> Result<Answer, EngineError> {
        Err(EngineError::NotThere("this test has none".to_owned()))
    }
}

fn shipped() -> Store {
    Store::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/demo"))
}

/// Threat 1: everything an agent can see is searched for sealed tokens: instruction, open files, tools, and what every tool
/// that reads answers.
#[test]
fn threat_1_oracle_search() {
    let catalog = Catalog::built_in();
    let leak = TRIALS.iter().find(|trial| trial.name == "leak").unwrap();
    for id in shipped().ids().unwrap() {
        let task = shipped().task(&id).unwrap();
        let again = || Err("it is not made again".to_owned());
        let subject = Subject::new(&task, &catalog, &NoEngine, &NoEngine, &again).unwrap();
        let finding = run(leak, &subject, &subject.grader().unwrap());
        assert_eq!(finding.held, Held::Passed, "{id}");
        assert!(finding.counts["secrets"] > 20 && finding.counts["answers"] > 20, "{id}: {:?}", finding.counts);
        // A key of a sealed row, planted in what the agent reads, is found.
        let mut planted = task.clone();
        let key = task.sealed.verifier.keys["product_product"].values().find(|key| !key.starts_with("adj/")).unwrap();
        planted.instruction.push_str(&format!("\nSee {key}.\n"));
        let subject = Subject::new(&planted, &catalog, &NoEngine, &NoEngine, &again).unwrap();
        let finding = run(leak, &subject, &subject.grader().unwrap());
        assert!(matches!(finding.held, Held::Failed(_)), "{id}: {key} was planted and not found");
    }
}

/// Threat 2: where an agent runs there is no oracle, not even an encrypted one. The open tree alone is enough to run a
/// task; every file in it is one of three that are known, is plain text, and none holds a long token that says nothing.
#[test]
fn threat_2_no_oracle_beside_the_agent() {
    let (open, catalog) = (shipped().root().join("open"), Catalog::built_in());
    let alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("threat-2");
    let _ = fs::remove_dir_all(&alone);
    for id in shipped().ids().unwrap() {
        let folder = alone.join("open").join(&id);
        fs::create_dir_all(&folder).unwrap();
        let mut names = Vec::new();
        for file in fs::read_dir(open.join(&id)).unwrap().map(|file| file.unwrap().path()) {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&file).unwrap();
            let opaque = |word: &&str| word.len() > 64 && !word.contains(['.', '-', '|']);
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/=_.-|".contains(c));
            assert_eq!(words.clone().find(opaque), None, "{id}/{name}");
            fs::copy(&file, folder.join(&name)).unwrap();
            names.push(name);
        }
        names.sort();
        assert_eq!(names, ["instruction.md", "task.json", "world.json"]);
        let part = Store::at(&alone).open_part(&id).unwrap();
        let found = catalog.find(&part.open.domain).unwrap();
        let first = Snapshot::from_bytes(&part.world, &found.domain).unwrap();
        let sandbox = Arc::new(Sandbox::from_snapshot(found.domain, found.natives, &first).unwrap());
        let role = sandbox.domain().roles[0].name.clone();
        let seat = Seat { actor: sandbox.person_for(&role), role };
        let mut episode = sandbox.begin(&seat, benchwright_sandbox::Conditions::default()).unwrap();
        episode.call("res_partner_search_read", "{}").unwrap();
        assert!(Store::at(&alone).task(&id).is_err(), "the sealed part is elsewhere");
    }
}
