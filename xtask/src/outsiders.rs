//! What an outsider may name. Its crate depends on the solvers for their plain model, and through them on everything that a plan is
//! made of; so its sources are read too: of those crates they name the model and the tools that read, and no file is taken in.

use std::path::Path;

use anyhow::Result;

use crate::Fault;
use crate::modules::{Token, names_in, read, read_tree, tokens};
use crate::rust_text::code_only;

/// Where outsiders stand.
const FOLDER: &str = "outsiders";

/// What may be named of a crate that holds more than an outsider may know.
const NAMES: &[(&str, &[&str])] = &[
    (
        "benchwright_solve",
        &["Answer", "Constraint", "Engine", "EngineError", "Limits", "Lin", "Lit", "Model", "Range", "Status", "Var"],
    ),
    ("benchwright_world", &["NotAnswered", "ToolAccess"]),
];

/// Looks at the sources of every outsider.
pub(crate) fn check(root: &Path) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    let mut crates = names_in(&root.join(FOLDER))?;
    crates.sort();
    for name in crates {
        for (path, text) in read(root, &format!("{FOLDER}/{name}/src"))? {
            faults.extend(odd_names(&path, &text));
        }
    }
    Ok(faults)
}

fn odd_names(path: &str, source: &str) -> Vec<Fault> {
    let code = code_only(source);
    let tokens = tokens(&code);
    let mut faults = Vec::new();
    for (at, Token { text, line }) in tokens.iter().enumerate() {
        if matches!(*text, "include_str" | "include_bytes" | "include") {
            let what = format!("`{text}` takes in a file that others have written; an outsider has words of its own");
            faults.push(Fault::new(path, *line, what));
        }
        let Some((_, allowed)) = NAMES.iter().find(|(name, _)| name == text) else { continue };
        let mut paths = Vec::new();
        read_tree(&tokens, at, &mut Vec::new(), &mut paths);
        for found in paths {
            let name = found.get(1).copied().unwrap_or("*");
            if !allowed.contains(&name) {
                let what = format!("an outsider may not name `{text}::{name}`: it sees neither families nor plans");
                faults.push(Fault::new(path, *line, what));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd(source: &str) -> Vec<String> {
        odd_names("outsiders/erp/src/lib.rs", source).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_plain_model_and_the_tools_may_be_named() {
        let none: Vec<String> = Vec::new();
        assert_eq!(odd("use benchwright_solve::{Lin, Model};\nuse benchwright_world::ToolAccess;\n"), none);
        assert_eq!(odd("// benchwright_solve::Lower\nfn f() { benchwright_solve::Model::default(); }\n"), none);
    }

    #[test]
    fn whatever_reads_a_plan_may_not() {
        for (source, part) in [
            ("use benchwright_solve::Lower;", "`benchwright_solve::Lower`"),
            ("use benchwright_solve::{Lin, PhasePlanner};", "`benchwright_solve::PhasePlanner`"),
            ("use benchwright_solve::*;", "`benchwright_solve::*`"),
            ("use benchwright_solve as s;", "`benchwright_solve::*`"),
            ("use benchwright_world::{ToolAccess, replay};", "`benchwright_world::replay`"),
            ("const T: &str = include_str!(\"../plan.toml\");", "`include_str`"),
        ] {
            let found = odd(source);
            assert!(found.len() == 1 && found[0].contains(part), "{source}: {found:?}");
        }
    }
}
