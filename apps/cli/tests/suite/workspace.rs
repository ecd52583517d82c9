//! Tasks whose worlds have files, through the doors that are files: a workspace laid out, a folder graded, a program that leaves a folder,
//! and what somebody could leave in it who means harm. The world is a desk whose tools are stand-ins: what is handed in is kept as it is.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::{
    common::{Place, said},
    programs::{self, document, in_bash, processes_with, told, trial},
};
use serde_json::{Value as Json, json};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// A folder with one task of the desk.
struct Desk {
    place: Place,
    id: String,
    /// What is to be handed in as the form `runs`.
    plan: String,
}

fn benchwright(folder: &Path) -> Command {
    let desk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/testkit/desk");
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.current_dir(folder).stdin(Stdio::null());
    command.arg("--domains").arg(desk.join("domains")).arg("--patterns").arg(desk.join("patterns"));
    command
}

impl Desk {
    fn new(name: &str) -> Desk {
        let place = Place::new(&format!("desk-{name}"));
        fs::set_permissions(&place.0, fs::Permissions::from_mode(0o755)).unwrap();
        let made = benchwright(&place.0)
            .args(["new", "desk/hand-in", "--tier", "easy", "--seed", "1", "-o", "tasks"])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", said(&made));
        let open = fs::read_dir(place.0.join("tasks/open")).unwrap().next().unwrap().unwrap();
        let brief = fs::read_to_string(open.path().join("instruction.md")).unwrap();
        let words = ["red twice", "blue twice", "green twice"];
        let plan = words.into_iter().find(|plan| brief.contains(plan)).unwrap().to_owned();
        Desk { id: open.file_name().into_string().unwrap(), plan, place }
    }

    fn task(&self) -> String {
        format!("tasks/open/{}", self.id)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.0.join(name)
    }

    /// Writes a file, and the folders above it.
    fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Grades a folder.
    fn grade(&self, folder: &str) -> (Option<i32>, Json, String) {
        let line = ["grade", &self.task(), "--submission", folder, "--json"].map(str::to_owned);
        let output = benchwright(&self.place.0).args(line).output().unwrap();
        let told = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), told, String::from_utf8(output.stderr).unwrap())
    }

    /// Runs a script of bash as an agent.
    fn run(&self, script: &str, more: &[&str]) -> Output {
        let mut line = benchwright(&self.place.0);
        line.args(["run", "tasks", "--json", "--new", "--agent", &format!("exec:{}", in_bash(script))]).args(more);
        // What is laid out for programs lies here, and is gone with them.
        fs::create_dir_all(self.path("temporary")).unwrap();
        let output = line.env("TMPDIR", self.path("temporary")).output().unwrap();
        assert_eq!(fs::read_dir(self.path("temporary")).unwrap().count(), 0, "{}", said(&output));
        output
    }

    /// The record of the only trial of a run, what its program said, and its reward.
    fn trial(&self, output: &Output) -> (Json, Json, f64) {
        let told = told(output);
        assert_eq!((&told["scored"], &told["errors"]), (&1.into(), &0.into()), "{}", said(output));
        let trial = trial(&self.place.0, &told);
        let line = fs::read_to_string(trial.join("transcript.jsonl")).unwrap();
        let record = document(trial.join("trial.json"));
        (record, serde_json::from_str(&line).unwrap(), told["mean_reward"].as_f64().unwrap())
    }
}

/// What is told of a file that was not handed in.
fn why<'t>(told: &'t Json, file: &str) -> &'t str {
    let notes = told["submission"].as_array().unwrap_or_else(|| panic!("{told}"));
    let note = notes.iter().find(|note| note["file"] == file).unwrap_or_else(|| panic!("{file} in {notes:?}"));
    note["refused"].as_str().unwrap_or("handed in")
}

#[test]
fn the_workspace_of_a_task_is_written_into_an_empty_folder() {
    let desk = Desk::new("show");
    let show =
        |folder: &str| benchwright(&desk.place.0).args(["show", &desk.task(), "--files", folder]).output().unwrap();
    let shown = show("work");
    assert!(shown.status.success() && said(&shown).contains("3 files"), "{}", said(&shown));
    let mut names: Vec<String> = fs::read_dir(desk.path("work"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["brief.md", "data", "submission"], "nothing of a later stage");
    assert_eq!(fs::read(desk.path("work/data/demand.xlsx")).unwrap(), [b'P', b'K', 3, 4, 0xff]);
    assert!(fs::read_to_string(desk.path("work/data/items.csv")).unwrap().starts_with("item,batch\nred,10"));
    let brief = fs::read(desk.path("tasks/open").join(&desk.id).join("instruction.md")).unwrap();
    assert_eq!(fs::read(desk.path("work/brief.md")).unwrap(), brief);
    assert_eq!(fs::read_dir(desk.path("work/submission")).unwrap().count(), 0);
    // What is there stays.
    fs::create_dir(desk.path("empty")).unwrap();
    assert!(show("empty").status.success());
    let again = show("work");
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("holds something"), "{}", said(&again));
    // A task of records has none.
    let demo = programs::benchwright(&desk.place.0).args(["demo", "-o", "demo"]).output().unwrap();
    assert!(demo.status.success(), "{}", said(&demo));
    let first = crate::common::first_task(&desk.place.0);
    let task = format!("demo/open/{first}");
    let none = programs::benchwright(&desk.place.0).args(["show", &task, "--files", "none"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(said(&none).contains("has no files") && !desk.path("none").exists(), "{}", said(&none));
}

#[test]
fn a_folder_is_handed_in_and_graded() {
    let desk = Desk::new("grade");
    desk.file("good/runs.csv", &desk.plan);
    let (code, told, errors) = desk.grade("good");
    assert_eq!((code, &told["ending"]), (Some(0), &json!("pass")), "{told} {errors}");
    assert_eq!(told["submission"], json!([{ "file": "runs.csv" }]));
    // Another plan is another verdict; a form that nobody asked for is one too.
    desk.file("wrong/runs.csv", "red once");
    assert_eq!(desk.grade("wrong").0, Some(1));
    desk.file("more/runs.csv", &desk.plan);
    desk.file("more/overtime.json", r#"[{"item":"red","batches":2}]"#);
    let (code, told, _) = desk.grade("more");
    assert_eq!((code, why(&told, "overtime.json")), (Some(1), "handed in"));
    // What a form refuses is told as the tool said it, and the rest counts.
    desk.file("good/nope.csv", "x");
    desk.file("good/overtime.json", r#"[{"item":"red","batches":"2e0"}]"#);
    let (code, told, errors) = desk.grade("good");
    assert_eq!(code, Some(0), "{errors}");
    assert!(why(&told, "nope.csv").contains("There are two forms"), "{told}");
    assert!(why(&told, "overtime.json").contains("batches"), "{told}");
    assert!(errors.contains("nope.csv is not handed in") && errors.contains("overtime.json is not"), "{errors}");
    // A folder for the first stage is the same; that there is no second in this world is told.
    desk.file("stages/stage-1/runs.csv", &desk.plan);
    desk.file("stages/stage-2/runs.csv", "later");
    let (code, told, _) = desk.grade("stages");
    assert_eq!((code, why(&told, "stage-1/runs.csv")), (Some(0), "handed in"));
    assert!(why(&told, "stage-2").contains("stage_next"), "{told}");
    // An empty folder is nothing; one that is not there, or a link to one, is no folder.
    fs::create_dir(desk.path("empty")).unwrap();
    assert_eq!(desk.grade("empty").0, Some(1));
    symlink(desk.path("good"), desk.path("link")).unwrap();
    for none in ["none", "link", "good/runs.csv"] {
        let (code, _, errors) = desk.grade(none);
        assert!(code == Some(2) && errors.contains(none) && errors.contains("try:"), "{none}: {errors}");
    }
    let both = ["grade", &desk.task(), "x.json", "--submission", "good"].map(str::to_owned);
    assert_eq!(benchwright(&desk.place.0).args(both).output().unwrap().status.code(), Some(2));
}

#[test]
fn what_is_no_plain_file_of_a_form_is_told_by_name_and_not_read() {
    let desk = Desk::new("hostile");
    desk.file("left/runs.csv", &desk.plan);
    desk.file("secret.csv", "secret");
    symlink(desk.path("secret.csv"), desk.path("left/overtime.csv")).unwrap();
    symlink("/dev/zero", desk.path("left/zero.csv")).unwrap();
    desk.file("left/folder/overtime.csv", "x");
    desk.file("left/large.csv", vec![b'x'; 3 << 20]);
    desk.file("left/..x.csv", "x");
    assert!(Command::new("mkfifo").arg(desk.path("left/pipe.csv")).status().unwrap().success());
    let (code, told, errors) = desk.grade("left");
    assert_eq!(code, Some(0), "{errors}");
    for (file, word) in [
        ("overtime.csv", "a link"),
        ("zero.csv", "a link"),
        ("folder", "a folder"),
        ("large.csv", "2097152 bytes"),
        ("pipe.csv", "a pipe"),
        ("..x.csv", "name"),
    ] {
        assert!(why(&told, file).contains(word), "{file}: {told}");
    }
    assert!(!told.to_string().contains("secret"), "{told}");
    for number in 0..14 {
        desk.file(&format!("left/form_{number}.csv"), "x");
    }
    let (code, told, _) = desk.grade("left");
    assert_eq!(code, Some(1), "of twenty-one none is read");
    assert!(why(&told, ".").contains("more than 20"), "{told}");
}

/// The whole way of a program that knows nothing but its folder.
const PLANS: &str = r#"plan=$(grep -o "[a-z]* twice" brief.md | head -1)"#;

#[test]
fn a_program_finds_its_files_and_what_it_leaves_is_handed_in() {
    let desk = Desk::new("run");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        r#"read -r first; echo "stdin $first"; find . -type f | sort | tr '\n' ' '; echo; od -An -tx1 data/demand.xlsx
        touch data/items.csv 2>/dev/null || echo kept; rm -f brief.md 2>/dev/null || echo kept; echo x > data/new 2>/dev/null || echo kept
        mv submission other 2>/dev/null || echo stays; rmdir submission 2>/dev/null || echo stays
        (exec 4<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached
        url=${{BENCHWRIGHT_FILES_URL#http://}}; exec 3<>"/dev/tcp/${{place%:*}}/${{place#*:}}"
        printf 'GET /%s/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "${{url#*/}}" data/items.csv "$place" "$BENCHWRIGHT_TOKEN" >&3
        grep -a red <&3; exec 3>&-
        {PLANS}; printf %s "$plan" > submission/runs.csv; echo wrote; exit 7"#
    );
    let output = desk.run(&script, &[]);
    let (record, line, reward) = desk.trial(&output);
    let out = line["out"].as_str().unwrap();
    assert!(out.contains("stdin # Your desk"), "the instruction is whole: {out}");
    assert!(out.contains("./brief.md ./data/demand.xlsx ./data/items.csv \n 50 4b 03 04 ff"), "{out} {line}");
    assert_eq!((out.matches("kept").count(), out.matches("stays").count()), (3, 2), "{out}");
    assert!(!out.contains("reached") && out.contains("red,10"), "{out}");
    assert_eq!((reward, &line["code"]), (1.0, &json!(7)), "how it ends decides nothing: {line}");
    assert_eq!(line["submission"], json!([{ "file": "runs.csv" }]));
    assert_eq!(record["used"]["calls"], 1);
    // It is a call of the trace, so that the verdict can be reached again.
    let verified = benchwright(&desk.place.0).args(["report", "--verify", "--tasks", "tasks"]).output().unwrap();
    assert!(verified.status.success(), "{}", said(&verified));
}

#[test]
fn threat_18_what_is_left_to_be_handed_in_is_read_with_care() {
    let desk = Desk::new("attack");
    let script = format!(
        r#"{PLANS}; printf %s "$plan" > submission/runs.csv
        ln -s /etc/passwd submission/overtime.csv; mkfifo submission/pipe.csv; mkdir submission/folder
        head -c 3145728 /dev/zero > submission/large.csv; ln data/items.csv submission/hard.csv; mknod submission/zero.csv c 1 5
        printf '../x' > 'submission/..x.csv'
        (setsid bash -c 'exec >/dev/null 2>&1 </dev/null; sleep 0.2; while :; do printf late > submission/runs.csv; printf late > submission/late.csv; done; : 985.25' 985.25 &)
        chmod 000 submission; exit 0"#
    );
    let output = desk.run(&script, &[]);
    let (record, line, reward) = desk.trial(&output);
    assert_eq!((reward, &record["used"]["calls"]), (1.0, &json!(1)), "{line}");
    for (file, word) in [
        ("runs.csv", "handed in"),
        ("overtime.csv", "a link"),
        ("pipe.csv", "a pipe"),
        ("folder", "a folder"),
        ("large.csv", "2097152 bytes"),
        ("..x.csv", "name"),
    ] {
        assert!(why(&line, file).contains(word), "{file}: {line}");
    }
    let names = line["submission"].to_string();
    assert!(!names.contains("late") && !names.contains("hard") && !names.contains("root:"), "{line}");
    assert_eq!(processes_with("985.25"), 0);
    // Of too many nothing is read, and that is told and graded, not an error.
    let many = r#"for i in $(seq 0 20); do echo x > submission/form_$i.csv; done"#;
    let (_, line, reward) = desk.trial(&desk.run(many, &[]));
    assert_eq!(reward, 0.0);
    assert!(why(&line, ".").contains("more than 20"), "{line}");
    // A folder that is full takes no more, and a secret that was passed stands in no note.
    let secret = r#"head -c 99999999 /dev/zero > submission/a.csv; rm submission/a.csv; printf x > "submission/$KEY.csv"; printf x > submission/sk_canary.csv"#;
    let mut line = benchwright(&desk.place.0);
    line.env("KEY", "sk_canary").args(["run", "tasks", "--json", "--new", "--pass", "KEY"]);
    let output = line.arg("--agent").arg(format!("exec:{}", in_bash(secret))).output().unwrap();
    let (_, line, _) = desk.trial(&output);
    assert!(!line.to_string().contains("sk_canary"), "{line}");
}

#[test]
fn who_hands_in_by_a_tool_is_taken_by_that_word() {
    let desk = Desk::new("tool");
    let script = format!(
        r#"{PLANS}; post form_submit "{{\"form\":\"runs\",\"csv\":\"$plan\"}}" | head -1; printf 'another plan' > submission/overtime.csv"#
    );
    let (record, line, reward) = desk.trial(&desk.run(&script, &[]));
    assert_eq!((reward, &record["used"]["calls"]), (1.0, &json!(1)), "{line}");
    assert_eq!(line.get("submission"), None, "{line}");
    // One that was refused is none: then the folder counts.
    let script =
        format!(r#"{PLANS}; post form_submit '{{"form":"nope"}}' | head -1; printf %s "$plan" > submission/runs.csv"#);
    let (record, line, reward) = desk.trial(&desk.run(&script, &[]));
    assert_eq!((reward, &record["used"]["calls"], &record["used"]["refused"]), (1.0, &json!(2), &json!(1)), "{line}");
    // So it is for who leaves nothing, and for who takes too long.
    let (_, line, reward) = desk.trial(&desk.run("true", &[]));
    assert_eq!((reward, line.get("submission")), (0.0, None));
    let script = format!(r#"{PLANS}; printf %s "$plan" > submission/runs.csv; sleep 600"#);
    let (record, line, reward) = desk.trial(&desk.run(&script, &["--seconds", "3"]));
    assert_eq!((reward, &record["end"]["scored"]["limit"]), (1.0, &json!("time")), "{line}");
}

#[test]
fn a_trusted_program_has_the_same_folder() {
    let desk = Desk::new("trusted");
    let script = format!(
        r#"ls -d brief.md data submission; cat data/items.csv; [ -w brief.md ] && [ "$(id -u)" != 0 ] && echo writable
        {PLANS}; mkdir out; printf %s "$plan" > out/runs.csv; ln -s /etc/passwd out/overtime.csv; rmdir submission; mv out submission"#
    );
    let (record, line, reward) = desk.trial(&desk.run(&script, &["--trust-agent"]));
    assert_eq!((reward, &record["trusted"]), (1.0, &json!(true)), "{line}");
    assert!(line["out"].as_str().unwrap().contains("red,10") && !line["out"].as_str().unwrap().contains("writable"));
    assert!(why(&line, "overtime.csv").contains("a link"), "{line}");
    // One that puts a link into its place hands in nothing.
    let script = r#"rmdir submission; ln -s /etc submission"#;
    let (_, line, reward) = desk.trial(&desk.run(script, &["--trust-agent"]));
    assert_eq!(reward, 0.0);
    assert!(!why(&line, ".").is_empty() && !line.to_string().contains("passwd"), "{line}");
}

/// A server that goes with the test, and the first line that it printed.
struct Served(Child, Json);

impl Served {
    fn start(mut line: Command) -> Served {
        let mut child = line.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        Served(child, serde_json::from_str(&first).unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn files_come_from_a_server_elsewhere_and_what_is_too_large_for_it_is_refused() {
    const TOKEN: &str = "a-control-token-for-this-test-only";
    let desk = Desk::new("elsewhere");
    let mut line = benchwright(&desk.place.0);
    line.args(["serve", "tasks", "--bind", "127.0.0.1:0"]).env("BENCHWRIGHT_CONTROL_TOKEN", TOKEN);
    let server = Served::start(line);
    let script = format!(
        r#"{PLANS}; printf %s "$plan" > submission/runs.csv; head -c 1500000 /dev/zero | tr '\0' x > submission/overtime.csv"#
    );
    let mut line = benchwright(&desk.place.0);
    line.args(["run", "tasks", "--json", "--server", server.1["control"].as_str().unwrap()]);
    line.env("BENCHWRIGHT_CONTROL_TOKEN", TOKEN).arg("--agent").arg(format!("exec:{}", in_bash(&script)));
    let (record, line, reward) = desk.trial(&line.output().unwrap());
    assert_eq!((reward, &record["used"]["calls"]), (1.0, &json!(1)), "{line}");
    assert!(why(&line, "overtime.csv").contains("1048576 bytes"), "{line}");
}

#[test]
fn an_agent_with_a_machine_of_its_own_gets_files_without_a_token() {
    let desk = Desk::new("one");
    let mut line = benchwright(&desk.place.0);
    line.args(["serve", "--one", &desk.task(), "--bind", "127.0.0.1:0", "--socket", "control/socket"]);
    let world = Served::start(line);
    let base = world.1["tools"].as_str().unwrap().strip_suffix("/tools").unwrap().to_owned();
    let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().new_agent();
    let get = |path: &str| {
        let mut answer = agent.get(format!("{base}/{path}")).call().unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_vec().unwrap())
    };
    let (status, listed) = get("files");
    let listed: Json = serde_json::from_slice(&listed).unwrap();
    assert_eq!((status, listed["files"].as_array().map(Vec::len)), (200, Some(2)));
    assert_eq!(get("files/data/demand.xlsx"), (200, vec![b'P', b'K', 3, 4, 0xff]));
    assert_eq!(get("files/notes/later.md").0, 404);
    let described: Json = serde_json::from_slice(&get("openapi.json").1).unwrap();
    assert!(described["paths"]["/files/{path}"].is_object());
}
