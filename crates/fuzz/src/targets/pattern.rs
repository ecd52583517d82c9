//! The folder of a pattern or of a scenario, by whoever writes one.

use crate::{
    Met, Target,
    ground::{CATALOG, bundled, unbundled},
};
use benchwright_base::Diagnostic;
use benchwright_project::{Family, PatternFolder};
use benchwright_schema::Domain;
use benchwright_spec::scenario;
use std::sync::{Arc, LazyLock};

pub(crate) const TARGET: Target = Target { name: "pattern", seeds, regressions: &[], rounds: 700, meet };

/// What the seeds are of, found once: a domain takes longer to load than a pattern to read.
static ERP: LazyLock<(&dyn Family, Arc<Domain>)> = LazyLock::new(|| {
    let family = CATALOG.family("erp", "erp").unwrap_or_else(|error| panic!("{error}"));
    (family, CATALOG.find("erp").unwrap_or_else(|error| panic!("{error}")).domain)
});
static DESK: LazyLock<Arc<Domain>> =
    LazyLock::new(|| CATALOG.find("csm").unwrap_or_else(|error| panic!("{error}")).domain);

fn seeds() -> Vec<Vec<u8>> {
    vec![
        bundled([
            ("pattern.toml", include_str!("../../../../patterns/production/factory-only-by-policy/pattern.toml")),
            ("text.toml", include_str!("../../../../patterns/production/factory-only-by-policy/text.toml")),
        ]),
        bundled([
            ("pattern.toml", include_str!("../../../../patterns/recovery/line-outage-recovery-plan/pattern.toml")),
            ("text.toml", include_str!("../../../../patterns/recovery/line-outage-recovery-plan/text.toml")),
            ("rules.toml", RULES),
        ]),
        bundled([
            ("scenario.toml", include_str!("../../../../patterns/csm/site-move/scenario.toml")),
            ("words.toml", include_str!("../../../../patterns/csm/site-move/words.toml")),
        ]),
    ]
}

/// Rules that a pattern adds to its family's.
const RULES: &str = "";

fn meet(bytes: &[u8]) -> Met {
    let files = unbundled(bytes);
    let read = if files.contains_key("scenario.toml") {
        scenario::read(&files, &DESK).map(drop)
    } else {
        let folder = PatternFolder::read(&files);
        match folder.family("group/name") {
            Some((family, domain)) if family == "erp" && domain == "erp" => {
                folder.check(ERP.0, folder.has_rules().then_some(&*ERP.1));
            }
            _ => folder.no_family("it is of another family"),
        }
        folder.finish("group/name").map(drop)
    };
    match read {
        Ok(()) => Met::Taken,
        Err(faults) => {
            assert!(!faults.is_empty(), "who refuses says why");
            let brief = |fault: &Diagnostic| fault.message.len() < 8_000;
            assert!(faults.len() <= 2_000 && faults.iter().all(brief), "faults are brief");
            Met::Refused
        }
    }
}
