//! The calls that make a plan come true, right or wrong: what falls is cancelled, then orders are confirmed, builds and
//! purchases made, and orders billed.
//!
//! A document that stands in the first state and that the plan keeps unchanged is not touched, but for its origin where
//! the pegs of the new plan say another. Where the plan has other units or days with the same supplier, or for the same item
//! at the same centre, the document is changed where it stands; what it has no use for is cancelled.

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
    let sheets = sheets(&rows);
    let mut calls =
        Calls { shop, rows: &rows, sheets: &sheets, pegs: &pegs, standing: &standing, anchor, steps: Vec::new() };
    calls.cancel();
    calls.sell()?;
    calls.build()?;
    calls.buy()?;
    calls.rename();
    calls.bill();
    Ok(Script { steps: calls.steps, ..Script::default() })
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
        let buys =
            matched((rows.buys.len(), repair.buys.len()), &|row, n| before.buys[n] == rows.buys[row], &|row, n| {
                let (new, old) = (&rows.buys[row], &before.buys[n]);
                let broken = repair.vendor.as_ref() == Some(&repair.buys[n].vendor);
                !broken && (&new.vendor, &new.product) == (&old.vendor, &old.product)
            });
        let builds = matched(
            (rows.builds.len(), repair.builds.len()),
            &|row, n| before.builds[n] == rows.builds[row],
            &|row, n| {
                let (new, old) = (&rows.builds[row], &before.builds[n]);
                let broken = repair.centre.as_ref() == Some(&repair.builds[n].centre);
                !broken && (&new.product, &new.centre, new.orders) == (&old.product, &old.centre, old.orders)
            },
        );
        let pegs = pegs(shop, &before);
        Standing { buys, builds, before: Some(Before { rows: before, pegs }) }
    }
}

/// The document that each row of a plan keeps: those that are just as they were first, then those that can become it where they
/// stand.
fn matched(
    (rows, documents): (usize, usize),
    same: &dyn Fn(usize, usize) -> bool,
    becomes: &dyn Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let (mut found, mut kept) = (vec![None; rows], vec![false; documents]);
    for fits in [same, becomes] {
        for (row, place) in found.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            *place = (0..documents).find(|n| !kept[*n] && fits(row, *n));
            if let Some(n) = *place {
                kept[n] = true;
            }
        }
    }
    found
}

/// The plan that stood, as rows.
pub(crate) fn baseline(shop: &Shop, repair: &Repair) -> PlanRows {
    let sell = |order: &super::shop::Order, line: &super::shop::OrderLine| SellRow {
        order: order.reference.clone(),
        customer: facts::customer(&order.customer),
        product: facts::product(&line.product),
        units: line.units,
        promised: order.due,
        price: shop.list_price(&line.product),
        discount: 0,
    };
    let sells = |order| {
        let order: &super::shop::Order = order;
        order.lines.iter().map(|line| sell(order, line)).collect::<Vec<SellRow>>()
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
        sells: shop.accepted().flat_map(sells).collect(),
        buys: repair.buys.iter().map(buy).collect(),
        builds: repair.builds.iter().map(build).collect(),
    }
}

/// For each sales row the first row of its document. Rows of one request that promise one day to one customer share a document,
/// with a line each; a second row of an item is another document.
fn sheets(rows: &PlanRows) -> Vec<usize> {
    let mut sheets: Vec<usize> = Vec::new();
    for (at, row) in rows.sells.iter().enumerate() {
        let fits = |first: usize| {
            let lines = (0..at).filter(|other| sheets[*other] == first).map(|other| &rows.sells[other]);
            let head = &rows.sells[first];
            (&head.order, &head.customer, head.promised) == (&row.order, &row.customer, row.promised)
                && lines.into_iter().all(|line| line.product != row.product)
        };
        let found = (0..at).find(|first| sheets[*first] == *first && fits(*first));
        sheets.push(found.unwrap_or(at));
    }
    sheets
}

/// The calls as they are made.
struct Calls<'a> {
    shop: &'a Shop,
    rows: &'a PlanRows,
    sheets: &'a [usize],
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
        for first in self.documents() {
            let rows = self.rows;
            let lines: Vec<&SellRow> =
                rows.sells.iter().zip(self.sheets).filter(|(_, of)| **of == first).map(|(sell, _)| sell).collect();
            match self.record_of(first) {
                Some(record) => self.confirm_record(&record, &lines)?,
                None => self.enter(first, &lines)?,
            }
            let document = self.order(first);
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

    /// The sales documents of the plan, each by its first row.
    fn documents(&self) -> Vec<usize> {
        (0..self.sheets.len()).filter(|row| self.sheets[*row] == *row).collect()
    }

    /// The record of the first state that a sales row uses: the first document of an order takes it, later ones are new.
    fn record_of(&self, row: usize) -> Option<String> {
        let reference = &self.rows.sells[row].order;
        let order = self.shop.orders.iter().find(|order| order.reference == *reference)?;
        let first = self.rows.sells.iter().position(|sell| sell.order == *reference) == Some(self.sheets[row]);
        (first && order.source != Source::Brief).then(|| facts::record(reference))
    }

    /// The key of the document of a sales row.
    fn order(&self, row: usize) -> String {
        self.record_of(row).unwrap_or_else(|| format!("order/{}", self.sheets[row] + 1))
    }

    fn confirm_record(&mut self, record: &str, sells: &[&SellRow]) -> Result<(), String> {
        let sell = *sells.first().ok_or("a sales order has no row")?;
        let Some(order) = self.shop.orders.iter().find(|order| order.reference == sell.order) else {
            return Err(format!("there is no request {}", sell.order));
        };
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
        for (nth, known) in order.lines.iter().enumerate() {
            let key = facts::product(&known.product);
            let mut line = Map::new();
            // What the plan does not sell on this record is not sold by it.
            match sells.iter().find(|sell| sell.product == key) {
                None => {
                    line.insert("product_uom_qty".into(), 0.into());
                }
                Some(sell) => {
                    if sell.units != known.units {
                        line.insert("product_uom_qty".into(), sell.units.into());
                    }
                    if sell.price != self.shop.list_price(&known.product) || !line.is_empty() {
                        line.insert("price_unit".into(), dollars(sell.price));
                    }
                    if sell.discount != 0 {
                        line.insert("discount".into(), sell.discount.into());
                    }
                }
            }
            if !line.is_empty() {
                let args = json!({ "ids": [at(&record_line(record, nth))], "vals": line });
                self.push(Step::call("sale.order.line", "write", args));
            }
        }
        let others = sells.iter().filter(|sell| order.lines.iter().all(|l| facts::product(&l.product) != sell.product));
        let others: Vec<Json> = others.map(|sell| json!([0, 0, sales_line(sell)])).collect();
        if !others.is_empty() {
            let args = json!({ "ids": [at(record)], "vals": { "order_line": others } });
            self.push(Step::call("sale.order", "write", args));
        }
        if order.source == Source::Draft {
            self.push(Step::call("sale.order", "action_confirm", ids(record)));
        }
        Ok(())
    }

    fn enter(&mut self, row: usize, sells: &[&SellRow]) -> Result<(), String> {
        let sell = *sells.first().ok_or("a sales order has no row")?;
        let lines: Vec<Json> = sells.iter().map(|sell| json!([0, 0, sales_line(sell)])).collect();
        let mut vals = Map::from_iter([
            ("partner_id".to_owned(), at(&sell.customer)),
            ("client_order_ref".to_owned(), sell.order.clone().into()),
            ("commitment_date".to_owned(), self.day(sell.promised)?.into()),
            ("order_line".to_owned(), lines.into()),
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
            match (self.standing.builds[row], &self.standing.before) {
                (Some(number), Some(before)) => self.remake(row, &before.rows.builds[number], &document)?,
                _ => self.make(row, &document)?,
            }
            self.learn_name("mrp.production", &document);
        }
        Ok(())
    }

    /// Changes a build where it stands.
    fn remake(&mut self, row: usize, old: &BuildRow, document: &str) -> Result<(), String> {
        let new = &self.rows.builds[row];
        if new.units != old.units {
            self.resize(new, document);
        }
        let mut vals = Map::new();
        if new.start != old.start {
            vals.insert("date_start".into(), self.day(new.start)?.into());
        }
        if new.due != old.due {
            vals.insert("date_deadline".into(), self.day(new.due)?.into());
        }
        if !vals.is_empty() {
            self.push(Step::call("mrp.production", "write", json!({ "ids": [at(document)], "vals": vals })));
        }
        Ok(())
    }

    /// Gives a build that stands its units. What it takes and what it makes do not follow them, so they are written too.
    fn resize(&mut self, build: &BuildRow, document: &str) {
        let moved = |key: String, units: i64| json!([1, at(&key), { "product_uom_qty": units }]);
        let lines = self.shop.bom.iter().filter(|line| Some(&*line.product) == code_of(&build.product));
        let parts = lines.map(|line| moved(format!("{document}/raw/{}", line.part), line.units * build.units));
        let vals = json!({
            "product_qty": build.units, "move_raw_ids": parts.collect::<Vec<Json>>(),
            "move_finished_ids": [moved(format!("{document}/made"), build.units)],
        });
        self.push(Step::call("mrp.production", "write", json!({ "ids": [at(document)], "vals": vals })));
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
            let buy = &self.rows.buys[row];
            if let (Some(number), Some(before)) = (self.standing.buys[row], &self.standing.before) {
                if before.rows.buys[number] != *buy {
                    // A new quantity sets price and date again, unless they come with it.
                    let mut vals = json!({
                        "product_qty": buy.units,
                        "price_unit": dollars(buy.price),
                        "date_planned": self.day(buy.arrive)?,
                    });
                    if buy.discount != 0 {
                        vals["discount"] = buy.discount.into();
                    }
                    let line = purchase_line(&purchase(number));
                    self.push(Step::call("purchase.order.line", "write", json!({ "ids": [at(&line)], "vals": vals })));
                }
                continue;
            }
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
        for row in self.documents() {
            let document = self.order(row);
            let order = self.shop.orders.iter().find(|order| order.reference == self.rows.sells[row].order);
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

/// The key of a line of a sales order of the first state, by its number from 0.
pub(crate) fn record_line(record: &str, number: usize) -> String {
    if number == 0 { format!("{record}/line") } else { format!("{record}/line/{}", number + 1) }
}

/// A line of a new sales order.
fn sales_line(sell: &SellRow) -> Map<String, Json> {
    let mut line = Map::from_iter([
        ("product_id".to_owned(), at(&sell.product)),
        ("product_uom_qty".to_owned(), sell.units.into()),
        ("price_unit".to_owned(), dollars(sell.price)),
    ]);
    if sell.discount != 0 {
        line.insert("discount".into(), sell.discount.into());
    }
    line
}

/// The key of the line of a purchase of the first state.
pub(crate) fn purchase_line(purchase: &str) -> String {
    format!("{purchase}/line")
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
