//! The chain over the records of a run. Every trial that is recorded, and every error that is opened again, adds a link with the digest of
//! the trial's record, the digest of its folder, and a hash over the hash before it and over the link itself. So what was recorded
//! cannot be changed, moved, doubled or taken from the middle without a link that no longer follows.
//!
//! What a chain cannot show by itself is that its end was cut off, or that somebody with this program made it all again: for that its last
//! hash, the *head*, has to be known from elsewhere. Whoever publishes the head of a run has published the run.

use benchwright_base::Digest;
use benchwright_pack::{RunPlan, TrialKey, TrialRecord, run::TrialEnd};
use std::collections::BTreeMap;

/// How many rows that are gone are told one by one.
const MOST_MISSING: usize = 1_000;

/// One link of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    /// Its place, from 1.
    pub(crate) place: i64,
    /// The trial that it is about.
    pub(crate) number: i64,
    /// The digests of the record and of the folder; nothing where an error was opened again.
    pub(crate) recorded: Option<(String, String)>,
    /// The hash over the hash before it and all of this.
    pub(crate) hash: String,
}

/// What a chain begins with: what the run is.
pub(crate) fn first_hash(name: &str, plan: &str) -> String {
    Digest::of_parts([("run", name.as_bytes()), ("plan", plan.as_bytes())]).to_string()
}

/// The hash of a link that follows another.
pub(crate) fn next_hash(before: &str, place: i64, number: i64, recorded: Option<(&str, &str)>) -> String {
    let (place, number) = (place.to_le_bytes(), number.to_le_bytes());
    let (kind, (record, folder)) = match recorded {
        Some(digests) => ("recorded", digests),
        None => ("opened again", ("", "")),
    };
    Digest::of_parts([
        ("before", before.as_bytes()),
        ("place", &place),
        ("number", &number),
        ("kind", kind.as_bytes()),
        ("record", record.as_bytes()),
        ("folder", folder.as_bytes()),
    ])
    .to_string()
}

/// A trial's row as it stands in the ledger.
pub(crate) struct Row {
    pub(crate) number: i64,
    pub(crate) key: TrialKey,
    pub(crate) is_error: bool,
    /// The text of its record, once it is recorded.
    pub(crate) record: Option<String>,
}

/// A run as it stands in the ledger.
pub(crate) struct Kept<'a> {
    pub(crate) name: &'a str,
    /// The plan, and the digest that it had when the run was begun.
    pub(crate) plan: (&'a RunPlan, &'a str),
    pub(crate) rows: Vec<Row>,
    pub(crate) links: Vec<Link>,
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

/// What is recorded of a run, held to its chain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chain {
    /// The records that can be read, in the order of the plan.
    pub records: Vec<(i64, TrialRecord)>,
    /// The digest of the folder of each recorded trial, by its number.
    pub folders: BTreeMap<i64, String>,
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

    /// Reads what is kept of a run and finds all that does not follow.
    pub(crate) fn of(kept: &Kept<'_>) -> Chain {
        let mut chain = Chain::default();
        let (plan, digest) = kept.plan;
        if plan.digest().to_string() != digest {
            chain.flaw(None, "the plan was changed after the run was begun");
        }
        let latest = chain.follow(kept, digest);
        let rows: BTreeMap<i64, &Row> = kept.rows.iter().map(|row| (row.number, row)).collect();
        // A plan that was bent may have any number of trials: so many of those that are missing are told, and none is listed.
        let trials = i64::try_from(plan.trials()).unwrap_or(i64::MAX);
        let missing = (1..=trials).filter(|number| !rows.contains_key(number));
        for number in missing.take(MOST_MISSING) {
            chain.flaw(Some(number), "its row was deleted from the ledger");
        }
        for (number, row) in rows {
            match plan.key(number) {
                None => chain.flaw(Some(number), "the plan has no such trial"),
                Some(key) if row.key != key => {
                    chain.flaw(Some(number), "its row is of another trial than the plan has there")
                }
                Some(_) => {}
            }
            chain.hold(row, latest.get(&number).copied().flatten());
        }
        chain
    }

    /// Follows the links; the last one of each trial, with nothing where it was opened again.
    fn follow<'e>(&mut self, kept: &'e Kept<'_>, plan: &str) -> BTreeMap<i64, Option<&'e (String, String)>> {
        let mut before = first_hash(kept.name, plan);
        let (mut expected, mut latest) = (1, BTreeMap::new());
        self.hashes.push(before.clone());
        for link in &kept.links {
            let Link { place, number, recorded, hash } = link;
            let digests = recorded.as_ref().map(|(record, folder)| (&**record, &**folder));
            if *place != expected {
                self.flaw(None, format!("link {expected} was deleted from the chain: link {place} follows"));
            } else if next_hash(&before, *place, *number, digests) != *hash {
                let what = "does not follow from the one before it: it was changed, moved or put there later";
                self.flaw(Some(*number), format!("link {place} of the chain {what}"));
            }
            let was = latest.insert(*number, recorded.as_ref());
            match (was.flatten().is_some(), recorded.is_some()) {
                (true, true) => self.flaw(Some(*number), format!("link {place} records it a second time")),
                (false, false) => {
                    self.flaw(Some(*number), format!("link {place} opens it again, and it was not recorded"))
                }
                _ => {}
            }
            (before, expected) = (hash.clone(), place.saturating_add(1));
            self.hashes.push(hash.clone());
        }
        latest
    }

    /// Holds a row to the last link of its trial.
    fn hold(&mut self, row: &Row, link: Option<&(String, String)>) {
        let number = row.number;
        let Some(text) = &row.record else {
            if link.is_some() {
                self.flaw(
                    Some(number),
                    "the chain has a record of it, and its row has none: the record was taken away",
                );
            }
            return;
        };
        match link {
            None => self.flaw(Some(number), "it is recorded, and the chain has no link of it"),
            Some((record, folder)) => {
                if Digest::of(text.as_bytes()).to_string() != *record {
                    self.flaw(Some(number), "its row in the ledger was changed after it was recorded");
                }
                self.folders.insert(number, folder.clone());
            }
        }
        match serde_json::from_str::<TrialRecord>(text) {
            Err(error) => self.flaw(Some(number), format!("its record in the ledger cannot be read: {error}")),
            Ok(record) => {
                if record.key != row.key {
                    self.flaw(Some(number), "its record in the ledger is of another trial");
                }
                if matches!(record.end, TrialEnd::Error { .. }) != row.is_error {
                    self.flaw(Some(number), "its row and its record differ on whether it is an error");
                }
                self.records.push((number, record));
            }
        }
    }
}
