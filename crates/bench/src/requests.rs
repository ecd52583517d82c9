//! The part of `bench ops` on requests: the calls of an oracle from the first state, and the verdict on what they leave, beside the same
//! calls on SQLite with checks written by hand, which looks at the rows of the job and at nothing else. Both take turns, in CPU time.

use super::measure::{median, nanoseconds};
use crate::error::{Error, OrWrong as _, Result, hold, wrong};
use benchwright_base::Value;
use benchwright_expr::Type;
use benchwright_grade::EffectsGrader;
use benchwright_pack::{
    Ending, Task,
    effects::{ExpectedCell, Target},
};
use benchwright_schema::{Domain, Verb, codec};
use benchwright_workshop::{Maker, Workshop, tasks::Judged};
use benchwright_world::seen;
use rusqlite::{Connection, params_from_iter, types::Value as Sql, types::ValueRef};
use serde_json::{Map, Value as Json, json};
use std::{hint::black_box, sync::Arc};

/// The request that is measured: several steps, most of them the policy's.
const SCENARIO: &str = "csm/article-and-engineer";
const SEED: u64 = 1;
/// The least number of episodes a second on one core.
const LEAST: f64 = 1_500.0;
/// How many times as fast as the bare engine it must be.
const LEAST_RATIO: f64 = 2.0;
/// Rows that a tool answers with, unless it is told otherwise.
const USUAL_PAGE: i64 = 50;

/// What was measured.
pub(super) struct Figure {
    calls: usize,
    checks: usize,
    episode_us: f64,
    bare_us: f64,
}

impl Figure {
    fn episodes_per_s(&self) -> f64 {
        1e6 / self.episode_us
    }

    fn ratio(&self) -> f64 {
        self.bare_us / self.episode_us
    }

    /// Whether a bar was missed.
    pub(super) fn missed(&self) -> bool {
        self.episodes_per_s() < LEAST || self.ratio() < LEAST_RATIO
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        let round = |n: f64| (n * 100.0).round() / 100.0;
        json!({
            "scenario": SCENARIO,
            "calls": self.calls,
            "checks": self.checks,
            "episodes_per_s": self.episodes_per_s().round(),
            "sqlite_episodes_per_s": (1e6 / self.bare_us).round(),
            "ratio": round(self.ratio()),
            "least_episodes_per_s": LEAST,
            "least_ratio": LEAST_RATIO,
        })
    }

    /// In words.
    pub(super) fn to_text(&self) -> String {
        format!(
            "a request ({SCENARIO}, {} calls, {} checks, and that nothing else changed): {:.0} episodes/s with verdict (at least \
             {LEAST:.0}); SQLite with {} checks by hand: {:.0}; ratio {:.2} (at least {LEAST_RATIO})\n",
            self.calls,
            self.checks,
            self.episodes_per_s(),
            self.checks,
            1e6 / self.bare_us,
            self.ratio(),
        )
    }
}

/// Measures.
pub(super) fn run(workshop: &Workshop, quick: bool) -> Result<Figure> {
    let mut maker = Maker::new(workshop);
    let (task, _) = maker.make(SCENARIO, "medium", "done", SEED, None, false)?;
    let judged = Judged::open(workshop.catalog(), &task)?;
    let effects = task.sealed.effects.as_ref().or_wrong(|| "the task is no request")?;
    let seat = judged.sandbox.seat_of(&task.open);
    let grader = EffectsGrader::new(Arc::clone(&judged.sandbox), effects, &seat).or_wrong(|| "it cannot be judged")?;
    let first = judged.begin()?;
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut episode = first.fork();
    seen::play_with(&task.sealed.oracle, &mut episode, &mut |_, tool, arguments| {
        calls.push((tool.to_owned(), arguments.to_string()));
    })
    .or_wrong(|| "the oracle's calls cannot be made")?;
    let bare = Bare::open(&judged.domain, &judged.first, &task)?;
    let ours = || -> Result<()> {
        let mut episode = first.fork();
        for (tool, arguments) in &calls {
            let answer = episode.call(tool, arguments);
            black_box(answer.map_err(|refusal| Error::Wrong(format!("{tool} was refused: {refusal}")))?);
        }
        let verdict = grader.grade_live(&episode).or_wrong(|| "the verdict cannot be reached")?;
        hold!(verdict.ending == Ending::Pass, "the oracle does not pass");
        Ok(())
    };
    let (rounds, episodes) = if quick { (3, 5) } else { (15, 200) };
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        mine.push(nanoseconds(|| (0..episodes).try_for_each(|_| ours()))? / 1e3 / f64::from(episodes));
        theirs.push(nanoseconds(|| (0..episodes).try_for_each(|_| bare.episode(&calls)))? / 1e3 / f64::from(episodes));
    }
    Ok(Figure { calls: calls.len(), checks: bare.checks.len(), episode_us: median(mine), bare_us: median(theirs) })
}

/// The same world in SQLite: in memory, prepared statements that stay prepared, references checked and found by index, a savepoint that
/// is rolled back as the reset. No rule is held.
struct Bare<'d> {
    domain: &'d Domain,
    connection: Connection,
    /// What the rows of the job must be in the end: a question that gives 1, with its values.
    checks: Vec<(String, Vec<Sql>)>,
}

impl<'d> Bare<'d> {
    fn open(domain: &'d Domain, first: &benchwright_pack::Snapshot, task: &Task) -> Result<Bare<'d>> {
        let connection = Connection::open_in_memory()?;
        connection.set_prepared_statement_cache_capacity(200);
        connection.execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA temp_store = MEMORY;
             BEGIN; PRAGMA defer_foreign_keys = ON;",
        )?;
        for table in &domain.tables {
            let column = |(at, field): (usize, &benchwright_schema::Field)| match field.ty {
                _ if at == 0 => "\"id\" INTEGER PRIMARY KEY".to_owned(),
                Type::Ref(to) => format!("\"{}\" INTEGER REFERENCES \"{}\"", field.name, domain.table(to).name),
                _ => format!("\"{}\"", field.name),
            };
            let columns: Vec<String> = table.fields.iter().enumerate().map(column).collect();
            connection.execute_batch(&format!("CREATE TABLE \"{}\" ({})", table.name, columns.join(", ")))?;
            let text = |field: &&benchwright_schema::Field| matches!(field.ty, Type::Ref(_) | Type::Text);
            for field in table.fields.iter().skip(1).filter(text) {
                let (own, name) = (&table.name, &field.name);
                connection.execute_batch(&format!("CREATE INDEX \"{own}.{name}\" ON \"{own}\" (\"{name}\")"))?;
            }
        }
        for (table, rows) in domain.tables.iter().zip(&first.tables) {
            let places = vec!["?"; table.fields.len()].join(", ");
            let mut insert = connection.prepare(&format!("INSERT INTO \"{}\" VALUES ({places})", table.name))?;
            for cells in &rows.rows {
                let cells = table.fields.iter().zip(cells).map(|(field, value)| cell(domain, field.ty, value));
                insert.execute(params_from_iter(cells))?;
            }
        }
        connection.execute_batch("COMMIT; ANALYZE;")?;
        Ok(Bare { domain, connection, checks: checks(task)? })
    }

    /// Begins, makes the calls, asks the checks, and takes everything back.
    fn episode(&self, calls: &[(String, String)]) -> Result<()> {
        self.connection.prepare_cached("SAVEPOINT episode")?.raw_execute()?;
        for (tool, arguments) in calls {
            black_box(self.call(tool, arguments)?);
        }
        for (asked, values) in &self.checks {
            let found: i64 =
                self.connection.prepare_cached(asked)?.query_row(params_from_iter(values), |row| row.get(0))?;
            hold!(found == 1, "SQLite ends in another state: {asked}");
        }
        self.connection.prepare_cached("ROLLBACK TO episode")?.raw_execute()?;
        self.connection.prepare_cached("RELEASE episode")?.raw_execute()?;
        Ok(())
    }

    fn call(&self, tool: &str, arguments: &str) -> Result<String> {
        let declared = self.domain.tool_named(tool).map(|at| &self.domain.tools[at]);
        let Some((declared, table)) = declared.and_then(|tool| Some((tool, tool.table?))) else {
            wrong!("{tool} has no table");
        };
        let name = &self.domain.table(table).name;
        let arguments: Map<String, Json> = serde_json::from_str(arguments).or_wrong(|| "no arguments")?;
        let (fields, values): (Vec<&String>, Vec<Sql>) =
            arguments.iter().filter(|(name, _)| *name != "limit").map(|(name, value)| (name, bound(value))).unzip();
        let id = arguments.get("id").and_then(Json::as_i64).unwrap_or_default();
        match declared.verb {
            Verb::Create | Verb::Link => {
                let columns: Vec<String> = fields.iter().map(|field| format!("\"{field}\"")).collect();
                let places = vec!["?"; fields.len()].join(", ");
                let asked = format!("INSERT INTO \"{name}\" ({}) VALUES ({places})", columns.join(", "));
                self.connection.prepare_cached(&asked)?.execute(params_from_iter(values))?;
                self.rows(name, "\"id\" = ?", &[Sql::Integer(self.connection.last_insert_rowid())], 1)
            }
            Verb::Update => {
                let set: Vec<String> = fields.iter().map(|field| format!("\"{field}\" = ?")).collect();
                let asked = format!("UPDATE \"{name}\" SET {} WHERE \"id\" = {id}", set.join(", "));
                self.connection.prepare_cached(&asked)?.execute(params_from_iter(values))?;
                self.rows(name, "\"id\" = ?", &[Sql::Integer(id)], 1)
            }
            _ if declared.reads_only() => {
                let tests: Vec<String> = fields.iter().map(|field| format!("\"{field}\" = ?")).collect();
                let tests = if tests.is_empty() { "true".to_owned() } else { tests.join(" AND ") };
                let limit = arguments.get("limit").and_then(Json::as_i64).unwrap_or(USUAL_PAGE);
                self.rows(name, &tests, &values, limit)
            }
            _ => wrong!("{tool} is no tool that the bare engine has"),
        }
    }

    /// Rows as text of JSON.
    fn rows(&self, table: &str, tests: &str, values: &[Sql], limit: i64) -> Result<String> {
        let asked = format!("SELECT * FROM \"{table}\" WHERE {tests} ORDER BY \"id\" LIMIT {limit}");
        let mut statement = self.connection.prepare_cached(&asked)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut found = statement.query(params_from_iter(values))?;
        let mut out = Vec::new();
        while let Some(row) = found.next()? {
            let mut object = Map::new();
            for (at, name) in names.iter().enumerate() {
                let value = match row.get_ref(at)? {
                    ValueRef::Integer(number) => number.into(),
                    ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                    _ => Json::Null,
                };
                object.insert(name.clone(), value);
            }
            out.push(Json::Object(object));
        }
        Ok(Json::Array(out).to_string())
    }
}

/// What somebody would ask of the rows of the job, one question for each.
fn checks(task: &Task) -> Result<Vec<(String, Vec<Sql>)>> {
    let effects = task.sealed.effects.as_ref().or_wrong(|| "the task is no request")?;
    let mut checks = Vec::new();
    for row in &effects.expected {
        let (mut tests, mut values) = (Vec::new(), Vec::new());
        if let Target::Id(id) = row.row {
            tests.push("\"id\" = ?".to_owned());
            values.push(Sql::Integer(i64::from(id)));
        }
        for (field, wanted) in &row.cells {
            if let ExpectedCell::Is(value) = wanted {
                tests.push(format!("\"{field}\" = ?"));
                values.push(bound(value));
            }
        }
        checks.push((format!("SELECT count(*) FROM \"{}\" WHERE {}", row.table, tests.join(" AND ")), values));
    }
    Ok(checks)
}

fn bound(value: &Json) -> Sql {
    match value {
        Json::Bool(flag) => Sql::Integer(i64::from(*flag)),
        Json::Number(number) => Sql::Integer(number.as_i64().unwrap_or_default()),
        Json::String(text) => Sql::Text(text.clone()),
        _ => Sql::Null,
    }
}

fn cell(domain: &Domain, ty: Type, value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Bool(flag) => Sql::Integer(i64::from(*flag)),
        Value::Int(n) | Value::Money(n) | Value::Quantity(n) | Value::Duration(n) => Sql::Integer(*n),
        Value::Ref(row) => Sql::Integer(i64::from(*row)),
        other => Sql::Text(codec::show_value(domain, ty, other)),
    }
}
