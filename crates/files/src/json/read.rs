//! JSON read.

use super::{
    Nesting,
    tree::{Path, Tree, parse},
};
use crate::{
    Faults, Limits, Table, What,
    fault::Notes,
    number,
    table::{check_header, stem},
};
use std::collections::BTreeMap;

/// What is known of a table before it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expect<'a> {
    /// The columns in their order. Where none are told, they are the keys of the first object.
    pub header: &'a [&'a str],
    /// The columns of whole numbers. A number with a fraction or an exponent is a fault there; a text is left for whoever knows what it
    /// may be.
    pub integers: &'a [&'a str],
}

/// The table of a list of objects. It is called as the file is, without folders and ending.
pub fn read(file: &str, bytes: &[u8], expect: Expect<'_>, limits: &Limits) -> Result<Table, Faults> {
    let (tree, mut notes) = open(file, bytes, limits)?;
    let rows = list(tree, &Path::default(), &mut notes);
    let table = table(stem(file), rows, expect, limits, &mut notes);
    finish(table, notes)
}

/// The tables of an object of lists, called by their keys. What is known of each is asked by its name.
pub fn read_all<'a>(
    file: &str,
    bytes: &[u8],
    expect: impl Fn(&str) -> Expect<'a>,
    limits: &Limits,
) -> Result<Vec<Table>, Faults> {
    let (tree, mut notes) = open(file, bytes, limits)?;
    let path = Path::default();
    let mut tables = Vec::new();
    for (name, value) in object(tree, &path, &mut notes).unwrap_or_default() {
        let rows = list(value, &path.key(&name), &mut notes);
        tables.extend(table(&name, rows, expect(&name), limits, &mut notes));
    }
    notes.faults.or(tables)
}

/// The table of documents, called as the file is, and that of their lines.
pub fn read_nested(
    file: &str,
    bytes: &[u8],
    nesting: Nesting<'_>,
    (heads, lines): (Expect<'_>, Expect<'_>),
    limits: &Limits,
) -> Result<(Table, Table), Faults> {
    let (tree, mut notes) = open(file, bytes, limits)?;
    let (mut of_heads, mut of_lines) = (Vec::new(), Vec::new());
    for (path, mut entries) in list(tree, &Path::default(), &mut notes) {
        let place = entries.iter().position(|(key, _)| key == nesting.lines);
        let here = path.key(nesting.lines);
        let inner = match place {
            Some(place) => list(entries.remove(place).1, &here, &mut notes),
            None => {
                here.tell(&mut notes, What::KeyMissing { path: here.to_string() });
                Vec::new()
            }
        };
        // A document without a key is told with its table.
        let key = entries.iter().find(|(key, _)| key == nesting.key).map_or(Tree::Cut, |(_, value)| value.clone());
        for (path, mut entries) in inner {
            if entries.iter().any(|(key, _)| key == nesting.key) {
                let twice = path.key(nesting.key);
                twice.tell(&mut notes, What::KeyTwice { path: twice.to_string() });
            } else {
                entries.insert(0, (nesting.key.to_owned(), key.clone()));
                of_lines.push((path, entries));
            }
        }
        of_heads.push((path, entries));
    }
    let heads = table(stem(file), of_heads, heads, limits, &mut notes);
    let lines = table(nesting.lines, of_lines, lines, limits, &mut notes);
    finish(heads.zip(lines), notes)
}

/// A row that is not yet one: where it stands and what is in it.
type Entries = (Path, Vec<(String, Tree)>);

fn open(file: &str, bytes: &[u8], limits: &Limits) -> Result<(Tree, Notes), Faults> {
    let mut notes = Notes::of(file);
    if !limits.admit(bytes, &mut notes) {
        return Err(notes.faults);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Err(notes.end(What::NotUtf8)) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match parse(text, limits.cells(), &mut notes) {
        Some(tree) => Ok((tree, notes)),
        None => Err(notes.faults),
    }
}

fn finish<T>(read: Option<T>, notes: Notes) -> Result<T, Faults> {
    match read {
        Some(read) => notes.faults.or(read),
        None => Err(notes.faults),
    }
}

fn mistyped(value: &Tree, path: &Path, expected: &'static str, notes: &mut Notes) {
    // What was nested too deep was told then.
    if *value != Tree::Cut {
        path.tell(notes, What::Mistyped { path: path.to_string(), found: value.kind(), expected });
    }
}

fn object(value: Tree, path: &Path, notes: &mut Notes) -> Option<Vec<(String, Tree)>> {
    match value {
        Tree::Object(entries) => Some(entries),
        other => {
            mistyped(&other, path, "an object", notes);
            None
        }
    }
}

fn list(value: Tree, path: &Path, notes: &mut Notes) -> Vec<Entries> {
    let Tree::List(values) = value else {
        mistyped(&value, path, "a list of objects", notes);
        return Vec::new();
    };
    let values = values.into_iter().enumerate().map(|(at, value)| (path.index(at), value));
    values.filter_map(|(path, value)| object(value, &path, notes).map(|entries| (path, entries))).collect()
}

/// The table of some rows; none if there was a fault.
fn table(name: &str, rows: Vec<Entries>, expect: Expect<'_>, limits: &Limits, notes: &mut Notes) -> Option<Table> {
    let before = notes.faults.count();
    let header: Vec<String> = match rows.first() {
        _ if !expect.header.is_empty() => expect.header.iter().map(|name| (*name).to_owned()).collect(),
        Some((_, entries)) => entries.iter().map(|(key, _)| key.clone()).collect(),
        None => Vec::new(),
    };
    // Why there is no object was told already, unless there was none.
    if !header.is_empty() || before == 0 {
        check_header(&header, None, notes);
    }
    if !limits.admit_columns(header.len(), None, notes) {
        return None;
    }
    if rows.len() > limits.rows {
        notes.whole(What::TooMany { of: "rows", most: limits.rows });
        return None;
    }
    if rows.len().saturating_mul(header.len()) > limits.cells() {
        notes.whole(What::TooMany { of: "cells", most: limits.cells() });
        return None;
    }
    let places: BTreeMap<&str, (usize, bool)> =
        header.iter().enumerate().map(|(at, name)| (&**name, (at, expect.integers.contains(&&**name)))).collect();
    let mut all = Vec::with_capacity(rows.len());
    for (path, entries) in rows {
        let mut cells = vec![None; header.len()];
        for (key, value) in entries {
            let path = path.key(&key);
            match places.get(&*key) {
                Some((at, is_integer)) => cells[*at] = Some(cell(value, *is_integer, &path, limits, notes)),
                None => path.tell(notes, What::KeyUnknown { path: path.to_string() }),
            }
        }
        for (name, _) in header.iter().zip(&cells).filter(|(_, cell)| cell.is_none()) {
            let path = path.key(name);
            path.tell(notes, What::KeyMissing { path: path.to_string() });
        }
        all.push(cells.into_iter().map(Option::unwrap_or_default).collect());
    }
    if notes.faults.count() > before { None } else { Table::new(name, header, all).ok() }
}

/// The text of a value. What is none is told, and empty.
fn cell(value: Tree, is_integer: bool, path: &Path, limits: &Limits, notes: &mut Notes) -> String {
    let text = match &value {
        Tree::Null => Some(String::new()),
        Tree::Whole(number) => Some(number.to_string()),
        Tree::Truth(truth) if !is_integer => Some(truth.to_string()),
        Tree::Large(number) if !is_integer => Some(number.to_string()),
        Tree::Fraction(number) if !is_integer => number::plain(*number),
        Tree::Text(text) if text.len() > limits.cell => {
            path.tell(notes, What::TooMany { of: "bytes in the cell", most: limits.cell });
            return String::new();
        }
        Tree::Text(_) => None,
        _ => None,
    };
    match (text, value) {
        (Some(text), _) | (None, Tree::Text(text)) => text,
        (None, other) => {
            let expected = if is_integer { "a whole number" } else { "a text or a number in plain digits" };
            mistyped(&other, path, expected, notes);
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTEGERS: Expect<'_> = Expect { header: &[], integers: &["qty"] };

    fn told(text: &str) -> Result<Table, String> {
        read("d/t.json", text.as_bytes(), INTEGERS, &Limits::default()).map_err(|faults| faults.to_string())
    }

    #[test]
    fn values_are_told_as_texts() {
        let table = told(
            r#"[{"a": "x", "qty": 7}, {"qty": null, "a": -1.50}, {"a": true, "qty": "7"}, {"a": null, "qty": -3}]"#,
        )
        .unwrap();
        assert_eq!((table.name(), table.header().join(",")), ("t", "a,qty".to_owned()));
        assert_eq!(table.rows().concat(), ["x", "7", "-1.5", "", "true", "7", "", "-3"]);
    }

    #[test]
    fn every_fault_is_told_with_its_path() {
        assert_eq!(
            told(r#"[{"a": 1, "qty": 7, "a": 2}, {"a": 1e300, "qty": 12.0}, {"qty": 1e3, "b": 1}, 5, {"a": [1], "qty": {}}]"#),
            Err("d/t.json, row 1, column `a`: `$[0].a` is there twice\n\
                 d/t.json, row 4: `$[3]` is a whole number; it must be an object\n\
                 d/t.json, row 2, column `a`: `$[1].a` is a number with a fraction or an exponent, or of more than 64 bits; it must be a text or a number in plain digits\n\
                 d/t.json, row 2, column `qty`: `$[1].qty` is a number with a fraction or an exponent, or of more than 64 bits; it must be a whole number\n\
                 d/t.json, row 3, column `qty`: `$[2].qty` is a number with a fraction or an exponent, or of more than 64 bits; it must be a whole number\n\
                 d/t.json, row 3, column `b`: `$[2].b` is none of the columns\n\
                 d/t.json, row 3, column `a`: `$[2].a` is missing\n\
                 d/t.json, row 5, column `a`: `$[4].a` is a list; it must be a text or a number in plain digits\n\
                 d/t.json, row 5, column `qty`: `$[4].qty` is an object; it must be a whole number"
                .into())
        );
        assert_eq!(
            told(r#"[{"a": [[[1]], 2], "qty": 18446744073709551615}]"#),
            Err("d/t.json, row 1, column `a`: `$[0].a[0][0]` is nested deeper than 4 levels\n\
                 d/t.json, row 1, column `a`: `$[0].a` is a list; it must be a text or a number in plain digits\n\
                 d/t.json, row 1, column `qty`: `$[0].qty` is a number of more than 63 bits; it must be a whole number"
                .into())
        );
        assert_eq!(told("[]"), Err("d/t.json: there is no header".into()));
        assert_eq!(told("{}"), Err("d/t.json: `$` is an object; it must be a list of objects".into()));
        assert_eq!(told("[{}"), Err("d/t.json: this is not JSON: EOF while parsing a list at line 1 column 3".into()));
        assert!(told(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn several_tables_and_documents_with_lines_are_read() {
        let text = br#"{"a": [{"x": "1"}], "b": [], "c": [{"x": 1.0}, {"y": 2}]}"#;
        let expect = |name: &str| match name {
            "b" => Expect { header: &["z"], integers: &[] },
            _ => Expect { header: &[], integers: &["x"] },
        };
        let faults = read_all("t.json", text, expect, &Limits::default()).unwrap_err();
        assert_eq!(
            faults.to_string(),
            "t.json, sheet `c`, row 1, column `x`: `$.c[0].x` is a number with a fraction or an exponent, or of more than 64 bits; it must be a whole number\n\
             t.json, sheet `c`, row 2, column `y`: `$.c[1].y` is none of the columns\n\
             t.json, sheet `c`, row 2, column `x`: `$.c[1].x` is missing"
        );
        let text = br#"[{"order": 1, "lines": [{"item": "a"}, {"item": "b"}], "due": "Mo"}, {"order": 2, "due": "Tu", "lines": []}]"#;
        let nesting = Nesting { lines: "lines", key: "order" };
        let (heads, lines) = read_nested("orders.json", text, nesting, Default::default(), &Limits::default()).unwrap();
        assert_eq!((heads.name(), lines.name()), ("orders", "lines"));
        assert_eq!(heads.rows().concat(), ["1", "Mo", "2", "Tu"]);
        assert_eq!(
            (lines.header().join(","), lines.rows().concat().join(",")),
            ("order,item".into(), "1,a,1,b".into())
        );
        let faults = read_nested(
            "o.json",
            br#"[{"order": 1}, {"order": 2, "lines": [{"order": 2, "a": 1}]}]"#,
            nesting,
            Default::default(),
            &Limits::default(),
        );
        assert_eq!(
            faults.unwrap_err().to_string(),
            "o.json, row 1, column `lines`: `$[0].lines` is missing\n\
             o.json, row 2, column `lines`: `$[1].lines[0].order` is there twice"
        );
    }
}
