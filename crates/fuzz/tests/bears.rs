//! Every target bears good documents, those that were once borne badly, and good ones changed at random, the same way each time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise, and says how much it tried"
)]

use benchwright_base::Stream;
use benchwright_fuzz::{Met, TARGETS, Target, mutate::changed, target};

fn bears(name: &str) {
    let Target { seeds, regressions, rounds, meet, .. } = target(name).unwrap();
    let seeds = seeds();
    for (at, seed) in seeds.iter().enumerate() {
        assert_eq!(
            meet(seed),
            Met::Taken,
            "good document {at} of {name} is refused, so that nothing is tried behind it"
        );
    }
    for input in *regressions {
        let _ = meet(input);
    }
    let mut stream = Stream::new(1, &["fuzz", name]);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..*rounds {
        let good = stream.pick(&seeds).unwrap();
        let other = stream.pick(&seeds).unwrap();
        match meet(&changed(good, other, &mut stream)) {
            Met::Taken => taken += 1,
            Met::Refused => refused += 1,
        }
    }
    println!("{name}: {rounds} changed documents, {taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0, "{name}: {taken} taken, {refused} refused: one side was not tried");
}

macro_rules! tests {
    ($($name:ident),*) => {
        $(#[test] fn $name() { bears(stringify!($name)); })*

        #[test]
        fn every_target_has_its_test() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),*]);
        }
    };
}

tests!(snapshot, trace, suite, domain, pattern, pack, ledger, expression, arguments);
