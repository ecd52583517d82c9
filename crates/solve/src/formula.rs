//! Conditions over a model's variables: comparisons of linear expressions, joined by and, or and not. Rules become formulas
//! when they are read over candidates; what is known without any variable is simplified away at once.

use crate::sabotage::{Sabotage, broken};
use crate::{Lin, Lit};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

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
    /// Intervals keep to a rule of time, or do not. It stays whole until it is known whether it is required, because solvers have
    /// a constraint for it and no literal of it.
    Intervals {
        /// The intervals and their rule.
        of: Box<Schedule>,
        /// Whether the rule is kept; its negation says that it is broken.
        kept: bool,
    },
}

/// Intervals of which some may be there, and what they keep to: no two overlap, or where there is a limit, the loads of those
/// that run at one time are together at most that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Schedule {
    /// Whether each is there, and its start, its end (which is no part of it) and, under a limit, its load.
    pub items: Vec<(Formula, Vec<Lin>)>,
    /// The limit.
    pub limit: Option<Lin>,
}

impl Schedule {
    /// Whether it is kept, where that does not depend on any variable.
    pub(crate) fn known(&self) -> Option<bool> {
        let is_known = |(guard, at): &(Formula, Vec<Lin>)| {
            matches!(guard, Formula::Known(_)) && at.iter().all(|at| at.known().is_some())
        };
        let is_known = self.items.iter().all(is_known) && self.limit.iter().all(|limit| limit.known().is_some());
        is_known.then(|| self.at(&[]))
    }

    /// Whether it is kept at a point.
    pub fn at(&self, point: &[i64]) -> bool {
        let there = self.items.iter().filter(|(guard, _)| guard.at(point));
        let there: Vec<Vec<i64>> = there.map(|(_, at)| at.iter().map(|at| at.at(point)).collect()).collect();
        let Some(limit) = &self.limit else {
            let overlap = |a: &[i64], b: &[i64]| a[0] < b[1] && b[0] < a[1];
            return there.iter().enumerate().all(|(at, a)| there[..at].iter().all(|b| !overlap(a, b)));
        };
        let limit = limit.at(point);
        there.iter().filter(|at| at[0] < at[1]).all(|at| {
            let running = there.iter().filter(|other| other[0] <= at[0] && at[0] < other[1]);
            running.map(|other| i128::from(other[2])).sum::<i128>() <= i128::from(limit)
        })
    }
}

/// How many parts are compared one by one.
const FEW: usize = 32;

/// Where parts of a long list stand, by their hash: a rule over all pairs of rows joins a hundred thousand of them.
#[derive(Default)]
struct Seen {
    places: BTreeMap<u64, Vec<usize>>,
    /// How many of the list are in it.
    upto: usize,
}

impl Seen {
    /// Whether a list, which only ever grows, has this part.
    fn has(&mut self, list: &[Formula], part: &Formula) -> bool {
        if list.len() < FEW {
            return list.contains(part);
        }
        let hash = |part: &Formula| {
            let mut hasher = DefaultHasher::new();
            part.hash(&mut hasher);
            hasher.finish()
        };
        for (at, known) in list.iter().enumerate().skip(self.upto) {
            self.places.entry(hash(known)).or_default().push(at);
        }
        self.upto = list.len();
        self.places.get(&hash(part)).is_some_and(|places| places.iter().any(|at| list[*at] == *part))
    }
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
            Formula::Intervals { of, kept } => Formula::Intervals { of: of.clone(), kept: !kept },
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
        let mut seen = Seen::default();
        for part in parts {
            match part {
                Formula::Known(known) if known == all => {}
                Formula::Known(known) => return Formula::Known(known),
                Formula::And(inner) if all => kept.extend(inner),
                Formula::Or(inner) if !all => kept.extend(inner),
                part => {
                    if !seen.has(&kept, &part) {
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
            Formula::Intervals { of, kept } => of.at(point) == *kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_twice_is_kept_once_however_long_the_list_is() {
        let part = |n: usize| Formula::Ne(Lin::constant(n as i64));
        for most in [3, FEW - 1, FEW, FEW + 1, 300] {
            // Inner parts come as they are; what comes after them is held against them too.
            let inner = Formula::And((0..most).map(part).collect());
            let twice = (0..2 * most).chain(most / 2..most + 9).map(part);
            let Formula::And(kept) = Formula::all(std::iter::once(inner).chain(twice).collect()) else { panic!() };
            assert_eq!(kept, (0..(2 * most).max(most + 9)).map(part).collect::<Vec<_>>());
        }
    }
}
