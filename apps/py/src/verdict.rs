//! Verdicts.

use crate::error::said;
use benchwright_pack::{CheckStatus, Ending, Verdict as Document};
use pyo3::prelude::*;

/// What the judge says of a state.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Verdict {
    document: Document,
}

impl Verdict {
    pub(crate) fn new(document: Document) -> Verdict {
        Verdict { document }
    }
}

#[pymethods]
impl Verdict {
    /// Whether the task is done.
    #[getter]
    fn passed(&self) -> bool {
        self.document.ending == Ending::Pass
    }

    /// The reward, from 0 to 1. Raises where there is no verdict: what could not be checked is no 0.
    #[getter]
    fn reward(&self) -> PyResult<f64> {
        match self.no_verdict() {
            true => Err(said("there is no verdict: what could not be checked is neither passed nor failed")),
            false => Ok(self.document.reward as f64 / 1_000_000.0),
        }
    }

    /// Whether something could not be checked.
    #[getter]
    pub(crate) fn no_verdict(&self) -> bool {
        self.document.ending == Ending::Error
    }

    /// The rules that failed, each once.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.document.failed().into_iter().map(str::to_owned).collect()
    }

    /// Every check: its rule, what it is about, whether it passed, and why not.
    #[getter]
    fn checks(&self) -> Vec<(String, Vec<String>, &'static str, Option<String>)> {
        let word = |status: CheckStatus| match status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "fail",
            CheckStatus::NoVerdict => "no-verdict",
            CheckStatus::Na => "na",
        };
        let check = |check: &benchwright_pack::Check| {
            (check.rule.clone(), check.at.clone(), word(check.status), check.why.clone())
        };
        self.document.checks.iter().map(check).collect()
    }

    /// The whole verdict as JSON text, as runs keep it.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.document).map_err(|error| said(error.to_string()))
    }

    fn __repr__(&self) -> String {
        let ending = serde_json::to_string(&self.document.ending).unwrap_or_default();
        format!("Verdict({}, reward {})", ending.trim_matches('"'), self.document.reward as f64 / 1_000_000.0)
    }
}
