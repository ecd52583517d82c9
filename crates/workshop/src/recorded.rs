//! Recorded runs as dialogues: every trial of a ledger with what was said and done in it, for rows and for logs of other programs.

use crate::{
    Error, Workshop,
    dialogues::Teller,
    host::StoreHost,
    play::Offer,
    progress::Work,
    runs::Runs,
    shared::{Fetched, fetched, of_run},
};
use benchwright_base::Digest;
use benchwright_depot::Depot;
use benchwright_export::{
    ExportError, InspectLog, atif,
    dialogue::{RunFacts, TaskFacts, TrialFacts, begun_of},
};
use benchwright_pack::{RunPlan, Store, StoreError, TaskLine, TrialRecord, run::TrialEnd};
use benchwright_run::{Chain, Flaw, Kept, RunId, Segment, Segments, TrialFolder, folder::told_apart};
use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// How many segments are held in memory for who goes through their trials.
const MOST_READ: usize = 8;

/// A run that was recorded.
pub struct Recorded {
    /// Its name.
    pub name: String,
    /// What it was to do.
    pub plan: RunPlan,
    pub(crate) chain: Chain,
    /// The records of folders and segments, by number.
    records: Vec<(i64, TrialRecord)>,
    /// What is wrong with segments.
    pub(crate) unread: Vec<Flaw>,
    /// The segments that were read last.
    read: Mutex<VecDeque<(usize, Arc<Segment>)>>,
    pub(crate) folder: PathBuf,
    pub(crate) segments: Segments,
    pub(crate) ledger: PathBuf,
    tasks: Option<PathBuf>,
    /// Where its tasks are kept, and what was fetched of them, where others work on it too.
    elsewhere: Option<(Depot, OnceLock<Fetched>)>,
}

/// Which of a run's trials are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Which<'a> {
    /// Those of one agent.
    pub agent: Option<&'a str>,
    /// Those that passed.
    pub only_passed: bool,
}

impl Recorded {
    /// The run of a name or a folder; the newest, if none is given.
    pub fn open(runs: &Runs, given: Option<&str>) -> Result<Recorded, Error> {
        let id = match given {
            None => runs.ledger.newest()?,
            Some(given) => {
                let name = Path::new(given).file_name().map_or(given.into(), |name| name.to_string_lossy());
                runs.ledger.named(&name)?
            }
        };
        let id = id.ok_or_else(|| Error::NoRun(given.unwrap_or("newest").to_owned()))?;
        Recorded::of(runs, id, &runs.ledger.name(id)?)
    }

    /// A run of the ledger.
    pub(crate) fn of(runs: &Runs, id: RunId, name: &str) -> Result<Recorded, Error> {
        let folder = runs.folder(name);
        let (plan, mut chain) = (runs.ledger.plan(id)?, runs.ledger.chain(id)?);
        let (mut records, mut unread) = (std::mem::take(&mut chain.records), Vec::new());
        let segments = runs.segments(name);
        for link in &chain.segments {
            match segments.records(link) {
                Ok(found) => records.extend(found),
                Err(error) => unread.push(Flaw { trial: link.numbers.first().copied(), what: error.to_string() }),
            }
        }
        records.sort_by_key(|(number, _)| *number);
        for (number, record) in &records {
            if plan.key(*number).is_some_and(|key| key != record.key) {
                unread.push(Flaw { trial: Some(*number), what: "its record is of another trial".to_owned() });
            }
        }
        Ok(Recorded {
            plan,
            chain,
            records,
            unread,
            read: Mutex::default(),
            elsewhere: match runs.is_shared() {
                true => Some((runs.kept(&of_run(runs, name)?), OnceLock::new())),
                false => None,
            },
            segments,
            folder,
            ledger: runs.ledger_path(),
            tasks: runs.tasks_of(name).filter(|tasks| tasks.is_dir()),
            name: name.to_owned(),
        })
    }

    /// The trials that have ended, by number.
    pub fn records(&self) -> &[(i64, TrialRecord)] {
        &self.records
    }

    /// The same, for who needs nothing else.
    pub(crate) fn into_records(self) -> Vec<(i64, TrialRecord)> {
        self.records
    }

    /// The place among the chain's segments of the one that a trial is in; nothing for one with a folder.
    pub(crate) fn segment_of(&self, number: i64) -> Option<usize> {
        self.chain.segments.iter().position(|link| link.numbers.binary_search(&number).is_ok())
    }

    fn segment(&self, at: usize) -> Result<Arc<Segment>, StoreError> {
        let lock = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(known, _)| *known == at) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(self.segments.read(&self.chain.segments[at])?);
        let mut all = lock();
        all.push_front((at, Arc::clone(&read)));
        all.truncate(MOST_READ);
        Ok(read)
    }

    /// What is kept of the way that a trial took, wherever that is.
    pub(crate) fn kept(&self, number: i64) -> Result<Kept, StoreError> {
        let Some(at) = self.segment_of(number) else { return TrialFolder::of(&self.folder).read(number) };
        self.segment(at)?.kept(number)
    }

    /// The digest of all records by their numbers, times apart: the same for whoever worked the run off, in whatever order.
    pub fn digest(&self) -> Result<Digest, Error> {
        let mut all = Vec::new();
        for (number, record) in &self.records {
            let told = told_apart(record).and_then(|(told, _)| serde_json::to_vec(&told));
            let told = told.map_err(|error| Error::Row { id: record.key.task.clone(), why: error.to_string() })?;
            all.push((number.to_string(), Digest::of(&told)));
        }
        Ok(Digest::of_parts(all.iter().map(|(number, digest)| (&**number, &digest.0[..]))))
    }

    /// The last hash of the chain over its records.
    pub fn head(&self) -> &str {
        self.chain.head()
    }

    /// What can be seen to be wrong without judging anything again: a chain whose links do not follow, a file that is not there.
    pub fn flaws(&self) -> Vec<Flaw> {
        let folders = TrialFolder::of(&self.folder);
        let lacking = |(number, record): &(i64, TrialRecord)| {
            let path = match self.chain.folders.contains_key(number) {
                true => folders.lacks(*number, matches!(record.end, TrialEnd::Scored(_)))?,
                false => return None,
            };
            Some(Flaw { trial: Some(*number), what: format!("{} is not there", path.display()) })
        };
        let known = self.chain.flaws.iter().chain(&self.unread).cloned();
        known.chain(self.records().iter().filter_map(lacking)).collect()
    }

    /// Refuses a run whose records are not as they were written.
    pub fn check(&self) -> Result<(), Error> {
        match self.flaws() {
            flaws if flaws.is_empty() => Ok(()),
            flaws => Err(Error::Flawed { run: self.name.clone(), path: self.ledger.clone(), flaws }),
        }
    }

    /// The folder of its tasks: the given one, or the one that it was run on.
    pub fn tasks(&self, given: Option<&Path>) -> Result<PathBuf, Error> {
        if let (None, Some((depot, known))) = (given, &self.elsewhere) {
            if known.get().is_none() {
                let _ = known.set(fetched(depot)?);
            }
            return known
                .get()
                .map(|known| known.path().to_owned())
                .ok_or_else(|| Error::TasksOfRun(self.name.clone()));
        }
        let known = given.map(Path::to_owned).or_else(|| self.tasks.clone());
        known.ok_or_else(|| Error::TasksOfRun(self.name.clone()))
    }

    /// The agent that a log is of: the given one, or the only one.
    pub fn agent<'a>(&'a self, given: Option<&'a str>) -> Result<&'a str, Error> {
        match (given, &self.plan.agents[..]) {
            (Some(given), agents) if agents.iter().any(|agent| agent == given) => Ok(given),
            (None, [only]) => Ok(only),
            (_, agents) => Err(Error::WhichAgent { agents: agents.join(", ") }),
        }
    }

    /// What a log tells of the run of an agent.
    pub fn facts(&self, agent: &str) -> RunFacts {
        let planned = self.plan.tasks.len() * self.plan.attempts as usize;
        let recorded = self.records().iter().filter(|(_, record)| record.key.agent == agent).count();
        RunFacts {
            name: self.name.clone(),
            digest: self.plan.digest().to_string(),
            agent: agent.to_owned(),
            attempts: self.plan.attempts,
            is_whole: planned == recorded,
            begun: begun_of(&self.name),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn chosen(&self, which: Which<'_>) -> Vec<&(i64, TrialRecord)> {
        let is_chosen = |(_, record): &&(i64, TrialRecord)| {
            let passed = matches!(&record.end, TrialEnd::Scored(score) if score.pass);
            which.agent.is_none_or(|agent| agent == record.key.agent) && (passed || !which.only_passed)
        };
        self.records().iter().filter(is_chosen).collect()
    }

    /// Every chosen trial in the order of the plan, made again by its calls. The answers must be those that were recorded, and so must the
    /// reward.
    pub fn trials(
        &self,
        workshop: &Workshop,
        tasks: &Path,
        offered: &Offer,
        which: Which<'_>,
        each: &mut dyn FnMut(TrialFacts) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        self.check()?;
        let catalog = workshop.catalog();
        let lines: BTreeMap<&str, &TaskLine> = self.plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
        let host = StoreHost::new(catalog, Store::at(tasks));
        let chosen = self.chosen(which);
        let mut work = Work::begin(workshop.progress(), "trials", 0, chosen.len());
        for (number, record) in &chosen {
            if workshop.cancel().is_cancelled() {
                return Err(Error::Cancelled);
            }
            let unknown = || Error::NoTask(record.key.task.clone());
            let line = lines.get(&*record.key.task).ok_or_else(unknown)?;
            let bad = |why: String| Error::Row { id: line.id.clone(), why: format!("trial {number}: {why}") };
            let task = host.store().task(&line.id)?;
            if task.digest().to_string() != record.key.task {
                return Err(bad("the task in the folder is another than the one that was tried".to_owned()));
            }
            // A setting behind an agent's name says which tools it was offered, if its transcript does not.
            let teller = Teller::new(catalog, &host, offered.clone());
            let scene = teller.scene(&task)?;
            let end = match &record.end {
                TrialEnd::Error { cause, detail } => Err((cause.clone(), detail.clone())),
                TrialEnd::Scored(score) => {
                    let kept = self.kept(*number).map_err(|error| bad(error.to_string()))?;
                    let (agent, limit) = (&record.key.agent, score.limit.as_deref());
                    let told = scene.recorded(&kept.trace, &kept.transcript, agent, limit);
                    let told = told.map_err(|error| bad(error.to_string()))?;
                    if told.judged.reward != score.reward || told.judged.pass != score.pass {
                        let (was, now) = (score.reward, told.judged.reward);
                        return Err(bad(format!("its reward was {was} millionths, and is {now}")));
                    }
                    Ok(told)
                }
            };
            let facts: TaskFacts = scene.facts().clone();
            each(TrialFacts {
                number: *number,
                attempt: record.key.attempt,
                end,
                task: facts,
                asked: task.instruction.trim().to_owned(),
                tokens_in: record.used.tokens_in,
                tokens_out: record.used.tokens_out,
                cost: record.used.cost,
                wall: record.spent.wall,
            })?;
            work.done(&line.id);
        }
        Ok(chosen.len())
    }

    /// Writes the trials of an agent as an Inspect log. How many there are, and the bytes written.
    pub fn inspect(
        &self,
        workshop: &Workshop,
        tasks: &Path,
        offered: &Offer,
        agent: &str,
        path: &Path,
    ) -> Result<(usize, u64), Error> {
        let ids: Vec<String> = self.plan.tasks.iter().map(|task| task.id.clone()).collect();
        let mut log = InspectLog::create(path, self.facts(agent), &ids)?;
        let which = Which { agent: Some(agent), only_passed: false };
        let count = self.trials(workshop, tasks, offered, which, &mut |trial| Ok(log.add(&trial)?))?;
        Ok((count, log.finish()?))
    }

    /// Writes each trial as a trajectory of Harbor's format into a folder, by its number. How many there are.
    pub fn atif(
        &self,
        workshop: &Workshop,
        tasks: &Path,
        offered: &Offer,
        agent: Option<&str>,
        out: &Path,
    ) -> Result<usize, Error> {
        fs::create_dir_all(out).map_err(Error::io(out))?;
        let agents: BTreeMap<&str, RunFacts> =
            self.plan.agents.iter().map(|agent| (&**agent, self.facts(agent))).collect();
        let of: BTreeMap<i64, &str> =
            self.records().iter().map(|(number, record)| (*number, &*record.key.agent)).collect();
        let which = Which { agent, only_passed: false };
        self.trials(workshop, tasks, offered, which, &mut |trial| {
            let facts = of.get(&trial.number).and_then(|agent| agents.get(agent));
            let facts = facts.ok_or_else(|| Error::NoTask(trial.task.id.clone()))?;
            let path = out.join(format!("{:06}.json", trial.number));
            let text = format!("{:#}\n", atif(facts, &trial));
            fs::write(&path, text).map_err(|why| ExportError::Io { path, why }.into())
        })
    }
}
