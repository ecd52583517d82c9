//! `cargo xtask release`: what is handed out of a version, in one folder: wheels, archives as cargo-binstall looks for them, the locked suites ready
//! made, the book, checksums, a bill of materials and notes with the changelog's section. It publishes nothing.
//!
//! An archive has names in order and neither times nor owners, so that the same files are the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::Outcome;

/// The machines that are built for. The second is crossed.
pub const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
/// The folder of what is handed out, and that of suites that are made alone.
const FOLDER: &str = "target/release-files";
const SUITES: &str = "target/suite-files";
const SECTION: &str = "## Unreleased";
/// What every archive has.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Makes everything for these targets.
pub fn run(root: &Path, targets: &[&str]) -> Result<Outcome> {
    if let Some(unknown) = targets.iter().find(|target| !TARGETS.contains(target)) {
        bail!("{unknown} is not built for: {}", TARGETS.join(", "));
    }
    let out = emptied(root, FOLDER)?;
    let metadata = metadata(root)?;
    let version = version(&metadata)?;
    let changes = fs::read_to_string(root.join("CHANGELOG.md"))?;
    let changes = section(&changes).context("CHANGELOG.md has no section of what is unreleased")?;
    for target in targets {
        said(Command::new("rustup").args(["target", "add", target]))?;
        let mut wheel = Command::new("bash");
        wheel.arg("scripts/wheel").arg(&out).env("TARGET", target).env("PROGRAM", "1");
        said(wheel.current_dir(root))?;
        archive(root, &out, target, &version)?;
    }
    // By the program that was just built, where this machine can start it.
    let program = root.join("target").join(TARGETS[0]).join("dist/benchwright");
    if targets.contains(&TARGETS[0]) {
        said(Command::new("bash").args(["scripts/solver", "fetch"]).current_dir(root))?;
        for suite in locked(root)? {
            ready_made(root, &out, &program, &suite, &version)?;
        }
    }
    book(root, &out, &version)?;
    fs::copy(root.join("CITATION.cff"), out.join("CITATION.cff"))?;
    fs::write(out.join(format!("benchwright-v{version}.cdx.json")), bill(&metadata, &version)?)?;
    fs::write(out.join("NOTES.md"), notes(&version, &names(&out)?, changes))?;
    told(&out, FOLDER)
}

/// Makes the archives of these suites alone, or of all, with a program that is there.
pub fn suites(root: &Path, program: &Path, wanted: &[&str]) -> Result<Outcome> {
    let all = locked(root)?;
    if let Some(unknown) = wanted.iter().find(|name| !all.iter().any(|suite| suite == *name)) {
        bail!("there is no suite {unknown}: {}", all.join(", "));
    }
    let out = emptied(root, SUITES)?;
    let version = version(&metadata(root)?)?;
    for suite in all.iter().filter(|suite| wanted.is_empty() || wanted.contains(&suite.as_str())) {
        ready_made(root, &out, program, suite, &version)?;
    }
    told(&out, SUITES)
}

/// A folder with nothing in it.
fn emptied(root: &Path, folder: &str) -> Result<PathBuf> {
    let out = root.join(folder);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {folder}"))?;
    }
    fs::create_dir_all(&out)?;
    Ok(out)
}

/// Writes the checksums of all files and says how many there are.
fn told(out: &Path, folder: &str) -> Result<Outcome> {
    let names = names(out)?;
    let sums = said(Command::new("sha256sum").args(&names).current_dir(out))?;
    fs::write(out.join("SHA256SUMS"), sums)?;
    Ok(Outcome { seen: format!("{} files in {folder}", names.len() + 1), faults: Vec::new() })
}

/// The archive of a target: the program, both licences, what it is, and a container file, of which the unpacked archive is the context.
fn archive(root: &Path, out: &Path, target: &str, version: &str) -> Result<()> {
    let name = format!("benchwright-{target}-v{version}");
    let folder = out.join(&name);
    fs::create_dir(&folder)?;
    fs::copy(root.join("target").join(target).join("dist/benchwright"), folder.join("benchwright"))?;
    fs::copy(root.join("docker/Dockerfile"), folder.join("Dockerfile"))?;
    for file in LICENCES.iter().chain(&["README.md", "CITATION.cff"]) {
        fs::copy(root.join(file), folder.join(file))?;
    }
    packed(out, &name)
}

/// The names of the suites that are locked, in order.
fn locked(root: &Path) -> Result<Vec<String>> {
    let files = names(&root.join("suites"))?;
    Ok(files.iter().filter_map(|file| file.strip_suffix(".toml").map(str::to_owned)).collect())
}

/// The archive of a suite: its tasks as `benchwright build` makes them, which holds each to its digest, with its lock file, its data card and the
/// licences.
fn ready_made(root: &Path, out: &Path, program: &Path, suite: &str, version: &str) -> Result<()> {
    let name = format!("benchwright-suite-{suite}-v{version}");
    let folder = out.join(&name);
    fs::create_dir(&folder)?;
    let lock = format!("suites/{suite}.toml");
    said(Command::new(program).args(["build", &lock, "-o"]).arg(folder.join("tasks")).current_dir(root))?;
    fs::copy(root.join(&lock), folder.join(format!("{suite}.toml")))?;
    fs::copy(root.join(format!("docs/data/{suite}.md")), folder.join("README.md"))?;
    for file in LICENCES.iter().chain(&["CITATION.cff"]) {
        fs::copy(root.join(file), folder.join(file))?;
    }
    packed(out, &name)
}

/// The archive of the book's pages.
fn book(root: &Path, out: &Path, version: &str) -> Result<()> {
    let name = format!("benchwright-book-v{version}");
    said(Command::new("python3").args(["scripts/book", "--build"]).arg(out.join(&name)).current_dir(root))?;
    packed(out, &name)
}

/// Makes an archive of a folder and takes the folder away. Nothing in it tells when or by whom it was made.
fn packed(out: &Path, name: &str) -> Result<()> {
    let mut tar = Command::new("tar");
    // Folders of sealed parts may be closed to others; an archive is for everybody.
    tar.args([
        "--sort=name",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=go=u,go-w",
        "--format=gnu",
    ]);
    tar.args(["--use-compress-program=gzip -n9", "-cf"]).arg(format!("{name}.tgz")).arg(name);
    said(tar.env("LC_ALL", "C").current_dir(out))?;
    Ok(fs::remove_dir_all(out.join(name))?)
}

/// What was said by a command that must succeed.
fn said(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    if !done.status.success() {
        bail!("{command:?} ended with {}: {}", done.status, String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8(done.stdout)?)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

pub(crate) fn metadata(root: &Path) -> Result<Value> {
    let text = said(
        Command::new("cargo")
            .args(["metadata", "--format-version", "1", "--locked", "--filter-platform"])
            .arg(TARGETS[0])
            .current_dir(root),
    )?;
    Ok(serde_json::from_str(&text)?)
}

fn version(metadata: &Value) -> Result<String> {
    let packages = metadata["packages"].as_array().context("no packages")?;
    let program =
        packages.iter().find(|package| package["name"] == "benchwright").context("no package `benchwright`")?;
    Ok(program["version"].as_str().context("no version")?.to_owned())
}

/// The bill of materials in CycloneDX's form: every crate of others that the lock file brings, with its licence. Parts that only tests
/// use are in it too.
fn bill(metadata: &Value, version: &str) -> Result<String> {
    let packages = metadata["packages"].as_array().context("no packages")?;
    let mut components: Vec<Value> = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("version"));
        components.push(json!({
            "type": "library",
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
            "licenses": [{ "expression": text("license").replace('/', " OR ") }],
        }));
    }
    components.sort_by_key(|component| component["purl"].to_string());
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "benchwright",
                "version": version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&bill)?))
}

/// What is told of a release: what each file is, how it is checked, and what changed.
fn notes(version: &str, files: &[String], changes: &str) -> String {
    let mut text = format!(
        "# Benchwright {version}\n\nCheck what you fetched with `sha256sum --check --ignore-missing SHA256SUMS`.\n\n| file | what it is |\n|---|---|\n"
    );
    for file in files {
        text.push_str(&format!("| `{file}` | {} |\n", about(file)));
    }
    format!("{text}\n## What changed\n\n{changes}\n")
}

/// What a file of a release is, by its name.
fn about(file: &str) -> String {
    let machine = || TARGETS.iter().find(|target| file.contains(&target[..target.find('-').unwrap_or(0)]));
    let for_machine = |what: &str| machine().map_or_else(|| what.to_owned(), |target| format!("{what} for `{target}`"));
    if file.ends_with(".whl") {
        for_machine("the module for Python with the program")
    } else if let Some(rest) = file.strip_prefix("benchwright-suite-") {
        let suite = rest.rsplit_once("-v").map_or(rest, |(suite, _)| suite);
        format!("the tasks of the suite `{suite}`, with their sealed parts and its data card")
    } else if file.starts_with("benchwright-book-") {
        "the book, as pages that open from disk".to_owned()
    } else if file.ends_with(".cdx.json") {
        "what others made of it, with versions and licences (CycloneDX)".to_owned()
    } else if file.ends_with(".tgz") {
        for_machine("the program, and a container file beside it")
    } else {
        "how to cite it".to_owned()
    }
}

/// The section of the changelog that is about to be released.
fn section(changes: &str) -> Option<&str> {
    let from = changes.find(SECTION)? + SECTION.len();
    let rest = &changes[from..];
    let text = rest[..rest.find("\n## ").unwrap_or(rest.len())].trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_section_ends_where_the_next_begins() {
        assert_eq!(section("# C\n\n## Unreleased\n\n- one\n\n## 0.1\n\n- two\n"), Some("- one"));
        assert_eq!(section("# C\n\n## Unreleased\n\n- one\n"), Some("- one"));
        assert_eq!(section("# C\n\n## Unreleased\n\n## 0.1\n"), None);
        assert_eq!(section("# C\n"), None);
    }

    #[test]
    fn notes_tell_of_every_file_what_it_is() {
        let files = [
            "CITATION.cff",
            "benchwright-0.1.0-cp310-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
            "benchwright-book-v0.1.0.tgz",
            "benchwright-suite-erp-300-v0.1.0.tgz",
            "benchwright-v0.1.0.cdx.json",
            "benchwright-x86_64-unknown-linux-gnu-v0.1.0.tgz",
        ];
        let notes = notes("0.1.0", &files.map(str::to_owned), "- one");
        let told: Vec<&str> = notes.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(told.len(), files.len());
        for (line, what) in told.iter().zip([
            "how to cite it",
            "the module for Python with the program for `aarch64-unknown-linux-gnu`",
            "the book",
            "the tasks of the suite `erp-300`",
            "what others made of it",
            "the program, and a container file beside it for `x86_64-unknown-linux-gnu`",
        ]) {
            assert!(line.contains(what), "{line}");
        }
        assert!(notes.ends_with("## What changed\n\n- one\n"));
    }

    #[test]
    fn an_archive_does_not_tell_when_by_whom_or_in_which_order_it_was_made() {
        let out = std::env::temp_dir().join(format!("xtask-packed-{}", std::process::id()));
        let make = |order: [&str; 2], mode: u32| {
            let _ = fs::remove_dir_all(&out);
            fs::create_dir_all(out.join("a/closed")).unwrap();
            for file in order {
                fs::write(out.join("a/closed").join(file), file).unwrap();
            }
            fs::set_permissions(out.join("a/closed"), fs::Permissions::from_mode(mode)).unwrap();
            packed(&out, "a").unwrap();
            assert!(!out.join("a").exists());
            fs::read(out.join("a.tgz")).unwrap()
        };
        let first = make(["one", "two"], 0o700);
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert!(first == make(["two", "one"], 0o755));
        fs::remove_dir_all(&out).unwrap();
    }

    #[test]
    fn suites_are_found_by_their_lock_files_and_have_cards() {
        let root = crate::workspace_root();
        let names = locked(&root).unwrap();
        assert!(names.contains(&"erp-300".to_owned()) && names.is_sorted(), "{names:?}");
        for name in names {
            assert!(root.join(format!("docs/data/{name}.md")).is_file(), "{name} has no data card");
        }
    }

    #[test]
    fn the_bill_names_what_others_made_and_nothing_of_ours() {
        let metadata = json!({ "packages": [
            { "name": "benchwright", "version": "0.1.0", "source": null, "license": "MIT" },
            { "name": "zeta", "version": "1.0.0", "source": "registry", "license": "MIT/Apache-2.0" },
            { "name": "alpha", "version": "2.0.0", "source": "registry", "license": "MIT" },
        ] });
        assert_eq!(version(&metadata).unwrap(), "0.1.0");
        let bill: Value = serde_json::from_str(&bill(&metadata, "0.1.0").unwrap()).unwrap();
        let names: Vec<&str> =
            bill["components"].as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["alpha", "zeta"]);
        assert_eq!(bill["components"][1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
