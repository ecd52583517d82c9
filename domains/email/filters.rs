//! Looking for mail: queries over a mailbox, and filters over one message or all that is there.

use super::{
    labels,
    query::{Mail, Query, contains},
    reference, text_of,
};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Gives, NativeCall, RowView};

/// How many messages a search gives unless said otherwise.
const USUAL: i64 = 50;

pub(crate) fn search_messages(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let user = call.row("user", reference(call, "user")?)?.id();
    let text = call.argument("query");
    let query = Query::read(text.as_text().unwrap_or_default())
        .map_err(|word| Refusal::argument("query", format!("has `{word}`, which cannot be read")))?;
    let limit = match call.argument("limit") {
        Value::Int(limit) => limit,
        _ => USUAL,
    };
    let mut found = Vec::new();
    for message in call.rows("message", &[("user", Value::Ref(user))])? {
        let mail = mail(call, &message)?;
        if query.holds(&mail) {
            found.push((std::cmp::Reverse((mail.sent_on, message.id())), message));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    let rows = found.into_iter().take(limit.max(0) as usize).map(|(_, message)| {
        let mut values = vec![Value::Ref(message.id())];
        values.extend(["thread", "from_address", "subject", "sent_on", "unread"].map(|field| message.get(field)));
        values
    });
    Ok(Gives::Many(rows.collect()))
}

pub(crate) fn apply_filter_to_existing(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let filter = call.row("filter", reference(call, "filter")?)?;
    let (mut matched, mut changed) = (0, 0);
    for message in call.rows("message", &[("user", filter.get("user"))])? {
        if matches(call, &filter, message.id())? {
            matched += 1;
            changed += apply(call, &filter, message.id())?;
        }
    }
    Ok(Gives::One(vec![Value::Int(matched), Value::Int(changed)]))
}

/// Whether a message meets all that a filter asks for. A query that cannot be read meets nothing.
pub(crate) fn matches(call: &NativeCall<'_, '_>, filter: &RowView, message: RowId) -> Result<bool, Refusal> {
    let mail = mail(call, &call.row("message", message)?)?;
    let asked = |field: &str| filter.get(field).as_text().map(str::to_owned);
    let query = |text: &str| Query::read(text).ok();
    Ok(asked("from_address").is_none_or(|text| contains(&mail.from, &text))
        && asked("to_address").is_none_or(|text| mail.to.iter().any(|address| contains(address, &text)))
        && asked("subject_has").is_none_or(|text| contains(&mail.subject, &text))
        && asked("query").is_none_or(|text| query(&text).is_some_and(|query| query.holds(&mail)))
        && asked("negated_query").is_none_or(|text| query(&text).is_some_and(|query| !query.holds(&mail)))
        && match filter.get("has_attachment") {
            Value::Bool(wanted) => mail.has_attachment == wanted,
            _ => true,
        }
        && match filter.get("larger_than") {
            Value::Int(size) => mail.size > size,
            _ => true,
        })
}

/// Sets and takes the labels of a filter; gives how many changed.
pub(crate) fn apply(call: &mut NativeCall<'_, '_>, filter: &RowView, message: RowId) -> Result<i64, Refusal> {
    let mut changed = 0;
    if let Some(label) = filter.get("add_label").as_ref_id() {
        changed += i64::from(labels::set(call, message, label)?);
    }
    if let Some(label) = filter.get("remove_label").as_ref_id() {
        changed += i64::from(labels::take(call, message, label)?);
    }
    Ok(changed)
}

fn mail(call: &NativeCall<'_, '_>, message: &RowView) -> Result<Mail, Refusal> {
    let of_message = [("message", Value::Ref(message.id()))];
    let text = |field: &str| message.get(field).as_text().unwrap_or_default().to_owned();
    let mut labels = Vec::new();
    for link in call.rows("message_label", &of_message)? {
        if let Some(label) = link.get("label").as_ref_id() {
            labels.extend(text_of(&call.row("label", label)?, "name"));
        }
    }
    let mut to = Vec::new();
    for recipient in call.rows("message_recipient", &of_message)? {
        to.extend(text_of(&recipient, "address"));
    }
    Ok(Mail {
        from: text("from_address"),
        to,
        subject: text("subject"),
        body: text("body"),
        labels,
        has_attachment: !call.rows("attachment", &of_message)?.is_empty(),
        size: if let Value::Int(size) = message.get("size_bytes") { size } else { 0 },
        unread: message.get("unread") == Value::Bool(true),
        sent_on: if let Value::DateTime(at) = message.get("sent_on") { at } else { DateTime(0) },
    })
}
