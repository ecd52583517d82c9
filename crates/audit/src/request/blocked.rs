//! Requests that cannot be carried out: that the reason is the one that is given and no other, that nothing but declining for it passes,
//! and that a state in which the impossible was done is noticed and keeps its verdict.

use super::{
    RequestSubject, finding, na,
    near_miss::Misses,
    state::{Key, add, put, row, tables, take_away},
};
use crate::Finding;
use benchwright_base::{RowId, TableId, Value};
use benchwright_derive::Derived;
use benchwright_expr::Type;
use benchwright_grade::{EffectsGrader, FULL};
use benchwright_pack::{
    Change, Ending, Refusal, RefusalCode, Script, Snapshot,
    effects::{CheckKind, Effects, ExpectedRefusal, ExpectedRow, Target},
};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{By, Domain};
use benchwright_spec::scenario::{BlockingRule, Obstacle};
use benchwright_world::{ReplayError, Seat, seen};
use serde_json::{Value as Json, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(super) const DECLINE: &str = "decline_request";
/// The check of whoever declines.
const DECLINED: &str = "decline";
const REASON: &str = "reason";
const FRAME: &str = "frame";
/// Rules that are given as a wrong reason.
const RULES: usize = 8;

const CAN_BE_DONE: &str =
    "the request can be carried out; what one call more makes of its end is for `aftermath` to see";

/// Declines in an episode. Whether the world took it.
pub(super) fn decline(episode: &mut Episode, kind: &str, rule: Option<&str>, record: Option<&str>) -> bool {
    let mut args = json!({ "kind": kind });
    if let Some(rule) = rule {
        args["rule"] = rule.into();
    }
    if let Some(record) = record {
        args["record"] = record.into();
    }
    episode.call(DECLINE, &args.to_string()).is_ok()
}

/// What came of going ahead all the same.
struct Ahead {
    episode: Episode,
    /// How the world refused calls.
    refused: Vec<Refusal>,
    /// Tools that are needed and not offered.
    withheld: Vec<String>,
    /// What the calls looked for and did not find.
    missing: Vec<String>,
}

/// Makes the twin's calls in the blocked world; what is refused is left out.
fn ahead(subject: &RequestSubject<'_>, twin: &Derived) -> Result<Ahead, String> {
    let mut ahead = Ahead { episode: subject.begin()?, refused: Vec::new(), withheld: Vec::new(), missing: Vec::new() };
    let mut known = seen::Seen::new(&subject.domain, ahead.episode.now());
    for fact in &twin.oracle.given {
        known.give(&fact.name, &fact.ty, &fact.value);
    }
    for (at, step) in twin.oracle.steps.iter().enumerate() {
        let name = step.tool();
        if !subject.offers(&name) {
            ahead.withheld.push(name);
            continue;
        }
        let made = {
            let episode = &mut ahead.episode;
            let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
            seen::step_with(&mut known, at, step, &mut call, &mut |_, _, _: &Json| {})
        };
        match made {
            Ok(()) => {}
            Err(ReplayError::Refused { refusal, .. }) => ahead.refused.push(refusal),
            Err(other) => ahead.missing.push(other.to_string()),
        }
    }
    Ok(ahead)
}

/// An episode in which somebody went ahead all the same.
pub(super) fn gone_ahead(subject: &RequestSubject<'_>) -> Result<Episode, String> {
    Ok(ahead(subject, subject.twin()?)?.episode)
}

/// An expectation of the twin that is about what was asked for, not about what the policy wants.
fn is_asked(effects: &Effects, name: &str, row: Option<RowId>, field: Option<&str>) -> bool {
    let fits = |wanted: &&ExpectedRow| {
        wanted.table == name
            && match (&wanted.row, row) {
                (Target::Id(id) | Target::Gone(id), Some(row)) => *id == row,
                (Target::New, None) => true,
                _ => false,
            }
            && field.is_none_or(|field| wanted.cells.contains_key(field))
    };
    let mut wanted = effects.expected.iter().filter(fits).peekable();
    wanted.peek().is_some() && wanted.any(|wanted| wanted.kind == CheckKind::Completion)
}

/// The rules that break where what is asked for is put into a world by force, and nothing that the policy wants.
fn broken_by_force(world: &Arc<Sandbox>, seat: &Seat, twin: &Derived) -> Result<BTreeSet<String>, String> {
    let mut episode = twin.world.begin(&twin.seat, Conditions::default()).map_err(|error| error.to_string())?;
    seen::play(&twin.oracle, &mut episode).map_err(|error| error.to_string())?;
    let domain = world.domain();
    let start = world.begin(seat, Conditions::default()).map_err(|error| error.to_string())?;
    let mut state: Snapshot = start.snapshot();
    state.first = Some(world.origin());
    let mut ids: BTreeMap<Key, RowId> = BTreeMap::new();
    let diff = episode.diff();
    for (table, id, change) in &diff.changes {
        let declared = domain.table(*table);
        if declared.log || declared.once {
            continue;
        }
        match change {
            Change::Added(cells) if is_asked(&twin.effects, &declared.name, None, None) => {
                let new = add(domain, &mut state, *table, cells.clone());
                ids.insert((*table, *id), new);
            }
            Change::Changed(fields) => {
                for field in fields {
                    let name = &declared.field(field.field).name;
                    if is_asked(&twin.effects, &declared.name, Some(*id), Some(name)) {
                        put(&mut state, (*table, *id), field.field.index(), field.new.clone());
                    }
                }
            }
            Change::Removed(_) if is_asked(&twin.effects, &declared.name, Some(*id), None) => {
                take_away(domain, &mut state, (*table, *id));
            }
            Change::Added(_) | Change::Removed(_) => {}
        }
    }
    lead_to(domain, &mut state, &ids);
    let stands = world.standing_at(seat, &state).map_err(|error| error.to_string())?;
    let mut broken = stands.judge_since(&start, By::Tool);
    broken.extend(stands.judge());
    Ok(broken.iter().map(|broken| domain.rules[broken.rule].id.clone()).collect())
}

/// Makes references to rows that got another id lead to them.
fn lead_to(domain: &Domain, state: &mut Snapshot, ids: &BTreeMap<Key, RowId>) {
    let new: BTreeSet<Key> = ids.iter().map(|((table, _), new)| (*table, *new)).collect();
    for table in tables(domain) {
        let fields = &domain.table(table).fields;
        for cells in &mut state.tables[table.index()].rows {
            let is_new = cells[0].as_ref_id().is_some_and(|id| new.contains(&(table, id)));
            for (field, cell) in fields.iter().zip(cells.iter_mut()).skip(1).filter(|_| is_new) {
                if let (Type::Ref(to), Value::Ref(old)) = (field.ty, &*cell)
                    && let Some(new) = ids.get(&(to, *old))
                {
                    *cell = Value::Ref(*new);
                }
            }
        }
    }
}

/// Everything that may be said of what a call would have done: the names of the tables that it writes, what stands in the rows that it
/// makes, changes and drops, and in those that they lead to.
fn sayings(domain: &Domain, did: &Did, said: &mut BTreeSet<String>) {
    let natives = domain.tool_named(&did.tool).and_then(|tool| domain.tools[tool].native.as_ref());
    let written = natives.iter().flat_map(|native| native.writes.iter().copied());
    for table in written.chain(did.rows.iter().map(|(table, _)| *table)) {
        let declared = domain.table(table);
        said.extend([declared.own_name().to_lowercase(), declared.name.to_lowercase()]);
        said.insert(declared.own_name().replace('_', " ").to_lowercase());
    }
    let cells_of = |key: Key| row(&did.before, key).into_iter().chain(row(&did.after, key));
    let mut rows = did.rows.clone();
    for key in &did.rows {
        for cells in cells_of(*key) {
            let fields = domain.table(key.0).fields.iter().zip(cells);
            rows.extend(fields.filter_map(|(field, cell)| match (field.ty, cell) {
                (Type::Ref(to), Value::Ref(id)) => Some((to, *id)),
                _ => None,
            }));
        }
    }
    for key in rows {
        for cells in cells_of(key) {
            said.extend(cells.iter().filter_map(Value::as_text).map(str::to_lowercase));
        }
    }
}

/// The reason is the one that is given: the twin passes in its world, and in this one what is asked for meets the obstacle and no other.
/// Of a request nothing is planned.
pub(crate) fn not_planned(_: &RequestSubject<'_>) -> Finding {
    na("a request is carried out, not planned")
}

pub(crate) fn dominance(subject: &RequestSubject<'_>) -> Finding {
    match &subject.effects.refusal {
        None => na(CAN_BE_DONE),
        Some(refusal) => finding(reasons(subject, refusal)),
    }
}

fn reasons(subject: &RequestSubject<'_>, refusal: &ExpectedRefusal) -> Result<Finding, String> {
    let mut faults = Vec::new();
    let mut notes = Vec::new();
    let twin = subject.twin()?;
    let grader = EffectsGrader::new(Arc::clone(&twin.world), &twin.effects, &twin.seat);
    let grader = grader.map_err(|error| error.to_string())?;
    let mut episode = twin.world.begin(&twin.seat, Conditions::default()).map_err(|error| error.to_string())?;
    seen::play(&twin.oracle, &mut episode).map_err(|error| error.to_string())?;
    let verdict = grader.grade_live(&episode).map_err(|error| error.to_string())?;
    if verdict.ending != Ending::Pass || verdict.reward != FULL {
        faults.push(format!("without the fact it cannot be carried out either: {:?}", verdict.failed()));
    }
    let Some(variant) = subject.variant() else {
        return Ok(Finding::of(&[format!("{} is no variant of the scenario", subject.task.sealed.objective)]));
    };
    if variant.obstacle.word() != refusal.obstacle {
        faults.push(format!("the scenario says {}, the reason is {}", variant.obstacle.word(), refusal.obstacle));
    }
    let ahead = ahead(subject, twin)?;
    let is_clean = ahead.refused.is_empty()
        && ahead.withheld.is_empty()
        && ahead.missing.is_empty()
        && ahead.episode.judge().is_empty();
    let asks_more = !variant.clauses.is_empty() || !variant.ensure.is_empty();
    let mut said = BTreeSet::new();
    match variant.obstacle {
        Obstacle::Policy if matches!(variant.rule, Some(BlockingRule::Rule(_))) => {
            let here = broken_by_force(&subject.sandbox, &subject.seat, twin)?;
            // Where a value is read in the world, it is another here: going ahead tells what it comes to.
            let met = ahead.refused.iter().filter_map(|refusal| refusal.rule.clone());
            let judged = ahead.episode.judge().into_iter().map(|broken| subject.domain.rules[broken.rule].id.clone());
            let met: BTreeSet<String> = met.chain(judged).collect();
            let there = broken_by_force(&twin.world, &twin.seat, twin)?;
            if asks_more {
                notes.push("what is asked for beside cannot be forced by the twin's calls".to_owned());
            }
            for rule in refusal.rules.iter().filter(|rule| !asks_more && !here.contains(*rule) && !met.contains(*rule))
            {
                faults.push(format!("{rule} is a reason, and what is asked for does not break it"));
            }
            for rule in here.difference(&there).filter(|rule| !refusal.rules.contains(rule)) {
                faults.push(format!("{rule} stands in the way too, and is no reason"));
            }
            if is_clean {
                notes.push(
                    "the twin's calls go through in the blocked world: the policy forbids them in words alone"
                        .to_owned(),
                );
            }
        }
        Obstacle::Policy => {
            let stopped = ahead.refused.iter().any(|refusal| refusal.code == RefusalCode::TransitionNotAllowed);
            if !stopped {
                faults.push("no step is refused by how states follow each other".to_owned());
            }
        }
        Obstacle::Permission => {
            let did = one_by_one(subject, twin)?;
            let forbidden = did.iter().filter(|did| did.refused == Some(RefusalCode::Forbidden));
            let writes = |tool: &str| {
                let tool = subject.domain.tool_named(tool).map(|tool| &subject.domain.tools[tool]);
                tool.is_some_and(|tool| !tool.reads_only())
            };
            let (writes, reads): (Vec<&Did>, Vec<&Did>) = forbidden.partition(|did| writes(&did.tool));
            if writes.is_empty() {
                faults.push("the seat may do all that is asked for".to_owned());
            }
            writes.iter().for_each(|did| sayings(&subject.domain, did, &mut said));
            if !reads.is_empty() {
                let tools: BTreeSet<&str> = reads.iter().map(|did| &*did.tool).collect();
                notes.push(format!("the seat may not read what the request speaks of either: {tools:?}"));
            }
        }
        Obstacle::NoTool if !asks_more => {
            if ahead.withheld.is_empty() {
                faults.push("every tool that is needed is offered".to_owned());
            }
            let did = one_by_one(subject, twin)?;
            let withheld = did.iter().filter(|did| !subject.offers(&did.tool));
            withheld.for_each(|did| sayings(&subject.domain, did, &mut said));
        }
        Obstacle::NotFound => match &variant.lost {
            Some(lost) if lost.path.is_some() => {
                for record in &refusal.records {
                    if !subject.request().contains(&**record) {
                        faults.push(format!("`{record}` is a reason, and the request does not speak of it"));
                    }
                    if is_there(subject, record) {
                        faults.push(format!("`{record}` is there"));
                    }
                }
            }
            // Where a set is empty, the calls go through and do less.
            _ if is_clean && ahead.episode.diff().changes.len() >= episode.diff().changes.len() => {
                faults.push("everything that the request speaks of is there".to_owned())
            }
            _ => {}
        },
        Obstacle::NoTool | Obstacle::Contradiction => {
            notes.push("what is asked for beside cannot be forced by the twin's calls".to_owned());
        }
    }
    if !said.is_empty() {
        for record in refusal.records.iter().filter(|record| !said.contains(&record.to_lowercase())) {
            faults.push(format!("`{record}` is a reason, and is nothing of a row that stands in the way"));
        }
    }
    let mut finding = Finding::of(&faults);
    finding.notes = notes;
    Ok(finding.count("reasons", refusal.rules.len() + refusal.records.len()))
}

/// The calls that the twin makes.
fn calls(twin: &Derived) -> Result<Vec<(String, Json)>, String> {
    let mut episode = twin.world.begin(&twin.seat, Conditions::default()).map_err(|error| error.to_string())?;
    let mut calls = Vec::new();
    let mut note = |_: usize, tool: &str, args: &Json| calls.push((tool.to_owned(), args.clone()));
    seen::play_with(&twin.oracle, &mut episode, &mut note).map_err(|error| error.to_string())?;
    Ok(calls)
}

/// What a call of the twin does, and whether the blocked seat may make it where the twin does.
struct Did {
    tool: String,
    refused: Option<RefusalCode>,
    /// The rows that it makes, changes and drops.
    rows: Vec<Key>,
    before: Snapshot,
    after: Snapshot,
}

fn one_by_one(subject: &RequestSubject<'_>, twin: &Derived) -> Result<Vec<Did>, String> {
    let mut episode = twin.world.begin(&twin.seat, Conditions::default()).map_err(|error| error.to_string())?;
    let mut done = Vec::new();
    for (tool, args) in calls(twin)? {
        let before = episode.snapshot();
        let mut here = twin.world.standing_at(&subject.seat, &before).map_err(|error| error.to_string())?;
        let refused = here.call(&tool, &args.to_string()).err().map(|refusal| refusal.code);
        let start = episode.fork();
        episode.call(&tool, &args.to_string()).map_err(|refusal| refusal.to_string())?;
        let rows = episode.diff_from(&start).changes.into_iter().map(|(table, row, _)| (table, row)).collect();
        done.push(Did { tool, refused, rows, before, after: episode.snapshot() });
    }
    Ok(done)
}

/// Whether a text stands in some cell of the world.
fn is_there(subject: &RequestSubject<'_>, text: &str) -> bool {
    let is_it = |cell: &Value| cell.as_text().is_some_and(|known| known.eq_ignore_ascii_case(text));
    subject.first.tables.iter().any(|table| table.rows.iter().flatten().any(is_it))
}

/// A state in which the impossible was done and no rule is broken raises the alarm, and keeps its verdict.
pub(crate) fn canary(subject: &RequestSubject<'_>) -> Finding {
    if !subject.is_blocked() {
        return na("the request can be carried out, so nothing better than it can be forged");
    }
    finding(forged(subject))
}

fn forged(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let twin = subject.twin()?;
    let effects = Effects { world: twin.world.origin().to_string(), ..subject.effects.clone() };
    let grader =
        EffectsGrader::new(Arc::clone(&twin.world), &effects, &twin.seat).map_err(|error| error.to_string())?;
    let mut episode = twin.world.begin(&twin.seat, Conditions::default()).map_err(|error| error.to_string())?;
    let wrong = |error: benchwright_grade::EffectsError| error.to_string();
    let mut faults = Vec::new();
    if grader.did_the_impossible(&episode).map_err(wrong)? {
        faults.push("doing nothing raises the alarm".to_owned());
    }
    seen::play(&twin.oracle, &mut episode).map_err(|error| error.to_string())?;
    if !grader.did_the_impossible(&episode).map_err(wrong)? {
        faults.push("the impossible was done, no rule is broken, and no alarm is raised".to_owned());
    }
    let verdict = grader.grade_live(&episode).map_err(wrong)?;
    if verdict.ending != Ending::Fail || verdict.reward != 0 {
        faults.push(format!("an alarm changes the verdict: {:?}, {}", verdict.ending, verdict.reward));
    }
    let (declined, _) = subject.play(&subject.task.sealed.oracle)?;
    if subject.grader.did_the_impossible(&declined).map_err(wrong)? {
        faults.push("declining raises the alarm".to_owned());
    }
    Ok(Finding::of(&faults))
}

/// The ways to treat a request wrongly that cannot be carried out.
pub(super) fn near_misses(subject: &RequestSubject<'_>) -> Result<Finding, String> {
    let mut misses = Misses::new(subject);
    let Some(refusal) = &subject.effects.refusal else { return Err("it can be carried out".to_owned()) };
    let (kind, rule, record) =
        (&*refusal.obstacle, refusal.rules.first().map(|rule| &**rule), refusal.records.first().map(|r| &**r));
    let record = record.filter(|_| rule.is_none());
    let twin = subject.twin()?;
    let ahead = ahead(subject, twin)?;
    let gone = &ahead.episode;
    // Where nothing stops whoever goes ahead, only the judge does.
    if ahead.refused.is_empty() && ahead.withheld.is_empty() && ahead.missing.is_empty() {
        misses.count("gone ahead and nothing refused");
    }
    let verdict = subject.judged(gone)?;
    let differs = !gone.diff().changes.is_empty();
    misses.verdict("gone_ahead", "the twin's calls", &verdict, if differs { &[DECLINED, FRAME] } else { &[DECLINED] });
    half_done(subject, twin, &mut misses, kind, rule, record)?;
    for other in Obstacle::ALL.into_iter().map(Obstacle::word).filter(|other| *other != kind) {
        let mut episode = subject.begin()?;
        decline(&mut episode, other, rule, record);
        misses.verdict("other_kind", other, &subject.judged(&episode)?, &[REASON]);
    }
    let rules = subject.domain.rules.iter().map(|rule| &rule.id);
    let others: Vec<&String> = rules.filter(|id| !refusal.rules.contains(id)).collect();
    let step = (others.len() / RULES).max(1);
    for other in others.iter().step_by(step) {
        let mut episode = subject.begin()?;
        decline(&mut episode, kind, Some(other), None);
        misses.verdict("other_rule", other, &subject.judged(&episode)?, &[REASON]);
    }
    let mut episode = subject.begin()?;
    decline(&mut episode, kind, None, None);
    misses.verdict("other_rule", "no reason", &subject.judged(&episode)?, &[REASON]);
    for (name, other) in named(subject, refusal) {
        let mut episode = subject.begin()?;
        if decline(&mut episode, kind, None, Some(&other)) {
            misses.verdict("other_record", &name, &subject.judged(&episode)?, &[REASON]);
        }
    }
    Ok(misses.finding())
}

/// Declined rightly, after a part was done: every beginning of the twin's calls that changes something.
fn half_done(
    subject: &RequestSubject<'_>,
    twin: &Derived,
    misses: &mut Misses<'_, '_>,
    kind: &str,
    rule: Option<&str>,
    record: Option<&str>,
) -> Result<(), String> {
    for count in 1..=twin.oracle.steps.len() {
        let tool = twin.oracle.steps[count - 1].tool();
        let writes = subject.domain.tool_named(&tool).is_some_and(|tool| !subject.domain.tools[tool].reads_only());
        if !writes || !subject.offers(&tool) {
            continue;
        }
        let steps = twin.oracle.steps[..count].iter().filter(|step| subject.offers(&step.tool())).cloned().collect();
        let (mut episode, _) = subject.play(&Script { steps, ..twin.oracle.clone() })?;
        let domain = &subject.domain;
        let is_seen =
            |(table, _, _): &(TableId, RowId, Change)| !domain.table(*table).log && !domain.table(*table).once;
        if !episode.diff().changes.iter().any(is_seen) {
            continue;
        }
        decline(&mut episode, kind, rule, record);
        let what = format!("after {count} of the twin's steps");
        misses.verdict("half_done_then_declined", &what, &subject.judged(&episode)?, &[FRAME]);
    }
    Ok(())
}

/// Records that the request is about and that are no reason: what members of the cast are called.
fn named(subject: &RequestSubject<'_>, refusal: &ExpectedRefusal) -> Vec<(String, String)> {
    let Some(cast) = subject.task.sealed.case["cast"].as_object() else { return Vec::new() };
    let plain = |text: &str| text.to_lowercase().replace('_', " ");
    let is_reason = |text: &str| refusal.records.iter().any(|record| plain(text).contains(&plain(record)));
    let called = |value: &Json| value.as_str().filter(|text| !text.is_empty() && !is_reason(text)).map(str::to_owned);
    cast.iter().filter_map(|(name, value)| Some((name.clone(), called(value)?))).collect()
}
