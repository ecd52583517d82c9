//! A model as plain data: whole-number variables, linear and logical constraints, one linear expression to make small.
//! [`crate::Lower`] makes it of rules, and each engine reads it in its own way.

/// A variable, by its place in the model.
pub type Var = u32;

/// A literal: a 0/1 variable that must be 1 (`yes`) or 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit {
    /// The variable, whose domain is 0..1.
    pub var: Var,
    /// Whether it must be 1.
    pub yes: bool,
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit { var: self.var, yes: !self.yes }
    }
}

/// A linear expression: coefficients by variable (ascending, none zero) and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lin {
    /// Each variable with its coefficient.
    pub terms: Vec<(Var, i64)>,
    /// What is added to the terms.
    pub constant: i64,
}

impl Lin {
    /// A number without variables.
    pub fn constant(constant: i64) -> Lin {
        Lin { terms: Vec::new(), constant }
    }

    /// One variable with the coefficient 1.
    pub fn var(var: Var) -> Lin {
        Lin { terms: vec![(var, 1)], constant: 0 }
    }

    /// 1 where the literal holds, else 0.
    pub fn lit(lit: Lit) -> Lin {
        if lit.yes { Lin::var(lit.var) } else { Lin { terms: vec![(lit.var, -1)], constant: 1 } }
    }

    /// The constant it is, if it has no variables.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The expression times a factor.
    #[must_use]
    pub fn times(&self, factor: i64) -> Lin {
        if factor == 0 {
            return Lin::default();
        }
        let terms = self.terms.iter().map(|(var, k)| (*var, k * factor)).collect();
        Lin { terms, constant: self.constant * factor }
    }

    /// The sum of many.
    pub fn sum(parts: impl IntoIterator<Item = Lin>) -> Lin {
        let mut total = Lin::default();
        for part in parts {
            total.constant += part.constant;
            total.terms.extend(part.terms);
        }
        total.tidy();
        total
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(&self, other: &Lin) -> Lin {
        Lin::sum([self.clone(), other.clone()])
    }

    /// The difference of two.
    #[must_use]
    pub fn minus(&self, other: &Lin) -> Lin {
        Lin::sum([self.clone(), other.times(-1)])
    }

    /// Its value at a point.
    pub fn at(&self, point: &[i64]) -> i64 {
        self.constant + self.terms.iter().map(|(var, k)| k * point[*var as usize]).sum::<i64>()
    }

    fn tidy(&mut self) {
        self.terms.sort_unstable();
        let mut kept: Vec<(Var, i64)> = Vec::with_capacity(self.terms.len());
        for (var, k) in self.terms.drain(..) {
            match kept.last_mut() {
                Some(last) if last.0 == var => last.1 += k,
                _ => kept.push((var, k)),
            }
        }
        kept.retain(|(_, k)| *k != 0);
        self.terms = kept;
    }
}

/// The values a linear expression may take: closed intervals, ascending and apart; `i64::MIN` and `i64::MAX` are open ends.
pub type Range = Vec<(i64, i64)>;

/// A stretch of time that may or may not be there: from its start until before its start plus its size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Where it begins.
    pub start: Lin,
    /// How long it is, at least 1.
    pub size: i64,
    /// The literal that says that it is there; none for always.
    pub used: Option<Lit>,
}

impl Interval {
    /// Where it is over.
    pub fn end(&self) -> Lin {
        self.start.plus(&Lin::constant(self.size))
    }
}

/// A constraint of one of the six kinds that both engines can read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constraint {
    /// If every literal of `when` holds, the expression lies in the range.
    Linear {
        /// The expression that is bounded.
        of: Lin,
        /// The values that it may take.
        within: Range,
        /// The literals that switch it on; none for always.
        when: Vec<Lit>,
    },
    /// At least one literal holds.
    Or(Vec<Lit>),
    /// `target` equals the largest of the expressions.
    Max {
        /// The expression that equals the maximum.
        target: Lin,
        /// The expressions that the maximum is of; never empty.
        of: Vec<Lin>,
    },
    /// `target` equals the product of two.
    Product {
        /// The expression that equals the product.
        target: Lin,
        /// The two factors.
        of: [Lin; 2],
    },
    /// No two of the intervals that are there overlap.
    NoOverlap(Vec<Interval>),
    /// At no time do the loads of the intervals that run add up to more than the limit.
    Cumulative {
        /// The intervals.
        intervals: Vec<Interval>,
        /// What each of them weighs, at least 0.
        loads: Vec<i64>,
        /// The limit, at least 0.
        limit: i64,
    },
}

/// A model: variables with their ranges, constraints, and one thing to minimise.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    /// The domain of each variable, never empty and never open.
    pub vars: Vec<Range>,
    /// What has to hold, all of it at once.
    pub constraints: Vec<Constraint>,
    /// What is made smallest; without one any solution will do.
    pub minimise: Option<Lin>,
    /// A point to begin the search at: some variables with a value each.
    pub hint: Vec<(Var, i64)>,
}

impl Model {
    /// A new variable between two bounds.
    pub fn var(&mut self, low: i64, high: i64) -> Var {
        self.vars.push(vec![(low, high)]);
        (self.vars.len() - 1) as Var
    }

    /// Makes a new 0-1 variable and gives it as a literal.
    pub fn lit(&mut self) -> Lit {
        Lit { var: self.var(0, 1), yes: true }
    }

    /// The least and the greatest value of a variable.
    pub fn bounds(&self, var: Var) -> (i64, i64) {
        let range = &self.vars[var as usize];
        (range.first().map_or(0, |r| r.0), range.last().map_or(0, |r| r.1))
    }

    /// The least and the greatest value of an expression over its variables' domains.
    pub fn bounds_of(&self, of: &Lin) -> (i64, i64) {
        of.terms.iter().fold((of.constant, of.constant), |(low, high), (var, k)| {
            let (a, b) = self.bounds(*var);
            if *k > 0 { (low + k * a, high + k * b) } else { (low + k * b, high + k * a) }
        })
    }
}

/// How hard to try. Limits are deterministic work, never time.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// Deterministic work, in the engine's own unit.
    pub work: f64,
    /// How much of the model is given to linear relaxations (1 or 2).
    pub linearization: u8,
    /// Whether to keep to one fixed search: variables in order, smallest value first. Without an objective CP-SAT then
    /// gives the first point in that order, and it takes no hint.
    pub fixed_search: bool,
}

/// How a solve ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The point is best, and that is proved.
    Optimal,
    /// A point was found.
    Feasible,
    /// There is no point, and that is proved.
    Infeasible,
    /// The work ran out.
    Unknown,
}

/// What an engine answered.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Whether a point was found, and whether it was proved best.
    pub status: Status,
    /// The value of every variable; empty without a point.
    pub point: Vec<i64>,
    /// A proved lower bound of the objective (0 without one).
    pub bound: i64,
    /// The work that was done.
    pub work: f64,
}

/// Why an engine gave no answer at all.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The library is not there.
    #[error("the solver library is not here: {0}; get it with: {fetch}", fetch = crate::FETCH)]
    NotThere(String),
    /// The engine refused the model or failed.
    #[error("{engine} failed: {why}")]
    Failed {
        /// The engine's name, such as `cp-sat`.
        engine: &'static str,
        /// The engine's own message.
        why: String,
    },
}

/// What is known of a model whose variables need not be whole.
pub struct Relaxed {
    /// The multiplier of each row of the model's linear form.
    pub prices: Vec<f64>,
    /// The best point, a value for each variable; none where there is no point, which the multipliers then show.
    pub point: Option<Vec<f64>>,
}

/// A solver: takes a model as plain data and gives the best point, or proves that there is none.
pub trait Engine {
    /// Its name and version, for certificates.
    fn version(&self) -> String;
    /// Solves a model.
    fn solve(&self, model: &Model, limits: &Limits) -> Result<Answer, EngineError>;
    /// A model's linear relaxation, solved, if it is an engine that knows it.
    fn relaxed(&self, _model: &Model) -> Result<Option<Relaxed>, EngineError> {
        Ok(None)
    }
}
