//! The conformance list: named cases of what Odoo does that surprises, made on both engines and compared call by call and
//! state by state.

use super::pair::{Keys, Shared, answers_differ};
use crate::error::{Error, OrWrong as _, Result};
use benchwright_base::Value;
use benchwright_pack::{Snapshot, Step, script::at};
use benchwright_schema::Domain;
use serde_json::{Value as Json, json};

/// What came of a case.
pub struct Outcome {
    /// What it is about.
    pub name: &'static str,
    /// How many calls were made.
    pub calls: usize,
    /// In what the two differ.
    pub faults: Vec<String>,
}

/// The records of a world that cases speak of.
struct World<'s> {
    shared: &'s Shared,
    customer: String,
    /// A vendor that offers a product, in units from which on, and one that does not.
    vendor: String,
    stranger: String,
    product: String,
    from: i64,
    /// The code of a product with a recipe, and a work centre that is not its usual one.
    made: String,
    centre: String,
    draft: String,
}

type Case = (&'static str, fn(&World<'_>) -> Vec<Step>);

/// The cases, by name.
const CASES: [Case; 30] = [
    ("a line without a price takes the lowest tier", lowest_tier),
    ("a new quantity resets price and date", quantity_resets),
    ("a price written by hand is kept", by_hand),
    ("a vendor without an offer gets one", stranger),
    ("a finished build may be left open", unfinished),
    ("a deposit of 30 percent, then the rest", percent),
    ("a fixed deposit, then the rest", fixed),
    ("a confirmed purchase is cancelled", cancelled),
    ("start and deadline of a build are written", dates),
    ("the goods of a build follow its deadline", goods_follow),
    ("the parts of a draft build follow its units", draft_units),
    ("the parts of a confirmed build do not follow its units", confirmed_units),
    ("the parts and goods of a confirmed build are written", parts_written),
    ("a finished build is asked what it consumed", asked_again),
    ("planning moves the centre", planned),
    ("what is confirmed is confirmed once", twice),
    ("an origin comes back as it was written", origin),
    ("a discount counts", discount),
    ("a record that is not there reads as nothing", missing),
    ("errors have Odoo's form and status", errors),
    ("a refused call leaves what earlier calls did", not_atomic),
    ("a sales price written over survives another quantity", sales_price),
    ("a deposit on an order without value bills nothing", no_value),
    ("a cancelled sale takes its draft invoices along", sale_cancelled),
    ("a delivery whose lines are deleted is nobody's", nobodys),
    ("a locked sale is not cancelled", sale_locked),
    ("every purchase goes back to a draft", back_to_draft),
    ("lines and lists take the commands 0 to 6", commands),
    ("a count that is applied changes stock", counted),
    ("a sale of what is made orders no build", nothing_ordered),
];

/// The cases of a world whose first recipe's product is made to order.
const TO_ORDER: [Case; 1] = [("what is made to order is ordered with the sale", ordered)];

/// Odoo's name of the route that makes to order.
const ROUTE: &str = "Replenish on Order (MTO)";

/// Runs every case on both.
pub(crate) fn run(shared: &Shared) -> Result<Vec<Outcome>> {
    run_list(shared, &CASES)
}

/// Runs the cases of a world that `make_to_order` changed.
pub(crate) fn run_to_order(shared: &Shared) -> Result<Vec<Outcome>> {
    run_list(shared, &TO_ORDER)
}

/// Gives the product of the first recipe the route that makes to order. Worlds of tasks have no such route.
pub(crate) fn make_to_order(domain: &Domain, keys: &Keys, first: &mut Snapshot) -> Result<()> {
    let bom = keys.get("mrp_bom").and_then(|rows| rows.values().find(|key| key.starts_with("bom/")));
    let product = bom.map(|key| key.replacen("bom/", "product/", 1));
    let products = keys.get("product_product").into_iter().flatten();
    let product = products.filter(|(_, key)| Some(*key) == product.as_ref()).map(|(id, _)| Value::Ref(*id)).next();
    let product = product.ok_or_else(|| Error::Wrong("the world has no recipe".to_owned()))?;
    let mut add = |name: &str, cells: &[(&str, Value)]| -> Result<Value> {
        let at = domain.table_named(name).ok_or_else(|| Error::Wrong(format!("there is no table {name}")))?;
        let declared = domain.table(at);
        let table = &mut first.tables[at.index()];
        let id = Value::Ref(table.next_id);
        let mut row: Vec<Value> =
            declared.fields.iter().map(|field| field.default.clone().unwrap_or_default()).collect();
        row[0] = id.clone();
        for (field, value) in cells {
            let field = declared.field_named(field).ok_or_else(|| Error::Wrong(format!("{name} has no {field}")))?;
            row[field.index()] = value.clone();
        }
        table.next_id += 1;
        table.rows.push(row);
        Ok(id)
    };
    // The second word of the procurement methods.
    let to_order = Value::Enum(1);
    let route = add("stock_route", &[("name", Value::text(ROUTE)), ("sequence", Value::Int(5))])?;
    let rule = [("name", Value::text("WH: make to order")), ("route_id", route.clone()), ("procure_method", to_order)];
    add("stock_rule", &rule)?;
    add("stock_route_product", &[("product_id", product), ("route_id", route)])?;
    Ok(())
}

fn run_list(shared: &Shared, cases: &[Case]) -> Result<Vec<Outcome>> {
    let world = World::of(shared)?;
    let mut outcomes = Vec::new();
    for &(name, steps) in cases {
        let mut pair = shared.begin()?;
        let mut outcome = Outcome { name, calls: 0, faults: Vec::new() };
        for step in steps(&world) {
            let Some(both) = pair.step(&step)? else {
                outcome.faults.push(format!("{}/{}: a key is bound to nothing", step.model, step.method));
                break;
            };
            outcome.calls += 1;
            outcome.faults.extend(answers_differ(&step, &both, pair.done()));
            let named = |answer: &benchwright_odoo::Answer| {
                serde_json::from_str::<Json>(&answer.body)
                    .ok()
                    .and_then(|said| said["name"].as_str().map(str::to_owned))
            };
            // Errors that have a name have the same one, but for the kinds of refusal that Odoo has two words for.
            if both.odoo.status >= 400 && both.odoo.status != 422 && named(&both.twin) != named(&both.odoo) {
                outcome.faults.push(format!("{:?} and {:?}", named(&both.twin), named(&both.odoo)));
            }
        }
        let differences = pair.differences()?;
        outcome.faults.extend(differences.iter().map(|difference| format!("{difference:?}")));
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

impl<'s> World<'s> {
    fn of(shared: &'s Shared) -> Result<World<'s>> {
        let first = |table: &str, begin: &str| {
            let found = shared.keys_of(table, begin).into_iter().next();
            found.ok_or_else(|| Error::Wrong(format!("the world has no {table} for the cases")))
        };
        let offer = first("product_supplierinfo", "offer/")?;
        let parts: Vec<&str> = offer.split('/').collect();
        let [_, vendor, code, from] = parts[..] else {
            return Err(Error::Wrong(format!("`{offer}` is no key of an offer")));
        };
        let sells = |vendor: &str| {
            let reference = vendor.replacen("vendor/", "", 1);
            !shared.keys_of("product_supplierinfo", &format!("offer/{reference}/{code}/")).is_empty()
        };
        let stranger = shared.keys_of("res_partner", "vendor/").into_iter().find(|vendor| !sells(vendor));
        Ok(World {
            shared,
            customer: first("res_partner", "customer/")?,
            vendor: format!("vendor/{vendor}"),
            stranger: stranger.ok_or_else(|| Error::Wrong(format!("every vendor sells {code}")))?,
            product: format!("product/{code}"),
            from: from.parse().or_wrong(|| &*offer)?,
            made: first("mrp_bom", "bom/")?.replacen("bom/", "", 1),
            centre: shared.keys_of("mrp_workcenter", "centre/").into_iter().next_back().unwrap_or_default(),
            draft: first("sale_order", "record/")?,
        })
    }

    fn noon(&self, days: i64) -> String {
        let midnight = self.shared.first.now.date().midnight().0;
        let noon = benchwright_base::DateTime(midnight + days * benchwright_base::date::DAY + 12 * 3600);
        noon.to_string().replace('T', " ").replace('Z', "")
    }

    fn purchase(&self, vendor: &str, mut line: Json) -> Vec<Step> {
        line["product_id"] = at(&self.product);
        let vals = json!({ "partner_id": at(vendor), "date_order": self.noon(0), "origin": "S00001", "order_line": [[0, 0, line]] });
        vec![
            Step::call("purchase.order", "create", json!({ "vals_list": [vals] })).bind("po"),
            Step::call(
                "purchase.order",
                "read",
                json!({ "ids": [at("po")], "fields": ["order_line", "state", "amount_total"] }),
            )
            .bind("line")
            .take("order_line"),
            self.line(),
        ]
    }

    fn line(&self) -> Step {
        let fields = ["product_qty", "price_unit", "discount", "date_planned", "price_subtotal"];
        Step::call("purchase.order.line", "read", json!({ "ids": [at("line")], "fields": fields }))
    }

    fn build(&self) -> Vec<Step> {
        let vals = json!({
            "product_id": at(&format!("product/{}", self.made)), "bom_id": at(&format!("bom/{}", self.made)),
            "product_qty": 3, "date_start": self.noon(4), "date_deadline": self.noon(9), "origin": "S00001",
        });
        let find = json!({ "ids": [at("mo")], "fields": ["workorder_ids", "state", "date_start", "date_finished", "date_deadline"] });
        vec![
            Step::call("mrp.production", "create", json!({ "vals_list": [vals] })).bind("mo"),
            Step::call("mrp.production", "read", find).bind("wo").take("workorder_ids"),
        ]
    }

    fn bill(&self, how: Json) -> Vec<Step> {
        let context =
            json!({ "active_model": "sale.order", "active_ids": [at(&self.draft)], "active_id": at(&self.draft) });
        // The earlier invoice of the order is posted, so the draft is the new one.
        let find = json!({ "domain": [["state", "=", "draft"], ["move_type", "=", "out_invoice"]], "fields": ["id"] });
        let fields = ["state", "amount_untaxed", "amount_tax", "amount_total"];
        vec![
            Step::call("sale.advance.payment.inv", "create", json!({ "vals_list": [how], "context": context }))
                .bind("wizard"),
            Step::call(
                "sale.advance.payment.inv",
                "create_invoices",
                json!({ "ids": [at("wizard")], "context": context }),
            ),
            Step::call("account.move", "search_read", find).bind("invoice").take("id"),
            press("account.move", "action_post", "invoice"),
            Step::call("account.move", "read", json!({ "ids": [at("invoice")], "fields": fields })),
        ]
    }
}

fn press(model: &str, method: &str, key: &str) -> Step {
    Step::call(model, method, json!({ "ids": [at(key)] }))
}

fn write(model: &str, key: &str, vals: Json) -> Step {
    Step::call(model, "write", json!({ "ids": [at(key)], "vals": vals }))
}

fn lowest_tier(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.purchase(&world.vendor, json!({ "product_qty": world.from + 200 }));
    steps.push(write("purchase.order.line", "line", json!({ "product_qty": world.from + 201 })));
    steps.push(world.line());
    steps
}

fn quantity_resets(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": world.from + 9, "price_unit": 3.9, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    steps.push(write("purchase.order.line", "line", json!({ "product_qty": world.from + 9 })));
    steps.push(world.line());
    steps.push(press("purchase.order", "button_confirm", "po"));
    steps.push(write("purchase.order.line", "line", json!({ "product_qty": world.from })));
    steps.push(world.line());
    steps
}

fn by_hand(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": world.from + 9, "price_unit": 3.9, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    steps.push(write("purchase.order.line", "line", json!({ "price_unit": 3.5 })));
    steps.push(write("purchase.order.line", "line", json!({ "product_qty": world.from })));
    steps.push(world.line());
    steps
}

fn stranger(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": 7, "price_unit": 3.3, "date_planned": world.noon(9) });
    let mut steps = world.purchase(&world.stranger, line);
    steps.push(press("purchase.order", "button_confirm", "po"));
    let offers = json!({ "domain": [["partner_id", "=", at(&world.stranger)]], "fields": ["price", "min_qty", "delay"], "order": "id" });
    steps.push(Step::call("product.supplierinfo", "search_read", offers));
    steps
}

fn unfinished(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(press("mrp.production", "action_confirm", "mo"));
    steps.push(write("mrp.production", "mo", json!({ "qty_producing": 3 })));
    steps.push(press("mrp.production", "button_mark_done", "mo"));
    steps.push(Step::call(
        "mrp.production",
        "read",
        json!({ "ids": [at("mo")], "fields": ["state", "qty_producing"] }),
    ));
    steps
}

fn percent(world: &World<'_>) -> Vec<Step> {
    let mut steps = vec![press("sale.order", "action_confirm", &world.draft)];
    steps.extend(world.bill(json!({ "advance_payment_method": "percentage", "amount": 30 })));
    steps.extend(world.bill(json!({ "advance_payment_method": "delivered" })));
    steps
}

fn fixed(world: &World<'_>) -> Vec<Step> {
    let mut steps = vec![press("sale.order", "action_confirm", &world.draft)];
    steps.extend(world.bill(json!({ "advance_payment_method": "fixed", "fixed_amount": 125 })));
    steps.extend(world.bill(json!({ "advance_payment_method": "delivered" })));
    steps
}

fn cancelled(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": world.from, "price_unit": 4, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    steps.push(press("purchase.order", "button_confirm", "po"));
    steps.push(press("purchase.order", "button_cancel", "po"));
    steps.push(press("purchase.order", "button_cancel", "po"));
    steps.push(Step::call("purchase.order", "read", json!({ "ids": [at("po")], "fields": ["state"] })));
    steps
}

fn dates(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(press("mrp.production", "action_confirm", "mo"));
    steps.push(write("mrp.production", "mo", json!({ "date_start": world.noon(6) })));
    steps.push(write("mrp.production", "mo", json!({ "date_deadline": world.noon(12) })));
    steps.push(write("mrp.workorder", "wo", json!({ "date_start": world.noon(7) })));
    let fields = ["date_start", "date_finished", "date_deadline", "state"];
    steps.push(Step::call("mrp.production", "read", json!({ "ids": [at("mo")], "fields": fields })));
    steps
}

fn goods_follow(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(write("mrp.production", "mo", json!({ "date_deadline": world.noon(12) })));
    steps.push(write("mrp.workorder", "wo", json!({ "workcenter_id": at(&world.centre) })));
    steps.push(press("mrp.production", "action_confirm", "mo"));
    steps.push(write("mrp.production", "mo", json!({ "date_deadline": world.noon(13) })));
    steps.push(press("mrp.production", "button_unplan", "mo"));
    // Nothing that bears on the end comes after this one, so the goods keep the day before.
    steps.push(write("mrp.production", "mo", json!({ "date_deadline": world.noon(14) })));
    steps.push(press("mrp.production", "action_confirm", "mo"));
    steps
}

/// Reads what a build takes and what it makes.
fn goods_of_the_build() -> [Step; 2] {
    ["raw_material_production_id", "production_id"].map(|field| {
        let fields = ["product_id", "product_uom_qty", "quantity", "state"];
        let args = json!({ "domain": [[field, "=", at("mo")]], "fields": fields, "order": "id" });
        Step::call("stock.move", "search_read", args)
    })
}

fn draft_units(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(write("mrp.production", "mo", json!({ "product_qty": 5 })));
    steps.extend(goods_of_the_build());
    steps.push(press("mrp.production", "action_confirm", "mo"));
    steps.extend(goods_of_the_build());
    steps
}

fn confirmed_units(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(press("mrp.production", "action_confirm", "mo"));
    for units in [5, 2] {
        steps.push(write("mrp.production", "mo", json!({ "product_qty": units })));
        steps.extend(goods_of_the_build());
    }
    let fields = ["product_qty", "state", "date_start", "date_finished", "date_deadline"];
    steps.push(Step::call("mrp.production", "read", json!({ "ids": [at("mo")], "fields": fields })));
    steps
}

fn parts_written(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(press("mrp.production", "action_confirm", "mo"));
    let find = |field: &str, key: &str| {
        let args = json!({ "domain": [[field, "=", at("mo")]], "fields": ["id"], "order": "id" });
        Step::call("stock.move", "search_read", args).bind(key).take("id")
    };
    steps.extend([find("raw_material_production_id", "part"), find("production_id", "goods")]);
    for units in [40, 2] {
        let parts = json!([[1, at("part"), { "product_uom_qty": 2 * units }]]);
        let goods = json!([[1, at("goods"), { "product_uom_qty": units }]]);
        let vals = json!({ "product_qty": units, "move_raw_ids": parts, "move_finished_ids": goods });
        steps.push(write("mrp.production", "mo", vals));
        steps.extend(goods_of_the_build());
    }
    steps
}

fn asked_again(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(press("mrp.production", "action_confirm", "mo"));
    steps.push(press("mrp.production", "button_mark_done", "mo"));
    steps.push(press("mrp.production", "button_mark_done", "mo"));
    steps.push(write("mrp.production", "mo", json!({ "qty_producing": 1 })));
    steps.push(press("mrp.production", "button_mark_done", "mo"));
    let fields = ["state", "qty_producing"];
    steps.push(Step::call("mrp.production", "read", json!({ "ids": [at("mo")], "fields": fields })));
    steps
}

fn planned(world: &World<'_>) -> Vec<Step> {
    let mut steps = world.build();
    steps.push(write("mrp.workorder", "wo", json!({ "workcenter_id": at(&world.centre) })));
    steps.push(press("mrp.production", "button_plan", "mo"));
    let fields = ["date_start", "date_finished", "duration_expected", "state"];
    steps.push(Step::call("mrp.workorder", "read", json!({ "ids": [at("wo")], "fields": fields })));
    steps.push(write("mrp.production", "mo", json!({ "date_start": world.noon(8) })));
    steps.push(press("mrp.production", "button_plan", "mo"));
    steps.push(press("mrp.production", "button_unplan", "mo"));
    steps
}

fn twice(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": world.from, "price_unit": 4, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    steps.extend(world.build());
    for (model, method, key) in [
        ("purchase.order", "button_confirm", "po"),
        ("mrp.production", "action_confirm", "mo"),
        ("sale.order", "action_confirm", &*world.draft),
    ] {
        steps.push(press(model, method, key));
        steps.push(press(model, method, key));
    }
    steps
}

fn origin(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": world.from, "price_unit": 4, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    for origin in [json!("S00001, WH/MO/00001"), json!("  spaced , text"), json!(false)] {
        steps.push(write("purchase.order", "po", json!({ "origin": origin })));
        let only = json!({ "domain": [["origin", "=", origin]], "fields": ["state"] });
        steps.push(Step::call("purchase.order", "search_read", only));
    }
    steps
}

fn discount(world: &World<'_>) -> Vec<Step> {
    let line =
        json!({ "product_qty": world.from, "price_unit": 19.99, "discount": 12.5, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    let line = json!({ "product_id": at(&world.product), "product_uom_qty": 7, "price_unit": 19.99, "discount": 33 });
    let vals =
        json!({ "partner_id": at(&world.customer), "commitment_date": world.noon(20), "order_line": [[0, 0, line]] });
    steps.push(Step::call("sale.order", "create", json!({ "vals_list": [vals] })).bind("so"));
    steps.push(Step::call(
        "sale.order",
        "read",
        json!({ "ids": [at("so")], "fields": ["amount_untaxed", "amount_total"] }),
    ));
    steps
}

fn missing(_: &World<'_>) -> Vec<Step> {
    let models = ["sale.order", "purchase.order", "mrp.production", "product.product", "account.move"];
    models.iter().map(|model| Step::call(model, "read", json!({ "ids": [99_999_999], "fields": ["name"] }))).collect()
}

fn errors(world: &World<'_>) -> Vec<Step> {
    vec![
        Step::call("sale.order", "no_such_method", json!({})),
        Step::call("no.such.model", "read", json!({ "ids": [1] })),
        Step::call("sale.order", "_compute_state", json!({})),
        Step::call("sale.order", "write", json!({ "ids": [at(&world.draft)] })),
        Step::call("sale.order", "search", json!({})),
        Step::call("sale.order", "search", json!({ "domain": [["no_such_field", "=", 1]] })),
        Step::call("sale.order", "fields_get", json!({ "surplus": 1 })),
        Step::call("sale.order", "create", json!({ "vals_list": [{}] })),
        write("sale.order", &world.draft, json!({ "no_such_field": 1 })),
        write("sale.order", &world.draft, json!({ "commitment_date": "whenever" })),
        Step::call("sale.order", "action_confirm", json!({ "ids": [99_999_999] })),
        Step::call("purchase.order", "unlink", json!({ "ids": [99_999_999] })),
    ]
}

fn not_atomic(world: &World<'_>) -> Vec<Step> {
    vec![
        write("sale.order", &world.draft, json!({ "client_order_ref": "kept" })),
        write("sale.order", &world.draft, json!({ "client_order_ref": "lost", "no_such_field": 1 })),
        press("sale.order", "action_confirm", &world.draft),
        Step::call("sale.order", "read", json!({ "ids": [at(&world.draft)], "fields": ["client_order_ref", "state"] })),
    ]
}

/// A sale of a product, bound to `so`, with its line bound to `sol`.
fn sale(world: &World<'_>, line: Json) -> Vec<Step> {
    let mut line = line;
    line["product_id"] = at(&world.product);
    let vals =
        json!({ "partner_id": at(&world.customer), "commitment_date": world.noon(20), "order_line": [[0, 0, line]] });
    let find = json!({ "ids": [at("so")], "fields": ["order_line", "state", "amount_total"] });
    vec![
        Step::call("sale.order", "create", json!({ "vals_list": [vals] })).bind("so"),
        Step::call("sale.order", "read", find).bind("sol").take("order_line"),
    ]
}

fn sale_line() -> Step {
    let fields = ["product_uom_qty", "price_unit", "technical_price_unit", "price_subtotal"];
    Step::call("sale.order.line", "read", json!({ "ids": [at("sol")], "fields": fields }))
}

fn bill_sale(how: Json) -> Vec<Step> {
    let context = json!({ "active_model": "sale.order", "active_ids": [at("so")], "active_id": at("so") });
    let make = json!({ "ids": [at("wizard")], "context": context });
    vec![
        Step::call("sale.advance.payment.inv", "create", json!({ "vals_list": [how], "context": context }))
            .bind("wizard"),
        Step::call("sale.advance.payment.inv", "create_invoices", make),
        Step::call("sale.order", "read", json!({ "ids": [at("so")], "fields": ["invoice_count", "invoice_status"] })),
    ]
}

fn sales_price(world: &World<'_>) -> Vec<Step> {
    let mut steps = sale(world, json!({ "product_uom_qty": 3, "price_unit": 19.5 }));
    for vals in [
        json!({ "product_uom_qty": 3 }),
        json!({ "price_unit": 12.25 }),
        json!({ "product_uom_qty": 5 }),
        json!({ "product_uom_qty": 6, "price_unit": 11 }),
        json!({ "product_uom_qty": 7 }),
    ] {
        steps.push(write("sale.order.line", "sol", vals));
        steps.push(sale_line());
    }
    steps
}

fn no_value(world: &World<'_>) -> Vec<Step> {
    let mut steps = sale(world, json!({ "product_uom_qty": 3, "price_unit": 0 }));
    steps.push(press("sale.order", "action_confirm", "so"));
    steps.extend(bill_sale(json!({ "advance_payment_method": "percentage", "amount": 30 })));
    steps.extend(bill_sale(json!({ "advance_payment_method": "fixed", "fixed_amount": 50 })));
    let find =
        json!({ "domain": [["state", "=", "draft"]], "fields": ["amount_total", "invoice_line_ids"], "order": "id" });
    steps.push(Step::call("account.move", "search_read", find));
    steps
}

fn sale_cancelled(world: &World<'_>) -> Vec<Step> {
    let mut steps = sale(world, json!({ "product_uom_qty": 3, "price_unit": 20 }));
    steps.push(press("sale.order", "action_confirm", "so"));
    steps.extend(bill_sale(json!({ "advance_payment_method": "delivered" })));
    steps.push(press("sale.order", "action_cancel", "so"));
    let find = json!({ "domain": [["move_type", "=", "out_invoice"]], "fields": ["state"], "order": "id" });
    steps.push(Step::call("account.move", "search_read", find));
    steps.push(Step::call("sale.order", "read", json!({ "ids": [at("so")], "fields": ["state", "picking_ids"] })));
    steps
}

fn nobodys(world: &World<'_>) -> Vec<Step> {
    let mut steps = sale(world, json!({ "product_uom_qty": 3, "price_unit": 20 }));
    steps.push(press("sale.order", "action_confirm", "so"));
    steps.push(press("sale.order", "action_cancel", "so"));
    steps.push(press("sale.order.line", "unlink", "sol"));
    steps.push(Step::call("sale.order", "read", json!({ "ids": [at("so")], "fields": ["state", "picking_ids"] })));
    steps
}

fn sale_locked(world: &World<'_>) -> Vec<Step> {
    let mut steps = sale(world, json!({ "product_uom_qty": 3, "price_unit": 20 }));
    for method in ["action_confirm", "action_lock", "action_cancel", "action_unlock", "action_cancel", "action_draft"] {
        steps.push(press("sale.order", method, "so"));
        steps.push(Step::call("sale.order", "read", json!({ "ids": [at("so")], "fields": ["state", "locked"] })));
    }
    steps
}

fn back_to_draft(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_qty": world.from, "price_unit": 4, "date_planned": world.noon(30) });
    let mut steps = world.purchase(&world.vendor, line);
    for method in ["button_draft", "button_confirm", "button_draft", "button_cancel", "button_draft"] {
        steps.push(press("purchase.order", method, "po"));
        steps.push(Step::call("purchase.order", "read", json!({ "ids": [at("po")], "fields": ["state"] })));
    }
    steps
}

fn commands(world: &World<'_>) -> Vec<Step> {
    let line = |units: i64| json!({ "product_id": at(&world.product), "product_uom_qty": units, "price_unit": 9 });
    let mut steps = sale(world, json!({ "product_uom_qty": 3, "price_unit": 20 }));
    let find = || {
        let find = json!({ "ids": [at("so")], "fields": ["order_line", "amount_total"] });
        Step::call("sale.order", "read", find).bind("sol").take("order_line")
    };
    for commands in [
        json!([[0, 0, line(2)], [0, 0, line(5)]]),
        json!([[1, at("sol"), { "product_uom_qty": 8 }]]),
        json!([[2, at("sol")]]),
        json!([[3, at("sol")]]),
    ] {
        steps.push(write("sale.order", "so", json!({ "order_line": commands })));
        steps.push(find());
    }
    let centres = world.shared.keys_of("mrp_workcenter", "centre/");
    let Some([one, other]) = centres.first_chunk::<2>() else { return steps };
    for commands in [json!([[5]]), json!([[4, at(other)]]), json!([[3, at(other)]]), json!([[6, 0, [at(other)]]])] {
        steps.push(write("mrp.workcenter", one, json!({ "alternative_workcenter_ids": commands })));
        let fields = json!({ "ids": [at(one)], "fields": ["alternative_workcenter_ids"] });
        steps.push(Step::call("mrp.workcenter", "read", fields));
    }
    steps
}

fn counted(world: &World<'_>) -> Vec<Step> {
    let quants = world.shared.keys_of("stock_quant", "stock/");
    let mut steps = Vec::new();
    for quant in quants.iter().take(2) {
        for count in [17, 17, 0] {
            steps.push(write("stock.quant", quant, json!({ "inventory_quantity": count })));
            steps.push(press("stock.quant", "action_apply_inventory", quant));
            let only = json!({ "domain": [["id", "=", at(quant)]], "fields": ["quantity", "inventory_quantity", "inventory_quantity_set"] });
            steps.push(Step::call("stock.quant", "search_read", only));
        }
    }
    steps
}

fn ordered(world: &World<'_>) -> Vec<Step> {
    let mut steps = nothing_ordered(world);
    let fields = ["state", "product_qty", "date_start", "date_deadline", "date_finished"];
    steps.push(Step::call("mrp.production", "search_read", json!({ "domain": [], "fields": fields, "order": "id" })));
    steps
}

fn nothing_ordered(world: &World<'_>) -> Vec<Step> {
    let line = json!({ "product_id": at(&format!("product/{}", world.made)), "product_uom_qty": 50, "price_unit": 10 });
    let vals =
        json!({ "partner_id": at(&world.customer), "commitment_date": world.noon(20), "order_line": [[0, 0, line]] });
    vec![
        Step::call("sale.order", "create", json!({ "vals_list": [vals] })).bind("so"),
        press("sale.order", "action_confirm", "so"),
        Step::call("sale.order", "read", json!({ "ids": [at("so")], "fields": ["state", "mrp_production_ids"] })),
        Step::call("mrp.production", "search_count", json!({ "domain": [] })),
        Step::call("purchase.order", "search_count", json!({ "domain": [] })),
    ]
}
