//! JSON Schemas of the arguments of record calls: fields of a row, conditions, names of fields. Their values have the form
//! that record APIs use: `false` for nothing, instants as `2026-03-02 09:00:00`.

use crate::json_schema::{Object, scaled};
use crate::model::{DerivedKind, Domain, Field};
use benchwright_base::TableId;
use benchwright_expr::Type;
use serde_json::{Map, Value as Json, json};

/// An object of the fields of a row that can be written; for a new row, what must be given is required.
pub(crate) fn vals(domain: &Domain, id: TableId, is_new: bool) -> Json {
    let mut object = writable(domain, id, is_new);
    for derived in &domain.table(id).derived {
        match derived.kind {
            DerivedKind::Children { table, .. } => {
                let fields = writable(domain, table, false).finish();
                object.add(&derived.name, commands(domain, table, Some(fields)), false);
            }
            DerivedKind::Linked { table, .. } => object.add(&derived.name, commands(domain, table, None), false),
            DerivedKind::Value(_) | DerivedKind::Rows(_) => {}
        }
    }
    object.finish()
}

/// The cells that can be written.
fn writable(domain: &Domain, id: TableId, is_new: bool) -> Object {
    let mut object = Object::default();
    for field in domain.table(id).fields.iter().filter(|field| field.stamp.is_none()) {
        let required = is_new && !field.nullable && field.default.is_none();
        object.add(&field.name, value(domain, field), required);
    }
    // Rows of their own that belong to the row are given by plain commands.
    for derived in &domain.table(id).derived {
        if let DerivedKind::Children { table, .. } | DerivedKind::Linked { table, .. } = derived.kind {
            object.add(&derived.name, commands(domain, table, None), false);
        }
    }
    object
}

/// Commands on rows that belong to a row: a list of lists, or of ids.
fn commands(domain: &Domain, table: TableId, fields: Option<Json>) -> Json {
    let name = &domain.table(table).name;
    let text = match fields {
        Some(_) => format!("commands on {name}: [0,0,{{vals}}] new, [1,id,{{vals}}] change, [2,id] delete"),
        None => format!("commands on {name}: [6,0,[ids]] set, [4,id] add, [3,id] remove, [5] clear"),
    };
    let mut item = Map::new();
    item.insert("type".to_owned(), json!(["integer", "object", "array", "boolean", "null"]));
    if let Some(Json::Object(fields)) = fields {
        item.extend(fields.into_iter().filter(|(key, _)| key == "properties" || key == "additionalProperties"));
    }
    json!({
        "type": ["array", "boolean"],
        "items": { "type": ["array", "integer"], "items": Json::Object(item) },
        "description": text,
    })
}

/// A value of a field in the form of record APIs.
fn value(domain: &Domain, field: &Field) -> Json {
    let mut schema = Map::new();
    let kind = match field.ty {
        Type::Bool => "boolean",
        Type::Int | Type::Ref(_) | Type::Months => "integer",
        Type::Money | Type::Quantity => "number",
        Type::Null => "null",
        Type::Text | Type::Date | Type::DateTime | Type::Time | Type::Duration | Type::Enum(_) => "string",
    };
    // False and null stand for nothing, and for zero.
    let empty = field.nullable || matches!(field.ty, Type::Int | Type::Money | Type::Quantity | Type::Bool);
    let kinds = if field.ty == Type::Bool {
        json!(["boolean", "null"])
    } else if empty {
        json!([kind, "boolean", "null"])
    } else {
        json!(kind)
    };
    schema.insert("type".to_owned(), kinds);
    match field.ty {
        Type::DateTime => _ = schema.insert("description".to_owned(), json!("YYYY-MM-DD HH:MM:SS, UTC")),
        Type::Date => _ = schema.insert("description".to_owned(), json!("YYYY-MM-DD")),
        Type::Ref(table) => {
            _ = schema.insert("description".to_owned(), json!(format!("id of {}", domain.table(table).name)));
        }
        Type::Enum(id) => {
            let words = domain.enums[id.index()].words.iter().map(|word| json!(word));
            let none = if empty { vec![json!(false), Json::Null] } else { Vec::new() };
            schema.insert("enum".to_owned(), words.chain(none).collect());
        }
        _ => {}
    }
    if let Some((low, high)) = field.bounds {
        let (least, most) = if field.ty == Type::Text { ("minLength", "maxLength") } else { ("minimum", "maximum") };
        let open = if field.ty == Type::Text { 0 } else { i64::MIN };
        if low != open {
            schema.insert(least.to_owned(), scaled(field.ty, low));
        }
        if high != i64::MAX {
            schema.insert(most.to_owned(), scaled(field.ty, high));
        }
    }
    Json::Object(schema)
}

/// Conditions on rows.
pub(crate) fn conditions() -> Json {
    json!({
        "type": "array",
        "items": { "type": ["array", "string"] },
        "description": "[field, operator, value] conditions, all of which must hold; '&', '|' and '!' before their operands",
    })
}

/// Names of fields.
pub(crate) fn fields(domain: &Domain, id: TableId) -> Json {
    let names: Vec<&str> = domain.table(id).field_names().collect();
    json!({ "type": "array", "items": { "type": "string", "enum": names } })
}
