//! Handing in: a document is held to its form, and what is accepted takes the place of what was handed in before. Stages end here too.

use crate::{
    answer,
    form::{Cells, Document, Faults, Form},
    forms,
    names::{a, f, t},
    stage::{int, stage},
    workspace,
};
use benchwright_base::{Json, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, Row};
use benchwright_schema::codec;

type Call<'c, 'd> = NativeCall<'c, 'd>;

/// The most submissions that are accepted, of all forms and at all stages.
const MOST_SUBMISSIONS: i64 = 40;

/// The document of a call, with the argument that it is.
fn document<'c>(call: &Call<'c, '_>) -> Result<(&'static str, Document<'c>), Refusal> {
    match (call.raw(a::csv), call.raw(a::rows)) {
        (Some(Json::Text(text)), None) => Ok((a::csv.name(), Document::Csv(text))),
        (None, Some(Json::List(rows))) => Ok((a::rows.name(), Document::Rows(rows))),
        _ => Err(Refusal::argument(a::csv.name(), "and `rows` are two ways to give a document; give one of them")),
    }
}

/// What a form's rows are, or what is wrong with them.
type Read<'d> = (Form<'d>, &'static str, Result<Vec<Cells>, Faults>);

fn read<'d>(call: &Call<'_, 'd>) -> Result<Read<'d>, Refusal> {
    let form = forms::asked(call)?;
    let (argument, document) = document(call)?;
    Ok((form, argument, form.read(document)))
}

/// Whether a document fits its form.
pub(crate) fn form_check(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let (form, _, read) = read(call)?;
    answer::object(|out| {
        answer::text(out, "form", form.name());
        answer::flag(out, "fits", read.is_ok());
        match &read {
            Ok(rows) => answer::count(out, "rows", rows.len()),
            Err(Faults { listed, more }) => {
                answer::list(out, "faults", listed, |out, fault| {
                    answer::inner(out, |out| {
                        match fault.row {
                            Some(row) => answer::count(out, "row", row),
                            None => answer::null(out, "row"),
                        }
                        match &fault.column {
                            Some(column) => answer::text(out, "column", column),
                            None => answer::null(out, "column"),
                        }
                        answer::text(out, "says", &fault.says);
                    });
                });
                answer::count(out, "more", *more);
            }
        }
    })
}

/// Hands a document in.
pub(crate) fn form_submit(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let stage = stage(call)?;
    let used: i64 = call.open(t::handed)?.iter().map(|row| int(row.get(f::handed::revision))).sum();
    let (form, argument, read) = read(call)?;
    if used >= MOST_SUBMISSIONS {
        let message = format!("all {MOST_SUBMISSIONS} submissions are used up; what was handed in last counts");
        return Err(Refusal::new(RefusalCode::BudgetExhausted, message));
    }
    let rows = read
        .map_err(|faults| Refusal::argument(argument, format!("does not fit the form `{}`: {faults}", form.name())))?;
    let count = rows.len();
    let old: Vec<RowId> = of_stage(call, form, stage.now)?.iter().map(|row| row.id()).collect();
    for row in old {
        call.remove(form.id(), row)?;
    }
    for mut cells in rows {
        cells.extend(form.stage().map(|field| (field, Value::Int(stage.now))));
        call.insert(form.id(), cells)?;
    }
    let handed = call.table(t::handed);
    let before = handed_in(call, form, stage.now)?.map(|row| (row.id(), int(row.get(f::handed::revision))));
    let revision = before.map_or(1, |(_, revision)| revision + 1);
    match before {
        Some((row, _)) => _ = call.change(handed, row, [(f::handed::revision, Value::Int(revision))])?,
        None => {
            let cells = vec![
                (f::handed::form, Value::text(form.name())),
                (f::handed::stage, Value::Int(stage.now)),
                (f::handed::revision, Value::Int(revision)),
            ];
            call.insert(handed, cells)?;
        }
    }
    answer::object(|out| {
        answer::text(out, "form", form.name());
        answer::int(out, "stage", stage.now);
        answer::count(out, "rows", count);
        answer::int(out, "revision", revision);
        answer::int(out, "left", MOST_SUBMISSIONS - used - 1);
    })
}

/// What is handed in of a form at a stage; all of it, if the form has no stages.
fn of_stage<'n>(call: &'n Call<'_, '_>, form: Form<'_>, now: i64) -> Result<Vec<&'n Row>, Refusal> {
    let stage = form.stage();
    let is_now = |row: &&Row| stage.is_none_or(|stage| int(row.get(stage)) == now);
    Ok(call.every(form.id())?.filter(is_now).collect())
}

/// That a form was handed in at a stage.
fn handed_in<'n>(call: &'n Call<'_, '_>, form: Form<'_>, now: i64) -> Result<Option<&'n Row>, Refusal> {
    let is_it =
        |row: &&Row| row.get(f::handed::form).as_text() == Some(form.name()) && int(row.get(f::handed::stage)) == now;
    Ok(call.open(t::handed)?.iter().find(is_it))
}

/// What is handed in of a form at this stage.
pub(crate) fn form_show(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let (form, stage) = (forms::asked(call)?, stage(call)?);
    let revision = handed_in(call, form, stage.now)?.map_or(0, |row| int(row.get(f::handed::revision)));
    let rows = of_stage(call, form, stage.now)?;
    let domain = call.domain();
    answer::object(|out| {
        answer::text(out, "form", form.name());
        answer::int(out, "stage", stage.now);
        answer::int(out, "revision", revision);
        answer::list(out, "rows", rows, |out, row| {
            answer::inner(out, |out| {
                for (id, field) in form.columns() {
                    answer::key(out, &field.name);
                    codec::write_value(out, domain, field.ty, row.get(id));
                }
            });
        });
    })
}

/// Goes on to the next stage.
pub(crate) fn stage_next(call: &mut Call<'_, '_>) -> Result<Gives, Refusal> {
    let mut stage = stage(call)?;
    let refused = |message: &str| Err(Refusal::new(RefusalCode::TransitionNotAllowed, message));
    if stage.now >= stage.last {
        return refused("this is the last stage");
    }
    if !call.open(t::handed)?.iter().any(|row| int(row.get(f::handed::stage)) == stage.now) {
        return refused("nothing was handed in at this stage; hand in a form with form_submit");
    }
    stage.now += 1;
    let table = call.table(t::stage);
    call.change(table, stage.row, [(f::stage::current, Value::Int(stage.now))])?;
    let files = workspace::files(call, stage)?;
    let new =
        files.iter().filter(|file| int(file.get(f::file::stage)) == stage.now).map(|file| workspace::path_of(file));
    answer::object(|out| {
        answer::int(out, "stage", stage.now);
        answer::int(out, "of", stage.last);
        answer::texts(out, "files", new);
    })
}
