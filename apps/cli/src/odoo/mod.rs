//! What holds the embedded ERP to a real Odoo.

pub(crate) mod check;
mod moves;
mod pair;
pub(crate) mod replay;

use crate::failure::Failure;
use benchwright_odoo::{Difference, Site};

/// The installation, or what to do about it.
pub(crate) fn site() -> anyhow::Result<Site> {
    Site::find().map_err(|error| Failure::missing(error, "scripts/odoo up"))
}

/// States of moves and transfers that are still to be done.
const OPEN: [&str; 4] = ["waiting", "confirmed", "partially_available", "assigned"];

/// What calls have done that explains a difference.
#[derive(Clone, Copy, Default)]
pub(crate) struct Done {
    /// Stock grew or shrank.
    pub(crate) goods_moved: bool,
    /// The units of a purchase line were written.
    pub(crate) units_bought_changed: bool,
    /// The price of a sales line was written.
    pub(crate) price_by_hand: bool,
}

/// Differences that are known; each stands in domains/erp/FIDELITY.md with its reason.
pub(crate) fn known(difference: &Difference, done: Done) -> bool {
    let goods_came = done.goods_moved;
    let both_open = OPEN.contains(&&*difference.left) && OPEN.contains(&&*difference.right);
    match (&*difference.table, &*difference.field) {
        ("stock_move", "date_deadline") | ("res_partner", "customer_rank" | "supplier_rank") => true,
        ("stock_move", "quantity") => goods_came,
        ("stock_move" | "stock_picking", "state") => goods_came && both_open,
        ("stock_move" | "stock_picking", _) if done.units_bought_changed => true,
        ("sale_order_line" | "account_move_line", "price_unit") => done.price_by_hand,
        ("sale_order_line" | "account_move_line", "name") => difference.left.starts_with("Down Payment"),
        _ => false,
    }
}
