//! CP-SAT, the first engine: one thread, one seed, limits in deterministic work. The same model gives the same answer.

use crate::{
    Answer, Constraint, Engine, EngineError, Interval, Library, Limits, Lin, Lit, Model, Range, Status, check,
    ffi::Ortools,
    proto::{
        BoolArgumentProto, ConstraintKind, ConstraintProto, CpModelProto, CpObjectiveProto, CpSolverResponse,
        CpSolverStatus, CumulativeConstraintProto, DecisionStrategyProto, IntegerVariableProto,
        IntervalConstraintProto, LinearArgumentProto, LinearConstraintProto, LinearExpressionProto,
        NoOverlapConstraintProto, PartialVariableAssignment, SatParameters, SearchBranching,
    },
    range,
};
use prost::Message as _;

const ENGINE: &str = "CP-SAT";
const SEED: i32 = 7;
/// The solver's bound is a double; what is this close to a whole number is that number.
const BOUND_SLACK: f64 = 1e-6;

/// A model and its parameters in the library's own form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    model: Vec<u8>,
    parameters: Vec<u8>,
}

/// CP-SAT of the library.
#[derive(Clone)]
pub struct CpSat {
    ortools: Ortools,
    version: String,
    presolve: bool,
}

impl CpSat {
    /// Loads it; later loads of the same library cost nothing.
    pub fn load(library: &Library) -> Result<CpSat, EngineError> {
        let ortools = Ortools::open(&library.cp_sat()).map_err(EngineError::NotThere)?;
        Ok(CpSat { version: ortools.version(), ortools, presolve: true })
    }

    /// The same engine without presolve. It is two to four times as fast on models of a few dozen variables that are
    /// easy, and slower on hard ones. It may come to another of several best points.
    #[must_use]
    pub fn without_presolve(self) -> CpSat {
        CpSat { presolve: false, ..self }
    }

    /// The version of the library, as it names itself.
    pub fn library_version(&self) -> &str {
        &self.version
    }

    /// What the library is given for a model.
    pub fn message(&self, model: &Model, limits: &Limits) -> Message {
        let model = Writer::write(model, limits).encode_to_vec();
        Message { model, parameters: self.parameters(limits).encode_to_vec() }
    }

    /// Gives the library a message and takes its response as it is, unread.
    pub fn respond(&self, message: &Message) -> Result<Vec<u8>, EngineError> {
        self.ortools.solve(&message.model, &message.parameters).map_err(failed)
    }

    fn parameters(&self, limits: &Limits) -> SatParameters {
        let mut parameters = SatParameters {
            num_workers: Some(1),
            random_seed: Some(SEED),
            max_deterministic_time: Some(limits.work),
            linearization_level: Some(i32::from(limits.linearization)),
            cp_model_presolve: Some(self.presolve),
            // A library has no business with the process's signals.
            catch_sigint_signal: Some(false),
            ..SatParameters::default()
        };
        if limits.fixed_search {
            parameters.set_search_branching(SearchBranching::FixedSearch);
            // Presolve must not take away the very point that the search would come to first.
            parameters.keep_all_feasible_solutions_in_presolve = Some(true);
            parameters.symmetry_level = Some(0);
        }
        parameters
    }
}

impl Engine for CpSat {
    fn version(&self) -> String {
        format!("{ENGINE} {}", self.version)
    }

    fn solve(&self, model: &Model, limits: &Limits) -> Result<Answer, EngineError> {
        if let Some(fault) = check::fault(model) {
            return Err(failed(fault));
        }
        let response = self.respond(&self.message(model, limits))?;
        let response = CpSolverResponse::decode(&*response).map_err(|error| failed(error.to_string()))?;
        read(model, &response)
    }
}

fn failed(why: impl Into<String>) -> EngineError {
    EngineError::Failed { engine: ENGINE, why: why.into() }
}

/// Reads the response, and holds its point to the model.
fn read(model: &Model, response: &CpSolverResponse) -> Result<Answer, EngineError> {
    let status = match response.status() {
        CpSolverStatus::Unknown => Status::Unknown,
        CpSolverStatus::Feasible => Status::Feasible,
        CpSolverStatus::Infeasible => Status::Infeasible,
        CpSolverStatus::Optimal => Status::Optimal,
        CpSolverStatus::ModelInvalid => return Err(failed(format!("invalid model: {}", response.solution_info))),
    };
    let mut answer = Answer { status, point: Vec::new(), bound: 0, work: response.deterministic_time };
    if matches!(status, Status::Feasible | Status::Optimal) {
        // Variables of our own making come after the model's.
        let point = response.solution.get(..model.vars.len()).ok_or_else(|| failed("its point is too short"))?;
        if let Some(broken) = check::first_violated(model, point) {
            return Err(failed(format!("its point does not hold: {broken:?}")));
        }
        answer.point = point.to_vec();
    }
    let Some(objective) = model.minimise.as_ref().filter(|_| status != Status::Infeasible) else {
        return Ok(answer);
    };
    let (least, _) = check::reach(model, objective);
    answer.bound = if objective.terms.is_empty() || status == Status::Unknown {
        // A search that never began gives the bound 0 for any objective, so a bound without a point is not believed.
        least
    } else {
        let bound = (response.best_objective_bound - BOUND_SLACK).ceil() as i64;
        bound.saturating_add(objective.constant).max(least)
    };
    if !answer.point.is_empty() {
        let value = objective.at(&answer.point);
        if answer.bound > value || (status == Status::Optimal && answer.bound != value) {
            return Err(failed(format!("it claims the bound {} for the objective {value}", answer.bound)));
        }
    }
    Ok(answer)
}

/// Writes a model as a message.
struct Writer<'a> {
    model: &'a Model,
    message: CpModelProto,
}

impl Writer<'_> {
    fn write(model: &Model, limits: &Limits) -> CpModelProto {
        let variables = model.vars.iter().map(|domain| IntegerVariableProto { domain: flat(&range::tidy(domain)) });
        let mut writer =
            Writer { model, message: CpModelProto { variables: variables.collect(), ..CpModelProto::default() } };
        for constraint in &model.constraints {
            writer.constraint(constraint);
        }
        let mut message = writer.message;
        message.objective = model.minimise.as_ref().filter(|lin| !lin.terms.is_empty()).map(|lin| {
            let (vars, coeffs) = columns(lin);
            CpObjectiveProto { vars, coeffs }
        });
        if limits.fixed_search {
            message.search_strategy = vec![DecisionStrategyProto { variables: (0..model.vars.len() as i32).collect() }];
        } else if !model.hint.is_empty() {
            let (vars, values) = model.hint.iter().map(|(var, value)| (*var as i32, *value)).unzip();
            message.solution_hint = Some(PartialVariableAssignment { vars, values });
        }
        message
    }

    fn constraint(&mut self, constraint: &Constraint) {
        match constraint {
            Constraint::Linear { of, within, when } => {
                let domain = range::less(within, of.constant);
                if domain.is_empty() {
                    let literals = when.iter().map(|lit| reference(!*lit)).collect();
                    return self.push(ConstraintKind::BoolOr(BoolArgumentProto { literals }), &[]);
                }
                let (vars, coeffs) = columns(of);
                let linear = LinearConstraintProto { vars, coeffs, domain: flat(&domain) };
                self.push(ConstraintKind::Linear(linear), when);
            }
            Constraint::Or(lits) => {
                let literals = lits.iter().copied().map(reference).collect();
                self.push(ConstraintKind::BoolOr(BoolArgumentProto { literals }), &[]);
            }
            Constraint::Max { target, of } => {
                let target = Some(expression(target));
                let exprs = of.iter().map(expression).collect();
                self.push(ConstraintKind::LinMax(LinearArgumentProto { target, exprs }), &[]);
            }
            Constraint::Product { target, of } => {
                let target = Some(self.with_one_variable(target));
                let exprs = of.iter().map(|lin| self.with_one_variable(lin)).collect();
                self.push(ConstraintKind::IntProd(LinearArgumentProto { target, exprs }), &[]);
            }
            Constraint::NoOverlap(intervals) => {
                let intervals = intervals.iter().map(|interval| self.interval(interval)).collect();
                self.push(ConstraintKind::NoOverlap(NoOverlapConstraintProto { intervals }), &[]);
            }
            Constraint::Cumulative { intervals, loads, limit } => {
                let intervals = intervals.iter().map(|interval| self.interval(interval)).collect();
                let capacity = Some(expression(&Lin::constant(*limit)));
                let demands = loads.iter().map(|load| expression(&Lin::constant(*load))).collect();
                let cumulative = CumulativeConstraintProto { capacity, intervals, demands };
                self.push(ConstraintKind::Cumulative(cumulative), &[]);
            }
        }
    }

    /// Writes an interval as a constraint and gives its place.
    fn interval(&mut self, Interval { start, size, used }: &Interval) -> i32 {
        let start = self.with_one_variable(start);
        let end = LinearExpressionProto { offset: start.offset + size, ..start.clone() };
        let size = Some(expression(&Lin::constant(*size)));
        let when: Vec<Lit> = used.iter().copied().collect();
        let interval = IntervalConstraintProto { start: Some(start), end: Some(end), size };
        self.push(ConstraintKind::Interval(interval), &when);
        self.message.constraints.len() as i32 - 1
    }

    fn push(&mut self, kind: ConstraintKind, when: &[Lit]) {
        let enforcement_literal = when.iter().copied().map(reference).collect();
        self.message.constraints.push(ConstraintProto { enforcement_literal, constraint: Some(kind) });
    }

    /// Parts of a product and starts of intervals have at most one variable each; a longer sum gets a variable of its own.
    fn with_one_variable(&mut self, lin: &Lin) -> LinearExpressionProto {
        if lin.terms.len() < 2 {
            return expression(lin);
        }
        let (low, high) = check::reach(self.model, lin);
        let sum = self.message.variables.len() as i32;
        self.message.variables.push(IntegerVariableProto { domain: vec![low, high] });
        let (mut vars, mut coeffs) = columns(lin);
        vars.push(sum);
        coeffs.push(-1);
        let equal = LinearConstraintProto { vars, coeffs, domain: vec![-lin.constant, -lin.constant] };
        self.push(ConstraintKind::Linear(equal), &[]);
        LinearExpressionProto { vars: vec![sum], coeffs: vec![1], offset: 0 }
    }
}

fn columns(lin: &Lin) -> (Vec<i32>, Vec<i64>) {
    lin.terms.iter().map(|(var, k)| (*var as i32, *k)).unzip()
}

fn expression(lin: &Lin) -> LinearExpressionProto {
    let (vars, coeffs) = columns(lin);
    LinearExpressionProto { vars, coeffs, offset: lin.constant }
}

/// A literal as CP-SAT writes it.
fn reference(lit: Lit) -> i32 {
    let var = lit.var as i32;
    if lit.yes { var } else { -var - 1 }
}

fn flat(range: &Range) -> Vec<i64> {
    range.iter().flat_map(|(low, high)| [*low, *high]).collect()
}
