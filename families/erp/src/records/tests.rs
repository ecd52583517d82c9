//! The first state loads, holds what the case says, and looks like the system's own work.

use super::super::micro;
use super::super::micro_world::MicroWorld;
use benchwright_pack::Snapshot;

#[test]
fn the_first_state_of_every_case_loads_and_survives_the_way_to_disk() {
    for shop in [micro::micro(), micro::screened(), micro::repaired()] {
        let world = MicroWorld::new(&shop, &[0]);
        let bytes = world.first.snapshot.to_bytes(&world.domain);
        assert_eq!(Snapshot::from_bytes(&bytes, &world.domain).unwrap(), world.first.snapshot);
        assert_eq!(world.first.snapshot.now.to_string(), "2032-03-01T08:00:00Z");
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("adj/"), "nothing tells records around the job apart");
        assert!(!text.contains(&shop.objective));
    }
}

#[test]
fn records_of_the_job_and_others_are_mixed_by_code() {
    let shop = micro::micro();
    let world = MicroWorld::new(&shop, &[0]);
    let first = &world.first.snapshot;
    assert_eq!(
        world.column(first, "res_partner", "ref"),
        ["C-101", "C-102", "C-102B", "C-103", "V-201", "V-202", "V-202B", "V-203", "V-204"]
    );
    assert_eq!(world.column(first, "product_product", "default_code"), ["CP-200", "CP-201", "FG-100", "FG-101"]);
    assert_eq!(world.first.keys["product_product"][&2], "adj/product/CP-201");
    assert_eq!(world.column(first, "stock_quant", "quantity"), ["6", "7", "4", "5"]);
    assert_eq!(
        world.column(first, "product_supplierinfo", "min_qty"),
        ["4", "20", "6", "12", "1", "2", "6", "5", "8", "1"]
    );
}

#[test]
fn notes_state_what_records_have_no_field_for() {
    let world = MicroWorld::new(&micro::screened(), &[0]);
    let first = &world.first.snapshot;
    let comments = world.column(first, "res_partner", "comment");
    assert!(comments.contains(&"Item FG-100: at most 10 units in all.".to_owned()), "{comments:?}");
    let notes = world.column(first, "mrp_workcenter", "note");
    assert_eq!(notes[0], "Approved for FG-100: 60 minutes per unit.\nTotal: at most 480 minutes in the whole plan.");
    assert_eq!(
        notes[1],
        "Approved for FG-100: 66 minutes per unit.\nTotal: at most 600 minutes in the whole plan.\n\
         Down from 2032-03-02 to 2032-03-03: no build may start on these days."
    );
}

#[test]
fn papers_that_stand_are_what_the_system_itself_makes() {
    let seeded = MicroWorld::new(&micro::repaired(), &[0]);
    let shop = micro::micro();
    let made = MicroWorld::new(&shop, &[0]);
    let state = made.carry_out(&micro::optimum(&shop));
    let tables = [
        "sale_order",
        "sale_order_line",
        "purchase_order",
        "purchase_order_line",
        "mrp_production",
        "mrp_workorder",
        "stock_picking",
        "stock_move",
        "stock_quant",
    ];
    // When it was done, and what was noted later.
    let apart = ["date_order", "date_approve", "create_date", "in_date", "note"];
    for table in tables {
        let at = seeded.domain.table_named(table).unwrap();
        for field in seeded.domain.table(at).fields.iter().filter(|field| !apart.contains(&&*field.name)) {
            assert_eq!(
                seeded.column(&seeded.first.snapshot, table, &field.name),
                made.column(&state, table, &field.name),
                "{table}.{}",
                field.name
            );
        }
    }
    let notes = seeded.column(&seeded.first.snapshot, "purchase_order", "note");
    assert_eq!(notes, [super::notes::CALLED_OFF, "null"]);
}
