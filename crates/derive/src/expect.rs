//! What is expected of a request beside its rows: the answer, the conditions on the end, the rules in play, and what is known of the
//! cast.

use crate::{
    Scene,
    attribute::Outcome,
    calls,
    demand::{self, Demanded},
    draw, eval, throw,
};
use benchwright_base::{RowId, TableId, Value};
use benchwright_expr::Type;
use benchwright_pack::effects::{
    AnswerType, AnswerValue, CastName, CastValue, Effects, EffectsKind, Ensured, ExpectedAnswer, ExpectedRow,
};
use benchwright_project::Discard;
use benchwright_sandbox::Episode;
use benchwright_schema::{By, codec};
use benchwright_spec::scenario::{self, Asked, Member, Told};
use benchwright_world::seen::Known;
use std::collections::BTreeMap;

impl Scene<'_> {
    /// What must be answered.
    pub(crate) fn answer(&self, demanded: &Demanded, outcome: &Outcome<'_>) -> Result<Option<ExpectedAnswer>, Discard> {
        let clauses = demand::in_force(&self.scenario.clauses, &self.scratch, &self.bound);
        let mut asked = clauses.into_iter().filter_map(|(_, clause)| match &clause.act {
            Asked::Answer { ty, is } => Some((clause, *ty, is)),
            _ => None,
        });
        let Some((clause, ty, is)) = asked.next() else { return Ok(None) };
        if asked.next().is_some() {
            return Err(throw("two answers are asked for".to_owned()));
        }
        let eye = eval::Eye::with_gone(&demanded.scratch, &self.scratch, &demanded.bound);
        let before = eval::Eye::of(&self.scratch, &self.bound);
        let domain = self.domain();
        let known = |value: &Value, ty: Type| AnswerValue::Known(vec![codec::show_value(domain, ty, value)]);
        let (list, values) = match is {
            Told::One(expr, of) => {
                let made = calls::cell_of(expr, &eye, None, None).and_then(|(table, row, field)| {
                    let name = outcome.made_name(table, row)?;
                    Some(AnswerValue::MadeField(name, domain.table(table).field(field).name.clone()))
                });
                (false, vec![made.unwrap_or_else(|| known(&eye.value(expr, None), *of))])
            }
            Told::Each(meant, path, of) => {
                let rows = demand::meant(meant, &self.scratch, &self.bound);
                if rows.len() > 12 {
                    return Err(throw("too long an answer".to_owned()));
                }
                let reached = rows.iter().filter_map(|row| match eye.row(meant.table, *row) {
                    Some(row) => Some(eye.reach(row, path)),
                    None => Some(before.reach(before.row(meant.table, *row)?, path)),
                });
                (true, reached.map(|value| known(&value, *of)).collect())
            }
        };
        let ty = match ty {
            scenario::AnswerType::Text => AnswerType::Text,
            scenario::AnswerType::Number => AnswerType::Number,
            scenario::AnswerType::Money => AnswerType::Money,
            scenario::AnswerType::Date => AnswerType::Date,
            scenario::AnswerType::Name => AnswerType::Name,
        };
        Ok(Some(ExpectedAnswer { of: clause.id.clone(), ty, list, is: values }))
    }

    /// The told conditions on the final state, with what their names stand for.
    pub(crate) fn ensured(&self, demanded: &Demanded, outcome: &Outcome<'_>) -> Vec<Ensured> {
        let domain = self.domain();
        let name = |table: TableId| domain.table(table).name.clone();
        let mut cast = Vec::new();
        for (given, known) in self.scenario.names().iter().zip(&demanded.bound) {
            let is = match known {
                Known::Row(table, Some(row)) => match outcome.made_name(*table, *row) {
                    Some(made) => CastValue::Made(name(*table), made),
                    None => CastValue::Row(name(*table), *row),
                },
                Known::Row(_, None) => continue,
                Known::Rows(table, rows) => CastValue::Rows(name(*table), rows.clone()),
                Known::Value(_, Value::DateTime(instant)) => CastValue::Instant(instant.to_string()),
                Known::Value(_, Value::Date(date)) => CastValue::Date(date.to_string()),
                Known::Value(_, Value::Int(number)) => CastValue::Number(*number),
                Known::Value(_, Value::Money(amount)) => CastValue::Money(*amount),
                Known::Value(_, Value::Text(text)) => CastValue::Text(text.to_string()),
                Known::Value(..) => continue,
            };
            cast.push(CastName { name: given.name.to_owned(), is });
        }
        let ensured = |ensure: &scenario::Ensure| Ensured {
            id: ensure.id.clone(),
            holds: ensure.text.clone(),
            cast: cast.clone(),
        };
        self.scenario.ensure.iter().map(ensured).collect()
    }

    pub(crate) fn effects(
        &self,
        expected: Vec<ExpectedRow>,
        answer: Option<ExpectedAnswer>,
        episode: &Episode,
    ) -> Effects {
        let domain = self.domain();
        let touched: Vec<TableId> = episode.diff().changes.iter().map(|(table, _, _)| *table).collect();
        let rules = domain
            .rules
            .iter()
            .filter(|rule| rule.by == By::Verifier && rule.on.iter().any(|(table, _)| touched.contains(table)))
            .map(|rule| rule.id.clone())
            .collect();
        Effects {
            kind: EffectsKind::Effects,
            version: Effects::VERSION,
            world: self.world.origin().to_string(),
            choices: Vec::new(),
            expected,
            ensure: Vec::new(),
            answer,
            refusal: None,
            rules,
            facts: self.facts(),
        }
    }

    /// What is known of the cast, as it may stand in any text.
    pub(crate) fn facts(&self) -> Vec<String> {
        let domain = self.domain();
        let mut facts: Vec<String> = Vec::new();
        for (_, known) in self.cast() {
            match known {
                Known::Value(ty, value) => facts.push(codec::show_value(domain, *ty, value)),
                Known::Row(table, _) | Known::Rows(table, _) => {
                    for row in draw::rows_of(known) {
                        let Some(cells) = self.scratch.row(*table, row) else { continue };
                        let declared = domain.table(*table);
                        for (field, cell) in declared.fields.iter().zip(cells).skip(1) {
                            let shown =
                                matches!(cell, Value::Text(_) | Value::Date(_) | Value::DateTime(_) | Value::Money(_));
                            if shown && !field.secret {
                                facts.push(codec::show_value(domain, field.ty, cell));
                            }
                        }
                    }
                }
            }
        }
        facts.sort();
        facts.dedup();
        facts
    }

    /// The members that the request speaks of, with what they stand for.
    fn cast(&self) -> impl Iterator<Item = (&Member, &Known)> {
        let members = self.scenario.cast.iter().zip(&self.bound).enumerate();
        members.filter(|(at, _)| !self.scenario.idle.contains(at)).map(|(_, member)| member)
    }

    pub(crate) fn cast_rows(&self) -> BTreeMap<String, Vec<RowId>> {
        let rows = self.cast().filter(|(_, known)| !matches!(known, Known::Value(..)));
        rows.map(|(member, known)| (member.name.clone(), draw::rows_of(known))).collect()
    }

    pub(crate) fn cast_in_words(&self) -> BTreeMap<String, serde_json::Value> {
        let domain = self.domain();
        let call = |table: TableId, row: RowId| {
            self.scratch.row(table, row).map_or_else(String::new, |cells| demand::called(domain, table, cells))
        };
        let words = self.cast().map(|(member, known)| {
            let value = match known {
                Known::Row(table, row) => row.map_or(serde_json::Value::Null, |row| call(*table, row).into()),
                Known::Rows(table, rows) => rows.iter().map(|row| call(*table, *row)).collect::<Vec<_>>().into(),
                Known::Value(ty, value) => codec::show_value(domain, *ty, value).into(),
            };
            (member.name.clone(), value)
        });
        words.collect()
    }
}
