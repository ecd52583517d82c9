//! `create`: a new row, with child rows where the tool takes them.

use crate::{
    answer::{open_again, write_new_row},
    arguments,
    call::Call,
    compiled::Part,
    draft::Draft,
    sabotage::{Sabotage, on},
};
use benchwright_base::{RowId, Value, json};
use benchwright_pack::Refusal;
use benchwright_schema::Action;

pub(crate) fn create(call: &Call<'_>, draft: &mut Draft<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    call.actor.require(call.table, Action::Create)?;
    let settings = call.given.settings(call.compiled_tool, &call.compiled().domain, call.table, &call.tool.set)?;
    let id = draft.create(call.table, settings)?;
    write_children(call, draft, id, false)?;
    answer(call, draft, id, out)
}

/// Makes the child rows that were given; on an update the list replaces the old one.
pub(crate) fn write_children(
    call: &Call<'_>,
    draft: &mut Draft<'_>,
    parent: RowId,
    replace: bool,
) -> Result<bool, Refusal> {
    let compiled = call.compiled();
    let mut any = false;
    for (at, child) in call.tool.with.iter().enumerate() {
        let Some((name, json)) = call.given.part(call.compiled_tool, Part::Child(at)) else { continue };
        any = true;
        let rows = arguments::children(compiled, child.table, &child.set, name, json)?;
        if replace {
            let compiled_table = &compiled.tables[child.table.index()];
            let old: Vec<RowId> = draft
                .state
                .table(child.table)
                .referring(compiled_table, child.parent, parent)
                .map(|row| row.id())
                .collect();
            for id in old {
                draft.delete(child.table, id)?;
            }
        }
        for mut row in rows {
            row.push((child.parent, Value::Ref(parent)));
            draft.create(child.table, row)?;
        }
    }
    Ok(any)
}

/// Answers with the row as it now stands, and its children.
pub(crate) fn answer(call: &Call<'_>, draft: &Draft<'_>, id: RowId, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let row = draft.row(call.table, id)?;
    if on(Sabotage::AnswerBeforeStamps) {
        out.extend_from_slice(format!("{{\"id\":{}}}", id + 1).as_bytes());
        return Ok(());
    }
    write_new_row(out, &call.actor, &draft.state, call.table, &row, &call.tool.show);
    for child in &call.tool.with {
        let compiled_table = &call.compiled().tables[child.table.index()];
        open_again(out);
        json::write_text(out, call.compiled().domain.table(child.table).own_name());
        out.extend_from_slice(b":[");
        let rows = draft.state.table(child.table).referring(compiled_table, child.parent, id);
        let visible = rows.filter(|row| call.actor.may(&draft.state, child.table, Action::Read, row));
        for (at, row) in visible.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_new_row(out, &call.actor, &draft.state, child.table, row, &[]);
        }
        out.extend_from_slice(b"]}");
    }
    Ok(())
}
