//! Measuring: CPU time of this thread, medians, and the memory of the process. Wall time is never read: the machine may
//! be shared.

use crate::error::Result;
use nix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The CPU time that this thread has used.
pub(super) fn cpu() -> Result<Duration> {
    Ok(Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?))
}

/// The CPU time of some work, in nanoseconds.
pub(super) fn nanoseconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = cpu()?;
    work()?;
    Ok((cpu()? - start).as_nanos() as f64)
}

/// The middle one; zero of none.
pub(super) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// The resident memory of the process in bytes, where the system tells.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_the_median_is_in_the_middle() {
        let mut sum = 0_u64;
        let spent = nanoseconds(|| {
            (0..1_000_000_u64).for_each(|n| sum = std::hint::black_box(sum ^ n));
            Ok(())
        });
        assert!(spent.unwrap() > 1000.0);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
