//! Mail that goes out or comes in: sent, answered, passed on, inserted, imported, and deleted for good.

use super::{
    filters, labels,
    shared::{history, list, texts},
};
use crate::names::{a, c, t, w};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{ArgumentName, ColumnOf, Gives, NativeCall, RowView, cell, columns};

/// A message to be made.
struct Letter {
    user: RowId,
    from: String,
    subject: String,
    body: String,
    thread: Option<RowId>,
    in_reply_to: Option<RowId>,
    importance: Value,
    unread: bool,
    sent_on: Option<DateTime>,
    /// Kinds by their place (to, cc, bcc) with addresses.
    recipients: Vec<(u16, String)>,
    /// Name, type and size.
    attachments: Vec<[Value; 3]>,
}

pub(crate) fn send_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let user = call.row(t::user, call.reference(a::user)?)?.id();
    let mut recipients = Vec::new();
    for (kind, argument) in [a::to, a::cc, a::bcc].into_iter().enumerate() {
        recipients.extend(texts(call, argument)?.into_iter().map(|address| (kind as u16, address)));
    }
    let mut attachments = Vec::new();
    for id in list(call, a::attachments)? {
        let attachment = call.row(t::attachment, id)?;
        let of = attachment.get(c::message).as_ref_id().map(|message| labels::owner(call, message)).transpose()?;
        if of != Some(user) {
            return Err(Refusal::argument("attachments", format!("has {id}, which is not in this mailbox")));
        }
        attachments.push(copy_of(&attachment));
    }
    let letter = Letter {
        from: alias(call, user, call.argument(a::from)?)?,
        subject: text(call, a::subject)?,
        body: text(call, a::body)?,
        thread: own_thread(call, user)?,
        importance: call.argument(a::importance)?,
        recipients,
        attachments,
        ..Letter::of(user)
    };
    send(call, letter)
}

pub(crate) fn reply_to_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let original = call.row(t::message, call.reference(a::message)?)?;
    let user = labels::owner(call, original.id())?;
    let from = alias(call, user, call.argument(a::from)?)?;
    let mut own: Vec<String> = Vec::new();
    for alias in call.rows(t::send_as, &[cell(c::user, Value::Ref(user))])? {
        own.push(alias.words(c::send_as_email));
    }
    own.push(call.row(t::user, user)?.words(c::email));
    let mut recipients = vec![(0, original.words(c::from_address))];
    if call.argument(a::all)? == Value::Bool(true) {
        for other in call.rows(t::message_recipient, &[cell(c::message, Value::Ref(original.id()))])? {
            let address = other.words(c::address);
            let known = own.contains(&address) || recipients.iter().any(|(_, known)| *known == address);
            if let (Value::Enum(kind @ 0..=1), false) = (other.get(c::kind), known) {
                recipients.push((kind, address));
            }
        }
    }
    let count = recipients.len() as i64;
    let letter = Letter {
        from,
        subject: headed("Re: ", &original.words(c::subject)),
        body: text(call, a::body)?,
        thread: original.get(c::thread).as_ref_id(),
        in_reply_to: Some(original.id()),
        recipients,
        ..Letter::of(user)
    };
    let (message, thread) = make(call, letter, "SENT")?;
    let sent_on = call.row(t::message, message)?.get(c::sent_on);
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), Value::Int(count), sent_on]))
}

pub(crate) fn forward_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let original = call.row(t::message, call.reference(a::message)?)?;
    let user = labels::owner(call, original.id())?;
    let attached = call.rows(t::attachment, &[cell(c::message, Value::Ref(original.id()))])?;
    let count = attached.len() as i64;
    let (said, from) = (text(call, a::body)?, original.words(c::from_address));
    let body =
        format!("{said}\n\n---------- Forwarded message ----------\nFrom: {from}\n\n{}", original.words(c::body));
    let letter = Letter {
        from: alias(call, user, call.argument(a::from)?)?,
        subject: headed("Fwd: ", &original.words(c::subject)),
        body: body.trim_start().to_owned(),
        thread: original.get(c::thread).as_ref_id(),
        recipients: texts(call, a::to)?.into_iter().map(|address| (0, address)).collect(),
        attachments: attached.iter().map(copy_of).collect(),
        ..Letter::of(user)
    };
    let (message, thread) = make(call, letter, "SENT")?;
    let sent_on = call.row(t::message, message)?.get(c::sent_on);
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), Value::Int(count), sent_on]))
}

pub(crate) fn send_draft(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let draft = call.row(t::draft, call.reference(a::draft)?)?;
    let user = draft.get(c::user).as_ref_id().ok_or_else(|| Refusal::argument("draft", "has no mailbox"))?;
    let mut recipients = Vec::new();
    for recipient in call.rows(t::draft_recipient, &[cell(c::draft, Value::Ref(draft.id()))])? {
        if let Value::Enum(kind) = recipient.get(c::kind) {
            recipients.push((kind, recipient.words(c::address)));
        }
    }
    if recipients.is_empty() {
        return Err(Refusal::argument("draft", "has nobody it goes to"));
    }
    let attachments =
        call.rows(t::draft_attachment, &[cell(c::draft, Value::Ref(draft.id()))])?.iter().map(copy_of).collect();
    let from = match draft.get(c::send_as) {
        Value::Ref(alias) => call.row(t::send_as, alias)?.words(c::send_as_email),
        _ => alias(call, user, Value::Null)?,
    };
    let letter = Letter {
        from,
        subject: draft.words(c::subject),
        body: draft.words(c::body),
        thread: draft.get(c::thread).as_ref_id(),
        importance: draft.get(c::importance),
        recipients,
        attachments,
        ..Letter::of(user)
    };
    call.delete(t::draft, draft.id())?;
    send(call, letter)
}

pub(crate) fn insert_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let letter = incoming(call)?;
    let given = list(call, a::labels)?;
    let (message, thread) = make(call, letter, if given.is_empty() { "INBOX" } else { "" })?;
    for label in given {
        labels::set(call, message, label)?;
    }
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread)]))
}

pub(crate) fn import_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let letter = incoming(call)?;
    let user = letter.user;
    let sender = [cell(c::user, Value::Ref(user)), cell(c::address, Value::text(&*letter.from))];
    let spam = !call.rows(t::blocked_sender, &sender)?.is_empty();
    let (message, thread) = make(call, letter, if spam { "SPAM" } else { "INBOX" })?;
    let mut matched = 0;
    if !spam {
        for filter in call.rows(t::filter, &[cell(c::user, Value::Ref(user))])? {
            if filters::matches(call, &filter, message)? {
                matched += 1;
                filters::apply(call, &filter, message)?;
            }
        }
    }
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), Value::Bool(spam), Value::Int(matched)]))
}

pub(crate) fn delete_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let message = call.reference(a::message)?;
    delete(call, message)?;
    Ok(Gives::One(vec![Value::Ref(message)]))
}

pub(crate) fn batch_delete_messages(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let mut messages = list(call, a::messages)?;
    messages.sort_unstable();
    messages.dedup();
    for message in &messages {
        delete(call, *message)?;
    }
    Ok(Gives::One(vec![Value::Int(messages.len() as i64)]))
}

pub(crate) fn delete_thread(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let thread = call.row(t::thread, call.reference(a::thread)?)?.id();
    if !call.rows(t::draft, &[cell(c::thread, Value::Ref(thread))])?.is_empty() {
        return Err(Refusal::new(RefusalCode::Referenced, format!("a draft stands in thread {thread}")));
    }
    let messages = call.rows(t::message, &[cell(c::thread, Value::Ref(thread))])?;
    for message in &messages {
        remove(call, message.id())?;
    }
    call.delete(t::thread, thread)?;
    Ok(Gives::One(vec![Value::Int(messages.len() as i64)]))
}

impl Letter {
    fn of(user: RowId) -> Letter {
        Letter {
            user,
            from: String::new(),
            subject: String::new(),
            body: String::new(),
            thread: None,
            in_reply_to: None,
            importance: Value::Null,
            unread: false,
            sent_on: None,
            recipients: Vec::new(),
            attachments: Vec::new(),
        }
    }
}

/// A message that others sent, as it is told by the arguments.
fn incoming(call: &NativeCall<'_, '_>) -> Result<Letter, Refusal> {
    let user = call.row(t::user, call.reference(a::user)?)?.id();
    Ok(Letter {
        from: text(call, a::from_address)?,
        subject: text(call, a::subject)?,
        body: text(call, a::body)?,
        thread: own_thread(call, user)?,
        unread: true,
        sent_on: match call.argument(a::sent_on)? {
            Value::DateTime(at) => Some(at),
            _ => None,
        },
        recipients: texts(call, a::to)?.into_iter().map(|address| (0, address)).collect(),
        ..Letter::of(user)
    })
}

fn send(call: &mut NativeCall<'_, '_>, letter: Letter) -> Result<Gives, Refusal> {
    let from = Value::text(&*letter.from);
    let (message, thread) = make(call, letter, "SENT")?;
    let sent_on = call.row(t::message, message)?.get(c::sent_on);
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), from, sent_on]))
}

/// Makes a message with all that belongs to it, in its thread or a new one.
fn make(call: &mut NativeCall<'_, '_>, letter: Letter, label: &str) -> Result<(RowId, RowId), Refusal> {
    if letter.recipients.is_empty() {
        return Err(Refusal::argument("to", "names nobody"));
    }
    let user = Value::Ref(letter.user);
    let thread = match letter.thread {
        Some(thread) => thread,
        None => {
            call.create(t::thread, &[cell(c::user, user.clone()), cell(c::subject, Value::text(&*letter.subject))])?
        }
    };
    let sizes = letter.attachments.iter().map(|[_, _, size]| if let Value::Int(size) = size { *size } else { 0 });
    let size = (letter.subject.len() + letter.body.len()) as i64 + sizes.sum::<i64>();
    let mut values = vec![
        cell(c::user, user),
        cell(c::thread, Value::Ref(thread)),
        cell(c::from_address, Value::text(letter.from)),
        cell(c::subject, Value::text(letter.subject)),
        cell(c::body, Value::text(letter.body)),
        cell(c::unread, Value::Bool(letter.unread)),
        cell(c::size_bytes, Value::Int(size)),
        cell(c::in_reply_to, letter.in_reply_to.map_or(Value::Null, Value::Ref)),
    ];
    if !letter.importance.is_null() {
        values.push(cell(c::importance, letter.importance));
    }
    if let Some(at) = letter.sent_on {
        values.push(cell(c::sent_on, Value::DateTime(at)));
    }
    let message = call.create(t::message, &values)?;
    for (kind, address) in letter.recipients {
        let values = [
            cell(c::message, Value::Ref(message)),
            cell(c::kind, Value::Enum(kind)),
            cell(c::address, Value::text(address)),
        ];
        call.create(t::message_recipient, &values)?;
    }
    for [name, kind, size] in letter.attachments {
        let values = [
            cell(c::message, Value::Ref(message)),
            cell(c::file_name, name),
            cell(c::mime_type, kind),
            cell(c::size_bytes, size),
        ];
        call.create(t::attachment, &values)?;
    }
    history(call, letter.user, w::message_added, Some(message), None)?;
    if !label.is_empty() {
        let label = labels::system_label(call, letter.user, label)?;
        call.create(t::message_label, &[cell(c::message, Value::Ref(message)), cell(c::label, Value::Ref(label))])?;
    }
    refresh(call, thread)?;
    Ok((message, thread))
}

/// Deletes a message, and its thread if nothing is left in it.
fn delete(call: &mut NativeCall<'_, '_>, message: RowId) -> Result<(), Refusal> {
    let thread = call.row(t::message, message)?.get(c::thread).as_ref_id();
    remove(call, message)?;
    thread.map_or(Ok(()), |thread| refresh(call, thread))
}

fn remove(call: &mut NativeCall<'_, '_>, message: RowId) -> Result<(), Refusal> {
    let user = labels::owner(call, message)?;
    // Answers stay, and stand for themselves.
    for answer in call.rows(t::message, &[cell(c::in_reply_to, Value::Ref(message))])? {
        call.update(t::message, answer.id(), &[cell(c::in_reply_to, Value::Null)])?;
    }
    call.delete(t::message, message)?;
    history(call, user, w::message_deleted, None, None)
}

/// Brings the figures of a thread up to date.
fn refresh(call: &mut NativeCall<'_, '_>, thread: RowId) -> Result<(), Refusal> {
    let messages = call.rows(t::message, &[cell(c::thread, Value::Ref(thread))])?;
    let last = messages.iter().filter_map(|message| match message.get(c::sent_on) {
        Value::DateTime(at) => Some(at),
        _ => None,
    });
    match last.max() {
        Some(last) => {
            let count = Value::Int(messages.len() as i64);
            let values = [cell(c::last_message_on, Value::DateTime(last)), cell(c::message_count, count)];
            call.update(t::thread, thread, &values)?;
        }
        None => match call.delete(t::thread, thread) {
            // A draft may still stand in it.
            Err(refusal) if refusal.code == RefusalCode::Referenced => {
                call.update(t::thread, thread, &[cell(c::message_count, Value::Int(0))])?;
            }
            other => _ = other?,
        },
    }
    Ok(())
}

/// The address to send from: what is given, or the default alias of the mailbox.
fn alias(call: &NativeCall<'_, '_>, user: RowId, given: Value) -> Result<String, Refusal> {
    let mut wanted = vec![cell(c::user, Value::Ref(user))];
    match given {
        Value::Null => wanted.push(cell(c::is_default, Value::Bool(true))),
        from => wanted.push(cell(c::send_as_email, from)),
    }
    let found = call.rows(t::send_as, &wanted)?;
    let missing = || Refusal::new(RefusalCode::NotFound, format!("mailbox {user} has no such alias")).about("from");
    found.first().map(|alias| alias.words(c::send_as_email)).ok_or_else(missing)
}

/// The thread that is given, which must be of the mailbox.
fn own_thread(call: &NativeCall<'_, '_>, user: RowId) -> Result<Option<RowId>, Refusal> {
    let Some(thread) = call.argument(a::thread)?.as_ref_id() else { return Ok(None) };
    if call.row(t::thread, thread)?.get(c::user) != Value::Ref(user) {
        return Err(Refusal::argument("thread", "is of another mailbox"));
    }
    Ok(Some(thread))
}

fn copy_of<T>(row: &RowView<T>) -> [Value; 3]
where
    c::file_name: ColumnOf<T>,
    c::mime_type: ColumnOf<T>,
    c::size_bytes: ColumnOf<T>,
{
    columns![file_name, mime_type, size_bytes].map(|column| row.get(column))
}

/// A subject with its mark, once.
fn headed(mark: &str, subject: &str) -> String {
    if subject.starts_with(mark) { subject.to_owned() } else { format!("{mark}{subject}") }
}

fn text(call: &NativeCall<'_, '_>, argument: ArgumentName) -> Result<String, Refusal> {
    Ok(call.argument(argument)?.as_text().unwrap_or_default().to_owned())
}
