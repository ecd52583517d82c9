//! The trials, one file each.

mod alternates;
mod canary;
mod clauses;
mod closed_book;
mod dominance;
mod facts;
mod frame;
mod idle;
mod leak;
mod near_miss;
mod oracle;
mod reading;
mod regenerate;
mod second_solver;
mod spam;
mod worse;

use crate::{Finding, Subject};
use benchwright_grade::Grader;

/// A trial of one task.
#[derive(Clone, Copy)]
pub struct Trial {
    /// Its name.
    pub name: &'static str,
    /// What it shows when it passes.
    pub about: &'static str,
    /// Whether it is run on samples of a suite only, unless asked for by name.
    pub sampled: bool,
    run: fn(&Subject<'_>, &Grader<'_>) -> Finding,
}

/// All trials, in the order they are run.
pub const TRIALS: &[Trial] = &[
    Trial { name: "idle", about: "doing nothing earns 0", sampled: false, run: idle::run },
    Trial { name: "oracle", about: "carrying out the plan earns everything", sampled: false, run: oracle::run },
    Trial {
        name: "alternates",
        about: "other optimal plans earn everything too",
        sampled: false,
        run: alternates::run,
    },
    Trial {
        name: "near-miss",
        about: "a plan that breaks one rule is refused, and that rule is named",
        sampled: false,
        run: near_miss::run,
    },
    Trial {
        name: "worse",
        about: "costlier plans are clean and score strictly between",
        sampled: false,
        run: worse::run,
    },
    Trial {
        name: "frame",
        about: "changing any one unrelated record fails the frame; reading everything does not",
        sampled: false,
        run: frame::run,
    },
    Trial {
        name: "spam",
        about: "random legal calls, and every record touched once, never pass",
        sampled: false,
        run: spam::run,
    },
    Trial {
        name: "clauses",
        about: "rule ids and sentences match one to one; every number in the text is a bound value",
        sampled: false,
        run: clauses::run,
    },
    Trial { name: "leak", about: "no sealed token in anything the agent can see", sampled: false, run: leak::run },
    Trial {
        name: "regenerate",
        about: "same seed, same bytes; grading again is identical",
        sampled: false,
        run: regenerate::run,
    },
    Trial {
        name: "canary",
        about: "a clean state better than the certificate raises an alarm, never a fail",
        sampled: false,
        run: canary::run,
    },
    Trial {
        name: "closed-book",
        about: "the case rebuilt from instruction and reads has the same optimum",
        sampled: false,
        run: closed_book::run,
    },
    Trial {
        name: "second-solver",
        about: "HiGHS proves the same value in every scored phase",
        sampled: false,
        run: second_solver::run,
    },
    Trial {
        name: "dominance",
        about: "over all that an agent could write the optimum is the same",
        sampled: true,
        run: dominance::run,
    },
];

/// Runs one trial.
pub fn run(trial: &Trial, subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    (trial.run)(subject, grader)
}
