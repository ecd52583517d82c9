//! How names become known: which rows are read, with which tool, so that what a name stands for can be told among what was seen.

use super::{
    Reader,
    frame::{Frame, It, speaks_of_it},
};
use crate::{calls::to_json, eval::id_of, throw};
use benchwright_base::{FieldId, RowId, TableId, Value};
use benchwright_expr::{Compare, Expr, GivenType, Path, Source, TestOp, Type, notation};
use benchwright_pack::{Find, FindPick, GivenFact, Step};
use benchwright_project::Discard;
use benchwright_schema::{Action, FilterKind, Tool, Verb};
use benchwright_spec::scenario::{Form, Pick};
use benchwright_world::seen::{Known, step_with, type_name};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most rows of a list that anybody pages through.
const LONGEST_LIST: usize = 600;
/// Rows that are looked at one by one rather than as a list.
const FEW: usize = 3;
/// The most calls that anybody makes for the rows of a set, one by one.
const MOST_ONE_BY_ONE: usize = 12;

/// One condition of a source.
type Test = (Path, TestOp, Vec<Expr>);

impl Reader<'_> {
    /// Sees to it that rows were shown, one by one if they are few.
    pub(super) fn see_rows(&mut self, table: TableId, rows: &[RowId]) -> Result<(), Discard> {
        if rows.iter().all(|row| self.seen.has(table, *row)) {
            return Ok(());
        }
        if rows.len() <= FEW {
            for row in rows {
                let expr = self.row_expr((table, *row))?;
                self.ensure_row(table, *row, &expr)?;
            }
            return Ok(());
        }
        self.read_table(table, &BTreeMap::new(), "the list")
    }

    /// What a row is called in expressions, found out if need be.
    pub(super) fn row_expr(&mut self, (table, row): (TableId, RowId)) -> Result<String, Discard> {
        if let Some(name) = self.made.get(&(table, row)) {
            return Ok(name.clone());
        }
        if let Some(found) = self.by_name(table, row) {
            return Ok(found);
        }
        // A member that stands for it.
        let member = self.bound.iter().position(|known| *known == Known::Row(table, Some(row)));
        if let Some(member) = member.filter(|member| *member < self.scenario.cast.len()) {
            self.know(member)?;
            return Ok(self.scenario.cast[member].name.clone());
        }
        // Something that a member refers to.
        for at in 0..self.scenario.cast.len() {
            let Known::Row(of, Some(from)) = self.bound[at] else { continue };
            if let Some(field) = self.field_to((of, from), (table, row)) {
                let path = format!("{}.{field}", self.scenario.cast[at].name);
                self.know(at)?;
                return Ok(path);
            }
        }
        // One step further.
        for at in 0..self.scenario.cast.len() {
            let Known::Row(of, Some(from)) = self.bound[at] else { continue };
            if let Some(path) = self.two_steps(of, from, table, row) {
                self.know(at)?;
                let whole = format!("{}.{}", self.scenario.cast[at].name, path);
                let (head, _) = whole.rsplit_once('.').unwrap_or((&whole, ""));
                self.ensure_path(head)?;
                return Ok(whole);
            }
        }
        let name = &self.domain().table(table).name;
        Err(throw(format!("nothing leads to a row of {name}")))
    }

    /// The field by which a row refers to another where everybody can see it.
    fn field_to(&self, (of, from): (TableId, RowId), (table, row): (TableId, RowId)) -> Option<&str> {
        let fields = self.domain().table(of).fields.iter().zip(self.world.row(of, from)?).skip(1);
        let mut fits =
            fields.filter(|(field, cell)| field.ty == Type::Ref(table) && **cell == Value::Ref(row) && !field.secret);
        fits.next().map(|(field, _)| &*field.name)
    }

    fn two_steps(&self, of: TableId, from: RowId, table: TableId, row: RowId) -> Option<String> {
        let declared = self.domain().table(of);
        for (field, cell) in declared.fields.iter().zip(self.world.row(of, from)?).skip(1) {
            let (Type::Ref(next), Value::Ref(id)) = (field.ty, cell) else { continue };
            let its = self.domain().table(next);
            let found = its
                .fields
                .iter()
                .zip(self.world.row(next, *id)?)
                .skip(1)
                .find(|(field, cell)| field.ty == Type::Ref(table) && **cell == Value::Ref(row));
            if let Some((last, _)) = found {
                return Some(format!("{}.{}", field.name, last.name));
            }
        }
        None
    }

    /// A name that is known already and stands for the row, or leads to it in one step.
    fn by_name(&self, table: TableId, row: RowId) -> Option<String> {
        let names = || self.scenario.cast.iter().enumerate().filter(|(at, _)| self.known.contains(at));
        let direct = names().find(|(at, _)| self.bound[*at] == Known::Row(table, Some(row)));
        if let Some((_, member)) = direct {
            return Some(member.name.clone());
        }
        for (at, member) in names() {
            let Known::Row(of, Some(from)) = self.bound[at] else { continue };
            if let Some(field) = self.field_to((of, from), (table, row)) {
                return Some(format!("{}.{field}", member.name));
            }
        }
        None
    }

    /// Makes a member's name known.
    pub(super) fn know(&mut self, at: usize) -> Result<(), Discard> {
        if at >= self.scenario.cast.len() || !self.known.insert(at) {
            return Ok(());
        }
        self.deeper(|reader| reader.know_member(at))
    }

    fn know_member(&mut self, at: usize) -> Result<(), Discard> {
        let member = &self.scenario.cast[at];
        let name = member.name.clone();
        let frame = self.cast_frame(at);
        match &member.form {
            Form::Drawn(_) => {
                let (GivenType::Value(ty), Known::Value(_, value)) = (member.is, &self.bound[at]) else {
                    return Err(Discard::Fault(format!("{name} is no value")));
                };
                let Some(told) = type_name(self.domain(), ty) else { return Ok(()) };
                let json = to_json(self.domain(), ty, value);
                self.seen.give(&name, &told, &json);
                self.given.push(GivenFact { name, ty: told, value: json });
                Ok(())
            }
            Form::Is(expr) => {
                let of = self.tell(expr, &frame)?;
                self.find(Find { name, of, pick: FindPick::Value, by: None, count: None })
            }
            Form::Number { range: (low, high), condition } => {
                let with = Self::with_slot(frame, "number", It::Named);
                let told = self.tell(condition, &with)?;
                let of = format!("min number in {low}..{high} where {told} of number");
                self.find(Find { name, of, pick: FindPick::Value, by: None, count: None })
            }
            Form::Ask { .. } => Err(throw(format!("{name} is asked for by a tool"))),
            Form::Rows { pick: Pick::Draw(_), .. } => self.know_drawn(at),
            Form::Rows { pick, source, condition, by, .. } => {
                self.read_source_via(source, &frame, self.scenario.via.get(&name).cloned(), &name)?;
                let mut of = self.source_text(source, &frame)?;
                let table = member.table().unwrap_or(benchwright_base::RelationId(0));
                let with = Self::with_slot(frame, "it", It::Read(table, of.clone()));
                if let Some(condition) = condition {
                    of = format!("{of} where {}", self.tell(condition, &with)?);
                }
                let by = match by {
                    None => None,
                    Some(by) => Some(self.tell(by, &with)?),
                };
                let (pick, count) = match pick {
                    Pick::The | Pick::Draw(_) => (FindPick::The, None),
                    Pick::All => (FindPick::All, None),
                    Pick::First(count) => (FindPick::First, *count),
                    Pick::Last(count) => (FindPick::Last, *count),
                    Pick::Any => (FindPick::Any, None),
                };
                self.find(Find { name: name.clone(), of, pick, by, count })?;
                match self.seen.known(&name) {
                    Some(found) if pick == FindPick::Any || *found == self.bound[at] => Ok(()),
                    _ => Err(throw(format!("{name} is read otherwise"))),
                }
            }
        }
    }

    /// A drawn row is known by what the request shows of it.
    fn know_drawn(&mut self, at: usize) -> Result<(), Discard> {
        let member = &self.scenario.cast[at];
        let name = member.name.clone();
        let Some(table) = member.table() else { return Err(Discard::Fault(format!("{name} is no row"))) };
        let mut shown = self.shown.get(&at).cloned().unwrap_or_default();
        if shown.is_empty() {
            return Err(throw(format!("{name} is never named")));
        }
        // What the row itself is called by, if that is enough and a tool takes it.
        if let Known::Row(_, Some(row)) = self.bound[at] {
            let own: Vec<_> = shown.iter().filter(|(path, _, _)| path.len() == 1).cloned().collect();
            let fits = |cells: &[Value]| own.iter().all(|(path, value, _)| cells[path[0].1.index()] == *value);
            let fitting: Vec<RowId> = self.world.rows(table).filter(|cells| fits(cells)).map(id_of).collect();
            let given = own.iter().map(|(path, value, ty)| (path[0].1, to_json(self.domain(), *ty, value)));
            if !own.is_empty() && fitting == [row] && self.reading_tool(table, &given.collect()).is_some() {
                shown = own;
            }
        }
        let domain = self.domain();
        let mut equal: BTreeMap<FieldId, Json> = BTreeMap::new();
        let mut tests = Vec::new();
        let many = matches!(self.bound[at], Known::Rows(..));
        for (path, value, ty) in &shown {
            let told = notation(&Expr::Literal(value.clone(), *ty), domain, &[]);
            let Some(told) = told else { continue };
            let field: Vec<&str> =
                path.iter().map(|(table, field)| &*domain.table(*table).field(*field).name).collect();
            tests.push((field.join("."), told));
            match &path[..] {
                [(_, field)] => {
                    equal.insert(*field, to_json(domain, *ty, value));
                }
                [(_, by), (to, field)] if !many => {
                    // Named through another row: that one first.
                    let other = format!("{name}_{}", domain.table(table).field(*by).name);
                    if self.seen.known(&other).is_none() {
                        let through = BTreeMap::from([(*field, to_json(domain, *ty, value))]);
                        self.read_table(*to, &through, &format!("what {name} belongs to"))?;
                        let own = &domain.table(*to).field(*field).name;
                        let told = notation(&Expr::Literal(value.clone(), *ty), domain, &[]).unwrap_or_default();
                        let of = format!("{}({own} = {told})", domain.table(*to).name);
                        let alike = self.world.rows(*to).filter(|cells| cells[field.index()] == *value).count();
                        if alike == 1 {
                            self.find(Find { name: other.clone(), of, pick: FindPick::The, by: None, count: None })?;
                        }
                    }
                    if self.seen.known(&other).is_some() {
                        equal.insert(*by, json!({ "$": other }));
                    }
                }
                _ => {}
            }
        }
        let table_name = domain.table(table).name.clone();
        if many {
            // Several, each named by one field.
            let Some((field, _)) = tests.first().cloned() else { return Err(throw(format!("{name} is never named"))) };
            let values: Vec<String> = tests.iter().map(|(_, told)| told.clone()).collect();
            for (path, value, ty) in &shown {
                if let [(_, field)] = &path[..] {
                    let one = BTreeMap::from([(*field, to_json(domain, *ty, value))]);
                    self.read_table(table, &one, &name)?;
                }
            }
            let of = format!("{table_name}({field} in {{{}}})", values.join(", "));
            self.find(Find { name: name.clone(), of, pick: FindPick::All, by: None, count: None })?;
        } else {
            self.read_table(table, &equal, &name)?;
            let tests: Vec<String> = tests.into_iter().map(|(field, told)| format!("{field} = {told}")).collect();
            let of = format!("{table_name}({})", tests.join(", "));
            self.find(Find { name: name.clone(), of, pick: FindPick::The, by: None, count: None })?;
        }
        match self.seen.known(&name) {
            Some(found) if *found == self.bound[at] => Ok(()),
            _ => Err(throw(format!("{name} is read otherwise"))),
        }
    }

    /// Finds something out, and notes it with the last call.
    pub(super) fn find(&mut self, find: Find) -> Result<(), Discard> {
        self.seen.find(&find).map_err(|why| throw(format!("{} cannot be found: {why}", find.name)))?;
        match self.steps.last_mut() {
            Some(step) => step.finds.push(find),
            None => return Err(throw(format!("{} is known before anything is read", find.name))),
        }
        Ok(())
    }

    /// Reads what a source needs: its rows, and those that its tests lead over.
    pub(super) fn read_source(&mut self, source: &Source, frame: &Frame) -> Result<(), Discard> {
        let what = match source {
            Source::Rows { relation, .. } => self.domain().table(*relation).own_name().replace('_', " "),
            _ => String::new(),
        };
        self.read_source_via(source, frame, None, &format!("the records of {what}"))
    }

    fn read_source_via(
        &mut self,
        source: &Source,
        frame: &Frame,
        via: Option<String>,
        what: &str,
    ) -> Result<(), Discard> {
        let Source::Rows { relation, tests } = source else { return Ok(()) };
        let equal = self.equal(tests, frame)?;
        match via {
            Some(tool) => self.read_with(&tool, *relation, &equal, what, None)?,
            None => self.read_table(*relation, &equal, what)?,
        }
        self.read_beyond(source, frame)
    }

    /// The fields that tests hold to one value, as it is told.
    fn equal(&mut self, tests: &[Test], frame: &Frame) -> Result<BTreeMap<FieldId, Json>, Discard> {
        let mut equal: BTreeMap<FieldId, Json> = BTreeMap::new();
        for (path, op, values) in tests {
            if let ([(_, field)], TestOp::Compare(Compare::Eq), [value]) = (&path[..], op, &values[..]) {
                let told = match value {
                    Expr::Literal(value, ty) => to_json(self.domain(), *ty, value),
                    other => json!({ "$": self.tell(other, frame)? }),
                };
                equal.insert(*field, told);
            }
        }
        Ok(equal)
    }

    /// Reads the rows that tests of a source lead over.
    pub(super) fn read_beyond(&mut self, source: &Source, frame: &Frame) -> Result<(), Discard> {
        let Source::Rows { relation, tests } = source else { return Ok(()) };
        for (path, op, values) in tests.iter().filter(|(path, _, _)| path.len() > 1) {
            let (_, by) = path[0];
            let (to, field) = path[1];
            let referred = self.referred(*relation, by, tests, frame)?;
            let unseen: Vec<RowId> = referred.into_iter().filter(|row| !self.has_cell(to, *row, field)).collect();
            if unseen.is_empty() {
                continue;
            }
            let mut through = BTreeMap::new();
            if let (2, TestOp::Compare(Compare::Eq), [Expr::Literal(value, ty)]) = (path.len(), op, &values[..]) {
                through.insert(field, to_json(self.domain(), *ty, value));
            }
            self.see_referred(*relation, by, to, &unseen, &through)?;
            if path.len() > 2 {
                return Err(throw("a condition leads too far".to_owned()));
            }
        }
        Ok(())
    }

    /// Whether a cell was shown; one that is null and was not shown looks the same, and is looked up in the world.
    pub(super) fn has_cell(&self, table: TableId, row: RowId, field: FieldId) -> bool {
        use benchwright_expr::eval::Records as _;
        let truly = self.world.row(table, row).map(|cells| cells[field.index()].clone());
        self.seen.has(table, row) && truly == Some(self.seen.field(&(table, row), field))
    }

    /// The rows that rows passing the direct tests of a source refer to.
    fn referred(
        &mut self,
        relation: TableId,
        by: FieldId,
        tests: &[Test],
        frame: &Frame,
    ) -> Result<Vec<RowId>, Discard> {
        use benchwright_expr::eval::Records as _;
        let direct = tests.iter().filter(|(path, _, _)| path.len() == 1).cloned().collect();
        let source = Source::Rows { relation, tests: direct };
        let text = self.source_text(&source, frame)?;
        let (_, rows) = self.seen.rows(&text).map_err(|error| throw(error.0))?;
        let mut found: Vec<RowId> = Vec::new();
        for row in rows {
            let reference = self.seen.field(&(relation, row), by).as_ref_id();
            found.extend(reference.filter(|id| !found.contains(id)));
        }
        Ok(found)
    }

    /// Reads rows that others refer to: as a list if there is one that is short, else one by one.
    pub(super) fn see_referred(
        &mut self,
        from: TableId,
        by: FieldId,
        table: TableId,
        rows: &[RowId],
        through: &BTreeMap<FieldId, Json>,
    ) -> Result<(), Discard> {
        let what = self.domain().table(table).own_name().replace('_', " ");
        if rows.len() > FEW && self.read_table(table, through, &what).is_ok() {
            return Ok(());
        }
        let get = self.tool_by_id(table);
        let Some(get) = get else { return self.read_table(table, through, &what) };
        // The rows that refer, under a name of their own, each of which is `it`.
        let (referring, field) =
            (self.domain().table(from).name.clone(), self.domain().table(from).field(by).name.clone());
        let name = format!("these_{}", referring.replace('.', "_"));
        self.find(Find {
            name: name.clone(),
            of: format!("{referring}({field} != null)"),
            pick: FindPick::All,
            by: None,
            count: None,
        })?;
        let Some(Known::Rows(_, seen)) = self.seen.known(&name).cloned() else { return Ok(()) };
        if seen.len() > 12 {
            return self.read_table(table, through, &what);
        }
        let args = json!({ "id": { "$": format!("it.{field}") } });
        let step = Step { each: Some(name), ..Step::call(&get, "", args) }.because(format!("the {what}"));
        self.play(step)
    }

    fn tool_by_id(&self, table: TableId) -> Option<String> {
        let domain = self.domain();
        if !self.may_read(table) {
            return None;
        }
        let found = domain.tools.iter().find(|tool| {
            tool.table == Some(table)
                && tool.verb == Verb::Get
                && tool.by.is_empty()
                && !self.desk.without.contains(&tool.name)
        });
        found.map(|tool| tool.name.clone())
    }

    fn may_read(&self, table: TableId) -> bool {
        self.desk.role.grants(table, Action::Read).next().is_some()
    }

    /// The rows that the rows read last lead to.
    pub(super) fn ensure_of_rows(&mut self, path: &benchwright_expr::Path) -> Result<(), Discard> {
        let ((from, by), (to, field)) = (path[0], path[1]);
        let rows: Vec<RowId> = self
            .world
            .rows(from)
            .filter(|row| self.seen.has(from, id_of(row)))
            .filter_map(|row| row[by.index()].as_ref_id())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let unseen: Vec<RowId> = rows.into_iter().filter(|row| !self.has_cell(to, *row, field)).collect();
        if unseen.is_empty() {
            return Ok(());
        }
        self.see_referred(from, by, to, &unseen, &BTreeMap::new())
    }

    /// Reads the rows of a fold inside an expression: by those of its tests whose values are known outside, or for each row that the
    /// expression is about.
    pub(super) fn read_inner(&mut self, source: &Source, frame: &Frame) -> Result<(), Discard> {
        let Source::Rows { relation, tests } = source else { return Ok(()) };
        let (mut outside, mut by_row) = (Vec::new(), BTreeMap::new());
        for test in tests.iter().filter(|(path, _, _)| path.len() == 1) {
            // A value that speaks of what a fold around it binds cannot be told here.
            let told: Result<Vec<String>, Discard> = test.2.iter().map(|value| self.tell(value, frame)).collect();
            let Ok(told) = told else { continue };
            if !told.iter().any(|told| speaks_of_it(told)) {
                outside.push(test.clone());
            } else if let (TestOp::Compare(Compare::Eq), [told]) = (&test.1, &told[..]) {
                by_row.insert(test.0[0].1, json!({ "$": told }));
            }
        }
        let equal = self.equal(&outside, frame)?;
        let what = format!("the records of {}", self.domain().table(*relation).own_name().replace('_', " "));
        let listed = match self.reading_tool(*relation, &equal) {
            Some(_) => self.read_table(*relation, &equal, &what),
            None => Err(throw(format!("no tool reads {}", self.domain().table(*relation).name))),
        };
        if let Err(why) = listed {
            let set = match &frame.it {
                It::Each(set, _) | It::Alike(set, _) => set.clone(),
                It::Read(table, of) => {
                    let name = format!("these_{}", self.domain().table(*table).name.replace('.', "_"));
                    let find = Find { name: name.clone(), of: of.clone(), pick: FindPick::All, by: None, count: None };
                    self.find(find)?;
                    name
                }
                It::Named => return Err(why),
            };
            by_row.extend(equal);
            if by_row.is_empty() {
                return Err(why);
            }
            self.read_each(&set, *relation, &by_row, &what)?;
        }
        for (path, _, _) in tests.iter().filter(|(path, _, _)| path.len() > 1) {
            self.ensure_of_rows(path)?;
        }
        Ok(())
    }

    /// Reads the rows of a table that belong to each row of a set, which is `it` in what they are known by.
    pub(super) fn read_each(
        &mut self,
        set: &str,
        table: TableId,
        equal: &BTreeMap<FieldId, Json>,
        what: &str,
    ) -> Result<(), Discard> {
        let many = match self.seen.known(set) {
            Some(Known::Rows(_, rows)) => rows.len(),
            _ => 0,
        };
        let Some(tool) = self.reading_tool(table, equal).filter(|_| many <= MOST_ONE_BY_ONE) else {
            return self.read_table(table, &BTreeMap::new(), what);
        };
        self.read_with(&tool, table, equal, what, Some(set.to_owned()))
    }

    /// Reads rows that those of a set lead to, one by one or as a list.
    pub(super) fn see_through(
        &mut self,
        set: &str,
        told: &str,
        table: TableId,
        unseen: &[RowId],
    ) -> Result<(), Discard> {
        let what = self.domain().table(table).own_name().replace('_', " ");
        if unseen.len() > FEW && self.read_table(table, &BTreeMap::new(), &what).is_ok() {
            return Ok(());
        }
        let many = match self.seen.known(set) {
            Some(Known::Rows(_, rows)) => rows.len(),
            _ => 0,
        };
        match self.tool_by_id(table).filter(|_| many <= MOST_ONE_BY_ONE) {
            Some(get) => {
                let args = json!({ "id": { "$": told } });
                let step = Step { each: Some(set.to_owned()), ..Step::call(&get, "", args) };
                self.play(step.because(format!("the {what}")))
            }
            None => self.read_table(table, &BTreeMap::new(), &what),
        }
    }

    /// Sees to it that the row at a path, such as `case.assigned_to`, was shown.
    pub(super) fn ensure_path(&mut self, path: &str) -> Result<(), Discard> {
        if let Some((head, _)) = path.rsplit_once('.')
            && head.contains('.')
        {
            self.ensure_path(head)?;
        }
        match self.seen.value(path, None, None) {
            Ok((Value::Ref(row), Type::Ref(table))) => self.ensure_row(table, row, path),
            _ => Ok(()),
        }
    }

    /// Reads a row that an expression names, unless it was shown.
    pub(super) fn ensure_row(&mut self, table: TableId, row: RowId, expr: &str) -> Result<(), Discard> {
        if self.made.contains_key(&(table, row)) {
            return Ok(());
        }
        let whole = self.seen.has(table, row)
            && self.world.row(table, row).is_some_and(|cells| {
                use benchwright_expr::eval::Records as _;
                let declared = self.domain().table(table);
                declared.fields.iter().zip(cells).enumerate().skip(1).all(|(at, (field, cell))| {
                    field.secret || *cell == self.seen.field(&(table, row), FieldId(at as u16))
                })
            });
        if whole {
            return Ok(());
        }
        let what = expr.replace('.', "'s ").replace('_', " ");
        if let Some(get) = self.tool_by_id(table) {
            let step = Step::call(&get, "", json!({ "id": { "$": expr } })).because(format!("the {what}"));
            return self.play(step);
        }
        self.read_table(table, &BTreeMap::new(), &what)
    }

    /// Reads rows of a table with the tool that uses most of what is known of them.
    pub(super) fn read_table(
        &mut self,
        table: TableId,
        equal: &BTreeMap<FieldId, Json>,
        what: &str,
    ) -> Result<(), Discard> {
        let domain = self.domain();
        if !self.may_read(table) {
            return Err(throw(format!("the seat does not read {}", domain.table(table).name)));
        }
        match self.reading_tool(table, equal) {
            Some(tool) => self.read_with(&tool, table, equal, what, None),
            None => Err(throw(format!("no tool reads {}", domain.table(table).name))),
        }
    }

    /// The tool that reads rows of a table by most of what is known of them: by a key if it can be, else by as many fields as can be.
    fn reading_tool(&self, table: TableId, equal: &BTreeMap<FieldId, Json>) -> Option<String> {
        let domain = self.domain();
        if !self.may_read(table) {
            return None;
        }
        let declared = domain.table(table);
        let usable = |tool: &Tool| -> Option<(bool, usize, bool)> {
            if tool.table != Some(table) || self.desk.without.contains(&tool.name) {
                return None;
            }
            let given = |filter: &benchwright_schema::Filter| {
                equal.contains_key(&filter.field) && filter.kind != FilterKind::Range
            };
            match tool.verb {
                Verb::Get if tool.by.is_empty() => equal.contains_key(&FieldId::ID).then_some((true, 1, false)),
                Verb::Get | Verb::Find | Verb::List => {
                    if tool.by.iter().any(|filter| filter.required && !given(filter))
                        || (tool.verb == Verb::Get && !tool.by.iter().all(given))
                    {
                        return None;
                    }
                    let used: Vec<FieldId> = tool.by.iter().filter(|filter| given(filter)).map(|f| f.field).collect();
                    let by_key = declared.keys.iter().any(|key| key.fields.iter().all(|field| used.contains(field)));
                    Some((by_key, used.len(), used.is_empty() && tool.verb == Verb::List))
                }
                _ => None,
            }
        };
        let best = domain
            .tools
            .iter()
            .enumerate()
            .filter_map(|(place, tool)| {
                Some((usable(tool)?, std::cmp::Reverse(tool.by.len()), std::cmp::Reverse(place), tool))
            })
            .max_by_key(|(used, wide, place, _)| (*used, *wide, *place));
        best.map(|(_, _, _, tool)| tool.name.clone())
    }

    fn read_with(
        &mut self,
        name: &str,
        table: TableId,
        equal: &BTreeMap<FieldId, Json>,
        what: &str,
        each: Option<String>,
    ) -> Result<(), Discard> {
        let domain = self.domain();
        let Some(tool) = domain.tool_named(name).map(|at| &domain.tools[at]) else {
            return Err(throw(format!("there is no tool {name}")));
        };
        let declared = domain.table(table);
        let mut args = Map::new();
        let mut used = 0;
        if tool.verb == Verb::Get
            && tool.by.is_empty()
            && let Some(id) = equal.get(&FieldId::ID)
        {
            args.insert("id".to_owned(), id.clone());
            used += 1;
        }
        for filter in tool.by.iter().filter(|filter| filter.kind != FilterKind::Range) {
            if let Some(value) = equal.get(&filter.field) {
                args.insert(declared.field(filter.field).name.clone(), value.clone());
                used += 1;
            }
        }
        let long = self.world.rows(table).count();
        if used == 0 && long > LONGEST_LIST {
            return Err(throw(format!("too long a list of {}", declared.name)));
        }
        if matches!(tool.verb, Verb::Find | Verb::List) && used == 0 && long > 25 {
            args.insert("limit".to_owned(), json!(200));
        }
        let what = what.replace('_', " ");
        let why = if ["the ", "what ", "your "].iter().any(|lead| what.starts_with(lead)) {
            what
        } else {
            format!("the {what}")
        };
        self.play(Step { each, ..Step::call(name, "", Json::Object(args)) }.because(why))
    }

    /// Makes a read, unless it was made before.
    fn play(&mut self, step: Step) -> Result<(), Discard> {
        let key = format!("{} {} {:?}", step.model, step.args, step.each);
        if !self.called.insert(key) {
            return Ok(());
        }
        let at = self.steps.len();
        let episode = &mut self.episode;
        let mut call = |tool: &str, arguments: &str| episode.call(tool, arguments);
        let played = step_with(&mut self.seen, at, &step, &mut call, &mut |_, _, _| ());
        played.map_err(|error| throw(format!("a read is refused: {error}")))?;
        self.steps.push(step);
        Ok(())
    }
}
