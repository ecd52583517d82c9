//! What the code of every model starts from: the call, the cells of a row that is to be written, refusals, and the end of a
//! call. Nothing here knows any one model.

use crate::names::{a, c};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ColumnOf, Gives, NativeCall, Row, RowView, Table};
use benchwright_schema as schema;
use std::marker::PhantomData;

/// A call of a tool.
pub(crate) type Call<'c, 'd> = NativeCall<'c, 'd>;
/// What a tool answers.
pub(crate) type Answer = Result<Gives, Refusal>;

/// The cells of a row of a table that is to be written.
pub(crate) struct Cells<T> {
    /// Fields with their values, each at most once.
    pub(crate) cells: Vec<(FieldId, Value)>,
    table: PhantomData<fn() -> T>,
}

impl<T> Cells<T> {
    /// Cells for a row.
    pub(crate) fn new(cells: Vec<(FieldId, Value)>) -> Cells<T> {
        Cells { cells, table: PhantomData }
    }

    /// Sets a field by its id, in place of what is there.
    pub(crate) fn put(&mut self, field: FieldId, value: Value) {
        self.cells.retain(|(known, _)| *known != field);
        self.cells.push((field, value));
    }
}

impl<T: Table> Cells<T> {
    /// A value that is to be written.
    pub(crate) fn get(&self, call: &Call<'_, '_>, column: impl ColumnOf<T>) -> Option<&Value> {
        let id = call.field(T::default(), column);
        self.cells.iter().find(|(field, _)| *field == id).map(|(_, value)| value)
    }

    /// Whether a value is to be written that is not null.
    pub(crate) fn has(&self, call: &Call<'_, '_>, column: impl ColumnOf<T>) -> bool {
        self.get(call, column).is_some_and(|value| !value.is_null())
    }

    /// The row that is to be referred to.
    pub(crate) fn link(&self, call: &Call<'_, '_>, column: impl ColumnOf<T>) -> Option<RowId> {
        self.get(call, column).and_then(Value::as_ref_id)
    }

    /// Sets a value, in place of one that is there.
    pub(crate) fn set(&mut self, call: &Call<'_, '_>, column: impl ColumnOf<T>, value: Value) {
        self.put(call.field(T::default(), column), value);
    }
}

/// A refusal because of the state of a record.
pub(crate) fn wrong_state(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::TransitionNotAllowed, message)
}

/// A refusal of what Odoo does not let happen.
pub(crate) fn cannot(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::RuleViolated, message)
}

/// The end of a call that writes: the clock moves on by a second.
pub(crate) fn done(call: &mut Call<'_, '_>, answer: impl Into<Vec<u8>>) -> Answer {
    call.advance(1);
    Ok(Gives::Json(answer.into()))
}

/// The answer of a call that asks something back instead of ending.
pub(crate) fn dialog(name: &str, model: &str) -> String {
    format!(
        "{{\"type\":\"ir.actions.act_window\",\"name\":\"{name}\",\"res_model\":\"{model}\",\"view_mode\":\"form\",\"target\":\"new\"}}"
    )
}

/// The ids that a call names, each once, in order.
pub(crate) fn ids(call: &Call<'_, '_>) -> Result<Vec<RowId>, Refusal> {
    let mut ids: Vec<RowId> = Vec::new();
    for id in call.arguments(a::ids)?.iter().filter_map(Value::as_ref_id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The name of a model as calls know it.
pub(crate) fn model_name(table: &schema::Table) -> &str {
    table.odoo.as_deref().unwrap_or(&table.name)
}

/// The name under which a record is shown where its model says nothing else.
pub(crate) fn plain_name(call: &Call<'_, '_>, table: TableId, row: &Row) -> String {
    let declared = call.domain().table(table);
    // Not every table has a `name`.
    let name = declared.field_named("name").and_then(|id| row.get(id).as_text());
    name.map_or_else(|| format!("{},{}", model_name(declared), row.id()), str::to_owned)
}

/// The same of a record that may be none, whose name is empty then.
pub(crate) fn plain_name_of<T: Table>(call: &Call<'_, '_>, table: T, id: Option<RowId>) -> Result<String, Refusal> {
    let table = call.table(table);
    let row = id.map(|id| call.find(table, id)).transpose()?.flatten();
    Ok(row.map(|row| plain_name(call, table, row)).unwrap_or_default())
}

/// The word of a record's state.
pub(crate) fn state_word<T: Table>(call: &Call<'_, '_>, table: T, row: &RowView<T>) -> Value
where
    c::state: ColumnOf<T>,
{
    Value::text(call.show(table, c::state, &row.get(c::state)))
}

/// The next name of a sequence: one more than the largest number with this prefix.
pub(crate) fn next_name<T: Table>(call: &Call<'_, '_>, table: T, prefix: &str) -> Result<String, Refusal>
where
    c::name: ColumnOf<T>,
{
    let field = call.field(table, c::name);
    let mut last = 0;
    for row in call.every(call.table(table))? {
        let number = row.get(field).as_text().and_then(|name| name.strip_prefix(prefix)?.parse::<u32>().ok());
        last = last.max(number.unwrap_or_default());
    }
    Ok(format!("{prefix}{:05}", last + 1))
}

/// A new document belongs to who makes it, unless it says otherwise.
pub(crate) fn fill_user<T: Table>(call: &Call<'_, '_>, cells: &mut Cells<T>)
where
    c::user_id: ColumnOf<T>,
{
    if let Some(actor) = call.actor()
        && cells.get(call, c::user_id).is_none()
    {
        cells.set(call, c::user_id, Value::Ref(actor));
    }
}
