//! A state that is changed by hand. Rows are planted and cells are forced: who may, which tool could, and where lifecycles lead is not
//! asked. What every state keeps (types, bounds, references, keys, stamps) is. Rules are not enforced but told.

use crate::{
    Broken, Conditions, Live, Sandbox,
    access::Actor,
    draft::Draft,
    judge::{Judgement, broken_as_it_stands},
    state::{State, View},
};
use benchwright_base::{DateTime, FieldId, RelationId, RowId, TableId, Value};
use benchwright_expr::{
    Expr,
    eval::{Judge, Records as _},
};
use benchwright_pack::{Diff, Refusal, RefusalCode};
use benchwright_schema::{By, Domain};
use benchwright_world::Seat;
use std::sync::Arc;

/// A state that is changed by hand, beside the one that it began with.
#[derive(Clone)]
pub struct Scratch {
    sandbox: Arc<Sandbox>,
    first: State,
    state: State,
    /// Who acts in each member, for rules and stamps that ask.
    people: Vec<Option<RowId>>,
}

impl Scratch {
    /// Begins with the first state of a sandbox; nobody acts.
    pub fn new(sandbox: &Arc<Sandbox>) -> Scratch {
        Scratch {
            first: sandbox.first.clone(),
            state: sandbox.first.clone(),
            people: vec![None; sandbox.compiled.actors.len()],
            sandbox: Arc::clone(sandbox),
        }
    }

    /// The same with somebody who acts.
    #[must_use]
    pub fn seated(mut self, person: Option<RowId>) -> Scratch {
        self.people = self.sandbox.people_of(person);
        self
    }

    /// The declarations of its tables, tools, roles and rules.
    pub fn domain(&self) -> &Arc<Domain> {
        self.sandbox.domain()
    }

    /// The time at which it stands.
    pub fn now(&self) -> DateTime {
        self.state.now
    }

    /// Makes a row; what is not given is a default or a stamp.
    pub fn make(&mut self, table: TableId, given: Vec<(FieldId, Value)>) -> Result<RowId, Refusal> {
        self.write(|draft| draft.make(table, given))
    }

    /// Changes cells of a row; returns whether anything differs.
    pub fn set(&mut self, table: TableId, row: RowId, cells: Vec<(FieldId, Value)>) -> Result<bool, Refusal> {
        self.write(|draft| draft.amend(table, row, cells, false))
    }

    /// Takes a row out, with what it owns.
    pub fn remove(&mut self, table: TableId, row: RowId) -> Result<usize, Refusal> {
        self.write(|draft| draft.erase(table, row))
    }

    /// Calls a tool as somebody in a seat would.
    pub fn call(&mut self, seat: &Seat, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let here = Arc::new(self.sandbox.beginning_at(self.state.clone()));
        let begun = here.begin(seat, Conditions::default());
        let mut episode = begun.map_err(|error| Refusal::new(RefusalCode::Forbidden, error.to_string()))?;
        let answer = episode.call(tool, arguments)?;
        self.state = episode.state;
        Ok(answer)
    }

    /// Whether an expression holds of a row, which may be new or changed since the state that this began with.
    pub fn holds_of(&self, table: TableId, row: RowId, expr: &Expr) -> bool {
        let compiled = &*self.sandbox.compiled;
        let (after, before) = (View { compiled, state: &self.state }, View { compiled, state: &self.first });
        let Some(subject) = after.row(table, row) else { return false };
        let mut judge = Judge::new(&after, self.state.now);
        judge.before = &before;
        judge.subject = Some(subject);
        judge.subject_before = before.row(table, row);
        judge.actor = after.person(&self.people, table);
        judge.holds(expr)
    }

    /// Makes one write, or none.
    fn write<T>(&mut self, write: impl FnOnce(&mut Draft<'_>) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let compiled = &*self.sandbox.compiled;
        let actor = Actor { compiled, role: &compiled.roles[0], people: &self.people };
        let mut draft = Draft::new(actor, std::mem::replace(&mut self.state, State::taken()));
        let result = write(&mut draft);
        self.state = if result.is_ok() { draft.state } else { draft.taken_back() };
        result
    }

    /// The records as they stand.
    pub fn records(&self) -> Live<'_> {
        let view = View { compiled: &self.sandbox.compiled, state: &self.state };
        Live { view, sandbox: &self.sandbox, first: &self.first }
    }

    /// The records that it began with.
    pub fn first_records(&self) -> Live<'_> {
        let view = View { compiled: &self.sandbox.compiled, state: &self.first };
        Live { view, sandbox: &self.sandbox, first: &self.first }
    }

    /// What differs from the state that it began with.
    pub fn diff(&self) -> Diff {
        self.state.diff(&self.first)
    }

    /// Every rule that what differs breaks, whoever holds it, in the order of rules.
    pub fn broken(&self) -> Vec<Broken> {
        let before = || &self.first;
        let judgement =
            Judgement { compiled: &self.sandbox.compiled, before: &before, after: &self.state, people: &self.people };
        let mut broken = judgement.all_broken(By::Tool);
        broken.extend(judgement.all_broken(By::Verifier));
        broken.sort();
        broken
    }

    /// The first rule about states that some row breaks as it stands, with the row: what a seeded world keeps, a planted one does too.
    pub fn broken_as_planted(&self) -> Option<Broken> {
        let compiled = &self.sandbox.compiled;
        for at in 0..compiled.domain.tables.len() {
            let table = RelationId(at as u16);
            for (row, _) in self.state.table(table).rows.iter() {
                if let Some(rule) =
                    broken_as_it_stands(compiled, &self.state, table, row, &|rule| self.is_about_writing(rule))
                {
                    return Some(Broken { rule, table, row });
                }
            }
        }
        None
    }

    /// Whether a rule speaks of writing rows: no row that is planted breaks it.
    fn is_about_writing(&self, rule: usize) -> bool {
        self.sandbox.compiled.domain.rules[rule].at_write
    }

    /// The same of one row.
    pub fn row_breaks(&self, table: TableId, row: RowId) -> Option<Broken> {
        let skip = |rule| self.is_about_writing(rule);
        let rule = broken_as_it_stands(&self.sandbox.compiled, &self.state, table, row, &skip)?;
        Some(Broken { rule, table, row })
    }

    /// The cells of a row.
    pub fn row(&self, table: TableId, row: RowId) -> Option<&[Value]> {
        self.state.get(table, row).map(|row| row.cells())
    }

    /// The rows of a table, in order of id.
    pub fn rows(&self, table: TableId) -> impl Iterator<Item = &[Value]> {
        self.state.table(table).rows.iter().map(|(_, row)| row.cells())
    }

    /// What the next row of a table is called.
    pub fn next_id(&self, table: TableId) -> RowId {
        self.state.table(table).next_id
    }

    /// What the next row of a table is called and numbered.
    pub fn counters(&self, table: TableId) -> (RowId, u32) {
        let table = self.state.table(table);
        (table.next_id, table.next_number)
    }

    /// A world that begins where this stands.
    pub fn into_sandbox(self) -> Sandbox {
        self.sandbox.beginning_at(self.state)
    }
}
