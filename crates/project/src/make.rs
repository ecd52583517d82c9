//! From a pattern and a seed to a task, in three steps: a case is drawn, its best plan is solved for and proved, and the
//! artifacts are projected from both. Draws that make no good task are thrown away and counted, and the next attempt of the
//! same seed is made.

use crate::{Case, Discard, Draw, Family, FamilyError, Pattern, Readings, anchored, scoring};
use benchwright_base::{Digest, Stream};
use benchwright_pack::{
    AnswerRows, Certificate, OpenTask, SEALED_VERSION, SealedTask, Split, TASK_VERSION, Task, TaskFaults, Verifier,
};
use benchwright_schema::{
    Domain,
    plan::{Bound, PartCounts, Plan, PlanText},
};
use benchwright_spec::{NamedRows, Outcome, Planner, Rows, Solved};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The most draws of one task. A recipe that needs more is at fault.
pub const MOST_ATTEMPTS: u32 = 150;

/// The most calls an agent may make on a task.
pub const CALLS: u32 = 2_000;

/// Who has solved a case in which there is nothing to search for.
const NOBODY: &str = "none: the case is its own plan, 1";

/// Which task is made.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The pattern that the task is made of.
    pub pattern: &'a Pattern,
    /// A tier that the pattern offers.
    pub tier: &'a str,
    /// An objective that the pattern offers at that tier.
    pub objective: &'a str,
    /// The seed; the same order gives the same bytes. Which split the task is of is told by [`Split::of_seed`].
    pub seed: u64,
    /// The reading of a clause, for a task that has a twin with the other reading.
    pub reading: Option<&'a str>,
}

/// Who solved it, for the certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solver {
    /// Name and version of the solver, or of a family's own proof.
    pub version: String,
    /// The digest of its library.
    pub library: String,
}

impl Solver {
    /// Who answers for the plans of a family that asks no solver: its own proof, or nobody, where a case has nothing to
    /// search for. `None` for a family whose plans a solver looks for.
    pub fn not_asked(family: &dyn Family) -> Option<Solver> {
        let version = match (family.proof(), family.optimised()) {
            (Some(proof), _) => proof.name(),
            (None, None) => NOBODY,
            (None, Some(_)) => return None,
        };
        Some(Solver { version: version.to_owned(), library: Digest::of(version.as_bytes()).to_string() })
    }
}

/// Why no task was made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MakeError {
    /// The pattern has no such cell.
    #[error(
        "{pattern} has no {tier} tasks with the objective {objective}; `benchwright patterns {pattern}` lists what it has"
    )]
    NoCell {
        /// The name of the pattern.
        pattern: String,
        /// The tier that was asked for.
        tier: String,
        /// The objective that was asked for.
        objective: String,
    },
    /// The family has no such reading.
    #[error("{pattern} has no reading `{reading}`; there are: {known}")]
    NoReading {
        /// The name of the pattern.
        pattern: String,
        /// The reading that was asked for.
        reading: String,
        /// Those that there are, or that there are none.
        known: String,
    },
    /// Every draw was thrown away.
    #[error("{pattern} seed {seed}: {MOST_ATTEMPTS} draws were thrown away: {causes}")]
    Exhausted {
        /// The name of the pattern.
        pattern: String,
        /// The seed of which every attempt was thrown away.
        seed: u64,
        /// How many, by cause.
        causes: String,
    },
    /// A blocked variant is none in the draw that makes its twin.
    #[error("{pattern} seed {seed}: the draw that makes its twin does not make {objective}: {why}; take another seed")]
    NoTwin {
        /// The name of the pattern.
        pattern: String,
        /// The seed.
        seed: u64,
        /// The variant.
        objective: String,
        /// Why it is none there.
        why: String,
    },
    /// The family, a pattern or the solver is at fault.
    #[error("{pattern} seed {seed}, draw {attempt}: {why}")]
    Fault {
        /// The name of the pattern.
        pattern: String,
        /// The seed that was drawn from.
        seed: u64,
        /// The attempt of that seed, from 0.
        attempt: u32,
        /// What the family or the planner said.
        why: String,
    },
}

/// A case that was solved, with what it was solved by.
pub struct Ready {
    /// What was drawn.
    pub case: Case,
    /// The rules that apply to it, as written.
    pub text: PlanText,
    /// The same rules, compiled against the domain.
    pub plan: Plan,
    /// The members, sets and facts of the case, resolved.
    pub bound: Bound,
}

/// The rules of a family and a pattern that a case's switches bring in.
pub fn plan_text(family: &dyn Family, pattern: &Pattern, switches: &[String]) -> PlanText {
    let mut text = family.plan_of(switches).clone();
    text.facts.extend(pattern.rules.facts.clone());
    text.sets.extend(pattern.rules.sets.clone());
    text.lets.extend(pattern.rules.lets.clone());
    text.rules.extend(pattern.rules.rules.clone());
    text.for_switches(switches)
}

/// Puts a case together with its rules and facts.
pub fn ready(family: &dyn Family, pattern: &Pattern, domain: &Domain, case: Case) -> Result<Ready, FamilyError> {
    let text = plan_text(family, pattern, &case.switches);
    let plan = Plan::compile(&text, domain).map_err(|faults| faults.to_string())?;
    let bound = Bound::new(&plan, &family.bindings(&case)?).map_err(|faults| faults.to_string())?;
    Ok(Ready { case, text, plan, bound })
}

/// Makes the task of an order: draws until a case makes a good task, solves it, and projects the four artifacts.
pub fn make(
    order: Order<'_>,
    family: &dyn Family,
    domain: &Domain,
    planner: &mut dyn Planner,
    solver: &Solver,
) -> Result<Task, MakeError> {
    let pattern = order.pattern;
    if !pattern.admits(order.tier, order.objective) {
        return Err(MakeError::NoCell {
            pattern: pattern.name.clone(),
            tier: order.tier.to_owned(),
            objective: order.objective.to_owned(),
        });
    }
    let twin = order.reading.map(|reading| Twin::of(family, pattern, reading)).transpose()?;
    let mut discarded: BTreeMap<String, u32> = BTreeMap::new();
    for attempt in 0..MOST_ATTEMPTS {
        let draw = Draw { pattern, tier: order.tier, objective: order.objective, seed: order.seed, attempt };
        let fault = |why: String| MakeError::Fault { pattern: pattern.name.clone(), seed: order.seed, attempt, why };
        let drawn = match &twin {
            None => draw_one(&draw, family, domain, planner),
            Some(twin) => {
                draw_twin(&draw, family, twin, domain, planner).map(|(ready, solved)| (ready, solved, Weights::new()))
            }
        };
        match drawn {
            Ok((ready, solved, weights)) => {
                let history = History { discarded, weights };
                let task = project(&draw, family, domain, &ready, &solved, solver, history);
                let reading = order.reading.map(str::to_owned);
                return task.map(|task| with_reading(task, reading)).map_err(fault);
            }
            Err(Discard::Because(cause)) => {
                planner.thrown_away(attempt, &cause);
                *discarded.entry(cause).or_default() += 1;
            }
            Err(Discard::Planner(error)) => return Err(fault(error.to_string())),
            Err(Discard::Fault(why)) => return Err(fault(why)),
        }
    }
    let causes: Vec<String> = discarded.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    Err(MakeError::Exhausted { pattern: pattern.name.clone(), seed: order.seed, causes: causes.join(", ") })
}

/// What rules and the rest are worth in a task, in words by name.
type Weights = BTreeMap<String, String>;

/// How a draw became a task: what was thrown away before it, and what was found of it.
struct History {
    discarded: BTreeMap<String, u32>,
    weights: Weights,
}

/// Draws and solves once.
fn draw_one(
    draw: &Draw<'_>,
    family: &dyn Family,
    domain: &Domain,
    planner: &mut dyn Planner,
) -> Result<(Ready, Solved, Weights), Discard> {
    let case = family.sample(draw, domain, planner)?;
    let (ready, solved) = solve(draw, family, case, domain, planner)?;
    let mut weights = Weights::new();
    if let Some(optimised) = family.optimised().filter(|_| family.proof().is_none()) {
        optimised.accept(draw, &ready.case, &solved, domain, planner)?;
        weights = optimised.weigh(draw.tier, &ready.case, &ready.plan, &ready.bound, &solved, planner)?;
    }
    Ok((ready, solved, weights))
}

/// Solves a case that was drawn.
fn solve(
    draw: &Draw<'_>,
    family: &dyn Family,
    case: Case,
    domain: &Domain,
    planner: &mut dyn Planner,
) -> Result<(Ready, Solved), Discard> {
    let ready = ready(family, draw.pattern, domain, case)?;
    // A family that draws a case around its answer proves that answer itself; one with a choice of rows asks the planner; one with
    // neither has no plan to certify, and its oracle is all there is.
    if let Some(proof) = family.proof() {
        let solved = proof.prove(&ready.case, &ready.plan, &ready.bound)?;
        return Ok((ready, solved));
    }
    let Some(optimised) = family.optimised() else {
        let rows = Rows::empty(&ready.plan);
        return Ok((ready, Solved { rows, phases: Vec::new(), variables: 0, constraints: 0 }));
    };
    let mut solved = match optimised.solve(&ready.case, &ready.plan, &ready.bound, planner)? {
        Outcome::Solved(solved) => *solved,
        Outcome::Infeasible => return Err(Discard::Because("infeasible".to_owned())),
        Outcome::Unproved => return Err(Discard::Because("unproved".to_owned())),
    };
    let tidied = optimised.tidied(NamedRows::of(&solved.rows, &ready.plan, &ready.bound));
    solved.rows = tidied
        .rows(&ready.plan, &ready.bound)
        .ok_or_else(|| Discard::Fault("a plan that was put in order cannot be read".to_owned()))?;
    Ok((ready, solved))
}

/// A clause of a family with the reading that is wanted and the other one.
struct Twin<'a> {
    readings: &'a dyn Readings,
    wanted: &'a str,
    other: &'static str,
}

impl<'a> Twin<'a> {
    fn of(family: &'a dyn Family, pattern: &Pattern, wanted: &'a str) -> Result<Twin<'a>, MakeError> {
        let readings = family.readings();
        let found = readings.and_then(|readings| Some(Twin { readings, wanted, other: readings.other(wanted)? }));
        found.ok_or_else(|| {
            let known: Vec<&str> =
                readings.iter().flat_map(|readings| readings.clauses().as_flattened()).copied().collect();
            MakeError::NoReading {
                pattern: pattern.name.clone(),
                reading: wanted.to_owned(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            }
        })
    }
}

/// Draws a case once and solves it under both readings of a clause. It makes twins only if the best plan of each is refused, or no
/// longer good enough, under the other; the one that is wanted is given. Both twins come from the same draw, whichever is asked for.
fn draw_twin(
    draw: &Draw<'_>,
    family: &dyn Family,
    twin: &Twin<'_>,
    domain: &Domain,
    planner: &mut dyn Planner,
) -> Result<(Ready, Solved), Discard> {
    let case = family.sample(draw, domain, planner)?;
    let read_as = |reading: &str, planner: &mut dyn Planner| {
        solve(draw, family, twin.readings.read_as(&case, reading)?, domain, planner)
    };
    let wanted = read_as(twin.wanted, planner)?;
    let other = read_as(twin.other, planner)?;
    if serves(draw, &wanted.1, &other, planner)? || serves(draw, &other.1, &wanted, planner)? {
        return Err(Discard::Because("twins alike".to_owned()));
    }
    Ok(wanted)
}

/// Whether a plan keeps the rules of another case and is as good there as the best.
fn serves(
    draw: &Draw<'_>,
    plan: &Solved,
    (there, best): &(Ready, Solved),
    planner: &mut dyn Planner,
) -> Result<bool, Discard> {
    let candidates = plan.rows.as_candidates();
    let found = match planner.solve(&there.plan, &there.bound, &candidates, draw.objective)? {
        Outcome::Solved(found) => found,
        Outcome::Infeasible => return Ok(false),
        Outcome::Unproved => return Err(Discard::Because("unproved".to_owned())),
    };
    let scored = there.plan.objectives.get(draw.objective).into_iter().flatten();
    let within = scored
        .zip(found.phases.iter().zip(&best.phases))
        .all(|(phase, (found, best))| phase.text.share == 0 || found.value <= best.value + phase.text.tolerance);
    Ok(within)
}

/// A task that knows the reading which tells it from its twin. Its id does not tell it.
fn with_reading(mut task: Task, reading: Option<String>) -> Task {
    if reading.is_some() {
        task.sealed.reading = reading;
        let salt = salt_of(&task.sealed.case);
        identify(&mut task, &salt);
    }
    task
}

/// The four artifacts of what was solved, from one source.
fn project(
    draw: &Draw<'_>,
    family: &dyn Family,
    domain: &Domain,
    ready: &Ready,
    solved: &Solved,
    solver: &Solver,
    history: History,
) -> Result<Task, String> {
    let Ready { case, text, plan, bound } = ready;
    let named = NamedRows::of(&solved.rows, plan, bound);
    let first = family.world(case, domain)?;
    let brief = family.brief(draw, case, text)?;
    let oracle = family.script(case, &named)?;
    let world = first.snapshot.to_bytes(domain);
    let phases = plan.objectives.get(draw.objective).map_or(0, Vec::len);
    let answer = answer(family, plan, &named)?;
    let anchors = match family.optimised() {
        Some(optimised) => optimised.anchors(draw.tier, case, plan, bound, solved)?,
        None => None,
    };
    // What only the sealed part has: whoever sees ids cannot try seeds against them without making each task.
    let of = [&*draw.pattern.name, draw.tier, draw.objective];
    let id = id(&domain.name, &salt_of(&case.data), of, draw.seed, None);
    let (split, seed) = Split::of_seed(draw.seed);
    let open = OpenTask {
        version: TASK_VERSION,
        canary: split.canary().to_owned(),
        faults: faults(&id, family.faults().map_or(0, |faults| faults.per_million(case))),
        id: id.clone(),
        domain: domain.name.clone(),
        role: domain.role.clone(),
        actor: None,
        tools: Vec::new(),
        calls: CALLS,
        instruction: Digest::of(brief.text.as_bytes()).to_string(),
        world: Digest::of(&world).to_string(),
    };
    let json = |value: Result<serde_json::Value, serde_json::Error>| value.map_err(|error| error.to_string());
    let sealed = SealedTask {
        version: SEALED_VERSION,
        canary: split.canary().to_owned(),
        id,
        family: draw.pattern.family.clone(),
        pattern: draw.pattern.name.clone(),
        tier: draw.tier.to_owned(),
        dials: draw.pattern.dials(draw.tier),
        objective: draw.objective.to_owned(),
        seed,
        split,
        salt: None,
        attempt: draw.attempt,
        reading: None,
        switches: case.switches.clone(),
        case: case.data.clone(),
        clauses: brief.clauses,
        oracle,
        verifier: Verifier {
            version: Verifier::VERSION,
            world: open.world.clone(),
            scoring: if anchors.is_some() { anchored() } else { scoring(text) },
            // The judge reads what is there; what would have been best is the solver's business.
            plan: PlanText { settled: Vec::new(), ..text.clone() },
            bindings: family.bindings(case)?,
            keys: first.keys,
            objective: draw.objective.to_owned(),
            best: solved.phases.iter().take(phases).map(|phase| phase.value).collect(),
            anchors,
            gates: family.gates(case),
            answer,
        },
        effects: None,
        injection: None,
        certificate: Certificate {
            solver: family.proof().map_or_else(|| solver.version.clone(), |proof| proof.name().to_owned()),
            library: family.proof().map_or_else(|| solver.library.clone(), |_| String::new()),
            phases: json(serde_json::to_value(&solved.phases))?,
            plan: json(serde_json::to_value(&named))?,
            variables: solved.variables,
            constraints: solved.constraints,
            discarded: history.discarded,
            weights: history.weights,
        },
    };
    Ok(Task { open, instruction: brief.text, world, sealed })
}

/// The rows that parts of the job are counted by: those of the one plan, where the family proves that there is no other.
fn answer(family: &dyn Family, plan: &Plan, named: &NamedRows) -> Result<AnswerRows, String> {
    let mut answer = AnswerRows::new();
    for part in &plan.parts {
        let PartCounts::Rows(view) = part.counts else { continue };
        if family.proof().is_none() {
            return Err(format!("the part `{}` counts rows, and nobody proves that there is one plan only", part.name));
        }
        let view = &plan.views[view].name;
        answer.insert(view.clone(), named.0.get(view).cloned().unwrap_or_default());
    }
    Ok(answer)
}

/// The faults of a task; what they are drawn from comes from its id, which tells nothing of its seed.
fn faults(id: &str, per_million: u32) -> Option<TaskFaults> {
    let drawn_from = Stream::new(0, &["faults", id]).below(1 << 53);
    (per_million > 0).then_some(TaskFaults { drawn_from, per_million })
}

/// What the id of a task outside of a suite is salted with.
fn salt_of(case: &Json) -> String {
    Digest::of(case.to_string().as_bytes()).to_string()
}

/// An id that says nothing of how the task was made to whoever does not have the salt. It is of pattern, tier and objective.
pub fn id(domain: &str, salt: &str, of: [&str; 3], seed: u64, reading: Option<&str>) -> String {
    let seed = seed.to_string();
    let key: Vec<&str> = [salt].into_iter().chain(of).chain([&*seed]).chain(reading).collect();
    let digest = Digest::of(key.join("|").as_bytes()).to_string();
    let tail: String = digest.chars().take(10).collect();
    format!("{}-{tail}", domain.replace(['_', '+'], "-"))
}

/// Gives a task the id that it has under a salt.
fn identify(task: &mut Task, salt: &str) {
    let sealed = &mut task.sealed;
    let of = [&*sealed.pattern, &sealed.tier, &sealed.objective];
    let id = id(&task.open.domain, salt, of, sealed.split.seed(sealed.seed), sealed.reading.as_deref());
    task.open.faults = task.open.faults.and_then(|known| faults(&id, known.per_million));
    sealed.id.clone_from(&id);
    task.open.id = id;
}

/// The same task with the id that it has outside of a suite.
#[must_use]
pub fn named(mut task: Task) -> Task {
    let salt = salt_of(&task.sealed.case);
    identify(&mut task, &salt);
    task
}

/// The same task in a suite: its id comes from the suite's salt, so that whoever has the lock file knows it beforehand.
#[must_use]
pub fn salted(mut task: Task, salt: &str) -> Task {
    identify(&mut task, salt);
    task.sealed.salt = Some(salt.to_owned());
    task
}
