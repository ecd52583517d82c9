//! Suites and tasks.

use crate::{
    Playable, Tasks,
    episode::Episode,
    error::{said, told},
    table::{Table, texts, wholes},
};
use benchwright_export::{is_sharded, unpack};
use benchwright_pack::{OpenPart, Store};
use benchwright_workshop::{
    Temporary, carried,
    play::{Offer, content_of},
};
use pyo3::{
    exceptions::{PyIndexError, PyKeyError, PyTypeError},
    prelude::*,
    types::{PyDict, PyList, PyString},
};
use std::{path::PathBuf, sync::Arc};

/// The tasks of a folder.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Suite {
    tasks: Arc<Tasks<'static>>,
    ids: Vec<String>,
    is_graded: bool,
    /// Where the tasks of the demo were unpacked; it is removed with the suite and the last of its tasks.
    folder: Option<Arc<Temporary>>,
}

/// Opens the tasks of a folder, as `benchwright build` and `benchwright new` write it, or the shards of `benchwright export parquet`.
///
/// With ``grade=False`` nothing sealed is read: tasks can be played, and there are no verdicts.
#[pyfunction]
#[pyo3(signature = (folder, *, grade = false))]
pub(crate) fn load_suite(py: Python<'_>, folder: PathBuf, grade: bool) -> PyResult<Suite> {
    py.detach(|| {
        if !is_sharded(&folder) {
            return opened(Store::at(folder), grade, None);
        }
        let unpacked = Temporary::new().map_err(|error| said(error.to_string()))?;
        let store = Store::held_elsewhere(unpacked.path());
        unpack(&folder, grade, &store).map_err(|error| said(error.to_string()))?;
        opened(store, grade, Some(unpacked))
    })
}

/// The five tasks that come with the package, with their verdicts.
#[pyfunction]
pub(crate) fn demo(py: Python<'_>) -> PyResult<Suite> {
    py.detach(|| {
        let folder = Temporary::new().map_err(|error| said(error.to_string()))?;
        let store = carried::unpack_demo(folder.path()).map_err(told)?;
        opened(store, true, Some(folder))
    })
}

fn opened(store: Store, is_graded: bool, folder: Option<Temporary>) -> PyResult<Suite> {
    let tasks = Tasks::open(content_of(store.root()), store, is_graded);
    let ids = tasks.ids().map_err(told)?;
    if ids.is_empty() {
        return Err(said(format!("{} holds no tasks", tasks.store().root().display())));
    }
    Ok(Suite { tasks: Arc::new(tasks), ids, is_graded, folder: folder.map(Arc::new) })
}

#[pymethods]
impl Suite {
    /// The ids of its tasks, in order.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.ids.clone()
    }

    /// Whether verdicts can be reached.
    #[getter]
    fn grades(&self) -> bool {
        self.is_graded
    }

    fn __len__(&self) -> usize {
        self.ids.len()
    }

    fn __contains__(&self, id: &str) -> bool {
        self.ids.iter().any(|known| known == id)
    }

    /// A task by its id, or by its place.
    fn __getitem__(&self, py: Python<'_>, which: &Bound<'_, PyAny>) -> PyResult<Task> {
        let id = if let Ok(id) = which.cast::<PyString>() {
            let id = id.to_string();
            if !self.__contains__(&id) {
                return Err(PyKeyError::new_err(id));
            }
            id
        } else {
            let place: isize = which.extract()?;
            let place = if place < 0 { place + self.ids.len() as isize } else { place };
            let found = usize::try_from(place).ok().and_then(|place| self.ids.get(place));
            found.cloned().ok_or_else(|| PyIndexError::new_err("there are fewer tasks"))?
        };
        let tasks = Arc::clone(&self.tasks);
        py.detach(|| {
            let task = tasks.task(&id).map_err(told)?;
            Ok(Task { tasks, task, _folder: self.folder.clone() })
        })
    }

    /// A table of its tasks, a row each: what an agent is told, and with verdicts also what the task was made from.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| {
            let store = self.tasks.store();
            let read = |id: &String| store.open_part(id).map(|part| OpenPart { world: Vec::new(), ..part });
            let parts = self.ids.iter().map(read).collect::<Result<Vec<OpenPart>, _>>();
            let parts = parts.map_err(|error| said(error.to_string()))?;
            let mut columns = vec![
                ("id", texts(self.ids.iter().cloned())),
                ("domain", texts(parts.iter().map(|part| &*part.open.domain))),
                ("role", texts(parts.iter().map(|part| &*part.open.role))),
                ("max_calls", wholes(parts.iter().map(|part| part.open.calls.into()))),
                ("instruction", texts(parts.iter().map(|part| &*part.instruction))),
            ];
            if self.is_graded {
                let tasks = self.ids.iter().map(|id| store.task(id)).collect::<Result<Vec<_>, _>>();
                let tasks = tasks.map_err(|error| said(error.to_string()))?;
                columns.extend([
                    ("digest", texts(tasks.iter().map(|task| task.digest().to_string()))),
                    ("family", texts(tasks.iter().map(|task| &*task.sealed.family))),
                    ("pattern", texts(tasks.iter().map(|task| &*task.sealed.pattern))),
                    ("tier", texts(tasks.iter().map(|task| &*task.sealed.tier))),
                    ("objective", texts(tasks.iter().map(|task| &*task.sealed.objective))),
                ]);
            }
            Table::of(columns)
        })
    }

    fn __repr__(&self) -> String {
        format!("Suite({:?}, {} tasks)", self.tasks.store().root().display().to_string(), self.ids.len())
    }
}

/// A task: what an agent is told, and the world that it works in.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Task {
    tasks: Arc<Tasks<'static>>,
    pub(crate) task: Arc<Playable>,
    _folder: Option<Arc<Temporary>>,
}

/// What was said of tools: nothing, a setting, or names.
pub(crate) fn offer_of(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Offer> {
    let Some(tools) = tools.filter(|tools| !tools.is_none()) else { return Ok(Offer::All) };
    if let Ok(text) = tools.cast::<PyString>() {
        return Offer::parse(&text.to_string()).map_err(told);
    }
    let names: Result<Vec<String>, _> = tools.extract();
    names
        .map(Offer::Named)
        .map_err(|_| PyTypeError::new_err("tools: \"all\", \"oracle\", \"oracle+N\" or a list of names"))
}

impl Task {
    /// Episodes of the task at its first state.
    pub(crate) fn begun(
        &self,
        py: Python<'_>,
        tools: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<benchwright_workshop::play::Play> {
        let offer = offer_of(tools)?;
        py.detach(|| {
            let tools = self.tasks.tools(&self.task, &offer).map_err(told)?;
            self.task.begin(tools).map_err(told)
        })
    }
}

#[pymethods]
impl Task {
    /// Its id, which says nothing of how it was made.
    #[getter]
    fn id(&self) -> &str {
        &self.task.part().open.id
    }

    /// The domain of its world.
    #[getter]
    fn domain(&self) -> &str {
        &self.task.part().open.domain
    }

    /// The role that the agent has.
    #[getter]
    fn role(&self) -> &str {
        &self.task.part().open.role
    }

    /// The text that the agent is given.
    #[getter]
    fn instruction(&self) -> &str {
        &self.task.part().instruction
    }

    /// The most calls that an episode may make.
    #[getter]
    fn max_calls(&self) -> u32 {
        self.task.part().open.calls
    }

    /// Whether verdicts can be reached.
    #[getter]
    fn grades(&self) -> bool {
        self.task.is_judged()
    }

    /// The tools of an offer as dictionaries with ``name``, ``description`` and ``parameters``, a JSON Schema.
    #[pyo3(signature = (offer = None))]
    fn tools<'py>(&self, py: Python<'py>, offer: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        let wanted = offer_of(offer)?;
        let set = py.detach(|| self.tasks.tools(&self.task, &wanted).map_err(told))?;
        let loads = py.import("json")?.getattr("loads")?;
        let list = PyList::empty(py);
        for line in set.lines() {
            let tool = PyDict::new(py);
            tool.set_item("name", &line.name)?;
            tool.set_item("description", &line.description)?;
            tool.set_item("parameters", loads.call1((line.arguments.to_string(),))?)?;
            tool.set_item("reads_only", line.reads_only)?;
            list.append(tool)?;
        }
        Ok(list)
    }

    /// An episode at the first state. ``tools`` is ``"all"``, ``"oracle"``, ``"oracle+5"`` or a list of names.
    #[pyo3(signature = (tools = None))]
    fn begin(&self, py: Python<'_>, tools: Option<&Bound<'_, PyAny>>) -> PyResult<Episode> {
        Ok(Episode::new(self.begun(py, tools)?))
    }

    fn __repr__(&self) -> String {
        format!("Task({:?}, domain={:?}, role={:?})", self.id(), self.domain(), self.role())
    }
}
