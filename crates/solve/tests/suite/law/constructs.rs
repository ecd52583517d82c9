//! Which constructs of the language a plan's rules and numbers use, counted on the checked tree.

use super::fixture::Counts;
use benchwright_base::{FieldId, RelationId};
use benchwright_expr::{Binder, Compare, Expr, FoldKind, Function, Source, TestOp, Type, Unit};
use benchwright_schema::plan::{Body, Plan};
use benchwright_spec::{Candidates, Cell};

/// Counts those of every rule and number.
pub(crate) fn count(plan: &Plan, candidates: &Candidates, counts: &mut Counts) {
    let mut counter = Counter { plan, candidates, counts };
    for rule in &plan.rules {
        for binder in &rule.per {
            let is_rows = matches!(binder.source, Source::Rows { .. });
            counter.hit(if is_rows { "per over rows" } else { "per over a set or range" });
            if let Some(condition) = &binder.condition {
                counter.hit("per … where");
                counter.all(condition);
            }
        }
        if let Body::Expr(body) = &rule.body {
            counter.all(body);
        }
        if rule.text.require.as_ref().is_some_and(|text| text.contains('$')) {
            counter.hit("$name");
        }
    }
    for phase in plan.objectives.values().flatten() {
        counter.hit("objective");
        counter.all(&phase.of);
    }
}

struct Counter<'a> {
    plan: &'a Plan,
    candidates: &'a Candidates,
    counts: &'a mut Counts,
}

impl Counter<'_> {
    fn hit(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    fn all(&mut self, expr: &Expr) {
        expr.visit(&mut |part| self.one(part));
    }

    /// Whether the field of some candidate is free.
    fn is_free_field(&self, relation: RelationId, field: FieldId) -> bool {
        let (Some(view), Some(at)) = (self.plan.view_of(relation), field.index().checked_sub(1)) else { return false };
        self.candidates[view].iter().any(|row| matches!(row.fields[at], Cell::Free(..)))
    }

    /// Whether something inside is decided.
    fn is_free(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.visit(&mut |part| match part {
            Expr::Field(_, path) => found |= path.iter().any(|(relation, field)| self.is_free_field(*relation, *field)),
            Expr::Fold(fold) => {
                found |= fold.binders.iter().any(|binder| matches!(binder.source, Source::Rows { .. }));
            }
            _ => {}
        });
        found
    }

    fn one(&mut self, expr: &Expr) {
        match expr {
            Expr::Add(..) => self.hit("+"),
            Expr::Sub(..) => self.hit("-"),
            Expr::Mul(a, b) => {
                self.hit(if self.is_free(a) && self.is_free(b) { "* of two decided" } else { "*" });
            }
            Expr::Span(_, unit) => self.hit(match unit {
                Unit::Days => "days",
                Unit::Hours => "hours",
                Unit::Minutes => "minutes",
                _ => "seconds",
            }),
            Expr::Call(function, _) => self.hit(match function {
                Function::Abs => "abs",
                Function::Least => "min(…)",
                Function::Greatest => "max(…)",
                _ => "another function",
            }),
            Expr::Fact(fact, arguments) => self.fact(fact.index(), arguments),
            Expr::Fold(_) => self.fold(expr),
            Expr::Truth(_) => self.hit("true and false"),
            Expr::Holds(of) => {
                self.hit(if matches!(**of, Expr::Fact(..)) {
                    "a fact as a condition"
                } else {
                    "a flag as a condition"
                });
            }
            Expr::Compare(op, a, _) => {
                self.hit(match op {
                    Compare::Eq => "=",
                    Compare::Ne => "!=",
                    Compare::Lt => "<",
                    Compare::Le => "<=",
                    Compare::Gt => ">",
                    Compare::Ge => ">=",
                });
                match &**a {
                    Expr::Field(_, path) if path.last().is_none_or(|(_, field)| *field == FieldId::ID) => {
                        self.hit("rows compared");
                    }
                    Expr::Literal(_, Type::Money) => self.hit("a literal of money"),
                    _ => {}
                }
            }
            Expr::In(..) => self.hit("in {…}"),
            Expr::Not(inner) => self.hit(if matches!(**inner, Expr::In(..)) { "not (… in {…})" } else { "not" }),
            Expr::And(_) => self.hit("and"),
            Expr::Or(_) => self.hit("or"),
            Expr::Implies(..) => self.hit("implies"),
            Expr::Literal(_, Type::Money) => self.hit("a literal of money"),
            _ => {}
        }
    }

    fn fact(&mut self, fact: usize, arguments: &[Expr]) {
        let declared = &self.plan.facts[fact];
        let free: Vec<bool> = arguments.iter().map(|argument| self.is_free(argument)).collect();
        let is_free = free.contains(&true);
        self.hit(match (declared.steps, declared.otherwise.is_some(), is_free) {
            (true, _, false) => "step fact, known",
            (true, _, true) => "step fact of a decision",
            (_, true, false) => "fact with else, known",
            (_, true, true) => "fact with else of a decision",
            (_, _, false) => "total fact, known",
            (_, _, true) => "total fact of a decision",
        });
        if declared.steps && arguments.len() == 2 && free[0] {
            self.hit("step fact, its place known and its row decided");
        }
        if is_free && matches!(declared.value, Type::Ref(_)) {
            self.hit("fact that is a member, of a decision");
        }
    }

    fn fold(&mut self, expr: &Expr) {
        let Expr::Fold(fold) = expr else { return };
        let is_named = |binder: &Binder| binder.name.as_ref().is_some_and(|name| name != "it");
        self.hit(match fold.kind {
            FoldKind::All if fold.binders.iter().all(is_named) => "for and all, named",
            FoldKind::All => "all, of it",
            FoldKind::Exists => "exists",
            FoldKind::None => "none",
            FoldKind::Count => "count",
            FoldKind::CountDistinct => "count distinct",
            FoldKind::Sum => "sum",
            FoldKind::Min => "min … else",
            FoldKind::Max => "max … else",
            FoldKind::NoOverlap => "no_overlap",
            FoldKind::Cumulative => "cumulative",
        });
        let mut folds = 0;
        expr.visit(&mut |part| folds += usize::from(matches!(part, Expr::Fold(_))));
        if folds > 1 {
            self.hit("fold inside a fold");
        }
        if fold.binders.len() > 1 {
            self.hit("two variables");
        }
        for binder in &fold.binders {
            self.hit(if is_named(binder) { "a named row or member" } else { "a row without a name" });
            if binder.condition.is_some() {
                self.hit("where");
            }
            match &binder.source {
                // No rule of a plan has rows by name in scope.
                Source::Given(_) => {}
                Source::Set(_) => self.hit("over a set"),
                Source::Range(low, _) => self.hit(if *low < 0 { "over a range below 0" } else { "over a range" }),
                Source::Rows { tests, .. } => {
                    self.hit("over rows");
                    for (path, op, values) in tests {
                        self.filter(path, *op, values);
                    }
                }
            }
        }
    }

    fn filter(&mut self, path: &[(RelationId, FieldId)], op: TestOp, values: &[Expr]) {
        let Some(&(relation, field)) = path.last() else { return };
        if field == FieldId::ID {
            return self.hit("filter on id");
        }
        let free = self.is_free_field(relation, field);
        self.hit(match (op, free) {
            (TestOp::Compare(Compare::Eq), false) => "filter = on a fixed field",
            (TestOp::Compare(Compare::Eq), true) => "filter = on a free field",
            (TestOp::Compare(Compare::Ne), false) => "filter != on a fixed field",
            (TestOp::Compare(Compare::Ne), true) => "filter != on a free field",
            (TestOp::Compare(Compare::Lt), false) => "filter < on a fixed field",
            (TestOp::Compare(Compare::Lt), true) => "filter < on a free field",
            (TestOp::Compare(Compare::Le), false) => "filter <= on a fixed field",
            (TestOp::Compare(Compare::Le), true) => "filter <= on a free field",
            (TestOp::Compare(Compare::Gt), false) => "filter > on a fixed field",
            (TestOp::Compare(Compare::Gt), true) => "filter > on a free field",
            (TestOp::Compare(Compare::Ge), false) => "filter >= on a fixed field",
            (TestOp::Compare(Compare::Ge), true) => "filter >= on a free field",
            (TestOp::In, false) => "filter in on a fixed field",
            (TestOp::In, true) => "filter in on a free field",
            (TestOp::NotIn, false) => "filter not in on a fixed field",
            (TestOp::NotIn, true) => "filter not in on a free field",
            _ => "another filter",
        });
        if values.iter().any(|value| self.is_free(value)) {
            self.hit("filter against a decision");
        }
    }
}

/// Every construct that a solver can read; each must occur.
pub(crate) const ALL: [&str; 79] = [
    "+",
    "-",
    "*",
    "* of two decided",
    "days",
    "hours",
    "minutes",
    "seconds",
    "abs",
    "min(…)",
    "max(…)",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "rows compared",
    "a literal of money",
    "true and false",
    "a flag as a condition",
    "a fact as a condition",
    "in {…}",
    "not (… in {…})",
    "not",
    "and",
    "or",
    "implies",
    "for and all, named",
    "all, of it",
    "exists",
    "none",
    "count",
    "count distinct",
    "sum",
    "min … else",
    "max … else",
    "no_overlap",
    "cumulative",
    "fold inside a fold",
    "two variables",
    "a named row or member",
    "a row without a name",
    "where",
    "over a set",
    "over a range",
    "over a range below 0",
    "over rows",
    "filter on id",
    "filter = on a fixed field",
    "filter = on a free field",
    "filter != on a fixed field",
    "filter != on a free field",
    "filter < on a fixed field",
    "filter < on a free field",
    "filter <= on a fixed field",
    "filter <= on a free field",
    "filter > on a fixed field",
    "filter > on a free field",
    "filter >= on a fixed field",
    "filter >= on a free field",
    "filter in on a fixed field",
    "filter in on a free field",
    "filter not in on a fixed field",
    "filter not in on a free field",
    "filter against a decision",
    "total fact, known",
    "total fact of a decision",
    "fact with else, known",
    "fact with else of a decision",
    "step fact, known",
    "step fact of a decision",
    "step fact, its place known and its row decided",
    "fact that is a member, of a decision",
    "$name",
    "per over a set or range",
    "per over rows",
    "per … where",
    "objective",
];
