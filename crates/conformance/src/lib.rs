//! Holds the embedded ERP to a real Odoo, in three ways: tasks are played on both and judged by their own verifiers ([`check`]),
//! named cases are made on both ([`cases`]), and sequences of calls are drawn and made on both ([`replay`]).
//!
//! Where the two differ on purpose stands in `domains/erp/FIDELITY.md`, line by line; [`known`] says which line a difference is of.

pub mod cases;
pub mod check;
mod error;
mod pair;
pub mod replay;

pub use error::{Error, Result};

use benchwright_catalog::Catalog;
use benchwright_odoo::{Difference, Site};
use benchwright_pack::Store;

/// The named cases in the world of a task of a folder.
pub fn run_cases(
    catalog: &Catalog,
    site: &Site,
    folder: &std::path::Path,
    task: Option<&str>,
) -> Result<Vec<cases::Outcome>> {
    let task = replay::choose(&Store::at(folder), task)?;
    let mut outcomes = cases::run(&pair::Shared::plant(catalog, site, &task)?)?;
    outcomes.extend(cases::run_to_order(&pair::Shared::plant_with(catalog, site, &task, cases::make_to_order)?)?);
    Ok(outcomes)
}

/// States of moves and transfers that are still to be done.
const OPEN: [&str; 4] = ["waiting", "confirmed", "partially_available", "assigned"];

/// What calls have done that explains a difference.
#[derive(Clone, Copy, Default)]
pub struct Done {
    /// Stock grew or shrank.
    pub goods_moved: bool,
    /// An invoice was posted.
    pub posted: bool,
    /// The units of a confirmed purchase line were written, and its price or its day went with them.
    pub bought_otherwise: bool,
    /// What is being made of a build was written.
    pub begun: bool,
    /// Dates of a work order were written.
    pub work_dated: bool,
}

/// The line of domains/erp/FIDELITY.md that a difference of states (what is here, what Odoo has) stands in.
pub fn known(difference: &Difference, done: Done) -> Option<u8> {
    let (here, there) = (&*difference.left, &*difference.right);
    let both_open = OPEN.contains(&here) && OPEN.contains(&there);
    let more = || matches!((here.parse::<i64>(), there.parse::<i64>()), (Ok(here), Ok(there)) if there > here);
    let (line, is) = match (&*difference.table, &*difference.field) {
        ("stock_move", "date_deadline") if here == "null" => (1, true),
        ("stock_move" | "stock_picking", _) if done.bought_otherwise => (5, true),
        ("stock_move", "quantity") => (2, done.goods_moved),
        ("stock_move" | "stock_picking", "state") => (2, done.goods_moved && both_open),
        ("res_partner", "customer_rank" | "supplier_rank") => (3, done.posted && more()),
        ("sale_order_line" | "account_move_line", "name") => {
            (4, here == "Down Payment" && there.starts_with("Down Payment"))
        }
        ("mrp_workorder" | "mrp_production", "date_finished") | ("stock_move", "date") => (7, done.begun),
        _ => (0, false),
    };
    is.then_some(line)
}

/// The line that a difference of answers stands in.
pub(crate) fn known_answer(field: &str, done: Done) -> Option<u8> {
    (field == "duration_expected" && done.work_dated).then_some(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Done =
        Done { goods_moved: false, posted: false, bought_otherwise: false, begun: false, work_dated: false };

    fn differs(table: &str, field: &str, left: &str, right: &str) -> Difference {
        let text = str::to_owned;
        Difference { table: text(table), row: text("new 1"), field: text(field), left: text(left), right: text(right) }
    }

    #[test]
    fn line_1_deadlines_of_moves_that_have_none_here() {
        assert_eq!(known(&differs("stock_move", "date_deadline", "null", "2032-03-01T12:00:00Z"), NONE), Some(1));
        let other = differs("stock_move", "date_deadline", "2032-03-02T12:00:00Z", "2032-03-01T12:00:00Z");
        assert_eq!(known(&other, NONE), None);
        assert_eq!(known(&differs("mrp_production", "date_deadline", "null", "2032-03-01T12:00:00Z"), NONE), None);
    }

    #[test]
    fn line_2_reservations_after_stock_has_moved() {
        let moved = Done { goods_moved: true, ..NONE };
        for difference in [
            differs("stock_move", "quantity", "0", "4"),
            differs("stock_move", "state", "confirmed", "partially_available"),
            differs("stock_picking", "state", "confirmed", "assigned"),
        ] {
            assert_eq!(known(&difference, moved), Some(2), "{difference:?}");
            assert_eq!(known(&difference, NONE), None, "{difference:?}");
        }
        for difference in [
            differs("stock_picking", "state", "assigned", "done"),
            differs("stock_move", "state", "done", "assigned"),
            differs("stock_move", "product_uom_qty", "3", "4"),
            differs("stock_quant", "quantity", "3", "4"),
        ] {
            assert_eq!(known(&difference, moved), None, "{difference:?}");
        }
    }

    #[test]
    fn line_3_ranks_grow_there_after_a_posted_invoice() {
        let posted = Done { posted: true, ..NONE };
        let grown = differs("res_partner", "customer_rank", "1", "2");
        assert_eq!(known(&grown, posted), Some(3));
        assert_eq!(known(&grown, NONE), None);
        assert_eq!(known(&differs("res_partner", "supplier_rank", "2", "1"), posted), None);
        assert_eq!(known(&differs("res_partner", "ref", "1", "2"), posted), None);
    }

    #[test]
    fn line_4_names_of_down_payments() {
        let name = differs("sale_order_line", "name", "Down Payment", "Down Payment: 1/1/2026 (Draft)");
        assert_eq!(known(&name, NONE), Some(4));
        let goods = differs("sale_order_line", "name", "[FG-1] Bench", "Down Payment: 1/1/2026 (Draft)");
        assert_eq!(known(&goods, NONE), None);
        assert_eq!(known(&differs("sale_order_line", "price_unit", "Down Payment", "Down Payment"), NONE), None);
    }

    #[test]
    fn line_5_receipts_of_units_with_another_price() {
        let bought = Done { bought_otherwise: true, ..NONE };
        let receipt = differs("stock_move", "(row)", "nothing", "x");
        assert_eq!(known(&receipt, bought), Some(5));
        assert_eq!(known(&receipt, NONE), None);
        for field in ["price_unit", "product_qty", "date_planned"] {
            assert_eq!(known(&differs("purchase_order_line", field, "1", "2"), bought), None, "{field}");
        }
    }

    #[test]
    fn line_7_ends_of_builds_that_were_begun() {
        let begun = Done { begun: true, ..NONE };
        let end = differs("mrp_workorder", "date_finished", "x", "y");
        assert_eq!(known(&end, begun), Some(7));
        assert_eq!(known(&end, NONE), None);
        assert_eq!(known(&differs("mrp_workorder", "date_start", "x", "y"), begun), None);
        assert_eq!(known(&differs("mrp_production", "date_deadline", "x", "y"), begun), None);
    }

    #[test]
    fn line_9_minutes_of_work_whose_dates_were_written() {
        let dated = Done { work_dated: true, ..NONE };
        assert_eq!(known_answer("duration_expected", dated), Some(9));
        assert_eq!(known_answer("duration_expected", NONE), None);
        assert_eq!(known_answer("date_start", dated), None);
    }

    /// Fields and states that rules and views read are compared whatever was done.
    #[test]
    fn what_rules_read_is_never_passed_over() {
        let all = Done { goods_moved: true, posted: true, bought_otherwise: true, begun: true, work_dated: true };
        for (table, field) in [
            ("sale_order", "state"),
            ("sale_order", "commitment_date"),
            ("sale_order_line", "price_unit"),
            ("sale_order_line", "product_uom_qty"),
            ("sale_order_line", "technical_price_unit"),
            ("purchase_order", "state"),
            ("purchase_order_line", "price_unit"),
            ("purchase_order_line", "date_planned"),
            ("mrp_production", "state"),
            ("mrp_production", "date_start"),
            ("mrp_production", "date_deadline"),
            ("mrp_workorder", "workcenter_id"),
            ("account_move", "state"),
            ("account_move_line", "price_unit"),
            ("stock_quant", "quantity"),
            ("product_supplierinfo", "price"),
        ] {
            assert_eq!(known(&differs(table, field, "1", "2"), all), None, "{table}.{field}");
        }
    }
}
