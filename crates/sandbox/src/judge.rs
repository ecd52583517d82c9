//! The rules of a domain, judged on the rows that were created, changed or deleted, and on the rows that such a row concerns
//! although nobody wrote them: after each call those that tools enforce, at the end of a run those that only a verifier counts.
//!
//! A row that was written has to keep every rule on it. A row that was not written is judged by the rules that read a row which
//! was; it breaks one only if it kept it before, so that a breach which was there already bars no work elsewhere.

use crate::{
    compiled::Compiled,
    row::Row,
    sabotage::{Sabotage, on},
    state::{State, View},
};
use benchwright_base::{RowId, TableId, Value};
use benchwright_expr::{
    Back, Compare, Expr, Path, Read, TestOp,
    eval::{Judge, Records, meets},
    walk::{Operand, Test},
};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::By;
use std::{collections::BTreeSet, ops::ControlFlow};

/// A rule that does not hold, and a row of which it does not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Broken {
    /// The rule's place in the domain.
    pub rule: usize,
    /// The table of the row.
    pub table: TableId,
    /// The id of the row that breaks it, or broke it by being deleted.
    pub row: RowId,
}

/// Two states to judge the difference of.
pub(crate) struct Judgement<'s> {
    pub(crate) compiled: &'s Compiled,
    /// The state before, which is made only if somebody asks for it.
    pub(crate) before: &'s dyn Fn() -> &'s State,
    pub(crate) after: &'s State,
    pub(crate) people: &'s [Option<RowId>],
}

/// A row that was written: its table, and as it was and is.
pub(crate) type Written<'r> = (TableId, Option<&'r Row>, Option<&'r Row>);

impl<'s> Judgement<'s> {
    /// Refuses the first rule held by tools that a row breaks. `touched` are rows that were created, changed or deleted and whose
    /// tables have rules, `written` are all of those.
    pub(crate) fn refuse_broken(&self, touched: &[(TableId, RowId)], written: &[Written<'_>]) -> Result<(), Refusal> {
        if on(Sabotage::SkipRules) {
            return Ok(());
        }
        // Only rules about changes, and rows that are gone, need the state before.
        let looks_back = touched.iter().any(|(table, row)| {
            self.compiled.tables[table.index()].tool_rules_look_back || self.after.get(*table, *row).is_none()
        });
        let before = if looks_back { (self.before)() } else { self.after };
        for (table, row) in touched {
            let rules = &self.compiled.tables[table.index()].tool_rules;
            if let Some(rule) = self.broken(before, *table, *row, rules).first().copied() {
                return Err(self.refusal(&Broken { rule, table: *table, row: *row }));
            }
        }
        match self.broken_elsewhere(By::Tool, written, true).first() {
            Some(broken) => Err(self.refusal(broken)),
            None => Ok(()),
        }
    }

    fn refusal(&self, broken: &Broken) -> Refusal {
        let declared = &self.compiled.domain.rules[broken.rule];
        let name = &self.compiled.domain.table(broken.table).name;
        Refusal {
            code: RefusalCode::RuleViolated,
            message: format!("{} ({name} {})", declared.says, broken.row),
            argument: None,
            rule: Some(declared.id.clone()),
        }
    }

    /// Every rule of a holder that what differs between the two states breaks.
    pub(crate) fn all_broken(&self, by: By) -> Vec<Broken> {
        let before = (self.before)();
        let mut broken = Vec::new();
        let mut written: Vec<Written<'_>> = Vec::new();
        for (table, row, _) in self.after.diff(before).changes {
            let rules = &self.compiled.tables[table.index()].rules;
            let found = self.broken(before, table, row, rules);
            let held = found.into_iter().filter(|rule| self.compiled.domain.rules[*rule].by == by);
            broken.extend(held.map(|rule| Broken { rule, table, row }));
            written.push((
                table,
                before.get(table, row).map(|row| &**row),
                self.after.get(table, row).map(|row| &**row),
            ));
        }
        broken.extend(self.broken_elsewhere(by, &written, false));
        broken.sort();
        broken
    }

    /// The rules of a holder that rows break which nobody wrote, because of rows that were written. All of them, or the first.
    fn broken_elsewhere(&self, by: By, written: &[Written<'_>], first: bool) -> Vec<Broken> {
        if on(Sabotage::OneSided) {
            return Vec::new();
        }
        let after = View { compiled: self.compiled, state: self.after };
        let mut concerned: BTreeSet<(usize, RowId)> = BTreeSet::new();
        for (table, old, new) in written {
            let wakes = &self.compiled.wakes[table.index()];
            for wake in wakes.iter().filter(|wake| self.compiled.standing[wake.standing].by == by) {
                if !counts(&wake.read, *old, *new) {
                    continue;
                }
                let mut found = |row: RowId| _ = concerned.insert((wake.standing, row));
                if let Some(new) = new.filter(|row| is_read(&wake.read, row)) {
                    go_back(&after, &wake.read.back, new, &mut found);
                }
                if let Some(old) = old.filter(|row| is_read(&wake.read, row)) {
                    // Where one row was written, and the way from it leads over others, these are as they were.
                    let over_others = wake.read.back.len() > 1 || matches!(&wake.read.back[..], [Back::Below { .. }]);
                    if over_others && written.len() > 1 {
                        let before = View { compiled: self.compiled, state: (self.before)() };
                        go_back(&before, &wake.read.back, old, &mut found);
                    } else {
                        go_back(&after, &wake.read.back, old, &mut found);
                    }
                }
            }
        }
        let mut broken = Vec::new();
        for (at, row) in concerned {
            let standing = &self.compiled.standing[at];
            let was_written = |(table, old, new): &Written<'_>| {
                *table == standing.table && old.or(*new).is_some_and(|known| known.id() == row)
            };
            if written.iter().any(was_written) || self.keeps(self.after, standing.table, row, &standing.require) {
                continue;
            }
            if self.keeps((self.before)(), standing.table, row, &standing.require) {
                broken.push(Broken { rule: standing.rule, table: standing.table, row });
                if first {
                    break;
                }
            }
        }
        broken
    }

    /// Whether a row that nobody wrote keeps a rule in one of the two states, at the time of the second: what time alone has
    /// brought about is no call's doing. A row that is not there keeps every rule.
    fn keeps(&self, state: &State, table: TableId, id: RowId, require: &Expr) -> bool {
        let view = View { compiled: self.compiled, state };
        let Some(row) = view.row(table, id) else { return true };
        let mut judge = Judge::new(&view, self.after.now).of(row);
        judge.actor = view.person(self.people, table);
        judge.holds(require)
    }

    /// The rules among some that a created, changed or deleted row breaks.
    fn broken(&self, before: &'s State, table: TableId, id: RowId, rules: &[(usize, Expr)]) -> Vec<usize> {
        let before_view = View { compiled: self.compiled, state: before };
        let after_view = View { compiled: self.compiled, state: self.after };
        let old = before_view.row(table, id);
        let new = after_view.row(table, id);
        // For a deleted row the predicate is read in the world before.
        let deleted = new.is_none();
        if deleted && old.is_none_or(|old| self.died_with_owner(table, old)) {
            return Vec::new();
        }
        let world = if deleted { &before_view } else { &after_view };
        let mut judge = Judge::new(world, world.state.now);
        judge.before = &before_view;
        judge.subject = if deleted { old } else { new };
        judge.subject_before = old;
        judge.deleted = deleted;
        judge.actor = world.person(self.people, table);
        rules.iter().filter(|(_, require)| !judge.holds(require)).map(|(rule, _)| *rule).collect()
    }

    /// Whether a row that is gone went with a row that owned it: such a row triggers no rule.
    fn died_with_owner(&self, table: TableId, old: &Row) -> bool {
        self.compiled.domain.table(table).fields.iter().zip(old.cells()).any(|(field, cell)| {
            match (field.owned, field.ty, cell.as_ref_id()) {
                (true, benchwright_expr::Type::Ref(owner), Some(id)) => self.after.get(owner, id).is_none(),
                _ => false,
            }
        })
    }
}

/// Whether a change of a row is one that somebody reads: the row came or went, or one of the fields is another. What is read by a
/// reference does not come or go alone: whoever refers to it was written too.
fn counts(read: &Read, old: Option<&Row>, new: Option<&Row>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => read.fields.iter().any(|field| old.get(*field) != new.get(*field)),
        _ => !matches!(read.back.first(), Some(Back::Holding { value, .. }) if value.is_empty()),
    }
}

/// Whether a row passes what is asked of the rows that are read.
fn is_read(read: &Read, row: &Row) -> bool {
    read.only.iter().all(|(field, op, values)| meets(row.get(*field), *op, values))
}

/// The rows that a way back leads to.
fn go_back(view: &View<'_>, way: &[Back], row: &Row, found: &mut dyn FnMut(RowId)) {
    let Some((step, rest)) = way.split_first() else { return found(row.id()) };
    match step {
        Back::All(table) => view.state.table(*table).rows.iter().for_each(|(id, _)| found(id)),
        Back::Holding { value, relation, field } => {
            let value = if value.is_empty() { Value::Ref(row.id()) } else { reached(view, row, value) };
            if value.is_null() {
                return;
            }
            let path = [(*relation, *field)];
            let test = Test { path: &path, op: TestOp::Compare(Compare::Eq), with: Operand::One(value) };
            view.select(*relation, &[test], &mut |next| {
                go_back(view, rest, next, found);
                ControlFlow::Continue(())
            });
        }
        Back::Below { relation, field } => {
            go_back(view, rest, row, found);
            let mut open = vec![row.id()];
            let mut below = BTreeSet::from([row.id()]);
            while let Some(id) = open.pop() {
                let table = view.state.table(*relation);
                for next in table.referring(&view.compiled.tables[relation.index()], *field, id) {
                    if below.insert(next.id()) {
                        open.push(next.id());
                        go_back(view, rest, next, found);
                    }
                }
            }
        }
    }
}

/// What a path reaches from a row, which need not be in the state any more.
fn reached(view: &View<'_>, row: &Row, path: &Path) -> Value {
    let mut row = row;
    for (at, (_, field)) in path.iter().enumerate() {
        let value = row.get(*field);
        let Some((next, _)) = path.get(at + 1) else { return value.clone() };
        match value.as_ref_id().and_then(|id| view.row(*next, id)) {
            Some(next) => row = next,
            None => return Value::Null,
        }
    }
    Value::Ref(row.id())
}

/// The first rule about states that a row breaks as it stands, whoever made it: for seeded worlds.
pub(crate) fn broken_as_it_stands(
    compiled: &Compiled,
    state: &State,
    table: TableId,
    id: RowId,
    skip: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let view = View { compiled, state };
    let judge = Judge::new(&view, state.now).of(view.row(table, id)?);
    let mut rules = compiled.tables[table.index()].rules.iter();
    let found = rules.find(|(rule, require)| !require.is_about_change() && !skip(*rule) && !judge.holds(require));
    found.map(|(rule, _)| *rule)
}
