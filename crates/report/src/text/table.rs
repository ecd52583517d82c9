//! Lays out cells as aligned columns for a terminal: text to the left, numbers to the right, within a given width.

use benchwright_draw::text::{cut, steers};

/// A table: the first column stands left, columns of numbers stand right.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The narrowest that the first column is cut to.
const NARROWEST: usize = 16;

impl Table {
    /// A table without rows.
    pub fn new(heads: &[&str]) -> Table {
        Table { heads: heads.iter().map(|head| plain(head)).collect(), rows: Vec::new() }
    }

    /// Adds a row; what is missing is empty, what is too much is left out.
    pub fn row(&mut self, cells: Vec<String>) {
        let mut cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        cells.resize(self.heads.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in at most `columns` columns. First the first column is cut; what still does not fit follows below, under
    /// the first column again. A single column that is wider than all is cut.
    pub fn text(&self, columns: usize) -> String {
        let columns = columns.max(NARROWEST + 8);
        let width = |at: usize| {
            self.rows
                .iter()
                .map(|row| &row[at])
                .chain([&self.heads[at]])
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let Some(first) = widths.first().copied() else { return String::new() };
        let rest: usize = widths[1..].iter().map(|width| width + 2).sum();
        widths[0] = if first + rest <= columns {
            first
        } else if NARROWEST + rest <= columns {
            columns - rest
        } else {
            // It takes several blocks anyway, so the names stay readable.
            first.min((columns / 3).max(NARROWEST))
        };
        let room = columns - widths[0] - 2;
        for width in &mut widths[1..] {
            *width = (*width).min(room);
        }
        let mut out = String::new();
        let mut from = 1;
        loop {
            let (mut to, mut used) = (from, widths[0]);
            while to < widths.len() && (used + widths[to] + 2 <= columns || to == from) {
                used += widths[to] + 2;
                to += 1;
            }
            if from > 1 {
                out.push('\n');
            }
            self.block(&mut out, &widths, from..to);
            from = to;
            if from >= widths.len() {
                return out;
            }
        }
    }

    /// The first column and a range of others.
    fn block(&self, out: &mut String, widths: &[usize], range: std::ops::Range<usize>) {
        let right: Vec<bool> = (0..widths.len())
            .map(|at| at > 0 && self.rows.iter().all(|row| row[at].chars().next().is_none_or(|c| !c.is_alphabetic())))
            .collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        for row in [&self.heads, &rule].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for at in std::iter::once(0).chain(range.clone()) {
                let cell = cut(&row[at], widths[at]);
                let space = " ".repeat(widths[at] - cell.chars().count());
                if at > 0 {
                    line.push_str("  ");
                }
                if right[at] {
                    line.push_str(&space);
                    line.push_str(&cell);
                } else {
                    line.push_str(&cell);
                    line.push_str(&space);
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

/// Without what would steer a terminal or turn the direction of a line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

/// Words in lines of at most so many columns.
pub(super) fn wrapped(text: &str, columns: usize) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let width = word.chars().count();
        let first = out.is_empty();
        if !first && used + 1 + width > columns {
            out.push('\n');
            used = 0;
        } else if !first {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["agent", "pass@1", "note"]);
        table.row(vec!["a".into(), "12.5".into(), "one".into()]);
        table.row(vec!["a-much-longer-name".into(), "3.0".into(), "two".into()]);
        table
    }

    #[test]
    fn numbers_stand_right_and_words_left() {
        let expected = "agent               pass@1  note\n\
                        ──────────────────  ──────  ────\n\
                        a                     12.5  one\n\
                        a-much-longer-name     3.0  two\n";
        assert_eq!(table().text(80), expected);
    }

    #[test]
    fn no_line_is_longer_than_asked() {
        for columns in [24, 28, 31, 40] {
            let text = table().text(columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}\n{text}");
            assert!(text.contains("two") && text.contains("12.5"));
        }
    }

    #[test]
    fn words_are_wrapped_between_them() {
        assert_eq!(wrapped("one two  three four", 9), "one two\nthree\nfour\n");
        assert_eq!(wrapped("incomprehensible a", 9), "incomprehensible\na\n");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let mut table = Table::new(&["a"]);
        table.row(vec!["x\u{1b}[31m\u{202e}y\n".into()]);
        assert!(table.text(80).contains("x�[31m�y�"));
    }
}
