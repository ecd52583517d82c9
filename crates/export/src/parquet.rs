//! Tasks as Parquet shards, one row a task. The open and the sealed parts stand in trees of their own, as they do on disk.

use crate::ExportError;
use benchwright_base::Digest;
use benchwright_pack::{
    Store, StoreError, Task,
    store::{self, OPEN_TREE, SEALED_TREE, SUITE_FILE},
};
use bytes::Bytes;
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel},
    data_type::{ByteArray, ByteArrayType},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        reader::{FileReader as _, SerializedFileReader},
        writer::SerializedFileWriter,
    },
    record::Field,
    schema::types::Type,
};
use std::{
    collections::BTreeMap,
    fs, io, mem,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How much was written into a folder of shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParquetSummary {
    /// Tasks, one row in each of the two trees.
    pub tasks: usize,
    /// Shards of each tree.
    pub shards: usize,
    /// Bytes of all shards of both trees.
    pub bytes: u64,
}

/// How a column is filled and read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Bytes,
    /// JSON that need not be there.
    MaybeJson,
}

const OPEN: &[(&str, Kind)] =
    &[("id", Kind::Text), ("instruction", Kind::Text), ("world", Kind::Bytes), ("task", Kind::Json)];
const SEALED: &[(&str, Kind)] =
    &[("id", Kind::Text), ("digest", Kind::Text), ("sealed", Kind::Json), ("audit", Kind::MaybeJson)];

/// How hard the codec tries: for what is kept, and for what is made by the million.
const EXPORT_LEVEL: i32 = 9;
const STREAM_LEVEL: i32 = 3;

/// A row: a cell for each column, or none.
type Row = Vec<Option<Vec<u8>>>;

/// Writes the tasks of a folder as shards of so many tasks, in the order of its lock file. The same folder gives the same
/// bytes.
pub fn parquet(store: &Store, out: &Path, per_shard: usize) -> Result<ParquetSummary, ExportError> {
    let ids = ordered(store)?;
    for tree in [OPEN_TREE, SEALED_TREE] {
        let folder = out.join(tree);
        if folder.exists() {
            return Err(ExportError::AlreadyThere(folder));
        }
        fs::create_dir_all(&folder).map_err(|why| ExportError::Io { path: folder, why })?;
    }
    let mut summary = ParquetSummary { tasks: 0, shards: 0, bytes: 0 };
    for (at, ids) in ids.chunks(per_shard.max(1)).enumerate() {
        let (mut open, mut sealed) = (Vec::new(), Vec::new());
        for id in ids {
            let task = store.task(id)?;
            let audit = store.audit(&task)?;
            let audit = audit.map(|audit| audit.to_bytes());
            sealed.push(sealed_row(&task, audit));
            open.push(open_row(task));
        }
        let name = format!("part-{at:05}.parquet");
        for (tree, columns, rows) in [(OPEN_TREE, OPEN, open), (SEALED_TREE, SEALED, sealed)] {
            let path = out.join(tree).join(&name);
            let io = |why| ExportError::Io { path: path.clone(), why };
            let file = fs::File::create_new(&path).map_err(io)?;
            write(file, tree, columns, rows, EXPORT_LEVEL)
                .map_err(|why| ExportError::Parquet { path: path.clone(), why })?;
            summary.bytes += fs::metadata(&path).map_err(|why| ExportError::Io { path, why })?.len();
        }
        summary.tasks += ids.len();
        summary.shards += 1;
    }
    Ok(summary)
}

/// The bytes of one shard of a stream of tasks: its open part, its sealed part.
pub fn shard(tasks: Vec<Task>) -> Result<[Vec<u8>; 2], ExportError> {
    let (mut open, mut sealed) = (Vec::new(), Vec::new());
    for task in tasks {
        sealed.push(sealed_row(&task, None));
        open.push(open_row(task));
    }
    let bytes = |tree: &str, columns, rows| {
        let mut bytes = Vec::new();
        let written = write(&mut bytes, tree, columns, rows, STREAM_LEVEL);
        written.map(|()| bytes).map_err(|why| ExportError::Parquet { path: tree.into(), why })
    };
    Ok([bytes(OPEN_TREE, OPEN, open)?, bytes(SEALED_TREE, SEALED, sealed)?])
}

/// A task as a row of each of the two parts of a shard, held to its digest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShardTask {
    /// The digest of every byte of it.
    pub digest: Digest,
    /// The bytes of its sealed part.
    pub sealed: Vec<u8>,
    id: String,
    open: Vec<u8>,
    instruction: Vec<u8>,
    world: Vec<u8>,
}

impl ShardTask {
    /// The task, read as one in a store is; `shard` is where it stands.
    pub fn read(self, shard: &Path) -> Result<Task, ExportError> {
        Ok(store::task_of(shard, &self.id, &self.open, self.instruction, self.world, &self.sealed)?)
    }
}

/// The tasks of a shard, each held to its digest, of the bytes of its open and of its sealed part; they stand at these places. A shard that is
/// damaged is an error that names the file.
pub fn shard_tasks(
    [open_path, sealed_path]: [&Path; 2],
    [open, sealed]: [Vec<u8>; 2],
) -> Result<Vec<ShardTask>, ExportError> {
    let damaged = |path: &Path, why: &str| {
        ExportError::Store(StoreError::Malformed { path: path.to_owned(), why: format!("the shard is damaged: {why}") })
    };
    let (open, sealed) = (read(open_path, open, OPEN)?, read(sealed_path, sealed, SEALED)?);
    if open.len() != sealed.len() {
        return Err(damaged(sealed_path, "its rows are not those of the open part"));
    }
    let mut tasks = Vec::with_capacity(open.len());
    for (mut open, mut sealed) in open.into_iter().zip(sealed) {
        let [Some(id), Some(instruction), Some(world), Some(open)] = &mut open[..] else {
            return Err(damaged(open_path, "a row lacks a column"));
        };
        let [Some(same), Some(digest), Some(sealed), ..] = &mut sealed[..] else {
            return Err(damaged(sealed_path, "a row lacks a column"));
        };
        let (found, id_text) = (Task::digest_of(open, instruction, world, sealed), String::from_utf8_lossy(id));
        if id != same || found.to_string().as_bytes() != &**digest {
            return Err(damaged(sealed_path, &format!("{id_text} has another digest")));
        }
        tasks.push(ShardTask {
            digest: found,
            id: id_text.into_owned(),
            open: mem::take(open),
            instruction: mem::take(instruction),
            world: mem::take(world),
            sealed: mem::take(sealed),
        });
    }
    Ok(tasks)
}

/// Whether a folder holds shards.
pub fn is_sharded(folder: &Path) -> bool {
    shards(folder, OPEN_TREE).is_ok_and(|shards| !shards.is_empty())
}

/// Unpacks the tasks of a folder of shards into a store, and says how many there are. Sealed parts are read only if they are wanted; then
/// every task is held to its digest.
pub fn unpack(folder: &Path, with_sealed: bool, store: &Store) -> Result<usize, ExportError> {
    let mut count = 0;
    let malformed = |path: &Path| {
        let why = "the shard has other columns than it should".to_owned();
        ExportError::Store(StoreError::Malformed { path: path.to_owned(), why })
    };
    for path in shards(folder, OPEN_TREE)? {
        for row in read(&path, bytes_of(&path)?, OPEN)? {
            let [Some(id), Some(instruction), Some(world), Some(open)] = &row[..] else { return Err(malformed(&path)) };
            store.write_open(&String::from_utf8_lossy(id), open, instruction, world)?;
            count += 1;
        }
    }
    for path in if with_sealed { shards(folder, SEALED_TREE)? } else { Vec::new() } {
        for row in read(&path, bytes_of(&path)?, SEALED)? {
            let [Some(id), Some(digest), Some(sealed), ..] = &row[..] else { return Err(malformed(&path)) };
            let id = String::from_utf8_lossy(id);
            store.write_sealed(&id, sealed)?;
            if store.unlocked_task(&id)?.digest().to_string().as_bytes() != &**digest {
                return Err(ExportError::Store(StoreError::Digest(path)));
            }
        }
    }
    Ok(count)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, ExportError> {
    fs::read(path).map_err(|why| ExportError::Io { path: path.to_owned(), why })
}

/// The shards of a tree, in order.
fn shards(folder: &Path, tree: &str) -> Result<Vec<PathBuf>, ExportError> {
    let tree = folder.join(tree);
    let io = |why| ExportError::Io { path: tree.clone(), why };
    let mut paths = Vec::new();
    for entry in fs::read_dir(&tree).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|end| end == "parquet") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The rows of a shard.
fn read(path: &Path, bytes: Vec<u8>, columns: &[(&str, Kind)]) -> Result<Vec<Row>, ExportError> {
    let failed = |why| ExportError::Parquet { path: path.to_owned(), why };
    let file = SerializedFileReader::new(Bytes::from(bytes)).map_err(failed)?;
    let mut rows = Vec::new();
    for row in file.get_row_iter(None).map_err(failed)? {
        let row = row.map_err(failed)?;
        let cells: BTreeMap<&String, &Field> = row.get_column_iter().collect();
        let cell = |(name, _): &(&str, Kind)| match cells.get(&(*name).to_owned()) {
            Some(Field::Str(text)) => Some(text.clone().into_bytes()),
            Some(Field::Bytes(bytes)) => Some(bytes.data().to_vec()),
            _ => None,
        };
        rows.push(columns.iter().map(cell).collect());
    }
    Ok(rows)
}

/// The ids of the tasks in the order of the lock file. A line without a task is an error.
fn ordered(store: &Store) -> Result<Vec<String>, ExportError> {
    let suite = store.suite()?;
    let mut known: BTreeMap<(String, String, String, u64), String> = BTreeMap::new();
    for id in store.ids()? {
        let sealed = store.task(&id)?.sealed;
        known.insert((sealed.pattern, sealed.tier, sealed.objective, sealed.seed), id);
    }
    let find = |line: &benchwright_pack::SuiteTask| {
        let key = (line.pattern.clone(), line.tier.clone(), line.objective.clone(), line.seed);
        let missing = || {
            let place = PathBuf::from(format!("{} {} {} seed {}", key.0, key.1, key.2, key.3));
            ExportError::Store(StoreError::Missing(store.root().join(SUITE_FILE).join(place)))
        };
        known.get(&key).cloned().ok_or_else(missing)
    };
    suite.tasks.iter().map(find).collect()
}

fn open_row(task: Task) -> Row {
    let bytes = task.open_bytes();
    vec![Some(task.open.id.into_bytes()), Some(task.instruction.into_bytes()), Some(task.world), Some(bytes)]
}

fn sealed_row(task: &Task, audit: Option<Vec<u8>>) -> Row {
    let digest = task.digest().to_string();
    vec![Some(task.open.id.clone().into_bytes()), Some(digest.into_bytes()), Some(task.sealed_bytes()), audit]
}

fn write(
    to: impl io::Write + Send,
    name: &str,
    columns: &[(&str, Kind)],
    rows: Vec<Row>,
    level: i32,
) -> Result<(), ParquetError> {
    let field = |(name, kind): &(&str, Kind)| {
        let logical = match kind {
            Kind::Text => Some(LogicalType::String),
            Kind::Json | Kind::MaybeJson => Some(LogicalType::Json),
            Kind::Bytes => None,
        };
        let repetition = if *kind == Kind::MaybeJson { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let built = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        built.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        // Every cell is another document, so neither a dictionary nor bounds would help a reader.
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by("benchwright".to_owned())
        .build();
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let mut cells: Vec<Vec<Option<Vec<u8>>>> = columns.iter().map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        for (column, cell) in cells.iter_mut().zip(row) {
            column.push(cell);
        }
    }
    for ((_, kind), column) in columns.iter().zip(cells) {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("a column is missing".to_owned()));
        };
        let levels: Vec<i16> = column.iter().map(|cell| i16::from(cell.is_some())).collect();
        let values: Vec<ByteArray> = column.into_iter().flatten().map(ByteArray::from).collect();
        let levels = (*kind == Kind::MaybeJson).then_some(&*levels);
        writer.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}
