//! The commands, one file each.

pub(crate) mod bench;
pub(crate) mod doctor;
pub(crate) mod domains;
pub(crate) mod export;
pub(crate) mod play;
