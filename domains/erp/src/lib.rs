//! The code of the ERP's calls: record calls that are the same for every model, and the methods of single models. Its
//! behaviour is that of Odoo 19, as far as planning can see it.

mod invoicing;
mod orm;
mod present;
mod production;
mod purchasing;
mod sales;
mod search;
mod stock;
mod values;

use benchwright_sandbox::{NativeFn, Natives};

/// The tool of a call is `<model>_<method>`.
macro_rules! calls {
    ($($model:literal { $($method:literal => $code:path),* $(,)? })*) => {
        &[$($((concat!($model, "_", $method), $code as NativeFn),)*)*]
    };
}

/// The code of the tools.
pub const NATIVES: &Natives = calls! {
    "res_partner" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
        "message_post" => orm::message_post,
    }
    "res_users" {
        "search_read" => orm::search_read,
    }
    "ir_config_parameter" {
        "search_read" => orm::search_read,
        "write" => orm::write,
    }
    "mail_message" {
        "search_read" => orm::search_read,
    }
    "product_product" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
    }
    "product_supplierinfo" {
        "search_read" => orm::search_read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
    }
    "stock_route" {
        "search_read" => orm::search_read,
    }
    "stock_location" {
        "search_read" => orm::search_read,
    }
    "stock_quant" {
        "search_read" => orm::search_read,
        "create" => orm::create,
        "write" => orm::write,
        "action_apply_inventory" => stock::apply_inventory,
    }
    "stock_move" {
        "search_read" => orm::search_read,
        "read" => orm::read,
    }
    "stock_picking" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "action_assign" => stock::assign,
        "button_validate" => stock::validate,
        "action_cancel" => stock::cancel,
    }
    "mrp_bom" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
    }
    "mrp_bom_line" {
        "search_read" => orm::search_read,
        "write" => orm::write,
    }
    "mrp_routing_workcenter" {
        "search_read" => orm::search_read,
        "write" => orm::write,
    }
    "mrp_workcenter" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
    }
    "sale_order" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "search" => orm::search,
        "search_count" => orm::search_count,
        "fields_get" => orm::fields_get,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
        "action_confirm" => sales::confirm,
        "action_cancel" => sales::cancel,
        "action_draft" => sales::draft,
        "action_lock" => sales::lock,
        "action_unlock" => sales::unlock,
        "message_post" => orm::message_post,
    }
    "sale_order_line" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
    }
    "purchase_order" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "search_count" => orm::search_count,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
        "button_confirm" => purchasing::confirm,
        "button_cancel" => purchasing::cancel,
        "button_draft" => purchasing::draft,
        "message_post" => orm::message_post,
    }
    "purchase_order_line" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
    }
    "mrp_production" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "search_count" => orm::search_count,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
        "action_confirm" => production::confirm,
        "action_assign" => production::assign,
        "button_plan" => production::plan,
        "button_unplan" => production::unplan,
        "button_mark_done" => production::mark_done,
        "action_cancel" => production::cancel,
        "message_post" => orm::message_post,
    }
    "mrp_workorder" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "write" => orm::write,
    }
    "sale_advance_payment_inv" {
        "create" => orm::create,
        "create_invoices" => invoicing::create_invoices,
    }
    "account_move" {
        "search_read" => orm::search_read,
        "read" => orm::read,
        "create" => orm::create,
        "write" => orm::write,
        "unlink" => orm::unlink,
        "action_post" => invoicing::post,
        "button_draft" => invoicing::draft,
        "button_cancel" => invoicing::cancel,
    }
    "account_move_line" {
        "search_read" => orm::search_read,
        "write" => orm::write,
    }
    "account_payment_term" {
        "search_read" => orm::search_read,
    }
    "account_tax" {
        "search_read" => orm::search_read,
    }
};
