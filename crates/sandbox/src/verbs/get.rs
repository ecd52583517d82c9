//! `get`: one row by its id or by a key. A key that matches several gives the first and says how many others there are.

use crate::{
    answer::{open_again, write_count, write_row},
    call::Call,
};
use benchwright_pack::Refusal;

pub(crate) fn get(call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (row, others) = call.named_row()?;
    write_row(out, &call.actor, call.state, call.table, row, &call.tool.show);
    if others > 0 {
        open_again(out);
        write_count(out, "other_matches", others);
        out.push(b'}');
    }
    Ok(())
}
