//! The baseline: the same tools on plain structs. It reads and writes the same JSON by derived code and keeps budgets; it has no
//! declared types, no access, no trace, no hash, no frame, and cannot be forked.

use crate::error::{OrWrong as _, Result, wrong};
use benchwright_base::Value;
use benchwright_pack::Snapshot;
use benchwright_schema::Domain;
use serde::{Deserialize, Serialize};

/// A grid that does not change.
pub(super) struct Plain {
    rows: usize,
    cols: usize,
    fields: Vec<String>,
    /// For each slot whether it is open, and what was given.
    slots: Vec<(bool, Option<u32>)>,
    items: Vec<Item>,
    labels: Vec<String>,
    conditions: Vec<Condition>,
    requirements: Vec<Requirement>,
    queries: Vec<i64>,
    checks: i64,
}

struct Item {
    of: Option<usize>,
    values: Vec<Cell>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Number(i64),
    Label(usize),
}

struct Condition {
    slot: usize,
    field: usize,
    op: u16,
    than: Cell,
}

struct Requirement {
    measure: u16,
    field: usize,
    least: i64,
    row: usize,
    word: Cell,
    given: i64,
    bound: i64,
}

/// What an episode changes.
#[derive(Clone)]
pub(super) struct Played {
    placed: Vec<Option<u32>>,
    queries: Vec<i64>,
    checks: i64,
    done: bool,
}

#[derive(Deserialize)]
struct Place {
    row: usize,
    col: usize,
}

#[derive(Deserialize)]
struct Set {
    row: usize,
    col: usize,
    id: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar<'a> {
    Number(i64),
    Text(&'a str),
}

#[derive(Deserialize)]
struct Query<'a> {
    row: usize,
    col: usize,
    field: &'a str,
    operator: &'a str,
    #[serde(borrow)]
    value: Scalar<'a>,
}

#[derive(Deserialize)]
struct Attributes<'a> {
    ids: Vec<u32>,
    field: &'a str,
}

#[derive(Serialize)]
struct State {
    rows: usize,
    cols: usize,
    slots: Vec<SlotState>,
}

#[derive(Serialize)]
struct SlotState {
    row: usize,
    col: usize,
    open: bool,
    id: Option<u32>,
}

#[derive(Serialize)]
struct WasSet {
    row: usize,
    col: usize,
    id: Option<u32>,
}

#[derive(Serialize)]
struct Ids {
    ids: Vec<u32>,
}

#[derive(Serialize)]
struct Told<'a> {
    values: Vec<ToldValue<'a>>,
}

#[derive(Serialize)]
struct ToldValue<'a> {
    id: u32,
    value: Shown<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    Number(i64),
    Text(&'a str),
}

#[derive(Serialize)]
struct Satisfied {
    satisfied: bool,
}

#[derive(Serialize)]
struct Done {
    done: bool,
}

fn compares(operator: &str, left: i64, right: i64) -> Option<bool> {
    Some(match operator {
        "<=" => left <= right,
        ">=" => left >= right,
        "=" => left == right,
        "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        _ => return None,
    })
}

impl Plain {
    /// The same grid as a world's first state.
    pub(super) fn of(domain: &Domain, first: &Snapshot) -> Result<Plain> {
        let table = |name: &str| -> Result<&Vec<Vec<Value>>> {
            let at = domain.table_named(name).or_wrong(|| format!("no table {name}"))?;
            Ok(&first.tables[at.index()].rows)
        };
        let int = |value: &Value| value.as_number().unwrap_or_default();
        let row = |value: &Value| value.as_ref_id().map(|id| id as usize - 1);
        let cell = |value: &Value| match row(value) {
            Some(label) => Cell::Label(label),
            None => Cell::Number(int(value)),
        };
        let text = |value: &Value| value.as_text().unwrap_or_default().to_owned();
        let declared = domain.table(domain.table_named("item").or_wrong(|| "no items")?);
        let fields: Vec<String> = declared.fields.iter().skip(4).map(|field| field.name.clone()).collect();
        let place = |name: &Value| {
            let name = text(name);
            fields.iter().position(|field| *field == name).or_wrong(|| format!("no attribute {name}"))
        };
        let board = table("board")?.first().or_wrong(|| "no board")?;
        let meters: Vec<i64> = table("meter")?.iter().map(|meter| int(&meter[1])).collect();
        let slots = table("slot")?;
        let queries = slots.iter().map(|slot| row(&slot[5]).map_or(0, |meter| meters[meter])).collect();
        let conditions = table("condition")?.iter().map(|condition| {
            let than = if condition[5].is_null() { cell(&condition[4]) } else { cell(&condition[5]) };
            let Value::Enum(op) = condition[3] else { wrong!("a condition without a comparison") };
            Ok(Condition { slot: row(&condition[1]).or_wrong(|| "no slot")?, field: place(&condition[2])?, op, than })
        });
        let requirements = table("requirement")?.iter().map(|required| {
            let Value::Enum(measure) = required[1] else { wrong!("a requirement without a measure") };
            Ok(Requirement {
                measure,
                field: place(&required[2])?,
                least: int(&required[3]),
                row: int(&required[4]) as usize,
                word: cell(&required[5]),
                given: int(&required[6]),
                bound: int(&required[7]),
            })
        });
        Ok(Plain {
            rows: int(&board[1]) as usize,
            cols: int(&board[2]) as usize,
            slots: slots.iter().map(|slot| (slot[3] == Value::Bool(true), slot[4].as_ref_id())).collect(),
            items: table("item")?
                .iter()
                .map(|item| Item { of: row(&item[1]), values: item[4..].iter().map(cell).collect() })
                .collect(),
            labels: table("label")?.iter().map(|label| text(&label[2])).collect(),
            conditions: conditions.collect::<Result<_>>()?,
            requirements: requirements.collect::<Result<_>>()?,
            queries,
            checks: meters[0],
            fields,
        })
    }

    /// A fresh episode.
    pub(super) fn begin(&self) -> Played {
        let placed = self.slots.iter().map(|(_, given)| *given).collect();
        Played { placed, queries: self.queries.clone(), checks: self.checks, done: false }
    }

    fn slot(&self, row: usize, col: usize) -> Result<usize> {
        if row == 0 || col == 0 || row > self.rows || col > self.cols {
            wrong!("off the grid");
        }
        Ok((row - 1) * self.cols + col - 1)
    }

    fn open(&self, row: usize, col: usize) -> Result<usize> {
        let slot = self.slot(row, col)?;
        if !self.slots[slot].0 {
            wrong!("not open");
        }
        Ok(slot)
    }

    fn field(&self, name: &str) -> Result<usize> {
        self.fields.iter().position(|field| field == name).or_wrong(|| "no such attribute")
    }

    fn item(&self, id: u32) -> Result<&Item> {
        self.items.get((id as usize).wrapping_sub(1)).or_wrong(|| "no such item")
    }

    /// Answers a call.
    pub(super) fn call(&self, played: &mut Played, tool: &str, arguments: &str) -> Result<Vec<u8>> {
        if tool.starts_with("query_") {
            let asked: Query<'_> = serde_json::from_str(arguments)?;
            let slot = self.open(asked.row, asked.col)?;
            let field = self.field(asked.field)?;
            let mut ids = Vec::new();
            for (at, item) in self.items.iter().enumerate().filter(|(_, item)| item.of == Some(slot)) {
                let passes = match (&item.values[field], &asked.value) {
                    (Cell::Number(value), Scalar::Number(than)) => compares(asked.operator, *value, *than),
                    (Cell::Label(label), Scalar::Text(word)) => match asked.operator {
                        "=" => Some(self.labels[*label] == *word),
                        "!=" => Some(self.labels[*label] != *word),
                        _ => None,
                    },
                    _ => None,
                };
                if passes.or_wrong(|| "no such comparison")? {
                    ids.push(at as u32 + 1);
                }
            }
            spend(&mut played.queries[slot])?;
            return Ok(serde_json::to_vec(&Ids { ids })?);
        }
        if tool.starts_with("get_") && tool.ends_with("_item_attributes") {
            let asked: Attributes<'_> = serde_json::from_str(arguments)?;
            let field = self.field(asked.field)?;
            let mut values = Vec::with_capacity(asked.ids.len());
            let mut of = None;
            for id in asked.ids {
                let item = self.item(id)?;
                if item.of.is_some() && of.is_some() && item.of != of {
                    wrong!("of several slots");
                }
                of = of.or(item.of);
                let value = match item.values[field] {
                    Cell::Number(number) => Shown::Number(number),
                    Cell::Label(label) => Shown::Text(&self.labels[label]),
                };
                values.push(ToldValue { id, value });
            }
            if let Some(slot) = of {
                spend(&mut played.queries[slot])?;
            }
            return Ok(serde_json::to_vec(&Told { values })?);
        }
        if tool.starts_with("check_") && tool.ends_with("_slot_constraints") {
            let at: Place = serde_json::from_str(arguments)?;
            let slot = self.slot(at.row, at.col)?;
            let satisfied = played.placed[slot].is_some_and(|id| self.fits(slot, id));
            return Ok(serde_json::to_vec(&Satisfied { satisfied })?);
        }
        if tool.starts_with("check_") {
            let satisfied = self.holds(&played.placed);
            spend(&mut played.checks)?;
            return Ok(serde_json::to_vec(&Satisfied { satisfied })?);
        }
        match tool {
            "set_slot" => {
                let Set { row, col, id } = serde_json::from_str(arguments)?;
                let slot = self.open(row, col)?;
                if played.done {
                    wrong!("handed in");
                }
                if let Some(id) = id
                    && self.item(id)?.of != Some(slot)
                {
                    wrong!("no candidate");
                }
                played.placed[slot] = id;
                Ok(serde_json::to_vec(&WasSet { row, col, id })?)
            }
            "get_current_grid_state" => {
                let slots = self.slots.iter().zip(&played.placed).enumerate();
                let slots = slots.map(|(at, ((open, _), id))| SlotState {
                    row: at / self.cols + 1,
                    col: at % self.cols + 1,
                    open: *open,
                    id: *id,
                });
                Ok(serde_json::to_vec(&State { rows: self.rows, cols: self.cols, slots: slots.collect() })?)
            }
            "done" => {
                played.done = true;
                Ok(serde_json::to_vec(&Done { done: true })?)
            }
            other => wrong!("the baseline has no tool {other}"),
        }
    }

    fn fits(&self, slot: usize, id: u32) -> bool {
        let Ok(item) = self.item(id) else { return false };
        self.conditions.iter().filter(|condition| condition.slot == slot).all(|condition| {
            match (item.values[condition.field], condition.than) {
                (Cell::Number(value), Cell::Number(than)) => match condition.op {
                    0 => value <= than,
                    1 => value >= than,
                    _ => value == than,
                },
                (value, than) => (value == than) == (condition.op == 3),
            }
        })
    }

    fn holds(&self, placed: &[Option<u32>]) -> bool {
        self.requirements.iter().all(|required| {
            let mut total = required.given;
            for (slot, id) in placed.iter().enumerate().filter(|(slot, _)| self.slots[*slot].0) {
                let Some(item) = id.and_then(|id| self.item(id).ok()) else { continue };
                let value = item.values[required.field];
                let number = if let Cell::Number(number) = value { number } else { 0 };
                total += match required.measure {
                    0 | 1 => number,
                    2 if slot / self.cols + 1 == required.row => number,
                    2 => 0,
                    3 => i64::from(value == required.word),
                    _ => i64::from(number >= required.least),
                };
            }
            if required.measure == 1 { total >= required.bound } else { total <= required.bound }
        })
    }

    /// Whether the episode ends well.
    pub(super) fn passes(&self, played: &Played) -> bool {
        let open = || self.slots.iter().enumerate().filter(|(_, (open, _))| *open);
        played.done
            && open().all(|(slot, _)| played.placed[slot].is_some_and(|id| self.fits(slot, id)))
            && self.holds(&played.placed)
    }
}

fn spend(left: &mut i64) -> Result<()> {
    if *left == 0 {
        wrong!("used up");
    }
    *left -= 1;
    Ok(())
}
