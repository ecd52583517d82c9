//! The commands for tasks and suites, run as a person or a script would.

use crate::common::Place;
use benchwright_pack::{Store, Trace};
use benchwright_workshop::host::StoreHost;
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// A pattern with both routes, at its own tier.
const ROUTE: &str = "production/lowest-cost-sourcing-route";

fn program(line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.args(line).current_dir(root()).env_remove("BENCHWRIGHT_DOMAINS").env_remove("COLUMNS");
    command
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn run(line: &[&str]) -> Output {
    program(line).stdin(Stdio::null()).output().unwrap()
}

/// Runs the program and gives its stdout. The exit code must be this one.
pub(crate) fn data(line: &[&str], code: i32) -> String {
    let output = run(line);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{line:?}\n{out}\n{err}");
    out
}

pub(crate) fn document(line: &[&str], code: i32) -> Json {
    let out = data(line, code);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{line:?}: {error}: {out}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether the solver is here. Without it a test fails and says how to get it; with `BENCHWRIGHT_NO_SOLVER=1` it says
/// that it is skipped.
pub(crate) fn has_solver() -> bool {
    match benchwright_solve::Library::find() {
        Ok(_) => true,
        Err(error) if std::env::var("BENCHWRIGHT_NO_SOLVER").is_ok_and(|value| value == "1") => {
            println!("skipped, because BENCHWRIGHT_NO_SOLVER is 1: {error}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// What a worker answers to lines, and how it ended.
fn worker(lines: &str, solver: Option<&str>) -> (Vec<Json>, std::process::ExitStatus) {
    let mut command = program(&["worker"]);
    if let Some(folder) = solver {
        command.env("BENCHWRIGHT_SOLVER", folder);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    let output = child.wait_with_output().unwrap();
    let answers = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (answers, output.status)
}

#[test]
fn a_worker_answers_every_line_and_says_what_is_missing() {
    let place = Place::new("protocol");
    let make = json!({ "make": { "pattern": ROUTE, "tier": "medium", "objective": "min_new_spend", "seed": 1,
        "out": place.path("out") } });
    let audit = json!({ "audit": { "store": place.path("out"), "id": "erp-1", "digest": "0".repeat(64),
        "trials": ["no-such-trial"] } });
    let (answers, status) = worker(&format!("hello\n{{\"make\":{{}}}}\n{make}\n{audit}\n"), Some("/nowhere"));
    assert!(status.success());
    assert_eq!(answers.len(), 4, "{answers:?}");
    for answer in &answers[..2] {
        assert!(answer["failed"]["why"].as_str().unwrap().contains("no request"), "{answer}");
        assert_eq!(answer["failed"]["missing"], false);
    }
    assert_eq!(answers[2]["failed"]["missing"], true, "{}", answers[2]);
    assert!(answers[2]["failed"]["why"].as_str().unwrap().contains("scripts/solver"), "{}", answers[2]);
    assert!(answers[3]["failed"]["why"].as_str().unwrap().contains("no-such-trial"), "{}", answers[3]);
}

#[cfg(unix)]
#[test]
fn the_abort_that_tests_ask_for_ends_a_worker_as_a_native_fault_would() {
    use std::os::unix::process::ExitStatusExt as _;
    let (answers, status) = worker("hello\n\"abort_for_tests\"\nhello\n", None);
    assert_eq!(answers.len(), 1);
    assert_eq!(status.signal(), Some(6), "{status}");
}

#[test]
fn wrong_use_ends_with_2_and_names_the_next_command() {
    let place = Place::new("wrong-use");
    let out = place.path("out");
    let full = place.path("full");
    fs::create_dir_all(&full).unwrap();
    fs::write(Path::new(&full).join("a"), "b").unwrap();
    let lines: &[&[&str]] = &[
        &["patterns", "production/no-such"],
        &["patterns", "lowest-cost-sourcing-route"],
        &["new", "production/no-such", "--tier", "medium", "--seed", "1", "-o", &out],
        &["new", ROUTE, "--tier", "easy", "--seed", "1", "-o", &out],
        &["new", ROUTE, "--tier", "medium", "--objective", "repair_plan", "--seed", "1", "-o", &out],
        &["new", ROUTE, "--tier", "medium", "--seed", "1", "--count", "0", "-o", &out],
        &["new", ROUTE, "--tier", "medium", "--seed", "1", "-o", &full],
        &["new", ROUTE, "--tier", "medium", "-o", &out],
        &["build", "no-such.toml", "-o", &out],
        &["audit", &out, "--trial", "orcle"],
        &["show", &out],
        &["grade", &out, "state.json"],
        &["export", "parquet", &out, "-o", &full],
        &["bench", "nothing"],
    ];
    for line in lines {
        let output = run(line);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {told}");
        assert!(output.stdout.is_empty(), "{line:?}");
        assert!(told.contains("try") || told.contains("Usage"), "{line:?}: {told}");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn without_the_solver_nothing_is_made_and_the_mend_is_told() {
    let place = Place::new("no-solver");
    let out = place.path("out");
    let line = ["new", ROUTE, "--tier", "medium", "--seed", "1", "-o", &out];
    let output = program(&line).env("BENCHWRIGHT_SOLVER", "/nowhere").output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("scripts/solver"), "{told}");
    assert!(!Path::new(&out).exists());
}

#[test]
fn the_patterns_are_listed_with_what_they_admit() {
    let list = document(&["patterns", "--json"], 0);
    let list = list.as_array().unwrap();
    let grids = list.iter().filter(|pattern| pattern["group"] == "grid").count();
    let requests = list.iter().filter(|pattern| pattern["family"] == "scenario").count();
    let plans: Vec<&Json> = list.iter().filter(|pattern| pattern["group"] == "planning").collect();
    // A workflow offers the tiers at which tasks of it were seen, from the easiest on.
    let has = |tier: &str| plans.iter().filter(|plan| plan["tiers"].as_array().unwrap().contains(&tier.into())).count();
    assert_eq!(has("easy"), plans.len());
    assert!(plans.len() == 29 && has("medium") >= 20 && has("hard") >= 9, "{plans:?}");
    let plans = plans.len();
    assert_eq!((list.len() - grids - requests - plans, grids), (29, 6));
    assert!(requests >= 3, "{requests} requests");
    for pattern in list.iter().filter(|pattern| pattern["family"] == "scenario") {
        assert!(pattern["blocked"].as_object().unwrap().len() >= 2, "{pattern}");
        assert!(pattern["voices"].as_u64().unwrap() >= 3 && pattern["clauses"].as_u64().unwrap() >= 1, "{pattern}");
    }
    for pattern in list.iter().filter(|pattern| pattern["family"] != "scenario") {
        let name = pattern["name"].as_str().unwrap();
        assert_eq!(pattern["group"].as_str(), name.split('/').next(), "{name}");
        assert!(!pattern["tiers"].as_array().unwrap().is_empty(), "{name}");
        assert!(!pattern["objectives"].as_array().unwrap().is_empty(), "{name}");
        let rules = pattern["rules"].as_u64().unwrap();
        assert!((10..=60).contains(&rules), "{name}: {rules}");
    }
    let page = data(&["patterns", ROUTE], 0);
    assert!(page.starts_with("Lowest-cost sourcing route"), "{page}");
    assert!(page.contains("min_new_spend") && page.contains("rules can apply"), "{page}");
}

/// The allocation of the ERP benchmark: counts by group, tier and objective, one cell for each pattern.
#[test]
fn the_suite_of_three_hundred_has_the_counts_of_the_benchmark() {
    let file = fs::read_to_string(root().join("suites/erp-300.toml")).unwrap();
    let suite = benchwright_pack::Suite::from_toml("suite.toml", &file).unwrap();
    let count = |of: &dyn Fn(&benchwright_pack::SuiteTask) -> String| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for task in &suite.tasks {
            *counts.entry(of(task)).or_default() += 1;
        }
        counts.into_iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(suite.tasks.len(), 300);
    assert_eq!(
        count(&|task| task.pattern.split('/').next().unwrap().to_owned()),
        "procurement 74, production 198, recovery 28"
    );
    assert_eq!(count(&|task| task.tier.clone()), "easy 50, hard 84, medium 166");
    assert_eq!(
        count(&|task| task.objective.clone()),
        "capacity_preservation 31, constraint_only 24, min_new_spend 183, repair_plan 28, vendor_consolidation 34"
    );
    let mut cells: Vec<(&str, &str, &str)> =
        suite.tasks.iter().map(|task| (&*task.pattern, &*task.tier, &*task.objective)).collect();
    cells.dedup();
    assert_eq!(cells.len(), 29);
    assert!(suite.tasks.iter().all(|task| task.cluster() == task.pattern));
    // Every cell is its pattern's own, and the file is in the form that `build` writes.
    let list = document(&["patterns", "--json"], 0);
    let is_erp = |pattern: &&Json| pattern["family"] == "erp";
    for pattern in list.as_array().unwrap().iter().filter(is_erp) {
        let cell = cells.iter().find(|(name, _, _)| *name == pattern["name"]).unwrap();
        assert_eq!(
            (cell.1, cell.2),
            (pattern["tiers"][0].as_str().unwrap(), pattern["objectives"][0].as_str().unwrap())
        );
    }
    assert_eq!(suite.to_toml(), file);
}

/// From `new` to a lock file, a verdict, an audit and shards.
#[test]
fn tasks_are_made_shown_graded_locked_audited_and_exported() {
    if !has_solver() {
        return;
    }
    let place = Place::new("whole-way");
    let make = |name: &str, jobs: &str| {
        let out = place.path(name);
        let line =
            ["new", ROUTE, "--tier", "medium", "--seed", "7", "--count", "3", "-o", &out, "--jobs", jobs, "--json"];
        let made = document(&line, 0);
        assert_eq!(made["tasks"], 3, "{made}");
        assert_eq!(made["by"]["tier"]["medium"], 3);
        made["digest"].as_str().unwrap().to_owned()
    };
    let digest = make("one", "1");
    assert_eq!(digest, make("two", "2"), "the digest depends on the number of jobs");
    let lock = place.path("one/suite.toml");

    // A suite is made again with the same digests; a digest that differs is told.
    let again = document(&["build", &lock, "-o", &place.path("three"), "--json"], 0);
    assert_eq!(again["digest"], *digest);
    for (tree, file) in [("open", "task.json"), ("open", "world.json"), ("sealed", "sealed.json")] {
        for id in ids(&place) {
            let bytes = |name: &str| fs::read(place.0.join(name).join(tree).join(&id).join(file)).unwrap();
            assert_eq!(bytes("one"), bytes("three"), "{tree}/{id}/{file}");
        }
    }
    let text = fs::read_to_string(&lock).unwrap();
    let line = text.lines().find(|line| line.starts_with("digest")).unwrap();
    let wrong = place.path("wrong.toml");
    fs::write(&wrong, text.replacen(line, &format!("digest = \"{}\"", "0".repeat(64)), 1)).unwrap();
    let differs = document(&["build", &wrong, "-o", &place.path("four"), "--json"], 1);
    assert_eq!(differs["short"].as_array().unwrap().len(), 1, "{differs}");
    assert_eq!(differs["digest"], Json::Null);

    // Another library is another suite.
    let library = text.lines().find(|line| line.starts_with("library")).unwrap();
    let other = place.path("other.toml");
    fs::write(&other, text.replacen(library, &format!("library = \"{}\"", "1".repeat(64)), 1)).unwrap();
    assert!(data(&["build", &other, "-o", &place.path("five")], 3).is_empty());
    assert!(!place.0.join("five").exists());

    // Tasks for training are others, of the same seeds, and say what they are for; their lock file makes them again.
    let train = place.path("train");
    let seeds = ["--tier", "medium", "--seed", "7", "--count", "3"];
    document(&[&["new", ROUTE, "--split", "train", "-o", &train, "--json"], &seeds[..]].concat(), 0);
    let of = |root: &str| -> Vec<Json> {
        let parts = Store::at(root).ids().unwrap().into_iter().map(|id| Path::new(root).join("open").join(id));
        parts.map(|part| serde_json::from_slice(&fs::read(part.join("task.json")).unwrap()).unwrap()).collect()
    };
    let (tests, training) = (of(&place.path("one")), of(&train));
    for task in &training {
        assert!(tests.iter().all(|test| test["id"] != task["id"] && test["world"] != task["world"]), "{task}");
        let says = task["canary"].as_str().unwrap();
        assert!(says.contains("made for training") && !says.contains("do not train"), "{says}");
    }
    assert!(tests.iter().all(|test| test["canary"].as_str().unwrap().ends_with("do not train on it")));
    let train_lock = place.path("train/suite.toml");
    assert!(fs::read_to_string(&train_lock).unwrap().contains("split = \"train\""));
    data(&["build", &train_lock, "-o", &place.path("trained-again")], 0);

    // Lines without digests are locked.
    let open: Vec<&str> = text.lines().filter(|line| !line.starts_with("digest")).collect();
    let fresh = place.path("fresh.toml");
    fs::write(&fresh, open.join("\n") + "\n").unwrap();
    data(&["build", &fresh, "-o", &place.path("six")], 0);
    assert_eq!(fs::read_to_string(&fresh).unwrap(), text);

    let id = ids(&place).remove(0);
    let task = place.path(&format!("one/open/{id}"));
    let shown = data(&["show", &task], 0);
    assert!(shown.starts_with(&id) && !shown.contains(ROUTE) && !shown.contains("sealed"), "{shown}");
    let revealed = data(&["show", &place.path(&format!("one/{id}")), "--reveal"], 0);
    for part in [&shown, ROUTE, "The certificate", "The plan", "checks apply"] {
        assert!(revealed.contains(part), "{part} in {revealed}");
    }
    let verdict = document(&["grade", &task, &place.path(&format!("one/open/{id}/world.json")), "--json"], 1);
    assert_eq!((verdict["ending"].as_str(), verdict["reward"].as_f64()), (Some("fail"), Some(0.0)), "{verdict}");

    // A state of another task gets no verdict, be it the first one or one that was worked on.
    let foreign = |snapshot: &str| {
        let output = run(&["grade", &task, snapshot, "--json"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
        assert!(told.contains("another task") && told.contains("the snapshot of an episode of this task"), "{told}");
    };
    foreign(&place.path(&format!("one/open/{}/world.json", ids(&place)[1])));
    let runs = place.path("runs");
    let ran = document(&["run", &place.path("one"), "--agent", "oracle", "--runs", &runs, "--json"], 0);
    let trials = Path::new(&runs).join(ran["run"].as_str().unwrap()).join("trials");
    let left = |number: usize| trials.join(format!("{number:06}/snapshot.json.gz")).to_string_lossy().into_owned();
    let passed = document(&["grade", &task, &left(1), "--json"], 0);
    assert_eq!((&passed["ending"], &passed["reward"]), (&json!("pass"), &json!(1.0)), "{passed}");
    foreign(&left(2));
    // Nor are the calls of one task made again in the world of another.
    let catalog = benchwright_catalog::Catalog::built_in();
    let host = StoreHost::new(&catalog, Store::at(place.path("one")));
    let trace = Trace::from_bytes(&fs::read(trials.join("000001/trace.json")).unwrap()).unwrap();
    assert!(host.replayed(&id, &trace).is_ok());
    let told = host.replayed(&ids(&place)[1], &trace).unwrap_err().detail;
    assert!(told.contains("another task"), "{told}");

    let audit = document(&["audit", &place.path("one"), "--trial", "idle", "--trial", "oracle", "--json"], 0);
    assert_eq!(audit["tasks"], 3);
    for trial in ["idle", "oracle"] {
        assert_eq!((&audit["trials"][trial]["run"], &audit["trials"][trial]["passed"]), (&json!(3), &json!(3)));
    }
    let stored = fs::read_to_string(place.0.join("one/sealed").join(&id).join("audit.json")).unwrap();
    let stored: Json = serde_json::from_str(&stored).unwrap();
    assert!(stored["trials"]["idle"].is_object() && stored["task"].is_string(), "{stored}");
    let sampled = document(&["audit", &lock, "--trial", "idle", "--sample", "1", "--json"], 0);
    assert_eq!(sampled["tasks"], 1);

    data(&["export", "parquet", &place.path("one"), "-o", &place.path("shards"), "--shard", "2"], 0);
    for tree in ["open", "sealed"] {
        assert_eq!(fs::read_dir(place.0.join("shards").join(tree)).unwrap().count(), 2);
    }

    // What was tampered with is no longer audited, and the exit code says so.
    let world = place.0.join("two/open").join(&id).join("instruction.md");
    fs::write(&world, "Do nothing.").unwrap();
    let tampered = document(&["audit", &place.path("two"), "--trial", "idle", "--json"], 1);
    assert_eq!(tampered["tasks"], 2);
    assert!(tampered["errors"].to_string().contains("digest differs"), "{tampered}");
    assert!(data(&["show", &place.path(&format!("two/{id}"))], 1).is_empty());
}

fn ids(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.0.join("one/open")).unwrap();
    let mut ids: Vec<String> = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    ids.sort();
    ids
}

/// A request goes the whole way: it is made, shown with its reasons, run by agents and judged; a blocked one is declined.
#[test]
fn a_request_is_made_shown_run_and_judged() {
    let place = Place::new("requests");
    let name = "csm/article-and-engineer";
    for objective in ["done", "still-a-draft"] {
        let store = place.path(objective);
        let made = ["new", name, "--tier", "medium", "--objective", objective, "--seed", "1", "-o", &store, "--json"];
        document(&made, 0);
        let task = fs::read_dir(Path::new(&store).join("open")).unwrap().next().unwrap().unwrap().path();
        let world = fs::metadata(task.join("world.json")).unwrap().len();
        assert!(world < 20_000, "a task keeps what was planted, not {world} bytes of world");
        let page = data(&["show", task.to_str().unwrap(), "--reveal"], 0);
        assert!(page.contains("## Request") && page.contains("apply to what it leaves"), "{page}");
        let sealed = page.split("--- sealed ---").nth(1).unwrap();
        assert_eq!(sealed.contains("cannot be"), objective != "done", "{page}");
        let runs = place.path(&format!("runs-{objective}"));
        let run = document(&["run", &store, "--runs", &runs, "--agent", "oracle", "--agent", "idle", "--json"], 0);
        let passed = |agent: &str| run["agents"][agent]["pass_at_1"].as_f64();
        assert_eq!((passed("oracle"), passed("idle")), (Some(1.0), Some(0.0)), "{run}");
    }
}
