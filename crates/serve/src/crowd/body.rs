//! Bytes that are on the way: bodies of requests that are not whole yet, and documents that are made and sent. Both are counted, so
//! that what clients leave unfinished or unread takes no more memory than was set aside for it.

use super::{Crowd, Share, share_here};
use crate::ServeError;
use axum::body::{Body, Bytes};
use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout_at},
};

/// Documents are counted by the kibibyte.
const PERMIT: usize = 1 << 10;

pub(super) fn permits(bytes: usize) -> usize {
    bytes.div_ceil(PERMIT).clamp(1, u32::MAX as usize)
}

/// A body that is coming. All that is counted of it is given back when this is dropped.
pub(crate) struct Held<'c> {
    crowd: &'c Crowd,
    share: Option<Arc<Share>>,
    /// The bytes that have come so far, which are what it takes of the room for all.
    bytes: usize,
    /// The bytes that were announced or have come, whichever is more, which are what it takes of its token's own: who announces more than it
    /// may is refused before anything is read.
    announced: usize,
}

impl Held<'_> {
    /// So many bytes more.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), ServeError> {
        let limits = self.crowd.limits();
        self.bytes += bytes;
        let all = self.crowd.bodies.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.announce(self.bytes.saturating_sub(self.announced))?;
        if all > limits.bodies {
            return Err(ServeError::BodiesFull(limits.bodies));
        }
        Ok(())
    }

    /// So many bytes more will come.
    fn announce(&mut self, bytes: usize) -> Result<(), ServeError> {
        let most = self.crowd.limits().bodies_of_one_token;
        self.announced += bytes;
        let of_token = self.share.as_ref().map_or(0, |share| share.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes);
        if of_token > most { Err(ServeError::TooManyBytes(most)) } else { Ok(()) }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.crowd.bodies.fetch_sub(self.bytes, Ordering::Relaxed);
        if let Some(share) = &self.share {
            share.bytes.fetch_sub(self.announced, Ordering::Relaxed);
            share.room.notify_waiters();
        }
    }
}

/// Room for a document that is made, and then sent.
pub(crate) struct Document {
    room: Option<OwnedSemaphorePermit>,
}

impl Document {
    /// The document as an answer. Its bytes themselves keep the room, because whoever sends them may be done with the body long before the
    /// client has read it.
    pub(crate) fn body(self, bytes: Vec<u8>) -> Body {
        Bytes::from_owner(Sent { bytes, _room: self.room }).into()
    }
}

impl Crowd {
    /// A body of at least so many bytes begins to come. One that is not large by what its route says counts against its token too, and waits
    /// for a while where that has no room left; it is not read meanwhile.
    pub(crate) async fn hold(&self, of_token: bool, announced: usize) -> Result<Held<'_>, ServeError> {
        let share = share_here().filter(|_| of_token);
        let mut held = Held { crowd: self, share: share.clone(), bytes: 0, announced: 0 };
        let Some(share) = share else { return Ok(held) };
        let until = Instant::now() + self.limits().room;
        loop {
            let mut room = pin!(share.room.notified());
            room.as_mut().enable();
            let Err(error) = held.announce(announced) else { return Ok(held) };
            share.bytes.fetch_sub(announced, Ordering::Relaxed);
            held.announced -= announced;
            if announced > self.limits().bodies_of_one_token || timeout_at(until, room).await.is_err() {
                return Err(error);
            }
        }
    }

    /// Waits until there is room for a document of about so many bytes. One that is larger than all room has it to itself.
    pub(crate) async fn document(&self, bytes: u64) -> Document {
        let wanted = permits(usize::try_from(bytes).unwrap_or(usize::MAX)).min(permits(self.limits().documents));
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        // The room is never closed, so there is always a place in the end.
        Document { room: Arc::clone(&self.documents).acquire_many_owned(wanted).await.ok() }
    }
}

struct Sent {
    bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CrowdLimits;
    use axum::body::to_bytes;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_document_has_its_room_until_its_last_byte_is_gone() {
        let crowd = Crowd::new(CrowdLimits { documents: 1 << 20, ..CrowdLimits::default() });
        let waits = async |bytes| timeout(Duration::from_millis(50), crowd.document(bytes)).await.is_err();
        let first = crowd.document(800 << 10).await;
        assert!(waits(800 << 10).await && !waits(100 << 10).await);
        let sent = to_bytes(first.body(vec![b'x'; 10]), 10).await.unwrap();
        assert!(waits(800 << 10).await, "the body is gone, its bytes are not");
        drop(sent);
        assert!(!waits(800 << 10).await);
        assert!(!waits(u64::MAX).await, "one that is larger than all room has it to itself");
    }
}
