//! The laws every world keeps, whatever its domain says, checked by random calls. Each is checked in a way of its own: on
//! the rows themselves, not through the code that is to be held to it.

use crate::{cases::Coverage, here::Here, schema};
use benchwright_base::{FieldId, Json, RelationId, RowId, TableId, Value};
use benchwright_calls::declared::Caller;
use benchwright_expr::{Expr, Type};
use benchwright_pack::{Change, Diff, Snapshot, Trace};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{
    Action, By, Domain, FilterKind, Lifecycle, Tool, Verb, arguments_schema, codec, result_schema,
};
use benchwright_world::Seat;
use serde_json::Value as Schema;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A property that every world keeps, whatever its domain declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Law {
    /// A refusal changes nothing.
    RefusalChangesNothing,
    /// A read never writes.
    ReadNeverWrites,
    /// Every cell has its type, keeps its bounds, and is null only where it may be.
    TypesAndBounds,
    /// Every reference names a row that is there.
    References,
    /// What is unique is unique, and what is sole is sole.
    Uniqueness,
    /// States begin and move only as the lifecycle says.
    Lifecycles,
    /// No call that breaks a rule held by tools is answered.
    ToolRules,
    /// A rule that a row breaks is seen, whichever row of a pair was written: what tools hold is never broken, and what a verifier
    /// counts is counted.
    EitherSide,
    /// The running hash is the hash of the rows.
    HashIsExact,
    /// The diff, applied to the state before, gives the state after.
    DiffIsExact,
    /// The trace has every call, and replays to the same answers and the same hash.
    TraceReplays,
    /// Forks do not see each other, and a reset is a return.
    ForksAreApart,
    /// Secret fields do not appear to who may not see them.
    SecretsStayHidden,
    /// Only rows that the role may see appear.
    OnlyVisibleRows,
    /// Answers fit their schema, and arguments that were accepted fit theirs.
    SchemasTellTheTruth,
    /// What an answer says is what is there.
    AnswersAreWritten,
    /// A filter finds exactly the rows that a scan finds.
    FiltersAreExact,
    /// A snapshot reads back as the same state.
    SnapshotsReadBack,
}

/// What a run of random calls saw.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Calls that were made.
    pub calls: usize,
    /// Calls that were answered and not refused.
    pub answered: usize,
    /// Refusals, by the word of their kind.
    pub refused: BTreeMap<&'static str, usize>,
    /// How often each tool was answered.
    pub successes: BTreeMap<String, usize>,
    /// States of lifecycles that calls brought rows into: table, field and word.
    pub states: BTreeSet<(String, String, String)>,
    /// Rules that a call kept which touched a row that they judge.
    pub kept: BTreeSet<String>,
    /// Rules that a call broke, or was refused for.
    pub breached: BTreeSet<String>,
    /// Laws that were broken, each with its first witness.
    pub broken: BTreeMap<Law, String>,
}

impl Report {
    /// Adds that of another run.
    pub fn add(&mut self, other: Report) {
        self.calls += other.calls;
        self.answered += other.answered;
        for (code, count) in other.refused {
            *self.refused.entry(code).or_default() += count;
        }
        for (tool, count) in other.successes {
            *self.successes.entry(tool).or_default() += count;
        }
        self.states.extend(other.states);
        self.kept.extend(other.kept);
        self.breached.extend(other.breached);
        for (law, witness) in other.broken {
            self.broken.entry(law).or_insert(witness);
        }
    }

    /// Adds what cases showed.
    pub fn add_cases(&mut self, coverage: Coverage) {
        for tool in coverage.answered {
            *self.successes.entry(tool).or_default() += 1;
        }
        self.states.extend(coverage.states);
        self.kept.extend(coverage.kept);
        self.breached.extend(coverage.broken);
    }

    /// What of a domain no call has shown: tools never answered, states never reached, rules never kept or never broken.
    pub fn missing(&self, domain: &Domain) -> Vec<String> {
        let mut missing = Vec::new();
        for tool in domain.tools.iter().filter(|tool| !self.successes.contains_key(&tool.name)) {
            missing.push(format!("{} was never answered", tool.name));
        }
        for (at, table) in domain.tables.iter().enumerate() {
            let is = |id: &TableId| id.index() == at;
            let writes = |tool: &Tool| match &tool.native {
                Some(native) => !native.json && native.writes.iter().any(is),
                None => !tool.reads_only() && tool.table.as_ref().is_some_and(is),
            };
            if !domain.tools.iter().any(writes) {
                continue;
            }
            for lifecycle in &table.lifecycles {
                let field = table.field(lifecycle.field);
                let Type::Enum(words) = field.ty else { continue };
                for word in &domain.enums[words.index()].words {
                    if !self.states.contains(&(table.name.clone(), field.name.clone(), word.clone())) {
                        missing.push(format!("no call brought {}.{} to {word}", table.name, field.name));
                    }
                }
            }
        }
        for rule in &domain.rules {
            for (what, seen) in [("kept", &self.kept), ("broke", &self.breached)] {
                if !seen.contains(&rule.id) {
                    missing.push(format!("no call {what} {}", rule.id));
                }
            }
        }
        missing
    }

    fn broke(&mut self, law: Law, witness: impl FnOnce() -> String) {
        self.broken.entry(law).or_insert_with(witness);
    }
}

/// Calls in one episode before its trace is replayed and the next begins.
const CALLS_PER_EPISODE: usize = 250;
/// Calls between two looks at every row.
const CALLS_PER_SCAN: usize = 125;

/// Makes random calls in a world, over all its roles, and checks the laws.
pub fn run(sandbox: &Arc<Sandbox>, seed: u64, calls: usize) -> Report {
    let domain = Arc::clone(sandbox.domain());
    let mut report = Report::default();
    let schemas: Vec<(Schema, Schema)> =
        domain.tools.iter().map(|tool| (arguments_schema(&domain, tool), result_schema(&domain, tool))).collect();
    let mut caller = Caller::new(seed, &domain.name);
    // The first role of the file is the one that may most; it gets half of the episodes.
    let mut roles: Vec<usize> = (0..domain.roles.len()).collect();
    roles.extend(std::iter::repeat_n(0, domain.roles.len()));
    let mut episode_number = 0;
    while report.calls < calls {
        let role = &domain.roles[roles[episode_number % roles.len()]].name;
        episode_number += 1;
        let seat = Seat { role: role.clone(), actor: sandbox.person_for(role) };
        let Ok(mut episode) = sandbox.begin(&seat, Conditions::default()) else { break };
        let first = episode.fork();
        let length = CALLS_PER_EPISODE.min(calls - report.calls);
        for at in 0..length {
            let tool = caller.stream().below(domain.tools.len() as u64) as usize;
            step(&mut episode, &domain.tools[tool], &schemas[tool], &mut caller, &mut report);
            if at % CALLS_PER_SCAN == CALLS_PER_SCAN - 1 {
                scan(&episode, &mut report);
                check_rules_on_rows(&episode, &first, &mut report);
            }
        }
        finish(&mut episode, &first, length, &mut report);
    }
    report
}

fn step(episode: &mut Episode, tool: &Tool, schemas: &(Schema, Schema), caller: &mut Caller, report: &mut Report) {
    let domain = Arc::clone(episode.sandbox().domain());
    let call = caller.call(&Here(episode), tool);
    let before = episode.fork();
    let hash = before.state_hash();
    let result = episode.call(&call.tool, &call.arguments);
    report.calls += 1;
    let witness = || format!("{} {} -> {:.300}", call.tool, call.arguments, format!("{result:?}"));
    if before.state_hash() != hash {
        report.broke(Law::ForksAreApart, witness);
    }
    let diff = episode.diff_from(&before);
    let unchanged = episode.state_hash() == hash && diff.is_empty();
    match &result {
        Err(refusal) => {
            *report.refused.entry(refusal.code.word()).or_default() += 1;
            report.breached.extend(refusal.rule.clone());
            if !unchanged {
                report.broke(Law::RefusalChangesNothing, witness);
            }
            check_secrets(episode, &before, &call.arguments, &refusal.to_json(), report, &witness);
        }
        Ok(answer) => {
            report.answered += 1;
            *report.successes.entry(tool.name.clone()).or_default() += 1;
            if tool.reads_only() && !unchanged {
                report.broke(Law::ReadNeverWrites, witness);
            }
            let (arguments, parsed) = (Json::parse(&call.arguments), Json::parse(answer));
            match (&arguments, &parsed) {
                (Ok(arguments), Ok(parsed)) => {
                    let fits = schema::fits(&schemas.0, arguments, "arguments");
                    if let Err(error) = fits.and_then(|()| schema::fits(&schemas.1, parsed, "answer")) {
                        report.broke(Law::SchemasTellTheTruth, || format!("{error}: {}", witness()));
                    }
                    check_answer(episode, &before, tool, arguments, parsed, report, &witness);
                }
                _ => report.broke(Law::SchemasTellTheTruth, || format!("not JSON: {}", witness())),
            }
            check_secrets(episode, &before, &call.arguments, answer, report, &witness);
            if !tool.reads_only() {
                check_changes(episode, tool, &diff, report, &witness);
                look_for_changes(episode, &diff, report);
                if let Some(broken) = episode.judge_since(&before, By::Tool).first() {
                    let rule = &domain.rules[broken.rule].id;
                    report.broke(Law::ToolRules, || format!("{rule}: {}", witness()));
                }
                note_rules(episode, &before, &diff, report);
            }
        }
    }
    // What a fork does is nobody else's business.
    if caller.stream().chance(1, 10) {
        let hash = episode.state_hash();
        let mut fork = episode.fork();
        let other = &domain.tools[caller.stream().below(domain.tools.len() as u64) as usize];
        let call = caller.call(&Here(&fork), other);
        let _ = fork.call(&call.tool, &call.arguments);
        if episode.state_hash() != hash {
            report.broke(Law::ForksAreApart, || format!("{} {} on a fork", call.tool, call.arguments));
        }
    }
}

/// Notes the rules about the rows that a call touched: those of the verifier that it broke, and all others as kept.
fn note_rules(episode: &Episode, before: &Episode, diff: &Diff, report: &mut Report) {
    let domain = episode.domain();
    let touched: BTreeSet<TableId> = diff.changes.iter().map(|(table, ..)| *table).collect();
    let mut judged = domain.rules.iter().filter(|rule| rule.on.iter().any(|(on, _)| touched.contains(on))).peekable();
    if judged.peek().is_none() {
        return;
    }
    let broken = episode.judge_since(before, By::Verifier);
    let breached: BTreeSet<&String> = broken.iter().map(|broken| &domain.rules[broken.rule].id).collect();
    for rule in judged {
        let seen = if breached.contains(&rule.id) { &mut report.breached } else { &mut report.kept };
        if !seen.contains(&rule.id) {
            seen.insert(rule.id.clone());
        }
    }
}

/// The changed rows of a call: lifecycles moved as they may.
fn check_changes(episode: &Episode, tool: &Tool, diff: &Diff, report: &mut Report, witness: &dyn Fn() -> String) {
    let domain = episode.domain();
    for (table, _, change) in &diff.changes {
        for lifecycle in &domain.table(*table).lifecycles {
            let allowed = match change {
                Change::Added(cells) => match cells[lifecycle.field.index()] {
                    Value::Enum(word) => lifecycle.start.contains(&word),
                    _ => true,
                },
                Change::Removed(_) => true,
                Change::Changed(fields) => {
                    fields.iter().filter(|change| change.field == lifecycle.field).all(|change| {
                        match (&change.old, &change.new) {
                            (Value::Enum(from), Value::Enum(to)) => leads(tool, lifecycle, *from, *to),
                            _ => true,
                        }
                    })
                }
            };
            if !allowed {
                report.broke(Law::Lifecycles, witness);
            }
            let reached = match change {
                Change::Added(cells) => cells.get(lifecycle.field.index()),
                Change::Changed(fields) => {
                    fields.iter().find(|change| change.field == lifecycle.field).map(|change| &change.new)
                }
                Change::Removed(_) => None,
            };
            let declared = domain.table(*table);
            let field = declared.field(lifecycle.field);
            if let (Some(Value::Enum(word)), Type::Enum(words)) = (reached, field.ty)
                && let Some(word) = domain.enums[words.index()].words.get(*word as usize)
            {
                report.states.insert((declared.name.clone(), field.name.clone(), word.clone()));
            }
        }
    }
}

/// Whether a lifecycle leads from one state to another: at one step, or at several where code may take them in one call.
fn leads(tool: &Tool, lifecycle: &Lifecycle, from: u16, to: u16) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(state) = seen.get(at).copied() {
        let next = &lifecycle.next[state as usize];
        if next.contains(&to) {
            return true;
        }
        if tool.native.is_none() {
            return false;
        }
        for state in next {
            if !seen.contains(state) {
                seen.push(*state);
            }
        }
        at += 1;
    }
    false
}

/// Looks for each changed row by its new value: a filter must find what was just written.
fn look_for_changes(episode: &Episode, diff: &Diff, report: &mut Report) {
    let domain = episode.domain();
    for (table, _, change) in &diff.changes {
        let Change::Changed(fields) = change else { continue };
        for change in fields.iter().filter(|change| !change.new.is_null()) {
            let by_field = |tool: &&Tool| {
                let mut by = tool.by.iter();
                tool.verb == Verb::Find
                    && tool.table == Some(*table)
                    && by.any(|filter| filter.field == change.field && filter.kind == FilterKind::Is)
                    && tool.by.iter().all(|filter| filter.field == change.field || !filter.required)
            };
            let Some(tool) = domain.tools.iter().find(by_field) else { continue };
            let field = domain.table(*table).field(change.field);
            let mut value = Vec::new();
            codec::write_value(&mut value, domain, field.ty, &change.new);
            let arguments = format!("{{\"{}\":{},\"limit\":200}}", field.name, String::from_utf8_lossy(&value));
            let mut fork = episode.fork();
            if let Ok(answer) = fork.call(&tool.name, &arguments)
                && let (Ok(arguments), Ok(answer)) = (Json::parse(&arguments), Json::parse(&answer))
            {
                let witness = || format!("{} {arguments:?}", tool.name);
                check_answer(episode, episode, tool, &arguments, &answer, report, &witness);
            }
        }
    }
}

/// No secret cell that the role may not see stands in an answer.
fn check_secrets(
    episode: &Episode,
    before: &Episode,
    arguments: &str,
    answer: &str,
    report: &mut Report,
    witness: &dyn Fn() -> String,
) {
    let domain = episode.domain();
    for (at, declared) in domain.tables.iter().enumerate() {
        let table = RelationId(at as u16);
        let grants: Vec<_> = episode.role().grants(table, Action::Reveal).collect();
        if grants.iter().any(|grant| grant.condition.is_none()) {
            continue;
        }
        for (at, field) in declared.fields.iter().enumerate().filter(|(_, field)| field.secret) {
            for row in before.rows(table).chain(episode.rows(table)) {
                let text = codec::show_value(domain, field.ty, &row.cells()[at]);
                let may = grants
                    .iter()
                    .filter_map(|grant| grant.condition.as_ref())
                    .any(|c| episode.holds_of(table, row.id(), c));
                // Short values turn up by chance; what the caller sent is no news to the caller.
                if !may && text.len() >= 8 && answer.contains(&text) && !arguments.contains(&text) {
                    report.broke(Law::SecretsStayHidden, || format!("{}.{}: {}", declared.name, field.name, witness()));
                }
            }
        }
    }
}

/// Rows of answers: there, visible, complete, and found exactly when the filters say so.
fn check_answer(
    episode: &Episode,
    before: &Episode,
    tool: &Tool,
    arguments: &Json<'_>,
    answer: &Json<'_>,
    report: &mut Report,
    witness: &dyn Fn() -> String,
) {
    let Some(table) = tool.table else { return };
    let rows: Vec<&Json<'_>> = match tool.verb {
        Verb::Find | Verb::List => match answer.get("rows") {
            Some(Json::List(rows)) => rows.iter().collect(),
            _ => return,
        },
        Verb::Get | Verb::Create | Verb::Update | Verb::Link | Verb::Send => vec![answer],
        Verb::Delete => {
            let gone =
                matches!(answer.get("deleted"), Some(Json::Int(id)) if find(episode, table, *id as RowId).is_none());
            if !gone {
                report.broke(Law::AnswersAreWritten, witness);
            }
            return;
        }
        Verb::Count | Verb::Sum | Verb::Avg | Verb::Native => return,
    };
    let domain = episode.domain();
    let mut ids = BTreeSet::new();
    for row in &rows {
        let Some(Json::Int(id)) = row.get("id") else {
            report.broke(Law::AnswersAreWritten, witness);
            continue;
        };
        ids.insert(*id as RowId);
        let Some(cells) = find(episode, table, *id as RowId) else {
            report.broke(Law::AnswersAreWritten, witness);
            continue;
        };
        for (field, cell) in domain.table(table).fields.iter().zip(&cells) {
            if let Some(shown) = row.get(&field.name)
                && codec::read_value(domain, field.ty, shown).as_ref() != Ok(cell)
            {
                report.broke(Law::AnswersAreWritten, || format!("{}: {}", field.name, witness()));
            }
        }
        if tool.reads_only() && !visible(episode, table, *id as RowId) {
            report.broke(Law::OnlyVisibleRows, witness);
        }
    }
    if matches!(tool.verb, Verb::Find | Verb::List) && matches!(answer.get("next_cursor"), Some(Json::Null)) {
        let expected: BTreeSet<RowId> = before
            .rows(table)
            .filter(|row| visible(before, table, row.id()) && matches(before, tool, table, row.cells(), arguments))
            .map(benchwright_sandbox::Row::id)
            .collect();
        if expected != ids {
            report.broke(Law::FiltersAreExact, || format!("{expected:?} {}", witness()));
        }
    }
}

fn find(episode: &Episode, table: TableId, id: RowId) -> Option<Vec<Value>> {
    episode.rows(table).find(|row| row.id() == id).map(|row| row.cells().to_vec())
}

fn visible(episode: &Episode, table: TableId, id: RowId) -> bool {
    may(episode, table, id, Action::Read)
}

fn may(episode: &Episode, table: TableId, id: RowId, action: Action) -> bool {
    let mut grants = episode.role().grants(table, action);
    grants.any(|grant| grant.condition.as_ref().is_none_or(|condition| episode.holds_of(table, id, condition)))
}

/// Whether a row passes the filters of a call, by the plain meaning of each.
fn matches(episode: &Episode, tool: &Tool, table: TableId, cells: &[Value], arguments: &Json<'_>) -> bool {
    let domain = episode.domain();
    let id = cells[0].as_ref_id().unwrap_or_default();
    tool.by.iter().all(|filter| {
        let field = domain.table(table).field(filter.field);
        let cell = &cells[filter.field.index()];
        let given = |suffix: &str| {
            arguments
                .get(&format!("{}{suffix}", field.name))
                .and_then(|json| codec::read_value(domain, field.ty, json).ok())
        };
        // A filter on a secret finds only rows whose secrets may be seen.
        if field.secret && given("").is_some() && !may(episode, table, id, Action::Reveal) {
            return false;
        }
        match filter.kind {
            FilterKind::Is => given("").is_none_or(|value| *cell == value),
            FilterKind::Contains => given("").is_none_or(|value| match (cell, &value) {
                (Value::Text(text), Value::Text(part)) => text.to_lowercase().contains(&part.to_lowercase()),
                _ => false,
            }),
            FilterKind::Range => {
                given("_from").is_none_or(|low| !cell.is_null() && *cell >= low)
                    && given("_to").is_none_or(|high| !cell.is_null() && *cell <= high)
            }
        }
    })
}

/// Holds every row against every rule, without asking which rows a call could have concerned.
fn check_rules_on_rows(episode: &Episode, first: &Episode, report: &mut Report) {
    let domain = episode.domain();
    let written: BTreeSet<(TableId, RowId)> =
        episode.diff().changes.iter().map(|(table, row, _)| (*table, *row)).collect();
    let counted: BTreeSet<(usize, TableId, RowId)> =
        episode.judge().iter().map(|broken| (broken.rule, broken.table, broken.row)).collect();
    for (at, rule) in domain.rules.iter().enumerate() {
        for (table, require) in &rule.on {
            let mut by_time = false;
            require.visit(&mut |e| by_time |= matches!(e, Expr::Now | Expr::Today));
            // Time alone breaks no rule.
            if by_time && first.now() != episode.now() {
                continue;
            }
            for row in episode.rows(*table) {
                let own = written.contains(&(*table, row.id()));
                // As it stands, a row does not show what became of it, nor that it was not written.
                let at_end = !rule.at_write || rule.by == By::Verifier;
                let shows = if own { at_end && !require.is_about_change() } else { !rule.at_write };
                if !shows || episode.holds_of(*table, row.id(), require) {
                    continue;
                }
                // What a row that nobody wrote broke from the first is nobody's doing.
                if !own && !first.holds_of(*table, row.id(), require) {
                    continue;
                }
                if rule.by == By::Tool || !counted.contains(&(at, *table, row.id())) {
                    let name = &domain.table(*table).name;
                    report.broke(Law::EitherSide, || format!("{} is broken by {name} {}", rule.id, row.id()));
                }
            }
        }
    }
}

/// Looks at every row of a state.
fn scan(episode: &Episode, report: &mut Report) {
    let domain = episode.domain();
    if episode.state_hash() != episode.state_hash_from_scratch() {
        report.broke(Law::HashIsExact, || "the running hash is not that of the rows".into());
    }
    if episode.weight().0 != episode.weight_from_scratch() {
        report.broke(Law::HashIsExact, || "the running weight is not that of the rows".into());
    }
    for (at, declared) in domain.tables.iter().enumerate() {
        let table = RelationId(at as u16);
        let mut keys: Vec<BTreeSet<Vec<&Value>>> = vec![BTreeSet::new(); declared.keys.len()];
        let mut soles: BTreeSet<(usize, &Value)> = BTreeSet::new();
        for row in episode.rows(table) {
            let name = || format!("{} {}", declared.name, row.id());
            for (at, (field, cell)) in declared.fields.iter().zip(row.cells()).enumerate() {
                let typed = match (field.ty, cell) {
                    (_, Value::Null) => field.nullable,
                    (Type::Enum(id), Value::Enum(word)) => (*word as usize) < domain.enums[id.index()].words.len(),
                    (Type::Bool, Value::Bool(_))
                    | (Type::Int, Value::Int(_))
                    | (Type::Money, Value::Money(_))
                    | (Type::Quantity, Value::Quantity(_))
                    | (Type::Text, Value::Text(_))
                    | (Type::Date, Value::Date(_))
                    | (Type::DateTime, Value::DateTime(_))
                    | (Type::Time, Value::Time(_))
                    | (Type::Duration, Value::Duration(_))
                    | (Type::Ref(_), Value::Ref(_)) => true,
                    _ => false,
                };
                let size = match cell {
                    Value::Text(text) => Some(text.chars().count() as i64),
                    other => other.as_number(),
                };
                let bounded = match (field.bounds, size) {
                    (Some((low, high)), Some(size)) => (low..=high).contains(&size),
                    _ => true,
                };
                if !typed || !bounded {
                    report.broke(Law::TypesAndBounds, || format!("{}.{} is {cell:?}", name(), field.name));
                }
                if let (Type::Ref(to), Value::Ref(target)) = (field.ty, cell)
                    && find(episode, to, *target).is_none()
                {
                    report.broke(Law::References, || format!("{}.{} names {target}", name(), field.name));
                }
                if let (Some(within), Value::Bool(true)) = (field.sole_in, cell)
                    && !row.get(within).is_null()
                    && !soles.insert((at, row.get(within)))
                {
                    report.broke(Law::Uniqueness, || format!("{}.{} is not sole", name(), field.name));
                }
            }
            for (key, seen) in declared.keys.iter().zip(&mut keys) {
                let values: Vec<&Value> = key.fields.iter().map(|field: &FieldId| row.get(*field)).collect();
                if !values.iter().any(|value| value.is_null()) && !seen.insert(values) {
                    report.broke(Law::Uniqueness, || format!("{} has a key that another row has", name()));
                }
            }
        }
    }
}

/// The end of an episode: the diff is exact, the trace replays, the snapshot reads back, a reset returns.
fn finish(episode: &mut Episode, first: &Episode, calls: usize, report: &mut Report) {
    let domain = Arc::clone(episode.sandbox().domain());
    scan(episode, report);
    if apply(&first.snapshot(), &episode.diff()) != rows_of(&episode.snapshot()) {
        report.broke(Law::DiffIsExact, || "the diff applied to the first state is not the last".into());
    }
    let bytes = episode.snapshot_bytes();
    let back = Snapshot::from_bytes(&bytes, &domain).map_err(|error| error.to_string());
    let same = back.and_then(|snapshot| {
        let canonical = snapshot.to_bytes(&domain) == bytes;
        let sandbox = Sandbox::from_snapshot(Arc::clone(&domain), &[], &snapshot).map_err(|error| error.to_string())?;
        let seat = Seat { role: domain.roles[0].name.clone(), actor: None };
        let loaded = Arc::new(sandbox).begin(&seat, Conditions::default()).map_err(|error| error.to_string())?;
        Ok(canonical && loaded.state_hash() == episode.state_hash())
    });
    if same != Ok(true) {
        report.broke(Law::SnapshotsReadBack, || format!("{same:?}"));
    }
    let trace = episode.trace();
    let read = Trace::from_bytes(&trace.to_bytes());
    if !matches!(&read, Ok(read) if *read == trace) || trace.calls.len() != calls {
        report.broke(Law::TraceReplays, || "the trace does not read back, or lacks calls".into());
    }
    if let Err(error) = first.fork().replay(&trace) {
        report.broke(Law::TraceReplays, || error.to_string());
    }
    episode.reset();
    if episode.state_hash() != first.state_hash() || !episode.diff_from(first).is_empty() {
        report.broke(Law::ForksAreApart, || "a reset is not a return".into());
    }
}

type Rows = BTreeMap<(usize, RowId), Vec<Value>>;

fn rows_of(snapshot: &Snapshot) -> Rows {
    let tables = snapshot.tables.iter().enumerate();
    let keyed = tables.flat_map(|(at, table)| {
        table.rows.iter().map(move |cells| ((at, cells[0].as_ref_id().unwrap_or_default()), cells.clone()))
    });
    keyed.collect()
}

/// The rows of a snapshot with a diff applied.
fn apply(snapshot: &Snapshot, diff: &Diff) -> Rows {
    let mut rows = rows_of(snapshot);
    for (table, id, change) in &diff.changes {
        let key = (table.index(), *id);
        match change {
            Change::Added(cells) => _ = rows.insert(key, cells.clone()),
            Change::Removed(_) => _ = rows.remove(&key),
            Change::Changed(fields) => {
                for change in fields {
                    if let Some(cell) = rows.get_mut(&key).map(|cells| &mut cells[change.field.index()])
                        && *cell == change.old
                    {
                        *cell = change.new.clone();
                    }
                }
            }
        }
    }
    rows
}
