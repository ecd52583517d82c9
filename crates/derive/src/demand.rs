//! What a request comes to: the cells that are asked for, put into a copy of the state by force, and what the policy's ways add until no
//! rule is broken. Where a rule stays broken that no way mends, the request cannot be carried out, and that rule is why.

use crate::eval::{Eye, id_of};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Path, Source};
use benchwright_pack::{Refusal, RefusalCode};
use benchwright_sandbox::{Broken, Scratch};
use benchwright_schema::{
    Domain, Field,
    ways::{Act, Passed, Wanted, Which},
};
use benchwright_spec::scenario::{Asked, Clause, Meant, Passing, Scenario};
use benchwright_world::{Seat, seen::Known};
use std::collections::BTreeMap;

/// Ways are added at most so often.
const MOST_ROUNDS: usize = 20;

/// Who wants something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A clause, by its place.
    Clause(usize),
    /// The way of a rule, on the row that would break it.
    Way {
        /// The rule's place in the domain.
        rule: usize,
        /// The place of the way.
        way: usize,
        /// The row.
        on: (TableId, RowId),
    },
}

/// A cell that is wanted: what it becomes, and as it was written.
#[derive(Clone, Debug)]
pub(crate) struct WantedCell {
    pub(crate) field: FieldId,
    pub(crate) value: Value,
    pub(crate) wanted: Wanted,
}

/// Something that is done.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) origin: Origin,
    /// Which of the acts of a way.
    pub(crate) part: usize,
    /// How many names what was written sees: those of the cast and of what clauses before it make. A way sees none, but its row.
    pub(crate) names: usize,
    pub(crate) act: DeedAct,
    /// The row that `it` is in what was written.
    pub(crate) it: Option<(TableId, RowId)>,
}

impl Deed {
    /// The row that it changes, makes or drops.
    pub(crate) fn target(&self) -> Option<(TableId, RowId)> {
        match &self.act {
            DeedAct::Change { table, row, .. } | DeedAct::Make { table, row, .. } | DeedAct::Drop { table, row } => {
                Some((*table, *row))
            }
            DeedAct::Call { .. } => None,
        }
    }

    /// The cells that it wants of that row.
    pub(crate) fn cells(&self) -> &[WantedCell] {
        match &self.act {
            DeedAct::Change { cells, .. } | DeedAct::Make { cells, .. } => cells,
            DeedAct::Drop { .. } | DeedAct::Call { .. } => &[],
        }
    }

    /// The row that a way is about.
    pub(crate) fn subject(&self) -> Option<(TableId, RowId)> {
        match self.origin {
            Origin::Way { on, .. } => Some(on),
            Origin::Clause(_) => None,
        }
    }

    /// Whether a rule wants it where the call that it goes into is asked for.
    pub(crate) fn is_ruled_beside(&self, own: &Origin) -> bool {
        matches!((&self.origin, own), (Origin::Way { .. }, Origin::Clause(_)))
    }

    /// What names stand for in what was written.
    pub(crate) fn seen<'b>(&self, bound: &'b [Known]) -> &'b [Known] {
        bound.get(..self.names).unwrap_or(bound)
    }

    /// Whether two deeds come of the same act of the same clause or way, on whichever rows.
    pub(crate) fn is_like(&self, other: &Deed) -> bool {
        self.part == other.part && self.origin.is_like(&other.origin)
    }
}

impl Origin {
    /// Whether it is the same clause, or the same way on whichever row.
    pub(crate) fn is_like(&self, other: &Origin) -> bool {
        match (self, other) {
            (Origin::Clause(a), Origin::Clause(b)) => a == b,
            (Origin::Way { rule: a, way: x, .. }, Origin::Way { rule: b, way: y, .. }) => (a, x) == (b, y),
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum DeedAct {
    Change {
        table: TableId,
        row: RowId,
        cells: Vec<WantedCell>,
    },
    /// The row has an id in the demanded state only.
    Make {
        table: TableId,
        row: RowId,
        cells: Vec<WantedCell>,
        name: Option<String>,
    },
    Drop {
        table: TableId,
        row: RowId,
    },
    /// The arguments with ids of the demanded state, and as they were written.
    Call {
        tool: usize,
        with: serde_json::Map<String, serde_json::Value>,
        written: Vec<(String, Passing)>,
        /// Lists that a way passes.
        lists: Vec<List>,
    },
}

/// A list that a way passes to a tool: what a path reaches from each of some rows.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) argument: String,
    pub(crate) source: Source,
    pub(crate) path: Path,
    /// The rows, in the demanded state.
    pub(crate) rows: Vec<RowId>,
}

/// Why a request cannot be carried out, as far as the state tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stuck {
    /// A rule is broken and no way applies.
    Rule(Broken),
    /// Two clauses want different values of a cell.
    Contradiction(TableId, RowId, FieldId),
    /// A condition on the final state does not hold.
    Ensure(String),
    /// The state itself does not take a cell.
    Refused(TableId, Refusal),
    /// The ways never end.
    Endless,
}

/// The demanded state with how it came about.
pub(crate) struct Demanded {
    pub(crate) scratch: Scratch,
    pub(crate) deeds: Vec<Deed>,
    /// What names stand for, those that clauses make after the cast.
    pub(crate) bound: Vec<Known>,
    /// The rules whose ways were taken, with the broken row, in order.
    pub(crate) mended: Vec<Broken>,
    /// Who acts.
    actor: Option<(TableId, RowId)>,
    seat: Seat,
}

/// In which order broken rules are mended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MendOrder {
    FirstFirst,
    LastFirst,
}

/// The clauses of a scenario that are in force, with their places. What clauses make is nobody yet.
pub(crate) fn in_force<'s>(clauses: &'s [Clause], scratch: &Scratch, cast: &[Known]) -> Vec<(usize, &'s Clause)> {
    let mut bound = cast.to_vec();
    let mut found = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        if clause.when.as_ref().is_none_or(|when| Eye::of(scratch, &bound).holds(when, None)) {
            found.push((at, clause));
        }
        bound.extend(makes(clause).map(|table| Known::Row(table, None)));
    }
    found
}

/// The table of the row that a clause gives a name to.
pub(crate) fn makes(clause: &Clause) -> Option<TableId> {
    match &clause.act {
        Asked::Make { table, name: Some(_), .. } => Some(*table),
        _ => None,
    }
}

/// Puts what is asked for into a state, and what follows from the policy. `Err` tells why it cannot be, with what was done so far.
pub(crate) fn demand(
    scenario: &Scenario,
    clauses: &[Clause],
    world: &Scratch,
    bound: &[Known],
    seat: &Seat,
    order: MendOrder,
) -> Result<Demanded, Box<(Stuck, Demanded)>> {
    let scratch = world.clone();
    let actor = scratch.domain().actor.zip(seat.actor);
    let mut demanded =
        Demanded { scratch, deeds: Vec::new(), bound: bound.to_vec(), mended: Vec::new(), actor, seat: seat.clone() };
    let mut asked: BTreeMap<(TableId, RowId, FieldId), Value> = BTreeMap::new();
    let stuck = |stuck: Stuck, demanded: Demanded| Err(Box::new((stuck, demanded)));
    let force: Vec<usize> = in_force(clauses, world, bound).into_iter().map(|(at, _)| at).collect();
    for (at, clause) in clauses.iter().enumerate() {
        let names = demanded.bound.len();
        if force.contains(&at)
            && let Err(why) = ask(at, clause, world, seat, &mut demanded, &mut asked)
        {
            return stuck(why, demanded);
        }
        if demanded.bound.len() == names {
            demanded.bound.extend(makes(clause).map(|table| Known::Row(table, None)));
        }
    }
    for _ in 0..MOST_ROUNDS {
        let mut broken = demanded.scratch.broken();
        if order == MendOrder::LastFirst {
            broken.reverse();
        }
        if broken.is_empty() {
            let eye = Eye::of(&demanded.scratch, &demanded.bound);
            let failed = scenario.ensure.iter().find(|ensure| !eye.holds(&ensure.holds, None)).map(|e| e.id.clone());
            return match failed {
                None => Ok(demanded),
                Some(id) => stuck(Stuck::Ensure(id), demanded),
            };
        }
        let mut progress = false;
        for one in &broken {
            match mend(one, &mut demanded, &asked) {
                Ok(true) => {
                    demanded.mended.push(one.clone());
                    progress = true;
                    break;
                }
                Ok(false) => {}
                Err(why) => return stuck(why, demanded),
            }
        }
        if !progress {
            let first = broken.swap_remove(0);
            return stuck(Stuck::Rule(first), demanded);
        }
    }
    stuck(Stuck::Endless, demanded)
}

/// The rows that a clause means.
pub(crate) fn meant(meant: &Meant, scratch: &Scratch, bound: &[Known]) -> Vec<RowId> {
    let rows = crate::draw::rows_of(&bound[meant.slot]);
    if meant.path.is_empty() {
        return rows;
    }
    let eye = Eye::of(scratch, bound);
    let table = match &bound[meant.slot] {
        Known::Row(table, _) | Known::Rows(table, _) => *table,
        Known::Value(..) => return Vec::new(),
    };
    let mut found = Vec::new();
    for row in rows {
        let reached = eye.row(table, row).and_then(|row| eye.reach(row, &meant.path).as_ref_id());
        if let Some(reached) = reached.filter(|reached| !found.contains(reached)) {
            found.push(reached);
        }
    }
    found
}

/// Puts one clause into the state.
fn ask(
    at: usize,
    clause: &Clause,
    world: &Scratch,
    seat: &Seat,
    demanded: &mut Demanded,
    asked: &mut BTreeMap<(TableId, RowId, FieldId), Value>,
) -> Result<(), Stuck> {
    let origin = Origin::Clause(at);
    let names = demanded.bound.len();
    let deed = |act: DeedAct, it: Option<(TableId, RowId)>| Deed { origin: origin.clone(), part: 0, names, act, it };
    match &clause.act {
        Asked::Change { rows, table, to } => {
            for row in meant(rows, world, &demanded.bound) {
                let it = Some((*table, row));
                let cells = cells(to, *table, None, it, demanded, &demanded.bound);
                for cell in &cells {
                    let place = (*table, row, cell.field);
                    if asked.get(&place).is_some_and(|known| *known != cell.value) {
                        return Err(Stuck::Contradiction(*table, row, cell.field));
                    }
                    asked.insert(place, cell.value.clone());
                }
                set(demanded, *table, row, &cells)?;
                demanded.deeds.push(deed(DeedAct::Change { table: *table, row, cells }, it));
            }
        }
        Asked::Make { table, with, each, name } => {
            let its: Vec<Option<(TableId, RowId)>> = match each {
                None => vec![None],
                Some(each) => {
                    meant(each, world, &demanded.bound).into_iter().map(|row| Some((each.table, row))).collect()
                }
            };
            for it in its {
                let cells = cells(with, *table, None, it, demanded, &demanded.bound);
                let row = make(demanded, *table, &cells)?;
                for cell in &cells {
                    asked.insert((*table, row, cell.field), cell.value.clone());
                }
                if name.is_some() {
                    demanded.bound.push(Known::Row(*table, Some(row)));
                }
                demanded.deeds.push(deed(DeedAct::Make { table: *table, row, cells, name: name.clone() }, it));
            }
        }
        Asked::Drop { rows, table } => {
            for row in meant(rows, world, &demanded.bound) {
                let removed = demanded.scratch.remove(*table, row);
                removed.map_err(|refusal| Stuck::Refused(*table, refusal))?;
                demanded.deeds.push(deed(DeedAct::Drop { table: *table, row }, Some((*table, row))));
            }
        }
        Asked::Call { tool, with, each } => {
            let its: Vec<Option<(TableId, RowId)>> = match each {
                None => vec![None],
                Some(each) => {
                    meant(each, world, &demanded.bound).into_iter().map(|row| Some((each.table, row))).collect()
                }
            };
            for it in its {
                let args = crate::calls::arguments(*tool, with, it, &demanded.scratch, &demanded.bound);
                let name = demanded.scratch.domain().tools[*tool].name.clone();
                let called = demanded.scratch.call(seat, &name, &serde_json::Value::Object(args.clone()).to_string());
                if let Err(refusal) = called {
                    let native = demanded.scratch.domain().tools[*tool].native.as_ref();
                    let table = native.and_then(|native| native.writes.first().copied());
                    return Err(Stuck::Refused(table.unwrap_or(benchwright_base::RelationId(u16::MAX)), refusal));
                }
                demanded.deeds.push(deed(
                    DeedAct::Call { tool: *tool, with: args, written: with.clone(), lists: Vec::new() },
                    it,
                ));
            }
        }
        Asked::Answer { .. } => {}
    }
    Ok(())
}

fn set(demanded: &mut Demanded, table: TableId, row: RowId, cells: &[WantedCell]) -> Result<bool, Stuck> {
    let values = cells.iter().map(|cell| (cell.field, cell.value.clone())).collect();
    demanded.scratch.set(table, row, values).map_err(|refusal| Stuck::Refused(table, refusal))
}

fn make(demanded: &mut Demanded, table: TableId, cells: &[WantedCell]) -> Result<RowId, Stuck> {
    let domain = std::sync::Arc::clone(demanded.scratch.domain());
    let mut values: Vec<(FieldId, Value)> = cells.iter().map(|cell| (cell.field, cell.value.clone())).collect();
    // Texts that somebody composes are there before they are composed.
    for (at, field) in domain.table(table).fields.iter().enumerate().skip(1) {
        let id = FieldId(at as u16);
        let lacks = field.default.is_none() && !field.nullable && field.stamp.is_none();
        if lacks && field.prose && !values.iter().any(|(known, _)| *known == id) {
            values.push((id, Value::text(fit("As asked.", field))));
        }
    }
    demanded.scratch.make(table, values).map_err(|refusal| Stuck::Refused(table, refusal))
}

/// A text within the bounds of a field.
pub(crate) fn fit(text: &str, field: &Field) -> String {
    let (low, high) = field.bounds.unwrap_or((0, i64::MAX));
    let mut text = text.to_owned();
    const MORE: [&str; 3] = ["Please see the records for what was done.", "Nothing else was changed.", "Thank you."];
    let mut at = 0;
    while (text.chars().count() as i64) < low {
        text.push(' ');
        text.push_str(MORE[at % MORE.len()]);
        at += 1;
    }
    if (text.chars().count() as i64) > high {
        text = text.chars().take(usize::try_from(high).unwrap_or(usize::MAX)).collect();
    }
    text.trim_end().to_owned()
}

/// What cells come to.
fn cells(
    wanted: &[(FieldId, Wanted)],
    table: TableId,
    subject: Option<(TableId, RowId)>,
    it: Option<(TableId, RowId)>,
    demanded: &Demanded,
    bound: &[Known],
) -> Vec<WantedCell> {
    let eye = Eye::of(&demanded.scratch, bound).acted_by(demanded.actor);
    let domain = demanded.scratch.domain();
    let subject = subject.and_then(|(table, row)| eye.row(table, row));
    let it = it.and_then(|(table, row)| eye.row(table, row));
    let mut found = Vec::new();
    for (field, wanted) in wanted {
        let declared = domain.table(table).field(*field);
        let value = value(wanted, declared, &eye, subject, it);
        found.push(WantedCell { field: *field, value, wanted: wanted.clone() });
    }
    found
}

fn value<'e>(
    wanted: &Wanted,
    field: &Field,
    eye: &Eye<'e>,
    subject: Option<&'e [Value]>,
    it: Option<&'e [Value]>,
) -> Value {
    let of = |expr| match subject {
        Some(subject) => eye.value_on(expr, subject, it),
        None => eye.value(expr, it),
    };
    match wanted {
        Wanted::Is(expr) => of(expr),
        Wanted::OneOf(list) => list.first().map_or(Value::Null, of),
        Wanted::Text(parts) => Value::text(eye.text(parts, it, subject, 0)),
        Wanted::Tell(parts) => Value::text(fit(&eye.text(parts, it, subject, 0), field)),
        Wanted::Extreme { source, condition, by, last } => {
            let rows = eye.rows(source, condition.as_ref(), subject);
            let key = |row: &&'e [Value]| match subject {
                Some(subject) => eye.value_on(by, subject, Some(row)),
                None => eye.value(by, Some(row)),
            };
            let found =
                if *last { rows.iter().max_by_key(|row| key(row)) } else { rows.iter().min_by_key(|row| key(row)) };
            found.map_or(Value::Null, |row| Value::Ref(id_of(row)))
        }
    }
}

/// Takes the first way of a broken rule that applies; whether one did and changed something.
fn mend(
    broken: &Broken,
    demanded: &mut Demanded,
    asked: &BTreeMap<(TableId, RowId, FieldId), Value>,
) -> Result<bool, Stuck> {
    let domain = std::sync::Arc::clone(demanded.scratch.domain());
    let rule = &domain.rules[broken.rule];
    let on = (broken.table, broken.row);
    for (nth, way) in rule.ways.iter().enumerate() {
        let Some(remedy) = way.on.iter().find(|remedy| remedy.table == broken.table) else { continue };
        if remedy.when.as_ref().is_some_and(|when| !demanded.scratch.holds_of(broken.table, broken.row, when)) {
            continue;
        }
        let before = demanded.scratch.clone();
        let (deeds, mended) = (demanded.deeds.len(), demanded.mended.len());
        let origin = Origin::Way { rule: broken.rule, way: nth, on };
        let mut changed = false;
        let mut fits = true;
        for (part, act) in remedy.acts.iter().enumerate() {
            match act_on(act, part, on, &origin, demanded, asked)? {
                Some(more) => changed |= more,
                None => fits = false,
            }
        }
        if fits && changed {
            return Ok(true);
        }
        demanded.scratch = before;
        demanded.deeds.truncate(deeds);
        demanded.mended.truncate(mended);
    }
    Ok(false)
}

/// Carries out an act of a way; whether it changed something, or nothing if it would change what is asked for.
fn act_on(
    act: &Act,
    part: usize,
    on: (TableId, RowId),
    origin: &Origin,
    demanded: &mut Demanded,
    asked: &BTreeMap<(TableId, RowId, FieldId), Value>,
) -> Result<Option<bool>, Stuck> {
    let deed = |act: DeedAct, it: Option<(TableId, RowId)>| Deed { origin: origin.clone(), part, names: 0, act, it };
    match act {
        Act::Change { rows, table, to } => {
            let mut any = false;
            for row in which(rows, on, &demanded.scratch) {
                let it = Some((*table, row));
                let cells = cells(to, *table, Some(on), it, demanded, &[]);
                let clash =
                    |cell: &WantedCell| asked.get(&(*table, row, cell.field)).is_some_and(|known| *known != cell.value);
                if cells.iter().any(clash) {
                    return Ok(None);
                }
                if set(demanded, *table, row, &cells)? {
                    any = true;
                    demanded.deeds.push(deed(DeedAct::Change { table: *table, row, cells }, it));
                }
            }
            Ok(Some(any))
        }
        Act::Make { table, each, with } => {
            let its: Vec<Option<(TableId, RowId)>> = match each {
                None => vec![None],
                Some(source) => {
                    let Source::Rows { relation, .. } = source else { return Ok(Some(false)) };
                    let rows = which(&Which::Those(source.clone(), None), on, &demanded.scratch);
                    rows.into_iter().map(|row| Some((*relation, row))).collect()
                }
            };
            let mut any = false;
            for it in its {
                let cells = cells(with, *table, Some(on), it, demanded, &[]);
                let declared = demanded.scratch.domain().table(*table).clone();
                let lacks = |cell: &WantedCell| cell.value.is_null() && !declared.field(cell.field).nullable;
                if cells.iter().any(lacks) {
                    return Ok(None);
                }
                let row = make(demanded, *table, &cells)?;
                any = true;
                demanded.deeds.push(deed(DeedAct::Make { table: *table, row, cells, name: None }, it));
            }
            Ok(Some(any))
        }
        Act::Drop { rows, table } => {
            let mut any = false;
            for row in which(rows, on, &demanded.scratch) {
                demanded.scratch.remove(*table, row).map_err(|refusal| Stuck::Refused(*table, refusal))?;
                any = true;
                demanded.deeds.push(deed(DeedAct::Drop { table: *table, row }, Some((*table, row))));
            }
            Ok(Some(any))
        }
        Act::Call { tool, with } => {
            let eye = Eye::of(&demanded.scratch, &[]).acted_by(demanded.actor);
            let Some(subject) = eye.row(on.0, on.1) else { return Ok(None) };
            let domain = std::sync::Arc::clone(demanded.scratch.domain());
            let mut args = serde_json::Map::new();
            let (mut written, mut lists) = (Vec::new(), Vec::new());
            for (name, passed) in with {
                let ty = crate::calls::takes(&domain, *tool, name);
                match passed {
                    Passed::Is(expr) => {
                        let value = eye.value_on(expr, subject, None);
                        args.insert(name.clone(), crate::calls::to_json(&domain, ty, &value));
                        written.push((name.clone(), Passing::Is(expr.clone())));
                    }
                    Passed::Each(source, path) => {
                        let rows = eye.rows(source, None, Some(subject));
                        let reached = rows.iter().map(|row| eye.reach(row, path));
                        let told = reached.map(|value| crate::calls::to_json(&domain, ty, &value)).collect();
                        args.insert(name.clone(), serde_json::Value::Array(told));
                        let rows = rows.into_iter().map(id_of).collect();
                        let argument = name.clone();
                        lists.push(List { argument, source: source.clone(), path: path.clone(), rows });
                    }
                }
            }
            let name = domain.tools[*tool].name.clone();
            let seat = demanded.seat.clone();
            let before = demanded.scratch.diff().changes.len();
            let called = demanded.scratch.call(&seat, &name, &serde_json::Value::Object(args.clone()).to_string());
            match called {
                Ok(_) => {}
                Err(refusal) if refusal.code == RefusalCode::Forbidden => {
                    let native = domain.tools[*tool].native.as_ref();
                    let table = native.and_then(|native| native.writes.first().copied()).unwrap_or(on.0);
                    return Err(Stuck::Refused(table, refusal));
                }
                Err(_) => return Ok(None),
            }
            let any = demanded.scratch.diff().changes.len() != before;
            demanded.deeds.push(deed(DeedAct::Call { tool: *tool, with: args, written, lists }, None));
            Ok(Some(any))
        }
    }
}

/// The rows that a way is about.
fn which(rows: &Which, on: (TableId, RowId), scratch: &Scratch) -> Vec<RowId> {
    let eye = Eye::of(scratch, &[]);
    let Some(subject) = eye.row(on.0, on.1) else { return Vec::new() };
    match rows {
        Which::One(expr) => eye.value_on(expr, subject, None).as_ref_id().into_iter().collect(),
        Which::Those(source, condition) => {
            eye.rows(source, condition.as_ref(), Some(subject)).into_iter().map(id_of).collect()
        }
    }
}

/// A row in words: what people call it by.
pub(crate) fn called(domain: &Domain, table: TableId, cells: &[Value]) -> String {
    const SHOWN: [&str; 8] =
        ["number", "name", "email", "title", "summary", "subject", "serial_number", "user_principal_name"];
    let declared = domain.table(table);
    let shown = SHOWN.iter().find_map(|name| {
        let field = declared.field_named(name)?;
        match &cells[field.index()] {
            Value::Null => None,
            value => Some(benchwright_schema::codec::show_value(domain, declared.field(field).ty, value)),
        }
    });
    match shown {
        Some(shown) => format!("{} {shown}", declared.name),
        None => format!("{} {}", declared.name, cells.first().and_then(Value::as_ref_id).unwrap_or_default()),
    }
}
