//! Rebuilds a case from its instruction and from what the tools answer, and from nothing else. It shares the types of a case
//! with the writer, and the domain's words, and no code. A sentence that it does not know is an error.

mod prose;

use super::{
    board::{Board, Condition, Item, Limit, Op},
    words::{Measure, RuleWords, Words},
};
use benchwright_project::ToolAccess;
pub(crate) use prose::passages;
use serde_json::{Value as Json, json};

/// The case behind an instruction.
pub(crate) fn read_back(domain: &str, words: &Words, text: &str, access: &mut dyn ToolAccess) -> Result<Board, String> {
    let state = access.ask("get_current_grid_state", json!({}))?;
    let size = |key: &str| state[key].as_u64().map(|n| n as usize).ok_or_else(|| format!("the grid has no {key}"));
    let (rows, cols) = (size("rows")?, size("cols")?);
    prose::check(words, text)?;
    let (queries, checks) = prose::budgets(words, text)?;
    let mut board = Board {
        rows,
        cols,
        queries,
        checks,
        faults: 0,
        open: Vec::new(),
        given: vec![0; rows * cols],
        items: Vec::new(),
        conditions: Vec::new(),
        limits: Vec::new(),
    };
    let mut known: Vec<(u64, Item)> = Vec::new();
    for slot in state["slots"].as_array().into_iter().flatten() {
        let at = |key: &str| slot[key].as_u64().filter(|n| *n > 0).map(|n| n as usize - 1).ok_or("a slot has no place");
        let cell = at("row")? * cols + at("col")?;
        if slot["open"] == json!(true) {
            board.open.push(cell);
            continue;
        }
        let id = slot["id"].as_u64().ok_or("a slot that is not open holds nothing")?;
        *board.given.get_mut(cell).ok_or("a slot is off the grid")? = id as u32;
        let info = access.ask(&format!("get_{domain}_item_info"), json!({ "id": id }))?;
        let values = words.fields().map(|field| value(words, field, &info[field])).collect::<Result<_, _>>()?;
        known.push((id, Item { of: 0, values, name: info["name"].as_str().unwrap_or_default().to_owned() }));
    }
    board.open.sort_unstable();
    for (slot, cell) in board.open.clone().into_iter().enumerate() {
        candidates(domain, words, &board, slot, cell, access, &mut known)?;
    }
    known.sort_by_key(|(id, _)| *id);
    if known.iter().enumerate().any(|(at, (id, _))| *id != at as u64 + 1) {
        return Err("the items are not numbered without a gap".to_owned());
    }
    board.items = known.into_iter().map(|(_, item)| item).collect();
    told(words, text, &mut board)?;
    for (place, rule) in words.rule.iter().enumerate() {
        if !board.limits.iter().any(|limit| limit.rule == place) {
            return Err(format!("nothing bounds {}", rule.of));
        }
    }
    Ok(board)
}

/// How a comparison is put.
fn put(op: Op) -> &'static str {
    match op {
        Op::AtMost => "at most",
        Op::AtLeast => "at least",
        Op::Exactly => "exactly",
        Op::Is => "is",
        Op::IsNot => "is not",
    }
}

/// What the instruction asks of open slots and of the whole grid, on a board whose open slots are known.
pub(super) fn told(words: &Words, text: &str, board: &mut Board) -> Result<(), String> {
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("- Row ") {
            conditions(words, board, rest)?;
        } else if let Some(sentence) = line.strip_prefix("- ") {
            limits(words, board, sentence)?;
        }
    }
    Ok(())
}

/// Asks for every candidate of a slot, attribute by attribute, within the slot's budget.
fn candidates(
    domain: &str,
    words: &Words,
    board: &Board,
    slot: usize,
    cell: usize,
    access: &mut dyn ToolAccess,
    known: &mut Vec<(u64, Item)>,
) -> Result<(), String> {
    let (row, col) = (cell / board.cols + 1, cell % board.cols + 1);
    let number = words.number.first().ok_or("there is no number to ask by")?;
    let all = json!({ "row": row, "col": col, "field": number.field, "operator": ">=", "value": 0 });
    let ids = access.ask(&format!("query_{domain}_candidate_from_attribute"), all)?["ids"].clone();
    let list: Vec<u64> = ids.as_array().into_iter().flatten().filter_map(Json::as_u64).collect();
    let mut items: Vec<Item> =
        list.iter().map(|_| Item { of: slot + 1, values: Vec::new(), name: String::new() }).collect();
    for field in words.fields() {
        let answer = access.ask(&format!("get_{domain}_item_attributes"), json!({ "ids": ids, "field": field }))?;
        for (item, told) in items.iter_mut().zip(answer["values"].as_array().into_iter().flatten()) {
            item.values.push(value(words, field, &told["value"])?);
        }
    }
    known.extend(list.into_iter().zip(items));
    Ok(())
}

pub(super) fn value(words: &Words, field: &str, told: &Json) -> Result<i64, String> {
    if let Some(number) = told.as_i64() {
        return Ok(number);
    }
    let label = words.label.iter().find(|label| label.field == field);
    let word = told.as_str().and_then(|told| label?.words.iter().position(|word| word == told));
    word.map(|word| word as i64).ok_or_else(|| format!("{field} is {told}, which is no value of it"))
}

/// `2, column 5: credits at most 3; subject is arts.`
fn conditions(words: &Words, board: &mut Board, line: &str) -> Result<(), String> {
    let odd = || format!("`{line}` is not understood");
    let (place, asked) = line.split_once(": ").ok_or_else(odd)?;
    let (row, col) = place.split_once(", column ").ok_or_else(odd)?;
    let (row, col): (usize, usize) = (row.parse().map_err(|_| odd())?, col.parse().map_err(|_| odd())?);
    let cell = (row * board.cols + col).checked_sub(board.cols + 1).ok_or_else(odd)?;
    let slot = board.open.iter().position(|open| *open == cell).ok_or_else(odd)?;
    for part in asked.trim_end_matches('.').split("; ") {
        let condition = condition(words, slot, part).ok_or_else(|| format!("`{part}` is not understood"))?;
        board.conditions.push(condition);
    }
    Ok(())
}

fn condition(words: &Words, slot: usize, part: &str) -> Option<Condition> {
    let (field, rest) = words.fields().enumerate().find_map(|(place, field)| {
        let rest = part.strip_prefix(&*field.replace('_', " "))?.strip_prefix(' ')?;
        Some((place, rest))
    })?;
    // The longest first: `is not` begins like `is`.
    let mut ops: Vec<Op> = Op::ALL.iter().map(|(op, _)| *op).collect();
    ops.sort_by_key(|op| std::cmp::Reverse(put(*op).len()));
    let (op, told) = ops.into_iter().find_map(|op| Some((op, rest.strip_prefix(put(op))?.strip_prefix(' ')?)))?;
    let value = match words.label_at(field) {
        Some(label) => label.words.iter().position(|word| word == told)? as i64,
        None => told.parse().ok()?,
    };
    Some(Condition { slot, field, op, value })
}

/// A sentence about the whole grid.
fn limits(words: &Words, board: &mut Board, sentence: &str) -> Result<(), String> {
    for (place, rule) in words.rule.iter().enumerate() {
        for says in &rule.says {
            let says = says.replace("{least}", &rule.least.unwrap_or_default().to_string());
            if let Some(found) = bounds(words, rule, &says, sentence) {
                if !prose::is_bound(rule.measure, &says) || board.limits.iter().any(|known| known.rule == place) {
                    return Err(format!("`{sentence}` does not bound {} as it should, or stands twice", rule.of));
                }
                board.limits.extend(found.into_iter().map(|(at, bound)| Limit { rule: place, at, bound }));
                return Ok(());
            }
        }
    }
    Err(format!("`{sentence}` is not understood"))
}

fn bounds(words: &Words, rule: &RuleWords, says: &str, sentence: &str) -> Option<Vec<(usize, i64)>> {
    let hole = if says.contains("{list}") { "{list}" } else { "{bound}" };
    let (lead, tail) = says.split_once(hole)?;
    let inner = sentence.strip_prefix(lead)?.strip_suffix(tail)?;
    if hole == "{bound}" {
        return Some(vec![(0, inner.parse().ok()?)]);
    }
    let label = words.label.iter().find(|label| label.field == rule.of);
    let mut found = Vec::new();
    for part in inner.split(", ") {
        let (name, bound) = part.rsplit_once(' ')?;
        let at = match rule.measure {
            Measure::RowAtMost => name.strip_prefix("row ")?.parse::<usize>().ok()?.checked_sub(1)?,
            _ => label?.words.iter().position(|word| word == name)?,
        };
        found.push((at, bound.parse().ok()?));
    }
    Some(found)
}
