//! `benchwright doctor`: what is here, what is missing, and the mend.

use crate::{failure::Failure, layout::counted, output, progress::Progress, worlds};
use benchwright_catalog::{Catalog, Found};
use benchwright_run::{Broken, Bubblewrap, Container};
use benchwright_sandbox::Sandbox;
use benchwright_solve::{CpSat, Engine as _, EngineError, FETCH, Highs, Library, PINNED_VERSION};
use serde_json::{Value as Json, json};
use std::{
    fs,
    io::{self, IsTerminal as _},
    sync::Arc,
    time::Instant,
};

/// What is here, what is missing, and the mend
#[derive(clap::Args)]
#[command(after_long_help = "\
Loads every domain, fills a small world of each, and looks at what the commands need. The exit code is
0 if all that is needed is here, else 3.

Example:
  benchwright doctor

Keys of --json:
  ok, checks [{name, ok, needed, detail, mend}]")]
pub(crate) struct Options {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at.
struct Check {
    name: String,
    is_ok: bool,
    /// Whether anything fails without it.
    is_needed: bool,
    /// What was found.
    detail: String,
    /// What to do; empty if all is well.
    mend: String,
}

impl Check {
    fn ok(name: impl Into<String>, detail: impl Into<String>) -> Check {
        Check { name: name.into(), is_ok: true, is_needed: true, detail: detail.into(), mend: String::new() }
    }

    fn missing(name: impl Into<String>, detail: impl Into<String>, mend: impl Into<String>) -> Check {
        Check { name: name.into(), is_ok: false, is_needed: true, detail: detail.into(), mend: mend.into() }
    }

    fn without_need(self) -> Check {
        Check { is_needed: false, ..self }
    }

    fn to_json(&self) -> Json {
        let mend = Some(&self.mend).filter(|mend| !mend.is_empty());
        json!({ "name": self.name, "ok": self.is_ok, "needed": self.is_needed, "detail": self.detail, "mend": mend })
    }
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let version = format!("{} for {} on {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS);
    let mut checks = vec![Check::ok("benchwright", version)];
    checks.extend(domains(catalog));
    checks.push(temporary_folder());
    checks.push(sqlite());
    checks.push(solver());
    checks.extend(sandboxes());
    checks.push(terminal());
    let missing = checks.iter().filter(|check| check.is_needed && !check.is_ok).count();
    let told = || json!({ "ok": missing == 0, "checks": checks.iter().map(Check::to_json).collect::<Vec<_>>() });
    output::either(options.json, told, || shown(&checks))?;
    if missing > 0 {
        let message = format!("{} that is needed is missing", counted(missing, "thing"));
        return Err(Failure::missing(message, "the mends above, then: benchwright doctor"));
    }
    Ok(())
}

fn shown(checks: &[Check]) -> String {
    let longest = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut out = String::new();
    for check in checks {
        let mark = match (check.is_ok, check.is_needed) {
            (true, _) => "ok     ",
            (false, true) => "missing",
            (false, false) => "note   ",
        };
        out.push_str(&format!("{mark}  {:longest$}  {}\n", check.name, check.detail.replace('\n', "\n         ")));
        if !check.mend.is_empty() {
            out.push_str(&format!("         {:longest$}  mend: {}\n", "", check.mend));
        }
    }
    out
}

fn domains(catalog: &Catalog) -> Vec<Check> {
    let names = match catalog.names() {
        Ok(names) if names.is_empty() => {
            return vec![Check::missing(
                "domains",
                "there are none",
                "give a folder of domain folders with --domains DIR",
            )];
        }
        Ok(names) => names,
        Err(error) => {
            return vec![Check::missing("domains", error.to_string(), "give another folder with --domains DIR")];
        }
    };
    names.iter().flat_map(|name| domain(catalog, name)).collect()
}

/// A domain that loads, whose world can be filled, and whose tools all have code.
fn domain(catalog: &Catalog, name: &str) -> Vec<Check> {
    let label = format!("domain {name}");
    let _progress = Progress::start(format!("filling {name}"));
    let begun = Instant::now();
    let found = match catalog.find(name) {
        Ok(found) => found,
        Err(error) => {
            let mend = format!("mend its files; `benchwright domains {name}` lists the faults");
            return vec![Check::missing(label, error.to_string(), mend)];
        }
    };
    let mut checks = Vec::new();
    let domain = &found.domain;
    if domain.seed.is_none() && catalog.families_of(name).is_ok_and(|families| !families.is_empty()) {
        let (tables, tools) = (counted(domain.tables.len(), "table"), counted(domain.tools.len(), "tool"));
        checks.push(Check::ok(label, format!("{tables}, {tools}; its worlds are made with its tasks")));
        return with_code(checks, name, &found);
    }
    let size = domain.seed.as_ref().map_or_else(|| "small".to_owned(), |seed| worlds::usual_size(&seed.sizes));
    let world = Sandbox::seeded(Arc::clone(domain), found.natives, &size, 1).map_err(anyhow::Error::from);
    checks.push(match world.and_then(|sandbox| Ok(worlds::look(&Arc::new(sandbox))?)) {
        Ok(episode) => {
            let rows = counted(episode.row_count(), "row");
            let tables = counted(domain.tables.len(), "table");
            let tools = counted(domain.tools.len(), "tool");
            let took = begun.elapsed().as_millis();
            Check::ok(label, format!("{tables}, {tools}; a {size} world of {rows} in {took} ms"))
        }
        Err(error) => Check::missing(label, error.to_string(), format!("mend the seed.toml of {name}")),
    });
    with_code(checks, name, &found)
}

/// The same checks, and one more where tools lack their code.
fn with_code(mut checks: Vec<Check>, name: &str, found: &Found) -> Vec<Check> {
    let without = found.tools_without_code();
    if !without.is_empty() {
        let detail = format!("no code for {}", without.join(", "));
        checks.push(Check::missing(
            format!("native tools of {name}"),
            detail,
            "build the program with its code: `cargo xtask domains`, then `cargo build`",
        ));
    }
    checks
}

fn temporary_folder() -> Check {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("benchwright-doctor-{}", std::process::id()));
    let tried = fs::write(&file, b"ok").and_then(|()| fs::remove_file(&file));
    match tried {
        Ok(()) => Check::ok("temporary folder", format!("{} can be written to", folder.display())),
        Err(error) => {
            let detail = format!("{}: {error}", folder.display());
            Check::missing("temporary folder", detail, "set TMPDIR to a folder that can be written to")
        }
    }
}

fn sqlite() -> Check {
    // Strict tables are as old as this.
    const OLDEST: i32 = 3_037_000;
    let version = rusqlite::version();
    if rusqlite::version_number() >= OLDEST {
        return Check::ok("sqlite", format!("{version}, part of this program"));
    }
    Check::missing("sqlite", format!("{version} has no strict tables"), "build the program with SQLite 3.37 or later")
}

/// Only making and auditing tasks needs the solver; serving, running and grading do without.
fn solver() -> Check {
    let look = || -> Result<(String, bool), EngineError> {
        let library = Library::find()?;
        let engines = [CpSat::load(&library)?.version(), Highs::load(&library)?.version()].join(" and ");
        let folder = library.path().display();
        let is_pinned = library.is_pinned().map_err(|error| EngineError::NotThere(format!("{folder}: {error}")))?;
        Ok((format!("{engines} in {folder}"), is_pinned))
    };
    let check = match look() {
        Ok((detail, true)) => Check::ok("solver", format!("{detail}, the pinned library")),
        Ok((detail, false)) => {
            let detail = format!("{detail}, not the pinned library {PINNED_VERSION}: tasks may come out otherwise");
            Check::missing("solver", detail, format!("unset BENCHWRIGHT_SOLVER, then: {FETCH}"))
        }
        Err(EngineError::NotThere(what)) => {
            Check::missing("solver", format!("{what}; only making and auditing tasks needs it"), FETCH)
        }
        Err(error) => Check::missing("solver", error.to_string(), FETCH),
    };
    check.without_need()
}

/// Only agents that are programs need one.
fn sandboxes() -> Vec<Check> {
    let ways = [
        ("bubblewrap", Bubblewrap::look(), "apt-get install bubblewrap"),
        ("podman", Container::look(), "apt-get install podman, for `run --isolation container`"),
    ];
    let check = |(name, found, mend): (&str, Result<String, Broken>, &str)| match found {
        Ok(version) => Check::ok(name, format!("{version}; keeps programs apart that are agents")),
        Err(why) => Check::missing(name, format!("{why}; only agents that are programs need it"), mend).without_need(),
    };
    ways.into_iter().map(check).collect()
}

fn terminal() -> Check {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return Check::ok("terminal", "`play` has a prompt with completion").without_need();
    }
    let mend = "run it from a terminal, or give `play` its lines with --script FILE";
    Check::missing("terminal", "none here, so `play` reads lines without a prompt", mend).without_need()
}
