//! A request held against the voice that it was written in: which part of the text is the voice's own, and what each slot shows.

use super::RequestSubject;
use benchwright_schema::ways::Said;
use benchwright_spec::scenario::WordPart;

/// A slot with what the request shows in its place.
pub(super) struct Filled<'v> {
    /// The slot.
    pub(super) slot: &'v Said,
    /// What it shows.
    pub(super) shows: String,
}

/// A span of the request: what it tells, and its text.
pub(super) struct Span {
    /// What it tells.
    pub(super) tells: String,
    /// Its text.
    pub(super) text: String,
    /// The request without it.
    pub(super) without: String,
    /// Whether other spans tell the same.
    pub(super) again: bool,
}

/// The spans of the request, as its voice has them; nothing if the request is not what its voice says.
pub(super) fn spans(subject: &RequestSubject<'_>) -> Option<Vec<Span>> {
    let values: Vec<String> = filled(subject)?.into_iter().map(|filled| filled.shows).collect();
    let voice = subject.task.sealed.case["voice"].as_str()?;
    let adds = subject.variant().map_or(&[][..], |variant| &variant.adds);
    let parts: Vec<&WordPart> = subject.scenario.voice(voice)?.iter().chain(adds).collect();
    let mut names = Vec::new();
    for part in &parts {
        part.visit(&mut |part| {
            if let WordPart::Span(name, _) = part {
                names.push(name.clone());
            }
        });
    }
    let written = |omit: Option<usize>, only: Option<usize>| {
        let mut pen =
            Pen { values: &values, slot: 0, span: 0, omit, only, inside: only.is_none(), text: String::new() };
        parts.iter().for_each(|part| pen.write(part, true));
        pen.text.trim().to_owned()
    };
    let span = |(at, tells): (usize, &String)| Span {
        tells: tells.clone(),
        text: written(None, Some(at)),
        without: written(Some(at), None),
        again: names.iter().filter(|other| *other == tells).count() > 1,
    };
    Some(names.iter().enumerate().map(span).collect())
}

/// Writes a voice with what its slots show, without one span or of one span alone.
struct Pen<'v> {
    values: &'v [String],
    slot: usize,
    span: usize,
    omit: Option<usize>,
    only: Option<usize>,
    inside: bool,
    text: String,
}

impl Pen<'_> {
    fn write(&mut self, part: &WordPart, keeps: bool) {
        let writes = keeps && self.inside;
        match part {
            WordPart::Plain(text) | WordPart::Slot(Said::Plain(text)) if writes => self.text.push_str(text),
            WordPart::Plain(_) | WordPart::Slot(Said::Plain(_)) => {}
            WordPart::Slot(_) => {
                let value = self.values.get(self.slot).map_or("", |value| &**value);
                self.slot += 1;
                if writes {
                    self.text.push_str(value);
                }
            }
            WordPart::Span(_, inner) => {
                let (at, before) = (self.span, self.inside);
                self.span += 1;
                self.inside |= self.only == Some(at);
                inner.iter().for_each(|part| self.write(part, keeps && self.omit != Some(at)));
                self.inside = before;
            }
        }
    }
}

/// A piece of a voice.
enum Piece<'v> {
    Plain(String),
    Slot(&'v Said),
}

fn pieces<'v>(parts: &'v [WordPart], found: &mut Vec<Piece<'v>>) {
    for part in parts {
        match part {
            WordPart::Plain(text) | WordPart::Slot(Said::Plain(text)) => match found.last_mut() {
                Some(Piece::Plain(last)) => last.push_str(text),
                _ => found.push(Piece::Plain(text.clone())),
            },
            WordPart::Slot(slot) => found.push(Piece::Slot(slot)),
            WordPart::Span(_, inner) => pieces(inner, found),
        }
    }
}

/// The slots of the request with what they show; nothing if the request is not what its voice says.
pub(super) fn filled<'v>(subject: &'v RequestSubject<'_>) -> Option<Vec<Filled<'v>>> {
    let voice = subject.task.sealed.case["voice"].as_str()?;
    let mut found = Vec::new();
    pieces(subject.scenario.voice(voice)?, &mut found);
    if let Some(variant) = subject.variant() {
        pieces(&variant.adds, &mut found);
    }
    // The text is trimmed as a whole.
    if let Some(Piece::Plain(first)) = found.first_mut() {
        *first = first.trim_start().to_owned();
    }
    if let Some(Piece::Plain(last)) = found.last_mut() {
        *last = last.trim_end().to_owned();
    }
    let mut shown = Vec::new();
    fits(&found, subject.request(), &mut shown).then(|| {
        let slots = found.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(*slot),
            Piece::Plain(_) => None,
        });
        slots.zip(shown).map(|(slot, shows)| Filled { slot, shows }).collect()
    })
}

/// Whether a text is made of these pieces, with what stands in the places of slots.
fn fits(pieces: &[Piece<'_>], text: &str, shown: &mut Vec<String>) -> bool {
    match pieces {
        [] => text.is_empty(),
        [Piece::Plain(plain), rest @ ..] => {
            text.strip_prefix(plain.as_str()).is_some_and(|text| fits(rest, text, shown))
        }
        [Piece::Slot(_)] => {
            shown.push(text.to_owned());
            !text.is_empty()
        }
        [Piece::Slot(_), rest @ ..] => {
            // The slot ends where the next piece of text begins; the nearest place first.
            let next = match &rest[0] {
                Piece::Plain(plain) => plain.as_str(),
                Piece::Slot(_) => "",
            };
            let depth = shown.len();
            for (at, _) in text.char_indices().filter(|(at, _)| *at > 0 && text[*at..].starts_with(next)) {
                shown.push(text[..at].to_owned());
                if fits(rest, &text[at..], shown) {
                    return true;
                }
                shown.truncate(depth);
            }
            // Only an empty piece can follow the whole text.
            if next.is_empty() && rest.len() == 1 {
                shown.push(text.to_owned());
                return fits(rest, "", shown);
            }
            false
        }
    }
}
