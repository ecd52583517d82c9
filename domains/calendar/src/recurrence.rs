//! Recurrence in the words of iCalendar: `RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=8`. Occurrences keep the wall clock of their zone.

use super::zones::Zone;
use benchwright_base::{Date, DateTime, date::DAY};

/// The most steps that one expansion takes.
const MOST_STEPS: i64 = 60_000;

#[derive(Clone, Copy, PartialEq)]
enum Every {
    Day,
    Week,
    Month,
    Year,
}

/// A recurrence.
pub(crate) struct Recurrence {
    every: Every,
    interval: i64,
    count: Option<i64>,
    /// The last instant at which an occurrence may begin.
    until: Option<Until>,
    /// Weekdays, 0 for Monday, each with which of the month it is; 0 is every one.
    days: Vec<(i32, u8)>,
    /// Days of the month; below zero from its end.
    month_days: Vec<i32>,
}

enum Until {
    Instant(DateTime),
    /// The whole day, by the wall clock.
    Day(Date),
}

impl Recurrence {
    /// Reads a recurrence; nothing if it cannot be read.
    pub(crate) fn read(text: &str) -> Option<Recurrence> {
        let text = text.trim();
        let text = text.strip_prefix("RRULE:").unwrap_or(text);
        let mut every = None;
        let mut found = Recurrence {
            every: Every::Day,
            interval: 1,
            count: None,
            until: None,
            days: Vec::new(),
            month_days: Vec::new(),
        };
        for part in text.split(';') {
            let (name, value) = part.split_once('=')?;
            match name {
                "FREQ" => {
                    every = Some(match value {
                        "DAILY" => Every::Day,
                        "WEEKLY" => Every::Week,
                        "MONTHLY" => Every::Month,
                        "YEARLY" => Every::Year,
                        _ => return None,
                    });
                }
                "INTERVAL" => found.interval = number(value, 1, 1000)?,
                "COUNT" => found.count = Some(number(value, 1, 10_000)?),
                "UNTIL" => found.until = Some(until(value)?),
                "BYDAY" => found.days = value.split(',').map(weekday).collect::<Option<_>>()?,
                "BYMONTHDAY" => {
                    let day = |text: &str| number(text, -31, 31).filter(|day| *day != 0).map(|day| day as i32);
                    found.month_days = value.split(',').map(day).collect::<Option<_>>()?;
                }
                "WKST" if value == "MO" => {}
                _ => return None,
            }
        }
        found.every = every?;
        let fits = match found.every {
            Every::Day => found.days.iter().all(|(nth, _)| *nth == 0),
            Every::Week => found.days.iter().all(|(nth, _)| *nth == 0) && found.month_days.is_empty(),
            Every::Month => found.days.is_empty() || found.month_days.is_empty(),
            Every::Year => found.days.is_empty() && found.month_days.is_empty(),
        };
        (fits && !(found.count.is_some() && found.until.is_some())).then_some(found)
    }

    /// The instants at which it begins, from its first on, that lie before `to`; those long before `from` may be missing.
    pub(crate) fn starts(&self, first: DateTime, zone: Zone, from: DateTime, to: DateTime) -> Vec<DateTime> {
        let wall = zone.wall(first);
        let (day, time) = (wall.date(), wall.0.rem_euclid(DAY));
        let mut starts = Vec::new();
        let mut left = self.count.unwrap_or(i64::MAX);
        let step = self.first_step(day, from);
        for n in step..step + MOST_STEPS {
            let mut days = self.days_of_step(day, n * self.interval);
            days.retain(|found| *found >= day);
            days.sort_unstable();
            days.dedup();
            for found in days {
                let start = zone.instant(DateTime(found.midnight().0 + time));
                let over = match &self.until {
                    Some(Until::Instant(until)) => start > *until,
                    Some(Until::Day(until)) => found > *until,
                    None => false,
                };
                if over || left == 0 || start >= to {
                    return starts;
                }
                left -= 1;
                starts.push(start);
            }
            // A month without the day has no occurrence, but time goes on.
            if self.beginning_of_step(day, n * self.interval).is_none_or(|begins| begins.midnight() > to) {
                break;
            }
        }
        starts
    }

    /// Without a count nothing has to be counted, so steps long before the window are passed over.
    fn first_step(&self, day: Date, from: DateTime) -> i64 {
        let days = i64::from(from.date().0) - i64::from(day.0);
        let length = match self.every {
            Every::Day => 1,
            Every::Week => 7,
            Every::Month => 31,
            Every::Year => 366,
        };
        if self.count.is_some() { 0 } else { (days / (length * self.interval) - 40).max(0) }
    }

    fn beginning_of_step(&self, day: Date, step: i64) -> Option<Date> {
        match self.every {
            Every::Day => day.add_days(step),
            Every::Week => day.add_days(7 * step - i64::from(day.weekday())),
            Every::Month => day.first_of_month().add_months(step),
            Every::Year => day.first_of_month().add_months(12 * step),
        }
    }

    fn days_of_step(&self, day: Date, step: i64) -> Vec<Date> {
        let Some(begins) = self.beginning_of_step(day, step) else { return Vec::new() };
        match self.every {
            Every::Day => {
                let (_, _, of_month) = begins.civil();
                let length = month_length(begins);
                let fits = (self.days.is_empty() || self.days.iter().any(|(_, weekday)| *weekday == begins.weekday()))
                    && (self.month_days.is_empty()
                        || self.month_days.iter().any(|wanted| day_of_month(*wanted, length) == Some(of_month as i32)));
                if fits { vec![begins] } else { Vec::new() }
            }
            Every::Week if self.days.is_empty() => vec![Date(begins.0 + i32::from(day.weekday()))],
            Every::Week => self.days.iter().map(|(_, weekday)| Date(begins.0 + i32::from(*weekday))).collect(),
            Every::Month => {
                let length = month_length(begins);
                let mut days = Vec::new();
                for (nth, weekday) in &self.days {
                    let first = (i32::from(*weekday) - i32::from(begins.weekday())).rem_euclid(7);
                    let all: Vec<i32> = (0..5).map(|week| first + 7 * week).filter(|at| *at < length).collect();
                    match nth {
                        0 => days.extend(all),
                        1.. => days.extend(all.get(*nth as usize - 1)),
                        _ => days.extend((all.len() as i32 + nth >= 0).then(|| all[(all.len() as i32 + nth) as usize])),
                    }
                }
                let own = [day.civil().2 as i32];
                let wanted = match (self.days.is_empty(), self.month_days.is_empty()) {
                    (true, true) => &own[..],
                    _ => &self.month_days[..],
                };
                days.extend(wanted.iter().filter_map(|wanted| Some(day_of_month(*wanted, length)? - 1)));
                days.into_iter().map(|at| Date(begins.0 + at)).collect()
            }
            Every::Year => {
                let of_month = day.civil().2 as i32;
                if of_month <= month_length(begins) { vec![Date(begins.0 + of_month - 1)] } else { Vec::new() }
            }
        }
    }
}

/// A day of a month of so many days, below zero from its end.
fn day_of_month(wanted: i32, length: i32) -> Option<i32> {
    let day = if wanted < 0 { length + 1 + wanted } else { wanted };
    (1..=length).contains(&day).then_some(day)
}

fn month_length(day: Date) -> i32 {
    let first = day.first_of_month();
    first.add_months(1).map_or(31, |next| next.0 - first.0)
}

fn number(text: &str, low: i64, high: i64) -> Option<i64> {
    text.parse().ok().filter(|number| (low..=high).contains(number))
}

/// `MO`, `2TU` or `-1FR`.
fn weekday(text: &str) -> Option<(i32, u8)> {
    let at = text.len().checked_sub(2).filter(|at| text.is_char_boundary(*at))?;
    let (nth, name) = text.split_at(at);
    let weekday = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].iter().position(|known| *known == name)?;
    let nth = if nth.is_empty() { 0 } else { number(nth, -5, 5).filter(|nth| *nth != 0)? as i32 };
    Some((nth, weekday as u8))
}

/// `20260401` or `20260401T090000Z`.
fn until(text: &str) -> Option<Until> {
    let (day, time) = text.split_once('T').map_or((text, None), |(day, time)| (day, Some(time)));
    if day.len() != 8 || !day.is_ascii() {
        return None;
    }
    let day = Date::parse(&format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]))?;
    let Some(time) = time else { return Some(Until::Day(day)) };
    let time = time.strip_suffix('Z').filter(|time| time.len() == 6 && time.is_ascii())?;
    let part = |from: usize, high: i64| number(&time[from..from + 2], 0, high);
    Some(Until::Instant(DateTime(day.midnight().0 + part(0, 23)? * 3600 + part(2, 59)? * 60 + part(4, 59)?)))
}
