//! The shell of the house checks and of what is handed out: `cargo xtask layers`, `tidy`, `domains`, `supply` and `release`. Faults go to stdout, the rest to stderr.
//! Exit codes: 0 no fault, 1 faults, 2 wrong use, 3 the check could not run.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use xtask::Outcome;

const USAGE: &str =
    "usage: cargo xtask layers [--draw] | tidy | domains [--check | --without NAME] | supply | release [TARGET... | --suites PROGRAM [SUITE...]]
  layers    which crate may see which, which outside crates stand where, and no circle of files
            --draw           draws the picture of the layers in ARCHITECTURE.md
  tidy      the form of every file, domain folder, link and section
  domains   writes catalog's list of the domains, parts and families with code, and its dependencies on them
            --check          says whether they are as this would write them
            --without NAME   leaves a folder out, before it is taken away
  supply    licences, sources and versions of what comes from others, by deny.toml
  release   makes wheels, archives of programs, suites and the book, checksums, a bill of materials and notes, and publishes nothing: more than an
            hour on two cores
            --suites PROGRAM [SUITE...]  makes the archives of suites alone, by a program that is there";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = xtask::workspace_root();
    let outcome = match words.as_slice() {
        ["layers"] => xtask::layers::run(&root),
        ["layers", "--draw"] => xtask::picture::draw(&root),
        ["tidy"] => xtask::tidy::run(&root),
        ["domains"] => xtask::domains::write(&root, &[]),
        ["domains", "--check"] => xtask::domains::check(&root),
        ["domains", "--without", name] => xtask::domains::write(&root, &[name]),
        ["supply"] => xtask::supply::run(&root),
        ["release"] => xtask::release::run(&root, &xtask::release::TARGETS),
        ["release", "--suites", program, suites @ ..] => xtask::release::suites(&root, Path::new(program), suites),
        ["release", targets @ ..] => xtask::release::run(&root, targets),
        ["help" | "--help" | "-h"] => return tell(&mut io::stdout(), USAGE, 0),
        _ => return tell(&mut io::stderr(), USAGE, 2),
    };
    match outcome {
        Ok(Outcome { seen, faults }) => {
            let lines: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
            if let Err(error) = io::stdout().write_all(lines.as_bytes()) {
                return tell(&mut io::stderr(), &format!("error: cannot write to stdout: {error}"), 3);
            }
            let code = u8::from(!faults.is_empty());
            tell(&mut io::stderr(), &format!("{}: {seen}, {} faults", words[0], faults.len()), code)
        }
        Err(error) => tell(&mut io::stderr(), &format!("error: {error:#}"), 3),
    }
}

/// Writes one text and ends with a code. A closed pipe does not change the code.
fn tell(to: &mut dyn Write, text: &str, code: u8) -> ExitCode {
    let _closed_pipe = writeln!(to, "{text}");
    ExitCode::from(code)
}
