//! Scripted agents of graded ability, to see what the dials do. All of them keep to the budgets and read nothing sealed.
//!
//! - `hasty` filters by each slot's conditions and takes the first candidate left; a call that fails tells it nothing.
//! - `filter` does the same and repeats a call that failed.
//! - `lookahead-1` to `-3` also read the attributes that requirements are about, and take the first candidate for which the next
//!   one, two or three open slots can be filled without exceeding a bound; at the end everything is looked at.

use super::{
    board::{Board, Item, Op},
    reader::{told, value},
    search::{Gauge, given_of},
    words::Words,
};
use benchwright_project::{NotAnswered, ToolAccess};
use serde_json::{Value as Json, json};

/// The agents, from the least able on.
pub(super) const NAMES: &[&str] = &["hasty", "filter", "lookahead-1", "lookahead-2", "lookahead-3"];

/// How often a call is made before it is given up.
const TRIES: usize = 8;

/// Lets an agent play.
pub(super) fn play(
    domain: &str,
    words: &Words,
    agent: &str,
    text: &str,
    access: &mut dyn ToolAccess,
) -> Result<(), String> {
    let (tries, ahead) = match agent {
        "hasty" => (1, 0),
        "filter" => (TRIES, 0),
        "lookahead-1" => (TRIES, 1),
        "lookahead-2" => (TRIES, 2),
        "lookahead-3" => (TRIES, 3),
        _ => return Err(format!("there is no agent `{agent}`")),
    };
    let mut player = Player { domain, words, access, tries, board: blank() };
    player.look(text)?;
    let left: Vec<Vec<u32>> = (0..player.board.open.len()).map(|slot| player.filtered(slot)).collect();
    let chosen = if ahead == 0 {
        left.iter().map(|left| left.first().copied()).collect()
    } else {
        player.weigh(&left)?;
        player.chosen(&left, ahead)
    };
    for (slot, item) in chosen.into_iter().enumerate() {
        let (row, col) = player.board.place(player.board.open[slot]);
        if let Some(item) = item {
            player.ask("set_slot", json!({ "row": row, "col": col, "id": item }));
        }
    }
    player.ask("done", json!({}));
    Ok(())
}

fn blank() -> Board {
    Board {
        rows: 0,
        cols: 0,
        queries: 0,
        checks: 0,
        faults: 0,
        open: Vec::new(),
        given: Vec::new(),
        items: Vec::new(),
        conditions: Vec::new(),
        limits: Vec::new(),
    }
}

struct Player<'p> {
    domain: &'p str,
    words: &'p Words,
    access: &'p mut dyn ToolAccess,
    tries: usize,
    /// What is known of the grid; items are known as far as they were asked about.
    board: Board,
}

impl Player<'_> {
    /// Makes a call, again if it failed; null if it was given up.
    fn ask(&mut self, tool: &str, arguments: Json) -> Json {
        for _ in 0..self.tries {
            match self.access.ask(tool, arguments.clone()) {
                Ok(answer) => return answer,
                Err(NotAnswered(why)) if why.contains("nothing was done") => {}
                Err(_) => return Json::Null,
            }
        }
        Json::Null
    }

    /// Reads the grid and the instruction. Without the grid's size nothing can be done, so that call is always repeated.
    fn look(&mut self, text: &str) -> Result<(), String> {
        let mut state = Json::Null;
        for _ in 0..TRIES * 4 {
            state = self.ask("get_current_grid_state", json!({}));
            if !state.is_null() {
                break;
            }
        }
        let size = |key: &str| state[key].as_u64().map(|n| n as usize).ok_or("the grid cannot be seen");
        (self.board.rows, self.board.cols) = (size("rows")?, size("cols")?);
        self.board.given = vec![0; self.board.rows * self.board.cols];
        for (cell, slot) in state["slots"].as_array().into_iter().flatten().enumerate() {
            match slot["id"].as_u64() {
                _ if slot["open"] == json!(true) => self.board.open.push(cell),
                id => self.board.given[cell] = id.unwrap_or_default() as u32,
            }
        }
        told(self.words, text, &mut self.board)
    }

    /// The candidates of a slot that meet every condition, as far as queries were answered.
    fn filtered(&mut self, slot: usize) -> Vec<u32> {
        let (row, col) = self.board.place(self.board.open[slot]);
        let mut left: Option<Vec<u32>> = None;
        for condition in self.board.conditions.clone().into_iter().filter(|condition| condition.slot == slot) {
            let Some(field) = self.words.fields().nth(condition.field) else { continue };
            let operator = match condition.op {
                Op::AtMost => "<=",
                Op::AtLeast => ">=",
                Op::Exactly | Op::Is => "=",
                Op::IsNot => "!=",
            };
            let value = match self.words.label_at(condition.field) {
                Some(label) => json!(label.words.get(condition.value as usize)),
                None => json!(condition.value),
            };
            let query = json!({ "row": row, "col": col, "field": field, "operator": operator, "value": value });
            let answer = self.ask(&format!("query_{}_candidate_from_attribute", self.domain), query);
            let Some(ids) = answer["ids"].as_array() else { continue };
            let ids: Vec<u32> = ids.iter().filter_map(Json::as_u64).map(|id| id as u32).collect();
            left = Some(match left {
                Some(left) => left.into_iter().filter(|id| ids.contains(id)).collect(),
                None => ids,
            });
        }
        left.unwrap_or_default()
    }

    /// Reads the attributes that requirements are about, of what stands in the grid and of the candidates left.
    fn weigh(&mut self, left: &[Vec<u32>]) -> Result<(), String> {
        let mut fields: Vec<&str> = self.words.rule.iter().map(|rule| &*rule.of).collect();
        fields.sort_unstable();
        fields.dedup();
        let given: Vec<u32> = self.board.given.iter().copied().filter(|id| *id > 0).collect();
        for ids in std::iter::once(&given).chain(left).filter(|ids| !ids.is_empty()) {
            for field in &fields {
                let place = self.words.place(field).ok_or("a requirement is about no attribute")?;
                let question = json!({ "ids": ids, "field": field });
                let answer = self.ask(&format!("get_{}_item_attributes", self.domain), question);
                for told in answer["values"].as_array().into_iter().flatten() {
                    let id = told["id"].as_u64().unwrap_or_default() as usize;
                    while self.board.items.len() < id {
                        self.board.items.push(Item { of: 0, values: vec![0; self.words.width()], name: String::new() });
                    }
                    if let Some(item) = id.checked_sub(1).and_then(|at| self.board.items.get_mut(at)) {
                        item.values[place] = value(self.words, field, &told["value"])?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Slot by slot the first candidate that the next slots can be filled beside.
    fn chosen(&self, left: &[Vec<u32>], ahead: usize) -> Vec<Option<u32>> {
        let gauges: Vec<Gauge> = self.board.limits.iter().filter_map(|limit| Gauge::of(self.words, limit)).collect();
        let mut totals: Vec<i64> = gauges.iter().map(|gauge| given_of(&self.board, gauge)).collect();
        let mut chosen = Vec::with_capacity(left.len());
        for (slot, own) in left.iter().enumerate() {
            let far = (slot + 1 + ahead).min(left.len());
            let fits = |id: &&u32| {
                let next = self.with(&gauges, &totals, slot, **id);
                self.can_go_on(&gauges, &next, left, slot + 1, far)
            };
            let choice = own.iter().find(fits).or(own.first()).copied();
            if let Some(id) = choice {
                totals = self.with(&gauges, &totals, slot, id);
            }
            chosen.push(choice);
        }
        chosen
    }

    fn with(&self, gauges: &[Gauge], totals: &[i64], slot: usize, id: u32) -> Vec<i64> {
        let row = self.board.row_of(slot);
        let Some(item) = self.board.item(id) else { return totals.to_vec() };
        totals.iter().zip(gauges).map(|(total, gauge)| total + gauge.weight(row, &item.values)).collect()
    }

    /// Whether slots up to one can be filled without exceeding a bound; what is to be reached counts once all are filled.
    fn can_go_on(&self, gauges: &[Gauge], totals: &[i64], left: &[Vec<u32>], at: usize, far: usize) -> bool {
        let whole = at == left.len();
        let holds = |(gauge, total): (&Gauge, &i64)| gauge.holds(*total) || (!gauge.is_upper() && !whole);
        gauges.iter().zip(totals).all(holds)
            && (at >= far
                || left[at].is_empty()
                || left[at].iter().any(|id| {
                    let next = self.with(gauges, totals, at, *id);
                    self.can_go_on(gauges, &next, left, at + 1, far)
                }))
    }
}
