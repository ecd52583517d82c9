//! Moves a domain's declarations to where they stand in a joined one. A joined domain is the declarations of its members
//! one after another, so every id of a table, an enumeration or a tool is raised by how many came before it.

use crate::model::{DerivedKind, SeedField, SeedRows, Shape, Stamp, Table, TextPart, Tool};
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
