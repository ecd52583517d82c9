//! Every world keeps the laws, under random legal and illegal calls. `BENCHWRIGHT_LAW_CALLS` sets how many.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_catalog::Catalog;
use benchwright_sandbox::Sandbox;
use benchwright_testkit::{
    laws::{self, Report},
    worlds::small_world,
};
use std::{path::Path, sync::Arc};

/// Calls in all, over all domains and threads.
fn calls() -> usize {
    std::env::var("BENCHWRIGHT_LAW_CALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(200_000)
}

fn worlds() -> Vec<Arc<Sandbox>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut worlds = Vec::new();
    for folder in [here.join("../../domains"), here.join("domains")] {
        let catalog = Catalog::from_folder(folder);
        for name in catalog.names().unwrap() {
            worlds.push(small_world(&catalog, &name).unwrap());
        }
    }
    worlds
}

#[test]
fn every_world_keeps_every_law_and_every_tool_succeeds() {
    let worlds = worlds();
    let seeded = worlds.iter().filter(|world| world.domain().seed.is_some()).count();
    for world in worlds {
        // Worlds that a family made have few tools and much the same rows.
        let share = calls() / seeded / if world.domain().seed.is_some() { 1 } else { 10 };
        let halves: Vec<Report> = std::thread::scope(|scope| {
            let run = |seed| {
                let world = &world;
                scope.spawn(move || laws::run(world, seed, share / 2))
            };
            [run(1), run(2)].map(|thread| thread.join().unwrap()).into()
        });
        let mut report = Report::default();
        halves.into_iter().for_each(|half| report.add(half));
        let domain = world.domain();
        println!("{}: {} calls, {} answered, refused {:?}", domain.name, report.calls, report.answered, report.refused);
        if domain.seed.is_some() {
            // The cases of the domain show the rest.
            println!("  not shown by random calls: {:?}", report.missing(domain));
        }
        assert!(report.broken.is_empty(), "{}: {:#?}", domain.name, report.broken);
        let never: Vec<&str> =
            domain.tools.iter().map(|tool| &*tool.name).filter(|name| !report.successes.contains_key(*name)).collect();
        // What a family made is too narrow for random arguments; the tests of its part call each of its tools.
        assert!(never.is_empty() || domain.seed.is_none(), "{}: never answered: {never:?}", domain.name);
    }
}
