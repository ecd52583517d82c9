//! Draws the cast of a scenario, plants what it presumes, and settles what is to be found.

use crate::{
    eval::{Eye, id_of},
    throw,
};
use benchwright_base::{Date, DateTime, FieldId, RelationId, RowId, Stream, TableId, Value, date::DAY};
use benchwright_expr::{Expr, GivenType, Source, Type};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_project::Discard;
use benchwright_sandbox::{Sandbox, Scratch};
use benchwright_schema::Stamp;
use benchwright_spec::scenario::{Blocked, Form, Generator, Member, Pick, Plant, Planted, Scenario};
use benchwright_world::seen::Known;
use std::sync::Arc;

/// Which draw of which task.
#[derive(Clone, Copy)]
pub(crate) struct Lot<'a> {
    pub(crate) pattern: &'a str,
    pub(crate) tier: &'a str,
    pub(crate) seed: u64,
    pub(crate) attempt: u32,
}

impl Lot<'_> {
    /// The random stream of one thing. Blocked variants draw what the feasible task draws, so no variant stands in the key.
    pub(crate) fn stream(&self, of: &[&str]) -> Stream {
        let attempt = self.attempt.to_string();
        let mut key = vec![self.pattern, self.tier, &*attempt];
        key.extend_from_slice(of);
        Stream::new(self.seed, &key)
    }
}

/// A world with its cast.
pub(crate) struct Drawn {
    /// The world as planted.
    pub(crate) scratch: Scratch,
    /// What members stand for, in the order of the cast.
    pub(crate) bound: Vec<Known>,
    /// The rows that will do for members that are anybody's choice, by the member's place.
    pub(crate) choices: Vec<(usize, Vec<RowId>)>,
    /// Rows planted as doubles of a member's: member, row.
    pub(crate) doubles: Vec<(usize, RowId)>,
    /// Rows planted so that a condition matters.
    pub(crate) edges: Vec<(TableId, RowId)>,
}

/// Draws the cast and plants.
pub(crate) fn draw(scenario: &Scenario, base: &Arc<Sandbox>, lot: &Lot<'_>) -> Result<Drawn, Discard> {
    let mut drawn = Drawn {
        scratch: Scratch::new(base),
        bound: Vec::new(),
        choices: Vec::new(),
        doubles: Vec::new(),
        edges: Vec::new(),
    };
    for at in 0..scenario.cast.len() {
        let known = settle(scenario, at, &drawn, lot, false)?;
        drawn.bound.push(known.0);
    }
    for (nth, plant) in scenario.plants.iter().enumerate() {
        plant_one(scenario, plant, nth, &mut drawn, lot)?;
    }
    Ok(drawn)
}

/// Plants the fact of a variant.
pub(crate) fn plant_variant(
    scenario: &Scenario,
    variant: &Blocked,
    drawn: &mut Drawn,
    lot: &Lot<'_>,
) -> Result<(), Discard> {
    for (nth, plant) in variant.plants.iter().enumerate() {
        plant_one(scenario, plant, scenario.plants.len() + nth, drawn, lot)?;
    }
    Ok(())
}

/// Plants, if it is for the tier; what is to be found is what it is in the world as planted so far.
fn plant_one(scenario: &Scenario, plant: &Plant, nth: usize, drawn: &mut Drawn, lot: &Lot<'_>) -> Result<(), Discard> {
    if !plant.tiers.is_empty() && !plant.tiers.iter().any(|tier| tier == lot.tier) {
        return Ok(());
    }
    for at in 0..scenario.cast.len() {
        if !scenario.cast[at].is_drawn() {
            drawn.bound[at] = settle(scenario, at, drawn, lot, false)?.0;
        }
    }
    self::plant(plant, nth, drawn, lot)
}

/// Settles what is to be found in the world as it is now, and holds what was drawn to its own terms. A member that a variant has lost
/// is let go.
pub(crate) fn find(
    scenario: &Scenario,
    variant: Option<&Blocked>,
    drawn: &mut Drawn,
    lot: &Lot<'_>,
) -> Result<(), Discard> {
    drawn.choices.clear();
    let lost = variant.and_then(|variant| variant.lost.as_ref()).map(|lost| lost.member);
    for (at, member) in scenario.cast.iter().enumerate() {
        if member.is_drawn() {
            // A variant keeps the draw of the task that it is a variant of.
            if variant.is_none() && !still(member, drawn, at) {
                return Err(throw(format!("a plant unsettles {}", member.name)));
            }
            continue;
        }
        let (known, choice) = settle(scenario, at, drawn, lot, Some(at) != lost && !scenario.idle.contains(&at))?;
        drawn.bound[at] = known;
        drawn.choices.extend(choice.map(|choice| (at, choice)));
    }
    Ok(())
}

/// Whether a drawn row is still one of those that could be drawn.
fn still(member: &Member, drawn: &Drawn, at: usize) -> bool {
    let Form::Rows { source, condition, .. } = &member.form else { return true };
    let eye = Eye::of(&drawn.scratch, &drawn.bound[..at]);
    let rows: Vec<RowId> = eye.rows(source, condition.as_ref(), None).into_iter().map(id_of).collect();
    match &drawn.bound[at] {
        Known::Row(_, Some(row)) => rows.contains(row),
        Known::Rows(_, ids) => ids.iter().all(|row| rows.contains(row)),
        _ => true,
    }
}

/// What a member stands for; with `prove`, what does not make a good task is thrown away.
fn settle(
    scenario: &Scenario,
    at: usize,
    drawn: &Drawn,
    lot: &Lot<'_>,
    prove: bool,
) -> Result<(Known, Option<Vec<RowId>>), Discard> {
    let member = &scenario.cast[at];
    let eye = Eye::of(&drawn.scratch, &drawn.bound[..at]);
    let name = &member.name;
    match &member.form {
        Form::Is(expr) => {
            let value = eye.value(expr, None);
            Ok((known_of(member.is, value), None))
        }
        Form::Drawn(generator) => {
            let mut stream = lot.stream(&["cast", name]);
            let GivenType::Value(ty) = member.is else { return Err(Discard::Fault(format!("{name} is no value"))) };
            let value = make_value(generator, ty, &eye, None, None, 0, &mut stream);
            Ok((Known::Value(ty, value), None))
        }
        Form::Number { range: (low, high), condition } => {
            let found = (*low..=*high).find(|number| {
                let mut bound = drawn.bound[..at].to_vec();
                bound.push(Known::Value(Type::Int, Value::Int(*number)));
                Eye::of(&drawn.scratch, &bound).holds(condition, None)
            });
            match found {
                Some(number) => Ok((Known::Value(Type::Int, Value::Int(number)), None)),
                None if prove => Err(throw(format!("no number for {name}"))),
                None => Ok((Known::Value(Type::Int, Value::Null), None)),
            }
        }
        Form::Ask { table, .. } => Ok((Known::Rows(*table, Vec::new()), None)),
        Form::Rows { pick, source, condition, by, given } => {
            let rows = eye.rows(source, condition.as_ref(), None);
            let size = scenario.tiers.iter().find(|(tier, _)| tier == lot.tier);
            let size =
                size.and_then(|(_, tier)| tier.sizes.iter().find(|(member, _)| *member == at)).map(|(_, size)| *size);
            let table = member.table().unwrap_or(benchwright_base::RelationId(0));
            if let (true, Some(given)) = (prove, given)
                && !rows.iter().all(|row| eye.holds(given, Some(row)))
            {
                return Err(throw(format!("{name} is not as given")));
            }
            pick_rows(*pick, by.as_ref(), rows, table, size, name, &eye, lot, prove)
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "a form of the cast has as many parts")]
fn pick_rows(
    pick: Pick,
    by: Option<&Expr>,
    rows: Vec<&[Value]>,
    table: TableId,
    size: Option<(u32, u32)>,
    name: &str,
    eye: &Eye<'_>,
    lot: &Lot<'_>,
    prove: bool,
) -> Result<(Known, Option<Vec<RowId>>), Discard> {
    let ids = |rows: &[&[Value]]| -> Vec<RowId> { rows.iter().map(|row| id_of(row)).collect() };
    let fits = |count: usize| size.is_none_or(|(low, high)| (low as usize..=high as usize).contains(&count));
    match pick {
        Pick::Draw(None) => {
            let mut stream = lot.stream(&["cast", name]);
            let Some(row) = stream.pick(&rows) else { return Err(throw(format!("nobody for {name}"))) };
            Ok((Known::Row(table, Some(id_of(row))), None))
        }
        Pick::Draw(Some(range)) => {
            let (low, high) = size.unwrap_or(range);
            let mut stream = lot.stream(&["cast", name]);
            let count = stream.between(i64::from(low), i64::from(high)) as usize;
            if rows.len() < count {
                return Err(throw(format!("too few for {name}")));
            }
            let mut rows = rows;
            stream.shuffle(&mut rows);
            rows.truncate(count);
            let mut ids = ids(&rows);
            ids.sort_unstable();
            Ok((Known::Rows(table, ids), None))
        }
        Pick::The => match &rows[..] {
            [one] => Ok((Known::Row(table, Some(id_of(one))), None)),
            many if prove => Err(throw(format!("{} {name}", if many.is_empty() { "no" } else { "more than one" }))),
            many => Ok((Known::Row(table, many.first().map(|row| id_of(row))), None)),
        },
        Pick::Any => match &rows[..] {
            [] if prove => Err(throw(format!("no {name}"))),
            many => Ok((Known::Row(table, many.first().map(|row| id_of(row))), Some(ids(many)))),
        },
        Pick::All => {
            if prove && (rows.is_empty() || !fits(rows.len())) {
                return Err(throw(format!("{} of {name}", if rows.is_empty() { "none" } else { "another number" })));
            }
            Ok((Known::Rows(table, ids(&rows)), None))
        }
        Pick::First(count) | Pick::Last(count) => {
            let Some(by) = by else { return Err(Discard::Fault(format!("{name} has no order"))) };
            let mut keyed: Vec<(Value, RowId)> =
                rows.iter().map(|row| (eye.value(by, Some(row)), id_of(row))).collect();
            if matches!(pick, Pick::Last(_)) {
                keyed.sort_by(|(a, x), (b, y)| (b, x).cmp(&(a, y)));
            } else {
                keyed.sort();
            }
            let cut = count.unwrap_or(1) as usize;
            let tie = keyed.len() > cut && keyed[cut - 1].0 == keyed[cut].0;
            if prove && (keyed.len() < cut || tie) {
                return Err(throw(format!("{} {name}", if tie { "a tie at the cut of" } else { "too few for" })));
            }
            keyed.truncate(cut);
            let ids: Vec<RowId> = keyed.into_iter().map(|(_, row)| row).collect();
            Ok(match count {
                Some(_) => (Known::Rows(table, ids), None),
                None => (Known::Row(table, ids.first().copied()), None),
            })
        }
    }
}

/// A value as what a name of a type stands for.
pub(crate) fn known_of(is: GivenType, value: Value) -> Known {
    match is {
        GivenType::Row(table) => Known::Row(table, value.as_ref_id()),
        GivenType::Rows(table) => Known::Rows(table, value.as_ref_id().into_iter().collect()),
        GivenType::Value(ty) => Known::Value(ty, value),
    }
}

/// A value of a generator.
fn make_value<'e>(
    generator: &Generator,
    ty: Type,
    eye: &Eye<'e>,
    subject: Option<&'e [Value]>,
    it: Option<&'e [Value]>,
    number: RowId,
    stream: &mut Stream,
) -> Value {
    let value = |expr: &Expr| match subject {
        Some(subject) => eye.value_on(expr, subject, it),
        None => eye.value(expr, it),
    };
    match generator {
        Generator::Is(expr) => value(expr),
        Generator::Text(parts) => Value::text(eye.text(parts, it, subject, number)),
        Generator::OneOf(choices) => {
            let weights: Vec<u32> = choices.iter().map(|(_, weight)| *weight).collect();
            stream.weighted(&weights).map_or(Value::Null, |at| choices[at].0.clone())
        }
        Generator::Between(low, high, step) => {
            let number = low + stream.between(0, (high - low) / step) * step;
            match ty {
                Type::Money => Value::Money(number * 100),
                Type::Quantity => Value::Quantity(number * 1000),
                Type::Duration => Value::Duration(number),
                _ => Value::Int(number),
            }
        }
        Generator::Instant(from, to, step) => match (value(from), value(to)) {
            (Value::Date(from), Value::Date(to)) => {
                let days = (step / DAY).max(1);
                let steps = (i64::from(to.0 - from.0) / days).max(0);
                Value::Date(Date(from.0 + (stream.between(0, steps) * days) as i32))
            }
            (Value::DateTime(from), Value::DateTime(to)) => {
                let steps = ((to.0 - from.0) / step.max(&1)).max(0);
                Value::DateTime(DateTime(from.0 + stream.between(0, steps) * step))
            }
            _ => Value::Null,
        },
        Generator::Any(source, condition, path) => {
            let rows = eye.rows(source, condition.as_ref(), subject);
            stream.pick(&rows).map_or(Value::Null, |row| match path.is_empty() {
                true => Value::Ref(id_of(row)),
                false => eye.reach(row, path),
            })
        }
        Generator::Parent => it.map_or(Value::Null, |row| Value::Ref(id_of(row))),
        Generator::Null => Value::Null,
    }
}

fn plant(plant: &Plant, nth: usize, drawn: &mut Drawn, lot: &Lot<'_>) -> Result<(), Discard> {
    let nth = nth.to_string();
    let times = match plant.count {
        None => 1,
        Some((low, high)) => lot.stream(&["plant", &nth, "count"]).between(i64::from(low), i64::from(high)),
    };
    for time in 0..times {
        let time = time.to_string();
        let stream = |field: FieldId, row: RowId| {
            lot.stream(&["plant", &nth, &time, &field.index().to_string(), &row.to_string()])
        };
        match &plant.act {
            Planted::Rows(each) => {
                let parents: Vec<Option<RowId>> = match each {
                    None => vec![None],
                    Some((source, condition)) => {
                        let eye = Eye::of(&drawn.scratch, &drawn.bound);
                        eye.rows(source, condition.as_ref(), None).into_iter().map(|row| Some(id_of(row))).collect()
                    }
                };
                let parent_table = each.as_ref().and_then(|(source, _)| match source {
                    Source::Rows { relation, .. } => Some(*relation),
                    _ => None,
                });
                for parent in parents {
                    let it = parent_table.zip(parent);
                    let cells = planted_cells(plant, None, it, drawn, &stream);
                    match drawn.scratch.make(plant.table, cells) {
                        Ok(_) => {}
                        Err(refusal) if refusal.code == RefusalCode::Duplicate => {}
                        Err(refusal) => return Err(throw(format!("a plant does not fit: {}", refusal.message))),
                    }
                }
            }
            Planted::Change(source, condition) => {
                let rows: Vec<RowId> = {
                    let eye = Eye::of(&drawn.scratch, &drawn.bound);
                    eye.rows(source, condition.as_ref(), None).into_iter().map(id_of).collect()
                };
                for row in rows {
                    change(plant, row, drawn, &stream)?;
                }
            }
            Planted::ChangeMember(member) => {
                let rows = rows_of(&drawn.bound[*member]);
                for row in rows {
                    change(plant, row, drawn, &stream)?;
                }
            }
            Planted::Double(member) => double(plant, *member, drawn, lot, &nth, &stream)?,
        }
    }
    Ok(())
}

/// The rows that a name stands for.
pub(crate) fn rows_of(known: &Known) -> Vec<RowId> {
    match known {
        Known::Row(_, row) => row.iter().copied().collect(),
        Known::Rows(_, rows) => rows.clone(),
        Known::Value(..) => Vec::new(),
    }
}

/// The cells of a planted row, each of which sees those before it.
fn planted_cells(
    plant: &Plant,
    of: Option<RowId>,
    it: Option<(TableId, RowId)>,
    drawn: &Drawn,
    stream: &dyn Fn(FieldId, RowId) -> Stream,
) -> Vec<(FieldId, Value)> {
    let domain = drawn.scratch.domain();
    let declared = domain.table(plant.table);
    let number = of.unwrap_or_else(|| drawn.scratch.next_id(plant.table));
    let mut row: Vec<Value> = match of.and_then(|row| drawn.scratch.row(plant.table, row)) {
        Some(cells) => cells.to_vec(),
        None => declared.fields.iter().map(|field| field.default.clone().unwrap_or_default()).collect(),
    };
    row[0] = Value::Ref(number);
    let mut cells = Vec::new();
    for (field, generator) in &plant.cells {
        let value = {
            let eye = Eye::of(&drawn.scratch, &drawn.bound);
            let it = it.and_then(|(table, row)| eye.row(table, row));
            let ty = declared.field(*field).ty;
            make_value(generator, ty, &eye, Some(&row), it, number, &mut stream(*field, number))
        };
        row[field.index()] = value.clone();
        cells.push((*field, value));
    }
    cells
}

fn change(
    plant: &Plant,
    row: RowId,
    drawn: &mut Drawn,
    stream: &dyn Fn(FieldId, RowId) -> Stream,
) -> Result<(), Discard> {
    let cells = planted_cells(plant, Some(row), None, drawn, stream);
    let set = drawn.scratch.set(plant.table, row, cells);
    set.map(drop).map_err(|refusal| throw(format!("a plant does not fit: {}", refusal.message)))
}

/// A row like another, with what must differ made different: stamped numbers are the world's, unique texts get a number.
pub(crate) fn like(scratch: &Scratch, table: TableId, row: RowId) -> Vec<(FieldId, Value)> {
    let domain = scratch.domain();
    let declared = domain.table(table);
    let Some(cells) = scratch.row(table, row) else { return Vec::new() };
    let unique = |field: FieldId| declared.keys.iter().any(|key| key.fields == [field]);
    let mut copied = Vec::new();
    for (at, field) in declared.fields.iter().enumerate().skip(1) {
        let id = FieldId(at as u16);
        if matches!(field.stamp, Some(Stamp::Number { .. })) {
            continue;
        }
        let value = match (&cells[at], unique(id)) {
            (Value::Text(text), true) => match text.split_once('@') {
                Some((name, host)) => Value::text(format!("{name}.{}@{host}", scratch.next_id(table))),
                None => Value::text(format!("{text} {}", scratch.next_id(table))),
            },
            (value, _) => value.clone(),
        };
        copied.push((id, value));
    }
    copied
}

/// Whatever leads to one row leads to another instead.
fn lead_elsewhere(table: TableId, old: RowId, new: RowId, drawn: &mut Drawn) -> Result<(), Refusal> {
    let domain = Arc::clone(drawn.scratch.domain());
    for (at, declared) in domain.tables.iter().enumerate() {
        let leads: Vec<FieldId> = (0..declared.fields.len())
            .filter(|field| declared.fields[*field].ty == Type::Ref(table))
            .map(|field| FieldId(field as u16))
            .collect();
        let from = RelationId(at as u16);
        let is_old = |cells: &[Value], field: &FieldId| cells[field.index()].as_ref_id() == Some(old);
        let moved: Vec<(RowId, Vec<(FieldId, Value)>)> = drawn
            .scratch
            .rows(from)
            .filter(|cells| (from, id_of(cells)) != (table, new) && (from, id_of(cells)) != (table, old))
            .map(|cells| {
                let leads = leads.iter().filter(|field| is_old(cells, field));
                (id_of(cells), leads.map(|field| (*field, Value::Ref(new))).collect())
            })
            .filter(|(_, cells): &(_, Vec<_>)| !cells.is_empty())
            .collect();
        for (row, cells) in moved {
            drawn.scratch.set(from, row, cells)?;
        }
    }
    Ok(())
}

fn double(
    plant: &Plant,
    member: usize,
    drawn: &mut Drawn,
    lot: &Lot<'_>,
    nth: &str,
    stream: &dyn Fn(FieldId, RowId) -> Stream,
) -> Result<(), Discard> {
    let Some(row) = rows_of(&drawn.bound[member]).first().copied() else { return Ok(()) };
    let mut cells = like(&drawn.scratch, plant.table, row);
    let differs = planted_cells(plant, None, None, drawn, stream);
    let fits = |refusal: Refusal| throw(format!("a double does not fit: {}", refusal.message));
    // Which of the two is meant must not show by which is older.
    if lot.stream(&["plant", nth, "older"]).below(2) == 0 {
        drawn.scratch.set(plant.table, row, differs).map_err(fits)?;
        let made = drawn.scratch.make(plant.table, cells).map_err(fits)?;
        lead_elsewhere(plant.table, row, made, drawn).map_err(fits)?;
        match &mut drawn.bound[member] {
            Known::Row(_, meant) => *meant = Some(made),
            Known::Rows(_, rows) => {
                rows.retain(|meant| *meant != row);
                rows.push(made);
                rows.sort_unstable();
            }
            Known::Value(..) => {}
        }
        drawn.doubles.push((member, row));
        return Ok(());
    }
    for (field, value) in differs {
        match cells.iter_mut().find(|(known, _)| *known == field) {
            Some((_, known)) => *known = value,
            None => cells.push((field, value)),
        }
    }
    let made = drawn.scratch.make(plant.table, cells).map_err(fits)?;
    drawn.doubles.push((member, made));
    Ok(())
}
