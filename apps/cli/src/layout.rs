//! Text in columns and paragraphs, and a domain in one line.

pub(crate) use benchwright_report::layout::*;
use benchwright_schema::Domain;

/// How much of everything a domain has.
pub(crate) fn extent(domain: &Domain) -> String {
    let counts = [
        (domain.tables.len(), "table"),
        (domain.field_count(), "field"),
        (domain.reference_count(), "reference"),
        (domain.tools.len(), "tool"),
        (domain.rules.len(), "rule"),
        (domain.roles.len(), "role"),
    ];
    counts.map(|(count, noun)| counted(count, noun)).join(", ")
}
