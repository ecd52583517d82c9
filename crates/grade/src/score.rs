//! How an objective's value becomes a score: full at the best, falling exponentially above it. In millionths and by whole
//! numbers only, so that scores are the same on every machine, which floating point does not promise.

use benchwright_pack::Anchors;

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

/// The quality of a plan by its anchors, in millionths and rounded down; nothing where they are no anchors.
pub fn quality(value: i64, anchors: &Anchors) -> i64 {
    let Some(sign) = anchors.sign() else { return 0 };
    let [z, full, half, none] =
        [value, anchors.full, anchors.half, anchors.none].map(|n| i128::from(n) * i128::from(sign));
    let whole = i128::from(FULL);
    // Along two straight lines, which meet at one half.
    let worth = match () {
        () if z <= full => whole,
        () if z <= half => whole / 2 + (half - z) * whole / (2 * (half - full)),
        () if z < none => (none - z) * whole / (2 * (none - half)),
        () => 0,
    };
    worth as i64
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

    #[test]
    fn quality_falls_along_two_lines_that_meet_at_one_half() {
        let lot = Anchors { full: 27_713, half: 27_852, none: 28_407 };
        let at = |value| quality(value, &lot);
        assert_eq!([at(0), at(27_713), at(27_852), at(28_407), at(i64::MAX)], [FULL, FULL, FULL / 2, 0, 0]);
        assert_eq!((at(27_800), at(28_000)), (687_050, 366_666));
        let project = Anchors { full: 37_323, half: 37_510, none: 40_147 };
        assert_eq!(quality(38_500, &project), 312_286);
        let gap = Anchors { full: 15_549, half: 15_691, none: 16_005 };
        assert_eq!((quality(15_620, &gap), quality(15_700, &gap)), (750_000, 485_668));
        let large = Anchors { full: 43_116, half: 42_684, none: 38_373 };
        assert_eq!((quality(42_684, &large), quality(42_683, &large)), (FULL / 2, 499_884));
        assert_eq!((quality(i64::MAX, &large), quality(i64::MIN, &large)), (FULL, 0));
        for (low, high) in [(27_000, 28_500), (15_500, 16_100)] {
            assert!((low..high).all(|value| at(value + 1) <= at(value)), "it never rises with the cost");
        }
        assert_eq!(quality(1, &Anchors { full: 2, half: 2, none: 3 }), 0, "these are no anchors");
    }
}
