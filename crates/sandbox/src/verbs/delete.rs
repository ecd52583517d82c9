//! `delete`: one row gone, with the rows it owns. A row that others refer to stays.

use crate::{answer::write_count, call::Call, draft::Draft};
use benchwright_pack::Refusal;
use benchwright_schema::Action;

pub(crate) fn delete(call: &Call<'_>, draft: &mut Draft<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    call.actor.require(call.table, Action::Delete)?;
    let row = call.only_row(&draft.state)?;
    let cascaded = draft.delete(call.table, row)?;
    out.push(b'{');
    write_count(out, "deleted", row as usize);
    out.push(b',');
    write_count(out, "cascaded", cascaded);
    out.push(b'}');
    Ok(())
}
