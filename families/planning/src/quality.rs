//! The anchors by which the quality of a plan is told: the bound that nobody can better, the value that passes, and one that is worth
//! nothing. All are whole numbers.

use benchwright_pack::Anchors;

/// How far from the best a plan may be to pass, in millionths of it, by tier.
fn mercy(tier: &str) -> i128 {
    match tier.split('-').next() {
        Some("easy") => 1_000,
        Some("medium") => 5_000,
        _ => 10_000,
    }
}

/// Whether a value passes.
pub(crate) fn passes(value: i64, anchors: &Anchors, sign: i64) -> bool {
    value * sign <= anchors.half * sign
}

/// From this share of the value on, in millionths, value and bound are apart.
const APART: i128 = 500;

/// The anchors of a certified value with its bound, and the baseline's value if its plan breaks no rule. `sign` is -1 where the
/// quantity is to be large.
pub(crate) fn anchors(tier: &str, sign: i64, value: i64, bound: i64, baseline: Option<i64>) -> Option<Anchors> {
    let small = |number: i64| i128::from(number) * i128::from(sign);
    let (value, full) = (small(value), small(bound));
    let size = value.abs().max(1);
    let millionths = |share: i128| (share * size + 999_999) / 1_000_000;
    let half = match (value - full) * 1_000_000 > APART * size {
        true => value,
        false => full + millionths(mercy(tier)).max(1),
    };
    let least = (size / 50).max(1);
    let span =
        baseline.map_or(0, |baseline| small(baseline) - half).max(half - full).clamp(least, (size / 10).max(least));
    let number = |anchor: i128| i64::try_from(anchor * i128::from(sign)).ok();
    Some(Anchors { full: number(full)?, half: number(half)?, none: number(half + span)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of planning tasks that were worked out by hand.
    #[test]
    fn anchors_follow_from_value_bound_and_baseline() {
        let lot = anchors("medium", 1, 27_713, 27_713, None).unwrap();
        assert_eq!(lot, Anchors { full: 27_713, half: 27_852, none: 28_406 });
        let gap = anchors("easy", 1, 15_691, 15_549, None).unwrap();
        assert_eq!(gap, Anchors { full: 15_549, half: 15_691, none: 16_004 });
        let large = anchors("hard", -1, 43_116, 43_116, Some(0)).unwrap();
        assert_eq!(large, Anchors { full: 43_116, half: 42_684, none: 38_373 });
        for tier in ["easy", "medium", "hard"] {
            for value in [0, 1, -1, 7, -40, 1_000_000_007] {
                let anchors = anchors(tier, 1, value, value, None).unwrap();
                assert_eq!(anchors.sign(), Some(1), "{tier} {value}: {anchors:?}");
            }
        }
    }
}
