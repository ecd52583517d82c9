//! Judges a terminal state by a sealed verifier: reads the views, evaluates every rule, holds the frame, and scores.
//!
//! It knows neither solver nor sampler. What cannot be judged is no verdict, never a pass.

mod frame;
mod read;
mod records;
mod score;

use records::Documents;
pub use records::SnapshotRecords;
pub use score::{FULL, score};

use benchwright_base::Value;
use benchwright_expr::{Binder, Expr, Type, eval::Judge};
use benchwright_pack::{Check, CheckStatus, Ending, NativeCheck, PhaseScore, Snapshot, Verdict, Verifier};
use benchwright_schema::{
    Domain,
    plan::{Body, Bound, Plan, PlanFaults, PlanRule, ViewRows},
};

use benchwright_world::Terminal;

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
        Ok(Grader { domain, verifier, first, natives, plan, bound, members })
    }

    /// The plan that is judged by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Its facts.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The rows of every view in a state.
    pub fn rows(&self, state: &Snapshot) -> ViewRows {
        read::views(self.domain, &self.plan, &self.bound, &self.members, &Documents { first: self.first, last: state })
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
        let rows = read::views(self.domain, &self.plan, &self.bound, &self.members, last);
        let frame = frame::judge(self.domain, &self.plan, &self.verifier.keys, last);
        let mut judge = Judge::new(&rows, last.now());
        judge.facts = &self.bound;

        let mut checks = Vec::with_capacity(4 * self.plan.rules.len());
        for rule in &self.plan.rules {
            self.check(rule, &judge, &rows, &frame, &mut checks);
        }
        let mut gates = Vec::new();
        if !frame.worked {
            gates.push("activity".to_owned());
        }
        for gate in &self.verifier.gates {
            if checks.iter().any(|check| check.rule == *gate && check.status == CheckStatus::Fail) {
                gates.push(gate.clone());
            }
        }
        let phases = self.phases(&judge);
        Ok(verdict(checks, gates, phases, &self.plan, &self.verifier.objective))
    }

    fn check(
        &self,
        rule: &PlanRule,
        judge: &Judge<'_, ViewRows>,
        rows: &ViewRows,
        frame: &frame::Framed,
        checks: &mut Vec<Check>,
    ) {
        let yes = Expr::Truth(true);
        let body = match &rule.body {
            Body::Expr(body) => body,
            Body::Native(_) | Body::Frame => &yes,
        };
        let applies = rule.applies.as_ref().map(|applies| judge.instances(&rule.per, applies));
        for (instance, (at, mut holds)) in judge.instances(&rule.per, body).into_iter().enumerate() {
            let mut why = None;
            let mut known = true;
            match &rule.body {
                Body::Expr(_) => {}
                Body::Native(name) => match self.natives.iter().find(|(known, _)| known == name) {
                    Some((_, native)) => holds = native(&self.plan, &self.bound, rows, &at),
                    None => known = false,
                },
                Body::Frame => {
                    let broken = frame.broken.iter().filter(|(by, _)| *by == rule.id).map(|(_, what)| &**what);
                    let broken: Vec<&str> = broken.take(3).collect();
                    holds = broken.is_empty();
                    why = (!holds).then(|| broken.join("; "));
                }
            }
            let applies = applies.as_ref().is_none_or(|applies| applies.get(instance).is_some_and(|(_, yes)| *yes));
            let status = match (known, applies, holds) {
                (false, _, _) => CheckStatus::NoVerdict,
                // A frame that is broken is broken, whatever else there is.
                (_, false, false) if matches!(rule.body, Body::Frame) => CheckStatus::Fail,
                (_, false, _) => CheckStatus::Na,
                (_, true, true) => CheckStatus::Pass,
                (_, true, false) => CheckStatus::Fail,
            };
            checks.push(Check {
                rule: rule.id.clone(),
                code: rule.text.code.clone(),
                family: rule.text.family.clone(),
                at: self.labels(&rule.per, &at),
                status,
                why,
            });
        }
    }

    /// What `per` is bound to, in words.
    fn labels(&self, per: &[Binder], at: &[Value]) -> Vec<String> {
        let label = |(binder, value): (&Binder, &Value)| match (&binder.source, value) {
            (benchwright_expr::Source::Set(set), Value::Ref(member)) => match self.plan.sets[set.index()].1 {
                Type::Ref(sort) => self.bound.key_of(sort.index(), *member),
                _ => member.to_string(),
            },
            (_, value) => value.as_number().map_or_else(|| format!("{value:?}"), |n| n.to_string()),
        };
        per.iter().zip(at).map(label).collect()
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

fn share(passed: usize, of: usize) -> i64 {
    if of == 0 { FULL } else { (passed as i64) * FULL / (of as i64) }
}

fn verdict(checks: Vec<Check>, gates: Vec<String>, phases: Vec<PhaseScore>, plan: &Plan, objective: &str) -> Verdict {
    let count = |trace: bool, status: CheckStatus| {
        checks.iter().filter(|check| (check.family == TRACE) == trace && check.status == status).count()
    };
    let (passed, failed) = (count(false, CheckStatus::Pass), count(false, CheckStatus::Fail));
    let (traced, lost) = (count(true, CheckStatus::Pass), count(true, CheckStatus::Fail));
    let unknown = count(false, CheckStatus::NoVerdict) + count(true, CheckStatus::NoVerdict);
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
