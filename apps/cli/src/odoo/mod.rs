//! What holds the embedded ERP to a real Odoo.

pub(crate) mod cases;
pub(crate) mod check;
mod moves;
mod pair;
pub(crate) mod replay;

use crate::failure::Failure;
use benchwright_catalog::Catalog;
use benchwright_odoo::{Difference, Site};
use benchwright_pack::Store;

/// The installation, or what to do about it.
pub(crate) fn site() -> anyhow::Result<Site> {
    Site::find().map_err(|error| Failure::missing(error, "scripts/odoo up"))
}

/// The named cases in the world of a task of a folder.
pub(crate) fn run_cases(
    catalog: &Catalog,
    site: &Site,
    folder: &std::path::Path,
    task: Option<&str>,
) -> anyhow::Result<Vec<cases::Outcome>> {
    let task = replay::choose(&Store::at(folder), task)?;
    cases::run(&pair::Shared::plant(catalog, site, &task)?)
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
    /// What is being made of a build was written.
    pub(crate) begun: bool,
}

/// Differences that are known; each stands in domains/erp/FIDELITY.md with its reason.
pub(crate) fn known(difference: &Difference, done: Done) -> bool {
    let both_open = OPEN.contains(&&*difference.left) && OPEN.contains(&&*difference.right);
    match (&*difference.table, &*difference.field) {
        ("stock_move", "date_deadline") | ("res_partner", "customer_rank" | "supplier_rank") => true,
        ("stock_move" | "stock_picking", _) if done.units_bought_changed => true,
        ("stock_move", "quantity") => done.goods_moved,
        ("stock_move" | "stock_picking", "state") => done.goods_moved && both_open,
        ("sale_order_line" | "account_move_line", "price_unit") => done.price_by_hand,
        ("sale_order_line" | "account_move_line", "name") => difference.left.starts_with("Down Payment"),
        ("mrp_workorder" | "mrp_production", "date_finished") | ("stock_move", "date") => done.begun,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(table: &str, field: &str, left: &str, right: &str) -> Difference {
        let text = str::to_owned;
        Difference { table: text(table), row: text("new 1"), field: text(field), left: text(left), right: text(right) }
    }

    /// Each line of FIDELITY.md that is about a stored field, with what must have been done for it to be passed over.
    #[test]
    fn only_what_is_listed_is_passed_over_and_only_where_it_can_come_from() {
        let none = Done::default();
        let moved = Done { goods_moved: true, ..none };
        let bought = Done { units_bought_changed: true, ..none };
        let priced = Done { price_by_hand: true, ..none };
        let begun = Done { begun: true, ..none };
        let listed = [
            (1, differs("stock_move", "date_deadline", "null", "x"), none),
            (2, differs("stock_move", "quantity", "0", "4"), moved),
            (2, differs("stock_picking", "state", "confirmed", "assigned"), moved),
            (3, differs("res_partner", "customer_rank", "1", "2"), none),
            (4, differs("sale_order_line", "name", "Down Payment", "Down Payment: 1/1/2026 (Draft)"), none),
            (5, differs("stock_move", "(row)", "nothing", "x"), bought),
            (6, differs("sale_order_line", "price_unit", "1", "2"), priced),
            (8, differs("mrp_workorder", "date_finished", "x", "y"), begun),
        ];
        for (line, difference, done) in &listed {
            assert!(known(difference, *done), "{line}");
        }
        for (line, difference, done) in &listed {
            let needs = done.goods_moved || done.units_bought_changed || done.price_by_hand || done.begun;
            assert!(!needs || !known(difference, none), "{line} needs a reason");
        }
        let faults = [
            differs("stock_picking", "state", "confirmed", "done"),
            differs("purchase_order_line", "price_unit", "1", "2"),
            differs("sale_order", "state", "draft", "sale"),
            differs("mrp_production", "date_start", "x", "y"),
            differs("sale_order_line", "product_uom_qty", "1", "2"),
        ];
        let all = Done { goods_moved: true, units_bought_changed: false, price_by_hand: true, begun: true };
        for difference in faults {
            assert!(!known(&difference, all), "{difference:?}");
        }
    }
}
