//! Moves a domain's declarations to where they stand in a joined one. A joined domain is the declarations of its members
//! one after another, so every id of a table, an enumeration or a tool is raised by how many came before it.

use crate::injection::Injection;
use crate::model::{DerivedKind, SeedField, SeedRows, Shape, Stamp, Table, TextPart, Tool};
use crate::ways::{Act, Passed, Said, Shows, Wanted, Way, Which};
use benchwright_expr::Shift;

/// Moves a table.
pub(super) fn table(table: &mut Table, shift: Shift) {
    for field in &mut table.fields {
        field.ty = shift.ty(field.ty);
        match &mut field.stamp {
            Some(Stamp::When(expr) | Stamp::Computed(expr)) => shift.expr(expr),
            Some(Stamp::Keep | Stamp::Number { .. } | Stamp::OnCreate | Stamp::OnWrite | Stamp::Actor) | None => {}
        }
    }
    for incoming in &mut table.incoming {
        incoming.table = shift.relation(incoming.table);
    }
    for derived in &mut table.derived {
        match &mut derived.kind {
            DerivedKind::Value(ty) => *ty = shift.ty(*ty),
            DerivedKind::Rows(table) | DerivedKind::Children { table, .. } => *table = shift.relation(*table),
            DerivedKind::Linked { table, link, .. } => {
                *table = shift.relation(*table);
                *link = shift.relation(*link);
            }
        }
    }
}

/// Moves a rule's ways; tools by how many came before.
pub(super) fn ways(ways: &mut [Way], shift: Shift, first_tool: usize) {
    for remedy in ways.iter_mut().flat_map(|way| &mut way.on) {
        remedy.table = shift.relation(remedy.table);
        remedy.when.iter_mut().for_each(|when| shift.expr(when));
        for act in &mut remedy.acts {
            match act {
                Act::Change { rows, table, to } => {
                    which(rows, shift);
                    *table = shift.relation(*table);
                    to.iter_mut().for_each(|(_, value)| wanted(value, shift));
                }
                Act::Make { table, each, with } => {
                    *table = shift.relation(*table);
                    each.iter_mut().for_each(|each| shift.source(each));
                    with.iter_mut().for_each(|(_, value)| wanted(value, shift));
                }
                Act::Drop { rows, table } => {
                    which(rows, shift);
                    *table = shift.relation(*table);
                }
                Act::Call { tool, with } => {
                    *tool += first_tool;
                    for (_, passed) in with {
                        match passed {
                            Passed::Is(expr) => shift.expr(expr),
                            Passed::Each(source, path) => {
                                shift.source(source);
                                shift.path(path);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn which(rows: &mut Which, shift: Shift) {
    match rows {
        Which::One(expr) => shift.expr(expr),
        Which::Those(source, condition) => {
            shift.source(source);
            condition.iter_mut().for_each(|condition| shift.expr(condition));
        }
    }
}

fn wanted(value: &mut Wanted, shift: Shift) {
    match value {
        Wanted::Is(expr) => shift.expr(expr),
        Wanted::OneOf(list) => list.iter_mut().for_each(|expr| shift.expr(expr)),
        Wanted::Extreme { source, condition, by, .. } => {
            shift.source(source);
            condition.iter_mut().for_each(|condition| shift.expr(condition));
            shift.expr(by);
        }
        Wanted::Text(parts) | Wanted::Tell(parts) => {
            for part in parts {
                if let Said::Slot { shows, ty, .. } = part {
                    *ty = shift.ty(*ty);
                    match shows {
                        Shows::One(expr) => shift.expr(expr),
                        Shows::Each(_, path) => shift.path(path),
                    }
                }
            }
        }
    }
}

/// Moves an injection; its tool by how many came before.
pub(super) fn injection(mut injection: Injection, member: &str, shift: Shift, first_tool: usize) -> Injection {
    injection.name = format!("{member}/{}", injection.name);
    injection.table = shift.relation(injection.table);
    injection.only.iter_mut().for_each(|only| shift.expr(only));
    for row in &mut injection.speaks_of {
        row.table = shift.relation(row.table);
        shift.source(&mut row.source);
        row.condition.iter_mut().for_each(|condition| shift.expr(condition));
    }
    injection.tool += first_tool;
    injection
}

/// Moves a tool.
pub(super) fn tool(tool: &mut Tool, shift: Shift) {
    tool.table = tool.table.map(|table| shift.relation(table));
    for child in &mut tool.with {
        child.table = shift.relation(child.table);
    }
    for shown in &mut tool.show {
        shift.path(&mut shown.path);
        shown.ty = shift.ty(shown.ty);
    }
    let Some(native) = &mut tool.native else { return };
    for argument in &mut native.takes {
        argument.cell.ty = shift.ty(argument.cell.ty);
        match &mut argument.shape {
            Shape::New(table) | Shape::Vals(table) | Shape::Domain(table) | Shape::Fields(table) => {
                *table = shift.relation(*table);
            }
            Shape::Value | Shape::Json | Shape::Scalar => {}
        }
    }
    for cell in &mut native.gives {
        cell.ty = shift.ty(cell.ty);
    }
    for table in native.reads.iter_mut().chain(&mut native.writes) {
        *table = shift.relation(*table);
    }
}

/// Moves a step of a seed whose pools begin at a place.
pub(super) fn step(step: &mut SeedRows, shift: Shift, first_pool: usize) {
    step.table = shift.relation(step.table);
    if let Some(each) = &mut step.each {
        shift.source(each);
    }
    for (_, how) in &mut step.fields {
        field(how, shift);
        pools(how, &|place| place + first_pool);
    }
}

fn field(how: &mut SeedField, shift: Shift) {
    match how {
        SeedField::Text(parts) => {
            for part in parts {
                if let TextPart::Field { path, .. } = part {
                    shift.path(path);
                }
            }
        }
        SeedField::Instant { from, to, .. } => {
            shift.expr(from);
            shift.expr(to);
        }
        SeedField::Any(source, path) | SeedField::Distinct(source, path) => {
            shift.source(source);
            shift.path(path);
        }
        SeedField::Computed(expr) => shift.expr(expr),
        SeedField::Cases(cases) => {
            for (when, how) in cases {
                if let Some(when) = when {
                    shift.expr(when);
                }
                field(how, shift);
            }
        }
        SeedField::Maybe(_, how) => field(how, shift),
        SeedField::OneOf(_) | SeedField::Between { .. } | SeedField::Parent | SeedField::Null => {}
    }
}

/// Replaces the pools that a field draws from.
pub(super) fn pools(how: &mut SeedField, of: &dyn Fn(usize) -> usize) {
    match how {
        SeedField::Text(parts) => {
            for part in parts {
                if let TextPart::Pool(place) = part {
                    *place = of(*place);
                }
            }
        }
        SeedField::Cases(cases) => cases.iter_mut().for_each(|(_, how)| pools(how, of)),
        SeedField::Maybe(_, how) => pools(how, of),
        _ => {}
    }
}
