//! Single changes to a terminal state: one cell that a view reads, moved to the nearest value on either side, far beyond, or to
//! another word or row; or one new row dropped. Which side it is on is known from the values alone, and not from any rule.

use crate::{Subject, values::is_sole};
use benchwright_base::{FieldId, RelationId, RowId, TableId, Value, date::DAY};
use benchwright_expr::{Expr, Source, Type};
use benchwright_pack::{Change, Diff, Snapshot};
use benchwright_schema::{Domain, Field, Stamp, codec};
use std::collections::{BTreeMap, BTreeSet};

/// Days that nobody would plan with.
const FAR: i64 = 20 * 365;
/// The most rows of a table that are changed in one field.
const ROWS: usize = 40;
/// Of these, the rows that are also moved far beyond.
const FAR_ROWS: usize = 8;
/// The most words of an enumeration that are tried.
const WORDS: u16 = 12;

/// Where a changed cell lies from what it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Way {
    /// One less, a day earlier.
    Below,
    /// One more, a day later.
    Above,
    /// Many days earlier.
    FarBelow,
    /// Three times as much, many days later.
    FarAbove,
    /// Another word, another row, something for nothing.
    Other,
    /// Nothing for something.
    Emptied,
    /// The row is not there.
    Dropped,
}

impl Way {
    /// The word for counts.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Way::Below => "below",
            Way::Above => "above",
            Way::FarBelow => "far below",
            Way::FarAbove => "far above",
            Way::Other => "another",
            Way::Emptied => "emptied",
            Way::Dropped => "dropped",
        }
    }
}

/// One change.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) table: TableId,
    /// The place of the row in the snapshot.
    pub(crate) at: usize,
    pub(crate) field: usize,
    /// The new value; the row is dropped without one.
    value: Option<Value>,
    pub(crate) way: Way,
}

impl Edit {
    /// Hands on the state with the change in it, and takes it back.
    pub(crate) fn with<R>(&self, state: &mut Snapshot, then: impl FnOnce(&Snapshot) -> R) -> R {
        let rows = &mut state.tables[self.table.index()].rows;
        match &self.value {
            Some(value) => {
                let old = std::mem::replace(&mut rows[self.at][self.field], value.clone());
                let result = then(state);
                state.tables[self.table.index()].rows[self.at][self.field] = old;
                result
            }
            None => {
                let row = rows.remove(self.at);
                let result = then(state);
                state.tables[self.table.index()].rows.insert(self.at, row);
                result
            }
        }
    }

    /// The change in words.
    pub(crate) fn told(&self, domain: &Domain, state: &Snapshot) -> String {
        let table = domain.table(self.table);
        let row = &state.tables[self.table.index()].rows[self.at];
        let id = row[0].as_ref_id().unwrap_or_default();
        let column = &table.fields[self.field];
        match &self.value {
            None => format!("{} {id}: dropped", table.name),
            Some(value) => {
                let show = |value: &Value| codec::show_value(domain, column.ty, value);
                format!("{} {id}: {} is {} for {}", table.name, column.name, show(value), show(&row[self.field]))
            }
        }
    }
}

/// The rows that the oracle made or changed, and those that refer to them, by place.
pub(crate) fn touched(subject: &Subject<'_>, state: &Snapshot) -> BTreeMap<TableId, BTreeSet<usize>> {
    let changed = Diff::between(&subject.first, state);
    let kept = changed.changes.iter().filter(|(_, _, change)| !matches!(change, Change::Removed(_)));
    let ids: BTreeSet<(TableId, RowId)> = kept.map(|(table, row, _)| (*table, *row)).collect();
    let from: BTreeSet<TableId> = subject.plan.views.iter().map(|view| view.from).collect();
    let mut found: BTreeMap<TableId, BTreeSet<usize>> = BTreeMap::new();
    for (index, table) in subject.domain.tables.iter().enumerate() {
        let id = RelationId(index as u16);
        for (at, row) in state.tables[index].rows.iter().enumerate() {
            let is = |to: TableId, row: RowId| ids.contains(&(to, row));
            let own = row[0].as_ref_id().is_some_and(|row| is(id, row));
            let refers = || {
                table.fields.iter().zip(row).any(|(field, value)| match (field.ty, value) {
                    (Type::Ref(to), Value::Ref(row)) => from.contains(&to) && is(to, *row),
                    _ => false,
                })
            };
            if own || (from.contains(&id) && refers()) {
                found.entry(id).or_default().insert(at);
            }
        }
    }
    found
}

/// Every change to a cell that a view reads, of the rows that the oracle touched.
pub(crate) fn edits(subject: &Subject<'_>, state: &Snapshot) -> Vec<Edit> {
    let mut read = BTreeSet::new();
    for view in &subject.plan.views {
        view.only.iter().for_each(|only| cells_of(only, &mut read));
        view.fields.iter().for_each(|field| cells_of(&field.reads, &mut read));
    }
    let mut found = Vec::new();
    for (table, places) in touched(subject, state) {
        let declared = subject.domain.table(table);
        let before = &subject.first.tables[table.index()].rows;
        for (nth, at) in places.iter().enumerate().take(ROWS) {
            let row = &state.tables[table.index()].rows[*at];
            for (field, column) in declared.fields.iter().enumerate().skip(1) {
                if !read.contains(&(table, field)) || !matches!(column.stamp, None | Some(Stamp::Keep)) {
                    continue;
                }
                let mut seen = BTreeSet::new();
                for (way, value) in values(&subject.domain, state, column, &row[field]) {
                    let far = matches!(way, Way::FarAbove | Way::FarBelow);
                    let legal = value != row[field]
                        && codec::check_bounds(&value, column.bounds).is_ok()
                        && (column.nullable || !value.is_null())
                        && is_sole(declared, &state.tables[table.index()].rows, *at, field, &value);
                    if legal && (!far || nth < FAR_ROWS) && seen.insert(value.clone()) {
                        found.push(Edit { table, at: *at, field, value: Some(value), way });
                    }
                }
            }
            let is_new = before.binary_search_by_key(&row[0].as_ref_id(), |old| old[0].as_ref_id()).is_err();
            if is_new && read.iter().any(|(known, _)| *known == table) {
                found.push(Edit { table, at: *at, field: 0, value: None, way: Way::Dropped });
            }
        }
    }
    found
}

/// Other values of a cell, by where they lie.
fn values(domain: &Domain, state: &Snapshot, field: &Field, old: &Value) -> Vec<(Way, Value)> {
    let number = |n: i64, by: i64, of: fn(i64) -> Value| {
        vec![(Way::Below, of(n - by)), (Way::Above, of(n + by)), (Way::FarAbove, of(n * 3 + by))]
    };
    let ways = [(Way::Below, -1), (Way::Above, 1), (Way::FarBelow, -FAR), (Way::FarAbove, FAR)];
    let mut found = match old {
        Value::Int(n) => number(*n, 1, Value::Int),
        Value::Money(n) => number(*n, 1, Value::Money),
        Value::Quantity(n) => number(*n, 1_000, Value::Quantity),
        Value::Date(date) => {
            ways.iter().filter_map(|(way, days)| Some((*way, Value::Date(date.add_days(*days)?)))).collect()
        }
        Value::DateTime(at) => {
            ways.iter().filter_map(|(way, days)| Some((*way, Value::DateTime(at.add_seconds(days * DAY)?)))).collect()
        }
        Value::Bool(yes) => vec![(Way::Other, Value::Bool(!yes))],
        Value::Text(text) => vec![(Way::Other, Value::text(format!("{text}x")))],
        Value::Enum(_) => words(domain, field),
        Value::Ref(row) => rows(state, field, Some(*row)),
        Value::Null if matches!(field.ty, Type::Enum(_)) => words(domain, field),
        _ => Vec::new(),
    };
    if !old.is_null() {
        found.push((Way::Emptied, Value::Null));
    }
    found
}

fn words(domain: &Domain, field: &Field) -> Vec<(Way, Value)> {
    let Type::Enum(id) = field.ty else { return Vec::new() };
    let count = domain.enums[id.index()].words.len() as u16;
    (0..count.min(WORDS)).map(|word| (Way::Other, Value::Enum(word))).collect()
}

/// The rows before and after one.
fn rows(state: &Snapshot, field: &Field, old: Option<RowId>) -> Vec<(Way, Value)> {
    let Type::Ref(to) = field.ty else { return Vec::new() };
    let ids: Vec<RowId> = state.tables[to.index()].rows.iter().filter_map(|row| row[0].as_ref_id()).collect();
    let before = ids.iter().rev().find(|id| Some(**id) < old);
    let after = ids.iter().find(|id| Some(**id) > old);
    before.into_iter().chain(after).map(|id| (Way::Other, Value::Ref(*id))).collect()
}

/// The fields that an expression over a row reads, on its way and at its end.
pub(crate) fn cells_of(expr: &Expr, found: &mut BTreeSet<(TableId, usize)>) {
    fn path(path: &[(TableId, FieldId)], found: &mut BTreeSet<(TableId, usize)>) {
        found.extend(path.iter().map(|(table, field)| (*table, field.index())));
    }
    fn source(of: &Source, found: &mut BTreeSet<(TableId, usize)>) {
        if let Source::Rows { tests, .. } = of {
            tests.iter().for_each(|(of, _, _)| path(of, found));
        }
    }
    expr.visit(&mut |part| match part {
        Expr::Field(_, of) => path(of, found),
        Expr::Lookup { source: rows, path: of } => {
            source(rows, found);
            path(of, found);
        }
        Expr::Fold(fold) => fold.binders.iter().for_each(|binder| source(&binder.source, found)),
        _ => {}
    });
}
