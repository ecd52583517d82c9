//! Invoices: amounts, the wizard with its three methods, posting.

use super::orm::{self, Answer, Call, Cells, Read, cannot, done, wrong_state};
use super::purchasing::state_word;
use super::{sales, stock};
use benchwright_base::{Date, Json, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::RowView;

/// `n / d`, rounded half away from zero.
fn divided(n: i128, d: i128) -> i64 {
    let half = if n < 0 { -d / 2 } else { d / 2 };
    ((n + half) / d) as i64
}

/// Untaxed amount and tax of a line in cents: quantity times price, less its discount.
pub(super) fn line_amounts(
    call: &Call<'_, '_>,
    line: &RowView,
    quantity: &str,
    taxes: &str,
) -> Result<(i64, i64), Refusal> {
    let (units, price, discount) = (line.number(quantity), line.number("price_unit"), line.number("discount"));
    let untaxed = divided(i128::from(units) * i128::from(price) * i128::from(100_000 - discount), 100_000_000);
    let mut tax = 0;
    for joint in call.rows(taxes, &[("line_id", Value::Ref(line.id()))])? {
        if let Some(id) = joint.link("tax_id") {
            let percent = call.row("account_tax", id)?.number("amount");
            tax += divided(i128::from(untaxed) * i128::from(percent), 100_000);
        }
    }
    Ok((untaxed, tax))
}

fn amounts(call: &Call<'_, '_>, line: &RowView) -> Result<(i64, i64), Refusal> {
    line_amounts(call, line, "quantity", "account_move_line_account_tax_rel")
}

/// What a new entry has unless it says otherwise: the terms of its partner.
pub(super) fn fill_entry(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    if cells.get(call, "invoice_payment_term_id").is_none()
        && let Some(partner) = cells.link(call, "partner_id")
        && let Ok(partner) = call.row("res_partner", partner)
    {
        let kind = cells.get(call, "move_type").cloned().unwrap_or_default();
        let is_bill = kind == call.word("account_move", "move_type", "in_invoice")?;
        let field = if is_bill { "property_supplier_payment_term_id" } else { "property_payment_term_id" };
        cells.set(call, "invoice_payment_term_id", partner.get(field))?;
    }
    Ok(())
}

/// What a new line has unless it says otherwise: the product's name and price.
pub(super) fn fill_line(call: &Call<'_, '_>, cells: &mut Cells) -> Result<(), Refusal> {
    let Some(entry) = cells.link(call, "move_id") else { return Ok(()) };
    let entry = call.row("account_move", entry)?;
    if !entry.is("state", "draft") {
        return Err(wrong_state("lines can be added only to a draft"));
    }
    let product = cells.link(call, "product_id").map(|id| call.row("product_product", id)).transpose()?;
    if let (Some(product), false) = (&product, cells.has(call, "name")) {
        cells.set(call, "name", product.get("name"))?;
    }
    if cells.get(call, "price_unit").is_none() {
        let is_sale = entry.is("move_type", "out_invoice") || entry.is("move_type", "out_refund");
        let field = if is_sale { "list_price" } else { "standard_price" };
        cells.set(call, "price_unit", product.map_or(Value::Money(0), |product| product.get(field)))?;
    }
    Ok(())
}

/// What was posted stays as it is.
pub(super) fn may_change(call: &Call<'_, '_>, id: RowId, cells: &mut Cells) -> Result<(), Refusal> {
    let entry = call.row("account_move", id)?;
    let fixed = ["partner_id", "move_type", "invoice_date", "invoice_payment_term_id"];
    // Of a posted entry not even the same may be written again.
    let given = |field: &&str| cells.get(call, field).is_some();
    if entry.is("state", "posted") && fixed.iter().filter(|field| **field != "move_type").any(given) {
        return Err(wrong_state("a posted entry cannot be changed: reset it to draft first"));
    }
    let changes = |field: &&str| cells.get(call, field).is_some_and(|value| *value != entry.get(field));
    if !entry.is("state", "draft") && fixed.iter().any(changes) {
        return Err(wrong_state("a posted or cancelled entry cannot be changed: reset it to draft first"));
    }
    Ok(())
}

/// Lines can be changed only while their entry is a draft.
pub(super) fn may_change_line(call: &Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let Some(entry) = call.row("account_move_line", id)?.link("move_id") else { return Ok(()) };
    if call.row("account_move", entry)?.is("state", "draft") {
        return Ok(());
    }
    Err(wrong_state("lines of a posted or cancelled entry cannot be changed: reset it to draft first"))
}

/// What was posted once has its number and stays.
pub(super) fn may_unlink(call: &Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let entry = call.row("account_move", id)?;
    if entry.is("state", "posted") || !entry.get("name").is_null() {
        return Err(wrong_state("an entry that was posted cannot be deleted"));
    }
    Ok(())
}

// ---------------------------------------------------------------- the wizard

/// The orders of a new wizard are those of the context, unless it names others.
pub(super) fn wizard_made(call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
    if given.contains(&"sale_order_ids") {
        return Ok(());
    }
    for order in context_orders(call)? {
        let values = [("wizard_id", Value::Ref(id)), ("order_id", Value::Ref(order))];
        call.create("sale_advance_payment_order", &values)?;
    }
    Ok(())
}

/// The sales orders that a call's context names.
fn context_orders(call: &Call<'_, '_>) -> Result<Vec<RowId>, Refusal> {
    let Some(context) = call.raw("context") else { return Ok(Vec::new()) };
    if context.get("active_model").is_some_and(|model| *model != Json::Text("sale.order".into())) {
        return Ok(Vec::new());
    }
    let ids = match (context.get("active_ids"), context.get("active_id")) {
        (Some(Json::List(ids)), _) => &ids[..],
        (_, Some(id)) => std::slice::from_ref(id),
        _ => &[],
    };
    let wrong = || Refusal::argument("context", "wants ids of sales orders in `active_ids`");
    let mut found: Vec<RowId> = Vec::new();
    for id in ids {
        let Json::Int(id) = id else { return Err(wrong()) };
        let id = u32::try_from(*id).map_err(|_| wrong())?;
        call.row("sale_order", id)?;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    Ok(found)
}

/// `create_invoices`
pub(super) fn create_invoices(call: &mut Call<'_, '_>) -> Answer {
    let mut made = Vec::new();
    for id in orm::ids(call) {
        let wizard = call.row("sale_advance_payment_inv", id)?;
        let joints = call.rows("sale_advance_payment_order", &[("wizard_id", Value::Ref(id))])?;
        let mut orders: Vec<RowId> = joints.iter().filter_map(|joint| joint.link("order_id")).collect();
        if orders.is_empty() {
            orders = context_orders(call)?;
        }
        if orders.is_empty() {
            return Err(Refusal::argument("context", "names no sales order in `active_ids`"));
        }
        if wizard.is("advance_payment_method", "delivered") {
            made.extend(invoice_orders(call, &orders, wizard.flag("deduct_down_payments"))?);
        } else {
            made.push(deposit(call, &wizard, &orders)?);
        }
    }
    let (mut ids, one) = (Vec::new(), made.len() == 1);
    super::values::write_ids(&mut ids, made.iter().copied());
    let ids = String::from_utf8_lossy(&ids).into_owned();
    let what = if one { format!("\"res_id\":{}", made[0]) } else { format!("\"domain\":[[\"id\",\"in\",{ids}]]") };
    done(
        call,
        format!(
            "{{\"type\":\"ir.actions.act_window\",\"name\":\"Invoices\",\"res_model\":\"account.move\",\"view_mode\":\"form\",{what}}}"
        ),
    )
}

/// Makes the invoice of a deposit, and the line of the order that it will be deducted by.
fn deposit(call: &mut Call<'_, '_>, wizard: &RowView, orders: &[RowId]) -> Result<RowId, Refusal> {
    let [order] = orders else { return Err(cannot("a down payment is for one sales order at a time")) };
    let is_percent = wizard.is("advance_payment_method", "percentage");
    let (untaxed, tax) = sales::order_amounts(call, *order)?;
    let percent = wizard.number("amount");
    let amount = if is_percent {
        divided(i128::from(untaxed + tax) * i128::from(percent), 100_000)
    } else {
        wizard.number("fixed_amount")
    };
    if (if is_percent { percent } else { amount }) <= 0 {
        return Err(cannot("the value of the down payment must be positive"));
    }
    let lines = call.rows("sale_order_line", &[("order_id", Value::Ref(*order))])?;
    let last = lines.iter().map(|line| line.number("sequence")).max().unwrap_or(10);
    let has_section = lines.iter().any(|line| line.flag("is_downpayment"));
    let base = |name: &str, price: i64, sequence: i64| {
        vec![
            ("order_id", Value::Ref(*order)),
            ("name", Value::text(name)),
            ("product_uom_qty", Value::Quantity(0)),
            ("price_unit", Value::Money(price)),
            ("technical_price_unit", Value::Money(price)),
            ("is_downpayment", Value::Bool(true)),
            ("sequence", Value::Int(sequence)),
        ]
    };
    if !has_section {
        let mut section = base("Down Payments", 0, last + 1);
        section.push(("display_type", call.word("sale_order_line", "display_type", "line_section")?));
        call.create("sale_order_line", &section)?;
    }
    if untaxed + tax == 0 {
        // Of an order without value nothing can be deposited: the invoice has no lines.
        return make_entry(call, *order, &[*order]);
    }
    let place = if has_section { last + 1 } else { last + 2 };
    let line = call.create("sale_order_line", &base("Down Payment", amount, place))?;
    let entry = make_entry(call, *order, &[*order])?;
    let name = if is_percent {
        let mut shown = Vec::new();
        benchwright_base::number::write_decimal(&mut shown, percent / 10, 2, false);
        format!("Down payment of {}%", String::from_utf8_lossy(&shown))
    } else {
        "Down Payment".to_owned()
    };
    let item = call.create(
        "account_move_line",
        &[
            ("move_id", Value::Ref(entry)),
            ("name", Value::text(name)),
            ("quantity", Value::Quantity(1000)),
            ("price_unit", Value::Money(amount)),
            ("is_downpayment", Value::Bool(true)),
            ("sequence", Value::Int(place)),
        ],
    )?;
    join(call, line, item)?;
    Ok(entry)
}

/// Makes regular invoices: one for each customer, of all that is to be billed, less deposits.
fn invoice_orders(call: &mut Call<'_, '_>, orders: &[RowId], deduct: bool) -> Result<Vec<RowId>, Refusal> {
    let mut groups: Vec<(Option<RowId>, Vec<RowId>)> = Vec::new();
    for order in orders {
        let partner = call.row("sale_order", *order)?.link("partner_id");
        match groups.iter_mut().find(|(known, _)| *known == partner) {
            Some((_, list)) => list.push(*order),
            None => groups.push((partner, vec![*order])),
        }
    }
    let mut made = Vec::new();
    for (_, orders) in groups {
        let (mut goods, mut deposits) = (Vec::new(), Vec::new());
        for order in &orders {
            let mut lines = call.rows("sale_order_line", &[("order_id", Value::Ref(*order))])?;
            lines.sort_by_key(|line| (line.number("sequence"), line.id()));
            for line in lines {
                let due = sales::to_invoice(call, &line)?;
                if line.flag("is_downpayment") {
                    if deduct && due < 0 {
                        deposits.push((line, due));
                    }
                } else if due > 0 {
                    goods.push((line, due));
                }
            }
        }
        if goods.is_empty() && deposits.is_empty() {
            return Err(cannot("cannot create an invoice: no items are available to invoice"));
        }
        let entry = make_entry(call, orders[0], &orders)?;
        let mut place = 0;
        for (line, due) in &goods {
            bill_line(call, entry, line, *due, place)?;
            place += 1;
        }
        if !deposits.is_empty() {
            let section = call.word("account_move_line", "display_type", "line_section")?;
            let values = [
                ("move_id", Value::Ref(entry)),
                ("name", Value::text("Down Payments")),
                ("quantity", Value::Quantity(0)),
                ("price_unit", Value::Money(0)),
                ("display_type", section),
                ("sequence", Value::Int(place)),
            ];
            call.create("account_move_line", &values)?;
            place += 1;
        }
        for (line, due) in &deposits {
            bill_line(call, entry, line, *due, place)?;
            place += 1;
        }
        made.push(entry);
    }
    Ok(made)
}

fn bill_line(call: &mut Call<'_, '_>, entry: RowId, line: &RowView, units: i64, place: i64) -> Result<(), Refusal> {
    let item = call.create(
        "account_move_line",
        &[
            ("move_id", Value::Ref(entry)),
            ("product_id", line.get("product_id")),
            ("name", line.get("name")),
            ("quantity", Value::Quantity(if line.flag("is_downpayment") { units.signum() * 1000 } else { units })),
            ("price_unit", line.get("price_unit")),
            ("discount", line.get("discount")),
            ("is_downpayment", line.get("is_downpayment")),
            ("sequence", Value::Int(place)),
        ],
    )?;
    for joint in call.rows("sale_order_line_tax", &[("line_id", Value::Ref(line.id()))])? {
        let values = [("line_id", Value::Ref(item)), ("tax_id", joint.get("tax_id"))];
        call.create("account_move_line_account_tax_rel", &values)?;
    }
    join(call, line.id(), item)
}

/// Makes a draft invoice for a customer, with the terms of the first order.
fn make_entry(call: &mut Call<'_, '_>, first: RowId, orders: &[RowId]) -> Result<RowId, Refusal> {
    let order = call.row("sale_order", first)?;
    let (mut names, mut refs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for id in orders {
        let order = call.row("sale_order", *id)?;
        let (name, own) = (order.words("name"), order.words("client_order_ref"));
        let reference = if own.is_empty() { name.clone() } else { own };
        if !refs.contains(&reference) {
            refs.push(reference);
        }
        names.push(name);
    }
    let due = due_day(call, call.now().date(), order.link("payment_term_id"))?;
    call.create(
        "account_move",
        &[
            ("move_type", call.word("account_move", "move_type", "out_invoice")?),
            ("partner_id", order.get("partner_id")),
            ("invoice_origin", Value::text(names.join(", "))),
            ("ref", Value::text(refs.join(", "))),
            ("invoice_payment_term_id", order.get("payment_term_id")),
            ("invoice_date_due", due),
        ],
    )
}

/// The day by which terms want what is billed on a day to be paid.
fn due_day(call: &Call<'_, '_>, billed: Date, term: Option<RowId>) -> Result<Value, Refusal> {
    let mut days = 0;
    if let Some(term) = term {
        let lines = call.rows("account_payment_term_line", &[("payment_id", Value::Ref(term))])?;
        days = lines.iter().map(|line| line.number("nb_days")).max().unwrap_or(0);
    }
    Ok(billed.add_days(days).map_or(Value::Null, Value::Date))
}

/// Other terms or another day of an invoice move the day it is due.
pub(super) fn changed(call: &mut Call<'_, '_>, id: RowId, old: &RowView, cells: &Cells) -> Result<(), Refusal> {
    let entry = call.row("account_move", id)?;
    let differs = |field: &str| entry.get(field) != old.get(field);
    if entry.is("move_type", "entry") || cells.has(call, "invoice_date_due") {
        return Ok(());
    }
    if differs("invoice_payment_term_id") || differs("invoice_date") {
        let billed = match entry.get("invoice_date") {
            Value::Date(date) => date,
            _ => call.now().date(),
        };
        let due = due_day(call, billed, entry.link("invoice_payment_term_id"))?;
        call.update("account_move", id, &[("invoice_date_due", due)])?;
    }
    Ok(())
}

fn join(call: &mut Call<'_, '_>, line: RowId, item: RowId) -> Result<(), Refusal> {
    let values = [("order_line_id", Value::Ref(line)), ("invoice_line_id", Value::Ref(item))];
    call.create("sale_order_line_invoice_rel", &values)?;
    Ok(())
}

// ---------------------------------------------------------------- actions on entries

/// Sets the state of an entry.
pub(super) fn set_state(call: &mut Call<'_, '_>, id: RowId, state: &str) -> Result<(), Refusal> {
    let state = call.word("account_move", "state", state)?;
    call.update("account_move", id, &[("state", state)])?;
    Ok(())
}

/// `action_post`
pub(super) fn post(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let entry = call.row("account_move", id)?;
        if !entry.is("state", "draft") {
            return Err(wrong_state(format!("the entry {id} must be in draft")));
        }
        let lines = call.rows("account_move_line", &[("move_id", Value::Ref(id))])?;
        if !lines.iter().any(|line| line.is("display_type", "product")) {
            return Err(cannot("an entry without lines cannot be posted"));
        }
        let kinds = [("out_invoice", "INV"), ("out_refund", "RINV"), ("in_invoice", "BILL"), ("in_refund", "RBILL")];
        let kind = kinds.into_iter().find(|(kind, _)| entry.is("move_type", kind));
        if kind.is_some() && entry.get("partner_id").is_null() {
            return Err(cannot("an invoice without a partner cannot be posted"));
        }
        if kind.is_some_and(|(kind, _)| kind.starts_with("in")) && entry.get("invoice_date").is_null() {
            return Err(cannot("the date of the bill is required to post it"));
        }
        if kind.is_some() && total(call, id)? < 0 {
            return Err(cannot("an invoice with a negative total cannot be posted"));
        }
        let date = match entry.get("invoice_date") {
            Value::Date(date) => date,
            _ => call.now().date(),
        };
        let name = match entry.get("name") {
            Value::Null => {
                let prefix = format!("{}/{}/", kind.map_or("MISC", |(_, prefix)| prefix), date.civil().0);
                Value::text(stock::next_name(call, "account_move", &prefix)?)
            }
            known => known,
        };
        let due = match entry.get("invoice_date_due") {
            Value::Null => due_day(call, date, entry.link("invoice_payment_term_id"))?,
            known => known,
        };
        let values = [("name", name), ("invoice_date", Value::Date(date)), ("invoice_date_due", due)];
        call.update("account_move", id, &values)?;
        set_state(call, id, "posted")?;
    }
    done(call, "false")
}

/// `button_draft`
pub(super) fn draft(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        if call.row("account_move", id)?.is("state", "draft") {
            return Err(wrong_state("only posted and cancelled entries can be reset to draft"));
        }
        set_state(call, id, "draft")?;
    }
    done(call, "null")
}

/// `button_cancel`
pub(super) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in orm::ids(call) {
        let entry = call.row("account_move", id)?;
        if entry.is("state", "cancel") {
            return Err(wrong_state(format!("{} is cancelled already", entry.words("name"))));
        }
        set_state(call, id, "cancel")?;
    }
    done(call, "null")
}

// ---------------------------------------------------------------- what is read

fn totals(call: &Call<'_, '_>, entry: RowId) -> Result<(i64, i64), Refusal> {
    let mut sum = (0, 0);
    for line in call.rows("account_move_line", &[("move_id", Value::Ref(entry))])? {
        let (untaxed, tax) = amounts(call, &line)?;
        sum = (sum.0 + untaxed, sum.1 + tax);
    }
    Ok(sum)
}

fn total(call: &Call<'_, '_>, entry: RowId) -> Result<i64, Refusal> {
    let (untaxed, tax) = totals(call, entry)?;
    Ok(untaxed + tax)
}

/// What is made of an entry or a line when it is asked for.
pub(super) fn made(call: &Call<'_, '_>, model: &str, id: RowId, field: &str) -> Result<Value, Refusal> {
    if model == "account_move" {
        return Ok(match field {
            "payment_state" => Value::text("not_paid"),
            "amount_untaxed" => Value::Money(totals(call, id)?.0),
            "amount_tax" => Value::Money(totals(call, id)?.1),
            "amount_residual" if call.row(model, id)?.is("state", "cancel") => Value::Money(0),
            _ => Value::Money(total(call, id)?),
        });
    }
    let line = call.row(model, id)?;
    let entry = line.link("move_id").ok_or_else(|| Refusal::new(RefusalCode::NotFound, "the line has no entry"))?;
    let entry = call.row("account_move", entry)?;
    Ok(match field {
        "price_subtotal" => Value::Money(amounts(call, &line)?.0),
        "price_total" => {
            let (untaxed, tax) = amounts(call, &line)?;
            Value::Money(untaxed + tax)
        }
        "partner_id" => entry.get("partner_id"),
        _ => state_word(call, "account_move", &entry),
    })
}
