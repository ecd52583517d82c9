//! Judges a terminal state. A sealed verifier (rules, facts, certified values) and the records that an agent left go in;
//! out comes a verdict with a line per check and one reward. The records are read as rows of the views that rules speak of,
//! every rule is evaluated over them, what nobody was asked to change is held to be as it was, and objectives are scored by
//! how far they are from the best.
//!
//! It knows neither solver nor sampler, and one [`Grader`] judges any number of states of its task. What cannot be judged
//! is no verdict, never a pass.
//!
//! ```
//! use benchwright_grade::{FULL, score};
//!
//! // A cost of 2,780.00 dollars where 2,764.00 are possible, with a decay of 5: exp(-5 * 16 / 2764), in millionths.
//! assert_eq!(score(278_000, 276_400, 5, 100), 971_471);
//! assert_eq!(score(276_400, 276_400, 5, 100), FULL);
//! ```

mod frame;
mod read;
mod records;
mod score;

use records::Documents;
pub use records::SnapshotRecords;
pub use score::{FULL, score};

use benchwright_base::Value;
use benchwright_expr::{Binder, Expr, Source, Type, eval::Judge, settled};
use benchwright_pack::{Check, CheckStatus, Ending, Instance, NativeCheck, PhaseScore, Snapshot, Verdict, Verifier};
use benchwright_schema::{
    Domain,
    plan::{Body, Bound, Plan, PlanFaults, PlanRule, ViewRows},
};

use benchwright_world::Terminal;
use std::sync::Arc;

/// The family of checks that count as traceability; all others are constraints.
const TRACE: &str = "trace";

/// Why nothing could be judged.
#[derive(Debug, thiserror::Error)]
pub enum GradeError {
    /// The verifier does not fit the domain.
    #[error("the verifier cannot be read: {0}")]
    Verifier(#[from] PlanFaults),
    /// A snapshot is of another domain.
    #[error("the state is of the domain {0}, which is not the task's")]
    OtherDomain(String),
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
        if first.domain != domain.name {
            return Err(GradeError::OtherDomain(first.domain.clone()));
        }
        let plan = Plan::compile(&verifier.plan, domain)?;
        let bound = Bound::new(&plan, &verifier.bindings)?;
        let members = read::members(domain, &plan, &bound, &verifier.keys);
        let only = plan.views.iter().map(read::Only::of).collect();
        let frame = frame::Frame::new(domain, &plan, &verifier.keys);
        let rules = plan.rules.iter().map(|rule| ready(&plan, &bound, rule)).collect();
        Ok(Grader { domain, verifier, first, natives, plan, bound, members, only, frame, rules })
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
        self.grade_live(&Documents { first: self.first, last })
    }

    /// Judges a terminal state where it is kept, which must have begun at the task's first state.
    pub fn grade_live<'s>(&self, last: &impl Terminal<'s>) -> Result<Verdict, GradeError> {
        if last.domain() != self.domain.name {
            return Err(GradeError::OtherDomain(last.domain().to_owned()));
        }
        let rows = self.views(last);
        let frame = self.frame.judge(self.domain, &self.plan, last);
        let mut judge = Judge::new(&rows, last.now());
        judge.facts = &self.bound;

        let mut checks = Vec::with_capacity(4 * self.plan.rules.len());
        for (rule, ready) in self.plan.rules.iter().zip(&self.rules) {
            self.check(rule, ready, &judge, &rows, &frame, &mut checks);
        }
        let mut gates = Vec::new();
        if !frame.worked {
            gates.push("activity".to_owned());
        }
        for gate in &self.verifier.gates {
            if checks.iter().any(|check| check.status == CheckStatus::Fail && check.rule == *gate) {
                gates.push(gate.clone());
            }
        }
        let phases = self.phases(&judge);
        Ok(verdict(checks, gates, phases, &self.plan, &self.verifier.objective))
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
        checks: &mut Vec<Check>,
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
            checks.push(Check { of, status, why });
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

    fn phases(&self, judge: &Judge<'_, ViewRows>) -> Vec<PhaseScore> {
        let phases = self.plan.objectives.get(&self.verifier.objective).map_or(&[][..], |phases| phases);
        let score = |(phase, best): (&benchwright_schema::plan::Phase, &i64)| {
            let value = judge.value(&phase.of).as_number();
            let text = &phase.text;
            let within = value.is_some_and(|value| value <= best + text.tolerance);
            let score = match value {
                Some(_) if within => FULL,
                Some(value) => score(value, *best, text.decay, text.unit),
                None => 0,
            };
            PhaseScore { name: text.name.clone(), value, best: *best, score, within }
        };
        phases.iter().zip(&self.verifier.best).map(score).collect()
    }
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
            Body::Expr(body) => Some(settled(body, &at, bound)),
            Body::Native(_) | Body::Frame => None,
        };
        let applies = rule.applies.as_ref().map(|applies| settled(applies, &at, bound));
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

fn share(passed: usize, of: usize) -> i64 {
    if of == 0 { FULL } else { (passed as i64) * FULL / (of as i64) }
}

fn verdict(checks: Vec<Check>, gates: Vec<String>, phases: Vec<PhaseScore>, plan: &Plan, objective: &str) -> Verdict {
    let (mut passed, mut failed, mut traced, mut lost, mut unknown) = (0, 0, 0, 0, 0);
    for check in &checks {
        match (check.status, check.family == TRACE) {
            (CheckStatus::Pass, false) => passed += 1,
            (CheckStatus::Fail, false) => failed += 1,
            (CheckStatus::Pass, true) => traced += 1,
            (CheckStatus::Fail, true) => lost += 1,
            (CheckStatus::NoVerdict, _) => unknown += 1,
            (CheckStatus::Na, _) => {}
        }
    }
    let constraints = share(passed, passed + failed);
    let trace = share(traced, traced + lost);
    let clean = failed == 0 && passed > 0;

    let declared = plan.objectives.get(objective).map_or(&[][..], |phases| phases);
    let shares: Vec<i64> = declared.iter().map(|phase| phase.text.share).collect();
    let tolerances: Vec<i64> = declared.iter().map(|phase| phase.text.tolerance).collect();
    let scored = || shares.iter().zip(&phases).filter(|(share, _)| **share > 0);
    let mut points = 0;
    let mut open = true;
    for (share, phase) in scored() {
        if open {
            points += share * phase.score;
        }
        // A later phase counts only where those before it are at their best.
        open &= phase.within;
    }
    let objective = if scored().next().is_none() { FULL } else { points / 100 };
    let best = scored().all(|(_, phase)| phase.within);

    // Better than the certificate: a phase below its best, with all before it at theirs.
    let mut alarm = false;
    let mut equal = true;
    for ((share, tolerance), phase) in shares.iter().zip(&tolerances).zip(&phases) {
        let better = phase.value.is_some_and(|value| value < phase.best - tolerance);
        alarm |= clean && equal && better && *share > 0;
        equal &= phase.within && !better;
    }

    let judged = unknown == 0 && !checks.is_empty() && passed + failed > 0;
    let reward = match (judged, gates.is_empty(), clean) {
        (false, _, _) | (_, false, _) => 0,
        (_, _, false) => constraints / 4,
        (_, _, true) => (25 * constraints + 60 * objective + 15 * trace) / 100,
    };
    let ending = match judged {
        false => Ending::Error,
        true if gates.is_empty() && clean && lost == 0 && best => Ending::Pass,
        true => Ending::Fail,
    };
    let paper_pass = reward >= FULL / 100 * 99;
    Verdict { ending, reward, constraints, trace, objective, gates, phases, alarm, paper_pass, checks }
}
