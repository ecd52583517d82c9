//! How whoever plays tells what was written. A clause is written over the names of the scenario, a way over the row that would break its
//! rule; whoever plays knows records by what it has read. A frame says what each slot of an expression is called there, and telling an
//! expression reads whatever it rests on.
//!
//! A way speaks of its row as it is to be. What is wanted of a cell by then is told as whoever wants it has written it: where a case is
//! given to somebody, `assigned_to` of the case is that somebody, though the case does not say so yet.

use super::Reader;
use crate::{demand::Origin, throw};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Expr, Path, Source, Telling, TestOp, Type, dotted, notation, notation_by, source_notation};
use benchwright_pack::{Find, FindPick, GivenFact};
use benchwright_project::Discard;
use benchwright_schema::ways::Wanted;
use benchwright_spec::scenario::{Asked, Meant};
use benchwright_world::seen::{ACTOR, Known, type_name};
use std::collections::{BTreeMap, BTreeSet};

/// Expressions are told, and members made known, inside one another at most so deep.
const DEEPEST: usize = 40;

/// What `it` is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum It {
    /// Nothing, or a row that is told like any other.
    Named,
    /// Each row of a set, by its name, one after the other.
    Each(String, TableId),
    /// Whichever row of a set: they are alike in all that is told.
    Alike(String, TableId),
    /// The rows that were read last, as they are told.
    Read(TableId, String),
}

/// What the slots of an expression are called.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// What each is called; nothing, where that cannot be told.
    pub(super) slots: Vec<Option<String>>,
    /// The rows behind them.
    pub(super) rows: Vec<Option<(TableId, RowId)>>,
    pub(super) it: It,
    /// What each row of a set is called, if that is not `it`.
    pub(super) alias: Option<&'static str>,
    /// The row that is changed or dropped.
    pub(super) own: Option<String>,
    /// Whether it is a way's, which speaks of what is to be.
    pub(super) way: bool,
}

/// Whether a text speaks of a row that changes from one time it is read to the next.
pub(super) fn speaks_of_it(told: &str) -> bool {
    let mut quoted = false;
    let mut word = String::new();
    let mut found = false;
    for c in told.chars().chain([' ']) {
        if c == '\'' {
            quoted = !quoted;
        }
        if !quoted && (c.is_ascii_alphanumeric() || c == '_' || c == '.') {
            word.push(c);
        } else {
            let head = word.split('.').next().unwrap_or_default();
            found |= head == "it" || head == "number";
            word.clear();
        }
    }
    found
}

impl Frame {
    /// The frame of a way, which sees the row that breaks its rule.
    pub(super) fn of_way(subject: Option<String>, on: (TableId, RowId), it: It) -> Frame {
        Frame { slots: vec![subject], rows: vec![Some(on)], it, alias: None, own: None, way: true }
    }
}

impl Reader<'_> {
    /// The frame of what sees so many names of the scenario.
    pub(super) fn cast_frame(&self, names: usize) -> Frame {
        let given = self.scenario.names();
        let slots = given.iter().take(names).map(|given| Some(given.name.to_owned())).collect();
        let row = |known: &Known| match known {
            Known::Row(table, Some(row)) => Some((*table, *row)),
            _ => None,
        };
        let rows = self.all.iter().take(names).map(row).collect();
        Frame { slots, rows, it: It::Named, alias: None, own: None, way: false }
    }

    /// The same with one slot more.
    pub(super) fn with_slot(mut frame: Frame, told: &str, it: It) -> Frame {
        frame.rows.resize(frame.slots.len(), None);
        frame.slots.push(Some(told.to_owned()));
        frame.rows.push(None);
        frame.it = it;
        frame
    }

    /// The frame that a deed was written in.
    pub(super) fn frame(&mut self, at: usize) -> Result<Frame, Discard> {
        self.deeper(|reader| match reader.deeds[at].origin {
            Origin::Clause(clause) => reader.clause_frame(at, clause),
            Origin::Way { rule, way, on } => reader.way_frame(at, rule, way, on),
        })
    }

    /// Goes one deeper, and comes up again whatever came of it: whoever fails to tell something may try otherwise.
    pub(super) fn deeper<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, Discard>) -> Result<T, Discard> {
        if self.depth >= DEEPEST {
            return Err(throw("what is wanted goes in circles".to_owned()));
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    fn clause_frame(&mut self, at: usize, clause: usize) -> Result<Frame, Discard> {
        let (meant, is_own) = match &self.clauses[clause].act {
            Asked::Change { rows, .. } | Asked::Drop { rows, .. } => (Some(rows.clone()), true),
            Asked::Make { each, .. } | Asked::Call { each, .. } => (each.clone(), false),
            Asked::Answer { .. } => (None, false),
        };
        let deed = &self.deeds[at];
        let mut frame = self.cast_frame(deed.names);
        if let Some(meant) = meant {
            let it = deed.it;
            let (told, each) = self.tell_meant(&meant)?;
            frame.slots.push(Some(told.clone()));
            frame.rows.resize(frame.slots.len() - 1, None);
            frame.rows.push(it);
            frame.it = each;
            frame.own = is_own.then_some(told);
        }
        Ok(frame)
    }

    /// Rows that a clause means: what each is called, and the set if there are several.
    fn tell_meant(&mut self, meant: &Meant) -> Result<(String, It), Discard> {
        if matches!(self.all.get(meant.slot), Some(Known::Rows(..))) {
            let set = self.name_set(meant)?;
            return Ok(("it".to_owned(), It::Each(set, meant.table)));
        }
        let frame = self.cast_frame(meant.slot + 1);
        let told = self.tell(&Expr::Field(meant.slot, meant.path.clone()), &frame)?;
        Ok((told, It::Named))
    }

    /// Whether a value is wanted of what a path reaches from the row that a way is about.
    pub(super) fn is_wanted(&self, frame: &Frame, path: &Path) -> bool {
        let on = frame.rows.first().copied().flatten().filter(|_| frame.way);
        on.is_some_and(|on| self.wanted_value(on, path).is_some())
    }

    /// The value that is wanted of what a path reaches, if a value is.
    pub(super) fn wanted_value(&self, on: (TableId, RowId), path: &Path) -> Option<(Value, Type)> {
        let ((table, field), before) = path.split_last()?;
        let mut at = on;
        for (table, field) in before {
            let Type::Ref(to) = self.domain().table(*table).field(*field).ty else { return None };
            at = (to, self.last.row(at.0, at.1)?[field.index()].as_ref_id()?);
        }
        let key = (at.0, at.1, *field);
        let ty = self.domain().table(*table).field(*field).ty;
        match self.pending.get(&key) {
            Some((deed, cell)) => match &self.deeds[*deed].cells()[*cell].wanted {
                Wanted::Is(Expr::Literal(value, _)) => Some((value.clone(), ty)),
                _ => None,
            },
            None => Some((self.moved(key)?, ty)),
        }
    }

    /// An expression as whoever plays tells it; what it rests on is read.
    pub(super) fn tell(&mut self, expr: &Expr, frame: &Frame) -> Result<String, Discard> {
        self.deeper(|reader| reader.told(expr, frame))
    }

    fn told(&mut self, expr: &Expr, frame: &Frame) -> Result<String, Discard> {
        let domain = self.domain();
        let told = self.telling(frame, |tell, slots| notation_by(expr, domain, slots, tell))?;
        let mut actor = false;
        let mut sources: Vec<Source> = Vec::new();
        expr.visit(&mut |part| match part {
            Expr::Actor(_) => actor = true,
            Expr::Lookup { source, .. } => sources.push((**source).clone()),
            Expr::Fold(fold) => sources.extend(fold.binders.iter().map(|binder| binder.source.clone())),
            _ => {}
        });
        if actor {
            self.know_actor()?;
        }
        for source in sources {
            self.read_inner(&source, frame)?;
        }
        Ok(told)
    }

    /// The rows of a source as whoever plays tells them. Nothing is read for it but what its values rest on.
    pub(super) fn source_text(&mut self, source: &Source, frame: &Frame) -> Result<String, Discard> {
        let domain = self.domain();
        self.telling(frame, |tell, slots| source_notation(source, domain, slots, tell))
    }

    pub(super) fn test_text(&mut self, test: &(Path, TestOp, Vec<Expr>), frame: &Frame) -> Result<String, Discard> {
        let domain = self.domain();
        self.telling(frame, |tell, slots| benchwright_expr::test_notation(test, domain, slots, tell))
    }

    fn telling(
        &mut self,
        frame: &Frame,
        write: impl FnOnce(&mut Telling<'_>, usize) -> Option<String>,
    ) -> Result<String, Discard> {
        let mut failed: Option<Discard> = None;
        let told = write(
            &mut |slot: usize, path: &Path| match self.reach(frame, slot, path) {
                Ok(told) => told,
                Err(why) => {
                    failed.get_or_insert(why);
                    None
                }
            },
            frame.slots.len(),
        );
        match (failed, told) {
            (Some(why), _) => Err(why),
            (None, Some(told)) => Ok(told),
            (None, None) => Err(throw("something cannot be told by what was read".to_owned())),
        }
    }

    /// What a path reaches from a slot, as it is told; what it leads over is read.
    fn reach(&mut self, frame: &Frame, slot: usize, path: &Path) -> Result<Option<String>, Discard> {
        let domain = self.domain();
        if !frame.way
            && let Some(told) = self.shown_of(slot, path)
        {
            return Ok(Some(told));
        }
        let mut told = frame.slots.get(slot).cloned().flatten();
        let mut at = frame.rows.get(slot).copied().flatten();
        for (table, field) in path.iter().filter(|(_, field)| *field != FieldId::ID) {
            let key = at.filter(|_| frame.way).map(|(table, row)| (table, row, *field));
            let pending = key.and_then(|key| self.pending.get(&key).copied());
            told = match (pending, key.and_then(|key| self.moved(key))) {
                (Some((deed, cell)), _) => self.tell_cell(deed, cell, frame)?,
                (None, Some(value))
                    if told.is_none() || !self.made.contains_key(&(key.map_or((*table, 0), |(t, r, _)| (t, r)))) =>
                {
                    notation(&Expr::Literal(value, domain.table(*table).field(*field).ty), domain, &[])
                }
                // What a row refers to that a native call makes is known by itself: the row has no name.
                (None, None) if told.is_none() && self.made_reference(key).is_some() => {
                    self.made_reference(key).map(|row| self.row_expr(row)).transpose()?
                }
                _ => match (told, &frame.it) {
                    (Some(told), It::Each(set, _) | It::Alike(set, _)) if told == "it" && frame.way && slot == 0 => {
                        let own = format!("it{}", dotted(domain, &vec![(*table, *field)]));
                        Some(self.common(&set.clone(), *field)?.unwrap_or(own))
                    }
                    (told, _) => told.map(|told| format!("{told}{}", dotted(domain, &vec![(*table, *field)]))),
                },
            };
            let to = match domain.table(*table).field(*field).ty {
                Type::Ref(to) => Some(to),
                _ => None,
            };
            let next = at.and_then(|(table, row)| self.last.row(table, row));
            let next = next.and_then(|cells| cells[field.index()].as_ref_id());
            at = to.zip(next);
        }
        if let Some(told) = &told {
            self.ensure_told(told, frame)?;
        }
        Ok(told)
    }

    /// What the request itself shows of somebody who has not been looked up: nobody looks up an address to find out that address.
    fn shown_of(&mut self, slot: usize, path: &Path) -> Option<String> {
        let member = self.scenario.cast.get(slot).filter(|member| member.is_drawn() && !path.is_empty())?;
        let single = matches!(self.bound.get(slot), Some(Known::Row(..)));
        let given = format!("{}{}", member.name, dotted(self.domain(), path)).replace('.', "_");
        // What was told so once is told so again, whatever was looked up since.
        if single && self.given.iter().any(|fact| fact.name == given) {
            return Some(given);
        }
        if !single || self.known.contains(&slot) {
            return None;
        }
        let (_, value, ty) = self.shown.get(&slot)?.iter().find(|(shown, _, _)| shown == path)?.clone();
        let domain = self.domain();
        let told = type_name(domain, ty)?;
        let value = crate::calls::to_json(domain, ty, &value);
        if self.seen.known(&given).is_some() || !self.seen.give(&given, &told, &value) {
            return None;
        }
        self.given.push(GivenFact { name: given.clone(), ty: told, value });
        Some(given)
    }

    /// What a cell has become by itself, because of what is asked for.
    fn moved(&self, (table, row, field): (TableId, RowId, FieldId)) -> Option<Value> {
        let after = self.last.row(table, row)?[field.index()].clone();
        let before = self.world.row(table, row).map(|cells| &cells[field.index()]);
        (before != Some(&after) && !matches!(after, Value::Ref(_))).then_some(after)
    }

    /// The row that a cell of a new row refers to.
    fn made_reference(&self, key: Option<(TableId, RowId, FieldId)>) -> Option<(TableId, RowId)> {
        let (table, row, field) = key.filter(|(table, row, _)| self.world.row(*table, *row).is_none())?;
        let Type::Ref(to) = self.domain().table(table).field(field).ty else { return None };
        Some((to, self.last.row(table, row)?[field.index()].as_ref_id()?))
    }

    /// What a deed wants of a cell, as it is told where another frame speaks of it.
    fn tell_cell(&mut self, deed: usize, cell: usize, at: &Frame) -> Result<Option<String>, Discard> {
        let wanted = self.deeds[deed].cells()[cell].wanted.clone();
        let frame = self.frame(deed)?;
        let told = match &wanted {
            Wanted::Is(expr) => self.tell(expr, &frame)?,
            Wanted::OneOf(list) => match list.first() {
                Some(expr) => self.tell(expr, &frame)?,
                None => return Ok(None),
            },
            Wanted::Extreme { .. } => self.extreme(&wanted, &frame)?,
            Wanted::Text(_) | Wanted::Tell(_) => return Ok(None),
        };
        if !speaks_of_it(&told) {
            return Ok(Some(told));
        }
        // Each row of the same set is called the same, or by another name within a condition.
        let same = match (&frame.it, &at.it) {
            (It::Each(set, _), It::Each(other, _) | It::Alike(other, _)) => {
                set == other || self.within.get(other) == Some(set)
            }
            (It::Each(..), It::Read(..)) => at.alias.is_some(),
            _ => false,
        };
        let plain = told == "it"
            || (told.starts_with("it.")
                && !told[3..].contains(|c: char| !c.is_ascii_alphanumeric() && !"._".contains(c)));
        Ok(match (same, at.alias) {
            (false, _) => None,
            (true, None) => Some(told),
            (true, Some(alias)) if plain => Some(format!("{alias}{}", &told[2..])),
            (true, Some(_)) => None,
        })
    }

    /// A name for the first or last row of some.
    pub(super) fn extreme(&mut self, wanted: &Wanted, frame: &Frame) -> Result<String, Discard> {
        let Wanted::Extreme { source, condition, by, last } = wanted else { return Err(throw("no order".to_owned())) };
        self.read_source(source, frame)?;
        let mut of = self.source_text(source, frame)?;
        let table = relation(source).unwrap_or(benchwright_base::RelationId(0));
        let mut with = frame.clone();
        with.slots.push(Some("it".to_owned()));
        with.rows.resize(with.slots.len(), None);
        with.it = It::Read(table, of.clone());
        if let Some(condition) = condition {
            of = format!("{of} where {}", self.tell(condition, &with)?);
        }
        let by = self.tell(by, &with)?;
        let word = if *last { "last" } else { "first" };
        let name = format!("{word}_{}", self.domain().table(table).own_name());
        let pick = if *last { FindPick::Last } else { FindPick::First };
        if self.seen.known(&name).is_none() {
            self.find(Find { name: name.clone(), of, pick, by: Some(by), count: None })?;
        }
        Ok(name)
    }

    /// Sees to it that the rows which a told path leads over were shown.
    fn ensure_told(&mut self, told: &str, frame: &Frame) -> Result<(), Discard> {
        let is_path = told.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if !is_path {
            return Ok(());
        }
        let (head, rest) = told.split_once('.').map_or((told, None), |(head, rest)| (head, Some(rest)));
        if head == "it" || Some(head) == frame.alias {
            let Some(rest) = rest.filter(|rest| rest.contains('.')) else { return Ok(()) };
            return match &frame.it {
                It::Each(set, table) | It::Alike(set, table) => self.ensure_of_set(&set.clone(), *table, rest),
                It::Read(table, _) => {
                    let path = self.path_named(*table, rest);
                    path.map_or(Ok(()), |path| self.ensure_of_rows(&path))
                }
                It::Named => Ok(()),
            };
        }
        if let Some(member) = self.scenario.member(head) {
            self.know(member)?;
            if let Some((before, _)) = told.rsplit_once('.').filter(|(before, _)| before.contains('.')) {
                self.ensure_path(before)?;
            }
        }
        Ok(())
    }

    /// A path by the names of its fields.
    fn path_named(&self, table: TableId, names: &str) -> Option<Path> {
        let mut path = Path::new();
        let mut at = Some(table);
        for name in names.split('.') {
            let table = at?;
            let field = self.domain().table(table).field_named(name)?;
            path.push((table, field));
            at = match self.domain().table(table).field(field).ty {
                Type::Ref(to) => Some(to),
                _ => None,
            };
        }
        Some(path)
    }

    /// Sees to it that the rows which a path leads over from each row of a set were shown.
    pub(super) fn ensure_of_set(&mut self, set: &str, table: TableId, names: &str) -> Result<(), Discard> {
        let Some(path) = self.path_named(table, names) else { return Ok(()) };
        let Some(Known::Rows(_, rows)) = self.seen.known(set).cloned() else { return Ok(()) };
        let mut at: Vec<RowId> = rows;
        for step in 0..path.len().saturating_sub(1) {
            let ((from, by), (to, field)) = (path[step], path[step + 1]);
            let reached = at.iter().filter_map(|row| self.world.row(from, *row)?[by.index()].as_ref_id());
            let reached: BTreeSet<RowId> = reached.collect();
            let unseen: Vec<RowId> = reached.iter().copied().filter(|row| !self.has_cell(to, *row, field)).collect();
            if !unseen.is_empty() {
                let leads = dotted(self.domain(), &path[..=step].to_vec());
                self.see_through(set, &format!("it{leads}"), to, &unseen)?;
            }
            at = reached.into_iter().collect();
        }
        Ok(())
    }

    /// Finds the row of whoever plays, by what the instruction says of them.
    fn know_actor(&mut self) -> Result<(), Discard> {
        if self.knows_actor {
            return Ok(());
        }
        let domain = self.domain();
        let Some((table, row)) = domain.actor.zip(self.actor) else {
            return Err(throw("nobody is said to act".to_owned()));
        };
        let cells = self.world.row(table, row).map(<[Value]>::to_vec).unwrap_or_default();
        let Some(field) = crate::say::known_by(domain, table, &cells) else {
            return Err(throw("whoever acts has no name".to_owned()));
        };
        let declared = domain.table(table).field(field);
        let value = &cells[field.index()];
        let told = notation(&Expr::Literal(value.clone(), declared.ty), domain, &[]).unwrap_or_default();
        let equal = BTreeMap::from([(field, crate::calls::to_json(domain, declared.ty, value))]);
        self.read_table(table, &equal, "your own record")?;
        let of = format!("{}({} = {told})", domain.table(table).name, declared.name);
        self.find(Find { name: ACTOR.to_owned(), of, pick: FindPick::The, by: None, count: None })?;
        self.knows_actor = true;
        Ok(())
    }
}

/// The table of a source's rows.
pub(super) fn relation(source: &Source) -> Option<TableId> {
    match source {
        Source::Rows { relation, .. } => Some(*relation),
        _ => None,
    }
}
