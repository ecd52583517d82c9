//! The chain over the records of a run. Every finish adds a link: of a trial with a folder it has the digests of the record and of the
//! folder, of a segment the numbers of its trials, its name and its digest; an error that is opened again adds one too. Each has a hash
//! over the hash before it and over the link itself. So what was recorded cannot be changed, moved, doubled or taken from the middle
//! without a link that no longer follows.
//!
//! What a chain cannot show by itself is that its end was cut off, or that somebody with this program made it all again: for that its last
//! hash, the *head*, has to be known from elsewhere. Whoever publishes the head of a run has published the run.

use crate::numbers::{self, Numbers, Places};
use benchwright_base::Digest;
use benchwright_pack::{TrialRecord, WorkPlan, run::TrialEnd};
use std::collections::BTreeMap;

/// How many rows that are gone are told one by one.
const MOST_MISSING: usize = 1_000;
/// The most trials of one link.
pub(crate) const MOST_IN_LINK: usize = 10_000;

/// What a link tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// A trial was recorded: the digests of its record and of its folder.
    Folder(String, String),
    /// Trials were recorded in a segment: its name and its digest.
    Segment(String, String),
    /// An error was opened again.
    Again,
}

/// What a link tells as ledgers keep it: record, folder and segment.
pub(crate) type Columns<T> = (Option<T>, Option<T>, Option<T>);

impl Told {
    pub(crate) fn columns(&self) -> Columns<&str> {
        match self {
            Told::Folder(record, folder) => (Some(record), Some(folder), None),
            Told::Segment(name, digest) => (None, Some(digest), Some(name)),
            Told::Again => (None, None, None),
        }
    }

    /// The same back; nothing for what no link tells.
    pub(crate) fn of(columns: Columns<String>) -> Option<Told> {
        match columns {
            (Some(record), Some(folder), None) => Some(Told::Folder(record, folder)),
            (None, Some(digest), Some(name)) => Some(Told::Segment(name, digest)),
            (None, None, None) => Some(Told::Again),
            _ => None,
        }
    }
}

/// One link of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    /// Its place, from 1.
    pub(crate) place: i64,
    /// The trials that it is about, as ranges.
    pub(crate) numbers: String,
    pub(crate) told: Told,
    /// The hash over the hash before it and all of this.
    pub(crate) hash: String,
}

/// What a chain begins with: what the run is.
pub(crate) fn first_hash(name: &str, plan: &str) -> String {
    Digest::of_parts([("run", name.as_bytes()), ("plan", plan.as_bytes())]).to_string()
}

/// The hash of a link that follows another.
pub(crate) fn next_hash(before: &str, place: i64, numbers: &str, told: &Told) -> String {
    let place = place.to_le_bytes();
    // A link of one trial is hashed by its number.
    let number = numbers.parse::<i64>().map(i64::to_le_bytes);
    let number = number.as_ref().map_or(numbers.as_bytes(), |number| number);
    let (kind, about, [(one, first), (other, second)]) = match told {
        Told::Folder(record, folder) => {
            ("recorded", ("number", number), [("record", &**record), ("folder", &**folder)])
        }
        Told::Segment(name, digest) => {
            ("segment", ("numbers", numbers.as_bytes()), [("name", &**name), ("segment", &**digest)])
        }
        Told::Again => ("opened again", ("number", number), [("record", ""), ("folder", "")]),
    };
    Digest::of_parts([
        ("before", before.as_bytes()),
        ("place", &place),
        about,
        ("kind", kind.as_bytes()),
        (one, first.as_bytes()),
        (other, second.as_bytes()),
    ])
    .to_string()
}

/// A trial's row as it stands in the ledger.
pub(crate) struct Row {
    pub(crate) number: i64,
    pub(crate) is_done: bool,
    pub(crate) is_error: bool,
    /// The place of the link that recorded it.
    pub(crate) link: Option<i64>,
    /// The text of its record, where that is kept in the ledger.
    pub(crate) record: Option<String>,
}

/// Something in a ledger that is not as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// The number of the trial, where it is about one.
    pub trial: Option<i64>,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.trial.map_or(Ok(()), |trial| write!(f, "trial {trial}: "))?;
        f.write_str(&self.what)
    }
}

/// A segment as the chain has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentLink {
    /// Its name.
    pub name: String,
    /// The digest of its files.
    pub digest: String,
    /// The trials whose records are in it, in order. It may hold others: errors that were opened again.
    pub numbers: Numbers,
    /// Those of them that are errors.
    pub errors: Numbers,
}

/// What is recorded of a run, held to its chain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chain {
    /// How many trials are recorded.
    pub recorded: usize,
    /// The records of trials with folders that can be read, in the order of the plan.
    pub records: Vec<(i64, TrialRecord)>,
    /// The digest of the folder of each such trial, by its number.
    pub folders: BTreeMap<i64, String>,
    /// The segments with the records of all other trials, in the order in which they were finished.
    pub segments: Vec<SegmentLink>,
    /// The hash of every link, in order; the first is that of the run itself, the last is the head.
    pub hashes: Vec<String>,
    /// All that is not as it was written.
    pub flaws: Vec<Flaw>,
}

impl Chain {
    /// The hash of the last link, by which the records of a run are known.
    pub fn head(&self) -> &str {
        self.hashes.last().map_or("", |hash| hash)
    }

    fn flaw(&mut self, trial: Option<i64>, what: impl Into<String>) {
        self.flaws.push(Flaw { trial, what: what.into() });
    }
}

/// Reads what is kept of a run, link by link and then row by row, and finds all that does not follow.
pub(crate) struct Reader<'a> {
    plan: &'a WorkPlan,
    chain: Chain,
    /// The place that the next link must have.
    expected: i64,
    /// What each link told, with the place among the segments.
    told: BTreeMap<i64, (Told, usize)>,
    /// The place of the last link of each trial that is recorded.
    latest: Places,
    /// The number that the next row must have.
    next: i64,
    missing: usize,
}

impl<'a> Reader<'a> {
    /// A reader of a run that was begun with a plan of this digest.
    pub(crate) fn new(name: &str, plan: &'a WorkPlan, digest: &str) -> Reader<'a> {
        let mut chain = Chain::default();
        if plan.digest().to_string() != digest {
            chain.flaw(None, "the plan was changed after the run was begun");
        }
        chain.hashes.push(first_hash(name, digest));
        Reader { plan, chain, expected: 1, told: BTreeMap::new(), latest: Places::default(), next: 1, missing: 0 }
    }

    /// The hash of the last link that was followed.
    pub(crate) fn head(&self) -> &str {
        self.chain.head()
    }

    /// Follows the next link.
    pub(crate) fn link(&mut self, link: Link) {
        let Link { place, numbers, told, hash } = link;
        let about = numbers::read(&numbers, MOST_IN_LINK);
        let one = about.as_ref().and_then(|about| about.first().copied());
        if place != self.expected {
            let expected = self.expected;
            self.chain.flaw(None, format!("link {expected} was deleted from the chain: link {place} follows"));
        } else if next_hash(self.chain.head(), place, &numbers, &told) != hash {
            let what = "does not follow from the one before it: it was changed, moved or put there later";
            self.chain.flaw(one, format!("link {place} of the chain {what}"));
        }
        if about.is_none() {
            self.chain.flaw(None, format!("link {place} of the chain names no trials: `{numbers}`"));
        }
        for number in about.unwrap_or_default() {
            let was = if told == Told::Again { self.latest.remove(number) } else { self.latest.insert(number, place) };
            match (was.is_some(), told == Told::Again) {
                (true, false) => self.chain.flaw(Some(number), format!("link {place} records it a second time")),
                (false, true) => {
                    self.chain.flaw(Some(number), format!("link {place} opens it again, and it was not recorded"));
                }
                _ => {}
            }
        }
        let at = self.chain.segments.len();
        if let Told::Segment(name, digest) = &told {
            let (name, digest) = (name.clone(), digest.clone());
            self.chain.segments.push(SegmentLink {
                name,
                digest,
                numbers: Numbers::default(),
                errors: Numbers::default(),
            });
        }
        self.told.insert(place, (told, at));
        self.chain.hashes.push(hash);
        self.expected = place.saturating_add(1);
    }

    /// Tells of rows before this one that are gone. A plan that was bent may have any number of trials: so many are told, and none is listed.
    fn missing_before(&mut self, number: i64) {
        while self.next < number && self.missing < MOST_MISSING {
            self.chain.flaw(Some(self.next), "its row was deleted from the ledger");
            self.missing += 1;
            self.next += 1;
        }
    }

    /// Holds the next row, in the order of their numbers, to the last link of its trial.
    pub(crate) fn row(&mut self, row: Row) {
        let number = row.number;
        let trials = i64::try_from(self.plan.items()).unwrap_or(i64::MAX);
        self.missing_before(number.min(trials.saturating_add(1)));
        self.next = self.next.max(number.saturating_add(1));
        if !(1..=trials).contains(&number) {
            self.chain.flaw(Some(number), "the plan has no such trial");
        }
        let latest = self.latest.get(number);
        if !row.is_done {
            if latest.is_some() {
                let what = "the chain has a record of it, and its row has none: the record was taken away";
                self.chain.flaw(Some(number), what);
            }
            return;
        }
        self.chain.recorded += 1;
        let Some((place, (told, at))) = latest.and_then(|place| Some((place, self.told.get(&place)?))) else {
            self.chain.flaw(Some(number), "it is recorded, and the chain has no link of it");
            return self.read(&row);
        };
        if row.link != Some(place) {
            self.chain.flaw(Some(number), format!("its row names another link than {place}, which recorded it"));
        }
        match (told, &row.record) {
            (Told::Folder(digest, folder), Some(text)) => {
                let (digest, folder) = (digest.clone(), folder.clone());
                if Digest::of(text.as_bytes()).to_string() != digest {
                    self.chain.flaw(Some(number), "its row in the ledger was changed after it was recorded");
                }
                self.chain.folders.insert(number, folder);
            }
            (Told::Segment(..), None) => {
                let at = *at;
                if let Some(segment) = self.chain.segments.get_mut(at) {
                    segment.numbers.push(number);
                    if row.is_error {
                        segment.errors.push(number);
                    }
                }
            }
            _ => {
                self.chain.flaw(Some(number), "its row has a record where the chain has none, or none where it has one")
            }
        }
        self.read(&row);
    }

    /// Reads the record of a row, where it has one.
    fn read(&mut self, row: &Row) {
        let Some(text) = &row.record else { return };
        let number = row.number;
        match serde_json::from_str::<TrialRecord>(text) {
            Err(error) => self.chain.flaw(Some(number), format!("its record in the ledger cannot be read: {error}")),
            Ok(record) => {
                if self.plan.key(number).is_some_and(|key| key != record.key) {
                    self.chain.flaw(Some(number), "its record in the ledger is of another trial");
                }
                if matches!(record.end, TrialEnd::Error { .. }) != row.is_error {
                    self.chain.flaw(Some(number), "its row and its record differ on whether it is an error");
                }
                self.chain.records.push((number, record));
            }
        }
    }

    /// What was found.
    pub(crate) fn end(mut self) -> Chain {
        let trials = i64::try_from(self.plan.items()).unwrap_or(i64::MAX);
        self.missing_before(trials.saturating_add(1));
        self.chain
    }
}
