//! A scenario at a tier: clauses that are asked for in other tiers are gone, with the sentences that tell them and the members that only
//! they speak of.

use super::{Asked, Clause, Form, Meant, Member, Passing, Scenario, Told, WordPart};
use benchwright_expr::{Expr, Source};
use benchwright_schema::ways::{Said, Shows, Wanted};
use std::{borrow::Cow, collections::BTreeSet};

impl Scenario {
    /// The scenario as it is asked for at a tier.
    pub fn at(&self, tier: &str) -> Cow<'_, Scenario> {
        let gone = self.not_asked(tier);
        if gone.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut at = self.clone();
        at.clauses.retain(|clause| !gone.contains(&&*clause.id));
        for (_, parts) in &mut at.voices {
            *parts = without(parts, &gone);
        }
        let used = used(&at);
        at.idle = (0..at.cast.len()).filter(|member| !used.contains(member)).collect();
        Cow::Owned(at)
    }

    /// The clauses that are not asked for at a tier.
    fn not_asked(&self, tier: &str) -> Vec<&str> {
        let is_gone = |clause: &&Clause| !clause.tiers.is_empty() && !clause.tiers.iter().any(|known| known == tier);
        self.clauses.iter().filter(is_gone).map(|clause| &*clause.id).collect()
    }
}

/// What is wrong with the voices at a tier: a sentence that goes must be whole, and something must be left.
pub(super) fn faults(scenario: &Scenario, tier: &str) -> Vec<(String, String)> {
    let gone = scenario.not_asked(tier);
    let mut faults = Vec::new();
    for (voice, parts) in &scenario.voices {
        if gone.len() == scenario.clauses.len() {
            faults.push((voice.clone(), format!("nothing is asked for in the tier {tier}")));
        }
        for name in &gone {
            let whole = parts.iter().position(|part| matches!(part, WordPart::Span(span, _) if span == name));
            if !whole.is_some_and(|at| begins(&parts[..at]) && ends(&parts[at], parts.get(at + 1))) {
                let message = format!("`[{name}: …]` is not asked for in the tier {tier}: it must be whole sentences");
                faults.push((voice.clone(), message));
            }
        }
    }
    faults
}

/// A sentence may begin after these parts.
fn begins(before: &[WordPart]) -> bool {
    let text: String = before.iter().map(text_of).collect();
    let line = text.rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty() || is_marker(line) || text.trim_end().ends_with(['.', '!', '?', ':'])
}

/// A sentence ends with a part.
fn ends(part: &WordPart, next: Option<&WordPart>) -> bool {
    text_of(part).trim_end().ends_with(['.', '!', '?']) || next.is_none_or(|next| text_of(next).starts_with('\n'))
}

/// The text of a part, with a letter in the place of a slot.
fn text_of(part: &WordPart) -> String {
    match part {
        WordPart::Plain(text) | WordPart::Slot(Said::Plain(text)) => text.clone(),
        WordPart::Slot(_) => "x".to_owned(),
        WordPart::Span(_, inner) => inner.iter().map(text_of).collect(),
    }
}

/// The beginning of a line of a list, and nothing else.
fn is_marker(line: &str) -> bool {
    let line = line.trim();
    line == "-" || line == "*" || number_of(line).is_some_and(|(_, rest)| rest.is_empty())
}

/// `2.` or `2)` at the beginning, with what follows it.
fn number_of(line: &str) -> Option<(usize, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && line[digits..].starts_with(['.', ')'])).then(|| (digits, &line[digits + 1..]))
}

/// A voice without what tells some clauses. Lines that only told them go too, and lists are numbered again.
fn without(parts: &[WordPart], gone: &[&str]) -> Vec<WordPart> {
    let mut left: Vec<WordPart> = Vec::new();
    let mut joins = false;
    for part in parts {
        match part {
            WordPart::Span(name, _) if gone.contains(&&**name) => joins = true,
            WordPart::Plain(text) if joins => {
                match left.last_mut() {
                    Some(WordPart::Plain(before)) => join(before, text),
                    _ => left.push(part.clone()),
                }
                joins = false;
            }
            _ => left.push(part.clone()),
        }
    }
    // What is gone at the end leaves no beginning of a line.
    if let (true, Some(WordPart::Plain(last))) = (joins, left.last_mut()) {
        join(last, "");
    }
    let items = number(&mut left, false);
    if items == 1 {
        number(&mut left, true);
    }
    left
}

/// Numbers lists again, or takes the numbers away; how many items there are.
fn number(parts: &mut [WordPart], bare: bool) -> usize {
    let (mut number, mut items, mut at_line) = (0, 0, true);
    for part in parts {
        let WordPart::Plain(text) = part else {
            at_line = false;
            continue;
        };
        let mut out = String::new();
        for line in text.split_inclusive('\n') {
            match number_of(line).filter(|_| at_line) {
                Some((_, rest)) if bare => out.push_str(rest.trim_start_matches(' ')),
                Some((digits, _)) => {
                    number = if &line[..digits] == "1" { 1 } else { number + 1 };
                    items += 1;
                    out.push_str(&format!("{number}{}", &line[digits..]));
                }
                None => out.push_str(line),
            }
            at_line = line.ends_with('\n');
        }
        *text = out;
    }
    items
}

/// Puts what follows a gap behind what stands before it.
fn join(before: &mut String, after: &str) {
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let is_empty = before[line..].trim().is_empty() || is_marker(&before[line..]);
    if is_empty && (after.starts_with('\n') || after.is_empty()) {
        before.truncate(line);
        before.push_str(after.strip_prefix('\n').unwrap_or(after));
    } else if before.is_empty() || before.ends_with([' ', '\n']) {
        before.push_str(after.trim_start_matches(' '));
    } else {
        before.push_str(after);
    }
}

/// The members that what is asked for, or the request itself, speaks of, and those that they hang on.
fn used(scenario: &Scenario) -> BTreeSet<usize> {
    let mut used = Used(BTreeSet::new());
    used.0.extend(scenario.person);
    scenario.asks.iter().for_each(|asks| used.expr(asks));
    scenario.ensure.iter().for_each(|ensure| used.expr(&ensure.holds));
    scenario.clauses.iter().for_each(|clause| used.clause(clause));
    for (_, parts) in &scenario.voices {
        for part in parts {
            part.visit(&mut |part| {
                if let WordPart::Slot(said) = part {
                    used.said(said);
                }
            });
        }
    }
    for (at, member) in scenario.cast.iter().enumerate().rev() {
        // What a drawn one was drawn by is nobody's matter: the request names it.
        if used.0.contains(&at) && !member.is_drawn() {
            let mut own = Used(BTreeSet::new());
            own.member(member);
            // What has the slots after it is its own.
            used.0.extend(own.0.into_iter().filter(|slot| *slot < at));
        }
    }
    used.0.retain(|slot| *slot < scenario.cast.len());
    used.0
}

/// The slots that expressions speak of.
struct Used(BTreeSet<usize>);

impl Used {
    fn expr(&mut self, expr: &Expr) {
        let mut found = BTreeSet::new();
        expr.visit(&mut |part| match part {
            Expr::Field(slot, _) | Expr::Var(slot) => {
                found.insert(*slot);
            }
            Expr::Fold(fold) => found.extend(fold.binders.iter().filter_map(|binder| given(&binder.source))),
            Expr::Lookup { source, .. } => found.extend(given(source)),
            _ => {}
        });
        self.0.extend(found);
    }

    fn source(&mut self, source: &Source) {
        self.0.extend(given(source));
        if let Source::Rows { tests, .. } = source {
            tests.iter().flat_map(|(_, _, values)| values).for_each(|value| self.expr(value));
        }
    }

    fn member(&mut self, member: &Member) {
        match &member.form {
            Form::Rows { source, condition, by, given, .. } => {
                self.source(source);
                condition.iter().chain(by).chain(given).for_each(|expr| self.expr(expr));
            }
            Form::Number { condition, .. } => self.expr(condition),
            Form::Ask { with, .. } => with.iter().for_each(|(_, expr)| self.expr(expr)),
            Form::Is(expr) => self.expr(expr),
            Form::Drawn(_) => {}
        }
    }

    fn said(&mut self, said: &Said) {
        match said {
            Said::Slot { shows: Shows::One(expr), .. } => self.expr(expr),
            Said::Slot { shows: Shows::Each(slot, _), .. } => {
                self.0.insert(*slot);
            }
            Said::Plain(_) => {}
        }
    }

    fn meant(&mut self, meant: &Meant) {
        self.0.insert(meant.slot);
    }

    fn wanted(&mut self, wanted: &Wanted) {
        match wanted {
            Wanted::Is(expr) => self.expr(expr),
            Wanted::OneOf(list) => list.iter().for_each(|expr| self.expr(expr)),
            Wanted::Text(parts) | Wanted::Tell(parts) => parts.iter().for_each(|said| self.said(said)),
            Wanted::Extreme { source, condition, by, .. } => {
                self.source(source);
                condition.iter().chain([by]).for_each(|expr| self.expr(expr));
            }
        }
    }

    fn clause(&mut self, clause: &Clause) {
        clause.when.iter().for_each(|when| self.expr(when));
        match &clause.act {
            Asked::Change { rows, to, .. } => {
                self.meant(rows);
                to.iter().for_each(|(_, wanted)| self.wanted(wanted));
            }
            Asked::Make { with, each, .. } => {
                each.iter().for_each(|each| self.meant(each));
                with.iter().for_each(|(_, wanted)| self.wanted(wanted));
            }
            Asked::Drop { rows, .. } => self.meant(rows),
            Asked::Call { with, each, .. } => {
                each.iter().for_each(|each| self.meant(each));
                for (_, passing) in with {
                    match passing {
                        Passing::Is(expr) => self.expr(expr),
                        Passing::Text(parts) => parts.iter().for_each(|said| self.said(said)),
                        Passing::Each(meant, _) => self.meant(meant),
                    }
                }
            }
            Asked::Answer { is, .. } => match is {
                Told::One(expr, _) => self.expr(expr),
                Told::Each(meant, _, _) => self.meant(meant),
            },
        }
    }
}

/// The name that a source stands for.
fn given(source: &Source) -> Option<usize> {
    match source {
        Source::Given(slot) => Some(*slot),
        _ => None,
    }
}
