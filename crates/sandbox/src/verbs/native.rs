//! `native`: hand-written tools. They read and write only the tables they declare, see only what the role may see, and
//! write through the same checks as every other tool.

use crate::{
    access::Actor,
    arguments,
    call::Call,
    draft::Draft,
    plan::{Permit, ToolPlan},
    row::Row,
    state::{State, TableState},
};
use benchwright_base::{DateTime, FieldId, Json, RowId, TableId, Value, json};
use benchwright_expr::{
    Compare, TestOp, Type,
    eval::Records,
    walk::{Operand, Test},
};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::{Action, Argument, Domain, Native, Shape, codec};
use smallvec::SmallVec;
use std::{ops::ControlFlow, sync::Arc};

/// The code of a native tool.
pub type NativeFn = fn(&mut NativeCall<'_, '_>) -> Result<Gives, Refusal>;

/// What a native tool answers with: the values of its `gives`, in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Gives {
    /// One set of values.
    One(Vec<Value>),
    /// A list of them, for `gives many`.
    Many(Vec<Vec<Value>>),
    /// JSON of its own form, for `gives json`.
    Json(Vec<u8>),
}

/// What a native tool works with.
pub struct NativeCall<'c, 'd> {
    plan: &'c ToolPlan,
    native: &'c Native,
    /// Arguments as they were sent.
    raw: &'c [Option<&'c Json<'c>>],
    /// The same as values. A text is read only when it is asked for.
    arguments: SmallVec<[Option<Operand<Value>>; 6]>,
    draft: &'c mut Draft<'d>,
}

/// A row that a native tool may see.
#[derive(Clone)]
pub struct RowView {
    domain: Arc<Domain>,
    table: TableId,
    row: Arc<Row>,
    /// Whether its secret fields may be seen.
    reveals: bool,
}

impl RowView {
    /// Its id.
    pub fn id(&self) -> RowId {
        self.row.id()
    }

    /// A field by its name; null if there is no such field, or if it is secret and the role may not see it.
    pub fn get(&self, field: &str) -> Value {
        let table = self.domain.table(self.table);
        match table.field_named(field) {
            Some(field) if self.reveals || !table.field(field).secret => self.row.get(field).clone(),
            _ => Value::Null,
        }
    }

    /// An instant by the name of its field; nothing if it is null or none.
    pub fn instant(&self, field: &str) -> Option<DateTime> {
        match self.get(field) {
            Value::DateTime(instant) => Some(instant),
            _ => None,
        }
    }

    /// Whether an enum field has a word.
    pub fn is(&self, field: &str, word: &str) -> bool {
        let table = self.domain.table(self.table);
        let Some(field) = table.field_named(field).map(|id| (id, table.field(id))) else { return false };
        match (field.1.ty, self.row.get(field.0)) {
            (Type::Enum(id), Value::Enum(at)) if self.reveals || !field.1.secret => {
                self.domain.enums[id.index()].words[*at as usize] == word
            }
            _ => false,
        }
    }
}

/// A table as a native tool reads it: the rows that the role may see, each as a whole.
#[derive(Clone, Copy)]
pub struct Seen<'n> {
    table: TableId,
    rows: &'n TableState,
    state: &'n State,
    actor: &'n Actor<'n>,
    /// Whether each row must be asked for.
    conditional: bool,
}

impl<'n> Seen<'n> {
    /// The table.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// A row by its id.
    #[inline]
    pub fn get(&self, id: RowId) -> Option<&'n Row> {
        self.rows.rows.get(id).map(|row| &**row).filter(|row| self.shows(row))
    }

    /// The rows that refer by a field to a row, in order of id.
    #[inline]
    pub fn referring(self, field: FieldId, to: RowId) -> impl Iterator<Item = &'n Row> {
        let mut rows = self.rows.referring(&self.actor.plan.tables[self.table.index()], field, to);
        // Not a filter: that becomes a call for each row.
        std::iter::from_fn(move || {
            loop {
                let row = rows.next()?;
                if self.shows(row) {
                    return Some(&**row);
                }
            }
        })
    }

    /// All rows, in order of id.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = &'n Row> {
        self.rows.rows.iter().map(|(_, row)| &**row).filter(move |row| self.shows(row))
    }

    #[inline]
    fn shows(&self, row: &Row) -> bool {
        !self.conditional || self.actor.may(self.state, self.table, Action::Read, row)
    }
}

impl<'c, 'd> NativeCall<'c, 'd> {
    /// The tool's name in its own domain.
    pub fn tool_name(&self) -> &'c str {
        &self.plan.own_name
    }

    /// The domain.
    pub fn domain(&self) -> &'d Domain {
        &self.draft.actor.plan.domain
    }

    /// The table that the first argument speaks of.
    pub fn subject(&self) -> Result<TableId, Refusal> {
        self.native.subject().ok_or_else(|| fault("its first argument speaks of no table".into()))
    }

    /// An argument as it was sent, whatever its type.
    #[inline]
    pub fn raw(&self, name: &str) -> Option<&'c Json<'c>> {
        self.raw[self.place(name)?]
    }

    /// Moves the clock on; a refused call moves it back.
    pub fn advance(&mut self, seconds: u32) {
        self.draft.advance(seconds);
    }

    /// A row of a table, if there is one that the role may see. Only for tables without secret fields.
    pub fn find(&self, table: TableId, id: RowId) -> Result<Option<&Row>, Refusal> {
        Ok(self.seen(table)?.get(id))
    }

    /// The rows of a table that refer by a field to a row, in order of id, as far as the role may see them.
    pub fn referring(&self, table: TableId, field: FieldId, to: RowId) -> Result<Vec<&Row>, Refusal> {
        Ok(self.seen(table)?.referring(field, to).collect())
    }

    /// All rows of a table, in order of id, as far as the role may see them.
    pub fn every(&self, table: TableId) -> Result<impl Iterator<Item = &Row>, Refusal> {
        Ok(self.seen(table)?.iter())
    }

    /// Makes a row of a table.
    pub fn insert(&mut self, table: TableId, values: Vec<(FieldId, Value)>) -> Result<RowId, Refusal> {
        self.may_write(table)?;
        self.draft.create(table, values)
    }

    /// Changes a row of a table; returns whether anything differs.
    pub fn change(
        &mut self,
        table: TableId,
        id: RowId,
        values: impl IntoIterator<Item = (FieldId, Value)>,
    ) -> Result<bool, Refusal> {
        self.may_write(table)?;
        self.draft.update(table, id, values)
    }

    /// Deletes a row of a table with what it owns.
    pub fn remove(&mut self, table: TableId, id: RowId) -> Result<usize, Refusal> {
        self.may_write(table)?;
        self.draft.delete(table, id)
    }

    /// An argument by its name; null if it was not given.
    #[inline]
    pub fn argument(&self, name: &str) -> Value {
        let Some(at) = self.place(name) else { return Value::Null };
        match (&self.arguments[at], self.raw[at]) {
            (Some(values), _) => values.values().first().cloned().unwrap_or_default(),
            (None, Some(Json::Text(text))) if is_text(&self.native.takes[at]) => Value::text(&**text),
            _ => Value::Null,
        }
    }

    #[inline]
    fn place(&self, name: &str) -> Option<usize> {
        self.native.takes.iter().position(|argument| argument.cell.name == name)
    }

    /// The row that an argument names; refused without one.
    pub fn reference(&self, name: &str) -> Result<RowId, Refusal> {
        self.argument(name).as_ref_id().ok_or_else(|| Refusal::argument(name, "is required"))
    }

    /// The values of a list argument.
    pub fn arguments(&self, name: &str) -> &[Value] {
        self.place(name).and_then(|at| self.arguments[at].as_ref()).map_or(&[], Operand::values)
    }

    /// The clock.
    pub fn now(&self) -> DateTime {
        self.draft.state.now
    }

    /// The person who acts.
    pub fn actor(&self) -> Option<RowId> {
        self.draft.actor.people[self.plan.member]
    }

    /// The rows of a table that have these values and that the role may see, in order of id.
    pub fn rows(&self, table: &str, having: &[(&str, Value)]) -> Result<Vec<RowView>, Refusal> {
        let id = self.readable(table)?;
        let paths =
            having.iter().map(|(field, _)| Ok([(id, self.field(id, field)?)])).collect::<Result<Vec<_>, Refusal>>()?;
        let tests: Vec<Test<'_, Value>> = paths
            .iter()
            .zip(having)
            .map(|(path, (_, value))| Test {
                path,
                op: if value.is_null() { TestOp::IsNull } else { TestOp::Compare(Compare::Eq) },
                with: Operand::One(value.clone()),
            })
            .collect();
        let actor = self.draft.actor;
        let view = crate::state::View { plan: actor.plan, state: &self.draft.state };
        let mut found = Vec::new();
        let declared = actor.plan.domain.table(id);
        let asks_secrets = paths.iter().any(|[(_, field)]| declared.field(*field).secret);
        view.select(id, &tests, &mut |row| {
            let reveals = actor.reveals(&self.draft.state, id, row);
            if actor.may(&self.draft.state, id, Action::Read, row)
                && (reveals || !asks_secrets)
                && let Some(row) = self.draft.state.get(id, row.id())
            {
                found.push(RowView {
                    domain: Arc::clone(&actor.plan.domain),
                    table: id,
                    row: Arc::clone(row),
                    reveals,
                });
            }
            ControlFlow::Continue(())
        });
        Ok(found)
    }

    /// A row by its id, if there is one that the role may see.
    pub fn row(&self, table: &str, id: RowId) -> Result<RowView, Refusal> {
        let name = table;
        let table = self.readable(name)?;
        let row = self.draft.row(table, id)?;
        if !self.draft.actor.may(&self.draft.state, table, Action::Read, &row) {
            return Err(crate::draft::no_row(name, id));
        }
        let reveals = self.draft.actor.reveals(&self.draft.state, table, &row);
        Ok(RowView { domain: Arc::clone(&self.draft.actor.plan.domain), table, row, reveals })
    }

    /// Makes a row.
    pub fn create(&mut self, table: &str, values: &[(&str, Value)]) -> Result<RowId, Refusal> {
        let table = self.writable(table)?;
        let values = self.named(table, values)?;
        self.draft.create(table, values)
    }

    /// Changes a row; returns whether anything differs.
    pub fn update(&mut self, table: &str, id: RowId, values: &[(&str, Value)]) -> Result<bool, Refusal> {
        let table = self.writable(table)?;
        let values = self.named(table, values)?;
        self.draft.update(table, id, values)
    }

    /// Deletes a row with what it owns.
    pub fn delete(&mut self, table: &str, id: RowId) -> Result<usize, Refusal> {
        let table = self.writable(table)?;
        self.draft.delete(table, id)
    }

    /// A word of an enum field as a value.
    pub fn word(&self, table: &str, field: &str, word: &str) -> Result<Value, Refusal> {
        let table = self.table(table)?;
        let id = self.field(table, field)?;
        let domain = self.domain();
        let at = match domain.table(table).field(id).ty {
            Type::Enum(words) => domain.enums[words.index()].words.iter().position(|known| known == word),
            _ => None,
        };
        at.map(|at| Value::Enum(at as u16)).ok_or_else(|| fault(format!("`{field}` has no word `{word}`")))
    }

    /// A table of the tool's own domain by its name there.
    pub fn table(&self, name: &str) -> Result<TableId, Refusal> {
        let plan = self.draft.actor.plan;
        let found = match plan.domain.members.get(self.plan.member) {
            None => plan.table_named(name),
            Some(member) => plan.table_named(&format!("{}.{name}", member.name)),
        };
        found.ok_or_else(|| fault(format!("there is no table `{name}`")))
    }

    fn readable(&self, name: &str) -> Result<TableId, Refusal> {
        let table = self.table(name)?;
        self.may_read(table)?;
        Ok(table)
    }

    fn may_read(&self, table: TableId) -> Result<(), Refusal> {
        if !self.native.reads.contains(&table) && !self.native.writes.contains(&table) {
            let name = &self.domain().table(table).name;
            return Err(fault(format!("the tool does not declare that it reads `{name}`")));
        }
        self.draft.actor.require(table, Action::Read)
    }

    /// A table by its name, to read several rows of. Only for tables without secret fields.
    #[inline]
    pub fn open(&self, name: &str) -> Result<Seen<'_>, Refusal> {
        match self.plan.tables.iter().find(|(declared, _)| **declared == *name) {
            Some((_, table)) => self.declared(*table),
            None => self.seen(self.table(name)?),
        }
    }

    /// A table for its whole rows, which hide nothing.
    fn seen(&self, table: TableId) -> Result<Seen<'_>, Refusal> {
        self.may_read(table)?;
        self.declared(table)
    }

    /// The same of a table that the tool declares.
    #[inline]
    fn declared(&self, table: TableId) -> Result<Seen<'_>, Refusal> {
        let Draft { actor, state, .. } = &*self.draft;
        if actor.plan.tables[table.index()].has_secrets {
            let name = &self.domain().table(table).name;
            return Err(fault(format!("`{name}` has secret fields, so its rows are read one field at a time")));
        }
        let conditional = match actor.role.permit(table, Action::Read) {
            Permit::No => return Err(actor.forbidden(table, Action::Read, None)),
            Permit::Yes => false,
            Permit::If(_) => true,
        };
        Ok(Seen { table, rows: state.table(table), state, actor, conditional })
    }

    fn may_write(&self, table: TableId) -> Result<(), Refusal> {
        if self.native.writes.contains(&table) {
            return Ok(());
        }
        let name = &self.domain().table(table).name;
        Err(fault(format!("the tool does not declare that it writes `{name}`")))
    }

    fn writable(&self, name: &str) -> Result<TableId, Refusal> {
        let table = self.table(name)?;
        self.may_write(table)?;
        Ok(table)
    }

    /// A field of a table by its name.
    pub fn field(&self, table: TableId, name: &str) -> Result<FieldId, Refusal> {
        let declared = self.draft.actor.plan.domain.table(table);
        declared.field_named(name).ok_or_else(|| fault(format!("{} has no field `{name}`", declared.name)))
    }

    fn named(&self, table: TableId, values: &[(&str, Value)]) -> Result<Vec<(FieldId, Value)>, Refusal> {
        values.iter().map(|(name, value)| Ok((self.field(table, name)?, value.clone()))).collect()
    }
}

/// A mistake in a native tool's code: the call is refused and says so.
fn fault(what: String) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("this tool is at fault: {what}"))
}

/// Whether an argument is one text.
fn is_text(argument: &Argument) -> bool {
    argument.shape == Shape::Value && argument.cell.ty == Type::Text && !argument.list
}

/// Runs a native tool and answers it.
pub(crate) fn native(
    call: &Call<'_>,
    draft: &mut Draft<'_>,
    function: NativeFn,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let Some(native) = &call.tool.native else { return Err(fault("it declares nothing".into())) };
    let domain = &*call.plan().domain;
    // The arguments of a native tool are those that it takes, in their order.
    let raw = &call.given.values[..native.takes.len()];
    let mut native_call = NativeCall { plan: call.tool_plan, native, raw, arguments: SmallVec::new(), draft };
    for (argument, given) in native.takes.iter().zip(raw) {
        native_call.arguments.push(match (*given, argument.shape) {
            (Some(Json::Text(text)), Shape::Value) if is_text(argument) => {
                arguments::text(argument, text)?;
                None
            }
            (Some(json), Shape::Value) => Some(arguments::native(domain, argument, json)?),
            (Some(json), _) if argument.list => {
                arguments::list(&argument.cell.name, json)?;
                None
            }
            (Some(json), Shape::Scalar) if !matches!(json, Json::Int(_) | Json::Text(_)) => {
                let wanted = format!("wants a whole number or a text, got {}", json.kind());
                return Err(Refusal::argument(&argument.cell.name, wanted));
            }
            (Some(json), Shape::Json) if !matches!(json, Json::Object(_)) => {
                let wanted = format!("wants an object, got {}", json.kind());
                return Err(Refusal::argument(&argument.cell.name, wanted));
            }
            _ => None,
        });
    }
    let gives = function(&mut native_call)?;
    let write = |out: &mut Vec<u8>, values: &[Value]| -> Result<(), Refusal> {
        if values.len() != native.gives.len() {
            return Err(fault(format!("it gave {} values, not {}", values.len(), native.gives.len())));
        }
        out.push(b'{');
        for (at, (cell, value)) in native.gives.iter().zip(values).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            json::write_text(out, &cell.name);
            out.push(b':');
            codec::write_value(out, domain, cell.ty, value);
        }
        out.push(b'}');
        Ok(())
    };
    match (gives, native.many) {
        (Gives::One(values), false) if !native.json => write(out, &values),
        (Gives::Many(rows), true) => {
            out.extend_from_slice(b"{\"rows\":[");
            for (at, row) in rows.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(out, row)?;
            }
            out.extend_from_slice(b"]}");
            Ok(())
        }
        (Gives::Json(json), _) if native.json => {
            *out = json;
            Ok(())
        }
        _ => {
            Err(fault("it gave one where it declares many, many where it declares one, or not what it declares".into()))
        }
    }
}
