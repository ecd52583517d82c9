//! What an instruction says besides its conditions and bounds, in the reader's own copy: every line must be one that it knows.

use super::super::words::{Measure, Words};
use benchwright_project::{Heed, Passage};
use std::ops::Range;

/// How the goal may be put.
const GOALS: [&str; 3] = [
    "There is exactly one choice that meets everything above.",
    "Everything above can be met in exactly one way.",
    "One choice, and only one, meets all of this.",
];

/// What every job of the kind asks.
fn whole(words: &Words) -> String {
    let plan = &words.plan;
    format!(
        "Every open slot gets one of its own candidates, what stands in the other slots stays as it is, and the {plan} is handed in at the end."
    )
}

/// The words by which a bound is known to be one from above or from below.
pub(super) fn is_bound(measure: Measure, sentence: &str) -> bool {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| sentence.contains(phrase));
    let (above, below) =
        (says(&["t most ", "t most: ", "o more than "]), says(&["t least ", "o fewer than ", "o less than "]));
    match measure {
        Measure::TotalAtLeast => below && !above,
        _ => above && !below,
    }
}

/// The budgets: queries for each open slot, and checks of the whole grid.
pub(super) fn budgets(words: &Words, text: &str) -> Result<(i64, i64), String> {
    let line = Layout::of(text).work.get(1).map(|line| text[line.clone()].trim()).unwrap_or_default();
    let found = || {
        let rest = line.strip_prefix("About the candidates of an open slot ")?;
        let (queries, rest) = rest.split_once(" queries may be made, and the whole ")?;
        let checks = rest.strip_prefix(&*words.plan)?.strip_prefix(" may be checked ")?.strip_suffix(" times.")?;
        Some((queries.parse().ok()?, checks.parse().ok()?))
    };
    found().ok_or_else(|| format!("the budgets are not told: `{line}`"))
}

/// Refuses a line that is not known, and misses one that must be there.
pub(super) fn check(words: &Words, text: &str) -> Result<(), String> {
    let layout = Layout::of(text);
    let headings = ["The open slots".to_owned(), format!("The whole {}", words.plan), "The work".to_owned()];
    for line in layout.body.iter().map(|line| text[line.clone()].trim()) {
        let known = match line.strip_prefix("## ") {
            Some(heading) => headings.iter().any(|known| known == heading),
            None => line.starts_with("- "),
        };
        if !known {
            return Err(format!("unread sentence: {line}"));
        }
    }
    let work = layout.work.first().map(|line| text[line.clone()].trim()).unwrap_or_default();
    if !work.ends_with(&whole(words)) {
        return Err(format!("unread sentence: {work}"));
    }
    Ok(())
}

/// What carries no meaning of its own, and what is known by less than all its words.
pub(crate) fn passages(words: &Words, text: &str) -> Vec<Passage> {
    let layout = Layout::of(text);
    let mut found = vec![Passage {
        range: layout.opening,
        heed: Heed::Nothing,
        why: "title and opening set the scene: what is asked stands below",
    }];
    let headings = layout.body.iter().filter(|line| text[(*line).clone()].starts_with("## "));
    found.extend(headings.map(|line| Passage {
        range: line.clone(),
        heed: Heed::Nothing,
        why: "a heading: it orders the text",
    }));
    if let Some(line) = layout.work.first() {
        let goal = text[line.clone()].trim().strip_suffix(&*whole(words)).map_or("", str::trim_end);
        if !GOALS.contains(&goal) {
            let range = line.start..line.start + goal.len();
            let why = "the goal is put in words of a pattern of one's own";
            found.push(Passage { range, heed: Heed::KeyPhrase, why });
        }
    }
    if let (Some(first), Some(last)) = (layout.work.get(2), layout.work.last()) {
        let why = "a closing: that the grid is handed in is told with the work";
        found.push(Passage { range: first.start..last.end, heed: Heed::Nothing, why });
    }
    found
}

/// Where things stand in an instruction.
struct Layout {
    /// Everything before the first heading.
    opening: Range<usize>,
    /// The lines from the first heading to that of the work.
    body: Vec<Range<usize>>,
    /// The lines below it: goal, budgets, closing.
    work: Vec<Range<usize>>,
}

impl Layout {
    fn of(text: &str) -> Layout {
        let mut layout = Layout { opening: 0..0, body: Vec::new(), work: Vec::new() };
        let (mut at, mut in_work) = (0, false);
        for line in text.split_inclusive('\n') {
            let range = at..at + line.trim_end().len();
            at += line.len();
            if line.trim().is_empty() {
                continue;
            }
            if in_work {
                layout.work.push(range);
            } else if line.starts_with("## ") || !layout.body.is_empty() {
                in_work = line.trim() == "## The work";
                layout.body.push(range);
            } else {
                layout.opening.end = range.end;
            }
        }
        layout
    }
}
