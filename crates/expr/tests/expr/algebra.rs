//! A second algebra over the same walk: values and truths as formulas in text, candidate rows that may or may not exist.
//! It stands for a solver's lowering and shows what the walk hands over and what it decides by itself.

use crate::fixture::{HelpDesk, ON_CASE, truth};
use benchwright_base::{FactId, FieldId, RelationId, SetId, Value};
use benchwright_expr::walk::{self, Algebra, Bound, EachRow, Test};
use benchwright_expr::{
    Compare, Expr, FoldKind, Function, Names, Scope, TestOp, TextOp, Unit, check_truth, check_value,
};
use std::ops::ControlFlow;

/// A truth: known, or a formula.
#[derive(Clone, PartialEq, Debug)]
enum Formula {
    Known(bool),
    Open(String),
}

impl Formula {
    fn show(&self) -> String {
        match self {
            Formula::Known(known) => known.to_string(),
            Formula::Open(text) => text.clone(),
        }
    }
}

/// Two candidate rows of every relation: `case1`, which exists, and `case2?`, which may not.
#[derive(Default)]
struct Symbols {
    compared: usize,
}

fn show(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        other => format!("{other:?}"),
    }
}

fn guarded<T>(items: &[(Formula, T)], shown: impl Fn(&T) -> String) -> String {
    items.iter().map(|(guard, item)| format!("{}: {}", guard.show(), shown(item))).collect::<Vec<_>>().join("; ")
}

impl Algebra for Symbols {
    type Value = String;
    type Truth = Formula;
    type Row = String;
    type Folding = (FoldKind, Vec<(Formula, String)>);

    fn constant(&mut self, value: &Value) -> String {
        show(value)
    }
    fn truth(&mut self, known: bool) -> Formula {
        Formula::Known(known)
    }
    fn known(&self, truth: &Formula) -> Option<bool> {
        match truth {
            Formula::Known(known) => Some(*known),
            Formula::Open(_) => None,
        }
    }
    fn now(&mut self) -> String {
        "now".into()
    }
    fn actor(&mut self) -> Option<String> {
        Some("actor".into())
    }
    fn subject_before(&mut self) -> Option<String> {
        Some("before".into())
    }
    fn created(&mut self) -> Formula {
        Formula::Open("created".into())
    }
    fn deleted(&mut self) -> Formula {
        Formula::Known(false)
    }
    fn changed(&mut self, field: FieldId) -> Formula {
        Formula::Open(format!("changed {}", field.0))
    }
    fn field(&mut self, row: &String, field: FieldId) -> String {
        if field == FieldId::ID { row.clone() } else { format!("{row}.{}", field.0) }
    }
    fn follow(&mut self, _: &String, value: &String, _: RelationId) -> Option<String> {
        Some(value.clone())
    }
    fn select(&mut self, relation: RelationId, tests: &[Test<'_, String>], each: &mut EachRow<'_, Self>) {
        let name = HelpDesk.relation_name(relation).to_owned();
        for (row, mut guards) in [(format!("{name}1"), vec![]), (format!("{name}2"), vec![format!("{name}2?")])] {
            for test in tests {
                let left = test.path.iter().fold(row.clone(), |row, (_, field)| self.field(&row, *field));
                match test.op {
                    TestOp::Compare(op) => guards.push(format!("{left} {op:?} {}", test.with.values()[0])),
                    op => guards.push(format!("{left} {op:?} {:?}", test.with.values())),
                }
            }
            let guard = if guards.is_empty() { Formula::Known(true) } else { Formula::Open(guards.join(" & ")) };
            if each(self, row, guard) == ControlFlow::Break(()) {
                return;
            }
        }
    }
    fn member(&mut self, _: SetId, at: usize) -> Option<String> {
        ["m1", "m2"].get(at).map(|&member| member.into())
    }
    fn add(&mut self, a: String, b: String) -> String {
        format!("({a} + {b})")
    }
    fn sub(&mut self, a: String, b: String) -> String {
        format!("({a} - {b})")
    }
    fn mul(&mut self, a: String, b: String) -> String {
        format!("({a} * {b})")
    }
    fn span(&mut self, count: String, unit: Unit) -> String {
        format!("{count} {unit:?}")
    }
    fn call(&mut self, function: &Function, arguments: Vec<String>) -> String {
        format!("{function:?}({})", arguments.join(", "))
    }
    fn fact(&mut self, fact: FactId, arguments: &[String]) -> String {
        format!("fact{}({})", fact.0, arguments.join(", "))
    }
    fn fold(&mut self, kind: FoldKind) -> Self::Folding {
        (kind, Vec::new())
    }
    fn take(&mut self, (_, items): &mut Self::Folding, guard: Formula, item: String) {
        items.push((guard, item));
    }
    fn folded(&mut self, (kind, items): Self::Folding, outer: Option<String>) -> String {
        format!("{kind:?}[{}]{}", guarded(&items, String::clone), outer.map_or(String::new(), |o| format!(" else {o}")))
    }
    fn compare(&mut self, op: Compare, a: String, b: String) -> Formula {
        self.compared += 1;
        match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => Formula::Known(match op {
                Compare::Eq => a == b,
                Compare::Ne => a != b,
                Compare::Lt => a < b,
                Compare::Le => a <= b,
                Compare::Gt => a > b,
                Compare::Ge => a >= b,
            }),
            _ => Formula::Open(format!("{a} {op:?} {b}")),
        }
    }
    fn is_null(&mut self, _: String) -> Formula {
        Formula::Known(false)
    }
    fn text(&mut self, op: TextOp, a: String, b: String) -> Formula {
        Formula::Open(format!("{a} {op:?} {b}"))
    }
    fn holds(&mut self, value: String) -> Formula {
        Formula::Open(format!("{value}!"))
    }
    fn in_ancestors(&mut self, row: String, start: String, _: RelationId, field: FieldId) -> Formula {
        Formula::Open(format!("{row} above {start} by {}", field.0))
    }
    fn not(&mut self, truth: Formula) -> Formula {
        match truth {
            Formula::Known(known) => Formula::Known(!known),
            Formula::Open(text) => Formula::Open(format!("!({text})")),
        }
    }
    fn and(&mut self, truths: Vec<Formula>) -> Formula {
        assert!(truths.len() > 1 && truths.iter().all(|truth| self.known(truth).is_none()));
        Formula::Open(format!("and({})", truths.iter().map(Formula::show).collect::<Vec<_>>().join(", ")))
    }
    fn or(&mut self, truths: Vec<Formula>) -> Formula {
        assert!(truths.len() > 1 && truths.iter().all(|truth| self.known(truth).is_none()));
        Formula::Open(format!("or({})", truths.iter().map(Formula::show).collect::<Vec<_>>().join(", ")))
    }
    fn schedule(&mut self, kind: FoldKind, items: Vec<(Formula, Vec<String>)>, limit: Option<String>) -> Formula {
        let items = guarded(&items, |values| values.join(" "));
        Formula::Open(format!("{kind:?}[{items}]{}", limit.map_or(String::new(), |l| format!(" <= {l}"))))
    }
}

fn formula(expr: &Expr) -> String {
    walk::truth(&mut Symbols::default(), expr, &mut [Bound::Row("it".to_owned())].into_iter().collect()).show()
}

#[test]
fn guards_that_are_not_known_reach_the_folds() {
    let (expr, _) = check_value("sum case(visits > 2) of minutes * visits", &HelpDesk, ON_CASE, None).unwrap();
    let text = walk::value(&mut Symbols::default(), &expr, &mut [Bound::Row("it".to_owned())].into_iter().collect());
    let expected = "Sum[case1.12 Gt 2: (case1.14 * case1.12); case2? & case2.12 Gt 2: (case2.14 * case2.12)] else 0";
    assert_eq!(text, expected);
    let (expr, _) = check_value("count c in case() where c.escalated", &HelpDesk, ON_CASE, None).unwrap();
    let text = walk::value(&mut Symbols::default(), &expr, &mut [Bound::Row("it".to_owned())].into_iter().collect());
    assert_eq!(text, "Count[case1.13!: 1; and(case2?, case2.13!): 1]");
    let text = formula(&truth("no_overlap case() of starts, ends"));
    assert_eq!(text, "NoOverlap[true: case1.15 case1.16; case2?: case2.15 case2.16]");
    let text = formula(&truth("cumulative case() of starts, ends, visits, visits"));
    assert_eq!(text, "Cumulative[true: case1.15 case1.16 case1.12; case2?: case2.15 case2.16 case2.12] <= it.12");
}

#[test]
fn truths_that_are_not_known_reach_and_and_or() {
    for (text, expected) in [
        ("escalated and visits > 2 and 1 < 2", "and(it.13!, it.12 Gt 2)"),
        ("escalated or visits > 2 or 1 > 2", "or(it.13!, it.12 Gt 2)"),
        ("escalated and 1 > 2", "false"),
        ("escalated or 1 < 2", "true"),
        ("escalated and 1 < 2", "it.13!"),
        ("escalated implies visits > 2", "or(!(it.13!), it.12 Gt 2)"),
        ("1 < 2 implies escalated", "it.13!"),
        ("visits in {1, 2}", "or(it.12 Eq 1, it.12 Eq 2)"),
        ("exists c in case() where c.visits > 2", "or(case1.12 Gt 2, and(case2?, case2.12 Gt 2))"),
        ("none case()", "false"),
        ("exists case(visits = 3)", "or(case1.12 Eq 3, case2? & case2.12 Eq 3)"),
        ("all case() it.visits > 2", "!(or(!(case1.12 Gt 2), and(case2?, !(case2.12 Gt 2))))"),
        ("for n in 1..3: n < visits or n < 3", "!(!(3 Lt it.12))"),
        ("for d in desks: target(d, low) > 1", "!(or(!(fact0(m1, Enum(3)) Gt 1), !(fact0(m2, Enum(3)) Gt 1)))"),
        ("visits not in {1}", "!(it.12 Eq 1)"),
    ] {
        assert_eq!(formula(&truth(text)), expected, "{text}");
    }
}

#[test]
fn what_cannot_matter_is_never_read() {
    let expr = check_truth("1 > 2 and (2 > 1 or 3 > 1)", &HelpDesk, Scope::default()).unwrap();
    let mut symbols = Symbols::default();
    assert_eq!(walk::truth(&mut symbols, &expr, &mut walk::Env::<Symbols>::new()), Formula::Known(false));
    assert_eq!(symbols.compared, 1);
    let expr = check_truth("for n in 1..9 where n > 8: n > 3", &HelpDesk, Scope::default()).unwrap();
    let mut symbols = Symbols::default();
    assert_eq!(walk::truth(&mut symbols, &expr, &mut walk::Env::<Symbols>::new()), Formula::Known(true));
    assert_eq!(symbols.compared, 10);
}
