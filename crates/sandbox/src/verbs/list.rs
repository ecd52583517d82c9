//! `list`: all rows, sorted, in pages. It is `find` without filters.

use crate::{call::Call, state::State};
use benchwright_pack::Refusal;

pub(crate) fn list(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    super::find::find(call, state, out)
}
