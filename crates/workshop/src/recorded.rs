//! Recorded runs: every trial of a ledger, and what was said and done in it, for reports, for rows and for logs of other programs. A run may have
//! millions of trials, so its records are gone through and never held.

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
use benchwright_pack::{
    RunPlan, Store, StoreError, TaskLine, TrialRecord,
    run::{Score, TrialEnd},
};
use benchwright_report::{SummaryError, Tally};
use benchwright_run::{Chain, Flaw, Kept, RunId, Segment, Segments, TrialFolder, folder::told_apart};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError, mpsc},
    thread,
};

/// How many segments are held in memory for who goes through their trials.
const MOST_READ: usize = 4;
/// How many threads read segments for who goes through all records.
const READERS: usize = 2;

/// The segments that were read last, by their places.
struct Latest<T>(Mutex<VecDeque<(usize, Arc<T>)>>);

impl<T> Latest<T> {
    fn get(&self, at: usize, read: impl FnOnce() -> Result<T, StoreError>) -> Result<Arc<T>, StoreError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(known, _)| *known == at) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(read()?);
        let mut all = lock();
        all.push_front((at, Arc::clone(&read)));
        all.truncate(MOST_READ);
        Ok(read)
    }
}

/// The records of a segment, by number.
type Records = Vec<(i64, TrialRecord)>;

/// A run that was recorded.
pub struct Recorded {
    /// Its name.
    pub name: String,
    /// What it was to do.
    pub plan: RunPlan,
    pub(crate) chain: Chain,
    /// The ranges of numbers that segments have, in order, each with the place of its segment.
    ranges: Vec<(i64, i64, usize)>,
    segments: Latest<Segment>,
    records: Latest<Records>,
    pub(crate) folder: PathBuf,
    /// Where its segments are.
    pub(crate) kept_in: Segments,
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
        let (plan, chain) = (runs.ledger.plan(id)?, runs.ledger.chain(id)?);
        let links = chain.segments.iter().enumerate();
        let ranges =
            links.flat_map(|(at, link)| link.numbers.ranges().iter().map(move |(first, last)| (*first, *last, at)));
        let mut ranges: Vec<(i64, i64, usize)> = ranges.collect();
        ranges.sort_unstable();
        Ok(Recorded {
            plan,
            chain,
            ranges,
            segments: Latest(Mutex::default()),
            records: Latest(Mutex::default()),
            kept_in: runs.segments(name),
            elsewhere: match runs.is_shared() {
                true => Some((runs.kept(&of_run(runs, name)?), OnceLock::new())),
                false => None,
            },
            folder,
            ledger: runs.ledger_path(),
            tasks: runs.tasks_of(name).filter(|tasks| tasks.is_dir()),
            name: name.to_owned(),
        })
    }

    /// How many trials have ended.
    pub fn recorded(&self) -> usize {
        self.chain.recorded
    }

    /// Goes through all records that can be read: those of folders, then those of segments in the order in which they were finished. What can
    /// be seen to be wrong without judging anything again comes back: a chain whose links do not follow, a file that is not there.
    pub fn each<E>(&self, each: &mut dyn FnMut(i64, &TrialRecord) -> Result<(), E>) -> Result<Vec<Flaw>, E> {
        let unread = self.read(&|_| (), &mut |number, record, ()| each(number, record))?;
        let folders = TrialFolder::of(&self.folder);
        let lacking = |(number, record): &(i64, TrialRecord)| {
            let is_folder = self.chain.folders.contains_key(number);
            let path = is_folder.then(|| folders.lacks(*number, matches!(record.end, TrialEnd::Scored(_))))??;
            Some(Flaw { trial: Some(*number), what: format!("{} is not there", path.display()) })
        };
        let lacking = self.chain.records.iter().filter_map(lacking);
        Ok(self.chain.flaws.iter().cloned().chain(unread).chain(lacking).collect())
    }

    /// Hands over all records that can be read, each with what was made of it by the thread that read it. What is wrong with segments comes
    /// back.
    pub(crate) fn read<T: Send, E>(
        &self,
        make: &(dyn Fn(&TrialRecord) -> T + Sync),
        each: &mut dyn FnMut(i64, &TrialRecord, T) -> Result<(), E>,
    ) -> Result<Vec<Flaw>, E> {
        let (mut unread, mut others) = (Vec::new(), Vec::new());
        let is_other = |number: i64, record: &TrialRecord| self.plan.key(number).is_some_and(|key| key != record.key);
        for (number, record) in &self.chain.records {
            others.extend(is_other(*number, record).then_some(*number));
            each(*number, record, make(record))?;
        }
        let (links, segments) = (&self.chain.segments, &self.kept_in);
        thread::scope(|scope| {
            let reader = |first: usize| {
                let (send, receive) = mpsc::sync_channel(1);
                scope.spawn(move || {
                    for link in links.iter().skip(first).step_by(READERS) {
                        let made = |(number, record): (i64, TrialRecord)| {
                            (number, is_other(number, &record), make(&record), record)
                        };
                        let read = segments.records(link);
                        let read = read.map(|records| records.into_iter().map(made).collect::<Vec<_>>());
                        // Nobody listens any more where a record was refused.
                        if send.send(read).is_err() {
                            break;
                        }
                    }
                });
                receive
            };
            let readers: Vec<_> = (0..READERS).map(reader).collect();
            for (link, reader) in links.iter().zip(readers.iter().cycle()) {
                let why = match reader.recv() {
                    Ok(Ok(records)) => {
                        for (number, is_other, made, record) in records {
                            others.extend(is_other.then_some(number));
                            each(number, &record, made)?;
                        }
                        continue;
                    }
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => format!("the segment {} was not read", link.name),
                };
                unread.push(Flaw { trial: link.numbers.first(), what: why });
            }
            Ok::<(), E>(())
        })?;
        others.sort_unstable();
        let other = |number| Flaw { trial: Some(number), what: "its record is of another trial".to_owned() };
        unread.extend(others.into_iter().map(other));
        Ok(unread)
    }

    /// All records that can be read, by number, for who has to have them at once.
    pub fn records(&self) -> Result<Vec<(i64, TrialRecord)>, Error> {
        let mut records = Vec::new();
        self.each::<Error>(&mut |number, record| {
            records.push((number, record.clone()));
            Ok(())
        })?;
        records.sort_by_key(|(number, _)| *number);
        Ok(records)
    }

    /// The place among the chain's segments of the one that a trial is in; nothing for one with a folder.
    pub(crate) fn segment_of(&self, number: i64) -> Option<usize> {
        let after = self.ranges.partition_point(|(first, ..)| *first <= number);
        let (_, last, at) = self.ranges[after.checked_sub(1)?];
        (number <= last).then_some(at)
    }

    /// The record of one trial.
    pub(crate) fn record(&self, number: i64) -> Result<TrialRecord, StoreError> {
        let find = |records: &[(i64, TrialRecord)]| {
            let at = records.binary_search_by_key(&number, |(number, _)| *number).ok()?;
            Some(records[at].1.clone())
        };
        let found = match self.segment_of(number) {
            Some(at) => {
                let records = self.records.get(at, || self.kept_in.records(&self.chain.segments[at]))?;
                find(&records)
            }
            None => find(&self.chain.records),
        };
        let why = || format!("it has no record of trial {number}");
        found.ok_or_else(|| StoreError::Malformed { path: self.ledger.clone(), why: why() })
    }

    /// What is kept of the way that a trial took, wherever that is.
    pub(crate) fn kept(&self, number: i64) -> Result<Kept, StoreError> {
        let Some(at) = self.segment_of(number) else { return TrialFolder::of(&self.folder).read(number) };
        self.segments.get(at, || self.kept_in.read(&self.chain.segments[at]))?.kept(number)
    }

    /// Its records, counted, and what is wrong with them.
    pub fn tally(&self) -> Result<(Tally<'_>, Vec<Flaw>), SummaryError> {
        let mut tally = Tally::new(&self.plan);
        let flaws = self.each(&mut |_, record| tally.add(record))?;
        Ok((tally, flaws))
    }

    /// The digest of all records by their numbers, times apart: the same for whoever worked the run off, in whatever order.
    pub fn digest(&self) -> Result<Digest, Error> {
        let made = |record: &TrialRecord| {
            let told = told_apart(record).and_then(|(told, _)| serde_json::to_vec(&told));
            told.map(|told| Digest::of(&told)).map_err(|error| (record.key.task.clone(), error.to_string()))
        };
        let mut all = Vec::with_capacity(self.recorded());
        self.read::<_, Error>(&made, &mut |number, _, made| {
            all.push((number, made.map_err(|(id, why)| Error::Row { id, why })?));
            Ok(())
        })?;
        all.sort_unstable_by_key(|(number, _)| *number);
        // One text for the names of all parts takes less than a text for each.
        let names = all.iter().fold(String::new(), |mut names, (number, _)| {
            let _ = write!(names, "{number} ");
            names
        });
        Ok(Digest::of_parts(names.split(' ').zip(&all).map(|(name, (_, digest))| (name, &digest.0[..]))))
    }

    /// The last hash of the chain over its records.
    pub fn head(&self) -> &str {
        self.chain.head()
    }

    /// Refuses a run with flaws.
    pub fn refuse(&self, flaws: Vec<Flaw>) -> Result<(), Error> {
        match flaws.is_empty() {
            true => Ok(()),
            false => Err(Error::Flawed { run: self.name.clone(), path: self.ledger.clone(), flaws }),
        }
    }

    /// Refuses a run whose records are not as they were written.
    pub fn check(&self) -> Result<(), Error> {
        self.refuse(self.each::<Error>(&mut |_, _| Ok(()))?)
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
        let of_segments = self.chain.segments.iter().flat_map(|link| link.numbers.iter());
        let numbers = self.chain.records.iter().map(|(number, _)| *number).chain(of_segments);
        let recorded = numbers.filter(|number| self.plan.key(*number).is_some_and(|key| key.agent == agent)).count();
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
        let mut chosen = Vec::new();
        let flaws = self.each::<Error>(&mut |number, record| {
            let passed = matches!(&record.end, TrialEnd::Scored(score) if score.pass);
            let is_chosen = which.agent.is_none_or(|agent| agent == record.key.agent) && (passed || !which.only_passed);
            chosen.extend(is_chosen.then_some(number));
            Ok(())
        })?;
        self.refuse(flaws)?;
        chosen.sort_unstable();
        let catalog = workshop.catalog();
        let lines: BTreeMap<&str, &TaskLine> = self.plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
        let host = StoreHost::new(catalog, Store::at(tasks));
        let mut work = Work::begin(workshop.progress(), "trials", 0, chosen.len());
        for number in &chosen {
            if workshop.cancel().is_cancelled() {
                return Err(Error::Cancelled);
            }
            let record = self.record(*number)?;
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

    /// Writes trials as the folders in which short runs keep theirs. Each is made again by its calls, and one that comes out otherwise than it
    /// was recorded is refused.
    pub fn unpack(&self, workshop: &Workshop, tasks: &Path, numbers: &[i64], out: &Path) -> Result<(), Error> {
        let host = StoreHost::new(workshop.catalog(), Store::at(tasks));
        let folders = TrialFolder::of(out);
        for number in numbers {
            let record = self.record(*number)?;
            let mut lines = self.plan.tasks.iter();
            let line = lines.find(|line| line.digest == record.key.task);
            let id = &line.ok_or_else(|| Error::NoTask(record.key.task.clone()))?.id;
            let bad = |why: String| Error::Row { id: id.clone(), why: format!("trial {number}: {why}") };
            if host.line(id)?.digest != record.key.task {
                return Err(bad("the task in the folder is another than the one that was tried".to_owned()));
            }
            let left = match &record.end {
                TrialEnd::Error { .. } => None,
                TrialEnd::Scored(score) => {
                    let kept = self.kept(*number).map_err(|error| bad(error.to_string()))?;
                    let again = host.finished_again(id, &kept.trace, true).map_err(|error| bad(error.to_string()))?;
                    let now = Score::of(&again.verdict, &again.frame_rules, score.limit.clone());
                    if now.as_ref() != Some(score) {
                        return Err(bad("judged again, it has another score".to_owned()));
                    }
                    Some((again, kept.transcript))
                }
            };
            let left = left.as_ref().map(|(finished, transcript)| (finished, &**transcript));
            folders.put(*number, &record, left).map_err(|error| bad(error.to_string()))?;
        }
        Ok(())
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
        let which = Which { agent, only_passed: false };
        self.trials(workshop, tasks, offered, which, &mut |trial| {
            let facts = self.plan.key(trial.number).and_then(|key| agents.get(&*key.agent));
            let facts = facts.ok_or_else(|| Error::NoTask(trial.task.id.clone()))?;
            let path = out.join(format!("{:06}.json", trial.number));
            let text = format!("{:#}\n", atif(facts, &trial));
            fs::write(&path, text).map_err(|why| ExportError::Io { path, why }.into())
        })
    }
}
