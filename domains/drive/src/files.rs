//! Files and folders: copied, moved, told by path, turned into something else, and cleared from the trash.

use super::{
    access::{Person, WRITER, access},
    shared::{above, note},
};
use crate::names::{a, c, t, w};
use benchwright_base::{RowId, Value};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Cell, Gives, NativeCall, RowView, Word, WordOf, cell, columns};
use std::collections::BTreeSet;

/// Files of more bytes are exported by an operation.
const LARGE: i64 = 10_000_000;

pub(crate) fn copy_files(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row(t::file, call.reference(a::file)?)?;
    if file.is(c::mime_type, w::folder) {
        return Err(Refusal::argument("file", "is a folder; copy the files in it"));
    }
    let owner = match call.argument(a::owner)? {
        Value::Ref(id) => call.row(t::user, id)?.id(),
        _ => acting(call, &file)?,
    };
    if file.get(c::copy_needs_writer) == Value::Bool(true) {
        let person = Person::of(call, owner)?;
        if access(call, file.id(), &person)?.is_none_or(|found| found.role > WRITER) {
            return Err(Refusal::new(RefusalCode::Forbidden, "only writers may copy this file").about("owner"));
        }
    }
    let parent = match call.argument(a::parent)? {
        Value::Ref(id) => Value::Ref(call.row(t::file, id)?.id()),
        _ => file.get(c::parent),
    };
    let drive = match parent {
        Value::Ref(id) => call.row(t::file, id)?.get(c::drive),
        _ => Value::Null,
    };
    let name = match call.argument(a::name)? {
        Value::Null => Value::text(format!("Copy of {}", file.get(c::name).as_text().unwrap_or_default())),
        given => given,
    };
    let mut values = vec![
        cell(c::name, name.clone()),
        cell(c::parent, parent.clone()),
        cell(c::drive, drive),
        cell(c::owner, Value::Ref(owner)),
    ];
    for column in columns![mime_type, description, shortcut_target, size_bytes, content] {
        values.push(cell(column, file.get(column)));
    }
    let id = call.create(t::file, &values)?;
    note(call, id, call.actor().unwrap_or(owner), w::create, "copied")?;
    Ok(Gives::One(vec![Value::Ref(id), name, Value::Ref(owner), parent]))
}

pub(crate) fn move_files(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row(t::file, call.reference(a::file)?)?;
    let parent = call.row(t::file, call.reference(a::parent)?)?;
    let former = file.get(c::parent);
    let drive = parent.get(c::drive);
    call.update(t::file, file.id(), &[cell(c::parent, Value::Ref(parent.id())), cell(c::drive, drive.clone())])?;
    // What lies below goes along into the drive. A loop is refused by its rule, and ends the walk here.
    for (below, _, _) in tree(call, file.id())? {
        call.update(t::file, below.id(), &[cell(c::drive, drive.clone())])?;
    }
    if let Ok(actor) = acting(call, &file) {
        note(call, file.id(), actor, w::r#move, "moved to another folder")?;
    }
    Ok(Gives::One(vec![Value::Ref(file.id()), Value::Ref(parent.id()), former]))
}

pub(crate) fn empty_trash(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let of = match (call.argument(a::owner)?.as_ref_id(), call.argument(a::drive)?.as_ref_id()) {
        (Some(_), Some(_)) => return Err(Refusal::argument("owner", "and `drive` are not given together")),
        (Some(owner), None) => cell(c::owner, Value::Ref(call.row(t::user, owner)?.id())),
        (None, Some(drive)) => cell(c::drive, Value::Ref(call.row(t::shared_drive, drive)?.id())),
        (None, None) => match call.actor() {
            Some(actor) => cell(c::owner, Value::Ref(actor)),
            None => return Err(Refusal::argument("owner", "or `drive` must be given where nobody in particular acts")),
        },
    };
    let mut left: Vec<RowId> =
        call.rows(t::file, &[of, cell(c::trashed, Value::Bool(true))])?.iter().map(RowView::id).collect();
    let mut deleted = 0;
    // From the leaves up, until nothing moves.
    loop {
        let before = left.len();
        let mut kept = Vec::new();
        for file in left {
            match call.delete(t::file, file) {
                Ok(_) => deleted += 1,
                Err(refusal) if refusal.code == RefusalCode::Referenced => kept.push(file),
                Err(refusal) => return Err(refusal),
            }
        }
        left = kept;
        if left.len() == before || left.is_empty() {
            break;
        }
    }
    Ok(Gives::One(vec![Value::Int(deleted), Value::Int(left.len() as i64)]))
}

pub(crate) fn generate_ids(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Value::Int(count) = call.argument(a::count)? else { return Err(Refusal::argument("count", "is required")) };
    let last = call.rows(t::file, &[])?.last().map_or(0, RowView::id);
    Ok(Gives::Many((1..=count).map(|n| vec![Value::Int(i64::from(last) + n)]).collect()))
}

pub(crate) fn export_file(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row(t::file, call.reference(a::file)?)?;
    let to = call.argument(a::to)?;
    let wants = |word: Word<t::file, c::mime_type>| call.word(t::file, c::mime_type, word) == to;
    let texts = file.is(c::mime_type, w::document) || file.is(c::mime_type, w::spreadsheet);
    let slides = file.is(c::mime_type, w::presentation);
    if !(wants(w::pdf.of()) && (texts || slides) || wants(w::text.of()) && texts) {
        return Err(Refusal::argument("to", "is nothing this file can be turned into"));
    }
    match file.get(c::size_bytes) {
        Value::Int(size) if size > LARGE => {
            let operation = operation(call, &file, w::export, vec![cell(c::target_type, to)])?;
            Ok(Gives::One(vec![Value::Null, Value::Ref(operation)]))
        }
        _ => Ok(Gives::One(vec![file.get(c::content), Value::Null])),
    }
}

pub(crate) fn download_file(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.row(t::file, call.reference(a::file)?)?;
    let revision = call.argument(a::revision)?;
    if let Value::Ref(id) = revision
        && call.row(t::revision, id)?.get(c::file) != Value::Ref(file.id())
    {
        return Err(Refusal::argument("revision", "is of another file"));
    }
    if file.is(c::mime_type, w::folder) {
        return Err(Refusal::argument("file", "is a folder; download the files in it"));
    }
    let operation = operation(call, &file, w::download, vec![cell(c::revision, revision)])?;
    let state = call.row(t::operation, operation)?.get(c::state);
    Ok(Gives::One(vec![Value::Ref(operation), state]))
}

pub(crate) fn list_folder_tree(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let folder = call.row(t::file, call.reference(a::folder)?)?;
    if !folder.is(c::mime_type, w::folder) {
        return Err(Refusal::argument("folder", "is not a folder"));
    }
    let mut found = tree(call, folder.id())?;
    found.sort_by(|(a, path_a, _), (b, path_b, _)| (path_a, a.id()).cmp(&(path_b, b.id())));
    let rows = found.into_iter().map(|(file, path, depth)| {
        let [name, kind, trashed] = columns![name, mime_type, trashed].map(|column| file.get(column));
        vec![Value::Ref(file.id()), name, kind, Value::text(path), Value::Int(depth), trashed]
    });
    Ok(Gives::Many(rows.collect()))
}

pub(crate) fn get_path(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let file = call.reference(a::file)?;
    call.row(t::file, file)?;
    let chain = above(call, file)?;
    let rows = chain.iter().rev().enumerate();
    Ok(Gives::Many(
        rows.map(|(depth, at)| vec![Value::Ref(at.id()), at.get(c::name), Value::Int(depth as i64)]).collect(),
    ))
}

pub(crate) fn restore_revision(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let old = call.row(t::revision, call.reference(a::revision)?)?;
    let file = match old.get(c::file) {
        Value::Ref(file) => call.row(t::file, file)?,
        _ => return Err(Refusal::argument("revision", "has no file")),
    };
    let numbers = call.rows(t::revision, &[cell(c::file, Value::Ref(file.id()))])?;
    let number = |row: &RowView<t::revision>| if let Value::Int(number) = row.get(c::number) { number } else { 0 };
    let next = numbers.iter().map(number).max().unwrap_or(0) + 1;
    let author = call.actor().map_or_else(|| old.get(c::author), Value::Ref);
    let [content, size] = columns![content, size_bytes].map(|column| old.get(column));
    let values = [
        cell(c::file, Value::Ref(file.id())),
        cell(c::number, Value::Int(next)),
        cell(c::author, author.clone()),
        cell(c::size_bytes, size.clone()),
        cell(c::content, content.clone()),
    ];
    let id = call.create(t::revision, &values)?;
    call.update(t::file, file.id(), &[cell(c::content, content), cell(c::size_bytes, size)])?;
    if let Some(actor) = author.as_ref_id() {
        note(call, file.id(), actor, w::edit, "old revision restored")?;
    }
    Ok(Gives::One(vec![Value::Ref(id), Value::Int(next)]))
}

pub(crate) fn get_about(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let Some(actor) = call.actor() else {
        return Err(Refusal::new(RefusalCode::Forbidden, "nobody in particular acts"));
    };
    let user = call.row(t::user, actor)?;
    let (limit, used, trash) = figures(call, actor)?;
    let exports = "document: pdf, text; spreadsheet: pdf, text; presentation: pdf";
    Ok(Gives::One(vec![
        Value::Ref(actor),
        user.get(c::email),
        user.get(c::display_name),
        limit.map_or(Value::Null, Value::Int),
        Value::Int(used),
        Value::Int(trash),
        Value::text(exports),
    ]))
}

pub(crate) fn get_storage_quota(call: &mut NativeCall<'_, '_>) -> Result<Gives, Refusal> {
    let user = call.row(t::user, call.reference(a::user)?)?.id();
    let (limit, used, trash) = figures(call, user)?;
    let Some(limit) = limit else {
        return Err(Refusal::new(RefusalCode::NotFound, format!("user {user} has no quota")));
    };
    Ok(Gives::One([limit, used, trash, limit - used].map(Value::Int).into()))
}

/// What a person may store, what is stored, and how much of it lies in the trash.
fn figures(call: &NativeCall<'_, '_>, user: RowId) -> Result<(Option<i64>, i64, i64), Refusal> {
    let number = |value: Value| if let Value::Int(number) = value { number } else { 0 };
    let quota = call.rows(t::storage_quota, &[cell(c::user, Value::Ref(user))])?;
    let limit = quota.first().map(|quota| number(quota.get(c::limit_bytes)));
    let (mut used, mut trash) = (0, 0);
    for file in call.rows(t::file, &[cell(c::owner, Value::Ref(user))])? {
        let size = number(file.get(c::size_bytes));
        used += size;
        if file.get(c::trashed) == Value::Bool(true) {
            trash += size;
        }
    }
    Ok((limit, used, trash))
}

fn operation(
    call: &mut NativeCall<'_, '_>,
    file: &RowView<t::file>,
    kind: impl WordOf<t::operation, c::kind>,
    mut values: Vec<Cell<t::operation>>,
) -> Result<RowId, Refusal> {
    let by = acting(call, file)?;
    values.extend([
        cell(c::file, Value::Ref(file.id())),
        cell(c::requested_by, Value::Ref(by)),
        cell(c::kind, call.word(t::operation, c::kind, kind)),
    ]);
    call.create(t::operation, &values)
}

/// Who acts, or the owner of a file where nobody in particular does.
fn acting(call: &NativeCall<'_, '_>, file: &RowView<t::file>) -> Result<RowId, Refusal> {
    let nobody = || Refusal::new(RefusalCode::Forbidden, "nobody in particular acts, and the file has no owner");
    call.actor().or_else(|| file.get(c::owner).as_ref_id()).ok_or_else(nobody)
}

/// Everything below a folder, with its path from there and how deep it lies.
fn tree(call: &NativeCall<'_, '_>, folder: RowId) -> Result<Vec<(RowView<t::file>, String, i64)>, Refusal> {
    let mut seen = BTreeSet::from([folder]);
    let mut found = Vec::new();
    let mut open = vec![(folder, String::new(), 0)];
    while let Some((parent, path, depth)) = open.pop() {
        for file in call.rows(t::file, &[cell(c::parent, Value::Ref(parent))])? {
            if seen.insert(file.id()) {
                let path = format!("{path}/{}", file.get(c::name).as_text().unwrap_or_default());
                open.push((file.id(), path.clone(), depth + 1));
                found.push((file, path, depth + 1));
            }
        }
    }
    Ok(found)
}
