//! The grid family: open slots of a grid are filled from shortlists, and exactly one choice meets everything.
//!
//! One case is a [`board::Board`]. The rules are made once from a domain's words (`rules`); the generator (`draw`, `decoys`)
//! derives bounds from a true grid, and the proof (`search`) forgets that grid and finds it again as the only choice.

mod agents;
mod board;
mod brief;
mod decoys;
mod draw;
mod mutate;
mod reader;
mod records;
mod rules;
mod search;
mod setting;
mod sketch;
#[cfg(test)]
mod tests;
mod words;

use benchwright_base::Diagnostic;
use benchwright_expr::Type;
use benchwright_pack::{Script, Step};
use benchwright_project::{
    Authoring, Breadth, Brief, Case, Discard, Draw, Family, FamilyError, Faults, FirstState, Mutation, Mutator,
    Optimised, Passage, PatternHead, Placeholder, Players, Proof, Reader, Telling, ToolAccess,
};
use benchwright_schema::{
    Domain, Section,
    plan::{Binding, Bindings, Bound, Plan, PlanText},
};
use benchwright_spec::{Candidate, Candidates, Cell, NamedRows, PhaseResult, Planner, Rows, Solved};
use board::Board;
use serde_json::json;
use std::collections::BTreeMap;
use words::Words;

/// The family of a domain, from what its `grid.toml` says, or all faults of that file. With the domain itself, the attributes are
/// looked up in its tables.
pub fn family(telling: Telling<'_>) -> Result<Box<dyn Family>, Vec<Diagnostic>> {
    let words = Words::read(telling.folder.get(words::FILE).unwrap_or_default(), telling.domain)?;
    let plan = rules::plan(&words);
    Ok(Box::new(Grid { domain: telling.folder.name.clone(), words, plan }))
}

/// Grids of one domain.
pub(crate) struct Grid {
    domain: String,
    words: Words,
    plan: PlanText,
}

impl Grid {
    fn case(&self, draw: &Draw<'_>, board: &Board) -> Case {
        let data = serde_json::to_value(board).unwrap_or_default();
        Case { objective: draw.objective.to_owned(), switches: rules::switches(&self.words, board), data }
    }

    /// A row of the view `assign`: members by number, in the order of the view's fields.
    fn row(&self, board: &Board, plan: &Plan, view: usize, slot: usize, number: u32) -> Vec<i64> {
        let values = board.item(number).map_or(&[][..], |item| &item.values);
        let cell = |field: &benchwright_schema::plan::ViewField| match &*field.name {
            "slot" => slot as i64 + 1,
            "row" => board.row_of(slot) as i64 + 1,
            "item" => i64::from(number),
            name => {
                let place = self.words.place(name).unwrap_or_default();
                let value = values.get(place).copied().unwrap_or_default();
                match field.ty {
                    Type::Ref(_) => value + 1 + self.words_before(place),
                    _ => value,
                }
            }
        };
        plan.views[view].fields.iter().map(cell).collect()
    }

    /// How many words the labels before one have.
    fn words_before(&self, place: usize) -> i64 {
        let labels = self.words.label.iter().take(place - self.words.number.len());
        labels.map(|label| label.words.len() as i64).sum()
    }

    fn rows(&self, board: &Board, plan: &Plan, chosen: &[u32]) -> Result<Rows, String> {
        let view = plan.view_named("assign").ok_or("the plan has no view `assign`")?;
        let mut rows = Rows::empty(plan);
        rows.0[view] =
            chosen.iter().enumerate().map(|(slot, number)| self.row(board, plan, view, slot, *number)).collect();
        Ok(rows)
    }
}

impl Family for Grid {
    fn plan(&self) -> &PlanText {
        &self.plan
    }

    fn sample(&self, draw: &Draw<'_>, _: &Domain, _: &mut dyn Planner) -> Result<Case, Discard> {
        Ok(self.case(draw, &draw::draw(draw, &self.words)?))
    }

    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        Ok(rules::bindings(&self.words, &Board::of(case)?))
    }

    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError> {
        Ok(records::first_state(&self.words, &Board::of(case)?, domain)?)
    }

    fn script(&self, _: &Case, plan: &NamedRows) -> Result<Script, FamilyError> {
        let mut script = placed(plan)?;
        script.steps.push(Step::call("done", "", json!({})));
        Ok(script)
    }

    fn brief(&self, draw: &Draw<'_>, case: &Case, _: &PlanText) -> Result<Brief, FamilyError> {
        Ok(brief::write(draw, &self.words, &Board::of(case)?, &self.placeholders())?)
    }

    fn optimised(&self) -> Option<&dyn Optimised> {
        Some(self)
    }

    fn reader(&self) -> Option<&dyn Reader> {
        Some(self)
    }

    fn mutator(&self) -> Option<&dyn Mutator> {
        Some(self)
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn players(&self) -> Option<&dyn Players> {
        Some(self)
    }

    fn faults(&self) -> Option<&dyn Faults> {
        Some(self)
    }
    fn authoring(&self) -> Option<&dyn Authoring> {
        Some(self)
    }
}

impl Authoring for Grid {
    fn check_head(&self, head: &PatternHead, file: &Section<'_>) {
        setting::check(head, file);
    }
    fn placeholders(&self) -> Vec<Placeholder> {
        let words = &self.words;
        let known = [
            ("plan", &words.plan),
            ("items", &words.items),
            ("item", &words.item),
            ("row", &words.row),
            ("column", &words.column),
        ];
        let placeholder =
            |(name, word): (&'static str, &String)| Placeholder { name, stands_for: Some(word.clone()), opens: false };
        known.into_iter().map(placeholder).collect()
    }
}

impl Optimised for Grid {
    fn candidates(&self, case: &Case, plan: &Plan, _: &Bound, breadth: Breadth<'_>) -> Result<Candidates, FamilyError> {
        let board = Board::of(case)?;
        let view = plan.view_named("assign").ok_or("the plan has no view `assign`")?;
        let mut rows: Vec<Vec<i64>> = Vec::new();
        if let Breadth::Local(optimum) = breadth {
            rows.extend(optimum.0[view].iter().cloned());
        }
        for (slot, candidates) in board.candidates().into_iter().enumerate() {
            for number in candidates {
                let row = self.row(&board, plan, view, slot, number);
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        let mut candidates: Candidates = vec![Vec::new(); plan.views.len()];
        let candidate = |row: Vec<i64>| Candidate::single(false, row.into_iter().map(Cell::Fixed).collect());
        candidates[view] = rows.into_iter().map(candidate).collect();
        Ok(candidates)
    }

    fn greedy(&self, case: &Case) -> Result<NamedRows, FamilyError> {
        let board = Board::of(case)?;
        let mut rows = Vec::new();
        for (slot, candidates) in board.candidates().into_iter().enumerate() {
            let fits = |number: &u32| board.item(*number).is_some_and(|item| board.fits(slot, &item.values));
            let number = candidates.into_iter().find(fits).ok_or("a slot has no candidate that fits it")?;
            let key = rules::slot_key(board.place(board.open[slot]));
            rows.push(BTreeMap::from([
                ("slot".to_owned(), Binding::Key(key)),
                ("item".to_owned(), Binding::Number(i64::from(number))),
            ]));
        }
        Ok(NamedRows(BTreeMap::from([("assign".to_owned(), rows)])))
    }
}

impl Reader for Grid {
    fn read_back(&self, text: &str, access: &mut dyn ToolAccess) -> Result<Case, FamilyError> {
        let board = reader::read_back(&self.domain, &self.words, text, access)?;
        let data = serde_json::to_value(&board).map_err(|error| FamilyError(error.to_string()))?;
        Ok(Case { objective: "fill".to_owned(), switches: rules::switches(&self.words, &board), data })
    }
    fn passages(&self, text: &str) -> Vec<Passage> {
        reader::passages(&self.words, text)
    }
}

impl Mutator for Grid {
    fn mutate(
        &self,
        case: &Case,
        plan: &NamedRows,
        rule: &str,
        at: &[String],
    ) -> Result<Option<Mutation>, FamilyError> {
        match rule {
            rules::HANDED_IN => return Ok(Some(Mutation::Script(placed(plan)?))),
            rules::UNCHANGED => return Ok(Some(Mutation::None("no tool changes what was given".to_owned()))),
            _ => {}
        }
        let board = Board::of(case)?;
        let keys: Vec<String> = board.open.iter().map(|cell| rules::slot_key(board.place(*cell))).collect();
        let mut rows = plan.0.get("assign").cloned().unwrap_or_default();
        let mut chosen = vec![0; keys.len()];
        for row in &rows {
            if let (Some(Binding::Key(slot)), Some(Binding::Number(item))) = (row.get("slot"), row.get("item")) {
                let slot = keys.iter().position(|key| key == slot).ok_or("the plan fills a slot that is not open")?;
                chosen[slot] = u32::try_from(*item).map_err(|error| FamilyError(error.to_string()))?;
            }
        }
        let Some((slot, item)) = mutate::swap(&self.words, &board, &chosen, rule, at) else { return Ok(None) };
        rows.retain(|row| row.get("slot") != Some(&Binding::Key(keys[slot].clone())));
        rows.extend(item.map(|item| {
            BTreeMap::from([
                ("slot".to_owned(), Binding::Key(keys[slot].clone())),
                ("item".to_owned(), Binding::Number(i64::from(item))),
            ])
        }));
        let plan = NamedRows(BTreeMap::from([("assign".to_owned(), rows)]));
        Ok(Some(Mutation::Script(self.script(case, &plan)?)))
    }
}

impl Players for Grid {
    fn names(&self) -> &'static [&'static str] {
        agents::NAMES
    }

    fn play(&self, name: &str, text: &str, access: &mut dyn ToolAccess) -> Result<(), FamilyError> {
        Ok(agents::play(&self.domain, &self.words, name, text, access)?)
    }
}

impl Faults for Grid {
    fn per_million(&self, case: &Case) -> u32 {
        case.data.get("faults").and_then(serde_json::Value::as_u64).unwrap_or_default() as u32
    }
}

impl Proof for Grid {
    fn name(&self) -> &'static str {
        "exact search over the candidates, 1"
    }

    fn prove(&self, case: &Case, plan: &Plan, _: &Bound) -> Result<Solved, Discard> {
        let board = Board::of(case).map_err(Discard::Fault)?;
        let found = search::search(&self.words, &board);
        let chosen = match (found.count, &found.first) {
            (1, Some(chosen)) => chosen,
            (0, _) => return Err(Discard::Because("infeasible".to_owned())),
            _ => return Err(Discard::Because("not-unique".to_owned())),
        };
        let work = i64::try_from(found.nodes).unwrap_or(i64::MAX);
        let name = "solutions".to_owned();
        let solutions = PhaseResult { name, proved: true, value: 1, bound: 1, work, provers: Vec::new(), exact: None };
        Ok(Solved {
            rows: self.rows(&board, plan, chosen).map_err(Discard::Fault)?,
            phases: vec![solutions],
            variables: board.items.iter().filter(|item| item.of > 0).count(),
            constraints: board.conditions.len() + board.limits.len() + board.open.len(),
        })
    }
}

/// The calls that place what a plan says, without handing it in. A slot holds one item.
fn placed(plan: &NamedRows) -> Result<Script, String> {
    let mut script = Script::default();
    let mut slots = Vec::new();
    for row in plan.0.get("assign").into_iter().flatten() {
        let (Some(Binding::Key(slot)), Some(Binding::Number(item))) = (row.get("slot"), row.get("item")) else {
            return Err("a row of the plan has no slot or no item".to_owned());
        };
        if slots.contains(&slot) {
            return Err(format!("{slot} is filled twice"));
        }
        slots.push(slot);
        let place = slot.strip_prefix("slot/").and_then(|place| place.split_once('-'));
        let place = place.and_then(|(row, col)| Some((row.parse::<u32>().ok()?, col.parse::<u32>().ok()?)));
        let (row, col) = place.ok_or_else(|| format!("`{slot}` is no slot"))?;
        script.steps.push(Step::call("set", "slot", json!({ "row": row, "col": col, "id": item })));
    }
    Ok(script)
}
