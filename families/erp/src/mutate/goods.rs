//! Near-misses in purchases, builds and the records around them.

use super::super::calls::{dollars, noon, production, purchase};
use super::super::facts;
use super::Work;
use benchwright_pack::{Step, script::at};
use serde_json::{Value as Json, json};

/// The key of a record that is made beside the plan.
const EXTRA: &str = "extra";
/// The key of a build that is made beside the plan.
const BESIDE: &str = "beside";

impl Work<'_> {
    /// Leaves a request for quotation open.
    pub(super) fn open_request(&mut self) -> Result<(), String> {
        let offer = self.shop.offers.first().ok_or("nobody offers anything")?;
        let (from, price) = offer.tiers.first().copied().ok_or("an offer has no price")?;
        let line = json!({
            "product_id": at(&facts::product(&offer.product)),
            "product_qty": from,
            "price_unit": dollars(price),
            "date_planned": noon(self.anchor, offer.lead)?,
        });
        let vals = json!({ "partner_id": at(&facts::vendor(&offer.vendor)), "order_line": [[0, 0, line]] });
        self.then("purchase.order", "create", json!({ "vals_list": [vals] }));
        Ok(())
    }

    /// Dates a purchase, or an order where nothing is bought, to the day before.
    pub(super) fn dated_yesterday(&mut self) -> Result<(), String> {
        let yesterday = json!(noon(self.anchor, -1)?);
        if let Some((purchase, _)) = self.purchases().into_iter().next() {
            self.write("purchase.order", &purchase, "date_order", yesterday);
            return Ok(());
        }
        let reference = &self.shop.accepted().next().ok_or("no request is accepted")?.reference;
        let order = self.order(reference)?;
        self.write("sale.order", &order, "date_order", yesterday);
        Ok(())
    }

    /// Leaves a build that nobody confirmed.
    pub(super) fn draft_build(&mut self) -> Result<(), String> {
        let product = self.shop.products.iter().find(|product| product.makes).ok_or("nothing is built")?;
        let vals = json!({
            "product_id": at(&facts::product(&product.code)),
            "product_qty": 1,
            "date_start": noon(self.anchor, 0)?,
            "date_deadline": noon(self.anchor, product.build_days)?,
        });
        self.then("mrp.production", "create", json!({ "vals_list": [vals] }));
        Ok(())
    }

    /// The keys of the builds that stand at the end, each with its product.
    fn builds(&self) -> Vec<(String, String)> {
        let made = self.steps.iter().filter_map(|step| made_of(step, "mrp.production"));
        let before = self.shop.repair.iter().flat_map(|repair| repair.builds.iter().enumerate());
        let kept = before.map(|(at, build)| (production(at), facts::product(&build.product)));
        kept.filter(|(key, _)| !self.falls(key)).chain(made).collect()
    }

    /// The keys of the purchases that stand at the end, each with its product.
    fn purchases(&self) -> Vec<(String, String)> {
        let made = self.steps.iter().filter_map(|step| made_of(step, "purchase.order"));
        let before = self.shop.repair.iter().flat_map(|repair| repair.buys.iter().enumerate());
        let kept = before.map(|(at, buy)| (purchase(at), facts::product(&buy.product)));
        kept.filter(|(key, _)| !self.falls(key)).chain(made).collect()
    }

    /// Whether the plan cancels a document.
    fn falls(&self, key: &str) -> bool {
        let ids = json!([at(key)]);
        self.steps.iter().any(|step| step.method.ends_with("_cancel") && step.args["ids"] == ids)
    }

    /// A build that stands at the end, with its product; where the plan builds nothing, one beside it.
    fn some_build(&mut self) -> Result<(String, String), String> {
        if let Some(found) = self.builds().into_iter().next() {
            return Ok(found);
        }
        self.draft_build()?;
        let made = self.steps.last_mut().ok_or("nothing is built")?;
        made.bind = Some(BESIDE.to_owned());
        let built = made_of(made, "mrp.production").ok_or("nothing is built")?;
        self.press("mrp.production", "action_confirm", BESIDE);
        Ok(built)
    }

    /// Builds without one of the parts that the recipe says.
    pub(super) fn other_recipe(&mut self) -> Result<(), String> {
        let (build, product) = self.some_build()?;
        let line = self.shop.bom.iter().find(|line| facts::product(&line.product) == product);
        let line = line.ok_or("the product has no recipe")?;
        let part = at(&facts::product(&line.part));
        let conditions = json!([["raw_material_production_id", "=", at(&build)], ["product_id", "=", part]]);
        self.find("stock.move", conditions, EXTRA);
        let none = json!([[1, at(EXTRA), { "product_uom_qty": 0 }]]);
        self.write("mrp.production", &build, "move_raw_ids", none);
        Ok(())
    }

    /// Gives a build two work orders at its own centre.
    pub(super) fn second_work_order(&mut self) -> Result<(), String> {
        let (build, product) = self.some_build()?;
        let row = self.rows.builds.iter().find(|row| row.product == product);
        let centre = row.map(|row| row.centre.clone());
        let centre = centre.or_else(|| Some(facts::centre(&self.shop.centres.first()?.code)));
        let centre = centre.ok_or("nothing can be built anywhere")?;
        let work = json!([[0, 0, { "name": "Rework", "workcenter_id": at(&centre) }]]);
        self.write("mrp.production", &build, "workorder_ids", work);
        Ok(())
    }

    /// Empties the source of a purchase of a product.
    pub(super) fn no_purchase_origin(&mut self, product: &str) -> Result<(), String> {
        let found = self.purchases().into_iter().find(|(_, of)| of == product);
        let (key, _) = found.ok_or_else(|| format!("the plan buys no {product}"))?;
        self.write("purchase.order", &key, "origin", Json::from(false));
        Ok(())
    }

    /// Empties the source of a build of a product.
    pub(super) fn no_build_origin(&mut self, product: &str) -> Result<(), String> {
        let found = self.builds().into_iter().find(|(_, of)| of == product);
        let (key, _) = found.ok_or_else(|| format!("the plan builds no {product}"))?;
        self.write("mrp.production", &key, "origin", Json::from(false));
        Ok(())
    }

    /// Keeps what broke, and with it the plan that stood; only a note is left.
    pub(super) fn broken_kept(&mut self) -> Result<(), String> {
        let repair = self.shop.repair.as_ref().ok_or("nothing broke")?;
        let bought = repair.buys.iter().position(|buy| repair.vendor.as_ref() == Some(&buy.vendor));
        let built = repair.builds.iter().position(|build| repair.centre.as_ref() == Some(&build.centre));
        let (model, key) = match (bought, built) {
            (Some(at), _) => ("purchase.order", purchase(at)),
            (None, Some(at)) => ("mrp.production", production(at)),
            (None, None) => return Err("nothing that stood is broken".to_owned()),
        };
        self.steps.clear();
        self.then(model, "message_post", json!({ "ids": [at(&key)], "body": "To be looked into." }));
        Ok(())
    }

    /// Corrects the stock of a product by one unit.
    pub(super) fn stock_booked(&mut self) -> Result<(), String> {
        let stocked = self.shop.products.iter().find(|product| product.stock > 0);
        let key = match stocked {
            Some(product) => {
                let key = format!("stock/{}", product.code);
                self.write("stock.quant", &key, "inventory_quantity", json!(product.stock + 1));
                key
            }
            None => {
                let vals = json!({
                    "product_id": at(&facts::product(&self.shop.finished().code)),
                    "location_id": at("location/stock"),
                    "inventory_quantity": 1,
                });
                self.steps.push(Step::call("stock.quant", "create", json!({ "vals_list": [vals] })).bind(EXTRA));
                EXTRA.to_owned()
            }
        };
        self.press("stock.quant", "action_apply_inventory", &key);
        Ok(())
    }

    /// Renames a partner that does not belong to the job.
    pub(super) fn neighbour_renamed(&mut self) -> Result<(), String> {
        let vendor = self.shop.adjacent.vendors.first().map(|party| facts::vendor(&party.reference));
        let customer = self.shop.adjacent.customers.first().map(|party| facts::customer(&party.reference));
        let key = vendor.or(customer).ok_or("nobody is around the job")?;
        self.write("res.partner", &format!("adj/{key}"), "name", json!("Renamed Trading"));
        Ok(())
    }

    /// Changes a price of a supplier.
    pub(super) fn price_list_changed(&mut self) -> Result<(), String> {
        let offer = self.shop.offers.first().ok_or("nobody offers anything")?;
        let (from, price) = offer.tiers.first().copied().ok_or("an offer has no price")?;
        let key = format!("offer/{}/{}/{from}", offer.vendor, offer.product);
        self.write("product.supplierinfo", &key, "price", dollars(price + 100));
        Ok(())
    }
}

/// The document that a call makes, and the key of its product.
fn made_of(step: &Step, model: &str) -> Option<(String, String)> {
    if step.model != model || step.method != "create" {
        return None;
    }
    let vals = &step.args["vals_list"][0];
    let line = &vals["order_line"][0][2];
    let product = vals["product_id"]["$"].as_str().or(line["product_id"]["$"].as_str())?;
    Some((step.bind.clone()?, product.to_owned()))
}
