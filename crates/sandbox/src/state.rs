//! A state of a world: tables of rows with their indexes, the clock, and the hash of it all. A copy is one reference count;
//! a write copies what it touches. The hash is a sum over rows, so a write takes the old row's share away and adds the new
//! one's, whatever the size of the table.

use crate::{
    compiled::{Compiled, CompiledTable, IndexedField},
    idset::{IdSet, Ids},
    row::Row,
    sabotage::{Sabotage, on},
    trie::{Difference, Trie},
};
use benchwright_base::{DateTime, FieldId, RelationId, RowId, StateHash, TableId, Value, digest};
use benchwright_expr::{Compare, TestOp, eval, eval::Records, walk::Test};
use benchwright_pack::{Change, Diff, FieldChange};
use std::{ops::ControlFlow, sync::Arc};

/// A state.
#[derive(Clone)]
pub(crate) struct State {
    tables: Trie<Arc<TableState>>,
    hash: StateHash,
    /// The weight of all rows, kept in step with every write as the hash is.
    weight: u64,
    pub(crate) now: DateTime,
}

/// The rows of one table.
#[derive(Clone, Default)]
pub(crate) struct TableState {
    pub(crate) rows: Trie<Arc<Row>>,
    /// Shared until a write changes an indexed field.
    indexes: Arc<Vec<Index>>,
    pub(crate) next_id: RowId,
    pub(crate) next_number: u32,
}

/// Rows by the value of one field.
#[derive(Clone, Default)]
struct Index {
    sets: Trie<IdSet>,
    /// Hashed keys are cut to this many buckets (a power of two, less one); rows of one bucket are told apart by value.
    mask: u32,
}

impl State {
    /// What stands in the place of a state while a call works on it.
    pub(crate) fn taken() -> State {
        State { tables: Trie::default(), hash: StateHash::default(), weight: 0, now: DateTime(0) }
    }

    /// A state without rows.
    pub(crate) fn empty(compiled: &Compiled, now: DateTime) -> State {
        let mut state = State { tables: Trie::default(), hash: StateHash::default(), weight: 0, now };
        for (at, table) in compiled.tables.iter().enumerate() {
            let indexes = Arc::new(table.indexes.iter().map(|index| Index::sized(index, 16)).collect());
            let empty = TableState { indexes, next_id: 1, next_number: 1, ..TableState::default() };
            state.hash = state.hash.with(empty.counters_hash(at as u16));
            state.tables.insert(at as u32, Arc::new(empty));
        }
        state
    }

    #[inline]
    pub(crate) fn table(&self, table: TableId) -> &TableState {
        match self.tables.get(u32::from(table.0)) {
            Some(state) => state,
            None => unreachable_table(),
        }
    }

    /// The hash of all rows, counters and the clock.
    pub(crate) fn hash(&self) -> StateHash {
        self.hash.with(StateHash::of(&self.now.0.to_le_bytes()))
    }

    /// The same hash, made anew from every row.
    pub(crate) fn hash_from_scratch(&self) -> StateHash {
        let mut hash = StateHash::of(&self.now.0.to_le_bytes());
        for (at, table) in self.tables.iter() {
            hash = hash.with(table.counters_hash(at as u16));
            for (_, row) in table.rows.iter() {
                hash = hash.with(row.hash(RelationId(at as u16)));
            }
        }
        hash
    }

    pub(crate) fn get(&self, table: TableId, row: RowId) -> Option<&Arc<Row>> {
        self.table(table).rows.get(row)
    }

    /// How many rows there are.
    pub(crate) fn row_count(&self) -> usize {
        self.tables.iter().map(|(_, table)| table.rows.len()).sum()
    }

    /// What all rows cost to keep, in rows without long texts.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// The same, made anew from every row.
    pub(crate) fn weight_from_scratch(&self) -> u64 {
        self.tables.iter().flat_map(|(_, table)| table.rows.iter()).map(|(_, row)| row.weight()).sum()
    }

    /// Changes a table, keeping the hash of its counters in step.
    fn edit(&mut self, table: TableId) -> &mut TableState {
        match self.tables.slot(u32::from(table.0)) {
            Some(state) => Arc::make_mut(state),
            None => unreachable_table(),
        }
    }

    /// Puts a row in place of the one with its id, which it gives back, or as a new one.
    pub(crate) fn put(&mut self, compiled: &Compiled, table: TableId, row: Arc<Row>) -> Option<Arc<Row>> {
        let compiled_table = &compiled.tables[table.index()];
        let id = row.id();
        let hash = self.hash;
        let state = self.edit(table);
        let old = state.rows.get(id);
        let hash = match old {
            None => hash.with(row.hash(table)),
            Some(old) => row.hash_beside(table, old, hash),
        };
        // Mostly no indexed field changes, and the row need not be shared with the indexes.
        let differs = |index: &IndexedField| old.map(|old| old.get(index.field)) != Some(row.get(index.field));
        let indexed = compiled_table.indexes.iter().any(differs).then(|| Arc::clone(&row));
        let weight = row.weight();
        let old = state.rows.insert(id, row);
        if let Some(row) = indexed {
            state.reindex(compiled_table, id, old.as_deref(), Some(&row));
        }
        self.hash = hash;
        self.weight = self.weight + weight - old.as_ref().map_or(0, |old| old.weight());
        old
    }

    /// Takes a row out.
    pub(crate) fn remove(&mut self, compiled: &Compiled, table: TableId, id: RowId) -> Option<Arc<Row>> {
        let compiled_table = &compiled.tables[table.index()];
        let state = self.edit(table);
        let old = state.rows.remove(id)?;
        state.reindex(compiled_table, id, Some(&old), None);
        if !on(Sabotage::StaleHash) {
            self.hash = self.hash.without(old.hash(table));
        }
        self.weight -= old.weight();
        Some(old)
    }

    /// The id for a new row.
    pub(crate) fn take_id(&mut self, table: TableId) -> RowId {
        let id = self.table(table).next_id;
        self.set_counters(table, id + 1, self.table(table).next_number);
        id
    }

    /// The number for a new row.
    pub(crate) fn take_number(&mut self, table: TableId) -> u32 {
        let number = self.table(table).next_number;
        self.set_counters(table, self.table(table).next_id, number + 1);
        number
    }

    pub(crate) fn set_counters(&mut self, table: TableId, next_id: RowId, next_number: u32) {
        let state = self.edit(table);
        let old = state.counters_hash(table.0);
        (state.next_id, state.next_number) = (next_id, next_number);
        let new = state.counters_hash(table.0);
        self.hash = self.hash.without(old).with(new);
    }

    /// Every row that differs from an older state, as it was and as it is.
    pub(crate) fn each_change(&self, old: &State, each: &mut dyn FnMut(benchwright_world::Changed<'_>)) {
        self.tables.diff(&old.tables, Arc::ptr_eq, &mut |table, difference| {
            let Difference::Changed(old, new) = difference else { return };
            new.rows.diff(&old.rows, Arc::ptr_eq, &mut |_, difference| {
                let table = RelationId(table as u16);
                match difference {
                    Difference::Added(new) => each((table, None, Some(new.cells()))),
                    Difference::Removed(old) => each((table, Some(old.cells()), None)),
                    Difference::Changed(old, new) if old.cells() != new.cells() => {
                        each((table, Some(old.cells()), Some(new.cells())));
                    }
                    Difference::Changed(..) => {}
                }
            });
        });
    }

    /// The exact difference from an older state.
    pub(crate) fn diff(&self, old: &State) -> Diff {
        let mut changes = Vec::new();
        self.tables.diff(&old.tables, Arc::ptr_eq, &mut |table, difference| {
            let Difference::Changed(old, new) = difference else { return };
            new.rows.diff(&old.rows, Arc::ptr_eq, &mut |row, difference| {
                let change = match difference {
                    Difference::Added(new) => Change::Added(new.cells().to_vec()),
                    Difference::Removed(_) if on(Sabotage::DiffForgetsRemoved) => return,
                    Difference::Removed(old) => Change::Removed(old.cells().to_vec()),
                    Difference::Changed(old, new) => {
                        let cells = old.cells().iter().zip(new.cells()).enumerate();
                        let fields: Vec<FieldChange> = cells
                            .filter(|(_, (old, new))| old != new)
                            .map(|(at, (old, new))| FieldChange {
                                field: FieldId(at as u16),
                                old: old.clone(),
                                new: new.clone(),
                            })
                            .collect();
                        if fields.is_empty() {
                            return;
                        }
                        Change::Changed(fields)
                    }
                };
                changes.push((RelationId(table as u16), row, change));
            });
        });
        Diff { changes }
    }
}

/// Every table of a domain has a state from the beginning; a table id of another domain is a fault of the program.
#[cold]
fn unreachable_table() -> ! {
    unreachable!("a table id of another domain")
}

impl TableState {
    fn counters_hash(&self, table: u16) -> StateHash {
        let mut bytes = [0; 10];
        bytes[..2].copy_from_slice(&table.to_le_bytes());
        bytes[2..6].copy_from_slice(&self.next_id.to_le_bytes());
        bytes[6..].copy_from_slice(&self.next_number.to_le_bytes());
        StateHash::of(&bytes)
    }

    fn reindex(&mut self, compiled: &CompiledTable, id: RowId, old: Option<&Row>, new: Option<&Row>) {
        let rows = self.rows.len();
        for (at, spec) in compiled.indexes.iter().enumerate() {
            let (before, after) = (old.map(|row| row.get(spec.field)), new.map(|row| row.get(spec.field)));
            if before == after {
                continue;
            }
            let index = &mut Arc::make_mut(&mut self.indexes)[at];
            if let Some(key) = before.and_then(|value| index.key(spec, value)) {
                index.remove(key, id);
            }
            // `stale` is only ever true in tests that break the index on purpose.
            let stale = before.is_some() && on(Sabotage::StaleIndex);
            if let Some(key) = after.and_then(|value| index.key(spec, value))
                && !stale
            {
                index.insert(key, id);
            }
            // More than four rows a bucket: hashed keys get more buckets, which is rare enough to be made from scratch.
            if !spec.direct && rows > 4 * (index.mask as usize + 1) {
                let mut larger = Index::sized(spec, rows * 2);
                for (id, row) in self.rows.iter() {
                    if let Some(key) = larger.key(spec, row.get(spec.field)) {
                        larger.insert(key, id);
                    }
                }
                *index = larger;
            }
        }
    }

    /// The rows whose indexed field may have a value: all that have it, and for hashed keys perhaps a few more. `None` if
    /// the field is not indexed.
    #[inline]
    fn candidates(&self, compiled: &CompiledTable, field: FieldId, value: &Value) -> Option<Option<&IdSet>> {
        let at = compiled.index_of[field.index()]?;
        let (index, spec) = (&self.indexes[at], &compiled.indexes[at]);
        Some(index.key(spec, value).and_then(|key| index.sets.get(key)))
    }

    /// The rows that refer by a field to a row.
    #[inline]
    pub(crate) fn referring<'t>(
        &'t self,
        compiled: &CompiledTable,
        field: FieldId,
        to: RowId,
    ) -> impl Iterator<Item = &'t Arc<Row>> + use<'t> {
        let set = self.candidates(compiled, field, &Value::Ref(to)).flatten();
        let ids = set.map_or_else(Ids::default, IdSet::iter);
        self.rows.get_all(ids)
    }

    /// Another row than `except` that has the same values in all these fields; nulls are never the same.
    pub(crate) fn same_key(
        &self,
        compiled: &CompiledTable,
        fields: &[FieldId],
        cells: &[Value],
        except: RowId,
    ) -> Option<RowId> {
        if fields.iter().any(|field| cells[field.index()].is_null()) {
            return None;
        }
        let same = |id: u32| {
            let row = self.rows.get(id)?;
            (id != except && fields.iter().all(|field| row.get(*field) == &cells[field.index()])).then_some(id)
        };
        let sets = fields.iter().filter_map(|field| self.candidates(compiled, *field, &cells[field.index()]));
        match sets.min_by_key(|set| set.map_or(0, IdSet::weight)) {
            Some(set) => set?.iter().find_map(same),
            None => self.rows.iter().find_map(|(id, _)| same(id)),
        }
    }
}

impl Index {
    fn sized(spec: &IndexedField, rows: usize) -> Index {
        let mask = if spec.direct { u32::MAX } else { rows.next_power_of_two() as u32 - 1 };
        Index { sets: Trie::default(), mask }
    }

    #[inline]
    fn key(&self, spec: &IndexedField, value: &Value) -> Option<u32> {
        match value {
            Value::Null => None,
            Value::Ref(row) if spec.direct => Some(*row),
            other => Some(digest::hash_value(other) as u32 & self.mask),
        }
    }

    fn insert(&mut self, key: u32, id: u32) {
        self.sets.update(key, |set| match set {
            Some(set) => set.insert(id),
            None => *set = Some(IdSet::one(id)),
        });
    }

    fn remove(&mut self, key: u32, id: u32) {
        self.sets.update(key, |slot| {
            if let Some(set) = slot {
                set.remove(id);
                if set.is_empty() {
                    *slot = None;
                }
            }
        });
    }
}

/// A state as records to read.
#[derive(Clone, Copy)]
pub(crate) struct View<'s> {
    pub(crate) compiled: &'s Compiled,
    pub(crate) state: &'s State,
}

impl<'s> Records for View<'s> {
    type Row = &'s Row;

    fn row(&self, relation: RelationId, id: RowId) -> Option<&'s Row> {
        self.state.get(relation, id).map(|row| &**row)
    }

    fn field(&self, row: &&'s Row, field: FieldId) -> Value {
        row.get(field).clone()
    }

    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(&'s Row) -> ControlFlow<()>,
    ) {
        self.select_from(relation, tests, 0, each);
    }
}

impl<'s> View<'s> {
    /// The row of the person who acts, in the domain that a table belongs to.
    pub(crate) fn person(&self, people: &[Option<RowId>], table: TableId) -> Option<&'s Row> {
        let member = self.compiled.member_of[table.index()];
        self.row(self.compiled.actors[member]?, people[member]?)
    }

    /// Every row from an id on that passes all the tests, in order of id.
    pub(crate) fn select_from(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        from: RowId,
        each: &mut dyn FnMut(&'s Row) -> ControlFlow<()>,
    ) {
        let table = self.state.table(relation);
        let compiled = &self.compiled.tables[relation.index()];
        let mut offer = |row: &'s Row| {
            let passes = row.id() >= from
                && tests.iter().all(|test| match test.path {
                    [(_, field)] => eval::meets(row.get(*field), test.op, test.with.values()),
                    _ => eval::passes(self, &row, test),
                });
            if passes { each(row) } else { ControlFlow::Continue(()) }
        };
        // Of all tests that ask for one value of an indexed field, the one with the fewest rows leads the search; `Some(None)` is an
        // index that knows no row of that value, so there is nothing to find. Every row that is found is put to all tests again.
        let mut best: Option<Option<&'s IdSet>> = None;
        for test in tests {
            let ([(_, field)], TestOp::Compare(Compare::Eq), [value]) = (test.path, test.op, test.with.values()) else {
                continue;
            };
            if *field == FieldId::ID {
                if let Some(row) = value.as_ref_id().and_then(|id| table.rows.get(id)) {
                    let _ = offer(row);
                }
                return;
            }
            if let Some(set) = table.candidates(compiled, *field, value) {
                let lighter = best.is_none_or(|best| set.map_or(0, IdSet::weight) < best.map_or(0, IdSet::weight));
                if lighter {
                    best = Some(set);
                }
            }
        }
        match best {
            Some(None) => {}
            Some(Some(set)) => {
                let _ = table.rows.get_all(set.iter()).try_for_each(|row| offer(row));
            }
            None => {
                let _ = table.rows.iter_from(from).try_for_each(|(_, row)| offer(row));
            }
        }
    }
}
