//! The world that a command works on: the arguments it is named by, and what is said while it is opened.

use crate::progress::Progress;
use benchwright_catalog::{Catalog, Found};
use benchwright_workshop::worlds;

pub(crate) use benchwright_workshop::worlds::{Opened, look, usual_size};

/// How a world is filled.
#[derive(clap::Args, Default)]
pub(crate) struct Filling {
    /// The size of the world [default: small]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// The seed that everything random is drawn from [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Opens a domain by name or path, or a snapshot by its file.
pub(crate) fn open(catalog: &Catalog, what: &str, filling: &Filling) -> anyhow::Result<Opened> {
    let progress = Progress::start(format!("filling {what}"));
    let opened = worlds::open(catalog, what, &worlds::Filling { size: filling.size.clone(), seed: filling.seed })?;
    drop(progress);
    let name = &opened.sandbox.domain().name;
    warn(name, &opened.without_code);
    if opened.is_empty {
        eprintln!("warning: {name} has no seed.toml; the world is empty");
    }
    Ok(opened)
}

/// Says which tools of a domain cannot be called.
pub(crate) fn warn_of_missing_code(found: &Found) {
    warn(&found.domain.name, &found.tools_without_code());
}

fn warn(name: &str, tools: &[impl AsRef<str>]) {
    if !tools.is_empty() {
        let tools: Vec<&str> = tools.iter().map(AsRef::as_ref).collect();
        let tools = tools.join(", ");
        eprintln!(
            "warning: this program has no code for these native tools of {name}, so they cannot be called: {tools}"
        );
    }
}
