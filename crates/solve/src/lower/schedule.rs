//! Intervals that may not overlap, or whose loads together stay within a limit.
//!
//! Solvers have constraints for just these, which prove far more than the same in pairs. But such a constraint can only be
//! required: it has no literal that says whether it holds. So [`super::Lowering::Shared`] keeps the rule whole, as
//! [`Formula::Intervals`], until it is known what is asked of it. Required, it becomes the native constraint; negated, counted,
//! or below an `or`, it is written in pairs like everything else.

use super::{Lower, Lowering};
use crate::sabotage::{Sabotage, broken};
use crate::{Constraint, Formula, Interval, Lin, Lit, Schedule};
use benchwright_expr::{Compare, FoldKind, walk::Algebra};

impl Lower<'_> {
    pub(super) fn scheduled(&mut self, kind: FoldKind, items: Vec<(Formula, Vec<Lin>)>, limit: Option<Lin>) -> Formula {
        let limit = (kind != FoldKind::NoOverlap).then(|| limit.unwrap_or_default());
        let schedule = Schedule { items, limit };
        if self.lowering == Lowering::Plain {
            return self.in_pairs(&schedule);
        }
        if broken(Sabotage::NativeWhereverItStands) && self.native(&schedule) {
            return Formula::Known(true);
        }
        match schedule.known() {
            Some(known) => Formula::Known(known),
            None => Formula::Intervals { of: Box::new(schedule), kept: true },
        }
    }

    /// Requires it by the constraint that solvers have for it. Says whether it could: lengths, loads and the limit must be
    /// known, and of such signs that both readings mean the same.
    pub(super) fn native(&mut self, schedule: &Schedule) -> bool {
        let limit = match &schedule.limit {
            None => None,
            Some(limit) => match limit.known() {
                Some(limit) if limit >= 0 => Some(limit),
                _ => return false,
            },
        };
        let mut found: Vec<(&Formula, &Lin, i64, i64)> = Vec::with_capacity(schedule.items.len());
        for (guard, at) in &schedule.items {
            let size = at[1].minus(&at[0]).known();
            let load = at.get(2).map_or(Some(1), Lin::known);
            let (Some(size), Some(load)) = (size, load) else { return false };
            match limit {
                // What is empty or weighs nothing takes nothing of a limit, but an empty interval may not lie inside another.
                Some(_) if size <= 0 || load == 0 => continue,
                Some(_) if load < 0 => return false,
                None if size <= 0 => return false,
                _ => found.push((guard, &at[0], size, load)),
            }
        }
        let mut intervals = Vec::with_capacity(found.len());
        let mut loads = Vec::with_capacity(found.len());
        for (guard, start, size, load) in found {
            let used = match guard {
                Formula::Known(true) => None,
                Formula::Known(false) => continue,
                _ if broken(Sabotage::NativeForgetsUse) => None,
                guard => Some(self.lit(guard)),
            };
            let size = size + i64::from(broken(Sabotage::NativeIsClosed));
            intervals.push(Interval { start: start.clone(), size, used });
            loads.push(load);
        }
        match limit {
            None if intervals.len() < 2 => {}
            None => self.model.constraints.push(Constraint::NoOverlap(intervals)),
            Some(limit) if loads.iter().map(|load| i128::from(*load)).sum::<i128>() <= i128::from(limit) => {}
            Some(limit) => self.model.constraints.push(Constraint::Cumulative { intervals, loads, limit }),
        }
        true
    }

    /// A schedule, or that it is not kept, where all the literals hold.
    pub(super) fn require_intervals(&mut self, schedule: &Schedule, kept: bool, when: &[Lit]) {
        if kept && when.is_empty() && self.native(schedule) {
            return;
        }
        let pairs = self.in_pairs(schedule);
        let formula = if kept { pairs } else { pairs.negated() };
        self.require_when(&formula, when);
    }

    /// The same as comparisons of every interval with every other.
    pub(super) fn in_pairs(&mut self, Schedule { items, limit }: &Schedule) -> Formula {
        let mut parts = Vec::new();
        let Some(limit) = limit else {
            for (at, (guard, a)) in items.iter().enumerate() {
                for (other, b) in &items[..at] {
                    let apart = [(&a[1], &b[0]), (&b[1], &a[0])].map(|(end, start)| {
                        let gap = Lin::constant(i64::from(broken(Sabotage::IntervalsAreClosed)));
                        let apart = Formula::Le(end.minus(start).plus(&gap));
                        self.simple(apart)
                    });
                    let [first, second] = apart;
                    parts.push(Formula::any(vec![guard.negated(), other.negated(), first, second]));
                }
            }
            return Formula::all(parts);
        };
        // The load changes only where an interval starts, so it is enough to look there.
        for (guard, at) in items {
            let mut loads = Vec::new();
            for (other, interval) in items {
                let begun = self.simple(Formula::Le(interval[0].minus(&at[0])));
                let runs = self.compare(Compare::Lt, at[0].clone(), interval[1].clone());
                let there = Formula::all(vec![other.clone(), begun, runs]);
                loads.push(self.gate(&there, interval[2].clone()));
            }
            let load = self.total(loads);
            let within = self.compare(Compare::Le, load, limit.clone());
            let empty = self.compare(Compare::Ge, at[0].clone(), at[1].clone());
            parts.push(Formula::any(vec![guard.negated(), empty, within]));
        }
        Formula::all(parts)
    }
}
