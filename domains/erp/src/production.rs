//! Manufacturing orders: components and work orders from the bill of materials, planning, and finishing.

use super::orm::{self, Answer, Call, Cells, Read, cannot, done, wrong_state};
use super::purchasing::state_word;
use super::stock::{self, NewMove, is_in};
use benchwright_base::{DateTime, RowId, Value, date::DAY};
use benchwright_pack::Refusal;
use benchwright_sandbox::RowView;
use std::collections::BTreeMap;

/// Seconds in an hour.
const HOUR: i64 = 3600;

/// What a new order has unless it says otherwise: the product's bill of materials, and the time.
pub(super) fn fill(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if cells.get(call, "bom_id").is_none()
        && let Some(product) = cells.link(call, "product_id")
        && let Some(bom) = bom_of(call, product)?
    {
        cells.set(call, "bom_id", Value::Ref(bom))?;
    }
    if !cells.has(call, "date_start") {
        cells.set(call, "date_start", Value::DateTime(call.now()))?;
    }
    orm::fill_user(call, cells)
}

/// The first bill of materials in use for a product.
fn bom_of(call: &Call<'_, '_>, product: RowId) -> Result<Option<RowId>, Refusal> {
    let boms = call.rows("mrp_bom", &[("product_tmpl_id", Value::Ref(product))])?;
    let usable = boms.iter().filter(|bom| bom.flag("active") && bom.is("type", "normal"));
    Ok(usable.min_by_key(|bom| (bom.number("sequence"), bom.id())).map(RowView::id))
}

/// Makes the moves and work orders of a new order, and sets when it ends.
pub(super) fn made(call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
    if !given.contains(&"move_raw_ids") {
        make_raw_moves(call, id)?;
    }
    if !given.contains(&"workorder_ids") {
        make_workorders(call, id)?;
    }
    if !given.contains(&"move_finished_ids") {
        make_finished_move(call, id)?;
    }
    match call.row("mrp_production", id)?.instant("date_finished") {
        Some(end) => set_finished(call, id, end),
        None => set_end(call, id),
    }
}

/// Sets when an order ends, and with it when its goods come.
fn set_finished(call: &mut Call<'_, '_>, id: RowId, end: DateTime) -> Result<(), Refusal> {
    call.update("mrp_production", id, &[("date_finished", Value::DateTime(end))])?;
    follow(call, id)
}

/// Brings the goods of an order its end and its deadline: whatever bears on its end does, though the end stay as it was.
fn follow(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    let mut values = vec![("date", order.get("date_finished")), ("date_deadline", order.get("date_deadline"))];
    values.retain(|(_, value)| !value.is_null());
    for row in call.rows("stock_move", &[("production_id", Value::Ref(id))])? {
        call.update("stock_move", row.id(), &values)?;
    }
    Ok(())
}

/// An order is planned when its work has dates.
fn settle_plan(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let planned = workorders(call, id)?.iter().any(|work| work.instant("date_start").is_some());
    call.update("mrp_production", id, &[("is_planned", Value::Bool(planned))])?;
    Ok(())
}

fn make_raw_moves(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    let Some(bom) = order.link("bom_id") else { return Ok(()) };
    let per = call.row("mrp_bom", bom)?.number("product_qty").max(1);
    let lines = call.rows("mrp_bom_line", &[("bom_id", Value::Ref(bom))])?;
    let state = move_state(&order);
    for line in lines {
        let Some(product) = line.link("product_id") else { continue };
        let new = NewMove {
            product,
            units: scaled(line.number("product_qty"), order.number("product_qty"), per),
            from: stock::location(call, "internal")?,
            to: stock::location(call, "production")?,
            date: order.instant("date_start"),
            origin: &order.words("name"),
            state,
            of: &[("raw_material_production_id", id), ("bom_line_id", line.id())],
        };
        let made = stock::make_move(call, &new)?;
        stock::reserve(call, made)?;
    }
    Ok(())
}

fn make_finished_move(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    let Some(product) = order.link("product_id") else { return Ok(()) };
    let new = NewMove {
        product,
        units: order.number("product_qty"),
        from: stock::location(call, "production")?,
        to: stock::location(call, "internal")?,
        date: order.instant("date_start"),
        origin: &order.words("name"),
        state: move_state(&order),
        of: &[("production_id", id)],
    };
    let made = stock::make_move(call, &new)?;
    call.update("stock_move", made, &[("date_deadline", order.get("date_deadline"))])?;
    Ok(())
}

/// Where a component or product that is added to an order by hand comes from and goes to.
pub(super) fn fill_move(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    let raw = cells.link(call, "raw_material_production_id");
    let Some(id) = raw.or(cells.link(call, "production_id")) else { return Ok(()) };
    let order = call.row("mrp_production", id)?;
    let (from, to) = if raw.is_some() { ("internal", "production") } else { ("production", "internal") };
    for (field, usage) in [("location_id", from), ("location_dest_id", to)] {
        if !cells.has(call, field) {
            cells.set(call, field, Value::Ref(stock::location(call, usage)?))?;
        }
    }
    for (field, value) in
        [("date", order.get("date_start")), ("origin", order.get("name")), ("reference", order.get("name"))]
    {
        if !cells.has(call, field) {
            cells.set(call, field, value)?;
        }
    }
    cells.set(call, "state", call.word("stock_move", "state", move_state(&order))?)
}

fn move_state(order: &RowView) -> &'static str {
    if order.is("state", "draft") { "draft" } else { "confirmed" }
}

fn make_workorders(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    let Some(bom) = order.link("bom_id") else { return Ok(()) };
    let mut operations = call.rows("mrp_routing_workcenter", &[("bom_id", Value::Ref(bom))])?;
    operations.retain(|operation| operation.flag("active"));
    operations.sort_by_key(|operation| (operation.number("sequence"), operation.id()));
    for (at, operation) in operations.iter().enumerate() {
        // Each waits for the one before.
        let state = call.word("mrp_workorder", "state", if at == 0 { "ready" } else { "blocked" })?;
        call.create(
            "mrp_workorder",
            &[
                ("production_id", Value::Ref(id)),
                ("name", operation.get("name")),
                ("workcenter_id", operation.get("workcenter_id")),
                ("operation_id", Value::Ref(operation.id())),
                ("sequence", operation.get("sequence")),
                ("state", state),
            ],
        )?;
    }
    Ok(())
}

/// `a * b / c`, rounded half up.
fn scaled(a: i64, b: i64, c: i64) -> i64 {
    let c = i128::from(c.max(1));
    ((i128::from(a) * i128::from(b) * 2 + c) / (c * 2)) as i64
}

/// The end of an order: its start plus the days of the bill of materials, or plus the minutes of its work.
fn set_end(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    let Some(start) = order.instant("date_start") else { return Ok(()) };
    let days = order.link("bom_id").map(|bom| call.row("mrp_bom", bom)).transpose()?;
    let days = days.map_or(0, |bom| bom.number("produce_delay"));
    let seconds = if days > 0 { days * DAY } else { work_seconds(call, id)? };
    let end = DateTime(start.0 + if seconds > 0 { seconds } else { HOUR });
    set_finished(call, id, end)
}

fn work_seconds(call: &Call<'_, '_>, id: RowId) -> Result<i64, Refusal> {
    let mut sum = 0;
    for work in workorders(call, id)? {
        sum += minutes(call, &work, None)? * 60 / 1000;
    }
    Ok(sum)
}

/// The work orders of an order, in their order.
fn workorders(call: &Call<'_, '_>, id: RowId) -> Result<Vec<RowView>, Refusal> {
    let mut found = call.rows("mrp_workorder", &[("production_id", Value::Ref(id))])?;
    found.sort_by_key(|work| (work.number("sequence"), work.id()));
    Ok(found)
}

/// The minutes that a work order is expected to take at its centre or another one, in thousandths.
fn minutes(call: &Call<'_, '_>, work: &RowView, at: Option<RowId>) -> Result<i64, Refusal> {
    let (Some(order), Some(operation)) = (work.link("production_id"), work.link("operation_id")) else { return Ok(0) };
    let order = call.row("mrp_production", order)?;
    let cycle = call.row("mrp_routing_workcenter", operation)?.number("time_cycle_manual");
    let per = order.link("bom_id").map(|bom| call.row("mrp_bom", bom)).transpose()?;
    let per = per.map_or(1000, |bom| bom.number("product_qty"));
    let Some(centre) = at.or(work.link("workcenter_id")) else { return Ok(0) };
    let efficiency = call.row("mrp_workcenter", centre)?.number("time_efficiency");
    Ok(scaled(scaled(cycle, order.number("product_qty"), per), 100_000, efficiency))
}

// ---------------------------------------------------------------- changes

/// An order that is over cannot be moved; moving one that is planned takes its plan back.
pub(super) fn may_change(call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    if cells.get(call, "date_start").is_some() {
        if is_in(&order, &["done", "cancel"]) {
            return Err(wrong_state("a manufacturing order cannot be moved once it is cancelled or done"));
        }
        if order.flag("is_planned") {
            unplan_one(call, id)?;
        }
    }
    let structure = ["product_id", "bom_id"];
    let changes = |field: &&str| cells.get(call, field).is_some_and(|value| *value != order.get(field));
    if structure.iter().any(&changes) && !order.is("state", "draft") {
        return Err(wrong_state("product and bill of materials can be changed only while the order is a draft"));
    }
    if changes(&"product_qty") && is_in(&order, &["done", "cancel"]) {
        return Err(wrong_state("the quantity cannot be changed once the order is cancelled or done"));
    }
    Ok(())
}

/// What follows from a change: moves, work orders, end and state.
pub(super) fn changed(call: &mut Call<'_, '_>, id: RowId, old: &RowView, cells: &Cells) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    let differs = |field: &str| order.get(field) != old.get(field);
    if differs("product_id") || differs("bom_id") {
        for field in ["raw_material_production_id", "production_id"] {
            for row in call.rows("stock_move", &[(field, Value::Ref(id))])? {
                call.delete("stock_move", row.id())?;
            }
        }
        for work in workorders(call, id)? {
            call.delete("mrp_workorder", work.id())?;
        }
        made(call, id, &[])?;
    } else if differs("product_qty") {
        let (new, before) = (order.number("product_qty"), old.number("product_qty").max(1));
        for field in ["raw_material_production_id", "production_id"] {
            for row in call.rows("stock_move", &[(field, Value::Ref(id))])? {
                let units = scaled(row.number("product_uom_qty"), new, before);
                call.update("stock_move", row.id(), &[("product_uom_qty", Value::Quantity(units))])?;
                stock::reserve(call, row.id())?;
            }
        }
    }
    if differs("date_start") {
        for row in call.rows("stock_move", &[("raw_material_production_id", Value::Ref(id))])? {
            call.update("stock_move", row.id(), &[("date", order.get("date_start"))])?;
        }
    }
    let written = |field: &str| cells.has(call, field);
    // The product of an order that is no draft is not written, whatever a call says.
    let bears = |field: &str| written(field) && (field != "product_id" || order.is("state", "draft"));
    let ends = ["date_start", "product_qty", "bom_id", "product_id"];
    let is_settled = order.flag("is_planned") || order.is("state", "done");
    if ends.iter().any(|field| differs(field) || (bears(field) && !is_settled)) && !written("date_finished") {
        set_end(call, id)?;
    } else if ends.iter().chain(&["date_finished", "qty_producing"]).any(|field| bears(field)) {
        follow(call, id)?;
    }
    if order.is("state", "done") && cells.has(call, "qty_producing") {
        put_right(call, id)?;
    }
    settle(call, id)
}

/// What a finished build has made is what is written as produced.
fn put_right(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    for row in call.rows("stock_move", &[("production_id", Value::Ref(id)), ("product_id", order.get("product_id"))])? {
        if row.is("state", "done") {
            stock::put_right(call, row.id(), order.number("qty_producing"))?;
        }
    }
    Ok(())
}

/// Sets the state of an order by what is written as produced. What was begun stays so.
fn settle(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    if !is_in(&order, &["draft", "confirmed", "progress", "to_close"]) || order.number("qty_producing") == 0 {
        return Ok(());
    }
    let whole = order.number("qty_producing") >= order.number("product_qty");
    let state = if workorders(call, id)?.is_empty() && whole { "to_close" } else { "progress" };
    if order.is("state", state) { Ok(()) } else { set_state(call, id, state) }
}

fn set_state(call: &mut Call<'_, '_>, id: RowId, state: &str) -> Result<(), Refusal> {
    let state = call.word("mrp_production", "state", state)?;
    call.update("mrp_production", id, &[("state", state)])?;
    Ok(())
}

/// Work that is over stays where it was done.
pub(super) fn may_change_workorder(call: &Call<'_, '_>, id: RowId, cells: &mut Cells) -> Result<(), Refusal> {
    let work = call.row("mrp_workorder", id)?;
    let moves = cells.get(call, "workcenter_id").is_some_and(|centre| *centre != work.get("workcenter_id"));
    if moves && is_in(&work, &["done", "cancel"]) {
        return Err(wrong_state("the work centre of a work order that is done or cancelled cannot be changed"));
    }
    let date = |field: &str| match cells.get(call, field) {
        Some(value) => value.clone(),
        None => work.get(field),
    };
    let dated = cells.get(call, "date_start").is_some() || cells.get(call, "date_finished").is_some();
    if let (true, Value::DateTime(start), Value::DateTime(end)) = (dated, date("date_start"), date("date_finished"))
        && start > end
    {
        return Err(cannot("the planned end of a work order cannot be before its planned start"));
    }
    Ok(())
}

/// The first work order's start is the order's start, the last one's end its end.
pub(super) fn workorder_changed(
    call: &mut Call<'_, '_>,
    id: RowId,
    old: &RowView,
    cells: &Cells,
) -> Result<(), Refusal> {
    let work = call.row("mrp_workorder", id)?;
    let Some(order) = work.link("production_id") else { return Ok(()) };
    let all = workorders(call, order)?;
    let was_planned = call.row("mrp_production", order)?.flag("is_planned");
    let moved = work.get("workcenter_id") != old.get("workcenter_id");
    if let Some(start) = work.instant("date_start")
        && (moved || work.get("date_finished").is_null())
    {
        let end = DateTime(start.0 + minutes(call, &work, None)? * 60 / 1000);
        call.update("mrp_workorder", id, &[("date_finished", Value::DateTime(end))])?;
        if moved && all.last().is_some_and(|last| last.id() == id) {
            set_finished(call, order, end)?;
        }
    }
    let (start, end) = (work.get("date_start"), work.get("date_finished"));
    if start != old.get("date_start") && !start.is_null() && all.first().is_some_and(|first| first.id() == id) {
        call.update("mrp_production", order, &[("date_start", start.clone())])?;
        for row in call.rows("stock_move", &[("raw_material_production_id", Value::Ref(order))])? {
            call.update("stock_move", row.id(), &[("date", start.clone())])?;
        }
        if !was_planned {
            set_end(call, order)?;
        }
    }
    let written = cells.get(call, "date_finished").is_some();
    if let (true, Value::DateTime(end), true) = (written, end, all.last().is_some_and(|last| last.id() == id)) {
        set_finished(call, order, end)?;
    }
    settle_plan(call, order)?;
    if ["date_start", "date_finished", "workcenter_id"].iter().any(|field| cells.has(call, field)) {
        follow(call, order)?;
    }
    Ok(())
}

/// What is done stays; the rest is cancelled and goes.
pub(super) fn may_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    if order.is("state", "done") {
        return Err(wrong_state(format!("{} is done and cannot be deleted", order.words("name"))));
    }
    cancel_one(call, id)
}

// ---------------------------------------------------------------- actions

/// `action_confirm`: orders that are confirmed already are passed over.
pub(super) fn confirm(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        confirm_one(call, id)?;
    }
    done(call, "true")
}

/// Confirms an order: from now on its components are those of the recipe, whatever its state.
fn confirm_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    if order.link("bom_id").is_some() && !order.is("consumption", "warning") {
        let consumption = call.word("mrp_production", "consumption", "warning")?;
        call.update("mrp_production", id, &[("consumption", consumption)])?;
    }
    confirm_moves(call, id)
}

fn confirm_moves(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("mrp_production", id)?;
    if is_in(&order, &["done", "cancel"]) {
        return Ok(());
    }
    if order.is("state", "draft") {
        set_state(call, id, "confirmed")?;
    }
    let waits = |call: &Call<'_, '_>| -> Result<bool, Refusal> {
        let moves = call.rows("stock_move", &[("production_id", Value::Ref(id))])?;
        Ok(moves.iter().any(|row| row.is("state", "draft")))
    };
    if !order.is("state", "draft") && !waits(call)? {
        return Ok(());
    }
    for field in ["raw_material_production_id", "production_id"] {
        for row in call.rows("stock_move", &[(field, Value::Ref(id))])? {
            if row.is("state", "draft") {
                let state = call.word("stock_move", "state", "confirmed")?;
                call.update("stock_move", row.id(), &[("state", state)])?;
            }
        }
    }
    assign_one(call, id)?;
    // What a build makes is simply expected.
    for row in call.rows("stock_move", &[("production_id", Value::Ref(id))])? {
        stock::reserve(call, row.id())?;
    }
    settle(call, id)
}

/// `action_assign`
pub(super) fn assign(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        call.row("mrp_production", id)?;
        assign_one(call, id)?;
    }
    done(call, "true")
}

fn assign_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for row in call.rows("stock_move", &[("raw_material_production_id", Value::Ref(id))])? {
        stock::reserve(call, row.id())?;
    }
    Ok(())
}

/// `button_plan`: each work order goes to the centre, its own or an alternative, where it ends first.
pub(super) fn plan(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let order = call.row("mrp_production", id)?;
        if order.flag("is_planned") || is_in(&order, &["done", "cancel"]) {
            continue;
        }
        if order.is("state", "draft") {
            confirm_one(call, id)?;
        } else {
            confirm_moves(call, id)?;
        }
        let mut from = order.instant("date_start").unwrap_or_else(|| call.now()).max(call.now());
        let mut first = None;
        for work in workorders(call, id)? {
            if !is_in(&work, &["blocked", "ready"]) {
                continue;
            }
            let Some((centre, start, end)) = first_slot(call, &work, from)? else { continue };
            let values = [
                ("workcenter_id", Value::Ref(centre)),
                ("date_start", Value::DateTime(start)),
                ("date_finished", Value::DateTime(end)),
            ];
            call.update("mrp_workorder", work.id(), &values)?;
            first = first.or(Some(start));
            from = end;
        }
        if let Some(start) = first {
            let values = [("is_planned", Value::Bool(true)), ("date_start", Value::DateTime(start))];
            call.update("mrp_production", id, &values)?;
            set_finished(call, id, from)?;
        }
    }
    done(call, "true")
}

/// The centre where a work order ends first, with its start and end; of several the first, its own before the others.
fn first_slot(
    call: &Call<'_, '_>,
    work: &RowView,
    from: DateTime,
) -> Result<Option<(RowId, DateTime, DateTime)>, Refusal> {
    let Some(own) = work.link("workcenter_id") else { return Ok(None) };
    let others = call.rows("mrp_workcenter_alternative", &[("workcenter_id", Value::Ref(own))])?;
    let centres = std::iter::once(own).chain(others.iter().filter_map(|row| row.link("alternative_workcenter_id")));
    let mut best: Option<(RowId, DateTime, DateTime)> = None;
    for centre in centres {
        let seconds = minutes(call, work, Some(centre))? * 60 / 1000;
        let mut busy: Vec<(i64, i64)> = Vec::new();
        for other in call.rows("mrp_workorder", &[("workcenter_id", Value::Ref(centre))])? {
            if let (Some(start), Some(end), false) =
                (other.instant("date_start"), other.instant("date_finished"), is_in(&other, &["done", "cancel"]))
                && other.id() != work.id()
            {
                busy.push((start.0, end.0));
            }
        }
        busy.sort_unstable();
        let mut start = from.0;
        for (begin, end) in busy {
            if begin >= start + seconds {
                break;
            }
            start = start.max(end);
        }
        let end = start + seconds;
        if best.is_none_or(|(_, _, known)| end < known.0) {
            best = Some((centre, DateTime(start), DateTime(end)));
        }
    }
    Ok(best)
}

/// `button_unplan`
pub(super) fn unplan(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let order = call.row("mrp_production", id)?;
        if workorders(call, id)?.iter().any(|work| is_in(work, &["progress", "done"])) {
            let message = format!("{} cannot be unplanned: work on it has begun", order.words("name"));
            return Err(wrong_state(message));
        }
        unplan_one(call, id)?;
        if order.is("state", "done") { follow(call, id)? } else { set_end(call, id)? }
    }
    done(call, "null")
}

fn unplan_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for work in workorders(call, id)? {
        call.update("mrp_workorder", work.id(), &[("date_start", Value::Null), ("date_finished", Value::Null)])?;
    }
    call.update("mrp_production", id, &[("is_planned", Value::Bool(false))])?;
    Ok(())
}

/// `button_mark_done`
pub(super) fn mark_done(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let order = call.row("mrp_production", id)?;
        if is_in(&order, &["done", "cancel"]) {
            if order.number("qty_producing") == 0 {
                call.update("mrp_production", id, &[("qty_producing", order.get("product_qty"))])?;
                if order.is("state", "done") {
                    put_right(call, id)?;
                }
                follow(call, id)?;
            }
            // Of a cancelled one nothing can be consumed any more.
            if order.is("consumption", "warning") && !consumed_as_planned(call, id)? {
                return done(call, stock::dialog("Consumption Warning", "mrp.consumption.warning"));
            }
            let order = call.row("mrp_production", id)?;
            if order.number("qty_producing") < order.number("product_qty") {
                return done(call, stock::dialog("You produced less than initial demand", "mrp.production.backorder"));
            }
            // Odoo goes through the motions: only the end is stamped again.
            set_finished(call, id, call.now())?;
            continue;
        }
        if order.number("qty_producing") > 0 {
            // The written quantity has moved no components, so Odoo asks before it ends the order.
            let moves = call.rows("stock_move", &[("production_id", Value::Ref(id))])?;
            if moves.iter().any(|row| row.is("state", "draft")) {
                return done(call, stock::dialog("You produced less than initial demand", "mrp.production.backorder"));
            }
            return done(call, stock::dialog("Consumption Warning", "mrp.consumption.warning"));
        }
        confirm_moves(call, id)?;
        for field in ["raw_material_production_id", "production_id"] {
            for row in call.rows("stock_move", &[(field, Value::Ref(id))])? {
                if is_in(&row, &stock::OPEN) {
                    stock::finish(call, row.id(), row.number("product_uom_qty"))?;
                }
            }
        }
        let (over, now) = (call.word("mrp_workorder", "state", "done")?, call.now());
        for (at, work) in workorders(call, id)?.iter().enumerate() {
            if is_in(work, &["done", "cancel"]) {
                continue;
            }
            let mut values = vec![("state", over.clone()), ("date_finished", Value::DateTime(now))];
            if work.instant("date_start").is_none_or(|start| start > now) {
                values.push(("date_start", Value::DateTime(now)));
                if at == 0 {
                    call.update("mrp_production", id, &[("date_start", Value::DateTime(now))])?;
                }
            }
            call.update("mrp_workorder", work.id(), &values)?;
        }
        settle_plan(call, id)?;
        let values =
            [("state", call.word("mrp_production", "state", "done")?), ("qty_producing", order.get("product_qty"))];
        call.update("mrp_production", id, &values)?;
        set_finished(call, id, call.now())?;
    }
    done(call, "true")
}

/// Whether a build has consumed what its recipe says for the units written as produced.
fn consumed_as_planned(call: &Call<'_, '_>, id: RowId) -> Result<bool, Refusal> {
    let order = call.row("mrp_production", id)?;
    let Some(bom) = order.link("bom_id") else { return Ok(true) };
    let per = call.row("mrp_bom", bom)?.number("product_qty").max(1);
    let mut left: BTreeMap<RowId, i64> = BTreeMap::new();
    for line in call.rows("mrp_bom_line", &[("bom_id", Value::Ref(bom))])? {
        if let Some(product) = line.link("product_id") {
            *left.entry(product).or_default() += scaled(line.number("product_qty"), order.number("qty_producing"), per);
        }
    }
    for row in call.rows("stock_move", &[("raw_material_production_id", Value::Ref(id))])? {
        if let (Some(product), true) = (row.link("product_id"), row.is("state", "done")) {
            *left.entry(product).or_default() -= row.number("quantity");
        }
    }
    Ok(left.values().all(|units| *units == 0))
}

/// `action_cancel`
pub(super) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let order = call.row("mrp_production", id)?;
        if order.is("state", "done") {
            return Err(wrong_state(format!("{} is done and cannot be cancelled", order.words("name"))));
        }
        cancel_one(call, id)?;
    }
    done(call, "true")
}

fn cancel_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for field in ["raw_material_production_id", "production_id"] {
        for row in call.rows("stock_move", &[(field, Value::Ref(id))])? {
            stock::cancel_move(call, row.id())?;
        }
    }
    let state = call.word("mrp_workorder", "state", "cancel")?;
    for work in workorders(call, id)? {
        if !work.is("state", "done") {
            call.update("mrp_workorder", work.id(), &[("state", state.clone())])?;
        }
    }
    set_state(call, id, "cancel")
}

// ---------------------------------------------------------------- make to order

/// The rules of the routes of a product.
fn rules(call: &Call<'_, '_>, product: RowId) -> Result<Vec<RowView>, Refusal> {
    let mut found = Vec::new();
    for joint in call.rows("stock_route_product", &[("product_id", Value::Ref(product))])? {
        if let Some(route) = joint.link("route_id") {
            found.extend(call.rows("stock_rule", &[("route_id", Value::Ref(route))])?);
        }
    }
    Ok(found)
}

/// Whether a product is made or bought only when it is ordered.
pub(super) fn is_made_to_order(call: &Call<'_, '_>, product: RowId) -> Result<bool, Refusal> {
    Ok(rules(call, product)?.iter().any(|rule| rule.is("procure_method", "make_to_order")))
}

/// Orders the manufacture of what a sale needs, if the product has the route and a bill of materials.
pub(super) fn make_to_order(
    call: &mut Call<'_, '_>,
    product: RowId,
    units: i64,
    origin: &str,
    due: Option<DateTime>,
    line: RowId,
) -> Result<(), Refusal> {
    let manufactured = rules(call, product)?.iter().any(|rule| rule.is("action", "manufacture"));
    let Some(bom) = bom_of(call, product)?.filter(|_| manufactured) else { return Ok(()) };
    let days = call.row("mrp_bom", bom)?.number("produce_delay");
    let due = due.unwrap_or_else(|| call.now());
    let start = DateTime(due.0 - days * DAY).max(call.now());
    let id = call.create(
        "mrp_production",
        &[
            ("product_id", Value::Ref(product)),
            ("product_qty", Value::Quantity(units)),
            ("bom_id", Value::Ref(bom)),
            ("origin", Value::text(origin)),
            ("date_start", Value::DateTime(start)),
            ("date_deadline", Value::DateTime(due)),
        ],
    )?;
    made(call, id, &[])?;
    confirm_one(call, id)?;
    for row in call.rows("stock_move", &[("production_id", Value::Ref(id))])? {
        call.update("stock_move", row.id(), &[("sale_line_id", Value::Ref(line))])?;
    }
    Ok(())
}

// ---------------------------------------------------------------- what is read

/// What is made of an order, a work order or an operation when it is asked for.
pub(super) fn made_value(call: &Call<'_, '_>, model: &str, id: RowId, field: &str) -> Result<Value, Refusal> {
    match model {
        "mrp_routing_workcenter" => Ok(call.row(model, id)?.get("time_cycle_manual")),
        "mrp_workorder" => {
            let work = call.row(model, id)?;
            let order = work.link("production_id").map(|order| call.row("mrp_production", order)).transpose()?;
            Ok(match (field, order) {
                ("duration_expected", _) => Value::Quantity(minutes(call, &work, None)?),
                ("product_id", Some(order)) => order.get("product_id"),
                ("qty_production", Some(order)) => order.get("product_qty"),
                ("production_state", Some(order)) => state_word(call, "mrp_production", &order),
                _ => Value::Null,
            })
        }
        _ => match field {
            "qty_produced" => {
                let moves = call.rows("stock_move", &[("production_id", Value::Ref(id))])?;
                let done = moves.iter().filter(|row| row.is("state", "done"));
                Ok(Value::Quantity(done.map(|row| row.number("quantity")).sum()))
            }
            "duration_expected" => {
                let mut sum = 0;
                for work in workorders(call, id)? {
                    sum += minutes(call, &work, None)?;
                }
                Ok(Value::Quantity(sum))
            }
            _ => {
                let moves = call.rows("stock_move", &[("raw_material_production_id", Value::Ref(id))])?;
                let open: Vec<&RowView> = moves.iter().filter(|row| is_in(row, &stock::OPEN)).collect();
                Ok(if open.is_empty() {
                    Value::Null
                } else if open.iter().all(|row| row.is("state", "assigned")) {
                    Value::text("assigned")
                } else {
                    Value::text("confirmed")
                })
            }
        },
    }
}
