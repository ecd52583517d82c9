//! The wall clocks of the zones that calendars know, by the rules in force since 2008.

use benchwright_base::{Date, DateTime};

const HOUR: i64 = 3600;

/// A zone: how far its wall clock is ahead of UTC, and when summer time holds.
#[derive(Clone, Copy)]
pub(crate) struct Zone {
    standard: i64,
    summer: Summer,
}

#[derive(Clone, Copy, PartialEq)]
enum Summer {
    Never,
    Europe,
    America,
    Sydney,
}

/// In the order of the words of the enumeration `Zone`.
const ZONES: [(i64, Summer); 8] = [
    (0, Summer::Never),
    (0, Summer::Europe),
    (HOUR, Summer::Europe),
    (-5 * HOUR, Summer::America),
    (-8 * HOUR, Summer::America),
    (11 * HOUR / 2, Summer::Never),
    (9 * HOUR, Summer::Never),
    (10 * HOUR, Summer::Sydney),
];

impl Zone {
    /// The zone of a word of the enumeration, by its place.
    pub(crate) fn of(place: u16) -> Zone {
        let (standard, summer) = ZONES.get(usize::from(place)).copied().unwrap_or((0, Summer::Never));
        Zone { standard, summer }
    }

    /// What the wall clock shows at an instant.
    pub(crate) fn wall(self, at: DateTime) -> DateTime {
        DateTime(at.0 + self.offset(at))
    }

    /// The instant at which the wall clock shows this: the first of two; what is skipped is an hour later.
    pub(crate) fn instant(self, wall: DateTime) -> DateTime {
        let early = DateTime(wall.0 - self.standard - HOUR);
        if self.summer != Summer::Never && self.offset(early) == self.standard + HOUR {
            return early;
        }
        DateTime(wall.0 - self.standard)
    }

    fn offset(self, at: DateTime) -> i64 {
        if self.is_summer(at).unwrap_or(false) { self.standard + HOUR } else { self.standard }
    }

    fn is_summer(self, at: DateTime) -> Option<bool> {
        let year = DateTime(at.0 + self.standard).date().civil().0;
        // Turns in UTC, from the wall clock of standard time.
        let turn = |day: Date, wall: i64| DateTime(day.midnight().0 + wall - self.standard);
        Some(match self.summer {
            Summer::Never => false,
            Summer::Europe => {
                let begins = DateTime(last_sunday(year, 3)?.midnight().0 + HOUR);
                let ends = DateTime(last_sunday(year, 10)?.midnight().0 + HOUR);
                begins <= at && at < ends
            }
            Summer::America => {
                let begins = turn(sunday(year, 3, 2)?, 2 * HOUR);
                let ends = turn(sunday(year, 11, 1)?, HOUR);
                begins <= at && at < ends
            }
            Summer::Sydney => {
                let ends = turn(sunday(year, 4, 1)?, 2 * HOUR);
                let begins = turn(sunday(year, 10, 1)?, 2 * HOUR);
                at < ends || begins <= at
            }
        })
    }
}

/// The n-th Sunday of a month.
fn sunday(year: i32, month: u32, nth: i32) -> Option<Date> {
    let first = Date::from_civil(year, month, 1)?;
    Some(Date(first.0 + (6 - i32::from(first.weekday())) + 7 * (nth - 1)))
}

fn last_sunday(year: i32, month: u32) -> Option<Date> {
    let last = Date::from_civil(year, month, 31)?;
    Some(Date(last.0 - (i32::from(last.weekday()) + 1) % 7))
}
