//! Short English lines such as `Lunch with Ana tomorrow at 12:30`: what is meant, on which day, at what time.

use benchwright_base::Date;

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What a line says.
pub(crate) struct Phrase {
    /// What is left when day and time are taken out.
    pub(crate) title: String,
    /// The day, if it names one.
    pub(crate) day: Option<Date>,
    /// Seconds after midnight, if it names a time.
    pub(crate) time: Option<i64>,
}

/// Reads a line as said on a day.
pub(crate) fn read(line: &str, today: Date) -> Phrase {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain: Vec<String> =
        words.iter().map(|word| word.trim_end_matches([',', '.', '!', '?']).to_ascii_lowercase()).collect();
    let mut used = vec![false; words.len()];
    let (mut day, mut time) = (None, None);
    let mut at = 0;
    while at < plain.len() {
        let next = plain.get(at + 1).map(String::as_str);
        let found = match (day, time) {
            (None, _) if day_at(&plain[at], next, today).is_some() => {
                let found = day_at(&plain[at], next, today);
                day = found.map(|(day, _)| day);
                found.map(|(_, words)| words)
            }
            (_, None) => {
                let found = time_at(&plain[at], next);
                time = found.map(|(time, _)| time);
                found.map(|(_, words)| words)
            }
            _ => None,
        };
        let Some(count) = found else {
            at += 1;
            continue;
        };
        used[at..at + count].fill(true);
        // The words that lead up to it go with it.
        if at > 0 && ["on", "at", "next", "this"].contains(&&*plain[at - 1]) {
            used[at - 1] = true;
        }
        at += count;
    }
    let left: Vec<&str> = words.iter().zip(&used).filter(|(_, used)| !**used).map(|(word, _)| *word).collect();
    let title = if left.is_empty() { line.trim().to_owned() } else { left.join(" ") };
    Phrase { title, day, time }
}

/// A day at the beginning of these words, and how many of them it takes.
fn day_at(word: &str, next: Option<&str>, today: Date) -> Option<(Date, usize)> {
    if let Some(weekday) = WEEKDAYS.iter().position(|known| *known == word) {
        let ahead = (weekday as i32 - i32::from(today.weekday()) + 6).rem_euclid(7) + 1;
        return Some((Date(today.0 + ahead), 1));
    }
    match word {
        "today" => return Some((today, 1)),
        "tomorrow" => return Some((Date(today.0 + 1), 1)),
        _ => {}
    }
    if let Some(day) = Date::parse(word) {
        return Some((day, 1));
    }
    let (month, number) = match (month(word), next) {
        (Some(month), Some(next)) => (month, next.parse().ok()?),
        (None, Some(next)) => (month(next)?, word.parse().ok()?),
        _ => return None,
    };
    let year = today.civil().0;
    let this = Date::from_civil(year, month, number)?;
    let day = if this < today { Date::from_civil(year + 1, month, number)? } else { this };
    Some((day, 2))
}

fn month(word: &str) -> Option<u32> {
    MONTHS.iter().position(|known| *known == word).map(|at| at as u32 + 1)
}

/// A time at the beginning of these words, and how many of them it takes.
fn time_at(word: &str, next: Option<&str>) -> Option<(i64, usize)> {
    if word == "noon" {
        return Some((12 * 3600, 1));
    }
    let (clock, half, count) = match (word.strip_suffix("am"), word.strip_suffix("pm"), next) {
        (Some(clock), _, _) => (clock, Some(0), 1),
        (_, Some(clock), _) => (clock, Some(12), 1),
        (_, _, Some("am")) => (word, Some(0), 2),
        (_, _, Some("pm")) => (word, Some(12), 2),
        _ => (word, None, 1),
    };
    let (hour, minute) = match clock.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour, minute.parse().ok()?),
        None if half.is_some() => (clock, 0),
        _ => return None,
    };
    let hour: i64 = hour.parse().ok()?;
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        None if (0..24).contains(&hour) => hour,
        _ => return None,
    };
    (0..60).contains(&minute).then_some((hour * 3600 + minute * 60, count))
}
