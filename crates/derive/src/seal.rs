//! A derived request as a task: the open part with the world told by what was planted, and the sealed part.

use crate::{DERIVATION, DONE, Derived, FAMILY, SIZE, ScenarioOrder};
use benchwright_base::Digest;
use benchwright_pack::{
    Certificate, Clause, Delta, OpenTask, SEALED_VERSION, SealedTask, Split, TASK_VERSION, Task, Verifier,
};
use benchwright_project::{CALLS, named};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn task(order: ScenarioOrder<'_>, derived: Derived, attempt: u32, discarded: BTreeMap<String, u32>) -> Task {
    let domain = derived.world.domain();
    let (split, seed) = Split::of_seed(order.seed);
    let world = Delta {
        delta: Delta::VERSION,
        domain: domain.name.clone(),
        size: SIZE.to_owned(),
        seed: derived.base,
        base: derived.base_digest.clone(),
        digest: derived.world.origin().to_string(),
        tables: derived.planted.clone(),
    };
    let world = world.to_bytes();
    let tools = match derived.without.is_empty() {
        true => Vec::new(),
        false => {
            let offered = domain.tools.iter().filter(|tool| !derived.without.contains(&tool.name));
            offered.map(|tool| tool.name.clone()).collect()
        }
    };
    let open = OpenTask {
        version: TASK_VERSION,
        canary: split.canary().to_owned(),
        id: String::new(),
        domain: domain.name.clone(),
        role: derived.seat.role.clone(),
        actor: derived.seat.actor,
        tools,
        calls: CALLS,
        instruction: Digest::of(derived.instruction.as_bytes()).to_string(),
        world: Digest::of(&world).to_string(),
        faults: None,
    };
    let clauses = derived.spans.iter().map(|(span, told)| Clause { tells: vec![span.clone()], text: told.clone() });
    let tables: BTreeSet<&str> = derived.effects.expected.iter().map(|row| &*row.table).collect();
    let measures = json!({
        "calls": derived.calls,
        "reads": derived.reads,
        "writes": derived.calls - derived.reads,
        "clauses": derived.asked.len(),
        "branches": derived.branches.len(),
        "computed": derived.computed,
        "ways": derived.ways.len(),
        "rows": derived.effects.expected.len(),
        "rules": derived.effects.rules.len(),
        "edges": derived.edges,
        "doubles": derived.doubles,
        "tables": tables.len(),
        "words": derived.instruction.split_whitespace().count(),
    });
    let case = json!({
        "base": { "size": SIZE, "seed": derived.base },
        "voice": derived.voice,
        "cast": derived.cast,
        "rows": derived.rows,
        "ways": derived.ways,
        "asked": derived.asked,
        "branches": derived.branches,
        "needs": derived.needs,
        "measures": measures,
        "world": derived.world.origin().to_string(),
    });
    let sealed = SealedTask {
        version: SEALED_VERSION,
        canary: split.canary().to_owned(),
        id: String::new(),
        family: FAMILY.to_owned(),
        pattern: order.name.to_owned(),
        tier: order.tier.to_owned(),
        dials: Vec::new(),
        objective: order.objective.to_owned(),
        seed,
        split,
        salt: None,
        attempt,
        reading: None,
        switches: if order.objective == DONE { Vec::new() } else { vec!["blocked".to_owned()] },
        case,
        clauses: clauses.collect(),
        oracle: derived.oracle,
        verifier: Verifier::none(),
        effects: Some(derived.effects),
        injection: None,
        certificate: Certificate {
            solver: DERIVATION.to_owned(),
            library: String::new(),
            phases: json!([]),
            plan: derived.certificate,
            variables: 0,
            constraints: 0,
            discarded,
            weights: BTreeMap::new(),
        },
    };
    named(Task { open, instruction: derived.instruction, world, sealed })
}
