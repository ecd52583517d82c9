//! Scans `domains/` and `patterns/` and writes the list of what is there: every declaration embedded, every `native.rs` and
//! every `plan/mod.rs` compiled. There is no other list of domains or patterns.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../domains");
    println!("cargo::rerun-if-changed={}", root.display());
    let root = root.canonicalize()?;
    let mut embedded = String::new();
    let mut natives = String::new();
    let mut modules = String::new();
    let mut families = String::new();
    for domain in sorted(&root)? {
        let name = domain.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !domain.is_dir() || name.starts_with(['_', '.']) {
            continue;
        }
        let mut files = String::new();
        for file in sorted(&domain)? {
            let path = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            println!("cargo::rerun-if-changed={}", file.display());
            if path.ends_with(".toml") || path == "README.md" || path == "bench.case" {
                let _ = write!(files, "({path:?}, include_str!({:?})), ", file.display().to_string());
            }
            if path == "plan" && file.join("mod.rs").is_file() {
                let module = format!("plan_{}", name.replace('-', "_"));
                let entry = file.join("mod.rs");
                let _ = writeln!(modules, "#[path = {:?}]\nmod {module};", entry.display().to_string());
                let _ = write!(families, "({name:?}, &{module}::FAMILY as &dyn benchwright_project::Family), ");
            }
            if path == "native.rs" {
                let module = format!("native_{}", name.replace('-', "_"));
                let _ = writeln!(modules, "#[path = {:?}]\nmod {module};", file.display().to_string());
                let _ = write!(natives, "({name:?}, {module}::NATIVES), ");
            }
        }
        let _ = write!(embedded, "({name:?}, &[{files}]), ");
    }
    let mut patterns = String::new();
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../patterns");
    println!("cargo::rerun-if-changed={}", root.display());
    for group in sorted(&root.canonicalize()?)?.into_iter().filter(|path| path.is_dir()) {
        for pattern in sorted(&group)?.into_iter().filter(|path| path.join("pattern.toml").is_file()) {
            let mut files = String::new();
            for file in sorted(&pattern)? {
                println!("cargo::rerun-if-changed={}", file.display());
                if file.extension().is_some_and(|extension| extension == "toml") {
                    let path = file.display().to_string();
                    let _ = write!(files, "({:?}, include_str!({path:?})), ", name_of(&file));
                }
            }
            let _ = write!(patterns, "(\"{}/{}\", &[{files}]), ", name_of(&group), name_of(&pattern));
        }
    }
    let code = format!(
        "{modules}\npub(crate) static EMBEDDED: &[(&str, &[(&str, &str)])] = &[{embedded}];\n\
         pub(crate) static NATIVES: &[(&str, &benchwright_sandbox::Natives)] = &[{natives}];\n\
         pub(crate) static FAMILIES: &[(&str, &dyn benchwright_project::Family)] = &[{families}];\n\
         pub(crate) static PATTERNS: &[(&str, &[(&str, &str)])] = &[{patterns}];\n"
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
