//! The form of the files: how sources begin and end, what they may not say, which files a domain has, where links lead,
//! and what ARCHITECTURE.md covers. One function per rule; each gets the whole tree or one text and returns all its faults.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::rust_text::{code_only, is_word};
use crate::{Fault, Outcome};

const SOURCE_LINES: usize = 800;
const TEST_LINES: usize = 1000;
/// The program is arguments and words; what computes is a library's.
const SHELL: (&str, usize) = ("apps/cli/src/", 5000);

/// What every domain folder has, beside at least one file in `cases/`.
const DOMAIN_FILES: &[&str] = &["README.md", "domain.toml", "tables.toml", "tools.toml", "policy.toml", "seed.toml"];

// The pieces keep this file from finding itself.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
const MACHINE_PATHS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/")];
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("pypi", ".org"),
    concat!("registry.", "npmjs.org"),
    concat!("deb.", "debian.org"),
];
const PROCESS_WORDS: &[&str] =
    &[concat!("sub", "agent"), concat!("chat", "gpt"), concat!("as an", " ai"), concat!("claude", " code")];

/// The files that the rules look at, by path from the root with `/` between. Only text has contents.
struct Tree {
    files: BTreeMap<String, Option<String>>,
    listed_by: &'static str,
}

/// Checks the workspace at this root.
pub fn run(root: &Path) -> Result<Outcome> {
    let tree = Tree::read(root)?;
    Ok(Outcome { seen: format!("{} files listed by {}", tree.files.len(), tree.listed_by), faults: check(&tree) })
}

impl Tree {
    /// Reads what git tracks or would track. Where git has nothing to say, as in an unpacked archive, reads the folder.
    fn read(root: &Path) -> Result<Tree> {
        let git = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let output = Command::new("git").args(git).current_dir(root).output();
        let (paths, listed_by) = match output {
            Ok(output) if output.status.success() => {
                let list = String::from_utf8(output.stdout).context("git lists a path that is not UTF-8")?;
                (list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect(), "git")
            }
            _ => {
                let mut paths = BTreeSet::new();
                walk(root, "", &mut paths)?;
                (paths, "folder")
            }
        };
        let mut files = BTreeMap::new();
        for path in paths {
            match std::fs::read(root.join(&path)) {
                Ok(bytes) => {
                    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
                    files.insert(path, text);
                }
                // Deleted and not yet staged, or the folder of another repository.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            }
        }
        Ok(Tree { files, listed_by })
    }

    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether a path is a file or a folder of the tree. The root is the empty path.
    fn has(&self, path: &str) -> bool {
        path.is_empty() || self.files.contains_key(path) || self.names_in(path).next().is_some()
    }

    /// The first parts of the paths below a folder.
    fn names_in(&self, folder: &str) -> impl Iterator<Item = &str> {
        let folder = format!("{folder}/");
        let below = self.files.range(folder.clone()..).map(|(path, _)| path.as_str());
        below
            .map_while(move |path| path.strip_prefix(folder.as_str()))
            .map(|rest| rest.split('/').next().unwrap_or(rest))
    }

    /// The folders directly in a folder.
    fn folders_in(&self, folder: &str) -> BTreeSet<&str> {
        self.names_in(folder).filter(|name| !self.files.contains_key(&format!("{folder}/{name}"))).collect()
    }
}

/// Adds every file below a folder, without what the workspace ignores.
fn walk(root: &Path, folder: &str, paths: &mut BTreeSet<String>) -> Result<()> {
    let place = root.join(folder);
    for entry in std::fs::read_dir(&place).with_context(|| format!("cannot list {}", place.display()))? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a file name is not UTF-8")?;
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if !entry.file_type()?.is_dir() {
            paths.insert(path);
        } else if !matches!(path.as_str(), ".git" | "target" | "runs") {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}

fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.texts() {
        if ends_in(path, &["rs"]) {
            faults.extend(opening(path, text));
            faults.extend(length(path, text));
            let code = code_only(text);
            faults.extend(allow_attributes(path, &code));
            faults.extend(unwraps(path, &code));
            faults.extend(texts_as_errors(path, &code));
        }
        faults.extend(spacing(path, text));
        faults.extend(words(path, text));
        if ends_in(path, &["md"]) {
            faults.extend(links(tree, path, text));
        }
    }
    faults.extend(domain_folders(tree));
    faults.extend(architecture(tree));
    faults.extend(shell(tree));
    faults.extend(tests_of_libraries(tree));
    faults.sort();
    faults
}

fn ends_in(path: &str, extensions: &[&str]) -> bool {
    path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).is_some_and(|(_, end)| extensions.contains(&end))
}

fn within(path: &str, folders: &[&str]) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, _)| folder.split('/').any(|part| folders.contains(&part)))
}

/// The lines of a text with their numbers from 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('\n').enumerate().map(|(index, line)| (index + 1, line))
}

fn opening(path: &str, text: &str) -> Option<Fault> {
    let what = "the file does not open with `//!`; say there what it is for";
    (!text.starts_with("//!")).then(|| Fault::new(path, 1, what))
}

fn length(path: &str, text: &str) -> Option<Fault> {
    let limit = if within(path, &["tests", "benches"]) { TEST_LINES } else { SOURCE_LINES };
    let lines = text.lines().count();
    (lines > limit)
        .then(|| Fault::new(path, limit + 1, format!("{lines} lines, at most {limit}; split the file by feature")))
}

/// Libraries that still give texts as errors: the harness of tests.
const TEXTS_AS_ERRORS: &[&str] = &["crates/testkit/"];

/// A library's callers can tell errors apart, so what is public gives no text as one.
fn texts_as_errors(path: &str, code: &str) -> Vec<Fault> {
    let is_library = (path.starts_with("crates/")
        || path.starts_with("families/")
        || path.starts_with("outsiders/")
        || path.starts_with("domains/"))
        && within(path, &["src"])
        && !TEXTS_AS_ERRORS.iter().any(|known| path.starts_with(known));
    if !is_library {
        return Vec::new();
    }
    let mut found = BTreeSet::new();
    let mut look = |from: usize| {
        let end = code[from..].find(['{', ';', '}']).map_or(code.len(), |end| from + end);
        if gives_text_as_error(&code[from..end]) {
            found.insert(code[..from].matches('\n').count() + 1);
        }
        end
    };
    for start in whole_words(code, "pub").filter(|at| !code[at + "pub".len()..].starts_with('(')) {
        let end = look(start);
        if whole_words(&code[start..end], "trait").next().is_some() {
            let body = braces(&code[end..]);
            for at in whole_words(body, "fn") {
                look(end + at);
            }
        }
    }
    let what = "a public signature gives `String` as its error; give it a type";
    found.into_iter().map(|line| Fault::new(path, line, what)).collect()
}

/// What stands between an opening brace and the one that closes it.
fn braces(code: &str) -> &str {
    let mut depth = 0usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth <= 1 => return &code[..at],
            '}' => depth -= 1,
            _ => {}
        }
    }
    code
}

/// Whether a signature has a `Result<…, String>` anywhere.
fn gives_text_as_error(signature: &str) -> bool {
    whole_words(signature, "Result").any(|at| {
        let Some(inner) = signature[at + "Result".len()..].strip_prefix('<') else { return false };
        let (mut depth, mut last, mut before) = (1usize, 0, ' ');
        for (at, letter) in inner.char_indices() {
            match letter {
                '<' | '(' | '[' => depth += 1,
                // The arrow of a function closes nothing.
                '>' if before == '-' => {}
                '>' | ')' | ']' => depth -= 1,
                ',' if depth == 1 => last = at + 1,
                _ => {}
            }
            before = letter;
            if depth == 0 {
                return last > 0 && inner[last..at].trim() == "String";
            }
        }
        false
    })
}

/// The lines of the program, all files together.
fn shell(tree: &Tree) -> Option<Fault> {
    let (folder, most) = SHELL;
    let texts = tree.texts().filter(|(path, _)| path.starts_with(folder) && path.ends_with(".rs"));
    let lines: usize = texts.map(|(_, text)| text.lines().count()).sum();
    let what =
        format!("the program has {lines} lines, at most {most}; what is no argument and no word belongs to a library");
    (lines > most).then(|| Fault::new(&format!("{folder}main.rs"), 1, what))
}

/// A library's tests are a second compile of it, and its documentation's a third program: neither is made where there are none, and none is left out.
fn tests_of_libraries(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (manifest, text) in tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        let src = manifest.replace("Cargo.toml", "src/");
        if !tree.has(&format!("{src}lib.rs")) {
            continue;
        }
        let is_source = |path: &str| path.starts_with(&src) && ends_in(path, &["rs"]);
        let sources: Vec<&str> = tree.texts().filter(|(path, _)| is_source(path)).map(|(_, text)| text).collect();
        let Ok(crate_of) = text.parse::<toml::Table>() else {
            faults.push(Fault::new(manifest, 1, "this is no TOML"));
            continue;
        };
        let lib = crate_of.get("lib");
        let is_on = |key: &str| lib.and_then(|lib| lib.get(key)).and_then(toml::Value::as_bool).unwrap_or(true);
        let marks = ["#[test]", "#[tokio::test", "proptest!"];
        let has_tests = sources.iter().any(|text| {
            let code = code_only(text);
            marks.iter().any(|mark| code.contains(mark))
        });
        let is_example = |line: &str| line.trim_start().starts_with("//") && line.contains("```");
        let has_examples = sources.iter().any(|text| text.lines().any(is_example));
        for (key, has) in [("test", has_tests), ("doctest", has_examples)] {
            if is_on(key) != has {
                let what =
                    if has { "there are some, which never run" } else { "there are none, and they are compiled" };
                faults.push(Fault::new(manifest, 1, format!("`{key}` of `[lib]` is {}: {what}", !has)));
            }
        }
    }
    faults
}

/// Attributes may run over several lines, so they are followed to their closing bracket.
fn allow_attributes(path: &str, code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut from = 0;
    while let Some(start) = code[from..].find('#').map(|at| from + at) {
        from = start + 1;
        let rest = code[from..].trim_start().trim_start_matches('!').trim_start();
        if !rest.starts_with('[') {
            continue;
        }
        let open = code.len() - rest.len();
        let mut depth = 0usize;
        let mut end = code.len();
        for (at, letter) in code[open..].char_indices() {
            match letter {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                end = open + at;
                break;
            }
        }
        let called = |at: &usize| code[at + "allow".len()..].trim_start().starts_with('(');
        for at in whole_words(&code[open..end], "allow").map(|at| open + at).filter(called) {
            let what = "an attribute allows a lint; write `#[expect(…, reason = \"…\")]`";
            faults.push(Fault::new(path, code[..at].matches('\n').count() + 1, what));
        }
        from = end;
    }
    faults
}

/// A simple check: what follows the first `#[cfg(test)]` counts as tests.
fn unwraps(path: &str, code: &str) -> Vec<Fault> {
    if within(path, &["tests"]) || path.ends_with("/tests.rs") {
        return Vec::new();
    }
    let what = "`unwrap` outside tests; return an error, or `expect` what always holds";
    let code = numbered(code).take_while(|(_, line)| !line.contains("#[cfg(test)]"));
    code.filter(|(_, line)| line.contains(".unwrap()")).map(|(number, _)| Fault::new(path, number, what)).collect()
}

fn spacing(path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !ends_in(path, &["rs", "toml", "md", "case", "sh"]) && !within(path, &[".ci"]) {
        return faults;
    }
    let tabs = ends_in(path, &["rs", "toml", "md"]);
    for (number, line) in numbered(text) {
        if line.ends_with(char::is_whitespace) {
            faults.push(Fault::new(path, number, "white space at the end of the line"));
        }
        if tabs && line.contains('\t') {
            faults.push(Fault::new(path, number, "a tab; use spaces"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        faults.push(Fault::new(path, text.lines().count(), "no newline at the end of the file"));
    }
    faults
}

/// What no text file may say.
fn words(path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in numbered(text) {
        let mut fault = |what: String| faults.push(Fault::new(path, number, what));
        for word in UNFINISHED.iter().filter(|word| whole_words(line, word).next().is_some()) {
            fault(format!("`{word}`: finish it, or say in plain words what is absent"));
        }
        for start in MACHINE_PATHS.iter().filter(|start| line.match_indices(**start).any(|(at, _)| begins(line, at))) {
            fault(format!("a path of one machine (`{start}`)"));
        }
        for host in REGISTRY_HOSTS.iter().filter(|host| whole_words(line, host).next().is_some()) {
            fault(format!("the host of a package registry (`{host}`); leave the choice to the tool's configuration"));
        }
        let lower = line.to_ascii_lowercase();
        for word in PROCESS_WORDS.iter().filter(|word| whole_words(&lower, word).next().is_some()) {
            fault(format!("`{word}`: files speak of the program, not of how the work on it is organised"));
        }
    }
    faults
}

/// Where a word stands with no letter, digit or underscore on either side.
fn whole_words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = line.as_bytes();
    line.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).is_some_and(|before| is_word(bytes[before]));
        !before && !bytes.get(at + word.len()).is_some_and(|after| is_word(*after))
    })
}

/// Whether an absolute path can begin here: what stands before is not the rest of a relative path or an address.
fn begins(line: &str, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| line.as_bytes()[before]);
    !before.is_some_and(|byte| is_word(byte) || b".-~})]>*%".contains(&byte))
}

/// What a domain has of its own even where it includes parts.
const INCLUDING_FILES: [&str; 3] = ["README.md", "domain.toml", "tables.toml"];

/// Whether a `domain.toml` includes parts.
fn includes(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("include").is_some_and(|rest| rest.trim_start().starts_with('=')))
}

fn domain_folders(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let is_domain = |folder: &String| tree.files.contains_key(&format!("{folder}/domain.toml"));
    let below = |folder: &str| -> Vec<String> {
        let names = tree.folders_in(folder).into_iter().filter(|name| !name.starts_with('_'));
        names.map(|name| format!("{folder}/{name}")).collect()
    };
    // A folder without a `domain.toml` whose folders have one is a group of domains.
    let folders = below("domains").into_iter().flat_map(|folder| {
        let inner = below(&folder);
        let is_group = !is_domain(&folder) && inner.iter().any(is_domain);
        if is_group { inner } else { vec![folder] }
    });
    for folder in folders {
        // What a domain includes may bring the rest: it has its words, and what the part has not.
        let own = tree.files.get(&format!("{folder}/domain.toml"));
        if own.and_then(Option::as_deref).is_some_and(includes) {
            for file in INCLUDING_FILES.iter().filter(|file| !tree.files.contains_key(&format!("{folder}/{file}"))) {
                faults.push(Fault::new(&format!("{folder}/{file}"), 1, "a domain folder has this file"));
            }
            continue;
        }
        for file in DOMAIN_FILES.iter().filter(|file| !tree.files.contains_key(&format!("{folder}/{file}"))) {
            faults.push(Fault::new(&format!("{folder}/{file}"), 1, "a domain folder has this file"));
        }
        let cases = format!("{folder}/cases");
        if !tree.names_in(&cases).any(|name| name.ends_with(".case")) {
            faults.push(Fault::new(&cases, 1, "a domain folder has at least one `.case` file here"));
        }
    }
    faults
}

/// Links to files of the tree, inline (`[a](b)`) and by reference (`[a]: b`), outside code.
fn links(tree: &Tree, path: &str, text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in numbered(text) {
        let start = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)) {
            fence = match fence {
                Some(open) if open == mark => None,
                Some(open) => Some(open),
                None => Some(mark),
            };
            continue;
        }
        if fence.is_some() {
            continue;
        }
        for target in targets(&without_code_spans(line)) {
            let file = target.split(['#', '?']).next().unwrap_or(target);
            if file.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !resolve(path, file).is_some_and(|file| tree.has(&file)) {
                faults.push(Fault::new(path, number, format!("the link leads nowhere: `{target}`")));
            }
        }
    }
    faults
}

/// Blanks what stands between backticks on one line.
fn without_code_spans(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let last = parts.len() - 1;
    let keep = |(index, part): (usize, &&str)| match index % 2 == 0 || index == last {
        true => (*part).to_owned(),
        false => " ".repeat(part.len()),
    };
    parts.iter().enumerate().map(keep).collect::<Vec<_>>().join("`")
}

fn targets(line: &str) -> Vec<&str> {
    let reference = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    let inline = line.match_indices("](").filter_map(|(at, open)| {
        let rest = &line[at + open.len()..];
        let mut depth = 1usize;
        let end = rest.find(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        Some(&rest[..end])
    });
    // A title may follow the target.
    let bare = |target: &'_ str| target.len() - target.trim_start().len();
    reference
        .into_iter()
        .chain(inline)
        .filter_map(|target| target[bare(target)..].split_whitespace().next())
        .map(|target| target.trim_start_matches('<').trim_end_matches('>'))
        .collect()
}

/// A link's path from the root, or nothing if it leads out of the tree.
fn resolve(from: &str, link: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if link.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in link.split('/') {
        match part {
            ".." => {
                while parts.last() == Some(&"") {
                    parts.pop();
                }
                parts.pop()?;
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join("/"))
}

/// ARCHITECTURE.md has a section per crate and a line per outside dependency.
fn architecture(tree: &Tree) -> Vec<Fault> {
    const FILE: &str = "ARCHITECTURE.md";
    let mut faults = Vec::new();
    let Some(text) = tree.text(FILE) else { return faults };
    let headings: BTreeSet<&str> = text.lines().filter_map(heading_word).collect();
    for name in tree.folders_in("crates").into_iter().filter(|name| !headings.contains(name)) {
        faults.push(Fault::new(
            FILE,
            1,
            format!("no section for `crates/{name}`; add a heading that begins with `{name}`"),
        ));
    }
    let rows: Vec<&str> = text.lines().map(str::trim_start).filter(|line| line.starts_with(['-', '*', '|'])).collect();
    let manifest = tree.text("Cargo.toml").unwrap_or_default();
    for (line, name) in outside_dependencies(manifest) {
        if !rows.iter().any(|row| row.contains(&format!("`{name}`"))) {
            let what = format!("{FILE} has no line for `{name}`; say in a list or table what it does and why this one");
            faults.push(Fault::new("Cargo.toml", line, what));
        }
    }
    faults
}

/// The first word of a heading, without the marks and prefixes that a crate's name may carry.
fn heading_word(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?.trim_start();
    let word = rest.trim_start_matches('`').split([' ', '`', ':', ',']).next()?;
    let word = word.strip_prefix("crates/").unwrap_or(word);
    Some(word.strip_prefix("benchwright-").unwrap_or(word))
}

/// The dependencies of the workspace that are not its own crates, with their lines.
fn outside_dependencies(manifest: &str) -> Vec<(usize, &str)> {
    const SECTION: &str = "workspace.dependencies";
    let mut found = Vec::new();
    let mut inside = false;
    for (number, line) in numbered(manifest) {
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            inside = head == SECTION;
            let own_table = head.strip_prefix(SECTION).and_then(|rest| rest.strip_prefix('.'));
            found.extend(own_table.map(|name| (number, name)));
        } else if inside && line.contains('=') && line.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            found.extend(line.split([' ', '.', '=']).next().map(|name| (number, name)));
        }
    }
    found.retain(|(_, name)| !name.starts_with("benchwright-"));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned()))).collect();
        Tree { files, listed_by: "test" }
    }

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        check(&tree(files)).iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn holds(files: &[(&str, &str)]) {
        assert_eq!(faults(files), Vec::<String>::new());
    }

    /// Exactly these faults, each given by how its line of text begins.
    #[track_caller]
    fn bites(files: &[(&str, &str)], starts: &[&str]) {
        let faults = faults(files);
        let fits =
            faults.len() == starts.len() && faults.iter().zip(starts).all(|(fault, start)| fault.starts_with(start));
        assert!(fits, "expected {starts:#?}, got {faults:#?}");
    }

    #[test]
    fn a_source_file_opens_with_its_purpose() {
        holds(&[("a.rs", "//! Why.\n")]);
        bites(&[("a.rs", "fn main() {}\n")], &["a.rs:1: the file does not open with `//!`"]);
        bites(&[("a.rs", "")], &["a.rs:1: the file does not open"]);
    }

    #[test]
    fn a_text_is_no_error_of_a_library() {
        let file = |code: &str| format!("//! What it is.\n\n{code}\n");
        let bite = "crates/a/src/b.rs:3: a public signature gives `String` as its error";
        for code in [
            "pub fn a(\n    b: u8,\n) -> Result<Vec<u8>, String> {}",
            "pub type A = fn(&str) -> Result<(), String>;",
            "pub fn a(of: &dyn Fn() -> Result<u8, String>) {}",
        ] {
            bites(&[("crates/a/src/b.rs", &file(code))], &[bite]);
        }
        let of_trait =
            "pub trait A {\n    fn a(&self) -> u8 {\n        1\n    }\n    fn b(&self) -> Result<u8, String>;\n}";
        let deeper = "crates/a/src/b.rs:7: a public signature gives `String` as its error";
        bites(&[("crates/a/src/b.rs", &file(of_trait))], &[deeper]);
        for code in [
            "fn a() -> Result<u8, String> {}",
            "pub(crate) fn a() -> Result<u8, String> {}",
            "pub fn a() -> Result<String, Wrong> {}",
            "pub fn a() -> Result<Vec<(u8, String)>, Wrong> {}",
            "trait A {\n    fn b(&self) -> Result<u8, String>;\n}",
        ] {
            holds(&[("crates/a/src/b.rs", &file(code))]);
        }
        holds(&[("crates/testkit/src/b.rs", &file("pub fn a() -> Result<u8, String> {}"))]);
    }

    #[test]
    fn long_files_are_faults_and_tests_may_be_longer() {
        let lines = |count: usize| format!("//! Why.\n{}", "//\n".repeat(count - 1));
        holds(&[("src/a.rs", &lines(800)), ("tests/a.rs", &lines(1000)), ("x/benches/a.rs", &lines(1000))]);
        bites(&[("src/a.rs", &lines(801))], &["src/a.rs:801: 801 lines, at most 800"]);
        bites(&[("x/tests/a.rs", &lines(1001))], &["x/tests/a.rs:1001: 1001 lines, at most 1000"]);
    }

    #[test]
    fn the_program_stays_small() {
        let file = |at: usize| (format!("apps/cli/src/a{at}.rs"), "//! Why.\n".to_owned() + &"\n".repeat(624) + "//\n");
        let files = |count: usize| (0..count).map(file).collect::<Vec<_>>();
        let tree_of =
            |files: &[(String, String)]| tree(&files.iter().map(|(path, text)| (&**path, &**text)).collect::<Vec<_>>());
        assert_eq!(shell(&tree_of(&files(7))), None);
        let fault = shell(&tree_of(&files(8))).map(|fault| fault.to_string());
        assert!(fault.as_ref().is_some_and(|fault| fault.contains("5008 lines, at most 5000")), "{fault:?}");
    }

    #[test]
    fn lints_are_expected_and_never_allowed() {
        let file = |code: &str| format!("//! Why.\n{code}\n");
        bites(&[("a.rs", &file("#[allow(dead_code)]"))], &["a.rs:2: an attribute allows a lint"]);
        bites(&[("a.rs", &file("#![allow (dead_code)]"))], &["a.rs:2: an attribute"]);
        bites(&[("a.rs", &file("#[cfg_attr(\n    test,\n    allow(dead_code)\n)]"))], &["a.rs:4: an attribute"]);
        bites(&[("a.rs", &file("struct S { #[allow(x)] a: [u8; 2], #[allow(y)] b: u8 }"))], &["a.rs:2", "a.rs:2"]);
        holds(&[("a.rs", &file("#[expect(dead_code, reason = \"no allow(x)\")]\nfn allow(x: u8) { allow(1) }"))]);
        holds(&[("a.rs", &file("// #[allow(dead_code)]\nconst A: &str = \"#[allow(x)]\";"))]);
    }

    #[test]
    fn unwrap_stands_only_in_tests() {
        let text = "//! Why.\nfn f() { g().unwrap(); }\n";
        bites(&[("src/a.rs", text)], &["src/a.rs:2: `unwrap` outside tests"]);
        holds(&[("tests/a.rs", text), ("src/parse/tests.rs", text)]);
        holds(&[(
            "src/a.rs",
            "//! Why.\n/// `x.unwrap()`\nfn f() {}\n#[cfg(test)]\nmod t { fn f() { g().unwrap(); } }\n",
        )]);
    }

    #[test]
    fn spaces_tabs_and_the_last_newline() {
        bites(&[("a.md", "a \nb")], &["a.md:1: white space at the end", "a.md:2: no newline at the end"]);
        bites(&[("a.toml", "a\r\n")], &["a.toml:1: white space"]);
        bites(&[("a.rs", "//! Why.\n\tfn\n")], &["a.rs:2: a tab"]);
        bites(&[(".ci/run", "a \n")], &[".ci/run:1: white space"]);
        holds(&[("a.tsv", "a\tb \nc"), ("golden/a.snap", "a \n"), (".ci/run", "\ta\n")]);
    }

    #[test]
    fn unfinished_work_is_named() {
        for word in UNFINISHED {
            bites(&[("a.txt", &format!("a\n// {word}: b\n"))], &[&format!("a.txt:2: `{word}`")]);
            holds(&[("a.txt", &format!("a{word} {word}s {}\n", word.to_lowercase()))]);
        }
    }

    #[test]
    fn paths_of_one_machine_are_faults() {
        for path in MACHINE_PATHS {
            bites(&[("a.txt", &format!("see {path}b\n"))], &["a.txt:1: a path of one machine"]);
            bites(&[("a.txt", &format!("\"file://{path}b\"\n"))], &["a.txt:1: a path of one machine"]);
            holds(&[("a.txt", &format!("domains{path}b ..{path}b https://example.org{path}b ~{path}\n"))]);
        }
    }

    #[test]
    fn hosts_of_registries_are_faults() {
        for host in REGISTRY_HOSTS {
            bites(&[("a.json", &format!("\"https://{host}/x\"\n"))], &["a.json:1: the host of a package registry"]);
        }
        holds(&[("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n")]);
    }

    #[test]
    fn files_do_not_speak_of_how_the_work_is_organised() {
        for word in PROCESS_WORDS {
            bites(&[("a.txt", &format!("A {} b.\n", word.to_uppercase()))], &[&format!("a.txt:1: `{word}`")]);
            holds(&[("a.txt", &format!("x{word}\n"))]);
        }
    }

    #[test]
    fn a_domain_has_all_its_files() {
        let full: Vec<(String, &str)> = DOMAIN_FILES.iter().map(|file| (format!("domains/csm/{file}"), "")).collect();
        let mut files: Vec<(&str, &str)> = full.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        bites(&files, &["domains/csm/cases:1: a domain folder has at least one"]);
        files.push(("domains/csm/cases/a.case", ""));
        files.extend([("domains/_parts/people/tables.toml", ""), ("domains/README.md", "")]);
        holds(&files);
        files.retain(|(path, _)| !path.ends_with("seed.toml"));
        bites(&files, &["domains/csm/seed.toml:1: a domain folder has this file"]);
        let mut files = vec![("domains/x/README.md", ""), ("domains/x/domain.toml", "include = [\"grid\"]\n")];
        bites(&files, &["domains/x/tables.toml:1: a domain folder has this file"]);
        files.push(("domains/x/tables.toml", ""));
        holds(&files);
        // In a group each folder is a domain.
        files.extend([("domains/group/y/domain.toml", "include = [\"grid\"]\n"), ("domains/group/y/tables.toml", "")]);
        bites(&files, &["domains/group/y/README.md:1: a domain folder has this file"]);
        files.push(("domains/group/y/README.md", ""));
        holds(&files);
        files.push(("domains/group/z/README.md", ""));
        let missing = ["cases", "domain.toml", "policy.toml", "seed.toml", "tables.toml", "tools.toml"];
        let missing = missing.map(|file| format!("domains/group/z/{file}:1: a domain folder has"));
        bites(&files, &missing.each_ref().map(|fault| &**fault));
    }

    #[test]
    fn links_lead_somewhere() {
        let links = "[a](../b.md) ![c](c.png \"t\") [d](/b.md#part) [e](#x) [f](https://example.org/x) [g](.)\n\
                     [h](../docs) `[i](no.md)`\n```\n[j](no.md)\n```\n[k]: ../b.md\n";
        holds(&[("docs/a.md", links), ("docs/c.png", ""), ("b.md", "[up](docs/a.md) [down](./docs/)\n")]);
        bites(&[("docs/a.md", "x\n[a](b.md)\n")], &["docs/a.md:2: the link leads nowhere: `b.md`"]);
        bites(&[("a.md", "[a](../b.md)\n")], &["a.md:1: the link leads nowhere: `../b.md`"]);
        bites(&[("a.md", "`x` [a](b.md) `y`\n[k]: c.md\n")], &["a.md:1: the link", "a.md:2: the link"]);
    }

    #[test]
    fn architecture_covers_every_crate_and_every_outside_dependency() {
        let cargo = "[workspace.dependencies]\nbenchwright-base = { path = \"x\" }\nserde.workspace = 1\ntoml = \"1\"\n\
                     [workspace.dependencies.clap]\nversion = \"4\"\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n";
        let base = [("crates/base/a.txt", ""), ("crates/expr/a.txt", ""), ("Cargo.toml", cargo)];
        let with = |text: &'static str| [base.as_slice(), &[("ARCHITECTURE.md", text)]].concat();
        holds(&base);
        let full = "# House\n### `base`: ids\n## crates/expr\n- `serde`: x\n| `toml`, `clap` | x |\n";
        holds(&with(full));
        bites(
            &with("# House\n## the base\n## expr\nWe use `serde`.\n- `toml`: x\n"),
            &[
                "ARCHITECTURE.md:1: no section for `crates/base`",
                "Cargo.toml:3: ARCHITECTURE.md has no line for `serde`",
                "Cargo.toml:5: ARCHITECTURE.md has no line for `clap`",
            ],
        );
    }

    #[test]
    fn binary_files_are_only_names() {
        let mut tree = tree(&[("a.md", "[a](a.png)\n")]);
        tree.files.insert("a.png".to_owned(), None);
        assert_eq!(check(&tree), []);
    }
}
