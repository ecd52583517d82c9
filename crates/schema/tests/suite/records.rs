//! Record calls: tables with derived fields, native tools that take fields, conditions and names of fields as raw JSON and
//! answer in a form of their own, and the schemas that follow from them.

use crate::common::{self, golden};
use benchwright_schema::{DerivedKind, Domain, Folder, Shape, arguments_schema, load, result_schema};

const TABLES: &str = r#"
[basket]
odoo = "shop.basket"
owner = "-> person"
due = "datetime?"
note = "text(..40)?"
grade = "Grade?"
size = "int(1..9) = 1"
made_on = "datetime server on create"
items = "many basket_item by basket"
tags = "many product through basket_tag by basket, product"
total = "money derived"
keeper = "-> person derived"
alike = "many basket derived"

[basket_item]
basket = "-> basket owned"
product = "-> product"
amount = "quantity = 1"

[basket_tag]
basket = "-> basket owned"
product = "-> product"
"#;

const TOOLS: &str = r#"
basket_create = "native takes rows: list of new of basket!, context: json gives json reads * writes basket, basket_item, basket_tag: make baskets"
basket_write  = "native takes ids: list of -> basket!, vals: vals of basket! gives json reads basket writes basket: change baskets"
basket_find   = "native takes domain: domain of basket, fields: fields of basket, limit: int(0..) gives json reads basket: find baskets"
"#;

fn shop() -> Folder {
    let mut folder = common::shop();
    folder.files.entry("tables.toml".into()).or_default().push_str(TABLES);
    folder.files.entry("tools.toml".into()).or_default().push_str(TOOLS);
    folder
}

fn loaded() -> Domain {
    load(&shop()).unwrap_or_else(|faults| panic!("{}", common::shown(&faults)))
}

#[test]
fn derived_fields_are_resolved_and_are_no_cells() {
    let shop = loaded();
    let id = shop.table_named("basket").unwrap();
    let basket = shop.table(id);
    assert_eq!(basket.odoo.as_deref(), Some("shop.basket"));
    let cells: Vec<&str> = basket.fields.iter().map(|field| &*field.name).collect();
    assert_eq!(cells, ["id", "owner", "due", "note", "grade", "size", "made_on"]);
    let kind = |name: &str| basket.derived_named(name).unwrap().kind;
    let (item, tag) = (shop.table_named("basket_item").unwrap(), shop.table_named("basket_tag").unwrap());
    let field = |table, name| shop.table(table).field_named(name).unwrap();
    assert_eq!(kind("items"), DerivedKind::Children { table: item, field: field(item, "basket") });
    assert_eq!(
        kind("tags"),
        DerivedKind::Linked {
            table: shop.table_named("product").unwrap(),
            link: tag,
            from: field(tag, "basket"),
            to: field(tag, "product")
        }
    );
    assert_eq!(kind("alike"), DerivedKind::Rows(id));
    assert_eq!(kind("alike").rows(), Some(id));
    assert!(matches!(kind("total"), DerivedKind::Value(benchwright_expr::Type::Money)));
    assert!(basket.field_named("total").is_none() && basket.field_names().any(|name| name == "total"));
}

#[test]
fn record_calls_say_what_they_take_and_about_which_table() {
    let shop = loaded();
    let basket = shop.table_named("basket").unwrap();
    let native = |name: &str| shop.tools[shop.tool_named(name).unwrap()].native.as_ref().unwrap();
    let create = native("basket_create");
    assert!(create.json && !create.many && create.takes[0].list && create.takes[0].required);
    assert_eq!((create.takes[0].shape, create.takes[1].shape), (Shape::New(basket), Shape::Json));
    assert_eq!(create.reads.len(), shop.tables.len());
    assert_eq!(native("basket_write").takes[1].shape, Shape::Vals(basket));
    let find = native("basket_find");
    assert_eq!((find.takes[0].shape, find.takes[1].shape), (Shape::Domain(basket), Shape::Fields(basket)));
    for name in ["basket_create", "basket_write", "basket_find"] {
        assert_eq!(native(name).subject(), Some(basket), "{name}");
    }
    assert_eq!(native("orders_overdue").subject(), None);
}

#[test]
fn their_schemas_have_the_fields_of_the_table() {
    let shop = loaded();
    let schemas: serde_json::Map<String, serde_json::Value> = ["basket_create", "basket_write", "basket_find"]
        .into_iter()
        .map(|name| {
            let tool = &shop.tools[shop.tool_named(name).unwrap()];
            assert_eq!(result_schema(&shop, tool), serde_json::json!({}));
            (name.to_owned(), arguments_schema(&shop, tool))
        })
        .collect();
    golden("records.json", &format!("{}\n", serde_json::to_string_pretty(&schemas).unwrap()));
}

#[test]
fn code_stands_in_a_folder_of_its_own() {
    let mut folder = shop();
    folder.files.insert("Cargo.toml".into(), "[package]".into());
    assert!(load(&folder).is_ok());
    folder.files.insert("native.rs".into(), "//! Code.".into());
    let faults = load(&folder).unwrap_err();
    assert_eq!(faults.len(), 1);
    let told = faults[0].to_string();
    assert!(told.contains("native.rs") && told.contains("code stands in `src/`"), "{told}");
}
