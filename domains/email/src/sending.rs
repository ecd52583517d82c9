//! Mail that goes out or comes in: sent, answered, passed on, inserted, imported, and deleted for good.

use super::{filters, history, labels, list, texts};
use benchwright_base::{DateTime, RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, RowView};

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
    let user = call.row("user", call.reference("user")?)?.id();
    let mut recipients = Vec::new();
    for (kind, name) in ["to", "cc", "bcc"].into_iter().enumerate() {
        recipients.extend(texts(call, name).into_iter().map(|address| (kind as u16, address)));
    }
    let mut attachments = Vec::new();
    for id in list(call, "attachments") {
        let attachment = call.row("attachment", id)?;
        let of = attachment.get("message").as_ref_id().map(|message| labels::owner(call, message)).transpose()?;
        if of != Some(user) {
            return Err(Refusal::argument("attachments", format!("has {id}, which is not in this mailbox")));
        }
        attachments.push(copy_of(&attachment));
    }
    let letter = Letter {
        from: alias(call, user)?,
        subject: text(call, "subject"),
        body: text(call, "body"),
        thread: own_thread(call, user)?,
        importance: call.argument("importance"),
        recipients,
        attachments,
        ..Letter::of(user)
    };
    send(call, letter)
}

pub(crate) fn reply_to_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let original = call.row("message", call.reference("message")?)?;
    let user = labels::owner(call, original.id())?;
    let from = alias(call, user)?;
    let mut own: Vec<String> = Vec::new();
    for alias in call.rows("send_as", &[("user", Value::Ref(user))])? {
        own.push(string(&alias, "send_as_email"));
    }
    own.push(string(&call.row("user", user)?, "email"));
    let mut recipients = vec![(0, string(&original, "from_address"))];
    if call.argument("all") == Value::Bool(true) {
        for other in call.rows("message_recipient", &[("message", Value::Ref(original.id()))])? {
            let address = string(&other, "address");
            let known = own.contains(&address) || recipients.iter().any(|(_, known)| *known == address);
            if let (Value::Enum(kind @ 0..=1), false) = (other.get("kind"), known) {
                recipients.push((kind, address));
            }
        }
    }
    let count = recipients.len() as i64;
    let letter = Letter {
        from,
        subject: headed("Re: ", &string(&original, "subject")),
        body: text(call, "body"),
        thread: original.get("thread").as_ref_id(),
        in_reply_to: Some(original.id()),
        recipients,
        ..Letter::of(user)
    };
    let (message, thread) = make(call, letter, "SENT")?;
    let sent_on = call.row("message", message)?.get("sent_on");
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), Value::Int(count), sent_on]))
}

pub(crate) fn forward_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let original = call.row("message", call.reference("message")?)?;
    let user = labels::owner(call, original.id())?;
    let attached = call.rows("attachment", &[("message", Value::Ref(original.id()))])?;
    let count = attached.len() as i64;
    let (said, from) = (text(call, "body"), string(&original, "from_address"));
    let body =
        format!("{said}\n\n---------- Forwarded message ----------\nFrom: {from}\n\n{}", string(&original, "body"));
    let letter = Letter {
        from: alias(call, user)?,
        subject: headed("Fwd: ", &string(&original, "subject")),
        body: body.trim_start().to_owned(),
        thread: original.get("thread").as_ref_id(),
        recipients: texts(call, "to").into_iter().map(|address| (0, address)).collect(),
        attachments: attached.iter().map(copy_of).collect(),
        ..Letter::of(user)
    };
    let (message, thread) = make(call, letter, "SENT")?;
    let sent_on = call.row("message", message)?.get("sent_on");
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), Value::Int(count), sent_on]))
}

pub(crate) fn send_draft(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let draft = call.row("draft", call.reference("draft")?)?;
    let user = draft.get("user").as_ref_id().ok_or_else(|| Refusal::argument("draft", "has no mailbox"))?;
    let of_draft = [("draft", Value::Ref(draft.id()))];
    let mut recipients = Vec::new();
    for recipient in call.rows("draft_recipient", &of_draft)? {
        if let Value::Enum(kind) = recipient.get("kind") {
            recipients.push((kind, string(&recipient, "address")));
        }
    }
    if recipients.is_empty() {
        return Err(Refusal::argument("draft", "has nobody it goes to"));
    }
    let attachments = call.rows("draft_attachment", &of_draft)?.iter().map(copy_of).collect();
    let from = match draft.get("send_as") {
        Value::Ref(alias) => string(&call.row("send_as", alias)?, "send_as_email"),
        _ => alias(call, user)?,
    };
    let letter = Letter {
        from,
        subject: string(&draft, "subject"),
        body: string(&draft, "body"),
        thread: draft.get("thread").as_ref_id(),
        importance: draft.get("importance"),
        recipients,
        attachments,
        ..Letter::of(user)
    };
    call.delete("draft", draft.id())?;
    send(call, letter)
}

pub(crate) fn insert_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let letter = incoming(call)?;
    let given = list(call, "labels");
    let (message, thread) = make(call, letter, if given.is_empty() { "INBOX" } else { "" })?;
    for label in given {
        labels::set(call, message, label)?;
    }
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread)]))
}

pub(crate) fn import_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let letter = incoming(call)?;
    let user = letter.user;
    let sender = [("user", Value::Ref(user)), ("address", Value::text(&*letter.from))];
    let spam = !call.rows("blocked_sender", &sender)?.is_empty();
    let (message, thread) = make(call, letter, if spam { "SPAM" } else { "INBOX" })?;
    let mut matched = 0;
    if !spam {
        for filter in call.rows("filter", &[("user", Value::Ref(user))])? {
            if filters::matches(call, &filter, message)? {
                matched += 1;
                filters::apply(call, &filter, message)?;
            }
        }
    }
    Ok(Gives::One(vec![Value::Ref(message), Value::Ref(thread), Value::Bool(spam), Value::Int(matched)]))
}

pub(crate) fn delete_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let message = call.reference("message")?;
    delete(call, message)?;
    Ok(Gives::One(vec![Value::Ref(message)]))
}

pub(crate) fn batch_delete_messages(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let mut messages = list(call, "messages");
    messages.sort_unstable();
    messages.dedup();
    for message in &messages {
        delete(call, *message)?;
    }
    Ok(Gives::One(vec![Value::Int(messages.len() as i64)]))
}

pub(crate) fn delete_thread(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let thread = call.row("thread", call.reference("thread")?)?.id();
    let of_thread = [("thread", Value::Ref(thread))];
    if !call.rows("draft", &of_thread)?.is_empty() {
        return Err(Refusal::new(RefusalCode::Referenced, format!("a draft stands in thread {thread}")));
    }
    let messages = call.rows("message", &of_thread)?;
    for message in &messages {
        remove(call, message.id())?;
    }
    call.delete("thread", thread)?;
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
    let user = call.row("user", call.reference("user")?)?.id();
    Ok(Letter {
        from: text(call, "from_address"),
        subject: text(call, "subject"),
        body: text(call, "body"),
        thread: own_thread(call, user)?,
        unread: true,
        sent_on: match call.argument("sent_on") {
            Value::DateTime(at) => Some(at),
            _ => None,
        },
        recipients: texts(call, "to").into_iter().map(|address| (0, address)).collect(),
        ..Letter::of(user)
    })
}

fn send(call: &mut NativeCall<'_, '_>, letter: Letter) -> Result<Gives, Refusal> {
    let from = Value::text(&*letter.from);
    let (message, thread) = make(call, letter, "SENT")?;
    let sent_on = call.row("message", message)?.get("sent_on");
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
        None => call.create("thread", &[("user", user.clone()), ("subject", Value::text(&*letter.subject))])?,
    };
    let sizes = letter.attachments.iter().map(|[_, _, size]| if let Value::Int(size) = size { *size } else { 0 });
    let size = (letter.subject.len() + letter.body.len()) as i64 + sizes.sum::<i64>();
    let mut values = vec![
        ("user", user),
        ("thread", Value::Ref(thread)),
        ("from_address", Value::text(letter.from)),
        ("subject", Value::text(letter.subject)),
        ("body", Value::text(letter.body)),
        ("unread", Value::Bool(letter.unread)),
        ("size_bytes", Value::Int(size)),
        ("in_reply_to", letter.in_reply_to.map_or(Value::Null, Value::Ref)),
    ];
    if !letter.importance.is_null() {
        values.push(("importance", letter.importance));
    }
    if let Some(at) = letter.sent_on {
        values.push(("sent_on", Value::DateTime(at)));
    }
    let message = call.create("message", &values)?;
    for (kind, address) in letter.recipients {
        let values = [("message", Value::Ref(message)), ("kind", Value::Enum(kind)), ("address", Value::text(address))];
        call.create("message_recipient", &values)?;
    }
    for [name, kind, size] in letter.attachments {
        let values = [("message", Value::Ref(message)), ("file_name", name), ("mime_type", kind), ("size_bytes", size)];
        call.create("attachment", &values)?;
    }
    history(call, letter.user, "message_added", Some(message), None)?;
    if !label.is_empty() {
        let label = labels::system_label(call, letter.user, label)?;
        call.create("message_label", &[("message", Value::Ref(message)), ("label", Value::Ref(label))])?;
    }
    refresh(call, thread)?;
    Ok((message, thread))
}

/// Deletes a message, and its thread if nothing is left in it.
fn delete(call: &mut NativeCall<'_, '_>, message: RowId) -> Result<(), Refusal> {
    let thread = call.row("message", message)?.get("thread").as_ref_id();
    remove(call, message)?;
    thread.map_or(Ok(()), |thread| refresh(call, thread))
}

fn remove(call: &mut NativeCall<'_, '_>, message: RowId) -> Result<(), Refusal> {
    let user = labels::owner(call, message)?;
    // Answers stay, and stand for themselves.
    for answer in call.rows("message", &[("in_reply_to", Value::Ref(message))])? {
        call.update("message", answer.id(), &[("in_reply_to", Value::Null)])?;
    }
    call.delete("message", message)?;
    history(call, user, "message_deleted", None, None)
}

/// Brings the figures of a thread up to date.
fn refresh(call: &mut NativeCall<'_, '_>, thread: RowId) -> Result<(), Refusal> {
    let messages = call.rows("message", &[("thread", Value::Ref(thread))])?;
    let last = messages.iter().filter_map(|message| match message.get("sent_on") {
        Value::DateTime(at) => Some(at),
        _ => None,
    });
    match last.max() {
        Some(last) => {
            let count = Value::Int(messages.len() as i64);
            let values = [("last_message_on", Value::DateTime(last)), ("message_count", count)];
            call.update("thread", thread, &values)?;
        }
        None => match call.delete("thread", thread) {
            // A draft may still stand in it.
            Err(refusal) if refusal.code == RefusalCode::Referenced => {
                call.update("thread", thread, &[("message_count", Value::Int(0))])?;
            }
            other => _ = other?,
        },
    }
    Ok(())
}

/// The address to send from: what is given, or the default alias of the mailbox.
fn alias(call: &NativeCall<'_, '_>, user: RowId) -> Result<String, Refusal> {
    let mut wanted = vec![("user", Value::Ref(user))];
    match call.argument("from") {
        Value::Null => wanted.push(("is_default", Value::Bool(true))),
        from => wanted.push(("send_as_email", from)),
    }
    let found = call.rows("send_as", &wanted)?;
    let missing = || Refusal::new(RefusalCode::NotFound, format!("mailbox {user} has no such alias")).about("from");
    found.first().map(|alias| string(alias, "send_as_email")).ok_or_else(missing)
}

/// The thread that is given, which must be of the mailbox.
fn own_thread(call: &NativeCall<'_, '_>, user: RowId) -> Result<Option<RowId>, Refusal> {
    let Some(thread) = call.argument("thread").as_ref_id() else { return Ok(None) };
    if call.row("thread", thread)?.get("user") != Value::Ref(user) {
        return Err(Refusal::argument("thread", "is of another mailbox"));
    }
    Ok(Some(thread))
}

fn copy_of(row: &RowView) -> [Value; 3] {
    ["file_name", "mime_type", "size_bytes"].map(|field| row.get(field))
}

/// A subject with its mark, once.
fn headed(mark: &str, subject: &str) -> String {
    if subject.starts_with(mark) { subject.to_owned() } else { format!("{mark}{subject}") }
}

fn text(call: &NativeCall<'_, '_>, name: &str) -> String {
    call.argument(name).as_text().unwrap_or_default().to_owned()
}

fn string(row: &RowView, field: &str) -> String {
    row.get(field).as_text().unwrap_or_default().to_owned()
}
