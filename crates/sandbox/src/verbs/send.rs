//! `send`: a new row that goes out. Its time and its status are the world's: they are server fields and defaults of the
//! table, so that what was sent cannot be dated otherwise.

use crate::{call::Call, draft::Draft};
use benchwright_pack::Refusal;

pub(crate) fn send(call: &Call<'_>, draft: &mut Draft<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    super::create::create(call, draft, out)
}
