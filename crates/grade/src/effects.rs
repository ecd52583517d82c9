//! The second judge: what was done for a request, by its effects. A sealed document says which cells must differ from the first state and
//! how, what must hold at the end, what must be answered or for which reason the request is to be declined. The judge looks at records,
//! never at calls: any order, any tool and any detour that leaves the same records is as good. Whatever else differs breaks the frame.
//!
//! Rules of the domain are judged by the sandbox, as in an episode. What cannot be judged is no verdict but an error.

mod answers;
mod binding;
mod cells;
mod differences;
mod prose;
mod ready;
mod tokens;
mod untouched;
mod verdict;

use crate::ACTIVITY;
use benchwright_base::{DateTime, Digest, RowId, TableId, Value};
use benchwright_expr::{
    Expr,
    eval::{GivenValue, Judge},
};
use benchwright_pack::{
    Check, Ending, Instance, Snapshot, Verdict,
    effects::{CheckKind, Effects},
};
use benchwright_sandbox::{Broken, Conditions, Episode, Live, Sandbox};
use benchwright_schema::{By, Domain, Rule, codec};
use benchwright_world::{Seat, WorldError};
use cells::Sight;
use differences::Differences;
use ready::{Member, Ready, ReadyAnswer, ReadyEnsure, ReadyValue, Wanted, WantedTarget};
use std::{collections::BTreeSet, sync::Arc};
use untouched::Concern;
use verdict::{Tally, check, instance, passed, verdict};

/// The check, and the gate, of what nobody asked for.
const FRAME: &str = "frame";
/// The gate of whoever declines what can be done.
const DECLINED: &str = "declined";
/// The check that a request that cannot be carried out is declined.
const DECLINE: &str = "decline";
/// The check that it is declined for what stands in its way; there is none where it is not declined.
const REASON: &str = "reason";
/// So many breaches of the frame are told.
const TOLD: usize = 3;

/// A row: its table and its id.
type Key = (TableId, RowId);

/// Why nothing could be judged.
#[derive(Debug, thiserror::Error)]
pub enum EffectsError {
    /// The document was written for another judge.
    #[error("the judgement is of version {0}; this judge reads version {reads}", reads = Effects::VERSION)]
    Version(u32),
    /// The document does not say which first state it is of.
    #[error("the judgement names no first state: `{0}` is no digest")]
    World(String),
    /// The document is of another first state than the world.
    #[error("the judgement is of the first state {task}, and the world begins at {world}")]
    OtherWorld {
        /// The first state of the task.
        task: Digest,
        /// The first state of the world.
        world: Digest,
    },
    /// The world was loaded from a state midway.
    #[error("the world begins at a state midway, not at the first one")]
    Midway,
    /// Nobody can take the seat.
    #[error("nobody can take the seat: {0}")]
    Seat(WorldError),
    /// It asks for something although it cannot be carried out, or for nothing although it can.
    #[error("the judgement must either ask for something or say why nothing can be done")]
    Asks,
    /// The world has no place for replies.
    #[error("{0} has no tables of replies, so nothing can be answered or declined")]
    Replies(String),
    /// A table that is not there.
    #[error("there is no table `{0}`")]
    Table(String),
    /// A field that is not there.
    #[error("{table} has no field `{field}`")]
    Field {
        /// The table.
        table: String,
        /// The name that it has no field of.
        field: String,
    },
    /// A row that is not there.
    #[error("{table} {row} is not in the first state")]
    Row {
        /// The table.
        table: String,
        /// The id.
        row: RowId,
    },
    /// A rule that is not there.
    #[error("no rule is called `{0}`")]
    Rule(String),
    /// A new row or a choice that is not there.
    #[error("nothing is called `{0}`")]
    Name(String),
    /// A name that two things have.
    #[error("two things are called `{0}`")]
    Twice(String),
    /// A value that does not fit its field.
    #[error("{table}.{field} {why}")]
    Value {
        /// The table.
        table: String,
        /// The field.
        field: String,
        /// What is wrong with it, after the field's name.
        why: String,
    },
    /// Something is wanted of a cell that no judge compares.
    #[error("{table}.{field} is never compared, so nothing can be wanted of it")]
    NotCompared {
        /// The table.
        table: String,
        /// The field.
        field: String,
    },
    /// A cell of a new row that must be given is not named.
    #[error("a new row of {table} is wanted without `{field}`, which has no default")]
    Unnamed {
        /// The table.
        table: String,
        /// The field.
        field: String,
    },
    /// There are too many ways to choose, or none.
    #[error("there are {0} ways to choose; there must be 1 to {most}", most = ready::MOST_COMBINATIONS)]
    Combinations(usize),
    /// New rows refer to each other such that none could be bound first.
    #[error("`{0}` wants a new row that refers in a circle to itself")]
    Circle(String),
    /// An expected row or an answer makes no sense.
    #[error("`{of}` cannot be judged: {why}")]
    Clause {
        /// The clause.
        of: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A condition cannot be read.
    #[error("the condition `{id}` cannot be judged: {why}")]
    Condition {
        /// Its name.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// A fact that no text can mention.
    #[error("`{0}` is no fact that a text could mention")]
    Slot(String),
    /// No reason could be right.
    #[error("`{0}` is no obstacle, or has no reason that could be given")]
    Reason(String),
    /// A state is of another domain.
    #[error("the state is of the domain {0}, which is not the task's")]
    OtherDomain(String),
    /// A state came from another first state.
    #[error("the state is of another task: it began at the first state {began}, and the task's is {task}")]
    OtherTask {
        /// The first state that it came from.
        began: Digest,
        /// The first state of the task.
        task: Digest,
    },
    /// A state that names no first state is not the task's own either.
    #[error("the state names no first state and is not the task's own")]
    NoOrigin,
    /// A snapshot does not hold together.
    #[error("the state cannot be read: {0}")]
    State(WorldError),
}

/// A judgement of effects made ready for many states.
///
/// ```
/// use benchwright_grade::EffectsGrader;
/// use benchwright_pack::effects::Effects;
/// use benchwright_sandbox::{Conditions, Sandbox};
/// use benchwright_schema::{Folder, load};
/// use benchwright_world::Seat;
/// use std::sync::Arc;
///
/// # let files = [
/// #     ("domain.toml", "name = 'tickets'\ntitle = 'Tickets'\nrole = 'clerk'\nabout = 'Tickets.'"),
/// #     ("tables.toml", "[enums]\nState = ['open', 'done']\n[ticket]\ntitle = 'text'\nstate = 'State = open'"),
/// #     ("tools.toml", "add_ticket = 'create ticket set title'\nclose_ticket = 'update ticket set state'"),
/// #     ("policy.toml", "[access]\nclerk = ['any on *']"),
/// # ];
/// # let folder = Folder::new("tickets", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
/// # let domain = load(&folder).expect("the folder has no fault");
/// # let sandbox = Arc::new(Sandbox::empty(Arc::new(domain), &[]).expect("there is no code"));
/// // A world with the tool `add_ticket`, and a request for a ticket that is called `no light`.
/// let text = format!(
///     r#"{{ "kind": "effects", "version": 1, "world": "{}", "expected": [{{
///         "of": "ticket", "kind": "completion", "at": "the ticket", "table": "ticket", "row": "new",
///         "cells": {{ "title": {{ "is": "no light" }} }} }}] }}"#,
///     sandbox.origin()
/// );
/// let effects: Effects = serde_json::from_str(&text).expect("it is a judgement");
/// let clerk = Seat { role: "clerk".to_owned(), actor: None };
/// let grader = EffectsGrader::new(Arc::clone(&sandbox), &effects, &clerk).expect("it fits the world");
///
/// let mut episode = sandbox.begin(&clerk, Conditions::default()).expect("there is such a role");
/// episode.call("add_ticket", r#"{"title":"no light"}"#).expect("it is allowed");
/// assert_eq!(grader.grade_live(&episode).expect("it is of this world").reward, 1_000_000);
/// episode.call("add_ticket", r#"{"title":"no heat"}"#).expect("it is allowed");
/// assert_eq!(grader.grade_live(&episode).expect("it is of this world").gates, ["frame"]);
/// ```
pub struct EffectsGrader {
    sandbox: Arc<Sandbox>,
    seat: Seat,
    /// An episode in which nothing was done.
    start: Episode,
    ready: Ready,
    /// The digest of the first state.
    origin: Digest,
    frame: Arc<Instance>,
}

impl EffectsGrader {
    /// Makes a judgement ready for states of a world. Whatever in it does not fit the world is an error.
    pub fn new(sandbox: Arc<Sandbox>, effects: &Effects, seat: &Seat) -> Result<EffectsGrader, EffectsError> {
        if effects.version != Effects::VERSION {
            return Err(EffectsError::Version(effects.version));
        }
        let origin = Digest::parse(&effects.world).ok_or_else(|| EffectsError::World(effects.world.clone()))?;
        if !sandbox.begins_at_origin() {
            return Err(EffectsError::Midway);
        }
        if sandbox.origin() != origin {
            return Err(EffectsError::OtherWorld { task: origin, world: sandbox.origin() });
        }
        let start = sandbox.begin(seat, Conditions::default()).map_err(EffectsError::Seat)?;
        let ready = Ready::new(effects, sandbox.domain(), start.live())?;
        let frame = instance(FRAME, CheckKind::Integrity, Vec::new());
        Ok(EffectsGrader { sandbox, seat: seat.clone(), start, ready, origin, frame })
    }

    /// Judges an episode where it stands. Rules that tools hold were judged call by call.
    pub fn grade_live(&self, episode: &Episode) -> Result<Verdict, EffectsError> {
        self.admit(episode)?;
        Ok(self.judged(episode, &episode.judge()))
    }

    /// Judges a snapshot of a state that came from the task's first state. Of the rules that tools hold those are judged too that speak of
    /// how things stand; those that speak of a call or of the clock were judged when it was made, or never.
    pub fn grade(&self, last: &Snapshot) -> Result<Verdict, EffectsError> {
        let domain = self.domain();
        if last.domain != domain.name {
            return Err(EffectsError::OtherDomain(last.domain.clone()));
        }
        match last.first {
            Some(began) if began != self.origin => {
                return Err(EffectsError::OtherTask { began, task: self.origin });
            }
            // Where nothing was done the state is the first one, which names no other.
            None if Digest::of(&last.to_bytes(domain)) != self.origin => return Err(EffectsError::NoOrigin),
            _ => {}
        }
        let episode = self.sandbox.standing_at(&self.seat, last).map_err(EffectsError::State)?;
        let mut broken = episode.judge_since(&self.start, By::Tool);
        broken.retain(|broken| stands(&domain.rules[broken.rule]));
        broken.extend(episode.judge());
        broken.sort();
        Ok(self.judged(&episode, &broken))
    }

    /// Whether somebody did something about a request that is said to be impossible, and broke no rule: a sign that it may be possible
    /// after all.
    pub fn did_the_impossible(&self, episode: &Episode) -> Result<bool, EffectsError> {
        self.admit(episode)?;
        let found = self.differences(&episode.live());
        Ok(self.ready.refusal.is_some() && !found.is_none() && episode.judge().is_empty())
    }

    fn domain(&self) -> &Arc<Domain> {
        self.sandbox.domain()
    }

    /// Refuses an episode that began elsewhere.
    fn admit(&self, episode: &Episode) -> Result<(), EffectsError> {
        let sandbox = episode.sandbox();
        if Arc::ptr_eq(sandbox, &self.sandbox) {
            return Ok(());
        }
        if sandbox.domain().digest != self.domain().digest {
            return Err(EffectsError::OtherDomain(sandbox.domain().name.clone()));
        }
        if sandbox.origin() != self.origin {
            return Err(EffectsError::OtherTask { began: sandbox.origin(), task: self.origin });
        }
        if sandbox.begins_at_origin() { Ok(()) } else { Err(EffectsError::Midway) }
    }

    fn differences(&self, live: &Live<'_>) -> Differences {
        Differences::of(live, &self.ready.compared, self.ready.replies.as_ref(), &self.ready.gone)
    }

    fn judged(&self, episode: &Episode, broken: &[Broken]) -> Verdict {
        let found = self.differences(&episode.live());
        let mut gates = Vec::new();
        if found.is_none() && found.replies.is_empty() {
            gates.push(ACTIVITY.to_owned());
        }
        if let Some(reasons) = &self.ready.refusal {
            return self.declined(reasons, &found, gates);
        }
        if self.last_obstacle(&found).is_some() {
            gates.push(DECLINED.to_owned());
        }
        let rules = self.rules(broken);
        let judge = |chosen: &Vec<RowId>| self.chosen(episode, &found, chosen, &rules, gates.clone());
        let rank = |verdict: &Verdict| (verdict.ending == Ending::Pass, passed(&verdict.checks), verdict.reward);
        let mut verdicts = self.ready.combinations.iter().map(judge);
        let mut best = verdicts.next().unwrap_or_else(|| verdict(Vec::new(), gates.clone(), Tally::default()));
        for other in verdicts {
            if rank(&other) > rank(&best) {
                best = other;
            }
        }
        best
    }

    /// The obstacle that the last reply names.
    fn last_obstacle(&self, found: &Differences) -> Option<String> {
        let (replies, last) = (self.ready.replies.as_ref()?, found.replies.last()?);
        replies.obstacle(self.domain(), last)
    }

    /// The verdict on a request that cannot be carried out.
    fn declined(&self, reasons: &answers::Reasons, found: &Differences, mut gates: Vec<String>) -> Verdict {
        let obstacle = self.last_obstacle(found);
        let given = obstacle.zip(self.ready.replies.as_ref()).zip(found.replies.last());
        let reason = given.map(|((kind, replies), reply)| {
            let text = |field: benchwright_base::FieldId| reply[field.index()].as_text();
            reasons.judge(&kind, text(replies.rule), text(replies.record)).err()
        });
        let breaches = untouched::all(self.domain(), found);
        if !breaches.is_empty() {
            gates.push(FRAME.to_owned());
        }
        let own = |id: &str, why: Option<&str>| {
            check(instance(id, CheckKind::Completion, Vec::new()), why.map(str::to_owned))
        };
        let mut checks = vec![own(DECLINE, reason.is_none().then_some("it was not declined"))];
        checks.extend(reason.map(|why| own(REASON, why)));
        checks.push(check(Arc::clone(&self.frame), told(&breaches)));
        verdict(checks, gates, Tally::default())
    }

    /// A check for each rule that is listed in any case, and for each other one that is broken.
    fn rules(&self, broken: &[Broken]) -> Vec<Check> {
        let domain = self.domain();
        let why = |rule: usize| {
            let first = broken.iter().find(|broken| broken.rule == rule)?;
            Some(format!("{} {} does not keep it", domain.table(first.table).name, first.row))
        };
        let listed = self.ready.rules.iter().map(|(rule, of)| check(Arc::clone(of), why(*rule)));
        let others: BTreeSet<usize> = broken.iter().map(|broken| broken.rule).collect();
        let others = others.into_iter().filter(|rule| !self.ready.rules.iter().any(|(listed, _)| listed == rule));
        let others =
            others.map(|rule| check(instance(&domain.rules[rule].id, CheckKind::Compliance, Vec::new()), why(rule)));
        listed.chain(others).collect()
    }

    /// The verdict in one way to choose.
    fn chosen(
        &self,
        episode: &Episode,
        found: &Differences,
        chosen: &[RowId],
        rules: &[Check],
        mut gates: Vec<String>,
    ) -> Verdict {
        let before = self.sight(&self.start, chosen);
        let mut sight = self.sight(episode, chosen);
        sight.bound = binding::bind(self.sight(episode, chosen), &found.added);
        let concern = Concern::new(&sight, found);
        let untouched = Concern::new(&before, &Differences::default());
        let nothing = Differences::default();

        let mut tally = Tally::default();
        let mut checks = Vec::new();
        for (at, wanted) in self.ready.expected.iter().enumerate() {
            let why = wrong_row(&sight, &concern, found, at, wanted);
            if wrong_row(&before, &untouched, &nothing, at, wanted).is_some() {
                tally.count(why.is_none());
            }
            checks.push(check(Arc::clone(&wanted.of), why));
        }
        for ensured in &self.ready.ensure {
            let holds = self.holds(episode, &sight, ensured);
            if !self.holds(&self.start, &before, ensured) {
                tally.count(holds);
            }
            checks.push(check(Arc::clone(&ensured.of), (!holds).then(|| "it does not hold".to_owned())));
        }
        if let Some(answer) = &self.ready.answer {
            let why = self.wrong_answer(&sight, answer, found);
            tally.count(why.is_none());
            checks.push(check(Arc::clone(&answer.of), why.map(str::to_owned)));
        }
        checks.extend(rules.iter().cloned());
        let breaches = concern.breaches(&sight, found);
        if !breaches.is_empty() {
            gates.push(FRAME.to_owned());
        }
        checks.push(check(Arc::clone(&self.frame), told(&breaches)));
        verdict(checks, gates, tally)
    }

    /// The state of an episode, with nothing bound.
    fn sight<'s>(&'s self, episode: &'s Episode, chosen: &'s [RowId]) -> Sight<'s> {
        Sight {
            ready: &self.ready,
            domain: self.domain(),
            live: episode.live(),
            chosen,
            bound: vec![None; self.ready.expected.len()],
            days: [self.start.now(), episode.now()].map(DateTime::date),
        }
    }

    /// Whether a condition holds.
    fn holds(&self, episode: &Episode, sight: &Sight<'_>, ensured: &ReadyEnsure) -> bool {
        let domain = self.domain();
        // A row that is not there stands in the condition as nothing.
        let row = |row: Option<_>| row.map_or(GivenValue::Value(Value::Null), GivenValue::Row);
        let given: Vec<_> = ensured
            .cast
            .iter()
            .map(|member| match member {
                Member::Row(table, id) => row(sight.row(*table, *id)),
                Member::Rows(table, ids) => {
                    GivenValue::Rows(ids.iter().filter_map(|id| sight.row(*table, *id)).collect())
                }
                Member::Made(at) => row(sight.made(*at)),
                Member::Chosen(at) => row(sight.chosen(*at)),
                Member::Value(value) => GivenValue::Value(value.clone()),
            })
            .collect();
        let mut judge = Judge::new(&sight.live, episode.now());
        judge.given = &given;
        judge.actor = domain.actor.and_then(|table| {
            let person = episode.people().get(domain.member_of(table)).copied().flatten()?;
            sight.row(table, person)
        });
        judge.holds(&ensured.holds)
    }

    /// What is wrong with the answer.
    fn wrong_answer(&self, sight: &Sight<'_>, answer: &ReadyAnswer, found: &Differences) -> Option<&'static str> {
        let replies = self.ready.replies.as_ref()?;
        let answers = found.replies.iter().rfind(|reply| reply[replies.kind.index()].is_null());
        let Some(reply) = answers else { return Some("nothing was answered") };
        let of_reply = |value: &&Vec<Value>| value[replies.value_reply.index()] == reply[0];
        let values: Vec<&Vec<Value>> = found.values.iter().filter(of_reply).collect();
        let text = |value: &Vec<Value>, field: benchwright_base::FieldId| {
            value[field.index()].as_text().unwrap_or_default().trim().to_owned()
        };
        let is_named = |value: &&&Vec<Value>| text(value, replies.value_name).eq_ignore_ascii_case(&answer.of.rule);
        let named: Vec<&&Vec<Value>> = values.iter().filter(is_named).collect();
        // Whoever says one thing means the one that was asked for.
        let said: Vec<String> = match (&named[..], &values[..]) {
            ([], [only]) => vec![text(only, replies.value)],
            ([], _) => return Some("nothing of that name was answered"),
            (named, _) => named.iter().map(|value| text(value, replies.value)).collect(),
        };
        let wanted: Vec<BTreeSet<answers::Canonical>> =
            answer.is.iter().map(|value| forms(sight, answer, value)).collect();
        let right = match (&said[..], &wanted[..]) {
            (_, wanted) if answer.list => answers::is_list(answer.ty, &said.join("\n"), wanted),
            ([said], [wanted]) => answers::is_one(answer.ty, said, wanted),
            _ => false,
        };
        (!right).then_some("the answer is another")
    }
}

/// The forms of a value that is wanted; none for what is not there.
fn forms(sight: &Sight<'_>, answer: &ReadyAnswer, value: &ReadyValue) -> BTreeSet<answers::Canonical> {
    match value {
        ReadyValue::Known(forms) => forms.clone(),
        ReadyValue::Made(at, field) => {
            let ty = sight.domain.table(sight.ready.expected[*at].table).field(*field).ty;
            let value = sight.made(*at).map_or(&Value::Null, |row| &row[field.index()]);
            let shown = codec::show_value(sight.domain, ty, value);
            answers::of_cell(answer.ty, value, &shown).into_iter().collect()
        }
    }
}

/// What is wrong with an expected row.
fn wrong_row(sight: &Sight<'_>, concern: &Concern, found: &Differences, at: usize, wanted: &Wanted) -> Option<String> {
    let standing = |row: RowId| sight.row(wanted.table, concern.standing((wanted.table, row)));
    let row = match wanted.target {
        WantedTarget::Gone(row) => {
            let is_gone = found.removed.iter().any(|gone| gone.key() == (wanted.table, row));
            return (!is_gone).then(|| "it is still there".to_owned());
        }
        WantedTarget::New => sight.made(at),
        WantedTarget::Id(row) => standing(row),
        WantedTarget::Choice(choice) => standing(sight.chosen[choice]),
    };
    let Some(row) = row else { return Some("there is no such row".to_owned()) };
    let wrong = sight.wrong_cells(wanted.table, &wanted.cells, row);
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

/// The first breaches of the frame.
fn told(breaches: &[String]) -> Option<String> {
    (!breaches.is_empty()).then(|| breaches[..breaches.len().min(TOLD)].join("; "))
}

/// Whether a rule speaks of how things stand, so that it can be judged without knowing the calls: not of writing, not of what was before,
/// and not of the clock, which goes on.
fn stands(rule: &Rule) -> bool {
    let is_lasting = |require: &Expr| {
        let mut lasting = !require.is_about_change();
        require.visit(&mut |part| lasting &= !matches!(part, Expr::Deleted | Expr::Now | Expr::Today));
        lasting
    };
    !rule.at_write && rule.on.iter().all(|(_, require)| is_lasting(require))
}
