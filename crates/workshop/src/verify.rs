//! Holds a recorded run to itself: the ledger to its chain, every folder to its digest, every task to the digest that the plan has of it, and
//! every trial to what comes of its calls when they are made again in a fresh episode and judged. What differs is named, trial by trial
//! and file by file. What could not be judged again is told apart, and is never counted as verified.

use crate::{
    Error, Workshop,
    host::StoreHost,
    progress::Work,
    recorded::Recorded,
    tasks::shown,
    work::pool::{self, Event},
};
use benchwright_base::Digest;
use benchwright_pack::{
    Outcome, Store, StoreError, TaskLine, Trace, TrialRecord, Verdict, read_packed,
    run::{Score, Spent, TrialEnd},
    store::{SEALED_TREE, SUITE_FILE},
};
use benchwright_run::{
    Finished, Flaw, Left, Segments, TrialFolder,
    folder::{DIFF_FILE, SNAPSHOT_FILE, TIMING_FILE, TRACE_FILE, TRIAL_FILE, VERDICT_FILE, kept_diff, told_apart},
};
use serde::Serialize;
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    path::{Path, PathBuf},
};

/// Something that is not as it was recorded, or that could not be looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The number of the trial, where it is about one.
    pub trial: Option<i64>,
    /// The id of the task.
    pub task: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The attempt, from 1.
    pub attempt: Option<u32>,
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

/// What was found of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verification {
    /// The name of the run.
    pub run: String,
    /// The last hash of the chain over its records.
    pub head: String,
    /// Links of the chain.
    pub links: usize,
    /// Trials that are recorded.
    pub trials: usize,
    /// Those that were looked at: all, or a sample.
    pub drawn: usize,
    /// Those that came to the same verdict again, with nothing about them that differs.
    pub verified: usize,
    /// Those that are errors: their files are as they were, and there is no verdict to reach.
    pub errors: usize,
    /// All that differs.
    pub differs: Vec<Finding>,
    /// What could not be judged again, and why.
    pub not_verified: Vec<Finding>,
}

impl Verification {
    /// Whether every trial is as it was recorded.
    pub fn is_clean(&self) -> bool {
        self.differs.is_empty() && self.not_verified.is_empty()
    }

    /// For a reader: a line for each finding, and the count.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (kind, findings) in [("differs", &self.differs), ("not verified", &self.not_verified)] {
            for finding in findings {
                out.push_str(&format!("{kind}: {finding}\n"));
            }
        }
        let Verification { trials, drawn, verified, errors, differs, not_verified, links, head, .. } = self;
        let of = if drawn < trials { format!(", {drawn} of them drawn") } else { String::new() };
        out.push_str(&format!(
            "{trials} trials recorded{of}: {verified} judged again to the same verdict, {errors} are errors without one; {} \
             differences, {} not verified\n{links} links in the chain, head {head}\n",
            differs.len(),
            not_verified.len(),
        ));
        out
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Finding { trial, task, agent, attempt, file, what } = self;
        if let Some(trial) = trial {
            write!(f, "trial {trial}")?;
            if let (Some(task), Some(agent), Some(attempt)) = (task, agent, attempt) {
                write!(f, " ({task}, {agent}, attempt {attempt})")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}: {what}", file.display())
    }
}

/// What is wrong with a file that is named already.
fn said(error: &StoreError, path: &Path) -> String {
    let told = error.to_string();
    let rest = told.strip_prefix(&path.display().to_string()).unwrap_or(&told);
    rest.trim_start_matches(':').trim_start().to_owned()
}

/// How a task stands that was tried.
enum Standing {
    AsTried,
    /// It is another one; that is told once.
    Another,
    /// It cannot be judged by.
    Gone(PathBuf, String),
}

/// What was found of one trial.
#[derive(Default)]
struct Held {
    is_error: bool,
    differs: Vec<Finding>,
    not_verified: Option<Finding>,
}

/// How many trials are judged again before what was found of them is told.
const AT_A_TIME: usize = 10_000;

struct Verifier<'a> {
    run: &'a Recorded,
    folders: TrialFolder,
    segments: Segments,
    lines: BTreeMap<&'a str, &'a TaskLine>,
    /// What judges, and how each task stands, by its digest.
    tasks: Option<(StoreHost<'a>, BTreeMap<&'a str, Standing>)>,
}

impl Recorded {
    /// Verifies the run, on all cores. `tasks` is where its tasks are; `published` a head that its chain must have come by. Of a `sample`
    /// only so many trials are judged again, drawn by the head.
    pub fn verify(
        &self,
        workshop: &Workshop,
        tasks: Option<&Path>,
        published: Option<&str>,
        sample: Option<usize>,
    ) -> Result<Verification, Error> {
        let lines = self.plan.tasks.iter().map(|task| (&*task.digest, task)).collect();
        let mut verifier = Verifier {
            run: self,
            folders: TrialFolder::of(&self.folder),
            segments: self.kept_in.clone(),
            lines,
            tasks: None,
        };
        let mut numbers = Vec::with_capacity(self.recorded());
        let unread = self.read::<_, Error>(&|_| (), &mut |number, _, ()| {
            numbers.push(number);
            Ok(())
        })?;
        numbers.sort_unstable();
        let mut differs = verifier.of_ledger(published, &unread);
        if let Ok(tasks) = self.tasks(tasks) {
            differs.extend(verifier.open_tasks(workshop, &tasks)?);
        }
        let named: BTreeSet<i64> = differs.iter().filter_map(|finding| finding.trial).collect();
        let trials = numbers.len();
        let drawn = self.drawn(numbers, sample);
        let mut work = Work::begin(workshop.progress(), "verifying trials", 0, drawn.len());
        let hold = |(): &mut (), number: &i64| Ok::<Held, String>(verifier.hold(*number));
        let mut told = |event: Event<'_, Held>| {
            if let Event::Answered(..) = event {
                work.done("");
            }
        };
        let (mut verified, mut errors, mut not_verified) = (0, 0, Vec::new());
        for some in drawn.chunks(AT_A_TIME) {
            let answers = pool::run(some, workshop.jobs(), workshop.cancel(), &|| (), &hold, &mut told);
            for (number, answer) in some.iter().zip(answers) {
                let held = answer.and_then(Result::ok).ok_or(Error::Cancelled)?;
                let is_fine = held.differs.is_empty() && held.not_verified.is_none() && !named.contains(number);
                errors += usize::from(is_fine && held.is_error);
                verified += usize::from(is_fine && !held.is_error);
                differs.extend(held.differs);
                not_verified.extend(held.not_verified);
            }
        }
        drop(work);
        Ok(Verification {
            run: self.name.clone(),
            head: self.head().to_owned(),
            links: self.chain.hashes.len().saturating_sub(1),
            trials,
            drawn: drawn.len(),
            verified,
            errors,
            differs,
            not_verified,
        })
    }

    /// The trials of a sample, by number: those whose hash with the head is least. Whoever made the records did not know which that would be.
    fn drawn(&self, all: Vec<i64>, sample: Option<usize>) -> Vec<i64> {
        let Some(most) = sample.filter(|most| *most < all.len()) else { return all };
        let mut least = BinaryHeap::new();
        for number in all {
            least.push((Digest::of(format!("{} {number}", self.head()).as_bytes()).0, number));
            if least.len() > most {
                least.pop();
            }
        }
        let mut drawn: Vec<i64> = least.into_iter().map(|(_, number)| number).collect();
        drawn.sort_unstable();
        drawn
    }
}

impl<'a> Verifier<'a> {
    fn finding(&self, trial: Option<i64>, file: PathBuf, what: impl Into<String>) -> Finding {
        let key = trial.and_then(|number| self.run.plan.key(number));
        let task = key.as_ref().and_then(|key| Some(self.lines.get(&*key.task)?.id.clone()));
        let (agent, attempt) = key.map(|key| (key.agent, key.attempt)).unzip();
        Finding { trial, task, agent, attempt, file, what: what.into() }
    }

    /// What the ledger itself shows, and folders that it knows nothing of.
    fn of_ledger(&self, published: Option<&str>, unread: &[Flaw]) -> Vec<Finding> {
        let chain = &self.run.chain;
        let ledger = || self.run.ledger.clone();
        let mut found: Vec<Finding> =
            chain.flaws.iter().map(|flaw| self.finding(flaw.trial, ledger(), &*flaw.what)).collect();
        if let Some(published) = published.filter(|head| !chain.hashes.iter().any(|hash| hash == head)) {
            let what = format!("the chain never had the head {published}: its end was cut off, or it was made again");
            found.push(self.finding(None, ledger(), what));
        }
        found.extend(unread.iter().map(|flaw| self.finding(flaw.trial, ledger(), &*flaw.what)));
        match self.folders.numbers() {
            Ok(numbers) => {
                for number in numbers.into_iter().filter(|number| !chain.folders.contains_key(number)) {
                    let what = "the ledger has no record of this trial: it was taken away, or a runner was killed here, and \
                                the same `run` again mends it";
                    found.push(self.finding(Some(number), self.folders.place(number), what));
                }
            }
            Err(error) => found.push(self.finding(None, self.run.folder.clone(), error.to_string())),
        }
        let named: BTreeSet<&str> = chain.segments.iter().map(|segment| &*segment.name).collect();
        match self.segments.names() {
            Ok(names) => {
                for name in names.into_iter().filter(|name| !named.contains(name.split('.').next().unwrap_or(name))) {
                    let what = "the ledger names no such segment: it was taken away, or a runner was killed here, and the same \
                                `run` again mends it";
                    found.push(self.finding(None, self.run.folder.join("segments").join(name), what));
                }
            }
            Err(error) => found.push(self.finding(None, self.run.folder.clone(), error.to_string())),
        }
        found
    }

    /// Looks at the tasks of the run: whether their lock is there, and whether each is the one that was tried.
    fn open_tasks(&mut self, workshop: &'a Workshop, folder: &Path) -> Result<Vec<Finding>, Error> {
        let run = self.run;
        let mut found = Vec::new();
        let lock = folder.join(SUITE_FILE);
        let store = match lock.symlink_metadata().is_ok() {
            true => Store::at(folder),
            false => {
                found.push(self.finding(None, lock, StoreError::NoLock(SUITE_FILE.into()).to_string()));
                // The plan has their digests too.
                Store::held_elsewhere(folder)
            }
        };
        let mut work = Work::begin(workshop.progress(), "opening tasks", 0, self.run.plan.tasks.len());
        let mut tasks = BTreeMap::new();
        for line in &run.plan.tasks {
            if workshop.cancel().is_cancelled() {
                return Err(Error::Cancelled);
            }
            let sealed = folder.join(SEALED_TREE).join(&line.id);
            let standing = match store.task(&line.id) {
                Ok(task) if task.digest().to_string() == line.digest => Standing::AsTried,
                Ok(_) => {
                    let what =
                        format!("the task {} is another than the one that was tried: its digest differs", line.id);
                    found.push(self.finding(None, sealed, what));
                    Standing::Another
                }
                Err(StoreError::Missing(path)) => Standing::Gone(path, "is not there to judge by".to_owned()),
                Err(error) => {
                    found.push(self.finding(
                        None,
                        sealed,
                        format!("the task {} is not as it was made: {error}", line.id),
                    ));
                    Standing::Another
                }
            };
            tasks.insert(&*line.digest, standing);
            work.done(&line.id);
        }
        drop(work);
        self.tasks = Some((StoreHost::new(workshop.catalog(), store), tasks));
        Ok(found)
    }

    /// Holds a trial to its record.
    fn hold(&self, number: i64) -> Held {
        let record = match self.run.record(number) {
            Ok(record) => record,
            Err(error) => {
                let finding = self.finding(Some(number), self.run.ledger.clone(), error.to_string());
                return Held { not_verified: Some(finding), ..Held::default() };
            }
        };
        let held = match self.run.segment_of(number) {
            Some(at) => self.hold_segment(number, &record, &self.run.chain.segments[at].name),
            None => self.hold_folder(number, &record),
        };
        Held { is_error: matches!(record.end, TrialEnd::Error { .. }), ..held }
    }

    /// Holds a trial of a segment to what comes of its calls. That the file is the one that was recorded is seen when it is read.
    fn hold_segment(&self, number: i64, record: &TrialRecord, segment: &str) -> Held {
        let mut held = Held::default();
        let TrialEnd::Scored(score) = &record.end else { return held };
        let place = |table: &str| self.segments.place(segment, table);
        let kept = match self.run.kept(number) {
            Ok(kept) => kept,
            Err(error) => {
                let finding = |what: String| self.finding(Some(number), place("steps"), what);
                held.differs.push(finding(said(&error, &place("steps"))));
                held.not_verified = Some(finding("without its steps the trial cannot be judged again".to_owned()));
                return held;
            }
        };
        let mut differs = |file: PathBuf, what: String| held.differs.push(self.finding(Some(number), file, what));
        match self.made_again(record, (&kept.trace, kept.left.is_some()), place("steps"), &mut differs) {
            Err((file, why)) => held.not_verified = Some(self.finding(Some(number), file, why)),
            Ok(again) => {
                if let (Some(Left { snapshot, diff }), Some(now)) = (&kept.left, &again.left)
                    && (*snapshot != now.snapshot || *diff != *kept_diff(&now.diff))
                {
                    differs(place("states"), "it is not what the calls of the trial lead to".to_owned());
                }
                self.hold_score(record, score, &kept.trace, &again, place("trials"), &mut differs);
            }
        }
        held
    }

    fn hold_folder(&self, number: i64, record: &TrialRecord) -> Held {
        let mut held = Held::default();
        let folder = self.folders.place(number);
        if !folder.is_dir() {
            held.differs.push(self.finding(Some(number), folder, "the folder is not there"));
            return held;
        }
        let mut differs = |file: PathBuf, what: String| held.differs.push(self.finding(Some(number), file, what));
        match (self.folders.digest(number), self.run.chain.folders.get(&number)) {
            (Ok(now), Some(was)) if now == *was => {}
            // That the chain has no link of it is told already.
            (Ok(_), None) => {}
            (Ok(_), Some(_)) => {
                differs(folder, "the folder was changed after it was recorded: its digest differs".to_owned());
            }
            (Err(error), _) => differs(folder, error.to_string()),
        }
        self.hold_record(number, record, &mut differs);
        if let TrialEnd::Scored(score) = &record.end
            && let Err((file, why)) = self.judge_again(number, record, score, &mut differs)
        {
            held.not_verified = Some(self.finding(Some(number), file, why));
        }
        held
    }

    /// Holds the files of the record to the ledger.
    fn hold_record(&self, number: i64, record: &TrialRecord, differs: &mut dyn FnMut(PathBuf, String)) {
        let place = |name: &str| self.folders.place(number).join(name);
        match (self.folders.document::<Json>(number, TRIAL_FILE), told_apart(record)) {
            (Ok(kept), Ok((told, _))) if kept == told => {}
            (Ok(kept), Ok((told, _))) if kept["key"] != told["key"] => {
                let (agent, attempt) = (kept["key"]["agent"].as_str().unwrap_or("nobody"), &kept["key"]["attempt"]);
                differs(place(TRIAL_FILE), format!("it is of another trial: {agent}, attempt {attempt}"));
            }
            (Ok(_), _) => differs(place(TRIAL_FILE), "it is not what the ledger has of the trial".to_owned()),
            (Err(error), _) => differs(place(TRIAL_FILE), said(&error, &place(TRIAL_FILE))),
        }
        match self.folders.document::<Spent>(number, TIMING_FILE) {
            Ok(kept) if kept == record.spent => {}
            Ok(_) => differs(place(TIMING_FILE), "the times are not those that the ledger has".to_owned()),
            Err(error) => differs(place(TIMING_FILE), said(&error, &place(TIMING_FILE))),
        }
    }

    /// Makes the calls of a trial again, judges what they lead to, and compares. What keeps it from being judged comes back.
    fn judge_again(
        &self,
        number: i64,
        record: &TrialRecord,
        score: &Score,
        differs: &mut dyn FnMut(PathBuf, String),
    ) -> Result<(), (PathBuf, String)> {
        let place = |name: &str| self.folders.place(number).join(name);
        let kept_verdict = self.folders.document::<Verdict>(number, VERDICT_FILE);
        if let Err(error) = &kept_verdict {
            differs(place(VERDICT_FILE), said(error, &place(VERDICT_FILE)));
        }
        let trace: Trace = match self.folders.trace(number) {
            Ok(trace) => trace,
            Err(error) => {
                differs(place(TRACE_FILE), said(&error, &place(TRACE_FILE)));
                return Err((place(TRACE_FILE), "without its trace the trial cannot be judged again".to_owned()));
            }
        };
        let again = self.made_again(record, (&trace, true), place(TRACE_FILE), differs)?;
        let Left { snapshot, diff } =
            again.left.as_ref().ok_or_else(|| (place(SNAPSHOT_FILE), "it was not made again".to_owned()))?;
        let diff = kept_diff(diff);
        for (name, expected) in [(SNAPSHOT_FILE, &**snapshot), (DIFF_FILE, diff.as_bytes())] {
            match read_packed(&place(name), expected.len()) {
                Ok(kept) if kept == *expected => {}
                Ok(_) | Err(StoreError::Unpacked { .. }) => {
                    differs(place(name), "it is not what the calls of the trace lead to".to_owned());
                }
                Err(error) => differs(place(name), said(&error, &place(name))),
            }
        }
        if let Ok(kept) = &kept_verdict
            && *kept != again.verdict
        {
            let (was, judged) = (told(Score::of(kept, &[], None).as_ref()), judged(&again, score));
            differs(place(VERDICT_FILE), format!("it says {was}; judged again it is {}", told(judged.as_ref())));
        }
        self.hold_score(record, score, &trace, &again, self.run.ledger.clone(), differs);
        Ok(())
    }

    /// What comes of the calls of a trial when they are made again. What keeps it from being judged comes back.
    fn made_again(
        &self,
        record: &TrialRecord,
        (trace, with_state): (&Trace, bool),
        file: PathBuf,
        differs: &mut dyn FnMut(PathBuf, String),
    ) -> Result<Finished, (PathBuf, String)> {
        let Some((host, tasks)) = &self.tasks else {
            return Err((self.run.folder.join("tasks.txt"), "the tasks of the run are not where they were".to_owned()));
        };
        let line = self.lines.get(&*record.key.task);
        let line = line.ok_or_else(|| (self.run.ledger.clone(), "the plan has no such task".to_owned()))?;
        match tasks.get(&*line.digest) {
            Some(Standing::AsTried) => {}
            Some(Standing::Gone(path, why)) => return Err((path.clone(), why.clone())),
            Some(Standing::Another) | None => {
                return Err((
                    host.store().root().to_owned(),
                    format!("its task {} is not the one that was tried", line.id),
                ));
            }
        }
        host.finished_again(&line.id, trace, with_state).map_err(|error| match error.cause {
            "task" => {
                differs(file.clone(), error.detail);
                (file, "its calls cannot be made again as they were made".to_owned())
            }
            _ => (file, format!("it could not be judged again: {error}")),
        })
    }

    /// Holds the score of a record, which stands in a file, to what was judged again.
    fn hold_score(
        &self,
        record: &TrialRecord,
        score: &Score,
        trace: &Trace,
        again: &Finished,
        file: PathBuf,
        differs: &mut dyn FnMut(PathBuf, String),
    ) {
        let now = judged(again, score);
        if now.as_ref() != Some(score) {
            let (was, now) = (told(Some(score)), told(now.as_ref()));
            differs(file.clone(), format!("its record says {was}; judged again it is {now}"));
        }
        let refused = trace.calls.iter().filter(|call| matches!(call.outcome, Outcome::Refused(_))).count();
        if (trace.calls.len(), refused) != (record.used.calls as usize, record.used.refused as usize) {
            differs(file, "its record counts other calls than its trace has".to_owned());
        }
    }
}

/// The score of what was judged again, by the limit that the trial met.
fn judged(again: &Finished, score: &Score) -> Option<Score> {
    Score::of(&again.verdict, &again.frame_rules, score.limit.clone())
}

fn told(score: Option<&Score>) -> String {
    let of = |score: &Score| format!("{}, reward {}", if score.pass { "pass" } else { "fail" }, shown(score.reward));
    score.map_or("no verdict".to_owned(), of)
}
