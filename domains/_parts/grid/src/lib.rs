//! The tools of a grid. What they check they read from the world: conditions of slots and requirements of the grid are rows.

mod names;

use benchwright_base::{FieldId, Json, RowId, Value, json, number};
use benchwright_expr::{Compare, Type};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ArgumentName, Gives, NativeCall, Natives, Row, Seen, natives};
use names::{NAMES, a, f, t};

/// The code of the native tools, by name.
pub const NATIVES: &Natives = natives![NAMES;
    ("set_slot", set_slot),
    ("get_current_grid_state", get_current_grid_state),
    ("get_slot_id", get_slot_id),
    ("get_hidden_slot_query_budget", get_hidden_slot_query_budget),
    ("get_global_check_budget", get_global_check_budget),
    ("done", done),
    ("query_{domain}_candidate_from_attribute", query),
    ("get_{domain}_item_info", item_info),
    ("get_{domain}_item_attributes", item_attributes),
    ("check_{domain}_slot_constraints", check_slot),
    ("check_{domain}_global_constraints", check_grid),
];

/// A call of a tool.
type Call<'c, 'd> = NativeCall<'c, 'd>;

/// Where an item's attributes begin: after its row, the slot it is a candidate of, its number and its name.
const ATTRIBUTES: usize = 4;

fn int(value: &Value) -> i64 {
    value.as_number().unwrap_or_default()
}

fn answer(write: impl FnOnce(&mut Vec<u8>)) -> Result<Gives, Refusal> {
    let mut out = Vec::with_capacity(64);
    write(&mut out);
    Ok(Gives::Json(out))
}

fn missing(what: &str) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("there is no {what} in this world"))
}

/// The one row of the board.
fn board<'n>(call: &'n Call<'_, '_>) -> Result<&'n Row, Refusal> {
    call.open(t::board)?.get(1).ok_or_else(|| missing("board"))
}

fn is_done(call: &Call<'_, '_>) -> Result<bool, Refusal> {
    Ok(*board(call)?.get(f::board::done) == Value::Bool(true))
}

/// The slot that `row` and `col` name.
fn slot<'n>(call: &'n Call<'_, '_>) -> Result<&'n Row, Refusal> {
    let board = board(call)?;
    let (rows, cols) = (int(board.get(f::board::rows)), int(board.get(f::board::cols)));
    let (row, col) = (int(&call.argument(a::row)?), int(&call.argument(a::col)?));
    if row > rows {
        return Err(Refusal::argument("row", format!("is not on the grid, whose rows go from 1 to {rows}")));
    }
    if col > cols {
        return Err(Refusal::argument("col", format!("is not on the grid, whose columns go from 1 to {cols}")));
    }
    let id = (row - 1) * cols + col;
    call.open(t::slot)?.get(id as RowId).ok_or_else(|| missing("such slot"))
}

fn is_open(slot: &Row) -> bool {
    matches!(slot.get(f::slot::hidden), Value::Bool(true))
}

/// The same slot, which must be open.
fn open_slot<'n>(call: &'n Call<'_, '_>) -> Result<&'n Row, Refusal> {
    let slot = slot(call)?;
    if is_open(slot) {
        return Ok(slot);
    }
    Err(Refusal::argument("row", "and `col` name a slot that was given; only open slots are asked about and filled"))
}

/// Takes one from a budget.
fn spend(call: &mut Call<'_, '_>, meter: Option<RowId>, what: &str) -> Result<(), Refusal> {
    let meters = call.open(t::meter)?;
    let table = meters.table();
    let meter = meter.ok_or_else(|| missing("budget"))?;
    let left = int(meters.get(meter).ok_or_else(|| missing("budget"))?.get(f::meter::left));
    if left == 0 {
        return Err(Refusal::new(RefusalCode::BudgetExhausted, format!("{what} are used up")));
    }
    call.change(table, meter, [(f::meter::left, Value::Int(left - 1))])?;
    Ok(())
}

fn set_slot(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    if is_done(call)? {
        return Err(Refusal::new(
            RefusalCode::InvalidArgument,
            "the grid was handed in; nothing can be placed any more",
        ));
    }
    let slot = open_slot(call)?;
    let id = slot.id();
    let item = call.argument(a::id)?;
    if let Value::Ref(item) = item {
        let row = call.open(t::item)?.get(item).ok_or_else(|| missing("such item"))?;
        if row.get(f::item::candidate_of).as_ref_id() != Some(id) {
            return Err(Refusal::argument("id", "is not a candidate of this slot"));
        }
    }
    let (row, col) = (int(slot.get(f::slot::row)), int(slot.get(f::slot::col)));
    let table = call.open(t::slot)?.table();
    call.change(table, id, [(f::slot::item, item.clone())])?;
    answer(|out| {
        out.extend_from_slice(b"{\"row\":");
        number::write_int(out, row);
        out.extend_from_slice(b",\"col\":");
        number::write_int(out, col);
        out.extend_from_slice(b",\"id\":");
        write_id(out, &item);
        out.push(b'}');
    })
}

fn write_id(out: &mut Vec<u8>, item: &Value) {
    match item.as_ref_id() {
        Some(id) => number::write_int(out, i64::from(id)),
        None => out.extend_from_slice(b"null"),
    }
}

fn get_current_grid_state(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let board = board(call)?;
    let (rows, cols) = (int(board.get(f::board::rows)), int(board.get(f::board::cols)));
    let mut out = Vec::with_capacity(2048);
    out.extend_from_slice(b"{\"rows\":");
    number::write_int(&mut out, rows);
    out.extend_from_slice(b",\"cols\":");
    number::write_int(&mut out, cols);
    out.extend_from_slice(b",\"slots\":[");
    for (at, slot) in call.open(t::slot)?.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"row\":" } else { b",{\"row\":" });
        number::write_int(&mut out, int(slot.get(f::slot::row)));
        out.extend_from_slice(b",\"col\":");
        number::write_int(&mut out, int(slot.get(f::slot::col)));
        out.extend_from_slice(if is_open(slot) { b",\"open\":true" } else { b",\"open\":false" });
        out.extend_from_slice(b",\"id\":");
        write_id(&mut out, slot.get(f::slot::item));
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    Ok(Gives::Json(out))
}

fn get_slot_id(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let item = slot(call)?.get(f::slot::item).clone();
    answer(|out| {
        out.extend_from_slice(b"{\"id\":");
        write_id(out, &item);
        out.push(b'}');
    })
}

fn left(call: &Call<'_, '_>, meter: Option<RowId>) -> Result<Gives, Refusal> {
    let row = match meter {
        Some(meter) => call.open(t::meter)?.get(meter),
        None => None,
    };
    let left = row.map_or(0, |row| int(row.get(f::meter::left)));
    answer(|out| {
        out.extend_from_slice(b"{\"left\":");
        number::write_int(out, left);
        out.push(b'}');
    })
}

fn get_hidden_slot_query_budget(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let meter = slot(call)?.get(f::slot::meter).as_ref_id();
    left(call, meter)
}

fn get_global_check_budget(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let meter = board(call)?.get(f::board::checks).as_ref_id();
    left(call, meter)
}

fn done(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let table = call.open(t::board)?.table();
    call.change(table, 1, [(f::board::done, Value::Bool(true))])?;
    answer(|out| out.extend_from_slice(b"{\"done\":true}"))
}

/// An attribute of items: its field, and whether its values are labels.
#[derive(Clone, Copy)]
struct Attribute {
    field: FieldId,
    is_label: bool,
}

/// The attribute of a name.
fn attribute(call: &Call<'_, '_>, items: Seen<'_>, name: &str) -> Result<Attribute, Refusal> {
    let declared = call.domain().table(items.table());
    let attributes = || declared.fields.iter().enumerate().skip(ATTRIBUTES);
    match attributes().find(|(_, field)| field.name == name) {
        Some((at, field)) => Ok(Attribute { field: FieldId(at as u16), is_label: matches!(field.ty, Type::Ref(_)) }),
        None => {
            let names: Vec<&str> = attributes().map(|(_, field)| &*field.name).collect();
            Err(Refusal::argument("field", format!("is none of the attributes: {}", names.join(", "))))
        }
    }
}

fn argument_text<'c>(call: &Call<'c, '_>, argument: ArgumentName) -> &'c str {
    match call.raw(argument) {
        Some(Json::Text(text)) => text,
        _ => "",
    }
}

/// The comparison that an operator stands for.
fn comparison(operator: &str) -> Option<Compare> {
    Some(match operator {
        "<=" => Compare::Le,
        ">=" => Compare::Ge,
        "=" | "==" => Compare::Eq,
        "!=" => Compare::Ne,
        "<" => Compare::Lt,
        ">" => Compare::Gt,
        _ => return None,
    })
}

fn query(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let (id, meter) = {
        let slot = open_slot(call)?;
        (slot.id(), slot.get(f::slot::meter).as_ref_id())
    };
    let items = call.open(t::item)?;
    let attribute = attribute(call, items, argument_text(call, a::field))?;
    let operator = match (comparison(argument_text(call, a::operator)), attribute.is_label) {
        (Some(operator), false) | (Some(operator @ (Compare::Eq | Compare::Ne)), true) => operator,
        (_, true) => return Err(Refusal::argument("operator", "wants = or != for this attribute")),
        (_, false) => return Err(Refusal::argument("operator", "wants one of <=, >=, =, !=, <, >")),
    };
    let mut found = Vec::with_capacity(32);
    let (than, words) = match (call.raw(a::value), attribute.is_label) {
        (Some(Json::Int(than)), false) => (*than, None),
        (Some(Json::Text(word)), true) => {
            let named = |label: &&Row| label.get(f::label::name).as_text() == Some(word);
            let ids: Vec<RowId> = call.open(t::label)?.iter().filter(named).map(Row::id).collect();
            (0, Some(ids))
        }
        (_, true) => return Err(Refusal::argument("value", "wants a text for this attribute")),
        (_, false) => return Err(Refusal::argument("value", "wants a whole number for this attribute")),
    };
    for item in items.referring(f::item::candidate_of, id) {
        let value = item.get(attribute.field);
        let passes = match (operator, &words) {
            (_, Some(words)) => {
                let same = value.as_ref_id().is_some_and(|label| words.contains(&label));
                same == (operator == Compare::Eq)
            }
            (Compare::Le, None) => int(value) <= than,
            (Compare::Ge, None) => int(value) >= than,
            (Compare::Eq, None) => int(value) == than,
            (Compare::Ne, None) => int(value) != than,
            (Compare::Lt, None) => int(value) < than,
            (Compare::Gt, None) => int(value) > than,
        };
        if passes {
            found.push(item.id());
        }
    }
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(b"{\"ids\":[");
    for (at, id) in found.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        number::write_int(&mut out, i64::from(id));
    }
    out.extend_from_slice(b"]}");
    spend(call, meter, "the queries of this slot")?;
    Ok(Gives::Json(out))
}

/// Writes the value of an attribute as an agent sees it.
fn write_attribute(out: &mut Vec<u8>, labels: Seen<'_>, value: &Value) {
    match value {
        Value::Ref(label) => {
            let row = labels.get(*label);
            json::write_text(out, row.and_then(|row| row.get(f::label::name).as_text()).unwrap_or_default());
        }
        value => number::write_int(out, int(value)),
    }
}

fn item_info(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let id = call.argument(a::id)?.as_ref_id().unwrap_or_default();
    let (items, labels) = (call.open(t::item)?, call.open(t::label)?);
    let item = items.get(id).ok_or_else(|| missing("such item"))?;
    if !item.get(f::item::candidate_of).is_null() {
        let message = "is a candidate of an open slot, which only queries tell of";
        return Err(Refusal::argument("id", message));
    }
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"id\":");
    number::write_int(&mut out, i64::from(id));
    out.extend_from_slice(b",\"name\":");
    json::write_text(&mut out, item.get(f::item::name).as_text().unwrap_or_default());
    for (field, value) in call.domain().table(items.table()).fields.iter().zip(item.cells()).skip(ATTRIBUTES) {
        out.push(b',');
        json::write_text(&mut out, &field.name);
        out.push(b':');
        write_attribute(&mut out, labels, value);
    }
    out.push(b'}');
    Ok(Gives::Json(out))
}

fn item_attributes(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let (items, labels) = (call.open(t::item)?, call.open(t::label)?);
    let attribute = attribute(call, items, argument_text(call, a::field))?;
    let mut of: Option<RowId> = None;
    let mut out = Vec::with_capacity(512);
    out.extend_from_slice(b"{\"values\":[");
    for (at, id) in call.arguments(a::ids)?.iter().enumerate() {
        let id = id.as_ref_id().unwrap_or_default();
        let item = items.get(id).ok_or_else(|| missing("such item"))?;
        match (item.get(f::item::candidate_of).as_ref_id(), of) {
            (Some(slot), Some(known)) if slot != known => {
                return Err(Refusal::argument("ids", "are candidates of several slots; ask for one slot at a time"));
            }
            (Some(slot), _) => of = Some(slot),
            (None, _) => {}
        }
        out.extend_from_slice(if at == 0 { b"{\"id\":" } else { b",{\"id\":" });
        number::write_int(&mut out, i64::from(id));
        out.extend_from_slice(b",\"value\":");
        write_attribute(&mut out, labels, item.get(attribute.field));
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    if let Some(slot) = of {
        let meter = call.open(t::slot)?.get(slot).and_then(|slot| slot.get(f::slot::meter).as_ref_id());
        spend(call, meter, "the queries of this slot")?;
    }
    Ok(Gives::Json(out))
}

fn satisfied(yes: bool) -> Result<Gives, Refusal> {
    let text: &[u8] = if yes { b"{\"satisfied\":true}" } else { b"{\"satisfied\":false}" };
    Ok(Gives::Json(text.to_vec()))
}

/// The item in a slot, if there is one.
fn item_in<'n>(items: Seen<'n>, slot: &Row) -> Option<&'n Row> {
    slot.get(f::slot::item).as_ref_id().and_then(|item| items.get(item))
}

fn check_slot(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let slot = slot(call)?;
    let items = call.open(t::item)?;
    let Some(item) = item_in(items, slot) else { return satisfied(false) };
    for condition in call.open(t::condition)?.referring(f::condition::slot, slot.id()) {
        let attribute = attribute(call, items, condition.get(f::condition::field).as_text().unwrap_or_default())?;
        let value = item.get(attribute.field);
        let (than, word) = (int(condition.get(f::condition::value)), condition.get(f::condition::word));
        let holds = match condition.get(f::condition::op) {
            Value::Enum(0) => int(value) <= than,
            Value::Enum(1) => int(value) >= than,
            Value::Enum(2) => int(value) == than,
            Value::Enum(3) => value == word,
            Value::Enum(4) => value != word,
            _ => false,
        };
        if !holds {
            return satisfied(false);
        }
    }
    satisfied(true)
}

fn check_grid(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let meter = board(call)?.get(f::board::checks).as_ref_id();
    let holds = grid_holds(call)?;
    spend(call, meter, "the checks of the whole grid")?;
    satisfied(holds)
}

fn grid_holds(call: &Call<'_, '_>) -> Result<bool, Refusal> {
    let items = call.open(t::item)?;
    let mut placed: Vec<(i64, &Row)> = Vec::with_capacity(24);
    for slot in call.open(t::slot)?.iter().filter(|slot| is_open(slot)) {
        if let Some(item) = item_in(items, slot) {
            placed.push((int(slot.get(f::slot::row)), item));
        }
    }
    for requirement in call.open(t::requirement)?.iter() {
        let attribute = attribute(call, items, requirement.get(f::requirement::field).as_text().unwrap_or_default())?;
        let field = attribute.field;
        let given = int(requirement.get(f::requirement::given));
        let bound = int(requirement.get(f::requirement::bound));
        let sum = |all: &mut dyn Iterator<Item = i64>| given + all.sum::<i64>();
        let holds = match requirement.get(f::requirement::measure) {
            Value::Enum(0) => sum(&mut placed.iter().map(|(_, item)| int(item.get(field)))) <= bound,
            Value::Enum(1) => sum(&mut placed.iter().map(|(_, item)| int(item.get(field)))) >= bound,
            Value::Enum(2) => {
                let row = int(requirement.get(f::requirement::row));
                let of_row = placed.iter().filter(|(at, _)| *at == row);
                sum(&mut of_row.map(|(_, item)| int(item.get(field)))) <= bound
            }
            Value::Enum(3) => {
                let word = requirement.get(f::requirement::word);
                sum(&mut placed.iter().map(|(_, item)| i64::from(item.get(field) == word))) <= bound
            }
            Value::Enum(4) => {
                let least = int(requirement.get(f::requirement::least));
                sum(&mut placed.iter().map(|(_, item)| i64::from(int(item.get(field)) >= least))) <= bound
            }
            _ => false,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}
