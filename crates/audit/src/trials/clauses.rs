//! The instruction tells the rules, all of them and nothing else: rule ids and sentences match one to one, every sentence
//! stands in the instruction, and every number and name there is a bound value.
//!
//! A rule that a solver reads and that is decided before anything is written, over all that an agent could write and over
//! the neighbours of the certified plan, is an idle clause: it is counted and named in a note. Rules that no solver reads
//! are not looked at here; near-misses break them by calls.

use super::{facts::odd_lines, leak::integers};
use crate::{Finding, Held, Subject};
use benchwright_base::{Date, Value, number::parse_decimal};
use benchwright_grade::Grader;
use benchwright_pack::{Clause, Snapshot};
use benchwright_project::Breadth;
use benchwright_schema::plan::{Binding, PlanText, RuleText, contradiction, side};
use benchwright_solve::Formula;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn run(subject: &Subject<'_>, _: &Grader<'_>) -> Finding {
    let sealed = &subject.task.sealed;
    let text = &subject.task.instruction;
    // What is judged by must be what is told.
    let mut faults = told(&sealed.verifier.plan, &sealed.clauses, text);
    faults.extend(from_nowhere(&sealed.verifier.plan));
    faults.extend(odd_lines(subject));
    let (contradictions, free) = compared(subject);
    faults.extend(contradictions);
    if let Some(at) = text.find(['{', '}']) {
        let around: String = text[at..].chars().take(20).collect();
        faults.push(format!("a placeholder was left: `{around}`"));
    }
    let values = Values::of(subject);
    let numbers = values.unbound(text);
    faults.extend(numbers.faults);
    let idle = match idle(subject) {
        Ok(idle) => idle,
        Err(why) => return Finding::new(Held::NoVerdict(why)),
    };
    let mut finding = Finding::of(&faults).count("clauses", sealed.clauses.len()).count("numbers", numbers.seen);
    finding = finding.count("idle", idle.len());
    finding.notes = idle.into_iter().map(|id| format!("{id}: idle, no plan decides it")).collect();
    if !free.is_empty() {
        finding = finding.count("free words", free.len());
        finding.notes.extend(free);
    }
    finding
}

/// Sentences that compare the other way round than the rule that they tell; and rules whose sentences may, each with why.
fn compared(subject: &Subject<'_>) -> (Vec<String>, Vec<String>) {
    let (mut faults, mut free) = (Vec::new(), Vec::new());
    for clause in &subject.task.sealed.clauses {
        // The others that it tells are told along with the first.
        let Some(at) = clause.tells.first().and_then(|id| subject.plan.rules.iter().position(|rule| rule.id == *id))
        else {
            continue;
        };
        let id = &subject.plan.rules[at].id;
        let written = subject.family.plan_of(&subject.case.switches).rules.get(id).and_then(|rule| rule.words.as_ref());
        match (subject.plan.bounded(at), written) {
            (_, Some(why)) => free.push(format!("{id}: words of comparison are free, {why}")),
            (Some(bounded), None) => faults
                .extend(contradiction(&clause.text, bounded).map(|words| {
                    format!("the sentence of {id} says `{words}`, and the rule bounds {}", side(bounded))
                })),
            (None, None) => {}
        }
    }
    (faults, free)
}

/// Faults in what tells what.
fn told(plan: &PlanText, clauses: &[Clause], instruction: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for clause in clauses {
        let short: String = clause.text.chars().take(60).collect();
        if clause.tells.is_empty() {
            faults.push(format!("`{short}` tells no rule"));
        }
        if clause.text.trim().is_empty() || !instruction.contains(&clause.text) {
            faults.push(format!("`{short}` does not stand in the instruction"));
        }
        for id in clause.tells.iter().filter(|id| !plan.rules.contains_key(*id)) {
            faults.push(format!("`{short}` tells {id}, which does not apply"));
        }
    }
    for (id, rule) in &plan.rules {
        let times = clauses.iter().filter(|clause| clause.tells.contains(id)).count();
        match (times, rule.told_by.as_deref()) {
            (1, None) | (0, Some("world")) => {}
            (_, Some(other)) if other != "world" => faults.push(format!("{id} is told by `{other}`, which is unknown")),
            (times, None) => faults.push(format!("{id} is told by {times} clauses")),
            (_, Some(_)) => faults.push(format!("{id} is told by the world and by a clause")),
        }
        if let Some(other) = misplaced(rule, id, clauses) {
            faults.push(format!("{id} is not told together with {other}"));
        }
    }
    faults
}

/// The rule that one is to be told with, where no clause tells both.
fn misplaced<'r>(rule: &'r RuleText, id: &str, clauses: &[Clause]) -> Option<&'r String> {
    let with = rule.told_with.as_ref()?;
    let tells = |clause: &Clause, id: &str| clause.tells.iter().any(|told| told == id);
    (!clauses.iter().any(|clause| tells(clause, id) && tells(clause, with))).then_some(with)
}

/// Rules that the world is said to tell, but that hold nothing it could tell: a number of their own, or no fact of their own.
fn from_nowhere(plan: &PlanText) -> Vec<String> {
    let body = |rule: &RuleText| plan.spelled_out(rule.require.as_deref().unwrap_or_default());
    let names = |rule: &RuleText| -> BTreeSet<String> {
        let body = body(rule);
        let parts = body.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        parts.filter(|part| plan.facts.contains_key(*part)).map(str::to_owned).collect()
    };
    let (by_world, told): (Vec<_>, Vec<_>) = plan.rules.iter().partition(|(_, rule)| rule.told_by.is_some());
    let known: BTreeSet<String> = told.iter().flat_map(|(_, rule)| names(rule)).collect();
    let fault = |(id, rule): (&String, &RuleText)| {
        if let Some(number) = words(&body(rule)).find_map(|word| whole(word).filter(|number| *number > 1)) {
            return Some(format!("{id} is told by the world, but its {number} stands in no fact"));
        }
        let own = names(rule).difference(&known).next().is_some();
        (!own).then(|| format!("{id} is told by the world, but has no fact that only the world tells"))
    };
    by_world.into_iter().filter_map(fault).collect()
}

/// Rules whose every instance is decided before anybody has written anything. Where there are no candidate rows, nobody can
/// tell.
fn idle(subject: &Subject<'_>) -> Result<Vec<String>, String> {
    if subject.family.optimised().is_none() {
        return Ok(Vec::new());
    }
    let mut open: BTreeMap<usize, bool> = BTreeMap::new();
    for breadth in [Breadth::Wide, Breadth::Local(&subject.optimum)] {
        let candidates = subject.candidates(breadth)?;
        let mut lower = subject.lower(&candidates);
        for instance in lower.all_instances().map_err(|error| error.to_string())? {
            *open.entry(instance.rule).or_default() |= !matches!(instance.holds, Formula::Known(_));
        }
    }
    let idle = open.iter().filter(|(_, open)| !**open).map(|(rule, _)| &subject.plan.rules[*rule]);
    Ok(idle.filter(|rule| rule.text.implied_by.is_none()).map(|rule| rule.id.clone()).collect())
}

/// The values that a text may name.
struct Values {
    anchor: Option<Date>,
    /// Whole numbers: units, days, minutes, cents, hundredths of a percent.
    numbers: BTreeSet<i64>,
    /// Words with digits in them: references, codes, numbers of documents.
    names: BTreeSet<String>,
}

/// What was seen in a text.
struct Seen {
    seen: usize,
    faults: Vec<String>,
}

impl Values {
    fn of(subject: &Subject<'_>) -> Values {
        let sealed = &subject.task.sealed;
        let bindings = &sealed.verifier.bindings;
        let mut numbers = BTreeSet::from([0]);
        let facts = bindings.facts.values().flat_map(|facts| facts.values());
        let sets = bindings.sets.values().flatten();
        for binding in facts.chain(sets) {
            if let Binding::Number(number) = binding {
                numbers.insert(*number);
            }
        }
        integers(&sealed.case, &mut numbers);
        let keys = bindings.members.values().flatten().map(|key| &**key);
        let mut names: BTreeSet<String> = keys.flat_map(words).map(str::to_owned).collect();
        names_of_world(&subject.first, &mut names);
        Values { anchor: Date::parse(&bindings.anchor), numbers, names }
    }

    /// Numbers and names of a text that are none of the task's.
    fn unbound(&self, text: &str) -> Seen {
        let mut seen = Seen { seen: 0, faults: Vec::new() };
        let mut words = words(text).peekable();
        while let Some(word) = words.next() {
            if !word.contains(|c: char| c.is_ascii_digit()) {
                continue;
            }
            seen.seen += 1;
            let percent = word.ends_with('%') || words.peek().is_some_and(|next| next.starts_with("percent"));
            if !self.knows(word, percent) {
                seen.faults.push(format!("`{word}` in the instruction is no bound value"));
            }
        }
        seen
    }

    fn knows(&self, word: &str, percent: bool) -> bool {
        if word.contains(|c: char| c.is_ascii_alphabetic()) {
            return self.names.contains(word);
        }
        if let Some(date) = Date::parse(word) {
            let day = self.anchor.map(|anchor| i64::from(date.0) - i64::from(anchor.0));
            return day.is_some_and(|day| self.numbers.contains(&day));
        }
        let bare = word.trim_end_matches('%');
        if let Some(money) = bare.strip_prefix('$') {
            return cents(money).is_some_and(|cents| self.numbers.contains(&cents));
        }
        if percent && let Some(share) = parse_decimal(bare, 2) {
            // A share may be written as what is left of the whole; facts hold percents, or hundredths of them.
            let whole = [share / 100, 100 - share / 100].into_iter().filter(|_| share % 100 == 0);
            return whole.chain([share, 10_000 - share]).any(|share| self.numbers.contains(&share));
        }
        let number = whole(bare).or_else(|| cents(bare));
        number.is_some_and(|number| self.numbers.contains(&number)) || self.names.contains(word)
    }
}

/// Words with digits in the texts of a state.
fn names_of_world(state: &Snapshot, names: &mut BTreeSet<String>) {
    for cell in state.tables.iter().flat_map(|table| &table.rows).flatten() {
        if let Value::Text(text) = cell {
            names.extend(words(text).filter(|word| word.contains(|c: char| c.is_ascii_digit())).map(str::to_owned));
        }
    }
}

/// Words, without the marks around them. A name with a stroke or a dash in it is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let apart = |c: char| c.is_whitespace() || "|()[];:\"'`*<>’“”—–…".contains(c);
    text.split(apart).map(|word| word.trim_matches(|c: char| ".,!?#-_".contains(c))).filter(|word| !word.is_empty())
}

/// `1,234.50` in cents.
fn cents(text: &str) -> Option<i64> {
    let (dollars, cents) = text.split_once('.')?;
    let dollars = whole(dollars)?;
    (cents.len() == 2).then(|| cents.parse::<i64>().ok()).flatten().map(|cents| dollars * 100 + cents)
}

/// `1,234` or `1234`.
fn whole(text: &str) -> Option<i64> {
    let mut groups = text.split(',');
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let is_digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let well = is_digits(first)
        && (rest.is_empty() || first.len() <= 3)
        && rest.iter().all(|part| part.len() == 3 && is_digits(part));
    well.then(|| text.replace(',', "").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values {
            anchor: Date::parse("2032-03-01"),
            numbers: BTreeSet::from([0, 4, 12, 40, 2_650, 3_000, 123_450, 250_000]),
            names: ["REQ-31", "C-104", "P00002", "WH/MO/00001", "W1"].map(str::to_owned).into(),
        }
    }

    #[test]
    fn bound_values_are_known_in_every_form() {
        let text = "Today is 2032-03-01. REQ-31 of C-104 wants 12 units by 2032-03-05, at most $1,234.50. \
                    Spend at most 70 percent, or 73.5 percent; the deposit is 40%. P00002 and WH/MO/00001 (W1) stand; $2,500.00.";
        let seen = values().unbound(text);
        assert_eq!(seen.faults, Vec::<String>::new());
        assert_eq!(seen.seen, 13);
    }

    #[test]
    fn numbers_from_nowhere_are_named() {
        for (text, word) in [
            ("buy 13 units", "13"),
            ("by 2032-03-06.", "2032-03-06"),
            ("at $1,234.51,", "$1,234.51"),
            ("65 percent of it", "65"),
            ("65% of it", "65%"),
            ("73.6 percent", "73.6"),
            ("for REQ-32's sake", "REQ-32"),
            ("5-10", "5-10"),
        ] {
            let seen = values().unbound(text);
            assert_eq!(seen.faults, vec![format!("`{word}` in the instruction is no bound value")], "{text}");
        }
    }

    fn plan(rules: &[(&str, RuleText)]) -> PlanText {
        PlanText {
            rules: rules.iter().map(|(id, rule)| ((*id).to_owned(), rule.clone())).collect(),
            ..PlanText::default()
        }
    }

    #[test]
    fn the_world_can_tell_only_what_it_holds() {
        let rule = |require: &str, told_by: Option<&str>| RuleText {
            require: Some(require.to_owned()),
            told_by: told_by.map(str::to_owned),
            ..RuleText::default()
        };
        let judged = |world: &str| {
            let mut plan = plan(&[("told", rule("x >= stock(p)", None)), ("world", rule(world, Some("world")))]);
            plan.facts = ["stock", "moq"].map(|fact| (fact.to_owned(), "(p): int".to_owned())).into();
            from_nowhere(&plan).len()
        };
        assert_eq!(judged("for b in buy: b.qty >= moq(b.product)"), 0);
        assert_eq!(judged("(sum buy() of qty) >= 900"), 1, "a number of its own");
        assert_eq!(judged("(sum buy() of qty) = stock(p)"), 1, "nothing of its own");
    }

    fn clause(tells: &[&str], text: &str) -> Clause {
        Clause { tells: tells.iter().map(|id| (*id).to_owned()).collect(), text: text.to_owned() }
    }

    #[test]
    fn every_rule_is_told_once() {
        let plain = RuleText::default;
        let with = RuleText { told_with: Some("a".to_owned()), ..plain() };
        let world = RuleText { told_by: Some("world".to_owned()), ..plain() };
        let rules = plan(&[("a", plain()), ("b", with), ("c", world)]);
        let good = [clause(&["a", "b"], "Do this.")];
        assert_eq!(told(&rules, &good, "Please. Do this. Now."), Vec::<String>::new());

        let faults = |clauses: &[Clause], text: &str| told(&rules, clauses, text).len();
        assert_eq!(faults(&good, "Do that."), 1, "not in the text");
        assert_eq!(faults(&[clause(&["a"], "x"), clause(&["b"], "x")], "x"), 1, "told apart");
        assert_eq!(faults(&[clause(&["a", "b"], "x"), clause(&["a"], "x")], "x"), 1, "told twice");
        assert_eq!(faults(&[clause(&["a", "b", "d"], "x")], "x"), 1, "does not apply");
        assert_eq!(faults(&[clause(&["a", "b"], "x"), clause(&[], "y")], "x y"), 1, "tells nothing");
        assert_eq!(faults(&[clause(&["a", "b"], "x"), clause(&["c"], "y")], "x y"), 1, "the world tells it");
        assert_eq!(faults(&[], "x"), 3, "two untold, one not with its other");
    }
}
