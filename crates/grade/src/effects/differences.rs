//! What differs between the first state and the last, as far as it is compared: bookkeeping, stamps of the clock, counted numbers and
//! computed cells are nobody's doing, and replies are no change of the world. A row that was replaced by one that is like it in all that
//! is compared is no difference: an update that takes a list of child rows writes all of them anew.

use super::{Key, ready::Replies};
use benchwright_base::{RowId, TableId, Value};
use benchwright_sandbox::Live;
use benchwright_schema::{Domain, Field, Stamp, Table};
use benchwright_world::Terminal as _;
use std::collections::BTreeSet;

/// Which cells are compared.
pub(super) struct Compared(Vec<Vec<bool>>);

impl Compared {
    /// As the domain declares it. Tables that are there once hold replies, which are no change of the world.
    pub(super) fn new(domain: &Domain) -> Compared {
        let of_field = |field: &Field| !field.log && matches!(field.stamp, None | Some(Stamp::Keep));
        let of_table = |table: &Table| {
            let fields = table.fields.iter().enumerate();
            fields.map(|(at, field)| !table.log && !table.once && at > 0 && of_field(field)).collect()
        };
        Compared(domain.tables.iter().map(of_table).collect())
    }

    /// Whether a field is compared.
    pub(super) fn has(&self, table: TableId, field: usize) -> bool {
        self.0[table.index()].get(field) == Some(&true)
    }

    /// Whether anything of a table is.
    pub(super) fn has_table(&self, table: TableId) -> bool {
        self.0[table.index()].contains(&true)
    }

    /// The compared fields in which two rows differ.
    pub(super) fn differing<'r>(
        &'r self,
        table: TableId,
        old: &'r [Value],
        new: &'r [Value],
    ) -> impl Iterator<Item = usize> + 'r {
        let cells = old.iter().zip(new).enumerate();
        cells.filter(move |(at, (old, new))| self.has(table, *at) && old != new).map(|(at, _)| at)
    }
}

/// A row that came or went.
pub(super) struct Row {
    pub(super) table: TableId,
    pub(super) id: RowId,
    pub(super) cells: Vec<Value>,
}

impl Row {
    fn of(table: TableId, cells: &[Value]) -> Row {
        Row { table, id: id_of(cells), cells: cells.to_vec() }
    }

    /// Its table and id.
    pub(super) fn key(&self) -> Key {
        (self.table, self.id)
    }
}

fn id_of(cells: &[Value]) -> RowId {
    cells.first().and_then(Value::as_ref_id).unwrap_or_default()
}

/// All that differs, and what was said back.
#[derive(Default)]
pub(super) struct Differences {
    /// Rows that are there as before, with the fields that differ.
    pub(super) changed: Vec<(Key, Vec<usize>)>,
    pub(super) removed: Vec<Row>,
    pub(super) added: Vec<Row>,
    /// New replies, by id.
    pub(super) replies: Vec<Vec<Value>>,
    /// New values of replies.
    pub(super) values: Vec<Vec<Value>>,
}

impl Differences {
    /// What differs in a state. `gone` are the rows that are expected to be gone: one that was made into another row in its place counts
    /// as gone and that one as new, because a list may also be brought up to date row by row.
    pub(super) fn of(
        live: &Live<'_>,
        compared: &Compared,
        replies: Option<&Replies>,
        gone: &BTreeSet<Key>,
    ) -> Differences {
        let mut found = Differences::default();
        live.changes(&mut |(table, old, new)| {
            if let Some(replies) = replies
                && (table == replies.reply || table == replies.value_table)
            {
                let list = if table == replies.reply { &mut found.replies } else { &mut found.values };
                list.extend(new.filter(|_| old.is_none()).map(<[Value]>::to_vec));
                return;
            }
            if !compared.has_table(table) {
                return;
            }
            match (old, new) {
                (Some(old), Some(new)) => {
                    let key = (table, id_of(new));
                    let fields: Vec<usize> = compared.differing(table, old, new).collect();
                    match (fields.is_empty(), gone.contains(&key)) {
                        (true, _) => {}
                        (_, false) => found.changed.push((key, fields)),
                        (_, true) => {
                            found.removed.push(Row::of(table, old));
                            found.added.push(Row::of(table, new));
                        }
                    }
                }
                (Some(old), None) => found.removed.push(Row::of(table, old)),
                (None, Some(new)) => found.added.push(Row::of(table, new)),
                (None, None) => {}
            }
        });
        found.pair_off(compared, gone);
        found
    }

    /// Takes out rows that were replaced by rows like them. Those that are expected to be gone come last.
    fn pair_off(&mut self, compared: &Compared, gone: &BTreeSet<Key>) {
        let mut removed = std::mem::take(&mut self.removed);
        removed.sort_by_key(|row| (gone.contains(&row.key()), row.key()));
        for row in removed {
            let alike = |new: &Row| {
                new.table == row.table && compared.differing(row.table, &row.cells, &new.cells).next().is_none()
            };
            match self.added.iter().position(alike) {
                Some(at) => drop(self.added.remove(at)),
                None => self.removed.push(row),
            }
        }
        self.removed.sort_by_key(Row::key);
    }

    /// Whether no row differs.
    pub(super) fn is_none(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty() && self.added.is_empty()
    }
}
