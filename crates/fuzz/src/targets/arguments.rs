//! Calls of an agent: a tool and its arguments, a line each.

use crate::{
    Met, Target,
    ground::{DESK_WORLD, SHOP_WORLD, begin},
};
use benchwright_base::Json;
use benchwright_pack::{Snapshot, Trace};

pub(crate) const TARGET: Target = Target { name: "arguments", seeds, regressions: &[], rounds: 1_500, meet };

fn seeds() -> Vec<Vec<u8>> {
    let shop = [
        r#"find_orders {"status":"new","placed_on_from":"2026-02-01T00:00:00Z","total_to":99.5,"limit":3}"#,
        r#"add_order {"customer":1,"order_line":[{"product":1,"amount":2,"price":9.5}]}"#,
        r#"change_order {"id":1,"status":"paid","rush":true,"order_line":[]}"#,
        r#"add_favourite {"person":1,"product":2}"#,
        r#"count_orders {"customer":1}"#,
        r#"sum_orders {"status":"paid"}"#,
        r#"find_person {"name":"Ada","active":true}"#,
    ];
    let mut seeds = vec![shop.join("\n").into_bytes()];
    seeds.extend(shop.map(|line| line.as_bytes().to_vec()));
    // Every tool of the desk, as a caller that knows only names would try it.
    let tools: Vec<String> =
        DESK_WORLD.domain().tools.iter().map(|tool| format!("{} {{\"id\":1}}", tool.name)).collect();
    let lines = tools.chunks(8).map(|lines| lines.join("\n").into_bytes());
    seeds.extend(lines.filter(|lines| meet(lines) == Met::Taken));
    seeds
}

fn meet(bytes: &[u8]) -> Met {
    let Ok(text) = std::str::from_utf8(bytes) else { return Met::Refused };
    let is_shop = text.split_once(' ').is_none_or(|(tool, _)| SHOP_WORLD.domain().tool_named(tool).is_some());
    let world = if is_shop { &*SHOP_WORLD } else { &*DESK_WORLD };
    let mut episode = begin(world);
    let mut met = Met::Refused;
    for line in text.lines().take(8) {
        let (tool, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let before = episode.state_hash();
        match episode.call(tool, arguments) {
            Ok(answer) => {
                assert!(Json::parse(&answer).is_ok(), "an answer is JSON: {answer}");
                let reads = world.domain().tool_named(tool).is_some_and(|at| world.domain().tools[at].reads_only());
                assert!(!reads || episode.state_hash() == before, "a read never writes");
                met = Met::Taken;
            }
            Err(refusal) => {
                assert!(Json::parse(&refusal.to_json()).is_ok(), "a refusal is JSON");
                assert_eq!(episode.state_hash(), before, "a refusal changes nothing");
            }
        }
        assert_eq!(episode.state_hash(), episode.state_hash_from_scratch(), "the hash is that of the rows");
    }
    let bytes = episode.trace().to_bytes();
    let trace = Trace::from_bytes(&bytes).unwrap_or_else(|error| panic!("the trace cannot be read: {error}"));
    let replayed = begin(world).replay(&trace);
    assert!(replayed.is_ok(), "a trace replays: {:?}", replayed.err().map(|error| error.to_string()));
    let left = Snapshot::from_bytes(&episode.snapshot_bytes(), world.domain());
    assert_eq!(left.ok().as_ref(), Some(&episode.snapshot()), "what is left reads back");
    met
}
