//! From what is wanted to calls of tools: for each cell the tool that writes it, for each new row the tool that makes it.

use crate::{
    demand::{Deed, DeedAct, Origin, WantedCell, fit},
    eval::Eye,
};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Expr, Type};
use benchwright_sandbox::Scratch;
use benchwright_schema::{
    Action, Domain, Role, Stamp, Tool, Verb, codec,
    ways::{Said, Shows, Wanted},
};
use benchwright_spec::scenario::Passing;
use benchwright_world::seen::Known;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A call that a deed comes to.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The places of the deeds that it carries out.
    pub(crate) deeds: Vec<usize>,
    /// The tool's place.
    pub(crate) tool: usize,
    /// The arguments, by name.
    pub(crate) args: Vec<(String, Arg)>,
    /// The row that it makes in the demanded state.
    pub(crate) makes: Option<(TableId, RowId)>,
}

/// An argument before it is said how whoever plays knows it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Arg {
    /// A row.
    Row(TableId, RowId),
    /// A value of a type.
    Value(Type, Value),
    /// A text with facts in it.
    Text(Vec<TextPiece>),
    /// A cell of a row.
    Cell(TableId, RowId, FieldId),
    /// An expression over the names of the scenario, with what it comes to.
    Told(Expr, Type, Value),
    /// Rows of children.
    Children(Vec<Vec<(String, Arg)>>),
    /// A list.
    List(Vec<Arg>),
}

/// A piece of a text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TextPiece {
    Plain(String),
    /// A field of a row.
    Cell(TableId, RowId, FieldId),
}

/// What nobody can do, with why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unwritable {
    /// No offered tool does it.
    NoTool { table: TableId, row: Option<RowId>, origin: Origin },
    /// The role may not.
    Forbidden { table: TableId, row: Option<RowId>, origin: Origin },
    /// The lifecycle leads nowhere.
    Lifecycle { table: TableId, row: RowId, field: FieldId },
}

/// The tools that are offered, and to whom.
pub(crate) struct Desk<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) role: &'a Role,
    /// Tools that are not offered.
    pub(crate) without: &'a [String],
}

impl Desk<'_> {
    fn offered(&self) -> impl Iterator<Item = (usize, &Tool)> {
        self.domain.tools.iter().enumerate().filter(|(_, tool)| !self.without.contains(&tool.name))
    }

    fn may(&self, table: TableId, action: Action) -> bool {
        self.role.grants(table, action).next().is_some()
    }
}

/// The calls of all deeds, in order. `first` is the state before anything is done, `last` the demanded one.
pub(crate) fn writes(
    deeds: &[Deed],
    desk: &Desk<'_>,
    first: &Scratch,
    last: &Scratch,
    bound: &[Known],
) -> Result<Vec<Write>, Unwritable> {
    let mut writes: Vec<Write> = Vec::new();
    let mut made: BTreeMap<(TableId, RowId), usize> = BTreeMap::new();
    // A way that sets a cell of a row that is made goes into that call.
    let mut folded: Vec<usize> = Vec::new();
    for (at, deed) in deeds.iter().enumerate() {
        match &deed.act {
            DeedAct::Make { table, row, cells, .. } => {
                let mut cells = cells.clone();
                let mut of = vec![at];
                for (later, other) in deeds.iter().enumerate().skip(at + 1) {
                    if let DeedAct::Change { table: t, row: r, cells: more } = &other.act
                        && (t, r) == (table, row)
                        && matches!(other.origin, Origin::Way { .. })
                    {
                        for cell in more {
                            cells.retain(|known| known.field != cell.field);
                            cells.push(cell.clone());
                        }
                        folded.push(later);
                        of.push(later);
                    }
                }
                let write = make(*table, *row, &cells, of, deed, deeds, desk, last, bound, &mut folded)?;
                made.insert((*table, *row), writes.len());
                writes.extend(write);
            }
            DeedAct::Change { .. } if folded.contains(&at) => {}
            DeedAct::Change { table, row, cells } => {
                writes.extend(change(*table, *row, cells, at, deed, desk, first, last, bound)?);
            }
            DeedAct::Drop { table, row } => writes.push(delete(*table, *row, at, deed, desk, first)?),
            DeedAct::Call { tool, with, .. } => {
                let name = &desk.domain.tools[*tool].name;
                if desk.without.contains(name) {
                    let table =
                        desk.domain.tools[*tool].native.as_ref().and_then(|native| native.writes.first().copied());
                    let table = table.unwrap_or(benchwright_base::RelationId(0));
                    return Err(Unwritable::NoTool { table, row: None, origin: deed.origin.clone() });
                }
                writes.push(Write {
                    deeds: vec![at],
                    tool: *tool,
                    args: native_args(*tool, with, desk.domain),
                    makes: None,
                });
            }
        }
    }
    Ok(writes)
}

/// Arguments of a native tool as they were worked out: references by row.
fn native_args(tool: usize, with: &Map<String, Json>, domain: &Domain) -> Vec<(String, Arg)> {
    let takes = domain.tools[tool].native.iter().flat_map(|native| &native.takes);
    let mut args = Vec::new();
    for argument in takes {
        let Some(json) = with.get(&argument.cell.name) else { continue };
        let one = |json: &Json| match (argument.cell.ty, json.as_u64()) {
            (Type::Ref(table), Some(id)) => Arg::Row(table, RowId::try_from(id).unwrap_or_default()),
            (ty, _) => Arg::Value(ty, read(domain, ty, json)),
        };
        let arg = match json {
            Json::Array(list) => Arg::List(list.iter().map(one).collect()),
            json => one(json),
        };
        args.push((argument.cell.name.clone(), arg));
    }
    args
}

fn read(domain: &Domain, ty: Type, json: &Json) -> Value {
    let text = json.to_string();
    let parsed = benchwright_base::Json::parse(&text).ok();
    parsed.and_then(|json| codec::read_value(domain, ty, &json).ok()).unwrap_or_default()
}

/// The arguments of a native call that a clause asks for, as JSON with ids of the demanded state.
pub(crate) fn arguments(
    tool: usize,
    with: &[(String, Passing)],
    it: Option<(TableId, RowId)>,
    scratch: &Scratch,
    bound: &[Known],
) -> Map<String, Json> {
    let domain = scratch.domain();
    let eye = Eye::of(scratch, bound);
    let it = it.and_then(|(table, row)| eye.row(table, row));
    let types: BTreeMap<&str, Type> = domain.tools[tool]
        .native
        .iter()
        .flat_map(|native| &native.takes)
        .map(|argument| (&*argument.cell.name, argument.cell.ty))
        .collect();
    let mut args = Map::new();
    for (name, passing) in with {
        let ty = types.get(&**name).copied().unwrap_or(Type::Text);
        let json = match passing {
            Passing::Is(expr) => to_json(domain, ty, &eye.value(expr, it)),
            Passing::Text(parts) => Json::String(eye.text(parts, it, None, 0)),
            Passing::Each(meant, path) => {
                let rows = crate::demand::meant(meant, scratch, bound);
                let values =
                    rows.into_iter().filter_map(|row| eye.row(meant.table, row)).map(|row| match path.is_empty() {
                        true => Value::Ref(crate::eval::id_of(row)),
                        false => eye.reach(row, path),
                    });
                let mut list: Vec<Json> = Vec::new();
                for value in values {
                    let json = to_json(domain, ty, &value);
                    if !list.contains(&json) {
                        list.push(json);
                    }
                }
                Json::Array(list)
            }
        };
        args.insert(name.clone(), json);
    }
    args
}

/// Arguments with ids as they are, for whoever tries a call rather than plays it.
pub(crate) fn plain_args(args: &[(String, Arg)], domain: &Domain) -> Json {
    fn plain(arg: &Arg, domain: &Domain) -> Json {
        match arg {
            Arg::Row(_, row) => Json::from(*row),
            Arg::Value(ty, value) | Arg::Told(_, ty, value) => to_json(domain, *ty, value),
            Arg::Cell(..) => Json::String("as it is there".to_owned()),
            Arg::Text(pieces) => {
                let text = pieces.iter().map(|piece| match piece {
                    TextPiece::Plain(text) => text.clone(),
                    TextPiece::Cell(..) => "it".to_owned(),
                });
                Json::String(text.collect())
            }
            Arg::Children(rows) => rows.iter().map(|row| plain_args(row, domain)).collect(),
            Arg::List(list) => list.iter().map(|arg| plain(arg, domain)).collect(),
        }
    }
    Json::Object(args.iter().map(|(name, arg)| (name.clone(), plain(arg, domain))).collect())
}

/// A value as it is written in calls.
pub(crate) fn to_json(domain: &Domain, ty: Type, value: &Value) -> Json {
    let mut bytes = Vec::new();
    codec::write_value(&mut bytes, domain, ty, value);
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// A cell as an argument.
fn arg(cell: &WantedCell, table: TableId, deed: &Deed, last: &Scratch, bound: &[Known]) -> Arg {
    let domain = last.domain();
    let field = domain.table(table).field(cell.field);
    match (&cell.wanted, &cell.value, field.ty) {
        (_, Value::Ref(row), Type::Ref(to)) => Arg::Row(to, *row),
        (Wanted::Tell(parts), Value::Text(text), _) | (Wanted::Text(parts), Value::Text(text), _) => {
            Arg::Text(pieces(parts, text, deed, last, bound))
        }
        (Wanted::Is(Expr::Literal(..)), value, ty) => Arg::Value(ty, value.clone()),
        (Wanted::Is(expr), value, ty) => {
            // What is read off a record is known from that record.
            let eye = Eye::of(last, bound);
            let it = deed.it.and_then(|(table, row)| eye.row(table, row));
            match &deed.origin {
                Origin::Clause(_) => match cell_of(expr, &eye, None, it) {
                    Some((table, row, field)) => Arg::Cell(table, row, field),
                    None => Arg::Told(expr.clone(), ty, value.clone()),
                },
                Origin::Way { on, .. } => match cell_of(expr, &eye, eye.row(on.0, on.1), it) {
                    Some((table, row, field)) => Arg::Cell(table, row, field),
                    None => Arg::Value(ty, value.clone()),
                },
            }
        }
        (_, value, ty) => Arg::Value(ty, value.clone()),
    }
}

/// A text with the cells that it shows, where these are cells of rows; padding that bounds ask for follows as it is.
fn pieces(parts: &[Said], whole: &str, deed: &Deed, last: &Scratch, bound: &[Known]) -> Vec<TextPiece> {
    let eye = Eye::of(last, bound);
    let subject = match &deed.origin {
        Origin::Way { on, .. } => eye.row(on.0, on.1),
        Origin::Clause(_) => None,
    };
    let it = deed.it.and_then(|(table, row)| eye.row(table, row));
    let mut found = Vec::new();
    let mut length = 0;
    for part in parts {
        match part {
            Said::Plain(plain) => {
                length += plain.len();
                found.push(TextPiece::Plain(plain.clone()));
            }
            Said::Slot { shows, ty, form, .. } => {
                let shown = eye.slot(shows, *ty, *form, it, subject);
                length += shown.len();
                let cell = match (shows, ty) {
                    (Shows::One(expr), Type::Text) => cell_of(expr, &eye, subject, it),
                    _ => None,
                };
                match cell {
                    Some((table, row, field)) => found.push(TextPiece::Cell(table, row, field)),
                    None => found.push(TextPiece::Plain(shown)),
                }
            }
        }
    }
    if let Some(rest) = whole.get(length..).filter(|rest| !rest.is_empty()) {
        found.push(TextPiece::Plain(rest.to_owned()));
    }
    found
}

/// The cell that an expression reads, if it reads one.
pub(crate) fn cell_of<'e>(
    expr: &Expr,
    eye: &Eye<'e>,
    subject: Option<&'e [Value]>,
    it: Option<&'e [Value]>,
) -> Option<(TableId, RowId, FieldId)> {
    let Expr::Field(slot, path) = expr else { return None };
    let ((table, field), before) = path.split_last()?;
    let row = match before.is_empty() {
        true => Expr::Field(*slot, Vec::new()),
        false => Expr::Field(*slot, before.to_vec()),
    };
    let value = match subject {
        Some(subject) => eye.value_on(&row, subject, it),
        None => eye.value(&row, it),
    };
    Some((*table, value.as_ref_id()?, *field))
}

/// The calls that make a row.
#[expect(clippy::too_many_arguments, reason = "a call is chosen by all of them")]
fn make(
    table: TableId,
    row: RowId,
    cells: &[WantedCell],
    of: Vec<usize>,
    deed: &Deed,
    deeds: &[Deed],
    desk: &Desk<'_>,
    last: &Scratch,
    bound: &[Known],
    folded: &mut Vec<usize>,
) -> Result<Vec<Write>, Unwritable> {
    let domain = desk.domain;
    let declared = domain.table(table);
    let makes = |verb: Verb| matches!(verb, Verb::Create | Verb::Link | Verb::Send);
    let fits = |tool: &Tool| {
        cells.iter().filter(|cell| !is_default(declared.field(cell.field), &cell.value)).all(|cell| {
            tool.set.iter().any(|setting| {
                setting.field == cell.field && setting.fixed.as_ref().is_none_or(|fixed| *fixed == cell.value)
            })
        }) && tool.set.iter().filter(|setting| setting.required || lacks(declared.field(setting.field))).all(
            |setting| {
                setting.fixed.is_some()
                    || declared.field(setting.field).prose
                    || cells.iter().any(|cell| cell.field == setting.field)
            },
        ) && tool.set.iter().all(|setting| {
            // A fixed value that nobody wants is another tool's.
            setting.fixed.as_ref().is_none_or(|fixed| {
                let wanted = cells.iter().find(|cell| cell.field == setting.field).map(|cell| &cell.value);
                wanted.is_none_or(|wanted| wanted == fixed)
            })
        })
    };
    let any = desk.offered().find(|(_, tool)| tool.table == Some(table) && makes(tool.verb) && fits(tool));
    let Some((place, tool)) = any else {
        return Err(Unwritable::NoTool { table, row: None, origin: deed.origin.clone() });
    };
    if !desk.may(table, Action::Create) {
        return Err(Unwritable::Forbidden { table, row: None, origin: deed.origin.clone() });
    }
    let mut args: Vec<(String, Arg)> = Vec::new();
    for setting in tool.set.iter().filter(|setting| setting.fixed.is_none()) {
        let field = declared.field(setting.field);
        match cells.iter().find(|cell| cell.field == setting.field) {
            Some(cell) => args.push((field.name.clone(), arg(cell, table, deed, last, bound))),
            // What somebody has to compose is composed.
            None if field.prose && (setting.required || lacks(field)) => {
                let text = fit("As asked.", field);
                args.push((field.name.clone(), Arg::Value(Type::Text, Value::text(text))));
            }
            None => {}
        }
    }
    // Rows of a child table that the tool takes with their parent go into its call.
    for child in &tool.with {
        let mut rows = Vec::new();
        for (at, other) in deeds.iter().enumerate() {
            let DeedAct::Make { table: t, cells, .. } = &other.act else { continue };
            let parent = cells.iter().find(|cell| cell.field == child.parent).map(|cell| &cell.value);
            if *t != child.table || parent != Some(&Value::Ref(row)) {
                continue;
            }
            let its = domain.table(child.table);
            let given = cells.iter().filter(|cell| cell.field != child.parent);
            rows.push(
                given
                    .map(|cell| (its.field(cell.field).name.clone(), arg(cell, child.table, other, last, bound)))
                    .collect(),
            );
            folded.push(at);
        }
        if !rows.is_empty() {
            let name = &domain.table(child.table).name;
            let own = name.rsplit('.').next().unwrap_or(name);
            args.push((own.to_owned(), Arg::Children(rows)));
        }
    }
    Ok(vec![Write { deeds: of, tool: place, args, makes: Some((table, row)) }])
}

/// Whether a new row needs to be given a value of a field.
fn lacks(field: &benchwright_schema::Field) -> bool {
    field.default.is_none() && !field.nullable && field.stamp.is_none()
}

/// Whether a value is what a new row has anyway.
fn is_default(field: &benchwright_schema::Field, value: &Value) -> bool {
    field.default.as_ref().map_or(value.is_null(), |default| default == value)
        && !matches!(field.stamp, Some(Stamp::Computed(_)))
}

/// The calls that change cells of a row: as few as can be, and along the lifecycle where there is no direct step.
#[expect(clippy::too_many_arguments, reason = "a call is chosen by all of them")]
fn change(
    table: TableId,
    row: RowId,
    cells: &[WantedCell],
    at: usize,
    deed: &Deed,
    desk: &Desk<'_>,
    first: &Scratch,
    last: &Scratch,
    bound: &[Known],
) -> Result<Vec<Write>, Unwritable> {
    let declared = desk.domain.table(table);
    let mut writes = Vec::new();
    let mut open: Vec<WantedCell> = cells.to_vec();
    // Along the lifecycle first.
    for cell in cells {
        let Some(lifecycle) = declared.lifecycle(cell.field) else { continue };
        let now = first.row(table, row).map(|cells| cells[cell.field.index()].clone());
        let (Some(Value::Enum(from)), Value::Enum(to)) = (now, &cell.value) else { continue };
        let Some(route) = route(&lifecycle.next, from, *to) else {
            return Err(Unwritable::Lifecycle { table, row, field: cell.field });
        };
        for word in route.iter().take(route.len().saturating_sub(1)) {
            let step = WantedCell {
                field: cell.field,
                value: Value::Enum(*word),
                wanted: Wanted::Is(Expr::Literal(Value::Enum(*word), declared.field(cell.field).ty)),
            };
            writes.push(update(table, row, &mut vec![step], at, deed, desk, first, last, bound)?);
        }
    }
    while !open.is_empty() {
        writes.push(update(table, row, &mut open, at, deed, desk, first, last, bound)?);
    }
    Ok(writes)
}

/// The shortest way from a word to another, without the first.
fn route(next: &[Vec<u16>], from: u16, to: u16) -> Option<Vec<u16>> {
    if from == to {
        return Some(vec![to]);
    }
    let mut ways: Vec<Vec<u16>> = vec![vec![from]];
    let mut seen = vec![from];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let here = *way.last()?;
            for word in &next[here as usize] {
                if seen.contains(word) {
                    continue;
                }
                let mut more = way.clone();
                more.push(*word);
                if *word == to {
                    return Some(more.split_off(1));
                }
                seen.push(*word);
                longer.push(more);
            }
        }
        ways = longer;
    }
    None
}

/// One call that changes as many of the cells as a tool can; they are taken off the list.
#[expect(clippy::too_many_arguments, reason = "a call is chosen by all of them")]
fn update(
    table: TableId,
    row: RowId,
    open: &mut Vec<WantedCell>,
    at: usize,
    deed: &Deed,
    desk: &Desk<'_>,
    first: &Scratch,
    last: &Scratch,
    bound: &[Known],
) -> Result<Write, Unwritable> {
    let covers = |tool: &Tool| -> Option<usize> {
        let settable = |cell: &WantedCell| {
            tool.set.iter().any(|setting| {
                setting.field == cell.field && setting.fixed.as_ref().is_none_or(|fixed| *fixed == cell.value)
            })
        };
        // A tool that also sets something else, or must be given something else, is not meant.
        let other = tool.set.iter().any(|setting| {
            (setting.fixed.is_some() || setting.required) && !open.iter().any(|cell| cell.field == setting.field)
        });
        let wrong = tool.set.iter().any(|setting| {
            let wanted = open.iter().find(|cell| cell.field == setting.field);
            setting.fixed.as_ref().is_some_and(|fixed| wanted.is_some_and(|cell| cell.value != *fixed))
        });
        let count = open.iter().filter(|cell| settable(cell)).count();
        (count > 0 && !other && !wrong).then_some(count)
    };
    let tools = desk.offered().filter(|(_, tool)| tool.table == Some(table) && tool.verb == Verb::Update);
    let best = tools
        .filter_map(|(place, tool)| {
            Some((covers(tool)?, std::cmp::Reverse(tool.set.len()), std::cmp::Reverse(place), tool))
        })
        .max_by_key(|(count, wide, place, _)| (*count, *wide, *place));
    let Some((_, _, std::cmp::Reverse(place), tool)) = best else {
        return Err(Unwritable::NoTool { table, row: Some(row), origin: deed.origin.clone() });
    };
    if !desk.may(table, Action::Update) {
        return Err(Unwritable::Forbidden { table, row: Some(row), origin: deed.origin.clone() });
    }
    let declared = desk.domain.table(table);
    let mut args = named(tool, table, row, first, last);
    for cell in open.iter() {
        let setting = tool.set.iter().find(|setting| setting.field == cell.field);
        if setting.is_some_and(|setting| setting.fixed.is_none()) {
            args.push((declared.field(cell.field).name.clone(), arg(cell, table, deed, last, bound)));
        }
    }
    open.retain(|cell| !tool.set.iter().any(|setting| setting.field == cell.field));
    Ok(Write { deeds: vec![at], tool: place, args, makes: None })
}

/// The arguments that name a row: its id, or its key.
fn named(tool: &Tool, table: TableId, row: RowId, first: &Scratch, last: &Scratch) -> Vec<(String, Arg)> {
    if tool.by.is_empty() {
        return vec![("id".to_owned(), Arg::Row(table, row))];
    }
    let domain = first.domain();
    let declared = domain.table(table);
    let cells = first.row(table, row).or_else(|| last.row(table, row)).map(<[Value]>::to_vec).unwrap_or_default();
    let key = tool.by.iter().map(|filter| {
        let field = declared.field(filter.field);
        let value = cells.get(filter.field.index()).cloned().unwrap_or_default();
        let arg = match (field.ty, &value) {
            (Type::Ref(to), Value::Ref(id)) => Arg::Row(to, *id),
            (ty, _) => Arg::Value(ty, value),
        };
        (field.name.clone(), arg)
    });
    key.collect()
}

fn delete(
    table: TableId,
    row: RowId,
    at: usize,
    deed: &Deed,
    desk: &Desk<'_>,
    first: &Scratch,
) -> Result<Write, Unwritable> {
    let found = desk.offered().find(|(_, tool)| tool.table == Some(table) && tool.verb == Verb::Delete);
    let Some((place, tool)) = found else {
        return Err(Unwritable::NoTool { table, row: Some(row), origin: deed.origin.clone() });
    };
    if !desk.may(table, Action::Delete) {
        return Err(Unwritable::Forbidden { table, row: Some(row), origin: deed.origin.clone() });
    }
    Ok(Write { deeds: vec![at], tool: place, args: named(tool, table, row, first, first), makes: None })
}
