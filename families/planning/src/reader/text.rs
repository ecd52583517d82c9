//! Reads a brief line by line: whatever is not as a careful reader expects it is refused, so that no word of it can be lost.

use crate::{
    brief,
    forms::{form_columns, in_words},
    workflow::Planning,
    written::TrapText,
};
use std::ops::Range;

/// What a brief says.
pub(crate) struct Said<'f> {
    /// The traps whose sentences stand in it.
    pub(crate) traps: Vec<&'f TrapText>,
    /// The lines, or ends of lines, that are the pattern's own words.
    pub(crate) others: Vec<Range<usize>>,
}

/// The lines of a text that hold something, with where they begin.
struct Lines<'t> {
    lines: Vec<(usize, &'t str)>,
    next: usize,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Lines<'t> {
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split('\n') {
            if !line.is_empty() {
                lines.push((at, line));
            }
            at += line.len() + 1;
        }
        Lines { lines, next: 0 }
    }

    fn peek(&self) -> &'t str {
        self.lines.get(self.next).map_or("", |(_, line)| line)
    }

    fn take(&mut self) -> (usize, &'t str) {
        let line = self.lines.get(self.next).copied().unwrap_or((0, ""));
        self.next += 1;
        line
    }

    /// The next line, which must be one of several.
    fn one_of(&mut self, mut known: impl Iterator<Item = String>) -> Result<(), String> {
        let (_, line) = self.take();
        match known.any(|known| known == line) {
            true => Ok(()),
            false => Err(format!("`{line}` is not understood here")),
        }
    }

    fn is(&mut self, known: &str) -> Result<(), String> {
        self.one_of(std::iter::once(known.to_owned()))
    }
}

/// The workflow as a brief has it: with stages, if there is a word of them, or with what a dial adds, if there is its form.
pub(crate) fn of_text<'f>(family: &'f Planning, text: &str) -> &'f Planning {
    let has = |wanted: &str| text.split('\n').any(|line| line == wanted);
    let is_asked = |(_, with): &(_, &Planning)| {
        let mut forms = with.form_tables().filter(|table| with.dial.is_some_and(|dial| dial.has_form(&table.name)));
        forms
            .any(|table| with.told.brief.forms.get(&table.name).is_some_and(|says| has(&brief::form_says(table, says))))
    };
    let with = family.dials.iter().find(is_asked).map(|(_, with)| with);
    with.or(family.staged.as_deref().filter(|_| has(brief::STAGES))).unwrap_or(family)
}

/// Reads a brief of a workflow.
pub(crate) fn read<'f>(family: &'f Planning, text: &str) -> Result<Said<'f>, String> {
    let mut lines = Lines::of(text);
    let mut said = Said { traps: Vec::new(), others: Vec::new() };
    let told = &family.told.brief;
    let other = |(at, line): (usize, &str)| at..at + line.len();
    lines.is(&format!("# {}", family.forms.title))?;
    lines.one_of(told.opening.iter().cloned())?;
    said.others.push(other(lines.take()));
    lines.one_of(told.goal.iter().cloned())?;
    lines.is(brief::KEEP)?;
    for rule in family.plan.rules.values().filter(|rule| !rule.says.is_empty()) {
        lines.one_of(rule.says.iter().map(|says| format!("- {says}")))?;
    }
    said.others.push(other(lines.take()));
    lines.is(brief::DATA)?;
    for trap in &family.written.traps {
        if lines.peek().strip_prefix("- ") == Some(&*trap.says) {
            said.traps.push(trap);
            lines.take();
        }
    }
    lines.is(brief::DICTIONARY)?;
    if family.stages.is_some() {
        lines.is(brief::STAGES)?;
        for says in brief::STAGES_SAY {
            lines.is(says)?;
        }
    }
    lines.is(brief::FILES)?;
    for file in family.written.files.iter().filter(|file| file.stage == 1) {
        lines.is(&format!("- `{}` holds {}.", file.path, file.says))?;
    }
    lines.is(brief::FORMS)?;
    for table in family.form_tables() {
        let says = told.forms.get(&table.name).map_or("", |says| says);
        lines.is(&brief::form_says(table, says))?;
        for field in form_columns(table) {
            let means = told.columns.get(&table.name).and_then(|columns| columns.get(&field.name));
            let means = means.map(|means| format!("{means}; ")).unwrap_or_default();
            lines.is(&format!("- `{}`: {means}{}", field.name, in_words(field)))?;
        }
    }
    let (at, last) = lines.take();
    let rest = last.strip_prefix(brief::ONLY_FORMS).ok_or_else(|| format!("`{last}` is not understood here"))?;
    said.others.push(at + last.len() - rest.len()..at + last.len());
    match lines.peek() {
        "" => Ok(said),
        more => Err(format!("`{more}` is one line too many")),
    }
}
