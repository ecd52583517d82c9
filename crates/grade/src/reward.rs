//! What checks and phases add up to: the parts of a verdict and the reward, weighed as the verifier's scoring says.

use crate::FULL;
use benchwright_pack::{Anchors, Check, CheckStatus, Ending, PartScore, PhaseScore, Scoring, Verdict};
use benchwright_schema::plan::Phase;

/// Percentages are of this.
const WHOLE: i64 = 100;

/// How many checks ended in which way.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    traced: usize,
    lost: usize,
    unknown: usize,
}

impl Counts {
    /// What the frame judges is in no share; its breaches are gates.
    fn of(checks: &[Check], framed: &[&str], trace_family: Option<&str>) -> Counts {
        let mut counts = Counts::default();
        for check in checks.iter().filter(|check| !framed.contains(&&*check.rule)) {
            let is_trace = trace_family.is_some_and(|family| check.family == family);
            let count = match (check.status, is_trace) {
                (CheckStatus::Pass, false) => &mut counts.passed,
                (CheckStatus::Fail, false) => &mut counts.failed,
                (CheckStatus::Pass, true) => &mut counts.traced,
                (CheckStatus::Fail, true) => &mut counts.lost,
                (CheckStatus::NoVerdict, _) => &mut counts.unknown,
                (CheckStatus::Na, _) => continue,
            };
            *count += 1;
        }
        counts
    }
}

/// The share of what passed. Of nothing it is whole only where nothing is asked: in a state that breaks no constraint.
fn share(passed: usize, of: usize, clean: bool) -> i64 {
    match (of, clean) {
        (0, true) => FULL,
        (0, false) => 0,
        _ => (passed as i64) * FULL / (of as i64),
    }
}

/// What the parts of a job come to: what was got right less what was spoilt, and not below nothing.
fn progress(parts: &[PartScore]) -> i64 {
    let of_part = |part: &PartScore| part.share * (part.right - part.wrong) * FULL / (WHOLE * part.of.max(1));
    parts.iter().map(of_part).sum::<i64>().clamp(0, FULL)
}

/// What the objective is worth: its phases with their scores, and the anchors if these say what is best.
pub(crate) struct Worth<'a> {
    pub(crate) phases: &'a [Phase],
    pub(crate) scores: Vec<PhaseScore>,
    pub(crate) anchors: Option<&'a Anchors>,
}

/// The verdict on what was found. `framed` are the rules that the frame judges. There are as many scores as phases.
pub(crate) fn verdict(
    checks: Vec<Check>,
    framed: &[&str],
    gates: Vec<String>,
    worth: Worth<'_>,
    parts: Vec<PartScore>,
    scoring: &Scoring,
) -> Verdict {
    let Worth { phases, scores, anchors } = worth;
    let Counts { passed, failed, traced, lost, unknown } = Counts::of(&checks, framed, scoring.trace_family.as_deref());
    let clean = failed == 0 && passed > 0;
    let constraints = share(passed, passed + failed, clean);
    let trace = share(traced, traced + lost, clean);
    let progress = progress(&parts);

    let scored = || phases.iter().zip(&scores).filter(|(phase, _)| phase.text.share > 0);
    let mut points = 0;
    let mut open = true;
    for (phase, score) in scored() {
        if open {
            points += phase.text.share * score.score;
        }
        // A later phase counts only where those before it are at their best.
        open &= score.within;
    }
    // What costs little because it was not done is no achievement.
    let objective = match scored().next() {
        _ if !clean => 0,
        None => FULL,
        Some(_) => points / WHOLE,
    };
    let best = scored().all(|(_, score)| score.within);

    // Better than the certificate: a phase below its best, with all before it at theirs.
    let mut alarm = false;
    let mut equal = true;
    for (phase, score) in phases.iter().zip(&scores) {
        let better = score.value.is_some_and(|value| match anchors {
            Some(anchors) => value.saturating_mul(phase.text.sign()) < anchors.full.saturating_mul(phase.text.sign()),
            None => value < score.best - phase.text.tolerance,
        });
        alarm |= clean && equal && better && phase.text.share > 0;
        equal &= score.within && !better;
    }

    let judged = unknown == 0 && !checks.is_empty() && passed + failed > 0;
    let weights = scoring.weights;
    let reward = match (judged, gates.is_empty(), clean) {
        (false, _, _) | (_, false, _) => 0,
        (_, _, false) => scoring.broken_percent * progress / WHOLE,
        (_, _, true) => {
            (weights.constraints * constraints + weights.objective * objective + weights.trace * trace) / WHOLE
        }
    };
    let ending = match judged {
        false => Ending::Error,
        true if gates.is_empty() && clean && lost == 0 && best => Ending::Pass,
        true => Ending::Fail,
    };
    // A bar of 0 would let a gate through.
    let bar = FULL / WHOLE * scoring.paper_bar_percent;
    let above = if anchors.is_some() { reward > bar } else { reward >= bar };
    let paper_pass = gates.is_empty() && above;
    Verdict {
        ending,
        reward,
        constraints,
        trace,
        objective,
        progress,
        parts,
        gates,
        phases: scores,
        alarm,
        paper_pass,
        injection: None,
        checks,
    }
}
