//! Circles between the files of a crate. A file that uses another, which in the end uses the first, can be read and changed only
//! together with it. The code of domains, families and outsiders has no such circle: what two files share stands in a third, below both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use crate::Fault;
use crate::rust_text::{code_only, is_word};

/// Where the crates stand whose files are looked at.
const FOLDERS: &[&str] = &["domains", "domains/_parts", "families", "outsiders"];

/// A file of a crate, by its module: `models::stock_move`, or nothing for the root.
type Module = Vec<String>;

/// A use of a module by a file, and the line of it.
type Uses = BTreeMap<Module, usize>;

/// A piece of a source: a name or a sign, with its line. `::` is one sign.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) text: &'s str,
    pub(crate) line: usize,
}

/// Looks at every crate of a domain, part, family or outsider.
pub(crate) fn check(root: &Path) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    let groups = crate::domains::groups(root)?;
    for folder in FOLDERS.iter().map(|folder| (*folder).to_owned()).chain(groups) {
        let mut crates: Vec<String> = names_in(&root.join(&folder))?;
        crates.sort();
        for name in crates {
            let source = format!("{folder}/{name}/src");
            if root.join(&folder).join(&name).join("Cargo.toml").is_file() {
                faults.extend(circles(&read(root, &source)?));
            }
        }
    }
    Ok(faults)
}

pub(crate) fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", folder.display())),
    };
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// The files below a folder of sources with their texts, by path from the root.
pub(crate) fn read(root: &Path, source: &str) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for name in names_in(&root.join(&folder))? {
            let path = format!("{folder}/{name}");
            if root.join(&path).is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
                files.insert(path, text);
            }
        }
    }
    Ok(files)
}

/// Every circle between files, told once. Tests do not count: they may look at whatever they test.
fn circles(files: &BTreeMap<String, String>) -> Vec<Fault> {
    let paths: BTreeMap<Module, &str> = files.keys().filter_map(|path| Some((module_of(path)?, &**path))).collect();
    let edges: BTreeMap<&Module, Uses> =
        paths.iter().map(|(module, path)| (module, uses(module, &files[*path], &paths))).collect();
    let mut told: BTreeSet<&Module> = BTreeSet::new();
    let mut faults = Vec::new();
    for (&start, uses) in &edges {
        if told.contains(start) {
            continue;
        }
        let Some(way) = shortest(&edges, start) else { continue };
        let line = way.get(1).and_then(|next| uses.get(*next)).copied().unwrap_or(1);
        let shown: Vec<&str> = way.iter().map(|module| file_name(paths[*module])).collect();
        let what =
            format!("files use each other in a circle: {}; what they share stands below both", shown.join(" -> "));
        faults.push(Fault::new(paths[start], line, what));
        told.extend(way);
    }
    faults
}

/// The path of a file below its `src`.
fn file_name(path: &str) -> &str {
    path.split_once("/src/").map_or(path, |(_, file)| file)
}

/// The module that a file is, or nothing for one of tests.
fn module_of(path: &str) -> Option<Module> {
    let mut names: Vec<String> = file_name(path).strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if names.iter().any(|name| name == "tests") {
        return None;
    }
    if matches!(names.last().map(String::as_str), Some("mod")) || names == ["lib"] || names == ["main"] {
        names.pop();
    }
    Some(names)
}

/// The shortest way along the edges from a module back to it.
fn shortest<'m>(edges: &BTreeMap<&'m Module, Uses>, start: &'m Module) -> Option<Vec<&'m Module>> {
    let mut from: BTreeMap<&Module, &'m Module> = BTreeMap::new();
    let mut edge = vec![start];
    while !edge.is_empty() {
        let mut next = Vec::new();
        for module in edge {
            for to in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
                let (&to, _) = edges.get_key_value(to)?;
                if from.contains_key(to) {
                    continue;
                }
                from.insert(to, module);
                next.push(to);
            }
        }
        if from.contains_key(start) {
            let mut way = vec![start];
            let mut at = from[start];
            while at != start {
                way.push(at);
                at = from[at];
            }
            way.push(start);
            way.reverse();
            return Some(way);
        }
        edge = next;
    }
    None
}

/// The other modules that a file uses, each with the first line that names it.
fn uses(module: &Module, source: &str, files: &BTreeMap<Module, &str>) -> Uses {
    let code = code_only(source);
    let tokens = without_tests(&tokens(&code));
    let mut found = Uses::new();
    // Modules within the file, each with the depth of braces at which it ends.
    let (mut inside, mut depth): (Vec<(usize, &str)>, usize) = (Vec::new(), 0);
    let mut at = 0;
    while at < tokens.len() {
        let here = tokens[at];
        let before = at.checked_sub(1).map(|at| tokens[at].text);
        let next = |far: usize| tokens.get(at + far).map(|token| token.text);
        match here.text {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inside.retain(|(end, _)| *end <= depth);
            }
            "mod" if next(2) == Some("{") => inside.extend(next(1).map(|name| (depth + 1, name))),
            name if is_name(name) && next(1) == Some("::") && before != Some("::") && before != Some(".") => {
                let mut own = module.clone();
                own.extend(inside.iter().map(|(_, name)| (*name).to_owned()));
                let mut paths = Vec::new();
                let end = read_tree(&tokens, at, &mut Vec::new(), &mut paths);
                for path in paths {
                    if let Some(target) = resolve(&own, &path, files).filter(|target| target != module) {
                        found.entry(target).or_insert(here.line);
                    }
                }
                at = end.max(at + 1);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads a path, or the paths of a tree such as `a::{b, c::d}`; returns where it ends.
pub(crate) fn read_tree<'s>(
    tokens: &[Token<'s>],
    at: usize,
    before: &mut Vec<&'s str>,
    paths: &mut Vec<Vec<&'s str>>,
) -> usize {
    let (mut at, kept) = (at, before.len());
    loop {
        match tokens.get(at).map(|token| token.text) {
            Some("{") => {
                at += 1;
                while let Some(token) = tokens.get(at).filter(|token| token.text != "}") {
                    at = if is_name(token.text) || token.text == "{" {
                        read_tree(tokens, at, before, paths)
                    } else {
                        at + 1
                    };
                }
                at += 1;
                break;
            }
            Some(name) if is_name(name) => {
                before.push(name);
                at += 1;
                if tokens.get(at).map(|token| token.text) == Some("::") {
                    at += 1;
                    continue;
                }
                paths.push(before.clone());
                break;
            }
            // `a::*`, or `a::<B>`.
            _ => {
                paths.push(before.clone());
                break;
            }
        }
    }
    before.truncate(kept);
    at
}

/// The module of the crate that a path leads to, if it leads to one.
fn resolve(own: &[String], path: &[&str], files: &BTreeMap<Module, &str>) -> Option<Module> {
    let mut rest = path;
    let mut full: Module = match rest.first()? {
        &"crate" => {
            rest = &rest[1..];
            Vec::new()
        }
        &"self" => {
            rest = &rest[1..];
            own.to_vec()
        }
        &"super" => {
            let mut full = own.to_vec();
            while rest.first() == Some(&"super") {
                full.pop();
                rest = &rest[1..];
            }
            full
        }
        first => {
            let mut child = own.to_vec();
            child.push((*first).to_owned());
            return files.contains_key(&child).then(|| longest(own.to_vec(), rest, files));
        }
    };
    // What an inline module has of its own is the file's.
    while !full.is_empty() && !files.contains_key(&full) {
        full.pop();
    }
    Some(longest(full, rest, files))
}

/// Goes on along a path as far as there are files.
fn longest(mut module: Module, rest: &[&str], files: &BTreeMap<Module, &str>) -> Module {
    for name in rest {
        module.push((*name).to_owned());
        if !files.contains_key(&module) {
            module.pop();
            break;
        }
    }
    module
}

fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(is_word)
}

/// The tokens of a source whose comments and literals are blank.
pub(crate) fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let (mut at, mut line) = (0, 1);
    let mut tokens = Vec::new();
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'\n' => line += 1,
            byte if is_word(byte) => {
                while bytes.get(at + 1).is_some_and(|byte| is_word(*byte)) {
                    at += 1;
                }
            }
            b':' if bytes.get(at + 1) == Some(&b':') => at += 1,
            _ => {}
        }
        at += 1;
        // Signs are single bytes, and a name may hold others only whole.
        if let Some(text) = code.get(start..at).filter(|text| !text.trim().is_empty()) {
            tokens.push(Token { text, line });
        }
    }
    tokens
}

/// The same without what is compiled for tests only.
fn without_tests<'s>(tokens: &[Token<'s>]) -> Vec<Token<'s>> {
    let marks = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let marked = tokens[at..].iter().zip(marks).filter(|(token, mark)| token.text == *mark).count() == marks.len();
        if !marked {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        // The item ends with a semicolon, or with the brace that its first one opens.
        let mut depth = 0_usize;
        at += marks.len();
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token.text {
                ";" if depth == 0 => break,
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, text)| (format!("domains/made_up/src/{path}"), (*text).to_owned())).collect()
    }

    #[track_caller]
    fn holds(files: &[(&str, &str)]) {
        assert_eq!(circles(&crate_of(files)), []);
    }

    #[track_caller]
    fn bites(files: &[(&str, &str)], expected: &str) {
        let faults: Vec<String> = circles(&crate_of(files)).iter().map(ToString::to_string).collect();
        assert!(faults.len() == 1 && faults[0].contains(expected), "expected one fault with `{expected}`: {faults:#?}");
    }

    #[test]
    fn a_circle_is_told_with_its_files_and_the_line_where_it_begins() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nuse a::run;\n"),
            ("a.rs", "//! A.\nuse crate::b::{self, Help};\n"),
            ("b.rs", "use super::{\n    c::more,\n};\n"),
            ("c.rs", "fn more() {\n    crate::a::run()\n}\n"),
        ];
        bites(&files, "domains/made_up/src/a.rs:2: files use each other in a circle: a.rs -> b.rs -> c.rs -> a.rs");
    }

    #[test]
    fn a_file_and_the_file_that_lists_it_are_a_circle_too() {
        bites(&[("lib.rs", "mod a;\npub use a::run;"), ("a.rs", "use super::help;")], "lib.rs -> a.rs -> lib.rs");
        bites(&[("lib.rs", "mod a;"), ("a.rs", "mod b;\nb::run();"), ("a/b.rs", "use super::X;")], "a.rs -> a/b.rs");
        bites(&[("lib.rs", ""), ("a/mod.rs", "mod b; use self::b::run;"), ("a/b.rs", "super::help()")], "a/mod.rs");
    }

    #[test]
    fn a_house_with_stairs_holds() {
        holds(&[
            ("lib.rs", "mod low;\nmod models;\nuse models::{list, one::run};"),
            ("models.rs", "mod one;\nmod two;\nuse crate::low;\nconst ALL: &[()] = &[one::A, two::B];"),
            ("models/one.rs", "use super::two::help;\nuse crate::{low::{x, y}, low};"),
            ("models/two.rs", "use crate::low::*;"),
            ("low.rs", "use std::fmt;\nuse low_crate::models::x;"),
        ]);
    }

    #[test]
    fn a_mention_a_test_and_a_module_within_a_file_are_no_use() {
        holds(&[
            ("lib.rs", "mod a;\nmod b;\nuse a::run;\nmod inner { use super::help; }"),
            ("a.rs", "use crate::b::x;\nfn f() { thing.b::<u8>(); }"),
            ("b.rs", "// crate::a::run\nconst X: &str = \"crate::a\";\n#[cfg(test)]\nmod tests { use crate::a::run; }"),
            ("b/tests.rs", "use crate::a::run;"),
        ]);
    }
}
