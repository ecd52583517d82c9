//! Whether the reader of a brief reads all of it. Each sentence of the instruction is deleted, turned and moved by one, one at a time,
//! and the case is read back: it must not come out as it did from the whole text. A sentence that can be dropped or turned without
//! anybody noticing was never read, and whatever it says was never held against the rules.
//!
//! What carries no meaning is declared by the reader, with the reason. How a sentence is turned is data (`TURNS`): pairs of phrases that
//! say the opposite of each other. Besides, every sentence is denied as a whole, and every number in it is one more.

use super::closed_book::{OWN_WORDS, Reads, legible};
use crate::{Finding, Held, Subject};
use benchwright_base::Date;
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_project::{Case, FamilyError, Heed, NotAnswered, Passage, Reader, ToolAccess};
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Phrases that turn a sentence when one stands for the other.
const TURNS: &[(&str, &str)] = &[
    ("at least", "at most"),
    ("or earlier", "or later"),
    ("never later", "never earlier"),
    ("no more than", "no fewer than"),
    ("or more", "or less"),
    ("may not", "may"),
    ("must not", "must"),
    ("do not", "do"),
    ("does not", "does"),
    ("cannot", "can"),
    ("never", "always"),
    ("passes", "fails"),
    ("pass", "fail"),
    ("all of these", "any of these"),
    ("included", "excluded"),
    ("that same day", "from the day after"),
    ("all calendar days", "only working days"),
    ("All calendar days", "Only working days"),
    ("whole plan", "single day"),
    ("on its start day", "on each of its days"),
    ("one total for the whole plan", "a total for each day"),
    ("all units", "the units above it"),
    ("at most one order line", "at most two order lines"),
    ("exactly", "roughly"),
    ("without", "with"),
    ("neither", "both"),
    ("none", "some"),
    ("no", "some"),
    ("nothing", "anything"),
    ("nobody", "anybody"),
    ("only", "not only"),
    ("every", "no"),
    ("Every", "No"),
    ("each", "some"),
    ("Each", "Some"),
    ("all", "some"),
    ("All", "Some"),
    ("before", "after"),
    ("earlier", "later"),
    ("above", "below"),
    ("within", "beyond"),
    ("exceed", "fall below"),
    ("lowest", "highest"),
    ("fewest", "most"),
    ("smallest", "largest"),
    ("least", "most"),
    ("cheapest", "dearest"),
    ("today", "tomorrow"),
    ("noon", "midnight"),
    ("confirmed", "left open"),
    ("confirm", "leave open"),
    ("Confirm", "Leave open"),
    ("cancel", "keep"),
    ("Cancel", "Keep"),
    ("cancelled", "kept"),
    ("once", "twice"),
    ("one", "two"),
    ("two", "three"),
    ("less", "plus"),
    ("plus", "without"),
    ("and", "or"),
    ("is", "is not"),
    ("are", "are not"),
    ("is", "was"),
    ("commas", "semicolons"),
];

/// The trial.
pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    let Some(reader) = subject.family.reader() else {
        return Finding::new(Held::NoVerdict("the family offers no reader of its briefs".to_owned()));
    };
    let reads = match Reads::of(subject) {
        Ok(reads) => reads,
        Err(error) => return Finding::new(Held::NoVerdict(error.to_string())),
    };
    let (text, foreign) = legible(subject);
    let mut bench = Bench { reader, access: Remembering { reads, known: BTreeMap::new() } };
    let whole = match bench.read(&text) {
        Ok(whole) => whole,
        Err(why) => return Finding::new(Held::Failed(format!("the case could not be read back: {why}"))),
    };
    let passages = reader.passages(&text);
    let mut faults = odd_passages(subject, &text, &passages);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons = BTreeSet::new();
    for sentence in sentences(&text).into_iter().filter(|range| !text[range.clone()].starts_with(OWN_WORDS)) {
        *counts.entry("sentences").or_default() += 1;
        let passage = passages.iter().find(|passage| holds(&passage.range, &sentence));
        if let Some(passage) = passage {
            *counts.entry(heeded(passage.heed)).or_default() += 1;
            reasons.insert(passage.why);
        }
        for change in changes(&text, &sentence, passage.map(|passage| passage.heed)) {
            *counts.entry(change.kind).or_default() += 1;
            if bench.read(&change.text).is_ok_and(|read| read == whole) {
                let said: String = text[sentence.clone()].chars().take(90).collect();
                faults.push(format!("`{said}`: {}, and the same case is read", change.what));
            }
        }
    }
    let mut finding = Finding::of(&faults).count("foreign", foreign);
    finding.notes = reasons.into_iter().map(str::to_owned).chain(faults.into_iter().skip(1)).collect();
    for (name, count) in counts {
        finding = finding.count(name, count);
    }
    finding
}

/// The reader at work.
struct Bench<'b> {
    reader: &'b dyn Reader,
    access: Remembering<'b>,
}

/// What was read: the case, and the goal's words, if they were known by a phrase only.
type Reading = (String, Vec<String>, Json, usize);

impl Bench<'_> {
    fn read(&mut self, text: &str) -> Result<Reading, FamilyError> {
        let Case { objective, mut switches, data } = self.reader.read_back(text, &mut self.access)?;
        switches.sort();
        let by_phrase = self.reader.passages(text).iter().filter(|passage| passage.heed == Heed::KeyPhrase).count();
        Ok((objective, switches, data, by_phrase))
    }
}

/// Tool access that asks everything once: reading changes nothing, so answers stay true.
struct Remembering<'f> {
    reads: Reads<'f>,
    known: BTreeMap<(String, String), Result<Json, NotAnswered>>,
}

impl ToolAccess for Remembering<'_> {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        let key = (tool.to_owned(), arguments.to_string());
        if let Some(answer) = self.known.get(&key) {
            return answer.clone();
        }
        let answer = self.reads.ask(tool, arguments);
        self.known.insert(key, answer.clone());
        answer
    }
}

/// What is wrong with what the reader sets aside. Words that are known by a phrase only may stand in a pattern of one's own, and not in
/// one that comes with the program, whose words the reader has to know.
fn odd_passages(subject: &Subject<'_>, text: &str, passages: &[Passage]) -> Vec<String> {
    let ours = Catalog::built_in().pattern(&subject.pattern.name).is_ok_and(|known| known == subject.pattern);
    let odd = passages.iter().filter(|passage| passage.heed == Heed::KeyPhrase && ours);
    odd.map(|passage| format!("only a phrase of it is known: `{}`", &text[passage.range.clone()])).collect()
}

fn heeded(heed: Heed) -> &'static str {
    match heed {
        Heed::Nothing => "without meaning",
        Heed::Figures => "read for figures",
        Heed::KeyPhrase => "read for a phrase",
    }
}

fn holds(range: &Range<usize>, inner: &Range<usize>) -> bool {
    range.start <= inner.start && inner.end <= range.end
}

/// The sentences of a text, rows of tables and headings included.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_end();
        if content.is_empty() || content.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) {
            continue;
        }
        let lead = if content.starts_with("- ") { 2 } else { 0 };
        let (start, content) = (start + lead, &content[lead..]);
        if content.starts_with(['|', '#']) {
            found.push(start..start + content.len());
            continue;
        }
        let mut from = 0;
        for (end, _) in content.match_indices(". ") {
            if content[end + 2..].starts_with(|c: char| c.is_uppercase()) {
                found.push(start + from..start + end + 1);
                from = end + 2;
            }
        }
        found.push(start + from..start + content.len());
    }
    found
}

/// The text with one sentence changed.
struct Change {
    kind: &'static str,
    what: String,
    text: String,
}

fn changes(text: &str, sentence: &Range<usize>, heed: Option<Heed>) -> Vec<Change> {
    if heed == Some(Heed::Nothing) {
        return Vec::new();
    }
    let said = &text[sentence.clone()];
    let is_row = said.starts_with('|');
    let with = |other: &str| format!("{}{other}{}", &text[..sentence.start], &text[sentence.end..]);
    let mut found: Vec<Change> = Vec::new();
    let figures = figures(said);
    // A scene that names nothing may go.
    if heed.is_none() || (heed == Some(Heed::Figures) && !figures.is_empty()) || heed == Some(Heed::KeyPhrase) {
        found.push(Change { kind: "deleted", what: "deleted".to_owned(), text: without(text, sentence) });
    }
    for (range, other) in figures {
        let moved = format!("{}{other}{}", &said[..range.start], &said[range.end..]);
        let what = format!("with {other} for {}", &said[range]);
        found.push(Change { kind: "moved", what, text: with(&moved) });
    }
    if heed.is_some() {
        return found;
    }
    for (one, other) in TURNS.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
        for start in words(said, one) {
            let turned = format!("{}{other}{}", &said[..start], &said[start + one.len()..]);
            found.push(Change { kind: "turned", what: format!("with `{other}` for `{one}`"), text: with(&turned) });
        }
    }
    if !is_row {
        let mut rest = said.chars();
        let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
        let denied = format!("It is not so that {first}{}", rest.as_str());
        found.push(Change { kind: "denied", what: "denied".to_owned(), text: with(&denied) });
    }
    found
}

/// A text without a sentence, and without the line that held nothing else.
fn without(text: &str, sentence: &Range<usize>) -> String {
    let (before, after) = (&text[..sentence.start], &text[sentence.end..]);
    let begins = before.is_empty() || before.ends_with('\n') || before.ends_with("\n- ");
    if begins && (after.is_empty() || after.starts_with('\n')) {
        let before = before.strip_suffix("- ").unwrap_or(before);
        return format!("{before}{}", after.strip_prefix('\n').unwrap_or(after));
    }
    format!("{before}{}", after.strip_prefix(' ').unwrap_or(after)).replace(" \n", "\n")
}

/// Where a phrase stands as words of its own.
fn words(said: &str, phrase: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let apart = |(at, _): &(usize, &str)| {
        let before = said[..*at].chars().next_back();
        let after = said[at + phrase.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    said.match_indices(phrase).filter(apart).map(|(at, _)| at).collect()
}

/// Every figure of a sentence, and what it is when it is one more: a day later, a cent dearer, the next code.
fn figures(said: &str) -> Vec<(Range<usize>, String)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ',' | '.' | '$' | '/' | '_');
    let mut found = Vec::new();
    let mut at = 0;
    for word in said.split_inclusive(|c: char| !is_part(c)) {
        let start = at;
        at += word.len();
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let lead = bare.len() - bare.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).len();
        let (start, bare) = (start + lead, &bare[lead..]);
        if bare.contains(|c: char| c.is_ascii_digit())
            && let Some(next) = next(bare)
        {
            found.push((start..start + bare.len(), next));
        }
    }
    found
}

/// What comes after a date, a number or a code.
fn next(figure: &str) -> Option<String> {
    if let Some(date) = Date::parse(figure) {
        return date.add_days(1).map(|date| date.to_string());
    }
    let mut digits: Vec<u8> = figure.bytes().collect();
    for at in (0..digits.len()).rev() {
        match digits[at] {
            b'9' => digits[at] = b'0',
            digit if digit.is_ascii_digit() => {
                digits[at] += 1;
                return String::from_utf8(digits).ok();
            }
            _ => {}
        }
    }
    // Nothing but nines: one less says something else as well.
    Some(figure.replacen('9', "8", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nToday is 2032-03-31. Go on.\n\n## Rules\n\n- Pay at most $1,299.99. It is due by then.\n- One.\n\n| a | b |\n|---|---:|\n| REQ-9 | 9 |\n";

    fn said(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_text_falls_into_sentences_rows_and_headings() {
        let found = [
            "# Title",
            "Today is 2032-03-31.",
            "Go on.",
            "## Rules",
            "Pay at most $1,299.99.",
            "It is due by then.",
            "One.",
        ];
        assert_eq!(said(TEXT)[..7], found);
        assert_eq!(said(TEXT)[7..], ["| a | b |", "| REQ-9 | 9 |"]);
    }

    #[test]
    fn every_figure_has_a_next_one() {
        assert_eq!(next("2032-03-31").as_deref(), Some("2032-04-01"));
        assert_eq!(next("1,299.99").as_deref(), Some("1,300.00"));
        assert_eq!(next("REQ-31").as_deref(), Some("REQ-32"));
        assert_eq!(next("9").as_deref(), Some("8"));
        let moved: Vec<String> = figures("Pay $1,299.99 for 12 (C-1).").into_iter().map(|(_, next)| next).collect();
        assert_eq!(moved, ["1,300.00", "13", "C-2"]);
    }

    #[test]
    fn a_sentence_is_deleted_with_its_line_where_it_is_alone() {
        let at = |sentence: &str| TEXT.find(sentence).map(|at| at..at + sentence.len()).unwrap_or_default();
        assert!(without(TEXT, &at("One.")).contains("due by then.\n\n|"));
        assert!(without(TEXT, &at("Go on.")).contains("2032-03-31.\n\n## Rules"));
        assert!(without(TEXT, &at("Pay at most $1,299.99.")).contains("- It is due by then.\n"));
    }

    #[test]
    fn phrases_are_turned_as_words() {
        assert_eq!(words("at most one; stone at most", "one"), [8]);
        assert_eq!(words("at most one; stone at most", "at most"), [0, 19]);
        let kinds: Vec<&str> = changes(TEXT, &(35..57), None).iter().map(|change| change.kind).collect();
        assert!(kinds.contains(&"deleted"), "{kinds:?}");
    }
}
