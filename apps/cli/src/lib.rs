//! The program `benchwright`: what the libraries can do, for a person at a terminal and for scripts. Data goes to stdout,
//! everything else to stderr.
//!
//! It is a library because two start it: the executable of this package, and the script in a wheel, whose code is the module for Python.
#![expect(clippy::print_stderr, reason = "the shell is where printing happens")]

mod commands;
mod failure;
mod log;
mod output;
mod progress;
mod shared;
mod tasks;
mod watch;
mod worlds;

use benchwright_catalog::Catalog;
use benchwright_export::notation;
use benchwright_report::layout;
use benchwright_workshop::{Workers, Workshop, own};
use clap::{
    CommandFactory as _, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{ffi::OsString, path::PathBuf};

/// Where domains are read from when `--domains` is not given.
const DOMAINS_VARIABLE: &str = "BENCHWRIGHT_DOMAINS";
/// Where patterns are read from when `--patterns` is not given.
const PATTERNS_VARIABLE: &str = "BENCHWRIGHT_PATTERNS";

const MANUAL: &str = "\
Where DOMAIN is wanted, a name such as `csm` means a domain of the program, and a path such as
./domains/csm means the folder there; so it is with PATTERN, whose names are like production/NAME. Data goes to stdout, everything else to stderr.

Exit codes:
  0  fine
  1  the thing asked about falls short, such as a domain with faults
  2  wrong use, such as a name that is not there
  3  something needed is missing; `benchwright doctor` says what

Begin with:
  benchwright demo
  benchwright doctor
  benchwright patterns
  benchwright play csm";

/// Enterprise work compiled into worlds for agents: tasks made, audited, played and graded.
#[derive(Parser)]
#[command(name = "benchwright", version, after_long_help = MANUAL)]
#[command(after_help = "Each command has a manual with an example: benchwright COMMAND --help")]
struct Cli {
    /// Reads domains from the folders in DIR instead of the program [env: BENCHWRIGHT_DOMAINS]
    #[arg(long, global = true, value_name = "DIR")]
    domains: Option<PathBuf>,
    /// Logs what happens to stderr, at the level of RUST_LOG, else info; RUST_LOG alone gives text
    #[arg(long, global = true, value_name = "FORM")]
    log: Option<log::Form>,
    /// Reads patterns from the folders in DIR before those of the program [env: BENCHWRIGHT_PATTERNS]
    #[arg(long, global = true, value_name = "DIR")]
    patterns: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Options),
    Doctor(commands::doctor::Options),
    Domains(commands::domains::Options),
    Patterns(commands::patterns::Options),
    Check(commands::check::Options),
    New(commands::new::Options),
    Build(commands::build::Options),
    Audit(commands::audit::Options),
    Commit(commands::contest::CommitOptions),
    Reveal(commands::contest::RevealOptions),
    Verify(commands::contest::VerifyOptions),
    Tasks(commands::tasks::Options),
    Show(commands::show::Options),
    Play(commands::play::Options),
    Serve(Box<commands::serve::Options>),
    Collect(commands::serve::CollectOptions),
    Run(Box<commands::run::Options>),
    Work(Box<commands::work::Options>),
    Runs(commands::runs::Options),
    Report(commands::report::Options),
    View(commands::view::Options),
    Compare(commands::report::CompareOptions),
    Power(commands::report::PowerOptions),
    Grade(commands::grade::Options),
    Export(commands::export::Options),
    Odoo(commands::odoo::Options),
    Bench(commands::bench::Options),
    #[command(hide = true)]
    Worker(commands::worker::Options),
}

/// How the program was started, so that it can start itself again.
pub struct Start {
    /// The file that was started.
    pub program: PathBuf,
    /// What stood after its name.
    pub words: Vec<OsString>,
}

/// Does what the line asks for and tells the exit code.
pub fn main(start: &Start) -> u8 {
    let line = std::iter::once(start.program.as_os_str()).chain(start.words.iter().map(OsString::as_os_str));
    let cli = match Cli::try_parse_from(line) {
        Ok(cli) => cli,
        Err(error) => with_nearest(error).exit(),
    };
    match run(start, &cli) {
        Ok(code) => code,
        Err(error) => failure::report(&error),
    }
}

/// Names the nearest command by edits, where there is one: clap finds what has letters too many or too few, and for `rnu` rather `runs` than `run`.
fn with_nearest(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand).cloned() else { return error };
    let commands = Cli::command();
    let known = commands.get_subcommands().filter(|command| !command.is_hide_set()).map(|command| command.get_name());
    if let Some(near) = benchwright_base::nearest(&given, known) {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
    error
}

fn run(start: &Start, cli: &Cli) -> anyhow::Result<u8> {
    let has_log = log::install(cli.log)?;
    let variable = |name: &str| std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    // A pattern's path stands for the folder that it lies in and its name there, so that workers find it too.
    let pattern = match &cli.command {
        Command::New(options) => Catalog::pattern_path(options.pattern()),
        Command::Patterns(options) => options.pattern().and_then(Catalog::pattern_path),
        _ => None,
    };
    let patterns = pattern.map(|(folder, _)| folder).or_else(|| cli.patterns.clone());
    let patterns = patterns.or_else(|| variable(PATTERNS_VARIABLE));
    // A store may bring domains of its own.
    let stores = || start.words.iter().skip(1).find_map(|argument| own::domains_of(argument.as_ref()));
    let domains = cli.domains.clone().or_else(|| variable(DOMAINS_VARIABLE)).or_else(stores);
    let mut workshop = workshop_of(start, domains, patterns.clone(), cli.log)?;
    let mut placed = None;
    if let Command::New(options) = &cli.command {
        placed = options.place(workshop.catalog())?;
        if let Some(placed) = &placed {
            workshop = workshop_of(start, Some(placed.domains.clone()), None, cli.log)?;
        }
    }
    let catalog = workshop.catalog();
    match &cli.command {
        Command::Demo(options) => commands::demo::run(catalog, options),
        Command::Doctor(options) => commands::doctor::run(catalog, options),
        Command::Domains(options) => commands::domains::run(catalog, options),
        Command::Patterns(options) => commands::patterns::run(catalog, options),
        Command::Check(options) => commands::check::run(catalog, options),
        Command::New(options) => commands::new::run(&workshop, options, placed),
        Command::Build(options) => commands::build::run(&workshop, options),
        Command::Audit(options) => commands::audit::run(&workshop, options),
        Command::Commit(options) => commands::contest::commit(&workshop, options),
        Command::Reveal(options) => commands::contest::reveal(catalog, options),
        Command::Verify(options) => commands::contest::verify(&workshop, options),
        Command::Tasks(options) => commands::tasks::run(options),
        Command::Show(options) => commands::show::run(catalog, options),
        Command::Play(options) => commands::play::run(catalog, options),
        Command::Serve(options) => commands::serve::run(start, catalog, options, has_log),
        Command::Collect(options) => commands::serve::collected(options),
        Command::Run(options) => commands::run::run(&workshop, options),
        Command::Work(options) => commands::work::run(&workshop, options),
        Command::Runs(options) => commands::runs::run(options),
        Command::Report(options) => commands::report::run(&workshop, options),
        Command::View(options) => commands::view::run(&workshop, options),
        Command::Compare(options) => commands::report::compare(options),
        Command::Power(options) => commands::report::power_of(options),
        Command::Grade(options) => commands::grade::run(catalog, options),
        Command::Export(options) => commands::export::run(&workshop, options),
        Command::Odoo(options) => commands::odoo::run(catalog, options),
        Command::Bench(options) => return commands::bench::run(&workshop, options),
        Command::Worker(options) => commands::worker::run(&workshop, options),
    }?;
    Ok(0)
}

/// With the domains of a folder, or those of the program, and with more patterns. The work is done by this program again, with the
/// same domains and patterns and the same form of log.
fn workshop_of(
    start: &Start,
    domains: Option<PathBuf>,
    patterns: Option<PathBuf>,
    log: Option<log::Form>,
) -> anyhow::Result<Workshop> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut catalog = match domains {
        Some(folder) => {
            arguments.extend(["--domains".into(), folder.clone().into()]);
            Catalog::from_folder(folder)
        }
        None => Catalog::built_in(),
    };
    if let Some(folder) = patterns {
        arguments.extend(["--patterns".into(), folder.clone().into()]);
        catalog = catalog.with_patterns(folder);
    }
    if let Some(form) = log {
        arguments.extend(["--log".into(), form.word().into()]);
    }
    arguments.push("worker".into());
    let workers = Workers::Processes { program: start.program.clone(), arguments };
    Ok(Workshop::new(catalog).with_workers(workers).with_progress(watch::Watch::default()))
}
