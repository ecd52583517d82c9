//! A small shop: what the judge gives to states of a task, and that it gives nothing at all where verifier and state do not
//! belong together.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{Digest, Value};
use benchwright_grade::{FULL, GradeError, Grader};
use benchwright_pack::{Ending, Scoring, Snapshot, SnapshotTable, Verifier, Weights};
use benchwright_schema::{
    Domain, Folder, load,
    plan::{Binding, Bindings, PartText, PlanText},
};
use std::collections::BTreeMap;

const PLAN: &str = r#"
[sorts]
order = "order"

[views.sell]
from = "order"
[views.sell.fields]
order  = "order: id"
amount = "int: amount"
origin = "text: origin"

[rules."shop/asked"]
code    = "ASKED"
family  = "demand"
require = "(sum s in sell of s.amount) >= 4"

[rules."shop/cap"]
code    = "CAP"
family  = "supply"
require = "(sum s in sell of s.amount) <= 10"

[rules."shop/origin"]
code       = "ORIGIN"
family     = "trace"
state_only = true
require    = "all s in sell s.origin = 'web'"

[rules."shop/rest"]
code   = "REST"
family = "frame"
frame  = true

[objectives.least]
phases = [{ name = "amount", of = "sum s in sell of s.amount", decay = 1, unit = 1, share = 100 }]

[objectives.any]
phases = []

[parts.sold]
of    = ["demand"]
share = 60

[parts.kept]
of    = ["supply"]
share = 40

[frame]
rule = "shop/rest"
[frame.change]
order = ["amount", "origin"]
"#;

fn domain() -> Domain {
    let files = [
        ("domain.toml", "name = \"shop\"\ntitle = \"A shop\"\nrole = \"clerk\"\nabout = \"One table.\"\n"),
        ("tables.toml", "[order]\nname = \"text\"\namount = \"int = 0\"\norigin = \"text?\"\n"),
        ("tools.toml", "list_orders = \"list order\"\n"),
        ("policy.toml", "[access]\nadmin = [\"any on *\"]\n"),
    ];
    let folder = Folder::new("shop", files.map(|(name, text)| (name.to_owned(), text.to_owned())));
    load(&folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The first state of a task with one order.
fn first(domain: &Domain, name: &str) -> Snapshot {
    let rows = vec![vec![Value::Ref(1), Value::text(name), Value::Int(0), Value::Null]];
    Snapshot {
        domain: domain.name.clone(),
        domain_digest: domain.digest,
        first: None,
        now: domain.now,
        tables: vec![SnapshotTable { next_id: 2, next_number: 1, rows }],
    }
}

/// The state after a day's work that began at a first state.
fn worked(domain: &Domain, first: &Snapshot, amount: i64, origin: &str) -> Snapshot {
    let mut last = first.clone();
    last.first = Some(Digest::of(&first.to_bytes(domain)));
    last.tables[0].rows[0][2] = Value::Int(amount);
    last.tables[0].rows[0][3] = Value::text(origin);
    last
}

fn verifier(domain: &Domain, first: &Snapshot) -> Verifier {
    Verifier {
        version: Verifier::VERSION,
        world: Digest::of(&first.to_bytes(domain)).to_string(),
        scoring: Scoring {
            trace_family: Some("trace".to_owned()),
            weights: Weights { constraints: 25, objective: 60, trace: 15 },
            broken_percent: 25,
            paper_bar_percent: 99,
        },
        plan: PlanText::from_toml("plan.toml", PLAN).unwrap_or_else(|faults| panic!("{faults:?}")),
        bindings: Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() },
        keys: BTreeMap::new(),
        objective: "least".to_owned(),
        best: vec![4],
        anchors: None,
        gates: Vec::new(),
        answer: BTreeMap::new(),
    }
}

/// Why no judge can be made of a verifier that was changed.
fn refused(change: impl FnOnce(&mut Verifier)) -> GradeError {
    let domain = domain();
    let first = first(&domain, "one");
    let mut verifier = verifier(&domain, &first);
    change(&mut verifier);
    Grader::new(&domain, &verifier, &first, &[]).map(drop).unwrap_err()
}

#[test]
fn parts_are_weighed_as_the_scoring_says() {
    let domain = domain();
    let first = first(&domain, "one");
    let mut verifier = verifier(&domain, &first);
    let graded = |verifier: &Verifier, amount: i64, origin: &str| {
        let grader = Grader::new(&domain, verifier, &first, &[]).unwrap();
        grader.grade(&worked(&domain, &first, amount, origin)).unwrap()
    };
    let best = graded(&verifier, 4, "web");
    assert_eq!((best.ending, best.reward, best.paper_pass), (Ending::Pass, FULL, true));
    // Without the trace, with a broken constraint and nothing whole that was not, and far from the best.
    assert_eq!(graded(&verifier, 4, "fax").reward, 850_000);
    let broken = graded(&verifier, 1, "web");
    assert_eq!((broken.reward, broken.progress, broken.objective), (0, 0, 0), "{:?}", broken.parts);
    let far = graded(&verifier, 8, "web");
    assert_eq!((far.objective, far.reward), (367_879, (25 * FULL + 60 * 367_879 + 15 * FULL) / 100));

    verifier.scoring = Scoring {
        trace_family: Some("trace".to_owned()),
        weights: Weights { constraints: 10, objective: 10, trace: 80 },
        broken_percent: 50,
        paper_bar_percent: 20,
    };
    assert_eq!(graded(&verifier, 4, "web").reward, FULL);
    let lost = graded(&verifier, 4, "fax");
    assert_eq!((lost.reward, lost.paper_pass), (200_000, true));
    // What was asked is there, worth 60, and a cap that held before anything was done is broken, which takes 40.
    let spoilt = graded(&verifier, 11, "web");
    assert_eq!((spoilt.progress, spoilt.reward), (200_000, 100_000));
    let counted: Vec<_> = spoilt.parts.iter().map(|part| (&*part.name, part.right, part.wrong)).collect();
    assert_eq!(counted, [("kept", 0, 1), ("sold", 1, 0)]);

    // Nothing done is a state of this task, and earns nothing.
    let grader = Grader::new(&domain, &verifier, &first, &[]).unwrap();
    let idle = grader.grade(&first).unwrap();
    assert_eq!((idle.ending, idle.reward, idle.gates), (Ending::Fail, 0, vec!["activity".to_owned()]));
}

#[test]
fn an_objective_without_phases_is_whole_and_takes_no_certified_value() {
    let domain = domain();
    let first = first(&domain, "one");
    let verifier = Verifier { objective: "any".to_owned(), best: Vec::new(), ..verifier(&domain, &first) };
    let grader = Grader::new(&domain, &verifier, &first, &[]).unwrap();
    assert_eq!(grader.grade(&worked(&domain, &first, 9, "web")).unwrap().reward, FULL);
    let told = refused(|verifier| verifier.objective = "any".to_owned());
    assert!(matches!(told, GradeError::Best { phases: 0, certified: 1, .. }), "{told}");
}

#[test]
fn an_unknown_objective_is_an_error_that_names_those_there_are() {
    let told = refused(|verifier| verifier.objective = "lest".to_owned());
    assert!(matches!(told, GradeError::Objective { .. }), "{told}");
    assert_eq!(told.to_string(), "the verifier has no objective `lest`; it has: any, least");
}

#[test]
fn a_phase_that_is_to_be_large_is_an_error_and_never_scored_the_wrong_way_round() {
    let told = refused(|verifier| {
        let least = verifier.plan.objectives.get_mut("least").unwrap();
        least.phases[0].sense = Some(benchwright_schema::plan::Sense::Max);
    });
    assert!(matches!(told, GradeError::Large(_)), "{told}");
}

#[test]
fn a_best_of_another_length_is_an_error() {
    for best in [vec![], vec![4, 4]] {
        let certified = best.len();
        let told = refused(|verifier| verifier.best = best);
        assert!(matches!(told, GradeError::Best { phases: 1, certified: had, .. } if had == certified), "{told}");
    }
}

#[test]
fn a_verifier_of_another_version_is_an_error_that_names_both() {
    let told = refused(|verifier| verifier.version = 1);
    assert!(matches!(told, GradeError::Version(1)));
    assert_eq!(told.to_string(), "the verifier is of version 1; this judge reads version 3");
}

#[test]
fn a_scoring_that_is_none_and_a_family_or_gate_that_is_not_there_are_errors() {
    let told = refused(|verifier| verifier.scoring.weights.trace = 14);
    assert!(matches!(told, GradeError::Scoring(_)), "{told}");
    let told = refused(|verifier| verifier.scoring.trace_family = Some("tracing".to_owned()));
    assert!(matches!(told, GradeError::TraceFamily(_)), "{told}");
    let told = refused(|verifier| verifier.gates.push("shop/capp".to_owned()));
    assert!(matches!(told, GradeError::Gate(_)), "{told}");
    let told = refused(|verifier| verifier.world = "somewhere".to_owned());
    assert!(matches!(told, GradeError::World(_)), "{told}");
}

#[test]
fn a_state_of_another_task_gets_no_verdict() {
    let domain = domain();
    let (own, other) = (first(&domain, "one"), first(&domain, "two"));
    let verifier = verifier(&domain, &own);
    let grader = Grader::new(&domain, &verifier, &own, &[]).unwrap();
    assert!(grader.grade(&worked(&domain, &own, 4, "web")).is_ok());

    let told = grader.grade(&worked(&domain, &other, 4, "web")).unwrap_err();
    assert!(matches!(told, GradeError::OtherTask { .. }), "{told}");
    // The first state of another task, and work that does not say where it began.
    assert!(matches!(grader.grade(&other), Err(GradeError::NoOrigin)));
    let silent = Snapshot { first: None, ..worked(&domain, &own, 4, "web") };
    assert!(matches!(grader.grade(&silent), Err(GradeError::NoOrigin)));
    let elsewhere = Snapshot { domain: "shed".to_owned(), ..worked(&domain, &own, 4, "web") };
    assert!(matches!(grader.grade(&elsewhere), Err(GradeError::OtherDomain(name)) if name == "shed"));
}

#[test]
fn rows_of_the_one_plan_count_right_less_wrong_and_a_verifier_without_them_judges_nothing() {
    let domain = domain();
    let mut first = first(&domain, "one");
    let row = |id: u32| vec![Value::Ref(id), Value::text("more"), Value::Int(0), Value::Null];
    first.tables[0].rows.extend([row(2), row(3)]);
    first.tables[0].next_id = 4;
    let mut verifier = verifier(&domain, &first);
    verifier.plan.views.get_mut("sell").unwrap().only = Some("amount > 0".to_owned());
    verifier.plan.rules.get_mut("shop/cap").unwrap().require = Some("(sum s in sell of s.amount) = 6".to_owned());
    let rows = PartText { rows: Some("sell".to_owned()), share: 100, ..PartText::default() };
    verifier.plan.parts = BTreeMap::from([("order".to_owned(), rows)]);
    let keys = [(1, "a"), (2, "b"), (3, "c")].map(|(id, key)| (id, key.to_owned()));
    verifier.bindings.members.insert("order".to_owned(), keys.iter().map(|(_, key)| key.clone()).collect());
    verifier.keys.insert("order".to_owned(), keys.into());
    let told = Grader::new(&domain, &verifier, &first, &[]).map(drop).unwrap_err();
    assert!(matches!(told, GradeError::Answer { .. }), "{told}");

    let number = |key: &str, n| {
        BTreeMap::from([("order".to_owned(), Binding::Key(key.into())), ("amount".to_owned(), Binding::Number(n))])
    };
    verifier.answer.insert("sell".to_owned(), vec![number("a", 1), number("b", 2), number("c", 3)]);
    let grader = Grader::new(&domain, &verifier, &first, &[]).unwrap();
    let progress = |amounts: [i64; 3]| {
        let mut last = worked(&domain, &first, amounts[0], "web");
        for (row, amount) in last.tables[0].rows.iter_mut().zip(amounts) {
            row[2] = Value::Int(amount);
        }
        grader.grade(&last).unwrap().progress
    };
    let amounts_and_thirds = [
        ([1, 0, 0], 1),
        ([1, 2, 0], 2),
        ([1, 2, 9], 1),
        ([1, 9, 9], 0),
        ([9, 9, 9], 0),
        ([9, 2, 3], 1),
        ([1, 2, 3], 3),
    ];
    for (amounts, thirds) in amounts_and_thirds {
        assert_eq!(progress(amounts), thirds * FULL / 3, "{amounts:?}");
    }
}
