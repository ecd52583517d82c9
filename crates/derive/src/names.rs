//! What a request shows, and that it names what it means: all that is shown of a row fits that row and no other.

use crate::{draw::rows_of, eval::Eye, read::Shown, throw};
use benchwright_base::{RowId, Value};
use benchwright_expr::{Expr, Type};
use benchwright_project::Discard;
use benchwright_sandbox::Scratch;
use benchwright_schema::ways::{Form, Said, Shows};
use benchwright_spec::scenario::{Lost, Scenario, WordPart};
use benchwright_world::seen::Known;

/// A request as it is sent: its text, what tells which clause, and what it shows of members.
pub(crate) struct Request {
    pub(crate) text: String,
    /// Names of spans, with the text inside.
    pub(crate) spans: Vec<(String, String)>,
    pub(crate) shown: Shown,
    /// What is shown in the place of what nobody has.
    pub(crate) lost: Option<String>,
}

/// Writes a request.
pub(crate) fn say(
    parts: &[&WordPart],
    scenario: &Scenario,
    world: &Scratch,
    bound: &[Known],
    lost: Option<&Lost>,
) -> Request {
    let mut request = Request { text: String::new(), spans: Vec::new(), shown: Shown::new(), lost: None };
    let eye = Eye::of(world, bound);
    for part in parts {
        write(part, scenario, &eye, world, bound, lost, &mut request);
    }
    request.text = request.text.trim().to_owned();
    request
}

fn write(
    part: &WordPart,
    scenario: &Scenario,
    eye: &Eye<'_>,
    world: &Scratch,
    bound: &[Known],
    lost: Option<&Lost>,
    request: &mut Request,
) {
    match part {
        WordPart::Plain(text) => request.text.push_str(text),
        WordPart::Span(name, inner) => {
            let from = request.text.len();
            for part in inner {
                write(part, scenario, eye, world, bound, lost, request);
            }
            let told = request.text[from..].trim().to_owned();
            request.spans.push((name.clone(), told));
        }
        WordPart::Slot(Said::Plain(text)) => request.text.push_str(text),
        WordPart::Slot(Said::Slot { shows, ty, form, .. }) => {
            match shows {
                Shows::One(expr) => {
                    let mut value = eye.value(expr, None);
                    if let Expr::Field(slot, path) = expr
                        && *slot < scenario.cast.len()
                        && !path.is_empty()
                    {
                        if let Some(lost) = lost.filter(|lost| lost.member == *slot && lost.path.as_ref() == Some(path))
                        {
                            value = elsewhere(&value, &column(world, lost.path.as_ref()));
                            request.lost = Some(eye.show(*ty, &value, *form));
                        }
                        note(&mut request.shown, *slot, path, &value, *ty);
                    }
                    request.text.push_str(&eye.show(*ty, &value, *form));
                    return;
                }
                Shows::Each(slot, path) => {
                    if let Some(known @ Known::Rows(table, _)) = bound.get(*slot)
                        && *form == Form::List
                    {
                        for row in rows_of(known) {
                            if let Some(row) = eye.row(*table, row) {
                                let value = eye.reach(row, path);
                                request.shown.entry(*slot).or_default().push((path.clone(), value, *ty));
                            }
                        }
                    }
                }
            }
            request.text.push_str(&eye.slot(shows, *ty, *form, None, None));
        }
    }
}

/// What stands in the field that a path ends at, in all rows.
fn column(world: &Scratch, path: Option<&benchwright_expr::Path>) -> Vec<Value> {
    let Some((table, field)) = path.and_then(|path| path.last()) else { return Vec::new() };
    world.rows(*table).map(|cells| cells[field.index()].clone()).collect()
}

fn note(shown: &mut Shown, slot: usize, path: &benchwright_expr::Path, value: &Value, ty: Type) {
    let list = shown.entry(slot).or_default();
    if !list.iter().any(|(known, _, _)| known == path) {
        list.push((path.clone(), value.clone(), ty));
    }
}

/// A value that looks like those of a column and that nobody has: the next numbers of a series, or the beginning of one name with the end
/// of another.
fn elsewhere(value: &Value, column: &[Value]) -> Value {
    let Value::Text(text) = value else { return value.clone() };
    let taken = |candidate: &str| column.iter().any(|known| known.as_text() == Some(candidate));
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    if digits >= 3 {
        let (head, tail) = text.split_at(text.len() - digits);
        let number: u64 = tail.parse().unwrap_or_default();
        return Value::text(format!("{head}{:0digits$}", (number + 70_321) % 10_u64.pow(digits.min(18) as u32)));
    }
    let at = |text: &str| text.find(['@', ' ', '.', '-']).map(|at| at + usize::from(!text[at..].starts_with('@')));
    let (begin, _) = text.split_at(at(text).unwrap_or(text.len()));
    let start = column.iter().position(|known| known == value).unwrap_or_default();
    let others = column.iter().cycle().skip(start + 1).take(column.len()).filter_map(Value::as_text);
    let mixed = others.filter_map(|other| Some(format!("{begin}{}", other.split_at(at(other)?).1)));
    let found = mixed.into_iter().find(|candidate| candidate != &**text && !taken(candidate));
    Value::text(found.unwrap_or_else(|| format!("{text} II")))
}

/// Holds a request to naming what it means. What was lost must fit nobody.
pub(crate) fn prove(
    scenario: &Scenario,
    request: &Request,
    world: &Scratch,
    bound: &[Known],
    lost: Option<&Lost>,
) -> Result<(), Discard> {
    let eye = Eye::of(world, bound);
    let asks = match &scenario.asks {
        Some(Expr::Field(slot, path)) if path.is_empty() => Some(*slot),
        _ => None,
    };
    for (at, member) in scenario.cast.iter().enumerate() {
        let (true, Some(table)) = (member.is_drawn(), member.table()) else { continue };
        let shown = request.shown.get(&at).map_or(&[][..], |shown| shown);
        if shown.is_empty() && scenario.idle.contains(&at) && lost.is_none_or(|lost| lost.member != at) {
            continue;
        }
        let fitting = |only: &[(benchwright_expr::Path, Value, Type)]| -> Vec<RowId> {
            let fits = |row: &[Value]| {
                eye.row(table, crate::eval::id_of(row))
                    .is_some_and(|row| only.iter().all(|(path, value, _)| eye.reach(row, path) == *value))
            };
            world.rows(table).filter(|row| fits(row)).map(crate::eval::id_of).collect()
        };
        let is_lost = lost.is_some_and(|lost| lost.member == at && lost.path.is_some());
        if is_lost {
            if !fitting(shown).is_empty() {
                return Err(throw(format!("what is lost of {} is there", member.name)));
            }
            continue;
        }
        match &bound[at] {
            Known::Rows(_, rows) => {
                for (each, row) in shown.iter().zip(rows) {
                    if fitting(std::slice::from_ref(each)) != [*row] {
                        return Err(throw(format!("{} are not named", member.name)));
                    }
                }
                if shown.len() != rows.len() {
                    return Err(throw(format!("{} are not named", member.name)));
                }
            }
            Known::Row(_, Some(row)) => {
                if shown.is_empty() && asks == Some(at) {
                    continue;
                }
                if shown.is_empty() || fitting(shown) != [*row] {
                    return Err(throw(format!("{} is not named", member.name)));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
