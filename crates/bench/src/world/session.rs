//! SQLite's session extension: it records what changes on a connection and gives the net difference. The bundled SQLite
//! is built with it (`.cargo/config.toml`) and its declarations are there, but rusqlite's own wrapper needs libclang.

#![expect(unsafe_code, reason = "the session extension has no safe wrapper that builds without libclang")]

use crate::error::{Result, wrong};
use rusqlite::{Connection, ffi};
use std::{ffi::c_int, marker::PhantomData, ptr};

/// A recording of all tables of a connection, from now until it is dropped.
pub(super) struct Session<'c> {
    session: *mut ffi::sqlite3_session,
    connection: PhantomData<&'c Connection>,
}

/// The net difference that was recorded.
pub(super) struct Changeset {
    bytes: *mut std::ffi::c_void,
    len: c_int,
}

fn check(code: c_int, what: &str) -> Result<()> {
    if code != ffi::SQLITE_OK {
        wrong!("SQLite's session extension could not {what} (code {code})");
    }
    Ok(())
}

impl<'c> Session<'c> {
    /// Starts to record.
    pub(super) fn start(connection: &'c Connection) -> Result<Session<'c>> {
        let mut session = ptr::null_mut();
        // SAFETY: the handle is valid while the connection is borrowed, which the session's lifetime ensures; the name is
        // a C string; the out pointer is ours.
        let code = unsafe { ffi::sqlite3session_create(connection.handle(), c"main".as_ptr(), &mut session) };
        check(code, "start")?;
        let session = Session { session, connection: PhantomData };
        // SAFETY: the session was created above and is not yet deleted; null stands for every table.
        check(unsafe { ffi::sqlite3session_attach(session.session, ptr::null()) }, "attach the tables")?;
        Ok(session)
    }

    /// What has changed since the start.
    pub(super) fn changeset(&self) -> Result<Changeset> {
        let mut changes = Changeset { bytes: ptr::null_mut(), len: 0 };
        // SAFETY: the session is alive; both out pointers are ours, and the bytes are freed when they are dropped.
        let code = unsafe { ffi::sqlite3session_changeset(self.session, &mut changes.len, &mut changes.bytes) };
        check(code, "tell what changed")?;
        Ok(changes)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: created in `start`, deleted only here, while the connection is still open.
        unsafe { ffi::sqlite3session_delete(self.session) }
    }
}

impl Changeset {
    /// How many rows it speaks of.
    pub(super) fn rows(&self) -> Result<usize> {
        let mut iterator = ptr::null_mut();
        // SAFETY: the bytes and their length came together from SQLite and outlive the iterator.
        check(unsafe { ffi::sqlite3changeset_start(&mut iterator, self.len, self.bytes) }, "read the changes")?;
        let mut rows = 0;
        // SAFETY: the iterator was started above and is finalized once, below.
        while unsafe { ffi::sqlite3changeset_next(iterator) } == ffi::SQLITE_ROW {
            rows += 1;
        }
        // SAFETY: as above.
        check(unsafe { ffi::sqlite3changeset_finalize(iterator) }, "read the changes")?;
        Ok(rows)
    }
}

impl Drop for Changeset {
    fn drop(&mut self) {
        // SAFETY: SQLite allocated the bytes and gave them away; null is allowed.
        unsafe { ffi::sqlite3_free(self.bytes) }
    }
}
