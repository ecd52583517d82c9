//! Numbers of trials as the chain writes them: ranges in order, `1-40,42`. They are held so too, for a run may have millions.

use std::collections::BTreeMap;

/// Numbers in order, by the ranges that they make up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Numbers(Vec<(i64, i64)>);

impl Numbers {
    /// Adds a number that is larger than all before it.
    pub(crate) fn push(&mut self, number: i64) {
        match self.0.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => self.0.push((number, number)),
        }
    }

    /// The ranges, each by its first and its last number.
    pub fn ranges(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// All numbers.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// The first of them.
    pub fn first(&self) -> Option<i64> {
        self.0.first().map(|(first, _)| *first)
    }

    /// Whether a number is among them.
    pub fn contains(&self, number: i64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= number);
        after.checked_sub(1).is_some_and(|at| number <= self.0[at].1)
    }
}

/// The place of the link that each number was last recorded by, by ranges with the same one.
#[derive(Default)]
pub(crate) struct Places(BTreeMap<i64, (i64, i64)>);

impl Places {
    /// The range that a number is in: its first and last number, and the place.
    fn range(&self, number: i64) -> Option<(i64, i64, i64)> {
        let (first, (last, place)) = self.0.range(..=number).next_back()?;
        (number <= *last).then_some((*first, *last, *place))
    }

    pub(crate) fn get(&self, number: i64) -> Option<i64> {
        self.range(number).map(|(.., place)| place)
    }

    /// Takes a number out; the place that it had.
    pub(crate) fn remove(&mut self, number: i64) -> Option<i64> {
        let (first, last, place) = self.range(number)?;
        self.0.remove(&first);
        if first < number {
            self.0.insert(first, (number - 1, place));
        }
        if number < last {
            self.0.insert(number + 1, (last, place));
        }
        Some(place)
    }

    /// Gives a number a place; the one that it had.
    pub(crate) fn insert(&mut self, number: i64, place: i64) -> Option<i64> {
        let was = self.remove(number);
        let before = number.checked_sub(1).and_then(|before| self.range(before));
        match before.filter(|(_, _, known)| *known == place) {
            Some((first, ..)) => self.0.insert(first, (number, place)),
            None => self.0.insert(number, (number, place)),
        };
        was
    }
}

/// Numbers in order, as ranges.
pub(crate) fn written(numbers: &[i64]) -> String {
    let runs = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let range = |run: &[i64]| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    runs.map(range).collect::<Vec<_>>().join(",")
}

/// Reads ranges that stand in order, at most so many numbers. Nothing for what was not written by this program.
pub(crate) fn read(text: &str, most: usize) -> Option<Vec<i64>> {
    let mut numbers = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
        let before = numbers.last().copied().unwrap_or(0);
        let count = usize::try_from(last.checked_sub(first)?).ok()?;
        if first <= before || numbers.len().checked_add(count)? >= most {
            return None;
        }
        numbers.extend(first..=last);
    }
    // One spelling only.
    (written(&numbers) == text).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::{Numbers, Places, read, written};
    use std::collections::BTreeMap;

    #[test]
    fn numbers_are_known_by_their_ranges() {
        let (all, mut numbers) = ([1, 2, 3, 7, 9, 10, i64::MAX], Numbers::default());
        all.iter().for_each(|number| numbers.push(*number));
        assert_eq!(numbers.ranges(), [(1, 3), (7, 7), (9, 10), (i64::MAX, i64::MAX)]);
        assert_eq!(numbers.iter().collect::<Vec<_>>(), all);
        assert_eq!((numbers.first(), Numbers::default().first()), (Some(1), None));
        for number in [i64::MIN, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, i64::MAX - 1, i64::MAX] {
            assert_eq!(numbers.contains(number), all.contains(&number), "{number}");
        }
    }

    #[test]
    fn places_are_those_of_a_plain_map() {
        let (mut places, mut plain) = (Places::default(), BTreeMap::new());
        let mut drawn = 1_u64;
        for step in 0..20_000 {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (number, place) = ((drawn >> 33) as i64 % 40, (drawn >> 48) as i64 % 3);
            match step % 3 {
                0 => assert_eq!(places.remove(number), plain.remove(&number)),
                _ => assert_eq!(places.insert(number, place), plain.insert(number, place)),
            }
            assert_eq!(places.get(number), plain.get(&number).copied());
        }
        assert!((-1..41).all(|number| places.get(number) == plain.get(&number).copied()));
        assert_eq!(
            (places.insert(i64::MAX, 1), places.insert(i64::MIN, 1), places.remove(i64::MAX)),
            (None, None, Some(1))
        );
    }

    #[test]
    fn ranges_have_one_spelling_and_a_bound() {
        let numbers = [1, 2, 3, 5, 7, 8];
        assert_eq!(written(&numbers), "1-3,5,7-8");
        assert_eq!(read("1-3,5,7-8", 10).as_deref(), Some(&numbers[..]));
        for bad in ["", "0", "1-", "3-1", "1,2", "2,1", "1-1", "+1", "-3", "1-9223372036854775807", "1-11", "x"] {
            assert_eq!(read(bad, 10), None, "{bad}");
        }
        assert_eq!(read("1-10", 10).map(|all| all.len()), Some(10));
    }
}
