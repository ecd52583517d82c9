//! What a family asks of those who write patterns for it. A pattern is a folder of declarations, and only its family knows which
//! words a recipe may have and what can stand in braces in a text; so the loader asks it, and every fault is told with its place
//! before anything is drawn.

use crate::PatternHead;
use benchwright_schema::Section;

/// What a family asks of its patterns.
pub trait Authoring {
    /// Tells what is wrong with the tiers and the recipe of a `pattern.toml`. `file` is the whole file.
    fn check_head(&self, head: &PatternHead, file: &Section<'_>);

    /// What may stand in braces in a pattern's words and in the sentences of rules, such as `today` in `{today}`.
    fn placeholders(&self) -> Vec<Placeholder>;
}

/// A name that may stand in braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placeholder {
    /// The name, without the braces.
    pub name: &'static str,
    /// What it stands for, where that is the same in every case.
    pub stands_for: Option<String>,
    /// Whether every opening must have it, because whoever has only the text finds the case by it.
    pub opens: bool,
}

impl Placeholder {
    /// A text in which everything that no case changes is spelled out.
    pub fn fill(placeholders: &[Placeholder], text: &str) -> String {
        placeholders.iter().fold(text.to_owned(), |text, placeholder| match &placeholder.stands_for {
            Some(meant) => text.replace(&format!("{{{}}}", placeholder.name), meant),
            None => text,
        })
    }
}
