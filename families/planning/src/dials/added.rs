//! What a dial adds to a workflow, in one shape for all of them.

use crate::told::CandidatesText;
use std::collections::BTreeMap;

/// A form by its name, what it holds, and its columns, each with its meaning.
type FormOf = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What a dial adds to a workflow.
pub(super) struct Added {
    /// The table of the records that only its tasks have, as `data.toml` has it.
    pub(super) data: &'static str,
    pub(super) table: &'static str,
    /// The file that tells it: its path, what it holds, and each column with its name in the file and its meaning.
    pub(super) path: &'static str,
    pub(super) says: &'static str,
    pub(super) columns: &'static [(&'static str, &'static str, &'static str)],
    /// The rows that a plan may have of its form, where it has one of its own.
    pub(super) candidates: Option<(&'static str, CandidatesText)>,
    /// What the form holds, and what its columns mean.
    pub(super) form: Option<FormOf>,
}

/// A rule's two phrasings.
pub(super) fn phrasings(says: [&str; 2]) -> Vec<String> {
    says.map(str::to_owned).to_vec()
}

/// The fields of a form's rows.
pub(super) fn fields<const N: usize>(of: [(&str, &str); N]) -> BTreeMap<String, String> {
    of.into_iter().map(|(field, is)| (field.to_owned(), is.to_owned())).collect()
}
