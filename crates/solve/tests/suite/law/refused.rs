//! What a model cannot say is refused with a reason, never read as something else.

use super::fixture;
use benchwright_expr::{Scope, check_truth, check_value};
use benchwright_schema::plan::{Plan, RuleText};
use benchwright_solve::Lower;
use benchwright_spec::{Candidate, Candidates, Cell};

fn free_rows(plan: &Plan) -> Candidates {
    let fields = |view: &str, field: &str| match (view, field) {
        (_, "p" | "q") => Cell::Free(1, 3),
        (_, "b") => Cell::Free(0, 1),
        ("t", _) => Cell::Fixed(1),
        _ => Cell::Free(-9_000, 9_000),
    };
    let row = |view: usize| {
        let view = &plan.views[view];
        Candidate::single(view.name == "t", view.fields.iter().map(|field| fields(&view.name, &field.name)).collect())
    };
    (0..plan.views.len()).map(|view| vec![row(view), row(view)]).collect()
}

/// Reads a number, a truth and a rule, and says why it could not.
fn refusals(texts: &[(&str, &str)]) {
    let mut text = fixture::plan_text();
    text.facts.insert("partial".to_owned(), "(int): int".to_owned());
    text.facts.insert("of_flag".to_owned(), "(bool): int else 3".to_owned());
    text.facts.insert("vast".to_owned(), "(): int else 1000000000000000000".to_owned());
    let domain = fixture::things();
    for (source, why) in texts {
        let mut text = text.clone();
        let (per, source) = match source.split_once(": ") {
            Some((per, body)) if per.starts_with("per ") => (Some(per[4..].to_owned()), body),
            _ => (None, *source),
        };
        let require = Some(if per.is_some() { source } else { "true" }.to_owned());
        text.rules.insert("rule".to_owned(), RuleText { per, require, ..RuleText::default() });
        let plan = Plan::compile(&text, &domain).unwrap_or_else(|faults| panic!("{faults}"));
        let bound = fixture::bound(&plan);
        let candidates = free_rows(&plan);
        let mut lower = Lower::new(&plan, &bound, &candidates);
        let spelled = text.spelled_out(source);
        let read = if plan.rules[0].text.per.is_some() {
            lower.all_instances().map(|_| ())
        } else if let Ok(truth) = check_truth(&spelled, &plan, Scope::default()) {
            lower.formula(&truth).map(|_| ())
        } else {
            let (number, _) = check_value(&spelled, &plan, Scope::default(), None).unwrap();
            lower.number(&number).map(|_| ())
        };
        let error = read.expect_err(source).to_string();
        assert!(error.contains(why), "{source}: {error:?} lacks {why:?}");
        // The refusal is no fault of the next reading.
        let sound = check_truth("exists r()", &plan, Scope::default()).unwrap();
        lower.formula(&sound).unwrap();
    }
}

#[test]
fn rows_that_may_be_missing_have_no_value() {
    refusals(&[
        ("r(x > 1).x + 1", "lookup"),
        ("min r() of x", "without `else`"),
        ("1 + (max v in s of v.z)", "without `else`"),
        ("exists v in r where s(z = v.x).m > 2", "lookup"),
        ("r(x = 1) = null", "`null`"),
        ("for v in r: v.id.x > 1", "a path leads over"),
        ("exists r(id.x > 1)", "a path leads over"),
        ("sum r() of length('abc') * x", "`length`"),
        ("now > now + 1 days", "`now`"),
    ]);
}

#[test]
fn facts_are_read_only_where_they_are_stated() {
    refusals(&[
        ("sum v in r of pair(v.p, v.q)", "two arguments that are decided"),
        ("partial(3)", "is not stated"),
        ("sum v in r of partial(v.x)", "too wide"),
        ("sum v in t of partial(v.k + (count r()))", "is not stated"),
        ("sum v in r of of_flag(v.b)", "a condition"),
    ]);
}

#[test]
fn what_is_scored_by_instances_is_not_decided() {
    refusals(&[
        ("per v in r: v.x > 1", "`per` ranges over what is decided"),
        ("per v in t where (exists r()): v.k > 1", "`per` ranges over what is decided"),
        ("per v in t where r(x = 1).x = 2: v.k > 1", "lookup"),
    ]);
}

#[test]
fn numbers_that_could_leave_their_range_are_refused() {
    refusals(&[
        ("(sum r() of x) * 4000000000000000", "too large"),
        ("vast() + vast() > 1", "too large"),
        ("vast() * (count r()) > 1", "too large"),
        ("(sum v in -9..9 of vast()) > 1", "too large"),
        ("abs(sum r() of x * x * x * x * x) > 1", "too large"),
        ("((sum r() of x) * 1000000000) days > 1 days", "too large"),
        ("(max v in r of vast() else -vast()) > 1", "too large"),
        ("1000000000000000000 * 3 > (count r())", "too large"),
    ]);
    // Distinct values are taken apart one by one.
    refusals(&[("count distinct v in r of v.x", "too wide")]);
}
