//! Static pages: an index of a run and a page per trial. They are read from disk, without a script, and hold nothing but text
//! and drawings: the templates escape every string, and the content policy allows the one style sheet by its hash and nothing
//! else.

mod index;
mod trial;

pub use index::{Index, LARGEST_INDEX, MOST_LISTED, PageLink, Pages, index};
pub use trial::{Answer, CallView, TrialView, trial_page};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use benchwright_base::Digest;
use benchwright_draw::text::{cut, unsteered};
use benchwright_pack::run::TrialKey;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use std::sync::LazyLock;

/// The one style sheet: that of the drawings, and that of the pages around them.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", benchwright_draw::style(), include_str!("html/style.css")));

/// The longest text that a cell of a table shows.
const LONGEST_CELL: usize = 400;

/// Where the page of a trial stands, seen from the index: a name that depends on the trial alone.
pub fn page_name(key: &TrialKey) -> String {
    let attempt = key.attempt.to_le_bytes();
    let parts = [("task", key.task.as_bytes()), ("agent", key.agent.as_bytes()), ("attempt", &attempt[..])];
    let digest = Digest::of_parts(parts).to_string();
    format!("trials/{}.html", digest.get(..20).unwrap_or(&digest))
}

/// A whole page.
fn page(title: &str, header: Markup, main: Markup) -> String {
    let hash = BASE64_STANDARD.encode(Digest::of(STYLE.as_bytes()).0);
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; img-src data:");
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" { "\n"
            head { "\n"
                meta charset="utf-8"; "\n"
                meta http-equiv="Content-Security-Policy" content=(policy); "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta name="referrer" content="no-referrer"; "\n"
                title { (cut(title, LONGEST_CELL)) } "\n"
                style { (PreEscaped(&*STYLE)) } "\n"
            } "\n"
            body { "\n" header { (header) } "\n" main { "\n" (main) } "\n" } "\n"
        } "\n"
    };
    unsteered(page.into_string())
}

/// A part of a page under its heading.
fn section(heading: &str, inside: Markup) -> Markup {
    html! { section { h2 { (heading) } "\n" (inside) } "\n" }
}

/// A cell of a table.
enum Cell {
    /// A text or number, set right.
    Text(String),
    /// Text that is set left.
    Left(String),
    /// A number with its interval beside.
    Interval(String, String),
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl Cell {
    fn class(&self) -> Option<&'static str> {
        matches!(self, Cell::Left(_)).then_some("left")
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        match self {
            Cell::Text(text) | Cell::Left(text) => html! { (cut(text, LONGEST_CELL).trim_end()) },
            Cell::Interval(value, range) => html! { (value) " " span class="ci" { (range) } },
        }
    }
}

/// A table; the first cell of a row is its head.
struct Table {
    caption: String,
    heads: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    fn new(caption: impl Into<String>, heads: Vec<String>, rows: Vec<Vec<Cell>>) -> Table {
        Table { caption: caption.into(), heads, rows }
    }

    /// A head is set as the cells below it.
    fn class(&self, column: usize) -> Option<&'static str> {
        self.rows.first()?.get(column)?.class()
    }
}

impl Render for Table {
    fn render(&self) -> Markup {
        html! {
            div class="wide" {
                table {
                    caption { (self.caption) } "\n"
                    thead {
                        tr {
                            @for (at, head) in self.heads.iter().enumerate() {
                                th scope="col" class=[self.class(at)] { (cut(head, LONGEST_CELL)) }
                            }
                        }
                    } "\n"
                    tbody { "\n"
                        @for row in &self.rows {
                            tr {
                                @for (at, cell) in row.iter().enumerate() {
                                    @if at == 0 { th scope="row" { (cell) } } @else { td class=[cell.class()] { (cell) } }
                                }
                            } "\n"
                        }
                    }
                }
            } "\n"
        }
    }
}

/// A list of named facts.
fn facts(facts: &[(&str, String)]) -> Markup {
    html! {
        dl class="facts" {
            @for (name, value) in facts { div { dt { (name) } dd { (cut(value, LONGEST_CELL)) } } }
        } "\n"
    }
}
