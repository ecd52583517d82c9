//! `bench planning`: what it takes to prove planning problems whose best values are known, with rules lowered as the family of planning has
//! them and as every other family has them; and what lowering and judging cost. The problems are those of the tests, so that a checkout is
//! needed.

use crate::error::{Error, OrWrong as _, Result};
use crate::measure::cpu;
use benchwright_report::layout::columns;
use benchwright_solve::{CpSat, Engine as _, Highs, Library, Limits, Lower, Lowering, Portfolio, Status};
use benchwright_spec::{Outcome, Planner as _, Problem};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, fs, path::Path};

/// Where the problems are, in a checkout.
const CASES: &str = "crates/solve/tests/golden";
/// The values and bounds that are known.
const KNOWN: &str = "golden.json";
/// Work within which the plain lowering is tried.
const WORK: f64 = 30.0;
/// Seconds that lowering may take, and milliseconds for a verdict.
const LOWERED_IN: f64 = 1.0;
const JUDGED_IN: f64 = 100.0;

/// What was measured of a problem.
struct Case {
    name: String,
    known: (i64, i64),
    value: i64,
    bound: i64,
    /// In the solver's units.
    work: f64,
    /// With the plain lowering; nothing where that is not enough to prove it.
    landed_work: Option<f64>,
    lower_s: f64,
    grade_ms: f64,
}

impl Case {
    fn missed(&self) -> bool {
        let (value, bound) = self.known;
        self.value > value || self.bound < bound || self.lower_s > LOWERED_IN || self.grade_ms > JUDGED_IN
    }

    fn to_json(&self) -> Json {
        let three = |number: f64| (number * 1_000.0).round() / 1_000.0;
        json!({
            "case": self.name, "value": self.value, "bound": self.bound, "known": [self.known.0, self.known.1],
            "work": three(self.work), "landed_work": self.landed_work.map(three),
            "lower_s": three(self.lower_s), "grade_ms": three(self.grade_ms),
        })
    }
}

/// What was measured.
pub(super) struct Figures(Vec<Case>);

impl Figures {
    /// The problems that fall short.
    pub(super) fn missed(&self) -> Vec<&str> {
        self.0.iter().filter(|case| case.missed()).map(|case| &*case.name).collect()
    }

    /// The document of `--json`.
    pub(super) fn to_json(&self) -> Json {
        json!({ "cases": self.0.iter().map(Case::to_json).collect::<Vec<_>>(), "missed": self.missed() })
    }

    /// The same for a reader.
    pub(super) fn to_table(&self) -> String {
        let head = ["case", "value", "bound", "work", "landed", "lower s", "grade ms"].map(str::to_owned).to_vec();
        let row = |case: &Case| {
            vec![
                case.name.clone(),
                case.value.to_string(),
                case.bound.to_string(),
                format!("{:.2}", case.work),
                case.landed_work.map_or("-".to_owned(), |work| format!("{work:.2}")),
                format!("{:.3}", case.lower_s),
                format!("{:.1}", case.grade_ms),
            ]
        };
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.0.iter().map(row)).collect();
        columns(&rows, &[1, 2, 3, 4, 5, 6], 0)
    }
}

/// Measures; in a hurry, only the easy ones.
pub(super) fn run(quick: bool) -> Result<Figures> {
    let folder = Path::new(CASES);
    if !folder.is_dir() {
        return Err(Error::wrong(format!("{CASES} is not here; run it at the root of a checkout")));
    }
    let library = Library::find().map_err(|error| Error::Outside(error.into()))?;
    let (first, second) = (CpSat::load(&library)?, Highs::load(&library)?);
    let known: BTreeMap<String, (i64, i64)> = serde_json::from_str(&fs::read_to_string(folder.join(KNOWN))?)?;
    let mut cases = Vec::new();
    for (name, known) in known.into_iter().filter(|(name, _)| !quick || name.contains("-E-")) {
        let text = fs::read_to_string(folder.join(format!("{name}.json")))?;
        let problem =
            Problem::new(serde_json::from_str(&text)?).map_err(|why| Error::wrong(format!("{name}: {why}")))?;
        cases.push(measured(name, known, &problem, (&first, &second))?);
    }
    Ok(Figures(cases))
}

fn measured(name: String, known: (i64, i64), problem: &Problem, engines: (&CpSat, &Highs)) -> Result<Case> {
    let (lower_s, _) = lowered(problem, Lowering::Shared)?;
    let (_, plain) = lowered(problem, Lowering::Plain)?;
    let limits = Limits { work: WORK, linearization: 2, fixed_search: false };
    let landed = engines.0.solve(&plain.model, &limits)?;
    // Whatever is between value and bound, it is told.
    let mut portfolio = Portfolio { admitted: 1_000, ..Portfolio::new(engines.0, engines.1) };
    let Problem { plan, bound, candidates, objective } = problem;
    let outcome =
        portfolio.solve(plan, bound, candidates, objective).map_err(|why| Error::wrong(format!("{name}: {why}")))?;
    let Outcome::Solved(solved) = outcome else { return Err(Error::wrong(format!("{name}: no plan was found"))) };
    let phase = solved.phases.first().or_wrong(|| format!("{name}: it has no phase"))?;
    let begun = cpu()?;
    let judged = problem.judged(&solved.rows);
    let grade_ms = (cpu()? - begun).as_secs_f64() * 1_000.0;
    if judged != (Some(phase.value), 0) {
        return Err(Error::wrong(format!("{name}: the solver says {}, and the evaluator {judged:?}", phase.value)));
    }
    Ok(Case {
        known,
        value: phase.value,
        bound: phase.bound,
        work: phase.work as f64 / 1_000.0,
        landed_work: (landed.status == Status::Optimal).then_some(landed.work),
        lower_s,
        grade_ms,
        name,
    })
}

/// The model of a problem, and the CPU seconds that it took.
fn lowered(problem: &Problem, lowering: Lowering) -> Result<(f64, Lower<'_>)> {
    let begun = cpu()?;
    let mut lower = Lower::in_way(lowering, &problem.plan, &problem.bound, &problem.candidates);
    let instances = lower.all_instances().map_err(|why| Error::wrong(why.to_string()))?;
    for instance in &instances {
        lower.require(&instance.holds);
    }
    let phases = problem.plan.objectives.get(&problem.objective);
    let of = &phases.and_then(|phases| phases.first()).or_wrong(|| "there is no phase".to_owned())?.of;
    lower.model.minimise = Some(lower.number(of).map_err(|why| Error::wrong(why.to_string()))?);
    Ok(((cpu()? - begun).as_secs_f64(), lower))
}
