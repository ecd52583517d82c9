//! How an objective's value becomes a score: full at the best, falling exponentially above it. In millionths and by whole
//! numbers only, so that scores are the same on every machine, which floating point does not promise.

/// A full score: one, in millionths.
pub const FULL: i64 = 1_000_000;

/// One, in the fixed point of the exponential.
const ONE: i128 = 1_000_000_000_000_000_000;
/// The natural logarithm of 2 in that fixed point.
const LN_2: i128 = 693_147_180_559_945_309;

/// The score of a value above the best: `exp(-decay * (value - best) / max(best, unit))`.
pub fn score(value: i64, best: i64, decay: i64, unit: i64) -> i64 {
    let over = i128::from(value) - i128::from(best);
    if over <= 0 {
        return FULL;
    }
    let x = i128::from(decay) * over * ONE / i128::from(best.max(unit).max(1));
    let fixed = exp_of_minus(x);
    ((fixed * i128::from(FULL) + ONE / 2) / ONE) as i64
}

/// `exp(-x)` for `x >= 0` in fixed point.
fn exp_of_minus(x: i128) -> i128 {
    // exp(-x) = 2^-n * exp(-rest) with n whole and rest below ln 2, where 24 terms of the series are good
    // to more digits than a score keeps.
    let halvings = x / LN_2;
    if halvings > 60 {
        return 0;
    }
    let rest = x % LN_2;
    let (mut term, mut sum) = (ONE, ONE);
    for n in 1..=24 {
        term = -term * rest / ONE / n;
        sum += term;
    }
    sum >> halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula in floating point, rounded to millionths.
    #[test]
    fn a_score_falls_off_exponentially_from_the_best() {
        assert_eq!(score(278_000, 276_400, 5, 100), 971_471);
        assert_eq!(score(4, 3, 2, 1), 513_417);
        assert_eq!(score(540, 480, 5, 1), 535_261);
        assert_eq!(score(18, 16, 2, 1), 778_801);
        assert_eq!(score(16, 16, 2, 1), FULL);
        assert_eq!(score(1_000_000, 1, 5, 1), 0);
    }
}
