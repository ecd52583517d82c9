//! Whether the task can be solved from what an agent sees. The case is rebuilt from the instruction and from what the
//! world's tools answer, by code that shares nothing with the writer, and solved again: the optimum must be the same.

use super::facts::odd_rows;
use crate::{Finding, Held, Subject};
use benchwright_base::TableId;
use benchwright_grade::Grader;
use benchwright_project::{Breadth, Case, NotAnswered, ToolAccess, answered, ready};
use benchwright_sandbox::Episode;
use benchwright_schema::{
    Tool,
    plan::{Binding, Bindings, Bound, FrameText},
};
use benchwright_solve::PhasePlanner;
use benchwright_spec::{NamedRows, Outcome, Planner};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    let mut access = match Reads::of(subject) {
        Ok(access) => access,
        Err(why) => return Finding::new(Held::NoVerdict(why)),
    };
    let Some(reader) = subject.family.reader() else {
        return Finding::new(Held::NoVerdict("the family offers no reader of its briefs".to_owned()));
    };
    let read = reader.read_back(&legible(subject).0, &mut access);
    let calls = access.calls;
    let finding = match read {
        Err(why) => Finding::new(Held::Failed(format!("the case could not be read back: {why}"))),
        Ok(case) => compare(subject, case),
    };
    finding.count("reads", calls)
}

/// How a sentence is referred to that only the pattern's author knows.
pub(super) const OWN_WORDS: &str = "(In words of the pattern's own: ";

/// The instruction with a reference for each sentence of a rule that the pattern puts into words of its own, which no reader of the family
/// can know; and how many those are.
pub(super) fn legible(subject: &Subject<'_>) -> (String, usize) {
    let mut text = subject.task.instruction.clone();
    let mut foreign = 0;
    let own = &subject.pattern.rules.rules;
    let known = &subject.family.plan().rules;
    let says = |id: &String| own.get(id).map(|rule| &rule.says).filter(|says| !says.is_empty());
    let is_foreign = |id: &String| says(id).is_some_and(|says| known.get(id).is_none_or(|rule| rule.says != *says));
    for clause in subject.task.sealed.clauses.iter().filter(|clause| clause.tells.iter().any(is_foreign)) {
        foreign += usize::from(text.contains(&clause.text));
        text = text.replacen(&clause.text, &format!("{OWN_WORDS}{}.)", clause.tells.join(", ")), 1);
    }
    (text, foreign)
}

/// Tool access that can only read, in the agent's seat: what a call writes at most is what the frame never looks at, such as
/// a budget that reading costs.
pub(super) struct Reads<'f> {
    episode: Episode,
    frame: &'f FrameText,
    /// How many calls were made.
    pub(super) calls: usize,
}

impl<'f> Reads<'f> {
    /// Reads in an episode of a task at its first state. Where more is known stage by stage, it is that in which the oracle has come to
    /// the last one, since nobody reads before its time what comes later.
    pub(super) fn of(subject: &'f Subject<'_>) -> Result<Reads<'f>, String> {
        let episode = match subject.stages() {
            1 => subject.begin().map_err(|error| error.to_string())?,
            _ => subject.done()?,
        };
        Ok(Reads { episode, frame: &subject.plan.frame, calls: 0 })
    }

    fn only_asks(&self, tool: &Tool) -> bool {
        let ignored = |table: &TableId| {
            let table = self.episode.domain().table(*table);
            let fields = table.fields.iter().skip(1);
            let ignored = self.frame.ignore.get(&table.name);
            ignored.is_some_and(|known| fields.into_iter().all(|field| known.contains(&field.name)))
        };
        tool.reads_only() || tool.native.as_ref().is_some_and(|native| native.writes.iter().all(ignored))
    }
}

impl ToolAccess for Reads<'_> {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        let domain = self.episode.domain();
        match domain.tools.iter().find(|known| known.name == tool) {
            None => return Err(NotAnswered(format!("there is no tool `{tool}`"))),
            Some(known) if !self.only_asks(known) => return Err(NotAnswered(format!("`{tool}` may change the world"))),
            Some(_) => {}
        }
        self.calls += 1;
        answered(self.episode.call(tool, &arguments.to_string()))
    }
}

fn compare(subject: &Subject<'_>, case: Case) -> Finding {
    let sealed = &subject.task.sealed;
    let mut faults = odd_rows(subject);
    if case.objective != sealed.objective {
        faults.push(format!("the goal is read as {}, not {}", case.objective, sealed.objective));
    }
    if let Some(switch) = differing(&case.switches, &sealed.switches) {
        faults.push(format!("the switch {switch} differs"));
    }
    match subject.family.bindings(&case) {
        Err(why) => faults.push(format!("the case that was read has no facts: {why}")),
        Ok(read) => faults.extend(first_difference(&told(subject, &sealed.verifier.bindings), &told(subject, &read))),
    }
    match optimum(subject, case) {
        Ok(found) => faults.extend(found),
        Err(Lost::Failed(why)) => faults.push(why),
        Err(Lost::Open(why)) if faults.is_empty() => return Finding::new(Held::NoVerdict(why)),
        Err(Lost::Open(_)) => {}
    }
    Finding::of(&faults)
}

/// Facts without those that have to be worked out, which the trial `traps` does.
fn told(subject: &Subject<'_>, facts: &Bindings) -> Bindings {
    let mut facts = facts.clone();
    let worked_out = subject.family.optimised().map_or(&[][..], |optimised| optimised.worked_out());
    worked_out.iter().for_each(|name| _ = facts.facts.remove(*name));
    facts
}

fn differing<'a>(some: &'a [String], others: &'a [String]) -> Option<&'a String> {
    let (some, others): (BTreeSet<_>, BTreeSet<_>) = (some.iter().collect(), others.iter().collect());
    some.symmetric_difference(&others).next().copied()
}

/// Why there is nothing to compare.
enum Lost {
    Failed(String),
    Open(String),
}

/// Solves the case that was read, and compares every scored phase. Where nothing is optimised, equal facts are all there is.
fn optimum(subject: &Subject<'_>, case: Case) -> Result<Vec<String>, Lost> {
    let objective = case.objective.clone();
    let ready = ready(subject.family, &subject.pattern, &subject.domain, case)
        .map_err(|error| Lost::Failed(error.to_string()))?;
    let Some(optimised) = subject.family.optimised() else { return Ok(Vec::new()) };
    // Where a proof is dear, equal facts make it the same question, and the certified plan is worth the same in it.
    if subject.is_anchored() {
        let sealed = &subject.task.sealed.verifier.bindings.facts;
        let mut facts = subject.family.bindings(&ready.case).map_err(|error| Lost::Failed(error.to_string()))?;
        for name in optimised.worked_out() {
            facts.facts.extend(sealed.get(*name).map(|known| ((*name).to_owned(), known.clone())));
        }
        let bound = Bound::new(&ready.plan, &facts).map_err(|faults| Lost::Failed(faults.to_string()))?;
        let rows = subject.named.rows(&ready.plan, &bound);
        let worth = rows.and_then(|rows| rows.worth(&ready.plan, &bound, &objective));
        let best = subject.task.sealed.verifier.best.first().copied();
        let differs = format!("the certified plan is worth {worth:?} as read, {best:?} as certified");
        return Ok(Some(differs).filter(|_| worth != best).into_iter().collect());
    }
    let candidates = optimised.candidates(&ready.case, &ready.plan, &ready.bound, Breadth::Tight);
    let candidates = candidates.map_err(|error| Lost::Failed(error.to_string()))?;
    let mut planner = PhasePlanner::new(subject.solver().map_err(Lost::Open)?);
    let outcome = planner.solve(&ready.plan, &ready.bound, &candidates, &objective);
    let solved = match outcome.map_err(|error| Lost::Open(error.to_string()))? {
        Outcome::Solved(solved) => solved,
        Outcome::Infeasible => return Err(Lost::Failed("the case that was read has no plan".to_owned())),
        Outcome::Unproved => return Err(Lost::Open("the case that was read was not solved to a proof".to_owned())),
    };
    let phases = ready.plan.objectives.get(&objective).map_or(&[][..], |phases| phases);
    let best = &subject.task.sealed.verifier.best;
    let pairs = phases.iter().zip(&solved.phases).zip(best).filter(|((phase, _), _)| phase.text.share > 0);
    let differ = pairs.filter(|((_, found), best)| found.value != **best);
    let mut faults: Vec<String> = differ
        .map(|((phase, found), best)| format!("{}: {} as read, {best} as certified", phase.text.name, found.value))
        .collect();
    // Where there is one plan and no other, it must come out.
    if subject.family.proof().is_some() {
        let named = NamedRows::of(&solved.rows, &ready.plan, &ready.bound);
        let rows = |rows: &NamedRows| rows.0.values().flatten().cloned().collect::<BTreeSet<_>>();
        if rows(&named) != rows(&subject.named) {
            faults.push("the case that was read has another plan".to_owned());
        }
    }
    Ok(faults)
}

/// The first thing that two sets of facts say differently.
fn first_difference(sealed: &Bindings, read: &Bindings) -> Option<String> {
    if sealed.anchor != read.anchor {
        return Some(format!("day 0 is read as {}, not {}", read.anchor, sealed.anchor));
    }
    let sets = |sets: &BTreeMap<String, Vec<Binding>>| -> BTreeMap<String, BTreeSet<Binding>> {
        sets.iter().map(|(name, members)| (name.clone(), members.iter().cloned().collect())).collect()
    };
    let members = |members: &BTreeMap<String, Vec<String>>| -> BTreeMap<String, BTreeSet<String>> {
        members.iter().map(|(sort, keys)| (sort.clone(), keys.iter().cloned().collect())).collect()
    };
    differing_entry("the sort", &members(&sealed.members), &members(&read.members))
        .or_else(|| differing_entry("the set", &sets(&sealed.sets), &sets(&read.sets)))
        .or_else(|| {
            let names: BTreeSet<&String> = sealed.facts.keys().chain(read.facts.keys()).collect();
            let none = BTreeMap::new();
            let of = |facts: &'_ BTreeMap<String, BTreeMap<String, Binding>>, name: &str| {
                facts.get(name).unwrap_or(&none).clone()
            };
            names.iter().find_map(|name| {
                differing_entry(&format!("the fact {name} of"), &of(&sealed.facts, name), &of(&read.facts, name))
            })
        })
}

fn differing_entry<V: PartialEq + std::fmt::Debug>(
    what: &str,
    sealed: &BTreeMap<String, V>,
    read: &BTreeMap<String, V>,
) -> Option<String> {
    let keys: BTreeSet<&String> = sealed.keys().chain(read.keys()).collect();
    let key = keys.into_iter().find(|key| sealed.get(*key) != read.get(*key))?;
    let shown = |value: Option<&V>| value.map_or("nothing".to_owned(), |value| format!("{value:?}"));
    Some(format!("{what} `{key}` is read as {}, not {}", shown(read.get(key)), shown(sealed.get(key))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Bindings {
        let mut facts = Bindings { anchor: "2032-03-01".to_owned(), ..Bindings::default() };
        facts.members.insert("vendor".to_owned(), vec!["v/1".to_owned(), "v/2".to_owned()]);
        facts.set("vendors", ["v/1", "v/2"]);
        facts.fact("lead", &["v/1", "p/1"], 3);
        facts
    }

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference(&facts(), &facts()), None);
        let mut other = facts();
        other.fact("lead", &["v/1", "p/1"], 4);
        let found = first_difference(&facts(), &other);
        assert_eq!(found.as_deref(), Some("the fact lead of `v/1|p/1` is read as Number(4), not Number(3)"));
        let mut other = facts();
        other.fact("moq", &["v/1"], 2);
        let found = first_difference(&facts(), &other);
        assert_eq!(found.as_deref(), Some("the fact moq of `v/1` is read as Number(2), not nothing"));
        let mut other = facts();
        other.anchor = "2032-03-02".to_owned();
        assert!(first_difference(&facts(), &other).is_some());
    }

    #[test]
    fn the_order_of_members_is_no_difference() {
        let mut other = facts();
        other.set("vendors", ["v/2", "v/1"]);
        other.members.insert("vendor".to_owned(), vec!["v/2".to_owned(), "v/1".to_owned()]);
        assert_eq!(first_difference(&facts(), &other), None);
        other.set("vendors", ["v/2"]);
        assert!(first_difference(&facts(), &other).is_some_and(|found| found.contains("vendors")));
    }

    #[test]
    fn a_switch_on_one_side_only_is_a_difference() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(differing(&words(&["a", "b"]), &words(&["b", "a"])), None);
        assert_eq!(differing(&words(&["a"]), &words(&["a", "b"])).map(String::as_str), Some("b"));
    }
}
