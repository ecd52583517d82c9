//! The task can be made again: the same seed gives the same bytes, in a process of its own, and grading the same state
//! again and again gives the same verdict.

use crate::{Finding, Held, Subject};
use benchwright_grade::Grader;
use benchwright_pack::Snapshot;

/// How often a state is graded.
const TIMES: usize = 3;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    let mut faults = Vec::new();
    match (subject.remake)() {
        Err(why) => faults.push(format!("it could not be made again: {why}")),
        Ok(again) if again.digest() != subject.task.digest() => faults.push(first_difference(subject, &again)),
        Ok(_) => {}
    }
    match verdicts(subject, grader) {
        Ok(found) => faults.extend(found),
        Err(why) => return Finding::new(Held::NoVerdict(why)),
    }
    Finding::of(&faults).count("gradings", TIMES + 2)
}

/// Which of the four documents differs.
fn first_difference(subject: &Subject<'_>, again: &benchwright_pack::Task) -> String {
    let task = subject.task;
    let which = if task.sealed_bytes() != again.sealed_bytes() {
        "the sealed part"
    } else if task.instruction != again.instruction {
        "the instruction"
    } else if task.world != again.world {
        "the world"
    } else {
        "the open part"
    };
    format!("made again, {which} differs")
}

fn verdicts(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Vec<String>, String> {
    let play = || subject.play(&subject.task.sealed.oracle).map_err(|error| error.to_string());
    let grade = |grader: &Grader<'_>, state: &Snapshot| -> Result<Vec<u8>, String> {
        let verdict = grader.grade(state).map_err(|error| error.to_string())?;
        serde_json::to_vec(&verdict).map_err(|error| error.to_string())
    };
    let mut faults = Vec::new();
    let state = play()?;
    let first = grade(grader, &state)?;
    for _ in 1..TIMES {
        if grade(grader, &state)? != first {
            faults.push("grading a state again gives another verdict".to_owned());
        }
    }
    let bytes = state.to_bytes(&subject.domain);
    let read = Snapshot::from_bytes(&bytes, &subject.domain).map_err(|error| error.to_string())?;
    if grade(grader, &read)? != first {
        faults.push("a state that went through bytes gets another verdict".to_owned());
    }
    let again = play()?;
    if again.to_bytes(&subject.domain) != bytes {
        faults.push("the oracle leaves another state when it is played again".to_owned());
    }
    // A judge of its own, as another process would have.
    let other = subject.grader().map_err(|error| error.to_string())?;
    if grade(&other, &again)? != first {
        faults.push("another judge gives another verdict".to_owned());
    }
    Ok(faults)
}
