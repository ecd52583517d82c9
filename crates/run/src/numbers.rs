//! Numbers of trials as the chain writes them: ranges in order, `1-40,42`.

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
    use super::{read, written};

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
