//! What a SQLite export holds, read back with SQLite itself.

use benchwright_base::{Date, DateTime, Time, Value};
use benchwright_export::{ExportError, SqliteSummary, sqlite};
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_schema::{Domain, Folder, load};
use rusqlite::Connection;
use std::path::PathBuf;

const TABLES: &str = r#"
[enums]
End = ["open", "group", "select"]

[group]
name = "text unique"
order = "-> order?"

[order]
case = "text?"
group = "-> group"
end = "End = open"
select = "bool = false"
price = "money?"
weight = "quantity?"
wait = "duration?"
day = "date?"
at = "datetime?"
from = "time?"
number = "int?"
unique = ["group, case"]

[line]
order = "-> order owned"
"#;

/// Two tables that refer to each other, with names that SQL keeps for itself.
fn domain() -> Domain {
    let domain =
        "name = \"odd\"\ntitle = \"Odd names\"\nrole = \"clerk\"\nabout = \"Names that SQL keeps for itself.\"\n";
    let files = [
        ("domain.toml", domain),
        ("tables.toml", TABLES),
        ("tools.toml", "list_orders = \"list order\"\n"),
        ("policy.toml", "[access]\nadmin = [\"any on *\"]\n"),
    ];
    let folder = Folder::new("odd", files.map(|(name, text)| (name.to_owned(), text.to_owned())));
    load(&folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn order(id: u32, case: Value, group: u32) -> Vec<Value> {
    let null = || Value::Null;
    vec![
        Value::Ref(id),
        case,
        Value::Ref(group),
        Value::Enum(2),
        Value::Bool(true),
        null(),
        null(),
        null(),
        null(),
        null(),
        null(),
        null(),
    ]
}

fn snapshot(domain: &Domain) -> Snapshot {
    let mut full = order(1, Value::text("it's \"quoted\", ünïcödé 🙂; --"), 1);
    full[5] = Value::Money(-1999);
    full[6] = Value::Quantity(1500);
    full[7] = Value::Duration(5400);
    full[8] = Value::Date(Date::parse("2026-03-02").unwrap());
    full[9] = Value::DateTime(DateTime::parse("2026-03-02T09:30:00Z").unwrap());
    full[10] = Value::Time(Time::parse("09:30").unwrap());
    full[11] = Value::Int(i64::MIN);
    let table = |rows: Vec<Vec<Value>>| SnapshotTable { next_id: 100, next_number: 1, rows };
    let group = |id: u32, name: &str, order: Value| vec![Value::Ref(id), Value::text(name), order];
    Snapshot {
        domain: domain.name.clone(),
        domain_digest: domain.digest,
        first: None,
        now: domain.now,
        tables: vec![
            // A group and its order refer to each other.
            table(vec![group(1, "a", Value::Ref(1)), group(7, "b", Value::Null)]),
            table(vec![full, order(2, Value::Null, 7), order(3, Value::Null, 7)]),
            table(vec![vec![Value::Ref(1), Value::Ref(1)]]),
        ],
    }
}

/// A folder that goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("benchwright-export-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn exported(place: &Place) -> (Connection, SqliteSummary) {
    let domain = domain();
    let path = place.file("odd.sqlite");
    let summary = sqlite(&domain, &snapshot(&domain), &path).unwrap();
    let file = Connection::open(path).unwrap();
    file.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    (file, summary)
}

#[test]
fn every_row_and_value_reads_back() {
    let place = Place::new("values");
    let (file, summary) = exported(&place);
    assert_eq!((summary.tables, summary.rows), (3, 6));
    assert_eq!(summary.bytes, std::fs::metadata(place.file("odd.sqlite")).unwrap().len());
    let count = |table: &str| -> i64 {
        file.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| row.get(0)).unwrap()
    };
    assert_eq!(["group", "order", "line", "_benchwright"].map(count), [2, 3, 1, 1]);
    let row = file
        .query_row(
            "SELECT \"case\", \"group\", \"end\", \"select\", price, weight, wait, number FROM \"order\" WHERE id = 1",
            [],
            |row| {
                let text: (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
                let numbers: [i64; 5] = [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
                Ok((text, numbers))
            },
        )
        .unwrap();
    assert_eq!(row.0, ("it's \"quoted\", ünïcödé 🙂; --".to_owned(), 1, "select".to_owned()));
    assert_eq!(row.1, [1, -1999, 1500, 5400, i64::MIN]);
    let times: [String; 3] = file
        .query_row("SELECT day, at, \"from\" FROM \"order\" WHERE id = 1", [], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?])
        })
        .unwrap();
    assert_eq!(times, ["2026-03-02", "2026-03-02T09:30:00Z", "09:30:00"]);
    let nulls: i64 = file
        .query_row("SELECT count(*) FROM \"order\" WHERE \"case\" IS NULL AND price IS NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(nulls, 2);
    let about: (i64, String, String, String) = file
        .query_row("SELECT format, domain, digest, now FROM _benchwright", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap();
    let domain = domain();
    assert_eq!(about, (1, "odd".into(), domain.digest.to_string(), domain.now.to_string()));
}

#[test]
fn the_file_holds_what_the_declarations_say() {
    let place = Place::new("holds");
    let (file, _) = exported(&place);
    let refused = |statement: &str| {
        let error = file.execute_batch(statement).map(|()| statement.to_owned()).unwrap_err().to_string();
        let _ = file.execute_batch("ROLLBACK");
        error
    };
    assert!(refused("UPDATE \"order\" SET \"group\" = 99").contains("FOREIGN KEY"));
    assert!(refused("DELETE FROM \"group\" WHERE id = 7").contains("FOREIGN KEY"));
    assert!(refused("UPDATE \"order\" SET \"end\" = 'shut'").contains("CHECK"));
    assert!(refused("UPDATE \"order\" SET \"select\" = 2").contains("CHECK"));
    assert!(refused("UPDATE \"order\" SET \"group\" = NULL").contains("NOT NULL"));
    assert!(refused("UPDATE \"group\" SET name = 'a'").contains("UNIQUE"));
    assert!(refused("UPDATE \"order\" SET \"case\" = 'x', \"group\" = 7").contains("UNIQUE"));
    assert!(refused("UPDATE \"order\" SET price = 'dear'").contains("cannot store TEXT"));
    // References may stand open within a transaction, and owned rows go with their owner.
    file.execute_batch("BEGIN; UPDATE \"group\" SET \"order\" = 50 WHERE id = 7; INSERT INTO \"order\" (id, \"group\", \"end\", \"select\") VALUES (50, 7, 'open', 0); COMMIT")
        .unwrap();
    file.execute_batch("UPDATE \"group\" SET \"order\" = NULL; DELETE FROM \"order\" WHERE id = 1").unwrap();
    let lines: i64 = file.query_row("SELECT count(*) FROM line", [], |row| row.get(0)).unwrap();
    assert_eq!(lines, 0);
    let made: String =
        file.query_row("SELECT sql FROM sqlite_schema WHERE name = 'order'", [], |row| row.get(0)).unwrap();
    assert!(made.contains("\"price\" INTEGER, -- minor units\n"), "{made}");
    let indexes: i64 = file
        .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE '%.%'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(indexes, 3);
}

#[test]
fn the_same_snapshot_gives_the_same_bytes_and_no_file_is_written_over() {
    let place = Place::new("bytes");
    let domain = domain();
    let snapshot = snapshot(&domain);
    let (one, two) = (place.file("one.sqlite"), place.file("two.sqlite"));
    sqlite(&domain, &snapshot, &one).unwrap();
    sqlite(&domain, &snapshot, &two).unwrap();
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    let again = sqlite(&domain, &snapshot, &one).unwrap_err();
    assert!(matches!(again, ExportError::AlreadyThere(path) if path == one));
    assert_eq!(place.names(), ["one.sqlite", "two.sqlite"]);
}

#[test]
fn a_snapshot_that_does_not_hold_together_leaves_nothing_behind() {
    let place = Place::new("broken");
    let domain = domain();
    let path = place.file("odd.sqlite");
    let good = snapshot(&domain);
    let wrong = |change: &dyn Fn(&mut Snapshot)| {
        let mut snapshot = good.clone();
        change(&mut snapshot);
        sqlite(&domain, &snapshot, &path).unwrap_err().to_string()
    };
    let dangling = wrong(&|snapshot| snapshot.tables[2].rows[0][1] = Value::Ref(44));
    assert_eq!(
        dangling,
        "the file that was written does not pass its check: line 1 refers to a row of order that is not there"
    );
    let null = wrong(&|snapshot| snapshot.tables[2].rows[0][1] = Value::Null);
    assert!(null.starts_with("line 1 was not taken") && null.contains("NOT NULL"), "{null}");
    let twice = wrong(&|snapshot| snapshot.tables[0].rows[1][1] = Value::text("a"));
    assert!(twice.starts_with("group 7 was not taken") && twice.contains("UNIQUE"), "{twice}");
    let word = wrong(&|snapshot| snapshot.tables[1].rows[0][3] = Value::Enum(9));
    assert!(word.contains("order.end cannot hold"), "{word}");
    let short = wrong(&|snapshot| snapshot.tables[1].rows[0].truncate(3));
    assert!(short.contains("has 3 cells, not 12"), "{short}");
    let other = wrong(&|snapshot| snapshot.domain = "even".into());
    assert!(other.contains("not of these declarations"), "{other}");
    assert!(place.names().is_empty(), "{:?}", place.names());
}
