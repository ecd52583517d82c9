//! What is read: the files of a workspace, and tables of texts.

use benchwright_files::Table;
use std::collections::BTreeMap;

/// The files of a workspace by path: media type and body.
pub(crate) type Workspace = BTreeMap<String, (String, String)>;

/// A table as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Read {
    pub(crate) fn column(&self, name: &str) -> Result<usize, String> {
        let found = self.header.iter().position(|known| known == name);
        found.ok_or_else(|| format!("there is no column `{name}` among {}", self.header.join(", ")))
    }
}

impl From<Table> for Read {
    fn from(table: Table) -> Read {
        let (header, rows) = table.into_parts();
        Read { header, rows }
    }
}
