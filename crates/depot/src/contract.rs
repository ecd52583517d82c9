//! What all `Objects` do alike, for the tests of whoever implements them.

use crate::{DepotError, Objects};
use std::thread;

/// Names that must be taken as they are: parts that are like folders' names and services' words, dots, and order by bytes.
const NAMES: [&str; 5] = ["a-b/c", "a.b", "a/b", "a/b.c/d..e_", "a0"];
/// What is no name.
const NO_NAMES: [&str; 12] = ["", ".", "..", "../a", "a/../b", "a//b", "/a", "a/", ".a", "a/.b", "A", "a b"];
const THREADS: usize = 16;
const EACH: usize = 8;

/// A promise that is broken, as a sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

/// Holds objects to what they promise, below names that begin with `contract`; nothing may be there before. The first promise that is
/// broken is told.
pub fn contract(objects: &dyn Objects) -> Result<(), Broken> {
    contract_but_for_folders(objects)?;
    folder(objects).map_err(Broken)
}

/// The same for a server that keeps files in folders and fails when a folder is asked for as if it were a file, as `s3s-fs` 0.14 does. Nobody
/// here asks so.
pub fn contract_but_for_folders(objects: &dyn Objects) -> Result<(), Broken> {
    let parts = [empty, names, bytes, refusals, threads];
    parts.iter().try_for_each(|part| part(objects)).map_err(Broken)
}

/// A folder is no file.
fn folder(objects: &dyn Objects) -> Result<(), String> {
    told("put", objects.put("contract/a/b", b"file"))?;
    same("has a folder", told("has", objects.has("contract/a"))?, false)?;
    told("remove", objects.remove("contract/a/b"))
}

fn hold(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Result<(), String> {
    hold(got == expected, || format!("{what}: {got:?} instead of {expected:?}"))
}

fn told<T>(what: &str, result: Result<T, DepotError>) -> Result<T, String> {
    result.map_err(|error| format!("{what}: {error}"))
}

/// Bytes that no two seeds share and that no compression makes small.
fn noise(seed: usize, length: usize) -> Vec<u8> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn empty(objects: &dyn Objects) -> Result<(), String> {
    same("names where nothing is", told("names", objects.names("contract"))?, Vec::new())?;
    same("has where nothing is", told("has", objects.has("contract/a"))?, false)?;
    told("remove where nothing is", objects.remove("contract/a"))?;
    match objects.get("contract/a", 10) {
        Err(DepotError::Missing { place }) => {
            hold(place.ends_with("contract/a"), || format!("{place} is said to be missing"))
        }
        other => Err(format!("get where nothing is: {other:?}")),
    }
}

/// Folders and files may have names that begin alike; what is beside a folder is not in it.
fn names(objects: &dyn Objects) -> Result<(), String> {
    for name in NAMES.iter().rev() {
        told(name, objects.put(&format!("contract/{name}"), name.as_bytes()))?;
    }
    told("beside", objects.put("contract-beside/a", b"beside"))?;
    same("all names", told("names", objects.names("contract"))?, NAMES.map(str::to_owned).to_vec())?;
    same(
        "names of a folder",
        told("names", objects.names("contract/a"))?,
        vec!["b".to_owned(), "b.c/d..e_".to_owned()],
    )?;
    same("names of no folder", told("names", objects.names("contract/a.b"))?, Vec::new())?;
    let all = told("names of all", objects.names(""))?;
    hold(all.is_sorted() && all.iter().any(|name| name == "contract/a/b.c/d..e_"), || {
        format!("names of all: {all:?}")
    })?;
    for file in NAMES {
        let name = format!("contract/{file}");
        same(&name, told(&name, objects.has(&name))?, true)?;
        same(&name, told(&name, objects.get(&name, 100))?, file.as_bytes().to_vec())?;
        told(&name, objects.remove(&name))?;
        same(&name, told(&name, objects.has(&name))?, false)?;
    }
    same("beside is not in it", told("get", objects.get("contract-beside/a", 6))?, b"beside".to_vec())?;
    told("beside", objects.remove("contract-beside/a"))?;
    same("names once all are removed", told("names", objects.names("contract"))?, Vec::new())
}

fn bytes(objects: &dyn Objects) -> Result<(), String> {
    for length in [5 << 20, 0, 1] {
        let bytes = noise(length, length);
        told("put", objects.put("contract/bytes", &bytes))?;
        hold(told("get", objects.get("contract/bytes", length))? == bytes, || {
            format!("{length} bytes come back otherwise")
        })?;
    }
    told("put", objects.put("contract/bytes", b"four"))?;
    match objects.get("contract/bytes", 3) {
        Err(DepotError::TooLarge { most: 3, .. }) => {}
        other => return Err(format!("four bytes where three are read: {other:?}")),
    }
    told("remove", objects.remove("contract/bytes"))
}

fn refusals(objects: &dyn Objects) -> Result<(), String> {
    for name in NO_NAMES {
        let is_name = |result: Result<(), DepotError>| result == Err(DepotError::Name(name.to_owned()));
        hold(is_name(objects.put(name, b"")), || format!("put takes `{name}`"))?;
        hold(is_name(objects.get(name, 1).map(drop)), || format!("get takes `{name}`"))?;
        hold(is_name(objects.remove(name)), || format!("remove takes `{name}`"))?;
        hold(is_name(objects.has(name).map(drop)), || format!("has takes `{name}`"))?;
        hold(name.is_empty() || is_name(objects.names(name).map(drop)), || format!("names takes `{name}`"))?;
    }
    Ok(())
}

/// Threads put names of their own and one that they share, which has the bytes of one of them whenever it is read.
fn threads(objects: &dyn Objects) -> Result<(), String> {
    let shared = |thread: usize| noise(thread, 20_000 + thread);
    told("put", objects.put("contract/shared", &shared(0)))?;
    let work = |thread: usize| -> Result<(), String> {
        for number in 0..EACH {
            let name = format!("contract/{thread:02}/{number}");
            let bytes = noise(thread * EACH + number, 3_000);
            told(&name, objects.put(&name, &bytes))?;
            hold(told(&name, objects.get(&name, 3_000))? == bytes, || format!("{name} comes back otherwise"))?;
            told("put", objects.put("contract/shared", &shared(thread)))?;
            let read = told("get", objects.get("contract/shared", 40_000))?;
            let whose = read.len().wrapping_sub(20_000);
            hold(whose < THREADS && read == shared(whose), || "a file that is shared was read in part".to_owned())?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })?;
    told("remove", objects.remove("contract/shared"))?;
    let left = told("names", objects.names("contract"))?;
    same("files of all threads", left.len(), THREADS * EACH)?;
    left.iter().try_for_each(|name| told(name, objects.remove(&format!("contract/{name}"))))
}
