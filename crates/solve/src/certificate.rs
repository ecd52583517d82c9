//! A bound that anyone can check without a solver, and without trust in one.
//!
//! A model's linear relaxation has a multiplier for each of its rows. Whatever the multipliers are, adding up the rows so
//! multiplied gives a bound of the objective; HiGHS knows which give the best one. It works in doubles, so its multipliers are
//! rounded to millionths and the adding up is done here in whole numbers: a multiplier of the wrong sign counts as 0, and what
//! is left of each variable's cost takes the worse end of its domain.
//!
//! Where that bound is too far from what was found, cases are told apart: a variable that is 0 or 1 is one of the two, and each
//! case is a model with multipliers, and a better bound, of its own.

use crate::{Engine, EngineError, Model, Var, ffi::Program, highs};
use benchwright_spec::BoundProof;

/// In how many parts a multiplier is counted.
const PARTS: i128 = 1_000_000;
/// A bound is near within a twentieth of the value.
const NEAR: i128 = 20;
/// Cases are told apart where the bound is within a seventh of the value.
const WORTH_CASES: i128 = 7;
/// At most so many cases are told apart.
const CASES: usize = 24;
/// So many variables are tried for each case that is told apart.
const TRIED: usize = 12;
/// What a solver of doubles leaves open of a whole number.
const FRACTION: f64 = 1e-6;
/// A domain that can be told apart.
const EITHER: &[(i64, i64)] = &[(0, 1)];

/// A bound that is near a value, and why it holds; none where no case or few show it.
pub fn near(model: &Model, engine: &dyn Engine, value: i64) -> Result<Option<(i64, BoundProof)>, EngineError> {
    let is_within = |bound: i64, part: i128| i128::from(value.saturating_sub(bound)) * part <= i128::from(value).abs();
    let Some(first) = Case::of(model.clone(), engine)? else { return Ok(None) };
    if !is_within(first.bound, WORTH_CASES) {
        return Ok(None);
    }
    let mut cases = vec![Some(first)];
    let mut tree = Tree::Case(0);
    loop {
        // The worst one.
        let open = cases.iter().enumerate().filter_map(|(at, case)| Some((case.as_ref()?.bound, at)));
        let Some((bound, at)) = open.min() else { return Ok(None) };
        if is_within(bound, NEAR) {
            return Ok(Some((bound, tree.proof(&mut cases))));
        }
        if cases.iter().flatten().count() >= CASES {
            return Ok(None);
        }
        let Some((var, no, yes)) = cases[at].take().map(|case| case.apart(engine)).transpose()?.flatten() else {
            return Ok(None);
        };
        tree.split(at, var, cases.len());
        cases.extend([Some(no), Some(yes)]);
    }
}

/// The bound that a proof gives of a model: no point is below it. None where it is no proof of this model.
pub fn proved(proof: &BoundProof, model: &Model) -> Option<i64> {
    match proof {
        BoundProof::Sum { rows, multipliers } => Multipliers::of_pairs(multipliers, *rows).bound(model),
        BoundProof::Cases { var, no, yes } => {
            let is_either = model.vars.get(*var as usize).is_some_and(|domain| domain == EITHER);
            let case = |proof, is| proved(proof, &with(model, *var, is));
            is_either.then(|| Some(case(no, 0)?.min(case(yes, 1)?))).flatten()
        }
    }
}

/// A model in which a variable is fixed.
fn with(model: &Model, var: Var, is: i64) -> Model {
    let mut model = model.clone();
    if let Some(domain) = model.vars.get_mut(var as usize) {
        *domain = vec![(is, is)];
    }
    model
}

/// Which cases were told apart, by their places in a list.
enum Tree {
    Case(usize),
    Split(Var, Box<(Tree, Tree)>),
}

impl Tree {
    /// Tells a case apart into two, the first of which stands at this place.
    fn split(&mut self, case: usize, var: Var, first: usize) {
        match self {
            Tree::Case(at) if *at == case => {
                *self = Tree::Split(var, Box::new((Tree::Case(first), Tree::Case(first + 1))));
            }
            Tree::Case(_) => {}
            Tree::Split(_, both) => {
                both.0.split(case, var, first);
                both.1.split(case, var, first);
            }
        }
    }

    fn proof(self, cases: &mut [Option<Case>]) -> BoundProof {
        match self {
            Tree::Case(at) => {
                let multipliers = cases[at].take().map(|case| case.multipliers).unwrap_or_default();
                BoundProof::Sum { rows: multipliers.0.len(), multipliers: multipliers.pairs() }
            }
            Tree::Split(var, both) => {
                let (no, yes) = (both.0.proof(cases), both.1.proof(cases));
                BoundProof::Cases { var, no: Box::new(no), yes: Box::new(yes) }
            }
        }
    }
}

/// A case with its bound.
struct Case {
    model: Model,
    multipliers: Multipliers,
    bound: i64,
    /// The best point of the relaxation.
    point: Option<Vec<f64>>,
}

impl Case {
    fn of(model: Model, engine: &dyn Engine) -> Result<Option<Case>, EngineError> {
        let Some(found) = engine.relaxed(&model)? else { return Ok(None) };
        let multipliers = Multipliers::rounded(&found.prices);
        let bound = multipliers.bound(&model);
        Ok(bound.map(|bound| Case { model, multipliers, bound, point: found.point }))
    }

    /// The two cases of a variable that make the bound best, of those whose value is least whole.
    fn apart(self, engine: &dyn Engine) -> Result<Option<(Var, Case, Case)>, EngineError> {
        let open = |at: usize, value: f64| {
            let is_open = self.model.vars[at] == EITHER && value > FRACTION && value < 1.0 - FRACTION;
            is_open.then_some(((value - 0.5).abs(), at))
        };
        let point = self.point.iter().flatten().enumerate();
        let mut tried: Vec<(f64, usize)> = point.filter_map(|(at, value)| open(at, *value)).collect();
        tried.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut best: Option<(Var, Case, Case)> = None;
        for (_, at) in tried.into_iter().take(TRIED) {
            let case = |is| Case::of(with(&self.model, at as Var, is), engine);
            let (Some(no), Some(yes)) = (case(0)?, case(1)?) else { continue };
            let worth = |no: &Case, yes: &Case| (no.bound.min(yes.bound), no.bound.max(yes.bound));
            if best.as_ref().is_none_or(|(_, a, b)| worth(&no, &yes) > worth(a, b)) {
                best = Some((at as Var, no, yes));
            }
        }
        Ok(best)
    }
}

/// The multiplier of each row of a model's linear relaxation, in millionths.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Multipliers(pub Vec<i64>);

impl Multipliers {
    /// The best ones, as an engine knows them; none if it knows none.
    pub fn of(model: &Model, engine: &dyn Engine) -> Result<Option<Multipliers>, EngineError> {
        Ok(engine.relaxed(model)?.map(|found| Multipliers::rounded(&found.prices)))
    }

    fn rounded(prices: &[f64]) -> Multipliers {
        Multipliers(prices.iter().map(|price| (price * PARTS as f64).round() as i64).collect())
    }

    /// Those of so many rows, of which only some have one.
    pub fn of_pairs(pairs: &[(u32, i64)], rows: usize) -> Multipliers {
        let mut all = vec![0; rows];
        for (row, multiplier) in pairs {
            if let Some(place) = all.get_mut(*row as usize) {
                *place = *multiplier;
            }
        }
        Multipliers(all)
    }

    /// The rows that have one, by place.
    pub fn pairs(&self) -> Vec<(u32, i64)> {
        (0..).zip(&self.0).filter(|(_, multiplier)| **multiplier != 0).map(|(row, of)| (row, *of)).collect()
    }

    /// The bound of the objective that they prove: no point of the model is below it. None where the model has no linear form,
    /// the multipliers are not of its rows, or the numbers become too large.
    pub fn bound(&self, model: &Model) -> Option<i64> {
        let objective = model.minimise.as_ref()?;
        let program = highs::program(model).ok()?;
        let bound = added_up(&program, &self.0)?;
        let whole = bound.checked_add(PARTS - 1)?.div_euclid(PARTS);
        i64::try_from(whole.checked_add(i128::from(objective.constant))?).ok()
    }
}

/// The least that the costs of a program can come to, in millionths.
fn added_up(program: &Program, multipliers: &[i64]) -> Option<i128> {
    if multipliers.len() != program.starts.len() {
        return None;
    }
    let mut left = Vec::with_capacity(program.costs.len());
    for cost in &program.costs {
        left.push(whole(*cost)?.checked_mul(PARTS)?);
    }
    let mut bound: i128 = 0;
    for (row, multiplier) in multipliers.iter().map(|multiplier| i128::from(*multiplier)).enumerate() {
        let side = if multiplier > 0 { program.row_lows[row] } else { program.row_highs[row] };
        if multiplier == 0 || side.is_infinite() {
            continue;
        }
        bound = bound.checked_add(multiplier.checked_mul(whole(side)?)?)?;
        let from = usize::try_from(program.starts[row]).ok()?;
        let to = program.starts.get(row + 1).map_or(Some(program.columns.len()), |to| usize::try_from(*to).ok())?;
        for (column, factor) in program.columns.get(from..to)?.iter().zip(program.factors.get(from..to)?) {
            let cost = left.get_mut(usize::try_from(*column).ok()?)?;
            *cost = cost.checked_sub(multiplier.checked_mul(whole(*factor)?)?)?;
        }
    }
    for (cost, (low, high)) in left.iter().zip(program.lows.iter().zip(&program.highs)) {
        let end = if *cost > 0 { *low } else { *high };
        bound = bound.checked_add(cost.checked_mul(whole(end)?)?)?;
    }
    Some(bound)
}

/// A number of a program, all of which are whole and far below where doubles have gaps.
fn whole(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() <= 1e15).then_some(number as i128)
}
