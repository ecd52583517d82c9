//! The tables of a world as a picture: a panel for each domain, tables in columns so that references point to the left, and what
//! is referred to from everywhere as a coloured dot instead of a tangle of lines. The same domain gives the same bytes.

use benchwright_base::TableId;
use benchwright_expr::Type;
use benchwright_schema::Domain;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A table that so many others refer to is shown by dots.
const MANY: usize = 7;
/// No more colours than these can be told apart.
const COLOURS: [&str; 6] = ["#d1495b", "#2e86ab", "#3a7d44", "#b8860b", "#7b4fa3", "#5c6770"];
const PANELS: [&str; 4] = ["#f3f6fa", "#faf6f0", "#f2f8f3", "#f8f3f8"];
/// The height of a box, and of a box with the gap below it.
const BOX: i64 = 22;
const STEP: i64 = 29;
/// Between two columns.
const GAP: i64 = 44;
const MARGIN: i64 = 24;
/// Above the boxes of a panel.
const HEAD: i64 = 64;
/// The most boxes of a column.
const TALLEST: usize = 16;

/// Where the box of a table is.
#[derive(Clone, Copy)]
struct Place {
    x: i64,
    y: i64,
    wide: i64,
}

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
        members => members.iter().map(|m| panel(&m.name, m.tables.clone(), m.actor, &links)).collect(),
    };
    let (mut body, mut places) = (String::new(), BTreeMap::new());
    let mut top = 78;
    let mut right = 0;
    let mut frames = Vec::new();
    for panel in &panels {
        let (wide, high) = lay_out(domain, panel, &links, top, &mut places);
        frames.push((top, wide, high));
        right = right.max(wide);
        top += high + MARGIN;
    }
    let wide = right + 3 * MARGIN + if panels.len() > 1 { 20 } else { 0 };
    let high = top + 26;
    for (at, (panel, (top, _, high))) in panels.iter().zip(&frames).enumerate() {
        let colour = PANELS[at % PANELS.len()];
        let x = left(&panels);
        let _ = writeln!(
            body,
            r##"<rect x="{x}" y="{top}" width="{}" height="{high}" rx="10" fill="{colour}" stroke="#d5dbe3"/>"##,
            right
        );
        draw_head(domain, panel, x, *top, &mut body);
    }
    for panel in &panels {
        draw_lines(panel, &links, &places, &mut body);
    }
    for panel in &panels {
        draw_boxes(domain, panel, &links, &places, &mut body);
    }
    draw_bridge(&panels, &places, &mut body);
    let shown = text(&domain.title);
    let counts = format!("{} tables, {} references", domain.tables.len(), domain.reference_count());
    let note =
        "An arrow leads from a table to one that it refers to; a dot is a reference to the table of that colour.";
    let people = if panels.len() > 1 { " The thick line joins the same people." } else { "" };
    let x = left(&panels);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#1f2933\">\n\
         <defs><marker id=\"to\" markerWidth=\"6\" markerHeight=\"6\" refX=\"5\" refY=\"3\" orient=\"auto\">\
         <path d=\"M0 0L6 3L0 6z\" fill=\"#8fa1b5\"/></marker></defs>\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"#ffffff\"/>\n\
         <text x=\"{x}\" y=\"36\" font-size=\"20\" font-weight=\"bold\">{}</text>\n\
         <text x=\"{x}\" y=\"58\" font-size=\"13\" fill=\"#52606d\">{shown}: {counts}</text>\n\
         {body}<text x=\"{x}\" y=\"{}\" fill=\"#52606d\">{note}{people}</text>\n</svg>\n",
        text(&domain.name),
        high - 18,
    )
}

/// Where panels begin: beside the line that joins people, if there is one.
fn left(panels: &[Panel]) -> i64 {
    MARGIN + if panels.len() > 1 { 20 } else { 0 }
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
    hubs.truncate(COLOURS.len());
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
    top: i64,
    places: &mut BTreeMap<usize, Place>,
) -> (i64, i64) {
    let tallest = panel.columns.iter().map(Vec::len).max().unwrap_or_default() as i64;
    let mut x = MARGIN + 20 + 16;
    for column in &panel.columns {
        let longest = column.iter().map(|at| domain.tables[*at].own_name().len()).max().unwrap_or_default() as i64;
        let dots = column.iter().map(|at| panel.hubs.iter().filter(|hub| links[*at].contains(hub)).count()).max();
        let wide = longest * 6 + 18 + dots.unwrap_or_default() as i64 * 9;
        let free = (tallest - column.len() as i64) * STEP / 2;
        for (at, table) in column.iter().enumerate() {
            let y = top + HEAD + free + at as i64 * STEP;
            places.insert(*table, Place { x, y, wide });
        }
        x += wide + GAP;
    }
    (x - GAP + 16 - (MARGIN + 20), HEAD + tallest * STEP + 10)
}

fn draw_head(domain: &Domain, panel: &Panel, x: i64, top: i64, out: &mut String) {
    let _ = writeln!(
        out,
        r#"<text x="{}" y="{}" font-size="15" font-weight="bold">{}</text>"#,
        x + 16,
        top + 25,
        text(&panel.name)
    );
    let mut at = x + 16;
    for (hub, colour) in panel.hubs.iter().zip(COLOURS) {
        let name = domain.tables[*hub].own_name();
        let _ = writeln!(out, r#"<circle cx="{}" cy="{}" r="4" fill="{colour}"/>"#, at + 4, top + 43);
        let _ = writeln!(out, r##"<text x="{}" y="{}" fill="#52606d">{}</text>"##, at + 13, top + 47, text(name));
        at += 30 + name.len() as i64 * 6;
    }
}

fn draw_lines(panel: &Panel, links: &[BTreeSet<usize>], places: &BTreeMap<usize, Place>, out: &mut String) {
    for from in panel.columns.iter().flatten() {
        for to in links[*from].iter().filter(|to| !panel.hubs.contains(to)) {
            let (Some(a), Some(b)) = (places.get(from), places.get(to)) else { continue };
            let (ay, by) = (a.y + BOX / 2, b.y + BOX / 2);
            // From the side that faces the other; two of one column are joined on the left.
            let (ax, bx) = match a.x.cmp(&b.x) {
                std::cmp::Ordering::Greater => (a.x, b.x + b.wide),
                std::cmp::Ordering::Less => (a.x + a.wide, b.x),
                std::cmp::Ordering::Equal => (a.x, b.x),
            };
            let bend = if a.x == b.x { -26 } else { (bx - ax) / 2 };
            let (am, bm) = if a.x == b.x { (ax + bend, bx + bend) } else { (ax + bend, bx - bend) };
            let _ = writeln!(
                out,
                r##"<path d="M{ax} {ay}C{am} {ay} {bm} {by} {bx} {by}" fill="none" stroke="#8fa1b5" stroke-width="1.1" marker-end="url(#to)"/>"##
            );
        }
    }
}

fn draw_boxes(
    domain: &Domain,
    panel: &Panel,
    links: &[BTreeSet<usize>],
    places: &BTreeMap<usize, Place>,
    out: &mut String,
) {
    for table in panel.columns.iter().flatten() {
        let Some(Place { x, y, wide }) = places.get(table) else { continue };
        let hub = panel.hubs.iter().position(|hub| hub == table).map(|at| COLOURS[at]);
        let (fill, edge, ink) = match hub {
            Some(colour) => (colour, colour, "#ffffff"),
            None => ("#ffffff", "#7b8794", "#1f2933"),
        };
        let high = BOX;
        let _ = writeln!(
            out,
            r#"<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="4" fill="{fill}" stroke="{edge}"/>"#
        );
        let name = text(domain.tables[*table].own_name());
        let _ = writeln!(out, r#"<text x="{}" y="{}" fill="{ink}">{name}</text>"#, x + 7, y + 15);
        let mut dot = x + wide - 9;
        for (_, colour) in panel.hubs.iter().zip(COLOURS).filter(|(hub, _)| links[*table].contains(hub)) {
            let _ = writeln!(
                out,
                r##"<circle cx="{dot}" cy="{}" r="3.2" fill="{colour}" stroke="#ffffff" stroke-width="0.8"/>"##,
                y + 11
            );
            dot -= 9;
        }
    }
}

/// The line through the tables of people.
fn draw_bridge(panels: &[Panel], places: &BTreeMap<usize, Place>, out: &mut String) {
    let people: Vec<Place> = panels.iter().filter_map(|panel| places.get(&panel.person?).copied()).collect();
    if people.len() < 2 {
        return;
    }
    let x = MARGIN + 4;
    let style = r##"fill="none" stroke="#d1495b" stroke-width="3" stroke-linecap="round""##;
    let ends: Vec<i64> = people.iter().map(|place| place.y + BOX / 2).collect();
    let (top, bottom) = (ends.iter().min().copied().unwrap_or(0), ends.iter().max().copied().unwrap_or(0));
    let _ = writeln!(out, r#"<path d="M{x} {top}V{bottom}" {style}/>"#);
    for place in people {
        let y = place.y + BOX / 2;
        let _ = writeln!(out, r#"<path d="M{x} {y}H{}" {style}/>"#, place.x);
    }
}

/// Text as it stands in SVG.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
