//! A rendering of an expression in plain English, for people who read what a domain declares and not its notation. It is exact
//! rather than elegant: every literal and every condition of the tree appears in it.

use crate::lowerable::is_not_in;
use crate::{Binder, Compare, Expr, Fold, FoldKind, Function, Names, Path, Slot, Source, TestOp, TextOp, Type, Unit};
use benchwright_base::number::{MONEY_DECIMALS, QUANTITY_DECIMALS, write_decimal, write_duration};
use benchwright_base::{FieldId, RelationId, Value};

/// An expression in English. Every literal that was written appears in it.
pub fn english(expr: &Expr, names: &dyn Names) -> String {
    let mut gloss = Gloss { names, bound: Vec::new(), subject: subject(expr) };
    if expr.is_truth() { gloss.truth(expr, false) } else { gloss.value(expr) }
}

/// The relation of the row under judgement, as far as the expression shows it: `changed` names a field by number only.
fn subject(expr: &Expr) -> Option<RelationId> {
    let (mut found, mut taken) = (None, false);
    expr.visit(&mut |part| match part {
        Expr::Field(0, path) | Expr::Old(path) => found = found.or(path.first().map(|(relation, _)| *relation)),
        Expr::Fold(fold) => taken |= fold.base == 0,
        _ => {}
    });
    found.filter(|_| !taken)
}

/// What a slot that the expression itself binds is called.
struct Called {
    slot: Slot,
    /// The alias, or `that build`.
    name: String,
    /// Whether its fields are `its` fields: a row without a name, inside the fold that binds it.
    its: bool,
}

/// The state of a rendering.
struct Gloss<'n> {
    names: &'n dyn Names,
    /// What the folds around the current part have bound, outermost first.
    bound: Vec<Called>,
    subject: Option<RelationId>,
}

/// A declared name as it is read out: `end_date` is `end date`.
fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// `a, b and c`.
fn listed(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., end] => format!("{} {last} {end}", before.join(", ")),
    }
}

/// More than one of a thing, by the regular rules of English; names of tables are regular.
fn plural(name: &str) -> String {
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| name.ends_with(end)) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

fn article(name: &str) -> &'static str {
    if name.starts_with(|c: char| "aeio".contains(c)) { "an" } else { "a" }
}

fn compared(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "is",
        Compare::Ne => "is not",
        Compare::Lt => "is less than",
        Compare::Le => "is at most",
        Compare::Gt => "is more than",
        Compare::Ge => "is at least",
    }
}

fn tested(op: TextOp) -> &'static str {
    match op {
        TextOp::Contains => "contains",
        TextOp::StartsWith => "starts with",
        TextOp::EndsWith => "ends with",
    }
}

impl Gloss<'_> {
    /// The steps of a path: `contract's end date`.
    fn steps(&self, path: &[(RelationId, FieldId)]) -> String {
        let name = |(relation, field): &(RelationId, FieldId)| words(self.names.field_name(*relation, *field));
        path.iter().map(name).collect::<Vec<_>>().join("'s ")
    }

    fn literal(&self, value: &Value, ty: Type) -> String {
        let decimal = |number: i64, decimals: u32, trim: bool| {
            let mut out = Vec::new();
            write_decimal(&mut out, number, decimals, trim);
            String::from_utf8_lossy(&out).into_owned()
        };
        match (value, ty) {
            (Value::Enum(word), Type::Enum(id)) => self
                .names
                .enum_words(id)
                .get(*word as usize)
                .map_or_else(|| format!("word {word}"), |w| (*w).to_owned()),
            (Value::Null, _) => "nothing".to_owned(),
            (Value::Bool(value), _) => value.to_string(),
            (Value::Int(number), _) => number.to_string(),
            (Value::Money(number), _) => decimal(*number, MONEY_DECIMALS, false),
            (Value::Quantity(number), _) => decimal(*number, QUANTITY_DECIMALS, true),
            (Value::Text(text), _) => format!("'{text}'"),
            (Value::Date(date), _) => date.to_string(),
            (Value::DateTime(instant), _) => instant.to_string(),
            (Value::Time(time), _) => time.to_string(),
            (Value::Duration(seconds), _) => {
                let mut out = Vec::new();
                write_duration(&mut out, *seconds);
                String::from_utf8_lossy(&out).into_owned()
            }
            (Value::Enum(word), _) => format!("word {word}"),
            (Value::Ref(row), _) => format!("row {row}"),
        }
    }

    /// What a path reaches from a slot.
    fn field(&self, slot: Slot, path: &Path) -> String {
        let Some(called) = self.bound.iter().rev().find(|called| called.slot == slot) else {
            return match &**path {
                [] => "this row".to_owned(),
                [(relation, FieldId::ID)] => format!("this {}", words(self.names.relation_name(*relation))),
                _ => format!("the {}", self.steps(path)),
            };
        };
        match &**path {
            [] | [(_, FieldId::ID)] => called.name.clone(),
            _ if called.its => format!("its {}", self.steps(path)),
            _ => format!("{}'s {}", called.name, self.steps(path)),
        }
    }

    fn value(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Literal(value, ty) => self.literal(value, *ty),
            Expr::Var(slot) => self.field(*slot, &Path::new()),
            Expr::Field(slot, path) => self.field(*slot, path),
            Expr::Old(path) if path.is_empty() => "this row as it was before".to_owned(),
            Expr::Old(path) => format!("the previous {}", self.steps(path)),
            Expr::Actor(path) if path.is_empty() => "the person acting".to_owned(),
            Expr::Actor(path) => format!("the {} of the person acting", self.steps(path)),
            Expr::Now => "now".to_owned(),
            Expr::Today => "today".to_owned(),
            Expr::Add(a, b) => format!("{} plus {}", self.value(a), self.term(b)),
            Expr::Sub(a, b) => format!("{} minus {}", self.value(a), self.term(b)),
            Expr::Mul(a, b) => format!("{} times {}", self.term(a), self.term(b)),
            Expr::Span(count, unit) => {
                let one = matches!(&**count, Expr::Literal(Value::Int(1), _));
                let unit = match unit {
                    Unit::Seconds => "second",
                    Unit::Minutes => "minute",
                    Unit::Hours => "hour",
                    Unit::Days => "day",
                    Unit::Months => "month",
                };
                format!("{} {unit}{}", self.term(count), if one { "" } else { "s" })
            }
            Expr::Call(function, list) => self.call(function, list),
            Expr::Fact(_, list) => {
                // A tree has no way back from the number of a fact to its name but through the list of names.
                let name = self.fact_name(expr);
                let list: Vec<String> = list.iter().map(|e| self.value(e)).collect();
                if list.is_empty() { format!("the {name}") } else { format!("the {name} of {}", listed(&list, "and")) }
            }
            Expr::Lookup { source, path } => {
                let row = self.source(source, false);
                if path.is_empty() { format!("the {row}") } else { format!("the {} of the {row}", self.steps(path)) }
            }
            Expr::Fold(fold) => self.fold(fold),
            truth => format!("whether {}", self.truth(truth, true)),
        }
    }

    /// A value inside a larger one; sums get brackets, which words alone could not show.
    fn term(&mut self, expr: &Expr) -> String {
        let text = self.value(expr);
        if matches!(expr, Expr::Add(..) | Expr::Sub(..)) { format!("({text})") } else { text }
    }

    fn fact_name(&self, expr: &Expr) -> String {
        let Expr::Fact(id, _) = expr else { return "fact".to_owned() };
        let names = self.names.fact_names();
        let name = names.into_iter().find(|name| self.names.fact(name).is_some_and(|fact| fact.id == *id));
        name.map_or_else(|| format!("fact {}", id.0), words)
    }

    fn call(&mut self, function: &Function, list: &[Expr]) -> String {
        let list: Vec<String> = list.iter().map(|e| self.value(e)).collect();
        let list = listed(&list, "and");
        match function {
            Function::Length => format!("the number of characters of {list}"),
            Function::Compact => format!("the letters and digits of {list}"),
            Function::TimeOf => format!("the time of day of {list}"),
            Function::DateOf => format!("the day of {list}"),
            Function::MonthOf => format!("the start of the month of {list}"),
            Function::YearOf => format!("the year of {list}"),
            Function::Weekday | Function::WeekdayWord(_) => format!("the weekday of {list}"),
            Function::Matrix { .. } => format!("what follows from {list}"),
            Function::Abs => format!("the absolute value of {list}"),
            Function::Least => format!("the least of {list}"),
            Function::Greatest => format!("the greatest of {list}"),
        }
    }

    /// A truth; `inner` when it stands inside another one, and must hold together.
    fn truth(&mut self, expr: &Expr, inner: bool) -> String {
        match expr {
            Expr::Truth(known) => if *known { "true" } else { "false" }.to_owned(),
            Expr::Holds(x) => format!("{} is true", self.value(x)),
            Expr::Compare(op, a, b) => format!("{} {} {}", self.value(a), compared(*op), self.value(b)),
            Expr::IsNull(x) => format!("{} is empty", self.value(x)),
            Expr::Text(op, a, b) => format!("{} {} {}", self.value(a), tested(*op), self.value(b)),
            Expr::In(x, list) => self.membership(x, list, false),
            Expr::InAncestors(row, start, _) => self.ancestors(row, start, ("is", "or")),
            Expr::Not(x) => self.not(x),
            Expr::And(list) if is_not_in(list) => match list.get(1) {
                Some(Expr::Not(x)) => self.not(x),
                _ => String::new(),
            },
            Expr::And(list) => self.join(list, inner, true),
            Expr::Or(list) => self.join(list, inner, false),
            Expr::Implies(a, b) => format!("if {}, then {}", self.truth(a, true), self.truth(b, true)),
            Expr::Created => "the row is new".to_owned(),
            Expr::Deleted => "the row is deleted".to_owned(),
            Expr::Changed(field) => format!("{} has changed", self.changed(*field)),
            Expr::Fold(fold) => self.fold(fold),
            value => self.value(value),
        }
    }

    /// A list of truths; commas and the leading words show where it begins and ends.
    fn join(&mut self, list: &[Expr], inner: bool, all: bool) -> String {
        let word = if all { "and" } else { "or" };
        let long = list.iter().any(|e| matches!(e, Expr::And(_) | Expr::Or(_) | Expr::Implies(..) | Expr::Fold(_)));
        let items: Vec<String> = list.iter().map(|e| self.truth(e, true)).collect();
        let joined = if long || items.len() > 2 { items.join(&format!(", {word} ")) } else { listed(&items, word) };
        match (inner, all, items.len() > 2 || long) {
            (false, _, _) => joined,
            (true, true, false) => format!("both {joined}"),
            (true, true, true) => format!("all of this holds ({joined})"),
            (true, false, false) => format!("either {joined}"),
            (true, false, true) => format!("at least one of this holds ({joined})"),
        }
    }

    fn membership(&mut self, x: &Expr, list: &[Expr], negated: bool) -> String {
        let x = self.value(x);
        let list: Vec<String> = list.iter().map(|e| self.value(e)).collect();
        format!("{x} {} {}", if negated { "is none of" } else { "is one of" }, listed(&list, "or"))
    }

    fn ancestors(&mut self, row: &Expr, start: &Expr, (verb, or): (&str, &str)) -> String {
        let start = self.value(start);
        format!("{} {verb} {start} {or} above it", self.value(row))
    }

    /// The field that `changed` names.
    fn changed(&self, field: FieldId) -> String {
        match self.subject {
            Some(relation) => format!("the {}", self.steps(&[(relation, field)])),
            None => format!("field {} of the row", field.0),
        }
    }

    fn not(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::IsNull(x) => format!("{} is not empty", self.value(x)),
            Expr::In(x, list) => self.membership(x, list, true),
            Expr::InAncestors(row, start, _) => self.ancestors(row, start, ("is neither", "nor")),
            Expr::Holds(x) => format!("{} is not true", self.value(x)),
            Expr::Created => "the row is not new".to_owned(),
            Expr::Deleted => "the row is not deleted".to_owned(),
            Expr::Changed(field) => format!("{} is unchanged", self.changed(*field)),
            _ => format!("it is not true that {}", self.truth(expr, true)),
        }
    }

    /// The rows of a source: `group member whose user is the caller`.
    fn source(&mut self, source: &Source, many: bool) -> String {
        let thing = |name: &str| if many { plural(name) } else { name.to_owned() };
        match source {
            Source::Rows { relation, tests } => {
                let mut text = thing(&words(self.names.relation_name(*relation)));
                let tests: Vec<String> = tests.iter().map(|test| self.test(test)).collect();
                if !tests.is_empty() {
                    text.push(' ');
                    text.push_str(&listed(&tests, "and"));
                }
                text
            }
            Source::Set(set) => {
                let names = self.names.set_names();
                let name = names.into_iter().find(|name| self.names.set(name).is_some_and(|(id, _)| id == *set));
                format!("{} of {}", thing("member"), name.map_or_else(|| format!("set {}", set.0), words))
            }
            Source::Given(_) => format!("{} that is meant", thing("row")),
            Source::Range(low, high) => format!("{} from {low} to {high}", thing("number")),
        }
    }

    fn test(&mut self, (path, op, values): &(Path, TestOp, Vec<Expr>)) -> String {
        let left = match &**path {
            [(_, FieldId::ID)] => "that".to_owned(),
            _ => format!("whose {}", self.steps(path)),
        };
        let values: Vec<String> = values.iter().map(|e| self.value(e)).collect();
        let right = listed(&values, "or");
        match op {
            TestOp::Compare(op) => format!("{left} {} {right}", compared(*op)),
            TestOp::Text(op) => format!("{left} {} {right}", tested(*op)),
            TestOp::In => format!("{left} is one of {right}"),
            TestOp::NotIn => format!("{left} is none of {right}"),
            TestOp::IsNull => format!("{left} is empty"),
            TestOp::NotNull => format!("{left} is not empty"),
        }
    }

    /// Binds the variables of a fold and says what they range over.
    fn binders(&mut self, binders: &[Binder], base: Slot, many: bool) -> Vec<String> {
        let mut texts = Vec::new();
        for (at, binder) in binders.iter().enumerate() {
            let mut text = self.source(&binder.source, many);
            let alias = binder.name.as_deref().filter(|name| *name != "it");
            let name = match (alias, &binder.source) {
                (Some(alias), _) => alias.to_owned(),
                (None, Source::Rows { relation, .. }) => format!("that {}", words(self.names.relation_name(*relation))),
                (None, _) => "it".to_owned(),
            };
            if let Some(alias) = alias {
                text = format!("{text} (called {alias})");
            }
            self.bound.push(Called { slot: base + at, name, its: alias.is_none() });
            if let Some(condition) = &binder.condition {
                text = format!("{text} such that {}", self.truth(condition, true));
            }
            texts.push(text);
        }
        texts
    }

    fn fold(&mut self, fold: &Fold) -> String {
        // A row without a name is `it` only inside the nearest fold: outside of it, it is called by its relation.
        let outer_its: Vec<bool> = self.bound.iter_mut().map(|called| std::mem::take(&mut called.its)).collect();
        let depth = self.bound.len();
        let binders = self.binders(&fold.binders, fold.base, fold.kind == FoldKind::Count);
        let body: Vec<String> =
            fold.body.iter().map(|e| if e.is_truth() { self.truth(e, true) } else { self.value(e) }).collect();
        self.bound.truncate(depth);
        for (called, its) in self.bound.iter_mut().zip(outer_its) {
            called.its = its;
        }
        let rows = listed(&binders, "and every");
        let outer = match (&fold.outer, fold.kind) {
            (None, _) | (_, FoldKind::Sum) => None,
            (Some(outer), _) => Some(self.value(outer)),
        };
        let of = |what: &str| format!("the {what} of {} over every {rows}", listed(&body, "and"));
        let or_else = |text: String| match &outer {
            Some(outer) => format!("{text} (or {outer} if there is none)"),
            None => text,
        };
        match fold.kind {
            FoldKind::All => format!("for every {rows}, {}", listed(&body, "and")),
            FoldKind::Exists => format!("there is {} {rows}", article(&rows)),
            FoldKind::None => format!("there is no {rows}"),
            FoldKind::Count => format!("the number of {rows}"),
            FoldKind::CountDistinct => of("number of different values"),
            FoldKind::Sum => of("sum"),
            FoldKind::Min => or_else(of("least")),
            FoldKind::Max => or_else(of("greatest")),
            FoldKind::NoOverlap => {
                format!("no two of the intervals from {}, one for every {rows}, overlap", body.join(" to "))
            }
            FoldKind::Cumulative => {
                let (load, interval) = body.split_last().map_or(("", &[][..]), |(load, rest)| (load, rest));
                let limit = outer.unwrap_or_default();
                let interval = interval.join(" to ");
                format!("at no time does {load}, counted from {interval} for every {rows}, add up to more than {limit}")
            }
        }
    }
}
