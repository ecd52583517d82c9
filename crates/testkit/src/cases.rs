//! Cases: what tools must do, written as data. A `.case` file has rows that are given, then cases of calls with what each
//! must answer.
//!
//! ```text
//! given
//!   ada   user        {"name": "Ada", "email": "ada@example.com", "role": "agent"}
//!   desk  user_group  {"name": "Desk", "type": "support"}
//!
//! --- a person joins a group once
//! as admin ada
//! call add_new_group_member {"group": @desk, "user": @ada}
//! => @member {"group": @desk}
//! diff
//!   + group_member 1 group=1 user=1
//! call add_new_group_member {"group": @desk, "user": @ada}
//! => refused duplicate
//! broken nothing
//! ```
//!
//! - `given` stands once, at the top, and holds for all cases of the file; a case may add its own. Rows need not keep rules,
//!   but types, references and uniqueness hold. `@label` stands for the row's id.
//! - `world SIZE SEED` in the place of `given` lets the cases run in a seeded world; nothing is given then.
//! - `as ROLE [LABEL]` says who acts (default `admin`, or the only role, and nobody in particular).
//! - `=> {…}` wants an answer that holds at least these values (any JSON where a tool answers in a form of its own);
//!   `=> @label {…}` also names the answer's `id`, the only id of a list of ids, or the id of the first of its rows;
//!   `=> refused CODE [RULE]` wants a refusal.
//! - `diff` wants exactly these lines of changes by the last call; `diff nothing` wants none.
//! - `broken RULE, RULE` or `broken nothing`: the rules of the verifier that the run so far breaks. (A rule held by tools
//!   cannot be broken: the call that would is refused by it.)
//! - A title that begins with `keeps RULE:` or `breaks RULE:` is the rule's case for it.

use benchwright_base::{Json, Value};
use benchwright_catalog::Found;
use benchwright_expr::Type;
use benchwright_pack::{Change, Diff, Snapshot, SnapshotTable};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Case, CaseFile, Domain, GivenRow, Labels, Stamp, codec};
use benchwright_world::Seat;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// What the cases of a file used, for coverage.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The cases that each tool was called in.
    pub tools: BTreeMap<String, BTreeSet<String>>,
    /// Tools with a call that was answered.
    pub answered: BTreeSet<String>,
    /// Tools with a call that was answered and whose whole diff was wanted.
    pub written: BTreeSet<String>,
    /// Tools with a call that was refused, and not for its arguments.
    pub refused: BTreeSet<String>,
    /// States that calls brought rows into: table, field and word.
    pub states: BTreeSet<(String, String, String)>,
    /// Rules with a case that keeps them.
    pub kept: BTreeSet<String>,
    /// Rules with a case that breaks them.
    pub broken: BTreeSet<String>,
    /// How many cases there were.
    pub cases: usize,
    /// How many calls they made.
    pub calls: usize,
}

impl Coverage {
    /// Adds that of another file.
    pub fn add(&mut self, other: Coverage) {
        for (tool, cases) in other.tools {
            self.tools.entry(tool).or_default().extend(cases);
        }
        self.answered.extend(other.answered);
        self.written.extend(other.written);
        self.refused.extend(other.refused);
        self.states.extend(other.states);
        self.kept.extend(other.kept);
        self.broken.extend(other.broken);
        self.cases += other.cases;
        self.calls += other.calls;
    }
}

/// Runs every case of a file; the error lists all that failed.
pub fn run_file(found: &Found, file: &str, text: &str) -> Result<Coverage, String> {
    let CaseFile { world, given, cases } = CaseFile::parse(text).map_err(|error| format!("{file}: {error}"))?;
    let seeded = match world {
        Some((size, seed)) => {
            let world = Sandbox::seeded(Arc::clone(&found.domain), found.natives, size, seed);
            Some(Arc::new(world.map_err(|error| format!("{file}: {error}"))?))
        }
        None => None,
    };
    let mut coverage = Coverage::default();
    let mut failures = Vec::new();
    for case in &cases {
        let mut run = Run { found, labels: Labels::default(), coverage: &mut coverage, title: case.title };
        let outcome = match &seeded {
            Some(world) => run.in_world(world, case),
            None => run.case(&given, case),
        };
        if let Err((line, error)) = outcome {
            failures.push(format!("{file}:{line}: in `{}`: {error}", case.title));
        }
    }
    if failures.is_empty() { Ok(coverage) } else { Err(failures.join("\n")) }
}

/// The world of the rows that are given to all cases of a file.
pub fn given_world(found: &Found, file: &str, text: &str) -> Result<Arc<Sandbox>, String> {
    let CaseFile { given, .. } = CaseFile::parse(text).map_err(|error| format!("{file}: {error}"))?;
    let mut coverage = Coverage::default();
    let mut run = Run { found, labels: Labels::default(), coverage: &mut coverage, title: "" };
    run.world(given.iter()).map_err(|(line, error)| format!("{file}:{line}: {error}"))
}

struct Run<'a> {
    found: &'a Found,
    labels: Labels,
    coverage: &'a mut Coverage,
    title: &'a str,
}

impl Run<'_> {
    fn case(&mut self, shared: &[GivenRow<'_>], case: &Case<'_>) -> Result<(), (usize, String)> {
        let sandbox = self.world(shared.iter().chain(&case.given))?;
        self.in_world(&sandbox, case)
    }

    /// The world of rows that are given.
    fn world<'g>(&mut self, rows: impl Iterator<Item = &'g GivenRow<'g>>) -> Result<Arc<Sandbox>, (usize, String)> {
        let mut tables: Vec<SnapshotTable> = self
            .found
            .domain
            .tables
            .iter()
            .map(|_| SnapshotTable { next_id: 1, next_number: 1, rows: Vec::new() })
            .collect();
        let mut first_line = 0;
        for given in rows {
            first_line = given.line;
            self.give(&mut tables, given).map_err(|error| (given.line, error))?;
        }
        let domain = &self.found.domain;
        let snapshot = Snapshot {
            domain: domain.name.clone(),
            domain_digest: domain.digest,
            first: None,
            now: domain.now,
            tables,
        };
        let sandbox = Sandbox::from_snapshot(Arc::clone(domain), self.found.natives, &snapshot)
            .map_err(|error| (first_line, error.to_string()))?;
        Ok(Arc::new(sandbox))
    }

    fn in_world(&mut self, sandbox: &Arc<Sandbox>, case: &Case<'_>) -> Result<(), (usize, String)> {
        self.coverage.cases += 1;
        self.steps(sandbox, case)
    }

    fn give(&mut self, tables: &mut [SnapshotTable], given: &GivenRow<'_>) -> Result<(), String> {
        let domain = Arc::clone(&self.found.domain);
        let table = domain.table_named(given.table).ok_or_else(|| format!("there is no table `{}`", given.table))?;
        let declared = domain.table(table);
        let rows = &mut tables[table.index()];
        let id = rows.next_id;
        rows.next_id += 1;
        self.labels.put(given.label, id);
        let text = self.labels.fill(given.values)?;
        let parsed = Json::parse(&text)?;
        let Json::Object(entries) = &parsed else { return Err("a given row has an object of values".into()) };
        let mut cells: Vec<Value> = declared.fields.iter().map(|f| f.default.clone().unwrap_or_default()).collect();
        cells[0] = Value::Ref(id);
        for (name, value) in entries {
            let field = declared.field_named(name).ok_or_else(|| format!("{} has no field `{name}`", declared.name))?;
            let ty = declared.field(field).ty;
            cells[field.index()] =
                codec::read_value(&domain, ty, value).map_err(|error| format!("`{name}` {error}"))?;
        }
        for (at, field) in declared.fields.iter().enumerate().skip(1) {
            if !cells[at].is_null() || field.nullable || entries.iter().any(|(name, _)| *name == field.name) {
                continue;
            }
            cells[at] = match &field.stamp {
                Some(Stamp::Number { prefix, digits, suffix }) => {
                    let digits = *digits;
                    Value::text(format!("{prefix}{id:0digits$}{suffix}"))
                }
                Some(_) if field.ty == Type::Date => Value::Date(domain.now.date()),
                Some(_) if field.ty == Type::DateTime => Value::DateTime(domain.now),
                _ => return Err(format!("{} needs `{}`", declared.name, field.name)),
            };
            rows.next_number = rows.next_number.max(id + 1);
        }
        rows.rows.push(cells);
        Ok(())
    }

    fn steps(&mut self, sandbox: &Arc<Sandbox>, case: &Case<'_>) -> Result<(), (usize, String)> {
        let domain = Arc::clone(&self.found.domain);
        let begin = |role: &str, actor: Option<u32>| {
            let seat = Seat { role: role.to_owned(), actor };
            sandbox.begin(&seat, Conditions::default()).map_err(|error| error.to_string())
        };
        let usual = match &domain.roles[..] {
            [only] => &only.name,
            _ => "admin",
        };
        let mut episode = begin(usual, None).ok();
        let mut before: Option<Episode> = None;
        let mut result = None;
        let mut called = String::new();
        let mut refused_rules = BTreeSet::new();
        let mut steps = case.steps.iter().peekable();
        while let Some(&(number, line)) = steps.next() {
            let fail = |error: String| (number, error);
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.trim();
            match word {
                "as" => {
                    let (role, label) =
                        rest.split_once(' ').map_or((rest, None), |(role, label)| (role, Some(label.trim())));
                    let actor = match label {
                        Some(label) => {
                            Some(self.labels.get(label).ok_or_else(|| fail(format!("there is no label `{label}`")))?)
                        }
                        None => None,
                    };
                    episode = Some(begin(role, actor).map_err(fail)?);
                }
                "call" => {
                    let episode = episode.as_mut().ok_or_else(|| fail("nobody acts; say `as ROLE`".into()))?;
                    let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
                    let arguments = self.labels.fill(arguments).map_err(|error| fail(error.into()))?;
                    if domain.tool_named(tool).is_none() {
                        return Err(fail(format!("there is no tool `{tool}`")));
                    }
                    self.coverage.calls += 1;
                    self.coverage.tools.entry(tool.to_owned()).or_default().insert(self.title.to_owned());
                    let fork = episode.fork();
                    let answer = episode.call(tool, &arguments);
                    if answer.is_ok() {
                        self.coverage.answered.insert(tool.to_owned());
                    }
                    result = Some(answer);
                    self.note_states(&domain, &episode.diff_from(&fork));
                    before = Some(fork);
                    tool.clone_into(&mut called);
                    if !matches!(steps.peek(), Some((_, next)) if next.starts_with("=>")) {
                        return Err(fail("a call is followed by what it must answer: `=> …`".into()));
                    }
                }
                "=>" => {
                    let result = result.as_ref().ok_or_else(|| fail("there is no call to answer".into()))?;
                    if let Some(rule) = self.expect(rest, result).map_err(fail)? {
                        refused_rules.insert(rule);
                    }
                    if rest.strip_prefix("refused ").is_some_and(|code| !code.starts_with("invalid_argument")) {
                        self.coverage.refused.insert(called.clone());
                    }
                }
                "diff" => {
                    let (Some(episode), Some(before)) = (&episode, &before) else {
                        return Err(fail("nothing was called".into()));
                    };
                    let mut expected = String::new();
                    while let Some((_, next)) = steps.next_if(|(_, next)| next.starts_with(' ')) {
                        expected.push_str(&self.labels.fill(next.trim()).map_err(|error| fail(error.into()))?);
                        expected.push('\n');
                    }
                    let actual = episode.diff_from(before).to_text(&domain);
                    if (rest == "nothing") != expected.is_empty() {
                        return Err(fail("`diff` has lines under it, or is `diff nothing`".into()));
                    }
                    if !expected.is_empty() {
                        self.coverage.written.insert(called.clone());
                    }
                    if actual != expected {
                        return Err(fail(format!("the call changed\n{actual}not\n{expected}")));
                    }
                }
                "broken" => {
                    let episode = episode.as_ref().ok_or_else(|| fail("nobody acts".into()))?;
                    let actual = broken_rules(&domain, episode);
                    let expected: BTreeSet<String> = match rest {
                        "nothing" => BTreeSet::new(),
                        list => list.split(',').map(|rule| rule.trim().to_owned()).collect(),
                    };
                    if actual != expected {
                        return Err(fail(format!("the run breaks {actual:?}, not {expected:?}")));
                    }
                }
                _ => return Err(fail(format!("`{word}` is not as, call, =>, diff or broken"))),
            }
        }
        let broken = episode.as_ref().map(|episode| broken_rules(&domain, episode)).unwrap_or_default();
        self.claim(case, &broken, &refused_rules, episode.as_ref())
            .map_err(|error| (case.steps.last().map_or(0, |s| s.0), error))
    }

    /// Notes the states of lifecycles that rows came into.
    fn note_states(&mut self, domain: &Domain, diff: &Diff) {
        for (table, _, change) in &diff.changes {
            let declared = domain.table(*table);
            for lifecycle in &declared.lifecycles {
                let value = match change {
                    Change::Added(cells) => cells.get(lifecycle.field.index()),
                    Change::Changed(fields) => {
                        fields.iter().find(|changed| changed.field == lifecycle.field).map(|changed| &changed.new)
                    }
                    Change::Removed(_) => None,
                };
                if let Some(value) = value {
                    let field = declared.field(lifecycle.field);
                    let word = codec::show_value(domain, field.ty, value);
                    self.coverage.states.insert((declared.name.clone(), field.name.clone(), word));
                }
            }
        }
    }

    /// Checks what a result must be; gives the rule that refused, if one did.
    fn expect(
        &mut self,
        expected: &str,
        result: &Result<String, benchwright_pack::Refusal>,
    ) -> Result<Option<String>, String> {
        if let Some(refusal) = expected.strip_prefix("refused") {
            let mut words = refusal.split_whitespace();
            let (code, rule) = (words.next().unwrap_or_default(), words.next());
            return match result {
                Ok(answer) => Err(format!("answered {answer}, was to be refused")),
                Err(refusal) if refusal.code.word() != code => Err(format!("refused as {refusal}, not as {code}")),
                Err(refusal) if rule.is_some() && refusal.rule.as_deref() != rule => {
                    Err(format!("refused by {:?}, not by {rule:?}: {refusal}", refusal.rule))
                }
                Err(refusal) => Ok(refusal.rule.clone()),
            };
        }
        let answer = match result {
            Ok(answer) => answer,
            Err(refusal) => return Err(format!("refused: {}", refusal.to_json())),
        };
        let answer = Json::parse(answer)?;
        let (label, values) = match expected.strip_prefix('@') {
            Some(rest) => {
                let (label, values) = rest.split_once(' ').unwrap_or((rest, ""));
                (Some(label), values.trim())
            }
            None => (None, expected),
        };
        if let Some(label) = label {
            self.labels.name(label, &answer)?;
        }
        if values.is_empty() {
            return if label.is_some() {
                Ok(None)
            } else {
                Err("`=>` says what is expected: {…} or refused CODE".into())
            };
        }
        let text = self.labels.fill(values)?;
        holds(&Json::parse(&text)?, &answer, "answer")?;
        Ok(None)
    }

    /// A case that claims to keep or to break a rule must do so.
    fn claim(
        &mut self,
        case: &Case<'_>,
        broken: &BTreeSet<String>,
        refused: &BTreeSet<String>,
        episode: Option<&Episode>,
    ) -> Result<(), String> {
        let rule_of = |prefix: &str| {
            case.title.strip_prefix(prefix).and_then(|rest| rest.split_once(':')).map(|(id, _)| id.trim())
        };
        let domain = &self.found.domain;
        let known = |id: &str| {
            domain
                .rules
                .iter()
                .find(|rule| rule.id == id)
                .ok_or_else(|| format!("the title names a rule `{id}` that is not there"))
        };
        if let Some(id) = rule_of("breaks ") {
            known(id)?;
            if !broken.contains(id) && !refused.contains(id) {
                return Err(format!("nothing broke {id}"));
            }
            self.coverage.broken.insert(id.to_owned());
        }
        if let Some(id) = rule_of("keeps ") {
            let rule = known(id)?;
            if broken.contains(id) || refused.contains(id) {
                return Err(format!("{id} was broken"));
            }
            let touched = episode.is_some_and(|episode| {
                episode.diff().changes.iter().any(|(table, ..)| rule.on.iter().any(|(on, _)| on == table))
            });
            if !touched {
                return Err(format!("no row that {id} judges was touched"));
            }
            self.coverage.kept.insert(id.to_owned());
        }
        Ok(())
    }
}

/// The ids of the verifier's rules that an episode breaks.
pub fn broken_rules(domain: &Domain, episode: &Episode) -> BTreeSet<String> {
    episode.judge().iter().map(|broken| domain.rules[broken.rule].id.clone()).collect()
}

/// Whether an answer has at least the expected values; lists must have as many items.
fn holds(expected: &Json<'_>, actual: &Json<'_>, at: &str) -> Result<(), String> {
    match (expected, actual) {
        (Json::Object(entries), Json::Object(_)) => entries.iter().try_for_each(|(key, value)| match actual.get(key) {
            Some(actual) => holds(value, actual, &format!("{at}.{key}")),
            None => Err(format!("{at} has no `{key}`")),
        }),
        (Json::List(expected), Json::List(actual)) if expected.len() == actual.len() => {
            expected.iter().zip(actual).enumerate().try_for_each(|(n, (e, a))| holds(e, a, &format!("{at}[{n}]")))
        }
        _ if expected == actual => Ok(()),
        _ => Err(format!("{at} is {actual:?}, not {expected:?}")),
    }
}
