//! The list of runs, for whoever looks at them by `benchwright view`, and the page of what could not be shown.

use super::page_anew;
use benchwright_draw::text::cut;
use maud::html;

/// A run in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunLine {
    /// Its name, which is where its pages are.
    pub name: String,
    /// How many tasks it has.
    pub tasks: usize,
    /// Its agents.
    pub agents: Vec<String>,
    /// Trials of the plan.
    pub planned: usize,
    /// Trials that are recorded.
    pub recorded: usize,
    /// Those of them that are errors.
    pub errors: usize,
    /// Trials that somebody works on.
    pub working: usize,
}

/// Whether a name can stand in an address as it is.
fn plain(name: &str) -> bool {
    !name.starts_with('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// The list of runs.
pub fn runs_page(runs: &[RunLine]) -> String {
    let is_going = runs.iter().any(|run| run.working > 0);
    let header = html! { h1 { "Runs" } "\n" @if is_going { p class="soft" { "Looked at anew every few seconds." } } };
    let main = html! {
        @if runs.is_empty() { p { "There is no run yet." } "\n" }
        div class="wide" tabindex="0" role="region" aria-label="Runs" {
            table {
                thead { tr {
                    th scope="col" { "run" } th scope="col" { "recorded" } th scope="col" { "of" } th scope="col" { "errors" }
                    th scope="col" { "at work" } th scope="col" { "tasks" } th scope="col" class="left" { "agents" }
                } }
                tbody { "\n"
                    @for run in runs {
                        tr {
                            th scope="row" {
                                @if plain(&run.name) { a href={ (run.name) "/index.html" } { (cut(&run.name, 100)) } }
                                @else { (cut(&run.name, 100)) }
                            }
                            td { (run.recorded) } td { (run.planned) } td { (run.errors) } td { (run.working) } td { (run.tasks) }
                            td class="left" { (cut(&run.agents.join(", "), 160)) }
                        } "\n"
                    }
                }
            }
        } "\n"
    };
    page_anew("Runs", is_going.then_some(5), header, main)
}

/// What could not be shown, and why.
pub fn trouble_page(why: &str) -> String {
    page_anew("Trouble", None, html! { h1 { "This page could not be made" } }, html! { pre { (cut(why, 4_000)) } })
}

#[cfg(test)]
mod tests {
    use super::{RunLine, runs_page};

    #[test]
    fn a_run_leads_to_its_pages_and_a_strange_name_nowhere() {
        let run = |name: &str| RunLine {
            name: name.to_owned(),
            tasks: 3,
            agents: vec!["<b>".to_owned()],
            planned: 9,
            recorded: 4,
            errors: 0,
            working: 1,
        };
        let page = runs_page(&[run("2026-x"), run("..\"><script>")]);
        assert!(page.contains("<a href=\"2026-x/index.html\">2026-x</a>") && page.contains("http-equiv=\"refresh\""));
        assert!(page.matches("<a href").count() == 1 && page.contains("&lt;b&gt;"));
    }
}
