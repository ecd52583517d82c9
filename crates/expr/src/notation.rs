//! Writes an expression in the language again, with names for what its slots are bound to. What is written so and checked in a scope of
//! those names means the same; so whoever has an expression about one row can hand it to somebody who knows that row by a name.

use crate::{Compare, Expr, Fold, FoldKind, Function, Names, Path, Source, TestOp, TextOp, Type, Unit};
use benchwright_base::Value;
use std::cell::RefCell;

/// The expression as text. `slots` are the names of what is bound outside of it; the row under judgement has one like any other.
/// Nothing, if it speaks of a change or of something that has no text.
pub fn notation(expr: &Expr, names: &dyn Names, slots: &[&str]) -> Option<String> {
    let mut named = |slot: usize, path: &Path| {
        let slot = slots.get(slot)?;
        Some(format!("{slot}{}", dotted(names, path)))
    };
    notation_by(expr, names, slots.len(), &mut named)
}

/// How what a slot reaches by a path is written; nothing, if it cannot be.
pub type Telling<'t> = dyn FnMut(usize, &Path) -> Option<String> + 't;

/// The expression as text, where somebody says how each of the `slots` that are bound outside of it, and what is reached from one, is
/// written. The row under judgement is taken to have been there before, and to be there still.
pub fn notation_by(expr: &Expr, names: &dyn Names, slots: usize, tell: &mut Telling<'_>) -> Option<String> {
    Writer { names, slots, tell: RefCell::new(tell) }.expr(expr, &[])
}

/// One test of a source as a condition on `it`: `it.f = e`.
pub fn test_notation(
    test: &(Path, TestOp, Vec<Expr>),
    names: &dyn Names,
    slots: usize,
    tell: &mut Telling<'_>,
) -> Option<String> {
    let writer = Writer { names, slots, tell: RefCell::new(tell) };
    Some(format!("it.{}", writer.test(test, &[])?))
}

/// The rows of a source as text: `t(f = e)`.
pub fn source_notation(source: &Source, names: &dyn Names, slots: usize, tell: &mut Telling<'_>) -> Option<String> {
    Writer { names, slots, tell: RefCell::new(tell) }.source(source, &[])
}

/// A path as it is written behind a name: `.case.account`.
pub fn dotted(names: &dyn Names, path: &Path) -> String {
    path.iter().map(|(relation, field)| format!(".{}", names.field_name(*relation, *field))).collect()
}

struct Writer<'n, 't> {
    names: &'n dyn Names,
    slots: usize,
    tell: RefCell<&'n mut Telling<'t>>,
}

impl Writer<'_, '_> {
    /// What a path reaches from a slot that is given from outside, or from one that a fold inside binds.
    fn reached(&self, slot: usize, path: &Path, inner: &[String]) -> Option<String> {
        match slot.checked_sub(self.slots) {
            None => (self.tell.borrow_mut())(slot, path),
            Some(bound) => Some(format!("{}{}", inner.get(bound)?, self.path(path))),
        }
    }

    fn path(&self, path: &Path) -> String {
        dotted(self.names, path)
    }

    fn expr(&self, expr: &Expr, inner: &[String]) -> Option<String> {
        let one = |expr: &Expr| self.expr(expr, inner);
        let two = |sign: &str, a: &Expr, b: &Expr| Some(format!("({} {sign} {})", one(a)?, one(b)?));
        let many = |list: &[Expr]| list.iter().map(one).collect::<Option<Vec<_>>>();
        Some(match expr {
            Expr::Literal(value, ty) => self.literal(value, *ty)?,
            Expr::Var(slot) => self.reached(*slot, &Path::new(), inner)?,
            Expr::Field(slot, path) => self.reached(*slot, path, inner)?,
            Expr::Actor(path) => format!("actor{}", self.path(path)),
            Expr::Now => "now".to_owned(),
            Expr::Today => "today".to_owned(),
            Expr::Add(a, b) => two("+", a, b)?,
            Expr::Sub(a, b) => two("-", a, b)?,
            Expr::Mul(a, b) => two("*", a, b)?,
            Expr::Span(count, unit) => {
                let unit = match unit {
                    Unit::Seconds => "seconds",
                    Unit::Minutes => "minutes",
                    Unit::Hours => "hours",
                    Unit::Days => "days",
                    Unit::Months => "months",
                };
                format!("{} {unit}", one(count)?)
            }
            Expr::Call(function, arguments) => {
                let name = match function {
                    Function::Length => "length",
                    Function::Compact => "compact",
                    Function::TimeOf => "time_of",
                    Function::DateOf => "date_of",
                    Function::MonthOf => "month_of",
                    Function::YearOf => "year_of",
                    Function::Weekday | Function::WeekdayWord(_) => "weekday",
                    Function::Matrix { .. } => "matrix",
                    Function::Abs => "abs",
                    Function::Least => "min",
                    Function::Greatest => "max",
                };
                format!("{name}({})", many(arguments)?.join(", "))
            }
            Expr::Lookup { source, path } => format!("{}{}", self.source(source, inner)?, self.path(path)),
            Expr::Fold(fold) => self.fold(fold, inner)?,
            Expr::Truth(truth) => truth.to_string(),
            Expr::Holds(value) => format!("({} = true)", one(value)?),
            Expr::Compare(op, a, b) => two(sign(*op), a, b)?,
            Expr::IsNull(value) => format!("({} = null)", one(value)?),
            Expr::Text(op, a, b) => two(word(*op), a, b)?,
            Expr::In(value, list) => format!("({} in {{{}}})", one(value)?, many(list)?.join(", ")),
            Expr::InAncestors(row, start, _) => format!("({} in ancestors({}))", one(row)?, one(start)?),
            Expr::Not(inner) => match &**inner {
                Expr::IsNull(value) => format!("({} != null)", one(value)?),
                other => format!("not {}", one(other)?),
            },
            Expr::And(list) => format!("({})", many(list)?.join(" and ")),
            Expr::Or(list) => format!("({})", many(list)?.join(" or ")),
            Expr::Implies(a, b) => two("implies", a, b)?,
            Expr::Created | Expr::Deleted => "false".to_owned(),
            Expr::Old(_) | Expr::Changed(_) | Expr::Fact(..) => return None,
        })
    }

    fn literal(&self, value: &Value, ty: Type) -> Option<String> {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        Some(match (value, ty) {
            (Value::Enum(word), Type::Enum(id)) => (*self.names.enum_words(id).get(*word as usize)?).to_owned(),
            (Value::Bool(truth), _) => truth.to_string(),
            (Value::Int(number), _) => number.to_string(),
            (Value::Money(number), _) => decimal(*number, 2),
            (Value::Quantity(number), _) => decimal(*number, 3),
            (Value::Text(text), _) => quoted(text),
            (Value::Date(date), _) => quoted(&date.to_string()),
            (Value::DateTime(instant), _) => quoted(&instant.to_string()),
            (Value::Time(time), _) => quoted(&time.to_string()),
            (Value::Duration(seconds), _) => format!("{seconds} seconds"),
            (Value::Null, _) => "null".to_owned(),
            (Value::Ref(_) | Value::Enum(_), _) => return None,
        })
    }

    fn source(&self, source: &Source, inner: &[String]) -> Option<String> {
        Some(match source {
            Source::Rows { relation, tests } => {
                let tests: Option<Vec<String>> = tests.iter().map(|test| self.test(test, inner)).collect();
                format!("{}({})", self.names.relation_name(*relation), tests?.join(", "))
            }
            Source::Range(low, high) => format!("{low}..{high}"),
            Source::Given(slot) => self.reached(*slot, &Path::new(), inner)?,
            Source::Set(_) => return None,
        })
    }

    fn test(&self, (path, op, values): &(Path, TestOp, Vec<Expr>), inner: &[String]) -> Option<String> {
        let field = self.path(path);
        let field = field.strip_prefix('.')?;
        let values: Option<Vec<String>> = values.iter().map(|value| self.expr(value, inner)).collect();
        let values = values?;
        let first = || values.first().cloned();
        Some(match op {
            TestOp::Compare(op) => format!("{field} {} {}", sign(*op), first()?),
            TestOp::Text(op) => format!("{field} {} {}", word(*op), first()?),
            TestOp::In => format!("{field} in {{{}}}", values.join(", ")),
            TestOp::NotIn => format!("{field} not in {{{}}}", values.join(", ")),
            TestOp::IsNull => format!("{field} = null"),
            TestOp::NotNull => format!("{field} != null"),
        })
    }

    /// A fold, each of its variables with a name of its own.
    fn fold(&self, fold: &Fold, inner: &[String]) -> Option<String> {
        let kind = match fold.kind {
            FoldKind::All => "for",
            FoldKind::Exists => "exists",
            FoldKind::None => "none",
            FoldKind::Count => "count",
            FoldKind::CountDistinct => "count distinct",
            FoldKind::Sum => "sum",
            FoldKind::Min => "min",
            FoldKind::Max => "max",
            FoldKind::NoOverlap | FoldKind::Cumulative => return None,
        };
        let mut inner = inner.to_vec();
        let mut binders = Vec::new();
        let mut condition = None;
        for binder in &fold.binders {
            let source = self.source(&binder.source, &inner)?;
            inner.push(format!("row{}", self.slots + inner.len()));
            binders.push(format!("{} in {source}", inner.last()?));
            if let Some(told) = &binder.condition {
                condition = Some(self.expr(told, &inner)?);
            }
        }
        let body: Option<Vec<String>> = fold.body.iter().map(|body| self.expr(body, &inner)).collect();
        let body = body?;
        let condition = condition.map(|told| format!(" where {told}")).unwrap_or_default();
        let head = format!("{kind} {}{condition}", binders.join(", "));
        Some(match (fold.kind, body.first()) {
            (FoldKind::All, Some(body)) => format!("({head}: {body})"),
            (FoldKind::Exists | FoldKind::None, Some(body)) => {
                let joint = if condition.is_empty() { " where " } else { " and " };
                format!("({head}{joint}{body})")
            }
            (FoldKind::CountDistinct | FoldKind::Sum | FoldKind::Min | FoldKind::Max, Some(body)) => {
                format!("({head} of {body})")
            }
            _ => format!("({head})"),
        })
    }
}

fn sign(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "=",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}

fn word(op: TextOp) -> &'static str {
    match op {
        TextOp::Contains => "contains",
        TextOp::StartsWith => "starts_with",
        TextOp::EndsWith => "ends_with",
    }
}

/// A number of the smallest unit with so many decimals.
fn decimal(number: i64, decimals: u32) -> String {
    let unit = 10_u64.pow(decimals);
    let sign = if number < 0 { "-" } else { "" };
    let (whole, rest) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
    let width = decimals as usize;
    format!("{sign}{whole}.{rest:0width$}")
}
