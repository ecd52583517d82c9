//! The pages of runs for whoever looks at them while they go on: made when they are asked for, from what is recorded by then.

use crate::{Error, Workshop, host::StoreHost, pages::made, recorded::Recorded, runs::Runs};
use benchwright_pack::{Store, TaskLine};
use benchwright_report::{
    Side, Tally, compare_all,
    html::{RunLine, Site, page_name, runs_page, trouble_page},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// How many runs are held in memory.
const MOST_HELD: usize = 3;

self_cell::self_cell!(
    struct Counted {
        owner: Recorded,
        #[covariant]
        dependent: Tally,
    }
);

/// A run as far as it was recorded.
struct Known {
    counted: Counted,
    /// The numbers of the trials that are recorded.
    numbers: BTreeSet<i64>,
    planned: usize,
}

/// The runs of a folder.
pub struct View {
    workshop: Workshop,
    runs: PathBuf,
    /// What was read last, by name.
    held: Mutex<Vec<(String, Arc<Known>)>>,
}

impl View {
    /// The runs of a folder, which must be there.
    pub fn of(workshop: Workshop, runs: &Path) -> Result<View, Error> {
        let view = View { workshop, runs: runs.to_owned(), held: Mutex::default() };
        match runs.is_dir() {
            true => view.open().map(|_| view),
            false => Err(Error::NoRun(runs.display().to_string())),
        }
    }

    fn open(&self) -> Result<Runs, Error> {
        Runs::open(&self.runs)
    }

    /// The page at a path: the list of runs, or a page of one of them as `report --html` would write it. `None` where there is none.
    pub fn page(&self, path: &str) -> Result<Option<String>, Error> {
        let runs = self.open()?;
        match path.split_once('/') {
            None if path.is_empty() || path == "index.html" => Ok(Some(runs_page(&lines(&runs)?))),
            None => Ok(None),
            Some((run, name)) => self.of_run(&runs, run, if name.is_empty() { "index.html" } else { name }),
        }
    }

    /// What is recorded of a run by now.
    fn known(&self, runs: &Runs, name: &str) -> Result<Option<Arc<Known>>, Error> {
        let Some(id) = runs.ledger.named(name)? else { return Ok(None) };
        let standing = runs.ledger.standing(id)?;
        let lock = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(held, _)| held == name)
            && known.numbers.len() == standing.recorded
        {
            return Ok(Some(Arc::clone(known)));
        }
        let mut numbers = BTreeSet::new();
        let counted = Counted::try_new(Recorded::open(runs, Some(name))?, |read| {
            let mut tally = Tally::new(&read.plan);
            let flaws = read.each(&mut |number, record| {
                numbers.insert(number);
                tally.add(record)
            });
            flaws.map(|_| tally)
        })?;
        let known = Arc::new(Known { counted, numbers, planned: standing.planned });
        let mut held = lock();
        held.retain(|(held, _)| held != name);
        held.insert(0, (name.to_owned(), Arc::clone(&known)));
        held.truncate(MOST_HELD);
        Ok(Some(known))
    }

    fn of_run(&self, runs: &Runs, run: &str, name: &str) -> Result<Option<String>, Error> {
        let Some(known) = self.known(runs, run)? else { return Ok(None) };
        let (read, tally) = (known.counted.borrow_owner(), known.counted.borrow_dependent());
        let sides: Vec<Side<'_>> = read.plan.agents.iter().map(|agent| Side { tally, agent }).collect();
        let site = Site::new(&read.name, read.head(), tally, compare_all(&sides)?);
        let mut site = site.with_trials(known.numbers.clone(), BTreeMap::new());
        if known.numbers.len() < known.planned {
            site = site.still_going(format!("{} of {} trials are recorded", known.numbers.len(), known.planned));
        }
        let tasks = read.tasks(None).ok();
        let host = tasks.map(|tasks| StoreHost::new(self.workshop.catalog(), Store::at(tasks)));
        if name.starts_with("trials/") {
            return self.trial(&site, &known, host.as_ref(), name);
        }
        let page = site.pages().into_iter().find(|page| site.name(*page) == name);
        Ok(page.map(|page| site.render(page, read.brief(host.as_ref(), page).as_deref())))
    }

    /// The page at a path, or a page that says why it could not be made.
    pub fn told(&self, path: &str) -> Option<String> {
        self.page(path).unwrap_or_else(|error| Some(trouble_page(&error.to_string())))
    }

    fn trial(
        &self,
        site: &Site<'_>,
        known: &Known,
        host: Option<&StoreHost<'_>>,
        name: &str,
    ) -> Result<Option<String>, Error> {
        let read = known.counted.borrow_owner();
        let number = read.plan.keys().zip(1..).find(|(key, _)| page_name(key) == name).map(|(_, number)| number);
        let Some(number) = number.filter(|number| known.numbers.contains(number)) else { return Ok(None) };
        let record = read.record(number)?;
        let task: Option<&TaskLine> = read.plan.tasks.iter().find(|task| task.digest == record.key.task);
        let made = match (host, task) {
            (Some(host), Some(task)) => made(read, host, number, &record, task),
            _ => Err("the tasks of this run are not where they were".to_owned()),
        };
        Ok(Some(match &made {
            Ok(made) => site.trial(&record, made.as_ref(), None),
            Err(why) => site.trial(&record, None, Some(why)),
        }))
    }
}

/// The runs that there are, the newest first.
pub fn lines(runs: &Runs) -> Result<Vec<RunLine>, Error> {
    let line = |id| -> Result<RunLine, Error> {
        let (name, plan, standing) = (runs.ledger.name(id)?, runs.ledger.plan(id)?, runs.ledger.standing(id)?);
        Ok(RunLine {
            name,
            tasks: plan.tasks.len(),
            agents: plan.agents,
            planned: standing.planned,
            recorded: standing.recorded,
            errors: standing.errors,
            working: standing.leased,
        })
    };
    runs.ledger.runs()?.into_iter().map(line).collect()
}
