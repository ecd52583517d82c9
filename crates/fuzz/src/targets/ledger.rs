//! The ledger of a run: a file that who is measured may have held in hand. An input is a database, or lines that each write another value
//! into a cell of a good one: `trial record 2 {...}`.

use crate::{Met, Target, ground::scratch};
use benchwright_base::Digest;
use benchwright_pack::{
    RunPlan, TaskLine, TrialRecord,
    run::{Limits, RUN_VERSION, Score, Spent, TrialEnd, Used},
};
use benchwright_run::{Chain, Ended, LedgerError, LedgerStore, SegmentLink, SqliteLedger};
use rusqlite::{Connection, params, types::Value};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

pub(crate) const TARGET: Target =
    Target { name: "ledger", seeds, regressions: &[LAST_PLACE, MANY_ATTEMPTS], rounds: 400, meet };

/// The place after the last number there is.
const LAST_PLACE: &[u8] = b"link place 6 9223372036854775807\n";
/// A plan with more trials than there is memory to list.
const MANY_ATTEMPTS: &[u8] =
    b"run plan 1 {\"version\":1,\"tasks\":[],\"agents\":[\"a\",\"b\"],\"attempts\":4294967295,\
    \"limits\":{\"turns\":400,\"seconds\":3600,\"tokens\":null,\"cost\":null}}\n";

/// A ledger with trials that were recorded, of which one failed and was tried again, and what its chain says.
static GOOD: LazyLock<(Vec<u8>, Chain)> =
    LazyLock::new(|| good().unwrap_or_else(|error| panic!("a ledger cannot be made: {error}")));

/// The tables with what tells their rows apart, and their columns.
const CELLS: [(&str, &str, &[&str]); 6] = [
    ("run", "id", &["id", "name", "digest", "plan"]),
    ("task", "place", &["run", "place", "line"]),
    ("worker", "id", &["id", "run", "hold", "until"]),
    ("lease", "fence", &["fence", "run", "worker"]),
    ("trial", "number", &["run", "number", "state", "fence", "until", "tries", "failed", "link", "record"]),
    ("link", "place", &["run", "place", "numbers", "record", "folder", "segment", "hash"]),
];
/// How a database begins.
const MAGIC: &[u8] = b"SQLite format 3";

fn seeds() -> Vec<Vec<u8>> {
    let lines = lines_of_good().unwrap_or_else(|error| panic!("a good ledger cannot be read: {error}"));
    [GOOD.0.clone()].into_iter().chain(lines.into_iter().map(String::into_bytes)).collect()
}

/// Every cell of the good ledger, written as it is.
fn lines_of_good() -> Result<Vec<String>, rusqlite::Error> {
    let path = put("ledger-read", &GOOD.0);
    let connection = Connection::open(&path)?;
    let mut lines = Vec::new();
    for (table, key, columns) in CELLS {
        for column in columns {
            let all = format!("select {key}, {column} from {table} where {column} is not null");
            let mut all = connection.prepare(&all)?;
            let line = |row: &rusqlite::Row<'_>| {
                let value = match row.get::<_, Value>(1)? {
                    Value::Integer(number) => number.to_string(),
                    Value::Text(text) => text,
                    _ => String::new(),
                };
                Ok(format!("{table} {column} {} {value}", row.get::<_, i64>(0)?))
            };
            lines.extend(all.query_map([], line)?.collect::<Result<Vec<_>, _>>()?);
        }
    }
    clear(&path);
    Ok(lines)
}

/// Writes the values of an input into the good ledger.
fn bend(path: &Path, text: &str) -> Result<(), rusqlite::Error> {
    let connection = Connection::open(path)?;
    // Whoever bends a file does not keep its checks.
    connection.pragma_update(None, "ignore_check_constraints", "on")?;
    for line in text.lines().take(8) {
        let mut words = line.splitn(4, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (table, column, row, value) = (next(), next(), next().parse::<i64>(), next());
        let Some((table, key, columns)) = CELLS.into_iter().find(|(name, ..)| *name == table) else { continue };
        let (Some(column), Ok(row)) = (columns.iter().find(|name| **name == column), row) else { continue };
        let value = match value.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) if value == "null" => Value::Null,
            Err(_) => Value::Text(value.to_owned()),
        };
        // A value of another type is refused by the table, as it would be by any other program.
        let _ = connection.execute(&format!("update {table} set {column} = ?1 where {key} = ?2"), params![value, row]);
    }
    Ok(())
}

fn good() -> Result<(Vec<u8>, Chain), LedgerError> {
    let line = |n: u32| TaskLine {
        id: format!("made-up-{n}"),
        digest: Digest::of(&n.to_be_bytes()).to_string(),
        domain: "made-up".to_owned(),
        pattern: "made/up".to_owned(),
        tier: "easy".to_owned(),
        dials: Vec::new(),
        objective: "none".to_owned(),
        cluster: "made/up".to_owned(),
        pair: None,
        obstacle: None,
        problem: None,
        horizon: 1,
        parameters: BTreeMap::new(),
    };
    let plan = RunPlan {
        version: RUN_VERSION,
        tasks: (0..3).map(line).collect(),
        agents: vec!["steady".to_owned()],
        settings: BTreeMap::new(),
        attempts: 2,
        limits: Limits::default(),
    };
    let path = fresh("ledger-good");
    let ledger = SqliteLedger::open_file(&path, Box::new(|| 0))?;
    let (run, _) = ledger.open("first", &plan, true)?;
    let worker = ledger.join(run, 1)?;
    for failed in [true, false] {
        // Some trials have folders, those of the last lease are in a segment.
        while let Some(lease) = ledger.claim(worker, 2)? {
            let numbers: Vec<i64> = lease.trials.iter().map(|claim| claim.number).collect();
            if numbers.contains(&6) {
                let (name, digest) = ("00000009-1", &*Digest::of(b"segment").to_string());
                ledger.finish(&lease, Ended::Segment { numbers: &numbers, errors: &[], name, digest })?;
                continue;
            }
            for number in numbers {
                let end = match failed && number == 2 {
                    true => TrialEnd::Error { cause: "server".to_owned(), detail: "made up".to_owned() },
                    false => TrialEnd::Scored(score(number)),
                };
                let Some(key) = plan.key(number) else { continue };
                let (used, spent) = (Used::default(), Spent::default());
                let record = &TrialRecord { key, end, used, trusted: false, failed: None, spent };
                let digest = &*Digest::of(b"folder").to_string();
                ledger.finish(&lease, Ended::Folder { number, record, digest, place: &mut || Ok(()) })?;
            }
        }
        if failed {
            ledger.reopen_errors(run)?;
        }
    }
    let chain = ledger.chain(run)?;
    drop(ledger);
    let bytes = fs::read(&path).map_err(LedgerError::Folder)?;
    clear(&path);
    Ok((bytes, chain))
}

fn score(number: i64) -> Score {
    let whole = 1_000_000 * (number % 2);
    Score {
        pass: number % 2 == 1,
        reward: whole,
        constraints: whole,
        trace: whole,
        objective: whole,
        clean: true,
        best: true,
        side_effect: false,
        paper_pass: true,
        alarm: false,
        failed: BTreeMap::new(),
        gates: Vec::new(),
        followed: None,
        limit: None,
    }
}

fn meet(bytes: &[u8]) -> Met {
    let path = match bytes.starts_with(MAGIC) {
        true => put("ledger", bytes),
        false => {
            let path = put("ledger", &GOOD.0);
            let bent = bend(&path, &String::from_utf8_lossy(bytes));
            assert!(bent.is_ok(), "{bent:?}");
            path
        }
    };
    let met = read(&path);
    clear(&path);
    met.unwrap_or(Met::Refused)
}

/// A file of these bytes.
fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = fresh(name);
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

fn read(path: &Path) -> Result<Met, LedgerError> {
    let ledger = SqliteLedger::open_file(path, Box::new(|| 0))?;
    let mut met = Met::Refused;
    for run in ledger.runs()? {
        let _ = ledger.name(run);
        let _ = ledger.standing(run);
        let _ = ledger.plan(run);
        let _ = ledger.fences(run);
        let chain = ledger.chain(run)?;
        if chain.flaws.is_empty() && chain.head() == GOOD.1.head() {
            assert_eq!(chain.records, GOOD.1.records, "no other records have this head");
            assert_eq!(chain.folders, GOOD.1.folders, "no other folders have this head");
            let named = |chain: &Chain| {
                let named =
                    |segment: &SegmentLink| (segment.name.clone(), segment.digest.clone(), segment.numbers.clone());
                chain.segments.iter().map(named).collect::<Vec<_>>()
            };
            assert_eq!(named(&chain), named(&GOOD.1), "no other segments have this head");
            met = Met::Taken;
        }
    }
    Ok(met)
}

/// The path of a database that is not there. Memory is enough for it, where there is some to be had as a folder.
fn fresh(name: &str) -> PathBuf {
    let path = scratch(name);
    let memory = Path::new("/dev/shm");
    let path = match path.file_name().filter(|_| memory.is_dir()) {
        Some(name) => memory.join(name),
        None => path,
    };
    clear(&path);
    path
}

fn clear(path: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(name);
    }
}
