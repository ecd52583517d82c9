//! A contest from the commitment to the proof, as an organiser and those who doubt him run it. Grids, because they are quickly made.

use crate::common::Place;
use benchwright_pack::{
    Commitment, Key, Opening, Revealed, Split, Store, Suite,
    commitment::{CommitmentHead, OpenedTask},
    store,
};
use serde_json::Value as Json;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the program. The exit code must be this one; stdout and stderr are given.
fn run(line: &[&str], code: i32) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchwright"));
    command.args(line).current_dir(root()).env_remove("BENCHWRIGHT_DOMAINS").stdin(Stdio::null());
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(code), "{line:?}\n{out}\n{err}");
    (out, err)
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A committed suite of three grids of one kind and two of another, built.
struct Contest {
    place: Place,
    commitment: Commitment,
    suite: Suite,
}

impl Contest {
    fn new(name: &str) -> Contest {
        let place = Place::new(name);
        let mut like: Option<Suite> = None;
        for (tier, count) in [("h01-b00", "3"), ("h03-b00", "2")] {
            let out = place.path(tier);
            run(&["new", "grid/travel", "--tier", tier, "--seed", "1", "--count", count, "-o", &out], 0);
            let more = Store::at(out).suite().unwrap();
            match &mut like {
                Some(like) => like.tasks.extend(more.tasks),
                none => *none = Some(more),
            }
        }
        store::write_suite(Path::new(&place.path("like.toml")), &like.unwrap()).unwrap();
        let contest = Contest::commit(&place, "like.toml", "key", "contest");
        run(&["build", &place.path("contest/secret/suite.toml"), "-o", &place.path("tasks")], 0);
        Contest { place, commitment: contest.0, suite: contest.1 }
    }

    fn commit(place: &Place, like: &str, key: &str, to: &str) -> (Commitment, Suite) {
        let (key, to) = (place.path(key), place.path(to));
        let (out, err) = run(&["commit", &place.path(like), "--key", &key, "-o", &to], 0);
        let commitment = Commitment::read(Path::new(&format!("{to}/commitment.json"))).unwrap();
        assert!(out.ends_with(&format!("root {}\n", commitment.root)), "{out}");
        let hex = Key::new(&fs::read(&key).unwrap()).unwrap().to_hex();
        assert!(!format!("{out}{err}").contains(&hex), "the key is shown");
        (commitment, store::read_suite(Path::new(&format!("{to}/secret/suite.toml"))).unwrap())
    }

    /// Opens it.
    fn opening(&self) -> Opening {
        let file = self.place.path("opening.json");
        run(&["reveal", &self.place.path("contest"), "--key", &self.place.path("key"), "-o", &file], 0);
        match Revealed::read(Path::new(&file)).unwrap() {
            Revealed::Opening(opening) => opening,
            Revealed::Proof(_) => panic!("this is no opening"),
        }
    }

    /// Verifies documents that were changed, with more words; gives what is told.
    fn verify(&self, commitment: &Commitment, revealed: &Revealed, more: &[&str], code: i32) -> String {
        let [one, other] = ["changed-commitment.json", "changed.json"].map(|name| self.place.path(name));
        fs::write(&one, commitment.to_bytes()).unwrap();
        fs::write(&other, revealed.to_bytes()).unwrap();
        let (out, err) = run(&[&["verify", &one, &other], more].concat(), code);
        if code == 0 { out } else { err }
    }
}

#[test]
fn a_contest_is_committed_run_opened_and_verified_and_nothing_is_told_before() {
    let contest = Contest::new("contest");
    let path = |name: &str| contest.place.path(name);
    assert_eq!(
        [mode(&path("key")), mode(&path("contest/secret")), mode(&path("contest/secret/suite.toml"))],
        [0o600, 0o700, 0o600]
    );
    assert_eq!(mode(&path("tasks/suite.toml")), 0o600, "what was built has the seeds too");
    let public = fs::read(path("contest/commitment.json")).unwrap();
    let (suite, kept) = (&contest.suite, fs::read(path("contest/secret/suite.toml")).unwrap());
    assert_eq!((suite.tasks.len(), suite.split), (5, Split::Committed));

    // The same suite and key give the same bytes; another key is another suite, and is not written over this one.
    Contest::commit(&contest.place, "like.toml", "key", "contest");
    let (again, _) = Contest::commit(&contest.place, "like.toml", "key", "again");
    assert_eq!((again.to_bytes(), fs::read(path("again/secret/suite.toml")).unwrap()), (public.clone(), kept.clone()));
    let (like, another) = (path("like.toml"), path("another-key"));
    run(&["commit", &like, "--key", &another, "-o", &path("contest")], 2);
    assert_eq!(fs::read(path("contest/commitment.json")).unwrap(), public);
    assert_eq!(fs::read(path("contest/secret/suite.toml")).unwrap(), kept);

    // A run tells neither seed nor salt, and its tasks are the committed ones.
    run(&["run", &path("tasks"), "--agent", "oracle", "--runs", &path("runs")], 0);
    let folder =
        fs::read_dir(path("runs")).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    let mut secrets: Vec<String> =
        suite.tasks.iter().flat_map(|line| [line.seed.to_string(), suite.split.seed(line.seed).to_string()]).collect();
    secrets.extend(suite.tasks.iter().filter_map(|line| suite.salt_of(line)).chain(suite.salt.clone()));
    let mut told = vec![public.clone()];
    let mut left = vec![PathBuf::from(path("runs")), PathBuf::from(path("tasks/open"))];
    while let Some(next) = left.pop() {
        match next.is_dir() {
            true => left.extend(fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path())),
            false => told.push(fs::read(next).unwrap()),
        }
    }
    let told: Vec<String> = told.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    for secret in &secrets {
        assert!(!told.iter().any(|text| text.contains(secret)), "{secret} is told");
    }
    let committed = String::from_utf8(public).unwrap();
    for line in &suite.tasks {
        assert!(!committed.contains(&line.digest.unwrap().to_string()), "a digest of a task is told");
    }

    let (run_folder, tasks, opening) = (folder.display().to_string(), path("tasks"), contest.opening());
    let whole = Revealed::Opening(opening.clone());
    let out = contest.verify(&contest.commitment, &whole, &["--run", &run_folder, "--tasks", &tasks, "--jobs", "1"], 0);
    assert!(out.contains("5 tasks made again") && out.contains("10 tasks of runs and folders"), "{out}");

    // Other tasks than the committed ones, in a run and in a folder.
    run(&["run", &path("h01-b00"), "--agent", "idle", "--runs", &path("other-runs")], 0);
    let other = fs::read_dir(path("other-runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    for more in [["--run", &other.display().to_string()], ["--tasks", &path("h01-b00")]] {
        let told = contest.verify(&contest.commitment, &whole, &more, 1);
        assert_eq!((told.matches("additional: ").count(), told.matches("missing: ").count()), (3, 5), "{told}");
    }
    let (told, id) = (path("tasks/sealed"), &opening.tasks[0].task.id);
    let sealed = format!("{told}/{id}/sealed.json");
    fs::write(&sealed, fs::read_to_string(&sealed).unwrap().replacen("\"attempt\": 0", "\"attempt\": 1", 1)).unwrap();
    assert!(contest.verify(&contest.commitment, &whole, &["--tasks", &tasks], 1).contains("task exchanged: "));
    run(&["verify", &path("contest/commitment.json"), &path("opening.json"), "--run", &path("runs/none")], 2);
}

#[test]
fn what_an_organiser_changed_is_refused_by_its_name() {
    let contest = Contest::new("forged");
    let opening = contest.opening();
    let names = |told: &str| -> Vec<String> {
        let name = |line: &str| line.trim_start_matches("error: ").split(": ").next().map(str::to_owned);
        told.lines().filter(|line| !line.starts_with("  try")).filter_map(name).collect()
    };
    let verify = |commitment: &Commitment, opening: &Opening| {
        names(&contest.verify(commitment, &Revealed::Opening(opening.clone()), &[], 1))
    };
    /// Commits to the tasks of an opening as they stand there, as somebody would who cheats from the beginning.
    fn forged(head: &CommitmentHead, opening: &Opening) -> (Commitment, Opening) {
        let tasks: Vec<_> = opening.tasks.iter().map(|opened| opened.task.clone()).collect();
        let commitment = Commitment::new(head.clone(), &tasks).unwrap();
        let opening = Opening { root: commitment.root, ..opening.clone() };
        (commitment, opening)
    }
    let head = &contest.commitment.head;
    let other = Store::at(contest.place.path("h01-b00")).suite().unwrap().tasks[0].digest.unwrap();

    let mut exchanged = opening.clone();
    exchanged.tasks[1].task.digest = other;
    assert_eq!(verify(&contest.commitment, &exchanged), ["task exchanged", "root"]);
    let (commitment, exchanged) = forged(head, &exchanged);
    assert_eq!(verify(&commitment, &exchanged), ["task exchanged"], "whoever cheats from the beginning is found too");

    let mut changed = opening.clone();
    changed.tasks[1].seed += 1;
    assert_eq!(verify(&contest.commitment, &changed), ["seed changed"]);

    let mut count = contest.commitment.clone();
    count.head.counts[0].tasks += 1;
    assert_eq!(verify(&count, &opening), ["count"]);
    count.head.counts[1].tasks -= 1;
    assert_eq!(verify(&count, &opening), ["count", "count"]);

    // A seed that gives a task, passed over for the next one that suits better.
    let key = Key::from_hex(&opening.key).unwrap();
    let mut chosen = opening.clone();
    let OpenedTask { task, attempt, seed } = &mut chosen.tasks[2];
    (*attempt, *seed) = (1, key.seed(&task.lot(false), 1));
    let (commitment, chosen) = forged(head, &chosen);
    assert_eq!(verify(&commitment, &chosen), ["task exchanged", "passed over"]);

    // What could not be made is no pass.
    let mut unmade = opening.clone();
    for opened in &mut unmade.tasks[3..] {
        opened.task.tier = "h99-b99".to_owned();
        opened.seed = key.seed(&opened.task.lot(false), 0);
    }
    let (commitment, unmade) = forged(head, &unmade);
    assert_eq!(verify(&commitment, &unmade), ["not made", "not made"]);

    let mut version = head.clone();
    version.generator.version = "0.0.1".to_owned();
    let (commitment, old) = forged(&version, &opening);
    assert_eq!(verify(&commitment, &old), ["version"]);
    let (mut declared, digest) = (head.clone(), other);
    declared.generator.declarations = digest;
    let (commitment, old) = forged(&declared, &opening);
    assert_eq!(verify(&commitment, &old), ["version"]);

    let mut other_key = opening.clone();
    other_key.key = Key::new(&[1; 32]).unwrap().to_hex();
    assert_eq!(verify(&contest.commitment, &other_key), ["key"]);
}

#[test]
fn one_task_is_proved_without_the_key_and_what_does_not_hold_together_is_not_opened() {
    let contest = Contest::new("proof");
    let path = |name: &str| contest.place.path(name);
    let ids = Store::at(path("tasks")).ids().unwrap();
    let prove = |id: &str, to: &str, code| run(&["reveal", &path("contest"), "--task", id, "-o", &path(to)], code);
    prove(&ids[2], "proof.json", 0);
    let text = fs::read_to_string(path("proof.json")).unwrap();
    assert!(!text.contains("seed") && !text.contains("salt") && !text.contains("key"), "{text}");
    let proof = Revealed::read(Path::new(&path("proof.json"))).unwrap();
    let tasks = path("tasks");
    assert!(contest.verify(&contest.commitment, &proof, &[], 0).contains("0 tasks made again"));
    assert!(contest.verify(&contest.commitment, &proof, &["--tasks", &tasks], 0).contains("1 tasks of runs"));
    prove("grid-0000000000", "none.json", 2);
    prove(&ids[1], "proof.json", 2);

    let (elsewhere, _) = Contest::commit(&contest.place, "like.toml", "another-key", "elsewhere");
    assert!(contest.verify(&elsewhere, &proof, &[], 1).contains("another tree: "));
    let mut foreign: Json = serde_json::from_str(&text).unwrap();
    foreign["root"] = elsewhere.root.to_string().into();
    fs::write(path("foreign.json"), format!("{foreign:#}\n")).unwrap();
    let (_, err) = run(&["verify", &path("elsewhere/commitment.json"), &path("foreign.json")], 1);
    assert!(err.contains("changed after it was made") || err.contains("root: "), "{err}");

    // A wrong key, a lock file with another seed, a key that others can read: nothing is opened.
    let reveal = |key: &str| run(&["reveal", &path("contest"), "--key", &path(key), "-o", &path("out.json")], 1).1;
    assert!(reveal("another-key").contains("key: "));
    let mut changed = contest.suite.clone();
    changed.tasks[1].seed += 1;
    store::write_suite(Path::new(&path("contest/secret/suite.toml")), &changed).unwrap();
    assert!(reveal("key").contains("seed changed: "));
    fs::set_permissions(path("key"), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(reveal("key").contains("chmod 600"));
    fs::write(path("short-key"), [1; 31]).unwrap();
    fs::set_permissions(path("short-key"), fs::Permissions::from_mode(0o600)).unwrap();
    let (like, short, out) = (path("like.toml"), path("short-key"), path("short"));
    let (_, err) = run(&["commit", &like, "--key", &short, "-o", &out], 1);
    assert!(err.contains("a key has 32 bytes") && !Path::new(&path("out.json")).exists(), "{err}");
}
