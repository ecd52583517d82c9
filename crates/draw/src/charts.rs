//! Charts of shares and amounts in panels: dots with whiskers, bars, lines over groups, heat maps and named points; the turns of one trial.

mod panels;
mod scatter;
mod trial;

pub use panels::{bars, dots, heat, lines};
pub use scatter::{Spot, scatter};
pub use trial::{Step, between, timeline};

/// The mean width of a letter.
pub(crate) const LETTER: f64 = 6.5;
/// The radius of a point.
pub(crate) const POINT: f64 = 3.6;

/// A value with its interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Mark {
    /// The value; nothing is drawn without one.
    pub value: Option<f64>,
    /// The lower end of the whisker; no whisker without it.
    pub low: Option<f64>,
    /// The upper end of the whisker; no whisker without it.
    pub high: Option<f64>,
}

impl Mark {
    /// A value without an interval.
    pub fn of(value: Option<f64>) -> Mark {
        Mark { value, low: None, high: None }
    }

    /// The interval, if there is one.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

/// A panel of a drawing: a title and a mark, or two, for each row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Panel {
    /// What stands above the panel.
    pub title: String,
    /// The marks, drawn full.
    pub marks: Vec<Mark>,
    /// A second mark for each row, drawn hollow; may be empty.
    pub hollow: Vec<Mark>,
}
