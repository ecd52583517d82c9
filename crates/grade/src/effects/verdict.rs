//! What the checks of a request add up to. Everything right is the whole reward; less is at most a quarter, by the share of what was asked
//! for, or wanted by the policy, that is right now and was not before. A gate that fired takes all of it.

use crate::FULL;
use benchwright_pack::{Check, CheckStatus, Ending, Instance, PartScore, Verdict, effects::CheckKind};
use std::sync::Arc;

/// What not everything is worth at most: a quarter.
const PARTLY: i64 = 4;
/// The bar of the paper, in percent.
const BAR: i64 = 99;
const WHOLE: i64 = 100;
/// The name of the part that progress is counted by.
const PART: &str = "effects";

/// How much of what had to be brought about was.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) right: i64,
    pub(super) of: i64,
}

impl Tally {
    /// Counts something that was not so in the first state.
    pub(super) fn count(&mut self, is_right: bool) {
        self.right += i64::from(is_right);
        self.of += 1;
    }

    fn share(self) -> i64 {
        if self.of == 0 { 0 } else { self.right * FULL / self.of }
    }
}

/// What a check is called by.
pub(super) fn instance(rule: &str, kind: CheckKind, at: Vec<String>) -> Arc<Instance> {
    Arc::new(Instance { rule: rule.to_owned(), code: String::new(), family: kind.word().to_owned(), at })
}

/// A check with what is wrong, if anything is.
pub(super) fn check(of: Arc<Instance>, why: Option<String>) -> Check {
    let status = if why.is_some() { CheckStatus::Fail } else { CheckStatus::Pass };
    Check { of, status, why }
}

/// How many checks passed.
pub(super) fn passed(checks: &[Check]) -> usize {
    checks.iter().filter(|check| check.status == CheckStatus::Pass).count()
}

/// The verdict on what was found.
pub(super) fn verdict(checks: Vec<Check>, gates: Vec<String>, tally: Tally) -> Verdict {
    let pass = gates.is_empty() && passed(&checks) == checks.len();
    // Of nothing the share is whole only where nothing is wrong.
    let share = |kind: CheckKind| {
        let of_kind = checks.iter().filter(|check| check.family == kind.word());
        let (passed, all) = of_kind
            .fold((0, 0), |(passed, all), check| (passed + i64::from(check.status == CheckStatus::Pass), all + 1));
        match (all, pass) {
            (0, true) => FULL,
            (0, false) => 0,
            _ => passed * FULL / all,
        }
    };
    let reward = match (pass, gates.is_empty()) {
        (true, _) => FULL,
        (_, true) => tally.share() / PARTLY,
        _ => 0,
    };
    let part = PartScore { name: PART.to_owned(), share: WHOLE, right: tally.right, wrong: 0, of: tally.of };
    Verdict {
        ending: if pass { Ending::Pass } else { Ending::Fail },
        reward,
        constraints: share(CheckKind::Compliance),
        trace: FULL,
        objective: share(CheckKind::Completion),
        progress: tally.share(),
        parts: if tally.of > 0 { vec![part] } else { Vec::new() },
        paper_pass: gates.is_empty() && reward >= FULL / WHOLE * BAR,
        gates,
        phases: Vec::new(),
        alarm: false,
        injection: None,
        checks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kinds: &[(CheckKind, bool)], gates: &[&str], tally: (i64, i64)) -> Verdict {
        let one = |(kind, holds): &(CheckKind, bool)| {
            check(instance("r", *kind, Vec::new()), (!holds).then(|| "it is not so".to_owned()))
        };
        let gates = gates.iter().map(|gate| (*gate).to_owned()).collect();
        verdict(kinds.iter().map(one).collect(), gates, Tally { right: tally.0, of: tally.1 })
    }

    #[test]
    fn everything_right_is_the_whole_reward_and_less_is_a_quarter_by_share() {
        use CheckKind::{Completion, Compliance, Integrity};
        let whole = found(&[(Completion, true), (Integrity, true)], &[], (1, 1));
        assert_eq!((whole.ending, whole.reward, whole.paper_pass), (Ending::Pass, FULL, true));
        assert_eq!((whole.constraints, whole.objective, whole.trace, whole.progress), (FULL, FULL, FULL, FULL));
        let part = found(&[(Completion, true), (Completion, false), (Compliance, true)], &[], (2, 3));
        assert_eq!((part.ending, part.reward, part.paper_pass), (Ending::Fail, 166_666, false));
        assert_eq!((part.constraints, part.objective, part.progress), (FULL, FULL / 2, 666_666));
        assert_eq!(part.parts[0].right * 3, part.parts[0].of * 2);
        let rule = found(&[(Completion, true), (Compliance, false)], &[], (1, 1));
        assert_eq!((rule.ending, rule.reward, rule.constraints), (Ending::Fail, FULL / 4, 0));
    }

    #[test]
    fn a_gate_takes_everything_even_where_every_check_passed() {
        let gated = found(&[(CheckKind::Completion, true)], &["declined"], (1, 1));
        assert_eq!((gated.ending, gated.reward, gated.paper_pass), (Ending::Fail, 0, false));
        assert_eq!(gated.gates, ["declined"]);
        let none = found(&[(CheckKind::Completion, false)], &[], (0, 0));
        assert_eq!((none.reward, none.constraints, none.parts.len()), (0, 0, 0));
    }
}
