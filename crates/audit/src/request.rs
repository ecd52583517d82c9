//! A request ready to be attacked: a task that was made of a scenario, with its world, its seat, its judge and, where it cannot be
//! carried out, the same draw as it can be. The trials of requests stand in the files beneath; the table of trials names them.

mod aftermath;
mod alternates;
mod answers;
mod blocked;
mod cells;
mod closed_book;
mod done;
mod leak;
mod near_miss;
mod plain;
mod prefixes;
mod prose;
mod second;
mod spam;
mod state;
mod told;
mod ways;
mod words;

pub(crate) use aftermath::run as aftermath;
pub(crate) use alternates::run as alternates;
pub(crate) use blocked::{canary, dominance, not_planned};
pub(crate) use cells::{both_sides, cells, frame};
pub(crate) use closed_book::run as closed_book;
pub(crate) use leak::run as leak;
pub(crate) use near_miss::run as near_miss;
pub(crate) use plain::{idle, oracle, outsider, regenerate, suite};
pub(crate) use prefixes::{monotone, worse};
pub(crate) use second::run as second_solver;
pub(crate) use spam::run as spam;
pub(crate) use told::{ablate, clauses};
pub(crate) use ways::{right_ways, wrong_ways};

use crate::{Finding, Held, NotRemade, SubjectError};
use benchwright_catalog::Catalog;
use benchwright_derive::{Derived, NoBase, derive};
use benchwright_grade::{EffectsError, EffectsGrader};
use benchwright_pack::{Script, Snapshot, Task, Verdict, effects::Effects};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_spec::scenario::{Blocked, Scenario};
use benchwright_world::{ReplayError, Seat, seen};
use done::Done;
use std::sync::Arc;

/// The same draw as it can be carried out, or why that cannot be made.
type Twin = Result<Box<Derived>, String>;

/// A task that was made of a scenario, on the bench.
pub struct RequestSubject<'a> {
    /// The task under attack, open and sealed.
    pub task: &'a Task,
    /// The scenario it was made of.
    pub scenario: Scenario,
    /// The domain of its world.
    pub domain: Arc<Domain>,
    /// Its world, in which episodes can be begun.
    pub sandbox: Arc<Sandbox>,
    /// Who acts.
    pub seat: Seat,
    /// What judges its outcome.
    pub effects: &'a Effects,
    /// The same, made ready.
    pub grader: EffectsGrader,
    /// The records before any call.
    pub first: Snapshot,
    /// Where it cannot be carried out: the same draw as it can be, or why that cannot be made.
    twin: Option<Twin>,
    catalog: &'a Catalog,
    /// Makes the task again from its scenario and seed, somewhere else.
    pub remake: &'a dyn Fn() -> Result<Task, NotRemade>,
}

impl<'a> RequestSubject<'a> {
    /// Puts a task on the bench.
    pub fn new(
        task: &'a Task,
        catalog: &'a Catalog,
        remake: &'a dyn Fn() -> Result<Task, NotRemade>,
    ) -> Result<RequestSubject<'a>, SubjectError> {
        let sealed = &task.sealed;
        let misfit = |why: String| SubjectError::Misfit(why);
        let effects = sealed.effects.as_ref().ok_or_else(|| misfit("the task is judged by no effects".to_owned()))?;
        let scenario = catalog.scenario(&sealed.pattern)?.0.at(&sealed.tier).into_owned();
        let sandbox = catalog.world_of_snapshot(&task.world)?;
        let seat = sandbox.seat_of(&task.open);
        let grader = EffectsGrader::new(Arc::clone(&sandbox), effects, &seat).map_err(|why| misfit(why.to_string()))?;
        let twin = effects.refusal.as_ref().map(|_| {
            let base = |seed: u64| {
                catalog
                    .base(&scenario.domain, benchwright_derive::SIZE, seed)
                    .map_err(|error| NoBase(error.to_string()))
            };
            let seed = sealed.split.seed(sealed.seed);
            let made = derive(&sealed.pattern, &scenario, &sealed.tier, seed, sealed.attempt, &base);
            made.map(Box::new).map_err(|why| format!("the same draw cannot be made such that it can be done: {why}"))
        });
        let first = sandbox.first_snapshot();
        let domain = Arc::clone(sandbox.domain());
        Ok(RequestSubject { task, scenario, domain, sandbox, seat, effects, grader, first, twin, catalog, remake })
    }

    /// Whether it is said that it cannot be carried out.
    pub(crate) fn is_blocked(&self) -> bool {
        self.effects.refusal.is_some()
    }

    /// The variant of the scenario that it is.
    pub(crate) fn variant(&self) -> Option<&Blocked> {
        self.scenario.variant(&self.task.sealed.objective)
    }

    /// The same draw as it can be carried out.
    pub(crate) fn twin(&self) -> Result<&Derived, String> {
        match &self.twin {
            Some(Ok(twin)) => Ok(twin),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it has no twin".to_owned()),
        }
    }

    /// Whether the agent is offered a tool.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.task.open.tools.is_empty() || self.task.open.tools.iter().any(|known| known == tool)
    }

    /// The request alone, as it stands at the end of the instruction.
    pub(crate) fn request(&self) -> &str {
        let text = self.task.instruction.rsplit_once("## Request\n\n").map_or("", |(_, request)| request);
        text.split_once("\n\nAnswer with `submit_answer`").map_or(text, |(request, _)| request).trim()
    }

    /// An episode at the first state, in the agent's seat.
    pub(crate) fn begin(&self) -> Result<Episode, String> {
        self.sandbox.begin(&self.seat, Conditions::default()).map_err(|error| error.to_string())
    }

    /// Plays a script with nothing but what it reads, as far as it goes.
    pub(crate) fn play(&self, script: &Script) -> Result<(Episode, Result<(), ReplayError>), String> {
        let mut episode = self.begin()?;
        let ended = seen::play(script, &mut episode).map(drop);
        Ok((episode, ended))
    }

    /// The verdict on an episode.
    pub(crate) fn judged(&self, episode: &Episode) -> Result<Verdict, String> {
        self.grader.grade_live(episode).map_err(|error| error.to_string())
    }

    /// The verdict on a state; nothing if no world can be in it.
    pub(crate) fn graded(&self, state: &Snapshot) -> Result<Option<Verdict>, String> {
        match self.grader.grade(state) {
            Ok(verdict) => Ok(Some(verdict)),
            Err(EffectsError::State(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// What the script leaves, with what each of its steps did.
    pub(crate) fn done(&self) -> Result<Done, String> {
        Done::of(self, &self.task.sealed.oracle)
    }
}

/// A finding, or that there is none.
fn finding(found: Result<Finding, String>) -> Finding {
    found.unwrap_or_else(|why| Finding::new(Held::NoVerdict(why)))
}

/// A trial that does not concern a task.
fn na(why: &str) -> Finding {
    Finding::new(Held::Na(why.to_owned()))
}
