//! An episode that stands at a state which is only known as a document: what differs from the first state is put over it, so that
//! whoever judges it finds the same difference and the same rules as in the episode that the document was made of.

use crate::{
    Conditions, Episode, LoadError, Sandbox, check_counters, check_references, check_references_of, compiled::Compiled,
    row::Row, state::State,
};
use benchwright_base::{RelationId, RowId, Value};
use benchwright_pack::{Snapshot, SnapshotTable};
use benchwright_world::{Seat, WorldError};
use std::sync::Arc;

impl Sandbox {
    /// Whether its first state is the one that all its states come from: not so where it was loaded from a state midway.
    pub fn begins_at_origin(&self) -> bool {
        self.came_from.is_none()
    }

    /// An episode whose state is that of a snapshot. How it came there is not known: its trace is empty. What a state must keep is checked;
    /// that the snapshot came from this first state is for the caller to ask.
    pub fn standing_at(self: &Arc<Self>, seat: &Seat, last: &Snapshot) -> Result<Episode, WorldError> {
        let refused = |error: LoadError| WorldError::Refused(error.to_string());
        let mut episode = self.begin(seat, Conditions::default())?;
        episode.state = self.put_over(last).map_err(refused)?;
        Ok(episode)
    }

    /// The first state with what a snapshot has otherwise.
    fn put_over(&self, last: &Snapshot) -> Result<State, LoadError> {
        let compiled = &*self.compiled;
        let domain = &compiled.domain;
        let broken = |what: String| Err(LoadError::Snapshot(what));
        if last.domain_digest != domain.digest || last.tables.len() != domain.tables.len() {
            return broken(format!("it is not of {} as declared here", domain.name));
        }
        let mut state = self.first.clone();
        let (mut put, mut is_less) = (Vec::new(), false);
        for (at, table) in last.tables.iter().enumerate() {
            let (rows, gone) = put_table(compiled, &mut state, RelationId(at as u16), table)?;
            put.extend(rows);
            is_less |= gone > 0;
        }
        state.now = last.now;
        for (table, id) in put {
            let declared = domain.table(table);
            let rows = state.table(table);
            let Some(row) = rows.rows.get(id) else { continue };
            check_references_of(compiled, &state, table, row)?;
            for key in &declared.keys {
                if let Some(other) = rows.same_key(&compiled.tables[table.index()], &key.fields, row.cells(), id) {
                    let name = &declared.name;
                    return broken(format!("{name} {id} and {name} {other} have the same key"));
                }
            }
        }
        // Rows that are as they were refer to what was there.
        if is_less {
            check_references(compiled, &state)?;
        }
        Ok(state)
    }
}

/// Puts the rows of a table over those that are there, and says which are new or other, and how many are gone.
fn put_table(
    compiled: &Compiled,
    state: &mut State,
    table: RelationId,
    last: &SnapshotTable,
) -> Result<(Vec<(RelationId, RowId)>, usize), LoadError> {
    let declared = compiled.domain.table(table);
    let name = &declared.name;
    check_counters(name, last)?;
    let id_of = |row: &[Value]| row.first().and_then(Value::as_ref_id).unwrap_or_default();
    let mut ids: Vec<RowId> = last.rows.iter().map(|row| id_of(row)).collect();
    ids.sort_unstable();
    let wrong = last.rows.iter().any(|row| row.len() != declared.fields.len());
    if wrong || ids.first() == Some(&0) || ids.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(LoadError::Snapshot(format!("{name} has a row that is none, or two of one id")));
    }
    if ids.last().is_some_and(|last_id| *last_id >= last.next_id) {
        return Err(LoadError::Snapshot(format!("{name} has a row whose id is not yet given out")));
    }
    let gone: Vec<RowId> =
        state.table(table).rows.iter().map(|(id, _)| id).filter(|id| ids.binary_search(id).is_err()).collect();
    for id in &gone {
        state.remove(compiled, table, *id);
    }
    let mut put = Vec::new();
    for cells in &last.rows {
        let id = id_of(cells);
        // A row that is as it was stays the same one, so that a comparison of states skips it.
        if state.get(table, id).is_none_or(|known| known.cells() != &**cells) {
            state.put(compiled, table, Arc::new(Row::new(cells.clone().into_boxed_slice())));
            put.push((table, id));
        }
    }
    state.set_counters(table, last.next_id, last.next_number);
    Ok((put, gone.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_schema::{Folder, load};

    fn sandbox() -> Arc<Sandbox> {
        let files = [
            ("domain.toml", "name = 'tickets'\ntitle = 'Tickets'\nrole = 'clerk'\nabout = 'Tickets.'"),
            ("tables.toml", "[person]\nname = 'text unique'\n[ticket]\ntitle = 'text'\nowner = '-> person?'"),
            (
                "tools.toml",
                "add_person = 'create person'\nadd_ticket = 'create ticket'\nset_ticket = 'update ticket set title'\n\
                 drop_ticket = 'delete ticket'",
            ),
            ("policy.toml", "[access]\nclerk = ['any on *']"),
        ];
        let folder = Folder::new("tickets", files.map(|(path, text)| (path.to_owned(), text.to_owned())));
        let domain = Arc::new(load(&folder).unwrap());
        let empty = Arc::new(Sandbox::empty(Arc::clone(&domain), &[]).unwrap());
        let mut episode = empty.begin(&clerk(), Conditions::default()).unwrap();
        episode.call("add_person", r#"{"name":"Ann"}"#).unwrap();
        for title in ["a", "b", "c"] {
            episode.call("add_ticket", &format!(r#"{{"title":"{title}","owner":1}}"#)).unwrap();
        }
        let first = Snapshot { first: None, ..episode.snapshot() };
        Arc::new(Sandbox::from_snapshot(domain, &[], &first).unwrap())
    }

    fn clerk() -> Seat {
        Seat { role: "clerk".to_owned(), actor: None }
    }

    #[test]
    fn an_episode_stands_where_the_snapshot_was_taken() {
        let sandbox = sandbox();
        let mut episode = sandbox.begin(&clerk(), Conditions::default()).unwrap();
        episode.call("set_ticket", r#"{"id":2,"title":"other"}"#).unwrap();
        episode.call("drop_ticket", r#"{"id":1}"#).unwrap();
        episode.call("add_ticket", r#"{"title":"new"}"#).unwrap();
        let stands = sandbox.standing_at(&clerk(), &episode.snapshot()).unwrap();
        assert_eq!(stands.state_hash(), episode.state_hash());
        assert_eq!(stands.state_hash_from_scratch(), episode.state_hash());
        assert_eq!(stands.diff(), episode.diff());
        assert_eq!(stands.diff().changes.len(), 3);
        assert_eq!(stands.snapshot(), episode.snapshot());
        assert!(stands.trace().calls.is_empty());
        assert!(sandbox.begins_at_origin());
        let midway = Sandbox::from_snapshot(Arc::clone(sandbox.domain()), &[], &episode.snapshot()).unwrap();
        assert!(!midway.begins_at_origin());
    }

    #[test]
    fn a_snapshot_that_does_not_hold_together_is_refused() {
        let sandbox = sandbox();
        let good = sandbox.begin(&clerk(), Conditions::default()).unwrap().snapshot();
        assert!(sandbox.standing_at(&clerk(), &good).is_ok());
        let refused = |change: &dyn Fn(&mut Snapshot)| {
            let mut bad = good.clone();
            change(&mut bad);
            sandbox.standing_at(&clerk(), &bad).is_err()
        };
        assert!(refused(&|bad| drop(bad.tables[0].rows.pop())), "tickets refer to nobody");
        assert!(refused(&|bad| bad.tables[1].rows[0][0] = Value::Ref(2)), "two rows of one id");
        assert!(refused(&|bad| bad.tables[1].rows[0][0] = Value::Ref(9)), "an id that was not given out");
        assert!(refused(&|bad| drop(bad.tables[1].rows[0].pop())), "a cell too few");
        assert!(refused(&|bad| drop(bad.tables.pop())), "a table too few");
        assert!(refused(&|bad| bad.tables[0].next_id = RowId::MAX), "a counter beyond belief");
        let twice = |bad: &mut Snapshot| {
            bad.tables[0].next_id = 3;
            bad.tables[0].rows.push(vec![Value::Ref(2), Value::text("Ann")]);
        };
        assert!(refused(&twice), "a key twice");
    }
}
