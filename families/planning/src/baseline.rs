//! How somebody plans who looks no further than the next row: step by step, each time the least that is needed now. What comes of it
//! is a plan that may break rules; where it breaks none, a good task is one in which it does not pass.

use crate::{
    reckon::{Per, holds, value},
    told::{BaselineText, Told},
};
use benchwright_schema::plan::{Bound, Plan, PlanText};
use benchwright_spec::Rows;

/// The baseline's plan of a case.
pub(crate) fn plan(told: &Told, text: &PlanText, plan: &Plan, bound: &Bound) -> Result<Rows, String> {
    let mut rows = Rows::empty(plan);
    for step in &told.baseline {
        take(step, text, plan, bound, &mut rows)?;
    }
    Ok(rows)
}

fn take(step: &BaselineText, text: &PlanText, plan: &Plan, bound: &Bound, rows: &mut Rows) -> Result<(), String> {
    let view = plan.view_named(&step.view).ok_or_else(|| format!("the baseline's view `{}` is none", step.view))?;
    let per = Per::read(Some(&step.per), plan)?;
    let goal = per.condition(&step.goal, plan, text)?;
    let mut fields = Vec::new();
    for field in &plan.views[view].fields {
        let is = step.fields.get(&field.name).ok_or_else(|| format!("the baseline has no `{}`", field.name))?;
        fields.push(match is.split_once(" .. ") {
            Some((low, high)) => (per.expr(low, plan, text)?, Some(per.expr(high, plan, text)?)),
            None => (per.expr(is, plan, text)?, None),
        });
    }
    for choice in per.all(bound, &rows.records(plan)) {
        if holds(&goal, &choice, bound, &rows.records(plan)) {
            continue;
        }
        let mut row = Vec::new();
        let mut tried = None;
        for (at, (low, high)) in fields.iter().enumerate() {
            let reckon = |expr| value(expr, &choice, bound, &rows.records(plan)).ok_or("the baseline has no value");
            row.push(reckon(low)?);
            if let Some(high) = high {
                tried = Some((at, reckon(high)?));
            }
        }
        rows.0[view].push(row.clone());
        let last = rows.0[view].len() - 1;
        let Some((at, high)) = tried else { continue };
        let found = (row[at]..=high).find(|value| {
            rows.0[view][last][at] = *value;
            holds(&goal, &choice, bound, &rows.records(plan))
        });
        if found.is_none() {
            rows.0[view].pop();
        }
    }
    Ok(())
}
