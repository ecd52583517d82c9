//! What the script of a request leaves: which step wrote what, and which row of the world is which expected one.

use super::{
    RequestSubject,
    state::{Key, is_compared, json, row},
};
use benchwright_base::{FieldId, RowId, TableId};
use benchwright_pack::{
    Change, Script, Snapshot,
    effects::{ExpectedCell, ExpectedRow, SlotFact, Target},
};
use benchwright_sandbox::Episode;
use benchwright_schema::Domain;
use benchwright_world::seen::{Known, Seen, step_with};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// What one step did.
#[derive(Default)]
pub(super) struct StepDone {
    /// Rows that it made.
    pub(super) made: Vec<Key>,
    /// Cells that it changed.
    pub(super) changed: Vec<(Key, FieldId)>,
    /// Rows that it took away.
    pub(super) gone: Vec<Key>,
}

impl StepDone {
    /// Whether it changed anything.
    pub(super) fn writes(&self) -> bool {
        !(self.made.is_empty() && self.changed.is_empty() && self.gone.is_empty())
    }
}

/// A script that was carried out.
pub(crate) struct Done {
    /// The episode in which it was.
    pub(super) episode: Episode,
    /// What it leaves.
    pub(super) state: Snapshot,
    /// What each step did.
    pub(super) steps: Vec<StepDone>,
    /// The row of each expected one.
    pub(super) rows: Vec<Option<Key>>,
    /// The step behind each expected row.
    pub(super) step_of: Vec<Option<usize>>,
    /// Every call that was made: its step, its tool, its arguments.
    pub(super) calls: Vec<(usize, String, Json)>,
    /// What the names of the scenario stand for, as far as the script has found them.
    pub(super) names: BTreeMap<String, Known>,
}

impl Done {
    /// Carries out a script.
    pub(super) fn of(subject: &RequestSubject<'_>, script: &Script) -> Result<Done, String> {
        let mut episode = subject.begin()?;
        let domain = &subject.domain;
        let mut seen = Seen::new(domain, episode.now());
        for fact in &script.given {
            if !seen.give(&fact.name, &fact.ty, &fact.value) {
                return Err(format!("`{}` is no {}", fact.name, fact.ty));
            }
        }
        let mut calls = Vec::new();
        let mut steps = Vec::new();
        for (at, step) in script.steps.iter().enumerate() {
            let before = episode.fork();
            let mut note = |at: usize, tool: &str, args: &Json| calls.push((at, tool.to_owned(), args.clone()));
            let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
            step_with(&mut seen, at, step, &mut call, &mut note).map_err(|error| error.to_string())?;
            let mut did = StepDone::default();
            for (table, row, change) in episode.diff_from(&before).changes {
                match change {
                    Change::Added(_) => did.made.push((table, row)),
                    Change::Removed(_) => did.gone.push((table, row)),
                    Change::Changed(fields) => {
                        did.changed.extend(fields.iter().map(|field| ((table, row), field.field)));
                    }
                }
            }
            steps.push(did);
        }
        let names = subject.scenario.names();
        let known = |name: &str| Some((name.to_owned(), seen.known(name)?.clone()));
        let names = names.iter().filter_map(|given| known(given.name)).collect();
        let state = episode.snapshot();
        let rows = bind(subject, &state);
        let mut done = Done { episode, state, steps, rows, step_of: Vec::new(), calls, names };
        let expected = subject.effects.expected.iter().zip(&done.rows);
        done.step_of = expected.map(|(expected, row)| done.step(domain, expected, (*row)?)).collect();
        Ok(done)
    }

    /// The step that left an expected row as it is.
    fn step(&self, domain: &Domain, expected: &ExpectedRow, key: Key) -> Option<usize> {
        let table = domain.table(key.0);
        let fields: Vec<FieldId> = expected.cells.keys().filter_map(|name| table.field_named(name)).collect();
        let wrote = |did: &StepDone| match expected.row {
            Target::New => did.made.contains(&key),
            Target::Gone(_) => did.gone.contains(&key),
            Target::Id(_) | Target::Choice(_) => {
                did.changed.iter().any(|(changed, field)| *changed == key && fields.contains(field))
            }
        };
        self.steps.iter().rposition(wrote)
    }

    /// The rows that names of the scenario stand for.
    pub(super) fn cast_rows(&self) -> BTreeSet<Key> {
        let rows = |known: &Known| -> Vec<Key> {
            match known {
                Known::Row(table, row) => row.iter().map(|row| (*table, *row)).collect(),
                Known::Rows(table, rows) => rows.iter().map(|row| (*table, *row)).collect(),
                Known::Value(..) => Vec::new(),
            }
        };
        self.names.values().flat_map(rows).collect()
    }

    /// The row of an expected one by its name.
    pub(super) fn named(&self, subject: &RequestSubject<'_>, name: &str) -> Option<Key> {
        let at = subject.effects.expected.iter().position(|row| row.name.as_deref() == Some(name))?;
        self.rows[at]
    }

    /// What a fact that a text must mention is, in words.
    pub(super) fn fact(&self, subject: &RequestSubject<'_>, fact: &SlotFact) -> Option<String> {
        Some(match fact {
            SlotFact::Text(text) | SlotFact::Word(text) | SlotFact::Date(text) => text.clone(),
            SlotFact::Instant(text) => text.get(..16)?.replace('T', " "),
            SlotFact::Time(text) => text.get(..5)?.to_owned(),
            SlotFact::Money(minor) => format!("{}.{:02}", minor / 100, minor % 100),
            SlotFact::Number(number) => number.to_string(),
            SlotFact::MadeField(name, field) => {
                let key = self.named(subject, name)?;
                let field = subject.domain.table(key.0).field_named(field)?.index();
                super::state::told(&subject.domain, key.0, field, row(&self.state, key)?.get(field)?)
            }
            SlotFact::ChosenField(..) => return None,
        })
    }
}

/// Which row of a state is which expected one: those that are there by id, the new ones by what is in them.
fn bind(subject: &RequestSubject<'_>, state: &Snapshot) -> Vec<Option<Key>> {
    let domain = &subject.domain;
    let mut bound: Vec<Option<Key>> = Vec::new();
    let mut names: BTreeMap<&str, RowId> = BTreeMap::new();
    let mut taken: BTreeSet<Key> = BTreeSet::new();
    let expected = &subject.effects.expected;
    for wanted in expected {
        let table = domain.table_named(&wanted.table);
        bound.push(match (&wanted.row, table) {
            (Target::Id(row) | Target::Gone(row), Some(table)) => Some((table, *row)),
            _ => None,
        });
    }
    // A row may speak of others that come after it, so those that can be told are bound first, round by round.
    for strict in [true, false] {
        for _ in 0..expected.len() {
            for (at, wanted) in expected.iter().enumerate() {
                let (Target::New, None, Some(table)) = (&wanted.row, bound[at], domain.table_named(&wanted.table))
                else {
                    continue;
                };
                let is_new = |row: &RowId| crate::values::place(&subject.first, table, *row).is_none();
                let rows = state.tables[table.index()].rows.iter().filter_map(|cells| cells[0].as_ref_id());
                let fits = |row: &RowId| {
                    !taken.contains(&(table, *row)) && agrees(domain, state, wanted, (table, *row), &names, strict)
                };
                let found: Vec<RowId> = rows.filter(is_new).filter(fits).collect();
                if let Some(row) = found.first().copied() {
                    bound[at] = Some((table, row));
                    taken.insert((table, row));
                    if let Some(name) = &wanted.name {
                        names.insert(name, row);
                    }
                }
            }
        }
    }
    bound
}

/// Whether a row is as an expected one, as far as that can be told.
fn agrees(
    domain: &Domain,
    state: &Snapshot,
    wanted: &ExpectedRow,
    key: Key,
    names: &BTreeMap<&str, RowId>,
    strict: bool,
) -> bool {
    let table: TableId = key.0;
    let Some(cells) = row(state, key) else { return false };
    wanted.cells.iter().all(|(name, cell)| {
        let Some(field) = domain.table(table).field_named(name).map(FieldId::index) else { return false };
        if !is_compared(domain, table, field) {
            return true;
        }
        match cell {
            ExpectedCell::Is(value) => json(domain, table, field, &cells[field]) == *value,
            ExpectedCell::OneOf(values) => values.contains(&json(domain, table, field, &cells[field])),
            ExpectedCell::Made(name) => match names.get(&**name) {
                Some(row) => cells[field].as_ref_id() == Some(*row),
                None => !strict,
            },
            ExpectedCell::Prose(prose) => {
                let plain = |text: &str| text.to_lowercase().replace('_', " ");
                let text = plain(cells[field].as_text().unwrap_or_default());
                prose.slots.iter().filter(|slot| !slot.optional).all(|slot| match &slot.is {
                    SlotFact::Text(fact) | SlotFact::Word(fact) => text.contains(&plain(fact)),
                    _ => true,
                })
            }
            _ => true,
        }
    })
}
