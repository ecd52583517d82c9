//! The workspace of a world: the files that lie there for whoever works in it, at the stage where the work stands, and which forms were
//! handed in at that stage. A world has one where its domain has the tables `file` and `stage`, by their names and columns; what else the
//! domain declares is nobody's matter here. A first state can be read so, and so can an episode as it stands.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use benchwright_base::Value;
use benchwright_pack::{Files, FilesError, Snapshot};
use benchwright_schema::Domain;
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// The file with the instruction, for who has nothing but the folder.
pub const BRIEF: &str = "brief.md";
/// The folder in which forms are handed in as files.
pub const SUBMISSION: &str = "submission";

/// Bytes as text, whether or not they are filled up with `=`.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why a workspace could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// What a file holds is no Base64, and its media type is none of a text.
    #[error("the file {path} of the world is of {media}, and what it holds is no Base64")]
    Body {
        /// The file.
        path: String,
        /// What it should be.
        media: String,
    },
    /// A path leads out of the folder.
    #[error("a file of the world: {0}")]
    Path(#[from] FilesError),
    /// A path is in the way of another file, or of the folder that is handed in.
    #[error("the files {0} and {1} of the world cannot stand in one folder")]
    InTheWay(String, String),
}

/// A file of a workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkFile {
    /// Its path: plain names with `/` between them.
    pub path: String,
    /// Its media type.
    pub media: String,
    body: Arc<str>,
}

impl WorkFile {
    /// Whether it is kept as it is, and not in Base64.
    fn is_text(&self) -> bool {
        self.media.starts_with("text/") || self.media == "application/json"
    }

    /// What it holds as it is kept, where that is text. The text is shared with the state it comes from.
    pub fn text(&self) -> Option<&Arc<str>> {
        self.is_text().then_some(&self.body)
    }

    /// What it holds.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, WorkspaceError> {
        if self.is_text() {
            return Ok(self.body.as_bytes().into());
        }
        let wrong = |_| WorkspaceError::Body { path: self.path.clone(), media: self.media.clone() };
        BASE64.decode(&*self.body).map(Cow::from).map_err(wrong)
    }
}

/// The files of a world at a stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workspace {
    /// The stage, from 1.
    pub stage: i64,
    /// The last one there will be.
    pub last: i64,
    /// The forms that were handed in at this stage.
    pub handed: Vec<String>,
    files: BTreeMap<String, WorkFile>,
}

/// Where a table is, and where its columns are.
type Place<const N: usize> = (usize, [usize; N]);

fn place<const N: usize>(domain: &Domain, table: &str, columns: [&str; N]) -> Option<Place<N>> {
    let id = domain.table_named(table)?;
    let mut at = [0; N];
    for (at, column) in at.iter_mut().zip(columns) {
        *at = domain.table(id).field_named(column)?.index();
    }
    Some((id.index(), at))
}

fn files_of(domain: &Domain) -> Option<Place<4>> {
    place(domain, "file", ["path", "media", "stage", "body"])
}

/// Where the work stands.
fn stage_of(domain: &Domain) -> Option<Place<2>> {
    place(domain, "stage", ["current", "last"])
}

/// The cells of a table's columns, row by row.
fn cells<const N: usize>(state: &Snapshot, (table, at): Place<N>) -> impl Iterator<Item = [&Value; N]> {
    let rows = state.tables.get(table).map_or(&[][..], |table| &table.rows);
    rows.iter().map(move |row| at.map(|at| row.get(at).unwrap_or(&Value::Null)))
}

impl Workspace {
    /// Whether the worlds of a domain have files.
    pub fn is_in(domain: &Domain) -> bool {
        files_of(domain).is_some() && stage_of(domain).is_some()
    }

    /// The workspace of a state; nothing where worlds of the domain have no files.
    pub fn of(domain: &Domain, state: &Snapshot) -> Option<Workspace> {
        let (files, stage) = (files_of(domain)?, stage_of(domain)?);
        let stands = cells(state, stage).next().map(|cells| cells.map(|cell| cell.as_number().unwrap_or(1)));
        let [now, last] = stands.unwrap_or([1, 1]);
        let is_there = |from: &Value| from.as_number().unwrap_or(1) <= now;
        let file = |[path, media, from, body]: [&Value; 4]| match (path, media, body) {
            (Value::Text(path), Value::Text(media), Value::Text(body)) if is_there(from) => {
                let file = WorkFile { path: path.to_string(), media: media.to_string(), body: Arc::clone(body) };
                Some((path.to_string(), file))
            }
            _ => None,
        };
        let handed = place(domain, "handed", ["form", "stage"]);
        let handed = handed.into_iter().flat_map(|place| cells(state, place));
        let handed = handed.filter(|[_, at]| at.as_number() == Some(now));
        Some(Workspace {
            stage: now,
            last,
            handed: handed.filter_map(|[form, _]| form.as_text().map(str::to_owned)).collect(),
            files: cells(state, files).filter_map(file).collect(),
        })
    }

    /// The files that are there at this stage, in order of their paths.
    pub fn files(&self) -> impl Iterator<Item = &WorkFile> {
        self.files.values()
    }

    /// A file by its path, which has to be exactly that.
    pub fn file(&self, path: &str) -> Option<&WorkFile> {
        self.files.get(path)
    }

    /// What lies in the folder of whoever works with files: those of the world, and the instruction where none of them is it. The folder
    /// that is handed in is not among them, and none of them is in it.
    pub fn laid_out(&self, instruction: &str) -> Result<Files, WorkspaceError> {
        let mut all = Files::default();
        all.put(BRIEF, instruction)?;
        for file in self.files() {
            all.put(&file.path, file.bytes()?)?;
        }
        let submission = format!("{SUBMISSION}/");
        let known: Vec<&str> = all.iter().map(|(path, _)| path).chain([&*submission]).collect();
        for (path, _) in all.iter() {
            let folder = format!("{path}/");
            let clash = known.iter().find(|other| other.starts_with(&folder));
            let clash = clash.or_else(|| path.starts_with(&submission).then_some(&SUBMISSION));
            if let Some(other) = clash {
                return Err(WorkspaceError::InTheWay(path.to_owned(), (*other).to_owned()));
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_base::DateTime;
    use benchwright_pack::SnapshotTable;
    use benchwright_schema::{Folder, load};

    const TABLES: &str = "[file]\npath = \"text unique\"\nmedia = \"text\"\nstage = \"int(1..) = 1\"\nbody = \"text\"\n\
        [stage]\ncurrent = \"int(1..) = 1\"\nlast = \"int(1..) = 1\"\n\
        [handed]\nform = \"text\"\nstage = \"int(1..)\"\nrevision = \"int(1..)\"\n";

    fn domain(tables: &str) -> Domain {
        let files = [
            ("domain.toml", "name = \"desk\"\ntitle = \"A desk\"\nrole = \"planner\"\nabout = \"A desk.\"\n"),
            ("tables.toml", tables),
            ("tools.toml", "list_all = \"list file\"\n"),
            ("policy.toml", "[access]\nplanner = [\"any on *\"]\n"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        load(&Folder::new("desk", files)).unwrap_or_else(|faults| panic!("{faults:?}"))
    }

    /// A state with rows of texts and numbers, by table.
    fn state(domain: &Domain, rows: &[(&str, &[&[&str]])]) -> Snapshot {
        let cell = |text: &&str| text.parse().map_or_else(|_| Value::text(*text), Value::Int);
        let row = |(at, cells): (usize, &&[&str])| {
            [Value::Ref(at as u32 + 1)].into_iter().chain(cells.iter().map(cell)).collect()
        };
        let table = |name: &str| {
            let rows = rows.iter().find(|(table, _)| *table == name).map_or(&[][..], |(_, rows)| rows);
            let rows: Vec<Vec<Value>> = rows.iter().enumerate().map(row).collect();
            SnapshotTable { next_id: rows.len() as u32 + 1, next_number: 1, rows }
        };
        let tables = domain.tables.iter().map(|declared| table(&declared.name)).collect();
        let (name, now) = (domain.name.clone(), DateTime(0));
        Snapshot { domain: name, domain_digest: domain.digest, first: None, now, tables }
    }

    const FILES: &[&[&str]] = &[
        &["notes/later.md", "text/markdown", "2", "Later."],
        &["data/a.csv", "text/csv", "1", "item\nred\n"],
        &["data/b.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "1", "UEsDBP8="],
    ];

    #[test]
    fn files_are_those_of_the_present_stage_with_their_bytes() {
        let domain = domain(TABLES);
        let handed: &[&[&str]] = &[&["runs", "1", "1"], &["overtime", "2", "1"]];
        let at = |now: &'static str| {
            let stage: &[&[&str]] = &[&[now, "2"]];
            Workspace::of(&domain, &state(&domain, &[("file", FILES), ("stage", stage), ("handed", handed)])).unwrap()
        };
        let first = at("1");
        assert_eq!((first.stage, first.last, &*first.handed), (1, 2, &["runs".to_owned()][..]));
        assert_eq!(first.files().map(|file| &*file.path).collect::<Vec<_>>(), ["data/a.csv", "data/b.xlsx"]);
        assert_eq!(first.file("data/b.xlsx").unwrap().bytes().unwrap(), &[b'P', b'K', 3, 4, 0xff][..]);
        assert!(first.file("notes/later.md").is_none() && first.file("data/../data/a.csv").is_none());
        let second = at("2");
        assert_eq!(second.file("notes/later.md").unwrap().bytes().unwrap(), &b"Later."[..]);
        assert_eq!(second.handed, ["overtime"]);
    }

    #[test]
    fn a_domain_without_the_two_tables_has_no_files() {
        let files_only = TABLES.replace("[stage]\ncurrent", "[step]\ncurrent");
        for tables in [&*files_only, &TABLES.replace("media", "mime_type")] {
            let domain = domain(tables);
            assert!(!Workspace::is_in(&domain));
            assert_eq!(Workspace::of(&domain, &state(&domain, &[("file", FILES)])), None);
        }
        assert!(Workspace::is_in(&domain(TABLES)));
    }

    #[test]
    fn the_folder_has_the_instruction_and_nothing_that_leads_out_of_it() {
        let domain = domain(TABLES);
        let of = |files: &[&[&str]]| {
            Workspace::of(&domain, &state(&domain, &[("file", files)])).unwrap().laid_out("Plan the week.")
        };
        let laid = of(FILES).unwrap();
        assert_eq!(laid.iter().map(|(path, _)| path).collect::<Vec<_>>(), ["brief.md", "data/a.csv", "data/b.xlsx"]);
        assert_eq!(laid.get("brief.md"), Some(&b"Plan the week."[..]));
        // A world that has a brief of its own keeps it.
        let own = of(&[&["brief.md", "text/markdown", "1", "The brief."]]).unwrap();
        assert_eq!(own.get("brief.md"), Some(&b"The brief."[..]));
        for path in ["../x", "/etc/passwd", "a/../b", "a//b"] {
            assert!(matches!(of(&[&[path, "text/csv", "1", ""]]), Err(WorkspaceError::Path(_))), "{path}");
        }
        for path in ["submission", "submission/runs.csv", "brief.md/x"] {
            assert!(matches!(of(&[&[path, "text/csv", "1", ""]]), Err(WorkspaceError::InTheWay(..))), "{path}");
        }
        let broken = of(&[&["a.xlsx", "application/octet-stream", "1", "no Base64!"]]).unwrap_err();
        assert!(broken.to_string().contains("a.xlsx"), "{broken}");
    }
}
