//! Record calls of the ERP domain against a plain reading of the rows: searches find exactly what a scan finds, and what is
//! created or written is what is read.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{FieldId, Stream, TableId, Value};
use benchwright_catalog::Catalog;
use benchwright_expr::Type;
use benchwright_sandbox::{Conditions, Episode, Row};
use benchwright_schema::{Domain, Field, codec};
use benchwright_world::Seat;
use serde_json::{Value as Any, json};
use std::path::Path;

/// The models that a test goes through: each has `search_read`.
const MODELS: [&str; 9] = [
    "res_partner",
    "product_product",
    "product_supplierinfo",
    "stock_move",
    "sale_order",
    "sale_order_line",
    "purchase_order_line",
    "mrp_production",
    "account_move",
];

fn episode(size: &str) -> Episode {
    let catalog = Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains"));
    let world = catalog.world("erp", size, 4).unwrap();
    world.begin(&Seat { role: "planner".into(), actor: None }, Conditions::default()).unwrap()
}

/// A value in the form of record calls.
fn plain(domain: &Domain, field: &Field, value: &Value) -> Any {
    let mut out = Vec::new();
    codec::write_value(&mut out, domain, field.ty, value);
    match (field.ty, serde_json::from_slice(&out).unwrap()) {
        (Type::DateTime, Any::String(text)) => json!(text.trim_end_matches('Z').replace('T', " ")),
        (_, Any::Null) => json!(false),
        (_, value) => value,
    }
}

/// A condition, with how a row is judged by it.
enum Tree {
    Leaf(FieldId, &'static str, Value),
    Not(Box<Tree>),
    Both(Box<[Tree; 2]>),
    Either(Box<[Tree; 2]>),
}

impl Tree {
    fn random(stream: &mut Stream, domain: &Domain, table: TableId, rows: &[&Row], depth: u32) -> Tree {
        let next = |stream: &mut Stream| Tree::random(stream, domain, table, rows, depth - 1);
        match stream.below(if depth == 0 { 1 } else { 6 }) {
            1 => Tree::Not(Box::new(next(stream))),
            2 => Tree::Both(Box::new([next(stream), next(stream)])),
            3 => Tree::Either(Box::new([next(stream), next(stream)])),
            _ => {
                let declared = domain.table(table);
                let at = stream.below(declared.fields.len() as u64) as usize;
                let value = stream.pick(rows).unwrap().cells()[at].clone();
                let ordered =
                    matches!(declared.fields[at].ty, Type::Int | Type::Money | Type::Quantity | Type::DateTime);
                let ops: &[&str] = if ordered && !value.is_null() {
                    &["=", "!=", "in", "not in", "<", "<=", ">", ">="]
                } else {
                    &["=", "!=", "in", "not in"]
                };
                Tree::Leaf(FieldId(at as u16), stream.pick(ops).unwrap(), value)
            }
        }
    }

    fn write(&self, domain: &Domain, table: TableId, out: &mut Vec<Any>) {
        match self {
            Tree::Leaf(id, op, value) => {
                let field = domain.table(table).field(*id);
                let value = plain(domain, field, value);
                out.push(json!([field.name, op, if op.ends_with("in") { json!([value]) } else { value }]));
            }
            Tree::Not(part) => {
                out.push(json!("!"));
                part.write(domain, table, out);
            }
            Tree::Both(parts) | Tree::Either(parts) => {
                out.push(json!(if matches!(self, Tree::Both(_)) { "&" } else { "|" }));
                parts.iter().for_each(|part| part.write(domain, table, out));
            }
        }
    }

    fn holds(&self, row: &Row) -> bool {
        match self {
            Tree::Leaf(id, op, value) => {
                let cell = row.get(*id);
                // Nothing, zero and false are one to a condition.
                let empty = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
                let same = cell == value || (empty(cell) && empty(value));
                match *op {
                    "=" | "in" => same,
                    "!=" | "not in" => !same,
                    "<" => !cell.is_null() && cell < value,
                    "<=" => !cell.is_null() && cell <= value,
                    ">" => !cell.is_null() && cell > value,
                    _ => !cell.is_null() && cell >= value,
                }
            }
            Tree::Not(part) => !part.holds(row),
            Tree::Both(parts) => parts.iter().all(|part| part.holds(row)),
            Tree::Either(parts) => parts.iter().any(|part| part.holds(row)),
        }
    }
}

#[test]
fn a_search_finds_exactly_the_rows_that_a_scan_finds() {
    let episode = episode("medium");
    let domain = episode.domain();
    let mut stream = Stream::new(7, &["record searches"]);
    let (mut some, mut most) = (0, 0);
    for round in 0..900 {
        let model = MODELS[round % MODELS.len()];
        let table = domain.table_named(model).unwrap();
        let rows: Vec<&Row> = episode.rows(table).collect();
        // A top level of several terms means that all of them hold.
        let trees: Vec<Tree> =
            (0..=stream.below(2)).map(|_| Tree::random(&mut stream, domain, table, &rows, 3)).collect();
        let mut conditions = Vec::new();
        trees.iter().for_each(|tree| tree.write(domain, table, &mut conditions));
        let arguments =
            json!({"domain": conditions, "fields": ["id"], "order": "id", "context": {"active_test": false}});
        let answer = episode.fork().call(&format!("{model}_search_read"), &arguments.to_string());
        let answer: Any =
            serde_json::from_str(&answer.unwrap_or_else(|refusal| panic!("{arguments}: {refusal}"))).unwrap();
        let found: Vec<u64> = answer.as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect();
        let meant: Vec<u64> =
            rows.iter().filter(|row| trees.iter().all(|tree| tree.holds(row))).map(|row| u64::from(row.id())).collect();
        assert_eq!(found, meant, "{model} {arguments}");
        some += usize::from(!found.is_empty());
        most += usize::from(found.len() == rows.len());
    }
    assert!(some > 300 && most < 800, "{some} found something, {most} everything");
}

#[test]
fn an_order_sorts_and_pages_cut() {
    let episode = episode("medium");
    let call = |arguments: Any| -> Any {
        serde_json::from_str(&episode.fork().call("sale_order_search_read", &arguments.to_string()).unwrap()).unwrap()
    };
    let fields = json!(["partner_id", "commitment_date"]);
    let whole = call(json!({"fields": fields, "order": "partner_id desc, commitment_date asc, id desc"}));
    let whole = whole.as_array().unwrap();
    let key = |row: &Any| {
        let partner = row["partner_id"][0].as_i64().unwrap();
        (-partner, row["commitment_date"].as_str().unwrap().to_owned(), -row["id"].as_i64().unwrap())
    };
    assert!(whole.len() > 100 && whole.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
    let order = "partner_id desc, commitment_date, id desc";
    let page = call(json!({"fields": fields, "order": order, "offset": 20, "limit": 10}));
    assert_eq!(page.as_array().unwrap()[..], whole[20..30]);
}

#[test]
fn what_is_created_or_written_is_what_is_read() {
    let mut episode = episode("small");
    let vals = json!({
        "name": "Späth \"& Söhne\"", "ref": "V-9", "email": false, "is_company": true, "supplier_rank": 3,
        "comment": "line one\nline two",
    });
    let made = episode.call("res_partner_create", &json!({"vals_list": [vals]}).to_string()).unwrap();
    let ids: Any = serde_json::from_str(&made).unwrap();
    let names: Vec<&String> = vals.as_object().unwrap().keys().collect();
    let read = episode.call("res_partner_read", &json!({"ids": ids, "fields": names}).to_string()).unwrap();
    let read: Any = serde_json::from_str(&read).unwrap();
    for (name, value) in vals.as_object().unwrap() {
        assert_eq!(read[0][name], *value, "{name}");
    }
    let offer = json!({"partner_id": ids[0], "product_tmpl_id": 1, "min_qty": 2.5, "price": 19.99, "delay": 4,
        "date_start": "2031-01-01", "discount": 12.5});
    let made = episode.call("product_supplierinfo_create", &json!({"vals_list": [offer]}).to_string()).unwrap();
    let read = episode
        .call(
            "product_supplierinfo_search_read",
            &json!({"domain": [["id", "in", serde_json::from_str::<Any>(&made).unwrap()]]}).to_string(),
        )
        .unwrap();
    let read: Any = serde_json::from_str(&read).unwrap();
    for name in ["min_qty", "price", "delay", "date_start", "discount"] {
        assert_eq!(read[0][name], offer[name], "{name}");
    }
    assert_eq!(read[0]["partner_id"], json!([ids[0], "Späth \"& Söhne\""]));
}
