//! A call's writes: made on the state itself, checked as they are made, noted as they are made, and taken back whole if the
//! call does not stand. (A copy to write on would cost every call the nodes that it shares with what it was copied from.)

use crate::{
    access::Actor,
    judge::{Judgement, Written},
    row::Row,
    sabotage::{Sabotage, on},
    state::{State, View},
};
use benchwright_base::{DateTime, FieldId, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::{Action, Stamp, codec};
use smallvec::SmallVec;
use std::{cell::OnceCell, sync::Arc};

/// Writes under way.
pub(crate) struct Draft<'s> {
    pub(crate) actor: Actor<'s>,
    /// The state with the writes so far.
    pub(crate) state: State,
    /// What each write took the place of, in order.
    undo: SmallVec<[Undo; 2]>,
    /// The rows that rules must be judged on.
    touched: Vec<(TableId, RowId)>,
}

/// What a write took the place of.
enum Undo {
    /// A row, or none.
    Row(TableId, RowId, Option<Arc<Row>>),
    /// The counters of a table.
    Counters(TableId, RowId, u32),
    /// The time at which the clock stood.
    Clock(DateTime),
}

impl<'s> Draft<'s> {
    pub(crate) fn new(actor: Actor<'s>, state: State) -> Draft<'s> {
        Draft { actor, state, undo: SmallVec::new(), touched: Vec::new() }
    }

    /// Refuses what breaks a rule that tools hold.
    pub(crate) fn check_rules(&self) -> Result<(), Refusal> {
        let compiled = self.actor.compiled;
        let touched = self.touched.iter().filter(|(table, row)| !self.is_as_before(*table, *row));
        let touched: SmallVec<[(TableId, RowId); 4]> = touched.copied().collect();
        let written = self.written();
        if touched.is_empty() && written.is_empty() {
            return Ok(());
        }
        let made = OnceCell::new();
        let before = || made.get_or_init(|| self.before());
        let judgement = Judgement { compiled, before: &before, after: &self.state, people: self.actor.people };
        judgement.refuse_broken(&touched, &written)
    }

    /// The rows that differ from before and that a rule on rows elsewhere may read, each as it was and is.
    fn written(&self) -> SmallVec<[Written<'_>; 4]> {
        let mut written: SmallVec<[Written<'_>; 4]> = SmallVec::new();
        let mut seen: SmallVec<[(TableId, RowId); 4]> = SmallVec::new();
        for undo in &self.undo {
            let Undo::Row(table, id, old) = undo else { continue };
            // What the first write took the place of is what was before.
            if seen.contains(&(*table, *id)) {
                continue;
            }
            seen.push((*table, *id));
            let (old, new) = (old.as_deref(), self.state.get(*table, *id).map(|row| &**row));
            if old.map(Row::cells) != new.map(Row::cells) {
                written.push((*table, old, new));
            }
        }
        written
    }

    /// The state before the first write.
    fn before(&self) -> State {
        let mut state = self.state.clone();
        undo(self.actor.compiled, &mut state, &self.undo);
        state
    }

    /// The state with every write taken back.
    pub(crate) fn taken_back(mut self) -> State {
        undo(self.actor.compiled, &mut self.state, &self.undo);
        self.state
    }

    /// Whether a row has the cells it had before the first write.
    fn is_as_before(&self, table: TableId, row: RowId) -> bool {
        let before = self.undo.iter().find_map(|undo| match undo {
            Undo::Row(of, id, old) if (*of, *id) == (table, row) => Some(old),
            _ => None,
        });
        match (before, self.state.get(table, row)) {
            (Some(Some(old)), Some(new)) => old.cells() == new.cells(),
            (Some(None), None) | (None, _) => true,
            _ => false,
        }
    }

    /// Makes a row of the values given; the rest are defaults and stamps.
    pub(crate) fn create(&mut self, table: TableId, given: Vec<(FieldId, Value)>) -> Result<RowId, Refusal> {
        self.actor.require(table, Action::Create)?;
        let id = self.make(table, given)?;
        let row = self.row(table, id)?;
        self.check_start(table, &row)?;
        if !self.actor.may(&self.state, table, Action::Create, &row) {
            return Err(self.actor.forbidden(table, Action::Create, None));
        }
        Ok(id)
    }

    /// The same without asking who may, nor where lifecycles begin: for seeds.
    pub(crate) fn make(&mut self, table: TableId, given: Vec<(FieldId, Value)>) -> Result<RowId, Refusal> {
        let compiled = self.actor.compiled;
        let declared = compiled.domain.table(table);
        self.note_counters(table);
        let id = self.state.take_id(table);
        let mut cells: Vec<Value> =
            declared.fields.iter().map(|field| field.default.clone().unwrap_or_default()).collect();
        cells[0] = Value::Ref(id);
        for (at, field) in declared.fields.iter().enumerate().skip(1) {
            if field.stamp.is_none() || given.iter().any(|(given, _)| given.index() == at) {
                continue;
            }
            match &field.stamp {
                Some(Stamp::Number { prefix, digits, suffix }) => {
                    cells[at] = self.next_number(table, FieldId(at as u16), prefix, *digits, suffix);
                }
                Some(Stamp::OnCreate | Stamp::OnWrite) => cells[at] = self.clock(field.ty),
                Some(Stamp::Actor) => cells[at] = self.actor.person_at(table).map_or(Value::Null, Value::Ref),
                _ => {}
            }
        }
        for (field, value) in given {
            cells[field.index()] = value;
        }
        self.check_cells(table, &cells, None)?;
        self.put(table, cells);
        self.finish(table, id)?;
        Ok(id)
    }

    /// A row that a call makes begins its lifecycles; a seeded one may stand anywhere in them.
    fn check_start(&self, table: TableId, row: &Row) -> Result<(), Refusal> {
        let declared = self.actor.compiled.domain.table(table);
        for lifecycle in &declared.lifecycles {
            if let Value::Enum(word) = row.get(lifecycle.field)
                && !lifecycle.start.contains(word)
                && !on(Sabotage::SkipLifecycle)
            {
                let field = declared.field(lifecycle.field);
                let words = self.words(field.ty, &lifecycle.start);
                let message = format!("a new {} begins with `{}` {words}", declared.name, field.name);
                return Err(Refusal::new(RefusalCode::TransitionNotAllowed, message).about(&field.name));
            }
        }
        Ok(())
    }

    /// Changes fields of a row; returns whether anything differs.
    pub(crate) fn update(
        &mut self,
        table: TableId,
        id: RowId,
        set: impl IntoIterator<Item = (FieldId, Value)>,
    ) -> Result<bool, Refusal> {
        self.actor.require(table, Action::Update)?;
        let conditional = self.actor.role.is_conditional(table, Action::Update);
        if conditional {
            self.require_on(table, Action::Update, id)?;
        }
        let changed = self.amend(table, id, set, true)?;
        if changed && conditional {
            self.require_on(table, Action::Update, id)?;
        }
        Ok(changed)
    }

    /// The same without asking who may nor, if so, whether lifecycles let it.
    pub(crate) fn amend(
        &mut self,
        table: TableId,
        id: RowId,
        set: impl IntoIterator<Item = (FieldId, Value)>,
        by_lifecycle: bool,
    ) -> Result<bool, Refusal> {
        let compiled = self.actor.compiled;
        let declared = compiled.domain.table(table);
        let Some(old) = self.state.get(table, id) else { return Err(no_row(&declared.name, id)) };
        let mut cells = old.cells().to_vec();
        for (field, value) in set {
            cells[field.index()] = value;
        }
        if cells == old.cells() {
            return Ok(false);
        }
        for at in &compiled.tables[table.index()].stamped_on_write {
            cells[*at] = self.clock(declared.fields[*at].ty);
        }
        self.check_cells(table, &cells, Some(old))?;
        for lifecycle in declared.lifecycles.iter().filter(|_| by_lifecycle) {
            let (from, to) = (old.get(lifecycle.field), &cells[lifecycle.field.index()]);
            if let (Value::Enum(from), Value::Enum(to)) = (from, to)
                && from != to
                && !lifecycle.next[*from as usize].contains(to)
                && !on(Sabotage::SkipLifecycle)
            {
                let field = declared.field(lifecycle.field);
                let state = codec::show_value(&compiled.domain, field.ty, &Value::Enum(*from));
                let next = &lifecycle.next[*from as usize];
                let message = if next.is_empty() {
                    format!("`{}` is {state}, which is final", field.name)
                } else {
                    format!("`{}` is {state} and can only become {}", field.name, self.words(field.ty, next))
                };
                return Err(Refusal::new(RefusalCode::TransitionNotAllowed, message).about(&field.name));
            }
        }
        self.put(table, cells);
        self.finish(table, id)?;
        Ok(true)
    }

    /// Deletes a row with what it owns; returns how many went with it.
    pub(crate) fn delete(&mut self, table: TableId, id: RowId) -> Result<usize, Refusal> {
        self.actor.require(table, Action::Delete)?;
        self.require_on(table, Action::Delete, id)?;
        self.erase(table, id)
    }

    /// The same without asking who may.
    pub(crate) fn erase(&mut self, table: TableId, id: RowId) -> Result<usize, Refusal> {
        let compiled = self.actor.compiled;
        let mut doomed = vec![(table, id)];
        let mut at = 0;
        while at < doomed.len() {
            let (table, id) = doomed[at];
            at += 1;
            for incoming in compiled.domain.table(table).incoming.iter().filter(|incoming| incoming.owned) {
                let rows = self.state.table(incoming.table);
                for child in rows.referring(&compiled.tables[incoming.table.index()], incoming.field, id) {
                    let child = (incoming.table, child.id());
                    if !doomed.contains(&child) {
                        doomed.push(child);
                    }
                }
            }
        }
        for (table, id) in doomed.iter().filter(|_| !on(Sabotage::DeleteReferenced)) {
            for incoming in &compiled.domain.table(*table).incoming {
                let rows = self.state.table(incoming.table);
                let mut others = rows.referring(&compiled.tables[incoming.table.index()], incoming.field, *id);
                if let Some(other) = others.find(|row| !doomed.contains(&(incoming.table, row.id()))) {
                    let (from, to) = (compiled.domain.table(incoming.table), compiled.domain.table(*table));
                    let field = &from.field(incoming.field).name;
                    let message = format!("{} {} refers to {} {id} by `{field}`", from.name, other.id(), to.name);
                    return Err(Refusal::new(RefusalCode::Referenced, message));
                }
            }
        }
        for (table, id) in &doomed {
            let old = self.state.remove(compiled, *table, *id);
            self.undo.push(Undo::Row(*table, *id, old));
        }
        self.touch(table, id);
        Ok(doomed.len() - 1)
    }

    /// Moves the clock on.
    pub(crate) fn advance(&mut self, seconds: u32) {
        self.undo.push(Undo::Clock(self.state.now));
        self.state.now = DateTime(self.state.now.0 + i64::from(seconds));
    }

    /// Refuses what the role may not do on a row as it now stands.
    fn require_on(&self, table: TableId, action: Action, id: RowId) -> Result<(), Refusal> {
        let Some(row) = self.state.get(table, id) else {
            return Err(no_row(&self.actor.compiled.domain.table(table).name, id));
        };
        if self.actor.may(&self.state, table, action, row) {
            return Ok(());
        }
        Err(self.actor.forbidden(table, action, Some(id)))
    }

    /// A row, or the refusal that there is none.
    pub(crate) fn row(&self, table: TableId, id: RowId) -> Result<Arc<Row>, Refusal> {
        match self.state.get(table, id) {
            Some(row) => Ok(Arc::clone(row)),
            None => Err(no_row(&self.actor.compiled.domain.table(table).name, id)),
        }
    }

    fn put(&mut self, table: TableId, cells: Vec<Value>) {
        let row = Row::new(cells.into_boxed_slice());
        let id = row.id();
        let old = self.state.put(self.actor.compiled, table, Arc::new(row));
        self.undo.push(Undo::Row(table, id, old));
    }

    /// Notes a row for the rules, if its table has any.
    fn touch(&mut self, table: TableId, id: RowId) {
        if !self.actor.compiled.tables[table.index()].tool_rules.is_empty() {
            self.touched.push((table, id));
        }
    }

    fn note_counters(&mut self, table: TableId) {
        let counters = self.state.table(table);
        self.undo.push(Undo::Counters(table, counters.next_id, counters.next_number));
    }

    /// Ends a write with what follows from it: computed stamps, and the other row of a sole field.
    fn finish(&mut self, table: TableId, id: RowId) -> Result<(), Refusal> {
        let compiled = self.actor.compiled;
        if compiled.tables[table.index()].restamps {
            self.restamp(table, id)?;
        }
        self.touch(table, id);
        for (at, within) in compiled.tables[table.index()].soles.iter().copied() {
            let row = self.row(table, id)?;
            let parent = row.get(within).clone();
            if row.cells()[at] != Value::Bool(true) || parent.is_null() || on(Sabotage::SkipSole) {
                continue;
            }
            let Value::Ref(parent) = parent else { continue };
            let others: Vec<RowId> = self
                .state
                .table(table)
                .referring(&compiled.tables[table.index()], within, parent)
                .filter(|other| other.id() != id && other.cells()[at] == Value::Bool(true))
                .map(|other| other.id())
                .collect();
            for other in others {
                self.amend(table, other, [(FieldId(at as u16), Value::Bool(false))], true)?;
            }
        }
        Ok(())
    }

    fn restamp(&mut self, table: TableId, id: RowId) -> Result<(), Refusal> {
        let compiled = self.actor.compiled;
        let declared = compiled.domain.table(table);
        let row = self.row(table, id)?;
        let mut cells = row.cells().to_vec();
        let view = View { compiled, state: &self.state };
        let judge = self.actor.judge(&view, &self.state, table, &row);
        for (at, field) in declared.fields.iter().enumerate() {
            match &field.stamp {
                Some(Stamp::Computed(expr)) => cells[at] = judge.value(expr),
                Some(Stamp::When(condition)) => {
                    let holds = judge.holds(condition);
                    if !holds {
                        cells[at] = Value::Null;
                    } else if cells[at].is_null() {
                        cells[at] = self.clock(field.ty);
                    }
                }
                _ => {}
            }
        }
        for (field, value) in declared.fields.iter().zip(&cells) {
            if value.is_null() && !field.nullable {
                return Err(Refusal::argument(&field.name, "could not be computed from what was given"));
            }
        }
        if cells != row.cells() {
            self.check_cells(table, &cells, Some(&row))?;
            self.put(table, cells);
        }
        Ok(())
    }

    /// Types are right already; checks nulls, bounds, references and uniqueness of what differs from the old row.
    fn check_cells(&self, table: TableId, cells: &[Value], old: Option<&Row>) -> Result<(), Refusal> {
        let compiled = self.actor.compiled;
        let declared = compiled.domain.table(table);
        let differs = |at: usize| old.is_none_or(|old| old.cells()[at] != cells[at]);
        for (at, (field, value)) in declared.fields.iter().zip(cells).enumerate().skip(1) {
            if !differs(at) {
                continue;
            }
            if value.is_null() {
                // A computed value is made from the finished row, and checked then.
                if !field.nullable && !matches!(field.stamp, Some(Stamp::Computed(_))) {
                    return Err(Refusal::argument(&field.name, "must have a value"));
                }
                continue;
            }
            if !on(Sabotage::SkipBounds) {
                codec::check_bounds(value, field.bounds).map_err(|error| Refusal::argument(&field.name, error))?;
            }
            if let (Type::Ref(to), Value::Ref(target)) = (field.ty, value) {
                // A new row may refer to itself.
                let itself = to == table && cells[0] == *value;
                if !itself && self.state.get(to, *target).is_none() && !on(Sabotage::SkipReferences) {
                    return Err(no_row(&compiled.domain.table(to).name, *target).about(&field.name));
                }
            }
        }
        for key in &declared.keys {
            if !key.fields.iter().any(|field| differs(field.index())) || on(Sabotage::SkipUnique) {
                continue;
            }
            let id = cells[0].as_ref_id().unwrap_or_default();
            let rows = self.state.table(table);
            if let Some(other) = rows.same_key(&compiled.tables[table.index()], &key.fields, cells, id) {
                let names: Vec<&str> = key.fields.iter().map(|field| &*declared.field(*field).name).collect();
                let message = format!("{} {other} has the same {}", declared.name, names.join(" and "));
                return Err(Refusal::new(RefusalCode::Duplicate, message).about(names[0]));
            }
        }
        Ok(())
    }

    fn clock(&self, ty: Type) -> Value {
        match ty {
            Type::Date => Value::Date(self.state.now.date()),
            _ => Value::DateTime(self.state.now),
        }
    }

    fn next_number(&mut self, table: TableId, field: FieldId, prefix: &str, digits: usize, suffix: &str) -> Value {
        let compiled = self.actor.compiled;
        let mut cells = vec![Value::Null; compiled.domain.table(table).fields.len()];
        loop {
            let number = self.state.take_number(table);
            let text = Value::text(format!("{prefix}{number:0digits$}{suffix}"));
            cells[field.index()] = text.clone();
            // A seeded row may have the number already.
            if self.state.table(table).same_key(&compiled.tables[table.index()], &[field], &cells, 0).is_none() {
                return text;
            }
        }
    }

    /// Words of an enumeration, for a sentence.
    fn words(&self, ty: Type, words: &[u16]) -> String {
        let domain = &self.actor.compiled.domain;
        let shown: Vec<String> = words.iter().map(|word| codec::show_value(domain, ty, &Value::Enum(*word))).collect();
        shown.join(" or ")
    }
}

/// Takes writes back, the last first.
fn undo(compiled: &crate::compiled::Compiled, state: &mut State, writes: &[Undo]) {
    for write in writes.iter().rev() {
        match write {
            Undo::Row(table, _, Some(old)) => _ = state.put(compiled, *table, Arc::clone(old)),
            Undo::Row(table, id, None) => _ = state.remove(compiled, *table, *id),
            Undo::Counters(table, next_id, next_number) => state.set_counters(*table, *next_id, *next_number),
            Undo::Clock(now) => state.now = *now,
        }
    }
}

/// The refusal that a row is not there.
pub(crate) fn no_row(table: &str, id: RowId) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("there is no {table} {id}"))
}
