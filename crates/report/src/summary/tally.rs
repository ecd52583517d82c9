//! The records of a run, counted one by one. Of a record nothing is kept but what it adds to counts and sums, four bytes of its time and three
//! bits, so that a run of millions of trials is summed up in little memory. All sums are of whole numbers: the order of the records does
//! not matter.

use super::{Summary, SummaryError, Tried, plans, refusals};
use benchwright_pack::run::{RunPlan, Score, TaskLine, TrialEnd, TrialKey, TrialRecord};
use std::collections::{BTreeMap, BTreeSet};

/// How often something was met, by its name.
pub(crate) type Named = BTreeMap<String, usize>;

/// One more of a name.
fn count(names: &mut Named, name: &str) {
    match names.get_mut(name) {
        Some(count) => *count += 1,
        None => _ = names.insert(name.to_owned(), 1),
    }
}

/// The same under another name.
fn count_within(names: &mut BTreeMap<String, Named>, name: &str, within: &str) {
    match names.get_mut(name) {
        Some(names) => count(names, within),
        None => _ = names.insert(name.to_owned(), Named::from([(within.to_owned(), 1)])),
    }
}

/// Attempts, a bit each.
#[derive(Clone, Default, Debug)]
pub(crate) struct Attempts(Vec<u64>);

impl Attempts {
    /// Puts an attempt in, from 1; whether it was not there.
    fn insert(&mut self, attempt: u32) -> bool {
        let (at, bit) = (attempt as usize / 64, 1_u64 << (attempt % 64));
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let is_new = self.0[at] & bit == 0;
        self.0[at] |= bit;
        is_new
    }

    /// The bits, 64 at a time.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied().chain(std::iter::repeat(0))
    }

    /// Whether an attempt is among them.
    fn has(&self, attempt: u32) -> bool {
        self.0.get(attempt as usize / 64).is_some_and(|word| word & (1 << (attempt % 64)) != 0)
    }

    /// How many words have bits.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Times in microseconds: four bytes each, and eight for what is longer than 71 minutes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Times {
    short: Vec<u32>,
    long: Vec<u64>,
}

impl Times {
    fn push(&mut self, micros: u64) {
        match u32::try_from(micros) {
            Ok(micros) => {
                if self.short.len() == self.short.capacity() {
                    // Doubling would leave up to half of it unused.
                    self.short.reserve_exact(self.short.len() / 4 + 4);
                }
                self.short.push(micros);
            }
            Err(_) => self.long.push(micros),
        }
    }

    /// All of them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.short.iter().map(|micros| u64::from(*micros)).chain(self.long.iter().copied())
    }
}

/// The sum of what is known of some trials only.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Known {
    /// Of how many trials it is known.
    pub(crate) trials: u32,
    /// The sum over these.
    pub(crate) sum: u128,
}

impl Known {
    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.trials += 1;
            self.sum += u128::from(value);
        }
    }
}

/// The trials of one agent at one task. All but `ended` and `causes` is of those that were scored.
#[derive(Clone, Default, Debug)]
pub(crate) struct Trials {
    /// Those that ended, scored or not.
    pub(crate) ended: u32,
    /// Errors by cause.
    pub(crate) causes: Named,
    pub(crate) scored: u32,
    pub(crate) passed: u32,
    pub(crate) clean: u32,
    /// Clean ones that are within tolerance of the best.
    pub(crate) optimal: u32,
    pub(crate) paper_passed: u32,
    pub(crate) side_effects: u32,
    pub(crate) alarms: u32,
    pub(crate) trusted: u32,
    /// Programs that said that they had failed, and made no call.
    pub(crate) never_began: u32,
    /// Those that carried a hostile text, and those in which it was followed.
    pub(crate) injected: u32,
    pub(crate) followed: u32,
    pub(super) declining: refusals::Declining,
    pub(super) planned: plans::Planned,
    /// In millionths.
    pub(crate) reward: i128,
    pub(crate) calls: u64,
    pub(crate) refused: u64,
    pub(crate) turns: Known,
    pub(crate) tokens_in: Known,
    pub(crate) tokens_out: Known,
    /// In millionths of a dollar.
    pub(crate) cost: Known,
    pub(crate) limits: Named,
    pub(crate) gates: Named,
    pub(crate) walls: Times,
    /// Programs that said that they had failed, by how they ended.
    pub(crate) broken: Named,
    /// Trials in which a rule failed, by the number that the tally gives it, in order of these.
    pub(crate) failed: Vec<(u32, u32)>,
    /// The attempts that ended, that were scored and that passed.
    seen: Attempts,
    pub(crate) scored_at: Attempts,
    pub(crate) passed_at: Attempts,
}

/// What came of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Came {
    /// It passed.
    Passed,
    /// It was scored and did not pass.
    Failed,
    /// It ended in an error.
    NotScored,
    /// It has not ended.
    Open,
}

/// How a program ended, of what is recorded where it failed: the status, without what it said last.
fn status(failed: &str) -> String {
    let mut parts = failed.splitn(3, ": ");
    let status: Vec<&str> = parts.by_ref().take(2).collect();
    status.join(": ").chars().take(60).collect()
}

impl Trials {
    /// What came of an attempt.
    pub(crate) fn came(&self, attempt: u32) -> Came {
        match (self.seen.has(attempt), self.scored_at.has(attempt), self.passed_at.has(attempt)) {
            (false, ..) => Came::Open,
            (_, false, _) => Came::NotScored,
            (.., false) => Came::Failed,
            (.., true) => Came::Passed,
        }
    }

    /// One more trial in which a rule failed.
    fn fails(&mut self, rule: u32) {
        match self.failed.binary_search_by_key(&rule, |(known, _)| *known) {
            Ok(at) => self.failed[at].1 += 1,
            Err(at) => self.failed.insert(at, (rule, 1)),
        }
    }

    fn add(&mut self, record: &TrialRecord) {
        self.ended += 1;
        match &record.end {
            TrialEnd::Error { cause, .. } => count(&mut self.causes, cause),
            TrialEnd::Scored(score) => self.add_score(score, record),
        }
        if let Some(failed) = &record.failed {
            count(&mut self.broken, &status(failed));
        }
    }

    fn add_score(&mut self, score: &Score, record: &TrialRecord) {
        let TrialRecord { key, used, spent, .. } = record;
        self.scored += 1;
        self.scored_at.insert(key.attempt);
        if score.pass {
            self.passed_at.insert(key.attempt);
        }
        for (counted, truth) in [
            (&mut self.passed, score.pass),
            (&mut self.clean, score.clean),
            (&mut self.optimal, score.clean && score.best),
            (&mut self.paper_passed, score.paper_pass),
            (&mut self.side_effects, score.side_effect),
            (&mut self.alarms, score.alarm),
            (&mut self.trusted, record.trusted),
            (&mut self.never_began, record.failed.is_some() && used.calls == 0),
            (&mut self.injected, score.followed.is_some()),
            (&mut self.followed, score.followed == Some(true)),
        ] {
            *counted += u32::from(truth);
        }
        self.declining.add(score);
        self.planned.add(score, record);
        self.reward += i128::from(score.reward);
        self.calls += u64::from(used.calls);
        self.refused += u64::from(used.refused);
        self.turns.add(used.turns.map(u64::from));
        self.tokens_in.add(used.tokens_in);
        self.tokens_out.add(used.tokens_out);
        self.cost.add(used.cost);
        self.walls.push(spent.wall);
        if let Some(limit) = &score.limit {
            count(&mut self.limits, limit);
        }
        score.gates.iter().for_each(|gate| count(&mut self.gates, gate));
    }
}

/// The trials of one agent.
#[derive(Clone, Default, Debug)]
pub(crate) struct OfAgent {
    tasks: Vec<Trials>,
    /// Errors by cause and what was said. Every text is kept once.
    pub(crate) errors: BTreeMap<String, Named>,
    /// Trials in which a rule of the family failed.
    pub(crate) families: Named,
    /// Trials in which a rule failed, by rule and family.
    pub(crate) rules: BTreeMap<String, Named>,
    /// Microseconds from begin to end, and inside the world and the judge.
    pub(crate) wall: u128,
    pub(crate) world: u128,
}

/// The records of a run, counted.
#[derive(Clone, Debug)]
pub struct Tally<'p> {
    pub(crate) plan: &'p RunPlan,
    /// The place of a task among those of an agent, by its digest.
    places: BTreeMap<&'p str, usize>,
    agents: BTreeMap<&'p str, OfAgent>,
    /// A number for each rule and family that was met, in the order in which they were: what is told goes by their names.
    rules: BTreeMap<String, BTreeMap<String, u32>>,
}

/// The number of a rule, which gets the next one where it has none.
fn number_of(rules: &mut BTreeMap<String, BTreeMap<String, u32>>, rule: &str, family: &str) -> u32 {
    if let Some(number) = rules.get(rule).and_then(|families| families.get(family)) {
        return *number;
    }
    let next = rules.values().map(BTreeMap::len).sum::<usize>() as u32;
    rules.entry(rule.to_owned()).or_default().insert(family.to_owned(), next);
    next
}

impl<'p> Tally<'p> {
    /// A tally of a run of which nothing was recorded yet.
    pub fn new(plan: &'p RunPlan) -> Tally<'p> {
        let digests: BTreeSet<&str> = plan.tasks.iter().map(|task| &*task.digest).collect();
        let places: BTreeMap<&str, usize> = digests.into_iter().zip(0..).collect();
        let none = OfAgent { tasks: vec![Trials::default(); places.len()], ..OfAgent::default() };
        let agents = plan.agents.iter().map(|agent| (&**agent, none.clone())).collect();
        Tally { plan, places, agents, rules: BTreeMap::new() }
    }

    /// The tally of a run with few records. One that stands twice counts as it stands last.
    pub fn of(plan: &'p RunPlan, records: &[TrialRecord]) -> Result<Tally<'p>, SummaryError> {
        let mut tally = Tally::new(plan);
        records.iter().try_for_each(|record| tally.place(&record.key).map(|_| ()))?;
        records.iter().rev().try_for_each(|record| tally.add(record))?;
        Ok(tally)
    }

    /// The place of a trial's task, if it is one of the plan.
    fn place(&self, key: &TrialKey) -> Result<usize, SummaryError> {
        let is_planned = self.agents.contains_key(&*key.agent) && (1..=self.plan.attempts).contains(&key.attempt);
        let place = self.places.get(&*key.task).copied().filter(|_| is_planned);
        let TrialKey { task, agent, attempt } = key;
        place.ok_or_else(|| SummaryError::NotPlanned { task: task.clone(), agent: agent.clone(), attempt: *attempt })
    }

    /// Counts a trial that has ended. One that was counted already is left out.
    pub fn add(&mut self, record: &TrialRecord) -> Result<(), SummaryError> {
        let place = self.place(&record.key)?;
        let Some(agent) = self.agents.get_mut(&*record.key.agent) else { return Ok(()) };
        let trials = &mut agent.tasks[place];
        if !trials.seen.insert(record.key.attempt) {
            return Ok(());
        }
        trials.add(record);
        agent.wall += u128::from(record.spent.wall);
        agent.world += u128::from(record.spent.world);
        match &record.end {
            TrialEnd::Error { cause, detail } => count_within(&mut agent.errors, cause, detail),
            TrialEnd::Scored(score) => {
                for family in score.failed.values().map(|family| &**family).collect::<BTreeSet<&str>>() {
                    count(&mut agent.families, family);
                }
                for (rule, family) in &score.failed {
                    count_within(&mut agent.rules, rule, family);
                    trials.fails(number_of(&mut self.rules, rule, family));
                }
            }
        }
        Ok(())
    }

    /// What was counted of an agent.
    pub(crate) fn agent(&self, agent: &str) -> Option<&OfAgent> {
        self.agents.get(agent)
    }

    /// The trials of an agent by task, in the order of the plan.
    pub(crate) fn tried(&self, agent: &str) -> Vec<Tried<'_>> {
        let trials = self.agent(agent).map(|of| &of.tasks);
        let tried = |task: &'p TaskLine| Some(Tried { task, trials: trials?.get(*self.places.get(&*task.digest)?)? });
        self.plan.tasks.iter().filter_map(tried).collect()
    }

    /// The rules that failed somewhere: rule and family by the numbers that trials know them by.
    pub(crate) fn rules(&self) -> BTreeMap<u32, (&str, &str)> {
        let all = self.rules.iter();
        all.flat_map(|(rule, families)| families.iter().map(move |(family, number)| (*number, (&**rule, &**family))))
            .collect()
    }

    /// The summary of what was counted, finished or not.
    pub fn summary(&self) -> Summary {
        super::summary(self)
    }
}
