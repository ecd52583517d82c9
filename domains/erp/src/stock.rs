//! Stock: quantities on hand, reservations, counts, transfers.

use super::orm::{self, Answer, Call, Cells, Read, cannot, done, wrong_state};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::RowView;

/// The states of a move that is still to be done.
pub(super) const OPEN: [&str; 4] = ["waiting", "confirmed", "partially_available", "assigned"];

/// Whether a row is in one of some states.
pub(super) fn is_in(row: &RowView, states: &[&str]) -> bool {
    states.iter().any(|state| row.is("state", state))
}

// ---------------------------------------------------------------- locations

/// The location of a use: for `internal` the one called Stock, else the first.
pub(super) fn location(call: &Call<'_, '_>, usage: &str) -> Result<RowId, Refusal> {
    let word = call.word("stock_location", "usage", usage)?;
    let found = call.rows("stock_location", &[("usage", word)])?;
    let stock = found.iter().find(|row| row.words("name") == "Stock");
    match stock.or(found.first()) {
        Some(row) => Ok(row.id()),
        None => Err(cannot(format!("there is no {usage} location"))),
    }
}

/// `WH/Stock`
pub(super) fn location_name(call: &Call<'_, '_>, id: RowId) -> Result<String, Refusal> {
    let mut parts = Vec::new();
    let mut at = Some(id);
    while let Some(id) = at {
        let row = call.row("stock_location", id)?;
        parts.push(row.words("name"));
        at = row.link("location_id").filter(|_| parts.len() < 10);
    }
    parts.reverse();
    Ok(parts.join("/"))
}

// ---------------------------------------------------------------- quantities

/// Units of a product in internal locations.
fn on_hand(call: &Call<'_, '_>, product: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for quant in call.rows("stock_quant", &[("product_id", Value::Ref(product))])? {
        if is_internal(call, quant.link("location_id"))? {
            sum += quant.number("quantity");
        }
    }
    Ok(sum)
}

fn is_internal(call: &Call<'_, '_>, location: Option<RowId>) -> Result<bool, Refusal> {
    match location {
        Some(location) => Ok(call.row("stock_location", location)?.is("usage", "internal")),
        None => Ok(false),
    }
}

/// Units of a product that open moves into or out of stock are for, and how many of the latter are reserved.
struct Flow {
    incoming: i64,
    outgoing: i64,
    reserved: i64,
}

fn flow(call: &Call<'_, '_>, product: RowId) -> Result<Flow, Refusal> {
    let mut flow = Flow { incoming: 0, outgoing: 0, reserved: 0 };
    for row in call.rows("stock_move", &[("product_id", Value::Ref(product))])? {
        if !is_in(&row, &OPEN) {
            continue;
        }
        let from = is_internal(call, row.link("location_id"))?;
        let to = is_internal(call, row.link("location_dest_id"))?;
        if from && !to {
            flow.outgoing += row.number("product_uom_qty");
            flow.reserved += row.number("quantity");
        } else if to && !from {
            flow.incoming += row.number("product_uom_qty");
        }
    }
    Ok(flow)
}

/// What is made of products, quants and locations when it is asked for.
pub(super) fn made(call: &Call<'_, '_>, model: &str, id: RowId, field: &str) -> Result<Value, Refusal> {
    if model == "stock_location" {
        return Ok(Value::text(location_name(call, id)?));
    }
    if model == "stock_quant" {
        let quant = call.row("stock_quant", id)?;
        let reserved = || -> Result<i64, Refusal> {
            let Some(product) = quant.link("product_id") else { return Ok(0) };
            let moves = call.rows(
                "stock_move",
                &[("product_id", Value::Ref(product)), ("location_id", quant.get("location_id"))],
            )?;
            Ok(moves.iter().filter(|row| is_in(row, &OPEN)).map(|row| row.number("quantity")).sum())
        };
        return Ok(Value::Quantity(match field {
            "reserved_quantity" => reserved()?,
            "available_quantity" => quant.number("quantity") - reserved()?,
            _ if quant.flag("inventory_quantity_set") => quant.number("inventory_quantity") - quant.number("quantity"),
            _ => 0,
        }));
    }
    Ok(Value::Quantity(match field {
        "qty_available" => on_hand(call, id)?,
        "free_qty" => on_hand(call, id)? - flow(call, id)?.reserved,
        "incoming_qty" => flow(call, id)?.incoming,
        "outgoing_qty" => flow(call, id)?.outgoing,
        _ => {
            let flow = flow(call, id)?;
            on_hand(call, id)? + flow.incoming - flow.outgoing
        }
    }))
}

/// Adds to the quantity of a product at a location; only internal locations keep count.
pub(super) fn add_quant(call: &mut Call<'_, '_>, product: RowId, location: RowId, units: i64) -> Result<(), Refusal> {
    if !is_internal(call, Some(location))? || units == 0 {
        return Ok(());
    }
    let key = [("product_id", Value::Ref(product)), ("location_id", Value::Ref(location))];
    match call.rows("stock_quant", &key)?.first() {
        Some(quant) => {
            let sum = Value::Quantity(quant.number("quantity") + units);
            call.update("stock_quant", quant.id(), &[("quantity", sum)])?;
        }
        None => {
            let [product, location] = key;
            call.create("stock_quant", &[product, location, ("quantity", Value::Quantity(units))])?;
        }
    }
    Ok(())
}

// ---------------------------------------------------------------- moves

/// A move to be made.
pub(super) struct NewMove<'a> {
    pub(super) product: RowId,
    pub(super) units: i64,
    pub(super) from: RowId,
    pub(super) to: RowId,
    pub(super) date: Option<DateTime>,
    pub(super) origin: &'a str,
    pub(super) state: &'a str,
    /// What it belongs to: the field and the row.
    pub(super) of: &'a [(&'a str, RowId)],
}

/// Makes a move.
pub(super) fn make_move(call: &mut Call<'_, '_>, new: &NewMove<'_>) -> Result<RowId, Refusal> {
    let state = call.word("stock_move", "state", new.state)?;
    let date = new.date.map_or(Value::Null, Value::DateTime);
    let transfer = new.of.iter().find(|(field, _)| *field == "picking_id");
    let reference = match transfer {
        Some((_, transfer)) => call.row("stock_picking", *transfer)?.get("name"),
        None => Value::text(new.origin),
    };
    let mut values = vec![
        ("product_id", Value::Ref(new.product)),
        ("product_uom_qty", Value::Quantity(new.units)),
        ("state", state),
        ("date", date),
        ("origin", Value::text(new.origin)),
        ("reference", reference),
        ("location_id", Value::Ref(new.from)),
        ("location_dest_id", Value::Ref(new.to)),
    ];
    values.extend(new.of.iter().map(|(field, row)| (*field, Value::Ref(*row))));
    call.create("stock_move", &values)
}

/// Transfers and moves outlive the document they were made for.
pub(super) fn let_go(call: &mut Call<'_, '_>, document: (&str, RowId), lines: (&str, &[RowId])) -> Result<(), Refusal> {
    for row in call.rows("stock_picking", &[(document.0, Value::Ref(document.1))])? {
        call.update("stock_picking", row.id(), &[(document.0, Value::Null)])?;
    }
    for line in lines.1 {
        for row in call.rows("stock_move", &[(lines.0, Value::Ref(*line))])? {
            call.update("stock_move", row.id(), &[(lines.0, Value::Null)])?;
        }
    }
    Ok(())
}

/// A transfer is the order's whose lines its moves are for: when the last is gone, it is nobody's.
pub(super) fn settle_owner(call: &mut Call<'_, '_>, picking: RowId, line: &str, order: &str) -> Result<(), Refusal> {
    let moves = call.rows("stock_move", &[("picking_id", Value::Ref(picking))])?;
    if moves.iter().all(|row| row.link(line).is_none()) {
        call.update("stock_picking", picking, &[(order, Value::Null)])?;
    }
    Ok(())
}

/// What was moved cannot be changed any more.
pub(super) fn may_change_move(call: &Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if is_in(&call.row("stock_move", id)?, &["done", "cancel"]) {
        return Err(wrong_state("a move that is done or cancelled cannot be changed"));
    }
    Ok(())
}

/// Reserves stock for a move, as far as there is any; goods that come from outside are simply expected.
pub(super) fn reserve(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let row = call.row("stock_move", id)?;
    if !is_in(&row, &OPEN) {
        return Ok(());
    }
    let wanted = row.number("product_uom_qty");
    let taken = match row.link("product_id") {
        Some(product) if is_internal(call, row.link("location_id"))? => {
            let free = on_hand(call, product)? - flow(call, product)?.reserved + row.number("quantity");
            wanted.min(free.max(0))
        }
        _ => wanted,
    };
    let state = if taken >= wanted {
        "assigned"
    } else if taken > 0 {
        "partially_available"
    } else {
        "confirmed"
    };
    let state = call.word("stock_move", "state", state)?;
    call.update("stock_move", id, &[("quantity", Value::Quantity(taken)), ("state", state)])?;
    Ok(())
}

/// Carries a move out with a quantity.
pub(super) fn finish(call: &mut Call<'_, '_>, id: RowId, units: i64) -> Result<(), Refusal> {
    let values = [
        ("quantity", Value::Quantity(units)),
        ("state", call.word("stock_move", "state", "done")?),
        ("date", Value::DateTime(call.now())),
    ];
    call.update("stock_move", id, &values)?;
    shift(call, id, units)
}

/// Gives a move that was carried out another quantity.
pub(super) fn put_right(call: &mut Call<'_, '_>, id: RowId, units: i64) -> Result<(), Refusal> {
    let before = call.row("stock_move", id)?.number("quantity");
    call.update("stock_move", id, &[("quantity", Value::Quantity(units))])?;
    shift(call, id, units - before)
}

/// Takes units of a move's product from where it leads from to where it leads.
fn shift(call: &mut Call<'_, '_>, id: RowId, units: i64) -> Result<(), Refusal> {
    let row = call.row("stock_move", id)?;
    let (Some(product), Some(from), Some(to)) =
        (row.link("product_id"), row.link("location_id"), row.link("location_dest_id"))
    else {
        return Ok(());
    };
    if call.row("product_product", product)?.flag("is_storable") {
        add_quant(call, product, from, -units)?;
        add_quant(call, product, to, units)?;
    }
    Ok(())
}

/// Cancels a move that is not done.
pub(super) fn cancel_move(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row("stock_move", id)?.is("state", "done") {
        return Ok(());
    }
    let state = call.word("stock_move", "state", "cancel")?;
    call.update("stock_move", id, &[("quantity", Value::Quantity(0)), ("state", state)])?;
    Ok(())
}

// ---------------------------------------------------------------- counting

/// A count of stock that is there already is made on that row.
pub(super) fn count_again(call: &mut Call<'_, '_>, cells: &mut Cells) -> Result<Option<RowId>, Refusal> {
    counted(call, cells)?;
    let (Some(product), Some(location)) = (cells.link(call, "product_id"), cells.link(call, "location_id")) else {
        return Ok(None);
    };
    let known =
        call.rows("stock_quant", &[("product_id", Value::Ref(product)), ("location_id", Value::Ref(location))])?;
    let Some(known) = known.first().map(RowView::id) else { return Ok(None) };
    if let Some(count) = cells.get(call, "inventory_quantity").cloned() {
        let values = [("inventory_quantity", count), ("inventory_quantity_set", Value::Bool(true))];
        call.update("stock_quant", known, &values)?;
    }
    Ok(Some(known))
}

/// A written count is marked as one.
pub(super) fn counted(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if cells.has(call, "inventory_quantity") {
        cells.set(call, "inventory_quantity_set", Value::Bool(true))?;
    }
    Ok(())
}

/// `stock.quant` `action_apply_inventory`
pub(super) fn apply_inventory(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let quant = call.row("stock_quant", id)?;
        // Where nothing was counted, nothing is what was counted.
        let (counted, known) = (quant.number("inventory_quantity"), quant.number("quantity"));
        let (Some(product), Some(here)) = (quant.link("product_id"), quant.link("location_id")) else { continue };
        {
            // A count that finds what is there is noted too.
            let loss = location(call, "inventory")?;
            let (from, to) = if counted > known { (loss, here) } else { (here, loss) };
            let new = NewMove {
                product,
                units: (counted - known).abs(),
                from,
                to,
                date: Some(call.now()),
                origin: if counted == known { "Product Quantity Confirmed" } else { "Product Quantity Updated" },
                state: "done",
                of: &[],
            };
            let made = make_move(call, &new)?;
            let by = call.actor().map(|actor| call.row("res_users", actor)).transpose()?;
            let by = by.map(|user| format!(" ({})", user.words("name"))).unwrap_or_default();
            let values = [
                ("is_inventory", Value::Bool(true)),
                ("quantity", Value::Quantity(new.units)),
                ("origin", Value::Null),
                ("reference", Value::text(format!("{}{by}", new.origin))),
            ];
            call.update("stock_move", made, &values)?;
        }
        let values = [
            ("quantity", Value::Quantity(counted)),
            ("inventory_quantity", Value::Quantity(0)),
            ("inventory_quantity_set", Value::Bool(false)),
        ];
        call.update("stock_quant", id, &values)?;
    }
    done(call, "null")
}

// ---------------------------------------------------------------- transfers

/// Makes a transfer with the next name of its kind.
pub(super) fn make_picking(
    call: &mut Call<'_, '_>,
    code: &str,
    partner: Option<RowId>,
    origin: &str,
    date: Option<DateTime>,
    of: (&str, RowId),
) -> Result<RowId, Refusal> {
    let (prefix, from, to) = match code {
        "incoming" => ("WH/IN/", location(call, "supplier")?, location(call, "internal")?),
        _ => ("WH/OUT/", location(call, "internal")?, location(call, "customer")?),
    };
    let name = next_name(call, "stock_picking", prefix)?;
    call.create(
        "stock_picking",
        &[
            ("name", Value::text(name)),
            ("partner_id", partner.map_or(Value::Null, Value::Ref)),
            ("origin", Value::text(origin)),
            ("picking_type_code", call.word("stock_picking", "picking_type_code", code)?),
            ("state", call.word("stock_picking", "state", "confirmed")?),
            ("location_id", Value::Ref(from)),
            ("location_dest_id", Value::Ref(to)),
            ("scheduled_date", date.map_or(Value::Null, Value::DateTime)),
            (of.0, Value::Ref(of.1)),
        ],
    )
}

/// The next name of a sequence: one more than the largest number with this prefix.
pub(super) fn next_name(call: &Call<'_, '_>, table: &str, prefix: &str) -> Result<String, Refusal> {
    let id = call.table(table)?;
    let field = call.field(id, "name")?;
    let mut last = 0;
    for row in call.every(id)? {
        let number = row.get(field).as_text().and_then(|name| name.strip_prefix(prefix)?.parse::<u32>().ok());
        last = last.max(number.unwrap_or_default());
    }
    Ok(format!("{prefix}{:05}", last + 1))
}

/// Reserves for all moves of a transfer, and sets its state by theirs.
pub(super) fn assign_picking(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for row in call.rows("stock_move", &[("picking_id", Value::Ref(id))])? {
        reserve(call, row.id())?;
    }
    settle_picking(call, id)
}

/// Sets the state of a transfer by those of its moves.
pub(super) fn settle_picking(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let moves = call.rows("stock_move", &[("picking_id", Value::Ref(id))])?;
    let all = |states: &[&str]| moves.iter().all(|row| is_in(row, states));
    let any = |states: &[&str]| moves.iter().any(|row| is_in(row, states));
    let state = if all(&["cancel"]) {
        "cancel"
    } else if all(&["done", "cancel"]) {
        "done"
    } else if any(&["assigned", "partially_available"]) {
        // What is there can be shipped.
        "assigned"
    } else if any(&["waiting"]) {
        "waiting"
    } else {
        "confirmed"
    };
    let state = call.word("stock_picking", "state", state)?;
    call.update("stock_picking", id, &[("state", state)])?;
    Ok(())
}

/// Cancels a transfer that is not done, with its moves.
pub(super) fn cancel_picking(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row("stock_picking", id)?.is("state", "done") {
        return Ok(());
    }
    for row in call.rows("stock_move", &[("picking_id", Value::Ref(id))])? {
        cancel_move(call, row.id())?;
    }
    let state = call.word("stock_picking", "state", "cancel")?;
    call.update("stock_picking", id, &[("state", state)])?;
    Ok(())
}

/// `stock.picking` `action_assign`
pub(super) fn assign(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let row = call.row("stock_picking", id)?;
        if is_in(&row, &["done", "cancel"]) {
            return Err(wrong_state(format!("there is nothing to reserve for {}", row.words("name"))));
        }
        assign_picking(call, id)?;
    }
    done(call, "true")
}

/// `stock.picking` `action_cancel`
pub(super) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let row = call.row("stock_picking", id)?;
        if row.is("state", "done") {
            return Err(wrong_state(format!("{} is done and cannot be cancelled", row.words("name"))));
        }
        cancel_picking(call, id)?;
    }
    done(call, "true")
}

/// `stock.picking` `button_validate`
pub(super) fn validate(call: &mut Call<'_, '_>) -> Answer {
    let ids = orm::ids(call);
    for id in &ids {
        let row = call.row("stock_picking", *id)?;
        let name = row.words("name");
        if is_in(&row, &["done", "cancel"]) {
            return Err(wrong_state(format!("{name} is done or cancelled already")));
        }
        let moves = call.rows("stock_move", &[("picking_id", Value::Ref(*id))])?;
        let open: Vec<&RowView> = moves.iter().filter(|row| is_in(row, &OPEN)).collect();
        if open.iter().all(|row| row.number("quantity") == 0) {
            return Err(cannot(format!("{name} cannot be validated: no quantities are reserved")));
        }
        if open.iter().any(|row| row.number("quantity") < row.number("product_uom_qty")) {
            // Odoo asks what to do with the rest, and does nothing until it is told.
            return done(call, dialog("Create Backorder?", "stock.backorder.confirmation"));
        }
        let work: Vec<(RowId, i64)> = open.iter().map(|row| (row.id(), row.number("quantity"))).collect();
        for (row, units) in work {
            finish(call, row, units)?;
        }
        let state = call.word("stock_picking", "state", "done")?;
        call.update("stock_picking", *id, &[("state", state), ("date_done", Value::DateTime(call.now()))])?;
    }
    done(call, "true")
}

/// The answer of a call that asks something back instead of ending.
pub(super) fn dialog(name: &str, model: &str) -> String {
    format!(
        "{{\"type\":\"ir.actions.act_window\",\"name\":\"{name}\",\"res_model\":\"{model}\",\"view_mode\":\"form\",\"target\":\"new\"}}"
    )
}
