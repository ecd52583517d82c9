//! Every workflow is drawn, told and read back: the facts that come back are those that were drawn, whatever the phrasing.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::support::library;
use benchwright_catalog::Catalog;
use benchwright_project::{Case, Discard, Draw, Family, NotAnswered, Pattern, ToolAccess, answered, ready};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{
    Domain,
    plan::{Binding, Bindings},
};
use benchwright_solve::{CpSat, PhasePlanner};
use benchwright_world::Seat;
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Cases of each cell.
const SEEDS: u64 = 3;
/// Phrasings of each case.
const TELLINGS: u64 = 4;

/// Tool access that can only read.
struct ReadOnly(Episode);

impl ToolAccess for ReadOnly {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        let known = self.0.domain().tools.iter().find(|known| known.name == tool);
        if !known.is_some_and(|known| known.reads_only()) {
            return Err(NotAnswered(format!("`{tool}` is no tool for reading")));
        }
        answered(self.0.call(tool, &arguments.to_string()))
    }
}

fn access(sandbox: &Arc<Sandbox>, domain: &Domain) -> ReadOnly {
    let role = domain.roles[0].name.clone();
    let actor = sandbox.person_for(&role);
    ReadOnly(sandbox.begin(&Seat { role, actor }, Conditions::default()).unwrap())
}

/// The first draw of a seed that is worth telling.
fn drawn<'a>(
    pattern: &'a Pattern,
    tier: &'a str,
    objective: &'a str,
    seed: u64,
    family: &dyn Family,
    domain: &Domain,
    planner: &mut PhasePlanner<'_>,
) -> (Draw<'a>, Case) {
    for attempt in 0..50 {
        let draw = Draw { pattern, tier, objective, seed, attempt };
        match family.sample(&draw, domain, planner) {
            Ok(case) => return (draw, case),
            Err(Discard::Because(_)) => {}
            Err(error) => panic!("{} {tier} {objective} {seed}: {error}", pattern.name),
        }
    }
    panic!("{} {tier} {objective} {seed}: every draw was thrown away", pattern.name)
}

/// What two sets of facts say differently, one line per fact.
fn differences(drawn: &Bindings, read: &Bindings) -> Vec<String> {
    let mut lines = Vec::new();
    if drawn.anchor != read.anchor {
        lines.push(format!("day 0: {} drawn, {} read", drawn.anchor, read.anchor));
    }
    let keys = |table: &BTreeMap<String, Vec<String>>, name: &str| -> BTreeSet<String> {
        table.get(name).into_iter().flatten().cloned().collect()
    };
    for name in drawn.members.keys().chain(read.members.keys()).collect::<BTreeSet<_>>() {
        let (drawn, read) = (keys(&drawn.members, name), keys(&read.members, name));
        lines.extend(drawn.symmetric_difference(&read).next().map(|key| format!("sort {name}: {key}")));
    }
    let set = |table: &BTreeMap<String, Vec<Binding>>, name: &str| -> BTreeSet<String> {
        table.get(name).into_iter().flatten().map(|member| format!("{member:?}")).collect()
    };
    for name in drawn.sets.keys().chain(read.sets.keys()).collect::<BTreeSet<_>>() {
        let (drawn, read) = (set(&drawn.sets, name), set(&read.sets, name));
        lines.extend(drawn.symmetric_difference(&read).next().map(|key| format!("set {name}: {key}")));
    }
    let none = BTreeMap::new();
    for name in drawn.facts.keys().chain(read.facts.keys()).collect::<BTreeSet<_>>() {
        let (drawn, read) = (drawn.facts.get(name).unwrap_or(&none), read.facts.get(name).unwrap_or(&none));
        let keys: BTreeSet<&String> = drawn.keys().chain(read.keys()).collect();
        let odd = keys.into_iter().find(|key| drawn.get(*key) != read.get(*key));
        lines.extend(odd.map(|key| format!("{name}({key}): {:?} drawn, {:?} read", drawn.get(key), read.get(key))));
    }
    lines
}

/// Tells a case in several phrasings, and compares what is read with what was drawn.
fn faults(catalog: &Catalog, draw: &Draw<'_>, case: &Case, family: &dyn Family, domain: &Domain) -> Vec<String> {
    let ready = ready(family, draw.pattern, domain, case.clone()).unwrap();
    let first = family.world(case, domain).unwrap();
    let sandbox = catalog.world_of_snapshot(&first.snapshot.to_bytes(domain)).unwrap();
    let facts = family.bindings(case).unwrap();
    let mut faults = Vec::new();
    for telling in 0..TELLINGS {
        let draw = Draw { seed: draw.seed + 1000 * telling, ..draw.clone() };
        let brief = family.brief(&draw, case, &ready.text).unwrap();
        let read = match family.reader().unwrap().read_back(&brief.text, &mut access(&sandbox, domain)) {
            Ok(read) => read,
            Err(why) => {
                faults.push(why.to_string());
                continue;
            }
        };
        if (&read.objective, &read.switches) != (&case.objective, &case.switches) {
            faults.push(format!(
                "{} {:?} drawn, {} {:?} read",
                case.objective, case.switches, read.objective, read.switches
            ));
        }
        faults.extend(differences(&facts, &family.bindings(&read).unwrap()));
    }
    faults.dedup();
    faults
}

#[test]
fn every_workflow_is_read_back_as_it_was_drawn() {
    let Some(library) = library() else { return };
    let solver = CpSat::load(&library).unwrap();
    let catalog = Catalog::built_in();
    let domain = catalog.find("erp").unwrap().domain;
    let family = catalog.family("erp", "erp").unwrap();
    let (mut told, mut faulty) = (0, Vec::new());
    for name in &catalog.pattern_names().unwrap() {
        let pattern = catalog.pattern(name).unwrap();
        if pattern.family != "erp" {
            continue;
        }
        let mut planner = PhasePlanner::new(&solver);
        for cell in &pattern.head.cells {
            for (at, objective) in cell.objectives.iter().enumerate() {
                for seed in 0..if at == 0 { SEEDS } else { 1 } {
                    let (draw, case) = drawn(&pattern, &cell.tier, objective, seed, family, &domain, &mut planner);
                    told += 1;
                    let place = format!("{name} {} {objective} {seed}", cell.tier);
                    faulty.extend(
                        faults(&catalog, &draw, &case, family, &domain)
                            .into_iter()
                            .map(|why| format!("{place}: {why}")),
                    );
                }
            }
        }
    }
    assert!(told > 0);
    assert!(faulty.is_empty(), "{} faults in {told} cases:\n{}", faulty.len(), faulty.join("\n"));
}
