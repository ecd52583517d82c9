//! Pages of a recorded run's trials. Each is made by itself: what is wrong with one stands on its page and in its line of the index, and the
//! others are made all the same.

use crate::{Error, Workshop, host::StoreHost, progress::Work, recorded::Recorded};
use benchwright_pack::{Store, TaskLine, TrialRecord, run::TrialEnd};
use benchwright_report::html::{PageLink, TrialView, page_name, trial_page};
use std::{collections::BTreeMap, fs, path::Path};

impl Recorded {
    /// Writes the pages of trials into a folder, of each agent at most so many; what the index links to.
    pub fn pages(
        &self,
        workshop: &Workshop,
        tasks: &Path,
        (only_failed, most): (bool, usize),
        out: &Path,
    ) -> Result<Vec<PageLink>, Error> {
        let host = StoreHost::new(workshop.catalog(), Store::at(tasks));
        let lines: BTreeMap<&str, &TaskLine> = self.plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
        let mut left: BTreeMap<&str, usize> = self.plan.agents.iter().map(|agent| (&**agent, most)).collect();
        let mut chosen = Vec::new();
        for (number, record) in self.records() {
            let passed = matches!(&record.end, TrialEnd::Scored(score) if score.pass);
            let (Some(left), Some(task)) = (left.get_mut(&*record.key.agent), lines.get(&*record.key.task)) else {
                continue;
            };
            if *left > 0 && !(only_failed && passed) {
                *left -= 1;
                chosen.push((*number, record, *task));
            }
        }
        let folder = out.join("trials");
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let mut work = Work::begin(workshop.progress(), "pages", 0, chosen.len());
        let mut links = Vec::new();
        for (number, record, task) in chosen {
            let (page, wrong) = page(self, &host, number, record, task);
            let href = page_name(&record.key);
            let path = out.join(&href);
            fs::write(&path, page).map_err(Error::io(&path))?;
            let (agent, attempt) = (record.key.agent.clone(), record.key.attempt);
            let pass = match &record.end {
                TrialEnd::Scored(score) => Some(score.pass),
                TrialEnd::Error { .. } => None,
            };
            links.push(PageLink { href, agent, task: task.id.clone(), attempt, pass, wrong });
            work.done(&task.id);
        }
        Ok(links)
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
