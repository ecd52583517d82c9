//! Workbooks of spreadsheets. Each sheet is a table, with or without a title in the row above its header.
//!
//! What is written is the same on every machine: no name of a machine or a person, one fixed time, the parts in one order and not packed,
//! because what packs them may differ. What is read may be hostile: `parts` unpacks it within limits and looks at its XML before the
//! reader of workbooks does.
//!
//! It cannot carry control characters but tab and newline, the code points U+FFFE and U+FFFF, a text of more than 32,767 UTF-16 units,
//! one that begins with `<r>` and ends in `</r>`, nor a last row that is empty. A name of a sheet has 1 to 31 UTF-16 units, none of
//! `[]:*?/\` and no control character, and begins and ends with no apostrophe; two of them differ in more than their case.

mod parts;
mod read;
mod write;

pub use read::{Titled, Workbook, texts};
pub use write::{Sheet, write};

/// What a workbook has room for.
const SHEET_ROWS: usize = 1 << 20;
const SHEET_COLUMNS: usize = 1 << 14;
