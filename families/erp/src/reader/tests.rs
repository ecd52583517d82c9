//! Snippets as they stand in instructions and notes, and small cases told and read back in every phrasing.

use super::super::{
    FAMILY, PLAN, case_of,
    micro::{micro, repaired, screened, several},
    shop::{Adjacent, Billing, Bounds, Clauses, Deposit, Group, NeverBought, Repair, Shop, Source},
};
use super::{figures, notes, read_back, text};
use benchwright_base::Date;
use benchwright_catalog::Catalog;
use benchwright_project::{Case, Draw, Family, NotAnswered, ToolAccess, answered};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_world::Seat;
use serde_json::Value as Json;
use std::sync::Arc;

fn date(text: &str) -> Date {
    Date::parse(text).unwrap()
}

#[test]
fn figures_are_exact_or_refused() {
    assert_eq!(figures::money("$56,521.00"), Some(5_652_100));
    assert_eq!(figures::money("$250.00"), Some(25_000));
    for wrong in ["56,521.00", "$56521", "$56,52.00", "$1.5", "none", "$,100.00", "$1234,567.00"] {
        assert_eq!(figures::money(wrong), None, "{wrong}");
    }
    assert_eq!(figures::decimal("72.50", 2), Some(7250));
    assert_eq!(figures::decimal("204.7", 2), Some(20_470));
    assert_eq!(figures::decimal("14", 0), Some(14));
    assert_eq!(figures::decimal("14.0", 0), Some(14));
    assert_eq!(figures::decimal("-3", 0), Some(-3));
    for wrong in ["0.005", "", ".5", "1e3", "1.2.3"] {
        assert_eq!(figures::decimal(wrong, 2), None, "{wrong}");
    }
    assert_eq!(figures::percents("may not exceed 72.5 percent of it, or 7 percent"), [7250, 700]);
    assert_eq!(
        figures::dates("from 2032-02-09 to 2032-03-10; on 2032-13-01."),
        [date("2032-02-09"), date("2032-03-10")]
    );
}

#[test]
fn codes_are_told_from_words() {
    assert_eq!(figures::bracketed("the Frame (LFT-M136), and more (origin); W (W1)"), ["LFT-M136", "W1"]);
    assert_eq!(figures::named_codes("For the Unit, code HVC-F103, I need"), ["HVC-F103"]);
    assert!(figures::is_code("REQ-31") && !figures::is_code("REQ") && !figures::is_code("Req-31"));
    assert!(figures::only_money("between $1.00 and $2.00").is_err());
}

#[test]
fn notes_are_read_line_by_line() {
    let supplier = notes::supplier("Item A-1: at most 24 units in all.\nItem B-2: at most 7 units in all.").unwrap();
    assert_eq!((supplier.most["A-1"], supplier.most["B-2"], supplier.withdrawn), (Some(24), Some(7), false));
    assert_eq!(notes::supplier("Item A-1: no maximum.").unwrap().most["A-1"], None);
    assert!(notes::supplier("Withdrawn: this supplier has cancelled and delivers nothing.").unwrap().withdrawn);
    let centre = notes::centre(
        "Approved for A-1: 84 minutes per unit.\nTotal: at most 900 minutes in the whole plan.\n\
         Per start day: at most 300 minutes.\nGroup Press (W-1, W-2): at most 1200 minutes together in the whole plan.\n\
         Down from 2032-02-12 to 2032-02-14: no build may start on these days.\n\
         Out of service: this centre has failed and takes no build of this plan.",
    )
    .unwrap();
    assert_eq!(centre.approved["A-1"], 84);
    assert_eq!((centre.minutes, centre.daily, centre.failed), (Some(900), Some(300), true));
    assert_eq!(centre.groups, [("Press".to_owned(), vec!["W-1".to_owned(), "W-2".to_owned()], 1200)]);
    assert_eq!(centre.down, Some((date("2032-02-12"), date("2032-02-14"))));
    for wrong in [
        "Please call first.",
        "Total: at most many minutes in the whole plan.",
        "Total: at most 9 minutes in the whole plan.\nTotal: at most 9 minutes in the whole plan.",
        "Down from 2032-02-12: no build may start.",
    ] {
        assert!(notes::centre(wrong).is_err(), "{wrong}");
    }
    assert!(notes::supplier("Item A-1: at most 2 units in all.\nItem A-1: at most 3 units in all.").is_err());
}

/// An instruction with one request and whatever else is said.
fn instruction(rest: &str) -> String {
    format!(
        "# A title\n\nToday is 2032-03-01, and the Panel (FG-100) is yours.\n\n## Requests\n\n\
         None is in the system yet:\n\n\
         | Reference | Customer | Customer ref | Item | Units | Needed by | Pre-tax limit |\n\
         |---|---|---|---|---:|---|---:|\n\
         | REQ-1 | Northgate | C-101 | FG-100 | 5 | 2032-03-05 | $2,000.50 |\n\n\
         ## Days\n\nAll calendar days count. Whatever comes in can be used that same day. The price line holds for all units.\n\n## The goal\n\nServe them at the lowest new spending.\n\n## More\n\n{rest}\n"
    )
}

#[test]
fn a_plain_instruction_is_read() {
    let told = text::read(&instruction("- Nothing else.")).unwrap();
    assert_eq!(
        (told.today, told.objective, &told.items[..]),
        (date("2032-03-01"), "min_new_spend", &["FG-100".to_owned()][..])
    );
    assert_eq!((told.closes, &told.clauses), (false, &Clauses::default()));
    assert_eq!((told.margin, told.budget, &told.screen, &told.billing), (None, None, &None, &None));
    let request = &told.requests[0];
    assert_eq!((&*request.reference, request.limit, request.source), ("REQ-1", Some(200_050), Source::Brief));
    let listed = request.listed.as_ref().unwrap();
    assert_eq!((&listed.lines[..], listed.due), (&[("FG-100".to_owned(), 5)][..], date("2032-03-05")));
}

#[test]
fn money_and_billing_are_read() {
    let told = text::read(&instruction(
        "- To keep our margin, spending may not exceed 72.5 percent of the value of the units that opening stock cannot \
         cover. Keep it within the budget for this plan, $12,345.67.\n\
         - An order worth $6,000.00 or more is billed in two steps, as agreed. The deposit is $250.00 per order.\n\
         - The payment terms are immediate payment, on every order.",
    ))
    .unwrap();
    assert_eq!((told.margin, told.budget), (Some(2750), Some(1_234_567)));
    let deposit = Deposit { from: 600_000, fixed: Some(25_000), percent: None };
    assert_eq!(told.billing, Some(Billing { days: 0, deposit: Some(deposit) }));
}

#[test]
fn what_contradicts_itself_is_refused() {
    for wrong in [
        "- Use the fewest suppliers.",
        "- It is 2032-03-02 today.",
        "- The payment terms are flexible.",
        "- The deposit is $250.00 per order.",
        "- The payment terms are 30 days. Our payment terms are 30 days.",
        "- These are never bought: the Frame.",
        "- These are never bought: the Frame (M-1), which nobody wants.",
        "- Drafts that fail the intake rules are cancelled.",
        "- It can no longer happen.",
        "- Mind the days on which a centre is down and no build may start there: Press (W-1) from 2032-03-05.",
        "Draft quotations are not in the system yet:\n\n| Reference | Pre-tax limit |\n|---|---:|\n| REQ-2 | none |",
        "In the system as draft quotations:\n\nREQ-1, REQ-2",
        "| Test | A request passes when |\n|---|---|\n| Size | it is large |",
    ] {
        assert!(text::read(&instruction(wrong)).is_err(), "{wrong}");
    }
    assert!(text::read(&instruction("- A.").replace("lowest new spending", "best price")).is_err());
    assert!(text::read(&instruction("- A.").replace("All calendar days count", "Some days count")).is_err());
    assert!(text::read(&instruction("- Nothing can be received on a closed day.")).is_err());
    let row = "| REQ-1 | Northgate | C-101 | FG-100 | 5 | 2032-03-05 | $2,000.50 |\n";
    for other in
        ["| REQ-1 | Northgate | C-101 | FG-100 | 6 | 2032-03-05 | $2,000.50 |\n", &row.replace("03-05", "03-06")]
    {
        assert!(text::read(&instruction("- A.").replace(row, &format!("{row}{other}"))).is_err(), "{other}");
    }
    let more = row.replace("FG-100", "FG-101");
    assert!(text::read(&instruction("- A.").replace(row, &format!("{row}{more}"))).is_ok());
    assert!(text::read(&instruction("- A.").replace("$2,000.50", "2000")).is_err());
}

/// Tool access that can only read.
struct ReadOnly(Episode);

impl ToolAccess for ReadOnly {
    fn ask(&mut self, tool: &str, arguments: Json) -> Result<Json, NotAnswered> {
        let known = self.0.domain().tools.iter().find(|known| known.name == tool);
        if !known.is_some_and(|known| known.reads_only()) {
            return Err(NotAnswered(format!("`{tool}` is no tool for reading")));
        }
        answered(self.0.call(tool, &arguments.to_string()))
    }
}

/// A case told in a phrasing, and the tool access by which it can be looked up.
fn told(shop: &Shop, pattern: &str, seed: u64) -> (String, ReadOnly) {
    let catalog = Catalog::built_in();
    let found = catalog.find("erp").unwrap();
    let pattern = catalog.pattern(pattern).unwrap();
    let case = case_of(shop);
    let draw = Draw { pattern: &pattern, tier: "medium", objective: &shop.objective, seed, attempt: 0 };
    let brief = FAMILY.brief(&draw, &case, &PLAN.for_switches(&case.switches)).unwrap();
    let first = FAMILY.world(&case, &found.domain).unwrap();
    let sandbox = Sandbox::from_snapshot(Arc::clone(&found.domain), found.natives, &first.snapshot).unwrap();
    let sandbox = Arc::new(sandbox);
    let seat = Seat { role: "planner".into(), actor: sandbox.person_for("planner") };
    (brief.text, ReadOnly(sandbox.begin(&seat, Conditions::default()).unwrap()))
}

const PLAIN: &str = "production/lowest-cost-sourcing-route";
const OUTAGE: &str = "recovery/line-outage-recovery-plan";

/// A case comes back with the same goal, switches and facts, in every phrasing.
fn comes_back(shop: &Shop, pattern: &str) {
    let case = case_of(shop);
    for seed in 0..12 {
        let (text, mut access) = told(shop, pattern, seed);
        let read: Case = read_back(&text, &mut access).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!((&read.objective, &read.switches), (&case.objective, &case.switches), "{text}");
        let (mut drawn, mut read) = (FAMILY.bindings(&case).unwrap(), FAMILY.bindings(&read).unwrap());
        for facts in [&mut drawn, &mut read] {
            facts.members.values_mut().for_each(|keys| keys.sort());
            facts.sets.values_mut().for_each(|keys| keys.sort());
        }
        assert_eq!(read, drawn, "{text}");
    }
}

#[test]
fn small_cases_come_back() {
    comes_back(&micro(), PLAIN);
    comes_back(&screened(), PLAIN);
    comes_back(&several(), PLAIN);
    let usual = Clauses::default();
    comes_back(&Shop { clauses: Clauses { next_day: true, ..usual.clone() }, ..several() }, PLAIN);
    for bound in [Bounds::Passes, Bounds::Fails] {
        comes_back(&Shop { clauses: Clauses { bound, ..usual.clone() }, ..several() }, PLAIN);
    }
    comes_back(&Shop { adjacent: Adjacent::default(), margin: None, ..micro() }, PLAIN);
}

#[test]
fn requests_without_limits_come_back() {
    let mut shop = screened();
    shop.orders.iter_mut().for_each(|order| order.limit = None);
    comes_back(&shop, PLAIN);
    shop.orders[1].limit = Some(1_000_000);
    comes_back(&shop, PLAIN);
    shop.orders.iter_mut().for_each(|order| order.source = Source::Draft);
    comes_back(&shop, PLAIN);
}

#[test]
fn budgets_groups_and_outages_come_back() {
    let mut shop = screened();
    shop.budget = Some(345_678);
    shop.margin = Some(2675);
    shop.centres[0].daily = Some(240);
    shop.centres[1].minutes = None;
    shop.groups = vec![Group { name: "Press".into(), centres: vec!["W1".into(), "W2".into()], minutes: 840 }];
    shop.centres[0].down = Some((3, 3));
    shop.offers[1].most = None;
    comes_back(&shop, PLAIN);
}

#[test]
fn goods_that_are_never_bought_come_back() {
    let mut shop = micro();
    shop.never_bought = Some(NeverBought::Policy);
    comes_back(&shop, PLAIN);
    shop.never_bought = Some(NeverBought::Market);
    shop.offers.retain(|offer| offer.product != "FG-100");
    shop.vendors.retain(|party| shop.offers.iter().any(|offer| offer.vendor == party.reference));
    comes_back(&shop, PLAIN);
    shop.never_bought = Some(NeverBought::Design);
    shop.products[0].buys = false;
    comes_back(&shop, PLAIN);
}

/// A plan that stood until a centre failed.
fn failed() -> Shop {
    let mut shop = repaired();
    let second = screened();
    shop.centres.push(second.centres[1].clone());
    shop.options.push(second.options[1].clone());
    shop.centres[0].down = Some((0, 20));
    let stood = shop.repair.clone().unwrap();
    shop.repair = Some(Repair { vendor: None, centre: Some("W1".into()), ..stood });
    shop
}

#[test]
fn disturbed_plans_come_back() {
    comes_back(&repaired(), OUTAGE);
    comes_back(&failed(), OUTAGE);
}

#[test]
fn silence_about_a_failure_is_noticed() {
    let (text, mut access) = told(&repaired(), OUTAGE, 0);
    let cut: Vec<&str> = text.split(". ").filter(|sentence| !sentence.contains("may not be used again")).collect();
    let why = read_back(&cut.join(". "), &mut access).unwrap_err();
    assert!(why.contains("withdrawn") || why.contains("unread sentence"), "{why}");
    let (text, mut access) = told(&failed(), OUTAGE, 0);
    let why = read_back(&text.replace("(W1)", "(W2)"), &mut access).unwrap_err();
    assert!(why.contains("W1") && why.contains("W2"), "{why}");
}

#[test]
fn the_text_decides_what_only_it_tells() {
    let (text, mut access) = told(&screened(), PLAIN, 0);
    let read: Shop = serde_json::from_value(read_back(&text, &mut access).unwrap().data).unwrap();
    let changed = text.replace("at least 5 and at most 10 units", "at least 4 and at most 11 units");
    assert_ne!(text, changed);
    let other: Shop = serde_json::from_value(read_back(&changed, &mut access).unwrap().data).unwrap();
    assert_eq!(read.screen.unwrap().window, Some((5, 10)));
    assert_eq!(other.screen.unwrap().window, Some((4, 11)));
    let why = read_back(&text.replace("C-103", "C-999"), &mut access).unwrap_err();
    assert!(why.contains("C-999"), "{why}");
}

#[test]
fn every_goal_of_the_patterns_is_known_by_all_its_words() {
    let catalog = Catalog::built_in();
    let mut unknown = Vec::new();
    for name in catalog.pattern_names().unwrap() {
        let pattern = catalog.pattern(&name).unwrap();
        if pattern.family != "erp" {
            continue;
        }
        for goal in pattern.text.goal.values().flatten() {
            let text = format!("# T\n\nOpening.\n\n## The goal\n\n{goal}\n\nClosing.\n");
            if super::passages(&text).iter().any(|passage| passage.heed == benchwright_project::Heed::KeyPhrase) {
                unknown.push(format!("{name}: {goal}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn a_sentence_that_is_unknown_missing_or_turned_is_named() {
    let (text, mut access) = told(&screened(), PLAIN, 0);
    read_back(&text, &mut access).unwrap();
    let unknown = text.replace("\n\n## The goal", "\n- Please be quick.\n\n## The goal");
    let why = read_back(&unknown, &mut access).unwrap_err();
    assert!(why.contains("unread sentence: Please be quick."), "{why}");
    for (one, other, told) in [
        ("(date_planned)", "(date_order)", "unread sentence"),
        ("on the bound passes", "on the bound fails", "a value on the bound is said to fail"),
    ] {
        assert!(text.contains(one), "{text}");
        let why = read_back(&text.replace(one, other), &mut access).unwrap_err();
        assert!(why.contains(told), "{why}");
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("calendar days")).collect();
    let why = read_back(&lines.join("\n"), &mut access).unwrap_err();
    assert!(why.contains("which days count is told by halves, twice or not at all"), "{why}");
}
