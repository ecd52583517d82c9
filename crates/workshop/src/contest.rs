//! Suites with secret seeds. An organiser commits to one before anybody is measured, runs it, and opens it afterwards; whoever has the
//! commitment and the opening makes every task again and finds that it was the committed one. What the documents say for themselves
//! is held in [`benchwright_pack::commitment`]; here tasks are made.

use crate::{Error, Made, Shortfall, Temporary, Workshop, recorded::Recorded, runs::Runs, suites, unfinished};
use benchwright_base::Digest;
use benchwright_catalog::Catalog;
use benchwright_pack::{
    Commitment, CommittedTask, Key, Lot, Opening, Proof, Refused, Revealed, Split, Store, Suite, SuiteSolver,
    SuiteTask,
    commitment::{CommitmentHead, Generator, MOST_SKIPPED, OpenedTask, indexes},
    store,
};
use benchwright_project::task_id;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// The public file of a commitment's folder.
const COMMITMENT_FILE: &str = "commitment.json";
/// The folder in it that is kept.
const SECRET_FOLDER: &str = "secret";
/// The version of this generator.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A suite that was committed to.
#[derive(Clone, Debug)]
pub struct Committed {
    /// What is published.
    pub commitment: Commitment,
    /// What is kept: the lock file with the seeds.
    pub suite: Suite,
    /// How many seeds gave no task and were passed over.
    pub passed_over: u32,
}

impl fmt::Display for Committed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, passed_over) = (self.suite.tasks.len(), self.passed_over);
        write!(f, "{tasks} tasks, {passed_over} seeds without one, root {}", self.commitment.root)
    }
}

/// What was found to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verified {
    /// The root of the commitment.
    pub root: Digest,
    /// Tasks that were made again and are the committed ones; none for a proof, which needs no key.
    pub made: usize,
    /// Seeds that were tried again and give no task, as they must.
    pub passed_over: usize,
    /// Tasks of runs and folders that are the committed ones.
    pub scored: usize,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { root, made, passed_over, scored } = self;
        write!(
            f,
            "holds: root {root}, {made} tasks made again, {passed_over} seeds without one, {scored} tasks of runs and folders"
        )
    }
}

/// Tasks that somebody says are the committed ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claimed {
    /// Where they are from, for faults.
    pub from: String,
    /// Their ids, each with its digest.
    pub tasks: Vec<(String, String)>,
}

/// The key in a file. One that is not there is made from the system's randomness, which is told; one that is there is never replaced.
pub fn key_at(path: &Path) -> Result<(Key, bool), Error> {
    let mut bytes = [0; Key::BYTES];
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            getrandom::fill(&mut bytes).map_err(|error| Error::Randomness(error.to_string()))?;
            file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(Error::io(path))?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok((read_key(path)?, false)),
        Err(error) => return Err(Error::io(path)(error)),
    }
    Ok((read_key(path)?, true))
}

/// The key in a file that is there.
pub fn read_key(path: &Path) -> Result<Key, Error> {
    let bad = |why: String| Error::Malformed { path: path.to_owned(), why };
    let mode = fs::metadata(path).map_err(Error::io(path))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(bad(format!("others can reach this key (mode {:o}); chmod 600 it", mode & 0o777)));
    }
    let bytes = store::read_file(path, Key::BYTES)?;
    Key::new(&bytes).ok_or_else(|| bad(format!("a key has {} bytes, this file has {}", Key::BYTES, bytes.len())))
}

/// Commits to a suite with as many tasks of each kind as another, from seeds that come from a key. A seed that gives no task is passed
/// over for the next one of its draw.
pub fn commit(workshop: &Workshop, like: &Suite, key: &Key) -> Result<Committed, Error> {
    if like.tasks.is_empty() {
        return Err(Error::Refused(vec![Refused::Empty]));
    }
    let catalog = workshop.catalog();
    let shares_draws = like.family == benchwright_derive::FAMILY;
    let SuiteSolver { version: solver, library } = suites::solver_for(catalog, like)?.solver;
    let lots: Vec<Lot> = like
        .tasks
        .iter()
        .zip(indexes(like, shares_draws))
        .map(|(line, index)| {
            let objective = if shares_draws { String::new() } else { line.objective.clone() };
            Lot { pattern: line.pattern.clone(), tier: line.tier.clone(), objective, index }
        })
        .collect();
    let mut attempts: BTreeMap<&Lot, u32> = BTreeMap::new();
    let mut suite = Suite {
        split: Split::Committed,
        canary: Split::Committed.canary().to_owned(),
        salt: Some(key.salt()),
        // Nothing in a commitment tells of hostile texts, so there are none.
        inject: 0,
        solver: Some(SuiteSolver { version: solver.clone(), library: library.clone() }),
        // What was found of other tasks says nothing of these.
        unbreakable: BTreeMap::new(),
        ..like.clone()
    };
    let mut ids: Vec<Option<String>> = vec![None; lots.len()];
    while ids.iter().any(Option::is_none) {
        let open: Vec<usize> = (0..lots.len()).filter(|at| ids[*at].is_none()).collect();
        for at in &open {
            let seed = key.seed(&lots[*at], attempts.get(&lots[*at]).copied().unwrap_or_default());
            suite.tasks[*at] = SuiteTask { seed, digest: None, ..suite.tasks[*at].clone() };
        }
        let lines: Vec<&SuiteTask> = open.iter().map(|at| &suite.tasks[*at]).collect();
        let answers = made(workshop, &suite, &lines, ids.len() - open.len())?;
        let mut barren: BTreeSet<&Lot> = BTreeSet::new();
        for (at, answer) in open.into_iter().zip(answers) {
            match answer {
                Ok(made) => {
                    suite.tasks[at].digest = Some(Digest::parse(&made.digest).ok_or(Error::Worker)?);
                    ids[at] = Some(made.id);
                }
                Err(short) if short.barren => _ = barren.insert(&lots[at]),
                Err(short) => return Err(not_made(&suite.tasks[at], &short)),
            }
        }
        for lot in barren {
            let attempt = attempts.entry(lot).or_default();
            *attempt += 1;
            if *attempt > MOST_SKIPPED {
                let Lot { pattern, tier, objective, index } = lot;
                let what = format!("{pattern} {tier} {objective} number {index}: {attempt} seeds gave no task");
                return Err(Error::Refused(vec![Refused::NotMade(what)]));
            }
            // Whoever shares the draw is made again too.
            (0..lots.len()).filter(|at| lots[*at] == *lot).for_each(|at| ids[at] = None);
        }
    }
    let tasks = suite.tasks.iter().zip(ids).zip(&lots);
    let tasks: Option<Vec<CommittedTask>> =
        tasks.map(|((line, id), lot)| CommittedTask::of(line, id?, lot.index)).collect();
    let declarations = declarations(catalog, suite.tasks.iter().map(|line| &*line.pattern));
    let head = CommitmentHead {
        suite: suite.name.clone(),
        suite_version: suite.version,
        family: suite.family.clone(),
        shares_draws,
        generator: Generator { version: VERSION.to_owned(), declarations, solver, library },
        key: key.commitment(),
        tasks: 0,
        counts: Vec::new(),
    };
    let commitment = Commitment::new(head, &tasks.ok_or(Error::Worker)?).map_err(|why| Error::Refused(vec![why]))?;
    // What nobody could open must not be published.
    open(catalog, &commitment, &suite, key)?;
    Ok(Committed { commitment, suite, passed_over: attempts.values().sum() })
}

/// Writes a commitment into a folder: the public file, and the lock file in a folder that only its owner can enter. Neither is ever
/// written over.
pub fn write(committed: &Committed, folder: &Path) -> Result<[PathBuf; 2], Error> {
    let secret = folder.join(SECRET_FOLDER);
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    match fs::DirBuilder::new().mode(0o700).create(&secret) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(Error::io(&secret)(error)),
        _ => {}
    }
    let [public, kept] = [folder.join(COMMITMENT_FILE), secret.join(store::SUITE_FILE)];
    // The public file first: where another commitment stands, nothing of this one is left behind.
    store::write_once(&public, &committed.commitment.to_bytes())?;
    if fs::symlink_metadata(&kept).is_ok() && store::read_suite(&kept)? != committed.suite {
        return Err(Error::Occupied(kept));
    }
    store::write_suite(&kept, &committed.suite)?;
    Ok([public, kept])
}

/// What [`write()`] has written into a folder.
pub fn read(folder: &Path) -> Result<(Commitment, Suite), Error> {
    let commitment = Commitment::read(&folder.join(COMMITMENT_FILE))?;
    let path = folder.join(SECRET_FOLDER).join(store::SUITE_FILE);
    let suite = store::read_suite(&path)?;
    match suite.split {
        Split::Committed => Ok((commitment, suite)),
        _ => Err(Error::Malformed { path, why: "this is no committed suite".to_owned() }),
    }
}

/// The tasks of a committed suite as they stand in the tree.
fn committed(catalog: &Catalog, head: &CommitmentHead, suite: &Suite) -> Result<Vec<CommittedTask>, Error> {
    let mut domains: BTreeMap<&str, String> = BTreeMap::new();
    let mut tasks = Vec::with_capacity(suite.tasks.len());
    for (line, index) in suite.tasks.iter().zip(indexes(suite, head.shares_draws)) {
        let domain = match domains.get(&*line.pattern) {
            Some(domain) => domain,
            None => domains.entry(&line.pattern).or_insert(domain_of(catalog, &line.pattern)?),
        };
        let of = [&*line.pattern, &line.tier, &line.objective];
        let salt = suite.salt_of(line).unwrap_or_default();
        let id = task_id(domain, &salt, of, suite.split.seed(line.seed), line.reading.as_deref());
        let unlocked = || Error::Refused(vec![Refused::Missing(format!("{} has no digest", suites::named(line)))]);
        tasks.push(CommittedTask::of(line, id, index).ok_or_else(unlocked)?);
    }
    Ok(tasks)
}

fn domain_of(catalog: &Catalog, pattern: &str) -> Result<String, Error> {
    if catalog.is_scenario(pattern) {
        let (_, found) = catalog.scenario(pattern).map_err(Error::catalog(pattern))?;
        return Ok(found.domain.name.clone());
    }
    let pattern = catalog.pattern(pattern).map_err(Error::catalog(pattern))?;
    Ok(catalog.find(&pattern.domain).map_err(Error::catalog(&pattern.domain))?.domain.name.clone())
}

/// Opens the commitment of a folder with the key in a file, or shows that the task of an id is in it.
pub fn reveal(catalog: &Catalog, folder: &Path, key: Option<&Path>, task: Option<&str>) -> Result<Revealed, Error> {
    let (commitment, suite) = read(folder)?;
    match key {
        Some(key) => open(catalog, &commitment, &suite, &read_key(key)?).map(Revealed::Opening),
        None => prove(catalog, &commitment, &suite, task.unwrap_or_default()).map(Revealed::Proof),
    }
}

/// Opens a commitment. What does not hold together is not opened: the key is out once it is published.
pub fn open(catalog: &Catalog, commitment: &Commitment, suite: &Suite, key: &Key) -> Result<Opening, Error> {
    let head = &commitment.head;
    if key.commitment() != head.key {
        return Err(Error::Refused(vec![Refused::Key("it is not the one that was committed to".to_owned())]));
    }
    let (mut tasks, mut faults) = (Vec::new(), Vec::new());
    for (task, line) in committed(catalog, head, suite)?.into_iter().zip(&suite.tasks) {
        let lot = task.lot(head.shares_draws);
        match (0..=MOST_SKIPPED).find(|attempt| key.seed(&lot, *attempt) == line.seed) {
            Some(attempt) => tasks.push(OpenedTask { task, attempt, seed: line.seed }),
            None => faults.push(Refused::Seed(format!("{task}: {} is not what comes from the key", line.seed))),
        }
    }
    if !faults.is_empty() {
        return Err(Error::Refused(faults));
    }
    let opening = Opening::new(commitment, &suite.canary, key, tasks);
    commitment.key_of(&opening).map_err(Error::Refused)?;
    match commitment.root_fault(&opening) {
        Some(fault) => Err(Error::Refused(vec![fault])),
        None => Ok(opening),
    }
}

/// Shows that one task is in a commitment, without the key.
pub fn prove(catalog: &Catalog, commitment: &Commitment, suite: &Suite, id: &str) -> Result<Proof, Error> {
    let tasks = committed(catalog, &commitment.head, suite)?;
    let place = tasks.iter().position(|task| task.id == id).ok_or_else(|| Error::NoTask(id.to_owned()))?;
    let proof = Proof::new(commitment, &tasks, place).ok_or(Error::NoTasks)?;
    refused(commitment.proof_faults(&proof))?;
    Ok(proof)
}

/// Holds what was made public to its commitment, and what others say are its tasks to both. Of an opening every task is made again; what
/// could not be made is no verdict but an error.
pub fn verify(
    workshop: &Workshop,
    commitment: &Commitment,
    revealed: &Revealed,
    claimed: &[Claimed],
) -> Result<Verified, Error> {
    let opening = match revealed {
        Revealed::Opening(opening) => opening,
        Revealed::Proof(proof) => {
            refused(commitment.proof_faults(proof))?;
            let has = |claimed: &Claimed| claim_faults(&[&proof.task], claimed, false);
            refused(claimed.iter().flat_map(has).collect())?;
            return Ok(Verified { root: commitment.root, made: 0, passed_over: 0, scored: claimed.len() });
        }
    };
    let head = &commitment.head;
    refused(generator_faults(workshop.catalog(), head))?;
    let key = commitment.key_of(opening).map_err(Error::Refused)?;
    let tasks: Vec<&CommittedTask> = opening.tasks.iter().map(|opened| &opened.task).collect();
    refused(claimed.iter().flat_map(|claimed| claim_faults(&tasks, claimed, true)).collect())?;
    let (mut faults, passed_over) = made_again(workshop, head, opening, &key)?;
    faults.extend(commitment.root_fault(opening));
    refused(faults)?;
    let scored = claimed.iter().map(|claimed| claimed.tasks.len()).sum();
    Ok(Verified { root: commitment.root, made: tasks.len(), passed_over, scored })
}

/// The tasks of a run and of a folder, of those that are given.
pub fn claims(run: Option<&Path>, folder: Option<&Path>, revealed: &Revealed) -> Result<Vec<Claimed>, Error> {
    let folder = folder.map(|folder| of_folder(folder, revealed));
    run.map(of_run).into_iter().chain(folder).collect()
}

/// The tasks of a run that was recorded, by its folder: those of its plan, and those that trials are of.
fn of_run(folder: &Path) -> Result<Claimed, Error> {
    let name = folder.display().to_string();
    // A ledger that is not there would be made.
    if !folder.is_dir() {
        return Err(Error::NoRun(name));
    }
    let run = Recorded::open(&Runs::open(&folder.join(".."))?, Some(&name))?;
    let mut tasks: Vec<(String, String)> =
        run.plan.tasks.iter().map(|task| (task.id.clone(), task.digest.clone())).collect();
    let planned: BTreeSet<String> = tasks.iter().map(|(_, digest)| digest.clone()).collect();
    let mut beside = BTreeSet::new();
    run.each::<Error>(&mut |_, record| {
        if !planned.contains(&record.key.task) {
            beside.insert(record.key.task.clone());
        }
        Ok(())
    })?;
    tasks.extend(beside.into_iter().map(|digest| (digest.clone(), digest)));
    Ok(Claimed { from: format!("the run {}", run.name), tasks })
}

/// The tasks of a folder; of a proof only the one that it is of.
fn of_folder(folder: &Path, revealed: &Revealed) -> Result<Claimed, Error> {
    let store = Store::at(folder);
    let ids = match revealed {
        Revealed::Opening(_) => store.ids()?,
        Revealed::Proof(proof) => vec![proof.task.id.clone()],
    };
    let mut tasks = Vec::with_capacity(ids.len());
    for id in ids {
        let digest = store.unlocked_task(&id)?.digest().to_string();
        tasks.push((id, digest));
    }
    Ok(Claimed { from: folder.display().to_string(), tasks })
}

/// What is wrong with tasks that are said to be these: one is another, one is not among them, or one of them is left out. Of some that are
/// not `whole`, the others are not known and nothing is said of what is beside them.
fn claim_faults(tasks: &[&CommittedTask], claimed: &Claimed, whole: bool) -> Vec<Refused> {
    let by_id: BTreeMap<&str, &&CommittedTask> = tasks.iter().map(|task| (&*task.id, task)).collect();
    let mut left: BTreeSet<&str> = by_id.keys().copied().collect();
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    for (id, digest) in &claimed.tasks {
        if !seen.insert(id) {
            faults.push(Refused::Twice(format!("{id} in {}", claimed.from)));
        }
        match by_id.get(&**id) {
            Some(task) if task.digest.to_string() == *digest => _ = left.remove(&**id),
            Some(task) => {
                left.remove(&**id);
                faults.push(Refused::Exchanged(format!(
                    "{task} is {digest} in {}, {} was committed",
                    claimed.from, task.digest
                )));
            }
            None if whole => faults.push(Refused::Additional(format!("{id} of {} was not committed", claimed.from))),
            None => {}
        }
    }
    let missing = left.into_iter().filter_map(|id| by_id.get(id));
    faults.extend(missing.map(|task| Refused::Missing(format!("{task} is not in {}", claimed.from))));
    faults
}

fn declarations<'a>(catalog: &Catalog, patterns: impl Iterator<Item = &'a str>) -> Digest {
    Digest::of(unfinished::declared(catalog, patterns, false).as_bytes())
}

/// That this program is not the one that a suite was made with.
fn generator_faults(catalog: &Catalog, head: &CommitmentHead) -> Vec<Refused> {
    let Generator { version, declarations: declared, .. } = &head.generator;
    let mut faults = Vec::new();
    if version != VERSION {
        faults.push(Refused::Version(format!("it was made with {version}, this is {VERSION}; take that program")));
    } else if declarations(catalog, head.counts.iter().map(|count| &*count.pattern)) != *declared {
        let why =
            "its patterns and domains are declared otherwise here; take the same program, --patterns and --domains";
        faults.push(Refused::Version(why.to_owned()));
    }
    faults
}

/// Makes every task of an opening again, and tries every seed that was passed over. What differs, and how many seeds gave no task.
fn made_again(
    workshop: &Workshop,
    head: &CommitmentHead,
    opening: &Opening,
    key: &Key,
) -> Result<(Vec<Refused>, usize), Error> {
    let line = |task: &CommittedTask, seed: u64| SuiteTask {
        pattern: task.pattern.clone(),
        tier: task.tier.clone(),
        objective: task.objective.clone(),
        seed,
        reading: task.reading.clone(),
        digest: None,
        cluster: None,
    };
    let Generator { solver, library, .. } = &head.generator;
    let mut suite = Suite {
        name: head.suite.clone(),
        version: head.suite_version,
        family: head.family.clone(),
        split: Split::Committed,
        canary: opening.canary.clone(),
        salt: Some(key.salt()),
        inject: 0,
        bars: benchwright_pack::SuiteBars::default(),
        solver: Some(SuiteSolver { version: solver.clone(), library: library.clone() }),
        unbreakable: BTreeMap::new(),
        tasks: opening.tasks.iter().map(|opened| line(&opened.task, opened.seed)).collect(),
    };
    suites::solver_of(workshop.catalog(), &suite)?;
    // A draw is passed over if any of its tasks cannot be made.
    let mut passed: Vec<(Lot, u32)> = Vec::new();
    for OpenedTask { task, attempt, .. } in &opening.tasks {
        let lot = task.lot(head.shares_draws);
        for earlier in 0..*attempt {
            suite.tasks.push(line(task, key.seed(&lot, earlier)));
            passed.push((lot.clone(), earlier));
        }
    }
    let lines: Vec<&SuiteTask> = suite.tasks.iter().collect();
    let mut answers = made(workshop, &suite, &lines, 0)?.into_iter();
    let mut faults = Vec::new();
    for (OpenedTask { task, .. }, answer) in opening.tasks.iter().zip(answers.by_ref()) {
        match answer {
            Ok(made) if made.id == task.id && made.digest == task.digest.to_string() => {}
            Ok(made) => {
                let message =
                    format!("{task} is {} in the opening; the key gives {} {}", task.digest, made.id, made.digest);
                faults.push(Refused::Exchanged(message));
            }
            Err(short) => faults.push(Refused::NotMade(format!("{task}: {}", short.why))),
        }
    }
    let mut tried: BTreeMap<(Lot, u32), Vec<Result<Made, Shortfall>>> = BTreeMap::new();
    for (draw, answer) in passed.into_iter().zip(answers) {
        tried.entry(draw).or_default().push(answer);
    }
    let draws = tried.len();
    for ((Lot { pattern, tier, objective, index }, earlier), answers) in tried {
        let what = format!("{pattern} {tier} {objective} number {index}, seed {earlier}");
        if answers.iter().any(|answer| matches!(answer, Err(short) if short.barren)) {
            continue;
        }
        faults.push(match answers.into_iter().find_map(Result::err) {
            Some(short) => Refused::NotMade(format!("{what}: {}", short.why)),
            None => Refused::PassedOver(format!("{what} gives a task")),
        });
    }
    Ok((faults, draws))
}

/// Makes tasks for their digests alone.
fn made(
    workshop: &Workshop,
    suite: &Suite,
    lines: &[&SuiteTask],
    kept: usize,
) -> Result<Vec<Result<Made, Shortfall>>, Error> {
    let folder = Temporary::new().map_err(Error::io(Path::new("a temporary folder")))?;
    let answers = workshop.make_all(suite, lines, &Store::at(folder.path()), kept, &mut |_, _| ());
    answers.into_iter().map(|answer| answer.ok_or(Error::Cancelled)).collect()
}

fn not_made(line: &SuiteTask, short: &Shortfall) -> Error {
    Error::Refused(vec![Refused::NotMade(format!("{}: {}", suites::named(line), short.why))])
}

fn refused(faults: Vec<Refused>) -> Result<(), Error> {
    if faults.is_empty() { Ok(()) } else { Err(Error::Refused(faults)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{host::StoreHost, play::Offer, rows};

    /// Requests of which most draws cannot be carried out for one reason and blocked for the other.
    fn pairs() -> Suite {
        let line = |objective: &str, seed| SuiteTask {
            pattern: "email/forward-while-away".to_owned(),
            tier: "hard".to_owned(),
            objective: objective.to_owned(),
            seed,
            reading: None,
            digest: None,
            cluster: None,
        };
        Suite {
            name: "pairs".to_owned(),
            version: 1,
            family: benchwright_derive::FAMILY.to_owned(),
            split: Split::Test,
            canary: String::new(),
            salt: None,
            inject: 0,
            bars: benchwright_pack::SuiteBars::default(),
            solver: None,
            unbreakable: BTreeMap::new(),
            tasks: (1..4).flat_map(|seed| [line("done", seed), line("never-verified", seed)]).collect(),
        }
    }

    #[test]
    fn a_seed_without_a_task_is_passed_over_and_tried_again_and_pairs_stay_pairs() {
        let workshop = Workshop::new(Catalog::built_in());
        let catalog = workshop.catalog();
        let mut keys = (1..).filter_map(|byte| Key::new(&[byte; Key::BYTES]));
        let mut tried = keys.by_ref().map(|key| (commit(&workshop, &pairs(), &key).unwrap(), key));
        let (committed, key) = tried.find(|(committed, _)| committed.passed_over > 0).unwrap();
        let Committed { commitment, suite, passed_over } = &committed;
        assert_eq!(commitment.head.counts.iter().map(|count| count.tasks).collect::<Vec<_>>(), [3, 3]);
        assert!(
            suite.tasks.chunks(2).all(|pair| pair[0].seed == pair[1].seed),
            "a variant has the draw of its request"
        );
        let opening = open(catalog, commitment, suite, &key).unwrap();
        let verified = verify(&workshop, commitment, &Revealed::Opening(opening.clone()), &[]).unwrap();
        assert_eq!((verified.made, verified.passed_over), (6, *passed_over as usize));
        // A lock file with an earlier seed is one with a task that cannot be made.
        let late = opening.tasks.iter().position(|opened| opened.attempt > 0).unwrap();
        let mut early = opening.clone();
        for opened in early.tasks.iter_mut().filter(|opened| opened.task.index == opening.tasks[late].task.index) {
            opened.attempt -= 1;
            opened.seed = key.seed(&opened.task.lot(true), opened.attempt);
        }
        let refused = verify(&workshop, commitment, &Revealed::Opening(early), &[]).unwrap_err().to_string();
        assert!(refused.contains("not made: "), "{refused}");

        // What a run tells of a pair is the same for both and tells no seed; nobody trains on them.
        let folder = Temporary::new().unwrap();
        let built = workshop.build(suite, folder.path()).unwrap();
        assert!(built.short.is_empty());
        let host = StoreHost::new(catalog, Store::at(folder.path()));
        let pair = |at: usize| host.line(&opening.tasks[at].task.id).unwrap().pair.unwrap();
        assert_eq!(pair(0), pair(1));
        assert_ne!(pair(0), pair(2));
        assert!(Digest::parse(&pair(0)).is_some(), "{}", pair(0));
        let options = rows::RowsOptions { offered: Offer::All, each: 1, of_locked: false };
        let rows = rows::sft(&workshop, &Store::at(folder.path()), &options, &folder.path().join("rows"));
        assert!(matches!(rows, Err(Error::TestSplit(_))));
    }

    #[test]
    fn seeds_of_a_committed_suite_are_not_chosen_and_nothing_is_no_commitment() {
        let catalog = Catalog::built_in();
        let chosen = |split, seeds| suites::of_pattern(&catalog, "grid/travel", "h01-b00", None, split, seeds);
        assert!(matches!(chosen(Split::Committed, 1..2), Err(Error::Uncommitted)));
        for split in [Split::Test, Split::Train] {
            assert!(chosen(split, suites::LARGEST_SEED - 1..suites::LARGEST_SEED).is_ok());
            assert!(matches!(chosen(split, Split::NUMBERS..Split::NUMBERS + 1), Err(Error::Count { .. })));
        }
        let nothing = Suite { tasks: Vec::new(), ..chosen(Split::Test, 1..2).unwrap() };
        let key = Key::new(&[1; Key::BYTES]).unwrap();
        let refused = commit(&Workshop::new(catalog), &nothing, &key).unwrap_err();
        assert!(matches!(&refused, Error::Refused(faults) if faults[..] == [Refused::Empty]), "{refused}");
    }
}
