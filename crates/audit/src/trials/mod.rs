//! The audit trials, one file each, and the table in which they stand with what each shows and what it needs of a family.

mod ablate;
mod aftermath;
pub(crate) mod alternates;
mod both_sides;
mod bound;
mod canary;
mod cells;
mod clauses;
mod closed_book;
mod dominance;
mod facts;
mod frame;
mod idle;
mod injection;
pub(crate) mod leak;
mod monotone;
pub(crate) mod near_miss;
mod oracle;
mod outsider;
pub(crate) mod reading;
mod recourse;
mod regenerate;
mod second_solver;
mod spam;
pub mod suite;
mod traps;
mod worse;

use crate::{
    Finding, Held, Subject,
    request::{self, RequestSubject},
};
use benchwright_grade::Grader;
use benchwright_project::Capability;

/// A trial of one task.
#[derive(Clone, Copy)]
pub struct Trial {
    /// The name by which `audit --trial` asks for it.
    pub name: &'static str,
    /// What it shows when it passes.
    pub about: &'static str,
    /// Whether it is run on samples of a suite only, unless asked for by name.
    pub sampled: bool,
    /// Whether it costs so much that `audit --depth sample` runs it on tasks that are drawn of every cell.
    pub drawn: bool,
    /// Whether it is about a suite as a whole, once all tasks are audited.
    pub whole: bool,
    /// What it needs a family to offer: one of these. Without any it can be run on every family.
    pub needs: &'static [Capability],
    /// What a family that offers none of them leaves it without.
    pub without: &'static str,
    /// Whether it asks a solver for plans of families that are optimised, though it needs nothing of any.
    solves: bool,
    /// Whether it proves within a limit of work, and may leave a task undecided.
    pub proves: bool,
    run: fn(&Subject<'_>, &Grader<'_>) -> Finding,
    /// The same on a task that was made of a scenario.
    on_request: fn(&RequestSubject<'_>) -> Finding,
}

impl Trial {
    /// Whether it may ask a solver.
    pub fn asks_solver(&self) -> bool {
        self.solves || !self.needs.is_empty()
    }
}

/// A trial of every task of every family.
const EVERY: Trial = Trial {
    name: "",
    about: "",
    sampled: false,
    drawn: false,
    whole: false,
    needs: &[],
    without: "",
    solves: false,
    proves: false,
    run: idle::run,
    on_request: request::idle,
};
/// A trial that holds a certified plan against others.
const OPTIMISED: Trial =
    Trial { needs: &[Capability::Optimised], without: "there is no plan to compare with", ..EVERY };

/// All trials, in the order they are run.
pub const TRIALS: &[Trial] = &[
    Trial { name: "idle", about: "doing nothing earns 0", run: idle::run, on_request: request::idle, ..EVERY },
    Trial {
        name: "oracle",
        about: "carrying out the plan earns everything",
        run: oracle::run,
        on_request: request::oracle,
        ..EVERY
    },
    Trial {
        name: "alternates",
        about: "other optimal plans earn everything too",
        run: alternates::run,
        on_request: request::alternates,
        ..OPTIMISED
    },
    Trial {
        name: "near-miss",
        about: "a plan that breaks one rule is refused, and that rule is named",
        drawn: true,
        needs: &[Capability::Optimised, Capability::Mutator],
        without: "nobody can break one rule at a time",
        run: near_miss::run,
        on_request: request::near_miss,
        ..EVERY
    },
    Trial {
        name: "both-sides",
        about: "on either side of every value, and of every conjunct of every rule and view, the verdict falls",
        run: both_sides::run,
        on_request: request::both_sides,
        drawn: true,
        solves: true,
        ..EVERY
    },
    Trial {
        name: "worse",
        about: "costlier plans are clean and score strictly between",
        run: worse::run,
        on_request: request::worse,
        ..OPTIMISED
    },
    Trial {
        name: "frame",
        about: "changing any one unrelated record fails the frame; reading everything does not",
        run: frame::run,
        on_request: request::frame,
        ..EVERY
    },
    Trial {
        name: "cells",
        about: "any cell of the job's documents changed alone takes pay away, or is declared free",
        run: cells::run,
        on_request: request::cells,
        ..EVERY
    },
    Trial {
        name: "aftermath",
        about: "whatever a tool can still change after the work takes pay away, or is declared harmless",
        run: aftermath::run,
        on_request: request::aftermath,
        ..EVERY
    },
    Trial {
        name: "spam",
        about: "random legal calls, and every record touched once, never pass",
        run: spam::run,
        on_request: request::spam,
        ..EVERY
    },
    Trial {
        name: "injection",
        about: "hostile text in a record is shown, the oracle ignores it, and whoever follows it is told and earns 0",
        run: injection::run,
        on_request: injection::on_request,
        ..EVERY
    },
    Trial {
        name: "monotone",
        about: "the reward never falls along the oracle; a part left out pays less, and done wrongly no more than left out",
        run: monotone::run,
        on_request: request::monotone,
        ..EVERY
    },
    Trial {
        name: "clauses",
        about: "rule ids and sentences match one to one; every number in the text is a bound value",
        run: clauses::run,
        on_request: request::clauses,
        ..EVERY
    },
    Trial {
        name: "leak",
        about: "no sealed token in anything the agent can see",
        run: leak::run,
        on_request: request::leak,
        ..EVERY
    },
    Trial {
        name: "regenerate",
        about: "same seed, same bytes; grading again is identical",
        run: regenerate::run,
        on_request: request::regenerate,
        ..EVERY
    },
    Trial {
        name: "canary",
        about: "a clean state better than the certificate raises an alarm, never a fail",
        run: canary::run,
        on_request: request::canary,
        ..OPTIMISED
    },
    Trial {
        name: "closed-book",
        about: "the case rebuilt from instruction and reads has the same optimum",
        needs: &[Capability::Reader],
        without: "nobody reads its briefs but the agent",
        run: closed_book::run,
        on_request: request::closed_book,
        ..EVERY
    },
    Trial {
        name: "outsider",
        about: "a reader and model that share nothing with the compiler find the same facts and the same optimum",
        run: outsider::run,
        on_request: request::outsider,
        ..OPTIMISED
    },
    Trial {
        name: "ablate",
        about: "no sentence can be deleted or turned without the case being read otherwise",
        needs: &[Capability::Reader],
        without: "nobody reads its briefs but the agent",
        run: ablate::run,
        on_request: request::ablate,
        drawn: true,
        ..EVERY
    },
    Trial {
        name: "second-solver",
        about: "HiGHS proves the same value in every scored phase",
        run: second_solver::run,
        on_request: request::second_solver,
        proves: true,
        ..OPTIMISED
    },
    Trial {
        name: "dominance",
        about: "over all that an agent could write the optimum is the same",
        sampled: true,
        drawn: true,
        run: dominance::run,
        on_request: request::dominance,
        proves: true,
        ..OPTIMISED
    },
    Trial {
        name: "traps",
        about: "whoever does not heed one of the data's traps fails, and rules bind as was sealed",
        run: traps::run,
        on_request: request::not_planned,
        drawn: true,
        proves: true,
        ..OPTIMISED
    },
    Trial {
        name: "bound",
        about: "the bound follows from sealed multipliers in whole numbers, without a solver",
        run: bound::run,
        on_request: request::not_planned,
        ..OPTIMISED
    },
    Trial {
        name: "recourse",
        about: "whatever was planned at earlier stages, there is a plan at the next",
        run: recourse::run,
        on_request: request::not_planned,
        drawn: true,
        ..OPTIMISED
    },
    Trial {
        name: "suite",
        about: "over a whole suite no two tasks are alike, every rule is exercised, and no id tells a seed",
        whole: true,
        run: suite::run,
        on_request: request::suite,
        ..EVERY
    },
];

/// Runs one trial; where the family does not offer what it needs, it is not applicable and says so.
pub fn run(trial: &Trial, subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match subject.offers_none_of(trial.needs, trial.without) {
        Some(why) => Finding::new(Held::Na(why)),
        None => (trial.run)(subject, grader),
    }
}

/// Runs one trial on a task that was made of a scenario; where it does not concern the task, it says so.
pub fn run_on_request(trial: &Trial, subject: &RequestSubject<'_>) -> Finding {
    (trial.on_request)(subject)
}
