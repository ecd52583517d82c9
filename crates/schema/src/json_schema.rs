//! JSON Schemas of what a tool takes and gives, made from its declaration, for the wires that list tools to agents (MCP,
//! OpenAPI).

use crate::codec;
use crate::model::{Cell, Domain, FilterKind, Setting, Shape, Table, Tool, Verb};
use crate::record_schema as record;
use benchwright_base::{TableId, Value, number};
use benchwright_expr::Type;
use serde_json::{Map, Value as Json, json};

/// The most rows of a page, and how many it has when nothing is said.
const PAGE: (u32, u32) = (200, 50);

/// The schema of a tool's arguments.
pub fn arguments_schema(domain: &Domain, tool: &Tool) -> Json {
    let mut object = Object::default();
    if let Some(native) = &tool.native {
        for argument in &native.takes {
            let item = match argument.shape {
                Shape::Value => cell_schema(domain, &argument.cell),
                Shape::New(table) => record::vals(domain, table, true),
                Shape::Vals(table) => record::vals(domain, table, false),
                Shape::Domain(_) => record::conditions(),
                Shape::Fields(table) => record::fields(domain, table),
                Shape::Json => json!({ "type": "object" }),
                Shape::Scalar => json!({ "type": ["integer", "string"] }),
            };
            let schema = if argument.list { json!({ "type": "array", "items": item }) } else { item };
            object.add(&argument.cell.name, schema, argument.required);
        }
        return object.finish();
    }
    let Some(id) = tool.table else { return object.finish() };
    let table = domain.table(id);
    if tool.by.is_empty() && matches!(tool.verb, Verb::Get | Verb::Update | Verb::Delete) {
        object.add("id", value_schema(domain, Type::Ref(id), false, None), true);
    }
    for filter in &tool.by {
        let field = table.field(filter.field);
        // Null asks for rows without a value.
        let nullable = field.nullable && filter.kind == FilterKind::Is;
        let schema = value_schema(domain, field.ty, nullable, None);
        match filter.kind {
            FilterKind::Is => object.add(&field.name, schema, filter.required),
            FilterKind::Contains => {
                let schema = described(schema, "part of the text, in any case");
                object.add(&field.name, schema, filter.required);
            }
            FilterKind::Range => {
                let from = described(schema.clone(), "from here on, itself included");
                object.add(&format!("{}_from", field.name), from, filter.required);
                let to = described(schema, "up to here, itself included");
                object.add(&format!("{}_to", field.name), to, filter.required);
            }
        }
    }
    let is_new = tool.verb != Verb::Update;
    add_settings(domain, table, &tool.set, is_new, &mut object);
    for child in &tool.with {
        let table = domain.table(child.table);
        let mut item = Object::default();
        add_settings(domain, table, &child.set, true, &mut item);
        object.add(table.own_name(), json!({ "type": "array", "items": item.finish() }), false);
    }
    if matches!(tool.verb, Verb::Find | Verb::List) {
        let names = table.fields.iter().filter(|field| !field.secret).map(|field| &*field.name);
        let sorts: Vec<String> = names.flat_map(|name| [name.to_owned(), format!("-{name}")]).collect();
        object.add("sort", json!({ "type": "string", "enum": sorts, "description": "`-` for descending" }), false);
        let limit = json!({ "type": "integer", "minimum": 1, "maximum": PAGE.0, "default": PAGE.1 });
        object.add("limit", limit, false);
        let cursor = json!({ "type": "string", "description": "next_cursor of the page before" });
        object.add("cursor", cursor, false);
    }
    object.finish()
}

/// The schema of a tool's answer when the call is not refused.
pub fn result_schema(domain: &Domain, tool: &Tool) -> Json {
    if let Some(native) = &tool.native {
        if native.json {
            return json!({});
        }
        let mut row = Object::default();
        for cell in &native.gives {
            row.add(&cell.name, cell_schema(domain, cell), true);
        }
        return if native.many { rows(row.finish()).finish() } else { row.finish() };
    }
    let mut object = Object::default();
    let Some(id) = tool.table else { return object.finish() };
    let table = domain.table(id);
    match tool.verb {
        Verb::Find | Verb::List => {
            let mut page = rows(row(domain, tool, id).finish());
            page.add("next_cursor", json!({ "type": ["string", "null"] }), true);
            return page.finish();
        }
        Verb::Get => {
            let mut row = row(domain, tool, id);
            let others = json!({ "type": "integer", "minimum": 1, "description": "how many other rows match" });
            row.add("other_matches", others, false);
            return row.finish();
        }
        Verb::Create | Verb::Update | Verb::Link | Verb::Send => return row(domain, tool, id).finish(),
        Verb::Delete => {
            object.add("deleted", value_schema(domain, Type::Ref(id), false, None), true);
            let cascaded =
                json!({ "type": "integer", "minimum": 0, "description": "how many owned rows went with it" });
            object.add("cascaded", cascaded, true);
        }
        Verb::Count => object.add("count", count_schema(), true),
        Verb::Sum => object.add("sum", sum_schema(domain, tool, table), true),
        Verb::Avg => {
            object.add("avg", mean_schema(tool, table), true);
            object.add("count", count_schema(), true);
        }
        Verb::Native => {}
    }
    if let Some(per) = tool.per {
        let field = table.field(per);
        let mut group = Object::default();
        group.add(&field.name, value_schema(domain, field.ty, field.nullable, None), true);
        for (name, schema) in object.properties.clone() {
            group.add(&name, schema, true);
        }
        object.add("groups", json!({ "type": "array", "items": group.finish() }), true);
    }
    object.finish()
}

fn count_schema() -> Json {
    json!({ "type": "integer", "minimum": 0 })
}

fn sum_schema(domain: &Domain, tool: &Tool, table: &Table) -> Json {
    tool.of.map_or(Json::Null, |of| value_schema(domain, table.field(of).ty, false, None))
}

fn mean_schema(tool: &Tool, table: &Table) -> Json {
    let is_span = tool.of.is_some_and(|of| table.field(of).ty == Type::Duration);
    json!({ "type": [if is_span { "string" } else { "number" }, "null"] })
}

fn rows(row: Json) -> Object {
    let mut object = Object::default();
    object.add("rows", json!({ "type": "array", "items": row }), true);
    object
}

/// The row of an answer, with what the tool shows besides and the children it was given.
fn row(domain: &Domain, tool: &Tool, id: TableId) -> Object {
    let mut object = plain_row(domain, id);
    for shown in &tool.show {
        object.add(&shown.name, value_schema(domain, shown.ty, shown.nullable, None), false);
    }
    for child in &tool.with {
        let items = plain_row(domain, child.table).finish();
        object.add(domain.table(child.table).own_name(), json!({ "type": "array", "items": items }), true);
    }
    object
}

fn plain_row(domain: &Domain, id: TableId) -> Object {
    let mut object = Object::default();
    for field in &domain.table(id).fields {
        object.add(&field.name, value_schema(domain, field.ty, field.nullable, field.bounds), !field.secret);
    }
    object
}

fn add_settings(domain: &Domain, table: &Table, settings: &[Setting], is_new: bool, object: &mut Object) {
    for setting in settings.iter().filter(|setting| setting.fixed.is_none()) {
        let field = table.field(setting.field);
        let mut schema = value_schema(domain, field.ty, field.nullable, field.bounds);
        if let (Some(default), true, Some(map)) = (&field.default, is_new, schema.as_object_mut()) {
            map.insert("default".to_owned(), value_json(domain, field.ty, default));
        }
        object.add(&field.name, schema, setting.required);
    }
}

fn cell_schema(domain: &Domain, cell: &Cell) -> Json {
    value_schema(domain, cell.ty, cell.nullable, cell.bounds)
}

fn described(mut schema: Json, text: &str) -> Json {
    if let Some(map) = schema.as_object_mut() {
        map.insert("description".to_owned(), text.into());
    }
    schema
}

/// The schema of a value of a type.
fn value_schema(domain: &Domain, ty: Type, nullable: bool, bounds: Option<(i64, i64)>) -> Json {
    let kind = match ty {
        Type::Bool => "boolean",
        Type::Int | Type::Ref(_) | Type::Months => "integer",
        Type::Money | Type::Quantity => "number",
        Type::Null => "null",
        Type::Text | Type::Date | Type::DateTime | Type::Time | Type::Duration | Type::Enum(_) => "string",
    };
    let mut schema = Map::new();
    let kinds = if nullable { json!([kind, "null"]) } else { json!(kind) };
    schema.insert("type".to_owned(), kinds);
    let mut put = |key: &str, value: Json| {
        schema.insert(key.to_owned(), value);
    };
    match ty {
        Type::Date => put("format", json!("date")),
        Type::DateTime => put("format", json!("date-time")),
        Type::Time => put("format", json!("time")),
        Type::Duration => put("format", json!("duration")),
        Type::Enum(id) => {
            let words = domain.enums[id.index()].words.iter().map(|word| json!(word));
            put("enum", words.chain(nullable.then_some(Json::Null)).collect());
        }
        Type::Ref(table) => {
            put("minimum", json!(1));
            put("description", json!(format!("id of a row of {}", domain.table(table).name)));
        }
        Type::Money => put("description", json!("at most two decimals")),
        Type::Quantity => put("description", json!("at most three decimals")),
        _ => {}
    }
    if let Some((low, high)) = bounds {
        let (least, most) = if ty == Type::Text { ("minLength", "maxLength") } else { ("minimum", "maximum") };
        let open = if ty == Type::Text { 0 } else { i64::MIN };
        if low != open {
            put(least, scaled(ty, low));
        }
        if high != i64::MAX {
            put(most, scaled(ty, high));
        }
    }
    Json::Object(schema)
}

/// A number in the smallest unit of a type as JSON.
pub(crate) fn scaled(ty: Type, number: i64) -> Json {
    let decimals = match ty {
        Type::Money => number::MONEY_DECIMALS,
        Type::Quantity => number::QUANTITY_DECIMALS,
        _ => return json!(number),
    };
    let scale = 10_i64.pow(decimals);
    if number % scale == 0 { json!(number / scale) } else { json!(number as f64 / scale as f64) }
}

/// A value of a type as JSON: as it is written in an answer, but decimals without trailing zeros.
pub(crate) fn value_json(domain: &Domain, ty: Type, value: &Value) -> Json {
    if let Value::Money(number) | Value::Quantity(number) = value {
        return scaled(ty, *number);
    }
    let mut out = Vec::new();
    codec::write_value(&mut out, domain, ty, value);
    serde_json::from_slice(&out).unwrap_or_default()
}

/// An object schema in the making.
#[derive(Default)]
pub(crate) struct Object {
    properties: Map<String, Json>,
    required: Vec<String>,
}

impl Object {
    pub(crate) fn add(&mut self, name: &str, schema: Json, required: bool) {
        if required {
            self.required.push(name.to_owned());
        }
        self.properties.insert(name.to_owned(), schema);
    }

    pub(crate) fn finish(self) -> Json {
        json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        })
    }
}
