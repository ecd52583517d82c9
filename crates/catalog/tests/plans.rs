//! The plan of every family holds together on each of its domains.

use benchwright_catalog::Catalog;

#[test]
fn no_plan_of_the_program_has_a_fault() {
    let catalog = Catalog::built_in();
    let mut seen = 0;
    for name in catalog.names().unwrap() {
        let Ok(family) = catalog.family(&name) else { continue };
        let natives: Vec<&str> = family.natives().iter().map(|(name, _)| *name).collect();
        let domain = catalog.find(&name).unwrap().domain;
        assert!(!family.plan().rules.is_empty(), "{name}");
        assert_eq!(family.plan().check(&domain, &natives), [], "{name}");
        seen += 1;
    }
    assert!(seen >= 7, "{seen}");
}
