//! The folder of a domain, by whoever writes one.

use crate::{
    Met, Target,
    ground::{SHOP, begin, bundled, unbundled},
};
use benchwright_sandbox::Sandbox;
use benchwright_schema::{Folder, arguments_schema, load, result_schema};
use std::sync::Arc;

pub(crate) const TARGET: Target = Target { name: "domain", seeds, regressions: &[], rounds: 2_000, meet };

fn seeds() -> Vec<Vec<u8>> {
    let without_seed = SHOP.into_iter().filter(|(name, _)| *name != "seed.toml");
    vec![bundled(SHOP), bundled(without_seed)]
}

fn meet(bytes: &[u8]) -> Met {
    let domain = match load(&Folder::new("shop", unbundled(bytes))) {
        Ok(domain) => Arc::new(domain),
        Err(faults) => {
            assert!(!faults.is_empty(), "who refuses says why");
            assert!(faults.is_sorted(), "faults stand in the order of their places");
            assert!(faults.len() <= 501 && faults.iter().all(|fault| fault.message.len() < 4_000), "faults are brief");
            return Met::Refused;
        }
    };
    for tool in &domain.tools {
        let _ = (arguments_schema(&domain, tool), result_schema(&domain, tool));
    }
    let Some(size) = domain.seed.as_ref().and_then(|seed| seed.sizes.first()) else { return Met::Taken };
    let Ok(world) = Sandbox::seeded(Arc::clone(&domain), &[], size, 1) else { return Met::Taken };
    let world = Arc::new(world);
    let first = world.first_snapshot();
    let loaded = Sandbox::from_snapshot(Arc::clone(&domain), &[], &first);
    assert!(loaded.is_ok(), "what was filled is a state: {:?}", loaded.err().map(|error| error.to_string()));
    let mut episode = begin(&world);
    for tool in &domain.tools {
        let before = episode.state_hash();
        if episode.call(&tool.name, "{}").is_err() {
            assert_eq!(episode.state_hash(), before, "a refusal changes nothing");
        }
    }
    assert_eq!(episode.state_hash(), episode.state_hash_from_scratch(), "the hash is that of the rows");
    Met::Taken
}
