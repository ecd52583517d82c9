//! A sheet that takes lines, dots, boxes and text. Its markup is written by a template that is checked when it is compiled and
//! escapes every text.

use crate::{style::file_style, text::unsteered};
use maud::{Markup, PreEscaped, Render, html};
use std::fmt::Write as _;

/// The width of a drawing that takes the whole page.
pub const WIDTH: f64 = 960.0;
/// The width up to which a drawing takes half of it.
pub const HALF: f64 = 560.0;

/// What a drawing is called and what it shows, for those who do not see it.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The title, which readers of screens hear first.
    pub title: &'a str,
    /// What the drawing shows, in a sentence, for those who do not see it.
    pub description: &'a str,
}

/// Where a box stands and how large it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// The left edge, in units of the drawing.
    pub x: f64,
    /// The top edge, in units of the drawing; upwards is less.
    pub y: f64,
    /// The width, in units of the drawing.
    pub width: f64,
    /// The height, in units of the drawing.
    pub height: f64,
}

/// A drawing. Places are points from its top left corner; classes are those of [`crate::style`].
#[derive(Clone, Debug)]
pub struct Drawing {
    width: f64,
    height: f64,
    title: String,
    description: String,
    body: String,
}

/// A length with at most one decimal.
struct Px(f64);

impl Render for Px {
    fn render_to(&self, out: &mut String) {
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
        let _ = write!(out, "{sign}{whole}");
        if tenth > 0 {
            let _ = write!(out, ".{tenth}");
        }
    }
}

/// Points as SVG lists them.
fn listed(points: &[(f64, f64)]) -> String {
    let point = |(x, y): &(f64, f64)| format!("{},{}", Px(*x).render().0, Px(*y).render().0);
    points.iter().map(point).collect::<Vec<String>>().join(" ")
}

impl Drawing {
    /// A sheet of that width and height with nothing on it.
    pub fn new(words: Words<'_>, width: f64, height: f64) -> Drawing {
        let (title, description) = (words.title.to_owned(), words.description.to_owned());
        Drawing { width, height, title, description, body: String::new() }
    }

    /// Whether it takes half of a page's width.
    pub fn is_half(&self) -> bool {
        self.width <= HALF
    }

    fn add(&mut self, markup: Markup) {
        self.body.push_str(&markup.0);
    }

    /// Draws a straight line between two points.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(html! { line class=(class) x1=(Px(x1)) y1=(Px(y1)) x2=(Px(x2)) y2=(Px(y2)) {} });
    }

    /// A line through points.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        self.add(html! { polyline class=(class) points=(listed(points)) {} });
    }

    /// A line that leaves and arrives level, with a tip where it arrives. `bend` is how far its ends go straight on, to the
    /// right or, below 0, to the left; from the same side it swings out and back.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64), bend: (f64, f64)) {
        let mut path = String::new();
        let ends = [('M', from), ('C', (from.0 + bend.0, from.1)), (' ', (to.0 + bend.1, to.1)), (' ', to)];
        for (letter, (x, y)) in ends {
            path.push(letter);
            Px(x).render_to(&mut path);
            path.push(' ');
            Px(y).render_to(&mut path);
        }
        let back = if bend.1 > 0.0 { 6.0 } else { -6.0 };
        let tip = [to, (to.0 + back, to.1 - 3.0), (to.0 + back, to.1 + 3.0)];
        self.add(html! { path class="arrow" d=(path) {} polygon class="tip" points=(listed(&tip)) {} });
    }

    /// A text that begins at a place, or with the class `end` or `middle` ends or is centred there.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let class = (!class.is_empty()).then_some(class);
        self.add(html! { text class=[class] x=(Px(x)) y=(Px(y)) { (text) } });
    }

    /// A dot around a place.
    pub fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.add(html! { circle class=(class) cx=(Px(x)) cy=(Px(y)) r=(Px(radius)) {} });
    }

    /// A box with corners of a radius.
    pub fn area(&mut self, class: &str, area: Area, round: f64) {
        let Area { x, y, width, height } = area;
        let round = (round > 0.0).then_some(Px(round));
        self.add(html! {
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height)) rx=[round] {}
        });
    }

    /// A box that is the darker the larger a share is.
    pub fn shade(&mut self, class: &str, area: Area, share: f64) {
        let Area { x, y, width, height } = area;
        let depth = format!("{share:.2}");
        self.add(html! {
            rect class=(class) x=(Px(x)) y=(Px(y)) width=(Px(width)) height=(Px(height)) fill-opacity=(depth) {}
        });
    }

    /// The drawing as a part of a page that has the rules of [`crate::style`].
    pub fn inline(&self) -> Markup {
        let class = if self.is_half() { "half" } else { "plot" };
        let view = format!("0 0 {:.0} {:.0}", self.width, self.height);
        html! {
            svg class=(class) viewBox=(view) role="img" { (self.words()) (PreEscaped(&self.body)) } "\n"
        }
    }

    /// The drawing as a file of its own.
    pub fn file(&self) -> String {
        let (width, height) = (format!("{:.0}", self.width), format!("{:.0}", self.height));
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) }
                role="img" {
                "\n" (self.words()) "\n"
                style { (PreEscaped(file_style())) } "\n"
                rect class="paper" width="100%" height="100%" {} "\n"
                (PreEscaped(&self.body)) "\n"
            }
            "\n"
        };
        unsteered(markup.into_string())
    }

    fn words(&self) -> Markup {
        html! { title { (self.title) } desc { (self.description) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_at_most_one_decimal_and_no_minus_before_nought() {
        let written: Vec<String> = [12.0, 12.34, -0.04, -3.26].iter().map(|n| Px(*n).render().0).collect();
        assert_eq!(written, ["12", "12.3", "0", "-3.3"]);
    }

    #[test]
    fn markup_in_any_text_stays_text_and_nothing_turns_it() {
        let mut drawing = Drawing::new(Words { title: "<b>", description: "a & b" }, 100.0, 50.0);
        drawing.text("title", (1.0, 2.0), "<script>\"\u{202e}");
        let file = drawing.file();
        assert!(file.contains("<title>&lt;b&gt;</title><desc>a &amp; b</desc>"), "{file}");
        assert!(file.contains(">&lt;script&gt;&quot;\u{fffd}</text>"), "{file}");
        assert!(drawing.inline().into_string().starts_with("<svg class=\"half\" viewBox=\"0 0 100 50\""));
    }
}
