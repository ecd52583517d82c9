//! The clauses that can be put in two ways, as the instruction puts them.

use super::super::shop::{Bounds, Clauses, Limits};
use super::figures::number_between;

/// What of two phrases is said; a text that has both or neither leaves it open.
fn which(text: &str, usual: &str, other: &str) -> Result<bool, String> {
    match (text.contains(usual), text.contains(other)) {
        (true, false) => Ok(false),
        (false, true) => Ok(true),
        (true, true) => Err(format!("it is said that something {usual} and that it {other}")),
        (false, false) => Err(format!("nothing says whether something {usual} or {other}")),
    }
}

/// Reads the clauses. `neutral` says that the tests of intake leave their bounds open, `limit` that limits are named without a word
/// on tax.
pub(super) fn read(text: &str, neutral: bool, limit: bool) -> Result<Clauses, String> {
    let next_day = which(text, "can be used that same day", "can be used from the day after on")?;
    let above_step = which(text, "holds for all units", "holds only for the units from its minimum on")?;
    let bound = match neutral {
        false if text.contains("exactly on the bound fails") => {
            return Err("the tests include their bounds, and a value on the bound is said to fail".to_owned());
        }
        false => Bounds::Inclusive,
        true if which(text, "exactly on the bound passes", "exactly on the bound fails")? => Bounds::Fails,
        true => Bounds::Passes,
    };
    let taxes: Vec<i64> = text.match_indices("plus ").filter_map(|(at, _)| tax(&text[at..])).collect();
    let limits = match (limit, &taxes[..]) {
        (false, []) => Limits::Named,
        (false, _) => return Err("limits are before tax, and a tax is told".to_owned()),
        (true, []) => Limits::Net,
        (true, [tax, others @ ..]) if others.iter().all(|other| other == tax) => Limits::Gross(*tax),
        (true, taxes) => return Err(format!("several taxes are told: {taxes:?}")),
    };
    Ok(Clauses { next_day, above_step, limits, bound })
}

/// The tax that a text begins with: `plus 20 percent tax`.
fn tax(text: &str) -> Option<i64> {
    let (said, _) = text.split_once(" tax")?;
    number_between(&format!("{said} tax"), "plus ", " percent tax")
}
