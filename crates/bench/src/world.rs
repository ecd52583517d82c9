//! `bench world`: the reference episode in the sandbox and in bare SQLite. An episode is a reset, twenty calls and ten
//! checks; ours also makes the exact difference from the start and the hash of the state, and keeps the trace. Before
//! anything is timed, every answer and every check of every script is compared between the two.

mod figures;
#[cfg(test)]
mod generate;
mod reference;
mod script;
mod session;
mod sqlite;

use super::measure::{median, nanoseconds, resident_bytes};
use crate::error::{Error, OrWrong as _, Result, wrong};
use benchwright_pack::Snapshot;
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::Seat;
use figures::Figures;
use script::{Script, WRITES};
use session::Session;
use sqlite::{Buffers, Sqlite};
use std::{hint::black_box, sync::Arc};

/// How long the run is.
struct Length {
    /// Blocks of each variant.
    rounds: usize,
    /// Passes over all scripts in one block of ours; SQLite makes fewer, for it is slower.
    passes: usize,
    sqlite_passes: usize,
    /// Forks and resets in one batch.
    batch: usize,
}

/// Live episodes when their memory is measured, after as many again as fill what the allocator had free.
const LIVE: usize = 10_000;
const LIVE_BEFORE: usize = 3_000;

/// Runs it.
pub(super) fn run(quick: bool) -> Result<Figures> {
    let length = match quick {
        true => Length { rounds: 5, passes: 4, sqlite_passes: 2, batch: 2_000 },
        false => Length { rounds: 15, passes: 12, sqlite_passes: 5, batch: 5_000 },
    };
    let domain = reference::domain()?;
    let scripts = script::scripts(&domain)?;
    let snapshot = reference::snapshot(&domain, reference::ROWS)?;
    let (world_load_ms, sandbox) = load(&domain, &snapshot, length.rounds)?;
    let sqlite = Sqlite::open(&domain, &snapshot)?;
    let mut episode = begin(&sandbox)?;

    let calls_compared = compare(&mut episode, &sqlite, &scripts)?;

    let (mut ours, mut bare, mut with_session) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..length.rounds {
        ours.push(episodes_per_second(&scripts, length.passes, |script| our_episode(&mut episode, script))?);
        bare.push(episodes_per_second(&scripts, length.sqlite_passes, |script| bare_episode(&sqlite, script))?);
        with_session.push(episodes_per_second(&scripts, 1, |script| session_episode(&sqlite, script))?);
    }
    drop(sqlite);
    let (episodes_per_s, sqlite_episodes_per_s) = (median(ours), median(bare));
    let sqlite_session_episodes_per_s = median(with_session);

    let small = small_figures(&sandbox, &scripts, &length)?;
    let live_bytes = live_bytes(&sandbox, &scripts)?;

    let large_snapshot = reference::snapshot(&domain, reference::LARGE_ROWS)?;
    let (large_world_load_ms, large) = load(&domain, &large_snapshot, 3)?;
    drop(large_snapshot);
    let large_world_call_ratio = call_ratio(&sandbox, &large, &scripts, &length)?;
    Ok(Figures {
        quick,
        episodes_per_s,
        sqlite_episodes_per_s,
        sqlite_session_episodes_per_s,
        reset_ns: small.reset_ns,
        fork_ns: small.fork_ns,
        fork_write_drop_ns: small.fork_write_drop_ns,
        diff_ns: small.diff_ns,
        live_bytes,
        large_world_call_ratio,
        world_load_ms,
        large_world_load_ms,
        calls_compared,
    })
}

/// The world of a snapshot, and the milliseconds that it takes to be made.
fn load(domain: &Arc<Domain>, snapshot: &Snapshot, times: usize) -> Result<(f64, Arc<Sandbox>)> {
    let mut spent = Vec::new();
    let mut made = None;
    for _ in 0..times {
        made = None;
        spent.push(nanoseconds(|| {
            made = Some(Sandbox::from_snapshot(Arc::clone(domain), &[], snapshot)?);
            Ok(())
        })?);
    }
    Ok((median(spent) / 1e6, Arc::new(made.or_wrong(|| "nothing was loaded")?)))
}

fn begin(sandbox: &Arc<Sandbox>) -> Result<Episode> {
    Ok(sandbox.begin(&Seat { role: "agent".to_owned(), actor: None }, Conditions::default())?)
}

fn call(episode: &mut Episode, call: &script::Call) -> Result<String> {
    episode
        .call(&call.tool, &call.arguments)
        .map_err(|refusal| Error::Wrong(format!("{} was refused: {refusal}", call.tool)))
}

/// Compares every answer, every check and the size of every difference. Returns how many calls were compared.
fn compare(episode: &mut Episode, sqlite: &Sqlite, scripts: &[Script]) -> Result<usize> {
    let mut compared = 0;
    let mut buffers = Buffers::default();
    for script in scripts {
        episode.reset();
        let first = episode.state_hash();
        sqlite.begin()?;
        for made in &script.calls {
            let answer = call(episode, made)?;
            sqlite.call(&made.tool, &made.arguments, &mut buffers)?;
            if answer.as_bytes() != buffers.answer {
                let theirs = String::from_utf8_lossy(&buffers.answer);
                wrong!(
                    "{} {} is answered\n  {answer}\nby the sandbox and\n  {theirs}\nby SQLite",
                    made.tool,
                    made.arguments
                );
            }
            compared += 1;
        }
        for check in &script.checks {
            let (holds, count) = (episode.holds(&check.expr), sqlite.count(check)?);
            if i64::from(holds) != count {
                wrong!("a check is {holds} in the sandbox, and SQLite counts {count}: {}", check.sql);
            }
        }
        sqlite.reset()?;
        let changes = episode.diff().changes.len();
        let recorded = session_rows(sqlite, script)?;
        if changes != recorded || changes != WRITES.len() {
            wrong!("{} writes make {changes} changes in the sandbox and {recorded} in SQLite", WRITES.len());
        }
        if episode.state_hash() == first || episode.state_hash() != episode.state_hash_from_scratch() {
            wrong!("the hash of the state is not what its rows say");
        }
    }
    Ok(compared)
}

fn session_rows(sqlite: &Sqlite, script: &Script) -> Result<usize> {
    sqlite.begin()?;
    let recorded = record(sqlite, script)?.rows()?;
    sqlite.reset()?;
    Ok(recorded)
}

fn episodes_per_second(
    scripts: &[Script],
    passes: usize,
    mut episode: impl FnMut(&Script) -> Result<()>,
) -> Result<f64> {
    let spent = nanoseconds(|| (0..passes).try_for_each(|_| scripts.iter().try_for_each(&mut episode)))?;
    Ok((passes * scripts.len()) as f64 / (spent / 1e9))
}

/// Reset, calls, checks, exact difference, hash; the trace is kept until the next reset.
fn our_episode(episode: &mut Episode, script: &Script) -> Result<()> {
    episode.reset();
    for made in &script.calls {
        black_box(call(episode, made)?);
    }
    for check in &script.checks {
        black_box(episode.holds(&check.expr));
    }
    black_box(episode.diff());
    black_box(episode.state_hash());
    Ok(())
}

/// Savepoint, calls, checks, rollback.
fn bare_episode(sqlite: &Sqlite, script: &Script) -> Result<()> {
    sqlite.begin()?;
    bare_calls(sqlite, script)?;
    sqlite.reset()
}

fn bare_calls(sqlite: &Sqlite, script: &Script) -> Result<()> {
    let mut buffers = Buffers::default();
    for made in &script.calls {
        sqlite.call(&made.tool, &made.arguments, &mut buffers)?;
        black_box(&buffers.answer);
    }
    for check in &script.checks {
        black_box(sqlite.count(check)?);
    }
    Ok(())
}

/// The same with the session extension's changes as the difference.
fn session_episode(sqlite: &Sqlite, script: &Script) -> Result<()> {
    sqlite.begin()?;
    black_box(record(sqlite, script)?);
    sqlite.reset()
}

fn record(sqlite: &Sqlite, script: &Script) -> Result<session::Changeset> {
    let session = Session::start(sqlite.connection())?;
    bare_calls(sqlite, script)?;
    session.changeset()
}

/// What takes less than a microsecond or a few of them.
struct Small {
    reset_ns: f64,
    fork_ns: f64,
    fork_write_drop_ns: f64,
    diff_ns: f64,
}

fn small_figures(sandbox: &Arc<Sandbox>, scripts: &[Script], length: &Length) -> Result<Small> {
    let (mut resets, mut forks, mut writes, mut diffs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..length.rounds {
        let script = &scripts[round % scripts.len()];
        let mut middle = begin(sandbox)?;
        for made in &script.calls {
            call(&mut middle, made)?;
        }
        let batch = length.batch as f64;
        // The forks share what was written, so this is the reset alone, without freeing the rows of an episode.
        let mut copies: Vec<Episode> = (0..length.batch).map(|_| middle.fork()).collect();
        resets.push(
            nanoseconds(|| {
                copies.iter_mut().for_each(|copy| black_box(copy).reset());
                Ok(())
            })? / batch,
        );
        drop(copies);
        forks.push(
            nanoseconds(|| {
                (0..length.batch).for_each(|_| drop(black_box(middle.fork())));
                Ok(())
            })? / batch,
        );
        diffs.push(
            nanoseconds(|| {
                (0..length.batch).for_each(|_| drop(black_box(middle.diff())));
                Ok(())
            })? / batch,
        );
        let mut readers = Vec::new();
        for script in scripts {
            let mut reader = begin(sandbox)?;
            for made in &script.calls[..WRITES.start] {
                call(&mut reader, made)?;
            }
            readers.push((reader, &script.calls[WRITES.start]));
        }
        let passes = length.batch.div_ceil(readers.len());
        let spent = nanoseconds(|| {
            for _ in 0..passes {
                for (reader, update) in &readers {
                    let mut fork = reader.fork();
                    black_box(call(&mut fork, update)?);
                }
            }
            Ok(())
        })?;
        writes.push(spent / (passes * readers.len()) as f64);
    }
    let (reset_ns, fork_ns) = (median(resets), median(forks));
    Ok(Small { reset_ns, fork_ns, fork_write_drop_ns: median(writes), diff_ns: median(diffs) })
}

/// How much the process grows with each live episode that has made its eight writes and keeps its trace.
fn live_bytes(sandbox: &Arc<Sandbox>, scripts: &[Script]) -> Result<Option<f64>> {
    let first = begin(sandbox)?;
    let mut live: Vec<Episode> = Vec::with_capacity(LIVE_BEFORE + LIVE);
    let mut before = None;
    for (at, script) in scripts.iter().cycle().take(LIVE_BEFORE + LIVE).enumerate() {
        if at == LIVE_BEFORE {
            before = resident_bytes();
        }
        let mut fork = first.fork();
        for made in &script.calls[WRITES] {
            call(&mut fork, made)?;
        }
        live.push(fork);
    }
    let after = resident_bytes();
    black_box(&live);
    Ok(before.zip(after).map(|(before, after)| after.saturating_sub(before) as f64 / LIVE as f64))
}

/// What a call costs in the large world, as a multiple of what it costs in the reference world.
fn call_ratio(small: &Arc<Sandbox>, large: &Arc<Sandbox>, scripts: &[Script], length: &Length) -> Result<f64> {
    let (mut small, mut large) = (begin(small)?, begin(large)?);
    let calls = |episode: &mut Episode, script: &Script| {
        episode.reset();
        script.calls.iter().try_for_each(|made| call(episode, made).map(|answer| drop(black_box(answer))))
    };
    let mut ratios = Vec::new();
    // The first block warms what the later ones use.
    for _ in 0..=length.rounds {
        let fast = episodes_per_second(scripts, length.passes / 2, |script| calls(&mut small, script))?;
        let slow = episodes_per_second(scripts, length.passes / 2, |script| calls(&mut large, script))?;
        ratios.push(fast / slow);
    }
    Ok(median(ratios.split_off(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> (Episode, Sqlite, Vec<Script>) {
        let domain = reference::domain().unwrap();
        let snapshot = reference::snapshot(&domain, reference::ROWS).unwrap();
        let sandbox = Arc::new(Sandbox::from_snapshot(Arc::clone(&domain), &[], &snapshot).unwrap());
        let scripts = script::scripts(&domain).unwrap();
        (begin(&sandbox).unwrap(), Sqlite::open(&domain, &snapshot).unwrap(), scripts)
    }

    #[test]
    fn both_engines_answer_every_script_alike() {
        let (mut episode, sqlite, scripts) = both();
        assert_eq!(compare(&mut episode, &sqlite, &scripts).unwrap(), 164 * 20);
    }

    #[test]
    fn what_the_sandbox_refuses_sqlite_refuses() {
        let (mut episode, sqlite, _) = both();
        let new = |set: &str| format!(r#"{{"parent_id":1,"owner_id":1,"name":"n"{set}}}"#);
        let cases = [
            ("a step back in the lifecycle", "t000_update", r#"{"id":3,"status":"open"}"#.to_owned()),
            ("a new row that is not new", "t000_create", new(r#","status":"open""#)),
            ("a name that is taken", "t000_create", new("").replace(r#""n""#, r#""name of record 0-1""#)),
            ("a number out of bounds", "t000_create", new(r#","qty":10000001"#)),
            ("an amount below zero", "t000_create", new(r#","amount":-0.01"#)),
            ("a name that is too long", "t000_create", new("").replace(r#""n""#, &format!("{:?}", "n".repeat(81)))),
            ("a word that is none", "t000_update", r#"{"id":1,"status":"gone"}"#.to_owned()),
            ("a parent that is not there", "t000_create", new("").replace(r#""parent_id":1"#, r#""parent_id":999"#)),
            ("no name", "t000_create", r#"{"parent_id":1,"owner_id":1}"#.to_owned()),
            ("an assignee of another owner", "t000_create", new(r#","assigned_to":2"#)),
            ("a row that is not there", "t000_get", r#"{"id":999}"#.to_owned()),
        ];
        let mut buffers = Buffers::default();
        for (what, tool, arguments) in cases {
            assert!(episode.call(tool, &arguments).is_err(), "the sandbox takes {what}");
            assert!(sqlite.call(tool, &arguments, &mut buffers).is_err(), "SQLite takes {what}");
        }
        assert!(episode.call("t000_create", &new("")).is_ok());
        assert!(sqlite.call("t000_create", &new(""), &mut buffers).is_ok());
    }
}
