//! Carries the tasks of `suites/demo` in the program. While there are none, the list is empty and `demo` says so.

use std::{env, fmt::Write as _, fs, io, path::Path};

fn main() -> io::Result<()> {
    let suites = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../suites");
    println!("cargo::rerun-if-changed={}", suites.display());
    let mut files = Vec::new();
    let demo = suites.join("demo");
    if demo.is_dir() {
        gather(&demo.canonicalize()?, "", &mut files)?;
    }
    files.sort();
    let mut code = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?})),");
    }
    code.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("demo.rs"), code)
}

/// Every file below a folder, by its path from the folder.
fn gather(folder: &Path, above: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if above.is_empty() { name } else { format!("{above}/{name}") };
        if entry.file_type()?.is_dir() {
            gather(&entry.path(), &path, files)?;
        } else {
            files.push((path, entry.path().display().to_string()));
        }
    }
    Ok(())
}
