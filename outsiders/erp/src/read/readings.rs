//! Clauses that an instruction may put one way or another. Each has its own words for either way; a text with both says nothing.

use super::phrase::{count, gaps};
use crate::job::Readings;

/// How a text puts them. What it does not mention has no bearing on the job, or else `needed` misses it.
pub(super) fn read(text: &str) -> Result<Readings, String> {
    let next_day = either(text, USED_AT_ONCE, USED_NEXT_DAY)?;
    let above_step = either(text, PRICE_OF_ALL, PRICE_ABOVE)?;
    let fails = either(text, BOUND_PASSES, BOUND_FAILS)?;
    let taxed = either(text, BEFORE_TAX, &["percent tax"])?;
    let tax = match gaps("plus {} percent tax", text).filter(|_| taxed) {
        None if taxed => return Err("what tax do limits include?".to_owned()),
        None => 0,
        Some(words) => count(words[0]).ok_or_else(|| format!("{} percent is no tax", words[0]))?,
    };
    Ok(Readings { wait: i64::from(next_day), above_step, tax, bound_passes: !fails })
}

/// What comes in can be used on the same day, or on the next.
pub(super) const USED_AT_ONCE: &[&str] = &["can be used that same day"];
pub(super) const USED_NEXT_DAY: &[&str] = &["can be used from the day after on", "can be used from the next day on"];
/// A price step is for all units, or for those from its minimum on.
pub(super) const PRICE_OF_ALL: &[&str] = &["holds for all units"];
pub(super) const PRICE_ABOVE: &[&str] = &["holds only for the units from its minimum on: units below it are charged"];
/// A value on a bound passes, or it fails.
pub(super) const BOUND_PASSES: &[&str] = &["exactly on the bound passes"];
pub(super) const BOUND_FAILS: &[&str] = &["exactly on the bound fails"];
/// A limit is for an order without tax; the other way names the tax.
const BEFORE_TAX: &[&str] = &["value of an order before tax", "value before tax must stay", "pre-tax limit"];

/// Whether a text puts a clause the second way.
fn either(text: &str, one: &[&str], other: &[&str]) -> Result<bool, String> {
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    match (says(one), says(other)) {
        (true, true) => {
            Err(format!("one sentence says `{}`, and another `{}`", one.join("` or `"), other.join("` or `")))
        }
        (_, told) => Ok(told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_way_is_read_and_both_are_none() -> Result<(), String> {
        let usual =
            read("It can be used that same day. A value exactly on the bound passes. The line holds for all units.")?;
        assert_eq!(usual, Readings { wait: 0, above_step: false, tax: 0, bound_passes: true });
        let other = read("It can be used from the day after on. The value of an order plus 8 percent tax counts.")?;
        assert_eq!((other.wait, other.tax), (1, 8));
        assert!(read("exactly on the bound passes; exactly on the bound fails").is_err());
        assert!(read("the pre-tax limit; the value of an order plus 8 percent tax").is_err());
        Ok(())
    }
}
