//! Runs that were recorded, as tables.

use crate::{
    error::{said, told},
    table::{Column, Table, texts, wholes},
};
use benchwright_pack::run::{Score, TrialEnd, TrialRecord};
use benchwright_workshop::{recorded::Recorded, runs::Runs};
use pyo3::{exceptions::PyKeyError, prelude::*};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A run that was recorded.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Run(Recorded);

/// Opens a run by its folder, as `benchwright run` wrote it: ``runs/NAME``.
#[pyfunction]
pub(crate) fn open_run(py: Python<'_>, folder: PathBuf) -> PyResult<Run> {
    py.detach(|| {
        let root = folder.parent().filter(|root| !root.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !root.join("ledger.sqlite").is_file() {
            return Err(said(format!(
                "{} is no run: there is no ledger beside it; `benchwright runs` names runs",
                folder.display()
            )));
        }
        let runs = Runs::open(root).map_err(told)?;
        let run = Recorded::open(&runs, Some(&folder.to_string_lossy())).map_err(told)?;
        // Tables of records that were changed are no tables of the run.
        run.check().map_err(told)?;
        Ok(Run(run))
    })
}

#[pymethods]
impl Run {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// A table of it: ``"trials"``, a row a trial that has ended, or ``"tasks"``, a row a task.
    fn table(&self, py: Python<'_>, which: &str) -> PyResult<Table> {
        py.detach(|| match which {
            "trials" => trials(&self.0),
            "tasks" => tasks(&self.0),
            other => Err(PyKeyError::new_err(format!("{other}: there are the tables trials and tasks"))),
        })
    }

    fn __repr__(&self) -> String {
        format!("Run({:?}, {} trials)", self.0.name, self.0.recorded())
    }
}

fn trials(run: &Recorded) -> PyResult<Table> {
    let records = run.records().map_err(told)?;
    let all: Vec<&TrialRecord> = records.iter().map(|(_, record)| record).collect();
    let score = |record: &&TrialRecord| match &record.end {
        TrialEnd::Scored(score) => Some(score.clone()),
        TrialEnd::Error { .. } => None,
    };
    let scores: Vec<Option<Score>> = all.iter().map(score).collect();
    let share = |read: fn(&Score) -> i64| {
        Column::Share(scores.iter().map(|score| score.as_ref().map(|score| read(score) as f64 / 1e6)).collect())
    };
    let truth = |read: fn(&Score) -> bool| Column::Truth(scores.iter().map(|score| score.as_ref().map(read)).collect());
    let of = |read: fn(&TrialRecord) -> Option<i64>| Column::Whole(all.iter().map(|record| read(record)).collect());
    let error = |record: &&TrialRecord| match &record.end {
        TrialEnd::Error { cause, .. } => Some(cause.clone()),
        TrialEnd::Scored(_) => None,
    };
    let failed =
        |score: &Option<Score>| score.as_ref().map(|score| score.failed.keys().cloned().collect::<Vec<_>>().join(" "));
    // A trial names its task by the digest.
    let ids: BTreeMap<&str, &str> = run.plan.tasks.iter().map(|task| (&*task.digest, &*task.id)).collect();
    let number = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
    Table::of(vec![
        (
            "task",
            Column::Text(all.iter().map(|record| ids.get(&*record.key.task).map(|id| (*id).to_owned())).collect()),
        ),
        ("agent", texts(all.iter().map(|record| &*record.key.agent))),
        ("attempt", of(|record| Some(record.key.attempt.into()))),
        ("passed", truth(|score| score.pass)),
        ("reward", share(|score| score.reward)),
        ("constraints", share(|score| score.constraints)),
        ("objective", share(|score| score.objective)),
        ("side_effect", truth(|score| score.side_effect)),
        ("failed", Column::Text(scores.iter().map(failed).collect())),
        (
            "limit",
            Column::Text(scores.iter().map(|score| score.as_ref().and_then(|score| score.limit.clone())).collect()),
        ),
        ("error", Column::Text(all.iter().map(error).collect())),
        ("calls", of(|record| Some(record.used.calls.into()))),
        ("refused", of(|record| Some(record.used.refused.into()))),
        ("turns", of(|record| record.used.turns.map(i64::from))),
        ("tokens_in", Column::Whole(all.iter().map(|record| number(record.used.tokens_in)).collect())),
        ("tokens_out", Column::Whole(all.iter().map(|record| number(record.used.tokens_out)).collect())),
        ("cost_microdollars", Column::Whole(all.iter().map(|record| number(record.used.cost)).collect())),
        ("microseconds", Column::Whole(all.iter().map(|record| number(Some(record.spent.wall))).collect())),
    ])
}

fn tasks(run: &Recorded) -> PyResult<Table> {
    let all = &run.plan.tasks;
    Table::of(vec![
        ("task", texts(all.iter().map(|task| &*task.id))),
        ("digest", texts(all.iter().map(|task| &*task.digest))),
        ("domain", texts(all.iter().map(|task| &*task.domain))),
        ("pattern", texts(all.iter().map(|task| &*task.pattern))),
        ("tier", texts(all.iter().map(|task| &*task.tier))),
        ("objective", texts(all.iter().map(|task| &*task.objective))),
        ("horizon", wholes(all.iter().map(|task| task.horizon.into()))),
    ])
}
