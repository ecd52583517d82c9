//! A reward that points the right way: along the oracle's calls it never falls; leaving a part of the job out pays less than doing
//! it; and doing it wrongly pays no more than leaving it out.
//!
//! What a part is stands in the plan: the rows of a member (an order), one row (a purchase, a slot of a grid), or, where a family has
//! no rows, the calls that name a member. Wrong is one cell of a row otherwise, a row twice, or what the family's mutator knows. The
//! rules that wrong plans break are counted by name, for the trial of the whole suite: broken at all, and broken by one step of one
//! number, which shows that a bound is met exactly.

use crate::{Finding, Held, Subject};
use benchwright_base::Stream;
use benchwright_expr::Type;
use benchwright_grade::{FULL, Grader};
use benchwright_pack::{Check, CheckStatus, Script, Step, Verdict};
use benchwright_project::{Breadth, Mutation};
use benchwright_schema::plan::{Binding, Body, PartCounts, Plan};
use benchwright_spec::{Cell, NamedRows, Rows};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The most rows that are left out one at a time, besides those of members.
const LEFT: usize = 12;
/// The most wrong plans of a task that are made by changing rows, and the most that the mutator makes.
const WRONG: (usize, usize) = (24, 16);

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    let mut trial = Monotone {
        subject,
        grader,
        stream: Stream::new(0, &["monotone", &subject.task.open.id]),
        counts: BTreeMap::new(),
        faults: Vec::new(),
        left: BTreeMap::new(),
        broken: BTreeMap::new(),
    };
    match trial.all() {
        Ok(()) => {}
        Err(why) => return Finding::new(Held::NoVerdict(why)),
    }
    let Monotone { counts, faults, broken, .. } = trial;
    let mut finding = Finding::of(&faults);
    for (name, count) in counts {
        finding = finding.count(name, count);
    }
    for (name, count) in broken {
        finding = finding.count(&name, count);
    }
    finding
}

/// What is left out or done wrongly.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Piece {
    /// Everything about a member: the part's name and the member's key.
    Member(String, String),
    /// One row of a view.
    Row(String, usize),
    /// Every row that belongs to no member.
    Rest,
}

struct Monotone<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    stream: Stream,
    counts: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
    /// What leaving a piece out earns; nothing where it could not be played.
    left: BTreeMap<Piece, Option<i64>>,
    broken: BTreeMap<String, usize>,
}

impl Monotone<'_, '_> {
    fn count(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    fn all(&mut self) -> Result<(), String> {
        // A quality by anchors is paid to clean states only, and that is said.
        let anchored = self.subject.task.sealed.verifier.anchors.is_some();
        if self.subject.plan.parts.is_empty() && !anchored {
            self.faults.push("the plan declares no parts, so nothing but a clean state is ever paid".to_owned());
        }
        let oracle = self.prefixes()?;
        for piece in self.pieces() {
            let Some(reward) = self.left_out(&piece) else { continue };
            // Where plans are worth what they come to, one without a row that it can do without is as good a plan; and a better one, where
            // stages were planned without knowing the next.
            if anchored && (reward == oracle.reward || reward > oracle.reward && self.subject.stages() > 1) {
                self.count("spare");
            } else if reward >= oracle.reward {
                self.faults.push(format!("without {piece:?} the reward is {reward}, with it {}", oracle.reward));
            }
        }
        self.rows_otherwise()?;
        self.mutated(&oracle)
    }

    /// Plays the oracle and judges after each call.
    fn prefixes(&mut self) -> Result<Verdict, String> {
        let steps = &self.subject.task.sealed.oracle.steps;
        let mut episode = self.subject.begin().map_err(|error| error.to_string())?;
        let mut keys = self.subject.bound_keys();
        let mut before = 0;
        let mut last = None;
        for (at, step) in steps.iter().enumerate() {
            let one = Script { steps: vec![step.clone()], ..Script::default() };
            benchwright_world::replay(&one, &mut keys, &mut episode).map_err(|error| error.to_string())?;
            let verdict = self.grader.grade_live(&episode.live()).map_err(|error| error.to_string())?;
            self.count("prefixes");
            if verdict.reward < before {
                let call = step.tool();
                self.faults.push(format!("call {at} ({call}) lowers the reward from {before} to {}", verdict.reward));
            }
            before = verdict.reward;
            last = Some(verdict);
        }
        last.ok_or_else(|| "the oracle makes no call".to_owned())
    }

    /// The verdict on what calls leave; nothing where they cannot be made.
    fn judged(&mut self, script: Result<Script, String>) -> Option<Verdict> {
        let verdict = script.ok().and_then(|script| {
            let state = self.subject.play(&script).ok()?;
            self.grader.grade(&state).ok()
        });
        if verdict.is_none() {
            self.count("not playable");
        }
        verdict
    }

    fn script(&self, plan: &NamedRows) -> Result<Script, String> {
        Ok(self.subject.family.script(&self.subject.case, plan)?)
    }

    /// All that can be left out: every member of a part, every row up to some, and all that belongs to no member.
    fn pieces(&mut self) -> Vec<Piece> {
        let plan = &self.subject.plan;
        let mut pieces = Vec::new();
        let mut sorts = BTreeSet::new();
        for part in &plan.parts {
            let PartCounts::Checks { per: Some(sort), .. } = &part.counts else { continue };
            sorts.insert(*sort);
            let keys = &self.subject.bound.members[*sort];
            pieces.extend(keys.iter().map(|key| Piece::Member(part.name.clone(), key.clone())));
        }
        let mut rows = Vec::new();
        for (view, list) in self.subject.named.0.iter().filter(|(view, _)| !is_of_member(plan, view, &sorts)) {
            rows.extend((0..list.len()).map(|at| Piece::Row(view.clone(), at)));
        }
        if !rows.is_empty() && !sorts.is_empty() {
            pieces.push(Piece::Rest);
        }
        self.stream.shuffle(&mut rows);
        rows.truncate(LEFT);
        pieces.extend(rows);
        pieces
    }

    /// What is earned without a piece; nothing where it has no calls of its own or the rest cannot be played.
    fn left_out(&mut self, piece: &Piece) -> Option<i64> {
        if let Some(known) = self.left.get(piece) {
            return *known;
        }
        let reward = self.without(piece).and_then(|script| self.judged(script)).map(|verdict| verdict.reward);
        if reward.is_some() {
            self.count("left out");
        }
        self.left.insert(piece.clone(), reward);
        reward
    }

    /// The calls without a piece; nothing where they would be the same.
    fn without(&self, piece: &Piece) -> Option<Result<Script, String>> {
        let (plan, named) = (&self.subject.plan, &self.subject.named);
        let mut rows = named.clone();
        match piece {
            Piece::Row(view, at) => drop(rows.0.get_mut(view)?.remove(*at)),
            Piece::Rest => {
                let sorts = member_sorts(plan);
                rows.0.retain(|view, _| is_of_member(plan, view, &sorts));
            }
            Piece::Member(part, key) => {
                for (view, list) in &mut rows.0 {
                    let fields = fields_of_member(plan, view, part);
                    list.retain(|row| !fields.iter().any(|field| row.get(field) == Some(&Binding::Key(key.clone()))));
                }
            }
        }
        if rows != *named {
            return Some(self.script(&rows));
        }
        // No row is about it, so it has calls only where some name it.
        let Piece::Member(_, key) = piece else { return None };
        let steps = &self.subject.task.sealed.oracle.steps;
        let kept: Vec<Step> = steps.iter().filter(|step| !names(&step.args, key)).cloned().collect();
        (kept.len() < steps.len()).then_some(Ok(Script { steps: kept, ..Script::default() }))
    }

    /// One cell of a row otherwise, or a row twice.
    fn rows_otherwise(&mut self) -> Result<(), String> {
        let subject = self.subject;
        let mut wrong: Vec<(Piece, NamedRows, bool)> = Vec::new();
        let sorts = member_sorts(&subject.plan);
        for (view, list) in &subject.named.0 {
            for (at, row) in list.iter().enumerate() {
                let piece = match self.member_of(view, row, &sorts) {
                    Some(member) => member,
                    None => Piece::Row(view.clone(), at),
                };
                for (rows, is_step) in otherwise(subject, view, at) {
                    wrong.push((piece.clone(), rows, is_step));
                }
            }
        }
        self.stream.shuffle(&mut wrong);
        // Where the world or the family refuses one, the next is tried.
        let mut tried = 0;
        for (piece, rows, is_step) in wrong.into_iter().take(4 * WRONG.0) {
            if tried == WRONG.0 {
                break;
            }
            let script = self.script(&rows);
            let Some(verdict) = self.judged(script) else { continue };
            tried += 1;
            self.wrong(&piece, &verdict, is_step);
        }
        Ok(())
    }

    /// What the family's mutator knows.
    fn mutated(&mut self, oracle: &Verdict) -> Result<(), String> {
        let subject = self.subject;
        let Some(mutator) = subject.family.mutator() else { return Ok(()) };
        // Which row it changes is not told, and rows are paid one by one.
        if subject.plan.parts.iter().any(|part| matches!(part.counts, PartCounts::Rows(_))) {
            return Ok(());
        }
        let applies = |check: &&Check| check.status == CheckStatus::Pass && part_of(&subject.plan, check).is_some();
        let mut checks: Vec<&Check> = oracle.checks.iter().filter(applies).collect();
        self.stream.shuffle(&mut checks);
        let mut tried = 0;
        for check in checks {
            if tried == WRONG.1 {
                break;
            }
            let mutation = mutator.mutate(&subject.case, &subject.named, &check.rule, &check.at)?;
            let Some(Mutation::Script(script)) = mutation else { continue };
            let Some(verdict) = self.judged(Ok(script)) else { continue };
            tried += 1;
            let piece = match part_of(&subject.plan, check) {
                Some((part, Some(member))) => Piece::Member(part, member),
                _ => Piece::Rest,
            };
            self.wrong(&piece, &verdict, false);
        }
        Ok(())
    }

    /// Holds a wrong piece to the same piece left out.
    fn wrong(&mut self, piece: &Piece, verdict: &Verdict, is_step: bool) {
        for rule in verdict.failed() {
            *self.broken.entry(format!("broken {rule}")).or_default() += 1;
            if is_step {
                *self.broken.entry(format!("tight {rule}")).or_default() += 1;
            }
        }
        let scoring = &self.subject.task.sealed.verifier.scoring;
        if !is_wrong(&self.subject.plan, piece, verdict, scoring.trace_family.as_deref()) {
            self.count("harmless");
            return;
        }
        let Some(left) = self.left_out(piece) else { return };
        self.count("wrong");
        if verdict.reward > left {
            self.faults.push(format!(
                "{piece:?} done wrongly ({}) earns {}, left out {left}",
                verdict.failed().join(", "),
                verdict.reward
            ));
        }
        if verdict.reward > scoring.broken_percent * FULL / 100 {
            self.faults.push(format!("{piece:?} done wrongly earns {}", verdict.reward));
        }
    }

    /// The member that a row belongs to.
    fn member_of(&self, view: &str, row: &BTreeMap<String, Binding>, sorts: &BTreeSet<usize>) -> Option<Piece> {
        if !is_of_member(&self.subject.plan, view, sorts) {
            return None;
        }
        self.subject.plan.parts.iter().find_map(|part| {
            let fields = fields_of_member(&self.subject.plan, view, &part.name);
            fields.iter().find_map(|field| match row.get(field) {
                Some(Binding::Key(key)) => Some(Piece::Member(part.name.clone(), key.clone())),
                _ => None,
            })
        })
    }
}

/// The sorts whose members have a part each.
fn member_sorts(plan: &Plan) -> BTreeSet<usize> {
    let sort = |counts: &PartCounts| match counts {
        PartCounts::Checks { per, .. } => *per,
        PartCounts::Rows(_) => None,
    };
    plan.parts.iter().filter_map(|part| sort(&part.counts)).collect()
}

/// Whether the rows of a view are about members that have a part each.
fn is_of_member(plan: &Plan, view: &str, sorts: &BTreeSet<usize>) -> bool {
    let Some(view) = plan.view_named(view) else { return false };
    plan.views[view].fields.iter().any(|field| matches!(field.ty, Type::Ref(sort) if sorts.contains(&sort.index())))
}

/// The fields of a view that name a member of a part.
fn fields_of_member(plan: &Plan, view: &str, part: &str) -> Vec<String> {
    let part = plan.parts.iter().find(|known| known.name == part);
    let Some(PartCounts::Checks { per: Some(of), .. }) = part.map(|part| &part.counts) else { return Vec::new() };
    let Some(view) = plan.view_named(view) else { return Vec::new() };
    let fields = plan.views[view].fields.iter();
    let names = fields.filter(|field| matches!(field.ty, Type::Ref(sort) if sort.index() == *of));
    names.map(|field| field.name.clone()).collect()
}

/// The part that a check belongs to, and its member.
fn part_of(plan: &Plan, check: &Check) -> Option<(String, Option<String>)> {
    let rule = plan.rules.iter().position(|rule| rule.id == check.rule)?;
    plan.parts.iter().find_map(|part| match &part.counts {
        PartCounts::Checks { rules, .. } => {
            let (_, member) = rules.iter().find(|(known, _)| *known == rule)?;
            Some((part.name.clone(), member.and_then(|place| check.at.get(place).cloned())))
        }
        // Rows are judged by all rules together.
        PartCounts::Rows(_) => (!matches!(plan.rules[rule].body, Body::Frame)).then(|| (part.name.clone(), None)),
    })
}

/// Whether a verdict finds that a piece breaks a constraint. What only cannot be traced is done, and is paid for less.
fn is_wrong(plan: &Plan, piece: &Piece, verdict: &Verdict, trace: Option<&str>) -> bool {
    let is_broken = |check: &&Check| check.status == CheckStatus::Fail && Some(&*check.family) != trace;
    let failed = verdict.checks.iter().filter(is_broken);
    let mut parts = failed.filter_map(|check| part_of(plan, check));
    match piece {
        Piece::Member(part, key) => {
            parts.any(|(found, member)| found == *part && member.is_none_or(|member| member == *key))
        }
        Piece::Row(..) | Piece::Rest => {
            let is_of_members = |name: &str| {
                plan.parts
                    .iter()
                    .any(|part| part.name == name && matches!(part.counts, PartCounts::Checks { per: Some(_), .. }))
            };
            parts.any(|(found, _)| !is_of_members(&found))
        }
    }
}

/// Whether the arguments of a call name a key.
fn names(arguments: &Json, key: &str) -> bool {
    match arguments {
        Json::String(text) => text == key,
        Json::Array(list) => list.iter().any(|value| names(value, key)),
        Json::Object(map) => map.values().any(|value| names(value, key)),
        _ => false,
    }
}

/// Other candidates for a row of a view in which no two rows are alike in some fields: those that are alike to it.
fn candidates(subject: &Subject<'_>, view: &str, row: &BTreeMap<String, Binding>) -> Vec<BTreeMap<String, Binding>> {
    let plan = &subject.plan;
    let (Some(at), Ok(candidates)) = (plan.view_named(view), subject.candidates(Breadth::Tight)) else {
        return Vec::new();
    };
    let mut rows = Rows::empty(plan);
    let fixed = |cell: &Cell| match cell {
        Cell::Fixed(n) => Some(*n),
        Cell::Free(..) => None,
    };
    rows.0[at] = candidates[at].iter().filter_map(|row| row.fields.iter().map(fixed).collect()).collect();
    let named = NamedRows::of(&rows, plan, &subject.bound).0.remove(view).unwrap_or_default();
    let alike = |other: &BTreeMap<String, Binding>| {
        let field = |place: &usize| &plan.views[at].fields[*place].name;
        plan.views[at].key.iter().map(field).all(|field| other.get(field) == row.get(field))
    };
    named.into_iter().filter(|other| other != row && alike(other)).take(4).collect()
}

/// A change of the rows of a view.
type Change<'a> = &'a dyn Fn(&mut Vec<BTreeMap<String, Binding>>);

/// The plan with one row otherwise, and whether that is one step of one number.
fn otherwise(subject: &Subject<'_>, view: &str, at: usize) -> Vec<(NamedRows, bool)> {
    let (plan, named) = (&subject.plan, &subject.named);
    let Some(declared) = plan.view_named(view).map(|view| &plan.views[view]) else { return Vec::new() };
    let Some(row) = named.0.get(view).and_then(|rows| rows.get(at)) else { return Vec::new() };
    let with = |change: Change<'_>| {
        let mut rows = named.clone();
        if let Some(list) = rows.0.get_mut(view) {
            change(list);
        }
        rows
    };
    let mut found = Vec::new();
    if !declared.key.is_empty() {
        for other in candidates(subject, view, row) {
            found.push((with(&|list| list[at].clone_from(&other)), false));
        }
        return found;
    }
    for field in &declared.fields {
        let mut values: Vec<(Binding, bool)> = Vec::new();
        match (row.get(&field.name), field.ty) {
            (Some(Binding::Number(n)), _) => {
                values
                    .extend([(n + 1, true), (n - 1, true), (2 * n, false)].map(|(n, step)| (Binding::Number(n), step)));
            }
            (Some(Binding::Key(key)), Type::Ref(sort)) => {
                let others = subject.bound.members[sort.index()].iter().filter(|other| *other != key);
                values.extend(others.take(3).map(|other| (Binding::Key(other.clone()), false)));
            }
            _ => {}
        }
        for (value, is_step) in values {
            let set =
                |list: &mut Vec<BTreeMap<String, Binding>>| drop(list[at].insert(field.name.clone(), value.clone()));
            found.push((with(&set), is_step));
        }
    }
    found.push((with(&|list| list.push(list[at].clone())), false));
    found
}
