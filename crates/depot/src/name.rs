//! What is a name: what folders, file systems and services take alike, so that nothing has to be spelled otherwise anywhere, and that leads
//! to no place outside.

use crate::DepotError;

/// The most bytes of a name, with which a service's prefix stays below its own limit.
const LONGEST: usize = 500;
/// The most bytes between two `/`, below what file systems take.
const LONGEST_PART: usize = 200;

/// Refuses what is no name: it has parts with `/` between them, each of small letters, digits, `-`, `_` and `.`, and none begins with a dot.
/// A part has at most 200 bytes, all of them 500.
pub fn check_name(name: &str) -> Result<(), DepotError> {
    let is_part = |part: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
        !part.is_empty() && part.len() <= LONGEST_PART && !part.starts_with('.') && part.bytes().all(plain)
    };
    match name.len() <= LONGEST && name.split('/').all(is_part) {
        true => Ok(()),
        false => Err(DepotError::Name(name.to_owned())),
    }
}

/// The same for a folder, where an empty name means all.
pub(crate) fn check_folder(name: &str) -> Result<(), DepotError> {
    if name.is_empty() { Ok(()) } else { check_name(name) }
}
