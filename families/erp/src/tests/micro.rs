//! Small cases for tests: the worked example and relatives of it.

use super::shop::{
    Adjacent, AdjacentProduct, Billing, BomLine, Build, Buy, Calendar, Centre, Clauses, Deposit, MakeOption, Offer,
    Order, OrderLine, Party, Product, Repair, Role, Screen, Shop, Source,
};
use benchwright_schema::plan::Binding;
use benchwright_spec::NamedRows;
use std::collections::BTreeMap;

fn party(reference: &str, name: &str) -> Party {
    Party { reference: reference.into(), name: name.into() }
}

fn order(reference: &str, customer: &str, units: i64, due: i64, source: Source) -> Order {
    Order {
        reference: reference.into(),
        customer: customer.into(),
        lines: vec![OrderLine { product: "FG-100".into(), units }],
        due,
        limit: None,
        source,
    }
}

fn offer(vendor: &str, product: &str, lead: i64, most: i64, tiers: [(i64, i64); 2]) -> Offer {
    Offer { vendor: vendor.into(), product: product.into(), lead, most: Some(most), tiers: tiers.to_vec() }
}

/// The worked example: three orders, a finished product of two parts each, one centre, four offers.
pub(crate) fn micro() -> Shop {
    Shop {
        anchor: "2032-03-01".into(),
        objective: "min_new_spend".into(),
        line: "solar".into(),
        margin: Some(3000),
        budget: None,
        customers: vec![party("C-101", "Northgate"), party("C-102", "Fairmont"), party("C-103", "Oakhill")],
        orders: vec![
            order("REQ-11", "C-101", 5, 4, Source::Brief),
            order("REQ-12", "C-102", 6, 7, Source::Brief),
            order("REQ-13", "C-103", 9, 9, Source::Brief),
        ],
        screen: None,
        billing: None,
        calendar: None,
        products: vec![
            Product {
                code: "FG-100".into(),
                name: "Carport Solar Panel".into(),
                role: Role::Finished,
                list: 40_000,
                cost: 20_000,
                stock: 4,
                buys: true,
                makes: true,
                build_days: 2,
            },
            Product {
                code: "CP-200".into(),
                name: "Tempered Front Glass".into(),
                role: Role::Part,
                list: 9_000,
                cost: 5_000,
                stock: 6,
                buys: true,
                makes: false,
                build_days: 0,
            },
        ],
        bom: vec![BomLine { product: "FG-100".into(), part: "CP-200".into(), units: 2 }],
        centres: vec![Centre {
            code: "W1".into(),
            name: "Frame Press Cell".into(),
            hourly: 45,
            minutes: Some(480),
            daily: Some(300),
            down: None,
        }],
        groups: Vec::new(),
        options: vec![MakeOption { product: "FG-100".into(), centre: "W1".into(), minutes: 60 }],
        vendors: vec![
            party("V-201", "Alder"),
            party("V-202", "Birch"),
            party("V-203", "Cedar"),
            party("V-204", "Dune"),
        ],
        offers: vec![
            offer("V-201", "FG-100", 3, 8, [(2, 26_000), (6, 24_500)]),
            offer("V-202", "FG-100", 6, 10, [(5, 23_600), (8, 23_000)]),
            offer("V-203", "CP-200", 2, 40, [(4, 7_000), (20, 6_000)]),
            offer("V-204", "CP-200", 5, 24, [(6, 5_800), (12, 4_700)]),
        ],
        never_bought: None,
        repair: None,
        clauses: Clauses::default(),
        adjacent: Adjacent {
            customers: vec![party("C-102B", "Brookside")],
            vendors: vec![party("V-202B", "Beech")],
            products: vec![
                AdjacentProduct {
                    code: "CP-201".into(),
                    name: "Rear Glass Sheet".into(),
                    list: 20_000,
                    cost: 12_000,
                    stock: 7,
                    vendor: "V-202B".into(),
                    price: 12_100,
                    lead: 4,
                    most: 24,
                    bom: Vec::new(),
                },
                AdjacentProduct {
                    code: "FG-101".into(),
                    name: "Facade Solar Panel".into(),
                    list: 41_000,
                    cost: 25_000,
                    stock: 5,
                    vendor: "V-202B".into(),
                    price: 25_500,
                    lead: 6,
                    most: 24,
                    bom: vec![("CP-201".into(), 2)],
                },
            ],
        },
    }
}

/// The worked example with drafts, screening, a percentage deposit and a second centre.
pub(crate) fn screened() -> Shop {
    let mut shop = micro();
    shop.customers.extend([party("C-104", "Riverton"), party("C-105", "Millbrook")]);
    let mut short = order("REQ-14", "C-104", 5, 4, Source::Draft);
    short.limit = Some(210_000);
    let mut poor = order("REQ-15", "C-105", 6, 7, Source::Brief);
    poor.limit = Some(235_000);
    shop.orders.extend([short, poor]);
    shop.orders[0].due = 5;
    shop.orders[1].source = Source::Draft;
    for order in &mut shop.orders[..3] {
        order.limit = Some(order.units() * 42_000 + 50);
    }
    shop.screen = Some(Screen { window: Some((5, 10)), lead: Some(5), limit: true });
    shop.billing = Some(Billing { days: 30, deposit: Some(Deposit { from: 220_000, fixed: None, percent: Some(40) }) });
    shop.centres[0].daily = None;
    shop.centres.push(Centre {
        code: "W2".into(),
        name: "Layup Table Line".into(),
        hourly: 55,
        minutes: Some(600),
        daily: None,
        down: Some((1, 2)),
    });
    shop.options.push(MakeOption { product: "FG-100".into(), centre: "W2".into(), minutes: 66 });
    shop
}

/// The screened example with a second finished item, a request for both, a supplier of both, customers with two requests of which
/// one is declined, and closed days.
pub(crate) fn several() -> Shop {
    let mut shop = screened();
    shop.products.insert(
        1,
        Product {
            code: "FG-110".into(),
            name: "Garden Solar Panel".into(),
            list: 30_000,
            stock: 0,
            ..shop.products[0].clone()
        },
    );
    shop.bom.push(BomLine { product: "FG-110".into(), part: "CP-200".into(), units: 1 });
    shop.options.push(MakeOption { product: "FG-110".into(), centre: "W1".into(), minutes: 42 });
    shop.offers.insert(2, offer("V-202", "FG-110", 4, 12, [(2, 18_000), (6, 17_000)]));
    shop.orders[0].lines.push(OrderLine { product: "FG-110".into(), units: 2 });
    // Exactly what it is worth.
    shop.orders[0].limit = Some(260_000);
    shop.orders[3].customer = "C-102".into();
    shop.orders[4].customer = "C-101".into();
    shop.customers.truncate(3);
    shop.calendar = Some(Calendar { weekdays: vec![5, 6], dates: vec!["2032-03-04".into()] });
    shop
}

/// A plan of [`several`] that keeps every rule.
pub(crate) fn several_plan() -> NamedRows {
    let shop = several();
    plan(
        sells(&shop),
        vec![
            buy("V-202", "FG-100", 8, 7, 23_000),
            buy("V-202", "FG-110", 2, 4, 18_000),
            buy("V-204", "CP-200", 12, 7, 4_700),
        ],
        vec![build("W1", 3, 0), build("W2", 5, 7)],
    )
}

/// The worked example after its optimum was carried out and Birch called off.
pub(crate) fn repaired() -> Shop {
    let mut shop = micro();
    shop.objective = "repair_plan".into();
    for order in &mut shop.orders {
        order.source = Source::Confirmed;
    }
    let buy = |vendor: &str, product: &str, units, arrive, price| Buy {
        vendor: vendor.into(),
        product: product.into(),
        units,
        arrive,
        price,
    };
    let build = |units, start| Build { product: "FG-100".into(), centre: "W1".into(), units, start, due: start + 2 };
    shop.repair = Some(Repair {
        vendor: Some("V-202".into()),
        centre: None,
        buys: vec![buy("V-202", "FG-100", 8, 6, 23_000), buy("V-204", "CP-200", 12, 5, 4_700)],
        builds: vec![build(3, 0), build(5, 5)],
    });
    shop
}

/// Sales rows for every accepted order.
pub(crate) fn sells(shop: &Shop) -> Vec<BTreeMap<String, Binding>> {
    shop.accepted()
        .flat_map(|order| order.lines.iter().map(move |line| (order, line)))
        .map(|(order, line)| {
            row(&[
                ("order", Binding::Key(order.reference.clone())),
                ("customer", Binding::Key(format!("customer/{}", order.customer))),
                ("product", Binding::Key(format!("product/{}", line.product))),
                ("qty", Binding::Number(line.units)),
                ("promised", Binding::Number(order.due)),
                ("price", Binding::Number(shop.list_price(&line.product))),
                ("discount", Binding::Number(0)),
            ])
        })
        .collect()
}

/// A purchase row.
pub(crate) fn buy(vendor: &str, product: &str, units: i64, arrive: i64, price: i64) -> BTreeMap<String, Binding> {
    row(&[
        ("vendor", Binding::Key(format!("vendor/{vendor}"))),
        ("product", Binding::Key(format!("product/{product}"))),
        ("qty", Binding::Number(units)),
        ("arrive", Binding::Number(arrive)),
        ("price", Binding::Number(price)),
        ("discount", Binding::Number(0)),
    ])
}

/// A build row of the finished product.
pub(crate) fn build(centre: &str, units: i64, start: i64) -> BTreeMap<String, Binding> {
    row(&[
        ("product", Binding::Key("product/FG-100".into())),
        ("centre", Binding::Key(format!("centre/{centre}"))),
        ("qty", Binding::Number(units)),
        ("start", Binding::Number(start)),
        ("due", Binding::Number(start + 2)),
        ("orders", Binding::Number(1)),
    ])
}

fn row(fields: &[(&str, Binding)]) -> BTreeMap<String, Binding> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// A plan of rows.
pub(crate) fn plan(
    sells: Vec<BTreeMap<String, Binding>>,
    buys: Vec<BTreeMap<String, Binding>>,
    builds: Vec<BTreeMap<String, Binding>>,
) -> NamedRows {
    NamedRows(BTreeMap::from([("sell".to_owned(), sells), ("buy".to_owned(), buys), ("build".to_owned(), builds)]))
}

/// The optimum of the worked example.
pub(crate) fn optimum(shop: &Shop) -> NamedRows {
    plan(
        sells(shop),
        vec![buy("V-202", "FG-100", 8, 6, 23_000), buy("V-204", "CP-200", 12, 5, 4_700)],
        vec![build("W1", 3, 0), build("W1", 5, 5)],
    )
}
