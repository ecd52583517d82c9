//! The record calls that write, the same for every model: create, write, unlink, message_post, and the commands on lists of
//! rows that belong to a row. What a model does beyond that are its hooks.

use crate::{
    hooks::Hooks,
    models,
    names::{a, c, t},
    present::members,
    record::{Answer, Call, Cells, cannot, done, ids, model_name},
    values,
};
use benchwright_base::{FieldId, Json, RowId, TableId, Value, nearest, number};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::cell;
use benchwright_schema::{Derived, DerivedKind};

/// What the model of a table does, if it does more than store.
fn hooks(call: &Call<'_, '_>, table: TableId) -> Option<&'static dyn Hooks> {
    models::of(call.domain().table(table))
}

/// What an object of values says: cells, and commands on rows that belong to the row.
struct Vals<'c, 'd> {
    cells: Cells<()>,
    many: Vec<(&'d Derived, &'c Json<'c>)>,
    /// The first thing in it that cannot be read.
    fault: Option<Refusal>,
}

impl Vals<'_, '_> {
    /// The same, unless something in it cannot be read.
    fn faultless(mut self) -> Result<Self, Refusal> {
        self.fault.take().map_or(Ok(self), Err)
    }
}

/// `create`
pub(crate) fn create(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let Some(Json::List(list)) = call.raw(a::vals_list) else {
        return Err(Refusal::argument("vals_list", "wants a list of objects"));
    };
    let mut made = Vec::with_capacity(list.len());
    for vals in list {
        let id = create_row(call, table, vals, "vals_list", None)?;
        if let Some(model) = hooks(call, table) {
            model.added(call, id)?;
        }
        made.push(id);
    }
    let mut out = Vec::new();
    values::write_ids(&mut out, made);
    done(call, out)
}

/// `write`
pub(crate) fn write(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let Some(vals) = call.raw(a::vals) else { return Err(Refusal::argument("vals", "is required")) };
    for id in ids(call)? {
        write_row(call, table, id, vals, "vals")?;
    }
    done(call, "true")
}

/// `unlink`
pub(crate) fn unlink(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    for id in ids(call)? {
        unlink_row(call, table, id)?;
    }
    done(call, "true")
}

/// `message_post`: a note on records.
pub(crate) fn message_post(call: &mut Call<'_, '_>) -> Answer {
    let table = call.subject()?;
    let declared = call.domain().table(table);
    let (model, body) = (model_name(declared), call.argument(a::body)?);
    let author = call.actor().map_or(Value::Null, Value::Ref);
    let mut last = 0;
    for id in ids(call)? {
        call.any_row(table, id)?;
        last = call.create(
            t::mail_message,
            &[
                cell(c::model, Value::text(model)),
                cell(c::res_id, Value::Int(i64::from(id))),
                cell(c::body, body.clone()),
                cell(c::author_id, author.clone()),
            ],
        )?;
    }
    let mut out = Vec::new();
    number::write_int(&mut out, i64::from(last));
    done(call, out)
}

/// Makes a row of an object of values; `parent` is the field by which it belongs to a row, and that row.
fn create_row<'c>(
    call: &mut Call<'c, '_>,
    table: TableId,
    vals: &'c Json<'c>,
    argument: &str,
    parent: Option<(FieldId, RowId)>,
) -> Result<RowId, Refusal> {
    let mut vals = read_vals(call, table, vals, argument)?.faultless()?;
    if let Some((field, id)) = parent {
        vals.cells.put(field, Value::Ref(id));
    }
    let given: Vec<&str> = vals.many.iter().map(|(derived, _)| &*derived.name).collect();
    let model = hooks(call, table);
    if let Some(model) = model
        && let Some(known) = model.before_create(call, &mut vals.cells)?
    {
        return Ok(known);
    }
    require_all(call, table, &vals.cells, argument)?;
    let id = call.insert(table, vals.cells.cells)?;
    for (derived, commands) in &vals.many {
        apply_commands(call, id, derived, commands)?;
    }
    if let Some(model) = model {
        model.after_create(call, id, &given)?;
    }
    Ok(id)
}

/// What a new row must have is named before the row is made, so that the refusal speaks of the call.
fn require_all(call: &Call<'_, '_>, table: TableId, cells: &Cells<()>, argument: &str) -> Result<(), Refusal> {
    let declared = call.domain().table(table);
    for (at, field) in declared.fields.iter().enumerate().skip(1) {
        let must = !field.nullable && field.default.is_none() && field.stamp.is_none();
        if must && !cells.cells.iter().any(|(id, value)| id.index() == at && !value.is_null()) {
            let message = format!("`{argument}` has no `{}` for {}", field.name, model_name(declared));
            return Err(cannot(message).about(argument));
        }
    }
    Ok(())
}

/// Changes a row by an object of values.
fn write_row<'c>(
    call: &mut Call<'c, '_>,
    table: TableId,
    id: RowId,
    vals: &'c Json<'c>,
    argument: &str,
) -> Result<(), Refusal> {
    let (model, old) = (hooks(call, table), call.any_row(table, id)?);
    let mut vals = read_vals(call, table, vals, argument)?;
    if let Some(model) = model
        && (vals.fault.is_none() || model.looks_first())
    {
        model.before_write(call, id, &mut vals.cells)?;
    }
    let mut vals = vals.faultless()?;
    let declared = call.domain().table(table);
    for (field, value) in &vals.cells.cells {
        let field = declared.field(*field);
        if value.is_null() && !field.nullable {
            return Err(cannot(format!("`{argument}` may not take `{}` away", field.name)).about(argument));
        }
    }
    if !vals.cells.cells.is_empty() {
        call.change(table, id, vals.cells.cells.clone())?;
    }
    for (derived, commands) in &vals.many {
        apply_commands(call, id, derived, commands)?;
    }
    model.map_or(Ok(()), |model| model.after_write(call, id, &old, &mut vals.cells))
}

/// Deletes a row, if its model lets it go.
fn unlink_row(call: &mut Call<'_, '_>, table: TableId, id: RowId) -> Result<(), Refusal> {
    let (model, old) = (hooks(call, table), call.any_row(table, id)?);
    if let Some(model) = model {
        model.before_unlink(call, id)?;
    }
    call.remove(table, id)?;
    model.map_or(Ok(()), |model| model.after_unlink(call, &old))
}

/// Reads an object of values. What cannot be read is kept as a fault, because some models refuse a change before they look at
/// all of it.
fn read_vals<'c, 'd>(
    call: &Call<'c, 'd>,
    table: TableId,
    vals: &'c Json<'c>,
    argument: &str,
) -> Result<Vals<'c, 'd>, Refusal> {
    let domain = call.domain();
    let declared = domain.table(table);
    let Json::Object(entries) = vals else {
        return Err(Refusal::argument(argument, format!("wants an object of values, got {}", vals.kind())));
    };
    let mut cells = Vec::with_capacity(entries.len() + 4);
    let (mut many, mut fault) = (Vec::new(), None);
    for (name, json) in entries {
        let wrong = match (declared.field_named(name), declared.derived_named(name)) {
            (Some(id), _) if declared.field(id).stamp.is_some() => {
                format!("which the system sets on {}", model_name(declared))
            }
            (Some(id), _) => match values::read(domain, declared.field(id).ty, json) {
                Ok(value) => {
                    cells.push((id, value));
                    continue;
                }
                Err(error) => format!("which {error}"),
            },
            (None, Some(derived)) => {
                if matches!(derived.kind, DerivedKind::Children { .. } | DerivedKind::Linked { .. }) {
                    many.push((derived, json));
                    continue;
                }
                format!("which is computed on {}", model_name(declared))
            }
            (None, None) => {
                let near = nearest(name, declared.field_names());
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("which is no field of {}{near}", model_name(declared))
            }
        };
        fault = fault.or_else(|| Some(Refusal::argument(argument, format!("has `{name}`, {wrong}"))));
    }
    Ok(Vals { cells: Cells::new(cells), many, fault })
}

/// Carries out `[[0,0,{…}], [1,id,{…}], [2,id], [3,id], [4,id], [5], [6,0,[ids]]]`, or a plain list of ids.
fn apply_commands<'c>(
    call: &mut Call<'c, '_>,
    id: RowId,
    derived: &Derived,
    commands: &'c Json<'c>,
) -> Result<(), Refusal> {
    let name = &derived.name;
    let wrong = || Refusal::argument(name, "wants a list of commands such as [0,0,{…}] or [6,0,[ids]]");
    let list = match commands {
        Json::Bool(false) => return replace(call, id, derived.kind, &[]),
        Json::List(list) => list,
        _ => return Err(wrong()),
    };
    if list.len() > 1000 {
        return Err(Refusal::argument(name, "has more than 1000 commands"));
    }
    if !list.is_empty() && list.iter().all(|item| matches!(item, Json::Int(_))) {
        return replace(call, id, derived.kind, &read_ids(name, commands)?);
    }
    for command in list {
        let Json::List(parts) = command else { return Err(wrong()) };
        let target = |at: usize| match parts.get(at) {
            Some(Json::Int(n)) => u32::try_from(*n).ok().filter(|n| *n > 0).ok_or_else(wrong),
            _ => Err(wrong()),
        };
        match (parts.first(), derived.kind) {
            (Some(Json::Int(0)), DerivedKind::Children { table: child, field }) => {
                let vals = parts.get(2).ok_or_else(wrong)?;
                create_row(call, child, vals, name, Some((field, id)))?;
            }
            (Some(Json::Int(1)), DerivedKind::Children { table: child, field }) => {
                let row = target(1)?;
                belongs(call, child, field, row, id, name)?;
                write_row(call, child, row, parts.get(2).ok_or_else(wrong)?, name)?;
            }
            (Some(Json::Int(2)), DerivedKind::Children { table: child, field }) => {
                let row = target(1)?;
                belongs(call, child, field, row, id, name)?;
                unlink_row(call, child, row)?;
            }
            (Some(Json::Int(0..=2)), _) => {
                return Err(Refusal::argument(name, "takes only the commands 3, 4, 5 and 6: its rows are not its own"));
            }
            (Some(Json::Int(3)), kind) => cut(call, id, kind, target(1)?, name)?,
            (Some(Json::Int(4)), kind) => join(call, id, kind, target(1)?)?,
            (Some(Json::Int(5)), kind) => replace(call, id, kind, &[])?,
            (Some(Json::Int(6)), kind) => {
                let ids = read_ids(name, parts.get(2).ok_or_else(wrong)?)?;
                replace(call, id, kind, &ids)?;
            }
            _ => return Err(wrong()),
        }
    }
    Ok(())
}

fn read_ids(name: &str, json: &Json<'_>) -> Result<Vec<RowId>, Refusal> {
    let Json::List(items) = json else { return Err(Refusal::argument(name, "wants a list of ids")) };
    let id = |item: &Json<'_>| match item {
        Json::Int(n) => u32::try_from(*n).ok().filter(|n| *n > 0),
        _ => None,
    };
    items.iter().map(|item| id(item).ok_or_else(|| Refusal::argument(name, "wants a list of ids"))).collect()
}

fn belongs(
    call: &Call<'_, '_>,
    child: TableId,
    field: FieldId,
    row: RowId,
    parent: RowId,
    name: &str,
) -> Result<(), Refusal> {
    match call.find(child, row)? {
        Some(found) if found.get(field).as_ref_id() == Some(parent) => Ok(()),
        _ => Err(Refusal::new(RefusalCode::NotFound, format!("{row} is not among `{name}`")).about(name)),
    }
}

/// Makes a row belong to another.
fn join(call: &mut Call<'_, '_>, id: RowId, kind: DerivedKind, target: RowId) -> Result<(), Refusal> {
    if members(call, id, kind)?.contains(&target) {
        return Ok(());
    }
    match kind {
        DerivedKind::Children { table, field } => _ = call.change(table, target, vec![(field, Value::Ref(id))])?,
        DerivedKind::Linked { link, from, to, .. } => {
            call.insert(link, vec![(from, Value::Ref(id)), (to, Value::Ref(target))])?;
        }
        DerivedKind::Value(_) | DerivedKind::Rows(_) => {}
    }
    Ok(())
}

/// Makes a row belong to another no more; what cannot be without it is deleted.
fn cut(call: &mut Call<'_, '_>, id: RowId, kind: DerivedKind, target: RowId, name: &str) -> Result<(), Refusal> {
    match kind {
        DerivedKind::Children { table, field } => {
            belongs(call, table, field, target, id, name)?;
            if call.domain().table(table).field(field).nullable {
                call.change(table, target, vec![(field, Value::Null)])?;
            } else {
                unlink_row(call, table, target)?;
            }
        }
        DerivedKind::Linked { link, from, to, .. } => {
            let joints = call.referring(link, from, id)?;
            let joint = joints.into_iter().find(|row| row.get(to).as_ref_id() == Some(target)).map(|row| row.id());
            if let Some(joint) = joint {
                call.remove(link, joint)?;
            }
        }
        DerivedKind::Value(_) | DerivedKind::Rows(_) => {}
    }
    Ok(())
}

/// Makes exactly these rows belong to a row.
fn replace(call: &mut Call<'_, '_>, id: RowId, kind: DerivedKind, wanted: &[RowId]) -> Result<(), Refusal> {
    for member in members(call, id, kind)? {
        if !wanted.contains(&member) {
            cut(call, id, kind, member, "ids")?;
        }
    }
    wanted.iter().try_for_each(|target| join(call, id, kind, *target))
}
