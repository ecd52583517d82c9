//! Wrong patterns, grids, parts, joined worlds and suites: each folder below `wrong` says how it differs from the good ones, and
//! all that is told of it. Domains and plans have theirs in `crates/schema/tests`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

#[path = "../../../schema/tests/suite/changes.rs"]
mod changes;

use benchwright_base::Diagnostic;
use benchwright_catalog::{Catalog, CatalogError, Checked, Kind};
use changes::changed;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn own(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// The files of a folder and of those in it, by path.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(file, text)| (format!("{name}/{file}"), text)));
        } else {
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    found
}

/// Writes files into a fresh folder of a name.
fn written(name: &str, files: &BTreeMap<String, String>) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    for (file, text) in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn told(checked: &[Checked], root: &Path) -> String {
    let root = format!("{}/", root.display());
    let line = |fault: &Diagnostic| {
        let file = fault.file.strip_prefix(&root).unwrap_or_else(|| panic!("{} is elsewhere", fault.file)).to_owned();
        format!("{}\n", Diagnostic { file, ..fault.clone() })
    };
    checked.iter().flat_map(|thing| &thing.faults).map(line).collect()
}

/// What is checked of each kind of case.
const TARGETS: [(&str, &str); 6] = [
    ("domains", "domains/desk"),
    ("grids", "domains/garden"),
    ("joined", "domains/_joined"),
    ("parts", "domains/_parts/tags"),
    ("patterns", "patterns/buying"),
    ("suites", "suites/two.toml"),
];

#[test]
fn the_good_ones_have_no_fault() {
    let root = written("good", &files(&own("good")));
    let checked = Catalog::built_in().check(&root).unwrap();
    assert_eq!(told(&checked, &root), "");
    let mut kinds: Vec<Kind> = checked.iter().map(|thing| thing.kind).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, [Kind::Domain, Kind::Pattern, Kind::Part, Kind::Joined, Kind::Suite]);
    assert_eq!(Catalog::built_in().check(&root.join("suites/two.toml")).unwrap()[0].kind, Kind::Suite);
    assert_eq!(Catalog::built_in().check(&root.join("suites")).unwrap()[0].kind, Kind::Suite);
    assert_eq!(Catalog::built_in().check(&root.join("domains/desk/tables.toml")).unwrap()[0].kind, Kind::Domain);
}

#[test]
fn every_wrong_declaration_is_told_all_its_faults_and_no_other() {
    let mut seen = 0;
    for (kind, target) in TARGETS {
        let mut folders: Vec<PathBuf> =
            fs::read_dir(own("wrong").join(kind)).unwrap().map(|e| e.unwrap().path()).collect();
        folders.sort();
        for folder in folders {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            let mut tree = files(&own("good"));
            let mut change = files(&folder);
            change.remove("expected.txt");
            changed(&mut tree, change);
            let root = written(&format!("wrong-{kind}-{name}"), &tree);
            let checked =
                Catalog::built_in().check(&root.join(target)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let found = told(&checked, &root);
            assert!(!found.is_empty(), "{kind}/{name} has no fault");
            let expected = folder.join("expected.txt");
            if std::env::var_os("BENCHWRIGHT_UPDATE").is_some() {
                fs::write(&expected, &found).unwrap();
            }
            let expected_text = fs::read_to_string(&expected).unwrap_or_default();
            assert_eq!(found, expected_text, "{} differs; BENCHWRIGHT_UPDATE=1 rewrites it", expected.display());
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen}");
}

/// A world whose grid has faults cannot be had, and what is told is about that file.
#[test]
fn a_domain_with_a_broken_grid_does_not_load() {
    let mut tree = files(&own("good"));
    let grid = tree.get_mut("domains/garden/grid.toml").unwrap();
    *grid = grid.replace("high = 40", "high = 0").replace("of = \"yield\"", "of = \"yeild\"");
    let root = written("broken-grid", &tree);
    let Err(CatalogError::Faulty { faults, .. }) = Catalog::from_folder(root.join("domains")).find("garden") else {
        panic!("it loads")
    };
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.file == "grid.toml"), "{faults:?}");
}

#[test]
fn everything_that_the_program_carries_is_sound() {
    let root = own("../..");
    for (folder, least) in [("domains", 30), ("patterns", 30), ("suites", 3), ("families", 1)] {
        let checked = Catalog::built_in().check(&root.join(folder)).unwrap();
        let faulty: Vec<&Checked> = checked.iter().filter(|thing| !thing.faults.is_empty()).collect();
        assert!(faulty.is_empty(), "{faulty:#?}");
        assert!(checked.len() >= least, "{folder}: {}", checked.len());
    }
}
