//! From what is wanted to calls of tools: for each cell the tool that writes it, for each new row the tool that makes it.

use crate::{
    demand::{Deed, DeedAct, List, Origin, WantedCell, fit},
    eval::Eye,
};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Expr, Path, Type};
use benchwright_sandbox::Scratch;
use benchwright_schema::{
    Action, Domain, Role, Stamp, Table, Tool, Verb, codec,
    ways::{Form, Said, Shows, Wanted},
};
use benchwright_spec::scenario::{Meant, Passing};
use benchwright_world::seen::Known;
use serde_json::{Map, Value as Json};

/// A call that a deed comes to.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The places of the deeds that it carries out; the first is whose row it names.
    pub(crate) deeds: Vec<usize>,
    /// Which of the calls of that deed it is.
    pub(crate) nth: usize,
    /// The tool's place.
    pub(crate) tool: usize,
    /// The arguments.
    pub(crate) args: Vec<Argument>,
    /// The rows that it makes in the demanded state, the first of which the call is about.
    pub(crate) makes: Vec<(TableId, RowId)>,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    /// The place of the deed that it is written in.
    pub(crate) deed: usize,
    pub(crate) is: Arg,
}

/// What an argument is, before it is said how whoever plays knows it.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// The row that the deed is on.
    Own(TableId, RowId),
    /// A field of that row.
    OwnField(TableId, RowId, FieldId),
    /// A value that stands in the declarations.
    Value(Type, Value),
    /// What is written, with its type and what it comes to.
    Told(Expr, Type, Value),
    /// The first or last row of some.
    Extreme(Wanted, Value),
    /// A text with facts in it.
    Text(Vec<TextPiece>),
    /// What a path reaches from each row of a set, with what that comes to.
    Each(Meant, Path, Json),
    /// A list that a way passes, with what that comes to.
    List(List, Json),
    /// A list of one.
    Alone(Box<Arg>),
    /// Rows of a child table.
    Children(Vec<Vec<Argument>>),
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub(crate) enum TextPiece {
    Plain(String),
    /// What is shown of what, and what that comes to.
    Show(Shows, Form, String),
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

/// What the calls are found from.
#[derive(Clone, Copy)]
pub(crate) struct Matter<'m> {
    pub(crate) deeds: &'m [Deed],
    pub(crate) desk: &'m Desk<'m>,
    /// The state before anything is done.
    pub(crate) first: &'m Scratch,
    /// The demanded one.
    pub(crate) last: &'m Scratch,
    pub(crate) bound: &'m [Known],
}

/// The calls of all deeds, in order; or all that nobody can do.
pub(crate) fn writes(matter: Matter<'_>) -> Result<Vec<Write>, Vec<Unwritable>> {
    let deeds = matter.deeds;
    let mut found: Vec<(usize, Write)> = Vec::new();
    let mut failed: Vec<Unwritable> = Vec::new();
    // Deeds that go into the call of another: rows of a child table into their parent's, and what a way sets of a row that is made.
    let mut folded: Vec<usize> = Vec::new();
    let mut group = 0;
    for (at, deed) in deeds.iter().enumerate() {
        if at > 0 && !deed.is_like(&deeds[at - 1]) {
            group += 1;
        }
        // What a way wants of a row that is made goes into the call that makes it, wherever that comes.
        let is_made = |target: Option<(TableId, RowId)>| {
            deeds.iter().any(|other| matches!(other.act, DeedAct::Make { .. }) && other.target() == target)
        };
        let of_made =
            matches!((&deed.origin, &deed.act), (Origin::Way { .. }, DeedAct::Change { .. })) && is_made(deed.target());
        if folded.contains(&at) || of_made {
            continue;
        }
        let writes = match &deed.act {
            DeedAct::Make { .. } => matter.make(at, &mut folded).map(|write| vec![write]),
            DeedAct::Change { .. } => matter.change(at),
            DeedAct::Drop { table, row } => matter.delete(at, *table, *row).map(|write| vec![write]),
            DeedAct::Call { tool, with, written, lists } => {
                matter.call(at, *tool, with, (written, lists)).map(|write| vec![write])
            }
        };
        match writes {
            Ok(writes) => {
                let numbered = writes.into_iter().enumerate();
                found.extend(numbered.map(|(nth, write)| (group, Write { nth, ..write })));
            }
            Err(why) => failed.push(why),
        }
    }
    if !failed.is_empty() {
        return Err(failed);
    }
    // Where an act takes several calls on each of several rows, the first calls of all rows come before the second ones.
    found.sort_by_key(|(group, write)| (*group, write.nth));
    Ok(found.into_iter().map(|(_, write)| write).collect())
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
    let mut args = Map::new();
    for (name, passing) in with {
        let ty = takes(domain, tool, name);
        let json = match passing {
            Passing::Is(expr) if is_list(domain, tool, name) => {
                Json::Array(vec![to_json(domain, ty, &eye.value(expr, it))])
            }
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

/// Whether an argument of a native tool is a list.
fn is_list(domain: &Domain, tool: usize, name: &str) -> bool {
    let takes = domain.tools[tool].native.iter().flat_map(|native| &native.takes);
    takes.into_iter().any(|argument| argument.cell.name == name && argument.list)
}

/// The type of an argument of a native tool.
pub(crate) fn takes(domain: &Domain, tool: usize, name: &str) -> Type {
    let takes = domain.tools[tool].native.iter().flat_map(|native| &native.takes);
    takes.into_iter().find(|argument| argument.cell.name == name).map_or(Type::Text, |argument| argument.cell.ty)
}

/// Arguments with ids as they are, for whoever tries a call rather than plays it.
pub(crate) fn plain_args(args: &[Argument], state: &Scratch) -> Json {
    fn plain(arg: &Arg, state: &Scratch) -> Json {
        let domain = state.domain();
        match arg {
            Arg::Own(_, row) => Json::from(*row),
            Arg::OwnField(table, row, field) => {
                let value = state.row(*table, *row).map(|cells| cells[field.index()].clone()).unwrap_or_default();
                to_json(domain, domain.table(*table).field(*field).ty, &value)
            }
            Arg::Value(ty, value) | Arg::Told(_, ty, value) => to_json(domain, *ty, value),
            Arg::Extreme(_, value) => value.as_ref_id().map_or(Json::Null, Json::from),
            Arg::Text(pieces) => {
                let text = pieces.iter().map(|piece| match piece {
                    TextPiece::Plain(text) | TextPiece::Show(_, _, text) => text.clone(),
                });
                Json::String(text.collect())
            }
            Arg::Each(_, _, list) | Arg::List(_, list) => list.clone(),
            Arg::Alone(arg) => Json::Array(vec![plain(arg, state)]),
            Arg::Children(rows) => rows.iter().map(|row| plain_args(row, state)).collect(),
        }
    }
    Json::Object(args.iter().map(|argument| (argument.name.clone(), plain(&argument.is, state))).collect())
}

/// A value as it is written in calls.
pub(crate) fn to_json(domain: &Domain, ty: Type, value: &Value) -> Json {
    let mut bytes = Vec::new();
    codec::write_value(&mut bytes, domain, ty, value);
    serde_json::from_slice(&bytes).unwrap_or_default()
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

impl Matter<'_> {
    /// A cell that a deed wants, as an argument.
    fn argument(&self, at: usize, cell: &WantedCell, table: TableId) -> Argument {
        let field = self.desk.domain.table(table).field(cell.field);
        let (ty, value) = (field.ty, cell.value.clone());
        let is = match &cell.wanted {
            Wanted::Is(Expr::Literal(..)) => Arg::Value(ty, value),
            Wanted::Is(expr) => Arg::Told(expr.clone(), ty, value),
            Wanted::OneOf(list) => match list.first() {
                Some(expr) if !matches!(expr, Expr::Literal(..)) => Arg::Told(expr.clone(), ty, value),
                _ => Arg::Value(ty, value),
            },
            Wanted::Text(parts) | Wanted::Tell(parts) => {
                Arg::Text(self.pieces(at, parts, value.as_text().unwrap_or_default()))
            }
            Wanted::Extreme { .. } => Arg::Extreme(cell.wanted.clone(), value),
        };
        Argument { name: field.name.clone(), deed: at, is }
    }

    /// A text with what it shows; padding that bounds ask for follows as it is.
    fn pieces(&self, at: usize, parts: &[Said], whole: &str) -> Vec<TextPiece> {
        let deed = &self.deeds[at];
        let eye = Eye::of(self.last, deed.seen(self.bound));
        let subject = deed.subject().and_then(|(table, row)| eye.row(table, row));
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
                    found.push(TextPiece::Show(shows.clone(), *form, shown));
                }
            }
        }
        if let Some(rest) = whole.get(length..).filter(|rest| !rest.is_empty()) {
            found.push(TextPiece::Plain(rest.to_owned()));
        }
        found
    }

    /// The cells of a row that a deed makes, with those that ways set on it; each with the place of the deed that wants it.
    fn made_cells(&self, at: usize, folded: &mut Vec<usize>) -> (Vec<(usize, WantedCell)>, Vec<usize>) {
        let deed = &self.deeds[at];
        let mut cells: Vec<(usize, WantedCell)> = deed.cells().iter().map(|cell| (at, cell.clone())).collect();
        let mut of = vec![at];
        for (later, other) in self.deeds.iter().enumerate() {
            let is_way = matches!((&other.origin, &other.act), (Origin::Way { .. }, DeedAct::Change { .. }));
            if is_way && later != at && other.target() == deed.target() {
                for cell in other.cells() {
                    cells.retain(|(_, known)| known.field != cell.field);
                    cells.push((later, cell.clone()));
                }
                folded.push(later);
                of.push(later);
            }
        }
        (cells, of)
    }

    /// The call that makes a row, with the rows of child tables that its tool takes.
    fn make(&self, at: usize, folded: &mut Vec<usize>) -> Result<Write, Unwritable> {
        let (domain, deed) = (self.desk.domain, &self.deeds[at]);
        let Some((table, row)) = deed.target() else {
            return Err(self.no_tool(at, benchwright_base::RelationId(0), None));
        };
        let declared = domain.table(table);
        let (cells, mut of) = self.made_cells(at, folded);
        let plain: Vec<&WantedCell> = cells.iter().map(|(_, cell)| cell).collect();
        let any = self.desk.offered().find(|(_, tool)| makes(tool, table, declared, &plain));
        let Some((place, tool)) = any else { return Err(self.no_tool(at, table, None)) };
        let mut args: Vec<Argument> = Vec::new();
        for setting in tool.set.iter().filter(|setting| setting.fixed.is_none()) {
            let field = declared.field(setting.field);
            match cells.iter().find(|(_, cell)| cell.field == setting.field) {
                Some((deed, cell)) => args.push(self.argument(*deed, cell, table)),
                // What somebody has to compose is composed.
                None if field.prose && (setting.required || lacks(field)) => {
                    let is = Arg::Value(Type::Text, Value::text(fit("As asked.", field)));
                    args.push(Argument { name: field.name.clone(), deed: at, is });
                }
                None => {}
            }
        }
        let mut made = vec![(table, row)];
        for child in &tool.with {
            let its = domain.table(child.table);
            let mut rows = Vec::new();
            for (place, other) in self.deeds.iter().enumerate() {
                let is_child = matches!(&other.act, DeedAct::Make { table, .. } if *table == child.table);
                let parent = other.cells().iter().find(|cell| cell.field == child.parent).map(|cell| &cell.value);
                if !is_child || parent != Some(&Value::Ref(row)) || folded.contains(&place) {
                    continue;
                }
                let (cells, deeds) = self.made_cells(place, folded);
                let given = cells
                    .iter()
                    .filter(|(_, cell)| cell.field != child.parent && !is_default(its.field(cell.field), &cell.value));
                rows.push(given.map(|(deed, cell)| self.argument(*deed, cell, child.table)).collect());
                folded.push(place);
                made.extend(other.target());
                of.extend(deeds);
            }
            if !rows.is_empty() {
                args.push(Argument { name: its.own_name().to_owned(), deed: at, is: Arg::Children(rows) });
            }
        }
        if !self.desk.may(table, Action::Create) {
            return Err(self.forbidden(at, table, None));
        }
        Ok(Write { deeds: of, nth: 0, tool: place, args, makes: made })
    }

    /// The calls that change cells of a row: as few as can be, and along the lifecycle where there is no direct step.
    fn change(&self, at: usize) -> Result<Vec<Write>, Unwritable> {
        let deed = &self.deeds[at];
        let Some((table, row)) = deed.target() else { return Ok(Vec::new()) };
        let declared = self.desk.domain.table(table);
        let mut writes = Vec::new();
        for cell in deed.cells() {
            let Some(lifecycle) = declared.lifecycle(cell.field) else { continue };
            let (Value::Enum(from), Value::Enum(to)) = (self.before(table, row, cell.field), &cell.value) else {
                continue;
            };
            let Some(route) = route(&lifecycle.next, from, *to) else {
                return Err(Unwritable::Lifecycle { table, row, field: cell.field });
            };
            for word in route.iter().take(route.len().saturating_sub(1)) {
                let step = WantedCell {
                    field: cell.field,
                    value: Value::Enum(*word),
                    wanted: Wanted::Is(Expr::Literal(Value::Enum(*word), declared.field(cell.field).ty)),
                };
                writes.push(self.update(at, table, row, &mut vec![step])?);
            }
        }
        let mut open: Vec<WantedCell> = deed.cells().to_vec();
        while !open.is_empty() {
            writes.push(self.update(at, table, row, &mut open)?);
        }
        Ok(writes)
    }

    /// What a cell is before it is changed: in the first state, or as the row is made.
    fn before(&self, table: TableId, row: RowId, field: FieldId) -> Value {
        if let Some(cells) = self.first.row(table, row) {
            return cells[field.index()].clone();
        }
        let made = self
            .deeds
            .iter()
            .find(|deed| matches!(deed.act, DeedAct::Make { .. }) && deed.target() == Some((table, row)));
        let cell = made.and_then(|deed| deed.cells().iter().find(|cell| cell.field == field));
        match cell {
            Some(cell) => cell.value.clone(),
            None => self.desk.domain.table(table).field(field).default.clone().unwrap_or_default(),
        }
    }

    /// One call that changes as many of the cells as a tool can; they are taken off the list.
    fn update(&self, at: usize, table: TableId, row: RowId, open: &mut Vec<WantedCell>) -> Result<Write, Unwritable> {
        let tools = self.desk.offered().filter(|(_, tool)| tool.table == Some(table) && tool.verb == Verb::Update);
        let best = tools
            .filter_map(|(place, tool)| {
                Some((covers(tool, open)?, std::cmp::Reverse(tool.set.len()), std::cmp::Reverse(place), tool))
            })
            .max_by_key(|(count, wide, place, _)| (*count, *wide, *place));
        let Some((_, _, std::cmp::Reverse(place), tool)) = best else {
            return Err(self.no_tool(at, table, Some(row)));
        };
        if !self.desk.may(table, Action::Update) {
            return Err(self.forbidden(at, table, Some(row)));
        }
        let mut args = self.named(at, tool, table, row);
        for cell in open.iter() {
            let setting = tool.set.iter().find(|setting| setting.field == cell.field);
            if setting.is_some_and(|setting| setting.fixed.is_none()) {
                args.push(self.argument(at, cell, table));
            }
        }
        open.retain(|cell| !tool.set.iter().any(|setting| setting.field == cell.field));
        Ok(Write { deeds: vec![at], nth: 0, tool: place, args, makes: Vec::new() })
    }

    fn delete(&self, at: usize, table: TableId, row: RowId) -> Result<Write, Unwritable> {
        let found = self.desk.offered().find(|(_, tool)| tool.table == Some(table) && tool.verb == Verb::Delete);
        let Some((place, tool)) = found else { return Err(self.no_tool(at, table, Some(row))) };
        if !self.desk.may(table, Action::Delete) {
            return Err(self.forbidden(at, table, Some(row)));
        }
        Ok(Write { deeds: vec![at], nth: 0, tool: place, args: self.named(at, tool, table, row), makes: Vec::new() })
    }

    /// The arguments that name a row: its id, or its key.
    fn named(&self, at: usize, tool: &Tool, table: TableId, row: RowId) -> Vec<Argument> {
        let argument = |name: &str, is: Arg| Argument { name: name.to_owned(), deed: at, is };
        if tool.by.is_empty() {
            return vec![argument("id", Arg::Own(table, row))];
        }
        let declared = self.desk.domain.table(table);
        let key = tool
            .by
            .iter()
            .map(|filter| argument(&declared.field(filter.field).name, Arg::OwnField(table, row, filter.field)));
        key.collect()
    }

    /// A call that a clause itself names.
    fn call(
        &self,
        at: usize,
        tool: usize,
        with: &Map<String, Json>,
        (written, lists): (&[(String, Passing)], &[List]),
    ) -> Result<Write, Unwritable> {
        let domain = self.desk.domain;
        let native = domain.tools[tool].native.as_ref();
        if self.desk.without.contains(&domain.tools[tool].name) {
            let table = native.and_then(|native| native.writes.first().copied());
            return Err(self.no_tool(at, table.unwrap_or(benchwright_base::RelationId(0)), None));
        }
        let takes = native.into_iter().flat_map(|native| &native.takes);
        let mut args = Vec::new();
        for argument in takes {
            let name = &argument.cell.name;
            if let Some((list, json)) = lists.iter().find(|list| list.argument == *name).zip(with.get(name)) {
                args.push(Argument { name: name.clone(), deed: at, is: Arg::List(list.clone(), json.clone()) });
            }
            let (Some(json), Some((_, passing))) = (with.get(name), written.iter().find(|(known, _)| known == name))
            else {
                continue;
            };
            let ty = argument.cell.ty;
            let is = match passing {
                Passing::Is(expr) if argument.list => {
                    let value = json.get(0).map(|json| read(domain, ty, json)).unwrap_or_default();
                    Arg::Alone(Box::new(Arg::Told(expr.clone(), ty, value)))
                }
                Passing::Is(Expr::Literal(value, _)) => Arg::Value(ty, value.clone()),
                Passing::Is(expr) => Arg::Told(expr.clone(), ty, read(domain, ty, json)),
                Passing::Text(parts) => Arg::Text(self.pieces(at, parts, json.as_str().unwrap_or_default())),
                Passing::Each(meant, path) => Arg::Each(meant.clone(), path.clone(), json.clone()),
            };
            args.push(Argument { name: name.clone(), deed: at, is });
        }
        Ok(Write { deeds: vec![at], nth: 0, tool, args, makes: Vec::new() })
    }

    fn no_tool(&self, at: usize, table: TableId, row: Option<RowId>) -> Unwritable {
        Unwritable::NoTool { table, row, origin: self.deeds[at].origin.clone() }
    }

    fn forbidden(&self, at: usize, table: TableId, row: Option<RowId>) -> Unwritable {
        Unwritable::Forbidden { table, row, origin: self.deeds[at].origin.clone() }
    }
}

/// Whether a tool makes a row with these cells, and nothing that nobody wants.
fn makes(tool: &Tool, table: TableId, declared: &Table, cells: &[&WantedCell]) -> bool {
    if tool.table != Some(table) || !matches!(tool.verb, Verb::Create | Verb::Link | Verb::Send) {
        return false;
    }
    let wanted = |field: FieldId| cells.iter().find(|cell| cell.field == field);
    let sets_all = cells.iter().filter(|cell| !is_default(declared.field(cell.field), &cell.value)).all(|cell| {
        tool.set.iter().any(|setting| {
            setting.field == cell.field && setting.fixed.as_ref().is_none_or(|fixed| *fixed == cell.value)
        })
    });
    let has_all = tool.set.iter().all(|setting| {
        let field = declared.field(setting.field);
        !(setting.required || lacks(field)) || setting.fixed.is_some() || field.prose || wanted(setting.field).is_some()
    });
    // A fixed value that nobody wants is another tool's.
    let fixed = tool.set.iter().all(|setting| {
        setting.fixed.as_ref().is_none_or(|fixed| wanted(setting.field).is_none_or(|cell| cell.value == *fixed))
    });
    sets_all && has_all && fixed
}

/// How many of some cells a tool changes; nothing, if it also changes something else or must be given something else.
fn covers(tool: &Tool, open: &[WantedCell]) -> Option<usize> {
    let wanted = |field: FieldId| open.iter().find(|cell| cell.field == field);
    let other =
        tool.set.iter().any(|setting| (setting.fixed.is_some() || setting.required) && wanted(setting.field).is_none());
    let wrong = tool.set.iter().any(|setting| {
        let fixed = setting.fixed.as_ref();
        fixed.is_some_and(|fixed| wanted(setting.field).is_some_and(|cell| cell.value != *fixed))
    });
    let count = open.iter().filter(|cell| tool.set.iter().any(|setting| setting.field == cell.field)).count();
    (count > 0 && !other && !wrong).then_some(count)
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
