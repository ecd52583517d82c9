//! The models that do more than store records, one file each, and their list.

pub(crate) mod account_move;
pub(crate) mod account_move_line;
pub(crate) mod amounts;
mod make_to_order;
pub(crate) mod mrp_actions;
mod mrp_build;
mod mrp_production;
mod mrp_workorder;
mod plain;
mod product_product;
mod product_supplierinfo;
pub(crate) mod purchase_order;
mod purchase_order_line;
pub(crate) mod sale_advance_payment_inv;
pub(crate) mod sale_order;
mod sale_order_line;
mod stock_location;
mod stock_move;
pub(crate) mod stock_picking;
pub(crate) mod stock_quant;
mod stock_quantity;

use crate::hooks::Hooks;
use benchwright_base::nearest;
use benchwright_sandbox::NameFault;
use benchwright_schema::{DerivedKind, Table};

/// Every model that does more than store records.
const MODELS: &[&dyn Hooks] = &[
    &account_move::AccountMove,
    &account_move_line::AccountMoveLine,
    &mrp_production::MrpProduction,
    &mrp_workorder::MrpWorkorder,
    &plain::IrConfigParameter,
    &plain::MailMessage,
    &plain::MrpBom,
    &plain::MrpBomLine,
    &plain::MrpRoutingWorkcenter,
    &plain::MrpWorkcenter,
    &plain::ResPartner,
    &product_product::ProductProduct,
    &product_supplierinfo::ProductSupplierinfo,
    &purchase_order::PurchaseOrder,
    &purchase_order_line::PurchaseOrderLine,
    &sale_advance_payment_inv::SaleAdvancePaymentInv,
    &sale_order::SaleOrder,
    &sale_order_line::SaleOrderLine,
    &stock_location::StockLocation,
    &stock_move::StockMove,
    &stock_picking::StockPicking,
    &stock_quant::StockQuant,
];

/// The field that every model has, and that is made of the name under which a record is shown.
pub(crate) const DISPLAY_NAME: &str = "display_name";

/// What a table's model does; nothing of a model that only stores.
pub(crate) fn of(table: &Table) -> Option<&'static dyn Hooks> {
    let name = table.own_name();
    MODELS.iter().find(|model| model.table() == name).copied()
}

/// What the list says of fields and a domain does not have, and what a domain has computed and the list has no code for.
pub(crate) fn check<'d>(tables: &dyn Fn(&str) -> Option<&'d Table>) -> Vec<NameFault> {
    let mut faults = Vec::new();
    for model in MODELS {
        let name = model.table();
        let Some(table) = tables(name) else { continue };
        let mut wants = |field: &str, there: bool| {
            if !there {
                let near = nearest(field, table.field_names()).map(str::to_owned);
                faults.push(NameFault { what: format!("the model `{name}` has no such field `{field}`"), near });
            }
        };
        let derived = |field: &str| table.derived_named(field).map(|derived| derived.kind);
        for (field, _) in model.made() {
            wants(field, matches!(derived(field), Some(DerivedKind::Value(_))));
        }
        for (field, _) in model.found() {
            wants(field, matches!(derived(field), Some(DerivedKind::Rows(_))));
        }
        for field in model.lists() {
            let is_list = matches!(derived(field), Some(DerivedKind::Children { .. } | DerivedKind::Linked { .. }));
            wants(field, is_list);
        }
        if let Some((field, _)) = model.while_empty() {
            wants(field, table.field_named(field).is_some());
        }
        for key in model.order().split(',') {
            let field = key.split_whitespace().next().unwrap_or_default();
            wants(field, table.field_named(field).is_some() || derived(field).is_some());
        }
        for derived in &table.derived {
            let field = &*derived.name;
            let has_code = match derived.kind {
                DerivedKind::Value(_) => field == DISPLAY_NAME || model.made().iter().any(|(known, _)| *known == field),
                DerivedKind::Rows(_) => model.found().iter().any(|(known, _)| *known == field),
                DerivedKind::Children { .. } | DerivedKind::Linked { .. } => true,
            };
            if !has_code {
                faults.push(NameFault { what: format!("no code computes `{field}` of `{name}`"), near: None });
            }
        }
    }
    faults
}
