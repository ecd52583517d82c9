//! Faults in a declared document: the file, line and column, what is wrong, and what to do about it. Loaders collect all of
//! them and return them at once, so that an author mends a file in one go and not fault by fault.

use std::fmt;

/// One fault, shown as `tables.toml:12:8: no such type` with its help on a line of its own. They sort by place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Diagnostic {
    /// The file, relative to the folder that was loaded.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do about it, if there is something to say.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A fault at a byte offset of a text, which becomes line and column. An offset past the end is the end.
    pub fn at(file: &str, text: &str, offset: usize, message: impl Into<String>, help: Option<String>) -> Diagnostic {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Diagnostic {
            file: file.to_owned(),
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            message: message.into(),
            help,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// The name nearest to a wrong one, if it is near enough to have been meant.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wrong.chars().count() / 3).max(2);
    names
        .into_iter()
        // Letters put in, taken out, changed or swapped with their neighbour: swapping is what fingers do most.
        .map(|name| (strsim::osa_distance(wrong, name), name))
        .filter(|(far, name)| *far <= limit || (wrong.len() >= 4 && name.contains(wrong)))
        // A name cut short is meant before one that only looks like it.
        .min_by_key(|(far, name)| (wrong.len() < 4 || !name.starts_with(wrong), *far, *name))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_meant() {
        let names = ["customer_case", "contact", "contract", "account"];
        assert_eq!(nearest("custmer_case", names), Some("customer_case"));
        assert_eq!(nearest("acocunt", names), Some("account"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("case", names), Some("customer_case"));
        assert_eq!(nearest("vers", ["bars", "version"]), Some("version"));
    }

    #[test]
    fn a_fault_names_line_and_column() {
        let fault = Diagnostic::at("tables.toml", "a\nbé = 1\n", 5, "no such thing", None);
        assert_eq!(fault.to_string(), "tables.toml:2:3: no such thing");
    }
}
