//! Rows for training of the tasks of a folder: the certified way of each and other ways as dialogues, near-misses beside it as pairs, or the
//! trials of a recorded run. Every row is played and judged while it is written.
//!
//! Tasks of the test split are there to measure with. They give rows only to who says so, and the rows say of what split they are.

use crate::{
    Answer, AttemptsRequest, Error, Request, Workshop,
    dialogues::{Scene, Teller},
    host::StoreHost,
    play::Offer,
    progress::Work,
    recorded::{Recorded, Which},
    work::pool::{self, Event},
};
use benchwright_audit::Attempt;
use benchwright_export::{Dialogue, Pair, RowsFolder, RowsSummary, dialogue::TrialFacts};
use benchwright_pack::{Split, Store, Task};
use std::{collections::BTreeMap, path::Path};

/// Tasks whose ways are looked for at a time, and tasks whose rows are held at a time.
const ASKED: usize = 1_000;
const HELD: usize = 50;

/// What rows are made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowsOptions {
    /// The tools that are offered in them.
    pub offered: Offer,
    /// Ways of each task beside the certified one that earn everything, if there are; or pairs of each task.
    pub each: usize,
    /// Also of tasks that are there to measure with.
    pub of_locked: bool,
}

/// What was written, and the tasks that no pair could be made of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// How much.
    pub rows: RowsSummary,
    /// The tasks that have a row.
    pub tasks: usize,
    /// Tasks without one, each with the reason.
    pub without: Vec<(String, String)>,
}

/// Writes dialogues of the tasks of a folder: the certified way of each, and other ways where some are asked for.
pub fn sft(workshop: &Workshop, store: &Store, options: &RowsOptions, out: &Path) -> Result<Written, Error> {
    let mut rows = RowsFolder::sft(out)?;
    let mut written = Written::default();
    let told = |scene: &Scene<'_>, ways: &[Attempt]| {
        let others = ways.iter().map(|attempt| scene.attempt(attempt));
        std::iter::once(scene.oracle()).chain(others).collect::<Result<Vec<Dialogue>, Error>>()
    };
    each_task(workshop, store, options, (0, options.each), &told, &mut |_, dialogues: Vec<Dialogue>| {
        written.tasks += 1;
        dialogues.iter().try_for_each(|dialogue| Ok(rows.add(dialogue)?))
    })?;
    written.rows = rows.finish()?;
    Ok(written)
}

/// Writes pairs of the tasks of a folder: the certified way, and beside it ways that break a rule.
pub fn preferences(workshop: &Workshop, store: &Store, options: &RowsOptions, out: &Path) -> Result<Written, Error> {
    let mut rows = RowsFolder::preferences(out)?;
    let mut written = Written::default();
    let told = |scene: &Scene<'_>, ways: &[Attempt]| {
        let chosen = scene.oracle()?;
        let pair = |attempt: &Attempt| {
            let rejected = scene.attempt(attempt)?;
            let (rule, what) = (attempt.rule.clone().unwrap_or_default(), attempt.what.clone());
            Ok(Pair { chosen: chosen.with_tools_of(&rejected), rejected, rule, what })
        };
        ways.iter().map(pair).collect::<Result<Vec<Pair>, Error>>()
    };
    each_task(workshop, store, options, (options.each, 0), &told, &mut |id, pairs: Vec<Pair>| {
        match pairs.is_empty() {
            true => written.without.push((id.to_owned(), "no near-miss of it was found".to_owned())),
            false => written.tasks += 1,
        }
        pairs.iter().try_for_each(|pair| Ok(rows.add_pair(pair)?))
    })?;
    written.rows = rows.finish()?;
    Ok(written)
}

/// Writes dialogues of the trials of a recorded run.
pub fn of_run(
    workshop: &Workshop,
    run: &Recorded,
    tasks: &Path,
    options: &RowsOptions,
    which: Which<'_>,
    out: &Path,
) -> Result<Written, Error> {
    let store = Store::at(tasks);
    let mut rows = RowsFolder::sft(out)?;
    let mut written = Written::default();
    let mut add = |trial: TrialFacts| {
        let id = trial.task.id;
        if trial.task.split != Split::Train.word() && !options.of_locked {
            return Err(Error::TestSplit(id));
        }
        match trial.end {
            Ok(dialogue) => {
                written.tasks += 1;
                rows.add(&dialogue)?;
            }
            Err((cause, detail)) => written.without.push((id, format!("trial {}: {cause}: {detail}", trial.number))),
        }
        Ok(())
    };
    run.trials(workshop, store.root(), &options.offered, which, &mut add)?;
    written.rows = rows.finish()?;
    Ok(written)
}

/// What is told of a task, and to whom it is given, in the order of the folder.
type Told<'t, T> = dyn Fn(&Scene<'_>, &[Attempt]) -> Result<T, Error> + Sync + 't;

/// Tells every task of a folder on all cores, after its ways were found: so many that break a rule, and so many that do not.
fn each_task<T: Send>(
    workshop: &Workshop,
    store: &Store,
    options: &RowsOptions,
    ways: (usize, usize),
    told: &Told<'_, T>,
    each: &mut dyn FnMut(&str, T) -> Result<(), Error>,
) -> Result<(), Error> {
    let ids = store.ids()?;
    if ids.is_empty() {
        return Err(Error::NoTasksIn(store.root().to_owned()));
    }
    // Nothing takes long before it is known that rows may be made.
    if !options.of_locked {
        for id in &ids {
            may_train(&store.task(id)?)?;
        }
    }
    for (nth, asked) in ids.chunks(ASKED).enumerate() {
        let mut found = match ways {
            (0, 0) => BTreeMap::new(),
            _ => attempts(workshop, store, asked, ways, nth * ASKED)?,
        };
        let mut work = Work::begin(workshop.progress(), "rows", nth * ASKED, ids.len());
        for ids in asked.chunks(HELD) {
            let host = StoreHost::new(workshop.catalog(), Store::at(store.root()));
            let teller = Teller::new(workshop.catalog(), &host, options.offered.clone());
            let tell = |(): &mut (), id: &String| {
                let told = || {
                    let task = store.task(id)?;
                    told(&teller.scene(&task)?, found.get(id).map_or(&[][..], |ways| ways))
                };
                Ok::<Result<T, Error>, String>(told())
            };
            let answers = pool::run(ids, workshop.jobs(), workshop.cancel(), &|| (), &tell, &mut |event| match event {
                Event::Begun(at) => work.begun(&ids[at]),
                Event::Answered(at, _) => work.done(&ids[at]),
            });
            for (id, answer) in ids.iter().zip(answers) {
                match answer {
                    Some(Ok(told)) => each(id, told?)?,
                    Some(Err(why)) => return Err(Error::Row { id: id.clone(), why }),
                    None => return Err(Error::Cancelled),
                }
            }
        }
        found.clear();
    }
    Ok(())
}

/// Refuses a task that is there to measure with.
fn may_train(task: &Task) -> Result<(), Error> {
    match task.sealed.split {
        Split::Train => Ok(()),
        Split::Test | Split::Committed => Err(Error::TestSplit(task.open.id.clone())),
    }
}

/// Ways through tasks, found by workers: a solver may be asked, which is native code.
fn attempts(
    workshop: &Workshop,
    store: &Store,
    ids: &[String],
    (near_misses, other_ways): (usize, usize),
    kept: usize,
) -> Result<BTreeMap<String, Vec<Attempt>>, Error> {
    let request = |id: &String| {
        Request::Attempts(AttemptsRequest { store: store.root().to_owned(), id: id.clone(), near_misses, other_ways })
    };
    let requests: Vec<Request> = ids.iter().map(request).collect();
    let answers = workshop.ask("finding ways", &requests, kept, &mut |_, _| ());
    let mut found = BTreeMap::new();
    for (id, answer) in ids.iter().zip(answers) {
        let why = match answer {
            None => return Err(Error::Cancelled),
            Some(Ok(Answer::Attempts(ways))) => {
                found.insert(id.clone(), ways);
                continue;
            }
            Some(Ok(Answer::Failed(failed))) => failed.why,
            Some(Ok(Answer::Made(_) | Answer::Audited(_))) => return Err(Error::Worker),
            Some(Err(why)) => why,
        };
        return Err(Error::Row { id: id.clone(), why });
    }
    Ok(found)
}
