//! Judges a terminal state. A sealed verifier (rules, facts, certified values) and the records that an agent left go in;
//! out comes a verdict with a line per check and one reward. The records are read as rows of the views that rules speak of,
//! every rule is evaluated over them, what nobody was asked to change is held to be as it was, and objectives are scored by
//! how far they are from the best.
//!
//! There are two judges. A [`Grader`] judges a plan by its rules and objective; an [`EffectsGrader`] judges what was done for a request by
//! its effects: which cells must differ and how, and that nothing else does.
//!
//! Neither knows solver nor sampler, and one of them judges any number of states of its task. What cannot be judged
//! is no verdict, never a pass: a verifier of another version, an objective that is not there, a state that began at another
//! first state are errors that say so, before anything is scored.
//!
//! ```
//! use benchwright_grade::{FULL, score};
//!
//! // A cost of 2,780.00 dollars where 2,764.00 are possible, with a decay of 5: exp(-5 * 16 / 2764), in millionths.
//! assert_eq!(score(278_000, 276_400, 5, 100), 971_471);
//! assert_eq!(score(276_400, 276_400, 5, 100), FULL);
//! ```

mod effects;
mod frame;
mod injection;
mod judge;
mod parts;
mod read;
mod records;
mod reward;
mod score;
mod words;

pub use effects::{EffectsError, EffectsGrader};
pub use injection::{Forbidden, INJECTION, InjectionError};
pub use judge::{Judge as TaskJudge, JudgeError};
use records::Documents;
pub use records::SnapshotRecords;
pub use score::{FULL, quality, score};
pub use words::{InWords, RowsInWords};

use benchwright_base::{Digest, Value};
use benchwright_expr::{Binder, Expr, Source, Type, eval::Judge, specialise};
use benchwright_pack::{
    Anchors, Check, CheckStatus, Instance, NativeCheck, PhaseScore, ScoringError, Snapshot, Verdict, Verifier,
};
use benchwright_schema::{
    Domain,
    plan::{Body, Bound, Phase, Plan, PlanFaults, PlanRule, ViewRows},
};

use benchwright_world::Terminal;
use std::sync::Arc;

/// The gate that is shut while nothing was done.
pub const ACTIVITY: &str = "activity";

/// Why nothing could be judged.
#[derive(Debug, thiserror::Error)]
pub enum GradeError {
    /// The verifier does not fit the domain.
    #[error("the verifier cannot be read: {0}")]
    Verifier(#[from] PlanFaults),
    /// The verifier was written for another judge.
    #[error("the verifier is of version {0}; this judge reads version {reads}", reads = Verifier::VERSION)]
    Version(u32),
    /// The verifier's scoring is not one.
    #[error("the verifier's scoring cannot be judged by: {0}")]
    Scoring(#[from] ScoringError),
    /// No rule is of the family that counts as traceability, which would then be whole whatever was done.
    #[error("no rule of the verifier is of the family `{0}`, which counts as traceability")]
    TraceFamily(String),
    /// The objective is not among the plan's.
    #[error("the verifier has no objective `{objective}`; it has: {known}")]
    Objective {
        /// The one that the task asks for.
        objective: String,
        /// Those that the plan has.
        known: String,
    },
    /// A phase is to be large, and scores here fall as a value grows.
    #[error("the phase `{0}` is to be large, which this judge cannot score")]
    Large(String),
    /// A quality by anchors is the whole reward, and is of one quantity that goes the same way as they do.
    #[error(
        "a plan cannot be judged by the anchors {}, {} and {}: they rise or fall as its one phase does, and are the whole reward",
        .0.full, .0.half, .0.none
    )]
    Anchors(Anchors),
    /// There are more or fewer certified values than phases of the objective.
    #[error("the objective `{objective}` has {phases} phases, and {certified} values are certified")]
    Best {
        /// The objective.
        objective: String,
        /// How many phases it has.
        phases: usize,
        /// How many values there are.
        certified: usize,
    },
    /// A gate names no rule, so it could never fire.
    #[error("the gate `{0}` is no rule of the verifier")]
    Gate(String),
    /// A part is counted by rows of the one plan, which the verifier does not have.
    #[error("the part `{part}` counts rows of `{view}` against the one plan, and the verifier has no such rows of it")]
    Answer {
        /// The part.
        part: String,
        /// The view.
        view: String,
    },
    /// A state is of another domain.
    #[error("the state is of the domain {0}, which is not the task's")]
    OtherDomain(String),
    /// The verifier does not say which first state it is of.
    #[error("the verifier names no first state: `{0}` is no digest")]
    World(String),
    /// A state came from another first state.
    #[error("the state is of another task: it began at the first state {began}, and the task's is {task}")]
    OtherTask {
        /// The first state that it came from.
        began: Digest,
        /// The first state of the task.
        task: Digest,
    },
    /// A state that names no first state is not the task's own either.
    #[error(
        "the state names no first state and is not the task's own: it is the first state of another task, or was written \
         before states named where they began"
    )]
    NoOrigin,
}

/// A verifier made ready to judge many states.
pub struct Grader<'a> {
    domain: &'a Domain,
    verifier: &'a Verifier,
    first: &'a Snapshot,
    natives: &'a [(&'static str, NativeCheck)],
    plan: Plan,
    bound: Bound,
    members: read::Members,
    /// The conditions of the views, as tests and what is left of them.
    only: Vec<read::Only>,
    frame: frame::Frame,
    rules: Vec<Ready>,
    parts: parts::Parts,
    /// What was whole before anything was done.
    before: parts::Tally,
    /// The digest of the first state, as the verifier has it.
    origin: Digest,
}

/// The instances of a rule where no record decides which there are.
type Ready = Option<Vec<ReadyInstance>>;

/// An instance of a rule with constants folded in: whatever no record decides (members, facts) is evaluated once, here.
struct ReadyInstance {
    of: Arc<Instance>,
    at: Vec<Value>,
    body: Option<Expr>,
    applies: Option<Expr>,
}

impl<'a> Grader<'a> {
    /// Makes a verifier ready. `first` is the first state of the task's world.
    pub fn new(
        domain: &'a Domain,
        verifier: &'a Verifier,
        first: &'a Snapshot,
        natives: &'a [(&'static str, NativeCheck)],
    ) -> Result<Grader<'a>, GradeError> {
        if verifier.version != Verifier::VERSION {
            return Err(GradeError::Version(verifier.version));
        }
        if first.domain != domain.name {
            return Err(GradeError::OtherDomain(first.domain.clone()));
        }
        let origin = Digest::parse(&verifier.world).ok_or_else(|| GradeError::World(verifier.world.clone()))?;
        let plan = Plan::compile(&verifier.plan, domain)?;
        check_scoring(verifier, &plan)?;
        let bound = Bound::new(&plan, &verifier.bindings)?;
        let members = read::members(domain, &plan, &bound, &verifier.keys);
        let only = plan.views.iter().map(read::Only::of).collect();
        let job = frame::Job { plan: &plan, bound: &bound, members: &members };
        let frame = frame::Frame::new(domain, &job, &verifier.keys);
        let rules = plan.rules.iter().map(|rule| ready(&plan, &bound, rule)).collect();
        let parts = parts::Parts::new(&plan, &bound, &verifier.answer)?;
        let before = parts.begin(&ViewRows::empty(&plan));
        let mut grader = Grader {
            domain,
            verifier,
            first,
            natives,
            plan,
            bound,
            members,
            only,
            frame,
            rules,
            parts,
            before,
            origin,
        };
        grader.before = grader.counted_first();
        Ok(grader)
    }

    /// The plan that is judged by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The members, sets and facts of the task.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The rows of every view in a state.
    pub fn rows(&self, state: &Snapshot) -> ViewRows {
        self.views(&Documents { first: self.first, last: state })
    }

    /// Judges a terminal state.
    pub fn grade(&self, last: &Snapshot) -> Result<Verdict, GradeError> {
        // Where nothing was done the state is the first one, which names no other.
        let is_first = || Digest::of(&last.to_bytes(self.domain)) == self.origin;
        if last.domain == self.domain.name && last.first.is_none() && !is_first() {
            return Err(GradeError::NoOrigin);
        }
        self.judged(&Documents { first: self.first, last })
    }

    /// Judges a terminal state where it is kept.
    pub fn grade_live<'s>(&self, last: &impl Terminal<'s>) -> Result<Verdict, GradeError> {
        if last.first().is_none() {
            return Err(GradeError::NoOrigin);
        }
        self.judged(last)
    }

    fn judged<'s>(&self, last: &impl Terminal<'s>) -> Result<Verdict, GradeError> {
        if last.domain() != self.domain.name {
            return Err(GradeError::OtherDomain(last.domain().to_owned()));
        }
        if let Some(began) = last.first().filter(|began| *began != self.origin) {
            return Err(GradeError::OtherTask { began, task: self.origin });
        }
        let rows = self.views(last);
        let job = frame::Job { plan: &self.plan, bound: &self.bound, members: &self.members };
        let frame = self.frame.judge(self.domain, &job, self.first, last);
        let mut judge = Judge::new(&rows, last.now());
        judge.facts = &self.bound;

        let (checks, tally) = self.checks(&judge, &rows, &frame);
        let mut gates = Vec::new();
        if !frame.worked {
            gates.push(ACTIVITY.to_owned());
        }
        // What nobody was asked to change is no share of anything: to break it takes everything.
        gates.extend(frame.rules().into_iter().map(str::to_owned));
        for gate in self.verifier.gates.iter().filter(|gate| !frame.rules().contains(&***gate)) {
            if checks.iter().any(|check| check.status == CheckStatus::Fail && check.rule == *gate) {
                gates.push(gate.clone());
            }
        }
        let phases = phases(&self.plan, &self.verifier.objective)?;
        let anchors = self.verifier.anchors.as_ref();
        let scores = scores(phases, &self.verifier.best, anchors, &judge);
        let framed = self.plan.rules.iter().filter(|rule| matches!(rule.body, Body::Frame));
        let framed: Vec<&str> = framed.map(|rule| &*rule.id).collect();
        let parts = self.parts.scores(&self.before, &tally);
        let worth = reward::Worth { phases, scores, anchors };
        Ok(reward::verdict(checks, &framed, gates, worth, parts, &self.verifier.scoring))
    }

    /// What is whole in the first state.
    fn counted_first(&self) -> parts::Tally {
        let rows = self.rows(self.first);
        let mut judge = Judge::new(&rows, self.first.now);
        judge.facts = &self.bound;
        self.checks(&judge, &rows, &frame::Framed::default()).1
    }

    /// Every check of a state, and what they come to by parts of the job.
    fn checks(
        &self,
        judge: &Judge<'_, ViewRows>,
        rows: &ViewRows,
        frame: &frame::Framed,
    ) -> (Vec<Check>, parts::Tally) {
        let mut checks = Vec::with_capacity(4 * self.plan.rules.len());
        let mut tally = self.parts.begin(rows);
        for (at, (rule, ready)) in self.plan.rules.iter().zip(&self.rules).enumerate() {
            let mut found = |check: Check, bound: &[Value]| {
                self.parts.note(&mut tally, at, bound, check.status);
                checks.push(check);
            };
            self.check(rule, ready, judge, rows, frame, &mut found);
        }
        (checks, tally)
    }

    fn views<'s>(&self, state: &impl Terminal<'s>) -> ViewRows {
        let mut rows = ViewRows::empty(&self.plan);
        for (at, (view, only)) in self.plan.views.iter().zip(&self.only).enumerate() {
            rows.views[at] = read::read(self.domain, &self.bound, &self.members, state, view, only);
        }
        rows
    }

    fn check(
        &self,
        rule: &PlanRule,
        ready: &Ready,
        judge: &Judge<'_, ViewRows>,
        rows: &ViewRows,
        frame: &frame::Framed,
        found: &mut dyn FnMut(Check, &[Value]),
    ) {
        let mut add = |of: Arc<Instance>, at: &[Value], body: Option<bool>, applies: bool| {
            let mut why = None;
            let holds = match &rule.body {
                Body::Expr(_) => body,
                Body::Native(name) => {
                    let native = self.natives.iter().find(|(known, _)| known == name);
                    native.map(|(_, native)| native(&self.plan, &self.bound, rows, at))
                }
                Body::Frame => {
                    let broken = frame.broken.iter().filter(|(by, _)| *by == rule.id).map(|(_, what)| &**what);
                    let broken: Vec<&str> = broken.take(3).collect();
                    why = (!broken.is_empty()).then(|| broken.join("; "));
                    Some(why.is_none())
                }
            };
            let status = match (applies, holds) {
                (_, None) => CheckStatus::NoVerdict,
                // A frame that is broken is broken, whatever else there is.
                (false, Some(false)) if matches!(rule.body, Body::Frame) => CheckStatus::Fail,
                (false, _) => CheckStatus::Na,
                (true, Some(true)) => CheckStatus::Pass,
                (true, Some(false)) => CheckStatus::Fail,
            };
            found(Check { of, status, why }, at);
        };
        if let Some(instances) = ready {
            for ReadyInstance { of, at, body, applies } in instances {
                let holds = |expr: &Expr| judge.holds_at(at, expr);
                add(Arc::clone(of), at, body.as_ref().map(holds), applies.as_ref().is_none_or(holds));
            }
            return;
        }
        judge.instances(&rule.per, &mut |here| {
            let body = match &rule.body {
                Body::Expr(body) => Some(here.holds(body)),
                Body::Native(_) | Body::Frame => None,
            };
            let applies = rule.applies.as_ref().is_none_or(|applies| here.holds(applies));
            add(instance(&self.plan, &self.bound, rule, &here.at), &here.at, body, applies);
        });
    }
}

/// Holds what a reward is made of to the rules. Whatever is missing here would count as achieved.
fn check_scoring(verifier: &Verifier, plan: &Plan) -> Result<(), GradeError> {
    let (objective, certified) = (&verifier.objective, verifier.best.len());
    let phases = phases(plan, objective)?;
    match &verifier.anchors {
        None => {
            if let Some(phase) = phases.iter().find(|phase| phase.text.sign() < 0) {
                return Err(GradeError::Large(phase.text.name.clone()));
            }
        }
        Some(anchors) => {
            let one = phases.len() == 1 && phases.iter().all(|phase| Some(phase.text.sign()) == anchors.sign());
            if !one || verifier.scoring.weights.objective != 100 || verifier.scoring.broken_percent != 0 {
                return Err(GradeError::Anchors(*anchors));
            }
        }
    }
    let phases = phases.len();
    if certified != phases {
        return Err(GradeError::Best { objective: objective.clone(), phases, certified });
    }
    verifier.scoring.check()?;
    if let Some(family) = &verifier.scoring.trace_family
        && !plan.rules.iter().any(|rule| rule.text.family == *family && !rule.text.frame)
    {
        return Err(GradeError::TraceFamily(family.clone()));
    }
    match verifier.gates.iter().find(|gate| !plan.rules.iter().any(|rule| rule.id == **gate)) {
        Some(gate) => Err(GradeError::Gate(gate.clone())),
        None => Ok(()),
    }
}

/// The phases of an objective, which may have none.
fn phases<'p>(plan: &'p Plan, objective: &str) -> Result<&'p [Phase], GradeError> {
    plan.objectives.get(objective).map(|phases| &**phases).ok_or_else(|| GradeError::Objective {
        objective: objective.to_owned(),
        known: plan.objectives.keys().map(|name| &**name).collect::<Vec<_>>().join(", "),
    })
}

/// The score of every phase beside its certified value.
fn scores(phases: &[Phase], best: &[i64], anchors: Option<&Anchors>, judge: &Judge<'_, ViewRows>) -> Vec<PhaseScore> {
    let score = |(phase, best): (&Phase, &i64)| {
        let value = judge.value(&phase.of).as_number();
        let text = &phase.text;
        let within = value.is_some_and(|value| match anchors {
            Some(anchors) => value.saturating_mul(text.sign()) <= anchors.half.saturating_mul(text.sign()),
            None => value <= best + text.tolerance,
        });
        let score = match value {
            Some(value) if anchors.is_some() => anchors.map_or(0, |anchors| quality(value, anchors)),
            Some(_) if within => FULL,
            Some(value) => score(value, *best, text.decay, text.unit),
            None => 0,
        };
        PhaseScore { name: text.name.clone(), value, best: *best, score, within }
    };
    phases.iter().zip(best).map(score).collect()
}

/// Makes a rule ready.
fn ready(plan: &Plan, bound: &Bound, rule: &PlanRule) -> Ready {
    if rule.per.iter().any(|per| matches!(per.source, Source::Rows { .. }) || per.condition.is_some()) {
        return None;
    }
    let none = ViewRows::empty(plan);
    let mut judge = Judge::new(&none, bound.anchor.midnight());
    judge.facts = bound;
    let mut found = Vec::new();
    judge.instances(&rule.per, &mut |here| {
        let at = here.at.to_vec();
        let body = match &rule.body {
            Body::Expr(body) => Some(specialise(body, &at, bound)),
            Body::Native(_) | Body::Frame => None,
        };
        let applies = rule.applies.as_ref().map(|applies| specialise(applies, &at, bound));
        found.push(ReadyInstance { of: instance(plan, bound, rule, &at), at, body, applies });
    });
    Some(found)
}

/// What the checks of an instance are called by.
fn instance(plan: &Plan, bound: &Bound, rule: &PlanRule, at: &[Value]) -> Arc<Instance> {
    let label = |(binder, value): (&Binder, &Value)| match (&binder.source, value) {
        (Source::Set(set), Value::Ref(member)) => match plan.sets[set.index()].1 {
            Type::Ref(sort) => bound.key_of(sort.index(), *member),
            _ => member.to_string(),
        },
        (_, value) => value.as_number().map_or_else(|| format!("{value:?}"), |n| n.to_string()),
    };
    Arc::new(Instance {
        rule: rule.id.clone(),
        code: rule.text.code.clone(),
        family: rule.text.family.clone(),
        at: rule.per.iter().zip(at).map(label).collect(),
    })
}
