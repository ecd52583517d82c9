//! Segments: what many trials left, in a few Parquet files instead of a folder for each. `trials` has a row for each trial with its record and
//! the hash of the state it left, `steps` a row for each call, `transcripts` what models and programs said, `states` the terminal states
//! of runs that keep them. A terminal state is otherwise made again by its calls.
//!
//! A segment is written before the ledger names it, under a name that no other has; what no finish names is swept. Its digest is that of
//! `trials`, which has the digests of the files beside it among its notes.

use crate::{Finished, Kept, Left, SegmentLink, folder::kept_diff};
use benchwright_base::Digest;
use benchwright_columns::{Cell, Column, ColumnsError, Kind, Table};
use benchwright_depot::{Depot, DepotError};
use benchwright_pack::{
    Outcome, StoreError, Trace, TraceCall, TrialKey, TrialRecord,
    run::{Score, Spent, TrialEnd, Used},
};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

/// The version of these files.
const VERSION: &str = "1";
/// The note of the version.
const VERSION_NOTE: &str = "benchwright.version";
/// How large a segment grows before it is closed, in bytes of its cells.
const FULL: usize = 64 << 20;
/// The largest file of a segment that is read, packed and unpacked.
const LARGEST: usize = 1 << 30;
/// What a record does not have of its row.
const BESIDE_RECORDS: [usize; 8] = [
    InTrials::Task as usize,
    InTrials::Domain as usize,
    InTrials::DomainDigest as usize,
    InTrials::Role as usize,
    InTrials::Actor as usize,
    InTrials::FirstState as usize,
    InTrials::State as usize,
    InTrials::TraceDigest as usize,
];
/// The files beside `trials`, with what each row is.
const BESIDE: [(&str, &[Column]); 3] = [("steps", STEPS), ("transcripts", TRANSCRIPTS), ("states", STATES)];

/// The columns of a table, and their places by name.
macro_rules! table {
    ($(#[$doc:meta])* $columns:ident by $place:ident { $($name:ident = $make:ident($text:literal, $kind:ident),)* }) => {
        $(#[$doc])*
        const $columns: &[Column] = {
            // Some are only ever written, by their place.
            let _ = [$($place::$name),*];
            &[$(Column::$make($text, Kind::$kind)),*]
        };
        #[derive(Clone, Copy)]
        enum $place { $($name),* }
    };
}

table! {
    /// A trial, by its columns. Times stand in columns that are named for the clock; nothing else depends on one.
    TRIALS by InTrials {
        Number = new("number", Rising),
        Task = new("task", Text),
        TaskDigest = new("task_digest", Text),
        Agent = new("agent", Text),
        Attempt = new("attempt", Whole),
        Error = maybe("error", Text),
        ErrorDetail = maybe("error_detail", Text),
        Pass = maybe("pass", Truth),
        RewardMillionths = maybe("reward_millionths", Whole),
        ConstraintsMillionths = maybe("constraints_millionths", Whole),
        TraceMillionths = maybe("trace_millionths", Whole),
        ObjectiveMillionths = maybe("objective_millionths", Whole),
        Clean = maybe("clean", Truth),
        Best = maybe("best", Truth),
        SideEffect = maybe("side_effect", Truth),
        PaperPass = maybe("paper_pass", Truth),
        Alarm = maybe("alarm", Truth),
        FailedChecks = maybe("failed_checks", Json),
        Gates = maybe("gates", Json),
        Followed = maybe("followed", Truth),
        Limit = maybe("limit", Text),
        Calls = new("calls", Whole),
        Refused = new("refused", Whole),
        Turns = maybe("turns", Whole),
        TokensIn = maybe("tokens_in", Whole),
        TokensOut = maybe("tokens_out", Whole),
        CostMicrodollars = maybe("cost_microdollars", Whole),
        Trusted = new("trusted", Truth),
        ProgramFailed = maybe("program_failed", Text),
        Domain = maybe("domain", Text),
        DomainDigest = maybe("domain_digest", Text),
        Role = maybe("role", Text),
        Actor = maybe("actor", Whole),
        FirstState = maybe("first_state", Text),
        State = maybe("state", Text),
        TraceDigest = maybe("trace_digest", Text),
        ClockWallUs = new("clock_wall_us", Whole),
        ClockWorldUs = new("clock_world_us", Whole),
    }
}

table! {
    /// A call, by its columns: either refused or answered.
    STEPS by InSteps {
        Trial = new("trial", Rising),
        Step = new("step", Rising),
        Tool = new("tool", Text),
        Arguments = new("arguments", Text),
        Refusal = maybe("refusal", Text),
        Answer = maybe("answer", Text),
    }
}

table! {
    /// Something that was said.
    TRANSCRIPTS by InTranscripts {
        Trial = new("trial", Rising),
        Place = new("place", Rising),
        Message = new("message", Json),
    }
}

table! {
    /// A terminal state, and what changed.
    STATES by InStates {
        Trial = new("trial", Rising),
        Snapshot = new("snapshot", Json),
        Diff = new("diff", Json),
    }
}

/// A segment that grows in memory.
pub(crate) struct Growing {
    trials: Table,
    beside: [Table; 3],
    pub(crate) numbers: Vec<i64>,
    pub(crate) errors: Vec<i64>,
    keeps_states: bool,
}

fn whole<'a>(number: impl TryInto<i64>) -> Cell<'a> {
    Cell::Whole(number.try_into().unwrap_or(i64::MAX))
}

impl Growing {
    pub(crate) fn new(keeps_states: bool) -> Growing {
        let beside = BESIDE.map(|(_, columns)| Table::new(columns));
        Growing { trials: Table::new(TRIALS), beside, numbers: Vec::new(), errors: Vec::new(), keeps_states }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.trials.size() + self.beside.iter().map(Table::size).sum::<usize>() >= FULL
    }

    /// Adds a trial. Trials come in the order of their numbers.
    pub(crate) fn add(
        &mut self,
        number: i64,
        task: &str,
        record: &TrialRecord,
        left: Option<(&Finished, &[Json])>,
    ) -> Result<(), ColumnsError> {
        let json = |value: &BTreeMap<String, String>| serde_json::to_string(value).unwrap_or_default();
        let (score, error) = match &record.end {
            TrialEnd::Scored(score) => (Some(score), None),
            TrialEnd::Error { cause, detail } => (None, Some((&**cause, &**detail))),
        };
        let failed = score.map(|score| json(&score.failed));
        let gates = score.map(|score| serde_json::to_string(&score.gates).unwrap_or_default());
        let trace = left.map(|(left, _)| &left.trace);
        let digest = trace.map(|trace| trace.digest().to_string());
        let share = |read: fn(&Score) -> i64| Cell::from(score.map(read));
        let truth = |read: fn(&Score) -> bool| Cell::from(score.map(read));
        let TrialRecord { key, used, spent, .. } = record;
        self.trials.push(&[
            Cell::Whole(number),
            task.into(),
            (&*key.task).into(),
            (&*key.agent).into(),
            whole(key.attempt),
            error.map(|(cause, _)| cause).into(),
            error.map(|(_, detail)| detail).into(),
            truth(|score| score.pass),
            share(|score| score.reward),
            share(|score| score.constraints),
            share(|score| score.trace),
            share(|score| score.objective),
            truth(|score| score.clean),
            truth(|score| score.best),
            truth(|score| score.side_effect),
            truth(|score| score.paper_pass),
            truth(|score| score.alarm),
            failed.as_deref().into(),
            gates.as_deref().into(),
            score.and_then(|score| score.followed).into(),
            score.and_then(|score| score.limit.as_deref()).into(),
            whole(used.calls),
            whole(used.refused),
            used.turns.map_or(Cell::None, whole),
            used.tokens_in.map_or(Cell::None, whole),
            used.tokens_out.map_or(Cell::None, whole),
            used.cost.map_or(Cell::None, whole),
            record.trusted.into(),
            record.failed.as_deref().into(),
            trace.map(|trace| &*trace.domain).into(),
            trace.map(|trace| &*trace.domain_digest).into(),
            trace.map(|trace| &*trace.role).into(),
            trace.and_then(|trace| trace.actor).map_or(Cell::None, whole),
            trace.map(|trace| &*trace.start).into(),
            trace.map(|trace| &*trace.end).into(),
            digest.as_deref().into(),
            whole(spent.wall),
            whole(spent.world),
        ])?;
        self.numbers.push(number);
        self.errors.extend(error.map(|_| number));
        let Some((left, said)) = left else { return Ok(()) };
        let [steps, transcripts, states] = &mut self.beside;
        for (step, call) in (1..).zip(&left.trace.calls) {
            let (refusal, answer) = match &call.outcome {
                Outcome::Refused(kind) => (Some(&**kind), None),
                Outcome::Answered(hash) => (None, Some(&**hash)),
            };
            let (tool, arguments) = ((&*call.tool).into(), (&*call.arguments).into());
            steps.push(&[Cell::Whole(number), Cell::Whole(step), tool, arguments, refusal.into(), answer.into()])?;
        }
        for (place, message) in (1..).zip(said) {
            let message = message.to_string();
            transcripts.push(&[Cell::Whole(number), Cell::Whole(place), (&*message).into()])?;
        }
        if let Some(Left { snapshot, diff }) = left.left.as_ref().filter(|_| self.keeps_states) {
            states.push(&[Cell::Whole(number), Cell::Bytes(snapshot), (&*kept_diff(diff)).into()])?;
        }
        Ok(())
    }
}

/// The segments of a run.
#[derive(Clone, Debug)]
pub struct Segments {
    depot: Depot,
}

/// A depot's error as one of whoever reads what is recorded.
fn unread(error: DepotError) -> StoreError {
    match error {
        DepotError::Missing { place } => StoreError::Missing(place.into()),
        DepotError::TooLarge { place, most } => StoreError::TooLarge { path: place.into(), most },
        DepotError::Failed { place, why } => StoreError::Malformed { path: place.into(), why },
        DepotError::Name(name) => StoreError::Malformed { path: name.into(), why: "this names no file".to_owned() },
    }
}

/// The name of a file of a segment.
fn file_of(name: &str, table: &str) -> String {
    format!("{name}.{table}.parquet")
}

impl Segments {
    /// The segments of a run under its folder.
    pub fn of(run: &Path) -> Segments {
        Segments::within(&Depot::folder(run))
    }

    /// The segments of a run whose files are kept here.
    pub fn within(run: &Depot) -> Segments {
        Segments { depot: run.within("segments") }
    }

    /// Where a table of a segment is.
    pub fn place(&self, name: &str, table: &str) -> PathBuf {
        self.depot.place(&file_of(name, table)).into()
    }

    /// Writes a segment under a name of its lease. Its name and its digest.
    pub(crate) fn write(&self, fence: i64, part: usize, growing: &Growing) -> io::Result<(String, String)> {
        let name = format!("{fence:08}-{part}");
        let mut notes = vec![(VERSION_NOTE.to_owned(), VERSION.to_owned())];
        for ((table, _), rows) in BESIDE.iter().zip(&growing.beside) {
            if !rows.is_empty() {
                let bytes = rows.to_parquet(table, &[(VERSION_NOTE, VERSION)]).map_err(io::Error::other)?;
                notes.push((format!("benchwright.{table}"), Digest::of(&bytes).to_string()));
                self.depot.put(&file_of(&name, table), &bytes).map_err(io::Error::other)?;
            }
        }
        let notes: Vec<(&str, &str)> = notes.iter().map(|(key, value)| (&**key, &**value)).collect();
        let bytes = growing.trials.to_parquet("trials", &notes).map_err(io::Error::other)?;
        self.depot.put(&file_of(&name, "trials"), &bytes).map_err(io::Error::other)?;
        Ok((name, Digest::of(&bytes).to_string()))
    }

    /// Removes the files of a segment that nobody named.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        for table in ["trials"].into_iter().chain(BESIDE.map(|(table, _)| table)) {
            self.depot.remove(&file_of(name, table)).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Removes a file of a segment that no finish named.
    pub(crate) fn sweep(&self, name: &str, named: &BTreeSet<&str>) -> io::Result<()> {
        match named.contains(name.split('.').next().unwrap_or(name)) {
            true => Ok(()),
            false => self.depot.remove(name).map_err(io::Error::other),
        }
    }

    /// The names of all files, in order.
    pub fn names(&self) -> io::Result<Vec<String>> {
        self.depot.names("").map_err(io::Error::other)
    }

    fn read_table(
        &self,
        name: &str,
        (table, columns): (&str, &'static [Column]),
        without: &[usize],
        digest: &str,
    ) -> Result<(Table, BTreeMap<String, String>), StoreError> {
        let path = self.place(name, table);
        let bad = |why: String| StoreError::Malformed { path: path.clone(), why };
        if !name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return Err(bad("no segment is named so".to_owned()));
        }
        let bytes = self.depot.get(&file_of(name, table), LARGEST).map_err(unread)?;
        if Digest::of(&bytes).to_string() != digest {
            return Err(bad("it was changed after it was recorded: its digest differs".to_owned()));
        }
        let read = Table::from_parquet_without(bytes, columns, without, LARGEST as u64);
        let read = read.map_err(|error| bad(error.to_string()))?;
        match read.1.get(VERSION_NOTE).map(|version| &**version) {
            Some(VERSION) => Ok(read),
            other => Err(bad(format!("it is of version {}; this program reads {VERSION}", other.unwrap_or("none")))),
        }
    }

    /// The records of a segment that count, in the order of their numbers. Its file must have the digest of its link, and the trials that
    /// the link names.
    pub fn records(&self, link: &SegmentLink) -> Result<Vec<(i64, TrialRecord)>, StoreError> {
        let (trials, notes) = self.read_table(&link.name, ("trials", TRIALS), &BESIDE_RECORDS, &link.digest)?;
        for (table, _) in BESIDE.iter().filter(|(table, _)| notes.contains_key(&format!("benchwright.{table}"))) {
            if !self.depot.has(&file_of(&link.name, table)).map_err(unread)? {
                return Err(StoreError::Missing(self.place(&link.name, table)));
            }
        }
        let counts = self.rows(link, &trials)?;
        counts.into_iter().map(|(number, row)| Ok((number, self.record(link, &trials, row)?))).collect()
    }

    fn bad(&self, link: &SegmentLink, table: &str, why: impl Into<String>) -> StoreError {
        StoreError::Malformed { path: self.place(&link.name, table), why: why.into() }
    }

    /// The rows of the trials that count.
    fn rows(&self, link: &SegmentLink, trials: &Table) -> Result<Vec<(i64, usize)>, StoreError> {
        let number = |row: usize| Some((trials.whole(row, InTrials::Number as usize)?, row));
        let mut known: Vec<(i64, usize)> = (0..trials.len()).filter_map(number).collect();
        known.sort_unstable();
        if known.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(self.bad(link, "trials", "it has a trial twice"));
        }
        let find = |number: i64| {
            let at = known.binary_search_by_key(&number, |(number, _)| *number);
            let (_, row) =
                at.map(|at| known[at]).map_err(|_| self.bad(link, "trials", format!("it has no trial {number}")))?;
            let is_error = trials.bytes(row, InTrials::Error as usize).is_some();
            match is_error == link.errors.contains(number) {
                true => Ok((number, row)),
                false => Err(self.bad(
                    link,
                    "trials",
                    format!("it and the ledger differ on whether trial {number} is an error"),
                )),
            }
        };
        link.numbers.iter().map(find).collect()
    }

    fn record(&self, link: &SegmentLink, trials: &Table, row: usize) -> Result<TrialRecord, StoreError> {
        let read = || -> Option<TrialRecord> {
            let text = |at: InTrials| trials.text(row, at as usize).map(str::to_owned);
            let count = |at: InTrials| trials.whole(row, at as usize).and_then(|number| u32::try_from(number).ok());
            let long = |at: InTrials| trials.whole(row, at as usize).and_then(|number| u64::try_from(number).ok());
            let truth = |at: InTrials| trials.truth(row, at as usize);
            let share = |at: InTrials| trials.whole(row, at as usize);
            let end = match text(InTrials::Error) {
                Some(cause) => TrialEnd::Error { cause, detail: text(InTrials::ErrorDetail)? },
                None => TrialEnd::Scored(Score {
                    pass: truth(InTrials::Pass)?,
                    reward: share(InTrials::RewardMillionths)?,
                    constraints: share(InTrials::ConstraintsMillionths)?,
                    trace: share(InTrials::TraceMillionths)?,
                    objective: share(InTrials::ObjectiveMillionths)?,
                    clean: truth(InTrials::Clean)?,
                    best: truth(InTrials::Best)?,
                    side_effect: truth(InTrials::SideEffect)?,
                    paper_pass: truth(InTrials::PaperPass)?,
                    alarm: truth(InTrials::Alarm)?,
                    failed: serde_json::from_str(trials.text(row, InTrials::FailedChecks as usize)?).ok()?,
                    gates: serde_json::from_str(trials.text(row, InTrials::Gates as usize)?).ok()?,
                    followed: truth(InTrials::Followed),
                    limit: text(InTrials::Limit),
                }),
            };
            Some(TrialRecord {
                key: TrialKey {
                    task: text(InTrials::TaskDigest)?,
                    agent: text(InTrials::Agent)?,
                    attempt: count(InTrials::Attempt)?,
                },
                end,
                used: Used {
                    calls: count(InTrials::Calls)?,
                    refused: count(InTrials::Refused)?,
                    turns: count(InTrials::Turns),
                    tokens_in: long(InTrials::TokensIn),
                    tokens_out: long(InTrials::TokensOut),
                    cost: long(InTrials::CostMicrodollars),
                },
                trusted: truth(InTrials::Trusted)?,
                failed: text(InTrials::ProgramFailed),
                spent: Spent {
                    wall: long(InTrials::ClockWallUs)?,
                    world: long(InTrials::ClockWorldUs)?,
                    turns: Vec::new(),
                },
            })
        };
        read().ok_or_else(|| self.bad(link, "trials", format!("row {} is no record", row + 1)))
    }

    /// Reads all of a segment.
    pub fn read(&self, link: &SegmentLink) -> Result<Segment, StoreError> {
        let (trials, notes) = self.read_table(&link.name, ("trials", TRIALS), &[], &link.digest)?;
        let mut beside = Vec::new();
        for (table, columns) in BESIDE {
            beside.push(match notes.get(&format!("benchwright.{table}")) {
                Some(digest) => self.read_table(&link.name, (table, columns), &[], digest)?.0,
                None => Table::new(columns),
            });
        }
        let rows = self.rows(link, &trials)?;
        // Rows of one trial stand together.
        let mut places: [BTreeMap<i64, (usize, usize)>; 3] = Default::default();
        for ((places, table), (name, _)) in places.iter_mut().zip(&beside).zip(BESIDE) {
            for row in 0..table.len() {
                let trial = table.whole(row, 0).unwrap_or_default();
                let range = places.entry(trial).or_insert((row, row));
                if range.1 != row {
                    return Err(self.bad(link, name, format!("the rows of trial {trial} do not stand together")));
                }
                range.1 = row + 1;
            }
        }
        let mut records = BTreeMap::new();
        for (number, row) in rows {
            records.insert(number, (self.record(link, &trials, row)?, row));
        }
        Ok(Segment { steps: self.place(&link.name, "steps"), trials, beside, places, records })
    }
}

/// A segment that was read.
pub struct Segment {
    /// The file of its steps, for what is wrong with them.
    steps: PathBuf,
    trials: Table,
    beside: Vec<Table>,
    places: [BTreeMap<i64, (usize, usize)>; 3],
    records: BTreeMap<i64, (TrialRecord, usize)>,
}

impl Segment {
    /// The record of a trial that counts.
    pub fn record(&self, number: i64) -> Option<&TrialRecord> {
        self.records.get(&number).map(|(record, _)| record)
    }

    fn rows(&self, table: usize, number: i64) -> impl Iterator<Item = (usize, &Table)> {
        let (from, to) = self.places[table].get(&number).copied().unwrap_or_default();
        (from..to).map(move |row| (row, &self.beside[table]))
    }

    /// What is kept of the way that a trial took; the trace must be the one whose digest its row has.
    pub fn kept(&self, number: i64) -> Result<Kept, StoreError> {
        let bad =
            |why: String| StoreError::Malformed { path: self.steps.clone(), why: format!("trial {number}: {why}") };
        self.read(number).map_err(bad)
    }

    fn read(&self, number: i64) -> Result<Kept, String> {
        let (_, row) = self.records.get(&number).ok_or("it is not here")?;
        let text = |at: InTrials| self.trials.text(*row, at as usize).map(str::to_owned);
        let mut calls = Vec::new();
        for ((row, steps), step) in self.rows(0, number).zip(1..) {
            let text = |at: InSteps| steps.text(row, at as usize).map(str::to_owned);
            let outcome = match (text(InSteps::Refusal), text(InSteps::Answer)) {
                (Some(kind), None) => Outcome::Refused(kind),
                (None, Some(hash)) => Outcome::Answered(hash),
                _ => return Err(format!("step {step} is neither refused nor answered")),
            };
            let (tool, arguments) =
                (text(InSteps::Tool).unwrap_or_default(), text(InSteps::Arguments).unwrap_or_default());
            calls.push(TraceCall { tool, arguments, outcome });
        }
        let trace = || {
            let actor = self.trials.whole(*row, InTrials::Actor as usize).and_then(|actor| u32::try_from(actor).ok());
            let (domain, domain_digest, role) =
                (text(InTrials::Domain)?, text(InTrials::DomainDigest)?, text(InTrials::Role)?);
            let (start, end) = (text(InTrials::FirstState)?, text(InTrials::State)?);
            Some(Trace { version: Trace::VERSION, domain, domain_digest, role, actor, start, calls, end })
        };
        let trace = trace().ok_or("it was not judged, and has no trace")?;
        if Some(trace.digest().to_string()) != text(InTrials::TraceDigest) {
            return Err("its steps are not those of its trace: the digest differs".to_owned());
        }
        let message = |(row, said): (usize, &Table)| {
            serde_json::from_str(said.text(row, InTranscripts::Message as usize).unwrap_or_default())
        };
        let transcript = self.rows(1, number).map(message).collect::<Result<_, _>>();
        let transcript = transcript.map_err(|error: serde_json::Error| format!("what was said: {error}"))?;
        let left = self.rows(2, number).next().and_then(|(row, states)| {
            let snapshot = states.bytes(row, InStates::Snapshot as usize)?.to_vec();
            Some(Left { snapshot, diff: states.text(row, InStates::Diff as usize)?.to_owned() })
        });
        Ok(Kept { trace, verdict: None, transcript, left })
    }
}
