//! The products of the job: the finished one and everything it consists of, with recipes, routes and stock.

use super::super::shop::{BomLine, Product, Role};
use super::rows::{Row, find, find_one};
use benchwright_project::ToolAccess;
use serde_json::json;
use std::collections::BTreeMap;

/// The products of the job and their recipes.
pub(super) struct Goods {
    /// The products, each before what it consists of.
    pub(super) products: Vec<Product>,
    /// The codes, by record.
    pub(super) codes: BTreeMap<i64, String>,
    /// The recipes.
    pub(super) bom: Vec<BomLine>,
    /// The operation of each recipe: product, record of the work centre, minutes per unit.
    pub(super) operations: Vec<(String, i64, i64)>,
}

const FIELDS: [&str; 7] =
    ["name", "default_code", "list_price", "standard_price", "qty_available", "route_ids", "bom_ids"];

/// A recipe as it is on file.
struct Recipe {
    days: i64,
    lines: Vec<(i64, i64)>,
    operation: (i64, i64),
}

/// Reads the finished products and whatever they consist of.
pub(super) fn read(access: &mut dyn ToolAccess, codes: &[String]) -> Result<Goods, String> {
    let routes = find(access, "stock_route", json!([]), &["name"])?;
    let route = |name: &str| -> Result<Option<i64>, String> {
        let found = routes.iter().find(|row| row.text("name").is_ok_and(|known| known == Some(name)));
        found.map(Row::id).transpose()
    };
    let (buy, make) = (route("Buy")?, route("Manufacture")?);
    let mut open = Vec::new();
    for code in codes {
        open.push(find_one(access, "product_product", json!([["default_code", "=", code]]), &FIELDS)?);
    }
    let mut products: BTreeMap<i64, Product> = BTreeMap::new();
    let mut recipes: BTreeMap<i64, Recipe> = BTreeMap::new();
    let mut depth: BTreeMap<i64, usize> = open.iter().map(|row| Ok((row.id()?, 0))).collect::<Result<_, String>>()?;
    while let Some(row) = open.pop() {
        let id = row.id()?;
        let on = row.links("route_ids")?;
        let takes = |route: Option<i64>| route.is_some_and(|route| on.contains(&route));
        let (buys, makes) = (takes(buy), takes(make));
        let recipe = recipe(access, &row, makes)?;
        let code = row.needed("default_code")?;
        let role = match (codes.contains(&code), makes) {
            (true, _) => Role::Finished,
            (false, true) => Role::Module,
            (false, false) => Role::Part,
        };
        let product = Product {
            code,
            name: row.needed("name")?,
            role,
            list: row.cents("list_price")?,
            cost: row.cents("standard_price")?,
            stock: row.whole("qty_available")?,
            buys,
            makes,
            build_days: recipe.as_ref().map_or(0, |recipe| recipe.days),
        };
        products.insert(id, product);
        let Some(recipe) = recipe else { continue };
        let parts: Vec<i64> = recipe.lines.iter().map(|(part, _)| *part).collect();
        recipes.insert(id, recipe);
        let fresh: Vec<i64> = parts.into_iter().filter(|part| depth.insert(*part, 0).is_none()).collect();
        if !fresh.is_empty() {
            open.extend(find(access, "product_product", json!([["id", "in", fresh]]), &FIELDS)?);
        }
    }
    settle(&recipes, &mut depth)?;
    Goods::new(products, &recipes, &depth)
}

/// How far each product lies below the finished one, by the longest way.
fn settle(recipes: &BTreeMap<i64, Recipe>, depth: &mut BTreeMap<i64, usize>) -> Result<(), String> {
    for _ in 0..=depth.len() {
        let mut moved = false;
        for (product, recipe) in recipes {
            let below = depth.get(product).copied().unwrap_or(0) + 1;
            for (part, _) in &recipe.lines {
                let known = depth.entry(*part).or_insert(0);
                moved |= *known < below;
                *known = below.max(*known);
            }
        }
        if !moved {
            return Ok(());
        }
    }
    Err("a recipe of the job leads back to its own product".to_owned())
}

impl Goods {
    fn new(
        products: BTreeMap<i64, Product>,
        recipes: &BTreeMap<i64, Recipe>,
        depth: &BTreeMap<i64, usize>,
    ) -> Result<Goods, String> {
        let codes: BTreeMap<i64, String> = products.iter().map(|(id, product)| (*id, product.code.clone())).collect();
        let code = |id: &i64| codes.get(id).cloned().ok_or_else(|| format!("the recipe's part {id} cannot be read"));
        let mut sorted: Vec<(i64, Product)> = products.into_iter().collect();
        sorted.sort_by_key(|(id, product)| {
            (product.role == Role::Part, depth.get(id).copied().unwrap_or(0), product.code.clone())
        });
        let mut bom: Vec<BomLine> = Vec::new();
        let mut operations = Vec::new();
        for (id, product) in &sorted {
            let Some(recipe) = recipes.get(id) else { continue };
            operations.push((product.code.clone(), recipe.operation.0, recipe.operation.1));
            for (part, units) in &recipe.lines {
                let part = code(part)?;
                if bom.iter().any(|line| line.product == product.code && line.part == part) {
                    return Err(format!("the recipe of {} lists {part} twice", product.code));
                }
                bom.push(BomLine { product: product.code.clone(), part, units: *units });
            }
        }
        Ok(Goods { products: sorted.into_iter().map(|(_, product)| product).collect(), codes, bom, operations })
    }

    /// The records of the products.
    pub(super) fn ids(&self) -> Vec<i64> {
        self.codes.keys().copied().collect()
    }

    /// The code of a product of the job.
    pub(super) fn code(&self, id: i64) -> Result<&str, String> {
        self.codes.get(&id).map(|code| &**code).ok_or_else(|| format!("product {id} does not belong to the job"))
    }
}

/// The one recipe of a product that is built. Others have none.
fn recipe(access: &mut dyn ToolAccess, product: &Row, makes: bool) -> Result<Option<Recipe>, String> {
    let code = product.needed("default_code")?;
    let id = match (&product.links("bom_ids")?[..], makes) {
        ([], false) => return Ok(None),
        ([id], true) => *id,
        (found, _) => {
            let says = if makes { "is built" } else { "is not built" };
            return Err(format!("{code} {says} by its routes, but has {} recipes", found.len()));
        }
    };
    let fields = ["product_qty", "type", "produce_delay"];
    let bom = find_one(access, "mrp_bom", json!([["id", "=", id]]), &fields)?;
    bom.must("product_qty", &json!(1))?;
    bom.must("type", &json!("normal"))?;
    let of_bom = json!([["bom_id", "=", id]]);
    let lines = find(access, "mrp_bom_line", of_bom.clone(), &["product_id", "product_qty"])?;
    let lines = lines.iter().map(|line| Ok((line.link("product_id")?, line.whole("product_qty")?)));
    let operation = find_one(access, "mrp_routing_workcenter", of_bom, &["workcenter_id", "time_cycle_manual"])
        .map_err(|why| format!("the operation of {code}: {why}"))?;
    Ok(Some(Recipe {
        days: bom.whole("produce_delay")?,
        lines: lines.collect::<Result<_, String>>()?,
        operation: (operation.link("workcenter_id")?, operation.whole("time_cycle_manual")?),
    }))
}
