//! Reads a state as the rows of every view: which records of a table belong to it, and the value of each of its fields in
//! the words of the rules (days from the anchor, whole units, members by number).

use benchwright_base::{TableId, Value};
use benchwright_expr::{
    Expr, FieldTest, Type,
    eval::Judge,
    tests_of,
    walk::{Operand, Test},
};
use benchwright_schema::{
    Domain,
    plan::{Bound, Cast, Plan, View, ViewField},
};
use benchwright_world::Terminal;
use std::{collections::BTreeMap, ops::ControlFlow};

/// The keys of the first state's rows: table, row id, key.
pub(crate) type Keys = BTreeMap<String, BTreeMap<u32, String>>;

/// For each sort the members that the rows of its table are.
pub(crate) type Members = Vec<BTreeMap<u32, u32>>;

/// Finds the members by the keys of the rows.
pub(crate) fn members(domain: &Domain, plan: &Plan, bound: &Bound, keys: &Keys) -> Members {
    let of_sort = |(sort, (_, table)): (usize, &(String, Option<TableId>))| {
        let Some(table) = table else { return BTreeMap::new() };
        // Of members with the same key the first is meant.
        let known: BTreeMap<&str, u32> =
            bound.members[sort].iter().enumerate().rev().map(|(at, key)| (&**key, at as u32 + 1)).collect();
        let rows = keys.get(&domain.table(*table).name).into_iter().flatten();
        rows.filter_map(|(row, key)| Some((*row, *known.get(&**key)?))).collect()
    };
    plan.sorts.iter().enumerate().map(of_sort).collect()
}

/// Which rows a view has: those that pass the tests and hold the rest.
pub(crate) struct Only {
    tests: Vec<FieldTest>,
    rest: Option<Expr>,
}

impl Only {
    pub(crate) fn of(view: &View) -> Only {
        let (tests, rest) = view.only.as_ref().map(tests_of).unwrap_or_default();
        Only { tests, rest }
    }
}

/// The rows of a view.
pub(crate) fn read<'s>(
    domain: &Domain,
    bound: &Bound,
    members: &Members,
    state: &impl Terminal<'s>,
    view: &View,
    only: &Only,
) -> Vec<Vec<Value>> {
    let mut found = Vec::new();
    let mut tests = Vec::with_capacity(only.tests.len());
    for (path, op, with) in &only.tests {
        let with = with.clone().map_or_else(|| Operand::Many(Vec::new()), Operand::One);
        tests.push(Test { path, op: *op, with });
    }
    state.select(view.from, &tests, &mut |row| {
        let judge = Judge::new(state, state.now()).of(row);
        if only.rest.as_ref().is_some_and(|rest| !judge.holds(rest)) {
            return ControlFlow::Continue(());
        }
        let mut cells = Vec::with_capacity(view.fields.len());
        judge.values(view.fields.iter().map(|field| &field.reads), |value| {
            cells.push(cast(domain, bound, members, &view.fields[cells.len()], value));
        });
        let ours = |at: &usize| match (view.fields[*at].ty, &cells[*at]) {
            (Type::Ref(sort), Value::Ref(member)) => (*member as usize) <= bound.members[sort.index()].len(),
            _ => false,
        };
        if view.within.iter().all(ours) {
            found.push(cells);
        }
        ControlFlow::Continue(())
    });
    found
}

/// A value of the system of record as a value of a view. What does not fit is null, and null passes nothing.
fn cast(domain: &Domain, bound: &Bound, members: &Members, field: &ViewField, value: Value) -> Value {
    match (field.cast, value) {
        (_, Value::Null) => Value::Null,
        (Cast::Plain, Value::Quantity(n)) => Value::Int(n),
        (Cast::Plain, value) => value,
        (Cast::Day, Value::DateTime(instant)) => Value::Int(i64::from(instant.date().0) - i64::from(bound.anchor.0)),
        (Cast::Day, Value::Date(date)) => Value::Int(i64::from(date.0) - i64::from(bound.anchor.0)),
        (Cast::Units, Value::Quantity(n)) if n % 1_000 == 0 => Value::Int(n / 1_000),
        (Cast::Units, Value::Int(n)) => Value::Int(n),
        (Cast::Word, Value::Text(text)) => Value::Text(text),
        (Cast::Word, Value::Enum(word)) => word_of(domain, field, word),
        (Cast::Member, value) => match field.ty {
            Type::Ref(sort) => member(bound, members, sort.index(), &value),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

/// The member of a sort that a row or a text is.
pub(crate) fn member(bound: &Bound, members: &Members, sort: usize, value: &Value) -> Value {
    match value {
        Value::Ref(row) => {
            let known = members[sort].get(row).copied();
            // A row that is none of the task's is still itself, and no other.
            Value::Ref(known.unwrap_or(bound.members[sort].len() as u32 + row))
        }
        Value::Text(text) => bound.member(sort, text).map_or(Value::Null, Value::Ref),
        _ => Value::Null,
    }
}

/// The word of an enumeration. Its type is that of the expression that was read.
fn word_of(domain: &Domain, field: &ViewField, word: u16) -> Value {
    let ty = match &field.reads {
        Expr::Field(_, path) => path.last().map(|(table, at)| domain.table(*table).field(*at).ty),
        _ => None,
    };
    match ty {
        Some(Type::Enum(id)) => {
            domain.enums[id.index()].words.get(word as usize).map_or(Value::Null, |word| Value::text(&**word))
        }
        _ => Value::Null,
    }
}
