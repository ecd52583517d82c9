//! Carries the tasks of `suites/demo`, and the lock files of all suites with what is kept of their proofs, in the library. While there are no tasks, that list is
//! empty, which is told to who asks for them.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    // A crate that stands by itself has a copy (`scripts/crates`).
    let carried = own.join("carried/suites");
    let suites = if carried.is_dir() { carried } else { own.join("../../suites") };
    println!("cargo::rerun-if-changed={}", suites.display());
    let mut files = Vec::new();
    let demo = suites.join("demo");
    if demo.is_dir() {
        gather(&demo.canonicalize()?, "", &mut files)?;
    }
    files.sort();
    let mut code = String::from("pub(crate) static DEMO: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?})),");
    }
    code.push_str("];\n");
    let mut beside: Vec<_> = fs::read_dir(&suites)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    beside.sort();
    for (list, end) in [("SUITES", "toml"), ("PROOFS", "certificates")] {
        let _ = writeln!(code, "pub(crate) static {list}: &[(&str, &str)] = &[");
        for path in beside.iter().filter(|path| path.extension().is_some_and(|known| known == end)) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", path.canonicalize()?.display().to_string());
        }
        code.push_str("];\n");
    }
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("carried.rs"), code)
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
