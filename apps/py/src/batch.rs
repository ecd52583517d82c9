//! Many episodes at once: one crossing from Python steps all of them, on all cores, without the interpreter's lock.

use crate::{
    Play,
    episode::{Answer, arguments_of},
    error::{said, told},
    suite::Task,
    verdict::Verdict,
};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{
    sync::{Mutex, MutexGuard},
    thread,
};

/// Episodes side by side, by their places.
#[pyclass(frozen, module = "benchwright")]
pub(crate) struct Batch {
    plays: Mutex<Vec<Play>>,
}

/// What is done to one episode.
type Order = Option<(String, String)>;

/// Does something to every episode, on all cores; what comes of it is in their order.
fn on_all<P: Send, T: Send>(plays: &mut [P], each: impl Fn(usize, &mut P) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = plays.len().div_ceil(cores).max(1);
    let each = &each;
    let done = |first: usize, part: &mut [P]| -> Vec<T> {
        part.iter_mut().enumerate().map(|(at, play)| each(first + at, play)).collect()
    };
    if plays.len() <= share {
        return done(0, plays);
    }
    thread::scope(|scope| {
        let parts = plays.chunks_mut(share).enumerate();
        let working: Vec<_> = parts.map(|(at, part)| scope.spawn(move || done(at * share, part))).collect();
        let mut all = Vec::new();
        for part in working {
            match part.join() {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// The episodes at some places, each once, in the order of the places.
fn chosen<'p>(plays: &'p mut [Play], places: &[usize]) -> PyResult<Vec<&'p mut Play>> {
    let mut all: Vec<Option<&mut Play>> = plays.iter_mut().map(Some).collect();
    let one = |place: &usize| {
        let none = || PyValueError::new_err(format!("there is no episode {place}, or it is named twice"));
        all.get_mut(*place).and_then(Option::take).ok_or_else(none)
    };
    places.iter().map(one).collect()
}

impl Batch {
    fn held(&self) -> PyResult<MutexGuard<'_, Vec<Play>>> {
        self.plays.lock().map_err(|_| said("a call stopped half-way, so the batch is broken"))
    }
}

#[pymethods]
impl Batch {
    /// ``count`` episodes of a task, or of several tasks in turn.
    #[new]
    #[pyo3(signature = (tasks, count = None, *, tools = None))]
    fn new(
        py: Python<'_>,
        tasks: &Bound<'_, PyAny>,
        count: Option<usize>,
        tools: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch> {
        let of: Vec<Bound<'_, Task>> = match tasks.cast::<Task>() {
            Ok(task) => vec![task.clone()],
            Err(_) => tasks.try_iter()?.map(|task| Ok(task?.cast::<Task>()?.clone())).collect::<PyResult<_>>()?,
        };
        if of.is_empty() {
            return Err(PyValueError::new_err("a batch needs a task"));
        }
        let first = of.iter().map(|task| task.get().begun(py, tools)).collect::<PyResult<Vec<Play>>>()?;
        let count = count.unwrap_or(of.len());
        let plays = py.detach(|| first.iter().cycle().take(count).map(Play::fork).collect());
        Ok(Batch { plays: Mutex::new(plays) })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.held()?.len())
    }

    /// One call in each episode, by place; ``None`` for a tool leaves that episode alone, and its answer is ``None``.
    fn step(
        &self,
        py: Python<'_>,
        tools: Vec<Option<String>>,
        arguments: Vec<Option<Bound<'_, PyAny>>>,
    ) -> PyResult<Vec<Option<Answer>>> {
        let count = self.__len__()?;
        if tools.len() != count || arguments.len() != count {
            let told = format!("{count} episodes, {} tools, {} arguments", tools.len(), arguments.len());
            return Err(PyValueError::new_err(told));
        }
        let mut orders: Vec<Order> = Vec::with_capacity(count);
        for (tool, arguments) in tools.into_iter().zip(&arguments) {
            orders.push(match tool {
                Some(tool) => Some((tool, arguments_of(arguments.as_ref())?)),
                None => None,
            });
        }
        py.detach(|| {
            let mut plays = self.held()?;
            Ok(on_all(&mut plays, |at, play| {
                let (tool, arguments) = orders.get(at)?.as_ref()?;
                Some(Answer::of(play.call(tool, arguments)))
            }))
        })
    }

    /// What the judge says of each state as it stands: all of them, or those at the places.
    #[pyo3(signature = (places = None))]
    fn grade(&self, py: Python<'_>, places: Option<Vec<usize>>) -> PyResult<Vec<Verdict>> {
        py.detach(|| {
            let mut plays = self.held()?;
            let mut chosen: Vec<&mut Play> = match places {
                None => plays.iter_mut().collect(),
                Some(places) => chosen(&mut plays, &places)?,
            };
            let verdicts = on_all(&mut chosen, |_, play| play.grade());
            verdicts.into_iter().map(|verdict| verdict.map(Verdict::new).map_err(told)).collect()
        })
    }

    /// Back to the first state: all of them, or those at the places.
    #[pyo3(signature = (places = None))]
    fn reset(&self, py: Python<'_>, places: Option<Vec<usize>>) -> PyResult<()> {
        py.detach(|| {
            let mut plays = self.held()?;
            match places {
                None => plays.iter_mut().for_each(Play::reset),
                Some(places) => chosen(&mut plays, &places)?.into_iter().for_each(Play::reset),
            }
            Ok(())
        })
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("Batch({} episodes)", self.__len__()?))
    }
}
