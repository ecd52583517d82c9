//! A line on the terminal for what takes more than two seconds. Where stderr is no terminal, a line a minute.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Shown from two seconds on until it is dropped.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins with what is under way, such as `filling csm`.
    pub(crate) fn start(what: impl Into<String>) -> Progress {
        Progress::begin(what.into(), None)
    }

    /// Begins with what is under way and how much of it there is; [`Progress::advance`] counts.
    pub(crate) fn of(what: impl Into<String>, total: usize) -> Progress {
        Progress::begin(what.into(), Some(total))
    }

    /// One more is done.
    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn begin(what: String, total: Option<usize>) -> Progress {
        let done = Arc::new(AtomicUsize::new(0));
        let terminal = io::stderr().is_terminal();
        let (first, then, before, after) = if terminal { (2, 1, "\r", " ") } else { (60, 60, "", "\n") };
        let (stop, stopped) = channel();
        let counted = Arc::clone(&done);
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            let mut wait = Duration::from_secs(first);
            let mut is_shown = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                is_shown = true;
                let share = total.map(|total| format!(" {} of {total},", counted.load(Ordering::Relaxed)));
                let share = share.unwrap_or_default();
                // A terminal that has gone needs no progress.
                let _ = write!(io::stderr(), "{before}{what}:{share} {} s{after}", begun.elapsed().as_secs());
                wait = Duration::from_secs(then);
            }
            if is_shown && terminal {
                let _ = write!(io::stderr(), "\r\x1b[K");
            }
        });
        Progress { done, shown: Some((stop, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.shown.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
