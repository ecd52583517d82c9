//! Filling a world from a domain's `seed.toml`: rows are made in the order of the steps, each field in the order written,
//! and every row keeps what a call would have to keep. Same size and seed, same bytes.

use crate::{
    access::Actor,
    compiled::Compiled,
    draft::Draft,
    judge::broken_as_it_stands,
    row::Row,
    state::{State, View},
};
use benchwright_base::{Date, DateTime, FieldId, RelationId, RowId, Stream, TableId, Value, date::DAY};
use benchwright_expr::{
    Expr, Path, Source, Type,
    eval::{Judge, Records as _},
};
use benchwright_schema::{People, Seed, SeedField, SeedRows, TextPart, codec};
use std::collections::BTreeMap;

/// How often a row that does not fit is drawn again.
const ATTEMPTS: u64 = 200;

/// So many people of the shared pool stand in another order from domain to domain.
const BLOCK: u32 = 4;

/// Why a world could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// The code of its native tools does not fit the domain.
    #[error(transparent)]
    Names(#[from] crate::NamesError),
    /// The domain does not say how.
    #[error("{0} has no seed.toml, so its worlds are empty")]
    NoSeed(String),
    /// There is no such size.
    #[error("{domain} has no size `{size}`; its sizes are {sizes}")]
    NoSize {
        /// The name of the domain.
        domain: String,
        /// What was asked for.
        size: String,
        /// The sizes that its `seed.toml` declares, as a list in words.
        sizes: String,
    },
    /// No row that fits was found.
    #[error("seed.toml:{line}: no fitting row of {table} in {ATTEMPTS} draws; the last one failed: {why}")]
    NoRow {
        /// Where the step begins.
        line: u32,
        /// The table that the step fills.
        table: String,
        /// What stood in the way of the last draw.
        why: String,
    },
    /// The world as filled breaks rules.
    #[error("the seeded world breaks {} rules, first: {}", .0.len(), .0.first().map_or("", |broken| broken))]
    BrokenRules(Vec<String>),
}

/// Fills a world.
pub(crate) fn fill(compiled: &Compiled, empty: &State, size: &str, seed: u64) -> Result<State, SeedError> {
    let domain = &compiled.domain;
    let Some(declared) = &domain.seed else { return Err(SeedError::NoSeed(domain.name.clone())) };
    let Some(size) = declared.sizes.iter().position(|name| name == size) else {
        let (size, sizes) = (size.to_owned(), declared.sizes.join(", "));
        return Err(SeedError::NoSize { domain: domain.name.clone(), size, sizes });
    };
    let nobody = vec![None; compiled.actors.len()];
    let mut filler = Filler { compiled, declared, state: empty.clone(), seed, nobody, known: BTreeMap::new() };
    for (at, step) in declared.rows.iter().enumerate() {
        // A rule that speaks of a table filled later is judged at the end.
        let later = |table: TableId| declared.rows[at + 1..].iter().any(|step| step.table == table);
        let deferred: Vec<bool> = domain
            .rules
            .iter()
            .map(|rule| rule.on.iter().any(|(_, require)| tables_in(require).into_iter().any(later)))
            .collect();
        filler.step(at, step, size, &deferred)?;
    }
    check_rules(compiled, &filler.state)?;
    Ok(filler.state)
}

fn check_rules(compiled: &Compiled, state: &State) -> Result<(), SeedError> {
    let mut broken = Vec::new();
    for (at, table) in compiled.domain.tables.iter().enumerate() {
        let id = RelationId(at as u16);
        for (row, _) in state.table(id).rows.iter() {
            if let Some(rule) = broken_as_it_stands(compiled, state, id, row, &|_| false) {
                broken.push(format!("{} by {} {row}", compiled.domain.rules[rule].id, table.name));
            }
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(SeedError::BrokenRules(broken)) }
}

/// The tables whose rows an expression looks for.
fn tables_in(expr: &Expr) -> Vec<TableId> {
    let mut tables = Vec::new();
    let mut add = |source: &Source| {
        if let Source::Rows { relation, .. } = source {
            tables.push(*relation);
        }
    };
    expr.visit(&mut |e| match e {
        Expr::Lookup { source, .. } => add(source),
        Expr::Fold(fold) => fold.binders.iter().for_each(|binder| add(&binder.source)),
        _ => {}
    });
    tables
}

struct Filler<'p> {
    compiled: &'p Compiled,
    declared: &'p Seed,
    state: State,
    seed: u64,
    /// Nobody acts while a world is filled.
    nobody: Vec<Option<RowId>>,
    /// In a joined domain: how many people of the shared pool a table has, those who are there and those who have left.
    known: BTreeMap<(TableId, bool), u32>,
}

/// What the rows of one batch share.
struct Batch {
    parent: Option<RowId>,
    /// For fields that must differ: the rows still to be given out.
    distinct: Vec<(FieldId, Vec<RowId>)>,
    /// The number of the person of the shared pool that the next row is for.
    person: u32,
}

impl Filler<'_> {
    fn stream(&self, step: usize, parts: &[&str]) -> Stream {
        let step = &self.declared.rows[step];
        let place = step.place.to_string();
        let mut key = vec![&*step.domain, "seed", &*place];
        key.extend_from_slice(parts);
        Stream::new(self.seed, &key)
    }

    fn step(&mut self, at: usize, step: &SeedRows, size: usize, deferred: &[bool]) -> Result<(), SeedError> {
        let (low, high) = step.count[size.min(step.count.len() - 1)];
        let parents: Vec<Option<RowId>> = match &step.each {
            None => vec![None],
            Some(source) => {
                let view = View { compiled: self.compiled, state: &self.state };
                Judge::new(&view, self.state.now).rows(source).into_iter().map(|row| Some(row.id())).collect()
            }
        };
        for parent in parents {
            let name = parent.unwrap_or_default().to_string();
            let count = self.stream(at, &["count", &name]).between(i64::from(low), i64::from(high));
            let mut batch = Batch { parent, distinct: Vec::new(), person: 0 };
            for _ in 0..count {
                if !self.make(at, step, &mut batch, deferred)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The number of the person that the nth row of a domain is for. The first is the same everywhere; after that the order differs
    /// a little from domain to domain, so that an id says nothing in another one.
    fn person(&self, domain: &str, people: &People, nth: u32) -> u32 {
        let alone = u32::from(!people.gone);
        if nth < alone {
            return people.first();
        }
        let (block, place) = ((nth - alone) / BLOCK, (nth - alone) % BLOCK);
        let mut order: Vec<u32> = (0..BLOCK).collect();
        let first = people.first() + alone + block * BLOCK;
        Stream::new(self.seed, &["people", "order", domain, &first.to_string()]).shuffle(&mut order);
        first + order[place as usize]
    }

    /// Makes one row; false if a field that must differ has run out of rows.
    fn make(&mut self, at: usize, step: &SeedRows, batch: &mut Batch, deferred: &[bool]) -> Result<bool, SeedError> {
        let declared = self.compiled.domain.table(step.table);
        let number = self.state.table(step.table).next_id;
        let person = step.people.as_ref().map(|people| (step.table, people.gone));
        if let (Some(people), Some(key)) = (&step.people, &person) {
            batch.person = self.person(&step.domain, people, self.known.get(key).copied().unwrap_or_default());
        }
        let mut why = String::new();
        for attempt in 0..ATTEMPTS {
            let mut cells: Vec<Value> =
                declared.fields.iter().map(|field| field.default.clone().unwrap_or_default()).collect();
            cells[0] = Value::Ref(number);
            let mut values = Vec::with_capacity(step.fields.len());
            for (field, how) in &step.fields {
                let name = &declared.field(*field).name;
                // Each field of each row has a stream of its own, so that a change to one line of `seed.toml` moves no other value.
                let mut stream = self.stream(at, &[name, &number.to_string(), &attempt.to_string()]);
                let Some(value) = self.value(at, step.table, *field, how, &cells, batch, &mut stream) else {
                    return Ok(false);
                };
                cells[field.index()] = value.clone();
                values.push((*field, value));
            }
            let actor = Actor { compiled: self.compiled, role: &self.compiled.roles[0], people: &self.nobody };
            // The state is taken out rather than copied: a copy would share every node, and each write would have to copy them.
            let mut draft = Draft::new(actor, std::mem::replace(&mut self.state, State::taken()));
            let broken = match draft.make(step.table, values) {
                Err(refusal) => Some(refusal.to_string()),
                Ok(id) => broken_as_it_stands(self.compiled, &draft.state, step.table, id, &|rule| deferred[rule])
                    .map(|rule| format!("it breaks {}", self.compiled.domain.rules[rule].id)),
            };
            let Some(broken) = broken else {
                self.state = draft.state;
                if let Some(key) = person {
                    *self.known.entry(key).or_default() += 1;
                }
                return Ok(true);
            };
            self.state = draft.taken_back();
            why = broken;
        }
        Err(SeedError::NoRow { line: step.line, table: declared.name.clone(), why })
    }

    /// The value of a field; `None` if it must differ and nothing is left.
    #[expect(clippy::too_many_arguments, reason = "the row under way is spread over its parts while it is made")]
    fn value(
        &self,
        at: usize,
        table: TableId,
        field: FieldId,
        how: &SeedField,
        cells: &[Value],
        batch: &mut Batch,
        stream: &mut Stream,
    ) -> Option<Value> {
        let ty = self.compiled.domain.table(table).field(field).ty;
        let row = Row::new(cells.into());
        let view = View { compiled: self.compiled, state: &self.state };
        let judge = Judge::new(&view, self.state.now).of(&row);
        Some(match how {
            SeedField::Null => Value::Null,
            SeedField::Parent => batch.parent.map_or(Value::Null, Value::Ref),
            SeedField::Computed(expr) => judge.value(expr),
            SeedField::Text(parts) => Value::text(self.text(at, parts, batch.person, &row, &judge, stream)),
            SeedField::OneOf(choices) => {
                let weights: Vec<u32> = choices.iter().map(|(_, weight)| *weight).collect();
                stream.weighted(&weights).map_or(Value::Null, |at| choices[at].0.clone())
            }
            SeedField::Between { low, high, step } => {
                let step = (*step).max(1);
                let number = low + stream.between(0, (high - low) / step) * step;
                match ty {
                    Type::Money => Value::Money(number),
                    Type::Quantity => Value::Quantity(number),
                    Type::Duration => Value::Duration(number),
                    Type::Time => Value::Time(benchwright_base::Time(number as i32)),
                    _ => Value::Int(number),
                }
            }
            SeedField::Instant { from, to, step } => instant(&judge.value(from), &judge.value(to), *step, stream),
            SeedField::Any(source, path) => self.reached(self.any(source, &judge, stream), source, path),
            SeedField::Distinct(source, path) => {
                if !batch.distinct.iter().any(|(of, _)| *of == field) {
                    let mut rows: Vec<RowId> = judge.rows(source).iter().map(|row| row.id()).collect();
                    let parent = batch.parent.unwrap_or_default().to_string();
                    self.stream(at, &["distinct", &field.0.to_string(), &parent]).shuffle(&mut rows);
                    batch.distinct.push((field, rows));
                }
                let (_, rows) = batch.distinct.iter_mut().find(|(of, _)| *of == field)?;
                // A draw that did not fit is not tried again.
                self.reached(Value::Ref(rows.pop()?), source, path)
            }
            SeedField::Maybe(percent, other) => {
                if stream.chance(u64::from(*percent), 100) {
                    Value::Null
                } else {
                    return self.value(at, table, field, other, cells, batch, stream);
                }
            }
            SeedField::Cases(cases) => {
                let case = cases.iter().find(|(when, _)| when.as_ref().is_none_or(|when| judge.holds(when)));
                match case {
                    Some((_, how)) => return self.value(at, table, field, how, cells, batch, stream),
                    None => Value::Null,
                }
            }
        })
    }

    fn any(&self, source: &Source, judge: &Judge<'_, View<'_>>, stream: &mut Stream) -> Value {
        if let Source::Rows { relation, tests } = source
            && tests.is_empty()
        {
            // Seeding never deletes, so ids are dense.
            let rows = self.state.table(*relation).rows.len() as u64;
            return if rows == 0 { Value::Null } else { Value::Ref(stream.below(rows) as RowId + 1) };
        }
        let rows = judge.rows(source);
        stream.pick(&rows).map_or(Value::Null, |row| Value::Ref(row.id()))
    }

    /// What a path reaches from a row of a source; the row itself where there is none.
    fn reached(&self, drawn: Value, source: &Source, path: &Path) -> Value {
        let (Source::Rows { relation, .. }, Some(id), false) = (source, drawn.as_ref_id(), path.is_empty()) else {
            return drawn;
        };
        let view = View { compiled: self.compiled, state: &self.state };
        match view.row(*relation, id) {
            Some(row) => Judge::new(&view, self.state.now).of(row).value(&Expr::Field(0, path.clone())),
            None => Value::Null,
        }
    }

    fn text(
        &self,
        at: usize,
        parts: &[TextPart],
        person: u32,
        row: &Row,
        judge: &Judge<'_, View<'_>>,
        stream: &mut Stream,
    ) -> String {
        let people = self.declared.rows[at].people.as_ref();
        let mut text = String::new();
        for part in parts {
            match part {
                TextPart::Plain(plain) => text.push_str(plain),
                TextPart::Pool(pool) => {
                    let (name, words) = &self.declared.pools[*pool];
                    // Who somebody is does not depend on the table, so it is the same person in every member.
                    let drawn = if people.is_some_and(|people| people.pools.contains(pool)) {
                        let own_name = name.rsplit('.').next().unwrap_or(name);
                        Stream::new(self.seed, &["people", own_name, &person.to_string()]).pick(words)
                    } else {
                        stream.pick(words)
                    };
                    if let Some(word) = drawn {
                        text.push_str(word);
                    }
                }
                TextPart::Person => text.push_str(&person.to_string()),
                TextPart::Number(digits) => {
                    let digits = *digits;
                    text.push_str(&format!("{:0digits$}", row.id()));
                }
                TextPart::Field { path, slug: as_slug } => {
                    let shown = self.show(path, judge);
                    text.push_str(&if *as_slug { slug(&shown) } else { shown });
                }
            }
        }
        text
    }

    /// What a path reaches from the row under way, as text; nothing where it ends early.
    fn show(&self, path: &Path, judge: &Judge<'_, View<'_>>) -> String {
        let value = judge.value(&Expr::Field(0, path.clone()));
        match path.last() {
            Some((table, field)) if !value.is_null() => {
                codec::show_value(&self.compiled.domain, self.compiled.domain.table(*table).field(*field).ty, &value)
            }
            _ => String::new(),
        }
    }
}

/// A date or instant between two, both included, in whole steps from the first.
fn instant(from: &Value, to: &Value, step: i64, stream: &mut Stream) -> Value {
    let mut draw = |low: i64, high: i64, step: i64| low + stream.between(0, ((high - low) / step).max(0)) * step;
    match (from, to) {
        (Value::Date(from), Value::Date(to)) => {
            Value::Date(Date(draw(i64::from(from.0), i64::from(to.0), (step / DAY).max(1)) as i32))
        }
        (Value::DateTime(from), Value::DateTime(to)) => Value::DateTime(DateTime(draw(from.0, to.0, step.max(1)))),
        _ => Value::Null,
    }
}

/// Lower case, with dots for spaces and nothing but letters and digits besides.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if (c == ' ' || c == '-') && !slug.ends_with('.') {
            slug.push('.');
        }
    }
    slug.trim_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_is_fit_for_an_address() {
        assert_eq!(slug("Ana-María O'Neil"), "ana.mara.oneil");
        assert_eq!(slug(" Ltd. "), "ltd");
    }
}
