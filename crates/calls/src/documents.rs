//! Calls by somebody who knows the business and its documents, legal and illegal: what a planner of an Odoo could do with the documents it has. So that no method
//! comes too seldom, each sequence owes one call that cannot stand and one piece of work that should, by turns.

use benchwright_base::{Date, DateTime, Stream, date::DAY};
use benchwright_pack::{Step, script::at};
use serde_json::{Map, Value as Json, json};

/// The draws at which a sequence does what it owes.
const OWED: [usize; 2] = [1, 3];

/// The kinds of bills.
pub const KINDS: [&str; 3] = ["percentage", "fixed", "delivered"];

/// Calls that sequences owe a refused one of, by turns.
const REFUSED: [(&str, &str); 23] = [
    ("sale.order", "search"),
    ("sale.order", "search_read"),
    ("sale.order", "search_count"),
    ("sale.order", "read"),
    ("sale.order", "fields_get"),
    ("sale.order", "create"),
    ("sale.order", "write"),
    ("sale.order", "unlink"),
    ("sale.order", "action_confirm"),
    ("sale.order", "action_cancel"),
    ("purchase.order", "button_confirm"),
    ("purchase.order", "button_cancel"),
    ("purchase.order", "button_draft"),
    ("mrp.production", "action_confirm"),
    ("mrp.production", "button_plan"),
    ("mrp.production", "button_mark_done"),
    ("mrp.production", "action_cancel"),
    ("mrp.workorder", "write"),
    ("sale.advance.payment.inv", "create_invoices"),
    ("sale.advance.payment.inv", "create_invoices"),
    ("sale.advance.payment.inv", "create_invoices"),
    ("account.move", "action_post"),
    ("stock.quant", "action_apply_inventory"),
];

/// A first state whose records have keys.
pub trait Keyed {
    /// The keys of a table that begin with a text, in order.
    fn keys(&self, table: &str, begin: &str) -> Vec<String>;
    /// The day.
    fn today(&self) -> Date;
}

/// The documents that a sequence has to do with, by key.
pub struct Moves {
    /// The day that dates are counted from.
    today: Date,
    stream: Stream,
    turn: usize,
    count: usize,
    draws: usize,
    customers: Vec<String>,
    vendors: Vec<String>,
    products: Vec<String>,
    /// Codes of products with a recipe.
    made: Vec<String>,
    centres: Vec<String>,
    offers: Vec<String>,
    quants: Vec<String>,
    terms: Vec<String>,
    sales: Vec<String>,
    sale_lines: Vec<String>,
    purchases: Vec<String>,
    purchase_lines: Vec<String>,
    builds: Vec<String>,
    works: Vec<String>,
    invoices: Vec<String>,
    transfers: Vec<String>,
}

/// What a drawn call is bound to become.
#[derive(Clone, Copy)]
enum Pool {
    Sales,
    SaleLines,
    Purchases,
    PurchaseLines,
    Builds,
    Works,
    Invoices,
    Transfers,
}

impl Moves {
    /// The documents of a world's first state.
    pub fn new(first: &dyn Keyed, seed: u64, turn: usize) -> Moves {
        let keys = |table: &str, begin: &str| first.keys(table, begin);
        let made = keys("mrp_bom", "bom/").iter().map(|key| key.replacen("bom/", "", 1)).collect();
        Moves {
            today: first.today(),
            stream: Stream::new(seed, &["odoo", "sequence", &turn.to_string()]),
            turn,
            count: 0,
            draws: 0,
            customers: keys("res_partner", "customer/"),
            vendors: keys("res_partner", "vendor/"),
            products: keys("product_product", "product/"),
            made,
            centres: keys("mrp_workcenter", "centre/"),
            offers: keys("product_supplierinfo", "offer/"),
            quants: keys("stock_quant", "stock/"),
            terms: keys("account_payment_term", "term/"),
            sales: keys("sale_order", "record/"),
            sale_lines: keys("sale_order_line", "record/"),
            purchases: keys("purchase_order", "po/"),
            purchase_lines: keys("purchase_order_line", "po/"),
            builds: keys("mrp_production", "mo/"),
            works: keys("mrp_workorder", "mo/"),
            invoices: Vec::new(),
            transfers: keys("stock_picking", ""),
        }
    }

    fn key(&mut self, pool: Pool, name: &str) -> String {
        self.count += 1;
        let key = format!("{name}{}", self.count);
        let pool = match pool {
            Pool::Sales => &mut self.sales,
            Pool::SaleLines => &mut self.sale_lines,
            Pool::Purchases => &mut self.purchases,
            Pool::PurchaseLines => &mut self.purchase_lines,
            Pool::Builds => &mut self.builds,
            Pool::Works => &mut self.works,
            Pool::Invoices => &mut self.invoices,
            Pool::Transfers => &mut self.transfers,
        };
        // What was made last is what is mostly worked on.
        pool.push(key.clone());
        pool.push(key.clone());
        pool.push(key.clone());
        key
    }

    fn one(&mut self, of: &[String]) -> Option<String> {
        self.stream.pick(of).cloned()
    }

    fn units(&mut self) -> Json {
        json!(self.stream.between(1, 60))
    }

    fn price(&mut self) -> Json {
        json!(self.stream.between(100, 20_000) as f64 / 100.0)
    }

    fn day(&mut self) -> String {
        let days = self.stream.between(1, 40);
        self.noon(days)
    }

    fn noon(&self, days: i64) -> String {
        let midnight = self.today.midnight().0;
        DateTime(midnight + days * DAY + 12 * 3600).to_string().replace('T', " ").replace('Z', "")
    }

    /// The next calls: mostly one, with those that find what it made.
    pub fn draw(&mut self) -> Vec<Step> {
        self.draws += 1;
        let owed = match OWED.iter().position(|draw| *draw == self.draws - 1) {
            Some(0) => self.work_owed(),
            Some(_) => self.refusal_owed(),
            None => None,
        };
        if let Some(steps) = owed {
            return steps;
        }
        loop {
            let weights = [10, 9, 7, 6, 10, 10, 8, 10, 9, 7, 6, 5, 7, 6, 5, 3, 5];
            let drawn = match self.stream.weighted(&weights).unwrap_or_default() {
                0 => self.new_sale(),
                1 => self.press(&[("sale.order", "action_confirm")], 0),
                2 => self.press(
                    &[
                        ("sale.order", "action_cancel"),
                        ("sale.order", "action_cancel"),
                        ("sale.order", "action_draft"),
                        ("sale.order", "action_lock"),
                        ("sale.order", "action_unlock"),
                    ],
                    0,
                ),
                3 => self.change_sale(),
                4 => self.new_purchase(),
                5 => self.press(&[("purchase.order", "button_confirm")], 1),
                6 => self.change_purchase(),
                7 => self.new_build(),
                8 => self.press(&[("mrp.production", "action_confirm"), ("mrp.production", "button_plan")], 2),
                9 => self.press(
                    &[
                        ("mrp.production", "action_cancel"),
                        ("mrp.production", "button_unplan"),
                        ("mrp.production", "action_assign"),
                        ("mrp.production", "button_mark_done"),
                        ("mrp.production", "button_mark_done"),
                    ],
                    2,
                ),
                10 => self.change_build(),
                11 => self.press(&[("purchase.order", "button_cancel"), ("purchase.order", "button_draft")], 1),
                12 => self.bill(),
                13 => self.move_goods(),
                14 => self.look(),
                15 => self.delete(),
                _ => self.master_data(),
            };
            if let Some(steps) = drawn.filter(|steps| !steps.is_empty()) {
                return self.spoil(steps);
            }
        }
    }

    /// Now and then a call is made that cannot stand.
    fn spoil(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        if !self.stream.chance(1, 8) {
            return steps;
        }
        let Some(step) = steps.first_mut() else { return steps };
        match self.stream.below(4) {
            0 if step.args.get("ids").is_some() && step.method != "read" => step.args["ids"] = json!([99_999_999]),
            1 => step.args["surplus"] = json!(1),
            2 if step.args.get("vals").is_some() => step.args["vals"]["no_such_field"] = json!(1),
            2 if step.args.get("vals_list").is_some() => step.args["vals_list"][0]["no_such_field"] = json!(1),
            2 if step.args.get("fields").is_some() => step.args["fields"] = json!(["no_such_field"]),
            2 if step.args.get("domain").is_some() => step.args["domain"] = json!([["no_such_field", "=", 1]]),
            3 if step.args.get("vals_list").is_some() => step.args = json!({ "vals_list": [{}] }),
            3 if step.args.get("vals").is_some() => {
                step.args.as_object_mut().map(|arguments| arguments.remove("vals"));
            }
            _ => return steps,
        }
        steps.truncate(1);
        steps
    }

    fn press(&mut self, buttons: &[(&str, &str)], of: usize) -> Option<Vec<Step>> {
        let pool = match of {
            0 => self.sales.clone(),
            1 => self.purchases.clone(),
            _ => self.builds.clone(),
        };
        let key = self.one(&pool)?;
        let (model, method) = *self.stream.pick(buttons)?;
        Some(vec![Step::call(model, method, json!({ "ids": [at(&key)] }))])
    }

    fn new_sale(&mut self) -> Option<Vec<Step>> {
        let (customers, products) = (self.customers.clone(), self.products.clone());
        let mut lines = Vec::new();
        for _ in 0..=self.stream.below(2) {
            let mut line = Map::from_iter([
                ("product_id".to_owned(), at(&self.one(&products)?)),
                ("product_uom_qty".to_owned(), self.units()),
            ]);
            if self.stream.chance(2, 3) {
                line.insert("price_unit".to_owned(), self.price());
            }
            if self.stream.chance(1, 6) {
                line.insert("discount".to_owned(), json!(self.stream.between(1, 50)));
            }
            lines.push(json!([0, 0, line]));
        }
        let mut vals = Map::from_iter([
            ("partner_id".to_owned(), at(&self.one(&customers)?)),
            ("commitment_date".to_owned(), self.day().into()),
            ("order_line".to_owned(), Json::Array(lines)),
        ]);
        if self.stream.chance(1, 2) {
            vals.insert("client_order_ref".to_owned(), format!("REF-{}", self.count).into());
        }
        if self.stream.chance(1, 3) {
            let terms = self.terms.clone();
            vals.insert("payment_term_id".to_owned(), at(&self.one(&terms)?));
        }
        let (order, line) = (self.key(Pool::Sales, "so"), self.key(Pool::SaleLines, "sol"));
        let find = json!({ "ids": [at(&order)], "fields": ["order_line", "state", "amount_untaxed", "amount_total", "locked"] });
        Some(vec![
            Step::call("sale.order", "create", json!({ "vals_list": [vals] })).bind(&order),
            Step::call("sale.order", "read", find).bind(&line).take("order_line"),
        ])
    }

    fn change_sale(&mut self) -> Option<Vec<Step>> {
        let (orders, lines) = (self.sales.clone(), self.sale_lines.clone());
        Some(vec![match self.stream.below(7) {
            0 => {
                let date = self.day();
                write("sale.order", &self.one(&orders)?, json!({ "commitment_date": date }))
            }
            1 => write("sale.order", &self.one(&orders)?, json!({ "client_order_ref": "changed", "origin": "S00001" })),
            2 => {
                let terms = self.terms.clone();
                let term = self.one(&terms)?;
                write("sale.order", &self.one(&orders)?, json!({ "payment_term_id": at(&term) }))
            }
            3 => {
                let units = self.units();
                write("sale.order.line", &self.one(&lines)?, json!({ "product_uom_qty": units }))
            }
            4 => {
                let price = self.price();
                write("sale.order.line", &self.one(&lines)?, json!({ "price_unit": price, "discount": 10 }))
            }
            5 => {
                let (products, units) = (self.products.clone(), self.units());
                let (order, product) = (self.one(&orders)?, self.one(&products)?);
                let line = self.key(Pool::SaleLines, "sol");
                let vals = json!({ "order_id": at(&order), "product_id": at(&product), "product_uom_qty": units });
                Step::call("sale.order.line", "create", json!({ "vals_list": [vals] })).bind(line)
            }
            _ => {
                let fields = [
                    "product_uom_qty",
                    "price_unit",
                    "discount",
                    "price_subtotal",
                    "qty_delivered",
                    "qty_invoiced",
                    "qty_to_invoice",
                    "state",
                ];
                Step::call("sale.order.line", "read", json!({ "ids": [at(&self.one(&lines)?)], "fields": fields }))
            }
        }])
    }

    fn new_purchase(&mut self) -> Option<Vec<Step>> {
        // Mostly a product from a vendor that offers it.
        let offers = self.offers.clone();
        let offer = self.one(&offers)?;
        let mut parts = offer.split('/').skip(1);
        let (vendor, code, from) = (parts.next()?, parts.next()?, parts.next()?.parse::<i64>().ok()?);
        let vendors = self.vendors.clone();
        let vendor = if self.stream.chance(1, 6) { self.one(&vendors)? } else { format!("vendor/{vendor}") };
        let mut line = Map::from_iter([
            ("product_id".to_owned(), at(&format!("product/{code}"))),
            ("product_qty".to_owned(), json!(from + self.stream.between(-5, 60).max(1 - from))),
        ]);
        if self.stream.chance(2, 3) {
            line.insert("price_unit".to_owned(), self.price());
        }
        if self.stream.chance(2, 3) {
            line.insert("date_planned".to_owned(), self.day().into());
        }
        if self.stream.chance(1, 8) {
            line.insert("discount".to_owned(), json!(self.stream.between(1, 30)));
        }
        let mut vals = Map::from_iter([
            ("partner_id".to_owned(), at(&vendor)),
            ("date_order".to_owned(), self.noon(0).into()),
            ("order_line".to_owned(), json!([[0, 0, line]])),
        ]);
        if self.stream.chance(1, 2) {
            vals.insert("origin".to_owned(), "S00001, S00002".into());
        }
        let (order, line) = (self.key(Pool::Purchases, "po"), self.key(Pool::PurchaseLines, "pol"));
        let find = json!({ "ids": [at(&order)], "fields": ["order_line", "state", "amount_untaxed", "amount_total", "date_planned"] });
        Some(vec![
            Step::call("purchase.order", "create", json!({ "vals_list": [vals] })).bind(&order),
            Step::call("purchase.order", "read", find).bind(&line).take("order_line"),
        ])
    }

    fn change_purchase(&mut self) -> Option<Vec<Step>> {
        let (orders, lines, builds) = (self.purchases.clone(), self.purchase_lines.clone(), self.builds.clone());
        Some(vec![match self.stream.below(8) {
            0 | 1 => {
                let units = self.units();
                write("purchase.order.line", &self.one(&lines)?, json!({ "product_qty": units }))
            }
            2 => {
                let price = self.price();
                write("purchase.order.line", &self.one(&lines)?, json!({ "price_unit": price }))
            }
            3 => {
                let date = self.day();
                write("purchase.order.line", &self.one(&lines)?, json!({ "date_planned": date }))
            }
            4 => {
                let (units, price, date) = (self.units(), self.price(), self.day());
                let vals = json!({ "product_qty": units, "price_unit": price, "date_planned": date });
                write("purchase.order.line", &self.one(&lines)?, vals)
            }
            5 => {
                // Whom it is for is cited by the name that each system has told.
                let (order, build) = (self.one(&orders)?, self.one(&builds)?);
                let asked = json!({ "ids": [at(&build)], "fields": ["name"] });
                return Some(vec![
                    Step::call("mrp.production", "read", asked).bind("cited").take("name"),
                    write("purchase.order", &order, json!({ "origin": at("cited"), "partner_ref": "V1" })),
                ]);
            }
            6 => {
                let date = self.day();
                write("purchase.order", &self.one(&orders)?, json!({ "date_planned": date }))
            }
            _ => {
                let fields = [
                    "product_qty",
                    "price_unit",
                    "discount",
                    "date_planned",
                    "price_subtotal",
                    "qty_received",
                    "state",
                ];
                Step::call("purchase.order.line", "read", json!({ "ids": [at(&self.one(&lines)?)], "fields": fields }))
            }
        }])
    }

    fn new_build(&mut self) -> Option<Vec<Step>> {
        let made = self.made.clone();
        let code = self.one(&made)?;
        let start = self.stream.between(1, 20);
        let due = start + self.stream.between(0, 10);
        let mut vals = Map::from_iter([
            ("product_id".to_owned(), at(&format!("product/{code}"))),
            ("product_qty".to_owned(), json!(self.stream.between(1, 12))),
            ("bom_id".to_owned(), at(&format!("bom/{code}"))),
            ("date_start".to_owned(), self.noon(start).into()),
            ("date_deadline".to_owned(), self.noon(due).into()),
        ]);
        if self.stream.chance(1, 2) {
            vals.insert("origin".to_owned(), "S00001".into());
        }
        let (build, work) = (self.key(Pool::Builds, "mo"), self.key(Pool::Works, "wo"));
        let fields = ["workorder_ids", "state", "date_start", "date_deadline", "date_finished", "product_qty"];
        let find = json!({ "ids": [at(&build)], "fields": fields });
        Some(vec![
            Step::call("mrp.production", "create", json!({ "vals_list": [vals] })).bind(&build),
            Step::call("mrp.production", "read", find).bind(&work).take("workorder_ids"),
        ])
    }

    fn change_build(&mut self) -> Option<Vec<Step>> {
        let (builds, works, centres) = (self.builds.clone(), self.works.clone(), self.centres.clone());
        Some(vec![match self.stream.below(9) {
            0 => {
                let date = self.day();
                write("mrp.production", &self.one(&builds)?, json!({ "date_start": date }))
            }
            1 => {
                let units = self.stream.between(1, 12);
                write("mrp.production", &self.one(&builds)?, json!({ "product_qty": units }))
            }
            2 => {
                let date = self.day();
                write("mrp.production", &self.one(&builds)?, json!({ "date_deadline": date }))
            }
            3 => write("mrp.production", &self.one(&builds)?, json!({ "origin": "S00002" })),
            4 => {
                let key = self.one(&builds)?;
                write("mrp.production", &key, json!({ "qty_producing": 1 }))
            }
            5 | 6 => {
                let centre = self.one(&centres)?;
                write("mrp.workorder", &self.one(&works)?, json!({ "workcenter_id": at(&centre) }))
            }
            7 => {
                let date = self.day();
                write("mrp.workorder", &self.one(&works)?, json!({ "date_start": date }))
            }
            _ => {
                let fields =
                    ["state", "duration_expected", "date_start", "date_finished", "production_state", "qty_production"];
                Step::call("mrp.workorder", "read", json!({ "ids": [at(&self.one(&works)?)], "fields": fields }))
            }
        }])
    }

    fn bill(&mut self) -> Option<Vec<Step>> {
        let (sales, invoices) = (self.sales.clone(), self.invoices.clone());
        if !invoices.is_empty() && self.stream.chance(1, 2) {
            let key = self.one(&invoices)?;
            return Some(vec![match self.stream.below(6) {
                0 | 1 => Step::call("account.move", "action_post", json!({ "ids": [at(&key)] })),
                2 => Step::call("account.move", "button_draft", json!({ "ids": [at(&key)] })),
                3 => Step::call("account.move", "button_cancel", json!({ "ids": [at(&key)] })),
                4 => {
                    let terms = self.terms.clone();
                    let term = self.one(&terms)?;
                    write("account.move", &key, json!({ "invoice_payment_term_id": at(&term) }))
                }
                _ => {
                    let fields =
                        ["state", "amount_untaxed", "amount_tax", "amount_total", "payment_state", "move_type"];
                    Step::call("account.move", "read", json!({ "ids": [at(&key)], "fields": fields }))
                }
            }]);
        }
        let order = self.one(&sales)?;
        let kind = *self.stream.pick(&["percentage", "fixed", "delivered", "delivered"])?;
        let mut steps = self.bill_order(&order, kind, 0);
        if self.stream.chance(1, 2) {
            steps.insert(0, Step::call("sale.order", "action_confirm", json!({ "ids": [at(&order)] })));
        }
        Some(steps)
    }

    /// Bills an order by the wizard; an amount is at least `least`.
    fn bill_order(&mut self, order: &str, kind: &str, least: i64) -> Vec<Step> {
        let how = match kind {
            "percentage" => json!({ "advance_payment_method": kind, "amount": self.stream.between(least, 60) }),
            "fixed" => json!({ "advance_payment_method": kind, "fixed_amount": self.stream.between(least, 300) }),
            _ => json!({ "advance_payment_method": kind }),
        };
        let context = json!({ "active_model": "sale.order", "active_ids": [at(order)], "active_id": at(order) });
        let invoice = self.key(Pool::Invoices, "inv");
        self.count += 1;
        // The key tells which kind of bill it is.
        let wizard = format!("{kind}{}", self.count);
        let about = ["invoice_ids", "invoice_status", "amount_total", "invoice_count"];
        let find = json!({
            "domain": [["state", "=", "draft"], ["move_type", "=", "out_invoice"]],
            "fields": ["amount_total", "invoice_payment_term_id"], "order": "id desc", "limit": 1,
        });
        vec![
            Step::call("sale.advance.payment.inv", "create", json!({ "vals_list": [how], "context": context }))
                .bind(&wizard),
            Step::call(
                "sale.advance.payment.inv",
                "create_invoices",
                json!({ "ids": [at(&wizard)], "context": context }),
            ),
            Step::call("account.move", "search_read", find).bind(&invoice).take("id"),
            Step::call("sale.order", "read", json!({ "ids": [at(order)], "fields": about })),
        ]
    }

    /// Work that should succeed, by turns: bills of the three kinds, posted; builds planned and finished; searches.
    fn work_owed(&mut self) -> Option<Vec<Step>> {
        match self.turn % 5 {
            kind @ 0..3 => {
                let mut steps = self.new_sale()?;
                let order = self.sales.last()?.clone();
                steps.push(Step::call("sale.order", "action_confirm", json!({ "ids": [at(&order)] })));
                steps.extend(self.bill_order(&order, KINDS[kind], 1));
                let invoice = self.invoices.last()?.clone();
                steps.push(Step::call("account.move", "action_post", json!({ "ids": [at(&invoice)] })));
                Some(steps)
            }
            3 => {
                let mut steps = self.new_build()?;
                let build = self.builds.last()?.clone();
                let then = if self.stream.chance(1, 2) { "button_plan" } else { "button_mark_done" };
                let (work, centres) = (self.works.last()?.clone(), self.centres.clone());
                let centre = self.one(&centres)?;
                steps.push(write("mrp.workorder", &work, json!({ "workcenter_id": at(&centre) })));
                for method in ["action_confirm", then, "action_cancel"] {
                    steps.push(Step::call("mrp.production", method, json!({ "ids": [at(&build)] })));
                }
                Some(steps)
            }
            _ => {
                let mut steps = self.new_purchase()?;
                let order = self.purchases.last()?.clone();
                for method in ["button_confirm", "button_cancel", "button_draft"] {
                    steps.push(Step::call("purchase.order", method, json!({ "ids": [at(&order)] })));
                }
                let only = json!([["state", "!=", "cancel"]]);
                steps.push(Step::call("sale.order", "search", json!({ "domain": only, "order": "id" })));
                steps.push(Step::call("sale.order", "search_count", json!({ "domain": only })));
                let asked = json!({ "allfields": ["state", "amount_total", "name"], "attributes": ["type"] });
                steps.push(Step::call("sale.order", "fields_get", asked));
                Some(steps)
            }
        }
    }

    /// A call that cannot stand: a record that is not there, an argument that is none, a field that is none.
    fn refusal_owed(&mut self) -> Option<Vec<Step>> {
        let (model, method) = REFUSED[self.turn % REFUSED.len()];
        let again = (self.turn / REFUSED.len()).is_multiple_of(2);
        let nowhere = json!([["no_such_field", "=", 1]]);
        let missing = json!([99_999_999]);
        let args = match method {
            "search" | "search_count" if again => json!({ "domain": nowhere }),
            "search" | "search_count" => json!({ "domain": [], "surplus": 1 }),
            "search_read" if again => json!({ "domain": nowhere, "fields": ["name"] }),
            "search_read" => json!({ "domain": [], "fields": ["no_such_field"] }),
            "read" if again => json!({ "ids": missing, "fields": ["no_such_field"] }),
            "read" => json!({ "ids": missing, "surplus": 1 }),
            "fields_get" => json!({ "attributes": ["type"], "surplus": 1 }),
            "create" if again => json!({ "vals_list": [{}] }),
            "create" => json!({ "vals_list": [{ "no_such_field": 1 }] }),
            "write" if again && model == "sale.order" => json!({ "ids": missing, "vals": { "origin": "S00001" } }),
            "write" if again => json!({ "ids": missing, "vals": { "date_start": self.noon(0) } }),
            "write" => json!({ "ids": missing, "vals": { "no_such_field": 1 } }),
            "create_invoices" => return self.bill_refused(),
            "action_post" if again && !self.invoices.is_empty() => {
                // What is posted cannot be posted again.
                let invoice = self.invoices.last()?.clone();
                let post = || Step::call(model, method, json!({ "ids": [at(&invoice)] }));
                return Some(vec![post(), post()]);
            }
            _ if again => json!({ "ids": missing }),
            _ => json!({ "ids": [], "surplus": 1 }),
        };
        Some(vec![Step::call(model, method, args)])
    }

    /// Bills that cannot be made: of nothing, and regular ones of a draft.
    fn bill_refused(&mut self) -> Option<Vec<Step>> {
        let kind = KINDS[self.turn % REFUSED.len() % KINDS.len()];
        let mut steps = self.new_sale()?;
        let order = self.sales.last()?.clone();
        let mut bill = self.bill_order(&order, kind, 0);
        for field in ["amount", "fixed_amount"] {
            if let Some(amount) = bill[0].args["vals_list"][0].get_mut(field) {
                *amount = json!(0);
            }
        }
        bill.truncate(2);
        steps.extend(bill);
        Some(steps)
    }

    fn move_goods(&mut self) -> Option<Vec<Step>> {
        let (quants, transfers) = (self.quants.clone(), self.transfers.clone());
        if self.stream.chance(1, 2) {
            let quant = self.one(&quants)?;
            let count = self.stream.between(0, 80);
            let mut steps = vec![write("stock.quant", &quant, json!({ "inventory_quantity": count }))];
            if self.stream.chance(2, 3) {
                steps.push(Step::call("stock.quant", "action_apply_inventory", json!({ "ids": [at(&quant)] })));
            }
            return Some(steps);
        }
        if transfers.is_empty() || self.stream.chance(1, 2) {
            let (sales, purchases) = (self.sales.clone(), self.purchases.clone());
            let key = self.key(Pool::Transfers, "pick");
            let (model, of) = if self.stream.chance(1, 2) {
                ("sale.order", self.one(&sales)?)
            } else {
                ("purchase.order", self.one(&purchases)?)
            };
            let find = json!({ "ids": [at(&of)], "fields": ["picking_ids", "state"] });
            return Some(vec![Step::call(model, "read", find).bind(key).take("picking_ids")]);
        }
        let key = self.one(&transfers)?;
        let method = *self.stream.pick(&["action_assign", "button_validate", "button_validate", "action_cancel"])?;
        Some(vec![Step::call("stock.picking", method, json!({ "ids": [at(&key)] }))])
    }

    fn look(&mut self) -> Option<Vec<Step>> {
        let (products, orders) = (self.products.clone(), self.sales.clone());
        Some(vec![match self.stream.below(8) {
            0 => {
                let only = json!(["|", ["state", "=", "draft"], ["state", "=", "sale"]]);
                Step::call("sale.order", "search_count", json!({ "domain": only }))
            }
            1 => {
                let only = json!(["&", "!", ["state", "=", "cancel"], ["amount_total", ">", 100]]);
                Step::call("sale.order", "search", json!({ "domain": only, "limit": 5 }))
            }
            2 => {
                let fields =
                    ["qty_available", "virtual_available", "incoming_qty", "outgoing_qty", "free_qty", "list_price"];
                Step::call("product.product", "read", json!({ "ids": [at(&self.one(&products)?)], "fields": fields }))
            }
            3 => Step::call(
                "purchase.order.line",
                "search_read",
                json!({ "domain": [["order_id.state", "=", "purchase"], ["product_qty", ">=", 10]], "fields": ["product_qty", "price_unit"], "order": "id" }),
            ),
            4 => {
                let fields = ["state", "order_line", "amount_total", "name"];
                let model = *self.stream.pick(&["sale.order", "sale.order", "purchase.order"])?;
                let fields =
                    if model == "sale.order" { json!(fields) } else { json!(["state", "amount_total", "origin"]) };
                Step::call(model, "fields_get", json!({ "allfields": fields, "attributes": ["type"] }))
            }
            5 => Step::call("sale.order", "read", json!({ "ids": [99_999_999], "fields": ["name"] })),
            6 => {
                let fields = ["state", "invoice_status", "amount_untaxed", "commitment_date", "picking_ids", "locked"];
                Step::call("sale.order", "read", json!({ "ids": [at(&self.one(&orders)?)], "fields": fields }))
            }
            _ => Step::call(
                "mrp.production",
                "search_read",
                json!({ "domain": [["state", "in", ["confirmed", "progress"]]], "fields": ["product_qty", "date_start", "reservation_state"], "order": "id" }),
            ),
        }])
    }

    fn delete(&mut self) -> Option<Vec<Step>> {
        let (model, pool) = match self.stream.below(6) {
            0 => ("sale.order", self.sales.clone()),
            1 => ("sale.order.line", self.sale_lines.clone()),
            2 => ("purchase.order", self.purchases.clone()),
            3 => ("purchase.order.line", self.purchase_lines.clone()),
            4 => ("mrp.production", self.builds.clone()),
            _ => ("product.supplierinfo", self.offers.clone()),
        };
        let key = self.one(&pool)?;
        Some(vec![Step::call(model, "unlink", json!({ "ids": [at(&key)] }))])
    }

    fn master_data(&mut self) -> Option<Vec<Step>> {
        let (offers, products, vendors) = (self.offers.clone(), self.products.clone(), self.vendors.clone());
        Some(vec![match self.stream.below(6) {
            0 => {
                let price = self.price();
                write("product.supplierinfo", &self.one(&offers)?, json!({ "price": price }))
            }
            1 => {
                let price = self.price();
                write("product.product", &self.one(&products)?, json!({ "list_price": price }))
            }
            2 => write("res.partner", &self.one(&vendors)?, json!({ "phone": "123" })),
            3 => Step::call(
                "res.partner",
                "create",
                json!({ "vals_list": [{ "name": "Newcomer", "ref": "N-1", "is_company": true }] }),
            ),
            4 => {
                let customers = self.customers.clone();
                write("res.partner", &self.one(&customers)?, json!({ "email": "other@x.example", "city": "Ghent" }))
            }
            _ => {
                let centres = self.centres.clone();
                write("mrp.workcenter", &self.one(&centres)?, json!({ "costs_hour": 44 }))
            }
        }])
    }
}

fn write(model: &str, key: &str, vals: Json) -> Step {
    Step::call(model, "write", json!({ "ids": [at(key)], "vals": vals }))
}
