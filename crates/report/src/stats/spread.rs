//! How alike the members of a group are, and where a share of values lies.

/// The intraclass correlation of values in groups: the estimate from the analysis of variance, with the correction for
/// groups of unequal size. It is below 0 where members of a group differ more than members of different ones. `None` with
/// fewer than 2 groups, without a group of 2, or where all values are equal.
pub fn intraclass(groups: &[Vec<f64>]) -> Option<f64> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let (g, n) = (groups.len() as f64, groups.iter().map(|group| group.len()).sum::<usize>() as f64);
    if g < 2.0 || n <= g {
        return None;
    }
    let mean = groups.iter().flat_map(|group| group.iter()).sum::<f64>() / n;
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for group in groups {
        let size = group.len() as f64;
        let own = group.iter().sum::<f64>() / size;
        between += size * (own - mean).powi(2);
        within += group.iter().map(|value| (value - own).powi(2)).sum::<f64>();
        squares += size * size;
    }
    correlated((g, n), (between, within), squares)
}

/// The same of groups of trials, each by how many there are and how many passed: 1 for one that did, else 0.
pub fn intraclass_of_passes(groups: &[(u32, u32)]) -> Option<f64> {
    let groups =
        || groups.iter().filter(|(size, _)| *size > 0).map(|(size, passed)| (f64::from(*size), f64::from(*passed)));
    let (g, n) = (groups().count() as f64, groups().map(|(size, _)| size).sum::<f64>());
    if g < 2.0 || n <= g {
        return None;
    }
    let mean = groups().map(|(_, passed)| passed).sum::<f64>() / n;
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for (size, passed) in groups() {
        let own = passed / size;
        between += size * (own - mean).powi(2);
        within += passed * (1.0 - own).powi(2) + (size - passed) * own.powi(2);
        squares += size * size;
    }
    correlated((g, n), (between, within), squares)
}

/// The correlation of `g` groups with `n` members, from the squares between and within them and those of their sizes.
fn correlated((g, n): (f64, f64), (between, within): (f64, f64), squares: f64) -> Option<f64> {
    let (between, within) = (between / (g - 1.0), within / (n - g));
    let size = (n - squares / n) / (g - 1.0);
    let whole = between + (size - 1.0) * within;
    (whole > 0.0).then(|| (between - within) / whole)
}

/// The value below which a share of the values lies: the smallest with at least that share at or below it. `None` without
/// values.
pub fn quantile(values: &mut [u64], share: f64) -> Option<u64> {
    let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
    let at = rank.min(values.len()).checked_sub(1)?;
    Some(*values.select_nth_unstable(at).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_all_alike_are_one_and_groups_all_mixed_are_below_zero() {
        assert_eq!(intraclass(&[vec![1., 1.], vec![0., 0.]]), Some(1.0));
        assert_eq!(intraclass(&[vec![0., 1.], vec![0., 1.]]), Some(-1.0));
        // Two groups of 3: means 2/3 and 1/3. Between 1/6, within 1/3: (1/6 - 1/3) / (1/6 + 2/3) = -1/5.
        let found = intraclass(&[vec![1., 1., 0.], vec![1., 0., 0.]]).unwrap();
        assert!((found + 0.2).abs() < 1e-12);
        assert_eq!(intraclass(&[vec![1.], vec![0.]]), None);
        assert_eq!(intraclass(&[vec![1., 1.], vec![1., 1.]]), None);
    }

    #[test]
    fn trials_that_are_counted_are_as_alike_as_those_that_are_listed() {
        for groups in
            [&[(2, 2), (2, 0)][..], &[(2, 1), (2, 1)], &[(3, 2), (3, 1)], &[(1, 1), (1, 0)], &[(2, 2), (2, 2)]]
        {
            let listed: Vec<Vec<f64>> = groups
                .iter()
                .map(|(size, passed)| (0..*size).map(|at| f64::from(u8::from(at < *passed))).collect())
                .collect();
            let (counted, listed) = (intraclass_of_passes(groups), intraclass(&listed));
            assert_eq!(counted.is_some(), listed.is_some(), "{groups:?}");
            assert!((counted.unwrap_or_default() - listed.unwrap_or_default()).abs() < 1e-12, "{groups:?}");
        }
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        assert_eq!(quantile(&mut [4, 1, 3, 2], 0.5), Some(2));
        assert_eq!(quantile(&mut [4, 1, 3, 2], 0.95), Some(4));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
