//! Every cell that the oracle wrote, and every other cell of the rows it touched, changed by itself to another legal value: the verdict
//! falls, or the plan declares the cell free or stamped, or has slack on that side. So a document of the job is judged whole, and not only
//! in the fields that somebody thought of.
//!
//! What falls on another day must stand at any hour of its own.
//!
//! What is said to be stamped is held to it: no tool may take that field. A field that a condition of the frame holds, or that a rule's
//! sentence leaves open and rules read, is open within bounds: of the values that are tried, one must be refused.

use crate::{
    Finding, Held, Subject,
    freedom::{Freedom, Freedoms, slack_note, void_note},
    values::{Ground, place, shown},
};
use benchwright_base::{FieldId, RowId, TableId, Value, date::DAY};
use benchwright_calls::offered::ids_of;
use benchwright_grade::{Grader, SnapshotRecords};
use benchwright_pack::{Change, Diff, Snapshot};
use benchwright_schema::{arguments_schema, codec};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match all(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn all(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let state = subject.done()?.snapshot();
    subject.must_stand(&grader.grade(&state).map_err(|error| error.to_string())?)?;
    let changed = Diff::between(&subject.first, &state);
    let mut cells = Cells {
        subject,
        grader,
        ground: Ground::of(subject),
        freedoms: Freedoms::of(subject),
        state,
        counts: BTreeMap::new(),
        notes: BTreeSet::new(),
        holes: BTreeMap::new(),
        stamped: BTreeMap::new(),
        read: read(subject),
    };
    for (table, row, change) in &changed.changes {
        if matches!(change, Change::Removed(_)) {
            continue;
        }
        let Some(at) = place(&cells.state, *table, *row) else { continue };
        for field in 1..subject.domain.table(*table).fields.len() {
            cells.cell(*table, at, field)?;
        }
    }
    let mut faults: Vec<String> = cells.holes.values().map(|(first, count)| told(first, *count)).collect();
    faults.extend(stamps(subject, &cells.stamped)?);
    let mut finding = Finding::of(&faults);
    finding.notes = cells.notes.into_iter().chain(faults.into_iter().skip(1)).collect();
    for (name, count) in cells.counts {
        finding = finding.count(name, count);
    }
    Ok(finding)
}

/// A hole by its first example.
fn told(first: &str, count: usize) -> String {
    if count == 1 { first.to_owned() } else { format!("{first}; {} more like it", count - 1) }
}

struct Cells<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    ground: Ground<'s>,
    freedoms: Freedoms<'s>,
    /// What the oracle leaves; a cell at a time is changed and put back.
    state: Snapshot,
    counts: BTreeMap<&'static str, usize>,
    notes: BTreeSet<String>,
    /// What stood although it should not have, by table and field: the first of it, and how often.
    holes: BTreeMap<(TableId, usize), (String, usize)>,
    /// A row and another value of each stamped field that nothing holds.
    stamped: BTreeMap<(TableId, usize), (RowId, Value)>,
    /// The fields that views read.
    read: BTreeSet<(TableId, usize)>,
}

impl<'s> Cells<'s, '_> {
    /// Changes a cell to each of its other values.
    fn cell(&mut self, table: TableId, at: usize, field: usize) -> Result<(), String> {
        let values = self.ground.others(&self.state, table, at, field);
        if values.is_empty() {
            return Ok(());
        }
        let declared = self.subject.domain.table(table);
        let (name, column) = (&*declared.name, &declared.fields[field]);
        *self.counts.entry("cells").or_default() += 1;
        let row = id(&self.state.tables[table.index()].rows[at]);
        let was_void = self.void(table, row).is_some();
        let (mut stood, mut refused, mut void, mut slack) = (Vec::new(), 0, None, false);
        for value in values {
            *self.counts.entry("values").or_default() += 1;
            let old = std::mem::replace(&mut self.state.tables[table.index()].rows[at][field], value);
            let verdict = self.grader.grade(&self.state).map_err(|error| error.to_string());
            let is_void = self.void(table, row).filter(|_| was_void);
            let value = std::mem::replace(&mut self.state.tables[table.index()].rows[at][field], old);
            if self.subject.fell(&verdict?) {
                refused += 1;
            } else if is_void.is_some() {
                void = is_void;
            } else if self
                .freedoms
                .slack(name, &column.name, &self.state.tables[table.index()].rows[at][field], &value)
                .is_some()
            {
                slack = true;
            } else {
                stood.push(value);
            }
        }
        let Some(first) = stood.first() else {
            if let Some(why) = void {
                self.notes.insert(void_note(name, why));
            }
            if slack {
                self.notes.insert(slack_note(name, &column.name));
            }
            let counted = if void.is_some() {
                "void"
            } else if slack {
                "slack"
            } else {
                "fell"
            };
            *self.counts.entry(counted).or_default() += 1;
            return self.whole_day(table, at, field);
        };
        let freedom = self.freedoms.field(name, &column.name);
        // What a condition or a rule bounds has a value that is refused.
        let is_read = self.read.contains(&(table, field));
        let unbounded = match &freedom {
            Some(Freedom::Told(rule)) if refused == 0 && is_read => Some(*rule),
            Some(Freedom::Held(condition)) if refused == 0 => Some(*condition),
            _ => None,
        };
        match &freedom {
            Some(Freedom::Stamped) => {
                *self.counts.entry("stamped").or_default() += 1;
                let row = id(&self.state.tables[table.index()].rows[at]);
                self.stamped.entry((table, field)).or_insert_with(|| (row, first.clone()));
            }
            Some(_) if unbounded.is_some() => {
                let by = unbounded.unwrap_or_default();
                let row = &self.state.tables[table.index()].rows[at];
                let what = format!("{name} {}: {} is left open by `{by}`, and nothing bounds it", id(row), column.name);
                self.hole(table, field, what);
            }
            Some(freedom) => {
                *self.counts.entry("free").or_default() += 1;
                self.notes.insert(freedom.note(name, &column.name));
            }
            None => {
                let row = &self.state.tables[table.index()].rows[at];
                let show = |value: &Value| codec::show_value(&self.subject.domain, column.ty, value);
                let (old, new) = (show(&row[field]), show(first));
                let what = format!("{name} {}: {} may be {new} for {old}", id(row), column.name);
                self.hole(table, field, what);
            }
        }
        Ok(())
    }

    /// A day is a day: what the oracle wrote, a view reads, and falls on another day stands at any hour of its own.
    fn whole_day(&mut self, table: TableId, at: usize, field: usize) -> Result<(), String> {
        let row = &self.state.tables[table.index()].rows[at];
        let Value::DateTime(instant) = row[field] else { return Ok(()) };
        let first = &self.subject.first;
        let was = place(first, table, id(row)).map(|at| &first.tables[table.index()].rows[at][field]);
        if was == Some(&row[field]) || !self.read.contains(&(table, field)) {
            return Ok(());
        }
        let midnight = instant.date().midnight();
        for hour in [Some(midnight), midnight.add_seconds(DAY - 1)].into_iter().flatten() {
            let cell = &mut self.state.tables[table.index()].rows[at][field];
            let old = std::mem::replace(cell, Value::DateTime(hour));
            let verdict = self.grader.grade(&self.state).map_err(|error| error.to_string());
            self.state.tables[table.index()].rows[at][field] = old;
            if self.subject.fell(&verdict?) {
                let declared = self.subject.domain.table(table);
                let row = id(&self.state.tables[table.index()].rows[at]);
                let column = &declared.fields[field];
                let shown = codec::show_value(&self.subject.domain, column.ty, &Value::DateTime(hour));
                let what = format!("{} {row}: {} at {shown} is read as another day", declared.name, column.name);
                self.hole(table, field, what);
            }
        }
        *self.counts.entry("hours").or_default() += 1;
        Ok(())
    }

    /// Why a row promises nothing, if it does not.
    fn void(&self, table: TableId, row: RowId) -> Option<&'s str> {
        self.freedoms.void(&SnapshotRecords(&self.state), self.state.now, table, row)
    }

    fn hole(&mut self, table: TableId, field: usize, what: String) {
        *self.counts.entry("holes").or_default() += 1;
        self.holes.entry((table, field)).or_insert((what, 0)).1 += 1;
    }
}

/// The fields that views read.
fn read(subject: &Subject<'_>) -> BTreeSet<(TableId, usize)> {
    let mut found = BTreeSet::new();
    let mut note = |table: TableId, field: FieldId| _ = found.insert((table, field.index()));
    for view in &subject.plan.views {
        view.only.iter().for_each(|only| only.reads(&mut note));
        view.fields.iter().for_each(|field| field.reads.reads(&mut note));
    }
    found
}

fn id(row: &[Value]) -> RowId {
    row[0].as_ref_id().unwrap_or_default()
}

/// Tries to write what is said to be stamped, by every tool that writes rows of its table. Faults where one takes it.
fn stamps(subject: &Subject<'_>, stamped: &BTreeMap<(TableId, usize), (RowId, Value)>) -> Result<Vec<String>, String> {
    let done = subject.done()?;
    let mut faults = Vec::new();
    for ((table, field), (row, value)) in stamped {
        let declared = subject.domain.table(*table);
        let column = &declared.fields[*field];
        for tool in subject.domain.tools.iter().filter(|tool| !tool.reads_only()) {
            let schema = arguments_schema(&subject.domain, tool);
            let is_about = ids_of(&schema) == Some(&*declared.name) || tool.table == Some(*table);
            let value = shown(&subject.domain, column.ty, value);
            let arguments = match ids_of(&schema) {
                Some(_) => json!({ "ids": [row], "vals": { column.name.as_str(): value } }),
                None => json!({ "id": row, column.name.as_str(): value }),
            };
            if is_about && done.fork().call(&tool.name, &arguments.to_string()).is_ok() {
                faults.push(format!(
                    "{}.{} is said to be stamped, and `{}` takes it",
                    declared.name, column.name, tool.name
                ));
            }
        }
    }
    Ok(faults)
}
