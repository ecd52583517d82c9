//! The notes on suppliers and work centres, line by line. A line that is not understood is an error, because it might be the
//! one that matters.

use super::figures::{dates, number_between, only};
use benchwright_base::Date;
use std::collections::BTreeMap;

/// What the notes on a supplier say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SupplierNotes {
    /// The most units of each item; nothing where there is no maximum.
    pub(super) most: BTreeMap<String, Option<i64>>,
    /// Whether it has withdrawn.
    pub(super) withdrawn: bool,
}

/// What the notes on a work centre say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CentreNotes {
    /// The items it is approved for, and the minutes per unit.
    pub(super) approved: BTreeMap<String, i64>,
    /// Minutes in the whole plan.
    pub(super) minutes: Option<i64>,
    /// Minutes of the builds that start on one day.
    pub(super) daily: Option<i64>,
    /// The groups it belongs to: name, centres and minutes.
    pub(super) groups: Vec<(String, Vec<String>, i64)>,
    /// The first and the last day on which it is down.
    pub(super) down: Option<(Date, Date)>,
    /// Whether it has failed.
    pub(super) failed: bool,
}

fn lines(note: &str) -> impl Iterator<Item = &str> {
    note.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Keeps what a line says, unless another line said it before.
fn once<T>(slot: &mut Option<T>, value: T, line: &str) -> Result<(), String> {
    if slot.replace(value).is_some() {
        return Err(format!("a note says this twice: {line}"));
    }
    Ok(())
}

fn once_per<T>(table: &mut BTreeMap<String, T>, key: &str, value: T, line: &str) -> Result<(), String> {
    if table.insert(key.to_owned(), value).is_some() {
        return Err(format!("a note says this twice: {line}"));
    }
    Ok(())
}

fn unknown(line: &str) -> String {
    format!("a note has a line that is not understood: {line}")
}

/// Reads the notes on a supplier.
pub(super) fn supplier(note: &str) -> Result<SupplierNotes, String> {
    let mut notes = SupplierNotes::default();
    for line in lines(note) {
        if let Some((item, rest)) = line.strip_prefix("Item ").and_then(|rest| rest.split_once(':')) {
            let most = match rest.trim() {
                "no maximum." => None,
                rest => Some(number_between(rest, "at most ", " units").ok_or_else(|| unknown(line))?),
            };
            once_per(&mut notes.most, item, most, line)?;
        } else if line.starts_with("Withdrawn") {
            notes.withdrawn = true;
        } else {
            return Err(unknown(line));
        }
    }
    Ok(notes)
}

/// Reads the notes on a work centre.
pub(super) fn centre(note: &str) -> Result<CentreNotes, String> {
    let mut notes = CentreNotes::default();
    for line in lines(note) {
        if let Some((item, rest)) = line.strip_prefix("Approved for ").and_then(|rest| rest.split_once(':')) {
            let minutes = number_between(rest, " ", " minutes per unit").ok_or_else(|| unknown(line))?;
            once_per(&mut notes.approved, item, minutes, line)?;
        } else if let Some(rest) = line.strip_prefix("Total:") {
            let minutes = number_between(rest, "at most ", " minutes").ok_or_else(|| unknown(line))?;
            once(&mut notes.minutes, minutes, line)?;
        } else if let Some(rest) = line.strip_prefix("Per start day:") {
            let minutes = number_between(rest, "at most ", " minutes").ok_or_else(|| unknown(line))?;
            once(&mut notes.daily, minutes, line)?;
        } else if let Some(rest) = line.strip_prefix("Group ") {
            notes.groups.push(group(rest).ok_or_else(|| unknown(line))?);
        } else if line.starts_with("Down from ") {
            once(&mut notes.down, span(line)?, line)?;
        } else if line.starts_with("Out of service") {
            notes.failed = true;
        } else {
            return Err(unknown(line));
        }
    }
    Ok(notes)
}

/// `Finishing (SOL-W29, SOL-W77): at most 9000 minutes together in the whole plan.`
fn group(text: &str) -> Option<(String, Vec<String>, i64)> {
    let (name, rest) = text.split_once(" (")?;
    let (centres, rest) = rest.split_once("):")?;
    let minutes = number_between(rest, "at most ", " minutes together")?;
    Some((name.to_owned(), centres.split(", ").map(str::to_owned).collect(), minutes))
}

/// The two days of `from 2032-02-12 to 2032-02-14`.
pub(super) fn span(text: &str) -> Result<(Date, Date), String> {
    let pairs = match dates(text)[..] {
        [from, to] if from <= to => vec![(from, to)],
        _ => Vec::new(),
    };
    only(pairs, "first and last day", text)
}

/// Whether a line approves a centre for an item; used to find centres, before their notes are read in full.
pub(super) fn approves(note: &str, item: &str) -> bool {
    lines(note).any(|line| {
        let rest = line.strip_prefix("Approved for ").and_then(|rest| rest.split_once(':'));
        rest.is_some_and(|(known, _)| known == item)
    })
}
