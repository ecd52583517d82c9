//! Reads `.case` files, the test cases of a domain: rows that are given, then for each case lines that call tools and say
//! what is expected, with labels that stand for ids. Here they are only text in order; what the lines mean stands at the
//! head of `crates/testkit/src/cases.rs`. The bench reads its episodes by this too.

use benchwright_base::Json;
use std::collections::BTreeMap;

/// A file of cases.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaseFile<'a> {
    /// The size and seed of the world that all cases run in, if they share one.
    pub world: Option<(&'a str, u64)>,
    /// Rows that are given to every case.
    pub given: Vec<GivenRow<'a>>,
    /// The cases; there is at least one.
    pub cases: Vec<Case<'a>>,
}

/// A row that is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenRow<'a> {
    /// The line it stands in, from 1.
    pub line: usize,
    /// What cases call it.
    pub label: &'a str,
    /// The table that the row goes into, by its name in the domain.
    pub table: &'a str,
    /// Its values, a JSON object with labels in it.
    pub values: &'a str,
}

/// What is wrong with a file of cases or with what a label is to stand for, in a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(String);

impl From<String> for CaseError {
    fn from(why: String) -> CaseError {
        CaseError(why)
    }
}

impl From<&str> for CaseError {
    fn from(why: &str) -> CaseError {
        CaseError(why.to_owned())
    }
}

impl From<CaseError> for String {
    fn from(error: CaseError) -> String {
        error.0
    }
}

/// One test case: the rows it begins with and the lines that call tools and say what is expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case<'a> {
    /// What it shows, from the line `--- title` that it begins with.
    pub title: &'a str,
    /// Rows that only this case is given.
    pub given: Vec<GivenRow<'a>>,
    /// Its lines with their numbers, from 1.
    pub steps: Vec<(usize, &'a str)>,
}

impl<'a> CaseFile<'a> {
    /// Reads a file; the error names the line.
    pub fn parse(text: &'a str) -> Result<CaseFile<'a>, CaseError> {
        let mut file = CaseFile { world: None, given: Vec::new(), cases: Vec::new() };
        let mut giving = false;
        for (at, line) in text.lines().enumerate() {
            let number = at + 1;
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let at_top = file.cases.is_empty() && file.given.is_empty();
            if let Some(title) = line.strip_prefix("--- ") {
                giving = false;
                file.cases.push(Case { title: title.trim(), given: Vec::new(), steps: Vec::new() });
            } else if trimmed == "given" {
                if file.world.is_some() {
                    return Err(format!("line {number}: a seeded world is given nothing").into());
                }
                giving = true;
            } else if let (Some(rest), true) = (line.strip_prefix("world "), at_top) {
                let parts = rest.trim().split_once(' ');
                let parts = parts.and_then(|(size, seed)| Some((size, seed.trim().parse().ok()?)));
                file.world = Some(parts.ok_or_else(|| format!("line {number}: a world is `world SIZE SEED`"))?);
            } else if giving && line.starts_with(' ') {
                let row = GivenRow::parse(number, trimmed)?;
                file.cases.last_mut().map_or(&mut file.given, |case| &mut case.given).push(row);
            } else {
                giving = false;
                match file.cases.last_mut() {
                    Some(case) => case.steps.push((number, line)),
                    None => return Err(format!("line {number}: a case begins with `--- title`").into()),
                }
            }
        }
        if file.cases.is_empty() { Err("there is no case".into()) } else { Ok(file) }
    }
}

impl<'a> GivenRow<'a> {
    fn parse(line: usize, text: &'a str) -> Result<GivenRow<'a>, CaseError> {
        let Some((label, rest)) = text.split_once(char::is_whitespace) else {
            return Err(format!("line {line}: a given row is `label table {{…}}`").into());
        };
        let rest = rest.trim();
        let (table, values) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
        Ok(GivenRow { line, label, table, values: values.trim() })
    }
}

/// What labels stand for.
#[derive(Clone, Debug, Default)]
pub struct Labels(BTreeMap<String, u32>);

impl Labels {
    /// Lets a label stand for the row of an id.
    pub fn put(&mut self, label: &str, id: u32) {
        self.0.insert(label.to_owned(), id);
    }

    /// The id that a label stands for.
    pub fn get(&self, label: &str) -> Option<u32> {
        self.0.get(label).copied()
    }

    /// Lets a label stand for the `id` of an answer, the only id of a list of ids, or the id of the first of its rows.
    pub fn name(&mut self, label: &str, answer: &Json<'_>) -> Result<(), CaseError> {
        let only = match (answer, answer.get("rows")) {
            (Json::List(items), _) if items.len() == 1 => &items[0],
            (_, Some(Json::List(rows))) if !rows.is_empty() => &rows[0],
            (other, _) => other,
        };
        let ((Json::Int(id), _) | (_, Some(Json::Int(id)))) = (only, only.get("id")) else {
            return Err("the answer has no id to name".into());
        };
        let id = u32::try_from(*id).map_err(|_| format!("{id} is no id of a row"))?;
        self.put(label, id);
        Ok(())
    }

    /// A text with ids in the place of `@label`, but for what is in quotes.
    pub fn fill(&self, text: &str) -> Result<String, CaseError> {
        let mut out = String::new();
        let mut rest = text;
        let mut quoted = false;
        while let Some(at) = rest.find(['@', '"']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            if let Some(after) = from.strip_prefix('"') {
                quoted = !quoted || before.ends_with('\\');
                out.push('"');
                rest = after;
                continue;
            }
            if quoted {
                out.push('@');
                rest = &from[1..];
                continue;
            }
            let end = from[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(from.len(), |end| end + 1);
            let id = self.get(&from[1..end]).ok_or_else(|| format!("there is no label `{}`", &from[..end]))?;
            out.push_str(&id.to_string());
            rest = &from[end..];
        }
        out.push_str(rest);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# what it is about\ngiven\n  ada user {\"name\": \"Ada\"}\n  desk  user_group\n\n--- one\ncall x {\"a\": @ada}\n=> {}\n--- two\ngiven\n  bo user {}\ncall y\n";

    #[test]
    fn a_file_is_read_whole() {
        let file = CaseFile::parse(FILE).unwrap();
        assert_eq!(file.world, None);
        let given: Vec<_> = file.given.iter().map(|row| (row.line, row.label, row.table, row.values)).collect();
        assert_eq!(given, [(3, "ada", "user", "{\"name\": \"Ada\"}"), (4, "desk", "user_group", "{}")]);
        assert_eq!(file.cases[0].steps, [(7, "call x {\"a\": @ada}"), (8, "=> {}")]);
        assert_eq!((file.cases[1].title, file.cases[1].given[0].label), ("two", "bo"));
        let world = CaseFile::parse("world medium 7\n--- one\ncall x\n").unwrap();
        assert_eq!(world.world, Some(("medium", 7)));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, wrong) in [
            ("", "there is no case"),
            ("call x\n", "line 1: a case begins with `--- title`"),
            ("world medium\n", "line 1: a world is `world SIZE SEED`"),
            ("world small 1\ngiven\n", "line 2: a seeded world is given nothing"),
            ("given\n  ada\n", "line 2: a given row is `label table {…}`"),
        ] {
            assert_eq!(CaseFile::parse(text).unwrap_err().to_string(), wrong);
        }
    }

    #[test]
    fn labels_stand_for_ids_outside_of_quotes() {
        let mut labels = Labels::default();
        labels.put("a", 7);
        assert_eq!(
            labels.fill(r#"{"id": @a, "mail": "x@a", "q": "\"@a", "l": [@a]}"#).unwrap(),
            r#"{"id": 7, "mail": "x@a", "q": "\"@a", "l": [7]}"#
        );
        assert_eq!(labels.fill("@b").unwrap_err().to_string(), "there is no label `@b`");
        for (answer, id) in [(r#"{"id": 3}"#, 3), ("[4]", 4), (r#"{"rows": [{"id": 5}, {"id": 6}]}"#, 5), ("8", 8)] {
            labels.name("n", &Json::parse(answer).unwrap()).unwrap();
            assert_eq!(labels.get("n"), Some(id));
        }
        for answer in [r#"{"rows": []}"#, "[1, 2]", "-1", "{}"] {
            assert!(labels.name("m", &Json::parse(answer).unwrap()).is_err(), "{answer}");
        }
        assert_eq!(labels.get("m"), None);
    }
}
