//! What takes more than two seconds says how far it is: a bar on a terminal, elsewhere a plain line a minute. Both tell what is
//! done of how much, the rate, the time left and the item at work.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

/// Nothing is shown of what is over by then.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two plain lines.
const LINES: Duration = Duration::from_secs(60);
/// How often a bar is drawn anew while nothing happens, so that its time goes on.
const TICK: Duration = Duration::from_millis(250);

/// Shown from two seconds on until it is dropped.
pub(crate) struct Progress {
    /// Counts, whether or not it is drawn.
    bar: ProgressBar,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins with what is under way, such as `filling csm`.
    pub(crate) fn start(what: impl Into<String>) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Progress::begin(bar.with_prefix(what.into()), "{spinner} {prefix}, {elapsed} {wide_msg}", 0)
    }

    /// Begins with what is under way and how much of it there is; [`Progress::advance`] counts.
    pub(crate) fn of(what: impl Into<String>, total: usize) -> Progress {
        Progress::resumed(what, 0, total)
    }

    /// Begins with what is under way, of which some was done before: it says nothing of the rate.
    pub(crate) fn resumed(what: impl Into<String>, kept: usize, total: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let bar = bar.with_prefix(what.into()).with_position(kept as u64);
        Progress::begin(bar, "{prefix} [{bar:24}] {figures} {wide_msg}", kept as u64)
    }

    /// One more is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// So many are done.
    pub(crate) fn reach(&self, done: usize) {
        self.bar.set_position(done as u64);
    }

    /// The item at work.
    pub(crate) fn at(&self, item: &str) {
        self.bar.set_message(item.to_owned());
    }

    fn begin(bar: ProgressBar, template: &str, kept: u64) -> Progress {
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style.progress_chars("=> ").with_key(
            "figures",
            move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = out.write_str(&figures(state.pos(), kept, state.len().unwrap_or_default(), state.elapsed()));
            },
        );
        bar.set_style(style);
        let (stop, stopped) = channel();
        let drawn = bar.clone();
        let thread = std::thread::spawn(move || {
            let is_over = |wait| stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
            if io::stderr().is_terminal() {
                if !is_over(PATIENCE) {
                    drawn.set_draw_target(ProgressDrawTarget::stderr());
                    drawn.enable_steady_tick(TICK);
                    let _ = stopped.recv();
                }
                drawn.finish_and_clear();
                return;
            }
            while !is_over(LINES) {
                // Who does not read it any more needs no progress.
                let _ = io::stderr().write_all(line(&drawn, kept).as_bytes());
            }
        });
        Progress { bar, shown: Some((stop, thread)) }
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

/// A plain line, with the time it took so far.
fn line(bar: &ProgressBar, kept: u64) -> String {
    let mut line = format!("{}:", bar.prefix());
    if let Some(total) = bar.length() {
        let _ = write!(line, " {},", figures(bar.position(), kept, total, bar.elapsed()));
    }
    let _ = write!(line, " {} s", bar.elapsed().as_secs());
    let item = bar.message();
    if !item.is_empty() {
        let _ = write!(line, ", at {item}");
    }
    line.push('\n');
    line
}

/// How far it is, in words: `96 of 300, 16.2/min, 13m left`. The rate is that of all that was done since the beginning, because
/// items differ.
fn figures(done: u64, kept: u64, total: u64, since: Duration) -> String {
    let mut words = format!("{done} of {total}");
    let new = done.saturating_sub(kept) as f64;
    let each = since.as_secs_f64() / new;
    if new > 0.0 && each > 0.0 {
        let rate = [(1.0, "s"), (60.0, "min")].into_iter().find(|(seconds, _)| each <= *seconds);
        let (seconds, unit) = rate.unwrap_or((3_600.0, "h"));
        let left = Duration::try_from_secs_f64(each * total.saturating_sub(done) as f64).unwrap_or(Duration::MAX);
        let _ = write!(words, ", {:.1}/{unit}, {:#} left", seconds / each, HumanDuration(left));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_and_the_time_left_are_of_what_was_done_here() {
        let seconds = Duration::from_secs;
        assert_eq!(figures(0, 0, 300, seconds(5)), "0 of 300", "nothing is known yet");
        assert_eq!(figures(96, 0, 300, seconds(360)), "96 of 300, 16.0/min, 13m left");
        assert_eq!(figures(200, 0, 300, seconds(10)), "200 of 300, 20.0/s, 5s left");
        assert_eq!(figures(1, 0, 3, seconds(7_200)), "1 of 3, 0.5/h, 4h left");
        assert_eq!(figures(110, 100, 120, seconds(60)), "110 of 120, 10.0/min, 60s left", "what was kept is no work");
        assert_eq!(figures(300, 0, 300, seconds(300)), "300 of 300, 1.0/s, 0s left");
    }

    #[test]
    fn a_plain_line_tells_the_item_at_work() {
        let progress = Progress::resumed("making tasks", 2, 5);
        progress.advance();
        progress.at("production/one-line-make-or-buy-plan medium seed 7");
        let line = line(&progress.bar, 2);
        assert!(line.starts_with("making tasks: 3 of 5, "), "{line}");
        assert!(line.ends_with(" 0 s, at production/one-line-make-or-buy-plan medium seed 7\n"), "{line}");
        progress.reach(5);
        assert_eq!(progress.bar.position(), 5);
        let started = Progress::start("filling csm");
        assert_eq!(super::line(&started.bar, 0), "filling csm: 0 s\n");
    }
}
