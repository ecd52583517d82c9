//! The documents that are in the system on day 0: draft and confirmed sales orders, and the purchases and builds of a plan that
//! stood. They are what the system itself would have made, deliveries, receipts and reservations included.

use super::super::calls::{baseline, production, purchase, purchase_line, record_line};
use super::super::facts;
use super::super::notes;
use super::super::peg_plan::{Need, pegs};
use super::super::rows::PlanRows;
use super::super::shop::{Build, Buy, Order, Shop, Source};
use super::filler::{Cell, Filler, date, instant, maybe, money, of, text, units};
use benchwright_base::{Date, DateTime, date::DAY};
use std::collections::BTreeMap;

/// Who made the documents.
const MAKER: &str = "user/planner";
/// For how many days a quotation holds.
const VALIDITY: i64 = 30;
/// The second of a day at noon.
const NOON: i64 = 12 * 3600;

fn noon(anchor: Date, day: i64) -> DateTime {
    DateTime(anchor.midnight().0 + day * DAY + NOON)
}

/// What the system calls a product in a line.
fn label(shop: &Shop, code: &str) -> String {
    shop.product(code).map_or_else(|| code.to_owned(), |product| format!("[{code}] {}", product.name))
}

/// The sales orders that are drafts or confirmed, by reference.
pub(super) fn orders(shop: &Shop, anchor: Date, world: &mut Filler<'_>) -> Result<(), String> {
    let (mut shelf, mut deliveries) = (Shelf::new(shop), 0);
    let mut known: Vec<&Order> = shop.orders.iter().filter(|order| order.source != Source::Brief).collect();
    known.sort_by_key(|order| &order.reference);
    for order in known {
        let key = facts::record(&order.reference);
        let confirmed = order.source == Source::Confirmed;
        let due = noon(anchor, order.due);
        let cells = [
            ("partner_id", of(facts::customer(&order.customer))),
            ("client_order_ref", text(&order.reference)),
            ("state", Cell::Word(if confirmed { "sale" } else { "draft" })),
            ("date_order", instant(world.now())),
            ("commitment_date", instant(due)),
            ("validity_date", date(world.now().date().add_days(VALIDITY))),
            ("user_id", of(MAKER)),
        ];
        world.put("sale_order", &key, &cells)?;
        for (nth, line) in order.lines.iter().enumerate() {
            let price = shop.list_price(&line.product);
            let cells = [
                ("order_id", of(&key)),
                ("product_id", of(facts::product(&line.product))),
                ("name", text(label(shop, &line.product))),
                ("product_uom_qty", units(line.units)),
                ("price_unit", money(price)),
                ("technical_price_unit", money(price)),
            ];
            world.put("sale_order_line", record_line(&key, nth), &cells)?;
        }
        if confirmed {
            deliveries += 1;
            deliver(world, order, deliveries, due, &mut shelf)?;
        }
    }
    Ok(())
}

/// Stock that no order holds yet.
struct Shelf<'a>(BTreeMap<&'a str, i64>);

impl<'a> Shelf<'a> {
    fn new(shop: &'a Shop) -> Shelf<'a> {
        Shelf(shop.products.iter().map(|product| (&*product.code, product.stock)).collect())
    }

    /// Takes what there is of some units, and the state of a move that holds so much.
    fn take(&mut self, code: &str, wanted: i64) -> (i64, &'static str) {
        let Some(free) = self.0.get_mut(code) else { return (0, "confirmed") };
        let taken = wanted.min(*free).max(0);
        *free -= taken;
        let state = match taken {
            taken if taken >= wanted => "assigned",
            0 => "confirmed",
            _ => "partially_available",
        };
        (taken, state)
    }
}

fn deliver(
    world: &mut Filler<'_>,
    order: &Order,
    number: usize,
    due: DateTime,
    shelf: &mut Shelf<'_>,
) -> Result<(), String> {
    let key = &*facts::record(&order.reference);
    let name = world.name_of("sale_order", key)?;
    let own = format!("WH/OUT/{number:05}");
    let held: Vec<(i64, &str)> = order.lines.iter().map(|line| shelf.take(&line.product, line.units)).collect();
    let transfer = format!("{key}/delivery");
    let cells = [
        ("name", text(&own)),
        ("partner_id", of(facts::customer(&order.customer))),
        ("origin", text(&name)),
        ("picking_type_code", Cell::Word("outgoing")),
        // What is there can be shipped.
        ("state", Cell::Word(if held.iter().any(|(taken, _)| *taken > 0) { "assigned" } else { "confirmed" })),
        ("location_id", of("location/stock")),
        ("location_dest_id", of("location/customers")),
        ("scheduled_date", instant(due)),
        ("sale_id", of(key)),
    ];
    world.put("stock_picking", &transfer, &cells)?;
    for (nth, (line, (taken, state))) in order.lines.iter().zip(held).enumerate() {
        let cells = [
            ("product_id", of(facts::product(&line.product))),
            ("product_uom_qty", units(line.units)),
            ("quantity", units(taken)),
            ("state", Cell::Word(state)),
            ("date", instant(due)),
            ("origin", text(&name)),
            ("reference", text(&own)),
            ("location_id", of("location/stock")),
            ("location_dest_id", of("location/customers")),
            ("picking_id", of(&transfer)),
            ("sale_line_id", of(record_line(key, nth))),
        ];
        let move_key = if nth == 0 { format!("{transfer}/move") } else { format!("{transfer}/move/{}", nth + 1) };
        world.put("stock_move", move_key, &cells)?;
    }
    Ok(())
}

/// The purchases and builds of the plan that stood.
pub(super) fn standing_plan(shop: &Shop, anchor: Date, world: &mut Filler<'_>) -> Result<(), String> {
    let Some(repair) = &shop.repair else { return Ok(()) };
    let rows = baseline(shop, repair);
    let pegs = pegs(shop, &rows);
    let mut shelf = Shelf::new(shop);
    // The names of builds follow their numbers, so an origin can name one that is made later.
    for (at, build) in repair.builds.iter().enumerate() {
        let origin = origin(world, &rows, &pegs.builds[at])?;
        make(shop, anchor, world, &production(at), build, origin, &mut shelf)?;
    }
    for (at, buy) in repair.buys.iter().enumerate() {
        let origin = origin(world, &rows, &pegs.buys[at])?;
        order(shop, anchor, world, at, buy, origin)?;
    }
    Ok(())
}

/// The names of the documents that are needed.
fn origin(world: &Filler<'_>, rows: &PlanRows, needs: &[Need]) -> Result<Option<String>, String> {
    let name = |need: &Need| match need {
        Need::Sell(row) => world.name_of("sale_order", &facts::record(&rows.sells[*row].order)),
        Need::Build(row) => Ok(format!("WH/MO/{:05}", row + 1)),
    };
    let names = needs.iter().map(name).collect::<Result<Vec<String>, String>>()?;
    Ok((!names.is_empty()).then(|| names.join(", ")))
}

fn make(
    shop: &Shop,
    anchor: Date,
    world: &mut Filler<'_>,
    key: &str,
    build: &Build,
    origin: Option<String>,
    shelf: &mut Shelf<'_>,
) -> Result<(), String> {
    let days = shop.product(&build.product).map_or(0, |product| product.build_days);
    let (start, due) = (noon(anchor, build.start), noon(anchor, build.due));
    let end = noon(anchor, build.start + days);
    let bom = format!("bom/{}", build.product);
    let cells = [
        ("product_id", of(facts::product(&build.product))),
        ("product_qty", units(build.units)),
        ("bom_id", of(&bom)),
        ("origin", maybe(origin)),
        ("state", Cell::Word("confirmed")),
        ("date_start", instant(start)),
        ("date_deadline", instant(due)),
        ("date_finished", instant(end)),
        ("consumption", Cell::Word("warning")),
        ("user_id", of(MAKER)),
    ];
    world.put("mrp_production", key, &cells)?;
    let name = world.name_of("mrp_production", key)?;
    for line in shop.bom.iter().filter(|line| line.product == build.product) {
        let wanted = line.units * build.units;
        let (taken, state) = shelf.take(&line.part, wanted);
        let cells = [
            ("product_id", of(facts::product(&line.part))),
            ("product_uom_qty", units(wanted)),
            ("quantity", units(taken)),
            ("state", Cell::Word(state)),
            ("date", instant(start)),
            ("origin", text(&name)),
            ("reference", text(&name)),
            ("location_id", of("location/stock")),
            ("location_dest_id", of("location/production")),
            ("raw_material_production_id", of(key)),
            ("bom_line_id", of(format!("{bom}/{}", line.part))),
        ];
        world.put("stock_move", format!("{key}/raw/{}", line.part), &cells)?;
    }
    let cells = [
        ("production_id", of(key)),
        ("name", text(format!("Build {}", build.product))),
        ("workcenter_id", of(facts::centre(&build.centre))),
        ("operation_id", of(format!("operation/{}", build.product))),
        ("state", Cell::Word("ready")),
    ];
    world.put("mrp_workorder", format!("{key}/work"), &cells)?;
    let cells = [
        ("product_id", of(facts::product(&build.product))),
        ("product_uom_qty", units(build.units)),
        // What a build makes is simply expected.
        ("quantity", units(build.units)),
        ("state", Cell::Word("assigned")),
        ("date", instant(end)),
        ("date_deadline", instant(due)),
        ("origin", text(&name)),
        ("reference", text(&name)),
        ("location_id", of("location/production")),
        ("location_dest_id", of("location/stock")),
        ("production_id", of(key)),
    ];
    world.put("stock_move", format!("{key}/made"), &cells)
}

fn order(
    shop: &Shop,
    anchor: Date,
    world: &mut Filler<'_>,
    at: usize,
    buy: &Buy,
    origin: Option<String>,
) -> Result<(), String> {
    let key = &*purchase(at);
    let called_off = shop.repair.as_ref().is_some_and(|repair| repair.vendor.as_ref() == Some(&buy.vendor));
    let arrive = noon(anchor, buy.arrive);
    let vendor = facts::vendor(&buy.vendor);
    let cells = [
        ("partner_id", of(&vendor)),
        ("origin", maybe(origin)),
        ("state", Cell::Word("purchase")),
        ("date_order", instant(world.now())),
        ("date_approve", instant(world.now())),
        ("date_planned", instant(arrive)),
        ("user_id", of(MAKER)),
        ("note", maybe(called_off.then_some(notes::CALLED_OFF))),
    ];
    world.put("purchase_order", key, &cells)?;
    let name = world.name_of("purchase_order", key)?;
    let line = purchase_line(key);
    let cells = [
        ("order_id", of(key)),
        ("product_id", of(facts::product(&buy.product))),
        ("name", text(label(shop, &buy.product))),
        ("product_qty", units(buy.units)),
        ("price_unit", money(buy.price)),
        ("technical_price_unit", money(buy.price)),
        ("date_planned", instant(arrive)),
    ];
    world.put("purchase_order_line", &line, &cells)?;
    let transfer = format!("{key}/receipt");
    let own = format!("WH/IN/{:05}", at + 1);
    let cells = [
        ("name", text(&own)),
        ("partner_id", of(&vendor)),
        ("origin", text(&name)),
        ("picking_type_code", Cell::Word("incoming")),
        ("state", Cell::Word("assigned")),
        ("location_id", of("location/vendors")),
        ("location_dest_id", of("location/stock")),
        ("scheduled_date", instant(arrive)),
        ("purchase_id", of(key)),
    ];
    world.put("stock_picking", &transfer, &cells)?;
    let cells = [
        ("product_id", of(facts::product(&buy.product))),
        ("product_uom_qty", units(buy.units)),
        ("quantity", units(buy.units)),
        ("state", Cell::Word("assigned")),
        ("date", instant(arrive)),
        ("origin", text(&name)),
        ("reference", text(&own)),
        ("location_id", of("location/vendors")),
        ("location_dest_id", of("location/stock")),
        ("picking_id", of(&transfer)),
        ("purchase_line_id", of(&line)),
    ];
    world.put("stock_move", format!("{transfer}/move"), &cells)
}
