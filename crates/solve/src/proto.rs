//! The messages of CP-SAT, as far as they are used: the names, numbers and types are those of `cp_model.proto` and
//! `sat_parameters.proto` of the pinned version, and a test compares them with the library's own descriptors.

/// A whole-number variable; its domain is a list of interval ends.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct IntegerVariableProto {
    #[prost(int64, repeated, tag = "2")]
    pub(crate) domain: Vec<i64>,
}

/// Literals; the negation of variable v is -v - 1.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BoolArgumentProto {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) literals: Vec<i32>,
}

/// A linear expression.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct LinearExpressionProto {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) coeffs: Vec<i64>,
    #[prost(int64, tag = "3")]
    pub(crate) offset: i64,
}

/// A target and the expressions it is made of.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct LinearArgumentProto {
    #[prost(message, optional, tag = "1")]
    pub(crate) target: Option<LinearExpressionProto>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) exprs: Vec<LinearExpressionProto>,
}

/// A sum that lies in a domain.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct LinearConstraintProto {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) coeffs: Vec<i64>,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) domain: Vec<i64>,
}

/// An interval, there where its constraint is enforced. Each of the three has one variable at most.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct IntervalConstraintProto {
    #[prost(message, optional, tag = "4")]
    pub(crate) start: Option<LinearExpressionProto>,
    #[prost(message, optional, tag = "5")]
    pub(crate) end: Option<LinearExpressionProto>,
    #[prost(message, optional, tag = "6")]
    pub(crate) size: Option<LinearExpressionProto>,
}

/// Intervals, by the places of their constraints, no two of which overlap.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct NoOverlapConstraintProto {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) intervals: Vec<i32>,
}

/// Intervals whose demands stay within a capacity at every time.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CumulativeConstraintProto {
    #[prost(message, optional, tag = "1")]
    pub(crate) capacity: Option<LinearExpressionProto>,
    #[prost(int32, repeated, tag = "2")]
    pub(crate) intervals: Vec<i32>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) demands: Vec<LinearExpressionProto>,
}

/// A constraint.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ConstraintProto {
    #[prost(int32, repeated, tag = "2")]
    pub(crate) enforcement_literal: Vec<i32>,
    #[prost(oneof = "ConstraintKind", tags = "3, 11, 12, 19, 20, 22, 27")]
    pub(crate) constraint: Option<ConstraintKind>,
}

/// The kinds of constraints.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum ConstraintKind {
    #[prost(message, tag = "3")]
    BoolOr(BoolArgumentProto),
    #[prost(message, tag = "11")]
    IntProd(LinearArgumentProto),
    #[prost(message, tag = "12")]
    Linear(LinearConstraintProto),
    #[prost(message, tag = "19")]
    Interval(IntervalConstraintProto),
    #[prost(message, tag = "20")]
    NoOverlap(NoOverlapConstraintProto),
    #[prost(message, tag = "22")]
    Cumulative(CumulativeConstraintProto),
    #[prost(message, tag = "27")]
    LinMax(LinearArgumentProto),
}

/// What is made smallest.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CpObjectiveProto {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    pub(crate) coeffs: Vec<i64>,
}

/// An order to decide variables in. Left out, the two strategies are `CHOOSE_FIRST` and `SELECT_MIN_VALUE`, both 0.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DecisionStrategyProto {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) variables: Vec<i32>,
}

/// Values of some variables.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PartialVariableAssignment {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) values: Vec<i64>,
}

/// A model.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CpModelProto {
    #[prost(message, repeated, tag = "2")]
    pub(crate) variables: Vec<IntegerVariableProto>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) constraints: Vec<ConstraintProto>,
    #[prost(message, optional, tag = "4")]
    pub(crate) objective: Option<CpObjectiveProto>,
    #[prost(message, repeated, tag = "5")]
    pub(crate) search_strategy: Vec<DecisionStrategyProto>,
    #[prost(message, optional, tag = "6")]
    pub(crate) solution_hint: Option<PartialVariableAssignment>,
}

/// How to search.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SatParameters {
    #[prost(int32, optional, tag = "31")]
    pub(crate) random_seed: Option<i32>,
    #[prost(double, optional, tag = "67")]
    pub(crate) max_deterministic_time: Option<f64>,
    #[prost(enumeration = "SearchBranching", optional, tag = "82")]
    pub(crate) search_branching: Option<i32>,
    #[prost(bool, optional, tag = "86")]
    pub(crate) cp_model_presolve: Option<bool>,
    #[prost(int32, optional, tag = "90")]
    pub(crate) linearization_level: Option<i32>,
    #[prost(bool, optional, tag = "135")]
    pub(crate) catch_sigint_signal: Option<bool>,
    #[prost(bool, optional, tag = "173")]
    pub(crate) keep_all_feasible_solutions_in_presolve: Option<bool>,
    #[prost(int32, optional, tag = "183")]
    pub(crate) symmetry_level: Option<i32>,
    #[prost(int32, optional, tag = "206")]
    pub(crate) num_workers: Option<i32>,
}

/// The ways to branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum SearchBranching {
    AutomaticSearch = 0,
    FixedSearch = 1,
}

/// How a solve ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum CpSolverStatus {
    Unknown = 0,
    ModelInvalid = 1,
    Feasible = 2,
    Infeasible = 3,
    Optimal = 4,
}

/// The answer.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CpSolverResponse {
    #[prost(enumeration = "CpSolverStatus", tag = "1")]
    pub(crate) status: i32,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) solution: Vec<i64>,
    #[prost(double, tag = "4")]
    pub(crate) best_objective_bound: f64,
    #[prost(double, tag = "17")]
    pub(crate) deterministic_time: f64,
    #[prost(string, tag = "20")]
    pub(crate) solution_info: String,
}
