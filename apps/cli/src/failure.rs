//! Failures as the program tells them: what is wrong, the next command to try, and the exit code.

use benchwright_catalog::CatalogError;
use benchwright_odoo::OdooError;
use benchwright_pack::StoreError;
use benchwright_run::LedgerError;
use benchwright_sandbox::SeedError;
use benchwright_workshop::Error as WorkshopError;
use std::{borrow::Borrow, error::Error, fmt, io, path::Path};

/// The files of a pattern, by which its faults are known.
const PATTERN_FILES: [&str; 3] = ["pattern.toml", "text.toml", "rules.toml"];

/// What a failure means to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The thing asked about falls short.
    FallsShort = 1,
    /// Wrong use.
    WrongUse = 2,
    /// Something needed is missing.
    Missing = 3,
}

/// A failure.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    /// What is wrong; empty if it has been told already.
    message: String,
    /// The next command to try, or another way on.
    next: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

impl Failure {
    /// The thing asked about falls short.
    pub(crate) fn falls_short(message: impl fmt::Display, next: impl Into<String>) -> anyhow::Error {
        Failure::of_kind(Kind::FallsShort, message, next)
    }

    /// Wrong use.
    pub(crate) fn wrong_use(message: impl fmt::Display, next: impl Into<String>) -> anyhow::Error {
        Failure::of_kind(Kind::WrongUse, message, next)
    }

    /// Something needed is missing.
    pub(crate) fn missing(message: impl fmt::Display, next: impl Into<String>) -> anyhow::Error {
        Failure::of_kind(Kind::Missing, message, next)
    }

    fn of_kind(kind: Kind, message: impl fmt::Display, next: impl Into<String>) -> anyhow::Error {
        Failure { kind, message: message.to_string(), next: Some(next.into()) }.into()
    }

    /// What the workshop could not do.
    fn of_workshop(error: &WorkshopError) -> Option<anyhow::Error> {
        let again = "make the task again with this program: benchwright build SUITE.toml -o DIR";
        Some(match error {
            WorkshopError::Catalog { asked, error } => Failure::of_catalog(error, asked),
            WorkshopError::Store(error) => Failure::of_store(error),
            WorkshopError::OtherSolver { .. } => Failure::missing(error, benchwright_solve::FETCH),
            WorkshopError::Solver(_) | WorkshopError::Library(_) => Failure::missing(error, "benchwright doctor"),
            WorkshopError::Task(_) => Failure::falls_short(error, again),
            WorkshopError::Occupied(_) => Failure::wrong_use(error, "another folder with -o, or remove it first"),
            WorkshopError::NoDepth => Failure::wrong_use(error, "--depth sample"),
            WorkshopError::WholeShards(_) => Failure::wrong_use(error, "--depth sample"),
            WorkshopError::IsFile(_) => Failure::wrong_use(error, "another folder with -o"),
            WorkshopError::OtherStream(_) => {
                Failure::wrong_use(error, "another folder with -o, or the same line as before")
            }
            WorkshopError::FilledAlready => Failure::wrong_use(error, "leave them out"),
            WorkshopError::LargeSnapshot { .. } => {
                Failure::falls_short(error, "benchwright export snapshot DOMAIN -o FILE")
            }
            WorkshopError::NoSnapshot { file, .. } => {
                Failure::wrong_use(error, format!("benchwright export snapshot DOMAIN -o {file}"))
            }
            WorkshopError::ForeignSnapshot { .. } => {
                Failure::wrong_use(error, "--domains DIR, with the folder that the domain's folder lies in")
            }
            WorkshopError::Unfit { .. } => Failure::wrong_use(error, "include = [\"planning\"] in its domain.toml"),
            WorkshopError::NoOwnFiles(_) => Failure::wrong_use(error, "a pattern of planning: benchwright patterns"),
            WorkshopError::OwnFiles { .. } => {
                Failure::falls_short(error, "mend what is told; docs/planning.md says what such a folder holds")
            }
            WorkshopError::NoAttempts => Failure::wrong_use(error, "-k 1, or leave -k out"),
            WorkshopError::NoFiles(_) => Failure::wrong_use(error, "benchwright show TASK, for what there is"),
            WorkshopError::NoSubmission { .. } => {
                Failure::wrong_use(error, "a folder, no link to one, with FORM.csv or FORM.json for each form")
            }
            WorkshopError::NoTask(_) => Failure::wrong_use(error, "a folder's name under DIR/open"),
            WorkshopError::NoTasksIn(_) => {
                Failure::wrong_use(error, "benchwright new PATTERN -o DIR, or benchwright demo -o DIR")
            }
            WorkshopError::NoTier { pattern, .. } | WorkshopError::NoObjective { pattern, .. } => {
                Failure::wrong_use(error, format!("benchwright patterns {pattern}"))
            }
            WorkshopError::NoClause { .. } => Failure::wrong_use(error, "another --twins, or leave it out"),
            WorkshopError::Rate(_) => Failure::wrong_use(error, "--inject 0.2"),
            WorkshopError::Count { .. } => Failure::wrong_use(error, "another --count or --seed"),
            WorkshopError::Host(_) => Failure::falls_short(error, "make it again: benchwright build SUITE.toml -o DIR"),
            WorkshopError::TestSplit(_) => Failure::wrong_use(
                error,
                "benchwright new PATTERN --split train -o DIR, or --of-locked for rows that nobody trains on",
            ),
            WorkshopError::Refused(_) => Failure::falls_short(error, "docs/contest.md says what each name means"),
            WorkshopError::NoRun(_) => Failure::wrong_use(error, "benchwright runs RUNS"),
            WorkshopError::TasksOfRun(_) => Failure::wrong_use(error, "--tasks DIR"),
            WorkshopError::WhichAgent { .. } => Failure::wrong_use(error, "--agent NAME"),
            WorkshopError::NoDemo => Failure::missing(error, "benchwright build erp-300 -o DIR"),
            WorkshopError::Flawed { run, .. } => {
                Failure::falls_short(error, format!("benchwright report {run} --verify, or run --new"))
            }
            WorkshopError::Ledger(LedgerError::Stuck { .. }) => {
                Failure::falls_short(error, "benchwright report --verify; run --new begins another run")
            }
            WorkshopError::Ledger(LedgerError::Store { path, .. }) if !path.is_file() => Failure::missing(
                error,
                "--ledger postgres://USER@HOST/DATABASE that answers, its password in PGPASSWORD",
            ),
            WorkshopError::Ledger(LedgerError::Store { .. } | LedgerError::Malformed { .. }) => {
                Failure::falls_short(error, "another folder with --runs, or the ledger as it was")
            }
            WorkshopError::Damaged { path, .. } => Failure::falls_short(
                error,
                format!("rm {}, then the same line again, which makes it anew", path.display()),
            ),
            WorkshopError::Runs { .. } => Failure::missing(error, "another folder with --runs"),
            _ => return None,
        })
    }

    /// A failure to read or write tasks.
    fn of_store(error: &StoreError) -> anyhow::Error {
        match error {
            StoreError::Name(_) | StoreError::AlreadyThere(_) => Failure::wrong_use(error, "another folder or name"),
            StoreError::Missing(_) => Failure::wrong_use(error, "benchwright build SUITE.toml -o DIR"),
            StoreError::Io { .. } => Failure::missing(error, "another folder, one that can be read and written"),
            _ => Failure::falls_short(error, "make it again: benchwright build SUITE.toml -o DIR"),
        }
    }

    /// An Odoo that cannot be used.
    pub(crate) fn of_odoo(error: &OdooError) -> anyhow::Error {
        match error {
            OdooError::NotThere(_) | OdooError::Database(_) => Failure::missing(error, "scripts/odoo up"),
            _ => Failure::falls_short(error, "scripts/odoo log"),
        }
    }

    /// What a domain could not be had for. `what` is what the person gave for it.
    pub(crate) fn of_catalog(error: impl Borrow<CatalogError>, what: &str) -> anyhow::Error {
        let error = error.borrow();
        let again = |what: &str| format!("mend the faults, then: benchwright domains {what}");
        match error {
            CatalogError::NotThere { .. } => Failure::wrong_use(error, "benchwright domains"),
            CatalogError::Twice { .. } => Failure::falls_short(error, "rename one of the two folders"),
            CatalogError::NoPattern { .. } => Failure::wrong_use(error, "benchwright patterns"),
            CatalogError::NoFamily { .. } => Failure::missing(error, "benchwright doctor"),
            CatalogError::Joined { .. } => Failure::wrong_use(error, "benchwright domains csm+itsm"),
            CatalogError::Unreadable { path, .. } if !Path::new(path).exists() => {
                Failure::wrong_use(format!("{path} is not there"), "benchwright domains")
            }
            CatalogError::Unreadable { .. } => Failure::missing(error, "benchwright doctor"),
            CatalogError::Faulty { faults, .. } if faults.iter().any(|fault| PATTERN_FILES.contains(&&*fault.file)) => {
                Failure::falls_short(error, format!("mend the faults, then: benchwright patterns {what}"))
            }
            CatalogError::Faulty { .. } => Failure::falls_short(error, again(what)),
            CatalogError::Seed(SeedError::NoSize { .. }) => Failure::wrong_use(error, "leave --size out"),
            CatalogError::Seed(SeedError::NoSeed(_)) => Failure::missing(error, "add a seed.toml to the domain"),
            CatalogError::Seed(_) => {
                Failure::falls_short(error, format!("mend its seed.toml, then: benchwright play {what}"))
            }
            CatalogError::Snapshot(_) | CatalogError::Load(_) => {
                Failure::falls_short(error, "benchwright export snapshot DOMAIN -o FILE")
            }
        }
    }
}

/// An error of a library with its next step, whichever library met it.
fn of_library(error: &anyhow::Error) -> Option<anyhow::Error> {
    use benchwright_bench::Error as Bench;
    use benchwright_conformance::Error as Conformance;
    let workshop = match (error.downcast_ref::<Bench>(), error.downcast_ref::<Conformance>()) {
        (Some(Bench::Odoo(error)), _) | (_, Some(Conformance::Odoo(error))) => return Some(Failure::of_odoo(error)),
        (Some(Bench::Workshop(error)), _) | (_, Some(Conformance::Workshop(error))) => Some(error),
        _ => error.downcast_ref::<WorkshopError>(),
    };
    workshop.and_then(Failure::of_workshop)
}

/// Tells an error and returns the exit code that goes with it.
pub(crate) fn report(error: &anyhow::Error) -> u8 {
    // Whoever reads our output has seen enough.
    let closed = |error: &(dyn Error + 'static)| {
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(closed) {
        return 0;
    }
    // Errors of libraries get their next step here, so that `?` is all that commands say.
    let known = of_library(error);
    let known = known.or_else(|| error.downcast_ref::<StoreError>().map(Failure::of_store));
    let error = known.as_ref().unwrap_or(error);
    let failure = error.downcast_ref::<Failure>();
    let message = format!("{error:#}");
    if !message.is_empty() {
        eprintln!("error: {message}");
    }
    if let Some(next) = failure.and_then(|failure| failure.next.as_ref()) {
        eprintln!("  try: {next}");
    }
    failure.map_or(Kind::FallsShort, |failure| failure.kind) as u8
}
