//! The relational world in memory: verbs, access, lifecycles, rules, clock, faults, budgets, fork and exact diff, on
//! persistent maps. A world is declared by a domain; nothing here knows any one of them.

mod access;
mod answer;
mod arguments;
mod call;
mod conditions;
mod draft;
mod episode;
mod idset;
mod judge;
mod live;
mod plan;
mod row;
pub mod sabotage;
mod seed;
mod state;
mod tracelog;
mod trie;
mod verbs;

pub use arguments::LARGEST_ARGUMENTS;
pub use conditions::{Conditions, Fault, FaultRate};
pub use episode::Episode;
pub use judge::Broken;
pub use live::Live;
pub use row::Row;
pub use seed::SeedError;
pub use verbs::{Gives, NativeCall, NativeFn, RowView, Seen};

use benchwright_base::{RelationId, RowId, Value};
use benchwright_expr::Type;
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_schema::{Domain, Verb};
use benchwright_world::{Seat, WorldError};
use plan::Plan;
use state::State;
use std::sync::Arc;

/// The native tools of a domain: names and code.
pub type Natives = [(&'static str, NativeFn)];

/// A world of one domain with its first state, ready for episodes.
pub struct Sandbox {
    pub(crate) plan: Plan,
    /// The code of each tool that has some, by the tool's place.
    pub(crate) natives: Vec<Option<NativeFn>>,
    pub(crate) first: State,
}

/// Why a snapshot cannot be the state of a sandbox.
#[derive(Debug, thiserror::Error)]
#[error("the snapshot does not hold together: {0}")]
pub struct LoadError(String);

impl Sandbox {
    /// A world without rows.
    pub fn empty(domain: Arc<Domain>, natives: &Natives) -> Sandbox {
        let code = |tool: &benchwright_schema::Tool| {
            natives.iter().find(|(name, _)| tool.verb == Verb::Native && *name == tool.name).map(|(_, code)| *code)
        };
        let natives = domain.tools.iter().map(code).collect();
        let now = domain.now;
        let plan = Plan::new(domain);
        let first = State::empty(&plan, now);
        Sandbox { plan, natives, first }
    }

    /// A world filled as the domain's `seed.toml` says: the same bytes for the same size and seed.
    pub fn seeded(domain: Arc<Domain>, natives: &Natives, size: &str, seed: u64) -> Result<Sandbox, SeedError> {
        let mut sandbox = Sandbox::empty(domain, natives);
        sandbox.first = seed::fill(&sandbox.plan, &sandbox.first, size, seed)?;
        Ok(sandbox)
    }

    /// A world whose first state is a snapshot. What a state must keep (ids, references, uniqueness) is checked.
    pub fn from_snapshot(domain: Arc<Domain>, natives: &Natives, snapshot: &Snapshot) -> Result<Sandbox, LoadError> {
        let mut sandbox = Sandbox::empty(domain, natives);
        let plan = &sandbox.plan;
        let mut state = State::empty(plan, snapshot.now);
        for (at, table) in snapshot.tables.iter().enumerate() {
            let id = RelationId(at as u16);
            fill_table(plan, &mut state, id, table)?;
        }
        check_references(plan, &state)?;
        sandbox.first = state;
        Ok(sandbox)
    }

    /// The domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.plan.domain
    }

    /// The native tools that are declared but have no code here: they are listed, not served.
    pub fn tools_without_code(&self) -> Vec<&str> {
        let tools = self.plan.domain.tools.iter().zip(&self.natives);
        tools.filter(|(tool, code)| tool.verb == Verb::Native && code.is_none()).map(|(tool, _)| &*tool.name).collect()
    }

    /// The first person, by id, whose row has the role as its `role`; for roles that every row can take, the first person.
    pub fn person_for(&self, role: &str) -> Option<RowId> {
        let table = self.plan.domain.actor?;
        let declared = self.plan.domain.table(table);
        let rows = || self.first.table(table).rows.iter();
        let has_role = |row: &Row| {
            declared.field_named("role").is_some_and(|field| {
                benchwright_schema::codec::show_value(&self.plan.domain, declared.field(field).ty, row.get(field))
                    == role
            })
        };
        rows().find(|(_, row)| has_role(row)).or_else(|| rows().next()).map(|(id, _)| id)
    }

    /// Begins an episode under conditions.
    pub fn begin(self: &Arc<Self>, seat: &Seat, conditions: Conditions) -> Result<Episode, WorldError> {
        let domain = &self.plan.domain;
        let Some(role) = domain.roles.iter().position(|role| role.name == seat.role) else {
            let roles: Vec<&str> = domain.roles.iter().map(|role| &*role.name).collect();
            let message = format!("{} has no role `{}`; its roles are {}", domain.name, seat.role, roles.join(", "));
            return Err(WorldError::NotThere(message));
        };
        if let Some(person) = seat.actor {
            let there = domain.actor.is_some_and(|table| self.first.get(table, person).is_some());
            if !there {
                return Err(WorldError::NotThere(format!("there is no person {person} in {}", domain.name)));
            }
        }
        let unknown = conditions.calls_of.iter().map(|(tool, _)| tool).chain(conditions.faults.iter().map(|f| &f.tool));
        for tool in unknown {
            if tool != "*" && domain.tool_named(tool).is_none() {
                return Err(WorldError::NotThere(format!(
                    "the conditions name a tool `{tool}` that {} has not",
                    domain.name
                )));
            }
        }
        let start = self.first.clone();
        let setting = episode::Setting { sandbox: Arc::clone(self), start, role, person: seat.actor, conditions };
        Ok(Episode {
            setting: Arc::new(setting),
            state: self.first.clone(),
            counts: trie::Trie::default(),
            total: 0,
            trace: tracelog::TraceLog::default(),
        })
    }
}

impl benchwright_world::World for Sandbox {
    type Episode = Episode;

    fn create(self: Arc<Self>, seat: &Seat) -> Result<Episode, WorldError> {
        self.begin(seat, Conditions::default())
    }
}

/// Counters of a snapshot beyond this are not believed.
const LARGEST_ID: RowId = 1_000_000_000;

fn fill_table(plan: &Plan, state: &mut State, table: RelationId, snapshot: &SnapshotTable) -> Result<(), LoadError> {
    let declared = plan.domain.table(table);
    let name = &declared.name;
    if snapshot.next_id > LARGEST_ID || snapshot.next_number > LARGEST_ID {
        return Err(LoadError(format!("the counters of {name} are out of range")));
    }
    for cells in &snapshot.rows {
        let id = cells.first().and_then(Value::as_ref_id).unwrap_or_default();
        if id == 0 || id >= snapshot.next_id || state.get(table, id).is_some() {
            return Err(LoadError(format!("{name} has a row with the id {id}, which is taken or not yet given out")));
        }
        for key in &declared.keys {
            let rows = state.table(table);
            if let Some(other) = rows.same_key(&plan.tables[table.index()], &key.fields, cells, id) {
                return Err(LoadError(format!("{name} {id} and {name} {other} have the same key")));
            }
        }
        state.put(plan, table, Arc::new(Row::new(cells.clone().into_boxed_slice())));
    }
    state.set_counters(table, snapshot.next_id, snapshot.next_number);
    Ok(())
}

fn check_references(plan: &Plan, state: &State) -> Result<(), LoadError> {
    for (at, declared) in plan.domain.tables.iter().enumerate() {
        for (id, row) in state.table(RelationId(at as u16)).rows.iter() {
            for (field, cell) in declared.fields.iter().zip(row.cells()) {
                if let (Type::Ref(to), Value::Ref(target)) = (field.ty, cell)
                    && state.get(to, *target).is_none()
                {
                    let (name, to) = (&declared.name, &plan.domain.table(to).name);
                    return Err(LoadError(format!(
                        "{name} {id} refers by `{}` to {to} {target}, which is not there",
                        field.name
                    )));
                }
            }
        }
    }
    Ok(())
}
