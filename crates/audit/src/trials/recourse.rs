//! Where a task is planned in stages, whoever keeps the rules at every stage can go on at the next: whatever was planned before, there is
//! a plan. Histories are drawn at random, each stage of each one a plan that keeps the rules, made for the sake of nothing.

use crate::{Finding, Held, Subject};
use benchwright_base::Stream;
use benchwright_grade::Grader;
use benchwright_pack::CheckStatus;
use benchwright_project::Breadth;
use benchwright_solve::{Limits, Lin, Lower, Status};
use benchwright_spec::Rows;
use std::collections::BTreeSet;

/// How many histories are drawn.
const HISTORIES: usize = 20;
/// Work of one stage of a history, and of one more try where that was too little.
const WORK: [f64; 2] = [1.0, 10.0];
/// How much a row may be liked or disliked in a history.
const WEIGHT: i64 = 9;
/// How many histories are carried out and judged by the sealed rules.
const JUDGED: usize = 3;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    if subject.stages() == 1 {
        return Finding::new(Held::Na("the task has no stages".to_owned()));
    }
    match histories(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

/// How a history ends.
enum End {
    /// At the last stage, with this plan.
    Whole(Rows),
    /// At a stage at which there is no plan any more.
    Lost(i64),
    /// At one at which it could not be told.
    Open(i64),
}

fn histories(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let mut faults = Vec::new();
    let mut open = Vec::new();
    let mut seen = BTreeSet::new();
    for nth in 0..HISTORIES {
        let mut stream = Stream::new(0, &["recourse", &subject.task.open.id, &nth.to_string()]);
        match history(subject, &mut stream)? {
            End::Lost(stage) => faults.push(format!("history {nth} has no plan at stage {stage}")),
            End::Open(stage) => open.push(format!("history {nth} is undecided at stage {stage}")),
            End::Whole(rows) => {
                if seen.len() < JUDGED {
                    let verdict = subject.carry_out(grader, &rows).map_err(|error| error.to_string())?;
                    let broken = verdict.checks.iter().filter(|check| check.status == CheckStatus::Fail);
                    faults.extend(broken.map(|check| format!("history {nth} breaks {} {:?}", check.rule, check.at)));
                }
                seen.insert(rows);
            }
        }
    }
    let finding = match faults.is_empty() && !open.is_empty() {
        true => Finding::new(Held::NoVerdict(open.join("; "))),
        false => Finding::of(&faults),
    };
    Ok(finding.count("histories", HISTORIES).count("different", seen.len()))
}

/// Plans stage by stage, each time whatever a random taste likes.
fn history(subject: &Subject<'_>, stream: &mut Stream) -> Result<End, String> {
    let optimised = subject.family.optimised().ok_or("the family offers no optimiser")?;
    let mut rows = Rows::empty(&subject.plan);
    for stage in 1..=subject.stages() {
        let (bound, candidates) =
            optimised.stage(&subject.case, &subject.plan, &subject.bound, stage, &rows, Breadth::Tight)?;
        let mut lower = Lower::in_way(subject.lowering(), &subject.plan, &bound, &candidates);
        for instance in lower.all_instances().map_err(|error| error.to_string())? {
            lower.require(&instance.holds);
        }
        let used: Vec<_> = lower.rows.iter().flatten().map(|row| row.used.clone()).collect();
        let mut taste = Vec::with_capacity(used.len());
        for used in used {
            let weight = stream.between(-WEIGHT, WEIGHT);
            taste.push(lower.truth_value(&used).times(weight));
        }
        lower.model.minimise = Some(Lin::sum(taste));
        let mut found = None;
        for work in WORK {
            let limits = Limits { work, linearization: 1, fixed_search: false };
            let answer = subject.solver()?.solve(&lower.model, &limits).map_err(|error| error.to_string())?;
            match answer.status {
                Status::Optimal | Status::Feasible => {
                    found = Some(lower.read(&answer.point));
                    break;
                }
                Status::Infeasible => return Ok(End::Lost(stage)),
                Status::Unknown => {}
            }
        }
        match found {
            Some(found) => rows = found,
            None => return Ok(End::Open(stage)),
        }
    }
    Ok(End::Whole(rows))
}
