//! How a wrong folder differs from a good one, as a short text that is easy to read beside what is told of it.

use std::collections::BTreeMap;

/// Puts the differences of one folder on good files. `change.txt` has a section for each file (`@ tables.toml`): `-` lines are
/// taken out of it and the `+` lines that follow stand in their place; `+` lines without any are put at the end. A file of any
/// other name is taken as it stands.
pub(crate) fn changed(good: &mut BTreeMap<String, String>, mut files: BTreeMap<String, String>) {
    files.remove("expected.txt");
    let change = files.remove("change.txt").unwrap_or_default();
    good.extend(files);
    let mut name = "";
    let mut at = None;
    for line in change.lines() {
        let (sign, rest) = line.split_at(1);
        if sign == "@" {
            (name, at) = (rest.trim(), None);
            continue;
        }
        let text = good.entry(name.to_owned()).or_default();
        match sign {
            "-" => {
                let found = format!("\n{text}").find(&format!("\n{rest}\n"));
                let start = found.unwrap_or_else(|| panic!("{name} has no line {rest}"));
                text.replace_range(start..start + rest.len() + 1, "");
                at = Some(start);
            }
            "+" => {
                let start = at.unwrap_or(text.len());
                text.insert_str(start, &format!("{rest}\n"));
                at = Some(start + rest.len() + 1);
            }
            _ => panic!("neither `@`, `-` nor `+`: {line}"),
        }
    }
}
