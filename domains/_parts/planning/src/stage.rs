//! Where the work stands: the one row of the table of stages. Whatever belongs to a later stage is not there yet.

use crate::names::{f, t};
use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{NativeCall, Row};

/// The stage that is now, and the last.
#[derive(Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) row: RowId,
    pub(crate) now: i64,
    pub(crate) last: i64,
}

/// A number of a row.
pub(crate) fn int(value: &Value) -> i64 {
    value.as_number().unwrap_or_default()
}

/// The one row that tells where the work stands.
pub(crate) fn row<'n>(call: &'n NativeCall<'_, '_>) -> Result<&'n Row, Refusal> {
    let row = call.open(t::stage)?.iter().next();
    row.ok_or_else(|| Refusal::new(RefusalCode::NotFound, "there is no stage in this world"))
}

/// The stage that is now.
pub(crate) fn stage(call: &NativeCall<'_, '_>) -> Result<Stage, Refusal> {
    let row = row(call)?;
    Ok(Stage { row: row.id(), now: int(row.get(f::stage::current)), last: int(row.get(f::stage::last)) })
}
