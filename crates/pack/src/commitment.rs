//! The public documents of a suite with secret seeds. A [`Commitment`] is published before anybody is measured: one root that stands for
//! every task, and how many there are of which kind. An [`Opening`] is published afterwards: the key and the list of tasks. A [`Proof`]
//! shows a single task to be in the commitment and tells nothing of the others. What can be said of them without making a task is said
//! here; that the tasks are those that a generator makes from the key is for who has one.
//!
//! The root stands for the whole commitment, also for its head: none of its figures can be changed and the root kept.

use crate::{
    Key, Lot, StoreError, Suite, SuiteTask, store,
    tree::{climb, item, path, top},
};
use benchwright_base::Digest;
use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

/// The version of these documents.
pub const COMMITMENT_VERSION: u32 = 1;
/// The most seeds in a row that may give no task.
pub const MOST_SKIPPED: u32 = 20;
/// The largest document that is read, in bytes.
pub const LARGEST_COMMITMENT: usize = 256 << 20;
/// What the root is hashed after; items and nodes of the tree have other prefixes.
const ROOT: u8 = 2;

/// What is published before anybody is measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commitment {
    /// The version of this format.
    pub version: u32,
    /// What is told of the suite.
    pub head: CommitmentHead,
    /// The root over the head, the number of tasks and every task in its place.
    pub root: Digest,
}

/// What a commitment tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitmentHead {
    /// The suite's name.
    pub suite: String,
    /// The suite's own version.
    pub suite_version: u32,
    /// The family of its patterns.
    pub family: String,
    /// Whether tasks of one pattern and tier share their draws whatever their objective, as a request and its blocked variants do.
    pub shares_draws: bool,
    /// What it was made with.
    pub generator: Generator,
    /// What is told of the key.
    pub key: Digest,
    /// How many tasks there are.
    pub tasks: u64,
    /// How many of each kind, in order.
    pub counts: Vec<Count>,
}

/// What a suite was made with. Another generator may make other tasks of the same seeds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// The version of the program.
    pub version: String,
    /// The digest of the patterns and domains as they were declared.
    pub declarations: Digest,
    /// The version of the solver, or who stands for it where none is asked.
    pub solver: String,
    /// The digest of the solver's library.
    pub library: String,
}

/// How many tasks there are of a kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The pattern.
    pub pattern: String,
    /// The tier.
    pub tier: String,
    /// The objective.
    pub objective: String,
    /// The reading of a clause, of tasks that have twins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// How many.
    pub tasks: u64,
}

/// A task as it stands in the tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommittedTask {
    /// Its id.
    pub id: String,
    /// The pattern.
    pub pattern: String,
    /// The tier.
    pub tier: String,
    /// The objective.
    pub objective: String,
    /// The reading of a clause, of a task that has a twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// The number of its draw among those of its kind, from 0.
    pub index: u64,
    /// The digest of every byte of it.
    pub digest: Digest,
}

/// A task with what it was drawn from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedTask {
    /// The task.
    pub task: CommittedTask,
    /// How many seeds of this draw gave no task before this one.
    pub attempt: u32,
    /// The number of its seed in the lock file.
    pub seed: u64,
}

/// What is published afterwards: everything that the tasks can be made again from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The version of this format.
    pub version: u32,
    /// That it is an opening.
    pub kind: OpeningKind,
    /// The canary of its tasks.
    pub canary: String,
    /// The root of its commitment.
    pub root: Digest,
    /// The key.
    pub key: String,
    /// The tasks, in the order of the tree.
    pub tasks: Vec<OpenedTask>,
}

/// Shows that a task is in a commitment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The version of this format.
    pub version: u32,
    /// That it is a proof.
    pub kind: ProofKind,
    /// The root of its commitment.
    pub root: Digest,
    /// The place of the task in the tree, from 0.
    pub place: u64,
    /// The task.
    pub task: CommittedTask,
    /// The hashes beside its way to the top, the lowest first.
    pub path: Vec<Digest>,
}

/// The word by which an opening is told from a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum OpeningKind {
    /// The only one.
    #[serde(rename = "opening")]
    Opening,
}

/// The word by which a proof is told from an opening.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ProofKind {
    /// The only one.
    #[serde(rename = "proof")]
    Proof,
}

/// What was made public of a committed suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Revealed {
    /// All of it.
    Opening(Opening),
    /// That one task is in it.
    Proof(Proof),
}

/// What is wrong with a commitment, or with what was made public of it. Each begins with its name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// It commits to nothing.
    #[error("empty: a commitment to no tasks binds nobody")]
    Empty,
    /// It was made with another generator.
    #[error("version: {0}")]
    Version(String),
    /// It is of another commitment.
    #[error("another tree: {0}")]
    OtherTree(String),
    /// The key is not the committed one.
    #[error("key: {0}")]
    Key(String),
    /// There are more or fewer of a kind than were committed.
    #[error("count: {0}")]
    Count(String),
    /// Something committed is not there.
    #[error("missing: {0}")]
    Missing(String),
    /// Something is there that was not committed.
    #[error("additional: {0}")]
    Additional(String),
    /// A task stands there twice.
    #[error("twice: {0}")]
    Twice(String),
    /// A seed is not the one that comes from the key.
    #[error("seed changed: {0}")]
    Seed(String),
    /// A seed was passed over that gives a task, or a number was.
    #[error("passed over: {0}")]
    PassedOver(String),
    /// A task is another than the one that the generator makes, or than the committed one.
    #[error("task exchanged: {0}")]
    Exchanged(String),
    /// A task could not be made, so nothing is known of it.
    #[error("not made: {0}")]
    NotMade(String),
    /// The tasks do not come to the committed root.
    #[error("root: {0}")]
    Root(String),
}

impl CommittedTask {
    /// The task of a line of a lock file that was built; `None` if it was not.
    pub fn of(line: &SuiteTask, id: String, index: u64) -> Option<CommittedTask> {
        let SuiteTask { pattern, tier, objective, reading, .. } = line.clone();
        Some(CommittedTask { id, pattern, tier, objective, reading, index, digest: line.digest? })
    }

    /// What it was drawn from beside the key.
    pub fn lot(&self, shares_draws: bool) -> Lot {
        let objective = if shares_draws { String::new() } else { self.objective.clone() };
        Lot { pattern: self.pattern.clone(), tier: self.tier.clone(), objective, index: self.index }
    }

    /// The kind by which tasks are counted.
    fn kind(&self) -> [&str; 4] {
        [&self.pattern, &self.tier, &self.objective, self.reading.as_deref().unwrap_or_default()]
    }

    fn hash(&self) -> Digest {
        item(&canonical(self))
    }
}

impl fmt::Display for CommittedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [pattern, tier, objective, _] = self.kind();
        write!(f, "{} ({pattern} {tier} {objective}", self.id)?;
        self.reading.as_ref().map_or(Ok(()), |reading| write!(f, " read as {reading}"))?;
        write!(f, ", number {})", self.index)
    }
}

impl Count {
    /// How many there are of each kind, in order.
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a CommittedTask>) -> Vec<Count> {
        let mut counts: BTreeMap<[&str; 4], (&CommittedTask, u64)> = BTreeMap::new();
        for task in tasks {
            counts.entry(task.kind()).or_insert((task, 0)).1 += 1;
        }
        let count = |(task, tasks): (&CommittedTask, u64)| {
            let CommittedTask { pattern, tier, objective, reading, .. } = task.clone();
            Count { pattern, tier, objective, reading, tasks }
        };
        counts.into_values().map(count).collect()
    }

    fn kind(&self) -> [&str; 4] {
        [&self.pattern, &self.tier, &self.objective, self.reading.as_deref().unwrap_or_default()]
    }
}

/// The numbers of the draws of a suite, line by line: the first seed of a kind is 0, the next other one is 1. Lines that share a seed share
/// a draw, so that twins stay twins.
pub fn indexes(suite: &Suite, shares_draws: bool) -> Vec<u64> {
    let mut seen: BTreeMap<[&str; 3], BTreeMap<u64, u64>> = BTreeMap::new();
    let mut indexes = Vec::with_capacity(suite.tasks.len());
    for SuiteTask { pattern, tier, objective, seed, .. } in &suite.tasks {
        let seeds = seen.entry([pattern, tier, if shares_draws { "" } else { objective }]).or_default();
        let next = seeds.len() as u64;
        indexes.push(*seeds.entry(*seed).or_insert(next));
    }
    indexes
}

impl Commitment {
    /// Commits to tasks in their order. The counts of the head are made from them.
    pub fn new(head: CommitmentHead, tasks: &[CommittedTask]) -> Result<Commitment, Refused> {
        let head = CommitmentHead { tasks: tasks.len() as u64, counts: Count::of(tasks), ..head };
        let hashes: Vec<Digest> = tasks.iter().map(CommittedTask::hash).collect();
        let root = root(&head, top(&hashes).ok_or(Refused::Empty)?);
        Ok(Commitment { version: COMMITMENT_VERSION, head, root })
    }

    /// Its bytes. The same commitment has the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        canonical(self)
    }

    /// Reads it; whatever is not as this program writes it is refused.
    pub fn read(path: &Path) -> Result<Commitment, StoreError> {
        store::document(path, &store::read_file(path, LARGEST_COMMITMENT)?, COMMITMENT_VERSION)
    }

    /// What is wrong with it by itself.
    pub fn faults(&self) -> Vec<Refused> {
        let CommitmentHead { tasks, counts, .. } = &self.head;
        if *tasks == 0 || counts.is_empty() {
            return vec![Refused::Empty];
        }
        let sum = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(count.tasks));
        let in_order = counts.windows(2).all(|two| two[0].kind() < two[1].kind());
        let mut faults = Vec::new();
        if sum != Some(*tasks) {
            let sum = sum.map_or_else(|| "more than can be counted".to_owned(), |sum| sum.to_string());
            faults.push(Refused::Count(format!("the commitment is to {tasks} tasks, and its counts come to {sum}")));
        }
        if !in_order || counts.iter().any(|count| count.tasks == 0) {
            faults.push(Refused::Count("the counts name a kind twice, out of order, or without a task".to_owned()));
        }
        faults
    }

    /// What is wrong with a proof.
    pub fn proof_faults(&self, proof: &Proof) -> Vec<Refused> {
        let mut faults = self.faults();
        if proof.root != self.root {
            faults.push(Refused::OtherTree(format!(
                "the proof leads to {}, the commitment is {}",
                proof.root, self.root
            )));
        }
        if !self.head.counts.iter().any(|count| count.kind() == proof.task.kind()) {
            faults.push(Refused::Additional(format!("no task of the kind of {} was committed", proof.task)));
        }
        if !faults.is_empty() {
            return faults;
        }
        let led = climb(proof.task.hash(), proof.place, self.head.tasks, &proof.path);
        if led.map(|top| root(&self.head, top)) != Some(self.root) {
            let message = format!("no way leads from {} at place {} to {}", proof.task, proof.place, self.root);
            faults.push(Refused::Root(message));
        }
        faults
    }

    /// The key of an opening that holds together: it is of this commitment, has as many tasks of each kind, each once, and the seeds that
    /// come from the key. Neither the tasks nor the root are looked at, which is for who has made the tasks again.
    pub fn key_of(&self, opening: &Opening) -> Result<Key, Vec<Refused>> {
        let mut faults = self.faults();
        if opening.root != self.root {
            faults.push(Refused::OtherTree(format!(
                "the opening is of {}, the commitment is {}",
                opening.root, self.root
            )));
        }
        let key = Key::from_hex(&opening.key);
        if key.as_ref().is_none_or(|key| key.commitment() != self.head.key) {
            faults.push(Refused::Key("it is not the one that was committed to".to_owned()));
        }
        let Some(key) = key.filter(|_| faults.is_empty()) else { return Err(faults) };
        faults.extend(self.count_faults(opening));
        faults.extend(twice(opening.tasks.iter().map(|opened| &opened.task)));
        faults.extend(self.draw_faults(opening, &key));
        if faults.is_empty() { Ok(key) } else { Err(faults) }
    }

    /// That the tasks of an opening are not those of the root.
    pub fn root_fault(&self, opening: &Opening) -> Option<Refused> {
        let hashes: Vec<Digest> = opening.tasks.iter().map(|opened| opened.task.hash()).collect();
        let found = top(&hashes).map(|top| root(&self.head, top));
        let told = |found: Digest| format!("the tasks come to {found}, committed was {}", self.root);
        (found != Some(self.root)).then(|| Refused::Root(found.map_or_else(|| "there are no tasks".to_owned(), told)))
    }

    fn count_faults(&self, opening: &Opening) -> Vec<Refused> {
        let counts = Count::of(opening.tasks.iter().map(|opened| &opened.task));
        // How many were committed and opened, by kind.
        let mut kinds: BTreeMap<[&str; 4], (u64, u64)> = BTreeMap::new();
        for count in &self.head.counts {
            kinds.entry(count.kind()).or_default().0 += count.tasks;
        }
        for count in &counts {
            kinds.entry(count.kind()).or_default().1 += count.tasks;
        }
        let as_many = opening.tasks.len() as u64 == self.head.tasks;
        let fault = |(kind, (wanted, found)): ([&str; 4], (u64, u64))| {
            let message = format!("{}: {wanted} committed, {found} opened", kind.join(" ").trim_end());
            match found.cmp(&wanted) {
                Ordering::Equal => None,
                _ if as_many => Some(Refused::Count(message)),
                Ordering::Less => Some(Refused::Missing(message)),
                Ordering::Greater => Some(Refused::Additional(message)),
            }
        };
        kinds.into_iter().filter_map(fault).collect()
    }

    /// What is wrong with the draws: the numbers of a kind go on from 0 without a gap, the tasks of a draw share its attempt, and each
    /// seed comes from the key.
    fn draw_faults(&self, opening: &Opening, key: &Key) -> Vec<Refused> {
        let mut faults = Vec::new();
        let mut attempts: BTreeMap<Lot, u32> = BTreeMap::new();
        for OpenedTask { task, attempt, seed } in &opening.tasks {
            let lot = task.lot(self.head.shares_draws);
            if *attempt > MOST_SKIPPED {
                faults.push(Refused::PassedOver(format!("{task}: {attempt} seeds before it, at most {MOST_SKIPPED}")));
            } else if key.seed(&lot, *attempt) != *seed {
                faults.push(Refused::Seed(format!("{task}: {seed} is not what comes from the key")));
            }
            if *attempts.entry(lot).or_insert(*attempt) != *attempt {
                faults.push(Refused::Seed(format!("{task}: another task of its draw has another attempt")));
            }
        }
        let mut next: BTreeMap<[&str; 3], u64> = BTreeMap::new();
        for Lot { pattern, tier, objective, index } in attempts.keys() {
            let next = next.entry([pattern, tier, objective]).or_default();
            if index != next {
                let what = [&**pattern, tier, objective].join(" ");
                faults.push(Refused::PassedOver(format!("{}: number {next} is not there", what.trim_end())));
            }
            *next = index.saturating_add(1);
        }
        faults
    }
}

impl Opening {
    /// Opens a commitment.
    pub fn new(commitment: &Commitment, canary: &str, key: &Key, tasks: Vec<OpenedTask>) -> Opening {
        Opening {
            version: COMMITMENT_VERSION,
            kind: OpeningKind::Opening,
            canary: canary.to_owned(),
            root: commitment.root,
            key: key.to_hex(),
            tasks,
        }
    }
}

impl Proof {
    /// Shows that the task at a place is in a commitment; `None` if nothing is there.
    pub fn new(commitment: &Commitment, tasks: &[CommittedTask], place: usize) -> Option<Proof> {
        let hashes: Vec<Digest> = tasks.iter().map(CommittedTask::hash).collect();
        Some(Proof {
            version: COMMITMENT_VERSION,
            kind: ProofKind::Proof,
            root: commitment.root,
            place: place as u64,
            task: tasks.get(place)?.clone(),
            path: path(&hashes, place)?,
        })
    }
}

impl Revealed {
    /// Its bytes. The same opening or proof has the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Revealed::Opening(opening) => canonical(opening),
            Revealed::Proof(proof) => canonical(proof),
        }
    }

    /// Reads either; whatever is not as this program writes it is refused.
    pub fn read(path: &Path) -> Result<Revealed, StoreError> {
        /// Only the kind, by which the rest is read.
        #[derive(Deserialize)]
        struct Head {
            kind: String,
        }
        let bytes = store::read_file(path, LARGEST_COMMITMENT)?;
        let malformed = |why: String| StoreError::Malformed { path: path.to_owned(), why };
        let Head { kind } = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        match &*kind {
            "opening" => store::document(path, &bytes, COMMITMENT_VERSION).map(Revealed::Opening),
            "proof" => store::document(path, &bytes, COMMITMENT_VERSION).map(Revealed::Proof),
            _ => Err(malformed(format!("`{kind}` is neither an opening nor a proof"))),
        }
    }
}

/// The tasks that stand in a list twice: by id, by what they are, or by their bytes.
fn twice<'a>(tasks: impl IntoIterator<Item = &'a CommittedTask>) -> Vec<Refused> {
    let (mut ids, mut digests, mut places) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut is_new = |task: &'a CommittedTask| {
        // Each is asked, whatever the others say.
        ids.insert(&*task.id) & digests.insert(task.digest) & places.insert((task.kind(), task.index))
    };
    let again = tasks.into_iter().filter(|task| !is_new(task));
    again.map(|task| Refused::Twice(task.to_string())).collect()
}

fn root(head: &CommitmentHead, top: Digest) -> Digest {
    let told = Digest::of(&canonical(head));
    Digest::of(&[&[ROOT], &told.0[..], &head.tasks.to_le_bytes(), &top.0].concat())
}

fn canonical(document: &impl Serialize) -> Vec<u8> {
    crate::task::pretty(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Split, SuiteBars};

    fn key() -> Key {
        Key::new(&[7; 32]).unwrap()
    }

    /// Two kinds of tasks, one of them with twins: places 0 and 1 are of one draw.
    fn tasks() -> Vec<CommittedTask> {
        let task = |at: u8, objective: &str, reading: Option<&str>, index| CommittedTask {
            id: format!("erp-{at}"),
            pattern: "production/a".to_owned(),
            tier: "easy".to_owned(),
            objective: objective.to_owned(),
            reading: reading.map(str::to_owned),
            index,
            digest: Digest::of(&[at]),
        };
        vec![
            task(0, "cheap", Some("day/same"), 0),
            task(1, "cheap", Some("day/next"), 0),
            task(2, "early", None, 0),
            task(3, "early", None, 1),
            task(4, "early", None, 2),
        ]
    }

    fn head() -> CommitmentHead {
        CommitmentHead {
            suite: "five".to_owned(),
            suite_version: 1,
            family: "erp".to_owned(),
            shares_draws: false,
            generator: Generator {
                version: "0.1.0".to_owned(),
                declarations: Digest::of(b"declared"),
                solver: "CP-SAT 9".to_owned(),
                library: "lib".to_owned(),
            },
            key: key().commitment(),
            tasks: 0,
            counts: Vec::new(),
        }
    }

    fn opened(task: CommittedTask, attempt: u32) -> OpenedTask {
        OpenedTask { seed: key().seed(&task.lot(false), attempt), task, attempt }
    }

    /// A commitment with its opening, in which a seed of the last task gave none.
    fn committed() -> (Commitment, Opening) {
        let tasks = tasks();
        let commitment = Commitment::new(head(), &tasks).unwrap();
        let tasks = tasks.into_iter().map(|task| u32::from(task.id == "erp-4")).zip(self::tasks());
        let tasks = tasks.map(|(attempt, task)| opened(task, attempt)).collect();
        let opening = Opening::new(&commitment, crate::CANARY, &key(), tasks);
        (commitment, opening)
    }

    /// What is wrong with an opening, by name.
    fn faults(commitment: &Commitment, opening: &Opening) -> Vec<String> {
        let held = commitment.key_of(opening).map(|_| commitment.root_fault(opening).into_iter().collect());
        let faults: Vec<Refused> = held.unwrap_or_else(|faults| faults);
        faults.iter().map(|fault| fault.to_string().split(':').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_root_is_pinned_and_stands_for_every_figure_of_the_head() {
        let (commitment, opening) = committed();
        assert_eq!(faults(&commitment, &opening), [""; 0]);
        assert_eq!(commitment.head.counts.iter().map(|count| count.tasks).collect::<Vec<_>>(), [1, 1, 3]);
        // Made a second time by hand, with another program's SHA-256 and JSON.
        assert_eq!(commitment.root.to_string(), "e622bd1e934cdfedc6fdd543611c394cd21f136a499f443b3aded14fd5e563f2");
        let change: [fn(&mut CommitmentHead); 5] = [
            |head| head.generator.version = "0.2.0".to_owned(),
            |head| head.suite_version = 2,
            |head| head.key = Digest::of(b"another"),
            |head| head.shares_draws = true,
            |head| head.tasks = 4,
        ];
        for change in change {
            let mut other = commitment.clone();
            change(&mut other.head);
            assert!(other.root_fault(&opening).is_some(), "{:?}", other.head);
        }
        assert_eq!(Commitment::new(head(), &[]), Err(Refused::Empty));
    }

    #[test]
    fn whatever_was_changed_in_an_opening_is_told_by_its_name() {
        type Change = fn(&mut Commitment, &mut Opening);
        let table: &[(&[&str], Change)] = &[
            (&["key"], |_, o| o.key = Key::new(&[8; 32]).unwrap().to_hex()),
            (&["key"], |_, o| o.key = "no key".to_owned()),
            (&["another tree"], |_, o| o.root = Digest::of(b"another")),
            (&["another tree"], |c, _| c.root = Digest::of(b"another")),
            (&["root"], |c, o| {
                c.root = Digest::of(b"another");
                o.root = c.root;
            }),
            (&["root"], |_, o| o.tasks[2].task.digest = Digest::of(b"exchanged")),
            (&["root"], |_, o| o.tasks[2].task.id = "erp-9".to_owned()),
            (&["root"], |_, o| o.tasks.swap(2, 3)),
            (&["root"], |c, _| c.head.generator.declarations = Digest::of(b"others")),
            (&["seed changed"], |_, o| o.tasks[2].seed += 1),
            (&["seed changed"], |_, o| o.tasks[4].attempt = 0),
            // The twin keeps the first attempt: two tasks of one draw do not part.
            (&["seed changed"], |_, o| o.tasks[1] = opened(o.tasks[1].task.clone(), 1)),
            (&["passed over"], |_, o| o.tasks[2].attempt = MOST_SKIPPED + 1),
            (&["passed over"], |_, o| {
                o.tasks[3].task.index = 3;
                o.tasks[3] = opened(o.tasks[3].task.clone(), 0);
            }),
            (&["missing"], |_, o| _ = o.tasks.pop()),
            (&["missing", "passed over"], |_, o| _ = o.tasks.remove(3)),
            (&["missing", "missing", "missing"], |_, o| o.tasks.clear()),
            (&["additional"], |_, o| {
                let task =
                    CommittedTask { id: "erp-5".into(), index: 3, digest: Digest::of(&[5]), ..o.tasks[4].task.clone() };
                o.tasks.push(opened(task, 0));
            }),
            (&["additional", "twice"], |_, o| o.tasks.push(o.tasks[4].clone())),
            (&["twice", "passed over"], |_, o| o.tasks[3] = o.tasks[4].clone()),
            (&["twice"], |_, o| o.tasks[3].task.digest = o.tasks[4].task.digest),
            (&["twice"], |_, o| o.tasks[3].task.id = o.tasks[4].task.id.clone()),
            // One count is wrong: the sum tells, or else the kinds do.
            (&["count"], |c, _| c.head.counts[2].tasks = 2),
            (&["count", "count"], |c, _| {
                c.head.counts[2].tasks = 2;
                c.head.counts[0].tasks = 2;
            }),
            (&["count"], |c, _| c.head.counts.swap(0, 1)),
            (&["count"], |c, _| {
                c.head.counts[0].tasks = 2;
                c.head.counts[1].tasks = 0;
            }),
            (&["count"], |c, _| c.head.counts[0].tasks = u64::MAX),
            (&["empty"], |c, o| {
                (c.head.tasks, c.head.counts) = (0, Vec::new());
                o.tasks.clear();
            }),
        ];
        for (at, (expected, change)) in table.iter().enumerate() {
            let (mut commitment, mut opening) = committed();
            change(&mut commitment, &mut opening);
            assert_eq!(faults(&commitment, &opening), *expected, "change {at}");
        }
    }

    #[test]
    fn a_proof_is_of_its_task_at_its_place_in_its_tree() {
        let (commitment, tasks) = (committed().0, tasks());
        let faults = |commitment: &Commitment, proof: &Proof| -> Vec<String> {
            let faults = commitment.proof_faults(proof);
            faults.iter().map(|fault| fault.to_string().split(':').next().unwrap().to_owned()).collect()
        };
        for place in 0..tasks.len() {
            assert_eq!(faults(&commitment, &Proof::new(&commitment, &tasks, place).unwrap()), [""; 0]);
        }
        assert_eq!(Proof::new(&commitment, &tasks, tasks.len()), None);
        let other = Commitment::new(head(), &tasks[..4]).unwrap();
        type Change = fn(&mut Commitment, &mut Proof);
        let table: &[(&str, Change)] = &[
            ("root", |_, proof| proof.place = 2),
            ("root", |_, proof| proof.place = u64::MAX),
            ("root", |_, proof| proof.path.clear()),
            ("root", |_, proof| proof.path.push(Digest::of(b"more"))),
            ("root", |_, proof| proof.task.digest = Digest::of(b"exchanged")),
            ("root", |_, proof| proof.task.id = "erp-9".to_owned()),
            ("root", |_, proof| proof.task.index = 2),
            ("root", |commitment, _| commitment.head.generator.version = "0.2.0".to_owned()),
            ("additional", |_, proof| proof.task.tier = "hard".to_owned()),
            ("count", |commitment, _| commitment.head.tasks = 6),
            ("empty", |commitment, _| (commitment.head.tasks, commitment.head.counts) = (0, Vec::new())),
        ];
        for (at, (expected, change)) in table.iter().enumerate() {
            let (mut commitment, mut proof) = (commitment.clone(), Proof::new(&commitment, &tasks, 3).unwrap());
            change(&mut commitment, &mut proof);
            assert_eq!(faults(&commitment, &proof)[0], *expected, "change {at}");
        }
        // A proof for another tree, as it is and made to look like one for this tree.
        let mut foreign = Proof::new(&other, &tasks[..4], 3).unwrap();
        assert_eq!(faults(&commitment, &foreign), ["another tree"]);
        foreign.root = commitment.root;
        assert_eq!(faults(&commitment, &foreign), ["root"]);
    }

    #[test]
    fn twins_and_variants_keep_their_draws() {
        let line = |objective: &str, seed, reading: Option<&str>| SuiteTask {
            pattern: "production/a".to_owned(),
            tier: "easy".to_owned(),
            objective: objective.to_owned(),
            seed,
            reading: reading.map(str::to_owned),
            digest: None,
            cluster: None,
        };
        let suite = Suite {
            name: "some".to_owned(),
            version: 1,
            family: "erp".to_owned(),
            split: Split::Test,
            canary: String::new(),
            salt: None,
            inject: 0,
            bars: SuiteBars::default(),
            solver: None,
            unbreakable: BTreeMap::new(),
            tasks: vec![
                line("done", 9, Some("a")),
                line("done", 9, Some("b")),
                line("done", 4, None),
                line("blocked", 4, None),
                line("blocked", 9, None),
            ],
        };
        assert_eq!(indexes(&suite, false), [0, 0, 1, 0, 1]);
        assert_eq!(indexes(&suite, true), [0, 0, 1, 1, 0], "a variant has the draw of what it is a variant of");
    }

    #[test]
    fn documents_are_read_as_they_are_written_and_in_no_other_form() {
        let folder = std::env::temp_dir().join(format!("benchwright-commitment-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("document.json");
        let (commitment, opening) = committed();
        let proof = Proof::new(&commitment, &tasks(), 1).unwrap();
        for revealed in [Revealed::Opening(opening), Revealed::Proof(proof)] {
            std::fs::write(&path, revealed.to_bytes()).unwrap();
            assert_eq!(Revealed::read(&path).unwrap(), revealed);
            assert!(Commitment::read(&path).is_err());
        }
        std::fs::write(&path, commitment.to_bytes()).unwrap();
        assert_eq!(Commitment::read(&path).unwrap(), commitment);
        assert!(Revealed::read(&path).is_err());
        let text = String::from_utf8(commitment.to_bytes()).unwrap();
        for (from, to) in [
            ("\"tasks\": 5", "\"tasks\":  5"),
            ("\"version\": 1", "\"version\": 2"),
            ("  \"root\"", "  \"more\": 1,\n  \"root\""),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            std::fs::write(&path, changed).unwrap();
            assert!(Commitment::read(&path).is_err(), "{from} as {to}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
