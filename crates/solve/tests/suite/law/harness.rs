//! The law at points: a point of the free fields is feasible for the solver exactly when the evaluator accepts the rows it
//! stands for.
//!
//! At a point the rows that are used and the fields of those rows are fixed. All else stays free: the variables of the
//! lowering's own making, and the fields of rows that are not used. A fault that leaves one of them loose shows.

use super::constructs;
use super::fixture::{self, Counts, Point};
use super::grow::Grow;
use super::shapes;
use benchwright_base::{Stream, Value};
use benchwright_expr::{Source, eval::Judge, specialise};
use benchwright_schema::{
    Domain,
    plan::{Body, Bound, ObjectiveText, PhaseText, Plan, PlanText, RuleText},
};
use benchwright_solve::{
    Answer, Constraint, CpSat, Engine, Formula, Instance, Library, Limits, Lin, Lower, Lowering, Model, Status,
};
use benchwright_spec::{Candidates, Rows};

/// What a run saw.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) rules: usize,
    pub(crate) instances: usize,
    /// Instances that are the same at every point.
    pub(crate) known: usize,
    pub(crate) points: usize,
    pub(crate) solves: usize,
    pub(crate) verdicts: usize,
    pub(crate) rejected: usize,
    pub(crate) numbers: usize,
    /// Points with half a bundle.
    pub(crate) torn: usize,
    /// Native constraints, variables that a chain or a maximum shares, in the models.
    pub(crate) native: usize,
    /// Cases that the lowering refuses to read, with a reason.
    pub(crate) refused: Vec<String>,
    pub(crate) constructs: Counts,
    /// The largest model, in variables.
    pub(crate) largest: usize,
    pub(crate) wrong: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.rules += other.rules;
        self.instances += other.instances;
        self.known += other.known;
        self.points += other.points;
        self.solves += other.solves;
        self.verdicts += other.verdicts;
        self.rejected += other.rejected;
        self.numbers += other.numbers;
        self.torn += other.torn;
        self.native += other.native;
        self.refused.extend(other.refused);
        self.largest = self.largest.max(other.largest);
        self.wrong.extend(other.wrong);
        for (name, count) in other.constructs {
            *self.constructs.entry(name).or_default() += count;
        }
    }
}

/// The solver, and what is counted on the way.
pub(crate) struct Harness {
    engine: CpSat,
    pub(crate) tally: Tally,
}

/// More work than any model of a point needs.
pub(crate) fn limits() -> Limits {
    Limits { work: 10.0, linearization: 1, fixed_search: false }
}

/// The model at a point.
pub(crate) fn at_point(model: &Model, lower: &Lower<'_>, point: &Point) -> Model {
    let mut model = model.clone();
    for (rows, points) in lower.rows.iter().zip(&point.0) {
        for (row, values) in rows.iter().zip(points) {
            let is_possible = match &row.used {
                Formula::Lit(used) => {
                    let value = i64::from(values.is_some() == used.yes);
                    let domain = std::mem::replace(&mut model.vars[used.var as usize], vec![(value, value)]);
                    domain[0] == (0, 1) || domain[0] == (value, value)
                }
                other => other.at(&[]) == values.is_some(),
            };
            if !is_possible {
                model.constraints.push(Constraint::Or(vec![]));
            }
            for (field, value) in row.fields.iter().zip(values.iter().flatten()) {
                match *field.terms {
                    [(var, 1)] if field.constant == 0 => model.vars[var as usize] = vec![(*value, *value)],
                    _ => assert_eq!(field.known(), Some(*value)),
                }
            }
        }
    }
    model
}

/// The evaluator's verdicts on the instances of a rule, with what `per` is bound to.
pub(crate) fn verdicts(plan: &Plan, bound: &Bound, rows: &Rows, rule: usize) -> Vec<(Vec<Value>, bool)> {
    let records = rows.records(plan);
    let mut judge = Judge::new(&records, bound.anchor.midnight());
    judge.facts = bound;
    match &plan.rules[rule].body {
        Body::Expr(body) => {
            let mut found = Vec::new();
            let over_rows = plan.rules[rule].per.iter().any(|per| matches!(per.source, Source::Rows { .. }));
            judge.instances(&plan.rules[rule].per, &mut |here| {
                let holds = here.holds(body);
                // A grader settles before it reads what no record decides.
                if !over_rows {
                    assert_eq!(judge.holds_at(&here.at, &specialise(body, &here.at, bound)), holds, "{body:?}");
                }
                found.push((here.at.to_vec(), holds));
            });
            found
        }
        _ => Vec::new(),
    }
}

/// The evaluator's value of an objective's only phase.
fn number(plan: &Plan, bound: &Bound, rows: &Rows, objective: &str) -> Option<i64> {
    let records = rows.records(plan);
    let mut judge = Judge::new(&records, bound.anchor.midnight());
    judge.facts = bound;
    judge.value(&plan.objectives[objective][0].of).as_number()
}

/// A random case: a plan of a few rules and a number, and candidates.
pub(crate) struct Case {
    seed: u64,
    text: PlanText,
    pub(crate) plan: Plan,
    pub(crate) bound: Bound,
    pub(crate) candidates: Candidates,
    lowering: Lowering,
}

impl Case {
    /// The same case read in the shared way, with some of its rows in bundles.
    pub(crate) fn shared(mut self) -> Case {
        self.lowering = Lowering::Shared;
        fixture::bundle(&mut self.candidates, &mut Stream::new(self.seed, &["law", "bundles"]));
        self
    }

    /// A case of rules that the shared way reads otherwise.
    pub(crate) fn shaped(domain: &Domain, seed: u64) -> Case {
        let stream = &mut Stream::new(seed, &["law", "shapes"]);
        let mut text = fixture::plan_text();
        for rule in 0..stream.between(1, 3) {
            let &(per, require) = stream.pick(&shapes::RULES).unwrap();
            let drawn = RuleText {
                per: (!per.is_empty()).then(|| per.to_owned()),
                require: Some(require.to_owned()),
                ..RuleText::default()
            };
            text.rules.insert(format!("rule-{rule}"), drawn);
        }
        let of = (*stream.pick(&shapes::NUMBERS).unwrap()).to_owned();
        text.objectives.insert("number".to_owned(), objective(of));
        Case::of(domain, seed, &text).shared()
    }

    /// The case of a seed. What is the same at every point teaches little, so most of what is drawn so is drawn again;
    /// the evaluator judges that, never the lowering.
    pub(crate) fn new(domain: &Domain, seed: u64) -> Case {
        let stream = &mut Stream::new(seed, &["law", "rules"]);
        let mut case = Case::of(domain, seed, &fixture::plan_text());
        for rule in 0..stream.between(1, 2) as usize {
            for _ in 0..12 {
                let depth = stream.between(2, 4) as usize;
                let (per, require) = Grow::new(stream).rule(depth);
                let drawn = RuleText { per, require: Some(require), ..RuleText::default() };
                case.text.rules.insert(format!("rule-{rule}"), drawn);
                case = Case::of(domain, seed, &case.text);
                if case.seen(|rows| verdicts(&case.plan, &case.bound, rows, rule)) > 1 || stream.chance(1, 12) {
                    break;
                }
            }
        }
        for _ in 0..12 {
            let depth = stream.between(2, 3) as usize;
            let of = Grow::new(stream).objective(depth);
            case.text.objectives.insert("number".to_owned(), objective(of));
            case = Case::of(domain, seed, &case.text);
            if case.seen(|rows| number(&case.plan, &case.bound, rows, "number")) > 1 || stream.chance(1, 12) {
                break;
            }
        }
        case
    }

    fn of(domain: &Domain, seed: u64, text: &PlanText) -> Case {
        let plan = Plan::compile(text, domain).unwrap_or_else(|faults| panic!("seed {seed}: {faults}"));
        let bound = fixture::bound(&plan);
        let candidates = fixture::candidates(&plan, &mut Stream::new(seed, &["law", "candidates"]));
        Case { seed, text: text.clone(), plan, bound, candidates, lowering: Lowering::Plain }
    }

    /// How many different answers a question has at a few points.
    fn seen<T: PartialEq>(&self, ask: impl Fn(&Rows) -> T) -> usize {
        let stream = &mut Stream::new(self.seed, &["law", "trial"]);
        let mut answers: Vec<T> = Vec::new();
        for _ in 0..6 {
            let answer = ask(&Point::random(&self.candidates, 60, stream).rows());
            if !answers.contains(&answer) {
                answers.push(answer);
            }
        }
        answers.len()
    }

    fn told(&self, point: &Point) -> String {
        let rules: Vec<String> =
            self.plan.rules.iter().map(|rule| format!("{:?}: {:?}", rule.text.per, rule.text.require)).collect();
        let number = &self.plan.objectives["number"][0].text.of;
        format!(
            "seed {}\n  rules {rules:#?}\n  number {number}\n  candidates {:?}\n  point {point:?}",
            self.seed, self.candidates
        )
    }
}

/// An objective of one phase.
pub(crate) fn objective(of: String) -> ObjectiveText {
    let name = "number".to_owned();
    let phase = PhaseText { name, of, sense: None, tolerance: 0, decay: 0, unit: 1, share: 100 };
    ObjectiveText { phases: vec![phase], keeps: Vec::new() }
}

impl Harness {
    pub(crate) fn new(library: &Library) -> Harness {
        Harness { engine: CpSat::load(library).unwrap(), tally: Tally::default() }
    }

    fn solve(&mut self, model: &Model) -> Answer {
        self.tally.solves += 1;
        self.tally.largest = self.tally.largest.max(model.vars.len());
        self.engine.solve(model, &limits()).unwrap()
    }

    /// Whether some point is left.
    pub(crate) fn fits(&mut self, model: &Model) -> Option<Answer> {
        let answer = self.solve(model);
        assert_ne!(answer.status, Status::Unknown, "the work ran out");
        (answer.status != Status::Infeasible).then_some(answer)
    }

    fn wrong(&mut self, what: String) {
        self.tally.wrong.push(what);
    }

    /// Holds one random case to the law at random points.
    pub(crate) fn case(&mut self, case: &Case, points: usize) {
        let mut lower = Lower::in_way(case.lowering, &case.plan, &case.bound, &case.candidates);
        let read = lower.all_instances().and_then(|instances| {
            // A planner reads its objective after the rules, so what they share is shared here too.
            let mut numbers = lower.clone();
            let of = numbers.number(&case.plan.objectives["number"][0].of)?;
            Ok((instances, numbers, of))
        });
        let (instances, numbers, of) = match read {
            Ok(read) => read,
            Err(error) => return self.tally.refused.push(error.to_string()),
        };
        constructs::count(&case.plan, &case.candidates, &mut self.tally.constructs);
        self.tally.rules += case.plan.rules.len();
        self.tally.instances += instances.len();
        self.tally.known += instances.iter().filter(|instance| matches!(instance.holds, Formula::Known(_))).count();
        let stream = &mut Stream::new(case.seed, &["law", "points"]);
        let mut reified = lower.clone();
        let lits: Vec<Lin> = instances.iter().map(|instance| reified.truth_value(&instance.holds)).collect();
        for _ in 0..points {
            let point = Point::random(&case.candidates, 60, stream);
            self.tally.points += 1;
            self.truths(case, &lower, &instances, &reified, &lits, &point, stream);
            self.number(case, &numbers, &of, &point);
            if let Some(torn) = point.torn(&case.candidates, stream) {
                self.tally.torn += 1;
                if self.fits(&at_point(&lower.model, &lower, &torn)).is_some() {
                    self.wrong(format!("half a bundle is used: {}", case.told(&torn)));
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one case in its three forms")]
    fn truths(
        &mut self,
        case: &Case,
        lower: &Lower<'_>,
        instances: &[Instance],
        reified: &Lower<'_>,
        lits: &[Lin],
        point: &Point,
        stream: &mut Stream,
    ) {
        let rows = point.rows();
        let mut judged = Vec::new();
        for rule in 0..case.plan.rules.len() {
            judged.extend(verdicts(&case.plan, &case.bound, &rows, rule));
        }
        assert_eq!(judged.len(), instances.len(), "{}", case.told(point));
        for (instance, (bound, _)) in instances.iter().zip(&judged) {
            for (at, value) in instance.at.iter().zip(bound) {
                assert_eq!(value.as_number().or(value.as_ref_id().map(i64::from)), Some(*at), "{}", case.told(point));
            }
        }
        // All literals together have the evaluator's values, and no other value of one of them is possible.
        let mut model = at_point(&reified.model, reified, point);
        let mut other = model.clone();
        for (lit, (_, verdict)) in lits.iter().zip(&judged) {
            hold(&mut model, lit, i64::from(*verdict));
        }
        match self.fits(&model) {
            Some(answer) => {
                if reified.read(&answer.point) != rows {
                    self.wrong(format!("other rows are read: {}", case.told(point)));
                }
            }
            None => self.wrong(format!("the literals cannot be {judged:?}: {}", case.told(point))),
        }
        self.tally.verdicts += judged.len();
        self.tally.rejected += judged.iter().filter(|(_, verdict)| !verdict).count();
        let Some(chosen) = (!judged.is_empty()).then(|| stream.below(judged.len() as u64) as usize) else { return };
        let verdict = judged[chosen].1;
        hold(&mut other, &lits[chosen], i64::from(!verdict));
        if self.fits(&other).is_some() {
            self.wrong(format!("literal {chosen} can be {}: {}", !verdict, case.told(point)));
        }
        // The formula required is feasible where the evaluator accepts, its negation where it rejects.
        let formula = &instances[chosen].holds;
        for (formula, wanted) in [(formula.clone(), verdict), (formula.negated(), !verdict)] {
            let mut required = lower.clone();
            required.require(&formula);
            let is_native = |it: &&Constraint| matches!(it, Constraint::NoOverlap(_) | Constraint::Cumulative { .. });
            self.tally.native += required.model.constraints.iter().filter(is_native).count();
            if self.fits(&at_point(&required.model, lower, point)).is_some() != wanted {
                self.wrong(format!("instance {chosen} is {verdict}, but the model differs: {}", case.told(point)));
            }
        }
    }

    /// The number has the evaluator's value, whichever way it is pushed.
    fn number(&mut self, case: &Case, lower: &Lower<'_>, of: &Lin, point: &Point) {
        let rows = point.rows();
        let value = number(&case.plan, &case.bound, &rows, "number");
        self.tally.numbers += 1;
        let mut model = at_point(&lower.model, lower, point);
        for side in [1, -1] {
            model.minimise = Some(of.times(side));
            let found = self.fits(&model).map(|answer| of.at(&answer.point));
            if found.is_none() || found != value {
                self.wrong(format!("the number is {value:?}, the model says {found:?}: {}", case.told(point)));
            }
        }
    }
}

fn hold(model: &mut Model, of: &Lin, value: i64) {
    let within = vec![(value, value)];
    model.constraints.push(Constraint::Linear { of: of.clone(), within, when: vec![] });
}
