//! How a caller follows work that takes long, and how it stops it. Nothing here prints or reads a clock: rates and the time
//! left are for whoever shows them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// How far a piece of work is. It is told when an item is begun and when one is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// The work, such as `making tasks`.
    pub what: &'a str,
    /// Items that are done. The first step of work that is taken up again counts what was kept.
    pub done: usize,
    /// Items in all, those that were done before included.
    pub total: usize,
    /// The item that was just begun or done, such as the words of a task.
    pub item: &'a str,
}

/// Who is told how far the work is. A closure over [`Step`] is one.
pub trait Progress: Send + Sync {
    /// An item was begun or done.
    fn step(&self, step: &Step<'_>);

    /// The work is over, whether all of it was done or not.
    fn over(&self) {}
}

impl<F: Fn(&Step<'_>) + Send + Sync> Progress for F {
    fn step(&self, step: &Step<'_>) {
        self(step);
    }
}

/// Nobody is told.
pub(crate) struct Silent;

impl Progress for Silent {
    fn step(&self, _: &Step<'_>) {}
}

/// Stops work between two items: what was begun is finished and kept, the rest is not begun. Its copies are one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks whoever works with this flag to stop before the next item.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for who looks at it often.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether the work is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A piece of work as it is told; when this is dropped, the work is over.
pub(crate) struct Work<'p> {
    progress: &'p dyn Progress,
    what: &'p str,
    done: usize,
    total: usize,
}

impl<'p> Work<'p> {
    /// Begins with so many items, of which some are done already.
    pub(crate) fn begin(progress: &'p dyn Progress, what: &'p str, kept: usize, total: usize) -> Work<'p> {
        let work = Work { progress, what, done: kept, total };
        work.tell("");
        work
    }

    /// An item is begun.
    pub(crate) fn begun(&self, item: &str) {
        self.tell(item);
    }

    /// An item is done.
    pub(crate) fn done(&mut self, item: &str) {
        self.done += 1;
        self.tell(item);
    }

    /// So many items are done.
    pub(crate) fn reach(&mut self, done: usize) {
        self.done = done;
        self.tell("");
    }

    fn tell(&self, item: &str) {
        self.progress.step(&Step { what: self.what, done: self.done, total: self.total, item });
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.progress.over();
    }
}
