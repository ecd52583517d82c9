//! Domains in a group: found by their own names, with the parts that stand beside the group.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_catalog::{Catalog, CatalogError, Kind};
use std::{
    fs,
    path::{Path, PathBuf},
};

const TABLES: &str = "[row]\nname = \"text\"\n";

/// A folder with `kiosk` in the group `trade`, which includes the part `desk`, and `shop`, which stands alone.
fn tree(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("_parts/counter/tools.toml", "list_{domain} = \"list row\"\n");
    write("_parts/counter/policy.toml", "[access]\nadmin = [\"any on *\"]\n");
    write("trade/README.md", "# Trade\n");
    for (folder, name) in [("trade/kiosk", "kiosk"), ("shop", "shop")] {
        let head = format!("name = \"{name}\"\ntitle = \"T\"\nrole = \"r\"\nabout = \"A.\"\ninclude = [\"counter\"]\n");
        write(&format!("{folder}/domain.toml"), &head);
        write(&format!("{folder}/tables.toml"), TABLES);
    }
    root
}

fn tools(catalog: &Catalog, name: &str) -> Vec<String> {
    let found = catalog.find(name).unwrap_or_else(|error| panic!("{error}"));
    found.domain.tools.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn a_domain_in_a_group_has_its_own_name_and_the_parts_beside_the_group() {
    let root = tree("groups");
    let catalog = Catalog::from_folder(&root);
    assert_eq!(catalog.names().unwrap(), ["kiosk", "shop"]);
    assert_eq!(catalog.place("kiosk").unwrap(), Some(root.join("trade/kiosk")));
    assert_eq!(catalog.place("trade").unwrap(), None);
    assert_eq!(tools(&catalog, "kiosk"), ["list_kiosk"]);
    // By its path it is found from anywhere, in a group or not.
    for (path, tool) in [("trade/kiosk", "list_kiosk"), ("shop", "list_shop")] {
        assert_eq!(tools(&Catalog::built_in(), &root.join(path).display().to_string()), [tool]);
    }
    let missing = catalog.find("kiosks").err().unwrap().to_string();
    assert!(missing.contains("did you mean `kiosk`?"), "{missing}");
    let own = catalog.find("trade").err().unwrap().to_string();
    assert!(own.contains("there are: kiosk, shop"), "{own}");
}

#[test]
fn a_name_is_used_once_over_all_groups() {
    let root = tree("group-twice");
    for file in ["domain.toml", "tables.toml"] {
        fs::create_dir_all(root.join("kiosk")).unwrap();
        fs::copy(root.join("trade/kiosk").join(file), root.join("kiosk").join(file)).unwrap();
    }
    let catalog = Catalog::from_folder(&root);
    for error in [catalog.names().err().unwrap(), catalog.find("shop").err().unwrap()] {
        let CatalogError::Twice { name, places } = &error else { panic!("{error}") };
        assert_eq!((&**name, places), ("kiosk", &[root.join("kiosk"), root.join("trade/kiosk")]));
        assert!(error.to_string().contains("trade/kiosk") && error.to_string().contains("another name"), "{error}");
    }
}

#[test]
fn a_fault_of_a_part_is_told_where_the_part_stands() {
    let root = tree("group-part");
    let part = Path::new("_parts/counter/tools.toml");
    fs::write(root.join(part), "list_{domain} = \"list rows\"\n").unwrap();
    let checked = Catalog::built_in().check(&root.join("trade")).unwrap();
    assert_eq!((checked.len(), checked[0].kind), (1, Kind::Domain));
    assert_eq!(checked[0].faults[0].file, root.join(part).display().to_string());
    assert!(checked[0].faults[0].message.contains("unknown table `rows`"), "{:?}", checked[0].faults);
}

#[test]
fn the_groups_of_the_program_are_carried_and_on_disk() {
    for catalog in [Catalog::built_in(), Catalog::default()] {
        assert!(catalog.names().unwrap().contains(&"coatings".to_owned()));
        let domain = catalog.find("coatings").unwrap().domain;
        assert!(domain.table_named("runs").is_some() && domain.table_named("handed").is_some());
    }
}
