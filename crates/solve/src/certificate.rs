//! A bound that anyone can check without a solver, and without trust in one.
//!
//! A model's linear relaxation has a multiplier for each of its rows. Whatever the multipliers are, adding up the rows so
//! multiplied gives a bound of the objective; HiGHS knows which give the best one. It works in doubles, so its multipliers are
//! rounded to millionths and the adding up is done here in whole numbers: a multiplier of the wrong sign counts as 0, and what
//! is left of each variable's cost takes the worse end of its domain.

use crate::{Engine, EngineError, Model, ffi::Program, highs};

/// In how many parts a multiplier is counted.
const PARTS: i128 = 1_000_000;

/// The multiplier of each row of a model's linear relaxation, in millionths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multipliers(pub Vec<i64>);

impl Multipliers {
    /// The best ones, as HiGHS knows them; none if it found no point of the relaxation.
    pub fn of(model: &Model, highs: &dyn Engine) -> Result<Option<Multipliers>, EngineError> {
        let prices = highs.prices(model)?;
        let rounded = |price: &f64| (price * PARTS as f64).round() as i64;
        Ok(prices.map(|prices| Multipliers(prices.iter().map(rounded).collect())))
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
