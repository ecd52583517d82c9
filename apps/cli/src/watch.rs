//! Shows how far the workshop is with its work.

use crate::progress::Progress;
use benchwright_workshop::{Progress as Told, Step};
use std::sync::{Mutex, PoisonError};

/// What is under way, if anything is.
#[derive(Default)]
pub(crate) struct Watch(Mutex<Option<Progress>>);

impl Told for Watch {
    fn step(&self, step: &Step<'_>) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = shown.get_or_insert_with(|| Progress::resumed(step.what, step.done, step.total));
        progress.reach(step.done);
        progress.at(step.item);
    }

    fn over(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
