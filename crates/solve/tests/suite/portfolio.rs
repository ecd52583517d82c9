//! A portfolio keeps the best value that the evaluator accepts and the best bound, and believes no prover beyond that.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use crate::golden::Golden;
use crate::law::{fixture, harness::objective};
use crate::support::library;
use benchwright_base::Stream;
use benchwright_schema::plan::{Bound, Plan, RuleText, Sense};
use benchwright_solve::{
    Answer, CpSat, Engine, EngineError, Highs, Limits, Lowering, Model, PhasePlanner, Portfolio, Prover, Status,
};
use benchwright_spec::{Candidate, Candidates, Cell, Outcome, Planner, Solved};

/// The case that no engine proves alone.
pub(crate) const GAP: &str = "rep-M-1";

/// An engine whose answers are bent.
struct Bent<'e, F: Fn(&Model, Result<Answer, EngineError>) -> Result<Answer, EngineError>> {
    engine: &'e CpSat,
    bend: F,
}

impl<F: Fn(&Model, Result<Answer, EngineError>) -> Result<Answer, EngineError>> Engine for Bent<'_, F> {
    fn version(&self) -> String {
        "bent".to_owned()
    }
    fn solve(&self, model: &Model, limits: &Limits) -> Result<Answer, EngineError> {
        (self.bend)(model, self.engine.solve(model, limits))
    }
}

/// A plan that buys as much as it may.
fn plan(sense: Option<Sense>, of: &str) -> (Plan, Bound, Candidates) {
    let mut text = fixture::plan_text();
    let rule = |require: &str| RuleText { require: Some(require.to_owned()), ..RuleText::default() };
    text.rules.insert("most".to_owned(), rule("(sum r() of n) <= limit()"));
    text.rules.insert("some".to_owned(), rule("exists r()"));
    let mut goal = objective(of.to_owned());
    goal.phases[0].sense = sense;
    text.objectives.insert("goal".to_owned(), goal);
    let plan = Plan::compile(&text, &fixture::things()).unwrap();
    let bound = fixture::bound(&plan);
    // Candidates of which not all can be taken whole, and none must be.
    let view = plan.view_named("r").unwrap();
    let field = plan.views[view].fields.iter().position(|field| field.name == "n").unwrap();
    let drawn = |seed| fixture::candidates(&plan, &mut Stream::new(seed, &["portfolio"]));
    let most = |candidate: &Candidate| match candidate.fields[field] {
        Cell::Fixed(value) | Cell::Free(_, value) => value,
    };
    let fits = |candidates: &Candidates| {
        candidates[view].iter().all(|candidate| !candidate.must) && candidates[view].iter().map(most).sum::<i64>() > 6
    };
    let candidates = (0..).map(drawn).find(fits).unwrap();
    (plan, bound, candidates)
}

fn portfolio<'e>(provers: Vec<(&'e dyn Engine, bool)>) -> Portfolio<'e> {
    let limits = Limits { work: 5.0, linearization: 2, fixed_search: false };
    let provers: Vec<Prover<'e>> =
        provers.into_iter().map(|(engine, exact)| Prover { engine, limits: limits.clone(), exact }).collect();
    Portfolio { hurried: provers.clone(), provers, lowering: Lowering::Shared, admitted: 0 }
}

fn solved(outcome: Outcome) -> Solved {
    match outcome {
        Outcome::Solved(solved) => *solved,
        other => panic!("{other:?}"),
    }
}

const OF: &str = "(sum r() of n) * 10 - (count s())";

#[test]
fn what_is_to_be_large_is_the_negation_of_what_is_to_be_small() {
    let Some(library) = library() else { return };
    let (cp_sat, highs) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let (plan_small, bound, candidates) = plan(None, &format!("0 - ({OF})"));
    let small = solved(PhasePlanner::new(&cp_sat).best(&plan_small, &bound, &candidates, "goal").unwrap());
    for engine in [&cp_sat as &dyn Engine, &highs] {
        let (plan, bound, candidates) = plan(Some(Sense::Max), OF);
        let large = solved(portfolio(vec![(engine, true)]).solve(&plan, &bound, &candidates, "goal").unwrap());
        let phase = &large.phases[0];
        assert_eq!((phase.value, phase.bound, phase.proved), (-small.phases[0].value, phase.value, true));
        assert_eq!((phase.provers[0].value, &*phase.provers[0].status), (Some(phase.value), "optimal"));
        let error = PhasePlanner::new(engine).solve(&plan, &bound, &candidates, "goal").unwrap_err();
        assert!(error.to_string().contains("to be large"), "{error}");
    }
}

#[test]
fn a_prover_that_fails_or_whose_plan_is_refused_does_not_count() {
    let Some(library) = library() else { return };
    let cp_sat = CpSat::load(&library).unwrap();
    let (plan, bound, candidates) = plan(Some(Sense::Max), OF);
    let fails = Bent {
        engine: &cp_sat,
        bend: |_: &Model, _| Err(EngineError::Failed { engine: "bent", why: "no form for it".to_owned() }),
    };
    // Every variable as large as it can be: more is bought than may be.
    let greedy = Bent {
        engine: &cp_sat,
        bend: |model: &Model, answer| {
            let point = (0..model.vars.len() as u32).map(|var| model.bounds(var).1).collect();
            answer.map(|answer: Answer| Answer { point, bound: -10_000, status: Status::Feasible, ..answer })
        },
    };
    let nothing = Bent {
        engine: &cp_sat,
        bend: |_: &Model, answer| answer.map(|answer: Answer| Answer { status: Status::Infeasible, ..answer }),
    };
    let provers: Vec<(&dyn Engine, bool)> = vec![(&fails, true), (&greedy, true), (&nothing, false), (&cp_sat, true)];
    let found = solved(portfolio(provers).solve(&plan, &bound, &candidates, "goal").unwrap());
    let said: Vec<&str> = found.phases[0].provers.iter().map(|said| &*said.status).collect();
    assert_eq!(said, ["failed", "refused", "infeasible", "optimal"]);
    let alone = solved(portfolio(vec![(&cp_sat, true)]).solve(&plan, &bound, &candidates, "goal").unwrap());
    assert_eq!(found.phases[0].value, alone.phases[0].value);
    // Where an engine in whole numbers says so, there is no plan.
    let outcome = portfolio(vec![(&nothing, true)]).solve(&plan, &bound, &candidates, "goal").unwrap();
    assert_eq!(outcome, Outcome::Infeasible);
}

#[test]
fn provers_that_contradict_each_other_are_an_error() {
    let Some(library) = library() else { return };
    let cp_sat = CpSat::load(&library).unwrap();
    let (plan, bound, candidates) = plan(None, OF);
    let open = Bent {
        engine: &cp_sat,
        bend: |_: &Model, answer| {
            answer.map(|answer: Answer| Answer { status: Status::Feasible, bound: answer.bound - 7, ..answer })
        },
    };
    let wrong = Bent {
        engine: &cp_sat,
        bend: |_: &Model, answer| {
            answer.map(|answer: Answer| Answer { status: Status::Feasible, bound: answer.bound + 5, ..answer })
        },
    };
    let provers: Vec<(&dyn Engine, bool)> = vec![(&open, true), (&wrong, true)];
    let error = portfolio(provers).solve(&plan, &bound, &candidates, "goal").unwrap_err();
    assert!(error.to_string().contains("contradict"), "{error}");
}

#[test]
fn a_gap_is_solved_only_where_it_is_admitted_and_the_best_of_both_is_kept() {
    let Some(library) = library() else { return };
    let cp_sat = CpSat::load(&library).unwrap();
    let (plan, bound, candidates) = plan(Some(Sense::Max), OF);
    let open = |less: i64| Bent {
        engine: &cp_sat,
        bend: move |_: &Model, answer: Result<Answer, EngineError>| {
            answer.map(|answer| Answer { status: Status::Feasible, bound: answer.bound - less, ..answer })
        },
    };
    let (far, near) = (open(9), open(2));
    let mut portfolio = portfolio(vec![(&far, true), (&near, true)]);
    assert_eq!(portfolio.solve(&plan, &bound, &candidates, "goal").unwrap(), Outcome::Unproved);
    portfolio.admitted = 500;
    let phase = &solved(portfolio.solve(&plan, &bound, &candidates, "goal").unwrap()).phases[0];
    assert_eq!((phase.bound, phase.proved, phase.provers.len()), (phase.value + 2, false, 2));
    let json = serde_json::to_value(phase).unwrap();
    assert_eq!(json["provers"][0]["bound"], phase.value + 9);
    let rows = portfolio.some_plan(&plan, &bound, &candidates, "goal", None).unwrap();
    assert!(rows.is_some_and(|rows| !rows.0.iter().all(Vec::is_empty)));
}

#[test]
fn the_usual_order_proves_a_case_at_its_first_prover() {
    let Some(library) = library() else { return };
    let (cp_sat, highs) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let golden = Golden::load("vrp-M-1");
    let mut portfolio = Portfolio::new(&cp_sat, &highs);
    let found = solved(
        portfolio
            .solve(&golden.problem.plan, &golden.problem.bound, &golden.problem.candidates, &golden.problem.objective)
            .unwrap(),
    );
    assert_eq!((found.phases[0].value, found.phases[0].bound), (golden.value, golden.least));
    assert_eq!((golden.problem.judged(&found.rows), found.phases[0].provers.len()), ((Some(golden.value), 0), 1));
    portfolio.provers.retain(|prover| !prover.exact);
    let found = solved(
        portfolio
            .solve(&golden.problem.plan, &golden.problem.bound, &golden.problem.candidates, &golden.problem.objective)
            .unwrap(),
    );
    assert_eq!((found.phases[0].value, found.phases[0].proved), (golden.value, true), "HiGHS alone");
}

#[test]
#[ignore = "it takes minutes: CP-SAT twice and 20,000 nodes of HiGHS; scripts/golden runs it"]
fn two_engines_know_more_than_either() {
    let Some(library) = library() else { return };
    let (cp_sat, highs) = (CpSat::load(&library).unwrap(), Highs::load(&library).unwrap());
    let golden = Golden::load(GAP);
    let mut portfolio = Portfolio { admitted: 5, ..Portfolio::new(&cp_sat, &highs) };
    let found = solved(
        portfolio
            .solve(&golden.problem.plan, &golden.problem.bound, &golden.problem.candidates, &golden.problem.objective)
            .unwrap(),
    );
    let phase = &found.phases[0];
    println!("{GAP}: value {}, bound {}, provers {:#?}", phase.value, phase.bound, phase.provers);
    assert!(phase.value <= golden.value && phase.bound >= golden.least, "{phase:?}");
    assert_eq!(golden.problem.judged(&found.rows), (Some(phase.value), 0));
}
