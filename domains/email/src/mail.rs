//! A message as queries and filters ask about it: nothing is read of it before it is asked for.

use crate::names::{c, t};
use benchwright_base::{DateTime, Value};
use benchwright_pack::Refusal;
use benchwright_sandbox::{ColumnOf, NativeCall, RowView, Table, cell};

/// A message.
pub(crate) struct Mail<'m, 'c, 'd> {
    pub(crate) call: &'m NativeCall<'c, 'd>,
    pub(crate) message: &'m RowView<t::message>,
}

impl Mail<'_, '_, '_> {
    fn rows<T: Table>(&self, table: T) -> Result<Vec<RowView<T>>, Refusal>
    where
        c::message: ColumnOf<T>,
    {
        self.call.rows(table, &[cell(c::message, Value::Ref(self.message.id()))])
    }

    /// Whether a text field has a part, which is in lower case.
    pub(crate) fn has(&self, column: impl ColumnOf<t::message>, part: &str) -> bool {
        self.message.get(column).as_text().map_or(part.is_empty(), |text| contains(text, part))
    }

    /// Whether a field has a value.
    pub(crate) fn is(&self, column: impl ColumnOf<t::message>, value: &Value) -> bool {
        self.message.get(column) == *value
    }

    /// Whether one of the addresses it goes to has a part, which is in lower case.
    pub(crate) fn goes_to(&self, part: &str) -> Result<bool, Refusal> {
        let address = |row: &RowView<t::message_recipient>| {
            row.get(c::address).as_text().is_some_and(|address| contains(address, part))
        };
        Ok(self.rows(t::message_recipient)?.iter().any(address))
    }

    /// Whether it has a label of a name, in any case.
    pub(crate) fn is_labelled(&self, name: &str) -> Result<bool, Refusal> {
        for link in self.rows(t::message_label)? {
            if let Some(label) = link.get(c::label).as_ref_id()
                && self
                    .call
                    .row(t::label, label)?
                    .get(c::name)
                    .as_text()
                    .is_some_and(|label| label.eq_ignore_ascii_case(name))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether something is attached.
    pub(crate) fn has_attachment(&self) -> Result<bool, Refusal> {
        Ok(!self.rows(t::attachment)?.is_empty())
    }

    /// Its size in bytes.
    pub(crate) fn size(&self) -> i64 {
        if let Value::Int(size) = self.message.get(c::size_bytes) { size } else { 0 }
    }

    /// When it was sent.
    pub(crate) fn sent_on(&self) -> DateTime {
        if let Value::DateTime(at) = self.message.get(c::sent_on) { at } else { DateTime(0) }
    }
}

/// Whether a text has a part, in any case. The part is in lower case.
fn contains(text: &str, part: &str) -> bool {
    // Plain letters need no copy.
    if text.is_ascii() && part.is_ascii() {
        let (text, part) = (text.as_bytes(), part.as_bytes());
        return part.is_empty() || text.windows(part.len()).any(|piece| piece.eq_ignore_ascii_case(part));
    }
    text.to_lowercase().contains(part)
}
