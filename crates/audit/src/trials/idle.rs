//! An agent that does nothing earns 0. Otherwise the first state would already be a solution, or checks that nothing
//! decides would be paid.

use crate::{Finding, Held, Subject};
use benchwright_grade::{ACTIVITY, Grader};
use benchwright_pack::Ending;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match grader.grade(&subject.first) {
        Err(error) => Finding::new(Held::NoVerdict(error.to_string())),
        Ok(verdict) if verdict.ending == Ending::Error => {
            Finding::new(Held::NoVerdict("the grader could not tell".to_owned()))
        }
        // Nothing is open in the first state, so it would earn 0 anyway; that it counts as work would be a fault all the same.
        Ok(verdict) if verdict.gates.iter().all(|gate| gate != ACTIVITY) => {
            Finding::new(Held::Failed("idling counts as work".to_owned()))
        }
        Ok(verdict) if verdict.reward == 0 && verdict.ending == Ending::Fail => Finding::new(Held::Passed),
        Ok(verdict) => Finding::new(Held::Failed(format!("idle earns {} millionths", verdict.reward))),
    }
}
