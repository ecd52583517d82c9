//! Conditions over a model's variables: comparisons of linear expressions, joined by and, or and not. Rules become formulas
//! when they are read over candidates; what is known without any variable is simplified away at once.

use crate::sabotage::{Sabotage, broken};
use crate::{Lin, Lit};

/// A truth that depends on variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Formula {
    /// A truth that does not depend on any variable.
    Known(bool),
    /// A truth that is one 0-1 variable, or its negation.
    Lit(Lit),
    /// The expression is at most 0.
    Le(Lin),
    /// The expression is 0.
    Eq(Lin),
    /// The expression is not 0.
    Ne(Lin),
    /// The conjunction of its parts.
    And(Vec<Formula>),
    /// At least one holds.
    Or(Vec<Formula>),
}

impl Formula {
    /// The negation, pushed inwards so that only literals and comparisons are negated.
    #[must_use]
    pub fn negated(&self) -> Formula {
        match self {
            Formula::Known(known) => Formula::Known(!known),
            Formula::Lit(lit) => Formula::Lit(!*lit),
            Formula::Le(of) => {
                let more = i64::from(!broken(Sabotage::NegationKeepsEquality));
                Formula::Le(Lin::constant(more).minus(of))
            }
            Formula::Eq(of) => Formula::Ne(of.clone()),
            Formula::Ne(of) => Formula::Eq(of.clone()),
            Formula::And(parts) => Formula::Or(parts.iter().map(Formula::negated).collect()),
            Formula::Or(parts) => Formula::And(parts.iter().map(Formula::negated).collect()),
        }
    }

    /// The conjunction, simplified: known parts are dropped or decide it.
    pub fn all(parts: Vec<Formula>) -> Formula {
        Formula::join(parts, true)
    }

    /// At least one of them.
    pub fn any(parts: Vec<Formula>) -> Formula {
        Formula::join(parts, false)
    }

    fn join(parts: Vec<Formula>, all: bool) -> Formula {
        let mut kept: Vec<Formula> = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Formula::Known(known) if known == all => {}
                Formula::Known(known) => return Formula::Known(known),
                Formula::And(inner) if all => kept.extend(inner),
                Formula::Or(inner) if !all => kept.extend(inner),
                part => {
                    if !kept.contains(&part) {
                        kept.push(part);
                    }
                }
            }
        }
        match kept.len() {
            0 => Formula::Known(all),
            1 => kept.swap_remove(0),
            _ if all => Formula::And(kept),
            _ => Formula::Or(kept),
        }
    }

    /// Whether it holds at a point.
    pub fn at(&self, point: &[i64]) -> bool {
        match self {
            Formula::Known(known) => *known,
            Formula::Lit(lit) => (point[lit.var as usize] == 1) == lit.yes,
            Formula::Le(of) => of.at(point) <= 0,
            Formula::Eq(of) => of.at(point) == 0,
            Formula::Ne(of) => of.at(point) != 0,
            Formula::And(parts) => parts.iter().all(|part| part.at(point)),
            Formula::Or(parts) => parts.iter().any(|part| part.at(point)),
        }
    }
}
