//! A task ready to be attacked: loaded, with its world, its family, its rules compiled and its certified plan, which is
//! what every audit trial is handed.

use benchwright_catalog::{Catalog, CatalogError};
use benchwright_grade::{FULL, GradeError, Grader, quality};
use benchwright_pack::{BoundKeys, Ending, NativeCheck, Script, Snapshot, Task, Verdict};
use benchwright_project::{Breadth, Capability, Case, Family, FamilyError, Pattern, plan_text};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{
    Domain,
    plan::{Bound, Plan, PlanText},
};
use benchwright_solve::{Engine, Lower, Lowering};
use benchwright_spec::{Candidates, NamedRows, Rows};
use benchwright_world::{ReplayError, WorldError, replay};
use std::sync::Arc;

/// Why a task could not be put on the bench.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// Its domain, pattern or family is not there.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Its verifier cannot be read.
    #[error(transparent)]
    Grade(#[from] GradeError),
    /// Its world cannot be begun.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Something in it does not fit.
    #[error("{0}")]
    Misfit(String),
}

/// Who is asked for plans, and for a second opinion on them.
#[derive(Clone, Copy)]
pub struct Solvers<'a> {
    /// The one that makes tasks.
    pub first: &'a dyn Engine,
    /// Another one, with another algorithm.
    pub second: &'a dyn Engine,
}

/// A task on the bench.
pub struct Subject<'a> {
    /// The task under attack, open and sealed.
    pub task: &'a Task,
    /// The pattern it was made from.
    pub pattern: Pattern,
    /// The family that made it.
    pub family: &'static dyn Family,
    /// The domain of its world.
    pub domain: Arc<Domain>,
    /// Its world, in which episodes can be begun.
    pub sandbox: Arc<Sandbox>,
    /// The records before any call.
    pub first: Snapshot,
    /// The case that was drawn, as the sealed part has it.
    pub case: Case,
    /// The rules that apply, as written.
    pub text: PlanText,
    /// The same rules, compiled against the domain.
    pub plan: Plan,
    /// The members, sets and facts of the task.
    pub bound: Bound,
    /// The certified plan, in numbers.
    pub optimum: Rows,
    /// The same in words.
    pub named: NamedRows,
    /// The solvers, where some are at hand: a family without an optimiser needs none.
    pub solvers: Option<Solvers<'a>>,
    /// Makes the task again from its pattern and seed, somewhere else.
    pub remake: &'a dyn Fn() -> Result<Task, NotRemade>,
}

/// Why a task could not be made again, in the words of whoever tried.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotRemade(pub String);

impl From<String> for NotRemade {
    fn from(why: String) -> NotRemade {
        NotRemade(why)
    }
}

/// Why there is no verdict on a plan.
#[derive(Debug, thiserror::Error)]
pub enum CarryOutError {
    /// The family makes no calls of it.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// The world refuses a call.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// What it leaves cannot be judged.
    #[error(transparent)]
    Grade(#[from] GradeError),
}

impl<'a> Subject<'a> {
    /// Puts a task on the bench.
    pub fn new(
        task: &'a Task,
        catalog: &Catalog,
        solvers: Option<Solvers<'a>>,
        remake: &'a dyn Fn() -> Result<Task, NotRemade>,
    ) -> Result<Subject<'a>, SubjectError> {
        let family = catalog.family(&task.sealed.family, &task.open.domain)?;
        Subject::of_family(task, catalog, family, solvers, remake)
    }

    /// Puts a task on the bench that another family than the catalogue's has made.
    pub fn of_family(
        task: &'a Task,
        catalog: &Catalog,
        family: &'static dyn Family,
        solvers: Option<Solvers<'a>>,
        remake: &'a dyn Fn() -> Result<Task, NotRemade>,
    ) -> Result<Subject<'a>, SubjectError> {
        let sealed = &task.sealed;
        let pattern = catalog.pattern(&sealed.pattern)?;
        let found = catalog.find(&task.open.domain)?;
        let sandbox = catalog.world_of_snapshot(&task.world)?;
        let misfit = |why: String| SubjectError::Misfit(why);
        let first = Snapshot::from_bytes(&task.world, &found.domain).map_err(|error| misfit(error.to_string()))?;
        let case =
            Case { objective: sealed.objective.clone(), switches: sealed.switches.clone(), data: sealed.case.clone() };
        let text = plan_text(family, &pattern, &case.switches);
        let plan = Plan::compile(&text, &found.domain).map_err(|faults| misfit(faults.to_string()))?;
        let bindings = family.bindings(&case).map_err(|error| misfit(error.to_string()))?;
        let bound = Bound::new(&plan, &bindings).map_err(|faults| misfit(faults.to_string()))?;
        let named: NamedRows =
            serde_json::from_value(sealed.certificate.plan.clone()).map_err(|error| misfit(error.to_string()))?;
        let optimum = named
            .rows(&plan, &bound)
            .ok_or_else(|| misfit("the certified plan names what the case does not have".to_owned()))?;
        Ok(Subject {
            task,
            pattern,
            family,
            domain: found.domain,
            sandbox,
            first,
            case,
            text,
            plan,
            bound,
            optimum,
            named,
            solvers,
            remake,
        })
    }

    /// Why a trial that needs one of some capabilities cannot be run on this family, with what it would have needed them for.
    pub(crate) fn offers_none_of(&self, needed: &[Capability], for_what: &str) -> Option<String> {
        if needed.is_empty() || needed.iter().any(|capability| capability.is_offered(self.family)) {
            return None;
        }
        let missing: Vec<String> = needed.iter().map(|capability| format!("no {capability}")).collect();
        Some(format!("the family `{}` offers {}: {for_what}", self.task.sealed.family, missing.join(" and ")))
    }

    /// In how many stages the task is planned.
    pub(crate) fn stages(&self) -> i64 {
        self.family.optimised().map_or(1, |optimised| optimised.stages(&self.case))
    }

    /// The candidate rows of this task's case. Of a task with stages they are those of the last one, with what the certified plan handed
    /// in before it; near that plan they are those of all stages.
    pub(crate) fn candidates(&self, breadth: Breadth<'_>) -> Result<Candidates, String> {
        let optimised = self.family.optimised().ok_or("the family offers no optimiser")?;
        let last = self.stages();
        if last > 1 && !matches!(breadth, Breadth::Local(_)) {
            let of_last = optimised.stage(&self.case, &self.plan, &self.bound, last, &self.optimum, breadth)?;
            return Ok(of_last.1);
        }
        Ok(optimised.candidates(&self.case, &self.plan, &self.bound, breadth)?)
    }

    /// How this task's rules become constraints: as they did when it was solved.
    pub(crate) fn lowering(&self) -> Lowering {
        let admits = self.family.optimised().and_then(|optimised| optimised.admits(&self.task.sealed.tier));
        if admits.is_some() { Lowering::Shared } else { Lowering::Plain }
    }

    /// Whether the worth of a plan is told by anchors.
    pub(crate) fn is_anchored(&self) -> bool {
        self.task.sealed.verifier.anchors.is_some()
    }

    /// The bound of a phase whose certified value is not proved to be the best.
    pub(crate) fn bound_of_unproved(&self, phase: &str) -> Option<i64> {
        let phases = self.task.sealed.certificate.phases.as_array()?;
        let phase = phases.iter().find(|known| known["name"] == phase)?;
        (phase["proved"] == false).then(|| phase["bound"].as_i64())?
    }

    /// How much is given to linear relaxations where any plan will do. Those of tasks with anchors are large, and without a goal they hold a
    /// search up: with little given to them, more instances of rules are broken alone, in half the time.
    pub(crate) fn linearization_of_any(&self) -> u8 {
        if self.is_anchored() { 1 } else { 2 }
    }

    /// The rules over candidates, for a solver.
    pub(crate) fn lower(&self, candidates: &Candidates) -> Lower<'_> {
        Lower::in_way(self.lowering(), &self.plan, &self.bound, candidates)
    }

    /// A model of all plans of candidates: every rule is required.
    pub(crate) fn required(&self, breadth: Breadth<'_>) -> Result<Lower<'_>, String> {
        let mut lower = self.lower(&self.candidates(breadth)?);
        for instance in lower.all_instances().map_err(|error| error.to_string())? {
            lower.require(&instance.holds);
        }
        Ok(lower)
    }

    /// What the certified plan earns: everything, but where its value is not proved.
    pub(crate) fn worth(&self) -> i64 {
        let verifier = &self.task.sealed.verifier;
        match (&verifier.anchors, verifier.best.first()) {
            (Some(anchors), Some(best)) => quality(*best, anchors),
            _ => FULL,
        }
    }

    /// Whether a verdict has fallen from that of the oracle. Where quality is told by anchors, a plan that is worth less has fallen,
    /// though it may pass; and another plan of the same value is none that could. Nor is a better one, where stages were planned without
    /// knowing the next: that breaks no rule, and the bound of hindsight holds.
    pub(crate) fn fell(&self, verdict: &Verdict) -> bool {
        let better = |value: i64, best: i64| {
            let sign = self.task.sealed.verifier.anchors.and_then(|anchors| anchors.sign()).unwrap_or(1);
            value * sign < best * sign && !verdict.alarm && self.stages() > 1
        };
        let same = || {
            let phase = verdict.phases.first().and_then(|phase| Some((phase.value?, phase.best)));
            phase.is_some_and(|(value, best)| value == best || better(value, best))
        };
        match &self.task.sealed.verifier.anchors {
            None => verdict.ending != Ending::Pass && verdict.reward < FULL,
            Some(_) => verdict.reward < self.worth() || (verdict.failed().is_empty() && same()),
        }
    }

    /// Why nothing can be told from what falls, where the oracle itself has fallen.
    pub(crate) fn must_stand(&self, verdict: &Verdict) -> Result<(), String> {
        match verdict.ending != Ending::Pass || verdict.reward < self.worth() {
            true => Err("the oracle earns less than everything, so that nothing can fall".to_owned()),
            false => Ok(()),
        }
    }

    /// The solver.
    pub(crate) fn solver(&self) -> Result<&'a dyn Engine, String> {
        self.solvers.map(|solvers| solvers.first).ok_or_else(|| "no solver is at hand".to_owned())
    }

    /// The second opinion.
    pub(crate) fn second(&self) -> Result<&'a dyn Engine, String> {
        self.solvers.map(|solvers| solvers.second).ok_or_else(|| "no second solver is at hand".to_owned())
    }

    /// A judge of this task's terminal states.
    pub fn grader(&self) -> Result<Grader<'_>, GradeError> {
        let natives: &'static [(&'static str, NativeCheck)] = self.family.natives();
        Grader::new(&self.domain, &self.task.sealed.verifier, &self.first, natives)
    }

    /// An episode at the first state, in the agent's seat.
    pub fn begin(&self) -> Result<Episode, WorldError> {
        self.sandbox.begin(&self.sandbox.seat_of(&self.task.open), Conditions::default())
    }

    /// The keys of the first state's rows, for scripts.
    pub fn bound_keys(&self) -> BoundKeys {
        let keys = &self.task.sealed.verifier.keys;
        BoundKeys::new(keys.values().flatten().map(|(id, key)| (key.clone(), *id)))
    }

    /// The state that a script leaves, from the first state.
    pub fn play(&self, script: &Script) -> Result<Snapshot, ReplayError> {
        let mut episode = self.begin().map_err(|error| ReplayError::Answer { at: 0, why: error.to_string() })?;
        replay(script, &mut self.bound_keys(), &mut episode)?;
        Ok(episode.snapshot())
    }

    /// An episode in which the oracle has done its work.
    pub(crate) fn done(&self) -> Result<Episode, String> {
        let mut episode = self.begin().map_err(|error| error.to_string())?;
        replay(&self.task.sealed.oracle, &mut self.bound_keys(), &mut episode).map_err(|error| error.to_string())?;
        Ok(episode)
    }

    /// The verdict on what a plan leaves when it is carried out.
    pub fn carry_out(&self, grader: &Grader<'_>, rows: &Rows) -> Result<Verdict, CarryOutError> {
        self.carried_out(grader, rows).map(|(_, verdict)| verdict)
    }

    /// The same, with the calls that were made.
    pub(crate) fn carried_out(&self, grader: &Grader<'_>, rows: &Rows) -> Result<(Script, Verdict), CarryOutError> {
        let named = NamedRows::of(rows, &self.plan, &self.bound);
        let script = self.family.script(&self.case, &named)?;
        let state = self.play(&script)?;
        let verdict = grader.grade(&state)?;
        Ok((script, verdict))
    }
}
