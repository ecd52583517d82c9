//! Agents on tasks: a run is opened, or taken up again where the same one was cut off, and worked off trial by trial.

use crate::{
    Error, Workshop,
    host::StoreHost,
    progress::Work,
    recorded::Recorded,
    runs::{Runs, Working},
    shared,
};
use benchwright_pack::{
    RunPlan, TrialRecord,
    run::{Limits, RUN_VERSION, TrialEnd},
};
use benchwright_report::{Summary, SummaryError, Tally};
use benchwright_run::{
    Agent, Driver, Keeping, LedgerError, Progress, RunId, Standing, TrialFolder, run as drive, sweep,
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How often the work is looked at, for who is told of it and for who cancels it.
const LOOK: Duration = Duration::from_millis(50);

/// The most trials of a run that each have a folder of their own. What larger runs leave is kept in segments.
const MOST_FOLDERS: usize = 1_000;

/// Which tasks are tried, how often, and with what limits.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Only these tasks, if any are named.
    pub only: Vec<String>,
    /// How often each agent tries each task.
    pub attempts: u32,
    /// What a trial may use up.
    pub limits: Limits,
    /// Begins another run, even where one with the same plan is there.
    pub new: bool,
    /// Keeps the terminal state of every trial, also where trials are kept in segments.
    pub keep_states: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { only: Vec::new(), attempts: 1, limits: Limits::default(), new: false, keep_states: false }
    }
}

impl RunOptions {
    /// Whether there is anything to do, before a folder is made for it.
    pub fn check(&self) -> Result<(), Error> {
        if self.attempts == 0 { Err(Error::NoAttempts) } else { Ok(()) }
    }
}

/// The plan of agents on the tasks of a host.
fn plan_of(
    workshop: &Workshop,
    host: &StoreHost<'_>,
    agents: &[Box<dyn Agent + Send>],
    options: &RunOptions,
) -> Result<RunPlan, Error> {
    options.check()?;
    let mut ids = host.store().ids()?;
    if let Some(missing) = options.only.iter().find(|id| !ids.contains(id)) {
        return Err(Error::NoTask(missing.clone()));
    }
    ids.retain(|id| options.only.is_empty() || options.only.contains(id));
    if ids.is_empty() {
        return Err(Error::NoTasksIn(host.store().root().to_owned()));
    }
    let mut work = Work::begin(workshop.progress(), "opening tasks", 0, ids.len());
    let mut tasks = Vec::with_capacity(ids.len());
    for id in &ids {
        tasks.push(host.line(id)?);
        work.done(id);
    }
    drop(work);
    let settings = agents.iter().map(|agent| (agent.name().to_owned(), agent.settings()));
    Ok(RunPlan {
        version: RUN_VERSION,
        tasks,
        agents: agents.iter().map(|agent| agent.name().to_owned()).collect(),
        settings: settings.filter(|(_, settings)| !settings.is_empty()).collect(),
        attempts: options.attempts,
        limits: options.limits.clone(),
    })
}

/// What a run on a folder of tasks is about.
fn about(host: &StoreHost<'_>) -> String {
    host.store().root().file_name().map_or("tasks".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Plans agents on the tasks of a host for whoever comes to work on them, waits until all is recorded, and says what came of it. The newest run
/// with the same plan is taken up again. `told` is given its name and how far it was.
pub fn plan_run(
    workshop: &Workshop,
    host: &StoreHost<'_>,
    agents: &[Box<dyn Agent + Send>],
    runs: &Runs,
    options: &RunOptions,
    told: &dyn Fn(&str, &Standing),
) -> Result<Over, Error> {
    let begun = Instant::now();
    let plan = plan_of(workshop, host, agents, options)?;
    let tasks = shared::put_tasks(host.store(), runs)?;
    // Whoever sees the run finds its tasks.
    let fresh = runs.fresh_name(&about(host));
    shared::note_tasks(runs, &fresh, &tasks)?;
    let (id, is_new) = runs.ledger.open(&fresh, &plan, options.new)?;
    let name = runs.ledger.name(id)?;
    if name != fresh {
        shared::forget_tasks(runs, &fresh)?;
    }
    let before = runs.ledger.standing(id)?;
    if !is_new {
        runs.ledger.reopen_errors(id)?;
    }
    told(&name, &before);
    shared::watch(workshop, runs, id)?;
    sweep(&*runs.ledger, id, &Keeping::Segments(runs.segments(&name), false))?;
    let fresh = plan.trials().saturating_sub(before.recorded);
    Ok(Over { recorded: Recorded::of(runs, id, &name)?, fresh, seconds: begun.elapsed().as_secs_f64() })
}

/// A run that is open.
pub struct Run<'a> {
    workshop: &'a Workshop,
    host: &'a StoreHost<'a>,
    agents: &'a [Box<dyn Agent + Send>],
    runs: &'a Runs,
    id: RunId,
    /// Its name, which is that of its folder.
    pub name: String,
    /// What is tried.
    pub plan: RunPlan,
    /// How far it was before, and how many errors are tried again; nothing if it is new.
    pub resumed: Option<(Standing, usize)>,
    keeping: Keeping,
    /// For as long as this process works on it.
    _working: Working,
}

impl<'a> Run<'a> {
    /// Opens a run of agents on the tasks of a host, or the newest one with the same plan, which goes on where it was.
    pub fn open(
        workshop: &'a Workshop,
        host: &'a StoreHost<'a>,
        agents: &'a [Box<dyn Agent + Send>],
        runs: &'a Runs,
        options: &RunOptions,
    ) -> Result<Run<'a>, Error> {
        let plan = plan_of(workshop, host, agents, options)?;
        let folder = host.store().root();
        let (id, is_new) = runs.ledger.open(&runs.fresh_name(&about(host)), &plan, options.new)?;
        let name = runs.ledger.name(id)?;
        let place = runs.folder(&name);
        // Nothing is added to records that were changed.
        let flaws = runs.ledger.chain(id)?.flaws;
        if !flaws.is_empty() {
            return Err(Error::Flawed { run: name, path: runs.ledger_path(), flaws });
        }
        runs.note_tasks(&name, folder).map_err(Error::io(&place))?;
        let working = Working::on(&place).map_err(Error::io(&place))?;
        if working.alone {
            // Whoever held trials is gone.
            runs.ledger.take_back(id)?;
            working.share().map_err(Error::io(&place))?;
        }
        let before = runs.ledger.standing(id)?;
        let resumed = if is_new { None } else { Some((before, runs.ledger.reopen_errors(id)?)) };
        let keeping = match plan.trials() > MOST_FOLDERS {
            true => Keeping::Segments(runs.segments(&name), options.keep_states),
            false => Keeping::Folders(TrialFolder::of(&place)),
        };
        Ok(Run { workshop, host, agents, runs, id, name, plan, resumed, keeping, _working: working })
    }

    /// Works it off. Cancelled, it stops before the next trial; what is recorded stays recorded.
    pub fn work_off(self) -> Result<Over, Error> {
        let (stop, done) = (AtomicBool::new(false), Progress::default());
        let driver = Driver {
            host: self.host,
            ledger: &*self.runs.ledger,
            agents: self.agents,
            keeping: self.keeping.clone(),
            hold: None,
            jobs: self.workshop.jobs(),
            stop: &stop,
        };
        let begun = Instant::now();
        let before = self.resumed.as_ref().map_or(0, |(before, _)| before.recorded);
        let mut work = Work::begin(self.workshop.progress(), "trials", before, self.plan.trials());
        thread::scope(|scope| {
            let worker = scope.spawn(|| drive(&driver, self.id, &done));
            while !worker.is_finished() {
                thread::sleep(LOOK);
                work.reach(before + done.recorded.load(Ordering::Relaxed));
                if self.workshop.cancel().is_cancelled() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join().unwrap_or(Err(LedgerError::Lost("the runner")))
        })?;
        drop(work);
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        sweep(&*self.runs.ledger, self.id, &self.keeping)?;
        Ok(Over {
            recorded: Recorded::of(self.runs, self.id, &self.name)?,
            fresh: done.recorded.load(Ordering::Relaxed),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// A run that was worked off, by whomever. Its records are gone through where they are wanted.
pub struct Over {
    /// What is recorded of it.
    pub recorded: Recorded,
    /// Trials that were recorded this time.
    pub fresh: usize,
    /// Seconds by the wall, this time.
    pub seconds: f64,
}

impl Over {
    /// Its numbers, and the highest reward of each agent, in millionths.
    pub fn counted(&self) -> Result<(Summary, BTreeMap<String, i64>), SummaryError> {
        let (mut tally, mut highest) = (Tally::new(&self.recorded.plan), BTreeMap::<String, i64>::new());
        self.recorded.each(&mut |_, record| {
            if let TrialEnd::Scored(score) = &record.end {
                match highest.get_mut(&record.key.agent) {
                    Some(known) => *known = score.reward.max(*known),
                    None => drop(highest.insert(record.key.agent.clone(), score.reward)),
                }
            }
            tally.add(record)
        })?;
        Ok((tally.summary(), highest))
    }

    /// The run with all of its records, for who wants them at once.
    pub fn into_ran(self) -> Result<Ran, Error> {
        let records = self.recorded.records()?.into_iter().map(|(_, record)| record).collect();
        let Over { recorded, fresh, seconds } = self;
        let head = recorded.head().to_owned();
        Ok(Ran { head, name: recorded.name, plan: recorded.plan, records, fresh, seconds })
    }
}

/// A run that was worked off, with its records.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its name, which is that of its folder.
    pub name: String,
    /// What was tried.
    pub plan: RunPlan,
    /// The last hash of the chain over its records: whoever has it can tell whether they were changed or cut since.
    pub head: String,
    /// What came of each trial.
    pub records: Vec<TrialRecord>,
    /// Trials that were recorded this time.
    pub fresh: usize,
    /// Seconds by the wall, this time.
    pub seconds: f64,
}

/// What an agent earned on a task.
#[derive(Clone, PartialEq, Debug)]
pub struct Reward<'r> {
    /// The agent.
    pub agent: &'r str,
    /// The task.
    pub task: &'r str,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Between 0 and 1, or why there is none: an error is not the agent's fault, and no zero.
    pub reward: Result<f64, &'r str>,
}

impl Ran {
    /// The rewards, agent by agent, task by task.
    pub fn rewards(&self) -> impl Iterator<Item = Reward<'_>> {
        let id = |digest: &str| self.plan.tasks.iter().find(|task| task.digest == digest).map_or("", |task| &*task.id);
        let mut rewards: Vec<Reward<'_>> = self
            .records
            .iter()
            .map(|record| Reward {
                agent: &record.key.agent,
                task: id(&record.key.task),
                attempt: record.key.attempt,
                reward: match &record.end {
                    TrialEnd::Scored(score) => Ok(score.reward as f64 / 1e6),
                    TrialEnd::Error { cause, .. } => Err(&**cause),
                },
            })
            .collect();
        rewards.sort_by_key(|reward| (reward.agent, reward.task, reward.attempt));
        rewards.into_iter()
    }
}

/// Runs agents on the tasks of a folder, in this process, and keeps what came of it.
pub fn run(
    workshop: &Workshop,
    tasks: &Path,
    agents: &[Box<dyn Agent + Send>],
    runs: &Path,
    options: &RunOptions,
) -> Result<Ran, Error> {
    let host = StoreHost::new(workshop.catalog(), benchwright_pack::Store::at(tasks));
    Run::open(workshop, &host, agents, &Runs::open(runs)?, options)?.work_off()?.into_ran()
}
