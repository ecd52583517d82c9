//! Scenarios as documents: files with faults give exactly the faults that they have, each with its place, and a clause that is asked for
//! in some tiers only is told in these alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use benchwright_catalog::Catalog;
use benchwright_spec::scenario::{self, Scenario, WordPart};
use std::{collections::BTreeMap, path::Path};

const MATTER: &str = "scenario.toml";
const WORDS: &str = "words.toml";

/// The files of an example, with some texts in the place of others.
fn files(changes: &[(&str, &str, &str)]) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let read = |file: &str| (file.to_owned(), std::fs::read_to_string(folder.join(file)).unwrap());
    let mut files: BTreeMap<String, String> = [MATTER, WORDS].into_iter().map(read).collect();
    for (file, old, new) in changes {
        let text = files.get_mut(*file).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old:?} stands in {file} once");
        *text = text.replace(old, new);
    }
    files
}

fn read(changes: &[(&str, &str, &str)]) -> Result<Scenario, Vec<String>> {
    let found = Catalog::built_in().find("csm").unwrap();
    scenario::read(&files(changes), &found.domain)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// What is written wrongly, and every fault that it has.
type Faulty<'a> = (&'a [(&'a str, &'a str, &'a str)], &'a [&'a str]);

const FAULTY: &[Faulty<'_>] = &[
    (
        &[(MATTER, "draw user(role = manager, active", "draw usr(role = manager, active")],
        &["scenario.toml:7:18: no relation is called `usr`\n  help: did you mean `user`?"],
    ),
    (
        &[(MATTER, "active = true) where none group_member", "activ = true) where none group_member")],
        &["scenario.toml:10:37: user has no field `activ`\n  help: did you mean `active`?"],
    ),
    (
        &[(MATTER, "used_as = \"suggested\"", "used_as = \"recommended\"")],
        &["scenario.toml:30:57: UsedAs has no word `recommended`"],
    ),
    (
        &[(MATTER, "to     = { assignment_group", "to     = { assigment_group")],
        &[
            "scenario.toml:35:31: `customer_case` has no field `assigment_group`\n  help: did you mean `assignment_group`?",
        ],
    ),
    (&[(MATTER, "id     = \"hand\"", "id     = \"link\"")], &["scenario.toml:33:11: `link` is here twice"]),
    (
        &[(MATTER, "rule  = \"published-articles-only\"", "rule  = \"published-article-only\"")],
        &[
            "scenario.toml:39:10: `published-article-only` is neither a rule nor a lifecycle\n  help: did you mean `published-articles-only`?",
        ],
    ),
    (
        &[(MATTER, "kind    = \"no_tool\"", "kind    = \"no-tool\"")],
        &["scenario.toml:52:12: `no-tool` is no obstacle\n  help: did you mean `no_tool`?"],
    ),
    (
        &[(MATTER, "without = [\"update_knowledge\"]", "without = [\"update_knowlege\"]")],
        &["scenario.toml:53:11: no tool is called `update_knowlege`\n  help: did you mean `update_knowledge`?"],
    ),
    (
        &[(MATTER, "lost = \"case.number\"", "lost = \"case.nummer\"")],
        &["scenario.toml:57:14: customer_case has no field `nummer`\n  help: did you mean `number`?"],
    ),
    (
        &[(MATTER, "seat = \"agent\"", "seat = \"agent\"\nwithout = [\"update_knowledge\"]")],
        &[
            "scenario.toml:47:10: it differs from what can be done in one fact: plants, a seat, tools left out, something lost, or a clause more",
        ],
    ),
    (
        &[(MATTER, "seat   = \"admin\"", "seat   = \"administrator\"")],
        &["scenario.toml:3:11: csm has no role `administrator`"],
    ),
    (
        &[(WORDS, "[hand: From now on the case", "[handover: From now on the case")],
        &[
            "words.toml:3:1: nothing tells `hand`: write `[hand: …]` around what does",
            "words.toml:3:1: the span `handover` tells what does not exist",
        ],
    ),
    (
        &[(WORDS, "In two words", "In 2 words")],
        &["words.toml:6:4: a digit outside of a slot\n  help: write numbers as words, or as slots"],
    ),
    (&[(WORDS, "This is {lead.name}.", "This is {lead}.")], &["words.toml:3:1: the slot `lead` shows an id"]),
    (&[(WORDS, "gets {case.number}]", "gets {case.number}")], &["words.toml:6:40: this span is not closed"]),
    (
        &[(MATTER, "id     = \"hand\"", "id     = \"hand\"\ntier   = [\"hardest\"]")],
        &["scenario.toml:34:10: there is no tier `hardest`"],
    ),
    (
        &[(MATTER, "id     = \"hand\"", "id     = \"hand\"\ntier   = [\"medium\", \"hard\"]")],
        &["words.toml:6:1: `[hand: …]` is not asked for in the tier easy: it must be whole sentences"],
    ),
    (
        &[(MATTER, "id     = \"hand\"", "id     = \"hand\"\nwenn   = \"true\"")],
        &["scenario.toml:34:1: unknown key `wenn`\n  help: did you mean `when`?"],
    ),
    // Two at once are both told.
    (
        &[
            (MATTER, "case = \"case\", article", "case = \"kase\", article"),
            (MATTER, "stage      = \"= running\"", "stage      = \"= walking\""),
        ],
        &[
            "scenario.toml:24:17: `walking` is neither a word of SlaStage nor a field of case_sla",
            "scenario.toml:30:18: nothing is called `kase` here\n  help: did you mean `case`?",
        ],
    ),
];

#[test]
fn every_fault_of_a_file_is_told_with_its_place() {
    for (changes, expected) in FAULTY {
        let told = read(changes).map(drop).expect_err("it has a fault");
        assert_eq!(told, *expected, "{changes:?}");
    }
}

fn text(parts: &[WordPart]) -> String {
    parts
        .iter()
        .map(|part| match part {
            WordPart::Plain(text) => text.clone(),
            WordPart::Slot(_) => "…".to_owned(),
            WordPart::Span(_, inner) => text(inner),
        })
        .collect()
}

#[test]
fn what_is_asked_for_in_some_tiers_is_told_in_these_alone() {
    let whole = "[link: Hang the article on the {case.product.name} on {case.number}, as suggested.] [hand: {engineer.name} of {group.name} gets it then.] I will";
    let written = "[hand: {engineer.name} of {group.name} gets {case.number}], and [link: hang the article on the {case.product.name} on it, as suggested]. I will";
    let tier = "id     = \"hand\"\ntier   = [\"medium\", \"hard\"]";
    let scenario = read(&[(MATTER, "id     = \"hand\"", tier), (WORDS, written, whole)]).unwrap();
    let said = |tier: &str| -> Vec<String> {
        scenario.at(tier).voices.iter().map(|(_, parts)| text(parts).trim().to_owned()).collect()
    };
    assert_eq!(
        said("easy"),
        [
            "This is …. Please put our article about the … on case …; it goes there as a suggestion. Follow the policy wherever it wants something done first, and leave it at that.",
            "In two words, I am nearly late: Hang the article on the … on …, as suggested. I will look at it tonight and want it by the book. …",
            "About …\nAttach the knowledge article on the …. It turned up in a search, so it is a suggestion.\nEverything else stays. For ….",
        ]
    );
    let last = "\nEverything else stays. For {lead.name}.";
    let list = [(MATTER, "id     = \"hand\"", tier), (WORDS, written, whole), (WORDS, last, "")];
    let list = read(&list).unwrap_or_else(|faults| panic!("{faults:?}"));
    let said_last = text(&list.at("easy").voices[2].1);
    assert!(said_last.trim_end().ends_with("so it is a suggestion."), "{said_last:?}");
    assert!(said("medium")[2].contains("\n2. The group is now … and the assignee …."), "{:?}", said("medium"));
    let idle = |tier: &str| -> Vec<String> {
        let at = scenario.at(tier);
        at.idle.iter().map(|member| at.cast[*member].name.clone()).collect()
    };
    assert_eq!((idle("easy"), idle("hard")), (vec!["group".to_owned(), "engineer".to_owned()], Vec::new()));
    assert_eq!(scenario.at("easy").clauses.len(), 1);
}
