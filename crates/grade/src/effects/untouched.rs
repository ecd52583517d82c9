//! The frame of a request: every difference that nobody asked for. Texts are free on records that the request is about, and notes on
//! such records are let through; nothing else is.

use super::{
    Key,
    cells::Sight,
    differences::{Differences, Row},
    ready::WantedTarget,
};
use benchwright_base::{FieldId, RowId, Value};
use benchwright_expr::{
    Source, Type,
    eval::{Judge, passes},
    walk::{Operand, Test},
};
use benchwright_schema::Domain;
use benchwright_world::Terminal as _;
use std::collections::{BTreeMap, BTreeSet};

/// What the expectation is about, in one way to bind new rows and to choose.
pub(super) struct Concern {
    /// The rows that are there, each with the fields of which something is asked.
    pub(super) named: BTreeMap<Key, BTreeSet<FieldId>>,
    /// The new rows that are bound.
    pub(super) made: BTreeSet<Key>,
    /// Rows that are gone and stand in the world as another one: what took the place of each.
    pub(super) replaced: BTreeMap<Key, RowId>,
}

impl Concern {
    /// What is asked for is about these rows.
    pub(super) fn new(sight: &Sight<'_>, found: &Differences) -> Concern {
        let mut concern = Concern { named: BTreeMap::new(), made: BTreeSet::new(), replaced: BTreeMap::new() };
        for (wanted, bound) in sight.ready.expected.iter().zip(&sight.bound) {
            let row = match wanted.target {
                WantedTarget::Id(row) => row,
                WantedTarget::Choice(choice) => sight.chosen[choice],
                WantedTarget::New => {
                    concern.made.extend(bound.map(|row| (wanted.table, row)));
                    continue;
                }
                WantedTarget::Gone(_) => continue,
            };
            let fields = concern.named.entry((wanted.table, row)).or_default();
            fields.extend(wanted.cells.iter().map(|(field, _)| *field));
        }
        concern.replace(sight, found);
        concern
    }

    /// Finds what took the place of rows that are gone although something else is asked of them: a row like it in all other cells, as an
    /// update leaves it that takes a list.
    fn replace(&mut self, sight: &Sight<'_>, found: &Differences) {
        let mut taken: BTreeSet<Key> = self.made.clone();
        for old in &found.removed {
            let Some(named) = self.named.get(&old.key()) else { continue };
            let is_free = |at: usize| named.contains(&FieldId(at as u16)) || is_prose(sight.domain, old.key(), at);
            let alike = |new: &&Row| {
                new.table == old.table
                    && !taken.contains(&new.key())
                    && sight.ready.compared.differing(old.table, &old.cells, &new.cells).all(is_free)
            };
            if let Some(new) = found.added.iter().find(alike) {
                taken.insert(new.key());
                self.replaced.insert(old.key(), new.id);
            }
        }
    }

    /// The row that stands in the place of one.
    pub(super) fn standing(&self, key: Key) -> RowId {
        self.replaced.get(&key).copied().unwrap_or(key.1)
    }

    /// Every difference that nobody asked for.
    pub(super) fn breaches(&self, sight: &Sight<'_>, found: &Differences) -> Vec<String> {
        let domain = sight.domain;
        let mut breaches = Vec::new();
        for (key, fields) in &found.changed {
            let named = self.named.get(key);
            let is_free = |at: usize| {
                named.is_some_and(|named| named.contains(&FieldId(at as u16)) || is_prose(domain, *key, at))
            };
            breaches.extend(fields.iter().filter(|at| !is_free(**at)).map(|at| changed(domain, *key, *at)));
        }
        for row in &found.removed {
            if !sight.ready.gone.contains(&row.key()) && !self.replaced.contains_key(&row.key()) {
                breaches.push(deleted(domain, row.key()));
            }
        }
        let replaces = |row: &Row| self.replaced.iter().any(|(old, new)| (old.0, *new) == row.key());
        for row in &found.added {
            if !self.made.contains(&row.key()) && !replaces(row) && !self.is_note(sight, row) {
                breaches.push(added(domain, row.key()));
            }
        }
        breaches
    }

    /// Whether a new row is a note on a record that the request is about.
    fn is_note(&self, sight: &Sight<'_>, row: &Row) -> bool {
        let fields = sight.domain.table(row.table).fields.iter().zip(&row.cells).skip(1);
        let mut targets = fields.filter_map(|(field, value)| match (field.ty, value) {
            (Type::Ref(to), Value::Ref(id)) => Some((to, *id)),
            _ => None,
        });
        targets.any(|key| self.named.contains_key(&key) || self.made.contains(&key))
            && sight.domain.notes.iter().any(|note| is_of(sight, note, row))
    }
}

/// Whether a row is one that a source yields.
fn is_of(sight: &Sight<'_>, source: &Source, row: &Row) -> bool {
    let Source::Rows { relation, tests } = source else { return false };
    let Some(cells) = sight.row(row.table, row.id).filter(|_| *relation == row.table) else { return false };
    let judge = Judge::new(&sight.live, sight.live.now());
    tests.iter().all(|(path, op, values)| {
        let mut values: Vec<Value> = values.iter().map(|value| judge.value(value)).collect();
        let with = if values.len() == 1 { Operand::One(values.remove(0)) } else { Operand::Many(values) };
        passes(&sight.live, &cells, &Test { path, op: *op, with })
    })
}

/// Every difference at all, for a request that cannot be carried out.
pub(super) fn all(domain: &Domain, found: &Differences) -> Vec<String> {
    let fields = found.changed.iter().flat_map(|(key, fields)| fields.iter().map(|at| changed(domain, *key, *at)));
    let gone = found.removed.iter().map(|row| deleted(domain, row.key()));
    let new = found.added.iter().map(|row| added(domain, row.key()));
    fields.chain(gone).chain(new).collect()
}

fn is_prose(domain: &Domain, (table, _): Key, at: usize) -> bool {
    domain.table(table).fields[at].prose
}

fn changed(domain: &Domain, (table, row): Key, at: usize) -> String {
    let declared = domain.table(table);
    format!("{} {row}: {} was changed", declared.name, declared.fields[at].name)
}

fn deleted(domain: &Domain, (table, row): Key) -> String {
    format!("{} {row} was deleted", domain.table(table).name)
}

fn added(domain: &Domain, (table, row): Key) -> String {
    format!("{} {row} was added", domain.table(table).name)
}
