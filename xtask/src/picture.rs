//! The picture of the layers in ARCHITECTURE.md, drawn from the table of crates.

use std::path::Path;

use anyhow::{Context, Result};

use crate::layers::{EXCEPTIONS, ROWS};
use crate::{Fault, Outcome};

/// Where the picture stands; what is between the marks is drawn.
const FILE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- drawn by `cargo xtask layers --draw` -->\n";
const END: &str = "<!-- end of the drawing -->\n";

/// What is wrong with the picture that stands there.
pub(crate) fn check(root: &Path) -> Result<Option<Fault>> {
    let text = read(root)?;
    let drawn = with_picture(&text)?;
    let same = text.lines().zip(drawn.lines()).take_while(|(old, new)| old == new).count();
    let what = "the picture of the layers is not that of the table; run `cargo xtask layers --draw`";
    Ok((text != drawn).then(|| Fault::new(FILE, same + 1, what)))
}

/// Draws the picture anew.
pub fn draw(root: &Path) -> Result<Outcome> {
    let text = with_picture(&read(root)?)?;
    std::fs::write(root.join(FILE), text).with_context(|| format!("cannot write {FILE}"))?;
    Ok(Outcome { seen: format!("the picture in {FILE} is drawn"), faults: Vec::new() })
}

fn read(root: &Path) -> Result<String> {
    std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))
}

fn with_picture(text: &str) -> Result<String> {
    let marks = || format!("{FILE} has lost the line `{}` or `{}`", BEGIN.trim(), END.trim());
    let (before, rest) = text.split_once(BEGIN).with_context(marks)?;
    let (_, after) = rest.split_once(END).with_context(marks)?;
    Ok([before, BEGIN, "\n", &picture(ROWS, EXCEPTIONS), "\n", END, after].concat())
}

/// The rows from top to bottom, each with its crates and what it is for.
fn picture(rows: &[(&str, &[&str], &str)], exceptions: &[(&str, &str, &str)]) -> String {
    let mut lines: Vec<(&str, String, String)> = Vec::new();
    for (name, crates, about) in rows.iter().rev() {
        let crates = row(crates, exceptions);
        match lines.last_mut().filter(|(known, _, _)| known == name) {
            // Rows of one name are one row whose crates are ordered.
            Some((_, above, words)) => {
                *above = format!("{above} -> {crates}");
                if !about.is_empty() {
                    *words = format!("{words}; {about}");
                }
            }
            None => lines.push((name, crates, (*about).to_owned())),
        }
    }
    let width = |of: fn(&(&str, String, String)) -> usize| lines.iter().map(of).max().unwrap_or_default();
    let (names, crates) = (width(|line| line.0.len()), width(|line| line.1.len()));
    let line = |(name, of, about): &(&str, String, String)| {
        format!("    {}\n", format!("{name:names$}  {of:crates$}  {about}").trim_end())
    };
    lines.iter().map(line).collect()
}

/// The crates of a row, those that see another of the row with an arrow to it.
fn row(crates: &[&str], exceptions: &[(&str, &str, &str)]) -> String {
    let arrows: Vec<(&str, &str)> = exceptions.iter().map(|(from, to, _)| (*from, *to)).collect();
    let arrows: Vec<_> = arrows.into_iter().filter(|(from, to)| crates.contains(from) && crates.contains(to)).collect();
    let alone = crates.iter().filter(|name| arrows.iter().all(|(from, to)| from != *name && to != *name));
    let alone = alone.map(|name| place(name).to_owned());
    let arrows = arrows.iter().map(|(from, to)| format!("{} -> {}", place(from), place(to)));
    alone.chain(arrows).collect::<Vec<_>>().join("  ")
}

/// Where a crate stands, if not in `crates/`.
fn place(name: &str) -> &str {
    match name {
        "cli" => "apps/cli",
        "py" => "apps/py",
        "domain-*" => "domains/*",
        "family-*" => "families/*",
        "outsider-*" => "outsiders/*",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_from_top_to_bottom_with_arrows_where_crates_of_one_row_see_each_other() {
        let rows: &[(&str, &[&str], &str)] = &[
            ("low", &["base"], ""),
            ("low", &["expr"], "words"),
            ("middle", &["spec", "pack", "world"], "documents"),
            ("top", &["cli"], ""),
        ];
        let drawn = picture(rows, &[("world", "pack", "why")]);
        assert_eq!(
            drawn,
            "    top     apps/cli\n    middle  spec  world -> pack  documents\n    low     expr -> base         words\n"
        );
    }

    #[test]
    fn a_text_without_the_marks_is_an_error_that_says_so() {
        assert!(with_picture("# House\n").unwrap_err().to_string().contains("has lost the line"));
    }
}
