//! `update`: changed fields of one row. A list of child rows replaces the old one.

use crate::{call::Call, draft::Draft};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::Action;

pub(crate) fn update(call: &Call<'_>, draft: &mut Draft<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    call.actor.require(call.table, Action::Update)?;
    let row = call.only_row(&draft.state)?;
    let settings = call.given.settings(call.compiled_tool, &call.compiled().domain, call.table, &call.tool.set)?;
    let nothing = settings.is_empty();
    draft.update(call.table, row, settings)?;
    let children = super::create::write_children(call, draft, row, true)?;
    if nothing && !children {
        return Err(Refusal::new(RefusalCode::InvalidArgument, "nothing to change was given"));
    }
    super::create::answer(call, draft, row, out)
}
