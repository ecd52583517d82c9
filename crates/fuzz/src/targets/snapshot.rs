//! A snapshot: of a state that an agent left, which comes back from wherever it was kept.

use crate::{
    Met, Target,
    ground::{SHOP_WORLD, begin},
};
use benchwright_pack::Snapshot;
use benchwright_sandbox::Sandbox;
use std::sync::Arc;

pub(crate) const TARGET: Target = Target { name: "snapshot", seeds, regressions: &[], rounds: 15_000, meet };

fn seeds() -> Vec<Vec<u8>> {
    let mut later = begin(&SHOP_WORLD);
    let _ = later.call("add_order", r#"{"customer":1,"order_line":[{"product":1,"price":9.5}]}"#);
    let _ = later.call("add_favourite", r#"{"person":1,"product":2}"#);
    vec![begin(&SHOP_WORLD).snapshot_bytes(), later.snapshot_bytes()]
}

fn meet(bytes: &[u8]) -> Met {
    let domain = SHOP_WORLD.domain();
    let Ok(read) = Snapshot::from_bytes(bytes, domain) else { return Met::Refused };
    let written = read.to_bytes(domain);
    let again = Snapshot::from_bytes(&written, domain).unwrap_or_else(|error| panic!("what was written: {error}"));
    assert_eq!(again, read, "a snapshot reads back as it was written");
    let Ok(world) = Sandbox::from_snapshot(Arc::clone(domain), &[], &read) else { return Met::Refused };
    let world = Arc::new(world);
    let first = world.first_snapshot();
    let once_more = Sandbox::from_snapshot(Arc::clone(domain), &[], &first)
        .unwrap_or_else(|error| panic!("the first state of a world is none: {error}"));
    assert_eq!(once_more.first_snapshot(), first, "a state loads to itself");
    let rows = |state: &Snapshot| state.tables.iter().map(|table| table.rows.len()).sum::<usize>();
    assert_eq!(rows(&read), rows(&first), "no row is lost");
    if world.person_for("admin").is_some() {
        let mut episode = begin(&world);
        assert_eq!(episode.state_hash(), episode.state_hash_from_scratch(), "the hash is that of the rows");
        let _ = episode.judge();
        let _ = episode.call("find_orders", "{}");
        let _ = episode.call("send_order", r#"{"customer":1}"#);
        assert_eq!(episode.state_hash(), episode.state_hash_from_scratch(), "the hash follows a call");
    }
    Met::Taken
}
