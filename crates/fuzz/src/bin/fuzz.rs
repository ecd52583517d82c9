//! The targets under libFuzzer. `scripts/fuzz` builds and runs it: BENCHWRIGHT_FUZZ names the target, BENCHWRIGHT_CORPUS a folder into
//! which the good documents are put.
#![no_main]

use benchwright_fuzz::{TARGETS, Target, target};
use libfuzzer_sys::fuzz_target;
use std::{fs, path::Path, sync::LazyLock};

static CHOSEN: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("BENCHWRIGHT_FUZZ").unwrap_or_default();
    let names = TARGETS.map(|target| target.name).join(", ");
    target(&name).unwrap_or_else(|| panic!("BENCHWRIGHT_FUZZ names no target; there are: {names}"))
});

fn prepare() {
    let Ok(corpus) = std::env::var("BENCHWRIGHT_CORPUS") else { return };
    let inputs = (CHOSEN.seeds)().into_iter().chain(CHOSEN.regressions.iter().map(|bytes| bytes.to_vec()));
    for (at, bytes) in inputs.enumerate() {
        let path = Path::new(&corpus).join(format!("good-{at}"));
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let _ = (CHOSEN.meet)(bytes);
});
