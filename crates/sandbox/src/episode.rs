//! An episode: one state that changes by calls, and the trace of them. Reset and fork cost a few reference counts.

use crate::{
    Sandbox,
    access::Actor,
    arguments,
    call::Call,
    compiled::{Compiled, CompiledRole},
    conditions::Conditions,
    draft::Draft,
    judge::{Broken, Judgement},
    row::Row,
    sabotage::{Sabotage, on},
    state::{State, View},
    tracelog::TraceLog,
    trie::Trie,
    verbs,
};
use benchwright_base::{DateTime, Digest, RelationId, RowId, StateHash, TableId, digest::hash_text, nearest};
use benchwright_expr::{Expr, eval::Judge};
use benchwright_pack::{Diff, Outcome, Refusal, RefusalCode, Snapshot, SnapshotTable, Trace};
use benchwright_schema::{By, Domain, Role, Verb};
use benchwright_world::WorldError;
use std::sync::Arc;

/// An episode of a sandbox.
#[derive(Clone)]
pub struct Episode {
    pub(crate) setting: Arc<Setting>,
    pub(crate) state: State,
    /// Calls made of each tool, where they must be counted.
    pub(crate) counts: Trie<u32>,
    /// All of them together.
    pub(crate) total: u32,
    pub(crate) trace: TraceLog,
}

/// What stays the same through an episode and its forks.
pub(crate) struct Setting {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) start: State,
    pub(crate) role: Played,
    /// Who acts, as the seat says.
    pub(crate) person: Option<RowId>,
    /// Who that is in each member; where nothing is joined there is one.
    pub(crate) people: Vec<Option<RowId>>,
    pub(crate) conditions: Conditions,
}

/// The role that is played.
pub(crate) enum Played {
    /// One that the domain lists, by its place.
    Listed(usize),
    /// One put together for the episode: a role in each member of a joined domain.
    Made(Box<(Role, CompiledRole)>),
}

impl Setting {
    fn role(&self) -> &Role {
        match &self.role {
            Played::Listed(at) => &self.sandbox.compiled.domain.roles[*at],
            Played::Made(made) => &made.0,
        }
    }

    fn actor(&self) -> Actor<'_> {
        let compiled = &self.sandbox.compiled;
        let role = match &self.role {
            Played::Listed(at) => &compiled.roles[*at],
            Played::Made(made) => &made.1,
        };
        Actor { compiled, role, people: &self.people }
    }
}

impl Episode {
    /// Calls a tool. A refusal changes nothing but the trace and the count of calls.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Result<String, Refusal> {
        let mut out = Vec::new();
        let result = self.dispatch(tool, arguments, &mut out);
        let result = result.and_then(|()| {
            String::from_utf8(out).map_err(|_| Refusal::new(RefusalCode::InvalidArgument, "the answer is not text"))
        });
        match &result {
            Ok(answer) => self.trace.push(tool, arguments, Ok(hash_text(answer.as_bytes()))),
            Err(_) if on(Sabotage::TraceForgetsRefusals) => {}
            Err(refusal) => self.trace.push(tool, arguments, Err(refusal.code)),
        }
        result
    }

    fn dispatch(&mut self, name: &str, arguments: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let Setting { sandbox, conditions, .. } = &*self.setting;
        let compiled = &sandbox.compiled;
        let Some(at) = compiled.tool_named(name) else { return Err(no_tool(compiled, name)) };
        let tool = &compiled.domain.tools[at];
        // Counted before anything is read, so that a call with bad arguments costs as much as any other.
        let (mut nth, total) = (0, self.total);
        if conditions.counts_by_tool() {
            self.counts.update(at as u32, |count| {
                nth = count.unwrap_or_default();
                *count = Some(nth + 1);
            });
        }
        self.total += 1;
        conditions.check_budget(name, nth, total)?;
        conditions.check_fault(name, nth)?;
        let json = arguments::parse(arguments)?;
        let compiled_tool = &compiled.tools[at];
        let actor = self.setting.actor();
        let call = Call {
            actor,
            tool,
            compiled_tool,
            given: arguments::place(compiled_tool, &json)?,
            table: tool.table.unwrap_or(RelationId(0)),
        };
        if tool.verb != Verb::Native {
            out.reserve(1024);
        }
        if tool.verb.reads_only() {
            verbs::read(&call, &self.state, out)?;
            if on(Sabotage::ReadMovesClock) {
                self.state.now = DateTime(self.state.now.0 + 1);
            }
            return Ok(());
        }
        // The draft writes on the episode's own state and takes its writes back if the call is refused. Most calls stand, and a state
        // that nobody shares is written without a copy.
        let mut draft = Draft::new(actor, std::mem::replace(&mut self.state, State::taken()));
        let result = match (tool.verb, &sandbox.natives[at]) {
            (Verb::Native, Some(code)) => verbs::native(&call, &mut draft, code, out),
            (Verb::Native, None) => {
                Err(Refusal::new(RefusalCode::NotFound, format!("`{name}` has no code in this program")))
            }
            _ => verbs::write(&call, &mut draft, out),
        };
        let result = result.and_then(|()| draft.check_rules());
        let stands = result.is_ok() || on(Sabotage::KeepRefusedWrites);
        self.state = if stands { draft.state } else { draft.taken_back() };
        result
    }

    /// A copy that goes its own way from here, trace and all.
    pub fn fork(&self) -> Episode {
        self.clone()
    }

    /// Back to the first state, with an empty trace.
    pub fn reset(&mut self) {
        if !on(Sabotage::ResetKeepsWrites) {
            self.state = self.setting.start.clone();
        }
        self.counts = Trie::default();
        self.total = 0;
        self.trace = TraceLog::default();
    }

    /// The declarations of its tables, tools, roles and rules.
    pub fn domain(&self) -> &Domain {
        &self.setting.sandbox.compiled.domain
    }

    /// The sandbox it belongs to.
    pub fn sandbox(&self) -> &Arc<Sandbox> {
        &self.setting.sandbox
    }

    /// The time in this episode; it moves only as tools and native code move it.
    pub fn now(&self) -> DateTime {
        self.state.now
    }

    /// Sets the clock. It never goes back.
    pub fn advance(&mut self, to: DateTime) {
        self.state.now = self.state.now.max(to);
    }

    /// The hash of the state: rows, counters and clock, not the trace.
    pub fn state_hash(&self) -> StateHash {
        self.state.hash()
    }

    /// The same hash, made anew from every row: what the running one is held to.
    pub fn state_hash_from_scratch(&self) -> StateHash {
        self.state.hash_from_scratch()
    }

    /// What the rows cost to keep, in rows without long texts: as they stand, and as they were at the beginning.
    pub fn weight(&self) -> (u64, u64) {
        (self.state.weight(), self.setting.start.weight())
    }

    /// The same of the rows as they stand, made anew from every one: what the running sum is held to.
    pub fn weight_from_scratch(&self) -> u64 {
        self.state.weight_from_scratch()
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.state.row_count()
    }

    /// How many rows a table has.
    pub fn table_len(&self, table: TableId) -> usize {
        self.state.table(table).rows.len()
    }

    /// What differs from the first state.
    pub fn diff(&self) -> Diff {
        self.state.diff(&self.setting.start)
    }

    /// What differs from an earlier episode of the same sandbox, such as a fork kept aside.
    pub fn diff_from(&self, earlier: &Episode) -> Diff {
        self.state.diff(&earlier.state)
    }

    /// Every rule of the verifier that the rows created, changed or deleted since the first state break. Rules held by
    /// tools were judged call by call.
    pub fn judge(&self) -> Vec<Broken> {
        self.all_broken(&self.setting.start, By::Verifier)
    }

    /// Every rule of a holder that the changes since an earlier episode of the same sandbox break, taken as one call.
    pub fn judge_since(&self, earlier: &Episode, by: By) -> Vec<Broken> {
        self.all_broken(&earlier.state, by)
    }

    fn all_broken(&self, before: &State, by: By) -> Vec<Broken> {
        let Setting { sandbox, people, .. } = &*self.setting;
        Judgement { compiled: &sandbox.compiled, before: &|| before, after: &self.state, people }.all_broken(by)
    }

    /// Whether an expression about no row in particular holds of the state.
    pub fn holds(&self, expr: &Expr) -> bool {
        let view = View { compiled: &self.setting.sandbox.compiled, state: &self.state };
        Judge::new(&view, self.state.now).holds(expr)
    }

    /// Whether an expression holds of a row as it stands, for the person who acts.
    pub fn holds_of(&self, table: TableId, row: RowId, expr: &Expr) -> bool {
        let compiled = &self.setting.sandbox.compiled;
        let view = View { compiled, state: &self.state };
        let actor = self.setting.actor();
        self.state.get(table, row).is_some_and(|row| actor.judge(&view, &self.state, table, row).holds(expr))
    }

    /// The rows of a table, in order of id.
    pub fn rows(&self, table: TableId) -> impl Iterator<Item = &Row> {
        self.state.table(table).rows.iter().map(|(_, row)| &**row)
    }

    /// The row of the person who acts.
    pub fn person(&self) -> Option<RowId> {
        self.setting.person
    }

    /// The row of the person who acts in each member of a joined domain, in their order; where nothing is joined there is one.
    pub fn people(&self) -> &[Option<RowId>] {
        &self.setting.people
    }

    /// The role that is played.
    pub fn role(&self) -> &Role {
        self.setting.role()
    }

    /// The state as a document.
    pub fn snapshot(&self) -> Snapshot {
        snapshot_of(&self.setting.sandbox.compiled, &self.state, self.named_origin())
    }

    /// The canonical bytes of the snapshot, written from the rows' own JSON.
    pub fn snapshot_bytes(&self) -> Vec<u8> {
        snapshot_bytes(&self.setting.sandbox.compiled, &self.state, self.named_origin())
    }

    /// What a snapshot of this state names as its first state: nothing where it is one.
    fn named_origin(&self) -> Option<Digest> {
        let sandbox = &self.setting.sandbox;
        let is_first = sandbox.came_from.is_none() && self.state.hash() == sandbox.first.hash();
        (!is_first).then(|| sandbox.origin())
    }

    /// The trace as a document.
    pub fn trace(&self) -> Trace {
        let domain = self.domain();
        Trace {
            version: Trace::VERSION,
            domain: domain.name.clone(),
            domain_digest: domain.digest.to_string(),
            role: self.setting.role().name.clone(),
            actor: self.setting.person,
            start: Trace::hash(self.setting.start.hash()),
            calls: self.trace.calls(),
            end: Trace::hash(self.state.hash()),
        }
    }

    /// Makes the calls of a trace again from the first state, and says where the first difference is.
    pub fn replay(&mut self, trace: &Trace) -> Result<(), WorldError> {
        let differs = |what: String| Err(WorldError::Asked(what));
        self.reset();
        if Trace::hash(self.setting.start.hash()) != trace.start {
            return differs("the trace begins at another state".into());
        }
        for (at, call) in trace.calls.iter().enumerate() {
            let outcome = match self.call(&call.tool, &call.arguments) {
                Ok(answer) => Outcome::Answered(format!("{:016x}", hash_text(answer.as_bytes()))),
                Err(refusal) => Outcome::Refused(refusal.code.word().to_owned()),
            };
            if outcome != call.outcome {
                return differs(format!(
                    "call {} ({}) ended as {outcome:?}, not as {:?}",
                    at + 1,
                    call.tool,
                    call.outcome
                ));
            }
        }
        if Trace::hash(self.state.hash()) != trace.end {
            return differs("the replay ends at another state".into());
        }
        Ok(())
    }
}

/// A state as a document.
pub(crate) fn snapshot_of(compiled: &Compiled, state: &State, first: Option<Digest>) -> Snapshot {
    let domain = &compiled.domain;
    let tables = (0..domain.tables.len()).map(|at| {
        let table = state.table(RelationId(at as u16));
        SnapshotTable {
            next_id: table.next_id,
            next_number: table.next_number,
            rows: table.rows.iter().map(|(_, row)| row.cells().to_vec()).collect(),
        }
    });
    Snapshot {
        domain: domain.name.clone(),
        domain_digest: domain.digest,
        first,
        now: state.now,
        tables: tables.collect(),
    }
}

/// The canonical bytes of a state.
pub(crate) fn snapshot_bytes(compiled: &Compiled, state: &State, first: Option<Digest>) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 << 16);
    Snapshot::write_head(&mut out, &compiled.domain.name, compiled.domain.digest, first, state.now);
    for (at, declared) in compiled.domain.tables.iter().enumerate() {
        let id = RelationId(at as u16);
        let table = state.table(id);
        Snapshot::write_table_head(&mut out, at, &declared.name, table.next_id, table.next_number);
        for (at, (_, row)) in table.rows.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(b",\n");
            }
            out.extend_from_slice(crate::answer::whole_row(compiled, id, row));
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}\n");
    out
}

/// The refusal of a tool that is not there.
fn no_tool(compiled: &Compiled, name: &str) -> Refusal {
    let near = nearest(name, compiled.domain.tools.iter().map(|tool| &*tool.name));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let short: String = name.chars().take(80).collect();
    Refusal::new(RefusalCode::NotFound, format!("there is no tool `{short}`{near}"))
}
