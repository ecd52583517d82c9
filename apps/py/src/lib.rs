//! Benchwright for Python: the module `benchwright._benchwright`, which the package `benchwright` hands on.
//!
//! It knows no more than the library does: a suite is [`Tasks`], a task [`Playable`], an episode [`Play`]. Every call that works in the world
//! leaves the interpreter's lock, so that threads of Python work beside each other.

mod batch;
mod episode;
mod error;
mod run;
mod suite;
mod table;
mod verdict;

use benchwright_cli::Start;
use benchwright_workshop::play::{Play, Playable, Tasks};
use pyo3::prelude::*;
use std::ffi::OsString;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The program `benchwright`, in this process, which ends with it: what was printed is written out and nobody is left to go on. `program` is the
/// file that was started, and starts it again.
#[pyfunction(name = "_main")]
fn main(py: Python<'_>, program: OsString, words: Vec<OsString>) {
    let start = Start { program: program.into(), words };
    let code = py.detach(|| benchwright_cli::main(&start));
    std::process::exit(code.into())
}

/// Worlds in which agents are measured and trained.
#[pymodule(gil_used = false)]
fn _benchwright(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add_class::<suite::Suite>()?;
    module.add_class::<suite::Task>()?;
    module.add_class::<episode::Episode>()?;
    module.add_class::<episode::Answer>()?;
    module.add_class::<verdict::Verdict>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(run::open_run, module)?)?;
    module.add_function(wrap_pyfunction!(suite::load_suite, module)?)?;
    module.add_function(wrap_pyfunction!(suite::demo, module)?)
}
