//! Drawings: data in, one SVG out. Each has a title and a description for those who do not see it. No colour carries a
//! meaning alone, and labels stand at what they name.

use super::escape;
use crate::text::cut;

/// The width of a drawing.
const WIDTH: f64 = 960.0;
/// The mean width of a letter.
const LETTER: f64 = 6.5;
/// The same in a title.
const TITLE: f64 = 6.4;
/// The height of a row.
const ROW: f64 = 20.0;
/// Between panels.
const GAP: f64 = 22.0;
/// The narrowest panel.
const NARROWEST: f64 = 96.0;

/// What a drawing is called and what it shows, for those who do not see it.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The title.
    pub title: &'a str,
    /// What it shows.
    pub description: &'a str,
}

/// A value with its interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Mark {
    /// The value; nothing is drawn without one.
    pub value: Option<f64>,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A panel of a drawing: a title and a mark, or two, for each row.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel {
    /// The title.
    pub title: String,
    /// The marks, drawn full.
    pub marks: Vec<Mark>,
    /// A second mark for each row, drawn hollow; may be empty.
    pub hollow: Vec<Mark>,
}

/// A named point with intervals both ways.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// Its name, written beside it.
    pub name: String,
    /// Across.
    pub x: Mark,
    /// Upwards.
    pub y: Mark,
}

/// What a scale shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scale {
    /// Shares from 0 to 1, in percent.
    Percent,
    /// Shares from 0 to a largest one, in percent.
    PercentTo(f64),
    /// Correlations from -1 to 1.
    Correlation,
    /// Amounts from 0 to a largest one.
    Amount(f64),
}

impl Scale {
    /// The ends.
    fn ends(self) -> (f64, f64) {
        match self {
            Scale::Percent => (0.0, 1.0),
            Scale::Correlation => (-1.0, 1.0),
            Scale::PercentTo(most) | Scale::Amount(most) => (0.0, if most > 0.0 { most } else { 1.0 }),
        }
    }

    /// The places with a line, and what is written there.
    fn ticks(self) -> Vec<(f64, String)> {
        match self {
            Scale::Percent => vec![(0.0, "0".into()), (0.5, "50".into()), (1.0, "100 %".into())],
            Scale::Correlation => vec![(-1.0, "−1".into()), (0.0, "0".into()), (1.0, "1".into())],
            Scale::PercentTo(_) => {
                let most = self.ends().1;
                vec![(0.0, "0".into()), (most, format!("{:.0} %", most * 100.0))]
            }
            Scale::Amount(_) => {
                let most = self.ends().1;
                let step = nice(most / 4.0);
                let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
                (0..=(most / step + 1e-9) as usize)
                    .map(|n| (n as f64 * step, format!("{:.decimals$}", n as f64 * step)))
                    .collect()
            }
        }
    }

    /// Where a value lies between two places.
    fn place(self, value: f64, from: f64, to: f64) -> f64 {
        let (low, high) = self.ends();
        from + (value.clamp(low, high) - low) / (high - low) * (to - from)
    }

    /// Room at the right of a panel for the number of a row.
    fn gutter(self) -> f64 {
        if self == Scale::Correlation { 42.0 } else { 32.0 }
    }

    /// A value as it is written beside its mark.
    fn write(self, value: f64) -> String {
        match self {
            Scale::Percent | Scale::PercentTo(_) => format!("{:.0}", value * 100.0),
            Scale::Correlation => format!("{value:+.2}").replace('-', "−"),
            Scale::Amount(_) => format!("{value:.2}"),
        }
    }
}

/// The next of 1, 2 or 5 times a power of ten.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= value * 0.999).unwrap_or(10.0 * power)
}

/// A drawing being made.
struct Drawing {
    width: f64,
    height: f64,
    class: &'static str,
    body: String,
}

impl Drawing {
    fn new(width: f64, height: f64, class: &'static str) -> Drawing {
        Drawing { width, height, class, body: String::new() }
    }

    fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.body.push_str(&format!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.body.push_str(&format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text)));
    }

    fn dot(&mut self, class: &str, (x, y): (f64, f64)) {
        self.body.push_str(&format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\"/>"));
    }

    fn bar(&mut self, (x, y): (f64, f64), width: f64, height: f64) {
        self.body.push_str(&format!(
            "<rect class=\"b\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ));
    }

    fn cell(&mut self, (x, y): (f64, f64), width: f64, height: f64, depth: f64) {
        self.body.push_str(&format!(
            "<rect class=\"c\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill-opacity=\"{depth:.2}\"/>"
        ));
    }

    fn done(self, words: Words) -> String {
        let Drawing { width, height, class, body } = self;
        let (title, description) = (escape(words.title), escape(words.description));
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\"><title>{title}</title>\
             <desc>{description}</desc>{body}</svg>\n"
        )
    }
}

/// How rows and panels are laid out.
struct Layout {
    labels: Vec<String>,
    left: f64,
    panel: f64,
    per_line: usize,
}

impl Layout {
    fn new(labels: &[String], panels: usize) -> Layout {
        let labels: Vec<String> = labels.iter().map(|label| cut(label, 52)).collect();
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let left = longest as f64 * LETTER + 14.0;
        let per_line = (((WIDTH - left + GAP) / (NARROWEST + GAP)) as usize).clamp(1, panels.max(1));
        let panel = ((WIDTH - left + GAP) / per_line as f64 - GAP).min(240.0);
        Layout { labels, left, panel, per_line }
    }

    /// Draws rows of panels, each line of them as a drawing of its own; `row` draws one row between two places.
    fn draw<P>(
        &self,
        words: Words,
        scale: Scale,
        panels: &[P],
        title: fn(&P) -> &str,
        row: impl Fn(&mut Drawing, &P, usize, (f64, f64, f64)),
    ) -> String {
        let bottom = 24.0 + self.labels.len() as f64 * ROW;
        let inner = self.panel - scale.gutter();
        let mut out = String::new();
        for line in panels.chunks(self.per_line) {
            let mut drawing = Drawing::new(WIDTH, bottom + 20.0, "plot");
            for (at, panel) in line.iter().enumerate() {
                let from = self.left + at as f64 * (self.panel + GAP);
                let to = from + inner;
                drawing.text("t", (from, 11.0), &cut(title(panel), ((self.panel + GAP - 4.0) / TITLE) as usize));
                for (value, name) in scale.ticks() {
                    let x = scale.place(value, from, to);
                    let class = if scale == Scale::Correlation && value == 0.0 { "z" } else { "g" };
                    drawing.line(class, (x, 20.0), (x, bottom));
                    drawing.text("s m", (x, bottom + 14.0), &name);
                }
                for at in 0..self.labels.len() {
                    row(&mut drawing, panel, at, (from, to, 24.0 + (at as f64 + 0.5) * ROW));
                }
            }
            for (at, label) in self.labels.iter().enumerate() {
                drawing.text("e", (self.left - 14.0, 24.0 + (at as f64 + 0.5) * ROW + 4.0), label);
            }
            out.push_str(&drawing.done(words));
        }
        out
    }
}

/// Dots with whiskers: a row for each label, a panel for each title.
pub fn dots(words: Words, labels: &[String], panels: &[Panel], scale: Scale) -> String {
    Layout::new(labels, panels.len()).draw(
        words,
        scale,
        panels,
        |panel| &panel.title,
        |drawing, panel, at, (from, to, y)| {
            let x = |value: f64| scale.place(value, from, to);
            let mark = panel.marks.get(at).copied().unwrap_or_default();
            let hollow = panel.hollow.get(at).copied().unwrap_or_default();
            if let (Some(low), Some(high)) = (mark.low, mark.high) {
                drawing.line("w", (x(low), y), (x(high), y));
            }
            if let Some(value) = hollow.value {
                drawing.dot("h", (x(value), y));
            }
            match mark.value {
                Some(value) => {
                    drawing.dot("p", (x(value), y));
                    drawing.text("s e", (to + scale.gutter(), y + 4.0), &scale.write(value));
                }
                None => drawing.text("s e", (to + scale.gutter(), y + 4.0), "–"),
            }
        },
    )
}

/// Bars: a row for each label, a panel for each title. Shares from 0 to the largest one.
pub fn bars(words: Words, labels: &[String], panels: &[Panel]) -> String {
    let most = panels.iter().flat_map(|panel| &panel.marks).filter_map(|mark| mark.value).fold(0.0, f64::max);
    let scale = Scale::PercentTo(((most * 10.0).ceil() / 10.0).clamp(0.1, 1.0));
    Layout::new(labels, panels.len()).draw(
        words,
        scale,
        panels,
        |panel| &panel.title,
        |drawing, panel, at, (from, to, y)| {
            if let Some(value) = panel.marks.get(at).and_then(|mark| mark.value) {
                let end = scale.place(value, from, to);
                drawing.bar((from, y - 5.0), end - from, 10.0);
                drawing.text("s", (end + 4.0, y + 4.0), &scale.write(value));
            }
        },
    )
}

/// Lines over ordered groups: a panel for each title, the groups across, shares upwards, with whiskers.
pub fn lines(words: Words, groups: &[String], panels: &[Panel]) -> String {
    const HIGH: f64 = 120.0;
    let scale = Scale::Percent;
    let per_line = panels.len().clamp(1, 5);
    let left = 44.0;
    let panel_width = ((WIDTH - left + GAP) / per_line as f64 - GAP).min(260.0);
    let mut out = String::new();
    for line in panels.chunks(per_line) {
        let mut drawing = Drawing::new(WIDTH, HIGH + 56.0, "plot");
        let (top, bottom) = (22.0, 22.0 + HIGH);
        for (at, panel) in line.iter().enumerate() {
            let from = left + at as f64 * (panel_width + GAP);
            drawing.text("t", (from, 11.0), &cut(&panel.title, ((panel_width + GAP - 4.0) / TITLE) as usize));
            for (value, name) in scale.ticks() {
                let y = scale.place(value, bottom, top);
                drawing.line("g", (from, y), (from + panel_width, y));
                if at == 0 {
                    drawing.text("s e", (from - 6.0, y + 4.0), &name);
                }
            }
            let x = |at: usize| from + (at as f64 + 0.5) * panel_width / groups.len().max(1) as f64;
            let known: Vec<(usize, &Mark, f64)> =
                panel.marks.iter().enumerate().filter_map(|(at, mark)| Some((at, mark, mark.value?))).collect();
            for pair in known.windows(2) {
                let end = |of: &(usize, &Mark, f64)| (x(of.0), scale.place(of.2, bottom, top));
                drawing.line("l", end(&pair[0]), end(&pair[1]));
            }
            for (at, mark, value) in known {
                if let (Some(low), Some(high)) = (mark.low, mark.high) {
                    drawing.line("w", (x(at), scale.place(low, bottom, top)), (x(at), scale.place(high, bottom, top)));
                }
                drawing.dot("p", (x(at), scale.place(value, bottom, top)));
            }
            for (at, name) in groups.iter().enumerate() {
                drawing.text("s m", (x(at), bottom + 15.0), &cut(name, 9));
            }
        }
        out.push_str(&drawing.done(words));
    }
    out
}

/// Named points. `x` and `y` are the names of the axes; upwards are shares. With `diagonal`, equal values meet on a line.
pub fn scatter(words: Words, (x_name, y_name): (&str, &str), spots: &[Spot], x_scale: Scale, diagonal: bool) -> String {
    const SIDE: f64 = 300.0;
    let (left, top) = (54.0, 24.0);
    let (right, bottom) = (left + SIDE + 30.0, top + SIDE);
    let mut drawing = Drawing::new(560.0, bottom + 40.0, "half");
    let x = |value: f64| x_scale.place(value, left, right);
    let y = |value: f64| Scale::Percent.place(value, bottom, top);
    for (value, name) in Scale::Percent.ticks() {
        drawing.line("g", (left, y(value)), (right, y(value)));
        drawing.text("s e", (left - 7.0, y(value) + 4.0), &name);
    }
    for (value, name) in x_scale.ticks() {
        drawing.line("g", (x(value), top), (x(value), bottom));
        drawing.text("s m", (x(value), bottom + 15.0), &name);
    }
    if diagonal {
        drawing.line("d", (left, bottom), (right, top));
    }
    drawing.text("m", ((left + right) / 2.0, bottom + 33.0), x_name);
    drawing.text("", (0.0, 11.0), y_name);
    let mut placed: Vec<(f64, f64, &str)> = Vec::new();
    for spot in spots {
        let (Some(across), Some(up)) = (spot.x.value, spot.y.value) else { continue };
        let at = (x(across), y(up));
        if let (Some(low), Some(high)) = (spot.y.low, spot.y.high) {
            drawing.line("w", (at.0, y(low)), (at.0, y(high)));
        }
        if let (Some(low), Some(high)) = (spot.x.low, spot.x.high) {
            drawing.line("w", (x(low), at.1), (x(high), at.1));
        }
        drawing.dot("p", at);
        placed.push((at.0, at.1, &spot.name));
    }
    names(&mut drawing, &placed);
    drawing.done(words)
}

/// Writes the names beside their points: at the first corner where a name meets neither another name nor a point, or else
/// above, with a thin line to its point.
fn names(drawing: &mut Drawing, placed: &[(f64, f64, &str)]) {
    // Left, top, right and bottom of what is taken.
    let mut taken: Vec<[f64; 4]> = placed.iter().map(|(x, y, _)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
    for (dot_x, dot_y, name) in placed {
        let name = cut(name, 28);
        let width = name.chars().count() as f64 * LETTER;
        let area = |x: f64, y: f64| [x, y - 10.0, x + width, y + 3.0];
        let free = |taken: &[[f64; 4]], [left, top, right, bottom]: [f64; 4]| {
            !taken.iter().any(|other| left < other[2] && other[0] < right && top < other[3] && other[1] < bottom)
        };
        let corners = [
            (dot_x + 7.0, dot_y - 6.0),
            (dot_x + 7.0, dot_y + 14.0),
            (dot_x - 7.0 - width, dot_y - 6.0),
            (dot_x - 7.0 - width, dot_y + 14.0),
        ];
        let inside = |(x, _): &(f64, f64)| *x > 60.0;
        let corner = corners.into_iter().filter(inside).find(|(x, y)| free(&taken, area(*x, *y)));
        let (x, y) = corner.unwrap_or_else(|| {
            let (x, mut y) = (dot_x + 7.0, dot_y - 6.0);
            while !free(&taken, area(x, y)) {
                y -= 2.0;
            }
            drawing.line("k", (dot_x + 3.0, dot_y - 3.0), (x + 1.0, y + 2.0));
            (x, y)
        });
        drawing.text("", (x, y), &name);
        taken.push(area(x, y));
    }
}

/// A heat map: shares over two axes, the number in each cell and a dash where there is none. A panel for each title; the marks
/// of a panel go row by row.
pub fn heat(words: Words, rows: &[String], columns: &[String], panels: &[Panel]) -> String {
    let layout = Layout::new(rows, panels.len());
    let bottom = 24.0 + rows.len() as f64 * ROW;
    let step = layout.panel / columns.len().max(1) as f64;
    let mut out = String::new();
    for line in panels.chunks(layout.per_line) {
        let mut drawing = Drawing::new(WIDTH, bottom + 20.0, "plot");
        for (at, panel) in line.iter().enumerate() {
            let from = layout.left + at as f64 * (layout.panel + GAP);
            drawing.text("t", (from, 11.0), &cut(&panel.title, ((layout.panel + GAP - 4.0) / TITLE) as usize));
            for (at, mark) in panel.marks.iter().enumerate().take(rows.len() * columns.len()) {
                let (x, y) = (from + (at % columns.len()) as f64 * step, 24.0 + (at / columns.len()) as f64 * ROW);
                if let Some(value) = mark.value {
                    // Never so dark that the number on it could not be read.
                    drawing.cell((x, y), step - 1.0, ROW - 1.0, 0.04 + 0.5 * value.clamp(0.0, 1.0));
                }
                let number = mark.value.map_or("–".to_owned(), |value| Scale::Percent.write(value));
                drawing.text("s m n", (x + step / 2.0, y + ROW / 2.0 + 4.0), &number);
            }
            for (at, name) in columns.iter().enumerate() {
                let x = from + (at as f64 + 0.5) * step;
                drawing.text("s m", (x, bottom + 13.0), &cut(name, ((step / 5.4) as usize).max(3)));
            }
        }
        for (at, label) in layout.labels.iter().enumerate() {
            drawing.text("e", (layout.left - 14.0, 24.0 + (at as f64 + 0.5) * ROW + 4.0), label);
        }
        out.push_str(&drawing.done(words));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let names = |most| Scale::Amount(most).ticks().into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(names(0.23), ["0.0", "0.1", "0.2"]);
        assert_eq!(names(41.0), ["0", "20", "40"]);
        assert_eq!(names(0.0), ["0.0", "0.5", "1.0"]);
    }

    #[test]
    fn a_mark_stands_where_its_value_is() {
        assert_eq!(Scale::Percent.place(0.25, 100.0, 200.0), 125.0);
        assert_eq!(Scale::Correlation.place(0.0, 100.0, 200.0), 150.0);
        assert_eq!(Scale::Percent.place(7.0, 100.0, 200.0), 200.0);
        let mark = Mark { value: Some(0.5), low: None, high: None };
        let panel = Panel { title: "<b>".into(), marks: vec![mark], hollow: Vec::new() };
        let svg = dots(Words { title: "t", description: "d" }, &["a&b".into()], &[panel], Scale::Percent);
        assert!(svg.contains("&lt;b&gt;") && svg.contains("a&amp;b") && svg.contains("<circle class=\"p\""));
        assert!(!svg.contains("class=\"w\""));
    }
}
