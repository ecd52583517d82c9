//! Notes on suppliers and centres, a line for each thing they say. A line that is not understood could be the one that matters.

use super::phrase::{count, dates, gaps};
use benchwright_base::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The notes on a supplier.
#[derive(Clone, Debug, Default)]
pub(super) struct SupplierNotes {
    /// The most units of an item, if there is a maximum.
    pub(super) most: BTreeMap<String, Option<i64>>,
    pub(super) withdrawn: bool,
}

/// The notes on a centre.
#[derive(Clone, Debug, Default)]
pub(super) struct CentreNotes {
    /// Minutes per unit of each item.
    pub(super) approved: BTreeMap<String, i64>,
    pub(super) total: Option<i64>,
    pub(super) daily: Option<i64>,
    /// Name, centres and minutes.
    pub(super) groups: Vec<(String, BTreeSet<String>, i64)>,
    pub(super) down: Option<(Date, Date)>,
    pub(super) failed: bool,
}

fn lines(note: &str) -> impl Iterator<Item = &str> {
    note.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn number(phrase: &str, line: &str) -> Option<i64> {
    count(gaps(phrase, line)?[0])
}

pub(super) fn supplier(note: &str) -> Result<SupplierNotes, String> {
    let mut notes = SupplierNotes::default();
    for line in lines(note) {
        let item = gaps("Item {}: ", line).map(|words| words[0].to_owned());
        match (item, number("at most {} units in all.", line)) {
            (Some(item), most) if most.is_some() || line.ends_with(": no maximum.") => {
                notes.most.insert(item, most);
            }
            _ if line.starts_with("Withdrawn") => notes.withdrawn = true,
            _ => return Err(format!("a note is not understood: {line}")),
        }
    }
    Ok(notes)
}

pub(super) fn centre(note: &str) -> Result<CentreNotes, String> {
    let mut notes = CentreNotes::default();
    for line in lines(note) {
        let odd = || format!("a note is not understood: {line}");
        if let Some(words) = gaps("Approved for {}: {} minutes per unit.", line) {
            notes.approved.insert(words[0].to_owned(), count(words[1]).ok_or_else(odd)?);
        } else if line.starts_with("Total:") {
            notes.total = Some(number("at most {} minutes in the whole plan", line).ok_or_else(odd)?);
        } else if line.starts_with("Per start day:") {
            notes.daily = Some(number("at most {} minutes", line).ok_or_else(odd)?);
        } else if let Some(rest) = line.strip_prefix("Group ") {
            let (name, rest) = rest.split_once(" (").ok_or_else(odd)?;
            let (centres, rest) = rest.split_once(')').ok_or_else(odd)?;
            let minutes = number("at most {} minutes together in the whole plan", rest).ok_or_else(odd)?;
            notes.groups.push((name.to_owned(), centres.split(", ").map(str::to_owned).collect(), minutes));
        } else if line.starts_with("Down from ") {
            let [from, to] = dates(line)[..] else { return Err(odd()) };
            notes.down = Some((from, to));
        } else if line.starts_with("Out of service") {
            notes.failed = true;
        } else {
            return Err(odd());
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_or_refused() -> Result<(), String> {
        let notes = supplier("Item A-1: at most 30 units in all.\nItem A-2: no maximum.\n")?;
        assert_eq!(notes.most, BTreeMap::from([("A-1".to_owned(), Some(30)), ("A-2".to_owned(), None)]));
        assert!(supplier("Item A-1: some.").is_err());
        let notes = centre(
            "Approved for A-1: 48 minutes per unit.\nTotal: at most 900 minutes in the whole plan.\n\
             Group Paint (W-1, W-2): at most 700 minutes together in the whole plan.\nPer start day: at most 90 minutes.\n\
             Down from 2032-02-12 to 2032-02-14: no build may start on these days.",
        )?;
        assert_eq!((notes.approved["A-1"], notes.total, notes.daily), (48, Some(900), Some(90)));
        assert_eq!((notes.groups[0].1.len(), notes.groups[0].2, notes.down.is_some()), (2, 700, true));
        assert!(centre("Please knock.").is_err());
        Ok(())
    }
}
