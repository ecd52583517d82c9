//! The ERP domain as others build on it: calls map to tools by their names, every tool has code, a task's world is a snapshot
//! whose rows are given cell by cell, and numbers go on where it ends.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{Date, RelationId, Value};
use benchwright_catalog::{Catalog, Found};
use benchwright_pack::{RefusalCode, Snapshot, SnapshotTable};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Domain, Stamp, arguments_schema};
use benchwright_world::Seat;
use std::sync::Arc;

fn erp() -> Found {
    Catalog::built_in().find("erp").unwrap()
}

/// A world in the making: rows by the names of their fields, the rest by default.
struct World {
    found: Found,
    tables: Vec<SnapshotTable>,
}

impl World {
    fn new() -> World {
        let found = erp();
        let empty = || SnapshotTable { next_id: 1, next_number: 1, rows: Vec::new() };
        let tables = found.domain.tables.iter().map(|_| empty()).collect();
        World { found, tables }
    }

    fn add(&mut self, table: &str, values: &[(&str, Value)]) -> u32 {
        let domain: &Domain = &self.found.domain;
        let id = domain.table_named(table).unwrap();
        let declared = domain.table(id);
        let rows = &mut self.tables[id.index()];
        let row = rows.next_id;
        rows.next_id += 1;
        let mut cells: Vec<Value> = declared.fields.iter().map(|f| f.default.clone().unwrap_or_default()).collect();
        cells[0] = Value::Ref(row);
        for (at, field) in declared.fields.iter().enumerate() {
            if matches!(field.stamp, Some(Stamp::OnCreate)) {
                cells[at] = Value::DateTime(domain.now);
            }
        }
        for (name, value) in values {
            cells[declared.field_named(name).unwrap().index()] = value.clone();
        }
        rows.rows.push(cells);
        row
    }

    fn word(&self, table: &str, field: &str, word: &str) -> Value {
        let declared = self.found.domain.table(self.found.domain.table_named(table).unwrap());
        let benchwright_expr::Type::Enum(id) = declared.field(declared.field_named(field).unwrap()).ty else {
            panic!("{table}.{field} has no words")
        };
        let words = &self.found.domain.enums[id.index()].words;
        Value::Enum(words.iter().position(|known| known == word).unwrap() as u16)
    }

    fn begin(self) -> Episode {
        let domain = &self.found.domain;
        let now = Date::parse("2031-05-05").unwrap().midnight();
        let snapshot = Snapshot {
            domain: domain.name.clone(),
            domain_digest: domain.digest,
            first: None,
            now,
            tables: self.tables,
        };
        // What is written down is what is loaded.
        let read = Snapshot::from_bytes(&snapshot.to_bytes(domain), domain).unwrap();
        let sandbox = Sandbox::from_snapshot(Arc::clone(domain), self.found.natives, &read).unwrap();
        Arc::new(sandbox).begin(&Seat { role: "planner".into(), actor: None }, Conditions::default()).unwrap()
    }
}

#[test]
fn the_tool_of_a_call_is_its_model_and_method_and_every_tool_has_code() {
    let found = erp();
    assert_eq!(found.tools_without_code(), Vec::<&str>::new());
    let models: Vec<&benchwright_schema::Table> = found.domain.tables.iter().filter(|t| t.odoo.is_some()).collect();
    for model in &models {
        assert_eq!(model.odoo.as_deref().unwrap().replace('.', "_"), model.name);
    }
    for tool in &found.domain.tools {
        let subject = tool.native.as_ref().and_then(benchwright_schema::Native::subject).unwrap();
        let model = found.domain.table(subject);
        assert!(model.odoo.is_some(), "{} is no model", model.name);
        assert!(tool.name.starts_with(&format!("{}_", model.name)), "{} is about {}", tool.name, model.name);
        assert!(tool.description.len() < 300 && tool.description.ends_with('.'), "{}", tool.description);
    }
    assert!((70..=112).contains(&found.domain.tools.len()), "{}", found.domain.tools.len());
}

#[test]
fn the_tool_list_is_not_too_long_to_be_read() {
    let domain = erp().domain;
    let sizes: Vec<usize> = domain
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + arguments_schema(&domain, tool).to_string().len())
        .collect();
    let whole: usize = sizes.iter().sum();
    println!("{} tools, {whole} bytes, largest {:?}", sizes.len(), sizes.iter().max());
    assert!(whole < 200_000, "{whole}");
}

#[test]
fn numbers_go_on_where_a_snapshot_ends() {
    let mut world = World::new();
    let partner = Value::Ref(world.add("res_partner", &[("name", Value::text("Blue Yard"))]));
    for number in 1..=3 {
        let name = Value::text(format!("S0000{number}"));
        world.add("sale_order", &[("name", name), ("partner_id", partner.clone())]);
    }
    let posted = world.word("account_move", "state", "posted");
    let name = Value::text("INV/2031/00007");
    world.add("account_move", &[("name", name), ("state", posted), ("partner_id", partner.clone())]);
    let mut episode = world.begin();
    let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments).unwrap();
    assert_eq!(call("sale_order_create", r#"{"vals_list":[{"partner_id":1}]}"#), "[4]");
    let read = call("sale_order_read", r#"{"ids":[4],"fields":["name","date_order"]}"#);
    assert_eq!(read, r#"[{"id":4,"name":"S00004","date_order":"2031-05-05 00:00:00"}]"#);
    assert_eq!(call("purchase_order_create", r#"{"vals_list":[{"partner_id":1}]}"#), "[1]");
    assert_eq!(
        call("purchase_order_read", r#"{"ids":[1],"fields":["name","state","amount_total"]}"#),
        r#"[{"id":1,"name":"P00001","state":"draft","amount_total":0}]"#
    );
    let line = r#"{"vals_list":[{"move_type":"out_invoice","partner_id":1,"invoice_line_ids":[[0,0,{"name":"x","price_unit":47.5}]]}]}"#;
    assert_eq!(call("account_move_create", line), "[2]");
    assert_eq!(call("account_move_action_post", r#"{"ids":[2]}"#), "false");
    let read = call("account_move_read", r#"{"ids":[2],"fields":["name","amount_total","invoice_date"]}"#);
    assert_eq!(read, r#"[{"id":2,"name":"INV/2031/00008","amount_total":47.5,"invoice_date":"2031-05-05"}]"#);
}

#[test]
fn a_seeded_plan_without_moves_can_be_read_changed_and_cancelled() {
    let mut world = World::new();
    for (name, usage) in
        [("Stock", "internal"), ("Vendors", "supplier"), ("Customers", "customer"), ("Shop", "production")]
    {
        let usage = world.word("stock_location", "usage", usage);
        world.add("stock_location", &[("name", Value::text(name)), ("usage", usage)]);
    }
    let vendor = Value::Ref(world.add("res_partner", &[("name", Value::text("Birch"))]));
    let part =
        Value::Ref(world.add("product_product", &[("name", Value::text("Part")), ("is_storable", Value::Bool(true))]));
    let good =
        Value::Ref(world.add("product_product", &[("name", Value::text("Good")), ("is_storable", Value::Bool(true))]));
    let centre = Value::Ref(world.add("mrp_workcenter", &[("name", Value::text("W1"))]));
    let state = world.word("purchase_order", "state", "purchase");
    world.add("purchase_order", &[("name", Value::text("P00001")), ("partner_id", vendor), ("state", state)]);
    let values = [
        ("order_id", Value::Ref(1)),
        ("product_id", part),
        ("product_qty", Value::Quantity(12_000)),
        ("price_unit", Value::Money(4_700)),
        ("technical_price_unit", Value::Money(4_700)),
    ];
    world.add("purchase_order_line", &values);
    let state = world.word("mrp_production", "state", "confirmed");
    let values = [
        ("name", Value::text("WH/MO/00001")),
        ("product_id", good),
        ("product_qty", Value::Quantity(3_000)),
        ("state", state),
    ];
    world.add("mrp_production", &values);
    world.add(
        "mrp_workorder",
        &[("production_id", Value::Ref(1)), ("name", Value::text("Build")), ("workcenter_id", centre)],
    );
    let mut episode = world.begin();
    let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments).unwrap();
    assert_eq!(
        call("purchase_order_search_read", r#"{"domain":[["state","=","purchase"]],"fields":["name","amount_total"]}"#),
        r#"[{"id":1,"name":"P00001","amount_total":564}]"#
    );
    assert_eq!(call("purchase_order_line_write", r#"{"ids":[1],"vals":{"product_qty":10}}"#), "true");
    assert_eq!(call("purchase_order_button_cancel", r#"{"ids":[1]}"#), "null");
    assert_eq!(call("mrp_production_action_cancel", r#"{"ids":[1]}"#), "true");
    assert_eq!(
        call("mrp_workorder_search_read", r#"{"fields":["state","production_state"]}"#),
        r#"[{"id":1,"state":"cancel","production_state":"cancel"}]"#
    );
    assert_eq!(call("mrp_production_create", r#"{"vals_list":[{"product_id":2}]}"#), "[2]");
    assert_eq!(call("mrp_production_read", r#"{"ids":[2],"fields":["name"]}"#), r#"[{"id":2,"name":"WH/MO/00002"}]"#);
}

#[test]
fn the_same_calls_give_the_same_bytes() {
    let run = || {
        let mut world = World::new();
        world.add("res_partner", &[("name", Value::text("Blue Yard"))]);
        let mut episode = world.begin();
        for _ in 0..3 {
            episode.call("sale_order_create", r#"{"vals_list":[{"partner_id":1}]}"#).unwrap();
        }
        let refusal = episode.call("sale_order_action_confirm", r#"{"ids":[99]}"#).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::NotFound);
        assert_eq!(episode.now().0, Date::parse("2031-05-05").unwrap().midnight().0 + 3);
        (episode.snapshot_bytes(), episode.table_len(RelationId(0)))
    };
    assert_eq!(run(), run());
}
