//! Labels on messages: set and taken, with a line of history for each change.

use super::shared::{history, list};
use crate::names::{a, c, t, w};
use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Gives, NativeCall, cell};

pub(crate) fn trash_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let message = call.reference(a::message)?;
    let changed = move_to(call, message, "TRASH", "INBOX")?;
    Ok(Gives::One(vec![Value::Ref(message), Value::Int(changed)]))
}

pub(crate) fn untrash_message(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let message = call.reference(a::message)?;
    let changed = bring_back(call, message)?;
    Ok(Gives::One(vec![Value::Ref(message), Value::Int(changed)]))
}

pub(crate) fn modify_message_labels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let message = call.reference(a::message)?;
    let changed = modify(call, message)?;
    Ok(Gives::One(vec![Value::Ref(message), Value::Int(changed)]))
}

pub(crate) fn batch_modify_message_labels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let mut changed = 0;
    for message in list(call, a::messages)? {
        changed += modify(call, message)?;
    }
    Ok(Gives::One(vec![Value::Int(changed)]))
}

pub(crate) fn modify_thread_labels(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    on_thread(call, modify)
}

pub(crate) fn trash_thread(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    on_thread(call, |call, message| move_to(call, message, "TRASH", "INBOX"))
}

pub(crate) fn untrash_thread(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    on_thread(call, bring_back)
}

fn on_thread(
    call: &mut NativeCall<'_, '_>,
    mut each: impl FnMut(&mut NativeCall<'_, '_>, RowId) -> Result<i64, Refusal>,
) -> Result<Gives, Refusal> {
    let thread = call.row(t::thread, call.reference(a::thread)?)?.id();
    let mut changed = 0;
    for message in call.rows(t::message, &[cell(c::thread, Value::Ref(thread))])? {
        changed += each(call, message.id())?;
    }
    Ok(Gives::One(vec![Value::Int(changed)]))
}

fn modify(call: &mut NativeCall<'_, '_>, message: RowId) -> Result<i64, Refusal> {
    let (add, remove) = (list(call, a::add_labels)?, list(call, a::remove_labels)?);
    if add.is_empty() && remove.is_empty() {
        return Err(Refusal::argument("add_labels", "or `remove_labels` must be given"));
    }
    let mut changed = 0;
    for label in add {
        changed += i64::from(set(call, message, label)?);
    }
    for label in remove {
        changed += i64::from(take(call, message, label)?);
    }
    Ok(changed)
}

fn bring_back(call: &mut NativeCall<'_, '_>, message: RowId) -> Result<i64, Refusal> {
    let trash = system_label(call, owner(call, message)?, "TRASH")?;
    let trashed = [cell(c::message, Value::Ref(message)), cell(c::label, Value::Ref(trash))];
    if call.rows(t::message_label, &trashed)?.is_empty() {
        return Ok(0);
    }
    // What was sent from the mailbox never was in its inbox.
    let sent = system_label(call, owner(call, message)?, "SENT")?;
    if !call
        .rows(t::message_label, &[cell(c::message, Value::Ref(message)), cell(c::label, Value::Ref(sent))])?
        .is_empty()
    {
        return Ok(i64::from(take(call, message, trash)?));
    }
    move_to(call, message, "INBOX", "TRASH")
}

fn move_to(call: &mut NativeCall<'_, '_>, message: RowId, to: &str, from: &str) -> Result<i64, Refusal> {
    let user = owner(call, message)?;
    let (to, from) = (system_label(call, user, to)?, system_label(call, user, from)?);
    Ok(i64::from(set(call, message, to)?) + i64::from(take(call, message, from)?))
}

/// The mailbox of a message.
pub(crate) fn owner(call: &NativeCall<'_, '_>, message: RowId) -> Result<RowId, Refusal> {
    call.row(t::message, message)?
        .get(c::user)
        .as_ref_id()
        .ok_or_else(|| Refusal::argument("message", "has no mailbox"))
}

/// A label of a mailbox that every mailbox has.
pub(crate) fn system_label(call: &NativeCall<'_, '_>, user: RowId, name: &str) -> Result<RowId, Refusal> {
    let found = call.rows(t::label, &[cell(c::user, Value::Ref(user)), cell(c::name, Value::text(name))])?;
    let missing = || Refusal::new(RefusalCode::NotFound, format!("mailbox {user} has no label {name}"));
    found.first().map(|label| label.id()).ok_or_else(missing)
}

/// Puts a label on a message; false if it is there.
pub(crate) fn set(call: &mut NativeCall<'_, '_>, message: RowId, label: RowId) -> Result<bool, Refusal> {
    call.row(t::label, label)?;
    let values = [cell(c::message, Value::Ref(message)), cell(c::label, Value::Ref(label))];
    if !call.rows(t::message_label, &values)?.is_empty() {
        return Ok(false);
    }
    call.create(t::message_label, &values)?;
    history(call, owner(call, message)?, w::label_added, Some(message), Some(label))?;
    Ok(true)
}

/// Takes a label off a message; false if it is not there.
pub(crate) fn take(call: &mut NativeCall<'_, '_>, message: RowId, label: RowId) -> Result<bool, Refusal> {
    call.row(t::label, label)?;
    let values = [cell(c::message, Value::Ref(message)), cell(c::label, Value::Ref(label))];
    let Some(present) = call.rows(t::message_label, &values)?.into_iter().next() else { return Ok(false) };
    call.delete(t::message_label, present.id())?;
    history(call, owner(call, message)?, w::label_removed, Some(message), Some(label))?;
    Ok(true)
}
