//! Episodes, and what a call answers.

use crate::{
    Play,
    error::{said, told},
    verdict::Verdict,
};
use benchwright_pack::Refusal;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyString},
};
use std::sync::{Mutex, MutexGuard};

/// A world as one agent has it.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Episode {
    play: Mutex<Play>,
}

/// Arguments as the text of a JSON object.
pub(crate) fn arguments_of(arguments: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let Some(arguments) = arguments.filter(|arguments| !arguments.is_none()) else { return Ok("{}".to_owned()) };
    if let Ok(text) = arguments.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    let py = arguments.py();
    let dumps = DUMPS.get_or_try_init(py, || Ok::<_, PyErr>(py.import("json")?.getattr("dumps")?.unbind()))?;
    dumps.call1(py, (arguments,))?.extract(py)
}

fn read<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let loads = LOADS.get_or_try_init(py, || Ok::<_, PyErr>(py.import("json")?.getattr("loads")?.unbind()))?;
    loads.bind(py).call1((text,))
}

impl Episode {
    pub(crate) fn new(play: Play) -> Episode {
        Episode { play: Mutex::new(play) }
    }

    /// The episode, for one caller at a time. One in which a call stopped half-way is broken, and is not judged.
    fn held(&self) -> PyResult<MutexGuard<'_, Play>> {
        self.play.lock().map_err(|_| said("a call stopped half-way, so the episode is broken"))
    }
}

#[pymethods]
impl Episode {
    /// Calls a tool. ``arguments`` is a dictionary, or the text of a JSON object.
    #[pyo3(signature = (tool, arguments = None))]
    fn call(&self, py: Python<'_>, tool: &str, arguments: Option<&Bound<'_, PyAny>>) -> PyResult<Answer> {
        let arguments = arguments_of(arguments)?;
        py.detach(|| Ok(Answer::of(self.held()?.call(tool, &arguments))))
    }

    /// Another episode that stands where this one does.
    fn fork(&self) -> PyResult<Episode> {
        Ok(Episode::new(self.held()?.fork()))
    }

    /// Back to the first state.
    fn reset(&self) -> PyResult<()> {
        self.held()?.reset();
        Ok(())
    }

    /// The calls that were made, as the document that ``benchwright grade`` and reports read.
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let trace = py.detach(|| Ok::<_, PyErr>(self.held()?.episode().trace()))?;
        let text = serde_json::to_string(&trace).map_err(|error| said(error.to_string()))?;
        read(py, &text)
    }

    /// What differs from the first state.
    fn diff<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = py.detach(|| {
            let play = self.held()?;
            Ok::<_, PyErr>(play.episode().diff().to_json(play.episode().domain()))
        })?;
        read(py, &text)
    }

    /// The state as it stands, as the bytes of a snapshot.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| Ok::<_, PyErr>(self.held()?.episode().snapshot_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What the judge says of the state as it stands. Raises where there is none; it is then no reward of 0.
    fn grade(&self, py: Python<'_>) -> PyResult<Verdict> {
        py.detach(|| self.held()?.grade().map(Verdict::new).map_err(told))
    }

    /// The id of its task.
    #[getter]
    fn task_id(&self) -> PyResult<String> {
        Ok(self.held()?.task().part().open.id.clone())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("Episode({:?})", self.task_id()?))
    }
}

/// What a call answers.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Answer {
    text: String,
    refusal: Option<Refusal>,
}

impl Answer {
    pub(crate) fn of(answer: Result<String, Refusal>) -> Answer {
        match answer {
            Ok(text) => Answer { text, refusal: None },
            Err(refusal) => Answer { text: refusal.to_json(), refusal: Some(refusal) },
        }
    }
}

#[pymethods]
impl Answer {
    /// The answer as JSON text; where the call was refused, the refusal.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The answer, or the refusal, read.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        read(py, &self.text)
    }

    /// Whether the world refused the call. Nothing was done then.
    #[getter]
    fn refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// Why it was refused, in a sentence.
    #[getter]
    fn why(&self) -> Option<&str> {
        self.refusal.as_ref().map(|refusal| &*refusal.message)
    }

    /// The rule that stood in the way, where one did.
    #[getter]
    fn rule(&self) -> Option<&str> {
        self.refusal.as_ref().and_then(|refusal| refusal.rule.as_deref())
    }

    fn __repr__(&self) -> String {
        let kind = if self.refusal.is_some() { "refused" } else { "answered" };
        let short: String = self.text.chars().take(80).collect();
        format!("Answer({kind}: {short})")
    }
}
