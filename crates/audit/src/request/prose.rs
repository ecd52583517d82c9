//! Texts in somebody's own words: one without a fact that it must mention, and one with a fact that nobody gave.

use super::{
    RequestSubject,
    done::Done,
    near_miss::Misses,
    state::{Key, put, row, tables},
};
use benchwright_base::{FieldId, Value};
use benchwright_pack::effects::{ExpectedCell, ExpectedRow, Prose};
use benchwright_schema::Stamp;

/// Facts of no world.
const FOREIGN: [&str; 3] = ["2031-05-17", "$73,911.27", "nobody.at.all@foreign.example"];

/// The facts that a text must mention, in words. Nothing, if one cannot be told.
pub(super) fn facts(subject: &RequestSubject<'_>, done: &Done, prose: &Prose) -> Option<Vec<String>> {
    prose.slots.iter().filter(|slot| !slot.optional).map(|slot| done.fact(subject, &slot.is)).collect()
}

/// Texts that are wanted, with the places of their cells.
pub(super) fn wanted<'e>(subject: &RequestSubject<'_>, wanted: &'e ExpectedRow, key: Key) -> Vec<(usize, &'e Prose)> {
    let table = subject.domain.table(key.0);
    let cells = wanted.cells.iter().filter_map(|(name, cell)| match cell {
        ExpectedCell::Prose(prose) => Some((table.field_named(name).map(FieldId::index)?, prose)),
        _ => None,
    });
    cells.collect()
}

/// Texts that lack a fact or have one too many.
pub(super) fn near_misses(
    misses: &mut Misses<'_, '_>,
    done: &Done,
    expected: &ExpectedRow,
    key: Key,
) -> Result<(), String> {
    let subject = misses.subject;
    for (field, prose) in wanted(subject, expected, key) {
        let name = subject.domain.table(key.0).fields[field].name.clone();
        let Some(facts) = facts(subject, done, prose) else { continue };
        let mut texts: Vec<(String, String)> = vec![("nothing".to_owned(), " ".to_owned())];
        for left_out in 0..facts.len() {
            let gone = facts[left_out].to_lowercase();
            let rest: Vec<&str> =
                facts.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, fact)| &**fact).collect();
            // A fact that another one has in it is mentioned all the same.
            if !rest.iter().any(|fact| fact.to_lowercase().contains(&gone)) {
                texts.push((format!("no {gone}"), format!("It is so: {}.", rest.join("; "))));
            }
        }
        let whole = facts.join("; ");
        let foreign = FOREIGN.into_iter().map(str::to_owned).chain(foreign_number(subject, done));
        texts.extend(foreign.map(|token| (token.clone(), format!("It is so: {whole}, see {token}."))));
        for (what, text) in texts {
            let mut state = done.state.clone();
            put(&mut state, key, field, Value::text(text));
            misses.state("prose", &format!("{name} of {} with {what}", expected.at), &state, &[&expected.of])?;
        }
    }
    Ok(())
}

/// The number of a document that has nothing to do with the request.
fn foreign_number(subject: &RequestSubject<'_>, done: &Done) -> Option<String> {
    let domain = &subject.domain;
    let cast = done.cast_rows();
    let known: Vec<String> = cast
        .iter()
        .filter_map(|key| row(&done.state, *key))
        .flat_map(|cells| cells.iter().filter_map(Value::as_text))
        .map(str::to_lowercase)
        .collect();
    for table in tables(domain) {
        let numbered = |field: &benchwright_schema::Field| matches!(field.stamp, Some(Stamp::Number { .. }));
        let Some(field) = domain.table(table).fields.iter().position(numbered) else { continue };
        for cells in &subject.first.tables[table.index()].rows {
            // Only letters and digits are a document's number; a link is none.
            let is_code = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric());
            let Some(number) = cells[field].as_text().filter(is_code) else { continue };
            let is_apart = cells[0].as_ref_id().is_some_and(|id| !cast.contains(&(table, id)));
            if is_apart && !known.iter().any(|text| text.contains(&number.to_lowercase())) {
                return Some(number.to_owned());
            }
        }
    }
    None
}
