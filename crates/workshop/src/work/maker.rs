//! Makes and audits tasks in this process: the solver is loaded once, domains and patterns are read once.

use super::{
    Temporary, Workers, Workshop,
    pool::Remote,
    protocol::{Answer, AttemptsRequest, AuditRequest, Failed, Made, MakeRequest, Request},
    started_with,
    watched::Watched,
};
use crate::{Error, events, tasks::Judged};
use benchwright_audit::{
    Attempt, Finding, NoAttempts, NotRemade, RequestSubject, Solvers, Subject, TRIALS, TaskReport, Trial,
};
use benchwright_catalog::{Catalog, Found};
use benchwright_derive::{NoBase, ScenarioOrder};
use benchwright_inject::Ground;
use benchwright_pack::{MOST_INJECTED, SEALED_TREE, Store, StoreError, Task};
use benchwright_project::{Family, Order, Pattern, Solver, make, salted};
use benchwright_solve::{Answers, CpSat, Highs, Keeper, Library, PhasePlanner, Portfolio, Recorded};
use benchwright_spec::{NoPlanner, Planner, scenario::Scenario};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// The solver with how a certificate names it.
pub struct Engines {
    /// The one that makes tasks.
    pub first: CpSat,
    /// Only trials ask it.
    second: Option<Highs>,
    library: Library,
    /// How a certificate names it.
    pub identity: Solver,
}

impl Engines {
    /// Finds and loads the solver.
    pub fn load() -> Result<Engines, Error> {
        let library = Library::find()?;
        let first = CpSat::load(&library)?;
        let identity = identity(&library, &first).map_err(Error::Library)?;
        Ok(Engines { first, second: None, library, identity })
    }
}

impl Engines {
    /// Both solvers, for trials.
    pub(crate) fn solvers(&mut self) -> Result<Solvers<'_>, Error> {
        let second = match &mut self.second {
            Some(second) => second,
            none => none.insert(Highs::load(&self.library)?),
        };
        Ok(Solvers { first: &self.first, second })
    }
}

fn identity(library: &Library, engine: &CpSat) -> io::Result<Solver> {
    use benchwright_solve::Engine as _;
    Ok(Solver { version: engine.version(), library: library.sha256()?.to_string() })
}

/// Families by name and domain.
type Families = BTreeMap<(String, String), &'static dyn Family>;

/// Scenarios by name, each with whether it is one.
type Scenarios = BTreeMap<String, Option<(Arc<Scenario>, Found)>>;

/// Makes tasks.
pub struct Maker<'s> {
    workshop: &'s Workshop,
    engines: Option<Engines>,
    domains: BTreeMap<String, Found>,
    patterns: BTreeMap<String, Pattern>,
    families: Families,
    scenarios: Scenarios,
    /// Who makes tasks again: another process, which stays.
    other: Arc<Mutex<Remote>>,
    /// What a store keeps of a solver's answers, with its folder.
    kept: Option<(PathBuf, Arc<Answers>)>,
    /// What was answered for the last task.
    given: Answers,
}

impl<'s> Maker<'s> {
    /// A maker; nothing is loaded before it is needed.
    pub fn new(workshop: &'s Workshop) -> Maker<'s> {
        Maker {
            workshop,
            engines: None,
            domains: BTreeMap::new(),
            patterns: BTreeMap::new(),
            families: BTreeMap::new(),
            scenarios: BTreeMap::new(),
            other: Arc::default(),
            kept: None,
            given: Answers::default(),
        }
    }

    /// Forgets everything that it has loaded.
    pub(crate) fn forget(&mut self) {
        *self = Maker::new(self.workshop);
    }

    /// Answers a request. What goes wrong is part of the answer.
    pub fn answer(&mut self, request: &Request) -> Answer {
        let _request = events::request(request).entered();
        let begun = Instant::now();
        let answer = match request {
            Request::Make(request) => self.make_into_store(request).map(Answer::Made),
            Request::Audit(request) => self.audit(request).map(Answer::Audited),
            Request::Attempts(request) => self.attempts(request).map(Answer::Attempts),
            Request::AbortForTests => std::process::abort(),
        };
        let failed = |error: Error| {
            let (missing, barren) = (error.is_missing(), error.is_barren());
            Answer::Failed(Failed { why: error.to_string(), missing, barren })
        };
        let answer = answer.unwrap_or_else(failed);
        events::answered(&answer, begun.elapsed());
        answer
    }

    /// The solver, loaded when it is first asked for.
    pub fn engines(&mut self) -> Result<&mut Engines, Error> {
        match &mut self.engines {
            Some(engines) => Ok(engines),
            none => Ok(none.insert(Engines::load()?)),
        }
    }

    /// Makes a task. With `record`, every model that was solved is given too.
    pub fn make(
        &mut self,
        pattern: &str,
        tier: &str,
        objective: &str,
        seed: u64,
        reading: Option<&str>,
        record: bool,
    ) -> Result<(Task, Vec<Recorded>), Error> {
        let catalog = self.workshop.catalog();
        if let Some((scenario, _)) = scenario_of(catalog, &mut self.scenarios, pattern)? {
            let scenario = Arc::clone(&scenario);
            let base = |seed: u64| {
                catalog
                    .base(&scenario.domain, benchwright_derive::SIZE, seed)
                    .map_err(|error| NoBase(error.to_string()))
            };
            let order = ScenarioOrder { name: pattern, scenario: &scenario, tier, objective, seed };
            return Ok((benchwright_derive::make(order, &base)?, Vec::new()));
        }
        let pattern = pattern_of(catalog, &mut self.patterns, pattern)?;
        let family: &dyn Family = family_of(catalog, &mut self.families, &pattern.family, &pattern.domain)?;
        let found = domain_of(catalog, &mut self.domains, &pattern.domain)?;
        if let Some(identity) = Solver::not_asked(family) {
            let order = Order { pattern: &pattern, tier, objective, seed, reading };
            let task = make(order, family, &found.domain, &mut NoPlanner, &identity)?;
            return Ok((task, Vec::new()));
        }
        if let Some(admitted) = family.optimised().and_then(|optimised| optimised.admits(tier)) {
            let known = self.kept.as_ref().map(|(_, known)| Arc::clone(known)).unwrap_or_default();
            let by = known.by.clone().map(|(version, library)| Solver { version, library });
            // Where everything was answered before, no solver is needed.
            let engines = match (self.engines(), by.is_some()) {
                (Err(_), true) => None,
                (engines, _) => Some(engines?),
            };
            let here = engines.as_ref().map(|engines| engines.identity.clone());
            let solvers = engines.map(Engines::solvers).transpose()?;
            let planner = solvers.map(|solvers| -> Box<dyn Planner + '_> {
                Box::new(Portfolio { admitted, ..Portfolio::new(solvers.first, solvers.second) })
            });
            let identity = by.or(here).ok_or(Error::Worker)?;
            let way = format!("{}, within {admitted} thousandths", identity.version);
            let (task, given) = {
                let mut watched = Watched(Keeper { known: &known, given: Answers::default(), planner, way });
                let order = Order { pattern: &pattern, tier, objective, seed, reading };
                (make(order, family, &found.domain, &mut watched, &identity), watched.0.given)
            };
            self.given = Answers { by: Some((identity.version, identity.library)), ..given };
            return Ok((task?, Vec::new()));
        }
        let engines = self.engines()?;
        let mut planner = PhasePlanner::new(&engines.first);
        planner.record = record.then(Vec::new);
        let order = Order { pattern: &pattern, tier, objective, seed, reading };
        let task = make(order, family, &found.domain, &mut planner, &engines.identity)?;
        Ok((task, planner.record.unwrap_or_default()))
    }

    /// A task as it stands where a share of tasks, in millionths, carries a hostile text.
    pub(crate) fn injected(&self, task: Task, share: u32) -> Result<Task, Error> {
        if !benchwright_inject::is_chosen(&task, share) {
            return Ok(task);
        }
        let catalog = self.workshop.catalog();
        let family = crate::tasks::family_of(catalog, &task).map_err(Error::catalog(&task.sealed.family))?;
        let open = |bytes: &[u8]| {
            catalog.world_of_snapshot(bytes).map_err(|error| benchwright_inject::NotInjected::Task(error.to_string()))
        };
        let natives = family.map_or(&[][..], |family| family.natives());
        Ok(benchwright_inject::injected(&task, &Ground { open: &open, natives })?)
    }

    fn make_into_store(&mut self, request: &MakeRequest) -> Result<Made, Error> {
        let MakeRequest { pattern, tier, objective, seed, reading, salt, inject, out } = request;
        self.keep(out)?;
        let (task, _) = self.make(pattern, tier, objective, *seed, reading.as_deref(), false)?;
        let answers = std::mem::take(&mut self.given);
        let task = self.injected(task, *inject)?;
        let task = in_suite(task, salt.as_deref());
        Store::at(out).write(&task)?;
        let checks = Judged::open(self.workshop.catalog(), &task).ok().and_then(|judged| {
            let state = judged.play(&task.sealed.oracle).ok()?;
            Some(judged.judge().ok()?.grade(&state).ok()?.applicable())
        });
        Ok(Made {
            id: task.open.id.clone(),
            digest: task.digest().to_string(),
            variables: task.sealed.certificate.variables,
            constraints: task.sealed.certificate.constraints,
            rules: task.sealed.verifier.plan.rules.len(),
            checks,
            discarded: task.sealed.certificate.discarded.clone(),
            measures: measures(&task.sealed.case),
            obstacle: task.sealed.effects.as_ref().and_then(|effects| Some(effects.refusal.as_ref()?.obstacle.clone())),
            answers: Some(answers).filter(|answers| !answers.said.is_empty()),
        })
    }

    /// Reads what a store keeps of a solver's answers, if it keeps any.
    fn keep(&mut self, store: &Path) -> Result<(), Error> {
        if self.kept.as_ref().is_some_and(|(known, _)| known == store) {
            return Ok(());
        }
        self.kept = crate::suites::answers_in(store)?.map(|answers| (store.to_owned(), Arc::new(answers)));
        Ok(())
    }

    /// Runs trials on a task of a store. Whoever asks has read the lock file and says which digest it must have.
    fn audit(&mut self, request: &AuditRequest) -> Result<TaskReport, Error> {
        trials_of(&request.trials)?;
        let task = Store::at(&request.store).unlocked_task(&request.id)?;
        if task.digest() != request.digest {
            return Err(StoreError::Digest(request.store.join(SEALED_TREE).join(&request.id)).into());
        }
        self.audit_task(&task, &request.trials, Some(&request.store))
    }

    /// Runs trials, by name, on a task.
    /// Where the task is of a store, what that keeps of a solver's answers serves to make it again.
    pub(crate) fn audit_task(
        &mut self,
        task: &Task,
        names: &[String],
        store: Option<&Path>,
    ) -> Result<TaskReport, Error> {
        let trials = trials_of(names)?;
        let (workshop, other) = (self.workshop, self.other.clone());
        let remake = || remake(workshop, &other, task, store);
        // A request is derived, not planned, so its audit asks no solver.
        if task.sealed.effects.is_some() {
            let subject = RequestSubject::new(task, workshop.catalog(), &remake)?;
            return Ok(tried(task, &trials, |trial| benchwright_audit::run_on_request(trial, &subject)));
        }
        let (name, domain) = (&task.sealed.family, &task.open.domain);
        let family = family_of(workshop.catalog(), &mut self.families, name, domain)?;
        // The audit of a family without an optimiser asks no solver either, nor do most trials that fit every family.
        let asks = family.optimised().filter(|_| trials.iter().any(|trial| trial.asks_solver()));
        let solvers = match asks {
            Some(_) => Some(self.engines()?.solvers()?),
            None => None,
        };
        let subject = Subject::new(task, workshop.catalog(), solvers, &remake)?;
        let grader = subject.grader()?;
        Ok(tried(task, &trials, |trial| benchwright_audit::run(trial, &subject, &grader)))
    }

    /// Finds ways through a task of a store.
    fn attempts(&mut self, request: &AttemptsRequest) -> Result<Vec<Attempt>, Error> {
        let AttemptsRequest { store, id, near_misses, other_ways } = request;
        let task = Store::at(store).task(id)?;
        let (workshop, other) = (self.workshop, self.other.clone());
        let not_found = |none: NoAttempts| Error::Row { id: id.clone(), why: none.0 };
        let remake = || remake(workshop, &other, &task, Some(store));
        if task.sealed.effects.is_some() {
            let subject = RequestSubject::new(&task, workshop.catalog(), &remake)?;
            let mut found = subject.near_misses(*near_misses).map_err(not_found)?;
            found.extend(subject.other_ways(*other_ways).map_err(not_found)?);
            return Ok(found);
        }
        let (name, domain) = (&task.sealed.family, &task.open.domain);
        let family = family_of(workshop.catalog(), &mut self.families, name, domain)?;
        // Where a family proves its own plans, it breaks them without a solver too.
        let solvers = match family.optimised().filter(|_| family.proof().is_none()) {
            Some(_) => Some(self.engines()?.solvers()?),
            None => None,
        };
        let subject = Subject::new(&task, workshop.catalog(), solvers, &remake)?;
        let grader = subject.grader()?;
        let mut found = subject.near_misses(&grader, *near_misses).map_err(not_found)?;
        found.extend(subject.other_ways(&grader, *other_ways).map_err(not_found)?);
        Ok(found)
    }
}

/// The trials of some names.
fn trials_of(names: &[String]) -> Result<Vec<&'static Trial>, Error> {
    let of = |name: &String| TRIALS.iter().find(|trial| trial.name == name).ok_or_else(|| Error::NoTrial(name.clone()));
    names.iter().map(of).collect()
}

/// What trials find on a task, with the time that each takes.
fn tried(task: &Task, trials: &[&Trial], run: impl Fn(&Trial) -> Finding) -> TaskReport {
    let mut report =
        TaskReport { id: task.open.id.clone(), pattern: task.sealed.pattern.clone(), ..Default::default() };
    for trial in trials {
        let begun = Instant::now();
        let finding = run(trial);
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        events::tried(trial.name, took);
        report.trials.insert(trial.name.to_owned(), finding);
        report.milliseconds.insert(trial.name.to_owned(), took);
    }
    report
}

/// A task as it stands in a suite with this salt.
pub(crate) fn in_suite(task: Task, salt: Option<&str>) -> Task {
    match salt {
        Some(salt) => salted(task, salt),
        None => task,
    }
}

/// Makes a task again, by another process where there are some: it stays, so that it has made others before.
fn remake(workshop: &Workshop, other: &Mutex<Remote>, task: &Task, store: Option<&Path>) -> Result<Task, NotRemade> {
    let folder = Temporary::new().map_err(|error| NotRemade(error.to_string()))?;
    let answers = store.map(|store| store.join(crate::suites::ANSWERS)).filter(|answers| answers.exists());
    if let Some(answers) = answers {
        let kept = folder.path().join(crate::suites::ANSWERS);
        fs::copy(&answers, kept).map_err(|error| NotRemade(error.to_string()))?;
    }
    let sealed = &task.sealed;
    let request = Request::Make(MakeRequest {
        pattern: sealed.pattern.clone(),
        tier: sealed.tier.clone(),
        objective: sealed.objective.clone(),
        seed: sealed.split.seed(sealed.seed),
        reading: sealed.reading.clone(),
        salt: sealed.salt.clone(),
        inject: if sealed.injection.is_some() { MOST_INJECTED } else { 0 },
        out: folder.path().to_owned(),
    });
    let answer = match workshop.workers() {
        Workers::Threads => Ok(Maker::new(&Workshop::new(workshop.catalog().clone())).answer(&request)),
        Workers::Processes { program, arguments } => {
            other.lock().unwrap_or_else(PoisonError::into_inner).ask(&|| started_with(program, arguments), &request)
        }
    };
    match answer {
        Ok(Answer::Made(made)) => {
            Store::at(folder.path()).unlocked_task(&made.id).map_err(|error| NotRemade(error.to_string()))
        }
        Ok(Answer::Failed(failed)) => Err(NotRemade(failed.why)),
        Err(why) => Err(NotRemade(why)),
        Ok(Answer::Audited(_) | Answer::Attempts(_)) => Err(NotRemade("the worker answered something else".to_owned())),
    }
}

/// A scenario of a name; nothing if a pattern is meant.
fn scenario_of(catalog: &Catalog, known: &mut Scenarios, name: &str) -> Result<Option<(Arc<Scenario>, Found)>, Error> {
    if let Some(found) = known.get(name) {
        return Ok(found.clone());
    }
    let found = match catalog.is_scenario(name) {
        true => {
            let (scenario, found) = catalog.scenario(name).map_err(Error::catalog(name))?;
            Some((Arc::new(scenario), found))
        }
        false => None,
    };
    known.insert(name.to_owned(), found.clone());
    Ok(found)
}

fn pattern_of(catalog: &Catalog, known: &mut BTreeMap<String, Pattern>, name: &str) -> Result<Pattern, Error> {
    if let Some(pattern) = known.get(name) {
        return Ok(pattern.clone());
    }
    let pattern = catalog.pattern(name).map_err(Error::catalog(name))?;
    known.insert(name.to_owned(), pattern.clone());
    Ok(pattern)
}

fn family_of(catalog: &Catalog, known: &mut Families, name: &str, domain: &str) -> Result<&'static dyn Family, Error> {
    let key = (name.to_owned(), domain.to_owned());
    if let Some(family) = known.get(&key) {
        return Ok(*family);
    }
    let family = catalog.family(name, domain).map_err(Error::catalog(name))?;
    known.insert(key, family);
    Ok(family)
}

fn domain_of(catalog: &Catalog, known: &mut BTreeMap<String, Found>, name: &str) -> Result<Found, Error> {
    if let Some(found) = known.get(name) {
        return Ok(found.clone());
    }
    let found = catalog.find(name).map_err(Error::catalog(name))?;
    known.insert(name.to_owned(), found.clone());
    Ok(found)
}

/// The numbers that a request's case tells of it.
fn measures(case: &serde_json::Value) -> BTreeMap<String, u64> {
    let measures = case["measures"].as_object().into_iter().flatten();
    measures.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
}
