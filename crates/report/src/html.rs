//! Static pages of a run: an index, the matrix of tasks and agents, a page for each task, each trial, each comparison, and one of the
//! failures. They are read from disk and need no network. Every text is escaped by the templates; the content policy allows the one style
//! sheet and the one script by their hashes and nothing else, and the script only folds, filters and walks: without it every fact is there.

mod failures;
mod index;
mod markdown;
mod matrix;
mod runs;
mod site;
mod task;
mod trial;
mod versus;

pub use index::LARGEST_INDEX;
pub use runs::{RunLine, runs_page, trouble_page};
pub use site::{Page, Site, page_name};
pub use trial::{Answer, CallView, Changed, Made, PlanRows, Said, Turn, What};

use crate::summary::Came;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use benchwright_base::Digest;
use benchwright_draw::text::{cut, unsteered};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use std::sync::LazyLock;

/// The one style sheet: that of the drawings, and that of the pages around them.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", benchwright_draw::style(), include_str!("html/style.css")));

/// The one script, as it is read in the repository.
const SCRIPT: &str = include_str!("html/script.js");

/// What a page may load and run.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(Digest::of(text.as_bytes()).0);
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&STYLE),
        hash(SCRIPT)
    )
});

/// The longest text that a cell of a table shows.
const LONGEST_CELL: usize = 400;
/// The longest text that a cell with several lines shows.
const LONGEST_TEXT: usize = 4_000;

/// A whole page.
fn page(title: &str, header: Markup, main: Markup) -> String {
    page_anew(title, None, header, main)
}

/// A whole page that a browser asks for again after so many seconds.
fn page_anew(title: &str, seconds: Option<u32>, header: Markup, main: Markup) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" { "\n"
            head { "\n"
                meta charset="utf-8"; "\n"
                meta http-equiv="Content-Security-Policy" content=(*POLICY); "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta name="referrer" content="no-referrer"; "\n"
                @if let Some(seconds) = seconds { meta http-equiv="refresh" content=(seconds); "\n" }
                title { (cut(title, LONGEST_CELL)) } "\n"
                style { (PreEscaped(&*STYLE)) } "\n"
            } "\n"
            body { "\n"
                a class="skip" href="#main" { "To the content" } "\n"
                header { (header) } "\n" main id="main" { "\n" (main) } "\n"
                script { (PreEscaped(SCRIPT)) } "\n"
            } "\n"
        } "\n"
    };
    unsteered(page.into_string())
}

/// Links to other pages of the report: the address, the name, and whether it is where one stands.
fn crumbs(links: &[(String, &str)], here: &str) -> Markup {
    html! {
        nav class="crumbs" aria-label="Report" {
            @for (href, name) in links { a href=(href) { (name) } " › " }
            span { (cut(here, 120)) }
        } "\n"
    }
}

/// Links to the parts of this page.
fn parts(parts: &[(&str, &str)]) -> Markup {
    html! {
        nav class="parts" aria-label="On this page" { @for (id, name) in parts { a href={ "#" (id) } { (name) } " " } } "\n"
    }
}

/// A number with a minus sign in place of a hyphen.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

/// A part of a page that links lead to.
fn part(id: &str, heading: &str, inside: Markup) -> Markup {
    html! { section id=(id) { h2 { (heading) } "\n" (inside) } "\n" }
}

/// Whether something passed, as a word with its class.
fn ending(came: Came) -> Markup {
    let (class, word) = match came {
        Came::Passed => ("good", "passed"),
        Came::Failed => ("fail", "failed"),
        Came::NotScored => ("soft", "not scored"),
        Came::Open => ("soft", "not ended"),
    };
    html! { span class=(class) { (word) } }
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
    /// Text that is set left and goes over several lines.
    Long(String),
    /// A word that says of which kind a row is.
    Marked(&'static str),
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
        match self {
            Cell::Left(_) => Some("left"),
            Cell::Long(_) => Some("left long"),
            Cell::Marked(_) | Cell::Text(_) | Cell::Interval(..) => None,
        }
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        match self {
            Cell::Text(text) | Cell::Left(text) => html! { (cut(text, LONGEST_CELL).trim_end()) },
            Cell::Long(text) => html! { (cut(text, LONGEST_TEXT).trim_end()) },
            Cell::Marked(word) => html! { span class={ "is-" (word) } { (word) } },
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
            div class="wide" tabindex="0" role="region" aria-label=(cut(&self.caption, 120)) {
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
