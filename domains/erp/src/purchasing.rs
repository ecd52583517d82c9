//! Purchase orders: prices and dates from vendor offers, confirmation with receipts, cancellation.

use super::invoicing::line_amounts;
use super::orm::{self, Answer, Call, Cells, Read, cannot, done, wrong_state};
use super::stock::{self, NewMove, is_in};
use benchwright_base::{DateTime, RowId, Value, date::DAY};
use benchwright_pack::Refusal;
use benchwright_sandbox::RowView;
use benchwright_schema::codec;

/// Confirming adds no offer to a product that has more than this many.
const MOST_OFFERS: usize = 10;

/// What a new order has unless it says otherwise.
pub(super) fn fill_order(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if !cells.has(call, "date_order") {
        cells.set(call, "date_order", Value::DateTime(call.now()))?;
    }
    orm::fill_user(call, cells)?;
    if cells.get(call, "payment_term_id").is_none()
        && let Some(partner) = cells.link(call, "partner_id")
        && let Ok(partner) = call.row("res_partner", partner)
    {
        cells.set(call, "payment_term_id", partner.get("property_supplier_payment_term_id"))?;
    }
    Ok(())
}

// ---------------------------------------------------------------- offers

/// One tier of an offer.
struct Offer {
    id: RowId,
    sequence: i64,
    min_qty: i64,
    /// After its discount, for comparison only.
    net: i64,
    price: Value,
    discount: Value,
    delay: i64,
}

/// The tiers that a vendor offers a product at, on a day.
fn offers(call: &Call<'_, '_>, product: RowId, vendor: RowId, on: DateTime) -> Result<Vec<Offer>, Refusal> {
    let day = Value::Date(on.date());
    let rows = call.rows("product_supplierinfo", &[("product_tmpl_id", Value::Ref(product))])?;
    let fits = |row: &RowView| {
        let (start, end) = (row.get("date_start"), row.get("date_end"));
        row.link("partner_id") == Some(vendor)
            && (start.is_null() || start <= day)
            && (end.is_null() || end >= day)
            && row.link("product_id").is_none_or(|only| only == product)
    };
    let offer = |row: &RowView| Offer {
        id: row.id(),
        sequence: row.number("sequence"),
        min_qty: row.number("min_qty"),
        net: row.number("price") * (100_000 - row.number("discount")),
        price: row.get("price"),
        discount: row.get("discount"),
        delay: row.number("delay"),
    };
    Ok(rows.iter().filter(|row| fits(row)).map(offer).collect())
}

/// The tier that a quantity is bought at: of those it reaches, the cheapest.
fn select(offers: &[Offer], units: i64) -> Option<&Offer> {
    let reached = offers.iter().filter(|offer| offer.min_qty <= units);
    reached.min_by_key(|offer| (offer.net, offer.sequence, offer.id))
}

/// Price, discount and date of a line from the offer for so many units; `None` for what the offer does not say.
struct Terms {
    price: Value,
    discount: Value,
    date: Option<DateTime>,
}

fn terms(call: &Call<'_, '_>, order: &RowView, product: RowId, units: Option<i64>) -> Result<Terms, Refusal> {
    let on = order.instant("date_order").unwrap_or_else(|| call.now());
    let vendor = order.link("partner_id").unwrap_or_default();
    let offers = offers(call, product, vendor, on)?;
    // A line without a price is first given the least quantity that the vendor sells, and that quantity's price.
    let least = offers.iter().map(|offer| offer.min_qty).min().map(|least| if least == 0 { 1000 } else { least });
    let units = units.or(least).unwrap_or(1000);
    Ok(match select(&offers, units) {
        Some(offer) => Terms {
            price: offer.price.clone(),
            discount: offer.discount.clone(),
            date: Some(DateTime(on.0 + offer.delay * DAY)),
        },
        None => Terms {
            price: call.row("product_product", product)?.get("standard_price"),
            discount: Value::Quantity(0),
            date: None,
        },
    })
}

// ---------------------------------------------------------------- lines

/// What a new line has unless it says otherwise: the price of the LOWEST tier whatever its quantity, and the date of the
/// order plus the vendor's days.
pub(super) fn fill_line(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if cells.has(call, "display_type") {
        cells.set(call, "product_qty", Value::Quantity(0))?;
        cells.set(call, "price_unit", Value::Money(0))?;
        cells.set(call, "date_planned", Value::Null)?;
        return Ok(());
    }
    let Some(product) = cells.link(call, "product_id") else {
        return Err(cannot("a line of a purchase order has a product, or it is a section or a note"));
    };
    let Some(order) = cells.link(call, "order_id") else { return Ok(()) };
    let order = call.row("purchase_order", order)?;
    let terms = terms(call, &order, product, None)?;
    if !cells.has(call, "name") {
        let table = call.table("product_product")?;
        if let Some(row) = call.find(table, product)? {
            let name = super::present::name(call, table, row)?;
            cells.set(call, "name", Value::text(name))?;
        }
    }
    if cells.get(call, "price_unit").is_none() {
        if cells.get(call, "discount").is_none() {
            cells.set(call, "discount", terms.discount)?;
        }
        cells.set(call, "price_unit", terms.price)?;
    }
    if !cells.has(call, "date_planned") {
        let on = order.instant("date_order").unwrap_or_else(|| call.now());
        let date = terms.date.unwrap_or(on);
        cells.set(call, "date_planned", Value::DateTime(date))?;
    }
    // A price counts as the system's own until it is written over.
    let price = cells.get(call, "price_unit").cloned().unwrap_or(Value::Money(0));
    cells.set(call, "technical_price_unit", price)
}

/// A line that is added to a confirmed order is received too.
pub(super) fn line_made(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let line = call.row("purchase_order_line", id)?;
    let Some(order) = line.link("order_id") else { return Ok(()) };
    if call.row("purchase_order", order)?.is("state", "purchase") { receive(call, order) } else { Ok(()) }
}

/// The kind of a line stays.
pub(super) fn may_change_line(call: &Call<'_, '_>, id: RowId, cells: &mut Cells) -> Result<(), Refusal> {
    let line = call.row("purchase_order_line", id)?;
    if let Some(kind) = cells.get(call, "display_type")
        && *kind != line.get("display_type")
    {
        return Err(cannot("the type of a purchase order line cannot be changed: delete it and make another"));
    }
    let units = cells.get(call, "product_qty").and_then(Value::as_number);
    if units.is_some_and(|units| units < received(call, id).unwrap_or_default()) {
        return Err(cannot("the ordered quantity cannot be less than what was received"));
    }
    Ok(())
}

/// A new quantity sets price and date again from the offer, unless the price was written by hand; what was written with it
/// stands. The receipt follows.
pub(super) fn line_changed(call: &mut Call<'_, '_>, id: RowId, old: &RowView, cells: &Cells) -> Result<(), Refusal> {
    let line = call.row("purchase_order_line", id)?;
    let mut dated = false;
    // The same quantity again counts as a new one.
    if cells.get(call, "product_qty").is_some() {
        let manual = line.get("technical_price_unit") != line.get("price_unit");
        let keep = [cells.get(call, "price_unit").is_some(), cells.get(call, "date_planned").is_some()];
        if !manual {
            dated = reprice(call, &line, keep)?;
        }
    }
    let Some(order) = line.link("order_id") else { return Ok(()) };
    if dated || call.row("purchase_order_line", id)?.get("date_planned") != old.get("date_planned") {
        let before = earliest_with(call, order, id, old.get("date_planned"))?;
        date_follows(call, order, &before)?;
    }
    let repriced = call.row("purchase_order_line", id)?.get("price_unit") != old.get("price_unit");
    let confirmed = call.row("purchase_order", order)?.is("state", "purchase");
    if confirmed { receive_more(call, order, repriced.then_some(id)) } else { Ok(()) }
}

/// Sets price and date of a line from the offer for its quantity, and says whether it set a date.
fn reprice(call: &mut Call<'_, '_>, line: &RowView, keep: [bool; 2]) -> Result<bool, Refusal> {
    let (Some(order), Some(product)) = (line.link("order_id"), line.link("product_id")) else { return Ok(false) };
    let order = call.row("purchase_order", order)?;
    let on = order.instant("date_order").unwrap_or_else(|| call.now());
    let vendor = order.link("partner_id").unwrap_or_default();
    let sells = !offers(call, product, vendor, on)?.is_empty();
    if !sells && line.number("price_unit") != 0 {
        // A vendor without an offer keeps the price that the line has.
        return Ok(false);
    }
    let terms = terms(call, &order, product, Some(line.number("product_qty")))?;
    let [keep_price, keep_date] = keep;
    let mut values = vec![("technical_price_unit", terms.price.clone())];
    if !keep_price {
        values.push(("price_unit", terms.price));
        values.push(("discount", terms.discount));
    }
    let dated = terms.date.filter(|_| !keep_date);
    values.extend(dated.map(|date| ("date_planned", Value::DateTime(date))));
    call.update("purchase_order_line", line.id(), &values)?;
    Ok(dated.is_some())
}

/// Lines of confirmed orders stay; what was to be received by others is not.
pub(super) fn may_unlink_line(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let line = call.row("purchase_order_line", id)?;
    let Some(order) = line.link("order_id") else { return Ok(()) };
    if call.row("purchase_order", order)?.is("state", "purchase") {
        return Err(wrong_state("a line of a confirmed purchase order cannot be deleted"));
    }
    for row in call.rows("stock_move", &[("purchase_line_id", Value::Ref(id))])? {
        stock::cancel_move(call, row.id())?;
        call.update("stock_move", row.id(), &[("purchase_line_id", Value::Null)])?;
        let Some(receipt) = row.link("picking_id") else { continue };
        stock::settle_picking(call, receipt)?;
        stock::settle_owner(call, receipt, "purchase_line_id", "purchase_id")?;
    }
    Ok(())
}

/// A new vendor has other prices. A date written on the order stays there: its lines keep theirs.
pub(super) fn order_changed(call: &mut Call<'_, '_>, id: RowId, old: &RowView, _cells: &Cells) -> Result<(), Refusal> {
    if call.row("purchase_order", id)?.get("partner_id") != old.get("partner_id") {
        for line in call.rows("purchase_order_line", &[("order_id", Value::Ref(id))])? {
            if line.get("technical_price_unit") == line.get("price_unit") {
                reprice(call, &line, [false, false])?;
            }
        }
    }
    Ok(())
}

/// A new order without a date has the earliest of its lines.
pub(super) fn order_made(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    if call.row("purchase_order", id)?.get("date_planned").is_null() {
        let date = earliest_date(call, id)?;
        call.update("purchase_order", id, &[("date_planned", date)])?;
    }
    Ok(())
}

/// The order's date follows its lines. One that was never written stands for the earliest date there is.
fn date_follows(call: &mut Call<'_, '_>, order: RowId, before: &Value) -> Result<(), Refusal> {
    let (head, date) = (call.row("purchase_order", order)?, earliest_date(call, order)?);
    if date == *before && head.get("date_planned").is_null() {
        return Ok(());
    }
    call.update("purchase_order", order, &[("date_planned", date)])?;
    Ok(())
}

/// The earliest date of an order's lines but one, and a date.
fn earliest_with(call: &Call<'_, '_>, order: RowId, but: RowId, date: Value) -> Result<Value, Refusal> {
    let lines = call.rows("purchase_order_line", &[("order_id", Value::Ref(order))])?;
    let others = lines.iter().filter(|line| line.id() != but).map(|line| line.get("date_planned"));
    Ok(others.chain([date]).filter(|date| !date.is_null()).min().unwrap_or_default())
}

/// A line was added to an order.
pub(super) fn line_added(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let Some(order) = call.row("purchase_order_line", id)?.link("order_id") else { return Ok(()) };
    let before = earliest_with(call, order, id, Value::Null)?;
    date_follows(call, order, &before)
}

/// A line of an order was deleted.
pub(super) fn line_gone(call: &mut Call<'_, '_>, old: &RowView) -> Result<(), Refusal> {
    let Some(order) = old.link("order_id") else { return Ok(()) };
    let before = earliest_with(call, order, old.id(), old.get("date_planned"))?;
    date_follows(call, order, &before)
}

/// What a new offer has unless it says otherwise: the one product of its template.
pub(super) fn fill_offer(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    match cells.link(call, "product_tmpl_id") {
        Some(product) if cells.get(call, "product_id").is_none() => cells.set(call, "product_id", Value::Ref(product)),
        _ => Ok(()),
    }
}

/// Only cancelled orders can be deleted.
pub(super) fn may_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row("purchase_order", id)?;
    if order.is("state", "cancel") {
        let lines = call.rows("purchase_order_line", &[("order_id", Value::Ref(id))])?;
        let lines: Vec<RowId> = lines.iter().map(RowView::id).collect();
        return stock::let_go(call, ("purchase_id", id), ("purchase_line_id", &lines));
    }
    Err(wrong_state(format!("{} must be cancelled before it is deleted", order.words("name"))))
}

// ---------------------------------------------------------------- actions

/// `button_confirm`: orders that are confirmed already are passed over.
pub(super) fn confirm(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let order = call.row("purchase_order", id)?;
        if !is_in(&order, &["draft", "sent"]) {
            continue;
        }
        add_offers(call, &order)?;
        let values = [
            ("state", call.word("purchase_order", "state", "purchase")?),
            ("date_approve", Value::DateTime(call.now())),
        ];
        call.update("purchase_order", id, &values)?;
        receive(call, id)?;
    }
    done(call, "true")
}

/// A vendor without an offer for a product of the order gets one at the order's price.
fn add_offers(call: &mut Call<'_, '_>, order: &RowView) -> Result<(), Refusal> {
    let Some(vendor) = order.link("partner_id") else { return Ok(()) };
    for line in call.rows("purchase_order_line", &[("order_id", Value::Ref(order.id()))])? {
        let Some(product) = line.link("product_id") else { continue };
        let known = call.rows("product_supplierinfo", &[("product_tmpl_id", Value::Ref(product))])?;
        if known.len() > MOST_OFFERS || known.iter().any(|offer| offer.link("partner_id") == Some(vendor)) {
            continue;
        }
        let sequence = known.iter().map(|offer| offer.number("sequence")).max().unwrap_or(0) + 1;
        call.create(
            "product_supplierinfo",
            &[
                ("partner_id", Value::Ref(vendor)),
                ("product_tmpl_id", Value::Ref(product)),
                ("product_id", Value::Ref(product)),
                ("sequence", Value::Int(sequence)),
                ("min_qty", Value::Quantity(1000)),
                ("price", Value::Money(line.number("price_unit").max(0))),
                ("discount", line.get("discount")),
                ("delay", Value::Int(0)),
            ],
        )?;
    }
    Ok(())
}

/// Plans the receipt of what is ordered and not yet received: one transfer, one open move for each line.
fn receive(call: &mut Call<'_, '_>, order: RowId) -> Result<(), Refusal> {
    receive_more(call, order, None)
}

/// The same; more units of a line that has a new price come by a move of their own.
fn receive_more(call: &mut Call<'_, '_>, order: RowId, repriced: Option<RowId>) -> Result<(), Refusal> {
    let head = call.row("purchase_order", order)?;
    let name = head.words("name");
    let pickings = call.rows("stock_picking", &[("purchase_id", Value::Ref(order))])?;
    let mut picking = pickings.iter().find(|row| !is_in(row, &["done", "cancel"])).map(RowView::id);
    for line in call.rows("purchase_order_line", &[("order_id", Value::Ref(order))])? {
        let Some(product) = line.link("product_id") else { continue };
        if !call.row("product_product", product)?.is("type", "consu") {
            continue;
        }
        let due = line.number("product_qty") - received(call, line.id())?;
        let moves = call.rows("stock_move", &[("purchase_line_id", Value::Ref(line.id()))])?;
        let mut open: Vec<&RowView> = moves.iter().filter(|row| is_in(row, &stock::OPEN)).collect();
        let mut due = due;
        // All but the last are as they were, unless there is too much.
        while open.len() > 1 && due > open[0].number("product_uom_qty") {
            due -= open.remove(0).number("product_uom_qty");
        }
        for row in open.iter().skip(1) {
            stock::cancel_move(call, row.id())?;
        }
        let mut open = open.first().map(|row| row.id());
        if let (Some(row), true) = (open, repriced == Some(line.id())) {
            let known = call.row("stock_move", row)?.number("product_uom_qty");
            if due > known {
                (due, open) = (due - known, None);
            }
        }
        match (open, due > 0) {
            (Some(row), true) => {
                // A move keeps its date; of more or fewer units the earlier date stands.
                let known = call.row("stock_move", row)?;
                let mut values = vec![("product_uom_qty", Value::Quantity(due))];
                if due != known.number("product_uom_qty") && line.instant("date_planned") < known.instant("date") {
                    values.push(("date", line.get("date_planned")));
                }
                call.update("stock_move", row, &values)?;
                stock::reserve(call, row)?;
            }
            (Some(row), false) => stock::cancel_move(call, row)?,
            (None, true) => {
                let date = line.instant("date_planned");
                let transfer = match picking {
                    Some(transfer) => transfer,
                    None => {
                        let of = ("purchase_id", order);
                        let partner = head.link("partner_id");
                        *picking.insert(stock::make_picking(call, "incoming", partner, &name, date, of)?)
                    }
                };
                let new = NewMove {
                    product,
                    units: due,
                    from: stock::location(call, "supplier")?,
                    to: stock::location(call, "internal")?,
                    date,
                    origin: &name,
                    state: "confirmed",
                    of: &[("picking_id", transfer), ("purchase_line_id", line.id())],
                };
                let made = stock::make_move(call, &new)?;
                stock::reserve(call, made)?;
            }
            (None, false) => {}
        }
    }
    picking.map_or(Ok(()), |picking| stock::settle_picking(call, picking))
}

/// `button_cancel`
pub(super) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let name = call.row("purchase_order", id)?.words("name");
        for bill in bills(call, id)? {
            if call.row("account_move", bill)?.is("state", "posted") {
                return Err(wrong_state(format!("{name} cannot be cancelled: cancel its vendor bills first")));
            }
        }
        let pickings = call.rows("stock_picking", &[("purchase_id", Value::Ref(id))])?;
        if pickings.iter().any(|row| row.is("state", "done")) {
            return Err(wrong_state(format!("{name} cannot be cancelled: some receipts have already been done")));
        }
        for row in pickings {
            stock::cancel_picking(call, row.id())?;
        }
        let state = call.word("purchase_order", "state", "cancel")?;
        call.update("purchase_order", id, &[("state", state)])?;
    }
    done(call, "null")
}

/// `button_draft`
pub(super) fn draft(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        // Every order goes back, a confirmed one too; its receipts stay as they are.
        if !call.row("purchase_order", id)?.is("state", "draft") {
            let state = call.word("purchase_order", "state", "draft")?;
            call.update("purchase_order", id, &[("state", state)])?;
        }
    }
    done(call, "{}")
}

// ---------------------------------------------------------------- what is read of orders

/// The earliest date of an order's lines.
pub(super) fn earliest_date(call: &Call<'_, '_>, order: RowId) -> Result<Value, Refusal> {
    let lines = call.rows("purchase_order_line", &[("order_id", Value::Ref(order))])?;
    Ok(lines.iter().filter_map(|line| line.instant("date_planned")).min().map_or(Value::Null, Value::DateTime))
}

/// The bills of an order.
pub(super) fn bills(call: &Call<'_, '_>, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let mut found = Vec::new();
    for line in call.rows("purchase_order_line", &[("order_id", Value::Ref(order))])? {
        let items = call.rows("account_move_line", &[("purchase_line_id", Value::Ref(line.id()))])?;
        found.extend(items.iter().filter_map(|item| item.link("move_id")));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn received(call: &Call<'_, '_>, line: RowId) -> Result<i64, Refusal> {
    let moves = call.rows("stock_move", &[("purchase_line_id", Value::Ref(line))])?;
    Ok(moves.iter().filter(|row| row.is("state", "done")).map(|row| row.number("quantity")).sum())
}

fn amounts(call: &Call<'_, '_>, line: &RowView) -> Result<(i64, i64), Refusal> {
    line_amounts(call, line, "product_qty", "purchase_order_line_tax")
}

/// The word of a record's state.
pub(super) fn state_word(call: &Call<'_, '_>, table: &str, row: &RowView) -> Value {
    let word = || {
        let table = call.domain().table(call.domain().table_named(table)?);
        let field = table.field(table.field_named("state")?);
        Some(codec::show_value(call.domain(), field.ty, &row.get("state")))
    };
    word().map_or(Value::Null, Value::text)
}

/// What is made of an order or a line when it is asked for.
pub(super) fn made(call: &Call<'_, '_>, model: &str, id: RowId, field: &str) -> Result<Value, Refusal> {
    if model == "purchase_order" {
        if field == "incoming_picking_count" {
            return Ok(Value::Int(call.rows("stock_picking", &[("purchase_id", Value::Ref(id))])?.len() as i64));
        }
        let (mut untaxed, mut tax) = (0, 0);
        for line in call.rows("purchase_order_line", &[("order_id", Value::Ref(id))])? {
            let (more, more_tax) = amounts(call, &line)?;
            (untaxed, tax) = (untaxed + more, tax + more_tax);
        }
        return Ok(Value::Money(match field {
            "amount_untaxed" => untaxed,
            "amount_tax" => tax,
            _ => untaxed + tax,
        }));
    }
    let line = call.row("purchase_order_line", id)?;
    let order = line.link("order_id").map(|order| call.row("purchase_order", order)).transpose()?;
    Ok(match field {
        "price_subtotal" => Value::Money(amounts(call, &line)?.0),
        "price_tax" => Value::Money(amounts(call, &line)?.1),
        "price_total" => {
            let (untaxed, tax) = amounts(call, &line)?;
            Value::Money(untaxed + tax)
        }
        "qty_received" => Value::Quantity(received(call, id)?),
        "qty_invoiced" => {
            let mut sum = 0;
            for item in call.rows("account_move_line", &[("purchase_line_id", Value::Ref(id))])? {
                let entry = item.link("move_id").map(|entry| call.row("account_move", entry)).transpose()?;
                if entry.is_some_and(|entry| !entry.is("state", "cancel")) {
                    sum += item.number("quantity");
                }
            }
            Value::Quantity(sum)
        }
        "partner_id" => order.map_or(Value::Null, |order| order.get("partner_id")),
        _ => order.map_or(Value::Null, |order| state_word(call, "purchase_order", &order)),
    })
}
