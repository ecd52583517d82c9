//! Expressions over facts and rows: a value for each of some bindings. With these, facts follow from others, candidates from facts, and
//! limits from a plan.

use benchwright_base::Value;
use benchwright_expr::{
    Binder, Expr, Given, GivenType, Scope, Source, Type, check_rule, check_truth, check_value,
    eval::{GivenValue, Judge},
};
use benchwright_schema::plan::{Bound, Plan, PlanText, ViewRows};

/// Variables, and the values that they go through.
pub(crate) struct Per {
    binders: Vec<Binder>,
    names: Vec<String>,
    pub(crate) types: Vec<Type>,
}

/// Why an expression cannot be read, in words.
fn told(text: &str, faults: &[benchwright_expr::Fault]) -> String {
    let faults: Vec<&str> = faults.iter().map(|fault| &*fault.message).collect();
    format!("`{text}`: {}", faults.join("; "))
}

impl Per {
    /// Reads `i in items, t in periods where …`; nothing binds nothing.
    pub(crate) fn read(per: Option<&str>, plan: &Plan) -> Result<Per, String> {
        let Some(per) = per else { return Ok(Per { binders: Vec::new(), names: Vec::new(), types: Vec::new() }) };
        let (binders, _) =
            check_rule(&format!("per {per}: true"), plan, Scope::default()).map_err(|faults| told(per, &faults))?;
        let mut types = Vec::new();
        for binder in &binders {
            types.push(match &binder.source {
                Source::Set(set) => plan.sets[set.index()].1,
                Source::Range(..) => Type::Int,
                _ => return Err(format!("`{per}`: only sets and ranges can be gone through here")),
            });
        }
        let names = binders.iter().map(|binder| binder.name.clone().unwrap_or_default()).collect();
        Ok(Per { binders, names, types })
    }

    /// The variables by name, with what they are.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, Type)> {
        self.names.iter().cloned().zip(self.types.iter().copied())
    }

    /// The same variables and further ones, for expressions.
    pub(crate) fn with(&self, more: &[(String, Type)]) -> Per {
        let (names, types): (Vec<String>, Vec<Type>) = self.variables().chain(more.iter().cloned()).unzip();
        Per { binders: Vec::new(), names, types }
    }

    /// An expression in which the variables stand for values.
    pub(crate) fn expr(&self, text: &str, plan: &Plan, lets: &PlanText) -> Result<Expr, String> {
        let names = self.names.iter().zip(&self.types);
        let given: Vec<Given<'_>> = names.map(|(name, ty)| Given { name, is: GivenType::Value(*ty) }).collect();
        let spelled = lets.spelled_out(text);
        let scope = Scope { given: &given, ..Scope::default() };
        check_value(&spelled, plan, scope, None).map(|(expr, _)| expr).map_err(|faults| told(text, &faults))
    }

    /// A condition in which the variables stand for values.
    pub(crate) fn condition(&self, text: &str, plan: &Plan, lets: &PlanText) -> Result<Expr, String> {
        let names = self.names.iter().zip(&self.types);
        let given: Vec<Given<'_>> = names.map(|(name, ty)| Given { name, is: GivenType::Value(*ty) }).collect();
        let spelled = lets.spelled_out(text);
        let scope = Scope { given: &given, ..Scope::default() };
        check_truth(&spelled, plan, scope).map_err(|faults| told(text, &faults))
    }

    /// Every choice of values.
    pub(crate) fn all(&self, bound: &Bound, rows: &ViewRows) -> Vec<Vec<Value>> {
        let mut judge = Judge::new(rows, bound.anchor.midnight());
        judge.facts = bound;
        let mut found = Vec::new();
        judge.instances(&self.binders, &mut |here| found.push(here.at.to_vec()));
        found
    }
}

/// The value of an expression where the variables have values; `None` where it has none.
pub(crate) fn value(expr: &Expr, at: &[Value], bound: &Bound, rows: &ViewRows) -> Option<i64> {
    let given: Vec<GivenValue<_>> = at.iter().cloned().map(GivenValue::Value).collect();
    let mut judge = Judge::new(rows, bound.anchor.midnight());
    judge.facts = bound;
    judge.given = &given;
    number(&judge.value(expr))
}

/// A value as the number by which rows hold it: a member by its place.
pub(crate) fn number(value: &Value) -> Option<i64> {
    value.as_ref_id().map(i64::from).or(value.as_number())
}

/// Whether a condition holds where the variables have values.
pub(crate) fn holds(expr: &Expr, at: &[Value], bound: &Bound, rows: &ViewRows) -> bool {
    let given: Vec<GivenValue<_>> = at.iter().cloned().map(GivenValue::Value).collect();
    let mut judge = Judge::new(rows, bound.anchor.midnight());
    judge.facts = bound;
    judge.given = &given;
    judge.holds(expr)
}
