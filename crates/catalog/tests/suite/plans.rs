//! The plan of every family holds together on each of its domains.

use benchwright_catalog::Catalog;

#[test]
fn no_plan_of_the_program_has_a_fault() {
    let catalog = Catalog::built_in();
    let mut seen = 0;
    for name in catalog.names().unwrap() {
        let domain = catalog.find(&name).unwrap().domain;
        for (of, family) in catalog.families_of(&name).unwrap() {
            let natives: Vec<&str> = family.natives().iter().map(|(name, _)| *name).collect();
            assert!(!family.plan().rules.is_empty(), "{of} on {name}");
            assert_eq!(family.plan().check(&domain, &natives), [], "{of} on {name}");
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen}");
}
