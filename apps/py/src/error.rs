//! What Python is told where something cannot be done.

use benchwright_workshop::Error as Failure;
use pyo3::{PyErr, exceptions::PyException};

pyo3::create_exception!(
    benchwright,
    Error,
    PyException,
    "Something could not be done. Nothing that raises this was scored: it is never a reward of 0."
);

/// An error of the library with what would help.
pub(crate) fn told(error: Failure) -> PyErr {
    let next = match &error {
        Failure::Shut { .. } => "; open it with load_suite(folder, grade=True)",
        Failure::Store(_) => "; a folder of tasks is what `benchwright build` or `benchwright new` writes",
        _ => "",
    };
    Error::new_err(format!("{error}{next}"))
}

/// A sentence as an error.
pub(crate) fn said(why: impl Into<String>) -> PyErr {
    Error::new_err(why.into())
}
