//! Tables between pipes, as in GitHub's Markdown. A newline in a cell is `<br>`; a pipe and a backslash have a backslash before them; what
//! the ends of a cell would lose, and a carriage return, is a numeric reference such as `&#32;`. Other marks, such as stars, are left as
//! they are: whoever reads the file as text reads the cell, and a page shows it in its way.
//!
//! It cannot carry a NUL character.

use crate::{
    Faults, Limits, Table, What,
    fault::Notes,
    table::{check_header, stem},
};

/// The lines of this table.
pub fn write(table: &Table) -> Result<String, Faults> {
    let mut notes = Notes::of(table.name());
    let all = std::iter::once((None, table.header()))
        .chain(table.rows().iter().enumerate().map(|(at, row)| (Some(at + 1), &**row)));
    let mut text = String::new();
    for (row, cells) in all {
        text.push('|');
        for (column, cell) in table.header().iter().zip(cells) {
            if cell.contains('\0') {
                notes.tell(row, Some(column), What::Nul);
            }
            text.push(' ');
            escape(cell, &mut text);
            text.push_str(" |");
        }
        text.push('\n');
        if row.is_none() {
            text.push('|');
            text.push_str(&"---|".repeat(cells.len()));
            text.push('\n');
        }
    }
    notes.faults.or(text)
}

/// Blanks that do not count at the ends of a cell.
const BLANKS: [char; 2] = [' ', '\t'];

fn escape(cell: &str, text: &mut String) {
    let begin = cell.len() - cell.trim_start_matches(BLANKS).len();
    let end = cell.trim_end_matches(BLANKS).len();
    for (at, letter) in cell.char_indices() {
        let rest = &cell[at..];
        match letter {
            '\n' => text.push_str("<br>"),
            '\r' => text.push_str("&#13;"),
            ' ' if at < begin || at >= end => text.push_str("&#32;"),
            '\t' if at < begin || at >= end => text.push_str("&#9;"),
            '|' | '\\' => text.extend(['\\', letter]),
            '<' if line_break(rest).is_some() => text.push_str("\\<"),
            '&' if rest.starts_with("&#") => text.push_str("\\&"),
            _ => text.push(letter),
        }
    }
}

/// What comes after the line break that a text begins with.
fn line_break(text: &str) -> Option<&str> {
    ["<br>", "<br/>", "<br />"].iter().find_map(|mark| text.strip_prefix(mark))
}

/// The letter of the numeric reference that a text begins with, and what comes after it.
fn reference(text: &str) -> Option<(char, &str)> {
    let (number, rest) = text.strip_prefix("&#")?.split_once(';')?;
    let is_short = number.len() <= 7 && number.bytes().all(|byte| byte.is_ascii_digit());
    let letter = number.parse().ok().filter(|_| is_short).and_then(char::from_u32)?;
    Some((letter, rest))
}

/// The first table under a heading, deeper headings included; the first of the file if there is no heading asked for. It is called as the
/// heading is, or as the file. Headings are lines that begin with `#`; what stands between fences is passed over.
pub fn read(file: &str, bytes: &[u8], heading: Option<&str>, limits: &Limits) -> Result<Table, Faults> {
    let mut notes = Notes::of(file);
    if !limits.admit(bytes, &mut notes) {
        return Err(notes.faults);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        let good = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let line = bytes[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        notes.tell(Some(line), None, What::NotUtf8);
        return Err(notes.faults);
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate();
    let mut lines = lines.map(|(at, line)| (at + 1, line)).peekable();
    let mut fence: Option<&str> = None;
    // The level of the heading that was asked for, once it is found.
    let mut level = heading.is_none().then_some(0);
    while let Some((number, line)) = lines.next() {
        let begin = line.trim_start();
        if let Some(open) = fence {
            fence = Some(open).filter(|open| !begin.starts_with(open));
        } else if let Some(open) = ["```", "~~~"].into_iter().find(|open| begin.starts_with(open)) {
            fence = Some(open);
        } else if let Some((depth, title)) = heading_of(line) {
            match level {
                None if Some(title) == heading => level = Some(depth),
                Some(level) if level > 0 && depth <= level => return Err(notes.end(What::NoTable)),
                _ => {}
            }
        } else if level.is_some()
            && lines.peek().is_some_and(|(_, next)| line.contains('|') && is_rule(next, limits.columns))
        {
            let rule = lines.next().map_or(0, |(_, next)| cells_of(next, limits.columns).len());
            let name = heading.unwrap_or_else(|| stem(file));
            let body = lines.map_while(|(number, line)| (line.contains('|')).then_some((number, line)));
            return rows(name, (number, line), rule, body, limits, notes);
        }
    }
    Err(notes.end(match (level, heading) {
        (None, Some(heading)) => What::NoHeading(heading.to_owned()),
        _ => What::NoTable,
    }))
}

fn rows<'a>(
    name: &str,
    (number, line): (usize, &str),
    rule: usize,
    body: impl Iterator<Item = (usize, &'a str)>,
    limits: &Limits,
    mut notes: Notes,
) -> Result<Table, Faults> {
    let header = cells_of(line, limits.columns);
    if !limits.admit_columns(header.len(), Some(number), &mut notes) {
        return Err(notes.faults);
    }
    if rule != header.len() {
        notes.tell(Some(number + 1), None, What::Ragged { found: rule, expected: header.len() });
    }
    check_header(&header, Some(number), &mut notes);
    let mut rows = Vec::new();
    for (number, line) in body {
        if rows.len() == limits.rows {
            notes.whole(What::TooMany { of: "rows", most: limits.rows });
            break;
        }
        if rows.len().saturating_mul(header.len()) > limits.cells() {
            notes.whole(What::TooMany { of: "cells", most: limits.cells() });
            break;
        }
        let cells = cells_of(line, limits.columns);
        if cells.len() != header.len() {
            notes.tell(Some(number), None, What::Ragged { found: cells.len(), expected: header.len() });
        }
        for (column, cell) in header.iter().zip(&cells) {
            if cell.contains('\0') {
                notes.tell(Some(number), Some(column), What::Nul);
            }
            limits.admit_cell(cell, number, column, &mut notes);
        }
        rows.push(cells);
    }
    if !notes.faults.is_empty() {
        return Err(notes.faults);
    }
    Table::new(name, header, rows)
}

/// How deep a heading is, and what it says.
fn heading_of(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    let is_heading = (1..=6).contains(&depth) && (rest.is_empty() || rest.starts_with(BLANKS));
    is_heading.then(|| (depth, rest.trim_matches(BLANKS).trim_end_matches('#').trim_end_matches(BLANKS)))
}

/// Whether a line stands between a header and its rows.
fn is_rule(line: &str, most: usize) -> bool {
    let is_dashes = |cell: &String| {
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    line.contains('|') && cells_of(line, most).iter().all(is_dashes)
}

/// The cells of a line, at most one more than there may be. A pipe at its beginning and end is none between two cells.
fn cells_of(line: &str, most: usize) -> Vec<String> {
    let line = line.trim_matches(BLANKS);
    let mut rest = line.strip_prefix('|').unwrap_or(line);
    let mut cells = Vec::new();
    let mut cell = String::new();
    // Blanks count only between what is no blank, and one that is written as a reference is none.
    let mut blanks = String::new();
    let mut is_open = false;
    while let Some(letter) = rest.chars().next().filter(|_| cells.len() <= most) {
        let after = &rest[letter.len_utf8()..];
        let (said, next) = match letter {
            '|' => {
                cells.push(std::mem::take(&mut cell));
                blanks.clear();
                (rest, is_open) = (after, false);
                continue;
            }
            ' ' | '\t' => {
                blanks.push(letter);
                rest = after;
                continue;
            }
            '\\' => match after.chars().next().filter(char::is_ascii_punctuation) {
                Some(escaped) => (escaped, &after[1..]),
                None => ('\\', after),
            },
            '<' => line_break(rest).map_or(('<', after), |next| ('\n', next)),
            '&' => reference(rest).unwrap_or(('&', after)),
            _ => (letter, after),
        };
        if is_open {
            cell.push_str(&blanks);
        }
        blanks.clear();
        cell.push(said);
        (rest, is_open) = (next, true);
    }
    // What comes after the last pipe is a cell only if there is something in it.
    if is_open || cells.is_empty() {
        cells.push(cell);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Plant\n\n| no | table |\n|---|---|\n\n```\n## Limits\n```\n## Limits\r\n\r\nText | more\n\n### Of tanks\n\n\
                        tank | litres\n:---|--:\n T\\|1 | `5` <br/> &#32;\n| T2 | 7\n\nlater | x\n## Others\n";

    fn told(heading: Option<&str>, page: &str) -> Result<Table, String> {
        read("d/p.md", page.as_bytes(), heading, &Limits::default()).map_err(|faults| faults.to_string())
    }

    #[test]
    fn the_first_table_under_a_heading_is_read() {
        let table = told(Some("Limits"), PAGE).unwrap();
        assert_eq!((table.name(), table.header().join(",")), ("Limits", "tank,litres".to_owned()));
        assert_eq!(table.rows().concat(), ["T|1", "`5` \n  ", "T2", "7"]);
        assert_eq!(told(None, PAGE).unwrap().header().join(","), "no,table");
        assert_eq!(told(None, PAGE).unwrap().name(), "p");
        assert_eq!(told(Some("Others"), PAGE), Err("d/p.md: there is no table".into()));
        assert_eq!(told(Some("Tanks"), PAGE), Err("d/p.md: there is no heading `Tanks`".into()));
        assert_eq!(told(Some("A"), "# A\n# B\n| a |\n|---|\n"), Err("d/p.md: there is no table".into()));
    }

    #[test]
    fn faults_are_told_by_line() {
        assert_eq!(
            told(None, "| a | b |\n|---|\n| 1 |\n| 1 | 2 | 3 |\n"),
            Err("d/p.md, row 2: it has 1 cell, and the header has 2\nd/p.md, row 3: it has 1 cell, and the header has 2\n\
                 d/p.md, row 4: it has 3 cells, and the header has 2"
                .into())
        );
        let faults = read("p", b"a\nb\xff", None, &Limits::default()).unwrap_err();
        assert_eq!(faults.to_string(), "p, row 2: it is not UTF-8");
    }

    #[test]
    fn a_table_is_written_as_people_write_it() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let table =
            Table::new("t", texts(&["a", "b"]), vec![texts(&["x|y\\", "R&D\n "]), texts(&["", "<br> &#1; <b>"])]);
        assert_eq!(
            write(&table.unwrap()).unwrap(),
            "| a | b |\n|---|---|\n| x\\|y\\\\ | R&D<br>&#32; |\n|  | \\<br> \\&#1; <b> |\n"
        );
    }
}
