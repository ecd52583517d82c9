//! Answers as JSON: objects and lists, written one after the other.

use benchwright_base::{json, number};
use benchwright_pack::Refusal;
use benchwright_sandbox::Gives;

/// An answer that is one object, whose keys `write` adds.
pub(crate) fn object(write: impl FnOnce(&mut Vec<u8>)) -> Result<Gives, Refusal> {
    let mut out = Vec::with_capacity(256);
    inner(&mut out, write);
    Ok(Gives::Json(out))
}

/// An object inside another or in a list.
pub(crate) fn inner(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'{');
    write(out);
    out.push(b'}');
}

/// A key; its value must follow.
pub(crate) fn key(out: &mut Vec<u8>, name: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    json::write_text(out, name);
    out.push(b':');
}

/// A key and a text.
pub(crate) fn text(out: &mut Vec<u8>, name: &str, text: &str) {
    key(out, name);
    json::write_text(out, text);
}

/// A key and a whole number.
pub(crate) fn int(out: &mut Vec<u8>, name: &str, number: i64) {
    key(out, name);
    number::write_int(out, number);
}

/// A key and a number of things.
pub(crate) fn count(out: &mut Vec<u8>, name: &str, count: usize) {
    int(out, name, i64::try_from(count).unwrap_or(i64::MAX));
}

/// A key and a truth.
pub(crate) fn flag(out: &mut Vec<u8>, name: &str, flag: bool) {
    key(out, name);
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// A key and nothing.
pub(crate) fn null(out: &mut Vec<u8>, name: &str) {
    key(out, name);
    out.extend_from_slice(b"null");
}

/// A key and a list, each item in its own way.
pub(crate) fn list<T>(
    out: &mut Vec<u8>,
    name: &str,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    key(out, name);
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// A key and a list of texts.
pub(crate) fn texts<'t>(out: &mut Vec<u8>, name: &str, texts: impl IntoIterator<Item = &'t str>) {
    list(out, name, texts, json::write_text);
}
