//! Near-misses on every side. Each rule is taken apart into its conjuncts, each comparison into the sides on which it can be broken, each
//! view's condition into its conjuncts too; and every cell that a view reads is moved in the oracle's terminal state, one at a time.
//!
//! Two things are held:
//!
//! - **By the rules**: for each instance, conjunct and side a state is looked for that breaks it. The verdict on it must fail and name
//!   the rule. This finds what the verifier or its judge lost of a rule. Where no state is found there is a reason of a closed list, and the
//!   share of those is locked with the suite.
//! - **By the values alone**: what the oracle wrote is right, so any other value of a cell must cost the verdict, on either side of it,
//!   unless the plan declares under `slack` that a sentence leaves room on that side. This does not ask what the rule says, so it finds a
//!   rule that says too little: `>=` for `=`, a slack of cents, a view that counts quotations, a tolerance that a whole unit fits in. Far
//!   beyond there is never room, so that a last day on which nothing is held is found as well.
//!
//! A bound that rule, solver and oracle all read wrongly alike is not found here, but by whoever reads the brief without them.

use super::near_miss;
use crate::{
    Finding, Held, Subject,
    edits::{Edit, Way, cells_of, edits, touched},
    sides::{sides, views_of},
};
use benchwright_base::{TableId, Value, date::DAY};
use benchwright_expr::{Expr, Source, Type, eval::Judge, specialise};
use benchwright_grade::{Grader, SnapshotRecords};
use benchwright_pack::{Ending, Snapshot, Verdict, Verifier};
use benchwright_project::Mutation;
use benchwright_schema::plan::{Body, SlackText, ViewRows};
use std::collections::{BTreeMap, BTreeSet};

/// The most sides of a task that a solver is asked for, after cells and calls.
const SOLVED: usize = 24;

/// Why nothing breaks an instance on a side.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Reason {
    /// Another rule cannot hold without it.
    Implied(String),
    /// It says nothing of records.
    Facts,
    /// The oracle's plan has no row of the views that it reads.
    Nothing,
    /// The family says that no call can do it.
    Domain,
    /// No cell, near or far, and no call of the family's mutator breaks it there.
    NoValue,
}

impl Reason {
    fn told(&self) -> String {
        match self {
            Reason::Implied(by) => format!("implied by {by}"),
            Reason::Facts => "facts alone decide it".to_owned(),
            Reason::Nothing => "the plan has nothing of it".to_owned(),
            Reason::Domain => "the domain cannot hold it".to_owned(),
            Reason::NoValue => "no legal value lies there".to_owned(),
        }
    }
}

/// What became of a side.
enum Fate {
    Open,
    Killed { alone: bool },
    Survived,
}

/// One side of one conjunct of one instance of a rule.
struct Item {
    rule: usize,
    at: Vec<Value>,
    label: Vec<String>,
    conjunct: String,
    word: &'static str,
    /// Holds where it is broken, whatever the instance.
    side: Expr,
    /// The same of this instance, where the rule applies.
    broken: Expr,
    reads: BTreeSet<usize>,
    fate: Fate,
}

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match Bench::open(subject, grader) {
        Ok((verifier, state)) => match attack(subject, grader, &verifier, state) {
            Ok(finding) => finding,
            Err(why) => Finding::new(Held::NoVerdict(why)),
        },
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

/// A cell that can be changed in the oracle's state so that an instance of a rule is broken: how, which way, and what is found. A number
/// or a day that is moved by one comes first.
pub(super) fn breaks(
    subject: &Subject<'_>,
    grader: &Grader<'_>,
    rule: usize,
    at: &[String],
) -> Result<Option<(String, Way, Verdict)>, String> {
    let (verifier, mut state) = Bench::prepare(subject)?;
    let own = Grader::new(&subject.domain, &verifier, &subject.first, subject.family.natives());
    let own = own.map_err(|error| error.to_string())?;
    let base = own.rows(&state);
    let items: Vec<Item> =
        items(subject, &base, &state).into_iter().filter(|i| i.rule == rule && i.label == at).collect();
    let mut edits = edits(subject, &state);
    edits.sort_by_key(|edit| edit.way);
    for edit in edits {
        let found = edit.with(&mut state, |changed| {
            let rows = own.rows(changed);
            let judge = judge(subject, &rows, changed);
            let broken = items.iter().any(|item| judge.holds_at(&item.at, &item.broken));
            broken.then(|| grader.grade(changed).map_err(|error| error.to_string()))
        });
        // What the frame forbids is no way to break a rule of the job.
        if let Some(verdict) = found.transpose()?.filter(|verdict| verdict.gates.is_empty()) {
            return Ok(Some((edit.told(&subject.domain, &state), edit.way, verdict)));
        }
    }
    Ok(None)
}

fn judge<'r>(subject: &'r Subject<'_>, rows: &'r ViewRows, state: &Snapshot) -> Judge<'r, ViewRows> {
    let mut judge = Judge::new(rows, state.now);
    judge.facts = &subject.bound;
    judge
}

struct Bench<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    own: &'s Grader<'s>,
    base: ViewRows,
    items: Vec<Item>,
    conditions: Vec<Condition>,
    faults: Vec<String>,
    counts: BTreeMap<String, usize>,
    notes: BTreeMap<String, usize>,
}

/// One conjunct of a view's condition.
struct Condition {
    view: usize,
    nth: usize,
    /// All conjuncts of the view.
    all: Vec<Expr>,
    reads: BTreeSet<(TableId, usize)>,
    /// The rows that the oracle touched and that the view has.
    rows: Vec<u32>,
    killed: bool,
}

impl<'s, 'a> Bench<'s, 'a> {
    /// The rules as compiled, not as the verifier may have lost some of them, and the oracle's terminal state.
    fn prepare(subject: &Subject<'_>) -> Result<(Verifier, Snapshot), String> {
        let state = subject.play(&subject.task.sealed.oracle).map_err(|error| error.to_string())?;
        let bindings = subject.family.bindings(&subject.case)?;
        let verifier = Verifier { plan: subject.text.clone(), bindings, ..subject.task.sealed.verifier.clone() };
        Ok((verifier, state))
    }

    fn open(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<(Verifier, Snapshot), String> {
        let (verifier, state) = Bench::prepare(subject)?;
        let verdict = grader.grade(&state).map_err(|error| error.to_string())?;
        subject.must_stand(&verdict)?;
        Ok((verifier, state))
    }

    /// Whether a verdict is a worse one than the oracle's.
    fn fell(&self, verdict: &Verdict) -> bool {
        match self.subject.task.sealed.verifier.anchors {
            Some(_) => verdict.ending != Ending::Error && self.subject.fell(verdict),
            None => verdict.ending == Ending::Fail,
        }
    }

    fn count(&mut self, name: impl Into<String>) {
        *self.counts.entry(name.into()).or_default() += 1;
    }

    /// Judges a state that was changed in one place. Whether any view sees the change.
    fn judge(&mut self, what: &str, verdict: &Verdict, changed: &Snapshot) -> bool {
        let rows = self.own.rows(changed);
        let moved: BTreeSet<usize> =
            (0..rows.views.len()).filter(|at| rows.views[*at] != self.base.views[*at]).collect();
        let judge = judge(self.subject, &rows, changed);
        let failed = verdict.failed();
        for item in &mut self.items {
            if !matches!(item.fate, Fate::Open | Fate::Killed { alone: false })
                || item.reads.is_disjoint(&moved)
                || !judge.holds_at(&item.at, &item.broken)
            {
                continue;
            }
            let rule = &self.subject.plan.rules[item.rule];
            if failed.contains(&&*rule.id) {
                let alone = failed.iter().all(|id| *id == rule.id || rule.text.twins.iter().any(|twin| twin == id));
                item.fate = Fate::Killed { alone };
            } else {
                let (conjunct, word, at) = (&item.conjunct, item.word, &item.label);
                let refused =
                    if verdict.ending == Ending::Fail { format!("refused by {failed:?}") } else { "passed".to_owned() };
                self.faults
                    .push(format!("{} {at:?}, conjunct {conjunct} {word}: broken by {what}, and {refused}", rule.id));
                item.fate = Fate::Survived;
            }
        }
        !moved.is_empty()
    }

    /// Whether a view has lost a row for one conjunct of its condition alone.
    fn conditions(&mut self, edit: &Edit, changed: &Snapshot, fell: bool) {
        let records = SnapshotRecords(changed);
        for condition in &mut self.conditions {
            if condition.killed || !fell || !condition.reads.contains(&(edit.table, edit.field)) {
                continue;
            }
            let from = self.subject.plan.views[condition.view].from;
            condition.killed = condition.rows.iter().any(|id| {
                use benchwright_expr::eval::Records as _;
                records.row(from, *id).is_some_and(|row| {
                    let judge = Judge::new(&records, changed.now).of(row);
                    condition.all.iter().enumerate().all(|(nth, part)| judge.holds(part) != (nth == condition.nth))
                })
            });
        }
    }

    /// Whether a value that stood was allowed to.
    fn licensed(&mut self, edit: &Edit, what: &str, verdict: &Verdict) {
        let subject = self.subject;
        let table = subject.domain.table(edit.table);
        let (name, field) = (&table.name, &table.fields[edit.field].name);
        // What is free altogether, or written by the system alone, is for the trial of cells to hold.
        let is_free = subject.text.free.get(name).is_some_and(|fields| fields.contains_key(field));
        if is_free || subject.text.stamped.get(name).is_some_and(|fields| fields.contains(field)) {
            self.count("free");
            return;
        }
        let slack = subject.text.slack.get(name).and_then(|fields| fields.get(field));
        let why = slack.and_then(|slack| allowed(slack, edit.way));
        match why {
            Some(_) if verdict.ending == Ending::Error => self.faults.push(format!("{what}: no verdict")),
            Some(_) if slack.is_some_and(|slack| slack.dear) && self.is_scored() => {
                self.faults.push(format!("{what}: it costs nothing"));
            }
            Some(why) => {
                self.count("slack");
                let note = format!("{name}.{field} may lie {}: {why}", edit.way.word());
                *self.notes.entry(note).or_default() += 1;
            }
            None => self.faults.push(format!("{what}: it still earns {}", verdict.reward)),
        }
    }

    /// Whether the objective has anything that counts.
    fn is_scored(&self) -> bool {
        let phases = self.subject.plan.objectives.get(&self.subject.task.sealed.verifier.objective);
        phases.is_some_and(|phases| phases.iter().any(|phase| phase.text.share > 0))
    }

    /// Where days may lie earlier, all of them at once on the first day: while something else of the plan comes later, that is too early.
    fn together(&mut self, state: &Snapshot) -> Result<(), String> {
        let subject = self.subject;
        let touched = touched(subject, state);
        let day = |value: &Value| match value {
            Value::DateTime(at) => Some(at.date()),
            Value::Date(date) => Some(*date),
            _ => None,
        };
        let mut early = state.clone();
        let (mut moved, mut later) = (0, false);
        for (table, field, slack) in slacks(subject) {
            for at in touched.get(&table).into_iter().flatten() {
                let cell = &mut early.tables[table.index()].rows[*at][field];
                let Some(days) = day(cell).map(|day| i64::from(day.0) - i64::from(subject.bound.anchor.0)) else {
                    continue;
                };
                if slack.below.is_some() && slack.above.is_none() && days > 0 {
                    let first = match cell {
                        Value::DateTime(at) => at.add_seconds(-days * DAY).map(Value::DateTime),
                        _ => Some(Value::Date(subject.bound.anchor)),
                    };
                    *cell = first.unwrap_or_default();
                    moved += 1;
                }
                later |= slack.above.is_some() && days > 0;
            }
        }
        if moved == 0 || !later {
            return Ok(());
        }
        let verdict = self.grader.grade(&early).map_err(|error| error.to_string())?;
        self.count("all at once");
        self.judge("everything on the first day", &verdict, &early);
        if verdict.ending != Ending::Fail {
            self.faults.push("everything may be promised for the first day, although something comes later".to_owned());
        }
        Ok(())
    }

    /// Breaks what no cell breaks by the calls of the family's mutator.
    fn mutate(&mut self) -> Result<BTreeMap<(usize, Vec<String>), bool>, String> {
        let mut impossible = BTreeMap::new();
        let open: BTreeSet<(usize, Vec<String>)> =
            self.items.iter().filter(|i| matches!(i.fate, Fate::Open)).map(|i| (i.rule, i.label.clone())).collect();
        let Some(mutator) = self.subject.family.mutator() else { return Ok(impossible) };
        for (rule, at) in open {
            let id = &self.subject.plan.rules[rule].id;
            match mutator.mutate(&self.subject.case, &self.subject.named, id, &at) {
                Ok(Some(Mutation::Script(script))) => {
                    let Ok(state) = self.subject.play(&script) else { continue };
                    let verdict = self.grader.grade(&state).map_err(|error| error.to_string())?;
                    self.judge("the family's near-miss", &verdict, &state);
                }
                Ok(Some(Mutation::None(_))) => _ = impossible.insert((rule, at), true),
                Ok(None) | Err(_) => {}
            }
        }
        Ok(impossible)
    }

    /// What of a rule that a solver reads neither a cell nor a call broke.
    fn solve(&mut self) -> Result<(), String> {
        let rules = &self.subject.plan.rules;
        let lowered = |item: &&Item| {
            let rule = &rules[item.rule];
            matches!(item.fate, Fate::Open) && rule.lowered && rule.text.implied_by.is_none() && !item.reads.is_empty()
        };
        let open = self.items.iter().filter(lowered).take(SOLVED);
        let open: Vec<near_miss::Wanted> =
            open.map(|item| (item.rule, item.label.clone(), item.side.clone())).collect();
        if open.is_empty() || self.subject.family.optimised().is_none() {
            return Ok(());
        }
        for rows in near_miss::points(self.subject, &open)? {
            let named = benchwright_spec::NamedRows::of(&rows, &self.subject.plan, &self.subject.bound);
            let Ok(script) = self.subject.family.script(&self.subject.case, &named) else { continue };
            let Ok(state) = self.subject.play(&script) else { continue };
            let verdict = self.grader.grade(&state).map_err(|error| error.to_string())?;
            self.judge("the solver's near-miss", &verdict, &state);
        }
        Ok(())
    }

    fn finding(mut self, impossible: &BTreeMap<(usize, Vec<String>), bool>) -> Finding {
        let mut tally: Vec<String> = Vec::new();
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for item in &self.items {
            tally.push("instances".to_owned());
            match item.fate {
                Fate::Killed { alone } => {
                    tally.extend(["killed".to_owned(), format!("killed {}", item.word)]);
                    tally.extend(alone.then(|| "alone".to_owned()));
                }
                Fate::Survived => tally.push("survived".to_owned()),
                Fate::Open => {
                    let rule = &self.subject.plan.rules[item.rule];
                    let reason = self.reason(item, impossible);
                    tally.extend(["unbreakable".to_owned(), format!("unbreakable {}", item.word)]);
                    tally.push(format!("unbreakable, {}", reason.told()));
                    let note = format!("{}, conjunct {} {}: {}", rule.id, item.conjunct, item.word, reason.told());
                    *reasons.entry(note).or_default() += 1;
                }
            }
        }
        for condition in &self.conditions {
            tally.push("conditions".to_owned());
            let view = &self.subject.plan.views[condition.view].name;
            if condition.killed {
                tally.push("conditions killed".to_owned());
            } else {
                let why = if condition.rows.is_empty() { Reason::Nothing } else { Reason::NoValue };
                tally.push("conditions unbreakable".to_owned());
                *reasons
                    .entry(format!("the view {view}, condition {}: {}", condition.nth + 1, why.told()))
                    .or_default() += 1;
            }
        }
        for name in tally {
            self.count(name);
        }
        let mut finding = Finding::of(&self.faults);
        finding.notes = reasons.into_keys().chain(self.notes.into_keys()).collect();
        finding.notes.extend(self.faults.into_iter().skip(1));
        for (name, count) in self.counts {
            finding = finding.count(&name, count);
        }
        finding
    }

    fn reason(&self, item: &Item, impossible: &BTreeMap<(usize, Vec<String>), bool>) -> Reason {
        let rule = &self.subject.plan.rules[item.rule];
        if let Some(by) = &rule.text.implied_by {
            return Reason::Implied(by.clone());
        }
        if item.reads.is_empty() || item.broken == Expr::Truth(false) {
            return Reason::Facts;
        }
        if item.reads.iter().all(|view| self.base.views[*view].is_empty()) {
            return Reason::Nothing;
        }
        if impossible.contains_key(&(item.rule, item.label.clone())) { Reason::Domain } else { Reason::NoValue }
    }
}

/// The fields with slack.
fn slacks<'s>(subject: &'s Subject<'_>) -> Vec<(TableId, usize, &'s SlackText)> {
    let mut found = Vec::new();
    for (name, fields) in &subject.text.slack {
        let Some(table) = subject.domain.table_named(name) else { continue };
        for (field, slack) in fields {
            let place = subject.domain.table(table).field_named(field);
            found.extend(place.map(|place| (table, place.index(), slack)));
        }
    }
    found
}

fn allowed(slack: &SlackText, way: Way) -> Option<&str> {
    match way {
        Way::Below => slack.below.as_deref(),
        Way::Above => slack.above.as_deref(),
        Way::Other => slack.other.as_deref(),
        // What only costs more has no end.
        Way::FarAbove if slack.dear || slack.endless => slack.above.as_deref(),
        Way::Emptied | Way::FarBelow | Way::FarAbove | Way::Dropped => None,
    }
}

fn attack(
    subject: &Subject<'_>,
    grader: &Grader<'_>,
    verifier: &Verifier,
    mut state: Snapshot,
) -> Result<Finding, String> {
    let own = Grader::new(&subject.domain, verifier, &subject.first, subject.family.natives());
    let own = own.map_err(|error| error.to_string())?;
    let base = own.rows(&state);
    let mut bench = Bench {
        subject,
        grader,
        own: &own,
        items: items(subject, &base, &state),
        conditions: conditions(subject, &state),
        base,
        faults: odd_slack(subject),
        counts: BTreeMap::new(),
        notes: BTreeMap::new(),
    };
    for edit in edits(subject, &state) {
        let what = edit.told(&subject.domain, &state);
        let (verdict, seen) = edit.with(&mut state, |changed| -> Result<(Verdict, bool), String> {
            let verdict = grader.grade(changed).map_err(|error| error.to_string())?;
            let seen = bench.judge(&what, &verdict, changed);
            bench.conditions(&edit, changed, bench.fell(&verdict));
            Ok((verdict, seen))
        })?;
        // A row that no view has may hold what it likes in a field that views read elsewhere.
        if !seen {
            continue;
        }
        bench.count("values");
        if bench.fell(&verdict) {
            bench.count(format!("values {} fell", edit.way.word()));
        } else {
            bench.licensed(&edit, &what, &verdict);
        }
    }
    bench.together(&state)?;
    let impossible = bench.mutate()?;
    bench.solve()?;
    Ok(bench.finding(&impossible))
}

/// What is declared as slack names a rule of the family that leaves it, or says why it is harmless.
fn odd_slack(subject: &Subject<'_>) -> Vec<String> {
    let rules = &subject.family.plan_of(&subject.case.switches).rules;
    let mut faults = Vec::new();
    for (table, fields) in &subject.text.slack {
        for (field, slack) in fields {
            let reasons = [&slack.below, &slack.above, &slack.other].into_iter().flatten();
            let odd = reasons.filter(|why| !why.contains(' ') && !rules.contains_key(*why));
            faults.extend(odd.map(|why| format!("the slack of {table}.{field} names {why}, which is no rule")));
        }
    }
    faults
}

/// Every side of every conjunct of every instance.
fn items(subject: &Subject<'_>, base: &ViewRows, state: &Snapshot) -> Vec<Item> {
    let plan = &subject.plan;
    let mut found = Vec::new();
    for (at, rule) in plan.rules.iter().enumerate() {
        let Body::Expr(body) = &rule.body else { continue };
        let sides = sides(plan, body);
        let judge = judge(subject, base, state);
        let mut instances: Vec<Vec<Value>> = Vec::new();
        judge.instances(&rule.per, &mut |here| instances.push(here.at.to_vec()));
        for values in instances {
            let label: Vec<String> =
                rule.per.iter().zip(&values).map(|(binder, value)| label(subject, &binder.source, value)).collect();
            for side in &sides {
                let broken = match &rule.applies {
                    Some(applies) => Expr::And(vec![applies.clone(), side.broken.clone()]),
                    None => side.broken.clone(),
                };
                let broken = specialise(&broken, &values, &subject.bound);
                let reads = views_of(plan, &broken);
                // What holds of the oracle's own state is no side of anything it could break.
                if judge.holds_at(&values, &broken) {
                    continue;
                }
                found.push(Item {
                    rule: at,
                    at: values.clone(),
                    label: label.clone(),
                    conjunct: side.conjunct.clone(),
                    word: side.word,
                    side: side.broken.clone(),
                    broken,
                    reads,
                    fate: Fate::Open,
                });
            }
        }
    }
    found
}

fn label(subject: &Subject<'_>, source: &Source, value: &Value) -> String {
    match (source, value) {
        (Source::Set(set), Value::Ref(member)) => match subject.plan.sets[set.index()].1 {
            Type::Ref(sort) => subject.bound.key_of(sort.index(), *member),
            _ => member.to_string(),
        },
        (_, value) => value.as_number().map_or_else(|| format!("{value:?}"), |number| number.to_string()),
    }
}

/// Every conjunct of every view's condition, with the rows of the oracle's that hold it.
fn conditions(subject: &Subject<'_>, state: &Snapshot) -> Vec<Condition> {
    let touched = touched(subject, state);
    let records = SnapshotRecords(state);
    let mut found = Vec::new();
    for (view, declared) in subject.plan.views.iter().enumerate() {
        let Some(only) = &declared.only else { continue };
        let all = match only {
            Expr::And(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        let places = touched.get(&declared.from).into_iter().flatten();
        let rows = places.map(|at| &*state.tables[declared.from.index()].rows[*at]);
        let rows = rows.filter(|row| Judge::new(&records, state.now).of(*row).holds(only));
        let rows: Vec<u32> = rows.filter_map(|row| row[0].as_ref_id()).collect();
        for nth in 0..all.len() {
            let mut reads = BTreeSet::new();
            cells_of(&all[nth], &mut reads);
            found.push(Condition { view, nth, all: all.clone(), reads, rows: rows.clone(), killed: false });
        }
    }
    found
}
