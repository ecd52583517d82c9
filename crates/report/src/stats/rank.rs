//! Spearman's rank correlation, with ties.

/// The correlation of the ranks; ties share the mean of their ranks. `None` with fewer than 3 pairs, or where one side is
/// constant.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let left = ranks(pairs.iter().map(|pair| pair.0));
    let right = ranks(pairs.iter().map(|pair| pair.1));
    let middle = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum() };
    let scale = (product(&left, &left) * product(&right, &right)).sqrt();
    (scale > 0.0).then(|| product(&left, &right) / scale)
}

/// The ranks from 1, ties at their mean.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out = vec![0.0; order.len()];
    let mut from = 0;
    for tied in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = from as f64 + (tied.len() as f64 + 1.0) / 2.0;
        for (_, at) in tied {
            out[*at] = rank;
        }
        from += tied.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_agree_reverse_and_tie() {
        assert_eq!(spearman(&[(1., 10.), (2., 100.), (3., 1000.)]), Some(1.0));
        assert_eq!(spearman(&[(1., 3.), (2., 2.), (3., 1.)]), Some(-1.0));
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
        let found = spearman(&[(1., 1.), (2., 2.), (2., 3.), (3., 4.)]).unwrap();
        assert!((found - 4.5 / 22.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[(1., 1.), (1., 2.), (1., 3.)]), None);
        assert_eq!(spearman(&[(1., 1.), (2., 2.)]), None);
    }
}
