//! Makes tasks of the examples and audits them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_audit::{NotRemade, RequestSubject, TRIALS, TaskReport, run_on_request};
use benchwright_catalog::Catalog;
use benchwright_derive::{DONE, NoBase, SIZE, ScenarioOrder, make};
use benchwright_pack::Task;
use benchwright_spec::scenario::Scenario;
use std::collections::BTreeMap;

/// The scenarios that stand in the documentation.
pub(crate) const EXAMPLES: [&str; 3] =
    ["csm/article-and-engineer", "itsm/schedule-the-change", "hybrid/our-outage-their-case"];

/// The catalogue with the examples.
pub(crate) struct Desk {
    pub(crate) catalog: Catalog,
    scenarios: BTreeMap<String, Scenario>,
}

impl Desk {
    pub(crate) fn open() -> Desk {
        let catalog = Catalog::built_in();
        let read = |name: &&str| ((*name).to_owned(), catalog.scenario(name).unwrap().0);
        let scenarios = EXAMPLES.iter().map(read).collect();
        Desk { catalog, scenarios }
    }

    /// What an example can be made as: such that it can be carried out, and each way in which it cannot.
    pub(crate) fn objectives(&self, example: &str) -> Vec<String> {
        let blocked = self.scenarios[example].blocked.iter().map(|variant| variant.name.clone());
        [DONE.to_owned()].into_iter().chain(blocked).collect()
    }

    pub(crate) fn make(&self, example: &str, objective: &str, seed: u64) -> Task {
        let scenario = &self.scenarios[example];
        let base =
            |seed: u64| self.catalog.base(&scenario.domain, SIZE, seed).map_err(|error| NoBase(error.to_string()));
        make(ScenarioOrder { name: example, scenario, tier: "medium", objective, seed }, &base).unwrap()
    }

    /// What some trials find on a task; all of them if none is named.
    pub(crate) fn tried(
        &self,
        task: &Task,
        remake: &dyn Fn() -> Result<Task, NotRemade>,
        trials: &[&str],
    ) -> Result<TaskReport, String> {
        let subject = RequestSubject::new(task, &self.catalog, remake).map_err(|error| error.to_string())?;
        let mut report = TaskReport { id: task.open.id.clone(), ..TaskReport::default() };
        for trial in TRIALS.iter().filter(|trial| trials.is_empty() || trials.contains(&trial.name)) {
            report.trials.insert(trial.name.to_owned(), run_on_request(trial, &subject));
        }
        Ok(report)
    }

    pub(crate) fn audit(&self, task: &Task, remake: &dyn Fn() -> Result<Task, NotRemade>) -> TaskReport {
        self.tried(task, remake, &[]).unwrap()
    }
}
