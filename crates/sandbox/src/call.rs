//! One call under way: the tool, its arguments, who calls, and the state. Every verb is handed this and gives back an
//! answer or a refusal.

use crate::{
    access::Actor,
    arguments,
    compiled::{Compiled, CompiledTool, Given, Part},
    row::Row,
    state::{State, View},
};
use benchwright_base::{RowId, TableId, Value};
use benchwright_expr::{
    Compare, TestOp, TextOp,
    walk::{Operand, Test},
};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_schema::{Action, FilterKind, Tool};
use std::ops::ControlFlow;

/// One call of a tool on a table.
pub(crate) struct Call<'c> {
    pub(crate) actor: Actor<'c>,
    pub(crate) tool: &'c Tool,
    pub(crate) compiled_tool: &'c CompiledTool,
    pub(crate) given: Given<'c>,
    /// The tool's table; a native tool has none and does not use it.
    pub(crate) table: TableId,
}

impl<'c> Call<'c> {
    pub(crate) fn compiled(&self) -> &'c Compiled {
        self.actor.compiled
    }

    /// The tests that the given filters make.
    pub(crate) fn tests(&self) -> Result<Vec<Test<'c, Value>>, Refusal> {
        let mut tests = Vec::new();
        let declared = self.compiled().domain.table(self.table);
        for (at, filter) in self.tool.by.iter().enumerate() {
            let field = declared.field(filter.field);
            let path = &self.compiled_tool.paths[at][..];
            let parts = match filter.kind {
                FilterKind::Is => [Some((Part::Filter(at), TestOp::Compare(Compare::Eq))), None],
                FilterKind::Contains => [Some((Part::Filter(at), TestOp::Text(TextOp::Contains))), None],
                FilterKind::Range => [
                    Some((Part::From(at), TestOp::Compare(Compare::Ge))),
                    Some((Part::To(at), TestOp::Compare(Compare::Le))),
                ],
            };
            for (part, op) in parts.into_iter().flatten() {
                let Some((name, json)) = self.given.part(self.compiled_tool, part) else { continue };
                // Null asks for rows without a value; only equality can.
                let nullable = field.nullable && filter.kind == FilterKind::Is;
                let value = arguments::value(&self.compiled().domain, name, field.ty, nullable, None, json)?;
                if field.secret {
                    self.actor.require(self.table, Action::Reveal).map_err(|refusal| refusal.about(name))?;
                }
                let op = if value.is_null() { TestOp::IsNull } else { op };
                tests.push(Test { path, op, with: Operand::One(value) });
            }
        }
        Ok(tests)
    }

    /// Offers every row that passes the filters and that the actor may see, from an id on, in order of id.
    pub(crate) fn visible<'s>(
        &self,
        state: &'s State,
        tests: &[Test<'_, Value>],
        from: RowId,
        each: &mut dyn FnMut(&'s Row) -> ControlFlow<()>,
    ) -> Result<(), Refusal>
    where
        'c: 's,
    {
        self.actor.require(self.table, Action::Read)?;
        let view = View { compiled: self.compiled(), state };
        view.select_from(self.table, tests, from, &mut |row| {
            if !self.actor.may(state, self.table, Action::Read, row) || !self.may_test(state, tests, row) {
                return ControlFlow::Continue(());
            }
            each(row)
        });
        Ok(())
    }

    /// A filter on a secret field must not tell what the answer hides.
    fn may_test(&self, state: &State, tests: &[Test<'_, Value>], row: &Row) -> bool {
        let secret = |test: &Test<'_, Value>| {
            test.path.iter().any(|(table, field)| self.compiled().domain.table(*table).field(*field).secret)
        };
        !self.compiled().tables[self.table.index()].has_secrets
            || !tests.iter().any(secret)
            || self.actor.reveals(state, self.table, row)
    }

    /// The row that `id` or the key names: the first, and how many others the key matches.
    pub(crate) fn named_row<'s>(&self, state: &'s State) -> Result<(&'s Row, usize), Refusal>
    where
        'c: 's,
    {
        let domain = &self.compiled().domain;
        let name = &domain.table(self.table).name;
        if self.tool.by.is_empty() {
            let id = self.given.id(self.compiled_tool, domain, self.table)?;
            self.actor.require(self.table, Action::Read)?;
            return match state.get(self.table, id) {
                Some(row) if self.actor.may(state, self.table, Action::Read, row) => Ok((row, 0)),
                _ => Err(crate::draft::no_row(name, id)),
            };
        }
        let tests = self.tests()?;
        let (mut first, mut others) = (None, 0);
        self.visible(state, &tests, 0, &mut |row| {
            match first {
                None => first = Some(row),
                Some(_) => others += 1,
            }
            ControlFlow::Continue(())
        })?;
        match first {
            Some(row) => Ok((row, others)),
            None => Err(Refusal::new(RefusalCode::NotFound, format!("there is no {name} with this key"))),
        }
    }

    /// The id of the one row that `id` or the key names: what is to be written must not be guessed.
    pub(crate) fn only_row(&self, state: &State) -> Result<RowId, Refusal> {
        match self.named_row(state)? {
            (row, 0) => Ok(row.id()),
            (_, others) => {
                let message = format!("{} rows have this key; name one that only one has", others + 1);
                Err(Refusal::new(RefusalCode::InvalidArgument, message))
            }
        }
    }
}
