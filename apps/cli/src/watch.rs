//! Shows how far the workshop is with its work.

use crate::progress::Progress;
use benchwright_workshop::{Progress as Told, Step};
use std::sync::{Mutex, PoisonError};

/// What is under way, and how much of it is shown as done.
#[derive(Default)]
pub(crate) struct Watch(Mutex<Option<(Progress, usize)>>);

impl Told for Watch {
    fn step(&self, step: &Step<'_>) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (progress, done) = shown.get_or_insert_with(|| (Progress::of(step.what, step.total), 0));
        while *done < step.done {
            progress.advance();
            *done += 1;
        }
    }

    fn over(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
