//! Writes the pages of a made-up run into a folder, for looking at them: `cargo run -p benchwright-report --example
//! made_up_page FOLDER [ATTEMPTS]`.

#![expect(clippy::unwrap_used, reason = "a made-up run stops at the first surprise")]

#[path = "../tests/report/draw.rs"]
mod draw;
#[path = "../tests/report/made_up.rs"]
mod made_up;

use benchwright_report::html::{self, Index};
use benchwright_report::{Side, Tally, compare_all, text};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(arguments.next().ok_or("usage: made_up_page FOLDER [ATTEMPTS]")?);
    let attempts = arguments.next().map_or(Ok(2), |count| count.parse())?;
    let (plan, records) = made_up::made_up_run(attempts, 1);
    let tally = Tally::of(&plan, &records)?;
    let summary = tally.summary();
    let sides: Vec<Side> = plan.agents.iter().map(|agent| Side { tally: &tally, agent }).collect();
    let comparisons = compare_all(&sides)?;
    let pages = made_up::pages(&plan, &records);
    let links: Vec<html::PageLink> = pages.iter().map(|page| page.link()).collect();
    let beside = Index { title: "A made-up run", comparisons: &comparisons, pages: &links, ..Index::default() };
    let index = html::index(&summary, &beside);
    std::fs::create_dir_all(folder.join("trials"))?;
    std::fs::write(folder.join("index.html"), &index)?;
    for page in &pages {
        std::fs::write(folder.join(&page.name), html::trial_page(&page.view()))?;
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n{}", text::summary(&summary, 140), text::comparisons(&comparisons, 140))?;
    writeln!(out, "{} bytes in {}", index.len(), folder.join("index.html").display())?;
    Ok(())
}
