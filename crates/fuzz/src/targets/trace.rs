//! A trace: the calls of a trial, which are made again to judge it.

use crate::{
    Met, Target,
    ground::{SHOP_WORLD, begin},
};
use benchwright_pack::Trace;

pub(crate) const TARGET: Target = Target { name: "trace", seeds, regressions: &[], rounds: 30_000, meet };

fn seeds() -> Vec<Vec<u8>> {
    let mut episode = begin(&SHOP_WORLD);
    let mut seeds = vec![episode.trace().to_bytes()];
    for (tool, arguments) in [
        ("find_orders", r#"{"status":"new"}"#),
        ("add_order", r#"{"customer":1,"order_line":[{"product":1,"price":9.5}]}"#),
        ("add_favourite", r#"{"person":1,"product":2}"#),
        ("add_favourite", r#"{"person":1,"product":2}"#),
        ("nothing", "{"),
    ] {
        let _ = episode.call(tool, arguments);
        seeds.push(episode.trace().to_bytes());
    }
    seeds
}

fn meet(bytes: &[u8]) -> Met {
    let Ok(trace) = Trace::from_bytes(bytes) else { return Met::Refused };
    assert_eq!(Trace::from_bytes(&trace.to_bytes()).ok().as_ref(), Some(&trace), "a trace reads back");
    // Longer ones are only slower.
    if trace.calls.len() > 32 {
        return Met::Taken;
    }
    let mut episode = begin(&SHOP_WORLD);
    if episode.replay(&trace).is_err() {
        return Met::Refused;
    }
    let replayed = episode.trace();
    assert_eq!((&replayed.calls, &replayed.end), (&trace.calls, &trace.end), "what replays is what was traced");
    Met::Taken
}
