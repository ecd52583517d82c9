//! Runs a declared world in memory. A [`Sandbox`] is a domain with a first state; an [`Episode`] is a copy of that state
//! that changes by calls of the domain's tools, each of which is answered or refused with a reason. Copying an episode
//! costs a few reference counts, and what changed since it began is known exactly.
//!
//! Nothing here knows any one domain: tools, access, lifecycles, rules, stamps and seed data are all declared
//! (`benchwright_schema`). Only *native* tools have code, which comes in as a table of functions.
//!
//! ```
//! use benchwright_sandbox::{Conditions, Sandbox};
//! use benchwright_schema::{Folder, load};
//! use benchwright_world::Seat;
//! use std::sync::Arc;
//!
//! # let files = [
//! #     ("domain.toml", "name = 'tickets'\ntitle = 'Tickets'\nrole = 'clerk'\nabout = 'Tickets.'"),
//! #     ("tables.toml", "[enums]\nState = ['open', 'done']\n[ticket]\ntitle = 'text'\nstate = 'State = open'"),
//! #     ("tools.toml", "add_ticket = 'create ticket set title'\nclose_ticket = 'update ticket set state'"),
//! #     ("policy.toml", "[access]\nclerk = ['any on *']"),
//! # ];
//! # let folder = Folder::new("tickets", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
//! // A domain with tickets, and the tools `add_ticket` and `close_ticket`.
//! let domain = load(&folder).expect("the folder has no fault");
//! let sandbox = Arc::new(Sandbox::empty(Arc::new(domain), &[]).expect("no code names anything that is not there"));
//! let clerk = Seat { role: "clerk".to_owned(), actor: None };
//! let mut episode = sandbox.begin(&clerk, Conditions::default()).expect("there is such a role");
//!
//! episode.call("add_ticket", r#"{"title":"no light"}"#).expect("it is allowed");
//! let fork = episode.fork();
//! episode.call("close_ticket", r#"{"id":1,"state":"done"}"#).expect("it is allowed");
//! let refused = episode.call("close_ticket", r#"{"id":7,"state":"done"}"#).expect_err("there is no such ticket");
//! assert_eq!(refused.code.word(), "not_found");
//!
//! assert_ne!(episode.state_hash(), fork.state_hash(), "the copy did not see what came after it");
//! assert_eq!(episode.diff().changes.len(), 1, "one row is new");
//! ```

mod access;
mod answer;
mod arguments;
mod call;
mod compiled;
mod conditions;
mod draft;
mod episode;
mod idset;
mod judge;
mod live;
mod names;
mod row;
pub mod sabotage;
mod scratch;
mod seed;
mod standing;
mod state;
mod tracelog;
mod trie;
mod verbs;
mod world;

pub use arguments::LARGEST_ARGUMENTS;
pub use conditions::{Conditions, Fault, FaultRate};
pub use episode::Episode;
pub use judge::Broken;
pub use live::Live;
pub use names::{
    ArgumentName, Cell, Check, Column, ColumnOf, NameFault, Names, NamesError, NativeTool, Table, Word, WordOf, cell,
};
pub use row::Row;
pub use scratch::Scratch;
pub use seed::SeedError;
pub use verbs::{AnyRow, Gives, NativeCall, NativeFn, RowView, Seen};
pub use world::SandboxWorld;

/// What [`names!`] makes of columns whose places are fixed.
#[doc(hidden)]
pub use benchwright_base::FieldId;

use benchwright_base::{Digest, RelationId, RowId, TableId, Value};
use benchwright_expr::{
    Compare, TestOp, Type,
    eval::Records as _,
    walk::{Operand, Test},
};
use benchwright_pack::{OpenTask, Snapshot, SnapshotTable, TableChanges};
use benchwright_schema::{Domain, Verb, codec};
use benchwright_world::{Seat, WorldError};
use compiled::Compiled;
use episode::Played;
use state::State;
use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
};

/// The native tools of a domain.
pub type Natives = [NativeTool];

/// A world of one domain with its first state, ready for episodes.
pub struct Sandbox {
    pub(crate) compiled: Arc<Compiled>,
    /// The code of each tool that has some, by the tool's place.
    pub(crate) natives: Arc<[Option<names::Code>]>,
    pub(crate) first: State,
    /// The first state that the snapshot it was loaded from names, which all its states come from.
    pub(crate) came_from: Option<Digest>,
    /// The digest of the own first state, once somebody has asked for it.
    own: OnceLock<Digest>,
}

/// Why a snapshot cannot be the state of a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It breaks what every state keeps.
    #[error("the snapshot does not hold together: {0}")]
    Snapshot(String),
    /// The code of its native tools does not fit the domain.
    #[error(transparent)]
    Names(#[from] NamesError),
}

impl Sandbox {
    /// A world without rows. Native code that names what the domain does not have is an error.
    pub fn empty(domain: Arc<Domain>, natives: &Natives) -> Result<Sandbox, NamesError> {
        let now = domain.now;
        let compiled = Arc::new(Compiled::new(domain));
        let natives = names::resolve(&compiled, natives)?.into();
        let first = State::empty(&compiled, now);
        Ok(Sandbox { compiled, natives, first, came_from: None, own: OnceLock::new() })
    }

    /// A world filled as the domain's `seed.toml` says: the same bytes for the same size and seed.
    pub fn seeded(domain: Arc<Domain>, natives: &Natives, size: &str, seed: u64) -> Result<Sandbox, SeedError> {
        let mut sandbox = Sandbox::empty(domain, natives)?;
        sandbox.first = seed::fill(&sandbox.compiled, &sandbox.first, size, seed)?;
        Ok(sandbox)
    }

    /// A world whose first state is a snapshot. What a state must keep (ids, references, uniqueness) is checked.
    pub fn from_snapshot(domain: Arc<Domain>, natives: &Natives, snapshot: &Snapshot) -> Result<Sandbox, LoadError> {
        let mut sandbox = Sandbox::empty(domain, natives)?;
        let compiled = &sandbox.compiled;
        let mut state = State::empty(compiled, snapshot.now);
        for (at, table) in snapshot.tables.iter().enumerate() {
            let id = RelationId(at as u16);
            fill_table(compiled, &mut state, id, table)?;
        }
        check_references(compiled, &state)?;
        sandbox.first = state;
        sandbox.came_from = snapshot.first;
        Ok(sandbox)
    }

    /// The same world with rows planted, as a document tells them. What a state must keep is checked.
    pub fn planted(&self, changes: &[TableChanges]) -> Result<Sandbox, LoadError> {
        let compiled = &*self.compiled;
        let mut state = self.first.clone();
        for changed in changes {
            let declared = compiled.domain.table(changed.table);
            if changed.next_id > LARGEST_ID || changed.next_number > LARGEST_ID {
                return Err(LoadError::Snapshot(format!("the counters of {} are out of range", declared.name)));
            }
            for row in &changed.gone {
                state.remove(compiled, changed.table, *row);
            }
            // Rows that were there keep their ids, which nobody else is given.
            if let Some((last, _)) = state.table(changed.table).rows.iter().last()
                && last >= changed.next_id
            {
                let why = format!("{} would give out the id {}, and has a row {last}", declared.name, changed.next_id);
                return Err(LoadError::Snapshot(why));
            }
            for cells in &changed.rows {
                let id = cells.first().and_then(Value::as_ref_id).unwrap_or_default();
                if id == 0 || id >= changed.next_id {
                    let why = format!("{} has a row with the id {id}, which is not given out", declared.name);
                    return Err(LoadError::Snapshot(why));
                }
                for key in &declared.keys {
                    let rows = state.table(changed.table);
                    let table = &compiled.tables[changed.table.index()];
                    if let Some(other) = rows.same_key(table, &key.fields, cells, id) {
                        let name = &declared.name;
                        return Err(LoadError::Snapshot(format!("{name} {id} and {name} {other} have the same key")));
                    }
                }
                state.put(compiled, changed.table, Arc::new(Row::new(cells.clone().into_boxed_slice())));
            }
            state.set_counters(changed.table, changed.next_id, changed.next_number);
        }
        check_references(compiled, &state)?;
        Ok(self.beginning_at(state))
    }

    /// The first state as a document.
    pub fn first_snapshot(&self) -> Snapshot {
        episode::snapshot_of(&self.compiled, &self.first, self.came_from)
    }

    /// The same world with another first state.
    pub(crate) fn beginning_at(&self, first: State) -> Sandbox {
        let (compiled, natives) = (Arc::clone(&self.compiled), Arc::clone(&self.natives));
        Sandbox { compiled, natives, first, came_from: None, own: OnceLock::new() }
    }

    /// The digest of the first state that all states of this world come from: its own, or the one that the snapshot it was
    /// loaded from names.
    pub fn origin(&self) -> Digest {
        let own = || *self.own.get_or_init(|| Digest::of(&episode::snapshot_bytes(&self.compiled, &self.first, None)));
        self.came_from.unwrap_or_else(own)
    }

    /// The declarations of its tables, tools, roles and rules.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.compiled.domain
    }

    /// The native tools that are declared but have no code here: they are listed, not served.
    pub fn tools_without_code(&self) -> Vec<&str> {
        let tools = self.compiled.domain.tools.iter().zip(&*self.natives);
        tools.filter(|(tool, code)| tool.verb == Verb::Native && code.is_none()).map(|(tool, _)| &*tool.name).collect()
    }

    /// The first person, by id, whose row has the role as its `role`, or refers there to a row of that `name`; for roles that
    /// every row can take, the first person. In a joined domain, the first of those who have their roles in most members.
    pub fn person_for(&self, role: &str) -> Option<RowId> {
        let domain = &self.compiled.domain;
        let table = domain.actor?;
        let mut people = self.first.table(table).rows.iter().map(|(id, _)| id);
        if domain.members.is_empty() {
            let first = people.next()?;
            let fits = |id: &RowId| self.has_role(table, *id, role);
            return [first].into_iter().chain(people).find(fits).or(Some(first));
        }
        let fits = |id: RowId| {
            let everywhere = self.people_of(Some(id));
            let places = self.compiled.actors.iter().zip(&everywhere).enumerate();
            let roles =
                places.filter(|(member, (table, person))| match (table, person, domain.role_in(role, *member)) {
                    (Some(table), Some(person), Some(role)) => self.has_role(*table, *person, role),
                    _ => false,
                });
            (roles.count(), everywhere.iter().flatten().count())
        };
        let mut best = None;
        for id in people {
            let fit = fits(id);
            if best.is_none_or(|(known, _)| known < fit) {
                best = Some((fit, id));
            }
        }
        best.map(|(_, id)| id)
    }

    fn has_role(&self, table: TableId, person: RowId, role: &str) -> bool {
        let row = self.first.get(table, person);
        row.is_some_and(|row| self.word_of(table, row, "role").is_some_and(|word| word == role))
    }

    /// Who a person is in each member of a joined domain: whoever has the same address. Nobody, where no one has.
    fn people_of(&self, person: Option<RowId>) -> Vec<Option<RowId>> {
        let domain = &self.compiled.domain;
        let (Some(own), Some(id)) = (domain.actor, person) else { return vec![None; self.compiled.actors.len()] };
        let members = &domain.members;
        if members.is_empty() {
            return vec![person];
        }
        let address = members[domain.member_of(own)].address;
        let address = address.and_then(|field| Some(self.first.get(own, id)?.get(field).clone()));
        let address = address.filter(|address| !address.is_null());
        let same = |member: &benchwright_schema::Member| {
            let table = member.actor?;
            if table == own {
                return person;
            }
            let (field, address) = (member.address?, address.clone()?);
            let path = [(table, field)];
            let test = Test { path: &path, op: TestOp::Compare(Compare::Eq), with: Operand::One(address) };
            let mut found = None;
            let view = state::View { compiled: &self.compiled, state: &self.first };
            view.select(table, &[test], &mut |row| {
                found = Some(row.id());
                ControlFlow::Break(())
            });
            found
        };
        members.iter().map(same).collect()
    }

    /// The seat of a task's agent: the role of that name, or the domain's first where its role is told in words.
    pub fn seat_of(&self, task: &OpenTask) -> Seat {
        let domain = &self.compiled.domain;
        let joined = !domain.members.is_empty() && domain.joined_role(&task.role).is_some();
        let role = domain.role_named(&task.role).or(domain.roles.first());
        let role = match joined {
            true => task.role.clone(),
            false => role.map_or_else(String::new, |role| role.name.clone()),
        };
        Seat { actor: task.actor.or_else(|| self.person_for(&role)), role }
    }

    /// A field of a row as it is shown; of a reference, the `name` of the row it leads to.
    fn word_of(&self, table: TableId, row: &Row, field: &str) -> Option<String> {
        let domain = &self.compiled.domain;
        let id = domain.table(table).field_named(field)?;
        match (domain.table(table).field(id).ty, row.get(id)) {
            (Type::Ref(to), Value::Ref(other)) => {
                let named = domain.table(to).field_named("name")?;
                let ty = domain.table(to).field(named).ty;
                Some(codec::show_value(domain, ty, self.first.get(to, *other)?.get(named)))
            }
            (ty, value) => Some(codec::show_value(domain, ty, value)),
        }
    }

    /// Begins an episode under conditions.
    pub fn begin(self: &Arc<Self>, seat: &Seat, conditions: Conditions) -> Result<Episode, WorldError> {
        let domain = &self.compiled.domain;
        let listed = domain.roles.iter().position(|role| role.name == seat.role).map(Played::Listed);
        let made = || {
            let role = domain.joined_role(&seat.role).filter(|_| !domain.members.is_empty())?;
            let compiled = compiled::CompiledRole::new(&role);
            Some(Played::Made(Box::new((role, compiled))))
        };
        let Some(role) = listed.or_else(made) else {
            let roles: Vec<&str> = domain.roles.iter().map(|role| &*role.name).collect();
            let message = format!("{} has no role `{}`; its roles are {}", domain.name, seat.role, roles.join(", "));
            return Err(WorldError::Asked(message));
        };
        if let Some(person) = seat.actor {
            let there = domain.actor.is_some_and(|table| self.first.get(table, person).is_some());
            if !there {
                return Err(WorldError::Asked(format!("there is no person {person} in {}", domain.name)));
            }
        }
        let unknown = conditions.calls_of.iter().map(|(tool, _)| tool).chain(conditions.faults.iter().map(|f| &f.tool));
        for tool in unknown {
            if tool != "*" && domain.tool_named(tool).is_none() {
                return Err(WorldError::Asked(format!(
                    "the conditions name a tool `{tool}` that {} has not",
                    domain.name
                )));
            }
        }
        let start = self.first.clone();
        let people = self.people_of(seat.actor);
        let setting =
            episode::Setting { sandbox: Arc::clone(self), start, role, person: seat.actor, people, conditions };
        Ok(Episode {
            setting: Arc::new(setting),
            state: self.first.clone(),
            counts: trie::Trie::default(),
            total: 0,
            trace: tracelog::TraceLog::default(),
        })
    }
}

/// Counters of a snapshot beyond this are not believed.
const LARGEST_ID: RowId = 1_000_000_000;

fn fill_table(
    compiled: &Compiled,
    state: &mut State,
    table: RelationId,
    snapshot: &SnapshotTable,
) -> Result<(), LoadError> {
    let declared = compiled.domain.table(table);
    let name = &declared.name;
    check_counters(name, snapshot)?;
    for cells in &snapshot.rows {
        let id = cells.first().and_then(Value::as_ref_id).unwrap_or_default();
        if id == 0 || id >= snapshot.next_id || state.get(table, id).is_some() {
            return Err(LoadError::Snapshot(format!(
                "{name} has a row with the id {id}, which is taken or not yet given out"
            )));
        }
        for key in &declared.keys {
            let rows = state.table(table);
            if let Some(other) = rows.same_key(&compiled.tables[table.index()], &key.fields, cells, id) {
                return Err(LoadError::Snapshot(format!("{name} {id} and {name} {other} have the same key")));
            }
        }
        state.put(compiled, table, Arc::new(Row::new(cells.clone().into_boxed_slice())));
    }
    state.set_counters(table, snapshot.next_id, snapshot.next_number);
    Ok(())
}

/// Refuses counters that nobody can have reached.
fn check_counters(name: &str, snapshot: &SnapshotTable) -> Result<(), LoadError> {
    if snapshot.next_id > LARGEST_ID || snapshot.next_number > LARGEST_ID {
        return Err(LoadError::Snapshot(format!("the counters of {name} are out of range")));
    }
    Ok(())
}

fn check_references(compiled: &Compiled, state: &State) -> Result<(), LoadError> {
    for at in 0..compiled.domain.tables.len() {
        let table = RelationId(at as u16);
        for (_, row) in state.table(table).rows.iter() {
            check_references_of(compiled, state, table, row)?;
        }
    }
    Ok(())
}

/// That what a row refers to is there.
fn check_references_of(compiled: &Compiled, state: &State, table: TableId, row: &Row) -> Result<(), LoadError> {
    let declared = compiled.domain.table(table);
    for (field, cell) in declared.fields.iter().zip(row.cells()) {
        if let (Type::Ref(to), Value::Ref(target)) = (field.ty, cell)
            && state.get(to, *target).is_none()
        {
            let (name, to, id) = (&declared.name, &compiled.domain.table(to).name, row.id());
            let field = &field.name;
            return Err(LoadError::Snapshot(format!(
                "{name} {id} refers by `{field}` to {to} {target}, which is not there"
            )));
        }
    }
    Ok(())
}
