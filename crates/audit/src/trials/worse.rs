//! Feasible plans that cost more than the best are clean and score strictly between nothing and everything, the less the
//! more they cost, where the sources of all that was bought can be told. So a score tells good work from better.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_project::Breadth;
use benchwright_solve::{Constraint, Formula, Limits, Lin, Status};

/// Work of one search.
const WORK: f64 = 10.0;
/// How far the first value of each plan is above the best, at least, in thousandths of it.
const GAPS: [i64; 3] = [10, 40, 100];
/// The same where quality is told by anchors, which stand nearer.
const NEAR_GAPS: [i64; 3] = [1, 10, 40];

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match search(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn search(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let phases = subject.plan.objectives.get(&subject.case.objective).map_or(&[][..], |phases| phases);
    let scored = phases.iter().zip(&subject.task.sealed.verifier.best).find(|(phase, _)| phase.text.share > 0);
    let Some((phase, best)) = scored else {
        return Ok(Finding::new(Held::Na("there is no objective".to_owned())));
    };
    let mut lower = subject.required(Breadth::Tight)?;
    let sign = phase.text.sign();
    let of = lower.number(&phase.of).map_err(|error| error.to_string())?.times(sign);
    let best = &(best * sign);
    let anchored = subject.is_anchored();
    // Where the scored phase is the only one, a plan at its value is as thrifty as any.
    let thrift = match phases.last().filter(|_| phases.len() > 1) {
        Some(last) => Some(lower.number(&last.of).map_err(|error| error.to_string())?),
        None => None,
    };
    let limits = Limits { work: WORK, linearization: 2, fixed_search: false };
    let mut faults = Vec::new();
    let mut found = 0;
    let mut open = false;
    // What the last plan scored for its objective, and the last whose sources can all be told earned.
    let mut last = (subject.worth(), subject.worth());
    let mut floor = best + phase.text.tolerance;
    for gap in if anchored { NEAR_GAPS } else { GAPS } {
        floor = (floor + 1).max(best + best.abs() * gap / 1_000);
        lower.require(&Formula::Le(Lin::constant(floor).minus(&of)));
        let mut near = None;
        if anchored {
            // Any plan will do that is not much worse.
            let mut model = lower.model.clone();
            let within = vec![(floor, floor + best.abs() * gap / 1_000)];
            model.constraints.push(Constraint::Linear { of: of.clone(), within, when: vec![] });
            let any = Limits { linearization: subject.linearization_of_any(), ..limits.clone() };
            let answer = subject.solver()?.solve(&model, &any).map_err(|error| error.to_string())?;
            near = Some(answer).filter(|answer| !answer.point.is_empty());
        }
        let answer = match near {
            Some(answer) => answer,
            None => {
                let mut model = lower.model.clone();
                model.minimise = Some(of.clone());
                subject.solver()?.solve(&model, &limits).map_err(|error| error.to_string())?
            }
        };
        if answer.status == Status::Infeasible {
            break;
        }
        if answer.point.is_empty() {
            open = true;
            break;
        }
        found += 1;
        floor = of.at(&answer.point);
        // Among plans at that value the thriftiest: what nobody needs cannot be traced to anybody, so it would cost more
        // than the gap.
        let mut point = answer.point;
        if let Some(thrift) = &thrift {
            let mut model = lower.model.clone();
            model.constraints.push(Constraint::Linear { of: of.clone(), within: vec![(floor, floor)], when: vec![] });
            model.minimise = Some(thrift.clone());
            let thrifty = subject.solver()?.solve(&model, &limits).map_err(|error| error.to_string())?;
            if !thrifty.point.is_empty() {
                point = thrifty.point;
            }
        }
        match subject.carry_out(grader, &lower.read(&point)) {
            Err(why) => faults.push(why.to_string()),
            Ok(verdict) if verdict.constraints != benchwright_grade::FULL => {
                faults.push(format!("a feasible plan fails {:?}", verdict.failed()));
            }
            Ok(verdict) => {
                let (reward, trace, objective) = (verdict.reward, verdict.trace, verdict.objective);
                // Where there is a purchase that nobody needs, its source cannot be told, and that has its own price.
                let told = trace == benchwright_grade::FULL;
                let falls = objective < last.0 && (!told || reward < last.1);
                // By anchors it falls to nothing and stays there.
                let falls = if anchored { falls || last.0 == 0 } else { falls && reward > 400_000 };
                if reward >= benchwright_grade::FULL || !falls {
                    faults.push(format!(
                        "a plan at {floor} (best {best}) earns {reward} (trace {trace}, objective {objective}) after {last:?}"
                    ));
                }
                last = (objective, if told { reward } else { last.1 });
            }
        }
    }
    let finding = match (found, faults.is_empty(), open) {
        (0, true, true) => Finding::new(Held::NoVerdict("no plan was found within the work".to_owned())),
        (0, true, false) => Finding::new(Held::Na("no worse plan exists, and that is proved".to_owned())),
        _ => Finding::of(&faults),
    };
    Ok(finding.count("plans", found))
}
