//! Puts the first state of a task into an empty database, in batches and in the order in which records need each other, and
//! notes which record stands for which row.

use crate::{
    Client, OdooError, cells,
    reading::{Shape, UNREAD, all, joints},
};
use benchwright_base::{RelationId, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::Snapshot;
use benchwright_schema::Domain;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Which record stands for which row of the first state, by table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    /// Odoo's id to the row's.
    pub(crate) rows: Vec<BTreeMap<RowId, RowId>>,
    /// The row's id to Odoo's.
    pub(crate) records: Vec<BTreeMap<RowId, RowId>>,
}

impl Rows {
    fn new(tables: usize) -> Rows {
        Rows { rows: vec![BTreeMap::new(); tables], records: vec![BTreeMap::new(); tables] }
    }

    fn tie(&mut self, table: TableId, row: RowId, record: RowId) {
        self.rows[table.index()].insert(record, row);
        self.records[table.index()].insert(row, record);
    }
}

/// Puts a first state into a database.
pub(crate) fn plant(
    client: &Client,
    database: &str,
    domain: &Domain,
    shape: &Shape,
    first: &Snapshot,
) -> Result<Rows, OdooError> {
    let rows = Rows::new(domain.tables.len());
    let mut planter = Planter { client, database, domain, shape, first, rows, templates: BTreeMap::new() };
    // Records before those that refer to them; documents last, because confirming one makes transfers and moves of its own.
    planter.company()?;
    planter.master_data()?;
    planter.sales()?;
    planter.productions()?;
    planter.purchases()?;
    planter.check()?;
    Ok(planter.rows)
}

struct Planter<'a> {
    client: &'a Client,
    database: &'a str,
    domain: &'a Domain,
    shape: &'a Shape,
    first: &'a Snapshot,
    rows: Rows,
    /// The template of each product record.
    templates: BTreeMap<RowId, RowId>,
}

fn misfit(what: impl Into<String>) -> OdooError {
    OdooError::Misfit(what.into())
}

impl<'a> Planter<'a> {
    fn table(&self, name: &str) -> Result<TableId, OdooError> {
        let place = self.domain.tables.iter().position(|table| table.name == name);
        place.map(|at| RelationId(at as u16)).ok_or_else(|| misfit(format!("the domain has no table {name}")))
    }

    fn given(&self, name: &str) -> Result<(TableId, &'a [Vec<Value>]), OdooError> {
        let table = self.table(name)?;
        Ok((table, &self.first.tables[table.index()].rows))
    }

    fn value(&self, table: TableId, row: &[Value], field: &str) -> Value {
        let at = self.domain.table(table).field_named(field);
        at.and_then(|at| row.get(at.index())).cloned().unwrap_or_default()
    }

    fn text(&self, table: TableId, row: &[Value], field: &str) -> String {
        let value = self.value(table, row, field);
        let ty = self.domain.table(table).field_named(field).map(|at| self.domain.table(table).field(at).ty);
        match (value, ty) {
            (Value::Text(text), _) => text.to_string(),
            (value @ Value::Enum(_), Some(ty)) => benchwright_schema::codec::show_value(self.domain, ty, &value),
            _ => String::new(),
        }
    }

    fn call(&self, model: &str, method: &str, mut arguments: Json) -> Result<Json, OdooError> {
        // Nobody follows how a world came to be.
        arguments["context"] = json!({ "tracking_disable": true, "mail_create_nolog": true, "mail_notrack": true });
        self.client.call(self.database, model, method, &arguments)
    }

    fn find(&self, model: &str, only: Json, fields: &[&str]) -> Result<Vec<Map<String, Json>>, OdooError> {
        all(self.client, self.database, model, &only, fields)
    }

    fn record(&self, table: TableId, row: RowId) -> Result<RowId, OdooError> {
        let known = self.rows.records[table.index()].get(&row).copied();
        known.ok_or_else(|| misfit(format!("{} {row} has no record", self.domain.table(table).name)))
    }

    /// The values of a row as arguments, without the fields in `without`. What is null is left to Odoo.
    fn vals(&self, table: TableId, row: &[Value], without: &[&str]) -> Result<Map<String, Json>, OdooError> {
        let declared = self.domain.table(table);
        let mut vals = Map::new();
        for (at, (field, value)) in declared.fields.iter().zip(row).enumerate().skip(1) {
            if value.is_null() || without.contains(&&*field.name) || !self.shape.has(table, at) {
                continue;
            }
            let json = match (field.ty, value) {
                (Type::Ref(to), Value::Ref(of)) => {
                    let record = self.record(to, *of)?;
                    let record = match (&*field.name, self.templates.get(&record)) {
                        ("product_tmpl_id", Some(template)) => *template,
                        _ => record,
                    };
                    Json::from(record)
                }
                _ => cells::write(self.domain, field, self.shape.is_html(table, at), value),
            };
            vals.insert(field.name.clone(), json);
        }
        Ok(vals)
    }

    /// The records joined to a row by a list.
    fn joined(&self, table: TableId, row: RowId, list: &str) -> Result<Vec<RowId>, OdooError> {
        let declared = self.domain.table(table);
        let Some(joint) = joints(declared).find(|joint| joint.name == list) else { return Ok(Vec::new()) };
        let Type::Ref(to) = self.domain.table(joint.link).field(joint.to).ty else { return Ok(Vec::new()) };
        let joints = self.first.tables[joint.link.index()].rows.iter();
        let ours = joints.filter(|cells| cells[joint.from.index()].as_ref_id() == Some(row));
        ours.filter_map(|cells| cells[joint.to.index()].as_ref_id()).map(|other| self.record(to, other)).collect()
    }

    /// Creates records and ties them to rows, in order.
    fn create(&mut self, table: TableId, rows: &[RowId], vals: Vec<Json>) -> Result<Vec<RowId>, OdooError> {
        if vals.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.domain.table(table).odoo.clone().unwrap_or_default();
        let made = self.call(&model, "create", json!({ "vals_list": vals }))?;
        let made: Vec<RowId> = made.as_array().into_iter().flatten().filter_map(cells::reference).collect();
        if made.len() != rows.len() {
            return Err(misfit(format!("{model}: {} records were made for {} rows", made.len(), rows.len())));
        }
        rows.iter().zip(&made).for_each(|(row, record)| self.rows.tie(table, *row, *record));
        Ok(made)
    }

    /// Creates a record for each row of a table, as it stands.
    fn create_all(&mut self, name: &str, without: &[&str]) -> Result<Vec<RowId>, OdooError> {
        let (table, given) = self.given(name)?;
        let mut vals = Vec::with_capacity(given.len());
        for row in given {
            vals.push(Json::Object(self.vals(table, row, without)?));
        }
        let ids: Vec<RowId> = given.iter().filter_map(|row| row[0].as_ref_id()).collect();
        self.create(table, &ids, vals)
    }

    /// What every company has is there already; it is found by its name.
    fn company(&mut self) -> Result<(), OdooError> {
        for (name, by) in [("res_users", "login"), ("account_tax", "name"), ("stock_route", "name")] {
            let (table, given) = self.given(name)?;
            let model = self.domain.table(table).odoo.clone().unwrap_or_default();
            let known = self.find(&model, json!([]), &[by, "active"])?;
            for row in given {
                let wanted = self.text(table, row, by);
                let active = known.iter().find(|record| record[by] == *wanted && record["active"] == true);
                let found = active.or_else(|| known.iter().find(|record| record[by] == *wanted));
                let found = found.and_then(|record| cells::reference(&record["id"]));
                let found = found.ok_or_else(|| misfit(format!("the template has no {model} `{wanted}`")))?;
                if active.is_none() {
                    // Routes that few companies use come switched off.
                    self.call(&model, "write", json!({ "ids": [found], "vals": { "active": true } }))?;
                }
                self.rows.tie(table, row[0].as_ref_id().unwrap_or_default(), found);
            }
        }
        let (table, given) = self.given("stock_location")?;
        let known = self.find("stock.location", json!([["active", "=", true]]), &["name", "usage"])?;
        for row in given {
            let (name, usage) = (self.text(table, row, "name"), self.text(table, row, "usage"));
            let fits = |record: &&Map<String, Json>| {
                record["usage"] == *usage && (!matches!(&*usage, "view" | "internal") || record["name"] == *name)
            };
            let found = known.iter().find(fits).and_then(|record| cells::reference(&record["id"]));
            let found = found.ok_or_else(|| misfit(format!("the template has no location `{name}`")))?;
            self.rows.tie(table, row[0].as_ref_id().unwrap_or_default(), found);
        }
        self.create_all("ir_config_parameter", &[])?;
        self.terms()
    }

    fn terms(&mut self) -> Result<(), OdooError> {
        let (table, given) = self.given("account_payment_term")?;
        let (line_table, lines) = self.given("account_payment_term_line")?;
        for row in given {
            let mut vals = self.vals(table, row, &[])?;
            let ours: Vec<&Vec<Value>> =
                lines.iter().filter(|line| self.value(line_table, line, "payment_id") == row[0]).collect();
            // A new term comes with a line of its own; `[5]` takes it away.
            let mut commands = vec![json!([5])];
            for line in &ours {
                commands.push(json!([0, 0, self.vals(line_table, line, &["payment_id"])?]));
            }
            vals.insert("line_ids".into(), Json::Array(commands));
            let made = self.create(table, &[row[0].as_ref_id().unwrap_or_default()], vec![Json::Object(vals)])?;
            let made = self.find("account.payment.term.line", json!([["payment_id", "in", made]]), &["id"])?;
            self.tie_in_order(line_table, &ours, &made)?;
        }
        Ok(())
    }

    /// Ties rows to the records that were made for them, in the order of both.
    fn tie_in_order(
        &mut self,
        table: TableId,
        rows: &[&Vec<Value>],
        records: &[Map<String, Json>],
    ) -> Result<(), OdooError> {
        if rows.len() != records.len() {
            let name = &self.domain.table(table).name;
            return Err(misfit(format!("{name}: {} records stand for {} rows", records.len(), rows.len())));
        }
        for (row, record) in rows.iter().zip(records) {
            let record = cells::reference(&record["id"]).unwrap_or_default();
            self.rows.tie(table, row[0].as_ref_id().unwrap_or_default(), record);
        }
        Ok(())
    }

    fn master_data(&mut self) -> Result<(), OdooError> {
        self.create_all("res_partner", &["customer_rank", "supplier_rank"])?;
        self.ranks()?;
        let (table, given) = self.given("product_product")?;
        let mut vals = Vec::with_capacity(given.len());
        for row in given {
            let id = row[0].as_ref_id().unwrap_or_default();
            let mut one = self.vals(table, row, &[])?;
            for list in ["route_ids", "taxes_id", "supplier_taxes_id"] {
                one.insert(list.to_owned(), json!([[6, 0, self.joined(table, id, list)?]]));
            }
            vals.push(Json::Object(one));
        }
        let ids: Vec<RowId> = given.iter().filter_map(|row| row[0].as_ref_id()).collect();
        let made = self.create(table, &ids, vals)?;
        for record in self.find("product.product", json!([["id", "in", made]]), &["product_tmpl_id"])? {
            if let (Some(id), Some(of)) =
                (cells::reference(&record["id"]), cells::reference(&record["product_tmpl_id"]))
            {
                self.templates.insert(id, of);
            }
        }
        self.create_all("product_supplierinfo", &[])?;
        self.create_all("mrp_workcenter", &[])?;
        self.alternatives()?;
        self.create_all("mrp_bom", &[])?;
        self.create_all("mrp_bom_line", &[])?;
        self.create_all("mrp_routing_workcenter", &[])?;
        self.stock()
    }

    /// Whether a partner is a customer or a vendor is read-only on creation for some users, so it is written after.
    fn ranks(&mut self) -> Result<(), OdooError> {
        let (table, given) = self.given("res_partner")?;
        let mut groups: BTreeMap<(i64, i64), Vec<RowId>> = BTreeMap::new();
        for row in given {
            let rank = |field| self.value(table, row, field).as_number().unwrap_or_default();
            let record = self.record(table, row[0].as_ref_id().unwrap_or_default())?;
            groups.entry((rank("customer_rank"), rank("supplier_rank"))).or_default().push(record);
        }
        for ((customer, supplier), ids) in groups {
            let vals = json!({ "customer_rank": customer, "supplier_rank": supplier });
            self.call("res.partner", "write", json!({ "ids": ids, "vals": vals }))?;
        }
        Ok(())
    }

    fn alternatives(&mut self) -> Result<(), OdooError> {
        let (table, given) = self.given("mrp_workcenter")?;
        for row in given {
            let id = row[0].as_ref_id().unwrap_or_default();
            let others = self.joined(table, id, "alternative_workcenter_ids")?;
            if !others.is_empty() {
                let vals = json!({ "alternative_workcenter_ids": [[6, 0, others]] });
                self.call("mrp.workcenter", "write", json!({ "ids": [self.record(table, id)?], "vals": vals }))?;
            }
        }
        Ok(())
    }

    fn stock(&mut self) -> Result<(), OdooError> {
        let (table, given) = self.given("stock_quant")?;
        let mut vals = Vec::with_capacity(given.len());
        for row in given {
            let mut one =
                self.vals(table, row, &["quantity", "inventory_quantity", "inventory_quantity_set", "in_date"])?;
            let quantity = self.value(table, row, "quantity").as_number().unwrap_or_default();
            one.insert("inventory_quantity".into(), json!(quantity as f64 / 1000.0));
            vals.push(Json::Object(one));
        }
        let ids: Vec<RowId> = given.iter().filter_map(|row| row[0].as_ref_id()).collect();
        let made = self.create(table, &ids, vals)?;
        if !made.is_empty() {
            self.call("stock.quant", "action_apply_inventory", json!({ "ids": made }))?;
        }
        Ok(())
    }

    /// Rows of a table that refer to a row by a field.
    fn of(&self, name: &str, field: &str, row: &Value) -> Result<(TableId, Vec<&'a Vec<Value>>), OdooError> {
        let (table, given) = self.given(name)?;
        Ok((table, given.iter().filter(|cells| self.value(table, cells, field) == *row).collect()))
    }

    /// Creates documents with their lines in one batch and ties both.
    fn documents(&mut self, name: &str, lines: &str, list: &str, without: &[&str]) -> Result<(), OdooError> {
        let (table, given) = self.given(name)?;
        let mut vals = Vec::with_capacity(given.len());
        for row in given {
            let mut one = self.vals(table, row, without)?;
            let (line_table, ours) = self.of(lines, "order_id", &row[0])?;
            let mut commands = Vec::new();
            for line in ours {
                commands.push(json!([0, 0, self.vals(line_table, line, &["order_id", "technical_price_unit"])?]));
            }
            one.insert(list.to_owned(), Json::Array(commands));
            vals.push(Json::Object(one));
        }
        let ids: Vec<RowId> = given.iter().filter_map(|row| row[0].as_ref_id()).collect();
        self.create(table, &ids, vals)?;
        let model = self.domain.table(self.table(lines)?).odoo.clone().unwrap_or_default();
        for row in given {
            let record = self.record(table, row[0].as_ref_id().unwrap_or_default())?;
            let (line_table, ours) = self.of(lines, "order_id", &row[0])?;
            let made = self.find(&model, json!([["order_id", "=", record]]), &["id"])?;
            self.tie_in_order(line_table, &ours, &made)?;
        }
        Ok(())
    }

    /// Presses a button on the documents that are in a state, in one call, and writes what it stamped from the clock.
    fn press(&mut self, name: &str, state: &str, method: &str, stamped: &[&str]) -> Result<(), OdooError> {
        let (table, given) = self.given(name)?;
        let model = self.domain.table(table).odoo.clone().unwrap_or_default();
        let mut ids = Vec::new();
        let mut stamps: Vec<(RowId, Json)> = Vec::new();
        for row in given.iter().filter(|row| self.text(table, row, "state") == state) {
            let record = self.record(table, row[0].as_ref_id().unwrap_or_default())?;
            ids.push(record);
            let vals = self.vals(table, row, &[])?;
            let vals: Map<String, Json> = vals.into_iter().filter(|(name, _)| stamped.contains(&&**name)).collect();
            stamps.push((record, Json::Object(vals)));
        }
        if ids.is_empty() {
            return Ok(());
        }
        self.call(&model, method, json!({ "ids": ids }))?;
        for (record, vals) in
            stamps.into_iter().filter(|(_, vals)| vals.as_object().is_some_and(|vals| !vals.is_empty()))
        {
            self.call(&model, "write", json!({ "ids": [record], "vals": vals }))?;
        }
        Ok(())
    }

    /// Ties the transfers of documents and their moves, which Odoo made by itself.
    fn transfers(&mut self, name: &str, field: &str) -> Result<(), OdooError> {
        let (owner, given) = self.given(name)?;
        let made = self.find("stock.picking", json!([[field, "!=", false]]), &[field])?;
        for row in given {
            let record = self.record(owner, row[0].as_ref_id().unwrap_or_default())?;
            let (table, ours) = self.of("stock_picking", field, &row[0])?;
            let theirs: Vec<Map<String, Json>> =
                made.iter().filter(|picking| cells::reference(&picking[field]) == Some(record)).cloned().collect();
            self.tie_in_order(table, &ours, &theirs)?;
            for (row, picking) in ours.iter().zip(&theirs) {
                self.moves("picking_id", &row[0], &picking["id"])?;
            }
        }
        Ok(())
    }

    /// Ties the moves that belong to a row, by what they move.
    fn moves(&mut self, field: &str, row: &Value, record: &Json) -> Result<(), OdooError> {
        // Odoo makes the moves itself, in an order of its own, but one for each product.
        let (table, mut ours) = self.of("stock_move", field, row)?;
        let products = self.table("product_product")?;
        let mut made = self.find("stock.move", json!([[field, "=", record]]), &["product_id"])?;
        let known = |record: &Map<String, Json>| {
            let product = cells::reference(&record["product_id"]).unwrap_or_default();
            self.rows.rows[products.index()].get(&product).copied()
        };
        made.sort_by_key(known);
        ours.sort_by_key(|cells| self.value(table, cells, "product_id").as_ref_id());
        self.tie_in_order(table, &ours, &made)
    }

    fn sales(&mut self) -> Result<(), OdooError> {
        self.documents("sale_order", "sale_order_line", "order_line", &["name", "state", "create_date", "locked"])?;
        self.press("sale_order", "sale", "action_confirm", &["date_order"])?;
        self.press("sale_order", "cancel", "action_cancel", &[])?;
        self.transfers("sale_order", "sale_id")
    }

    fn productions(&mut self) -> Result<(), OdooError> {
        let (table, given) = self.given("mrp_production")?;
        self.create_all(
            "mrp_production",
            &["name", "state", "date_finished", "create_date", "is_planned", "qty_producing", "consumption"],
        )?;
        self.press("mrp_production", "confirmed", "action_confirm", &[])?;
        for row in given {
            let record = self.record(table, row[0].as_ref_id().unwrap_or_default())?;
            let (work, ours) = self.of("mrp_workorder", "production_id", &row[0])?;
            let made = self.find("mrp.workorder", json!([["production_id", "=", record]]), &["workcenter_id"])?;
            self.tie_in_order(work, &ours, &made)?;
            for (cells, made) in ours.iter().zip(&made) {
                let centre = self.vals(work, cells, &[])?.get("workcenter_id").cloned().unwrap_or_default();
                if cells::reference(&made["workcenter_id"]) != cells::reference(&centre) {
                    let arguments = json!({ "ids": [made["id"]], "vals": { "workcenter_id": centre } });
                    self.call("mrp.workorder", "write", arguments)?;
                }
            }
            for field in ["raw_material_production_id", "production_id"] {
                self.moves(field, &row[0], &Json::from(record))?;
            }
        }
        Ok(())
    }

    /// Every row must have its record.
    fn check(&self) -> Result<(), OdooError> {
        for (at, table) in self.domain.tables.iter().enumerate() {
            let read = table.odoo.is_some() && !UNREAD.contains(&&*table.name);
            let missing = self.first.tables[at].rows.iter().filter_map(|row| row[0].as_ref_id());
            if let Some(row) = missing.into_iter().find(|row| read && !self.rows.records[at].contains_key(row)) {
                return Err(misfit(format!("{} {row} was not planted", table.name)));
            }
        }
        Ok(())
    }

    fn purchases(&mut self) -> Result<(), OdooError> {
        let without = ["name", "state", "create_date", "locked", "date_approve"];
        self.documents("purchase_order", "purchase_order_line", "order_line", &without)?;
        self.press("purchase_order", "purchase", "button_confirm", &["date_approve"])?;
        self.transfers("purchase_order", "purchase_id")
    }
}
