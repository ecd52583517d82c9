//! A file of another shape than its type: everything is told once, with its place.

use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Box {
    name: String,
    #[serde(default)]
    size: (i64, i64),
    colour: Colour,
    #[serde(default)]
    light: bool,
    #[serde(default)]
    share: Option<f64>,
    #[serde(default)]
    inside: BTreeMap<String, Thing>,
    #[serde(default)]
    labels: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Colour {
    #[default]
    Red,
    DarkGreen,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thing {
    weight: u32,
    kind: Kind,
}

/// A type that takes only some texts.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Kind(String);

impl TryFrom<String> for Kind {
    type Error = String;
    fn try_from(text: String) -> Result<Kind, String> {
        if matches!(&*text, "" | "soft" | "hard") { Ok(Kind(text)) } else { Err(format!("`{text}` is no kind")) }
    }
}

fn told(text: &str) -> (Option<Box>, String) {
    let document = Document::new("box.toml", text);
    let found = document.read();
    let faults = document.into_faults();
    (found, faults.iter().map(|fault| format!("{fault}\n")).collect())
}

#[test]
fn what_is_right_is_read() {
    let text = "name = 'a'\nsize = [1, 2]\ncolour = 'dark-green'\nlight = true\nshare = 0.5\nlabels = ['x']\n\
                [inside.cup]\nweight = 3\nkind = 'soft'\n";
    let (found, faults) = told(text);
    assert_eq!(faults, "");
    let cup = Thing { weight: 3, kind: Kind("soft".to_owned()) };
    let expected = Box {
        name: "a".to_owned(),
        size: (1, 2),
        colour: Colour::DarkGreen,
        light: true,
        share: Some(0.5),
        inside: BTreeMap::from([("cup".to_owned(), cup)]),
        labels: vec!["x".to_owned()],
    };
    assert_eq!(found, Some(expected));
}

#[test]
fn every_fault_is_told_once_with_its_place() {
    let text = "nmae = 'a'\nsize = [1, 2, 3]\ncolour = 'dark-gren'\nlight = 'yes'\nshare = 'half'\nlabels = ['x', 4]\n\
                [inside.cup]\nweight = -3\nkind = 'sofft'\n[inside.jug]\nweight = 1\n";
    let (found, faults) = told(text);
    assert_eq!(
        faults,
        "box.toml:1:1: this file has no `name`\n\
         box.toml:1:1: unknown key `nmae`\n  help: did you mean `name`?\n\
         box.toml:2:8: expected a list of 2 for `size`\n\
         box.toml:3:11: unknown word `dark-gren` for `colour`\n  help: did you mean `dark-green`?\n\
         box.toml:4:10: expected `true` or `false` for `light`\n\
         box.toml:5:10: expected a number for `share`\n\
         box.toml:6:16: expected text for this item\n\
         box.toml:8:10: expected a whole number that is not negative for `weight`\n\
         box.toml:9:9: `sofft` is no kind\n\
         box.toml:10:9: `jug` has no `kind`\n"
    );
    assert!(found.is_some(), "the rest can be looked at");
}

#[test]
fn nothing_more_is_said_of_what_was_told() {
    let document = Document::new("box.toml", "name = 3\ncolour = 'red'\nlabels = [\"aé\\u0041bc\"]\n");
    assert!(document.read::<Box>().is_some());
    document.add([
        KeyFault::new(["name"], "it is empty"),
        KeyFault::new(["labels", "0"], "b").at_byte(4),
        KeyFault::new(["colour"], "not red").at_key(),
        KeyFault::new(["colour", "deeper"], "not there"),
    ]);
    let faults: Vec<String> = document.into_faults().iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "box.toml:1:8: expected text for `name`",
            "box.toml:2:1: not red",
            "box.toml:2:1: not there",
            "box.toml:3:20: b"
        ]
    );
}

#[test]
fn text_that_is_no_toml_is_told_and_keys_are_not_missed_in_it() {
    let (_, faults) = told("name = 'a\ncolour = = 'red'\nlihgt = true\n");
    assert_eq!(
        faults,
        "box.toml:1:10: invalid literal string, expected `'`\n\
         box.toml:2:10: extra `=`, expected nothing\n\
         box.toml:3:1: unknown key `lihgt`\n  help: did you mean `light`?\n"
    );
}
