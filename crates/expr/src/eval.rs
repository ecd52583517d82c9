//! The evaluator: what an expression comes to over records that exist. A [`Judge`] says which records, which row is under
//! judgement, who acts and what time it is, and answers with a boolean or a value; underneath it is the [`walk`] with the
//! algebra of plain values ([`Rows`]).
//!
//! Logic is two-valued. A comparison with null is false; arithmetic with null, or that leaves its range, is null; so nothing
//! that could not be computed makes a comparison hold, and nothing panics.

use crate::walk::{self, Algebra, Bound, EachRow, Env, Test};
use crate::{Compare, Expr, FoldKind, Function, TestOp, TextOp, Unit};
use benchwright_base::{DateTime, FactId, FieldId, RelationId, RowId, SetId, Value, date::DAY};
use smallvec::SmallVec;
use std::{collections::BTreeSet, ops::ControlFlow};

/// Records to read: the state of a running world, rows read back from a snapshot, or the rows of a solution.
pub trait Records {
    /// A handle to a row that is cheap to copy: a pointer, or a place in a list. It knows its relation.
    type Row: Clone;

    /// A row by its id; `None` if there is none.
    fn row(&self, relation: RelationId, id: RowId) -> Option<Self::Row>;
    /// A field of a row; field 0 is its id as a reference.
    fn field(&self, row: &Self::Row, field: FieldId) -> Value;
    /// Every row that passes all the tests, in order of id. An implementation may use what indexes it has, and
    /// [`passes`] for the rest.
    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(Self::Row) -> ControlFlow<()>,
    );
}

/// Facts and sets that an expression may name: the given numbers of a task, as against its records.
pub trait Facts {
    /// The value of a fact. Facts are total: for arguments that nobody gave a value they answer with a default.
    fn fact(&self, fact: FactId, arguments: &[Value]) -> Value;
    /// A member of a set by its place; `None` past the last.
    fn member(&self, set: SetId, at: usize) -> Option<Value>;
}

/// No facts and no sets: what the rules of a domain are judged with.
pub struct NoFacts;

impl Facts for NoFacts {
    fn fact(&self, _: FactId, _: &[Value]) -> Value {
        Value::Null
    }
    fn member(&self, _: SetId, _: usize) -> Option<Value> {
        None
    }
}

/// Everything an expression may refer to. Its fields are public so that a caller sets what it has; [`Judge::new`] fills in the
/// rest.
pub struct Judge<'a, R: Records> {
    /// The records that are read: for a deleted row, those of the world before.
    pub world: &'a R,
    /// The records before the call or the run, for `old`.
    pub before: &'a R,
    /// The row under judgement, in `world`; `None` for an expression about no row in particular, which was checked without a
    /// subject.
    pub subject: Option<R::Row>,
    /// The same row in `before`; `None` if it was created since.
    pub subject_before: Option<R::Row>,
    /// Whether the row exists no more (`world` is then the world before).
    pub deleted: bool,
    /// The person who acts, in `world`; `None` makes everything about `actor` null.
    pub actor: Option<R::Row>,
    /// What `now` and `today` are: the clock of the world, not of the machine.
    pub now: DateTime,
    /// What facts and sets mean; [`NoFacts`] where there are none.
    pub facts: &'a dyn Facts,
    /// What the names in scope stand for, in the order of [`crate::Scope::given`].
    pub given: &'a [GivenValue<R::Row>],
    /// The row that `it` stands for outside of every fold.
    pub it: Option<R::Row>,
}

/// What a name in scope stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum GivenValue<Row> {
    /// A row.
    Row(Row),
    /// Rows.
    Rows(Vec<Row>),
    /// A value, or null in the place of a row.
    Value(Value),
}

impl<'a, R: Records> Judge<'a, R> {
    /// A judge of no row in particular, in a world that has not changed.
    pub fn new(world: &'a R, now: DateTime) -> Self {
        Judge {
            world,
            before: world,
            subject: None,
            subject_before: None,
            deleted: false,
            actor: None,
            now,
            facts: &NoFacts,
            given: &[],
            it: None,
        }
    }

    /// The same judge, of one row as it stands: nothing about it has changed.
    #[must_use]
    pub fn of(mut self, row: R::Row) -> Self {
        self.subject = Some(row.clone());
        self.subject_before = Some(row);
        self
    }

    /// Whether an expression holds of the row under judgement.
    pub fn holds(&self, expr: &Expr) -> bool {
        let mut rows = Rows { judge: self };
        let mut env = self.env();
        walk::truth(&mut rows, expr, &mut env)
    }

    /// The value of an expression for the row under judgement.
    pub fn value(&self, expr: &Expr) -> Value {
        let mut rows = Rows { judge: self };
        // A field of the row under judgement needs no scope.
        if let (Expr::Field(0, path), Some(row)) = (expr, &self.subject) {
            return walk::follow(&mut rows, Some((World::Now, row.clone())), path);
        }
        let mut env = self.env();
        if expr.is_truth() {
            return Value::Bool(walk::truth(&mut rows, expr, &mut env));
        }
        walk::value(&mut rows, expr, &mut env)
    }

    /// The rows that a source yields for the row under judgement, in order of id.
    pub fn rows(&self, source: &crate::Source) -> Vec<R::Row> {
        let binder = crate::Binder { name: None, source: source.clone(), condition: None };
        let mut rows = Rows { judge: self };
        let mut env = self.env();
        let mut found = Vec::new();
        let base = env.len();
        let _ = walk::elements(&mut rows, std::slice::from_ref(&binder), &mut env, None, &mut |_, env, _| {
            if let Bound::Row((_, row)) = &env[base] {
                found.push(row.clone());
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// Visits each instance of a rule: each combination of values that its `per` ranges over.
    pub fn instances(&self, per: &[crate::Binder], each: &mut dyn FnMut(&mut Instance<'_, '_, 'a, R>)) {
        let mut rows = Rows { judge: self };
        let mut env = self.env();
        let base = env.len();
        let _ = walk::elements(&mut rows, per, &mut env, None, &mut |a, env, _| {
            let at = env[base..].iter().map(|bound| match bound {
                Bound::Value(value) => value.clone(),
                Bound::Row((world, row)) => a.records(*world).field(row, FieldId::ID),
                Bound::Rows(_) => Value::Null,
            });
            each(&mut Instance { at: at.collect(), judge: a.judge, env });
            ControlFlow::Continue(())
        });
    }

    /// Whether an expression holds where its first slots are bound to these values.
    pub fn holds_at(&self, at: &[Value], expr: &Expr) -> bool {
        let mut env = self.env();
        env.extend(at.iter().cloned().map(Bound::Value));
        walk::truth(&mut Rows { judge: self }, expr, &mut env)
    }

    /// The values of several expressions for the row under judgement. A row that they reach by the same reference is looked
    /// up once.
    pub fn values<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, mut each: impl FnMut(Value)) {
        // The fields a tool answers with are often several of one referenced row (`customer.name`, `customer.email`), one
        // after the other, so remembering the last row that was reached is enough.
        let mut reached: Option<(FieldId, RelationId, Option<R::Row>)> = None;
        for expr in exprs {
            let (Expr::Field(0, path), Some(row)) = (expr, &self.subject) else {
                each(self.value(expr));
                continue;
            };
            let [(_, by), (to, last)] = path[..] else {
                each(self.value(expr));
                continue;
            };
            if reached.as_ref().is_none_or(|(field, relation, _)| (*field, *relation) != (by, to)) {
                let found = self.world.field(row, by).as_ref_id().and_then(|id| self.world.row(to, id));
                reached = Some((by, to, found));
            }
            let found = reached.as_ref().and_then(|(_, _, row)| row.as_ref());
            each(found.map_or(Value::Null, |row| self.world.field(row, last)));
        }
    }

    /// The outermost scope: the row under judgement in slot 0, if there is one.
    fn env<'j>(&'j self) -> Env<Rows<'j, 'a, R>> {
        let mut env = Env::<Rows<'j, 'a, R>>::new();
        let now = |row: &R::Row| (World::Now, row.clone());
        env.extend(self.subject.iter().map(|row| Bound::Row(now(row))));
        env.extend(self.given.iter().map(|given| match given {
            GivenValue::Row(row) => Bound::Row(now(row)),
            GivenValue::Rows(rows) => Bound::Rows(rows.iter().map(now).collect()),
            GivenValue::Value(value) => Bound::Value(value.clone()),
        }));
        env.extend(self.it.iter().map(|row| Bound::Row(now(row))));
        env
    }
}

/// The accumulator of `count`, `sum`, `min` and `max` over plain values.
pub struct Folding {
    kind: FoldKind,
    /// How many elements `count` has seen.
    count: i64,
    /// The sum, least or greatest so far; `None` before the first value.
    value: Option<Value>,
    /// The values that `count distinct` has seen.
    distinct: BTreeSet<Value>,
}

impl Folding {
    /// Takes a value that counts. A sum that leaves its range is null and stays null: `add` gives null for null.
    fn take(&mut self, item: Value) {
        match (self.kind, self.value.take()) {
            (FoldKind::Count, _) => self.count += 1,
            (FoldKind::CountDistinct, _) => _ = self.distinct.insert(item),
            (FoldKind::Sum, Some(total)) => self.value = Some(add(&total, &item, 1)),
            (FoldKind::Min, Some(least)) => self.value = Some(least.min(item)),
            (FoldKind::Max, Some(most)) => self.value = Some(most.max(item)),
            (FoldKind::Sum | FoldKind::Min | FoldKind::Max, None) => self.value = Some(item),
            _ => {}
        }
    }
}

/// An instance of a rule: the rule's body with the variables of its `per` bound to one combination of values. A rule `per v in
/// vendors: …` has an instance for each vendor, and each is scored by itself.
pub struct Instance<'i, 'j, 'a, R: Records> {
    /// What the variables are bound to, in order; a row or a member of a set by its id.
    pub at: SmallVec<[Value; 2]>,
    judge: &'j Judge<'a, R>,
    env: &'i mut Env<Rows<'j, 'a, R>>,
}

impl<R: Records> Instance<'_, '_, '_, R> {
    /// Whether an expression that was checked inside the rule's `per` holds for this instance.
    pub fn holds(&mut self, expr: &Expr) -> bool {
        walk::truth(&mut Rows { judge: self.judge }, expr, self.env)
    }

    /// The value of an expression that was checked inside the rule's `per`, for this instance.
    pub fn value(&mut self, expr: &Expr) -> Value {
        walk::value(&mut Rows { judge: self.judge }, expr, self.env)
    }
}

/// Which of the two worlds a row was read from; what is reached from it stays there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum World {
    /// [`Judge::world`], the one under judgement.
    Now,
    /// [`Judge::before`].
    Before,
}

/// The algebra of plain values: a truth is a boolean, always known, and a row is one of the records.
pub struct Rows<'j, 'a, R: Records> {
    judge: &'j Judge<'a, R>,
}

impl<'a, R: Records> Rows<'_, 'a, R> {
    fn records(&self, world: World) -> &'a R {
        match world {
            World::Now => self.judge.world,
            World::Before => self.judge.before,
        }
    }
}

impl<R: Records> Algebra for Rows<'_, '_, R> {
    type Value = Value;
    type Truth = bool;
    type Row = (World, R::Row);
    type Folding = Folding;

    fn constant(&mut self, value: &Value) -> Value {
        value.clone()
    }
    fn truth(&mut self, known: bool) -> bool {
        known
    }
    fn known(&self, truth: &bool) -> Option<bool> {
        Some(*truth)
    }

    fn now(&mut self) -> Value {
        Value::DateTime(self.judge.now)
    }
    fn actor(&mut self) -> Option<Self::Row> {
        self.judge.actor.clone().map(|row| (World::Now, row))
    }
    fn subject_before(&mut self) -> Option<Self::Row> {
        self.judge.subject_before.clone().map(|row| (World::Before, row))
    }
    fn created(&mut self) -> bool {
        self.judge.subject_before.is_none()
    }
    fn deleted(&mut self) -> bool {
        self.judge.deleted
    }
    fn changed(&mut self, field: FieldId) -> bool {
        let read =
            |records: &R, row: &Option<R::Row>| row.as_ref().map_or(Value::Null, |row| records.field(row, field));
        read(self.judge.world, &self.judge.subject) != read(self.judge.before, &self.judge.subject_before)
    }

    fn field(&mut self, (world, row): &Self::Row, field: FieldId) -> Value {
        self.records(*world).field(row, field)
    }
    fn follow(&mut self, (world, _): &Self::Row, value: &Value, relation: RelationId) -> Option<Self::Row> {
        let row = self.records(*world).row(relation, value.as_ref_id()?)?;
        Some((*world, row))
    }
    fn select(&mut self, relation: RelationId, tests: &[Test<'_, Value>], each: &mut EachRow<'_, Self>) {
        let world = self.judge.world;
        world.select(relation, tests, &mut |row| each(self, (World::Now, row), true));
    }
    fn member(&mut self, set: SetId, at: usize) -> Option<Value> {
        self.judge.facts.member(set, at)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        add(&a, &b, 1)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        match (&a, &b) {
            (Value::Date(a), Value::Date(b)) => Value::Duration((i64::from(a.0) - i64::from(b.0)) * DAY),
            (Value::DateTime(a), Value::DateTime(b)) => Value::Duration(a.0 - b.0),
            _ => add(&a, &b, -1),
        }
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        let product = a.as_number().zip(b.as_number()).and_then(|(x, y)| x.checked_mul(y));
        match (product, &a, &b) {
            (None, _, _) => Value::Null,
            (Some(n), Value::Money(_), _) | (Some(n), _, Value::Money(_)) => Value::Money(n),
            (Some(n), Value::Quantity(_), _) | (Some(n), _, Value::Quantity(_)) => Value::Quantity(n),
            (Some(n), Value::Duration(_), _) | (Some(n), _, Value::Duration(_)) => Value::Duration(n),
            (Some(n), _, _) => Value::Int(n),
        }
    }
    fn span(&mut self, count: Value, unit: Unit) -> Value {
        let Value::Int(count) = count else { return Value::Null };
        let seconds = match unit {
            Unit::Months => return Value::Int(count),
            Unit::Days => DAY,
            Unit::Hours => 3600,
            Unit::Minutes => 60,
            Unit::Seconds => 1,
        };
        count.checked_mul(seconds).map_or(Value::Null, Value::Duration)
    }
    fn call(&mut self, function: &Function, arguments: Vec<Value>) -> Value {
        call(function, arguments)
    }
    fn fact(&mut self, fact: FactId, arguments: &[Value]) -> Value {
        self.judge.facts.fact(fact, arguments)
    }
    fn fold(&mut self, kind: FoldKind) -> Folding {
        Folding { kind, count: 0, value: None, distinct: BTreeSet::new() }
    }
    fn take(&mut self, folding: &mut Folding, guard: bool, item: Value) {
        // Everything but `count` skips nulls, as the aggregates of SQL do.
        if guard && (folding.kind == FoldKind::Count || !item.is_null()) {
            folding.take(item);
        }
    }
    fn folded(&mut self, folding: Folding, outer: Option<Value>) -> Value {
        match folding.kind {
            FoldKind::Count => Value::Int(folding.count),
            FoldKind::CountDistinct => Value::Int(folding.distinct.len() as i64),
            _ => folding.value.or(outer).unwrap_or(Value::Null),
        }
    }

    fn compare(&mut self, op: Compare, a: Value, b: Value) -> bool {
        compare(op, &a, &b)
    }
    fn is_null(&mut self, value: Value) -> bool {
        value.is_null()
    }
    fn text(&mut self, op: TextOp, a: Value, b: Value) -> bool {
        text_test(op, &a, &b)
    }
    fn holds(&mut self, value: Value) -> bool {
        value == Value::Bool(true)
    }
    fn in_ancestors(&mut self, row: Value, start: Value, relation: RelationId, field: FieldId) -> bool {
        // Agents can write a folder into itself, so the way up may be a circle.
        let mut seen = BTreeSet::new();
        let mut at = start.as_ref_id();
        while let Some(id) = at {
            if Value::Ref(id) == row {
                return true;
            }
            if !seen.insert(id) {
                return false;
            }
            at = self.judge.world.row(relation, id).and_then(|r| self.judge.world.field(&r, field).as_ref_id());
        }
        false
    }
    fn not(&mut self, truth: bool) -> bool {
        !truth
    }
    fn and(&mut self, truths: Vec<bool>) -> bool {
        truths.into_iter().all(|t| t)
    }
    fn or(&mut self, truths: Vec<bool>) -> bool {
        truths.into_iter().any(|t| t)
    }
    fn schedule(&mut self, kind: FoldKind, items: Vec<(bool, Vec<Value>)>, limit: Option<Value>) -> bool {
        schedule(kind, items, limit)
    }
}

/// Whether a row passes a test of a filter. A path that breaks off at a null on the way passes only `= null`.
pub fn passes<R: Records>(records: &R, row: &R::Row, test: &Test<'_, Value>) -> bool {
    let Some(((_, last), steps)) = test.path.split_last() else { return false };
    let mut row = row.clone();
    for (at, (_, field)) in steps.iter().enumerate() {
        let next = records.field(&row, *field).as_ref_id().and_then(|id| records.row(test.path[at + 1].0, id));
        match next {
            Some(next) => row = next,
            None => return test.op == TestOp::IsNull,
        }
    }
    let value = records.field(&row, *last);
    meets(&value, test.op, test.with.values())
}

/// Whether a value meets a test with these operands: one for a comparison, any number for `in`, none for the tests for null.
pub fn meets(value: &Value, op: TestOp, values: &[Value]) -> bool {
    match op {
        TestOp::IsNull => value.is_null(),
        TestOp::NotNull => !value.is_null(),
        TestOp::Compare(op) => values.first().is_some_and(|other| compare(op, value, other)),
        TestOp::Text(op) => values.first().is_some_and(|other| text_test(op, value, other)),
        TestOp::In => !value.is_null() && values.contains(value),
        TestOp::NotIn => !value.is_null() && !values.contains(value),
    }
}

/// A comparison of two values of one type; false if either is null.
pub fn compare(op: Compare, a: &Value, b: &Value) -> bool {
    if a.is_null() || b.is_null() {
        return false;
    }
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Gt => a > b,
        Compare::Ge => a >= b,
    }
}

/// A test on text; false if either side is null. `contains` does not regard case.
pub fn text_test(op: TextOp, a: &Value, b: &Value) -> bool {
    let (Value::Text(a), Value::Text(b)) = (a, b) else { return false };
    match op {
        TextOp::Contains => contains(a, b),
        TextOp::StartsWith => a.starts_with(&**b),
        TextOp::EndsWith => a.ends_with(&**b),
    }
}

/// Whether a text contains another, without regard to case.
pub fn contains(text: &str, part: &str) -> bool {
    // Nearly all texts are ASCII, and then neither has to be copied to lower case.
    if text.is_ascii() && part.is_ascii() {
        return part.is_empty() || text.as_bytes().windows(part.len()).any(|w| w.eq_ignore_ascii_case(part.as_bytes()));
    }
    text.to_lowercase().contains(&part.to_lowercase())
}

/// `a + sign * b`. A whole number beside a date is a number of months: the checker lets nothing else through.
fn add(a: &Value, b: &Value, sign: i64) -> Value {
    let sum = |x: i64, y: i64| y.checked_mul(sign).and_then(|y| x.checked_add(y));
    let result = match (a, b) {
        (Value::Int(x), Value::Int(y)) => sum(*x, *y).map(Value::Int),
        (Value::Money(x), Value::Money(y)) => sum(*x, *y).map(Value::Money),
        (Value::Quantity(x), Value::Quantity(y)) => sum(*x, *y).map(Value::Quantity),
        (Value::Duration(x), Value::Duration(y)) => sum(*x, *y).map(Value::Duration),
        (Value::Date(d), Value::Duration(s)) if s % DAY == 0 => d.add_days(sign * s / DAY).map(Value::Date),
        (Value::DateTime(t), Value::Duration(s)) => {
            s.checked_mul(sign).and_then(|s| t.add_seconds(s)).map(Value::DateTime)
        }
        (Value::Date(d), Value::Int(n)) => n.checked_mul(sign).and_then(|n| d.add_months(n)).map(Value::Date),
        (Value::DateTime(t), Value::Int(n)) => n.checked_mul(sign).and_then(|n| t.add_months(n)).map(Value::DateTime),
        _ => None,
    };
    result.unwrap_or(Value::Null)
}

/// The built-in functions. One whose argument is null, or of a kind that the checker would not let through, gives null.
fn call(function: &Function, arguments: Vec<Value>) -> Value {
    let date = |value: &Value| match value {
        Value::Date(date) => Some(*date),
        Value::DateTime(instant) => Some(instant.date()),
        _ => None,
    };
    let first = arguments.first().unwrap_or(&Value::Null);
    match function {
        Function::Length => match first {
            Value::Text(text) => Value::Int(text.chars().count() as i64),
            _ => Value::Null,
        },
        Function::Compact => match first {
            Value::Text(text) => match text.chars().filter(|c| c.is_alphanumeric()).collect::<String>() {
                // Nothing is left, and nothing is in every text.
                none if none.is_empty() => Value::Null,
                left => Value::text(left),
            },
            _ => Value::Null,
        },
        Function::TimeOf => match first {
            Value::DateTime(instant) => Value::Time(instant.time()),
            _ => Value::Null,
        },
        Function::DateOf => date(first).map_or(Value::Null, Value::Date),
        Function::MonthOf => match first {
            Value::Date(date) => Value::Date(date.first_of_month()),
            Value::DateTime(instant) => Value::DateTime(instant.date().first_of_month().midnight()),
            _ => Value::Null,
        },
        Function::YearOf => date(first).map_or(Value::Null, |d| Value::Int(i64::from(d.civil().0))),
        Function::Weekday => date(first).map_or(Value::Null, |d| Value::Int(i64::from(d.weekday()) + 1)),
        Function::WeekdayWord(words) => date(first).map_or(Value::Null, |d| Value::Enum(words[d.weekday() as usize])),
        Function::Matrix { last } => match (first, arguments.get(1)) {
            (Value::Enum(a), Some(Value::Enum(b))) => Value::Enum(a.saturating_add(*b).min(*last)),
            _ => Value::Null,
        },
        Function::Abs => match first {
            Value::Int(n) => n.checked_abs().map_or(Value::Null, Value::Int),
            Value::Money(n) => n.checked_abs().map_or(Value::Null, Value::Money),
            Value::Quantity(n) => n.checked_abs().map_or(Value::Null, Value::Quantity),
            Value::Duration(n) => n.checked_abs().map_or(Value::Null, Value::Duration),
            _ => Value::Null,
        },
        Function::Least | Function::Greatest if arguments.iter().any(Value::is_null) => Value::Null,
        Function::Least => arguments.into_iter().min().unwrap_or(Value::Null),
        Function::Greatest => arguments.into_iter().max().unwrap_or(Value::Null),
    }
}

/// `no_overlap` and `cumulative`. Intervals are half open, so they may touch; one without a start or an end cannot be judged,
/// and does not pass. Both look at all pairs, which is fine for the dozens of builds and shifts that tasks have.
fn schedule(kind: FoldKind, items: Vec<(bool, Vec<Value>)>, limit: Option<Value>) -> bool {
    let items: Vec<Vec<Value>> = items.into_iter().filter(|(there, _)| *there).map(|(_, values)| values).collect();
    if items.iter().flatten().any(Value::is_null) {
        return false;
    }
    let overlaps = |a: &[Value], b: &[Value]| a[0] < b[1] && b[0] < a[1];
    if kind == FoldKind::NoOverlap {
        return items.iter().enumerate().all(|(at, a)| items[..at].iter().all(|b| !overlaps(a, b)));
    }
    // The load changes only where an interval starts, so it is enough to look there.
    let Some(limit) = limit.filter(|limit| !limit.is_null()) else { return false };
    items.iter().filter(|at| at[0] < at[1]).all(|at| {
        let load = items
            .iter()
            .filter(|other| other[0] <= at[0] && at[0] < other[1])
            .map(|other| other[2].clone())
            .reduce(|total, load| add(&total, &load, 1));
        load.is_none_or(|load| compare(Compare::Le, &load, &limit))
    })
}
