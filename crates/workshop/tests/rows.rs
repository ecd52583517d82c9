//! Rows for training and logs of runs: read back from the files and made again call by call, every row earns what it says and every rejected
//! one breaks the rule that it names. What was recorded and does not come out again is an error.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_export::read_rows;
use benchwright_pack::{Split, Store, Verdict};
use benchwright_workshop::{
    Catalog, Error, RunOptions, Temporary, Workshop, carried,
    play::Offer,
    policy,
    recorded::{Recorded, Which},
    rows::{self, RowsOptions},
    runs::Runs,
    suites,
    tasks::Judged,
};
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn options(each: usize, of_locked: bool) -> RowsOptions {
    RowsOptions { offered: Offer::Oracle(0), each, of_locked }
}

fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json[key].as_str().unwrap()
}

/// Makes the calls of messages again, with nothing but the row and the task, and holds every answer to the one in the row.
fn replayed(catalog: &Catalog, store: &Store, row: &Json, said: &[Json]) -> Verdict {
    let task = store.task(text(row, "task")).unwrap();
    assert_eq!(task.digest().to_string(), text(row, "task_digest"));
    assert_eq!((&*task.open.canary, task.sealed.split.word()), (text(row, "canary"), text(row, "split")));
    let tools: Json = serde_json::from_str(text(row, "tools")).unwrap();
    let tools: BTreeSet<&str> = tools.as_array().unwrap().iter().map(|tool| text(&tool["function"], "name")).collect();
    let judged = Judged::open(catalog, &task).unwrap();
    let mut episode = judged.begin().unwrap();
    let mut waiting: BTreeMap<&str, String> = BTreeMap::new();
    for message in said {
        match text(message, "role") {
            "assistant" => {
                assert!(waiting.is_empty(), "every call is answered before the next message");
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let (name, arguments) = (text(&call["function"], "name"), text(&call["function"], "arguments"));
                    assert!(tools.contains(name), "{name} is offered");
                    let answer = episode.call(name, arguments).unwrap_or_else(|refusal| refusal.to_json());
                    assert!(waiting.insert(text(call, "id"), answer).is_none());
                }
            }
            "tool" => {
                let answer = waiting.remove(text(message, "tool_call_id")).unwrap();
                assert_eq!(answer, text(message, "content"), "{}", task.open.id);
            }
            other => panic!("{other} has nothing to say after the task"),
        }
    }
    let last = said.last().unwrap();
    assert!(text(last, "role") == "assistant" && last["tool_calls"].is_null(), "it ends with words");
    judged.judge().unwrap().grade_live(&episode).unwrap()
}

fn reward(verdict: &Verdict) -> f64 {
    verdict.reward as f64 / 1e6
}

/// Holds every row of a folder to what it says. How many there are.
fn hold_sft(catalog: &Catalog, store: &Store, folder: &Path) -> usize {
    let rows = read_rows(folder).unwrap();
    for row in &rows {
        let said = row["messages"].as_array().unwrap();
        let task = store.task(text(row, "task")).unwrap();
        let first = said.iter().position(|message| message["role"] == "user").unwrap();
        assert_eq!(text(&said[first], "content"), task.instruction.trim());
        let verdict = replayed(catalog, store, row, &said[first + 1..]);
        assert_eq!(row["reward"].as_f64(), Some(reward(&verdict)), "{}", task.open.id);
        assert_eq!((&row["has_error"], &row["is_truncated"]), (&false.into(), &false.into()));
    }
    rows.len()
}

/// The same of pairs; also how many rules are broken in them.
fn hold_pairs(catalog: &Catalog, store: &Store, folder: &Path) -> (usize, usize) {
    let rows = read_rows(folder).unwrap();
    let mut rules = BTreeSet::new();
    for row in &rows {
        let (task, rule) = (text(row, "task"), text(row, "rule"));
        let said = |key: &str| row[key].as_array().unwrap().clone();
        assert_eq!(said("prompt").len(), 1);
        let chosen = replayed(catalog, store, row, &said("chosen"));
        let rejected = replayed(catalog, store, row, &said("rejected"));
        assert_eq!((chosen.reward, chosen.failed()), (1_000_000, Vec::new()), "{task}");
        assert!(rejected.failed().contains(&rule), "{task}: {rule} is not among {:?}", rejected.failed());
        assert!(rejected.reward < chosen.reward, "{task} {rule}");
        let rewards = [&row["chosen_reward"], &row["rejected_reward"]].map(|reward| reward.as_f64().unwrap());
        assert_eq!(rewards, [reward(&chosen), reward(&rejected)]);
        rules.insert(rule.to_owned());
    }
    (rows.len(), rules.len())
}

/// The bytes of every file of a folder.
fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn every_row_of_the_demo_earns_what_it_says_and_every_rejected_one_breaks_its_rule() {
    let (workshop, folder) = (Workshop::new(Catalog::built_in()), Temporary::new().unwrap());
    let place = |name: &str| folder.path().join(name);
    let store = carried::unpack_demo(&place("demo")).unwrap();
    let written = rows::sft(&workshop, &store, &options(1, true), &place("sft")).unwrap();
    assert!(written.rows.rows >= 5 && written.tasks == 5, "{written:?}");
    assert_eq!(hold_sft(workshop.catalog(), &store, &place("sft")), written.rows.rows);
    let written = rows::preferences(&workshop, &store, &options(2, true), &place("pairs")).unwrap();
    assert!(written.without.is_empty() && written.rows.rows == 10, "{written:?}");
    let (pairs, rules) = hold_pairs(workshop.catalog(), &store, &place("pairs"));
    assert!(pairs == 10 && rules > 5, "{rules} rules in {pairs} pairs");
    rows::preferences(&workshop.clone().with_jobs(Some(1)), &store, &options(2, true), &place("again")).unwrap();
    assert_eq!(bytes(&place("pairs")), bytes(&place("again")), "the same tasks give the same bytes");
}

/// Grids, and requests that can and that cannot be carried out, made for training.
fn training(workshop: &Workshop, folder: &Path) -> Vec<Store> {
    let made = |pattern: &str, tier: &str, objective: Option<&str>| {
        let catalog = workshop.catalog();
        let suite = suites::of_pattern(catalog, pattern, tier, objective, Split::Train, 1..3).unwrap();
        let store = Store::at(folder.join(format!("{}-{}", pattern.replace('/', "-"), objective.unwrap_or("done"))));
        let built = suites::make(workshop, &suite, &store, false).unwrap();
        assert_eq!((built.made.len(), built.short.len()), (2, 0), "{:?}", built.short);
        store
    };
    vec![
        made("grid/travel", "h01-b00", None),
        made("csm/article-and-engineer", "medium", None),
        made("csm/article-and-engineer", "medium", Some("still-a-draft")),
    ]
}

#[test]
fn grids_and_requests_for_training_have_rows_without_a_solver_and_say_their_split() {
    let (workshop, folder) = (Workshop::new(Catalog::built_in()), Temporary::new().unwrap());
    for (nth, store) in training(&workshop, folder.path()).iter().enumerate() {
        let place = |name: &str| folder.path().join(format!("{name}-{nth}"));
        let written = rows::sft(&workshop, store, &options(2, false), &place("sft")).unwrap();
        assert_eq!(hold_sft(workshop.catalog(), store, &place("sft")), written.rows.rows);
        let written = rows::preferences(&workshop, store, &options(3, false), &place("pairs")).unwrap();
        assert!(written.without.is_empty() && written.rows.rows >= 4, "{nth}: {written:?}");
        let (pairs, rules) = hold_pairs(workshop.catalog(), store, &place("pairs"));
        assert!(pairs >= 4 && rules >= 2, "{nth}: {rules} rules in {pairs} pairs");
        for row in read_rows(&place("pairs")).unwrap() {
            assert_eq!((text(&row, "split"), text(&row, "canary")), ("train", Split::Train.canary()));
        }
    }
}

#[test]
fn what_is_there_to_measure_with_gives_no_rows_unless_that_is_said() {
    let (workshop, folder) = (Workshop::new(Catalog::built_in()), Temporary::new().unwrap());
    let place = |name: &str| folder.path().join(name);
    let store = carried::unpack_demo(&place("demo")).unwrap();
    let refused = rows::sft(&workshop, &store, &options(0, false), &place("sft"));
    assert!(matches!(refused, Err(Error::TestSplit(_))), "{refused:?}");
    let refused = rows::preferences(&workshop, &store, &options(1, false), &place("pairs"));
    assert!(matches!(refused, Err(Error::TestSplit(_))), "{refused:?}");
    assert!(bytes(&place("sft")).is_empty(), "nothing was written");
}

#[test]
fn no_locked_suite_has_a_seed_that_training_is_drawn_from() {
    let mut locked = BTreeSet::new();
    for name in carried::suites() {
        let suite = carried::suite(name).unwrap().unwrap();
        assert_eq!(suite.split, Split::Test, "{name} is there to measure with");
        locked.extend(suite.tasks.iter().map(|task| suite.split.seed(task.seed)));
    }
    assert!(locked.len() > 100, "{} seeds", locked.len());
    for seed in &locked {
        let (split, number) = Split::of_seed(*seed);
        assert_eq!(split, Split::Test);
        assert!(!locked.contains(&Split::Train.seed(number)), "training is drawn from another half of all numbers");
    }
}

#[test]
fn trials_of_a_run_are_told_as_they_were_or_not_at_all() {
    let (workshop, folder) = (Workshop::new(Catalog::built_in()), Temporary::new().unwrap());
    let place = |name: &str| folder.path().join(name);
    let store = training(&workshop, folder.path()).swap_remove(1);
    let agents: Vec<_> = ["oracle", "idle", "literal"].into_iter().filter_map(policy).collect();
    let ran = workshop.run(store.root(), &agents, &place("runs"), &RunOptions::default()).unwrap();
    let open = || Recorded::open(&Runs::open(&place("runs")).unwrap(), Some(&ran.name)).unwrap();
    let run = open();
    let sft = |run: &Recorded, which: Which<'_>, name: &str| {
        rows::of_run(&workshop, run, store.root(), &options(0, false), which, &place(name))
    };
    let passed = sft(&run, Which { only_passed: true, agent: None }, "passed").unwrap();
    assert_eq!(hold_sft(workshop.catalog(), &store, &place("passed")), passed.rows.rows);
    assert!(passed.rows.rows >= 2, "the oracle passes");
    let all = sft(&run, Which::default(), "all").unwrap();
    assert_eq!((all.rows.rows, hold_sft(workshop.catalog(), &store, &place("all"))), (6, 6));

    // A log is of one agent, and is the same again.
    assert!(matches!(run.agent(None), Err(Error::WhichAgent { .. })));
    let log = |name: &str| run.inspect(&workshop, store.root(), &Offer::All, "oracle", &place(name)).unwrap();
    assert_eq!((log("one.eval").0, log("two.eval").0), (2, 2));
    assert_eq!(fs::read(place("one.eval")).unwrap(), fs::read(place("two.eval")).unwrap());
    assert_eq!(run.atif(&workshop, store.root(), &Offer::All, None, &place("atif")).unwrap(), 6);
    for (path, bytes) in bytes(&place("atif")) {
        let told: Json = serde_json::from_slice(&bytes).unwrap();
        let steps = told["steps"].as_array().unwrap();
        assert_eq!(told["final_metrics"]["total_steps"].as_u64(), Some(steps.len() as u64), "{}", path.display());
        assert!(steps.iter().zip(1..).all(|(step, nth)| step["step_id"].as_u64() == Some(nth)));
    }

    // Made again from what is recorded, folders have the same bytes.
    let numbers: Vec<i64> = (1..=6).collect();
    run.unpack(&workshop, store.root(), &numbers, &place("unpacked")).unwrap();
    let kept = place("runs").join(&ran.name).join("trials");
    for number in numbers {
        let name = format!("{number:06}");
        let unpacked = bytes(&place("unpacked").join("trials").join(&name));
        assert!(unpacked.len() >= 6 && unpacked == bytes(&kept.join(&name)), "trial {number}");
    }

    // An answer that is recorded otherwise than the world gives it is no row, and no folder.
    let trace = place("runs").join(&ran.name).join("trials/000001/trace.json");
    let mut told: Json = serde_json::from_slice(&fs::read(&trace).unwrap()).unwrap();
    told["calls"][0]["outcome"] = json!({ "answered": "0".repeat(32) });
    fs::write(&trace, told.to_string()).unwrap();
    let refused = sft(&open(), Which::default(), "forged");
    assert!(matches!(&refused, Err(Error::Row { why, .. }) if why.contains("call 1 (")), "{refused:?}");
    let refused = open().unpack(&workshop, store.root(), &[1], &place("forged-folders"));
    assert!(matches!(&refused, Err(Error::Row { why, .. }) if why.contains("call 1 (")), "{refused:?}");
}

#[test]
fn what_a_model_said_is_told_beside_its_calls_and_held_to_them() {
    let (workshop, folder) = (Workshop::new(Catalog::built_in()), Temporary::new().unwrap());
    let place = |name: &str| folder.path().join(name);
    let store = training(&workshop, folder.path()).swap_remove(1);
    let agents: Vec<_> = policy("oracle").into_iter().collect();
    let ran = workshop.run(store.root(), &agents, &place("runs"), &RunOptions::default()).unwrap();
    let trial = place("runs").join(&ran.name).join("trials/000001");
    let trace: Json = serde_json::from_slice(&fs::read(trial.join("trace.json")).unwrap()).unwrap();
    let told: Json = serde_json::from_slice(&fs::read(trial.join("trial.json")).unwrap()).unwrap();
    let task = store.ids().unwrap().into_iter().map(|id| store.task(&id).unwrap());
    let task = task.into_iter().find(|task| task.digest().to_string() == text(&told["key"], "task")).unwrap();
    let judged = Judged::open(workshop.catalog(), &task).unwrap();
    let mut episode = judged.begin().unwrap();

    // Two calls in the first message, a tool that there is not, and then one by one.
    let calls = trace["calls"].as_array().unwrap();
    let names: BTreeSet<&str> = calls.iter().map(|call| text(call, "tool")).collect();
    let said = |text: &str, calls: Vec<Json>| json!({ "role": "assistant", "text": text, "calls": calls });
    let call = |call: &Json| json!({ "id": "call_0", "name": call["tool"], "arguments": call["arguments"] });
    let answer = |text: String| json!({ "role": "tool", "id": "call_0", "name": "n", "text": text, "refused": false });
    let mut world = |call: &Json| answer(episode.call(text(call, "tool"), text(call, "arguments")).unwrap());
    let mut lines = vec![
        json!({ "role": "tools", "names": names }),
        json!({ "role": "system", "text": "You plan." }),
        json!({ "role": "user", "text": "Make a plan." }),
        said("First this, then that.", Vec::new()),
        json!({ "role": "system", "text": "You work." }),
        json!({ "role": "user", "text": task.instruction.trim() }),
        said("I look.", calls[..2].iter().map(call).collect()),
        world(&calls[0]),
        world(&calls[1]),
        said("", vec![json!({ "id": "call_0", "name": "no_such_tool", "arguments": "{}" })]),
        answer("{\"error\":{}}".to_owned()),
    ];
    for made in &calls[2..] {
        lines.extend([said("", vec![call(made)]), world(made)]);
    }
    lines.push(said("All done.", Vec::new()));
    let keep = |lines: &[Json]| {
        let text: Vec<String> = lines.iter().map(Json::to_string).collect();
        fs::write(trial.join("transcript.jsonl"), text.join("\n")).unwrap();
    };
    let sft = |name: &str| {
        let run = Recorded::open(&Runs::open(&place("runs")).unwrap(), None).unwrap();
        rows::of_run(&workshop, &run, store.root(), &options(0, false), Which::default(), &place(name))
    };
    keep(&lines);
    sft("told").unwrap();
    let rows = read_rows(&place("told")).unwrap();
    let row = rows.iter().find(|row| text(row, "task") == task.open.id).unwrap();
    let messages = row["messages"].as_array().unwrap();
    assert_eq!((text(&messages[0], "content"), text(&messages[2], "content")), ("You work.", "I look."));
    assert_eq!(messages[2]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(text(messages.last().unwrap(), "content"), "All done.");
    let ids: BTreeSet<&str> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!(ids.len(), calls.len() + 1, "no two calls have the same id");

    // An answer that the world does not give, and a call that was never made.
    let mut other = lines.clone();
    other[7]["text"] = "[]".into();
    keep(&other);
    assert!(matches!(sft("other"), Err(Error::Row { why, .. }) if why.contains("answered otherwise")));
    let mut other = lines;
    other.remove(6);
    keep(&other);
    assert!(matches!(sft("fewer"), Err(Error::Row { .. })));
}

/// Rows of any folder, such as a whole suite: `BENCHWRIGHT_ROWS=TASKS:SFT:PAIRS cargo nextest run -p benchwright-workshop --run-ignored only`.
#[test]
#[ignore = "it reads what somebody exported, and an environment says where"]
fn rows_that_somebody_exported_earn_what_they_say() {
    let given = std::env::var("BENCHWRIGHT_ROWS").expect("BENCHWRIGHT_ROWS is TASKS:SFT:PAIRS");
    let [tasks, sft, pairs] = given.split(':').collect::<Vec<_>>().try_into().unwrap();
    let (catalog, store) = (Catalog::built_in(), Store::at(tasks));
    let count = hold_sft(&catalog, &store, Path::new(sft));
    let (pairs, rules) = hold_pairs(&catalog, &store, Path::new(pairs));
    println!("{count} rows and {pairs} pairs of {rules} rules come out again");
}
