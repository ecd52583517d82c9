//! Workbooks: the same bytes whenever and wherever they are written, and what comes from other programs and from nobody's friends.

use crate::{parts_of, plain};
use benchwright_files::{
    Limits, Table, What,
    xlsx::{Sheet, Titled, Workbook, write},
};
use std::{
    io::{Cursor, Write as _},
    time::Duration,
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

fn example() -> (Table, Table) {
    let demand =
        plain("Demand", "item,qty,note", &["A-1,12,", "007,-3,x y", "B,,1e3", "B,1000000000000000,\"quoted\""]);
    (demand, plain("Sites", "code", &["KRN"]))
}

fn sheets(tables: &(Table, Table)) -> [Sheet<'_>; 2] {
    [
        Sheet { table: &tables.0, title: Some("Demand in litres"), integers: &["qty"] },
        Sheet { table: &tables.1, title: None, integers: &[] },
    ]
}

/// The parts of a workbook by name, as texts.
fn parts(bytes: &[u8]) -> Vec<(String, String)> {
    parts_of(bytes).into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect()
}

/// An archive of parts, packed as other programs do.
fn archive(parts: &[(String, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A workbook in which the cells of the first sheet, or the texts of all, are others.
fn with(part: &str, from: &str, to: &str, insert: &str) -> Vec<u8> {
    let tables = example();
    let mut parts = parts(&write(&sheets(&tables)[1..]).unwrap());
    let (_, text) = parts.iter_mut().find(|(name, _)| name == part).unwrap();
    let begin = text.find(from).unwrap();
    let end = begin + text[begin..].find(to).unwrap() + to.len();
    text.replace_range(begin..end, insert);
    archive(&parts)
}

fn with_cells(cells: &str) -> Vec<u8> {
    with("xl/worksheets/sheet1.xml", "<sheetData>", "</sheetData>", &format!("<sheetData>{cells}</sheetData>"))
}

fn told(bytes: &[u8], limits: &Limits) -> Result<Vec<String>, String> {
    let mut workbook = Workbook::open("w.xlsx", bytes, limits).map_err(|faults| faults.to_string())?;
    let Titled { table, .. } = workbook.table("Sites", false).map_err(|faults| faults.to_string())?;
    Ok([table.header().to_vec(), table.rows().concat()].concat())
}

#[test]
fn the_same_tables_are_the_same_bytes_at_any_time() {
    let tables = example();
    let first = write(&sheets(&tables)).unwrap();
    // The times in an archive and in the properties of a workbook are of whole seconds, and those of archives of two.
    std::thread::sleep(Duration::from_millis(2_100));
    assert!(write(&sheets(&tables)).unwrap() == first, "they differ");
    let parts = parts(&first);
    let size: usize = parts.iter().map(|(name, text)| 2 * name.len() + text.len() + 76).sum();
    assert_eq!(first.len(), size + 22, "the parts are not packed, and there is nothing but them");
    let names: Vec<&str> = parts.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "[Content_Types].xml",
            "_rels/.rels",
            "docProps/app.xml",
            "docProps/core.xml",
            "xl/_rels/workbook.xml.rels",
            "xl/sharedStrings.xml",
            "xl/styles.xml",
            "xl/theme/theme1.xml",
            "xl/workbook.xml",
            "xl/worksheets/sheet1.xml",
            "xl/worksheets/sheet2.xml",
        ]
    );
    let core = &parts.iter().find(|(name, _)| name == "docProps/core.xml").unwrap().1;
    assert_eq!(core.matches("2000-01-01T00:00:00Z").count(), 2, "{core}");
    assert_eq!(core.matches(":20").count() + core.matches("<dc:creator></dc:creator>").count(), 1, "{core}");
}

#[test]
fn only_whole_numbers_of_the_columns_that_are_told_are_numbers() {
    let tables = example();
    let bytes = write(&sheets(&tables)).unwrap();
    let sheet = parts(&bytes).into_iter().find(|(name, _)| name == "xl/worksheets/sheet1.xml").unwrap().1;
    for cell in
        [r#"<c r="B3"><v>12</v></c>"#, r#"<c r="B4"><v>-3</v></c>"#, r#"<c r="B6" t="s">"#, r#"<c r="A4" t="s">"#]
    {
        assert!(sheet.contains(cell), "{cell} in {sheet}");
    }
    let mut workbook = Workbook::open("w.xlsx", &bytes, &Limits::default()).unwrap();
    let read = workbook.tables(|sheet| sheet == "Demand").unwrap();
    assert_eq!(read[0], Titled { title: Some("Demand in litres".to_owned()), table: tables.0 });
    assert_eq!(read[1], Titled { title: None, table: tables.1 });
}

#[test]
fn what_cannot_be_written_is_told_with_its_place() {
    let odd = plain("a/b", "x,y", &["1,\u{1}", "<r>a</r>,2", ","]);
    let long = plain("long", "x", &[&"é".repeat(32_768)]);
    let same = plain("LONG", "x", &[]);
    let sheet = |table| Sheet { table, title: None, integers: &[] };
    let faults = write(&[sheet(&odd), sheet(&long), Sheet { title: Some(""), ..sheet(&same) }]).unwrap_err();
    let places: Vec<_> = faults.listed().iter().map(|f| (&*f.file, f.row, f.column.as_deref())).collect();
    assert_eq!(
        places,
        [
            ("a/b", None, None),
            ("a/b", Some(1), Some("y")),
            ("a/b", Some(2), Some("x")),
            ("a/b", Some(3), None),
            ("long", Some(1), Some("x")),
            ("LONG", None, None),
            ("LONG", None, None),
        ],
        "{faults}"
    );
    assert!(write(&[]).is_err());
}

#[test]
fn cells_of_other_programs_are_told_as_texts() {
    let cells = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="str"><v>b</v></c></row>
        <row r="2"><c r="A2"><v>0.30000000000000004</v></c><c r="B2" t="b"><v>1</v></c></row>
        <row r="4"><c r="A4"><f>1+1</f><v>2</v></c><c r="B4" t="d"><v>2026-03-02</v></c></row>
        <row r="9"><c r="A9"/></row>"#;
    assert_eq!(
        told(&with_cells(cells), &Limits::default()),
        Ok(["a", "b", "0.3", "true", "", "", "2", "2026-03-02"].map(str::to_owned).to_vec())
    );
    // Dates are numbers with a style, here the built-in styles of a date, a time and both.
    let style =
        |id| format!(r#"<xf numFmtId="{id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>"#);
    let styles = with(
        "xl/styles.xml",
        "<cellXfs",
        "</cellXfs>",
        &format!("<cellXfs>{}{}{}{}</cellXfs>", style(0), style(14), style(21), style(22)),
    );
    let mut parts = parts(&styles);
    let sheet = &mut parts.iter_mut().find(|(name, _)| name == "xl/worksheets/sheet1.xml").unwrap().1;
    let (begin, end) = (sheet.find("<sheetData>").unwrap(), sheet.find("</sheetData>").unwrap());
    let cells = r#"<sheetData><row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="A2" s="1"><v>46083</v></c></row>
        <row r="3"><c r="A3" s="2"><v>0.2708333333333333</v></c></row><row r="4"><c r="A4" s="3"><v>46083.5</v></c></row>"#;
    sheet.replace_range(begin..end, cells);
    let expected = ["a", "2026-03-02", "06:30:00", "2026-03-02T12:00:00"].map(str::to_owned).to_vec();
    assert_eq!(told(&archive(&parts), &Limits::default()), Ok(expected));
}

#[test]
fn every_fault_of_a_sheet_is_told_with_its_cell() {
    let cells = r#"<row r="1"><c r="A1" t="str"><v>a</v></c><c r="B1" t="str"><v>b</v></c></row>
        <row r="2"><c r="A2" t="e"><v>#REF!</v></c><c r="B2"><v>1e300</v></c></row>
        <row r="3"><c r="A3"><v>1</v></c><c r="D3"><v>4</v></c></row>"#;
    assert_eq!(
        told(&with_cells(cells), &Limits::default()),
        Err("w.xlsx, sheet `Sites`, row 2, column `a`: the cell holds an error, not a text or a number\n\
             w.xlsx, sheet `Sites`, row 2, column `b`: the cell holds a number too large or too small to be written out, not a text or a number\n\
             w.xlsx, sheet `Sites`, row 3: it has 4 cells, and the header has 2"
            .into())
    );
    let cells = r#"<row r="1"><c r="A1" t="str"><v>a</v></c><c r="C1" t="str"><v>a</v></c></row>"#;
    assert_eq!(
        told(&with_cells(cells), &Limits::default()),
        Err("w.xlsx, sheet `Sites`, row 1, column `2`: the column has no name\nw.xlsx, sheet `Sites`, row 1, column `3`: two columns are called `a`".into())
    );
    assert_eq!(
        told(&with_cells(""), &Limits::default()),
        Err("w.xlsx, sheet `Sites`, row 1: there is no header".into())
    );
    let tables = example();
    let mut workbook = Workbook::open("w.xlsx", &write(&sheets(&tables)).unwrap(), &Limits::default()).unwrap();
    let faults = workbook.table("Demnd", true).unwrap_err();
    assert_eq!(faults.to_string(), "w.xlsx, sheet `Demnd`: there is no sheet of this name; there are Demand, Sites");
}

#[test]
fn a_hostile_workbook_is_an_error_within_the_limits() {
    let limits = Limits { rows: 1_000, columns: 50, ..Limits::default() };
    let told = |bytes: &[u8]| told(bytes, &limits).unwrap_err();
    // A cell in the last place of a sheet, and one beyond every place.
    assert!(
        told(&with_cells(r#"<row r="1"><c r="A1"><v>1</v></c><c r="XFD1048576"><v>1</v></c></row>"#))
            .contains("more than 1000 rows")
    );
    assert!(told(&with_cells(r#"<row r="1"><c r="AZZ1"><v>1</v></c></row>"#)).contains("more than 50 columns"));
    assert!(told(&with_cells(r#"<row r="1"><c r="ZZZZZZZZZ1"><v>1</v></c></row>"#)).contains("in no place of a sheet"));
    assert!(told(&with_cells(r#"<row r="99999999999"><c><v>1</v></c></row>"#)).contains("in no place of a sheet"));
    // More texts than there can be, and one long text in many cells.
    let texts = with("xl/sharedStrings.xml", "<sst", ">", "<sst uniqueCount='4000000000000000'>");
    assert!(told(&texts).contains("fewer texts than it says"));
    let long = format!("<si><t>{}</t></si></sst>", "x".repeat(30_000));
    let cells: String =
        (1..=1_000).map(|row| format!("<row r='{row}'>{}</row>", "<c t='s'><v>0</v></c>".repeat(50))).collect();
    let mut parts = parts(&write(&sheets(&example())[1..]).unwrap());
    for (name, text) in &mut parts {
        match &**name {
            "xl/sharedStrings.xml" => *text = format!("<sst>{long}"),
            "xl/worksheets/sheet1.xml" => *text = format!("<worksheet><sheetData>{cells}</sheetData></worksheet>"),
            _ => {}
        }
    }
    assert!(told(&archive(&parts)).contains("bytes in all cells"));
    // One header of many columns and one cell far below it.
    let cells: String = (0..50).map(|at| format!("<c t='str'><v>c{at}</v></c>")).collect();
    let small = Limits { unpacked: 100_000, ..limits };
    let far = with_cells(&format!("<row r='1'>{cells}</row><row r='1000'><c r='A1000'><v>1</v></c></row>"));
    let faults = Workbook::open("w.xlsx", &far, &small).unwrap().table("Sites", false).unwrap_err();
    assert_eq!(faults.listed()[0].what, What::TooMany { of: "cells", most: 100_000 / 24 });
    // Bombs, and what is broken.
    let bomb = with_cells(&" ".repeat(20 << 20));
    assert!(bomb.len() < 100_000);
    let faults = Workbook::open("w.xlsx", &bomb, &Limits { unpacked: 1 << 20, ..limits }).unwrap_err();
    assert_eq!(faults.to_string(), "w.xlsx: there are more than 1048576 bytes when it is unpacked");
    assert!(told(&with_cells("<row><c></row>")).contains("not a workbook"));
    assert!(told(&bomb[..bomb.len() / 2]).contains("not a workbook"));
    assert!(told(b"PK\x03\x04").contains("not a workbook"));
    assert_eq!(
        Workbook::open("w.xlsx", &bomb, &Limits { bytes: 10, ..limits }).unwrap_err().to_string(),
        "w.xlsx: there are more than 10 bytes"
    );
}

#[test]
fn a_sheet_is_shown_as_it_stands() {
    let tables = example();
    let mut workbook = Workbook::open("w.xlsx", &write(&sheets(&tables)).unwrap(), &Limits::default()).unwrap();
    let rows = workbook.cells("Demand").unwrap();
    let shown: Vec<String> = rows.iter().map(|cells| cells.join("|")).collect();
    assert_eq!(shown[..3], ["Demand in litres", "item|qty|note", "A-1|12"]);
    assert_eq!((shown.len(), &*shown[4]), (6, "B||1e3"));
    assert_eq!(
        workbook.cells("demand").unwrap_err().to_string(),
        "w.xlsx, sheet `demand`: there is no sheet of this name; there are Demand, Sites"
    );
    // A gap is kept, and a cell without a text is told.
    let bytes = with_cells(
        "<row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>x</t></is></c></row><row r=\"4\"><c r=\"A4\"><v>5</v></c></row>",
    );
    let mut workbook = Workbook::open("w.xlsx", &bytes, &Limits::default()).unwrap();
    assert_eq!(workbook.cells("Sites").unwrap(), [&[][..], &["", "x"], &[], &["5"]].map(|cells| cells.to_vec()));
    let bytes = with_cells("<row r=\"1\"><c r=\"A1\" t=\"e\"><v>#REF!</v></c></row>");
    let mut workbook = Workbook::open("w.xlsx", &bytes, &Limits::default()).unwrap();
    assert_eq!(
        workbook.cells("Sites").unwrap_err().to_string(),
        "w.xlsx, sheet `Sites`, row 1, column `1`: the cell holds an error, not a text or a number"
    );
    // A last row and column far away take no memory.
    let limits = Limits { rows: 10, ..Limits::default() };
    let bytes = with_cells("<row r=\"1048576\"><c r=\"A1048576\"><v>1</v></c></row>");
    let mut workbook = Workbook::open("w.xlsx", &bytes, &limits).unwrap();
    assert_eq!(workbook.cells("Sites").unwrap_err().to_string(), "w.xlsx, sheet `Sites`: there are more than 10 rows");
}
