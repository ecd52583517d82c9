//! The scoring that the compiler writes into every verifier: what each part of a reward weighs, and what counts as traceability.

use benchwright_pack::{Scoring, Weights};
use benchwright_schema::plan::PlanText;

/// The family of rules that ask for the trace of the work, such as the origin on a document.
const TRACE_FAMILY: &str = "trace";
/// The constraints weigh a quarter, what was achieved weighs most, and that it can be followed afterwards the rest.
const WEIGHTS: Weights = Weights { constraints: 25, objective: 60, trace: 15 };
/// Broken constraints leave a quarter of the progress, and a state that breaks none has a quarter before anything is achieved: no
/// gain by breaking them.
const BROKEN_PERCENT: i64 = 25;
/// The bar of the paper that the ERP suite follows.
const PAPER_BAR_PERCENT: i64 = 99;
/// The quality above which the paper that the planning suite follows counts a task as passed.
const QUALITY_BAR_PERCENT: i64 = 40;

/// The scoring of a task that is judged by these rules.
pub fn scoring(plan: &PlanText) -> Scoring {
    // What the frame judges is a gate and no share of anything.
    let traced = plan.rules.values().any(|rule| rule.family == TRACE_FAMILY && !rule.frame);
    Scoring {
        trace_family: traced.then(|| TRACE_FAMILY.to_owned()),
        weights: WEIGHTS,
        broken_percent: BROKEN_PERCENT,
        paper_bar_percent: PAPER_BAR_PERCENT,
    }
}

/// The scoring of a task whose reward is the quality of a plan that breaks no rule, and nothing where one is broken.
pub fn anchored() -> Scoring {
    Scoring {
        trace_family: None,
        weights: Weights { constraints: 0, objective: 100, trace: 0 },
        broken_percent: 0,
        paper_bar_percent: QUALITY_BAR_PERCENT,
    }
}
