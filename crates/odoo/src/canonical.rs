//! Compares two terminal states of one task, whichever engine made them: rows of the first state by their ids, later ones
//! by the order in which they were made, documents by their place and not by their number.

use benchwright_base::{RowId, Value, date::DAY};
use benchwright_expr::Type;
use benchwright_pack::Snapshot;
use benchwright_schema::{Domain, Stamp, Table, codec};
use std::collections::BTreeMap;

use crate::{reading::UNREAD, world::day_of};

/// A cell or a row that differs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Difference {
    /// The table in which the two states differ.
    pub table: String,
    /// The row: its id in the first state, or `new N`.
    pub row: String,
    /// The field; `(row)` where only one side has the row.
    pub field: String,
    /// What one side has.
    pub left: String,
    /// What the other has.
    pub right: String,
}

/// Everything in which two states differ, but for what `skip` passes over.
pub fn compare(
    domain: &Domain,
    first: &Snapshot,
    left: &Snapshot,
    right: &Snapshot,
    skip: &dyn Fn(&Difference) -> bool,
) -> Vec<Difference> {
    let (left, right) = (Canonical::of(domain, first, left), Canonical::of(domain, first, right));
    let mut found = Vec::new();
    for (at, table) in domain.tables.iter().enumerate().filter(|(_, table)| !UNREAD.contains(&&*table.name)) {
        let (a, b) = (&left.tables[at], &right.tables[at]);
        let next = first.tables[at].next_id;
        let ids: std::collections::BTreeSet<RowId> = a.keys().chain(b.keys()).copied().collect();
        for id in ids {
            let row = if id < next { id.to_string() } else { format!("new {}", id - next + 1) };
            let difference = |field: &str, left: String, right: String| Difference {
                table: table.name.clone(),
                row: row.clone(),
                field: field.to_owned(),
                left,
                right,
            };
            match (a.get(&id), b.get(&id)) {
                (Some(x), Some(y)) => {
                    for (field, (x, y)) in table.fields.iter().zip(x.iter().zip(y)).skip(1) {
                        if x != y && !is_clock(field) && !(may_be_stamped(&field.name) && both_now(first, x, y)) {
                            let show = |value| codec::show_value(domain, field.ty, value);
                            found.push(difference(&field.name, show(x), show(y)));
                        }
                    }
                }
                (x, y) => {
                    let show = |row: Option<&Vec<Value>>| {
                        row.map_or("nothing".to_owned(), |cells| brief(domain, table, cells))
                    };
                    found.push(difference("(row)", show(x), show(y)));
                }
            }
        }
    }
    found.retain(|difference| !skip(difference));
    found
}

/// Whether a note was written by somebody, not by the system.
fn is_comment(domain: &Domain, table: &Table, cells: &[Value]) -> bool {
    table
        .field_named("message_type")
        .is_none_or(|field| codec::show_value(domain, table.field(field).ty, &cells[field.index()]) == "comment")
}

fn brief(domain: &Domain, table: &Table, cells: &[Value]) -> String {
    let said = table.fields.iter().zip(cells).skip(1).filter(|(field, value)| !value.is_null() && !is_clock(field));
    let said: Vec<String> =
        said.map(|(field, value)| format!("{}={}", field.name, codec::show_value(domain, field.ty, value))).collect();
    said.join(" ")
}

/// Dates that no engine takes from its clock: only calls set them.
fn may_be_stamped(field: &str) -> bool {
    !matches!(field, "commitment_date" | "date_deadline")
}

/// Whether both values are their engine's own present, or so many days from it as terms and offers add: on the same day, at the time of
/// day that the world began with or within the hour after it, because only one of the two clocks moves with the calls.
fn both_now(first: &Snapshot, left: &Value, right: &Value) -> bool {
    let here = first.now.date().0;
    let days = |value: &Value| day_of(value).map(|day| day - here).filter(|days| (0..=60).contains(days));
    let is_now = |value: &Value| match (value, days(value)) {
        (Value::DateTime(instant), Some(days)) => {
            (0..3_600).contains(&(instant.0 - first.now.0 - i64::from(days) * DAY))
        }
        _ => false,
    };
    days(left) == days(right) && is_now(left) && is_now(right)
}

/// Whether a field says only when its row was made.
fn is_clock(field: &benchwright_schema::Field) -> bool {
    matches!(field.stamp, Some(Stamp::OnCreate | Stamp::OnWrite))
}

struct Canonical {
    tables: Vec<BTreeMap<RowId, Vec<Value>>>,
}

impl Canonical {
    fn of(domain: &Domain, first: &Snapshot, state: &Snapshot) -> Canonical {
        let mut places: Vec<BTreeMap<RowId, RowId>> = vec![BTreeMap::new(); domain.tables.len()];
        for at in owners_first(domain) {
            let next = first.tables[at].next_id;
            let table = &domain.tables[at];
            let mut fresh: Vec<(Vec<Value>, RowId)> = Vec::new();
            let said = |cells: &&Vec<Value>| table.name != "mail_message" || is_comment(domain, table, cells);
            for cells in state.tables[at].rows.iter().filter(said) {
                let Some(id) = cells[0].as_ref_id() else { continue };
                if id < next {
                    places[at].insert(id, id);
                    continue;
                }
                fresh.push((sort_key(table, cells, &places), id));
            }
            // Engines number new rows in orders of their own; sorted by whom they belong to, equal states get equal numbers.
            fresh.sort();
            for (place, (_, id)) in fresh.into_iter().enumerate() {
                places[at].insert(id, next + place as RowId);
            }
        }
        let names = names(domain, first, state, &places);
        let mut tables = Vec::new();
        for (at, table) in domain.tables.iter().enumerate() {
            let mut rows = BTreeMap::new();
            for cells in &state.tables[at].rows {
                let Some(id) = cells[0].as_ref_id() else { continue };
                let cells: Vec<Value> = table
                    .fields
                    .iter()
                    .zip(cells)
                    .map(|(field, value)| match (field.ty, value) {
                        (Type::Ref(to), Value::Ref(of)) => {
                            places[to.index()].get(of).map_or(Value::Null, |place| Value::Ref(*place))
                        }
                        (_, Value::Text(text)) => Value::text(renamed(text, &names)),
                        _ => value.clone(),
                    })
                    .collect();
                rows.insert(places[at].get(&id).copied().unwrap_or(id), cells);
            }
            tables.push(rows);
        }
        Canonical { tables }
    }
}

/// The tables, each after those that its rows belong to.
fn owners_first(domain: &Domain) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < domain.tables.len() {
        let before = order.len();
        for (at, table) in domain.tables.iter().enumerate() {
            let ready = |field: &benchwright_schema::Field| match field.ty {
                Type::Ref(to) if field.owned => to.index() == at || order.contains(&to.index()),
                _ => true,
            };
            if !order.contains(&at) && table.fields.iter().all(ready) {
                order.push(at);
            }
        }
        if order.len() == before {
            // A ring of owners: take the rest as they stand.
            order.extend((0..domain.tables.len()).filter(|at| !order.contains(at)).collect::<Vec<_>>());
        }
    }
    order
}

/// Rows that belong to others are told apart by whom they belong to and what they are about; others by when they were made.
fn sort_key(table: &Table, cells: &[Value], places: &[BTreeMap<RowId, RowId>]) -> Vec<Value> {
    let place = |field: &benchwright_schema::Field, value: &Value| match (field.ty, value) {
        (Type::Ref(to), Value::Ref(of)) => places[to.index()].get(of).map_or(Value::Null, |place| Value::Ref(*place)),
        _ => value.clone(),
    };
    let owned = table.fields.iter().zip(cells).filter(|(field, _)| field.owned);
    let mut key: Vec<Value> = owned.map(|(field, value)| place(field, value)).collect();
    // A line is told by its order alone; a move that the system makes, by what is moved.
    if matches!(&*table.name, "stock_move" | "mrp_workorder") {
        let about = ["product_id", "operation_id"];
        let about = table.fields.iter().zip(cells).filter(|(field, _)| about.contains(&&*field.name));
        key.extend(about.map(|(field, value)| place(field, value)));
    }
    key
}

/// What documents made later are called: their table and place.
fn names(
    domain: &Domain,
    first: &Snapshot,
    state: &Snapshot,
    places: &[BTreeMap<RowId, RowId>],
) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (at, table) in domain.tables.iter().enumerate() {
        if !matches!(
            &*table.name,
            "sale_order" | "purchase_order" | "mrp_production" | "stock_picking" | "account_move"
        ) {
            continue;
        }
        let Some(name) = table.field_named("name") else { continue };
        for cells in &state.tables[at].rows {
            let (Some(id), Some(text)) = (cells[0].as_ref_id(), cells[name.index()].as_text()) else { continue };
            let was =
                first.tables[at].rows.iter().find(|row| row[0] == cells[0]).and_then(|row| row[name.index()].as_text());
            if was != Some(text) && !text.is_empty() {
                let place = places[at].get(&id).copied().unwrap_or(id);
                names.insert(text.to_owned(), format!("<{} {place}>", table.name));
            }
        }
    }
    names
}

/// A text with the names of new documents replaced, where it is one or a list of them.
fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let tokens: Vec<&str> = text.split(", ").collect();
    if !tokens.iter().any(|token| names.contains_key(*token)) {
        return text.to_owned();
    }
    let new: Vec<&str> = tokens.iter().map(|token| names.get(*token).map_or(*token, |name| name)).collect();
    new.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_base::{Date, DateTime};

    fn at(date: &str) -> Value {
        Value::DateTime(Date::parse(date).map(Date::midnight).unwrap_or(DateTime(0)))
    }

    #[test]
    fn line_11_what_a_clock_stamped_is_passed_over_and_nothing_else() {
        let now = Date::parse("2032-03-01").map(Date::midnight).unwrap_or(DateTime(0));
        let first = Snapshot {
            domain: String::new(),
            domain_digest: benchwright_base::Digest([0; 32]),
            first: None,
            now,
            tables: Vec::new(),
        };
        let later = |seconds| Value::DateTime(DateTime(now.0 + seconds));
        assert!(both_now(&first, &at("2032-03-01"), &later(7)));
        assert!(both_now(&first, &at("2032-03-31"), &later(30 * DAY + 7)));
        assert!(!both_now(&first, &at("2032-03-01"), &later(4 * 3_600)));
        assert!(!both_now(&first, &at("2032-03-01"), &at("2032-03-02")));
        assert!(!both_now(&first, &at("2026-11-15"), &at("2032-03-01")));
        assert!(!both_now(&first, &at("2032-03-01"), &Value::Null));
        assert!(may_be_stamped("date_order"));
        assert!(!may_be_stamped("commitment_date") && !may_be_stamped("date_deadline"));
    }

    #[test]
    fn line_12_documents_are_compared_by_their_place_and_not_by_their_number() {
        let names = BTreeMap::from([("WH/MO/00002".to_owned(), "<mrp_production 1>".to_owned())]);
        assert_eq!(renamed("S00001, WH/MO/00002", &names), "S00001, <mrp_production 1>");
        // A number that no document has is a text like any other.
        assert_eq!(renamed("WH/MO/00001", &names), "WH/MO/00001");
    }

    #[test]
    fn line_10_dialogs_and_rules_of_routes_are_all_that_is_not_read() {
        assert_eq!(UNREAD, ["sale_advance_payment_inv", "sale_advance_payment_order", "stock_rule"]);
    }
}
