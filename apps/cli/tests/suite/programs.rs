//! Agents that are programs outside, and what they could try: threats 3 and 17, and a server that dies under them.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::common::first_task;
use serde_json::Value as Json;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// A folder that other users can find, with the tasks that come with the program.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("benchwright-programs-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let made = benchwright(&folder).args(["demo", "-o", "demo"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(made.unwrap().success());
    folder
}

pub(crate) fn benchwright(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs a command line as an agent on one task.
pub(crate) fn run_program(folder: &Path, command: &str, more: &[&str]) -> Output {
    let mut line = benchwright(folder);
    line.args(["run", "demo", "--json", "--new", "--task", &first_task(folder)]);
    line.arg("--agent").arg(format!("exec:{command}")).args(more);
    line.output().unwrap()
}

pub(crate) fn told(output: &Output) -> Json {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
}

/// The folder of the only trial of a run.
pub(crate) fn trial(folder: &Path, told: &Json) -> PathBuf {
    folder.join("runs").join(told["run"].as_str().unwrap()).join("trials/000001")
}

pub(crate) fn document(path: PathBuf) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Posts arguments to a tool with nothing but bash.
pub(crate) const POST: &str = r#"
url=${BENCHWRIGHT_TOOLS_URL#http://}; place=${url%%/*}; path=/${url#*/}
post() {
    exec 3<>"/dev/tcp/${place%:*}/${place#*:}"
    printf 'POST %s/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
        "$path" "$1" "$place" "$BENCHWRIGHT_TOKEN" "${#2}" "$2" >&3
    cat <&3; exec 3>&-
}
"#;

pub(crate) fn in_bash(script: &str) -> String {
    format!("exec bash -c '{}'", format!("{POST}{script}").replace('\'', r"'\''"))
}

#[test]
fn a_program_is_given_its_episode_and_the_instruction_and_nothing_else() {
    let folder = folder("given");
    let script = r#"read -r first; echo "brief: $first"; ls -A | wc -l; env | cut -d= -f1 | sort | tr '\n' ' '
        post res_partner_search_read '{"limit":2}' | head -1; echo "token $BENCHWRIGHT_TOKEN"; echo "key $SOME_KEY""#;
    let mut line = benchwright(&folder);
    line.env("SOME_KEY", "sk-canary-123456").env("OTHER_KEY", "never-to-be-seen");
    line.args(["run", "demo", "--json", "--task", &first_task(&folder), "--pass", "SOME_KEY"]);
    line.arg("--agent").arg(format!("exec:{}", in_bash(script)));
    let output = line.output().unwrap();
    let told = told(&output);
    assert_eq!((&told["scored"], &told["errors"]), (&1.into(), &0.into()));
    let trial = trial(&folder, &told);
    let record = document(trial.join("trial.json"));
    assert_eq!(record["used"]["calls"], 1);
    assert_eq!(record.get("trusted"), None);
    let said = fs::read_to_string(trial.join("transcript.jsonl")).unwrap();
    let said: Json = serde_json::from_str(&said).unwrap();
    let lines: Vec<&str> = said["out"].as_str().unwrap().lines().collect();
    let open = folder.join("demo/open").join(first_task(&folder)).join("instruction.md");
    let instruction = fs::read_to_string(open).unwrap();
    assert_eq!(lines[0], format!("brief: {}", instruction.lines().next().unwrap()));
    assert_eq!(lines[1], "0", "its folder is empty");
    let names: Vec<&str> =
        lines[2].split_whitespace().filter(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name)).collect();
    let given = [
        "BENCHWRIGHT_MCP_URL",
        "BENCHWRIGHT_TOKEN",
        "BENCHWRIGHT_TOOLS_URL",
        "HOME",
        "LANG",
        "PATH",
        "SOME_KEY",
        "TMPDIR",
    ];
    assert_eq!(names[..given.len()], given, "{:?}", lines[2]);
    assert!(lines[2].contains("HTTP/1.1 200") || lines[3].contains("HTTP/1.1 200"), "{lines:?}");
    // What was secret is taken out of what is kept.
    assert!(!said.to_string().contains("sk-canary-123456"));
    assert!(lines.last().unwrap().starts_with("key ") && lines[lines.len() - 2].starts_with("token "));
    let token = lines[lines.len() - 2].strip_prefix("token ").unwrap();
    assert!(token.len() < 20, "{token}");
    fs::remove_dir_all(&folder).unwrap();
}

/// Threat 3: whatever a program writes, plants, links or leaves running changes no verdict, and what is sealed is out of its
/// reach.
#[test]
fn threat_03_a_verdict_cannot_be_forged() {
    let folder = folder("forged");
    let root = folder.display();
    let script = format!(
        r#"echo '{{"reward":1}}' > reward.json; echo 1 > reward.txt; echo '{{"ending":"pass","reward":1000000}}' > verdict.json
        ln -s {root}/runs trials; ln -s {root}/demo/sealed sealed; mkdir -p tests; echo 'def pytest_configure(c): pass' > tests/conftest.py
        for spot in {root}/runs {root}/runs/*/trials {root}/demo/sealed {root}/demo/open; do
            cat "$spot"/*/sealed.json "$spot"/*/verdict.json && echo "read $spot"
            echo forged > "$spot/forged" && echo "wrote $spot"
        done
        export -f post; export place path
        (setsid bash -c 'exec >/dev/null 2>&1 </dev/null; while :; do post res_partner_search_read "{{\"limit\":1}}"; sleep 0.01; done' &)
        (setsid sleep 987.25 &)
        sleep 0.3; echo 'reward: 1.0'; echo PASS; exit 0"#
    );
    let output = run_program(&folder, &in_bash(&script), &[]);
    let told = told(&output);
    assert_eq!((&told["scored"], &told["mean_reward"], &told["pass_at_1"]), (&1.into(), &0.0.into(), &0.0.into()));
    let trial = trial(&folder, &told);
    let verdict = document(trial.join("verdict.json"));
    assert_eq!((&verdict["ending"], &verdict["reward"]), (&"fail".into(), &0.0.into()));
    let said = fs::read_to_string(trial.join("transcript.jsonl")).unwrap();
    let said: Json = serde_json::from_str(&said).unwrap();
    let out = said["out"].as_str().unwrap();
    assert!(!out.contains("read ") && !out.contains("wrote "), "{out}");
    assert!(!said.to_string().contains("oracle"), "nothing sealed was printed");
    // It did call while it was there, so that what was left behind could have called too; and that is gone.
    assert_ne!(document(trial.join("trial.json"))["used"]["calls"], 0);
    assert_eq!(processes_with("987.25"), 0);
    let names: Vec<String> =
        fs::read_dir(&trial).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains("forged") || name.contains("reward")), "{names:?}");

    fs::remove_dir_all(&folder).unwrap();
}

/// How many processes have a word in their command line.
pub(crate) fn processes_with(word: &str) -> usize {
    let has = |path: &Path| {
        fs::read(path.join("cmdline"))
            .is_ok_and(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
    };
    fs::read_dir("/proc").unwrap().filter(|entry| entry.as_ref().is_ok_and(|entry| has(&entry.path()))).count()
}

#[test]
fn a_program_that_takes_too_long_is_stopped_and_graded() {
    let folder = folder("long");
    let begun = Instant::now();
    let output = run_program(&folder, "sleep 600", &["--seconds", "1"]);
    assert!(begun.elapsed() < Duration::from_secs(60));
    let told = told(&output);
    assert_eq!((&told["scored"], &told["errors"]), (&1.into(), &0.into()));
    assert_eq!(document(trial(&folder, &told).join("trial.json"))["end"]["scored"]["limit"], "time");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_command_that_is_not_there_is_found_out_before_anything_is_scored() {
    let folder = folder("missing");
    let output = run_program(&folder, "no-such-program-here", &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("no-such-program-here is not found inside") && error.contains("--see"), "{error}");
    assert!(!folder.join("runs").exists());
    fs::remove_dir_all(&folder).unwrap();
}

/// Line 5 of the attacks: who could make an error of its failures would choose which of its trials count.
#[test]
fn attack_05_however_a_program_ends_it_is_graded_and_reports_tell_how() {
    let folder = folder("fails");
    for ending in ["exit 126", "exit 127", "kill -9 $$", "kill -9 -1", "exit 3"] {
        let output = run_program(&folder, &format!("echo reading >&2; echo no module named agent >&2; {ending}"), &[]);
        let first = told(&output);
        assert_eq!(
            (&first["scored"], &first["errors"], &first["mean_reward"]),
            (&1.into(), &0.into(), &0.0.into()),
            "{ending}"
        );
        assert_eq!(output.status.code(), Some(0), "{ending}");
        let record = document(trial(&folder, &first).join("trial.json"));
        assert!(
            record["failed"].as_str().is_some_and(|failed| failed.contains("no module named agent")),
            "{ending}: {record}"
        );
    }
    let report = benchwright(&folder).args(["report", "--html", "pages"]).output().unwrap();
    let table = String::from_utf8(report.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains("1 trial is by programs that said that they had failed before their first call"), "{table}");
    let pages = fs::read_dir(folder.join("pages/trials")).unwrap().map(|entry| entry.unwrap().path());
    let page: Vec<String> = pages.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(page.len() == 1 && page[0].contains("no module named agent"), "{page:?}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_run_of_no_attempts_is_refused_with_the_next_step() {
    let folder = folder("none");
    let output = benchwright(&folder).args(["run", "demo", "--agent", "idle", "-k", "0"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("0 times") && error.contains("-k 1"), "{error}");
    assert!(!folder.join("runs").exists());
    fs::remove_dir_all(&folder).unwrap();
}

/// Threat 17: who does nothing earns nothing, and who calls at random or touches everything neither passes nor earns more
/// than a quarter. Here on the tasks that come with the program; a full suite's run shows the same on every task of it.
#[test]
fn threat_17_trivial_agents_earn_nothing_worth_having() {
    let folder = folder("trivial");
    let mut line = benchwright(&folder);
    line.args(["run", "demo", "--json", "-k", "3", "--agent", "idle", "--agent", "random", "--agent", "spam"]);
    let told = told(&line.output().unwrap());
    assert_eq!((&told["scored"], &told["errors"], &told["pass_at_1"]), (&45.into(), &0.into(), &0.0.into()));
    assert_eq!(told["agents"]["idle"]["highest_reward"], 0.0);
    for agent in ["random", "spam"] {
        let highest = told["agents"][agent]["highest_reward"].as_f64().unwrap();
        assert!(highest <= 0.25, "{agent} earned {highest}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A server of the folder's tasks at an address, without their sealed parts.
fn serve(folder: &Path, bind: &str) -> (Child, String) {
    let mut line = benchwright(folder);
    line.args(["serve", "demo", "--bind", bind]).env("BENCHWRIGHT_CONTROL_TOKEN", TOKEN);
    let mut child = line.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let told: Json = serde_json::from_str(&first).unwrap();
    (child, told["control"].as_str().unwrap().to_owned())
}

const TOKEN: &str = "a-control-token-for-this-test-only";

/// A run over a server that is killed several times under it: no trial is lost, none is recorded twice, none is scored by
/// half a state.
#[test]
fn a_server_that_dies_under_a_run_costs_no_trial() {
    let folder = folder("server");
    let (mut server, url) = serve(&folder, "127.0.0.1:0");
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let run = |folder: &Path| {
        let mut line = benchwright(folder);
        line.args(["run", "demo", "--json", "-k", "4", "--jobs", "2", "--server", &url]);
        line.args(["--agent", "oracle", "--agent", "random"]).env("BENCHWRIGHT_CONTROL_TOKEN", TOKEN);
        line.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut running = run(&folder);
    for _ in 0..4 {
        sleep(Duration::from_millis(400));
        server.kill().unwrap();
        server.wait().unwrap();
        sleep(Duration::from_millis(150));
        server = serve(&folder, &address).0;
    }
    running.wait().unwrap();
    // What was given up in the meantime is tried again.
    let output = run(&folder).wait_with_output().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let told = told(&output);
    assert_eq!((&told["planned"], &told["scored"], &told["errors"]), (&40.into(), &40.into(), &0.into()));
    assert_eq!(told["agents"]["oracle"]["pass_at_1"], 1.0);
    let trials = folder.join("runs").join(told["run"].as_str().unwrap()).join("trials");
    assert_eq!(fs::read_dir(trials).unwrap().count(), 40);
    fs::remove_dir_all(&folder).unwrap();
}
