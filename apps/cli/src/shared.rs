//! Where work is kept that many share: the options, and what they open.

use crate::{failure::Failure, output};
use benchwright_depot::Depot;
use benchwright_workshop::{Cancel, runs::Runs, shared::MadeShared, told::shared};

/// A ledger that many share, and where what it tells of is kept.
#[derive(clap::Args)]
pub(crate) struct Shared {
    /// A PostgreSQL that several machines share as ledger: postgres://USER@HOST/DATABASE, the password in PGPASSWORD
    #[arg(long, value_name = "URL", requires = "store")]
    ledger: Option<String>,
    /// Where they keep what is large: a folder that all of them reach, s3://BUCKET/FOLDER, gs://..., az://...
    #[arg(long, value_name = "DIR|URL", requires = "ledger")]
    store: Option<String>,
}

impl Shared {
    /// Opens it, where it was asked for.
    pub(crate) fn open(&self) -> anyhow::Result<Option<Runs>> {
        let (Some(ledger), Some(store)) = (&self.ledger, &self.store) else { return Ok(None) };
        Ok(Some(Runs::shared(ledger, depot(store)?)?))
    }

    /// How others are told to come.
    pub(crate) fn invite(&self) {
        if let (Some(ledger), Some(store)) = (&self.ledger, &self.store) {
            eprintln!("it is done by whoever comes: benchwright work --ledger '{ledger}' --store {store}");
        }
    }
}

fn depot(store: &str) -> anyhow::Result<Depot> {
    if !store.contains("://") {
        return Ok(Depot::folder(store));
    }
    #[cfg(feature = "cloud")]
    return match benchwright_cloud::open(store) {
        Ok(objects) => Ok(Depot::of(objects)),
        Err(why) => Err(Failure::missing(why, "the address, and what the environment has of the service")),
    };
    #[cfg(not(feature = "cloud"))]
    Err(Failure::missing(
        "this program was built without object stores",
        "a program with the feature `cloud`, as wheels have it, or a folder that all machines reach",
    ))
}

/// A flag that is set when the process is asked to end. Asked a second time it ends as ever.
pub(crate) fn asked_to_end() -> anyhow::Result<Cancel> {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = Cancel::new();
    let (flag, runtime) = (cancel.clone(), tokio::runtime::Builder::new_current_thread().enable_io().build()?);
    let mut signals = {
        let _inside = runtime.enter();
        [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?]
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            let [terminate, interrupt] = &mut signals;
            for is_second in [false, true] {
                tokio::select! { _ = terminate.recv() => (), _ = interrupt.recv() => () };
                flag.cancel();
                if is_second {
                    std::process::exit(130);
                }
            }
        });
    });
    Ok(cancel)
}

/// Tells what was made of a plan; lines without a task, or with another than the lock file says, fall short.
pub(crate) fn told(made: &MadeShared, is_json: bool) -> anyhow::Result<()> {
    output::either(is_json, || shared::to_json(made), || shared::to_text(made))?;
    match made.short.len() {
        0 => Ok(()),
        many => Err(Failure::falls_short(format!("{many} tasks fall short"), "other seeds, or what is told of each")),
    }
}
