//! What a planner was asked and what it answered, kept so that nobody has to prove it again. An answer is known by the digest of the
//! question: the rules as they are read, what they are bound to, the candidates and the objective. A plan that was kept is judged by the
//! evaluator before it is given, so a file that was tampered with gives no plan that breaks a rule or is worth something else.

use benchwright_base::Digest;
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Candidates, Outcome, PhaseResult, Planner, PlannerError, Rows, Solved};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a planner said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Said {
    /// A plan as good as was asked for.
    Solved {
        /// Its rows by view.
        rows: Vec<Vec<Vec<i64>>>,
        /// What each phase came to.
        phases: Vec<PhaseResult>,
        /// The number of variables of the model.
        variables: usize,
        /// The number of its constraints.
        constraints: usize,
    },
    /// There is none.
    Infeasible,
    /// The work ran out.
    Unproved,
    /// Some plan, of which nothing is claimed.
    Plan(Vec<Vec<Vec<i64>>>),
    /// None was found.
    NoPlan,
    /// Several said what cannot all be true.
    Contradicted(String),
}

/// Answers by the digest of their question.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The solver's name and version, and the digest of its library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<(String, String)>,
    /// What it said.
    pub said: BTreeMap<String, Said>,
}

/// How the line begins that says who answered.
const BY: &str = "by";

/// Answers that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct NotAnswers {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl Answers {
    /// Reads a file of one answer a line: the digest, a space, the answer as JSON. The first line says by whom.
    pub fn read(text: &str) -> Result<Answers, NotAnswers> {
        let mut answers = Answers::default();
        for (line, text) in (1..).zip(text.lines()) {
            let fault = |why: &str| NotAnswers { line, why: why.to_owned() };
            let (asked, said) = text.split_once(' ').ok_or_else(|| fault("this is not a digest and an answer"))?;
            let odd = |error: serde_json::Error| fault(&error.to_string());
            if asked == BY {
                answers.by = Some(serde_json::from_str(said).map_err(odd)?);
                continue;
            }
            answers.said.insert(asked.to_owned(), serde_json::from_str(said).map_err(odd)?);
        }
        Ok(answers)
    }

    /// The same as a file.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        let mut text = String::new();
        if let Some(by) = &self.by {
            text.push_str(&format!("{BY} {}\n", serde_json::to_string(by)?));
        }
        for (asked, said) in &self.said {
            text.push_str(asked);
            text.push(' ');
            text.push_str(&serde_json::to_string(said)?);
            text.push('\n');
        }
        Ok(text)
    }
}

/// A planner that looks among answers first, and keeps what it had to ask.
pub struct Keeper<'a> {
    /// Answers that are known.
    pub known: &'a Answers,
    /// Those that were given, whether they were known or not.
    pub given: Answers,
    /// Who is asked for the others.
    pub planner: Option<Box<dyn Planner + 'a>>,
    /// How that one is asked, in words: an answer holds for this way of asking.
    pub way: String,
}

impl Keeper<'_> {
    fn digest(&self, what: &str, plan: &Plan, bound: &Bound, candidates: &Candidates, objective: &str) -> String {
        use std::fmt::Write as _;
        let mut asked = format!("{what}\n{}\n", self.way);
        for rule in plan.rules.iter().filter(|rule| rule.lowered) {
            let _ = writeln!(asked, "{:?} {:?}", rule.per, rule.body);
        }
        for phase in plan.objectives.get(objective).into_iter().flatten() {
            let _ = writeln!(asked, "{} {:?}", phase.text.sign(), phase.of);
        }
        let views: Vec<_> = plan.views.iter().map(|view| (&view.name, &view.key)).collect();
        let _ = write!(asked, "{views:?}\n{bound:?}\n{candidates:?}\n");
        Digest::of(asked.as_bytes()).to_string()
    }

    /// The answer to a question, known or asked for now.
    fn answer(
        &mut self,
        asked: String,
        ask: impl FnOnce(&mut dyn Planner) -> Result<Said, PlannerError>,
    ) -> Result<Said, PlannerError> {
        // What was asked a moment ago, as where a limit is tried and taken back, is not asked again.
        let known = self.known.said.get(&asked).or_else(|| self.given.said.get(&asked));
        let said = match (known, &mut self.planner) {
            (Some(said), _) => said.clone(),
            (None, Some(planner)) => match ask(&mut **planner) {
                Err(PlannerError::Contradiction(why)) => Said::Contradicted(why),
                answered => answered?,
            },
            (None, None) => {
                let why = "nothing is kept that answers this, and there is no solver to ask; get it with `bash scripts/solver fetch`";
                return Err(PlannerError::Engine(why.to_owned()));
            }
        };
        self.given.said.insert(asked, said.clone());
        match said {
            Said::Contradicted(why) => Err(PlannerError::Contradiction(why)),
            said => Ok(said),
        }
    }
}

fn outcome(said: Said, plan: &Plan, bound: &Bound, objective: &str) -> Result<Outcome, PlannerError> {
    Ok(match said {
        Said::Solved { rows, phases, variables, constraints } => {
            let rows = Rows(rows);
            if rows.worth(plan, bound, objective) != phases.first().map(|phase| phase.value) {
                return Err(PlannerError::Engine("a plan that was kept is not worth what was kept of it".to_owned()));
            }
            Outcome::Solved(Box::new(Solved { rows, phases, variables, constraints }))
        }
        Said::Infeasible => Outcome::Infeasible,
        Said::Unproved | Said::Plan(_) | Said::NoPlan | Said::Contradicted(_) => Outcome::Unproved,
    })
}

fn said(outcome: Outcome) -> Said {
    match outcome {
        Outcome::Solved(solved) => {
            let Solved { rows, phases, variables, constraints } = *solved;
            Said::Solved { rows: rows.0, phases, variables, constraints }
        }
        Outcome::Infeasible => Said::Infeasible,
        Outcome::Unproved => Said::Unproved,
    }
}

impl Planner for Keeper<'_> {
    fn solve(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        let asked = self.digest("solve", plan, bound, candidates, objective);
        let found = self.answer(asked, |planner| Ok(said(planner.solve(plan, bound, candidates, objective)?)))?;
        outcome(found, plan, bound, objective)
    }

    fn best(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
    ) -> Result<Outcome, PlannerError> {
        let asked = self.digest("best", plan, bound, candidates, objective);
        let found = self.answer(asked, |planner| Ok(said(planner.best(plan, bound, candidates, objective)?)))?;
        outcome(found, plan, bound, objective)
    }

    fn some_plan(
        &mut self,
        plan: &Plan,
        bound: &Bound,
        candidates: &Candidates,
        objective: &str,
        than: Option<i64>,
    ) -> Result<Option<Rows>, PlannerError> {
        let asked = self.digest(&format!("some {than:?}"), plan, bound, candidates, objective);
        let found = self.answer(asked, |planner| {
            let found = planner.some_plan(plan, bound, candidates, objective, than)?;
            Ok(found.map_or(Said::NoPlan, |rows| Said::Plan(rows.0)))
        })?;
        let Said::Plan(rows) = found else { return Ok(None) };
        let rows = Rows(rows);
        if rows.worth(plan, bound, objective).is_none() {
            return Err(PlannerError::Engine("a plan that was kept breaks a rule".to_owned()));
        }
        Ok(Some(rows))
    }
}
