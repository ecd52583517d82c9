//! A domain that includes a part is one folder: its own words and one table, and nothing else is touched.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_catalog::{Catalog, CatalogError};
use benchwright_sandbox::Conditions;
use benchwright_world::Seat;
use std::{fs, path::PathBuf};

const ITEM: &str = "[item]\ncandidate_of = \"-> slot?\"\nnumber = \"int(1..)\"\nname = \"text\"\nwater = \"int(0..)\"\nyield = \"int(0..)\"\nrow_width = \"int(0..)\"\nfamily = \"-> label\"\n";
const WORDS: &str = r#"
plan = "bed plan"
item = "plant"
items = "plants"
row = "bed"
column = "place"
names = ["Bean", "Kale", "Leek"]
[[number]]
field = "water"
low = 1
high = 40
[[number]]
field = "yield"
low = 1
high = 60
[[number]]
field = "row_width"
low = 1
high = 5
[[label]]
field = "family"
words = ["roots", "leaves", "fruits", "herbs"]
[[rule]]
measure = "total_at_most"
of = "water"
says = ["All plants together need at most {bound} litres."]
[[rule]]
measure = "total_at_least"
of = "yield"
says = ["All plants together yield at least {bound} kilograms."]
[[rule]]
measure = "word_at_most"
of = "family"
says = ["Of each family there are at most so many plants: {list}."]
"#;

fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    let folder = root.join("garden");
    fs::create_dir_all(&folder).unwrap();
    let about =
        "name = \"garden\"\ntitle = \"Gardens\"\nrole = \"gardener\"\nabout = \"Beds.\"\ninclude = [\"grid\"]\n";
    fs::write(folder.join("domain.toml"), about).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    root
}

#[test]
fn a_seventh_domain_is_one_folder() {
    let root = folder("seventh", &[("tables.toml", ITEM), ("grid.toml", WORDS)]);
    let catalog = Catalog::from_folder(&root);
    let found = catalog.find("garden").unwrap();
    assert_eq!(found.domain.tools.len(), 11);
    assert!(found.tools_without_code().is_empty(), "{:?}", found.tools_without_code());
    assert!(found.domain.tools.iter().any(|tool| tool.name == "query_garden_candidate_from_attribute"));
    assert_eq!(
        catalog.pattern_names().unwrap().iter().filter(|name| name.starts_with("grid/")).collect::<Vec<_>>(),
        ["grid/garden"]
    );
    let pattern = catalog.pattern("grid/garden").unwrap();
    assert_eq!((&*pattern.family, &*pattern.domain, pattern.head.cells.len()), ("grid", "garden", 54));
    assert_eq!((&*pattern.head.cells[0].tier, &*pattern.head.cells[53].tier), ("h01-b00", "h20-b20"));
    let dials: Vec<(String, i64)> =
        pattern.dials("h05-b09-p10").into_iter().map(|dial| (dial.name, dial.value)).collect();
    let expected = [("open slots", 5), ("decoys", 9), ("failing calls in percent", 10)];
    assert_eq!(dials, expected.map(|(name, value)| (name.to_owned(), value)));
    assert!(catalog.family("grid", "garden").unwrap().proof().is_some());
    assert_eq!(catalog.families_of("garden").unwrap().len(), 1);
}

#[test]
fn faults_of_a_part_and_of_what_it_is_told_name_their_file() {
    let root = folder("no-item", &[("tables.toml", "[thing]\nname = \"text\"\n"), ("grid.toml", WORDS)]);
    let Err(CatalogError::Faulty { faults, .. }) = Catalog::from_folder(&root).find("garden") else {
        panic!("it loads")
    };
    assert!(faults.iter().any(|fault| fault.file == "_parts/grid/tables.toml"), "{faults:?}");

    let twice = format!("{ITEM}\n[slot]\nname = \"text\"\n");
    let root = folder("twice", &[("tables.toml", &twice), ("grid.toml", WORDS)]);
    let Err(CatalogError::Faulty { faults, .. }) = Catalog::from_folder(&root).find("garden") else {
        panic!("it loads")
    };
    assert!(faults.iter().any(|f| f.file == "tables.toml" && f.message.contains("already")), "{faults:?}");

    let root = folder("words", &[("tables.toml", ITEM), ("grid.toml", &WORDS.replace("high = 40", "high = 0"))]);
    let Err(error) = Catalog::from_folder(&root).family("grid", "garden") else { panic!("it loads") };
    assert!(error.to_string().contains("grid.toml:11:8: no range goes from 1 to 0"), "{error}");

    let root = folder("no-part", &[("tables.toml", ITEM), ("grid.toml", WORDS)]);
    let domain = root.join("garden/domain.toml");
    fs::write(&domain, fs::read_to_string(&domain).unwrap().replace("[\"grid\"]", "[\"grids\"]")).unwrap();
    let Err(CatalogError::Faulty { faults, .. }) = Catalog::from_folder(&root).find("garden") else {
        panic!("it loads")
    };
    let told = faults.iter().find(|fault| fault.file == "domain.toml" && fault.message.contains("no part")).unwrap();
    assert_eq!(told.help.as_deref(), Some("did you mean `grid`?"));
}

#[test]
fn pools_of_a_part_are_drawn_from_and_declared_once() {
    let seed = "[[rows]]\ntable = \"thing\"\ncount = 3\nname = \"text {first} {last}\"\n";
    let with = |name: &str, seed: &str| {
        let tables = "[thing]\nname = \"text\"\n";
        let tools = "list_things = \"list thing\"\n";
        let policy = "[access]\nadmin = [\"any on *\"]\n";
        let files = [("tables.toml", tables), ("tools.toml", tools), ("policy.toml", policy), ("seed.toml", seed)];
        let root = folder(name, &files);
        let domain = root.join("garden/domain.toml");
        fs::write(&domain, fs::read_to_string(&domain).unwrap().replace("[\"grid\"]", "[\"people\"]")).unwrap();
        Catalog::from_folder(&root)
    };
    let world = with("pools", seed).world("garden", "small", 1).unwrap();
    let seat = Seat { role: "admin".to_owned(), actor: None };
    let rows = world.begin(&seat, Conditions::default()).unwrap().snapshot().tables.remove(0).rows;
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| format!("{:?}", row[1]).contains(' ')), "{rows:?}");

    let twice = format!("[pools]\nfirst = [\"Ada\"]\n\n{seed}");
    let Err(CatalogError::Faulty { faults, .. }) = with("pools-twice", &twice).find("garden") else {
        panic!("it loads")
    };
    assert!(faults.iter().any(|f| f.file == "seed.toml" && f.message.contains("here twice")), "{faults:?}");
}
