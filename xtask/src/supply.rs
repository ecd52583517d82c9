//! What comes from others, held to `deny.toml`: every crate of the lock file has a licence that is allowed, comes from crates.io and not
//! from somewhere else, is there in one version but for those that are named, and is none that is banned. `cargo deny` reads the same
//! file; it takes longer to install than all else that CI does, and wants a network for its advisories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::{Fault, Outcome};

const FILE: &str = "deny.toml";
/// How cargo names crates.io, wherever it really fetches from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The parts of `deny.toml` that can be held without a network.
#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Banned>,
    skip: Vec<Banned>,
}

#[derive(Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

/// Holds the lock file to `deny.toml`.
pub fn run(root: &Path) -> Result<Outcome> {
    let text = std::fs::read_to_string(root.join(FILE)).context(FILE)?;
    let deny: Deny = toml::from_str(&text).context(FILE)?;
    let metadata = crate::release::metadata(root)?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` has no `packages`")?;
    let others = packages.iter().filter(|package| !package["source"].is_null());
    let crates: Vec<Crate<'_>> = others.map(Crate::of).collect();
    Ok(Outcome { seen: format!("{} crates of others", crates.len()), faults: faults(&deny, &crates) })
}

/// A crate of others.
#[derive(Clone, Copy)]
struct Crate<'a> {
    name: &'a str,
    version: &'a str,
    source: &'a str,
    licence: &'a str,
}

impl<'a> Crate<'a> {
    fn of(package: &'a Value) -> Crate<'a> {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        Crate { name: text("name"), version: text("version"), source: text("source"), licence: text("license") }
    }
}

fn faults(deny: &Deny, crates: &[Crate<'_>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut tell = |what: String| faults.push(Fault::new("Cargo.lock", 1, what));
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Crate { name, version, source, licence } in crates.iter().copied() {
        versions.entry(name).or_default().push(version);
        if source != CRATES_IO {
            tell(format!("{name} {version} comes from {source}, not from crates.io"));
        }
        if let Some(banned) = deny.bans.deny.iter().find(|banned| banned.name == name) {
            tell(format!("{name} is banned by {FILE}: {}", banned.reason));
        }
        if !is_allowed(&deny.licenses, name, licence) {
            tell(format!("{name} {version} has the licence `{licence}`, which {FILE} does not allow"));
        }
    }
    for (name, versions) in &versions {
        if versions.len() > 1 && !deny.bans.skip.iter().any(|skipped| skipped.name == *name) {
            tell(format!(
                "{name} is there as {}; one is enough, or `skip` of {FILE} says why not",
                versions.join(" and ")
            ));
        }
    }
    // What is excused and not there any more is excused for nothing.
    for skipped in &deny.bans.skip {
        if versions.get(&*skipped.name).is_none_or(|versions| versions.len() < 2) {
            faults.push(Fault::new(
                FILE,
                1,
                format!("`{}` is skipped ({}), and is not there twice", skipped.name, skipped.reason),
            ));
        }
    }
    faults
}

/// Whether a licence can be chosen that is allowed.
fn is_allowed(licences: &Licences, name: &str, licence: &str) -> bool {
    let excepted = licences.exceptions.iter().find(|exception| exception.name == name);
    let allows =
        |licence: &str| licences.allow.contains(licence) || excepted.is_some_and(|e| e.allow.contains(licence));
    Expression::parse_mode(licence, ParseMode::LAX)
        .is_ok_and(|expression| expression.evaluate(|required| allows(&required.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deny() -> Deny {
        toml::from_str(
            "[licenses]\nallow = ['MIT', 'Apache-2.0']\nexceptions = [{ crate = 'fuzzer', allow = ['NCSA'] }]\n\
             [bans]\ndeny = [{ crate = 'rand', reason = 'streams are ours' }]\nskip = [{ crate = 'twice', reason = 'both are asked for' }]\n",
        )
        .unwrap()
    }

    fn told(crates: &[(&str, &str, &str, &str)]) -> Vec<String> {
        let twice = [("twice", "1.0.0", CRATES_IO, "MIT"), ("twice", "2.0.0", CRATES_IO, "MIT")];
        let known = |&(name, version, source, licence): &(_, _, _, _)| Crate { name, version, source, licence };
        let crates: Vec<Crate<'_>> = crates.iter().chain(&twice).map(known).collect();
        faults(&deny(), &crates).into_iter().map(|fault| fault.what).collect()
    }

    #[test]
    fn what_is_allowed_is_not_told() {
        assert_eq!(
            told(&[("a", "1.0.0", CRATES_IO, "MIT OR GPL-3.0"), ("b", "1.0.0", CRATES_IO, "MIT/Apache-2.0")]),
            [""; 0]
        );
        assert_eq!(told(&[("fuzzer", "1.0.0", CRATES_IO, "(MIT OR Apache-2.0) AND NCSA")]), [""; 0]);
    }

    #[test]
    fn each_fault_is_told() {
        let one = |line| told(&[line]).join("\n");
        assert!(one(("a", "1.0.0", CRATES_IO, "GPL-3.0-only")).contains("does not allow"));
        assert!(
            one(("a", "1.0.0", CRATES_IO, "MIT AND NCSA")).contains("does not allow"),
            "an exception is of one crate"
        );
        assert!(one(("a", "1.0.0", CRATES_IO, "")).contains("does not allow"), "no licence is none that is allowed");
        assert!(one(("a", "1.0.0", "git+https://example.org/a", "MIT")).contains("not from crates.io"));
        assert!(one(("rand", "0.9.0", CRATES_IO, "MIT")).contains("streams are ours"));
        let both = told(&[("a", "1.0.0", CRATES_IO, "MIT"), ("a", "2.0.0", CRATES_IO, "MIT")]);
        assert!(both.join("\n").contains("a is there as 1.0.0 and 2.0.0"), "{both:?}");
    }
}
