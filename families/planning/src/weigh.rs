//! What a task's rules and traps are worth: whether the best plan changes when a rule is left out, and what comes of a plan that was made
//! by somebody who did not heed a trap. A task whose traps mislead nobody, or most of whose rules do not matter, is no good task.

use crate::{
    beyond::{ask, front, twin},
    candidates,
    dial::Dial,
    dials, quality,
    reader::{self, Workspace},
    records::Records,
    stages::roll::{self, Rolled},
    workflow::{Planning, UNCHANGED},
    written::TrapText,
};
use benchwright_pack::Anchors;
use benchwright_project::{Breadth, Case, Discard, Optimised as _};
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{Candidates, NamedRows, Outcome, Planner, PlannerError, Solved};
use std::collections::BTreeMap;

/// What is said of a rule that the best plan minds.
const BINDS: &str = "binds";
/// What is said of one that it does not, as far as was looked.
const IDLE: &str = "does not bind";

/// A case that was solved, with how.
pub(crate) struct Weighed<'a> {
    pub(crate) tier: &'a str,
    pub(crate) case: &'a Case,
    pub(crate) plan: &'a Plan,
    pub(crate) bound: &'a Bound,
    pub(crate) solved: &'a Solved,
    pub(crate) anchors: Anchors,
}

/// What came of not heeding a trap.
pub(crate) enum Hurried {
    /// The files make no sense, or no plan is possible: whoever plans notices.
    Loud(String),
    /// There is a plan, and it fails in truth.
    Silent(String),
    /// There is a plan, and it passes.
    Passes,
    /// It could not be told within the work.
    Undecided,
}

impl Hurried {
    /// What came of it, in words; or why a task with such a trap is no good one.
    pub(crate) fn told(self, trap: &TrapText) -> Result<String, Discard> {
        match self {
            Hurried::Loud(said) | Hurried::Silent(said) => Ok(said),
            Hurried::Passes => Err(Discard::Because(format!("the trap {} misleads nobody", trap.name))),
            Hurried::Undecided => Err(Discard::Because(format!("the trap {} is undecided", trap.name))),
        }
    }
}

/// What is found of every trap and every rule, in words; or why this is no good task.
pub(crate) fn weigh(
    family: &Planning,
    it: &Weighed<'_>,
    planner: &mut dyn Planner,
) -> Result<BTreeMap<String, String>, Discard> {
    let mut found = BTreeMap::new();
    if let Some((what, said)) = beyond(family, it, planner)? {
        found.insert(what.to_owned(), said);
    }
    let rules = Rules::of(family, it, planner)?;
    // Those that are often missed come first, because most draws that are no good ones fall there.
    let (missed, others): (Vec<usize>, Vec<usize>) =
        rules.all().partition(|at| family.told.headline.contains(&it.plan.rules[*at].id));
    let of_missed = rules.binding(&missed, planner, &mut found)?;
    // Records that are given are what they are, and what a dial is turned at was good without it.
    if of_missed * 5 < missed.len() * 3 && family.own.is_none() && family.dial.is_none() {
        return Err(Discard::Because("rules that are often missed do not bind".to_owned()));
    }
    let mut silent = 0;
    let traps = family.traps(it.case);
    let workspace = family.workspace(it.case)?;
    for trap in &traps {
        let misled = hurried(family, it, trap, &workspace, planner)?;
        silent += usize::from(matches!(misled, Hurried::Silent(_)));
        found.insert(format!("trap {}", trap.name), misled.told(trap)?);
    }
    if silent < silent_at(it.tier).min(traps.len()) {
        return Err(Discard::Because("the traps are too loud".to_owned()));
    }
    let binding = of_missed + rules.binding(&others, planner, &mut found)?;
    if binding * 3 < missed.len() + others.len() && family.own.is_none() {
        return Err(Discard::Because("few rules bind".to_owned()));
    }
    Ok(found)
}

/// The rules of a case, each of which may be left out.
struct Rules<'a> {
    family: &'a Planning,
    it: &'a Weighed<'a>,
    /// Of a plan in stages the last one is asked about, with what was handed in before it held, and what is proved of it.
    last: Option<(Candidates, Option<i64>)>,
}

impl<'a> Rules<'a> {
    fn of(family: &'a Planning, it: &'a Weighed<'a>, planner: &mut dyn Planner) -> Result<Rules<'a>, Discard> {
        let mut rules = Rules { family, it, last: None };
        if family.stages.is_some() {
            let stage = roll::numbers(family, it.case).into_iter().max().unwrap_or(1);
            let (bound, candidates) =
                family.stage(it.case, it.plan, it.bound, stage, &it.solved.rows, Breadth::Tight)?;
            let Outcome::Solved(best) = planner.best(it.plan, &bound, &candidates, &it.case.objective)? else {
                return Err(Discard::Because("unproved".to_owned()));
            };
            rules.last = Some((candidates, best.phases.first().map(|phase| phase.bound)));
        }
        Ok(rules)
    }

    /// Those that can be left out, by their places.
    fn all(&self) -> impl Iterator<Item = usize> {
        let known = |id: &String| {
            self.family.told.known.as_ref() == Some(id)
                || [UNCHANGED, dials::ask::RULE, dials::over::RULE].contains(&&**id)
        };
        let rules = self.it.plan.rules.iter().enumerate();
        let asked = rules.filter(move |(_, rule)| rule.lowered && rule.text.implied_by.is_none() && !known(&rule.id));
        asked.map(|(at, _)| at)
    }

    /// How many of these bind; what is found of each is said.
    fn binding(
        &self,
        rules: &[usize],
        planner: &mut dyn Planner,
        found: &mut BTreeMap<String, String>,
    ) -> Result<usize, Discard> {
        let mut binding = 0;
        for at in rules {
            let binds = match &self.last {
                None => binds(self.family, self.it, *at, planner)?,
                Some((candidates, best)) => {
                    let mut plan = self.it.plan.clone();
                    plan.rules[*at].lowered = false;
                    is_better(&plan, self.it, candidates, *best, planner)?
                }
            };
            binding += usize::from(binds);
            let said = if binds { BINDS } else { IDLE };
            found.insert(format!("rule {}", self.it.plan.rules[*at].id), said.to_owned());
        }
        Ok(binding)
    }
}

/// What a dial asks for, found again: that the original's plan fails in its twin, that no plan keeps all limits without a waiver, that
/// answers are what is reached.
fn beyond(
    family: &Planning,
    it: &Weighed<'_>,
    planner: &mut dyn Planner,
) -> Result<Option<(&'static str, String)>, Discard> {
    let records = Planning::records(it.case).map_err(Discard::from)?;
    let mut solve = |plan: &Plan, bound: &Bound| -> Result<Outcome, Discard> {
        let rows = candidates::candidates(&family.told, &family.plan, plan, bound, None).map_err(Discard::Fault)?;
        Ok(planner.best(plan, bound, &rows, &it.case.objective)?)
    };
    let bound = |records: &Records| -> Result<Bound, Discard> {
        let bindings = family.bindings_of(records).map_err(Discard::Fault)?;
        Bound::new(it.plan, &bindings).map_err(|faults| Discard::Fault(faults.to_string()))
    };
    if let Some(original) = records.original(family) {
        let bound = bound(&original)?;
        let Outcome::Solved(solved) = solve(it.plan, &bound)? else {
            return Err(Discard::Because("unproved".to_owned()));
        };
        let plan = NamedRows::of(&solved.rows, it.plan, &bound);
        let said = match twin::worth(&plan, it.plan, it.bound, &it.case.objective) {
            None => "the original's plan breaks a rule",
            Some(value) if !quality::passes(value, &it.anchors, family.sign()) => "the original's plan misses the mark",
            Some(_) => return Err(Discard::Because("the original's plan serves its twin".to_owned())),
        };
        return Ok(Some(("twin", said.to_owned())));
    }
    match family.dial {
        Some(Dial::Ask) => {
            let mut reached = |records: &Records| -> Result<Option<i64>, Discard> {
                let Outcome::Solved(solved) = solve(it.plan, &bound(records)?)? else { return Ok(None) };
                Ok(solved.phases.first().filter(|phase| phase.proved).map(|phase| phase.value))
            };
            match ask::answered(family, &records, &mut reached)? {
                None => Err(Discard::Because("an answer is not proved".to_owned())),
                Some(again) if dials::ask::kept(&again) != dials::ask::kept(&records) => {
                    Err(Discard::Because("an answer is not what is reached".to_owned()))
                }
                Some(_) => Ok(Some(("ask", "the answers are what is reached".to_owned()))),
            }
        }
        Some(Dial::Over) => {
            let mut rows =
                candidates::candidates(&family.told, &family.plan, it.plan, it.bound, None).map_err(Discard::Fault)?;
            let waivers = it.plan.view_named(dials::over::FORM).and_then(|view| rows.get_mut(view));
            waivers.into_iter().for_each(Vec::clear);
            match planner.best(it.plan, it.bound, &rows, &it.case.objective)? {
                Outcome::Infeasible => Ok(Some(("over", "no plan keeps all limits".to_owned()))),
                Outcome::Solved(_) => Err(Discard::Because("all limits can be kept".to_owned())),
                Outcome::Unproved => Err(Discard::Because("whether all limits can be kept is undecided".to_owned())),
            }
        }
        Some(Dial::Front) if front::are_different(it.plan, it.bound, &it.solved.rows) => {
            Ok(Some(("front", "every option has a plan of its own".to_owned())))
        }
        Some(Dial::Front) => Err(Discard::Because("two options have one plan".to_owned())),
        Some(Dial::Twin) | None => Ok(None),
    }
}

/// How many traps must be such that a plan comes of not heeding them.
fn silent_at(tier: &str) -> usize {
    match tier.split('-').next() {
        Some("easy") => 0,
        Some("medium") => 1,
        _ => 2,
    }
}

/// What comes of a plan that is made with every trap heeded but this one.
pub(crate) fn hurried(
    family: &Planning,
    it: &Weighed<'_>,
    trap: &TrapText,
    workspace: &Workspace,
    planner: &mut dyn Planner,
) -> Result<Hurried, Discard> {
    let heeded: Vec<&TrapText> = family.traps(it.case).into_iter().filter(|heeded| heeded.name != trap.name).collect();
    let read = reader::records(&family.layout, &family.written, &heeded, workspace);
    let bound = read.and_then(|records| {
        let bindings = family.bindings_of(&records)?;
        Bound::new(it.plan, &bindings).map_err(|faults| faults.to_string())
    });
    let Ok(bound) = bound else { return Ok(Hurried::Loud("the files make no sense".to_owned())) };
    let rolled = match &family.stages {
        None => {
            let rows = candidates::candidates(&family.told, &family.plan, it.plan, &bound, None);
            let Ok(rows) = rows else { return Ok(Hurried::Loud("the files make no sense".to_owned())) };
            planner.best(it.plan, &bound, &rows, &it.case.objective).map_err(Discard::from).map(|outcome| match outcome
            {
                Outcome::Solved(solved) => Rolled::Planned(solved.rows, Vec::new()),
                Outcome::Infeasible => Rolled::Infeasible,
                Outcome::Unproved => Rolled::Unproved,
            })
        }
        Some(_) => {
            let mut ask =
                |plan: &Plan, bound: &Bound, rows: &Candidates| planner.best(plan, bound, rows, &it.case.objective);
            roll::rolled(family, it.plan, &bound, &roll::numbers(family, it.case), &mut ask)
        }
    };
    let rows = match rolled {
        Ok(Rolled::Planned(rows, _)) => rows,
        Ok(Rolled::Infeasible) => return Ok(Hurried::Loud("no plan is possible".to_owned())),
        Ok(Rolled::Unproved) => return Ok(Hurried::Undecided),
        // What is too large or has no value is no plan either.
        Err(Discard::Planner(PlannerError::Unreadable(_))) => {
            return Ok(Hurried::Loud("the files make no sense".to_owned()));
        }
        Err(error) => return Err(error),
    };
    let named = NamedRows::of(&rows, it.plan, &bound);
    let Some(rows) = named.rows(it.plan, it.bound) else {
        return Ok(Hurried::Silent("the plan names what is not there".to_owned()));
    };
    Ok(match rows.worth(it.plan, it.bound, &it.case.objective) {
        None => Hurried::Silent("the plan breaks a rule".to_owned()),
        Some(value) if quality::passes(value, &it.anchors, family.sign()) => Hurried::Passes,
        Some(_) => Hurried::Silent("the plan misses the mark".to_owned()),
    })
}

/// Whether there is a plan without a rule that is better than any plan with it can be.
fn binds(family: &Planning, it: &Weighed<'_>, rule: usize, planner: &mut dyn Planner) -> Result<bool, Discard> {
    let mut plan = it.plan.clone();
    plan.rules[rule].lowered = false;
    let id = Some(&*it.plan.rules[rule].id);
    // A rule that no bundle heeds by name is kept by how they are reckoned, so without it there are other rows than theirs.
    let heeds = |ids: &[String]| ids.iter().any(|known| Some(&**known) == id);
    let reckoned = !family.told.bundle.is_empty()
        && !family.told.bundle.values().any(|bundle| heeds(&bundle.within) || heeds(&bundle.whole));
    let rows = match reckoned {
        true => candidates::single(&family.told, &family.plan, &plan, it.bound),
        false => candidates::candidates(&family.told, &family.plan, &plan, it.bound, id),
    };
    // Without a rule that keeps bundles few there may be more of them than can be gone through.
    let Ok(rows) = rows else { return Ok(false) };
    let best = it.solved.phases.first().map(|phase| phase.bound);
    is_better(&plan, it, &rows, best, planner)
}

/// Whether there is a plan that is better than what is proved.
fn is_better(
    plan: &Plan,
    it: &Weighed<'_>,
    rows: &Candidates,
    best: Option<i64>,
    planner: &mut dyn Planner,
) -> Result<bool, Discard> {
    match planner.some_plan(plan, it.bound, rows, &it.case.objective, best) {
        Ok(found) => Ok(found.is_some()),
        Err(PlannerError::Unreadable(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
