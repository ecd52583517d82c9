//! The rows that a plan may consist of, as `planning.toml` tells them: one for each choice of some values, each field fixed or free
//! between two bounds.

use crate::{
    bundles,
    reckon::{Per, value},
    told::{BundleText, Told},
};
use benchwright_schema::{
    Domain,
    plan::{Bound, Plan, PlanText, ViewRows},
};
use benchwright_spec::{Candidate, Candidates, Cell, Rows};
use std::collections::BTreeSet;

/// The candidates of a case, in bundles where there are some; these heed no rule that is left out.
pub(crate) fn candidates(
    told: &Told,
    text: &PlanText,
    plan: &Plan,
    bound: &Bound,
    without: Option<&str>,
) -> Result<Candidates, String> {
    let bundled: BTreeSet<&String> = told.bundle.values().flat_map(BundleText::views).collect();
    let mut candidates = rows_of(told, text, plan, bound, &|view| !bundled.contains(view))?;
    let mut next = 0;
    for bundle in told.bundle.values() {
        bundles::add(bundle, text, plan, bound, without, &mut next, &mut candidates)?;
    }
    Ok(candidates)
}

/// The candidates of a case, each for itself.
pub(crate) fn single(told: &Told, text: &PlanText, plan: &Plan, bound: &Bound) -> Result<Candidates, String> {
    rows_of(told, text, plan, bound, &|_| true)
}

/// The candidates of some views, each for itself.
fn rows_of(
    told: &Told,
    text: &PlanText,
    plan: &Plan,
    bound: &Bound,
    wanted: &dyn Fn(&String) -> bool,
) -> Result<Candidates, String> {
    let mut candidates: Candidates = vec![Vec::new(); plan.views.len()];
    let none = ViewRows::empty(plan);
    for (view, declared) in told.candidates.iter().filter(|(view, _)| wanted(view)) {
        let at = plan.view_named(view).ok_or_else(|| format!("`candidates.{view}`: there is no such view"))?;
        let per = Per::read(declared.per.as_deref(), plan)?;
        let mut fields = Vec::new();
        for field in &plan.views[at].fields {
            let is = declared.fields.get(&field.name);
            let is = is.ok_or_else(|| format!("`candidates.{view}`: `{}` is missing", field.name))?;
            fields.push(match is.split_once(" .. ") {
                Some((low, high)) => (per.expr(low, plan, text)?, Some(per.expr(high, plan, text)?)),
                None => (per.expr(is, plan, text)?, None),
            });
        }
        'rows: for choice in per.all(bound, &none) {
            let reckon =
                |expr| value(expr, &choice, bound, &none).ok_or_else(|| format!("`candidates.{view}`: no value"));
            let mut cells = Vec::with_capacity(fields.len());
            for (low, high) in &fields {
                let low = reckon(low)?;
                cells.push(match high {
                    None => Cell::Fixed(low),
                    Some(high) => match reckon(high)? {
                        high if high < low => continue 'rows,
                        high if high == low => Cell::Fixed(low),
                        high => Cell::Free(low, high),
                    },
                });
            }
            candidates[at].push(Candidate::single(declared.must, cells));
        }
    }
    Ok(candidates)
}

/// Puts the rows of a plan first, in their order, as whoever looks near a plan expects them. Of what bundles are made of only those
/// rows are left that differ from one of the plan in one fixed field at most: there are many more, and a plan near by has no use for them.
pub(crate) fn near(told: &Told, plan: &Plan, rows: &Rows, candidates: &mut Candidates) {
    let differ = |candidate: &Candidate, row: &[i64]| {
        let cells = candidate.fields.iter().zip(row);
        cells.filter(|(cell, is)| matches!(cell, Cell::Fixed(fixed) if fixed != *is)).count()
    };
    for view in told.bundle.values().flat_map(BundleText::views) {
        let Some(view) = plan.view_named(view) else { continue };
        candidates[view].retain(|candidate| rows.0[view].iter().any(|row| differ(candidate, row) <= 1));
    }
    for (rows, candidates) in rows.0.iter().zip(candidates) {
        let mut first = Vec::new();
        for row in rows {
            let found = candidates.iter().position(|candidate| differ(candidate, row) == 0);
            first.push(match found {
                Some(found) => candidates.remove(found),
                None => Candidate::single(false, row.iter().map(|cell| Cell::Fixed(*cell)).collect()),
            });
        }
        candidates.splice(0..0, first);
    }
}

/// Lets every free field be whatever the form takes.
pub(crate) fn widen(forms: &Domain, text: &PlanText, plan: &Plan, candidates: &mut Candidates) {
    for (view, candidates) in plan.views.iter().zip(candidates) {
        let Some(table) = text.views.get(&view.name).and_then(|view| forms.table_named(&view.from)) else { continue };
        for (at, field) in view.fields.iter().enumerate() {
            let reads = text.views.get(&view.name).and_then(|view| view.fields.get(&field.name));
            let column = reads.and_then(|reads| reads.split_once(':')).map_or("", |(_, column)| column.trim());
            let column = forms.table(table).fields.iter().find(|known| known.name == column);
            let Some((low, high)) = column.and_then(|column| column.bounds) else { continue };
            for candidate in candidates.iter_mut() {
                if let Cell::Free(..) = candidate.fields[at] {
                    candidate.fields[at] = Cell::Free(low, high);
                }
            }
        }
    }
}
