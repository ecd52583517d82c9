//! The forms of a domain: its own tables, as far as a tool declares them.

use crate::{
    answer,
    form::Form,
    names::{a, f, t},
    stage::{int, row},
};
use benchwright_base::{Json, json, number};
use benchwright_expr::Type;
use benchwright_pack::Refusal;
use benchwright_sandbox::NativeCall;
use benchwright_schema::{Domain, Field};

/// The forms that there are at this stage, in the order in which the tool names their tables. A domain may have forms that only some of
/// its tasks want.
pub(crate) fn forms<'d>(call: &NativeCall<'_, 'd>) -> Result<Vec<Form<'d>>, Refusal> {
    let stands = row(call)?;
    let now = int(stands.get(f::stage::current));
    let of_task = stands.get(f::stage::forms).as_text();
    let is_of_task = |form: &Form<'_>| of_task.is_none_or(|names| names.split(' ').any(|name| name == form.name()));
    let own = [call.table(t::file), call.table(t::stage), call.table(t::handed)];
    let tables = call.reads().iter().filter(|table| !own.contains(table));
    let forms = tables.map(|table| Form::of(call.domain(), *table));
    Ok(forms.filter(|form| form.from_stage() <= now && is_of_task(form)).collect())
}

/// The form that `form` names.
pub(crate) fn asked<'d>(call: &NativeCall<'_, 'd>) -> Result<Form<'d>, Refusal> {
    let Some(Json::Text(asked)) = call.raw(a::form) else {
        return Err(Refusal::argument(a::form.name(), "is required"));
    };
    let forms = forms(call)?;
    let names = || forms.iter().map(Form::name).collect::<Vec<_>>().join(", ");
    let found = forms.iter().find(|form| form.name() == asked).copied();
    found.ok_or_else(|| Refusal::argument(a::form.name(), format!("is none of the forms, which are {}", names())))
}

/// Writes what a form is: its name, its columns, and in which of them no two rows are alike.
pub(crate) fn describe(out: &mut Vec<u8>, domain: &Domain, form: Form<'_>) {
    let table = domain.table(form.id());
    answer::inner(out, |out| {
        answer::text(out, "form", form.name());
        answer::list(out, "columns", form.columns(), |out, (_, field)| column(out, domain, field));
        answer::list(out, "unique", form.keys(), |out, key| {
            out.push(b'[');
            for (at, field) in key.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                json::write_text(out, &table.field(field).name);
            }
            out.push(b']');
        });
    });
}

fn column(out: &mut Vec<u8>, domain: &Domain, field: &Field) {
    let (kind, words) = match field.ty {
        Type::Bool => ("bool", &[][..]),
        Type::Int | Type::Ref(_) | Type::Months | Type::Null => ("int", &[][..]),
        Type::Money => ("money", &[][..]),
        Type::Quantity => ("quantity", &[][..]),
        Type::Text => ("text", &[][..]),
        Type::Date => ("date", &[][..]),
        Type::DateTime => ("datetime", &[][..]),
        Type::Time => ("time", &[][..]),
        Type::Duration => ("duration", &[][..]),
        Type::Enum(id) => ("word", &domain.enums[id.index()].words[..]),
    };
    let decimals = match field.ty {
        Type::Money => number::MONEY_DECIMALS,
        Type::Quantity => number::QUANTITY_DECIMALS,
        _ => 0,
    };
    let (least, most) = if field.ty == Type::Text { ("min_length", "max_length") } else { ("min", "max") };
    answer::inner(out, |out| {
        answer::text(out, "name", &field.name);
        answer::text(out, "type", kind);
        answer::flag(out, "required", !field.nullable && field.default.is_none());
        let bounds = field.bounds.unwrap_or((i64::MIN, i64::MAX));
        for (name, bound) in [(least, bounds.0), (most, bounds.1)] {
            let is_open = matches!(bound, i64::MIN | i64::MAX) || (field.ty == Type::Text && bound == 0);
            if !is_open {
                answer::key(out, name);
                number::write_decimal(out, bound, decimals, true);
            }
        }
        if !words.is_empty() {
            answer::texts(out, "one_of", words.iter().map(|word| &**word));
        }
    });
}
