//! What is handed out runs with a C library of 2012 (2.17). This program here is linked against the one of this machine, which tells of each
//! call the version that it is of: one that came later would keep the wheel from being made.

use std::process::Command;

/// The newest version that a call may be of.
const NEWEST: (u32, u32) = (2, 17);

/// Calls that the old library has as well, under an older version: some moved here from other libraries, some were made anew.
const MOVED: [&str; 13] = [
    "__libc_start_main",
    "dlclose",
    "dlerror",
    "dlopen",
    "dlsym",
    "exp",
    "fcntl64",
    "fstat64",
    "fstatat64",
    "log",
    "log2",
    "lstat64",
    "pow",
];

fn is_old(name: &str) -> bool {
    MOVED.contains(&name) || name == "stat64" || name.starts_with("pthread_")
}

#[test]
fn the_program_asks_nothing_of_the_c_library_that_an_old_one_does_not_have() {
    let read = Command::new("readelf").args(["-W", "--dyn-syms", env!("CARGO_BIN_EXE_benchwright")]).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let text = String::from_utf8(read.stdout).unwrap();
    let (mut seen, mut new) = (0, Vec::new());
    for line in text.lines() {
        // Number, value, size, type, binding, visibility, section, name@version. A weak one need not be there.
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, _, "GLOBAL", _, "UND", name, ..] = words[..] else { continue };
        let Some((name, version)) = name.split_once("@GLIBC_") else { continue };
        let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap());
        let version = (parts.next().unwrap(), parts.next().unwrap_or(0));
        seen += 1;
        if version > NEWEST && !is_old(name) {
            new.push(format!("{name} of {}.{}", version.0, version.1));
        }
    }
    assert!(seen > 50, "only {seen} calls are seen:\n{text}");
    assert!(new.is_empty(), "a library of 2.17 does not have {}", new.join(", "));
}
