//! A lock file: which tasks a suite has.

use crate::{Met, Target};
use benchwright_pack::Suite;
use benchwright_workshop::carried;

pub(crate) const TARGET: Target = Target { name: "suite", seeds, regressions: &[QUOTED_BARS], rounds: 8_000, meet };

/// A name that is no bare key was written as one.
const QUOTED_BARS: &[u8] =
    b"format = 1\nname = \"s\"\nversion = 1\nfamily = \"erp\"\ncanary = \"c\"\n[unbreakable]\n\"a b.\\\"\" = 3\n\
    [[task]]\npattern = \"p/q\"\ntier = \"easy\"\nobjective = \"o\"\nseed = 4\n";

fn seeds() -> Vec<Vec<u8>> {
    let demo = carried::suite("demo").and_then(Result::ok).map(|suite| suite.to_toml().into_bytes());
    let digest = "0123456789abcdef".repeat(4);
    let full = format!(
        "format = 1\nname = \"a-suite\"\nversion = 3\nfamily = \"erp\"\nsplit = \"train\"\ncanary = \"a line\"\nsalt = \"{digest}\"\n\
         inject = 500000\n[bars]\nrecurring = 1\nnear_duplicates = 2\nidle_rules = 3\nunmet_bounds = 4\nunbreakable = 5\n\
         [solver]\nversion = \"9\"\nlibrary = \"{digest}\"\n[unbreakable]\nworse = 2\n\"near-miss\" = 1\n\
         [[task]]\npattern = \"p/q\"\ntier = \"easy\"\nobjective = \"cost\"\nseed = 1\nreading = \"first\"\ndigest = \"{digest}\"\n\
         cluster = \"c\"\n[[task]]\npattern = \"p/q\"\ntier = \"hard\"\nobjective = \"cost\"\nseed = 4611686018427387903\n"
    );
    demo.into_iter().chain([full.into_bytes()]).collect()
}

fn meet(bytes: &[u8]) -> Met {
    let Ok(text) = std::str::from_utf8(bytes) else { return Met::Refused };
    let Ok(suite) = Suite::from_toml("suite.toml", text) else { return Met::Refused };
    let again = Suite::from_toml("suite.toml", &suite.to_toml());
    let again = again.unwrap_or_else(|error| panic!("what was written is refused: {error}"));
    assert_eq!(again, suite, "a lock file reads back as it was written");
    assert_eq!(again.digest(), suite.digest());
    for task in &suite.tasks {
        let _ = suite.salt_of(task);
    }
    Met::Taken
}
