//! From what the request shows to what the calls need. Reads are planned by making them: each is played at once on the task's world, so
//! that what has been seen is known, and a name is found only among rows that answers have shown.

use crate::{
    calls::{Arg, Desk, TextPiece, Write, to_json},
    demand::{Deed, Origin, in_force},
    draw::rows_of,
    throw,
};
use benchwright_base::{RowId, TableId, Value};
use benchwright_expr::{Expr, Source, Type, notation, source_notation};
use benchwright_pack::{Find, FindPick, GivenFact, Script, Step};
use benchwright_project::Discard;
use benchwright_sandbox::{Episode, Scratch};
use benchwright_schema::{
    Domain,
    ways::{Act, Which},
};
use benchwright_spec::scenario::{Asked, Clause, Meant, Scenario};
use benchwright_world::seen::{Known, Seen};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

mod look;

/// What the request shows of a member: the path from its row, and the value.
pub(crate) type Shown = BTreeMap<usize, Vec<(benchwright_expr::Path, Value, Type)>>;

/// Which writes a step of a script is for: the first, and how many it goes over.
pub(crate) type Steps = BTreeMap<usize, (usize, usize)>;

/// Plans and plays the reads of a task.
pub(crate) struct Reader<'a> {
    scenario: &'a Scenario,
    clauses: &'a [Clause],
    desk: &'a Desk<'a>,
    /// The state before anything is done.
    world: &'a Scratch,
    /// What members stand for, truly.
    bound: &'a [Known],
    shown: &'a Shown,
    seen: Seen<'a>,
    episode: Episode,
    steps: Vec<Step>,
    given: Vec<GivenFact>,
    /// Members whose names are known, by place.
    known: BTreeSet<usize>,
    /// Names of rows that are made, by their id in the demanded state.
    made: BTreeMap<(TableId, RowId), String>,
    /// Calls that were made already, so that none is made twice.
    called: BTreeSet<String>,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        clauses: &'a [Clause],
        desk: &'a Desk<'a>,
        world: &'a Scratch,
        bound: &'a [Known],
        shown: &'a Shown,
        episode: Episode,
    ) -> Reader<'a> {
        let seen = Seen::new(desk.domain, world.now());
        Reader {
            scenario,
            clauses,
            desk,
            world,
            bound,
            shown,
            seen,
            episode,
            steps: Vec::new(),
            given: Vec::new(),
            known: BTreeSet::new(),
            made: BTreeMap::new(),
            called: BTreeSet::new(),
            depth: 0,
        }
    }

    fn domain(&self) -> &'a Domain {
        self.desk.domain
    }

    /// The whole script: reads as they are needed, then writes in order, then the answer.
    pub(crate) fn script(
        mut self,
        writes: &[Write],
        deeds: &[Deed],
        because: &dyn Fn(&Origin) -> String,
    ) -> Result<(Script, Steps), Discard> {
        // All that can be known beforehand is read before anything is written.
        let mut at = 0;
        let mut planned: Vec<(Step, Option<(usize, usize)>)> = Vec::new();
        while at < writes.len() {
            let group = self.group(&writes[at..], deeds)?;
            let write = &writes[at];
            let mut step = self.write(write, deeds, group.as_ref().map(|(set, _)| &**set))?;
            if let Some((set, count)) = &group {
                step.each = Some(set.clone());
                // One call for each row of a set says the same of each: what it names must not be the first row's alone.
                for other in &writes[at + 1..at + count] {
                    if self.write(other, deeds, Some(set))?.args != step.args {
                        return Err(throw("the rows of a set are written differently".to_owned()));
                    }
                }
            }
            let origin = &deeds[write.deeds[0]].origin;
            step.because = Some(because(origin));
            if let Some(key) = write.makes {
                let name = self.name_made(key, deeds, write);
                if group.is_none() {
                    step.bind = Some(name);
                }
            }
            let count = group.map_or(1, |(_, count)| count);
            planned.push((step, Some((at, count))));
            at += count;
        }
        if let Some(answer) = self.answer()? {
            planned.push((answer, None));
        }
        let mut steps = self.steps;
        let mut writes_of = Steps::new();
        for (step, of) in planned {
            writes_of.extend(of.map(|of| (steps.len(), of)));
            steps.push(step);
        }
        Ok((Script { steps, given: self.given, reads: true }, writes_of))
    }

    /// The set whose rows the next writes go over one after the other, and how many writes these are.
    fn group(&mut self, writes: &[Write], deeds: &[Deed]) -> Result<Option<(String, usize)>, Discard> {
        let first = &deeds[writes[0].deeds[0]];
        let Some((table, _)) = first.it else { return Ok(None) };
        let same = |write: &&Write| {
            let deed = &deeds[write.deeds[0]];
            deed.origin == first.origin && write.tool == writes[0].tool && deed.it.is_some_and(|(t, _)| t == table)
        };
        let count = writes.iter().take_while(same).count();
        let rows: Vec<RowId> =
            writes[..count].iter().filter_map(|write| deeds[write.deeds[0]].it).map(|(_, row)| row).collect();
        let Some(set) = self.set_of(&first.origin, table, &rows)? else { return Ok(None) };
        Ok(Some((set, count)))
    }

    /// The name of the set that a clause or way goes over, known from here on; nothing if it is about one row.
    fn set_of(&mut self, origin: &Origin, table: TableId, rows: &[RowId]) -> Result<Option<String>, Discard> {
        match origin {
            Origin::Clause(at) => {
                let meant = match &self.clauses[*at].act {
                    Asked::Change { rows, .. } => Some(rows),
                    Asked::Make { each, .. } | Asked::Call { each, .. } => each.as_ref(),
                    _ => None,
                };
                let Some(meant) = meant.cloned() else { return Ok(None) };
                if meant.path.is_empty() && matches!(self.bound.get(meant.slot), Some(Known::Row(..)) | None) {
                    return Ok(None);
                }
                self.name_set(&meant).map(Some)
            }
            Origin::Way { rule, way, on } => {
                let rule = &self.domain().rules[*rule];
                let remedy = rule.ways[*way].on.iter().find(|remedy| remedy.table == on.0);
                let source = remedy.into_iter().flat_map(|remedy| &remedy.acts).find_map(|act| match act {
                    Act::Change { rows: Which::Those(source, condition), table: t, .. }
                    | Act::Drop { rows: Which::Those(source, condition), table: t }
                        if *t == table =>
                    {
                        Some((source, condition.as_ref()))
                    }
                    Act::Make { each: Some(source), .. } if relation(source) == Some(table) => Some((source, None)),
                    _ => None,
                });
                let Some((source, condition)) = source else { return Ok(None) };
                let name = format!("by_{}", rule.id.replace(['-', '/'], "_"));
                if self.seen.known(&name).is_none() {
                    self.find_for_way(&name, source, condition, *on, rows)?;
                }
                Ok(Some(name))
            }
        }
    }

    /// Finds the rows of a way, which are told by what ties them to the row that the way is about.
    fn find_for_way(
        &mut self,
        name: &str,
        source: &Source,
        condition: Option<&Expr>,
        on: (TableId, RowId),
        rows: &[RowId],
    ) -> Result<(), Discard> {
        let subject = self.row_expr(on)?;
        self.ensure_row(on.0, on.1, &subject)?;
        self.read_source(source, &[&subject])?;
        let slots = [&*subject, "it"];
        let Some(mut of) = source_notation(source, self.domain(), &slots[..1]) else {
            return Err(throw("a way cannot be told".to_owned()));
        };
        if let Some(condition) = condition {
            self.ensure_expr(condition, &slots, true)?;
            let Some(told) = notation(condition, self.domain(), &slots) else {
                return Err(throw("a way cannot be told".to_owned()));
            };
            of = format!("{of} where {told}");
        }
        self.find(Find { name: name.to_owned(), of, pick: FindPick::All, by: None, count: None })?;
        match self.seen.known(name) {
            Some(Known::Rows(_, found)) if found == rows => Ok(()),
            _ => Err(throw(format!("other rows are read for {name}"))),
        }
    }

    /// A name for the rows that a clause means.
    fn name_set(&mut self, meant: &Meant) -> Result<String, Discard> {
        self.know(meant.slot)?;
        let member = self.scenario.cast[meant.slot].name.clone();
        if meant.path.is_empty() {
            return Ok(member);
        }
        // The rows that a set's rows lead to.
        let path: String = meant
            .path
            .iter()
            .map(|(table, field)| self.domain().table(*table).field(*field).name.clone())
            .collect::<Vec<_>>()
            .join(".");
        let name = format!("{member}_{}", path.replace('.', "_"));
        if self.seen.known(&name).is_none() {
            let table = &self.domain().table(meant.table).name;
            let many = matches!(self.bound[meant.slot], Known::Rows(..));
            let of = match many {
                true => format!("{table}() where exists x in {member} where x.{path} = it.id"),
                false => format!("{table}(id = {member}.{path})"),
            };
            let rows = crate::demand::meant(meant, self.world, self.bound);
            self.see_rows(meant.table, &rows)?;
            self.find(Find { name: name.clone(), of, pick: FindPick::All, by: None, count: None })?;
        }
        Ok(name)
    }

    /// The name of a row that a call makes.
    fn name_made(&mut self, key: (TableId, RowId), deeds: &[Deed], write: &Write) -> String {
        let named = write.deeds.iter().find_map(|at| match &deeds[*at].act {
            crate::demand::DeedAct::Make { name, .. } => name.clone(),
            _ => None,
        });
        let own = self.domain().table(key.0).own_name().to_owned();
        let name = named.unwrap_or_else(|| format!("new_{own}_{}", self.made.len() + 1));
        self.made.insert(key, name.clone());
        name
    }

    /// A call as a step; `it` stands for the row of a set that the call is made for.
    fn write(&mut self, write: &Write, deeds: &[Deed], set: Option<&str>) -> Result<Step, Discard> {
        let it = set.and(deeds[write.deeds[0]].it);
        let mut args = Map::new();
        for (name, arg) in &write.args {
            let json = self.arg(arg, it)?;
            args.insert(name.clone(), json);
        }
        let tool = self.domain().tools[write.tool].name.clone();
        Ok(Step::call(&tool, "", Json::Object(args)))
    }

    fn arg(&mut self, arg: &Arg, it: Option<(TableId, RowId)>) -> Result<Json, Discard> {
        match arg {
            Arg::Row(table, row) => Ok(json!({ "$": self.known_row((*table, *row), it)? })),
            Arg::Value(ty, value) => Ok(to_json(self.domain(), *ty, value)),
            Arg::Told(expr, ty, value) => {
                let names: Vec<String> =
                    self.scenario.names().iter().map(|given| given.name.to_owned()).chain(["it".to_owned()]).collect();
                let slots: Vec<&str> = names.iter().map(|name| &**name).collect();
                self.ensure_expr(expr, &slots, false)?;
                match notation(expr, self.domain(), &slots) {
                    Some(told) => Ok(json!({ "$": told })),
                    None => Ok(to_json(self.domain(), *ty, value)),
                }
            }
            Arg::Cell(table, row, field) => {
                let expr = self.known_row((*table, *row), it)?;
                if !self.made.contains_key(&(*table, *row)) {
                    self.ensure_row_of(&expr, *table, *row, it)?;
                }
                let name = &self.domain().table(*table).field(*field).name;
                Ok(json!({ "$": format!("{expr}.{name}") }))
            }
            Arg::Text(pieces) => {
                let mut parts = Vec::new();
                let mut plain = true;
                for piece in pieces {
                    match piece {
                        TextPiece::Plain(text) => parts.push(Json::String(text.clone())),
                        TextPiece::Cell(table, row, field) => {
                            let expr = self.known_row((*table, *row), it)?;
                            if !self.made.contains_key(&(*table, *row)) {
                                self.ensure_row_of(&expr, *table, *row, it)?;
                            }
                            let name = &self.domain().table(*table).field(*field).name;
                            parts.push(json!({ "$": format!("{expr}.{name}") }));
                            plain = false;
                        }
                    }
                }
                if plain {
                    let text: String = parts.iter().filter_map(Json::as_str).collect();
                    return Ok(Json::String(text));
                }
                Ok(json!({ "$text": parts }))
            }
            Arg::Children(rows) => {
                let mut list = Vec::new();
                for row in rows {
                    let mut one = Map::new();
                    for (name, arg) in row {
                        let json = self.arg(arg, it)?;
                        one.insert(name.clone(), json);
                    }
                    list.push(Json::Object(one));
                }
                Ok(Json::Array(list))
            }
            Arg::List(list) => {
                let list: Result<Vec<Json>, Discard> = list.iter().map(|arg| self.arg(arg, it)).collect();
                list.map(Json::Array)
            }
        }
    }

    fn ensure_row_of(
        &mut self,
        expr: &str,
        table: TableId,
        row: RowId,
        it: Option<(TableId, RowId)>,
    ) -> Result<(), Discard> {
        if expr == "it" || expr.starts_with("it.") {
            if let (Some((from, _)), Some(field)) = (it, expr.strip_prefix("it.")) {
                let by = self.domain().table(from).field_named(field);
                if let Some(by) = by.filter(|_| !self.seen.has(table, row)) {
                    return self.see_referred(from, by, table, &[row], &BTreeMap::new());
                }
            }
            return Ok(());
        }
        self.ensure_row(table, row, expr)
    }

    /// What a row is called in the arguments of a call.
    fn known_row(&mut self, key: (TableId, RowId), it: Option<(TableId, RowId)>) -> Result<String, Discard> {
        if it == Some(key) {
            return Ok("it".to_owned());
        }
        if let Some((table, row)) = it
            && !self.made.contains_key(&key)
            && self.bound.iter().all(|known| *known != Known::Row(key.0, Some(key.1)))
        {
            // What each row of the set refers to.
            let declared = self.domain().table(table);
            let cells = self.world.row(table, row).map(<[Value]>::to_vec).unwrap_or_default();
            let field = declared
                .fields
                .iter()
                .zip(&cells)
                .skip(1)
                .find(|(field, cell)| field.ty == Type::Ref(key.0) && **cell == Value::Ref(key.1));
            if let Some((field, _)) = field {
                return Ok(format!("it.{}", field.name));
            }
        }
        self.row_expr(key)
    }

    /// The call that answers, if something is asked.
    fn answer(&mut self) -> Result<Option<Step>, Discard> {
        let mut values = Vec::new();
        for (_, clause) in in_force(self.clauses, self.world, self.bound) {
            let Asked::Answer { is, .. } = &clause.act else { continue };
            let names: Vec<String> = self.scenario.names().iter().map(|given| given.name.to_owned()).collect();
            let slots: Vec<&str> = names.iter().map(|name| &**name).collect();
            let value = match is {
                benchwright_spec::scenario::Told::One(expr, _) => {
                    self.ensure_expr(expr, &slots, false)?;
                    let Some(told) = notation(expr, self.domain(), &slots) else {
                        return Err(throw("the answer cannot be told".to_owned()));
                    };
                    json!({ "$text": [{ "$": told }] })
                }
                benchwright_spec::scenario::Told::Each(meant, path, _) => {
                    let set = self.name_set(meant)?;
                    self.ensure_of_path(meant, path)?;
                    let fields: Vec<&str> =
                        path.iter().map(|(table, field)| &*self.domain().table(*table).field(*field).name).collect();
                    json!({ "$list": [set, format!("it.{}", fields.join("."))] })
                }
            };
            values.push(json!({ "name": clause.id, "value": value }));
        }
        if values.is_empty() {
            return Ok(None);
        }
        let args = json!({ "reply_value": values });
        Ok(Some(Step::call("submit_answer", "", args).because("asked: what the request wants to know")))
    }

    fn ensure_of_path(&mut self, meant: &Meant, path: &benchwright_expr::Path) -> Result<(), Discard> {
        if path.len() < 2 {
            return Ok(());
        }
        let rows = rows_of(&self.bound[meant.slot]);
        let ((from, by), (to, _)) = (path[0], path[1]);
        let unseen: Vec<RowId> = rows
            .into_iter()
            .filter_map(|row| self.world.row(from, row).and_then(|cells| cells[by.index()].as_ref_id()))
            .filter(|row| !self.seen.has(to, *row))
            .collect();
        if unseen.is_empty() {
            return Ok(());
        }
        self.see_referred(from, by, to, &unseen, &BTreeMap::new())
    }
}

fn relation(source: &Source) -> Option<TableId> {
    match source {
        Source::Rows { relation, .. } => Some(*relation),
        _ => None,
    }
}
