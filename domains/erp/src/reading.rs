//! The record calls that only look, the same for every model: read, search_read, search, search_count, fields_get.

use crate::{
    names::a,
    present,
    record::{Answer, Call, ids},
    search, values,
};
use benchwright_base::Json;
use benchwright_pack::Refusal;
use benchwright_sandbox::Gives;
use benchwright_schema::field_list;

/// The largest answer, in bytes; a larger one is refused, because a part of it would pass for the whole.
const LARGEST_ANSWER: usize = 1 << 20;

/// `read`
pub(crate) fn read(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let fields = present::fields(call, table, a::fields)?;
    let mut out = vec![b'['];
    for id in ids(call)? {
        if let Some(row) = call.find(table, id)? {
            if out.len() > 1 {
                out.push(b',');
            }
            present::write_row(&mut out, call, table, row, &fields)?;
        }
    }
    out.push(b']');
    bounded(out)
}

/// `search_read`
pub(crate) fn search_read(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let fields = present::fields(call, table, a::fields)?;
    let mut out = vec![b'['];
    for row in search::find(call, table)? {
        if out.len() > 1 {
            out.push(b',');
        }
        present::write_row(&mut out, call, table, row, &fields)?;
        if out.len() > LARGEST_ANSWER {
            break;
        }
    }
    out.push(b']');
    bounded(out)
}

fn bounded(out: Vec<u8>) -> Answer {
    if out.len() > LARGEST_ANSWER {
        return Err(Refusal::argument("limit", "is needed: the answer is too large; ask for fewer rows or fields"));
    }
    Ok(Gives::Json(out))
}

/// `search`
pub(crate) fn search(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let mut out = Vec::new();
    values::write_ids(&mut out, search::find(call, table)?.iter().map(|row| row.id()));
    Ok(Gives::Json(out))
}

/// `search_count`
pub(crate) fn search_count(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    Ok(Gives::Json(search::find(call, table)?.len().to_string().into_bytes()))
}

/// `fields_get`
pub(crate) fn fields_get(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let wanted = call.raw(a::allfields).map(|_| present::fields(call, table, a::allfields)).transpose()?;
    let asked = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|field| field.name() == name));
    let attribute = |name: &str| match call.raw(a::attributes) {
        Some(Json::List(list)) if !list.is_empty() => {
            list.iter().any(|wanted| matches!(wanted, Json::Text(text) if text == name))
        }
        _ => true,
    };
    let domain = call.domain();
    Ok(Gives::Json(field_list(domain, domain.table(table), &asked, &attribute)))
}
