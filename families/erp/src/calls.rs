//! The calls that make a plan come true, right or wrong: what falls is cancelled, then orders are confirmed, builds and
//! purchases made, and orders billed.
//!
//! A document that stands in the first state and that the plan keeps unchanged is not touched, but for its origin where
//! the pegs of the new plan say another. Everything else is cancelled and made anew, because editing a confirmed purchase
//! resets its price and date.

use super::facts;
use super::peg_plan::{Need, Pegs, code_of, pegs};
use super::rows::{BuildRow, BuyRow, PlanRows, SellRow};
use super::shop::{Build, Buy, Repair, Shop, Source};
use benchwright_base::Date;
use benchwright_pack::{
    Script, Step,
    script::{at, joined},
};
use benchwright_spec::NamedRows;
use serde_json::{Map, Value as Json, json};

/// The calls for the rows of a plan.
pub(crate) fn script(shop: &Shop, plan: &NamedRows) -> Result<Script, String> {
    let rows = PlanRows::read(plan)?;
    let anchor = Date::parse(&shop.anchor).ok_or_else(|| format!("`{}` is no date", shop.anchor))?;
    let standing = Standing::of(shop, &rows);
    let pegs = pegs(shop, &rows);
    let mut calls = Calls { shop, rows: &rows, pegs: &pegs, standing: &standing, anchor, steps: Vec::new() };
    calls.cancel();
    calls.sell()?;
    calls.build()?;
    calls.buy()?;
    calls.rename();
    calls.bill();
    Ok(Script { steps: calls.steps })
}

/// Which rows of a plan stand in the first state already.
struct Standing {
    /// For each purchase of the plan, the number of the document it keeps.
    buys: Vec<Option<usize>>,
    /// For each build of the plan, the number of the document it keeps.
    builds: Vec<Option<usize>>,
    /// What the documents of the first state named as their origin, by number.
    before: Option<Before>,
}

/// The pegs of the plan that stood, and the orders its rows named.
struct Before {
    rows: PlanRows,
    pegs: Pegs,
}

impl Standing {
    fn of(shop: &Shop, rows: &PlanRows) -> Standing {
        let none = Standing { buys: vec![None; rows.buys.len()], builds: vec![None; rows.builds.len()], before: None };
        let Some(repair) = &shop.repair else { return none };
        let before = baseline(shop, repair);
        let keep = |kept: &mut Vec<bool>, same: &dyn Fn(usize) -> bool| {
            let found = (0..kept.len()).find(|n| !kept[*n] && same(*n));
            found.inspect(|n| kept[*n] = true)
        };
        let mut kept = vec![false; repair.buys.len()];
        let buys = rows.buys.iter().map(|row| keep(&mut kept, &|n| before.buys[n] == *row)).collect();
        let mut kept = vec![false; repair.builds.len()];
        let builds = rows.builds.iter().map(|row| keep(&mut kept, &|n| before.builds[n] == *row)).collect();
        let pegs = pegs(shop, &before);
        Standing { buys, builds, before: Some(Before { rows: before, pegs }) }
    }
}

/// The plan that stood, as rows.
pub(crate) fn baseline(shop: &Shop, repair: &Repair) -> PlanRows {
    let sell = |order: &super::shop::Order| SellRow {
        order: order.reference.clone(),
        customer: facts::customer(&order.customer),
        product: facts::product(&order.product),
        units: order.units,
        promised: order.due,
        price: shop.product(&order.product).map_or(0, |product| product.list),
        discount: 0,
    };
    let buy = |buy: &Buy| BuyRow {
        vendor: facts::vendor(&buy.vendor),
        product: facts::product(&buy.product),
        units: buy.units,
        arrive: buy.arrive,
        price: buy.price,
        discount: 0,
    };
    let build = |build: &Build| BuildRow {
        product: facts::product(&build.product),
        centre: facts::centre(&build.centre),
        units: build.units,
        start: build.start,
        due: build.due,
        orders: 1,
    };
    PlanRows {
        sells: shop.accepted().map(sell).collect(),
        buys: repair.buys.iter().map(buy).collect(),
        builds: repair.builds.iter().map(build).collect(),
    }
}

/// The calls as they are made.
struct Calls<'a> {
    shop: &'a Shop,
    rows: &'a PlanRows,
    pegs: &'a Pegs,
    standing: &'a Standing,
    anchor: Date,
    steps: Vec<Step>,
}

/// Noon of a day of the plan, so that no time zone moves it to another day.
pub(crate) fn noon(anchor: Date, day: i64) -> Result<String, String> {
    let date = anchor.add_days(day).ok_or_else(|| format!("day {day} is outside the calendar"))?;
    Ok(format!("{date} 12:00:00"))
}

/// Money as a number of a call.
pub(crate) fn dollars(cents: i64) -> Json {
    if cents % 100 == 0 { Json::from(cents / 100) } else { Json::from(cents as f64 / 100.0) }
}

/// The key of a document's name.
fn name_of(document: &str) -> String {
    format!("{document}/name")
}

/// The key of the payment term of so many days.
pub(crate) fn term(days: i64) -> String {
    format!("term/{days}")
}

fn ids(key: &str) -> Json {
    json!({ "ids": [at(key)] })
}

impl Calls<'_> {
    fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Binds the name of a document.
    fn learn_name(&mut self, model: &str, document: &str) {
        let args = json!({ "ids": [at(document)], "fields": ["name"] });
        self.push(Step::call(model, "read", args).bind(name_of(document)).take("name"));
    }

    fn day(&self, day: i64) -> Result<String, String> {
        noon(self.anchor, day)
    }

    /// Cancels what stood and is not kept.
    fn cancel(&mut self) {
        let Some(repair) = &self.shop.repair else { return };
        for number in 0..repair.buys.len() {
            if !self.standing.buys.contains(&Some(number)) {
                self.push(Step::call("purchase.order", "button_cancel", ids(&purchase(number))));
            }
        }
        for number in 0..repair.builds.len() {
            if !self.standing.builds.contains(&Some(number)) {
                self.push(Step::call("mrp.production", "action_cancel", ids(&production(number))));
            }
        }
    }

    /// Confirms the orders of the plan and cancels the drafts that are declined.
    fn sell(&mut self) -> Result<(), String> {
        for (row, sell) in self.rows.sells.iter().enumerate() {
            match self.record_of(row) {
                Some(record) => self.confirm_record(&record, sell)?,
                None => self.enter(row, sell)?,
            }
            let document = self.order(row);
            self.learn_name("sale.order", &document);
        }
        let answered = |reference: &str| self.rows.sells.iter().any(|sell| sell.order == reference);
        let falls = |order: &&super::shop::Order| match order.source {
            Source::Draft => !self.shop.accepts(order),
            Source::Confirmed => true,
            Source::Brief => false,
        };
        let fallen: Vec<String> = self
            .shop
            .orders
            .iter()
            .filter(falls)
            .filter(|order| !answered(&order.reference))
            .map(|order| facts::record(&order.reference))
            .collect();
        for record in fallen {
            self.push(Step::call("sale.order", "action_cancel", ids(&record)));
        }
        Ok(())
    }

    /// The record of the first state that a sales row uses: the first row of an order takes it, later ones are new.
    fn record_of(&self, row: usize) -> Option<String> {
        let reference = &self.rows.sells[row].order;
        let order = self.shop.orders.iter().find(|order| order.reference == *reference)?;
        let first = self.rows.sells.iter().position(|sell| sell.order == *reference) == Some(row);
        (first && order.source != Source::Brief).then(|| facts::record(reference))
    }

    /// The key of the document of a sales row.
    fn order(&self, row: usize) -> String {
        self.record_of(row).unwrap_or_else(|| format!("order/{}", row + 1))
    }

    fn confirm_record(&mut self, record: &str, sell: &SellRow) -> Result<(), String> {
        let Some(order) = self.shop.orders.iter().find(|order| order.reference == sell.order) else {
            return Err(format!("there is no request {}", sell.order));
        };
        let list = self.shop.product(&order.product).map_or(0, |product| product.list);
        let mut changes = Map::new();
        if sell.customer != facts::customer(&order.customer) {
            changes.insert("partner_id".into(), at(&sell.customer));
        }
        if sell.promised != order.due {
            changes.insert("commitment_date".into(), self.day(sell.promised)?.into());
        }
        if let Some(billing) = &self.shop.billing {
            changes.insert("payment_term_id".into(), at(&term(billing.days)));
        }
        if !changes.is_empty() {
            self.push(Step::call("sale.order", "write", json!({ "ids": [at(record)], "vals": changes })));
        }
        let mut line = Map::new();
        if sell.product != facts::product(&order.product) {
            line.insert("product_id".into(), at(&sell.product));
        }
        if sell.units != order.units {
            line.insert("product_uom_qty".into(), sell.units.into());
        }
        if sell.price != list || !line.is_empty() {
            line.insert("price_unit".into(), dollars(sell.price));
        }
        if sell.discount != 0 {
            line.insert("discount".into(), sell.discount.into());
        }
        if !line.is_empty() {
            let args = json!({ "ids": [at(&record_line(record))], "vals": line });
            self.push(Step::call("sale.order.line", "write", args));
        }
        if order.source == Source::Draft {
            self.push(Step::call("sale.order", "action_confirm", ids(record)));
        }
        Ok(())
    }

    fn enter(&mut self, row: usize, sell: &SellRow) -> Result<(), String> {
        let mut line = Map::from_iter([
            ("product_id".to_owned(), at(&sell.product)),
            ("product_uom_qty".to_owned(), sell.units.into()),
            ("price_unit".to_owned(), dollars(sell.price)),
        ]);
        if sell.discount != 0 {
            line.insert("discount".into(), sell.discount.into());
        }
        let mut vals = Map::from_iter([
            ("partner_id".to_owned(), at(&sell.customer)),
            ("client_order_ref".to_owned(), sell.order.clone().into()),
            ("commitment_date".to_owned(), self.day(sell.promised)?.into()),
            ("order_line".to_owned(), json!([[0, 0, line]])),
        ]);
        if let Some(billing) = &self.shop.billing {
            vals.insert("payment_term_id".into(), at(&term(billing.days)));
        }
        let document = self.order(row);
        self.push(Step::call("sale.order", "create", json!({ "vals_list": [vals] })).bind(&document));
        self.push(Step::call("sale.order", "action_confirm", ids(&document)));
        Ok(())
    }

    /// The key of the document of a purchase row.
    fn purchase(&self, row: usize) -> String {
        self.standing.buys[row].map_or_else(|| format!("purchase/{}", row + 1), purchase)
    }

    /// The key of the document of a build row.
    fn production(&self, row: usize) -> String {
        self.standing.builds[row].map_or_else(|| format!("production/{}", row + 1), production)
    }

    /// The origin that names some documents.
    fn origin(&self, needs: &[Need]) -> Json {
        let keys: Vec<String> = needs.iter().map(|need| self.document(*need)).map(|key| name_of(&key)).collect();
        joined(keys.iter().map(|key| &**key))
    }

    fn document(&self, need: Need) -> String {
        match need {
            Need::Sell(row) => self.order(row),
            Need::Build(row) => self.production(row),
        }
    }

    /// The builds of a plan, those of finished goods first, then what goes into them: products stand in that order.
    fn builds_from_the_top(&self) -> Vec<usize> {
        let place = |row: usize| {
            let code = code_of(&self.rows.builds[row].product);
            self.shop.products.iter().position(|product| Some(&*product.code) == code).unwrap_or(usize::MAX)
        };
        let mut order: Vec<usize> = (0..self.rows.builds.len()).collect();
        order.sort_by_key(|row| (place(*row), *row));
        order
    }

    fn build(&mut self) -> Result<(), String> {
        for row in self.builds_from_the_top() {
            let document = self.production(row);
            if self.standing.builds[row].is_none() {
                self.make(row, &document)?;
            }
            self.learn_name("mrp.production", &document);
        }
        Ok(())
    }

    fn make(&mut self, row: usize, document: &str) -> Result<(), String> {
        let build = &self.rows.builds[row];
        let code = code_of(&build.product);
        let mut vals = Map::from_iter([
            ("product_id".to_owned(), at(&build.product)),
            ("product_qty".to_owned(), build.units.into()),
            ("date_start".to_owned(), self.day(build.start)?.into()),
            ("date_deadline".to_owned(), self.day(build.due)?.into()),
        ]);
        let recipe = code.filter(|code| self.shop.bom.iter().any(|line| line.product == **code));
        if let Some(code) = recipe {
            vals.insert("bom_id".into(), at(&format!("bom/{code}")));
        }
        let needs = &self.pegs.builds[row];
        if !needs.is_empty() {
            vals.insert("origin".into(), self.origin(needs));
        }
        self.push(Step::call("mrp.production", "create", json!({ "vals_list": [vals] })).bind(document));
        self.push(Step::call("mrp.production", "action_confirm", ids(document)));
        // A recipe of one operation gives one work order, none gives none, and no call gives another.
        let usual = self.shop.options.iter().find(|option| Some(&*option.product) == code);
        if build.orders != i64::from(usual.is_some()) {
            return Err(format!("no call makes a build of {} with {} work orders", build.product, build.orders));
        }
        if let Some(usual) = usual
            && facts::centre(&usual.centre) != build.centre
        {
            let work = format!("{document}/work");
            let args = json!({ "domain": [["production_id", "=", at(document)]], "fields": ["id"] });
            self.push(Step::call("mrp.workorder", "search_read", args).bind(&work).take("id"));
            let args = json!({ "ids": [at(&work)], "vals": { "workcenter_id": at(&build.centre) } });
            self.push(Step::call("mrp.workorder", "write", args));
        }
        Ok(())
    }

    fn buy(&mut self) -> Result<(), String> {
        for row in 0..self.rows.buys.len() {
            if self.standing.buys[row].is_some() {
                continue;
            }
            let buy = &self.rows.buys[row];
            let document = self.purchase(row);
            let mut line = Map::from_iter([
                ("product_id".to_owned(), at(&buy.product)),
                ("product_qty".to_owned(), buy.units.into()),
                ("price_unit".to_owned(), dollars(buy.price)),
                ("date_planned".to_owned(), self.day(buy.arrive)?.into()),
            ]);
            if buy.discount != 0 {
                line.insert("discount".into(), buy.discount.into());
            }
            let mut vals = Map::from_iter([
                ("partner_id".to_owned(), at(&buy.vendor)),
                ("date_order".to_owned(), self.day(0)?.into()),
                ("order_line".to_owned(), json!([[0, 0, line]])),
            ]);
            let needs = &self.pegs.buys[row];
            if !needs.is_empty() {
                vals.insert("origin".into(), self.origin(needs));
            }
            self.push(Step::call("purchase.order", "create", json!({ "vals_list": [vals] })).bind(&document));
            self.push(Step::call("purchase.order", "button_confirm", ids(&document)));
        }
        Ok(())
    }

    /// Rewrites the origins of kept documents whose pegs are other ones now.
    fn rename(&mut self) {
        let Some(before) = &self.standing.before else { return };
        for row in 0..self.rows.builds.len() {
            if let Some(number) = self.standing.builds[row] {
                let old = &before.pegs.builds[number];
                self.rename_one("mrp.production", &production(number), before, old, &self.pegs.builds[row]);
            }
        }
        for row in 0..self.rows.buys.len() {
            if let Some(number) = self.standing.buys[row] {
                let old = &before.pegs.buys[number];
                self.rename_one("purchase.order", &purchase(number), before, old, &self.pegs.buys[row]);
            }
        }
    }

    fn rename_one(&mut self, model: &str, document: &str, before: &Before, old: &[Need], new: &[Need]) {
        let was: Vec<String> = old.iter().map(|need| standing_document(before, *need)).collect();
        let is: Vec<String> = new.iter().map(|need| self.document(*need)).collect();
        if was != is {
            let origin = if new.is_empty() { Json::from(false) } else { self.origin(new) };
            let args = json!({ "ids": [at(document)], "vals": { "origin": origin } });
            self.push(Step::call(model, "write", args));
        }
    }

    /// Bills every order of the plan: the deposit where one is due, then the rest.
    fn bill(&mut self) {
        if self.shop.billing.is_none() {
            return;
        }
        for (row, sell) in self.rows.sells.iter().enumerate() {
            let document = self.order(row);
            let order = self.shop.orders.iter().find(|order| order.reference == sell.order);
            let due = order.is_some_and(|order| self.shop.deposit(order).is_some());
            let deposit = self.shop.billing.as_ref().and_then(|billing| billing.deposit.as_ref()).filter(|_| due);
            if let Some(deposit) = deposit {
                let how = match (deposit.fixed, deposit.percent) {
                    (Some(fixed), _) => {
                        json!({ "advance_payment_method": "fixed", "fixed_amount": dollars(fixed) })
                    }
                    (None, percent) => {
                        json!({ "advance_payment_method": "percentage", "amount": percent.unwrap_or(0) })
                    }
                };
                self.invoice(&document, "deposit", how);
            }
            self.invoice(&document, "final", json!({ "advance_payment_method": "delivered" }));
        }
    }

    fn invoice(&mut self, document: &str, kind: &str, how: Json) {
        let context = json!({ "active_model": "sale.order", "active_ids": [at(document)], "active_id": at(document) });
        let wizard = format!("{document}/{kind}/wizard");
        let args = json!({ "vals_list": [how], "context": context });
        self.push(Step::call("sale.advance.payment.inv", "create", args).bind(&wizard));
        let args = json!({ "ids": [at(&wizard)], "context": context });
        self.push(Step::call("sale.advance.payment.inv", "create_invoices", args));
        // The earlier invoice of the order is posted, so the draft is the new one.
        let invoice = format!("{document}/{kind}");
        let domain = json!([["invoice_origin", "=", at(&name_of(document))], ["state", "=", "draft"]]);
        let args = json!({ "domain": domain, "fields": ["id"] });
        self.push(Step::call("account.move", "search_read", args).bind(&invoice).take("id"));
        self.push(Step::call("account.move", "action_post", ids(&invoice)));
    }
}

/// The key of a purchase of the first state, by its number from 0.
pub(crate) fn purchase(number: usize) -> String {
    format!("po/{}", number + 1)
}

/// The key of a build of the first state, by its number from 0.
pub(crate) fn production(number: usize) -> String {
    format!("mo/{}", number + 1)
}

/// The key of the line of a sales order of the first state.
pub(crate) fn record_line(record: &str) -> String {
    format!("{record}/line")
}

/// The key of a document of the first state that the plan which stood named.
fn standing_document(before: &Before, need: Need) -> String {
    match need {
        Need::Sell(row) => facts::record(&before.rows.sells[row].order),
        Need::Build(row) => production(row),
    }
}

#[cfg(test)]
mod tests;
