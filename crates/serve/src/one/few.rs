//! So many connections of the agent at a time and no more. Each takes an open file of the world's process, and whoever took them all would
//! keep the control socket from being answered: a trial that is lost could so be made one without a verdict.

use super::peers::Callers;
use axum::serve::Listener;
use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// Far below the 1,024 open files that a process has everywhere.
pub(super) const MOST_CONNECTIONS: usize = 256;

/// A listener whose connections wait for room.
pub(super) struct Few {
    listener: TcpListener,
    room: Arc<Semaphore>,
    callers: Callers,
}

impl Few {
    pub(super) fn new(listener: TcpListener, callers: Callers) -> Few {
        Few { listener, room: Arc::new(Semaphore::new(MOST_CONNECTIONS)), callers }
    }
}

impl Listener for Few {
    type Io = Held;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Held, SocketAddr) {
        // The room is never closed, so there is always a place in the end.
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Answers are small and awaited; nothing is gained by gathering them.
        let _ = stream.set_nodelay(true);
        self.callers.note(&stream);
        (Held { stream, _place: place }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection with its place, which is free again when it ends.
pub(super) struct Held {
    stream: TcpStream,
    _place: Option<OwnedSemaphorePermit>,
}

impl AsyncRead for Held {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

impl AsyncWrite for Held {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, bytes)
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
