//! What can be read of a record: its cells, the lists of records that belong to it, and what is made when it is asked for.

use crate::{
    hooks::Made,
    models,
    record::{Call, model_name, plain_name},
    values,
};
use benchwright_base::{FieldId, Json, RowId, TableId, Value, json, nearest};
use benchwright_expr::Type;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ArgumentName, Row};
use benchwright_schema::{Derived, DerivedKind, Domain};

/// A field of a model, stored or made.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'d> {
    /// A cell.
    Cell(FieldId, &'d str, Type),
    /// A cell that stands for something else while it is empty.
    CellOr(FieldId, &'d str, Type, Made),
    /// The rest.
    Made(&'d Derived),
}

/// What a field of a record holds.
pub(crate) enum Held {
    /// A value of a type.
    Value(Value, Type),
    /// Records of a table.
    Rows(TableId, Vec<RowId>),
}

impl<'d> Asked<'d> {
    /// Its name.
    pub(crate) fn name(&self) -> &'d str {
        match self {
            Asked::Cell(_, name, _) | Asked::CellOr(_, name, ..) => name,
            Asked::Made(derived) => &derived.name,
        }
    }

    /// A field of a model by its name.
    pub(crate) fn named(domain: &'d Domain, table: TableId, name: &str) -> Option<Asked<'d>> {
        let declared = domain.table(table);
        if let Some(id) = declared.field_named(name) {
            let field = declared.field(id);
            let or = models::of(declared).and_then(|model| model.while_empty()).filter(|(known, _)| *known == name);
            return Some(match or {
                Some((_, made)) => Asked::CellOr(id, &field.name, field.ty, made),
                None => Asked::Cell(id, &field.name, field.ty),
            });
        }
        declared.derived_named(name).map(Asked::Made)
    }

    /// What it holds in a row.
    pub(crate) fn held(&self, call: &Call<'_, '_>, table: TableId, row: &Row) -> Result<Held, Refusal> {
        match self {
            Asked::CellOr(id, _, ty, made) if row.get(*id).is_null() => Ok(Held::Value(made(call, row.id())?, *ty)),
            Asked::Cell(id, _, ty) | Asked::CellOr(id, _, ty, _) => Ok(Held::Value(row.get(*id).clone(), *ty)),
            Asked::Made(derived) => match derived.kind {
                DerivedKind::Value(ty) => Ok(Held::Value(made(call, table, row, &derived.name)?, ty)),
                DerivedKind::Rows(of) => Ok(Held::Rows(of, found(call, table, row, &derived.name)?)),
                kind @ (DerivedKind::Children { table, .. } | DerivedKind::Linked { table, .. }) => {
                    Ok(Held::Rows(table, members(call, row.id(), kind)?))
                }
            },
        }
    }
}

/// The fields that a call asks for; all of them if it does not say.
pub(crate) fn fields<'d>(
    call: &Call<'_, 'd>,
    table: TableId,
    argument: ArgumentName,
) -> Result<Vec<Asked<'d>>, Refusal> {
    let domain = call.domain();
    let declared = domain.table(table);
    let names = match call.raw(argument) {
        None => &[][..],
        Some(Json::List(names)) => &names[..],
        Some(other) => {
            let wanted = format!("wants a list of names of fields, got {}", other.kind());
            return Err(Refusal::argument(argument.name(), wanted));
        }
    };
    if names.is_empty() {
        return Ok(declared.field_names().filter_map(|name| Asked::named(domain, table, name)).collect());
    }
    let mut fields: Vec<Asked<'d>> = Vec::with_capacity(names.len());
    for name in names {
        let Json::Text(name) = name else {
            return Err(Refusal::argument(argument.name(), "wants a list of names of fields"));
        };
        let Some(field) = Asked::named(domain, table, name) else {
            return Err(unknown_field(domain, table, name, argument.name()));
        };
        if !fields.iter().any(|known| known.name() == field.name()) {
            fields.push(field);
        }
    }
    Ok(fields)
}

/// The refusal of a name that is no field of a model.
pub(crate) fn unknown_field(domain: &Domain, table: TableId, name: &str, argument: &str) -> Refusal {
    let declared = domain.table(table);
    let near = nearest(name, declared.field_names());
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Refusal::argument(argument, format!("has `{name}`, which is no field of {}{near}", model_name(declared)))
}

/// Appends a record as an object, its id first.
pub(crate) fn write_row(
    out: &mut Vec<u8>,
    call: &Call<'_, '_>,
    table: TableId,
    row: &Row,
    fields: &[Asked<'_>],
) -> Result<(), Refusal> {
    out.extend_from_slice(b"{\"id\":");
    values::write(out, call.domain(), Type::Int, &Value::Int(i64::from(row.id())));
    for field in fields.iter().filter(|field| field.name() != "id") {
        out.push(b',');
        json::write_text(out, field.name());
        out.push(b':');
        match field.held(call, table, row)? {
            Held::Value(Value::Ref(id), Type::Ref(to)) => match call.find(to, id)? {
                Some(row) => values::write_named(out, id, &name(call, to, row)?),
                None => out.extend_from_slice(b"false"),
            },
            Held::Value(value, ty) => values::write(out, call.domain(), ty, &value),
            Held::Rows(_, ids) => values::write_ids(out, ids),
        }
    }
    out.push(b'}');
    Ok(())
}

/// The name under which a record is shown.
pub(crate) fn name(call: &Call<'_, '_>, table: TableId, row: &Row) -> Result<String, Refusal> {
    let model = models::of(call.domain().table(table));
    let shown = model.map(|model| model.display(call, row)).transpose()?.flatten();
    Ok(shown.unwrap_or_else(|| plain_name(call, table, row)))
}

/// A value that is made when it is asked for.
fn made(call: &Call<'_, '_>, table: TableId, row: &Row, field: &str) -> Result<Value, Refusal> {
    if field == models::DISPLAY_NAME {
        return Ok(Value::text(name(call, table, row)?));
    }
    let code = models::of(call.domain().table(table)).map_or(&[][..], |model| model.made());
    let made = code.iter().find(|(known, _)| *known == field).map(|(_, made)| *made);
    made.ok_or_else(|| no_code(field))?(call, row.id())
}

/// Records that are found when they are asked for.
fn found(call: &Call<'_, '_>, table: TableId, row: &Row, field: &str) -> Result<Vec<RowId>, Refusal> {
    let code = models::of(call.domain().table(table)).map_or(&[][..], |model| model.found());
    let found = code.iter().find(|(known, _)| *known == field).map(|(_, found)| *found);
    found.ok_or_else(|| no_code(field))?(call, row.id())
}

fn no_code(field: &str) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("this tool is at fault: no code computes `{field}`"))
}

/// The rows that belong to a row now.
pub(crate) fn members(call: &Call<'_, '_>, id: RowId, kind: DerivedKind) -> Result<Vec<RowId>, Refusal> {
    Ok(match kind {
        DerivedKind::Children { table, field } => {
            call.referring(table, field, id)?.into_iter().map(|row| row.id()).collect()
        }
        DerivedKind::Linked { link, from, to, .. } => {
            call.referring(link, from, id)?.into_iter().filter_map(|row| row.get(to).as_ref_id()).collect()
        }
        DerivedKind::Value(_) | DerivedKind::Rows(_) => Vec::new(),
    })
}
