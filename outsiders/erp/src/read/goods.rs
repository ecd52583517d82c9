//! The items of a job, with their recipes, who offers them, and where they can be built.

use super::{
    notes::{self, CentreNotes},
    records::{Record, all, one},
};
use crate::job::{Item, Offer, Pool, Recipe, Told, Way};
use benchwright_world::ToolAccess;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The items of a job, by record.
pub(super) struct Goods {
    /// Code and item.
    pub(super) items: BTreeMap<i64, (String, Item)>,
    /// The operation of each recipe: centre and minutes.
    operations: BTreeMap<i64, (i64, i64)>,
}

impl Goods {
    /// The records of all items.
    pub(super) fn ids(&self) -> Vec<i64> {
        self.items.keys().copied().collect()
    }

    /// The code of an item by its record.
    pub(super) fn code(&self, id: i64) -> Result<&str, String> {
        self.items.get(&id).map(|(code, _)| &**code).ok_or_else(|| format!("product {id} is no part of the job"))
    }

    fn has(&self, code: &str) -> bool {
        self.items.values().any(|(known, _)| known == code)
    }
}

/// Reads what is sold and all that it consists of.
pub(super) fn read(access: &mut dyn ToolAccess, sold: BTreeSet<String>) -> Result<Goods, String> {
    let fields = ["default_code", "list_price", "qty_available", "bom_ids"];
    let mut goods = Goods { items: BTreeMap::new(), operations: BTreeMap::new() };
    let mut open = all(access, "product_product", &json!([["default_code", "in", sold]]), &fields)?;
    if open.len() != sold.len() {
        return Err(format!("{} items are asked for, {} are on file", sold.len(), open.len()));
    }
    while !open.is_empty() {
        let mut parts: BTreeSet<i64> = BTreeSet::new();
        for record in open {
            let (id, code) = (record.id()?, record.name("default_code")?);
            let recipe = match record.links("bom_ids")?[..] {
                [] => None,
                [bom] => Some(recipe(access, bom)?),
                _ => return Err(format!("{code} has more than one recipe")),
            };
            let recipe = recipe.map(|(days, lines, operation)| {
                parts.extend(lines.keys());
                goods.operations.insert(id, operation);
                (days, lines)
            });
            let item = Item {
                sold: sold.contains(&code),
                stock: record.whole("qty_available")?,
                list: record.cents("list_price")?,
                // Parts are named below, once all are read.
                recipe: recipe.map(|(days, lines)| Recipe {
                    days,
                    parts: lines.into_iter().map(|(part, units)| (part.to_string(), units)).collect(),
                }),
            };
            goods.items.insert(id, (code, item));
        }
        let fresh: Vec<i64> = parts.into_iter().filter(|part| !goods.items.contains_key(part)).collect();
        open = if fresh.is_empty() {
            Vec::new()
        } else {
            all(access, "product_product", &json!([["id", "in", fresh]]), &fields)?
        };
    }
    named(goods)
}

/// The same goods, with the parts of recipes by code.
fn named(mut goods: Goods) -> Result<Goods, String> {
    let codes: BTreeMap<String, String> =
        goods.items.iter().map(|(id, (code, _))| (id.to_string(), code.clone())).collect();
    for (_, item) in goods.items.values_mut() {
        let Some(recipe) = &mut item.recipe else { continue };
        let parts = recipe.parts.iter().map(|(id, units)| {
            let code = codes.get(id).ok_or_else(|| format!("the part {id} is not on file"))?;
            Ok((code.clone(), *units))
        });
        recipe.parts = parts.collect::<Result<_, String>>()?;
    }
    Ok(goods)
}

/// Days, units by part, and the operation, as centre and minutes, of a recipe.
type OnFile = (i64, BTreeMap<i64, i64>, (i64, i64));

fn recipe(access: &mut dyn ToolAccess, bom: i64) -> Result<OnFile, String> {
    let of_bom = json!([["bom_id", "=", bom]]);
    let record = one(access, "mrp_bom", &json!([["id", "=", bom]]), &["product_qty", "type", "produce_delay"])?;
    record.must("product_qty", &json!(1))?;
    record.must("type", &json!("normal"))?;
    let mut parts: BTreeMap<i64, i64> = BTreeMap::new();
    for line in all(access, "mrp_bom_line", &of_bom, &["product_id", "product_qty"])? {
        *parts.entry(line.link("product_id")?).or_default() += line.whole("product_qty")?;
    }
    let operation = one(access, "mrp_routing_workcenter", &of_bom, &["workcenter_id", "time_cycle_manual"])?;
    Ok((
        record.whole("produce_delay")?,
        parts,
        (operation.link("workcenter_id")?, operation.whole("time_cycle_manual")?),
    ))
}

/// Who offers what, whether it may be bought or not.
pub(super) fn offers(access: &mut dyn ToolAccess, goods: &Goods, told: &Told) -> Result<Vec<Offer>, String> {
    let fields = ["partner_id", "product_tmpl_id", "min_qty", "price", "discount", "delay", "date_start", "date_end"];
    let mut lists: BTreeMap<(i64, i64), Vec<Record>> = BTreeMap::new();
    for line in all(access, "product_supplierinfo", &json!([["product_tmpl_id", "in", goods.ids()]]), &fields)? {
        for (field, plain) in [("discount", json!(0)), ("date_start", json!(false)), ("date_end", json!(false))] {
            line.must(field, &plain)?;
        }
        lists.entry((line.link("partner_id")?, line.link("product_tmpl_id")?)).or_default().push(line);
    }
    let partners: BTreeSet<i64> = lists.keys().map(|(partner, _)| *partner).collect();
    let mut suppliers = BTreeMap::new();
    for record in all(access, "res_partner", &json!([["id", "in", partners]]), &["ref", "comment"])? {
        let reference = record.name("ref")?;
        let notes = notes::supplier(record.text("comment")?).map_err(|why| format!("{reference}: {why}"))?;
        if notes.withdrawn != told.withdrawn.contains(&reference) {
            return Err(format!("{reference} has withdrawn by its notes or by the text, and not by both"));
        }
        suppliers.insert(record.id()?, (reference, notes));
    }
    let mut offers = Vec::new();
    for ((partner, product), lines) in lists {
        let (supplier, notes) = suppliers.get(&partner).ok_or_else(|| format!("no supplier {partner}"))?;
        let item = goods.code(product)?;
        let most = *notes.most.get(item).ok_or_else(|| format!("how much of {item} does {supplier} deliver?"))?;
        let days = lines.iter().map(|line| line.whole("delay")).collect::<Result<BTreeSet<i64>, String>>()?;
        let (Some(days), 1) = (days.first(), days.len()) else {
            return Err(format!("the delivery days of {item} from {supplier} depend on the quantity"));
        };
        let steps = lines.iter().map(|line| Ok((line.whole("min_qty")?, line.cents("price")?)));
        let steps = steps.collect::<Result<BTreeMap<i64, i64>, String>>()?;
        if steps.len() != lines.len() {
            return Err(format!("{supplier} has two prices for one quantity of {item}"));
        }
        let (supplier, item) = (supplier.clone(), item.to_owned());
        offers.push(Offer { supplier, item, days: *days, most, steps: steps.into_iter().collect() });
    }
    Ok(offers)
}

/// Where items are built.
#[derive(Default)]
pub(super) struct Shop {
    pub(super) ways: Vec<Way>,
    pub(super) pools: Vec<Pool>,
    pub(super) down: BTreeMap<String, BTreeSet<i64>>,
    /// Codes of centres, by record.
    pub(super) codes: BTreeMap<i64, String>,
}

/// Reads the centres that are approved for an item of the job.
pub(super) fn shop(access: &mut dyn ToolAccess, goods: &Goods, told: &Told) -> Result<Shop, String> {
    let mut shop = Shop::default();
    if goods.operations.is_empty() {
        return Ok(shop);
    }
    for record in all(access, "mrp_workcenter", &json!([]), &["code", "costs_hour", "note"])? {
        let note = record.text("note")?;
        if !note
            .lines()
            .any(|line| goods.items.values().any(|(code, _)| line.starts_with(&format!("Approved for {code}:"))))
        {
            continue;
        }
        let code = record.name("code")?;
        let notes = notes::centre(note).map_err(|why| format!("{code}: {why}"))?;
        if notes.failed != told.broken.contains(&code) {
            return Err(format!("{code} has failed by its notes or by the text, and not by both"));
        }
        shop.codes.insert(record.id()?, code.clone());
        shop.centre(&code, record.cents("costs_hour")?, notes, goods, told)?;
    }
    for (product, (centre, minutes)) in &goods.operations {
        let (item, centre) = (goods.code(*product)?, shop.codes.get(centre));
        let agrees = |way: &Way| way.item == item && Some(&way.centre) == centre && way.minutes == *minutes;
        if !shop.ways.iter().any(agrees) {
            return Err(format!("the recipe of {item} and the notes of its centre do not agree"));
        }
    }
    Ok(shop)
}

impl Shop {
    fn centre(&mut self, code: &str, hour: i64, notes: CentreNotes, goods: &Goods, told: &Told) -> Result<(), String> {
        for (item, minutes) in notes.approved.into_iter().filter(|(item, _)| goods.has(item)) {
            if minutes * hour % 60 != 0 {
                return Err(format!("a unit of {item} at {code} costs no whole number of cents"));
            }
            self.ways.push(Way { item, centre: code.to_owned(), minutes, cost: minutes * hour / 60 });
        }
        let own = BTreeSet::from([code.to_owned()]);
        let alone = [(notes.total, false), (notes.daily, true)];
        for (minutes, daily) in alone.into_iter().filter_map(|(minutes, daily)| Some((minutes?, daily))) {
            self.pools.push(Pool { name: code.to_owned(), centres: own.clone(), minutes, daily });
        }
        for (name, centres, minutes) in notes.groups {
            let pool = Pool { name: format!("group {name}"), centres, minutes, daily: false };
            match self.pools.iter().find(|known| known.name == pool.name) {
                Some(known) if *known == pool => {}
                Some(_) => return Err(format!("centres disagree on the group {name}")),
                None => self.pools.push(pool),
            }
        }
        if let Some((from, to)) = notes.down {
            let day = |date: benchwright_base::Date| i64::from(date.0) - i64::from(told.today.0);
            self.down.insert(code.to_owned(), (day(from)..=day(to)).collect());
        }
        Ok(())
    }
}
