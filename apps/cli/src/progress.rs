//! A line on the terminal for what takes more than two seconds. Where stderr is no terminal there is none.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Shown from two seconds on until it is dropped.
pub(crate) struct Progress {
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins with what is under way, such as `filling csm`.
    pub(crate) fn start(what: impl Into<String>) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { shown: None };
        }
        let what = what.into();
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            let mut wait = Duration::from_secs(2);
            let mut is_shown = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                is_shown = true;
                // A terminal that has gone needs no progress.
                let _ = write!(io::stderr(), "\r{what}: {} s ", begun.elapsed().as_secs());
                wait = Duration::from_secs(1);
            }
            if is_shown {
                let _ = write!(io::stderr(), "\r\x1b[K");
            }
        });
        Progress { shown: Some((stop, thread)) }
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
