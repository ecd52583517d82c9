//! The one interpreter of the tree. It knows scopes, binders, filters, folds and short circuits; what a value, a truth and a
//! row *are* it leaves to an [`Algebra`]. The evaluator's truths are booleans; those of the solver's translation are formulas over
//! decisions that nobody has taken yet. A rule has one meaning because there is one walk.
//!
//! Two ideas carry it. **Guards**: an element of a fold comes with the truth that it is there at all. Over records that is
//! always `true`; over candidate rows it is the solver's choice to use the row. **Known truths**: an algebra says of a truth
//! whether it is already decided ([`Algebra::known`]), and the walk then skips what cannot matter. For booleans this is the
//! usual short circuit; for formulas it is constant folding, which keeps the model small.

use crate::{Binder, Compare, Expr, Fold, FoldKind, Function, Path, Source, TestOp, TextOp, Unit};
use benchwright_base::{FactId, FieldId, RelationId, SetId, Value};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// A test of a filter, `state = open` in `case(state = open)`, with its right side already computed: it is read outside the
/// binder, so it is the same for every row.
#[derive(Clone, Debug)]
pub struct Test<'e, V> {
    /// The fields that lead from the tested row to the value, at least one.
    pub path: &'e [(RelationId, FieldId)],
    /// How that value is compared.
    pub op: TestOp,
    /// What it is compared with: as many values as `op` takes.
    pub with: Operand<V>,
}

/// The values a test compares with. Nearly always there is one, and it costs no allocation.
#[derive(Clone, Debug)]
pub enum Operand<V> {
    /// The one value of a comparison or a test on text.
    One(V),
    /// Several for `in`, none for null tests.
    Many(Vec<V>),
}

impl<V> Operand<V> {
    /// The values as a list, whichever form they are in.
    pub fn values(&self) -> &[V] {
        match self {
            Operand::One(value) => std::slice::from_ref(value),
            Operand::Many(values) => values,
        }
    }
}

/// What [`Algebra::select`] calls with each row it finds and the truth that the row is there and passes. `Break` ends the
/// selection early, as `exists` does at the first hit.
pub type EachRow<'f, A> = dyn FnMut(&mut A, <A as Algebra>::Row, <A as Algebra>::Truth) -> ControlFlow<()> + 'f;

/// What values, truths and rows are, and what is done with them. No method can fail: what an algebra cannot express it notes
/// for itself and answers with something harmless, as the solver's translation does.
pub trait Algebra: Sized {
    /// A value: a number, a word, a row's id.
    type Value: Clone;
    /// A truth: a boolean, or a formula.
    type Truth: Clone;
    /// A row that a variable is bound to.
    type Row: Clone;
    /// The state of a `count`, `sum`, `min` or `max` between two elements: an accumulator.
    type Folding;

    /// A constant that stands in the expression.
    fn constant(&mut self, value: &Value) -> Self::Value;
    /// A truth that is known without looking at anything.
    fn truth(&mut self, known: bool) -> Self::Truth;
    /// Whether a truth is known already; the walk then skips what cannot matter.
    fn known(&self, truth: &Self::Truth) -> Option<bool>;

    /// The instant of the world's clock.
    fn now(&mut self) -> Self::Value;
    /// The person who acts; `None` where nobody does, and everything about them is null.
    fn actor(&mut self) -> Option<Self::Row>;
    /// The row under judgement as it was before; `None` for a new one, and everything about it is null.
    fn subject_before(&mut self) -> Option<Self::Row>;
    /// Whether the row under judgement is new.
    fn created(&mut self) -> Self::Truth;
    /// Whether the row under judgement is gone.
    fn deleted(&mut self) -> Self::Truth;
    /// Whether a field of the row under judgement differs from before.
    fn changed(&mut self, field: FieldId) -> Self::Truth;

    /// A field of a row; field 0 is its id.
    fn field(&mut self, row: &Self::Row, field: FieldId) -> Self::Value;
    /// The row that a value read from `from` refers to; `None` for null. `from` says in which world to look: what is reached
    /// from an old row is old.
    fn follow(&mut self, from: &Self::Row, value: &Self::Value, relation: RelationId) -> Option<Self::Row>;
    /// Every row that may pass the tests, each with the truth that it exists and passes. Rows that certainly do not are left
    /// out.
    fn select(&mut self, relation: RelationId, tests: &[Test<'_, Self::Value>], each: &mut EachRow<'_, Self>);
    /// A member of a set by its place; `None` past the last.
    fn member(&mut self, set: SetId, at: usize) -> Option<Self::Value>;

    /// `a + b`
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a - b`
    fn sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a * b`
    fn mul(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `count unit`, such as `60 days`.
    fn span(&mut self, count: Self::Value, unit: Unit) -> Self::Value;
    /// A built-in function of arguments that the checker counted.
    fn call(&mut self, function: &Function, arguments: Vec<Self::Value>) -> Self::Value;
    /// A fact of arguments that the checker counted.
    fn fact(&mut self, fact: FactId, arguments: &[Self::Value]) -> Self::Value;
    /// A fold to a value begins: the accumulator before any element.
    fn fold(&mut self, kind: FoldKind) -> Self::Folding;
    /// The accumulator takes an element, which counts only where its guard holds.
    fn take(&mut self, folding: &mut Self::Folding, guard: Self::Truth, item: Self::Value);
    /// What the fold comes to. `outer` is `else` of `min` and `max` and the zero of `sum`, for when there was no element.
    fn folded(&mut self, folding: Self::Folding, outer: Option<Self::Value>) -> Self::Value;

    /// `a op b`; false where either is null.
    fn compare(&mut self, op: Compare, a: Self::Value, b: Self::Value) -> Self::Truth;
    /// Whether a value is null.
    fn is_null(&mut self, value: Self::Value) -> Self::Truth;
    /// `a op b` on texts; false where either is null.
    fn text(&mut self, op: TextOp, a: Self::Value, b: Self::Value) -> Self::Truth;
    /// A boolean value as a truth; null does not hold.
    fn holds(&mut self, value: Self::Value) -> Self::Truth;
    /// Whether `row` is `start` or one of those reached from it by following `field` again and again.
    fn in_ancestors(
        &mut self,
        row: Self::Value,
        start: Self::Value,
        relation: RelationId,
        field: FieldId,
    ) -> Self::Truth;
    /// The opposite of a truth.
    fn not(&mut self, truth: Self::Truth) -> Self::Truth;
    /// Conjunction of two or more truths that are not known; the walk has dealt with those that are.
    fn and(&mut self, truths: Vec<Self::Truth>) -> Self::Truth;
    /// Disjunction of two or more truths that are not known.
    fn or(&mut self, truths: Vec<Self::Truth>) -> Self::Truth;
    /// `no_overlap` of intervals (start, end), or `cumulative` of (start, end, load) under a limit. They are handed over whole
    /// because solvers have constraints for just these.
    fn schedule(
        &mut self,
        kind: FoldKind,
        items: Vec<(Self::Truth, Vec<Self::Value>)>,
        limit: Option<Self::Value>,
    ) -> Self::Truth;
}

/// What a slot is bound to while the walk is inside its binder.
#[derive(Clone)]
pub enum Bound<A: Algebra> {
    /// A member of a set or a number of a range; it has no fields.
    Value(A::Value),
    /// A row, whose fields can be read.
    Row(A::Row),
    /// Rows that a name in scope stands for; only a fold reads them.
    Rows(Vec<A::Row>),
}

/// The environment: what the slots are bound to, outermost first. Nearly always it costs no allocation.
pub type Env<A> = SmallVec<[Bound<A>; 4]>;

/// What [`elements`] calls for each combination of bound variables, with the guard under which that combination counts.
type EachElement<'f, A> = dyn FnMut(&mut A, &mut Env<A>, <A as Algebra>::Truth) -> ControlFlow<()> + 'f;

/// Reads an expression as a value. The checker keeps values and truths apart, so one of the two functions always fits.
pub fn value<A: Algebra>(a: &mut A, expr: &Expr, env: &mut Env<A>) -> A::Value {
    match expr {
        Expr::Literal(value, _) => a.constant(value),
        Expr::Var(slot) => match &env[*slot] {
            Bound::Value(value) => value.clone(),
            // A row where a value is wanted is its id.
            Bound::Row(row) => {
                let row = row.clone();
                a.field(&row, FieldId::ID)
            }
            Bound::Rows(_) => a.constant(&Value::Null),
        },
        Expr::Field(slot, path) => match &env[*slot] {
            Bound::Row(row) => {
                let row = row.clone();
                follow(a, Some(row), path)
            }
            // A member of a set has no fields, so the path the checker let through is empty; a name in scope that stands for no
            // row is null, and so is what is reached from it.
            Bound::Value(value) => value.clone(),
            Bound::Rows(_) => a.constant(&Value::Null),
        },
        Expr::Old(path) => {
            let row = a.subject_before();
            follow(a, row, path)
        }
        Expr::Actor(path) => {
            let row = a.actor();
            follow(a, row, path)
        }
        Expr::Now => a.now(),
        Expr::Today => {
            let now = a.now();
            a.call(&Function::DateOf, vec![now])
        }
        Expr::Add(x, y) => {
            let (x, y) = (value(a, x, env), value(a, y, env));
            a.add(x, y)
        }
        Expr::Sub(x, y) => {
            let (x, y) = (value(a, x, env), value(a, y, env));
            a.sub(x, y)
        }
        Expr::Mul(x, y) => {
            let (x, y) = (value(a, x, env), value(a, y, env));
            a.mul(x, y)
        }
        Expr::Span(count, unit) => {
            let count = value(a, count, env);
            a.span(count, *unit)
        }
        Expr::Call(function, list) => {
            let list = list.iter().map(|e| value(a, e, env)).collect();
            a.call(function, list)
        }
        Expr::Fact(fact, list) => fact_value(a, *fact, list, env),
        Expr::Lookup { source, path } => {
            let mut found = None;
            rows(a, source, env, &mut |_, _, row, _| {
                // Rows come by id, so the first is the one with the least. Its guard is not asked for: a lookup is never
                // lowered, and over records every row that is found is there.
                found = Some(row);
                ControlFlow::Break(())
            });
            follow(a, found, path)
        }
        Expr::Fold(fold) => fold_value(a, fold, env),
        truth_of => {
            // A truth where a value is wanted cannot come from the checker.
            debug_assert!(false, "{truth_of:?} is a truth");
            a.constant(&Value::Null)
        }
    }
}

// What needs room on the stack for lists is kept out of `value`, which is entered for every small expression and recurses.

#[inline(never)]
fn fact_value<A: Algebra>(a: &mut A, fact: FactId, list: &[Expr], env: &mut Env<A>) -> A::Value {
    let list: SmallVec<[A::Value; 2]> = list.iter().map(|e| value(a, e, env)).collect();
    a.fact(fact, &list)
}

#[inline(never)]
fn fold_value<A: Algebra>(a: &mut A, fold: &Fold, env: &mut Env<A>) -> A::Value {
    let mut folding = a.fold(fold.kind);
    let _ = elements(a, &fold.binders, env, None, &mut |a, env, guard| {
        // `count` has no body: every element counts one.
        let item = match fold.body.first() {
            Some(body) => value(a, body, env),
            None => a.constant(&Value::Int(1)),
        };
        a.take(&mut folding, guard, item);
        ControlFlow::Continue(())
    });
    let outer = fold.outer.as_ref().map(|e| value(a, e, env));
    a.folded(folding, outer)
}

/// Reads an expression as a truth.
pub fn truth<A: Algebra>(a: &mut A, expr: &Expr, env: &mut Env<A>) -> A::Truth {
    match expr {
        Expr::Truth(known) => a.truth(*known),
        Expr::Holds(x) => {
            let x = value(a, x, env);
            a.holds(x)
        }
        Expr::Compare(op, x, y) => {
            let (x, y) = (value(a, x, env), value(a, y, env));
            a.compare(*op, x, y)
        }
        Expr::IsNull(x) => {
            let x = value(a, x, env);
            a.is_null(x)
        }
        Expr::Text(op, x, y) => {
            let (x, y) = (value(a, x, env), value(a, y, env));
            a.text(*op, x, y)
        }
        // `x in {a, b}` is `x = a or x = b`, but `x` is read once.
        Expr::In(x, list) => {
            let x = value(a, x, env);
            join(a, false, list, &mut |a, e| {
                let y = value(a, e, env);
                a.compare(Compare::Eq, x.clone(), y)
            })
        }
        Expr::InAncestors(row, start, field) => {
            // The field refers to its own relation, which is where the last step of the path stands.
            let relation = match &**start {
                Expr::Field(_, path) | Expr::Old(path) | Expr::Actor(path) => {
                    path.last().map(|(relation, _)| *relation)
                }
                _ => None,
            };
            let (row, start) = (value(a, row, env), value(a, start, env));
            match relation {
                Some(relation) => a.in_ancestors(row, start, relation, *field),
                None => a.truth(false),
            }
        }
        Expr::Not(x) => {
            let x = truth(a, x, env);
            a.not(x)
        }
        Expr::And(list) => join(a, true, list, &mut |a, e| truth(a, e, env)),
        Expr::Or(list) => join(a, false, list, &mut |a, e| truth(a, e, env)),
        // `x implies y` is `not x or y`; where `x` is known to be false, `y` is never read.
        Expr::Implies(x, y) => {
            let x = truth(a, x, env);
            let x = a.not(x);
            if a.known(&x) == Some(true) {
                return x;
            }
            let y = truth(a, y, env);
            pair(a, false, x, y)
        }
        Expr::Created => a.created(),
        Expr::Deleted => a.deleted(),
        Expr::Changed(field) => a.changed(*field),
        Expr::Fold(fold) => fold_truth(a, fold, env),
        value_of => {
            // A value where a truth is wanted cannot come from the checker; nothing unchecked passes.
            debug_assert!(false, "{value_of:?} is a value");
            a.truth(false)
        }
    }
}

/// `all`, `exists`, `none` and the two constraints on intervals.
fn fold_truth<A: Algebra>(a: &mut A, fold: &Fold, env: &mut Env<A>) -> A::Truth {
    if matches!(fold.kind, FoldKind::NoOverlap | FoldKind::Cumulative) {
        let mut items = Vec::new();
        let _ = elements(a, &fold.binders, env, None, &mut |a, env, guard| {
            items.push((guard, fold.body.iter().map(|e| value(a, e, env)).collect()));
            ControlFlow::Continue(())
        });
        let limit = fold.outer.as_ref().map(|e| value(a, e, env));
        return a.schedule(fold.kind, items, limit);
    }
    // `exists` looks for an element that decides; `none` is its negation; `all` is `none` of the counterexamples.
    let all = fold.kind == FoldKind::All;
    let mut decided = false;
    let mut open = Vec::new();
    let _ = elements(a, &fold.binders, env, None, &mut |a, env, guard| {
        let body = match fold.body.first() {
            Some(body) => truth(a, body, env),
            None => a.truth(true),
        };
        let body = if all { a.not(body) } else { body };
        let hit = pair(a, true, guard, body);
        match a.known(&hit) {
            Some(true) => {
                decided = true;
                ControlFlow::Break(())
            }
            Some(false) => ControlFlow::Continue(()),
            None => {
                open.push(hit);
                ControlFlow::Continue(())
            }
        }
    });
    let some = if decided { a.truth(true) } else { combined(a, false, open) };
    if fold.kind == FoldKind::Exists { some } else { a.not(some) }
}

/// Calls `each` for every combination of the binders' variables, as nested loops would, with the guard under which it counts:
/// all rows exist, pass their filters and satisfy the conditions. Combinations that certainly do not are never entered.
/// `guard` is the guard of the loops outside, `None` for the outermost.
pub fn elements<A: Algebra>(
    a: &mut A,
    binders: &[Binder],
    env: &mut Env<A>,
    guard: Option<A::Truth>,
    each: &mut EachElement<'_, A>,
) -> ControlFlow<()> {
    let Some((binder, rest)) = binders.split_first() else {
        let guard = guard.unwrap_or_else(|| a.truth(true));
        return each(a, env, guard);
    };
    let mut enter = |a: &mut A, env: &mut Env<A>, bound: Bound<A>, exists: Option<A::Truth>| {
        env.push(bound);
        let mut guard = match (guard.clone(), exists) {
            (Some(outer), Some(exists)) => pair(a, true, outer, exists),
            (Some(truth), None) | (None, Some(truth)) => truth,
            (None, None) => a.truth(true),
        };
        if let Some(condition) = &binder.condition
            && a.known(&guard) != Some(false)
        {
            let condition = truth(a, condition, env);
            guard = pair(a, true, guard, condition);
        }
        let flow = if a.known(&guard) == Some(false) {
            ControlFlow::Continue(())
        } else {
            elements(a, rest, env, Some(guard), each)
        };
        env.pop();
        flow
    };
    match &binder.source {
        Source::Rows { .. } => {
            let mut flow = ControlFlow::Continue(());
            rows(a, &binder.source, env, &mut |a, env, row, exists| {
                flow = enter(a, env, Bound::Row(row), Some(exists));
                flow
            });
            flow
        }
        Source::Set(set) => {
            let mut at = 0;
            while let Some(member) = a.member(*set, at) {
                enter(a, env, Bound::Value(member), None)?;
                at += 1;
            }
            ControlFlow::Continue(())
        }
        Source::Range(low, high) => (*low..=*high).try_for_each(|n| {
            let n = a.constant(&Value::Int(n));
            enter(a, env, Bound::Value(n), None)
        }),
        Source::Given(slot) => {
            let rows = match &env[*slot] {
                Bound::Rows(rows) => rows.clone(),
                Bound::Row(_) | Bound::Value(_) => Vec::new(),
            };
            rows.into_iter().try_for_each(|row| enter(a, env, Bound::Row(row), None))
        }
    }
}

/// The rows of a source. The right sides of its tests are read once, in the outer scope, before any row is bound.
fn rows<A: Algebra>(
    a: &mut A,
    source: &Source,
    env: &mut Env<A>,
    each: &mut impl FnMut(&mut A, &mut Env<A>, A::Row, A::Truth) -> ControlFlow<()>,
) {
    let Source::Rows { relation, tests } = source else { return };
    let mut each = |a: &mut A, env: &mut Env<A>, tests: &[Test<'_, A::Value>]| {
        a.select(*relation, tests, &mut |a, row, exists| each(a, env, row, exists));
    };
    match tests.as_slice() {
        // Nearly always there is one test at most, and it costs no allocation.
        [] => each(a, env, &[]),
        [one] => {
            let one = read_test(a, one, env);
            each(a, env, &[one]);
        }
        many => {
            let many: Vec<_> = many.iter().map(|test| read_test(a, test, env)).collect();
            each(a, env, &many);
        }
    }
}

/// A test with its right side computed.
fn read_test<'e, A: Algebra>(
    a: &mut A,
    (path, op, values): &'e (Path, TestOp, Vec<Expr>),
    env: &mut Env<A>,
) -> Test<'e, A::Value> {
    let with = match values.as_slice() {
        [one] => Operand::One(value(a, one, env)),
        many => Operand::Many(many.iter().map(|e| value(a, e, env)).collect()),
    };
    Test { path, op: *op, with }
}

/// What a path reaches from a row: the row's id if the path is empty, null as soon as a reference on the way is null.
pub(crate) fn follow<A: Algebra>(a: &mut A, row: Option<A::Row>, path: &Path) -> A::Value {
    let Some(mut row) = row else { return a.constant(&Value::Null) };
    let Some(((_, last), steps)) = path.split_last() else { return a.field(&row, FieldId::ID) };
    for (at, (_, field)) in steps.iter().enumerate() {
        let reference = a.field(&row, *field);
        match a.follow(&row, &reference, path[at + 1].0) {
            Some(next) => row = next,
            None => return a.constant(&Value::Null),
        }
    }
    a.field(&row, *last)
}

/// `and` (when `all`) or `or` over items, stopping at the first that decides.
fn join<A: Algebra>(a: &mut A, all: bool, items: &[Expr], read: &mut dyn FnMut(&mut A, &Expr) -> A::Truth) -> A::Truth {
    let mut open = Vec::new();
    for item in items {
        let truth = read(a, item);
        match a.known(&truth) {
            // False decides a conjunction, true a disjunction; the other one of the two changes nothing.
            Some(known) if known != all => return truth,
            Some(_) => {}
            None => open.push(truth),
        }
    }
    combined(a, all, open)
}

/// [`join`] of two truths that are already read.
fn pair<A: Algebra>(a: &mut A, all: bool, x: A::Truth, y: A::Truth) -> A::Truth {
    match (a.known(&x), a.known(&y)) {
        (Some(known), _) if known != all => x,
        (_, Some(known)) if known != all => y,
        (Some(_), _) => y,
        (_, Some(_)) => x,
        (None, None) if all => a.and(vec![x, y]),
        (None, None) => a.or(vec![x, y]),
    }
}

/// What is left of a conjunction or disjunction once known truths are gone: nothing, one truth, or a formula of several.
fn combined<A: Algebra>(a: &mut A, all: bool, mut open: Vec<A::Truth>) -> A::Truth {
    match open.len() {
        0 => a.truth(all),
        1 => open.swap_remove(0),
        _ if all => a.and(open),
        _ => a.or(open),
    }
}
