//! The sentences of an instruction, all of them: each must be one that the reader knows (`phrasings.toml`), and each that the case calls
//! for must be there. A sentence that is unknown, missing, told twice or out of place is an error, because it might be the one that
//! matters.
//!
//! What carries nothing is declared in `passages`, with the reason.

use super::super::shop::{Bounds, Limits, Role, Shop, Source};
use super::figures::{decimal, is_code, money};
use benchwright_base::Date;
use benchwright_project::{Heed, Passage};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::LazyLock,
};

/// What `phrasings.toml` declares.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Readings {
    headings: Vec<String>,
    requests: Vec<String>,
    tests: Vec<String>,
    lists: BTreeMap<String, String>,
    choices: BTreeMap<String, Vec<Choice>>,
    sentences: BTreeMap<String, Sentence>,
    goals: Vec<Goal>,
}

/// One of several things that may stand in a place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    #[serde(default)]
    when: Vec<String>,
    says: String,
}

/// A meaning with its phrasings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentence {
    #[serde(default)]
    when: Vec<String>,
    says: Vec<String>,
}

/// The goal with its phrasings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Goal {
    means: String,
    #[serde(default)]
    when: Vec<String>,
    says: Vec<String>,
}

/// What stands for a sentence that only the author of a pattern knows.
const OWN_WORDS: &str = "(In words of the pattern's own: ";

static READINGS: LazyLock<Result<Readings, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../phrasings.toml")).map_err(|error| error.to_string()));

fn readings() -> Result<&'static Readings, String> {
    READINGS.as_ref().map_err(|why| format!("phrasings.toml: {why}"))
}

/// What the sentences say.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The meanings, in the order of the text.
    told: Vec<&'static str>,
    /// What the words that were chosen imply: where it was said, and the signs.
    implied: Vec<(String, &'static [String])>,
    /// Names with their codes.
    parties: Vec<(String, String)>,
    /// The goal, where its words are known.
    goal: Option<&'static str>,
}

/// Reads every sentence.
pub(super) fn read(text: &str) -> Result<Read, String> {
    let known = readings()?;
    let mut read = Read::default();
    let layout = Layout::of(text);
    let mut table = None;
    for line in layout.body {
        let line = text[line].trim();
        if !line.starts_with('|') {
            table = None;
        }
        if line.is_empty() || line.split(", ").all(is_code) {
            continue;
        }
        if let Some(heading) = line.strip_prefix("## ") {
            if !known.headings.iter().any(|known| known == heading) {
                return Err(format!("unread heading: {heading}"));
            }
        } else if line.starts_with('|') {
            match table {
                None if known.requests.iter().any(|head| head == line) => table = Some(false),
                None if known.tests.iter().any(|head| head == line) => table = Some(true),
                None => return Err(format!("unread table: {line}")),
                Some(true) if !line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':')) => {
                    known.line(line, &mut read)?
                }
                Some(_) => {}
            }
        } else {
            known.line(line.strip_prefix("- ").unwrap_or(line), &mut read)?;
        }
    }
    match layout.goal {
        Some(goal) => known.goal(text[goal].trim(), &mut read),
        None => return Err("the instruction has no goal".to_owned()),
    }
    Ok(read)
}

impl Read {
    /// Holds what was said to what the case calls for.
    pub(super) fn check(&self, shop: &Shop, switches: &[String]) -> Result<(), String> {
        let known = readings()?;
        let signs = signs(shop, switches);
        for (name, sentence) in &known.sentences {
            match (self.told.iter().filter(|told| *told == name).count(), fits(&sentence.when, &signs)) {
                (0, true) => return Err(format!("nothing says `{name}`: {}", sentence.says.join(" / "))),
                (1.., false) => return Err(format!("`{name}` is said, but the case has no use for it")),
                (2.., true) => return Err(format!("`{name}` is said twice")),
                _ => {}
            }
        }
        if let Some((said, when)) = self.implied.iter().find(|(_, when)| !fits(when, &signs)) {
            return Err(format!("`{said}` is said, but the case is not so: {}", when.join(", ")));
        }
        let named = |name: &str, code: &str| {
            shop.products.iter().any(|product| product.code == code && product.name == name)
                || shop.centres.iter().any(|centre| centre.code == code && centre.name == name)
                || shop.vendors.iter().any(|party| party.reference == code && party.name == name)
        };
        if let Some((name, code)) = self.parties.iter().find(|(name, code)| !named(name, code)) {
            return Err(format!("{code} is not called {name} in the system"));
        }
        match self.goal {
            Some(goal) if goal != shop.objective => Err(format!("the goal is put as {goal}, not {}", shop.objective)),
            _ => Ok(()),
        }
    }
}

/// What carries no meaning of its own, and what is known by less than all its words.
pub(super) fn passages(text: &str) -> Vec<Passage> {
    let layout = Layout::of(text);
    let mut found = Vec::new();
    let mut add = |range: Range<usize>, heed, why| found.push(Passage { range, heed, why });
    if let Some(title) = layout.title {
        add(title, Heed::Nothing, "a title: the text says all of it");
    }
    for line in layout.body.iter().filter(|line| text[(*line).clone()].starts_with("## ")) {
        add(line.clone(), Heed::Nothing, "a heading: it orders the text");
    }
    add(layout.opening, Heed::Figures, "an opening sets the scene: of it the item and the day are read");
    if let Some(closing) = layout.closing {
        add(closing, Heed::Nothing, "a closing: that only the system's records count is so of every task");
    }
    if let Some(goal) = layout.goal {
        let mut read = Read::default();
        if let Ok(known) = readings() {
            known.goal(text[goal.clone()].trim(), &mut read);
        }
        if read.goal.is_none() {
            add(
                goal,
                Heed::KeyPhrase,
                "the goal is put in words of a pattern of one's own, and known by its key phrase",
            );
        }
    }
    found
}

/// The signs of a case: its switches, and what a planner sees in its records.
fn signs(shop: &Shop, switches: &[String]) -> BTreeSet<String> {
    let any = |role: Role| shop.products.iter().any(|product| product.role == role);
    let finished = shop.products.iter().find(|product| product.role == Role::Finished);
    let screen = shop.screen.as_ref();
    let own = [
        ("standing", shop.orders.iter().any(|order| order.source == Source::Confirmed)),
        ("finished-made", finished.is_some_and(|product| product.makes)),
        ("finished-bought", shop.never_bought.is_none()),
        ("parts", any(Role::Part)),
        ("modules", any(Role::Module)),
        ("groups", !shop.groups.is_empty()),
        ("unlimited", shop.orders.iter().any(|order| order.limit.is_none())),
        ("size", screen.is_some_and(|screen| screen.window.is_some())),
        ("notice", screen.is_some_and(|screen| screen.lead.is_some())),
        ("money", screen.is_some_and(|screen| screen.limit)),
        ("several-lines", shop.orders.iter().any(|order| order.lines.len() > 1)),
        ("several-items", shop.products.iter().filter(|product| product.role == Role::Finished).count() > 1),
        ("calendar", shop.calendar.is_some()),
        ("next-day", shop.clauses.next_day),
        ("above-step", shop.clauses.above_step),
        ("pre-tax", shop.clauses.limits == Limits::Named),
        ("with-tax", matches!(shop.clauses.limits, Limits::Gross(_))),
        ("neutral", shop.clauses.bound != Bounds::Inclusive),
        ("bound-fails", shop.clauses.bound == Bounds::Fails),
        ("centre-failed", shop.repair.as_ref().is_some_and(|repair| repair.centre.is_some())),
    ];
    let own = own.iter().filter(|(_, on)| *on).map(|(name, _)| (*name).to_owned());
    switches.iter().cloned().chain(own).collect()
}

fn fits(when: &[String], signs: &BTreeSet<String>) -> bool {
    when.iter().all(|sign| match sign.strip_prefix('!') {
        Some(absent) => !signs.contains(absent),
        None => signs.contains(sign),
    })
}

/// Where things stand in an instruction.
struct Layout {
    title: Option<Range<usize>>,
    /// Everything before the first heading.
    opening: Range<usize>,
    /// The lines from the first heading to the goal's.
    body: Vec<Range<usize>>,
    /// The line below the goal's heading.
    goal: Option<Range<usize>>,
    /// What follows it.
    closing: Option<Range<usize>>,
}

impl Layout {
    fn of(text: &str) -> Layout {
        let mut layout = Layout { title: None, opening: 0..0, body: Vec::new(), goal: None, closing: None };
        let (mut at, mut in_goal) = (0, false);
        for line in text.split_inclusive('\n') {
            let range = at..at + line.trim_end().len();
            at += line.len();
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if in_goal {
                match (&layout.goal, &mut layout.closing) {
                    (None, _) => layout.goal = Some(range),
                    (Some(_), Some(closing)) => closing.end = range.end,
                    (Some(_), none) => *none = Some(range),
                }
            } else if line.starts_with("## ") || !layout.body.is_empty() {
                in_goal = line == "## The goal";
                layout.body.push(range);
            } else if line.starts_with("# ") && layout.title.is_none() && layout.opening.is_empty() {
                layout.title = Some(range);
            } else if layout.opening.is_empty() {
                layout.opening = range;
            } else {
                layout.opening.end = range.end;
            }
        }
        layout
    }
}

/// What is still to be read, and how it goes on from there.
type Then<'c, 't> = &'c mut dyn FnMut(&'t str, &mut Read) -> bool;

impl Readings {
    /// Reads a line, sentence by sentence.
    fn line(&'static self, line: &str, read: &mut Read) -> Result<(), String> {
        let mut furthest = line;
        if self.rest(line, read, &mut furthest) {
            return Ok(());
        }
        let sentence = furthest.split_inclusive(['.', ':']).next().unwrap_or(furthest);
        Err(format!("unread sentence: {}", if sentence.len() < 20 { furthest } else { sentence }))
    }

    fn rest<'t>(&'static self, line: &'t str, read: &mut Read, furthest: &mut &'t str) -> bool {
        // A rule that a pattern puts into words of its own is known to be told.
        if let Some((rules, rest)) = line.strip_prefix(OWN_WORDS).and_then(|rest| rest.split_once(".)")) {
            let names = rules.split(", ").filter_map(|id| self.sentences.get_key_value(id.rsplit('/').next()?));
            read.told.extend(names.map(|(name, _)| &**name));
            return rest.is_empty() || rest.strip_prefix(' ').is_some_and(|rest| self.rest(rest, read, furthest));
        }
        for (name, sentence) in &self.sentences {
            for says in &sentence.says {
                read.told.push(name);
                let found = self.matches(says, line, read, &mut |rest, read| match rest.strip_prefix(' ') {
                    _ if rest.is_empty() => true,
                    None => false,
                    Some(rest) => {
                        if rest.len() < furthest.len() {
                            *furthest = rest;
                        }
                        self.rest(rest, read, furthest)
                    }
                });
                if found {
                    return true;
                }
                read.told.pop();
            }
        }
        false
    }

    /// Reads the goal; words that are not known leave it unknown.
    fn goal(&'static self, text: &str, read: &mut Read) {
        for goal in &self.goals {
            for says in &goal.says {
                if self.matches(says, text, read, &mut |rest, _| rest.is_empty()) {
                    read.goal = Some(&goal.means);
                    read.implied.push((text.to_owned(), &goal.when));
                    return;
                }
            }
        }
    }

    /// Whether a text begins as a phrasing says, and goes on as it should.
    fn matches<'t>(&'static self, says: &'static str, text: &'t str, read: &mut Read, then: Then<'_, 't>) -> bool {
        let Some((before, after)) = says.split_once('{') else {
            return text.strip_prefix(says).is_some_and(|rest| then(rest, read));
        };
        let (Some(text), Some((hole, after))) = (text.strip_prefix(before), after.split_once('}')) else {
            return false;
        };
        self.fills(hole, text, read, &mut |rest, read| self.matches(after, rest, read, then))
    }

    fn fills<'t>(&'static self, hole: &str, text: &'t str, read: &mut Read, then: Then<'_, 't>) -> bool {
        let run = |fits: fn(u8) -> bool| text.bytes().take_while(|byte| fits(*byte)).count();
        let figure = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'$' | b'.' | b',');
        match hole {
            "date" => match text.get(..10).and_then(Date::parse) {
                Some(_) => then(&text[10..], read),
                None => false,
            },
            "count" => {
                let digits = run(|byte| byte.is_ascii_digit());
                digits > 0 && then(&text[digits..], read)
            }
            "money" => {
                let most = run(figure);
                (1..=most).rev().any(|end| money(&text[..end]).is_some() && then(&text[end..], read))
            }
            "percent" => {
                let most = run(figure);
                (1..=most).rev().any(|end| decimal(&text[..end], 2).is_some() && then(&text[end..], read))
            }
            "party" => {
                let Some((name, rest)) = text.split_once(" (") else { return false };
                let Some((code, rest)) = rest.split_once(')') else { return false };
                if name.is_empty() || !is_code(code) {
                    return false;
                }
                read.parties.push((name.to_owned(), code.to_owned()));
                let kept = read.parties.len();
                if then(rest, read) {
                    return true;
                }
                read.parties.truncate(kept - 1);
                false
            }
            list if self.lists.contains_key(list) => self.entries(&self.lists[list], text, read, then),
            choice => self.choices.get(choice).into_iter().flatten().any(|choice| {
                read.implied.push((choice.says.clone(), &choice.when));
                let kept = read.implied.len();
                if self.matches(&choice.says, text, read, then) {
                    return true;
                }
                read.implied.truncate(kept - 1);
                false
            }),
        }
    }

    /// One entry or more, with `; ` between.
    fn entries<'t>(&'static self, entry: &'static str, text: &'t str, read: &mut Read, then: Then<'_, 't>) -> bool {
        self.matches(entry, text, read, &mut |rest, read| match rest.strip_prefix("; ") {
            Some(more) => self.entries(entry, more, read, then),
            None => then(rest, read),
        })
    }
}
