//! Gives episodes of the tasks of a store: in this process, served to programs outside, or from a server elsewhere.

mod elsewhere;
mod here;
mod made;

use self::{elsewhere::Elsewhere, here::Here};
use crate::{
    Error,
    again::{Again, again},
    judge::Judge,
    work::maker::Engines,
};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_pack::{
    BoundKeys, OpenPart, Refusal, SealedTask, Snapshot, Split, Store, Task, TaskLine, Trace, TraceCall, Verdict,
    Verifier,
};
use benchwright_project::{Family, Planner};
use benchwright_report::html::{Answer, CallView};
use benchwright_run::{Finished, Host, HostError, Hosted, Left, Sealed, ToolCard, model::Redactor};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Domain, arguments_schema, describe};
use benchwright_solve::Portfolio;
use benchwright_world::{Episode as AnyEpisode, Seat, WorldError, WorldState, replay};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

/// How many tasks are kept open: the next begins anew. Trials go through tasks in order, so that none is opened twice for it.
const MOST_OPEN: usize = 4_096;

/// The tasks of a store, each opened once while there are not too many.
pub struct StoreHost<'c> {
    catalog: &'c Catalog,
    store: Store,
    place: Place,
    opened: Mutex<BTreeMap<String, Arc<Opened>>>,
    tools: Mutex<BTreeMap<String, Arc<[ToolCard]>>>,
    /// The solver, for agents that plan with one.
    engines: OnceLock<Result<Mutex<Engines>, String>>,
}

/// Where episodes live.
enum Place {
    Here(Here),
    Elsewhere(Elsewhere),
}

/// The check of a request's judge that is about what nobody asked for.
const FRAME: &str = "frame";

struct Opened {
    task: Task,
    domain: Arc<Domain>,
    family: Option<&'static dyn Family>,
    sandbox: Arc<Sandbox>,
    first: Snapshot,
    tools: Arc<[ToolCard]>,
    frame_rules: Vec<String>,
    /// The judge, made ready when the first episode ends.
    judge: OnceLock<Result<Judge, String>>,
}

impl Opened {
    fn seat(&self) -> Seat {
        self.sandbox.seat_of(&self.task.open)
    }

    /// An episode at the first state, in the agent's seat, with the task's number of calls.
    fn begin(&self) -> Result<Episode, HostError> {
        let episode = self.sandbox.begin(&self.seat(), Conditions::of(&self.task.open));
        episode.map_err(|error| failed("world")(error.to_string()))
    }

    fn judge(&self) -> Result<&Judge, HostError> {
        let natives = self.family.map_or(&[][..], |family| family.natives());
        let ready = || Judge::ready(&self.sandbox, &self.task.open, self.task.sealed.clone(), natives);
        let judge = self.judge.get_or_init(|| ready().map_err(|error| error.to_string()));
        judge.as_ref().map_err(|why| failed("grader")(why.clone()))
    }

    /// Makes the calls of a trace again, strictly.
    fn replay(&self, trace: &Trace) -> Result<Again, HostError> {
        let made = again(&self.sandbox, &self.task.open, trace);
        made.map_err(|error| failed("task")(format!("{}: {error}", self.task.open.id)))
    }
}

/// The table that a tool's name begins with, for tools that are code: the longest of them.
fn named(domain: &Domain, tool: &str) -> Option<String> {
    let tables = domain.tables.iter().map(|table| &table.name);
    let begins = tables.filter(|table| tool.strip_prefix(&***table).is_some_and(|rest| rest.starts_with('_')));
    begins.max_by_key(|table| table.len()).cloned()
}

fn failed(cause: &'static str) -> impl Fn(String) -> HostError {
    move |detail| HostError { cause, detail }
}

impl<'c> StoreHost<'c> {
    /// A host of a store's tasks, with episodes in this process.
    pub fn new(catalog: &'c Catalog, store: Store) -> StoreHost<'c> {
        let place = Place::Here(Here::alone(catalog, store.root()));
        StoreHost { catalog, store, place, opened: Mutex::default(), tools: Mutex::default(), engines: OnceLock::new() }
    }

    /// The same, and every episode can be reached over loopback by who has its token. What the redactor knows is taken out of every call
    /// before the world is asked, so that neither state nor trace ever has it.
    pub fn served(catalog: &'c Catalog, store: Store, secrets: &Redactor) -> Result<StoreHost<'c>, Error> {
        let place = Place::Here(Here::served(catalog, store.root(), secrets)?);
        Ok(StoreHost {
            catalog,
            store,
            place,
            opened: Mutex::default(),
            tools: Mutex::default(),
            engines: OnceLock::new(),
        })
    }

    /// A host of a store's tasks, with episodes at a server that has their open parts. Verdicts are reached here, from what
    /// the server says was called, without what the redactor knows.
    pub fn elsewhere(catalog: &'c Catalog, store: Store, url: &str, token: &str, secrets: &Redactor) -> StoreHost<'c> {
        let place = Place::Elsewhere(Elsewhere::new(url, token, secrets));
        StoreHost { catalog, store, place, opened: Mutex::default(), tools: Mutex::default(), engines: OnceLock::new() }
    }

    /// Where its tasks are.
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn opened(&self, id: &str) -> Result<Arc<Opened>, HostError> {
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(id) {
            return Ok(Arc::clone(known));
        }
        let bad = failed("task");
        let task = self.store.task(id).map_err(|error| bad(error.to_string()))?;
        let family = crate::tasks::family_of(self.catalog, &task).map_err(|error| bad(error.to_string()))?;
        let (sandbox, first) = self.catalog.first_state(&task.world).map_err(|error| bad(error.to_string()))?;
        let domain = Arc::clone(sandbox.domain());
        let tools = self.tools(&domain);
        let plan = &task.sealed.verifier.plan;
        let mut frame_rules: Vec<String> =
            plan.rules.iter().filter(|(_, rule)| rule.frame).map(|(id, _)| id.clone()).collect();
        if task.sealed.effects.is_some() {
            frame_rules.push(FRAME.to_owned());
        }
        let judge = OnceLock::new();
        let opened = Opened { domain, family, sandbox, first, tools, frame_rules, task, judge };
        let mut known = lock();
        if known.len() >= MOST_OPEN {
            known.clear();
        }
        Ok(Arc::clone(known.entry(id.to_owned()).or_insert(Arc::new(opened))))
    }

    fn tools(&self, domain: &Domain) -> Arc<[ToolCard]> {
        let mut known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let cards = || {
            let card = |tool: &benchwright_schema::Tool| ToolCard {
                name: tool.name.clone(),
                description: describe(domain, tool),
                arguments: arguments_schema(domain, tool),
                reads_only: tool.reads_only(),
                table: tool.table.map(|table| domain.table(table).name.clone()).or_else(|| named(domain, &tool.name)),
            };
            domain.tools.iter().map(card).collect()
        };
        Arc::clone(known.entry(domain.name.clone()).or_insert_with(cards))
    }

    /// The sealed verifier of a task.
    pub fn verifier(&self, id: &str) -> Result<Verifier, HostError> {
        Ok(self.opened(id)?.task.sealed.verifier.clone())
    }

    /// A task as a run sees it.
    pub fn line(&self, id: &str) -> Result<TaskLine, HostError> {
        let opened = self.opened(id)?;
        let (task, sealed) = (&opened.task, &opened.task.sealed);
        let refusal = sealed.effects.as_ref().and_then(|effects| effects.refusal.as_ref());
        let counts = [
            ("variables", sealed.certificate.variables),
            ("constraints", sealed.certificate.constraints),
            ("rules", sealed.verifier.plan.rules.len()),
            ("rows", opened.first.tables.iter().map(|table| table.rows.len()).sum()),
        ];
        Ok(TaskLine {
            id: id.to_owned(),
            digest: task.digest().to_string(),
            domain: task.open.domain.clone(),
            pattern: sealed.pattern.clone(),
            tier: sealed.tier.clone(),
            dials: sealed.dials.clone(),
            objective: sealed.objective.clone(),
            cluster: sealed.pattern.clone(),
            pair: pair(sealed),
            obstacle: refusal.map(|refusal| refusal.obstacle.clone()),
            problem: opened.family.and_then(|family| family.problem(&sealed.tier)),
            horizon: calls_of(sealed),
            parameters: counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count as i64))
                .chain(measures(sealed))
                .collect(),
        })
    }
}

/// What was measured of a request, by name.
fn measures(sealed: &SealedTask) -> BTreeMap<String, i64> {
    let measures = sealed.case.get("measures").and_then(|measures| measures.as_object());
    let measures = measures.filter(|_| sealed.effects.is_some()).into_iter().flatten();
    measures.filter_map(|(name, count)| Some((name.clone(), count.as_i64()?))).collect()
}

/// How many calls the oracle makes.
fn calls_of(sealed: &SealedTask) -> u32 {
    let measured = measures(sealed).get("calls").and_then(|calls| u32::try_from(*calls).ok());
    measured.unwrap_or(sealed.oracle.steps.len() as u32)
}

/// What a task has in common with its twin alone: everything it was drawn from, and the clause that they read differently; of a request
/// the draw, which its blocked variants have too.
fn pair(sealed: &SealedTask) -> Option<String> {
    let seed = sealed.split.seed(sealed.seed);
    let drawn = format!("{} {}", sealed.pattern, sealed.tier);
    let pair = match (&sealed.reading, &sealed.effects) {
        (Some(reading), _) => {
            let clause = reading.split('/').next().unwrap_or(reading);
            Some(format!("{drawn} {} {seed} {clause}", sealed.objective))
        }
        (None, Some(_)) => Some(format!("{drawn} {seed}")),
        (None, None) => None,
    };
    // A run may be published while the seeds are still secret. Twins share their salt.
    match (sealed.split, &sealed.salt) {
        (Split::Committed, salt) => {
            let salt = salt.as_deref().unwrap_or_default();
            pair.map(|pair| Digest::of(format!("pair|{salt}|{pair}").as_bytes()).to_string())
        }
        _ => pair,
    }
}

/// The instruction, the calls with their answers, and what they changed.
pub type Replayed = (String, Vec<CallView>, String);

impl StoreHost<'_> {
    /// Makes the calls of a trace again, for their answers.
    pub fn replayed(&self, id: &str, trace: &Trace) -> Result<Replayed, HostError> {
        let opened = self.opened(id)?;
        let Again { episode, answers } = opened.replay(trace)?;
        let view = |(call, answer): (&TraceCall, Result<String, Refusal>)| {
            let answer = answer.map_or_else(|refusal| Answer::Refused(refusal.to_string()), Answer::Answered);
            CallView { tool: call.tool.clone(), arguments: call.arguments.clone(), answer }
        };
        let calls = trace.calls.iter().zip(answers).map(view).collect();
        Ok((opened.task.instruction.clone(), calls, episode.diff().to_text(&opened.domain)))
    }

    /// What the calls of a trace lead to when they are made again, with the verdict on it, and the state where it is wanted.
    pub(crate) fn finished_again(&self, id: &str, trace: &Trace, with_state: bool) -> Result<Finished, HostError> {
        let opened = self.opened(id)?;
        finished(&opened, &opened.replay(trace)?.episode, 0, with_state)
    }
}

impl StoreHost<'_> {
    /// The calls of the certified plan as an agent would make them, in the agent's seat.
    pub fn certified(&self, id: &str) -> Result<Trace, HostError> {
        let opened = self.opened(id)?;
        let mut episode = opened.begin()?;
        let keys = &opened.task.sealed.verifier.keys;
        let mut bound = BoundKeys::new(keys.values().flatten().map(|(id, key)| (key.clone(), *id)));
        let played = replay(&opened.task.sealed.oracle, &mut bound, &mut episode);
        played.map_err(|error| failed("task")(format!("{id}: {error}")))?;
        Ok(episode.trace())
    }

    /// The verdict on what an episode elsewhere left. Nothing is taken on trust: its calls are made again, with the tools that the task
    /// offers, and must lead to the state that was left.
    pub fn judged(&self, id: &str, trace: &Trace, snapshot: &[u8]) -> Result<Verdict, HostError> {
        let opened = self.opened(id)?;
        let Again { episode, .. } = opened.replay(trace)?;
        if episode.snapshot_bytes() != snapshot {
            return Err(failed("task")(format!("{id}: the calls of the trace lead to another state than was left")));
        }
        Ok(finished(&opened, &episode, 0, false)?.verdict)
    }
}

impl Host for StoreHost<'_> {
    fn open(&self, id: &str) -> Result<OpenPart, HostError> {
        let opened = self.opened(id)?;
        let task = &opened.task;
        Ok(OpenPart { open: task.open.clone(), instruction: task.instruction.clone(), world: Vec::new() })
    }

    fn sealed(&self, id: &str) -> Result<Sealed, HostError> {
        let opened = self.opened(id)?;
        let sealed = &opened.task.sealed;
        let ids = sealed.verifier.keys.values().flatten().map(|(id, key)| (key.clone(), *id)).collect();
        let needs = sealed.case.get("needs").filter(|_| sealed.effects.is_some()).and_then(|needs| needs.as_array());
        let needs = needs.into_iter().flatten().filter_map(|tool| tool.as_str()).map(str::to_owned).collect();
        Ok(Sealed { oracle: sealed.oracle.clone(), ids, needs })
    }

    fn family(&self, id: &str) -> Result<&'static dyn Family, HostError> {
        let none = || failed("task")(format!("{id} is a request: no family plans it"));
        self.opened(id)?.family.ok_or_else(none)
    }

    fn with_planner(&self, id: &str, with: &mut dyn FnMut(&mut dyn Planner)) -> Result<(), HostError> {
        let opened = self.opened(id)?;
        let tier = &opened.task.sealed.tier;
        let admitted = opened.family.and_then(|family| family.optimised()?.admits(tier)).unwrap_or_default();
        let missing = |error: &dyn std::fmt::Display| failed("solver")(error.to_string());
        let engines = self.engines.get_or_init(|| Engines::load().map(Mutex::new).map_err(|error| error.to_string()));
        let engines = engines.as_ref().map_err(|error| missing(error))?;
        let mut engines = engines.lock().unwrap_or_else(PoisonError::into_inner);
        let solvers = engines.solvers().map_err(|error| missing(&error))?;
        with(&mut Portfolio { admitted, ..Portfolio::new(solvers.first, solvers.second) });
        Ok(())
    }

    fn domain(&self, id: &str) -> Result<Option<Arc<Domain>>, HostError> {
        Ok(Some(Arc::clone(&self.opened(id)?.domain)))
    }

    fn begin(&self, id: &str) -> Result<Box<dyn Hosted + '_>, HostError> {
        let opened = self.opened(id)?;
        match &self.place {
            Place::Here(here) => here.begin(opened),
            Place::Elsewhere(elsewhere) => elsewhere.begin(opened),
        }
    }
}

/// What is left of an episode, with the verdict on it, and with its state where that is wanted.
fn finished(opened: &Opened, episode: &dyn AnyEpisode, world: u128, with_state: bool) -> Result<Finished, HostError> {
    let begun = Instant::now();
    let bad = failed("grader");
    let lost = |error: WorldError| failed("world")(error.to_string());
    let state = match episode.state().map_err(lost)? {
        WorldState::Records(state) => state,
        other => return Err(bad(format!("there is no judge for {}", other.kind()))),
    };
    let verdict = opened.judge()?.with(|judge| judge.grade(&state)).map_err(|error| bad(error.to_string()))?;
    let trace = episode.trace().map_err(lost)?;
    let left = match with_state {
        true => {
            let diff = episode.diff().map_err(lost)?.to_json(&opened.domain);
            Some(Left { snapshot: episode.state_bytes().map_err(lost)?, diff })
        }
        false => None,
    };
    let world = (world + begun.elapsed().as_nanos()) / 1_000;
    let frame_rules = opened.frame_rules.clone();
    Ok(Finished { trace, left, verdict, frame_rules, world: u64::try_from(world).unwrap_or(u64::MAX) })
}

/// A task for a person: an episode to work in, and the judge of it.
pub struct ForPerson {
    opened: Arc<Opened>,
}

impl ForPerson {
    /// A new episode in the agent's seat.
    pub fn begin(&self) -> Result<Episode, HostError> {
        self.opened.begin()
    }

    /// Whose seat that is.
    pub fn seat(&self) -> Seat {
        self.opened.seat()
    }

    /// What the person is told.
    pub fn instruction(&self) -> &str {
        &self.opened.task.instruction
    }

    /// What is left of an episode, with the verdict on it.
    pub fn finished(&self, episode: &Episode) -> Result<Finished, HostError> {
        finished(&self.opened, episode, 0, true)
    }
}

impl StoreHost<'_> {
    /// A task for a person.
    pub fn for_person(&self, id: &str) -> Result<ForPerson, HostError> {
        Ok(ForPerson { opened: self.opened(id)? })
    }
}
