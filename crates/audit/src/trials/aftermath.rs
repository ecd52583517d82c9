//! After the oracle's work every tool that writes is called once more: on a document of the job of each kind, on other records, and to make
//! copies of them, which are then carried forwards and back. What stands must make the verdict fall. Else it is made of freedoms alone,
//! or the plan declares the calls harmless, with the reason.
//!
//! The calls are made from the declarations: fields of a row take other legal values, new rows are copies of rows that are there, and what
//! else a tool asks for is drawn by its schema.

use crate::{
    Finding, Held, Subject,
    freedom::Freedoms,
    ground::Here,
    values::{Ground, place, shown},
};
use benchwright_base::{RelationId, RowId, TableId, Value};
use benchwright_calls::offered::{Maker, ids_of};
use benchwright_expr::Type;
use benchwright_grade::Grader;
use benchwright_pack::{Change, Diff, Snapshot};
use benchwright_sandbox::Episode;
use benchwright_schema::{
    DerivedKind, Domain, Field, FilterKind, Native, Setting, Shape, Tool, Verb, arguments_schema,
};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Values that a field is given.
const VALUES: usize = 3;
/// Calls whose arguments are drawn, of each tool, and how many of them that stand are enough.
const DRAWN: (usize, usize) = (160, 12);
/// Changes of a hole that its description names.
const NAMED: usize = 6;

pub(super) fn run(subject: &Subject<'_>, grader: &Grader<'_>) -> Finding {
    match all(subject, grader) {
        Ok(finding) => finding,
        Err(why) => Finding::new(Held::NoVerdict(why)),
    }
}

fn all(subject: &Subject<'_>, grader: &Grader<'_>) -> Result<Finding, String> {
    let done = subject.done()?;
    subject.must_stand(&grader.grade_live(&done.live()).map_err(|error| error.to_string())?)?;
    let state = done.snapshot();
    let made = Diff::between(&subject.first, &state);
    let mut aftermath = Aftermath {
        subject,
        grader,
        ground: Ground::of(subject),
        freedoms: Freedoms::of(subject),
        levers: levers(subject),
        kinds: BTreeMap::new(),
        done,
        state,
        counts: BTreeMap::new(),
        notes: BTreeSet::new(),
        holes: BTreeMap::new(),
        stood: BTreeSet::new(),
    };
    aftermath.kinds = aftermath.sort_out(&made);
    for at in 0..aftermath.levers.len() {
        aftermath.pull(at)?;
    }
    let faults: Vec<String> = aftermath.holes.into_values().map(|(first, count)| told(first, count)).collect();
    let mut finding = Finding::of(&faults).count("tools", aftermath.levers.len());
    finding = finding.count("tools that changed something", aftermath.stood.len());
    finding.notes = aftermath.notes.into_iter().chain(faults.into_iter().skip(1)).collect();
    for (name, count) in aftermath.counts {
        finding = finding.count(name, count);
    }
    Ok(finding)
}

/// A hole by its first example.
fn told(first: String, count: usize) -> String {
    if count == 1 { first } else { format!("{first}; {} more like it", count - 1) }
}

/// A tool that may change the world.
struct Lever {
    tool: Tool,
    schema: Json,
    /// The table whose rows it is called on or makes.
    table: Option<TableId>,
}

/// The tools that a task offers and that write.
fn levers(subject: &Subject<'_>) -> Vec<Lever> {
    let (domain, offered) = (&subject.domain, &subject.task.open.tools);
    let is_offered = |tool: &&Tool| offered.is_empty() || offered.contains(&tool.name);
    let writing = domain.tools.iter().filter(|tool| !tool.reads_only()).filter(is_offered);
    let lever = |tool: &Tool| {
        let schema = arguments_schema(domain, tool);
        let table = tool.table.or_else(|| tool.native.as_ref().and_then(Native::subject));
        Lever { tool: tool.clone(), schema, table }
    };
    writing.map(lever).collect()
}

impl Lever {
    /// Whether it takes nothing but the rows it is called on.
    fn is_button(&self) -> bool {
        ids_of(&self.schema).is_some() && self.required().count() == 1
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        self.schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
    }

    /// The argument that new rows are given in.
    fn new_rows(&self) -> Option<&str> {
        let takes = self.tool.native.iter().flat_map(|native| &native.takes);
        takes.filter(|argument| matches!(argument.shape, Shape::New(_))).map(|argument| &*argument.cell.name).next()
    }

    /// The argument in which fields of a row are given.
    fn vals(&self) -> Option<&str> {
        let takes = self.tool.native.iter().flat_map(|native| &native.takes);
        takes.filter(|argument| matches!(argument.shape, Shape::Vals(_))).map(|argument| &*argument.cell.name).next()
    }
}

struct Aftermath<'s, 'a> {
    subject: &'s Subject<'a>,
    grader: &'s Grader<'s>,
    ground: Ground<'s>,
    freedoms: Freedoms<'s>,
    levers: Vec<Lever>,
    /// A row of each kind, by table.
    kinds: BTreeMap<TableId, Vec<RowId>>,
    /// The episode in which the oracle has done its work, and its state.
    done: Episode,
    state: Snapshot,
    counts: BTreeMap<&'static str, usize>,
    notes: BTreeSet<String>,
    /// What stood although it should not have, by calls and changed fields: the first of it, and how often.
    holes: BTreeMap<(String, BTreeSet<String>), (String, usize)>,
    /// The tools of which a call has changed something.
    stood: BTreeSet<usize>,
}

impl Aftermath<'_, '_> {
    fn domain(&self) -> &Domain {
        &self.subject.domain
    }

    /// One row of each kind. Rows that the oracle touched are of one kind if they were made or changed alike, and are alike in the words of
    /// their enumerations and in what they refer to; all others if their keys begin alike.
    fn sort_out(&self, made: &Diff) -> BTreeMap<TableId, Vec<RowId>> {
        let touched: BTreeMap<(TableId, RowId), Vec<usize>> = made
            .changes
            .iter()
            .map(|(table, row, change)| {
                let fields = match change {
                    Change::Changed(fields) => fields.iter().map(|change| change.field.index()).collect(),
                    Change::Added(_) | Change::Removed(_) => Vec::new(),
                };
                ((*table, *row), fields)
            })
            .collect();
        let mut kinds = BTreeMap::new();
        for (at, rows) in self.state.tables.iter().enumerate() {
            let table = RelationId(at as u16);
            let mut seen = BTreeSet::new();
            let mut of_table = Vec::new();
            for row in &rows.rows {
                let Some(id) = row[0].as_ref_id() else { continue };
                let how = touched.get(&(table, id));
                let looks = |value: &Value| match value {
                    Value::Enum(word) => i32::from(*word) + 2,
                    Value::Bool(yes) => i32::from(*yes) + 2,
                    Value::Ref(_) => 1,
                    Value::Null => 0,
                    _ => -1,
                };
                let likeness = how.map(|_| row.iter().map(looks).collect::<Vec<i32>>());
                if seen.insert((how, likeness, self.ground.class(table, id))) {
                    of_table.push(id);
                }
            }
            kinds.insert(table, of_table);
        }
        kinds
    }

    fn rows(&self, table: TableId) -> Vec<RowId> {
        self.kinds.get(&table).cloned().unwrap_or_default()
    }

    /// Makes the calls of one tool.
    fn pull(&mut self, at: usize) -> Result<(), String> {
        let lever = &self.levers[at];
        let mut maker = Maker::new(&["aftermath", &lever.tool.name, &self.subject.task.open.id]);
        let calls = self.calls(lever, &mut maker);
        if !calls.is_empty() {
            let makes = self.levers[at].new_rows().is_some();
            for arguments in calls {
                let after = self.call(at, &arguments)?;
                if let (Some(after), true) = (after, makes) {
                    self.carry_on(at, &arguments, &after)?;
                }
            }
            return Ok(());
        }
        // What no row can be named for is drawn.
        let mut standing = 0;
        for _ in 0..DRAWN.0 {
            let arguments = maker.arguments(&self.levers[at].schema, &Here(&self.done));
            standing += usize::from(self.call(at, &arguments)?.is_some());
            if standing >= DRAWN.1 {
                break;
            }
        }
        Ok(())
    }

    /// Makes a call after the oracle's work and judges what it leaves; the episode, if something changed.
    fn call(&mut self, at: usize, arguments: &Json) -> Result<Option<Episode>, String> {
        let mut episode = self.done.fork();
        let name = self.levers[at].tool.name.clone();
        *self.counts.entry("calls").or_default() += 1;
        if episode.call(&name, &arguments.to_string()).is_err() {
            *self.counts.entry("refused").or_default() += 1;
            return Ok(None);
        }
        let stands = self.judge(&name, &format!("{name} {arguments}"), &episode)?;
        if stands {
            self.stood.insert(at);
        }
        Ok(stands.then_some(episode))
    }

    /// Pushes every button of the rows that a call has made.
    fn carry_on(&mut self, at: usize, arguments: &Json, after: &Episode) -> Result<(), String> {
        let Some(table) = self.levers[at].table else { return Ok(()) };
        let first = self.levers[at].tool.name.clone();
        let diff = after.diff_from(&self.done);
        let is_new = |(known, row, change): &(TableId, RowId, Change)| {
            (*known == table && matches!(change, Change::Added(_))).then_some(*row)
        };
        let Some(row) = diff.changes.iter().find_map(is_new) else { return Ok(()) };
        let buttons: Vec<String> = self
            .levers
            .iter()
            .filter(|lever| lever.is_button() && lever.table == Some(table))
            .map(|lever| lever.tool.name.clone())
            .collect();
        for button in buttons {
            let mut episode = after.fork();
            *self.counts.entry("calls").or_default() += 1;
            if episode.call(&button, &json!({ "ids": [row] }).to_string()).is_err() {
                *self.counts.entry("refused").or_default() += 1;
                continue;
            }
            let calls = format!("{first}, {button}");
            self.judge(&calls, &format!("{first} {arguments}, {button}"), &episode)?;
        }
        Ok(())
    }

    /// Judges what calls leave. Whether they changed anything.
    fn judge(&mut self, calls: &str, told: &str, episode: &Episode) -> Result<bool, String> {
        let diff = episode.diff_from(&self.done);
        if diff.is_empty() {
            *self.counts.entry("changed nothing").or_default() += 1;
            return Ok(false);
        }
        let verdict = self.grader.grade_live(&episode.live()).map_err(|error| error.to_string())?;
        let counted = if self.subject.fell(&verdict) {
            "fell"
        } else if let Some(reason) = self.freedoms.harmless(calls) {
            self.notes.insert(format!("{calls} is harmless: {reason}"));
            "harmless"
        } else if let Some(used) = self.freedoms.covers(&self.subject.domain, &diff, &self.done.live(), &episode.live())
        {
            self.notes.extend(used);
            "free"
        } else {
            let changed = changes(&self.subject.domain, &diff);
            let what: Vec<&str> = changed.iter().map(|what| &**what).take(NAMED).collect();
            let what = format!("{told} still passes: {}", what.join(", "));
            self.holes.entry((calls.to_owned(), changed)).or_insert((what, 0)).1 += 1;
            "holes"
        };
        *self.counts.entry(counted).or_default() += 1;
        Ok(true)
    }

    // ------------------------------------------------------------ arguments

    /// The calls of a tool that name rows; none where it names none.
    fn calls(&self, lever: &Lever, maker: &mut Maker) -> Vec<Json> {
        let Some(table) = lever.table else { return Vec::new() };
        let (tool, rows) = (&lever.tool, self.rows(table));
        if let Some(argument) = lever.new_rows() {
            let copies = rows.iter().flat_map(|row| self.copies(table, *row));
            let drawn = maker.arguments(&lever.schema, &Here(&self.done));
            return copies.map(|copy| json!({ argument: [copy] })).chain([drawn]).collect();
        }
        match tool.verb {
            Verb::Create | Verb::Link | Verb::Send => {
                let drawn = maker.arguments(&lever.schema, &Here(&self.done));
                rows.iter().filter_map(|row| self.declared_copy(tool, table, *row)).chain([drawn]).collect()
            }
            Verb::Update => rows.iter().flat_map(|row| self.updates(tool, table, *row)).collect(),
            Verb::Delete => rows.iter().filter_map(|row| Some(Json::Object(self.name(tool, table, *row)?))).collect(),
            _ => rows.iter().flat_map(|row| self.native(lever, table, *row, maker)).collect(),
        }
    }

    /// The calls of a native tool on a row: each field by itself, or what it asks for besides the row, drawn.
    fn native(&self, lever: &Lever, table: TableId, row: RowId, maker: &mut Maker) -> Vec<Json> {
        let Some(first) = lever.tool.native.as_ref().and_then(|native| native.takes.first()) else { return Vec::new() };
        let (name, id) = (&*first.cell.name, if first.list { json!([row]) } else { json!(row) });
        if let Some(vals) = lever.vals() {
            return self.writes(table, row).into_iter().map(|given| json!({ name: id, vals: given })).collect();
        }
        if lever.required().count() <= 1 {
            return vec![json!({ name: id })];
        }
        let mut drawn = || {
            let mut arguments = maker.arguments(&lever.schema, &Here(&self.done));
            arguments[name] = id.clone();
            arguments
        };
        (0..VALUES).map(|_| drawn()).collect()
    }

    fn row(&self, table: TableId, row: RowId) -> Option<&[Value]> {
        place(&self.state, table, row).map(|at| &*self.state.tables[table.index()].rows[at])
    }

    /// The rows of a table that refer to a row by a field.
    fn referring(&self, table: TableId, field: usize, row: RowId) -> impl Iterator<Item = &Vec<Value>> {
        self.state.tables[table.index()].rows.iter().filter(move |cells| cells[field] == Value::Ref(row))
    }

    /// Other values of a field of a row.
    fn others(&self, table: TableId, row: RowId, field: usize) -> impl Iterator<Item = Value> {
        let at = place(&self.state, table, row);
        let values = at.map(|at| self.ground.others(&self.state, table, at, field));
        values.unwrap_or_default().into_iter().take(VALUES)
    }

    /// Objects of one written field each: a cell, or a command on the rows that belong to a row.
    fn writes(&self, table: TableId, row: RowId) -> Vec<Json> {
        let declared = self.domain().table(table);
        let mut found = Vec::new();
        for (at, field) in declared.fields.iter().enumerate().skip(1).filter(|(_, field)| field.stamp.is_none()) {
            for value in self.others(table, row, at) {
                found.push(json!({ field.name.as_str(): plain(self.domain(), field, &value) }));
            }
        }
        for derived in &declared.derived {
            let name = derived.name.as_str();
            match derived.kind {
                DerivedKind::Children { table: of, field } => {
                    let Some(child) =
                        self.referring(of, field.index(), row).filter_map(|row| row[0].as_ref_id()).next()
                    else {
                        continue;
                    };
                    found.push(json!({ name: [[2, child]] }));
                    found.extend(self.copy(of, child, false).map(|copy| json!({ name: [[0, 0, copy]] })));
                    let columns = self.domain().table(of).fields.iter().enumerate().skip(1);
                    for (at, column) in columns.filter(|(_, column)| column.stamp.is_none()) {
                        for value in self.others(of, child, at).take(1) {
                            let value = json!({ column.name.as_str(): plain(self.domain(), column, &value) });
                            found.push(json!({ name: [[1, child, value]] }));
                        }
                    }
                }
                DerivedKind::Linked { table: to, .. } => {
                    found.push(json!({ name: [[5]] }));
                    found.extend(self.rows(to).iter().take(VALUES).map(|other| json!({ name: [[4, other]] })));
                }
                DerivedKind::Value(_) | DerivedKind::Rows(_) => {}
            }
        }
        found
    }

    /// Copies of a row: whole; without the rows that belong to it, or without what joins it to others; and of a row that the oracle has
    /// made also with one word, truth or reference changed, in itself or in all rows that belong to it.
    fn copies(&self, table: TableId, row: RowId) -> Vec<Json> {
        let Some(whole) = self.copy(table, row, true) else { return Vec::new() };
        let declared = self.domain().table(table);
        let is_derived = |name: &str| declared.derived.iter().any(|derived| derived.name == name);
        let mut bare = whole.clone();
        bare.retain(|name, _| !is_derived(name));
        let mut loose = whole.clone();
        loose.values_mut().for_each(unlink);
        let mut found = vec![whole.clone(), bare, loose];
        let is_new = |table: TableId, row: RowId| place(&self.subject.first, table, row).is_none();
        if is_new(table, row) {
            found.extend(self.turned(table, row).map(|(name, value)| with(&whole, &name, value)));
            for derived in &declared.derived {
                let DerivedKind::Children { table: of, field } = derived.kind else { continue };
                let child = self.referring(of, field.index(), row).find_map(|row| row[0].as_ref_id());
                for (name, value) in child.into_iter().flat_map(|child| self.turned(of, child)) {
                    let mut copy = whole.clone();
                    for command in copy.get_mut(&derived.name).and_then(Json::as_array_mut).into_iter().flatten() {
                        command[2][&name] = value.clone();
                    }
                    found.push(copy);
                }
            }
        }
        found.dedup();
        found.into_iter().map(Json::Object).collect()
    }

    /// Fields of a row whose words, truths and references can be turned, each with another value.
    fn turned(&self, table: TableId, row: RowId) -> impl Iterator<Item = (String, Json)> {
        let declared = self.domain().table(table);
        let fields = declared.fields.iter().enumerate().skip(1).filter(|(_, field)| field.stamp.is_none());
        let fields = fields.filter(|(_, field)| matches!(field.ty, Type::Enum(_) | Type::Bool | Type::Ref(_)));
        fields.flat_map(move |(at, field)| {
            self.others(table, row, at).map(|value| (field.name.clone(), plain(self.domain(), field, &value)))
        })
    }

    /// The fields of a row and of those that belong to it, as a new one is given them.
    fn copy(&self, table: TableId, row: RowId, deep: bool) -> Option<Map<String, Json>> {
        let (declared, cells) = (self.domain().table(table), self.row(table, row)?);
        let mut copy = Map::new();
        for (at, field) in declared.fields.iter().enumerate().skip(1).filter(|(_, field)| field.stamp.is_none()) {
            if !cells[at].is_null() {
                copy.insert(field.name.clone(), plain(self.domain(), field, &self.fresh(table, row, at, &cells[at])));
            }
        }
        for derived in declared.derived.iter().filter(|_| deep) {
            let commands: Vec<Json> = match derived.kind {
                DerivedKind::Children { table: of, field } => {
                    let parent = &self.domain().table(of).field(field).name;
                    let children = self.referring(of, field.index(), row).filter_map(|child| child[0].as_ref_id());
                    let copies = children.filter_map(|child| self.copy(of, child, true));
                    let without = copies.map(|mut copy| {
                        copy.remove(parent);
                        json!([0, 0, copy])
                    });
                    without.collect()
                }
                DerivedKind::Linked { link, from, to, .. } => {
                    let joints = self.referring(link, from.index(), row);
                    let ids: Vec<RowId> = joints.filter_map(|joint| joint[to.index()].as_ref_id()).collect();
                    if ids.is_empty() { Vec::new() } else { vec![json!([6, 0, ids])] }
                }
                DerivedKind::Value(_) | DerivedKind::Rows(_) => Vec::new(),
            };
            if !commands.is_empty() {
                copy.insert(derived.name.clone(), Json::Array(commands));
            }
        }
        Some(copy)
    }

    /// A value that a second row may have: another one where no two rows may be alike in it.
    fn fresh(&self, table: TableId, row: RowId, field: usize, value: &Value) -> Value {
        let keys = &self.domain().table(table).keys;
        let is_key = keys.iter().any(|key| key.fields.len() == 1 && key.fields[0].index() == field);
        let other = is_key.then(|| self.others(table, row, field).next()).flatten();
        other.unwrap_or_else(|| value.clone())
    }

    /// What a declared tool takes to make another row like one that is there.
    fn declared_copy(&self, tool: &Tool, table: TableId, row: RowId) -> Option<Json> {
        let mut copy = self.given(table, row, &tool.set)?;
        for child in &tool.with {
            let children = self.referring(child.table, child.parent.index(), row).filter_map(|row| row[0].as_ref_id());
            let copies: Vec<Json> =
                children.filter_map(|id| self.given(child.table, id, &child.set)).map(Json::Object).collect();
            copy.insert(self.domain().table(child.table).own_name().to_owned(), Json::Array(copies));
        }
        Some(Json::Object(copy))
    }

    /// The settings of a tool as a row has them.
    fn given(&self, table: TableId, row: RowId, set: &[Setting]) -> Option<Map<String, Json>> {
        let (declared, cells) = (self.domain().table(table), self.row(table, row)?);
        let open = set.iter().filter(|setting| setting.fixed.is_none());
        let given = open.filter(|setting| !cells[setting.field.index()].is_null()).map(|setting| {
            let (at, field) = (setting.field.index(), declared.field(setting.field));
            (field.name.clone(), shown(self.domain(), field.ty, &self.fresh(table, row, at, &cells[at])))
        });
        Some(given.collect())
    }

    /// The arguments that name a row to a declared tool.
    fn name(&self, tool: &Tool, table: TableId, row: RowId) -> Option<Map<String, Json>> {
        let (declared, cells) = (self.domain().table(table), self.row(table, row)?);
        if tool.by.is_empty() {
            return Some(Map::from_iter([("id".to_owned(), json!(row))]));
        }
        let keys = tool.by.iter().filter(|filter| filter.kind == FilterKind::Is).map(|filter| {
            let field = declared.field(filter.field);
            (field.name.clone(), shown(self.domain(), field.ty, &cells[filter.field.index()]))
        });
        Some(keys.collect())
    }

    /// Calls of a declared tool that changes rows: each field by itself, and what it sets by itself.
    fn updates(&self, tool: &Tool, table: TableId, row: RowId) -> Vec<Json> {
        let declared = self.domain().table(table);
        let Some(named) = self.name(tool, table, row) else { return Vec::new() };
        let required: Vec<Setting> = tool.set.iter().filter(|setting| setting.required).cloned().collect();
        let required = self.given(table, row, &required).unwrap_or_default();
        let base: Map<String, Json> = named.into_iter().chain(required).collect();
        let mut calls = vec![Json::Object(base.clone())];
        for setting in tool.set.iter().filter(|setting| setting.fixed.is_none()) {
            let field = declared.field(setting.field);
            for value in self.others(table, row, setting.field.index()) {
                let mut call = base.clone();
                call.insert(field.name.clone(), shown(self.domain(), field.ty, &value));
                calls.push(Json::Object(call));
            }
        }
        calls
    }
}

/// The same object with another value.
fn with(object: &Map<String, Json>, name: &str, value: Json) -> Map<String, Json> {
    let mut object = object.clone();
    object.insert(name.to_owned(), value);
    object
}

/// Takes every joint out of commands on rows, at any depth.
fn unlink(commands: &mut Json) {
    let Some(list) = commands.as_array_mut() else { return };
    list.retain(|command| command[0] != 6);
    for vals in list.iter_mut().filter_map(|command| command.get_mut(2)?.as_object_mut()) {
        vals.values_mut().for_each(unlink);
    }
}

/// The changed fields of a difference, as `table.field`, `+table` and `-table`.
fn changes(domain: &Domain, diff: &Diff) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (table, _, change) in &diff.changes {
        let declared = domain.table(*table);
        match change {
            Change::Added(_) => _ = found.insert(format!("+{}", declared.name)),
            Change::Removed(_) => _ = found.insert(format!("-{}", declared.name)),
            Change::Changed(fields) => {
                let name = |field| format!("{}.{}", declared.name, declared.field(field).name);
                found.extend(fields.iter().map(|change| name(change.field)));
            }
        }
    }
    found
}

/// A value as record calls take it: `false` for nothing, instants with a space.
fn plain(domain: &Domain, field: &Field, value: &Value) -> Json {
    match (field.ty, shown(domain, field.ty, value)) {
        (_, Json::Null) => json!(false),
        (Type::DateTime, Json::String(text)) => json!(text.trim_end_matches('Z').replace('T', " ")),
        (_, value) => value,
    }
}
