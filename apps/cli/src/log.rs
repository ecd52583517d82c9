//! The log: what the libraries report while they work (`tracing`), on stderr, for who asks for it with `--log` or `RUST_LOG`.
//! Without either nothing is installed, and an event costs one comparison.

use crate::failure::Failure;
use std::io;
use tracing_subscriber::{
    EnvFilter, Layer as _, Registry,
    filter::{FilterExt as _, filter_fn},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

/// Says what is reported, such as `debug` or `benchwright_serve=debug`; `info` without it.
const VARIABLE: &str = "RUST_LOG";
/// What the names of our crates begin with.
const OURS: &str = "benchwright";

/// How a line of the log looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Form {
    /// An object of JSON.
    Json,
    /// Words.
    Text,
}

impl Form {
    /// Its word on a command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Form::Json => "json",
            Form::Text => "text",
        }
    }
}

/// Installs the log, if somebody asks for one, and says whether there is one.
pub(crate) fn install(form: Option<Form>) -> anyhow::Result<bool> {
    let wanted = std::env::var(VARIABLE).ok().filter(|wanted| !wanted.is_empty());
    if form.is_none() && wanted.is_none() {
        return Ok(false);
    }
    let levels = wanted.as_deref().unwrap_or("info");
    let levels = EnvFilter::builder().parse(levels).map_err(|error| {
        Failure::wrong_use(format!("{VARIABLE}: {error}"), format!("{VARIABLE}=debug, or benchwright_serve=debug"))
    })?;
    // At `trace`, crates of others write down headers and bodies, and so tokens. Whatever is asked for, only ours are heard.
    let filter = levels.and(filter_fn(|about| about.target().starts_with(OURS)));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match form {
        Some(Form::Json) => lines.json().flatten_event(true).with_span_list(false).with_filter(filter).boxed(),
        Some(Form::Text) | None => lines.with_filter(filter).boxed(),
    };
    Registry::default().with(lines).try_init()?;
    Ok(true)
}
