//! Parts of the work: every beginning of the script earns less than everything and no less than the beginning before it, and no clause
//! alone passes.

use super::{RequestSubject, finding, na};
use crate::Finding;
use benchwright_grade::FULL;
use benchwright_pack::{Ending, Script};
use benchwright_world::seen::{Seen, step_with};
use std::collections::BTreeSet;

const ONE_CALL: &str = "a request that cannot be carried out is declined by one call, which has no parts";

/// Every beginning of the script, and every clause alone, earns less than everything and never passes.
pub(crate) fn worse(subject: &RequestSubject<'_>) -> Finding {
    if subject.is_blocked() {
        return na(ONE_CALL);
    }
    finding(parts(subject))
}

/// The reward never falls along the script.
pub(crate) fn monotone(subject: &RequestSubject<'_>) -> Finding {
    if subject.is_blocked() {
        return na(ONE_CALL);
    }
    finding(along(subject))
}

/// Reward and ending after each step, before the first one too.
fn rewards(subject: &RequestSubject<'_>) -> Result<Vec<(i64, Ending)>, String> {
    let script = &subject.task.sealed.oracle;
    let mut episode = subject.begin()?;
    let mut seen = Seen::new(&subject.domain, episode.now());
    for fact in &script.given {
        seen.give(&fact.name, &fact.ty, &fact.value);
    }
    let first = subject.judged(&episode)?;
    let mut rewards = vec![(first.reward, first.ending)];
    for (at, step) in script.steps.iter().enumerate() {
        let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
        step_with(&mut seen, at, step, &mut call, &mut |_, _, _| ()).map_err(|error| error.to_string())?;
        let verdict = subject.judged(&episode)?;
        rewards.push((verdict.reward, verdict.ending));
    }
    Ok(rewards)
}

/// The rewards before the last step that changes anything.
fn unfinished(rewards: &[(i64, Ending)]) -> &[(i64, Ending)] {
    // Reads behind the last write change no verdict.
    let last = rewards.last();
    let end = rewards.iter().rposition(|reward| Some(reward) != last).map_or(0, |at| at + 1);
    &rewards[..end]
}

fn parts(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let rewards = rewards(subject)?;
    let mut faults = Vec::new();
    let unfinished = unfinished(&rewards);
    for (at, (reward, ending)) in unfinished.iter().enumerate() {
        if *ending == Ending::Pass || *reward >= FULL {
            faults.push(format!("after {at} of {} steps it is {ending:?} and earns {reward}", rewards.len() - 1));
        }
    }
    if unfinished.is_empty() {
        faults.push("no step changes the verdict".to_owned());
    }
    let done = subject.done()?;
    let ids: BTreeSet<&str> = subject.effects.expected.iter().map(|row| &*row.of).collect();
    let script = &subject.task.sealed.oracle;
    let mut alone = 0;
    for id in ids.iter().filter(|_| ids.len() > 1) {
        let of = |at: usize| {
            let mut rows = done.step_of.iter().zip(&subject.effects.expected).filter(|(step, _)| **step == Some(at));
            rows.any(|(_, row)| row.of == *id)
        };
        // A call that does all of the work cannot be made in part.
        if (0..script.steps.len()).all(|at| !done.steps[at].writes() || of(at)) {
            continue;
        }
        let kept = script.steps.iter().enumerate().filter(|(at, _)| !done.steps[*at].writes() || of(*at));
        let steps = kept.map(|(_, step)| step.clone()).collect();
        let (episode, _) = subject.play(&Script { steps, ..script.clone() })?;
        let verdict = subject.judged(&episode)?;
        alone += 1;
        if verdict.ending == Ending::Pass || verdict.reward >= FULL {
            faults.push(format!("{id} alone passes"));
        }
    }
    Ok(Finding::of(&faults).count("prefixes", unfinished.len()).count("clauses alone", alone))
}

fn along(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let rewards = rewards(subject)?;
    let mut faults = Vec::new();
    for (at, pair) in rewards.windows(2).enumerate() {
        if pair[1].0 < pair[0].0 {
            let tool = subject.task.sealed.oracle.steps[at].tool();
            faults.push(format!("step {} ({tool}) takes the reward from {} to {}", at + 1, pair[0].0, pair[1].0));
        }
    }
    let rises = rewards.windows(2).filter(|pair| pair[1].0 > pair[0].0).count();
    Ok(Finding::of(&faults).count("prefixes", rewards.len()).count("rises", rises))
}
