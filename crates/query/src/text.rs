//! A tree as SQL. Truth is two-valued in the tree, so every comparison says `IS TRUE`; a path is a row of inner questions, so that it
//! ends in null wherever a reference does.

use crate::{BEFORE, Order, QueryError};
use benchwright_base::{DateTime, FieldId, RowId, TableId, Value};
use benchwright_expr::{Binder, Compare, Expr, Fold, FoldKind, Function, Path, Source, TestOp, TextOp, Type, Unit};
use benchwright_schema::{Domain, codec};

type Text = Result<String, QueryError>;
type Typed = Result<(String, Type), QueryError>;

const DAY: i64 = 86_400;
const INSTANT: &str = "'%Y-%m-%dT%H:%M:%SZ'";

/// What a slot stands for.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The row of a table that a question goes through, by its alias.
    Row(TableId, String),
    /// One row, or none.
    One(TableId, Option<RowId>),
    /// Rows.
    Rows(TableId, Vec<RowId>),
    /// A value.
    Value(String, Type),
}

pub(crate) struct Writer<'w> {
    domain: &'w Domain,
    now: DateTime,
    actor: Option<(TableId, RowId)>,
    has_before: bool,
    places: Vec<Place>,
    aliases: usize,
}

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A value as text.
pub(crate) fn plain(domain: &Domain, ty: Type, value: &Value) -> String {
    match (ty, value) {
        (_, Value::Text(text)) => text.to_string(),
        (Type::Enum(id), Value::Enum(word)) => domain.enums[id.index()].words[*word as usize].clone(),
        _ => codec::show_value(domain, ty, value),
    }
}

/// A value as it stands in a question.
pub(crate) fn literal(domain: &Domain, ty: Type, value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(flag) => i64::from(*flag).to_string(),
        Value::Int(n) | Value::Money(n) | Value::Quantity(n) | Value::Duration(n) => n.to_string(),
        Value::Ref(row) => row.to_string(),
        other => format!("'{}'", plain(domain, ty, other).replace('\'', "''")),
    }
}

impl<'w> Writer<'w> {
    pub(crate) fn new(
        domain: &'w Domain,
        now: DateTime,
        actor: Option<(TableId, RowId)>,
        has_before: bool,
        places: Vec<Place>,
    ) -> Writer<'w> {
        Writer { domain, now, actor, has_before, places, aliases: 0 }
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("r{}", self.aliases)
    }

    fn table(&self, table: TableId) -> String {
        quoted(&self.domain.table(table).name)
    }

    /// The question for the rows of a source, each of which is `it` in the condition and the order.
    pub(crate) fn rows(&mut self, source: &Source, condition: Option<&Expr>, order: Option<&Order<'_>>) -> Text {
        let (from, mut wheres, place) = self.source(source)?;
        let own = match &place {
            Place::Row(_, alias) => format!("{alias}.\"id\""),
            Place::Value(told, _) => told.clone(),
            Place::One(..) | Place::Rows(..) => return Err(QueryError::Construct("a source without rows")),
        };
        self.places.push(place);
        if let Some(condition) = condition {
            wheres.push(self.truth(condition)?);
        }
        let order = match order {
            None => String::new(),
            Some(Order { by, last }) => {
                let by = self.value(by)?.0;
                format!("{by} {}, ", if *last { "DESC" } else { "ASC" })
            }
        };
        self.places.pop();
        Ok(format!("SELECT {own} FROM {from} WHERE {} ORDER BY {order}{own}", all(&wheres)))
    }

    /// The question for the rows of a table for which a requirement does not hold.
    pub(crate) fn broken(&mut self, table: TableId, require: &Expr) -> Text {
        self.places.insert(0, Place::Row(table, "s".to_owned()));
        let holds = self.truth(require)?;
        Ok(format!("SELECT s.\"id\" FROM main.{} s WHERE NOT {holds} ORDER BY s.\"id\"", self.table(table)))
    }

    /// A source: what it is taken from, what its rows have to meet, and what each of them is.
    fn source(&mut self, source: &Source) -> Result<(String, Vec<String>, Place), QueryError> {
        let alias = self.alias();
        match source {
            Source::Rows { relation, tests } => {
                let place = Place::Row(*relation, alias.clone());
                let mut wheres = Vec::new();
                for (path, op, values) in tests {
                    wheres.push(self.test(&place, path, *op, values)?);
                }
                Ok((format!("main.{} {alias}", self.table(*relation)), wheres, place))
            }
            Source::Given(slot) => {
                let Some(Place::Rows(table, rows)) = self.places.get(*slot).cloned() else {
                    return Err(QueryError::Construct("a name that is no set"));
                };
                let ids: Vec<String> = rows.iter().map(RowId::to_string).collect();
                let wheres = vec![format!("{alias}.\"id\" IN ({})", ids.join(", "))];
                Ok((format!("main.{} {alias}", self.table(table)), wheres, Place::Row(table, alias)))
            }
            Source::Range(low, high) => {
                let numbers = format!(
                    "(WITH RECURSIVE n(v) AS (SELECT {low} UNION ALL SELECT v + 1 FROM n WHERE v < {high}) SELECT v FROM n) {alias}"
                );
                Ok((numbers, Vec::new(), Place::Value(format!("{alias}.v"), Type::Int)))
            }
            Source::Set(_) => Err(QueryError::Construct("a set of a plan")),
        }
    }

    fn test(&mut self, place: &Place, path: &Path, op: TestOp, values: &[Expr]) -> Text {
        let own = self.path(place, path, "main")?.0;
        let first = |writer: &mut Self| match values.first() {
            Some(value) => writer.value(value),
            None => Err(QueryError::Construct("a test without a value")),
        };
        Ok(match op {
            TestOp::IsNull => format!("({own}) IS NULL"),
            TestOp::NotNull => format!("({own}) IS NOT NULL"),
            TestOp::Compare(op) => {
                let other = first(self)?.0;
                compared(op, &own, &other)
            }
            TestOp::Text(op) => {
                let other = first(self)?.0;
                texts(op, &own, &other)
            }
            TestOp::In => format!("(({own}) IN ({}) IS TRUE)", self.list(values)?),
            TestOp::NotIn => format!("(({own}) IS NOT NULL AND NOT (({own}) IN ({}) IS TRUE))", self.list(values)?),
        })
    }

    fn list(&mut self, values: &[Expr]) -> Text {
        let list: Result<Vec<String>, QueryError> = values.iter().map(|value| Ok(self.value(value)?.0)).collect();
        Ok(list?.join(", "))
    }

    /// What a path reaches from a place, in one of the two copies.
    fn path(&self, place: &Place, path: &Path, copy: &str) -> Typed {
        let field = |(table, field): &(TableId, FieldId)| {
            let declared = self.domain.table(*table).field(*field);
            let ty = if *field == FieldId::ID { Type::Ref(*table) } else { declared.ty };
            (quoted(&declared.name), ty)
        };
        let inner = |told: &str, step: &(TableId, FieldId)| {
            let (name, ty) = field(step);
            (format!("(SELECT x.{name} FROM {copy}.{} x WHERE x.\"id\" = {told})", self.table(step.0)), ty)
        };
        let mut at = match (place, path.first()) {
            (Place::Row(table, alias), None) => return Ok((format!("{alias}.\"id\""), Type::Ref(*table))),
            (Place::One(table, row), None) => {
                return Ok((row.map_or_else(|| "NULL".to_owned(), |row| row.to_string()), Type::Ref(*table)));
            }
            (Place::Value(told, ty), None) => return Ok((told.clone(), *ty)),
            (Place::Row(_, alias), Some(step)) if copy == "main" => {
                let (name, ty) = field(step);
                (format!("{alias}.{name}"), ty)
            }
            (Place::Row(_, alias), Some(step)) => inner(&format!("{alias}.\"id\""), step),
            (Place::One(_, row), Some(step)) => {
                inner(&row.map_or_else(|| "NULL".to_owned(), |row| row.to_string()), step)
            }
            // A reference that a name stands for.
            (Place::Value(told, _), Some(step)) => inner(told, step),
            (Place::Rows(..), _) => return Err(QueryError::Construct("a set where one row is meant")),
        };
        for step in &path[1..] {
            at = inner(&at.0, step);
        }
        Ok(at)
    }

    fn place(&self, slot: usize) -> Result<Place, QueryError> {
        self.places.get(slot).cloned().ok_or(QueryError::Construct("a name that is not there"))
    }

    /// A value, with its type.
    pub(crate) fn value(&mut self, expr: &Expr) -> Typed {
        if expr.is_truth() {
            return Ok((self.truth(expr)?, Type::Bool));
        }
        match expr {
            Expr::Literal(value, ty) => Ok((literal(self.domain, *ty, value), *ty)),
            Expr::Var(slot) => {
                let place = self.place(*slot)?;
                self.path(&place, &Path::new(), "main")
            }
            Expr::Field(slot, path) => {
                let place = self.place(*slot)?;
                self.path(&place, path, "main")
            }
            Expr::Old(path) => {
                let place = self.place(0)?;
                let copy = if self.has_before { BEFORE } else { "main" };
                self.path(&place, path, copy)
            }
            Expr::Actor(path) => {
                let Some((table, row)) = self.actor else { return Ok(("NULL".to_owned(), Type::Null)) };
                self.path(&Place::One(table, Some(row)), path, "main")
            }
            Expr::Now => Ok((format!("'{}'", self.now), Type::DateTime)),
            Expr::Today => Ok((format!("'{}'", self.now.date()), Type::Date)),
            Expr::Add(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                added(a, b, false)
            }
            Expr::Sub(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match (a.1, b.1) {
                    (Type::Date, Type::Date) | (Type::DateTime, Type::DateTime) => {
                        Ok((format!("(unixepoch({}) - unixepoch({}))", a.0, b.0), Type::Duration))
                    }
                    _ => added(a, b, true),
                }
            }
            Expr::Mul(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let ty = if a.1 == Type::Int { b.1 } else { a.1 };
                Ok((format!("(({}) * ({}))", a.0, b.0), ty))
            }
            Expr::Span(count, unit) => {
                let count = self.value(count)?.0;
                Ok(match unit {
                    Unit::Months => (count, Type::Months),
                    Unit::Days => (format!("(({count}) * {DAY})"), Type::Duration),
                    Unit::Hours => (format!("(({count}) * 3600)"), Type::Duration),
                    Unit::Minutes => (format!("(({count}) * 60)"), Type::Duration),
                    Unit::Seconds => (count, Type::Duration),
                })
            }
            Expr::Call(function, arguments) => self.call(function, arguments),
            Expr::Lookup { source, path } => {
                let (from, wheres, place) = self.source(source)?;
                let Place::Row(_, alias) = &place else { return Err(QueryError::Construct("a source without rows")) };
                let (told, ty) = self.path(&place, path, "main")?;
                let first = format!("ORDER BY {alias}.\"id\" LIMIT 1");
                Ok((format!("(SELECT {told} FROM {from} WHERE {} {first})", all(&wheres)), ty))
            }
            Expr::Fold(fold) => self.fold(fold),
            Expr::Fact(..) => Err(QueryError::Construct("a fact of a plan")),
            _ => Err(QueryError::Construct("a truth where a value is meant")),
        }
    }

    fn call(&mut self, function: &Function, arguments: &[Expr]) -> Typed {
        let told: Result<Vec<(String, Type)>, QueryError> = arguments.iter().map(|one| self.value(one)).collect();
        let told = told?;
        let Some((first, ty)) = told.first().cloned() else {
            return Err(QueryError::Construct("a function of nothing"));
        };
        let list = || told.iter().map(|(told, _)| &**told).collect::<Vec<_>>().join(", ");
        Ok(match function {
            Function::Length => (format!("length({first})"), Type::Int),
            Function::TimeOf => (format!("substr({first}, 12, 8)"), Type::Time),
            Function::DateOf => (format!("substr({first}, 1, 10)"), Type::Date),
            Function::MonthOf if ty == Type::Date => (format!("(substr({first}, 1, 7) || '-01')"), ty),
            Function::MonthOf => (format!("(substr({first}, 1, 7) || '-01T00:00:00Z')"), ty),
            Function::YearOf => (format!("CAST(substr({first}, 1, 4) AS INTEGER)"), Type::Int),
            Function::Weekday => (weekday(&first), Type::Int),
            Function::Abs => (format!("abs({first})"), ty),
            Function::Least => (format!("min({})", list()), ty),
            Function::Greatest => (format!("max({})", list()), ty),
            Function::Compact => return Err(QueryError::Construct("`compact`")),
            Function::WeekdayWord(_) => return Err(QueryError::Construct("the word of a weekday")),
            Function::Matrix { .. } => return Err(QueryError::Construct("`matrix`")),
        })
    }

    /// What the elements of binders are taken from, and what they have to meet; the binders are in scope then.
    fn elements(&mut self, binders: &[Binder]) -> Result<(String, Vec<String>), QueryError> {
        let (mut from, mut wheres) = (Vec::new(), Vec::new());
        for binder in binders {
            let (taken, tests, place) = self.source(&binder.source)?;
            from.push(taken);
            wheres.extend(tests);
            self.places.push(place);
            if let Some(condition) = &binder.condition {
                wheres.push(self.truth(condition)?);
            }
        }
        Ok((from.join(", "), wheres))
    }

    fn fold(&mut self, fold: &Fold) -> Typed {
        let outside = self.places.len();
        if outside != fold.base {
            return Err(QueryError::Construct("a fold in another scope"));
        }
        let outer = match &fold.outer {
            Some(outer) if fold.kind != FoldKind::Cumulative => Some(self.value(outer)?),
            _ => None,
        };
        let folded = self.folded(fold, outer);
        self.places.truncate(outside);
        folded
    }

    fn folded(&mut self, fold: &Fold, outer: Option<(String, Type)>) -> Typed {
        let (from, mut wheres) = self.elements(&fold.binders)?;
        let body = |writer: &mut Self, at: usize| match fold.body.get(at) {
            Some(body) => writer.value(body),
            None => Err(QueryError::Construct("a fold without a body")),
        };
        let or_else = |told: String| match &outer {
            Some((other, _)) => format!("coalesce({told}, {other})"),
            None => told,
        };
        let aggregate = |what: &str, wheres: &[String]| format!("(SELECT {what} FROM {from} WHERE {})", all(wheres));
        Ok(match fold.kind {
            FoldKind::Exists | FoldKind::None | FoldKind::All => {
                if let Some(body) = fold.body.first() {
                    let told = self.truth(body)?;
                    wheres.push(if fold.kind == FoldKind::All { format!("NOT {told}") } else { told });
                }
                let not = if fold.kind == FoldKind::Exists { "" } else { "NOT " };
                (format!("({not}EXISTS (SELECT 1 FROM {from} WHERE {}))", all(&wheres)), Type::Bool)
            }
            FoldKind::Count => (aggregate("count(*)", &wheres), Type::Int),
            FoldKind::CountDistinct => {
                let (told, _) = body(self, 0)?;
                (aggregate(&format!("count(DISTINCT {told})"), &wheres), Type::Int)
            }
            FoldKind::Sum => {
                let (told, ty) = body(self, 0)?;
                (or_else(aggregate(&format!("sum({told})"), &wheres)), ty)
            }
            FoldKind::Min | FoldKind::Max => {
                let (told, ty) = body(self, 0)?;
                let name = if fold.kind == FoldKind::Min { "min" } else { "max" };
                (or_else(aggregate(&format!("{name}({told})"), &wheres)), ty)
            }
            FoldKind::NoOverlap => {
                let (start, end) = (body(self, 0)?.0, body(self, 1)?.0);
                let items = format!(
                    "WITH items AS (SELECT row_number() OVER () AS n, {start} AS b, {end} AS e FROM {from} WHERE {})",
                    all(&wheres)
                );
                let open = "EXISTS (SELECT 1 FROM items WHERE b IS NULL OR e IS NULL)";
                let meet = "EXISTS (SELECT 1 FROM items x, items y WHERE x.n < y.n AND x.b < y.e AND y.b < x.e)";
                (format!("({items} SELECT NOT {open} AND NOT {meet})"), Type::Bool)
            }
            FoldKind::Cumulative => return Err(QueryError::Construct("`cumulative`")),
        })
    }

    /// A truth, which is never null.
    pub(crate) fn truth(&mut self, expr: &Expr) -> Text {
        Ok(match expr {
            Expr::Truth(known) => i64::from(*known).to_string(),
            Expr::Holds(value) => format!("(({}) = 1 IS TRUE)", self.value(value)?.0),
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.value(a)?.0, self.value(b)?.0);
                compared(*op, &a, &b)
            }
            Expr::IsNull(value) => format!("(({}) IS NULL)", self.value(value)?.0),
            Expr::Text(op, a, b) => {
                let (a, b) = (self.value(a)?.0, self.value(b)?.0);
                texts(*op, &a, &b)
            }
            Expr::In(value, list) => {
                let value = self.value(value)?.0;
                format!("(({value}) IN ({}) IS TRUE)", self.list(list)?)
            }
            Expr::InAncestors(row, start, field) => {
                let row = self.value(row)?.0;
                let (start, ty) = self.value(start)?;
                let Type::Ref(table) = ty else { return Err(QueryError::Construct("ancestors of no row")) };
                let (own, by) = (self.table(table), quoted(&self.domain.table(table).field(*field).name));
                format!(
                    "EXISTS (WITH RECURSIVE up(id) AS (SELECT {start} UNION SELECT p.{by} FROM main.{own} p, up WHERE p.\"id\" = up.id) \
                     SELECT 1 FROM up WHERE up.id = {row})"
                )
            }
            Expr::Not(inner) => format!("(NOT {})", self.truth(inner)?),
            Expr::And(list) => {
                let told: Result<Vec<String>, QueryError> = list.iter().map(|one| self.truth(one)).collect();
                format!("({})", all(&told?))
            }
            Expr::Or(list) => {
                let told: Result<Vec<String>, QueryError> = list.iter().map(|one| self.truth(one)).collect();
                let told = told?;
                if told.is_empty() { "0".to_owned() } else { format!("({})", told.join(" OR ")) }
            }
            Expr::Implies(a, b) => format!("((NOT {}) OR {})", self.truth(a)?, self.truth(b)?),
            Expr::Created if self.has_before => {
                let (alias, own) = self.subject()?;
                format!("(NOT EXISTS (SELECT 1 FROM {BEFORE}.{own} b WHERE b.\"id\" = {alias}.\"id\"))")
            }
            Expr::Created | Expr::Deleted => "0".to_owned(),
            Expr::Changed(field) if self.has_before => {
                let (alias, own) = self.subject()?;
                let Place::Row(table, _) = self.place(0)? else {
                    return Err(QueryError::Construct("no row is judged"));
                };
                let name = quoted(&self.domain.table(table).field(*field).name);
                let old = format!("(SELECT b.{name} FROM {BEFORE}.{own} b WHERE b.\"id\" = {alias}.\"id\")");
                format!("({alias}.{name} IS NOT {old})")
            }
            Expr::Changed(_) => "0".to_owned(),
            Expr::Fold(fold) => self.fold(fold)?.0,
            _ => return Err(QueryError::Construct("a value where a truth is meant")),
        })
    }

    /// The alias of the row under judgement, and its table.
    fn subject(&self) -> Result<(String, String), QueryError> {
        match self.place(0)? {
            Place::Row(table, alias) => Ok((alias, self.table(table))),
            _ => Err(QueryError::Construct("no row is judged")),
        }
    }
}

/// A comparison; days and instants are in the order of their texts, and nothing else that is compared is a text.
fn compared(op: Compare, a: &str, b: &str) -> String {
    let sign = match op {
        Compare::Eq => "=",
        Compare::Ne => "<>",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    };
    format!("(({a}) {sign} ({b}) IS TRUE)")
}

fn all(wheres: &[String]) -> String {
    if wheres.is_empty() { "1".to_owned() } else { wheres.join(" AND ") }
}

/// 1 for Monday to 7 for Sunday.
fn weekday(told: &str) -> String {
    format!("((CAST(strftime('%w', {told}) AS INTEGER) + 6) % 7 + 1)")
}

/// A test on text.
fn texts(op: TextOp, a: &str, b: &str) -> String {
    match op {
        TextOp::Contains => format!("(instr(lower({a}), lower({b})) > 0 IS TRUE)"),
        TextOp::StartsWith => format!("(substr({a}, 1, length({b})) = ({b}) IS TRUE)"),
        TextOp::EndsWith => format!("((length({b}) = 0 OR substr({a}, -length({b})) = ({b})) IS TRUE)"),
    }
}

/// A sum or a difference.
fn added((a, of): (String, Type), (b, by): (String, Type), minus: bool) -> Typed {
    let b = if minus { format!("(-({b}))") } else { b };
    // A month ends where the next begins: what would run over stays on its last day.
    let months = |day: &str| {
        format!("min(date({day}, ({b}) || ' months'), date({day}, 'start of month', ({b} + 1) || ' months', '-1 day'))")
    };
    Ok(match (of, by) {
        (Type::Date, Type::Duration) => {
            (format!("(CASE WHEN ({b}) % {DAY} = 0 THEN date({a}, (({b}) / {DAY}) || ' days') END)"), of)
        }
        (Type::DateTime, Type::Duration) => (format!("strftime({INSTANT}, {a}, ({b}) || ' seconds')"), of),
        (Type::Date, Type::Months) => (months(&a), of),
        (Type::DateTime, Type::Months) => {
            (format!("({} || substr({a}, 11))", months(&format!("substr({a}, 1, 10)"))), of)
        }
        _ => (format!("(({a}) + ({b}))"), of),
    })
}
