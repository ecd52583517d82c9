//! What no single task shows: over a whole suite no two tasks are alike, every rule is broken by some plan and every bound met
//! exactly by some certified one, no id can be found by trying seeds, and the texts do not recur more than the lock file allows.
//!
//! What cannot hold today is a number in the suite's `[bars]`: a bar that is not stored is 0. A rule counts as exercised where a
//! wrong plan of the trial `monotone` breaks it, and a bound as met exactly where one step of one number of a certified plan does;
//! so that trial must have run on the same tasks.

use crate::{AuditReport, Finding, Held, Subject};
use benchwright_base::{Digest, Stream};
use benchwright_grade::Grader;
use benchwright_pack::{Suite, Task};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The smallest suite of which anything is said.
const SMALLEST: usize = 20;
/// The largest suite of shards that is held together: every two of its tasks are compared, and all are in memory.
pub const LARGEST: usize = 5_000;
/// Words of a text that are held together.
const GRAM: usize = 8;
/// Words of a request that are held together.
const SHORT_GRAM: usize = 5;
/// The most that requests of two scenarios may have in common, in thousandths.
const MOST_IN_COMMON: usize = 600;
/// Tasks that have so much of their cases in common, in thousandths, are near-duplicates.
const ALIKE: usize = 950;
/// The most names that a note lists.
const LISTED: usize = 40;

/// On a single task there is nothing to see.
pub(super) fn run(_: &Subject<'_>, _: &Grader<'_>) -> Finding {
    Finding::new(Held::Na("this is about a suite as a whole".to_owned()))
}

/// What a suite's trial needs of one task.
#[derive(Clone, Debug)]
pub struct SuiteMember {
    id: String,
    pattern: String,
    world: String,
    instruction: String,
    /// Who acts, and with which tools.
    seat: (String, Vec<String>),
    /// What somebody asks for, where that is what the instruction ends with.
    request: Option<String>,
    /// Everything that was drawn, as path and value.
    drawn: Vec<String>,
    /// The rules that apply, with whether each has a bound.
    rules: BTreeMap<String, bool>,
    /// Why its id can be found by trying seeds.
    found: Option<String>,
}

impl SuiteMember {
    /// What is needed of a task.
    pub fn of(task: &Task) -> SuiteMember {
        let sealed = &task.sealed;
        let mut drawn = Vec::new();
        leaves(&sealed.case, &mut String::new(), &mut drawn);
        let rules = sealed.verifier.plan.rules.iter().filter(|(_, rule)| !rule.frame && rule.implied_by.is_none());
        let has_bound = |text: &str| text.contains("<=") || text.contains(">=");
        SuiteMember {
            id: task.open.id.clone(),
            pattern: sealed.pattern.clone(),
            world: task.open.world.clone(),
            instruction: task.instruction.clone(),
            seat: (task.open.role.clone(), task.open.tools.clone()),
            request: task.instruction.rsplit_once("## Request\n\n").map(|(_, request)| request.to_owned()),
            drawn,
            rules: rules.map(|(id, rule)| (id.clone(), rule.require.as_deref().is_some_and(has_bound))).collect(),
            found: found(task),
        }
    }
}

/// Everything in a document, as path and value.
fn leaves(value: &Json, path: &mut String, found: &mut Vec<String>) {
    let length = path.len();
    match value {
        Json::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                path.push_str(&format!("/{at}"));
                leaves(value, path, found);
                path.truncate(length);
            }
        }
        Json::Object(map) => {
            for (key, value) in map {
                path.push_str(&format!("/{key}"));
                leaves(value, path, found);
                path.truncate(length);
            }
        }
        leaf => found.push(format!("{path}={leaf}")),
    }
}

/// How whoever has the generator and the open part of a task, but not its salt, finds its seed without making a task. The seed is
/// given here, so one try stands for the whole search.
fn found(task: &Task) -> Option<String> {
    let (open, sealed) = (&task.open, &task.sealed);
    let seed = sealed.split.seed(sealed.seed).to_string();
    let what: Vec<&str> = [&*sealed.pattern, &sealed.tier, &sealed.objective, &seed]
        .into_iter()
        .chain(sealed.reading.as_deref())
        .collect();
    let known = ["", &open.domain, &open.world, &open.instruction, &open.canary, &open.role];
    for salt in known {
        let salted: Vec<&str> = [salt].into_iter().chain(what.iter().copied()).collect();
        for key in [what.join("|"), salted.join("|")] {
            let digest = Digest::of(key.as_bytes()).to_string();
            if open.id.ends_with(&digest[..10]) {
                return Some(format!("{} is the digest of its pattern and seed", open.id));
            }
        }
    }
    let drawn = Stream::new(sealed.split.seed(sealed.seed), &["faults", &sealed.pattern]).below(1 << 53);
    open.faults.filter(|faults| faults.drawn_from == drawn).map(|_| format!("the faults of {} tell its seed", open.id))
}

/// Tries a suite as a whole. The report is that of its tasks, all of which were audited.
pub fn suite(suite: &Suite, members: &[SuiteMember], report: &AuditReport) -> Finding {
    if members.len() < SMALLEST {
        let why = format!("the suite has {} tasks, and fewer than {SMALLEST} say nothing of a suite", members.len());
        return Finding::new(Held::Na(why));
    }
    let mut faults = Vec::new();
    let mut notes = Vec::new();
    let bars = suite.bars;
    let mut over = |what: &str, found: usize, bar: Option<u32>| {
        let bar = bar.unwrap_or(0) as usize;
        if found > bar {
            faults.push(format!("{what}: {found}, and the suite's bar is {bar}"));
        }
    };

    let alike = alike(members);
    over("tasks that are nearly another", alike.pairs.len(), bars.near_duplicates);
    listed(&mut notes, "nearly alike", alike.pairs.iter().map(|(a, b)| format!("{a} and {b}")));
    let recurring = recurring(members);
    over("8-grams that recur, in thousandths", recurring, bars.recurring);

    // What the wrong plans of the other trial have broken.
    let tried = report.trials.get("monotone").filter(|trial| trial.run - trial.na > 0);
    let rules: BTreeMap<&str, bool> =
        members.iter().flat_map(|member| member.rules.iter().map(|(id, bound)| (&**id, *bound))).collect();
    let others = ["near-miss", "traps"].into_iter().filter_map(|trial| report.trials.get(trial));
    let others: Vec<_> = others.collect();
    let counted = |what: &str, rule: &str| {
        let name = format!("{what} {rule}");
        tried.into_iter().chain(others.iter().copied()).any(|trial| trial.counts.contains_key(&name))
    };
    let idle: Vec<&str> = rules.keys().copied().filter(|rule| !counted("broken", rule)).collect();
    let unmet: Vec<&str> =
        rules.iter().filter(|(rule, bound)| **bound && !counted("tight", rule)).map(|(rule, _)| *rule).collect();
    let bounds = rules.values().filter(|bound| **bound).count();
    if tried.is_some() {
        over("rules that no wrong plan breaks", idle.len(), bars.idle_rules);
        over("bounds that no certified plan meets within a step", unmet.len(), bars.unmet_bounds);
        listed(&mut notes, "never broken", idle.iter().map(|rule| (*rule).to_owned()));
        listed(&mut notes, "never met exactly", unmet.iter().map(|rule| (*rule).to_owned()));
    }
    let unbreakable = report.trials.get("near-miss").map_or(0, |near| {
        let get = |name: &str| near.counts.get(name).copied().unwrap_or(0);
        (get("unbreakable") * 1_000).div_ceil(get("instances").max(1)) as usize
    });
    over("rule instances that nothing breaks, in thousandths", unbreakable, bars.unbreakable);

    if let Some((a, b)) = alike.same {
        faults.push(format!("{a} and {b} have the same world, instruction, role and tools"));
    }
    let requests = requests(members);
    if let Some((common, a, b)) = requests.filter(|(common, _, _)| *common > MOST_IN_COMMON) {
        faults.push(format!("the requests {a} and {b} of two scenarios have {common} thousandths in common"));
    }
    if suite.salt.is_none() {
        faults.push("the suite has no salt; `build --lock` draws one".to_owned());
    }
    faults.extend(members.iter().filter_map(|member| member.found.clone()).take(3));

    let mut finding = Finding::of(&faults);
    if faults.is_empty() && tried.is_none() {
        let why = "which rules are exercised is known only where `monotone` ran on the same tasks";
        finding.held = Held::NoVerdict(why.to_owned());
    }
    finding.notes = notes;
    let figures = [
        ("tasks", members.len()),
        ("nearly alike", alike.pairs.len()),
        ("highest likeness, in thousandths", alike.highest),
        ("rules", rules.len()),
        ("rules never broken", idle.len()),
        ("bounds", bounds),
        ("bounds never met exactly", unmet.len()),
        ("unbreakable, in thousandths", unbreakable),
        ("recurring 8-grams, in thousandths", recurring),
        ("in common of requests of two scenarios, in thousandths", requests.map_or(0, |(common, _, _)| common)),
    ];
    figures.into_iter().fold(finding, |finding, (name, figure)| finding.count(name, figure))
}

/// Names in one note.
fn listed(notes: &mut Vec<String>, what: &str, names: impl Iterator<Item = String>) {
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        let more = names.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("{what}: {}{more}", names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ")));
    }
}

/// Tasks that are alike.
struct Alike {
    /// Two whose world and instruction are the same.
    same: Option<(String, String)>,
    /// Those that are nearly alike: the same world, or nearly the same case of the same pattern.
    pairs: Vec<(String, String)>,
    /// The most that two cases of one pattern have in common, in thousandths.
    highest: usize,
}

fn alike(members: &[SuiteMember]) -> Alike {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut drawn: Vec<Vec<u32>> = Vec::new();
    for member in members {
        let mut list = Vec::with_capacity(member.drawn.len());
        for leaf in &member.drawn {
            let next = numbers.len() as u32;
            list.push(*numbers.entry(leaf).or_insert(next));
        }
        list.sort_unstable();
        drawn.push(list);
    }
    let mut alike = Alike { same: None, pairs: Vec::new(), highest: 0 };
    for (at, member) in members.iter().enumerate() {
        for (before, other) in members.iter().enumerate().take(at) {
            let same_world = member.world == other.world;
            if same_world && member.instruction == other.instruction && member.seat == other.seat {
                alike.same = Some((other.id.clone(), member.id.clone()));
            }
            let of_pattern = member.pattern == other.pattern;
            let likeness = if of_pattern { in_common(&drawn[at], &drawn[before]) } else { 0 };
            alike.highest = alike.highest.max(likeness);
            if same_world || likeness >= ALIKE {
                alike.pairs.push((other.id.clone(), member.id.clone()));
            }
        }
    }
    alike
}

/// What two lists in order have in common, in thousandths of the longer one.
fn in_common(one: &[u32], other: &[u32]) -> usize {
    shared(one, other) * 1_000 / one.len().max(other.len()).max(1)
}

/// How many two lists in order have in common.
fn shared(one: &[u32], other: &[u32]) -> usize {
    let (mut a, mut b, mut common) = (0, 0, 0);
    while a < one.len() && b < other.len() {
        match one[a].cmp(&other[b]) {
            std::cmp::Ordering::Less => a += 1,
            std::cmp::Ordering::Greater => b += 1,
            std::cmp::Ordering::Equal => (a, b, common) = (a + 1, b + 1, common + 1),
        }
    }
    common
}

/// The two requests of different scenarios that have most in common, with how much, in thousandths.
fn requests(members: &[SuiteMember]) -> Option<(usize, &str, &str)> {
    let mut numbers: BTreeMap<Vec<String>, u32> = BTreeMap::new();
    let mut grams: Vec<(&SuiteMember, Vec<u32>)> = Vec::new();
    for member in members {
        let Some(request) = &member.request else { continue };
        let words: Vec<String> = request.split_whitespace().map(str::to_lowercase).collect();
        let mut list: Vec<u32> = Vec::new();
        for gram in words.windows(SHORT_GRAM) {
            let next = numbers.len() as u32;
            list.push(*numbers.entry(gram.to_vec()).or_insert(next));
        }
        list.sort_unstable();
        list.dedup();
        grams.push((member, list));
    }
    let mut most = None;
    for (at, (member, list)) in grams.iter().enumerate() {
        for (other, before) in grams[..at].iter().filter(|(other, _)| other.pattern != member.pattern) {
            let shared = shared(list, before);
            let common = shared * 1_000 / (list.len() + before.len() - shared).max(1);
            if most.is_none_or(|(known, _, _)| common > known) {
                most = Some((common, &*other.id, &*member.id));
            }
        }
    }
    most
}

/// The share of a task's 8-grams that stand in another task too, in thousandths, over all tasks.
fn recurring(members: &[SuiteMember]) -> usize {
    // A policy is the same in every instruction of its domain; what is asked for is not.
    let text = |member: &'_ SuiteMember| member.request.clone().unwrap_or_else(|| member.instruction.clone());
    let words: Vec<Vec<String>> =
        members.iter().map(|member| text(member).split_whitespace().map(str::to_lowercase).collect()).collect();
    let grams: Vec<BTreeSet<&[String]>> = words.iter().map(|words| words.windows(GRAM).collect()).collect();
    let mut tasks: BTreeMap<&[String], usize> = BTreeMap::new();
    for gram in grams.iter().flatten() {
        *tasks.entry(gram).or_default() += 1;
    }
    let share = |grams: &BTreeSet<&[String]>| {
        let again = grams.iter().filter(|gram| tasks.get(*gram).is_some_and(|tasks| *tasks > 1)).count();
        again * 1_000 / grams.len().max(1)
    };
    grams.iter().map(share).sum::<usize>() / members.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrialSummary;
    use benchwright_pack::{Split, SuiteBars};

    fn member(at: usize) -> SuiteMember {
        let words: Vec<String> = (0..40).map(|word| format!("w{word}t{at}")).collect();
        SuiteMember {
            id: format!("erp-{at}"),
            pattern: "a/b".to_owned(),
            world: format!("world {at}"),
            instruction: words.join(" "),
            seat: ("clerk".to_owned(), Vec::new()),
            request: None,
            drawn: (0..20).map(|leaf| format!("/{leaf}={at}")).collect(),
            rules: BTreeMap::from([("r/most".to_owned(), true), ("r/is".to_owned(), false)]),
            found: None,
        }
    }

    fn whole(bars: SuiteBars) -> Suite {
        Suite {
            name: "s".to_owned(),
            version: 1,
            family: "erp".to_owned(),
            split: Split::Test,
            canary: String::new(),
            salt: Some("0123456789abcdef0123456789abcdef".to_owned()),
            inject: 0,
            bars,
            solver: None,
            unbreakable: BTreeMap::new(),
            tasks: Vec::new(),
        }
    }

    fn report(counts: &[&str]) -> AuditReport {
        let counts = counts.iter().map(|name| ((*name).to_owned(), 1)).collect();
        let monotone = TrialSummary { run: 20, passed: 20, counts, ..TrialSummary::default() };
        AuditReport { trials: BTreeMap::from([("monotone".to_owned(), monotone)]), ..AuditReport::default() }
    }

    const ALL: [&str; 3] = ["broken r/most", "broken r/is", "tight r/most"];

    /// What is told of a suite of so many tasks after a change.
    fn told(bars: SuiteBars, counts: &[&str], change: impl FnOnce(&mut Vec<SuiteMember>, &mut Suite)) -> Held {
        let (mut members, mut suite_file) = ((0..20).map(member).collect(), whole(bars));
        change(&mut members, &mut suite_file);
        suite(&suite_file, &members, &report(counts)).held
    }

    fn fails_with(held: &Held, words: &str) {
        assert!(matches!(held, Held::Failed(why) if why.contains(words)), "{held:?}");
    }

    #[test]
    fn a_suite_without_fault_passes_and_each_fault_is_told() {
        let none = SuiteBars::default();
        assert_eq!(told(none, &ALL, |_, _| ()), Held::Passed);
        fails_with(&told(none, &ALL, |_, suite| suite.salt = None), "no salt");
        fails_with(&told(none, &ALL, |members, _| members[3].found = Some("its seed is told".to_owned())), "seed");
        fails_with(&told(none, &ALL[1..], |_, _| ()), "rules that no wrong plan breaks: 1");
        fails_with(&told(none, &ALL[..2], |_, _| ()), "bounds that no certified plan meets within a step: 1");
        let alike = |members: &mut Vec<SuiteMember>, _: &mut Suite| members[1].drawn = members[0].drawn.clone();
        fails_with(&told(none, &ALL, alike), "nearly another: 1");
        let twins = SuiteBars { near_duplicates: Some(1), ..none };
        assert_eq!(told(twins, &ALL, alike), Held::Passed);
        let same = |members: &mut Vec<SuiteMember>, _: &mut Suite| {
            members[1] = SuiteMember { id: "other".to_owned(), ..members[0].clone() };
        };
        let bars = SuiteBars { near_duplicates: Some(1), recurring: Some(100), ..none };
        fails_with(&told(bars, &ALL, same), "the same world, instruction, role and tools");
        let tools = |members: &mut Vec<SuiteMember>, suite: &mut Suite| {
            same(members, suite);
            members[1].seat.1 = vec!["all but one".to_owned()];
        };
        assert_eq!(told(bars, &ALL, tools), Held::Passed);
        let asks = |other: &'static str| {
            move |members: &mut Vec<SuiteMember>, _: &mut Suite| {
                let words = "please move the meeting with our partners to another day of this week";
                members[0].request = Some(words.to_owned());
                members[1].request = Some(words.replace("this week", other));
                members[1].pattern = "a/c".to_owned();
            }
        };
        fails_with(&told(bars, &ALL, asks("next week")), "in common");
        assert_eq!(told(bars, &ALL, asks("our choice, if all of them can come then, and else leave it")), Held::Passed);
        // Two of twenty have every 8-gram in common.
        fails_with(&told(SuiteBars { recurring: Some(99), ..bars }, &ALL, same), "in thousandths: 100");
    }

    #[test]
    fn a_small_suite_is_not_looked_at_and_one_whose_rules_nobody_broke_gets_no_verdict() {
        let small: Vec<SuiteMember> = (0..19).map(member).collect();
        let held = suite(&whole(SuiteBars::default()), &small, &report(&ALL)).held;
        assert!(matches!(held, Held::Na(_)), "{held:?}");
        let members: Vec<SuiteMember> = (0..20).map(member).collect();
        let held = suite(&whole(SuiteBars::default()), &members, &AuditReport::default()).held;
        assert!(matches!(held, Held::NoVerdict(_)), "{held:?}");
    }
}
