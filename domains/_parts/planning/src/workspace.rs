//! The files of the workspace: what is there at this stage, as text and as rows. A workbook is kept in Base64 and shown as CSV.

use crate::{
    answer, forms,
    names::{a, f, t},
    stage::{Stage, int, stage},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use benchwright_base::{FieldId, Json, json, nearest};
use benchwright_files::{Dialect, Faults, Limits, Table, csv, json as json_file, markdown, xlsx::Workbook};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ArgumentName, Gives, NativeCall, Row};
use std::borrow::Cow;

type Call<'c, 'd> = NativeCall<'c, 'd>;

/// The most bytes of a page.
const PAGE: usize = 65_536;
/// The most rows of an answer.
const MOST_ROWS: usize = 1000;
/// The most cells of a sheet that is filled up with empty ones.
const MOST_CELLS: usize = 1_000_000;

/// What a file is, by its media type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Media {
    Csv,
    Json,
    Markdown,
    Workbook,
    /// Text without a table.
    Text,
    /// Neither.
    Other,
}

impl Media {
    fn of(media: &str) -> Media {
        match media.split(';').next().unwrap_or_default().trim() {
            "text/csv" => Media::Csv,
            "application/json" => Media::Json,
            "text/markdown" => Media::Markdown,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => Media::Workbook,
            text if text.starts_with("text/") => Media::Text,
            _ => Media::Other,
        }
    }

    fn is_text(self) -> bool {
        !matches!(self, Media::Workbook | Media::Other)
    }
}

/// A text of a row.
fn text(row: &Row, field: FieldId) -> &str {
    row.get(field).as_text().unwrap_or_default()
}

/// An argument that is a text.
fn argument<'c>(call: &Call<'c, '_>, name: ArgumentName) -> Option<&'c str> {
    match call.raw(name) {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    }
}

fn number_argument(call: &Call<'_, '_>, name: ArgumentName) -> Option<usize> {
    match call.raw(name) {
        Some(Json::Int(number)) => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// The files that are there at a stage, by path.
pub(crate) fn files<'n>(call: &'n Call<'_, '_>, stage: Stage) -> Result<Vec<&'n Row>, Refusal> {
    let files = call.open(t::file)?.iter();
    let mut files: Vec<&Row> = files.filter(|file| int(file.get(f::file::stage)) <= stage.now).collect();
    files.sort_by_key(|file| path_of(file));
    Ok(files)
}

/// The path of a file.
pub(crate) fn path_of(file: &Row) -> &str {
    text(file, f::file::path)
}

/// The bytes of a file.
fn bytes(file: &Row) -> Result<Cow<'_, [u8]>, Refusal> {
    let body = text(file, f::file::body);
    if Media::of(text(file, f::file::media)).is_text() {
        return Ok(Cow::Borrowed(body.as_bytes()));
    }
    let bytes = STANDARD.decode(body).map_err(|error| {
        Refusal::new(RefusalCode::NotFound, format!("the file `{}` is damaged: {error}", path_of(file)))
    })?;
    Ok(Cow::Owned(bytes))
}

/// How many bytes a file has.
fn size(file: &Row) -> usize {
    let body = text(file, f::file::body);
    if Media::of(text(file, f::file::media)).is_text() {
        return body.len();
    }
    let padding = body.bytes().rev().take_while(|byte| *byte == b'=').count();
    (body.len() / 4 * 3).saturating_sub(padding)
}

/// The file that `path` names. One of a later stage is as if it had never been.
fn asked<'n>(call: &'n Call<'_, '_>) -> Result<&'n Row, Refusal> {
    let path = argument(call, a::path).unwrap_or_default();
    let file = files(call, stage(call)?)?.into_iter().find(|file| path_of(file) == path);
    file.ok_or_else(|| {
        Refusal::new(RefusalCode::NotFound, "there is no file of this path; workspace_list lists those that there are")
            .about(a::path.name())
    })
}

/// A file that cannot be read as what it is.
fn unreadable(faults: &Faults) -> Refusal {
    let mut told: Vec<String> = faults.listed().iter().take(3).map(ToString::to_string).collect();
    if let more @ 1.. = faults.count() - told.len() {
        told.push(format!("and {more} more"));
    }
    Refusal::argument(a::path.name(), format!("cannot be read: {}", told.join("; ")))
}

/// A workbook, and the sheet that `sheet` names in it, or its first.
fn sheet(call: &Call<'_, '_>, file: &Row) -> Result<(Workbook, String), Refusal> {
    let workbook = Workbook::open(path_of(file), &bytes(file)?, &Limits::default()).map_err(|f| unreadable(&f))?;
    let names = workbook.sheets();
    let sheet = match argument(call, a::sheet) {
        Some(asked) => names.iter().find(|name| *name == asked),
        None => names.first(),
    };
    match sheet.cloned() {
        Some(sheet) => Ok((workbook, sheet)),
        None => {
            Err(Refusal::argument(a::sheet.name(), format!("is none of the sheets, which are {}", names.join(", "))))
        }
    }
}

/// Refuses a sheet of what has none.
fn without_sheet(call: &Call<'_, '_>) -> Result<(), Refusal> {
    match argument(call, a::sheet) {
        Some(_) => Err(Refusal::argument(a::sheet.name(), "is only for workbooks, and this file is none")),
        None => Ok(()),
    }
}

/// What there is: files and forms.
pub(crate) fn workspace_list(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let stage = stage(call)?;
    let files = files(call, stage)?;
    let forms = forms::forms(call)?;
    let domain = call.domain();
    answer::object(|out| {
        answer::int(out, "stage", stage.now);
        answer::int(out, "of", stage.last);
        answer::list(out, "files", files, |out, file| {
            answer::inner(out, |out| {
                answer::text(out, "path", path_of(file));
                answer::text(out, "media", text(file, f::file::media));
                answer::count(out, "size", size(file));
            });
        });
        answer::list(out, "forms", forms, |out, form| forms::describe(out, domain, form));
    })
}

/// A file as text, page by page.
pub(crate) fn workspace_read(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let file = asked(call)?;
    let media = text(file, f::file::media);
    let mut sheets = None;
    let body: Cow<'_, str> = match Media::of(media) {
        Media::Workbook => {
            let (mut workbook, sheet) = sheet(call, file)?;
            let mut rows = workbook.cells(&sheet).map_err(|faults| unreadable(&faults))?;
            // Every row is as long as the longest, but for a sheet whose empty cells would fill the memory.
            let width = rows.iter().map(Vec::len).max().unwrap_or_default();
            if rows.len().saturating_mul(width) <= MOST_CELLS {
                rows.iter_mut().for_each(|cells| cells.resize(width, String::new()));
            }
            let names = workbook.sheets();
            sheets = Some((sheet, names));
            Cow::Owned(csv::write_rows(rows.iter().map(|cells| &**cells), Dialect::Comma).unwrap_or_default())
        }
        Media::Other => {
            return Err(Refusal::argument(
                a::path.name(),
                format!("is of the type {media}, which has no text to give"),
            ));
        }
        _ => {
            without_sheet(call)?;
            Cow::Borrowed(text(file, f::file::body))
        }
    };
    let offset = number_argument(call, a::offset).unwrap_or_default();
    if offset > body.len() {
        let message = format!("is beyond the end of the file, which has {} bytes", body.len());
        return Err(Refusal::argument(a::offset.name(), message));
    }
    let limit = number_argument(call, a::limit).unwrap_or(PAGE).min(PAGE);
    // A page begins and ends between characters, and has at least one if there is one left.
    let begin = body.floor_char_boundary(offset);
    let first = body[begin..].chars().next().map_or(0, char::len_utf8);
    let end = body.floor_char_boundary((begin + limit).min(body.len())).max(begin + first);
    answer::object(|out| {
        answer::text(out, "path", path_of(file));
        answer::text(out, "media", media);
        tell_sheet(out, sheets.as_ref());
        answer::count(out, "offset", begin);
        answer::count(out, "size", body.len());
        answer::text(out, "text", &body[begin..end]);
        match end < body.len() {
            true => answer::count(out, "next_offset", end),
            false => answer::null(out, "next_offset"),
        }
    })
}

/// A sheet of a workbook, and the names of all its sheets.
type Sheets = (String, Vec<String>);

/// Tells which sheet something is of.
fn tell_sheet(out: &mut Vec<u8>, sheets: Option<&Sheets>) {
    if let Some((sheet, names)) = sheets {
        answer::text(out, "sheet", sheet);
        answer::texts(out, "sheets", names.iter().map(|name| &**name));
    }
}

/// The table that a file holds, with the sheet that it stands on.
fn table(call: &Call<'_, '_>, file: &Row) -> Result<(Table, Option<Sheets>), Refusal> {
    let (path, media) = (path_of(file), Media::of(text(file, f::file::media)));
    let limits = Limits::default();
    if media == Media::Workbook {
        let (mut workbook, sheet) = sheet(call, file)?;
        let names = workbook.sheets();
        let rows = workbook.cells(&sheet).map_err(|faults| unreadable(&faults))?;
        // A title is a cell alone above a header of several.
        let has_title = matches!(&rows[..], [title, header, ..] if title.len() == 1 && header.len() > 1);
        let table = workbook.table(&sheet, has_title).map_err(|faults| unreadable(&faults))?.table;
        return Ok((table, Some((sheet, names))));
    }
    without_sheet(call)?;
    let bytes = bytes(file)?;
    let table = match media {
        Media::Csv => csv::read(path, &bytes, dialect(&bytes), &limits),
        Media::Json => json_file::read(path, &bytes, json_file::Expect::default(), &limits),
        Media::Markdown => markdown::read(path, &bytes, None, &limits),
        Media::Workbook | Media::Text | Media::Other => {
            return Err(Refusal::argument(a::path.name(), "is a file without a table; workspace_read gives its text"));
        }
    };
    let table = table.map_err(|faults| {
        let told = unreadable(&faults);
        Refusal { message: format!("{}; workspace_read gives its text", told.message), ..told }
    })?;
    Ok((table, None))
}

/// What stands between the cells of a CSV file, by its first line.
fn dialect(bytes: &[u8]) -> Dialect {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match line.contains(&b';') && !line.contains(&b',') {
        true => Dialect::Semicolon,
        false => Dialect::Comma,
    }
}

/// The rows of a table in a file.
pub(crate) fn workspace_rows(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let file = asked(call)?;
    let (table, sheets) = table(call, file)?;
    let mut wanted: Vec<(usize, Cow<'_, str>)> = Vec::new();
    if let Some(Json::Object(entries)) = call.raw(a::r#where) {
        for (name, value) in entries {
            let names = || table.header().iter().map(|name| &**name);
            let Some(column) = table.column(name) else {
                let near = nearest(name, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let all = names().collect::<Vec<_>>().join(", ");
                let message = format!("names a column that is none of {all}{near}");
                return Err(Refusal::argument(a::r#where.name(), message));
            };
            let value = match value {
                Json::Text(text) => Cow::Borrowed(&**text),
                Json::Int(number) => Cow::Owned(number.to_string()),
                other => {
                    let message = format!("wants a text for each column, got {}", other.kind());
                    return Err(Refusal::argument(a::r#where.name(), message));
                }
            };
            wanted.push((column, value));
        }
    }
    let found: Vec<&Vec<String>> =
        table.rows().iter().filter(|row| wanted.iter().all(|(column, value)| row[*column] == **value)).collect();
    let limit = number_argument(call, a::limit).unwrap_or(MOST_ROWS).min(MOST_ROWS);
    answer::object(|out| {
        answer::text(out, "path", path_of(file));
        tell_sheet(out, sheets.as_ref());
        answer::texts(out, "columns", table.header().iter().map(|name| &**name));
        answer::count(out, "found", found.len());
        answer::list(out, "rows", found.iter().take(limit), |out, row| {
            answer::inner(out, |out| {
                for (name, cell) in table.header().iter().zip(*row) {
                    answer::key(out, name);
                    json::write_text(out, cell);
                }
            });
        });
    })
}
