//! A specialised expression says the same as the one it was made from, and a condition split into tests chooses the same rows.

use crate::fixture::{CASE, HelpDesk, holds, now, store, truth};
use benchwright_base::{FieldId, Value};
use benchwright_expr::{
    Scope, check_truth,
    eval::{Judge, Records},
    specialise, tests_of,
    walk::{Operand, Test},
};
use std::ops::ControlFlow;

#[test]
fn tests_and_what_is_left_of_a_condition_choose_the_same_rows() {
    let conditions: [(&str, usize, bool); 10] = [
        ("escalated", 1, false),
        ("escalated and assignee != null", 2, false),
        ("assignee = null", 1, false),
        ("team.lead.name = 'Ada'", 1, false),
        ("team.parent = null", 1, false),
        ("visits >= 1 and cost < 50.00", 2, false),
        ("visits >= 1 and (cost < 20.00 or escalated)", 1, true),
        ("state != closed", 1, false),
        ("not escalated", 0, true),
        ("title contains 'key' and due = null", 1, true),
    ];
    let world = store();
    for (text, count, is_left) in conditions {
        let condition = truth(text);
        let (tests, rest) = tests_of(&condition);
        assert_eq!((tests.len(), rest.is_some()), (count, is_left), "{text}");
        let mut made = Vec::new();
        for (path, op, with) in &tests {
            made.push(Test { path, op: *op, with: with.clone().map_or(Operand::Many(Vec::new()), Operand::One) });
        }
        let mut chosen = Vec::new();
        world.select(CASE, &made, &mut |row| {
            let judge = Judge::new(&world, now()).of(row);
            if rest.as_ref().is_none_or(|rest| judge.holds(rest)) {
                chosen.push(world.field(&row, FieldId::ID));
            }
            ControlFlow::Continue(())
        });
        let meant: Vec<Value> = (1..=3).filter(|case| holds(*case, text)).map(Value::Ref).collect();
        assert_eq!(chosen, meant, "{text}");
    }
}

#[test]
fn what_is_bound_and_the_facts_of_it_are_put_in_their_places() {
    let expr = check_truth("for d in desks: (count case(team = d)) <= target(d, low)", &HelpDesk, Scope::default());
    let whole = expr.unwrap_or_else(|faults| panic!("{faults:?}"));
    let benchwright_expr::Expr::Fold(fold) = &whole else { panic!("{whole:?}") };
    let world = store();
    let mut judge = Judge::new(&world, now());
    judge.facts = &HelpDesk;
    let mut seen = 0;
    judge.instances(&fold.binders, &mut |here| {
        let small = specialise(&fold.body[0], &here.at, &HelpDesk);
        assert!(!format!("{small:?}").contains("Fact") && !format!("{small:?}").contains("Var"), "{small:?}");
        assert_eq!(judge.holds_at(&here.at, &small), here.holds(&fold.body[0]));
        seen += 1;
    });
    assert_eq!(seen, 2);
}
