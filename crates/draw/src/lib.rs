//! Drawings: data in, SVG out. Everything that this workspace draws is drawn here: the plots of a report's pages, the curves
//! of a bench and the picture of a domain's tables.
//!
//! A [`Drawing`] is a sheet that takes lines, dots, boxes and text; [`charts`] and [`curves`] put data on sheets. What stands on
//! a sheet has a class and no colour of its own, so a page's style sheet ([`style`]) can follow the reader's dark mode, and a
//! file of its own carries the same rules in light colours. Each drawing has a title and a description for those who do not
//! see it, no colour carries a meaning alone, and the same data gives the same bytes.
//!
//! ```
//! use benchwright_draw::{Mark, Panel, Scale, Words, charts};
//!
//! let half = Mark { value: Some(0.5), low: Some(0.3), high: Some(0.7) };
//! let panel = Panel { title: "all tasks".into(), marks: vec![half], hollow: Vec::new() };
//! let words = Words { title: "Success", description: "pass@1 with its interval" };
//! let drawings = charts::dots(words, &["greedy <1>".into()], &[panel], Scale::Percent);
//! let page = drawings[0].inline().into_string();
//! assert!(page.contains("greedy &lt;1&gt;") && page.contains(r#"<circle class="point""#));
//! ```

pub mod charts;
pub mod curves;
mod drawing;
mod scale;
mod style;
pub mod text;

pub use charts::{Mark, Panel};
pub use drawing::{Area, Drawing, HALF, WIDTH, Words};
pub use scale::Scale;
pub use style::{SERIES, style};
