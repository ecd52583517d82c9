//! The checker's part for what binds variables: sources of rows with their filters, the variables of `for` and `per`, and
//! folds such as `sum` and `exists`.

use super::sorts::{Is, is_number, is_ordered};
use super::terms::zero;
use super::{Checker, Holds, RESERVED, Variable, did_you_mean, is_null};
use crate::parse::{BinderNode, FoldNode, Kind, Name, Node, SourceNode};
use crate::{Binder, Compare, Expr, Fold, FoldKind, Path, Source, TestOp, Type};
use benchwright_base::{RelationId, SetId};

/// The most numbers that a range may have.
const WIDEST: i64 = 100_000;

/// A placeholder for a source that failed; it is never seen.
fn no_source() -> Source {
    Source::Set(SetId(0))
}

impl<'t> Checker<'_, 't> {
    /// The rows of a relation that pass filters. Their values are read in the scope outside.
    pub(super) fn rows(&mut self, relation: RelationId, filters: &[Node<'t>]) -> Source {
        let tests = filters.iter().filter_map(|filter| self.filter(relation, filter)).collect();
        Source::Rows { relation, tests }
    }

    /// One filter: a path from the row on the left, a comparison, and a right side that does not see the row. The parser reads
    /// any expression between the brackets, so that everything else gets a message about filters.
    fn filter(&mut self, relation: RelationId, filter: &Node<'t>) -> Option<(Path, TestOp, Vec<Expr>)> {
        let left = match &filter.kind {
            Kind::Compare(_, left, _) | Kind::TextTest(_, left, _) | Kind::In { item: left, .. } => left,
            Kind::Path(path) => {
                let (_, ty) = self.steps(relation, path)?;
                let help = match ty {
                    Type::Bool => "write `= true` or `= false` after it",
                    _ => "write an operator and a value after it",
                };
                self.fault(filter.at, "a filter compares a field with a value", Some(help.to_owned()));
                return None;
            }
            Kind::And(_) | Kind::Or(_) | Kind::Not(_) | Kind::Implies(..) => {
                let help = "commas between filters mean `and`; for the rest, name the row: `x in t(…) where …`";
                self.fault(filter.at, "a filter is a single comparison", Some(help.to_owned()));
                return None;
            }
            Kind::InAncestors { .. } => {
                let help = "name the row: `x in t(…) where x in ancestors(…)`".to_owned();
                self.fault(filter.at, "a filter cannot use `ancestors`", Some(help));
                return None;
            }
            _ => {
                self.fault(filter.at, "a filter compares a field with a value", None);
                return None;
            }
        };
        let Kind::Path(names) = &left.kind else {
            let relation = self.names.relation_name(relation);
            self.fault(left.at, format!("a filter begins with a field of {relation}"), None);
            return None;
        };
        let field = self.steps(relation, names);
        let ty = field.as_ref().map(|(_, ty)| *ty);
        let (op, values) = match &filter.kind {
            Kind::Compare(op, _, right) if is_null(right) => match op {
                Compare::Eq => (TestOp::IsNull, Vec::new()),
                Compare::Ne => (TestOp::NotNull, Vec::new()),
                _ => {
                    self.fault(filter.at, "`null` has no order", Some("write `= null` or `!= null`".to_owned()));
                    return None;
                }
            },
            Kind::Compare(op, _, right) => {
                let (expr, is) = self.beside(right, ty.map_or(Is::Unknown, Is::Value));
                let other = self.as_value(right, is);
                if let (Some(ty), Some(other)) = (ty, other) {
                    self.comparable(filter.at, *op, ty, other, Some(right));
                }
                (TestOp::Compare(*op), vec![expr])
            }
            Kind::TextTest(op, _, right) => {
                if let Some(ty) = ty.filter(|ty| *ty != Type::Text) {
                    self.unexpected(left, Type::Text, ty);
                }
                (TestOp::Text(*op), vec![self.value_of(right, Type::Text)])
            }
            Kind::In { list, negated, .. } => {
                let op = if *negated { TestOp::NotIn } else { TestOp::In };
                (op, self.members(filter.at, list, ty))
            }
            _ => return None,
        };
        field.map(|(path, _)| (path, op, values))
    }

    /// A relation by name, or a fault.
    fn relation(&mut self, name: Name<'_>) -> Option<RelationId> {
        let relation = self.names.relation(name.text);
        if relation.is_none() {
            let help = did_you_mean(name.text, self.names.relation_names());
            self.fault(name.at, format!("no relation is called `{}`", name.text), help);
        }
        relation
    }

    /// A source that must be the rows of a relation.
    pub(super) fn rows_only(&mut self, node: &SourceNode<'t>) -> Source {
        match node {
            SourceNode::Rows { name, filters } => match self.relation(*name) {
                Some(relation) => self.rows(relation, filters),
                None => no_source(),
            },
            SourceNode::Named(name) => match self.relation(*name) {
                Some(relation) => self.rows(relation, &[]),
                None => no_source(),
            },
            SourceNode::Range { at, .. } => {
                self.fault(*at, "wanted a relation, got a range", None);
                no_source()
            }
        }
    }

    /// What a variable ranges over, and what it then stands for. A set hides a relation of the same name.
    fn source(&mut self, node: &SourceNode<'t>) -> (Source, Holds) {
        match node {
            SourceNode::Named(name) => {
                let given = self.variables.iter().rposition(|variable| variable.name == Some(name.text));
                if let Some(slot) = given
                    && let Holds::Rows(relation) = self.variables[slot].holds
                {
                    return (Source::Given(slot), Holds::Row(relation));
                }
                if let Some((set, ty)) = self.names.set(name.text) {
                    return (Source::Set(set), Holds::Member(ty));
                }
                if let Some(relation) = self.names.relation(name.text) {
                    return (self.rows(relation, &[]), Holds::Row(relation));
                }
                let known = self.names.set_names().into_iter().chain(self.names.relation_names());
                let help = did_you_mean(name.text, known);
                self.fault(name.at, format!("no set or relation is called `{}`", name.text), help);
                (no_source(), Holds::Unknown)
            }
            SourceNode::Rows { .. } => match self.rows_only(node) {
                Source::Rows { relation, tests } => (Source::Rows { relation, tests }, Holds::Row(relation)),
                other => (other, Holds::Unknown),
            },
            SourceNode::Range { at, low, high } => {
                if low > high {
                    self.fault(*at, format!("the range {low}..{high} is empty"), None);
                } else if high.checked_sub(*low).is_none_or(|width| width >= WIDEST) {
                    self.fault(*at, format!("the range {low}..{high} has more than {WIDEST} numbers"), None);
                }
                (Source::Range(*low, *high), Holds::Member(Type::Int))
            }
        }
    }

    /// Checks a binder and binds its variable. `it` is the name of the row if it has none.
    pub(super) fn binder(&mut self, node: &BinderNode<'t>, it: bool) -> Binder {
        let (source, holds) = self.source(&node.source);
        if let Some(name) = node.name {
            self.free(name);
        }
        let unnamed = node.name.is_none();
        let name = node.name.map(|name| name.text);
        self.variables.push(Variable { name, holds, bare: false, it: unnamed });
        let condition = node.condition.as_ref().map(|condition| self.truth(condition));
        let it = unnamed && (it || condition.is_some());
        Binder { name: name.or(it.then_some("it")).map(str::to_owned), source, condition }
    }

    /// Faults if a name cannot be given to a variable.
    fn free(&mut self, name: Name<'_>) {
        let owner = self.variables.iter().find_map(|variable| match variable.holds {
            Holds::Row(relation) if variable.bare => self.field(relation, name.text).map(|_| relation),
            _ => None,
        });
        if RESERVED.contains(&name.text) {
            self.fault(name.at, format!("`{}` cannot name a variable", name.text), None);
        } else if self.variables.iter().any(|variable| variable.name == Some(name.text)) {
            self.fault(name.at, format!("`{}` is bound twice", name.text), Some("choose another name".to_owned()));
        } else if let Some(relation) = owner {
            let owner = self.names.relation_name(relation);
            let message = format!("the variable `{}` has the name of a field of {owner}", name.text);
            self.fault(name.at, message, Some("choose another name".to_owned()));
        }
    }

    /// A fold: binds its variables, checks the body with them, forgets them, and checks what is read outside (`else`, the
    /// limit of `cumulative`).
    pub(super) fn fold(&mut self, at: usize, fold: &FoldNode<'t>, expected: Option<Type>) -> (Expr, Is) {
        let base = self.variables.len();
        let kind = fold.kind;
        let binders: Vec<Binder> =
            fold.binders.iter().map(|binder| self.binder(binder, kind == FoldKind::All)).collect();
        let is_truth = matches!(kind, FoldKind::All | FoldKind::Exists | FoldKind::None);
        if !is_truth && let Some(row) = self.variables.get_mut(base) {
            // The body of a fold to a value sees the fields of a row that has no name of its own.
            row.bare = row.name.is_none();
        }
        let expected = match kind {
            FoldKind::Sum | FoldKind::Min | FoldKind::Max => expected,
            _ => None,
        };
        let mut body = Vec::new();
        let mut types = Vec::new();
        for node in &fold.body {
            if is_truth {
                body.push(self.truth(node));
            } else {
                // The end of an interval is of the type of its start.
                let wanted = if types.len() == 1 { types.first().copied().flatten() } else { expected };
                let (expr, ty) = self.value(node, wanted);
                body.push(expr);
                types.push(ty);
            }
        }
        self.variables.truncate(base);
        let is = self.fold_sort(at, fold, &types);
        let mut outer = None;
        if let Some(node) = &fold.outer {
            // The load of `cumulative`, or the value of `min` and `max`: what stands outside is of the same type.
            let wanted = types.last().copied().flatten().filter(|ty| is_ordered(*ty));
            let (expr, is_outer) = self.beside(node, wanted.map_or(Is::Unknown, Is::Value));
            if let (Some(wanted), Some(ty)) = (wanted, self.as_value(node, is_outer))
                && wanted != ty
            {
                self.unexpected(node, wanted, ty);
            }
            outer = Some(Box::new(expr));
        } else if let (FoldKind::Sum, Is::Value(ty)) = (kind, is) {
            outer = Some(Box::new(zero(ty)));
        }
        (Expr::Fold(Fold { kind, binders, base, body, outer }), is)
    }

    /// What a fold makes of a body of these types.
    fn fold_sort(&mut self, at: usize, fold: &FoldNode<'t>, types: &[Option<Type>]) -> Is {
        let place = |nth: usize| fold.body.get(nth).map_or(at, |node| node.at);
        match (fold.kind, types) {
            (FoldKind::Count, _) => Is::Value(Type::Int),
            (FoldKind::CountDistinct, [Some(Type::Months)]) => {
                self.fault(place(0), "a number of months cannot be counted", None);
                Is::Unknown
            }
            (FoldKind::CountDistinct, _) => Is::Value(Type::Int),
            (FoldKind::Sum | FoldKind::Min | FoldKind::Max, [Some(ty)]) => {
                let (fits, lack) = match fold.kind {
                    FoldKind::Sum => (is_number(*ty), "cannot be added up"),
                    _ => (is_ordered(*ty), "has no order"),
                };
                if fits {
                    return Is::Value(*ty);
                }
                let message = format!("{} {lack}", self.a(*ty));
                self.fault(place(0), message, None);
                Is::Unknown
            }
            (FoldKind::Sum | FoldKind::Min | FoldKind::Max, _) => Is::Unknown,
            (FoldKind::NoOverlap | FoldKind::Cumulative, types) => {
                if let [Some(start), Some(end), ..] = types {
                    let message = if start != end {
                        Some(format!("begins with {} and ends with {}", self.a(*start), self.a(*end)))
                    } else if !is_ordered(*start) {
                        Some(format!("{} has no order", self.a(*start)))
                    } else {
                        None
                    };
                    if let Some(message) = message {
                        self.fault(place(0), message, None);
                    }
                }
                if let [_, _, Some(load)] = types
                    && !is_number(*load)
                {
                    let message = format!("{} cannot be added up", self.a(*load));
                    self.fault(place(2), message, None);
                }
                Is::Truth
            }
            _ => Is::Truth,
        }
    }
}
