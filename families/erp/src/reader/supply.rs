//! Who can supply: work centres with what their notes approve, and suppliers with what they list.

use super::super::shop::{Centre, Group, MakeOption, Offer, Party};
use super::{
    goods::Goods,
    notes::{self, CentreNotes},
    rows::{Row, find},
    text::Told,
};
use benchwright_project::ToolAccess;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The work centres of the job.
pub(super) struct Works {
    /// The centres.
    pub(super) centres: Vec<Centre>,
    /// Their codes, by record.
    pub(super) codes: BTreeMap<i64, String>,
    /// Minutes that several of them share.
    pub(super) groups: Vec<Group>,
    /// Who can build what.
    pub(super) options: Vec<MakeOption>,
    /// The codes of those that have failed.
    pub(super) failed: BTreeSet<String>,
}

/// Reads the centres that recipes name, their alternatives, and whoever is approved for a product of the job.
pub(super) fn works(access: &mut dyn ToolAccess, goods: &Goods, told: &Told) -> Result<Works, String> {
    let fields = ["name", "code", "costs_hour", "time_efficiency", "note", "alternative_workcenter_ids"];
    let rows = find(access, "mrp_workcenter", json!([]), &fields)?;
    let named: BTreeSet<i64> = goods.operations.iter().map(|(_, centre, _)| *centre).collect();
    let mut wanted = named.clone();
    for row in &rows {
        if named.contains(&row.id()?) {
            wanted.extend(row.links("alternative_workcenter_ids")?);
        }
        let note = row.text("note")?.unwrap_or_default();
        if goods.codes.values().any(|code| notes::approves(note, code)) {
            wanted.insert(row.id()?);
        }
    }
    let mut works = Works {
        centres: Vec::new(),
        codes: BTreeMap::new(),
        groups: Vec::new(),
        options: Vec::new(),
        failed: BTreeSet::new(),
    };
    let mut approved: BTreeMap<String, CentreNotes> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.id().is_ok_and(|id| wanted.contains(&id))) {
        let (centre, notes) = centre(row, told)?;
        works.codes.insert(row.id()?, centre.code.clone());
        if notes.failed {
            works.failed.insert(centre.code.clone());
        }
        if approved.insert(centre.code.clone(), notes).is_some() {
            return Err(format!("two work centres have the code {}", centre.code));
        }
        works.centres.push(centre);
    }
    if works.codes.len() != wanted.len() {
        return Err("a recipe names a work centre that cannot be read".to_owned());
    }
    works.centres.sort_by(|one, other| one.code.cmp(&other.code));
    works.groups = groups(&approved)?;
    works.options = options(goods, &works.codes, &approved)?;
    told_down(told, &works.centres)?;
    Ok(works)
}

fn centre(row: &Row, told: &Told) -> Result<(Centre, CentreNotes), String> {
    let code = row.needed("code")?;
    row.must("time_efficiency", &json!(100))?;
    let notes = notes::centre(row.text("note")?.unwrap_or_default()).map_err(|why| format!("{code}: {why}"))?;
    let day = |date: benchwright_base::Date| i64::from(date.0 - told.today.0);
    let centre = Centre {
        code,
        name: row.needed("name")?,
        hourly: row.whole("costs_hour")?,
        minutes: notes.minutes,
        daily: notes.daily,
        down: notes.down.map(|(from, to)| (day(from), day(to))),
    };
    Ok((centre, notes))
}

/// The groups, which every member's notes tell in the same words.
fn groups(notes: &BTreeMap<String, CentreNotes>) -> Result<Vec<Group>, String> {
    let mut groups: Vec<Group> = Vec::new();
    for (code, (name, centres, minutes)) in
        notes.iter().flat_map(|(code, notes)| notes.groups.iter().map(move |group| (code, group)))
    {
        let group = Group { name: name.clone(), centres: centres.clone(), minutes: *minutes };
        if !group.centres.contains(code) {
            return Err(format!("{code} has notes on group {name}, to which it does not belong"));
        }
        match groups.iter().find(|known| known.name == group.name) {
            Some(known) if *known == group => {}
            Some(_) => return Err(format!("the notes disagree on group {name}")),
            None => groups.push(group),
        }
    }
    for group in &groups {
        let tells = |code: &String| {
            notes.get(code).is_some_and(|notes| notes.groups.iter().any(|(name, _, _)| *name == group.name))
        };
        if let Some(silent) = group.centres.iter().find(|code| !tells(code)) {
            return Err(format!("{silent} is in group {}, but its notes do not say so", group.name));
        }
    }
    Ok(groups)
}

/// Who can build what: the recipe's own centre first.
fn options(
    goods: &Goods,
    codes: &BTreeMap<i64, String>,
    notes: &BTreeMap<String, CentreNotes>,
) -> Result<Vec<MakeOption>, String> {
    let mut options = Vec::new();
    for (product, primary, minutes) in &goods.operations {
        let primary = codes.get(primary).ok_or_else(|| format!("the centre of {product} cannot be read"))?;
        let noted = notes.get(primary).and_then(|notes| notes.approved.get(product));
        if noted != Some(minutes) {
            let noted = noted.map_or_else(|| "no approval".to_owned(), |noted| format!("{noted} minutes"));
            return Err(format!("{product} at {primary}: {minutes} minutes by the recipe, {noted} by the notes"));
        }
        let option =
            |centre: &String, minutes: i64| MakeOption { product: product.clone(), centre: centre.clone(), minutes };
        options.push(option(primary, *minutes));
        let others = notes.iter().filter(|(code, _)| *code != primary);
        options.extend(others.filter_map(|(code, notes)| Some(option(code, *notes.approved.get(product)?))));
    }
    let made = |code: &str| goods.operations.iter().any(|(product, _, _)| product == code);
    for (code, notes) in notes {
        if let Some(odd) =
            notes.approved.keys().find(|item| goods.codes.values().any(|known| known == *item) && !made(item))
        {
            return Err(format!("{code} is approved for {odd}, which has no recipe"));
        }
    }
    Ok(options)
}

/// The instruction and the notes tell the same days on which centres are down.
fn told_down(told: &Told, centres: &[Centre]) -> Result<(), String> {
    let day = |date: benchwright_base::Date| i64::from(date.0 - told.today.0);
    let said: BTreeMap<&str, (i64, i64)> =
        told.down.iter().map(|(code, from, to)| (&**code, (day(*from), day(*to)))).collect();
    let noted: BTreeMap<&str, (i64, i64)> =
        centres.iter().filter_map(|centre| Some((&*centre.code, centre.down?))).collect();
    if said != noted || said.len() != told.down.len() {
        return Err(format!("centres are down on {said:?} by the instruction, on {noted:?} by their notes"));
    }
    Ok(())
}

/// The suppliers of the job.
pub(super) struct Market {
    /// The suppliers.
    pub(super) vendors: Vec<Party>,
    /// Their references, by record.
    pub(super) references: BTreeMap<i64, String>,
    /// What they offer.
    pub(super) offers: Vec<Offer>,
    /// The references of those that have withdrawn.
    pub(super) withdrawn: BTreeSet<String>,
}

/// Reads whoever lists a product of the job, and what they list of it.
pub(super) fn market(access: &mut dyn ToolAccess, goods: &Goods) -> Result<Market, String> {
    let fields = [
        "partner_id",
        "product_tmpl_id",
        "product_id",
        "min_qty",
        "price",
        "discount",
        "delay",
        "date_start",
        "date_end",
    ];
    let lines = find(access, "product_supplierinfo", json!([["product_tmpl_id", "in", goods.ids()]]), &fields)?;
    let mut partners: BTreeSet<i64> = BTreeSet::new();
    let mut offers: BTreeMap<(String, i64), Offer> = BTreeMap::new();
    for line in &lines {
        for field in ["date_start", "date_end"] {
            line.must(field, &json!(false))?;
        }
        if line.link("product_id")? != line.link("product_tmpl_id")? {
            return Err(format!("a price line of {} is for another product", line.link("product_tmpl_id")?));
        }
        line.must("discount", &json!(0))?;
        let (partner, code, lead) =
            (line.link("partner_id")?, goods.code(line.link("product_tmpl_id")?)?, line.whole("delay")?);
        partners.insert(partner);
        let fresh = || Offer { vendor: String::new(), product: code.to_owned(), lead, most: None, tiers: Vec::new() };
        let offer = offers.entry((code.to_owned(), partner)).or_insert_with(fresh);
        if offer.lead != lead {
            return Err(format!("the price lines of partner {partner} for {code} differ in delivery days"));
        }
        offer.tiers.push((line.whole("min_qty")?, line.cents("price")?));
    }
    let mut market =
        Market { vendors: Vec::new(), references: BTreeMap::new(), offers: Vec::new(), withdrawn: BTreeSet::new() };
    let mut most: BTreeMap<(i64, String), Option<i64>> = BTreeMap::new();
    let ids: Vec<i64> = partners.iter().copied().collect();
    for row in find(access, "res_partner", json!([["id", "in", ids]]), &["name", "ref", "comment"])? {
        let (id, reference) = (row.id()?, row.needed("ref")?);
        let notes = notes::supplier(row.text("comment")?.unwrap_or_default());
        let notes = notes.map_err(|why| format!("{reference}: {why}"))?;
        if notes.withdrawn {
            market.withdrawn.insert(reference.clone());
        }
        most.extend(notes.most.into_iter().map(|(item, units)| ((id, item), units)));
        market.vendors.push(Party { reference: reference.clone(), name: row.needed("name")? });
        market.references.insert(id, reference);
    }
    market.vendors.sort_by(|one, other| one.reference.cmp(&other.reference));
    if market.vendors.windows(2).any(|pair| pair[0].reference == pair[1].reference) {
        return Err("two suppliers have one reference".to_owned());
    }
    for ((product, partner), mut offer) in offers {
        let vendor = market.references.get(&partner);
        let vendor = vendor.ok_or_else(|| format!("the supplier {partner} of {product} cannot be read"))?;
        offer.vendor.clone_from(vendor);
        offer.tiers.sort_unstable();
        if offer.tiers.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("{vendor} has two prices for one quantity of {product}"));
        }
        let most = most.remove(&(partner, product.clone()));
        offer.most =
            most.ok_or_else(|| format!("the notes of {vendor} do not say how much of {product} it delivers"))?;
        market.offers.push(offer);
    }
    if let Some((_, item)) = most.keys().find(|(_, item)| goods.codes.values().any(|code| code == item)) {
        return Err(format!("notes limit {item} at a supplier that does not list it"));
    }
    Ok(market)
}
