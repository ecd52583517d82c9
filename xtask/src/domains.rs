//! Which folders have code. A domain, a part or a family with a `Cargo.toml` is a crate; what catalog must say of each, a
//! dependency and a place in its list, is written here, so that nobody writes it by hand.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{Fault, Outcome};

/// Where catalog says on whom it depends; the lines between the marks are ours.
const MANIFEST: &str = "crates/catalog/Cargo.toml";
const BEGIN: &str = "# Written by `cargo xtask domains`: what has code.\n";
const END: &str = "# So far.\n";
/// The list of the code.
const LIST: &str = "crates/catalog/src/generated.rs";

/// A folder with code.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Code {
    /// The folder's name.
    name: String,
    /// Its path from the root.
    path: String,
    /// The package that its Cargo.toml must name.
    package: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Domain,
    Part,
    Family,
    /// A family of the name of a part is made for each domain that includes the part.
    PartFamily,
}

impl Code {
    fn new(folder: &str, name: &str, kind: Kind) -> Code {
        let of = if matches!(kind, Kind::Domain | Kind::Part) { "domain" } else { "family" };
        let (path, package) = (format!("{folder}/{name}"), format!("benchwright-{of}-{name}"));
        Code { name: name.to_owned(), path, package, kind }
    }

    /// The crate as code names it.
    fn module(&self) -> String {
        self.package.replace('-', "_")
    }
}

/// Says which of the written files is stale.
pub fn check(root: &Path) -> Result<Outcome> {
    let (codes, mut faults) = find(root, &[])?;
    for (path, text) in files(root, &codes)? {
        let old = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        if old != text {
            let same = old.lines().zip(text.lines()).take_while(|(old, new)| old == new).count();
            faults.push(Fault::new(path, same + 1, "this is stale; run `cargo xtask domains`"));
        }
    }
    faults.sort();
    Ok(Outcome { seen: seen(&codes), faults })
}

/// Writes the files, as if the folders of these names had no code.
pub fn write(root: &Path, without: &[&str]) -> Result<Outcome> {
    let (codes, faults) = find(root, without)?;
    if faults.is_empty() {
        for (path, text) in files(root, &codes)? {
            let place = root.join(path);
            // A file that is as it was keeps its time, so that nothing is built again.
            if std::fs::read_to_string(&place).ok().as_deref() != Some(&text) {
                std::fs::write(&place, text).with_context(|| format!("cannot write {path}"))?;
            }
        }
    }
    Ok(Outcome { seen: seen(&codes), faults })
}

fn seen(codes: &[Code]) -> String {
    format!("{} folders with code", codes.len())
}

/// The folders with code, in order, and what is wrong with their manifests.
fn find(root: &Path, without: &[&str]) -> Result<(Vec<Code>, Vec<Fault>)> {
    let (mut codes, mut faults) = (Vec::new(), Vec::new());
    let mut places = vec![("domains".to_owned(), Kind::Domain)];
    places.extend(groups(root)?.into_iter().map(|group| (group, Kind::Domain)));
    places.extend([("domains/_parts".to_owned(), Kind::Part), ("families".to_owned(), Kind::Family)]);
    for (folder, kind) in places {
        let folder = &*folder;
        for name in folders(&root.join(folder))? {
            let manifest = root.join(folder).join(&name).join("Cargo.toml");
            if name.starts_with(['_', '.']) || !manifest.is_file() || without.contains(&&*name) {
                continue;
            }
            let of_part = kind == Kind::Family && root.join("domains/_parts").join(&name).is_dir();
            let code = Code::new(folder, &name, if of_part { Kind::PartFamily } else { kind });
            let text = std::fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", code.path))?;
            if !text.lines().any(|line| line.trim() == format!("name = \"{}\"", code.package)) {
                let what = format!("the package of this folder is named `{}`", code.package);
                faults.push(Fault::new(&format!("{}/Cargo.toml", code.path), 1, what));
            }
            codes.push(code);
        }
    }
    Ok((codes, faults))
}

/// The groups of domains by their paths, in order: folders among those of domains that are none themselves.
pub(crate) fn groups(root: &Path) -> Result<Vec<String>> {
    let names = folders(&root.join("domains"))?.into_iter().filter(|name| !name.starts_with(['_', '.']));
    let paths = names.map(|name| format!("domains/{name}"));
    Ok(paths.filter(|path| !root.join(path).join("domain.toml").is_file()).collect())
}

/// The names of the folders in a folder, in order; none, where there is no such folder.
fn folders(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.push(entry.file_name().into_string().ok().context("a folder's name is not UTF-8")?);
            }
        }
    }
    names.sort();
    Ok(names)
}

/// What is to be written: paths and texts.
fn files(root: &Path, codes: &[Code]) -> Result<[(&'static str, String); 2]> {
    let manifest = std::fs::read_to_string(root.join(MANIFEST)).with_context(|| format!("cannot read {MANIFEST}"))?;
    Ok([(MANIFEST, dependencies(&manifest, codes)?), (LIST, list(codes))])
}

/// The manifest with the dependencies between its marks.
fn dependencies(manifest: &str, codes: &[Code]) -> Result<String> {
    let marks = || format!("{MANIFEST} has lost the line `{}` or `{}`", BEGIN.trim(), END.trim());
    let (before, rest) = manifest.split_once(BEGIN).with_context(marks)?;
    let (_, after) = rest.split_once(END).with_context(marks)?;
    let mut lines = String::new();
    for Code { package, path, .. } in codes {
        let _ = writeln!(lines, "{package} = {{ path = \"../../{path}\" }}");
    }
    Ok([before, BEGIN, &lines, END, after].concat())
}

/// The list of the code as Rust.
fn list(codes: &[Code]) -> String {
    let mut text = "//! The code of domains, parts and families, by the names of their folders. Written by `cargo xtask domains`, which also\n\
                    //! gives this crate its dependencies on them.\n\n\
                    use benchwright_project::Family;\n\
                    use benchwright_sandbox::Natives;\n"
        .to_owned();
    let lists = [
        (Kind::Domain, "NATIVES: &[(&str, &Natives)]", "The code of the tools of domains.", "", "NATIVES"),
        (Kind::Part, "PART_NATIVES: &[(&str, &Natives)]", "The code of the tools of parts.", "", "NATIVES"),
        (Kind::Family, "FAMILIES: &[(&str, &dyn Family)]", "The families.", "&", "FAMILY"),
        (
            Kind::PartFamily,
            "PART_FAMILIES: &[(&str, crate::NewFamily)]",
            "What makes the families of the domains that include a part.",
            "",
            "family",
        ),
    ];
    for (kind, declared, about, borrow, item) in lists {
        let _ = write!(text, "\n/// {about}\npub(crate) static {declared} = &[\n");
        for code in codes.iter().filter(|code| code.kind == kind) {
            let _ = writeln!(text, "    ({:?}, {borrow}{}::{item}),", code.name, code.module());
        }
        text.push_str("];\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes() -> Vec<Code> {
        vec![
            Code::new("domains", "kiosk", Kind::Domain),
            Code::new("domains/_parts", "grid", Kind::Part),
            Code::new("families", "erp", Kind::Family),
            Code::new("families", "grid", Kind::PartFamily),
        ]
    }

    #[test]
    fn every_crate_is_a_dependency_and_the_rest_of_the_manifest_stays() {
        let manifest = format!("[dependencies]\nserde = \"1\"\n{BEGIN}old = 1\n{END}\n[lints]\n");
        let written = dependencies(&manifest, &codes()).unwrap();
        let between = "benchwright-domain-kiosk = { path = \"../../domains/kiosk\" }\n\
                       benchwright-domain-grid = { path = \"../../domains/_parts/grid\" }\n\
                       benchwright-family-erp = { path = \"../../families/erp\" }\n\
                       benchwright-family-grid = { path = \"../../families/grid\" }\n";
        assert_eq!(written, format!("[dependencies]\nserde = \"1\"\n{BEGIN}{between}{END}\n[lints]\n"));
        assert_eq!(dependencies(&written, &codes()).unwrap(), written);
        let lost = dependencies("[dependencies]\n", &codes()).unwrap_err().to_string();
        assert!(lost.contains("has lost the line"), "{lost}");
    }

    #[test]
    fn the_code_of_a_domain_in_a_group_is_found() {
        let root = std::env::temp_dir().join(format!("benchwright-groups-{}", std::process::id()));
        for (file, text) in [
            ("domains/shop/domain.toml", ""),
            ("domains/group/kiosk/domain.toml", ""),
            ("domains/group/kiosk/Cargo.toml", "name = \"benchwright-domain-kiosk\"\n"),
            ("domains/_parts/grid/tables.toml", ""),
        ] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        assert_eq!(groups(&root).unwrap(), ["domains/group"]);
        let (codes, faults) = find(&root, &[]).unwrap();
        assert_eq!((codes, faults.len()), (vec![Code::new("domains/group", "kiosk", Kind::Domain)], 0));
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn every_crate_stands_in_the_list_of_its_kind() {
        let text = list(&codes());
        for line in [
            "    (\"kiosk\", benchwright_domain_kiosk::NATIVES),",
            "    (\"grid\", benchwright_domain_grid::NATIVES),",
            "    (\"erp\", &benchwright_family_erp::FAMILY),",
            "    (\"grid\", benchwright_family_grid::family),",
        ] {
            assert_eq!(text.lines().filter(|known| *known == line).count(), 1, "{line} in {text}");
        }
    }
}
