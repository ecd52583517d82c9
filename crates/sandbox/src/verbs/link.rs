//! `link`: a new row of an association. The association's key makes a second identical pair a duplicate.

use crate::{call::Call, draft::Draft};
use benchwright_pack::Refusal;

pub(crate) fn link(call: &Call<'_>, draft: &mut Draft<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    super::create::create(call, draft, out)
}
