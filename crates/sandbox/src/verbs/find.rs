//! `find`: rows by filters, sorted, in pages.

use crate::{
    answer::{LARGEST_ANSWER, LARGEST_PAGE, USUAL_PAGE, write_row},
    call::Call,
    compiled::Part,
    row::Row,
    state::State,
};
use benchwright_base::{FieldId, Json, RowId, Value, json, nearest};
use benchwright_expr::Type;
use benchwright_pack::Refusal;
use benchwright_schema::codec;
use std::{cmp::Ordering, ops::ControlFlow};

pub(crate) fn find(call: &Call<'_>, state: &State, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let page = Page::read(call)?;
    let tests = call.tests()?;
    let mut rows: Vec<&Row> = Vec::with_capacity(16);
    let from = page.first_id();
    call.visible(state, &tests, from, &mut |row| {
        rows.push(row);
        // In order of id, the page is full once there is one row more than it takes.
        if page.by_id() && rows.len() > page.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if !page.by_id() {
        rows.retain(|row| page.is_after_cursor(row));
        rows.sort_by(|a, b| page.order(a, b));
    }
    out.extend_from_slice(b"{\"rows\":[");
    let mut written: usize = 0;
    for row in rows.iter().take(page.limit) {
        if written > 0 {
            out.push(b',');
        }
        write_row(out, &call.actor, state, call.table, row, &call.tool.show);
        written += 1;
        // A page of large rows ends early; the cursor goes on after what was written, not after what was asked for.
        if out.len() > LARGEST_ANSWER {
            break;
        }
    }
    out.extend_from_slice(b"],\"next_cursor\":");
    match rows.get(written.saturating_sub(1)) {
        Some(last) if written < rows.len() => json::write_text(out, &page.cursor_after(call, last)),
        _ => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
    Ok(())
}

/// How the rows are sorted and where the page begins.
struct Page {
    field: FieldId,
    descending: bool,
    limit: usize,
    /// The last row of the page before: its id, and the value it was sorted by.
    after: Option<(RowId, Value)>,
}

impl Page {
    fn read(call: &Call<'_>) -> Result<Page, Refusal> {
        let declared = call.compiled().domain.table(call.table);
        let mut page = Page { field: FieldId::ID, descending: false, limit: USUAL_PAGE as usize, after: None };
        if let Some((name, json)) = call.given.part(call.compiled_tool, Part::Sort) {
            let Json::Text(sort) = json else {
                return Err(Refusal::argument(name, format!("wants the name of a field, got {}", json.kind())));
            };
            let (field, descending) = match sort.strip_prefix('-') {
                Some(field) => (field, true),
                None => (&**sort, false),
            };
            let Some(id) = declared.field_named(field) else {
                let near = nearest(field, declared.fields.iter().map(|f| &*f.name));
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                return Err(Refusal::argument(
                    name,
                    format!("wants a field of {}, not `{field}`{near}", declared.name),
                ));
            };
            // Sorting by what is hidden would tell it.
            if declared.field(id).secret {
                return Err(Refusal::argument(name, format!("wants a field that is not secret, not `{field}`")));
            }
            (page.field, page.descending) = (id, descending);
        }
        if let Some((name, json)) = call.given.part(call.compiled_tool, Part::Limit) {
            match json {
                Json::Int(n) if (1..=LARGEST_PAGE).contains(n) => page.limit = *n as usize,
                _ => return Err(Refusal::argument(name, format!("wants a whole number from 1 to {LARGEST_PAGE}"))),
            }
        }
        if let Some((name, json)) = call.given.part(call.compiled_tool, Part::Cursor) {
            let read = match json {
                Json::Null => Some(None),
                Json::Text(cursor) => page.read_cursor(call, cursor).map(Some),
                _ => None,
            };
            page.after = read.ok_or_else(|| {
                Refusal::argument(
                    name,
                    "is not a cursor that this tool gave with this sort; leave it out to begin again",
                )
            })?;
        }
        Ok(page)
    }

    fn by_id(&self) -> bool {
        self.field == FieldId::ID && !self.descending
    }

    /// The smallest id that can be on the page.
    fn first_id(&self) -> RowId {
        match &self.after {
            Some((id, _)) if self.by_id() => id.saturating_add(1),
            _ => 0,
        }
    }

    fn order(&self, a: &Row, b: &Row) -> Ordering {
        let by_value = a.get(self.field).cmp(b.get(self.field));
        let by_value = if self.descending { by_value.reverse() } else { by_value };
        by_value.then(a.id().cmp(&b.id()))
    }

    fn is_after_cursor(&self, row: &Row) -> bool {
        let Some((id, value)) = &self.after else { return true };
        let by_value = row.get(self.field).cmp(value);
        let by_value = if self.descending { by_value.reverse() } else { by_value };
        by_value.then(row.id().cmp(id)) == Ordering::Greater
    }

    /// A cursor names the sort, the last row and, unless that is its id, the value it was sorted by: the page after it is
    /// the same whatever was written in between.
    fn cursor_after(&self, call: &Call<'_>, last: &Row) -> String {
        let mut cursor = format!("{}{}", if self.descending { "-" } else { "" }, self.name(call));
        cursor.push_str(&format!(":{}", last.id()));
        if self.field != FieldId::ID {
            let ty = self.ty(call);
            let mut value = Vec::new();
            codec::write_value(&mut value, &call.compiled().domain, ty, last.get(self.field));
            cursor.push(':');
            cursor.push_str(&String::from_utf8_lossy(&value));
        }
        cursor
    }

    fn read_cursor(&self, call: &Call<'_>, cursor: &str) -> Option<(RowId, Value)> {
        let sort = format!("{}{}:", if self.descending { "-" } else { "" }, self.name(call));
        let rest = cursor.strip_prefix(&*sort)?;
        if self.field == FieldId::ID {
            let id: RowId = rest.parse().ok()?;
            return Some((id, Value::Ref(id)));
        }
        let (id, value) = rest.split_once(':')?;
        let json = Json::parse(value).ok()?;
        Some((id.parse().ok()?, codec::read_value(&call.compiled().domain, self.ty(call), &json).ok()?))
    }

    fn name<'a>(&self, call: &Call<'a>) -> &'a str {
        &call.compiled().domain.table(call.table).field(self.field).name
    }

    fn ty(&self, call: &Call<'_>) -> Type {
        call.compiled().domain.table(call.table).field(self.field).ty
    }
}
