//! How much is read. Whoever reads a file of others says how large it may be; whatever is larger is a fault before it takes memory.

use crate::{What, fault::Notes};

/// The most that a file may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: usize,
    /// Bytes that a workbook unpacks to, and bytes that a table takes in memory: its cells are at most a 24th of these.
    pub unpacked: usize,
    /// Rows of a table, without its header.
    pub rows: usize,
    /// Columns of a table.
    pub columns: usize,
    /// Bytes of one cell.
    pub cell: usize,
}

impl Default for Limits {
    /// Enough for what people keep in tables: 16 MiB, 64 MiB unpacked, 100,000 rows, 256 columns, 32 KiB a cell.
    fn default() -> Limits {
        Limits { bytes: 16 << 20, unpacked: 64 << 20, rows: 100_000, columns: 256, cell: 32 << 10 }
    }
}

impl Limits {
    /// Whether a file is small enough to be looked at.
    pub(crate) fn admit(&self, bytes: &[u8], notes: &mut Notes) -> bool {
        let fits = bytes.len() <= self.bytes;
        if !fits {
            notes.whole(What::TooMany { of: "bytes", most: self.bytes });
        }
        fits
    }

    /// The most cells of a table: an empty one is small in a file, and not in memory.
    pub(crate) fn cells(&self) -> usize {
        self.unpacked / size_of::<String>()
    }

    /// Whether a header is short enough.
    pub(crate) fn admit_columns(&self, columns: usize, row: Option<usize>, notes: &mut Notes) -> bool {
        let fits = columns <= self.columns;
        if !fits {
            notes.tell(row, None, What::TooMany { of: "columns", most: self.columns });
        }
        fits
    }

    /// Notes a cell that is too long.
    pub(crate) fn admit_cell(&self, cell: &str, row: usize, column: &str, notes: &mut Notes) -> bool {
        let fits = cell.len() <= self.cell;
        if !fits {
            notes.tell(Some(row), Some(column), What::TooMany { of: "bytes in the cell", most: self.cell });
        }
        fits
    }
}
