//! `get`: one row by its id or by a key. A key that matches several gives the first and says how many others there are.

use crate::{
    answer::{open_again, write_count, write_row},
    call::Call,
    state::State,
};
use benchwright_pack::Refusal;

pub(crate) fn get(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (row, others) = call.named_row(state)?;
    write_row(out, &call.actor, state, call.table, row, &call.tool.show);
    if others > 0 {
        open_again(out);
        write_count(out, "other_matches", others);
        out.push(b'}');
    }
    Ok(())
}
