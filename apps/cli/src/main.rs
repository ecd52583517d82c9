//! The executable `benchwright`.

use benchwright_cli::Start;
use std::{env, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut words = env::args_os();
    let named = words.next().unwrap_or_default();
    let program = env::current_exe().unwrap_or_else(|_| named.into());
    ExitCode::from(benchwright_cli::main(&Start { program, words: words.collect() }))
}
