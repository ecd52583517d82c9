//! The judge of origins: whether the documents that purchases and builds say they serve can really be served by them.
//!
//! For one product, supplies are its purchases and builds, and needs are the accepted sales orders (where it is sold) or the
//! builds that take it (where it is a part). Every name in an origin must be a need that comes no earlier than the supply,
//! and there must be a flow that gives each named pair at least one unit and uses up all that is not surplus.

use benchwright_base::{FactId, Value};
use benchwright_expr::{Names as _, eval::Facts as _};
use benchwright_pack::NativeCheck;
use benchwright_schema::plan::{Bound, Plan, ViewRows};
use std::collections::{BTreeMap, BTreeSet};

/// The rules that are functions.
pub(crate) const NATIVES: &[(&str, NativeCheck)] =
    &[("erp/purchase-origin", purchase_origin), ("erp/build-origin", build_origin)];

fn purchase_origin(plan: &Plan, bound: &Bound, rows: &ViewRows, at: &[Value]) -> bool {
    judge(plan, bound, rows, at, Kind::Purchase)
}

fn build_origin(plan: &Plan, bound: &Bound, rows: &ViewRows, at: &[Value]) -> bool {
    judge(plan, bound, rows, at, Kind::Build)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Purchase,
    Build,
}

/// Units of the product that a document brings.
struct Supply {
    kind: Kind,
    units: i64,
    day: Option<i64>,
    names: Vec<String>,
}

/// The rows of a view with fields by name.
struct Reader<'a> {
    plan: &'a Plan,
    rows: &'a ViewRows,
}

impl Reader<'_> {
    fn each(&self, view: &str, mut row: impl FnMut(&dyn Fn(&str) -> Value)) {
        let Some(at) = self.plan.view_named(view) else { return };
        let declared = &self.plan.views[at];
        for cells in &self.rows.views[at] {
            row(&|field| declared.field_named(field).map_or(Value::Null, |at| cells[at].clone()));
        }
    }
}

fn fact(plan: &Plan, bound: &Bound, name: &str, arguments: &[Value]) -> i64 {
    let id: Option<FactId> = plan.fact(name).map(|fact| fact.id);
    id.and_then(|id| bound.fact(id, arguments).as_number()).unwrap_or(0)
}

/// The documents that an origin names. One that is named twice is named.
fn names(origin: &Value) -> Vec<String> {
    let text = origin.as_text().unwrap_or_default();
    let names: BTreeSet<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn judge(plan: &Plan, bound: &Bound, rows: &ViewRows, at: &[Value], asked: Kind) -> bool {
    let [product @ Value::Ref(_)] = at else { return false };
    let reader = Reader { plan, rows };
    let mut supplies = Vec::new();
    for (view, kind) in [("bought", Kind::Purchase), ("built", Kind::Build)] {
        reader.each(view, |field| {
            if field("product") == *product {
                supplies.push(Supply {
                    kind,
                    units: field("qty").as_number().unwrap_or(0),
                    day: field("day").as_number(),
                    names: names(&field("origin")),
                });
            }
        });
    }
    let mut needs: BTreeMap<String, (i64, Option<i64>)> = BTreeMap::new();
    let mut need = |doc: Value, units: i64, day: Option<i64>| {
        if let (Some(doc), true) = (doc.as_text(), units > 0) {
            let entry = needs.entry(doc.to_owned()).or_insert((0, day));
            entry.0 += units;
        }
    };
    reader.each("sold", |field| {
        if field("product") == *product && fact(plan, bound, "wanted", &[field("order")]) == 1 {
            need(field("doc"), field("qty").as_number().unwrap_or(0), field("promised").as_number());
        }
    });
    reader.each("built", |field| {
        let per_unit = fact(plan, bound, "bom", &[field("product"), product.clone()]);
        need(field("doc"), per_unit * field("qty").as_number().unwrap_or(0), field("start").as_number());
    });

    let wait = fact(plan, bound, "wait", &[]);
    // A row whose own names are wrong fails its own rule, and takes no part in the flow.
    let named_well = |supply: &Supply| {
        !supply.names.is_empty()
            && supply.names.iter().all(|name| match (needs.get(name), supply.day) {
                (Some((_, Some(day))), Some(arrives)) => arrives + wait <= *day,
                _ => false,
            })
    };
    let own_rows_are_well = supplies.iter().filter(|supply| supply.kind == asked).all(named_well);
    let stock = fact(plan, bound, "stock", std::slice::from_ref(product));
    let brought: i64 = supplies.iter().map(|supply| supply.units).sum();
    let needed: i64 = needs.values().map(|(units, _)| units).sum();
    let surplus = (stock + brought - needed).max(0);
    let kept: Vec<&Supply> = supplies.iter().filter(|supply| named_well(supply)).collect();
    own_rows_are_well && flows(&kept, &needs, surplus)
}

/// Whether every named pair can have at least one unit, no supply gives and no need takes more than it has, and all but the
/// surplus is used.
fn flows(kept: &[&Supply], needs: &BTreeMap<String, (i64, Option<i64>)>, surplus: i64) -> bool {
    let docs: Vec<&String> = needs.keys().collect();
    let mut left: Vec<i64> = kept.iter().map(|supply| supply.units).collect();
    let mut open: Vec<i64> = docs.iter().map(|doc| needs[*doc].0).collect();
    let place = |name: &String| docs.binary_search(&name).ok();
    let pairs: Vec<Vec<usize>> = kept.iter().map(|supply| supply.names.iter().filter_map(place).collect()).collect();
    // One unit for every pair first; what remains is a plain flow.
    let mut given = vec![vec![0_i64; docs.len()]; kept.len()];
    for (row, named) in pairs.iter().enumerate() {
        for doc in named {
            left[row] -= 1;
            open[*doc] -= 1;
            given[row][*doc] = 1;
        }
    }
    if left.iter().chain(&open).any(|units| *units < 0) {
        return false;
    }
    for row in 0..kept.len() {
        while left[row] > 0 && augment(row, &pairs, &mut given, &mut open, &mut left) {}
    }
    let total: i64 = kept.iter().map(|supply| supply.units).sum();
    let used: i64 = given.iter().flatten().sum();
    used >= total - surplus
}

/// Moves one more unit of a supply to a need, shifting what others give where that makes room. Pairs keep their first unit.
fn augment(from: usize, pairs: &[Vec<usize>], given: &mut [Vec<i64>], open: &mut [i64], left: &mut [i64]) -> bool {
    // Breadth first over supplies and needs; `came[need]` is the supply it was reached from.
    let mut came: Vec<Option<usize>> = vec![None; open.len()];
    let mut lent: Vec<Option<usize>> = vec![None; pairs.len()];
    let mut queue = std::collections::VecDeque::from([from]);
    let mut seen = BTreeSet::from([from]);
    let mut goal = None;
    'search: while let Some(supply) = queue.pop_front() {
        for need in &pairs[supply] {
            if came[*need].is_some() {
                continue;
            }
            came[*need] = Some(supply);
            if open[*need] > 0 {
                goal = Some(*need);
                break 'search;
            }
            for other in 0..pairs.len() {
                if given[other][*need] > 1 && seen.insert(other) {
                    lent[other] = Some(*need);
                    queue.push_back(other);
                }
            }
        }
    }
    let Some(mut need) = goal else { return false };
    open[need] -= 1;
    left[from] -= 1;
    loop {
        let Some(supply) = came[need] else { return false };
        given[supply][need] += 1;
        if supply == from {
            return true;
        }
        let Some(back) = lent[supply] else { return false };
        given[supply][back] -= 1;
        need = back;
    }
}
