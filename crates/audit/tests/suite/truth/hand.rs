//! An agent's hand on a task: the oracle's work with something done otherwise, by the tools that an agent has.

use crate::support::library;
use benchwright_audit::{NotRemade, Solvers, Subject};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{BoundKeys, Script, Step, Task, Verdict};
use benchwright_project::{Order, Solver, make};
use benchwright_sandbox::Episode;
use benchwright_solve::{CpSat, Highs, PhasePlanner};
use benchwright_world::replay;
use serde_json::{Value as Json, json};

/// The tasks that everything is tried on, by a short name: one that is billed, one that is built, one to mend, one to screen, and so on.
pub(crate) const TASKS: [(&str, &str); 7] = [
    ("plain", "procurement/routine-replenishment-cycle"),
    ("deposit", "procurement/buy-with-a-percentage-deposit"),
    ("screen", "procurement/screen-buy-and-invoice"),
    ("make", "production/one-line-make-or-buy-plan"),
    ("stages", "production/two-stage-build-with-cheapest-branch"),
    ("rescue", "recovery/supplier-cancellation-rescue"),
    ("fallback", "recovery/supplier-cancellation-rescue-with-production-fallback"),
];

fn task(catalog: &Catalog, engine: &CpSat, pattern: &str) -> Result<Task, String> {
    let pattern = catalog.pattern(pattern).unwrap();
    let family = catalog.family(&pattern.family, &pattern.domain).unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let cell =
        pattern.head.cells.iter().min_by_key(|cell| ["easy", "medium", "hard"].iter().position(|t| *t == cell.tier));
    let cell = cell.unwrap();
    let order = Order { pattern: &pattern, tier: &cell.tier, objective: &cell.objectives[0], seed: 1, reading: None };
    let solver = Solver { version: "test".to_owned(), library: "test".to_owned() };
    make(order, family, &domain, &mut PhasePlanner::new(engine), &solver).map_err(|error| error.to_string())
}

/// Puts a task of every pattern of the list on the bench, one after the other. Without the solver's library a test fails and says how to
/// get it, unless `BENCHWRIGHT_NO_SOLVER=1`.
pub(crate) fn on_every_task(each: &mut dyn FnMut(&str, &Subject<'_>, &Grader<'_>)) {
    let Some(library) = library() else { return };
    let catalog = Catalog::built_in();
    let (engine, second) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    for (name, pattern) in TASKS {
        let made = task(&catalog, &engine, pattern).unwrap();
        let again = || Err(NotRemade("it is not made again".to_owned()));
        let solvers = Some(Solvers { first: &engine, second: &second });
        let subject = Subject::new(&made, &catalog, solvers, &again).unwrap();
        each(name, &subject, &subject.grader().unwrap());
    }
}

/// An episode with the keys of its rows.
pub(crate) struct Hand<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    episode: Episode,
    keys: BoundKeys,
    /// The calls that the world refused.
    pub(crate) refused: Vec<String>,
}

impl<'s, 'a> Hand<'s, 'a> {
    pub(crate) fn new(subject: &'s Subject<'a>, grader: &'s Grader<'s>) -> Hand<'s, 'a> {
        Hand { subject, grader, episode: subject.begin().unwrap(), keys: subject.bound_keys(), refused: Vec::new() }
    }

    /// Whether a case has a switch.
    pub(crate) fn has(&self, switch: &str) -> bool {
        self.subject.case.switches.iter().any(|known| known == switch)
    }

    /// The day of the task at noon, so many days from today.
    pub(crate) fn day(&self, days: i64) -> String {
        let date = self.subject.bound.anchor.add_days(days).unwrap();
        format!("{date} 12:00:00")
    }

    /// Does what the oracle does, with each step changed, dropped (`None`) or left.
    pub(crate) fn oracle_with(&mut self, change: impl Fn(Step) -> Option<Step>) {
        let steps = self.subject.task.sealed.oracle.steps.iter().cloned().filter_map(change).collect();
        if let Err(error) = replay(&Script { steps, ..Script::default() }, &mut self.keys, &mut self.episode) {
            self.refused.push(error.to_string());
        }
    }

    /// Does what the oracle does.
    pub(crate) fn oracle(&mut self) {
        self.oracle_with(Some);
    }

    /// The verdict on what is left.
    pub(crate) fn verdict(&self) -> Verdict {
        self.grader.grade(&self.episode.snapshot()).unwrap()
    }

    /// What a call answers; a refusal is noted.
    pub(crate) fn call(&mut self, model: &str, method: &str, args: Json) -> Option<Json> {
        let step = Step::call(model, method, args);
        let args = self.keys.fill(&step.args).unwrap();
        match self.episode.call(&step.tool(), &args.to_string()) {
            Ok(answer) => Some(serde_json::from_str(&answer).unwrap()),
            Err(refusal) => {
                self.refused.push(format!("{model} {method}: {refusal}"));
                None
            }
        }
    }

    /// The rows that meet conditions.
    pub(crate) fn rows(&mut self, model: &str, domain: Json, fields: &[&str]) -> Vec<Json> {
        let args = json!({ "domain": domain, "fields": fields });
        self.call(model, "search_read", args).and_then(|rows| rows.as_array().cloned()).unwrap_or_default()
    }

    /// The ids of the rows that meet conditions.
    pub(crate) fn ids(&mut self, model: &str, domain: Json) -> Vec<i64> {
        self.rows(model, domain, &["id"]).iter().map(|row| row["id"].as_i64().unwrap()).collect()
    }

    /// The first of them.
    pub(crate) fn first(&mut self, model: &str, domain: Json) -> Option<i64> {
        let mut ids = self.ids(model, domain);
        ids.sort_unstable();
        ids.first().copied()
    }

    pub(crate) fn write(&mut self, model: &str, ids: &[i64], vals: Json) {
        self.call(model, "write", json!({ "ids": ids, "vals": vals }));
    }

    pub(crate) fn press(&mut self, model: &str, method: &str, ids: &[i64]) {
        self.call(model, method, json!({ "ids": ids }));
    }

    pub(crate) fn create(&mut self, model: &str, vals: Json) -> Option<i64> {
        self.call(model, "create", json!({ "vals_list": [vals] })).and_then(|ids| ids[0].as_i64())
    }

    /// The ids of rows of the first state whose keys begin so.
    pub(crate) fn keyed(&self, table: &str, prefix: &str) -> Vec<i64> {
        let rows = self.subject.task.sealed.verifier.keys.get(table).into_iter().flatten();
        rows.filter(|(_, key)| key.starts_with(prefix)).map(|(id, _)| i64::from(*id)).collect()
    }

    /// What many exploits begin with: the finished item, a customer and a supplier of the job.
    pub(crate) fn item(&mut self) -> i64 {
        self.rows("sale.order.line", json!([["display_type", "=", false]]), &["product_id"])[0]["product_id"][0]
            .as_i64()
            .unwrap()
    }

    pub(crate) fn customer(&self) -> i64 {
        self.keyed("res_partner", "customer/")[0]
    }

    pub(crate) fn vendor(&self) -> i64 {
        self.keyed("res_partner", "vendor/")[0]
    }

    /// A confirmed sales order.
    pub(crate) fn order(&mut self) -> i64 {
        self.first("sale.order", json!([["state", "=", "sale"]])).unwrap()
    }

    /// A line of goods of a confirmed sales order.
    pub(crate) fn line(&mut self) -> i64 {
        let order = self.order();
        self.first("sale.order.line", json!([["order_id", "=", order], ["is_downpayment", "=", false]])).unwrap()
    }

    /// A confirmed purchase.
    pub(crate) fn purchase(&mut self) -> Option<i64> {
        self.first("purchase.order", json!([["state", "=", "purchase"]]))
    }

    /// A line of a confirmed purchase.
    pub(crate) fn bought(&mut self) -> Option<i64> {
        let order = self.purchase()?;
        self.first("purchase.order.line", json!([["order_id", "=", order]]))
    }

    /// A confirmed build.
    pub(crate) fn build(&mut self) -> Option<i64> {
        self.first("mrp.production", json!([["state", "=", "confirmed"]]))
    }

    /// A posted invoice.
    pub(crate) fn invoice(&mut self) -> Option<i64> {
        self.first("account.move", json!([["state", "=", "posted"], ["move_type", "=", "out_invoice"]]))
    }

    /// Takes an invoice back to draft, changes it and posts it again.
    pub(crate) fn change_invoice(&mut self, id: i64, vals: Json) {
        self.press("account.move", "button_draft", &[id]);
        self.write("account.move", &[id], vals);
        self.press("account.move", "action_post", &[id]);
    }

    /// Enters an entry with one line.
    pub(crate) fn entry(&mut self, kind: &str, partner: i64, dollars: i64) -> Option<i64> {
        let today = self.day(0)[..10].to_owned();
        let line = json!({ "name": "Beside the plan", "quantity": 1, "price_unit": dollars });
        let vals = json!({ "move_type": kind, "partner_id": partner, "invoice_date": today, "invoice_line_ids": [[0, 0, line]] });
        self.create("account.move", vals)
    }
}
