//! The one error type of the lexer, the parser and the checker. It has a byte offset into the expression, which whoever read
//! the expression from a file turns into a line and a column.

/// Something that is wrong with an expression.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Where, in bytes into the text.
    pub offset: usize,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do about it, if there is something to say.
    pub help: Option<String>,
}
