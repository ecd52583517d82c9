//! What the calls leave, cell by cell: each difference is some clause's, some way's or the world's own doing in one of their calls, and
//! each clause makes a difference. From this the expectation is made, never from the scenario's file.

use crate::{
    calls::{Write, cell_of, to_json},
    demand::{Deed, DeedAct, Origin, WantedCell, called},
    eval::Eye,
    throw,
};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::{
    Change, Script,
    effects::{CheckKind, ExpectedCell, ExpectedRow, Prose, ProseSlot, SlotFact, Target},
};
use benchwright_project::Discard;
use benchwright_sandbox::{Episode, Scratch};
use benchwright_schema::{
    Domain, Field, Stamp,
    ways::{Form, Said, Shows, Wanted},
};
use benchwright_spec::scenario::Clause;
use benchwright_world::{ReplayError, seen};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a field is compared at all.
pub(crate) fn is_compared(field: &Field) -> bool {
    !field.log && matches!(field.stamp, None | Some(Stamp::Keep))
}

/// Which call changed what: a cell of a row, a new row, a row that went.
#[derive(Default)]
pub(crate) struct Blame {
    cells: BTreeMap<(TableId, RowId, FieldId), usize>,
    made: BTreeMap<(TableId, RowId), usize>,
    gone: BTreeMap<(TableId, RowId), usize>,
    /// How many calls were made.
    pub(crate) calls: usize,
    /// How many of them only read.
    pub(crate) reads: usize,
}

/// Plays a script and notes after each call what it changed. The numbers are those of its steps.
pub(crate) fn play(script: &Script, episode: &mut Episode) -> Result<Blame, ReplayError> {
    let domain = episode.domain().clone();
    let mut blame = Blame::default();
    let mut known = seen::Seen::new(&domain, episode.now());
    for fact in &script.given {
        known.give(&fact.name, &fact.ty, &fact.value);
    }
    for (at, step) in script.steps.iter().enumerate() {
        let before = episode.fork();
        let mut calls = 0;
        let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
        seen::step_with(&mut known, at, step, &mut call, &mut |_, _, _| calls += 1)?;
        blame.calls += calls;
        let reads = domain.tool_named(&step.tool()).is_some_and(|tool| domain.tools[tool].reads_only());
        blame.reads += if reads { calls } else { 0 };
        for (table, row, change) in episode.diff_from(&before).changes {
            match change {
                Change::Added(_) => {
                    blame.made.insert((table, row), at);
                }
                Change::Removed(_) => {
                    if blame.made.remove(&(table, row)).is_none() {
                        blame.gone.insert((table, row), at);
                    }
                }
                Change::Changed(fields) => {
                    for field in fields {
                        blame.cells.insert((table, row, field.field), at);
                    }
                }
            }
        }
    }
    Ok(blame)
}

/// What the expectation is made from.
pub(crate) struct Outcome<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) clauses: &'a [Clause],
    pub(crate) deeds: &'a [Deed],
    pub(crate) writes: &'a [Write],
    /// The write that a step of the script is for: the first, and how many it goes over.
    pub(crate) steps: &'a BTreeMap<usize, (usize, usize)>,
    pub(crate) first: &'a Scratch,
    pub(crate) demanded: &'a Scratch,
    pub(crate) bound: &'a [benchwright_world::seen::Known],
    pub(crate) episode: &'a Episode,
    pub(crate) blame: &'a Blame,
}

impl Outcome<'_> {
    /// The rows as they must be, in the order of clauses and ways.
    pub(crate) fn expected(&self) -> Result<Vec<ExpectedRow>, Discard> {
        let made = self.made()?;
        let mut rows: Vec<(usize, ExpectedRow)> = Vec::new();
        let diff = self.episode.diff();
        for (table, row, change) in &diff.changes {
            let declared = self.domain.table(*table);
            if declared.log || declared.once {
                continue;
            }
            match change {
                Change::Added(cells) => {
                    let Some(step) = self.blame.made.get(&(*table, *row)) else { continue };
                    rows.push((*step, self.new_row(*table, *row, cells, *step, &made)?));
                }
                Change::Removed(cells) => {
                    let Some(step) = self.blame.gone.get(&(*table, *row)) else { continue };
                    let (of, kind) = self.named(*step, None)?;
                    let at = called(self.domain, *table, cells);
                    rows.push((
                        *step,
                        ExpectedRow {
                            of,
                            kind,
                            at,
                            table: declared.name.clone(),
                            row: Target::Gone(*row),
                            name: None,
                            cells: BTreeMap::new(),
                        },
                    ));
                }
                Change::Changed(fields) => {
                    let mut by_step: BTreeMap<usize, Vec<FieldId>> = BTreeMap::new();
                    for field in fields.iter().filter(|field| is_compared(declared.field(field.field))) {
                        let step = self.blame.cells.get(&(*table, *row, field.field)).copied().unwrap_or_default();
                        by_step.entry(step).or_default().push(field.field);
                    }
                    for (step, fields) in by_step {
                        rows.push((step, self.changed_row(*table, *row, &fields, step, &made)?));
                    }
                }
            }
        }
        rows.sort_by_key(|(step, _)| *step);
        let rows: Vec<ExpectedRow> = rows.into_iter().map(|(_, row)| row).collect();
        self.hold(&rows)?;
        Ok(rows)
    }

    /// Every clause makes a difference, and what was demanded is what is there, cell by cell.
    fn hold(&self, rows: &[ExpectedRow]) -> Result<(), Discard> {
        let made = self.made()?;
        for (at, clause) in self.clauses.iter().enumerate() {
            let mut deeds = self.deeds.iter().filter(|deed| deed.origin == Origin::Clause(at)).peekable();
            // What a clause changes of a row that another makes is told with that row.
            let works = deeds.peek().is_some();
            let on_made = deeds.any(|deed| {
                let target = deed.target().and_then(|target| Some((target.0, *made.actual.get(&target)?)));
                let differs = |cell: &WantedCell| {
                    target.is_some_and(|(table, row)| self.blame.cells.contains_key(&(table, row, cell.field)))
                };
                matches!(deed.act, DeedAct::Change { .. }) && deed.cells().iter().any(differs)
            });
            if works && !on_made && !rows.iter().any(|row| row.of == clause.id) {
                return Err(throw(format!("the clause {} changes nothing", clause.id)));
            }
        }
        for deed in self.deeds {
            let Some((table, row)) = deed.target() else { continue };
            let actual = match self.first.row(table, row) {
                Some(_) => Some(row),
                None => made.actual.get(&(table, row)).copied(),
            };
            let Some(now) = actual.and_then(|actual| self.episode.rows(table).find(|known| known.id() == actual))
            else {
                continue;
            };
            for cell in deed.cells() {
                self.as_demanded(table, row, cell, now.get(cell.field), &made)?;
            }
        }
        Ok(())
    }

    /// A cell that was written is what was demanded of it; a later way may have moved it on, and then the demanded state says what it is.
    /// References to rows that are new have other ids there, and texts are worded by whoever writes.
    fn as_demanded(
        &self,
        table: TableId,
        row: RowId,
        cell: &WantedCell,
        now: &Value,
        made: &Made,
    ) -> Result<(), Discard> {
        let field = self.domain.table(table).field(cell.field);
        let Some(wanted) = self.demanded.row(table, row).map(|cells| &cells[cell.field.index()]) else { return Ok(()) };
        if matches!(cell.wanted, Wanted::Tell(_) | Wanted::Text(_)) || !is_compared(field) {
            return Ok(());
        }
        let wanted = match (field.ty, wanted) {
            (Type::Ref(to), Value::Ref(id)) => match made.actual.get(&(to, *id)) {
                Some(actual) => Value::Ref(*actual),
                None => wanted.clone(),
            },
            _ => wanted.clone(),
        };
        match wanted == *now {
            true => Ok(()),
            false => Err(throw(format!("the world makes something else of {}", field.name))),
        }
    }

    /// The row that was made for each that was demanded, by its id in the demanded state; and its name.
    fn made(&self) -> Result<Made, Discard> {
        let mut made = Made::default();
        for (step, (first, count)) in self.steps {
            let demanded: Vec<(TableId, RowId)> =
                self.writes[*first..first + count].iter().flat_map(|write| write.makes.iter().copied()).collect();
            let tables: BTreeSet<TableId> = demanded.iter().map(|(table, _)| *table).collect();
            for table in tables {
                // Rows of one table are made in the order in which they are asked for.
                let rows: BTreeSet<RowId> = self
                    .blame
                    .made
                    .iter()
                    .filter(|((t, _), at)| *t == table && *at == step)
                    .map(|((_, row), _)| *row)
                    .collect();
                let wanted: Vec<&(TableId, RowId)> = demanded.iter().filter(|(t, _)| *t == table).collect();
                if rows.len() < wanted.len() {
                    return Err(throw("a row was not made".to_owned()));
                }
                for (key, actual) in wanted.into_iter().zip(rows) {
                    let name = format!("new{}", made.names.len() + 1);
                    made.names.insert((table, actual), name);
                    made.actual.insert(*key, actual);
                }
            }
        }
        Ok(made)
    }

    /// The write behind a row that a step made or changed.
    fn deeds_of(&self, step: usize) -> impl Iterator<Item = &Deed> {
        let writes = self.steps.get(&step).map_or(&[][..], |(first, count)| &self.writes[*first..first + count]);
        writes.iter().flat_map(|write| &write.deeds).map(|at| &self.deeds[*at])
    }

    /// What a row that a step changed is called in checks: the clause or the rule.
    fn named(&self, step: usize, deed: Option<&Deed>) -> Result<(String, CheckKind), Discard> {
        let deed = deed.or_else(|| self.deeds_of(step).next());
        match deed.map(|deed| &deed.origin) {
            Some(Origin::Clause(at)) => Ok((self.clauses[*at].id.clone(), CheckKind::Completion)),
            Some(Origin::Way { rule, .. }) => Ok((self.domain.rules[*rule].id.clone(), CheckKind::Compliance)),
            None => Err(throw("a difference is nobody's".to_owned())),
        }
    }

    fn changed_row(
        &self,
        table: TableId,
        row: RowId,
        fields: &[FieldId],
        step: usize,
        made: &Made,
    ) -> Result<ExpectedRow, Discard> {
        let declared = self.domain.table(table);
        let deed = self.deeds_of(step).find(|deed| match &deed.act {
            DeedAct::Change { table: t, row: r, .. } => (*t, *r) == (table, row),
            _ => false,
        });
        let (of, kind) = self.named(step, deed)?;
        let mut cells = BTreeMap::new();
        let now = self.episode.rows(table).find(|known| known.id() == row);
        let now = now.map(|row| row.cells().to_vec()).unwrap_or_default();
        for field in fields {
            let wanted = deed.and_then(|deed| match &deed.act {
                DeedAct::Change { cells, .. } => {
                    cells.iter().find(|cell| cell.field == *field).map(|cell| (deed, cell))
                }
                _ => None,
            });
            let cell = self.cell(table, *field, &now[field.index()], wanted, made);
            cells.insert(declared.field(*field).name.clone(), cell);
        }
        let at = self.first.row(table, row).map_or_else(String::new, |cells| called(self.domain, table, cells));
        Ok(ExpectedRow { of, kind, at, table: declared.name.clone(), row: Target::Id(row), name: None, cells })
    }

    fn new_row(
        &self,
        table: TableId,
        row: RowId,
        cells: &[Value],
        step: usize,
        made: &Made,
    ) -> Result<ExpectedRow, Discard> {
        let declared = self.domain.table(table);
        let demanded = made.actual.iter().find(|((t, _), actual)| *t == table && **actual == row).map(|((_, d), _)| *d);
        let deed = self.deeds_of(step).find(|deed| match &deed.act {
            DeedAct::Make { table: t, row: r, .. } => *t == table && Some(*r) == demanded,
            _ => false,
        });
        let (of, kind) = self.named(step, deed)?;
        let mut expected = BTreeMap::new();
        for (at, field) in declared.fields.iter().enumerate().skip(1) {
            if !is_compared(field) {
                continue;
            }
            let id = FieldId(at as u16);
            let wanted = self.deeds_of(step).find_map(|deed| match &deed.act {
                DeedAct::Make { table: t, row: r, cells, .. } | DeedAct::Change { table: t, row: r, cells }
                    if *t == table && Some(*r) == demanded =>
                {
                    cells.iter().find(|cell| cell.field == id).map(|cell| (deed, cell))
                }
                _ => None,
            });
            let cell = match (wanted, field.prose) {
                (None, true) => ExpectedCell::Any,
                (wanted, _) => self.cell(table, id, &cells[at], wanted, made),
            };
            expected.insert(field.name.clone(), cell);
        }
        let name = made.names.get(&(table, row)).cloned();
        let at = format!("new {}", declared.own_name().replace('_', " "));
        Ok(ExpectedRow { of, kind, at, table: declared.name.clone(), row: Target::New, name, cells: expected })
    }

    /// What a cell must be: as it was left, or as loosely as it was asked for.
    fn cell(
        &self,
        table: TableId,
        field: FieldId,
        value: &Value,
        wanted: Option<(&Deed, &WantedCell)>,
        made: &Made,
    ) -> ExpectedCell {
        let declared = self.domain.table(table).field(field);
        if let (Type::Ref(to), Value::Ref(row)) = (declared.ty, value)
            && let Some(name) = made.names.get(&(to, *row))
        {
            return ExpectedCell::Made(name.clone());
        }
        if let Some((deed, cell)) = wanted {
            match &cell.wanted {
                Wanted::Tell(parts) => return ExpectedCell::Prose(self.prose(parts, deed, made)),
                Wanted::OneOf(list) if list.len() > 1 => {
                    let eye = Eye::of(self.demanded, deed.seen(self.bound));
                    let subject = deed.subject().and_then(|(table, row)| eye.row(table, row));
                    let it = deed.it.and_then(|(table, row)| eye.row(table, row));
                    let values = list.iter().map(|expr| match subject {
                        Some(subject) => eye.value_on(expr, subject, it),
                        None => eye.value(expr, it),
                    });
                    let values = values.map(|value| to_json(self.domain, declared.ty, &value));
                    return ExpectedCell::OneOf(values.collect());
                }
                _ => {}
            }
        }
        ExpectedCell::Is(to_json(self.domain, declared.ty, value))
    }

    fn prose(&self, parts: &[Said], deed: &Deed, made: &Made) -> Prose {
        let eye = Eye::of(self.demanded, deed.seen(self.bound));
        let subject = deed.subject().and_then(|(table, row)| eye.row(table, row));
        let it = deed.it.and_then(|(table, row)| eye.row(table, row));
        let mut slots = Vec::new();
        for part in parts {
            let Said::Slot { text, shows, ty, form, optional } = part else { continue };
            // Of several, each is to be mentioned, in whatever order and however they are strung together.
            if let (Shows::Each(slot, path), true) = (shows, *form != Form::Count) {
                for item in eye.items(*slot - usize::from(subject.is_some()), *ty, path) {
                    slots.push(ProseSlot { name: text.clone(), is: SlotFact::Text(item), optional: *optional });
                }
                continue;
            }
            let made_field = match shows {
                Shows::One(expr) => cell_of(expr, &eye, subject, it).and_then(|(table, row, field)| {
                    let actual = made.actual.get(&(table, row))?;
                    let name = made.names.get(&(table, *actual))?;
                    Some(SlotFact::MadeField(name.clone(), self.domain.table(table).field(field).name.clone()))
                }),
                Shows::Each(..) => None,
            };
            let fact = made_field.unwrap_or_else(|| {
                let value = match shows {
                    Shows::One(expr) => match subject {
                        Some(subject) => eye.value_on(expr, subject, it),
                        None => eye.value(expr, it),
                    },
                    Shows::Each(..) => Value::Null,
                };
                match (value, ty) {
                    (Value::Date(date), _) => SlotFact::Date(date.to_string()),
                    (Value::DateTime(instant), _) if *form == Form::Time => SlotFact::Time(instant.time().to_string()),
                    (Value::DateTime(instant), _) if *form == Form::Date => SlotFact::Date(instant.date().to_string()),
                    (Value::DateTime(instant), _) => SlotFact::Instant(instant.to_string()),
                    (Value::Money(amount), _) => SlotFact::Money(amount),
                    (Value::Int(number), _) => SlotFact::Number(number),
                    (Value::Enum(_), ty) => {
                        let word = match shows {
                            Shows::One(expr) => match subject {
                                Some(subject) => eye.value_on(expr, subject, it),
                                None => eye.value(expr, it),
                            },
                            Shows::Each(..) => Value::Null,
                        };
                        SlotFact::Word(benchwright_schema::codec::show_value(self.domain, *ty, &word))
                    }
                    _ => SlotFact::Text(eye.slot(shows, *ty, *form, it, subject)),
                }
            });
            slots.push(ProseSlot { name: text.clone(), is: fact, optional: *optional });
        }
        Prose { slots, never: Vec::new() }
    }

    /// The name of a row that was made, by its id in the demanded state.
    pub(crate) fn made_name(&self, table: TableId, demanded: RowId) -> Option<String> {
        let made = self.made().ok()?;
        let actual = made.actual.get(&(table, demanded))?;
        made.names.get(&(table, *actual)).cloned()
    }
}

/// Rows that were made: by their ids in the demanded state, and their names.
#[derive(Default)]
struct Made {
    actual: BTreeMap<(TableId, RowId), RowId>,
    names: BTreeMap<(TableId, RowId), String>,
}
