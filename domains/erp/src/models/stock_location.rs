//! Locations: where stock lies, and the places that goods come from and go to.

use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Call, cannot},
};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Row, WordOf, cell};

/// `stock.location`
pub(crate) struct StockLocation;

impl Model for StockLocation {
    type Of = t::stock_location;
    const ORDER: &'static str = "name, id";
    const MADE: &'static [(&'static str, Made)] =
        &[("complete_name", |call, id| Ok(Value::text(location_name(call, id)?)))];

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        location_name(call, row.id()).map(Some)
    }
}

/// The location of a use: for `internal` the one called Stock, else the first.
pub(crate) fn location(call: &Call<'_, '_>, usage: impl WordOf<t::stock_location, c::usage>) -> Result<RowId, Refusal> {
    let word = call.word(t::stock_location, c::usage, usage);
    let found = call.rows(t::stock_location, &[cell(c::usage, word.clone())])?;
    let stock = found.iter().find(|row| row.words(c::name) == "Stock");
    match stock.or(found.first()) {
        Some(row) => Ok(row.id()),
        None => Err(cannot(format!("there is no {} location", call.show(t::stock_location, c::usage, &word)))),
    }
}

/// `WH/Stock`
pub(crate) fn location_name(call: &Call<'_, '_>, id: RowId) -> Result<String, Refusal> {
    let mut parts = Vec::new();
    let mut at = Some(id);
    while let Some(id) = at {
        let row = call.row(t::stock_location, id)?;
        parts.push(row.words(c::name));
        at = row.link(c::location_id).filter(|_| parts.len() < 10);
    }
    parts.reverse();
    Ok(parts.join("/"))
}

/// Whether a location is one where stock lies.
pub(crate) fn is_internal(call: &Call<'_, '_>, location: Option<RowId>) -> Result<bool, Refusal> {
    match location {
        Some(location) => Ok(call.row(t::stock_location, location)?.is(c::usage, w::internal)),
        None => Ok(false),
    }
}
