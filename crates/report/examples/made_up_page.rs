//! Writes the pages of a made-up run into a folder, for looking at them: `cargo run -p benchwright-report --example
//! made_up_page FOLDER [ATTEMPTS [COPIES]]`. With copies the tasks are so many times 300. With `hostile` in the place of the attempts every
//! text of the run, of every kind in turn, is one that a browser might take for its own.

#![expect(clippy::unwrap_used, reason = "a made-up run stops at the first surprise")]

#[path = "../tests/report/draw.rs"]
mod draw;
#[path = "../tests/report/hostile.rs"]
mod hostile;
#[path = "../tests/report/made_up.rs"]
mod made_up;

use benchwright_pack::run::{RunPlan, TrialEnd, TrialRecord};
use benchwright_report::html::{Page, Site, page_name};
use benchwright_report::{Side, Tally, compare_all};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::Path,
    time::Instant,
};

/// The same run with every task so many times under other names.
fn copied(plan: &mut RunPlan, records: &mut Vec<TrialRecord>, copies: usize) {
    let (tasks, own) = (plan.tasks.clone(), records.clone());
    for copy in 1..copies {
        let renamed = |digest: &str| format!("{copy:04}{}", &digest[4..]);
        for task in &tasks {
            let mut task = task.clone();
            (task.id, task.digest) = (format!("{}-{copy}", task.id), renamed(&task.digest));
            plan.tasks.push(task);
        }
        for record in &own {
            let mut record = record.clone();
            record.key.task = renamed(&record.key.task);
            records.push(record);
        }
    }
}

/// The pages of a run for each kind of hostile text, in a folder each.
fn all_hostile(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    for (nth, (_, text)) in hostile::texts().into_iter().chain([("all at once", hostile::all())]).enumerate() {
        let folder = folder.join(format!("{:02}", nth + 1));
        let (plan, records) = hostile::hostile(&text);
        let tally = Tally::of(&plan, &records)?;
        let sides: Vec<Side> = plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
        let scored = records.iter().find(|record| matches!(record.end, TrialEnd::Scored(_))).ok_or("no trial")?;
        let wrong = BTreeMap::from([(1, text.clone())]);
        let site = Site::new(&text, &text, &tally, compare_all(&sides)?).with_trials(BTreeSet::from([1]), wrong);
        for below in ["trials", "tasks"] {
            fs::create_dir_all(folder.join(below))?;
        }
        for page in site.pages().into_iter().filter(|page| !matches!(page, Page::Task(1..) | Page::Versus(1..))) {
            fs::write(folder.join(site.name(page)), site.render(page, Some(&text)))?;
        }
        let made = hostile::hostile_made(scored, &text);
        fs::write(folder.join(page_name(&scored.key)), site.trial(scored, Some(&made), Some(&text)))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: made_up_page FOLDER [ATTEMPTS [COPIES]]")?;
    let folder = std::path::PathBuf::from(folder);
    let attempts = arguments.next();
    if attempts.as_deref() == Some("hostile") {
        return all_hostile(&folder);
    }
    let attempts = attempts.map_or(Ok(2), |count| count.parse())?;
    let copies = arguments.next().map_or(Ok(1), |count| count.parse())?;
    let (mut plan, mut records) = made_up::made_up_run(attempts, 1);
    copied(&mut plan, &mut records, copies);
    let begun = Instant::now();
    let tally = Tally::of(&plan, &records)?;
    let sides: Vec<Side> = plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
    let pages = made_up::pages(&plan, &records);
    let numbers = pages.iter().map(|page| page.number).collect();
    let site = Site::new("A made-up run", "", &tally, compare_all(&sides)?).with_trials(numbers, BTreeMap::new());
    for below in ["trials", "tasks"] {
        fs::create_dir_all(folder.join(below))?;
    }
    let (mut largest, mut all) = ((0, String::new()), 0);
    for page in site.pages() {
        let brief = matches!(page, Page::Task(_)).then_some("# A brief\n\nBuy what is needed.");
        let (name, text) = (site.name(page), site.render(page, brief));
        all += text.len();
        largest = largest.max((text.len(), name.clone()));
        fs::write(folder.join(name), text)?;
    }
    for page in &pages {
        fs::write(folder.join(page_name(&page.record.key)), site.trial(page.record, Some(&page.made), None))?;
    }
    let index = fs::metadata(folder.join("index.html"))?.len();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{} trials, {} pages of {all} bytes in {:.1} s; index {index} bytes, the largest {} bytes ({})",
        records.len(),
        site.pages().len() + pages.len(),
        begun.elapsed().as_secs_f64(),
        largest.0,
        largest.1
    )?;
    Ok(())
}
