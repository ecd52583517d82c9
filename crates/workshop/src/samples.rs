//! Seeded worlds as a person reads them: some records of one, and how large each size is.

use crate::{
    Error,
    worlds::{self, Opened},
};
use benchwright_base::{RelationId, RowId, Stream, TableId, Value};
use benchwright_catalog::Found;
use benchwright_expr::Type;
use benchwright_report::layout::{clean, columns, counted, paragraph};
use benchwright_sandbox::{Episode, Row, Sandbox};
use benchwright_schema::{Domain, codec};
use serde_json::{Map, Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

/// The fields that say what a row is, best first.
const TELLING: [&str; 9] =
    ["name", "display_name", "title", "subject", "short_description", "email", "number", "address", "filename"];

/// Records drawn from a world: tables in turn, so that small ones are seen too.
pub struct Sample {
    opened: Opened,
    first: Episode,
    rows: Vec<(TableId, RowId)>,
}

impl Sample {
    /// Draws so many, the same for the same seed.
    pub fn draw(opened: Opened, seed: u64, count: usize) -> Result<Sample, Error> {
        let first = worlds::look(&opened.sandbox)?;
        let domain = first.domain();
        let mut stream = Stream::new(seed, &["sample", &domain.name]);
        let mut left: Vec<TableId> = Vec::new();
        let mut seen = BTreeSet::new();
        let most = count.min(first.row_count());
        let mut rows = Vec::new();
        while rows.len() < most {
            if left.is_empty() {
                left = (0..domain.tables.len()).map(|at| RelationId(at as u16)).collect();
            }
            let table = left.swap_remove(stream.below(left.len() as u64) as usize);
            let fresh: Vec<RowId> = first.rows(table).map(Row::id).filter(|id| !seen.contains(&(table, *id))).collect();
            if let Some(id) = stream.pick(&fresh) {
                seen.insert((table, *id));
                rows.push((table, *id));
            }
        }
        rows.sort();
        Ok(Sample { opened, first, rows })
    }

    fn row(&self, table: TableId, id: RowId) -> Option<&Row> {
        self.first.rows(table).find(|row| row.id() == id)
    }

    /// A reference with what it leads to: `account 7, Nordlys Foods`.
    fn target(&self, table: TableId, id: RowId, depth: usize) -> String {
        let domain = self.first.domain();
        let name = &domain.table(table).name;
        match self.row(table, id).and_then(|row| self.telling(table, row, depth)) {
            Some(text) => format!("{name} {id}, {text}"),
            None => format!("{name} {id}"),
        }
    }

    /// What a row is called; a row without a name is called as what it first refers to.
    fn telling(&self, table: TableId, row: &Row, depth: usize) -> Option<String> {
        let declared = self.first.domain().table(table);
        let text = |name: &str| declared.field_named(name).and_then(|field| row.get(field).as_text().map(clean));
        let person = || Some(format!("{} {}", text("first_name")?, text("last_name")?));
        let refers = || {
            let mut fields = declared.fields.iter().zip(row.cells()).skip(1);
            fields.find_map(|(field, cell)| match (field.ty, cell) {
                (Type::Ref(to), Value::Ref(id)) if depth > 0 => Some(self.target(to, *id, depth - 1)),
                _ => None,
            })
        };
        person().or_else(|| TELLING.iter().find_map(|name| text(name))).or_else(refers)
    }

    /// The records for a reader, in lines of so many columns.
    pub fn to_text(&self, width: usize) -> String {
        let domain = self.first.domain();
        let mut out = format!(
            "{} of {} ({}; {} in all)\n",
            counted(self.rows.len(), "record"),
            domain.name,
            self.opened.from,
            self.first.row_count()
        );
        for (table, id) in &self.rows {
            let Some(row) = self.row(*table, *id) else { continue };
            let declared = domain.table(*table);
            out.push_str(&format!("\n{} {id}\n", declared.name));
            let filled = || declared.fields.iter().zip(row.cells()).skip(1).filter(|(_, cell)| !cell.is_null());
            let longest = filled().map(|(field, _)| field.name.len()).max().unwrap_or_default();
            for (field, cell) in filled() {
                let shown = match (field.ty, cell) {
                    (Type::Ref(to), Value::Ref(id)) => format!("-> {}", self.target(to, *id, 1)),
                    _ => clean(&codec::show_value(domain, field.ty, cell)),
                };
                out.push_str(&paragraph(&format!("  {:longest$}  ", field.name), &shown, width));
            }
        }
        out
    }

    /// The same as a document.
    pub fn to_json(&self) -> Json {
        let domain = self.first.domain();
        let record = |(table, id): &(TableId, RowId)| {
            let declared = domain.table(*table);
            let row = self.row(*table, *id)?;
            let mut fields = Map::new();
            for (field, cell) in declared.fields.iter().zip(row.cells()) {
                let mut text = Vec::new();
                codec::write_value(&mut text, domain, field.ty, cell);
                fields.insert(field.name.clone(), serde_json::from_slice(&text).unwrap_or_default());
            }
            Some(json!({ "table": declared.name, "fields": fields }))
        };
        self.rows.iter().filter_map(record).collect()
    }
}

/// A domain filled at one of its sizes.
pub struct Filled {
    /// The domain.
    pub domain: Arc<Domain>,
    /// The size.
    pub size: String,
    /// Rows by table, in the order of the declaration.
    tables: Vec<usize>,
    /// Milliseconds in which it was filled.
    build_ms: f64,
    /// Bytes of its snapshot.
    bytes: usize,
    /// Whether filling it again gave the same bytes.
    pub is_same_again: bool,
}

impl Filled {
    fn rows(&self) -> usize {
        self.tables.iter().sum()
    }
}

/// Fills a domain at each of its sizes, twice.
pub fn fill(found: &Found, seed: u64) -> Result<Vec<Filled>, Error> {
    let domain = &found.domain;
    let Some(declared) = &domain.seed else { return Ok(Vec::new()) };
    let mut filled = Vec::new();
    for size in &declared.sizes {
        let make = || {
            let begun = Instant::now();
            let world = Sandbox::seeded(Arc::clone(domain), found.natives, size, seed)
                .map_err(|error| Error::catalog(&domain.name)(error.into()))?;
            let spent = begun.elapsed().as_secs_f64() * 1e3;
            Ok::<_, Error>((spent, worlds::look(&Arc::new(world))?))
        };
        let ((first_ms, first), (again_ms, again)) = (make()?, make()?);
        let bytes = first.snapshot_bytes();
        filled.push(Filled {
            domain: Arc::clone(domain),
            size: size.clone(),
            tables: (0..domain.tables.len()).map(|at| first.table_len(RelationId(at as u16))).collect(),
            build_ms: first_ms.min(again_ms),
            bytes: bytes.len(),
            is_same_again: again.snapshot_bytes() == bytes,
        });
    }
    Ok(filled)
}

/// How large a filled domain is, as a document.
pub fn summary(filled: &Filled) -> Json {
    let tables = filled.domain.tables.iter().zip(&filled.tables);
    let tables: BTreeMap<&str, usize> = tables.map(|(table, rows)| (&*table.name, *rows)).collect();
    json!({
        "name": filled.domain.name,
        "size": filled.size,
        "rows": filled.rows(),
        "build_ms": (filled.build_ms * 100.0).round() / 100.0,
        "bytes": filled.bytes,
        "same_again": filled.is_same_again,
        "tables": tables,
    })
}

/// How large filled domains are, size by size; of one domain, table by table too.
pub fn table(all: &[Filled], is_one: bool) -> String {
    let mut rows = vec![["domain", "size", "rows", "ms", "bytes", "same again"].map(str::to_owned).to_vec()];
    for filled in all {
        rows.push(vec![
            filled.domain.name.clone(),
            filled.size.clone(),
            filled.rows().to_string(),
            format!("{:.1}", filled.build_ms),
            filled.bytes.to_string(),
            if filled.is_same_again { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    let mut out = columns(&rows, &[2, 3, 4], 0);
    if let (true, Some(first)) = (is_one, all.first()) {
        let mut head = vec!["table".to_owned()];
        head.extend(all.iter().map(|filled| filled.size.clone()));
        let mut rows = vec![head];
        for (at, table) in first.domain.tables.iter().enumerate() {
            let mut row = vec![table.name.clone()];
            row.extend(all.iter().map(|filled| filled.tables[at].to_string()));
            rows.push(row);
        }
        out.push('\n');
        out.push_str(&columns(&rows, &(1..=all.len()).collect::<Vec<_>>(), 0));
    }
    out
}
