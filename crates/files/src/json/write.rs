//! JSON written, a line for each row, so that two versions of a file can be compared.

use super::Nesting;
use crate::{Faults, Table, What, fault::Notes, number};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A table to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form<'a> {
    /// The table.
    pub table: &'a Table,
    /// The columns whose whole numbers are numbers.
    pub integers: &'a [&'a str],
}

/// A table as a list of objects.
pub fn write(form: Form<'_>) -> String {
    let mut text = String::new();
    let writer = Writer::of(form, 0);
    list(&mut text, "", form.table.rows().iter().map(|row| writer.object(row)));
    text.push('\n');
    text
}

/// Several tables as an object of lists, by their names.
pub fn write_all(forms: &[Form<'_>]) -> Result<String, Faults> {
    let mut names = BTreeSet::new();
    let mut faults = Faults::default();
    let mut text = String::from("{");
    for (at, form) in forms.iter().enumerate() {
        if !names.insert(form.table.name()) {
            faults
                .extend(Notes::of(form.table.name()).end(What::Cannot("two tables of one file cannot have one name")));
        }
        text.push_str(if at == 0 { "\n  " } else { ",\n  " });
        text.push_str(&quoted(form.table.name()));
        text.push_str(": ");
        let writer = Writer::of(*form, 0);
        list(&mut text, "  ", form.table.rows().iter().map(|row| writer.object(row)));
    }
    text.push_str(if forms.is_empty() { "}\n" } else { "\n}\n" });
    faults.or(text)
}

/// Two tables as documents, each with its lines. A fault is told under the name of its table.
pub fn write_nested(heads: Form<'_>, lines: Form<'_>, key: &str) -> Result<String, Faults> {
    let mut notes = Notes::of(heads.table.name());
    let mut of_lines = Notes::of(lines.table.name());
    let nesting = Nesting { lines: lines.table.name(), key };
    let Some(place) = heads.table.column(key) else {
        return Err(notes.end(What::KeyMissing { path: key.to_owned() }));
    };
    if lines.table.header().first().is_none_or(|first| first != key) {
        return Err(of_lines.end(What::Cannot("the first column of the lines is the key of their documents")));
    }
    if heads.table.column(nesting.lines).is_some() {
        notes.tell(None, Some(nesting.lines), What::Cannot("a column of the documents has the name of their lines"));
    }
    let mut documents = BTreeMap::new();
    for (at, row) in heads.table.rows().iter().enumerate() {
        if documents.insert(&row[place], at).is_some() {
            notes.tell(Some(at + 1), Some(key), What::Cannot("two documents have one key"));
        }
    }
    let mut groups: Vec<Vec<&Vec<String>>> = vec![Vec::new(); heads.table.rows().len()];
    let mut last = 0;
    for (at, row) in lines.table.rows().iter().enumerate() {
        match documents.get(&row[0]) {
            None => of_lines.tell(Some(at + 1), Some(key), What::Cannot("there is no document of this key")),
            Some(document) if *document < last => {
                of_lines.tell(
                    Some(at + 1),
                    Some(key),
                    What::Cannot("the lines do not stand in the order of their documents"),
                );
            }
            Some(document) => {
                last = *document;
                groups[last].push(row);
            }
        }
    }
    notes.faults.extend(of_lines.faults);
    let (head, line) = (Writer::of(heads, 0), Writer::of(lines, 1));
    let document = |(row, group): (&Vec<String>, Vec<&Vec<String>>)| {
        let mut text = head.object(row);
        text.pop();
        text.push_str(", ");
        text.push_str(&quoted(nesting.lines));
        text.push_str(": ");
        list(&mut text, "  ", group.into_iter().map(|row| line.object(row)));
        text.push('}');
        text
    };
    let mut text = String::new();
    list(&mut text, "", heads.table.rows().iter().zip(groups).map(document));
    text.push('\n');
    notes.faults.or(text)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(text: &mut String, indent: &str, objects: impl Iterator<Item = String>) {
    let mut is_empty = true;
    for object in objects {
        text.push_str(if is_empty { "[\n" } else { ",\n" });
        text.push_str(indent);
        text.push_str("  ");
        text.push_str(&object);
        is_empty = false;
    }
    if is_empty {
        text.push_str("[]");
    } else {
        text.push('\n');
        text.push_str(indent);
        text.push(']');
    }
}

/// What the columns of a table are called and which are whole numbers, from one of them on.
struct Writer {
    columns: Vec<(String, bool)>,
    from: usize,
}

impl Writer {
    fn of(form: Form<'_>, from: usize) -> Writer {
        let column = |name: &String| (quoted(name), form.integers.contains(&&**name));
        Writer { columns: form.table.header().iter().skip(from).map(column).collect(), from }
    }

    fn object(&self, row: &[String]) -> String {
        let mut text = String::from("{");
        for (at, ((name, is_integer), cell)) in self.columns.iter().zip(row.iter().skip(self.from)).enumerate() {
            text.push_str(if at == 0 { "" } else { ", " });
            text.push_str(name);
            text.push_str(": ");
            match (is_integer, number::whole(cell)) {
                (true, Some(_)) => text.push_str(cell),
                (true, None) if cell.is_empty() => text.push_str("null"),
                _ => text.push_str(&quoted(cell)),
            }
        }
        text.push('}');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, header: &str, rows: &[&str]) -> Table {
        let texts = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        Table::new(name, texts(header), rows.iter().map(|row| texts(row)).collect()).unwrap()
    }

    #[test]
    fn keys_stand_in_the_order_of_the_header() {
        let demand = table("demand", "item,qty", &["b\",12", "a,", "a,012", "a,1.5"]);
        let form = Form { table: &demand, integers: &["qty", "none"] };
        let rows = "{\"item\": \"b\\\"\", \"qty\": 12},\n  {\"item\": \"a\", \"qty\": null},\n  \
                    {\"item\": \"a\", \"qty\": \"012\"},\n  {\"item\": \"a\", \"qty\": \"1.5\"}";
        assert_eq!(write(form), format!("[\n  {rows}\n]\n"));
        let none = table("none", "a", &[]);
        let all =
            write_all(&[Form { table: &none, integers: &[] }, Form { table: &table("t", "a", &["1"]), integers: &[] }]);
        assert_eq!(all.unwrap(), "{\n  \"none\": [],\n  \"t\": [\n    {\"a\": \"1\"}\n  ]\n}\n");
        assert_eq!(
            write_all(&[form, form]).unwrap_err().to_string(),
            "demand: two tables of one file cannot have one name"
        );
    }

    #[test]
    fn documents_have_their_lines_inside() {
        let heads = table("orders", "order,due", &["1,Mo", "2,Tu"]);
        let lines = table("lines", "order,item", &["1,a", "1,b"]);
        fn form(table: &Table) -> Form<'_> {
            Form { table, integers: &["order"] }
        }
        assert_eq!(
            write_nested(form(&heads), form(&lines), "order").unwrap(),
            "[\n  {\"order\": 1, \"due\": \"Mo\", \"lines\": [\n    {\"item\": \"a\"},\n    {\"item\": \"b\"}\n  ]},\n  \
             {\"order\": 2, \"due\": \"Tu\", \"lines\": []}\n]\n"
        );
        let told =
            |heads: &Table, lines: &Table| write_nested(form(heads), form(lines), "order").unwrap_err().to_string();
        assert_eq!(
            told(&table("orders", "order,lines", &["1,x", "1,y"]), &table("lines", "order,item", &["3,a"])),
            "orders, column `lines`: a column of the documents has the name of their lines\n\
             orders, row 2, column `order`: two documents have one key\n\
             lines, row 1, column `order`: there is no document of this key"
        );
        assert_eq!(
            told(&heads, &table("lines", "order,item", &["2,a", "1,b"])),
            "lines, row 2, column `order`: the lines do not stand in the order of their documents"
        );
    }
}
