//! Records that show tampering: a run is forged in every way that we know, and `report --verify` names each; damage is told with the file
//! and never waited for; what a program was handed in secret is nowhere in what is kept.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::common::{Place, first_task, said};
use crate::programs::{POST, benchwright};
use benchwright_pack::{LARGEST_UNPACKED, packed, read_packed};
use rusqlite::Connection;
use serde_json::Value as Json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

/// A run of two agents on the five tasks that come with the program: trials 1 to 5 do nothing, 6 to 10 pass.
fn run(folder: &Path) -> Json {
    if !folder.join("demo").exists() {
        assert!(benchwright(folder).args(["demo", "-o", "demo"]).output().unwrap().status.success());
    }
    let output = benchwright(folder)
        .args(["run", "demo", "--json", "--new", "--agent", "idle", "--agent", "oracle"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {}", path.display());
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// A copy of a run in which something is forged.
struct Forged {
    root: PathBuf,
    run: PathBuf,
}

impl Forged {
    fn trial(&self, number: i64) -> PathBuf {
        self.run.join(format!("trials/{number:06}"))
    }

    fn sql(&self, statements: &str) {
        Connection::open(self.root.join("runs/ledger.sqlite")).unwrap().execute_batch(statements).unwrap();
    }

    /// Gives two trials each other's file or folder.
    fn exchange(&self, one: PathBuf, other: PathBuf) {
        let between = self.root.join("between");
        fs::rename(&one, &between).unwrap();
        fs::rename(&other, &one).unwrap();
        fs::rename(&between, &other).unwrap();
    }

    fn verify(&self, more: &[&str]) -> (Option<i32>, String) {
        let output =
            benchwright(&self.root).args(["report", "--verify", "--tasks", "demo"]).args(more).output().unwrap();
        (output.status.code(), said(&output))
    }
}

type Forging = (&'static str, fn(&Forged), &'static [&'static str]);

const FORGINGS: &[Forging] = &[
    (
        "a verdict",
        |forged| {
            let verdict = forged.trial(1).join("verdict.json");
            edit(&verdict, r#""ending": "fail""#, r#""ending": "pass""#);
            edit(&verdict, r#""reward": 0.0"#, r#""reward": 1.0"#);
        },
        &[
            "differs: trial 1 (",
            "000001: the folder was changed after it was recorded",
            "verdict.json: it says pass, reward 1.0; judged again it is fail, reward 0.0",
        ],
    ),
    (
        "a record beside its trial",
        |forged| edit(&forged.trial(2).join("trial.json"), r#""pass": false"#, r#""pass": true"#),
        &["differs: trial 2 (", "trial.json: it is not what the ledger has of the trial"],
    ),
    (
        "a trace",
        |forged| {
            let path = forged.trial(6).join("trace.json");
            let mut trace: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            trace["calls"].as_array_mut().unwrap().pop().unwrap();
            fs::write(&path, trace.to_string()).unwrap();
        },
        &[
            "differs: trial 6 (",
            "trace.json: ",
            "the calls of the trace lead to another state",
            "not verified: trial 6 (",
        ],
    ),
    (
        "an answer in a trace",
        |forged| {
            let path = forged.trial(6).join("trace.json");
            let mut trace: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            trace["calls"][0]["outcome"]["answered"] = "0000000000000000".into();
            fs::write(&path, trace.to_string()).unwrap();
        },
        &["differs: trial 6 (", "call 1 (", "was answered 0000000000000000, and is answered "],
    ),
    (
        "folders of two trials on one task",
        |forged| forged.exchange(forged.trial(1), forged.trial(6)),
        &["differs: trial 1 (", "differs: trial 6 (", "trial.json: it is of another trial: oracle, attempt 1"],
    ),
    (
        "a folder that is gone",
        |forged| fs::remove_dir_all(forged.trial(3)).unwrap(),
        &["differs: trial 3 (", "trials/000003: the folder is not there"],
    ),
    (
        "a row of the ledger",
        |forged| {
            forged.sql(r#"update trial set record = replace(record, '"pass":false', '"pass":true') where number = 1"#);
        },
        &[
            "differs: trial 1 (",
            "ledger.sqlite: its row in the ledger was changed after it was recorded",
            "ledger.sqlite: its record says pass, reward 0.0; judged again it is fail, reward 0.0",
        ],
    ),
    (
        "a row that is gone",
        |forged| forged.sql("delete from trial where number = 4; delete from link where numbers = '4'"),
        &["differs: trial 4 (", "its row was deleted from the ledger", "was deleted from the chain"],
    ),
    (
        "rows in another order",
        |forged| {
            forged.sql(
                "update link set place = 99 where place = 2; update link set place = 2 where place = 3;
                 update link set place = 3 where place = 99",
            );
        },
        &["ledger.sqlite: link 2 of the chain does not follow from the one before it"],
    ),
    (
        "a row twice",
        |forged| {
            forged.sql(
                "insert into link select run, 11, numbers, record, folder, segment, hash from link where place = 10",
            )
        },
        &["ledger.sqlite: link 11 of the chain does not follow", "link 11 records it a second time"],
    ),
    (
        "a weaker verifier without its lock",
        |forged| {
            let task = first_task(&forged.root);
            let sealed = forged.root.join("demo/sealed").join(task).join("sealed.json");
            edit(&sealed, r#""broken_percent": 25"#, r#""broken_percent": 99"#);
            fs::remove_file(forged.root.join("demo/suite.toml")).unwrap();
        },
        &[
            "suite.toml is not there: nothing says that the tasks beside it are those that were made",
            "is another than the one that was tried: its digest differs",
            "not verified: trial 1 (",
        ],
    ),
    (
        "what was left and what changed",
        |forged| {
            for name in ["snapshot.json.gz", "diff.json.gz"] {
                forged.exchange(forged.trial(2).join(name), forged.trial(7).join(name));
            }
        },
        &[
            "differs: trial 2 (",
            "snapshot.json.gz: it is not what the calls of the trace lead to",
            "diff.json.gz: it is not what the calls of the trace lead to",
            "differs: trial 7 (",
        ],
    ),
    (
        "times",
        |forged| fs::write(forged.trial(5).join("timing.json"), r#"{"wall":1,"world":1}"#).unwrap(),
        &["differs: trial 5 (", "timing.json: the times are not those that the ledger has"],
    ),
    (
        "a record that is taken away, with its folder left",
        |forged| {
            forged.sql(
                "update trial set state = 0, record = null, link = null where number = 10; delete from link where numbers = '10'",
            )
        },
        &["differs: trial 10 (", "trials/000010: the ledger has no record of this trial"],
    ),
];

#[test]
fn every_forging_is_named() {
    let place = Place::new("forged");
    let told = run(&place.0);
    let name = told["run"].as_str().unwrap();
    let forged = |what: &str, forge: &dyn Fn(&Forged)| {
        let root = place.0.join(format!("copy {what}"));
        for part in ["demo", "runs"] {
            copy(&place.0.join(part), &root.join(part));
        }
        let forged = Forged { run: root.join("runs").join(name), root };
        forge(&forged);
        forged
    };
    let head = told["head"].as_str().unwrap();
    let (code, clean) = forged("nothing", &|_| ()).verify(&["--head", head]);
    assert_eq!(code, Some(0), "{clean}");
    assert!(clean.contains("10 trials recorded: 10 judged again to the same verdict, 0 are errors"), "{clean}");
    assert!(clean.contains(&format!("10 links in the chain, head {head}")), "{clean}");
    for (what, forge, expected) in FORGINGS {
        let (code, text) = forged(what, forge).verify(&[]);
        assert_eq!(code, Some(1), "{what}: {text}");
        for part in *expected {
            assert!(text.contains(part), "{what}: {part} in\n{text}");
        }
    }
    // A chain that was cut at its end, or made again by who has the program, is known by a head from before, and by nothing else.
    let last = "number = (select cast(numbers as integer) from link where place = 10)";
    let cut = forged("the end", &|forged| {
        let ledger = Connection::open(forged.root.join("runs/ledger.sqlite")).unwrap();
        let number = ledger
            .query_row("select cast(numbers as integer) from link where place = 10", [], |row| row.get(0))
            .unwrap();
        forged.sql(&format!(
            "update trial set state = 0, record = null, link = null where {last}; delete from link where place = 10"
        ));
        fs::remove_dir_all(forged.trial(number)).unwrap();
    });
    let (code, text) = cut.verify(&[]);
    assert_eq!(code, Some(0), "9 trials were recorded, it says: {text}");
    let (code, text) = cut.verify(&["--head", head]);
    assert!(code == Some(1) && text.contains(&format!("the chain never had the head {head}")), "{text}");
    let again = forged("all", &|forged| {
        fs::remove_dir_all(forged.root.join("runs")).unwrap();
        run(&forged.root);
    });
    assert_eq!(again.verify(&[]).0, Some(0));
    let (code, text) = again.verify(&["--head", head]);
    assert!(code == Some(1) && text.contains(&format!("the chain never had the head {head}")), "{text}");
}

#[test]
fn what_cannot_be_judged_again_is_not_verified() {
    let place = Place::new("unsealed");
    run(&place.0);
    fs::remove_dir_all(place.0.join("demo/sealed").join(first_task(&place.0))).unwrap();
    let output = benchwright(&place.0).args(["report", "--verify", "--json"]).output().unwrap();
    let told: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &told["verified"], &told["differs"]), (Some(1), &8.into(), &Json::Array(vec![])));
    let open = told["not_verified"].as_array().unwrap();
    assert_eq!(open.iter().map(|trial| trial["trial"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 6], "{told}");
    assert!(open[0]["file"].as_str().unwrap().contains("sealed"), "{told}");
    // Without any tasks nothing is.
    fs::remove_dir_all(place.0.join("demo")).unwrap();
    let output = benchwright(&place.0).args(["report", "--verify", "--json"]).output().unwrap();
    let told: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["verified"], told["not_verified"].as_array().unwrap().len()), (&0.into(), 10));
}

/// `report` looks at what is cheap, and `run` adds nothing to records that were changed.
#[test]
fn damage_is_told_with_the_file_and_the_trial() {
    let place = Place::new("damage");
    let told = run(&place.0);
    let trials = place.0.join("runs").join(told["run"].as_str().unwrap()).join("trials");
    fs::remove_file(trials.join("000002/verdict.json")).unwrap();
    let output = benchwright(&place.0).arg("report").output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("trial 2: ") && text.contains("000002/verdict.json is not there"), "{text}");
    assert!(text.contains("benchwright report ") && text.contains("--verify"), "{text}");
    let ledger = Connection::open(place.0.join("runs/ledger.sqlite")).unwrap();
    ledger.execute_batch("update trial set record = '{}' where number = 3").unwrap();
    for line in [&["report"][..], &["run", "demo", "--agent", "idle", "--agent", "oracle"]] {
        let output = benchwright(&place.0).args(line).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        for part in [
            "ledger.sqlite",
            "trial 3: its row in the ledger was changed",
            "its record in the ledger cannot be read",
            "try:",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    // A lock that was taken away is no licence.
    fs::remove_file(place.0.join("demo/suite.toml")).unwrap();
    let snapshot = trials.join("000007/snapshot.json.gz");
    let task = Path::new("demo/open").join(first_task(&place.0));
    let mut run = benchwright(&place.0);
    run.args(["run", "demo", "--new", "--agent", "idle"]);
    let mut grade = benchwright(&place.0);
    grade.arg("grade").args([task, snapshot]);
    for mut line in [run, grade] {
        let output = line.output().unwrap();
        let text = said(&output);
        assert!(!output.status.success() && text.contains("suite.toml is not there"), "{line:?}: {text}");
    }
}

#[test]
fn one_bad_trial_is_a_line_in_the_report() {
    let place = Place::new("pages");
    let told = run(&place.0);
    let trials = place.0.join("runs").join(told["run"].as_str().unwrap()).join("trials");
    fs::write(trials.join("000002/trace.json"), "no trace").unwrap();
    let output = benchwright(&place.0).args(["report", "--html", "pages", "--details", "all"]).output().unwrap();
    let text = said(&output);
    assert!(text.contains("trial 2: ") && text.contains("000002/trace.json: this is not a trace"), "{text}");
    let pages: Vec<String> = fs::read_dir(place.0.join("pages/trials"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let wrong = pages.iter().filter(|page| page.contains("What is wrong with this record")).count();
    assert_eq!((pages.len(), wrong), (10, 1), "the others are made");
    let index = fs::read_to_string(place.0.join("pages/index.html")).unwrap();
    assert!(index.contains("1 record cannot be shown as recorded."));
    assert_eq!(index.matches("000002/trace.json: this is not a trace").count(), 1);
    assert!(index.contains(told["head"].as_str().unwrap()));
}

/// A few bytes that unpack to any number of others are read up to a limit, which is told with the file.
#[test]
fn threat_13_a_packed_state_has_a_limit() {
    let place = Place::new("bomb");
    assert!(benchwright(&place.0).args(["demo", "-o", "demo"]).output().unwrap().status.success());
    let bomb = packed(&vec![b' '; LARGEST_UNPACKED + 1]).unwrap();
    assert!(bomb.len() < 2 << 20, "{}", bomb.len());
    fs::write(place.0.join("bomb.json.gz"), bomb).unwrap();
    let task = Path::new("demo/open").join(first_task(&place.0));
    let output = benchwright(&place.0).arg("grade").arg(task).arg("bomb.json.gz").output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("bomb.json.gz unpacks to more than 268435456 bytes, which is its limit"), "{text}");
}

/// Posts a secret in three spellings, and as the name of a tool.
const SPELLS: &str = r#"
post res_partner_create "{\"vals_list\":[{\"name\":\"key $SOME_KEY\"}]}"
post res_partner_create "{\"vals_list\":[{\"name\":\"\\u0073k-canary-123456\"}]}"
post res_partner_create "{\"vals_list\":[{\"name\":\"\\u0073k-canary-123456"
post "$SOME_KEY" "{}"
"#;

/// Every byte under a folder, unpacked where it is packed.
fn bytes_under(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes_under(&path, all);
        } else if path.extension().is_some_and(|end| end == "gz") {
            all.push((path.clone(), read_packed(&path, LARGEST_UNPACKED).unwrap()));
        } else {
            all.push((path.clone(), fs::read(path).unwrap()));
        }
    }
}

/// A process that ends with the test, however that ends.
struct Stopped(std::process::Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Threat 12: what a program is handed in secret reaches neither the world nor anything that is kept of it, and the trial can still be
/// verified.
#[test]
fn threat_12_a_secret_that_is_used_as_an_argument_is_kept_nowhere() {
    let place = Place::new("secret");
    assert!(benchwright(&place.0).args(["demo", "-o", "demo"]).output().unwrap().status.success());
    // In a file, as the command itself is part of the record.
    fs::write(place.0.join("spells.sh"), format!("{POST}{SPELLS}")).unwrap();
    let program = format!("exec:bash {}", place.path("spells.sh"));
    let mut server = benchwright(&place.0);
    server
        .args(["serve", "demo", "--bind", "127.0.0.1:0"])
        .env("BENCHWRIGHT_CONTROL_TOKEN", "a-token-for-this-test-only-000000");
    let mut server = Stopped(server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.0.stdout.take().unwrap()), &mut first).unwrap();
    let url = serde_json::from_str::<Json>(&first).unwrap()["control"].as_str().unwrap().to_owned();
    for more in [&[][..], &["--server", &*url]] {
        let mut line = benchwright(&place.0);
        line.env("SOME_KEY", "sk-canary-123456").env("BENCHWRIGHT_CONTROL_TOKEN", "a-token-for-this-test-only-000000");
        line.args([
            "run",
            "demo",
            "--json",
            "--new",
            "--trust-agent",
            "--task",
            &first_task(&place.0),
            "--pass",
            "SOME_KEY",
        ]);
        let output = line.args(["--agent", &program]).args(more).output().unwrap();
        let told: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
        assert_eq!((&told["scored"], &told["errors"]), (&1.into(), &0.into()), "{}", said(&output));
        let output = benchwright(&place.0).args(["report", "--html", "pages", "--details", "all"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let mut all = Vec::new();
        ["runs", "pages"].iter().for_each(|folder| bytes_under(&place.0.join(folder), &mut all));
        for (path, bytes) in &all {
            let text = String::from_utf8_lossy(bytes);
            assert!(
                !text.contains("sk-canary-123456") && !text.contains("u0073k-canary"),
                "{}: {text}",
                path.display()
            );
        }
        let trial = place.0.join("runs").join(told["run"].as_str().unwrap()).join("trials/000001");
        let state = read_packed(&trial.join("snapshot.json.gz"), LARGEST_UNPACKED).unwrap();
        assert!(String::from_utf8_lossy(&state).contains("key [redacted]"), "it was written, without the secret");
        let output = benchwright(&place.0).args(["report", "--verify"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}
