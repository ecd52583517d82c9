//! The tables of an instruction, with the words above each.

/// A table, or a line that only lists references.
#[derive(Clone, Debug)]
pub(super) struct Table<'t> {
    /// The paragraph above it.
    pub(super) above: &'t str,
    head: Vec<&'t str>,
    rows: Vec<Vec<&'t str>>,
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a, 't> {
    head: &'a [&'t str],
    cells: &'a [&'t str],
}

impl<'t> Table<'t> {
    pub(super) fn has(&self, column: &str) -> bool {
        self.head.contains(&column)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_, 't>> {
        self.rows.iter().map(|cells| Row { head: &self.head, cells })
    }
}

impl<'t> Row<'_, 't> {
    /// The cell under a heading.
    pub(super) fn cell(&self, column: &str) -> Result<&'t str, String> {
        let at = self.head.iter().position(|head| *head == column);
        let cell = at.and_then(|at| self.cells.get(at)).copied();
        cell.ok_or_else(|| format!("a row has nothing under {column}: {}", self.cells.join(" | ")))
    }
}

/// All tables of a text.
pub(super) fn tables(text: &str) -> Result<Vec<Table<'_>>, String> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    let mut above = "";
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if let Some(head) = cells(line) {
            let mut table = Table { above, head, rows: Vec::new() };
            while let Some(row) = lines.peek().and_then(|line| cells(line)) {
                lines.next();
                if row.len() != table.head.len() {
                    return Err(format!("a row does not fit its table: {}", row.join(" | ")));
                }
                if !row.iter().all(|cell| cell.bytes().all(|sign| sign == b'-' || sign == b':')) {
                    table.rows.push(row);
                }
            }
            tables.push(table);
        } else if !line.is_empty() && line.split(", ").all(super::phrase::is_code) {
            let rows = line.split(", ").map(|word| vec![word]).collect();
            tables.push(Table { above, head: vec!["Reference"], rows });
        } else if !line.is_empty() {
            above = line;
        }
    }
    Ok(tables)
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists_are_found_with_what_stands_above() -> Result<(), String> {
        let found = tables("Drafts:\n\nREQ-1, REQ-2\n\nNew:\n\n| Reference | Units |\n|---|---:|\n| REQ-3 | 4 |\n")?;
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].above, found[0].rows().count()), ("Drafts:", 2));
        let row = found[1].rows().next().ok_or("no row")?;
        assert_eq!((found[1].above, row.cell("Units")?), ("New:", "4"));
        assert!(row.cell("Price").is_err());
        assert!(tables("| a | b |\n|---|---|\n| 1 |\n").is_err());
        Ok(())
    }
}
