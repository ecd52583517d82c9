//! Plans with a hole, and the trials that find it: the small family of the tests, right but for one line of its plan.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_audit::{Finding, Held, NotRemade, Subject, TRIALS, run};
use benchwright_pack::Task;
use benchwright_project::{Brief, Case, Discard, Draw, Family, FamilyError, FirstState, Order, Solver, make};
use benchwright_schema::{
    Domain,
    plan::{Bindings, FreeText, PlanText, ViewText, VoidText},
};
use benchwright_spec::{NamedRows, NoPlanner, Planner};
use benchwright_testkit::handover::{self, Handover};
use std::collections::BTreeMap;

/// The family with another plan.
struct Holey(PlanText);

impl Family for Holey {
    fn plan(&self) -> &PlanText {
        &self.0
    }
    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard> {
        Handover.sample(draw, domain, planner)
    }
    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        Handover.bindings(case)
    }
    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError> {
        Handover.world(case, domain)
    }
    fn script(&self, case: &Case, plan: &NamedRows) -> Result<benchwright_pack::Script, FamilyError> {
        Handover.script(case, plan)
    }
    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError> {
        Handover.brief(draw, case, plan)
    }
    fn gates(&self, case: &Case) -> Vec<String> {
        Handover.gates(case)
    }
}

/// What `cells` and `aftermath` find on a task whose plan was changed.
fn found(change: fn(&mut PlanText)) -> [Finding; 2] {
    let mut plan = Handover.plan().clone();
    change(&mut plan);
    let family: &'static Holey = Box::leak(Box::new(Holey(plan)));
    let catalog = handover::catalog().with_family("handover", family);
    let pattern = catalog.pattern("desk/outage").unwrap();
    let domain = catalog.find(&pattern.domain).unwrap().domain;
    let order = Order { pattern: &pattern, tier: "medium", objective: "hand_over", seed: 2, reading: None };
    let solver = Solver { version: "none".to_owned(), library: String::new() };
    let task: Task = make(order, family, &domain, &mut NoPlanner, &solver).unwrap();
    let again = || Err(NotRemade("it is not made again".to_owned()));
    let subject = Subject::new(&task, &catalog, None, &again).unwrap();
    let grader = subject.grader().unwrap();
    ["cells", "aftermath"].map(|name| run(TRIALS.iter().find(|trial| trial.name == name).unwrap(), &subject, &grader))
}

fn passed(finding: &Finding) {
    assert_eq!(finding.held, Held::Passed, "{finding:?}");
}

/// The hole is found, by its name.
fn names(finding: &Finding, what: &str) {
    let Held::Failed(why) = &finding.held else { panic!("{what} is not found: {finding:?}") };
    assert!(why.contains(what), "{finding:?}");
}

#[test]
fn a_plan_without_holes_stands_both() {
    let [cells, aftermath] = found(|_| ());
    passed(&cells);
    passed(&aftermath);
    for counted in ["cells", "fell", "free", "stamped"] {
        assert!(cells.counts[counted] > 0, "{cells:?}");
    }
    for counted in ["calls", "fell", "free", "refused"] {
        assert!(aftermath.counts[counted] > 0, "{aftermath:?}");
    }
    assert!(cells.notes.iter().any(|note| note == "itsm.incident.caller is left open by handover/incident-opened"));
    assert!(cells.notes.iter().any(|note| note.starts_with("itsm.incident.description is free: ")));
}

/// A condition that holds whatever a field holds.
fn anything(plan: &mut PlanText, table: &str, field: &str) {
    let held = plan.held.entry(table.to_owned()).or_default();
    held.insert(field.to_owned(), format!("{field} = {field}"));
}

#[test]
fn a_cell_that_nothing_holds_is_found() {
    // A condition that says nothing.
    let [cells, _] = found(|plan| anything(plan, "itsm.incident", "status"));
    names(&cells, "status is left open by `status = status`, and nothing bounds it");
    // A rule that says nothing: the view still reads the field.
    let [cells, _] =
        found(|plan| plan.rules.get_mut("handover/to-the-group").unwrap().require = Some("true".to_owned()));
    names(&cells, "assignment_group may be");
    // A freedom by a sentence, of what rules read, that no rule bounds.
    let [cells, _] = found(|plan| {
        plan.rules.get_mut("handover/to-the-group").unwrap().require = Some("true".to_owned());
        let free = plan.free.get_mut("itsm.incident").unwrap();
        free.insert("assignment_group".to_owned(), FreeText::Told("handover/to-the-group".to_owned()));
    });
    names(&cells, "nothing bounds it");
}

/// Licenses a change of records that the oracle does not touch. A view reads the field, and no rule reads the view.
fn unread(plan: &mut PlanText) {
    plan.frame.change.insert("itsm.service".to_owned(), vec!["criticality".to_owned()]);
    let fields = BTreeMap::from([("criticality".to_owned(), "text: criticality".to_owned())]);
    let (from, only) = ("itsm.service".to_owned(), None);
    plan.views.insert("services".to_owned(), ViewText { from, only, within: Vec::new(), key: Vec::new(), fields });
}

#[test]
fn a_call_that_nothing_refuses_is_found_and_may_be_declared_harmless() {
    let [cells, aftermath] = found(unread);
    passed(&cells);
    names(&aftermath, "itsm.service.criticality");
    let [_, aftermath] = found(|plan| {
        unread(plan);
        plan.harmless.insert("update_service".to_owned(), "for this test".to_owned());
    });
    passed(&aftermath);
    assert!(aftermath.counts["harmless"] > 0);
    assert!(aftermath.notes.iter().any(|note| note == "update_service is harmless: for this test"));
}

#[test]
fn what_promises_nothing_may_hold_anything() {
    let [_, aftermath] = found(|plan| {
        unread(plan);
        let (when, why) = ("org != null".to_owned(), "for this test".to_owned());
        plan.void.insert("itsm.service".to_owned(), VoidText { when, why });
    });
    passed(&aftermath);
    assert!(aftermath.notes.iter().any(|note| note == "a row of itsm.service may hold anything: for this test"));
}
