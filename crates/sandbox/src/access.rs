//! Who may do what: the grants of the caller's role, applied to a table or, where a grant has a condition, to each row.

use crate::{
    compiled::{Compiled, CompiledRole, Permit},
    row::Row,
    sabotage::{Sabotage, on},
    state::{State, View},
};
use benchwright_base::{RowId, TableId};
use benchwright_expr::eval::Judge;
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::Action;

/// Somebody acting on a state: the role, the person, and what is there to be seen.
#[derive(Clone, Copy)]
pub(crate) struct Actor<'s> {
    pub(crate) compiled: &'s Compiled,
    pub(crate) role: &'s CompiledRole,
    /// Who it is in each member; where nothing is joined there is one.
    pub(crate) people: &'s [Option<RowId>],
}

impl<'s> Actor<'s> {
    /// Whether the role may ever do this on a table.
    pub(crate) fn require(&self, table: TableId, action: Action) -> Result<(), Refusal> {
        match self.role.permit(table, action) {
            Permit::No => Err(self.forbidden(table, action, None)),
            _ => Ok(()),
        }
    }

    /// Whether the role may do this on a row, which is read in `state`.
    pub(crate) fn may(&self, state: &State, table: TableId, action: Action, row: &Row) -> bool {
        match self.role.permit(table, action) {
            Permit::No => false,
            Permit::Yes => true,
            Permit::If(_) if on(Sabotage::SkipRowConditions) => true,
            Permit::If(conditions) => {
                let view = View { compiled: self.compiled, state };
                let judge = self.judge(&view, state, table, row);
                conditions.iter().any(|condition| judge.holds(condition))
            }
        }
    }

    /// A judge of one row of a table as it is in a state.
    pub(crate) fn judge<'v>(
        &self,
        view: &'v View<'v>,
        state: &'v State,
        table: TableId,
        row: &'v Row,
    ) -> Judge<'v, View<'v>> {
        let mut judge = Judge::new(view, state.now).of(row);
        judge.actor = view.person(self.people, table);
        judge
    }

    /// Who it is in the domain that a table belongs to.
    pub(crate) fn person_at(&self, table: TableId) -> Option<RowId> {
        self.people[self.compiled.member_of[table.index()]]
    }

    /// Whether the secret fields of a row may be shown.
    pub(crate) fn reveals(&self, state: &State, table: TableId, row: &Row) -> bool {
        !self.compiled.tables[table.index()].has_secrets
            || on(Sabotage::ShowSecrets)
            || self.may(state, table, Action::Reveal, row)
    }

    /// The refusal of an action.
    pub(crate) fn forbidden(&self, table: TableId, action: Action, row: Option<RowId>) -> Refusal {
        let what = match action {
            Action::Read => "read",
            Action::Create => "create",
            Action::Update => "change",
            Action::Delete => "delete",
            Action::Reveal => "see secret fields of",
        };
        let name = &self.compiled.domain.table(table).name;
        let row = row.map(|row| format!(" {row}")).unwrap_or_default();
        Refusal::new(RefusalCode::Forbidden, format!("your role may not {what} {name}{row}"))
    }
}
