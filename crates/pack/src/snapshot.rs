//! A whole state of a world as a document. The canonical form is JSON: tables in the order of the domain, rows by id,
//! fields in the order of the declaration. Equal states have equal bytes.
//!
//! A state that an episode has changed names the first state that it came from by its digest, so that a judge can tell whether
//! it belongs to a task. A first state names none: it is one.

use benchwright_base::{DateTime, Digest, Json, RowId, Value, json, number};
use benchwright_schema::{Domain, codec};

/// The largest snapshot that is read, in bytes.
pub const LARGEST_SNAPSHOT: usize = 1 << 30;

/// A whole state: every row of every table, and where its counters and its clock stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The name of the domain whose tables these are.
    pub domain: String,
    /// The digest of its declarations.
    pub domain_digest: Digest,
    /// The digest of the first state that this one came from; `None` in a first state.
    pub first: Option<Digest>,
    /// The time in the world.
    pub now: DateTime,
    /// The tables, in the order of the domain.
    pub tables: Vec<SnapshotTable>,
}

/// The rows of one table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnapshotTable {
    /// The id that the next new row gets.
    pub next_id: RowId,
    /// The number that the next numbered row gets.
    pub next_number: u32,
    /// The rows by id; the first cell of each is its id.
    pub rows: Vec<Vec<Value>>,
}

/// Why a snapshot could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It is too large.
    #[error("the snapshot has {0} bytes; at most {LARGEST_SNAPSHOT} are read")]
    TooLarge(usize),
    /// It is not a snapshot, or not of this domain.
    #[error("this is not a snapshot: {0}")]
    Malformed(String),
    /// It was made with another version of the format.
    #[error("the snapshot is of version {0}; this program reads version {version}", version = Snapshot::VERSION)]
    Version(i64),
    /// It was made with other declarations.
    #[error("the snapshot was made with other declarations of {0}; make it again, or use the program it was made with")]
    OtherDeclarations(String),
}

impl Snapshot {
    /// The version that is written.
    pub const VERSION: i64 = 1;

    /// The one form of this document; equal states have equal bytes.
    pub fn to_bytes(&self, domain: &Domain) -> Vec<u8> {
        let mut out = Vec::with_capacity(1 << 16);
        Snapshot::write_head(&mut out, &self.domain, self.domain_digest, self.first, self.now);
        for (at, (table, declared)) in self.tables.iter().zip(&domain.tables).enumerate() {
            Snapshot::write_table_head(&mut out, at, &declared.name, table.next_id, table.next_number);
            for (at, row) in table.rows.iter().enumerate() {
                if at > 0 {
                    out.extend_from_slice(b",\n");
                }
                Snapshot::write_row(&mut out, domain, declared, row);
            }
            out.extend_from_slice(b"]}");
        }
        out.extend_from_slice(b"]}\n");
        out
    }

    /// The beginning of the canonical bytes. An engine that holds its rows as JSON already writes the rest itself.
    pub fn write_head(out: &mut Vec<u8>, domain: &str, digest: Digest, first: Option<Digest>, now: DateTime) {
        out.extend_from_slice(b"{\"snapshot\":");
        number::write_int(out, Snapshot::VERSION);
        out.extend_from_slice(b",\"domain\":");
        json::write_text(out, domain);
        let first = first.map(|first| format!(",\"first\":\"{first}\"")).unwrap_or_default();
        let rest = format!(",\"domain_digest\":\"{digest}\"{first},\"now\":\"{now}\",\"tables\":[");
        out.extend_from_slice(rest.as_bytes());
    }

    /// The beginning of a table; its rows follow, with `,` and a line break between, then `]}`; after the last table `]}`
    /// and a line break.
    pub fn write_table_head(out: &mut Vec<u8>, at: usize, name: &str, next_id: RowId, next_number: u32) {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"\n{\"table\":");
        json::write_text(out, name);
        out.extend_from_slice(format!(",\"next_id\":{next_id},\"next_number\":{next_number},\"rows\":[\n").as_bytes());
    }

    /// One row as an object.
    pub fn write_row(out: &mut Vec<u8>, domain: &Domain, table: &benchwright_schema::Table, cells: &[Value]) {
        for (at, (field, value)) in table.fields.iter().zip(cells).enumerate() {
            out.push(if at == 0 { b'{' } else { b',' });
            json::write_text(out, &field.name);
            out.push(b':');
            codec::write_value(out, domain, field.ty, value);
        }
        out.push(b'}');
    }

    /// The name of the domain that a snapshot's bytes are of, without reading the rest.
    pub fn domain_of(bytes: &[u8]) -> Option<String> {
        let head = std::str::from_utf8(bytes.get(..bytes.len().min(400))?).ok()?;
        let rest = head.strip_prefix("{\"snapshot\":")?.split_once(",\"domain\":\"")?.1;
        rest.split_once('"').map(|(name, _)| name.to_owned())
    }

    /// Reads a snapshot of a domain. Types are checked; references, uniqueness and rules are for the engine that loads it.
    pub fn from_bytes(bytes: &[u8], domain: &Domain) -> Result<Snapshot, SnapshotError> {
        if bytes.len() > LARGEST_SNAPSHOT {
            return Err(SnapshotError::TooLarge(bytes.len()));
        }
        let malformed = |what: String| SnapshotError::Malformed(what);
        let text = std::str::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
        let json = Json::parse(text).map_err(|error| malformed(error.to_string()))?;
        let int = |json: &Json<'_>, key: &str| match json.get(key) {
            Some(Json::Int(n)) => Ok(*n),
            _ => Err(malformed(format!("`{key}` is not a whole number"))),
        };
        let string = |key: &str| match json.get(key) {
            Some(Json::Text(text)) => Ok(text.to_string()),
            _ => Err(malformed(format!("`{key}` is not a string"))),
        };
        let version = int(&json, "snapshot")?;
        if version != Snapshot::VERSION {
            return Err(SnapshotError::Version(version));
        }
        let name = string("domain")?;
        if name != domain.name {
            return Err(malformed(format!("it is of the domain {name}, not of {}", domain.name)));
        }
        let digest =
            Digest::parse(&string("domain_digest")?).ok_or_else(|| malformed("`domain_digest` is no digest".into()))?;
        if digest != domain.digest {
            return Err(SnapshotError::OtherDeclarations(name));
        }
        let first = match json.get("first") {
            None => None,
            Some(Json::Text(text)) => {
                Some(Digest::parse(text).ok_or_else(|| malformed("`first` is no digest".into()))?)
            }
            Some(_) => return Err(malformed("`first` is no digest".into())),
        };
        let now = DateTime::parse(&string("now")?).ok_or_else(|| malformed("`now` is no instant".into()))?;
        let Some(Json::List(tables)) = json.get("tables") else {
            return Err(malformed("`tables` is not a list".into()));
        };
        if tables.len() != domain.tables.len() {
            return Err(malformed(format!("it has {} tables, not {}", tables.len(), domain.tables.len())));
        }
        let mut read = Vec::with_capacity(tables.len());
        for (table, declared) in tables.iter().zip(&domain.tables) {
            if table.get("table") != Some(&Json::Text(declared.name.as_str().into())) {
                return Err(malformed(format!("the table {} is not in its place", declared.name)));
            }
            let Some(Json::List(rows)) = table.get("rows") else {
                return Err(malformed(format!("the rows of {} are not a list", declared.name)));
            };
            let rows =
                rows.iter().map(|row| read_row(domain, declared, row)).collect::<Result<_, _>>().map_err(malformed)?;
            let small =
                |key| u32::try_from(int(table, key)?).map_err(|_| malformed(format!("`{key}` is out of range")));
            read.push(SnapshotTable { next_id: small("next_id")?, next_number: small("next_number")?, rows });
        }
        Ok(Snapshot { domain: name, domain_digest: digest, first, now, tables: read })
    }
}

fn read_row(domain: &Domain, table: &benchwright_schema::Table, row: &Json<'_>) -> Result<Vec<Value>, String> {
    let Json::Object(entries) = row else { return Err(format!("a row of {} is not an object", table.name)) };
    if entries.len() != table.fields.len() {
        return Err(format!("a row of {} has {} fields, not {}", table.name, entries.len(), table.fields.len()));
    }
    let mut cells = Vec::with_capacity(entries.len());
    for ((name, json), field) in entries.iter().zip(&table.fields) {
        if *name != field.name {
            return Err(format!("a row of {} has `{name}` where `{}` belongs", table.name, field.name));
        }
        let value =
            codec::read_value(domain, field.ty, json).map_err(|error| format!("{}.{name} {error}", table.name))?;
        if value.is_null() && !field.nullable {
            return Err(format!("{}.{name} is null", table.name));
        }
        codec::check_bounds(&value, field.bounds).map_err(|error| format!("{}.{name} {error}", table.name))?;
        cells.push(value);
    }
    Ok(cells)
}
