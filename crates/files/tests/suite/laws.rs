//! Written and read again, a table is what it was; what a form cannot carry is refused, and nothing else is.

use crate::{table, text};
use benchwright_files::{
    Dialect, Limits, Table, What, csv,
    json::{self, Expect, Form, Nesting},
    markdown, xlsx,
};
use proptest::{collection::vec, prelude::*};

/// All texts of a table.
fn texts(table: &Table) -> impl Iterator<Item = &String> {
    table.header().iter().chain(table.rows().iter().flatten())
}

fn has_nul(table: &Table) -> bool {
    texts(table).any(|text| text.contains('\0'))
}

/// Some of the columns.
fn some(table: &Table) -> Vec<&str> {
    table.header().iter().step_by(2).map(|name| &**name).collect()
}

proptest! {
    #[test]
    fn csv_carries_all_but_nul_and_a_first_mark(table in table(), semicolon: bool) {
        let dialect = if semicolon { Dialect::Semicolon } else { Dialect::Comma };
        let written = csv::write(&table, dialect);
        prop_assert_eq!(written.is_err(), has_nul(&table) || table.header()[0].starts_with('\u{feff}'));
        if let Ok(text) = written {
            prop_assert_eq!(csv::write(&table, dialect), Ok(text.clone()));
            let read = csv::read("x.csv", text.as_bytes(), dialect, &Limits::default()).map(|read| read.named(table.name()));
            prop_assert_eq!(read, Ok(table));
        }
    }

    #[test]
    fn markdown_carries_all_but_nul(table in table()) {
        let written = markdown::write(&table);
        prop_assert_eq!(written.is_err(), has_nul(&table));
        if let Ok(text) = written {
            prop_assert_eq!(markdown::write(&table), Ok(text.clone()));
            let page = format!("# Page\n\n## Other\n\n| no |\n|---|\n\n## Under\n\nWords.\n\n{text}\n## Later\n");
            let read = markdown::read("x.md", page.as_bytes(), Some("Under"), &Limits::default());
            prop_assert_eq!(read.map(|read| read.named(table.name())), Ok(table));
        }
    }

    #[test]
    fn json_carries_all_but_a_header_without_rows(table in table()) {
        let form = Form { table: &table, integers: &some(&table) };
        let text = json::write(form);
        prop_assert_eq!(json::write(form), text.clone());
        let header: Vec<&str> = table.header().iter().map(|name| &**name).collect();
        let expect = Expect { header: &[], integers: form.integers };
        let read = |expect| json::read("x.json", text.as_bytes(), expect, &Limits::default()).map(|read| read.named(table.name()));
        if table.rows().is_empty() {
            prop_assert_eq!(read(expect).map_err(|faults| faults.listed()[0].what.clone()), Err(What::NoHeader));
        } else {
            prop_assert_eq!(read(expect), Ok(table.clone()));
        }
        prop_assert_eq!(read(Expect { header: &header, ..expect }), Ok(table.clone()));
    }

    #[test]
    fn json_carries_several_tables(tables in vec(table(), 0..4)) {
        let forms: Vec<Form<'_>> = tables.iter().map(|table| Form { table, integers: &[] }).collect();
        let names: std::collections::BTreeSet<&str> = tables.iter().map(Table::name).collect();
        let written = json::write_all(&forms);
        prop_assert_eq!(written.is_err(), names.len() < tables.len());
        if let Ok(text) = written {
            let headers: Vec<Vec<&str>> = tables.iter().map(|table| table.header().iter().map(|name| &**name).collect()).collect();
            let expect = |name: &str| {
                let at = tables.iter().position(|table| table.name() == name).unwrap();
                Expect { header: &headers[at], integers: &[] }
            };
            prop_assert_eq!(json::read_all("x.json", text.as_bytes(), expect, &Limits::default()), Ok(tables));
        }
    }

    #[test]
    fn json_carries_documents_with_lines(
        key in text(),
        documents in vec((text(), text(), vec((text(), text()), 0..3)), 0..4),
    ) {
        // The ends make names and keys differ.
        let key = format!("{key}K");
        let id = |at: usize, text: &str| format!("{text}{at}");
        let header = |name: &str| vec![key.clone(), name.to_owned(), "more".to_owned()];
        let heads = documents.iter().enumerate().map(|(at, (k, a, _))| vec![id(at, k), a.clone(), String::new()]).collect();
        let heads = Table::new("heads", header("a"), heads).unwrap();
        let lines = documents.iter().enumerate().flat_map(|(at, (k, _, lines))| {
            lines.iter().map(move |(b, c)| vec![id(at, k), b.clone(), c.clone()])
        });
        let lines = Table::new("lines", header("b"), lines.collect()).unwrap();
        let integers = [&*key, "more"];
        let form = |table| Form { table, integers: &integers };
        let text = json::write_nested(form(&heads), form(&lines), &key).unwrap();
        prop_assert_eq!(json::write_nested(form(&heads), form(&lines), &key), Ok(text.clone()));
        let expect = (
            Expect { header: &[&key, "a", "more"], integers: &integers },
            Expect { header: &[&key, "b", "more"], integers: &integers },
        );
        let nesting = Nesting { lines: "lines", key: &key };
        prop_assert_eq!(json::read_nested("heads.json", text.as_bytes(), nesting, expect, &Limits::default()), Ok((heads, lines)));
    }

    #[test]
    fn sheets_carry_all_but_what_they_say(table in table(), title in proptest::option::of(text()), named: bool) {
        let table = if named { table.named("Sheet one") } else { table };
        let sheet = xlsx::Sheet { table: &table, title: title.as_deref(), integers: &some(&table) };
        let is_control = |letter: char| (letter < ' ' && letter != '\t' && letter != '\n') || letter == '\u{fffe}' || letter == '\u{ffff}';
        let is_odd = |text: &str| text.contains(is_control) || (text.starts_with("<r>") && text.ends_with("</r>"));
        let name = table.name();
        let cannot = texts(&table).any(|text| is_odd(text))
            || title.as_deref().is_some_and(|title| title.is_empty() || is_odd(title))
            || table.rows().last().is_some_and(|row| row.iter().all(String::is_empty))
            || name.is_empty()
            || name.encode_utf16().count() > 31
            || name.contains(|letter: char| is_control(letter) || "\t\n[]:*?/\\".contains(letter))
            || name.starts_with('\'')
            || name.ends_with('\'');
        let written = xlsx::write(&[sheet]);
        prop_assert_eq!(written.is_err(), cannot, "{:?}", written.err());
        if let Ok(bytes) = written {
            prop_assert_eq!(xlsx::write(&[sheet]), Ok(bytes.clone()));
            let mut workbook = xlsx::Workbook::open("x.xlsx", &bytes, &Limits::default()).unwrap();
            prop_assert_eq!(workbook.sheets(), [name]);
            let read = workbook.table(name, title.is_some());
            prop_assert_eq!(read, Ok(xlsx::Titled { title: title.clone(), table: table.clone() }));
        }
    }
}
