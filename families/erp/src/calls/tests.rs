//! Plans that are carried out read back as they were, and what is wrong with them is found.

use super::super::micro::{self, build, buy, plan, sells};
use super::super::micro_world::MicroWorld;
use super::*;
use benchwright_pack::Ending;

#[test]
fn the_optimum_passes_and_reads_back() {
    let shop = micro::micro();
    let world = MicroWorld::new(&shop, &[276_400]);
    let optimum = micro::optimum(&shop);
    let state = world.carry_out(&optimum);
    let verdict = world.judge(&state);
    assert_eq!(verdict.failed(), Vec::<&str>::new(), "{:?}", verdict.checks);
    assert_eq!((verdict.ending, verdict.reward, verdict.alarm), (Ending::Pass, 1_000_000, false));
    assert_eq!(world.read(&state), optimum);
    assert_eq!(world.column(&state, "sale_order", "client_order_ref"), ["REQ-11", "REQ-12", "REQ-13"]);
    assert_eq!(world.column(&state, "mrp_production", "origin"), ["S00001, S00002", "S00003"]);
    assert_eq!(world.column(&state, "purchase_order", "origin"), ["S00002, S00003", "WH/MO/00002"]);
    assert_eq!(world.column(&state, "purchase_order_line", "price_unit"), ["230.00", "47.00"]);
}

#[test]
fn screened_orders_are_confirmed_cancelled_left_out_and_billed() {
    let shop = micro::screened();
    let world = MicroWorld::new(&shop, &[0]);
    let other = plan(
        sells(&shop),
        vec![buy("V-202", "FG-100", 8, 6, 23_000), buy("V-204", "CP-200", 12, 5, 4_700)],
        vec![build("W1", 3, 0), build("W2", 5, 5)],
    );
    let state = world.carry_out(&other);
    let verdict = world.judge(&state);
    assert_eq!(verdict.failed(), Vec::<&str>::new(), "{:?}", verdict.checks);
    assert_eq!(world.read(&state).0["buy"], other.0["buy"]);
    assert_eq!(world.read(&state).0["build"], other.0["build"]);
    // Drafts come first in the table; the listed requests that pass are entered after them.
    assert_eq!(world.column(&state, "sale_order", "client_order_ref"), ["REQ-12", "REQ-14", "REQ-11", "REQ-13"]);
    assert_eq!(world.column(&state, "sale_order", "state"), ["sale", "cancel", "sale", "sale"]);
    // Two of the three orders are large enough for a deposit.
    assert_eq!(world.column(&state, "account_move", "state"), ["posted"; 5]);
}

#[test]
fn requests_with_several_lines_are_one_order_each() {
    let shop = micro::several();
    let world = MicroWorld::new(&shop, &[0]);
    let rows = micro::several_plan();
    let state = world.carry_out(&rows);
    let verdict = world.judge(&state);
    assert_eq!(verdict.failed(), Vec::<&str>::new(), "{:?}", verdict.checks);
    assert_eq!(world.column(&state, "sale_order", "client_order_ref"), ["REQ-12", "REQ-14", "REQ-11", "REQ-13"]);
    assert_eq!(world.read(&state).0["buy"], rows.0["buy"]);
    // Lines of one request that promise two days cannot be one order.
    let mut apart = rows.clone();
    apart.0.get_mut("sell").unwrap()[1].insert("promised".to_owned(), benchwright_schema::plan::Binding::Number(4));
    let failed = world.judge(&world.carry_out(&apart));
    assert!(failed.failed().contains(&"erp/one-promise"), "{:?}", failed.failed());
    // What is closed is closed.
    for (view, field) in [("buy", "arrive"), ("build", "due")] {
        let mut closed = rows.clone();
        let row = &mut closed.0.get_mut(view).unwrap()[1];
        row.insert(field.to_owned(), benchwright_schema::plan::Binding::Number(if view == "buy" { 5 } else { 12 }));
        let failed = world.judge(&world.carry_out(&closed));
        let rule = if view == "buy" { "erp/receipt-open" } else { "erp/build-open" };
        assert!(failed.failed().contains(&rule), "{:?}", failed.failed());
    }
}

/// A regular's declined request cannot be had by another name, even as a draft.
#[test]
fn a_declined_request_of_a_regular_does_not_slip_in() {
    let shop = micro::several();
    let world = MicroWorld::new(&shop, &[0]);
    let rows = micro::several_plan();
    for (partner, reference, rule) in [
        ("customer/C-101", "REQ-15", "erp/declined-not-entered"),
        ("customer/C-103", "REQ-15", "erp/declined-not-entered"),
        ("customer/C-101", "Phone call", "erp/one-order-each"),
        ("vendor/V-201", "Phone call", "erp/one-order-each"),
        ("customer/C-101", "REQ-11", "erp/one-order-each"),
    ] {
        let mut script = script(&shop, &rows).unwrap();
        let line = json!({ "product_id": at("product/FG-100"), "product_uom_qty": 6, "price_unit": 400 });
        let vals = json!({ "partner_id": at(partner), "client_order_ref": reference, "order_line": [[0, 0, line]] });
        script.steps.push(Step::call("sale.order", "create", json!({ "vals_list": [vals] })));
        let failed = world.judge(&world.play(&script));
        assert!(failed.failed().contains(&rule), "{partner} {reference}: {:?}", failed.failed());
    }
}

#[test]
fn a_draft_that_is_changed_is_changed_on_its_own_record() {
    use benchwright_schema::plan::Binding;
    let shop = micro::screened();
    let world = MicroWorld::new(&shop, &[276_400]);
    let mut rows = micro::optimum(&shop);
    rows.0.get_mut("sell").unwrap()[1].extend([
        ("qty".to_owned(), Binding::Number(5)),
        ("promised".to_owned(), Binding::Number(6)),
        ("customer".to_owned(), Binding::Key("customer/C-101".into())),
    ]);
    let state = world.carry_out(&rows);
    let failed = world.judge(&state);
    let failed = failed.failed();
    assert!(failed.contains(&"erp/draft-confirmed") && failed.contains(&"erp/order-quantity"), "{failed:?}");
    assert_eq!(world.column(&state, "sale_order", "client_order_ref").len(), 4, "no order was entered beside it");
    assert!(world.column(&state, "sale_order", "commitment_date")[0].starts_with("2032-03-07"));
}

#[test]
fn a_fixed_deposit_and_immediate_terms_pass_too() {
    let mut shop = micro::screened();
    let deposit = super::super::shop::Deposit { from: 300_000, fixed: Some(25_050), percent: None };
    shop.billing = Some(super::super::shop::Billing { days: 0, deposit: Some(deposit) });
    let world = MicroWorld::new(&shop, &[276_400]);
    let verdict = world.judge(&world.carry_out(&micro::optimum(&shop)));
    assert_eq!(verdict.failed(), Vec::<&str>::new(), "{:?}", verdict.checks);
}

#[test]
fn a_repair_keeps_what_stands_and_renames_what_it_serves() {
    let shop = micro::repaired();
    let world = MicroWorld::new(&shop, &[16, 288_400]);
    let dune = buy("V-204", "CP-200", 12, 5, 4_700);
    let builds = vec![build("W1", 3, 0), build("W1", 5, 6)];
    let mended = plan(sells(&shop), vec![buy("V-201", "FG-100", 8, 3, 24_500), dune], builds);
    let script = script(&shop, &mended).unwrap();
    let made = script.steps.iter().filter(|step| step.method == "create").count();
    assert_eq!(made, 1, "the purchase from Alder is new, and the build is moved where it stands");
    let state = world.play(&script);
    let verdict = world.judge(&state);
    assert_eq!(verdict.failed(), Vec::<&str>::new(), "{:?}", verdict.checks);
    assert_eq!((verdict.ending, verdict.reward), (Ending::Pass, 1_000_000));
    assert_eq!(world.column(&state, "purchase_order", "state"), ["cancel", "purchase", "purchase"]);
    assert_eq!(world.column(&state, "mrp_production", "state"), ["confirmed", "confirmed"]);
    let origins = world.column(&state, "purchase_order", "origin");
    assert_eq!(origins, ["S00002, S00003", "WH/MO/00002", "S00002, S00003"]);
}

#[test]
fn what_is_cancelled_and_issued_again_is_seen() {
    let shop = micro::repaired();
    let world = MicroWorld::new(&shop, &[16, 288_400]);
    let builds = vec![build("W1", 3, 0), build("W1", 5, 5)];
    let buys = vec![buy("V-201", "FG-100", 8, 3, 24_500), buy("V-204", "CP-200", 12, 5, 4_700)];
    let script = script(&shop, &plan(sells(&shop), buys, builds)).unwrap();
    let distance = |state: &benchwright_pack::Snapshot| world.judge(state).phases[0].value;
    assert_eq!(distance(&world.play(&script)), Some(16));
    // The second build of the old plan falls and is made again just as it was: five units leave, and five come back.
    let mut again = script;
    again.steps.push(Step::call("mrp.production", "action_cancel", ids(&production(1))));
    let vals = json!({
        "product_id": at("product/FG-100"),
        "product_qty": 5,
        "date_start": noon(Date::parse(&shop.anchor).unwrap(), 5).unwrap(),
        "date_deadline": noon(Date::parse(&shop.anchor).unwrap(), 7).unwrap(),
    });
    again.steps.push(Step::call("mrp.production", "create", json!({ "vals_list": [vals] })).bind("again"));
    again.steps.push(Step::call("mrp.production", "action_confirm", ids("again")));
    assert_eq!(distance(&world.play(&again)), Some(26));
}

#[test]
fn a_plan_that_keeps_what_broke_falls_at_the_gate() {
    let shop = micro::repaired();
    let world = MicroWorld::new(&shop, &[16, 288_400]);
    let verdict = world.judge(&world.carry_out(&micro::optimum(&shop)));
    assert!(verdict.failed().contains(&"erp/broken-documents"));
    assert_eq!((verdict.reward, verdict.gates.len()), (0, 2), "nothing was done, and the broken purchase stands");
}

/// What fails when one thing of the optimum is changed.
fn failed(change: impl FnOnce(&mut Shop, &mut NamedRows)) -> Vec<String> {
    let mut shop = micro::micro();
    let mut rows = micro::optimum(&shop);
    change(&mut shop, &mut rows);
    let world = MicroWorld::new(&shop, &[276_400]);
    let verdict = world.judge(&world.carry_out(&rows));
    verdict.failed().into_iter().map(str::to_owned).collect()
}

#[test]
fn wrong_rows_are_carried_out_and_found() {
    use benchwright_schema::plan::Binding;
    let set = |rows: &mut NamedRows, view: &str, at: usize, field: &str, value: Binding| {
        rows.0.get_mut(view).unwrap()[at].insert(field.to_owned(), value);
    };
    let price = failed(|_, rows| set(rows, "buy", 0, "price", Binding::Number(21_500)));
    assert_eq!(price, ["erp/tier-price"]);
    let early = failed(|_, rows| set(rows, "buy", 0, "arrive", Binding::Number(5)));
    assert_eq!(early, ["erp/supplier-lead"]);
    let late = failed(|_, rows| set(rows, "sell", 1, "promised", Binding::Number(8)));
    assert_eq!(late, ["erp/promised-day"]);
    let twice = failed(|_, rows| {
        let again = rows.0["sell"][0].clone();
        rows.0.get_mut("sell").unwrap().push(again);
    });
    assert!(twice.contains(&"erp/one-order-each".to_owned()), "{twice:?}");
    let stranger = failed(|_, rows| set(rows, "buy", 1, "vendor", Binding::Key("customer/C-101".into())));
    assert!(stranger.contains(&"erp/listed-supplier".to_owned()), "{stranger:?}");
    let elsewhere = failed(|shop, rows| {
        let mut centre = shop.centres[0].clone();
        centre.code = "W9".into();
        shop.centres.push(centre);
        set(rows, "build", 0, "centre", Binding::Key("centre/W9".into()));
    });
    assert_eq!(elsewhere, ["erp/approved-centre"]);
    let discount = failed(|_, rows| set(rows, "sell", 0, "discount", Binding::Number(10)));
    assert!(discount.contains(&"erp/list-price".to_owned()), "{discount:?}");
}

#[test]
fn pegs_of_two_levels_go_from_parts_to_modules_to_goods() {
    use super::super::shop::{BomLine, Product, Role};
    let mut shop = micro::micro();
    shop.orders.truncate(2);
    (shop.orders[0].lines[0].units, shop.orders[0].due) = (4, 6);
    (shop.orders[1].lines[0].units, shop.orders[1].due) = (5, 9);
    shop.products[0].stock = 2;
    let product = |code: &str, role, stock| Product {
        code: code.into(),
        name: code.into(),
        role,
        list: 0,
        cost: 0,
        stock,
        buys: role == Role::Part,
        makes: role == Role::Module,
        build_days: 1,
    };
    shop.products.truncate(1);
    shop.products.extend([product("SA", Role::Module, 1), product("CP", Role::Part, 0), product("CQ", Role::Part, 10)]);
    let line = |product: &str, part: &str, units| BomLine { product: product.into(), part: part.into(), units };
    shop.bom = vec![line("FG-100", "SA", 1), line("FG-100", "CQ", 1), line("SA", "CP", 2)];
    let made = |product: &str, units, start, due| BuildRow {
        product: facts::product(product),
        centre: "centre/W1".into(),
        units,
        start,
        due,
        orders: 1,
    };
    let bought = |product: &str, units, arrive| BuyRow {
        vendor: "vendor/V-201".into(),
        product: facts::product(product),
        units,
        arrive,
        price: 1,
        discount: 0,
    };
    let mut rows = PlanRows::read(&plan(sells(&shop), Vec::new(), Vec::new())).unwrap();
    rows.buys = vec![bought("FG-100", 2, 5), bought("CP", 8, 5)];
    rows.builds = vec![made("SA", 4, 5, 6), made("FG-100", 5, 6, 8)];
    let found = pegs(&shop, &rows);
    assert_eq!(found.buys, [vec![Need::Sell(0)], vec![Need::Build(0)]]);
    assert_eq!(found.builds, [vec![Need::Build(1)], vec![Need::Sell(1)]]);
    // A purchase that nobody needs takes over a unit, from stock or from a row with more than one, so that it serves somebody.
    rows.buys.push(bought("FG-100", 1, 9));
    let found = pegs(&shop, &rows);
    assert_eq!((&*found.buys[2], &*found.builds[1]), (&[Need::Sell(1)][..], &[Need::Sell(1)][..]));
    rows.sells.truncate(1);
    rows.buys.truncate(1);
    rows.buys[0].units = 3;
    rows.builds.clear();
    rows.buys.push(bought("FG-100", 1, 6));
    assert_eq!(pegs(&shop, &rows).buys, [[Need::Sell(0)], [Need::Sell(0)]]);
}
