//! pass@k and pass^k from n trials of which c passed, each without bias.

/// The probability that at least one of `k` trials passes: `1 - C(n-c, k) / C(n, k)`. `None` if fewer than `k` were tried.
pub fn pass_at_k(n: u32, c: u32, k: u32) -> Option<f64> {
    (k >= 1 && k <= n && c <= n).then(|| 1.0 - ratio(n - c, n, k))
}

/// The probability that all of `k` trials pass: `C(c, k) / C(n, k)`. `None` if fewer than `k` were tried.
pub fn pass_hat_k(n: u32, c: u32, k: u32) -> Option<f64> {
    (k >= 1 && k <= n && c <= n).then(|| ratio(c, n, k))
}

/// pass@k and pass^k of `n` trials of which `c` passed, for every k from 1 to `n`: each from the one before it, so that a thousand attempts are
/// no million steps.
pub fn passes(n: u32, c: u32) -> impl Iterator<Item = (f64, f64)> {
    let c = c.min(n);
    (0..n).scan((1.0, 1.0), move |(none, all), i| {
        *none *= f64::from((n - c).saturating_sub(i)) / f64::from(n - i);
        *all *= f64::from(c.saturating_sub(i)) / f64::from(n - i);
        Some((1.0 - *none, *all))
    })
}

/// `C(a, k) / C(n, k)` as a product, so that nothing overflows.
fn ratio(a: u32, n: u32, k: u32) -> f64 {
    if a < k { 0.0 } else { (0..k).map(|i| f64::from(a - i) / f64::from(n - i)).product() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_k_at_once_are_those_one_by_one() {
        for (n, c) in [(0, 0), (1, 1), (4, 0), (4, 4), (30, 7), (30, 29)] {
            let at_once: Vec<(f64, f64)> = passes(n, c).collect();
            let one_by_one = (1..=n).map(|k| (pass_at_k(n, c, k).unwrap(), pass_hat_k(n, c, k).unwrap()));
            assert_eq!(at_once, one_by_one.collect::<Vec<_>>(), "{c} of {n}");
        }
    }

    #[test]
    fn both_count_the_draws_without_replacement() {
        // Of 4 trials 2 passed. Pairs: 6, of which 1 has no pass and 1 has only passes.
        assert!((pass_at_k(4, 2, 2).unwrap() - 5.0 / 6.0).abs() < 1e-12);
        assert!((pass_hat_k(4, 2, 2).unwrap() - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(pass_at_k(4, 1, 1), Some(0.25));
        assert_eq!(pass_hat_k(4, 4, 4), Some(1.0));
        assert_eq!(pass_hat_k(4, 3, 4), Some(0.0));
        assert_eq!(pass_at_k(4, 0, 4), Some(0.0));
        assert_eq!(pass_at_k(4, 1, 4), Some(1.0));
        assert_eq!(pass_at_k(3, 1, 4), None);
        assert_eq!(pass_at_k(3, 1, 0), None);
    }

    #[test]
    fn both_are_without_bias() {
        // Over all results of 5 trials with success 0.3, the mean is the true value.
        let (n, p) = (5u32, 0.3f64);
        let choose = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
        for k in 1..=5 {
            let mean = |f: fn(u32, u32, u32) -> Option<f64>| -> f64 {
                (0..=n)
                    .map(|c| {
                        let weight = choose[c as usize] * p.powi(c as i32) * (1.0 - p).powi((n - c) as i32);
                        weight * f(n, c, k).unwrap()
                    })
                    .sum()
            };
            assert!((mean(pass_at_k) - (1.0 - (1.0 - p).powi(k as i32))).abs() < 1e-12);
            assert!((mean(pass_hat_k) - p.powi(k as i32)).abs() < 1e-12);
        }
    }
}
