//! Translates rules over candidate rows into a solver's model (the field calls this lowering). It is the second algebra of
//! the one walk in `expr::walk`: where the evaluator has values and truths, this has linear expressions over variables and
//! formulas, so a rule means the same to both.
//!
//! A free field of a row that is not used is 0, so sums need no condition. A truth that is counted or negated is tied to
//! its literal in both directions, because the solver would else be free to choose the literal as it likes.

mod dominant;
mod filter;
mod folds;
mod keys;
mod schedule;
mod select;

use crate::sabotage::{Sabotage, broken};
use crate::{
    Constraint, Formula, Lin, Lit, Model, Range, Var,
    check::{FARTHEST, size},
};
use benchwright_base::{FactId, FieldId, RelationId, SetId, Value};
use benchwright_expr::{
    Binder, Compare, Expr, Fold, FoldKind, Function, TextOp, Type, Unit, lowerable,
    walk::{self, Algebra, Bound as Slot, EachRow, Env, Test},
};
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Candidates, Cell, Rows};
use std::{collections::BTreeMap, ops::ControlFlow};

/// How rules become constraints. Both ways have the same plans; they differ in how much a search proves of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lowering {
    /// Each quantity has variables where it is named, and intervals are compared in pairs. Small models are read best so, and suites
    /// that were locked were proved so.
    #[default]
    Plain,
    /// Equal maxima are one variable, sums that grow are a chain, and intervals that are required are native constraints.
    Shared,
}

/// A candidate in the model.
#[derive(Clone, Debug)]
pub struct Row {
    /// Whether the plan has it.
    pub used: Formula,
    /// The value of each field of the view: a constant where it is fixed, a variable where it is free.
    pub fields: Vec<Lin>,
}

/// Which candidate a variable is a field of, the literal that it is used, and the variable's domain where it is.
#[derive(Clone, Copy, Debug)]
struct Home {
    row: (usize, usize),
    used: Option<Lit>,
    when_used: (i64, i64),
}

/// A model under construction, with what its variables mean.
#[derive(Clone)]
pub struct Lower<'a> {
    /// The model so far.
    pub model: Model,
    /// The candidates by view.
    pub rows: Vec<Vec<Row>>,
    plan: &'a Plan,
    bound: &'a Bound,
    lowering: Lowering,
    homes: BTreeMap<Var, Home>,
    /// Candidates that may be taken as used, because what is read is only read under that guard.
    assumed: Vec<(usize, usize)>,
    lits: BTreeMap<Formula, Lit>,
    gates: BTreeMap<(Lit, Lin), Lin>,
    known: folds::Known,
    indices: BTreeMap<(usize, usize), select::Index>,
    /// The first thing that could not be read.
    fault: Option<String>,
}

/// Why an expression has no place in a model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct LowerError(pub String);

/// One instance of a rule, as a formula.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The rule's place in the plan.
    pub rule: usize,
    /// What `per` is bound to; a row is its candidate's place from 1.
    pub at: Vec<i64>,
    /// The condition as a formula over the model's variables.
    pub holds: Formula,
}

impl<'a> Lower<'a> {
    /// A model of candidates, without rules yet, in the plain way.
    pub fn new(plan: &'a Plan, bound: &'a Bound, candidates: &Candidates) -> Lower<'a> {
        Lower::in_way(Lowering::Plain, plan, bound, candidates)
    }

    /// A model of candidates, without rules yet, in the way that is asked for.
    pub fn in_way(lowering: Lowering, plan: &'a Plan, bound: &'a Bound, candidates: &Candidates) -> Lower<'a> {
        let mut lower = Lower {
            model: Model::default(),
            rows: Vec::with_capacity(candidates.len()),
            plan,
            bound,
            lowering,
            homes: BTreeMap::new(),
            assumed: Vec::new(),
            lits: BTreeMap::new(),
            gates: BTreeMap::new(),
            known: folds::Known::default(),
            indices: BTreeMap::new(),
            fault: None,
        };
        // A bundle is used as a whole, so one literal is enough; and where one of its rows is in every plan, all are.
        let mut bundles: BTreeMap<u32, Formula> = BTreeMap::new();
        for candidate in candidates.iter().flatten().filter(|candidate| candidate.must) {
            bundles.extend(candidate.bundle.map(|bundle| (bundle, Formula::Known(true))));
        }
        if broken(Sabotage::BundlesComeApart) {
            bundles.clear();
        }
        for (view, candidates) in candidates.iter().enumerate() {
            lower.rows.push(Vec::with_capacity(candidates.len()));
            for (at, candidate) in candidates.iter().enumerate() {
                let home = (view, at);
                let together = candidate.bundle.filter(|_| !broken(Sabotage::BundlesComeApart));
                let used = match together.and_then(|bundle| bundles.get(&bundle)) {
                    Some(used) => used.clone(),
                    None if candidate.must => Formula::Known(true),
                    None => Formula::Lit(lower.model.lit()),
                };
                bundles.extend(together.map(|bundle| (bundle, used.clone())));
                let fields = candidate.fields.iter().map(|cell| lower.cell(*cell, home, &used)).collect();
                lower.rows[view].push(Row { used, fields });
            }
            lower.one_of_a_key(view);
        }
        lower
    }

    fn cell(&mut self, cell: Cell, home: (usize, usize), used: &Formula) -> Lin {
        let (low, high) = match cell {
            Cell::Fixed(value) => return Lin::constant(value),
            Cell::Free(low, high) => (low, high),
        };
        let Formula::Lit(used) = used else {
            let var = self.model.var(low, high);
            self.homes.insert(var, Home { row: home, used: None, when_used: (low, high) });
            return Lin::var(var);
        };
        // Unused, the field is 0, so 0 must be in its domain, even where no used row could have it: a field of 5 to 40 lies
        // in {0} and 5..40, and which of the two it is follows from whether the row is used.
        let var = self.model.var(low.min(0), high.max(0));
        self.homes.insert(var, Home { row: home, used: Some(*used), when_used: (low, high) });
        if low > 1 {
            self.model.vars[var as usize] = vec![(0, 0), (low, high)];
        }
        let it = Lin::var(var);
        if low > 0 || high < 0 {
            self.model.constraints.push(linear(it.clone(), vec![(low, high)], vec![*used]));
        }
        if !broken(Sabotage::UnusedFieldsStay) {
            self.model.constraints.push(linear(it.clone(), vec![(0, 0)], vec![!*used]));
        }
        it
    }

    /// Every instance of a rule that a solver reads.
    pub fn instances(&mut self, rule: usize) -> Result<Vec<Instance>, LowerError> {
        let benchwright_schema::plan::Body::Expr(body) = &self.plan.rules[rule].body else { return Ok(Vec::new()) };
        let per: &[Binder] = &self.plan.rules[rule].per;
        // What stands in the way of a body stands in the way of the variables over it.
        let whole = Fold { kind: FoldKind::All, binders: per.to_vec(), base: 0, body: vec![body.clone()], outer: None };
        readable(&Expr::Fold(whole))?;
        let mut found = Vec::new();
        let mut env = Env::<Self>::new();
        let _ = walk::elements(self, per, &mut env, None, &mut |a, env, guard| {
            if guard != Formula::Known(true) {
                a.fail("`per` ranges over what is decided");
            }
            let at = env.iter().map(|slot| match slot {
                Slot::Value(value) => value.known().unwrap_or_default(),
                Slot::Row((_, row)) => *row as i64 + 1,
                // No rule of a plan has rows by name in scope.
                Slot::Rows(_) => 0,
            });
            let at = at.collect();
            let holds = walk::truth(a, body, env);
            found.push(Instance { rule, at, holds });
            ControlFlow::Continue(())
        });
        self.finish(found)
    }

    /// Every instance of every rule that a solver reads.
    pub fn all_instances(&mut self) -> Result<Vec<Instance>, LowerError> {
        let mut found = Vec::new();
        for rule in 0..self.plan.rules.len() {
            if self.plan.rules[rule].lowered {
                found.extend(self.instances(rule)?);
            }
        }
        Ok(found)
    }

    /// Reads an expression of numbers, such as an objective, as a linear expression.
    pub fn number(&mut self, expr: &Expr) -> Result<Lin, LowerError> {
        readable(expr)?;
        let number = walk::value(self, expr, &mut Env::<Self>::new());
        self.finish(number)
    }

    /// Reads an expression that is true or false as a formula.
    pub fn formula(&mut self, expr: &Expr) -> Result<Formula, LowerError> {
        readable(expr)?;
        let truth = walk::truth(self, expr, &mut Env::<Self>::new());
        self.finish(truth)
    }

    fn finish<T>(&mut self, found: T) -> Result<T, LowerError> {
        match self.fault.take() {
            Some(fault) => Err(LowerError(fault)),
            None => Ok(found),
        }
    }

    fn fail(&mut self, why: impl Into<String>) {
        if self.fault.is_none() {
            self.fault = Some(why.into());
        }
    }

    /// Makes a formula hold wherever all the literals do.
    pub fn require_when(&mut self, formula: &Formula, when: &[Lit]) {
        match formula {
            Formula::Known(true) => {}
            Formula::Known(false) => self.model.constraints.push(Constraint::Or(negated(when))),
            Formula::Lit(lit) => {
                let mut clause = negated(when);
                clause.push(*lit);
                self.model.constraints.push(Constraint::Or(clause));
            }
            Formula::Le(of) => self.model.constraints.push(linear(of.clone(), vec![(i64::MIN, 0)], when.to_vec())),
            Formula::Eq(of) => self.model.constraints.push(linear(of.clone(), vec![(0, 0)], when.to_vec())),
            Formula::Ne(of) => {
                let apart = vec![(i64::MIN, -1), (1, i64::MAX)];
                self.model.constraints.push(linear(of.clone(), apart, when.to_vec()));
            }
            Formula::And(parts) => parts.iter().for_each(|part| self.require_when(part, when)),
            Formula::Or(parts) => {
                let mut clause = negated(when);
                for part in parts {
                    let lit = self.implying(part);
                    clause.push(lit);
                }
                self.model.constraints.push(Constraint::Or(clause));
            }
            Formula::Intervals { of, kept } => self.require_intervals(of, *kept, when),
        }
    }

    /// Makes a formula hold.
    pub fn require(&mut self, formula: &Formula) {
        self.require_when(formula, &[]);
    }

    /// A literal that implies the formula, which is enough below `or`.
    fn implying(&mut self, formula: &Formula) -> Lit {
        if let Formula::Lit(lit) = formula {
            return *lit;
        }
        if let Some(lit) = self.lits.get(formula) {
            return *lit;
        }
        let lit = self.model.lit();
        self.require_when(formula, &[lit]);
        lit
    }

    /// A literal that holds exactly when the formula does.
    pub fn lit(&mut self, formula: &Formula) -> Lit {
        if let Formula::Lit(lit) = formula {
            return *lit;
        }
        if let Some(lit) = self.lits.get(formula) {
            return *lit;
        }
        let negated = formula.negated();
        if let Some(lit) = self.lits.get(&negated) {
            return !*lit;
        }
        if let Formula::Intervals { of, kept } = formula {
            // Both directions are of the pairs, so they are written once.
            let pairs = self.in_pairs(of);
            let lit = self.lit(&if *kept { pairs } else { pairs.negated() });
            self.lits.insert(formula.clone(), lit);
            return lit;
        }
        let lit = self.model.lit();
        self.lits.insert(formula.clone(), lit);
        self.require_when(formula, &[lit]);
        if !broken(Sabotage::OneWayLiterals) {
            self.require_when(&negated, &[!lit]);
        }
        lit
    }

    /// 1 where the formula holds, else 0.
    pub fn truth_value(&mut self, formula: &Formula) -> Lin {
        match formula {
            Formula::Known(known) => Lin::constant(i64::from(*known)),
            other => Lin::lit(self.lit(other)),
        }
    }

    /// The rows of a solution.
    pub fn read(&self, point: &[i64]) -> Rows {
        let row = |row: &Row| row.fields.iter().map(|field| field.at(point)).collect();
        let view = |rows: &Vec<Row>| rows.iter().filter(|row| row.used.at(point)).map(row).collect();
        Rows(self.rows.iter().map(view).collect())
    }

    /// The least and the greatest value of an expression. While something is read under the guard that a row is used, the fields of
    /// that row have the narrower bounds of a used one: 5 to 40, and not 0 too. So more is known before any variable is made.
    fn bounds(&self, of: &Lin) -> (i64, i64) {
        of.terms.iter().fold((of.constant, of.constant), |(low, high), (var, k)| {
            let (a, b) = match self.homes.get(var) {
                Some(home) if broken(Sabotage::EveryRowUsed) || self.assumed.contains(&home.row) => home.when_used,
                _ => self.model.bounds(*var),
            };
            if *k > 0 { (low + k * a, high + k * b) } else { (low + k * b, high + k * a) }
        })
    }

    /// The formula, or its truth where the bounds of its expression decide it already.
    fn simple(&self, formula: Formula) -> Formula {
        match &formula {
            Formula::Le(of) => match self.bounds(of) {
                (_, high) if high <= 0 => Formula::Known(true),
                (low, _) if low > 0 => Formula::Known(false),
                _ => formula,
            },
            Formula::Eq(of) | Formula::Ne(of) => {
                let differs = matches!(formula, Formula::Ne(_));
                match self.bounds(of) {
                    (low, high) if low > 0 || high < 0 => Formula::Known(differs),
                    (0, 0) => Formula::Known(!differs),
                    _ => formula,
                }
            }
            _ => formula,
        }
    }

    /// The sum, which must be of a size that an engine can compute with.
    fn total(&mut self, parts: Vec<Lin>) -> Lin {
        if parts.iter().map(|part| size(&self.model, part)).sum::<i128>() > FARTHEST {
            self.fail(TOO_LARGE);
            return Lin::default();
        }
        Lin::sum(parts)
    }

    /// The product with a known factor, which must be of such a size too.
    fn scaled(&mut self, of: &Lin, factor: i64) -> Lin {
        if size(&self.model, of).saturating_mul(i128::from(factor).abs()) > FARTHEST {
            self.fail(TOO_LARGE);
            return Lin::default();
        }
        of.times(factor)
    }

    /// The expression where the guard holds, else 0.
    fn gate(&mut self, guard: &Formula, of: Lin) -> Lin {
        match guard {
            Formula::Known(true) => return of,
            Formula::Known(false) => return Lin::default(),
            _ => {}
        }
        if let Some(constant) = of.known() {
            return if constant == 0 { of } else { Lin::lit(self.lit(guard)).times(constant) };
        }
        if let Formula::Lit(lit) = guard
            && of.terms.iter().all(|(var, _)| self.homes.get(var).is_some_and(|home| home.used == Some(*lit)))
        {
            // The fields of a row that is not used are 0 already; only the constant needs the gate.
            let fields = Lin { terms: of.terms.clone(), constant: 0 };
            let constant = match broken(Sabotage::UngatedConstants) {
                true => Lin::constant(of.constant),
                false => Lin::lit(*lit).times(of.constant),
            };
            return fields.plus(&constant);
        }
        let lit = self.lit(guard);
        if let Some(known) = self.gates.get(&(lit, of.clone())) {
            return known.clone();
        }
        let (low, high) = self.model.bounds_of(&of);
        let gated = Lin::var(self.model.var(low.min(0), high.max(0)));
        self.require_when(&Formula::Eq(gated.minus(&of)), &[lit]);
        if !broken(Sabotage::GatesStayOpen) {
            self.require_when(&Formula::Eq(gated.clone()), &[!lit]);
        }
        if low >= 0 {
            // Follows from the two above, but a linear relaxation does not see it.
            self.require(&Formula::Le(gated.minus(&of)));
        }
        self.gates.insert((lit, of), gated.clone());
        gated
    }
}

/// Refuses what has no reading over candidates, such as the first row of those that may be there.
fn readable(expr: &Expr) -> Result<(), LowerError> {
    lowerable(expr).map_err(|obstacle| LowerError(format!("{obstacle} has no place in a model")))
}

const TOO_LARGE: &str = "numbers that may become too large have no place in a model";

/// The widest domain that is taken apart value by value.
const WIDEST: i64 = 5_000;

fn linear(of: Lin, within: Range, when: Vec<Lit>) -> Constraint {
    Constraint::Linear { of, within, when }
}

fn negated(lits: &[Lit]) -> Vec<Lit> {
    lits.iter().map(|lit| !*lit).collect()
}

fn holds(op: Compare, a: i64, b: i64) -> bool {
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Gt => a > b,
        Compare::Ge => a >= b,
    }
}

impl Algebra for Lower<'_> {
    type Value = Lin;
    type Truth = Formula;
    type Row = (usize, usize);
    type Folding = (FoldKind, Vec<(Formula, Lin)>);

    fn constant(&mut self, value: &Value) -> Lin {
        let number = match value {
            Value::Ref(row) => Some(i64::from(*row)),
            Value::Bool(known) => Some(i64::from(*known)),
            Value::Enum(word) => Some(i64::from(*word)),
            other => other.as_number(),
        };
        if number.is_none() {
            self.fail(format!("{value:?} is no number"));
        }
        self.total(vec![Lin::constant(number.unwrap_or_default())])
    }
    fn truth(&mut self, known: bool) -> Formula {
        Formula::Known(known)
    }
    fn known(&self, truth: &Formula) -> Option<bool> {
        match truth {
            Formula::Known(known) => Some(*known),
            _ => None,
        }
    }

    fn now(&mut self) -> Lin {
        self.fail("`now` has no place in a model");
        Lin::default()
    }
    fn actor(&mut self) -> Option<(usize, usize)> {
        self.fail("`actor` has no place in a model");
        None
    }
    fn subject_before(&mut self) -> Option<(usize, usize)> {
        self.fail("`old` has no place in a model");
        None
    }
    fn created(&mut self) -> Formula {
        self.fail("`created` has no place in a model");
        Formula::Known(false)
    }
    fn deleted(&mut self) -> Formula {
        self.fail("`deleted` has no place in a model");
        Formula::Known(false)
    }
    fn changed(&mut self, _: FieldId) -> Formula {
        self.fail("`changed` has no place in a model");
        Formula::Known(false)
    }

    fn field(&mut self, (view, row): &(usize, usize), field: FieldId) -> Lin {
        match field.index().checked_sub(1) {
            Some(at) => self.rows[*view][*row].fields[at].clone(),
            None => Lin::constant(*row as i64 + 1),
        }
    }
    fn follow(&mut self, _: &(usize, usize), _: &Lin, _: RelationId) -> Option<(usize, usize)> {
        self.fail("a path leads over a field that is decided");
        None
    }
    fn select(&mut self, relation: RelationId, tests: &[Test<'_, Lin>], each: &mut EachRow<'_, Self>) {
        self.selected(relation, tests, each);
    }
    fn member(&mut self, set: SetId, at: usize) -> Option<Lin> {
        let bound = self.bound;
        bound.sets[set.index()].get(at).map(|member| self.constant(member))
    }

    fn add(&mut self, a: Lin, b: Lin) -> Lin {
        self.total(vec![a, b])
    }
    fn sub(&mut self, a: Lin, b: Lin) -> Lin {
        let less = self.scaled(&b, -1);
        self.total(vec![a, less])
    }
    fn mul(&mut self, a: Lin, b: Lin) -> Lin {
        if let Some(k) = a.known() {
            return self.scaled(&b, k);
        }
        if let Some(k) = b.known() {
            return self.scaled(&a, k);
        }
        if size(&self.model, &a).saturating_mul(size(&self.model, &b)) > FARTHEST {
            self.fail(TOO_LARGE);
            return Lin::default();
        }
        // A product with a sum of 0-1 variables is a sum of gated copies of the other factor, which both engines read better than a
        // product of two variables.
        let zero_one = |of: &Lin| of.terms.iter().all(|(var, _)| matches!(self.model.bounds(*var), (0.., ..=1)));
        let (switch, of) = match (zero_one(&a), zero_one(&b)) {
            (true, _) => (a, b),
            (_, true) => (b, a),
            _ => {
                let (p, q) = (self.model.bounds_of(&a), self.model.bounds_of(&b));
                let ends = match broken(Sabotage::ProductOfLowEnds) {
                    true => [p.0 * q.0, p.0 * q.0, p.1 * q.1, p.1 * q.1],
                    false => [p.0 * q.0, p.0 * q.1, p.1 * q.0, p.1 * q.1],
                };
                let low = ends.iter().copied().min().unwrap_or_default();
                let high = ends.iter().copied().max().unwrap_or_default();
                let target = Lin::var(self.model.var(low, high));
                self.model.constraints.push(Constraint::Product { target: target.clone(), of: [a, b] });
                return target;
            }
        };
        let mut parts = vec![of.times(switch.constant)];
        for (var, k) in switch.terms {
            let on = Formula::Lit(Lit { var, yes: true });
            parts.push(self.gate(&on, of.clone()).times(k));
        }
        Lin::sum(parts)
    }
    fn span(&mut self, count: Lin, unit: Unit) -> Lin {
        let seconds = match unit {
            Unit::Months | Unit::Seconds => 1,
            Unit::Minutes => 60,
            Unit::Hours => 3_600,
            Unit::Days => 86_400,
        };
        self.scaled(&count, seconds)
    }
    fn call(&mut self, function: &Function, mut arguments: Vec<Lin>) -> Lin {
        match function {
            Function::Abs => {
                let of = arguments.swap_remove(0);
                self.largest(vec![of.times(-1), of])
            }
            Function::Greatest => self.largest(arguments),
            Function::Least => self.smallest(arguments),
            other => {
                self.fail(format!("{other:?} has no place in a model"));
                Lin::default()
            }
        }
    }
    fn fact(&mut self, fact: FactId, arguments: &[Lin]) -> Lin {
        let (plan, bound) = (self.plan, self.bound);
        let (name, table) = (&plan.facts[fact.index()].name, &bound.facts[fact.index()]);
        if plan.facts[fact.index()].arguments.contains(&Type::Bool) {
            self.fail(format!("{name}: no fact is stated of a condition"));
            return Lin::default();
        }
        // A condition is stated as any number but 0.
        let is_condition = table.value == Type::Bool;
        let stated = |key: &[i64]| table.at(key).map(|n| if is_condition { i64::from(n != 0) } else { n });
        let free: Vec<usize> = (0..arguments.len()).filter(|at| arguments[*at].known().is_none()).collect();
        let mut key: Vec<i64> = arguments.iter().map(|argument| argument.constant).collect();
        let [free] = free[..] else {
            let value = if free.is_empty() { stated(&key) } else { None };
            if value.is_none() {
                let why = if free.is_empty() { "is not stated" } else { "has two arguments that are decided" };
                self.fail(format!("{name}{key:?} {why}"));
            }
            return self.total(vec![Lin::constant(value.unwrap_or_default())]);
        };
        let argument = arguments[free].clone();
        let (low, high) = self.bounds(&argument);
        // Where the value may change: at the steps of a step function, else anywhere.
        let places: Vec<i64> = if table.steps && free + 1 == key.len() {
            let steps = table.rows.keys().filter(|row| row[..free] == key[..free]).map(|row| row[free]);
            [low].into_iter().chain(steps.filter(|step| low < *step && *step <= high)).collect()
        } else if high - low <= WIDEST {
            (low..=high).collect()
        } else {
            self.fail(format!("{name}: the domain of argument {} is too wide", free + 1));
            return Lin::default();
        };
        // Runs of arguments with one value.
        let mut runs: Vec<(i64, i64, i64)> = Vec::new();
        for (place, at) in places.iter().enumerate() {
            key[free] = *at;
            let Some(value) = stated(&key) else {
                self.fail(format!("{name}{key:?} is not stated"));
                return Lin::default();
            };
            let to = places.get(place + 1).map_or(high, |next| next - 1);
            match runs.last_mut() {
                Some(run) if run.2 == value => run.1 = to,
                _ => runs.push((*at, to, value)),
            }
        }
        if let [(_, _, value)] = runs[..] {
            return Lin::constant(value);
        }
        let mut parts = Vec::new();
        for (from, to, value) in runs.into_iter().filter(|run| run.2 != 0) {
            let value = if broken(Sabotage::StepsWithoutSign) { value.abs() } else { value };
            let above = self.simple(Formula::Le(Lin::constant(from).minus(&argument)));
            let below = self.simple(Formula::Le(argument.minus(&Lin::constant(to))));
            parts.push(self.gate(&Formula::all(vec![above, below]), Lin::constant(value)));
        }
        self.total(parts)
    }
    fn fold(&mut self, kind: FoldKind) -> Self::Folding {
        (kind, Vec::new())
    }
    fn take(&mut self, (_, items): &mut Self::Folding, guard: Formula, item: Lin) {
        items.push((guard, item));
    }
    fn folded(&mut self, (kind, items): Self::Folding, outer: Option<Lin>) -> Lin {
        let outer = outer.unwrap_or_default();
        match kind {
            FoldKind::Count | FoldKind::Sum => {
                let parts = items.into_iter().map(|(guard, of)| self.gate(&guard, of)).collect();
                self.summed(parts)
            }
            FoldKind::CountDistinct => self.distinct(items),
            FoldKind::Max => self.largest_guarded(items, outer),
            FoldKind::Min => {
                let items = items.into_iter().map(|(guard, of)| (guard, of.times(-1))).collect();
                self.largest_guarded(items, outer.times(-1)).times(-1)
            }
            other => {
                self.fail(format!("{other:?} is no number"));
                Lin::default()
            }
        }
    }

    fn compare(&mut self, op: Compare, a: Lin, b: Lin) -> Formula {
        if let (Some(a), Some(b)) = (a.known(), b.known()) {
            return Formula::Known(holds(op, a, b));
        }
        let one = Lin::constant(i64::from(!broken(Sabotage::LessIsLessOrEqual)));
        let formula = match op {
            Compare::Le => Formula::Le(a.minus(&b)),
            Compare::Ge => Formula::Le(b.minus(&a)),
            Compare::Lt => Formula::Le(a.minus(&b).plus(&one)),
            Compare::Gt => Formula::Le(b.minus(&a).plus(&one)),
            Compare::Eq => Formula::Eq(a.minus(&b)),
            Compare::Ne => Formula::Ne(a.minus(&b)),
        };
        self.simple(formula)
    }
    fn is_null(&mut self, _: Lin) -> Formula {
        // No field of a candidate is null.
        Formula::Known(false)
    }
    fn text(&mut self, _: TextOp, _: Lin, _: Lin) -> Formula {
        self.fail("a test on text has no place in a model");
        Formula::Known(false)
    }
    fn holds(&mut self, value: Lin) -> Formula {
        // A boolean field is a number here, 0 or 1.
        self.simple(Formula::Eq(value.minus(&Lin::constant(1))))
    }
    fn in_ancestors(&mut self, _: Lin, _: Lin, _: RelationId, _: FieldId) -> Formula {
        self.fail("`ancestors` has no place in a model");
        Formula::Known(false)
    }
    fn not(&mut self, truth: Formula) -> Formula {
        truth.negated()
    }
    fn and(&mut self, truths: Vec<Formula>) -> Formula {
        Formula::all(truths)
    }
    fn or(&mut self, truths: Vec<Formula>) -> Formula {
        match broken(Sabotage::OrIsItsFirst) {
            true => truths.into_iter().next().unwrap_or(Formula::Known(false)),
            false => Formula::any(truths),
        }
    }
    fn schedule(&mut self, kind: FoldKind, items: Vec<(Formula, Vec<Lin>)>, limit: Option<Lin>) -> Formula {
        self.scheduled(kind, items, limit)
    }
}
