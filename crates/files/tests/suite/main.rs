//! What holds of every form: what is written reads back as it was, the same table is the same bytes, and no bytes make a reader panic.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bear;
mod laws;
mod workbooks;

use benchwright_files::Table;
use proptest::{collection::vec, prelude::*, sample::select};
use std::io::{Cursor, Read as _};
use zip::ZipArchive;

/// Texts with all that a form might trip over.
pub(crate) fn text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 40] = [
        "",
        "a",
        "Zürich",
        "0",
        "-7",
        "007",
        "12.50",
        "1e3",
        "9223372036854775807",
        "999999999999999",
        "-0",
        "+1",
        " ",
        "  ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\"",
        "\"\"",
        ",",
        ";",
        "|",
        "\\",
        "\\|",
        "<br>",
        "<br/>",
        "<",
        "&#32;",
        "&",
        "&amp;",
        "_x0041_",
        "_x005F_",
        "_",
        "#",
        "---",
        "=1+1",
        "\u{feff}",
        "\u{2028}",
        "😀",
    ];
    let piece = prop_oneof![4 => select(&PIECES).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// Tables of such texts.
pub(crate) fn table() -> impl Strategy<Value = Table> {
    (1..5usize).prop_flat_map(|width| {
        let header = vec(text(), width).prop_map(|names| {
            // The number makes names differ, and is not at their beginning, where marks matter.
            names.into_iter().enumerate().map(|(at, name)| format!("{name}{at}")).collect::<Vec<_>>()
        });
        let rows = vec(vec(text(), width), 0..6);
        (text(), header, rows).prop_map(|(name, header, rows)| Table::new(name, header, rows).unwrap())
    })
}

/// A table of plain texts.
pub(crate) fn plain(name: &str, header: &str, rows: &[&str]) -> Table {
    let texts = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    Table::new(name, texts(header), rows.iter().map(|row| texts(row)).collect()).unwrap()
}

/// The parts of a workbook by name.
pub(crate) fn parts_of(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut parts = Vec::new();
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).unwrap();
        parts.push((part.name().to_owned(), bytes));
    }
    parts
}
