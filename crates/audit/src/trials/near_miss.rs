//! Mutation testing of the rules. For each instance of each rule, a plan is made that breaks it and as little else as can
//! be (one unit too few, one day too late), carried out and judged: the verdict must fail, and name that rule. The share of
//! instances that are caught is the mutation score.
//!
//! Where a plan is a choice of given rows, the family swaps one of them; where no swap breaks the rule, and for all other
//! rules that a solver reads, the solver negates the one instance, keeps the rest and stays near the optimum; where no plan
//! can break it alone, it says so, and the smallest set that is found is used. For the others the family changes calls.

use super::both_sides;
use crate::{Finding, Held, Subject, edits::Way};
use benchwright_base::Stream;
use benchwright_expr::{Binder, Expr};
use benchwright_grade::Grader;
use benchwright_pack::{CheckStatus, Script, Verdict, Verifier};
use benchwright_project::{Breadth, Mutation};
use benchwright_schema::plan::{Body, Plan};
use benchwright_solve::{Answer, Formula, Instance, Limits, Lin, Lower, Status};
use benchwright_spec::{Cell, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// Work of one search, and of those that follow while nothing is found. A near-miss need not be the nearest one.
const WORK: [f64; 3] = [0.1, 1.0, 10.0];
/// The same where a plan is a choice of rows: any point will do.
const WORK_OF_A_CHOICE: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

/// How many instances of a rule are tried where a task's worth is told by anchors, and how many if none of them can be broken.
const MOST_OF_A_RULE: usize = 4;
const MOST_OF_AN_IDLE_RULE: usize = 12;

/// What became of one instance.
enum Fate {
    /// Refused by its name, and by no other rule than its declared twins; the calls, where it was carried out by some.
    Alone(Option<Script>),
    /// Refused by its name among others.
    Among(Option<Script>),
    /// It cannot be broken; why.
    Never(String),
    /// Not refused, or not by its name.
    Survived(String),
    /// The calls could not be made. It counts as survived.
    Unmade(String),
}

/// What a search for the nearest point came to.
enum Point {
    Found(Rows),
    /// There is none, which is proved.
    None,
    /// Its work ran out.
    Undecided,
}

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match all(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn all(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let state = subject.play(&subject.task.sealed.oracle).map_err(|error| error.to_string())?;
    // What there is to break is said by the rules as compiled, not by the verifier, which may have lost some.
    let verifier = subject.task.sealed.verifier.clone();
    let bindings = subject.family.bindings(&subject.case)?;
    let verifier = Verifier { plan: subject.text.clone(), bindings, ..verifier };
    let own = Grader::new(&subject.domain, &verifier, &subject.first, subject.family.natives());
    let verdict = own.and_then(|own| own.grade(&state)).map_err(|error| error.to_string())?;
    let search = Search::new(subject)?;
    let mut faults = Vec::new();
    let mut notes = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    let mut broken: BTreeSet<&str> = BTreeSet::new();
    let mut checks: Vec<_> = verdict.checks.iter().collect();
    // A roster has thousands of instances of a dozen rules: of each rule some are drawn, and both figures are told.
    let (most, most_in_vain) =
        if subject.is_anchored() { (MOST_OF_A_RULE, MOST_OF_AN_IDLE_RULE) } else { (usize::MAX, usize::MAX) };
    if subject.is_anchored() {
        Stream::new(0, &["instances", &subject.task.open.id]).shuffle(&mut checks);
    }
    for check in checks {
        let Some(rule) = subject.plan.rules.iter().position(|rule| rule.id == check.rule) else { continue };
        // A rule that does not apply to the certified plan may still be broken by another one, if a solver looks for it.
        if check.status == CheckStatus::Na && !(subject.plan.rules[rule].lowered && search.near.is_some()) {
            continue;
        }
        *counts.entry("there").or_default() += 1;
        let of_rule = tried.entry(&check.rule).or_default();
        if *of_rule >= if broken.contains(&*check.rule) { most } else { most_in_vain } {
            continue;
        }
        *of_rule += 1;
        *counts.entry("instances").or_default() += 1;
        match search.instance(grader, rule, &check.at)? {
            Fate::Alone(_) => {
                broken.insert(&check.rule);
                *counts.entry("killed").or_default() += 1;
                *counts.entry("alone").or_default() += 1;
            }
            Fate::Among(_) => {
                broken.insert(&check.rule);
                *counts.entry("killed").or_default() += 1;
            }
            Fate::Never(why) => {
                *counts.entry("unbreakable").or_default() += 1;
                notes.push(format!("{}: {why}", check.rule));
            }
            Fate::Survived(why) | Fate::Unmade(why) => faults.push(format!("{} {:?}: {why}", check.rule, check.at)),
        }
    }
    let mut finding = Finding::of(&faults);
    finding.notes = notes;
    for (name, count) in counts {
        finding = finding.count(name, count);
    }
    // Where a plan is near another only by its rules, what was broken here is what a suite exercises.
    if subject.is_anchored() {
        finding = broken.iter().fold(finding, |finding, rule| finding.count(&format!("broken {rule}"), 1));
    }
    Ok(finding.count("survived", faults.len()))
}

/// A rule, what it is broken for, and calls that break it.
pub(crate) type Breaking = (String, Vec<String>, Script);

/// How many instances are tried for each near-miss that is wanted as calls.
const TRIES: usize = 6;

/// Near-misses as calls, each of another rule, in an order that is the task's own; so many, if there are. Those that break their rule
/// alone come first.
pub(crate) fn scripts(subject: &Subject<'_>, grader: &Grader<'_>, most: usize) -> Result<Vec<Breaking>, String> {
    let state = subject.play(&subject.task.sealed.oracle).map_err(|error| error.to_string())?;
    let verdict = grader.grade(&state).map_err(|error| error.to_string())?;
    // Where a family proves its plan itself, it knows how to break it too, and no model has to be made.
    let search = match subject.family.proof() {
        Some(_) => Search { subject, near: None },
        None => Search::new(subject)?,
    };
    let is_tried = |check: &&benchwright_pack::Check| check.status == CheckStatus::Pass;
    let mut checks: Vec<_> = verdict.checks.iter().filter(is_tried).collect();
    Stream::new(0, &["near-misses", &subject.task.open.id]).shuffle(&mut checks);
    let (mut alone, mut among): (Vec<Breaking>, Vec<Breaking>) = (Vec::new(), Vec::new());
    let mut tries = 0;
    for check in checks {
        if alone.len() >= most || (tries >= TRIES * most && alone.len() + among.len() >= most) {
            break;
        }
        let is_known = alone.iter().chain(&among).any(|(rule, ..)| *rule == check.rule);
        let Some(rule) = subject.plan.rules.iter().position(|rule| rule.id == check.rule && !is_known) else {
            continue;
        };
        tries += 1;
        match search.instance(grader, rule, &check.at) {
            Ok(Fate::Alone(Some(script))) => alone.push((check.rule.clone(), check.at.clone(), script)),
            Ok(Fate::Among(Some(script))) => among.push((check.rule.clone(), check.at.clone(), script)),
            // What cannot be broken, and what no search finds in time, is for the audit to tell.
            Ok(_) | Err(_) => {}
        }
    }
    alone.extend(among);
    alone.truncate(most);
    Ok(alone)
}

struct Search<'s, 'a> {
    subject: &'s Subject<'a>,
    /// The plans near the certified one, where the family is optimised. The others break rules by calls alone.
    near: Option<Near<'s>>,
}

/// The plans near the certified one, for a solver.
struct Near<'s> {
    /// The model over the optimum's rows and their neighbours, nothing required yet, made to stay near the optimum.
    base: Lower<'s>,
    /// How far a point is from the optimum.
    distance: Lin,
    work: &'static [f64],
    /// Whether every field of every candidate is fixed.
    is_choice: bool,
    /// Whether any point will do, near or not.
    is_any: bool,
    instances: Vec<Instance>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(subject: &'s Subject<'a>) -> Result<Search<'s, 'a>, String> {
        if subject.family.optimised().is_none() {
            return Ok(Search { subject, near: None });
        }
        Ok(Search { subject, near: Some(Near::new(subject, &subject.plan)?) })
    }

    fn instance(&self, grader: &Grader<'_>, rule: usize, at: &[String]) -> Result<Fate, String> {
        let id = &self.subject.plan.rules[rule].id;
        // Where a plan is a choice, the family knows the nearest one that breaks a rule; the solver is asked for the rest.
        if self.near.as_ref().is_some_and(|near| near.is_choice)
            && let Some(fate) = self.mutate(grader, id, at)?
        {
            return Ok(fate);
        }
        if self.subject.plan.rules[rule].lowered
            && let Some(near) = &self.near
            && let Some(which) = self.which(near, rule, at)
        {
            let fate = self.solve(grader, near, which, at)?;
            if !matches!(fate, Fate::Never(_)) {
                return Ok(fate);
            }
            // What no plan can break, calls may still.
            return match self.mutate(grader, id, at)? {
                Some(Fate::Survived(_)) | None => self.unbreakable(grader, rule, at, fate),
                Some(mutated) => Ok(mutated),
            };
        }
        match self.mutate(grader, id, at)? {
            Some(fate) => Ok(fate),
            None => Ok(Fate::Survived("there is no near-miss for it".to_owned())),
        }
    }

    /// What no plan can break must withstand a change to any single cell too, or the plans that are looked at have lost something.
    fn unbreakable(&self, grader: &Grader<'_>, rule: usize, at: &[String], never: Fate) -> Result<Fate, String> {
        let declared = &self.subject.plan.rules[rule];
        if declared.text.implied_by.is_some() {
            return Ok(never);
        }
        Ok(match both_sides::breaks(self.subject, grader, rule, at)? {
            None => never,
            // The plans near the certified one are to have every number and every day of it free.
            Some((what, Way::Below | Way::Above, _)) => {
                Fate::Survived(format!("no plan near the certified one breaks it, but this does: {what}"))
            }
            Some((_, _, verdict)) => fate(&declared.id, &declared.text.twins, &verdict, None),
        })
    }

    /// The instance of a rule by what `per` is bound to, in words.
    fn which(&self, near: &Near<'_>, rule: usize, at: &[String]) -> Option<usize> {
        which(self.subject, &self.subject.plan.rules[rule].per, near, rule, at)
    }

    fn solve(&self, grader: &Grader<'_>, near: &Near<'s>, which: usize, at: &[String]) -> Result<Fate, String> {
        let broken = near.instances[which].holds.negated();
        if broken == Formula::Known(false) {
            return Ok(Fate::Never("no plan can break it".to_owned()));
        }
        // At the edge first: one unit too few, one day too late.
        let edge = edge(&broken);
        if edge != broken {
            let lower = near.breaking(which, &edge);
            let answer = subject_solve(self.subject, &lower, WORK[0])?;
            if matches!(answer.status, Status::Optimal | Status::Feasible) {
                let fate = self.judge(grader, near, (which, at), &lower.read(&answer.point))?;
                if !matches!(fate, Fate::Unmade(_)) {
                    return Ok(fate);
                }
            }
        }
        // Where a task is large, what is not soon found alone is looked for with other instances of its rule, and then among others.
        let tries: &[(&[f64], bool)] = match near.is_any && !near.is_choice {
            true => &[(&near.work[..1], true), (&near.work[..2], false)],
            false => &[(if self.subject.is_anchored() { &near.work[..2] } else { near.work }, true)],
        };
        for (work, alone) in tries {
            let lower = if *alone { near.breaking(which, &broken) } else { near.breaking_its_rule(which, &broken) };
            if let Point::Found(rows) = self.point(work, &lower)? {
                return self.judge(grader, near, (which, at), &rows);
            }
        }
        // Not alone, or it could not be told whether alone: break it, and as few others as can be, and at last whatever else breaks.
        let mut any = near.base.clone();
        any.require(&broken);
        let mut lower = any.clone();
        let others = if near.is_any { near.other_rules(&mut lower, which) } else { near.others(&mut lower, which) };
        lower.model.minimise = Some(others.times(1_000).plus(&near.distance));
        // Of a large task the goal may hold up what any plan does.
        let soon = if self.subject.is_anchored() { near.work.len() - 2 } else { near.work.len() };
        for (work, lower) in [(&near.work[..soon], &lower), (near.work, &any)] {
            match self.point(work, lower)? {
                Point::Found(rows) => return self.judge(grader, near, (which, at), &rows),
                Point::None => return Ok(Fate::Never("no plan can break it".to_owned())),
                Point::Undecided => {}
            }
        }
        let rule = &self.subject.plan.rules[near.instances[which].rule].id;
        Err(format!("the search for a near-miss of {rule} {at:?} ran out of work"))
    }

    fn point(&self, works: &[f64], lower: &Lower<'_>) -> Result<Point, String> {
        for work in works.iter().copied() {
            let answer = subject_solve(self.subject, lower, work)?;
            match answer.status {
                Status::Optimal | Status::Feasible => return Ok(Point::Found(lower.read(&answer.point))),
                Status::Infeasible => return Ok(Point::None),
                Status::Unknown => {}
            }
        }
        Ok(Point::Undecided)
    }

    fn judge(
        &self,
        grader: &Grader<'_>,
        near: &Near<'_>,
        (which, at): (usize, &[String]),
        rows: &Rows,
    ) -> Result<Fate, String> {
        let rule = &self.subject.plan.rules[near.instances[which].rule];
        match self.subject.carried_out(grader, rows) {
            // Other instances of its rule may be broken beside it, and must not stand in for it.
            Ok((_, verdict)) if near.is_any && !names(&verdict, &rule.id, at) => {
                Ok(Fate::Survived("it is not refused for what it breaks".to_owned()))
            }
            Ok((script, verdict)) => Ok(fate(&rule.id, &rule.text.twins, &verdict, Some(script))),
            Err(why) => Ok(Fate::Unmade(format!("the near-miss could not be carried out: {why}"))),
        }
    }

    fn mutate(&self, grader: &Grader<'_>, rule: &str, at: &[String]) -> Result<Option<Fate>, String> {
        let subject = self.subject;
        let Some(mutator) = subject.family.mutator() else { return Ok(None) };
        let script = match mutator.mutate(&subject.case, &subject.named, rule, at)? {
            None => return Ok(None),
            Some(Mutation::None(why)) => return Ok(Some(Fate::Never(why))),
            Some(Mutation::Script(script)) => script,
        };
        let state = match subject.play(&script) {
            Ok(state) => state,
            Err(error) => return Ok(Some(Fate::Survived(format!("the world refuses its near-miss: {error}")))),
        };
        let verdict = grader.grade(&state).map_err(|error| error.to_string())?;
        let twins = subject.plan.rules.iter().find(|known| known.id == rule).map_or(&[][..], |r| &r.text.twins);
        Ok(Some(fate(rule, twins, &verdict, Some(script))))
    }
}

/// The instance of a rule by what `per` is bound to, in words.
fn which(subject: &Subject<'_>, per: &[Binder], near: &Near<'_>, rule: usize, at: &[String]) -> Option<usize> {
    let words = |instance: &Instance| -> Vec<String> {
        let word = |(binder, member): (&Binder, &i64)| match &binder.source {
            benchwright_expr::Source::Set(set) => match subject.plan.sets[set.index()].1 {
                benchwright_expr::Type::Ref(sort) => subject.bound.key_of(sort.index(), *member as u32),
                _ => member.to_string(),
            },
            _ => member.to_string(),
        };
        per.iter().zip(&instance.at).map(word).collect()
    };
    near.instances.iter().position(|instance| instance.rule == rule && words(instance) == at)
}

/// A condition that a plan is to break: the rule it is of, the instance in words, and where it holds.
pub(super) type Wanted = (usize, Vec<String>, Expr);

/// Plans near the certified one that break single conditions, and as few rules as can be. Where none is found, there is none here.
pub(super) fn points(subject: &Subject<'_>, wanted: &[Wanted]) -> Result<Vec<Rows>, String> {
    let mut plan = subject.plan.clone();
    let given = plan.rules.len();
    for (rule, _, broken) in wanted {
        let mut side = plan.rules[*rule].clone();
        side.body = Body::Expr(Expr::Not(Box::new(broken.clone())));
        plan.rules.push(side);
    }
    let near = Near::new(subject, &plan)?;
    let mut found = Vec::new();
    for (nth, (rule, at, _)) in wanted.iter().enumerate() {
        let Some(which) = which(subject, &plan.rules[*rule].per, &near, given + nth, at) else { continue };
        let broken = near.instances[which].holds.negated();
        if broken == Formula::Known(false) {
            continue;
        }
        let mut lower = near.base.clone();
        lower.require(&edge(&broken));
        let mut others = Vec::new();
        for instance in near.instances.iter().filter(|instance| instance.rule < given && instance.rule != *rule) {
            if !matches!(instance.holds, Formula::Known(_)) {
                let kept = lower.truth_value(&instance.holds);
                others.push(Lin::constant(1).minus(&kept));
            }
        }
        lower.model.minimise = Some(Lin::sum(others).times(1_000).plus(&near.distance));
        let answer = subject_solve(subject, &lower, WORK[0])?;
        if matches!(answer.status, Status::Optimal | Status::Feasible) {
            found.push(lower.read(&answer.point));
        }
    }
    Ok(found)
}

impl<'s> Near<'s> {
    /// The plans near the certified one, by the rules of a plan.
    fn new(subject: &'s Subject<'_>, plan: &'s Plan) -> Result<Near<'s>, String> {
        let candidates = subject.candidates(Breadth::Local(&subject.optimum))?;
        let mut base = Lower::in_way(subject.lowering(), plan, &subject.bound, &candidates);
        let instances = base.all_instances().map_err(|error| error.to_string())?;
        // Where every field is fixed a plan is a choice of rows, and staying near is left to the hint; so it is where a model is large, as
        // how far a point is away would make it larger still.
        let free = |cell: &Cell| matches!(cell, Cell::Free(..));
        let is_choice = !candidates.iter().flatten().any(|candidate| candidate.fields.iter().any(free));
        let is_any = is_choice || subject.is_anchored();
        let distance = if is_any { Lin::default() } else { distance(subject, &mut base) };
        base.model.minimise = (!is_any).then(|| distance.clone());
        base.model.hint = hint(subject, &base);
        let work: &[f64] = if is_choice { &WORK_OF_A_CHOICE } else { &WORK };
        Ok(Near { base, distance, work, is_choice, is_any, instances })
    }

    /// The model with one instance broken, whatever becomes of the others of its rule, and every other rule kept.
    fn breaking_its_rule(&self, which: usize, broken: &Formula) -> Lower<'s> {
        let mut lower = self.base.clone();
        let rule = self.instances[which].rule;
        lower.require(broken);
        self.instances.iter().filter(|other| other.rule != rule).for_each(|other| lower.require(&other.holds));
        lower
    }

    /// How many other instances are broken.
    fn others(&self, lower: &mut Lower<'s>, which: usize) -> Lin {
        let mut broken = Vec::new();
        for (at, instance) in self.instances.iter().enumerate() {
            if at != which && !matches!(instance.holds, Formula::Known(_)) {
                let kept = lower.truth_value(&instance.holds);
                broken.push(Lin::constant(1).minus(&kept));
            }
        }
        Lin::sum(broken)
    }

    /// How many other rules are not held to: a literal for each, which is of no consequence where it is not set.
    fn other_rules(&self, lower: &mut Lower<'s>, which: usize) -> Lin {
        let rule = self.instances[which].rule;
        let mut kept = BTreeMap::new();
        for instance in self.instances.iter().filter(|other| other.rule != rule) {
            if !matches!(instance.holds, Formula::Known(_)) {
                let lit = *kept.entry(instance.rule).or_insert_with(|| lower.model.lit());
                lower.require_when(&instance.holds, &[lit]);
            }
        }
        Lin::sum(kept.into_values().map(|lit| Lin::constant(1).minus(&Lin::lit(lit))))
    }

    /// The model with one instance broken and every other kept.
    fn breaking(&self, which: usize, broken: &Formula) -> Lower<'s> {
        let mut lower = self.base.clone();
        for (at, instance) in self.instances.iter().enumerate() {
            lower.require(if at == which { broken } else { &instance.holds });
        }
        lower
    }
}

fn subject_solve(subject: &Subject<'_>, lower: &Lower<'_>, work: f64) -> Result<Answer, String> {
    let limits = Limits { work, linearization: subject.linearization_of_any(), fixed_search: false };
    subject.solver()?.solve(&lower.model, &limits).map_err(|error| error.to_string())
}

/// A breach by as little as can be: what is to be above 0 is 1.
fn edge(broken: &Formula) -> Formula {
    match broken {
        Formula::Le(of) => Formula::Eq(of.clone()),
        Formula::And(parts) => Formula::And(parts.iter().map(edge).collect()),
        Formula::Or(parts) => Formula::Or(parts.iter().map(edge).collect()),
        other => other.clone(),
    }
}

fn fate(rule: &str, twins: &[String], verdict: &Verdict, script: Option<Script>) -> Fate {
    let failed = verdict.failed();
    if verdict.ending != benchwright_pack::Ending::Fail {
        return Fate::Survived(format!("it is not refused: {:?}", verdict.ending));
    }
    if !failed.contains(&rule) {
        return Fate::Survived(format!("it is refused by {failed:?} instead"));
    }
    let alone = failed.iter().all(|id| *id == rule || twins.iter().any(|twin| twin == id));
    if alone { Fate::Alone(script) } else { Fate::Among(script) }
}

/// Whether a verdict finds an instance broken.
fn names(verdict: &Verdict, rule: &str, at: &[String]) -> bool {
    let broken = verdict.checks.iter().filter(|check| check.status == CheckStatus::Fail);
    broken.into_iter().any(|check| check.rule == rule && check.at == at)
}

/// The optimum as a point: its rows are used as they are, and no others.
fn hint(subject: &Subject<'_>, lower: &Lower<'_>) -> Vec<(benchwright_solve::Var, i64)> {
    let mut hint = Vec::new();
    for (view, rows) in lower.rows.iter().enumerate() {
        for (at, row) in rows.iter().enumerate() {
            let known = subject.optimum.0[view].get(at);
            if let Formula::Lit(used) = row.used {
                hint.push((used.var, i64::from(known.is_some() == used.yes)));
            }
            for (field, at) in row.fields.iter().zip(0..) {
                if let [(var, 1)] = field.terms[..] {
                    hint.push((var, known.map_or(0, |row: &Vec<i64>| row[at])));
                }
            }
        }
    }
    hint
}

/// How far a point is from the optimum: 3 for a row dropped or added, 1 for a field changed.
fn distance(subject: &Subject<'_>, lower: &mut Lower<'_>) -> Lin {
    let mut parts = Vec::new();
    for view in 0..lower.rows.len() {
        let given = subject.optimum.0[view].len();
        for at in 0..lower.rows[view].len() {
            let row = lower.rows[view][at].clone();
            let used = lower.truth_value(&row.used);
            let Some(known) = subject.optimum.0[view].get(at).filter(|_| at < given) else {
                parts.push(used.times(3));
                continue;
            };
            parts.push(Lin::constant(3).minus(&used.times(3)));
            for (field, value) in row.fields.iter().zip(known).filter(|(field, _)| field.known().is_none()) {
                let moved = Formula::Ne(field.minus(&Lin::constant(*value)));
                let moved = Formula::all(vec![row.used.clone(), moved]);
                parts.push(lower.truth_value(&moved));
            }
        }
    }
    Lin::sum(parts)
}
