//! What an agent could do besides honest work and be paid for in full, and what it could do honestly and not be paid for: each is done
//! here by the agent's own tools, on tasks as they are made, and must earn what it is worth.
//!
//! `lines.rs` has what was found before the rules told it apart, with the reward it had then. `further.rs` has other ways that somebody
//! clever would try. Both are written down in `table.txt`, which `BENCHWRIGHT_UPDATE=1` writes anew.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod further;
mod hand;
mod lines;

use hand::{Hand, on_every_task};
use std::{fmt::Write as _, path::Path};

/// What an exploit or an honest detour is worth.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// It is refused: one of these rules or gates is named.
    Refused(&'static [&'static str]),
    /// It breaks no rule, and the objective sees that it is worse.
    Worse,
    /// It is honest and earns everything.
    Full,
    /// Nobody is harmed, and it earns everything; why.
    Free(&'static str),
}

/// Something that somebody does.
pub(crate) struct Deed {
    pub(crate) what: &'static str,
    /// What it earned before, where that is known.
    pub(crate) before: &'static str,
    pub(crate) due: Due,
    /// Does it; `None` where a task has nothing to do it to.
    pub(crate) does: fn(&mut Hand<'_, '_>) -> Option<()>,
}

const FULL: i64 = 1_000_000;

/// Does all deeds on all tasks: what each earned, and what is wrong with that.
fn all(deeds: &[Deed]) -> (String, Vec<String>) {
    let (mut table, mut wrong) = (String::new(), Vec::new());
    let mut tried = vec![0; deeds.len()];
    on_every_task(&mut |task, subject, grader| {
        let mut honest = Hand::new(subject, grader);
        honest.oracle();
        let oracle = honest.verdict();
        assert_eq!(oracle.reward, FULL, "{task}: {:?} {:?} {:?}", oracle.failed(), oracle.gates, honest.refused);
        for (at, deed) in deeds.iter().enumerate() {
            let mut hand = Hand::new(subject, grader);
            if (deed.does)(&mut hand).is_none() {
                continue;
            }
            if !hand.refused.is_empty() {
                let _ = writeln!(table, "{} | {task} | the system refuses it", deed.what);
                continue;
            }
            tried[at] += 1;
            let verdict = hand.verdict();
            let reward = verdict.reward;
            let failed = verdict.failed();
            let named = |rules: &[&str]| {
                rules.iter().any(|rule| failed.contains(rule) || verdict.gates.iter().any(|g| g == rule))
            };
            let right = match deed.due {
                Due::Refused(rules) => reward < FULL && named(rules),
                Due::Worse => {
                    reward < FULL && failed.is_empty() && verdict.phases[0].value > Some(verdict.phases[0].best)
                }
                Due::Full | Due::Free(_) => reward == FULL,
            };
            let _ = writeln!(
                table,
                "{} | {task} | {}.{:06} | {}{} | {}",
                deed.what,
                reward / FULL,
                reward % FULL,
                if let Due::Free(why) = deed.due { why } else { "" },
                failed.join(" "),
                verdict.gates.join(" ")
            );
            if !right {
                wrong.push(format!(
                    "{} ({task}): {:?}, but it earned {reward}: {failed:?}, gates {:?}",
                    deed.what, deed.due, verdict.gates
                ));
            }
        }
    });
    for (deed, tried) in deeds.iter().zip(tried) {
        if tried == 0 {
            wrong.push(format!("{}: no task lets anybody do it", deed.what));
        }
    }
    (table, wrong)
}

#[test]
fn everything_earns_what_it_is_worth() {
    let deeds: Vec<Deed> = lines::lines().into_iter().chain(further::further()).collect();
    let (found, wrong) = all(&deeds);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/truth/table.txt");
    if std::env::var("BENCHWRIGHT_UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(&file, &found).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (at, (kept, found)) in kept.lines().zip(found.lines()).enumerate() {
        assert_eq!(kept, found, "line {} of table.txt", at + 1);
    }
    assert_eq!(kept.lines().count(), found.lines().count());
}

#[test]
fn what_was_paid_for_before_is_all_here() {
    let lines = lines::lines();
    assert!(lines.iter().all(|deed| !deed.before.is_empty()), "a line has no reward of before");
    assert!(further::further().len() >= 40);
    let mut names: Vec<&str> = lines.iter().map(|deed| deed.what).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), lines.len(), "two lines have one name");
}
