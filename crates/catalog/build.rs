//! Scans `domains/` and `patterns/` and writes the list of what is there: every declaration embedded, every `native.rs` and
//! every `plan/mod.rs` compiled, of domains and of the parts in `domains/_parts`. There is no other list of domains or patterns.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../domains");
    println!("cargo::rerun-if-changed={}", root.display());
    let root = root.canonicalize()?;
    let [mut embedded, mut natives, mut modules, mut families] = [const { String::new() }; 4];
    let [mut parts, mut part_natives, mut part_families] = [const { String::new() }; 3];
    let shared = root.join("_parts");
    let folders = sorted(&root)?.into_iter().map(|folder| (folder, false));
    let shared = if shared.is_dir() { sorted(&shared)? } else { Vec::new() };
    for (domain, is_part) in folders.chain(shared.into_iter().map(|folder| (folder, true))) {
        let name = domain.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !domain.is_dir() || name.starts_with(['_', '.']) {
            continue;
        }
        let kind = if is_part { "part_" } else { "" };
        let mut files = String::new();
        for file in sorted(&domain)? {
            let path = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            println!("cargo::rerun-if-changed={}", file.display());
            if path.ends_with(".toml") || path == "README.md" || path == "bench.case" {
                let _ = write!(files, "({path:?}, include_str!({:?})), ", file.display().to_string());
            }
            if path == "plan" && file.join("mod.rs").is_file() {
                let module = format!("{kind}plan_{}", name.replace('-', "_"));
                let entry = file.join("mod.rs");
                let shown = if is_part { "pub(crate) " } else { "" };
                let _ = writeln!(modules, "#[path = {:?}]\n{shown}mod {module};", entry.display().to_string());
                let _ = match is_part {
                    true => write!(part_families, "({name:?}, {module}::family as crate::NewFamily), "),
                    false => write!(families, "({name:?}, &{module}::FAMILY as &dyn benchwright_project::Family), "),
                };
            }
            if path == "native.rs" {
                let module = format!("{kind}native_{}", name.replace('-', "_"));
                let _ = writeln!(modules, "#[path = {:?}]\nmod {module};", file.display().to_string());
                let list = if is_part { &mut part_natives } else { &mut natives };
                let _ = write!(list, "({name:?}, {module}::NATIVES), ");
            }
        }
        let list = if is_part { &mut parts } else { &mut embedded };
        let _ = write!(list, "({name:?}, &[{files}]), ");
    }
    let mut joined = String::new();
    let told = root.join("_joined");
    println!("cargo::rerun-if-changed={}", told.display());
    for file in if told.is_dir() { sorted(&told)? } else { Vec::new() } {
        println!("cargo::rerun-if-changed={}", file.display());
        if file.extension().is_some_and(|extension| extension == "toml") {
            let _ = write!(joined, "({:?}, include_str!({:?})), ", name_of(&file), file.display().to_string());
        }
    }
    let mut patterns = String::new();
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../patterns");
    println!("cargo::rerun-if-changed={}", root.display());
    for group in sorted(&root.canonicalize()?)?.into_iter().filter(|path| path.is_dir()) {
        let own = sorted(&group)?.into_iter().chain([group.clone()]);
        for pattern in own.filter(|path| path.join("pattern.toml").is_file()) {
            let mut files = String::new();
            for file in sorted(&pattern)? {
                println!("cargo::rerun-if-changed={}", file.display());
                if file.extension().is_some_and(|extension| extension == "toml") {
                    let path = file.display().to_string();
                    let _ = write!(files, "({:?}, include_str!({path:?})), ", name_of(&file));
                }
            }
            let name =
                if pattern == group { name_of(&group) } else { format!("{}/{}", name_of(&group), name_of(&pattern)) };
            let _ = write!(patterns, "({name:?}, &[{files}]), ");
        }
    }
    let code = format!(
        "{modules}\npub(crate) static EMBEDDED: crate::Embedded = &[{embedded}];\n\
         pub(crate) static PARTS: crate::Embedded = &[{parts}];\n\
         pub(crate) static JOINED: &[(&str, &str)] = &[{joined}];\n\
         pub(crate) static PART_NATIVES: &[(&str, &benchwright_sandbox::Natives)] = &[{part_natives}];\n\
         pub(crate) static PART_FAMILIES: &[(&str, crate::NewFamily)] = &[{part_families}];\n\
         pub(crate) static NATIVES: &[(&str, &benchwright_sandbox::Natives)] = &[{natives}];\n\
         pub(crate) static FAMILIES: &[(&str, &dyn benchwright_project::Family)] = &[{families}];\n\
         pub(crate) static PATTERNS: crate::Embedded = &[{patterns}];\n"
    );
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("domains.rs"), code)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sorted(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
