//! Which new row is which expected one. New rows are known by what is in them, so a wrong value is the failure of what was asked for and
//! not a stray row: the row that agrees in most cells is bound, if these are at least half of them.
//!
//! The pair that agrees best is bound first, so that a row which is exactly right is not taken for a neighbour that is missing. Where
//! several rows agree alike, each is tried (rows that refer to them may tell them apart), up to a limit.

use super::{cells::Sight, differences::Row, ready::Ready};
use benchwright_base::RowId;
use std::collections::BTreeSet;

/// How many ways are tried beside the first.
const MOST_WAYS: usize = 32;

/// The new row of each of some expected ones, as far as it is bound.
type Bound = Vec<Option<RowId>>;

/// Binds the expected new rows, in the places of the expected ones.
pub(super) fn bind(sight: Sight<'_>, added: &[Row]) -> Bound {
    let ready = sight.ready;
    let open: Vec<bool> = ready.expected.iter().map(|wanted| wanted.target.is_new()).collect();
    if added.is_empty() || !open.contains(&true) {
        return sight.bound;
    }
    let mut search = Search {
        ready,
        known: (0..open.len()).map(|_| None).collect(),
        most: (0..open.len()).filter(|at| open[*at]).map(|at| counted(ready, at)).sum(),
        open,
        free: vec![true; added.len()],
        ways: MOST_WAYS,
        best: None,
        sight,
        added,
    };
    search.go(0);
    match search.best {
        Some((_, bound)) => bound,
        None => search.sight.bound,
    }
}

/// How many cells of an expected row tell it from others.
fn counted(ready: &Ready, at: usize) -> usize {
    ready.expected[at].cells.iter().filter(|(_, cell)| cell.counts()).count()
}

struct Search<'s, 'a> {
    ready: &'a Ready,
    sight: Sight<'a>,
    added: &'s [Row],
    /// What was found of each expected row last: under which bindings, and in how many cells each new row agrees.
    known: Vec<Option<(Bound, Vec<usize>)>>,
    /// The expected rows that are not decided yet.
    open: Vec<bool>,
    /// The new rows that are not bound yet.
    free: Vec<bool>,
    ways: usize,
    /// As many cells as can agree.
    most: usize,
    best: Option<(usize, Bound)>,
}

/// An expected row and the new rows that agree with it best.
struct Fit {
    expected: usize,
    rows: Vec<usize>,
    agree: usize,
    of: usize,
}

impl Fit {
    /// Whether it agrees in a larger share than another.
    fn is_better(&self, other: &Fit) -> bool {
        // A row of which nothing is asked agrees with all.
        let share = |fit: &Fit| if fit.of == 0 { (1, 1) } else { (fit.agree, fit.of) };
        let (mine, others) = (share(self), share(other));
        mine.0 * others.1 > others.0 * mine.1
    }
}

impl Search<'_, '_> {
    /// Decides what is left, having so many cells agreed.
    fn go(&mut self, agreed: usize) {
        let next = self.next();
        if next.is_empty() {
            if self.best.as_ref().is_none_or(|(best, _)| agreed > *best) {
                self.best = Some((agreed, self.sight.bound.clone()));
            }
            return;
        }
        let mut best: Option<Fit> = None;
        for expected in &next {
            let fit = self.fit(*expected);
            if fit.as_ref().is_some_and(|fit| best.as_ref().is_none_or(|best| fit.is_better(best))) {
                best = fit;
            }
        }
        let Some(fit) = best else {
            next.iter().for_each(|expected| self.open[*expected] = false);
            self.go(agreed);
            next.iter().for_each(|expected| self.open[*expected] = true);
            return;
        };
        self.open[fit.expected] = false;
        for (nth, row) in fit.rows.iter().enumerate() {
            if nth > 0 {
                let perfect = self.best.as_ref().is_some_and(|(best, _)| *best == self.most);
                if perfect || self.ways == 0 {
                    break;
                }
                self.ways -= 1;
            }
            self.free[*row] = false;
            self.sight.bound[fit.expected] = Some(self.added[*row].id);
            self.go(agreed + fit.agree);
            self.sight.bound[fit.expected] = None;
            self.free[*row] = true;
        }
        self.open[fit.expected] = true;
    }

    /// The rows that can be decided now: those that need no open one, and of these those that speak of none, if there are any.
    fn next(&self) -> Vec<usize> {
        let waits = |rows: &BTreeSet<usize>| rows.iter().any(|at| self.open[*at]);
        let expected = &self.ready.expected;
        let can = |at: &usize| self.open[*at] && !waits(&expected[*at].needs);
        let can: Vec<usize> = (0..expected.len()).filter(can).collect();
        let first: Vec<usize> = can.iter().copied().filter(|at| !waits(&expected[*at].likes)).collect();
        if first.is_empty() { can } else { first }
    }

    /// In how many cells each new row agrees with an expected one. It depends on the bindings of those that it refers to and speaks of, and
    /// on no others.
    fn agreement(&mut self, expected: usize) -> &[usize] {
        let wanted = &self.ready.expected[expected];
        let under: Bound = wanted.needs.union(&wanted.likes).map(|at| self.sight.bound[*at]).collect();
        let sight = &self.sight;
        let of_row = |row: &Row| {
            if row.table != wanted.table {
                return 0;
            }
            let cells = wanted.cells.iter().filter(|(_, cell)| cell.counts());
            cells.filter(|(field, cell)| sight.judge(cell, &row.cells[field.index()]).is_ok()).count()
        };
        let known = self.known[expected].take().filter(|(known, _)| *known == under);
        let known = known.unwrap_or_else(|| (under, self.added.iter().map(of_row).collect()));
        &self.known[expected].insert(known).1
    }

    /// The free rows that agree with an expected one best, in at least half of its cells.
    fn fit(&mut self, expected: usize) -> Option<Fit> {
        let table = self.ready.expected[expected].table;
        let mut fit = Fit { expected, rows: Vec::new(), agree: 0, of: counted(self.ready, expected) };
        let agreement = self.agreement(expected).to_vec();
        for (at, (row, agree)) in self.added.iter().zip(agreement).enumerate() {
            if !self.free[at] || row.table != table || 2 * agree < fit.of {
                continue;
            }
            if agree > fit.agree {
                fit.rows.clear();
                fit.agree = agree;
            }
            if agree == fit.agree {
                fit.rows.push(at);
            }
        }
        (!fit.rows.is_empty()).then_some(fit)
    }
}
