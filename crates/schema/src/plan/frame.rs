//! The frame of a plan, compiled: the conditions on rows that the work makes or changes, and which of their fields are held, free or
//! stamped. A document of the job is judged whole, so each field of each table that the frame licenses is read by a rule or by the
//! frame, or is one of the three.

use super::{
    Body, FreeText, Plan, PlanText,
    compile::{Compiler, keys},
    job::JobNames,
    lets::Spelled,
};
use crate::{Domain, KeyFault, model::DerivedKind, model::Shape};
use benchwright_base::{FieldId, RelationId, TableId};
use benchwright_expr::{Expr, Names as _, Scope, check_truth};
use std::collections::{BTreeMap, BTreeSet};

/// What the frame says of the rows of one table.
#[derive(Clone, Default, Debug)]
pub struct TableFrame {
    /// The condition on a row that the work makes; `None` if it may make none.
    pub new: Option<Expr>,
    /// The condition by which a row is known that the system makes by itself.
    pub system: Option<Expr>,
    /// What is held of new and of changed rows.
    pub held: Vec<Held>,
    /// The fields that may hold anything.
    pub free: Vec<FieldId>,
    /// The fields that the system writes by itself.
    pub stamped: Vec<FieldId>,
}

/// A condition on a field of new and of changed rows.
#[derive(Clone, Debug)]
pub struct Held {
    /// The field that a breach is told by.
    pub field: FieldId,
    /// The condition as it was written.
    pub text: String,
    /// The condition, over the row.
    pub expr: Expr,
}

/// What may answer for a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    /// Any view: the rules of one task need not read all of them.
    Views,
    /// The views and fields that rules and objectives of the whole plan read.
    Rules,
}

impl Compiler<'_> {
    /// The conditions and lists of the frame.
    pub(super) fn frame(&mut self) {
        self.plan.tables = vec![TableFrame::default(); self.domain.tables.len()];
        let text = self.text;
        for (name, condition) in &text.frame.new {
            if let Some(table) = self.framed(&["frame", "new", name]) {
                self.plan.tables[table.index()].new = self.condition(condition, &["frame", "new", name], table);
            }
        }
        for (name, condition) in &text.frame.system {
            if let Some(table) = self.framed(&["frame", "system", name]) {
                self.plan.tables[table.index()].system = self.condition(condition, &["frame", "system", name], table);
            }
        }
        for (name, fields) in &text.held {
            let Some(table) = self.framed(&["held", name]) else { continue };
            for (field, condition) in fields {
                let Some(at) = self.framed_field(table, field, &["held", name, field], true) else { continue };
                let Some(expr) = self.condition(condition, &["held", name, field], table) else { continue };
                if !own_fields(&expr, table).contains(&at) {
                    let message = format!("this condition does not read `{field}`");
                    self.faults.push(KeyFault::new(["held", name, field], message));
                }
                self.plan.tables[table.index()].held.push(Held { field: at, text: condition.clone(), expr });
            }
        }
        for (name, fields) in &text.free {
            let Some(table) = self.framed(&["free", name]) else { continue };
            for field in fields.keys() {
                let at = self.framed_field(table, field, &["free", name, field], true);
                self.plan.tables[table.index()].free.extend(at);
            }
        }
        for (name, fields) in &text.stamped {
            let Some(table) = self.framed(&["stamped", name]) else { continue };
            for (place, field) in fields.iter().enumerate() {
                let at = self.framed_field(table, field, &["stamped", name, &*place.to_string()], false);
                self.plan.tables[table.index()].stamped.extend(at);
            }
        }
    }

    fn framed(&mut self, path: &[&str]) -> Option<TableId> {
        let name = path.last().copied().unwrap_or_default();
        let found = self.domain.table_named(name);
        if found.is_none() {
            let fault = KeyFault::new(path.iter().copied(), format!("there is no table `{name}`")).at_key();
            self.faults.push(fault.instead_of(name, self.domain.relation_names()));
        }
        found
    }

    fn framed_field(&mut self, table: TableId, field: &str, path: &[&str], is_key: bool) -> Option<FieldId> {
        let declared = self.domain.table(table);
        let found = declared.field_named(field);
        if found.is_none() {
            let message = format!("`{}` has no field `{field}`", declared.name);
            let fault = KeyFault::new(path.iter().copied(), message);
            let fault = if is_key { fault.at_key() } else { fault };
            self.faults.push(fault.instead_of(field, self.domain.field_names(table)));
        }
        found
    }

    /// A condition on a row of a table, in the words of the job.
    fn condition(&mut self, text: &str, path: &[&str], table: TableId) -> Option<Expr> {
        self.broken.touched.set(false);
        let names = JobNames::new(self.domain, &self.plan, &self.broken, &self.members_by_text);
        let mut spelled = Spelled::default();
        spelled.push(text, &keys(path), 0);
        match check_truth(text, &names, Scope::on(table)) {
            Ok(expr) if is_about_change(&expr) => {
                let message = "a condition of the frame is about a row as it is, not about its change";
                self.faults.push(KeyFault::new(path.iter().copied(), message));
                None
            }
            Ok(expr) => Some(expr),
            Err(faults) => {
                if !self.broken.touched.get() {
                    self.faults.extend(faults.into_iter().map(|fault| spelled.fault(fault)));
                }
                None
            }
        }
    }
}

fn is_about_change(expr: &Expr) -> bool {
    let mut deleted = false;
    expr.visit(&mut |expr| deleted |= matches!(expr, Expr::Deleted));
    deleted || expr.is_about_change()
}

/// The fields of the row under judgement that a condition reads.
fn own_fields(expr: &Expr, table: TableId) -> BTreeSet<FieldId> {
    let mut found = BTreeSet::new();
    expr.visit(&mut |expr| {
        if let Expr::Field(0, path) = expr
            && let Some((of, field)) = path.first()
            && *of == table
        {
            found.insert(*field);
        }
    });
    found
}

/// Every field of a table that the frame licenses and that nobody answers for is a fault; and so is one that more than one of `held`,
/// `free` and `stamped` has, that cannot be what it is said to be, or that nothing can change.
pub(super) fn account(text: &PlanText, plan: &Plan, domain: &Domain, by: Readers) -> Vec<KeyFault> {
    if text.frame == super::FrameText::default() {
        return Vec::new();
    }
    let mut read = read_by(plan, by);
    let mut faults = Vec::new();
    for (at, (table, frame)) in domain.tables.iter().zip(&plan.tables).enumerate() {
        let id = RelationId(at as u16);
        for condition in frame.new.iter().chain(&frame.system).chain(frame.held.iter().map(|held| &held.expr)) {
            read.extend(own_fields(condition, id).into_iter().map(|field| (id, field)));
        }
        let declared = frame.held.iter().map(|held| held.field).chain(frame.free.clone()).chain(frame.stamped.clone());
        read.extend(declared.map(|field| (id, field)));
        let Some((key, fields)) = licensed(text, domain, id) else {
            for key in ["held", "free", "stamped"] {
                let has = match key {
                    "held" => text.held.contains_key(&table.name),
                    "free" => text.free.contains_key(&table.name),
                    _ => text.stamped.contains_key(&table.name),
                };
                if has {
                    let message = format!("the frame licenses nothing in `{}`", table.name);
                    faults.push(KeyFault::new([key, &table.name], message).at_key());
                }
            }
            continue;
        };
        let silent: Vec<&str> = fields
            .iter()
            .filter(|field| !read.contains(&(id, **field)))
            .map(|field| &*table.field(*field).name)
            .collect();
        if !silent.is_empty() {
            let names = silent.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = format!("nothing answers for {names} of `{}`", table.name);
            let help = "let a rule read each, or put it under `held`, `free` or `stamped`";
            faults.push(KeyFault::new(["frame", key, &table.name], message).at_key().with_help(help));
        }
        faults.extend(declared_twice(text, &table.name));
        faults.extend(not_so(text, domain, id, &fields, by));
    }
    faults
}

/// The fields of a table that the frame lets be otherwise than they were, and the list that says so.
fn licensed(text: &PlanText, domain: &Domain, table: TableId) -> Option<(&'static str, Vec<FieldId>)> {
    let declared = domain.table(table);
    for (key, lists) in [("new", &text.frame.new), ("system", &text.frame.system)] {
        if lists.contains_key(&declared.name) {
            return Some((key, (1..declared.fields.len()).map(|at| FieldId(at as u16)).collect()));
        }
    }
    let lists = [("change", &text.frame.change), ("ignore", &text.frame.ignore)];
    let mut lists = lists.into_iter().filter_map(|(key, lists)| Some((key, lists.get(&declared.name)?)));
    let (key, first) = lists.next()?;
    let all = first.iter().chain(lists.flat_map(|(_, list)| list));
    let fields: BTreeSet<FieldId> = all.filter_map(|field| declared.field_named(field)).collect();
    Some((key, fields.into_iter().collect()))
}

/// The fields of tables that views read.
fn read_by(plan: &Plan, by: Readers) -> BTreeSet<(TableId, FieldId)> {
    let mut used: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let all = |view: usize| (0..plan.views[view].fields.len()).collect::<BTreeSet<usize>>();
    if by == Readers::Views {
        used.extend((0..plan.views.len()).map(|view| (view, all(view))));
    } else {
        for rule in &plan.rules {
            let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            let mut note = |relation, field: FieldId| {
                if let Some(view) = plan.view_of(relation) {
                    found.entry(view).or_default().extend(field.index().checked_sub(1));
                }
            };
            rule.per.iter().for_each(|binder| binder.reads(&mut note));
            rule.applies.iter().for_each(|applies| applies.reads(&mut note));
            if let Body::Expr(body) = &rule.body {
                body.reads(&mut note);
            }
            for (view, fields) in found {
                // What a function reads of the views that it is asked about is not written down: it may read all.
                let fields = if matches!(rule.body, Body::Native(_)) { all(view) } else { fields };
                used.entry(view).or_default().extend(fields);
            }
        }
        for phase in plan.objectives.values().flatten() {
            phase.of.reads(&mut |relation, field| {
                if let Some(view) = plan.view_of(relation) {
                    used.entry(view).or_default().extend(field.index().checked_sub(1));
                }
            });
        }
    }
    let mut read = BTreeSet::new();
    for (view, fields) in used {
        let view = &plan.views[view];
        let mut note = |table, field| _ = read.insert((table, field));
        view.only.iter().for_each(|only| only.reads(&mut note));
        for at in fields.into_iter().chain(view.within.iter().copied()) {
            view.fields[at].reads.reads(&mut note);
        }
    }
    read
}

/// Fields that stand in more than one of the three lists.
fn declared_twice(text: &PlanText, table: &str) -> Vec<KeyFault> {
    let mut faults = Vec::new();
    let held = |field: &str| text.held.get(table).is_some_and(|held| held.contains_key(field));
    let free = text.free.get(table).into_iter().flatten();
    for (field, _) in free.clone().filter(|(field, _)| held(field)) {
        faults.push(KeyFault::new(["free", table, field], format!("`{field}` is held already")).at_key());
    }
    for (at, field) in text.stamped.get(table).into_iter().flatten().enumerate() {
        let already = if held(field) {
            "held"
        } else if free.clone().any(|(known, _)| known == field) {
            "free"
        } else {
            continue;
        };
        faults.push(KeyFault::new(["stamped", table, &*at.to_string()], format!("`{field}` is {already} already")));
    }
    faults
}

/// Fields that are not what they are said to be.
fn not_so(text: &PlanText, domain: &Domain, table: TableId, licensed: &[FieldId], by: Readers) -> Vec<KeyFault> {
    let (declared, mut faults) = (domain.table(table), Vec::new());
    // An empty list may be one that could not be read.
    let fixed = |field: &str| {
        declared.field_named(field).is_some_and(|field| !licensed.is_empty() && !licensed.contains(&field))
    };
    for (field, why) in text.free.get(&declared.name).into_iter().flatten() {
        let path = ["free", &*declared.name, field];
        if fixed(field) {
            let message = format!("`{field}` of `{}` may not change, so it is not free", declared.name);
            faults.push(KeyFault::new(path, message).at_key());
        }
        match why {
            FreeText::Because(why) if why.trim().is_empty() => {
                faults.push(KeyFault::new(path, format!("nothing says why `{field}` is free")));
            }
            // The rules of one task need not be all.
            FreeText::Told(rule) if by == Readers::Rules && !text.rules.contains_key(rule) => {
                let path = ["free", &*declared.name, field, "told"];
                let fault = KeyFault::new(path, format!("there is no rule `{rule}`"));
                faults.push(fault.instead_of(rule, text.rules.keys().map(|id| &**id)));
            }
            FreeText::Because(_) | FreeText::Told(_) => {}
        }
    }
    for (at, field) in text.stamped.get(&declared.name).into_iter().flatten().enumerate() {
        let Some(id) = declared.field_named(field) else { continue };
        if let Some(tool) = taken_by(domain, table, id) {
            let at = at.to_string();
            let message = format!("the tool `{tool}` takes `{field}`, so it is not only the system that writes it");
            let fault = KeyFault::new(["stamped", &*declared.name, &*at], message);
            faults.push(fault.with_help("hold it, or say why it is free"));
        }
    }
    faults
}

/// A tool that takes a value of a field as an argument.
fn taken_by(domain: &Domain, table: TableId, field: FieldId) -> Option<&str> {
    let sets = |set: &[crate::model::Setting]| set.iter().any(|set| set.field == field && set.fixed.is_none());
    let takes = |tool: &&crate::Tool| {
        let own = tool.table == Some(table) && sets(&tool.set);
        let child = tool.with.iter().any(|child| child.table == table && sets(&child.set));
        let native = tool.native.iter().flat_map(|native| &native.takes).any(|argument| match argument.shape {
            Shape::New(of) | Shape::Vals(of) => {
                gives(domain, of, table, &mut BTreeSet::new()) && domain.table(table).field(field).stamp.is_none()
            }
            _ => false,
        });
        own || child || native
    };
    domain.tools.iter().find(takes).map(|tool| &*tool.name)
}

/// Whether an object of the fields of a row of `of` can give rows of `table`: itself, its children, or its joints.
fn gives(domain: &Domain, of: TableId, table: TableId, seen: &mut BTreeSet<TableId>) -> bool {
    of == table
        || seen.insert(of)
            && domain.table(of).derived.iter().any(|derived| match derived.kind {
                DerivedKind::Children { table: child, .. } => gives(domain, child, table, seen),
                DerivedKind::Linked { link, .. } => link == table,
                DerivedKind::Value(_) | DerivedKind::Rows(_) => false,
            })
}
