//! Days, instants and times of day as whole numbers in UTC, in the proleptic Gregorian calendar, years 1 to 9999.
//!
//! Worlds have a clock of their own that starts where their domain says, so nothing here reads the machine's clock or knows
//! of time zones and leap seconds. Text has one form, ISO 8601 as in `2026-03-01T09:30:00Z`.
//!
//! ```
//! use benchwright_base::{Date, DateTime};
//!
//! let opened = DateTime::parse("2026-03-01T23:30:00Z").unwrap();
//! let due = opened.add_seconds(3600).unwrap();
//! assert_eq!(due.to_string(), "2026-03-02T00:30:00Z");
//! assert_eq!(due.date().weekday(), 0, "a Monday");
//! assert_eq!(Date::parse("2026-02-29"), None, "there is no such day");
//! ```

use std::fmt;

/// The months of the year, as they are written.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date(pub i32);

/// An instant in seconds from 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTime(pub i64);

/// A time of day in seconds from midnight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Time(pub i32);

/// Seconds in a day.
pub const DAY: i64 = 86_400;

impl Date {
    /// The first and the last day that can be written, 0001-01-01 and 9999-12-31.
    pub const RANGE: (Date, Date) = (Date(-719_162), Date(2_932_896));

    /// The day of a civil date; `None` if there is no such day or it lies outside the years 1 to 9999.
    pub fn from_civil(year: i32, month: u32, day: u32) -> Option<Date> {
        if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
            return None;
        }
        // Howard Hinnant's `days_from_civil`. The year is made to begin in March, so that the leap day comes last and the
        // lengths of the months follow one straight line: 153 days in every five months. An era is 400 years, after
        // which the calendar repeats: 146,097 days. 719,468 is the number of days from 0000-03-01 to 1970-01-01.
        let y = i64::from(if month <= 2 { year - 1 } else { year });
        let era = y.div_euclid(400);
        let year_of_era = y - era * 400;
        let shifted = (i64::from(month) + 9) % 12;
        let day_of_year = (153 * shifted + 2) / 5 + i64::from(day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Some(Date((era * 146_097 + day_of_era - 719_468) as i32))
    }

    /// Year, month (1 to 12) and day of the month.
    pub fn civil(self) -> (i32, u32, u32) {
        // The inverse of `from_civil`, in the same March-based years.
        let z = i64::from(self.0) + 719_468;
        let era = z.div_euclid(146_097);
        let day_of_era = z - era * 146_097;
        // Taking out the leap days so far (one for every 1,460 other days, none in three of four centuries) leaves years of
        // 365 days.
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u32;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 } as u32;
        let year = (year_of_era + era * 400 + i64::from(month <= 2)) as i32;
        (year, month, day)
    }

    /// Reads `2026-03-01`.
    pub fn parse(text: &str) -> Option<Date> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        Date::from_civil(digits(&bytes[0..4])? as i32, digits(&bytes[5..7])?, digits(&bytes[8..10])?)
    }

    /// The first instant of the day, 00:00:00 UTC.
    pub fn midnight(self) -> DateTime {
        DateTime(i64::from(self.0) * DAY)
    }

    /// Day of the week, 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> u8 {
        // Day 0, 1970-01-01, was a Thursday.
        (i64::from(self.0) + 3).rem_euclid(7) as u8
    }

    /// The first day of its month.
    pub fn first_of_month(self) -> Date {
        let (_, _, day) = self.civil();
        Date(self.0 - day as i32 + 1)
    }

    /// So many months later; the day is cut to the length of the month. `None` outside the years 1 to 9999.
    pub fn add_months(self, months: i64) -> Option<Date> {
        let (year, month, day) = self.civil();
        let total = (i64::from(year) * 12 + i64::from(month) - 1).checked_add(months)?;
        let year = i32::try_from(total.div_euclid(12)).ok()?;
        let month = total.rem_euclid(12) as u32 + 1;
        if !(1..=9999).contains(&year) {
            return None;
        }
        Date::from_civil(year, month, day.min(days_in_month(year, month)))
    }

    /// So many days later, within the years 1 to 9999.
    pub fn add_days(self, days: i64) -> Option<Date> {
        let day = Date(i32::try_from(i64::from(self.0).checked_add(days)?).ok()?);
        (Date::RANGE.0..=Date::RANGE.1).contains(&day).then_some(day)
    }
}

impl DateTime {
    /// Reads `2026-03-01T09:30:00Z`; the `Z` and the seconds may be left out, a plain date means its midnight.
    pub fn parse(text: &str) -> Option<DateTime> {
        let Some((date, time)) = text.split_once('T') else { return Some(Date::parse(text)?.midnight()) };
        let time = Time::parse(time.strip_suffix('Z').unwrap_or(time))?;
        Some(DateTime(Date::parse(date)?.midnight().0 + i64::from(time.0)))
    }

    /// The day it falls on in UTC.
    pub fn date(self) -> Date {
        Date(self.0.div_euclid(DAY) as i32)
    }

    /// The time of day in UTC, without the day.
    pub fn time(self) -> Time {
        Time(self.0.rem_euclid(DAY) as i32)
    }

    /// So many seconds later, within the years 1 to 9999.
    pub fn add_seconds(self, seconds: i64) -> Option<DateTime> {
        let instant = DateTime(self.0.checked_add(seconds)?);
        let (first, last) = (Date::RANGE.0.midnight(), DateTime(Date::RANGE.1.midnight().0 + DAY - 1));
        (first..=last).contains(&instant).then_some(instant)
    }

    /// So many months later at the same time of day; the day is cut to the length of the month. `None` outside the years 1
    /// to 9999.
    pub fn add_months(self, months: i64) -> Option<DateTime> {
        Some(DateTime(self.date().add_months(months)?.midnight().0 + i64::from(self.time().0)))
    }
}

impl Time {
    /// Reads `09:30` or `09:30:15`.
    pub fn parse(text: &str) -> Option<Time> {
        let bytes = text.as_bytes();
        let seconds = match bytes.len() {
            5 => 0,
            8 if bytes[5] == b':' => digits(&bytes[6..8])?,
            _ => return None,
        };
        let (hour, minute) = (digits(&bytes[0..2])?, digits(&bytes[3..5])?);
        (bytes[2] == b':' && hour < 24 && minute < 60 && seconds < 60)
            .then_some(Time((hour * 3600 + minute * 60 + seconds) as i32))
    }
}

/// The length of a month, in February with the Gregorian rule of leap years.
fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// A number of nothing but digits. Unlike `str::parse` it takes no sign.
fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
}

// Dates are in nearly every answer of a tool, so they are filled into a template of bytes rather than formatted part by part.

/// Writes a number below 100 as two digits at a place of a template.
fn two(text: &mut [u8], at: usize, n: u32) {
    text[at] = b'0' + (n / 10 % 10) as u8;
    text[at + 1] = b'0' + (n % 10) as u8;
}

impl Date {
    /// Appends `2026-03-01`.
    pub fn write(self, out: &mut Vec<u8>) {
        let mut text = *b"0000-00-00";
        self.fill(&mut text);
        out.extend_from_slice(&text);
    }

    /// Puts the digits into a template `0000-00-00`.
    fn fill(self, text: &mut [u8]) {
        let (year, month, day) = self.civil();
        two(text, 0, year as u32 / 100);
        two(text, 2, year as u32 % 100);
        two(text, 5, month);
        two(text, 8, day);
    }
}

impl Time {
    /// Appends `09:30:00`.
    pub fn write(self, out: &mut Vec<u8>) {
        let mut text = *b"00:00:00";
        self.fill(&mut text);
        out.extend_from_slice(&text);
    }

    /// Puts the digits into a template `00:00:00`.
    fn fill(self, text: &mut [u8]) {
        let seconds = self.0 as u32;
        two(text, 0, seconds / 3600);
        two(text, 3, seconds / 60 % 60);
        two(text, 6, seconds % 60);
    }
}

impl DateTime {
    /// Appends `2026-03-01T09:30:00Z`.
    pub fn write(self, out: &mut Vec<u8>) {
        let mut text = *b"0000-00-00T00:00:00Z";
        self.date().fill(&mut text[..10]);
        self.time().fill(&mut text[11..19]);
        out.extend_from_slice(&text);
    }
}

macro_rules! display {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = Vec::with_capacity(20);
                self.write(&mut out);
                f.write_str(&String::from_utf8_lossy(&out))
            }
        }
    )*};
}
display!(Date, Time, DateTime);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_ten_thousand_years_survives_the_round_trip() {
        let mut expected = Date::RANGE.0;
        for year in 1..=9999 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    let date = Date::from_civil(year, month, day).unwrap();
                    assert_eq!(date, expected);
                    assert_eq!(date.civil(), (year, month, day));
                    expected = Date(expected.0 + 1);
                }
            }
        }
        assert_eq!(expected.0 - 1, Date::RANGE.1.0);
    }

    #[test]
    fn known_days_have_their_weekday_and_text() {
        let day = Date::parse("2026-11-15").unwrap();
        assert_eq!(day.weekday(), 6);
        assert_eq!(day.to_string(), "2026-11-15");
        assert_eq!(Date::parse("1970-01-01").unwrap(), Date(0));
        let instant = DateTime::parse("2026-03-01T09:30:05Z").unwrap();
        assert_eq!(instant.to_string(), "2026-03-01T09:30:05Z");
        assert_eq!(DateTime::parse("2026-03-01").unwrap().to_string(), "2026-03-01T00:00:00Z");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["2026-02-29", "2026-13-01", "0000-01-01", "26-01-01", "2026-1-01", "2026-01-1x", "", "２026-01-01"]
        {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        for text in ["2026-01-01T24:00:00Z", "2026-01-01T10", "2026-01-01T10:00:00+01:00", "2026-01-01 10:00:00"] {
            assert_eq!(DateTime::parse(text), None, "{text}");
        }
    }

    #[test]
    fn months_are_added_to_the_end_of_the_month_at_most() {
        let day = Date::parse("2026-01-31").unwrap();
        assert_eq!(day.add_months(1).unwrap().to_string(), "2026-02-28");
        assert_eq!(day.add_months(-11).unwrap().to_string(), "2025-02-28");
        assert_eq!(day.add_months(12 * 9000), None);
        assert_eq!(Date::RANGE.1.add_days(1), None);
    }
}
