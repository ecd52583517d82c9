//! The code of the ERP's calls: record calls that are the same for every model, and the methods of single models. Its
//! behaviour is that of Odoo 19, as far as planning can see it.

mod hooks;
mod models;
mod names;
mod present;
mod reading;
mod record;
mod search;
mod values;
mod writing;

use benchwright_sandbox::{Names, NativeTool, Natives};
use models::{
    account_move, mrp_actions, purchase_order, sale_advance_payment_inv, sale_order, stock_picking, stock_quant,
};

/// The names that the code uses; what models say of fields is checked with them.
static NAMES: Names = names::NAMES.with_check(models::check);

/// The tool of a call is `<model>_<method>`.
macro_rules! calls {
    ($($model:literal { $($method:literal => $code:path),* $(,)? })*) => {
        &[$($(NativeTool { name: concat!($model, "_", $method), code: $code, names: &NAMES },)*)*]
    };
}

/// The code of the tools.
pub const NATIVES: &Natives = calls! {
    "res_partner" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
        "message_post" => writing::message_post,
    }
    "res_users" {
        "search_read" => reading::search_read,
    }
    "ir_config_parameter" {
        "search_read" => reading::search_read,
        "write" => writing::write,
    }
    "mail_message" {
        "search_read" => reading::search_read,
    }
    "product_product" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
    }
    "product_supplierinfo" {
        "search_read" => reading::search_read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
    }
    "stock_route" {
        "search_read" => reading::search_read,
    }
    "stock_location" {
        "search_read" => reading::search_read,
    }
    "stock_quant" {
        "search_read" => reading::search_read,
        "create" => writing::create,
        "write" => writing::write,
        "action_apply_inventory" => stock_quant::apply_inventory,
    }
    "stock_move" {
        "search_read" => reading::search_read,
        "read" => reading::read,
    }
    "stock_picking" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "action_assign" => stock_picking::assign,
        "button_validate" => stock_picking::validate,
        "action_cancel" => stock_picking::cancel,
    }
    "mrp_bom" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
    }
    "mrp_bom_line" {
        "search_read" => reading::search_read,
        "write" => writing::write,
    }
    "mrp_routing_workcenter" {
        "search_read" => reading::search_read,
        "write" => writing::write,
    }
    "mrp_workcenter" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
    }
    "sale_order" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "search" => reading::search,
        "search_count" => reading::search_count,
        "fields_get" => reading::fields_get,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
        "action_confirm" => sale_order::confirm,
        "action_cancel" => sale_order::cancel,
        "action_draft" => sale_order::draft,
        "action_lock" => sale_order::lock,
        "action_unlock" => sale_order::unlock,
        "message_post" => writing::message_post,
    }
    "sale_order_line" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
    }
    "purchase_order" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "search_count" => reading::search_count,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
        "button_confirm" => purchase_order::confirm,
        "button_cancel" => purchase_order::cancel,
        "button_draft" => purchase_order::draft,
        "message_post" => writing::message_post,
    }
    "purchase_order_line" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
    }
    "mrp_production" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "search_count" => reading::search_count,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
        "action_confirm" => mrp_actions::confirm,
        "action_assign" => mrp_actions::assign,
        "button_plan" => mrp_actions::plan,
        "button_unplan" => mrp_actions::unplan,
        "button_mark_done" => mrp_actions::mark_done,
        "action_cancel" => mrp_actions::cancel,
        "message_post" => writing::message_post,
    }
    "mrp_workorder" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "write" => writing::write,
    }
    "sale_advance_payment_inv" {
        "create" => writing::create,
        "create_invoices" => sale_advance_payment_inv::create_invoices,
    }
    "account_move" {
        "search_read" => reading::search_read,
        "read" => reading::read,
        "create" => writing::create,
        "write" => writing::write,
        "unlink" => writing::unlink,
        "action_post" => account_move::post,
        "button_draft" => account_move::draft,
        "button_cancel" => account_move::cancel,
    }
    "account_move_line" {
        "search_read" => reading::search_read,
        "write" => writing::write,
    }
    "account_payment_term" {
        "search_read" => reading::search_read,
    }
    "account_tax" {
        "search_read" => reading::search_read,
    }
};
