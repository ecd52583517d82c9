//! The checker's part for values: literals, arithmetic, functions, facts and lookups of rows.

use super::sorts::{Is, is_number, is_ordered};
use super::{Checker, bare_word, did_you_mean, failed, plural, takes_type, unknown};
use crate::parse::{Kind, Name, Node};
use crate::{Expr, Function, Type, Unit};
use benchwright_base::number::{MONEY_DECIMALS, QUANTITY_DECIMALS, parse_decimal};
use benchwright_base::{Date, DateTime, Time, Value};

const FUNCTIONS: [&str; 13] = [
    "length",
    "compact",
    "ancestors",
    "weekday",
    "time_of",
    "date_of",
    "month_of",
    "year_of",
    "matrix",
    "changed",
    "abs",
    "min",
    "max",
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Zero of a type of number, as the value of an empty sum and the left side of a negation.
pub(super) fn zero(ty: Type) -> Expr {
    let value = match ty {
        Type::Money => Value::Money(0),
        Type::Quantity => Value::Quantity(0),
        Type::Duration => Value::Duration(0),
        _ => Value::Int(0),
    };
    Expr::Literal(value, ty)
}

/// The unit of a span that is no whole number of days, if a sum of spans has one.
fn part_of_day(expr: &Expr) -> Option<Unit> {
    match expr {
        Expr::Span(_, unit @ (Unit::Hours | Unit::Minutes | Unit::Seconds)) => Some(*unit),
        Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => part_of_day(a).or_else(|| part_of_day(b)),
        _ => None,
    }
}

impl<'t> Checker<'_, 't> {
    /// A number: whole, unless money or a quantity is expected.
    pub(super) fn number(&mut self, at: usize, digits: &str, negative: bool, expected: Option<Type>) -> (Expr, Is) {
        let (ty, decimals) = match expected {
            Some(Type::Money) => (Type::Money, MONEY_DECIMALS),
            Some(Type::Quantity) => (Type::Quantity, QUANTITY_DECIMALS),
            _ => (Type::Int, 0),
        };
        let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        if places > decimals as usize {
            let message = match ty {
                Type::Int => format!("the decimal number {digits} needs money or a quantity beside it"),
                _ => format!("{digits} has more than {decimals} decimals, too many for {}", self.a(ty)),
            };
            self.fault(at, message, None);
            return unknown();
        }
        let text = if negative { format!("-{digits}") } else { digits.to_owned() };
        let Some(number) = parse_decimal(&text, decimals) else {
            self.fault(at, format!("the number {text} is too large"), None);
            return unknown();
        };
        let value = match ty {
            Type::Money => Value::Money(number),
            Type::Quantity => Value::Quantity(number),
            _ => Value::Int(number),
        };
        (Expr::Literal(value, ty), Is::Value(ty))
    }

    /// A text, or the date or time that is expected and written in it.
    pub(super) fn text(&mut self, at: usize, text: &str, expected: Option<Type>) -> (Expr, Is) {
        let (ty, value, form) = match expected {
            Some(ty @ Type::Date) => (ty, Date::parse(text).map(Value::Date), "YYYY-MM-DD"),
            Some(ty @ Type::Time) => (ty, Time::parse(text).map(Value::Time), "HH:MM"),
            Some(ty @ Type::DateTime) => {
                let instant = DateTime::parse(text).filter(|_| text.contains('T'));
                (ty, instant.map(Value::DateTime), "YYYY-MM-DDTHH:MM:SSZ")
            }
            _ => (Type::Text, Some(Value::text(text)), ""),
        };
        match value {
            Some(value) => (Expr::Literal(value, ty), Is::Value(ty)),
            None => {
                let message = format!("'{text}' is not {}", self.a(ty));
                self.fault(at, message, Some(format!("write it as '{form}'")));
                unknown()
            }
        }
    }

    /// `-a`. There is no negation in the tree: a literal takes the sign, and anything else is subtracted from zero.
    pub(super) fn negative(&mut self, at: usize, inner: &Node<'t>, expected: Option<Type>) -> (Expr, Is) {
        if let Kind::Number(digits) = &inner.kind {
            return self.number(at, digits, true, expected);
        }
        let (expr, ty) = self.value(inner, expected);
        match ty {
            None => unknown(),
            Some(ty) if is_number(ty) || ty == Type::Months => {
                (Expr::Sub(Box::new(zero(ty)), Box::new(expr)), Is::Value(ty))
            }
            Some(ty) => {
                let message = format!("{} has no negative", self.a(ty));
                self.fault(at, message, None);
                unknown()
            }
        }
    }

    /// `a + b` or `a - b`.
    pub(super) fn sum(
        &mut self,
        at: usize,
        plus: bool,
        a: &Node<'t>,
        b: &Node<'t>,
        expected: Option<Type>,
    ) -> (Expr, Is) {
        // Words have no sums; and beside a span it is the other side that has the expected type.
        let expected = expected.filter(|ty| !matches!(ty, Type::Enum(_)));
        let beside = |other: Option<Type>| match other {
            Some(Type::Duration | Type::Months) => expected,
            other => other,
        };
        let ((x, left), (y, right));
        if takes_type(a) && !takes_type(b) {
            (y, right) = self.value(b, expected);
            (x, left) = self.value(a, beside(right));
        } else {
            (x, left) = self.value(a, expected);
            (y, right) = self.value(b, beside(left));
        }
        let (Some(left), Some(right)) = (left, right) else { return unknown() };
        let is_span = |ty: Type| matches!(ty, Type::Duration | Type::Months);
        let is_date = |ty: Type| matches!(ty, Type::Date | Type::DateTime);
        if plus && is_span(left) && is_date(right) {
            return self.moved(at, plus, (y, right), (x, left));
        }
        if is_date(left) && is_span(right) {
            return self.moved(at, plus, (x, left), (y, right));
        }
        let ty = if left == right && (is_number(left) || left == Type::Months) {
            left
        } else if !plus && left == right && is_date(left) {
            Type::Duration
        } else {
            let message = if plus {
                format!("adds {} to {}", self.a(right), self.a(left))
            } else {
                format!("takes {} from {}", self.a(right), self.a(left))
            };
            let help = self.mend(left, right, None, Some(b));
            self.fault(at, message, help);
            return unknown();
        };
        let (x, y) = (Box::new(x), Box::new(y));
        (if plus { Expr::Add(x, y) } else { Expr::Sub(x, y) }, Is::Value(ty))
    }

    /// A date or instant, moved by a span.
    fn moved(&mut self, at: usize, plus: bool, date: (Expr, Type), span: (Expr, Type)) -> (Expr, Is) {
        if let (Type::Date, Some(unit)) = (date.1, part_of_day(&span.0)) {
            let help = self.mend(date.1, span.1, Some(unit), None);
            let unit = format!("{unit:?}").to_lowercase();
            self.fault(at, format!("a date cannot be moved by {unit}"), help);
            return unknown();
        }
        let (x, y) = (Box::new(date.0), Box::new(span.0));
        (if plus { Expr::Add(x, y) } else { Expr::Sub(x, y) }, Is::Value(date.1))
    }

    /// `a * b`: a whole number times any number. Money times money has no meaning, and there is no division.
    pub(super) fn product(&mut self, at: usize, a: &Node<'t>, b: &Node<'t>, expected: Option<Type>) -> (Expr, Is) {
        // A literal beside a whole number may be the money or quantity that is expected of the product.
        let beside = |other: Option<Type>| match (other, expected) {
            (Some(Type::Int), Some(Type::Money | Type::Quantity)) => expected,
            _ => None,
        };
        let ((x, left), (y, right));
        if takes_type(a) && !takes_type(b) {
            (y, right) = self.value(b, None);
            (x, left) = self.value(a, beside(right));
        } else {
            (x, left) = self.value(a, None);
            (y, right) = self.value(b, beside(left));
        }
        let (Some(left), Some(right)) = (left, right) else { return unknown() };
        let ty = match (left, right) {
            (Type::Int, other) | (other, Type::Int) if is_number(other) || other == Type::Months => other,
            _ => {
                let message = format!("multiplies {} by {}", self.a(left), self.a(right));
                self.fault(at, message, Some("one side of `*` is a whole number".to_owned()));
                return unknown();
            }
        };
        (Expr::Mul(Box::new(x), Box::new(y)), Is::Value(ty))
    }

    /// `count unit`.
    pub(super) fn span(&mut self, count: &Node<'t>, unit: Unit) -> (Expr, Is) {
        let count = self.value_of(count, Type::Int);
        let ty = if unit == Unit::Months { Type::Months } else { Type::Duration };
        (Expr::Span(Box::new(count), unit), Is::Value(ty))
    }

    /// A function, a fact, or the lookup of a row.
    pub(super) fn call(
        &mut self,
        name: Name<'t>,
        arguments: &[Node<'t>],
        path: &[Name<'t>],
        expected: Option<Type>,
    ) -> (Expr, Is) {
        let is_function = FUNCTIONS.contains(&name.text);
        if !is_function && let Some(relation) = self.names.relation(name.text) {
            let source = self.rows(relation, arguments);
            return self.reached(relation, path, |path| Expr::Lookup { source: Box::new(source), path });
        }
        let fact = if is_function { None } else { self.names.fact(name.text) };
        if !is_function && fact.is_none() {
            let names = self.names;
            let known = names.relation_names().into_iter().chain(names.fact_names()).chain(FUNCTIONS);
            let help = did_you_mean(name.text, known);
            self.fault(name.at, format!("no relation, fact or function is called `{}`", name.text), help);
            return unknown();
        }
        if let Some(step) = path.first() {
            self.fault(step.at, format!("the value of `{}(…)` has no fields", name.text), None);
            return unknown();
        }
        let Some(fact) = fact else { return self.function(name, arguments, expected) };
        if !self.takes(name, arguments.len(), fact.arguments.len()) {
            return unknown();
        }
        let mut list = Vec::new();
        for (at, (argument, ty)) in arguments.iter().zip(&fact.arguments).enumerate() {
            let (expr, got) = self.value(argument, Some(*ty));
            if let Some(got) = got.filter(|got| got != ty) {
                let (ty, got) = (self.a(*ty), self.a(got));
                self.fault(argument.at, format!("argument {} of {} is {ty}, got {got}", at + 1, name.text), None);
            }
            list.push(expr);
        }
        (Expr::Fact(fact.id, list), Is::Value(fact.value))
    }

    /// Faults unless there are so many arguments.
    fn takes(&mut self, name: Name<'_>, got: usize, wanted: usize) -> bool {
        if got != wanted {
            let message = format!("{} takes {}, got {got}", name.text, plural(wanted, "argument"));
            self.fault(name.at, message, None);
        }
        got == wanted
    }

    /// A built-in function of one argument; those of more go to functions of their own.
    fn function(&mut self, name: Name<'t>, arguments: &[Node<'t>], expected: Option<Type>) -> (Expr, Is) {
        match name.text {
            "min" | "max" => return self.extreme(name, arguments, expected),
            "matrix" => return self.matrix(name, arguments, expected),
            _ => {}
        }
        let [argument] = arguments else {
            self.takes(name, arguments.len(), 1);
            return unknown();
        };
        if name.text == "ancestors" {
            let help = "write `row in ancestors(path)`".to_owned();
            self.fault(name.at, "`ancestors` stands only after `in`", Some(help));
            return unknown();
        }
        if name.text == "changed" {
            return self.changed(name, argument);
        }
        // What a text in quotes would be read as.
        let asked = match name.text {
            "time_of" | "date_of" => Some(Type::DateTime),
            "abs" => expected,
            "length" | "compact" => None,
            _ => Some(Type::Date),
        };
        let (expr, ty) = self.value(argument, asked);
        let Some(ty) = ty else { return unknown() };
        // `wanted` is empty where the argument fits; otherwise the other two are not used.
        let (wanted, function, value) = match (name.text, ty) {
            ("length", Type::Text) => ("", Function::Length, Type::Int),
            ("compact", Type::Text) => ("", Function::Compact, Type::Text),
            ("length" | "compact", _) => ("text", Function::Length, Type::Int),
            ("time_of", Type::DateTime) => ("", Function::TimeOf, Type::Time),
            ("date_of", Type::DateTime) => ("", Function::DateOf, Type::Date),
            ("time_of" | "date_of", _) => ("an instant", Function::DateOf, Type::Date),
            ("abs", ty) if is_number(ty) => ("", Function::Abs, ty),
            ("abs", ty) => ("a number", Function::Abs, ty),
            (_, ty) if !matches!(ty, Type::Date | Type::DateTime) => ("a date or an instant", Function::DateOf, ty),
            ("month_of", ty) => ("", Function::MonthOf, ty),
            ("year_of", _) => ("", Function::YearOf, Type::Int),
            _ => match expected {
                Some(Type::Enum(id)) => match WEEKDAYS.map(|day| self.word(id, day)) {
                    [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g)] => {
                        ("", Function::WeekdayWord([a, b, c, d, e, f, g]), Type::Enum(id))
                    }
                    _ => ("", Function::Weekday, Type::Int),
                },
                _ => ("", Function::Weekday, Type::Int),
            },
        };
        if !wanted.is_empty() {
            let got = self.a(ty);
            self.fault(argument.at, format!("{} takes {wanted}, got {got}", name.text), None);
            return unknown();
        }
        (Expr::Call(function, vec![expr]), Is::Value(value))
    }

    /// `min(a, b)` and `max(a, b)`.
    fn extreme(&mut self, name: Name<'t>, arguments: &[Node<'t>], expected: Option<Type>) -> (Expr, Is) {
        if arguments.len() < 2 {
            let help = format!("for the rows of a relation write `{} t(…) of …`", name.text);
            let message = format!("{} takes at least 2 arguments, got {}", name.text, arguments.len());
            self.fault(name.at, message, Some(help));
            return unknown();
        }
        // Literals take the type of the first argument that has one of its own.
        let first = arguments.iter().position(|argument| !takes_type(argument)).unwrap_or(0);
        let mut list: Vec<Expr> = arguments.iter().map(|_| failed()).collect();
        let mut common = None;
        let mut sound = true;
        for at in std::iter::once(first).chain((0..arguments.len()).filter(|at| *at != first)) {
            let (expr, ty) = self.value(&arguments[at], common.or(expected));
            list[at] = expr;
            let Some(ty) = ty else {
                sound = false;
                continue;
            };
            let wanted = *common.get_or_insert(ty);
            if !is_ordered(ty) || ty != wanted {
                let (wanted, got) = (self.a(wanted), self.a(ty));
                let message = if is_ordered(ty) {
                    format!("{} of {wanted} and {got}", name.text)
                } else {
                    format!("{got} has no order")
                };
                self.fault(arguments[at].at, message, None);
                sound = false;
            }
        }
        let function = if name.text == "min" { Function::Least } else { Function::Greatest };
        match common {
            Some(ty) if sound => (Expr::Call(function, list), Is::Value(ty)),
            _ => unknown(),
        }
    }

    /// `matrix(a, b)`, as in `priority = matrix(impact, urgency)`.
    fn matrix(&mut self, name: Name<'t>, arguments: &[Node<'t>], expected: Option<Type>) -> (Expr, Is) {
        if !self.takes(name, arguments.len(), 2) {
            return unknown();
        }
        let mut list = Vec::new();
        for argument in arguments {
            let (expr, ty) = self.value(argument, None);
            if let Some(ty) = ty
                && !matches!(ty, Type::Enum(_))
            {
                let got = self.a(ty);
                self.fault(argument.at, format!("matrix takes words of enumerations, got {got}"), None);
            }
            list.push(expr);
        }
        let Some(Type::Enum(id)) = expected else {
            let help = "compare it with a field: `priority = matrix(impact, urgency)`".to_owned();
            self.fault(name.at, "`matrix` needs an enumeration on the other side", Some(help));
            return unknown();
        };
        let last = self.names.enum_words(id).len().saturating_sub(1);
        let last = u16::try_from(last).unwrap_or(u16::MAX);
        (Expr::Call(Function::Matrix { last }, list), Is::Value(Type::Enum(id)))
    }

    /// `changed(field)` of the row under judgement.
    fn changed(&mut self, name: Name<'t>, argument: &Node<'t>) -> (Expr, Is) {
        let Some(relation) = self.needs_subject(name) else { return unknown() };
        let Some(field) = bare_word(argument) else {
            let owner = self.names.relation_name(relation);
            self.fault(argument.at, format!("changed takes a field of {owner}"), None);
            return unknown();
        };
        match self.steps(relation, &[field]).and_then(|(path, _)| path.first().copied()) {
            Some((_, field)) => (Expr::Changed(field), Is::Truth),
            None => unknown(),
        }
    }
}
