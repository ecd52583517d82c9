//! Who is connected, and who has to leave. A client that says nothing, or says it a byte at a time, costs a place and some
//! kilobytes; taken together such clients must not keep anybody else out.
//!
//! A connection is a stranger's until a token was shown on it. Strangers have a small share of the places, and the oldest of them gives
//! way to a new one: so a newcomer always gets in, and whoever speaks at once is heard. What each connection is doing stands in a few
//! numbers of its own ([`Line`]), written without a lock; one timer looks at all of them and closes what takes too long.

mod body;
mod line;

pub(crate) use body::Document;
pub(crate) use line::{AtFirst, Line, Wire};

use crate::{
    CrowdLimits, ServeError,
    metrics::{Metrics, Plane},
};
use line::Act;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{Notify, Semaphore},
    task_local, time,
};

/// How often the timer looks, which is the unit in which connections note when something began.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// Into how many parts deadlines of heads are spread.
pub(crate) const SPREAD: u32 = 64;
/// How many bytes earn a client a second more.
const BYTES_A_SECOND: u64 = 64 << 10;
/// How many of the oldest strangers are looked at for one that is not being answered.
const LOOKED_AT: usize = 64;
/// How long the listener waits where the system has no more open files.
const BREATH: Duration = Duration::from_millis(10);
/// Whoever is let in after this was as good as not heard.
const HEARD_WITHIN: Duration = Duration::from_secs(1);

task_local! {
    /// The connection whose request is being answered.
    static LINE: Arc<Line>;
}

/// What the connections of one token have in common.
#[derive(Default)]
pub(crate) struct Share {
    connections: AtomicUsize,
    bytes: AtomicUsize,
    /// Told whenever bytes are given back.
    room: Notify,
}

/// Why a connection was closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The head of a request, or the first word at all, did not come in time.
    Head,
    /// An answer was not read in time.
    Answer,
    /// It rested for too long.
    Rest,
    /// It gave way to a new one.
    Evicted,
}

/// All connections of a server.
pub(crate) struct Crowd {
    limits: CrowdLimits,
    /// The most connections that the system has files for.
    most: usize,
    places: Mutex<Places>,
    tick: AtomicU32,
    bodies: AtomicUsize,
    documents: Arc<Semaphore>,
    freed: Notify,
    metrics: Metrics,
}

/// The connections by their number, which is the order in which they came.
#[derive(Default)]
struct Places {
    strangers: BTreeMap<u64, Arc<Line>>,
    known: BTreeMap<u64, Arc<Line>>,
    next: u64,
}

impl Places {
    fn len(&self) -> usize {
        self.strangers.len() + self.known.len()
    }

    /// Takes the oldest stranger out, rather one whose request is not being answered.
    fn oldest_stranger(&mut self) -> Option<Arc<Line>> {
        let resting = |line: &&Arc<Line>| line.act() != Act::Busy;
        let mut oldest = self.strangers.values().take(LOOKED_AT);
        let id = oldest.find(resting).or_else(|| self.strangers.values().next())?.id;
        self.strangers.remove(&id)
    }

    /// Takes out who has rested the longest.
    fn longest_resting(&mut self) -> Option<Arc<Line>> {
        let resting = self.known.values().filter(|line| line.act() == Act::Rest);
        let id = resting.min_by_key(|line| line.since())?.id;
        self.known.remove(&id)
    }
}

/// A place, which is free again when this is dropped.
pub(crate) struct Seat(Arc<Line>);

impl Seat {
    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.0
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let line = &self.0;
        let mut places = line.crowd.places();
        let _ = places.strangers.remove(&line.id).or_else(|| places.known.remove(&line.id));
        drop(places);
        if let Some(share) = line.share().take() {
            share.connections.fetch_sub(1, Ordering::Relaxed);
        }
        line.crowd.freed.notify_one();
    }
}

impl Crowd {
    pub(crate) fn new(limits: CrowdLimits) -> Arc<Crowd> {
        let files = open_files();
        let most = limits.connections.min(files - files / 4).max(1);
        Arc::new(Crowd {
            limits: CrowdLimits { connections: most, strangers: limits.strangers.min(most / 2).max(1), ..limits },
            most,
            places: Mutex::default(),
            tick: AtomicU32::new(0),
            bodies: AtomicUsize::new(0),
            documents: Arc::new(Semaphore::new(body::permits(limits.documents))),
            freed: Notify::new(),
            metrics: Metrics::default(),
        })
    }

    pub(crate) fn limits(&self) -> &CrowdLimits {
        &self.limits
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// How many connections of strangers and of others there are.
    pub(crate) fn connections(&self) -> (usize, usize) {
        let places = self.places();
        (places.strangers.len(), places.known.len())
    }

    /// The bytes of bodies that are being read.
    pub(crate) fn body_bytes(&self) -> usize {
        self.bodies.load(Ordering::Relaxed)
    }

    /// A place for a new connection. Where there is none, somebody gives way; only where everybody's request is being answered does it wait.
    pub(crate) async fn seat(self: &Arc<Crowd>) -> Seat {
        loop {
            if let Some(seat) = self.seat_now() {
                return seat;
            }
            let _ = time::timeout(TICK, self.freed.notified()).await;
        }
    }

    fn seat_now(self: &Arc<Crowd>) -> Option<Seat> {
        let mut left = Vec::new();
        let mut places = self.places();
        if places.strangers.len() >= self.limits.strangers {
            left.extend(places.oldest_stranger());
        }
        if places.len() >= self.most {
            left.extend(places.oldest_stranger().or_else(|| places.longest_resting()));
        }
        let seat = (places.len() < self.most).then(|| {
            let id = places.next;
            places.next += 1;
            let line = Arc::new(Line::new(id, Arc::clone(self)));
            places.strangers.insert(id, Arc::clone(&line));
            Seat(line)
        });
        drop(places);
        for line in left {
            self.close(&line, Why::Evicted);
        }
        seat
    }

    /// A connection could not be taken, and none could since then. Where that is for want of open files, a stranger gives its own back,
    /// and whoever comes waits in the system until the next try; only where that does not help for long was somebody not heard.
    pub(crate) async fn not_accepted(&self, error: &io::Error, since: Instant) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted) {
            return;
        }
        self.metrics.not_accepted(since.elapsed() > HEARD_WITHIN);
        let oldest = self.places().oldest_stranger();
        if let Some(line) = oldest {
            self.close(&line, Why::Evicted);
        }
        time::sleep(BREATH).await;
    }

    fn close(&self, line: &Line, why: Why) {
        self.metrics.closed(why);
        line.close();
    }

    /// Looks at all connections again and again, and closes those that take too long.
    pub(crate) async fn watch(self: Arc<Crowd>) {
        let mut every = time::interval(TICK);
        every.set_missed_tick_behavior(time::MissedTickBehavior::Skip);
        let begun = every.tick().await;
        loop {
            let now = every.tick().await.duration_since(begun);
            self.tick.store(ticks(now), Ordering::Relaxed);
            let late: Vec<(Arc<Line>, Why)> = {
                let places = self.places();
                let all = places.strangers.values().chain(places.known.values());
                all.filter_map(|line| Some((Arc::clone(line), self.is_late(line)?))).collect()
            };
            for (line, why) in late {
                self.close(&line, why);
            }
        }
    }

    fn is_late(&self, line: &Line) -> Option<Why> {
        let limits = &self.limits;
        let (most, why) = match line.act() {
            Act::Busy => return None,
            // Whoever asks on and reads nothing is late by what it does not read.
            Act::Head | Act::Rest if line.is_blocked() => (limits.answer + earned(line.taken()), Why::Answer),
            Act::Head => (limits.head + limits.head * line.spread() / SPREAD, Why::Head),
            Act::Rest => (limits.rest, Why::Rest),
        };
        (self.now().saturating_sub(line.since()) > ticks(most)).then_some(why)
    }

    /// Closes all whose request is not being answered.
    pub(crate) fn close_resting(&self) {
        let places = self.places();
        for line in places.strangers.values().chain(places.known.values()) {
            if line.act() != Act::Busy {
                line.close();
            }
        }
    }

    fn now(&self) -> u32 {
        self.tick.load(Ordering::Relaxed)
    }

    // No code runs under this lock that can leave the maps half-changed.
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection of this request has shown a token. The first time it counts as one of that token's, of which there may be so many.
pub(crate) fn entered(
    token: u64,
    most: usize,
    share: impl FnOnce() -> Result<Arc<Share>, ServeError>,
) -> Result<(), ServeError> {
    let enter = |line: &Arc<Line>| {
        if line.token() == token {
            return Ok(());
        }
        let share = share()?;
        if share.connections.fetch_add(1, Ordering::Relaxed) >= most {
            share.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(ServeError::TooManyConnections(most));
        }
        if let Some(before) = line.share().replace(share) {
            before.connections.fetch_sub(1, Ordering::Relaxed);
        }
        line.set_token(token);
        let mut places = line.crowd.places();
        if let Some(line) = places.strangers.remove(&line.id) {
            places.known.insert(line.id, line);
        }
        Ok(())
    };
    LINE.try_with(enter).unwrap_or(Ok(()))
}

/// The share of the token that the connection of this request has shown.
fn share_here() -> Option<Arc<Share>> {
    LINE.try_with(|line| line.share().clone()).ok().flatten()
}

/// The request is for the routes of this plane.
pub(crate) fn is_for(plane: Plane) {
    let _ = LINE.try_with(|line| line.set_plane(plane));
}

/// Work on a connection, during which it is known which one that is.
pub(crate) async fn on<F: Future>(line: Arc<Line>, work: F) -> F::Output {
    LINE.scope(line, work).await
}

/// The time that so many bytes earn.
pub(crate) fn earned(bytes: u64) -> Duration {
    Duration::from_secs(bytes / BYTES_A_SECOND)
}

fn ticks(time: Duration) -> u32 {
    u32::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u32::MAX)
}

/// How many files this process may have open, once the limit is as high as the process may set it itself.
fn open_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1_024 };
    let raised = soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    usize::try_from(if raised { hard } else { soft }).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(strangers: usize) -> Arc<Crowd> {
        Crowd::new(CrowdLimits { strangers, ..CrowdLimits::default() })
    }

    #[tokio::test]
    async fn without_files_a_stranger_gives_way_and_only_a_long_want_counts_as_not_heard() {
        let crowd = crowd(8);
        let _seats = [crowd.seat().await, crowd.seat().await];
        let none_left = io::Error::from_raw_os_error(24);
        crowd.not_accepted(&none_left, Instant::now()).await;
        assert_eq!(crowd.connections(), (1, 0));
        assert_eq!(crowd.metrics().all_turned_away(), 0);
        let long_ago = Instant::now().checked_sub(HEARD_WITHIN * 2).unwrap();
        crowd.not_accepted(&none_left, long_ago).await;
        assert_eq!((crowd.connections(), crowd.metrics().all_turned_away()), ((0, 0), 1));
        // A client that went away while it waited is nobody's fault.
        crowd.not_accepted(&io::ErrorKind::ConnectionAborted.into(), long_ago).await;
        assert_eq!(crowd.metrics().all_turned_away(), 1);
    }

    #[tokio::test]
    async fn a_stranger_that_is_being_answered_stays_if_another_can_go() {
        let crowd = crowd(2);
        let (first, second) = (crowd.seat().await, crowd.seat().await);
        first.line().asked(Plane::Control);
        let third = crowd.seat().await;
        let left: Vec<u64> = crowd.places().strangers.keys().copied().collect();
        assert_eq!(left, [first.line().id, third.line().id]);
        drop(second);
        assert_eq!(crowd.connections(), (2, 0));
        drop((first, third));
        assert_eq!(crowd.connections(), (0, 0));
    }

    #[tokio::test]
    async fn bytes_earn_time_and_nothing_else_does() {
        let crowd = crowd(8);
        let seat = crowd.seat().await;
        let later = |time: Duration| crowd.tick.store(ticks(time), Ordering::Relaxed);
        later(Duration::from_secs(11));
        assert_eq!(crowd.is_late(seat.line()), Some(Why::Head));
        seat.line().asked(Plane::Agent);
        assert_eq!(crowd.is_late(seat.line()), None);
        seat.line().answered();
        later(Duration::from_secs(200));
        assert_eq!(crowd.is_late(seat.line()), None);
        later(Duration::from_secs(400));
        assert_eq!(crowd.is_late(seat.line()), Some(Why::Rest));
        assert_eq!((earned(0), earned(1 << 20)), (Duration::ZERO, Duration::from_secs(16)));
    }
}
