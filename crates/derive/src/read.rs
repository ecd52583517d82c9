//! From what the request shows to what the calls need. Reads are planned by making them: each is played at once on the task's world, so
//! that what has been seen is known, and a name is found only among rows that answers have shown.

use crate::{
    calls::{Arg, Argument, Desk, Matter, TextPiece, Write, to_json},
    demand::{Deed, Origin, in_force, makes},
    throw,
};
use benchwright_base::{FieldId, RowId, TableId};
use benchwright_expr::{Expr, Type};
use benchwright_pack::{Find, FindPick, GivenFact, Script, Step};
use benchwright_project::Discard;
use benchwright_sandbox::{Episode, Scratch};
use benchwright_schema::{Domain, ways::Shows};
use benchwright_spec::scenario::{Asked, Clause, Meant, Scenario, Told};
use benchwright_world::seen::{Known, Seen};
use frame::{Frame, It, speaks_of_it};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

mod frame;
mod look;
mod ways;

/// What the request shows of a member: the path from its row, and the value.
pub(crate) type Shown = BTreeMap<usize, Vec<(benchwright_expr::Path, benchwright_base::Value, Type)>>;

/// Which writes a step of a script is for: the first, and how many it goes over.
pub(crate) type Steps = BTreeMap<usize, (usize, usize)>;

/// The rows that an act of a way is over: the rule, the act, and the row that the way is about if that is a single one.
type WaySet = (usize, usize, Option<(TableId, RowId)>);

/// Plans and plays the reads of a task.
pub(crate) struct Reader<'a> {
    scenario: &'a Scenario,
    clauses: &'a [Clause],
    desk: &'a Desk<'a>,
    deeds: &'a [Deed],
    /// The state before anything is done.
    world: &'a Scratch,
    /// The demanded state.
    last: &'a Scratch,
    /// What members stand for, truly.
    bound: &'a [Known],
    /// The same, with what clauses make, by its id in the demanded state.
    all: &'a [Known],
    /// Who plays.
    actor: Option<RowId>,
    shown: &'a Shown,
    seen: Seen<'a>,
    episode: Episode,
    steps: Vec<Step>,
    given: Vec<GivenFact>,
    /// Members whose names are known, by place.
    known: BTreeSet<usize>,
    knows_actor: bool,
    /// Names of rows that are made, by their id in the demanded state.
    made: BTreeMap<(TableId, RowId), String>,
    /// The deed that wants something of a cell, and which of its cells that is.
    pending: BTreeMap<(TableId, RowId, FieldId), (usize, usize)>,
    /// Sets that are part of another.
    within: BTreeMap<String, String>,
    /// The sets that ways are over.
    way_sets: BTreeMap<WaySet, String>,
    /// Calls that were made already, so that none is made twice.
    called: BTreeSet<String>,
    depth: usize,
}

/// What a reader plans for.
pub(crate) struct Errand<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) clauses: &'a [Clause],
    pub(crate) matter: Matter<'a>,
    /// What members of the cast stand for.
    pub(crate) cast: &'a [Known],
    pub(crate) actor: Option<RowId>,
    pub(crate) shown: &'a Shown,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(errand: Errand<'a>, episode: Episode) -> Reader<'a> {
        let Errand { scenario, clauses, matter, cast, actor, shown } = errand;
        let mut pending = BTreeMap::new();
        for (at, deed) in matter.deeds.iter().enumerate() {
            for (nth, cell) in deed.cells().iter().enumerate() {
                pending.extend(deed.target().map(|(table, row)| ((table, row, cell.field), (at, nth))));
            }
        }
        Reader {
            scenario,
            clauses,
            desk: matter.desk,
            deeds: matter.deeds,
            world: matter.first,
            last: matter.last,
            bound: cast,
            all: matter.bound,
            actor,
            shown,
            seen: Seen::new(matter.desk.domain, matter.first.now()),
            episode,
            steps: Vec::new(),
            given: Vec::new(),
            known: BTreeSet::new(),
            knows_actor: false,
            made: BTreeMap::new(),
            pending,
            within: BTreeMap::new(),
            way_sets: BTreeMap::new(),
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
        writes: &mut [Write],
        because: &dyn Fn(&Origin) -> String,
    ) -> Result<(Script, Steps), Discard> {
        self.read_conditions()?;
        // All that can be known beforehand is read before anything is written.
        let mut at = 0;
        let mut planned: Vec<(Step, Option<(usize, usize)>)> = Vec::new();
        while at < writes.len() {
            let deed = writes[at].deeds[0];
            let frame = self.frame(deed)?;
            let mut count = 1;
            let mut set = None;
            if let It::Each(name, _) = &frame.it {
                count = self.group(&mut writes[at..], name)?;
                set = Some(name.clone());
            }
            let mut step = self.write(&writes[at])?;
            // One call for each row of a set says the same of each: what it names must not be the first row's alone.
            for other in &writes[at + 1..at + count] {
                if self.write(other)?.args != step.args {
                    return Err(throw("the rows of a set are written differently".to_owned()));
                }
            }
            let own = &self.deeds[deed].origin;
            let ruled = writes[at].args.iter().filter(|arg| self.deeds[arg.deed].is_ruled_beside(own));
            let mut why = vec![because(own)];
            for arg in ruled {
                step.ruled.push(arg.name.clone());
                let told = because(&self.deeds[arg.deed].origin);
                if !why.contains(&told) {
                    why.push(told);
                }
            }
            step.because = Some(why.join("; "));
            if let (Some(key), None) = (writes[at].makes.first(), &set) {
                step.bind = Some(self.name_made(*key, deed));
            }
            step.each = set;
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

    /// Reads what decides whether a clause is in force.
    fn read_conditions(&mut self) -> Result<(), Discard> {
        let mut names = self.scenario.cast.len();
        for clause in self.clauses {
            if let Some(when) = &clause.when {
                let frame = self.cast_frame(names);
                self.tell(when, &frame)?;
            }
            names += usize::from(makes(clause).is_some());
        }
        Ok(())
    }

    /// How many of the next writes go over the rows of a set, one after the other; they are put into the order of the set.
    fn group(&self, writes: &mut [Write], set: &str) -> Result<usize, Discard> {
        let Some(Known::Rows(_, rows)) = self.seen.known(set) else { return Err(throw(format!("{set} is no set"))) };
        let first = &self.deeds[writes[0].deeds[0]];
        let (tool, nth) = (writes[0].tool, writes[0].nth);
        let same = |write: &&Write| write.tool == tool && write.nth == nth && self.deeds[write.deeds[0]].is_like(first);
        let count = writes.iter().take_while(same).count();
        let place = |write: &Write| {
            let deed = &self.deeds[write.deeds[0]];
            // The row of the set: `it` of a clause or of a way over rows, else what the way is about.
            let own = [deed.it, deed.subject(), self.made_for(deed)].into_iter().flatten().map(|(_, row)| row);
            own.into_iter().find_map(|row| rows.iter().position(|known| *known == row))
        };
        let mut places: Vec<Option<usize>> = writes[..count].iter().map(place).collect();
        writes[..count].sort_by_key(place);
        places.sort_unstable();
        if places != (0..rows.len()).map(Some).collect::<Vec<_>>() {
            return Err(throw("only some rows of a set are written".to_owned()));
        }
        Ok(count)
    }

    /// The row of a set for which the row was made that a way is about.
    fn made_for(&self, deed: &Deed) -> Option<(TableId, RowId)> {
        let on = deed.subject()?;
        self.deeds.iter().find(|other| other.target() == Some(on) && matches!(other.origin, Origin::Clause(_)))?.it
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
    fn name_made(&mut self, key: (TableId, RowId), deed: usize) -> String {
        let named = match &self.deeds[deed].act {
            crate::demand::DeedAct::Make { name, .. } => name.clone(),
            _ => None,
        };
        let own = self.domain().table(key.0).own_name().to_owned();
        let name = named.unwrap_or_else(|| format!("new_{own}_{}", self.made.len() + 1));
        self.made.insert(key, name.clone());
        name
    }

    /// A call as a step.
    fn write(&mut self, write: &Write) -> Result<Step, Discard> {
        let args = self.arguments(&write.args)?;
        let tool = self.domain().tools[write.tool].name.clone();
        Ok(Step::call(&tool, "", Json::Object(args)))
    }

    fn arguments(&mut self, arguments: &[Argument]) -> Result<Map<String, Json>, Discard> {
        let mut args = Map::new();
        for argument in arguments {
            let frame = self.frame(argument.deed)?;
            let json = self.arg(&argument.is, &frame)?;
            args.insert(argument.name.clone(), json);
        }
        Ok(args)
    }

    fn arg(&mut self, arg: &Arg, frame: &Frame) -> Result<Json, Discard> {
        match arg {
            Arg::Own(table, row) => Ok(json!({ "$": self.own(frame, (*table, *row))? })),
            Arg::OwnField(table, row, field) => {
                let own = self.own(frame, (*table, *row))?;
                if !speaks_of_it(&own) && !self.made.contains_key(&(*table, *row)) {
                    self.ensure_row(*table, *row, &own)?;
                }
                Ok(json!({ "$": format!("{own}.{}", self.domain().table(*table).field(*field).name) }))
            }
            Arg::Value(ty, value) => Ok(to_json(self.domain(), *ty, value)),
            Arg::Told(expr, ty, value) => {
                let mut rests = false;
                expr.visit(&mut |part| {
                    let reads = matches!(
                        part,
                        Expr::Field(..) | Expr::Var(_) | Expr::Actor(_) | Expr::Fold(_) | Expr::Lookup { .. }
                    );
                    rests |= reads;
                });
                match self.tell(expr, frame) {
                    Ok(told) => Ok(json!({ "$": told })),
                    // What rests on no record can be worked out by anybody.
                    Err(_) if !rests => Ok(to_json(self.domain(), *ty, value)),
                    Err(why) => Err(why),
                }
            }
            Arg::Extreme(wanted, _) => Ok(json!({ "$": self.extreme(wanted, frame)? })),
            Arg::Text(pieces) => self.text(pieces, frame),
            Arg::Each(meant, path, _) => {
                let set = self.name_set(meant)?;
                let told = self.of_each_row(&set, meant.table, path)?;
                Ok(json!({ "$each": [set, told] }))
            }
            Arg::List(list, _) => self.list(list, frame),
            Arg::Alone(arg) => Ok(json!([self.arg(arg, frame)?])),
            Arg::Children(rows) => self.children(rows),
        }
    }

    /// What the row that a call is on is called.
    fn own(&mut self, frame: &Frame, key: (TableId, RowId)) -> Result<String, Discard> {
        if let Some(own) = &frame.own {
            return Ok(own.clone());
        }
        self.row_expr(key)
    }

    /// What a path reaches from each row of a set, which is `it`.
    fn of_each_row(&mut self, set: &str, table: TableId, path: &benchwright_expr::Path) -> Result<String, Discard> {
        let leads = benchwright_expr::dotted(self.domain(), path);
        if let Some(names) = leads.strip_prefix('.') {
            self.ensure_of_set(set, table, names)?;
        }
        Ok(format!("it{leads}"))
    }

    fn text(&mut self, pieces: &[TextPiece], frame: &Frame) -> Result<Json, Discard> {
        let mut parts = Vec::new();
        for piece in pieces {
            parts.push(match piece {
                TextPiece::Plain(text) => Json::String(text.clone()),
                // What somebody wants of a cell stands in the request or in the policy.
                TextPiece::Show(Shows::One(Expr::Field(0, path)), _, shown) if self.is_wanted(frame, path) => {
                    Json::String(shown.clone())
                }
                TextPiece::Show(Shows::One(expr), form, _) => match (self.tell(expr, frame)?, form.word()) {
                    (told, "") => json!({ "$show": [told, "plain"] }),
                    (told, form) => json!({ "$show": [told, form] }),
                },
                TextPiece::Show(Shows::Each(slot, path), form, _) => {
                    let Some(set) = frame.slots.get(*slot).cloned().flatten() else {
                        return Err(throw("a list cannot be told".to_owned()));
                    };
                    let member = self.scenario.member(&set);
                    let table = member.and_then(|member| self.scenario.cast[member].table());
                    if let Some(member) = member {
                        self.know(member)?;
                    }
                    let told = match table {
                        Some(table) => self.of_each_row(&set, table, path)?,
                        None => "it".to_owned(),
                    };
                    json!({ "$show": [set, form.word(), told] })
                }
            });
        }
        if parts.iter().all(Json::is_string) {
            return Ok(Json::String(parts.iter().filter_map(Json::as_str).collect()));
        }
        Ok(json!({ "$text": parts }))
    }

    /// Rows of a child table: one by one, and those of a set as one.
    fn children(&mut self, rows: &[Vec<Argument>]) -> Result<Json, Discard> {
        let mut list = Vec::new();
        let mut at = 0;
        while at < rows.len() {
            let object = Json::Object(self.arguments(&rows[at])?);
            let deed = rows[at].first().map(|argument| argument.deed);
            let it = match deed {
                Some(deed) => self.frame(deed)?.it,
                None => It::Named,
            };
            let It::Each(set, _) = it else {
                list.push(object);
                at += 1;
                continue;
            };
            let size = match self.seen.known(&set) {
                Some(Known::Rows(_, rows)) => rows.len(),
                _ => 0,
            };
            let like = |row: &&Vec<Argument>| {
                let other = row.first().map(|argument| argument.deed);
                other.zip(deed).is_some_and(|(other, deed)| self.deeds[other].is_like(&self.deeds[deed]))
            };
            let count = rows[at..].iter().take_while(like).count();
            for other in &rows[at + 1..at + count] {
                if Json::Object(self.arguments(other)?) != object {
                    return Err(throw("the rows of a set are written differently".to_owned()));
                }
            }
            if count != size {
                return Err(throw("only some rows of a set are written".to_owned()));
            }
            list.push(json!({ "$each": [set, object] }));
            at += count;
        }
        Ok(Json::Array(list))
    }

    /// The call that answers, if something is asked.
    fn answer(&mut self) -> Result<Option<Step>, Discard> {
        let mut values = Vec::new();
        for (at, clause) in in_force(self.clauses, self.world, self.bound) {
            let Asked::Answer { is, .. } = &clause.act else { continue };
            let named = self.clauses[..at].iter().filter(|clause| makes(clause).is_some()).count();
            let frame = self.cast_frame(self.scenario.cast.len() + named);
            let value = match is {
                Told::One(expr, _) => json!({ "$text": [{ "$": self.tell(expr, &frame)? }] }),
                Told::Each(meant, path, _) => {
                    let set = self.name_set(meant)?;
                    let told = self.of_each_row(&set, meant.table, path)?;
                    json!({ "$list": [set, told] })
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
}
