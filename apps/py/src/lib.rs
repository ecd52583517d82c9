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

use benchwright_workshop::play::{Play, Playable, Tasks};
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    module.add_function(wrap_pyfunction!(run::open_run, module)?)?;
    module.add_function(wrap_pyfunction!(suite::load_suite, module)?)?;
    module.add_function(wrap_pyfunction!(suite::demo, module)?)
}
