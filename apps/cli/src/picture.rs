//! A picture of a domain's tables and references, as SVG: what refers stands right of what it refers to. A table that many
//! refer to would drown the rest in lines, so references to it stand as words in the boxes.

use benchwright_base::{RelationId, TableId};
use benchwright_expr::Type;
use benchwright_schema::{Domain, Table};
use std::{collections::BTreeMap, fmt::Write as _};

/// A table that more others than this refer to is named in their boxes instead of drawn to.
const MOST_LINES: usize = 9;
const WIDTH: usize = 230;
const GAP: (usize, usize) = (110, 16);
const LINE: usize = 15;
const MARGIN: usize = 24;
const HEAD: usize = 72;
/// Characters that fit into a line of a box.
const FIT: usize = 36;
/// One colour for the lines to a table, in turns.
const COLOURS: [&str; 8] = ["#2f6f9f", "#b5543c", "#4d8a4a", "#8a5fa8", "#a6862b", "#3b8a8a", "#a8487a", "#6a6a6a"];

struct Card {
    /// Lines of small print: the references that are not drawn.
    notes: Vec<String>,
    column: usize,
    top: usize,
}

impl Card {
    fn height(&self) -> usize {
        30 + LINE * self.notes.len()
    }

    fn left(&self) -> usize {
        MARGIN + self.column * (WIDTH + GAP.0)
    }

    fn middle(&self) -> usize {
        self.top + self.height() / 2
    }
}

/// The picture.
pub(crate) fn of_tables(domain: &Domain) -> String {
    let lines = drawn(domain);
    let columns = columns(domain.tables.len(), &lines);
    let mut boxes: Vec<Card> = domain
        .tables
        .iter()
        .zip(columns)
        .map(|(table, column)| Card { notes: notes(domain, table), column, top: 0 })
        .collect();
    let height = place(&mut boxes, &lines);
    let width = boxes.iter().map(|one| one.left() + WIDTH).max().unwrap_or_default() + MARGIN;
    draw(domain, &boxes, &lines, width, height)
}

/// Whether references to a table are words, not lines.
fn is_hub(domain: &Domain, id: TableId) -> bool {
    let mut by: Vec<TableId> = domain.table(id).incoming.iter().map(|incoming| incoming.table).collect();
    by.sort();
    by.dedup();
    by.len() > MOST_LINES
}

/// The tables that a table refers to, each with how often and whether it owns it.
fn targets(table: &Table) -> BTreeMap<TableId, (usize, bool)> {
    let mut targets = BTreeMap::new();
    for field in &table.fields[1..] {
        if let Type::Ref(to) = field.ty {
            let entry: &mut (usize, bool) = targets.entry(to).or_default();
            entry.0 += 1;
            entry.1 |= field.owned;
        }
    }
    targets
}

/// The lines: from, to, owned.
fn drawn(domain: &Domain) -> Vec<(usize, usize, bool)> {
    let mut lines = Vec::new();
    for (from, table) in domain.tables.iter().enumerate() {
        for (to, (_, owned)) in targets(table) {
            if to.index() != from && !is_hub(domain, to) {
                lines.push((from, to.index(), owned));
            }
        }
    }
    lines
}

/// What is said in the box instead of drawn, in lines that fit.
fn notes(domain: &Domain, table: &Table) -> Vec<String> {
    let mut words = Vec::new();
    for (to, (count, _)) in targets(table) {
        let other = domain.table(to);
        if is_hub(domain, to) || other.name == table.name {
            let name = if other.name == table.name { "itself" } else { &other.name };
            words.push(if count > 1 { format!("{name} ×{count}") } else { name.to_owned() });
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let comma = if nth + 1 < words.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() + 3 <= FIT => {
                let _ = write!(line, " {word}{comma}");
            }
            Some(_) => lines.push(format!("{word}{comma}")),
            None => lines.push(format!("→ {word}{comma}")),
        }
    }
    lines
}

/// A column for each table, right of all it refers to; a reference that would close a circle is left aside.
fn columns(count: usize, lines: &[(usize, usize, bool)]) -> Vec<usize> {
    let mut columns: Vec<Option<usize>> = vec![None; count];
    fn column(
        at: usize,
        lines: &[(usize, usize, bool)],
        columns: &mut [Option<usize>],
        open: &mut Vec<usize>,
    ) -> usize {
        if let Some(known) = columns[at] {
            return known;
        }
        open.push(at);
        let mut own = 0;
        for (_, to, _) in lines.iter().filter(|(from, ..)| *from == at) {
            if !open.contains(to) {
                own = own.max(1 + column(*to, lines, columns, open));
            }
        }
        open.pop();
        columns[at] = Some(own);
        own
    }
    (0..count).map(|at| column(at, lines, &mut columns, &mut Vec::new())).collect()
}

/// Places the boxes of each column one under the other, near what they are joined to; gives the height of the picture.
fn place(boxes: &mut [Card], lines: &[(usize, usize, bool)]) -> usize {
    let last = boxes.iter().map(|one| one.column).max().unwrap_or_default();
    let mut order: Vec<Vec<usize>> = (0..=last).map(|column| members(boxes, column)).collect();
    let heights: Vec<usize> = order.iter().map(|column| tall(boxes, column)).collect();
    let tallest = heights.iter().copied().max().unwrap_or_default();
    // A few sweeps to and fro bring neighbours near each other.
    for sweep in 0..12 {
        for step in 0..=last {
            let at = if sweep % 2 == 0 { step } else { last - step };
            if sweep > 0 {
                let mut wished: Vec<(usize, usize)> =
                    order[at].iter().map(|nth| (wish(boxes, lines, *nth), *nth)).collect();
                wished.sort();
                order[at] = wished.into_iter().map(|(_, nth)| nth).collect();
            }
            // A column that is short is spread over the height.
            let count = order[at].len();
            let spare = (tallest - heights[at]) / (count + 1);
            let mut top = HEAD + spare.min(tallest);
            for nth in &order[at] {
                boxes[*nth].top = top;
                top += boxes[*nth].height() + GAP.1 + spare;
            }
        }
    }
    HEAD + tallest + MARGIN
}

fn members(boxes: &[Card], column: usize) -> Vec<usize> {
    (0..boxes.len()).filter(|nth| boxes[*nth].column == column).collect()
}

fn tall(boxes: &[Card], column: &[usize]) -> usize {
    column.iter().map(|nth| boxes[*nth].height() + GAP.1).sum()
}

/// Where a box would like to be: in the middle of those it is joined to.
fn wish(boxes: &[Card], lines: &[(usize, usize, bool)], nth: usize) -> usize {
    let joined = lines.iter().filter_map(|(from, to, _)| match (*from == nth, *to == nth) {
        (true, _) => Some(boxes[*to].middle()),
        (_, true) => Some(boxes[*from].middle()),
        _ => None,
    });
    let joined: Vec<usize> = joined.collect();
    if joined.is_empty() { boxes[nth].middle() } else { joined.iter().sum::<usize>() / joined.len() }
}

fn draw(domain: &Domain, boxes: &[Card], lines: &[(usize, usize, bool)], width: usize, height: usize) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"32\" font-size=\"17\" font-weight=\"bold\" fill=\"#1d2733\">{}: {} tables, {} references</text>\n",
        escaped(&domain.name),
        domain.tables.len(),
        domain.reference_count(),
    );
    for (from, to, owned) in lines {
        let (from, target) = (&boxes[*from], &boxes[*to]);
        // Right side of what is referred to, left side of what refers; within a column, a bow on the left.
        let (x1, y1) = (from.left(), from.middle());
        let (x2, y2) = (target.left() + WIDTH, target.middle());
        let bend = GAP.0 * 3 / 5;
        let (path, end) = if target.column < from.column {
            (format!("M{x1} {y1} C{} {y1} {} {y2} {x2} {y2}", x1 - bend, x2 + bend), x2)
        } else {
            let x2 = target.left();
            let far = x1.min(x2).saturating_sub(MARGIN - 6);
            (format!("M{x1} {y1} C{far} {y1} {far} {y2} {x2} {y2}"), x2)
        };
        let colour = COLOURS[*to % COLOURS.len()];
        let stroke = if *owned { "2.2" } else { "1.1" };
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{stroke}\" stroke-opacity=\"0.75\"/>\
             <circle cx=\"{end}\" cy=\"{y2}\" r=\"3\" fill=\"{colour}\"/>"
        );
    }
    for (nth, (table, one)) in domain.tables.iter().zip(boxes).enumerate() {
        let (left, top, tall) = (one.left(), one.top, one.height());
        let hub = is_hub(domain, RelationId(nth as u16));
        let fill = if hub { "#fff3d6" } else { "#f4f7fa" };
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{tall}\" rx=\"5\" fill=\"{fill}\" stroke=\"#8796a5\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\" fill=\"#1d2733\">{}</text>\
             <text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#6b7885\" text-anchor=\"end\">{}</text>",
            left + 10,
            top + 20,
            escaped(&table.name),
            left + WIDTH - 8,
            top + 20,
            table.fields.len() - 1,
        );
        for (nth, note) in one.notes.iter().enumerate() {
            let y = top + 20 + LINE * (nth + 1);
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{y}\" font-size=\"11\" fill=\"#4a5866\">{}</text>",
                left + 10,
                escaped(note)
            );
        }
    }
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"52\" font-size=\"11\" fill=\"#6b7885\">A line ends with a dot at what is referred to; thick: the row \
         dies with it. Yellow: referred to by many, and named in the boxes. The number counts fields.</text>\n</svg>"
    );
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use benchwright_catalog::Catalog;

    #[test]
    fn no_boxes_overlap_and_every_reference_is_there_as_a_line_or_a_word() {
        for name in ["csm", "itsm", "drive"] {
            let domain = Catalog::built_in().find(name).unwrap().domain;
            let lines = drawn(&domain);
            let columns = columns(domain.tables.len(), &lines);
            let mut boxes: Vec<Card> = domain
                .tables
                .iter()
                .zip(columns)
                .map(|(table, column)| Card { notes: notes(&domain, table), column, top: 0 })
                .collect();
            let height = place(&mut boxes, &lines);
            for (nth, one) in boxes.iter().enumerate() {
                assert!(one.top >= HEAD && one.top + one.height() <= height, "{name}: outside");
                for other in boxes[nth + 1..].iter().filter(|other| other.column == one.column) {
                    assert!(one.top + one.height() <= other.top || other.top + other.height() <= one.top, "{name}");
                }
            }
            let all: usize = domain.tables.iter().map(|table| targets(table).len()).sum();
            let words: usize = boxes.iter().flat_map(|one| &one.notes).map(|note| note.split(", ").count()).sum();
            let breaks: usize = boxes.iter().flat_map(|one| &one.notes).filter(|note| note.ends_with(',')).count();
            assert_eq!(lines.len() + words, all, "{name}: {breaks} lines are broken");
        }
    }
}
