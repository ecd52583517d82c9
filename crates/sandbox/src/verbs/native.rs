//! `native`: hand-written tools. They read and write only the tables they declare, see only what the role may see, and
//! write through the same checks as every other tool.

mod rows;

use crate::{
    arguments,
    call::Call,
    compiled::{CompiledTool, Permit},
    draft::Draft,
    names::{ArgumentName, Cell, Code, ColumnOf, Table, WordOf},
    row::Row,
};
use benchwright_base::{DateTime, FieldId, Json, RowId, TableId, Value, json};
use benchwright_expr::{
    Compare, TestOp, Type,
    eval::Records,
    walk::{Operand, Test},
};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::{Action, Argument, Domain, Native, Shape, codec};
pub use rows::{AnyRow, RowView, Seen};
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
    compiled: &'c CompiledTool,
    native: &'c Native,
    /// What the code names, found in the domain.
    code: &'c Code,
    /// Arguments as they were sent.
    raw: &'c [Option<&'c Json<'c>>],
    /// The same as values. A text is read only when it is asked for.
    arguments: SmallVec<[Option<Operand<Value>>; 6]>,
    draft: &'c mut Draft<'d>,
}

impl<'c, 'd> NativeCall<'c, 'd> {
    /// The tool's name in its own domain.
    pub fn tool_name(&self) -> &'c str {
        &self.compiled.own_name
    }

    /// The domain.
    pub fn domain(&self) -> &'d Domain {
        &self.draft.actor.compiled.domain
    }

    /// The tables that the tool declares to read, in the order in which it names them.
    pub fn reads(&self) -> &'c [TableId] {
        &self.native.reads
    }

    /// The table that the first argument speaks of.
    pub fn subject(&self) -> Result<TableId, Refusal> {
        self.native.subject().ok_or_else(|| fault("its first argument speaks of no table".into()))
    }

    /// An argument as it was sent, whatever its type; nothing if it was not sent, or if this tool takes none of that name.
    #[inline]
    pub fn raw(&self, argument: ArgumentName) -> Option<&'c Json<'c>> {
        self.raw[usize::from(self.code.arguments[argument.slot()]?)]
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

    /// An argument; null if it was not given.
    #[inline]
    pub fn argument(&self, argument: ArgumentName) -> Result<Value, Refusal> {
        let at = self.place(argument)?;
        Ok(match (&self.arguments[at], self.raw[at]) {
            (Some(values), _) => values.values().first().cloned().unwrap_or_default(),
            (None, Some(Json::Text(text))) if is_text(&self.native.takes[at]) => Value::text(&**text),
            _ => Value::Null,
        })
    }

    /// Whether the tool takes an argument.
    pub fn takes(&self, argument: ArgumentName) -> bool {
        self.code.arguments[argument.slot()].is_some()
    }

    #[inline]
    fn place(&self, argument: ArgumentName) -> Result<usize, Refusal> {
        let at = self.code.arguments[argument.slot()].map(usize::from);
        at.ok_or_else(|| fault(format!("it takes no argument `{}`", argument.name())))
    }

    /// The row that an argument names; refused without one.
    pub fn reference(&self, argument: ArgumentName) -> Result<RowId, Refusal> {
        self.argument(argument)?.as_ref_id().ok_or_else(|| Refusal::argument(argument.name(), "is required"))
    }

    /// The values of a list argument.
    pub fn arguments(&self, argument: ArgumentName) -> Result<&[Value], Refusal> {
        Ok(self.arguments[self.place(argument)?].as_ref().map_or(&[], Operand::values))
    }

    /// The clock.
    pub fn now(&self) -> DateTime {
        self.draft.state.now
    }

    /// The person who acts.
    pub fn actor(&self) -> Option<RowId> {
        self.draft.actor.people[self.compiled.member]
    }

    /// The rows of a table that have these values and that the role may see, in order of id.
    pub fn rows<T: Table>(&self, table: T, having: &[Cell<T>]) -> Result<Vec<RowView<T>>, Refusal> {
        let id = self.readable(table)?;
        let columns = &self.code.names.columns;
        let paths: SmallVec<[[(TableId, FieldId); 1]; 4]> =
            having.iter().map(|cell| [(id, columns[usize::from(cell.slot)].field)]).collect();
        let tests: SmallVec<[Test<'_, Value>; 4]> = paths
            .iter()
            .zip(having)
            .map(|(path, Cell { value, .. })| Test {
                path,
                op: if value.is_null() { TestOp::IsNull } else { TestOp::Compare(Compare::Eq) },
                with: Operand::One(value.clone()),
            })
            .collect();
        let actor = self.draft.actor;
        let view = crate::state::View { compiled: actor.compiled, state: &self.draft.state };
        let mut found = Vec::new();
        let asks_secrets = having.iter().any(|cell| columns[usize::from(cell.slot)].secret);
        view.select(id, &tests, &mut |row| {
            let reveals = actor.reveals(&self.draft.state, id, row);
            if actor.may(&self.draft.state, id, Action::Read, row)
                && (reveals || !asks_secrets)
                && let Some(row) = self.draft.state.get(id, row.id())
            {
                found.push(self.view(Arc::clone(row), reveals));
            }
            ControlFlow::Continue(())
        });
        Ok(found)
    }

    fn view<T>(&self, row: Arc<Row>, reveals: bool) -> RowView<T> {
        RowView::new(Arc::clone(&self.code.names), row, reveals)
    }

    /// A row by its id, if there is one that the role may see.
    pub fn row<T: Table>(&self, table: T, id: RowId) -> Result<RowView<T>, Refusal> {
        self.row_in(self.table(table), id)
    }

    /// A row of a table that is known only by its id, for code that is the same for all tables.
    pub fn any_row(&self, table: TableId, id: RowId) -> Result<AnyRow, Refusal> {
        Ok(AnyRow { table, row: self.row_in(table, id)? })
    }

    fn row_in<T>(&self, table: TableId, id: RowId) -> Result<RowView<T>, Refusal> {
        self.may_read(table)?;
        let row = self.draft.row(table, id)?;
        if !self.draft.actor.may(&self.draft.state, table, Action::Read, &row) {
            let name = self.domain().table(table).own_name();
            return Err(crate::draft::no_row(name, id));
        }
        let reveals = self.draft.actor.reveals(&self.draft.state, table, &row);
        Ok(self.view(row, reveals))
    }

    /// Makes a row.
    pub fn create<T: Table>(&mut self, table: T, values: &[Cell<T>]) -> Result<RowId, Refusal> {
        let table = self.writable(table)?;
        let values = self.named(values).collect();
        self.draft.create(table, values)
    }

    /// Changes a row; returns whether anything differs.
    pub fn update<T: Table>(&mut self, table: T, id: RowId, values: &[Cell<T>]) -> Result<bool, Refusal> {
        let table = self.writable(table)?;
        let values: SmallVec<[(FieldId, Value); 8]> = self.named(values).collect();
        self.draft.update(table, id, values)
    }

    /// Deletes a row with what it owns.
    pub fn delete<T: Table>(&mut self, table: T, id: RowId) -> Result<usize, Refusal> {
        let table = self.writable(table)?;
        self.draft.delete(table, id)
    }

    /// A word of an enum field as a value.
    #[inline]
    pub fn word<T: Table, C: ColumnOf<T>>(&self, _: T, _: C, word: impl WordOf<T, C>) -> Value {
        Value::Enum(self.code.names.words[usize::from(word.slot())])
    }

    /// A value of a column as people read it.
    pub fn show<T: Table>(&self, table: T, column: impl ColumnOf<T>, value: &Value) -> String {
        let ty = self.domain().table(self.table(table)).field(self.field(table, column)).ty;
        codec::show_value(self.domain(), ty, value)
    }

    /// The id of a table.
    #[inline]
    pub fn table<T: Table>(&self, _: T) -> TableId {
        self.code.names.tables[usize::from(T::SLOT)]
    }

    fn readable<T: Table>(&self, table: T) -> Result<TableId, Refusal> {
        let table = self.table(table);
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

    /// A table, to read several rows of. Only for tables without secret fields.
    #[inline]
    pub fn open<T: Table>(&self, table: T) -> Result<Seen<'_>, Refusal> {
        let table = self.table(table);
        if self.native.reads.contains(&table) || self.native.writes.contains(&table) {
            return self.declared(table);
        }
        self.seen(table)
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
        if actor.compiled.tables[table.index()].has_secrets {
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

    fn writable<T: Table>(&self, table: T) -> Result<TableId, Refusal> {
        let table = self.table(table);
        self.may_write(table)?;
        Ok(table)
    }

    /// The id of a column of a table.
    #[inline]
    pub fn field<T: Table>(&self, _: T, column: impl ColumnOf<T>) -> FieldId {
        self.code.names.columns[usize::from(column.slot())].field
    }

    fn named<'n, T>(&'n self, values: &'n [Cell<T>]) -> impl Iterator<Item = (FieldId, Value)> + 'n {
        let columns = &self.code.names.columns;
        values.iter().map(|cell| (columns[usize::from(cell.slot)].field, cell.value.clone()))
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
pub(crate) fn native(call: &Call<'_>, draft: &mut Draft<'_>, code: &Code, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let Some(native) = &call.tool.native else { return Err(fault("it declares nothing".into())) };
    let domain = &*call.compiled().domain;
    // The arguments of a native tool are those that it takes, in their order.
    let raw = &call.given.values[..native.takes.len()];
    let mut native_call =
        NativeCall { compiled: call.compiled_tool, native, code, raw, arguments: SmallVec::new(), draft };
    for (argument, given) in native.takes.iter().zip(raw) {
        native_call.arguments.push(match (*given, argument.shape) {
            (Some(Json::Text(text)), Shape::Value) if is_text(argument) => {
                arguments::text(argument, text)?;
                None
            }
            (Some(json), Shape::Value) => Some(arguments::native(domain, argument, json)?),
            (Some(json), Shape::Json) if argument.list => {
                arguments::objects(&argument.cell.name, json)?;
                None
            }
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
    let gives = (code.run)(&mut native_call)?;
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
