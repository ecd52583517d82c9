//! A planner whose questions and answers are reported to the log, so that who writes a workflow sees where a draw's time goes.

use crate::events;
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Candidates, Outcome, Planner, PlannerError, Rows};
use std::time::Instant;

/// Another planner, watched.
pub(super) struct Watched<P>(pub P);

impl<P> Watched<P> {
    fn told<T>(
        &mut self,
        question: &str,
        ask: impl FnOnce(&mut P) -> Result<T, PlannerError>,
        word: impl FnOnce(&T) -> String,
    ) -> Result<T, PlannerError> {
        let begun = Instant::now();
        let answer = ask(&mut self.0);
        let said = answer.as_ref().map_or_else(ToString::to_string, word);
        events::asked(question, &said, begun.elapsed());
        answer
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Solved(solved) => {
            let phase = |phase: &benchwright_spec::PhaseResult| {
                format!("{} of {}, work {}", phase.value, phase.bound, phase.work)
            };
            let phases: Vec<String> = solved.phases.iter().map(phase).collect();
            format!("{}; {} variables", phases.join("; "), solved.variables)
        }
        other => format!("{other:?}").to_lowercase(),
    }
}

impl<P: Planner> Planner for Watched<P> {
    fn solve(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        self.told("solve", |planner| planner.solve(plan, bound, candidates, objective), outcome)
    }

    fn best(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        self.told("best", |planner| planner.best(plan, bound, candidates, objective), outcome)
    }

    fn some_plan(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
        than: Option<i64>,
    ) -> Result<Option<Rows>, PlannerError> {
        let question = than.map_or_else(|| "some plan".to_owned(), |than| format!("some plan better than {than}"));
        let word = |rows: &Option<Rows>| if rows.is_some() { "one" } else { "none" }.to_owned();
        self.told(&question, |planner| planner.some_plan(plan, bound, candidates, objective, than), word)
    }

    fn thrown_away(&mut self, attempt: u32, cause: &str) {
        events::thrown_away(attempt, cause);
    }
}
