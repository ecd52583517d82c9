//! `avg`: the mean of a field, and per value of another. It is exact to the unit of the field (thousandths for whole
//! numbers), rounded half away from zero; null when no row has a value.

use super::{Groups, group, write_groups};
use crate::{answer::write_count, call::Call, state::State};
use benchwright_base::FieldId;
use benchwright_expr::Type;
use benchwright_pack::Refusal;

/// Sum and number of the values seen.
type Seen = (i128, usize);

pub(crate) fn avg(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let of = call.tool.of.unwrap_or(FieldId::ID);
    let ty = call.compiled().domain.table(call.table).field(of).ty;
    let groups: Groups<Seen> = group(call, state, |(total, count): &mut Seen, row| {
        if let Some(number) = row.get(of).as_number() {
            *total += i128::from(number);
            *count += 1;
        }
    })?;
    let all = groups.values().fold((0, 0), |(total, count), (t, c)| (total + t, count + c));
    let write = |out: &mut Vec<u8>, seen: &Seen| {
        let (total, count) = *seen;
        if count == 0 {
            out.extend_from_slice(b"\"avg\":null");
        } else {
            let (ty, scale) = if ty == Type::Int { (Type::Quantity, 1000) } else { (ty, 1) };
            super::sum::write_number(call, ty, "avg", rounded(total * scale, count as i128), out);
        }
        out.push(b',');
        write_count(out, "count", count);
    };
    out.push(b'{');
    write(out, &all);
    write_groups(call, &groups, out, write);
    out.push(b'}');
    Ok(())
}

fn rounded(total: i128, count: i128) -> i128 {
    let half = count / 2;
    if total >= 0 { (total + half) / count } else { -((-total + half) / count) }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn means_are_rounded_half_away_from_zero() {
        assert_eq!([rounded(5, 2), rounded(-5, 2), rounded(7, 3), rounded(0, 4)], [3, -3, 2, 0]);
    }
}
