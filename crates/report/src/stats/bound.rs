//! What a sample proves of all that it was drawn from.

use super::{LEVEL, distributions::binomial_cdf};

/// A share of all, in millionths.
const WHOLE: u32 = 1_000_000;

/// The largest share of faulty ones that a sample does not rule out: the exact one-sided bound of Clopper and Pearson at 95 %, in
/// millionths, rounded up. Nothing without a sample. A sample of what is not endless is worth a little more than this says.
pub fn faulty_at_most(tried: u64, faulty: u64) -> Option<u32> {
    if tried == 0 || faulty > tried {
        return None;
    }
    // So many or fewer faulty ones would be seen too rarely were the share this one. What is no number rules out nothing.
    let ruled_out = |share: u32| binomial_cdf(faulty, tried, f64::from(share) / f64::from(WHOLE)) <= 1.0 - LEVEL;
    let (mut open, mut closed) = (0, WHOLE);
    while closed - open > 1 {
        let middle = open + (closed - open) / 2;
        if ruled_out(middle) {
            closed = middle;
        } else {
            open = middle;
        }
    }
    Some(closed)
}

/// How many must be tried, and be clean, to rule out this share of faulty ones, in millionths.
pub const fn enough(share: u32) -> usize {
    let (mut unseen, mut tried) = (1.0, 0);
    while share > 0 && unseen > 1.0 - LEVEL {
        unseen *= (WHOLE - share) as f64 / WHOLE as f64;
        tried += 1;
    }
    tried
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_samples_prove_what_the_closed_form_says() {
        assert_eq!(enough(10_000), 299);
        // 1 - 0.05^(1/299) is 0.0099690, and one task less proves no 1 %.
        assert_eq!(faulty_at_most(299, 0), Some(9_970));
        assert_eq!(faulty_at_most(298, 0), Some(10_003));
        for tried in [1_u32, 2, 20, 59, 1_000] {
            let closed = (1.0 - 0.05_f64.powf(1.0 / f64::from(tried))) * 1e6;
            // Never too small, and a millionth too large at most.
            let bound = f64::from(faulty_at_most(tried.into(), 0).unwrap());
            assert!(bound >= closed - 1e-6 && bound <= closed + 1.0 + 1e-6, "{tried}: {bound}, {closed}");
        }
    }

    #[test]
    fn faulty_ones_raise_the_bound_as_the_tables_say() {
        // The printed tables have 0.3942, 0.2826 and 0.1023 for the first three.
        let known = [(10, 1, 394_164), (20, 2, 282_619), (100, 5, 102_254), (299, 1, 15_767), (299, 3, 25_727)];
        for (tried, faulty, bound) in known {
            assert_eq!(faulty_at_most(tried, faulty), Some(bound), "{faulty} of {tried}");
        }
        assert_eq!(faulty_at_most(7, 7), Some(1_000_000));
    }

    #[test]
    fn nothing_tried_proves_nothing() {
        assert_eq!((faulty_at_most(0, 0), faulty_at_most(2, 3)), (None, None));
    }
}
