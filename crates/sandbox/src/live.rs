//! An episode's state as a judge reads it ([`benchwright_world::Terminal`]), without making a snapshot first.

use crate::{
    Episode, Sandbox,
    state::{State, View},
};
use benchwright_base::{DateTime, Digest, FieldId, RelationId, RowId, Value};
use benchwright_expr::{eval::Records, walk::Test};
use benchwright_world::{Changed, Terminal};
use std::ops::ControlFlow;

/// The state of an episode as it stands.
#[derive(Clone, Copy)]
pub struct Live<'e> {
    pub(crate) view: View<'e>,
    pub(crate) sandbox: &'e Sandbox,
    pub(crate) first: &'e State,
}

impl Episode {
    /// The state as it stands, for a judge.
    pub fn live(&self) -> Live<'_> {
        let view = View { compiled: &self.setting.sandbox.compiled, state: &self.state };
        Live { view, sandbox: &self.setting.sandbox, first: &self.setting.start }
    }
}

impl<'e> Records for Live<'e> {
    type Row = &'e [Value];

    fn row(&self, relation: RelationId, id: RowId) -> Option<&'e [Value]> {
        self.view.row(relation, id).map(|row| row.cells())
    }
    fn field(&self, row: &&'e [Value], field: FieldId) -> Value {
        row.get(field.index()).cloned().unwrap_or_default()
    }
    fn select(
        &self,
        relation: RelationId,
        tests: &[Test<'_, Value>],
        each: &mut dyn FnMut(&'e [Value]) -> ControlFlow<()>,
    ) {
        self.view.select(relation, tests, &mut |row| each(row.cells()));
    }
}

impl<'e> Terminal<'e> for Live<'e> {
    fn domain(&self) -> &str {
        &self.view.compiled.domain.name
    }
    fn first(&self) -> Option<Digest> {
        Some(self.sandbox.origin())
    }
    fn now(&self) -> DateTime {
        self.view.state.now
    }
    fn changes(&self, each: &mut dyn FnMut(Changed<'_>)) {
        self.view.state.each_change(self.first, each);
    }
}
