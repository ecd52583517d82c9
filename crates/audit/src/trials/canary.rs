//! A clean state that is better than the certificate says is possible raises an alarm and keeps its reward: the certificate
//! is wrong then, not the agent. The true certificate raises none.

use crate::{Finding, Held, Subject};
use benchwright_grade::{FULL, Grader};
use benchwright_pack::{Anchors, Ending, Snapshot, Verdict, Verifier};

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    let phases = subject.plan.objectives.get(&subject.task.sealed.verifier.objective).map_or(&[][..], |phases| phases);
    let scored: Vec<(usize, i64)> = phases
        .iter()
        .enumerate()
        .filter(|(_, phase)| phase.text.share > 0)
        .map(|(at, phase)| (at, phase.text.tolerance))
        .collect();
    if scored.is_empty() {
        return Finding::new(Held::Na("there is no objective".to_owned()));
    }
    match alarms(subject, grader, &scored) {
        Ok(faults) => Finding::of(&faults).count("certificates", scored.len()),
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn alarms(subject: &Subject<'_>, grader: &Grader<'_>, scored: &[(usize, i64)]) -> Result<Vec<String>, String> {
    let state = subject.play(&subject.task.sealed.oracle).map_err(|error| error.to_string())?;
    let mut faults = Vec::new();
    let verdict = grader.grade(&state).map_err(|error| error.to_string())?;
    if verdict.alarm {
        faults.push("the true certificate raises an alarm".to_owned());
    }
    for (phase, tolerance) in scored {
        let mut verifier = subject.task.sealed.verifier.clone();
        let Some(worse) = worsened(&mut verifier, *phase, *tolerance) else {
            return Err(format!("phase {phase} has no certified value"));
        };
        let verdict = judged(subject, &verifier, &state)?;
        if !verdict.alarm {
            faults.push(format!("no alarm where phase {phase} is certified as {worse}"));
        }
        // Better than certified is worth everything.
        if verdict.reward != FULL || verdict.ending != Ending::Pass {
            faults.push(format!("better than certified as {worse} earns {}, {:?}", verdict.reward, verdict.ending));
        }
    }
    Ok(faults)
}

/// Certifies a phase as worse than it is by a hundredth, and by more than its tolerance.
fn worsened(verifier: &mut Verifier, phase: usize, tolerance: i64) -> Option<i64> {
    let sign = verifier.anchors.and_then(|anchors| anchors.sign()).unwrap_or(1);
    let best = verifier.best.get_mut(phase)?;
    let worse = (best.abs() / 100).max(tolerance + 1) * sign;
    *best += worse;
    if let Some(Anchors { full, half, none }) = &mut verifier.anchors {
        // All of them move, so that even the bound is beyond what the oracle reached.
        let apart = worse + (*best - worse - *full);
        for anchor in [full, half, none] {
            *anchor += apart;
        }
    }
    Some(*best)
}

fn judged(subject: &Subject<'_>, verifier: &Verifier, state: &Snapshot) -> Result<Verdict, String> {
    let grader = Grader::new(&subject.domain, verifier, &subject.first, subject.family.natives());
    let grader = grader.map_err(|error| error.to_string())?;
    grader.grade(state).map_err(|error| error.to_string())
}
