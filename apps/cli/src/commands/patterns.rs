//! `benchwright patterns`: which workflows there are, and what is in one.

use crate::{failure::Failure, layout::paragraph, output};
use benchwright_catalog::{Catalog, CatalogError};
use benchwright_workshop::{requests, told::patterns};

/// Which workflows there are: group, tiers, objectives, rules
#[derive(clap::Args)]
#[command(after_long_help = "\
Without NAME, a table of all patterns. With NAME, a page on that one: its business name, the objectives of
each tier, and the rules that can apply to its tasks.

Examples:
  benchwright patterns
  benchwright patterns production/lowest-cost-sourcing-route
  benchwright patterns ./my-pattern

Keys of --json, a list even for one pattern:
  name, title, group, family, domain, tiers, objectives, rules; of a plan cells {TIER: [objective]}, of a
  request blocked {NAME: kind}, clauses, answers, voices, and of its rules the ways: those that say what to do")]
pub(crate) struct Options {
    /// A pattern, by its name or the path to its folder
    name: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    /// The pattern as it was given.
    pub(crate) fn pattern(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// Runs the command.
pub(crate) fn run(catalog: &Catalog, options: &Options) -> anyhow::Result<()> {
    let told = |error: CatalogError, what: &str| Failure::of_catalog(error, what);
    let (names, scenarios) =
        requests::listed(catalog, options.name.as_deref()).map_err(|error| told(error, "patterns"))?;
    if names.is_empty() && scenarios.is_empty() {
        let next = "leave --domains out, or give --patterns DIR";
        return Err(Failure::missing("there are no patterns for these domains", next));
    }
    let listed = patterns::listed(catalog, &names).map_err(|(name, error)| told(error, &name))?;
    if options.json {
        let plans = listed.iter().map(|(pattern, rules)| patterns::summary(pattern, rules));
        let requests = scenarios.iter().map(|(name, scenario, domain)| requests::summary(name, scenario, domain));
        output::json(&plans.chain(requests).collect())?;
    } else if let Some(given) = &options.name {
        output::data(
            &listed
                .iter()
                .map(|(pattern, rules)| patterns::page(given, pattern, rules, output::columns()))
                .collect::<String>(),
        )?;
        for (name, scenario, domain) in &scenarios {
            let line = |(of, text): (String, String)| paragraph(&format!("{of:<12}"), &text, output::columns());
            let page: String = requests::about(name, scenario, domain).into_iter().map(line).collect();
            output::data(&format!("{page}\nnext: benchwright new {given} --tier medium --seed 1 -o DIR\n"))?;
        }
    } else {
        output::data(&patterns::table(&listed, &scenarios))?;
    }
    Ok(())
}
