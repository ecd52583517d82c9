//! The calls on manufacturing orders: confirm, reserve, plan, finish, cancel.

use super::{
    mrp_build::{
        cancel_one, follow, minutes, put_right, scaled, set_end, set_finished, set_state, settle, settle_plan,
        unplan_one, workorders,
    },
    stock_move::{finish, reserve},
    stock_quantity::is_open,
};
use crate::{
    names::{c, t, w},
    record::{Answer, Call, dialog, done, ids, wrong_state},
};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{RowView, cell, columns, words};
use std::collections::BTreeMap;

/// `action_confirm`: orders that are confirmed already are passed over.
pub(crate) fn confirm(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        confirm_one(call, id)?;
    }
    done(call, "true")
}

/// Confirms an order: from now on its components are those of the recipe, whatever its state.
pub(crate) fn confirm_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    if order.link(c::bom_id).is_some() && !order.is(c::consumption, w::warning) {
        let consumption = call.word(t::mrp_production, c::consumption, w::warning);
        call.update(t::mrp_production, id, &[cell(c::consumption, consumption)])?;
    }
    confirm_moves(call, id)
}

fn confirm_moves(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    let order = call.row(t::mrp_production, id)?;
    if order.is_any(c::state, words![done, cancel]) {
        return Ok(());
    }
    if order.is(c::state, w::draft) {
        set_state(call, id, w::confirmed)?;
    }
    let waits = |call: &Call<'_, '_>| -> Result<bool, Refusal> {
        let moves = call.rows(t::stock_move, &[cell(c::production_id, Value::Ref(id))])?;
        Ok(moves.iter().any(|row| row.is(c::state, w::draft)))
    };
    if !order.is(c::state, w::draft) && !waits(call)? {
        return Ok(());
    }
    for field in columns![raw_material_production_id, production_id] {
        for row in call.rows(t::stock_move, &[cell(field, Value::Ref(id))])? {
            if row.is(c::state, w::draft) {
                let state = call.word(t::stock_move, c::state, w::confirmed);
                call.update(t::stock_move, row.id(), &[cell(c::state, state)])?;
            }
        }
    }
    assign_one(call, id)?;
    // What a build makes is simply expected.
    for row in call.rows(t::stock_move, &[cell(c::production_id, Value::Ref(id))])? {
        reserve(call, row.id())?;
    }
    settle(call, id)
}

/// `action_assign`
pub(crate) fn assign(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        call.row(t::mrp_production, id)?;
        assign_one(call, id)?;
    }
    done(call, "true")
}

fn assign_one(call: &mut Call<'_, '_>, id: RowId) -> Result<(), Refusal> {
    for row in call.rows(t::stock_move, &[cell(c::raw_material_production_id, Value::Ref(id))])? {
        reserve(call, row.id())?;
    }
    Ok(())
}

/// `button_plan`: each work order goes to the centre, its own or an alternative, where it ends first.
pub(crate) fn plan(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let order = call.row(t::mrp_production, id)?;
        if order.flag(c::is_planned) || order.is_any(c::state, words![done, cancel]) {
            continue;
        }
        if order.is(c::state, w::draft) {
            confirm_one(call, id)?;
        } else {
            confirm_moves(call, id)?;
        }
        let mut from = order.instant(c::date_start).unwrap_or_else(|| call.now()).max(call.now());
        let mut first = None;
        for work in workorders(call, id)? {
            if !work.is_any(c::state, words![blocked, ready]) {
                continue;
            }
            let Some((centre, start, end)) = first_slot(call, &work, from)? else { continue };
            let values = [
                cell(c::workcenter_id, Value::Ref(centre)),
                cell(c::date_start, Value::DateTime(start)),
                cell(c::date_finished, Value::DateTime(end)),
            ];
            call.update(t::mrp_workorder, work.id(), &values)?;
            first = first.or(Some(start));
            from = end;
        }
        if let Some(start) = first {
            let values = [cell(c::is_planned, Value::Bool(true)), cell(c::date_start, Value::DateTime(start))];
            call.update(t::mrp_production, id, &values)?;
            set_finished(call, id, from)?;
        }
    }
    done(call, "true")
}

/// The centre where a work order ends first, with its start and end; of several the first, its own before the others.
fn first_slot(
    call: &Call<'_, '_>,
    work: &RowView<t::mrp_workorder>,
    from: DateTime,
) -> Result<Option<(RowId, DateTime, DateTime)>, Refusal> {
    let Some(own) = work.link(c::workcenter_id) else { return Ok(None) };
    let others = call.rows(t::mrp_workcenter_alternative, &[cell(c::workcenter_id, Value::Ref(own))])?;
    let centres = std::iter::once(own).chain(others.iter().filter_map(|row| row.link(c::alternative_workcenter_id)));
    let mut best: Option<(RowId, DateTime, DateTime)> = None;
    for centre in centres {
        let seconds = minutes(call, work, Some(centre))? * 60 / 1000;
        let mut busy: Vec<(i64, i64)> = Vec::new();
        for other in call.rows(t::mrp_workorder, &[cell(c::workcenter_id, Value::Ref(centre))])? {
            if let (Some(start), Some(end), false) = (
                other.instant(c::date_start),
                other.instant(c::date_finished),
                other.is_any(c::state, words![done, cancel]),
            ) && other.id() != work.id()
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
pub(crate) fn unplan(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let order = call.row(t::mrp_production, id)?;
        if workorders(call, id)?.iter().any(|work| work.is_any(c::state, words![progress, done])) {
            let message = format!("{} cannot be unplanned: work on it has begun", order.words(c::name));
            return Err(wrong_state(message));
        }
        unplan_one(call, id)?;
        if order.is(c::state, w::done) { follow(call, id)? } else { set_end(call, id)? }
    }
    done(call, "null")
}

/// `button_mark_done`
pub(crate) fn mark_done(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let order = call.row(t::mrp_production, id)?;
        if order.is_any(c::state, words![done, cancel]) {
            if order.number(c::qty_producing) == 0 {
                call.update(t::mrp_production, id, &[cell(c::qty_producing, order.get(c::product_qty))])?;
                if order.is(c::state, w::done) {
                    put_right(call, id)?;
                }
                follow(call, id)?;
            }
            // Of a cancelled one nothing can be consumed any more.
            if order.is(c::consumption, w::warning) && !consumed_as_planned(call, id)? {
                return done(call, dialog("Consumption Warning", "mrp.consumption.warning"));
            }
            let order = call.row(t::mrp_production, id)?;
            if order.number(c::qty_producing) < order.number(c::product_qty) {
                return done(call, dialog("You produced less than initial demand", "mrp.production.backorder"));
            }
            // Odoo goes through the motions: only the end is stamped again.
            set_finished(call, id, call.now())?;
            continue;
        }
        if order.number(c::qty_producing) > 0 {
            // The written quantity has moved no components, so Odoo asks before it ends the order.
            let moves = call.rows(t::stock_move, &[cell(c::production_id, Value::Ref(id))])?;
            if moves.iter().any(|row| row.is(c::state, w::draft)) {
                return done(call, dialog("You produced less than initial demand", "mrp.production.backorder"));
            }
            return done(call, dialog("Consumption Warning", "mrp.consumption.warning"));
        }
        confirm_moves(call, id)?;
        for field in columns![raw_material_production_id, production_id] {
            for row in call.rows(t::stock_move, &[cell(field, Value::Ref(id))])? {
                if is_open(&row) {
                    finish(call, row.id(), row.number(c::product_uom_qty))?;
                }
            }
        }
        let (over, now) = (call.word(t::mrp_workorder, c::state, w::done), call.now());
        for (at, work) in workorders(call, id)?.iter().enumerate() {
            if work.is_any(c::state, words![done, cancel]) {
                continue;
            }
            let mut values = vec![cell(c::state, over.clone()), cell(c::date_finished, Value::DateTime(now))];
            if work.instant(c::date_start).is_none_or(|start| start > now) {
                values.push(cell(c::date_start, Value::DateTime(now)));
                if at == 0 {
                    call.update(t::mrp_production, id, &[cell(c::date_start, Value::DateTime(now))])?;
                }
            }
            call.update(t::mrp_workorder, work.id(), &values)?;
        }
        settle_plan(call, id)?;
        let values = [
            cell(c::state, call.word(t::mrp_production, c::state, w::done)),
            cell(c::qty_producing, order.get(c::product_qty)),
        ];
        call.update(t::mrp_production, id, &values)?;
        set_finished(call, id, call.now())?;
    }
    done(call, "true")
}

/// Whether a build has consumed what its recipe says for the units written as produced.
fn consumed_as_planned(call: &Call<'_, '_>, id: RowId) -> Result<bool, Refusal> {
    let order = call.row(t::mrp_production, id)?;
    let Some(bom) = order.link(c::bom_id) else { return Ok(true) };
    let per = call.row(t::mrp_bom, bom)?.number(c::product_qty).max(1);
    let mut left: BTreeMap<RowId, i64> = BTreeMap::new();
    for line in call.rows(t::mrp_bom_line, &[cell(c::bom_id, Value::Ref(bom))])? {
        if let Some(product) = line.link(c::product_id) {
            *left.entry(product).or_default() +=
                scaled(line.number(c::product_qty), order.number(c::qty_producing), per);
        }
    }
    for row in call.rows(t::stock_move, &[cell(c::raw_material_production_id, Value::Ref(id))])? {
        if let (Some(product), true) = (row.link(c::product_id), row.is(c::state, w::done)) {
            *left.entry(product).or_default() -= row.number(c::quantity);
        }
    }
    Ok(left.values().all(|units| *units == 0))
}

/// `action_cancel`
pub(crate) fn cancel(call: &mut Call<'_, '_>) -> Answer {
    for id in ids(call)? {
        let order = call.row(t::mrp_production, id)?;
        if order.is(c::state, w::done) {
            return Err(wrong_state(format!("{} is done and cannot be cancelled", order.words(c::name))));
        }
        cancel_one(call, id)?;
    }
    done(call, "true")
}
