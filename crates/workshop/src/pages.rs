//! Pages of a recorded run's trials. Each is made by itself: what is wrong with one stands on its page and in its line of the index, and the
//! others are made all the same.

use crate::{Error, Workshop, host::StoreHost, progress::Work, recorded::Recorded};
use benchwright_pack::{Store, TaskLine, TrialRecord, run::TrialEnd};
use benchwright_report::html::{MOST_LISTED, PageLink, Pages, TrialView, page_name, trial_page};
use std::{
    collections::{BTreeMap, BinaryHeap},
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

    /// Writes the pages of chosen trials into a folder; what the index links to.
    pub fn pages(&self, workshop: &Workshop, tasks: &Path, chosen: Chosen<'_>, out: &Path) -> Result<Pages, Error> {
        let host = StoreHost::new(workshop.catalog(), Store::at(tasks));
        let lines: BTreeMap<&str, &TaskLine> = self.plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
        let mut numbers: Vec<i64> = chosen.numbers.into_values().flatten().collect();
        numbers.sort_unstable();
        let folder = out.join("trials");
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let mut work = Work::begin(workshop.progress(), "pages", 0, numbers.len());
        let mut pages = Pages::default();
        for number in numbers {
            let record = self.record(number)?;
            let task = lines.get(&*record.key.task).ok_or_else(|| Error::NoTask(record.key.task.clone()))?;
            let (page, wrong) = page(self, &host, number, &record, task);
            let href = page_name(&record.key);
            let path = out.join(&href);
            fs::write(&path, page).map_err(Error::io(&path))?;
            work.done(&task.id);
            pages.wrong.extend(wrong.clone());
            if pages.links.len() == MOST_LISTED {
                pages.unlisted += 1;
                continue;
            }
            let pass = match &record.end {
                TrialEnd::Scored(score) => Some(score.pass),
                TrialEnd::Error { .. } => None,
            };
            let (agent, attempt) = (record.key.agent, record.key.attempt);
            pages.links.push(PageLink { href, agent, task: task.id.clone(), attempt, pass, wrong });
        }
        Ok(pages)
    }
}

/// The page of a trial, and what is wrong with its record.
fn page(
    run: &Recorded,
    host: &StoreHost<'_>,
    number: i64,
    record: &TrialRecord,
    task: &TaskLine,
) -> (String, Option<String>) {
    let view = TrialView { task, record, instruction: "", calls: &[], verdict: None, diff: "", wrong: None };
    if matches!(record.end, TrialEnd::Error { .. }) {
        return (trial_page(&view), None);
    }
    let kept = run.kept(number).map_err(|error| error.to_string());
    let shown = kept.and_then(|kept| {
        let told = host.line(&task.id).and_then(|now| {
            // A segment keeps no verdict: it is reached again.
            let verdict = match kept.verdict {
                Some(verdict) => verdict,
                None => host.finished_again(&task.id, &kept.trace, false)?.verdict,
            };
            Ok((now, host.replayed(&task.id, &kept.trace)?, verdict))
        });
        let (now, again, verdict) = told.map_err(|error| error.to_string())?;
        match now.digest == task.digest {
            true => Ok((verdict, again)),
            false => Err(format!("{}: the task in the folder is another than the one that was tried", task.id)),
        }
    });
    match shown {
        Ok((verdict, (instruction, calls, diff))) => {
            let verdict = Some(&verdict);
            let (instruction, diff) = (&*instruction, &*diff);
            (trial_page(&TrialView { instruction, calls: &calls, verdict, diff, ..view }), None)
        }
        Err(why) => {
            let wrong = format!("trial {number}: {why}");
            (trial_page(&TrialView { wrong: Some(&wrong), ..view }), Some(wrong))
        }
    }
}
