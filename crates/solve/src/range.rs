//! Sets of whole numbers as lists of closed intervals, such as `[(0, 0), (5, 40)]` for "nothing, or 5 to 40": how
//! constraints say where an expression may lie. `i64::MIN` and `i64::MAX` are open ends.

use crate::Range;

/// The same values in ascending intervals that do not touch.
pub(crate) fn tidy(range: &[(i64, i64)]) -> Range {
    let mut sorted: Range = range.iter().copied().filter(|(low, high)| low <= high).collect();
    sorted.sort_unstable();
    let mut kept: Range = Vec::with_capacity(sorted.len());
    for (low, high) in sorted {
        match kept.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => kept.push((low, high)),
        }
    }
    kept
}

/// The range with a number taken off every value. Open ends stay open; what leaves the numbers altogether is dropped.
pub(crate) fn less(range: &[(i64, i64)], by: i64) -> Range {
    if by == 0 {
        return tidy(range);
    }
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let moved = range.iter().filter_map(|(low, high)| {
        let low = if *low == i64::MIN { least } else { i128::from(*low) - i128::from(by) };
        let high = if *high == i64::MAX { most } else { i128::from(*high) - i128::from(by) };
        (low <= most && high >= least).then(|| (low.max(least) as i64, high.min(most) as i64))
    });
    tidy(&moved.collect::<Range>())
}

/// Whether a value lies in the range.
pub(crate) fn contains(range: &[(i64, i64)], value: i128) -> bool {
    range.iter().any(|(low, high)| {
        (*low == i64::MIN || i128::from(*low) <= value) && (*high == i64::MAX || value <= i128::from(*high))
    })
}

/// The part of the range that lies between two bounds.
pub(crate) fn between(range: &[(i64, i64)], low: i64, high: i64) -> Range {
    tidy(&range.iter().map(|(a, b)| ((*a).max(low), (*b).min(high))).collect::<Range>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_intervals_become_one_and_empty_ones_go() {
        assert_eq!(tidy(&[(5, 7), (1, 2), (3, 3), (9, 8)]), [(1, 3), (5, 7)]);
        assert_eq!(tidy(&[(0, i64::MAX), (3, 4)]), [(0, i64::MAX)]);
    }

    #[test]
    fn open_ends_stay_open_when_a_range_is_moved() {
        assert_eq!(less(&[(i64::MIN, 3), (7, i64::MAX)], 5), [(i64::MIN, -2), (2, i64::MAX)]);
        assert_eq!(less(&[(i64::MAX - 1, i64::MAX - 1)], -5), []);
        assert_eq!(less(&[(-5, i64::MAX - 1)], -5), [(0, i64::MAX)]);
    }

    #[test]
    fn an_open_end_holds_values_of_any_size() {
        let huge = i128::from(i64::MAX) + 9;
        assert!(contains(&[(0, i64::MAX)], huge) && !contains(&[(i64::MIN, 0)], huge));
        assert_eq!(between(&[(i64::MIN, 3), (6, 9)], 0, 7), [(0, 3), (6, 7)]);
    }
}
