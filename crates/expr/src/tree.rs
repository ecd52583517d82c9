//! The typed tree that the checker produces: every name is a number, every type is known to fit, and conditions (truths) are
//! kept apart from values. Whoever walks it can rely on that and needs no error path.
//!
//! Variables are slots, counted outermost first (de Bruijn levels), so a walk keeps what is bound in a plain list.

use benchwright_base::{EnumId, FactId, FieldId, RelationId, SetId, Value};

/// The type of a value. Each has its kind of [`Value`], but for `Months`, which is a whole number while it is computed with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// A yes or no as a value, such as a field. A condition has no type.
    Bool,
    /// A whole number without a unit.
    Int,
    /// Money in minor units (hundredths).
    Money,
    /// A quantity in thousandths.
    Quantity,
    /// Text; it can be tested and compared for equality, but has no order.
    Text,
    /// A day, which only whole days and months can move.
    Date,
    /// An instant to the second, in UTC.
    DateTime,
    /// A time of day, to the second.
    Time,
    /// A length of time in seconds.
    Duration,
    /// A number of months: only to be added to or taken from a date.
    Months,
    /// A word of one enumeration; words of two enumerations cannot be compared.
    Enum(EnumId),
    /// A row of one relation.
    Ref(RelationId),
    /// The type of `null`, which fits every other.
    Null,
}

/// Which bound variable: a place in the list of what is bound at that point, outermost first. Slot 0 is the row under
/// judgement where there is one.
pub type Slot = usize;

/// Fields followed from a row, each but the last a reference to a row of the next step's relation.
pub type Path = Vec<(RelationId, FieldId)>;

/// The comparisons of values. All are false where either side is null, `!=` too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// The tests on text. All are false where either side is null.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TextOp {
    /// `contains`, without regard to case
    Contains,
    /// `starts_with`, with regard to case
    StartsWith,
    /// `ends_with`, with regard to case
    EndsWith,
}

/// The test of a filter: `field op value` in `t(field op value)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TestOp {
    /// A comparison with one value.
    Compare(Compare),
    /// A test on text.
    Text(TextOp),
    /// One of several values.
    In,
    /// None of several values (and not null).
    NotIn,
    /// `= null`
    IsNull,
    /// `!= null`
    NotNull,
}

/// A unit of a span of time: `60 days`, `sla.target_minutes minutes`. All but months become a number of seconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// `n seconds`
    Seconds,
    /// `n minutes`, 60 seconds each
    Minutes,
    /// `n hours`, 3,600 seconds each
    Hours,
    /// `n days`, 86,400 seconds each: there are no time zones, so no day is longer
    Days,
    /// `n months` of the calendar, which have no fixed length and are only added to dates and instants
    Months,
}

/// The built-in functions, resolved and with what the checker learned from their surroundings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Function {
    /// `length(text)`: number of characters.
    Length,
    /// `compact(text)`: its letters and digits, so that a number is known however it is spaced; null if there are none.
    Compact,
    /// `time_of(datetime)`: the time of day.
    TimeOf,
    /// `date_of(datetime)`: the day.
    DateOf,
    /// `month_of(date or datetime)`: the first day or instant of the month.
    MonthOf,
    /// `year_of(date or datetime)`: the year.
    YearOf,
    /// `weekday(date or datetime)` as a number, 1 for Monday to 7 for Sunday.
    Weekday,
    /// `weekday(…)` where an enumeration is expected: the enum word of each day, Monday first.
    WeekdayWord([u16; 7]),
    /// `matrix(a, b)`: the word of the expected enumeration at the sum of the two words' places; `last` is its last place.
    Matrix {
        /// The last place of the expected enumeration: larger sums end there.
        last: u16,
    },
    /// `abs(n)` of any type of number; the type stays.
    Abs,
    /// `min(a, b, …)` of values of one type; null if one is null. The smallest over rows is [`FoldKind::Min`].
    Least,
    /// `max(a, b, …)`, likewise.
    Greatest,
}

/// What a binder ranges over.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// The rows of a relation that pass every test. A test's value is read in the scope **outside** the binder.
    Rows {
        /// Whose rows.
        relation: RelationId,
        /// The tests: a path from the row, the operator, and its values (one, or several for `in`).
        tests: Vec<(Path, TestOp, Vec<Expr>)>,
    },
    /// The members of a named finite set.
    Set(SetId),
    /// Whole numbers, both ends included.
    Range(i64, i64),
    /// The rows that a name in scope stands for, by its slot.
    Given(Slot),
}

impl Source {
    /// What it reads of its rows by itself: their ids and the fields of its tests.
    fn reads(&self, each: &mut dyn FnMut(RelationId, FieldId)) {
        if let Source::Rows { relation, tests } = self {
            each(*relation, FieldId::ID);
            tests.iter().for_each(|(path, _, _)| reads_path(path, each));
        }
    }
}

fn reads_path(path: &Path, each: &mut dyn FnMut(RelationId, FieldId)) {
    path.iter().for_each(|(relation, field)| each(*relation, *field));
}

/// A variable and what it ranges over. It is bound to the next free slot.
#[derive(Clone, PartialEq, Debug)]
pub struct Binder {
    /// The alias, if one was written; `it` for the row of `all t(…)`.
    pub name: Option<String>,
    /// The rows, members or numbers that it takes one after the other.
    pub source: Source,
    /// `where`: a further condition, which sees this variable and those before it. `None` if none was written.
    pub condition: Option<Expr>,
}

impl Binder {
    /// Every field that it reads, as [`Expr::reads`] tells them.
    pub fn reads(&self, each: &mut dyn FnMut(RelationId, FieldId)) {
        self.source.reads(each);
        if let Source::Rows { tests, .. } = &self.source {
            tests.iter().flat_map(|(_, _, values)| values).for_each(|value| value.reads(each));
        }
        if let Some(condition) = &self.condition {
            condition.reads(each);
        }
    }
}

/// What a fold makes of its elements: an aggregate, as SQL would say, or a quantifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FoldKind {
    /// `for …: p`, `all t(…) p`: every element satisfies the body.
    All,
    /// `exists`: some element does (body may be absent).
    Exists,
    /// `none`: no element does (body may be absent).
    None,
    /// `count`: how many elements there are. It has no body.
    Count,
    /// `count distinct … of e`: how many different values the body has; null is none.
    CountDistinct,
    /// `sum … of e`; nulls add nothing, and the sum of none is the typed zero in `outer`.
    Sum,
    /// `min … of e`, nulls left out; of none it is `else`, or null.
    Min,
    /// `max … of e`, nulls left out; of none it is `else`, or null.
    Max,
    /// `no_overlap … of start, end`: half-open intervals do not meet.
    NoOverlap,
    /// `cumulative … of start, end, load, limit`: at no time do the loads of running intervals exceed the limit. The
    /// limit is read in the outer scope.
    Cumulative,
}

/// A fold over the elements of its binders, each seeing those before it: nested loops, innermost last.
#[derive(Clone, PartialEq, Debug)]
pub struct Fold {
    /// What is made of the elements; it also says what `body` and `outer` hold.
    pub kind: FoldKind,
    /// The variables; the first is bound to slot `base`.
    pub binders: Vec<Binder>,
    /// The number of variables bound outside.
    pub base: Slot,
    /// The body: a truth for `All`, `Exists`, `None` (or nothing); one value for `CountDistinct`, `Sum`, `Min`, `Max`;
    /// start and end for `NoOverlap`; start, end and load for `Cumulative`.
    pub body: Vec<Expr>,
    /// `else e` of `min` and `max`, the typed zero of `sum`, the limit of `cumulative`: read in the outer scope.
    pub outer: Option<Box<Expr>>,
}

/// An expression. Variants up to [`Expr::Call`] and [`Expr::Lookup`] are values; the rest are truths.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A constant as it was written, with the type it was read as.
    Literal(Value, Type),
    /// A variable that ranges over a set or a range.
    Var(Slot),
    /// What is reached from the row bound to a slot; an empty path is the row itself, as a reference.
    Field(Slot, Path),
    /// The same from the row under judgement, in the world before.
    Old(Path),
    /// The person who acts, as a reference; or what is reached from them.
    Actor(Path),
    /// The instant of the world's clock.
    Now,
    /// The day of the world's clock.
    Today,
    /// A sum of two: numbers of one type, or a date and a span.
    Add(Box<Expr>, Box<Expr>),
    /// A difference: numbers of one type, a date and a span, or two dates.
    Sub(Box<Expr>, Box<Expr>),
    /// A product; at most one side has a unit.
    Mul(Box<Expr>, Box<Expr>),
    /// A whole number of a unit of time: `60 days`. Months stay a whole number, the rest becomes seconds.
    Span(Box<Expr>, Unit),
    /// A built-in function with as many arguments as it takes.
    Call(Function, Vec<Expr>),
    /// A fact applied to its arguments, such as `moq(v, p)`.
    Fact(FactId, Vec<Expr>),
    /// The value at a path from the first row (by id) that passes the tests; null if there is none.
    Lookup {
        /// A `Rows` source without alias or condition.
        source: Box<Source>,
        /// The path; empty for the row itself.
        path: Path,
    },
    /// A fold; a value or a truth by its kind.
    Fold(Fold),
    /// `true` and `false` as truths.
    Truth(bool),
    /// A boolean value read as a truth; null is false.
    Holds(Box<Expr>),
    /// A comparison; false if either side is null.
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// `e = null`
    IsNull(Box<Expr>),
    /// A test on text; false if either side is null.
    Text(TextOp, Box<Expr>, Box<Expr>),
    /// `e in {a, b}`; false if `e` is null.
    In(Box<Expr>, Vec<Expr>),
    /// `e in ancestors(p)`: whether the row `e` is the row at `p` or one reached from it by following the last field of
    /// `p` again and again.
    InAncestors(Box<Expr>, Box<Expr>, FieldId),
    /// Two-valued negation: `not (a = b)` holds where `a` is null.
    Not(Box<Expr>),
    /// Every one holds; true of an empty list.
    And(Vec<Expr>),
    /// At least one holds; false of an empty list.
    Or(Vec<Expr>),
    /// `a implies b`: the second holds or the first does not.
    Implies(Box<Expr>, Box<Expr>),
    /// The row under judgement did not exist before.
    Created,
    /// The row under judgement exists no more.
    Deleted,
    /// A field of the row under judgement differs from before (before is null for a created row).
    Changed(FieldId),
}

impl Expr {
    /// Whether it is a truth rather than a value.
    pub fn is_truth(&self) -> bool {
        match self {
            Expr::Fold(fold) => matches!(
                fold.kind,
                FoldKind::All | FoldKind::Exists | FoldKind::None | FoldKind::NoOverlap | FoldKind::Cumulative
            ),
            Expr::Truth(_)
            | Expr::Holds(_)
            | Expr::Compare(..)
            | Expr::IsNull(_)
            | Expr::Text(..)
            | Expr::In(..)
            | Expr::InAncestors(..)
            | Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Implies(..)
            | Expr::Created
            | Expr::Deleted
            | Expr::Changed(_) => true,
            _ => false,
        }
    }

    /// Calls `visit` on this expression and on every one inside it.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        let source = |source: &'a Source, visit: &mut dyn FnMut(&'a Expr)| {
            if let Source::Rows { tests, .. } = source {
                tests.iter().flat_map(|(_, _, values)| values).for_each(|e| e.visit(visit));
            }
        };
        match self {
            Expr::Literal(..)
            | Expr::Var(_)
            | Expr::Field(..)
            | Expr::Old(_)
            | Expr::Actor(_)
            | Expr::Now
            | Expr::Today
            | Expr::Truth(_)
            | Expr::Created
            | Expr::Deleted
            | Expr::Changed(_) => {}
            Expr::Add(a, b)
            | Expr::Sub(a, b)
            | Expr::Mul(a, b)
            | Expr::Compare(_, a, b)
            | Expr::Text(_, a, b)
            | Expr::InAncestors(a, b, _)
            | Expr::Implies(a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            Expr::Span(a, _) | Expr::Holds(a) | Expr::IsNull(a) | Expr::Not(a) => a.visit(visit),
            Expr::Call(_, list) | Expr::Fact(_, list) | Expr::And(list) | Expr::Or(list) => {
                list.iter().for_each(|e| e.visit(visit));
            }
            Expr::In(a, list) => {
                a.visit(visit);
                list.iter().for_each(|e| e.visit(visit));
            }
            Expr::Lookup { source: rows, .. } => source(rows, visit),
            Expr::Fold(fold) => {
                for binder in &fold.binders {
                    source(&binder.source, visit);
                    if let Some(condition) = &binder.condition {
                        condition.visit(visit);
                    }
                }
                fold.body.iter().for_each(|e| e.visit(visit));
                if let Some(outer) = &fold.outer {
                    outer.visit(visit);
                }
            }
        }
    }

    /// Calls `visit` on every expression inside this one and then on itself: from the leaves up, so that what is visited
    /// can be replaced without the replacement being visited again.
    pub(crate) fn visit_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        fn all<'a>(list: impl IntoIterator<Item = &'a mut Expr>, visit: &mut dyn FnMut(&mut Expr)) {
            list.into_iter().for_each(|e| e.visit_mut(visit));
        }
        fn values(source: &mut Source) -> impl Iterator<Item = &mut Expr> {
            let tests = match source {
                Source::Rows { tests, .. } => &mut tests[..],
                _ => &mut [],
            };
            tests.iter_mut().flat_map(|(_, _, values)| values)
        }
        match self {
            Expr::Literal(..)
            | Expr::Var(_)
            | Expr::Field(..)
            | Expr::Old(_)
            | Expr::Actor(_)
            | Expr::Now
            | Expr::Today
            | Expr::Truth(_)
            | Expr::Created
            | Expr::Deleted
            | Expr::Changed(_) => {}
            Expr::Add(a, b)
            | Expr::Sub(a, b)
            | Expr::Mul(a, b)
            | Expr::Compare(_, a, b)
            | Expr::Text(_, a, b)
            | Expr::InAncestors(a, b, _)
            | Expr::Implies(a, b) => all([&mut **a, &mut **b], visit),
            Expr::Span(a, _) | Expr::Holds(a) | Expr::IsNull(a) | Expr::Not(a) => a.visit_mut(visit),
            Expr::Call(_, list) | Expr::Fact(_, list) | Expr::And(list) | Expr::Or(list) => all(list, visit),
            Expr::In(a, list) => all(std::iter::once(&mut **a).chain(list), visit),
            Expr::Lookup { source, .. } => all(values(source), visit),
            Expr::Fold(fold) => {
                for binder in &mut fold.binders {
                    all(values(&mut binder.source).chain(&mut binder.condition), visit);
                }
                all(fold.body.iter_mut().chain(fold.outer.as_deref_mut()), visit);
            }
        }
        visit(self);
    }

    /// Calls `each` on every field that it reads of a row, with the relation of that row: every step of every path. A source of rows
    /// reads the ids of its rows.
    pub fn reads(&self, each: &mut dyn FnMut(RelationId, FieldId)) {
        self.visit(&mut |expr| match expr {
            Expr::Field(_, steps) | Expr::Old(steps) | Expr::Actor(steps) => reads_path(steps, each),
            Expr::Lookup { source, path } => {
                source.reads(each);
                reads_path(path, each);
            }
            Expr::Fold(fold) => fold.binders.iter().for_each(|binder| binder.source.reads(each)),
            _ => {}
        });
    }

    /// Whether it speaks of a change (`old`, `changed`, `created`) rather than of a state. `deleted` is no bar: a row that
    /// is there is not deleted.
    pub fn is_about_change(&self) -> bool {
        let mut found = false;
        self.visit(&mut |e| {
            found |= matches!(e, Expr::Old(_) | Expr::Created | Expr::Changed(_));
        });
        found
    }
}
