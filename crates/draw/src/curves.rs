//! Curves over an axis of numbers, several to a panel, each named where it ends and told apart by its dashes too.

use crate::{Drawing, Mark, SERIES, Scale, Words};

/// The size of a panel's inside.
const SIZE: (f64, f64) = (250.0, 190.0);
/// A panel with its names at the right and its axis below.
const STEP: (f64, f64) = (SIZE.0 + 150.0, SIZE.1 + 80.0);
/// Between two names.
const NAME: f64 = 13.0;
/// How many panels stand side by side.
const ACROSS: usize = 3;

/// One line of a panel: points that are joined in order.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// Its name, written where it ends.
    pub name: String,
    /// Its points, from left to right: where, and what.
    pub points: Vec<(f64, Mark)>,
}

/// Curves over one pair of axes.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// What stands above the panel.
    pub title: String,
    /// The name of the axis across and its largest value.
    pub across: (String, f64),
    /// How values upwards are placed and written.
    pub scale: Scale,
    /// The curves, at most as many as there are colours.
    pub curves: Vec<Curve>,
}

/// Charts side by side.
pub fn curves(words: Words<'_>, charts: &[Chart]) -> Drawing {
    let across = charts.len().clamp(1, ACROSS);
    let (width, height) = (STEP.0 * across as f64 + 10.0, STEP.1 * charts.len().div_ceil(across) as f64 + 10.0);
    let mut drawing = Drawing::new(words, width, height);
    for (at, chart) in charts.iter().enumerate() {
        draw(&mut drawing, chart, (50.0 + (at % across) as f64 * STEP.0, 30.0 + (at / across) as f64 * STEP.1));
    }
    drawing
}

fn draw(drawing: &mut Drawing, chart: &Chart, (left, top): (f64, f64)) {
    let (right, bottom) = (left + SIZE.0, top + SIZE.1);
    let (scale, below) = (chart.scale.whole(), Scale::Amount(chart.across.1));
    let x = |value: f64| below.place(value, left, right);
    let y = |value: f64| scale.place(value, bottom, top);
    drawing.text("title", (left, top - 12.0), &chart.title);
    for (value, name) in scale.fine_ticks() {
        drawing.line("grid", (left, y(value)), (right, y(value)));
        drawing.text("small end", (left - 6.0, y(value) + 4.0), &name);
    }
    for (value, name) in below.ticks() {
        drawing.text("small middle", (x(value), bottom + 16.0), &name);
    }
    drawing.text("middle", (left + SIZE.0 / 2.0, bottom + 34.0), &chart.across.0);
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (at, curve) in chart.curves.iter().enumerate() {
        let series = at % SERIES;
        let known: Vec<(f64, f64, &Mark)> =
            curve.points.iter().filter_map(|(across, mark)| Some((x(*across), y(mark.value?), mark))).collect();
        let path: Vec<(f64, f64)> = known.iter().map(|(x, y, _)| (*x, *y)).collect();
        drawing.polyline(&format!("curve series{series}"), &path);
        for (x, at, mark) in &known {
            if let Some((low, high)) = mark.interval() {
                drawing.line(&format!("spread series{series}"), (*x, y(low)), (*x, y(high)));
            }
            drawing.dot(&format!("series{series}"), (*x, *at), 2.4);
        }
        ends.extend(path.last().map(|(_, end)| (*end, at)));
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places = apart(&ends.iter().map(|end| end.0).collect::<Vec<_>>(), bottom);
    for (place, (_, at)) in places.into_iter().zip(ends) {
        drawing.text(&format!("series{}", at % SERIES), (right + 12.0, place + 4.0), &chart.curves[at].name);
    }
}

/// Where names stand that belong to these heights, from the top: not on one another, and not below the last height allowed
/// as far as there is room above.
fn apart(heights: &[f64], lowest: f64) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::new();
    for height in heights {
        places.push(places.last().map_or(*height, |last: &f64| height.max(last + NAME)));
    }
    let mut below = lowest + NAME;
    for place in places.iter_mut().rev() {
        *place = place.min(below - NAME);
        below = *place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_apart_and_above_the_axis() {
        assert_eq!(apart(&[10.0, 11.0, 100.0], 200.0), [10.0, 23.0, 100.0]);
        assert_eq!(apart(&[199.0, 200.0, 200.0], 200.0), [174.0, 187.0, 200.0]);
    }

    #[test]
    fn a_curve_goes_through_its_points_and_is_named() {
        let mark = |value| Mark { value: Some(value), low: Some(value - 0.1), high: Some(value) };
        let curve = Curve { name: "filter".into(), points: vec![(0.0, mark(1.0)), (20.0, mark(0.5))] };
        let chart =
            Chart { title: "c".into(), across: ("decoys".into(), 20.0), scale: Scale::Percent, curves: vec![curve] };
        let file = curves(Words { title: "t", description: "d" }, &[chart]).file();
        assert!(file.contains("<polyline class=\"curve series0\" points=\"50,30 300,125\">"), "{file}");
        assert!(file.contains("<text class=\"series0\" x=\"312\" y=\"129\">filter</text>"), "{file}");
        assert_eq!(file.matches("class=\"spread series0\"").count(), 2);
    }
}
