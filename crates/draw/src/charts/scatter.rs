//! Named points over two axes, such as agents by cost and by success.

use super::{LETTER, Mark, POINT};
use crate::{Drawing, HALF, Scale, Words, text::cut};

/// A named point with intervals both ways.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// Its name, written beside it.
    pub name: String,
    /// Where it lies on the axis across, with a whisker if it has one.
    pub x: Mark,
    /// Where it lies on the axis upwards, with a whisker if it has one.
    pub y: Mark,
}

/// Named points. `x` and `y` are the names of the axes; upwards are shares. With `diagonal`, equal values meet on a line.
pub fn scatter(
    words: Words<'_>,
    (x_name, y_name): (&str, &str),
    spots: &[Spot],
    x_scale: Scale,
    diagonal: bool,
) -> Drawing {
    const SIDE: f64 = 300.0;
    let (left, top) = (54.0, 24.0);
    let (right, bottom) = (left + SIDE + 30.0, top + SIDE);
    let mut drawing = Drawing::new(words, HALF, bottom + 40.0);
    let x = |value: f64| x_scale.place(value, left, right);
    let y = |value: f64| Scale::Percent.place(value, bottom, top);
    for (value, name) in Scale::Percent.ticks() {
        drawing.line("grid", (left, y(value)), (right, y(value)));
        drawing.text("small end", (left - 7.0, y(value) + 4.0), &name);
    }
    for (value, name) in x_scale.ticks() {
        drawing.line("grid", (x(value), top), (x(value), bottom));
        drawing.text("small middle", (x(value), bottom + 15.0), &name);
    }
    if diagonal {
        drawing.line("diagonal", (left, bottom), (right, top));
    }
    drawing.text("middle", ((left + right) / 2.0, bottom + 33.0), x_name);
    drawing.text("", (0.0, 11.0), y_name);
    let mut placed: Vec<(f64, f64, &str)> = Vec::new();
    for spot in spots {
        let (Some(across), Some(up)) = (spot.x.value, spot.y.value) else { continue };
        let at = (x(across), y(up));
        if let Some((low, high)) = spot.y.interval() {
            drawing.line("whisker", (at.0, y(low)), (at.0, y(high)));
        }
        if let Some((low, high)) = spot.x.interval() {
            drawing.line("whisker", (x(low), at.1), (x(high), at.1));
        }
        drawing.dot("point", at, POINT);
        placed.push((at.0, at.1, &spot.name));
    }
    names(&mut drawing, &placed);
    drawing
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
            drawing.line("leader", (dot_x + 3.0, dot_y - 3.0), (x + 1.0, y + 2.0));
            (x, y)
        });
        drawing.text("", (x, y), &name);
        taken.push(area(x, y));
    }
}
