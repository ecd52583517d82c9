//! Sums, maxima and counts of different values over elements that may or may not be there.
//!
//! Rules name the same quantity again and again: the stock at the end of a period is the stock before plus one run, and the
//! overtime of a block stands in a limit and in the cost. [`super::Lowering::Shared`] gives such a quantity one variable. What
//! is proved of it in one rule then holds in every other, without which a search proves it again for each.

use super::{Lower, Lowering, WIDEST, linear};
use crate::sabotage::{Sabotage, broken};
use crate::{Constraint, Formula, Lin};
use benchwright_expr::walk::Algebra;
use std::collections::BTreeMap;

/// Quantities that have a variable already.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// Maxima, by what they are of, in order and each once.
    maxima: BTreeMap<Vec<Lin>, Lin>,
    /// Sums, by their parts in the order in which they were read.
    sums: BTreeMap<Vec<Lin>, Lin>,
}

impl Lower<'_> {
    pub(super) fn largest(&mut self, of: Vec<Lin>) -> Lin {
        if let Some(known) = of.iter().map(Lin::known).collect::<Option<Vec<_>>>() {
            return Lin::constant(known.into_iter().max().unwrap_or_default());
        }
        if self.lowering == Lowering::Plain {
            return self.new_maximum(of);
        }
        let mut key = of.clone();
        key.sort_unstable();
        key.dedup();
        if broken(Sabotage::MaximaByTheirFirst) {
            key.truncate(1);
        }
        if let Some(known) = self.known.maxima.get(&key) {
            return known.clone();
        }
        let target = self.new_maximum(of);
        self.known.maxima.insert(key, target.clone());
        target
    }

    fn new_maximum(&mut self, of: Vec<Lin>) -> Lin {
        let bounds: Vec<(i64, i64)> = of.iter().map(|of| self.model.bounds_of(of)).collect();
        let low = bounds.iter().map(|b| b.0).max().unwrap_or_default();
        let high = bounds.iter().map(|b| b.1).max().unwrap_or_default();
        let target = Lin::var(self.model.var(low, high));
        self.model.constraints.push(Constraint::Max { target: target.clone(), of });
        target
    }

    pub(super) fn smallest(&mut self, of: Vec<Lin>) -> Lin {
        let of = of.into_iter().map(|of| of.times(-1)).collect();
        self.largest(of).times(-1)
    }

    /// The sum of a fold's parts. Where all of them but the last were summed before, it is a variable that equals that sum plus
    /// the last: so sums over ever more periods become a chain, and each is as short as the first.
    pub(super) fn summed(&mut self, parts: Vec<Lin>) -> Lin {
        if self.lowering == Lowering::Plain || parts.is_empty() {
            return self.total(parts);
        }
        if let Some(known) = self.known.sums.get(&parts) {
            return known.clone();
        }
        let sum = match parts.split_last() {
            Some((last, before)) if before.iter().any(|part| part.known().is_none()) => {
                match self.known.sums.get(before).cloned() {
                    Some(before) => self.next_of_a_chain(before, last.clone()),
                    None => self.total(parts.clone()),
                }
            }
            _ => self.total(parts.clone()),
        };
        self.known.sums.insert(parts, sum.clone());
        sum
    }

    fn next_of_a_chain(&mut self, before: Lin, last: Lin) -> Lin {
        let sum = match broken(Sabotage::ChainsForgetTheLast) {
            true => before,
            false => self.total(vec![before, last]),
        };
        if sum.known().is_some() {
            return sum;
        }
        let (low, high) = self.model.bounds_of(&sum);
        let next = Lin::var(self.model.var(low, high));
        self.model.constraints.push(linear(next.minus(&sum), vec![(0, 0)], Vec::new()));
        next
    }

    /// The largest of those whose guard holds, else `outer`.
    pub(super) fn largest_guarded(&mut self, items: Vec<(Formula, Lin)>, outer: Lin) -> Lin {
        let any = Formula::any(items.iter().map(|(guard, _)| guard.clone()).collect());
        let Some(low) = items.iter().map(|(_, of)| self.model.bounds_of(of).0).min() else { return outer };
        // What a gate takes away becomes 0, which must not win against negative values. So all are raised by the least that any of
        // them can be, compared, and lowered again.
        let floor = Lin::constant(if broken(Sabotage::MaxBeginsAtZero) { 0 } else { low });
        let mut raised = Vec::with_capacity(items.len());
        for (guard, of) in items {
            let above = self.sub(of, floor.clone());
            raised.push(self.gate(&guard, above));
        }
        let most = self.largest(raised);
        let most = self.add(most, floor);
        let there = self.gate(&any, most);
        if broken(Sabotage::ElseIsForgotten) {
            return there;
        }
        let not_there = self.gate(&any.negated(), outer);
        self.add(there, not_there)
    }

    /// How many different values there are: a truth for each possible value, that some element has it, and the sum of these.
    pub(super) fn distinct(&mut self, items: Vec<(Formula, Lin)>) -> Lin {
        let mut by_value: BTreeMap<i64, Vec<Formula>> = BTreeMap::new();
        for (guard, of) in items {
            let (low, high) = self.model.bounds_of(&of);
            if high - low > WIDEST {
                self.fail("`count distinct` over a domain that is too wide");
                return Lin::default();
            }
            for value in low..=high {
                let here = self.simple(Formula::Eq(of.minus(&Lin::constant(value))));
                by_value.entry(value).or_default().push(Formula::all(vec![guard.clone(), here]));
            }
        }
        if broken(Sabotage::DistinctCountsAll) {
            let all: Vec<Formula> = by_value.into_values().flatten().collect();
            return Lin::sum(all.iter().map(|one| self.truth_value(one)).collect::<Vec<_>>());
        }
        let parts: Vec<Lin> = by_value.into_values().map(|any| self.truth_value(&Formula::any(any))).collect();
        Lin::sum(parts)
    }
}
