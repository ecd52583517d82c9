//! How people ask: a request as text with slots and spans. A slot in braces shows a fact; a span in brackets, `[link: …]`, is the part of
//! the text that tells a clause or a condition. Spans nest, and vanish when the text is made.

use super::cast::{fault, moved};
use super::{Asked, Clause, Ensure, Form, Member, Scenario};
use benchwright_base::FieldId;
use benchwright_expr::{Expr, Fault, Given, Names, Scope, Source};
use benchwright_schema::{
    Domain,
    ways::{self, Said, Shows, Wanted},
};

/// A piece of a request.
#[derive(Clone, PartialEq, Debug)]
pub enum WordPart {
    /// Text as it stands.
    Plain(String),
    /// A fact.
    Slot(Said),
    /// What tells a clause, a condition or a fact that a text must mention, by its name.
    Span(String, Vec<WordPart>),
}

impl WordPart {
    /// Calls `each` on every part, those in spans too.
    pub fn visit<'a>(&'a self, each: &mut dyn FnMut(&'a WordPart)) {
        each(self);
        if let WordPart::Span(_, parts) = self {
            parts.iter().for_each(|part| part.visit(each));
        }
    }
}

/// Reads a request.
pub(super) fn request(text: &str, given: &[Given<'_>], names: &dyn Names) -> Result<Vec<WordPart>, Vec<Fault>> {
    let mut faults = Vec::new();
    let (parts, rest) = parts(text, text, given, names, &mut faults, false);
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        faults.extend(moved(offset(text, rest), fault("this `]` closes nothing", None)));
    }
    if faults.is_empty() { Ok(parts) } else { Err(faults) }
}

fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// The parts up to the bracket that closes a span, and what follows it.
fn parts<'t>(
    whole: &'t str,
    text: &'t str,
    given: &[Given<'_>],
    names: &dyn Names,
    faults: &mut Vec<Fault>,
    inside: bool,
) -> (Vec<WordPart>, Option<&'t str>) {
    let mut found = Vec::new();
    let mut rest = text;
    let scope = Scope { given, ..Scope::default() };
    loop {
        let Some(at) = rest.find(['{', '[', ']']) else {
            plain(whole, rest, &mut found, faults);
            if inside {
                faults.extend(moved(offset(whole, text), fault("this span is not closed", None)));
            }
            return (found, None);
        };
        plain(whole, &rest[..at], &mut found, faults);
        let after = &rest[at + 1..];
        match rest.as_bytes()[at] {
            b']' => return (found, Some(after)),
            b'{' => {
                let Some(close) = after.find('}') else {
                    faults.extend(moved(offset(whole, rest) + at, fault("this `{` is not closed", None)));
                    return (found, None);
                };
                let slot = &rest[at..at + close + 2];
                match ways::said(slot, names, scope) {
                    Ok(parts) => found.extend(parts.into_iter().map(WordPart::Slot)),
                    Err(more) => faults.extend(moved(offset(whole, slot), more)),
                }
                rest = &after[close + 1..];
            }
            _ => {
                let name = after.split_once(':').map(|(name, _)| name);
                let is_name = |name: &&str| {
                    !name.is_empty()
                        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
                };
                let Some(name) = name.filter(is_name) else {
                    let help = Some("write `[clause: …]`".to_owned());
                    faults.extend(moved(offset(whole, rest) + at, fault("this `[` begins no span", help)));
                    rest = after;
                    continue;
                };
                let body = after[name.len() + 1..].strip_prefix(' ').unwrap_or(&after[name.len() + 1..]);
                let (inner, next) = parts(whole, body, given, names, faults, true);
                found.push(WordPart::Span(name.to_owned(), inner));
                match next {
                    Some(next) => rest = next,
                    None => return (found, None),
                }
            }
        }
    }
}

fn plain(whole: &str, text: &str, found: &mut Vec<WordPart>, faults: &mut Vec<Fault>) {
    if text.is_empty() {
        return;
    }
    // The items of a numbered list are no figures of anybody's.
    let mut line_start = whole[..offset(whole, text)].ends_with('\n') || offset(whole, text) == 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_digit() {
            let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
            let is_item = line_start && bytes.get(end).is_some_and(|b| matches!(b, b'.' | b')'));
            if !is_item {
                let help = Some("write numbers as words, or as slots".to_owned());
                faults.extend(moved(offset(whole, text) + at, fault("a digit outside of a slot", help)));
            }
            at = end;
            continue;
        }
        line_start = bytes[at] == b'\n' || (line_start && bytes[at] == b' ');
        at += 1;
    }
    found.push(WordPart::Plain(text.to_owned()));
}

/// Everything that a request must tell, by the names of spans: clauses, conditions on found members that compare with constants, facts
/// that texts must mention, conditions on the final state.
pub fn told(scenario: &Scenario, domain: &Domain) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    told.extend(scenario.clauses.iter().flat_map(clause_spans));
    told.extend(scenario.ensure.iter().map(|ensure: &Ensure| ensure.id.clone()));
    for (_, member) in scenario.cast.iter().enumerate().filter(|(at, _)| !scenario.idle.contains(at)) {
        told.extend(conditions(member, domain).into_iter().map(|condition| format!("{}.{condition}", member.name)));
    }
    told
}

/// The spans that a clause needs: its own, and one for each fact that a text of it must mention.
pub(super) fn clause_spans(clause: &Clause) -> Vec<String> {
    let cells = match &clause.act {
        Asked::Change { to, .. } => &to[..],
        Asked::Make { with, .. } => &with[..],
        _ => &[],
    };
    let mut spans = vec![clause.id.clone()];
    for (_, wanted) in cells {
        let Wanted::Tell(parts) = wanted else { continue };
        for part in parts {
            if let Said::Slot { text, optional: false, .. } = part {
                let first = text.split('.').next().unwrap_or_default();
                let span = format!("{}.{first}", clause.id);
                if !spans.contains(&span) {
                    spans.push(span);
                }
            }
        }
    }
    spans
}

/// The conditions of a found member that compare with constants: those of its tests by field, and its `where` as a whole.
pub(super) fn conditions(member: &Member, domain: &Domain) -> Vec<String> {
    let Form::Rows { source, condition, .. } = &member.form else { return Vec::new() };
    if member.is_drawn() {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    if let Source::Rows { tests, .. } = source {
        for (path, _, values) in tests {
            let Some((table, field)) = path.last() else { continue };
            let is_constant = values.iter().all(is_constant);
            if is_constant && *field != FieldId::ID {
                let name = domain.table(*table).field(*field).name.clone();
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
    }
    if condition.as_ref().is_some_and(|condition| {
        let mut has = false;
        condition.visit(&mut |expr| has |= matches!(expr, Expr::Literal(..)));
        has
    }) {
        found.push("where".to_owned());
    }
    found
}

/// Whether nothing in scope decides a value.
fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.visit(&mut |part| {
        constant &=
            !matches!(part, Expr::Field(..) | Expr::Var(_) | Expr::Lookup { .. } | Expr::Fold(_) | Expr::Actor(_));
    });
    constant
}

/// Holds a request to what it must tell; `names` of spans beside those that are allowed but not needed.
pub(super) fn check(parts: &[WordPart], needed: &[String], allowed: &[String], domain: &Domain) -> Vec<String> {
    let mut spans: Vec<&str> = Vec::new();
    let mut faults = Vec::new();
    for part in parts {
        part.visit(&mut |part| match part {
            WordPart::Span(name, _) => spans.push(name),
            WordPart::Slot(Said::Slot { text, shows, .. }) => {
                let path = match shows {
                    Shows::One(Expr::Field(_, path)) | Shows::Each(_, path) => path,
                    Shows::One(_) => return,
                };
                let shows_id = path.is_empty() || path.last().is_some_and(|(_, field)| *field == FieldId::ID);
                let is_ref = path.last().is_some_and(|(table, field)| {
                    matches!(domain.table(*table).field(*field).ty, benchwright_expr::Type::Ref(_))
                });
                if (shows_id && !matches!(shows, Shows::Each(_, path) if path.is_empty())) || is_ref {
                    faults.push(format!("the slot `{text}` shows an id"));
                }
            }
            _ => {}
        });
    }
    for name in needed {
        match spans.iter().filter(|span| *span == name).count() {
            1 => {}
            0 => faults.push(format!("nothing tells `{name}`: write `[{name}: …]` around what does")),
            times => faults.push(format!("`{name}` is told {times} times")),
        }
    }
    for span in spans {
        if !needed.iter().chain(allowed).any(|known| known == span) {
            faults.push(format!("the span `{span}` tells what does not exist"));
        }
    }
    faults
}
