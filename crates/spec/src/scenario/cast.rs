//! The cast: how members are written.

use super::{Form, Meant, Member, Pick, plants};
use benchwright_base::nearest;
use benchwright_expr::{Expr, Fault, Given, GivenType, Names, Scope, Source, Type, check_truth, check_value};
use benchwright_schema::{Domain, ways};

/// The words that begin a form.
const FORMS: [&str; 12] =
    ["draw", "the", "all", "first", "last", "any", "ask", "=", "text", "one of", "between", "from"];

/// A fault at the beginning of a text.
pub(super) fn fault(message: impl Into<String>, help: Option<String>) -> Vec<Fault> {
    vec![Fault { offset: 0, message: message.into(), help }]
}

/// Moves faults of a part to where it stands.
pub(super) fn moved(by: usize, faults: Vec<Fault>) -> Vec<Fault> {
    faults.into_iter().map(|fault| Fault { offset: fault.offset + by, ..fault }).collect()
}

/// What is left of a text after a word.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\t']))
}

/// Where a part of a text begins in it.
fn place(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// Reads a member; `given` are those before it.
pub(super) fn member(
    name: &str,
    text: &str,
    given: &[Given<'_>],
    domain: &Domain,
    names: &dyn Names,
) -> Result<Member, Vec<Fault>> {
    let scope = Scope { given, ..Scope::default() };
    let made = |is: GivenType, form: Form| Member { name: name.to_owned(), is, form, text: text.to_owned() };
    let trimmed = text.trim();
    let start = place(text, trimmed);
    if let Some(value) = trimmed.strip_prefix('=') {
        let at = place(text, value);
        let (expr, ty) = check_value(value, names, scope, None).map_err(|faults| moved(at, faults))?;
        let is = match ty {
            Type::Ref(table) => GivenType::Row(table),
            ty => GivenType::Value(ty),
        };
        return Ok(made(is, Form::Is(expr)));
    }
    for (word, many) in
        [("draw", true), ("the", false), ("all", false), ("first", true), ("last", true), ("any", false)]
    {
        let Some(rest) = after(trimmed, word) else { continue };
        let rest = rest.trim_start();
        if word == "first" && is_number_form(rest) {
            return number(rest, given, names)
                .map(|(form, ty)| made(GivenType::Value(ty), form))
                .map_err(|faults| moved(place(text, rest), faults));
        }
        let (count, rest) = if many { leading_count(rest) } else { (None, rest) };
        let at = place(text, rest);
        let (form, table, is_one) = rows(word, count, rest, names, scope).map_err(|faults| moved(at, faults))?;
        let is = if is_one { GivenType::Row(table) } else { GivenType::Rows(table) };
        return Ok(made(is, form));
    }
    if let Some(rest) = after(trimmed, "ask") {
        let at = place(text, rest);
        return ask(rest.trim(), domain, names, scope)
            .map(|(is, form)| made(is, form))
            .map_err(|faults| moved(at, faults));
    }
    match plants::drawn(trimmed, names, scope, domain) {
        Some(Ok((generator, ty))) => Ok(made(GivenType::Value(ty), Form::Drawn(generator))),
        Some(Err(faults)) => Err(moved(start, faults)),
        None => {
            let word = trimmed.split_whitespace().next().unwrap_or_default();
            let help = nearest(word, FORMS).map(|near| format!("did you mean `{near}`?"));
            let help = help.or_else(|| Some(format!("it begins with one of {}", FORMS.join(", "))));
            Err(moved(start, fault(format!("`{word}` begins no member of the cast"), help)))
        }
    }
}

/// `2..3 …` or `3 …`.
fn leading_count(text: &str) -> (Option<(u32, u32)>, &str) {
    let Some((word, rest)) = text.split_once(' ') else { return (None, text) };
    let range = match word.split_once("..") {
        Some((low, high)) => low.parse().ok().zip(high.parse().ok()),
        None => word.parse().ok().map(|number: u32| (number, number)),
    };
    match range {
        Some(range) => (Some(range), rest.trim_start()),
        None => (None, text),
    }
}

/// Whether `first` is followed by `n in 0..40`.
fn is_number_form(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next();
    words.next() == Some("in") && words.next().is_some_and(|range| range.contains("..") && !range.contains('('))
}

/// `n in 0..40 where P by n`: the smallest number for which the condition holds.
fn number(text: &str, given: &[Given<'_>], names: &dyn Names) -> Result<(Form, Type), Vec<Fault>> {
    let bad = || fault("expected `n in 0..40 where … by n`", None);
    let (name, rest) = text.split_once(" in ").ok_or_else(bad)?;
    let (range, rest) = rest.split_once(" where ").ok_or_else(bad)?;
    let (condition, by) = rest.rsplit_once(" by ").ok_or_else(bad)?;
    let (low, high) = range.trim().split_once("..").ok_or_else(bad)?;
    let (Ok(low), Ok(high)) = (low.parse(), high.parse()) else { return Err(bad()) };
    if by.trim() != name.trim() || low > high {
        return Err(bad());
    }
    let mut with: Vec<Given<'_>> = given.to_vec();
    with.push(Given { name: name.trim(), is: GivenType::Value(Type::Int) });
    let scope = Scope { given: &with, ..Scope::default() };
    let at = place(text, condition);
    let condition = check_truth(condition, names, scope).map_err(|faults| moved(at, faults))?;
    Ok((Form::Number { range: (low, high), condition }, Type::Int))
}

/// A part of a form and where it stands.
type Part<'t> = Option<&'t str>;

/// `T(filters) where P by E given P`, cut at its words.
fn cut(text: &str) -> (&str, Part<'_>, Part<'_>, Part<'_>) {
    let (text, given) = ways::split(text, "given").map_or((text, None), |(a, b)| (a, Some(b)));
    let (text, by) = ways::split(text, "by").map_or((text, None), |(a, b)| (a, Some(b)));
    let (text, condition) = ways::split(text, "where").map_or((text, None), |(a, b)| (a, Some(b)));
    (text, condition, by, given)
}

fn rows(
    word: &str,
    count: Option<(u32, u32)>,
    text: &str,
    names: &dyn Names,
    scope: Scope<'_>,
) -> Result<(Form, benchwright_base::TableId, bool), Vec<Fault>> {
    let (head, condition, by, given) = cut(text);
    let source = benchwright_expr::check_source(head.trim_end(), names, scope)?;
    let Source::Rows { relation, .. } = source else { return Err(fault("expected rows of a table", None)) };
    let its = Scope { it: Some(relation), ..scope };
    let truth = |part: Part<'_>| -> Result<Option<Expr>, Vec<Fault>> {
        let Some(part) = part else { return Ok(None) };
        check_truth(part, names, its).map(Some).map_err(|faults| moved(place(text, part), faults))
    };
    let condition = truth(condition)?;
    let given = truth(given)?;
    let by = match by {
        Some(part) => Some(check_value(part, names, its, None).map_err(|faults| moved(place(text, part), faults))?.0),
        None => None,
    };
    let one = count.map(|(low, _)| low);
    let (pick, is_one) = match word {
        "draw" => (Pick::Draw(count), count.is_none()),
        "the" => (Pick::The, true),
        "all" => (Pick::All, false),
        "first" => (Pick::First(one), one.is_none()),
        "last" => (Pick::Last(one), one.is_none()),
        _ => (Pick::Any, true),
    };
    let ordered = matches!(pick, Pick::First(_) | Pick::Last(_));
    if ordered != by.is_some() {
        let message = if ordered { "expected `by` and an order" } else { "only `first` and `last` have an order" };
        return Err(fault(message, None));
    }
    Ok((Form::Rows { pick, source, condition, by, given }, relation, is_one))
}

/// `tool with a = E, b = E`.
fn ask(text: &str, domain: &Domain, names: &dyn Names, scope: Scope<'_>) -> Result<(GivenType, Form), Vec<Fault>> {
    let (name, with) = ways::split(text, "with").map_or((text, ""), |(name, with)| (name, with));
    let name = name.trim();
    let readers = || domain.tools.iter().filter(|tool| tool.reads_only());
    let Some(tool) = domain.tool_named(name).filter(|tool| domain.tools[*tool].reads_only()) else {
        let help = nearest(name, readers().map(|tool| &*tool.name)).map(|near| format!("did you mean `{near}`?"));
        return Err(fault(format!("no reading tool is called `{name}`"), help));
    };
    let declared = &domain.tools[tool];
    let table = declared.table.or_else(|| {
        let gives = declared.native.iter().flat_map(|native| &native.gives);
        gives.filter(|cell| cell.name == "id").find_map(|cell| match cell.ty {
            Type::Ref(table) => Some(table),
            _ => None,
        })
    });
    let Some(table) = table else { return Err(fault(format!("`{name}` answers with no rows"), None)) };
    let mut arguments = Vec::new();
    for (argument, value) in ways::assignments(with) {
        let argument = argument.trim();
        let ty = argument_type(domain, tool, argument);
        let Some(ty) = ty else { return Err(fault(format!("`{name}` takes no `{argument}`"), None)) };
        let at = place(text, value);
        let (expr, _) = check_value(value, names, scope, Some(ty)).map_err(|faults| moved(at, faults))?;
        arguments.push((argument.to_owned(), expr));
    }
    Ok((GivenType::Rows(table), Form::Ask { tool, with: arguments, table }))
}

/// The type of an argument of a reading tool.
pub(super) fn argument_type(domain: &Domain, tool: usize, name: &str) -> Option<Type> {
    let tool = &domain.tools[tool];
    if let Some(native) = &tool.native {
        return native.takes.iter().find(|argument| argument.cell.name == name).map(|argument| argument.cell.ty);
    }
    let table = domain.table(tool.table?);
    let own = name.strip_suffix("_from").or_else(|| name.strip_suffix("_to")).unwrap_or(name);
    let filter = tool.by.iter().find(|filter| {
        let field = &table.field(filter.field).name;
        field == name || field == own
    })?;
    Some(table.field(filter.field).ty)
}

/// Reads rows that a clause means: `case`, `servers`, `late.case`.
pub(super) fn meant(text: &str, given: &[Given<'_>], names: &dyn Names) -> Result<Meant, Vec<Fault>> {
    let name = text.trim().split('.').next().unwrap_or_default();
    let Some(slot) = given.iter().rposition(|known| known.name == name) else {
        let help = nearest(name, given.iter().map(|known| known.name)).map(|near| format!("did you mean `{near}`?"));
        return Err(fault(format!("nobody in the cast is called `{name}`"), help));
    };
    let (GivenType::Row(relation) | GivenType::Rows(relation)) = given[slot].is else {
        return Err(fault(format!("`{name}` is no row"), None));
    };
    let path = format!("it{}", &text.trim()[name.len()..]);
    let scope = Scope { it: Some(relation), ..Scope::default() };
    match check_value(&path, names, scope, None)? {
        (Expr::Field(_, path), Type::Ref(table)) => Ok(Meant { slot, path, table }),
        _ => Err(fault("expected rows", None)),
    }
}

/// What a path reaches from each row of a set: the set, the path, the type.
pub(super) fn each_of(
    text: &str,
    names: &[Given<'_>],
    names_of: &dyn Names,
) -> Result<(Meant, benchwright_expr::Path, Type), Vec<Fault>> {
    let name = text.trim().split('.').next().unwrap_or_default();
    let meant = meant(name, names, names_of)?;
    let path = format!("it{}", &text.trim()[name.len()..]);
    let scope = Scope { it: Some(meant.table), ..Scope::default() };
    match check_value(&path, names_of, scope, None)? {
        (Expr::Field(_, path), ty) => Ok((meant, path, ty)),
        _ => Err(fault("expected a field of its rows", None)),
    }
}

/// `3` or `3..4`.
pub(super) fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once("..") {
        Some((low, high)) => low.trim().parse().ok().zip(high.trim().parse().ok()),
        None => text.trim().parse().ok().map(|number| (number, number)),
    }
}
