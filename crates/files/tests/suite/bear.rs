//! Whatever a file holds, a reader answers with a table or with faults.

use crate::{parts_of, plain, text};
use benchwright_files::{
    Dialect, LISTED, Limits, Table, csv,
    json::{self, Expect, Nesting},
    markdown, xlsx,
};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use std::io::{Cursor, Write as _};
use zip::{ZipWriter, write::SimpleFileOptions};

const LIMITS: Limits = Limits { bytes: 1 << 20, unpacked: 1 << 20, rows: 50, columns: 8, cell: 100 };

/// Reads bytes in every form.
fn read_all(bytes: &[u8]) {
    for dialect in [Dialect::Comma, Dialect::Semicolon] {
        hold(csv::read("f", bytes, dialect, &LIMITS).map(|table| vec![table]));
    }
    for heading in [None, Some("a")] {
        hold(markdown::read("f", bytes, heading, &LIMITS).map(|table| vec![table]));
    }
    let expect = Expect { header: &[], integers: &["a"] };
    hold(json::read("f", bytes, expect, &LIMITS).map(|table| vec![table]));
    hold(json::read_all("f", bytes, |_| expect, &LIMITS));
    let nesting = Nesting { lines: "b", key: "a" };
    hold(json::read_nested("f", bytes, nesting, (expect, expect), &LIMITS).map(|(heads, lines)| vec![heads, lines]));
    if let Ok(mut workbook) = xlsx::Workbook::open("f", bytes, &LIMITS) {
        for title in [true, false] {
            hold(workbook.tables(|_| title).map(|tables| tables.into_iter().map(|titled| titled.table).collect()));
        }
    }
}

/// What was read is within the limits, or there is a fault.
fn hold(read: Result<Vec<Table>, benchwright_files::Faults>) {
    match read {
        Ok(tables) => {
            for table in tables {
                assert!(table.rows().len() <= LIMITS.rows && table.header().len() <= LIMITS.columns);
                assert!(table.rows().iter().flatten().all(|cell| cell.len() <= LIMITS.cell));
            }
        }
        Err(faults) => assert!(!faults.is_empty() && faults.listed().len() <= LISTED && !faults.to_string().is_empty()),
    }
}

/// The parts of a workbook with numbers, texts and a title.
fn parts() -> Vec<(String, Vec<u8>)> {
    let table = plain("T", "a,b", &["1,x", "2,_x0041_"]);
    let bytes = xlsx::write(&[xlsx::Sheet { table: &table, title: Some("t"), integers: &["a"] }]).unwrap();
    parts_of(&bytes)
}

fn packed(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Pieces of XML that a workbook may have where it should not.
const XML: [&str; 22] = [
    "<c r=\"A1\">",
    "</c>",
    "<row r=\"0\">",
    "<row>",
    "</row>",
    "<v>",
    "</v>",
    "<f>",
    "<is>",
    "<t>",
    "</t>",
    " t=\"s\"",
    " t=\"n\"",
    " t=\"e\"",
    " s=\"99999999999999999999\"",
    " r=\"A0\"",
    " r=\"1\"",
    "&#0;",
    "&x;",
    "<![CDATA[",
    "<!--",
    "99999999999999999999",
];

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
    }

    #[test]
    fn no_text_makes_a_reader_panic(texts in vec(prop_oneof![text(), select(&["[", "]", "{", "}", "\"a\":", "\"b\":", "1,", "|---|\n", "\n| ", "# a\n", "```\n", "1e999"][..]).prop_map(str::to_owned)], 0..40)) {
        read_all(texts.concat().as_bytes());
    }

    #[test]
    fn no_broken_archive_makes_a_reader_panic(changes in vec((any::<Index>(), any::<u8>()), 1..8), cut in any::<Index>()) {
        let mut bytes = packed(&parts());
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_all(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        read_all(&bytes);
    }

    #[test]
    fn no_broken_part_makes_a_reader_panic(changes in vec((any::<Index>(), any::<Index>(), 0..20usize, select(&XML[..])), 1..5)) {
        let mut parts = parts();
        for (part, at, length, piece) in changes {
            let part = part.index(parts.len());
            let bytes = &mut parts[part].1;
            let at = at.index(bytes.len() + 1);
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        read_all(&packed(&parts));
    }

    #[test]
    fn no_cells_make_a_reader_panic(cells in vec(cell(), 0..30)) {
        let mut parts = parts();
        let sheet = &mut parts.iter_mut().find(|(name, _)| name == "xl/worksheets/sheet1.xml").unwrap().1;
        *sheet = format!("<worksheet><sheetData>{}</sheetData></worksheet>", cells.concat()).into_bytes();
        read_all(&packed(&parts));
    }
}

/// A cell that is well formed, and may be anything else.
fn cell() -> impl Strategy<Value = String> {
    const KINDS: [&str; 9] =
        ["", " t='s'", " t='n'", " t='str'", " t='inlineStr'", " t='b'", " t='d'", " t='e'", " t='x'"];
    const PLACES: [&str; 11] = ["", "A1", "B1", "A2", "b3", "C3", "A0", "1", "A", "XFD1048576", "ZZZ9999999"];
    const VALUES: [&str; 22] = [
        "",
        "0",
        "1",
        "7",
        "-1.5e3",
        "1e999",
        "+5",
        ".",
        "-",
        "1e",
        "inf",
        "NaN",
        "0x1",
        " 1",
        "99999999999999999999",
        "#REF!",
        "text",
        "&amp;",
        "&#0;",
        "&x;",
        "_x0000_",
        "<![CDATA[x]]>",
    ];
    let place =
        select(&PLACES[..]).prop_map(|place| if place.is_empty() { String::new() } else { format!(" r='{place}'") });
    let content = (select(&["v", "f", "t", "is><t", "is><r><t", "is><rPh><t"][..]), select(&VALUES[..])).prop_map(
        |(open, value)| {
            let close: String =
                open.split("><").collect::<Vec<_>>().into_iter().rev().map(|tag| format!("</{tag}>")).collect();
            format!("<{open}>{value}{close}")
        },
    );
    let contents = vec(content, 0..3).prop_map(|contents| contents.concat());
    let style = select(&["", " s='0'", " s='9'", " s='99999999999999999999'"][..]);
    let cell = (place.clone(), select(&KINDS[..]), style, contents);
    let cell = cell.prop_map(|(place, kind, style, contents)| format!("<c{place}{kind}{style}>{contents}</c>"));
    (select(&["", "<row>", "<row r='2'>", "<row r='1048576'>", "<row r='9999999'>"][..]), cell).prop_map(
        |(row, cell)| match row {
            "" => cell,
            row => format!("{row}{cell}</row>"),
        },
    )
}
