//! Rows for training, as Parquet: a dialogue in chat form with its reward, or a pair of which one breaks a rule that the other keeps.
//! Messages are lists of records in the form of chat templates: calls under `function`, arguments as a string.

use crate::{
    Dialogue, ExportError,
    dialogue::{CallFacts, TaskFacts},
    nested::{self, Cell, Column, NestedFile, Shape},
};
use serde_json::Value as Json;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The rows of one file, and of one group of it: what is held in memory, and what a reader takes at a time.
const SHARD: usize = 1_000;
const GROUP: usize = 100;

/// Two ways through a task, of which one breaks a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    /// The one that earns everything.
    pub chosen: Dialogue,
    /// The one that does not.
    pub rejected: Dialogue,
    /// The check that the rejected one fails.
    pub rule: String,
    /// What is wrong with it, in words.
    pub what: String,
}

/// How much was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RowsSummary {
    /// Rows.
    pub rows: usize,
    /// Files that they stand in.
    pub shards: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// A folder that rows are written into: `part-00000.parquet` and so on. The same rows give the same bytes. A file gets its name when it
/// is whole.
pub struct RowsFolder {
    out: PathBuf,
    name: &'static str,
    columns: Vec<Column>,
    waiting: Vec<Vec<Cell>>,
    open: Option<(NestedFile, PathBuf, usize)>,
    summary: RowsSummary,
}

impl RowsFolder {
    /// For dialogues, one a row.
    pub fn sft(out: &Path) -> Result<RowsFolder, ExportError> {
        RowsFolder::new(out, "sft", sft_columns())
    }

    /// For pairs, one a row.
    pub fn preferences(out: &Path) -> Result<RowsFolder, ExportError> {
        RowsFolder::new(out, "preferences", pair_columns())
    }

    fn new(out: &Path, name: &'static str, columns: Vec<Column>) -> Result<RowsFolder, ExportError> {
        fs::create_dir_all(out).map_err(|why| ExportError::Io { path: out.to_owned(), why })?;
        let summary = RowsSummary::default();
        Ok(RowsFolder { out: out.to_owned(), name, columns, waiting: Vec::new(), open: None, summary })
    }

    /// Adds a dialogue.
    pub fn add(&mut self, dialogue: &Dialogue) -> Result<(), ExportError> {
        self.push(sft_row(dialogue))
    }

    /// Adds a pair.
    pub fn add_pair(&mut self, pair: &Pair) -> Result<(), ExportError> {
        self.push(pair_row(pair))
    }

    fn push(&mut self, row: Vec<Cell>) -> Result<(), ExportError> {
        self.waiting.push(row);
        self.summary.rows += 1;
        if self.waiting.len() >= GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ExportError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.open.is_none() {
            let path = self.out.join(format!("part-{:05}.half", self.summary.shards));
            if path.exists() {
                fs::remove_file(&path).map_err(|why| ExportError::Io { path: path.clone(), why })?;
            }
            let file = NestedFile::create(&path, self.name, self.columns.clone());
            let file = file.map_err(|why| ExportError::Parquet { path: path.clone(), why })?;
            self.open = Some((file, path, 0));
        }
        let Some((file, path, rows)) = &mut self.open else { return Ok(()) };
        file.group(&self.waiting).map_err(|why| ExportError::Parquet { path: path.clone(), why })?;
        *rows += self.waiting.len();
        self.waiting.clear();
        if *rows >= SHARD { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), ExportError> {
        let Some((file, half, _)) = self.open.take() else { return Ok(()) };
        file.finish().map_err(|why| ExportError::Parquet { path: half.clone(), why })?;
        let path = half.with_extension("parquet");
        let io = |why: std::io::Error| ExportError::Io { path: path.clone(), why };
        fs::rename(&half, &path).map_err(io)?;
        self.summary.bytes += fs::metadata(&path).map_err(io)?.len();
        self.summary.shards += 1;
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<RowsSummary, ExportError> {
        self.flush()?;
        self.close()?;
        Ok(self.summary)
    }
}

/// Reads the rows of a folder back, in order, each as an object: for whoever checks them.
pub fn read_rows(folder: &Path) -> Result<Vec<Json>, ExportError> {
    let io = |why: std::io::Error| ExportError::Io { path: folder.to_owned(), why };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|end| end == "parquet") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        let read = nested::read(&path);
        rows.extend(read.map_err(|why| ExportError::Parquet { path, why })?);
    }
    Ok(rows)
}

/// Messages in chat form.
fn messages() -> Shape {
    let function = Shape::Record(vec![Column::new("name", Shape::Text), Column::new("arguments", Shape::Text)]);
    let call = Shape::Record(vec![
        Column::new("id", Shape::Text),
        Column::new("type", Shape::Text),
        Column::new("function", function),
    ]);
    Shape::List(Box::new(Shape::Record(vec![
        Column::new("role", Shape::Text),
        Column::new("content", Shape::Text),
        Column::maybe("tool_calls", Shape::List(Box::new(call))),
        Column::maybe("tool_call_id", Shape::Text),
        Column::maybe("name", Shape::Text),
    ])))
}

/// What every row says of its task.
const TASK: [&str; 7] = ["task", "task_digest", "canary", "domain", "pattern", "tier", "split"];

fn task_cells(task: &TaskFacts) -> [Cell; 7] {
    [&task.id, &task.digest, &task.canary, &task.domain, &task.pattern, &task.tier, &task.split].map(Cell::from)
}

fn sft_columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("messages", messages()),
        Column::new("tools", Shape::Text),
        Column::new("reward", Shape::Number),
        Column::new("stop_condition", Shape::Text),
        Column::new("has_error", Shape::Truth),
        Column::new("is_truncated", Shape::Truth),
        Column::new("source", Shape::Text),
        Column::new("trace", Shape::Text),
    ];
    columns.extend(TASK.map(|name| Column::new(name, Shape::Text)));
    columns
}

fn sft_row(dialogue: &Dialogue) -> Vec<Cell> {
    let mut said = opening(dialogue);
    said.extend(completion(dialogue));
    let mut row = vec![
        Cell::List(said),
        Cell::Text(functions(dialogue)),
        Cell::Number(dialogue.judged.share()),
        dialogue.stop().into(),
        Cell::Truth(false),
        Cell::Truth(dialogue.limit.is_some()),
        (&dialogue.agent).into(),
        (&dialogue.trace).into(),
    ];
    row.extend(task_cells(&dialogue.task));
    row
}

fn pair_columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("prompt", messages()),
        Column::new("chosen", messages()),
        Column::new("rejected", messages()),
        Column::new("tools", Shape::Text),
        Column::new("rule", Shape::Text),
        Column::new("what", Shape::Text),
        Column::new("chosen_reward", Shape::Number),
        Column::new("rejected_reward", Shape::Number),
        Column::new("chosen_trace", Shape::Text),
        Column::new("rejected_trace", Shape::Text),
    ];
    columns.extend(TASK.map(|name| Column::new(name, Shape::Text)));
    columns
}

fn pair_row(pair: &Pair) -> Vec<Cell> {
    let Pair { chosen, rejected, rule, what } = pair;
    let mut row = vec![
        Cell::List(opening(chosen)),
        Cell::List(completion(chosen)),
        Cell::List(completion(rejected)),
        Cell::Text(functions(chosen)),
        rule.into(),
        what.into(),
        Cell::Number(chosen.judged.share()),
        Cell::Number(rejected.judged.share()),
        (&chosen.trace).into(),
        (&rejected.trace).into(),
    ];
    row.extend(task_cells(&chosen.task));
    row
}

/// The tools in the form of OpenAI's functions, as text.
fn functions(dialogue: &Dialogue) -> String {
    Json::Array(dialogue.tools.iter().map(|tool| tool.to_function()).collect()).to_string()
}

fn message(role: &str, content: &str, calls: Cell, call: Option<&CallFacts>) -> Cell {
    let of = |text: fn(&CallFacts) -> &String| call.map_or(Cell::None, |call| Cell::from(text(call)));
    Cell::Record(vec![role.into(), content.into(), calls, of(|call| &call.id), of(|call| &call.tool)])
}

/// What the agent was told.
fn opening(dialogue: &Dialogue) -> Vec<Cell> {
    let system = dialogue.system.iter().map(|text| message("system", text, Cell::None, None));
    system.chain([message("user", &dialogue.user, Cell::None, None)]).collect()
}

/// What it did.
fn completion(dialogue: &Dialogue) -> Vec<Cell> {
    let mut said = Vec::new();
    for turn in &dialogue.turns {
        let call = |call: &CallFacts| {
            let function = Cell::Record(vec![(&call.tool).into(), (&call.arguments).into()]);
            Cell::Record(vec![(&call.id).into(), "function".into(), function])
        };
        let calls = match turn.calls.is_empty() {
            true => Cell::None,
            false => Cell::List(turn.calls.iter().map(call).collect()),
        };
        said.push(message("assistant", &turn.text, calls, None));
        said.extend(turn.calls.iter().map(|call| message("tool", &call.answer, Cell::None, Some(call))));
    }
    // Whoever ended the work without a word, as programs outside do, says nothing more.
    if dialogue.limit.is_none() && dialogue.turns.last().is_none_or(|turn| !turn.calls.is_empty()) {
        said.push(message("assistant", "", Cell::None, None));
    }
    said
}
