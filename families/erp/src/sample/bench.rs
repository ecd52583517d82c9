//! Asks the planner for the best plan of a case, and reads it back in the words of the trade.

use super::super::facts;
use super::super::shop::{Build, Buy, Shop};
use benchwright_project::{Breadth, Discard, Draw, Family, plan_text};
use benchwright_schema::Domain;
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Outcome, Planner, Rows, Solved};

/// A planner at work on the cases of one draw.
pub(super) struct Bench<'a> {
    family: &'a dyn Family,
    draw: &'a Draw<'a>,
    domain: &'a Domain,
    planner: &'a mut dyn Planner,
    /// The rules that the last case's switches brought in, and whether they choose among equal plans.
    plan: Option<(Vec<String>, bool, Plan)>,
}

/// A plan with its values.
pub(super) struct Best {
    /// The values of the scored phases.
    pub(super) values: Vec<i64>,
    /// What is bought.
    pub(super) buys: Vec<Buy>,
    /// What is built.
    pub(super) builds: Vec<Build>,
}

impl<'a> Bench<'a> {
    /// A bench for a draw.
    pub(super) fn new(
        family: &'a dyn Family,
        draw: &'a Draw<'a>,
        domain: &'a Domain,
        planner: &'a mut dyn Planner,
    ) -> Bench<'a> {
        Bench { family, draw, domain, planner, plan: None }
    }

    /// The rules of a case and its facts. Where only the values matter, nothing need be chosen among equal plans.
    fn ready(&mut self, shop: &Shop, ties: bool) -> Result<(&Plan, Bound, &mut dyn Planner), Discard> {
        let switches = shop.switches();
        if self.plan.as_ref().is_none_or(|(known, tied, _)| *known != switches || *tied != ties) {
            let mut text = plan_text(self.family, self.draw.pattern, &switches);
            if !ties {
                text.ties.clear();
            }
            let plan = Plan::compile(&text, self.domain).map_err(|faults| Discard::Fault(faults.to_string()))?;
            self.plan = Some((switches, ties, plan));
        }
        let Some((_, _, plan)) = &self.plan else { return Err(Discard::Fault("there is no plan".to_owned())) };
        let bound = Bound::new(plan, &facts::bindings(shop)).map_err(|faults| Discard::Fault(faults.to_string()))?;
        Ok((plan, bound, self.planner))
    }

    /// The best plan for an objective; `None` if there is none, or none that is proved.
    pub(super) fn best(&mut self, shop: &Shop, objective: &str) -> Result<Option<Best>, Discard> {
        self.solve(shop, objective, true)
    }

    /// A plan with the best values for an objective, whichever it is.
    pub(super) fn values(&mut self, shop: &Shop, objective: &str) -> Result<Option<Best>, Discard> {
        self.solve(shop, objective, false)
    }

    fn solve(&mut self, shop: &Shop, objective: &str, ties: bool) -> Result<Option<Best>, Discard> {
        let (plan, bound, planner) = self.ready(shop, ties)?;
        let candidates = facts::candidates(shop, plan, &bound, Breadth::Tight).map_err(Discard::Fault)?;
        let outcome = match ties {
            true => planner.solve(plan, &bound, &candidates, objective)?,
            false => planner.best(plan, &bound, &candidates, objective)?,
        };
        match outcome {
            Outcome::Solved(solved) => Ok(Some(read(shop, plan, &bound, &solved, objective)?)),
            Outcome::Infeasible | Outcome::Unproved => Ok(None),
        }
    }

    /// What was solved already.
    pub(super) fn read(&mut self, shop: &Shop, solved: &Solved) -> Result<Best, Discard> {
        let (plan, bound, _) = self.ready(shop, false)?;
        read(shop, plan, &bound, solved, &shop.objective)
    }
}

fn read(shop: &Shop, plan: &Plan, bound: &Bound, solved: &Solved, objective: &str) -> Result<Best, Discard> {
    let phases = plan.objectives.get(objective).map_or(0, Vec::len);
    let values = solved.phases.iter().take(phases).map(|phase| phase.value).collect();
    let mut best = Best { values, buys: Vec::new(), builds: Vec::new() };
    each(plan, &solved.rows, "buy", |number| {
        let vendor = shop
            .vendors
            .iter()
            .find(|party| Some(number("vendor")) == place(plan, bound, "vendor", &facts::vendor(&party.reference)));
        let product = shop
            .products
            .iter()
            .find(|known| Some(number("product")) == place(plan, bound, "product", &facts::product(&known.code)));
        let (vendor, product) = vendor.zip(product)?;
        best.buys.push(Buy {
            vendor: vendor.reference.clone(),
            product: product.code.clone(),
            units: number("qty"),
            arrive: number("arrive"),
            price: number("price"),
        });
        Some(())
    })?;
    each(plan, &solved.rows, "build", |number| {
        let product = shop
            .products
            .iter()
            .find(|known| Some(number("product")) == place(plan, bound, "product", &facts::product(&known.code)));
        let centre = shop
            .centres
            .iter()
            .find(|known| Some(number("centre")) == place(plan, bound, "centre", &facts::centre(&known.code)));
        let (product, centre) = product.zip(centre)?;
        best.builds.push(Build {
            product: product.code.clone(),
            centre: centre.code.clone(),
            units: number("qty"),
            start: number("start"),
            due: number("due"),
        });
        Some(())
    })?;
    Ok(best)
}

/// The number of a member of a sort.
fn place(plan: &Plan, bound: &Bound, sort: &str, key: &str) -> Option<i64> {
    bound.member(plan.sort_named(sort)?, key).map(i64::from)
}

/// Reads every row of a view.
fn each(
    plan: &Plan,
    rows: &Rows,
    view: &str,
    mut row: impl FnMut(&dyn Fn(&str) -> i64) -> Option<()>,
) -> Result<(), Discard> {
    let fault = || Discard::Fault(format!("a row of `{view}` has no place in the case"));
    let at = plan.view_named(view).ok_or_else(fault)?;
    for cells in &rows.0[at] {
        let number =
            |field: &str| plan.views[at].field_named(field).and_then(|at| cells.get(at)).copied().unwrap_or(-1);
        row(&number).ok_or_else(fault)?;
    }
    Ok(())
}
