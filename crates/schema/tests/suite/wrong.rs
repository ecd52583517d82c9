//! Wrong domains: each folder below `tests/wrong` says how it differs from the good one, and all that is told of it.

use crate::changes::changed;
use crate::common::{self, compare, shown};
use benchwright_schema::{Folder, load};

#[test]
fn every_wrong_domain_is_told_all_its_faults_and_no_other() {
    let mut folders: Vec<_> = std::fs::read_dir(common::path("wrong")).unwrap().map(|e| e.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 30, "{}", folders.len());
    for folder in folders {
        let mut shop = common::shop();
        changed(&mut shop.files, common::files(&folder));
        let faults = load(&shop).expect_err(&folder.display().to_string());
        assert!(!faults.is_empty());
        let mut sorted = faults.clone();
        sorted.sort();
        assert_eq!(faults, sorted, "by file and line");
        compare(&folder.join("expected.txt"), &shown(&faults));
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let mut shop = common::shop();
    shop.files.insert("tools.toml".into(), "x = 1\n".repeat(Folder::LARGEST_FILE / 6 + 1));
    let faults = load(&shop).unwrap_err();
    assert_eq!(shown(&faults), "tools.toml:1:1: this file has 1048578 bytes; at most 1048576 are read\n");
    for at in 0..9 {
        shop.files.insert(format!("cases/{at}.case"), "x".repeat(1 << 20));
    }
    let faults = load(&shop).unwrap_err();
    assert!(faults.len() == 1 && faults[0].message.starts_with("the folder has"), "{}", shown(&faults));
}

#[test]
fn a_large_file_of_junk_is_told_briefly() {
    let many = |line: &dyn Fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    let deep = |open: &str, close: &str| format!("x = \"{}{}\"\n", open.repeat(5_000), close.repeat(5_000));
    let hostile = [
        ("tables.toml", many(&|n| format!("[t{n}]\na = \"tex\"\n"))),
        ("tables.toml", format!("[t]\n{}", many(&|n| format!("f{n} = \"tex\"\n")))),
        ("tables.toml", format!("[enums]\nE = [{}]\n", many(&|n| format!("\"w{n}\",")))),
        ("tools.toml", many(&|n| format!("t{n} = \"fnd ordr\"\n"))),
        ("tools.toml", deep("(", ")")),
        ("tools.toml", format!("x = \"find order by {}\"\n", "status, ".repeat(100_000))),
        ("tools.toml", format!("x = \"native takes {}: y\"\n", "a: int, ".repeat(100_000))),
        ("tools.toml", "é = = \n".repeat(100_000)),
        ("tables.toml", "é = = \n[x\n".repeat(80_000)),
        ("policy.toml", format!("[access]\na = [{}]\n", "\"any on *\",".repeat(50_000))),
        ("policy.toml", format!("[access]\na = [\"read on {} where x\"]\n", "order, ".repeat(100_000))),
        ("tools.toml", format!("x = {}1{}\n", "[".repeat(200_000), "]".repeat(200_000))),
        ("tools.toml", format!("{} = 1\n", vec!["a"; 100_000].join("."))),
        ("tools.toml", format!("x = \"find {}\"\n", "é".repeat(100_000))),
        (
            "policy.toml",
            format!("[access]\na = [\"any on *\"]\nb = [\"any on order where {}true\"]\n", "not ".repeat(900)),
        ),
        ("policy.toml", format!("[access]\nb = [\"any on order where {}true\"]\n", "(".repeat(4000))),
        ("policy.toml", format!("[access]\n{}", many(&|n| format!("r{n} = [\"like r{}\"]\n", n + 1)))),
        (
            "seed.toml",
            format!("[[rows]]\ntable = \"person\"\ncount = 1\nname = \"{}null\"\n", "maybe 1: ".repeat(50_000)),
        ),
        ("domain.toml", "\u{0}\u{1}\u{fffd}\u{202e}\u{10ffff}".repeat(1_000)),
    ];
    for (name, text) in hostile {
        let mut shop = common::shop();
        shop.files.insert(name.into(), text);
        if let Err(faults) = load(&shop) {
            assert!(faults.len() <= 501, "{name}: {}", faults.len());
            assert!(faults.iter().all(|fault| fault.message.len() < 1_000));
        }
    }
}
