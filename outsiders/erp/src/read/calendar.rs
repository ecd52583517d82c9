//! The days on which the company is closed, from the two system parameters that the text names.

use super::{phrase::dates, records::one};
use crate::job::Told;
use benchwright_base::Date;
use benchwright_world::ToolAccess;
use serde_json::json;
use std::collections::BTreeSet;

/// How far ahead the calendar is looked at, in days.
const AHEAD: i64 = 400;
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The days from today on that are closed.
pub(super) fn closed(access: &mut dyn ToolAccess, told: &Told) -> Result<BTreeSet<i64>, String> {
    if !told.closes {
        return Ok(BTreeSet::new());
    }
    let weekdays = parameter(access, "planning.closed_weekdays")?;
    let weekdays = weekdays.split(", ").filter(|word| !word.is_empty());
    let weekdays = weekdays.map(|word| {
        let at = WEEKDAYS.iter().position(|known| *known == word);
        at.ok_or_else(|| format!("{word} is no day of the week"))
    });
    let weekdays = weekdays.collect::<Result<BTreeSet<usize>, String>>()?;
    let holidays: BTreeSet<Date> = dates(&parameter(access, "planning.closed_dates")?).into_iter().collect();
    let is_closed = |day: &i64| {
        let date = told.today.add_days(*day);
        date.is_some_and(|date| weekdays.contains(&usize::from(date.weekday())) || holidays.contains(&date))
    };
    Ok((0..AHEAD).filter(is_closed).collect())
}

fn parameter(access: &mut dyn ToolAccess, key: &str) -> Result<String, String> {
    Ok(one(access, "ir_config_parameter", &json!([["key", "=", key]]), &["value"])?.text("value")?.to_owned())
}
