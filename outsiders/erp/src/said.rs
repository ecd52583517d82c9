//! A word of the outsider: a number or a name.

/// The value of a fact, or of a cell of a plan.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Said {
    /// Units, days, minutes or cents.
    Number(i64),
    /// A code or a reference.
    Name(String),
}
