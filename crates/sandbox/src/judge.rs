//! The rules of a domain, judged on the rows that were created, changed or deleted: after each call those that tools
//! enforce, at the end of a run those that only a verifier counts.

use crate::{
    compiled::Compiled,
    row::Row,
    sabotage::{Sabotage, on},
    state::{State, View},
};
use benchwright_base::{RowId, TableId};
use benchwright_expr::{
    Expr,
    eval::{Judge, Records},
};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::By;

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
    pub(crate) before: &'s State,
    pub(crate) after: &'s State,
    pub(crate) people: &'s [Option<RowId>],
}

impl Judgement<'_> {
    /// Refuses the first rule held by tools that a row breaks. The rows are known to be created, changed or deleted; where
    /// no rule speaks of a change and no row is gone, `before` is not looked at and may be the state after.
    pub(crate) fn refuse_broken(&self, touched: &[(TableId, RowId)]) -> Result<(), Refusal> {
        if on(Sabotage::SkipRules) {
            return Ok(());
        }
        for (table, row) in touched {
            let rules = &self.compiled.tables[table.index()].tool_rules;
            if let Some(rule) = self.broken(*table, *row, rules).first().copied() {
                let declared = &self.compiled.domain.rules[rule];
                let name = &self.compiled.domain.table(*table).name;
                return Err(Refusal {
                    code: RefusalCode::RuleViolated,
                    message: format!("{} ({name} {row})", declared.says),
                    argument: None,
                    rule: Some(declared.id.clone()),
                });
            }
        }
        Ok(())
    }

    /// Every rule of a holder that a row touched between the two states breaks.
    pub(crate) fn all_broken(&self, by: By) -> Vec<Broken> {
        let mut broken = Vec::new();
        for (table, row, _) in self.after.diff(self.before).changes {
            let rules = &self.compiled.tables[table.index()].rules;
            let found = self.broken(table, row, rules);
            let held = found.into_iter().filter(|rule| self.compiled.domain.rules[*rule].by == by);
            broken.extend(held.map(|rule| Broken { rule, table, row }));
        }
        broken.sort();
        broken
    }

    /// The rules among some that a created, changed or deleted row breaks.
    fn broken(&self, table: TableId, id: RowId, rules: &[(usize, Expr)]) -> Vec<usize> {
        let before_view = View { compiled: self.compiled, state: self.before };
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
