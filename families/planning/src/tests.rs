//! The laws of a workflow: what is rendered can be read back, whatever was laid into the files; and who reads in a hurry reads wrong.

use crate::{
    family,
    reader::{self, Workspace},
    records::Records,
    render::{self, Source},
    workflow::{self, Planning},
    written::{TrapText, traps_at},
};
use benchwright_project::{Discard, Family as _, Telling};
use benchwright_sandbox::Sandbox;
use benchwright_schema::Folder;
use std::{collections::BTreeMap, fs, path::PathBuf};

fn domains() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../domains")
}

fn files(folder: PathBuf) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .filter(|(name, _)| name != "Cargo.toml")
        .collect()
}

/// A workflow's folder with the part.
fn folder(name: &str) -> Folder {
    Folder::new(name, files(domains().join("planning").join(name)))
        .with_part("planning", files(domains().join("_parts/planning")))
}

fn filler(
    domain: std::sync::Arc<benchwright_schema::Domain>,
    size: &str,
    seed: u64,
) -> Result<benchwright_pack::Snapshot, Discard> {
    Ok(Sandbox::seeded(domain, &[], size, seed).map_err(|error| Discard::Fault(error.to_string()))?.first_snapshot())
}

fn workflows() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(domains().join("planning"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn planning(folder: &Folder) -> Result<Planning, String> {
    let telling = Telling { folder, domain: None, filler };
    workflow::planning(telling).map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn rendered(planning: &Planning, records: &Records, traps: &[&TrapText]) -> Workspace {
    let source = Source {
        layout: &planning.layout,
        written: &planning.written,
        forms: planning.form_tables().collect(),
        records,
        before: records,
        traps: traps.to_vec(),
    };
    let files = render::files(&source).unwrap();
    files.into_iter().map(|file| (file.path, (file.media.to_owned(), file.body))).collect()
}

/// Whatever is drawn, at every tier: cleaning undoes rendering, and the same records give the same bytes.
#[test]
fn what_is_rendered_is_read_back() {
    let names = workflows();
    assert!(names.contains(&"coatings".to_owned()));
    for name in names {
        let planning = planning(&folder(&name)).unwrap();
        for tier in crate::told::TIERS {
            let traps: Vec<&TrapText> = planning.written.traps.iter().take(traps_at(tier)).collect();
            assert_eq!(traps.len(), traps_at(tier), "{name} has too few traps");
            let mut misread: BTreeMap<&str, u32> = BTreeMap::new();
            for seed in 0..6 {
                let drawn = filler(planning.layout.domain.clone(), tier, seed).unwrap();
                let records = Records::of(&planning.layout, &drawn).unwrap();
                let workspace = rendered(&planning, &records, &traps);
                assert_eq!(workspace, rendered(&planning, &records, &traps), "{name} {tier} {seed}");
                let read = reader::records(&planning.layout, &planning.written, &traps, &workspace);
                assert_eq!(read.as_ref(), Ok(&records), "{name} {tier} {seed}");
                // Each trap, not heeded, makes other records or none.
                for left in &traps {
                    let others: Vec<&TrapText> = traps.iter().filter(|trap| trap.name != left.name).copied().collect();
                    let read = reader::records(&planning.layout, &planning.written, &others, &workspace);
                    *misread.entry(&left.name).or_default() += u32::from(read != Ok(records.clone()));
                }
            }
            // At tiers that are offered, that is.
            for trap in traps.iter().filter(|_| planning.told.difficulty.contains_key(tier)) {
                assert!(
                    misread.get(&*trap.name).is_some_and(|count| *count > 0),
                    "{name} {tier}: {} misleads nobody",
                    trap.name
                );
            }
        }
    }
}

/// A trap that is laid again stands otherwise in the files; nothing else does, and what is read is the same.
#[test]
fn a_trap_is_laid_again_by_itself() {
    let planning = planning(&folder("coatings")).unwrap();
    let traps: Vec<&TrapText> = planning.written.traps.iter().take(traps_at("hard")).collect();
    let drawn = filler(planning.layout.domain.clone(), "hard", 1).unwrap();
    let first = Records::of(&planning.layout, &drawn).unwrap();
    let before = rendered(&planning, &first, &traps);
    for trap in &traps {
        let mut records = first.clone();
        let mut seen = vec![before.clone()];
        for _ in 0..2 {
            records.lay_again(&trap.name);
            let after = rendered(&planning, &records, &traps);
            let path = trap.place().0;
            let differing: Vec<&String> =
                after.iter().filter(|(path, file)| before.get(*path) != Some(*file)).map(|(path, _)| path).collect();
            match trap.kind.is_drawn() {
                true => assert_eq!(differing, [path], "{}", trap.name),
                false => continue,
            }
            assert!(!seen.contains(&after), "{} stands as it did", trap.name);
            let read = reader::records(&planning.layout, &planning.written, &traps, &after);
            assert_eq!(read.as_ref(), Ok(&first), "{}", trap.name);
            seen.push(after);
        }
    }
    assert!(traps.iter().filter(|trap| trap.kind.is_drawn()).count() > 2);
}

/// What is wrong in a folder is told with the file that it stands in.
#[test]
fn a_faulty_folder_is_told_by_its_files() {
    let good = folder("coatings");
    assert!(family(Telling { folder: &good, domain: None, filler }).is_ok());
    let with = |file: &str, from: &str, to: &str| {
        let mut folder = good.clone();
        let text = folder.files.get_mut(file).unwrap();
        assert!(text.contains(from), "{file} has no `{from}`");
        *text = text.replacen(from, to, 1);
        planning(&folder).err().unwrap_or_default()
    };
    let cases = [
        (with("planning.toml", "lot sizing", ""), "planning.toml", "what do the books call it"),
        (
            with("planning.toml", "family = \"manufacturing\"", "family = \"manufacture\""),
            "planning.toml",
            "did you mean `manufacturing`",
        ),
        (with("planning.toml", "medium = [1,", "middle = [1,"), "planning.toml", "there is no tier `middle`"),
        (
            with("files.toml", "from    = \"family\"", "from    = \"familly\""),
            "files.toml",
            "there is no table `familly`",
        ),
        (with("files.toml", "    \"qty: how much\",\n", ""), "files.toml", "no file tells `demand.qty`"),
        (
            with("files.toml", "units = { l = 1, cl = 100 }", "units = { l = 10, cl = 100 }"),
            "files.toml",
            "one of which is 1",
        ),
        (with("data.toml", "[plant]", "[plant"), "data.toml", "unclosed table"),
        (with("draw.toml", "any family", "any familly"), "draw.toml", "familly"),
        (with("plan.toml", "<= tank()", "<= tanks()"), "plan.toml", "tanks"),
        (
            with(
                "plan.toml",
                "Overtime of a period is at most its limit.",
                "Overtime of a period is at least its limit.",
            ),
            "plan.toml",
            "this says `at least`, and the rule bounds from above",
        ),
    ];
    for (told, file, says) in cases {
        assert!(told.contains(file) && told.contains(says), "{file}: {says}: {told:?}");
    }
}

/// The example of somebody's own files.
fn own_files() -> BTreeMap<String, Vec<u8>> {
    let folder = domains().join("../examples/coatings-own");
    files(folder).into_iter().map(|(name, text)| (name, text.into_bytes())).collect()
}

#[test]
fn own_files_become_a_workflow_whose_files_read_back() {
    let mut folder = folder("coatings");
    let drawn = planning(&folder).unwrap();
    folder.files.extend(crate::own::taken(&drawn, &own_files()).unwrap());
    let own = planning(&folder).unwrap();
    let records = own.own.clone().unwrap();
    assert_eq!(records.rows("item").len(), 4);
    let read = reader::records(&own.layout, &own.written, &[], &rendered(&own, &records, &[])).unwrap();
    assert_eq!(read, records);
    assert!(rendered(&own, &records, &[]).contains_key("weeks.csv"));
}

#[test]
fn every_fault_of_own_files_is_told_with_its_place() {
    let planning = planning(&folder("coatings")).unwrap();
    let mut given = own_files();
    let mut change = |file: &str, from: &str, to: &str| {
        let text = String::from_utf8(given[file].clone()).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        given.insert(file.to_owned(), text.replacen(from, to, 1).into_bytes());
    };
    change("articles.csv", "F2,22,", "F2,twenty,");
    change("articles.csv", "P0002,F3", "P0002,F9");
    change("orders.csv", "P0001;4;18", "P0001;4;-5");
    change("orders.csv", "P0001;2;21\n", "P0001;2;21\nP0001;2;21\n");
    change("plant.csv", "9.00", "9.005");
    let faults = crate::own::taken(&planning, &given).unwrap_err();
    let mut expected = vec![
        "articles.csv, row 2, column `Litres per batch`: `twenty` is no whole number",
        "articles.csv, row 3, column `Group`: `F9` is no family of the files",
        "orders.csv, row 3, column `Article`, `Week`: row 2 says this already: P0001, 2",
        "orders.csv, row 4, column `Litres`: `-5` must be at least 0",
        "plant.csv, row 2, column `Overtime EUR`: `9.005` is no amount with at most two decimals",
    ];
    let mut faults: Vec<&str> = faults.iter().map(|fault| &**fault).collect();
    faults.sort_unstable();
    expected.sort_unstable();
    assert_eq!(faults, expected);
    given.remove("weeks.csv");
    given.insert("columns.toml".to_owned(), b"[[file]]\nis = 'data/none.csv'\npath = 'a.csv'\n".to_vec());
    let faults = crate::own::taken(&planning, &given).unwrap_err();
    assert!(faults[0].starts_with("columns.toml: there is no file `data/none.csv`"), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.starts_with("data/items.csv: there is no such file")), "{faults:?}");
}

/// At the first stage a fact is what the records say, and at a later one what has come to it by then, with all that follows.
#[test]
fn facts_of_a_stage_are_those_that_are_known_at_it() {
    let plain = planning(&folder("coatings")).unwrap();
    let staged = plain.staged.as_deref().unwrap();
    let traps: Vec<&TrapText> = staged.written.traps.iter().take(traps_at("medium-stages")).collect();
    for seed in 0..4 {
        let drawn = filler(plain.layout.domain.clone(), "medium", seed).unwrap();
        let ordinary = Records::of(&plain.layout, &drawn).unwrap();
        let records = Records::of(&staged.layout, &drawn).unwrap();
        assert!(ordinary.rows("surge").is_empty() && !records.rows("surge").is_empty());
        // The files tell all of it, those of later stages too, and each of them is there from its stage on.
        let workspace = rendered(staged, &records, &traps);
        assert_eq!(reader::records(&staged.layout, &staged.written, &traps, &workspace), Ok(records.clone()));
        let files = staged.files(&staged.case_read(&traps, &records)).unwrap();
        let stage = |path: &str| files.iter().find(|file| file.path == path).map(|file| file.stage);
        assert_eq!(
            [stage("data/items.csv"), stage("stage-2/surge.csv"), stage("stage-3/outage.csv")],
            [1, 2, 3].map(Some)
        );
        assert_eq!(
            [stage("dictionary.md"), stage("stage-2/dictionary.md"), stage("forms/shifts.csv")],
            [1, 2, 2].map(Some)
        );
        let facts = |planning: &Planning, records: &Records| {
            let stages = planning.stages.as_ref();
            crate::bind::bindings(&planning.layout, &planning.told, stages, records).unwrap().facts
        };
        let (once, by) = (facts(&plain, &ordinary), facts(staged, &records));
        let of_stage = |fact: &str, stage: &str| -> BTreeMap<String, _> {
            let at = by[fact].iter().filter_map(|(at, is)| Some((at.strip_prefix(stage)?.to_owned(), is.clone())));
            at.collect()
        };
        for fact in ["upto", "reach", "line_minutes"] {
            assert_eq!(of_stage(&format!("{fact}_by"), "1|"), once[fact], "{fact}");
        }
        assert_ne!(of_stage("upto_by", "2|"), of_stage("upto_by", "1|"));
        assert_eq!(of_stage("upto_by", "3|"), of_stage("upto_by", "2|"));
        assert_eq!(of_stage("line_minutes_by", "2|"), of_stage("line_minutes_by", "1|"));
        assert_ne!(of_stage("line_minutes_by", "3|"), of_stage("line_minutes_by", "2|"));
        assert!(!by.contains_key("upto") && by.contains_key("last"), "what does not change is one fact");
    }
}

/// The whole text of a plan, lifted.
#[test]
fn a_workflow_is_lifted_rule_by_rule() {
    let plain = planning(&folder("coatings")).unwrap();
    assert!(!plain.plan.views.contains_key("passed") && !plain.plan.rules.contains_key("coatings/frozen-runs"));
    let staged = plain.staged.as_deref().unwrap();
    let dynamics = |tier: &str| plain.problem(tier).unwrap().difficulty["dynamics"];
    assert_eq!([dynamics("medium"), dynamics("medium-stages")], [2, 3], "a tier in stages has figures of its own");
    let rule = |id: &str| {
        let rule = &staged.plan.rules[id];
        (rule.per.clone().unwrap(), rule.require.clone().unwrap())
    };
    let (per, require) = rule("coatings/overtime-window");
    assert_eq!(per, "k in stages, t in periods where t >= 3");
    assert_eq!(require, "(sum overtime(stage = k, period >= t - 2, period <= t) of minutes) <= overtime_window()");
    let (per, require) = rule("coatings/frozen-passed");
    assert!(per.starts_with("k in stages, i in items") && per.ends_with("where k >= 2 and t <= frozen(k)"));
    assert!(require.starts_with("(count passed(stage = k, item = i, period = t)) = (count passed(stage = k - 1"));
    assert!(rule("coatings/balance").1.contains("- upto_by(k, i, t)"));
    assert_eq!(staged.plan.views["run"].key, ["stage", "item", "period"]);
    let cost = &staged.plan.objectives["best"].phases[0].of;
    assert!(
        cost.starts_with("((sum run(stage = last_stage()) of wash_cost(item))") && cost.contains("change_fee()"),
        "{cost}"
    );
    let hindsight = &staged.stages.as_ref().unwrap().hindsight;
    assert!(!hindsight.rules.contains_key("coatings/frozen-runs"));
    assert!(!hindsight.objectives["best"].phases[0].of.contains("change_fee()"));
    assert_eq!(hindsight.rules["coatings/balance"].per.as_deref(), Some("k in last_stages, i in items, t in periods"));
}

/// What is wrong with what a folder says of its stages is told, and with the file.
#[test]
fn faulty_stages_are_told() {
    let good = folder("coatings");
    let with = |from: &str, to: &str| {
        let mut folder = good.clone();
        let text = folder.files.get_mut("stages.toml").unwrap();
        assert!(text.contains(from), "there is no `{from}`");
        *text = text.replacen(from, to, 1);
        planning(&folder).err().unwrap_or_default()
    };
    let cases = [
        (with("medium-stages", "middle-stages"), "there is no tier `middle-stages`"),
        (with("[changed.qty]", "[changed.quantity]"), "`quantity` changes, and is no fact"),
        (with("stock = \"($stock", "stocks = \"($stock"), "there is no let `stocks`"),
        (with("code    = \"FREEZE\"\n", ""), "needs `code`"),
        (with("\"stage\", \"terms\"", "\"stage\", \"plant\""), "the last ones of the records"),
        (with("frozen(k)\"", "frosen(k)\""), "frosen"),
    ];
    for (told, says) in cases {
        assert!(told.contains("stages.toml") && told.contains(says), "{says}: {told}");
    }
    let mut folder = good.clone();
    let plan = folder.files.get_mut("plan.toml").unwrap();
    *plan = plan.replacen("t in periods, f in families", "t in periods, k in families", 1).replacen(
        "= f) <= colours(f)",
        "= k) <= colours(k)",
        1,
    );
    assert!(planning(&folder).err().unwrap().contains("which is that of the stage"));
}
