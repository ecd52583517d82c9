//! Makes tasks of scenarios. A scenario says what is asked for; everything else is derived here: who and what it is about is drawn, what
//! the request presumes is planted, the cells that are asked for are put into a copy of the state, the policy's ways are taken until no
//! rule is broken, tools are found for the writes and for the reads that lead to them, and the calls are made. What they leave is what
//! is expected. No solver is asked, and no model.

mod attribute;
mod calls;
mod certify;
mod demand;
mod draw;
mod edges;
mod eval;
mod expect;
mod names;
mod read;
mod say;
mod seal;

use attribute::{Blame, Outcome};
use benchwright_base::{RowId, TableId, Value};
use benchwright_expr::{Expr, Type};
use benchwright_pack::{
    Change, Delta, Script, TableDelta, Task,
    effects::{Effects, EffectsKind},
};
use benchwright_project::{Discard, MOST_ATTEMPTS, MakeError};
use benchwright_sandbox::{Conditions, Episode, Sandbox, Scratch};
use benchwright_schema::{By, Domain, Role, codec, ways::Wanted};
use benchwright_spec::scenario::{Asked, Blocked, Clause, Form, Pick, Scenario, WordPart};
use benchwright_world::{ReplayError, Seat, seen::Known};
use calls::{Desk, Matter, Write};
use demand::{Deed, Demanded, MendOrder, Origin, Stuck};
use draw::{Drawn, Lot};
use names::Request;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// So many first states are drawn from where one domain stands alone.
const BASES: u64 = 12;
/// So many where several are joined.
const JOINED_BASES: u64 = 6;
/// The size of the worlds.
pub const SIZE: &str = "medium";
/// Other orders of the writes are tried at most so often.
const MOST_ORDERS: usize = 40;

/// A draw that makes no good task, with why.
fn throw(cause: String) -> Discard {
    Discard::Because(cause)
}

/// Why there is no base world, in words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoBase(pub String);

/// The base world of a draw, by its seed.
pub type Bases<'b> = dyn Fn(u64) -> Result<Arc<Sandbox>, NoBase> + 'b;

/// A request that was derived: its world, what is asked, how it is done and what is then there.
pub struct Derived {
    /// The seed of the base world.
    pub base: u64,
    /// The world as planted.
    pub world: Arc<Sandbox>,
    /// Who acts.
    pub seat: Seat,
    /// The name of the voice.
    pub voice: String,
    /// The whole instruction.
    pub instruction: String,
    /// The request alone.
    pub request: String,
    /// What tells which clause or condition.
    pub spans: Vec<(String, String)>,
    /// The calls.
    pub oracle: Script,
    /// What judges the outcome.
    pub effects: Effects,
    /// How many calls the oracle makes.
    pub calls: usize,
    /// How many of them only read.
    pub reads: usize,
    /// The rules whose ways were taken.
    pub ways: Vec<String>,
    /// The clauses that are in force.
    pub asked: Vec<String>,
    /// The clauses that are in force only where something holds.
    pub branches: Vec<String>,
    /// Dates and times that have to be worked out.
    pub computed: usize,
    /// What members of the cast stand for, in words.
    pub cast: BTreeMap<String, serde_json::Value>,
    /// The rows that members stand for.
    pub rows: BTreeMap<String, Vec<RowId>>,
    /// Rows planted so that conditions matter, and doubles.
    pub edges: usize,
    /// Doubles of members.
    pub doubles: usize,
    /// What was planted, table by table.
    pub planted: Vec<TableDelta>,
    /// The digest of the base's first state.
    pub base_digest: String,
    /// Tools that are not offered.
    pub without: Vec<String>,
    /// The tools by which it is carried out, or would be.
    pub needs: Vec<String>,
    /// Why it cannot be carried out, for people.
    pub certificate: serde_json::Value,
}

/// The objective of a task that can be carried out; a blocked variant's is its name.
pub const DONE: &str = "done";
/// The family that sealed tasks of scenarios name.
pub const FAMILY: &str = "scenario";

/// The version of the derivation, which certificates and lock files name in the place of a solver.
pub const DERIVATION: &str = "derivation, 1";

/// Which task is wanted.
#[derive(Clone, Copy)]
pub struct ScenarioOrder<'a> {
    /// The name of the scenario.
    pub name: &'a str,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The tier.
    pub tier: &'a str,
    /// [`DONE`], or the name of a blocked variant.
    pub objective: &'a str,
    /// The seed.
    pub seed: u64,
}

/// Makes the task of an order: draws until one makes a good task. A blocked variant takes the first draw that makes a task without it.
pub fn make(order: ScenarioOrder<'_>, bases: &Bases<'_>) -> Result<Task, MakeError> {
    let ScenarioOrder { name, scenario, tier, objective, seed } = order;
    let known = scenario.tiers.iter().any(|(known, _)| known == tier);
    if !known || (objective != DONE && scenario.variant(objective).is_none()) {
        return Err(MakeError::NoCell {
            pattern: name.to_owned(),
            tier: tier.to_owned(),
            objective: objective.to_owned(),
        });
    }
    // Once, and not in each draw.
    let scenario = &*scenario.at(tier);
    let mut discarded: BTreeMap<String, u32> = BTreeMap::new();
    for attempt in 0..MOST_ATTEMPTS {
        let fault = |why: String| MakeError::Fault { pattern: name.to_owned(), seed, attempt, why };
        let feasible = match derive(name, scenario, tier, seed, attempt, bases) {
            Ok(feasible) => feasible,
            Err(Discard::Because(cause)) => {
                *discarded.entry(cause).or_default() += 1;
                continue;
            }
            Err(other) => return Err(fault(other.to_string())),
        };
        let derived = match objective {
            DONE => feasible,
            // The variant is of the first draw that makes a task; where it is none there, this seed has no such pair.
            variant => match blocked(name, scenario, variant, tier, seed, attempt, &feasible, bases) {
                Ok(derived) => derived,
                Err(Discard::Because(why)) => {
                    let (pattern, objective) = (name.to_owned(), variant.to_owned());
                    return Err(MakeError::NoTwin { pattern, seed, objective, why });
                }
                Err(other) => return Err(fault(other.to_string())),
            },
        };
        return Ok(seal::task(order, derived, attempt, discarded));
    }
    let causes: Vec<String> = discarded.iter().map(|(cause, count)| format!("{cause} {count}")).collect();
    Err(MakeError::Exhausted { pattern: name.to_owned(), seed, causes: causes.join(", ") })
}

/// Derives one draw of a scenario as it can be carried out.
pub fn derive(
    pattern: &str,
    scenario: &Scenario,
    tier: &str,
    seed: u64,
    attempt: u32,
    bases: &Bases<'_>,
) -> Result<Derived, Discard> {
    // A choice would be judged as the one that was drawn.
    let chosen = scenario
        .cast
        .iter()
        .find(|member| matches!(member.form, Form::Rows { pick: Pick::Any, .. } | Form::Ask { .. }));
    if let Some(member) = chosen {
        return Err(Discard::Fault(format!("{}: `any` and `ask` are read, but not derived yet", member.name)));
    }
    let scenario = &*scenario.at(tier);
    let lot = Lot { pattern, tier, seed, attempt };
    let (base, sandbox) = base_of(scenario, &lot, bases)?;
    let drawn = settled(scenario, None, &sandbox, &lot)?;
    let scene = Scene::new(scenario, None, &drawn)?;
    let voice = scene.voice(&lot)?;
    let request = scene.request(&voice, None)?;
    let demanded = scene.demanded(&scenario.clauses)?;
    // What the policy adds must not hang on the order in which it is taken.
    let again =
        demand::demand(scenario, &scenario.clauses, &scene.scratch, &drawn.bound, &scene.seat, MendOrder::LastFirst);
    match again {
        Ok(again) if outcome_of(&again.scratch, &scene.scratch) == outcome_of(&demanded.scratch, &scene.scratch) => {}
        _ => return Err(throw("ways end differently".to_owned())),
    }
    let derived = scene.carried_out(&drawn, demanded, &request, base, voice)?;
    Ok(Derived { base_digest: sandbox.origin().to_string(), ..derived })
}

/// Derives a blocked variant of a draw that can be carried out without it. The draw is the same but for the declared fact.
pub fn derive_blocked(
    pattern: &str,
    scenario: &Scenario,
    variant: &str,
    tier: &str,
    seed: u64,
    attempt: u32,
    bases: &Bases<'_>,
) -> Result<Derived, Discard> {
    let twin = derive(pattern, scenario, tier, seed, attempt, bases)?;
    blocked(pattern, scenario, variant, tier, seed, attempt, &twin, bases)
}

/// The world of a draw with everything planted and found. A variant's fact comes last, into the world of the task that it is a variant
/// of, so that nothing else differs.
fn settled(
    scenario: &Scenario,
    variant: Option<&Blocked>,
    base: &Arc<Sandbox>,
    lot: &Lot<'_>,
) -> Result<Drawn, Discard> {
    let mut drawn = draw::draw(scenario, base, lot)?;
    draw::find(scenario, None, &mut drawn, lot)?;
    edges::plant(scenario, &mut drawn, lot)?;
    draw::find(scenario, None, &mut drawn, lot)?;
    if let Some(variant) = variant {
        draw::plant_variant(scenario, variant, &mut drawn, lot)?;
        draw::find(scenario, Some(variant), &mut drawn, lot)?;
    }
    Ok(drawn)
}

/// A blocked variant of a draw whose twin was derived, in the twin's voice.
#[expect(clippy::too_many_arguments, reason = "a draw, and its twin")]
fn blocked(
    pattern: &str,
    scenario: &Scenario,
    variant: &str,
    tier: &str,
    seed: u64,
    attempt: u32,
    twin: &Derived,
    bases: &Bases<'_>,
) -> Result<Derived, Discard> {
    let scenario = &*scenario.at(tier);
    let voice = &*twin.voice;
    let Some(variant) = scenario.variant(variant) else {
        return Err(Discard::Fault(format!("{pattern} has no variant {variant}")));
    };
    if let Some(lost) = variant.lost.as_ref().filter(|lost| scenario.idle.contains(&lost.member)) {
        return Err(throw(format!("nothing that is asked for speaks of {}", lost.text)));
    }
    let lot = Lot { pattern, tier, seed, attempt };
    let (base, sandbox) = base_of(scenario, &lot, bases)?;
    let drawn = settled(scenario, Some(variant), &sandbox, &lot)?;
    let scene = Scene::new(scenario, Some(variant), &drawn)?;
    let request = scene.request(voice, Some(&variant.adds))?;
    let clauses: Vec<Clause> = scenario.clauses.iter().chain(&variant.clauses).cloned().collect();
    let certificate = certify::certify(&scene, variant, &clauses, &request)?;
    let domain = scene.domain();
    let asks = scene.answer_name();
    let now = scene.scratch.now().to_string();
    let instruction =
        say::instruction(domain, &scene.role, scene.person().as_deref(), &now, &request.text, asks.as_deref());
    let mut args = serde_json::json!({ "kind": certificate.refusal.obstacle });
    if let Some(rule) = certificate.refusal.rules.first() {
        args["rule"] = rule.clone().into();
    }
    if let Some(record) = certificate.refusal.records.first() {
        args["record"] = record.clone().into();
    }
    let because = format!("declined: {}", certificate.told);
    let decline = benchwright_pack::Step::call("decline_request", "", args).because(because);
    let effects = Effects {
        kind: EffectsKind::Effects,
        version: Effects::VERSION,
        world: scene.world.origin().to_string(),
        choices: Vec::new(),
        expected: Vec::new(),
        ensure: Vec::new(),
        answer: None,
        refusal: Some(certificate.refusal),
        rules: Vec::new(),
        facts: Vec::new(),
    };
    Ok(Derived {
        base,
        world: Arc::clone(&scene.world),
        seat: scene.seat.clone(),
        voice: voice.to_owned(),
        instruction,
        request: request.text.clone(),
        spans: request.spans.clone(),
        oracle: Script { steps: vec![decline], given: Vec::new(), reads: true },
        effects,
        calls: 1,
        reads: 0,
        ways: Vec::new(),
        asked: Vec::new(),
        branches: branches(scenario),
        computed: 0,
        cast: scene.cast_in_words(),
        rows: scene.cast_rows(),
        edges: drawn.edges.len(),
        doubles: drawn.doubles.iter().filter(|(member, _)| !scenario.idle.contains(member)).count(),
        planted: planted(&drawn.scratch),
        base_digest: sandbox.origin().to_string(),
        without: variant.without.clone(),
        needs: twin.needs.clone(),
        certificate: certificate.told,
    })
}

/// The clauses that are in force only where something holds.
fn branches(scenario: &Scenario) -> Vec<String> {
    scenario.clauses.iter().filter(|clause| clause.when.is_some()).map(|clause| clause.id.clone()).collect()
}

/// What differs from the first state, whatever ids and numbers new rows have got.
fn outcome_of(state: &Scratch, first: &Scratch) -> Vec<String> {
    let domain = state.domain();
    let told = |table: TableId, at: usize, value: &Value| {
        let field = domain.table(table).fields.get(at)?;
        let is_new = match (field.ty, value) {
            (Type::Ref(to), Value::Ref(row)) => first.row(to, *row).is_none(),
            _ => false,
        };
        let shown = if is_new { "a new row".to_owned() } else { format!("{value:?}") };
        attribute::is_compared(field).then(|| format!("{}={shown}", field.name))
    };
    let mut found: Vec<String> = Vec::new();
    for (table, row, change) in state.diff().changes {
        let name = &domain.table(table).name;
        found.push(match change {
            Change::Added(cells) => {
                let cells = cells.iter().enumerate().skip(1).filter_map(|(at, value)| told(table, at, value));
                format!("{name} {}", cells.collect::<Vec<_>>().join(" "))
            }
            Change::Removed(_) => format!("{name} {row} gone"),
            Change::Changed(fields) => {
                let now = state.row(table, row).unwrap_or_default();
                let cells =
                    fields.iter().filter_map(|field| told(table, field.field.index(), now.get(field.field.index())?));
                format!("{name} {row} {}", cells.collect::<Vec<_>>().join(" "))
            }
        });
    }
    found.sort();
    found
}

/// What was planted into a base.
fn planted(scratch: &Scratch) -> Vec<TableDelta> {
    let row = |table: TableId, row: RowId| scratch.row(table, row).map(<[Value]>::to_vec).unwrap_or_default();
    Delta::tables_of(scratch.domain(), &scratch.diff(), &|table| scratch.counters(table), &row)
}

fn base_of(scenario: &Scenario, lot: &Lot<'_>, bases: &Bases<'_>) -> Result<(u64, Arc<Sandbox>), Discard> {
    let many = if scenario.domain.contains('+') { JOINED_BASES } else { BASES };
    let base = 1 + lot.stream(&["base"]).below(many);
    let sandbox = bases(base).map_err(|why| Discard::Fault(why.0))?;
    Ok((base, sandbox))
}

/// A drawn world with who sits in it.
struct Scene<'a> {
    scenario: &'a Scenario,
    variant: Option<&'a Blocked>,
    world: Arc<Sandbox>,
    scratch: Scratch,
    bound: Vec<Known>,
    seat: Seat,
    role: Role,
}

/// The seat of a role, with the person in it.
fn seat_in(world: &Sandbox, scenario: &Scenario, bound: &[Known], name: &str) -> Result<(Role, Seat), Discard> {
    let domain = world.domain();
    let role = match domain.members.is_empty() {
        true => domain.role_named(name).cloned(),
        false => domain.joined_role(name),
    };
    let Some(role) = role else { return Err(Discard::Fault(format!("there is no role {name}"))) };
    let actor = match scenario.person.map(|member| &bound[member]) {
        Some(Known::Row(_, row)) => *row,
        _ => world.person_for(&role.name),
    };
    let seat = Seat { role: role.name.clone(), actor };
    Ok((role, seat))
}

impl<'a> Scene<'a> {
    fn new(scenario: &'a Scenario, variant: Option<&'a Blocked>, drawn: &Drawn) -> Result<Scene<'a>, Discard> {
        if let Some(broken) = drawn.scratch.broken_as_planted() {
            let domain = drawn.scratch.domain();
            return Err(throw(format!("a plant breaks {}", domain.rules[broken.rule].id)));
        }
        let world = Arc::new(drawn.scratch.clone().into_sandbox());
        let name = variant.and_then(|variant| variant.seat.as_ref()).unwrap_or(&scenario.seat);
        let (role, seat) = seat_in(&world, scenario, &drawn.bound, name)?;
        let scratch = Scratch::new(&world).seated(seat.actor);
        Ok(Scene { scenario, variant, world, scratch, bound: drawn.bound.clone(), seat, role })
    }

    /// The seat of a role in this world.
    fn seat_named(&self, name: &str) -> Result<(Role, Seat), Discard> {
        seat_in(&self.world, self.scenario, &self.bound, name)
    }

    fn domain(&self) -> &Domain {
        self.world.domain()
    }

    /// What whoever acts is called.
    fn person(&self) -> Option<String> {
        let domain = self.domain();
        let table = domain.actor?;
        let cells = self.scratch.row(table, self.seat.actor?)?;
        let field = say::known_by(domain, table, cells)?;
        Some(codec::show_value(domain, domain.table(table).field(field).ty, &cells[field.index()]))
    }

    fn voice(&self, lot: &Lot<'_>) -> Result<String, Discard> {
        let mut stream = lot.stream(&["voice"]);
        let voice = stream.pick(&self.scenario.voices).map(|(name, _)| name.clone());
        voice.ok_or_else(|| Discard::Fault("there is no voice".to_owned()))
    }

    fn request(&self, voice: &str, adds: Option<&[WordPart]>) -> Result<Request, Discard> {
        let parts = self.scenario.voice(voice).unwrap_or_default();
        let all: Vec<&WordPart> = parts.iter().chain(adds.unwrap_or_default()).collect();
        let lost = self.variant.and_then(|variant| variant.lost.as_ref());
        let request = names::say(&all, self.scenario, &self.scratch, &self.bound, lost);
        names::prove(self.scenario, &request, &self.scratch, &self.bound, lost)?;
        Ok(request)
    }

    fn demanded(&self, clauses: &[Clause]) -> Result<Demanded, Discard> {
        let demanded =
            demand::demand(self.scenario, clauses, &self.scratch, &self.bound, &self.seat, MendOrder::FirstFirst);
        demanded.map_err(|stuck| throw(self.told(&stuck.0)))
    }

    /// Why a request cannot be carried out, for whoever counts causes.
    fn told(&self, stuck: &Stuck) -> String {
        let domain = self.domain();
        match stuck {
            Stuck::Rule(broken) => format!("{} stays broken", domain.rules[broken.rule].id),
            Stuck::Contradiction(table, _, field) => {
                let declared = domain.table(*table);
                format!("two values for {}.{}", declared.name, declared.field(*field).name)
            }
            Stuck::Ensure(id) => format!("{id} does not hold"),
            Stuck::Refused(_, refusal) => format!("the state refuses: {}", refusal.message),
            Stuck::Endless => "ways without end".to_owned(),
        }
    }

    fn begin(&self) -> Result<Episode, Discard> {
        self.world.begin(&self.seat, Conditions::default()).map_err(|error| Discard::Fault(error.to_string()))
    }

    /// Finds the calls, makes them, and says what they leave.
    fn carried_out(
        &self,
        drawn: &Drawn,
        demanded: Demanded,
        request: &Request,
        base: u64,
        voice: String,
    ) -> Result<Derived, Discard> {
        let domain = self.domain();
        let desk = Desk { domain, role: &self.role, without: &[] };
        let deeds = sorted(&demanded.deeds, domain);
        let matter = Matter {
            deeds: &deeds,
            desk: &desk,
            first: &self.scratch,
            last: &demanded.scratch,
            bound: &demanded.bound,
        };
        let writes = calls::writes(matter);
        let writes = writes.map_err(|why| throw(format!("no call for {}", unwritten(domain, &why))))?;
        let (writes, script, steps, blame, episode) = self.in_some_order(writes, matter, request)?;
        if let Some(broken) = episode.judge().first() {
            return Err(throw(format!("the calls break {}", domain.rules[broken.rule].id)));
        }
        let outcome = Outcome {
            domain,
            clauses: &self.scenario.clauses,
            deeds: &deeds,
            writes: &writes,
            steps: &steps,
            first: &self.scratch,
            demanded: &demanded.scratch,
            bound: &demanded.bound,
            episode: &episode,
            blame: &blame,
        };
        let expected = outcome.expected()?;
        let answer = self.answer(&demanded, &outcome)?;
        let ensure = self.ensured(&demanded, &outcome);
        let effects = Effects { ensure, ..self.effects(expected, answer, &episode) };
        let mut ways: Vec<String> = Vec::new();
        for broken in &demanded.mended {
            let id = &domain.rules[broken.rule].id;
            if !ways.contains(id) {
                ways.push(id.clone());
            }
        }
        let in_force = demand::in_force(&self.scenario.clauses, &self.scratch, &self.bound);
        let asked = in_force.into_iter().map(|(_, clause)| clause.id.clone()).collect();
        let is_time = |cell: &&demand::WantedCell| matches!(cell.value, Value::Date(_) | Value::DateTime(_));
        let is_computed = |cell: &&demand::WantedCell| matches!(&cell.wanted, Wanted::Is(expr) if !matches!(expr, Expr::Literal(..) | Expr::Field(..)));
        let computed = deeds.iter().flat_map(|deed| deed.cells()).filter(is_time).filter(is_computed).count();
        let needs: BTreeSet<String> = script.steps.iter().map(|step| step.tool()).collect();
        let needs = needs.into_iter().collect();
        let asks = self.answer_name();
        let now = self.scratch.now().to_string();
        let instruction =
            say::instruction(domain, &self.role, self.person().as_deref(), &now, &request.text, asks.as_deref());
        Ok(Derived {
            base,
            world: Arc::clone(&self.world),
            seat: self.seat.clone(),
            voice,
            instruction,
            request: request.text.clone(),
            spans: request.spans.clone(),
            oracle: script,
            effects,
            calls: blame.calls,
            reads: blame.reads,
            ways,
            asked,
            branches: branches(self.scenario),
            computed,
            cast: self.cast_in_words(),
            rows: self.cast_rows(),
            edges: drawn.edges.len(),
            doubles: drawn.doubles.iter().filter(|(member, _)| !self.scenario.idle.contains(member)).count(),
            planted: planted(&drawn.scratch),
            base_digest: String::new(),
            without: Vec::new(),
            needs,
            certificate: serde_json::Value::Null,
        })
    }

    fn answer_name(&self) -> Option<String> {
        let clauses = demand::in_force(&self.scenario.clauses, &self.scratch, &self.bound);
        let asks = clauses.into_iter().find(|(_, clause)| matches!(clause.act, Asked::Answer { .. }));
        asks.map(|(_, clause)| clause.id.clone())
    }

    /// Tries the writes in the order of the clauses, then with a write that is refused put off.
    fn in_some_order(
        &self,
        mut writes: Vec<Write>,
        matter: Matter<'_>,
        request: &Request,
    ) -> Result<(Vec<Write>, Script, read::Steps, Blame, Episode), Discard> {
        let mut last = String::new();
        for _ in 0..MOST_ORDERS {
            let errand = read::Errand {
                scenario: self.scenario,
                clauses: &self.scenario.clauses,
                matter,
                cast: &self.bound,
                actor: self.seat.actor,
                shown: &request.shown,
            };
            let because = |origin: &Origin| self.because(origin, request);
            let (script, steps) = read::Reader::new(errand, self.begin()?).script(&mut writes, &because)?;
            let mut episode = self.begin()?;
            match attribute::play(&script, &mut episode) {
                Ok(blame) => return Ok((writes, script, steps, blame, episode)),
                Err(ReplayError::Refused { at, tool, refusal }) => {
                    last = format!("{tool} is refused: {}", refusal.message);
                    let Some((write, count)) = steps.get(&at).copied() else { return Err(throw(last)) };
                    if write + count >= writes.len() {
                        return Err(throw(last));
                    }
                    // Behind the next one.
                    writes[write..=write + count].rotate_left(count);
                }
                Err(other) => return Err(throw(format!("the calls cannot be made: {other}"))),
            }
        }
        Err(throw(last))
    }

    /// Why a call is made, in the words of the request or of the policy.
    fn because(&self, origin: &Origin, request: &Request) -> String {
        match origin {
            Origin::Clause(at) => {
                let id = &self.scenario.clauses[*at].id;
                let told = request.spans.iter().find(|(span, _)| span == id).map_or("", |(_, told)| told);
                format!("asked: \"{told}\"")
            }
            Origin::Way { rule, way, .. } => {
                let rule = &self.domain().rules[*rule];
                let says = rule.ways[..=*way].iter().rev().map(|way| &*way.says).find(|says| !says.is_empty());
                format!("policy {}: {}", rule.id, says.unwrap_or(&rule.says))
            }
        }
    }
}

/// Ways of rules that tools hold come before the clauses, because the call would be refused; the others after them. What one act of a
/// way does on several rows stands together.
fn sorted(deeds: &[Deed], domain: &Domain) -> Vec<Deed> {
    let class = |deed: &Deed| match &deed.origin {
        Origin::Way { rule, .. } if domain.rules[*rule].by == By::Tool => 0,
        Origin::Clause(_) => 1,
        Origin::Way { .. } => 2,
    };
    let begins = |deed: &Deed| deeds.iter().position(|other| other.origin.is_like(&deed.origin));
    let mut sorted = deeds.to_vec();
    sorted.sort_by_key(|deed| (class(deed), begins(deed), deed.part));
    sorted
}

fn unwritten(domain: &Domain, why: &[calls::Unwritable]) -> String {
    let told = why.first().map(|why| match why {
        calls::Unwritable::NoTool { table, .. } => (table, "no tool"),
        calls::Unwritable::Forbidden { table, .. } => (table, "no right"),
        calls::Unwritable::Lifecycle { table, .. } => (table, "no way through its states"),
    });
    let Some((table, what)) = told else { return String::new() };
    format!("{}: {what}", domain.tables.get(table.index()).map_or("", |table| &table.name))
}
