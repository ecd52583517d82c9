//! How whoever plays tells what was written. A clause is written over the names of the scenario, a way over the row that would break its
//! rule; whoever plays knows records by what it has read. A frame says what each slot of an expression is called there, and telling an
//! expression reads whatever it rests on.
//!
//! A way speaks of its row as it is to be. What is wanted of a cell by then is told as whoever wants it has written it: where a case is
//! given to somebody, `assigned_to` of the case is that somebody, though the case does not say so yet.

use super::Reader;
use crate::{demand::Origin, throw};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{
    Compare, Expr, Path, Source, Telling, TestOp, Type, dotted, notation, notation_by, source_notation,
};
use benchwright_pack::{Find, FindPick};
use benchwright_project::Discard;
use benchwright_schema::ways::{Act, Wanted, Which};
use benchwright_spec::scenario::{Asked, Form as MemberForm, Meant};
use benchwright_world::seen::{ACTOR, Known};
use serde_json::{Value as Json, json};
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
    alias: Option<&'static str>,
    /// The row that is changed or dropped.
    pub(super) own: Option<String>,
    /// Whether it is a way's, which speaks of what is to be.
    way: bool,
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

    fn way_frame(&mut self, at: usize, rule: usize, way: usize, on: (TableId, RowId)) -> Result<Frame, Discard> {
        let part = self.deeds[at].part;
        let remedy = self.domain().rules[rule].ways[way].on.iter().find(|remedy| remedy.table == on.0);
        let Some(act) = remedy.and_then(|remedy| remedy.acts.get(part)) else {
            return Err(Discard::Fault("a deed of a way without an act".to_owned()));
        };
        let (subject, it) = self.subject(rule, way, on)?;
        let base = Frame { slots: vec![subject], rows: vec![Some(on)], it, alias: None, own: None, way: true };
        let mut frame = base.clone();
        frame.rows.push(self.deeds[at].it);
        match act {
            Act::Change { rows: Which::One(expr), .. } | Act::Drop { rows: Which::One(expr), .. } => {
                // A row that is made in the same call has no name yet, and needs none.
                let own = match &base.slots[0] {
                    None if matches!(expr, Expr::Field(0, path) if path.iter().all(|(_, field)| *field == FieldId::ID)) => {
                        None
                    }
                    _ => Some(self.tell(expr, &base)?),
                };
                frame.slots.push(own.clone());
                frame.own = own;
            }
            Act::Change { rows: Which::Those(source, condition), table, .. }
            | Act::Drop { rows: Which::Those(source, condition), table } => {
                let set = self.way_set(at, source, condition.as_ref(), &base)?;
                frame = Frame { it: It::Each(set, *table), own: Some("it".to_owned()), ..frame };
                frame.slots.push(Some("it".to_owned()));
            }
            Act::Make { each: Some(source), .. } => {
                let Source::Rows { relation, .. } = source else { return Err(throw("a way over no rows".to_owned())) };
                let set = self.way_set(at, source, None, &base)?;
                frame = Frame { it: It::Each(set, *relation), ..frame };
                frame.slots.push(Some("it".to_owned()));
            }
            Act::Make { each: None, .. } | Act::Call { .. } => {}
        }
        // Of a set within a set, the outer row cannot be told.
        if base.it != It::Named && frame.it != base.it {
            frame.slots[0] = None;
        }
        Ok(frame)
    }

    /// What the row that a way is about is called, and the set whose rows the way is taken for one after the other.
    fn subject(&mut self, rule: usize, way: usize, on: (TableId, RowId)) -> Result<(Option<String>, It), Discard> {
        let is_this =
            |origin: &Origin| matches!(origin, Origin::Way { rule: r, way: w, .. } if (*r, *w) == (rule, way));
        let mut ons: Vec<(TableId, RowId)> = Vec::new();
        for deed in self.deeds.iter().filter(|deed| is_this(&deed.origin)) {
            ons.extend(deed.subject().filter(|on| !ons.contains(on)));
        }
        let touches = |deed: &crate::demand::Deed| deed.target() == Some(on) && !is_this(&deed.origin);
        let clause = self.deeds.iter().position(|deed| touches(deed) && matches!(deed.origin, Origin::Clause(_)));
        let touching = clause.or_else(|| self.deeds.iter().position(touches));
        let Some(touching) = touching else {
            if let [one] = ons[..]
                && let Ok(told) = self.row_expr(one)
            {
                return Ok((Some(told), It::Named));
            }
            let set = self.tied(rule, &ons)?;
            return Ok((Some("it".to_owned()), It::Each(set, on.0)));
        };
        let made = self.world.row(on.0, on.1).is_none();
        let frame = self.frame(touching)?;
        let It::Each(set, table) = frame.it.clone() else {
            let told = if made { self.made.get(&on).cloned() } else { frame.own };
            return Ok((told, It::Named));
        };
        let told = if made { None } else { frame.own.clone() };
        // The rows of the set for which the way is taken: all of them, or those for which the rule would be broken.
        let its = |ons: &[(TableId, RowId)], deeds: &[crate::demand::Deed]| -> Vec<RowId> {
            let like = deeds.iter().filter(|deed| deed.is_like(&deeds[touching]));
            let touched = like.filter(|deed| deed.target().is_some_and(|target| ons.contains(&target)));
            touched.filter_map(|deed| deed.it).map(|(_, row)| row).collect()
        };
        let some: BTreeSet<RowId> = its(&ons, self.deeds).into_iter().collect();
        let all: BTreeSet<RowId> = match self.seen.known(&set) {
            Some(Known::Rows(_, rows)) => rows.iter().copied().collect(),
            _ => BTreeSet::new(),
        };
        if some == all {
            return Ok((told, frame.it));
        }
        let alike = Frame {
            slots: vec![told.clone()],
            rows: vec![Some(on)],
            it: It::Alike(set.clone(), table),
            alias: None,
            own: None,
            way: true,
        };
        if self.is_done_once(rule, way, &alike)? {
            return Ok((told, alike.it));
        }
        let name = self.rule_set(rule);
        if self.seen.known(&name).is_none() {
            let broken = self.violation(rule, on, told.clone(), frame.it.clone())?;
            let of = format!(
                "{}() where (exists row in {set} where (row.id = it.id)) and {broken}",
                self.domain().table(table).name
            );
            self.find_all(&name, of, &some.iter().copied().collect::<Vec<_>>())?;
            self.within.insert(name.clone(), set);
        }
        Ok((told, It::Each(name, table)))
    }

    /// Whether what a way does is the same for each row of a set, so that it is done once for all of them.
    fn is_done_once(&mut self, rule: usize, way: usize, alike: &Frame) -> Result<bool, Discard> {
        let table = alike.rows[0].map(|(table, _)| table);
        let remedy = self.domain().rules[rule].ways[way].on.iter().find(|remedy| Some(remedy.table) == table);
        let Some(remedy) = remedy else { return Ok(false) };
        for act in &remedy.acts {
            let values: Vec<&Expr> = match act {
                Act::Change { rows: Which::One(row), .. } | Act::Drop { rows: Which::One(row), .. } => vec![row],
                Act::Make { each: None, with, .. } => with
                    .iter()
                    .filter_map(|(_, wanted)| match wanted {
                        Wanted::Is(value) => Some(value),
                        _ => None,
                    })
                    .collect(),
                _ => return Ok(false),
            };
            for value in values {
                match self.tell(value, alike) {
                    Ok(told) if !speaks_of_it(&told) => {}
                    _ => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// What every row of a set has in a field, because the set was asked for by it.
    fn common(&mut self, set: &str, field: FieldId) -> Result<Option<String>, Discard> {
        let set = self.within.get(set).cloned().unwrap_or_else(|| set.to_owned());
        let Some(at) = self.scenario.member(&set) else { return Ok(None) };
        let MemberForm::Rows { source: Source::Rows { tests, .. }, .. } = &self.scenario.cast[at].form else {
            return Ok(None);
        };
        let value = tests.iter().find_map(|(path, op, values)| match (&path[..], op, &values[..]) {
            ([(_, by)], TestOp::Compare(Compare::Eq), [value]) if *by == field => Some(value.clone()),
            _ => None,
        });
        let frame = self.cast_frame(at);
        value.map(|value| self.tell(&value, &frame)).transpose()
    }

    /// The name of the rows for which a rule's way is taken.
    fn rule_set(&self, rule: usize) -> String {
        format!("by_{}", self.domain().rules[rule].id.replace(['-', '/'], "_"))
    }

    /// That a row would break a rule, as far as it can be told before anything is written.
    fn violation(
        &mut self,
        rule: usize,
        on: (TableId, RowId),
        subject: Option<String>,
        it: It,
    ) -> Result<String, Discard> {
        let require = self.domain().rules[rule].on.iter().find(|(table, _)| *table == on.0);
        let Some((_, require)) = require else { return Err(Discard::Fault("a rule on another table".to_owned())) };
        let frame = Frame { slots: vec![subject], rows: vec![Some(on)], it, alias: None, own: None, way: true };
        let require = self.settled(require, on);
        Ok(format!("not {}", self.tell(&require, &frame)?))
    }

    /// A condition on a row with what is wanted of the row put in and worked out, as far as that is a value and not a record.
    fn settled(&self, expr: &Expr, on: (TableId, RowId)) -> Expr {
        let one = |expr: &Expr| self.settled(expr, on);
        let all = |list: &[Expr]| list.iter().map(one).collect::<Vec<Expr>>();
        let known = |expr: &Expr| match expr {
            Expr::Literal(value, _) => Some(value.clone()),
            _ => None,
        };
        match expr {
            Expr::Field(0, path) => match self.wanted_value(on, path) {
                Some((value, ty)) => Expr::Literal(value, ty),
                None => expr.clone(),
            },
            Expr::Compare(op @ (Compare::Eq | Compare::Ne), a, b) => {
                let (a, b) = (one(a), one(b));
                match (known(&a), known(&b)) {
                    (Some(x), Some(y)) => Expr::Truth((x == y) == (*op == Compare::Eq)),
                    _ => Expr::Compare(*op, Box::new(a), Box::new(b)),
                }
            }
            Expr::In(value, list) => {
                let (value, list) = (one(value), all(list));
                let words: Option<Vec<Value>> = list.iter().map(known).collect();
                match (known(&value), words) {
                    (Some(value), Some(words)) => Expr::Truth(words.contains(&value)),
                    _ => Expr::In(Box::new(value), list),
                }
            }
            Expr::IsNull(value) => match one(value) {
                Expr::Literal(value, _) => Expr::Truth(value.is_null()),
                value => Expr::IsNull(Box::new(value)),
            },
            Expr::Created | Expr::Deleted => Expr::Truth(false),
            Expr::Not(inner) => match one(inner) {
                Expr::Truth(truth) => Expr::Truth(!truth),
                inner => Expr::Not(Box::new(inner)),
            },
            Expr::And(list) | Expr::Or(list) => {
                // A conjunct that holds, or a disjunct that does not, says nothing; the other way round it settles the whole.
                let and = matches!(expr, Expr::And(_));
                let mut rest = all(list);
                if rest.iter().any(|part| matches!(part, Expr::Truth(truth) if *truth != and)) {
                    return Expr::Truth(!and);
                }
                rest.retain(|part| !matches!(part, Expr::Truth(_)));
                match (rest.len(), and) {
                    (0, _) => Expr::Truth(and),
                    (1, _) => rest.swap_remove(0),
                    (_, true) => Expr::And(rest),
                    (_, false) => Expr::Or(rest),
                }
            }
            Expr::Implies(a, b) => self.settled(&Expr::Or(vec![Expr::Not(a.clone()), (**b).clone()]), on),
            other => other.clone(),
        }
    }

    /// Whether a value is wanted of what a path reaches from the row that a way is about.
    pub(super) fn is_wanted(&self, frame: &Frame, path: &Path) -> bool {
        let on = frame.rows.first().copied().flatten().filter(|_| frame.way);
        on.is_some_and(|on| self.wanted_value(on, path).is_some())
    }

    /// The value that is wanted of what a path reaches, if a value is.
    fn wanted_value(&self, on: (TableId, RowId), path: &Path) -> Option<(Value, Type)> {
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

    /// A name for rows that nobody speaks of, and that a way is about because of a row that they refer to.
    fn tied(&mut self, rule: usize, ons: &[(TableId, RowId)]) -> Result<String, Discard> {
        let name = self.rule_set(rule);
        if self.seen.known(&name).is_some() {
            return Ok(name);
        }
        let table = ons.first().map_or(benchwright_base::RelationId(0), |(table, _)| *table);
        let declared = self.domain().table(table);
        let rows: Vec<RowId> = ons.iter().map(|(_, row)| *row).collect();
        for (place, field) in declared.fields.iter().enumerate() {
            let Type::Ref(to) = field.ty else { continue };
            let referred: BTreeSet<Option<RowId>> =
                rows.iter().map(|row| self.world.row(table, *row).and_then(|cells| cells[place].as_ref_id())).collect();
            let [Some(owner)] = referred.into_iter().collect::<Vec<_>>()[..] else { continue };
            let Ok(told) = self.touched(to, owner) else { continue };
            let by = FieldId(place as u16);
            let what = format!("what belongs to the {}", told.replace('.', "'s ").replace('_', " "));
            if self.read_table(table, &BTreeMap::from([(by, json!({ "$": told }))]), &what).is_err() {
                continue;
            }
            let of = format!("{}({} = {told})", declared.name, field.name);
            if self.find_all(&name, of.clone(), &rows).is_ok() {
                return Ok(name);
            }
            let it = It::Read(table, of.clone());
            let Some(on) = ons.first() else { continue };
            if let Ok(broken) = self.violation(rule, *on, Some("it".to_owned()), it)
                && self.find_all(&name, format!("{of} where {broken}"), &rows).is_ok()
            {
                return Ok(name);
            }
        }
        Err(throw(format!("nothing leads to a row of {}", declared.name)))
    }

    /// What a single row that some deed is on is called.
    fn touched(&mut self, table: TableId, row: RowId) -> Result<String, Discard> {
        let touching = self.deeds.iter().position(|deed| deed.target() == Some((table, row)));
        if let Some(at) = touching {
            let frame = self.frame(at)?;
            if let (It::Named, Some(own)) = (frame.it, frame.own) {
                return Ok(own);
            }
        }
        self.row_expr((table, row))
    }

    /// Finds all rows of a source, which must be these.
    fn find_all(&mut self, name: &str, of: String, rows: &[RowId]) -> Result<(), Discard> {
        let found = self.seen.rows(&of).map_err(|why| throw(format!("{name} cannot be found: {why}")))?;
        let same: BTreeSet<&RowId> = found.1.iter().collect();
        if same != rows.iter().collect::<BTreeSet<_>>() {
            return Err(throw(format!("other rows are read for {name}")));
        }
        self.find(Find { name: name.to_owned(), of, pick: FindPick::All, by: None, count: None })
    }

    /// A name for the rows that an act of a way is over, told by what ties them to the row that the way is about.
    fn way_set(
        &mut self,
        at: usize,
        source: &Source,
        condition: Option<&Expr>,
        base: &Frame,
    ) -> Result<String, Discard> {
        let deed = &self.deeds[at];
        let Origin::Way { rule, .. } = deed.origin else { return Err(throw("no way".to_owned())) };
        let each = matches!(base.it, It::Each(..));
        let key = (rule, deed.part, (!each).then_some(deed.subject()).flatten());
        if let Some(name) = self.way_sets.get(&key) {
            return Ok(name.clone());
        }
        let like = self.deeds.iter().filter(|other| other.is_like(deed));
        let one_subject = like.filter(|other| each || other.subject() == deed.subject());
        let rows: BTreeSet<RowId> = one_subject.filter_map(|other| other.it).map(|(_, row)| row).collect();
        let rows: Vec<RowId> = rows.into_iter().collect();
        let mut name = self.rule_set(rule);
        while self.seen.known(&name).is_some() || self.way_sets.values().any(|known| *known == name) {
            name.push_str("_2");
        }
        let of = match &base.it {
            It::Each(set, _) => self.of_each(&set.clone(), source, condition, base)?,
            _ => {
                self.read_source(source, base)?;
                let of = self.source_text(source, base)?;
                let mut with = base.clone();
                let relation = relation(source);
                with.slots.push(Some("it".to_owned()));
                with.rows.push(None);
                with.it = relation.map_or(It::Named, |table| It::Read(table, of.clone()));
                match condition {
                    None => of,
                    Some(condition) => format!("{of} where {}", self.tell(condition, &with)?),
                }
            }
        };
        self.find_all(&name, of, &rows)?;
        self.way_sets.insert(key, name.clone());
        Ok(name)
    }

    /// The rows of a source for every row of a set, as one source.
    fn of_each(
        &mut self,
        set: &str,
        source: &Source,
        condition: Option<&Expr>,
        base: &Frame,
    ) -> Result<String, Discard> {
        let Source::Rows { relation, tests } = source else { return Err(throw("a way over no rows".to_owned())) };
        if base.slots[0].as_deref() != Some("it") {
            return Err(throw("a way on rows that cannot be told".to_owned()));
        }
        let mentions = |expr: &Expr| {
            let mut found = false;
            expr.visit(&mut |part| found |= matches!(part, Expr::Field(0, _) | Expr::Var(0)));
            found
        };
        let (tied, plain): (Vec<_>, Vec<_>) =
            tests.iter().cloned().partition(|(_, _, values)| values.iter().any(mentions));
        // What each row of the set is tied by is read for each of them.
        let mut equal: BTreeMap<FieldId, Json> = BTreeMap::new();
        for (path, op, values) in &tied {
            if let ([(_, field)], TestOp::Compare(Compare::Eq), [value]) = (&path[..], op, &values[..]) {
                let told = self.tell(value, base)?;
                equal.insert(*field, json!({ "$": told }));
            }
        }
        let what = self.domain().table(*relation).own_name().replace('_', " ");
        self.read_each(set, *relation, &equal, &what)?;
        let reduced = Source::Rows { relation: *relation, tests: plain };
        let mut inner = base.clone();
        inner.slots = vec![Some("row".to_owned()), Some("it".to_owned())];
        inner.rows.resize(2, None);
        inner.alias = Some("row");
        let of = self.source_text(&reduced, base)?;
        inner.it = It::Read(*relation, of.clone());
        // Rows that a plain test leads over are read like those of any source.
        self.read_beyond(&reduced, base)?;
        let mut conditions = Vec::new();
        for test in &tied {
            conditions.push(self.test_text(test, &inner)?);
        }
        if let Some(condition) = condition {
            conditions.push(self.tell(condition, &inner)?);
        }
        Ok(format!("{of} where (exists row in {set} where ({}))", conditions.join(" and ")))
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

    fn test_text(&mut self, test: &(Path, TestOp, Vec<Expr>), frame: &Frame) -> Result<String, Discard> {
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

    /// What a cell has become by itself, because of what is asked for.
    fn moved(&self, (table, row, field): (TableId, RowId, FieldId)) -> Option<Value> {
        let after = self.last.row(table, row)?[field.index()].clone();
        let before = self.world.row(table, row).map(|cells| &cells[field.index()]);
        (before != Some(&after) && !matches!(after, Value::Ref(_))).then_some(after)
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
