//! Seeded worlds: the same bytes for the same seed, whoever makes them; every rule about states holds; the sizes are as
//! promised.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_catalog::Catalog;
use benchwright_sandbox::{Conditions, Episode};
use benchwright_testkit::worlds::seeded;
use benchwright_world::Seat;
use std::path::Path;

fn catalog() -> Catalog {
    Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../domains"))
}

fn first_state(catalog: &Catalog, name: &str, size: &str, seed: u64) -> Episode {
    // Filling checks every rule about states on every row, and fails if one is broken.
    let world = catalog.world(name, size, seed).unwrap_or_else(|error| panic!("{name} {size} {seed}: {error}"));
    let role = world.domain().roles[0].name.clone();
    world.begin(&Seat { role, actor: None }, Conditions::default()).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_every_thread_and_another_seed_does_not() {
    let catalog = catalog();
    for name in seeded(&catalog).unwrap() {
        let bytes: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let make = |seed| {
                let (catalog, name) = (&catalog, &name);
                scope.spawn(move || first_state(catalog, name, "small", seed).snapshot_bytes())
            };
            [make(5), make(5), make(6)].map(|thread| thread.join().unwrap()).into()
        });
        assert_eq!(bytes[0], bytes[1], "{name}");
        assert_ne!(bytes[0], bytes[2], "{name}");
    }
}

#[test]
fn every_size_holds_its_promise_for_many_seeds() {
    let catalog = catalog();
    for name in seeded(&catalog).unwrap() {
        for (size, rows, seeds) in [("small", 240..=380, 12), ("medium", 2800..=4200, 3), ("large", 10_000..=20_000, 1)]
        {
            for seed in 1..=seeds {
                let count = first_state(&catalog, &name, size, seed).row_count();
                assert!(rows.contains(&count), "{name} {size} {seed} has {count} rows, not {rows:?}");
            }
        }
    }
}

#[test]
fn every_table_of_a_seeded_world_has_rows_and_every_role_has_its_person() {
    let catalog = catalog();
    for name in seeded(&catalog).unwrap() {
        let episode = first_state(&catalog, &name, "small", 1);
        let domain = episode.domain();
        // Nobody has replied before the first request.
        for (at, table) in domain.tables.iter().enumerate().filter(|(_, table)| !table.once) {
            let rows = episode.table_len(benchwright_base::RelationId(at as u16));
            assert!(rows > 0, "{name}: {} is empty", table.name);
        }
        if domain.actor.is_some() {
            for role in &domain.roles {
                assert!(episode.sandbox().person_for(&role.name).is_some(), "{name}: nobody for {}", role.name);
            }
        }
    }
}

#[test]
fn a_role_that_is_a_row_finds_its_person() {
    let episode = first_state(&catalog(), "hr", "small", 1);
    let (domain, sandbox) = (episode.domain(), episode.sandbox());
    let table = domain.actor.unwrap();
    let field = domain.table(table).field_named("role").unwrap();
    let role_of = |role: &str| {
        let person = sandbox.person_for(role).unwrap();
        episode.rows(table).find(|row| row.id() == person).unwrap().get(field).as_ref_id()
    };
    // The rows of roles stand in the order of these words.
    assert_eq!(["admin", "manager", "agent", "employee"].map(role_of), [Some(1), Some(2), Some(3), Some(4)]);
}
