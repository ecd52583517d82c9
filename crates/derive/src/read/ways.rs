//! How the ways of a policy are told: the row that a way is about, the rows for which it is taken, and those that it is over. A way is
//! written about one row; whoever plays takes it for all rows of a set, for those that would break the rule, or once for all.

use super::{
    Reader,
    frame::{Frame, It, relation, speaks_of_it},
};
use crate::{
    demand::{List, Origin},
    throw,
};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Compare, Expr, Source, TestOp, Type};
use benchwright_pack::{Find, FindPick};
use benchwright_project::Discard;
use benchwright_schema::ways::{Act, Wanted, Which};
use benchwright_spec::scenario::Form;
use benchwright_world::seen::Known;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

impl Reader<'_> {
    /// The frame that a deed of a way was written in.
    pub(super) fn way_frame(
        &mut self,
        at: usize,
        rule: usize,
        way: usize,
        on: (TableId, RowId),
    ) -> Result<Frame, Discard> {
        let part = self.deeds[at].part;
        let remedy = self.domain().rules[rule].ways[way].on.iter().find(|remedy| remedy.table == on.0);
        let Some(act) = remedy.and_then(|remedy| remedy.acts.get(part)) else {
            return Err(Discard::Fault("a deed of a way without an act".to_owned()));
        };
        let (subject, it) = self.subject(rule, way, on)?;
        let base = Frame::of_way(subject, on, it);
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
            // A row that a native call makes has no name; what it was made of has.
            if ons.len() == 1 && self.world.row(on.0, on.1).is_none() {
                return Ok((None, It::Named));
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
        let alike = Frame::of_way(told.clone(), on, It::Alike(set.clone(), table));
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
    pub(super) fn common(&mut self, set: &str, field: FieldId) -> Result<Option<String>, Discard> {
        let set = self.within.get(set).cloned().unwrap_or_else(|| set.to_owned());
        let Some(at) = self.scenario.member(&set) else { return Ok(None) };
        let Form::Rows { source: Source::Rows { tests, .. }, .. } = &self.scenario.cast[at].form else {
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
        let frame = Frame::of_way(subject, on, it);
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

    /// A list that a way passes to a tool.
    pub(super) fn list(&mut self, list: &List, frame: &Frame) -> Result<Json, Discard> {
        let Source::Rows { relation, .. } = &list.source else { return Err(throw("a list of no rows".to_owned())) };
        let name = format!("{}_to_{}", self.domain().table(*relation).own_name(), list.argument);
        match self.seen.known(&name) {
            None => {
                self.read_source(&list.source, frame)?;
                let of = self.source_text(&list.source, frame)?;
                self.find_all(&name, of, &list.rows)?;
            }
            Some(Known::Rows(_, rows)) if rows.iter().collect::<BTreeSet<_>>() == list.rows.iter().collect() => {}
            Some(_) => return Err(throw(format!("{name} means other rows already"))),
        }
        let told = self.of_each_row(&name, *relation, &list.path)?;
        Ok(json!({ "$each": [name, told] }))
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
}
