//! Threats to a task that is handed out, each as a test on the tasks that come with the program.

use benchwright_audit::{Held, NotRemade, Subject, TRIALS, run};
use benchwright_catalog::Catalog;
use benchwright_pack::{RefusalCode, Snapshot, Store, Verdict};
use benchwright_sandbox::Sandbox;
use benchwright_world::{Seat, replay};
use serde_json::{Value as Json, json};
use std::{fs, path::Path, sync::Arc};

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
        let again = || Err(NotRemade("it is not made again".to_owned()));
        let subject = Subject::new(&task, &catalog, None, &again).unwrap();
        let finding = run(leak, &subject, &subject.grader().unwrap());
        assert_eq!(finding.held, Held::Passed, "{id}");
        assert!(finding.counts["secrets"] > 20 && finding.counts["answers"] > 20, "{id}: {:?}", finding.counts);
        // A key of a sealed row, planted in what the agent reads, is found.
        let mut planted = task.clone();
        let key = task.sealed.verifier.keys["product_product"].values().find(|key| !key.starts_with("adj/")).unwrap();
        planted.instruction.push_str(&format!("\nSee {key}.\n"));
        let subject = Subject::new(&planted, &catalog, None, &again).unwrap();
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

/// Threat 4: what an agent can write feeds no objective, and what is no number is none. After the oracle's plan every price
/// that the agent can reach is overwritten: the values of all phases stay what they were, and nothing looks better.
#[test]
fn threat_4_scoring_inputs_stay_with_the_judge() {
    let catalog = Catalog::built_in();
    let mut rewritten = 0;
    for id in shipped().ids().unwrap() {
        let task = shipped().task(&id).unwrap();
        let again = || Err(NotRemade("it is not made again".to_owned()));
        let subject = Subject::new(&task, &catalog, None, &again).unwrap();
        let grader = subject.grader().unwrap();
        let mut episode = subject.begin().unwrap();
        replay(&task.sealed.oracle, &mut subject.bound_keys(), &mut episode).unwrap();
        let honest = grader.grade(&episode.snapshot()).unwrap();
        assert_eq!(honest.reward, 1_000_000);
        // Numbers that are none leave the world as it is.
        let before = episode.state_hash();
        for bad in ["NaN", "Infinity", "-Infinity", "1e999", "\"NaN\"", "\"1\"", "[]"] {
            let arguments = format!("{{\"ids\":[1],\"vals\":{{\"price\":{bad}}}}}");
            let refusal = episode.call("product_supplierinfo_write", &arguments).expect_err(bad);
            assert_eq!(refusal.code, RefusalCode::InvalidArgument, "{bad}: {refusal}");
            assert_eq!(episode.state_hash(), before, "{bad}");
        }
        // Every offer and every line that was ordered, at a cent each.
        let ids =
            |rows: Json| rows.as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect::<Vec<_>>();
        let offers = episode.call("product_supplierinfo_search_read", "{\"fields\":[\"id\"]}").unwrap();
        for offer in ids(serde_json::from_str(&offers).unwrap()) {
            let cent = json!({ "ids": [offer], "vals": { "price": 0.01 } });
            episode.call("product_supplierinfo_write", &cent.to_string()).unwrap();
        }
        let orders = episode.call("purchase_order_search_read", "{\"fields\":[\"order_line\"]}").unwrap();
        let orders: Json = serde_json::from_str(&orders).unwrap();
        for order in orders.as_array().unwrap() {
            for line in order["order_line"].as_array().unwrap() {
                let cent =
                    json!({ "ids": [order["id"]], "vals": { "order_line": [[1, line, { "price_unit": 0.01 }]] } });
                rewritten += usize::from(episode.call("purchase_order_write", &cent.to_string()).is_ok());
            }
        }
        let dishonest = grader.grade(&episode.snapshot()).unwrap();
        let values = |verdict: &Verdict| verdict.phases.iter().map(|phase| phase.value).collect::<Vec<_>>();
        assert_eq!(values(&dishonest), values(&honest), "{id}");
        assert!(dishonest.reward <= honest.reward && !dishonest.alarm, "{id}");
    }
    assert!(rewritten > 5, "only {rewritten} lines were rewritten");
}
