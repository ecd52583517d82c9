//! Answers as a person reads them: rows as a table, one row as lines, a refusal as one line.

use benchwright_expr::Type;
use benchwright_pack::{CheckStatus, Refusal, Verdict};
use benchwright_report::layout::{WIDEST_CELL, clean, columns, counted, cut, length};
use benchwright_schema::{Domain, Tool};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};

/// The answer of a call.
pub(super) fn answer(domain: &Domain, tool: &Tool, answer: &str, width: usize) -> String {
    let shower = Shower { money: money(domain, tool), width };
    let answer = match serde_json::from_str(answer) {
        Ok(Json::Object(answer)) => answer,
        Ok(Json::Array(rows)) if rows.iter().any(Json::is_object) => {
            return format!("{}{}\n", shower.rows(&rows, 0), counted(rows.len(), "row"));
        }
        Ok(other) => return format!("{}\n", shower.value("", &other)),
        Err(_) => return format!("{}\n", clean(answer)),
    };
    match answer.get("rows") {
        Some(Json::Array(rows)) => {
            let mut out = shower.rows(rows, 0);
            out.push_str(&counted(rows.len(), "row"));
            if let Some(Json::String(cursor)) = answer.get("next_cursor") {
                out.push_str(&format!("; for more add cursor={cursor}"));
            }
            out.push('\n');
            out
        }
        _ => shower.lines(&answer),
    }
}

/// A refusal.
pub(super) fn refusal(refusal: &Refusal) -> String {
    let rule = refusal.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
    format!("refused {}{rule}: {}\n", refusal.code.word(), clean(&refusal.message))
}

/// The values of an answer that are money, by their names; those that are something else elsewhere are not among them.
fn money(domain: &Domain, tool: &Tool) -> BTreeSet<String> {
    let tables = tool.table.into_iter().chain(tool.with.iter().map(|child| child.table));
    let mut types: Vec<(&str, Type)> = Vec::new();
    for table in tables {
        types.extend(domain.table(table).fields.iter().map(|field| (&*field.name, field.ty)));
    }
    types.extend(tool.show.iter().map(|shown| (&*shown.name, shown.ty)));
    types.extend(tool.native.iter().flat_map(|native| &native.gives).map(|cell| (&*cell.name, cell.ty)));
    if let (Some(table), Some(of)) = (tool.table, tool.of) {
        types.push(("sum", domain.table(table).field(of).ty));
    }
    let always = |name: &str| types.iter().all(|(known, ty)| *known != name || *ty == Type::Money);
    types.iter().filter(|(name, _)| always(name)).map(|(name, _)| (*name).to_owned()).collect()
}

struct Shower {
    money: BTreeSet<String>,
    width: usize,
}

impl Shower {
    fn value(&self, name: &str, value: &Json) -> String {
        match value {
            Json::Null => "-".to_owned(),
            Json::String(text) => clean(text),
            Json::Number(number) if self.money.contains(name) => {
                number.as_f64().map_or_else(|| number.to_string(), |amount| format!("{amount:.2}"))
            }
            Json::Array(items) if items.is_empty() => "none".to_owned(),
            Json::Array(items) if !items.iter().any(Json::is_object) => {
                items.iter().map(|item| self.value(name, item)).collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }

    /// Rows as a table. Columns that are empty or for which there is no room are named below it.
    fn rows(&self, rows: &[Json], indent: usize) -> String {
        let rows: Vec<&Map<String, Json>> = rows.iter().filter_map(Json::as_object).collect();
        let mut names: Vec<&String> = Vec::new();
        for row in &rows {
            names.extend(row.keys().filter(|name| !names.contains(name)).collect::<Vec<_>>());
        }
        let mut table = vec![Vec::new(); rows.len() + 1];
        let (mut right, mut empty, mut no_room) = (Vec::new(), Vec::new(), Vec::new());
        let mut used = indent;
        for name in names {
            let values: Vec<&Json> = rows.iter().map(|row| row.get(name).unwrap_or(&Json::Null)).collect();
            if values.iter().all(|value| value.is_null()) {
                empty.push(&**name);
                continue;
            }
            let mut cells = vec![cut(name, WIDEST_CELL)];
            cells.extend(values.iter().map(|value| cut(&self.value(name, value), WIDEST_CELL)));
            let wide = cells.iter().map(|cell| length(cell)).max().unwrap_or_default() + 2;
            if used + wide > self.width + 2 || !no_room.is_empty() {
                no_room.push(&**name);
                continue;
            }
            used += wide;
            if values.iter().any(|value| value.is_number()) {
                right.push(table[0].len());
            }
            for (row, cell) in table.iter_mut().zip(cells) {
                row.push(cell);
            }
        }
        if rows.is_empty() {
            return String::new();
        }
        let mut out = columns(&table, &right, indent);
        for (names, why) in [(no_room, "no room"), (empty, "empty")] {
            if !names.is_empty() {
                out.push_str(&format!("{}{why}: {}\n", " ".repeat(indent), names.join(", ")));
            }
        }
        out
    }

    /// One row as lines of `name: value`, and lists of rows in it as tables.
    fn lines(&self, row: &Map<String, Json>) -> String {
        let mut plain = Vec::new();
        let mut lists = String::new();
        for (name, value) in row {
            match value {
                Json::Array(rows) if rows.iter().any(Json::is_object) => {
                    lists.push_str(&format!("{name}: {}\n{}", counted(rows.len(), "row"), self.rows(rows, 2)));
                }
                _ => plain.push(vec![format!("{name}:"), self.value(name, value)]),
            }
        }
        columns(&plain, &[], 0) + &lists
    }
}

/// How the checks of a task stand: what fails by name, and how many hold.
pub(super) fn checks(verdict: &Verdict, width: usize) -> String {
    let held = verdict.checks.iter().filter(|check| check.status == CheckStatus::Pass).count();
    let reward = crate::tasks::shown(verdict.reward);
    let mut out = format!("{held} of {} checks hold; reward {reward} if it ended now\n", verdict.applicable());
    let mut failed: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for check in verdict.checks.iter().filter(|check| check.status == CheckStatus::Fail) {
        failed.entry(&check.rule).or_insert((&check.code, 0)).1 += 1;
    }
    for (rule, (code, times)) in failed {
        out.push_str(&cut(&format!("  {rule} ({code}) fails {}", counted(times, "time")), width));
        out.push('\n');
    }
    for phase in verdict.phases.iter().filter(|phase| !phase.within) {
        let value = phase.value.map_or("none".to_owned(), |value| value.to_string());
        out.push_str(&format!("  {}: {value}, not yet the best\n", phase.name));
    }
    out
}
