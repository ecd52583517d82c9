//! What can be read of a record: its cells, the lists of records that belong to it, and what is made when it is asked for.

use super::{invoicing, orm, orm::Call, production, purchasing, sales, stock, values};
use benchwright_base::{FieldId, Json, RowId, TableId, Value, json, nearest};
use benchwright_expr::Type;
use benchwright_pack::Refusal;
use benchwright_sandbox::Row;
use benchwright_schema::{Derived, DerivedKind, Domain};

/// A field of a model, stored or made.
#[derive(Clone, Copy)]
pub(super) enum Asked<'d> {
    /// A cell.
    Cell(FieldId, &'d str, Type),
    /// The rest.
    Made(&'d Derived),
}

/// What a field of a record holds.
pub(super) enum Held {
    /// A value of a type.
    Value(Value, Type),
    /// Records of a table.
    Rows(TableId, Vec<RowId>),
}

impl<'d> Asked<'d> {
    /// Its name.
    pub(super) fn name(&self) -> &'d str {
        match self {
            Asked::Cell(_, name, _) => name,
            Asked::Made(derived) => &derived.name,
        }
    }

    /// A field of a model by its name.
    pub(super) fn named(domain: &'d Domain, table: TableId, name: &str) -> Option<Asked<'d>> {
        let declared = domain.table(table);
        if let Some(id) = declared.field_named(name) {
            let field = declared.field(id);
            return Some(Asked::Cell(id, &field.name, field.ty));
        }
        declared.derived_named(name).map(Asked::Made)
    }

    /// What it holds in a row.
    pub(super) fn held(&self, call: &Call<'_, '_>, table: TableId, row: &Row) -> Result<Held, Refusal> {
        match self {
            // A purchase order without a date has that of its lines.
            Asked::Cell(id, "date_planned", ty)
                if row.get(*id).is_null() && call.domain().table(table).name == "purchase_order" =>
            {
                Ok(Held::Value(purchasing::earliest_date(call, row.id())?, *ty))
            }
            Asked::Cell(id, _, ty) => Ok(Held::Value(row.get(*id).clone(), *ty)),
            Asked::Made(derived) => match derived.kind {
                DerivedKind::Value(ty) => Ok(Held::Value(made(call, table, row, &derived.name)?, ty)),
                DerivedKind::Rows(of) => Ok(Held::Rows(of, found(call, table, row, &derived.name)?)),
                kind @ (DerivedKind::Children { table, .. } | DerivedKind::Linked { table, .. }) => {
                    Ok(Held::Rows(table, orm::members(call, row.id(), kind)?))
                }
            },
        }
    }
}

/// The fields that a call asks for; all of them if it does not say.
pub(super) fn fields<'d>(call: &Call<'_, 'd>, table: TableId, argument: &str) -> Result<Vec<Asked<'d>>, Refusal> {
    let domain = call.domain();
    let declared = domain.table(table);
    let names = match call.raw(argument) {
        None => &[][..],
        Some(Json::List(names)) => &names[..],
        Some(other) => {
            return Err(Refusal::argument(argument, format!("wants a list of names of fields, got {}", other.kind())));
        }
    };
    if names.is_empty() {
        return Ok(declared.field_names().filter_map(|name| Asked::named(domain, table, name)).collect());
    }
    let mut fields: Vec<Asked<'d>> = Vec::with_capacity(names.len());
    for name in names {
        let Json::Text(name) = name else {
            return Err(Refusal::argument(argument, "wants a list of names of fields"));
        };
        let Some(field) = Asked::named(domain, table, name) else {
            return Err(unknown_field(domain, table, name, argument));
        };
        if !fields.iter().any(|known| known.name() == field.name()) {
            fields.push(field);
        }
    }
    Ok(fields)
}

/// The refusal of a name that is no field of a model.
pub(super) fn unknown_field(domain: &Domain, table: TableId, name: &str, argument: &str) -> Refusal {
    let declared = domain.table(table);
    let near = nearest(name, declared.field_names());
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Refusal::argument(argument, format!("has `{name}`, which is no field of {}{near}", orm::model_name(declared)))
}

/// Appends a record as an object, its id first.
pub(super) fn write_row(
    out: &mut Vec<u8>,
    call: &Call<'_, '_>,
    table: TableId,
    row: &Row,
    fields: &[Asked<'_>],
) -> Result<(), Refusal> {
    out.extend_from_slice(b"{\"id\":");
    values::write(out, call.domain(), Type::Int, &Value::Int(i64::from(row.id())));
    for field in fields.iter().filter(|field| field.name() != "id") {
        out.push(b',');
        json::write_text(out, field.name());
        out.push(b':');
        match field.held(call, table, row)? {
            Held::Value(Value::Ref(id), Type::Ref(to)) => match call.find(to, id)? {
                Some(row) => values::write_named(out, id, &name(call, to, row)?),
                None => out.extend_from_slice(b"false"),
            },
            Held::Value(value, ty) => values::write(out, call.domain(), ty, &value),
            Held::Rows(_, ids) => values::write_ids(out, ids),
        }
    }
    out.push(b'}');
    Ok(())
}

/// The name under which a record is shown.
pub(super) fn name(call: &Call<'_, '_>, table: TableId, row: &Row) -> Result<String, Refusal> {
    let declared = call.domain().table(table);
    let text = |field: &str| declared.field_named(field).and_then(|id| row.get(id).as_text()).map(str::to_owned);
    let named = |to: &str, field: &str| -> Result<String, Refusal> {
        let to = call.table(to)?;
        let id = declared.field_named(field).and_then(|id| row.get(id).as_ref_id());
        match id.map(|id| call.find(to, id)).transpose()?.flatten() {
            Some(row) => name(call, to, row),
            None => Ok(String::new()),
        }
    };
    Ok(match &*declared.name {
        "product_product" => match (text("default_code"), text("name")) {
            (Some(code), Some(name)) => format!("[{code}] {name}"),
            (_, name) => name.unwrap_or_default(),
        },
        "product_supplierinfo" => named("res_partner", "partner_id")?,
        "mrp_bom" => match (text("code"), named("product_product", "product_tmpl_id")?) {
            (Some(code), product) => format!("{code}: {product}"),
            (None, product) => product,
        },
        "mrp_bom_line" | "stock_quant" | "stock_move" => named("product_product", "product_id")?,
        "stock_location" => stock::location_name(call, row.id())?,
        "mrp_workorder" => {
            let production = named("mrp_production", "production_id")?;
            format!("{production} - {}", text("name").unwrap_or_default())
        }
        "sale_order_line" => {
            let order = named("sale_order", "order_id")?;
            format!("{order} - {}", text("name").unwrap_or_default())
        }
        "ir_config_parameter" => text("key").unwrap_or_default(),
        "account_move" => text("name").unwrap_or_else(|| format!("Draft Invoice (* {})", row.id())),
        "mail_message" => text("body").unwrap_or_default().chars().take(60).collect(),
        other => match text("name") {
            Some(name) => name,
            None => format!("{},{}", declared.odoo.as_deref().unwrap_or(other), row.id()),
        },
    })
}

/// A value that is made when it is asked for.
fn made(call: &Call<'_, '_>, table: TableId, row: &Row, field: &str) -> Result<Value, Refusal> {
    let model = &*call.domain().table(table).name;
    let id = row.id();
    match (model, field) {
        (_, "display_name") => Ok(Value::text(name(call, table, row)?)),
        ("product_product", "product_tmpl_id") => Ok(Value::Ref(id)),
        ("product_product", "uom_name") => Ok(Value::text("Units")),
        ("product_product" | "stock_quant" | "stock_location", _) => stock::made(call, model, id, field),
        ("sale_order" | "sale_order_line", _) => sales::made(call, model, id, field),
        ("purchase_order" | "purchase_order_line", _) => purchasing::made(call, model, id, field),
        ("mrp_production" | "mrp_workorder" | "mrp_routing_workcenter", _) => {
            production::made_value(call, model, id, field)
        }
        ("account_move" | "account_move_line", _) => invoicing::made(call, model, id, field),
        _ => Ok(Value::Null),
    }
}

/// Records that are found when they are asked for.
fn found(call: &Call<'_, '_>, table: TableId, row: &Row, field: &str) -> Result<Vec<RowId>, Refusal> {
    match (&*call.domain().table(table).name, field) {
        ("sale_order", "invoice_ids") => sales::invoices(call, row.id()),
        ("sale_order", "picking_ids") => transfers(call, "sale_id", row.id()),
        ("purchase_order", "picking_ids") => transfers(call, "purchase_id", row.id()),
        ("sale_order", "mrp_production_ids") => sales::productions(call, row.id()),
        ("sale_order_line", "invoice_lines") => sales::invoice_lines(call, row.id()),
        ("purchase_order", "invoice_ids") => purchasing::bills(call, row.id()),
        _ => Ok(Vec::new()),
    }
}

/// The transfers of an order.
fn transfers(call: &Call<'_, '_>, field: &str, order: RowId) -> Result<Vec<RowId>, Refusal> {
    let table = call.table("stock_picking")?;
    let field = call.field(table, field)?;
    Ok(call.referring(table, field, order)?.into_iter().map(|row| row.id()).collect())
}
