//! Requests on a small desk, judged by their effects: every kind of row and cell that can be wanted, everything that nobody asked for,
//! answers and refusals. Each verdict is made live and by snapshot, and must be the same.

use super::desk::{Call, Desk, LOCKED, STATE, TICKET, clerk, failed, is, made, row, set, why};
use benchwright_base::Value;
use benchwright_grade::{EffectsError, EffectsGrader, FULL};
use benchwright_pack::{CheckStatus, Ending, Snapshot, Verdict};
use benchwright_sandbox::Sandbox;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A request with every kind of row and cell in it.
fn everything() -> Json {
    let body = json!({ "prose": { "slots": [
        { "name": "t.number", "is": { "made_field": ["t", "number"] } },
        { "name": "t.due", "is": { "date": "2026-03-24" } },
        { "name": "who.name", "is": { "chosen_field": ["who", "name"] }, "optional": true },
    ], "never": ["Umbra"] } });
    let mut paused =
        row("pause", "ticket", json!({ "id": 3 }), json!({ "priority": is("high"), "owner": { "chosen": "who" } }));
    paused["kind"] = json!("compliance");
    json!({
        "choices": [{ "name": "who", "table": "user", "rows": [2, 3] }],
        "expected": [
            row("assign", "ticket", json!({ "id": 1 }), json!({ "owner": is(2), "state": { "one_of": ["pending", "done"] } })),
            made("open", "t", "ticket", json!({
                "title": is("Cable"), "owner": { "chosen": "who" }, "due": is("2026-03-24"), "amount": is(12.5), "priority": "any",
            })),
            row("tell", "message", json!("new"), json!({
                "ticket": { "made": "t" }, "to": { "chosen": "who" }, "subject": { "made_field": ["t", "number"] },
                "copy": { "chosen_field": ["who", "email"] }, "body": body,
            })),
            row("drop", "attendee", json!({ "gone": 2 }), json!({})),
            paused,
        ],
        "ensure": [{
            "id": "cheap", "holds": "t.amount < limit and t.owner = who and count x in all where x.state = done <= 1",
            "cast": [
                { "name": "t", "is": { "made": ["ticket", "t"] } },
                { "name": "who", "is": { "chosen": ["user", "who"] } },
                { "name": "all", "is": { "rows": ["ticket", [1, 2, 3]] } },
                { "name": "limit", "is": { "money": 2000 } },
            ],
        }],
        "rules": ["high-has-owner", "pending-has-due"],
        "facts": ["2026-03-10"],
    })
}

/// The calls that do all of it, for one of those who may be chosen.
fn all_done(who: u32) -> Vec<Call<'static>> {
    let email = if who == 2 { "bob@desk.example" } else { "cy@desk.example" };
    vec![
        ("set_ticket", json!({ "id": 1, "owner": 2, "state": "pending" })),
        ("add_ticket", json!({ "title": "Cable", "owner": who, "due": "2026-03-24", "amount": 12.5 })),
        (
            "add_message",
            json!({ "ticket": 4, "to": who, "subject": "TK0000004", "copy": email,
                    "body": "TK0000004 is due on 24 March 2026, not on 10 March 2026." }),
        ),
        ("drop_attendee", json!({ "id": 2 })),
        ("set_ticket", json!({ "id": 3, "priority": "high", "owner": who })),
    ]
}

/// A request for a priority and a message.
fn small() -> Json {
    json!({ "expected": [
        row("raise", "ticket", json!({ "id": 1 }), json!({ "state": is("done") })),
        row("warn", "message", json!("new"), json!({ "ticket": is(1), "to": is(3), "subject": is("Printer") })),
    ] })
}

fn small_done() -> Vec<Call<'static>> {
    vec![
        ("set_ticket", json!({ "id": 1, "state": "done" })),
        ("add_message", json!({ "ticket": 1, "to": 3, "subject": "Printer", "body": "Done." })),
    ]
}

fn passes(verdict: &Verdict) -> bool {
    verdict.ending == Ending::Pass
}

#[test]
fn every_kind_of_row_and_cell_passes_where_it_is_right_in_any_order_and_with_any_choice() {
    let desk = Desk::new();
    for who in [2, 3] {
        let verdict = desk.verdict(&everything(), &all_done(who));
        assert_eq!((verdict.ending, verdict.reward, verdict.gates.len()), (Ending::Pass, FULL, 0), "{verdict:?}");
        assert!(verdict.paper_pass && !verdict.alarm);
        let rules: Vec<&str> = verdict.checks.iter().map(|check| &*check.rule).collect();
        let wanted = ["assign", "open", "tell", "drop", "pause", "cheap", "high-has-owner", "pending-has-due", "frame"];
        assert_eq!(rules, wanted);
        assert_eq!(verdict.checks[0].at, ["the ticket"]);
        let families: Vec<&str> = verdict.checks.iter().map(|check| &*check.family).collect();
        let three = ["completion", "compliance", "integrity"];
        assert_eq!(families, [0, 0, 0, 0, 1, 0, 1, 1, 2].map(|at| three[at]));
        let mut backwards = all_done(who);
        backwards.swap(0, 4);
        backwards.insert(0, ("list_tickets", json!({})));
        assert!(passes(&desk.verdict(&everything(), &backwards)));
    }
}

#[test]
fn what_is_wrong_is_told_by_the_clause_that_asks_for_it() {
    let desk = Desk::new();
    let wrong: [(usize, &str, Json, &[&str]); 14] = [
        (0, "owner", json!(3), &["assign"]),
        (0, "state", json!("open"), &["assign"]),
        (1, "title", json!("Table"), &["open"]),
        (1, "due", json!("2026-03-25"), &["open"]),
        (1, "amount", json!(12.51), &["open"]),
        (1, "amount", json!(20), &["open", "cheap"]),
        (2, "ticket", json!(1), &["tell"]),
        (2, "subject", json!("TK0000003"), &["tell"]),
        (2, "copy", json!("ann@desk.example"), &["tell"]),
        (2, "urgent", json!(true), &["tell"]),
        (2, "body", json!("It is due on 24 March 2026."), &["tell"]),
        (2, "body", json!("TK0000004 is due on 2026-03-24, and TK0000002 too."), &["tell"]),
        (2, "body", json!("TK0000004 is due on 2026-03-24. Umbra sends its love."), &["tell"]),
        (4, "priority", json!("low"), &["pause"]),
    ];
    for (at, argument, value, clauses) in wrong {
        let mut calls = all_done(3);
        calls[at].1[argument] = value.clone();
        let verdict = desk.verdict(&everything(), &calls);
        assert_eq!(failed(&verdict), clauses, "{argument} {value}: {verdict:?}");
        assert_eq!((verdict.ending, verdict.gates.len()), (Ending::Fail, 0));
        // Six things are to be brought about: five rows and the condition.
        let right = 6 - clauses.len() as i64;
        assert_eq!(verdict.reward, right * FULL / 6 / 4, "{argument} {value}");
        assert_eq!((verdict.parts[0].right, verdict.parts[0].of), (right, 6));
    }
    // A call that is not made is missed by its clause.
    for (at, clauses) in [(0, &["assign"][..]), (2, &["tell"]), (3, &["drop"]), (4, &["pause"])] {
        let mut calls = all_done(2);
        calls.remove(at);
        assert_eq!(failed(&desk.verdict(&everything(), &calls)), clauses);
    }
    let text = desk.verdict(&everything(), &{
        let mut calls = all_done(2);
        calls[2].1["body"] = json!("TK0000004 is due on 2026-03-25.");
        calls
    });
    assert_eq!(why(&text, "tell"), "`body` does not mention t.due");
}

#[test]
fn a_choice_is_made_once_for_all_that_speaks_of_it() {
    let desk = Desk::new();
    let mut calls = all_done(2);
    calls[4].1["owner"] = json!(3);
    let verdict = desk.verdict(&everything(), &calls);
    // The choice that gets most right is kept: Bob.
    assert_eq!((failed(&verdict), verdict.gates.len()), (vec!["pause"], 0));
    let mut nobody = all_done(2);
    nobody[1].1["owner"] = json!(1);
    assert_eq!(failed(&desk.verdict(&everything(), &nobody)), ["open", "cheap"]);
    // A row that may be chosen and was changed beside the chosen one breaks the frame.
    let either = json!({
        "choices": [{ "name": "one", "table": "ticket", "rows": [1, 2] }],
        "expected": [row("raise", "ticket", json!({ "choice": "one" }), json!({ "state": is("done") }))],
    });
    let raise = |id: u32| ("set_ticket", json!({ "id": id, "state": "done" }));
    assert!(passes(&desk.verdict(&either, &[raise(1)])) && passes(&desk.verdict(&either, &[raise(2)])));
    assert_eq!(desk.verdict(&either, &[raise(1), raise(2)]).gates, ["frame"]);
    assert_eq!(failed(&desk.verdict(&either, &[raise(3)])), ["raise", "frame"]);
}

#[test]
fn nothing_else_is_changed_added_or_deleted() {
    let desk = Desk::new();
    let stray: [(Call<'_>, &str); 10] = [
        (("set_ticket", json!({ "id": 2, "priority": "low", "owner": 1 })), "ticket 2: owner was changed"),
        (("set_ticket", json!({ "id": 1, "due": "2026-03-11" })), "ticket 1: due was changed"),
        (("set_ticket", json!({ "id": 2, "summary": "It rings." })), "ticket 2: summary was changed"),
        (("set_note", json!({ "id": 1, "text": "Not seen." })), "note 1: text was changed"),
        (("add_ticket", json!({ "title": "Mouse" })), "ticket 4 was added"),
        (("add_message", json!({ "to": 1, "subject": "By the way" })), "message 2 was added"),
        (("drop_attendee", json!({ "id": 1 })), "attendee 1 was deleted"),
        (("add_note", json!({ "ticket": 3, "text": "By the way" })), "note 2 was added"),
        (("add_note", json!({ "ticket": 1, "kind": "comment", "text": "Done" })), "note 2 was added"),
        (("set_ticket", json!({ "id": 1, "attendee": [{ "user": 1 }] })), "attendee 2 was deleted"),
    ];
    for (call, told) in stray {
        let mut calls = small_done();
        calls.push(call);
        let verdict = desk.verdict(&small(), &calls);
        assert_eq!((failed(&verdict), &verdict.gates[..]), (vec!["frame"], &["frame".to_owned()][..]), "{told}");
        assert_eq!((why(&verdict, "frame"), verdict.reward), (told, 0));
        assert_eq!((verdict.progress, verdict.objective), (FULL, FULL), "what was right is told");
    }
    // A word that only the system sets is compared too, and can only be forged here.
    let locked = desk.forged(&small(), &small_done(), |last| set(last, TICKET, 1, LOCKED, Value::Bool(true)));
    assert_eq!(why(&locked, "frame"), "ticket 1: locked was changed");
    assert!(passes(&desk.forged(&small(), &small_done(), |_| {})), "nothing was forged");
}

#[test]
fn bookkeeping_texts_notes_and_replaced_lists_are_free() {
    let desk = Desk::new();
    let free: [Call<'_>; 9] = [
        ("add_history", json!({ "ticket": 2 })),
        ("set_ticket", json!({ "id": 2, "views": 7 })),
        ("set_ticket", json!({ "id": 1, "summary": "Fixed on 1 May 2031." })),
        ("add_note", json!({ "ticket": 1, "text": "Done." })),
        ("set_ticket", json!({ "id": 1, "attendee": [{ "user": 2 }, { "user": 1 }] })),
        ("submit_answer", json!({ "note": "Nobody asked." })),
        ("submit_answer", json!({ "reply_value": [{ "name": "x", "value": "y" }] })),
        ("list_tickets", json!({})),
        ("set_ticket", json!({ "id": 1, "state": "done" })),
    ];
    for call in &free {
        let mut calls = small_done();
        calls.push(call.clone());
        let verdict = desk.verdict(&small(), &calls);
        assert!(passes(&verdict), "{call:?}: {verdict:?}");
    }
    // A note on a new record that was asked for.
    let opened = json!({ "expected": [row("open", "ticket", json!("new"), json!({ "title": is("Cable") }))] });
    let open = ("add_ticket", json!({ "title": "Cable", "summary": "Long." }));
    let note = |ticket: u32| ("add_note", json!({ "ticket": ticket, "text": "New." }));
    assert!(passes(&desk.verdict(&opened, &[open.clone(), note(4)])));
    assert_eq!(desk.verdict(&opened, &[open, note(3)]).gates, ["frame"]);
}

#[test]
fn a_text_is_compared_where_somebody_says_what_it_is() {
    let desk = Desk::new();
    let cell =
        |wanted: Json| json!({ "expected": [row("sum", "ticket", json!({ "id": 2 }), json!({ "summary": wanted }))] });
    let write = |text: Json| vec![("set_ticket", json!({ "id": 2, "summary": text, "owner": null }))];
    assert!(passes(&desk.verdict(&cell(is("Fine.")), &write(json!("Fine.")))));
    assert_eq!(failed(&desk.verdict(&cell(is("Fine.")), &write(json!("fine.")))), ["sum"]);
    let facts = [
        (json!({ "text": "Ann" }), "ANN did it", "Anna did it"),
        (json!({ "word": "in_stock" }), "It is in stock", "It is stocked"),
        (json!({ "date": "2026-03-24" }), "March 24, 2026", "March 2026"),
        (json!({ "instant": "2026-03-24T20:00:00Z" }), "24.03.2026 at 20:00", "24.03.2026 at 20:30"),
        (json!({ "money": 120_050 }), "$1,200.50", "$1,200.05"),
        (json!({ "number": 7 }), "seven of them", "all of them"),
    ];
    for (fact, right, wrong) in facts {
        let prose = cell(json!({ "prose": { "slots": [{ "name": "s", "is": fact }] } }));
        assert!(passes(&desk.verdict(&prose, &write(json!(right)))), "{right}");
        for text in [json!(wrong), json!(null)] {
            assert_eq!(failed(&desk.verdict(&prose, &write(text))), ["sum"], "{wrong}");
        }
    }
}

#[test]
fn a_new_row_is_known_by_most_of_its_cells() {
    let desk = Desk::new();
    let mut half = small_done();
    half[1].1 = json!({ "ticket": 2, "to": 1, "subject": "Printer" });
    let verdict = desk.verdict(&small(), &half);
    assert_eq!((failed(&verdict), verdict.gates.len()), (vec!["warn"], 0), "three of five cells agree");
    assert_eq!(why(&verdict, "warn"), "`ticket` is not as asked; `to` is not as asked");
    let mut fewer = half.clone();
    fewer[1].1["subject"] = json!("Phone");
    let verdict = desk.verdict(&small(), &fewer);
    assert_eq!((failed(&verdict), verdict.reward), (vec!["warn", "frame"], 0), "two of five are too few");
    assert_eq!(why(&verdict, "warn"), "there is no such row");
    // A cell that may be anything does not speak for a row.
    let any = json!({ "expected": [row("warn", "message", json!("new"), json!({
        "ticket": "any", "copy": "any", "urgent": "any", "to": is(3), "subject": is("Printer"),
    }))] });
    let send = |to: u32, subject: &str| [("add_message", json!({ "to": to, "subject": subject }))];
    assert!(passes(&desk.verdict(&any, &send(3, "Printer"))));
    assert_eq!(failed(&desk.verdict(&any, &send(3, "Phone"))), ["warn"]);
    assert_eq!(failed(&desk.verdict(&any, &send(2, "Phone"))), ["warn", "frame"]);
    // One message too many: the right one is bound, and the other one is stray.
    let mut twice = small_done();
    twice.insert(0, ("add_message", json!({ "ticket": 1, "to": 3, "subject": "Phone" })));
    assert_eq!(why(&desk.verdict(&small(), &twice), "frame"), "message 1 was added");
}

#[test]
fn of_rows_that_are_much_alike_each_is_bound_to_its_own() {
    let desk = Desk::new();
    let tell = |of: &str, to: u32, subject: &str| {
        row(of, "message", json!("new"), json!({ "to": is(to), "subject": is(subject) }))
    };
    let send = |to: u32, subject: &str| ("add_message", json!({ "to": to, "subject": subject }));
    let three = json!({ "expected": [tell("a", 1, "A"), tell("b", 1, "B"), tell("c", 2, "B")] });
    assert!(passes(&desk.verdict(&three, &[send(2, "B"), send(1, "B"), send(1, "A")])));
    // `b` is exactly there, although `a` would take it first.
    let verdict = desk.verdict(&three, &[send(1, "B"), send(2, "B"), send(3, "A")]);
    assert_eq!((failed(&verdict), verdict.gates.len()), (vec!["a"], 0));
    let two = json!({ "expected": [tell("a", 1, "A"), tell("b", 1, "B")] });
    assert_eq!(failed(&desk.verdict(&two, &[send(1, "B"), send(3, "Z")])), ["a"]);

    // Two messages are told apart by the new tickets that their texts speak of, although these are named after them.
    let about = |of: &str, name: &str| {
        let slots = json!([{ "name": name, "is": { "made_field": [name, "number"] } }]);
        row(
            of,
            "message",
            json!("new"),
            json!({ "to": is(1), "subject": is("S"), "body": { "prose": { "slots": slots } } }),
        )
    };
    let opened = |name: &str, title: &str| made(title, name, "ticket", json!({ "title": is(title) }));
    let spoken = json!({ "expected": [about("mx", "x"), about("my", "y"), opened("x", "X"), opened("y", "Y")] });
    let write = |body: &str| ("add_message", json!({ "to": 1, "subject": "S", "body": body }));
    let open = |title: &str| ("add_ticket", json!({ "title": title }));
    assert!(passes(&desk.verdict(&spoken, &[open("X"), open("Y"), write("TK0000005."), write("TK0000004.")])));

    // Two new tickets that are alike are told apart by who comes to them.
    let mut expected = Vec::new();
    for (name, user) in [("x", 1), ("y", 2), ("z", 3)] {
        expected.push(made(name, name, "ticket", json!({ "title": is("Same") })));
        let cells = json!({ "ticket": { "made": name }, "user": is(user) });
        expected.push(row(&format!("{name}-comes"), "attendee", json!("new"), cells));
    }
    expected.reverse();
    let alike = json!({ "expected": expected });
    let open = |user: u32| ("add_ticket", json!({ "title": "Same", "attendee": [{ "user": user }] }));
    for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
        assert!(passes(&desk.verdict(&alike, &order.map(open))), "{order:?}");
    }
    assert_eq!(failed(&desk.verdict(&alike, &[1, 2, 2].map(open))), ["z-comes"]);
}

#[test]
fn a_list_may_be_replaced_whole_or_row_by_row() {
    let desk = Desk::new();
    let list = |users: &[(u32, Option<&str>)]| {
        let items: Vec<Json> = users.iter().map(|(user, answer)| json!({ "user": user, "answer": answer })).collect();
        vec![("set_ticket", json!({ "id": 1, "attendee": items }))]
    };
    // One more comes.
    let more =
        json!({ "expected": [row("invite", "attendee", json!("new"), json!({ "ticket": is(1), "user": is(3) }))] });
    assert!(passes(&desk.verdict(&more, &list(&[(3, None), (2, None), (1, None)]))));
    assert!(passes(&desk.verdict(&more, &[("add_attendee", json!({ "ticket": 1, "user": 3 }))])));
    assert_eq!(failed(&desk.verdict(&more, &list(&[(3, None), (2, None)]))), ["frame"]);
    // The same as calls leave it that take a whole list: what was replaced by a row like it is no part of it.
    let comes = |user: u32| row("invite", "attendee", json!("new"), json!({ "ticket": is(1), "user": is(user) }));
    let gone = |id: u32| row("invite", "attendee", json!({ "gone": id }), json!({}));
    let whole = json!({ "expected": [gone(1), gone(2), comes(1), comes(2), comes(3)] });
    assert!(passes(&desk.verdict(&whole, &list(&[(1, None), (2, None), (3, None)]))));
    assert!(passes(&desk.verdict(&whole, &[("add_attendee", json!({ "ticket": 1, "user": 3 }))])));
    assert_eq!(failed(&desk.verdict(&whole, &list(&[(1, None), (3, None)]))), ["frame"]);
    assert_eq!(desk.verdict(&whole, &list(&[(1, None), (2, None)])).gates, ["activity"]);
    // One of two goes; that the other is another row now is no matter, but it must not be there any more in any row.
    let fewer = json!({ "expected": [row("drop", "attendee", json!({ "gone": 1 }), json!({}))] });
    assert!(passes(&desk.verdict(&fewer, &list(&[(2, None)]))));
    assert_eq!(failed(&desk.verdict(&fewer, &list(&[(1, None)]))), ["drop", "frame"]);
    assert_eq!(desk.verdict(&fewer, &list(&[(1, None), (2, None)])).gates, ["activity"]);
    // Of two that are alike one goes, and the list is written anew: it is the one that was to go.
    let once = json!({ "expected": [row("once", "attendee", json!({ "gone": 3 }), json!({}))] });
    assert!(passes(&desk.verdict(&once, &[("set_ticket", json!({ "id": 2, "attendee": [{ "user": 3 }] }))])));
    // An answer is noted, in place or with the whole list.
    let noted = json!({ "expected": [row("note", "attendee", json!({ "id": 2 }), json!({ "answer": is("yes") }))] });
    assert!(passes(&desk.verdict(&noted, &[("set_attendee", json!({ "id": 2, "answer": "yes" }))])));
    assert!(passes(&desk.verdict(&noted, &list(&[(1, None), (2, Some("yes"))]))));
    assert_eq!(failed(&desk.verdict(&noted, &list(&[(1, None), (2, Some("no"))]))), ["note"]);
    assert_eq!(failed(&desk.verdict(&noted, &list(&[(1, None), (3, Some("yes"))]))), ["note", "frame"]);
    let mut both = noted.clone();
    let another = json!({ "ticket": is(1), "user": is(2), "answer": is("no") });
    both["expected"].as_array_mut().unwrap().push(row("more", "attendee", json!("new"), another));
    let swapped =
        [("add_attendee", json!({ "ticket": 1, "user": 2, "answer": "no" })), ("drop_attendee", json!({ "id": 2 }))];
    assert_eq!(failed(&desk.verdict(&both, &swapped)), ["note", "frame"], "one row is not two");
    // The same expectation as the whole list leaves it.
    let renewed = json!({ "expected": [
        row("note", "attendee", json!({ "gone": 2 }), json!({})),
        row("note", "attendee", json!("new"), json!({ "ticket": is(1), "user": is(2), "answer": is("yes") })),
    ] });
    assert!(passes(&desk.verdict(&renewed, &list(&[(1, None), (2, Some("yes"))]))));
    assert!(passes(&desk.verdict(&renewed, &[("set_attendee", json!({ "id": 2, "answer": "yes" }))])));
    assert_eq!(failed(&desk.verdict(&renewed, &[("set_attendee", json!({ "id": 2, "answer": "no" }))])), ["note"]);
    assert_eq!(failed(&desk.verdict(&renewed, &[("drop_attendee", json!({ "id": 2 }))])), ["note"]);
}

#[test]
fn rules_of_the_domain_are_checks() {
    let desk = Desk::new();
    let raise = |extra: Json| {
        let mut told =
            json!({ "expected": [row("raise", "ticket", json!({ "id": 2 }), json!({ "priority": is("high") }))] });
        told["rules"] = extra;
        told
    };
    let calls = [("set_ticket", json!({ "id": 2, "priority": "high" }))];
    for listed in [json!([]), json!(["high-has-owner", "high-has-owner"])] {
        let verdict = desk.verdict(&raise(listed), &calls);
        assert_eq!((failed(&verdict), verdict.reward, verdict.constraints), (vec!["high-has-owner"], FULL / 4, 0));
        assert_eq!(why(&verdict, "high-has-owner"), "ticket 2 does not keep it");
    }
    // What tools hold can be broken by a forged state alone.
    let none = json!([]);
    let pending = |last: &mut Snapshot| set(last, TICKET, 2, STATE, Value::Enum(1));
    let verdict = desk.forged(&raise(none), &calls, pending);
    assert_eq!(failed(&verdict), ["high-has-owner", "pending-has-due", "frame"]);
    // A rule about a single call is not broken by two that kept it.
    let later = json!({
        "expected": [row("later", "ticket", json!({ "id": 1 }), json!({ "due": is("2026-03-24") }))],
        "rules": ["week-at-most"],
    });
    let put_off = |day: &str| ("set_ticket", json!({ "id": 1, "due": day }));
    assert!(passes(&desk.verdict(&later, &[put_off("2026-03-17"), put_off("2026-03-24")])));
}

#[test]
fn what_was_right_before_earns_nothing() {
    let desk = Desk::new();
    let mut told = small();
    let open = row("keep", "ticket", json!({ "id": 2 }), json!({ "state": is("open") }));
    told["expected"].as_array_mut().unwrap().push(open);
    let all = json!([{ "name": "all", "is": { "rows": ["ticket", [1, 2, 3]] } }]);
    told["ensure"] = json!([{ "id": "three", "holds": "(count x in all) = 3", "cast": all }]);
    assert!(passes(&desk.verdict(&told, &small_done())));
    let verdict = desk.verdict(&told, &small_done()[..1]);
    assert_eq!((failed(&verdict), verdict.reward), (vec!["warn"], FULL / 8));
    assert_eq!((verdict.parts[0].right, verdict.parts[0].of), (1, 2));
}

#[test]
fn doing_nothing_and_declining_what_can_be_done_earn_nothing() {
    let desk = Desk::new();
    let list = ("list_tickets", json!({}));
    let log = ("add_history", json!({ "ticket": 1 }));
    let view = ("set_ticket", json!({ "id": 1, "views": 3 }));
    for calls in [&[][..], &[list], &[log, view]] {
        let verdict = desk.verdict(&small(), calls);
        assert_eq!((&verdict.gates[..], verdict.reward), (&["activity".to_owned()][..], 0));
        assert_eq!((failed(&verdict), verdict.ending), (vec!["raise", "warn"], Ending::Fail));
    }
    let decline = ("decline_request", json!({ "kind": "policy", "rule": "high-has-owner" }));
    assert_eq!(desk.verdict(&small(), std::slice::from_ref(&decline)).gates, ["declined"]);
    let mut both = small_done();
    both.push(decline);
    let verdict = desk.verdict(&small(), &both);
    assert_eq!((&verdict.gates[..], verdict.reward, verdict.ending), (&["declined".to_owned()][..], 0, Ending::Fail));
    // The last word counts.
    both.push(("submit_answer", json!({ "note": "It went after all." })));
    assert!(passes(&desk.verdict(&small(), &both)));
}

#[test]
fn answers_are_compared_by_their_type() {
    let desk = Desk::new();
    let ask =
        |ty: &str, list: bool, forms: Json| json!({ "answer": { "of": "who", "ty": ty, "list": list, "is": forms } });
    let known = |forms: &[&str]| json!([{ "known": forms }]);
    let say = |values: &[(&str, &str)]| {
        let values: Vec<Json> = values.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        ("submit_answer", json!({ "reply_value": values }))
    };
    let types = [
        (ask("text", false, known(&["Harbour Lane"])), "\"harbour lane\".", "Harbour Street"),
        (ask("name", false, known(&["Ann", "ann@desk.example"])), "ANN@desk.example", "Bob"),
        (ask("number", false, known(&["12"])), "Twelve", "13"),
        (ask("money", false, known(&["1200.00"])), "$1,200", "1200.01"),
        (ask("date", false, known(&["2026-03-24"])), "24 March 2026", "2026-03-25"),
        (ask("name", true, json!([{ "known": ["Ann"] }, { "known": ["Bob"] }])), "Bob and Ann", "Ann"),
    ];
    for (told, right, wrong) in types {
        assert!(passes(&desk.verdict(&told, &[say(&[("who", right)])])), "{right}");
        assert!(passes(&desk.verdict(&told, &[say(&[("anything", right)])])), "the only value has another name");
        assert!(passes(&desk.verdict(&told, &[say(&[("Who", right), ("else", wrong)])])), "it goes by its name");
        assert!(passes(&desk.verdict(&told, &[say(&[("who", wrong)]), say(&[("who", right)])])), "the last one counts");
        for calls in [&[say(&[("who", wrong)])][..], &[say(&[("a", right), ("b", right)])], &[say(&[])]] {
            let verdict = desk.verdict(&told, calls);
            assert_eq!((failed(&verdict), verdict.reward, verdict.gates.len()), (vec!["who"], 0, 0), "{calls:?}");
        }
        let changed = [say(&[("who", right)]), ("set_ticket", json!({ "id": 1, "owner": 1 }))];
        assert_eq!(failed(&desk.verdict(&told, &changed)), ["frame"], "only an answer was asked for");
        assert_eq!(desk.verdict(&told, &[]).gates, ["activity"]);
    }
    let split = [say(&[("who", "Ann"), ("who", "Bob")])];
    assert!(passes(&desk.verdict(&ask("name", true, json!([{ "known": ["Ann"] }, { "known": ["Bob"] }])), &split)));
    assert_eq!(failed(&desk.verdict(&ask("name", false, known(&["Ann"])), &split)), ["who"], "two answers are none");

    let mut told = small();
    told["expected"][0] = made("open", "t", "ticket", json!({ "title": is("Cable"), "amount": is(5) }));
    told["expected"].as_array_mut().unwrap().truncate(1);
    let open = ("add_ticket", json!({ "title": "Cable", "amount": 5 }));
    for (ty, field, right, wrong) in [("text", "number", "tk0000004", "TK0000003"), ("money", "amount", "5 EUR", "6")] {
        told["answer"] = ask(ty, false, json!([{ "made_field": ["t", field] }]))["answer"].clone();
        assert!(passes(&desk.verdict(&told, &[open.clone(), say(&[("who", right)])])));
        let verdict = desk.verdict(&told, &[open.clone(), say(&[("who", wrong)])]);
        assert_eq!((failed(&verdict), verdict.reward), (vec!["who"], FULL / 8));
        assert_eq!(
            failed(&desk.verdict(&told, &[say(&[("who", right)])])),
            ["open", "who"],
            "there is nothing to tell"
        );
    }
}

#[test]
fn what_cannot_be_done_is_declined_for_the_right_reason_and_nothing_is_changed() {
    let desk = Desk::new();
    let policy = json!({ "refusal": { "obstacle": "policy", "rules": ["high-has-owner"], "records": ["TK0000002"] } });
    let lost = json!({ "refusal": { "obstacle": "not_found", "records": ["TK0000009", "Umbra"] } });
    let decline = |kind: &str, rule: Json, record: Json| {
        ("decline_request", json!({ "kind": kind, "rule": rule, "record": record, "note": "Sorry." }))
    };
    let right = decline("policy", json!("desk/High-has-owner"), json!(null));
    let verdict = desk.verdict(&policy, std::slice::from_ref(&right));
    assert_eq!((verdict.ending, verdict.reward, verdict.checks.len()), (Ending::Pass, FULL, 3), "{verdict:?}");
    assert!(passes(&desk.verdict(&lost, &[decline("not_found", json!(null), json!("the ticket tk0000009"))])));
    assert!(passes(&desk.verdict(
        &lost,
        &[decline("policy", json!(null), json!(null)), decline("not_found", json!(""), json!("Umbra"))]
    )));
    let wrong = [
        (&policy, decline("permission", json!("high-has-owner"), json!(null))),
        (&policy, decline("policy", json!("pending-has-due"), json!("TK0000002"))),
        (&policy, decline("policy", json!(null), json!("TK0000002"))),
        (&lost, decline("not_found", json!(null), json!("TK0000001"))),
        (&lost, decline("not_found", json!("high-has-owner"), json!(null))),
    ];
    for (told, call) in wrong {
        let verdict = desk.verdict(told, std::slice::from_ref(&call));
        assert_eq!((failed(&verdict), verdict.reward, verdict.gates.len()), (vec!["reason"], 0, 0), "{call:?}");
    }
    let told = desk.verdict(&lost, &[("submit_answer", json!({ "note": "Umbra is not there." }))]);
    assert_eq!((failed(&told), told.reward, told.gates.len()), (vec!["decline"], 0, 0));
    let changes = [
        ("set_ticket", json!({ "id": 2, "owner": 1 })),
        ("add_note", json!({ "ticket": 2, "text": "It cannot be done." })),
        ("drop_attendee", json!({ "id": 1 })),
        ("set_ticket", json!({ "id": 2, "summary": "It cannot be done." })),
    ];
    for change in changes {
        let verdict = desk.verdict(&policy, &[change.clone(), right.clone()]);
        assert_eq!(
            (failed(&verdict), verdict.reward, &verdict.gates[..]),
            (vec!["frame"], 0, &["frame".to_owned()][..])
        );
        assert_eq!(verdict.checks[0].status, CheckStatus::Pass, "{change:?}");
    }
    for harmless in [("add_history", json!({ "ticket": 2 })), ("set_ticket", json!({ "id": 2, "views": 1 }))] {
        assert!(passes(&desk.verdict(&policy, &[harmless, right.clone()])));
    }
    // Declined, reconsidered, and taken back.
    let back = |owner: Json| ("set_ticket", json!({ "id": 2, "owner": owner }));
    assert!(passes(&desk.verdict(&policy, &[back(json!(1)), right.clone(), back(json!(null))])));
    assert_eq!(desk.verdict(&policy, &[]).gates, ["activity"]);
    assert_eq!(failed(&desk.verdict(&policy, &[right, ("submit_answer", json!({ "note": "Done." }))])), ["decline"]);

    let grader = desk.grader(&policy).unwrap();
    let impossible = |calls: &[Call<'_>]| grader.did_the_impossible(&desk.play(calls)).unwrap();
    assert!(impossible(&[back(json!(1))]));
    assert!(!impossible(&[]) && !impossible(&[("set_ticket", json!({ "id": 2, "priority": "high" }))]));
    assert!(!desk.grader(&small()).unwrap().did_the_impossible(&desk.play(&[back(json!(1))])).unwrap());
}

#[test]
fn a_condition_is_a_check_of_its_own() {
    let desk = Desk::new();
    let told = json!({
        "expected": [row("later", "ticket", json!({ "id": 1 }), json!({ "due": "any" }))],
        "ensure": [{ "id": "in-time", "holds": "t.due <= day and t.title = name and t.owner = actor and t.due > opened",
            "cast": [
                { "name": "t", "is": { "row": ["ticket", 1] } },
                { "name": "day", "is": { "date": "2026-03-16" } },
                { "name": "opened", "is": { "date": "2026-03-10" } },
                { "name": "name", "is": { "text": "Printer" } },
                { "name": "many", "is": { "number": 3 } },
                { "name": "start", "is": { "instant": "2026-03-02T09:00:00Z" } },
            ] }],
    });
    let put_off = |day: &str| [("set_ticket", json!({ "id": 1, "due": day }))];
    let owned = json!({ "expected": [row("own", "ticket", json!({ "id": 1 }), json!({ "due": "any", "owner": is(1) }))], "ensure": told["ensure"] });
    let own = |day: &str| [("set_ticket", json!({ "id": 1, "due": day, "owner": 1 }))];
    assert!(passes(&desk.verdict(&owned, &own("2026-03-16"))));
    assert_eq!(failed(&desk.verdict(&owned, &own("2026-03-17"))), ["in-time"]);
    assert_eq!(failed(&desk.verdict(&told, &put_off("2026-03-16"))), ["in-time"], "Ann acts, and does not own it");
    assert_eq!(failed(&desk.verdict(&owned, &[("drop_ticket", json!({ "id": 1 }))])), ["own", "in-time", "frame"]);
}

#[test]
fn what_does_not_fit_the_world_is_an_error_before_anything_is_scored() {
    let desk = Desk::new();
    let ticket = |cells: Json| json!({ "expected": [row("c", "ticket", json!({ "id": 1 }), cells)] });
    let new = |cells: Json| json!({ "expected": [made("c", "t", "ticket", cells)] });
    let slot = |fact: Json| ticket(json!({ "summary": { "prose": { "slots": [{ "name": "s", "is": fact }] } } }));
    let choice = |count: u32| {
        let rows: Vec<u32> = (0..count).map(|at| at % 3 + 1).collect();
        let mut told = ticket(json!({ "owner": { "chosen": "who" } }));
        told["choices"] = json!([{ "name": "who", "table": "user", "rows": rows }]);
        told
    };
    let with = |mut told: Json, key: &str, value: Json| {
        told[key] = value;
        told
    };
    let ensure = |holds: &str, is: Json| json!([{ "id": "e", "holds": holds, "cast": [{ "name": "x", "is": is }] }]);
    let circle = json!({ "expected": [
        made("a", "m", "message", json!({ "to": is(1), "subject": { "made_field": ["n", "subject"] } })),
        made("b", "n", "message", json!({ "to": is(1), "subject": { "made_field": ["m", "subject"] } })),
    ] });
    let twice = json!({ "expected": [made("a", "m", "user", json!({ "name": is("A") })), made("b", "m", "user", json!({ "name": is("B") }))] });
    let refusal = |obstacle: &str, rules: Json| json!({ "refusal": { "obstacle": obstacle, "rules": rules, "records": ["Ann"] } });
    let answer = |ty: &str, is: Json| json!({ "answer": { "of": "a", "ty": ty, "is": is } });
    let cell = json!({ "ticket": is(1), "user": is(1) });
    let replaced = json!({
        "expected": [row("a", "attendee", json!({ "gone": 1 }), json!({})), made("b", "m", "attendee", cell)],
        "ensure": ensure("x.user != null", json!({ "made": ["attendee", "m"] })),
    });
    let cases: [(Json, &str); 40] = [
        (replaced, "`b` cannot be judged: it replaces a row by one like it"),
        (with(small(), "version", json!(2)), "of version 2"),
        (with(small(), "world", json!("abc")), "`abc` is no digest"),
        (with(small(), "world", json!("0".repeat(64))), "the world begins at"),
        (json!({}), "either ask for something"),
        (with(small(), "refusal", refusal("not_found", json!([]))["refusal"].clone()), "either ask for something"),
        (json!({ "expected": [row("c", "tiket", json!({ "id": 1 }), json!({ "title": "any" }))] }), "no table `tiket`"),
        (ticket(json!({ "titel": is("x") })), "ticket has no field `titel`"),
        (
            json!({ "expected": [row("c", "ticket", json!({ "id": 9 }), json!({ "title": is("x") }))] }),
            "ticket 9 is not",
        ),
        (json!({ "expected": [row("c", "ticket", json!({ "gone": 9 }), json!({}))] }), "ticket 9 is not"),
        (
            json!({ "expected": [row("c", "ticket", json!({ "gone": 1 }), json!({ "title": is("x") }))] }),
            "has no cells",
        ),
        (ticket(json!({})), "nothing is asked"),
        (ticket(json!({ "touched": is("2026-03-02") })), "ticket.touched is never compared"),
        (ticket(json!({ "id": is(2) })), "ticket.id is never compared"),
        (ticket(json!({ "views": is(2) })), "ticket.views is never compared"),
        (json!({ "expected": [row("c", "history", json!("new"), json!({}))] }), "nothing of its table is compared"),
        (
            json!({ "expected": [row("c", "request_reply", json!("new"), json!({}))] }),
            "nothing of its table is compared",
        ),
        (ticket(json!({ "state": is("closed") })), "ticket.state wants one of open, pending, done"),
        (ticket(json!({ "title": is(Json::Null) })), "ticket.title is never null"),
        (ticket(json!({ "owner": is(7) })), "ticket.owner refers to user 7"),
        (ticket(json!({ "state": { "one_of": [] } })), "has nothing that it may be"),
        (new(json!({})), "without `title`, which has no default"),
        (ticket(json!({ "owner": { "made": "t" } })), "nothing is called `t`"),
        (new(json!({ "title": is("x"), "owner": { "made": "t" } })), "ticket.owner is of another type"),
        (new(json!({ "title": { "made_field": ["t", "state"] } })), "ticket.title is of another type"),
        (ticket(json!({ "owner": { "chosen": "who" } })), "nothing is called `who`"),
        (choice(21), "21 ways to choose"),
        (choice(0), "0 ways to choose"),
        (with(choice(3), "choices", json!([{ "name": "who", "table": "user", "rows": [9] }])), "user 9 is not"),
        (circle, "in a circle"),
        (twice, "two things are called `m`"),
        (slot(json!({ "date": "24 March" })), "`s` is no fact"),
        (slot(json!({ "text": " " })), "`s` is no fact"),
        (with(small(), "rules", json!(["high"])), "no rule is called `high`"),
        (with(small(), "ensure", ensure("x.title = 3", json!({ "row": ["ticket", 1] }))), "the condition `e`"),
        (with(small(), "ensure", ensure("x > 3", json!({ "date": "soon" }))), "no day"),
        (answer("number", json!([{ "known": ["some"] }])), "not of its type"),
        (answer("text", json!([])), "an answer is one value"),
        (refusal("boredom", json!([])), "`boredom` is no obstacle"),
        (refusal("policy", json!([])), "has no reason that could be given"),
    ];
    for (told, message) in cases {
        match desk.grader(&told) {
            Ok(_) => panic!("no error where this is wanted: {message}"),
            Err(error) => assert!(error.to_string().contains(message), "{error}\nwanted: {message}"),
        }
    }
    assert!(desk.grader(&choice(20)).is_ok() && desk.grader(&small()).is_ok());
    let nobody = benchwright_world::Seat { role: "king".to_owned(), actor: None };
    let seated = EffectsGrader::new(Arc::clone(&desk.sandbox), &desk.effects(&small()), &nobody);
    assert!(matches!(seated, Err(EffectsError::Seat(_))));
}

#[test]
fn a_state_that_began_elsewhere_is_not_judged() {
    let (desk, other) = (Desk::new(), Desk::with("Keyboard"));
    let grader = desk.grader(&small()).unwrap();
    let (here, there) = (desk.play(&small_done()), other.play(&small_done()));
    assert!(passes(&grader.grade_live(&here).unwrap()));
    assert!(matches!(grader.grade_live(&there), Err(EffectsError::OtherTask { .. })));
    assert!(matches!(grader.grade(&there.snapshot()), Err(EffectsError::OtherTask { .. })));
    assert!(matches!(grader.grade(&other.play(&[]).snapshot()), Err(EffectsError::NoOrigin)));
    assert!(matches!(
        grader.grade(&Snapshot { domain: "shop".to_owned(), ..here.snapshot() }),
        Err(EffectsError::OtherDomain(_))
    ));
    let mut torn = here.snapshot();
    torn.tables[TICKET].rows.remove(0);
    assert!(matches!(grader.grade(&torn), Err(EffectsError::State(_))), "attendees refer to nothing");
    // A second sandbox with the same first state will do; one that begins midway will not.
    let same = Desk::new();
    assert!(passes(&grader.grade_live(&same.play(&small_done())).unwrap()));
    let midway = Sandbox::from_snapshot(Arc::clone(desk.sandbox.domain()), &[], &here.snapshot()).unwrap();
    let midway = Arc::new(midway);
    let late = midway.begin(&clerk(), benchwright_sandbox::Conditions::default()).unwrap();
    assert!(matches!(grader.grade_live(&late), Err(EffectsError::Midway)));
    let judged = EffectsGrader::new(midway, &desk.effects(&small()), &clerk());
    assert!(matches!(judged, Err(EffectsError::Midway)));
}
