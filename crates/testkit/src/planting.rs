//! A seeded world that a family of tests takes as its background: rows are found in it by the names of tables and fields, and
//! further ones are planted beside those that they are made after.

use benchwright_base::Value;
use benchwright_pack::Snapshot;
use benchwright_project::FamilyError;
use benchwright_sandbox::{Conditions, Sandbox};
use benchwright_schema::Domain;
use benchwright_world::Seat;
use std::sync::Arc;

/// A seeded world, in which rows are found and planted.
pub(crate) struct World<'d> {
    domain: &'d Domain,
    /// The state as it stands.
    pub(crate) state: Snapshot,
}

impl World<'_> {
    /// The small world of a domain at a seed.
    pub(crate) fn seeded(domain: &Domain, seed: u64) -> Result<World<'_>, FamilyError> {
        let sandbox = Sandbox::seeded(Arc::new(domain.clone()), &[], "small", seed);
        let sandbox = Arc::new(sandbox.map_err(|error| FamilyError(error.to_string()))?);
        let role = domain.roles.first().map_or_else(String::new, |role| role.name.clone());
        let seat = Seat { actor: sandbox.person_for(&role), role };
        let episode = sandbox.begin(&seat, Conditions::default()).map_err(|error| FamilyError(error.to_string()))?;
        Ok(World { domain, state: episode.snapshot() })
    }

    /// The places of a table and of one of its fields.
    pub(crate) fn at(&self, table: &str, field: &str) -> Result<(usize, usize), FamilyError> {
        let id = self.domain.table_named(table);
        let field_id = id.and_then(|id| self.domain.table(id).field_named(field));
        let found = id.zip(field_id).map(|(table, field)| (table.index(), field.index()));
        found.ok_or_else(|| FamilyError(format!("there is no {table}.{field}")))
    }

    /// The rows of a table, by id, with the value of a field.
    pub(crate) fn rows(&self, table: &str, field: &str) -> Result<Vec<(u32, &Value)>, FamilyError> {
        let (table, field) = self.at(table, field)?;
        let rows = self.state.tables[table].rows.iter();
        Ok(rows.filter_map(|row| Some((row[0].as_ref_id()?, &row[field]))).collect())
    }

    /// The ids of the rows whose field has a value.
    pub(crate) fn having(&self, table: &str, field: &str, value: &Value) -> Result<Vec<u32>, FamilyError> {
        Ok(self.rows(table, field)?.into_iter().filter(|(_, cell)| *cell == value).map(|(id, _)| id).collect())
    }

    /// Plants a row like another one.
    pub(crate) fn plant(&mut self, table: &str, like: u32, changes: &[(&str, String)]) -> Result<u32, FamilyError> {
        let (place, _) = self.at(table, "id")?;
        let row = self.state.tables[place].rows.iter().find(|cells| cells[0] == Value::Ref(like)).cloned();
        let mut row = row.ok_or_else(|| FamilyError(format!("{table} has no row {like}")))?;
        for (field, text) in changes {
            row[self.at(table, field)?.1] = Value::text(&**text);
        }
        let rows = &mut self.state.tables[place];
        let id = rows.next_id;
        row[0] = Value::Ref(id);
        rows.rows.push(row);
        (rows.next_id, rows.next_number) = (id + 1, rows.next_number + 1);
        Ok(id)
    }
}
