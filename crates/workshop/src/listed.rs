//! What a folder holds, a line each: the tasks of one, and the runs of another.

use crate::Error;
use benchwright_pack::Store;
use benchwright_report::{
    html::RunLine,
    layout::{columns, cut},
};
use serde_json::{Value as Json, json};

/// How much of an instruction's first line stands in a list.
const ABOUT: usize = 60;

/// A task of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Its name.
    pub id: String,
    world: String,
    about: String,
    made: Option<Made>,
}

/// What a task was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Made {
    pattern: String,
    tier: String,
    objective: String,
    seed: u64,
    digest: String,
}

impl Listed {
    /// The tasks of a folder. What they were made from is read only to reveal it.
    ///
    /// # Errors
    ///
    /// Where a task cannot be read.
    pub fn all(store: &Store, reveal: bool) -> Result<Vec<Self>, Error> {
        store.ids()?.into_iter().map(|id| Self::read(store, id, reveal)).collect()
    }

    fn read(store: &Store, id: String, reveal: bool) -> Result<Self, Error> {
        let part = store.open_part(&id)?;
        let headings = part.instruction.lines().map(|line| line.trim_start_matches('#').trim());
        let about = headings.into_iter().find(|line| !line.is_empty()).unwrap_or_default().to_owned();
        let made = match reveal {
            false => None,
            true => {
                let task = store.task(&id)?;
                let digest = task.digest().to_string();
                let sealed = task.sealed;
                let (pattern, tier, objective) = (sealed.pattern, sealed.tier, sealed.objective);
                Some(Made { pattern, tier, objective, seed: sealed.seed, digest })
            }
        };
        Ok(Self { id, world: part.open.domain, about, made })
    }

    /// It as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut told = json!({"task": self.id, "world": self.world, "about": self.about});
        if let Some(made) = &self.made {
            told["pattern"] = json!(made.pattern);
            told["tier"] = json!(made.tier);
            told["objective"] = json!(made.objective);
            told["seed"] = json!(made.seed);
            told["digest"] = json!(made.digest);
        }
        told
    }
}

/// The tasks of a folder as a table.
#[must_use]
pub fn tasks(lines: &[Listed]) -> String {
    let mut head = vec!["task", "world", "about"];
    if lines.iter().any(|line| line.made.is_some()) {
        head.insert(2, "made from");
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for line in lines {
        let mut row = vec![line.id.clone(), line.world.clone(), cut(&line.about, ABOUT)];
        if let Some(made) = &line.made {
            row.insert(2, format!("{} {} {} seed {}", made.pattern, made.tier, made.objective, made.seed));
        }
        rows.push(row);
    }
    columns(&rows, &[], 0)
}

/// How far a run is: done, going or stopped.
#[must_use]
pub fn state(line: &RunLine) -> &'static str {
    match (line.recorded < line.planned, line.working) {
        (false, _) => "done",
        (true, 0) => "stopped",
        (true, _) => "going",
    }
}

/// A run as JSON.
#[must_use]
pub fn run(line: &RunLine) -> Json {
    json!({
        "run": line.name, "tasks": line.tasks, "agents": line.agents, "planned": line.planned, "recorded": line.recorded,
        "errors": line.errors, "working": line.working, "state": state(line),
    })
}

/// Runs as a table.
#[must_use]
pub fn runs(lines: &[RunLine]) -> String {
    let mut rows = vec![["run", "tasks", "agents", "recorded", "of", "errors", "state"].map(str::to_owned).to_vec()];
    for line in lines {
        rows.push(vec![
            line.name.clone(),
            line.tasks.to_string(),
            line.agents.join(" "),
            line.recorded.to_string(),
            line.planned.to_string(),
            line.errors.to_string(),
            state(line).to_owned(),
        ]);
    }
    columns(&rows, &[1, 3, 4, 5], 0)
}
