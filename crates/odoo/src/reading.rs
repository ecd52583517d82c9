//! Reads records back from an Odoo: for each table that the domain models, the rows as they stand, with Odoo's ids
//! translated into those of the task's snapshot.

use crate::{Client, OdooError, cells};
use benchwright_base::{FieldId, RelationId, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_schema::{DerivedKind, Domain, Table};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Tables that are not read: a dialog that only its user may see, and rules of routes that nobody can change.
pub(crate) const UNREAD: [&str; 3] = ["sale_advance_payment_inv", "sale_advance_payment_order", "stock_rule"];
/// How many records a call asks for.
const PAGE: usize = 2_000;

/// What is known of the fields of each table in this version of Odoo.
#[derive(Debug)]
pub(crate) struct Shape {
    /// By table and field: whether Odoo has it, and whether it is HTML there.
    fields: Vec<Vec<(bool, bool)>>,
}

/// A list of rows joined to a row.
pub(crate) struct Joint<'d> {
    pub(crate) name: &'d str,
    pub(crate) link: TableId,
    pub(crate) from: FieldId,
    pub(crate) to: FieldId,
}

/// The lists of a table that stand in joints of their own.
pub(crate) fn joints(table: &Table) -> impl Iterator<Item = Joint<'_>> {
    table.derived.iter().filter_map(|derived| match derived.kind {
        DerivedKind::Linked { link, from, to, .. } => Some(Joint { name: &derived.name, link, from, to }),
        _ => None,
    })
}

/// The records of every table by Odoo's ids; references are Odoo's ids too, but that of a template is its product's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) tables: Vec<BTreeMap<RowId, Vec<Value>>>,
    /// By the table of the joints: the pairs.
    pub(crate) pairs: Vec<Vec<(RowId, RowId)>>,
    /// The product of each template.
    pub(crate) products: BTreeMap<RowId, RowId>,
}

impl Shape {
    /// Asks a server for the fields of every model.
    pub(crate) fn ask(client: &Client, database: &str, domain: &Domain) -> Result<Shape, OdooError> {
        let mut fields = Vec::new();
        for table in &domain.tables {
            let Some(model) = table.odoo.as_deref().filter(|_| !UNREAD.contains(&&*table.name)) else {
                fields.push(vec![(false, false); table.fields.len()]);
                continue;
            };
            let known = client.call(database, model, "fields_get", &json!({ "attributes": ["type"] }))?;
            let field = |name: &str| {
                let kind = known.get(name).map(|about| about["type"] == "html");
                (kind.is_some(), kind == Some(true))
            };
            fields.push(table.fields.iter().map(|declared| field(&declared.name)).collect());
        }
        Ok(Shape { fields })
    }

    /// Whether Odoo has a field.
    pub(crate) fn has(&self, table: TableId, field: usize) -> bool {
        self.fields[table.index()][field].0
    }

    /// Whether a field is HTML there.
    pub(crate) fn is_html(&self, table: TableId, field: usize) -> bool {
        self.fields[table.index()][field].1
    }
}

/// Which records of a model are rows of its table.
fn only(table: &Table, domain: &Domain) -> Json {
    match &*table.name {
        "mail_message" => {
            let models: Vec<&str> = domain.tables.iter().filter_map(|table| table.odoo.as_deref()).collect();
            json!([["message_type", "=", "comment"], ["model", "in", models]])
        }
        "account_move_line" => json!([["display_type", "in", ["product", "line_section", "line_note"]]]),
        "stock_quant" => json!([["location_id.usage", "in", ["internal", "transit"]]]),
        _ => json!([]),
    }
}

/// Reads everything.
pub(crate) fn read(client: &Client, database: &str, domain: &Domain, shape: &Shape) -> Result<Reading, OdooError> {
    let count = domain.tables.len();
    let mut reading =
        Reading { tables: vec![BTreeMap::new(); count], pairs: vec![Vec::new(); count], products: BTreeMap::new() };
    let mut people: BTreeMap<RowId, RowId> = BTreeMap::new();
    for (at, table) in domain.tables.iter().enumerate() {
        let Some(model) = table.odoo.as_deref().filter(|_| !UNREAD.contains(&&*table.name)) else { continue };
        let id = RelationId(at as u16);
        let mut names: Vec<&str> = Vec::new();
        let asked = table.fields.iter().enumerate().filter(|(field, _)| *field > 0 && shape.has(id, *field));
        names.extend(asked.map(|(_, field)| &*field.name));
        names.extend(joints(table).map(|joint| joint.name));
        match &*table.name {
            "product_product" => names.push("product_tmpl_id"),
            "res_users" => names.push("partner_id"),
            _ => {}
        }
        for record in all(client, database, model, &only(table, domain), &names)? {
            let Some(row) = record["id"].as_u64().and_then(|row| u32::try_from(row).ok()) else { continue };
            match &*table.name {
                "product_product" => {
                    _ = cells::reference(&record["product_tmpl_id"]).map(|of| reading.products.insert(of, row))
                }
                "res_users" => _ = cells::reference(&record["partner_id"]).map(|of| people.insert(of, row)),
                _ => {}
            }
            let mut cells = Vec::with_capacity(table.fields.len());
            for (field, declared) in table.fields.iter().enumerate() {
                let json = record.get(&declared.name).unwrap_or(&Json::Null);
                let value = cells::read(domain, declared, shape.is_html(id, field), json);
                let value = value.ok_or_else(|| {
                    OdooError::Misfit(format!("{model} {row}: `{}` is {json}, which is no value of it", declared.name))
                })?;
                cells.push(value);
            }
            cells[0] = Value::Ref(row);
            reading.tables[at].insert(row, cells);
            for joint in joints(table) {
                let others = record[joint.name].as_array().into_iter().flatten().filter_map(cells::reference);
                let order = joint.from.index() < joint.to.index();
                reading.pairs[joint.link.index()]
                    .extend(others.map(|other| if order { (row, other) } else { (other, row) }));
            }
        }
    }
    reading.resolve(domain, &people);
    Ok(reading)
}

impl Reading {
    /// Turns references to templates into their products', and authors into users.
    fn resolve(&mut self, domain: &Domain, people: &BTreeMap<RowId, RowId>) {
        for (table, rows) in domain.tables.iter().zip(&mut self.tables) {
            for (at, field) in table.fields.iter().enumerate() {
                let map = match (&*table.name, &*field.name, field.ty) {
                    (_, "product_tmpl_id", Type::Ref(_)) => &self.products,
                    ("mail_message", "author_id", _) => people,
                    _ => continue,
                };
                for cells in rows.values_mut() {
                    if let Value::Ref(of) = cells[at] {
                        cells[at] = map.get(&of).map_or(Value::Null, |row| Value::Ref(*row));
                    }
                }
            }
        }
        self.pairs.iter_mut().for_each(|pairs| pairs.sort_unstable());
    }
}

/// All records of a model, archived ones too, by id.
pub(crate) fn all(
    client: &Client,
    database: &str,
    model: &str,
    only: &Json,
    fields: &[&str],
) -> Result<Vec<Map<String, Json>>, OdooError> {
    let mut found = Vec::new();
    loop {
        let arguments = json!({
            "domain": only, "fields": fields, "order": "id", "limit": PAGE, "offset": found.len(),
            "context": { "active_test": false },
        });
        let Json::Array(page) = client.call(database, model, "search_read", &arguments)? else {
            return Err(OdooError::Misfit(format!("{model}: search_read answered no list")));
        };
        let last = page.len() < PAGE;
        found.extend(page.into_iter().filter_map(|record| match record {
            Json::Object(record) => Some(record),
            _ => None,
        }));
        if last {
            return Ok(found);
        }
    }
}
