//! Panels side by side, in as many lines as they need: each line of them is a drawing of its own.

use super::{LETTER, Mark, POINT, Panel};
use crate::{Area, Drawing, Scale, WIDTH, Words, text::cut};

/// The mean width of a letter in a title.
const TITLE: f64 = 6.4;
/// The height of a row.
const ROW: f64 = 20.0;
/// Where rows begin, below the titles.
const TOP: f64 = 24.0;
/// Between panels.
const GAP: f64 = 22.0;
/// The narrowest panel.
const NARROWEST: f64 = 96.0;

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

    /// The bottom of the last row.
    fn bottom(&self) -> f64 {
        TOP + self.labels.len() as f64 * ROW
    }

    /// Draws lines of panels with their titles and the labels of their rows; `panel` draws the inside of one from its left end.
    fn draw(&self, words: Words<'_>, panels: &[Panel], panel: impl Fn(&mut Drawing, &Panel, f64)) -> Vec<Drawing> {
        let draw_line = |line: &[Panel]| {
            let mut drawing = Drawing::new(words, WIDTH, self.bottom() + 20.0);
            for (at, of) in line.iter().enumerate() {
                let from = self.left + at as f64 * (self.panel + GAP);
                drawing.text("title", (from, 11.0), &cut(&of.title, ((self.panel + GAP - 4.0) / TITLE) as usize));
                panel(&mut drawing, of, from);
            }
            for (at, label) in self.labels.iter().enumerate() {
                drawing.text("end", (self.left - 14.0, middle(at) + 4.0), label);
            }
            drawing
        };
        panels.chunks(self.per_line).map(draw_line).collect()
    }

    /// The same with a scale across; `row` draws one row between two places at a height.
    fn draw_rows(
        &self,
        words: Words<'_>,
        scale: Scale,
        panels: &[Panel],
        row: impl Fn(&mut Drawing, &Panel, usize, (f64, f64, f64)),
    ) -> Vec<Drawing> {
        self.draw(words, panels, |drawing, panel, from| {
            let to = from + self.panel - scale.gutter();
            for (value, name) in scale.ticks() {
                let x = scale.place(value, from, to);
                let class = if scale == Scale::Correlation && value == 0.0 { "zero" } else { "grid" };
                drawing.line(class, (x, 20.0), (x, self.bottom()));
                drawing.text("small middle", (x, self.bottom() + 14.0), &name);
            }
            for at in 0..self.labels.len() {
                row(drawing, panel, at, (from, to, middle(at)));
            }
        })
    }
}

/// The middle of a row.
fn middle(row: usize) -> f64 {
    TOP + (row as f64 + 0.5) * ROW
}

/// Dots with whiskers: a row for each label, a panel for each title.
pub fn dots(words: Words<'_>, labels: &[String], panels: &[Panel], scale: Scale) -> Vec<Drawing> {
    Layout::new(labels, panels.len()).draw_rows(words, scale, panels, |drawing, panel, at, (from, to, y)| {
        let x = |value: f64| scale.place(value, from, to);
        let mark = panel.marks.get(at).copied().unwrap_or_default();
        let hollow = panel.hollow.get(at).copied().unwrap_or_default();
        if let Some((low, high)) = mark.interval() {
            drawing.line("whisker", (x(low), y), (x(high), y));
        }
        if let Some(value) = hollow.value {
            drawing.dot("hollow", (x(value), y), POINT);
        }
        if let Some(value) = mark.value {
            drawing.dot("point", (x(value), y), POINT);
        }
        let number = mark.value.map_or("–".to_owned(), |value| scale.write(value));
        drawing.text("small end", (to + scale.gutter(), y + 4.0), &number);
    })
}

/// Bars: a row for each label, a panel for each title. Shares from 0 to the largest one.
pub fn bars(words: Words<'_>, labels: &[String], panels: &[Panel]) -> Vec<Drawing> {
    let most = panels.iter().flat_map(|panel| &panel.marks).filter_map(|mark| mark.value).fold(0.0, f64::max);
    let scale = Scale::PercentTo(((most * 10.0).ceil() / 10.0).clamp(0.1, 1.0));
    Layout::new(labels, panels.len()).draw_rows(words, scale, panels, |drawing, panel, at, (from, to, y)| {
        if let Some(value) = panel.marks.get(at).and_then(|mark| mark.value) {
            let end = scale.place(value, from, to);
            drawing.area("bar", Area { x: from, y: y - 5.0, width: end - from, height: 10.0 }, 0.0);
            drawing.text("small", (end + 4.0, y + 4.0), &scale.write(value));
        }
    })
}

/// A heat map: shares over two axes, the number in each cell and a dash where there is none. A panel for each title; the marks
/// of a panel go row by row.
pub fn heat(words: Words<'_>, rows: &[String], columns: &[String], panels: &[Panel]) -> Vec<Drawing> {
    let layout = Layout::new(rows, panels.len());
    let (step, bottom) = (layout.panel / columns.len().max(1) as f64, layout.bottom());
    layout.draw(words, panels, |drawing, panel, from| {
        for (at, mark) in panel.marks.iter().enumerate().take(rows.len() * columns.len()) {
            let (x, y) = (from + (at % columns.len()) as f64 * step, TOP + (at / columns.len()) as f64 * ROW);
            if let Some(value) = mark.value {
                // Never so dark that the number on it could not be read.
                let area = Area { x, y, width: step - 1.0, height: ROW - 1.0 };
                drawing.shade("cell", area, 0.04 + 0.5 * value.clamp(0.0, 1.0));
            }
            let number = mark.value.map_or("–".to_owned(), |value| Scale::Percent.write(value));
            drawing.text("small middle number", (x + step / 2.0, y + ROW / 2.0 + 4.0), &number);
        }
        for (at, name) in columns.iter().enumerate() {
            let x = from + (at as f64 + 0.5) * step;
            drawing.text("small middle", (x, bottom + 13.0), &cut(name, ((step / 5.4) as usize).max(3)));
        }
    })
}

/// Lines over ordered groups: a panel for each title, the groups across, shares upwards, with whiskers.
pub fn lines(words: Words<'_>, groups: &[String], panels: &[Panel]) -> Vec<Drawing> {
    const HIGH: f64 = 120.0;
    const LEFT: f64 = 44.0;
    let scale = Scale::Percent;
    let per_line = panels.len().clamp(1, 5);
    let width = ((WIDTH - LEFT + GAP) / per_line as f64 - GAP).min(260.0);
    let (top, bottom) = (22.0, 22.0 + HIGH);
    let y = |value: f64| scale.place(value, bottom, top);
    let draw_line = |line: &[Panel]| {
        let mut drawing = Drawing::new(words, WIDTH, HIGH + 56.0);
        for (at, panel) in line.iter().enumerate() {
            let from = LEFT + at as f64 * (width + GAP);
            drawing.text("title", (from, 11.0), &cut(&panel.title, ((width + GAP - 4.0) / TITLE) as usize));
            for (value, name) in scale.ticks() {
                drawing.line("grid", (from, y(value)), (from + width, y(value)));
                if at == 0 {
                    drawing.text("small end", (from - 6.0, y(value) + 4.0), &name);
                }
            }
            let x = |at: usize| from + (at as f64 + 0.5) * width / groups.len().max(1) as f64;
            let known: Vec<(usize, &Mark, f64)> =
                panel.marks.iter().enumerate().filter_map(|(at, mark)| Some((at, mark, mark.value?))).collect();
            for pair in known.windows(2) {
                drawing.line("line", (x(pair[0].0), y(pair[0].2)), (x(pair[1].0), y(pair[1].2)));
            }
            for (at, mark, value) in known {
                if let Some((low, high)) = mark.interval() {
                    drawing.line("whisker", (x(at), y(low)), (x(at), y(high)));
                }
                drawing.dot("point", (x(at), y(value)), POINT);
            }
            for (at, name) in groups.iter().enumerate() {
                drawing.text("small middle", (x(at), bottom + 15.0), &cut(name, 9));
            }
        }
        drawing
    };
    panels.chunks(per_line).map(draw_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Words<'_> = Words { title: "t", description: "d" };

    #[test]
    fn a_mark_without_an_interval_has_no_whisker() {
        let panel = Panel { title: "<b>".into(), marks: vec![Mark::of(Some(0.5))], hollow: Vec::new() };
        let drawn = dots(WORDS, &["a&b".into()], &[panel], Scale::Percent);
        let svg = drawn[0].inline().into_string();
        assert!(svg.contains("&lt;b&gt;") && svg.contains("a&amp;b") && svg.contains("<circle class=\"point\""));
        assert!(!svg.contains("whisker") && !drawn[0].is_half());
    }

    #[test]
    fn more_panels_than_fit_go_on_below() {
        let panel = Panel { title: "p".into(), marks: vec![Mark::of(Some(0.2)); 2], hollow: Vec::new() };
        let labels = ["one".to_owned(), "two".to_owned()];
        let panels = vec![panel; 20];
        let drawn = dots(WORDS, &labels, &panels, Scale::Percent);
        assert!(drawn.len() > 1);
        let titles = drawn.iter().map(|of| of.inline().into_string().matches("class=\"title\"").count());
        assert_eq!(titles.sum::<usize>(), 20);
        assert_eq!(lines(WORDS, &labels, &panels).len(), 4, "five to a line");
    }

    #[test]
    fn a_cell_without_a_task_is_a_dash() {
        let panel = Panel { title: "p".into(), marks: vec![Mark::of(Some(1.0)), Mark::default()], hollow: Vec::new() };
        let svg = heat(WORDS, &["r".into()], &["a".into(), "b".into()], &[panel])[0].inline().into_string();
        assert_eq!((svg.matches("class=\"cell\"").count(), svg.matches(">–<").count()), (1, 1));
        assert!(svg.contains("fill-opacity=\"0.54\""));
    }
}
