//! `count`: how many rows, and how many per value of a field.

use super::{Groups, group, write_groups};
use crate::{answer::write_count, call::Call, state::State};
use benchwright_pack::Refusal;

pub(crate) fn count(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let groups: Groups<usize> = group(call, state, |count, _| *count += 1)?;
    out.push(b'{');
    write_count(out, "count", groups.values().sum());
    write_groups(call, &groups, out, |out, count| write_count(out, "count", *count));
    out.push(b'}');
    Ok(())
}
