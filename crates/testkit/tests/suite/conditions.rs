//! Budgets, injected faults, the clock, pages and cursors: what a task lays on an episode, and what an agent meets.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use benchwright_base::{DateTime, Json};
use benchwright_catalog::Catalog;
use benchwright_pack::RefusalCode;
use benchwright_sandbox::{Conditions, Episode, Fault, FaultRate, Sandbox};
use benchwright_world::Seat;
use std::{path::Path, sync::Arc};

fn world() -> Arc<Sandbox> {
    let catalog = Catalog::from_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("domains"));
    catalog.world("workshop", "small", 1).unwrap()
}

fn begin(conditions: Conditions) -> Episode {
    world().begin(&Seat { role: "owner".into(), actor: None }, conditions).unwrap()
}

#[test]
fn a_budget_is_spent_by_every_call_and_then_refuses() {
    let mut episode =
        begin(Conditions { calls: Some(4), calls_of: vec![("get_job".into(), 2)], ..Conditions::default() });
    assert!(episode.call("get_job", "{\"id\":1}").is_ok());
    assert!(episode.call("get_job", "{\"id\":0}").is_err());
    let refusal = episode.call("get_job", "{\"id\":1}").unwrap_err();
    assert_eq!(refusal.code, RefusalCode::BudgetExhausted);
    assert!(episode.call("list_benches", "").is_ok());
    let hash = episode.state_hash();
    assert_eq!(episode.call("add_tag", "{\"word\":\"new\"}").unwrap_err().code, RefusalCode::BudgetExhausted);
    assert_eq!(episode.state_hash(), hash);
    episode.reset();
    assert!(episode.call("get_job", "{\"id\":1}").is_ok());
}

#[test]
fn faults_depend_on_seed_tool_and_count_and_on_nothing_else() {
    let conditions = |seed| Conditions {
        seed,
        faults: vec![FaultRate {
            tool: "*".into(),
            per_million: 300_000,
            kinds: vec![Fault::Error, Fault::Timeout, Fault::RateLimit],
        }],
        ..Conditions::default()
    };
    let faults = |seed, between: usize| {
        let mut episode = begin(conditions(seed));
        let mut seen = String::new();
        for _ in 0..300 {
            for _ in 0..between {
                let _ = episode.call("list_benches", "{}");
            }
            seen.push(match episode.call("get_job", "{\"id\":1}") {
                Ok(_) => '.',
                Err(refusal) => {
                    assert_eq!(refusal.code, RefusalCode::InjectedFault);
                    refusal.message.chars().next().unwrap()
                }
            });
        }
        seen
    };
    let seen = faults(7, 0);
    assert_eq!(seen, faults(7, 2), "calls of other tools do not matter");
    assert_ne!(seen, faults(8, 0));
    let count = seen.chars().filter(|c| *c != '.').count();
    assert!((60..120).contains(&count), "{count} of 300 at a rate of 0.3");
    assert!(['e', 't', 'r'].iter().all(|kind| seen.contains(*kind)), "{seen}");
}

#[test]
fn a_fault_leaves_the_world_as_it_was_and_a_trace_with_faults_replays() {
    let conditions = Conditions {
        seed: 1,
        faults: vec![FaultRate { tool: "add_tag".into(), per_million: 500_000, kinds: vec![Fault::Error] }],
        ..Conditions::default()
    };
    let mut episode = begin(conditions);
    let first = episode.fork();
    let mut faults = 0;
    for n in 0..40 {
        let hash = episode.state_hash();
        if episode.call("add_tag", &format!("{{\"word\":\"w{n}\"}}")).is_err() {
            faults += 1;
            assert_eq!(episode.state_hash(), hash);
        }
    }
    assert!((5..35).contains(&faults), "{faults}");
    first.fork().replay(&episode.trace()).unwrap();
}

#[test]
fn the_clock_moves_only_when_told_and_is_part_of_the_state() {
    let mut episode = begin(Conditions::default());
    let (now, hash) = (episode.now(), episode.state_hash());
    assert!(episode.call("list_benches", "").is_ok());
    assert_eq!((episode.now(), episode.state_hash()), (now, hash));
    episode.advance(DateTime(now.0 + 3600));
    assert_ne!(episode.state_hash(), hash);
    episode.advance(now);
    assert_eq!(episode.now(), DateTime(now.0 + 3600), "it never goes back");
    let letter = episode.call("send_letter", "{\"to\":1,\"subject\":\"hello\"}").unwrap();
    assert!(letter.contains("\"sent_on\":\"2026-03-02T10:00:00Z\",\"status\":\"sent\""), "{letter}");
}

#[test]
fn conditions_and_seats_that_name_nothing_are_refused() {
    let world = world();
    let seat = |role: &str, actor| Seat { role: role.into(), actor };
    assert!(world.begin(&seat("king", None), Conditions::default()).is_err());
    assert!(world.begin(&seat("owner", Some(9999)), Conditions::default()).is_err());
    let conditions = Conditions { calls_of: vec![("no_such_tool".into(), 1)], ..Conditions::default() };
    assert!(world.begin(&seat("owner", None), conditions).is_err());
}

#[test]
fn pages_in_any_order_give_every_row_once_even_while_rows_are_written() {
    for sort in ["id", "-id", "state", "-state", "due", "-due", "price", "number"] {
        let mut episode = begin(Conditions::default());
        let (mut seen, mut cursor, mut pages) = (Vec::new(), "null".to_owned(), 0);
        loop {
            let arguments = format!("{{\"sort\":\"{sort}\",\"limit\":7,\"cursor\":{cursor}}}");
            let answer = episode.call("find_jobs", &arguments).unwrap();
            let answer = Json::parse(&answer).unwrap();
            let Some(Json::List(rows)) = answer.get("rows") else { panic!() };
            seen.extend(rows.iter().map(|row| match row.get("id") {
                Some(Json::Int(id)) => *id,
                other => panic!("{other:?}"),
            }));
            pages += 1;
            // A row that is deleted after it was shown does not disturb the pages that follow.
            if pages == 2 {
                let _ = episode.call("delete_job", &format!("{{\"id\":{}}}", seen[0]));
            }
            match answer.get("next_cursor") {
                Some(Json::Text(next)) => cursor = serde_json::to_string(&**next).unwrap(),
                _ => break,
            }
        }
        assert_eq!(pages, 13, "{sort}");
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(1..=90), "{sort}: {seen:?}");
    }
}

#[test]
fn a_page_ends_early_when_it_grows_too_large_and_goes_on_with_its_cursor() {
    let mut episode = begin(Conditions::default());
    let long = "x".repeat(60_000);
    for _ in 0..9 {
        episode.call("send_letter", &format!("{{\"to\":1,\"subject\":\"{long}\"}}")).unwrap();
    }
    let page = episode.call("find_letters", "{}").unwrap();
    assert!(page.len() < 400_000, "{} bytes", page.len());
    let page = Json::parse(&page).unwrap();
    let Some(Json::List(rows)) = page.get("rows") else { panic!() };
    let Some(Json::Text(cursor)) = page.get("next_cursor") else { panic!("no cursor after {} rows", rows.len()) };
    let rest = episode.call("find_letters", &format!("{{\"cursor\":\"{cursor}\"}}")).unwrap();
    let rest = Json::parse(&rest).unwrap();
    let Some(Json::List(more)) = rest.get("rows") else { panic!() };
    assert_eq!(rows.len() + more.len(), 9);
}

#[test]
fn a_cursor_of_another_sort_or_made_up_is_refused() {
    let mut episode = begin(Conditions::default());
    for cursor in ["", "id:", "id:x", "state:3", "state:3:\"nonsense\"", "-id:3", "due:1:[[", "id:99999999999"] {
        let arguments = format!("{{\"cursor\":{}}}", serde_json::to_string(cursor).unwrap());
        assert_eq!(episode.call("find_jobs", &arguments).unwrap_err().code, RefusalCode::InvalidArgument, "{cursor}");
    }
}

#[test]
fn what_is_not_an_argument_text_is_refused_within_limits() {
    let mut episode = begin(Conditions::default());
    let huge = format!("{{\"word\":\"{}\"}}", "x".repeat(5 << 20));
    let deep = format!("{{\"word\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let long = format!("{{\"bench\":1,\"client\":1,\"part\":[{}]}}", vec!["{\"name\":\"x\"}"; 2000].join(","));
    for (tool, arguments) in [("add_tag", &huge), ("add_tag", &deep), ("create_job", &long)] {
        assert_eq!(episode.call(tool, arguments).unwrap_err().code, RefusalCode::InvalidArgument);
    }
    assert!(episode.diff().is_empty());
}
