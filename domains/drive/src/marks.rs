//! What is said about files: replies to comments, labels with their fields, and approvals.

use super::list;
use benchwright_base::{Date, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, RowView};

pub(crate) fn create_reply(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let comment = call.row("comment", call.reference("comment")?)?;
    let author = call.row("user", call.reference("author")?)?.id();
    let (content, action) = (call.argument("content"), call.argument("action"));
    if content.is_null() && action.is_null() {
        return Err(Refusal::argument("content", "or `action` must be given"));
    }
    let values = [
        ("comment", Value::Ref(comment.id())),
        ("author", Value::Ref(author)),
        ("content", content),
        ("action", action.clone()),
    ];
    let id = call.create("reply", &values)?;
    if !action.is_null() {
        let resolves = action == call.word("reply", "action", "resolve")?;
        call.update("comment", comment.id(), &[("resolved", Value::Bool(resolves))])?;
    }
    let resolved = call.row("comment", comment.id())?.get("resolved");
    Ok(Gives::One(vec![Value::Ref(id), resolved]))
}

pub(crate) fn answer_approval(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let approval = call.row("approval", call.reference("approval")?)?;
    let reviewer = call.row("user", call.reference("reviewer")?)?.id();
    if !approval.is("status", "in_progress") {
        return Err(Refusal::new(RefusalCode::TransitionNotAllowed, "the approval is over"));
    }
    let of = ("approval", Value::Ref(approval.id()));
    let Some(line) = call.rows("approval_reviewer", &[of.clone(), ("reviewer", Value::Ref(reviewer))])?.pop() else {
        let message = format!("user {reviewer} is not asked in approval {}", approval.id());
        return Err(Refusal::new(RefusalCode::NotFound, message));
    };
    call.update("approval_reviewer", line.id(), &[("answer", call.argument("answer"))])?;
    let lines = call.rows("approval_reviewer", &[of])?;
    let open = lines.iter().filter(|line| line.is("answer", "no_response")).count() as i64;
    let status = if lines.iter().any(|line| line.is("answer", "declined")) {
        "declined"
    } else if open == 0 {
        "approved"
    } else {
        "in_progress"
    };
    let status = call.word("approval", "status", status)?;
    call.update("approval", approval.id(), &[("status", status.clone())])?;
    Ok(Gives::One(vec![Value::Ref(approval.id()), status, Value::Int(open)]))
}

pub(crate) fn modify_labels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row("file", call.reference("file")?)?.id();
    let (add, remove, fields) = (list(call, "add"), list(call, "remove"), list(call, "fields"));
    let values = call.arguments("values").to_vec();
    if add.is_empty() && remove.is_empty() && fields.is_empty() {
        return Err(Refusal::argument("add", "`remove` or `fields` must be given"));
    }
    if fields.len() != values.len() {
        return Err(Refusal::argument("values", "must be as many as `fields`"));
    }
    for label in remove {
        call.row("label", label)?;
        if let Some(present) = on_file(call, file, label)? {
            call.delete("file_label", present)?;
        }
    }
    for label in add {
        call.row("label", label)?;
        if on_file(call, file, label)?.is_none() {
            let by = call.actor().map_or(Value::Null, Value::Ref);
            call.create("file_label", &[("file", Value::Ref(file)), ("label", Value::Ref(label)), ("applied_by", by)])?;
        }
    }
    for (field, value) in fields.into_iter().zip(values) {
        fill(call, file, field, value.as_text().unwrap_or_default())?;
    }
    let left = call.rows("file_label", &[("file", Value::Ref(file))])?;
    Ok(Gives::Many(left.iter().map(|link| vec![Value::Ref(link.id()), link.get("label")]).collect()))
}

/// Fills a field of a label that the file has.
fn fill(call: &mut NativeCall<'_, '_>, file: RowId, field: RowId, text: &str) -> Result<(), Refusal> {
    let declared = call.row("label_field", field)?;
    let label = declared.get("label").as_ref_id();
    let link = label.map(|label| on_file(call, file, label)).transpose()?.flatten();
    let Some(link) = link else {
        return Err(Refusal::argument("fields", format!("has {field}, whose label is not on the file")));
    };
    let (choice, value) = if declared.is("type", "selection") {
        let having = [("field", Value::Ref(field)), ("name", Value::text(text))];
        match call.rows("label_choice", &having)?.first() {
            Some(choice) => (Value::Ref(choice.id()), Value::Null),
            None => return Err(Refusal::argument("values", format!("has `{text}`, which is no choice of the field"))),
        }
    } else {
        let fits = (!declared.is("type", "date") || Date::parse(text).is_some())
            && (!declared.is("type", "integer") || text.parse::<i64>().is_ok())
            && (!declared.is("type", "user") || text.contains('@'));
        if !fits {
            return Err(Refusal::argument("values", format!("has `{text}`, which does not fit the field")));
        }
        (Value::Null, Value::text(text))
    };
    let values = [("choice", choice), ("value", value)];
    let key = [("file_label", Value::Ref(link)), ("field", Value::Ref(field))];
    match call.rows("file_label_value", &key)?.first().map(RowView::id) {
        Some(present) => _ = call.update("file_label_value", present, &values)?,
        None => {
            let ([of, on], [choice, value]) = (key, values);
            call.create("file_label_value", &[of, on, choice, value])?;
        }
    }
    Ok(())
}

/// The mark of a label on a file.
fn on_file(call: &NativeCall<'_, '_>, file: RowId, label: RowId) -> Result<Option<RowId>, Refusal> {
    let found = call.rows("file_label", &[("file", Value::Ref(file)), ("label", Value::Ref(label))])?;
    Ok(found.first().map(RowView::id))
}

pub(crate) fn get_start_page_token(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let changes = call.rows("change_entry", &[])?;
    let token = |row: &RowView| if let Value::Int(token) = row.get("token") { token } else { 0 };
    Ok(Gives::One(vec![Value::Int(changes.iter().map(token).max().unwrap_or(0) + 1)]))
}
