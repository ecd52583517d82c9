//! The wizard that makes invoices of sales orders: of all that is due, or of a deposit.

use super::{account_move::due_day, amounts::divided, sale_order::order_amounts, sale_order_line::to_invoice};
use crate::{
    hooks::Model,
    names::{a, c, t, w},
    record::{Answer, Call, cannot, done, ids},
    values,
};
use benchwright_base::{Json, RowId, Value, number};
use benchwright_pack::Refusal;
use benchwright_sandbox::{RowView, cell};

/// The list of a wizard's orders.
const ORDERS: &str = "sale_order_ids";

/// `sale.advance.payment.inv`
pub(crate) struct SaleAdvancePaymentInv;

impl Model for SaleAdvancePaymentInv {
    type Of = t::sale_advance_payment_inv;
    const LISTS: &'static [&'static str] = &[ORDERS];

    fn after_create(call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
        wizard_made(call, id, given)
    }
}

/// The orders of a new wizard are those of the context, unless it names others.
fn wizard_made(call: &mut Call<'_, '_>, id: RowId, given: &[&str]) -> Result<(), Refusal> {
    if given.contains(&ORDERS) {
        return Ok(());
    }
    for order in context_orders(call)? {
        let values = [cell(c::wizard_id, Value::Ref(id)), cell(c::order_id, Value::Ref(order))];
        call.create(t::sale_advance_payment_order, &values)?;
    }
    Ok(())
}

/// The sales orders that a call's context names.
fn context_orders(call: &Call<'_, '_>) -> Result<Vec<RowId>, Refusal> {
    let Some(context) = call.raw(a::context) else { return Ok(Vec::new()) };
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
        call.row(t::sale_order, id)?;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    Ok(found)
}

/// `create_invoices`
pub(crate) fn create_invoices(call: &mut Call<'_, '_>) -> Answer {
    let mut made = Vec::new();
    for id in ids(call)? {
        let wizard = call.row(t::sale_advance_payment_inv, id)?;
        let joints = call.rows(t::sale_advance_payment_order, &[cell(c::wizard_id, Value::Ref(id))])?;
        let mut orders: Vec<RowId> = joints.iter().filter_map(|joint| joint.link(c::order_id)).collect();
        if orders.is_empty() {
            orders = context_orders(call)?;
        }
        if orders.is_empty() {
            return Err(Refusal::argument("context", "names no sales order in `active_ids`"));
        }
        if wizard.is(c::advance_payment_method, w::delivered) {
            made.extend(invoice_orders(call, &orders, wizard.flag(c::deduct_down_payments))?);
        } else {
            made.push(deposit(call, &wizard, &orders)?);
        }
    }
    let (mut ids, one) = (Vec::new(), made.len() == 1);
    values::write_ids(&mut ids, made.iter().copied());
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
fn deposit(
    call: &mut Call<'_, '_>,
    wizard: &RowView<t::sale_advance_payment_inv>,
    orders: &[RowId],
) -> Result<RowId, Refusal> {
    let [order] = orders else { return Err(cannot("a down payment is for one sales order at a time")) };
    let is_percent = wizard.is(c::advance_payment_method, w::percentage);
    let (untaxed, tax) = order_amounts(call, *order)?;
    let percent = wizard.number(c::amount);
    let amount = if is_percent {
        divided(i128::from(untaxed + tax) * i128::from(percent), 100_000)
    } else {
        wizard.number(c::fixed_amount)
    };
    if (if is_percent { percent } else { amount }) <= 0 {
        return Err(cannot("the value of the down payment must be positive"));
    }
    let lines = call.rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(*order))])?;
    let last = lines.iter().map(|line| line.number(c::sequence)).max().unwrap_or(10);
    let has_section = lines.iter().any(|line| line.flag(c::is_downpayment));
    let base = |name: &str, price: i64, sequence: i64| {
        vec![
            cell(c::order_id, Value::Ref(*order)),
            cell(c::name, Value::text(name)),
            cell(c::product_uom_qty, Value::Quantity(0)),
            cell(c::price_unit, Value::Money(price)),
            cell(c::technical_price_unit, Value::Money(price)),
            cell(c::is_downpayment, Value::Bool(true)),
            cell(c::sequence, Value::Int(sequence)),
        ]
    };
    if !has_section {
        let mut section = base("Down Payments", 0, last + 1);
        section.push(cell(c::display_type, call.word(t::sale_order_line, c::display_type, w::line_section)));
        call.create(t::sale_order_line, &section)?;
    }
    if untaxed + tax == 0 {
        // Of an order without value nothing can be deposited: the invoice has no lines.
        return make_entry(call, *order, &[*order]);
    }
    let place = if has_section { last + 1 } else { last + 2 };
    let line = call.create(t::sale_order_line, &base("Down Payment", amount, place))?;
    let entry = make_entry(call, *order, &[*order])?;
    let name = if is_percent {
        let mut shown = Vec::new();
        number::write_decimal(&mut shown, percent / 10, 2, false);
        format!("Down payment of {}%", String::from_utf8_lossy(&shown))
    } else {
        "Down Payment".to_owned()
    };
    let item = call.create(
        t::account_move_line,
        &[
            cell(c::move_id, Value::Ref(entry)),
            cell(c::name, Value::text(name)),
            cell(c::quantity, Value::Quantity(1000)),
            cell(c::price_unit, Value::Money(amount)),
            cell(c::is_downpayment, Value::Bool(true)),
            cell(c::sequence, Value::Int(place)),
        ],
    )?;
    join(call, line, item)?;
    Ok(entry)
}

/// Makes regular invoices: one for each customer, of all that is to be billed, less deposits.
fn invoice_orders(call: &mut Call<'_, '_>, orders: &[RowId], deduct: bool) -> Result<Vec<RowId>, Refusal> {
    let mut groups: Vec<(Option<RowId>, Vec<RowId>)> = Vec::new();
    for order in orders {
        let partner = call.row(t::sale_order, *order)?.link(c::partner_id);
        match groups.iter_mut().find(|(known, _)| *known == partner) {
            Some((_, list)) => list.push(*order),
            None => groups.push((partner, vec![*order])),
        }
    }
    let mut made = Vec::new();
    for (_, orders) in groups {
        let (mut goods, mut deposits) = (Vec::new(), Vec::new());
        for order in &orders {
            let mut lines = call.rows(t::sale_order_line, &[cell(c::order_id, Value::Ref(*order))])?;
            lines.sort_by_key(|line| (line.number(c::sequence), line.id()));
            for line in lines {
                let due = to_invoice(call, &line)?;
                if line.flag(c::is_downpayment) {
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
            let section = call.word(t::account_move_line, c::display_type, w::line_section);
            let values = [
                cell(c::move_id, Value::Ref(entry)),
                cell(c::name, Value::text("Down Payments")),
                cell(c::quantity, Value::Quantity(0)),
                cell(c::price_unit, Value::Money(0)),
                cell(c::display_type, section),
                cell(c::sequence, Value::Int(place)),
            ];
            call.create(t::account_move_line, &values)?;
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

fn bill_line(
    call: &mut Call<'_, '_>,
    entry: RowId,
    line: &RowView<t::sale_order_line>,
    units: i64,
    place: i64,
) -> Result<(), Refusal> {
    let item = call.create(
        t::account_move_line,
        &[
            cell(c::move_id, Value::Ref(entry)),
            cell(c::product_id, line.get(c::product_id)),
            cell(c::name, line.get(c::name)),
            cell(
                c::quantity,
                Value::Quantity(if line.flag(c::is_downpayment) { units.signum() * 1000 } else { units }),
            ),
            cell(c::price_unit, line.get(c::price_unit)),
            cell(c::discount, line.get(c::discount)),
            cell(c::is_downpayment, line.get(c::is_downpayment)),
            cell(c::sequence, Value::Int(place)),
        ],
    )?;
    for joint in call.rows(t::sale_order_line_tax, &[cell(c::line_id, Value::Ref(line.id()))])? {
        let values = [cell(c::line_id, Value::Ref(item)), cell(c::tax_id, joint.get(c::tax_id))];
        call.create(t::account_move_line_account_tax_rel, &values)?;
    }
    join(call, line.id(), item)
}

/// Makes a draft invoice for a customer, with the terms of the first order.
fn make_entry(call: &mut Call<'_, '_>, first: RowId, orders: &[RowId]) -> Result<RowId, Refusal> {
    let order = call.row(t::sale_order, first)?;
    let (mut names, mut refs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for id in orders {
        let order = call.row(t::sale_order, *id)?;
        let (name, own) = (order.words(c::name), order.words(c::client_order_ref));
        let reference = if own.is_empty() { name.clone() } else { own };
        if !refs.contains(&reference) {
            refs.push(reference);
        }
        names.push(name);
    }
    let due = due_day(call, call.now().date(), order.link(c::payment_term_id))?;
    call.create(
        t::account_move,
        &[
            cell(c::move_type, call.word(t::account_move, c::move_type, w::out_invoice)),
            cell(c::partner_id, order.get(c::partner_id)),
            cell(c::invoice_origin, Value::text(names.join(", "))),
            cell(c::r#ref, Value::text(refs.join(", "))),
            cell(c::invoice_payment_term_id, order.get(c::payment_term_id)),
            cell(c::invoice_date_due, due),
        ],
    )
}

fn join(call: &mut Call<'_, '_>, line: RowId, item: RowId) -> Result<(), Refusal> {
    let values = [cell(c::order_line_id, Value::Ref(line)), cell(c::invoice_line_id, Value::Ref(item))];
    call.create(t::sale_order_line_invoice_rel, &values)?;
    Ok(())
}
