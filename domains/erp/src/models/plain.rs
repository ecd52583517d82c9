//! Models that only store their records, and say no more than how those are shown and in which order they come.

use super::product_product;
use crate::{
    hooks::{Made, Model},
    names::{c, t},
    record::Call,
};
use benchwright_pack::Refusal;
use benchwright_sandbox::Row;

/// `ir.config_parameter`
pub(crate) struct IrConfigParameter;
/// `mail.message`
pub(crate) struct MailMessage;
/// `mrp.bom`
pub(crate) struct MrpBom;
/// `mrp.bom.line`
pub(crate) struct MrpBomLine;
/// `mrp.routing.workcenter`
pub(crate) struct MrpRoutingWorkcenter;
/// `mrp.workcenter`
pub(crate) struct MrpWorkcenter;
/// `res.partner`
pub(crate) struct ResPartner;

impl Model for IrConfigParameter {
    type Of = t::ir_config_parameter;

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        Ok(Some(row.get(call.field(t::ir_config_parameter, c::key)).as_text().unwrap_or_default().to_owned()))
    }
}

impl Model for MailMessage {
    type Of = t::mail_message;
    const ORDER: &'static str = "id desc";

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let body = row.get(call.field(t::mail_message, c::body)).as_text().unwrap_or_default();
        Ok(Some(body.chars().take(60).collect()))
    }
}

impl Model for MrpBom {
    type Of = t::mrp_bom;

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let product = row.get(call.field(t::mrp_bom, c::product_tmpl_id)).as_ref_id();
        let product = product_product::display_name(call, product)?.unwrap_or_default();
        Ok(Some(match row.get(call.field(t::mrp_bom, c::code)).as_text() {
            Some(code) => format!("{code}: {product}"),
            None => product,
        }))
    }
}

impl Model for MrpBomLine {
    type Of = t::mrp_bom_line;
    const ORDER: &'static str = "bom_id, sequence, id";

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let product = row.get(call.field(t::mrp_bom_line, c::product_id)).as_ref_id();
        Ok(Some(product_product::display_name(call, product)?.unwrap_or_default()))
    }
}

impl Model for MrpRoutingWorkcenter {
    type Of = t::mrp_routing_workcenter;
    const ORDER: &'static str = "bom_id, sequence, id";
    const MADE: &'static [(&'static str, Made)] =
        &[("time_cycle", |call, id| Ok(call.row(t::mrp_routing_workcenter, id)?.get(c::time_cycle_manual)))];
}

impl Model for MrpWorkcenter {
    type Of = t::mrp_workcenter;
    const ORDER: &'static str = "name, id";
}

impl Model for ResPartner {
    type Of = t::res_partner;
    const ORDER: &'static str = "name, id";
}
