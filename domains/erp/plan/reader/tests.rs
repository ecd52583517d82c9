//! Snippets as they stand in instructions and notes.
