//! Runs the program and compares exit code, stdout and stderr with files in `expected/`; `BENCHWRIGHT_UPDATE=1` writes
//! them anew.

use crate::common::Place;
use rusqlite::Connection;
use serde_json::Value as Json;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The folder of the tests.
fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A run of the program.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program in a folder with lines for its stdin. The domains are those of the tests.
fn run_in(folder: &Path, line: &[&str], stdin: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_benchwright"))
        .args(line)
        .current_dir(folder)
        .env("BENCHWRIGHT_DOMAINS", tests().join("domains"))
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that wants no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(line: &[&str]) -> Run {
    run_in(&tests(), line, "")
}

/// Compares runs of the program in a folder with a file.
fn expect_in(folder: &Path, file: &str, lines: &[&[&str]]) {
    let mut found = String::new();
    for line in lines {
        let Run { code, stdout, stderr } = run_in(folder, line, "");
        found.push_str(&format!("$ {}\nexit code {code}\n", [&["benchwright"], *line].concat().join(" ")));
        found.push_str(&format!("--- stdout\n{stdout}--- stderr\n{stderr}---\n\n"));
    }
    // What differs from machine to machine.
    let found = found.replace(&*tests().to_string_lossy(), "[tests]").replace(&*folder.to_string_lossy(), "[folder]");
    let file = tests().join("expected").join(file);
    if std::env::var_os("BENCHWRIGHT_UPDATE").is_some() {
        return fs::write(file, found).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, expected, "{} differs; BENCHWRIGHT_UPDATE=1 rewrites it", file.display());
}

fn expect(file: &str, lines: &[&[&str]]) {
    expect_in(&tests(), file, lines);
}

#[test]
fn help_is_the_manual() {
    let commands = [
        "demo", "doctor", "domains", "patterns", "new", "build", "audit", "tasks", "show", "play", "serve", "run",
        "runs", "report", "compare", "power", "grade", "export", "bench",
    ];
    let mut lines: Vec<Vec<&str>> = vec![vec!["--help"]];
    lines.extend(["sqlite", "parquet"].map(|form| vec!["export", form, "--help"]));
    lines.extend(commands.map(|command| vec![command, "--help"]));
    expect("help.out", &lines.iter().map(|line| &line[..]).collect::<Vec<_>>());
}

/// An argument of a command that has the name of a global one hides it, and the program panics once it is given.
#[test]
fn every_command_takes_the_global_arguments() {
    let commands = |line: &[&str]| -> Vec<String> {
        let help = run(&[line, &["--help"]].concat()).stdout;
        let told = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
        let told = told.lines().take_while(|line| !line.is_empty());
        told.filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    };
    let mut lines: Vec<Vec<String>> = commands(&[]).into_iter().map(|name| vec![name]).collect();
    for first in lines.clone() {
        lines.extend(commands(&[&first[0]]).into_iter().map(|second| vec![first[0].clone(), second]));
    }
    assert!(lines.len() > 25, "{lines:?}");
    for line in lines {
        let mut line: Vec<&str> = line.iter().map(String::as_str).collect();
        line.push("--help");
        let help = run(&line).stdout;
        for global in ["--domains <DIR>", "--log <FORM>", "--patterns <DIR>"] {
            assert!(help.contains(global), "{line:?} does not take {global}");
        }
    }
}

#[test]
fn domains_are_listed_and_each_has_a_page() {
    expect(
        "domains.out",
        &[
            &["domains"],
            &["domains", "--json"],
            &["domains", "shop"],
            &["domains", "./domains/shop", "--json"],
            &["domains", "shop", "--tool", "change_order"],
            &["domains", "shop", "--tokens"],
            &["domains", "--tokens", "--json"],
            &["domains", "shop", "--markdown"],
            &["domains", "shop", "--sample", "5"],
            &["domains", "shop", "--sample", "2", "--seed", "2", "--json"],
        ],
    );
}

#[test]
fn sizes_tell_rows_and_bytes_and_that_the_bytes_are_the_same_again() {
    let run = run(&["domains", "--sizes", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let sizes: Vec<Json> = serde_json::from_str(&run.stdout).unwrap();
    assert!(sizes.len() >= 2);
    for size in &sizes {
        let tables = size["tables"].as_object().unwrap();
        let rows: u64 = tables.values().map(|rows| rows.as_u64().unwrap()).sum();
        assert_eq!(size["rows"], rows, "{size}");
        assert_eq!(size["same_again"], true, "{size}");
    }
    assert!(sizes[0]["bytes"].as_u64() < sizes[1]["bytes"].as_u64());
}

#[test]
fn wrong_use_ends_with_2_and_names_the_next_command() {
    let lines: &[&[&str]] = &[
        &[],
        &["domain"],
        &["domains", "shp"],
        &["domains", "warehouse"],
        &["domains", "./nowhere"],
        &["domains", "--tool", "get_order"],
        &["domains", "shop", "--tool", "get_ordr"],
        &["domains", "--sample", "3"],
        &["domains", "shop", "--size", "small"],
        &["domains", "shop", "--sample", "3", "--size", "huge"],
        &["--domains", "nowhere", "domains"],
        &["play"],
        &["play", "shop", "--role", "king"],
        &["play", "shop", "--person", "99"],
        &["play", "shop", "--size", "huge"],
        &["play", "shop", "--seed", "one"],
        &["play", "shop", "--script", "nowhere.txt"],
        &["play", "nowhere.json"],
        &["export", "sqlite", "shop"],
        &["bench", "nothing"],
    ];
    for line in lines {
        let run = run(line);
        assert_eq!(run.code, 2, "{line:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{line:?}");
        assert!(run.stderr.contains("try") || run.stderr.contains("Usage"), "{line:?}: {}", run.stderr);
    }
    expect("wrong_use.out", lines);
}

#[test]
fn a_faulty_folder_is_told_with_all_its_faults() {
    expect(
        "faulty.out",
        &[
            &["domains", "./faulty/broken"],
            &["domains", "./faulty/broken", "--json"],
            &["--domains", "faulty", "domains", "--json"],
            &["play", "./faulty/broken"],
        ],
    );
}

#[test]
fn a_faulty_domain_does_not_hide_the_others() {
    let place = Place::new("beside");
    for (from, name) in [("domains", "shop"), ("faulty", "broken")] {
        copy(&tests().join(from).join(name), &place.0.join(name));
    }
    let run = run(&["--domains", &place.0.to_string_lossy(), "domains"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("shop") && !run.stdout.contains("broken"), "{}", run.stdout);
    assert!(run.stderr.contains("tables.toml:5"), "{}", run.stderr);
}

#[test]
fn a_session_goes_from_the_first_screen_to_a_saved_state() {
    let place = Place::new("session");
    fs::copy(tests().join("sessions/shop.txt"), place.0.join("shop.txt")).unwrap();
    expect_in(&place.0, "session.out", &[&["play", "shop", "--script", "shop.txt"]]);
    // The saved state is a world of its own: the order that was placed is in it.
    let again = run_in(&place.0, &["play", "saved.json"], "count_orders\nget_order id=8\ndiff\n");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.starts_with("A shop that sells by post (shop, from saved.json)"), "{}", again.stdout);
    assert!(again.stdout.contains("nothing changed"));
    let with_size = run_in(&place.0, &["play", "saved.json", "--size", "small"], "");
    assert_eq!(with_size.code, 2);
    let elsewhere = run_in(&place.0, &["--domains", ".", "play", "saved.json"], "");
    assert_eq!(elsewhere.code, 2);
    assert!(elsewhere.stderr.contains("--domains DIR"), "{}", elsewhere.stderr);
}

#[test]
fn who_plays_decides_what_is_seen_and_done() {
    let lines = "find_people\nlist_products limit=1\nplace_order customer=2\n";
    let guest = run_in(&tests(), &["play", "shop", "--role", "guest"], lines);
    assert_eq!(guest.code, 0);
    assert!(guest.stdout.contains("refused forbidden"), "{}", guest.stdout);
    assert!(guest.stdout.contains("P001"), "{}", guest.stdout);
    let clerk =
        run_in(&tests(), &["play", "shop", "--role", "clerk", "--person", "3"], "whoami\nfind_people limit=3\n");
    assert!(clerk.stdout.contains("(person 3), in the role clerk"), "{}", clerk.stdout);
    // The pins are secret from all but admins.
    assert!(!clerk.stdout.contains(" pin"), "{}", clerk.stdout);
}

#[test]
fn the_same_seed_is_the_same_world_and_another_is_another() {
    let place = Place::new("seeds");
    let snapshot = |name: &str, more: &[&str]| {
        let line = [&["export", "snapshot", "shop", "-o", name], more].concat();
        let run = run_in(&place.0, &line, "");
        assert_eq!((run.code, &*run.stdout), (0, ""), "{}", run.stderr);
        fs::read(place.0.join(name)).unwrap()
    };
    let first = snapshot("a.json", &[]);
    assert_eq!(first, snapshot("b.json", &["--size", "small", "--seed", "1"]));
    assert_ne!(first, snapshot("c.json", &["--seed", "2"]));
    assert!(first.len() < snapshot("d.json", &["--size", "large"]).len());
    let again = run_in(&place.0, &["export", "snapshot", "shop", "-o", "a.json"], "");
    assert_eq!(again.code, 2);
    assert_eq!(fs::read(place.0.join("a.json")).unwrap(), first);
}

#[test]
fn a_world_exported_to_sqlite_reads_back() {
    let place = Place::new("sqlite");
    let line = ["export", "sqlite", "shop", "-o", "shop.sqlite"];
    expect_in(&place.0, "export.out", &[&line, &line, &["export", "sqlite", "shop", "-o", "no/such/folder.sqlite"]]);
    let file = Connection::open(place.0.join("shop.sqlite")).unwrap();
    let number = |query: &str| -> i64 { file.query_row(query, [], |row| row.get(0)).unwrap() };
    assert_eq!(number("SELECT count(*) FROM person"), 7);
    assert_eq!(number("SELECT count(*) FROM product WHERE price % 50 = 0 AND price BETWEEN 100 AND 4000"), 5);
    let joined = "SELECT count(*) FROM \"order\" JOIN person ON person.id = customer WHERE person.active = 1";
    assert_eq!(number(joined), number("SELECT count(*) FROM \"order\""));
    // The way over a snapshot leads to the same bytes.
    assert_eq!(run_in(&place.0, &["export", "snapshot", "shop", "-o", "shop.json"], "").code, 0);
    assert_eq!(run_in(&place.0, &["export", "sqlite", "shop.json", "-o", "again.sqlite"], "").code, 0);
    let bytes = |name: &str| fs::read(place.0.join(name)).unwrap();
    assert_eq!(bytes("shop.sqlite"), bytes("again.sqlite"));
}

#[test]
fn the_doctor_names_what_is_missing_and_the_mend() {
    let ill = run(&["doctor", "--json"]);
    let json: Json = serde_json::from_str(&ill.stdout).unwrap();
    assert_eq!((ill.code, &json["ok"]), (3, &Json::Bool(false)), "{}", ill.stdout);
    let checks = json["checks"].as_array().unwrap();
    for check in checks {
        let keys: Vec<&str> = check.as_object().unwrap().keys().map(|key| &**key).collect();
        assert_eq!(keys, ["name", "ok", "needed", "detail", "mend"]);
        assert_eq!(check["ok"] == false, check["mend"].is_string(), "{check}");
    }
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    let wanted = "benchwright, domain shop, native tools of shop, temporary folder, sqlite, solver, bubblewrap, podman, terminal";
    assert_eq!(names.join(", "), wanted);
    assert_eq!(checks[2]["ok"], false);
    assert!(ill.stderr.contains("benchwright doctor"), "{}", ill.stderr);

    let place = Place::new("doctor");
    library(&place);
    let well = run(&["--domains", &place.0.to_string_lossy(), "doctor"]);
    assert_eq!(well.code, 0, "{}{}", well.stdout, well.stderr);
    assert!(well.stdout.contains("ok       domain library"), "{}", well.stdout);

    let empty = Place::new("nothing");
    let none = run(&["--domains", &empty.0.to_string_lossy(), "doctor"]);
    assert_eq!(none.code, 3);
    assert!(none.stdout.contains("mend: "), "{}", none.stdout);
    assert_eq!(run(&["--domains", &empty.0.to_string_lossy(), "domains"]).code, 3);
}

/// Writes a domain that nobody has seen before.
fn library(place: &Place) {
    let about =
        "name = \"library\"\ntitle = \"A library\"\nrole = \"librarian\"\nabout = \"Books and who has them.\"\n";
    place.folder(
        "library",
        &[
            ("domain.toml", about),
            ("tables.toml", "[reader]\nname = \"text\"\n\n[book]\ntitle = \"text\"\nlent_to = \"-> reader?\"\n"),
            ("tools.toml", "list_books = \"list book\"\nlend_book = \"update book set lent_to\"\n"),
            ("policy.toml", "[access]\nadmin = [\"any on *\"]\n"),
            (
                "seed.toml",
                "[[rows]]\ntable = \"reader\"\ncount = 2\nname = \"text Reader {#}\"\n\n\
                 [[rows]]\ntable = \"book\"\ncount = 3\ntitle = \"text Volume {#}\"\n",
            ),
        ],
    );
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_domain_is_one_folder() {
    let place = Place::new("folder");
    let folder = place.0.to_string_lossy().into_owned();
    copy(&tests().join("domains/shop"), &place.0.join("shop"));
    let names = || -> Vec<String> {
        let run = run(&["--domains", &folder, "domains", "--json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let list: Json = serde_json::from_str(&run.stdout).unwrap();
        list.as_array().unwrap().iter().map(|domain| domain["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(), ["shop"]);
    // Nothing but the folder is written, and nothing is built.
    library(&place);
    assert_eq!(names(), ["library", "shop"]);
    let lines = "list_books\nlend_book id=2 lent_to=1\nlend_book id=2 lent_to=7\n";
    for path in [vec!["--domains", &folder, "play", "library"], vec!["play", "./library"]] {
        let run = run_in(&place.0, &path, lines);
        assert_eq!((run.code, &*run.stderr), (0, ""), "{path:?}");
        assert!(
            run.stdout.starts_with("A library (library, small, seed 1): 5 rows in 2 tables, 2 tools"),
            "{}",
            run.stdout
        );
        for part in ["Volume 3", "~ book 2 lent_to: null -> 1", "refused "] {
            assert!(run.stdout.contains(part), "{part} in {}", run.stdout);
        }
    }
}

#[test]
fn a_domain_without_a_seed_is_played_empty() {
    let place = Place::new("empty");
    library(&place);
    fs::remove_file(place.0.join("library/seed.toml")).unwrap();
    let played = run_in(&place.0, &["play", "./library"], "list_books\n");
    assert_eq!(played.code, 0);
    assert!(played.stdout.contains("0 rows"), "{}", played.stdout);
    assert!(played.stderr.contains("no seed.toml"), "{}", played.stderr);
    let sized = run_in(&place.0, &["play", "./library", "--size", "small"], "");
    assert_eq!(sized.code, 3);
}
