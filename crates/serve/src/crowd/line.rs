//! One connection: what it is doing and since when, in numbers that are written where they change and read by a timer. Nothing here
//! takes a lock on the way of a call.

use super::{Crowd, SPREAD, Share};
use crate::metrics::Plane;
use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::AbortHandle,
};

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// The head of a request is awaited and not whole: nothing came yet on a new connection, or its first bytes did.
    Head,
    /// A request is being read or answered.
    Busy,
    /// The last request was answered; the answer may still be on its way.
    Rest,
}

/// A connection.
pub(crate) struct Line {
    pub(super) id: u64,
    pub(super) crowd: Arc<Crowd>,
    act: AtomicU8,
    /// Whose routes the request is for.
    plane: AtomicU8,
    /// When that began, in ticks of the timer.
    since: AtomicU32,
    /// Whether bytes wait for the client to read.
    blocked: AtomicBool,
    /// The bytes of the last answer that the system took.
    taken: AtomicU64,
    /// What tells the token that was shown last from others; 0 for none.
    token: AtomicU64,
    /// Its connections, of which this is one.
    share: Mutex<Option<Arc<Share>>>,
    closed: AtomicBool,
    task: OnceLock<AbortHandle>,
}

impl Line {
    pub(super) fn new(id: u64, crowd: Arc<Crowd>) -> Line {
        let since = AtomicU32::new(crowd.now());
        Line {
            id,
            crowd,
            act: AtomicU8::new(Act::Head as u8),
            plane: AtomicU8::new(Plane::Control as u8),
            since,
            blocked: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            token: AtomicU64::new(0),
            share: Mutex::default(),
            closed: AtomicBool::new(false),
            task: OnceLock::new(),
        }
    }

    /// Its part of those into which deadlines are spread.
    pub(super) fn spread(&self) -> u32 {
        (self.id % u64::from(SPREAD)) as u32
    }

    pub(crate) fn crowd(&self) -> &Arc<Crowd> {
        &self.crowd
    }

    pub(super) fn act(&self) -> Act {
        match self.act.load(Ordering::Relaxed) {
            0 => Act::Head,
            1 => Act::Busy,
            _ => Act::Rest,
        }
    }

    pub(super) fn since(&self) -> u32 {
        self.since.load(Ordering::Relaxed)
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    pub(super) fn token(&self) -> u64 {
        self.token.load(Ordering::Relaxed)
    }

    pub(super) fn set_token(&self, token: u64) {
        self.token.store(token, Ordering::Relaxed);
    }

    pub(super) fn share(&self) -> MutexGuard<'_, Option<Arc<Share>>> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever serves it can be stopped by this.
    pub(crate) fn served_by(&self, task: AbortHandle) {
        let _ = self.task.set(task);
        if self.closed.load(Ordering::SeqCst) {
            self.close();
        }
    }

    /// Ends it, whatever it is doing.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }

    fn begin(&self, act: Act) {
        self.act.store(act as u8, Ordering::Relaxed);
        self.since.store(self.crowd.now(), Ordering::Relaxed);
    }

    /// Waits until the client has read what was answered before: whoever asks and does not read is not asked for more.
    pub(crate) async fn unblocked(&self) {
        std::future::poll_fn(|_| if self.is_blocked() { Poll::Pending } else { Poll::Ready(()) }).await;
    }

    /// Whose routes the request is for.
    pub(crate) fn plane(&self) -> Plane {
        match self.plane.load(Ordering::Relaxed) {
            0 => Plane::Control,
            1 => Plane::Agent,
            _ => Plane::Nemo,
        }
    }

    pub(crate) fn set_plane(&self, plane: Plane) {
        self.plane.store(plane as u8, Ordering::Relaxed);
    }

    /// The head of a request is there, which is for these routes unless it shows otherwise.
    pub(crate) fn asked(&self, plane: Plane) {
        self.set_plane(plane);
        self.begin(Act::Busy);
    }

    /// The request was answered.
    pub(crate) fn answered(&self) {
        self.taken.store(0, Ordering::Relaxed);
        self.begin(Act::Rest);
    }

    #[inline]
    fn heard(&self) {
        if self.act() == Act::Rest {
            self.begin(Act::Head);
        }
    }

    /// The system took bytes, or has no room for more. Whether somebody waits for the first.
    #[inline]
    fn wrote(&self, bytes: Option<usize>) -> bool {
        let Some(bytes) = bytes else {
            self.blocked.store(true, Ordering::Relaxed);
            return false;
        };
        self.taken.store(self.taken() + bytes as u64, Ordering::Relaxed);
        let was_blocked = self.is_blocked();
        if was_blocked {
            self.blocked.store(false, Ordering::Relaxed);
        }
        was_blocked
    }
}

/// What is done with a stream when something is first heard on it.
pub(crate) type AtFirst<S> = Option<Box<dyn FnOnce(&S) + Send>>;

/// A stream that notes on its line what comes and goes.
pub(crate) struct Wire<S> {
    stream: S,
    line: Arc<Line>,
    at_first: AtFirst<S>,
}

impl<S> Wire<S> {
    pub(crate) fn new(stream: S, line: Arc<Line>, at_first: AtFirst<S>) -> Wire<S> {
        Wire { stream, line, at_first }
    }

    fn noted(&self, context: &Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let bytes = match &wrote {
            Poll::Pending => None,
            Poll::Ready(Ok(bytes)) => Some(*bytes),
            Poll::Ready(Err(_)) => return wrote,
        };
        if self.line.wrote(bytes) {
            // A request that came meanwhile waits for this, in the same task.
            context.waker().wake_by_ref();
        }
        wrote
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, into);
        if into.filled().len() > before {
            this.line.heard();
            if let Some(at_first) = this.at_first.take() {
                at_first(&this.stream);
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.noted(context, wrote)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write_vectored(context, bytes);
        this.noted(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
