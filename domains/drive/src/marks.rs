//! What is said about files: replies to comments, labels with their fields, and approvals.

use super::shared::list;
use crate::names::{a, c, t, w};
use benchwright_base::{Date, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, RowView, Word, WordOf, cell};

pub(crate) fn create_reply(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let comment = call.row(t::comment, call.reference(a::comment)?)?;
    let author = call.row(t::user, call.reference(a::author)?)?.id();
    let (content, action) = (call.argument(a::content)?, call.argument(a::action)?);
    if content.is_null() && action.is_null() {
        return Err(Refusal::argument("content", "or `action` must be given"));
    }
    let values = [
        cell(c::comment, Value::Ref(comment.id())),
        cell(c::author, Value::Ref(author)),
        cell(c::content, content),
        cell(c::action, action.clone()),
    ];
    let id = call.create(t::reply, &values)?;
    if !action.is_null() {
        let resolves = action == call.word(t::reply, c::action, w::resolve);
        call.update(t::comment, comment.id(), &[cell(c::resolved, Value::Bool(resolves))])?;
    }
    let resolved = call.row(t::comment, comment.id())?.get(c::resolved);
    Ok(Gives::One(vec![Value::Ref(id), resolved]))
}

pub(crate) fn answer_approval(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let approval = call.row(t::approval, call.reference(a::approval)?)?;
    let reviewer = call.row(t::user, call.reference(a::reviewer)?)?.id();
    if !approval.is(c::status, w::in_progress) {
        return Err(Refusal::new(RefusalCode::TransitionNotAllowed, "the approval is over"));
    }
    let of = cell(c::approval, Value::Ref(approval.id()));
    let Some(line) = call.rows(t::approval_reviewer, &[of.clone(), cell(c::reviewer, Value::Ref(reviewer))])?.pop()
    else {
        let message = format!("user {reviewer} is not asked in approval {}", approval.id());
        return Err(Refusal::new(RefusalCode::NotFound, message));
    };
    call.update(t::approval_reviewer, line.id(), &[cell(c::answer, call.argument(a::answer)?)])?;
    let lines = call.rows(t::approval_reviewer, &[of])?;
    let open = lines.iter().filter(|line| line.is(c::answer, w::no_response)).count() as i64;
    let status: Word<t::approval, c::status> = if lines.iter().any(|line| line.is(c::answer, w::declined)) {
        w::declined.of()
    } else if open == 0 {
        w::approved.of()
    } else {
        w::in_progress.of()
    };
    let status = call.word(t::approval, c::status, status);
    call.update(t::approval, approval.id(), &[cell(c::status, status.clone())])?;
    Ok(Gives::One(vec![Value::Ref(approval.id()), status, Value::Int(open)]))
}

pub(crate) fn modify_labels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row(t::file, call.reference(a::file)?)?.id();
    let (add, remove, fields) = (list(call, a::add)?, list(call, a::remove)?, list(call, a::fields)?);
    let values = call.arguments(a::values)?.to_vec();
    if add.is_empty() && remove.is_empty() && fields.is_empty() {
        return Err(Refusal::argument("add", "`remove` or `fields` must be given"));
    }
    if fields.len() != values.len() {
        return Err(Refusal::argument("values", "must be as many as `fields`"));
    }
    for label in remove {
        call.row(t::label, label)?;
        if let Some(present) = on_file(call, file, label)? {
            call.delete(t::file_label, present)?;
        }
    }
    for label in add {
        call.row(t::label, label)?;
        if on_file(call, file, label)?.is_none() {
            let by = call.actor().map_or(Value::Null, Value::Ref);
            call.create(
                t::file_label,
                &[cell(c::file, Value::Ref(file)), cell(c::label, Value::Ref(label)), cell(c::applied_by, by)],
            )?;
        }
    }
    for (field, value) in fields.into_iter().zip(values) {
        fill(call, file, field, value.as_text().unwrap_or_default())?;
    }
    let left = call.rows(t::file_label, &[cell(c::file, Value::Ref(file))])?;
    Ok(Gives::Many(left.iter().map(|link| vec![Value::Ref(link.id()), link.get(c::label)]).collect()))
}

/// Fills a field of a label that the file has.
fn fill(call: &mut NativeCall<'_, '_>, file: RowId, field: RowId, text: &str) -> Result<(), Refusal> {
    let declared = call.row(t::label_field, field)?;
    let label = declared.get(c::label).as_ref_id();
    let link = label.map(|label| on_file(call, file, label)).transpose()?.flatten();
    let Some(link) = link else {
        return Err(Refusal::argument("fields", format!("has {field}, whose label is not on the file")));
    };
    let (choice, value) = if declared.is(c::r#type, w::selection) {
        let having = [cell(c::field, Value::Ref(field)), cell(c::name, Value::text(text))];
        match call.rows(t::label_choice, &having)?.first() {
            Some(choice) => (Value::Ref(choice.id()), Value::Null),
            None => return Err(Refusal::argument("values", format!("has `{text}`, which is no choice of the field"))),
        }
    } else {
        let fits = (!declared.is(c::r#type, w::date) || Date::parse(text).is_some())
            && (!declared.is(c::r#type, w::integer) || text.parse::<i64>().is_ok())
            && (!declared.is(c::r#type, w::user) || text.contains('@'));
        if !fits {
            return Err(Refusal::argument("values", format!("has `{text}`, which does not fit the field")));
        }
        (Value::Null, Value::text(text))
    };
    let values = [cell(c::choice, choice), cell(c::value, value)];
    let key = [cell(c::file_label, Value::Ref(link)), cell(c::field, Value::Ref(field))];
    match call.rows(t::file_label_value, &key)?.first().map(RowView::id) {
        Some(present) => _ = call.update(t::file_label_value, present, &values)?,
        None => {
            let ([of, on], [choice, value]) = (key, values);
            call.create(t::file_label_value, &[of, on, choice, value])?;
        }
    }
    Ok(())
}

/// The mark of a label on a file.
fn on_file(call: &NativeCall<'_, '_>, file: RowId, label: RowId) -> Result<Option<RowId>, Refusal> {
    let found = call.rows(t::file_label, &[cell(c::file, Value::Ref(file)), cell(c::label, Value::Ref(label))])?;
    Ok(found.first().map(RowView::id))
}

pub(crate) fn get_start_page_token(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let changes = call.rows(t::change_entry, &[])?;
    let token = |row: &RowView<t::change_entry>| if let Value::Int(token) = row.get(c::token) { token } else { 0 };
    Ok(Gives::One(vec![Value::Int(changes.iter().map(token).max().unwrap_or(0) + 1)]))
}
