//! The type checker: from untyped syntax to the typed tree, with every name resolved, every type known to fit, and all faults
//! of an expression at once.
//!
//! Types flow both ways. A literal or an enum word has no type of its own and takes the one that its surroundings expect, so
//! checking carries an `expected` type inward, and in a comparison the side that has a type is read first. A part that failed
//! is [`Is::Unknown`], which fits everything, so that one mistake is reported once.

mod folds;
mod sorts;
mod terms;

use crate::fault::Fault;
use crate::parse::{self, Kind, Name, Node};
use crate::{Binder, Compare, Expr, Names, Path, Source, Type};
use benchwright_base::{FieldId, RelationId, Value, nearest};
use sorts::{Is, is_ordered};

/// What an expression is read against besides the [`Names`]. The default is an expression about no row in particular.
#[derive(Clone, Copy, Default, Debug)]
pub struct Scope<'s> {
    /// The relation of the row under judgement, which is bound to slot 0 and whose fields need no prefix. `None` makes `old`,
    /// `created`, `deleted` and `changed` faults.
    pub subject: Option<RelationId>,
    /// Rows and values that have names, bound to the slots after the row under judgement. A name hides a field of that row.
    pub given: &'s [Given<'s>],
    /// The relation of the row that `it` stands for outside of every fold, bound to the slot after the names.
    pub it: Option<RelationId>,
}

impl<'s> Scope<'s> {
    /// The scope of an expression about a row of a relation.
    pub fn on(subject: RelationId) -> Scope<'s> {
        Scope { subject: Some(subject), ..Scope::default() }
    }
}

/// Something that has a name in scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given<'s> {
    /// The name that it is used by.
    pub name: &'s str,
    /// What it stands for.
    pub is: GivenType,
}

/// What a name in scope stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivenType {
    /// A row, whose fields can be named; or null.
    Row(RelationId),
    /// Rows, which a fold can go over: `count x in cases`.
    Rows(RelationId),
    /// A value.
    Value(Type),
}

/// Parses and checks a condition, such as a rule or a filter.
pub fn check_truth(text: &str, names: &dyn Names, scope: Scope<'_>) -> Result<Expr, Vec<Fault>> {
    let node = parse::expression(text)?;
    let mut checker = Checker::new(names, scope);
    let expr = checker.truth(&node);
    checker.finish(expr)
}

/// Parses and checks a value, and says its type. With an expected type a bare enum word and a literal take that type, and any other
/// type is a fault. A condition is a value of type [`Type::Bool`] here; `null` stands for nothing where a type is
/// expected, and then has the type [`Type::Null`].
pub fn check_value(
    text: &str,
    names: &dyn Names,
    scope: Scope<'_>,
    expected: Option<Type>,
) -> Result<(Expr, Type), Vec<Fault>> {
    let node = parse::expression(text)?;
    let mut checker = Checker::new(names, scope);
    let (expr, is) = checker.any(&node, expected);
    let ty = match (is, expected) {
        (Is::Truth, _) => Some(Type::Bool),
        (Is::Value(ty), _) => Some(ty),
        (Is::Null, Some(_)) => Some(Type::Null),
        (Is::Null, None) => {
            checker.null_misplaced(node.at);
            None
        }
        (Is::Unknown, _) => None,
    };
    if let (Some(ty), Some(expected)) = (ty, expected)
        && ty != Type::Null
        && ty != expected
    {
        checker.unexpected(&node, expected, ty);
    }
    checker.finish((expr, ty.unwrap_or(Type::Null)))
}

/// Parses and checks a source of rows: `t(…)`, or the bare name of a relation.
pub fn check_source(text: &str, names: &dyn Names, scope: Scope<'_>) -> Result<Source, Vec<Fault>> {
    let node = parse::source(text)?;
    let mut checker = Checker::new(names, scope);
    let source = checker.rows_only(&node);
    checker.finish(source)
}

/// Parses and checks a rule: the variables of `per`, and the body that must hold for each of their bindings. Without `per` the
/// list is empty and the rule has one instance.
pub fn check_rule(text: &str, names: &dyn Names, scope: Scope<'_>) -> Result<(Vec<Binder>, Expr), Vec<Fault>> {
    let (binders, body) = parse::rule(text)?;
    let mut checker = Checker::new(names, scope);
    let binders = binders.iter().map(|binder| checker.binder(binder, false)).collect();
    let body = checker.truth(&body);
    checker.finish((binders, body))
}

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Holds {
    /// A row, whose fields can be named.
    Row(RelationId),
    /// A member of a set or range: a value of this type without fields.
    Member(Type),
    /// Several rows under one name.
    Rows(RelationId),
    /// Its source failed, so whatever is asked of it is accepted.
    Unknown,
}

/// A bound variable; its place in the list is its slot.
struct Variable<'t> {
    /// The alias that was written; `None` for the row under judgement and for folds such as `exists t(…)`.
    name: Option<&'t str>,
    holds: Holds,
    /// Whether fields of the row are visible without a name before them.
    bare: bool,
    /// Whether `it` may stand for the row.
    it: bool,
}

/// Words with a meaning of their own, which no variable may take.
const RESERVED: [&str; 10] = ["null", "true", "false", "now", "today", "created", "deleted", "old", "actor", "it"];

struct Checker<'n, 't> {
    names: &'n dyn Names,
    variables: Vec<Variable<'t>>,
    subject: Option<RelationId>,
    faults: Vec<Fault>,
    /// How many nodes of the tree were copied for `not in`, to bound what a hostile text can make grow.
    copied: usize,
}

/// A placeholder for an expression that failed. It is never seen: a check with faults gives no tree.
fn failed() -> Expr {
    Expr::Literal(Value::Null, Type::Null)
}

/// The result for a part that failed.
fn unknown() -> (Expr, Is) {
    (failed(), Is::Unknown)
}

/// The name, if this is a path of one: it may be an enum word, a variable or a field.
fn bare_word<'t>(node: &Node<'t>) -> Option<Name<'t>> {
    match &node.kind {
        Kind::Path(path) if path.len() == 1 => path.first().copied(),
        _ => None,
    }
}

fn is_null(node: &Node<'_>) -> bool {
    bare_word(node).is_some_and(|name| name.text == "null")
}

/// Whether a side takes its type from the other one: a literal, `weekday(…)`, `matrix(…)`, or arithmetic with a literal.
fn takes_type(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Number(_) | Kind::Text(_) => true,
        Kind::Negative(a) => takes_type(a),
        Kind::Add(a, b) | Kind::Sub(a, b) => takes_type(a) && takes_type(b),
        Kind::Mul(a, b) => takes_type(a) || takes_type(b),
        Kind::Call { name, arguments, .. } => match name.text {
            "weekday" | "matrix" => true,
            "abs" | "min" | "max" => arguments.iter().all(takes_type),
            _ => false,
        },
        _ => false,
    }
}

impl<'n, 't> Checker<'n, 't> {
    fn new(names: &'n dyn Names, scope: Scope<'t>) -> Self {
        let subject = scope.subject;
        let row = |relation, bare| Variable { name: None, holds: Holds::Row(relation), bare, it: !bare };
        let given = scope.given.iter().map(|given| {
            let holds = match given.is {
                GivenType::Row(relation) => Holds::Row(relation),
                GivenType::Rows(relation) => Holds::Rows(relation),
                GivenType::Value(ty) => Holds::Member(ty),
            };
            Variable { name: Some(given.name), holds, bare: false, it: false }
        });
        let own = subject.map(|relation| row(relation, true)).into_iter();
        let variables = own.chain(given).chain(scope.it.map(|relation| row(relation, false))).collect();
        Checker { names, variables, subject, faults: Vec::new(), copied: 0 }
    }

    fn finish<T>(mut self, checked: T) -> Result<T, Vec<Fault>> {
        if self.faults.is_empty() {
            return Ok(checked);
        }
        self.faults.sort();
        self.faults.dedup();
        Err(self.faults)
    }

    /// Notes a fault and goes on.
    fn fault(&mut self, offset: usize, message: impl Into<String>, help: Option<String>) {
        self.faults.push(Fault { offset, message: message.into(), help });
    }

    fn null_misplaced(&mut self, at: usize) {
        let help = "it may only be compared: `x = null` or `x != null`".to_owned();
        self.fault(at, "`null` cannot stand here", Some(help));
    }

    fn unexpected(&mut self, node: &Node<'_>, expected: Type, got: Type) {
        let message = format!("wanted {}, got {}", self.a(expected), self.a(got));
        let help = self.mend(expected, got, None, Some(node));
        self.fault(node.at, message, help);
    }

    /// Checks what must be a condition. A Bool value becomes one; any other value is a fault.
    fn truth(&mut self, node: &Node<'t>) -> Expr {
        if let Some(name) = bare_word(node) {
            match name.text {
                "true" => return Expr::Truth(true),
                "false" => return Expr::Truth(false),
                _ => {}
            }
        }
        let (expr, is) = self.any(node, None);
        match is {
            Is::Truth | Is::Unknown => expr,
            Is::Value(Type::Bool) => Expr::Holds(Box::new(expr)),
            Is::Value(ty) => {
                let message = format!("wanted a condition, got {}", self.a(ty));
                self.fault(node.at, message, None);
                failed()
            }
            Is::Null => {
                self.null_misplaced(node.at);
                failed()
            }
        }
    }

    /// Checks what must be a value; `None` for the type of what failed.
    fn value(&mut self, node: &Node<'t>, expected: Option<Type>) -> (Expr, Option<Type>) {
        let (expr, is) = self.any(node, expected);
        (expr, self.as_value(node, is))
    }

    /// The type of what must be a value.
    fn as_value(&mut self, node: &Node<'t>, is: Is) -> Option<Type> {
        match is {
            Is::Value(ty) => return Some(ty),
            Is::Unknown => {}
            Is::Truth => {
                let help = "a condition is joined with `and`, `or`, `not` and `implies`".to_owned();
                self.fault(node.at, "wanted a value, got a condition", Some(help));
            }
            Is::Null => self.null_misplaced(node.at),
        }
        None
    }

    /// One side of a comparison once the other is known. If the other failed, a bare word may have been meant for an
    /// enumeration and a literal for a type that nobody knows now: what is wrong with them is no news.
    fn beside(&mut self, node: &Node<'t>, other: Is) -> (Expr, Is) {
        let before = self.faults.len();
        let checked = self.any(node, other.ty());
        if other == Is::Unknown && (bare_word(node).is_some() || takes_type(node)) {
            self.faults.truncate(before);
        }
        checked
    }

    /// Checks what must be a value of exactly this type.
    fn value_of(&mut self, node: &Node<'t>, expected: Type) -> Expr {
        let (expr, ty) = self.value(node, Some(expected));
        if let Some(ty) = ty
            && ty != expected
        {
            self.unexpected(node, expected, ty);
        }
        expr
    }

    /// Checks a condition or a value, whichever was written. All checking of nodes goes through here.
    fn any(&mut self, node: &Node<'t>, expected: Option<Type>) -> (Expr, Is) {
        let truths = |checker: &mut Self, list: &[Node<'t>]| list.iter().map(|node| checker.truth(node)).collect();
        let truth = match &node.kind {
            Kind::Path(path) => return self.path(path, expected),
            Kind::Number(digits) => return self.number(node.at, digits, false, expected),
            Kind::Text(text) => return self.text(node.at, text, expected),
            Kind::Negative(inner) => return self.negative(node.at, inner, expected),
            Kind::Add(a, b) => return self.sum(node.at, true, a, b, expected),
            Kind::Sub(a, b) => return self.sum(node.at, false, a, b, expected),
            Kind::Mul(a, b) => return self.product(node.at, a, b, expected),
            Kind::Span(count, unit) => return self.span(count, *unit),
            Kind::Call { name, arguments, path } => return self.call(*name, arguments, path, expected),
            Kind::Fold(fold) => return self.fold(node.at, fold, expected),
            Kind::Not(inner) => Expr::Not(Box::new(self.truth(inner))),
            Kind::And(list) => Expr::And(truths(self, list)),
            Kind::Or(list) => Expr::Or(truths(self, list)),
            Kind::Implies(a, b) => Expr::Implies(Box::new(self.truth(a)), Box::new(self.truth(b))),
            Kind::Compare(op, a, b) => self.compare(node.at, *op, a, b),
            Kind::TextTest(op, a, b) => {
                let (a, b) = (self.value_of(a, Type::Text), self.value_of(b, Type::Text));
                Expr::Text(*op, Box::new(a), Box::new(b))
            }
            Kind::In { item, list, negated } => {
                let (item, ty) = self.value(item, None);
                let list = self.members(node.at, list, ty);
                let found = |item| Expr::In(Box::new(item), list);
                self.negated(node.at, item, *negated, found)
            }
            Kind::InAncestors { item, path, negated } => self.in_ancestors(node.at, item, path, *negated),
        };
        (truth, Is::Truth)
    }

    /// The members of `in {…}`, all of the type of what is looked for.
    fn members(&mut self, at: usize, list: &[Node<'t>], ty: Option<Type>) -> Vec<Expr> {
        let mut members = Vec::new();
        for member in list {
            let (expr, is) = self.beside(member, ty.map_or(Is::Unknown, Is::Value));
            let other = self.as_value(member, is);
            if let (Some(ty), Some(other)) = (ty, other) {
                self.comparable(at, Compare::Eq, ty, other, Some(member));
            }
            members.push(expr);
        }
        members
    }

    /// `not in` is false of null like every other comparison, so it needs a test for null beside the negation.
    fn negated(&mut self, at: usize, item: Expr, negated: bool, found: impl FnOnce(Expr) -> Expr) -> Expr {
        if !negated {
            return found(item);
        }
        // Copies inside copies would double with every level.
        item.visit(&mut |_| self.copied += 1);
        if self.copied > 4096 {
            self.fault(at, "`not in` after too large a value", None);
            return failed();
        }
        let there = Expr::Not(Box::new(Expr::IsNull(Box::new(item.clone()))));
        Expr::And(vec![there, Expr::Not(Box::new(found(item)))])
    }

    fn compare(&mut self, at: usize, op: Compare, a: &Node<'t>, b: &Node<'t>) -> Expr {
        if is_null(a) || is_null(b) {
            return self.null_test(at, op, a, b);
        }
        // `state = open` and `open = state` mean the same: whichever side has a type of its own is read first.
        let (x, y);
        if self.right_decides(a, b) {
            y = self.any(b, None);
            x = self.beside(a, y.1);
        } else {
            x = self.any(a, None);
            y = self.beside(b, x.1);
        }
        match (x.1, y.1) {
            (Is::Value(left), Is::Value(right)) => {
                self.comparable(at, op, left, right, Some(b));
            }
            (Is::Truth, other) | (other, Is::Truth) if other != Is::Unknown => {
                let help = match other {
                    Is::Value(Type::Bool) => "write the condition itself, or `not` before it",
                    _ => "a condition is joined with `and`, `or`, `not` and `implies`",
                };
                self.fault(at, "compares a condition", Some(help.to_owned()));
            }
            _ => {}
        }
        Expr::Compare(op, Box::new(x.0), Box::new(y.0))
    }

    fn null_test(&mut self, at: usize, op: Compare, a: &Node<'t>, b: &Node<'t>) -> Expr {
        let other = if is_null(a) { b } else { a };
        let (expr, _) = self.value(other, None);
        let test = Expr::IsNull(Box::new(expr));
        match op {
            Compare::Eq => test,
            Compare::Ne => Expr::Not(Box::new(test)),
            _ => {
                self.fault(at, "`null` has no order", Some("write `= null` or `!= null`".to_owned()));
                failed()
            }
        }
    }

    /// Whether the right side is read first, because the left one takes its type from it.
    fn right_decides(&self, a: &Node<'t>, b: &Node<'t>) -> bool {
        let Some(left) = bare_word(a) else { return takes_type(a) && !takes_type(b) };
        let Some(right) = bare_word(b) else { return !takes_type(b) };
        // Two bare words: a field or variable of an enumeration that has the other word decides; else whichever is a field or
        // variable at all.
        let has_word =
            |ty: Option<Type>, word: &str| matches!(ty, Some(Type::Enum(id)) if self.word(id, word).is_some());
        let (left_type, right_type) = (self.type_of_word(left.text), self.type_of_word(right.text));
        if has_word(left_type, right.text) {
            return false;
        }
        has_word(right_type, left.text) || (left_type.is_none() && right_type.is_some())
    }

    /// The type of a bare variable or field, if it is one.
    fn type_of_word(&self, word: &str) -> Option<Type> {
        if let Some(variable) = self.variables.iter().rev().find(|variable| variable.name == Some(word)) {
            return match variable.holds {
                Holds::Row(relation) => Some(Type::Ref(relation)),
                Holds::Member(ty) => Some(ty),
                Holds::Rows(_) | Holds::Unknown => None,
            };
        }
        self.variables.iter().rev().filter(|variable| variable.bare).find_map(|variable| match variable.holds {
            Holds::Row(relation) => self.field(relation, word).map(|(_, ty)| ty),
            _ => None,
        })
    }

    /// Faults if two types cannot be compared so.
    fn comparable(&mut self, at: usize, op: Compare, a: Type, b: Type, right: Option<&Node<'_>>) {
        if a != b {
            let message = format!("compares {} with {}", self.a(a), self.a(b));
            let help = self.mend(a, b, None, right);
            self.fault(at, message, help);
        } else if a == Type::Months || (!matches!(op, Compare::Eq | Compare::Ne) && !is_ordered(a)) {
            let message = format!("{} has no order", self.a(a));
            let help = "only numbers, dates, times and durations have one".to_owned();
            self.fault(at, message, Some(help));
        }
    }

    fn in_ancestors(&mut self, at: usize, item: &Node<'t>, start: &Node<'t>, negated: bool) -> Expr {
        let (row, row_type) = self.value(item, None);
        let (from, from_type) = self.value(start, None);
        let Some(from_type) = from_type else { return failed() };
        let last = match &from {
            Expr::Field(_, path) | Expr::Old(path) | Expr::Actor(path) => path.last().copied(),
            _ => None,
        };
        let Some((relation, field)) =
            last.filter(|(relation, field)| from_type == Type::Ref(*relation) && *field != FieldId::ID)
        else {
            let help = "such as `parent`, where `parent` of a folder is a folder".to_owned();
            self.fault(start.at, "`ancestors` takes a path to a field that refers to its own relation", Some(help));
            return failed();
        };
        if let Some(ty) = row_type {
            self.comparable(at, Compare::Eq, ty, Type::Ref(relation), None);
        }
        self.negated(at, row, negated, |row| Expr::InAncestors(Box::new(row), Box::new(from), field))
    }

    /// The meaning of a path or a bare word.
    fn path(&mut self, path: &[Name<'t>], expected: Option<Type>) -> (Expr, Is) {
        let Some((first, rest)) = path.split_first() else { return unknown() };
        if let Some(Type::Enum(id)) = expected
            && rest.is_empty()
            && let Some(word) = self.word(id, first.text)
        {
            return (Expr::Literal(Value::Enum(word), Type::Enum(id)), Is::Value(Type::Enum(id)));
        }
        if let Some(slot) = self.variables.iter().rposition(|variable| variable.name == Some(first.text)) {
            return self.variable(slot, *first, rest);
        }
        if RESERVED.contains(&first.text) {
            return self.reserved(*first, rest);
        }
        for slot in (0..self.variables.len()).rev().filter(|slot| self.variables[*slot].bare) {
            match self.variables[slot].holds {
                Holds::Row(relation) if self.field(relation, first.text).is_some() => {
                    return self.reached(relation, path, |path| Expr::Field(slot, path));
                }
                // Any name could be a field of a row of which nothing is known.
                Holds::Unknown => return unknown(),
                _ => {}
            }
        }
        self.nothing_called(*first, expected);
        unknown()
    }

    /// A variable, or what is reached from it.
    fn variable(&mut self, slot: usize, name: Name<'t>, rest: &[Name<'t>]) -> (Expr, Is) {
        // A fold inside may have made a field of the same name visible; guessing which was meant would be a trap.
        let clash = self.variables[slot + 1..].iter().find_map(|variable| match variable.holds {
            Holds::Row(relation) if variable.bare => self.field(relation, name.text).map(|_| relation),
            _ => None,
        });
        if let Some(relation) = clash {
            let relation = self.names.relation_name(relation);
            let message = format!("`{}` is both a variable and a field of {relation}", name.text);
            self.fault(name.at, message, Some(format!("name the row: `x in {relation}(…)`, then `x.{}`", name.text)));
            return unknown();
        }
        match (self.variables[slot].holds, rest.first()) {
            (Holds::Row(relation), _) => self.reached(relation, rest, |path| Expr::Field(slot, path)),
            (Holds::Member(ty), None) => (Expr::Var(slot), Is::Value(ty)),
            (Holds::Member(ty), Some(step)) => {
                let help = match ty {
                    Type::Ref(relation) => {
                        let relation = self.names.relation_name(relation);
                        Some(format!("look its row up: `{relation}(id = {}).{}`", name.text, step.text))
                    }
                    _ => None,
                };
                self.fault(step.at, format!("`{}` is a member of a set and has no fields", name.text), help);
                unknown()
            }
            (Holds::Rows(_), _) => {
                let help = format!("bind them one after the other: `x in {}`", name.text);
                self.fault(name.at, format!("`{}` stands for several rows", name.text), Some(help));
                unknown()
            }
            (Holds::Unknown, _) => unknown(),
        }
    }

    /// One of the [`RESERVED`] words, or what is reached from it.
    fn reserved(&mut self, name: Name<'t>, rest: &[Name<'t>]) -> (Expr, Is) {
        let literal = |value| (Expr::Literal(Value::Bool(value), Type::Bool), Is::Value(Type::Bool));
        let subject = self.subject;
        match name.text {
            "old" => {
                let Some(relation) = self.needs_subject(name) else { return unknown() };
                return self.reached(relation, rest, Expr::Old);
            }
            "actor" => {
                let Some(relation) = self.names.actor() else {
                    self.fault(name.at, "this world has no actor", None);
                    return unknown();
                };
                return self.reached(relation, rest, Expr::Actor);
            }
            "it" => {
                let Some(slot) = self.variables.iter().rposition(|variable| variable.it) else {
                    let help = "it is the row of the nearest `exists`, `none`, `all`, `count` … without a name";
                    self.fault(name.at, "`it` stands for no row here", Some(help.to_owned()));
                    return unknown();
                };
                return match self.variables[slot].holds {
                    Holds::Row(relation) => self.reached(relation, rest, |path| Expr::Field(slot, path)),
                    _ => unknown(),
                };
            }
            _ => {}
        }
        if let Some(step) = rest.first() {
            self.fault(step.at, format!("`{}` has no fields", name.text), None);
            return unknown();
        }
        match name.text {
            "true" => literal(true),
            "false" => literal(false),
            "null" => (failed(), Is::Null),
            "now" => (Expr::Now, Is::Value(Type::DateTime)),
            "today" => (Expr::Today, Is::Value(Type::Date)),
            // `created` or `deleted`.
            _ if subject.is_none() => {
                self.needs_subject(name);
                unknown()
            }
            "created" => (Expr::Created, Is::Truth),
            _ => (Expr::Deleted, Is::Truth),
        }
    }

    fn needs_subject(&mut self, name: Name<'_>) -> Option<RelationId> {
        if self.subject.is_none() {
            self.fault(name.at, format!("`{}` needs a row under judgement", name.text), None);
        }
        self.subject
    }

    /// What a path reaches from a row; the row itself if the path is empty.
    fn reached(&mut self, relation: RelationId, path: &[Name<'_>], make: impl FnOnce(Path) -> Expr) -> (Expr, Is) {
        match self.steps(relation, path) {
            Some((path, ty)) => (make(path), Is::Value(ty)),
            None => unknown(),
        }
    }

    /// Resolves the names of a path one after the other; all but the last must be references.
    fn steps(&mut self, relation: RelationId, names: &[Name<'_>]) -> Option<(Path, Type)> {
        let mut path = Path::new();
        let mut ty = Type::Ref(relation);
        for (at, name) in names.iter().enumerate() {
            let Type::Ref(relation) = ty else {
                let before = at.checked_sub(1).and_then(|at| names.get(at)).map_or("", |name| name.text);
                let message = format!("`{before}` is {} and has no field `{}`", self.a(ty), name.text);
                self.fault(name.at, message, None);
                return None;
            };
            let Some((field, next)) = self.field(relation, name.text) else {
                let message = format!("{} has no field `{}`", self.names.relation_name(relation), name.text);
                let help = did_you_mean(name.text, self.names.field_names(relation));
                self.fault(name.at, message, help);
                return None;
            };
            path.push((relation, field));
            ty = next;
        }
        Some((path, ty))
    }

    /// A field of a relation; `id` is one of every relation.
    fn field(&self, relation: RelationId, name: &str) -> Option<(FieldId, Type)> {
        if name == "id" {
            return Some((FieldId::ID, Type::Ref(relation)));
        }
        self.names.field(relation, name).map(|field| (field.id, field.ty))
    }

    /// Says that a bare word means nothing.
    fn nothing_called(&mut self, name: Name<'_>, expected: Option<Type>) {
        let wrong = name.text;
        let names = self.names;
        if let Some(fact) = names.fact(wrong) {
            let help = format!("write `{wrong}(…)` with {}", plural(fact.arguments.len(), "argument"));
            return self.fault(name.at, format!("`{wrong}` is a fact"), Some(help));
        }
        let rows: Vec<RelationId> = self
            .variables
            .iter()
            .rev()
            .filter_map(|variable| match variable.holds {
                Holds::Row(relation) if variable.bare => Some(relation),
                _ => None,
            })
            .collect();
        let mut words: Vec<&str> = rows.iter().flat_map(|relation| names.field_names(*relation)).collect();
        words.extend(self.variables.iter().filter_map(|variable| variable.name));
        words.extend(RESERVED);
        let shown: Vec<&str> = rows.iter().map(|relation| names.relation_name(*relation)).collect();
        let mut message = match &*shown {
            [] => format!("nothing is called `{wrong}` here"),
            [one] => format!("{one} has no field `{wrong}`"),
            many => format!("neither {} has a field `{wrong}`", many.join(" nor ")),
        };
        let mut help = did_you_mean(wrong, words);
        if let Some(Type::Enum(id)) = expected {
            let owner = names.enum_name(id);
            message = match &*shown {
                [] => format!("{owner} has no word `{wrong}`"),
                [one] => format!("`{wrong}` is neither a word of {owner} nor a field of {one}"),
                _ => format!("`{wrong}` is neither a word of {owner} nor a field"),
            };
            help = did_you_mean(wrong, names.enum_words(id)).or(help);
        } else if names.set(wrong).is_some() {
            message = format!("`{wrong}` is a set");
            help = Some(format!("bind its members: `for x in {wrong}: …`"));
        } else if help.is_none() && names.relation(wrong).is_some() {
            help = Some(format!("`{wrong}(…)` with a filter finds a row of that relation"));
        }
        self.fault(name.at, message, help);
    }
}

/// The help that names the nearest right name.
fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wrong, names).map(|right| format!("did you mean `{right}`?"))
}

/// `1 argument`, `2 arguments`.
fn plural(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
