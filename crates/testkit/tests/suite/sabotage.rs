//! The laws bite: a sandbox that is broken on purpose is caught, each way by the law it breaks.

use benchwright_catalog::Catalog;
use benchwright_sandbox::sabotage::{Sabotage, sabotaged};
use benchwright_testkit::laws::{self, Law};
use std::path::Path;

#[test]
fn every_sabotage_is_caught_by_its_law() {
    let catalog = Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("domains"));
    let world = catalog.world("workshop", "small", 1).unwrap();
    let sound = laws::run(&world, 3, 3000);
    assert!(sound.broken.is_empty(), "unbroken, it breaks {:#?}", sound.broken);

    let ways = [
        (Sabotage::KeepRefusedWrites, Law::RefusalChangesNothing),
        (Sabotage::ReadMovesClock, Law::ReadNeverWrites),
        (Sabotage::SkipUnique, Law::Uniqueness),
        (Sabotage::SkipReferences, Law::References),
        (Sabotage::DeleteReferenced, Law::References),
        (Sabotage::SkipBounds, Law::TypesAndBounds),
        (Sabotage::SkipRules, Law::ToolRules),
        (Sabotage::OneSided, Law::EitherSide),
        (Sabotage::SkipLifecycle, Law::Lifecycles),
        (Sabotage::ShowSecrets, Law::SecretsStayHidden),
        (Sabotage::SkipRowConditions, Law::OnlyVisibleRows),
        (Sabotage::DiffForgetsRemoved, Law::DiffIsExact),
        (Sabotage::ResetKeepsWrites, Law::ForksAreApart),
        (Sabotage::StaleHash, Law::HashIsExact),
        (Sabotage::TraceForgetsRefusals, Law::TraceReplays),
        (Sabotage::AnswerBeforeStamps, Law::AnswersAreWritten),
        (Sabotage::StaleIndex, Law::FiltersAreExact),
        (Sabotage::SkipSole, Law::Uniqueness),
    ];
    let mut missed = Vec::new();
    for (way, law) in ways {
        let mut caught: Vec<Law> = Vec::new();
        let mut calls = 0;
        for seed in 0..12 {
            let report = sabotaged(way, || laws::run(&world, seed, 1000));
            calls += report.calls;
            caught.extend(report.broken.keys());
            if caught.contains(&law) {
                break;
            }
        }
        caught.sort();
        caught.dedup();
        println!("{way:?}: caught by {caught:?} within {calls} calls");
        if !caught.contains(&law) {
            missed.push(format!("{way:?} is not caught by {law:?}, only by {caught:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
