//! Invoices and bills: their terms, their numbers, their states and their totals.

use super::account_move_line::amounts;
use crate::{
    hooks::{Made, Model},
    names::{c, t, w},
    record::{Answer, Call, Cells, cannot, done, ids, next_name, wrong_state},
};
use benchwright_base::{Date, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, ColumnOf, Row, RowView, WordOf, cell, columns};

/// `account.move`
pub(crate) struct AccountMove;

impl Model for AccountMove {
    type Of = t::account_move;
    const ORDER: &'static str = "id desc";
    const LOOKS_FIRST: bool = true;
    const MADE: &'static [(&'static str, Made)] = &[
        ("amount_untaxed", |call, id| Ok(Value::Money(totals(call, id)?.0))),
        ("amount_tax", |call, id| Ok(Value::Money(totals(call, id)?.1))),
        ("amount_total", |call, id| Ok(Value::Money(total(call, id)?))),
        ("amount_residual", |call, id| {
            let is_cancelled = call.row(t::account_move, id)?.is(c::state, w::cancel);
            Ok(Value::Money(if is_cancelled { 0 } else { total(call, id)? }))
        }),
        ("payment_state", |_, _| Ok(Value::text("not_paid"))),
    ];

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let name = row.get(call.field(t::account_move, c::name)).as_text();
        Ok(Some(name.map_or_else(|| format!("Draft Invoice (* {})", row.id()), str::to_owned)))
    }

    fn before_create(call: &mut Call<'_, '_>, cells: &mut Cells<t::account_move>) -> Result<Option<RowId>, Refusal> {
        fill_entry(call, cells);
        Ok(None)
    }

    fn before_write(call: &mut Call<'_, '_>, id: RowId, cells: &mut Cells<t::account_move>) -> Result<(), Refusal> {
        may_change(call, id, cells)
    }

    fn after_write(
        call: &mut Call<'_, '_>,
        id: RowId,
        old: &RowView<t::account_move>,
        cells: &Cells<t::account_move>,
    ) -> Result<(), Refusal> {
        changed(call, id, old, cells)
    }

    fn before_unlink(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
        may_unlink(call, id)
    }
}

/// What a new entry has unless it says otherwise: the terms of its partner.
fn fill_entry(call: &Call<'_, '_>, cells: &mut Cells<t::account_move>) {
    if cells.get(call, c::invoice_payment_term_id).is_none()
        && let Some(partner) = cells.link(call, c::partner_id)
        && let Ok(partner) = call.row(t::res_partner, partner)
    {
        let kind = cells.get(call, c::move_type).cloned().unwrap_or_default();
        let is_bill = kind == call.word(t::account_move, c::move_type, w::in_invoice);
        let terms = if is_bill { c::property_supplier_payment_term_id.of() } else { c::property_payment_term_id.of() };
        cells.set(call, c::invoice_payment_term_id, partner.get(terms));
    }
}

/// What was posted stays as it is.
fn may_change(call: &Call<'_, '_>, id: RowId, cells: &mut Cells<t::account_move>) -> Result<(), Refusal> {
    let entry = call.row(t::account_move, id)?;
    // Of a posted entry not even the same may be written again.
    let given = |column: Column<t::account_move>| cells.get(call, column).is_some();
    let posted = columns![partner_id, invoice_date, invoice_payment_term_id];
    if entry.is(c::state, w::posted) && posted.into_iter().any(given) {
        return Err(wrong_state("a posted entry cannot be changed: reset it to draft first"));
    }
    let changes =
        |column: Column<t::account_move>| cells.get(call, column).is_some_and(|value| *value != entry.get(column));
    let fixed = columns![partner_id, move_type, invoice_date, invoice_payment_term_id];
    if !entry.is(c::state, w::draft) && fixed.into_iter().any(changes) {
        return Err(wrong_state("a posted or cancelled entry cannot be changed: reset it to draft first"));
    }
    Ok(())
}

/// What was posted once has its number and stays.
fn may_unlink(call: &Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let entry = call.row(t::account_move, id)?;
    if entry.is(c::state, w::posted) || !entry.get(c::name).is_null() {
        return Err(wrong_state("an entry that was posted cannot be deleted"));
    }
    Ok(())
}

/// The day by which terms want what is billed on a day to be paid.
pub(crate) fn due_day(call: &Call<'_, '_>, billed: Date, term: Option<RowId>) -> Result<Value, Refusal> {
    let mut days = 0;
    if let Some(term) = term {
        let lines = call.rows(t::account_payment_term_line, &[cell(c::payment_id, Value::Ref(term))])?;
        days = lines.iter().map(|line| line.number(c::nb_days)).max().unwrap_or(0);
    }
    Ok(billed.add_days(days).map_or(Value::Null, Value::Date))
}

/// Other terms or another day of an invoice move the day it is due.
fn changed(
    call: &mut Call<'_, '_>,
    id: RowId,
    old: &RowView<t::account_move>,
    cells: &Cells<t::account_move>,
) -> Result<(), Refusal> {
    let entry = call.row(t::account_move, id)?;
    let differs = |column: Column<t::account_move>| entry.get(column) != old.get(column);
    if entry.is(c::move_type, w::entry) || cells.has(call, c::invoice_date_due) {
        return Ok(());
    }
    if differs(c::invoice_payment_term_id.of()) || differs(c::invoice_date.of()) {
        let billed = match entry.get(c::invoice_date) {
            Value::Date(date) => date,
            _ => call.now().date(),
        };
        let due = due_day(call, billed, entry.link(c::invoice_payment_term_id))?;
        call.update(t::account_move, id, &[cell(c::invoice_date_due, due)])?;
    }
    Ok(())
}

/// Sets the state of an entry.
pub(crate) fn set_state(
    call: &mut Call<'_, '_>,
    id: RowId,
    state: impl WordOf<t::account_move, c::state>,
) -> Result<(), Refusal> {
    let state = call.word(t::account_move, c::state, state);
    call.update(t::account_move, id, &[cell(c::state, state)])?;
    Ok(())
}

/// `action_post`
pub(crate) fn post(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let entry = call.row(t::account_move, id)?;
        if !entry.is(c::state, w::draft) {
            return Err(wrong_state(format!("the entry {id} must be in draft")));
        }
        let lines = call.rows(t::account_move_line, &[cell(c::move_id, Value::Ref(id))])?;
        if !lines.iter().any(|line| line.is(c::display_type, w::product)) {
            return Err(cannot("an entry without lines cannot be posted"));
        }
        // The kinds that have a partner: the mark of their numbers, and whether a vendor sends them.
        let kinds = [
            (w::out_invoice.of(), "INV", false),
            (w::out_refund.of(), "RINV", false),
            (w::in_invoice.of(), "BILL", true),
            (w::in_refund.of(), "RBILL", true),
        ];
        let kind = kinds.into_iter().find(|(kind, _, _)| entry.is(c::move_type, *kind));
        if kind.is_some() && entry.get(c::partner_id).is_null() {
            return Err(cannot("an invoice without a partner cannot be posted"));
        }
        if kind.is_some_and(|(_, _, is_bill)| is_bill) && entry.get(c::invoice_date).is_null() {
            return Err(cannot("the date of the bill is required to post it"));
        }
        if kind.is_some() && total(call, id)? < 0 {
            return Err(cannot("an invoice with a negative total cannot be posted"));
        }
        let date = match entry.get(c::invoice_date) {
            Value::Date(date) => date,
            _ => call.now().date(),
        };
        let name = match entry.get(c::name) {
            Value::Null => {
                let prefix = format!("{}/{}/", kind.map_or("MISC", |(_, prefix, _)| prefix), date.civil().0);
                Value::text(next_name(call, t::account_move, &prefix)?)
            }
            known => known,
        };
        let due = match entry.get(c::invoice_date_due) {
            Value::Null => due_day(call, date, entry.link(c::invoice_payment_term_id))?,
            known => known,
        };
        let values = [cell(c::name, name), cell(c::invoice_date, Value::Date(date)), cell(c::invoice_date_due, due)];
        call.update(t::account_move, id, &values)?;
        set_state(call, id, w::posted)?;
    }
    done(call, "false")
}

/// `button_draft`
pub(crate) fn draft(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        if call.row(t::account_move, id)?.is(c::state, w::draft) {
            return Err(wrong_state("only posted and cancelled entries can be reset to draft"));
        }
        set_state(call, id, w::draft)?;
    }
    done(call, "null")
}

/// `button_cancel`
pub(crate) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let entry = call.row(t::account_move, id)?;
        if entry.is(c::state, w::cancel) {
            return Err(wrong_state(format!("{} is cancelled already", entry.words(c::name))));
        }
        set_state(call, id, w::cancel)?;
    }
    done(call, "null")
}

fn totals(call: &Call<'_, '_>, entry: RowId) -> Result<(i64, i64), Refusal> {
    let mut sum = (0, 0);
    for line in call.rows(t::account_move_line, &[cell(c::move_id, Value::Ref(entry))])? {
        let (untaxed, tax) = amounts(call, &line)?;
        sum = (sum.0 + untaxed, sum.1 + tax);
    }
    Ok(sum)
}

fn total(call: &Call<'_, '_>, entry: RowId) -> Result<i64, Refusal> {
    let (untaxed, tax) = totals(call, entry)?;
    Ok(untaxed + tax)
}
