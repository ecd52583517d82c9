//! `cargo xtask release`: what is handed out of a version, in one folder: wheels, archives as cargo-binstall looks for them, checksums, a bill
//! of materials and the changelog's section. It publishes nothing.

use std::path::Path;
use std::process::Command;
use std::{env, fs, iter};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::Outcome;

/// The machines that are built for. The second is crossed.
pub const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
/// The folder of what is handed out.
const FOLDER: &str = "target/release-files";
const SECTION: &str = "## Unreleased";

/// Makes everything for these targets.
pub fn run(root: &Path, targets: &[&str]) -> Result<Outcome> {
    if let Some(unknown) = targets.iter().find(|target| !TARGETS.contains(target)) {
        bail!("{unknown} is not built for: {}", TARGETS.join(", "));
    }
    let out = root.join(FOLDER);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {FOLDER}"))?;
    }
    fs::create_dir_all(&out)?;
    let metadata = metadata(root)?;
    let version = version(&metadata)?;
    for target in targets {
        said(Command::new("rustup").args(["target", "add", target]))?;
        said(Command::new("bash").arg("scripts/wheel").arg(&out).env("TARGET", target).current_dir(root))?;
        archive(root, &out, target, &version)?;
    }
    fs::write(out.join(format!("benchwright-v{version}.cdx.json")), bill(&metadata, &version)?)?;
    let changes = fs::read_to_string(root.join("CHANGELOG.md"))?;
    fs::write(out.join("CHANGES.md"), section(&changes).context("CHANGELOG.md has no section of what is unreleased")?)?;
    let names = names(&out)?;
    let sums = said(Command::new("sha256sum").args(&names).current_dir(&out))?;
    fs::write(out.join("SHA256SUMS"), sums)?;
    Ok(Outcome { seen: format!("{} files in {FOLDER}", names.len() + 1), faults: Vec::new() })
}

/// The archive of a target: the program, both licences and what it is. Nothing in it tells when or by whom it was made.
fn archive(root: &Path, out: &Path, target: &str, version: &str) -> Result<()> {
    let name = format!("benchwright-{target}-v{version}");
    let folder = out.join(&name);
    fs::create_dir(&folder)?;
    // By the tools that the wheel was made with.
    let tools = root.join("target/wheel-tools/bin");
    let path = env::join_paths(iter::once(tools).chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())))?;
    let mut program = Command::new("cargo");
    program.args(["zigbuild", "--quiet", "--locked", "--profile", "dist", "-p", "benchwright", "--features", "cloud"]);
    said(program.args(["--target", &format!("{target}.2.17")]).env("PATH", path).current_dir(root))?;
    fs::copy(root.join("target").join(target).join("dist/benchwright"), folder.join("benchwright"))?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        fs::copy(root.join(file), folder.join(file))?;
    }
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=go-w"]);
    tar.args(["--use-compress-program=gzip -n9", "-cf"]).arg(format!("{name}.tgz")).arg(&name);
    said(tar.current_dir(out))?;
    Ok(fs::remove_dir_all(folder)?)
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

    #[test]
    fn the_section_ends_where_the_next_begins() {
        assert_eq!(section("# C\n\n## Unreleased\n\n- one\n\n## 0.1\n\n- two\n"), Some("- one"));
        assert_eq!(section("# C\n\n## Unreleased\n\n- one\n"), Some("- one"));
        assert_eq!(section("# C\n\n## Unreleased\n\n## 0.1\n"), None);
        assert_eq!(section("# C\n"), None);
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
