//! What is read: the files of a workspace, and tables of texts.

use crate::{
    layout::{Kind, KnownBy, Layout},
    records::Cell,
};
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

/// A text of a file as a cell.
pub(crate) fn cell(layout: &Layout, kind: Kind, text: &str, nullable: bool) -> Result<Cell, String> {
    if text.is_empty() && nullable {
        return Ok(Cell::None);
    }
    let odd = || format!("`{text}` is not understood");
    Ok(match kind {
        Kind::Text => Cell::Text(text.to_owned()),
        Kind::Int => Cell::Number(text.parse().map_err(|_| odd())?),
        Kind::Money => Cell::Number(decimals(text, 2).ok_or_else(odd)?),
        Kind::Quantity => Cell::Number(decimals(text, 3).ok_or_else(odd)?),
        Kind::Bool => Cell::Number(match text {
            "yes" => 1,
            "no" => 0,
            _ => return Err(odd()),
        }),
        Kind::Ref(to) => {
            let to = &layout.tables[to];
            let KnownBy::Key(key) = to.known_by else { return Err(odd()) };
            cell(layout, to.columns[key].kind, text, false)?
        }
    })
}

/// A number with decimals in whole parts of its last one.
fn decimals(text: &str, digits: usize) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > digits {
        return None;
    }
    format!("{whole}{part:0<digits$}").parse().ok()
}
