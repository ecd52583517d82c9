//! The documents of a task and of a run that pass from hand to hand: both parts of a task, a planted first state, a folder of files,
//! commitments, plans and records.

use crate::{
    Met, Target,
    ground::{CATALOG, TASKS},
};
use benchwright_grade::TaskJudge;
use benchwright_pack::{
    AuditFile, Commitment, Delta, Files, OpenTask, Opening, Proof, RunPlan, SealedTask, Snapshot, SnapshotTable,
    TableDelta, TrialRecord,
};
use benchwright_sandbox::Sandbox;
use benchwright_schema::Table;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;
use std::{
    fmt::Debug,
    sync::{Arc, LazyLock},
};

pub(crate) const TARGET: Target = Target { name: "pack", seeds, regressions: &[], rounds: 2_000, meet };

/// The world of the first task of the demo.
static WORLD: LazyLock<(Arc<Sandbox>, Snapshot)> =
    LazyLock::new(|| CATALOG.first_state(&TASKS[0].world).unwrap_or_else(|error| panic!("{error}")));
/// A world from which rows can be planted.
static BASE: LazyLock<Arc<Sandbox>> =
    LazyLock::new(|| CATALOG.base("teams", "small", 1).unwrap_or_else(|error| panic!("{error}")));

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        TASKS.iter().take(2).flat_map(|task| [task.open_bytes(), task.sealed_bytes()]).collect();
    let mut files = Files::default();
    let put = files.put("notes/today.txt", "é\n").and_then(|()| files.put("blob", [0xff, 0x00]));
    assert!(put.is_ok(), "{put:?}");
    seeds.push(files.to_bytes());
    let delta = delta();
    seeds.push(delta.to_bytes());
    seeds.extend(bent(&delta).iter().map(Delta::to_bytes));
    seeds
}

/// A first state in which the last row of each of a few tables was planted as it is.
fn delta() -> Delta {
    let domain = BASE.domain();
    let first = BASE.first_snapshot();
    let planted = |(declared, table): (&Table, &SnapshotTable)| {
        let mut bytes = Vec::new();
        Snapshot::write_row(&mut bytes, domain, declared, table.rows.last()?);
        let row: serde_json::Map<String, Json> = serde_json::from_slice(&bytes).ok()?;
        let rows = vec![row.into_iter().map(|(_, cell)| cell).collect()];
        let (next_id, next_number) = (table.next_id, table.next_number);
        Some(TableDelta { table: declared.name.clone(), next_id, next_number, rows, gone: Vec::new() })
    };
    let tables = domain.tables.iter().zip(&first.tables).filter_map(planted).collect();
    let origin = BASE.origin().to_string();
    let (delta, domain, size) = (Delta::VERSION, domain.name.clone(), "small".to_owned());
    Delta { delta, domain, size, seed: 1, base: origin.clone(), digest: origin, tables }
}

/// The same with ids that are given out again, and with numbers below what their fields may hold. Both were once planted.
fn bent(good: &Delta) -> Vec<Delta> {
    let mut low = good.clone();
    for table in &mut low.tables {
        (table.next_id, table.rows) = (1, Vec::new());
    }
    let mut below = good.clone();
    for table in &mut below.tables {
        let Some(id) = BASE.domain().table_named(&table.table) else { continue };
        for row in &mut table.rows {
            for (field, cell) in BASE.domain().table(id).fields.iter().zip(row) {
                if let (Some((least, _)), Some(_)) = (field.bounds, cell.as_i64()) {
                    *cell = Json::from(least.saturating_sub(1));
                }
            }
        }
    }
    vec![low, below]
}

fn meet(bytes: &[u8]) -> Met {
    let mut met = Met::Refused;
    let mut take = |is: bool| met = if is { Met::Taken } else { met };
    take(reads_back::<OpenTask>(bytes).is_some());
    take(reads_back::<Commitment>(bytes).is_some_and(|commitment| {
        let _ = commitment.faults();
        true
    }));
    take(reads_back::<Opening>(bytes).is_some());
    take(reads_back::<Proof>(bytes).is_some());
    take(reads_back::<AuditFile>(bytes).is_some());
    take(reads_back::<RunPlan>(bytes).is_some_and(|plan| {
        let _ = (plan.digest(), plan.trials(), plan.keys().take(10).count());
        true
    }));
    take(reads_back::<TrialRecord>(bytes).is_some());
    if let Ok(files) = Files::from_bytes(bytes) {
        assert_eq!(Files::from_bytes(&files.to_bytes()).ok().as_ref(), Some(&files), "a folder reads back");
        take(true);
    }
    if let Some(sealed) = reads_back::<SealedTask>(bytes) {
        take(true);
        judge(&sealed);
    }
    if let Ok(delta) = Delta::from_bytes(bytes) {
        take(true);
        plant(&delta);
    }
    met
}

/// A document that reads back as it was written.
fn reads_back<T: DeserializeOwned + Serialize + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&read).unwrap_or_else(|error| panic!("what was read cannot be written: {error}"));
    let again: T =
        serde_json::from_slice(&written).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
    assert_eq!(again, read, "a document reads back as it was written");
    Some(read)
}

/// Whatever a sealed part says, a judge made of it gives a verdict or says why not; and a state that nobody worked on does not pass.
fn judge(sealed: &SealedTask) {
    let (world, first) = &*WORLD;
    let Ok(family) = CATALOG.family(&sealed.family, &world.domain().name) else { return };
    let seat = world.seat_of(&TASKS[0].open);
    let judge = TaskJudge::of(sealed, world.domain(), first, family.natives(), world, &seat);
    if let Ok(judge) = judge {
        let _ = judge.grade(first);
    }
}

/// Rows that are planted make a world that holds together, or none.
fn plant(delta: &Delta) {
    let Ok(changes) = delta.changes(BASE.domain()) else { return };
    let Ok(planted) = BASE.planted(&changes) else { return };
    let first = planted.first_snapshot();
    let bytes = first.to_bytes(BASE.domain());
    let read = Snapshot::from_bytes(&bytes, BASE.domain());
    let read = read.unwrap_or_else(|error| panic!("a planted state is no snapshot: {error}"));
    let loaded = Sandbox::from_snapshot(Arc::clone(BASE.domain()), &[], &read);
    assert!(
        loaded.is_ok(),
        "a planted state does not hold together: {:?}",
        loaded.err().map(|error| error.to_string())
    );
}
