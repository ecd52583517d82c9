//! The inventory's seven domains load as they stand, where they are at hand.

use crate::common;
use benchwright_schema::{Folder, arguments_schema, load, result_schema};
use std::path::Path;

#[test]
fn the_seven_domains_of_the_inventory_load() {
    let inventory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/inventory/domains");
    if !inventory.is_dir() {
        eprintln!("SKIPPED: no inventory at {}", inventory.display());
        return;
    }
    let mut faults = String::new();
    let mut counts = [0; 5];
    for name in ["calendar", "csm", "drive", "email", "hr", "itsm", "teams"] {
        let mut files = common::files(&inventory.join(name));
        // Notes on work to be found there, which are no part of a domain.
        files.remove("patterns.toml");
        for text in files.values_mut() {
            // Two tools have a dot in their names there, which models' interfaces do not take.
            *text = text.replace("_files.labels", "_files_labels");
        }
        match load(&Folder::new(name, files)) {
            Ok(domain) => {
                let found = [
                    domain.tables.len(),
                    domain.field_count(),
                    domain.reference_count(),
                    domain.tools.len(),
                    domain.rules.len(),
                ];
                counts.iter_mut().zip(found).for_each(|(sum, n)| *sum += n);
                for tool in &domain.tools {
                    assert!(!tool.description.is_empty(), "{}", tool.name);
                    assert!(arguments_schema(&domain, tool).is_object());
                    assert!(result_schema(&domain, tool).is_object());
                }
            }
            Err(list) => list.iter().for_each(|fault| faults.push_str(&format!("{name}/{fault}\n"))),
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert_eq!(counts, [233, 1292, 442, 746, 113], "as INVENTORY.md counts them");
}
