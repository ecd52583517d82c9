//! The program `benchwright`: what the libraries can do, for a person at a terminal and for scripts. Data goes to stdout,
//! everything else to stderr.
#![expect(clippy::print_stderr, reason = "the shell is where printing happens")]

mod bench;
mod commands;
mod failure;
mod layout;
mod notation;
mod output;
mod progress;
mod worlds;

use benchwright_catalog::Catalog;
use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Where domains are read from when `--domains` is not given.
const DOMAINS_VARIABLE: &str = "BENCHWRIGHT_DOMAINS";

const MANUAL: &str = "\
Where DOMAIN is wanted, a name such as `csm` means a domain of the program, and a path such as
./domains/csm means the folder there. Data goes to stdout, everything else to stderr.

Exit codes:
  0  fine
  1  the thing asked about falls short, such as a domain with faults
  2  wrong use, such as a name that is not there
  3  something needed is missing; `benchwright doctor` says what

Begin with:
  benchwright doctor
  benchwright domains
  benchwright play csm";

/// Enterprise worlds for agents: look at them, play in them, export them.
#[derive(Parser)]
#[command(name = "benchwright", version, after_long_help = MANUAL)]
#[command(after_help = "Each command has a manual with an example: benchwright COMMAND --help")]
struct Cli {
    /// Reads domains from the folders in DIR instead of the program [env: BENCHWRIGHT_DOMAINS]
    #[arg(long, global = true, value_name = "DIR")]
    domains: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Domains(commands::domains::Options),
    Play(commands::play::Options),
    Export(commands::export::Options),
    Doctor(commands::doctor::Options),
    Bench(commands::bench::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(code) => code,
        Err(error) => failure::report(&error),
    }
}

fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    let variable = std::env::var_os(DOMAINS_VARIABLE).filter(|folder| !folder.is_empty());
    let catalog = match cli.domains.clone().or_else(|| variable.map(PathBuf::from)) {
        Some(folder) => Catalog::from_folder(folder),
        None => Catalog::built_in(),
    };
    match &cli.command {
        Command::Domains(options) => commands::domains::run(&catalog, options),
        Command::Play(options) => commands::play::run(&catalog, options),
        Command::Export(options) => commands::export::run(&catalog, options),
        Command::Doctor(options) => commands::doctor::run(&catalog, options),
        Command::Bench(options) => return commands::bench::run(options),
    }?;
    Ok(ExitCode::SUCCESS)
}
