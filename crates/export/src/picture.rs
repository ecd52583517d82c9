//! The tables of a world as a picture: a panel for each domain, tables in columns so that references point to the left, and what
//! is referred to from everywhere as a coloured dot instead of a tangle of lines. The same domain gives the same bytes.

use benchwright_base::TableId;
use benchwright_draw::{Area, Drawing, SERIES, Words};
use benchwright_expr::Type;
use benchwright_schema::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// A table that so many others refer to is shown by dots.
const MANY: usize = 7;
/// The height of a box, and of a box with the gap below it.
const BOX: f64 = 22.0;
const STEP: f64 = 29.0;
/// The mean width of a letter.
const LETTER: f64 = 7.0;
/// From dot to dot.
const DOT: f64 = 9.0;
/// Between two columns.
const GAP: f64 = 44.0;
const MARGIN: f64 = 24.0;
/// Inside a panel, left and right.
const INSET: f64 = 16.0;
/// Left of the panels, where the line that joins people runs.
const BRIDGE: f64 = 20.0;
/// Above the boxes of a panel.
const HEAD: f64 = 64.0;
/// Above the first panel.
const TOP: f64 = 78.0;
/// The most boxes of a column.
const TALLEST: usize = 16;

/// Where the boxes of tables are.
type Places = BTreeMap<usize, Area>;

/// A domain on its own within the picture.
struct Panel {
    name: String,
    /// The tables, by column.
    columns: Vec<Vec<usize>>,
    /// Those shown by dots, with their colours.
    hubs: Vec<usize>,
    person: Option<usize>,
}

/// Draws the tables of a domain, joined or not, as SVG.
pub fn picture(domain: &Domain) -> String {
    let links = links(domain);
    let panels: Vec<Panel> = match &domain.members[..] {
        [] => vec![panel(&domain.name, 0..domain.tables.len(), domain.actor, &links)],
        members => {
            // What there is once stands with the first.
            let from = |at: usize, start: usize| if at == 0 { 0 } else { start };
            let range = |(at, m): (usize, &benchwright_schema::Member)| {
                panel(&m.name, from(at, m.tables.start)..m.tables.end, m.actor, &links)
            };
            members.iter().enumerate().map(range).collect()
        }
    };
    let left = MARGIN + if panels.len() > 1 { BRIDGE } else { 0.0 };
    let (mut places, mut frames, mut top) = (Places::new(), Vec::new(), TOP);
    for panel in &panels {
        let (width, height) = lay_out(domain, panel, &links, (left, top), &mut places);
        frames.push(Area { x: left, y: top, width, height });
        top += height + MARGIN;
    }
    let widest = frames.iter().map(|frame| frame.width).fold(0.0, f64::max);
    let counts = format!("{} tables, {} references", domain.tables.len(), domain.reference_count());
    let words = Words { title: &domain.name, description: &format!("{}: {counts}", domain.title) };
    let mut drawing = Drawing::new(words, left + widest + MARGIN, top + 26.0);
    drawing.text("head", (left, 36.0), words.title);
    drawing.text("note", (left, 58.0), words.description);
    for (panel, frame) in panels.iter().zip(&frames) {
        drawing.area("panel", Area { width: widest, ..*frame }, 10.0);
        draw_head(domain, panel, (left, frame.y), &mut drawing);
    }
    for panel in &panels {
        draw_lines(panel, &links, &places, &mut drawing);
    }
    for panel in &panels {
        draw_boxes(domain, panel, &links, &places, &mut drawing);
    }
    draw_bridge(&panels, &places, &mut drawing);
    let note =
        "An arrow leads from a table to one that it refers to; a dot is a reference to the table of that colour.";
    let people = if panels.len() > 1 { " The thick line joins the same people." } else { "" };
    drawing.text("note", (left, top + 8.0), &format!("{note}{people}"));
    drawing.file()
}

/// For each table those it refers to, without itself.
fn links(domain: &Domain) -> Vec<BTreeSet<usize>> {
    let of_table = |(at, table): (usize, &benchwright_schema::Table)| {
        let to = table.fields[1..].iter().filter_map(|field| match field.ty {
            Type::Ref(to) if to.index() != at => Some(to.index()),
            _ => None,
        });
        to.collect()
    };
    domain.tables.iter().enumerate().map(of_table).collect()
}

fn panel(name: &str, tables: std::ops::Range<usize>, person: Option<TableId>, links: &[BTreeSet<usize>]) -> Panel {
    let incoming = |table: usize| tables.clone().filter(|from| links[*from].contains(&table)).count();
    let mut hubs: Vec<usize> = tables.clone().filter(|table| incoming(*table) >= MANY).collect();
    let person = person.map(TableId::index);
    hubs.extend(person.filter(|person| !hubs.contains(person)));
    hubs.sort_by_key(|table| (Some(*table) != person, std::cmp::Reverse(incoming(*table)), *table));
    hubs.truncate(SERIES);
    let drawn = |from: usize| links[from].iter().copied().filter(|to| !hubs.contains(to));

    // A table stands right of all that it refers to; a circle is cut where it closes.
    let drawn_from = |from: usize| drawn(from).filter(|_| !hubs.contains(&from)).collect::<Vec<_>>();
    let mut depth: BTreeMap<usize, usize> = BTreeMap::new();
    for table in tables.clone() {
        deep(table, &drawn_from, &mut Vec::new(), &mut depth);
    }
    let tables: Vec<usize> = tables.filter(|table| !hubs.contains(table)).collect();
    let levels = depth.values().max().map_or(0, |deepest| deepest + 1);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); levels];
    for table in tables {
        columns[depth[&table]].push(table);
    }
    // What is shown by dots stands first; too tall a column is cut in two.
    let mut cut: Vec<Vec<usize>> = vec![hubs.clone()];
    for column in columns.into_iter().filter(|column| !column.is_empty()) {
        let pieces = column.len().div_ceil(TALLEST).max(1);
        let each = column.len().div_ceil(pieces).max(1);
        cut.extend(column.chunks(each).map(<[usize]>::to_vec));
    }
    untangle(&mut cut, &|from| drawn(from).collect());
    Panel { name: name.to_owned(), columns: cut, hubs, person }
}

/// How many references lie one behind the other from a table on.
fn deep(
    table: usize,
    to: &dyn Fn(usize) -> Vec<usize>,
    open: &mut Vec<usize>,
    depth: &mut BTreeMap<usize, usize>,
) -> usize {
    if let Some(known) = depth.get(&table) {
        return *known;
    }
    open.push(table);
    let next: Vec<usize> = to(table).into_iter().filter(|next| !open.contains(next)).collect();
    let found = next.into_iter().map(|next| deep(next, to, open, depth) + 1).max().unwrap_or_default();
    open.pop();
    depth.insert(table, found);
    found
}

/// Orders each column by where the neighbours of its tables stand, a few times back and forth.
fn untangle(columns: &mut [Vec<usize>], to: &dyn Fn(usize) -> Vec<usize>) {
    for _ in 0..12 {
        let mut height: BTreeMap<usize, i64> = BTreeMap::new();
        for column in columns.iter() {
            for (at, table) in column.iter().enumerate() {
                height.insert(*table, 1000 * (2 * at as i64 + 1) / (2 * column.len() as i64));
            }
        }
        let mut beside: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for from in height.keys().copied() {
            for to in to(from) {
                beside.entry(from).or_default().push(height[&to]);
                beside.entry(to).or_default().push(height[&from]);
            }
        }
        let middle = |table: &usize| match beside.get(table) {
            Some(list) => list.iter().sum::<i64>() / list.len() as i64,
            None => 1001,
        };
        for column in columns.iter_mut().skip(1) {
            column.sort_by_key(|table| (middle(table), *table));
        }
    }
}

/// Gives every table of a panel its place; returns the panel's size.
fn lay_out(
    domain: &Domain,
    panel: &Panel,
    links: &[BTreeSet<usize>],
    (left, top): (f64, f64),
    places: &mut Places,
) -> (f64, f64) {
    let tallest = panel.columns.iter().map(Vec::len).max().unwrap_or_default() as f64;
    let mut x = left + INSET;
    for column in &panel.columns {
        let longest = column.iter().map(|at| domain.tables[*at].own_name().len()).max().unwrap_or_default();
        let dots = column.iter().map(|at| panel.hubs.iter().filter(|hub| links[*at].contains(hub)).count()).max();
        let width = longest as f64 * LETTER + 18.0 + dots.unwrap_or_default() as f64 * DOT;
        let free = (tallest - column.len() as f64) * STEP / 2.0;
        for (at, table) in column.iter().enumerate() {
            let y = top + HEAD + free + at as f64 * STEP;
            places.insert(*table, Area { x, y, width, height: BOX });
        }
        x += width + GAP;
    }
    (x - GAP + INSET - left, HEAD + tallest * STEP + 10.0)
}

fn draw_head(domain: &Domain, panel: &Panel, (left, top): (f64, f64), out: &mut Drawing) {
    out.text("sub", (left + INSET, top + 25.0), &panel.name);
    let mut at = left + INSET;
    for (series, hub) in panel.hubs.iter().enumerate() {
        let name = domain.tables[*hub].own_name();
        out.dot(&format!("series{series}"), (at + 4.0, top + 43.0), 4.0);
        out.text("note", (at + 13.0, top + 47.0), name);
        at += 30.0 + name.len() as f64 * LETTER;
    }
}

fn draw_lines(panel: &Panel, links: &[BTreeSet<usize>], places: &Places, out: &mut Drawing) {
    for from in panel.columns.iter().flatten() {
        for to in links[*from].iter().filter(|to| !panel.hubs.contains(to)) {
            let (Some(a), Some(b)) = (places.get(from), places.get(to)) else { continue };
            // From the side that faces the other; two of one column are joined on the left.
            let (ax, bx) = match a.x.total_cmp(&b.x) {
                std::cmp::Ordering::Greater => (a.x, b.x + b.width),
                std::cmp::Ordering::Less => (a.x + a.width, b.x),
                std::cmp::Ordering::Equal => (a.x, b.x),
            };
            let half = (bx - ax) / 2.0;
            let bend = if a.x == b.x { (-26.0, -26.0) } else { (half, -half) };
            out.arrow((ax, a.y + BOX / 2.0), (bx, b.y + BOX / 2.0), bend);
        }
    }
}

fn draw_boxes(domain: &Domain, panel: &Panel, links: &[BTreeSet<usize>], places: &Places, out: &mut Drawing) {
    for table in panel.columns.iter().flatten() {
        let Some(area) = places.get(table) else { continue };
        let hub = panel.hubs.iter().position(|hub| hub == table);
        out.area(&hub.map_or("box".to_owned(), |series| format!("box series{series}")), *area, 4.0);
        let name = domain.tables[*table].own_name();
        out.text(if hub.is_some() { "on" } else { "" }, (area.x + 7.0, area.y + 15.0), name);
        let mut dot = area.x + area.width - DOT;
        for series in (0..panel.hubs.len()).filter(|at| links[*table].contains(&panel.hubs[*at])) {
            out.dot(&format!("ring series{series}"), (dot, area.y + BOX / 2.0), 3.2);
            dot -= DOT;
        }
    }
}

/// The line through the tables of people.
fn draw_bridge(panels: &[Panel], places: &Places, out: &mut Drawing) {
    let people: Vec<&Area> = panels.iter().filter_map(|panel| places.get(&panel.person?)).collect();
    let x = MARGIN + 4.0;
    let middle = |place: &Area| place.y + BOX / 2.0;
    for pair in people.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let corners = [(a.x, middle(a)), (x, middle(a)), (x, middle(b)), (b.x, middle(b))];
        out.polyline("bridge series0", &corners);
    }
}
