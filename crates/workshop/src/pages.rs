//! The pages of a recorded run. Each trial's is made by itself: what is wrong with one stands on its page and in a line of the index, and the
//! others are made all the same.

use crate::{Error, Workshop, host::StoreHost, progress::Work, recorded::Recorded};
use benchwright_pack::{Store, TaskLine, TrialRecord, run::TrialEnd};
use benchwright_report::{
    Comparison, Tally,
    html::{Made, Page, Site, page_name},
};
use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    fs,
    path::Path,
};

/// Trials that are to get a page, chosen while all are gone through: of each agent the first by number.
pub struct Chosen<'r> {
    only_failed: bool,
    most: usize,
    /// The numbers of each agent, the largest on top.
    numbers: BTreeMap<&'r str, BinaryHeap<i64>>,
}

impl Chosen<'_> {
    /// Looks at the next trial.
    pub fn add(&mut self, number: i64, record: &TrialRecord) {
        let passed = matches!(&record.end, TrialEnd::Scored(score) if score.pass);
        let Some(numbers) = self.numbers.get_mut(&*record.key.agent).filter(|_| !(self.only_failed && passed)) else {
            return;
        };
        if numbers.len() < self.most {
            numbers.push(number);
        } else if let Some(mut largest) = numbers.peek_mut().filter(|largest| number < **largest) {
            *largest = number;
        }
    }
}

impl Recorded {
    /// A choice of at most so many trials of each agent: of all, or of those that did not pass.
    pub fn choose(&self, (only_failed, most): (bool, usize)) -> Chosen<'_> {
        let numbers = self.plan.agents.iter().map(|agent| (&**agent, BinaryHeap::new())).collect();
        Chosen { only_failed, most, numbers }
    }

    /// Writes all pages of the run into a folder, those of chosen trials with them; what is wrong with records comes back. Where the tasks
    /// are not at hand no trial has a page, and no task tells what was asked.
    pub fn pages(
        &self,
        workshop: &Workshop,
        tasks: Option<&Path>,
        (tally, comparisons): (&Tally<'_>, Vec<Comparison>),
        chosen: Chosen<'_>,
        out: &Path,
    ) -> Result<Vec<String>, Error> {
        let host = tasks.map(|tasks| StoreHost::new(workshop.catalog(), Store::at(tasks)));
        let numbers: BTreeSet<i64> = match host {
            Some(_) => chosen.numbers.into_values().flatten().collect(),
            None => BTreeSet::new(),
        };
        let site = Site::new(&self.name, self.head(), tally, comparisons).with_trials(numbers.clone(), BTreeMap::new());
        let lines: BTreeMap<&str, &TaskLine> = self.plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
        for folder in ["trials", "tasks"] {
            let folder = out.join(folder);
            fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        }
        let put = |name: &str, page: String| {
            let path = out.join(name);
            fs::write(&path, page).map_err(Error::io(&path))
        };
        let mut wrong = BTreeMap::new();
        let mut work = Work::begin(workshop.progress(), "pages", 0, numbers.len());
        if let Some(host) = &host {
            for number in &numbers {
                let record = self.record(*number)?;
                let task = lines.get(&*record.key.task).ok_or_else(|| Error::NoTask(record.key.task.clone()))?;
                let made = made(self, host, *number, &record, task);
                let page = match &made {
                    Ok(made) => site.trial(&record, made.as_ref(), None),
                    Err(why) => site.trial(&record, None, Some(why)),
                };
                put(&page_name(&record.key), page)?;
                wrong.extend(made.err().map(|why| (*number, why)));
                work.done(&task.id);
            }
        }
        drop(work);
        let site = site.with_trials(numbers, wrong);
        let listed = site.pages();
        let mut work = Work::begin(workshop.progress(), "pages of tasks", 0, listed.len());
        for page in listed {
            let name = site.name(page);
            put(&name, site.render(page, self.brief(host.as_ref(), page).as_deref()))?;
            work.done(&name);
        }
        Ok(site.into_wrong())
    }

    /// What the agents were told of the task that a page is of, where it is the task that they tried.
    pub(crate) fn brief(&self, host: Option<&StoreHost<'_>>, page: Page) -> Option<String> {
        let Page::Task(at) = page else { return None };
        let line = self.plan.tasks.get(at)?;
        let task = host?.store().task(&line.id).ok()?;
        (task.digest().to_string() == line.digest).then_some(task.instruction)
    }
}

/// What the page of a trial shows; nothing of one that was not judged. What is wrong with its record where it cannot be shown.
pub(crate) fn made(
    run: &Recorded,
    host: &StoreHost<'_>,
    number: i64,
    record: &TrialRecord,
    task: &TaskLine,
) -> Result<Option<Made>, String> {
    if matches!(record.end, TrialEnd::Error { .. }) {
        return Ok(None);
    }
    let bad = |why: String| format!("trial {number}: {why}");
    let kept = run.kept(number).map_err(|error| bad(error.to_string()))?;
    let now = host.line(&task.id).map_err(|error| bad(error.to_string()))?;
    if now.digest != task.digest {
        return Err(bad(format!("{}: the task in the folder is another than the one that was tried", task.id)));
    }
    host.made(&task.id, &kept, &record.spent.turns).map(Some).map_err(|error| bad(error.to_string()))
}
