//! HiGHS, the second engine: the same model as a mixed-integer program. It works in doubles, so its point is rounded and
//! held to the model in whole numbers; where that fails it has no answer. It takes no hint and has no fixed search.

use crate::{
    Answer, Constraint, Engine, EngineError, Interval, Library, Limits, Lin, Lit, Model, Relaxed, Status, Var, check,
    ffi::{self, Outcome, Program, Setting},
    range,
};

const ENGINE: &str = "HiGHS";
const SEED: i32 = 7;
/// How many nodes of the search tree count as one unit of work.
pub const NODES_PER_WORK: f64 = 2_000.0;
/// The objective is whole, so a bound this little above a whole number proves that number only.
const BOUND_SLACK: f64 = 1e-3;
/// No number of a program may be larger: HiGHS takes greater factors for faults, and doubles end soon after.
const LARGEST: i64 = 1_000_000_000_000_000;

/// HiGHS of the library.
pub struct Highs {
    highs: ffi::Highs,
    version: String,
}

impl Highs {
    /// Loads it; later loads of the same library cost nothing.
    pub fn load(library: &Library) -> Result<Highs, EngineError> {
        let highs = ffi::Highs::open(&library.highs()).map_err(EngineError::NotThere)?;
        Ok(Highs { version: highs.version(), highs })
    }

    /// The version of HiGHS, as it names itself.
    pub fn library_version(&self) -> &str {
        &self.version
    }
}

/// A model as a program in whole numbers, row by row. Without its columns being whole it is the linear relaxation.
pub(crate) fn program(model: &Model) -> Result<Program, String> {
    Builder::build(model)
}

impl Engine for Highs {
    fn version(&self) -> String {
        format!("{ENGINE} {}", self.version)
    }

    fn relaxed(&self, model: &Model) -> Result<Option<Relaxed>, EngineError> {
        if let Some(fault) = check::fault(model) {
            return Err(failed(fault));
        }
        if model.vars.is_empty() {
            return Ok(Some(Relaxed { prices: Vec::new(), point: Some(Vec::new()) }));
        }
        let program = program(model).map_err(failed)?;
        let settings = [
            ("output_flag", Setting::Bool(false)),
            ("threads", Setting::Int(1)),
            ("parallel", Setting::Text("off")),
            ("random_seed", Setting::Int(SEED)),
            ("solver", Setting::Text("simplex")),
            ("solve_relaxation", Setting::Bool(true)),
        ];
        let outcome = self.highs.solve(&program, &settings).map_err(failed)?;
        if outcome.has_point {
            let point = outcome.point.get(..model.vars.len()).map(<[f64]>::to_vec);
            return Ok(Some(Relaxed { prices: outcome.prices, point }));
        }
        // No point keeps the rows. Where each may be bent, at more than the objective can come to, what they are worth then shows it.
        let (low, high) = model.minimise.as_ref().map_or((0, 0), |objective| check::reach(model, objective));
        let bent = program.bent(high.saturating_sub(low).max(1) as f64);
        let outcome = self.highs.solve(&bent, &settings).map_err(failed)?;
        Ok(outcome.has_point.then_some(Relaxed { prices: outcome.prices, point: None }))
    }

    fn solve(&self, model: &Model, limits: &Limits) -> Result<Answer, EngineError> {
        if let Some(fault) = check::fault(model) {
            return Err(failed(fault));
        }
        if model.vars.is_empty() {
            return Ok(without_variables(model));
        }
        let program = Builder::build(model).map_err(failed)?;
        let run = |presolve| {
            let outcome = self.highs.solve(&program, &settings(limits, presolve)).map_err(failed)?;
            read(model, &outcome)
        };
        // Its presolve has had faults, which show as a point that does not hold or as a failure. Then it is left out.
        match run(true) {
            Ok((answer, true)) => Ok(answer),
            _ => run(false).map(|(answer, _)| answer),
        }
    }
}

fn failed(why: impl Into<String>) -> EngineError {
    EngineError::Failed { engine: ENGINE, why: why.into() }
}

/// HiGHS has no notion of a program without columns.
fn without_variables(model: &Model) -> Answer {
    let is_sound = check::satisfied(model, &[]);
    let status = if is_sound { Status::Optimal } else { Status::Infeasible };
    let bound = model.minimise.as_ref().filter(|_| is_sound).map_or(0, |objective| objective.constant);
    Answer { status, point: Vec::new(), bound, work: 0.0 }
}

fn settings(limits: &Limits, presolve: bool) -> Vec<(&'static str, Setting)> {
    /// The bit of the reduction by forcing rows, which in HiGHS 1.12.0 loses feasible points of small models.
    const FORCING_ROWS: i32 = 1 << 6;
    let nodes = (limits.work * NODES_PER_WORK).clamp(1.0, f64::from(i32::MAX)) as i32;
    vec![
        ("output_flag", Setting::Bool(false)),
        ("threads", Setting::Int(1)),
        ("parallel", Setting::Text("off")),
        ("random_seed", Setting::Int(SEED)),
        ("mip_rel_gap", Setting::Double(0.0)),
        // Whole objectives differ by one at least.
        ("mip_abs_gap", Setting::Double(0.5)),
        // Closer than doubles reckon, its propagation may round whole points away, and its bound with them. A point is held to the model.
        ("mip_feasibility_tolerance", Setting::Double(1e-6)),
        ("mip_max_nodes", Setting::Int(nodes)),
        ("presolve", Setting::Text(if presolve { "on" } else { "off" })),
        ("presolve_rule_off", Setting::Int(FORCING_ROWS)),
    ]
}

/// Reads the outcome, and holds its point to the model. Also says whether the point, if there is one, does hold.
fn read(model: &Model, outcome: &Outcome) -> Result<(Answer, bool), EngineError> {
    const OPTIMAL: i32 = 7;
    const INFEASIBLE: i32 = 8;
    const INFEASIBLE_OR_UNBOUNDED: i32 = 9;
    const LIMITS: std::ops::RangeInclusive<i32> = 13..=16;
    let mut answer =
        Answer { status: Status::Unknown, point: Vec::new(), bound: 0, work: outcome.nodes as f64 / NODES_PER_WORK };
    match outcome.status {
        // Every column is bounded, so nothing is unbounded.
        INFEASIBLE | INFEASIBLE_OR_UNBOUNDED => return Ok((Answer { status: Status::Infeasible, ..answer }, true)),
        OPTIMAL => {}
        status if LIMITS.contains(&status) => {}
        status => return Err(failed(format!("it ended with status {status}"))),
    }
    if let Some(objective) = &model.minimise {
        let bound = (outcome.dual_bound - BOUND_SLACK).ceil() as i64;
        answer.bound = bound.saturating_add(objective.constant).max(check::reach(model, objective).0);
    }
    let point = outcome.has_point.then(|| rounded(model, &outcome.point)).flatten();
    let Some(point) = point.filter(|point| check::satisfied(model, point)) else {
        return Ok((answer, outcome.status != OPTIMAL && !outcome.has_point));
    };
    let is_best = match &model.minimise {
        None => true,
        Some(objective) => {
            let value = objective.at(&point);
            // Rounding moves the objective by less than one; more than that is a wrong bound.
            if answer.bound > value.saturating_add(1) {
                return Err(failed(format!("it claims the bound {} above the objective {value}", answer.bound)));
            }
            answer.bound = answer.bound.min(value);
            answer.bound == value
        }
    };
    let is_proved = is_best && (outcome.status == OPTIMAL || model.minimise.is_none());
    answer.status = if is_proved { Status::Optimal } else { Status::Feasible };
    answer.point = point;
    Ok((answer, true))
}

/// The model's part of a point, in whole numbers; none if a value is not near one.
fn rounded(model: &Model, point: &[f64]) -> Option<Vec<i64>> {
    let values = point.get(..model.vars.len())?;
    values.iter().map(|value| ((value - value.round()).abs() < 0.01).then(|| value.round() as i64)).collect()
}

/// Builds the program. Columns of its own come after the model's.
struct Builder<'a> {
    model: &'a Model,
    program: Program,
}

impl Builder<'_> {
    fn build(model: &Model) -> Result<Program, String> {
        let mut builder = Builder { model, program: Program::default() };
        for var in 0..model.vars.len() as Var {
            let (low, high) = model.bounds(var);
            builder.column(low, high)?;
        }
        for (var, domain) in model.vars.iter().enumerate() {
            let of = Lin::var(var as Var);
            builder.linear(&of, domain, &[])?;
        }
        for constraint in &model.constraints {
            builder.constraint(constraint)?;
        }
        for (var, k) in model.minimise.iter().flat_map(|objective| &objective.terms) {
            builder.program.costs[*var as usize] += double(*k)?;
        }
        Ok(builder.program)
    }

    fn column(&mut self, low: i64, high: i64) -> Result<Var, String> {
        self.program.costs.push(0.0);
        self.program.lows.push(double(low)?);
        self.program.highs.push(double(high)?);
        Ok((self.program.costs.len() - 1) as Var)
    }

    /// A row: the expression lies between two values, of which either may be open.
    fn row(&mut self, of: &Lin, low: Option<i64>, high: Option<i64>) -> Result<(), String> {
        let side =
            |value: Option<i64>, open: f64| value.map_or(Ok(open), |value| double(value.saturating_sub(of.constant)));
        self.program.row_lows.push(side(low, f64::NEG_INFINITY)?);
        self.program.row_highs.push(side(high, f64::INFINITY)?);
        self.program.starts.push(self.program.columns.len() as i32);
        for (var, k) in &of.terms {
            self.program.columns.push(*var as i32);
            self.program.factors.push(double(*k)?);
        }
        Ok(())
    }

    fn constraint(&mut self, constraint: &Constraint) -> Result<(), String> {
        match constraint {
            Constraint::Linear { of, within, when } => self.linear(of, within, when),
            Constraint::Or(lits) => self.or(lits),
            Constraint::Max { target, of } => self.max(target, of),
            Constraint::Product { target, of: [a, b] } => self.product(target, a, b),
            Constraint::NoOverlap(intervals) => self.no_overlap(intervals),
            Constraint::Cumulative { intervals, loads, limit } => self.cumulative(intervals, loads, *limit),
        }
    }

    fn or(&mut self, lits: &[Lit]) -> Result<(), String> {
        self.row(&Lin::sum(lits.iter().copied().map(Lin::lit)), Some(1), None)
    }

    /// Each literal that does not hold lets the expression go as far as it can.
    fn linear(&mut self, of: &Lin, within: &[(i64, i64)], when: &[Lit]) -> Result<(), String> {
        let of = &Lin::sum([of.clone()]);
        let (least, most) = check::reach(self.model, of);
        let range = range::between(within, least, most);
        let off = Lin::sum(when.iter().map(|lit| Lin::lit(!*lit)));
        match &*range {
            [] => self.or(&when.iter().map(|lit| !*lit).collect::<Vec<Lit>>()),
            [(low, high)] => {
                if *low == *high && when.is_empty() {
                    return self.row(of, Some(*low), Some(*high));
                }
                if *low > least {
                    self.row(&of.plus(&off.times(low - least)), Some(*low), None)?;
                }
                if *high < most {
                    self.row(&of.minus(&off.times(most - high)), None, Some(*high))?;
                }
                Ok(())
            }
            pieces => {
                let mut chosen = Lin::default();
                let (mut above, mut below) = (of.clone(), of.clone());
                for (low, high) in pieces {
                    let piece = Lin::var(self.column(0, 1)?);
                    above = above.minus(&piece.times(low - least));
                    below = below.plus(&piece.times(most - high));
                    chosen = chosen.plus(&piece);
                }
                self.row(&above, Some(least), None)?;
                self.row(&below, None, Some(most))?;
                if when.is_empty() {
                    return self.row(&chosen, Some(1), Some(1));
                }
                self.row(&chosen, None, Some(1))?;
                self.row(&chosen.plus(&off), Some(1), None)
            }
        }
    }

    fn max(&mut self, target: &Lin, of: &[Lin]) -> Result<(), String> {
        let reaches: Vec<(i64, i64)> = of.iter().map(|lin| check::reach(self.model, lin)).collect();
        let least = reaches.iter().map(|reach| reach.0).max().unwrap_or_default();
        let most = reaches.iter().map(|reach| reach.1).max().unwrap_or_default();
        let mut chosen = Lin::default();
        for (lin, (low, high)) in of.iter().zip(reaches) {
            // It never reaches what another always has.
            if high < least {
                continue;
            }
            let gap = target.minus(lin);
            self.row(&gap, Some(0), None)?;
            let choice = Lin::var(self.column(0, 1)?);
            let slack = most - low;
            self.row(&gap.plus(&choice.times(slack)), None, Some(slack))?;
            chosen = chosen.plus(&choice);
        }
        self.row(&chosen, Some(1), Some(1))
    }

    /// A product is linear if a factor is a constant or has two values only.
    fn product(&mut self, target: &Lin, a: &Lin, b: &Lin) -> Result<(), String> {
        let (a, b) = (&Lin::sum([a.clone()]), &Lin::sum([b.clone()]));
        for (factor, other) in [(a, b), (b, a)] {
            if let Some(constant) = factor.known() {
                return self.equal(target, &other.times(constant), &[]);
            }
            let [(var, k)] = *factor.terms else { continue };
            let (low, high) = self.model.bounds(var);
            if low < 0 || high > 1 {
                continue;
            }
            let yes = Lit { var, yes: true };
            self.equal(target, &other.times(factor.constant + k), &[yes])?;
            return self.equal(target, &other.times(factor.constant), &[!yes]);
        }
        Err("no linear form for a product of two numbers".to_owned())
    }

    /// Of any two that are there, one is over before the other begins.
    fn no_overlap(&mut self, intervals: &[Interval]) -> Result<(), String> {
        for (at, a) in intervals.iter().enumerate() {
            for b in &intervals[..at] {
                let mut clause: Vec<Lit> = [a, b].iter().filter_map(|it| it.used).map(|used| !used).collect();
                if self.at_most(&a.end().minus(&b.start), &mut clause)?
                    || self.at_most(&b.end().minus(&a.start), &mut clause)?
                {
                    continue;
                }
                self.or(&clause)?;
            }
        }
        Ok(())
    }

    /// At the start of each that is there, those that run are within the limit together. One runs there unless it is not there, has
    /// not begun or is over; that the other direction is left open costs nothing, as it only adds load.
    fn cumulative(&mut self, intervals: &[Interval], loads: &[i64], limit: i64) -> Result<(), String> {
        for (at, (a, load)) in intervals.iter().zip(loads).enumerate() {
            let mut sum = Lin::constant(*load);
            for (other, (b, load)) in intervals.iter().zip(loads).enumerate() {
                if other == at {
                    continue;
                }
                let mut clause: Vec<Lit> = b.used.iter().map(|used| !*used).collect();
                let not_begun = a.start.minus(&b.start).plus(&Lin::constant(1));
                if self.at_most(&not_begun, &mut clause)? || self.at_most(&b.end().minus(&a.start), &mut clause)? {
                    continue;
                }
                let runs = Lit { var: self.column(0, 1)?, yes: true };
                clause.push(runs);
                self.or(&clause)?;
                sum = sum.plus(&Lin::lit(runs).times(*load));
            }
            let (most, when) = (sum.terms.iter().map(|(_, load)| load).sum::<i64>() + sum.constant, a.used);
            if most > limit {
                let off = Lin::sum(when.iter().map(|used| Lin::lit(!*used)));
                self.row(&sum.minus(&off.times(most - limit)), None, Some(limit))?;
            }
        }
        Ok(())
    }

    /// Adds to a clause a literal of our own by which the expression is at most 0, if it can be. Says whether it always is.
    fn at_most(&mut self, of: &Lin, clause: &mut Vec<Lit>) -> Result<bool, String> {
        let (least, most) = check::reach(self.model, of);
        if most <= 0 {
            return Ok(true);
        }
        if least <= 0 {
            let lit = Lit { var: self.column(0, 1)?, yes: true };
            self.linear(of, &[(i64::MIN, 0)], &[lit])?;
            clause.push(lit);
        }
        Ok(false)
    }

    fn equal(&mut self, a: &Lin, b: &Lin, when: &[Lit]) -> Result<(), String> {
        self.linear(&a.minus(b), &[(0, 0)], when)
    }
}

fn double(value: i64) -> Result<f64, String> {
    if value.unsigned_abs() > LARGEST.unsigned_abs() {
        return Err(format!("{value} is too large for a program in doubles"));
    }
    Ok(value as f64)
}
