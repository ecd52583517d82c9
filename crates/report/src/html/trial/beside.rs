//! Records before and after, and a plan beside the certified one.

use super::{Changed, MOST, PlanRows, What};
use crate::html::{Cell, Table};
use maud::{Markup, Render as _, html};
use std::collections::BTreeMap;

/// The most fields of a table of new records.
const MOST_FIELDS: usize = 24;

/// The rows of a plan, kind by kind: those that the certified plan has too first, then those that only one of them has.
pub(super) fn plans(plans: &[PlanRows]) -> Markup {
    let table = |plan: &PlanRows| {
        let mut left: Vec<&Vec<String>> = plan.certified.iter().collect();
        let (mut both, mut only_found): (Vec<&Vec<String>>, Vec<&Vec<String>>) = (Vec::new(), Vec::new());
        for row in &plan.found {
            match left.iter().position(|known| *known == row) {
                Some(at) => both.push(left.remove(at)),
                None => only_found.push(row),
            }
        }
        let told = |what: &'static str| {
            move |row: &&Vec<String>| {
                let first = Cell::Marked(what);
                std::iter::once(first).chain(row.iter().map(|cell| Cell::Left(cell.clone()))).collect()
            }
        };
        let caption = format!(
            "{}: {} as certified, {} only of the agent, {} only certified",
            plan.view,
            both.len(),
            only_found.len(),
            left.len()
        );
        let rows = only_found.iter().map(told("agent")).chain(left.iter().map(told("certified")));
        let rows = rows.chain(both.iter().map(told("both"))).take(MOST).collect();
        let names = std::iter::once("in".to_owned()).chain(plan.fields.iter().cloned()).collect();
        Table::new(caption, names, rows)
    };
    html! {
        p class="soft" { "Another plan may be as good as the certified one; what counts is its value and that it keeps every rule." } "\n"
        @for plan in plans { (table(plan)) }
    }
}

/// The records that are not as they were, table by table.
pub(super) fn changes(changes: &[Changed]) -> Markup {
    if changes.is_empty() {
        return html! { p { "Nothing." } };
    }
    let mut tables: BTreeMap<(&str, What), Vec<&Changed>> = BTreeMap::new();
    for change in changes {
        tables.entry((&change.table, change.what)).or_default().push(change);
    }
    html! {
        @for ((table, what), changes) in &tables {
            @match what {
                What::Changed => (changed(table, changes)),
                What::Added => (whole(&format!("{table}: {} new", changes.len()), changes, true)),
                What::Removed => (whole(&format!("{table}: {} removed", changes.len()), changes, false)),
            }
        }
    }
}

/// Fields before and after.
fn changed(table: &str, changes: &[&Changed]) -> Markup {
    let row = |change: &&Changed| {
        let cell = |(field, before, after): &(String, String, String)| {
            vec![
                Cell::Text(change.record.clone()),
                Cell::Left(field.clone()),
                Cell::Long(before.clone()),
                Cell::Long(after.clone()),
            ]
        };
        change.cells.iter().map(cell).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<Cell>> = changes.iter().flat_map(row).take(MOST).collect();
    let names = ["record", "field", "before", "after"].map(str::to_owned);
    Table::new(format!("{table}: {} changed", changes.len()), names.into(), rows).render()
}

/// Records that are new or gone, with the fields that any of them has.
fn whole(caption: &str, changes: &[&Changed], is_new: bool) -> Markup {
    let mut fields: Vec<&str> = Vec::new();
    for (field, ..) in changes.iter().flat_map(|change| &change.cells) {
        if !fields.contains(&&**field) {
            fields.push(field);
        }
    }
    fields.truncate(MOST_FIELDS);
    let row = |change: &&Changed| {
        let cell = |field: &&str| {
            let found = change.cells.iter().find(|(name, ..)| name == field);
            Cell::Left(
                found.map(|(_, before, after)| if is_new { after.clone() } else { before.clone() }).unwrap_or_default(),
            )
        };
        std::iter::once(Cell::Text(change.record.clone())).chain(fields.iter().map(cell)).collect()
    };
    let names = std::iter::once("record").chain(fields.iter().copied()).map(str::to_owned).collect();
    Table::new(caption, names, changes.iter().take(MOST).map(row).collect()).render()
}
