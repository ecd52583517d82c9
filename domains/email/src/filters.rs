//! Looking for mail: queries over a mailbox, and filters over one message or all that is there.

use super::{labels, mail::Mail, query::Query};
use crate::names::{a, c, t};
use benchwright_base::{RowId, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Column, ColumnOf, Gives, NativeCall, RowView, cell, columns};

/// How many messages a search gives unless said otherwise.
const USUAL: i64 = 50;

pub(crate) fn search_messages(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let user = call.row(t::user, call.reference(a::user)?)?.id();
    let text = call.argument(a::query)?;
    let query = Query::read(text.as_text().unwrap_or_default())
        .map_err(|word| Refusal::argument("query", format!("has `{word}`, which cannot be read")))?;
    let limit = match call.argument(a::limit)? {
        Value::Int(limit) => limit,
        _ => USUAL,
    };
    let mut found = Vec::new();
    for message in call.rows(t::message, &[cell(c::user, Value::Ref(user))])? {
        let mail = Mail { call, message: &message };
        if query.holds(&mail)? {
            found.push((std::cmp::Reverse((mail.sent_on(), message.id())), message));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    let rows = found.into_iter().take(limit.max(0) as usize).map(|(_, message)| {
        let mut values = vec![Value::Ref(message.id())];
        values.extend(columns![thread, from_address, subject, sent_on, unread].map(|column| message.get(column)));
        values
    });
    Ok(Gives::Many(rows.collect()))
}

pub(crate) fn apply_filter_to_existing(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let filter = call.row(t::filter, call.reference(a::filter)?)?;
    let (mut matched, mut changed) = (0, 0);
    let asked = Asked::of(&filter);
    for message in call.rows(t::message, &[cell(c::user, filter.get(c::user))])? {
        if asked.holds(&Mail { call, message: &message })? {
            matched += 1;
            changed += apply(call, &filter, message.id())?;
        }
    }
    Ok(Gives::One(vec![Value::Int(matched), Value::Int(changed)]))
}

/// What a filter asks for; texts are in lower case.
struct Asked {
    from: Option<String>,
    to: Option<String>,
    subject: Option<String>,
    /// A query that cannot be read meets nothing, and nothing does not meet it.
    query: Option<Option<Query>>,
    negated_query: Option<Option<Query>>,
    has_attachment: Value,
    larger_than: Value,
}

impl Asked {
    fn of(filter: &RowView<t::filter>) -> Asked {
        let text = |column: Column<t::filter>| filter.get(column).as_text().map(str::to_lowercase);
        let query = |column: Column<t::filter>| filter.get(column).as_text().map(|text| Query::read(text).ok());
        Asked {
            from: text(c::from_address.of()),
            to: text(c::to_address.of()),
            subject: text(c::subject_has.of()),
            query: query(c::query.of()),
            negated_query: query(c::negated_query.of()),
            has_attachment: filter.get(c::has_attachment),
            larger_than: filter.get(c::larger_than),
        }
    }

    fn holds(&self, mail: &Mail<'_, '_, '_>) -> Result<bool, Refusal> {
        let in_text = self.from.as_ref().is_none_or(|text| mail.has(c::from_address, text))
            && self.subject.as_ref().is_none_or(|text| mail.has(c::subject, text))
            && !matches!(self.larger_than, Value::Int(size) if mail.size() <= size);
        if !in_text {
            return Ok(false);
        }
        if let Some(text) = &self.to
            && !mail.goes_to(text)?
        {
            return Ok(false);
        }
        for (query, wanted) in [(&self.query, true), (&self.negated_query, false)] {
            match query {
                Some(Some(query)) if query.holds(mail)? == wanted => {}
                Some(_) => return Ok(false),
                None => {}
            }
        }
        match self.has_attachment {
            Value::Bool(wanted) => Ok(mail.has_attachment()? == wanted),
            _ => Ok(true),
        }
    }
}

/// Whether a message meets all that a filter asks for.
pub(crate) fn matches(call: &NativeCall<'_, '_>, filter: &RowView<t::filter>, message: RowId) -> Result<bool, Refusal> {
    Asked::of(filter).holds(&Mail { call, message: &call.row(t::message, message)? })
}

/// Sets and takes the labels of a filter; gives how many changed.
pub(crate) fn apply(
    call: &mut NativeCall<'_, '_>,
    filter: &RowView<t::filter>,
    message: RowId,
) -> Result<i64, Refusal> {
    let mut changed = 0;
    if let Some(label) = filter.get(c::add_label).as_ref_id() {
        changed += i64::from(labels::set(call, message, label)?);
    }
    if let Some(label) = filter.get(c::remove_label).as_ref_id() {
        changed += i64::from(labels::take(call, message, label)?);
    }
    Ok(changed)
}
