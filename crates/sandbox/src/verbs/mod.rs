//! The verbs, one file each. Reads write their answer from the state; writes go through a draft.

mod avg;
mod count;
mod create;
mod delete;
mod find;
mod get;
mod link;
mod list;
mod native;
mod send;
mod sum;
mod update;

pub(crate) use native::native;
pub use native::{AnyRow, Gives, NativeCall, NativeFn, RowView, Seen};

use crate::{call::Call, compiled::Compiled, draft::Draft, state::State};
use benchwright_base::{FieldId, TableId, Value};
use benchwright_pack::Refusal;
use benchwright_schema::{Action, Verb};
use std::collections::BTreeMap;

/// Answers a read.
pub(crate) fn read(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match call.tool.verb {
        Verb::Find => find::find(call, state, out),
        Verb::List => list::list(call, state, out),
        Verb::Get => get::get(call, state, out),
        Verb::Count => count::count(call, state, out),
        Verb::Sum => sum::sum(call, state, out),
        Verb::Avg => avg::avg(call, state, out),
        Verb::Create | Verb::Update | Verb::Delete | Verb::Link | Verb::Send | Verb::Native => Ok(()),
    }
}

/// Does a write and answers it.
pub(crate) fn write(call: &Call<'_>, draft: &mut Draft<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match call.tool.verb {
        Verb::Create => create::create(call, draft, out),
        Verb::Link => link::link(call, draft, out),
        Verb::Send => send::send(call, draft, out),
        Verb::Update => update::update(call, draft, out),
        Verb::Delete => delete::delete(call, draft, out),
        Verb::Find | Verb::List | Verb::Get | Verb::Count | Verb::Sum | Verb::Avg | Verb::Native => {
            read(call, &draft.state, out)
        }
    }
}

/// The groups of an aggregate in order of their value, with what is collected for each; one unnamed group without `per`.
type Groups<T> = BTreeMap<Value, T>;

/// Collects something from every visible row, by group.
fn group<T: Default>(
    call: &Call<'_>,
    state: &State,
    mut collect: impl FnMut(&mut T, &crate::row::Row),
) -> Result<Groups<T>, Refusal> {
    let declared = call.compiled().domain.table(call.table);
    let is_secret = |field: &FieldId| declared.field(*field).secret;
    let asks_secrets = [call.tool.of, call.tool.per].iter().flatten().any(is_secret);
    if asks_secrets {
        call.actor.require(call.table, Action::Reveal)?;
    }
    let tests = call.tests()?;
    let mut groups = Groups::new();
    call.visible(state, &tests, 0, &mut |row| {
        if asks_secrets && !call.actor.reveals(state, call.table, row) {
            return std::ops::ControlFlow::Continue(());
        }
        let key = call.tool.per.map_or(Value::Null, |field| row.get(field).clone());
        collect(groups.entry(key).or_default(), row);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(groups)
}

/// Writes `"groups":[{"field":value, …}, …]` when the tool groups; `write` adds the rest of each group.
fn write_groups<T>(call: &Call<'_>, groups: &Groups<T>, out: &mut Vec<u8>, write: impl Fn(&mut Vec<u8>, &T)) {
    let Some(per) = call.tool.per else { return };
    out.extend_from_slice(b",\"groups\":[");
    for (at, (key, value)) in groups.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{" } else { b",{" });
        write_cell(call.compiled(), call.table, per, key, out);
        out.push(b',');
        write(out, value);
        out.push(b'}');
    }
    out.push(b']');
}

/// Writes `"field":value`.
fn write_cell(compiled: &Compiled, table: TableId, field: FieldId, value: &Value, out: &mut Vec<u8>) {
    let field = compiled.domain.table(table).field(field);
    benchwright_base::json::write_text(out, &field.name);
    out.push(b':');
    benchwright_schema::codec::write_value(out, &compiled.domain, field.ty, value);
}
