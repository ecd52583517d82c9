//! The closed-book reader: rebuilds a case from the instruction and from what read-only tools answer, as a planner would who
//! has nothing else. It shares the types of a case with the rest of the family and nothing of how texts and records are
//! written: the sentences that it knows are its own copy (`phrasings.toml`). What it cannot find, finds told in two ways, or does not
//! know is an error.

mod addresses;
mod clauses;
mod documents;
mod figures;
mod goods;
mod notes;
mod rows;
mod sentences;
mod supply;
#[cfg(test)]
mod tests;
mod text;

use super::{
    case::case_of,
    shop::{Adjacent, Calendar, NeverBought, Product, Repair, Role, Shop},
};
pub(crate) use addresses::addresses;
use benchwright_base::Date;
use benchwright_project::{Case, Passage, ToolAccess};
use figures::is_code;
use goods::Goods;
use serde_json::json;
use std::collections::BTreeSet;
use supply::{Market, Works};
use text::Told;

/// Rebuilds a case.
pub(crate) fn read_back(text: &str, access: &mut dyn ToolAccess) -> Result<Case, String> {
    let sentences = sentences::read(text)?;
    let told = text::read(text)?;
    let goods = goods::read(access, &told.items)?;
    let works = supply::works(access, &goods, &told)?;
    let market = supply::market(access, &goods)?;
    let (orders, customers) = documents::orders(access, &goods, &told)?;
    let never_bought = never_bought(&told, &goods, &market)?;
    let repair = repair(access, &told, &goods, &market, &works)?;
    margin_on_file(access, &told)?;
    let calendar = if told.closes { Some(calendar(access)?) } else { None };
    let shop = Shop {
        anchor: told.today.to_string(),
        objective: told.objective.to_owned(),
        line: String::new(),
        margin: told.margin,
        budget: told.budget,
        customers,
        orders,
        screen: told.screen,
        billing: told.billing,
        calendar,
        products: goods.products,
        bom: goods.bom,
        centres: works.centres,
        groups: works.groups,
        options: works.options,
        vendors: market.vendors,
        offers: market.offers,
        never_bought,
        repair,
        adjacent: Adjacent::default(),
        clauses: told.clauses,
    };
    let mut case = case_of(&shop);
    // What does not belong to the job is not read; that there is such a thing is told.
    if told.apart {
        case.switches.push("adjacent".to_owned());
    }
    sentences.check(&shop, &case.switches)?;
    let opening = text.split("\n## ").next().unwrap_or_default();
    let is_named = |product: &&Product| product.role != Role::Finished || opening.contains(&product.name);
    if let Some(item) = shop.products.iter().find(|product| !is_named(product)) {
        return Err(format!("the item {} is called otherwise in the opening", item.code));
    }
    if let Some(item) = shop.products.iter().find(|product| !is_coded(opening, product)) {
        return Err(format!("the item {} has the code of another in the opening", item.code));
    }
    Ok(case)
}

/// Whether a code that stands with the name of an item, wherever it is named, is its own.
fn is_coded(text: &str, item: &Product) -> bool {
    text.split(&*item.name).skip(1).all(|rest| {
        let code = rest.strip_prefix(" (").or_else(|| rest.strip_prefix(", code ")).unwrap_or_default();
        let code =
            code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').next().unwrap_or_default();
        !is_code(code) || code == item.code
    })
}

/// What of an instruction carries no meaning of its own.
pub(crate) fn passages(text: &str) -> Vec<Passage> {
    sentences::passages(text)
}

/// Why the finished product is never bought, if it is not. The instruction names all that is never bought, and routes,
/// recipes and price lists must agree with it.
fn never_bought(told: &Told, goods: &Goods, market: &Market) -> Result<Option<NeverBought>, String> {
    let made: BTreeSet<&str> =
        goods.products.iter().filter(|product| product.makes).map(|product| &*product.code).collect();
    if let Some(item) = told.items.iter().find(|item| told.never_built == made.contains(&***item)) {
        return Err(format!("instruction and routes disagree on whether {item} is built"));
    }
    let said: BTreeSet<&str> = told.never_bought.iter().map(|(code, _)| &**code).collect();
    let module = |product: &&Product| product.role == Role::Module;
    let modules: BTreeSet<&str> = goods.products.iter().filter(module).map(|product| &*product.code).collect();
    let others: BTreeSet<&str> =
        said.iter().copied().filter(|code| told.items.iter().all(|item| item != code)).collect();
    if others != modules || said.len() != told.never_bought.len() {
        return Err(format!("never bought are {others:?} by the instruction, modules are {modules:?}"));
    }
    let mut reasons = Vec::new();
    for item in &told.items {
        let reason = told.never_bought.iter().find(|(code, _)| code == item).map(|(_, reason)| *reason);
        let has_route = goods.products.iter().any(|product| product.code == *item && product.buys);
        let listed = market.offers.iter().any(|offer| offer.product == *item);
        reasons.push(match reason {
            Some(Some(NeverBought::Design)) if has_route => return Err(format!("{item} has a buying route")),
            Some(Some(NeverBought::Market)) if listed => return Err(format!("{item} is on a price list")),
            Some(Some(reason)) => Some(reason),
            Some(None) => return Err(format!("nothing says why {item} is never bought")),
            None if !has_route => {
                return Err(format!("{item} has no buying route, but nothing says that it is never bought"));
            }
            None => None,
        });
    }
    match reasons.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => Ok(*first),
        _ => Err("some finished items are never bought, others are".to_owned()),
    }
}

/// The closed days, which two system parameters list.
fn calendar(access: &mut dyn ToolAccess) -> Result<Calendar, String> {
    let mut list = |key: &str| -> Result<Vec<String>, String> {
        let row = rows::find_one(access, "ir_config_parameter", json!([["key", "=", key]]), &["value"])?;
        Ok(row.needed("value")?.split(", ").map(str::to_owned).collect())
    };
    let weekday = |name: &String| {
        let names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        let found = (0..7u8).zip(names).find(|(_, known)| known == name);
        found.map(|(day, _)| day).ok_or_else(|| format!("{name} is no weekday"))
    };
    let weekdays = list("planning.closed_weekdays")?.iter().map(weekday).collect::<Result<_, String>>()?;
    let dates = list("planning.closed_dates")?;
    match dates.iter().find(|date| Date::parse(date).is_none()) {
        Some(odd) => Err(format!("{odd} is no date")),
        None => Ok(Calendar { weekdays, dates }),
    }
}

/// The plan that stood and what went wrong with it. The instruction says who failed, and notes in the system say the same.
fn repair(
    access: &mut dyn ToolAccess,
    told: &Told,
    goods: &Goods,
    market: &Market,
    works: &Works,
) -> Result<Option<Repair>, String> {
    let vendors: BTreeSet<&str> = market.vendors.iter().map(|party| &*party.reference).collect();
    let centres: BTreeSet<&str> = works.centres.iter().map(|centre| &*centre.code).collect();
    let (mut vendor, mut centre) = (None, None);
    for code in &told.broken {
        let slot = match (vendors.contains(&**code), centres.contains(&**code)) {
            (true, false) => &mut vendor,
            (false, true) => &mut centre,
            _ => return Err(format!("{code} has failed, but is no supplier or centre of the job")),
        };
        if slot.replace(code.clone()).is_some() {
            return Err(format!("{code} has failed, and another one of its kind too"));
        }
    }
    let set = |one: &Option<String>| one.iter().cloned().collect::<BTreeSet<String>>();
    if told.withdrawn.iter().cloned().collect::<BTreeSet<String>>() != set(&vendor) || market.withdrawn != set(&vendor)
    {
        return Err(format!("{vendor:?} has failed, {:?} and {:?} have withdrawn", told.withdrawn, market.withdrawn));
    }
    if works.failed != set(&centre) {
        return Err(format!("{centre:?} has failed by the instruction, {:?} by the notes", works.failed));
    }
    let buys = documents::buys(access, goods, market, told)?;
    let builds = documents::builds(access, goods, works, told)?;
    let broken = vendor.is_some() || centre.is_some();
    if broken != (told.objective == "repair_plan") {
        return Err("the goal and what is said of failures do not go together".to_owned());
    }
    if !broken {
        let stands = buys.len() + builds.len();
        return if stands == 0 { Ok(None) } else { Err(format!("{stands} documents stand that nobody speaks of")) };
    }
    if let Some((odd, _)) = buys.iter().find(|(buy, cancelled)| (vendor.as_ref() == Some(&buy.vendor)) != *cancelled) {
        return Err(format!("the note on the purchase of {} from {} does not fit", odd.product, odd.vendor));
    }
    Ok(Some(Repair { vendor, centre, buys: buys.into_iter().map(|(buy, _)| buy).collect(), builds }))
}

/// The margin that the company has on file is the one that is told, where both are there.
fn margin_on_file(access: &mut dyn ToolAccess, told: &Told) -> Result<(), String> {
    let by_key = json!([["key", "=", "planning.margin_floor_percent"]]);
    for row in rows::find(access, "ir_config_parameter", by_key, &["value"])? {
        let value = row.needed("value")?;
        if told.margin.is_some() && figures::decimal(&value, 2) != told.margin {
            return Err(format!("the margin is {value} percent on file and {:?} hundredths as told", told.margin));
        }
    }
    Ok(())
}
